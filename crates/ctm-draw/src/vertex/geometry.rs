//! Geometry programs: vertices through a ring to the program, its own through a second ring to the copy program, strips to primitives.

use crate::assembly::{Assembler, Primitive};
use crate::program::{Runner, ints};
use crate::state::{DrawError, DrawState, GeometryOutput, GeometryState, Topology, VertexSource};
use crate::vertex::vertices::{PER_LAUNCH, VertexKey, VertexLaunch, Vertices, run_launch, starts};
use ctm_exec::r700::{Launch, VertexEvent};
use ctm_exec::{Domain, LaneOrder, LaneRows, Position, StartRow};
use ctm_isa::r700::program::Stage as StageKind;

/// Primitives of one launch of the geometry program.
const PRIMITIVES: usize = 256;

/// The output of a batch of primitives: vertices, and primitives whose vertex numbers are places among these.
pub(crate) struct Emitted {
    pub(crate) vertices: Vertices,
    pub(crate) primitives: Vec<Primitive>,
    /// The bytes of the second ring, and the offset of each vertex in it, in dwords.
    pub(crate) ring: Vec<u8>,
    pub(crate) places: Vec<u32>,
}

fn fault(stage: &'static str) -> impl Fn(ctm_exec::Fault) -> DrawError {
    move |fault| DrawError::Program { stage, fault }
}

/// Bytes of dwords.
fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

/// Runs the chain for these primitives, batch by batch; `take` gets the output of each.
pub(crate) fn run(
    runner: &Runner<'_>,
    state: &DrawState<'_>,
    geometry: &GeometryState<'_>,
    instance: u32,
    primitives: &[Primitive],
    take: &mut dyn FnMut(Emitted) -> Result<(), DrawError>,
) -> Result<(), DrawError> {
    let VertexSource::Program(export) = state.vertices else {
        let reason = "a geometry program is given, and vertices are not those of a program".to_owned();
        return Err(DrawError::State { field: "vertices", reason });
    };
    for primitives in primitives.chunks(PRIMITIVES) {
        // The vertices of all of them, each once, in the first ring.
        let mut keys: Vec<VertexKey> = Vec::new();
        let mut known = std::collections::HashMap::new();
        let mut slot = |index: u32| {
            *known.entry(index).or_insert_with(|| {
                keys.push(VertexKey { index, primitive: 0, instance });
                ints(keys.len()) - 1
            })
        };
        let slots: Vec<[u32; 6]> = primitives.iter().map(|p| p.inputs.map(&mut slot)).collect();
        let mut first_ring = Vec::new();
        for keys in keys.chunks(PER_LAUNCH) {
            let given = VertexLaunch {
                kind: StageKind::Export,
                stage: export,
                start: &starts(&state.input, keys),
                ring_dwords: geometry.input_vertex_dwords,
                stream_dwords: [0; 4],
                shown: None,
                exports: false,
            };
            let memory = run_launch(runner, state, &given).map_err(fault("vertex"))?;
            first_ring.extend(memory.ring.unwrap_or_default());
        }
        let first_ring = bytes(&first_ring);
        let (ring, events) = geometry_launch(runner, state, geometry, primitives, &slots, &first_ring)?;
        let emitted = strips(runner, state, geometry, (&events, instance), ring)?;
        take(emitted)?;
    }
    Ok(())
}

/// The vertex events of each invocation, in order: its number and the event.
type Events = Vec<(u32, VertexEvent)>;

