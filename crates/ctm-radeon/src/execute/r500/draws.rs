//! A draw of an R500: vertices, inputs of the pixel program, targets.

use super::super::device::{Device, DrawOptions, Placed};
use super::super::memory::{GpuMemory, borrow};
use super::super::registers::Registers;
use super::inputs::{
    DepthSource, FogSource, POINTS_TO_ONE, ProgramInput, SOURCES, colour_value, components, inputs, of_back_faces,
    stuffed_fog, unsupported,
};
use super::state::{
    GRID, Transform, clip_state, clips_nothing, colour_state, depth_state, depth_steps, fog, raster_state,
};
use super::targets::{Colour, TARGETS, TargetSurface, cells, colour, depth, outside, resolved};
use super::textures::Textures;
use super::units::{UnitState, VertexInput, topology};
use super::vertices::{MOST_VERTICES, PER_LAUNCH, ShadedVertex};
use crate::Error;
use crate::packets::words::{IndexSize, R500Primitive, VertexFetch, Walk};
use crate::registers::clip;
use crate::registers::colour::r500 as rb;
use crate::registers::depth::r500 as zb;
use crate::registers::setup::r500 as ga;
use crate::registers::spi::r500 as rs;
use crate::registers::sq::r500 as us;
use crate::registers::vgt::r500 as vap;
use crate::table::{Bits, bits_at, halfwords, little_endian, one_bit};
use ctm_draw::state::{
    DepthState, Draw, DrawState, Fill, Indices, Interpolation, PixelInput, PixelInputs, PixelSource, RasterState,
    Topology, VertexOutputs, VertexSource, X1kStage,
};
use ctm_draw::{ColourTarget, Counts, DepthTarget, Drawn, Options, Targets};
use ctm_exec::Instant;
use ctm_exec::x1k::Constants;
use ctm_isa::x1k::Program;
use ctm_isa::x1k::program::Lookups;
use std::collections::HashMap;

/// The inputs of a draw's pixels.
struct DrawInputs {
    /// Registers, with their sources.
    all: Vec<(u32, ProgramInput)>,
    /// The register of the fog unit's distance.
    distance: Option<u8>,
    /// The register of a depth that neither the pixel program nor z gives.
    depth: Option<u8>,
}

/// Vertices as the drawing stages take them.
#[derive(Default)]
struct Vertices {
    positions: Vec<[u32; 4]>,
    /// By input of the pixel program, then those of back faces.
    parameters: Vec<Vec<[u32; 4]>>,
    /// The vertices of the primitives, where they are not all of them one after the other.
    order: Option<Vec<u32>>,
}

/// The vertices that an order of numbers names, each once, and the order of these.
fn distinct(numbers: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut all, mut known) = (Vec::new(), HashMap::new());
    let order = numbers.iter().map(|&number| {
        *known.entry(number).or_insert_with(|| {
            all.push(number);
            all.len() as u32 - 1
        })
    });
    let order = order.collect();
    (all, order)
}

/// The corners of a point: column and row, 0 or 1, in the order of a quad.
const CORNERS: [[usize; 2]; 4] = [[0, 0], [1, 0], [1, 1], [0, 1]];

