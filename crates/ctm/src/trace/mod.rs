//! What a launch did, instruction by instruction.
//!
//! | file | what |
//! |---|---|
//! | `subject` | what has launches: jobs, recordings and draws |
//! | `drawing` | launches of draws, by pixel and by vertex |
//! | `choice` | which launch of a job is watched, and an engine that lets a watcher see it |
//! | `listing` | a program as lines, and which line an instruction stands on |
//! | `record` | a [`Trace`]: everything that lanes of a group read and wrote |
//! | `recorded` | which launches a recording has, and what one of them leaves |
//! | `output` | a trace as text, JSON lines, Perfetto trace and HTML |
//! | `why` | the ancestry of a value |
//! | `profile` | counts for every instruction and every processor of a launch |
//! | `graph` | the control flow that was executed, as DOT and SVG |
//! | `live` | live ranges, pressure, and the longest chain of one processor |
//! | `compare` | where two runs part |
//! | `targets` | where two sources of draws part |
//! | `reduce` | smaller programs and jobs that still do what they should |
//! | `session` | a [`Session`]: a group under way, forwards and backwards |
//!
//! All of it stands on [`ctm_exec::observe`]. The launch that is watched runs on the reference interpreter; launches before it run on the job's
//! engine. Nothing here writes the files that a job names.
//!
//! Begin with [`Trace::of_job`].

mod choice;
mod compare;
mod drawing;
mod graph;
mod listing;
mod live;
mod output;
mod profile;
mod record;
mod recorded;
mod reduce;
mod session;
mod subject;
mod targets;
mod why;

pub use crate::draw::NoticeFn;
pub use choice::{Choice, watch_job, watching};
pub use compare::{Difference, Incomparable, Left, Parting, Store, agree, difference, left_by, parting};
pub use ctm_exec::observe;
pub use drawing::{BehindFn, Draws, Target, Wrap};
pub use graph::{Block, Graph};
pub use listing::{Line, Listing};
pub use live::{LiveRange, Liveness};
pub use output::{flow_json, isa_name};
pub use profile::{Count, Profile};
pub use record::{Limits, Step, Trace, TraceError};
pub use recorded::{launch_outputs, launches, pictures};
pub use reduce::{Kept, Reduced, program_text, reduce, reduce_job};
pub use session::{Direction, Session, SetError, Stop};
pub use subject::{Chosen, DrawStage, Subject};
pub use targets::{Apart, DrawParting, TargetDifference, apart, draws_parting, target_difference, targets_behind};
pub use why::{Ancestor, Ancestry, Oddity, OddityKind};

/// The value of 32 bits as people read it: the shortest decimal number, NaN by its bits.
#[must_use]
pub fn number(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_nan() { format!("nan(0x{bits:08x})") } else { format!("{value}") }
}
