//! Jobs: everything needed to run programs over domains, from a file or from flags, and the runner.
//!
//! | file | subject |
//! |---|---|
//! | `keys` | every key of a job file (table) |
//! | `tree` | TOML and flags as one tree of values that know where they were written |
//! | `flags` | flags of `ctm run` into that tree |
//! | `located`, `model`, `r700/model` | a [`Job`] and its passes |
//! | `machine` | the instruction sets as job files see them (table) |
//! | `read`, `values`, `slots`, `draft`, `r700/read`, `r700/draft` | the tree into a [`Job`]; all errors at once |
//! | `folders` | where the files of a job may lie |
//! | `ready` | a job with numbers instead of names and contents instead of files |
//! | `checker` | errors of a job that is prepared |
//! | `prepare`, `r700/prepare` | a [`Job`] made ready: everything checked that can be before anything runs |
//! | `surface` | arrays into device memory and back |
//! | `run/session` | a running job: its launches in order, the outputs between them, its saves |
//! | `run/device`, `r700/run` | the arrays of its launches: of X1K programs in a device's memory, of R700 programs plain ones |
//! | `report` | its results |
//! | `shard` | parts of a domain for batch systems, and their files together again |
//!
//! `docs/jobs.md` explains the keys to users. A [`Job`] can as well be filled in by hand:
//! all of its fields are public.
//!
//! **Invariant.** Each launch of a job is a [`ctm_launch::Launch`]: jobs build no commands and call no engine. A launch of an X1K program reaches the device
//! only through memory and command buffers, as any client of CTM would.
//!
//! A job from a program and flags, checked and run, and its results:
//!
//! ```
//! use ctm::job::Reader;
//!
//! let mut reader = Reader::for_program_bytes("ramp.x1k", b".output y = o0\n.const k = c0\nmul y, r0, k\n".to_vec());
//! reader.flag("size", "3x1");
//! reader.flag("const", "k=2,2,2,2");
//! let job = reader.finish()?;
//! assert!(job.check()?.is_empty());
//! let report = job.run(|progress| assert!(progress.done <= progress.total))?;
//! assert_eq!(report.passes[0].launches, 1);
//! assert_eq!(report.named("y").unwrap().to_f32()[4..6], [2.0, 0.0]);
//! # Ok::<(), ctm::JobError>(())
//! ```
//!
//! Errors of a job have their places:
//!
//! ```
//! use ctm::job::Reader;
//!
//! let wrong = Reader::for_job("domain = 3", "job.toml", "".as_ref()).finish().unwrap_err();
//! assert!(wrong.to_string().contains("job.toml:1:10"));
//! ```

mod checker;
mod draft;
mod files;
pub(crate) mod flags;
mod folders;
mod frames;
pub mod json;
pub mod keys;
mod located;
mod machine;
mod model;
pub(crate) mod names;
mod prepare;
mod program;
pub mod r700;
mod read;
mod ready;
pub(crate) mod report;
mod run;
mod shard;
mod slider;
pub(crate) mod slots;
pub mod surface;
#[cfg(feature = "toml")]
mod toml_text;
#[cfg(not(feature = "toml"))]
#[path = "no_toml.rs"]
mod toml_text;
pub mod tree;
mod values;

pub use ctm_device::engine::EngineKind;
pub use ctm_files::error::{JobError, RunFault};
pub(crate) use ctm_files::load;
pub use ctm_files::load::{Form, Isa, Loaded, byte_code_text, not_foreign, read_file, text_of, unreadable};
pub use ctm_files::render::TextPlace;
pub use ctm_launch::Ref;
pub use flags::{FLAGS, Flag};
pub use folders::Folders;
pub use frames::Varying;
pub use located::{Data, Located};
pub use machine::StoredForm;
pub use model::{
    Conditional, FromOutput, GivenProgram, Job, LAUNCH_TIME, Output, OwnPass, OwnSaves, OwnTexture, Pass, ProgramInfo,
    R700Info, Run, Save, Texture, X1kInfo,
};
pub use program::{AnyProgram, PassProgram};
pub use read::Reader;
pub use report::{JobReport, OutputResult, PassReport, Progress};
pub use shard::{MergeError, Shard, merge};
pub use slider::Slider;
pub use slots::formats;