impl Device {
    /// The vertices of a draw and, of points, the rectangles that they are.
    fn vertices(
        &self,
        outputs: &[ShadedVertex],
        inputs: &[(u32, ProgramInput)],
        transform: &Transform,
        (points, bypasses): (bool, bool),
    ) -> Vertices {
        let r = &self.registers;
        let components = components(r, points);
        let backs = of_back_faces(r, inputs);
        let parameters = vec![Vec::new(); inputs.len() + backs.len()];
        let mut all = Vertices { parameters, ..Vertices::default() };
        // Points that may be clipped stay in clip space.
        let (clips, centres) = (!clips_nothing(r, bypasses), point_planes(r, &self.r500));
        let stuffed: Vec<bool> = SOURCES
            .iter()
            .map(|bits| points && r.flag(ga::GB_ENABLE::POINT_STUFF_ENABLE) && r.get(*bits) != 0)
            .collect();
        let corner_s = [ga::GA_POINT_S0::REGISTER, ga::GA_POINT_S1::REGISTER].map(|row| r.word(row, 0));
        // T1 belongs to the smallest row.
        let corner_t = [ga::GA_POINT_T1::REGISTER, ga::GA_POINT_T0::REGISTER].map(|row| r.word(row, 0));
        let fogged = stuffed_fog(r).zip(FogSource::of(r).ok());
        for vertex in outputs {
            let corners: &[[usize; 2]] = if points { &CORNERS } else { &CORNERS[..1] };
            let half = if points { self.half_size(vertex) } else { [0.0; 2] };
            let position = vertex.position.map(f32::from_bits);
            if points && clips && centres.iter().flatten().any(|plane| is_behind(*plane, position)) {
                continue;
            }
            for &[column, row] in corners {
                let by = [[-half[0], half[0]][column], [-half[1], half[1]][row]];
                all.positions.push(match points {
                    false => vertex.position,
                    true if clips => transform.moved(position, by).map(f32::to_bits),
                    true => {
                        let [x, y, z, w] = transform.window(position);
                        [x + by[0], y + by[1], z, w].map(f32::to_bits)
                    }
                });
                let each = inputs.iter().map(|(_, input)| input).chain(backs.iter().map(|(_, input)| input));
                for (input, to) in each.zip(&mut all.parameters) {
                    to.push(match *input {
                        ProgramInput::Texture(pointers) => {
                            pointers.map(|pointer| match components.get(pointer as usize) {
                                Some(&place) if fogged.is_some_and(|(at, _)| at == place) => {
                                    fogged.map_or(0, |(_, source)| self.distance(source, vertex, transform))
                                }
                                Some(&(set, component)) if stuffed[set] => match component {
                                    0 => corner_s[column],
                                    1 => corner_t[row],
                                    _ => 0,
                                },
                                Some(&(set, component)) => vertex.textures[set][component],
                                None if pointer == POINTS_TO_ONE => 1f32.to_bits(),
                                None => 0,
                            })
                        }
                        ProgramInput::Colour { colour, format } => {
                            let value = vertex.colours.get(colour as usize).copied().unwrap_or_default();
                            colour_value(r, value, format)
                        }
                        ProgramInput::Face { is_back } => [if is_back { 1f32.to_bits() } else { 0 }, 0, 0, 0],
                        ProgramInput::PixelNumber => [0; 4],
                        ProgramInput::Distance(source) => [self.distance(source, vertex, transform), 0, 0, 0],
                        ProgramInput::Depth(source) => {
                            [self.depth(source, vertex, (transform, &components)).to_bits(), 0, 0, 0]
                        }
                    });
                }
            }
        }
        all
    }

    /// The distance of the fog unit at a vertex. UNVERIFIED: scale and offset belong to every source.
    fn distance(&self, source: FogSource, vertex: &ShadedVertex, transform: &Transform) -> u32 {
        let position = vertex.position.map(f32::from_bits);
        let value = match source {
            FogSource::Alpha(colour) => f32::from_bits(vertex.colours[colour % 4][3]),
            FogSource::W => transform.w(position),
            FogSource::Z => transform.window(position)[2],
        };
        let [scale, offset] =
            [ga::GA_FOG_SCALE::REGISTER, ga::GA_FOG_OFFSET::REGISTER].map(|row| self.registers.float(row, 0));
        (value * scale + offset).to_bits()
    }

