//! The computations of an instruction's RGB and alpha units (CTM §3.3.3, §3.3.4).

use super::{Builder, Test, are_moderate};
use crate::masked::{ChannelOp, Dot, Doubts, Op, Value};
use ctm_exec::float::{HALF, ONE, SIGN};
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::plan::{AluPlan, channel_of};
use ctm_isa::r700::ops::Op2;
use ctm_isa::x1k::ops::{AlphaOp, Imod, Omod, RgbOp, Sel, SrcpOp, Swizzle};
use std::array::from_fn;

/// The RGB and the alpha unit of one instruction (CTM §3.3.3, §3.3.4).
pub(super) struct Units<'a> {
    pub plan: &'a AluPlan,
    pub b: &'a mut Builder,
}

impl Units<'_> {
    /// The results r, g, b, a that are stored, after output modifier and clamp.
    pub fn results(mut self) -> [Option<Value>; 4] {
        let plan = self.plan;
        let dot = if plan.rgb_computed() { self.dot_product() } else { None };
        let scalar = if plan.alpha_computed() { self.scalar() } else { None };
        let [r, g, b] = plan.rgb_stored;
        let stored = [r, g, b, plan.alpha_stored];
        from_fn(|channel| stored[channel].then(|| self.result(channel, dot, scalar)))
    }

    /// A component of an operand, before its input modifier (CTM §3.3.3).
    fn component(&mut self, sel: Sel, swizzle: Swizzle) -> Value {
        let Some(channel) = channel_of(swizzle) else {
            return self.b.block.bits(match swizzle {
                Swizzle::Half => HALF,
                Swizzle::One => ONE,
                Swizzle::Zero | Swizzle::Unused | Swizzle::R | Swizzle::G | Swizzle::B | Swizzle::A => 0,
            });
        };
        let inst = &self.plan.inst;
        let (sources, srcp_op) = if channel == 3 {
            (&self.plan.alpha_sources, inst.alpha_addr.srcp_op)
        } else {
            (&self.plan.rgb_sources, inst.rgb_addr.srcp_op)
        };
        match sel {
            Sel::Src0 => self.b.source(sources[0], channel),
            Sel::Src1 => self.b.source(sources[1], channel),
            Sel::Src2 => self.b.source(sources[2], channel),
            Sel::Srcp => {
                let src0 = self.b.source(sources[0], channel);
                let factor = match srcp_op {
                    SrcpOp::Bias => -2f32,
                    SrcpOp::Sub | SrcpOp::Inv => -1f32,
                    SrcpOp::Add => 1f32,
                };
                let summand = match srcp_op {
                    SrcpOp::Sub | SrcpOp::Add => self.b.source(sources[1], channel),
                    SrcpOp::Bias | SrcpOp::Inv => self.b.block.bits(ONE),
                };
                let factor = self.b.block.bits(factor.to_bits());
                self.b.mad([factor, src0, summand], false, Omod::U1)
            }
        }
    }

    /// An operand's select, swizzle and input modifier for a channel.
    fn selected(&self, which: usize, channel: usize) -> (Sel, Swizzle, Imod) {
        let (rgb, alpha) = (&self.plan.rgb_operands[which], &self.plan.alpha_operands[which]);
        match rgb.swizzle.get(channel) {
            Some(&swizzle) => (rgb.sel, swizzle, rgb.imod),
            None => (alpha.sel, alpha.swizzle, alpha.imod),
        }
    }

    fn operand(&mut self, which: usize, channel: usize) -> Value {
        let (sel, swizzle, imod) = self.selected(which, channel);
        let value = self.component(sel, swizzle);
        self.b.sign(imod, value)
    }

    /// The product of two operands in a channel: adding -0 changes no sum.
    fn product(&mut self, channel: usize) -> Value {
        let (a, b, nothing) = (self.operand(0, channel), self.operand(1, channel), self.b.block.bits(SIGN));
        self.b.mad([a, b, nothing], self.b.zero_wins, Omod::U1)
    }

    /// A dot product without its last step (`ops::dp3`), with the data for its correction.
    fn dot_product(&mut self) -> Option<DotProduct> {
        let op = self.plan.inst.rgba.op;
        if !op.is_dot_product() {
            return None;
        }
        let sum = self.dot_operands(op);
        let doubts = Doubts { small: true, large: true };
        let mut dot = Dot { op, zero_wins: self.b.zero_wins, omod: Omod::U1, negated: 0, doubts };
        let mut all = [Value(0); Dot::OPERANDS];
        let (mut is_moderate, mut grows) = (false, true);
        for term in 0..dot.terms() {
            let is_number = dot.is_number(term);
            let places = dot.term(term);
            // A number occurs once.
            let factors = if is_number { &places[..1] } else { &places[..] };
            for (which, &place) in factors.iter().enumerate() {
                let mut factor = if is_number { self.operand(2, 2) } else { self.operand(which, term) };
                while let Op::Neg(of) = self.b.block.ops()[factor.index()] {
                    factor = of;
                    dot.negated ^= 1 << term;
                }
                all[place] = factor;
            }
            let [a, b] = places.map(|place| all[place]);
            let is_square = !is_number && a == b && dot.negated >> term & 1 == 0;
            let both = are_moderate(self.b, [a, b]);
            is_moderate |= both;
            grows &= is_square || is_number && both;
        }
        Some(DotProduct { sum, dot, all, is_moderate, grows })
    }

    /// A dot product without its last step (`ops::dp3`), in single precision.
    fn dot_operands(&mut self, op: RgbOp) -> DotSum {
        let (is_d2a, is_dp4) = (op == RgbOp::D2a, op == RgbOp::Dp4);
        let mut channels = 0..if is_dp4 { 4 } else { 3 };
        let squares = !is_d2a && channels.all(|channel| self.operand(0, channel) == self.operand(1, channel));
        let [x, y] = [0, 1].map(|channel| self.product(channel));
        let z = if is_d2a { self.operand(2, 2) } else { self.product(2) };
        let last = is_dp4.then(|| self.product(3));
        let nothing = last.is_none() && self.b.block.constant(z).is_some_and(|z| z & !SIGN == 0);
        let mut pair = |x: Value, y: Option<Value>| y.map_or(x, |y| self.b.add(x, y, Omod::U1));
        match (squares, nothing) {
            // Squares do not cancel: one order gives zero where the other does, and neither gives -0.
            (true, true) => DotSum::Sum(pair(x, Some(y))),
            (true, false) => DotSum::Parts([pair(x, Some(y)), pair(z, last)], None),
            // The third number only affects the sign of a zero, as it does crosswise.
            (false, true) => {
                let x = pair(x, Some(z));
                DotSum::Sum(pair(x, Some(y)))
            }
            (false, false) => {
                let crosswise = [pair(x, Some(z)), pair(y, last)];
                let crosswise = pair(crosswise[0], Some(crosswise[1]));
                DotSum::Parts([pair(x, Some(y)), pair(z, last)], Some(crosswise))
            }
        }
    }

    /// The alpha unit's transcendental result.
    fn scalar(&mut self) -> Option<Value> {
        let op = self.plan.inst.alpha.op;
        op.is_transcendental().then(|| {
            let a = self.operand(0, 3);
            self.b.unit(ChannelOp::Scalar(op), a, a, a)
        })
    }

    /// The output modifier and clamp of a wide arithmetic result. `OMOD_DISABLED` counts as U1 without clamp.
    fn finish_wide(&mut self, finish: Finish, make: impl FnOnce(&mut Builder, Omod) -> Value) -> Value {
        let omod = if finish.omod == Omod::Disabled { Omod::U1 } else { finish.omod };
        let value = make(self.b, omod);
        if finish.clamp && finish.omod != Omod::Disabled { self.b.clamp(value) } else { value }
    }

    fn choice(&mut self, finish: Finish, test: Test, ab: [Value; 2]) -> Value {
        let chosen = self.b.pick(test, ab);
        if finish.omod == Omod::Disabled {
            return chosen;
        }
        self.finish_wide(finish, |b, omod| b.scale(chosen, omod))
    }

    /// MIN (`unit`) or MAX: the first operand where the comparison of the two holds, else the second one.
    fn least(&mut self, finish: Finish, unit: ChannelOp, [a, b]: [Value; 2]) -> Value {
        if finish.omod == Omod::Disabled || a == b {
            let operands = if unit == ChannelOp::Min { [b, a] } else { [a, b] };
            return self.choice(finish, (Op2::PredSetgt, operands), [a, b]);
        }
        // The next operation flushes.
        let chosen = self.b.unit(unit, a, b, a);
        self.finish_wide(finish, |b, omod| b.scale(chosen, omod))
    }

    /// The result of a channel's unit.
    fn result(&mut self, channel: usize, dot: Option<DotProduct>, scalar: Option<Value>) -> Value {
        use UnitOp::{Alpha, Rgb};
        let plan = self.plan;
        let inst = &plan.inst;
        let (op, omod, clamp, sources) = if channel == 3 {
            (Alpha(inst.alpha.op), inst.alpha.omod, inst.cmn.alpha_clamp, &plan.alpha_sources)
        } else {
            (Rgb(inst.rgba.op), inst.rgb.omod, inst.cmn.rgb_clamp, &plan.rgb_sources)
        };
        let finish = Finish { omod, clamp };
        match op {
            Rgb(RgbOp::Mad) | Alpha(AlphaOp::Mad) => {
                let abc = [0, 1, 2].map(|n| self.operand(n, channel));
                self.finish_mad(finish, abc)
            }
            Rgb(RgbOp::Dp3 | RgbOp::Dp4 | RgbOp::D2a) | Alpha(AlphaOp::Dp) => self.finish_dot(finish, dot),
            Rgb(RgbOp::Min | RgbOp::Max) | Alpha(AlphaOp::Min | AlphaOp::Max) => {
                let ab = [0, 1].map(|n| self.operand(n, channel));
                let is_min = matches!(op, Rgb(RgbOp::Min) | Alpha(AlphaOp::Min));
                self.least(finish, if is_min { ChannelOp::Min } else { ChannelOp::Max }, ab)
            }
            Rgb(RgbOp::Cnd | RgbOp::Cmp) | Alpha(AlphaOp::Cnd | AlphaOp::Cmp) => {
                let [a, b, c] = [0, 1, 2].map(|n| self.operand(n, channel));
                let is_half = matches!(op, Rgb(RgbOp::Cnd) | Alpha(AlphaOp::Cnd));
                let (test, with) = if is_half { (Op2::PredSetgt, HALF) } else { (Op2::PredSetge, 0) };
                let with = self.b.block.bits(with);
                self.choice(finish, (test, [c, with]), [a, b])
            }
            Rgb(RgbOp::Frc) | Alpha(AlphaOp::Frc) => {
                let a = self.operand(0, channel);
                self.finish_wide(finish, |b, omod| b.unit(ChannelOp::Fraction(omod), a, a, a))
            }
            Rgb(RgbOp::Mdh | RgbOp::Mdv) | Alpha(AlphaOp::Mdh | AlphaOp::Mdv) => {
                let src0 = self.b.source(sources[0], channel);
                let b = self.operand(1, channel);
                let imods = [0, 2].map(|which| self.selected(which, channel).2);
                self.quad(finish, src0, b, imods, matches!(op, Rgb(RgbOp::Mdh) | Alpha(AlphaOp::Mdh)))
            }
            Rgb(RgbOp::Sop)
            | Alpha(AlphaOp::Ex2 | AlphaOp::Ln2 | AlphaOp::Rcp | AlphaOp::Rsq | AlphaOp::Sin | AlphaOp::Cos) => {
                match scalar {
                    Some(scalar) => self.finish_wide(finish, |b, omod| b.scale(scalar, omod)),
                    None => self.b.block.bits(0),
                }
            }
        }
    }

    fn finish_mad(&mut self, finish: Finish, abc: [Value; 3]) -> Value {
        self.finish_wide(finish, |b, omod| b.mad(abc, b.zero_wins, omod))
    }

    fn finish_dot(&mut self, finish: Finish, dot: Option<DotProduct>) -> Value {
        self.finish_wide(finish, |b, omod| {
            // ALPHA_DP beside an operation that is no dot product (`ops::INVALID_COPY`).
            let Some(DotProduct { sum, dot, mut all, is_moderate, grows }) = dot else { return b.block.bits(0) };
            let shrinks = matches!(omod, Omod::D2 | Omod::D4 | Omod::D8);
            // A sum of squares that leaves the range does not come back into it.
            let doubts = Doubts { small: !is_moderate, large: !grows || shrinks };
            if !doubts.any() {
                return sum.made(b, omod);
            }
            all[0] = sum.made(b, Omod::U1);
            let first = all[0];
            all[dot.operands()..].fill(first);
            b.block.make(Op::Dot(Dot { omod, doubts, ..dot }, all))
        })
    }

    /// MDH and MDV: A of the quad's top-left lane, C of its top-right or bottom-left one; input modifiers count, selects do not
    /// (x1k-encoding §1.5).
    fn quad(&mut self, finish: Finish, src0: Value, b: Value, imods: [Imod; 2], horizontal: bool) -> Value {
        let a = self.b.sign(imods[0], src0);
        let c = self.b.sign(imods[1], src0);
        let a = self.b.block.make(Op::QuadLane(a, 0));
        let c = self.b.block.make(Op::QuadLane(c, if horizontal { 1 } else { 2 }));
        self.finish_mad(finish, [a, b, c])
    }
}

