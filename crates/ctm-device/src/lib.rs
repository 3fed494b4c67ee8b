//! The device of the CTM Guide: an address space of arenas, a memory controller, a processing element that reads command buffers, the
//! conditional output unit, caches and counters; and recordings of the submissions that a device receives.
//!
//! The device knows engines only through [`ctm_exec::Engine`], and knows no files but recordings.
//!
//! | module | subject |
//! |---|---|
//! | [`memory`] | the 32-bit address space and its arenas |
//! | [`mc`] | the memory controller: address translation, data formats |
//! | [`commands`] | command buffers: table, encoding, text, builder |
//! | [`engine`] | engines by name |
//! | [`device`] | the device: PE, CO, program loader, caches, counters |
//! | [`record`] | recordings of submissions, and their replay |
//!
//! A module uses only those above it in the table.
//!
//! **Invariants.** A program reaches memory only through the memory controller, which checks each address against the arenas. A command that cannot
//! be decoded stops its buffer with an error that names offset and word; the device stays usable.

pub mod commands;
pub mod device;
pub mod engine;
pub mod mc;
pub mod memory;
mod open;
pub mod record;

pub use commands::CommandBuffer;
pub use device::{Caches, CommandError, Device, DeviceOptions, SubmitReport};
pub use engine::{EngineError, EngineKind};
pub use memory::{ArenaId, GpuAddr};