    /// A depth at a vertex. The interpolator has w after the components of texture coordinates; UNVERIFIED: a W_ADDR before their end names one of them.
    fn depth(
        &self,
        source: DepthSource,
        vertex: &ShadedVertex,
        (transform, components): (&Transform, &[(usize, usize)]),
    ) -> f32 {
        let w = transform.w(vertex.position.map(f32::from_bits));
        match source {
            DepthSource::Zero => 0.0,
            DepthSource::W => match components.get(self.registers.get(rs::RS_COUNT::W_ADDR) as usize) {
                Some(&(set, component)) => f32::from_bits(vertex.textures[set][component]),
                None => w,
            },
            DepthSource::ScaledW => {
                let [scale, offset] = depth_steps(&self.registers);
                w * scale + offset
            }
        }
    }

    /// The inputs of the pixel program, and those of fixed functions in registers that it does not use.
    fn inputs(&self) -> Result<DrawInputs, Error> {
        let r = &self.registers;
        let mut inputs = DrawInputs { all: inputs(r)?, distance: None, depth: None };
        let needs_distance = r.flag(rb::FG_FOG_BLEND::ENABLE);
        let depth = DepthSource::of(r);
        if !needs_distance && depth.is_none() {
            return Ok(inputs);
        }
        let used = u32::from(self.r500.program(r)?.usage().highest_temp);
        let mut next = inputs.all.iter().map(|(register, _)| *register).chain([used]).max().unwrap_or(0);
        let mut add = |input: ProgramInput| {
            next += 1;
            if next as usize >= ctm_isa::x1k::TEMPORARIES {
                return unsupported("fog or a depth of w, with a pixel program that uses all registers");
            }
            inputs.all.push((next, input));
            Ok(Some(next as u8))
        };
        if needs_distance {
            inputs.distance = add(ProgramInput::Distance(FogSource::of(r)?))?;
        }
        if let Some(source) = depth {
            inputs.depth = add(ProgramInput::Depth(source))?;
        }
        Ok(inputs)
    }

    /// Half of the width and height of a point, in pixels.
    fn half_size(&self, vertex: &ShadedVertex) -> [f32; 2] {
        let r = &self.registers;
        let of = |bits: Bits| r.get(bits) as f32 / GRID;
        match vertex.point_size {
            Some(size) => {
                let [least, most] = [ga::GA_POINT_MINMAX::MIN_SIZE, ga::GA_POINT_MINMAX::MAX_SIZE].map(of);
                [(f32::from_bits(size) / 2.0).max(least).min(most); 2]
            }
            None => [of(ga::GA_POINT_SIZE::WIDTH), of(ga::GA_POINT_SIZE::HEIGHT)],
        }
    }

    /// Where the vertices of a draw come from.
    fn source(
        &self,
        placed: &Placed<'_>,
        initiator: VertexFetch,
        payload: &[u32],
        memory: &dyn GpuMemory,
    ) -> Result<VertexInput, Error> {
        let is_wide = initiator.index_size() == Some(IndexSize::Bits32);
        let indices = |words: &[u32]| {
            if is_wide { words.to_vec() } else { words.iter().flat_map(|&word| halfwords(word)).collect() }
        };
        Ok(match initiator.prim_walk() {
            Some(Walk::Embedded) => VertexInput::Embedded(payload.to_vec()),
            Some(Walk::VertexList) => VertexInput::List,
            Some(Walk::Indices) if !payload.is_empty() => VertexInput::Indices(indices(payload)),
            Some(Walk::Indices) => {
                let Some((address, dwords)) = placed.indices else {
                    return unsupported("a draw with indices has none in its packet, and no INDX_BUFFER follows it");
                };
                let bytes = memory.bytes(address, 4 * u64::from(dwords)).ok_or_else(|| {
                    let message = format!("{dwords} dwords of indices at {address:#x} lie outside their buffer");
                    Error::new("outside-memory", message)
                })?;
                let words: Vec<u32> = bytes.chunks_exact(4).map(|four| little_endian(four) as u32).collect();
                VertexInput::Indices(indices(&words))
            }
            Some(Walk::State) | None => return unsupported("vertices come from registers (PRIM_WALK 0)"),
        })
    }

