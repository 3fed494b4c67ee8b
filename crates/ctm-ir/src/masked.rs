//! The masked micro-operation form: operations on the lanes of a wavefront, one register element at a time.
//!
//! A [`Code`] is a graph of blocks: straight lists of operations on *lane vectors*, 32 bits for each of the 16, 32 or
//! 64 lanes of a wavefront. An operation that makes a vector is named by its place in the list ([`Value`]); vectors are
//! in single assignment, and values that outlive a block are in variables ([`Var`]). Flow control is *masks* of 64 bits
//! in fixed places ([`M`]); a few operations on them ([`MaskOp`]) express each branch-loop instruction.
//!
//! Arithmetic operations of R700 are the machine's own ([`Op::Alu`]), defined by `ctm_exec::r700::alu::single`. Those
//! of X1K programs are [`Op::Unit`], defined by the functions of `ctm_exec::x1k::ops`: denormals read as zeros, one
//! NaN; there a mask holds one group or several.
//!
//! **Invariant.** Every operation is exact in inactive lanes, too: quad operations and WRITE_INACTIVE make them
//! visible.

use crate::instructions;
pub use crate::names::{M, MaskOp, TARGETS, Value, Var, indexed};
use crate::text::fields::{Bits, FetchNumber, RegisterElement, StoreNumber, YieldNumber};
use ctm_exec::r700::VertexEvent;
use ctm_exec::r700::memory::MemoryRead;
use ctm_isa::r700::CONSTANT_FILE;
use ctm_isa::r700::inst::{CfMem, MemDsr, MemRd, TexFetch, VtxFetch};
use ctm_isa::r700::ops::{AluOp, Decides, Omod, Op2, TexOp};
use ctm_isa::x1k::ops as x1k;

/// The register file that a relative address reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterFile {
    /// The thread's registers, with their count. Outside, register 0 is read and nothing is written.
    Gprs(u8),
    /// Constants of the table of uniform values: the first one's number and the count. Outside, NaN is read.
    Constants(u16, u16),
    /// Dwords of the local data share. Outside, 0 is read.
    Share,
}

/// An operation of the X1K on one channel, with one to three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelOp {
    /// `a * b + c`, times the output modifier, rounded once (`ops::mad` and `ops::output_modifier`).
    Mad {
        /// 0 times infinity and 0 times NaN are 0 (`ops::ZeroRule`).
        zero_wins: bool,
        /// Output modifier.
        omod: x1k::Omod,
    },
    /// The number times the output modifier, rounded: flushes, and makes the one NaN (`Wide::from_bits`, `ops::output_modifier`).
    Scale(x1k::Omod),
    /// `a < b ? a : b`, flushed: `b` where one is a NaN, and of two zeros.
    Min,
    /// `a > b ? a : b`, in the same way.
    Max,
    /// To 0..1 (`ops::clamp`).
    Clamp,
    /// `a - floor(a)`, times the output modifier (`ops::frc`).
    Fraction(x1k::Omod),
    /// A transcendental function (`ctm_exec::transcendental`).
    Scalar(x1k::AlphaOp),
}

impl ChannelOp {
    /// The number of operands.
    pub const fn operands(self) -> usize {
        match self {
            Self::Mad { .. } => 3,
            Self::Min | Self::Max => 2,
            Self::Scale(_) | Self::Clamp | Self::Fraction(_) | Self::Scalar(_) => 1,
        }
    }
}

/// A dot product of the X1K, exact for any estimate (`ops::dp3`, `ops::dp4`, `ops::d2a` and `ops::output_modifier`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dot {
    /// DP3, DP4 or D2A.
    pub op: x1k::RgbOp,
    /// 0 times infinity and 0 times NaN are 0 (`ops::ZeroRule`).
    pub zero_wins: bool,
    /// Output modifier.
    pub omod: x1k::Omod,
    /// The terms with a changed sign, a bit for each: of a product, the sign of one factor.
    pub negated: u8,
    /// The conditions under which the estimate may be wrong.
    pub doubts: Doubts,
}

