//! The halves of an ALU or OUTPUT instruction: as a line says them, and co-issued as a pair.

use super::Parse;
use super::mnemonics::Mnemonic;
use super::operand::{ALPHA, Mask, Operand, RGB, WrittenOperand};
use crate::diag::{Diagnostic, Span};
use crate::x1k::ops::{AlphaOp, AluResultSel, CompareOp, InstType, Omod, PredSel, RgbOp};

/// Which predicate bits guard the writes of a half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Predicate {
    pub sel: PredSel,
    pub invert: bool,
}

impl Predicate {
    pub const NONE: Self = Self { sel: PredSel::None, invert: false };
}

/// One half of an instruction. Masks use the bits of [`Mask`]: the alpha half has 8 or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Half<Op> {
    pub op: Op,
    pub addrd: u8,
    pub addrd_rel: bool,
    pub wmask: Mask,
    pub omask: Mask,
    /// Output, kind of uncached write, or comparison of the predicate bits.
    pub target: u8,
    pub omod: Omod,
    pub clamp: bool,
    pub pred: Predicate,
    pub operands: [Operand; 3],
}

impl<Op> Half<Op> {
    pub const fn idle(op: Op) -> Self {
        Self {
            op,
            addrd: 0,
            addrd_rel: false,
            wmask: 0,
            omask: 0,
            target: 0,
            omod: Omod::U1,
            clamp: false,
            pred: Predicate::NONE,
            operands: [Operand::ABSENT; 3],
        }
    }
}

/// An ALU or OUTPUT instruction: both halves, co-issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub kind: InstType,
    pub rgb: Half<RgbOp>,
    pub alpha: Half<AlphaOp>,
    /// Writes the conditional value.
    pub w: bool,
    /// Sets the ALU result.
    pub result: Option<(AluResultSel, CompareOp)>,
}

impl Pair {
    pub const IDLE: Self = Self {
        kind: InstType::Alu,
        rgb: Half::idle(RgbOp::Mad),
        alpha: Half::idle(AlphaOp::Mad),
        w: false,
        result: None,
    };

    /// The channels of the RGB half that its operands are for.
    pub fn rgb_wanted(&self) -> Mask {
        let result = matches!(self.result, Some((AluResultSel::Red, _)));
        match self.rgb.wmask | self.rgb.omask | Mask::from(result) {
            0 => RGB,
            mask => mask,
        }
    }
}

/// Where a half (or both) writes, as it was written.
#[derive(Default)]
pub(super) struct Dests {
    pub temp: Option<(u8, bool, Option<Mask>)>,
    pub outputs: Vec<(u8, Option<Mask>, Span)>,
    pub predicates: Vec<(CompareOp, Option<Mask>, Span)>,
    pub uncached: bool,
    pub result: Option<(AluResultSel, CompareOp)>,
    pub w: bool,
    pub span: Span,
}

impl Dests {
    /// The channels that are written, where `default` is used without a mask.
    pub fn channels(&self, default: Mask) -> Mask {
        let masks = (self.temp.iter().map(|t| t.2))
            .chain(self.outputs.iter().map(|o| o.1))
            .chain(self.predicates.iter().map(|p| p.1));
        let result = match self.result {
            Some((AluResultSel::Red, _)) => 1,
            Some((AluResultSel::Alpha, _)) => ALPHA,
            None => 0,
        };
        masks.fold(result | if self.w { ALPHA } else { 0 }, |all, m| all | m.unwrap_or(default))
    }

    /// Output mask and target of the channels `of`; two items for one channel are an error.
    pub fn target(&self, of: Mask, default: Mask) -> Parse<(Mask, u8)> {
        let items = (self.outputs.iter().map(|&(target, mask, span)| (target, mask, span)))
            .chain(self.predicates.iter().map(|&(op, mask, span)| (op.code() as u8, mask, span)));
        let mut found: Option<(Mask, u8)> = None;
        for (target, mask, span) in items {
            let mask = mask.unwrap_or(default) & of;
            match &mut found {
                _ if mask == 0 => {}
                None => found = Some((mask, target)),
                Some((all, old)) if *old == target => *all |= mask,
                Some(_) => {
                    return Err(Box::new(
                        Diagnostic::error("destination", "one half has one target: this is a second one")
                            .at(span, "")
                            .cite("CTM §3.3.8")
                            .help("the RGB half and the alpha half can have different ones"),
                    ));
                }
            }
        }
        Ok(found.unwrap_or((0, 0)))
    }
}

/// One statement of a line: mnemonic, destinations, operands and attributes.
pub(super) struct WrittenHalf {
    pub mnemonic: Mnemonic,
    pub span: Span,
    pub predicate: Option<(Predicate, Predicate)>,
    pub dests: Dests,
    pub operands: Vec<WrittenOperand>,
    pub omod: Option<Omod>,
    pub clamp: bool,
}