    /// Draws.
    pub(super) fn draw_r500(
        &mut self,
        placed: &Placed<'_>,
        memory: &mut dyn GpuMemory,
        initiator: VertexFetch,
        payload: &[u32],
    ) -> Result<(), Error> {
        self.r500.last = initiator;
        self.set(vap::VAP_VF_CNTL::REGISTER.offset, initiator.0);
        self.counters.last = Counts::default();
        let Some(primitive) = initiator.prim_type() else {
            return unsupported(format!("primitives of type {}", initiator.get(VertexFetch::PRIM_TYPE)));
        };
        if primitive == R500Primitive::None || self.registers.flag(vap::VAP_CNTL::VAP_NO_RENDER) {
            return Ok(());
        }
        let Some(topology) = topology(primitive) else {
            return unsupported("triangles with words of flags are not drawn");
        };
        let count = self.vertex_count(initiator);
        let bypasses = self.registers.flag(vap::VAP_CNTL_STATUS::PVS_BYPASS);
        let source = self.source(placed, initiator, payload, memory)?;
        let numbers = self.vertex_numbers(&source, count);
        let (numbers, order) = match source {
            VertexInput::Indices(_) => distinct(&numbers),
            VertexInput::Embedded(_) | VertexInput::List => (numbers, Vec::new()),
        };
        if numbers.len() > MOST_VERTICES {
            return unsupported(format!("a draw of {} vertices, at most {MOST_VERTICES} are drawn", numbers.len()));
        }
        let mut outputs = Vec::with_capacity(numbers.len());
        // The time of a draw is that of all launches of its vertices.
        let until = self.draw_budget(1).time.and_then(|limit| Instant::now().checked_add(limit));
        let control = until.map_or_else(|| self.options.control.clone(), |until| self.options.control.until(until));
        for numbers in numbers.chunks(PER_LAUNCH) {
            let vectors = self.fetch(memory, &source, numbers)?;
            outputs.extend(if bypasses { self.bypassed(&vectors) } else { self.shaded(&vectors, numbers, &control)? });
        }
        let points = topology == Topology::Points;
        let order = matches!(source, VertexInput::Indices(_)).then_some(order);
        // A point has corners of its own each time.
        let outputs = match &order {
            Some(order) if points => order.iter().map(|&n| outputs[n as usize]).collect(),
            _ => outputs,
        };
        let transform = Transform::of(&self.registers);
        let inputs = self.inputs()?;
        let mut vertices = self.vertices(&outputs, &inputs.all, &transform, (points, bypasses));
        vertices.order = order.filter(|_| !points);
        let topology = if points { Topology::Quads } else { topology };
        let stages = (&transform, points, bypasses);
        let drawn = self.draw_vertices(memory, topology, &vertices, &inputs, stages, None)?;
        if self.registers.flag(zb::ZB_BW_CNTL::ZB_CB_CLEAR)
            && let Some(cells) = Cells::of(&self.registers)
        {
            self.draw_vertices(memory, topology, &vertices, &inputs, stages, Some(&cells))?;
        }
        self.counters.drawn += 1;
        self.counters.last = drawn.counts;
        self.r500.passed = self.r500.passed.wrapping_add(drawn.counts.samples_passed as u32);
        (self.notes, self.fragments) = (drawn.notes, drawn.fragments);
        (self.funnel, self.outlines) = (drawn.funnel, drawn.outlines);
        Ok(())
    }