/// The conditions under which a dot product computed in single precision may differ from the exact one before its
/// output modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Doubts {
    /// It is smaller than [`Dot::SMALL`]: a term or a sum may have fallen below the range.
    pub small: bool,
    /// It is not finite: a term or a sum may have left the range at the top.
    pub large: bool,
}

impl Doubts {
    /// Whether there are any.
    pub const fn any(self) -> bool {
        self.small || self.large
    }
}

impl Dot {
    /// The most operands.
    pub const OPERANDS: usize = 9;
    /// 2^-63, see `docs/arithmetic.md`.
    pub const SMALL: u32 = 0x2000_0000;

    /// The number of operands: the estimate, then the factors of each term; of D2A's last term the number itself.
    pub const fn operands(self) -> usize {
        match self.op {
            x1k::RgbOp::Dp4 => 9,
            x1k::RgbOp::Dp3 => 7,
            _ => 6,
        }
    }

    /// The places of a term's factors among the operands; both are one place for a number.
    pub const fn term(self, term: usize) -> [usize; 2] {
        let first = 1 + 2 * term;
        [first, if first + 1 < self.operands() { first + 1 } else { first }]
    }

    /// The number of terms.
    pub const fn terms(self) -> usize {
        self.operands() / 2
    }

    /// Whether a term is a number instead of a product.
    pub const fn is_number(self, term: usize) -> bool {
        matches!(self.op, x1k::RgbOp::D2a) && term == 2
    }
}

/// A counter of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    /// Active lanes, for each instruction.
    Lanes,
    /// X1K: lookups of an input.
    Lookups(u8),
}

impl Counter {
    /// The number of counters.
    pub const COUNT: usize = 17;

    /// Its number.
    pub const fn index(self) -> usize {
        match self {
            Self::Lanes => 0,
            Self::Lookups(input) => 1 + (input & 15) as usize,
        }
    }
}

instructions! {
    /// One micro-operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Op is "micro-operation" {
        // --- vectors ---
        /// The same bits in every lane.
        Bits(bits: u32 as Bits) = "bits";
        /// The value of a variable at this place.
        Get(var: Var) = "get";
        /// A dword of the table of uniform values.
        Uniform(index: u16) = "uniform";
        /// A number of the wavefront's state, in every lane.
        Number(number: M) = "number";
        /// The lane's number.
        Lane = "lane";
        /// The sign bit cleared.
        Abs(a: Value) = "abs";
        /// The sign bit turned.
        Neg(a: Value) = "neg";
        /// An operation of one slot with its modifiers.
        Alu { op: AluOp, operands: [Value; 3], omod: Omod, clamp: bool } = "alu";
        /// All ones where the operation's predicate is execute or its comparison kills (`wanted`), or in the other
        /// lanes, else 0.
        Holds { op: Op2, operands: [Value; 2], wanted: bool } = "holds";
        /// `c != 0 ? a : b`, as bits.
        Select(operands: [Value; 3]) = "select";
        /// An element of CUBE of a direction.
        Cube { element: u8 as RegisterElement, operands: [Value; 3], omod: Omod, clamp: bool } = "cube";
        /// A dword (0..=3) of a 64-bit operation, or whether its predicate holds (4). Operands: high and low dwords of src0, src1, src2.
        Wide { op: AluOp, part: u8, operands: [Value; 6], omod: Omod, clamp: bool } = "wide";
        /// An operation of the X1K; operands that it does not read repeat the first one.
        Unit(unit: ChannelOp, operands: [Value; 3]) = "unit";
        /// A dot product of the X1K: the sum in single precision before the output modifier as an estimate, and the factors of the terms. Operands that
        /// it does not read repeat the first one.
        Dot(dot: Dot, operands: [Value; Dot::OPERANDS]) = "dot";
        /// In every lane, the vector's value in the given lane (0..=3) of its quad.
        QuadLane(a: Value, lane: u8) = "quad_lane";
        /// An element of register or constant `base + index`.
        GetRelative { file: RegisterFile, base: u8, element: u8 as RegisterElement, index: Value } = "get_relative";
        /// An element of the result of a [`Op::Fetch`].
        Fetched(fetch: Value, element: u8 as RegisterElement) = "fetched";

        // --- effects ---
        /// Runs the fetch of this number with these coordinates for the lanes of a mask.
        Fetch { number: u16 as FetchNumber, at: [Value; 4], under: M } = "fetch";
        /// Performs the [`Store`] of this number in the lanes of a mask: index and elements.
        Store { number: u16 as StoreNumber, operands: [Value; 5], under: M } = "store";
        /// Yields: other wavefronts of the group that have issued fewer instructions catch up first ([`Yield`]).
        Yield(number: u16 as YieldNumber) = "yield";
        /// Stores into a variable.
        Set { var: Var, value: Value, under: M } = "set";
        /// Stores into an element of the register `base + index`, if there is such a register: index and value.
        SetRelative { gprs: u8, base: u8, element: u8 as RegisterElement, operands: [Value; 2], under: M } = "set_relative";
        /// Records that an element of an export was written.
        Mark(var: Var, under: M) = "mark";
        /// Changes masks.
        Mask(op: MaskOp) = "";
        /// Adds `weight` to a counter for each lane of a mask.
        Tally { counter: Counter, weight: u32, under: M } = "tally";
        /// Leaves the group to the reference interpreter unless `base + number` is from 0 to below `count`.
        Guard { number: M, base: u8, count: u16 } = "guard";
    }
}

