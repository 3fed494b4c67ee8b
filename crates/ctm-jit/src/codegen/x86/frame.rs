//! The frame: the memory that code works on. A head, a part for each copy, room for registers during calls.

#![allow(unsafe_code, reason = "lines of the frame become bytes")]

use super::isa::MAX_COPIES;
use super::quads;
use super::select::Rows;
use crate::launch::lanes::{Mask, Row};

/// Rows of [`Layout::masks`]: masks 2 and 3, then the running lanes of each copy.
const MASK_ROWS: i32 = 2 + MAX_COPIES as i32;

/// Rows for registers during calls.
const SAVED_ROWS: i32 = 40;
const _: () = assert!(super::sampling::ROWS <= SAVED_ROWS);

/// Offsets in the frame's head.
pub mod head {
    /// Pointer to the floating-point constants.
    pub const CONSTANTS: i32 = 0;
    /// Pointer to the integer constants.
    pub const INTS: i32 = 8;
    /// Pointer to the function that fetches.
    pub const FETCH: i32 = 16;
    /// Pointer for that function.
    pub const CONTEXT: i32 = 24;
    /// Pointer to the visits of blocks.
    pub const VISITS: i32 = 32;
    /// Instructions that are left.
    pub const FUEL: i32 = 40;
    /// The host's MXCSR.
    pub const HOST_MXCSR: i32 = 48;
    /// Ours.
    pub const MXCSR: i32 = 52;
    /// The first block at which a copy waits.
    pub const WAITING: i32 = 56;
    /// Groups that have not ended: those of the pass, and those that follow in a span.
    pub const GROUPS: i32 = 60;
    /// What kind of span it is.
    pub const SPAN: i32 = 64;
    /// Pointer to the start values of the pass: rows of each copy in turn.
    pub const STARTS: i32 = 72;
    /// Pointer to a dword that is not 0 when the code should stop; read where instructions are counted down.
    pub const STOP: i32 = 80;
    /// Where the outputs of a span go: [`super::target`].
    pub const TARGETS: i32 = 88;
    /// Its size.
    pub const SIZE: i32 = (TARGETS + super::target::SIZE * ctm_isa::x1k::OUTPUTS as i32 + 63) & !63;
}

/// Offsets in the description of an output, within [`head::TARGETS`].
pub mod target {
    /// Pointer to the first element of the pass.
    pub const POINTER: i32 = 0;
    /// Bytes from row to row.
    pub const ROW_BYTES: i32 = 8;
    /// Channels of an element, if code stores them; otherwise one of `span::form`.
    pub const FORM: i32 = 16;
    /// Bytes from one group to the next: from the first, third ... of a pass, and from the second, fourth ...
    pub const STEPS: i32 = 24;
    /// Groups of which some lanes did not write the whole element.
    pub const PARTIAL: i32 = 40;
    /// Elements of such groups that were written.
    pub const ELEMENTS: i32 = 48;
    /// Their channels.
    pub const CHANNELS: i32 = 56;
    /// Its size.
    pub const SIZE: i32 = 64;

    /// Bytes that a group has in each of its two rows.
    pub const fn group_bytes(channels: u32) -> u32 {
        4 * channels * crate::launch::lanes::LANES as u32 / 2
    }
}

/// Offsets in the description of an input, within [`Layout::inputs`].
pub mod input {
    /// Pointer to its elements, where lookups are nearest and clamped; otherwise 0.
    pub const POINTER: i32 = 0;
    /// Width and height as numbers.
    pub const SIZE: i32 = 8;
    /// The last column and the last row as numbers.
    pub const LAST: i32 = 16;
    /// Dwords from row to row, and from column to column: channels of an element.
    pub const STRIDES: i32 = 24;
    /// Channels of an element.
    pub const CHANNELS: i32 = STRIDES + 4;
    /// Pointer to the routine for other lookups (`sampling`); 0 when they are calls of the reference function.
    pub const ROUTINE: i32 = 32;
    /// Pointer to its elements, for that.
    pub const DATA: i32 = 40;
    /// After how many columns and rows it repeats, and 1 over that, as numbers.
    pub const PERIOD: i32 = 48;
    /// See above.
    pub const INVERSE: i32 = 56;
    /// The border: bits of r, g, b, a.
    pub const BORDER: i32 = 64;
    /// Its size.
    pub const BYTES: i32 = 80;
}

/// Offsets in a copy's part: masks and numbers of 32 bits, then rows.
pub mod part {
    use ctm_isa::x1k::{BRANCH_COUNTER_FULL, LOOP_STACK, OUTPUTS};

    /// Covered lanes.
    pub const COVERED: i32 = 0;
    /// Predicate bits; the ALU result follows as the fifth.
    pub const PREDICATES: i32 = 4;
    /// The ALU result.
    pub const RESULT: i32 = PREDICATES + 16;
    /// Lanes that wrote each output component.
    pub const WRITTEN: i32 = RESULT + 4;
    /// Levels of branch-inactive lanes.
    pub const LEVELS: i32 = WRITTEN + 4 * (4 * OUTPUTS as i32 + 1);
    /// Lanes that left each loop.
    pub const BROKE: i32 = LEVELS + 4 * (BRANCH_COUNTER_FULL as i32 + 2);
    /// Lanes that left an iteration of each loop.
    pub const CONTINUED: i32 = BROKE + 4 * LOOP_STACK as i32;
    /// Iterations left of each loop.
    pub const COUNTS: i32 = CONTINUED + 4 * LOOP_STACK as i32;
    /// aL of each loop.
    pub const LOOP_VARIABLES: i32 = COUNTS + 4 * LOOP_STACK as i32;
    /// The running lanes of a copy that waits.
    pub const RUNNING: i32 = LOOP_VARIABLES + 4 * LOOP_STACK as i32;
    /// The block at which it waits.
    pub const PENDING: i32 = RUNNING + 4;
    /// The lanes that there are: those that run at the start.
    pub const EXISTING: i32 = PENDING + 4;
    /// Where rows begin.
    pub const ROWS: i32 = (EXISTING + 4 + 63) & !63;
}

