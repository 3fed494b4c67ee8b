//! The engine: lowers a program once, and remembers it.

use super::batches::{at_once, run};
use super::options::{LoweringOptions, StreamLimits};
use super::{pvs, r700, x1k};
use crate::codegen::backend::{Backend, BackendError};
use crate::compile::observe;
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::places::Waves;
use crate::passes::switches::SwitchError;
use crate::passes::table as optional;
use crate::runtime::r700::launched::R700;
use crate::runtime::x1k::launched::X1k;
use ctm_exec::engine::one_by_one;
use ctm_exec::r700::LaunchPart;
use ctm_exec::watch::Watch;
use ctm_exec::x1k::{DrawParts, Launch, Memory};
use ctm_exec::{Control, Engine, Fault, Interp, Outcome};
use ctm_isa::r700::program::Stage;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Programs of each instruction set that an engine remembers.
const CACHED_PROGRAMS: usize = 256;
/// Fewer vertices are run by the reference interpreter.
const FEW_VERTICES: usize = 16;
/// Threads of an R700 thread group; the reference interpreter reports larger ones.
const GROUP_THREADS: u32 = 1024;

/// The fast engine: gives the same bits, faults and counters as [`Interp`].
///
/// Programs are lowered to micro-operations on vectors of 16 lanes. The reference interpreter runs programs that cannot
/// be lowered, and every group that may fault: launches with checks, groups of more than 16 lanes, SIMD-global
/// registers, and flow control whose stacks have no fixed depth at some instruction.
///
/// An engine remembers lowered programs. It can be shared between threads.
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
///     draw: ctm_exec::x1k::DrawParts::default(),
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
    options: LoweringOptions,
    x1k: Programs<x1k::artifact::Artifact>,
    r700: Programs<r700::artifact::Artifact>,
    pvs: Programs<pvs::artifact::Artifact>,
    r700_bail_outs: AtomicU64,
    pvs_bail_outs: AtomicU64,
}

/// The programs that an engine has lowered, keyed by all parameters of lowering, the most recently launched first.
/// `None`: the program is left to the reference interpreter.
struct Programs<A>(Mutex<Vec<(Key, Option<Arc<A>>)>>);

/// All parameters of lowering, in dwords.
type Key = Vec<u32>;

