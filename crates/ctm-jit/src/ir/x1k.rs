//! The micro-operation form: what a program does to one group of lanes, one component at a time.
//!
//! A [`Code`] is a graph of [`Block`]s. A block is a straight list of [`Op`]s on *lane vectors*: 32 bits for each lane. Operations
//! that make a vector are named by their place in the list ([`Value`]) and never change (the list is in single-assignment form);
//! what outlives a block lives in variables ([`Var`]). Lane masks are state of the machine and appear as [`Under`]: which lanes an
//! effect concerns.
//!
//! `lower/x1k` makes it of X1K programs, and `lower/x1k/masks.rs` brings it to the form of [`crate::ir::masked`], which is what runs.
//!
//! Arithmetic means what the functions of `ctm_exec::x1k::ops` mean: denormals read as zeros, one NaN. Each operation cites its
//! function. **Invariant.** Every operation is exact in that sense for lanes that nobody looks at, too: quad operations and
//! WRITE_INACTIVE make them visible.

use ctm_exec::float::number;
use ctm_exec::x1k::functions::UnitOp;
use ctm_isa::x1k::ops::{AlphaOp, CompareOp, FcOp, Imod, Omod};
use ctm_isa::x1k::{OUTPUTS, TEMPORARIES};

/// A lane vector: the operation of the same block that makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl Value {
    /// Its place in the block's list.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A variable: one component of a register, kept for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u16);

impl Var {
    /// How many there are.
    pub const COUNT: usize = 4 * (TEMPORARIES + OUTPUTS) + 1;
    /// The W output: the conditional value.
    pub const W: Self = Self((Self::COUNT - 1) as u16);

    /// A channel of a temporary register.
    pub const fn temp(register: usize, channel: usize) -> Self {
        Self((4 * register + channel) as u16)
    }

    /// A channel of an output register.
    pub const fn output(target: usize, channel: usize) -> Self {
        Self((4 * (TEMPORARIES + target) + channel) as u16)
    }

    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Which output component it is, 0..=16 with [`Self::W`] last; `None` for temporaries. Output components also record which lanes
    /// wrote them.
    pub const fn output_index(self) -> Option<usize> {
        self.index().checked_sub(4 * TEMPORARIES)
    }
}

/// Which lanes an effect concerns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Under {
    /// A predicate bit (0 = r to 3 = a), and whether it is inverted.
    pub predicate: Option<(u8, bool)>,
    /// All lanes there are, instead of those that flow control lets run.
    pub inactive: bool,
    /// Covered lanes only.
    pub covered: bool,
}

/// The file that a relative address indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// Temporary registers.
    Temp,
    /// Floating-point constants.
    Const,
}

/// A comparison of two numbers; false when either is NaN, denormals are zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// `x < y`
    Less,
    /// `x > y`
    Greater,
    /// `x >= y`
    GreaterEqual,
    /// `x == y`
    Equal,
}

impl Test {
    /// Whether it holds for these bits.
    #[inline]
    pub fn holds(self, x: u32, y: u32) -> bool {
        let (x, y) = (number(x), number(y));
        match self {
            Self::Less => x < y,
            Self::Greater => x > y,
            Self::GreaterEqual => x >= y,
            Self::Equal => x == y,
        }
    }
}

