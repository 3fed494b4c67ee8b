//! The engine: lowers a program once, and remembers it.

mod direct;
pub mod form;
mod journal;
mod run;
mod worker;

use crate::ir::masked::Var;
use crate::ir::x1k::Code;
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::places::row_element;
use crate::lower::x1k::joint;
use crate::passes::table as optional;
use crate::passes::table::Pass;
use crate::runtime::backend::{Backend, BackendError};
use ctm_exec::watch::Watch;
use ctm_exec::x1k::{Constants, Launch, Memory};
use ctm_exec::{Control, Engine, Fault, Interp, Outcome};
use ctm_isa::x1k::{TEMPORARIES, Words};
use form::{Form, GROUPS};
use run::Run;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Programs that an engine remembers.
const CACHED_PROGRAMS: usize = 256;

/// When launches run as streams (`docs/engine/streams.md`), and how.
///
/// Results do not depend on it; the tests of streams use small domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Domains of fewer processors are not worth code of their own.
    pub processors: u64,
    /// Outputs of so many bytes and more, added up, are stored past the caches.
    pub past_caches_bytes: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { processors: 1024, past_caches_bytes: 8 << 20 }
    }
}

/// The fast engine: gives the same bits, faults and counters as [`Interp`].
///
/// Programs are lowered to micro-operations on vectors of 16 lanes. What cannot be lowered, and every group that may fault, is run by
/// the reference interpreter: launches with checks, groups of more than 16 lanes, and flow control
/// whose stacks have no fixed depth at some instruction.
///
/// An engine remembers what it has lowered. It can be shared between threads.
///
/// ```
/// use ctm_exec::arrays::Picture;
/// use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
/// use ctm_exec::{Budget, Domain, Engine, GroupSize};
/// use ctm_isa::x1k::Program;
/// use ctm_jit::Jit;
///
/// // o0 = r0, by MAX with the output modifier disabled; r0 is the index pair.
/// let words = [0x0007_8105, 0x0802_0000, 0x0802_0000, 0x1c44_0220, 0x1c60_c003, 0x0000_0005];
/// let program = Program::from_words(vec![words]);
/// let launch = Launch {
///     program: &program,
///     constants: &Constants::default(),
///     planes: &[Plane::position(0)],
///     rows: &[],
///     domain: Domain { i0: 0, j0: 0, i1: 7, j1: 7 },
///     group: GroupSize::X1K,
///     budget: Budget::default(),
///     threads: 0,
///     checks: false,
///     counters: true,
/// };
/// let mut memory = Arrays::default();
/// memory.outputs[0] = Some(Picture::filled(8, 8, [0.0; 4]));
/// Jit::new().run_x1k(&launch, &mut memory)?;
/// let out = memory.outputs[0].as_ref().and_then(|o| o.get(5, 2)).unwrap_or_default();
/// assert_eq!(out.map(f32::from_bits), [5.0, 2.0, 0.0, 0.0]);
/// # Ok::<(), ctm_exec::Fault>(())
/// ```
pub struct Jit {
    backend: Backend,
    copies: Option<u8>,
    calls: bool,
    streams: StreamLimits,
    streams_run: Arc<AtomicU64>,
    cache: Mutex<Vec<Remembered>>,
    r700: super::r700::Programs,
}

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("backend", &self.backend).finish_non_exhaustive()
    }
}

impl Default for Jit {
    fn default() -> Self {
        Self::new()
    }
}

impl Jit {
    /// An engine with the back end that [`Backend::from_environment`] finds.
    ///
    /// # Errors
    /// When `CTM_ENGINE_ISA` names a back end that cannot be had, or `CTM_PASSES` something else than passes to leave out.
    pub fn from_environment() -> Result<Self, BackendError> {
        optional::check()?;
        Backend::from_environment().map(Self::with_backend)
    }

    /// An engine with the back end that [`Backend::detect`] finds.
    #[must_use]
    pub fn new() -> Self {
        Self::with_backend(Backend::detect())
    }

