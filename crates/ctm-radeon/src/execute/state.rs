//! From registers to the state of a draw: functions of the registers alone. Depth, stencil and blending are in `merge`.

pub(in crate::execute) mod merge;

use super::registers::{Registers, container};
use crate::registers::{clip, colour, depth, scan, setup, spi, sq, vgt};
use crate::table::{bit, one_bit};
use ctm_draw::state::{
    ClipState, DepthOffset, DepthStep, DrawState, Fill, GeometryOutput, GeometryState, InputState, Interpolation,
    PixelInput, PixelInputs, PixelSource, Place, PositionUnit, RasterState, Rect, Rounding, SamplePattern,
    SpriteElement, StageProgram, Stipple, StreamOutput, Topology, VertexOutputs, VertexSource, Viewport,
};
use ctm_exec::r700::{Constants, LoopConstant, Semantic};
use ctm_image::r700::registers::{GsMode, PsInControl0, PsInControl1, PsInputCntl, SqConfig, VsOutCntl, VsOutConfig};
use ctm_isa::live::Channels;
use ctm_isa::r700::program::Chip;
pub use merge::write_masks;
use merge::{colour_state, depth_state};

/// A draw's operation on colours as a whole (CB_COLOR_CONTROL.SPECIAL_OP).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialOp {
    /// Draws.
    Normal,
    /// Writes no colours.
    Disable,
    /// Changes compression only; here nothing is compressed.
    Expand,
    /// Target 1 becomes the mean of the samples of target 0.
    Resolve,
}

/// How the geometry stages are used (VGT_GS_MODE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Geometry {
    /// Not at all.
    Off,
    /// The vertex program gets primitive numbers.
    Numbers,
    /// A mode that nothing is known of.
    Unknown,
    /// Vertex, geometry and copy program.
    Full,
}

/// The lists that a state points to.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// Semantic numbers of parameter exports.
    pub semantics: Vec<u8>,
    /// Registers of pixel programs.
    pub parameters: Vec<PixelInput>,
    /// Viewports.
    pub viewports: Vec<Viewport>,
    /// Registers of semantic fetches.
    pub semantic_table: Vec<Semantic>,
}

/// The used stages of a draw.
#[derive(Clone, Copy, Debug)]
pub struct Stages<'a> {
    /// The first program: of vertices.
    pub vertices: StageProgram<'a>,
    /// Geometry and copy program, with the buffers by which they read their rings.
    pub geometry: Option<(StageProgram<'a>, StageProgram<'a>, [u8; 2])>,
    /// The pixel program.
    pub pixels: Option<StageProgram<'a>>,
    /// The elements of registers whose initial values do not matter.
    pub unused: Channels,
}

/// SPECIAL_OP.
#[must_use]
pub fn special_op(registers: &Registers) -> SpecialOp {
    match registers.get(colour::CB_COLOR_CONTROL::SPECIAL_OP) {
        0 => SpecialOp::Normal,
        1 => SpecialOp::Disable,
        7 => SpecialOp::Resolve,
        _ => SpecialOp::Expand,
    }
}

/// The mode of the geometry stages.
#[must_use]
pub fn geometry(registers: &Registers) -> Geometry {
    match GsMode::decode(registers.named(container!("VGT_GS_MODE"), 0)).map_or(0, |mode| mode.mode) {
        0 => Geometry::Off,
        1 => Geometry::Numbers,
        2 => Geometry::Unknown,
        _ => Geometry::Full,
    }
}

/// The kind of primitives; `None` for kinds that are not supported.
#[must_use]
pub fn topology(registers: &Registers) -> Option<Topology> {
    Some(match registers.get(vgt::VGT_PRIMITIVE_TYPE::PRIM_TYPE) {
        1 => Topology::Points,
        2 => Topology::Lines,
        3 => Topology::LineStrip,
        4 => Topology::Triangles,
        5 => Topology::TriangleFan,
        6 => Topology::TriangleStrip,
        10 => Topology::LinesAdjacent,
        11 => Topology::LineStripAdjacent,
        12 => Topology::TrianglesAdjacent,
        13 => Topology::TriangleStripAdjacent,
        17 => Topology::Rectangles,
        18 => Topology::LineLoop,
        19 => Topology::Quads,
        20 => Topology::QuadStrip,
        21 => Topology::Polygon,
        _ => return None,
    })
}

