//! The memory of a running program: the registers' inputs and outputs through the Memory Controller and the Conditional Output Unit.

use super::cache::{Cache, CacheModel, Way};
use super::co::{ConditionalUnit, passes};
use super::loader::LoadedProgram;
use super::registers::CommandRegisters;
use crate::commands::{CondLoc, CondTest};
use crate::mc::{ByteOrder, ElementSize, Format, MAX_INDEX, Surface, tiled_address};
use crate::memory::{DeviceMemory, GpuAddr, MemoryError};
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::Tiles;
use ctm_exec::x1k::{ConditionalTest, Direct, Elements, Form, Input, Memory, Outputs, Written};
use ctm_isa::x1k::program::Usage;
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An input as texture instructions see it.
#[derive(Clone, Copy)]
struct BoundInput {
    surface: Surface,
    input: Input,
    /// A read returns a 2x2 square.
    square: bool,
}

impl BoundInput {
    fn new(surface: Surface, registers: &CommandRegisters, index: usize) -> Option<Self> {
        let sampler = registers.samplers[index];
        let width = match sampler.width {
            0 => surface.width(),
            width => width.min(surface.width()),
        };
        let height = surface.rows();
        // With more than one channel the 2x2 read is undefined (CTM §2.1.4); it is then an ordinary one.
        let square = surface.tiling.is_superfine() && surface.format.info().channels == 1;
        let element_bytes = surface.format.element_bytes() * if square { 4 } else { 1 };
        let input = Input { width, height, element_bytes, sampler: sampler.sampler };
        (width > 0 && height > 0).then_some(Self { surface, input, square })
    }
}

/// Memory as one launch sees it.
pub(super) struct LaunchMemory<'a> {
    memory: &'a mut DeviceMemory,
    model: Option<&'a Mutex<CacheModel>>,
    order: ByteOrder,
    inputs: [Option<BoundInput>; INPUTS],
    outputs: [Option<Surface>; OUTPUTS],
    out_mask: u8,
    conditional: ConditionalUnit,
    /// The conditional value comes from the program (FG_DEPTH_SRC).
    program_value: bool,
    aliased: bool,
    /// Outputs that the program writes, one bit each.
    written: u8,
    /// It writes others, too, which the loader knows nothing of: they go nowhere.
    writes_unlisted: bool,
    /// Of a checked launch: where it has written uncached.
    scattered: Option<HashSet<GpuAddr>>,
    /// An element of those that a cached read has returned.
    stale: Mutex<Option<(u8, u32, u32)>>,
    /// Whether the test of the processor that committed last failed.
    failed: bool,
}

/// Locks the model; its state after a panic of another thread is acceptable.
pub(super) fn lock<T>(model: &Mutex<T>) -> MutexGuard<'_, T> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn fault(what: String, error: &MemoryError) -> MemoryFault {
    MemoryFault { what, address: error.address().map(|a| u64::from(a.0)), reason: error.to_string() }
}

/// Element (x, y) must belong to the surface.
pub(super) fn within(surface: &Surface, x: u32, y: u32, what: impl Fn() -> String) -> Result<(), MemoryFault> {
    if surface.contains(x, y) {
        return Ok(());
    }
    let (width, rows) = (surface.width(), surface.rows());
    let reason = format!("element ({x}, {y}) lies outside its {width} x {rows} elements");
    Err(MemoryFault { what: what(), address: None, reason })
}

fn output_name(index: usize) -> String {
    format!("output {index}")
}

const CONDITIONAL: &str = "the conditional buffer";

/// The Conditional Output Unit with its buffers.
pub(super) struct Conditional<'a> {
    pub unit: &'a ConditionalUnit,
    pub memory: &'a mut DeviceMemory,
    pub model: Option<&'a Mutex<CacheModel>>,
    pub order: ByteOrder,
}

