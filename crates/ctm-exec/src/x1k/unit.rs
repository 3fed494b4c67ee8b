//! Lookups of a draw's textures ([`Lookups::Textures`](ctm_isa::x1k::program::Lookups)): levels of detail of quads, projection, faces of cubes.
//!
//! The Guide describes inputs of one level only. A draw's textures are sampled by the unit of `r700::texture`, whose rules both chips share: here an
//! instruction of the X1K becomes one of that unit.

use super::alu::register;
use super::functions::UnitOp;
use super::lanes::{BLOCK, Block, LaneMask};
use super::ops::ZeroRule;
use super::sample;
use crate::fault::{FaultKind, MemoryFault};
use crate::float::{bits, number};
use crate::r700::Memory;
use crate::r700::ops::cube;
use crate::r700::texture::{Gradients, TextureFetch};
use crate::transcendental;
use ctm_isa::r700::formats::{TexWord0, TexWord1, TexWord2};
use ctm_isa::r700::inst::TexFetch;
use ctm_isa::r700::ops::{Sel, TexOp as UnitTexOp};
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::inst::TexInstruction;
use ctm_isa::x1k::ops::{Channel, Omod, RgbOp, TexOp};

/// A lane's access that memory refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneFault {
    /// The lane of the block.
    pub lane: usize,
    /// Why.
    pub fault: MemoryFault,
}

/// The middle of a face: its coordinates lie at 1..2.
pub const FACE_MIDDLE: f32 = 1.5;

/// The operation of the unit; `None` for instructions that look nothing up.
const fn operation(op: TexOp) -> Option<UnitTexOp> {
    match op {
        TexOp::Lookup | TexOp::LookupProj | TexOp::LookupUncached => Some(UnitTexOp::Sample),
        TexOp::LodBias => Some(UnitTexOp::SampleLb),
        TexOp::Lod => Some(UnitTexOp::SampleL),
        TexOp::Dxdy => Some(UnitTexOp::SampleG),
        TexOp::Nop | TexOp::KillLt0 => None,
    }
}

/// Whether a lookup finds its level of detail by the coordinates of its quad.
#[must_use]
pub const fn reads_quad(op: TexOp) -> bool {
    matches!(op, TexOp::Lookup | TexOp::LookupProj | TexOp::LookupUncached | TexOp::LodBias)
}

/// The instruction of the unit that does `op`: its coordinates are S, T, R and Q; texture and sampler have the number of the unit.
const fn of_unit(tex: &TexInstruction, op: UnitTexOp) -> TexFetch {
    let normalised = !tex.inst.unscaled;
    TexFetch {
        word0: TexWord0 {
            op,
            bc_frac_mode: false,
            fetch_whole_quad: false,
            resource_id: tex.inst.tex_id,
            src_gpr: 0,
            src_rel: false,
            alt_const: false,
        },
        word1: TexWord1 {
            dst_gpr: 0,
            dst_rel: false,
            dst_sel_x: Sel::X,
            dst_sel_y: Sel::Y,
            dst_sel_z: Sel::Z,
            dst_sel_w: Sel::W,
            lod_bias: 0,
            coord_type_x: normalised,
            coord_type_y: normalised,
            coord_type_z: normalised,
            coord_type_w: normalised,
        },
        word2: TexWord2 {
            offset_x: 0,
            offset_y: 0,
            offset_z: 0,
            sampler_id: tex.inst.tex_id,
            src_sel_x: Sel::X,
            src_sel_y: Sel::Y,
            src_sel_z: Sel::Z,
            src_sel_w: Sel::W,
        },
    }
}

/// The instruction of the unit for a lookup; `None` for instructions that look nothing up.
#[must_use]
pub const fn fetch(tex: &TexInstruction) -> Option<TexFetch> {
    match operation(tex.inst.op) {
        Some(op) => Some(of_unit(tex, op)),
        None => None,
    }
}

/// The instructions of the unit that set the gradients of a DXDY lookup: along x, along y.
#[must_use]
pub const fn set_gradients(tex: &TexInstruction) -> [TexFetch; 2] {
    [of_unit(tex, UnitTexOp::SetGradientsH), of_unit(tex, UnitTexOp::SetGradientsV)]
}