/// Runs the geometry program once for each primitive; returns the second ring and the vertex events.
fn geometry_launch(
    runner: &Runner<'_>,
    state: &DrawState<'_>,
    geometry: &GeometryState<'_>,
    primitives: &[Primitive],
    slots: &[[u32; 6]],
    first_ring: &[u8],
) -> Result<(Vec<u8>, Events), DrawError> {
    let place = |slot: u32| slot.wrapping_mul(geometry.input_vertex_dwords);
    // R0: offsets of vertices 0 and 1, the primitive's number, the offset of vertex 2. R1: offsets of vertices 3 to 5, the invocation's number.
    let column = |n: usize| -> Vec<u32> { slots.iter().map(|slots| place(slots[n])).collect() };
    let numbers: Vec<u32> = primitives.iter().map(|primitive| primitive.number).collect();
    let none = vec![0; primitives.len()];
    let columns = [column(0), column(1), numbers.clone(), column(2), column(3), column(4), column(5), none];
    let rows: Vec<StartRow<'_>> =
        (0u8..).zip(&columns).map(|(n, bits)| StartRow { register: n / 4, element: n % 4, bits }).collect();
    let domain = Domain { i0: 0, j0: 0, i1: ints(primitives.len()).saturating_sub(1), j1: 0 };
    let stage = geometry.program;
    let mut memory = crate::program::StageMemory::new(stage.memory, LaneRows::new(LaneOrder::rows(domain), &[]));
    memory.ring = Some(vec![0; primitives.len() * geometry.invocation_dwords as usize]);
    memory.shown = Some((geometry.input_buffer, first_ring));
    let launch = Launch {
        stage: StageKind::Geometry,
        chip: state.chip,
        ring_item_dwords: geometry.invocation_dwords,
        rows: &rows,
        ..Launch::new(stage.program, stage.constants, domain)
    };
    // A lane is the primitive of its number.
    let place = |at: Position| Position { i: numbers.get(at.i as usize).copied().unwrap_or(at.i), j: at.j };
    runner.r700("geometry", launch, &mut memory, (&place, &|_| true)).map_err(fault("geometry"))?;
    let mut events: Events = memory.events.iter().map(|&(at, event)| (at.i, event)).collect();
    // Those of one invocation are in order; strips follow one another in the order of primitives.
    events.sort_by_key(|event| event.0);
    Ok((bytes(&memory.ring.unwrap_or_default()), events))
}

/// Primitives of the emitted vertices, and these as the copy program exports them.
fn strips(
    runner: &Runner<'_>,
    state: &DrawState<'_>,
    geometry: &GeometryState<'_>,
    (events, instance): (&Events, u32),
    ring: Vec<u8>,
) -> Result<Emitted, DrawError> {
    let topology = match geometry.output {
        GeometryOutput::Points => Topology::Points,
        GeometryOutput::LineStrip => Topology::LineStrip,
        GeometryOutput::TriangleStrip => Topology::TriangleStrip,
    };
    let mut assembler = Assembler::new(topology, state.raster.last_provokes, instance);
    let (mut primitives, mut places) = (Vec::new(), Vec::new());
    let (mut invocation, mut vertex) = (None, 0);
    for &(number, event) in events {
        if invocation != Some(number) {
            // The end of an invocation ends its strip.
            assembler.push(None, &mut primitives);
            (invocation, vertex) = (Some(number), 0);
        }
        if event != VertexEvent::Cut && vertex < geometry.most_vertices {
            assembler.push(Some(ints(places.len())), &mut primitives);
            let item = u64::from(number) * u64::from(geometry.invocation_dwords);
            let place = item + u64::from(vertex) * u64::from(geometry.vertex_dwords);
            places.push(u32::try_from(place).unwrap_or(u32::MAX));
            vertex += 1;
        }
        if event != VertexEvent::Emit {
            assembler.push(None, &mut primitives);
        }
    }
    assembler.finish(&mut primitives);
    let mut vertices = Vertices::with_parameters(state.outputs.semantics.len());
    for places in places.chunks(PER_LAUNCH) {
        let start: Vec<[u32; 4]> = places.iter().map(|&place| copy_start(place)).collect();
        let given = VertexLaunch {
            kind: StageKind::Copy,
            stage: geometry.copy,
            start: &start,
            ring_dwords: 0,
            // Streams belong to another launch; writes of this one to them are dropped.
            stream_dwords: state.stream_output.map_or([0; 4], |streams| streams.vertex_dwords),
            shown: Some((geometry.copy_buffer, &ring)),
            exports: true,
        };
        let memory = run_launch(runner, state, &given).map_err(fault("copy"))?;
        vertices.add_rows(&state.outputs, &memory.rows);
    }
    Ok(Emitted { vertices, primitives, ring, places })
}

/// R0 of the copy program for a vertex at a place of the second ring: bits 29:0 the place, 31:30 the stream, which is 0.
pub(crate) const fn copy_start(place: u32) -> [u32; 4] {
    [place & 0x3fff_ffff, 0, 0, 0]
}
