//! ALU and OUTPUT instructions: words lifted into the two halves, and printed.

use super::alu::{COMPARISONS, print_predicate};
use super::mnemonics::Mnemonic;
use super::operand::{ALPHA, Base, Comp, Mask, Operand, Presub, RGB, print_mask, print_operand};
use super::pair::{Half, Pair, Predicate};
use crate::x1k::inst::{AluInst, Source, inline_constant};
use crate::x1k::ops::{
    AlphaOp, AluResultSel, CompareOp, Imod, InstType, Looks, Omod, PredSel, RgbOp, Sel, SrcpOp, Swizzle,
};

/// The names that a listing uses.
pub(super) type NameOf<'n> = &'n dyn Fn(u8) -> Option<String>;

/// A source without the aL flag that inline constants cannot have; the flag is left to raw fields.
fn plain(source: Source) -> Source {
    match source {
        Source::Inline { code, .. } => Source::Inline { code, relative: false },
        Source::Temp { .. } | Source::Const { .. } => source,
    }
}

/// The part of the words that a line can express. `numbers`: inline constants become numbers, whose place the assembler chooses.
pub(super) fn lift(inst: &AluInst, uncached: bool, numbers: bool) -> Pair {
    let c = &inst.cmn;
    let is_umrt = uncached && c.kind == InstType::Output;
    let result = inst.rgb.alu_wmask.then_some((c.alu_result_sel, c.alu_result_op));
    let pred = |sel, invert| Predicate { sel, invert: invert && sel != PredSel::None };
    let mut pair = Pair { kind: c.kind, w: inst.alpha.w_omask, result, ..Pair::IDLE };
    let lifter = Lifter { rgb: inst.rgb_sources().map(plain), alpha: inst.alpha_sources().map(plain), inst, numbers };
    let rgb = Half {
        op: inst.rgba.op,
        addrd: inst.rgba.addrd,
        addrd_rel: inst.rgba.addrd_rel,
        wmask: c.rgb_wmask,
        omask: c.rgb_omask,
        target: if c.rgb_omask == 0 { 0 } else { inst.rgb.target & if is_umrt { 2 } else { 3 } },
        omod: inst.rgb.omod,
        clamp: c.rgb_clamp,
        pred: pred(c.rgb_pred_sel, c.rgb_pred_inv),
        operands: [Operand::ABSENT; 3],
    };
    let red = matches!(result, Some((AluResultSel::Red, _)));
    let blank =
        inst.rgb_operands().iter().all(|o| o.sel == Sel::Src0 && o.swizzle == [Swizzle::R; 3] && o.imod == Imod::Off);
    pair.rgb = rgb;
    if rgb != Half::idle(RgbOp::Mad) || !blank || red {
        let reads = inst.rgb_reads();
        pair.rgb.operands = std::array::from_fn(|i| {
            let o = &inst.rgb_operands()[i];
            let blank = o.sel == Sel::Src0 && o.swizzle == [Swizzle::R; 3] && o.imod == Imod::Off;
            if !reads[i] || (rgb.op.is_quad() && i == 2 && blank) {
                return Operand::ABSENT;
            }
            let comp = |s: Swizzle| lifter.comp(o.sel, s);
            Operand { imod: o.imod, comps: [comp(o.swizzle[0]), comp(o.swizzle[1]), comp(o.swizzle[2]), Comp::Absent] }
        });
    }
    let alpha = Half {
        op: inst.alpha.op,
        addrd: inst.alpha.addrd,
        addrd_rel: inst.alpha.addrd_rel,
        wmask: if c.alpha_wmask { ALPHA } else { 0 },
        omask: if c.alpha_omask { ALPHA } else { 0 },
        target: if c.alpha_omask { inst.alpha.target & if is_umrt { 2 } else { 3 } } else { 0 },
        omod: inst.alpha.omod,
        clamp: c.alpha_clamp,
        pred: pred(c.alpha_pred_sel, c.alpha_pred_inv),
        operands: [Operand::ABSENT; 3],
    };
    let blank = |i: usize| {
        let o = &inst.alpha_operands()[i];
        o.sel == Sel::Src0 && o.swizzle == Swizzle::R && o.imod == Imod::Off
    };
    pair.alpha = alpha;
    let idle = alpha == Half::idle(AlphaOp::Mad)
        && (0..3).all(blank)
        && !pair.w
        && !matches!(result, Some((AluResultSel::Alpha, _)));
    let is_dp4 = rgb.op == RgbOp::Dp4;
    // The fourth pair of a DP4 does not make the alpha half busy.
    let only_dp4 = is_dp4 && alpha == Half::idle(AlphaOp::Mad) && blank(2) && !pair.w;
    let reads = inst.alpha_reads();
    pair.alpha.operands = std::array::from_fn(|i| {
        let o = &inst.alpha_operands()[i];
        let unread = (idle && !is_dp4) || (only_dp4 && i == 2 && !matches!(result, Some((AluResultSel::Alpha, _))));
        if unread || !reads[i] || (alpha.op.is_quad() && i == 2 && blank(2)) {
            return Operand::ABSENT;
        }
        let mut operand = Operand { imod: o.imod, comps: [Comp::Absent; 4] };
        operand.comps[3] = lifter.comp(o.sel, o.swizzle);
        operand
    });
    pair
}

