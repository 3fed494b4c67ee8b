//! From registers of an R500 to the state of a draw.

use super::super::registers::Registers;
use super::super::state::merge::{compare, stencil_op};
use super::targets::{BY_NAME, Colour, constant};
use crate::registers::colour::r500 as rb;
use crate::registers::depth::r500 as zb;
use crate::registers::scan::r500 as sc;
use crate::registers::setup::r500 as ga;
use crate::registers::{clip, vgt};
use crate::table::{Bits, Register, bits_at};
use ctm_draw::state::{
    AlphaSteps, AlphaTest, Blend, BlendEquation, ClipState, ColourState, ColourTargetState, Combine, Compare,
    DepthOffset, DepthState, DepthStep, Factor, Fill, Fog, FogCurve, LogicOp, PositionUnit, RasterState, Rect,
    Rounding, SamplePattern, StencilFace, Stipple, Viewport,
};

/// The largest depth as an integer: SU_DEPTH_SCALE of depths from 0 to 1.
pub(super) const UNSCALED: f32 = 16_777_215.0;

/// Sub-pixels of a pixel.
pub(super) const GRID: f32 = 12.0;

/// SU_DEPTH_SCALE and SU_DEPTH_OFFSET, which make integers of 24 bits of depths, as a factor and an addend of depths from 0 to 1.
pub(super) fn depth_steps(registers: &Registers) -> [f32; 2] {
    let most = f64::from(UNSCALED);
    [ga::SU_DEPTH_SCALE::REGISTER, ga::SU_DEPTH_OFFSET::REGISTER]
        .map(|row| (f64::from(registers.float(row, 0)) / most) as f32)
}

/// The viewport transform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transform {
    pub(super) viewport: Viewport,
    /// x and y are already divided by w.
    pub(super) xy_divided: bool,
    /// z is already divided by w.
    pub(super) z_divided: bool,
    /// The fourth component is 1/w.
    pub(super) w_is_reciprocal: bool,
}

impl Transform {
    pub(super) fn of(registers: &Registers) -> Self {
        use clip::r500 as vap;
        use vap::VAP_VTE_CNTL as Vte;
        let r = registers;
        let step = |bits: Bits, row: &Register, off: f32| if r.flag(bits) { r.float(row, 0) } else { off };
        let moved = |axis: usize| {
            let offset = r.word(ga::GA_OFFSET::REGISTER, 0);
            let both = [ga::GA_OFFSET::X_OFFSET, ga::GA_OFFSET::Y_OFFSET];
            crate::table::signed(both[axis].field.extract(offset), 16) as f32 / GRID
        };
        let [scale, offset] = depth_steps(r);
        let viewport = Viewport {
            scale: [
                step(Vte::VPORT_X_SCALE_ENA, vap::VAP_VPORT_XSCALE::REGISTER, 1.0),
                step(Vte::VPORT_Y_SCALE_ENA, vap::VAP_VPORT_YSCALE::REGISTER, 1.0),
                step(Vte::VPORT_Z_SCALE_ENA, vap::VAP_VPORT_ZSCALE::REGISTER, 1.0) * scale,
            ],
            offset: [
                step(Vte::VPORT_X_OFFSET_ENA, vap::VAP_VPORT_XOFFSET::REGISTER, 0.0) + moved(0),
                step(Vte::VPORT_Y_OFFSET_ENA, vap::VAP_VPORT_YOFFSET::REGISTER, 0.0) + moved(1),
                step(Vte::VPORT_Z_OFFSET_ENA, vap::VAP_VPORT_ZOFFSET::REGISTER, 0.0) * scale + offset,
            ],
            depth: [0.0, 1.0],
            scissor: None,
        };
        Self {
            viewport,
            xy_divided: r.flag(Vte::VTX_XY_FMT),
            z_divided: r.flag(Vte::VTX_Z_FMT),
            w_is_reciprocal: !r.flag(Vte::VTX_W0_FMT),
        }
    }

    /// w of a position.
    pub(super) fn w(&self, [.., w]: [f32; 4]) -> f32 {
        if self.w_is_reciprocal { 1.0 / w } else { w }
    }

