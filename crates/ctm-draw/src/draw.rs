//! A draw from its indices to its targets.

use crate::assembly::{Assembler, Primitive, vertex_numbers};
use crate::geometry::{self, Emitted, copy_start};
use crate::merge::Merger;
use crate::primitives::{Rasteriser, Sink};
use crate::raster::{QuadCoverage, Rect};
use crate::setup::Setup;
use crate::shade::{PER_LAUNCH, ShadeQuad, Shader};
use crate::state::{Draw, DrawState, PixelSource, VertexSource};
use crate::streams::{self, Streams};
use crate::targets::{TargetError, Targets};
use crate::vertices::{self, VertexKey, Vertices};
use ctm_exec::r700::Target;
use ctm_exec::{Engine, Fault, LaneRows};
use ctm_isa::r700::program::Stage as StageKind;
use rayon::prelude::*;
use std::collections::HashMap;

/// Primitives whose vertices run together.
const PRIMITIVES: usize = 8192;
/// Quads that wait for the pixel program. What is held for them bounds the memory of a draw.
const QUADS: usize = 16384;

/// How a draw is run. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Programs run on one thread, instead of on all cores.
    pub one_thread: bool,
}

/// What a draw did, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Indices, of all instances.
    pub indices: u64,
    /// Primitives that were assembled; a quad or polygon counts as its triangles.
    pub primitives: u64,
    /// Invocations of the geometry program.
    pub invocations: u64,
    /// Primitives that stream output was to store, and those that it stored.
    pub stream_primitives: [u64; 2],
    /// Primitives that clipping left something of.
    pub visible: u64,
    /// Vertices that the vertex program ran for; with a geometry program, those that it emitted.
    pub vertices: u64,
    /// Quads that the pixel program ran for.
    pub quads: u64,
    /// Covered pixels among them.
    pub pixels: u64,
    /// Samples that passed all tests.
    pub samples_passed: u64,
    /// Pixels of which something was stored in colour targets.
    pub pixels_written: u64,
}

impl Counts {
    /// Adds another draw.
    pub const fn add(&mut self, other: &Self) {
        self.indices += other.indices;
        self.primitives += other.primitives;
        self.invocations += other.invocations;
        self.stream_primitives[0] += other.stream_primitives[0];
        self.stream_primitives[1] += other.stream_primitives[1];
        self.visible += other.visible;
        self.vertices += other.vertices;
        self.quads += other.quads;
        self.pixels += other.pixels;
        self.samples_passed += other.samples_passed;
        self.pixels_written += other.pixels_written;
    }
}

/// Why a draw did not come to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawError {
    /// A target that cannot be drawn to.
    Target {
        /// Which.
        target: String,
        /// Why.
        error: TargetError,
    },
    /// A field of the state has a value that it cannot have.
    State {
        /// Which field.
        field: &'static str,
        /// What it is and what is allowed; lower case, no full stop.
        reason: String,
    },
    /// A program did wrong. What came before it has been drawn.
    Program {
        /// `vertex`, `geometry`, `copy`, `stream output` or `pixel`.
        stage: &'static str,
        /// What it did.
        fault: Fault,
    },
}

impl std::fmt::Display for DrawError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Target { target, error } => write!(f, "{target} cannot be drawn to: {error}"),
            Self::State { field, reason } => write!(f, "`{field}` {reason}"),
            Self::Program { stage, fault } => write!(f, "the {stage} program: {fault}"),
        }
    }
}

impl std::error::Error for DrawError {}