/// One micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    // --- vectors ---
    /// The same bits in every lane.
    Bits(u32),
    /// What a variable holds here.
    Get(Var),
    /// A component (`4 * register + channel`) of a floating-point constant.
    Const(u16),
    /// A component of the register `base + aL`; a [`Op::Guard`] stands before it.
    GetRelative {
        /// Which file.
        file: File,
        /// The register without aL.
        base: u8,
        /// 0 = r to 3 = a.
        channel: u8,
    },
    /// An input modifier: acts on the sign bit (`ops::input_modifier`).
    Sign(Imod, Value),
    /// `a * b + c`, times the output modifier, rounded once (`ops::mad` and `ops::output_modifier`).
    Mad {
        /// Factor.
        a: Value,
        /// Factor.
        b: Value,
        /// Summand.
        c: Value,
        /// 0 times infinity and 0 times NaN are 0 (`ops::ZeroRule`).
        zero_wins: bool,
        /// Output modifier.
        omod: Omod,
    },
    /// The bits of `a` where the test holds for x and y, else those of `b` (`ops::min`, `max`, `cnd`, `cmp`).
    Pick {
        /// Comparison.
        test: Test,
        /// Left side.
        x: Value,
        /// Right side.
        y: Value,
        /// If it holds.
        a: Value,
        /// If not.
        b: Value,
    },
    /// The number times the output modifier, rounded: flushes, and makes the one NaN (`Wide::from_bits`, `ops::output_modifier`).
    Scale(Value, Omod),
    /// To 0..1 (`ops::clamp`).
    Clamp(Value),
    /// `a - floor(a)`, times the output modifier (`ops::frc`).
    Fraction(Value, Omod),
    /// A transcendental function (`ctm_exec::transcendental`).
    Scalar(AlphaOp, Value),
    /// An operation of the X1K for which back ends have no code of their own: its reference function is called for each lane (`UnitOp::channel`).
    Reference {
        /// Which: one that looks at one channel of its operands.
        op: UnitOp,
        /// A, B and C.
        abc: [Value; 3],
        /// 0 times infinity and 0 times NaN are 0 (`ops::ZeroRule`).
        zero_wins: bool,
        /// Output modifier.
        omod: Omod,
        /// To 0..1.
        clamp: bool,
    },
    /// In every lane, what the given lane (0..=3) of its quad holds.
    QuadLane(Value, u8),
    /// A channel of what a [`Op::Fetch`] read.
    Texel(Value, u8),

    // --- effects ---
    /// Writes element (x, y) of output 0 past the cache, lane by lane (CTM §3.3.8). Leaves the group to the reference interpreter when memory
    /// refuses, or an index is none.
    Write {
        /// Column and row: the floor of numbers from 0 up.
        index: [Value; 2],
        /// The bits.
        value: Value,
        /// All lanes take the index of the first one of [`Op::Write::under`].
        shared: bool,
        /// The lanes that execute it.
        under: Under,
        /// Those of them write for which these predicate bits are set,
        set: u8,
        /// and these are clear.
        clear: u8,
    },
    /// Reads an input; its results are [`Op::Texel`]s.
    Fetch {
        /// Which input.
        input: u8,
        /// Column coordinate.
        s: Value,
        /// Row coordinate.
        t: Value,
        /// Coordinates are in elements.
        unscaled: bool,
        /// Sees uncached writes.
        uncached: bool,
        /// The lanes that read.
        under: Under,
    },
    /// Stores into a variable.
    Set(Var, Value, Under),
    /// Stores into the temporary `base + aL`; a [`Op::Guard`] stands before it.
    SetRelative {
        /// The register without aL.
        base: u8,
        /// 0 = r to 3 = a.
        channel: u8,
        /// What.
        value: Value,
        /// Where.
        under: Under,
    },
    /// Sets a predicate bit by comparing with zero (`ops::compare`).
    SetPredicate(u8, CompareOp, Value, Under),
    /// Sets the ALU result by comparing with zero.
    SetResult(CompareOp, Value, Under),
    /// Uncovers the lanes whose value is less than zero (`ops::kills`).
    Kill(Value, Under),
    /// Leaves the group to the reference interpreter when `base + aL` is not a register of the file.
    Guard {
        /// Which file.
        file: File,
        /// The register without aL.
        base: u8,
    },
}

/// Up to four things in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Few<T> {
    items: [T; 4],
    count: u8,
}

impl<T: Copy + Default> Few<T> {
    /// These.
    pub fn of<const N: usize>(items: [T; N]) -> Self {
        let mut few = Self::default();
        few.items[..N].copy_from_slice(&items);
        few.count = N as u8;
        few
    }

