//! Instructions and decisions as compilers write them: truth values 0 and 1 that CMP and CND make, negated, multiplied, compared with zero; branches around BREAK; KILL of truth values.

use super::instructions::{alpha_addr, rgb_addr};
use super::{AlphaOp, AluInst, CONSTANTS, FlowRow, Inst, InstType, Loop, Maker, Omod, RgbOp, Swizzle, Words};
use crate::x1k::formats::TexAddr;
use crate::x1k::inst::Source;
use crate::x1k::ops::{AluResultSel, BOp, Channel, CompareOp, FcOp, Imod, PredSel, Sel, SrcpOp, TexOp};

/// Operations of the RGB unit, as often as compilers use them.
const RGB: [RgbOp; 13] = {
    use RgbOp::{Cmp, Cnd, Dp3, Dp4, Frc, Mad, Max, Min, Sop};
    [Mad, Mad, Mad, Mad, Min, Max, Cmp, Cmp, Cnd, Frc, Dp3, Dp4, Sop]
};
/// The same of the alpha unit.
const ALPHA: [AlphaOp; 16] = {
    use AlphaOp::{Cmp, Cnd, Cos, Ex2, Frc, Ln2, Mad, Max, Min, Rcp, Rsq, Sin};
    [Mad, Mad, Mad, Mad, Min, Max, Cmp, Cmp, Cnd, Frc, Rcp, Rsq, Ex2, Ln2, Sin, Cos]
};
const CHANNELS: [Swizzle; 4] = [Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A];
const ZERO: [Swizzle; 4] = [Swizzle::Zero; 4];
const ONE: [Swizzle; 4] = [Swizzle::One; 4];

/// Properties of the whole program.
#[derive(Clone, Debug, Default)]
pub(super) struct Habits {
    /// KILL may occur.
    kills: bool,
    /// ELSE and ENDIF let uncovered processors vote.
    pub(super) joins_with_all: bool,
    /// Temporaries may be addressed with aL.
    indexes_temps: bool,
    /// How the last condition was decided.
    decision: Vec<Words>,
}

fn temp(index: u8) -> Source {
    Source::Temp { index, relative: false }
}

impl Maker {
    pub(super) fn new_habits(&mut self) {
        self.habits = Habits {
            kills: self.flag(3),
            joins_with_all: !self.flag(4),
            indexes_temps: self.flag(8),
            decision: Vec::new(),
        };
    }

    /// Any instruction, without most features that compilers do not use.
    pub(super) fn usual(&mut self) {
        if self.shape.inputs > 0 && self.flag(7) {
            self.lookup();
            return;
        }
        let mut alu = self.alu();
        let cmn = &mut alu.cmn;
        if !self.random.one_in(24) {
            (cmn.rgb_pred_sel, cmn.alpha_pred_sel, cmn.write_inactive) = (PredSel::None, PredSel::None, false);
            (cmn.rgb_omask, cmn.alpha_omask) = (0, false);
            (cmn.kind, alu.alpha.w_omask) = (InstType::Alu, false);
        }
        let cmn = &mut alu.cmn;
        cmn.last = false;
        if self.random.one_in(16) {
            // An output that is written on the way.
            cmn.kind = InstType::Output;
            (cmn.rgb_omask, cmn.alpha_omask) = (7, true);
        }
        alu.rgb.alu_wmask &= self.random.one_in(8);
        if !self.random.one_in(6) {
            let alpha = self.random.of(&ALPHA);
            let rgb = self.random.of(&RGB);
            let copies = rgb == RgbOp::Sop && !alpha.is_transcendental();
            (alu.rgba.op, alu.alpha.op) = (if copies { RgbOp::Mad } else { rgb }, alpha);
            (alu.rgb.omod, alu.alpha.omod) = (self.omod(false), self.omod(false));
        }
        if !self.habits.indexes_temps {
            let (rgb, alpha) = (&mut alu.rgb_addr, &mut alu.alpha_addr);
            (rgb.addr0_rel, rgb.addr1_rel, rgb.addr2_rel) =
                (rgb.addr0_rel && rgb.addr0_const, rgb.addr1_rel && rgb.addr1_const, rgb.addr2_rel && rgb.addr2_const);
            (alpha.addr0_rel, alpha.addr1_rel, alpha.addr2_rel) = (
                alpha.addr0_rel && alpha.addr0_const,
                alpha.addr1_rel && alpha.addr1_const,
                alpha.addr2_rel && alpha.addr2_const,
            );
            (alu.rgba.addrd_rel, alu.alpha.addrd_rel) = (false, false);
        }
        self.push(Inst::Alu(alu));
    }