struct Lifter<'i> {
    inst: &'i AluInst,
    rgb: [Source; 3],
    alpha: [Source; 3],
    numbers: bool,
}

impl Lifter<'_> {
    fn comp(&self, sel: Sel, swizzle: Swizzle) -> Comp {
        let (sources, op) = match swizzle {
            Swizzle::R | Swizzle::G | Swizzle::B => (&self.rgb, self.inst.rgb_addr.srcp_op),
            Swizzle::A => (&self.alpha, self.inst.alpha_addr.srcp_op),
            Swizzle::Zero | Swizzle::Half | Swizzle::One | Swizzle::Unused => return Comp::Fixed(swizzle),
        };
        let source = match sel {
            Sel::Src0 => sources[0],
            Sel::Src1 => sources[1],
            Sel::Src2 => sources[2],
            Sel::Srcp => {
                let src1 = matches!(op, SrcpOp::Sub | SrcpOp::Add).then_some(sources[1]);
                // `(1 - r0)` is INV, so a SUB from the inline constant 1 is written as INV and the raw field SRCP_OP.
                let (op, src1) = match src1 {
                    Some(Source::Inline { code, .. })
                        if op == SrcpOp::Sub && inline_constant(code).to_bits() == 1f32.to_bits() =>
                    {
                        (SrcpOp::Inv, None)
                    }
                    _ => (op, src1),
                };
                return Comp::Read(Base::Presub(Presub { op, src0: sources[0], src1 }), swizzle);
            }
        };
        match source {
            // The plain numbers 0.5 and 1 are swizzles.
            Source::Inline { code, .. } if self.numbers && ![0.5, 1.0].contains(&inline_constant(code)) => {
                Comp::Number(inline_constant(code).to_bits())
            }
            _ => Comp::Read(Base::Plain(source), swizzle),
        }
    }
}

/// The two addresses lists of an instruction, as `rgbsrc` and `alphasrc` can say them.
pub(super) fn source_lists(inst: &AluInst) -> ([Source; 3], [Source; 3]) {
    (inst.rgb_sources().map(plain), inst.alpha_sources().map(plain))
}

fn comparison(op: CompareOp) -> &'static str {
    COMPARISONS.iter().find(|c| c.1 == op).map_or("eq", |c| c.0)
}

/// The parts of a printed statement besides its operands.
struct StatementParts<'p> {
    pair: &'p Pair,
    uncached: bool,
}

