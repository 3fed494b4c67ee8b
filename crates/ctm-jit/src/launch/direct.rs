//! Launches over memory that lets engines write: groups write their outputs as soon as they end, in any order.

use crate::ir::x1k::{Code, Op, Var};
use crate::launch::grid::{Grid, Places};
use crate::launch::lanes::{LANES, Lanes, Mask, output_var};
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Direct, Elements, Form, Input, Memory, Outputs, Written};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::sync::atomic::{AtomicU32, Ordering};

/// Inputs as arrays: a memory for back ends that read through one.
pub struct Views<'a> {
    descriptors: [Option<Input>; INPUTS],
    elements: [Option<Elements<&'a [u8]>>; INPUTS],
}

/// An output that threads write side by side: no two of them the same element.
pub struct Target<'a> {
    pub cells: &'a [AtomicU32],
    pub pitch: usize,
    pub channels: usize,
    pub mask: u8,
}

/// The outputs of a launch.
pub struct Targets<'a> {
    pub targets: [Option<Target<'a>>; OUTPUTS],
}

/// The two halves of [`Direct`], if the launch can use it: inputs that are arrays, outputs that hold the domain.
pub fn halves<'a>(
    direct: Direct<'a>,
    descriptors: [Option<Input>; INPUTS],
    code: &Code,
    grid: &Grid,
    last: Position,
) -> Option<(Views<'a>, Targets<'a>)> {
    let conditional = code.outputs >> Var::W.output_index().unwrap_or_default() & 1 == 1;
    if conditional || grid.groups() == 0 {
        return None;
    }
    let views = Views { descriptors, elements: direct.inputs };
    let fetches = code.blocks.iter().flat_map(|block| &block.ops).filter_map(|op| match op {
        Op::Fetch { input, .. } => Some(usize::from(input & 15)),
        _ => None,
    });
    for input in fetches {
        let (descriptor, elements) = (views.descriptors[input]?, views.elements[input].as_ref()?);
        let holds = descriptor.width.min(descriptor.height) > 0
            && descriptor.width <= elements.width
            && descriptor.height <= elements.height
            && holds(elements, elements.bytes.len());
        if !holds {
            return None;
        }
    }
    let mut targets = Targets { targets: Default::default() };
    for (index, output) in direct.outputs.into_iter().enumerate() {
        if code.outputs >> (4 * index) & 0xf == 0 {
            continue;
        }
        let Some(output) = output else { continue };
        let fits = last.i < output.width
            && last.j < output.height
            && output.form == Form::Floats
            && holds(&output, output.bytes.len());
        if !fits {
            return None;
        }
        targets.targets[index] = Some(Target {
            cells: cells(output.bytes)?,
            pitch: output.pitch as usize,
            channels: output.channels.into(),
            mask: output.mask & ((1 << output.channels) - 1) as u8,
        });
    }
    Some((views, targets))
}

/// Whether so many bytes hold an array.
fn holds<B>(of: &Elements<B>, bytes: usize) -> bool {
    (1..=4).contains(&of.channels) && of.width <= of.pitch && of.bytes_needed() <= bytes as u64
}

/// Plain memory: any bits are a value, and there is no padding.
pub trait Memories {}
impl Memories for u8 {}
impl Memories for [u32; 4] {}

/// Memory as dwords that threads may store to side by side; `None` when it is not aligned.
pub fn cells<T: Memories>(memory: &mut [T]) -> Option<&[AtomicU32]> {
    #[allow(unsafe_code, reason = "memory becomes cells")]
    // SAFETY: a dword may hold any bits, and so may what lies there; an atomic dword has the layout of a dword; the borrow is exclusive and
    // stays so.
    let (before, cells, _) = unsafe { memory.align_to_mut::<AtomicU32>() };
    before.is_empty().then_some(&*cells)
}

