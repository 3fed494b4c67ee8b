//! Traces of launches, instruction by instruction.
//!
//! | file | subject |
//! |---|---|
//! | `subject` | sources of launches: jobs, recordings and draws |
//! | `drawing` | launches of draws, by pixel and by vertex |
//! | `choice` | which launch of a job is watched, and an engine that lets a watcher see it |
//! | `listing` | a program as lines, and the line of each instruction |
//! | `record` | a [`Trace`]: everything that lanes of a group read and wrote |
//! | `recorded` | the launches of a recording, and the outputs of one |
//! | `output` | a trace as text, JSON lines, Perfetto trace and HTML |
//! | `why` | the ancestry of a value |
//! | `profile` | counts for every instruction and every processor of a launch |
//! | `graph` | the control flow that was executed, as DOT and SVG |
//! | `live` | live ranges, pressure, and the longest chain of one processor |
//! | `compare` | where two runs part |
//! | `targets` | where two sources of draws part |
//! | `reduce` | smaller programs and jobs that still pass a test |
//! | `session` | a [`Session`]: a running group, forwards and backwards |
//!
//! All of it uses [`ctm_exec::observe`]. The launch that is watched runs on the reference interpreter; launches before it run on the job's
//! engine. Nothing here writes the files that a job names.
//!
//! Begin with [`Trace::of_job`].
//!
//! A trace of one processor's group, and the ancestry of a value that the processor wrote:
//!
//! ```
//! use ctm::Position;
//! use ctm::job::Reader;
//! use ctm::trace::observe::{WatchedIsa, Place};
//! use ctm::trace::{Ancestry, Choice, Limits, Trace, number};
//!
//! let text = b".output y = o0\nadd r1, r0, r0\nrcp r2, r1.g\nmov y, r1\n";
//! let mut reader = Reader::for_program_bytes("double.x1k", text.to_vec());
//! reader.flag("size", "4x1");
//! let trace = Trace::of_job(&reader.finish()?, Choice::default(), Position { i: 2, j: 0 }, &Limits::default())?;
//!
//! let place = Place::parse(WatchedIsa::X1k, "o0.r")?[0];
//! let ancestry = Ancestry::of(&trace, trace.lane, place, None).ok_or("nothing wrote o0.r")?;
//! assert_eq!(number(ancestry.nodes[0].bits), "4");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The first instruction at which two jobs part:
//!
//! ```
//! use ctm::job::{Job, Reader};
//! use ctm::trace::{Choice, Limits, Trace, difference, parting};
//! use ctm::{JobError, Position};
//!
//! let job = |text: &str| -> Result<Job, JobError> {
//!     let mut reader = Reader::for_program_bytes("p.x1k", text.into());
//!     reader.flag("size", "2x1");
//!     reader.finish()
//! };
//! let (a, b) = (job(".output y = o0\nmov y, r0\n")?, job(".output y = o0\nadd y, r0, r0\n")?);
//! let found = difference(&a.run(|_| {})?, &b.run(|_| {})?, 0.0)?.ok_or("the outputs are equal")?;
//! assert_eq!((found.at, found.a, found.b), (Position { i: 1, j: 0 }, 1.0, 2.0));
//!
//! let trace = |job| Trace::of_job(job, Choice::default(), found.at, &Limits::default());
//! let parts = parting(&trace(&a)?, &trace(&b)?, 0.0).ok_or("the traces are equal")?;
//! assert!(parts.a.is_some() && parts.b.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A smaller program that still passes a test:
//!
//! ```
//! let small = ctm::trace::reduce("mov r1, r0\nmov o0, r0\n", &ctm::Control::none(), &mut |text| text.contains("o0"));
//! assert_eq!(small.trim(), "mov o0, 0");
//! ```
//!
//! A session steps through a group, forwards and backwards:
//!
//! ```
//! use ctm::job::Reader;
//! use ctm::trace::observe::{WatchedIsa, Place, Unit, Watcher, Wish};
//! use ctm::trace::{Direction, Session, Stop, watch_job};
//! use ctm::{Position, ctm_exec::Fault};
//! use std::ops::ControlFlow;
//! use std::sync::{Arc, Mutex};
//!
//! struct Look(Arc<Mutex<Option<f32>>>);
//!
//! impl Watcher for Look {
//!     fn wish(&mut self, _: &[Position]) -> Wish {
//!         Wish::Watch
//!     }
//!     fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
//!         let mut session = Session::new(unit);
//!         let place = Place::parse(WatchedIsa::X1k, "r1.r").expect("a register")[0];
//!         session.set(0, place, 7f32.to_bits()).expect("registers can be set");
//!         assert_eq!(session.run(Direction::Forward, false, &mut |_| false), Stop::End);
//!         assert_eq!(session.back(), Stop::Reached);
//!         *self.0.lock().unwrap() = session.value(0, place).map(f32::from_bits);
//!         Ok(ControlFlow::Continue(()))
//!     }
//! }
//!
//! let mut reader = Reader::for_program_bytes("p.x1k", b".output y = o0\nadd r1, r1, r1\nmov y, r1\n".to_vec());
//! reader.flag("size", "1x1");
//! let seen = Arc::new(Mutex::new(None));
//! watch_job(&reader.finish()?, 0, Look(Arc::clone(&seen)))?;
//! assert_eq!(*seen.lock().unwrap(), Some(14.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod compare;
mod glsl;
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
mod vertices;
mod why;

pub use choice::{Choice, watch_job, watching};
pub use compare::{Difference, Incomparable, Left, Parting, Store, agree, difference, left_by, parting};
pub use ctm_exec::observe;
pub use ctm_jobs::draw::NoticeFn;
pub use glsl::GlslLines;
pub use graph::{BasicBlock, ExecutedGraph};
pub use listing::{Line, Listing};
pub use live::{LiveRange, Liveness};
pub use output::{PALETTE, flow_json, isa_name};
pub use profile::{Count, Profile, ProfileProgress};
pub use record::{Limits, Step, Trace, TraceError};
pub use recorded::{LaunchOutputs, launch_outputs, launches};
pub use reduce::{Kept, Reduced, program_text, reduce, reduce_job};
pub use session::{Direction, Session, SetError, Stop};
pub use subject::drawing::{BehindFn, Draws, InspectedDraw, TargetContents, Wrap};
pub use subject::{Chosen, DrawStage, Subject};
pub use targets::{Apart, DrawParting, TargetDifference, apart, draws_parting, target_difference, targets_behind};
pub use vertices::{VertexTable, VertexValues, vertex_table};
pub use why::{Ancestor, Ancestry, Oddity, OddityKind};

/// The value of 32 bits as people read it: the shortest decimal number, NaN by its bits.
#[must_use]
pub fn number(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_nan() { format!("nan(0x{bits:08x})") } else { ctm_isa::number::Short(value).to_string() }
}
