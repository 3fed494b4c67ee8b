//! Jobs: everything needed to run programs over domains, from a file or from flags, and the runner.
//!
//! | file | subject |
//! |---|---|
//! | `keys` | every key of a job file (table) |
//! | `tree` | TOML and flags as one tree of values that know where they were written |
//! | `flags` | flags of `ctm run` into that tree |
//! | `read`, `values`, `draft` | the tree into a [`Job`]; all errors at once |
//! | `folders` | where the files of a job may lie |
//! | `prepare` | names resolved, arrays read, everything checked that can be before the device is touched |
//! | `surface` | arrays into device memory and back |
//! | `run` | a job into device memory and command buffers |
//! | `report` | its results |
//! | `shard` | parts of a domain for batch systems, and their files together again |
//! | `r700` | the further parts of passes of R700 programs, and their runner |
//!
//! `docs/jobs.md` explains the keys to users. A [`Job`] can as well be filled in by hand:
//! all of its fields are public.
//!
//! **Invariant.** A job of X1K programs reaches the device only through memory and command buffers, as any client of CTM would.
//!
//! A job from a text and flags, checked, run, and its results:
//!
//! ```
//! use ctm::job::{AnyProgram, FLAGS, Flag, Form, Isa, Job, JobError, JobReport, Loaded, OutputResult, Pass, PassProgram, PassReport, Progress};
//! use ctm::job::{LAUNCH_TIME, Reader, Run, formats, json};
//! use ctm::render::Report;
//!
//! let mut reader = Reader::for_program_bytes("ramp.x1k", b".output y = o0\n.const k = c0\nmul y, r0, k\n".to_vec());
//! reader.flag("size", "3x1");
//! reader.flag("const", "k=2,2,2,2");
//! let job: Job = reader.finish()?;
//! let (pass, run): (&Pass, &Run) = (&job.passes[0], &job.run);
//! assert!(pass.repeat == 1 && !run.check && run.budget.time == Some(LAUNCH_TIME));
//! let programs: Vec<PassProgram> = job.programs()?;
//! assert!(matches!(programs[0].program, AnyProgram::X1k(_)));
//! let reports: Vec<Report> = job.check()?;
//! assert!(reports.is_empty());
//!
//! let mut last: Option<Progress> = None;
//! let report: JobReport = job.run(|progress| last = Some(progress))?;
//! let (pass, output): (&PassReport, &OutputResult) = (&report.passes[0], &report.outputs[0]);
//! assert_eq!((pass.launches, output.name.as_str()), (1, "y"));
//! assert!(json::counters(&pass.counters).is_object() && output.rect.width * output.rect.height <= json::FEW as u32);
//!
//! // Legal keys, and errors.
//! let size: Option<&Flag> = FLAGS.iter().find(|flag| flag.name == "size");
//! assert!(size.is_some() && formats().iter().any(|(name, _)| *name == "float32_4"));
//! let wrong: Result<Job, JobError> = Reader::for_job("domain = 3", "job.toml", "".as_ref()).finish();
//! assert!(matches!(wrong, Err(JobError::Wrong(_))));
//!
//! // A program file without a job.
//! let loaded = Loaded::from_bytes(b"mov o0, r0\n", "a.x1k".as_ref(), Some(Isa::X1k), None)?;
//! assert!(loaded.form == Form::Text && loaded.reports.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Bytes of files of unknown kind:
//!
//! ```
//! use ctm::job::{MergeError, Shard, byte_code_text, merge, not_foreign, read_file, text_of};
//! use ctm::files::{FileKind, read};
//! use ctm::job::unreadable;
//! use std::path::Path;
//!
//! assert_eq!(text_of(b"mov o0, r0", "a.x1k")?, "mov o0, r0");
//! assert!(text_of(&[0xff], "a.x1k").is_err() && read_file(Path::new("nowhere"), FileKind::Program, None).is_err());
//! let missing = read(Path::new("nowhere"), FileKind::Job).unwrap_err();
//! assert_eq!(unreadable(&missing, None).reports()[0].diagnostic.rule, "cannot-read");
//! assert!(not_foreign(b"#version 330\n", Path::new("a.glsl"), None).is_err());
//! assert!(byte_code_text(b"mov o0, r0", "a.x1k")?.is_none());
//! let shard = Shard { part: 1, parts: 4 };
//! assert_eq!(shard.part + 3, shard.parts);
//! assert!(matches!(merge(Path::new("nowhere.npy")), Err(MergeError::NoParts { .. } | MergeError::Io { .. })));
//! # Ok::<(), ctm::JobError>(())
//! ```

