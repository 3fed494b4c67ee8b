//! The stages of a program by request: `ctm emit` prints one of them.

use super::observe::Observer;
use super::program::CompiledProgram;
use super::stage::{Form, Stage};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use super::stream::{Selected, Tiled};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use super::text::strips_text;
use super::{LoweringInput, masked_form};
use crate::codegen::backend::Backend;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::codegen::x86::{
    masked::{Variant, exists},
    stream::{Geometry, KernelOptions},
};
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::places::{Waves, row_element};
use crate::launch::wavefronts::wave;
use crate::passes::table::Pass;
use crate::passes::{masked, masks};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::stream::{affine::LaunchParameters, uniform::Uniform};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use ctm_exec::Domain;
use ctm_exec::{r700, x1k};
use ctm_ir::lower::x1k::{Asked, for_covered_groups, joint, lower};
use ctm_ir::masked::{Code, Var};
use ctm_ir::verify::verify;
use std::fmt;

/// A program with all parameters of its compilation.
#[derive(Clone, Copy)]
pub enum EmitLaunch<'a> {
    /// A launch of an X1K program.
    X1k(&'a x1k::Launch<'a>),
    /// A launch of an R700 program.
    R700(&'a r700::Launch<'a>),
}

/// A stage that is not available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmitError {
    /// The program is left to the reference interpreter: flow control without fixed stack depths, operations that are not lowered.
    NotLowered,
    /// The back end runs the masked form and has no such stage.
    NoStage(Stage, Backend),
    /// The launch is no stream.
    NoStream,
    /// The code would need too large a frame, memory cannot be made executable, or the build does not have the back end.
    NoCode,
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLowered => {
                f.write_str("the engine does not compile this program; the reference interpreter runs it")
            }
            Self::NoStage(stage, backend) => write!(
                f,
                "the back end `{backend}` has no `{}`: it runs the masked form; allowed: `lowered`, `masks`, `liveness`",
                stage.result()
            ),
            Self::NoStream => f.write_str(
                "the program is no stream: flow control or coordinates depend on data, or an operation has no code without masks",
            ),
            Self::NoCode => f.write_str(
                "the program has no machine code: its frame is too large, memory cannot be made executable, or this build does not have the back end",
            ),
        }
    }
}

impl std::error::Error for EmitError {}

/// The variables that a launch gives start values.
fn given(planes: impl Iterator<Item = u8>, rows: impl Iterator<Item = u16>) -> Vec<bool> {
    let mut given = vec![false; Var::COUNT];
    planes.for_each(|temp| (0..4).for_each(|e| given[Var::gpr(temp.into(), e).index()] = true));
    rows.for_each(|element| given[Var::gpr(usize::from(element / 4), usize::from(element % 4)).index()] = true);
    given
}

/// The text of a stage's result, for a back end that need not run on this host.
///
/// ```
/// use ctm_exec::x1k::{Constants, Launch, Plane};
/// use ctm_exec::{Budget, Domain, GroupSize};
/// use ctm_jit::{Backend, EmitLaunch, Stage, emit};
///
/// let program = ctm_isa::x1k::text::assemble(".output o = o0\nadd o, r0, 1\n").program.unwrap();
/// let launch = Launch {
///     program: &program,
///     constants: &Constants::default(),
///     planes: &[Plane::position(0)],
///     rows: &[],
///     domain: Domain { i0: 0, j0: 0, i1: 7, j1: 7 },
///     group: GroupSize::X1K,
///     draw: ctm_exec::x1k::DrawParts::default(),
///     budget: Budget::default(),
///     threads: 1,
///     checks: false,
///     counters: false,
/// };
/// let text = emit(EmitLaunch::X1k(&launch), Stage::Masks, Backend::Portable)?;
/// assert!(text.contains("set color0.x, v"), "{text}");
/// # Ok::<(), ctm_jit::EmitError>(())
/// ```
///
/// # Errors
/// [`EmitError`].
pub fn emit(launch: EmitLaunch<'_>, stage: Stage, backend: Backend) -> Result<String, EmitError> {
    if stage == Stage::Tile {
        return emit_stream(launch, stage, backend);
    }
    let mut observer = Observer::of_stage(stage);
    let program = match launch {
        EmitLaunch::X1k(launch) => {
            let asked = Asked { counts: launch.counters, relies: Pass::Moderate.is_on() };
            // Every group of the launch is covered, as far as its domain is one of whole groups.
            let covered = Pass::Covered.is_on() && Waves::new(launch.domain, LANES, true).is_of_quads();
            let covered = covered.then(|| for_covered_groups(launch.program)).flatten();
            let program = covered.as_ref().unwrap_or(launch.program);
            let graph = lower(program, launch.constants, asked).ok_or(EmitError::NotLowered)?;
            let is_joint = !graph.writes && !launch.counters && Pass::Joint.is_on() && joint::holds(&graph);
            let lanes = if is_joint { wave::LANES } else { LANES };
            let planes = launch.planes.iter().map(|plane| plane.temp);
            let given = given(planes, launch.rows.iter().map(row_element));
            let form = masked_form(LoweringInput::X1k { graph: &graph, is_joint }, false, &mut observer);
            form.map(|form| CompiledProgram::of_form(form, lanes, &given))
        }
        EmitLaunch::R700(launch) => {
            let mut given = given(launch.planes.iter().map(|plane| plane.temp), launch.rows.iter().map(row_element));
            let stored = ctm_ir::lower::r700::epilogues::stored(launch).unwrap_or_default();
            stored.into_iter().for_each(|(var, _)| given[var.index()] = true);
            let form = masked_form(LoweringInput::R700(launch), Waves::of(launch).is_of_quads(), &mut observer);
            form.map(|form| CompiledProgram::of_form(form, launch.wavefront.lanes(), &given))
        }
    };
    let program = program.ok_or(EmitError::NotLowered)?;
    if let Some(text) = observer.text {
        return Ok(text);
    }
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    if let Some(target) = backend.target() {
        let uniforms = match launch {
            EmitLaunch::X1k(launch) => launch.constants.float.as_flattened(),
            EmitLaunch::R700(_) => &[],
        };
        let variant = Variant { target, ordinary: false, counts: false, fuel: false, narrows: Pass::Narrow.is_on() };
        return program.stage(variant, uniforms, &mut observer).ok_or(EmitError::NoCode);
    }
    drop(program);
    Err(EmitError::NoStage(stage, backend))
}

