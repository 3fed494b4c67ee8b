//! What the RGB and the alpha unit of an instruction compute (CTM §3.3.3, §3.3.4).

use super::{Builder, Test};
use crate::ir::masked::{Op, Unit, Value};
use ctm_exec::float::{HALF, ONE, SIGN};
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::plan::{AluPlan, channel_of};
use ctm_isa::r700::ops::Op2;
use ctm_isa::x1k::inst::AluInst;
use ctm_isa::x1k::ops::{AlphaOp, Class, Imod, Looks, Omod, RgbOp, Sel, SrcpOp, Swizzle};

/// Whether both operations of an instruction can be lowered. Dot products and quad operations without a lowering cannot: groups that come to one go on in the
/// reference interpreter. Operations that look at one channel always can ([`Unit::Reference`]).
pub const fn exists(inst: &AluInst) -> bool {
    let rgb = match inst.rgba.op.info().class {
        Class::Plain | Class::Choice | Class::Transcendental | Class::Copy => true,
        Class::DotProduct => matches!(inst.rgba.op, RgbOp::Dp3 | RgbOp::Dp4 | RgbOp::D2a),
        Class::Quad => matches!(inst.rgba.op, RgbOp::Mdh | RgbOp::Mdv),
    };
    let alpha = match inst.alpha.op.info().class {
        Class::Plain | Class::Choice | Class::Transcendental | Class::Copy => true,
        Class::DotProduct => false,
        Class::Quad => matches!(inst.alpha.op, AlphaOp::Mdh | AlphaOp::Mdv),
    };
    rgb && alpha
}

/// The RGB and the alpha unit of one instruction (CTM §3.3.3, §3.3.4).
pub(super) struct Units<'a> {
    pub plan: &'a AluPlan,
    pub b: &'a mut Builder,
}