/// Samples of a pixel: 1, 2, 4 or 8.
#[must_use]
pub const fn samples(registers: &Registers) -> u32 {
    one_bit(registers.get(scan::PA_SC_AA_CONFIG::MSAA_NUM_SAMPLES))
}

/// Sets constants, which are all 0 before, to those of a stage's set that are in registers: 0 pixel, 1 vertex, 2 geometry.
pub(super) fn set_constants(constants: &mut Constants, registers: &Registers, set: u32) {
    let booleans = registers.word(sq::SQ_BOOL_CONST_0::REGISTER, set);
    for n in 0..32u32 {
        constants.bool[n as usize] = bit(booleans, n);
        let [count, start, step] = registers.loop_constant(set, n);
        constants.loops[n as usize] =
            LoopConstant { count: count as u16, start: start as u16, step: (step as u8).cast_signed() };
    }
    let has_file = SqConfig::decode(registers.named(container!("SQ_CONFIG"), 0)).is_ok_and(|config| config.dx9_consts);
    if has_file && set < 2 {
        for (n, constant) in (0..256).zip(&mut constants.file) {
            *constant = registers.file_constant(set, n);
        }
    }
}

impl Lists {
    /// Without entries.
    pub(super) const fn none() -> Self {
        Self { semantics: Vec::new(), parameters: Vec::new(), viewports: Vec::new(), semantic_table: Vec::new() }
    }

    /// Of registers.
    #[must_use]
    pub fn of(registers: &Registers) -> Self {
        let mut lists = Self::default();
        let config = VsOutConfig::decode(registers.named(container!("SPI_VS_OUT_CONFIG"), 0));
        let exports = config.map_or(0, |config| u32::from(config.vs_export_count)) + 1;
        let exports = exports.min(32);
        let semantics =
            registers.named_row(container!("SPI_VS_OUT_ID"), exports.div_ceil(4)).flat_map(u32::to_le_bytes);
        lists.semantics.extend(semantics.take(exports as usize));
        let control = PsInControl0::decode(registers.named(container!("SPI_PS_IN_CONTROL_0"), 0)).ok();
        let flat = registers.flag(spi::SPI_INTERP_CONTROL_0::FLAT_SHADE_ENA);
        let sprites = registers.flag(spi::SPI_INTERP_CONTROL_0::PNT_SPRITE_ENA);
        let inputs = control.map_or(0, |control| u32::from(control.num_interp)).min(32);
        lists.parameters.extend(
            registers
                .named_row(container!("SPI_PS_INPUT_CNTL"), inputs)
                .map(|word| PsInputCntl::decode(word).map(|word| input(&word, flat, sprites)).unwrap_or_default()),
        );
        let numbers = VsOutCntl::decode(registers.named(container!("PA_CL_VS_OUT_CNTL"), 0));
        let several = numbers.is_ok_and(|control| control.use_vtx_viewport_indx);
        lists.viewports.extend((0..if several { 16 } else { 1 }).map(|n| viewport(registers, n)));
        let ids = (1..).zip(registers.named_row(container!("SQ_VTX_SEMANTIC"), 32).map(|word| word as u8));
        lists.semantic_table.extend(ids.filter(|(_, id)| *id != 0xff).map(|(gpr, id)| Semantic { id, gpr }));
        lists
    }
}

/// Decodes the register of an input.
fn input(word: &PsInputCntl, flat: bool, sprites: bool) -> PixelInput {
    PixelInput {
        semantic: word.semantic,
        back: None,
        default: PixelInput::DEFAULTS[usize::from(word.default_val) % 4],
        interpolation: Interpolation::of(word.flat_shade && flat, word.sel_linear),
        place: Place::of(word.sel_sample, word.sel_centroid),
        sprite: word.pt_sprite_tex && sprites,
    }
}

