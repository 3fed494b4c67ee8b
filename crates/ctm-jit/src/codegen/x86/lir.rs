//! Instructions on vectors, before registers are chosen: each is about one machine instruction for each copy.
//!
//! Vectors are numbered: first the variables that the program uses, then what blocks make for themselves. Mask registers are named
//! outright, as nothing in them outlives the operations that use it.

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

/// Where an instruction has fewer operands.
pub const NO_SOURCE: Src = Src::Row(0);

/// A mask register, 1..=3.
pub type K = u8;

/// Which of the three roles of a fused multiply-add are negated.
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
    /// The number that AVX-512 gives to the set.
    pub const fn number(self) -> u8 {
        match self {
            Self::Infinite => 0x18,
            Self::NotFinite => 0x99,
        }
    }
}

/// The tables of [`Lir::Fix`]: a digit for each class of number, and what each digit asks for. Denormals count as zeros.
pub mod fix {
    /// A NaN, as it is (that is, made quiet).
    pub const OPERAND: u32 = 2;
    /// A NaN.
    pub const NAN: u32 = 3;
    /// Infinity.
    pub const INFINITY: u32 = 5;
    /// Infinity with the operand's sign.
    pub const SIGNED_INFINITY: u32 = 6;
    /// +0.
    pub const ZERO: u32 = 8;

    /// NaNs keep what they are, zeros, negative infinity, positive infinity and other negative numbers become these; 0: nothing
    /// changes.
    pub const fn table(zero: u32, minus_infinity: u32, infinity: u32, negative: u32) -> u32 {
        OPERAND | OPERAND << 4 | zero << 8 | minus_infinity << 16 | infinity << 20 | negative << 24
    }
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lir {
    /// `dst = a`.
    Copy(Vector, Src),
    /// `dst = op(a, b)`.
    Two(V, Vector, Src, Src),
    /// `dst = op(a, b)` with an immediate.
    TwoImm(V, Vector, Src, Src, u8),
    /// Replaces `dst` by what the table says for the class of number that `a` is (AVX-512); see [`fix`].
    Fix(Vector, Src, u32),
    /// `dst = op(a)` with an immediate.
    One(V, Vector, Src, Option<u8>),
    /// `dst = a` shifted; the number is the opcode's extension: 2 logical right, 4 arithmetic right, 6 left.
    Shift(u8, Vector, Src, u8),
    /// `dst = ±(a * b) ± c`.
    Fma(Negated, Vector, [Src; 3]),
    /// `dst = ±(a * b) ± c`, the product rounded before the sum; not both negated.
    MulAdd(Negated, Vector, [Src; 3]),
    /// `k = a ? b`, under another mask (0: none). The instruction compares floats or integers, the number says how.
    Test(V, u8, K, Src, Src, K),
    /// `k = class of a`, under another mask.
    Class(Class, K, Src, K),
    /// `k = a | b`.
    Or(K, K, K),
    /// `k = !a & b`.
    AndNot(K, K, K),
    /// `dst = k ? yes : no`.
    Blend(Vector, K, Src, Src),
    /// `dst = k ? yes : dst`.
    Merge(Vector, K, Src),
    /// `dst = k ? op(a, b) : dst`.
    MergeTwo(V, Vector, K, Src, Src),
    /// Skips the rest of the group when the mask is empty.
    StopIfNone(K),
    /// Stores a vector into a row of the frame.
    Store(i32, Src),
    /// Streams: `dst =` a dword of the constants, in every lane, counted from four times a number of the program.
    ConstRelative { number: u16, dword: u16, dst: Vector },
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

    /// The vector that it makes anew, or changes in part (`true`), and its operands, [`NO_SOURCE`] behind them.
    #[inline]
    pub fn touches(&self) -> (Option<(Vector, bool)>, [Src; 3]) {
        let none = NO_SOURCE;
        match *self {
            Self::Copy(dst, a) | Self::One(_, dst, a, _) | Self::Shift(_, dst, a, _) => {
                (Some((dst, false)), [a, none, none])
            }
            Self::Two(_, dst, a, b) | Self::TwoImm(_, dst, a, b, _) | Self::Blend(dst, _, a, b) => {
                (Some((dst, false)), [a, b, none])
            }
            Self::Fma(_, dst, abc) | Self::MulAdd(_, dst, abc) => (Some((dst, false)), abc),
            Self::ConstRelative { dst, .. } => (Some((dst, false)), [none; 3]),
            Self::Merge(dst, _, a) | Self::Fix(dst, a, _) => (Some((dst, true)), [a, none, none]),
            Self::MergeTwo(_, dst, _, a, b) => (Some((dst, true)), [a, b, none]),
            Self::Class(_, _, a, _) | Self::Store(_, a) => (None, [a, none, none]),
            Self::Test(_, _, _, a, b, _) => (None, [a, b, none]),
            Self::Or(..) | Self::AndNot(..) | Self::StopIfNone(_) => (None, [none; 3]),
        }
    }

    /// Whether it names a mask register.
    #[inline]
    pub fn uses_masks(&self) -> bool {
        matches!(
            self,
            Self::Test(..)
                | Self::Class(..)
                | Self::Or(..)
                | Self::AndNot(..)
                | Self::Blend(..)
                | Self::Merge(..)
                | Self::MergeTwo(..)
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