    fn draw_vertices(
        &mut self,
        memory: &mut dyn GpuMemory,
        topology: Topology,
        vertices: &Vertices,
        DrawInputs { all: inputs, distance, depth: start_depth }: &DrawInputs,
        (transform, points, bypasses): (&Transform, bool, bool),
        cells: Option<&Cells>,
    ) -> Result<Drawn, Error> {
        let (program, constants) = match cells {
            Some(cells) => (cells.program.clone(), cells.constants.clone()),
            None => (self.r500.program(&self.registers)?, self.r500.constants(&self.registers)),
        };
        let units = program.usage().inputs;
        let textures = Textures::of(&self.registers, memory, &mut self.r500.textures, units.iter().copied())?;
        let program = Program { lookups: Lookups::Textures { cubes: textures.cubes() }, ..program };
        let (mut targets, mut bound_depth) = (Vec::new(), None);
        if let Some(cells) = cells {
            targets.push((0, cells.target));
        } else {
            for n in 0..TARGETS {
                if let Some(target) = colour(&self.registers, n)? {
                    targets.push((n, target));
                }
            }
            bound_depth = depth(&self.registers)?;
            if let Some(to) = targets.first().and_then(|(_, from)| resolved(&self.registers, from)) {
                targets.truncate(1);
                targets.push((1, to));
                bound_depth = None;
            }
        }
        let depth = bound_depth;
        // Every input is a parameter of its own number; those of back faces follow.
        let backs = of_back_faces(&self.registers, inputs);
        let semantics: Vec<u8> = (1..).take(inputs.len() + backs.len()).collect();
        let registers = inputs.iter().map(|(register, _)| register + 1).max().unwrap_or(0);
        let mut parameters = vec![PixelInput::default(); registers as usize];
        for (n, ((register, input), &semantic)) in inputs.iter().zip(&semantics).enumerate() {
            let interpolation = match input {
                ProgramInput::Colour { colour, .. } if self.registers.get(SHADINGS[*colour as usize % 4]) != FLAT => {
                    Interpolation::Perspective
                }
                ProgramInput::Colour { .. } | ProgramInput::Face { .. } => Interpolation::Flat,
                ProgramInput::Texture(_) | ProgramInput::Depth(_) => Interpolation::Perspective,
                ProgramInput::Distance(FogSource::Z) => Interpolation::Linear,
                ProgramInput::Distance(_) => Interpolation::Perspective,
                ProgramInput::PixelNumber => Interpolation::PixelNumber,
            };
            let back = backs.iter().position(|(of, _)| *of == n).map(|back| semantics[inputs.len() + back]);
            parameters[*register as usize] = PixelInput { semantic, back, interpolation, ..PixelInput::default() };
        }
        let lists: Vec<&[[u32; 4]]> = vertices.parameters.iter().map(Vec::as_slice).collect();
        let viewports = [transform.viewport];
        let positions = [vertices.positions.as_slice()];
        let mut state = DrawState::new(
            VertexSource::Given { positions: &positions, parameters: &lists },
            PixelSource::X1k(X1kStage { program: &program, constants: &constants, memory: &textures }),
        );
        state.outputs = VertexOutputs { semantics: &semantics, ..VertexOutputs::default() };
        state.inputs = PixelInputs { parameters: &parameters, ..PixelInputs::default() };
        let planes = self.r500.user_planes(&self.registers);
        state.clip = clip_state(&self.registers, transform, &viewports, planes, bypasses);
        state.raster = raster_state(&self.registers);
        if points {
            if state.clip.disabled {
                // Corners of points are positions in the window.
                state.clip.viewports = &[];
                (state.clip.xy_divided, state.clip.z_divided) = (true, true);
            }
            match self.registers.get(clip::r500::VAP_CLIP_CNTL::PS_UCP_MODE) {
                CULL_CENTRE => state.clip.user_planes = [None; 6],
                CULL_RADIUS => state.clip.planes_only_cull = true,
                _ => {}
            }
            // Points are front faces, neither culled nor moved. Their corners go clockwise.
            state.raster = RasterState {
                clockwise_is_front: true,
                cull_front: false,
                cull_back: false,
                fill_front: Fill::Triangles,
                offset_front: None,
                ..state.raster
            };
        }
        if cells.is_none() {
            state.depth = DepthState {
                kill: X1kStage::kills(&program),
                export_start: *start_depth,
                ..depth_state(&self.registers)
            };
            state.colour = colour_state(&self.registers, &targets);
            state.colour.fog = distance.map(|register| fog(&self.registers, register));
        }
        let call = Draw {
            topology,
            indices: vertices.order.as_deref().map_or(Indices::Counted, Indices::U32),
            count: vertices.order.as_ref().map_or(vertices.positions.len(), Vec::len) as u32,
            instances: 1,
        };
        let DrawOptions { one_thread, ref control, checks, watch, funnel, ref notice, .. } = self.options;
        let budget = self.draw_budget(1);
        let (control, notice) = (control.clone(), notice.clone());
        let options = Options { one_thread, budget, control, checks, watch, funnel, notice };
        // Draws to these bytes: of the colour targets, then of the depth target.
        let run = |mut bytes: Vec<&mut [u8]>| {
            let count = targets.len();
            // A moved depth target is drawn to apart: its last row may end with its memory.
            let mut apart = Vec::new();
            if let (Some((surface, _)), Some(bytes)) = (&depth, bytes.get(count))
                && surface.first != [0; 2]
            {
                apart.extend_from_slice(bytes.get(surface.first_byte()..).unwrap_or_default());
                apart.resize(surface.reached().slice_bytes() as usize, 0);
            }
            let mut bound = Targets::default();
            let mut each = bytes.iter_mut().map(|bytes| &mut **bytes);
            for (n, Colour { surface, format, .. }) in &targets {
                bound.colour[*n as usize % 8] = each.next().map(|bytes| ColourTarget {
                    bytes,
                    layout: surface.layout,
                    format: *format,
                    size: surface.size,
                    slices: [0; 2],
                });
            }
            if let Some((surface, format)) = &depth {
                bound.depth = each.next().map(|bytes| DepthTarget {
                    bytes: if apart.is_empty() { bytes } else { &mut apart },
                    layout: surface.reached(),
                    format: *format,
                    size: surface.size,
                    slices: [0; 2],
                });
            }
            let drawn = ctm_draw::draw_watched(self.engine.as_ref(), &state, &call, &mut bound, &options);
            if let (Some((surface, _)), Some(bytes)) = (&depth, bytes.get_mut(count)) {
                let moved = bytes.get_mut(surface.first_byte()..).unwrap_or_default();
                moved.iter_mut().zip(&apart).for_each(|(to, from)| *to = *from);
            }
            drawn
        };
        let surfaces = targets.iter().map(|(_, target)| target.surface).chain(depth.map(|(surface, _)| surface));
        let surfaces: Vec<TargetSurface> = surfaces.collect();
        if let Some(surface) = surfaces.iter().find(|of| memory.bytes(of.address, of.bytes()).is_none()) {
            return Err(outside(surface));
        }
        let ranges: Vec<(u64, u64)> = surfaces.iter().map(|of| (of.address, of.bytes())).collect();
        // In place where memory can be borrowed so.
        let borrowed = borrow(memory, &ranges).map(|(bytes, _)| run(bytes));
        let drawn = borrowed.unwrap_or_else(|| {
            let copy = |&(address, length): &(u64, u64)| memory.bytes(address, length).unwrap_or_default().to_vec();
            let mut copies: Vec<Vec<u8>> = ranges.iter().map(copy).collect();
            let drawn = run(copies.iter_mut().map(Vec::as_mut_slice).collect());
            // Stores before an error stay.
            for ((address, length), bytes) in ranges.iter().zip(copies) {
                if let Some(to) = memory.bytes_mut(*address, *length) {
                    to.copy_from_slice(&bytes);
                }
            }
            drawn
        });
        drawn.map_err(|error| Error::new("draw", error.to_string()))
    }
}

