//! From an opcode to the function that computes it (CTM §3.3.4).
//!
//! The functions themselves are in `ops` and `transcendental`. All users of ALU instructions call it, so a new operation is a row of its table in
//! `ctm_isa`, a function, and its line in [`UnitOp::function`].

use super::ops::{self, ZeroRule};
use crate::float::WideResult;
use crate::transcendental;
use ctm_isa::x1k::ops::{AlphaOp, AluInfo, Omod, RgbOp};

/// An operation of one of the two units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitOp {
    /// Of the RGB unit.
    Rgb(RgbOp),
    /// Of the alpha unit.
    Alpha(AlphaOp),
}

/// The function of an operation.
#[derive(Clone, Copy, Debug)]
pub enum Function {
    /// A number, of one channel of A, B and C.
    Number(fn([u32; 3], ZeroRule) -> WideResult),
    /// The bits of one of the operands, of one channel of A, B and C.
    Choice(fn([u32; 3]) -> u32),
    /// A number for all channels, of r, g, b, a of A and B, and of C.b.
    Dot(fn([u32; 4], [u32; 4], u32, ZeroRule) -> WideResult),
    /// The other unit's result for all channels.
    Copy,
    /// [`ops::quad_mad`], with the top-right lane of the quad (or, where this is false, the bottom-left one).
    Quad {
        /// MDH.
        horizontal: bool,
    },
}

impl UnitOp {
    /// The further columns of its row.
    #[must_use]
    pub const fn info(self) -> AluInfo {
        match self {
            Self::Rgb(op) => op.info(),
            Self::Alpha(op) => op.info(),
        }
    }

    /// Its function.
    #[must_use]
    pub const fn function(self) -> Function {
        use Function::{Choice, Copy, Dot, Number, Quad};
        match self {
            Self::Rgb(RgbOp::Mad) | Self::Alpha(AlphaOp::Mad) => Number(|[a, b, c], zero| ops::mad(a, b, c, zero)),
            Self::Rgb(RgbOp::Dp3) => {
                Dot(|[ar, ag, ab, _], [br, bg, bb, _], _, zero| ops::dp3([ar, ag, ab], [br, bg, bb], zero))
            }
            Self::Rgb(RgbOp::Dp4) => Dot(|a, b, _, zero| ops::dp4(a, b, zero)),
            Self::Rgb(RgbOp::D2a) => Dot(|[ar, ag, ..], [br, bg, ..], cb, zero| ops::d2a([ar, ag], [br, bg], cb, zero)),
            Self::Rgb(RgbOp::Min) | Self::Alpha(AlphaOp::Min) => Choice(|[a, b, _]| ops::min(a, b)),
            Self::Rgb(RgbOp::Max) | Self::Alpha(AlphaOp::Max) => Choice(|[a, b, _]| ops::max(a, b)),
            Self::Rgb(RgbOp::Cnd) | Self::Alpha(AlphaOp::Cnd) => Choice(|[a, b, c]| ops::cnd(a, b, c)),
            Self::Rgb(RgbOp::Cmp) | Self::Alpha(AlphaOp::Cmp) => Choice(|[a, b, c]| ops::cmp(a, b, c)),
            Self::Rgb(RgbOp::Frc) | Self::Alpha(AlphaOp::Frc) => Number(|[a, ..], _| ops::frc(a)),
            Self::Rgb(RgbOp::Sop) | Self::Alpha(AlphaOp::Dp) => Copy,
            Self::Rgb(RgbOp::Mdh) | Self::Alpha(AlphaOp::Mdh) => Quad { horizontal: true },
            Self::Rgb(RgbOp::Mdv) | Self::Alpha(AlphaOp::Mdv) => Quad { horizontal: false },
            Self::Alpha(AlphaOp::Ex2) => Number(|[a, ..], _| WideResult::from_bits(transcendental::ex2(a))),
            Self::Alpha(AlphaOp::Ln2) => Number(|[a, ..], _| WideResult::from_bits(transcendental::ln2(a))),
            Self::Alpha(AlphaOp::Rcp) => Number(|[a, ..], _| WideResult::from_bits(transcendental::rcp(a))),
            Self::Alpha(AlphaOp::Rsq) => Number(|[a, ..], _| WideResult::from_bits(transcendental::rsq(a))),
            Self::Alpha(AlphaOp::Sin) => Number(|[a, ..], _| WideResult::from_bits(transcendental::sin(a))),
            Self::Alpha(AlphaOp::Cos) => Number(|[a, ..], _| WideResult::from_bits(transcendental::cos(a))),
        }
    }

    /// One channel of the result, with output modifier and clamp: the bits that are stored; `None` for operations that read more than this channel of
    /// their operands.
    ///
    /// ```
    /// use ctm_exec::x1k::functions::UnitOp;
    /// use ctm_exec::x1k::ops::ZeroRule;
    /// use ctm_isa::x1k::ops::{Omod, RgbOp};
    ///
    /// let abc = [2.0f32, 3.0, 1.0].map(f32::to_bits);
    /// let result = |op| UnitOp::Rgb(op).channel(abc, ZeroRule::Ieee, Omod::U2, false).map(f32::from_bits);
    /// assert_eq!(result(RgbOp::Mad), Some(14.0));
    /// assert_eq!(result(RgbOp::Dp3), None);
    /// ```
    #[must_use]
    pub fn channel(self, abc: [u32; 3], zero: ZeroRule, omod: Omod, clamp: bool) -> Option<u32> {
        match self.function() {
            Function::Number(function) => Some(finish(function(abc, zero), omod, clamp)),
            Function::Choice(function) => Some(finish_choice(function(abc), omod, clamp)),
            Function::Dot(_) | Function::Copy | Function::Quad { .. } => None,
        }
    }
}

/// Output modifier and clamp of an arithmetic result (CTM §3.3.5). `OMOD_DISABLED` is not valid here; it counts as U1 without clamp.
#[must_use]
pub fn finish(value: WideResult, omod: Omod, clamp: bool) -> u32 {
    ops::output_modifier(value, omod, clamp && omod != Omod::Disabled)
}

/// The same of a chosen operand: `OMOD_DISABLED` lets its bits through.
#[must_use]
pub fn finish_choice(bits: u32, omod: Omod, clamp: bool) -> u32 {
    if omod == Omod::Disabled { bits } else { finish(WideResult::from_bits(bits), omod, clamp) }
}
