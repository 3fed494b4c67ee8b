//! From registers to the operations on a pixel after its program: depth, stencil, blending, masks.

use super::super::registers::{Registers, container};
use super::{SpecialOp, special_op};
use crate::registers::{colour, depth};
use crate::table::bit;
use ctm_draw::state::{
    AlphaTest, Blend, BlendEquation, ColourState, ColourTargetState, Combine, Compare, DepthCopy, DepthState, Factor,
    LogicOp, StencilFace, StencilOp,
};
use ctm_image::r700::registers::DbShaderControl;

pub(in crate::execute) fn compare(number: u32) -> Compare {
    Compare::ALL[number as usize % 8]
}

pub(in crate::execute) fn stencil_op(number: u32) -> StencilOp {
    match number {
        0 => StencilOp::Keep,
        1 => StencilOp::Zero,
        2 => StencilOp::Replace,
        3 => StencilOp::IncrementClamp,
        4 => StencilOp::DecrementClamp,
        5 => StencilOp::Invert,
        6 => StencilOp::IncrementWrap,
        _ => StencilOp::DecrementWrap,
    }
}

/// Depth and stencil tests.
pub(super) fn depth_state(registers: &Registers) -> DepthState {
    use depth::DB_DEPTH_CONTROL as Control;
    use depth::DB_RENDER_CONTROL as Render;
    let r = registers;
    let shader = DbShaderControl::decode(r.named(container!("DB_SHADER_CONTROL"), 0)).ok();
    let has = |of: fn(&DbShaderControl) -> bool| shader.as_ref().is_some_and(of);
    let mask = r.word(depth::DB_STENCILREFMASK::REGISTER, 0).to_le_bytes();
    let mask_back = r.word(depth::DB_STENCILREFMASK_BF::REGISTER, 0).to_le_bytes();
    let stencil = r.flag(Control::STENCIL_ENABLE);
    let front = StencilFace {
        compare: compare(r.get(Control::STENCILFUNC)),
        reference: mask[0],
        mask: mask[1],
        write_mask: mask[2],
        fail: stencil_op(r.get(Control::STENCILFAIL)),
        depth_fail: stencil_op(r.get(Control::STENCILZFAIL)),
        pass: stencil_op(r.get(Control::STENCILZPASS)),
    };
    let back = StencilFace {
        compare: compare(r.get(Control::STENCILFUNC_BF)),
        reference: mask_back[0],
        mask: mask_back[1],
        write_mask: mask_back[2],
        fail: stencil_op(r.get(Control::STENCILFAIL_BF)),
        depth_fail: stencil_op(r.get(Control::STENCILZFAIL_BF)),
        pass: stencil_op(r.get(Control::STENCILZPASS_BF)),
    };
    let (copies_depth, copies_stencil) = (r.flag(Render::DEPTH_COPY), r.flag(Render::STENCIL_COPY));
    DepthState {
        test: r.flag(Control::Z_ENABLE).then(|| compare(r.get(Control::ZFUNC))),
        write: r.flag(Control::Z_WRITE_ENABLE),
        stencil: stencil.then_some(front),
        stencil_back: (stencil && r.flag(Control::BACKFACE_ENABLE)).then_some(back),
        export_depth: has(|s| s.z_export_enable),
        export_stencil: has(|s| s.stencil_ref_export_enable),
        export_mask: has(|s| s.mask_export_enable),
        export_start: None,
        kill: has(|s| s.kill_enable),
        clear_depth: r.flag(Render::DEPTH_CLEAR_ENABLE).then(|| r.float(depth::DB_DEPTH_CLEAR::REGISTER, 0)),
        clear_stencil: r.flag(Render::STENCIL_CLEAR_ENABLE).then(|| r.get(depth::DB_STENCIL_CLEAR::CLEAR) as u8),
        copy: (copies_depth || copies_stencil).then(|| DepthCopy {
            depth: copies_depth,
            stencil: copies_stencil,
            // Where the mask names one sample, it is both the first covered one and the named one.
            first_covered: r.flag(Render::COPY_CENTROID),
            sample: r.get(Render::COPY_SAMPLE) as u8,
        }),
        counts_nothing: r.flag(Render::ZPASS_INCREMENT_DISABLE),
    }
}

fn factor(number: u32) -> Factor {
    match number {
        1 => Factor::One,
        2 => Factor::SourceColour,
        3 => Factor::OneMinusSourceColour,
        4 => Factor::SourceAlpha,
        5 => Factor::OneMinusSourceAlpha,
        6 => Factor::DestinationAlpha,
        7 => Factor::OneMinusDestinationAlpha,
        8 => Factor::DestinationColour,
        9 => Factor::OneMinusDestinationColour,
        10 => Factor::SourceAlphaSaturate,
        11 => Factor::BothSourceAlpha,
        12 => Factor::BothInverseSourceAlpha,
        13 => Factor::ConstantColour,
        14 => Factor::OneMinusConstantColour,
        15 => Factor::Source1Colour,
        16 => Factor::OneMinusSource1Colour,
        17 => Factor::Source1Alpha,
        18 => Factor::OneMinusSource1Alpha,
        19 => Factor::ConstantAlpha,
        20 => Factor::OneMinusConstantAlpha,
        _ => Factor::Zero,
    }
}