    /// An engine with this back end. Where the host cannot run it after all, the portable one runs.
    #[must_use]
    pub fn with_backend(backend: Backend) -> Self {
        let can = Backend::available().any(|available| available == backend);
        let backend = if can { backend } else { Backend::Portable };
        Self {
            backend,
            copies: None,
            calls: false,
            streams: StreamLimits::default(),
            streams_run: Arc::default(),
            cache: Mutex::default(),
            r700: super::r700::Programs::default(),
        }
    }

    /// The same engine, running so many groups at once (1 to 3) instead of as many as registers allow. For tests: results do not
    /// depend on it.
    #[must_use]
    pub fn with_copies(self, copies: u8) -> Self {
        Self { copies: Some(copies), cache: Mutex::default(), ..self }
    }

    /// The same engine, calling the reference function of every X1K operation that looks at one channel of its operands, as it does for operations
    /// for which it has no code. For tests: results do not depend on it.
    #[must_use]
    pub fn with_calls(self) -> Self {
        Self { calls: true, cache: Mutex::default(), ..self }
    }

    /// The same engine with other limits for streams. For tests: results do not depend on them.
    #[must_use]
    pub fn with_stream_limits(self, limits: StreamLimits) -> Self {
        Self { streams: limits, cache: Mutex::default(), r700: super::r700::Programs::default(), ..self }
    }

    /// How many launches ran as streams so far.
    #[must_use]
    pub fn streams_run(&self) -> u64 {
        self.streams_run.load(Ordering::Relaxed)
    }

    /// How much of R700 launches the reference interpreter has run in this engine's place: launches as a whole, and thread groups of others.
    #[must_use]
    pub fn r700_referred(&self) -> u64 {
        self.r700.bailed_out()
    }

    /// What executes the form.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// The program in micro-operations; `None` when it has to be left to the reference interpreter.
    fn artifact(&self, launch: &Launch<'_>) -> Option<Arc<Artifact>> {
        let (state, words) = (State::of(launch), &launch.program.words);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |entry: &Remembered| entry.state == state && entry.words.as_flattened() == words.as_flattened();
        if let Some(place) = cache.iter().position(same) {
            // What is used again is looked at first.
            cache.swap(0, place);
            return cache[0].artifact.clone();
        }
        if cache.len() >= CACHED_PROGRAMS {
            cache.truncate(CACHED_PROGRAMS / 2);
        }
        let artifact = Artifact::new(launch, self).map(Arc::new);
        cache.insert(0, Remembered { state, words: words.clone(), artifact: artifact.clone() });
        artifact
    }
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let is_left = launch.checks || launch.group.lanes() > LANES;
        let artifact = if is_left { None } else { self.artifact(launch) };
        let watch = Watch::new(&launch.budget, control, launch.domain.processors());
        let run =
            artifact.as_ref().map(|artifact| Run::new(&watch, launch, artifact, self.backend)).filter(Run::can_stop);
        let Some(run) = run else { return Interp.run_x1k_under(control, launch, memory) };
        run.go(memory).map(|outcome| outcome.counted(launch.counters))
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        #[cfg(target_arch = "x86_64")]
        let streams = || crate::runtime::streams::Streams::new(self.streams, Arc::clone(&self.streams_run));
        #[cfg(not(target_arch = "x86_64"))]
        let streams = || ();
        let outcome = super::r700::run(&self.r700, self.backend, &streams, (control, launch), memory);
        outcome.map(|outcome| outcome.counted(launch.counters))
    }
}

/// A program that was lowered, or could not be.
struct Remembered {
    state: State,
    words: Vec<Words>,
    artifact: Option<Arc<Artifact>>,
}

/// All that lowering depends on, beside the instructions.
#[derive(PartialEq, Eq)]
struct State {
    first: u16,
    last: u16,
    flags: u8,
    /// Boolean constants decide which way jumps go,
    booleans: u32,
    /// integer constants how often loops run.
    integers: [[u8; 4]; 32],
    /// Temporaries that hold something at the start.
    planes: u128,
    /// Elements that do so lane by lane.
    rows: Vec<u16>,
    lanes: usize,
}