mod draft;
mod files;
mod flags;
mod folders;
mod frames;
pub mod json;
pub mod keys;
pub(crate) mod names;
mod prepare;
pub mod r700;
mod read;
pub(crate) mod report;
mod run;
mod shard;
pub mod surface;
pub mod tree;
mod values;

pub use ctm_device::engine::EngineKind;
pub use ctm_files::error::{JobError, RunFault};
pub(crate) use ctm_files::error::{finding_report, not_cancelled, run_fault};
pub(crate) use ctm_files::load;
pub use ctm_files::load::{Form, Isa, Loaded, byte_code_text, not_foreign, read_file, text_of, unreadable};
pub use ctm_files::render::Place;
pub(crate) use ctm_files::render::report_at;
pub use ctm_launch::Ref;
pub use flags::{FLAGS, Flag};
pub use folders::Folders;
pub use frames::Varying;
pub use read::{Given, Reader};
pub use report::{JobReport, OutputResult, PassReport, Progress};
pub use run::{AnyProgram, PassProgram};
pub use shard::{MergeError, Shard, merge};
pub use values::formats;

use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::mc::{Format, Tiling};
use ctm_exec::x1k::{Filter, Plane, Wrap};
use ctm_exec::{Budget, Domain, GroupSize};
use ctm_files::array::Array;
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Everything needed to run programs: a list of passes, and settings.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program that it was made for, if it was made for one.
    pub given: Given,
    /// The instruction set, where a program does not say it.
    pub isa: Option<Isa>,
    /// The launches, in order; at least one.
    pub passes: Vec<Pass>,
    /// How often the whole list runs.
    pub repeat: u32,
    /// Values that are saved after all passes.
    pub saves: Vec<Save>,
    /// Where the conditional buffer goes at the end.
    pub conditional_save: Option<Located<PathBuf>>,
    /// R700: memories that are saved when all passes are done.
    pub memory_saves: Vec<r700::MemoryBlock>,
    /// How to run.
    pub run: Run,
}

impl Job {
    /// Whether its programs are for the R700.
    #[must_use]
    pub fn is_r700(&self) -> bool {
        self.passes.iter().any(|p| p.r700.is_some())
    }

    /// Whether the domains of all passes were given as one row of columns.
    pub(crate) fn is_one_dimensional(&self) -> bool {
        self.passes.iter().all(|pass| pass.one_dimensional)
    }

    /// Gives every pass a domain of `width` x `height`, each 1 to 4096, and stretches the initial register values over it: the values at the
    /// edges of the old domain, half a step outside of its outermost processors, become those at the edges of the new one.
    ///
    /// A register that grows by exactly 1 from column to column or from row to row counts them, and goes on to; so do registers that hold integers.
    pub fn stretch(&mut self, [width, height]: [u32; 2]) {
        for pass in &mut self.passes {
            let old = pass.domain;
            pass.domain = Domain { i0: 0, j0: 0, i1: width.saturating_sub(1), j1: height.saturating_sub(1) };
            let columns = f64::from(old.i1 - old.i0 + 1) / f64::from(width.max(1));
            let rows = f64::from(old.j1 - old.j0 + 1) / f64::from(height.max(1));
            for plane in pass.registers.iter_mut().flatten().filter(|p| !p.bits) {
                for (c, origin) in plane.origin.iter_mut().enumerate() {
                    for (step, scale, first) in [(&mut plane.di[c], columns, old.i0), (&mut plane.dj[c], rows, old.j0)]
                    {
                        if *step != 1.0 {
                            *origin += *step * (f64::from(first) - 0.5);
                            *step *= scale;
                            *origin += *step * 0.5;
                        }
                    }
                }
            }
        }
    }
}