impl Targets<'_> {
    /// Writes what a group left; says what that was.
    pub fn write(&self, places: &Places, lanes: &Lanes) -> Written {
        let (mut elements, mut bytes) = (0, 0);
        for (index, target) in self.targets.iter().enumerate() {
            let Some(target) = target else { continue };
            let written: [Mask; 4] = std::array::from_fn(|c| {
                let passes = target.mask >> c & 1 == 1;
                if passes { lanes.written[4 * index + c] & lanes.covered } else { 0 }
            });
            let any = written.iter().fold(0, |any, mask| any | mask);
            elements += any.count_ones();
            bytes += written.iter().map(|mask| 4 * mask.count_ones()).sum::<u32>();
            if target.channels == 4 && written == [Mask::MAX; 4] {
                // The usual case: sixteen whole elements.
                for lane in 0..LANES {
                    let at = 4 * (places.j[lane] as usize * target.pitch + places.i[lane] as usize);
                    let rows = &lanes.outputs[4 * index..4 * index + 4];
                    for (cell, row) in target.cells[at..at + 4].iter().zip(rows) {
                        cell.store(row[lane].to_le(), Ordering::Relaxed);
                    }
                }
                continue;
            }
            if target.channels == 1 && written[0] == Mask::MAX && places.in_row() {
                let from = lanes.outputs[4 * index].as_chunks::<4>().0;
                for (row, pair) in [0, 2].into_iter().enumerate() {
                    let at = (places.j[0] as usize + row) * target.pitch + places.i[0] as usize;
                    let cells = target.cells[at..at + LANES / 2].as_chunks::<2>().0;
                    for (cells, quad) in cells.iter().zip(from) {
                        cells[0].store(quad[pair].to_le(), Ordering::Relaxed);
                        cells[1].store(quad[pair + 1].to_le(), Ordering::Relaxed);
                    }
                }
                continue;
            }
            for lane in (0..LANES).filter(|lane| any >> lane & 1 == 1) {
                let at = (places.j[lane] as usize * target.pitch + places.i[lane] as usize) * target.channels;
                for (c, cell) in target.cells[at..at + target.channels].iter().enumerate() {
                    if written[c] >> lane & 1 == 1 {
                        cell.store(lanes.outputs[4 * index + c][lane].to_le(), Ordering::Relaxed);
                    }
                }
            }
        }
        Written { elements: elements.into(), bytes: bytes.into() }
    }
}

impl<'a> Views<'a> {
    /// What a memory shows of its inputs.
    pub fn of(memory: &'a dyn Memory) -> Self {
        Self { descriptors: std::array::from_fn(|index| memory.input(index as u8)), elements: memory.input_arrays() }
    }
}

impl Views<'_> {
    /// Whether an input is lent: what is not is read through memory only.
    pub fn lends(&self, index: u8) -> bool {
        self.elements[usize::from(index & 15)].is_some()
    }

    /// An input that code can read by itself. The bytes hold all its elements, whose dwords have numbers of 31 bits, and its
    /// dimensions are between 1 and 2^23.
    pub fn array(&self, index: u8) -> Option<(&Elements<&[u8]>, &Input)> {
        let index = usize::from(index & 15);
        let (input, elements) = (self.descriptors[index].as_ref()?, self.elements[index].as_ref()?);
        // A mirrored coordinate goes through twice as many, each of which has to be a number.
        let sizes = 1..=1 << (f32::MANTISSA_DIGITS - 1);
        let fits = input.width <= elements.width
            && input.height <= elements.height
            && sizes.contains(&input.width)
            && sizes.contains(&input.height)
            && holds(elements, elements.bytes.len());
        let dwords = u64::from(elements.pitch) * u64::from(elements.height) * u64::from(elements.channels);
        (fits && dwords <= i32::MAX as u64).then_some((elements, input))
    }
}

impl Memory for Views<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.descriptors[usize::from(index & 15)]
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let index = usize::from(index & 15);
        let size = self.descriptors[index].map_or([1; 2], |input| [input.width, input.height]);
        Ok(self.elements[index].as_ref().map_or([0; 4], |elements| elements.read(x, y, size)))
    }

    fn commit(&mut self, _at: Position, _outputs: &Outputs) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// What output components stand for is fixed: four to a target, W last.
const _: () = assert!(output_var(4 * OUTPUTS).index() == Var::W.index());
