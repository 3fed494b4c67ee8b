//! One run of a program on arrays in memory: text in, arrays out, no files.
//!
//! | file | what |
//! |---|---|
//! | `view` | [`View`]: an array that a program reads, where it lies |
//! | `x1k` | runs of X1K programs, on the caller's arrays without copies |
//! | `r700` | runs of R700 programs, as jobs of one pass |
//! | `fit` | whether inputs are as large as the domain |
//! | `error` | what can be wrong |
//!
//! Several passes, files and the conditional unit are what [`crate::job`] is for; a [`crate::Device`] is for clients of the CTM interface. All of
//! them give the same bits.
//!
//! ```
//! use ctm::{Program, Run};
//!
//! let program = Program::assemble(
//!     ".input x = s0
//!      .output y = o0
//!      .const k = c0
//!      tex r1, x, r0.rg          ; r0 holds the processor's column and row
//!      mad y, r1, k, k",
//! )?;
//! let x = [1.0, 2.0, 3.0, 4.0];
//! let done = Run::of(&program).elements(4).input("x", &x).constant("k", [10.0; 4]).output("y", 1).run()?;
//! assert_eq!(done.values("y"), [20.0, 30.0, 40.0, 50.0]);
//! # Ok::<(), ctm::Error>(())
//! ```
//!
//! Numbers of any kind go in, and what is wrong is told:
//!
//! ```
//! use ctm::run::{ArgumentError, COLUMNS, Done, Error, Numbers, Program, Run, View};
//! use ctm::{Budget, Control, Counters, Domain, EngineKind, GroupSize, Position, Progress};
//!
//! let program = Program::assemble(".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nmul y, r1, 2.0")?;
//! let rows = View::rows(Numbers::F32(&[1.0, 2.0, 3.0, 4.0]), [2, 2, 1]);
//! let control = Control::new();
//! let done: Done = Run::of(&program)
//!     .domain(Domain { i0: 0, j0: 0, i1: 1, j1: 1 })
//!     .input("x", rows)
//!     .output("y", 1)
//!     .engine(EngineKind::Interp)
//!     .group(GroupSize::X1K)
//!     .budget(Budget::default())
//!     .counted(true)
//!     .under(&control)
//!     .run()?;
//! assert_eq!(done.values("y"), [2.0, 4.0, 6.0, 8.0]);
//! let counters: &Counters = &done.counters;
//! assert_eq!(counters.processors, 4);
//! let progress: Progress = control.progress();
//! assert_eq!(progress.share(), 1.0);
//! assert_eq!(Position { i: 1, j: 0 }.i, 1);
//!
//! let wrong = Run::of(&program).size(COLUMNS + 1, 1).output("y", 1).run();
//! assert!(matches!(wrong, Err(Error::Argument(ArgumentError::Domain { .. }))), "{wrong:?}");
//! # Ok::<(), Error>(())
//! ```

mod error;
mod fit;
mod r700;
mod view;
mod x1k;

pub use ctm_files::Program;
pub use error::{ArgumentError, Error};
pub(crate) use fit::{ANY_SIZE, size_misfit};
pub use fit::{Fit, misfit};
pub use view::{Numbers, View};

use crate::array::{Array, Values};
use crate::engine::EngineKind;
use crate::job::r700::Elements;
use crate::job::{Isa, Ref};
use crate::render::Report;
use ctm_exec::r700::{LoopConstant, Space};
use ctm_exec::x1k::Sampler;
use ctm_exec::{Budget, Control, Counters, Domain, Engine, GroupSize};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

/// Columns of the rows into which long arrays of one dimension are folded, and the most that a domain has.
pub const COLUMNS: u32 = 4096;

/// The processors of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// So many in a line. More than [`COLUMNS`] lie in rows of that many.
    Line(usize),
    /// A rectangle.
    Rectangle(Domain),
}

