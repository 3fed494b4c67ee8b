//! A queue of small draws with the same targets, so that threads share the vertices and the bands of all of them.
//!
//! Their state is here. Their programs' constants and buffers lie in memory, which must not change before they are drawn.

use super::joined::JoinedBuffer;
use super::memory::GpuMemory;
use super::outline::Numbers;
use super::programs::LoadedProgram;
use super::resources::{Bound, PlacedResources};
use super::state::Lists;
use super::surfaces::overlap;
use super::targets::Bindings;
use ctm_draw::state::{Draw, DrawState, PixelSource, StageProgram, Topology, VertexSource};
use ctm_exec::r700::Constants;
use std::sync::Arc;

/// Most draws of a queue, and most of their indices.
const MOST_DRAWS: usize = 256;
const MOST_INDICES: usize = 1 << 16;

/// A program of a queued draw, with its resources.
pub(super) struct QueuedProgram {
    pub(super) loaded: Arc<LoadedProgram>,
    pub(super) fetch: Option<Arc<LoadedProgram>>,
    pub(super) constants: Constants,
    pub(super) resources: PlacedResources,
    pub(super) is_pixel: bool,
}

/// A draw in the queue.
pub(super) struct QueuedDraw {
    /// The dword of its packet, and its number.
    pub(super) place: (usize, u32),
    /// Of vertices, then of pixels.
    pub(super) programs: Vec<QueuedProgram>,
    pub(super) lists: Lists,
    /// Its state without lists and programs.
    pub(super) state: DrawState<'static>,
    /// Buffers of vertices that are not in memory.
    pub(super) items: Vec<JoinedBuffer>,
    pub(super) topology: Topology,
    pub(super) numbers: Numbers,
    pub(super) count: u32,
    pub(super) instances: u32,
    /// The counters of the pipeline count it.
    pub(super) is_counted: bool,
}

impl QueuedDraw {
    /// The resources of each program.
    pub(super) fn bound<'d>(&'d self, memory: &'d dyn GpuMemory) -> Vec<Bound<'d>> {
        let mut all: Vec<Bound<'d>> = self.programs.iter().map(|of| of.resources.bound(memory)).collect();
        for items in &self.items {
            items.bind_to(&mut all[0]);
        }
        all
    }

    /// Its state with programs, and its call. `bound`: the resources of each program.
    pub(super) fn call<'d>(&'d self, bound: &'d [Bound<'d>]) -> (DrawState<'d>, Draw<'d>) {
        let mut state: DrawState<'d> = self.state;
        self.lists.put_into(&mut state);
        for (QueuedProgram { loaded, fetch, constants, is_pixel, .. }, memory) in self.programs.iter().zip(bound) {
            let stage = StageProgram {
                program: &loaded.program,
                fetch_program: fetch.as_ref().map(|fetch| &fetch.program),
                constants,
                memory,
                semantics: &self.lists.semantic_table,
            };
            if *is_pixel {
                state.pixels = PixelSource::Program(stage);
            } else {
                state.vertices = VertexSource::Program(stage);
            }
        }
        let Self { topology, count, instances, .. } = *self;
        (state, Draw { topology, indices: self.numbers.as_indices(), count, instances })
    }
}

/// Draws, in order.
pub(super) struct DrawQueue {
    pub(super) bindings: Bindings,
    /// The memory of the targets.
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) draws: Vec<QueuedDraw>,
    indices: usize,
}

impl DrawQueue {
    pub(super) fn new(bindings: Bindings) -> Self {
        Self { ranges: bindings.ranges(), bindings, draws: Vec::new(), indices: 0 }
    }

    /// Whether the draws write memory of a range.
    pub(super) fn writes(&self, range: (u64, u64)) -> bool {
        self.ranges.iter().any(|&target| overlap(target, range))
    }

    pub(super) fn push(&mut self, draw: QueuedDraw) {
        self.indices += draw.count as usize * draw.instances as usize;
        self.draws.push(draw);
    }

    /// Whether no draw should be added.
    pub(super) fn is_full(&self) -> bool {
        self.draws.len() >= MOST_DRAWS || self.indices >= MOST_INDICES
    }
}
