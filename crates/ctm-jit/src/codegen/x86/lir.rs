//! Instructions on vectors, before register allocation: each is about one machine instruction for each copy.
//!
//! Vectors are numbered: first the variables that the program uses, then the vectors of blocks. Mask registers are
//! named outright, as nothing in them outlives the operations that use it.

use super::fields::{MaskRegister, Opcode, UnderMask};
use ctm_ir::instructions;
use ctm_ir::text::fields::Bits;
use ctm_x86::V;

/// A vector that will live in a register, or in a row of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vector(pub u32);

impl Vector {
    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Src {
    /// A vector.
    Vector(Vector),
    /// The same bits in every lane.
    Literal(u32),
    /// A component of a floating-point constant.
    Const(u16),
    /// 64 bytes of the frame, at this offset from the copy's part.
    Row(i32),
    /// A dword of the frame, in every lane.
    Each(i32),
}

/// A missing operand.
pub const NO_SOURCE: Src = Src::Row(0);

/// A mask register, 1..=3.
pub type K = u8;

/// The negated roles of a fused multiply-add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Negated {
    /// The product.
    pub product: bool,
    /// The summand.
    pub summand: bool,
}

/// A kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The infinities.
    Infinite,
    /// NaNs and infinities.
    NotFinite,
}

impl Class {
    /// The number of the set in AVX-512.
    pub const fn number(self) -> u8 {
        match self {
            Self::Infinite => 0x18,
            Self::NotFinite => 0x99,
        }
    }
}

/// The tables of [`Lir::Fix`]: a digit for each class of number, and the response of each digit. Denormals count as
/// zeros.
pub mod fix {
    /// A NaN, unchanged (that is, made quiet).
    pub const OPERAND: u32 = 2;
    /// A NaN.
    pub const NAN: u32 = 3;
    /// Infinity.
    pub const INFINITY: u32 = 5;
    /// Infinity with the operand's sign.
    pub const SIGNED_INFINITY: u32 = 6;
    /// +0.
    pub const ZERO: u32 = 8;

    /// NaNs are unchanged; zeros, negative infinity, positive infinity and other negative numbers become these; 0:
    /// nothing changes.
    pub const fn table(zero: u32, minus_infinity: u32, infinity: u32, negative: u32) -> u32 {
        OPERAND | OPERAND << 4 | zero << 8 | minus_infinity << 16 | infinity << 20 | negative << 24
    }
}

instructions! {
    /// One instruction.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Lir is "vector instruction" {
        /// `dst = a`.
        Copy(dst: Vector, a: Src) = "mov";
        /// `dst = op(a, b)`.
        Two { op: V as Opcode, dst: Vector, a: Src, b: Src } = "two";
        /// `dst = op(a, b)` with an immediate.
        TwoImm { op: V as Opcode, dst: Vector, a: Src, b: Src, imm: u8 } = "two_imm";
        /// Replaces `dst` by the table's response for the class of the number `a` (AVX-512); see [`fix`].
        Fix { dst: Vector, a: Src, table: u32 as Bits } = "fix";
        /// `dst = op(a)` with an immediate.
        One { op: V as Opcode, dst: Vector, a: Src, imm: Option<u8> } = "one";
        /// `dst = a` shifted; the kind is the opcode's extension: 2 logical right, 4 arithmetic right, 6 left.
        Shift { kind: u8, dst: Vector, a: Src, count: u8 } = "shift";
        /// `dst = ±(a * b) ± c`.
        Fma { negated: Negated, dst: Vector, operands: [Src; 3] } = "fma";
        /// `dst = ±(a * b) ± c`, the product rounded before the sum; not both negated.
        MulAdd { negated: Negated, dst: Vector, operands: [Src; 3] } = "mul_add";
        /// `dst = a ? b`, under another mask (0: none). The instruction compares floats or integers, by the predicate
        /// `how`.
        Test { op: V as Opcode, how: u8, dst: K as MaskRegister, a: Src, b: Src, under: K as UnderMask } = "test";
        /// `dst = class of a`, under another mask.
        Class { class: Class, dst: K as MaskRegister, a: Src, under: K as UnderMask } = "class";
        /// `dst = a | b`.
        Or(dst: K as MaskRegister, a: K as MaskRegister, b: K as MaskRegister) = "mask_or";
        /// `dst = !a & b`.
        AndNot(dst: K as MaskRegister, a: K as MaskRegister, b: K as MaskRegister) = "mask_and_not";
        /// `dst = k ? yes : no`.
        Blend { dst: Vector, k: K as MaskRegister, yes: Src, no: Src } = "blend";
        /// `dst = k ? yes : dst`.
        Merge { dst: Vector, k: K as MaskRegister, a: Src } = "merge";
        /// `dst = k ? op(a, b) : dst`.
        MergeTwo { op: V as Opcode, dst: Vector, k: K as MaskRegister, a: Src, b: Src } = "merge_two";
        /// Skips the rest of the group when the mask is empty.
        StopIfNone(k: K as MaskRegister) = "stop_if_none";
        /// Stores a vector into a row of the frame.
        Store(row: i32, a: Src) = "store";
        /// Streams: `dst =` a dword of the constants, in every lane, counted from four times a number of the program.
        ConstRelative { number: u16, dword: u16, dst: Vector } = "const_relative";
    }
}

