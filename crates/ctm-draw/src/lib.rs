//! The fixed stages of a Radeon between programs: vertices become primitives, primitives pixels, pixels values in targets.
//!
//! This room knows no command stream and no register: a draw is a [`state::DrawState`] of plain fields. Programs run on any engine of
//! [`ctm_exec`], many vertices or quads in a launch.
//!
//! The folders are the stages of the pipeline; a folder uses only those above it in this table (`tests/layout.rs`):
//!
//! | folder | stage |
//! |---|---|
//! | `rect` | rectangles of pixels, and the grid of positions |
//! | `lanes` | blocks and rows of pixels that are tested together |
//! | `surface/` | formats of samples, tiling, levels of textures, and the targets of a draw |
//! | `state/` | the state of a draw; its options, counts and errors |
//! | `program/` | launches of the draw's programs, and the memory that they reach |
//! | `assembly/` | primitive assembly: indices become points, lines and triangles |
//! | `vertex/` | the vertex program, geometry programs, stream output |
//! | `raster/` | coverage: the samples of the pixels that a triangle, a line or a point covers |
//! | `setup/` | clipping, viewports, faces and fill modes; planes of depth and parameters |
//! | `pixel/` | interpolants and the pixel program |
//! | `output/` | the output merger: depth and stencil tests, blending, stores |
//! | `draw/` | a draw as a whole: order, batches, bands of rows, threads |
//!
//! Begin with [`state::DrawState`]. `docs/drawing.md` has the rules with their sources.
//!
//! **Invariants.** Results never depend on the number of threads or on the engine. Coverage is decided in whole numbers: of triangles that
//! share an edge, every sample belongs to one.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "numbers of pixels, samples and vertices are limited where they come in"
)]

pub mod assembly;
mod draw;
mod lanes;
mod output;
mod pixel;
mod program;
pub mod raster;
mod rect;
pub mod setup;
pub mod state;
mod surface;
pub mod vertex;

pub use draw::{
    Drawn, Ending, Fragment, MOST_INDICES_TOGETHER, SampleTest, Stored, clear_colour, clear_depth, draw, draw_together,
    draw_watched, has_threads,
};
pub use setup::Outline;
pub use state::{Counts, DrawError, Funnel, LaunchNotice, Loss, LossUnit, Lost, Note, Notice, Options};
pub use surface::cleared::FastClear;
pub use surface::targets::{ColourTarget, DepthTarget, StreamBuffer, TargetError, Targets};
pub use surface::{console, depth, format, layout, levels};