/// A value and where it was written, for messages.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written; `None` for jobs that were made by hand.
    pub place: Option<Place>,
}

impl<T> From<T> for Located<T> {
    fn from(value: T) -> Self {
        Self { value, place: None }
    }
}

impl<T> Located<T> {
    /// An error about this value.
    pub(crate) fn error(&self, rule: &'static str, message: impl Into<String>) -> Report {
        report_at(self.place.as_ref(), Diagnostic::error(rule, message))
    }
}

/// One launch, or several of the same, complete: nothing is inherited any more.
#[derive(Clone, Debug)]
pub struct Pass {
    /// By which textures of later passes name it.
    pub name: Option<Located<String>>,
    /// How often it runs before the next pass.
    pub repeat: u32,
    /// The program file.
    pub program: Located<PathBuf>,
    /// Declarations that bare words lack.
    pub program_info: Option<Located<ProgramInfo>>,
    /// The domain, at most 4096 x 4096.
    pub domain: Domain,
    /// The domain was given as one row of columns. Where those of all passes were, `.npy` files of outputs have no side for rows.
    pub one_dimensional: bool,
    /// Initial values of temporaries; `None`: those of the program's own preloads.
    pub registers: Option<Vec<Plane>>,
    /// Floating-point constants: bits of r, g, b, a.
    pub float: BTreeMap<Ref, Located<[u32; 4]>>,
    /// Floating-point constants that differ between the launches of the pass.
    pub varying: BTreeMap<Ref, Varying>,
    /// Integer constants: count, initial aL, step and an unused byte.
    pub int: BTreeMap<Ref, Located<[u8; 4]>>,
    /// Boolean constants.
    pub bool: BTreeMap<Ref, Located<bool>>,
    /// Inputs.
    pub textures: Vec<Texture>,
    /// Outputs.
    pub outputs: Vec<Output>,
    /// The conditional operation unit.
    pub conditional: Option<Conditional>,
    /// The part for R700 programs; `None` for X1K programs.
    pub r700: Option<r700::R700Pass>,
}

/// Declarations that bare words lack; `None`: as the words themselves require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramInfo {
    /// First instruction.
    pub first: Option<u16>,
    /// Last instruction, inclusive.
    pub last: Option<u16>,
    /// `US_FC_CTRL` bit 31.
    pub full_flow_control: Option<bool>,
    /// `US_CONFIG` bit 1.
    pub zero_times_anything: Option<bool>,
    /// `US_CONFIG` bit 0.
    pub uncached: Option<bool>,
    /// R700: general purpose registers.
    pub gprs: Option<u8>,
    /// R700: stack entries.
    pub stack: Option<u8>,
}

/// One input.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Which input.
    pub slot: Located<Ref>,
    /// Its elements.
    pub data: Option<Located<Data>>,
    /// The output that it reads instead, once one has been written.
    pub output: Option<Located<FromOutput>>,
    /// Nearest or linear.
    pub filter: Filter,
    /// For columns and rows.
    pub wrap: [Wrap; 2],
    /// Whether the job names the wrap, so that reading outside is intended.
    pub has_wrap: bool,
    /// The value that [`Wrap::Border`] reads, as bits of r, g, b, a.
    pub border: [u32; 4],
    /// Its layout in device memory; `None`: the one that suits its elements.
    pub format: Option<Located<Format>>,
    /// Its order in device memory; `None`: linear, or that of the output it reads.
    pub tiling: Option<Tiling>,
    /// Columns and rows of a raw file.
    pub size: Option<[u32; 2]>,
    /// The part for R700 textures.
    pub lookup: r700::Lookup,
}

