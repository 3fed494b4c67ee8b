//! Operations of the X1K on rows: the results of [`ctm_ir::values::unit_lane`] for each lane, each in a loop of its
//! own where there is one.

use crate::codegen::portable::rows::{self, Row, canonical, lanes_where, map, map3};
use crate::launch::wavefronts::wave::lanes_of;
use ctm_exec::float::{INFINITY, SIGN, number};
use ctm_exec::transcendental;
use ctm_exec::x1k::ops;
use ctm_ir::masked::{ChannelOp, Dot, Op};
use ctm_ir::values::{dot_lane, unit_lane};
use ctm_isa::x1k::ops::{AlphaOp, Omod};

/// An operation of the X1K, to `to`; `constants` are the bits of operands that are the same in all lanes.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn unit_rows<const FUSED: bool>(unit: ChannelOp, [a, b, c]: [&Row; 3], constants: [Option<u32>; 3], to: &mut Row) {
    let fma = rows::fma::<FUSED>;
    *to = match unit {
        ChannelOp::Mad { zero_wins, omod } => {
            rows::fused::<FUSED>([a, b, c], constants, (zero_wins, omod), to);
            return;
        }
        ChannelOp::Scale(Omod::U1 | Omod::Disabled) => map(a, |x| canonical(number(x))),
        ChannelOp::Min | ChannelOp::Max => map3(a, b, b, |a, b, _| unit_lane(unit, [a, b, b])),
        ChannelOp::Clamp => map(a, ops::clamp),
        // The difference is exact or rounded once, and never tiny.
        ChannelOp::Fraction(Omod::U1 | Omod::Disabled) => map(a, |x| canonical(number(x) - number(x).floor())),
        ChannelOp::Scalar(AlphaOp::Ex2) => map(a, |x| transcendental::ex2_by(x, fma)),
        ChannelOp::Scalar(AlphaOp::Ln2) => map(a, |x| transcendental::ln2_by(x, fma)),
        ChannelOp::Scalar(AlphaOp::Rcp) => map(a, |x| transcendental::rcp_by(x, fma)),
        ChannelOp::Scalar(AlphaOp::Rsq) => map(a, |x| transcendental::rsq_by(x, fma)),
        ChannelOp::Scalar(AlphaOp::Sin) => map(a, |x| transcendental::sin_by(x, fma)),
        ChannelOp::Scalar(AlphaOp::Cos) => map(a, |x| transcendental::cos_by(x, fma)),
        ChannelOp::Scale(_) | ChannelOp::Fraction(_) | ChannelOp::Scalar(_) => map(a, |x| unit_lane(unit, [x; 3])),
    };
}

/// A dot product: the estimate, and where that is in doubt the result of [`dot_lane`].
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn dot_rows(dot: Dot, rows: [&Row; Op::OPERANDS]) -> Row {
    let factor = ops::omod_factor(dot.omod) as f32;
    let mut row = map(rows[0], |x| canonical(number(x) * factor));
    let in_doubt = lanes_where(rows[0], |x| {
        let magnitude = x & !SIGN;
        dot.doubts.small & (magnitude < Dot::SMALL) | dot.doubts.large & (magnitude >= INFINITY)
    });
    for lane in lanes_of(in_doubt) {
        row[lane] = dot_lane(dot, &rows.map(|row| row[lane]));
    }
    row
}