impl Units<'_> {
    /// The results r, g, b, a that anything stores, after output modifier and clamp.
    pub fn results(mut self) -> [Option<Value>; 4] {
        let plan = self.plan;
        let dot = if plan.rgb_computed() { self.dot_operands() } else { None };
        let scalar = if plan.alpha_computed() { self.scalar() } else { None };
        let mut results = [None; 4];
        for (channel, result) in results.iter_mut().enumerate().take(3) {
            if plan.rgb_stored[channel] {
                *result = Some(self.rgb(channel, dot, scalar));
            }
        }
        if plan.alpha_stored {
            results[3] = Some(self.alpha(dot, scalar));
        }
        results
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
                let (factor, summand) = match srcp_op {
                    SrcpOp::Bias => (-2f32, None),
                    SrcpOp::Sub => (-1f32, Some(sources[1])),
                    SrcpOp::Add => (1f32, Some(sources[1])),
                    SrcpOp::Inv => (-1f32, None),
                };
                let summand = match summand {
                    Some(source) => self.b.source(source, channel),
                    None => self.b.block.bits(ONE),
                };
                let factor = self.b.block.bits(factor.to_bits());
                self.b.mad([factor, src0, summand], false, Omod::U1)
            }
        }
    }

    fn rgb_operand(&mut self, which: usize, channel: usize) -> Value {
        let operand = &self.plan.rgb_operands[which];
        let value = self.component(operand.sel, operand.swizzle[channel]);
        self.b.sign(operand.imod, value)
    }

    fn alpha_operand(&mut self, which: usize) -> Value {
        let operand = &self.plan.alpha_operands[which];
        let value = self.component(operand.sel, operand.swizzle);
        self.b.sign(operand.imod, value)
    }

    /// A dot product without its last step (`ops::dp3`).
    fn dot_operands(&mut self) -> Option<Dot> {
        let op = self.plan.inst.rgba.op;
        if !op.is_dot_product() {
            return None;
        }
        let zero_wins = self.b.zero_wins;
        let nothing = self.b.block.bits(SIGN);
        let mut terms: Vec<Value> = Vec::with_capacity(4);
        for channel in 0..if op == RgbOp::D2a { 2 } else { 3 } {
            let (a, b) = (self.rgb_operand(0, channel), self.rgb_operand(1, channel));
            terms.push(self.b.mad([a, b, nothing], zero_wins, Omod::U1));
        }
        let mut last = None;
        match op {
            RgbOp::D2a => terms.push(self.rgb_operand(2, 2)),
            RgbOp::Dp4 => {
                let (a, b) = (self.alpha_operand(0), self.alpha_operand(1));
                last = Some(self.b.mad([a, b, nothing], zero_wins, Omod::U1));
            }
            _ => {}
        }
        let &[r, g, b] = terms.as_slice() else { return None };
        let mut pair = |x: Value, y: Option<Value>| match y {
            Some(y) => self.add(x, y, Omod::U1),
            None => x,
        };
        let parts = [pair(r, Some(g)), pair(b, last)];
        let crosswise = [pair(r, Some(b)), pair(g, last)];
        let crosswise = self.add(crosswise[0], crosswise[1], Omod::U1);
        Some(Dot { parts, crosswise })
    }

    fn add(&mut self, x: Value, y: Value, omod: Omod) -> Value {
        let one = self.b.block.bits(ONE);
        self.b.mad([x, one, y], false, omod)
    }

    /// The alpha unit's transcendental result.
    fn scalar(&mut self) -> Option<Value> {
        let op = self.plan.inst.alpha.op;
        op.is_transcendental().then(|| {
            let a = self.alpha_operand(0);
            if has_code(op) && !self.b.calls {
                return self.b.unit(Unit::Scalar(op), [a; 3]);
            }
            self.b.reference(UnitOp::Alpha(op), [a; 3], Finish::NONE)
        })
    }

    /// A call of the reference function.
    fn reference(&mut self, op: UnitOp, finish: Finish, operand: impl Fn(&mut Self, usize) -> Value) -> Value {
        let looks = op.info().looks;
        let abc = [0, 1, 2].map(|n| if looks[n] == Looks::Nothing { self.b.block.bits(0) } else { operand(self, n) });
        self.b.reference(op, abc, finish)
    }

    /// Of an arithmetic result that is wide until now: output modifier and clamp. `OMOD_DISABLED` counts as U1 without clamp.
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
    fn least(&mut self, finish: Finish, unit: Unit, [a, b]: [Value; 2]) -> Value {
        if finish.omod == Omod::Disabled || a == b {
            let operands = if unit == Unit::Min { [b, a] } else { [a, b] };
            return self.choice(finish, (Op2::PredSetgt, operands), [a, b]);
        }
        // What follows flushes.
        let chosen = self.b.unit(unit, [a, b, a]);
        self.finish_wide(finish, |b, omod| b.scale(chosen, omod))
    }

    fn rgb(&mut self, channel: usize, dot: Option<Dot>, scalar: Option<Value>) -> Value {
        let inst = &self.plan.inst;
        let finish = Finish { omod: inst.rgb.omod, clamp: inst.cmn.rgb_clamp };
        let operand = |units: &mut Self, which| units.rgb_operand(which, channel);
        match inst.rgba.op {
            op if self.b.calls && is_single(UnitOp::Rgb(op)) => self.reference(UnitOp::Rgb(op), finish, operand),
            RgbOp::Mad => {
                let abc = [operand(self, 0), operand(self, 1), operand(self, 2)];
                self.finish_mad(finish, abc)
            }
            RgbOp::Dp3 | RgbOp::Dp4 | RgbOp::D2a => self.finish_dot(finish, dot),
            RgbOp::Min => {
                let ab = [operand(self, 0), operand(self, 1)];
                self.least(finish, Unit::Min, ab)
            }
            RgbOp::Max => {
                let ab = [operand(self, 0), operand(self, 1)];
                self.least(finish, Unit::Max, ab)
            }
            RgbOp::Cnd => {
                let (ab, c) = ([operand(self, 0), operand(self, 1)], operand(self, 2));
                let half = self.b.block.bits(HALF);
                self.choice(finish, (Op2::PredSetgt, [c, half]), ab)
            }
            RgbOp::Cmp => {
                let (ab, c) = ([operand(self, 0), operand(self, 1)], operand(self, 2));
                let zero = self.b.block.bits(0);
                self.choice(finish, (Op2::PredSetge, [c, zero]), ab)
            }
            RgbOp::Frc => {
                let a = operand(self, 0);
                self.finish_wide(finish, |b, omod| b.unit(Unit::Fraction(omod), [a; 3]))
            }
            RgbOp::Mdh | RgbOp::Mdv => {
                let src0 = self.b.source(self.plan.rgb_sources[0], channel);
                let b = operand(self, 1);
                let imods = [self.plan.rgb_operands[0].imod, self.plan.rgb_operands[2].imod];
                self.quad(finish, src0, b, imods, inst.rgba.op == RgbOp::Mdh)
            }
            op if op.info().class == Class::Copy => self.finish_scalar(finish, scalar),
            op => self.reference(UnitOp::Rgb(op), finish, operand),
        }
    }

    fn alpha(&mut self, dot: Option<Dot>, scalar: Option<Value>) -> Value {
        let inst = &self.plan.inst;
        let finish = Finish { omod: inst.alpha.omod, clamp: inst.cmn.alpha_clamp };
        match inst.alpha.op {
            op if self.b.calls && is_single(UnitOp::Alpha(op)) => {
                self.reference(UnitOp::Alpha(op), finish, Self::alpha_operand)
            }
            AlphaOp::Mad => {
                let abc = [self.alpha_operand(0), self.alpha_operand(1), self.alpha_operand(2)];
                self.finish_mad(finish, abc)
            }
            AlphaOp::Dp => self.finish_dot(finish, dot),
            AlphaOp::Min => {
                let ab = [self.alpha_operand(0), self.alpha_operand(1)];
                self.least(finish, Unit::Min, ab)
            }
            AlphaOp::Max => {
                let ab = [self.alpha_operand(0), self.alpha_operand(1)];
                self.least(finish, Unit::Max, ab)
            }
            AlphaOp::Cnd => {
                let (ab, c) = ([self.alpha_operand(0), self.alpha_operand(1)], self.alpha_operand(2));
                let half = self.b.block.bits(HALF);
                self.choice(finish, (Op2::PredSetgt, [c, half]), ab)
            }
            AlphaOp::Cmp => {
                let (ab, c) = ([self.alpha_operand(0), self.alpha_operand(1)], self.alpha_operand(2));
                let zero = self.b.block.bits(0);
                self.choice(finish, (Op2::PredSetge, [c, zero]), ab)
            }
            AlphaOp::Frc => {
                let a = self.alpha_operand(0);
                self.finish_wide(finish, |b, omod| b.unit(Unit::Fraction(omod), [a; 3]))
            }
            op if op.is_transcendental() => self.finish_scalar(finish, scalar),
            AlphaOp::Mdh | AlphaOp::Mdv => {
                let src0 = self.b.source(self.plan.alpha_sources[0], 3);
                let b = self.alpha_operand(1);
                let imods = [self.plan.alpha_operands[0].imod, self.plan.alpha_operands[2].imod];
                self.quad(finish, src0, b, imods, inst.alpha.op == AlphaOp::Mdh)
            }
            op => self.reference(UnitOp::Alpha(op), finish, Self::alpha_operand),
        }
    }

    fn finish_mad(&mut self, finish: Finish, abc: [Value; 3]) -> Value {
        self.finish_wide(finish, |b, omod| b.mad(abc, b.zero_wins, omod))
    }

    fn finish_dot(&mut self, finish: Finish, dot: Option<Dot>) -> Value {
        let Some(Dot { parts, crosswise }) = dot else {
            // ALPHA_DP beside what is no dot product (`ops::INVALID_COPY`).
            return self.b.block.bits(0);
        };
        let omod = if finish.omod == Omod::Disabled { Omod::U1 } else { finish.omod };
        let sum = self.add(parts[0], parts[1], omod);
        let zero = self.b.block.bits(0);
        // Zero times any output modifier is that zero.
        let value = self.b.pick((Op2::PredSete, [crosswise, zero]), [crosswise, sum]);
        if finish.clamp && finish.omod != Omod::Disabled { self.b.clamp(value) } else { value }
    }

    fn finish_scalar(&mut self, finish: Finish, scalar: Option<Value>) -> Value {
        match scalar {
            Some(scalar) => self.finish_wide(finish, |b, omod| b.scale(scalar, omod)),
            None => self.b.block.bits(0),
        }
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

/// A dot product without its last step: what that step adds, and the sum crosswise, in whose place zeros stand.
#[derive(Clone, Copy)]
struct Dot {
    parts: [Value; 2],
    crosswise: Value,
}

/// Output modifier and clamp of a unit.
#[derive(Clone, Copy)]
pub(super) struct Finish {
    pub omod: Omod,
    pub clamp: bool,
}

impl Finish {
    /// Neither.
    const NONE: Self = Self { omod: Omod::U1, clamp: false };
}

/// Whether back ends have code for a transcendental operation.
const fn has_code(op: AlphaOp) -> bool {
    matches!(op, AlphaOp::Ex2 | AlphaOp::Ln2 | AlphaOp::Rcp | AlphaOp::Rsq | AlphaOp::Sin | AlphaOp::Cos)
}

/// Whether the unit itself computes it, one channel after the other.
const fn is_single(op: UnitOp) -> bool {
    matches!(op.info().class, Class::Plain | Class::Choice)
}

#[cfg(test)]
#[path = "../../../tests/unit/lower/x1k/units.rs"]
mod tests;
