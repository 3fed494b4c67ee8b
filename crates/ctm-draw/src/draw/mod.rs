//! A draw: its state is checked, its targets are opened, and it runs (`run`).

mod bands;
mod ready;
mod run;
mod together;

use crate::output::merge::{Merger, Plans};
pub use crate::output::watch::{Ending, Fragment, SampleTest, Stored};
use crate::pixel::shade::{QuadProgram, Shader};
use crate::program::Runner;
use crate::rect::Rect;
use crate::setup::Outline;
use crate::setup::inspect::Inspection;
use crate::state::{Counts, Draw, DrawError, DrawState, Funnel, Losses, Note, Options, PixelSource, X1kStage};
use crate::surface::samples::Surface;
use crate::surface::targets::{Open, Targets};
use crate::surface::value::FillValue;
use crate::vertex::streams::Streams;
use bands::Bands;
use ctm_exec::Engine;
use ctm_exec::r700::Target;
use ctm_exec::x1k;
use ctm_isa::x1k::TEMPORARIES;
use ready::Batches;
use run::{Front, RunningDraw};
use std::sync::Arc;
pub use together::{MOST_INDICES_TOGETHER, draw_together, has_threads};

/// The result of a draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// In numbers.
    pub counts: Counts,
    /// Legal but suspicious operations of programs of a checked draw: for each stage, rule and instruction the first place.
    pub notes: Vec<Note>,
    /// Fragments of the pixel of [`Options::watch`], in order.
    pub fragments: Vec<Fragment>,
    /// Where primitives and pixels ended, if [`Options::funnel`] asks for it.
    pub funnel: Option<Funnel>,
    /// The first 65,536 primitives, or parts of primitives, in order, if [`Options::funnel`] asks for them.
    pub outlines: Vec<Outline>,
}

/// Draws; returns the draw's counts.
///
/// # Errors
/// Targets that cannot be drawn to, invalid state, faults of programs.
pub fn draw(
    engine: &dyn Engine,
    state: &DrawState<'_>,
    call: &Draw<'_>,
    targets: &mut Targets<'_>,
    options: &Options,
) -> Result<Counts, DrawError> {
    draw_watched(engine, state, call, targets, options).map(|drawn| drawn.counts)
}

/// Draws; gives all that is known of the draw.
///
/// # Errors
/// Targets that cannot be drawn to, invalid state, faults of programs. After a fault, targets hold everything before it in its rows, and in other
/// rows perhaps more.
pub fn draw_watched(
    engine: &dyn Engine,
    state: &DrawState<'_>,
    call: &Draw<'_>,
    targets: &mut Targets<'_>,
    options: &Options,
) -> Result<Drawn, DrawError> {
    let runner = Runner::new(engine, options);
    let Opened { open, bounds, mut front, offsets } = open(&runner, state, targets, options)?;
    let shader = shader(&runner, state, &open);
    let watch = options.watch.map(|at| at.map(|n| i32::try_from(n).unwrap_or(i32::MAX)));
    let plans = Arc::new(Plans::of(state, &open));
    let losses = || options.funnel.then(Losses::default);
    front.inspection = Inspection::of(options, &state.raster, open.bounds);
    let whole = Merger::new(state, open, &plans, watch, losses());
    let bands = Bands::new((&runner, state, shader), whole, bounds, options.one_thread);
    let mut run = RunningDraw::new(front, bands);
    let ended = run.instances(call);
    let RunningDraw { front, pixels: Bands { mergers, whole, shaded, .. } } = run;
    let (mut counts, inspection) = front.end(offsets);
    ended?;
    [counts.quads, counts.pixels] = shaded;
    let mut fragments = Vec::new();
    let mut losses = losses();
    for mut merger in whole.into_iter().chain(mergers) {
        if let (Some(all), Some(of_band)) = (&mut losses, merger.losses.take()) {
            all.add(&of_band);
        }
        counts.samples_passed += merger.samples_passed;
        counts.pixels_written += merger.pixels_written;
        fragments.extend(merger.fragments());
    }
    let mut outlines = Vec::new();
    if let Some(inspection) = inspection {
        if let Some(all) = &mut losses {
            all.add(&inspection.losses);
        }
        outlines = inspection.outlines;
        if !inspection.missed.is_empty() {
            fragments.extend(inspection.missed.iter().map(Fragment::missed));
            // Those of one primitive stay in their order.
            fragments.sort_by_key(|fragment| (fragment.instance, fragment.primitive));
        }
    }
    let primitives = if state.geometry.is_some() { counts.emitted } else { counts.primitives };
    let funnel = losses.map(|losses| losses.funnel(state, primitives));
    Ok(Drawn { counts, notes: runner.notes(), fragments, funnel, outlines })
}