impl Conditional<'_> {
    /// Makes the conditional test for `v`, and writes it back if it passes.
    pub fn test(&mut self, at: Position, v: u32) -> Result<bool, MemoryFault> {
        let unit = self.unit;
        let what = || CONDITIONAL.to_owned();
        let b = match unit.buffer {
            Some(buffer) if unit.compares() => {
                within(&buffer, at.i, at.j, what)?;
                if let Some(model) = self.model {
                    let bytes = u64::from(buffer.format.element_bytes());
                    lock(model).reads(Some(Cache::Conditional), buffer.address_of(at.i, at.j), bytes, what);
                }
                buffer.load(self.memory, at.i, at.j, self.order).map_err(|e| fault(what(), &e))?[0]
            }
            _ => 0,
        };
        let pass = passes(unit.test, v, b);
        if let Some(buffer) = unit.buffer
            && pass
            && unit.write
        {
            within(&buffer, at.i, at.j, what)?;
            let bits = [v, 0, 0, 0];
            buffer.store(self.memory, (at.i, at.j), bits, 1, self.order).map_err(|e| fault(what(), &e))?;
            if let Some(model) = self.model {
                let bytes = u64::from(buffer.format.element_bytes());
                lock(model).launch_writes(Way::Conditional, buffer.address_of(at.i, at.j), bytes);
            }
        }
        Ok(pass)
    }
}

impl<'a> LaunchMemory<'a> {
    pub fn new(
        memory: &'a mut DeviceMemory,
        model: Option<&'a Mutex<CacheModel>>,
        order: ByteOrder,
        registers: &CommandRegisters,
        loaded: &LoadedProgram,
        checks: bool,
    ) -> Self {
        let usage = &loaded.usage;
        let mut inputs = [None; INPUTS];
        for n in usage.inputs.iter().map(|&input| usize::from(input)).filter(|&n| n < INPUTS) {
            inputs[n] = registers.inputs[n].and_then(|surface| BoundInput::new(surface, registers, n));
        }
        let aliased = aliased(registers, usage, loaded.program.uncached);
        Self {
            memory,
            model,
            order,
            inputs,
            outputs: registers.outputs,
            out_mask: registers.out_mask,
            conditional: registers.conditional,
            program_value: loaded.program.conditional_value,
            aliased,
            writes_unlisted: loaded.writes_unlisted,
            scattered: (checks && loaded.program.uncached).then(HashSet::new),
            stale: Mutex::new(None),
            failed: false,
            written: usage.outputs.iter().fold(0, |all, &output| all | 1 << (output & 7)),
        }
    }

    /// Makes the conditional test for `v`, and writes it back if it passes.
    fn test(&mut self, at: Position, v: u32) -> Result<bool, MemoryFault> {
        let unit = &self.conditional;
        Conditional { unit, memory: self.memory, model: self.model, order: self.order }.test(at, v)
    }

    fn note_write(&self, way: Way, surface: &Surface, x: u32, y: u32) {
        if let Some(model) = self.model {
            let bytes = u64::from(surface.format.element_bytes());
            lock(model).launch_writes(way, surface.address_of(x, y), bytes);
        }
    }

    fn load(&self, index: u8, surface: &Surface, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        if let Some(model) = self.model {
            let bytes = u64::from(surface.format.element_bytes());
            let cache = (!uncached).then_some(Cache::Input);
            lock(model).reads(cache, surface.address_of(x, y), bytes, || format!("input {index}"));
        }
        if let Some(scattered) = &self.scattered
            && !uncached
            && scattered.contains(&surface.address_of(x, y))
        {
            *self.stale.lock().unwrap_or_else(PoisonError::into_inner) = Some((index, x, y));
        }
        surface.load(self.memory, x, y, self.order).map_err(|e| fault(format!("input {index}"), &e))
    }
}