/// The elements of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// In a file.
    File(PathBuf),
    /// Here.
    Array(Arc<Array>),
}

impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Array(_) => f.write_str("the array"),
        }
    }
}

/// The output of an earlier pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromOutput {
    /// The output, 0..=3, or its name in the program that reads it.
    pub output: Ref,
    /// The pass of this name; `None`: whichever wrote it last.
    pub pass: Option<String>,
}

/// One output of a pass.
#[derive(Clone, Debug)]
pub struct Output {
    /// Which output.
    pub slot: Located<Ref>,
    /// Contents before the run, as bits of r, g, b, a.
    pub clear: [u32; 4],
    /// Start from `clear` even where an earlier pass left a fitting output.
    pub fresh: bool,
    /// Its layout in device memory; `None`: `FLOAT32_4`, in a pass with uncached writes `FLOAT32_1`, which those need.
    pub format: Option<Format>,
    /// R700: how its elements are saved, in place of `format`.
    pub elements: r700::Elements,
    /// Its order in device memory.
    pub tiling: Tiling,
    /// Columns and rows in memory; `None`: as far as the domain reaches.
    pub size: Option<[u32; 2]>,
    /// Which channels are written (bit 0 = r).
    pub mask: u8,
    /// Its file when this pass is done, or (numbered names) after each of its launches.
    pub saves: Vec<Save>,
}

impl Output {
    /// An output of four single-precision channels, full of zeros at the start, as large as the domain, not saved.
    #[must_use]
    pub fn new(slot: Ref) -> Self {
        Self {
            slot: slot.into(),
            clear: [0; 4],
            fresh: false,
            format: None,
            elements: r700::Elements::default(),
            tiling: Tiling::Linear,
            size: None,
            mask: 15,
            saves: Vec::new(),
        }
    }
}

/// A file to be written.
#[derive(Clone, Debug)]
pub struct Save {
    /// The output.
    pub slot: Located<Ref>,
    /// The file; its extension says the format. `%d` or `%03d` in its name is the number of the launch or repetition: there is one file for each.
    pub path: Located<PathBuf>,
    /// Last row first.
    pub flip_y: bool,
}

/// The conditional operation unit (CTM §2.1.3).
#[derive(Clone, Debug)]
pub struct Conditional {
    /// Whether the test comes before a processor runs (PE) or when it has ended (DPP).
    pub location: CondLoc,
    /// The test.
    pub test: CondTest,
    /// The reference value of the PE's comparison, as bits.
    pub value: u32,
    /// The buffer's initial contents.
    pub buffer: Option<Located<Data>>,
    /// Initial contents without a file, as bits.
    pub clear: u32,
    /// Whether the buffer is written.
    pub write: bool,
    /// Where the buffer goes when this pass is done.
    pub save: Option<Located<PathBuf>>,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The engine.
    pub engine: Located<EngineKind>,
    /// Worker threads; 0: one per core.
    pub threads: usize,
    /// Lanes that decide a jump together.
    pub group: GroupSize,
    /// Limits of each launch: by default, 100 million instructions for each group and half a minute.
    pub budget: Budget,
    /// Checks while running.
    pub check: bool,
    /// Count the expensive counters, too; without it, the report has [`Counters::cheap`](ctm_exec::Counters::cheap).
    pub counters: bool,
}

/// The wall time of each launch of a job that does not say.
pub const LAUNCH_TIME: Duration = Duration::from_secs(30);

impl Default for Run {
    fn default() -> Self {
        Self::of(Isa::X1k)
    }
}

impl Run {
    /// How jobs run that say nothing about it.
    #[must_use]
    pub fn of(isa: Isa) -> Self {
        let group = match isa {
            Isa::X1k => GroupSize::X1K,
            Isa::R700 => GroupSize::R700,
        };
        Self {
            engine: EngineKind::default().into(),
            threads: 0,
            group,
            budget: Budget { time: Some(LAUNCH_TIME), ..Budget::default() },
            check: false,
            counters: true,
        }
    }
}