/// The vectors that an operation reads, as a slice of its fields: shared (`from_ref, split_at`) or not (`from_mut, split_at_mut`).
macro_rules! operands {
    ($op:expr, $one:ident, $first:ident) => {
        match $op {
            Self::Bits(_) | Self::Get(_) | Self::Uniform(_) | Self::Number(_) | Self::Mark(..) | Self::Tally { .. } => {
                Default::default()
            }
            Self::Yield(_) | Self::Lane | Self::Guard { .. } => Default::default(),
            Self::Abs(a)
            | Self::Neg(a)
            | Self::QuadLane(a, _)
            | Self::GetRelative { index: a, .. }
            | Self::Fetched(a, _)
            | Self::Set { value: a, .. }
            | Self::Mask(MaskOp::Lanes(_, a)) => std::slice::$one(a),
            Self::Mask(_) => Default::default(),
            Self::Unit(unit, abc) => abc.$first(unit.operands()).0,
            Self::Dot(dot, all) => all.$first(dot.operands()).0,
            Self::Alu { op, operands: abc, .. } => abc.$first(usize::from(op.info().operands).min(3)).0,
            Self::Holds { operands: two, .. } | Self::SetRelative { operands: two, .. } => two,
            Self::Select(three) | Self::Cube { operands: three, .. } => three,
            Self::Fetch { at, .. } => at,
            Self::Store { operands: of, .. } => of,
            Self::Wide { operands: dwords, .. } => dwords,
        }
    };
}

impl Op {
    /// The most vectors that one reads.
    pub const OPERANDS: usize = Dot::OPERANDS;

    /// The vectors it reads.
    #[inline]
    pub fn operands(&self) -> &[Value] {
        operands!(self, from_ref, split_at)
    }

    /// The least number of operands in its text.
    pub fn shown(&self) -> usize {
        self.operands().len()
    }