impl Memory for LaunchMemory<'_> {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        match self.conditional.location {
            CondLoc::Pe => self.test(at, self.conditional.value),
            CondLoc::Dpp => Ok(true),
        }
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.inputs.get(usize::from(index)).copied().flatten().map(|b| b.input)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let Some(Some(bound)) = self.inputs.get(usize::from(index)) else {
            let reason = "it is not set; `set_inp_fmt` says where it lies".to_owned();
            return Err(MemoryFault { what: format!("input {index}"), address: None, reason });
        };
        if !bound.square {
            return self.load(index, &bound.surface, x, y, uncached);
        }
        // The four elements go to the channels in this order (CTM §2.1.4); neighbours beyond the edge are the edge.
        let (right, below) =
            (x.saturating_add(1).min(bound.input.width - 1), y.saturating_add(1).min(bound.input.height - 1));
        let mut channels = [0; 4];
        for (to, (x, y)) in channels.iter_mut().zip([(right, y), (x, below), (right, below), (x, y)]) {
            *to = self.load(index, &bound.surface, x, y, uncached)?[0];
        }
        Ok(channels)
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let mut written = Written::default();
        self.failed = false;
        if self.conditional.location == CondLoc::Dpp {
            let from_program = if self.program_value { outputs.conditional_value } else { None };
            if !self.test(at, from_program.unwrap_or(self.conditional.value))? {
                self.failed = true;
                return Ok(written);
            }
        }
        for (index, (bits, channels)) in outputs.values.iter().zip(outputs.written).enumerate() {
            let mask = channels & self.out_mask;
            if mask == 0 || self.writes_unlisted && self.written >> index & 1 == 0 {
                continue;
            }
            let what = || output_name(index);
            let Some(surface) = self.outputs[index] else {
                let reason = "it is not set; `set_out_fmt` says where it lies".to_owned();
                return Err(MemoryFault { what: what(), address: None, reason });
            };
            within(&surface, at.i, at.j, what)?;
            let channels = surface
                .store(self.memory, (at.i, at.j), *bits, mask, self.order)
                .map_err(|error| fault(what(), &error))?;
            if channels > 0 {
                written.elements += 1;
                written.bytes += (channels * surface.format.info().channel.bytes()) as u64;
                self.note_write(Way::Output, &surface, at.i, at.j);
            }
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        if self.writes_unlisted {
            return Ok(Written::default());
        }
        let what = || output_name(0);
        let refuse = |reason: String| Err(MemoryFault { what: what(), address: None, reason });
        let Some(surface) = self.outputs[0] else {
            return refuse("it is not set; `set_out_fmt` says where it lies".to_owned());
        };
        if surface.format != Format::Float32x1 {
            let name = surface.format.name();
            return refuse(format!("its format is {name}, uncached writes need FLOAT32_1"));
        }
        within(&surface, x, y, what)?;
        let mask = self.out_mask & 1;
        let stored = surface.store(self.memory, (x, y), [bits, 0, 0, 0], mask, self.order);
        let channels = stored.map_err(|error| fault(what(), &error))?;
        if channels > 0 {
            self.note_write(Way::Uncached, &surface, x, y);
            if let Some(scattered) = &mut self.scattered {
                scattered.insert(surface.address_of(x, y));
            }
        }
        Ok(Written { elements: channels as u64, bytes: 4 * channels as u64 })
    }

    fn outputs_alias_inputs(&self) -> bool {
        self.aliased
    }

    fn take_stale_read(&self) -> Option<(u8, u32, u32)> {
        self.stale.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn last_test_failed(&self) -> bool {
        self.failed
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        std::array::from_fn(|index| {
            let bound = self.inputs[index].filter(|_| self.model.is_none() && cfg!(target_endian = "little"))?;
            let (elements, bytes) = readable(&bound, self.order)?;
            self.memory.lent(bound.surface.base, bytes).map(|bytes| elements.with(bytes))
        })
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        let unit = self.conditional;
        let is_tested = unit.test != CondTest::Always || unit.buffer.is_some() && unit.write;
        if self.model.is_some() || self.aliased || self.writes_unlisted || cfg!(target_endian = "big") {
            return None;
        }
        if is_tested && unit.location != CondLoc::Dpp {
            return None;
        }
        let (mut outputs, mut writes) = (Vec::new(), Vec::new());
        let buffer = match unit.buffer.filter(|_| is_tested) {
            Some(buffer) => {
                Some(array(&buffer, self.order).filter(|(of, _)| (of.form, of.channels) == (Form::Floats, 1))?)
            }
            None => None,
        };
        for index in (0..OUTPUTS).filter(|index| self.written >> index & 1 == 1) {
            let surface = self.outputs[index]?;
            let (elements, bytes) = array(&surface, self.order)?;
            outputs.push((index, Elements { mask: self.out_mask & 0xf, ..elements }));
            writes.push((surface.base, bytes));
        }
        if let (Some(surface), Some((_, bytes))) = (unit.buffer, &buffer) {
            writes.push((surface.base, *bytes));
        }
        let (mut inputs, mut reads) = (Vec::new(), Vec::new());
        for (index, bound) in self.inputs.iter().enumerate() {
            let Some(bound) = bound else { continue };
            if let Some((elements, bytes)) = readable(bound, self.order) {
                inputs.push((index, elements));
                reads.push((bound.surface.base, bytes));
            }
        }
        let lent = self.memory.lend(&reads, &writes)?;
        let mut direct = Direct::default();
        for ((index, of), bytes) in inputs.into_iter().zip(lent.reads) {
            direct.inputs[index] = bytes.map(|bytes| of.with(bytes));
        }
        let mut writes = lent.writes.into_iter();
        for ((index, of), bytes) in outputs.into_iter().zip(&mut writes) {
            direct.outputs[index] = Some(of.with(bytes));
        }
        // A value that a program gives goes nowhere else.
        direct.conditional = (is_tested || self.program_value).then(|| ConditionalTest {
            outcomes: [(0.0, 1.0), (0.0, 0.0), (1.0, 0.0), (f32::NAN, 0.0)]
                .map(|(v, b): (f32, f32)| passes(unit.test, v.to_bits(), b.to_bits())),
            value: unit.value,
            of_program: self.program_value,
            buffer: buffer.zip(writes.next()).map(|((of, _), bytes)| of.with(bytes)),
            writes: unit.write,
        });
        Some(direct)
    }
}