/// The targets of a draw, and its stages before pixels.
struct Opened<'a, 't> {
    open: Open<'t>,
    bounds: Rect,
    front: Front<'a, 't>,
    /// Places for the new offsets of stream buffers.
    offsets: [Option<&'t mut u32>; 4],
}

/// Opens the targets of a draw.
fn open<'a, 't>(
    runner: &'a Runner<'a>,
    state: &'a DrawState<'a>,
    targets: &'t mut Targets<'_>,
    options: &Options,
) -> Result<Opened<'a, 't>, DrawError> {
    check(state)?;
    let samples = state.raster.samples.count;
    let mut open =
        targets.open(samples, state.colour.resolve).map_err(|(target, error)| DrawError::Target { target, error })?;
    let bounds = open.bounds.and(state.raster.scissor);
    let lent = std::mem::replace(&mut open.streams, [const { None }; 4]);
    let mut offsets = [const { None }; 4];
    let mut streams = Streams::default();
    for (n, (buffer, offset)) in lent.into_iter().enumerate().filter_map(|(n, lent)| Some((n, lent?))) {
        (streams.buffers[n], offsets[n]) = (Some(buffer), Some(offset));
    }
    streams.check()?;
    let (one_thread, counts, drawn) = (options.one_thread, Counts::default(), Batches::kept());
    let front = Front { runner, state, bounds, one_thread, counts, streams, drawn, inspection: None };
    Ok(Opened { open, bounds, front, offsets })
}

/// The pixel program of a draw with these targets.
fn shader<'a>(runner: &'a Runner<'a>, state: &'a DrawState<'a>, open: &Open<'_>) -> Option<Shader<'a>> {
    let bound = open.colour.each_ref().map(Option::is_some);
    let program = match state.pixels {
        PixelSource::Nothing => return None,
        PixelSource::Program(stage) => QuadProgram::R700(stage, wanted(state, &bound)),
        PixelSource::X1k(stage) => QuadProgram::X1k(stage, wanted_of_x1k(state, &bound, &stage)),
    };
    Some(Shader { runner, state, program })
}

/// Finds values that fields cannot have.
fn check(state: &DrawState<'_>) -> Result<(), DrawError> {
    let wrong = |field, reason: String| Err(DrawError::State { field, reason });
    let raster = &state.raster;
    if !matches!(raster.samples.count, 1 | 2 | 3 | 4 | 6 | 8) {
        return wrong("raster.samples.count", format!("is {}, allowed is 1, 2, 3, 4, 6 or 8", raster.samples.count));
    }
    if let Some(at) = raster.samples.at.as_flattened().iter().find(|at| !(-8..8).contains(*at)) {
        return wrong("raster.samples.at", format!("has {at}, allowed is -8..=7"));
    }
    if !matches!(raster.grid, 1 | 16 | 32 | 64 | 128 | 256) {
        return wrong("raster.grid", format!("is {}, allowed is 1, 16, 32, 64, 128 or 256", raster.grid));
    }
    if state.clip.viewports.len() > 16 {
        return wrong("clip.viewports", format!("has {}, allowed are 16", state.clip.viewports.len()));
    }
    if state.outputs.semantics.len() > 32 {
        return wrong("outputs.semantics", format!("has {}, allowed are 32", state.outputs.semantics.len()));
    }
    let registers = if matches!(state.pixels, PixelSource::X1k(_)) { TEMPORARIES } else { 32 };
    if state.inputs.parameters.len() > registers {
        return wrong("inputs.parameters", format!("has {}, allowed are {registers}", state.inputs.parameters.len()));
    }
    Ok(())
}