impl StatementParts<'_> {
    fn has_alpha_result(&self) -> bool {
        matches!(self.pair.result, Some((AluResultSel::Alpha, _)))
    }

    /// The channels that the halves in `of` write, predicate bits and ALU result included.
    fn channels(&self, of: Mask) -> Mask {
        let (rgb, alpha) = (&self.pair.rgb, &self.pair.alpha);
        let mut mask = 0;
        if of & RGB != 0 {
            mask |= rgb.wmask | rgb.omask;
            mask |= u8::from(matches!(self.pair.result, Some((AluResultSel::Red, _))));
        }
        if of & ALPHA != 0 {
            mask |= alpha.wmask | alpha.omask;
            if self.pair.w || self.has_alpha_result() {
                mask |= ALPHA;
            }
        }
        mask
    }

    fn target(&self, target: u8, mask: Mask) -> String {
        if self.pair.kind == InstType::Alu {
            let op = CompareOp::from_code(target.into()).unwrap_or(CompareOp::Equal);
            format!("p{}({})", print_mask(mask), comparison(op))
        } else if self.uncached {
            format!("umrt[{}]{}", if target & 2 == 0 { "same" } else { "each" }, print_mask(mask))
        } else {
            format!("o{target}{}", print_mask(mask))
        }
    }

    /// The destinations of the halves in `of`; `None` if one statement cannot name them together.
    fn destinations(&self, of: Mask, output: NameOf<'_>) -> Option<String> {
        let (rgb, alpha) = (&self.pair.rgb, &self.pair.alpha);
        let mut items = Vec::new();
        let register = |index: u8, relative: bool, mask: Mask| {
            let source = Source::Temp { index, relative };
            format!("{}{}", super::operand::print_source(source, &|_| None), print_mask(mask))
        };
        let (rgb_address, alpha_address) = ((rgb.addrd, rgb.addrd_rel), (alpha.addrd, alpha.addrd_rel));
        let (in_rgb, in_alpha) = (of & RGB != 0, of & ALPHA != 0);
        let wmask = if in_rgb { rgb.wmask } else { 0 } | if in_alpha { alpha.wmask } else { 0 };
        // Which half's address the statement states; the other's must be the assembler's default, 0.
        let stated = match (wmask & RGB != 0, wmask & ALPHA != 0) {
            (true, true) if rgb_address != alpha_address => return None,
            (true, false) | (false, false) if in_rgb && in_alpha && alpha_address != (0, false) => return None,
            (false, true) if in_rgb && in_alpha && rgb_address != (0, false) => return None,
            (true, _) => rgb_address,
            (false, true) => alpha_address,
            (false, false) => {
                if in_rgb {
                    rgb_address
                } else {
                    alpha_address
                }
            }
        };
        if wmask != 0 || stated != (0, false) {
            items.push(register(stated.0, stated.1, wmask));
        }
        let rgb_omask = if in_rgb { rgb.omask } else { 0 };
        let alpha_omask = if in_alpha { alpha.omask } else { 0 };
        let named = |target: u8, mask: Mask| {
            let name = (self.pair.kind == InstType::Output && !self.uncached).then(|| output(target)).flatten();
            name.map_or_else(|| self.target(target, mask), |name| format!("{name}{}", print_mask(mask)))
        };
        if rgb_omask != 0 && alpha_omask != 0 && rgb.target == alpha.target {
            items.push(named(rgb.target, rgb_omask | alpha_omask));
        } else {
            if rgb_omask != 0 {
                items.push(named(rgb.target, rgb_omask));
            }
            if alpha_omask != 0 {
                items.push(named(alpha.target, alpha_omask));
            }
        }
        if let Some((channel, op)) = self.pair.result {
            let (letter, mine) = match channel {
                AluResultSel::Red => ('r', in_rgb),
                AluResultSel::Alpha => ('a', in_alpha),
            };
            if mine {
                items.push(format!("res({letter} {})", comparison(op)));
            }
        }
        if in_alpha && self.pair.w {
            items.push("w".to_owned());
        }
        Some(if items.is_empty() { "_".to_owned() } else { items.join(", ") })
    }
}

/// Whether two operands are the same for the channels of `unit`.
fn same(a: &Operand, b: &Operand, unit: Mask) -> bool {
    a.imod == b.imod && (0..4).all(|i| unit & 1 << i == 0 || a.comps[i] == b.comps[i])
}