/// Bytes of a tile of a surface, and the alignment of its address.
const TILE_BYTES: u32 = GpuAddr::ALIGNMENT;
/// Sizes and pitches whose tiles are kept.
const KNOWN_TILES: usize = 16;

/// A surface as an array of its elements, and how many bytes it has; `None` where its addresses are no array's.
pub(super) fn array(surface: &Surface, order: ByteOrder) -> Option<(Elements<()>, usize)> {
    let (form, channels) = match surface.format {
        Format::Float32x1 => (Form::Floats, 1),
        Format::Float32x2 => (Form::Floats, 2),
        Format::Float32x4 => (Form::Floats, 4),
        Format::Uint8x4 => (Form::Bytes { swapped: order == ByteOrder::Bgra }, 4),
        Format::Uint16x1 => (Form::Words, 1),
    };
    let (pitch, width, height) = (surface.effective_pitch(), surface.width(), surface.rows());
    // The sum of addresses wraps at the end of the address space.
    let ends = u64::from(surface.base.0) + surface.bytes() <= 1 << 32;
    if !ends || width > pitch || width == 0 || height == 0 {
        return None;
    }
    let mut elements = Elements { bytes: (), pitch, width, height, form, channels, mask: 0xf, tiles: None };
    if !surface.tiling.is_tiled() {
        let bytes = usize::try_from(elements.bytes_needed()).ok()?;
        return Some((elements, bytes));
    }
    elements.tiles = Some(tiles(surface));
    let bytes = usize::try_from(surface.bytes()).ok()?;
    surface.base.0.is_multiple_of(TILE_BYTES).then_some((elements, bytes))
}

