//! The layout of the frame: fixed offsets first, then those of one program ([`Layout`]); and a return value of code.

use crate::codegen::target::{MOST_REGISTERS, Target};
use crate::launch::wavefronts::wave::{GRADIENTS, LANES};

/// Offsets in the frame.
pub mod head {
    use crate::launch::wavefronts::wave::EXPORTS;
    use ctm_ir::masked::M;

    /// Pointer to the function that is called.
    pub const FUNCTION: i32 = 0;
    /// Pointer for that function.
    pub const CONTEXT: i32 = 8;
    /// The first lane of each quad.
    pub const QUADS: i32 = 24;
    /// Active lanes, summed over issued instructions.
    pub const ACTIVE_LANES: i32 = 32;
    /// Instructions that are left.
    pub const FUEL: i32 = 40;
    /// Pointer to the block counters.
    pub const VISITS: i32 = 48;
    /// Pointer to the uniform values.
    pub const UNIFORMS: i32 = 56;
    /// One more than the number of the yield that the wavefront has reached; 0 at its start and at its end.
    pub const YIELD: i32 = 64;
    /// Pointer to the local data share.
    pub const SHARE: i32 = 72;
    /// Pointer to the stop flag, a dword that is not 0 when the code should stop; read where instructions are counted
    /// down.
    pub const STOP: i32 = 80;
    /// Lanes that looked up each input.
    pub const LOOKUPS: i32 = 96;
    /// Masks and numbers.
    pub const MASKS: i32 = LOOKUPS + 8 * 16;
    /// Lanes that wrote each exported element.
    pub const WRITTEN: i32 = MASKS + 8 * M::COUNT as i32;
    /// The beginning of the rows.
    pub const ROWS: i32 = (WRITTEN + 8 * EXPORTS as i32 + 63) & !63;

    /// A mask.
    pub const fn mask(m: M) -> i32 {
        MASKS + 8 * m.0 as i32
    }
}

/// The return value of code whose instruction budget is used up.
pub const SPENT: u32 = 4;
/// The end of a wavefront in which the processor flushed a result that the reference may have rounded up into the range.
pub const UNDERFLOWED: u32 = 8;

/// Bytes of a row: all lanes of a wavefront.
pub const ROW: i32 = 4 * LANES as i32;
/// Arguments of a call.
pub const ARGUMENTS: usize = 6;
/// Results of a call.
pub const RESULTS: usize = 4;

/// The row of an argument.
pub const fn argument(number: usize) -> i32 {
    head::ROWS + ROW * number as i32
}

/// The row of a result.
pub const fn result(number: usize) -> i32 {
    head::ROWS + ROW * (ARGUMENTS + number) as i32
}

/// The row of a gradient that is set.
pub const fn gradient(number: usize) -> i32 {
    head::ROWS + ROW * (ARGUMENTS + RESULTS + number) as i32
}

/// The row of the lanes' numbers.
pub const fn lane_numbers() -> i32 {
    gradient(GRADIENTS)
}

/// The row of the lanes that exist: all bits where one does.
pub const fn existing_lanes() -> i32 {
    lane_numbers() + ROW
}

/// A number of one of the inlined lookups ([`table`]); those of the next one follow. Where instructions read whole
/// vectors, each lane has it.
pub const fn lookup(target: &Target, place: usize, number: i32) -> i32 {
    existing_lanes() + ROW + 4 * copies(target) * (table::COUNT * place as i32 + number)
}

/// The number of copies of each of these numbers.
pub const fn copies(target: &Target) -> i32 {
    if target.has.broadcast_operands { 1 } else { target.lanes as i32 }
}

/// The numbers of a lookup.
pub mod table {
    /// The numbers of columns, then those of rows: [`crate::launch::wavefronts::bindings::Texels::numbers`].
    pub const NUMBERS: i32 = 0;
    pub const PER_AXIS: i32 = 4;
    /// Elements from row to row.
    pub const PITCH: i32 = 8;
    /// The last column, and the last row, as whole numbers.
    pub const LAST: i32 = 9;
    /// Pointer to the array, in place of two of them.
    pub const DATA: i32 = 12;
    /// The number of them.
    pub const COUNT: i32 = 14;
}

/// Rows after those for registers during calls, in bytes from these, for masks that are vectors: masks 2 and 3; the active lanes, where
/// they have no register; lanes' indices and values.
pub const MASK_ROWS: i32 = 512;
pub const ACTIVE_ROWS: i32 = MASK_ROWS + 64;
pub const INDEX_ROWS: i32 = ACTIVE_ROWS + ROW;
pub const VALUE_ROWS: i32 = INDEX_ROWS + ROW;
/// Bytes for registers during calls.
pub const SAVE_BYTES: i32 = 64 * MOST_REGISTERS as i32;
const _: () = assert!(VALUE_ROWS + ROW <= SAVE_BYTES);

/// The offsets in the frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layout {
    /// Start values, in the artifact's order.
    pub start: i32,
    /// Exported elements, in the artifact's order.
    pub exports: i32,
    /// Vectors without a register.
    pub spills: i32,
    /// Bytes from one of them to the next.
    pub spill_bytes: i32,
    /// Vectors without a register that live within a strip.
    pub slots: i32,
    /// Registers during calls.
    pub save: i32,
    /// The numbers of a part's elements, and rows to load them in.
    pub elements: i32,
    /// All of it.
    pub size: i32,
}

impl Layout {
    /// For a target and these counts: lookups by code, start values, exported elements, spilled vectors,
    /// bytes of each, and those of strips.
    pub fn new(
        (target, lookups): (&Target, usize),
        starts: usize,
        exported: usize,
        (spilled, spill_bytes, runs): (u32, i32, u32),
    ) -> Self {
        let start = (lookup(target, lookups, 0) + 63) & !63;
        let exports = start + ROW * starts as i32;
        let spills = exports + ROW * exported as i32;
        let slots = (spills + spill_bytes * spilled as i32 + 31) & !31;
        let save = (slots + target.bytes() * runs as i32 + 63) & !63;
        let elements = save + SAVE_BYTES;
        Self { start, exports, spills, spill_bytes, slots, save, elements, size: elements + 64 * 5 }
    }
}
