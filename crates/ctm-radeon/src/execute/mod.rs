//! Execution of streams: a device that owns registers, takes streams and works on memory.
//!
//! | file | subject |
//! |---|---|
//! | `registers` | the values of registers |
//! | `memory` | the memory that streams work on |
//! | `state` | from registers to the state of a draw |
//! | `resources` | from registers to the resources of programs, and to targets |
//! | `textures` | textures and samplers, of the words of resources |
//! | `untile` | elements of tiles as rows |
//! | `converted` | texels, converted |
//! | `programs` | programs in memory: where they end, their resources |
//! | `surfaces` | targets that are cached between draws; converted textures |
//! | `outline` | draws as values: calls, lines of a list, pictures of targets |
//! | `numbering` | the use of the number of the vertex in vertex programs |
//! | `joined` | draws that differ in nothing but their vertices, as one draw |
//! | `draws` | a draw |
//! | `joins` | when draws are joined, and when they run |
//! | `notes` | notes of checked draws, each once |
//! | `targets` | the targets that registers name |
//! | `queue`, `queued` | small draws that wait for others with the same targets |
//! | `counters` | counters and the predicate of a device |
//! | `device` | the device: registers, engine, options |
//! | `commands` | packets other than draws |
//! | `submit` | a stream, packet by packet |
//! | `r500/` | the packets and draws of an R500 |
//!
//! **Invariants.** A stream reaches memory only through [`GpuMemory`], which knows its buffers. Every stream ends: its packets are finite, and draws have a
//! budget. An error of a packet is reported ([`Problem`]), and the next packet runs.

mod commands;
mod converted;
mod counters;
mod device;
mod draws;
mod funnel;
mod joined;
mod joins;
mod memory;
mod notes;
mod numbering;
mod outline;
mod programs;
mod queue;
mod queued;
mod r500;
mod registers;
mod resources;
mod set;
mod state;
mod submit;
mod surfaces;
mod targets;
mod textures;
mod untile;

pub use crate::registers::resource::{VALID_BUFFER, VALID_TEXTURE, kind_of};
pub use ctm_draw::FastClear;
pub use device::{Deadline, Device, DrawOptions, Problem};
pub use memory::{BufferId, Buffers, GpuMemory};
pub use notes::{Notes, told_note};
pub use outline::{DrawCall, IndexSource, Outline, TargetPicture};
pub use programs::{LoadedProgram, Lookup, NoEnd, length_slots};
pub(crate) use programs::{ProgramPlace, ProgramRegisters};
pub use r500::LoadedPrograms;
pub use registers::{Registers, is_relocated};
pub(crate) use registers::{container, follows_base};
pub(crate) use resources::extent;
pub use resources::{BufferWords, TargetWords, colour_target, depth_format, depth_target};
pub use set::Set;
pub(crate) use state::raster_scissor;
pub use state::{
    Geometry, Lists, SpecialOp, Stages, draw_state, geometry, samples, special_op, stream_output, topology, write_masks,
};
pub use submit::{Next, Stepped, Submitted};
pub use textures::{TextureWords, sampler};