/// Draws.
///
/// # Errors
/// Targets that cannot be drawn to, state that cannot be, faults of programs.
pub fn draw(
    engine: &dyn Engine,
    state: &DrawState<'_>,
    draw: &Draw<'_>,
    targets: &mut Targets<'_>,
    options: Options,
) -> Result<Counts, DrawError> {
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
    let shader = match state.pixels {
        PixelSource::Nothing => None,
        PixelSource::Program(stage) => {
            let outputs = wanted(state, &open.colour.each_ref().map(Option::is_some));
            Some(Shader { engine, state, stage, targets: outputs })
        }
    };
    let merger = Merger::new(state, open);
    let mut run = Run { state, shader, merger, options, counts: Counts::default(), streams };
    let mut rasteriser = Rasteriser::new(state, bounds);
    let ended = run.instances(engine, draw, &mut rasteriser);
    // What has been stored stays, whatever happened then.
    for (buffer, offset) in run.streams.buffers.iter().zip(offsets) {
        if let (Some(buffer), Some(offset)) = (buffer, offset) {
            *offset = buffer.offset_dwords;
        }
    }
    ended?;
    run.counts.visible = rasteriser.visible;
    run.counts.samples_passed = run.merger.samples_passed;
    run.counts.pixels_written = run.merger.pixels_written;
    run.counts.stream_primitives = [run.streams.needed, run.streams.stored];
    Ok(run.counts)
}