    /// The same, one after another.
    #[inline]
    pub fn reads(&self) -> impl DoubleEndedIterator<Item = Value> + ExactSizeIterator + use<'_> {
        self.operands().iter().copied()
    }

    /// The mask or number that it reads, if it is no operation on masks.
    pub const fn mask(&self) -> Option<M> {
        match *self {
            Self::Tally { under: m, .. }
            | Self::Number(m)
            | Self::Guard { number: m, .. }
            | Self::Fetch { under: m, .. }
            | Self::Store { under: m, .. }
            | Self::Set { under: m, .. }
            | Self::SetRelative { under: m, .. }
            | Self::Mark(_, m) => Some(m),
            _ => None,
        }
    }

    /// Whether it only makes a vector: without a use it is dead.
    pub const fn is_pure(&self) -> bool {
        !matches!(
            self,
            Self::Fetch { .. }
                | Self::Store { .. }
                | Self::Yield(_)
                | Self::Set { .. }
                | Self::SetRelative { .. }
                | Self::Mark(..)
                | Self::Mask(_)
                | Self::Tally { .. }
                | Self::Guard { .. }
        )
    }

    /// A hash: equal operations share it, few others do.
    #[inline(always)]
    pub fn hash(&self) -> u32 {
        let (own, values): (u32, &[Value]) = match self {
            &Self::Bits(bits) => (bits, &[]),
            &Self::Uniform(number) => (!u32::from(number), &[]),
            &Self::Holds { op, operands: ref two, .. } => (op as u32, two),
            Self::Unit(unit, abc) => (unit.operands() as u32, abc),
            _ => (0, self.operands()),
        };
        // The golden ratio spreads neighbouring values.
        let mix = |hash: u32, of: u32| (hash.rotate_left(5) ^ of).wrapping_mul(0x9e37_79b9);
        let hash = values.iter().fold(mix(0, own), |hash, value| mix(hash, value.0));
        hash ^ hash >> 16
    }

    /// Renames the vectors that it reads. Unused operands keep a name that exists.
    pub fn rename(&mut self, name: impl Fn(Value) -> Value) {
        let (abc, operands) = match self {
            Self::Unit(unit, abc) => (&mut abc[..], unit.operands()),
            Self::Alu { op, operands: abc, .. } => (&mut abc[..], usize::from(op.info().operands).min(3)),
            Self::Dot(dot, all) => (&mut all[..], dot.operands()),
            _ => {
                operands!(self, from_mut, split_at_mut).iter_mut().for_each(|value| *value = name(*value));
                return;
            }
        };
        abc[..operands].iter_mut().for_each(|value| *value = name(*value));
        let first = if operands == 0 { Value(0) } else { abc[0] };
        abc[operands..].fill(first);
    }

    /// Whether two operations with the same fields give the same vector anywhere in a block.
    pub const fn is_constant(&self) -> bool {
        self.is_pure() && !matches!(self, Self::Get(_) | Self::Number(_) | Self::GetRelative { .. } | Self::Fetched(..))
    }
}

/// A comparison that is one instruction; `true`: it holds, or it does not.
type Holds = (Op2, [Value; 2], bool);

/// A value that is all ones or 0 by comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A comparison.
    Holds(Holds),
    /// A comparison and another condition.
    And(Holds, Value),
    /// A comparison or another condition.
    Or(Holds, Value),
    /// The negation of another condition.
    Not(Value),
}

/// Comparisons of a condition, at most.
const COMPARISONS: u8 = 6;

impl Condition {
    /// The condition that a value of a block is, if it is one.
    pub fn of(ops: &[Op], value: Value) -> Option<Self> {
        Self::within(ops, value, COMPARISONS)
    }