    /// One more.
    pub fn push(&mut self, item: T) {
        self.items[usize::from(self.count)] = item;
        self.count += 1;
    }
}

impl<T: Copy> IntoIterator for Few<T> {
    type Item = T;
    type IntoIter = Each<T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Each { few: self, next: 0 }
    }
}

/// The things of a [`Few`], one after the other.
#[derive(Clone, Debug)]
pub struct Each<T> {
    few: Few<T>,
    next: u8,
}

impl<T: Copy> Iterator for Each<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.next >= self.few.count {
            return None;
        }
        self.next += 1;
        self.few.items.get(usize::from(self.next - 1)).copied()
    }
}

/// Names a block of a [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u16);

impl BlockId {
    /// Its place.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a jump leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// To a block.
    Block(BlockId),
    /// Nowhere: this outcome does not happen.
    Never,
    /// To something that is, or may be, a fault: the reference interpreter runs the group instead and finds out.
    Reference,
}

/// What happens to the levels of branch-inactive lanes (CTM §3.5.3: B_OP).
///
/// Lanes whose active bit is clear lie in *levels*, one mask each: the branch counter of a lane in level `l` of `depth` is
/// `depth - 1 - l`. INCR makes a new level, DECR empties the topmost ones, B_ELSE exchanges the top level with the running lanes. The
/// depth is the same whenever the program is at a given block, so levels are fixed places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Levels {
    /// Nothing.
    Keep,
    /// So many levels become active.
    Pop(u8),
    /// The lanes that disagree become a new level.
    Push,
}

/// A flow-control instruction at the end of a block (CTM §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// What the loop stack does.
    pub op: FcOp,
    /// Who wants to jump: bit `(alu_result << 1) + predicate`; the boolean constant is already in it.
    pub wants: u8,
    /// The predicate bit and whether it is inverted; without one the predicate is true.
    pub predicate: Option<(u8, bool)>,
    /// Uncovered lanes take no part.
    pub ignore_uncovered: bool,
    /// Jump if any wants to.
    pub jump_any: bool,
    /// B_ELSE; there is a level to exchange with.
    pub exchange: bool,
    /// The integer constant of LOOP and REP.
    pub int: u8,
    /// How many iterations it stands for.
    pub count: u8,
    /// The loop frame concerned: the one that LOOP and REP push, the innermost one otherwise.
    pub frame: u8,
    /// Levels before the instruction (B_ELSE at depth 0 makes the first).
    pub depth: u8,
    /// If stay.
    pub stay_levels: Levels,
    /// If jump.
    pub jump_levels: Levels,
    /// If stay.
    pub stay: Target,
    /// If jump.
    pub jump: Target,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The program ends.
    Stop,
    /// On to another block.
    Next(Target),
    /// A flow-control instruction decides.
    Flow(Flow),
}

/// What executing a block once adds to the counters of a group, beside what depends on lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// ALU instructions.
    pub alu: u32,
    /// OUTPUT instructions.
    pub output: u32,
    /// Texture instructions.
    pub tex: u32,
    /// Texture instructions that take a clock for each quad (all but NOP).
    pub tex_wide: u32,
    /// Flow-control instructions.
    pub fc: u32,
    /// ALU and OUTPUT instructions with NOP set.
    pub nops: u32,
    /// OUTPUT instructions that write uncached, each lane at its own index.
    pub scattered: u32,
}

impl Tally {
    /// Instructions.
    pub const fn instructions(&self) -> u32 {
        self.alu + self.output + self.tex + self.fc
    }
}

/// The innermost loops around a block, as far as their iterations are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frames {
    /// Of each frame, outermost first: whether it is a LOOP (a REP otherwise), and its integer constant.
    pub frames: Vec<(bool, u8)>,
}