/// A rectangle of two words: left and top in the low and high half of the first, right and bottom of the second.
fn rectangle(first: u32, second: u32, offset: [i32; 2]) -> Rect {
    let [left, top] = scan::corner(first).map(u32::cast_signed);
    let [right, bottom] = scan::corner(second).map(u32::cast_signed);
    Rect { left: left + offset[0], top: top + offset[1], right: right + offset[0], bottom: bottom + offset[1] }
}

/// PA_SC_WINDOW_OFFSET: two signed numbers of 15 bits.
fn window_offset(registers: &Registers) -> [i32; 2] {
    [
        registers.signed(scan::PA_SC_WINDOW_OFFSET::WINDOW_X_OFFSET),
        registers.signed(scan::PA_SC_WINDOW_OFFSET::WINDOW_Y_OFFSET),
    ]
}

fn viewport(registers: &Registers, n: u32) -> Viewport {
    let vte = |bits| registers.flag(bits);
    let at = |register, enabled: bool, otherwise: f32| if enabled { registers.float(register, n) } else { otherwise };
    let offset = window_offset(registers);
    let first = registers.word(scan::PA_SC_VPORT_SCISSOR_0_TL::REGISTER, n);
    let second = registers.word(scan::PA_SC_VPORT_SCISSOR_0_BR::REGISTER, n);
    let moves = registers.nth(scan::PA_SC_VPORT_SCISSOR_0_TL::WINDOW_OFFSET_DISABLE, n) == 0;
    let has_scissor = registers.flag(scan::PA_SC_MODE_CNTL::R700_VPORT_SCISSOR_ENABLE);
    let clamps = !registers.flag(depth::DB_RENDER_OVERRIDE::DISABLE_VIEWPORT_CLAMP);
    Viewport {
        scale: [
            at(clip::PA_CL_VPORT_XSCALE_0::REGISTER, vte(clip::PA_CL_VTE_CNTL::VPORT_X_SCALE_ENA), 1.0),
            at(clip::PA_CL_VPORT_YSCALE_0::REGISTER, vte(clip::PA_CL_VTE_CNTL::VPORT_Y_SCALE_ENA), 1.0),
            at(clip::PA_CL_VPORT_ZSCALE_0::REGISTER, vte(clip::PA_CL_VTE_CNTL::VPORT_Z_SCALE_ENA), 1.0),
        ],
        offset: [
            at(clip::PA_CL_VPORT_XOFFSET_0::REGISTER, vte(clip::PA_CL_VTE_CNTL::VPORT_X_OFFSET_ENA), 0.0),
            at(clip::PA_CL_VPORT_YOFFSET_0::REGISTER, vte(clip::PA_CL_VTE_CNTL::VPORT_Y_OFFSET_ENA), 0.0),
            at(clip::PA_CL_VPORT_ZOFFSET_0::REGISTER, vte(clip::PA_CL_VTE_CNTL::VPORT_Z_OFFSET_ENA), 0.0),
        ],
        depth: if clamps {
            [
                registers.float(scan::PA_SC_VPORT_ZMIN_0::REGISTER, n),
                registers.float(scan::PA_SC_VPORT_ZMAX_0::REGISTER, n),
            ]
        } else {
            [f32::NEG_INFINITY, f32::INFINITY]
        },
        scissor: has_scissor.then(|| rectangle(first, second, if moves { offset } else { [0; 2] })),
    }
}