    fn within(ops: &[Op], value: Value, left: u8) -> Option<Self> {
        let holds = |value: Value, as_said: bool| match ops[value.index()] {
            Op::Holds { op, operands: ab, wanted } if matches!(op.info().decides, Decides::Compare(_)) => {
                Some((op, ab, wanted == as_said))
            }
            _ => None,
        };
        let Op::Select([by, a, b]) = ops[value.index()] else { return holds(value, true).map(Self::Holds) };
        let left = left.checked_sub(1)?;
        let is = |value| Self::within(ops, value, left).is_some();
        match (&ops[a.index()], &ops[b.index()]) {
            (Op::Bits(0), Op::Bits(u32::MAX)) => is(by).then_some(Self::Not(by)),
            (_, Op::Bits(0)) if is(a) => Some(Self::And(holds(by, true)?, a)),
            (Op::Bits(0), _) if is(b) => Some(Self::And(holds(by, false)?, b)),
            (Op::Bits(u32::MAX), _) if is(b) => Some(Self::Or(holds(by, true)?, b)),
            (_, Op::Bits(u32::MAX)) if is(a) => Some(Self::Or(holds(by, false)?, a)),
            _ => None,
        }
    }

    /// Gives the operands that it compares, and the conditions that it is made of.
    pub fn reads(self, ops: &[Op], give: &mut impl FnMut(Value)) {
        let (ab, of) = match self {
            Self::Holds((_, ab, _)) => (Some(ab), None),
            Self::And((_, ab, _), of) | Self::Or((_, ab, _), of) => (Some(ab), Some(of)),
            Self::Not(of) => (None, Some(of)),
        };
        ab.into_iter().flatten().for_each(&mut *give);
        if let Some(of) = of {
            give(of);
            Self::of(ops, of).into_iter().for_each(|of| of.reads(ops, give));
        }
    }
}

instructions! {
    /// A fetch instruction.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fetch is "fetch" {
        /// A texture fetch.
        Texture(inst: TexFetch) = "texture";
        /// A vertex fetch.
        Vertex(inst: VtxFetch) = "vertex";
        /// One read of a burst of memory: by the index.
        Memory(fetch: MemoryFetch, burst: u8) = "memory";
        /// One read of a burst of the local data share: by index and address, the first operands. With BROADCAST by the
        /// first lane of the mask, and the result is for all lanes.
        Share(inst: MemDsr, burst: u8) = "share";
        /// X1K: an input, at column and row.
        Input {
            /// The input.
            input: u8,
            /// Coordinates are in elements.
            unscaled: bool,
            /// Sees uncached writes.
            uncached: bool,
        } = "input";
    }
}

/// A memory read: the instruction, and its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryFetch {
    /// The instruction.
    pub inst: MemRd,
    /// Its meaning.
    pub read: MemoryRead,
}

impl Fetch {
    /// Whether it reads the constants and resources of the other program type.
    pub const fn alternate(&self) -> bool {
        match self {
            Self::Texture(inst) => inst.word0.alt_const,
            Self::Vertex(inst) => inst.word2.alt_const,
            Self::Memory(..) | Self::Share(..) | Self::Input { .. } => false,
        }
    }

    /// Whether it chooses a cube of an array for later lookups.
    pub const fn sets_cube(&self) -> bool {
        matches!(self, Self::Texture(inst) if matches!(inst.word0.op, TexOp::SetCubemapIndex))
    }
}

instructions! {
    /// A send of the wavefront, or a store outside of its registers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Store is "store" {
        /// One write of a burst to memory: index and elements.
        Memory(inst: CfMem, burst: u8) = "memory";
        /// A geometry program's vertex event.
        Event(event: VertexEvent) = "event";
        /// A dword of the local data share by its number; no effect outside of the share: number and bits.
        Dword = "dword";
        /// X1K: writes element (x, y) of output 0 past the cache, lane by lane (CTM §3.3.8). Operands: x, y, the bits, and
        /// the mask of the lanes that write, which is the same in every lane.
        Uncached {
            /// All of them take the index of the first lane that executes it.
            shared: bool,
        } = "uncached";
    }
}

/// A place where a wavefront yields to the others of its group: the instructions after it have effects that they see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Yield {
    /// The block it is in.
    pub block: u16,
    /// Control-flow instructions of the block before it.
    pub before: u32,
}

/// The target of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JumpTarget {
    /// To a block.
    Block(u16),
    /// To a possible fault: the reference interpreter runs the wavefront instead.
    Reference,
}

