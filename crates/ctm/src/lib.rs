//! ATI's Close To the Metal device in software, and the public interface of the project.
//!
//! | module | what |
//! |---|---|
//! | [`memory`] | the 32-bit address space and its arenas |
//! | [`mc`] | the Memory Controller: address translation, data formats |
//! | [`commands`] | command buffers: table, encoding, text, builder |
//! | [`device`] | the device: PE, CO, program loader, caches, counters |
//! | [`engine`] | which engine runs programs |
//! | [`job`] | jobs: what to run over which domain with which arrays, and the runner |
//! | [`draw`] | pictures of a vertex and a pixel program |
//! | [`mod@array`] | arrays and pictures as files |
//! | [`r700`] | files that hold R700 programs |
//! | [`record`] | recordings of submissions, and running them again |
//! | [`trace`] | what a launch did, instruction by instruction: traces, ancestry, profiles, sessions |
//! | [`render`] | findings as text and as JSON |

pub mod array;
pub mod commands;
pub mod device;
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "sizes of pictures and numbers of vertices, limited where they come in"
)]
pub mod draw;
pub mod engine;
pub mod job;
pub mod mc;
pub mod memory;
pub mod r700;
pub mod record;
pub mod render;
pub mod trace;

pub use commands::CommandBuffer;
pub use device::{Caches, CommandError, Device, DeviceOptions, SubmitReport};
pub use engine::EngineKind;
pub use memory::{ArenaId, GpuAddr};
pub use trace::{Session, Trace};