/// Finds values that fields cannot have.
fn check(state: &DrawState<'_>) -> Result<(), DrawError> {
    let wrong = |field, reason: String| Err(DrawError::State { field, reason });
    let raster = &state.raster;
    if !matches!(raster.samples.count, 1 | 2 | 4 | 8) {
        return wrong("raster.samples.count", format!("is {}, allowed is 1, 2, 4 or 8", raster.samples.count));
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
    if state.inputs.parameters.len() > 32 {
        return wrong("inputs.parameters", format!("has {}, allowed are 32", state.inputs.parameters.len()));
    }
    Ok(())
}

/// The exports of the pixel program that somebody looks at.
fn wanted(state: &DrawState<'_>, bound: &[bool; 8]) -> Vec<Target> {
    let colour = &state.colour;
    let first = colour.multiwrite || colour.alpha_test.is_some() || colour.alpha_to_coverage.is_some();
    // A second source is the second output.
    let second = colour.targets.iter().any(|target| target.blend.is_some());
    let is_wanted = |n: u8| match n {
        0 if first => true,
        1 if second => true,
        n => bound[usize::from(n)] && !colour.multiwrite,
    };
    let depth = state.depth.export_depth || state.depth.export_stencil || state.depth.export_mask;
    let pixels = (0..8).filter(|&n| is_wanted(n)).map(Target::Pixel);
    pixels.chain(depth.then_some(Target::Depth)).collect()
}

/// A draw under way.
struct Run<'a, 't> {
    state: &'a DrawState<'a>,
    shader: Option<Shader<'a>>,
    merger: Merger<'a, 't>,
    options: Options,
    counts: Counts,
    streams: Streams<'t>,
}

impl Run<'_, '_> {
    /// Draws every instance.
    fn instances(
        &mut self,
        engine: &dyn Engine,
        draw: &Draw<'_>,
        rasteriser: &mut Rasteriser<'_>,
    ) -> Result<(), DrawError> {
        let mut primitives = Vec::new();
        // Without a vertex no number of instances takes time.
        let instances = if vertex_numbers(draw, &self.state.input).next().is_some() { draw.instances } else { 0 };
        for instance in 0..instances {
            let mut assembler = Assembler::new(draw.topology, self.state.raster.last_provokes);
            for vertex in vertex_numbers(draw, &self.state.input) {
                self.counts.indices += 1;
                assembler.push(vertex, &mut primitives);
                if primitives.len() >= PRIMITIVES {
                    self.primitives(engine, instance, &primitives, rasteriser)?;
                    primitives.clear();
                }
            }
            assembler.finish(&mut primitives);
            self.primitives(engine, instance, &primitives, rasteriser)?;
            primitives.clear();
        }
        Ok(())
    }

    /// Primitives of a geometry program: stored, and rasterised in order.
    fn emitted(
        &mut self,
        engine: &dyn Engine,
        emitted: &Emitted,
        rasteriser: &mut Rasteriser<'_>,
    ) -> Result<(), DrawError> {
        let state = self.state;
        if let (Some(output), Some(geometry)) = (&state.stream_output, &state.geometry) {
            let start = |vertex: u32, _: &Primitive| {
                copy_start(emitted.places.get(vertex as usize).copied().unwrap_or_default())
            };
            let shown = Some((geometry.copy_buffer, emitted.ring.as_slice()));
            let source = streams::Source { kind: StageKind::Copy, stage: geometry.copy, start: &start, shown };
            self.streams.store(engine, state, output, &source, &emitted.primitives)?;
        }
        let mut batch = Batch { run: self, vertices: &emitted.vertices, setups: Vec::new(), quads: Vec::new() };
        for primitive in &emitted.primitives {
            rasteriser.draw(primitive, &emitted.vertices, primitive.vertices, primitive.provoking, &mut batch)?;
        }
        batch.flush()
    }

    /// Draws these primitives: their vertices run once each, then they are rasterised in order.
    fn primitives(
        &mut self,
        engine: &dyn Engine,
        instance: u32,
        primitives: &[Primitive],
        rasteriser: &mut Rasteriser<'_>,
    ) -> Result<(), DrawError> {
        if primitives.is_empty() {
            return Ok(());
        }
        self.counts.primitives += primitives.len() as u64;
        let state = self.state;
        if let Some(geometry) = &state.geometry {
            self.counts.invocations += primitives.len() as u64;
            return geometry::run(engine, state, geometry, instance, primitives, &mut |emitted| {
                self.counts.vertices += emitted.places.len() as u64;
                self.emitted(engine, &emitted, rasteriser)
            });
        }
        let told = state.input.primitive_number;
        if let (Some(output), VertexSource::Program(stage)) = (&state.stream_output, state.vertices) {
            let start = |index: u32, primitive: &Primitive| {
                let key = VertexKey { index, primitive: primitive.number };
                vertices::start(&state.input, instance, key)
            };
            let source = streams::Source { kind: StageKind::Vertex, stage, start: &start, shown: None };
            self.streams.store(engine, state, output, &source, primitives)?;
        }
        let mut keys: Vec<VertexKey> = Vec::new();
        let mut slots: HashMap<VertexKey, u32> = HashMap::new();
        let mut slot = |index: u32, number: u32| {
            let key = VertexKey { index, primitive: if told { number } else { 0 } };
            *slots.entry(key).or_insert_with(|| {
                keys.push(key);
                keys.len() as u32 - 1
            })
        };
        let places: Vec<([u32; 3], u32)> = primitives
            .iter()
            .map(|p| (p.vertices.map(|index| slot(index, p.number)), slot(p.provoking, p.number)))
            .collect();
        let vertices = vertices::run(engine, self.state, instance, &keys, !self.options.one_thread)
            .map_err(|fault| DrawError::Program { stage: "vertex", fault })?;
        self.counts.vertices += keys.len() as u64;
        let mut batch = Batch { run: self, vertices: &vertices, setups: Vec::new(), quads: Vec::new() };
        for (primitive, (slots, provoking)) in primitives.iter().zip(places) {
            rasteriser.draw(primitive, &vertices, slots, provoking, &mut batch)?;
        }
        batch.flush()
    }
}

/// Quads that wait for the pixel program.
struct Batch<'r, 'a, 't> {
    run: &'r mut Run<'a, 't>,
    vertices: &'r Vertices,
    setups: Vec<Setup>,
    quads: Vec<ShadeQuad>,
}

