//! The names in operations: vectors, variables, masks.

use crate::instructions;
use ctm_isa::r700::GPRS;

/// A lane vector: the operation of the same block that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// Its place in the block's list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable: an element of a register or of an export, with a value in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u16);

/// Export targets: colours, depth, positions, parameters.
pub const TARGETS: usize = 8 + 1 + 4 + 32;

impl Var {
    /// The number of variables.
    pub const COUNT: usize = 4 * (GPRS + TARGETS);

    /// An element of a register.
    pub const fn gpr(register: usize, element: usize) -> Self {
        Self((4 * (register % GPRS) + element) as u16)
    }

    /// An element of an export target, by its place in `Target::all`.
    pub const fn export(target: usize, element: usize) -> Self {
        Self((4 * (GPRS + target) + element) as u16)
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The exported element: `4 * target + element`; `None` for registers.
    pub const fn export_index(self) -> Option<usize> {
        self.index().checked_sub(4 * GPRS)
    }
}

/// The variables that an index can name: an element of every register that the program has.
pub fn indexed(gprs: u8, element: u8) -> impl Iterator<Item = Var> {
    (0..usize::from(gprs)).map(move |register| Var::gpr(register, usize::from(element)))
}

/// A mask of lanes, or a number of 64 bits that is the same for all: a place in the wavefront's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct M(pub u16);

impl M {
    /// Lanes that execute.
    pub const ACTIVE: Self = Self(0);
    /// The valid mask.
    pub const VALID: Self = Self(1);
    /// The existing lanes.
    pub const EXISTING: Self = Self(2);
    /// No lane.
    pub const NONE: Self = Self(3);
    /// Lanes that an instruction with its own mode concerns.
    pub const CONCERNED: Self = Self(4);
    /// Lanes that pass a condition test.
    pub const PASS: Self = Self(5);
    /// Scratch.
    pub const TEMP: Self = Self(6);
    /// More scratch.
    pub const TEMP2: Self = Self(7);
    /// The number of the wavefront's first thread in its group.
    pub const FIRST: Self = Self(8);
    /// The first place of the stack's entries.
    const STACK: u16 = 9;
    const PER_ENTRY: u16 = 5;
    /// The most entries.
    pub const ENTRIES: usize = 48;
    /// X1K: the ALU result.
    pub const RESULT: Self = Self::saved(Self::ENTRIES - 1);
    /// The number of places.
    pub const COUNT: usize = (Self::STACK + Self::PER_ENTRY * Self::ENTRIES as u16) as usize;

    const fn of_entry(entry: usize, place: u16) -> Self {
        Self(Self::STACK + Self::PER_ENTRY * entry as u16 + place)
    }

    /// The active lanes saved in an entry of the stack.
    pub const fn saved(entry: usize) -> Self {
        Self::of_entry(entry, 0)
    }

    /// Lanes that have left the loop of an entry.
    pub const fn broken(entry: usize) -> Self {
        Self::of_entry(entry, 1)
    }

    /// Lanes that wait for the next iteration.
    pub const fn continued(entry: usize) -> Self {
        Self::of_entry(entry, 2)
    }

    /// Iterations left.
    pub const fn count(entry: usize) -> Self {
        Self::of_entry(entry, 3)
    }

    /// The loop index.
    pub const fn loop_index(entry: usize) -> Self {
        Self::of_entry(entry, 4)
    }

    /// X1K: a bit of the predicate register (0 = r to 3 = a).
    pub const fn predicate(bit: u8) -> Self {
        Self::saved(Self::ENTRIES - 2 - bit as usize)
    }

    /// X1K: scratch for the lanes that instructions concern, one of [`Self::UNDERS`].
    pub const fn under(number: usize) -> Self {
        Self::broken(Self::ENTRIES - 1 - number)
    }

    /// The number of these.
    pub const UNDERS: usize = 8;
    /// X1K: the lanes that an uncached write concerns, as a number.
    pub const WRITING: Self = Self::continued(Self::ENTRIES - 1);

    /// The entry of the stack that it belongs to.
    pub const fn entry(self) -> usize {
        self.0.saturating_sub(Self::STACK) as usize / Self::PER_ENTRY as usize
    }

    /// Whether it is a number, not a mask: iterations left, the loop index, the first thread.
    pub const fn is_number(self) -> bool {
        self.0 == Self::FIRST.0 || self.0 >= Self::STACK && (self.0 - Self::STACK) % Self::PER_ENTRY >= 3
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

instructions! {
    /// An operation on masks. The first place is the destination.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum MaskOp is "operation on masks" {
        /// `dst = a`
        Copy(dst: M, a: M) = "copy";
        /// `dst = a & b`
        And(dst: M, a: M, b: M) = "and";
        /// `dst = a & !b`
        AndNot(dst: M, a: M, b: M) = "and_not";
        /// `dst = a | b`
        Or(dst: M, a: M, b: M) = "or";
        /// `dst = a ^ b`
        Xor(dst: M, a: M, b: M) = "xor";
        /// All lanes of the quads with a lane in `a`.
        Quads(dst: M, a: M) = "quads";
        /// The lanes whose value is not zero.
        Lanes(dst: M, value: Value) = "lanes";
        /// A number.
        Number(dst: M, number: i32) = "load_number";
        /// Adds to a number; wraps to 13 bits in two's complement when `true`.
        Add(dst: M, number: i32, to_13_bits: bool) = "add";
        /// `dst = a` if the number `b` is not zero, else no lane.
        IfNot0(dst: M, a: M, b: M) = "if_not_0";
    }
}

impl MaskOp {
    /// The mask that it writes.
    pub const fn writes(&self) -> M {
        match *self {
            Self::Copy(d, ..)
            | Self::And(d, ..)
            | Self::AndNot(d, ..)
            | Self::Or(d, ..)
            | Self::Xor(d, ..)
            | Self::Quads(d, ..)
            | Self::Lanes(d, _)
            | Self::Number(d, _)
            | Self::Add(d, ..)
            | Self::IfNot0(d, ..) => d,
        }
    }

    /// The masks that it reads.
    pub const fn reads(&self) -> [Option<M>; 2] {
        match *self {
            Self::Lanes(..) | Self::Number(..) => [None; 2],
            Self::Copy(_, a) | Self::Quads(_, a) | Self::Add(a, ..) => [Some(a), None],
            Self::And(_, a, b)
            | Self::AndNot(_, a, b)
            | Self::Or(_, a, b)
            | Self::Xor(_, a, b)
            | Self::IfNot0(_, a, b) => [Some(a), Some(b)],
        }
    }

    /// Whether it can only reduce the active lanes.
    pub fn only_narrows(&self) -> bool {
        matches!(*self, Self::AndNot(M::ACTIVE, M::ACTIVE, _) | Self::And(M::ACTIVE, M::ACTIVE, _))
    }
}