fn blend(registers: &Registers, n: u32) -> Blend {
    use colour::CB_BLEND0_CONTROL as One;
    let own = registers.flag(colour::CB_COLOR_CONTROL::PER_MRT_BLEND);
    let common = colour::CB_BLEND_CONTROL::REGISTER;
    // Both registers have the same fields.
    let word = if own { registers.word(One::REGISTER, n) } else { registers.word(common, 0) };
    let equation = |source: crate::Bits, combine: crate::Bits, destination: crate::Bits| BlendEquation {
        source: factor(source.field.extract(word)),
        destination: factor(destination.field.extract(word)),
        combine: match combine.field.extract(word) {
            1 => Combine::Subtract,
            2 => Combine::Min,
            3 => Combine::Max,
            4 => Combine::ReverseSubtract,
            _ => Combine::Add,
        },
    };
    let alpha = One::SEPARATE_ALPHA_BLEND.field.extract(word) == 1;
    Blend {
        colour: equation(One::COLOR_SRCBLEND, One::COLOR_COMB_FCN, One::COLOR_DESTBLEND),
        alpha: alpha.then(|| equation(One::ALPHA_SRCBLEND, One::ALPHA_COMB_FCN, One::ALPHA_DESTBLEND)),
    }
}

/// Channels of each target that are written, bit 0 = red.
#[must_use]
pub fn write_masks(registers: &Registers) -> [u8; 8] {
    let multiwrite = registers.flag(colour::CB_COLOR_CONTROL::MULTIWRITE_ENABLE);
    let of_target = |target| registers.named_field(container!("CB_TARGET_MASK"), target);
    let of_output = |output| registers.named_field(container!("CB_SHADER_MASK"), output);
    let sent = registers.named(container!("CB_SHADER_CONTROL"), 0);
    std::array::from_fn(|target| {
        let output = if multiwrite { 0 } else { target };
        let both = of_target(target) as u8 & of_output(output) as u8;
        if bit(sent, output as u32) { both } else { 0 }
    })
}

/// Decodes the state of colours.
pub(super) fn colour_state(registers: &Registers) -> ColourState {
    use colour::CB_COLOR_CONTROL as Control;
    let r = registers;
    let special = special_op(r);
    let rop = r.get(Control::ROP3);
    let enabled = r.get(Control::TARGET_BLEND_ENABLE);
    let mut targets = [ColourTargetState::default(); 8];
    let masks = write_masks(r);
    for (n, target) in (0u32..).zip(&mut targets) {
        let blends = bit(enabled, n) && r.nth(colour::CB_COLOR0_INFO::BLEND_BYPASS, n) == 0;
        *target = ColourTargetState {
            write_mask: match special {
                SpecialOp::Normal => masks[n as usize],
                SpecialOp::Resolve => 15,
                SpecialOp::Disable | SpecialOp::Expand => 0,
            },
            blend: (blends && special == SpecialOp::Normal).then(|| blend(r, n)),
            blend_clamp: r.nth(colour::CB_COLOR0_INFO::BLEND_CLAMP, n) == 1,
            truncate: r.nth(colour::CB_COLOR0_INFO::ROUND_MODE, n) == 1,
        };
    }
    let tests = r.flag(colour::SX_ALPHA_TEST_CONTROL::ALPHA_TEST_ENABLE)
        && !r.flag(colour::SX_ALPHA_TEST_CONTROL::ALPHA_TEST_BYPASS);
    use depth::DB_ALPHA_TO_MASK as Mask;
    ColourState {
        targets,
        constant: [
            r.float(colour::CB_BLEND_RED::REGISTER, 0),
            r.float(colour::CB_BLEND_GREEN::REGISTER, 0),
            r.float(colour::CB_BLEND_BLUE::REGISTER, 0),
            r.float(colour::CB_BLEND_ALPHA::REGISTER, 0),
        ],
        // The result for source and destination bits only: both halves are the same where patterns do not count.
        logic: if rop == 0 && special != SpecialOp::Normal { LogicOp::COPY } else { LogicOp((rop % 16) as u8) },
        multiwrite: r.flag(Control::MULTIWRITE_ENABLE),
        fog: None,
        alpha_test: tests.then(|| AlphaTest {
            compare: compare(r.get(colour::SX_ALPHA_TEST_CONTROL::ALPHA_FUNC)),
            reference: r.float(colour::SX_ALPHA_REF::REGISTER, 0),
            steps: None,
        }),
        alpha_to_coverage: r.flag(Mask::ALPHA_TO_MASK_ENABLE).then(|| {
            [
                r.get(Mask::ALPHA_TO_MASK_OFFSET0) as u8,
                r.get(Mask::ALPHA_TO_MASK_OFFSET1) as u8,
                r.get(Mask::ALPHA_TO_MASK_OFFSET2) as u8,
                r.get(Mask::ALPHA_TO_MASK_OFFSET3) as u8,
            ]
        }),
        resolve: special == SpecialOp::Resolve,
    }
}