impl Frames {
    /// The frame whose aL is seen: the innermost LOOP.
    pub fn loop_variable(&self) -> Option<usize> {
        self.frames.iter().rposition(|frame| frame.0)
    }
}

/// A straight run of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The program counter of its first instruction.
    pub pc: u16,
    /// Levels at its beginning.
    pub depth: u8,
    /// Loops around it.
    pub frames: Frames,
    /// What it does.
    pub ops: Vec<Op>,
    /// What it counts.
    pub tally: Tally,
    /// How it ends.
    pub end: End,
}

impl Block {
    /// The operation that makes a vector.
    pub fn op_at(&self, value: Value) -> Op {
        self.ops[value.index()]
    }

    /// Whether every lane there is runs in it: no branch and no loop is open.
    pub fn all_run(&self) -> bool {
        self.depth == 0 && self.frames.frames.is_empty()
    }

    /// The targets it can go on to.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + use<> {
        let targets = match self.end {
            End::Stop => [None, None],
            End::Next(target) => [Some(target), None],
            End::Flow(flow) => [Some(flow.stay), Some(flow.jump)],
        };
        targets.into_iter().flatten().filter_map(|target| match target {
            Target::Block(id) => Some(id),
            Target::Never | Target::Reference => None,
        })
    }
}

/// A program in micro-operations. Execution begins with block 0; blocks stand in an order in which loops are contiguous.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Some operation looks at lanes that flow control does not let run, or writes them: quad operations, WRITE_INACTIVE.
    pub watches_idle_lanes: bool,
    /// Some operation writes or reads a temporary by a relative address.
    pub relative_temps: bool,
    /// Inputs that are fetched, by number.
    pub inputs: u16,
    /// It may write past the cache ([`Op::Write`]).
    pub writes: bool,
    /// It cannot fault, as far as the program alone decides: no relative addresses, no stack that may overflow.
    pub faultless: bool,
    /// Output components that may be written, W last.
    pub outputs: u32,
}

impl Op {
    /// The vectors it reads.
    pub fn reads(&self) -> Each<Value> {
        match *self {
            Self::Bits(_) | Self::Get(_) | Self::Const(_) | Self::GetRelative { .. } | Self::Guard { .. } => {
                Few::of([])
            }
            Self::Sign(_, a)
            | Self::Scale(a, _)
            | Self::Clamp(a)
            | Self::Fraction(a, _)
            | Self::Scalar(_, a)
            | Self::QuadLane(a, _)
            | Self::Texel(a, _)
            | Self::Set(_, a, _)
            | Self::SetRelative { value: a, .. }
            | Self::SetPredicate(_, _, a, _)
            | Self::SetResult(_, a, _)
            | Self::Kill(a, _) => Few::of([a]),
            Self::Mad { a, b, c, .. } | Self::Reference { abc: [a, b, c], .. } => Few::of([a, b, c]),
            Self::Pick { x, y, a, b, .. } => Few::of([x, y, a, b]),
            Self::Fetch { s, t, .. } => Few::of([s, t]),
            Self::Write { index: [x, y], value, .. } => Few::of([x, y, value]),
        }
        .into_iter()
    }

    /// Whether it only makes a vector: without a reader it can go.
    pub const fn is_pure(&self) -> bool {
        !matches!(
            self,
            Self::Fetch { .. }
                | Self::Write { .. }
                | Self::Set(..)
                | Self::SetRelative { .. }
                | Self::SetPredicate(..)
                | Self::SetResult(..)
                | Self::Kill(..)
                | Self::Guard { .. }
        )
    }
}

/// Whether an outcome of a flow-control instruction pops a loop frame.
pub const fn leaves_loop(op: FcOp, jump: bool) -> bool {
    match op {
        FcOp::EndLoop | FcOp::EndRep => !jump,
        FcOp::BreakLoop | FcOp::BreakRep => jump,
        FcOp::Jump | FcOp::Loop | FcOp::Rep | FcOp::Continue => false,
    }
}