/// Numbers of PS_UCP_MODE.
const CULL_CENTRE: u32 = 0;
const CULL_RADIUS: u32 = 1;

/// The user planes that drop a point by its centre.
fn point_planes(registers: &Registers, state: &UnitState) -> [Option<[f32; 4]>; 6] {
    match registers.get(clip::r500::VAP_CLIP_CNTL::PS_UCP_MODE) {
        CULL_CENTRE => state.user_planes(registers),
        _ => [None; 6],
    }
}

/// Whether a position lies on the far side of a plane.
fn is_behind(plane: [f32; 4], position: [f32; 4]) -> bool {
    let distance: f64 = plane.iter().zip(position).map(|(&a, b)| f64::from(a) * f64::from(b)).sum();
    distance < 0.0 || distance.is_nan()
}

/// The number of flat shading.
const FLAT: u32 = 1;

/// The shading of colours.
const SHADINGS: [Bits; 4] = [
    ga::GA_COLOR_CONTROL::RGB0_SHADING,
    ga::GA_COLOR_CONTROL::RGB1_SHADING,
    ga::GA_COLOR_CONTROL::RGB2_SHADING,
    ga::GA_COLOR_CONTROL::RGB3_SHADING,
];

/// The cells of a depth target that a clear of a colour target fills: every covered pixel stores ZB_DEPTHCLEARVALUE, whatever the tests say. They are drawn
/// as a colour target.
struct Cells {
    target: Colour,
    program: Program,
    constants: Constants,
}