/// The text of a stage's result where a launch runs as a stream: `tile`, `select`, `allocate` and `emit`. Its arrays have four channels.
///
/// # Errors
/// [`EmitError`].
pub fn emit_stream(launch: EmitLaunch<'_>, stage: Stage, backend: Backend) -> Result<String, EmitError> {
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    return match launch {
        EmitLaunch::X1k(launch) => {
            let asked = Asked { counts: launch.counters, relies: Pass::Moderate.is_on() };
            let graph = lower(launch.program, launch.constants, asked).ok_or(EmitError::NotLowered)?;
            stream_stage(super::stream::uniform(&graph), &LaunchParameters::of(launch, None), stage, backend)
        }
        EmitLaunch::R700(launch) => {
            let whole = Waves::of(launch).is_of_quads();
            let form = masked_form(LoweringInput::R700(launch), whole, &mut Observer::default());
            let form = form.ok_or(EmitError::NotLowered)?;
            let r700::Launch { domain, planes, threads, .. } = *launch;
            let given = LaunchParameters { domain, planes, constants: &[], threads, watch: None };
            stream_stage(Uniform::of(&form.code, exists, Vec::new()), &given, stage, backend)
        }
    };
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift"))))]
    {
        let _ = launch;
        Err(EmitError::NoStage(stage, backend))
    }
}

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
fn stream_stage(
    uniform: Option<Uniform>,
    given: &LaunchParameters<'_>,
    stage: Stage,
    backend: Backend,
) -> Result<String, EmitError> {
    let target = backend.target().ok_or(EmitError::NoStage(stage, backend))?;
    let uniform = uniform.filter(|_| Pass::Streams.is_on()).ok_or(EmitError::NoStream)?;
    let mut geometry = Geometry { inputs: [4; ctm_isa::x1k::INPUTS], ..Geometry::default() };
    for (output, channels) in geometry.outputs.iter_mut().enumerate() {
        *channels = if uniform.outputs >> (4 * output) & 0xf != 0 { 4 } else { 0 };
    }
    let columns = given.domain.width().min(64);
    let inputs = super::stream::Inputs { target, uniform: &uniform, given, geometry, columns };
    let mut observer = Observer::of_stage(stage);
    let selected = super::stream_code(&inputs, &mut observer).ok_or(EmitError::NoStream)?;
    kernel_stage(&selected, columns, observer)
}

/// The text that an observer requests of a stream's last stages.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
fn kernel_stage(selected: &Selected, columns: u32, mut observer: Observer) -> Result<String, EmitError> {
    let options = KernelOptions { tile: selected.chosen.tile(columns), past_caches: false };
    let kernel = super::stream::kernel(&selected.chosen, options, &mut observer);
    observer.text.filter(|_| kernel.is_some()).ok_or(EmitError::NoCode)
}