impl Extent {
    /// The domain; of a line whole rows.
    fn domain(self) -> Result<Domain, ArgumentError> {
        let most = COLUMNS as usize;
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match self {
            Self::Line(n) if n == 0 || n > most * most => Err(ArgumentError::Domain { columns: n as u64, rows: 1 }),
            Self::Line(n) => Ok(Domain { i0: 0, j0: 0, i1: size(n.min(most)) - 1, j1: size(n.div_ceil(most)) - 1 }),
            Self::Rectangle(d) if d.processors() == 0 || d.i1 >= COLUMNS || d.j1 >= COLUMNS => {
                Err(ArgumentError::Domain { columns: u64::from(d.i1) + 1, rows: u64::from(d.j1) + 1 })
            }
            Self::Rectangle(domain) => Ok(domain),
        }
    }
}

/// Where an output goes.
#[derive(Debug)]
enum Place<'a> {
    /// A new array.
    New,
    /// The caller's numbers: rows and columns, if they are not those of the domain.
    Into(&'a mut [f32], Option<[usize; 2]>),
}

/// An output that the caller says something about.
#[derive(Debug)]
struct Wanted<'a> {
    which: Ref,
    elements: Elements,
    place: Place<'a>,
}

/// What to run, over which domain, with which arrays. Begin with [`Run::of`]; [`Run::run`] runs it.
///
/// Inputs, outputs and constants go by the names that the program gives them, or by their registers: `s0`, `o0`, `c0` of the X1K; `t0` (textures), `b0`
/// (buffers), `pix0`, `C0` of the R700. Names that the program does not have are errors of [`Run::run`].
pub struct Run<'a> {
    program: &'a Program,
    extent: Option<Extent>,
    fit: Fit,
    inputs: Vec<(Ref, View<'a>, Option<Sampler>)>,
    floats: Vec<(Ref, [u32; 4])>,
    ints: Vec<(Ref, LoopConstant)>,
    bools: Vec<(Ref, bool)>,
    buffers: Vec<(u8, Vec<[u32; 4]>)>,
    memories: Vec<(Space, Vec<u32>)>,
    outputs: Vec<Wanted<'a>>,
    engine: Option<&'a dyn Engine>,
    kind: EngineKind,
    group: Option<GroupSize>,
    threads: usize,
    budget: Budget,
    checks: bool,
    counters: bool,
    control: Control,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let engine = self.engine.map_or(self.kind.name(), Engine::name);
        f.debug_struct("Run")
            .field("program", &self.program.origin().1)
            .field("engine", &engine)
            .finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// A run of a program that has nothing yet.
    #[must_use]
    pub fn of(program: &'a Program) -> Self {
        Self {
            program,
            extent: None,
            fit: Fit::Exact,
            inputs: Vec::new(),
            floats: Vec::new(),
            ints: Vec::new(),
            bools: Vec::new(),
            buffers: Vec::new(),
            memories: Vec::new(),
            outputs: Vec::new(),
            engine: None,
            kind: EngineKind::default(),
            group: None,
            threads: 0,
            budget: Budget::default(),
            checks: false,
            counters: false,
            control: Control::none(),
        }
    }

    /// Over so many columns and rows, 1 to 4096 each.
    #[must_use]
    pub fn size(self, columns: u32, rows: u32) -> Self {
        let last = |n: u32| n.wrapping_sub(1);
        let (i1, j1) = (last(columns), last(rows));
        let empty = columns == 0 || rows == 0;
        let domain = if empty { Domain { i0: 1, j0: 1, i1: 0, j1: 0 } } else { Domain { i0: 0, j0: 0, i1, j1 } };
        Self { fit: Fit::Exact, ..self.domain(domain) }
    }

    /// Over a rectangle, whose last column and row are at most 4095: a part of arrays that may be larger. Outputs begin at (0, 0) all the same.
    #[must_use]
    pub fn domain(mut self, domain: Domain) -> Self {
        self.extent = Some(Extent::Rectangle(domain));
        self.fit = Fit::Reaches;
        self
    }

    /// Over a line of 1 to 4096 x 4096 elements. Element `n` is processor (n mod 4096, n div 4096), in arrays of one dimension, too. Beyond 4096 elements
    /// whole rows run: processors behind the last element read zeros, and what they write is dropped.
    #[must_use]
    pub fn elements(mut self, count: usize) -> Self {
        self.extent = Some(Extent::Line(count));
        self.fit = Fit::Exact;
        self
    }

    /// An array that the program reads, to the nearest element. Where it is read at each processor's own place only, it is as large as the domain
    /// ([`misfit`]); a larger or smaller one is given by [`Self::sampled`]. Elsewhere it is its edge where it ends.
    #[must_use]
    pub fn input(mut self, name: &str, view: impl Into<View<'a>>) -> Self {
        self.inputs.push((reference(name), view.into(), None));
        self
    }

    /// An array of any size that the program reads by a sampler, which says what lies outside.
    #[must_use]
    pub fn sampled(mut self, name: &str, view: impl Into<View<'a>>, sampler: Sampler) -> Self {
        self.inputs.push((reference(name), view.into(), Some(sampler)));
        self
    }

    /// A floating-point constant: r, g, b, a.
    #[must_use]
    pub fn constant(self, name: &str, value: [f32; 4]) -> Self {
        self.constant_bits(name, value.map(f32::to_bits))
    }

    /// A floating-point constant by its bits.
    #[must_use]
    pub fn constant_bits(mut self, name: &str, bits: [u32; 4]) -> Self {
        self.floats.push((reference(name), bits));
        self
    }

    /// An integer constant of the X1K (CTM §3.5.3), or a loop constant of the R700: count, first value of aL, step.
    ///
    /// Of the X1K all are 0 to 255; of the R700 the count is 0 to 4095.
    #[must_use]
    pub fn integer(mut self, name: &str, value: LoopConstant) -> Self {
        self.ints.push((reference(name), value));
        self
    }

    /// A boolean constant.
    #[must_use]
    pub fn boolean(mut self, name: &str, value: bool) -> Self {
        self.bools.push((reference(name), value));
        self
    }

    /// R700: constant buffer `bank`, 0 to 15, as bits of x, y, z, w.
    #[must_use]
    pub fn constant_buffer(mut self, bank: u8, rows: Vec<[u32; 4]>) -> Self {
        self.buffers.push((bank, rows));
        self
    }

    /// R700: a memory of MEM instructions and what it holds at the beginning; [`Done::memories`] has what it holds at the end.
    #[must_use]
    pub fn memory(mut self, space: Space, dwords: Vec<u32>) -> Self {
        self.memories.push((space, dwords));
        self
    }

    /// An output with so many channels: 1, 2 or 4. Outputs of which nothing is said have 4.
    #[must_use]
    pub fn output(mut self, name: &str, channels: usize) -> Self {
        let elements = Elements { channels, ..Elements::default() };
        self.outputs.push(Wanted { which: reference(name), elements, place: Place::New });
        self
    }

    /// An output into the caller's numbers, as many as the domain has processors, times the channels. What the program does not write stays.
    #[must_use]
    pub fn output_into(mut self, name: &str, numbers: &'a mut [f32], channels: usize) -> Self {
        let elements = Elements { channels, ..Elements::default() };
        self.outputs.push(Wanted { which: reference(name), elements, place: Place::Into(numbers, None) });
        self
    }

    /// The same, of rows and columns of its own: at least as far as the domain reaches, or, in programs with uncached writes, any.
    #[must_use]
    pub fn output_into_rows(
        mut self,
        name: &str,
        numbers: &'a mut [f32],
        [rows, columns, channels]: [usize; 3],
    ) -> Self {
        let elements = Elements { channels, ..Elements::default() };
        let place = Place::Into(numbers, Some([rows, columns]));
        self.outputs.push(Wanted { which: reference(name), elements, place });
        self
    }

    /// The engine by its kind; the fast one, if nothing is said.
    #[must_use]
    pub fn engine(mut self, kind: EngineKind) -> Self {
        self.kind = kind;
        self
    }

    /// An engine of the caller's.
    #[must_use]
    pub fn on(mut self, engine: &'a dyn Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// How many processors decide a jump together: 16 of the X1K, 64 of the R700, if nothing is said.
    #[must_use]
    pub fn group(mut self, group: GroupSize) -> Self {
        self.group = Some(group);
        self
    }

    /// Worker threads; 0, the default: one per core. Never changes results.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// What it may use up: 100 million instructions for each group, if nothing is said.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Looks for mistakes while running: [`Done::findings`].
    #[must_use]
    pub fn checked(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    /// Counts what takes time to count.
    #[must_use]
    pub fn counted(mut self, counters: bool) -> Self {
        self.counters = counters;
        self
    }

    /// Under a control, by which another thread can end it and see how far it is.
    #[must_use]
    pub fn under(mut self, control: &Control) -> Self {
        self.control = control.clone();
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// What does not fit together, before anything runs; or the fault that ended it.
    pub fn run(self) -> Result<Done, Error> {
        crate::job::not_cancelled(&self.control)?;
        match self.program.isa() {
            Isa::X1k => x1k::run(self),
            Isa::R700 => r700::run(self),
        }
    }

    fn the_domain(&self) -> Result<Domain, Error> {
        let extent = self.extent.ok_or(ArgumentError::NoDomain)?;
        Ok(extent.domain()?)
    }

    /// Elements of the line, if its array has to be cut to them.
    fn line(&self) -> Option<usize> {
        match self.extent {
            Some(Extent::Line(n)) => Some(n),
            _ => None,
        }
    }
}

/// What a run gave.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// New outputs by their names: the program's, otherwise `o0` or `pix0`. A line is one row.
    pub outputs: BTreeMap<String, Array>,
    /// R700: the memories that were given, as they are at the end.
    pub memories: BTreeMap<Space, Vec<u32>>,
    /// What it did, in numbers; all of them only if [`Run::counted`].
    pub counters: Counters,
    /// Warnings, and what a checked run noticed.
    pub findings: Vec<Report>,
    /// What the launch took, and nothing beside it.
    pub elapsed: Duration,
}

impl Done {
    /// The array of an output, by the program's name or the register's.
    #[must_use]
    pub fn array(&self, name: &str) -> Option<&Array> {
        self.outputs.get(name)
    }

    /// The numbers of an output, row by row; none if there is no such output.
    #[must_use]
    pub fn values(&self, name: &str) -> &[f32] {
        match self.array(name).map(|array| &array.values) {
            Some(Values::F32(values)) => values,
            _ => &[],
        }
    }
}

/// A name, or the register that it stands for; resolved when it is clear which program has it.
fn reference(name: &str) -> Ref {
    Ref::Name(name.to_owned())
}

/// A reference as the caller wrote it.
fn text(which: &Ref) -> String {
    match which {
        Ref::Index(n) => n.to_string(),
        Ref::Name(name) => name.clone(),
    }
}

/// The engines of this process: what they have compiled once serves every run.
fn engine(kind: EngineKind) -> Result<&'static dyn Engine, Error> {
    static ENGINES: [OnceLock<Box<dyn Engine>>; EngineKind::ALL.len()] = [const { OnceLock::new() }; 3];
    let place = EngineKind::ALL.iter().position(|k| *k == kind).unwrap_or_default();
    if let Some(engine) = ENGINES[place].get() {
        return Ok(&**engine);
    }
    let made = kind.engine().map_err(Error::Engine)?;
    Ok(&**ENGINES[place].get_or_init(|| made))
}