/// The pixels that lie in the screen, window and generic scissors.
#[must_use]
pub(crate) fn raster_scissor(r: &Registers) -> Rect {
    let window = window_offset(r);
    let scissor = |first: u32, second: u32, moves: bool| rectangle(first, second, if moves { window } else { [0; 2] });
    let screen = scissor(
        r.word(scan::PA_SC_SCREEN_SCISSOR_TL::REGISTER, 0),
        r.word(scan::PA_SC_SCREEN_SCISSOR_BR::REGISTER, 0),
        false,
    );
    let of_window = scissor(
        r.word(scan::PA_SC_WINDOW_SCISSOR_TL::REGISTER, 0),
        r.word(scan::PA_SC_WINDOW_SCISSOR_BR::REGISTER, 0),
        !r.flag(scan::PA_SC_WINDOW_SCISSOR_TL::WINDOW_OFFSET_DISABLE),
    );
    let generic = scissor(
        r.word(scan::PA_SC_GENERIC_SCISSOR_TL::REGISTER, 0),
        r.word(scan::PA_SC_GENERIC_SCISSOR_BR::REGISTER, 0),
        !r.flag(scan::PA_SC_GENERIC_SCISSOR_TL::WINDOW_OFFSET_DISABLE),
    );
    screen.and(of_window).and(generic)
}

fn raster_state(registers: &Registers) -> RasterState {
    use scan::PA_SC_MODE_CNTL as Scan;
    use setup::PA_SU_SC_MODE_CNTL as Mode;
    let r = registers;
    let offset = |enabled: crate::Bits, scale, units| {
        r.flag(enabled).then(|| DepthOffset {
            scale: r.float(scale, 0) / 16.0,
            units: r.float(units, 0),
            clamp: r.float(setup::PA_SU_POLY_OFFSET_CLAMP::REGISTER, 0),
        })
    };
    let fill = |bits| match (r.get(Mode::POLY_MODE), r.get(bits)) {
        (1, 0) => Fill::Points,
        (1, 1) => Fill::Lines,
        _ => Fill::Triangles,
    };
    let step = (r.get(setup::PA_SU_POLY_OFFSET_DB_FMT_CNTL::POLY_OFFSET_NEG_NUM_DB_BITS) as u8).cast_signed();
    let is_float = r.flag(setup::PA_SU_POLY_OFFSET_DB_FMT_CNTL::POLY_OFFSET_DB_IS_FLOAT_FMT);
    let count = samples(r);
    let places = [
        r.word(scan::PA_SC_AA_SAMPLE_LOCS_MCTX::REGISTER, 0),
        r.word(scan::PA_SC_AA_SAMPLE_LOCS_8S_WD1_MCTX::REGISTER, 0),
    ];
    let mut pattern = SamplePattern { count, at: [[0; 2]; 8] };
    if count > 1 {
        for (n, at) in pattern.at.iter_mut().enumerate().take(count as usize) {
            *at = scan::sample_place(places[n / 4], n % 4);
        }
    }
    // Sizes are halves, in 1/16 pixel.
    let size = |bits| r.get(bits) as f32 / 8.0;
    let clips = |n| {
        let first = r.word(scan::PA_SC_CLIPRECT_0_TL::REGISTER, n);
        rectangle(first, r.word(scan::PA_SC_CLIPRECT_0_BR::REGISTER, n), [0; 2])
    };
    let rule = r.get(scan::PA_SC_CLIPRECT_RULE::CLIP_RULE) as u16;
    use scan::PA_SC_LINE_STIPPLE as Line;
    RasterState {
        clockwise_is_front: r.flag(Mode::FACE),
        cull_front: r.flag(Mode::CULL_FRONT),
        cull_back: r.flag(Mode::CULL_BACK),
        fill_front: fill(Mode::POLYMODE_FRONT_PTYPE),
        fill_back: fill(Mode::POLYMODE_BACK_PTYPE),
        offset_front: offset(
            Mode::POLY_OFFSET_FRONT_ENABLE,
            setup::PA_SU_POLY_OFFSET_FRONT_SCALE::REGISTER,
            setup::PA_SU_POLY_OFFSET_FRONT_OFFSET::REGISTER,
        ),
        offset_back: offset(
            Mode::POLY_OFFSET_BACK_ENABLE,
            setup::PA_SU_POLY_OFFSET_BACK_SCALE::REGISTER,
            setup::PA_SU_POLY_OFFSET_BACK_OFFSET::REGISTER,
        ),
        offset_others: r.flag(Mode::POLY_OFFSET_PARA_ENABLE),
        depth_step: if is_float { DepthStep::Float(step) } else { DepthStep::Fixed(step) },
        last_provokes: r.flag(Mode::PROVOKING_VTX_LAST),
        no_perspective: r.flag(Mode::PERSP_CORR_DIS),
        half_pixel_centres: r.flag(setup::PA_SU_VTX_CNTL::PIX_CENTER),
        rounding: match r.get(setup::PA_SU_VTX_CNTL::ROUND_MODE) {
            0 => Rounding::Truncate,
            1 => Rounding::Nearest,
            2 => Rounding::NearestEven,
            _ => Rounding::NearestOdd,
        },
        unit: PositionUnit::Of256,
        grid: match r.get(setup::PA_SU_VTX_CNTL::QUANT_MODE) {
            n @ 0..=4 => 16 * one_bit(n) as u16,
            _ => 1,
        },
        point_size: [size(setup::PA_SU_POINT_SIZE::WIDTH), size(setup::PA_SU_POINT_SIZE::HEIGHT)],
        point_limits: [size(setup::PA_SU_POINT_MINMAX::MIN_SIZE), size(setup::PA_SU_POINT_MINMAX::MAX_SIZE)],
        line_width: size(setup::PA_SU_LINE_CNTL::WIDTH),
        rectangular_lines: r.flag(scan::PA_SC_LINE_CNTL::EXPAND_LINE_WIDTH),
        stipple: r.flag(Scan::LINE_STIPPLE_ENABLE).then(|| Stipple {
            pattern: r.get(Line::LINE_PATTERN) as u16,
            repeat: r.get(Line::REPEAT_COUNT) as u16 + 1,
            high_first: r.flag(Line::PATTERN_BIT_ORDER),
            restarts: r.get(Line::AUTO_RESET_CNTL) == 1,
        }),
        scissor: raster_scissor(r),
        clip_rectangles: (r.flag(Scan::CLIPRECT_ENABLE) && rule != 0xffff)
            .then(|| ([clips(0), clips(1), clips(2), clips(3)], rule)),
        samples: pattern,
        multisample: r.flag(Scan::MSAA_ENABLE),
        sample_mask: r.word(scan::PA_SC_AA_MASK::REGISTER, 0).to_le_bytes(),
        per_sample: r.flag(Scan::PS_ITER_SAMPLE),
    }
}

