//! Pixel processing: start values of the interpolants, and the pixel program for quads and for bands of a large piece.

pub(crate) mod band;
pub(crate) mod exports;
pub(crate) mod rows;
pub(crate) mod shade;
pub(crate) mod starts;
