//! The registers that decide where primitives and pixels of a draw end.

use super::registers::Registers;
use crate::chip::Family;
use ctm_draw::{Funnel, Loss};
use ctm_isa::table::Field;

/// Of each loss the fields that decide about it, or whole registers.
type LossFields = (Loss, &'static [&'static str]);

#[rustfmt::skip]
const R700: &[LossFields] = &[
    (Loss::Discarded, &["PA_CL_CLIP_CNTL.DX_RASTERIZATION_KILL"]),
    (Loss::VertexKill, &["PA_CL_CLIP_CNTL.VTX_KILL_OR", "PA_CL_VS_OUT_CNTL"]),
    (Loss::CullDistance, &["PA_CL_VS_OUT_CNTL"]),
    (Loss::ClipDistance, &["PA_CL_VS_OUT_CNTL"]),
    (Loss::UserPlane, &["PA_CL_CLIP_CNTL.UCP_ENA"]),
    (Loss::Left, &["PA_CL_GB_HORZ_CLIP_ADJ"]),
    (Loss::Right, &["PA_CL_GB_HORZ_CLIP_ADJ"]),
    (Loss::Below, &["PA_CL_GB_VERT_CLIP_ADJ"]),
    (Loss::Above, &["PA_CL_GB_VERT_CLIP_ADJ"]),
    (Loss::Near, &["PA_CL_CLIP_CNTL.ZCLIP_NEAR_DISABLE"]),
    (Loss::Far, &["PA_CL_CLIP_CNTL.ZCLIP_FAR_DISABLE"]),
    (Loss::FrontFace, &["PA_SU_SC_MODE_CNTL.CULL_FRONT", "PA_SU_SC_MODE_CNTL.FACE"]),
    (Loss::BackFace, &["PA_SU_SC_MODE_CNTL.CULL_BACK", "PA_SU_SC_MODE_CNTL.FACE"]),
    (Loss::NoEdge, &["PA_SU_SC_MODE_CNTL.POLYMODE_FRONT_PTYPE", "PA_SU_SC_MODE_CNTL.POLYMODE_BACK_PTYPE"]),
    (Loss::ViewportScissor, &["PA_SC_VPORT_SCISSOR_0_TL", "PA_SC_VPORT_SCISSOR_0_BR", "PA_SC_MODE_CNTL.R700_VPORT_SCISSOR_ENABLE"]),
    (Loss::Scissor, &[
        "PA_SC_SCREEN_SCISSOR_TL", "PA_SC_SCREEN_SCISSOR_BR", "PA_SC_WINDOW_SCISSOR_TL", "PA_SC_WINDOW_SCISSOR_BR",
        "PA_SC_GENERIC_SCISSOR_TL", "PA_SC_GENERIC_SCISSOR_BR",
    ]),
    (Loss::ClipRectangles, &["PA_SC_CLIPRECT_RULE"]),
    (Loss::SampleMask, &["PA_SC_AA_MASK"]),
    (Loss::Stencil, &["DB_DEPTH_CONTROL.STENCILFUNC", "DB_STENCILREFMASK"]),
    (Loss::Depth, &["DB_DEPTH_CONTROL.ZFUNC", "DB_DEPTH_CONTROL.Z_WRITE_ENABLE"]),
    (Loss::Killed, &["DB_SHADER_CONTROL"]),
    (Loss::AlphaTest, &["SX_ALPHA_TEST_CONTROL.ALPHA_FUNC", "SX_ALPHA_REF"]),
    (Loss::Coverage, &["DB_ALPHA_TO_MASK", "DB_SHADER_CONTROL"]),
    (Loss::Masked, &["CB_TARGET_MASK", "CB_SHADER_MASK", "CB_COLOR_CONTROL.SPECIAL_OP"]),
    (Loss::Unexported, &["SQ_PGM_EXPORTS_PS", "CB_SHADER_MASK"]),
    (Loss::Unchanged, &["CB_COLOR_CONTROL.TARGET_BLEND_ENABLE", "CB_COLOR_CONTROL.ROP3"]),
];

#[rustfmt::skip]
const R500: &[LossFields] = &[
    (Loss::UserPlane, &["VAP_CLIP_CNTL.UCP_ENA"]),
    (Loss::Left, &["VAP_GB_HORZ_CLIP_ADJ"]),
    (Loss::Right, &["VAP_GB_HORZ_CLIP_ADJ"]),
    (Loss::Below, &["VAP_GB_VERT_CLIP_ADJ"]),
    (Loss::Above, &["VAP_GB_VERT_CLIP_ADJ"]),
    (Loss::FrontFace, &["SU_CULL_MODE.CULL_FRONT", "SU_CULL_MODE.FACE"]),
    (Loss::BackFace, &["SU_CULL_MODE.CULL_BACK", "SU_CULL_MODE.FACE"]),
    (Loss::Scissor, &["SC_SCISSOR0", "SC_SCISSOR1"]),
    (Loss::ClipRectangles, &["SC_CLIP_RULE"]),
    (Loss::SampleMask, &["SC_SCREENDOOR"]),
    (Loss::Stencil, &["ZB_ZSTENCILCNTL.STENCILFUNC", "ZB_STENCILREFMASK"]),
    (Loss::Depth, &["ZB_ZSTENCILCNTL.ZFUNC", "ZB_CNTL"]),
    (Loss::AlphaTest, &["FG_ALPHA_FUNC.AF_FUNC", "FG_ALPHA_FUNC.AF_VAL"]),
    (Loss::Coverage, &["FG_ALPHA_FUNC.AM_EN"]),
    (Loss::Masked, &["RB3D_COLOR_CHANNEL_MASK"]),
    (Loss::Unchanged, &["RB3D_BLENDCNTL.ALPHA_BLEND_ENABLE"]),
];

/// The register, or one of its fields, with its value: `PA_SU_SC_MODE_CNTL.CULL_BACK = 1`.
fn shown(family: Family, registers: &Registers, name: &str) -> Option<String> {
    let (register, field) = name.split_once('.').map_or((name, None), |(register, field)| (register, Some(field)));
    let table = family.registers();
    let offset = table.offset_of(register).or_else(|| table.offset_of(&format!("{register}_0")))?;
    let word = registers.at(offset);
    let Some(field) = field else { return Some(format!("{register} = {word:#x}")) };
    let named = table.at(offset, false)?;
    let field: &Field = named.fields.iter().find(|of| of.name == field)?;
    let number = field.extract(word);
    let value = field.values.iter().find(|value| value.code == number).map(|value| format!(" {}", value.name));
    Some(format!("{name} = {number}{}", value.unwrap_or_default()))
}

/// Adds the registers to the states of a funnel.
pub(super) fn with_registers(family: Family, registers: &Registers, funnel: &mut Funnel) {
    let rows = match family {
        Family::R700 => R700,
        Family::R500 => R500,
    };
    for lost in &mut funnel.lost {
        let names = rows.iter().find(|row| row.0 == lost.loss).map_or(&[] as &[&str], |row| row.1);
        let mut all: Vec<String> = names.iter().filter_map(|name| shown(family, registers, name)).collect();
        if !lost.state.is_empty() {
            all.insert(0, std::mem::take(&mut lost.state));
        }
        lost.state = all.join("; ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_register_has_its_name() {
        let registers = Registers::default();
        for (family, rows) in [(Family::R700, R700), (Family::R500, R500)] {
            for name in rows.iter().flat_map(|row| row.1) {
                assert!(shown(family, &registers, name).is_some_and(|text| text.starts_with(name)), "{name}");
            }
        }
    }
}
