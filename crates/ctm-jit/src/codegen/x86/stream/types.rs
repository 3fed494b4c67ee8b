//! The types of streams in machine code: programs with selected instructions, tiles, addresses, kernels.

use crate::codegen::x86::allocate::{Lives, Ranges};
use crate::codegen::x86::isa::X86Target;
use crate::codegen::x86::lir::Lir;
use crate::codegen::x86::masked::SelectedCode;
use crate::stream::affine::{Fetch, Item, LOOPS, Linear};
use crate::stream::prepare::Prepared;
use ctm_ir::masked::Var;
use ctm_isa::x1k::OUTPUTS;
use ctm_x86::Gpr;
use memmap2::Mmap;

/// Offsets in the frame.
pub(in crate::codegen) mod at {
    /// Pointer to the floating-point constants.
    pub const CONSTANTS: i32 = 0;
    /// Tiles of a row.
    pub const TILES: i32 = 8;
    /// Tiles that are left.
    pub const TILES_LEFT: i32 = 12;
    /// Rows of tiles that are left.
    pub const ROWS_LEFT: i32 = 16;
    /// The beginning of the slots.
    pub const SLOTS: i32 = 64;
}

/// The shape of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows.
    pub rows: u8,
    /// Vectors side by side.
    pub vectors: u8,
}

/// The options of a kernel, beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelOptions {
    /// The tile.
    pub tile: Tile,
    /// Outputs bypass the caches; every store is aligned.
    pub past_caches: bool,
}

/// The origin of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen) enum Base {
    /// The first element of an input.
    Input(u8),
    /// The first element of an output.
    Output(u8),
    /// The first constant.
    Constants,
    /// Zero: it is a number, and no address.
    Zero,
}

/// An address or a number that moves in fixed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen) struct Slot {
    pub(in crate::codegen) base: Base,
    /// The column of an element (of an input, its constant part apart, which the code adds), the number of a constant, or the number itself.
    pub(in crate::codegen) x: Linear,
    /// The row of an element.
    pub(in crate::codegen) y: Linear,
}

/// The channels of each surface's elements, 1, 2 or 4; 0: there is no array. The code sees all elements as
/// single-precision numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// The channels of each input.
    pub inputs: [u8; ctm_isa::x1k::INPUTS],
    /// The channels of each output; those without channels are dropped.
    pub outputs: [u8; ctm_isa::x1k::OUTPUTS],
}

impl Geometry {
    /// Channels of the elements that a fetch reads.
    pub(in crate::codegen) const fn input(&self, fetch: &Fetch) -> u8 {
        self.inputs[fetch.input as usize]
    }
}

/// Bytes of an element of `channels` channels.
pub(in crate::codegen) const fn bytes(channels: u8) -> i32 {
    4 * channels as i32
}

/// Machine code for tiles.
pub struct Kernel {
    pub(in crate::codegen) target: X86Target,
    pub(in crate::codegen) text: Mmap,
    /// The columns of a tile.
    pub columns: u32,
    /// The options that it was compiled for.
    pub options: KernelOptions,
    /// Dwords of the constants that it may read.
    pub(in crate::codegen) constants: usize,
    /// Its slots.
    pub(in crate::codegen) slots: Vec<Slot>,
    /// The geometry that it was compiled for.
    pub geometry: Geometry,
    pub(in crate::codegen) fetches: Vec<Fetch>,
    pub(in crate::codegen) layout: FrameLayout,
    pub(in crate::codegen) packed: bool,
    pub(in crate::codegen) transposed: bool,
    pub(in crate::codegen) copies: Option<Copies>,
}

#[cfg(all(test, unix, target_arch = "x86_64"))]
impl Kernel {
    /// The code.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Offsets in the frame, after the slots.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::codegen) struct FrameLayout {
    /// Rows of permutations.
    pub(in crate::codegen) tables: i32,
    /// Masks 2 and 3, on AVX2.
    pub(in crate::codegen) masks: i32,
    /// Column of each lane, as integers; one row for each vector side by side.
    pub(in crate::codegen) lanes: i32,
    /// Vectors without a register.
    pub(in crate::codegen) spills: i32,
    pub(in crate::codegen) size: i32,
}