    /// A position in the window; its fourth component stays.
    pub(super) fn window(&self, position: [f32; 4]) -> [f32; 4] {
        let [.., w] = position;
        let inverse = if self.w_is_reciprocal { w } else { 1.0 / w };
        let divided = [self.xy_divided, self.xy_divided, self.z_divided];
        let of = |n: usize| {
            let value = if divided[n] { position[n] } else { position[n] * inverse };
            value * self.viewport.scale[n] + self.viewport.offset[n]
        };
        [of(0), of(1), of(2), w]
    }

    /// A position that is moved by columns and rows of the window.
    pub(super) fn moved(&self, position: [f32; 4], by: [f32; 2]) -> [f32; 4] {
        let [x, y, z, w] = position;
        let divisor = match () {
            () if self.xy_divided => 1.0,
            () if self.w_is_reciprocal => 1.0 / w,
            () => w,
        };
        let [sx, sy, _] = self.viewport.scale;
        [x + by[0] / sx * divisor, y + by[1] / sy * divisor, z, w]
    }
}

/// Whether primitives are not clipped.
pub(super) fn clips_nothing(registers: &Registers, bypasses: bool) -> bool {
    bypasses || registers.flag(clip::r500::VAP_CLIP_CNTL::CLIP_DISABLE)
}

/// Clipping. `viewports` has the one viewport.
pub(super) fn clip_state<'a>(
    registers: &Registers,
    transform: &Transform,
    viewports: &'a [Viewport],
    user_planes: [Option<[f32; 4]>; 6],
    bypasses: bool,
) -> ClipState<'a> {
    ClipState {
        viewports,
        disabled: clips_nothing(registers, bypasses),
        user_planes,
        guard_band: [clip::r500::VAP_GB_HORZ_CLIP_ADJ::REGISTER, clip::r500::VAP_GB_VERT_CLIP_ADJ::REGISTER]
            .map(|row| registers.float(row, 0)),
        half_z: registers.flag(vgt::r500::VAP_CNTL::DX_CLIP_SPACE_DEF),
        planes_only_cull: registers.flag(clip::r500::VAP_CLIP_CNTL::UCP_CULL_ONLY_ENA),
        cut_edges_are_drawn: registers.flag(clip::r500::VAP_CLIP_CNTL::BOUNDARY_EDGE_FLAG_ENA),
        xy_divided: transform.xy_divided,
        z_divided: transform.z_divided,
        w_is_reciprocal: transform.w_is_reciprocal,
        ..ClipState::default()
    }
}

/// The columns and rows from one corner of a rectangle to the other, which belongs to it.
fn rect(first: [u32; 2], last: [u32; 2]) -> Rect {
    Rect {
        left: first[0].cast_signed(),
        top: first[1].cast_signed(),
        right: last[0].cast_signed() + 1,
        bottom: last[1].cast_signed() + 1,
    }
}

/// The pixels that draws may reach.
fn scissor(registers: &Registers) -> Rect {
    let corner = |x: Bits, y: Bits| [registers.get(x), registers.get(y)];
    rect(corner(sc::SC_SCISSOR0::XS0, sc::SC_SCISSOR0::YS0), corner(sc::SC_SCISSOR1::XS1, sc::SC_SCISSOR1::YS1))
}

