//! Memory wrappers that forward and log accesses: for events, and for replay.
//!
//! A unit that went back to an earlier state executes instructions again. Reads give the logged values again, and writes are not
//! written twice. That is kept only where memory can change while the unit runs; elsewhere reads are made anew.

use super::Place;
use crate::domain::Position;
use crate::fault::MemoryFault;
use crate::{r700, x1k};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The data of one access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Whose it was.
    pub of: Position,
    /// The fetch of the clause.
    pub item: usize,
    /// The place.
    pub place: Place,
    /// Its bits.
    pub bits: u32,
    /// Whether it was written.
    pub written: bool,
}

/// The position of a unit in the replay.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    reads: usize,
    writes: usize,
}

#[derive(Debug, Default)]
struct Book {
    /// The accesses of the instruction that runs.
    log: Vec<Access>,
    of: (Position, usize),
    /// Results of reads, if they are replayed.
    reads: Vec<[u32; 4]>,
    /// Stored values of writes.
    writes: Vec<x1k::Written>,
    at: Mark,
}

/// State of the taps of both machines.
#[derive(Debug)]
pub(crate) struct Tap<M> {
    memory: M,
    book: Mutex<Book>,
    repeats: bool,
}

impl<M> Tap<M> {
    /// `changes`: memory can change while the unit runs.
    pub fn new(memory: M, changes: bool) -> Self {
        Self { memory, book: Mutex::default(), repeats: changes }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The accesses since the last call.
    pub fn take(&self) -> Vec<Access> {
        std::mem::take(&mut self.book().log)
    }

    pub fn mark(&self) -> Mark {
        self.book().at
    }

    pub fn return_to(&self, mark: Mark) {
        self.book().at = mark;
    }

    /// Drops the rest of the log: the unit takes another path now.
    pub fn forget_future(&self) {
        let mut book = self.book();
        let Mark { reads, writes } = book.at;
        book.reads.truncate(reads);
        book.writes.truncate(writes);
    }

    /// A read: repeated, or made and remembered.
    fn read(&self, read: impl FnOnce(&M) -> Result<[u32; 4], MemoryFault>) -> Result<[u32; 4], MemoryFault> {
        if !self.repeats {
            return read(&self.memory);
        }
        let mut book = self.book();
        if let Some(&value) = book.reads.get(book.at.reads) {
            book.at.reads += 1;
            return Ok(value);
        }
        drop(book);
        let value = read(&self.memory)?;
        let mut book = self.book();
        book.reads.push(value);
        book.at.reads += 1;
        Ok(value)
    }

    /// A write: made once.
    fn write(
        &mut self,
        write: impl FnOnce(&mut M) -> Result<x1k::Written, MemoryFault>,
    ) -> Result<x1k::Written, MemoryFault> {
        let book = self.book.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(&written) = book.writes.get(book.at.writes) {
            book.at.writes += 1;
            return Ok(written);
        }
        let written = write(&mut self.memory)?;
        book.writes.push(written);
        book.at.writes += 1;
        Ok(written)
    }

    fn log(&self, places: impl Iterator<Item = (Place, u32)>, written: bool) {
        let mut book = self.book();
        let (of, item) = book.of;
        book.log.extend(places.map(|(place, bits)| Access { of, item, place, bits, written }));
    }
}

fn small(n: u32) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

impl x1k::Memory for Tap<&mut dyn x1k::Memory> {
    fn begin_lane(&self, at: Position, item: usize) {
        self.book().of = (at, item);
    }

    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        self.memory.schedule(at)
    }

    fn input(&self, index: u8) -> Option<x1k::Input> {
        self.memory.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let value = Tap::read(self, |memory| memory.read(index, x, y, uncached))?;
        let place = |channel| Place::Element { input: index, x: small(x), y: small(y), channel };
        self.log((0..4).map(place).zip(value), false);
        Ok(value)
    }

    fn textures(&self) -> Option<&dyn r700::Memory> {
        self.memory.textures()
    }

    fn commit(&mut self, at: Position, outputs: &x1k::Outputs) -> Result<x1k::Written, MemoryFault> {
        self.memory.commit(at, outputs)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<x1k::Written, MemoryFault> {
        let written = self.write(|memory| memory.write_uncached(x, y, bits))?;
        self.log(std::iter::once((Place::Uncached(x, y), bits)), true);
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }
}

impl r700::Memory for Tap<&mut dyn r700::Memory> {
    fn begin_lane(&self, at: Position, item: usize) {
        self.book().of = (at, item);
    }

    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        self.read(|memory| memory.constant(bank, index))
    }

    fn alternate(&self) -> Option<&dyn r700::Memory> {
        self.memory.alternate()
    }

    fn buffer(&self, id: u8) -> Option<r700::Buffer> {
        self.memory.buffer(id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        // Items have at most 16 bytes.
        if bytes.len() > 16 {
            return self.memory.read_buffer(id, offset_bytes, bytes);
        }
        let value = self.read(|memory| {
            let mut item = [0; 16];
            memory.read_buffer(id, offset_bytes, &mut item[..bytes.len()])?;
            Ok(std::array::from_fn(|n| {
                u32::from_le_bytes([item[4 * n], item[4 * n + 1], item[4 * n + 2], item[4 * n + 3]])
            }))
        })?;
        let item = value.iter().flat_map(|dword| dword.to_le_bytes());
        bytes.iter_mut().zip(item).for_each(|(to, from)| *to = from);
        let base = u32::try_from(offset_bytes).unwrap_or(u32::MAX);
        let place = |n: u32| Place::Buffer(id, base.saturating_add(4 * n));
        self.log((0..).map(place).zip(value).take(bytes.len().div_ceil(4)), false);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<r700::Texture> {
        self.memory.texture(id)
    }

    fn sampler(&self, id: u8) -> Option<r700::Sampler> {
        self.memory.sampler(id)
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let value = self.read(|memory| memory.texel(id, level, at))?;
        let (at, level) = (at.map(small), u8::try_from(level).unwrap_or(u8::MAX));
        self.log((0..4).map(|element| Place::Texel { id, at, level, element }).zip(value), false);
        Ok(value)
    }

    fn space(&self, space: r700::Space) -> Option<u64> {
        self.memory.space(space)
    }

    fn load(&self, space: r700::Space, dword: u64) -> Result<u32, MemoryFault> {
        let value = self.read(|memory| memory.load(space, dword).map(|bits| [bits, 0, 0, 0]))?[0];
        let place = Place::Dword(space, u32::try_from(dword).unwrap_or(u32::MAX));
        self.log(std::iter::once((place, value)), false);
        Ok(value)
    }

    fn store(&mut self, space: r700::Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        self.write(|memory| memory.store(space, dword, bits).map(|()| x1k::Written::default()))?;
        let place = Place::Dword(space, u32::try_from(dword).unwrap_or(u32::MAX));
        self.log(std::iter::once((place, bits)), true);
        Ok(())
    }

    fn vertex_event(&mut self, at: Position, event: r700::VertexEvent) -> Result<(), MemoryFault> {
        self.memory.vertex_event(at, event)
    }

    fn commit(&mut self, at: Position, exports: &r700::Exports) -> Result<x1k::Written, MemoryFault> {
        self.memory.commit(at, exports)
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }
}