impl Lir {
    /// Gives the vectors that it reads, the one it changes in part included.
    pub fn each_read(&self, each: impl FnMut(Vector)) {
        let (written, sources) = self.touches();
        each_read(written, &sources, each);
    }

    /// Gives the vectors that it reads, makes or changes.
    pub fn each_vector(&self, mut each: impl FnMut(Vector)) {
        self.each_read(&mut each);
        self.touches().0.into_iter().for_each(|(dst, _)| each(dst));
    }

    /// The vector that it makes anew, or changes in part (`true`), and its operands, filled up with [`NO_SOURCE`].
    #[inline]
    pub fn touches(&self) -> (Option<(Vector, bool)>, [Src; 3]) {
        let none = NO_SOURCE;
        match *self {
            Self::Copy(dst, a) | Self::One { dst, a, .. } | Self::Shift { dst, a, .. } => {
                (Some((dst, false)), [a, none, none])
            }
            Self::Two { dst, a, b, .. } | Self::TwoImm { dst, a, b, .. } | Self::Blend { dst, yes: a, no: b, .. } => {
                (Some((dst, false)), [a, b, none])
            }
            Self::Fma { dst, operands: abc, .. } | Self::MulAdd { dst, operands: abc, .. } => (Some((dst, false)), abc),
            Self::ConstRelative { dst, .. } => (Some((dst, false)), [none; 3]),
            Self::Merge { dst, a, .. } | Self::Fix { dst, a, .. } => (Some((dst, true)), [a, none, none]),
            Self::MergeTwo { dst, a, b, .. } => (Some((dst, true)), [a, b, none]),
            Self::Class { a, .. } | Self::Store(_, a) => (None, [a, none, none]),
            Self::Test { a, b, .. } => (None, [a, b, none]),
            Self::Or(..) | Self::AndNot(..) | Self::StopIfNone(_) => (None, [none; 3]),
        }
    }

    /// Whether it names a mask register.
    #[inline]
    pub fn uses_masks(&self) -> bool {
        matches!(
            self,
            Self::Test { .. }
                | Self::Class { .. }
                | Self::Or(..)
                | Self::AndNot(..)
                | Self::Blend { .. }
                | Self::Merge { .. }
                | Self::MergeTwo { .. }
                | Self::StopIfNone(_)
        )
    }
}

/// Gives the vectors among operands, and the one that is written if it is changed in part.
#[inline]
pub fn each_read<const N: usize>(written: Option<(Vector, bool)>, sources: &[Src; N], mut each: impl FnMut(Vector)) {
    for source in sources {
        if let Src::Vector(vector) = *source {
            each(vector);
        }
    }
    if let Some((changed, true)) = written {
        each(changed);
    }
}