/// From primitives to pixels.
pub(super) fn raster_state(registers: &Registers) -> RasterState {
    let r = registers;
    let fill = |bits: Bits| match r.get(bits) {
        _ if r.get(ga::GA_POLY_MODE::POLY_MODE) == 0 => Fill::Triangles,
        0 => Fill::Points,
        1 => Fill::Lines,
        _ => Fill::Triangles,
    };
    let offset = |enabled: Bits, scale: &Register, units: &Register| {
        let (scale, units) = (r.float(scale, 0) / GRID, r.float(units, 0));
        r.flag(enabled).then_some(DepthOffset { scale, units, clamp: 0.0 })
    };
    let clip_rectangle = |n: u32| {
        let corner = |x: Bits, y: Bits| [r.nth(x, n), r.nth(y, n)];
        rect(corner(sc::SC_CLIP_0_A::XS0, sc::SC_CLIP_0_A::YS0), corner(sc::SC_CLIP_0_B::XS1, sc::SC_CLIP_0_B::YS1))
    };
    let rule = r.get(sc::SC_CLIP_RULE::CLIP_RULE) as u16;
    let doors = r.get(sc::SC_SCREENDOOR::SCREENDOOR);
    let half_sizes = |bits: Bits| r.get(bits) as f32 / GRID;
    use ga::SU_POLY_OFFSET_ENABLE as Offsets;
    RasterState {
        clockwise_is_front: r.flag(ga::SU_CULL_MODE::FACE),
        cull_front: r.flag(ga::SU_CULL_MODE::CULL_FRONT),
        cull_back: r.flag(ga::SU_CULL_MODE::CULL_BACK),
        fill_front: fill(ga::GA_POLY_MODE::FRONT_PTYPE),
        fill_back: fill(ga::GA_POLY_MODE::BACK_PTYPE),
        offset_front: offset(
            Offsets::FRONT_ENABLE,
            ga::SU_POLY_OFFSET_FRONT_SCALE::REGISTER,
            ga::SU_POLY_OFFSET_FRONT_OFFSET::REGISTER,
        ),
        offset_back: offset(
            Offsets::BACK_ENABLE,
            ga::SU_POLY_OFFSET_BACK_SCALE::REGISTER,
            ga::SU_POLY_OFFSET_BACK_OFFSET::REGISTER,
        ),
        offset_others: r.flag(Offsets::PARA_ENABLE),
        depth_step: DepthStep::Fixed(-24),
        // First, second (of fans, whose first vertex belongs to all), third, last.
        last_provokes: r.get(ga::GA_COLOR_CONTROL::PROVOKING_VERTEX) >= 2,
        no_perspective: r.flag(ga::GB_SELECT::W_SELECT),
        // Multiples of 1/12 pixel.
        unit: PositionUnit::Of192,
        grid: (PositionUnit::Of192.count() / GRID as i64) as u16,
        rounding: match r.get(ga::GA_ROUND_MODE::GEOMETRY_ROUND) {
            0 => Rounding::Truncate,
            _ => Rounding::Nearest,
        },
        point_size: [ga::GA_POINT_SIZE::WIDTH, ga::GA_POINT_SIZE::HEIGHT].map(|bits| 2.0 * half_sizes(bits)),
        line_width: 2.0 * half_sizes(ga::GA_LINE_CNTL::WIDTH),
        scissor: scissor(r),
        clip_rectangles: (rule != u16::MAX).then(|| (std::array::from_fn(|n| clip_rectangle(n as u32)), rule)),
        samples: sample_pattern(r),
        multisample: samples(r) > 1,
        stipple: stipple(r),
        // Six bits a pixel; without several samples the first is the one sample.
        sample_mask: std::array::from_fn(|pixel| {
            let six = bits_at(doors, 6 * pixel as u32, 6) as u8;
            match (samples(r) > 1, six % 2) {
                (true, _) => six,
                (false, 1) => u8::MAX,
                (false, _) => 0,
            }
        }),
        ..RasterState::default()
    }
}

/// A comparison of the depth unit, which has an order of its own.
const fn z_compare(number: u32) -> Compare {
    match number {
        0 => Compare::Never,
        1 => Compare::Less,
        2 => Compare::LessEqual,
        3 => Compare::Equal,
        4 => Compare::GreaterEqual,
        5 => Compare::Greater,
        6 => Compare::NotEqual,
        _ => Compare::Always,
    }
}