impl State {
    fn of(launch: &Launch<'_>) -> Self {
        let program = launch.program;
        let flags = [
            program.full_flow_control,
            program.uncached,
            program.zero_times_anything,
            program.conditional_value,
            launch.counters,
        ];
        let bit = |set: u128, index: usize| set | 1 << (index % 128);
        Self {
            first: program.first,
            last: program.last,
            flags: flags.iter().fold(0, |all, &flag| all << 1 | u8::from(flag)),
            integers: launch.constants.int,
            booleans: launch.constants.bool.iter().fold(0, |all, &b| all << 1 | u32::from(b)),
            planes: launch.planes.iter().map(|plane| usize::from(plane.temp)).fold(0, bit),
            rows: launch.rows.iter().map(row_element).collect(),
            lanes: launch.group.lanes(),
        }
    }
}

/// A program, ready to run.
pub struct Artifact {
    /// The program as a stream, if it is one; made when first needed.
    #[cfg(target_arch = "x86_64")]
    uniform: OnceLock<Option<crate::stream::uniform::Uniform>>,
    /// Its code for launches without masks.
    #[cfg(target_arch = "x86_64")]
    streams: crate::runtime::streams::Streams,
    /// Its form for one group at a time.
    pub code: Code,
    /// The same with masks, for several groups as if they were one, and for one; made when first needed.
    forms: [OnceLock<Option<Form>>; 2],
    /// Groups that may run together.
    copies: usize,
    constants: Constants,
    counts: bool,
    /// The variables that hold something at the start.
    given: Vec<bool>,
    /// The same program for such groups, where that makes a difference: votes of uncovered processors need no care then.
    whole: Option<Box<Self>>,
}

impl Artifact {
    fn new(launch: &Launch<'_>, engine: &Jit) -> Option<Self> {
        let mut artifact = Self::of(launch, engine)?;
        let covered = Pass::Covered.is_on().then(|| crate::lower::x1k::for_covered_groups(launch.program));
        if let Some(program) = covered.flatten() {
            let whole = Self::of(&Launch { program: &program, ..*launch }, engine);
            artifact.whole = whole.map(Box::new);
        }
        Some(artifact)
    }

    fn of(launch: &Launch<'_>, engine: &Jit) -> Option<Self> {
        let code = crate::lower::x1k::lower_with(launch.program, launch.constants, launch.counters, engine.calls)?;
        let mut given = vec![false; Var::COUNT];
        for plane in launch.planes {
            (0..4).for_each(|e| given[Var::gpr(usize::from(plane.temp) % TEMPORARIES, e).index()] = true);
        }
        launch.rows.iter().map(row_element).for_each(|element| given[usize::from(element)] = true);
        Some(Self {
            #[cfg(target_arch = "x86_64")]
            uniform: OnceLock::new(),
            #[cfg(target_arch = "x86_64")]
            streams: crate::runtime::streams::Streams::new(engine.streams, Arc::clone(&engine.streams_run)),
            forms: Default::default(),
            // Groups that write run one by one.
            copies: if code.writes { 1 } else { engine.copies.map_or(GROUPS, usize::from).clamp(1, GROUPS) },
            constants: launch.constants.clone(),
            counts: launch.counters,
            code,
            given,
            whole: None,
        })
    }

    /// The program with masks, for as many groups as may run together.
    fn form(&self) -> &Form {
        let make = |joint| Form::new(&self.code, &self.constants, joint, &self.given, self.copies);
        let joint = self.forms[0].get_or_init(|| {
            let holds = self.copies > 1 && !self.counts && Pass::Joint.is_on() && joint::holds(&self.code);
            holds.then(|| make(true))
        });
        joint.as_ref().unwrap_or_else(|| self.single())
    }

    /// The program with masks, for one group at a time.
    fn single(&self) -> &Form {
        let make = || Form::new(&self.code, &self.constants, false, &self.given, self.copies);
        let single = self.forms[1].get_or_init(|| Some(make()));
        single.as_ref().unwrap_or_else(|| unreachable!("it was just made"))
    }
}
