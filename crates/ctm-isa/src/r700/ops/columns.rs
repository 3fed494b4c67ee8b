//! The columns of the tables of ALU opcodes beside name, number and citation.

use super::alu_fields::Omod;

/// Which units can execute an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Units {
    /// x, y, z, w and t (R700 §4.8.1).
    Any,
    /// x, y, z, w only (R700 §4.8.2).
    Vector,
    /// t only (R700 §4.8.3).
    Trans,
}

/// How many slots of a group one operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slots {
    /// One.
    One,
    /// The same operation in x, y, z and w gives one result (R700 §4.8.2.1).
    Reduction,
    /// A 64-bit operation in x and y, or in z and w: the first slot reads the high dwords (r700-encoding §4).
    Pair64,
    /// A 64-bit operation in x, y, z and w: x, y and z read the high dwords, w the low ones (r700-encoding §4).
    Quad64,
}

/// The number type of an operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Any bits.
    Bits,
    /// 32-bit floating point.
    Float,
    /// 64-bit floating point, in two slots.
    Double,
    /// Signed 32-bit integers, or integers whose sign does not matter.
    Int,
    /// Unsigned 32-bit integers.
    Uint,
}

/// Side effects of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SideEffect {
    /// Nothing.
    Plain,
    /// Computes a predicate (PRED_SET*).
    PredSet,
    /// Kills pixels (KILL*).
    Kill,
    /// Writes the address register (MOVA*).
    Mova,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// `==`
    Equal,
    /// `!=`; true of a NaN.
    NotEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
}

/// The condition of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decides {
    /// It decides nothing.
    Nothing,
    /// src0 is compared with src1, as numbers of the type `reads`.
    Compare(Test),
    /// src0 is compared with zero; if that holds, the result is src1, otherwise src2.
    Choose(Test),
    /// src0 is a predicate counter.
    Counter,
    /// src0 is a predicate counter, and src1 is compared with zero, as numbers of the type `reads`.
    Push(Test),
}

/// Which chips of the family execute an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Available {
    /// All.
    All,
    /// Those with double precision: RV770, RV790 (R700 §4.12).
    Doubles,
    /// None: an operation of R600 that this manual still lists (r700-encoding §10 E14).
    R600Only,
}

/// The further columns of an ALU opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AluInfo {
    /// How many operands it reads, 0..=3.
    pub operands: u8,
    /// Which units execute it.
    pub units: Units,
    /// How many slots it takes.
    pub slots: Slots,
    /// Type of its operands.
    pub reads: Domain,
    /// Type of its result.
    pub writes: Domain,
    /// Its side effect.
    pub kind: SideEffect,
    /// Its condition.
    pub decides: Decides,
    /// The power of two that belongs to its name: `MULADD_M2` doubles.
    pub scale: Omod,
    /// Which chips have it.
    pub available: Available,
    /// How AMD's listings spell it, where that is not the manual's name.
    pub listing: Option<&'static str>,
    /// Its formula.
    pub formula: &'static str,
}

pub(super) const fn any(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo {
        operands,
        units: Units::Any,
        slots: Slots::One,
        reads: Domain::Float,
        writes: Domain::Float,
        kind: SideEffect::Plain,
        decides: Decides::Nothing,
        scale: Omod::Off,
        available: Available::All,
        listing: None,
        formula,
    }
}
pub(super) const fn trans(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo { units: Units::Trans, ..any(operands, formula) }
}
pub(super) const fn reduce(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo { units: Units::Vector, slots: Slots::Reduction, ..any(operands, formula) }
}
pub(super) const fn pair(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo { slots: Slots::Pair64, ..quad(operands, formula) }
}
pub(super) const fn quad(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo {
        units: Units::Vector,
        slots: Slots::Quad64,
        reads: Domain::Double,
        writes: Domain::Double,
        available: Available::Doubles,
        ..any(operands, formula)
    }
}
/// A number or a mask from a comparison.
pub(super) const fn set(test: Test, formula: &'static str) -> AluInfo {
    AluInfo { decides: Decides::Compare(test), ..any(2, formula) }
}
pub(super) const fn pred(test: Test, formula: &'static str) -> AluInfo {
    AluInfo { kind: SideEffect::PredSet, ..set(test, formula) }
}
pub(super) const fn kill(test: Test, formula: &'static str) -> AluInfo {
    AluInfo { kind: SideEffect::Kill, ..set(test, formula) }
}
/// A predicate from a counter.
pub(super) const fn counter(operands: u8, formula: &'static str) -> AluInfo {
    AluInfo { kind: SideEffect::PredSet, decides: Decides::Counter, ..any(operands, formula) }
}
pub(super) const fn push(test: Test, formula: &'static str) -> AluInfo {
    AluInfo { decides: Decides::Push(test), ..counter(2, formula) }
}
pub(super) const fn choose(test: Test, formula: &'static str) -> AluInfo {
    AluInfo { decides: Decides::Choose(test), ..any(3, formula) }
}
/// A predicate from a comparison of doubles.
pub(super) const fn pred_64(test: Test, formula: &'static str) -> AluInfo {
    AluInfo { kind: SideEffect::PredSet, decides: Decides::Compare(test), writes: Domain::Float, ..pair(2, formula) }
}
pub(super) const fn mova(formula: &'static str) -> AluInfo {
    AluInfo { kind: SideEffect::Mova, units: Units::Vector, writes: Domain::Int, ..any(1, formula) }
}

impl AluInfo {
    pub(super) const fn of(self, domain: Domain) -> Self {
        Self { reads: domain, writes: domain, ..self }
    }
    pub(super) const fn reads(self, domain: Domain) -> Self {
        Self { reads: domain, ..self }
    }
    pub(super) const fn writes(self, domain: Domain) -> Self {
        Self { writes: domain, ..self }
    }
    pub(super) const fn listed(self, name: &'static str) -> Self {
        Self { listing: Some(name), ..self }
    }
    pub(super) const fn scaled(self, scale: Omod) -> Self {
        Self { scale, ..self }
    }

    /// Whether it chooses between its second and third operand.
    #[must_use]
    pub const fn is_choice(&self) -> bool {
        matches!(self.decides, Decides::Choose(_))
    }

    /// Whether it uses or produces bit patterns, so that the payload of a NaN matters. Moves of bits do not count.
    #[must_use]
    pub const fn is_integer(&self) -> bool {
        self.reads.is_integer()
            || self.writes.is_integer()
            || matches!(self.decides, Decides::Counter | Decides::Push(_))
    }
}

impl Domain {
    /// Whether they are no floats of 32 bits, and not bits of any kind.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        matches!(self, Self::Int | Self::Uint)
    }
}