/// Depth and stencil tests.
pub(super) fn depth_state(registers: &Registers) -> DepthState {
    use zb::{ZB_CNTL as Control, ZB_ZSTENCILCNTL as Functions};
    let r = registers;
    let front = r.word(zb::ZB_STENCILREFMASK::REGISTER, 0);
    let back =
        if r.flag(Control::STENCIL_REFMASK_FRONT_BACK) { r.word(zb::ZB_STENCILREFMASK_BF::REGISTER, 0) } else { front };
    let face = |masks: u32, compare: Bits, ops: [Bits; 3]| {
        let [reference, mask, write_mask, _] = masks.to_le_bytes();
        let [fail, pass, depth_fail] = ops.map(|bits| stencil_op(r.get(bits)));
        StencilFace { compare: z_compare(r.get(compare)), reference, mask, write_mask, fail, depth_fail, pass }
    };
    let stencil = r.flag(Control::STENCIL_ENABLE).then(|| {
        let ops = [Functions::STENCILFAIL, Functions::STENCILZPASS, Functions::STENCILZFAIL];
        face(front, Functions::STENCILFUNC, ops)
    });
    let stencil_back = (stencil.is_some() && r.flag(Control::STENCIL_FRONT_BACK)).then(|| {
        let ops = [Functions::STENCILFAIL_BF, Functions::STENCILZPASS_BF, Functions::STENCILZFAIL_BF];
        face(back, Functions::STENCILFUNC_BF, ops)
    });
    DepthState {
        test: r.flag(Control::Z_ENABLE).then(|| z_compare(r.get(Functions::ZFUNC))),
        write: r.flag(Control::ZWRITEENABLE),
        stencil,
        stencil_back,
        export_depth: r.flag(zb::FG_DEPTH_SRC::DEPTH_SRC) || r.get(ga::GB_SELECT::DEPTH_SELECT) == 1,
        ..DepthState::default()
    }
}

fn factor(number: u32) -> Factor {
    match number {
        2 | 33 => Factor::One,
        34 => Factor::SourceColour,
        35 => Factor::OneMinusSourceColour,
        36 => Factor::DestinationColour,
        37 => Factor::OneMinusDestinationColour,
        38 => Factor::SourceAlpha,
        39 => Factor::OneMinusSourceAlpha,
        40 => Factor::DestinationAlpha,
        41 => Factor::OneMinusDestinationAlpha,
        42 => Factor::SourceAlphaSaturate,
        43 => Factor::ConstantColour,
        44 => Factor::OneMinusConstantColour,
        45 => Factor::ConstantAlpha,
        46 => Factor::OneMinusConstantAlpha,
        _ => Factor::Zero,
    }
}

/// How both are combined, and whether the result is clamped.
const fn combine(number: u32) -> (Combine, bool) {
    match number {
        0 => (Combine::Add, true),
        1 => (Combine::Add, false),
        2 => (Combine::Subtract, true),
        3 => (Combine::Subtract, false),
        4 => (Combine::Min, false),
        5 => (Combine::Max, false),
        6 => (Combine::ReverseSubtract, true),
        _ => (Combine::ReverseSubtract, false),
    }
}

/// The fog unit, whose distance is in a register. UNVERIFIED: it changes every output; the constant factor is the share of the pixel's colour.
pub(super) fn fog(registers: &Registers, register: u8) -> Fog {
    let fraction = |bits: Bits| registers.get(bits) as f32 / bits.field.extract(u32::MAX) as f32;
    Fog {
        register,
        curve: match registers.get(rb::FG_FOG_BLEND::FN) {
            0 => FogCurve::Linear,
            1 => FogCurve::Exp,
            2 => FogCurve::Exp2,
            _ => FogCurve::Constant(fraction(rb::FG_FOG_FACTOR::FACTOR)),
        },
        colour: [rb::FG_FOG_COLOR_R::RED, rb::FG_FOG_COLOR_G::GREEN, rb::FG_FOG_COLOR_B::BLUE].map(fraction),
    }
}