/// A dot product.
#[derive(Clone, Copy)]
struct DotProduct {
    /// Its sum in single precision, without the last step.
    sum: DotSum,
    /// The exact operation, of these operands but the first.
    dot: Dot,
    all: [Value; Dot::OPERANDS],
    /// Some term is of moderate size: terms below the range cannot decide.
    is_moderate: bool,
    /// All terms are squares, but for a number of moderate size: no sum that left the range comes back.
    grows: bool,
}

/// The sum of a dot product without its last step.
#[derive(Clone, Copy)]
enum DotSum {
    /// The whole sum.
    Sum(Value),
    /// The summands of the last step, and the crosswise sum, with zeros in its place, where the two may differ.
    Parts([Value; 2], Option<Value>),
}

impl DotSum {
    /// The sum, times the output modifier.
    fn made(self, b: &mut Builder, omod: Omod) -> Value {
        match self {
            Self::Sum(sum) => b.scale(sum, omod),
            Self::Parts([x, y], None) => b.add(x, y, omod),
            Self::Parts([x, y], Some(crosswise)) => {
                let (sum, zero) = (b.add(x, y, omod), b.block.bits(0));
                // Zero times any output modifier is that zero.
                b.pick((Op2::PredSete, [crosswise, zero]), [crosswise, sum])
            }
        }
    }
}

/// Output modifier and clamp of a unit.
#[derive(Clone, Copy)]
struct Finish {
    omod: Omod,
    clamp: bool,
}
