//! Offsets in the block, which [`super::code`] works on.

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
/// 1: what is stored is converted, in the host's MXCSR.
pub const CONVERTS: i32 = 52;
/// 1: gradients can be set.
pub const GRADIENTS: i32 = 56;
/// Instructions that a wavefront may issue.
pub const FUEL: i32 = 64;
/// Pointer to what stores need: [`super::stores::Stores`].
pub const STORES: i32 = 72;
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
/// Pointer to the function that stores.
pub const STORE: i32 = 120;
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
/// What start values are made of: [`coefficients`].
pub const COEFFICIENTS: i32 = J + 4 * 64;

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

/// A row holds a piece of a wavefront.
const _: () = assert!(4 * LANES == 64);