/// Where things lie in the frame.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Output components, in the artifact's order.
    pub outputs: i32,
    /// Vectors without a register.
    pub spills: i32,
    /// A copy's part.
    pub stride: i32,
    /// Registers during calls.
    pub save: i32,
    /// Masks of lanes as vectors, for back ends without mask registers.
    pub masks: i32,
    /// Start values, copy by copy in the artifact's order.
    pub starts: i32,
    /// What start values of a span gain from pass to pass.
    pub steps: i32,
    /// Rows that never change.
    pub tables: i32,
    /// The lanes that wrote each channel of an element, as vectors; then the same as elements.
    pub written: i32,
    /// What inputs are: [`input`].
    pub inputs: i32,
    /// Two ones: what coordinates in elements are multiplied with.
    pub units: i32,
    /// All of it.
    pub size: i32,
}

impl Layout {
    /// Rows of fetches: they come first.
    pub const ROWS: Rows = Rows { coordinates: part::ROWS, texels: part::ROWS + 2 * 64 };

    /// For so many start values, outputs and spilled vectors.
    pub fn new(start: usize, outputs: usize, spills: u32, copies: u8) -> Self {
        let outputs_at = part::ROWS + 6 * 64;
        let spills_at = outputs_at + 64 * outputs as i32;
        let stride = spills_at + 64 * spills as i32;
        let save = head::SIZE + stride * i32::from(copies);
        let masks = save + 64 * SAVED_ROWS;
        let starts = masks + 64 * MASK_ROWS;
        let steps = starts + 64 * start as i32 * i32::from(copies);
        let tables = steps + 64 * start as i32;
        let written = tables + 64 * quads::TABLES.len() as i32;
        let inputs = written + 4 * 64 + 2 * quads::MASK_ROW;
        let units = inputs + input::BYTES * ctm_isa::x1k::INPUTS as i32;
        let size = units + 64;
        Self {
            outputs: outputs_at,
            spills: spills_at,
            stride,
            save,
            masks,
            starts,
            steps,
            tables,
            written,
            inputs,
            units,
            size,
        }
    }

    /// A copy's part.
    pub fn part(&self, copy: u8) -> i32 {
        head::SIZE + self.stride * i32::from(copy)
    }
}

/// A cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Line(pub [u8; 64]);

/// What code works on: [`Layout`] says where things lie.
pub struct Frame {
    #[cfg(not(test))]
    pub(super) bytes: Vec<Line>,
    #[cfg(test)]
    pub(super) bytes: crate::tests::guarded::Guarded<Line>,
    /// Copies of inputs.
    panels: Vec<Line>,
}

impl Frame {
    /// A frame of so many bytes, all 0.
    pub(in crate::codegen::x86) fn new(size: i32) -> Self {
        let lines = (size as usize).div_ceil(64);
        #[cfg(not(test))]
        let bytes = vec![Line([0; 64]); lines];
        #[cfg(test)]
        let bytes = crate::tests::guarded::Guarded::new(lines);
        Self { bytes, panels: Vec::new() }
    }

    pub(in crate::codegen::x86) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: lines are arrays of bytes without padding, and any bytes are valid.
        unsafe { std::slice::from_raw_parts_mut(self.bytes.as_mut_ptr().cast(), self.bytes.len() * 64) }
    }

    /// So many bytes for copies of inputs, whose addresses hold until the next call.
    pub(in crate::codegen::x86) fn panels(&mut self, bytes: usize) -> &mut [u8] {
        let lines = bytes.div_ceil(64);
        if self.panels.len() < lines {
            self.panels.resize(lines, Line([0; 64]));
        }
        // SAFETY: lines are arrays of bytes without padding, and any bytes are valid.
        unsafe { std::slice::from_raw_parts_mut(self.panels.as_mut_ptr().cast(), lines * 64) }
    }

    pub(in crate::codegen::x86) fn put(&mut self, at: i32, bytes: &[u8]) {
        self.bytes()[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    }

    pub(in crate::codegen::x86) fn put_row(&mut self, at: i32, row: &Row) {
        let to = &mut self.bytes()[at as usize..at as usize + 64];
        to.as_chunks_mut::<4>().0.iter_mut().zip(row).for_each(|(to, bits)| *to = bits.to_le_bytes());
    }

    pub(in crate::codegen::x86) fn get_row(&mut self, at: i32, row: &mut Row) {
        let from = &self.bytes()[at as usize..at as usize + 64];
        from.as_chunks::<4>().0.iter().zip(row).for_each(|(from, bits)| *bits = u32::from_le_bytes(*from));
    }

    /// Where something lies, until the frame moves.
    pub(in crate::codegen::x86) fn address(&self, at: i32) -> usize {
        self.bytes.as_ptr() as usize + at as usize
    }

    pub(in crate::codegen::x86) fn dword(&mut self, at: i32) -> u32 {
        let at = at as usize;
        let bytes = self.bytes();
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    pub(in crate::codegen::x86) fn count(&mut self, at: i32) -> u64 {
        u64::from(self.dword(at)) | u64::from(self.dword(at + 4)) << 32
    }

    pub(in crate::codegen::x86) fn mask(&mut self, at: i32) -> Mask {
        let at = at as usize;
        let bytes = self.bytes();
        u16::from_le_bytes([bytes[at], bytes[at + 1]])
    }
}