/// The result of a stage on the text of a stream after tiling.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
fn emit_tiled(text: &str, stage: Stage, backend: Backend) -> Result<String, String> {
    let tiled = Tiled::parse(text)?;
    if stage == Stage::Tile {
        return Ok(tiled.text());
    }
    let target = backend.target().ok_or_else(|| EmitError::NoStage(stage, backend).to_string())?;
    let (geometry, mut observer) = (tiled.geometry(), Observer::of_stage(stage));
    let selected = super::stream::select((target, geometry), tiled, &mut observer);
    kernel_stage(&selected, 64, observer).map_err(|error| error.to_string())
}

/// The options of compiling a text.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// The target.
    pub backend: Backend,
    /// Lanes of a wavefront: 16, 32 or 64.
    pub lanes: usize,
    /// All lanes that exist lie in the domain.
    pub is_whole: bool,
    /// Executions of blocks are counted.
    pub counts: bool,
    /// Wavefronts may be narrower.
    pub narrows: bool,
    /// The program is tiled, as one of a launch of 64 x 64 processors.
    pub is_stream: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { backend: Backend::Avx512, lanes: 16, is_whole: false, counts: false, narrows: false, is_stream: false }
    }
}

/// The result of a stage on a text of the form before it, for tests of single stages. A masked form (`code`) goes
/// through `masks` or `liveness` alone; for later stages through `liveness`, which finds live variables, and all later
/// ones. A tiled program (`stream`) goes through `select` and all later stages of streams, machine instructions
/// (`selected`) through `fuse`, `strips` or both.
///
/// # Errors
/// The text does not parse, breaks a rule, or has no such stage.
pub fn emit_text(text: &str, stage: Stage, options: &TextOptions) -> Result<String, String> {
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    if text.lines().any(|line| line.starts_with("selected")) {
        return emit_selected(text, stage, options);
    }
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    if text.lines().any(|line| line.starts_with("stream")) {
        return emit_tiled(text, stage, options.backend);
    }
    let mut code = Code::parse(text).map_err(|error| error.to_string())?;
    verify(&code).map_err(|error| error.to_string())?;
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    if options.is_stream || stage == Stage::Tile {
        let given = LaunchParameters {
            domain: Domain { i0: 0, j0: 0, i1: 63, j1: 63 },
            planes: &[x1k::Plane::position(0)],
            constants: &[],
            threads: 1,
            watch: None,
        };
        let uniform = Uniform::of(&code, exists, Vec::new());
        return stream_stage(uniform, &given, stage, options.backend).map_err(|error| error.to_string());
    }
    match stage {
        Stage::Lower => return Ok(code.to_string()),
        Stage::Masks => masks::simplify(&mut code, options.is_whole),
        _ => {}
    }
    let is_later = !matches!(stage, Stage::Masks);
    let live =
        if is_later { masked::optimise(&mut code, options.is_whole, Pass::Computed.is_on()) } else { Vec::new() };
    verify(&code).map_err(|error| error.to_string())?;
    if matches!(stage, Stage::Masks | Stage::Liveness) {
        return Ok(code.to_string());
    }
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    if let Some(target) = options.backend.target() {
        let mut observer = Observer::of_stage(stage);
        let given = given([0].into_iter(), std::iter::empty());
        let program = CompiledProgram::of_form(Form { code, live }, options.lanes, &given);
        let (counts, narrows) = (options.counts, options.narrows && Pass::Narrow.is_on());
        let variant = Variant { target, ordinary: false, counts, fuel: false, narrows };
        return program.stage(variant, &[], &mut observer).ok_or_else(|| EmitError::NoCode.to_string());
    }
    drop(live);
    Err(EmitError::NoStage(stage, options.backend).to_string())
}

/// The same for machine instructions.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
fn emit_selected(text: &str, stage: Stage, options: &TextOptions) -> Result<String, String> {
    use crate::codegen::x86::masked::{fused, runs::Runs, text, verify};
    let (mut of, code) = text::parse(text).map_err(|error| error.to_string())?;
    verify::verify(&of, &code).map_err(|error| error.to_string())?;
    let target = options.backend.target().ok_or_else(|| EmitError::NoStage(stage, options.backend).to_string())?;
    let mut strips = Vec::new();
    match stage {
        Stage::Select => {}
        Stage::Fuse => drop(fused::fuse(&target, &code, &mut of.lists, (of.used.len(), of.vectors, &[]))),
        Stage::Strips => strips = Runs::of(target.target, &mut of.lists).of,
        _ => {
            return Err(format!(
                "`{}` does not take machine instructions; allowed: `select`, `fuse`, `strips`",
                stage.name()
            ));
        }
    }
    verify::verify(&of, &code).map_err(|error| error.to_string())?;
    Ok(text::selected(&of, &code) + &strips_text(&strips))
}