fn clip_state<'a>(registers: &Registers, viewports: &'a [Viewport]) -> ClipState<'a> {
    use clip::PA_CL_CLIP_CNTL as Clip;
    let r = registers;
    let planes = r.get(Clip::UCP_ENA);
    let plane = |n: u32| {
        [
            r.float(clip::PA_CL_UCP_0_X::REGISTER, n),
            r.float(clip::PA_CL_UCP_0_Y::REGISTER, n),
            r.float(clip::PA_CL_UCP_0_Z::REGISTER, n),
            r.float(clip::PA_CL_UCP_0_W::REGISTER, n),
        ]
    };
    let outputs = VsOutCntl::decode(r.named(container!("PA_CL_VS_OUT_CNTL"), 0)).ok();
    ClipState {
        viewports,
        disabled: r.flag(Clip::CLIP_DISABLE),
        half_z: r.flag(Clip::DX_CLIP_SPACE_DEF),
        no_near: r.flag(Clip::ZCLIP_NEAR_DISABLE),
        no_far: r.flag(Clip::ZCLIP_FAR_DISABLE),
        user_planes: std::array::from_fn(|n| bit(planes, n as u32).then(|| plane(n as u32))),
        planes_only_cull: r.flag(Clip::UCP_CULL_ONLY_ENA),
        clip_distances: outputs.as_ref().map_or(0, |control| control.clip_dist_ena),
        cull_distances: outputs.as_ref().map_or(0, |control| control.cull_dist_ena),
        guard_band: [
            r.float(clip::PA_CL_GB_HORZ_CLIP_ADJ::REGISTER, 0),
            r.float(clip::PA_CL_GB_VERT_CLIP_ADJ::REGISTER, 0),
        ],
        any_kill: r.flag(Clip::VTX_KILL_OR),
        cut_edges_are_drawn: r.flag(Clip::BOUNDARY_EDGE_FLAG_ENA),
        discard: r.flag(Clip::DX_RASTERIZATION_KILL) || r.flag(colour::SX_MISC::MULTIPASS),
        xy_divided: r.flag(clip::PA_CL_VTE_CNTL::VTX_XY_FMT),
        z_divided: r.flag(clip::PA_CL_VTE_CNTL::VTX_Z_FMT),
        w_is_reciprocal: !r.flag(clip::PA_CL_VTE_CNTL::VTX_W0_FMT),
    }
}

