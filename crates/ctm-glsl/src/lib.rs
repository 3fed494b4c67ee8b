//! From GLSL to R700 and X1K programs, by the drivers that are installed.
//!
//! | file | content |
//! |---|---|
//! | `client` | a small OpenGL client: compiles, links and draws a pair of shaders once, and prints OpenGL's description of it |
//! | `types` | OpenGL's types, and their names in containers |
//! | `pair` | R700: programs, registers and bindings of the draw in the client's capture |
//! | `x1k` | X1K: the pixel program of the draw, with its names and constants |
//!
//! The client runs in a process in which a Radeon appears (`ctm radeon`), so the driver is Mesa's r600, or r300 where the Radeon is an R580, and its
//! stream is captured. Nothing is executed for it. Where uniforms and samplers are is not asked: the client gives each of them a value of its own, and
//! the capture shows where it went.

mod client;
mod pair;
mod types;
mod x1k;

pub use client::{Failed, ShaderSources, Stage, reflect};
pub use pair::{Pair, PairError, pair};
pub use x1k::{OfTarget, Pixel, StartInput, pixel};