    fn lookup(&mut self) {
        let Inst::Tex(mut tex) = self.tex() else { return };
        (tex.cmn.rgb_pred_sel, tex.cmn.alpha_pred_sel, tex.cmn.write_inactive) = (PredSel::None, PredSel::None, false);
        if tex.inst.op == TexOp::KillLt0 && !self.habits.kills || tex.inst.op == TexOp::Nop {
            tex.inst.op = TexOp::Lookup;
        }
        tex.inst.ignore_uncovered &= self.flag(3);
        if !self.habits.indexes_temps {
            (tex.addr.src_addr_rel, tex.addr.dst_addr_rel) = (false, false);
        }
        self.push(Inst::Tex(tex));
    }

    /// Both units do the same to whole registers, or to channels of them.
    pub(super) fn both(
        &mut self,
        (rgb, alpha): (RgbOp, AlphaOp),
        sources: [Source; 3],
        [a, b, c]: [[Swizzle; 4]; 3],
        imods: [Imod; 3],
    ) -> AluInst {
        let fields = sources.map(Source::fields);
        let mut alu = AluInst::idle(InstType::Alu);
        alu.rgb_addr = rgb_addr(fields, SrcpOp::Sub);
        alu.alpha_addr = alpha_addr(fields, SrcpOp::Sub);
        (alu.rgba.op, alu.alpha.op) = (rgb, alpha);
        (alu.rgb.sel_a, alu.rgb.sel_b, alu.rgba.rgb_sel_c) = (Sel::Src0, Sel::Src1, Sel::Src2);
        (alu.alpha.sel_a, alu.alpha.sel_b, alu.rgba.alpha_sel_c) = (Sel::Src0, Sel::Src1, Sel::Src2);
        [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a, alu.alpha.swiz_a] = a;
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b, alu.alpha.swiz_b] = b;
        [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c, alu.rgba.alpha_swiz_c] = c;
        (alu.rgb.omod, alu.alpha.omod) = (Omod::U1, Omod::U1);
        (alu.rgb.imod_a, alu.rgb.imod_b, alu.rgba.rgb_imod_c) = imods.into();
        (alu.alpha.imod_a, alu.alpha.imod_b, alu.rgba.alpha_imod_c) = imods.into();
        alu
    }

    /// The same; the result goes to a register.
    fn compute(&mut self, mut alu: AluInst, to: u8) {
        (alu.rgba.addrd, alu.alpha.addrd) = (to, to);
        (alu.cmn.rgb_wmask, alu.cmn.alpha_wmask) =
            if self.flag(3) { (1 + self.random.below(7) as u8, self.flag(2)) } else { (7, true) };
        self.push(Inst::Alu(alu));
    }

    fn operand(&mut self) -> Source {
        match self.random.below(3) {
            0 => Source::Const { index: self.random.below(CONSTANTS) as u8, relative: self.relative() },
            _ => temp(self.temp()),
        }
    }

    fn channels(&mut self) -> [Swizzle; 4] {
        if self.flag(3) { [self.random.of(&CHANNELS); 4] } else { std::array::from_fn(|_| self.random.of(&CHANNELS)) }
    }

    /// Truth values: 0 or 1, by the sign of a number or of a difference, or by values above a half.
    fn truth(&mut self, to: u8) {
        let ops = self.random.of(&[(RgbOp::Cmp, AlphaOp::Cmp), (RgbOp::Cmp, AlphaOp::Cmp), (RgbOp::Cnd, AlphaOp::Cnd)]);
        let sources = [self.operand(), self.operand(), self.operand()];
        let [a, b] = self.random.of(&[[ZERO, ONE], [ONE, ZERO]]);
        let c = self.channels();
        let imod = self.random.of(&[Imod::Off, Imod::Off, Imod::Neg, Imod::Abs, Imod::Nab]);
        let mut alu = self.both(ops, sources, [a, b, c], [Imod::Off, Imod::Off, imod]);
        if self.flag(2) {
            (alu.rgba.rgb_sel_c, alu.rgba.alpha_sel_c) = (Sel::Srcp, Sel::Srcp);
        }
        self.compute(alu, to);
    }

    /// Not, and, or, and not, exclusive or of truth values.
    fn combine(&mut self, to: u8) {
        const MAD: (RgbOp, AlphaOp) = (RgbOp::Mad, AlphaOp::Mad);
        let other = temp(self.temp());
        let (one, off, neg) = (temp(to), Imod::Off, Imod::Neg);
        let [x, y] = [self.channels(), self.channels()];
        let alu = match self.random.below(5) {
            0 => self.both(MAD, [one; 3], [x, ONE, ONE], [neg, off, off]),
            1 => self.both(MAD, [one, other, one], [x, y, ZERO], [off; 3]),
            2 => self.both((RgbOp::Max, AlphaOp::Max), [one, other, one], [x, y, ZERO], [off; 3]),
            3 => self.both(MAD, [one, other, other], [x, y, y], [neg, off, off]),
            _ => self.both(MAD, [one, one, other], [x, ONE, y], [off, off, neg]),
        };
        self.compute(alu, to);
    }

    /// Decides something: gives whether a predicate says so, or the ALU result.
    pub(super) fn decide(&mut self) -> bool {
        if self.flag(4) && !self.habits.decision.is_empty() {
            // Once more, as where loops are left that lie in each other.
            self.words.extend(&self.habits.decision);
            return false;
        }
        let about = self.temp();
        if !self.flag(4) {
            self.truth(about);
            for _ in 0..self.random.below(3) {
                match self.flag(3) {
                    true => self.truth(about),
                    false => self.combine(about),
                }
            }
        }
        let (a, b) = (temp(about), self.operand());
        let (x, y) = (self.channels(), self.channels());
        let c = self.random.of(&[ZERO, ZERO, ZERO, [Swizzle::Half; 4], y]);
        let sign = self.random.of(&[Imod::Off, Imod::Off, Imod::Neg]);
        let mut alu = self.both((RgbOp::Mad, AlphaOp::Mad), [a, a, b], [x, ONE, c], [sign, Imod::Off, Imod::Neg]);
        let how = self.random.of(&[
            CompareOp::NotEqual,
            CompareOp::NotEqual,
            CompareOp::Equal,
            CompareOp::Less,
            CompareOp::GreaterEqual,
        ]);
        let by_predicate = self.flag(8);
        if by_predicate {
            (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
            (alu.rgb.target, alu.alpha.target) = (how.code() as u8, how.code() as u8);
        } else {
            alu.rgb.alu_wmask = true;
            (alu.cmn.alu_result_op, alu.cmn.alu_result_sel) = (how, self.random.of(AluResultSel::ALL));
        }
        let at = self.push(Inst::Alu(alu));
        if !by_predicate {
            self.habits.decision = vec![self.words[at]];
        }
        by_predicate
    }

    /// Kills by truth values.
    pub(super) fn kill(&mut self) {
        if !self.habits.kills {
            return;
        }
        let [about, to] = [self.temp(), self.temp()];
        self.truth(about);
        let x = self.channels();
        let alu =
            self.both((RgbOp::Mad, AlphaOp::Mad), [temp(about); 3], [x, ONE, ZERO], [Imod::Neg, Imod::Off, Imod::Off]);
        self.compute(alu, to);
        let Inst::Tex(mut tex) = self.tex() else { return };
        tex.inst.op = TexOp::KillLt0;
        (tex.cmn.rgb_pred_sel, tex.cmn.alpha_pred_sel) = (PredSel::None, PredSel::None);
        let [src_s_swiz, src_t_swiz, src_r_swiz, src_q_swiz] = [Channel::R, Channel::G, Channel::B, Channel::A];
        tex.addr =
            TexAddr { src_addr: to, src_addr_rel: false, src_s_swiz, src_t_swiz, src_r_swiz, src_q_swiz, ..tex.addr };
        self.push(Inst::Tex(tex));
    }

    /// BREAK by a condition, or alone in a branch; now and then CONTINUE.
    pub(super) fn leave_as_compilers_do(&mut self, open: &mut Option<Loop>) {
        let goes_on = self.flag(10);
        if self.flag(3) {
            let func = if self.decide() { 0xcc } else { 0xf0 };
            self.jump_out(open, func, goes_on);
            return;
        }
        let (has_else, breaks_in) = (self.flag(4), self.random.below(2));
        self.dynamic_branch(has_else, open, &mut |make, open, half| {
            let most = if half == breaks_in { 3 } else { 4 };
            let count = make.random.below(most) as usize;
            make.straight(count);
            if half == breaks_in || !has_else {
                make.jump_out(open, 0xff, goes_on);
            }
        });
    }

    /// A jump out of the iteration.
    pub(super) fn jump_out(&mut self, open: &mut Option<Loop>, func: u8, goes_on: bool) {
        let Some(open) = open else { return };
        let row = FlowRow { func, b1: BOp::Decr, count: open.branches, ..FlowRow::JUMP };
        if goes_on {
            let at = self.flow(FlowRow { op: FcOp::Continue, ..row }, 0);
            open.to_end.push(at);
        } else {
            let op = if open.is_loop { FcOp::BreakLoop } else { FcOp::BreakRep };
            let at = self.flow(FlowRow { op, ..row }, 0);
            open.behind.push(at);
        }
    }
}
