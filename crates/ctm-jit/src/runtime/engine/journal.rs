//! Groups of programs that write uncached: one by one, with a journal of what they read and wrote.
//!
//! Such a group has changed memory before it ends, so the reference interpreter cannot just run it again. It runs over the journal instead
//! ([`Exclusive::again`]): what the group has read is given back as it was, what it has written counts as written, and only what comes after that
//! reaches memory. Both engines execute the same instructions lane by lane in the same order, so the journal is two lists.

use crate::launch::lanes::{BailOut, LANES};
use crate::launch::source::Exclusive;
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Input, Memory, Outputs, Written};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Reads and writes that are kept of one group: at most so many, and those of one more lookup. Beyond that the reference interpreter goes on.
const LIMIT: usize = if cfg!(test) { 1 << 9 } else { 1 << 20 };

/// Reads of one lookup for all lanes: four elements each at most.
const READS: usize = 4 * LANES;

/// A read: which input and whether past the cache (bit 8), column, row, the element; of a read that was refused nothing.
type Read = [u32; 7];

/// The first of them.
fn key(input: u8, uncached: bool) -> u32 {
    u32::from(input) | u32::from(uncached) << 8
}

/// What a group has read and written, in order.
#[derive(Default)]
pub struct Log {
    reads: Vec<Read>,
    /// Reads that were refused, by number.
    refused: Vec<(usize, MemoryFault)>,
    writes: Vec<Written>,
}

impl Log {
    /// What all its writes have stored.
    pub fn written(&self) -> Written {
        self.writes.iter().fold(Written::default(), |all, written| Written {
            elements: all.elements + written.elements,
            bytes: all.bytes + written.bytes,
        })
    }

    const fn is_full(&self) -> bool {
        self.reads.len() + self.writes.len() >= LIMIT
    }
}

/// Memory with a log.
pub struct Journal<'m> {
    memory: RefCell<&'m mut dyn Memory>,
    log: RefCell<Log>,
    notes: Notes,
}

impl<'m> Journal<'m> {
    /// An empty one; `log`: one that has been used.
    pub fn new(memory: &'m mut dyn Memory, mut log: Log) -> Self {
        log.reads.clear();
        log.refused.clear();
        log.writes.clear();
        Self { memory: RefCell::new(memory), log: RefCell::new(log), notes: Notes::default() }
    }

    /// What it holds.
    pub fn into_log(self) -> Log {
        self.log.into_inner()
    }
}

impl Exclusive for Journal<'_> {
    fn read(&self, with: &mut dyn FnMut(&dyn Memory)) -> Result<(), BailOut> {
        if self.log.borrow().is_full() {
            return Err(BailOut);
        }
        self.notes.count.store(0, Relaxed);
        let memory = self.memory.borrow();
        with(&Noting { memory: &**memory, notes: &self.notes });
        let count = self.notes.count.load(Relaxed);
        // What is not noted is read again: nothing is written until then.
        let reads = self.notes.reads.get(..count).ok_or(BailOut)?;
        let mut log = self.log.borrow_mut();
        let mut refused = self.notes.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let before = log.reads.len();
        log.refused.extend(refused.drain(..).map(|(number, fault)| (before + number, fault)));
        log.reads.extend(reads.iter().map(|read| read.each_ref().map(|part| part.load(Relaxed))));
        Ok(())
    }

    fn write(&self, x: u32, y: u32, bits: u32) -> Result<(), BailOut> {
        let mut log = self.log.borrow_mut();
        if log.is_full() {
            return Err(BailOut);
        }
        let written = self.memory.borrow_mut().write_uncached(x, y, bits).map_err(|_| BailOut)?;
        log.writes.push(written);
        Ok(())
    }

    fn again(&self, with: &mut dyn FnMut(&mut dyn Memory)) {
        let (mut memory, log) = (self.memory.borrow_mut(), self.log.borrow());
        with(&mut Again { memory: &mut **memory, log: &log, read: AtomicUsize::new(0), written: 0 });
    }
}

/// What one lookup reads. Readers of memory may be shared between threads as far as types say, so these are atomic.
struct Notes {
    reads: [[AtomicU32; 7]; READS],
    /// More than there is room for: some are not noted.
    count: AtomicUsize,
    refused: Mutex<Vec<(usize, MemoryFault)>>,
}

impl Default for Notes {
    fn default() -> Self {
        let reads = [const { [const { AtomicU32::new(0) }; 7] }; READS];
        Self { reads, count: AtomicUsize::new(0), refused: Mutex::default() }
    }
}

/// The fault of what nobody asks of memory while a group runs.
fn not_now() -> MemoryFault {
    MemoryFault { what: "memory".into(), address: None, reason: "a group runs".into() }
}

/// Memory whose reads are noted.
struct Noting<'a> {
    memory: &'a dyn Memory,
    notes: &'a Notes,
}

impl Memory for Noting<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Err(not_now())
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, input: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let result = self.memory.read(input, x, y, uncached);
        let number = self.notes.count.load(Relaxed);
        self.notes.count.store(number + 1, Relaxed);
        if let Some(note) = self.notes.reads.get(number) {
            let [r, g, b, a] = result.as_ref().map_or([0; 4], |texel| *texel);
            let parts = [key(input, uncached), x, y, r, g, b, a];
            note.iter().zip(parts).for_each(|(to, part)| to.store(part, Relaxed));
            if let Err(fault) = &result {
                let mut refused = self.notes.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.push((number, fault.clone()));
            }
        }
        result
    }

    fn commit(&mut self, _at: Position, _outputs: &Outputs) -> Result<Written, MemoryFault> {
        Err(not_now())
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
        Err(not_now())
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }
}

/// Memory as a group found it, for as long as it has been there before.
struct Again<'a> {
    memory: &'a mut dyn Memory,
    log: &'a Log,
    read: AtomicUsize,
    written: usize,
}

impl Memory for Again<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Err(not_now())
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.memory.input(index)
    }

    fn read(&self, input: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let number = self.read.fetch_add(1, Relaxed);
        match self.log.reads.get(number) {
            Some(&[noted, column, row, r, g, b, a]) => {
                let asked = (key(input, uncached), x, y);
                debug_assert_eq!((noted, column, row), asked, "engines read in another order");
                let refused = self.log.refused.binary_search_by_key(&number, |refused| refused.0);
                refused.map_or(Ok([r, g, b, a]), |place| Err(self.log.refused[place].1.clone()))
            }
            None => {
                debug_assert!(self.written == self.log.writes.len(), "a read that came before a write was not noted");
                self.memory.read(input, x, y, uncached)
            }
        }
    }

    fn commit(&mut self, _at: Position, _outputs: &Outputs) -> Result<Written, MemoryFault> {
        Err(not_now())
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        if let Some(&written) = self.log.writes.get(self.written) {
            self.written += 1;
            return Ok(written);
        }
        self.memory.write_uncached(x, y, bits)
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.memory.outputs_alias_inputs()
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/engine/journal.rs"]
mod tests;