/// The program that stores constant 0.
const STORES_CONSTANT: &str = ".output o = o0\n.const k = c0\n mov o, k\n end\n";

impl Cells {
    fn of(registers: &Registers) -> Option<Self> {
        let program = ctm_isa::x1k::text::assemble(STORES_CONSTANT).program?;
        let target = cells(registers)?;
        let value = registers.word(zb::ZB_DEPTHCLEARVALUE::REGISTER, 0);
        let mut constants = Constants::default();
        constants.float[0] = if target.surface.layout.element_bytes == 4 {
            value.to_le_bytes().map(|byte| (f32::from(byte) / 255.0).to_bits())
        } else {
            [(bits_at(value, 0, 16) as f32 / 65535.0).to_bits(), 0, 0, 0]
        };
        Some(Self { target, program, constants })
    }
}

impl UnitState {
    /// The pixel program.
    pub(super) fn program(&self, registers: &Registers) -> Result<Program, Error> {
        let r = registers;
        let begin = r.get(us::US_CODE_OFFSET::OFFSET_ADDR) as usize;
        let [first, last] = [us::US_CODE_ADDR::START_ADDR, us::US_CODE_ADDR::END_ADDR].map(|bits| r.get(bits));
        let Some(words) = self.us.get(begin..=begin + last as usize) else {
            return unsupported(format!(
                "the pixel program ends at instruction {}, there are 512",
                begin + last as usize
            ));
        };
        Ok(Program {
            first: first as u16,
            last: last as u16,
            full_flow_control: r.flag(us::US_FC_CTRL::FULL_FC_EN),
            conditional_value: r.flag(zb::FG_DEPTH_SRC::DEPTH_SRC),
            zero_times_anything: r.flag(us::US_CONFIG::ZERO_TIMES_ANYTHING_EQUALS_ZERO),
            preloads: Vec::new(),
            ..Program::from_words(words.to_vec())
        })
    }

    /// The constants of pixel programs.
    pub(super) fn constants(&self, registers: &Registers) -> Constants {
        let booleans = registers.word(us::US_FC_BOOL_CONST::REGISTER, 0);
        let mut constants = Constants::default();
        constants.float.iter_mut().zip(&self.us_constants).for_each(|(to, from)| *to = *from);
        for (n, to) in (0u32..).zip(&mut constants.int) {
            *to = registers.word(us::US_FC_INT_CONST_0::REGISTER, n).to_le_bytes();
        }
        for (n, to) in (0u32..).zip(&mut constants.bool) {
            *to = booleans & one_bit(n) != 0;
        }
        constants
    }
}