impl Sink for Batch<'_, '_, '_> {
    type Error = DrawError;

    fn begin(&mut self, setup: Setup) -> Result<(), DrawError> {
        if self.setups.len() >= QUADS {
            self.flush()?;
        }
        self.setups.push(setup);
        Ok(())
    }

    fn quad(&mut self, quad: QuadCoverage) -> Result<(), DrawError> {
        if self.quads.len() >= QUADS {
            // The primitive goes on.
            let setup = self.setups.last().cloned();
            self.flush()?;
            self.setups.extend(setup);
        }
        let setup = self.setups.len() - 1;
        let raster = &self.run.state.raster;
        if raster.per_sample && raster.samples.count > 1 {
            for sample in 0..raster.samples.count as u8 {
                let masks = quad.masks.map(|mask| mask & 1 << sample);
                self.add(ShadeQuad { setup: setup as u32, quad: QuadCoverage { masks, ..quad }, sample: Some(sample) });
            }
        } else {
            self.add(ShadeQuad { setup: setup as u32, quad, sample: None });
        }
        Ok(())
    }
}

impl Batch<'_, '_, '_> {
    fn add(&mut self, mut quad: ShadeQuad) {
        if self.run.merger.early {
            self.run.merger.test_early(&self.setups[quad.setup as usize], &mut quad);
        }
        if quad.quad.masks != [0; 4] {
            self.quads.push(quad);
        }
    }

    /// Runs the pixel program for all quads, then merges them in order.
    fn flush(&mut self) -> Result<(), DrawError> {
        let (quads, setups) = (std::mem::take(&mut self.quads), std::mem::take(&mut self.setups));
        let covered = quads.iter().flat_map(|quad| quad.quad.masks).filter(|&mask| mask != 0).count();
        let Some(shader) = &self.run.shader else {
            self.run.merger.merge(&quads, &setups, None);
            return Ok(());
        };
        self.run.counts.quads += quads.len() as u64;
        self.run.counts.pixels += covered as u64;
        let one = |quads: &[ShadeQuad]| shader.run(quads, &setups, self.vertices);
        let done: Vec<Result<LaneRows<Target>, Fault>> = if self.run.options.one_thread || quads.len() <= PER_LAUNCH {
            quads.chunks(PER_LAUNCH).map(one).collect()
        } else {
            quads.par_chunks(PER_LAUNCH).map(one).collect()
        };
        for (quads, rows) in quads.chunks(PER_LAUNCH).zip(done) {
            let rows = rows.map_err(|fault| DrawError::Program { stage: "pixel", fault })?;
            self.run.merger.merge(quads, &setups, Some(&rows));
        }
        Ok(())
    }
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
    let result = (|| {
        let mut open = one.open(samples, false).map_err(|(target, error)| DrawError::Target { target, error })?;
        let bounds = open.bounds.and(within);
        let Some(target) = &mut open.colour[number] else { return Ok(()) };
        let bits = target.colours.pack(rgba, false);
        for_each_sample(bounds, layers, samples, |x, y, layer, sample| {
            if let Some(place) = target.place(x, y, layer, sample) {
                target.store(place, bits);
            }
        });
        Ok(())
    })();
    targets.colour[number] = one.colour[number].take();
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
    let mut one = Targets { depth: targets.depth.take(), ..Targets::default() };
    let result = (|| {
        let mut open = one.open(samples, false).map_err(|(target, error)| DrawError::Target { target, error })?;
        let bounds = open.bounds.and(within);
        let Some(target) = &mut open.depth else { return Ok(()) };
        let depth = target.format.quantised(depth.into());
        for_each_sample(bounds, layers, samples, |x, y, layer, sample| {
            if let Some(place) = target.place(x, y, layer, sample) {
                target.store(place, target.format.pack(0, depth, stencil));
            }
        });
        Ok(())
    })();
    targets.depth = one.depth.take();
    result
}

fn for_each_sample(bounds: Rect, layers: u32, samples: u32, mut visit: impl FnMut(i32, i32, u32, u32)) {
    for layer in 0..=layers {
        for y in bounds.top..bounds.bottom {
            for x in bounds.left..bounds.right {
                (0..samples).for_each(|sample| visit(x, y, layer, sample));
            }
        }
    }
}