fn pixel_inputs<'a>(registers: &Registers, parameters: &'a [PixelInput], unused: Channels) -> PixelInputs<'a> {
    use spi::SPI_INTERP_CONTROL_0 as Interp;
    let first = PsInControl0::decode(registers.named(container!("SPI_PS_IN_CONTROL_0"), 0)).ok();
    let second = PsInControl1::decode(registers.named(container!("SPI_PS_IN_CONTROL_1"), 0)).ok();
    let element = |bits| match registers.get(bits) {
        0 => SpriteElement::Zero,
        1 => SpriteElement::One,
        2 => SpriteElement::S,
        3 => SpriteElement::T,
        _ => SpriteElement::Parameter,
    };
    PixelInputs {
        parameters,
        sprite: [
            element(Interp::PNT_SPRITE_OVRD_X),
            element(Interp::PNT_SPRITE_OVRD_Y),
            element(Interp::PNT_SPRITE_OVRD_Z),
            element(Interp::PNT_SPRITE_OVRD_W),
        ],
        sprite_top_is_one: registers.flag(Interp::PNT_SPRITE_TOP_1),
        position: first.as_ref().and_then(|c| c.position_ena.then_some(c.position_addr)),
        position_place: match first.as_ref().map(|c| (c.position_sample, c.position_centroid)) {
            Some((true, _)) => Place::Sample,
            Some((false, true)) => Place::Centroid,
            _ => Place::Centre,
        },
        face: second.as_ref().and_then(|c| c.front_face_ena.then_some((c.front_face_addr, c.front_face_chan))),
        fixed_position: second.as_ref().and_then(|c| c.fixed_pt_position_ena.then_some(c.fixed_pt_position_addr)),
        generated: first.as_ref().and_then(|c| (c.param_gen != 0).then_some((c.param_gen_addr, c.param_gen))),
        unused,
    }
}

fn vertex_outputs<'a>(registers: &Registers, semantics: &'a [u8]) -> VertexOutputs<'a> {
    let Ok(control) = VsOutCntl::decode(registers.named(container!("PA_CL_VS_OUT_CNTL"), 0)) else {
        return VertexOutputs { semantics, ..VertexOutputs::default() };
    };
    VertexOutputs {
        semantics,
        misc: control.vs_out_misc_vec_ena,
        point_size: control.use_vtx_point_size,
        edge_flag: control.use_vtx_edge_flag,
        layer: control.use_vtx_render_target_indx,
        viewport: control.use_vtx_viewport_indx,
        kill: control.use_vtx_kill_flag,
        distances_low: control.vs_out_ccdist0_vec_ena,
        distances_high: control.vs_out_ccdist1_vec_ena,
    }
}