impl<A> Default for Programs<A> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<A> Programs<A> {
    /// The program with this key, or else a new one.
    fn get(&self, key: Key, new: impl FnOnce() -> Option<A>) -> Option<Arc<A>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.iter().position(|(other, _)| *other == key) {
            known[..=place].rotate_right(1);
        } else {
            known.truncate(CACHED_PROGRAMS - 1);
            known.insert(0, (key, new().map(Arc::new)));
        }
        known.first().and_then(|(_, artifact)| artifact.clone())
    }
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
    /// When `CTM_ENGINE_ISA` names a back end that is not available, `CTM_PASSES` contains a name that is no pass, or `CTM_DUMP` one that is no stage.
    pub fn from_environment() -> Result<Self, BackendError> {
        optional::check()?;
        observe::check()?;
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
        Self::of(backend, LoweringOptions::default())
    }

    fn of(backend: Backend, options: LoweringOptions) -> Self {
        let (x1k, r700, pvs) = (Programs::default(), Programs::default(), Programs::default());
        Self { backend, options, x1k, r700, pvs, r700_bail_outs: AtomicU64::new(0), pvs_bail_outs: AtomicU64::new(0) }
    }

    /// The same engine with other limits for streams. For tests: results do not depend on them.
    #[must_use]
    pub fn with_stream_limits(self, limits: StreamLimits) -> Self {
        Self::of(self.backend, LoweringOptions { limits, ..self.options })
    }

    /// The number of launches that ran as streams so far.
    #[must_use]
    pub fn streams_run(&self) -> u64 {
        self.options.streams_run.load(Ordering::Relaxed)
    }

    /// The R700 work that the reference interpreter has done in this engine's place: launches as a whole, and thread
    /// groups of others.
    #[must_use]
    pub fn r700_bail_outs(&self) -> u64 {
        self.r700_bail_outs.load(Ordering::Relaxed)
    }

    /// The launches of vertex programs that the reference interpreter has run in this engine's place.
    #[must_use]
    pub fn pvs_bail_outs(&self) -> u64 {
        self.pvs_bail_outs.load(Ordering::Relaxed)
    }

    /// Runs a launch of an X1K program with epilogues as part of it; `None`, and no effect, where that is not possible.
    fn x1k_merged(
        &self,
        control: &Control,
        launch: &Launch<'_>,
        memory: &mut dyn Memory,
    ) -> Option<Result<Outcome, Fault>> {
        use x1k::artifact::{Artifact, key};
        let artifact = self.x1k.get(key(launch), || Artifact::new(launch, &self.options))?;
        let artifact = artifact.for_constants(launch, &self.options)?;
        let watch = Watch::new(&launch.budget, control, launch.domain.processors());
        let is_whole = Waves::new(launch.domain, LANES, true).is_of_quads();
        let artifact = artifact.whole.as_deref().filter(|_| is_whole).unwrap_or(artifact);
        let of = X1k::wavefronts(launch, artifact, (&watch, self.backend), false);
        if of.can_stop() { at_once(&mut X1k::new(launch, artifact, memory), &of) } else { None }
    }

    /// Runs a launch with epilogues as part of its program, where that is possible, otherwise without them.
    fn run_merged(
        &self,
        control: &Control,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        use r700::artifact::{Artifact, key};
        let lanes = launch.wavefront.lanes();
        let is_left = launch.checks || launch.counters || !matches!(lanes, 16 | 32 | 64) || !launch.dx10_clamp;
        let new = || Artifact::new(launch, &self.options);
        let artifact = if is_left { None } else { self.r700.get(key(launch), new) };
        if let Some(artifact) = artifact {
            let watch = Watch::new(&launch.budget, control, launch.domain.processors());
            let of = R700::wavefronts(launch, &artifact, (&watch, self.backend));
            if of.can_stop()
                && let Some(outcome) = at_once(&mut R700::new(launch, &artifact, &mut *memory), &of)
            {
                self.r700_bail_outs.fetch_add(of.bailed_out.into_inner(), Ordering::Relaxed);
                return outcome;
            }
        }
        self.run_r700_under(control, &ctm_exec::r700::Launch { epilogues: &[], ..*launch }, memory)
    }

    /// Runs the parts of a launch with one set of outputs and bindings; `None`, and no effect, where that is not possible.
    fn r700_parts(
        &self,
        control: &Control,
        launch: &ctm_exec::r700::Launch<'_>,
        parts: &[LaunchPart<'_>],
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Option<Result<Outcome, Fault>> {
        use r700::artifact::{Artifact, key};
        let is_left = launch.stage != Stage::Pixel
            || launch.checks
            || launch.counters
            || launch.survivors.is_some()
            || !matches!(launch.wavefront.lanes(), 16 | 32 | 64)
            || !launch.dx10_clamp;
        // They are one program.
        let mut temps = parts.iter().map(|part| part.planes.iter().map(|plane| plane.temp));
        let of_first = temps.next().filter(|_| !is_left)?;
        if !temps.all(|temps| temps.eq(of_first.clone())) || memory.outputs_alias_inputs() {
            return None;
        }
        let of_first = parts.first()?.launches(launch).next()?;
        let artifact = self.r700.get(key(&of_first), || Artifact::new(&of_first, &self.options))?;
        let tiles: usize = parts.iter().map(|part| part.tiles.len()).sum();
        let watch = Watch::new(&launch.budget, control, 64 * tiles as u64);
        let done = R700::new(launch, &artifact, memory).parts(parts, (&watch, self.backend), &self.r700_bail_outs)?;
        Some(done.map(|counters| Outcome { counters, findings: Vec::new() }.counted(false)))
    }

    /// The back end in use.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }
}

impl Engine for Jit {
    fn name(&self) -> &'static str {
        "jit"
    }

    fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        use x1k::artifact::{Artifact, key};
        let whole = || Waves::new(launch.domain, LANES, true).is_of_quads();
        let counts_lanes = || whole() && !launch.counters && 64 % launch.group.lanes() == 0;
        let is_left = launch.checks || launch.group.lanes() > LANES || launch.draw.covered.is_some() && !counts_lanes();
        // Epilogues are part of the program, or not at all.
        if !launch.draw.epilogues.is_empty() {
            let draw = DrawParts { epilogues: &[], ..launch.draw };
            let without = Launch { draw, ..*launch };
            let is_left = is_left || launch.counters;
            let done = if is_left { None } else { self.x1k_merged(control, launch, &mut *memory) };
            return done.unwrap_or_else(|| self.run_x1k_under(control, &without, memory));
        }
        let new = || Artifact::new(launch, &self.options);
        let artifact = if is_left { None } else { self.x1k.get(key(launch), new) };
        let artifact = artifact.as_deref().and_then(|artifact| artifact.for_constants(launch, &self.options));
        // A group with uncached writes may read them.
        let aliased = memory.outputs_alias_inputs();
        let artifact = artifact.filter(|artifact| !aliased || !artifact.code.writes);
        let Some(artifact) = artifact else { return Interp.run_x1k_under(control, launch, memory) };
        let watch = Watch::new(&launch.budget, control, launch.domain.processors());
        // Where some processor of a group lies outside of the domain, the general program runs.
        if let Some(whole) = artifact.whole.as_deref().filter(|_| whole()) {
            let of = X1k::wavefronts(launch, whole, (&watch, self.backend), aliased);
            if of.can_stop()
                && let Some(done) = at_once(&mut X1k::new(launch, whole, &mut *memory), &of)
            {
                return done;
            }
        }
        let of = X1k::wavefronts(launch, artifact, (&watch, self.backend), aliased);
        if !of.can_stop() {
            return Interp.run_x1k_under(control, launch, memory);
        }
        run(&mut X1k::new(launch, artifact, memory), &of)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &ctm_exec::r700::Launch<'_>,
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        use r700::artifact::{Artifact, key};
        if !launch.epilogues.is_empty() {
            return self.run_merged(control, launch, memory);
        }
        let lanes = launch.wavefront.lanes();
        let partial = launch.stage == Stage::Compute && !launch.group_threads.is_multiple_of(lanes as u32);
        let is_left = launch.checks
            || !matches!(lanes, 16 | 32 | 64)
            || launch.group_threads > GROUP_THREADS
            || partial
            || !launch.dx10_clamp;
        let new = || Artifact::new(launch, &self.options);
        let artifact = if is_left { None } else { self.r700.get(key(launch), new) };
        let artifact = artifact.filter(|artifact| !artifact.writes_memory() || !memory.outputs_alias_inputs());
        let watch = Watch::new(&launch.budget, control, launch.domain.processors());
        if let Some(artifact) = artifact {
            let of = R700::wavefronts(launch, &artifact, (&watch, self.backend));
            if of.can_stop() {
                let outcome = run(&mut R700::new(launch, &artifact, memory), &of);
                self.r700_bail_outs.fetch_add(of.bailed_out.into_inner(), Ordering::Relaxed);
                return outcome;
            }
        }
        self.r700_bail_outs.fetch_add(1, Ordering::Relaxed);
        Interp.run_r700_under(control, launch, memory)
    }

    fn run_r700_parts(
        &self,
        control: &Control,
        launch: &ctm_exec::r700::Launch<'_>,
        parts: &[LaunchPart<'_>],
        memory: &mut dyn ctm_exec::r700::Memory,
    ) -> Result<Outcome, Fault> {
        let done = self.r700_parts(control, launch, parts, &mut *memory);
        done.unwrap_or_else(|| one_by_one(self, control, launch, parts, memory))
    }

    fn run_pvs_under(
        &self,
        control: &Control,
        launch: &ctm_exec::pvs::PvsLaunch<'_>,
    ) -> Result<Vec<ctm_exec::pvs::Outputs>, Fault> {
        use crate::runtime::pvs::artifact::{Artifact, key};
        use crate::runtime::pvs::launched::{Pvs, PvsInputs};
        // Few vertices take less time than a program's code.
        let is_left = launch.vertices.len() < FEW_VERTICES;
        let artifact = if is_left { None } else { self.pvs.get(key(launch), || Artifact::new(launch)) };
        let limit = launch.budget.instructions_per_group.unwrap_or(u64::MAX);
        let artifact = artifact.filter(|artifact| artifact.executed <= limit);
        if let Some(artifact) = artifact {
            let watch = Watch::new(&launch.budget, control, launch.vertices.len() as u64);
            let inputs = PvsInputs::new(launch, &artifact);
            let rows = inputs.rows();
            let of = Pvs::wavefronts(launch, &artifact, &rows, (&watch, self.backend));
            if of.can_stop() {
                let mut launched = Pvs::new(launch, &artifact, control);
                return run(&mut launched, &of).map(|_| launched.outputs);
            }
        }
        self.pvs_bail_outs.fetch_add(1, Ordering::Relaxed);
        Interp.run_pvs_under(control, launch)
    }
}

impl From<SwitchError> for BackendError {
    fn from(error: SwitchError) -> Self {
        Self(error.to_string())
    }
}