/// The mnemonic for an operation and its operands, and the operands that it is written with.
fn sugar(
    op: RgbOp,
    operands: &[Operand; 3],
    omod: Omod,
    clamp: bool,
    wanted: Mask,
    unit: Mask,
) -> Option<(Mnemonic, Vec<Operand>)> {
    let [a, b, c] = *operands;
    match op {
        RgbOp::Max if same(&a, &b, unit) && (omod != Omod::U1 || clamp) => Some((Mnemonic::Mov, vec![a])),
        // C is absent beside a DP4 that has the alpha half's A and B.
        RgbOp::Mad if c != Operand::ABSENT => {
            let one = same(&b, &Operand::fixed(Swizzle::One, wanted), unit);
            let zero = same(&c, &Operand::fixed(Swizzle::Zero, wanted), unit);
            let imod = |imod| Operand { imod, ..c };
            match (one, zero, c.imod) {
                (false, true, _) => Some((Mnemonic::Mul, vec![a, b])),
                (true, false, Imod::Neg) => Some((Mnemonic::Sub, vec![a, imod(Imod::Off)])),
                (true, false, Imod::Nab) => Some((Mnemonic::Sub, vec![a, imod(Imod::Abs)])),
                (true, false, Imod::Off | Imod::Abs) => Some((Mnemonic::Add, vec![a, c])),
                (true, true, _) | (false, false, _) => None,
            }
        }
        _ => None,
    }
}

/// Which of the operands an operation's statement is written with: the ones that are there.
fn present(operands: &[Operand; 3]) -> Vec<Operand> {
    operands.iter().copied().filter(|o| *o != Operand::ABSENT).collect()
}

fn modifiers(mnemonic: Mnemonic, omod: Omod, clamp: bool) -> String {
    let omod = match omod {
        Omod::U1 => "",
        Omod::U2 => " *2",
        Omod::U4 => " *4",
        Omod::U8 => " *8",
        Omod::D2 => " /2",
        Omod::D4 => " /4",
        Omod::D8 => " /8",
        Omod::Disabled if mnemonic == Mnemonic::Mov && !clamp => "",
        Omod::Disabled => " raw",
    };
    format!("{omod}{}", if clamp { " sat" } else { "" })
}

/// The names of constants and outputs.
pub(super) struct Printer<'n> {
    pub constant: NameOf<'n>,
    pub output: NameOf<'n>,
    pub uncached: bool,
}

