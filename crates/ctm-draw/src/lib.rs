//! What a Radeon does between programs: vertices become primitives, primitives pixels, pixels what lies in targets.
//!
//! This room knows no command stream and no register: a draw is a [`state::DrawState`] of plain fields. Programs run on any engine of
//! [`ctm_exec`], many vertices or quads in a launch.
//!
//! | file | what |
//! |---|---|
//! | `state` | all that a draw depends on |
//! | `draw` | a draw: what is looked at before it, what is told after it |
//! | `run`, `bands` | a draw under way: order, batches; bands of rows, threads |
//! | `assembly` | indices become points, lines and triangles |
//! | `clip` | cutting, division by w, viewports |
//! | `raster/` | which samples of which pixels a primitive covers |
//! | `vertices`, `stage` | the vertex program, for each vertex once |
//! | `geometry` | geometry programs: rings, strips, the copy program |
//! | `streams` | stream output |
//! | `setup` | how parameters and depth change over a primitive |
//! | `primitives` | faces, fill modes, points, lines: from primitives to pieces in the window, and their quads of pixels |
//! | `planes` | what the pixels of a large piece start with |
//! | `shade` | the pixel program, for quads of any primitives |
//! | `band` | what a large piece covers of a band of rows: one launch |
//! | `merge`, `blend` | tests, blending, storing |
//! | `targets`, `surface` | what a draw writes, and where samples lie |
//! | `watch` | what came to one pixel |
//! | `format` | colours as bits |
//! | `depth` | depth and stencil as bits, their tests |
//! | `layout` | where the samples of a surface lie |
//! | `levels` | where the levels of a texture begin |
//!
//! Begin with [`state::DrawState`]. `docs/drawing.md` tells the rules with their sources.
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
mod band;
mod bands;
mod blend;
pub mod clip;
pub mod depth;
mod draw;
pub mod format;
mod geometry;
pub mod layout;
pub mod levels;
mod merge;
mod planes;
mod primitives;
pub mod raster;
mod run;
pub mod setup;
mod shade;
mod stage;
pub mod state;
mod streams;
mod surface;
mod targets;
pub mod vertices;
mod watch;

pub use draw::{
    Counts, DrawError, Drawn, Ending, Fragment, LaunchNotice, Note, Notice, Options, SampleTest, Stored, clear_colour,
    clear_depth, draw, draw_watched,
};
pub use targets::{ColourTarget, DepthTarget, StreamBuffer, TargetError, Targets};
