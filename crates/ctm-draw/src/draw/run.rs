//! A running draw: primitives in batches, their vertices and pieces. Pixels are drawn in bands of rows (`bands`).

use crate::assembly::{Assembler, Primitive, vertex_numbers};
use crate::draw::bands::Bands;
use crate::draw::ready::{Batches, Ready};
use crate::program::Runner;
use crate::rect::Rect;
use crate::setup::inspect::Inspection;
use crate::setup::piece::Piece;
use crate::setup::primitives::Cutter;
use crate::setup::seen::Seen;
use crate::state::{Counts, Draw, DrawError, DrawState, VertexSource};
use crate::vertex::Vertices;
use crate::vertex::geometry::{self, Emitted, copy_start};
use crate::vertex::streams::{self, Streams};
use crate::vertex::vertices::{self, VertexKey};
use ctm_isa::r700::program::Stage as StageKind;
use rayon::prelude::*;
use std::collections::HashMap;

/// Primitives whose vertices run together.
const PRIMITIVES: usize = 2048;
/// Primitives that a thread cuts at a time.
const CUT_TOGETHER: usize = 256;
/// A running draw: while pieces of a batch are drawn, those of the next one are made.
pub(crate) struct RunningDraw<'a, 't, P> {
    pub(crate) front: Front<'a, 't>,
    pub(crate) pixels: P,
}

/// The stages of pixels.
pub(crate) trait PixelStages: Send {
    /// Takes pieces, in order; returns the batch, for its memory, if it is not needed any more.
    fn take(&mut self, ready: Ready) -> Result<Option<Ready>, DrawError>;
}

impl PixelStages for Bands<'_, '_> {
    fn take(&mut self, ready: Ready) -> Result<Option<Ready>, DrawError> {
        self.draw(&ready).map(|()| Some(ready))
    }
}

/// Pieces wait.
impl PixelStages for Vec<Ready> {
    fn take(&mut self, ready: Ready) -> Result<Option<Ready>, DrawError> {
        self.push(ready);
        Ok(None)
    }
}

/// The stages before pixels.
pub(crate) struct Front<'a, 't> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) state: &'a DrawState<'a>,
    pub(crate) bounds: Rect,
    pub(crate) one_thread: bool,
    pub(crate) counts: Counts,
    pub(crate) streams: Streams<'t>,
    /// Batches that have been drawn.
    pub(crate) drawn: Batches,
    /// Counts where primitives end, if that is asked for.
    pub(crate) inspection: Option<Box<Inspection>>,
}

impl<'a, 't, P: PixelStages> RunningDraw<'a, 't, P> {
    pub(crate) const fn new(front: Front<'a, 't>, pixels: P) -> Self {
        Self { front, pixels }
    }

    /// Draws every instance.
    pub(crate) fn instances(&mut self, draw: &Draw<'_>) -> Result<(), DrawError> {
        let state = self.front.state;
        let mut cutter = Cutter::new(state, self.front.bounds);
        cutter.inspection = self.front.inspection.take();
        // Without a vertex no number of instances takes time.
        let instances = if vertex_numbers(draw, &state.input).next().is_some() { draw.instances } else { 0 };
        let (mut begun, mut current) = (0, None);
        // Replaces primitives by the next ones; returns whether more may follow.
        let mut fill = |primitives: &mut Vec<Primitive>, indices: &mut u64| {
            primitives.clear();
            while primitives.len() < PRIMITIVES {
                let Some((assembler, vertices)) = &mut current else {
                    if begun == instances {
                        return false;
                    }
                    let assembler = Assembler::new(draw.topology, state.raster.last_provokes, begun);
                    current = Some((assembler, vertex_numbers(draw, &state.input)));
                    begun += 1;
                    continue;
                };
                let mut is_over = true;
                for vertex in vertices {
                    *indices += 1;
                    assembler.push(vertex, primitives);
                    if primitives.len() >= PRIMITIVES {
                        is_over = false;
                        break;
                    }
                }
                if is_over {
                    assembler.finish(primitives);
                    current = None;
                }
            }
            true
        };
        let ended = if state.geometry.is_some() {
            self.geometry(&mut fill, &mut cutter)
        } else {
            self.batches(&mut fill, &mut cutter)
        };
        self.front.counts.visible = cutter.visible;
        self.front.inspection = cutter.inspection.take();
        ended
    }

    /// Draws primitives: their vertices run once each, then they are rasterised in order. While those of a batch are, vertices of the next one run.
    fn batches(&mut self, fill: &mut Fill<'_>, cutter: &mut Cutter<'_>) -> Result<(), DrawError> {
        let Self { front, pixels } = self;
        let (mut primitives, mut waiting, mut follow) = (Vec::new(), None, true);
        let one_thread = front.one_thread;
        while follow || waiting.is_some() {
            let (last, is_next): (Option<Ready>, bool) = (waiting.take(), follow);
            let overlap = last.is_some() && is_next && !one_thread;
            let draw = || last.map_or(Ok(None), |ready| pixels.take(ready));
            let mut next = || {
                follow = fill(&mut primitives, &mut front.counts.indices);
                front.next(&primitives, cutter)
            };
            // Both run even if the first fails, so that the state after a fault does not depend on the number of threads.
            let (drawn, ready) = match is_next {
                true if overlap => rayon::join(draw, next),
                true => (draw(), next()),
                false => (draw(), Ok(None)),
            };
            drawn?.into_iter().for_each(|ready| front.drawn.add(ready));
            waiting = ready?;
        }
        Ok(())
    }