/// The same of an X1K program.
fn wanted_of_x1k(state: &DrawState<'_>, bound: &[bool; 8], stage: &X1kStage<'_>) -> Vec<x1k::Target> {
    let colours = wanted(state, bound).into_iter().filter_map(|target| match target {
        Target::Pixel(n) => Some(x1k::Target::Colour(n)),
        Target::Depth | Target::Position(_) | Target::Parameter(_) => None,
    });
    // Only programs that export a depth need rows for it.
    let has_depth = stage.program.conditional_value || state.depth.export_start.is_some();
    colours.chain(has_depth.then_some(x1k::Target::ConditionalValue)).collect()
}

/// The exports of the pixel program that are used.
fn wanted(state: &DrawState<'_>, bound: &[bool; 8]) -> Vec<Target> {
    let colour = &state.colour;
    let first = colour.multiwrite || colour.alpha_test.is_some() || colour.alpha_to_coverage.is_some();
    // A second source is the second output.
    let second = colour.targets.iter().filter_map(|target| target.blend).any(|blend| blend.reads_source1());
    let is_wanted = |n: u8| match n {
        0 if first => true,
        1 if second => true,
        n => bound[usize::from(n)] && !colour.multiwrite,
    };
    let depth = state.depth.export_depth || state.depth.export_stencil || state.depth.export_mask;
    let pixels = (0..8).filter(|&n| is_wanted(n)).map(Target::Pixel);
    pixels.chain(depth.then_some(Target::Depth)).collect()
}

/// Writes one colour to every sample of a rectangle of a colour target, as a clear does. `rgba` are floats as bits, or integers.
///
/// # Errors
/// When the target cannot be drawn to.
pub fn clear_colour(targets: &mut Targets<'_>, number: usize, rgba: [u32; 4], within: Rect) -> Result<(), DrawError> {
    let Some(Some(target)) = targets.colour.get_mut(number) else { return Ok(()) };
    let samples = target.layout.samples;
    let layers = target.slices[1].saturating_sub(target.slices[0]);
    let mut one = Targets::default();
    one.colour[number] = targets.colour[number].take();
    one.colour_clears[number] = targets.colour_clears[number].take();
    let result = (|| {
        let mut open = one.open(samples, false).map_err(|(target, error)| DrawError::Target { target, error })?;
        let bounds = open.bounds.and(within);
        let Some(target) = &mut open.colour[number] else { return Ok(()) };
        let (bits, mask) = (target.colours.pack(rgba, false), u128::MAX);
        fill(&mut target.surface, bounds, layers, FillValue { bits, mask });
        Ok(())
    })();
    targets.colour[number] = one.colour[number].take();
    targets.colour_clears[number] = one.colour_clears[number].take();
    result
}

/// Writes one depth and stencil to every sample of a rectangle of the depth target, as a clear does.
///
/// # Errors
/// When the target cannot be drawn to.
pub fn clear_depth(targets: &mut Targets<'_>, depth: f32, stencil: u8, within: Rect) -> Result<(), DrawError> {
    let Some(target) = &targets.depth else { return Ok(()) };
    let samples = target.layout.samples;
    let layers = target.slices[1].saturating_sub(target.slices[0]);
    let mut one = Targets::default();
    (one.depth, one.depth_clear) = (targets.depth.take(), targets.depth_clear.take());
    let result = (|| {
        let mut open = one.open(samples, false).map_err(|(target, error)| DrawError::Target { target, error })?;
        let bounds = open.bounds.and(within);
        let Some(target) = &mut open.depth else { return Ok(()) };
        let depth = target.format.quantised(depth.into());
        let bits = target.format.pack(0, depth, stencil);
        fill(&mut target.surface, bounds, layers, FillValue { bits: bits.into(), mask: u128::MAX });
        Ok(())
    })();
    (targets.depth, targets.depth_clear) = (one.depth.take(), one.depth_clear.take());
    result
}

/// Stores a value in every sample of a rectangle of all layers.
fn fill(surface: &mut Surface<'_>, bounds: Rect, layers: u32, value: FillValue) {
    let rows = bounds.bottom.saturating_sub(bounds.top).max(0);
    let spans = vec![[bounds.left, bounds.right]; rows as usize];
    (0..=layers).for_each(|layer| surface.fill(bounds.top, &spans, layer, value));
}
