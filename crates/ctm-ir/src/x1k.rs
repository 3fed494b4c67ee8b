//! The graph of an X1K program: one block for each reachable state of the flow machine (CTM §3.5).
//!
//! A block's ALU, OUTPUT and texture instructions are operations of the form ([`crate::masked`]) already; its end
//! is still the machine's own flow-control instruction. `lower/x1k` makes the graph; analyses of control flow read it;
//! `lower/x1k/masks.rs` lowers it to the form.

use crate::masked::{Fetch, M, MaskOp, Op, Store, Tally, Value};

/// The target of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JumpTarget {
    /// To a block, by its place.
    Block(usize),
    /// Nowhere: this outcome does not happen.
    Never,
    /// To a possible fault: the reference interpreter runs the group instead and decides.
    Reference,
}

/// The loop operation of a flow-control instruction (CTM §3.5: JUMP_OP). LOOP and REP are the same but for aL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopOp {
    /// JUMP: nothing.
    Jump,
    /// LOOP, REP.
    Begin,
    /// ENDLOOP, ENDREP.
    End,
    /// BREAK.
    Break,
    /// CONTINUE.
    Continue,
}

impl LoopOp {
    /// Whether an outcome of the instruction pops a loop frame.
    pub const fn leaves(self, jump: bool) -> bool {
        match self {
            Self::End => !jump,
            Self::Break => jump,
            Self::Jump | Self::Begin | Self::Continue => false,
        }
    }
}

/// One of the two outcomes of a flow-control instruction.
///
/// Lanes whose active bit is clear lie in *levels*, one mask each (CTM §3.5.3): the branch counter of a lane in level `l` of `depth` is
/// `depth - 1 - l`. INCR makes a new level, DECR empties the topmost ones, B_ELSE exchanges the top level with the running lanes. The
/// depth is the same whenever the program is at a given block, so levels are fixed places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// Its target.
    pub to: JumpTarget,
    /// The change of the levels (B_OP). 1: the lanes that disagree become a new one; less than 0: the lanes of this
    /// many levels become active.
    pub levels: i8,
}

/// A loop and its integer constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopFrame {
    /// It has an aL: it is a LOOP, not a REP.
    pub is_loop: bool,
    /// Its trip count.
    pub count: u8,
    /// aL in the first one.
    pub start: u8,
    /// Its increment.
    pub step: i8,
}

/// A flow-control instruction at the end of a block (CTM §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// The operation on the loop stack.
    pub op: LoopOp,
    /// The condition of a lane's wish to jump: bit `(alu_result << 1) + predicate`; the boolean constant is already in
    /// it.
    pub wants: u8,
    /// The predicate bit and whether it is inverted; without one the predicate is true.
    pub predicate: Option<(u8, bool)>,
    /// Uncovered lanes take no part.
    pub ignore_uncovered: bool,
    /// Jump if any lane wants to.
    pub jump_any: bool,
    /// B_ELSE; there is a level to exchange with.
    pub exchange: bool,
    /// The loop that LOOP and REP begin.
    pub begins: LoopFrame,
    /// The loop frame concerned: the one that LOOP and REP push, the innermost one otherwise.
    pub frame: u8,
    /// Levels that both outcomes start from: B_ELSE without a level makes the first.
    pub levels: u8,
    /// The outcome if the group stays.
    pub stay: Outcome,
    /// The outcome if the group jumps.
    pub jump: Outcome,
}

impl Flow {
    /// Both outcomes, and whether it is the jump.
    pub const fn outcomes(&self) -> [(Outcome, bool); 2] {
        [(self.stay, false), (self.jump, true)]
    }

    /// The level that B_ELSE exchanges with the running lanes.
    pub const fn exchanged(&self) -> Option<u8> {
        if self.exchange { Some(self.levels - 1) } else { None }
    }
}

/// The end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The program ends.
    Stop,
    /// On to another block.
    Next(JumpTarget),
    /// A flow-control instruction decides.
    Flow(Flow),
}

/// A basic block.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The program counter of its first instruction.
    pub pc: u16,
    /// Levels at its beginning.
    pub depth: u8,
    /// Loops around it, outermost first.
    pub frames: Vec<LoopFrame>,
    /// Its operations.
    pub ops: Vec<Op>,
    /// The comparison that has made the ALU result of all running lanes, if no later instruction has made it.
    pub result: Option<Value>,
    /// Its counts.
    pub tally: Tally,
    /// Its end.
    pub end: End,
}

impl Block {
    /// The flow-control instruction at its end, if there is one.
    pub const fn flow(&self) -> Option<&Flow> {
        if let End::Flow(flow) = &self.end { Some(flow) } else { None }
    }

    /// Whether processors are killed in it.
    pub fn kills(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Mask(MaskOp::AndNot(M::VALID, ..))))
    }

    /// Its successors.
    pub fn successors(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let targets = match self.end {
            End::Stop => [None, None],
            End::Next(target) => [Some(target), None],
            End::Flow(flow) => [Some(flow.stay.to), Some(flow.jump.to)],
        };
        let targets = targets.into_iter().flatten();
        targets.filter_map(|target| if let JumpTarget::Block(id) = target { Some(id) } else { None })
    }
}

/// A program. Execution begins with block 0; the blocks of a loop are contiguous.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// Its fetches, by number.
    pub fetches: Vec<Fetch>,
    /// Its uncached writes, by number.
    pub stores: Vec<Store>,
    /// Some operation reads or writes lanes that flow control does not let run: quad operations, WRITE_INACTIVE.
    pub watches_idle_lanes: bool,
    /// Some operation writes or reads a temporary by a relative address.
    pub relative_temps: bool,
    /// Inputs that are fetched, by number.
    pub inputs: u16,
    /// It may write past the cache ([`Store::Uncached`]).
    pub writes: bool,
    /// Output components that may be written, W last.
    pub outputs: u32,
    /// Uniform values that it assumes to be numbers of moderate size (`lower::x1k::is_moderate`).
    pub moderate: Vec<u16>,
}

impl Code {
    /// Its flow-control instructions.
    pub fn flows(&self) -> impl Iterator<Item = &Flow> {
        self.blocks.iter().filter_map(Block::flow)
    }

    /// Whether there is a CONTINUE.
    pub fn continues(&self) -> bool {
        self.flows().any(|flow| flow.op == LoopOp::Continue)
    }

    /// Walks from a block to others: to those that `look` puts into its list. Whether `look` accepted each.
    pub fn all_reached(&self, first: usize, mut look: impl FnMut(&Block, &mut Vec<usize>) -> bool) -> bool {
        let mut seen = vec![false; self.blocks.len()];
        let mut pending = vec![first];
        while let Some(block) = pending.pop() {
            if !std::mem::replace(&mut seen[block], true) && !look(&self.blocks[block], &mut pending) {
                return false;
            }
        }
        true
    }
}