impl Printer<'_> {
    fn statement(
        &self,
        mnemonic: Mnemonic,
        dests: &str,
        operands: &[(Operand, Mask)],
        omod: Omod,
        clamp: bool,
    ) -> String {
        let mut text = format!("{:<5} {dests}", mnemonic.name());
        for (operand, wanted) in operands {
            text.push_str(", ");
            text.push_str(&print_operand(operand, *wanted, self.constant));
        }
        text.push_str(&modifiers(mnemonic, omod, clamp));
        text
    }

    /// The instruction as a line, without attributes.
    pub fn pair(&self, pair: &Pair) -> String {
        let part = StatementParts { pair, uncached: self.uncached };
        let result = pair.result.map(|r| r.0);
        let rgb_idle = pair.rgb == Half::idle(RgbOp::Mad) && result != Some(AluResultSel::Red);
        let alpha_idle = pair.alpha == Half::idle(AlphaOp::Mad) && !pair.w && result != Some(AluResultSel::Alpha);
        let single = if rgb_idle && alpha_idle {
            Some("idle".to_owned())
        } else {
            self.dot(&part).or_else(|| self.scalar(&part)).or_else(|| {
                if alpha_idle {
                    self.rgb_half(&part).map(|text| prefixed(pair.rgb.pred, &text))
                } else if rgb_idle {
                    let written =
                        part.channels(ALPHA) != 0 || pair.alpha.op.is_transcendental() || pair.alpha.op == AlphaOp::Dp;
                    self.alpha_half(&part).filter(|_| written).map(|text| prefixed(pair.alpha.pred, &text))
                } else {
                    self.whole(&part)
                }
            })
        };
        single.unwrap_or_else(|| {
            let idle = || "idle".to_owned();
            let rgb = if rgb_idle { idle() } else { self.rgb_half(&part).unwrap_or_else(idle) };
            let alpha = if alpha_idle { idle() } else { self.alpha_half(&part).unwrap_or_else(idle) };
            let alpha = if alpha_idle || pair.alpha.pred == pair.rgb.pred {
                alpha
            } else {
                format!("({}) {alpha}", print_predicate(pair.alpha.pred))
            };
            format!("{} | {alpha}", prefixed(pair.rgb.pred, &rgb))
        })
    }

    fn rgb_half(&self, part: &StatementParts<'_>) -> Option<String> {
        let half = &part.pair.rgb;
        let wanted = part.pair.rgb_wanted();
        let dests = part.destinations(RGB, self.output)?;
        let (mnemonic, list) = if half.op == RgbOp::Sop {
            (Mnemonic::Sop, Vec::new())
        } else if half.op.is_dot_product() {
            (Mnemonic::Dot(half.op), self.dot_operands(half.op, &half.operands, RGB))
        } else {
            let (mnemonic, list) = sugar(half.op, &half.operands, half.omod, half.clamp, wanted, RGB)
                .unwrap_or_else(|| (both(half.op), present(&half.operands)));
            (mnemonic, list.into_iter().map(|o| (o, wanted)).collect())
        };
        Some(self.statement(mnemonic, &dests, &list, half.omod, half.clamp))
    }

    fn alpha_half(&self, part: &StatementParts<'_>) -> Option<String> {
        let half = &part.pair.alpha;
        let dests = part.destinations(ALPHA, self.output)?;
        let (mnemonic, list) = match half.op.rgb() {
            None if half.op == AlphaOp::Dp => (Mnemonic::Dp, present(&half.operands)),
            None => (Mnemonic::Scalar(half.op), present(&half.operands)),
            Some(op) => sugar(op, &half.operands, half.omod, half.clamp, ALPHA, ALPHA)
                .unwrap_or_else(|| (both(op), present(&half.operands))),
        };
        let list: Vec<_> = list.into_iter().map(|o| (o, ALPHA)).collect();
        Some(self.statement(mnemonic, &dests, &list, half.omod, half.clamp))
    }

    fn dot_operands(&self, op: RgbOp, operands: &[Operand; 3], unit: Mask) -> Vec<(Operand, Mask)> {
        let looks = op.info().looks.into_iter().zip(*operands);
        looks
            .filter_map(|(looks, operand)| match looks {
                Looks::Channels(mask) => Some((operand, mask & unit)),
                Looks::Own => Some((operand, unit & RGB)),
                Looks::Nothing | Looks::Quad => None,
            })
            .collect()
    }

    /// A dot product whose alpha half is idle or copies it.
    fn dot(&self, part: &StatementParts<'_>) -> Option<String> {
        let (rgb, alpha) = (&part.pair.rgb, &part.pair.alpha);
        if !rgb.op.is_dot_product() {
            return None;
        }
        let mut operands = rgb.operands;
        let is_dp4 = rgb.op == RgbOp::Dp4;
        if is_dp4 {
            for (operand, fourth) in operands.iter_mut().zip(&alpha.operands).take(2) {
                if operand.imod != fourth.imod || *fourth == Operand::ABSENT {
                    return None;
                }
                operand.comps[3] = fourth.comps[3];
            }
        }
        let unread = alpha.operands.iter().skip(if is_dp4 { 2 } else { 0 }).all(|o| *o == Operand::ABSENT);
        if !unread {
            return None;
        }
        let list = self.dot_operands(rgb.op, &operands, 15);
        let mnemonic = Mnemonic::Dot(rgb.op);
        let (in_rgb, in_alpha) = (part.channels(RGB), part.channels(ALPHA));
        let defaults = (Omod::U1, false, Predicate::NONE);
        let of = |half: (Omod, bool, Predicate)| half;
        let rgb_says = of((rgb.omod, rgb.clamp, rgb.pred));
        let alpha_says = of((alpha.omod, alpha.clamp, alpha.pred));
        if alpha.op == AlphaOp::Mad
            && in_alpha == 0
            && alpha_says == defaults
            && (alpha.addrd, alpha.addrd_rel) == (0, false)
        {
            let dests = part.destinations(RGB, self.output)?;
            return Some(prefixed(rgb.pred, &self.statement(mnemonic, &dests, &list, rgb.omod, rgb.clamp)));
        }
        if alpha.op != AlphaOp::Dp || in_alpha == 0 {
            return None;
        }
        if in_rgb == 0 {
            if rgb_says != defaults || (rgb.addrd, rgb.addrd_rel) != (0, false) {
                return None;
            }
            let dests = part.destinations(ALPHA, self.output)?;
            return Some(prefixed(alpha.pred, &self.statement(mnemonic, &dests, &list, alpha.omod, alpha.clamp)));
        }
        if (rgb.omod, rgb.clamp) != (alpha.omod, alpha.clamp) {
            return None;
        }
        let dests = part.destinations(15, self.output)?;
        Some(prefixed_both(part.pair, &self.statement(mnemonic, &dests, &list, rgb.omod, rgb.clamp)))
    }

    /// A transcendental operation whose result goes to the RGB half.
    fn scalar(&self, part: &StatementParts<'_>) -> Option<String> {
        let (rgb, alpha) = (&part.pair.rgb, &part.pair.alpha);
        let in_rgb = part.channels(RGB);
        if rgb.op != RgbOp::Sop || !alpha.op.is_transcendental() || in_rgb == 0 {
            return None;
        }
        let list: Vec<_> = present(&alpha.operands).into_iter().map(|o| (o, ALPHA)).collect();
        let mnemonic = Mnemonic::Scalar(alpha.op);
        if part.channels(ALPHA) == 0 {
            let says = (alpha.omod, alpha.clamp, alpha.pred, alpha.addrd, alpha.addrd_rel);
            if says != (Omod::U1, false, Predicate::NONE, 0, false) {
                return None;
            }
            let dests = part.destinations(RGB, self.output)?;
            return Some(prefixed(rgb.pred, &self.statement(mnemonic, &dests, &list, rgb.omod, rgb.clamp)));
        }
        if (rgb.omod, rgb.clamp) != (alpha.omod, alpha.clamp) {
            return None;
        }
        let dests = part.destinations(15, self.output)?;
        Some(prefixed_both(part.pair, &self.statement(mnemonic, &dests, &list, rgb.omod, rgb.clamp)))
    }

    /// The same operation in both halves, on the same registers.
    fn whole(&self, part: &StatementParts<'_>) -> Option<String> {
        let (rgb, alpha) = (&part.pair.rgb, &part.pair.alpha);
        let wanted = part.channels(15);
        let both_write = wanted & RGB != 0 && wanted & ALPHA != 0;
        if !both_write || alpha.op.rgb() != Some(rgb.op) || (rgb.omod, rgb.clamp) != (alpha.omod, alpha.clamp) {
            return None;
        }
        let mut operands = rgb.operands;
        for (operand, scalar) in operands.iter_mut().zip(&alpha.operands) {
            if operand.imod != scalar.imod || (*operand == Operand::ABSENT) != (*scalar == Operand::ABSENT) {
                return None;
            }
            operand.comps[3] = scalar.comps[3];
            if is_mixed(operand) {
                return None;
            }
        }
        let (mnemonic, list) = sugar(rgb.op, &operands, rgb.omod, rgb.clamp, wanted, 15)
            .unwrap_or_else(|| (both(rgb.op), present(&operands)));
        let list: Vec<_> = list.into_iter().map(|o| (o, wanted)).collect();
        let dests = part.destinations(15, self.output)?;
        Some(prefixed_both(part.pair, &self.statement(mnemonic, &dests, &list, rgb.omod, rgb.clamp)))
    }
}