instructions! {
    /// The end of a block.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum End is "end of a block" {
        /// The program ends.
        Stop = "stop";
        /// On to another block.
        Next(to: JumpTarget) = "next";
        /// On to one of two.
        Branch {
            /// The lanes in question.
            mask: M,
            /// The target if the mask is empty.
            none: JumpTarget,
            /// The target if it has a lane.
            some: JumpTarget,
        } = "branch";
    }
}

impl End {
    /// Its targets.
    pub const fn targets(&self) -> [Option<JumpTarget>; 2] {
        match *self {
            Self::Stop => [None, None],
            Self::Next(target) => [Some(target), None],
            Self::Branch { none, some, .. } => [Some(none), Some(some)],
        }
    }

    /// The blocks it can go on to.
    pub fn successors(&self) -> impl Iterator<Item = usize> + use<> {
        self.targets()
            .into_iter()
            .filter_map(|to| if let Some(JumpTarget::Block(id)) = to { Some(id.into()) } else { None })
    }
}

/// The counts of one execution of a block, apart from those that depend on lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Instruction groups of R700, ALU instructions of X1K.
    pub alu: u32,
    /// R700: groups that wait for the address register.
    pub delays: u32,
    /// X1K: ALU and OUTPUT instructions with NOP set.
    pub nops: u32,
    /// Exports, OUTPUT instructions.
    pub output: u32,
    /// X1K: OUTPUT instructions that write uncached, each lane at its own index.
    pub scattered: u32,
    /// Fetches, texture instructions.
    pub tex: u32,
    /// R700: passes of fetches beyond the first one of each.
    pub tex_passes: u32,
    /// X1K: texture instructions that take a clock for each quad (all but NOP).
    pub tex_wide: u32,
    /// Control-flow instructions that are no exports.
    pub fc: u32,
}

impl Tally {
    /// Instructions.
    pub const fn instructions(&self) -> u32 {
        self.alu + self.output + self.tex + self.fc
    }

    /// Control-flow instructions, exports and memory writes among them: by which wavefronts of a group are ordered.
    pub const fn steps(&self) -> u32 {
        self.output + self.fc
    }
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its loop depth.
    pub loops: u8,
    /// Its operations.
    pub ops: Vec<Op>,
    /// Its counts.
    pub tally: Tally,
    /// Its end.
    pub end: End,
}

impl Block {
    /// The value without its sign changes.
    pub fn bare(&self, value: Value) -> Value {
        match self.ops[value.index()] {
            Op::Abs(a) | Op::Neg(a) => self.bare(a),
            _ => value,
        }
    }
}

/// Constants that a program locks, in the table of uniform values after the constant file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locked {
    /// Constant buffer.
    pub bank: u8,
    /// The first constant; those before 0 are zeros.
    pub first: i32,
    /// The count.
    pub count: u16,
    /// Of the other program type.
    pub alternate: bool,
}

/// A program in micro-operations. Execution begins with block 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Its fetches, by number.
    pub fetches: Vec<Fetch>,
    /// Its memory writes and other sends, by number.
    pub stores: Vec<Store>,
    /// The places where wavefronts of a group yield to each other, by number; none where a group is one wavefront.
    pub yields: Vec<Yield>,
    /// Constants of buffers, in the order of the table.
    pub locked: Vec<Locked>,
    /// Computations on uniform values alone, in the order of the table; operands are numbers of this list.
    pub computed: Vec<Op>,
    /// Some fetch reads lanes that do not execute.
    pub watches_idle_lanes: bool,
    /// Variables keep their values in inactive lanes: some operation reads or writes these.
    pub keeps_idle_lanes: bool,
}

impl Code {
    /// The count of uniform values that a launch gives; computed ones come after them.
    pub fn given_uniforms(&self) -> usize {
        4 * (CONSTANT_FILE + self.locked.iter().map(|locked| usize::from(locked.count)).sum::<usize>())
    }
}