    /// The same with a geometry program, which makes the primitives to be rasterised.
    fn geometry(&mut self, fill: &mut Fill<'_>, cutter: &mut Cutter<'_>) -> Result<(), DrawError> {
        let Self { front, pixels } = self;
        let (mut primitives, mut follow) = (Vec::new(), true);
        while follow {
            follow = fill(&mut primitives, &mut front.counts.indices);
            if primitives.is_empty() {
                break;
            }
            front.begin(&primitives)?;
            front.geometry(&primitives, cutter, &mut |ready| pixels.take(ready).map(|_| ()))?;
        }
        Ok(())
    }
}

/// Replaces primitives by the next ones of a draw, and counts indices; returns whether more may follow.
type Fill<'f> = dyn FnMut(&mut Vec<Primitive>, &mut u64) -> bool + Send + 'f;

impl Front<'_, '_> {
    /// Leaves the offsets of stream buffers, and the batches for the next draw; returns the counts. Stores stay, even after an error.
    pub(crate) fn end(self, offsets: [Option<&mut u32>; 4]) -> (Counts, Option<Box<Inspection>>) {
        let Self { mut counts, streams, drawn, inspection, .. } = self;
        for (buffer, offset) in streams.buffers.iter().zip(offsets) {
            if let (Some(buffer), Some(offset)) = (buffer, offset) {
                *offset = buffer.offset_dwords;
            }
        }
        counts.stream_primitives = [streams.needed, streams.stored];
        drawn.keep();
        (counts, inspection)
    }

    /// Counts primitives that are to be drawn.
    fn begin(&mut self, primitives: &[Primitive]) -> Result<(), DrawError> {
        self.runner.goes_on("vertex")?;
        self.counts.primitives += primitives.len() as u64;
        Ok(())
    }

    /// Runs the vertices of primitives, and cuts these; `None` where there are none.
    fn next(&mut self, primitives: &[Primitive], cutter: &mut Cutter<'_>) -> Result<Option<Ready>, DrawError> {
        if primitives.is_empty() {
            return Ok(None);
        }
        self.begin(primitives)?;
        self.stream_output(primitives)?;
        self.ready(primitives, cutter).map(Some)
    }

    /// Runs the geometry program for primitives; its output is streamed and passed to `tell` in order.
    fn geometry(
        &mut self,
        primitives: &[Primitive],
        cutter: &mut Cutter<'_>,
        tell: &mut dyn FnMut(Ready) -> Result<(), DrawError>,
    ) -> Result<(), DrawError> {
        let (state, runner) = (self.state, self.runner);
        let Some(geometry) = &state.geometry else { return Ok(()) };
        self.counts.invocations += primitives.len() as u64;
        for primitives in primitives.chunk_by(|a, b| a.instance == b.instance) {
            geometry::run(runner, state, geometry, primitives[0].instance, primitives, &mut |emitted| {
                self.counts.vertices += emitted.places.len() as u64;
                self.counts.emitted += emitted.primitives.len() as u64;
                tell(self.emitted(emitted, cutter)?)
            })?;
        }
        Ok(())
    }

    /// Primitives of a geometry program, stored.
    fn emitted(&mut self, emitted: Emitted, cutter: &mut Cutter<'_>) -> Result<Ready, DrawError> {
        let state = self.state;
        if let (Some(output), Some(geometry)) = (&state.stream_output, &state.geometry) {
            let start = |vertex: u32, _: &Primitive| {
                copy_start(emitted.places.get(vertex as usize).copied().unwrap_or_default())
            };
            let shown = Some((geometry.copy_buffer, emitted.ring.as_slice()));
            let source = streams::PrimitiveSource { kind: StageKind::Copy, stage: geometry.copy, start: &start, shown };
            self.streams.store(self.runner, state, output, &source, &emitted.primitives)?;
        }
        let places: Vec<Place<'_>> = emitted
            .primitives
            .iter()
            .map(|primitive| Place { primitive, slots: primitive.vertices, provoking: primitive.provoking })
            .collect();
        let vertices = emitted.vertices;
        let ready = Ready { vertices, ..Ready::default() };
        Ok(self.cut(&places, cutter, ready))
    }

    /// Stores the vertices of primitives, where the draw has stream output.
    fn stream_output(&mut self, primitives: &[Primitive]) -> Result<(), DrawError> {
        let (state, runner) = (self.state, self.runner);
        let (Some(output), VertexSource::Program(stage)) = (&state.stream_output, state.vertices) else {
            return Ok(());
        };
        for primitives in primitives.chunk_by(|a, b| a.instance == b.instance) {
            let instance = primitives[0].instance;
            let start = |index: u32, primitive: &Primitive| {
                vertices::start(&state.input, VertexKey { index, primitive: primitive.number, instance })
            };
            let source = streams::PrimitiveSource { kind: StageKind::Vertex, stage, start: &start, shown: None };
            self.streams.store(runner, state, output, &source, primitives)?;
        }
        Ok(())
    }