/// The channels of S, T, R and Q.
#[must_use]
pub const fn coordinate_swizzle(tex: &TexInstruction) -> [Channel; 4] {
    let addr = &tex.addr;
    [addr.src_s_swiz, addr.src_t_swiz, addr.src_r_swiz, addr.src_q_swiz]
}

/// The registers of the gradients of a DXDY lookup, whether aL is added to each, and the channels of S, T and R.
#[must_use]
pub const fn gradient_sources(tex: &TexInstruction) -> [(u8, bool, [Channel; 3]); 2] {
    let of = &tex.dxdy;
    [
        (of.dx_addr, of.dx_addr_rel, [of.dx_s_swiz, of.dx_t_swiz, of.dx_r_swiz]),
        (of.dy_addr, of.dy_addr_rel, [of.dy_s_swiz, of.dy_t_swiz, of.dy_r_swiz]),
    ]
}

/// A product and a sum as the machine makes them.
fn mad(abc: [u32; 3]) -> u32 {
    UnitOp::Rgb(RgbOp::Mad).channel(abc, ZeroRule::Ieee, Omod::U1, false).unwrap_or(0)
}

/// The place of a direction on its face: column and row at 1..2, the number of the face, Q.
#[must_use]
pub fn on_face([s, t, r, q]: [u32; 4]) -> [u32; 4] {
    let [down, right, twice_major, face] = cube(number(s), number(t), number(r));
    let reciprocal = transcendental::rcp(bits(twice_major.abs()));
    let place = |along: f32| mad([bits(along), reciprocal, FACE_MIDDLE.to_bits()]);
    [place(right), place(down), face.to_bits(), q]
}

/// The gradient, on the face of a direction, of the place of that direction: the change over the step `by`.
fn gradient_on_face(at: [u32; 4], by: [f32; 3]) -> [f32; 3] {
    let direction = [number(at[0]), number(at[1]), number(at[2])];
    let [down, right, twice_major, _] = cube(direction[0], direction[1], direction[2]);
    // The same choice and signs of axes for the step: those of the major axis alone decide.
    let along = |[x, y, z]: [f32; 3]| {
        let axis = |n: usize| direction[n].abs();
        if axis(2) >= axis(0) && axis(2) >= axis(1) {
            if direction[2] < 0.0 { [-y, -x, z] } else { [-y, x, z] }
        } else if axis(1) >= axis(0) {
            if direction[1] < 0.0 { [-z, x, y] } else { [z, x, y] }
        } else if direction[0] < 0.0 {
            [-y, z, x]
        } else {
            [-y, -z, x]
        }
    };
    let [step_down, step_right, step_major] = along(by);
    let major = twice_major / 2.0;
    let of = |place: f32, step: f32| (step * major - place * step_major) / (major * major.abs()) / 2.0;
    [of(right, step_right), of(down, step_down), 0.0]
}