fn both(op: RgbOp) -> Mnemonic {
    op.alpha().map_or(Mnemonic::Idle, |alpha| Mnemonic::Both(op, alpha))
}

/// Whether an operand of both halves reads different sources in them: two statements say that better.
fn is_mixed(operand: &Operand) -> bool {
    let mut base = None;
    operand.comps.iter().any(|&c| match c {
        Comp::Read(found, _) => *base.get_or_insert(found) != found,
        Comp::Fixed(_) | Comp::Absent | Comp::Number(_) => false,
    }) || (base.is_some() && operand.comps.iter().any(|c| matches!(c, Comp::Number(_))))
}

fn prefixed(pred: Predicate, text: &str) -> String {
    if pred == Predicate::NONE { text.to_owned() } else { format!("({}) {text}", print_predicate(pred)) }
}

fn prefixed_both(pair: &Pair, text: &str) -> String {
    if pair.rgb.pred == pair.alpha.pred {
        return prefixed(pair.rgb.pred, text);
    }
    format!("({} | {}) {text}", print_predicate(pair.rgb.pred), print_predicate(pair.alpha.pred))
}

/// Whether the destinations alone make an instruction of this pair's type.
pub(super) fn kind_is_implied(pair: &Pair) -> bool {
    let outputs = pair.kind == InstType::Output && (pair.rgb.omask | pair.alpha.omask != 0);
    (outputs || pair.w) == (pair.kind == InstType::Output)
}
