//! When draws wait for others with the same targets, and when they are drawn.

use super::device::{Device, Problem};
use super::draws::{DrawVertices, Lent, Part};
use super::memory::{GpuMemory, Rest};
use super::outline::Numbers;
use super::queue::{DrawQueue, QueuedDraw, QueuedProgram};
use super::resources::{Bound, PlacedResources};
use super::set::Set;
use super::state::{self, Lists, SpecialOp};
use super::surfaces::overlap;
use super::targets::Bindings;
use crate::Error;
use ctm_draw::state::DrawState;
use ctm_draw::{Counts, DrawError, draw_together, has_threads};
use ctm_exec::r700::Constants;

impl DrawQueue {
    /// Whether a draw with these targets and programs can be added.
    pub(super) fn takes(&self, bindings: &Bindings, parts: &[Part]) -> bool {
        let mut read = parts.iter().flat_map(|part| &part.ranges);
        self.bindings == *bindings && !self.is_full() && !read.any(|&range| self.writes(range))
    }
}

impl Device {
    /// Whether a small draw may wait for others. Needs several threads and targets that memory can lend; the draw must not read them, and nothing may depend on where it ends.
    pub(super) fn may_be_queued(&self, memory: &mut dyn GpuMemory, bindings: &Bindings, parts: &[Part]) -> bool {
        if self.options.one_thread || !has_threads() || self.is_observed() {
            return false;
        }
        let targets = bindings.ranges();
        let is_apart = |n: usize| targets[..n].iter().all(|&other| !overlap(targets[n], other));
        let is_read = |range: (u64, u64)| targets.iter().any(|&target| overlap(target, range));
        !targets.is_empty()
            && (0..targets.len()).all(is_apart)
            && targets.iter().all(|target| memory.bytes(target.0, target.1).is_some())
            && state::special_op(&self.registers) == SpecialOp::Normal
            && state::stream_output(&self.registers).is_none()
            && !parts.iter().flat_map(|part| &part.ranges).any(|&range| is_read(range))
            && (self.queue.is_some() || memory.buffers_mut().is_some())
    }

    /// Adds a draw to the queue. `state`: without lists and programs.
    pub(super) fn queue_draw(
        &mut self,
        (vertices, numbers, instances): (&DrawVertices<'_>, Numbers, u32),
        bindings: Bindings,
        (parts, constants, lists): (Vec<Part>, Vec<Constants>, Lists),
        state: DrawState<'static>,
    ) -> Result<(), Error> {
        let Some(topology) = state::topology(&self.registers) else { return Ok(()) };
        let program = |(part, constants): (Part, Constants)| {
            let Part { loaded, fetch, set, wanted, textures, .. } = part;
            let resources = PlacedResources::of(&self.registers, set, &wanted, &textures)?;
            Ok(QueuedProgram { loaded, fetch, constants, resources, is_pixel: set == Set::Pixel })
        };
        let programs = parts.into_iter().zip(constants).map(program).collect::<Result<_, Error>>()?;
        let (place, items) = match vertices {
            DrawVertices::Call(_) => (self.place, Vec::new()),
            DrawVertices::Joined(joined) => (joined.first, joined.items.clone()),
        };
        let (count, is_counted) = (vertices.count(), self.counters.pipeline_on);
        let queue = self.queue.get_or_insert_with(|| DrawQueue::new(bindings));
        queue.push(QueuedDraw {
            place,
            programs,
            lists,
            state,
            items,
            topology,
            numbers,
            count,
            instances,
            is_counted,
        });
        Ok(())
    }

    /// Makes a range of memory up to date that is about to be read, but for targets outside of memory.
    pub(super) fn finish_range(&mut self, memory: &mut dyn GpuMemory, range: (u64, u64)) {
        if self.queue.as_ref().is_some_and(|queue| queue.writes(range)) {
            self.draw_queued(memory);
        }
        self.surfaces.store_clears(memory, range);
    }

    /// Draws the draws that wait.
    pub(super) fn draw_queued(&mut self, memory: &mut dyn GpuMemory) {
        let Some(DrawQueue { bindings, ranges, draws, .. }) = self.queue.take() else { return };
        let run = |device: &mut Self, lent: Lent<'_>, rest: &Rest<'_>, ()| {
            let bound: Vec<Vec<Bound<'_>>> = draws.iter().map(|draw| draw.bound(rest)).collect();
            let calls: Vec<_> = draws.iter().zip(&bound).map(|(draw, bound)| draw.call(bound)).collect();
            let (mut targets, _) = lent.targets(&bindings);
            draw_together(
                device.engine.as_ref(),
                &calls,
                &mut targets,
                &device.draw_options(u32::try_from(calls.len()).unwrap_or(u32::MAX)),
            )
        };
        if draws.len() > 1 {
            self.counters.queued += draws.len() as u64;
        }
        let of_draw = |error: DrawError| Error::new("draw", error.to_string());
        let done = match self.lend_targets(memory, (&bindings, &ranges), (), run) {
            Ok(done) => done.map_err(of_draw),
            Err(()) => Err(Error::new("outside-memory", "a target lies outside its buffer")),
        };
        let mut done = done.map(Vec::into_iter);
        for QueuedDraw { place: (dword, draw), is_counted, .. } in draws {
            let result = match &mut done {
                Ok(done) => done.next().unwrap_or_else(|| Ok(Counts::default())).map_err(of_draw),
                Err(error) => Err(error.clone()),
            };
            match result {
                Ok(counts) => {
                    let now = std::mem::replace(&mut self.counters.pipeline_on, is_counted);
                    self.count(counts);
                    self.counters.pipeline_on = now;
                }
                Err(error) => self.problems.push(Problem { dword, draw: Some(draw), error }),
            }
        }
    }
}
