//! Vertices: the vertex program runs once for each vertex of a primitive, many in a launch.

use crate::program::{Runner, StageMemory, ints};
use crate::state::{DrawState, InputState, StageProgram, VertexOutputs, VertexSource};
use ctm_exec::r700::{Launch, Target};
use ctm_exec::{Domain, Fault, LaneOrder, LaneRows, Position, StartRow};
use ctm_isa::r700::program::Stage as StageKind;
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Vertices of one launch.
pub(crate) const PER_LAUNCH: usize = 1024;

/// Exports of a vertex that clipping reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClipInput {
    /// The exported position.
    pub position: [f32; 4],
    /// The exported distances.
    pub distances: [f32; 8],
    /// Its kill flag is set.
    pub killed: bool,
}

/// Values of a vertex besides its position and parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Misc {
    /// Its kill flag is set.
    pub killed: bool,
    /// The exported size of points.
    pub point_size: f32,
    /// Its edge flag is 0.
    pub no_edge: bool,
    /// The layer.
    pub layer: u32,
    /// The viewport's number.
    pub viewport: u32,
}

/// Vertices that a program has run for.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    /// The exported positions.
    pub positions: Vec<[f32; 4]>,
    /// The exported distances, if the program exports any.
    pub distances: Vec<[f32; 8]>,
    /// The rest of the position exports, if there is more.
    pub misc: Vec<Misc>,
    /// Parameters: `[parameter][vertex]`, as bits.
    pub parameters: Vec<Vec<[u32; 4]>>,
}

/// A vertex that a program is to run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexKey {
    /// The vertex number.
    pub index: u32,
    /// The number of its primitive, for programs that read it.
    pub primitive: u32,
    /// Its instance.
    pub instance: u32,
}

/// Where each kind of position export lies.
struct Positions {
    misc: Option<u8>,
    distances: [Option<u8>; 2],
    /// A vertex has more than a position.
    more: bool,
}

impl Positions {
    fn of(outputs: &VertexOutputs<'_>) -> Self {
        let mut next = 1;
        let mut take = |is_there: bool| {
            let place = is_there.then_some(next);
            next += u8::from(is_there);
            place
        };
        let misc = take(outputs.misc);
        let distances = [take(outputs.distances_low), take(outputs.distances_high)];
        // Where an edge flag is read that no program exports, it is 0.
        Self { misc, distances, more: next > 1 || outputs.edge_flag }
    }
}

/// Runs the vertex program for these vertices, in order; on several threads if `parallel` is set.
///
/// `old`: vertices of another batch, whose memory they take.
///
/// # Errors
/// The fault of the first launch that did wrong.
pub(crate) fn run(
    runner: &Runner<'_>,
    state: &DrawState<'_>,
    keys: &[VertexKey],
    parallel: bool,
    old: Vertices,
) -> Result<Vertices, Fault> {
    let mut vertices = old.restarted(state.outputs.semantics.len());
    match state.vertices {
        VertexSource::Given { positions, parameters } => {
            let exported = |exports: &[&[[u32; 4]]], export: usize, index: u32| {
                exports.get(export).and_then(|all| all.get(index as usize)).copied().unwrap_or_default()
            };
            for key in keys {
                vertices.add(&state.outputs, |target| match target {
                    Target::Position(n) => exported(positions, n.into(), key.index),
                    Target::Parameter(n) => exported(parameters, n.into(), key.index),
                    Target::Pixel(_) | Target::Depth => [0; 4],
                });
            }
        }
        VertexSource::Program(stage) => {
            let one = |keys: &[VertexKey]| {
                let start = starts(&state.input, keys);
                let (kind, exports) = (StageKind::Vertex, true);
                // Streams belong to another launch; writes of this one to them are dropped.
                let stream_dwords = state.stream_output.map_or([0; 4], |streams| streams.vertex_dwords);
                let given =
                    VertexLaunch { kind, stage, start: &start, ring_dwords: 0, stream_dwords, shown: None, exports };
                run_launch(runner, state, &given).map(|memory| memory.rows)
            };
            let mut add = |rows: LaneRows<Target>| {
                vertices.add_rows(&state.outputs, &rows);
                keep(rows);
            };
            if parallel && keys.len() > PER_LAUNCH && rayon::current_num_threads() > 1 {
                let done: Vec<Result<LaneRows<Target>, Fault>> = keys.par_chunks(PER_LAUNCH).map(one).collect();
                for rows in done {
                    add(rows?);
                }
            } else {
                // Each launch takes the rows of the one before. After a fault the others run, too, as on several threads.
                let mut first_fault = None;
                for keys in keys.chunks(PER_LAUNCH) {
                    match one(keys) {
                        Ok(rows) => add(rows),
                        Err(fault) => first_fault = first_fault.or(Some(fault)),
                    }
                }
                if let Some(fault) = first_fault {
                    return Err(fault);
                }
            }
        }
    }
    Ok(vertices)
}

