//! Offsets in the block, which [`super::code`] works on.

use crate::codegen::x86::quads;
use crate::launch::lanes::LANES;

/// Pointer to the program's frame.
pub const FRAME: i32 = 0;
/// Pointer to the program's code.
pub const PROGRAM: i32 = 8;
/// Wavefronts that have not ended.
pub const WAVES: i32 = 16;
/// Lanes that ran, over all wavefronts that ended.
pub const PROCESSORS: i32 = 24;
/// Pointer to the rows of start values.
pub const START_ROWS: i32 = 32;
/// Start values that are made here.
pub const STARTS: i32 = 40;
/// 1: single precision makes them exactly.
pub const SINGLE: i32 = 44;
/// 1: all lanes that exist lie in the domain.
pub const WHOLE: i32 = 48;
/// How much further down the last lane of a strip lies than the first: 1; where no wavefront is a strip, more than any number of rows.
pub const STRIP: i32 = 52;
/// 1: gradients can be set.
pub const GRADIENTS: i32 = 56;
/// Targets that are stored to.
pub const TARGETS: i32 = 60;
/// Instructions that a wavefront may issue.
pub const FUEL: i32 = 64;
/// Pointer to the descriptions of targets: [`surface`].
pub const SURFACES: i32 = 72;
/// What lanes gain from wavefront to wavefront: columns and rows.
pub const DI: i32 = 80;
pub const DJ: i32 = 84;
/// The last column of lanes.
pub const LAST: i32 = 88;
/// Columns of lanes.
pub const WIDTH: i32 = 92;
/// How much further down a lane lies when it has passed the last column: a row, or a row of quads.
pub const NEXT_ROW: i32 = 96;
/// The domain: first and last column, first and last row.
pub const I0: i32 = 100;
pub const I1: i32 = 104;
pub const J0: i32 = 108;
pub const J1: i32 = 112;
/// 1: there are quotients.
pub const DIVIDES: i32 = 116;
/// A number that is cleared where there is nothing to clear.
pub const NOTHING: i32 = 120;
/// Lanes that run.
pub const RUNS: i32 = 128;
/// What quotients are divided by, in double precision: at (0, 0), by column and by row.
pub const DIVISOR: i32 = 136;
/// One, in double precision.
pub const ONE: i32 = 160;
/// Pointer to the bits of the next wavefront's covered lanes; 0: all are.
pub const COVERED: i32 = 168;
/// The covered lanes of the wavefront.
pub const SENT: i32 = 176;
/// 1: what is made here holds no denormals, so the program's MXCSR is set once for all wavefronts.
pub const SETS: i32 = 184;
/// Columns of all lanes.
pub const I: i32 = 192;
/// Rows of all lanes.
pub const J: i32 = I + 4 * 64;
/// [`quads::TABLES`].
pub const QUADS: i32 = J + 4 * 64;
/// Masks of lanes as vectors, one for each channel.
pub const MASK_ROWS: i32 = QUADS + 64 * quads::TABLES.len() as i32;
/// The same as elements.
pub const MASKS: i32 = MASK_ROWS + 4 * 64;
/// What start values are made of: [`coefficients`].
pub const COEFFICIENTS: i32 = MASKS + 2 * quads::MASK_ROW;

/// Of one start value.
pub mod coefficients {
    /// In double precision.
    pub const ORIGIN: i32 = 0;
    /// By column.
    pub const DI: i32 = 8;
    /// By row.
    pub const DJ: i32 = 16;
    /// In single precision.
    pub const ORIGIN_SINGLE: i32 = 24;
    pub const DI_SINGLE: i32 = 28;
    pub const DJ_SINGLE: i32 = 32;
    /// What is made of the sum: [`crate::launch::ramp::Makes`].
    pub const MAKES: i32 = 36;
    /// Its size.
    pub const SIZE: i32 = 64;
}

/// Where exports go.
pub mod surface {
    /// Pointers to the lanes that wrote each channel.
    pub const WRITTEN: i32 = 0;
    /// Pointers to the rows of channels.
    pub const ROWS: i32 = 32;
    /// Pointers to what is cleared behind each wavefront.
    pub const CLEAR: i32 = 64;
    /// Pointer to element (0, 0).
    pub const DATA: i32 = 96;
    /// Bytes from row to row.
    pub const ROW_BYTES: i32 = 104;
    /// Pointer to the routine for strips of whole elements.
    pub const STORE: i32 = 112;
    /// Pointer to the routine for everything else.
    pub const STORE_PART: i32 = 120;
    /// Wavefronts that were stored as strips of whole elements.
    pub const WHOLE: i32 = 128;
    /// Elements that were stored otherwise.
    pub const ELEMENTS: i32 = 136;
    /// Their channels.
    pub const CHANNELS_STORED: i32 = 144;
    /// Channels of an element.
    pub const CHANNELS: i32 = 152;
    /// Bytes of an element.
    pub const ELEMENT_BYTES: i32 = 156;
    /// Pointer to where the first element of each column begins; 0: elements lie row by row.
    pub const COLUMNS: i32 = 160;
    /// Pointer to where the first element of each row begins.
    pub const ROW_PLACES: i32 = 168;
    /// By how many bits channels are shifted, where an element is one dword.
    pub const SHIFTS: i32 = 176;
    /// The bits of a place within a tile.
    pub const WITHIN: i32 = 192;
    /// The others.
    pub const WHOLE_TILES: i32 = 196;
    /// Its size.
    pub const SIZE: i32 = 200;
}

/// A row holds a piece of a wavefront.
const _: () = assert!(4 * LANES == 64);
