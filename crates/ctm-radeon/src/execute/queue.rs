//! A queue of draws with the same targets whose pixels wait, so that threads draw bands of rows of all of them at once.
//!
//! Their vertices have run, and all that their pixel programs read is here: memory may change meanwhile, except for the targets.

use super::programs::LoadedProgram;
use super::resources::Bound;
use super::state::Lists;
use super::surfaces::overlap;
use super::targets::Bindings;
use ctm_draw::PreparedDraw;
use ctm_draw::state::{DrawState, PixelSource, StageProgram};
use ctm_exec::r700::Constants;
use std::sync::Arc;

/// Most draws of a queue, and most of their primitives.
const MOST_DRAWS: usize = 256;
const MOST_PIECES: usize = 1 << 14;

/// A pixel program, with copies of all that it reads.
pub(super) struct PixelProgram {
    pub(super) loaded: Arc<LoadedProgram>,
    pub(super) constants: Constants,
    pub(super) bound: Bound<'static>,
}

/// A draw in the queue.
pub(super) struct QueuedDraw {
    /// The dword of its packet, and its number.
    pub(super) place: (usize, u32),
    pub(super) pixels: Option<PixelProgram>,
    pub(super) lists: Lists,
    /// Its state without lists and programs.
    pub(super) state: DrawState<'static>,
    pub(super) prepared: PreparedDraw,
    /// The counters of the pipeline count it.
    pub(super) is_counted: bool,
}

impl QueuedDraw {
    /// Its state with the pixel program.
    pub(super) fn state(&self) -> DrawState<'_> {
        let mut state: DrawState<'_> = self.state;
        self.lists.put_into(&mut state);
        if let Some(PixelProgram { loaded, constants, bound }) = &self.pixels {
            state.pixels = PixelSource::Program(StageProgram {
                program: &loaded.program,
                fetch_program: None,
                constants,
                memory: bound,
                semantics: &self.lists.semantic_table,
            });
        }
        state
    }
}

/// Draws, in order.
pub(super) struct DrawQueue {
    pub(super) bindings: Bindings,
    /// The memory of the targets.
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) draws: Vec<QueuedDraw>,
    pieces: usize,
}

impl DrawQueue {
    pub(super) fn new(bindings: Bindings) -> Self {
        Self { ranges: bindings.ranges(), bindings, draws: Vec::new(), pieces: 0 }
    }

    /// Whether the draws write memory of a range.
    pub(super) fn writes(&self, range: (u64, u64)) -> bool {
        self.ranges.iter().any(|&target| overlap(target, range))
    }

    pub(super) fn push(&mut self, draw: QueuedDraw) {
        self.pieces += draw.prepared.pieces();
        self.draws.push(draw);
    }

    /// Whether no draw should be added.
    pub(super) fn is_full(&self) -> bool {
        self.draws.len() >= MOST_DRAWS || self.pieces >= MOST_PIECES
    }
}