impl Vertices {
    /// No vertices yet, with `count` parameters.
    pub(crate) fn with_parameters(count: usize) -> Self {
        Self::default().restarted(count)
    }

    /// None again, in the same memory.
    fn restarted(mut self, count: usize) -> Self {
        self.positions.clear();
        self.distances.clear();
        self.misc.clear();
        self.parameters.resize(count.min(32), Vec::new());
        self.parameters.iter_mut().for_each(Vec::clear);
        self
    }

    /// Values of a vertex that only some programs export.
    #[must_use]
    pub fn misc(&self, vertex: u32) -> Misc {
        self.misc.get(vertex as usize).copied().unwrap_or_default()
    }

    /// The exports of a vertex that clipping reads.
    #[must_use]
    pub fn clip_input(&self, vertex: u32) -> ClipInput {
        ClipInput {
            position: self.positions.get(vertex as usize).copied().unwrap_or_default(),
            distances: self.distances.get(vertex as usize).copied().unwrap_or_default(),
            killed: self.misc(vertex).killed,
        }
    }

    /// Adds the exports of a launch's threads.
    pub(crate) fn add_rows(&mut self, outputs: &VertexOutputs<'_>, rows: &LaneRows<Target>) {
        let all = |target| rows.get(target).map(|row| [0, 1, 2, 3].map(|e: usize| row[e].bits.as_slice()));
        let count = rows.order().count();
        match all(Target::Position(0)) {
            Some(elements) => self.positions.extend(by_lane(elements).take(count).map(|at| at.map(f32::from_bits))),
            None => self.positions.extend(std::iter::repeat_n([0.0; 4], count)),
        }
        let places = Positions::of(outputs);
        if places.more {
            let positions = [0, 1, 2, 3].map(|n| all(Target::Position(n)));
            let of = |row: &Option<[&[u32]; 4]>, lane: usize| row.map(|row| row.map(|bits| bits[lane]));
            for lane in 0..count {
                let exported = |n| positions.get(usize::from(n)).and_then(|row| of(row, lane)).unwrap_or_default();
                self.other_positions(outputs, &places, exported);
            }
        }
        for (n, parameter) in (0..).zip(&mut self.parameters) {
            match all(Target::Parameter(n)) {
                Some(elements) => parameter.extend(by_lane(elements).take(count)),
                None => parameter.extend(std::iter::repeat_n([0; 4], count)),
            }
        }
    }

    /// Adds a vertex with these exports.
    fn add(&mut self, outputs: &VertexOutputs<'_>, exported: impl Fn(Target) -> [u32; 4]) {
        self.positions.push(exported(Target::Position(0)).map(f32::from_bits));
        let places = Positions::of(outputs);
        if places.more {
            self.other_positions(outputs, &places, |n| exported(Target::Position(n)));
        }
        for (n, parameter) in (0..).zip(&mut self.parameters) {
            parameter.push(exported(Target::Parameter(n)));
        }
    }

    /// Adds the position exports of a vertex after the first one.
    fn other_positions(&mut self, outputs: &VertexOutputs<'_>, places: &Positions, exported: impl Fn(u8) -> [u32; 4]) {
        let misc = places.misc.map(&exported).unwrap_or_default();
        let mut distances = [0.0; 8];
        for (part, export) in distances.chunks_exact_mut(4).zip(places.distances) {
            if let Some(export) = export {
                part.copy_from_slice(&exported(export).map(f32::from_bits));
            }
        }
        self.distances.push(distances);
        self.misc.push(Misc {
            killed: outputs.kill && misc[3] != 0,
            point_size: f32::from_bits(misc[0]),
            no_edge: outputs.edge_flag && misc[1] == 0,
            layer: if outputs.layer { misc[2] } else { 0 },
            viewport: if outputs.viewport { misc[3] } else { 0 },
        });
    }
}

/// The values of each lane, of rows of four elements.
fn by_lane<'r>([x, y, z, w]: [&'r [u32]; 4]) -> impl Iterator<Item = [u32; 4]> + 'r {
    x.iter().zip(y).zip(z.iter().zip(w)).map(|((&x, &y), (&z, &w))| [x, y, z, w])
}

