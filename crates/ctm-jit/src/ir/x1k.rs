//! The graph of an X1K program: one block for each state of the flow machine (CTM §3.5) that it can come to.
//!
//! What a block's ALU, OUTPUT and texture instructions do is in operations of the form ([`crate::ir::masked`]) already; how it ends is still the machine's own
//! flow-control instruction. `lower/x1k` makes the graph; what asks how groups go through a program asks it here; `lower/x1k/masks.rs` makes the form of it.

use crate::ir::masked::{Fetch, M, MaskOp, Op, Store, Tally, Value};
use ctm_isa::x1k::ops::FcOp;

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
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The program counter of its first instruction.
    pub pc: u16,
    /// Levels at its beginning.
    pub depth: u8,
    /// Loops around it.
    pub frames: Frames,
    /// What it does.
    pub ops: Vec<Op>,
    /// The comparison that has made the ALU result of all lanes that run, if nothing has made it since.
    pub result: Option<Value>,
    /// What it counts.
    pub tally: Tally,
    /// How it ends.
    pub end: End,
}

impl Block {
    /// Whether processors are killed in it.
    pub fn kills(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Mask(MaskOp::AndNot(M::VALID, ..))))
    }

    /// Where it leads.
    pub fn targets(&self) -> impl DoubleEndedIterator<Item = Target> + use<> {
        let targets = match self.end {
            End::Stop => [None, None],
            End::Next(target) => [Some(target), None],
            End::Flow(flow) => [Some(flow.stay), Some(flow.jump)],
        };
        targets.into_iter().flatten()
    }

    /// The blocks it can go on to.
    pub fn successors(&self) -> impl DoubleEndedIterator<Item = BlockId> + use<> {
        self.targets().filter_map(|target| match target {
            Target::Block(id) => Some(id),
            Target::Never | Target::Reference => None,
        })
    }
}

/// A program. Execution begins with block 0; blocks stand in an order in which loops are contiguous.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Its fetches, by number.
    pub fetches: Vec<Fetch>,
    /// Its uncached writes, by number.
    pub stores: Vec<Store>,
    /// Some operation looks at lanes that flow control does not let run, or writes them: quad operations, WRITE_INACTIVE.
    pub watches_idle_lanes: bool,
    /// Some operation writes or reads a temporary by a relative address.
    pub relative_temps: bool,
    /// Inputs that are fetched, by number.
    pub inputs: u16,
    /// It may write past the cache ([`Store::Uncached`]).
    pub writes: bool,
    /// It cannot fault, as far as the program alone decides: no relative addresses, no stack that may overflow.
    pub faultless: bool,
    /// Output components that may be written, W last.
    pub outputs: u32,
}

/// Whether an outcome of a flow-control instruction pops a loop frame.
pub const fn leaves_loop(op: FcOp, jump: bool) -> bool {
    match op {
        FcOp::EndLoop | FcOp::EndRep => !jump,
        FcOp::BreakLoop | FcOp::BreakRep => jump,
        FcOp::Jump | FcOp::Loop | FcOp::Rep | FcOp::Continue => false,
    }
}