/// Blending, logic operations, the alpha test, the resolve.
pub(super) fn colour_state(registers: &Registers, targets: &[(u32, Colour)]) -> ColourState {
    use rb::{FG_ALPHA_FUNC as Alpha, RB3D_ABLENDCNTL as AlphaBlend, RB3D_BLENDCNTL as Colours, RB3D_ROPCNTL as Rop};
    let r = registers;
    let (of_colours, clamps) = combine(r.get(Colours::COMB_FCN));
    let equation = |source: Bits, destination: Bits, combine: Combine| BlendEquation {
        source: factor(r.get(source)),
        destination: factor(r.get(destination)),
        combine,
    };
    let blend = r.flag(Colours::ALPHA_BLEND_ENABLE).then(|| Blend {
        colour: equation(Colours::SRCBLEND, Colours::DESTBLEND, of_colours),
        alpha: r
            .flag(Colours::SEPARATE_ALPHA_ENABLE)
            .then(|| equation(AlphaBlend::SRCBLEND, AlphaBlend::DESTBLEND, combine(r.get(AlphaBlend::COMB_FCN)).0)),
    });
    let mut state = ColourState::default();
    for (n, target) in targets {
        state.targets[*n as usize % 8] =
            ColourTargetState { write_mask: target.mask, blend, blend_clamp: clamps, truncate: false };
    }
    let first = targets.first().map(|(_, target)| target);
    let slots = constant(r, first.map(|target| target.format));
    state.constant = std::array::from_fn(|channel| {
        let of_channel = first.map_or(BY_NAME, |target| target.slots);
        slots[usize::from(of_channel[channel]) % 4]
    });
    if r.flag(Rop::ROP_ENABLE) {
        state.logic = LogicOp(r.get(Rop::ROP) as u8);
    }
    state.multiwrite = r.get(rb::RB3D_CCTL::NUM_MULTIWRITES) > 0;
    if r.flag(Alpha::AF_EN) {
        let (reference, steps) = if r.flag(Alpha::FP16) {
            (super::half::half(r.get(rb::FG_ALPHA_VALUE::AF_VAL)), AlphaSteps::Half)
        } else if r.flag(Alpha::AF_EN_8BIT) {
            (r.get(Alpha::AF_VAL) as f32 / 255.0, AlphaSteps::Unorm(255))
        } else {
            (bits_at(r.get(rb::FG_ALPHA_VALUE::AF_VAL), 0, 10) as f32 / 1023.0, AlphaSteps::Unorm(1023))
        };
        state.alpha_test = Some(AlphaTest { compare: compare(r.get(Alpha::AF_FUNC)), reference, steps: Some(steps) });
    }
    // UNVERIFIED: the pattern; all pixels of a quad have the same here.
    state.alpha_to_coverage = r.flag(Alpha::AM_EN).then_some([0; 4]);
    state.resolve = r.flag(rb::RB3D_AARESOLVE_CTL::AARESOLVE_MODE);
    state
}

/// The samples of a pixel: 1, 2, 3, 4 or 6.
pub(super) fn samples(registers: &Registers) -> u32 {
    if !registers.flag(sc::GB_AA_CONFIG::AA_ENABLE) {
        return 1;
    }
    [2, 3, 4, 6][registers.get(sc::GB_AA_CONFIG::NUM_AA_SUBSAMPLES) as usize % 4]
}

/// Where they lie.
fn sample_pattern(registers: &Registers) -> SamplePattern {
    use sc::{GB_MSPOS0 as First, GB_MSPOS1 as Second};
    let places = [
        [First::MS_X0, First::MS_Y0],
        [First::MS_X1, First::MS_Y1],
        [First::MS_X2, First::MS_Y2],
        [Second::MS_X3, Second::MS_Y3],
        [Second::MS_X4, Second::MS_Y4],
        [Second::MS_X5, Second::MS_Y5],
    ];
    let count = samples(registers);
    let mut pattern = SamplePattern { count, ..SamplePattern::ONE };
    if count > 1 {
        for (to, place) in pattern.at.iter_mut().zip(places) {
            // In 1/12 pixel from the pixel's centre, at the most 7 (UNVERIFIED: places from 14 on, which no driver uses).
            *to = place.map(|bits| (registers.get(bits) as i8 - 6).min(7));
        }
    }
    pattern
}

/// The pattern of lines, where they have one.
///
/// UNVERIFIED: the register names a value of the moment; drivers write their interface's pattern there, and its repetitions less one as the scale.
fn stipple(registers: &Registers) -> Option<Stipple> {
    use ga::GA_LINE_STIPPLE_CONFIG as Config;
    let resets = registers.get(Config::LINE_RESET);
    let scale = f32::from_bits(registers.word(Config::REGISTER, 0) & Config::STIPPLE_SCALE.field.mask());
    (resets != 0).then(|| Stipple {
        pattern: registers.word(ga::GA_LINE_STIPPLE_VALUE::REGISTER, 0) as u16,
        repeat: (scale.clamp(0.0, 255.0) as u16).saturating_add(1),
        high_first: false,
        restarts: resets == 1,
    })
}