    /// Runs the vertices of primitives, and cuts these.
    fn ready(&mut self, primitives: &[Primitive], cutter: &mut Cutter<'_>) -> Result<Ready, DrawError> {
        let (state, runner) = (self.state, self.runner);
        let mut slots = Slots::new(primitives, state.input.primitive_number);
        let places: Vec<Place<'_>> = primitives
            .iter()
            .map(|primitive| {
                let &Primitive { number, instance, provoking, .. } = primitive;
                let of = primitive.vertices.map(|index| slots.slot(index, number, instance));
                let found = primitive.vertices.iter().position(|&index| index == provoking);
                let provoking = found.map_or_else(|| slots.slot(provoking, number, instance), |n| of[n]);
                Place { primitive, slots: of, provoking }
            })
            .collect();
        let mut ready = self.drawn.take();
        ready.vertices = vertices::run(runner, state, &slots.keys, !self.one_thread, ready.vertices)
            .map_err(|fault| DrawError::Program { stage: "vertex", fault })?;
        self.counts.vertices += slots.keys.len() as u64;
        Ok(self.cut(&places, cutter, ready))
    }

    /// Clips primitives whose vertices have run, and replaces the pieces by theirs.
    fn cut(&self, places: &[Place<'_>], cutter: &mut Cutter<'_>, ready: Ready) -> Ready {
        let Ready { mut pieces, vertices, mut seen } = ready;
        pieces.clear();
        pieces.reserve(places.len());
        cutter.see(&vertices, &mut seen);
        // One thread draws the last batch meanwhile. A stipple pattern goes on from line to line.
        let few = self.one_thread || rayon::current_num_threads() < 3 || cutter.inspection.is_some();
        if few || places.len() <= CUT_TOGETHER || self.state.raster.stipple.is_some() {
            places.iter().for_each(|place| place.cut((&vertices, &seen), cutter, &mut pieces));
            return Ready { pieces, vertices, seen };
        }
        let cut = |places: &[Place<'_>]| {
            let (mut cutter, mut pieces) = (Cutter::new(self.state, self.bounds), Vec::new());
            places.iter().for_each(|place| place.cut((&vertices, &seen), &mut cutter, &mut pieces));
            (pieces, cutter.visible)
        };
        let done: Vec<_> = places.par_chunks(CUT_TOGETHER).map(cut).collect();
        for (part, visible) in done {
            pieces.extend(part);
            cutter.visible += visible;
        }
        Ready { pieces, vertices, seen }
    }
}

/// A primitive with the places of its vertices among the shaded ones.
struct Place<'p> {
    primitive: &'p Primitive,
    slots: [u32; 3],
    provoking: u32,
}

impl Place<'_> {
    fn cut(&self, vertices: (&Vertices, &[Option<Seen>]), cutter: &mut Cutter<'_>, pieces: &mut Vec<Piece>) {
        cutter.cut(self.primitive, vertices, self.slots, self.provoking, pieces);
    }
}

/// Vertices that are to run, each once.
struct Slots {
    keys: Vec<VertexKey>,
    /// By vertex number less the least one, of the current instance: one more than the place of its key.
    dense: Vec<u32>,
    least: u32,
    /// The first key of that instance.
    instance: Option<u32>,
    first: u32,
    /// For numbers too far apart, or primitives that all have vertices of their own.
    sparse: HashMap<VertexKey, u32>,
    /// The program reads the primitive's number.
    told: bool,
}

impl Slots {
    fn new(primitives: &[Primitive], told: bool) -> Self {
        let numbers = || primitives.iter().flat_map(|p| p.vertices.into_iter().chain([p.provoking]));
        let (least, most) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
        let is_dense = !told && ((most - least) as usize) < 8 * primitives.len() + 1024;
        let dense = if is_dense { vec![0; (most - least) as usize + 1] } else { Vec::new() };
        Self { keys: Vec::new(), dense, least, instance: None, first: 0, sparse: HashMap::new(), told }
    }

    fn slot(&mut self, index: u32, number: u32, instance: u32) -> u32 {
        let key = VertexKey { index, primitive: if self.told { number } else { 0 }, instance };
        if self.dense.is_empty() {
            return *self.sparse.entry(key).or_insert_with(|| {
                self.keys.push(key);
                self.keys.len() as u32 - 1
            });
        }
        if self.instance != Some(instance) {
            // Places of earlier instances are below the first one of this.
            (self.instance, self.first) = (Some(instance), self.keys.len() as u32);
        }
        let place = &mut self.dense[(index - self.least) as usize];
        if *place <= self.first {
            self.keys.push(key);
            *place = self.keys.len() as u32;
        }
        *place - 1
    }
}