/// Start values of a vertex program (R0): the vertex number, the instance by both step rates or the primitive's number, the instance.
pub(crate) fn starts(input: &InputState, keys: &[VertexKey]) -> Vec<[u32; 4]> {
    keys.iter().map(|&key| start(input, key)).collect()
}

/// Of one vertex.
pub(crate) fn start(input: &InputState, key: VertexKey) -> [u32; 4] {
    let stepped = |rate: u32| key.instance.checked_div(rate).unwrap_or(0);
    let z = if input.primitive_number { key.primitive } else { stepped(input.step_rate_1) };
    [key.index, stepped(input.step_rate_0), z, key.instance]
}

/// The inputs of one launch of a vertex, export or copy program.
pub(crate) struct VertexLaunch<'a> {
    pub(crate) kind: StageKind,
    pub(crate) stage: StageProgram<'a>,
    /// R0 of each thread.
    pub(crate) start: &'a [[u32; 4]],
    /// Dwords of a thread in the ring that is written; 0: none is.
    pub(crate) ring_dwords: u32,
    /// Dwords of a thread in each stream.
    pub(crate) stream_dwords: [u32; 4],
    /// A ring that is read.
    pub(crate) shown: Option<(u8, &'a [u8])>,
    /// Whether exports are used.
    pub(crate) exports: bool,
}

/// Rows of launches that are over.
static KEPT: Mutex<Vec<LaneRows<Target>>> = Mutex::new(Vec::new());

/// The most rows that are kept: the launches of a batch of primitives without common vertices.
const MOST_KEPT: usize = 24;

/// Keeps the rows of a launch for another one.
fn keep(rows: LaneRows<Target>) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() < MOST_KEPT {
        kept.push(rows);
    }
}

/// Rows for these exports of a launch.
fn rows_of(order: LaneOrder, targets: &[Target]) -> LaneRows<Target> {
    let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner).pop();
    match kept() {
        Some(mut rows) if rows.targets() == targets => {
            rows.restart(order);
            rows
        }
        _ => LaneRows::new(order, targets),
    }
}

/// Runs a launch; returns its memory with the exports.
pub(crate) fn run_launch<'a>(
    runner: &Runner<'_>,
    state: &DrawState<'_>,
    given: &VertexLaunch<'a>,
) -> Result<StageMemory<'a, 'static>, Fault> {
    let columns: [Vec<u32>; 4] = std::array::from_fn(|e| given.start.iter().map(|value| value[e]).collect());
    let rows: Vec<StartRow<'_>> =
        (0..).zip(&columns).map(|(element, bits)| StartRow { register: 0, element, bits }).collect();
    let domain = Domain { i0: 0, j0: 0, i1: ints(given.start.len()).saturating_sub(1), j1: 0 };
    let positions = 1 + u8::from(state.outputs.misc) + u8::from(state.outputs.distances_low);
    let positions = (positions + u8::from(state.outputs.distances_high)).min(4);
    let parameters = state.outputs.semantics.len().min(32) as u8;
    let targets: Vec<Target> = (0..positions)
        .map(Target::Position)
        .chain((0..parameters).map(Target::Parameter))
        .filter(|_| given.exports)
        .collect();
    let threads = given.start.len();
    let mut memory = StageMemory::new(given.stage.memory, rows_of(LaneOrder::rows(domain), &targets));
    memory.ring = (given.ring_dwords > 0).then(|| vec![0; threads * given.ring_dwords as usize]);
    memory.streams = given.stream_dwords.map(|dwords| threads as u64 * u64::from(dwords));
    memory.shown = given.shown;
    let launch = Launch {
        stage: given.kind,
        chip: state.chip,
        fetch_program: given.stage.fetch_program,
        semantics: given.stage.semantics,
        vertex_offset: state.input.vertex_offset,
        instance_offset: state.input.instance_offset,
        ring_item_dwords: given.ring_dwords,
        stream_item_dwords: given.stream_dwords,
        rows: &rows,
        ..Launch::new(given.stage.program, given.stage.constants, domain)
    };
    let name = match given.kind {
        StageKind::Copy => "copy",
        _ => "vertex",
    };
    // A lane is the vertex that its R0 names.
    let place = |at: Position| {
        given.start.get(at.i as usize).map_or(at, |&[index, _, _, instance]| Position { i: index, j: instance })
    };
    runner.r700(name, launch, &mut memory, (&place, &|_| true))?;
    Ok(memory)
}
