//! Draws whose pixels wait for those of others: threads then draw bands of rows of all of them, each in order.

use super::bands::{MANY, Over, most_quads};
use super::ready::{Batches, Ready};
use super::run::RunningDraw;
use super::{open, shader};
use crate::output::merge::{Merger, Plans};
use crate::pixel::shade::Shader;
use crate::program::Runner;
use crate::state::{Counts, Draw, DrawError, DrawState, Options};
use crate::surface::targets::{Open, Targets};
use ctm_exec::Engine;
use rayon::prelude::*;
use std::sync::Arc;

/// A draw whose vertices have run, and whose primitives wait.
#[derive(Default)]
pub struct PreparedDraw {
    ready: Vec<Ready>,
    /// The counts of the stages before pixels.
    pub counts: Counts,
    pieces: usize,
}

impl std::fmt::Debug for PreparedDraw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedDraw").field("counts", &self.counts).finish_non_exhaustive()
    }
}

impl PreparedDraw {
    /// Most indices of all instances of a draw that should wait: vertices of larger ones run while pixels of others are drawn.
    pub const MOST_INDICES: u64 = 3 * 2048;

    /// Whether several threads would draw the pixels of draws.
    #[must_use]
    pub fn has_threads() -> bool {
        rayon::current_num_threads() > 1
    }

    /// Runs the stages of a draw before pixels. Only the sizes of targets count, and stream output.
    ///
    /// # Errors
    /// As of [`draw`](super::draw), except for those of pixel programs.
    pub fn new(
        engine: &dyn Engine,
        state: &DrawState<'_>,
        call: &Draw<'_>,
        targets: &mut Targets<'_>,
        options: &Options,
    ) -> Result<Self, DrawError> {
        let runner = Runner::new(engine, options);
        let opened = open(&runner, state, targets, options)?;
        let mut run = RunningDraw::new(opened.front, Vec::new());
        let ended = run.instances(call);
        let RunningDraw { front, pixels: ready } = run;
        let (counts, _) = front.end(opened.offsets);
        ended?;
        let pieces = ready.iter().map(|ready| ready.pieces.len()).sum();
        Ok(Self { ready, counts, pieces })
    }

    /// Keeps the memory of draws for the next ones of this thread.
    pub fn keep_memory(draws: impl IntoIterator<Item = Self>) {
        let mut kept = Batches::kept();
        draws.into_iter().flat_map(|prepared| prepared.ready).for_each(|ready| kept.add(ready));
        kept.keep();
    }

    /// How many primitives, or parts of them, wait.
    #[must_use]
    pub const fn pieces(&self) -> usize {
        self.pieces
    }
}

/// The pixels of a batch, and the pieces of each band.
struct BatchPixels<'p> {
    draw: usize,
    ready: &'p Ready,
    over: Over<'p>,
    of_bands: Vec<Vec<u32>>,
}

/// Draws the pixels of draws with the same targets, in order; returns the counts of pixels of each. `draws`: their states are those of [`PreparedDraw::new`], with the pixel program and
/// all that it reads. Nothing watches them.
///
/// # Errors
/// Targets that cannot be drawn to. Faults of programs are those of their draws; later draws go on.
pub fn draw_prepared(
    engine: &dyn Engine,
    draws: &[(&DrawState<'_>, &PreparedDraw)],
    targets: &mut Targets<'_>,
    options: &Options,
) -> Result<Vec<Result<Counts, DrawError>>, DrawError> {
    let Some((first, _)) = draws.first() else { return Ok(Vec::new()) };
    let open = targets
        .open(first.raster.samples.count, first.colour.resolve)
        .map_err(|(target, error)| DrawError::Target { target, error })?;
    let bounds = open.bounds;
    let runners: Vec<Runner<'_>> = draws.iter().map(|_| Runner::new(engine, options)).collect();
    let with_runners = || draws.iter().zip(&runners);
    let shaders: Vec<Option<Shader<'_>>> =
        with_runners().map(|((state, _), runner)| shader(runner, state, &open)).collect();
    let plans: Vec<Arc<Plans>> = draws.iter().map(|(state, _)| Arc::new(Plans::of(state, &open))).collect();
    let batches = draws.iter().flat_map(|(_, prepared)| &prepared.ready);
    let quads = batches.map(|ready| most_quads(&ready.pieces)).fold(0, u64::saturating_add);
    let (rows, bands) = if quads < MANY { (Open::rows_of_all(bounds), vec![open]) } else { open.split(bounds) };
    let mut parts: Vec<BatchPixels<'_>> = Vec::new();
    for (draw, ((state, prepared), runner)) in with_runners().enumerate() {
        let shader = shaders[draw].as_ref();
        let is_idle = Merger::new(state, Open::nothing(bounds), &plans[draw], None, None).is_idle(shader.is_some());
        for ready in prepared.ready.iter().filter(|ready| !ready.pieces.is_empty()) {
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
            let state = draws[*draw].0;
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
    let mut all: Vec<Result<Counts, DrawError>> = draws.iter().map(|_| Ok(Counts::default())).collect();
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
