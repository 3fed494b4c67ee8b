//! Mnemonics of the ALU: short ones, and the names of operations.

use crate::x1k::ops::{AlphaOp, Class, RgbOp};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The meaning of a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mnemonic {
    /// The bits of the operand: MAX(s, s).
    Mov,
    /// MAD(a, 1, b).
    Add,
    /// MAD(a, 1, -b).
    Sub,
    /// MAD(a, b, 0).
    Mul,
    /// MAD(a, b - c, c).
    Lrp,
    /// An operation that both units have.
    Both(RgbOp, AlphaOp),
    /// A dot product: the RGB unit's, and ALPHA_DP.
    Dot(RgbOp),
    /// A transcendental operation: the alpha unit's, and RGB_SOP.
    Scalar(AlphaOp),
    /// ALPHA_DP by itself.
    Dp,
    /// RGB_SOP by itself.
    Sop,
    /// Nothing.
    Idle,
}

/// Mnemonics that are no operation's name.
const SHORT: &[(&str, Mnemonic)] = &[
    ("mov", Mnemonic::Mov),
    ("add", Mnemonic::Add),
    ("sub", Mnemonic::Sub),
    ("mul", Mnemonic::Mul),
    ("lg2", Mnemonic::Scalar(AlphaOp::Ln2)),
    ("lrp", Mnemonic::Lrp),
    ("idle", Mnemonic::Idle),
];

/// Every mnemonic of the ALU: the short ones, then the operations by their names.
static MNEMONICS: LazyLock<Vec<(Cow<'static, str>, Mnemonic)>> = LazyLock::new(|| {
    let short = SHORT.iter().map(|&(name, mnemonic)| (Cow::Borrowed(name), mnemonic));
    let named = |name: &str, mnemonic| (Cow::Owned(name.to_ascii_lowercase()), mnemonic);
    let rgb = RgbOp::ALL.iter().filter_map(|&op| {
        let mnemonic = match op.info().class {
            Class::Plain | Class::Choice | Class::Quad => Mnemonic::Both(op, op.alpha()?),
            Class::DotProduct => Mnemonic::Dot(op),
            Class::Copy => Mnemonic::Sop,
            Class::Transcendental => return None,
        };
        Some(named(op.name(), mnemonic))
    });
    let alpha = AlphaOp::ALL.iter().filter_map(|&op| {
        let mnemonic = match op.info().class {
            Class::Transcendental => Mnemonic::Scalar(op),
            Class::Copy => Mnemonic::Dp,
            // They have the RGB unit's.
            Class::Plain | Class::Choice | Class::Quad | Class::DotProduct => return None,
        };
        Some(named(op.name(), mnemonic))
    });
    short.chain(rgb).chain(alpha).collect()
});

/// Every mnemonic of the ALU. The first name of a meaning is the one that is printed.
pub(super) fn mnemonics() -> impl Iterator<Item = (&'static str, Mnemonic)> {
    MNEMONICS.iter().map(|(name, mnemonic)| (name.as_ref(), *mnemonic))
}

impl Mnemonic {
    /// Its expansion, and the operations of the tables that it is made of.
    pub fn meaning(self) -> (&'static str, Vec<&'static str>) {
        match self {
            Self::Mov => ("MAX(a, a), with the output modifier disabled: the bits of a", vec![RgbOp::Max.name()]),
            Self::Add => ("MAD(a, 1, b)", vec![RgbOp::Mad.name()]),
            Self::Sub => ("MAD(a, 1, -b)", vec![RgbOp::Mad.name()]),
            Self::Mul => ("MAD(a, b, 0)", vec![RgbOp::Mad.name()]),
            Self::Lrp => ("MAD(a, b - c, c), with b - c as a presubtract", vec![RgbOp::Mad.name()]),
            Self::Both(rgb, _) => ("the operation of both units", vec![rgb.name()]),
            Self::Dot(rgb) => {
                ("the dot product of the RGB unit; the alpha half copies it", vec![rgb.name(), AlphaOp::Dp.name()])
            }
            Self::Scalar(alpha) => {
                ("the operation of the alpha unit; the RGB half copies it", vec![alpha.name(), RgbOp::Sop.name()])
            }
            Self::Dp => ("the alpha half's copy of a dot product", vec![AlphaOp::Dp.name()]),
            Self::Sop => ("the RGB half's copy of the alpha unit's result", vec![RgbOp::Sop.name()]),
            Self::Idle => ("a half that does nothing: MAD with an empty mask", vec![RgbOp::Mad.name()]),
        }
    }

    pub fn of(word: &str) -> Option<Self> {
        mnemonics().find(|(name, _)| *name == word).map(|m| m.1)
    }

    pub fn name(self) -> &'static str {
        mnemonics().find(|m| m.1 == self).map_or("?", |m| m.0)
    }

    /// The smallest and the largest number of operands.
    pub fn operands(self) -> (usize, usize) {
        match self {
            Self::Mov => (1, 1),
            Self::Add | Self::Sub | Self::Mul => (2, 2),
            Self::Lrp => (3, 3),
            // C of a quad operation is the neighbour's src0: only its input modifier counts.
            Self::Both(op, _) if op.is_quad() => (2, 3),
            Self::Both(op, _) | Self::Dot(op) => (op.info().operands().into(), op.info().operands().into()),
            Self::Scalar(op) => (op.info().operands().into(), op.info().operands().into()),
            Self::Dp | Self::Sop | Self::Idle => (0, 0),
        }
    }
}
