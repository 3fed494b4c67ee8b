//! Small draws with the same targets: threads draw bands of rows of all of them, each in order.

use super::bands::{MANY, Over, most_quads};
use super::ready::{Batches, Ready};
use super::run::{self, RunningDraw};
use super::{check, shader};
use crate::output::merge::{Merger, Plans};
use crate::pixel::shade::Shader;
use crate::program::Runner;
use crate::rect::Rect;
use crate::state::{Counts, Draw, DrawError, DrawState, Options};
use crate::surface::targets::{Open, Targets};
use crate::vertex::streams::Streams;
use ctm_exec::Engine;
use rayon::prelude::*;
use std::sync::Arc;

/// Most indices of all instances of a draw that should be drawn with others: vertices of larger ones run while pixels of the same draw are drawn.
pub const MOST_INDICES_TOGETHER: u64 = 3 * 2048;

/// Draws whose vertices a thread runs at a time.
const FRONTS: usize = 4;

/// Whether several threads would share draws.
#[must_use]
pub fn has_threads() -> bool {
    rayon::current_num_threads() > 1
}

/// The pixels of a batch, and the pieces of each band.
struct BatchPixels<'p> {
    draw: usize,
    ready: &'p Ready,
    over: Over<'p>,
    of_bands: Vec<Vec<u32>>,
}

/// The primitives of a draw, and its counts.
type Front = Result<(Vec<Ready>, Counts), DrawError>;

/// Runs the stages of a draw before pixels.
fn front(runner: &Runner<'_>, (state, call): &(DrawState<'_>, Draw<'_>), bounds: Rect, one_thread: bool) -> Front {
    check(state)?;
    let bounds = bounds.and(state.raster.scissor);
    let (counts, streams, drawn) = (Counts::default(), Streams::default(), Batches::kept());
    let front = run::Front { runner, state, bounds, one_thread, counts, streams, drawn, inspection: None };
    let mut run = RunningDraw::new(front, Vec::new());
    let ended = run.instances(call);
    let RunningDraw { front, pixels: ready } = run;
    let (counts, _) = front.end([const { None }; 4]);
    ended.map(|()| (ready, counts))
}

/// Draws small draws with the same targets, as if one after the other; returns the counts of each. Vertices of several of them run at once, then threads draw bands of rows of all.
/// They have no stream output, and nothing watches them.
///
/// # Errors
/// Targets that cannot be drawn to. Wrong states and faults of programs are those of their draws; later draws go on.
pub fn draw_together(
    engine: &dyn Engine,
    draws: &[(DrawState<'_>, Draw<'_>)],
    targets: &mut Targets<'_>,
    options: &Options,
) -> Result<Vec<Result<Counts, DrawError>>, DrawError> {
    let Some((first, _)) = draws.first() else { return Ok(Vec::new()) };
    let open = targets
        .open(first.raster.samples.count, first.colour.resolve)
        .map_err(|(target, error)| DrawError::Target { target, error })?;
    let bounds = open.bounds;
    let runners: Vec<Runner<'_>> = draws.iter().map(|_| Runner::new(engine, options)).collect();
    let one_thread = options.one_thread || draws.len() > 1;
    let of = |(draw, runner): (&(DrawState<'_>, Draw<'_>), &Runner<'_>)| front(runner, draw, bounds, one_thread);
    let fronts: Vec<Front> = draws.par_iter().zip(&runners).with_min_len(FRONTS).map(of).collect();
    let with_runners = || draws.iter().zip(&runners);
    let shaders: Vec<Option<Shader<'_>>> =
        with_runners().map(|((state, _), runner)| shader(runner, state, &open)).collect();
    let plans: Vec<Arc<Plans>> = draws.iter().map(|(state, _)| Arc::new(Plans::of(state, &open))).collect();
    let batches = fronts.iter().flatten().flat_map(|(ready, _)| ready);
    let quads = batches.map(|ready| most_quads(&ready.pieces)).fold(0, u64::saturating_add);
    let (rows, bands) = if quads < MANY { (Open::rows_of_all(bounds), vec![open]) } else { open.split(bounds) };
    let mut parts: Vec<BatchPixels<'_>> = Vec::new();
    for (draw, (((state, _), runner), front)) in with_runners().zip(&fronts).enumerate() {
        let shader = shaders[draw].as_ref();
        let is_idle = Merger::new(state, Open::nothing(bounds), &plans[draw], None, None).is_idle(shader.is_some());
        for ready in front.iter().flat_map(|front| &front.0).filter(|ready| !ready.pieces.is_empty()) {
            let over = Over::new((runner, state, shader), (&ready.pieces, &ready.vertices), rows, is_idle);
            let of_bands = over.pieces_of_bands(bands.len(), &ready.pieces);
            parts.push(BatchPixels { draw, ready, over, of_bands });
        }
    }
    let band = |(number, mut open): (usize, Open<'_>)| {
        let mut done: Vec<(usize, Result<Counts, DrawError>)> = Vec::new();
        for BatchPixels { draw, ready, over, of_bands } in &parts {
            let pieces = &of_bands[number];
            // A draw ends with its first fault.
            let is_over = done.last().is_some_and(|(of, result)| of == draw && result.is_err());
            if pieces.is_empty() || is_over {
                continue;
            }
            let state = &draws[*draw].0;
            let mut merger = Merger::new(state, open, &plans[*draw], None, None);
            let within = bounds.and(state.raster.scissor);
            let shaded = over.draw_band(std::slice::from_mut(&mut merger), within, number, &ready.pieces, pieces);
            let (samples_passed, pixels_written) = (merger.samples_passed, merger.pixels_written);
            open = merger.into_targets();
            let counts = |[quads, pixels]: [u64; 2]| Counts {
                quads,
                pixels,
                samples_passed,
                pixels_written,
                ..Counts::default()
            };
            done.push((*draw, shaded.map(counts)));
        }
        done
    };
    let done: Vec<_> = bands.into_par_iter().enumerate().with_max_len(1).map(band).collect();
    drop(parts);
    let mut kept = Batches::kept();
    let mut counts_of = |front: Front| {
        let (ready, counts) = front?;
        ready.into_iter().for_each(|ready| kept.add(ready));
        Ok(counts)
    };
    let mut all: Vec<Result<Counts, DrawError>> = fronts.into_iter().map(&mut counts_of).collect();
    kept.keep();
    for (draw, result) in done.into_iter().flatten() {
        if let Ok(sum) = &mut all[draw] {
            match result {
                Ok(counts) => {
                    sum.quads += counts.quads;
                    sum.pixels += counts.pixels;
                    sum.samples_passed += counts.samples_passed;
                    sum.pixels_written += counts.pixels_written;
                }
                Err(error) => all[draw] = Err(error),
            }
        }
    }
    Ok(all)
}
