//! When the pixels of draws wait for those of others, and when they are drawn.

use super::device::{Device, Problem};
use super::draws::{Lent, Part};
use super::memory::{GpuMemory, Rest};
use super::queue::{DrawQueue, PixelProgram, QueuedDraw};
use super::resources::Bound;
use super::set::Set;
use super::state::{self, Lists, SpecialOp};
use super::surfaces::overlap;
use super::targets::Bindings;
use crate::Error;
use ctm_draw::state::DrawState;
use ctm_draw::{PreparedDraw, draw_prepared};
use ctm_exec::r700::Constants;

/// Most bytes of constants and buffers that are copied for a draw.
const MOST_COPIED: u64 = 1 << 16;

impl DrawQueue {
    /// Whether a draw with these targets and programs can be added.
    pub(super) fn takes(&self, bindings: &Bindings, parts: &[Part]) -> bool {
        let mut read = parts.iter().flat_map(|part| &part.ranges);
        self.bindings == *bindings && !self.is_full() && !read.any(|&range| self.writes(range))
    }
}

impl Device {
    /// Whether the pixels of a small draw may wait: there are threads for them, nothing depends on where the draw ends, and it reads none of its targets.
    pub(super) fn may_be_queued(&self, bindings: &Bindings, parts: &[Part]) -> bool {
        let targets = bindings.ranges();
        let is_read = |range: (u64, u64)| targets.iter().any(|&target| overlap(target, range));
        let pixels = parts.iter().filter(|part| part.set == Set::Pixel);
        let copied: u64 = pixels.clone().map(|part| part.copied_bytes(&self.registers)).sum();
        !self.options.one_thread
            && PreparedDraw::has_threads()
            && !self.is_observed()
            && !targets.is_empty()
            && state::special_op(&self.registers) == SpecialOp::Normal
            && state::stream_output(&self.registers).is_none()
            && copied <= MOST_COPIED
            && pixels.clone().all(|part| part.fetch.is_none())
            && !parts.iter().flat_map(|part| &part.ranges).any(|&range| is_read(range))
    }

    /// Adds a draw to the queue; its pixel program gets copies of all that it reads.
    pub(super) fn queue_draw(
        &mut self,
        memory: &dyn GpuMemory,
        bindings: Bindings,
        (mut parts, mut constants, lists): (Vec<Part>, Vec<Constants>, Lists),
        (place, prepared): ((usize, u32), PreparedDraw),
    ) -> Result<(), Error> {
        static NO_LISTS: Lists = Lists::none();
        let unused = parts.last().map(|part| part.loaded.unused).unwrap_or_default();
        let state: DrawState<'static> = state::fixed_state(&self.registers, &NO_LISTS, unused);
        let mut pixels = None;
        if let (Some(part), Some(constants)) = (parts.pop().filter(|part| part.set == Set::Pixel), constants.pop()) {
            let bound = Bound::new(&self.registers, part.set, &part.wanted, memory, &part.textures)?.into_owned();
            pixels = Some(PixelProgram { loaded: part.loaded, constants, bound });
        }
        let is_counted = self.counters.pipeline_on;
        let queue = self.queue.get_or_insert_with(|| DrawQueue::new(bindings));
        queue.push(QueuedDraw { place, pixels, lists, state, prepared, is_counted });
        Ok(())
    }

    /// Makes a range of memory up to date that is about to be read, but for targets outside of memory.
    pub(super) fn finish_range(&mut self, memory: &mut dyn GpuMemory, range: (u64, u64)) {
        if self.queue.as_ref().is_some_and(|queue| queue.writes(range)) {
            self.draw_queued(memory);
        }
        self.surfaces.store_clears(memory, range);
    }

    /// Draws the pixels of the draws that wait.
    pub(super) fn draw_queued(&mut self, memory: &mut dyn GpuMemory) {
        let Some(queue) = self.queue.take() else { return };
        let DrawQueue { bindings, ranges, draws, .. } = &queue;
        let states: Vec<DrawState<'_>> = draws.iter().map(QueuedDraw::state).collect();
        let all: Vec<_> = states.iter().zip(draws).map(|(state, draw)| (state, &draw.prepared)).collect();
        let run = |device: &mut Self, lent: Lent<'_>, _: &Rest<'_>, ()| {
            let (mut targets, _) = lent.targets(bindings);
            draw_prepared(device.engine.as_ref(), &all, &mut targets, &device.draw_options())
        };
        let done = match self.lend_targets(memory, (bindings, ranges), (), run) {
            Ok(done) => done.map_err(|error| Error::new("draw", error.to_string())),
            Err(()) => Err(Error::new("outside-memory", "a target lies outside its buffer")),
        };
        let mut done = done.map(Vec::into_iter);
        for draw in draws {
            let result = match &mut done {
                Ok(done) => done.next().map(|result| result.map_err(|error| Error::new("draw", error.to_string()))),
                Err(error) => Some(Err(error.clone())),
            };
            match result {
                Some(Ok(counts)) => {
                    let now = std::mem::replace(&mut self.counters.pipeline_on, draw.is_counted);
                    self.count(counts);
                    self.counters.pipeline_on = now;
                }
                Some(Err(error)) => {
                    let (dword, draw) = draw.place;
                    self.problems.push(Problem { dword, draw: Some(draw), error });
                }
                None => {}
            }
        }
        drop(states);
        PreparedDraw::keep_memory(queue.draws.into_iter().map(|draw| draw.prepared));
    }
}