/// The buffers of stream output that are written, and their strides; `None` while it is off.
#[must_use]
pub fn stream_output(registers: &Registers) -> Option<StreamOutput> {
    (registers.named_field(container!("VGT_STRMOUT_EN"), 0) == 1).then(|| StreamOutput {
        vertex_dwords: std::array::from_fn(|n| registers.nth(vgt::VGT_STRMOUT_VTX_STRIDE_0::STRIDE, n as u32)),
        buffers: registers.named_field(container!("VGT_STRMOUT_BUFFER_EN"), 0) as u8,
    })
}

/// The numbers of vertices and instances.
pub(super) fn input_state(r: &Registers) -> InputState {
    let restarts = r.flag(vgt::VGT_MULTI_PRIM_IB_RESET_EN::RESET_EN);
    let numbered = r.named_field(container!("VGT_PRIMITIVEID_EN"), 0) == 1;
    InputState {
        index_offset: r.word(vgt::VGT_INDX_OFFSET::REGISTER, 0).cast_signed(),
        least_index: r.word(vgt::VGT_MIN_VTX_INDX::REGISTER, 0),
        most_index: r.word(vgt::VGT_MAX_VTX_INDX::REGISTER, 0),
        restart: restarts.then(|| r.word(vgt::VGT_MULTI_PRIM_IB_RESET_INDX::REGISTER, 0)),
        step_rate_0: r.word(vgt::VGT_INSTANCE_STEP_RATE_0::REGISTER, 0),
        step_rate_1: r.word(vgt::VGT_INSTANCE_STEP_RATE_1::REGISTER, 0),
        primitive_number: numbered && geometry(r) == Geometry::Numbers,
        vertex_offset: r.word(sq::SQ_VTX_BASE_VTX_LOC::REGISTER, 0),
        instance_offset: r.word(sq::SQ_VTX_START_INST_LOC::REGISTER, 0),
    }
}

/// The state of a draw.
#[must_use]
pub fn draw_state<'a>(registers: &Registers, lists: &'a Lists, stages: &Stages<'a>) -> DrawState<'a> {
    let r = registers;
    DrawState {
        vertices: VertexSource::Program(stages.vertices),
        geometry: stages.geometry.map(|(program, copy, [input_buffer, copy_buffer])| GeometryState {
            program,
            copy,
            output: match r.named_field(container!("VGT_GS_OUT_PRIM_TYPE"), 0) {
                0 => GeometryOutput::Points,
                1 => GeometryOutput::LineStrip,
                _ => GeometryOutput::TriangleStrip,
            },
            input_vertex_dwords: r.named_field(container!("SQ_ESGS_RING_ITEMSIZE"), 0),
            invocation_dwords: r.named_field(container!("SQ_GSVS_RING_ITEMSIZE"), 0),
            vertex_dwords: r.named_field(container!("SQ_GS_VERT_ITEMSIZE"), 0),
            most_vertices: r.get(vgt::VGT_GS_MAX_VERT_OUT::MAX_VERT_OUT),
            input_buffer,
            copy_buffer,
        }),
        pixels: stages.pixels.map_or(PixelSource::Nothing, PixelSource::Program),
        ..fixed_state(registers, lists, stages.unused)
    }
}

/// The state of a draw without its programs.
pub(super) fn fixed_state<'a>(registers: &Registers, lists: &'a Lists, unused: Channels) -> DrawState<'a> {
    let r = registers;
    let nothing = VertexSource::Given { positions: &[], parameters: &[] };
    DrawState {
        chip: Chip::Rv770,
        input: input_state(r),
        stream_output: stream_output(r),
        outputs: vertex_outputs(r, &lists.semantics),
        clip: clip_state(r, &lists.viewports),
        raster: raster_state(r),
        inputs: pixel_inputs(r, &lists.parameters, unused),
        depth: depth_state(r),
        colour: colour_state(r),
        ..DrawState::new(nothing, PixelSource::Nothing)
    }
}

impl Lists {
    /// Puts the lists into a state.
    pub(super) fn put_into<'a>(&'a self, state: &mut DrawState<'a>) {
        state.outputs.semantics = &self.semantics;
        state.clip.viewports = &self.viewports;
        state.inputs.parameters = &self.parameters;
    }
}
