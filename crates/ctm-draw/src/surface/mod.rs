//! Surfaces: formats of samples, tiling, levels, and the targets of a draw.
//!
//! Nothing here knows of primitives or programs. `console` has the tile modes of the console's textures. `format` and `depth` turn numbers into bits and back, `layout` gives the address of a sample,
//! `levels` the address of each level of a texture, `samples` loads and stores, `fill` writes one value into many pixels, `cleared` and `settle` put that off, `copy` copies
//! many, and `targets` opens the
//! targets of a draw.

pub(crate) mod cleared;
pub mod console;
pub(crate) mod copy;
pub mod depth;
pub(crate) mod fill;
pub mod format;
pub mod layout;
pub mod levels;
pub(crate) mod samples;
mod settle;
pub(crate) mod targets;
pub(crate) mod value;