/// Looks up in a draw's textures, in one lane after the other of `working`. `cubes`: units with cubes.
///
/// # Errors
/// The first covered lane whose texel memory refused.
pub fn lookup(
    tex: &TexInstruction,
    block: &Block,
    loop_variable: i32,
    working: LaneMask,
    (memory, cubes): (&dyn Memory, u16),
) -> Result<[[u32; BLOCK]; 4], LaneFault> {
    let mut texels = [[0; BLOCK]; 4];
    let Some(first) = working.and(block.covered).first().or(working.first()) else { return Ok(texels) };
    let Some(instruction) = fetch(tex) else { return Ok(texels) };
    let refused = |lane: usize, kind: FaultKind| LaneFault { lane, fault: memory_fault(kind, tex.inst.tex_id) };
    let unit = TextureFetch::new(memory, &instruction, true).map_err(|kind| refused(first, kind))?;
    let is_cube = cubes >> (tex.inst.tex_id & 15) & 1 == 1;
    let source = register(tex.addr.src_addr, tex.addr.src_addr_rel, loop_variable, TEMPORARIES).ok();
    let channel = |register: Option<usize>, channel: Channel, lane: usize| {
        register.map_or(0, |register| block.temps[register][channel as usize][lane])
    };
    let given: [[u32; 4]; BLOCK] = std::array::from_fn(|lane| {
        let [s, t, r, q] = coordinate_swizzle(tex).map(|c| channel(source, c, lane));
        if tex.inst.op == TexOp::LookupProj {
            let reciprocal_q = transcendental::rcp(q);
            let [s, t, r] = [s, t, r].map(|c| sample::project(c, reciprocal_q));
            [s, t, r, q]
        } else {
            [s, t, r, q]
        }
    });
    let coordinates = if is_cube { given.map(on_face) } else { given };
    let mut gradients = Gradients::default();
    if tex.inst.op == TexOp::Dxdy {
        for ((address, relative, channels), to) in
            gradient_sources(tex).into_iter().zip([&mut gradients.h, &mut gradients.v])
        {
            let source = register(address, relative, loop_variable, TEMPORARIES).ok();
            to.extend((0..BLOCK).map(|lane| {
                let by = channels.map(|c| number(channel(source, c, lane)));
                if is_cube { gradient_on_face(given[lane], by) } else { by }
            }));
        }
    }
    for lane in working.iter() {
        memory.begin_lane(block.positions[lane], 0);
        match unit.lane(&coordinates, lane, &gradients) {
            Ok(texel) => (0..4).for_each(|c| texels[c][lane] = texel[c]),
            Err(kind) if block.covered.contains(lane) => return Err(refused(lane, kind)),
            // An uncovered lane cannot fault: it reads 0.
            Err(_) => {}
        }
    }
    Ok(texels)
}

fn memory_fault(kind: FaultKind, unit: u8) -> MemoryFault {
    match kind {
        FaultKind::Memory(fault) => fault,
        // Sampling raises no other fault.
        _ => MemoryFault { what: format!("texture unit {unit}"), address: None, reason: "it cannot be sampled".into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The six faces in OpenGL's order, and the directions of columns and rows on them (OpenGL 2.1, table 3.19).
    #[test]
    fn directions_lie_on_faces() {
        let rows = [
            ([1.0, 0.0, 0.0], 0.0, [0.0, 0.0]),
            ([-1.0, 0.0, 0.5], 1.0, [0.5, 0.0]),
            ([0.5, 1.0, 0.25], 2.0, [0.5, 0.25]),
            ([0.5, -1.0, 0.25], 3.0, [0.5, -0.25]),
            ([0.5, 0.25, 1.0], 4.0, [0.5, -0.25]),
            ([0.5, 0.25, -1.0], 5.0, [-0.5, -0.25]),
        ];
        for ([x, y, z], face, [s, t]) in rows {
            let found = on_face([x, y, z, 0.0f32].map(f32::to_bits)).map(f32::from_bits);
            assert_eq!(found, [1.5 + s / 2.0, 1.5 + t / 2.0, face, 0.0], "{x} {y} {z}");
        }
    }

    /// A small step changes the place on the face by the gradient.
    #[test]
    fn gradients_lie_on_faces() {
        let step = 1.0 / 1024.0;
        for (at, by) in [
            ([0.3f32, -0.2, 0.9], [step, 0.0, step]),
            ([-0.9, 0.1, 0.4], [step, step, 0.0]),
            ([0.2, -1.0, 0.3], [0.0, step, -step]),
        ] {
            let place = |at: [f32; 3]| on_face([at[0], at[1], at[2], 0.0].map(f32::to_bits)).map(f32::from_bits);
            let (from, to) = (place(at), place(std::array::from_fn(|n| at[n] + by[n])));
            let found = gradient_on_face([at[0], at[1], at[2], 0.0].map(f32::to_bits), by);
            for n in 0..2 {
                assert!((found[n] - (to[n] - from[n])).abs() < 2e-6, "{at:?} {by:?}: {found:?} {from:?} {to:?}");
            }
        }
    }
}