/// Where columns and rows lie in tiles: of all distinct tilings, because consecutive launches use the same.
fn tiles(surface: &Surface) -> Tiles {
    static KNOWN: Mutex<VecDeque<((ElementSize, u32), Tiles)>> = Mutex::new(VecDeque::new());
    let key = (surface.format.info().element, surface.effective_pitch());
    let mut known = lock(&KNOWN);
    if let Some((_, tiles)) = known.iter().find(|(of, _)| *of == key) {
        return tiles.clone();
    }
    let address = |x, y| tiled_address(key.0, x, y, key.1, 0);
    let tiles = Tiles {
        columns: (0..MAX_INDEX).map(|x| address(x, 0)).collect(),
        rows: (0..MAX_INDEX).map(|y| address(0, y)).collect(),
        tile_bytes: TILE_BYTES,
    };
    known.push_front((key, tiles.clone()));
    known.truncate(KNOWN_TILES);
    tiles
}

/// The same of an input, as texture instructions read it.
fn readable(bound: &BoundInput, order: ByteOrder) -> Option<(Elements<()>, usize)> {
    let (mut elements, bytes) = array(&bound.surface, order)?;
    match (bound.surface.format, bound.square) {
        (Format::Float32x1, true) => elements.form = Form::Square,
        (Format::Uint16x1, true) => return None,
        _ => {}
    }
    Some((elements, bytes))
}

/// Whether an input that the program reads shares memory with something it writes.
pub(super) fn aliased(registers: &CommandRegisters, usage: &Usage, uncached: bool) -> bool {
    let range = |s: &Surface| (u64::from(s.base.0), u64::from(s.base.0) + s.bytes());
    let conditional = registers.conditional;
    let outputs = registers.outputs.iter().enumerate().filter_map(|(n, surface)| {
        let used = (uncached && n == 0) || usage.outputs.iter().any(|&o| usize::from(o) == n);
        surface.as_ref().filter(|_| used)
    });
    let written = outputs.chain(conditional.buffer.as_ref().filter(|_| conditional.write)).map(range);
    usage.inputs.iter().filter_map(|&n| registers.inputs.get(usize::from(n))?.as_ref()).map(range).any(|input| {
        // A surface that passes the end of the address space goes on at its beginning.
        input.1 > 1 << 32 || written.clone().any(|w| w.1 > 1 << 32 || (w.0 < input.1 && input.0 < w.1))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::mc::Tiling;
    use crate::memory::{ArenaId, ArenaOptions};

    #[test]
    fn arrays_are_what_surfaces_say() {
        const SIZES: [(u32, u32); 4] = [(1, 1), (40, 21), (130, 70), (64, 3)];
        let mut memory = DeviceMemory::new(&ArenaOptions::with_sizes([1 << 20, 0, 0, 0]).unwrap()).unwrap();
        let base = memory.range(ArenaId::Gpu).base.0;
        for at in 0..1 << 18 {
            memory.write(GpuAddr(base + 4 * at), &at.wrapping_mul(0x9e37_79b9).to_le_bytes()).unwrap();
        }
        for (format, tiling) in Format::ALL.iter().flat_map(|&f| [(f, Tiling::Linear), (f, Tiling::TiledInp2x2)]) {
            for ((width, height), order) in
                SIZES.into_iter().flat_map(|s| [ByteOrder::Rgba, ByteOrder::Bgra].map(|o| (s, o)))
            {
                let surface =
                    Surface::for_size(width, height, format, tiling).unwrap().at(GpuAddr(base + 2 * TILE_BYTES));
                let (elements, bytes) = array(&surface, order).unwrap();
                assert!(elements.bytes_needed() <= bytes as u64 && bytes as u64 <= surface.bytes(), "{surface:?}");
                let size = [elements.width, elements.height];
                let elements = elements.with(memory.lent(surface.base, bytes).unwrap());
                for (x, y) in (0..size[1]).flat_map(|y| (0..size[0]).map(move |x| (x, y))) {
                    let expected = surface.load(&memory, x, y, order).unwrap();
                    assert_eq!(elements.read(x, y, size), expected, "({x}, {y}) of {surface:?}, {order:?}");
                }
            }
        }
        let surface = Surface::for_size(8, 8, Format::Uint8x4, Tiling::Tiled).unwrap();
        assert!(array(&surface.at(GpuAddr(32)), ByteOrder::Rgba).is_none());
    }
}