/// Numbers of a slot: its present value; its steps to the next tile, from the end of a row of tiles to the first tile
/// of the next, and to the next iteration of each loop.
pub(in crate::codegen) const SLOT: usize = 3 + LOOPS;

pub(in crate::codegen) const fn slot_at(slot: usize) -> i32 {
    at::SLOTS + (8 * SLOT * slot) as i32
}

pub(in crate::codegen) const TILE_STEP: i32 = 8;
pub(in crate::codegen) const ROW_STEP: i32 = 16;
pub(in crate::codegen) const fn iteration_step(depth: usize) -> i32 {
    24 + 8 * depth as i32
}

/// The instructions of a block in groups: those with mask registers are emitted unit by unit, others instruction by instruction.
pub(in crate::codegen) type Lines = Vec<Vec<Lir>>;

/// Whether some instructions of a group use mask registers.
pub(in crate::codegen) fn use_masks(group: &[Lir]) -> bool {
    group.iter().any(Lir::uses_masks)
}

/// A program for streams, with its instructions chosen.
pub struct Chosen {
    pub(in crate::codegen) target: X86Target,
    /// The program.
    pub prepared: Prepared,
    pub(in crate::codegen) items: Vec<Item>,
    /// The variables that are live at the start.
    pub(in crate::codegen) live_in: Vec<Var>,
    /// Its instructions in their order, and the vectors of variables, which come first.
    pub(in crate::codegen) selected: SelectedCode,
    pub(in crate::codegen) lines: Vec<Lines>,
    pub(in crate::codegen) loads: Vec<Load>,
    pub(in crate::codegen) ranges: Ranges,
    /// The variables that are not 0 at the start, with their values.
    pub(in crate::codegen) starts: Vec<(Var, Linear)>,
    pub(in crate::codegen) geometry: Geometry,
    /// The dependence of each vector on row and column.
    pub(in crate::codegen) varies: Vec<Varies>,
    pub(in crate::codegen) lives: Lives,
}

/// A channel of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::codegen) struct Load {
    pub(in crate::codegen) fetch: Fetch,
    /// The number of the fetch in the program.
    pub(in crate::codegen) number: usize,
    pub(in crate::codegen) channel: u8,
}

/// The instances of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::codegen) struct Varies {
    pub(in crate::codegen) rows: bool,
    pub(in crate::codegen) columns: bool,
}

impl Varies {
    pub(in crate::codegen) const ALL: Self = Self { rows: true, columns: true };

    pub(in crate::codegen) const fn with(self, other: Self) -> Self {
        Self { rows: self.rows || other.rows, columns: self.columns || other.columns }
    }
}

/// The location of an instance of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen) enum Location {
    Register(u8),
    Row(i32),
    /// In memory that the program reads: this load.
    Load(u16),
    /// In the constants: the number of the program that points there, and a dword.
    Constant(u16, u16),
    Nowhere,
}

/// The effect of such a program: the input whose elements each output gets, and the change of their numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::codegen) struct Copies(pub(in crate::codegen) [Option<(u8, Sum)>; OUTPUTS]);

/// The change of numbers. Elements of 8 and 16 bits are unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::codegen) struct Sum {
    /// Zero is added.
    pub(in crate::codegen) adds: bool,
    /// All NaNs become canonical.
    pub(in crate::codegen) one_nan: bool,
}

/// Rows of permutations in the frame.
pub(in crate::codegen) mod table {
    /// From columns to lanes.
    pub const READ: usize = 0;
    /// From lanes to columns.
    pub const WRITE: usize = 1;
    /// The permutation that orders elements of one channel after a shuffle of two-channel elements.
    pub const READ_PAIRS: usize = 2;
    /// The inverse permutation, for unpacking.
    pub const WRITE_PAIRS: usize = 3;
    /// The number of permutations.
    pub const ROWS: usize = 4;
}

/// The registers that count the iterations of loops, by depth; slots get those that are free.
pub(in crate::codegen) const ITERATIONS: [Gpr; LOOPS] = [12, 13, 14, 15];
