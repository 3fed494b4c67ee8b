//! Lowers the flow machine to masks, the form of the back ends.
//!
//! The blocks of [`crate::x1k`] end in instructions of the machine of CTM §3.5.2. Here each becomes mask operations
//! in fixed places and a branch on one of them. Block n there is block n + 1 here: block 0 only begins. Where the two
//! outcomes of an instruction have different operations, these get blocks of their own after all others.

use crate::masked::{Block, Code, End, JumpTarget, M, MaskOp, Op, Tally, Value};
use crate::x1k::{self, Flow, LoopOp};
use ctm_isa::x1k::LOOP_STACK;

/// The voting lanes that want to jump.
const JUMP: M = M::CONCERNED;
/// The voting lanes that want to stay.
const STAY: M = M::PASS;
/// Lanes that ran before B_ELSE.
const EXCHANGED: M = M::TEMP;
/// The mask that the branch tests.
const DECIDES: M = M::TEMP2;

/// The program with its flow control as operations on masks. `joint`: several groups run as one large group, which must
/// give the same result ([`super::joint::holds`]).
pub fn lower(code: &x1k::Code, joint: bool) -> Code {
    let reads_index = |op: &Op| matches!(*op, Op::Guard { number: m, .. } | Op::Number(m) if m != M::WRITING);
    let mut lower = Lower {
        code,
        joint,
        blocks: Vec::with_capacity(2 * code.blocks.len()),
        behind: Vec::new(),
        ops: Vec::new(),
        restores: restores(code, joint),
        continues: code.continues(),
        indexed: code.blocks.iter().flat_map(|block| &block.ops).any(reads_index),
    };
    let mut begin = vec![MaskOp::Copy(M::ACTIVE, M::EXISTING), MaskOp::Copy(M::RESULT, M::NONE)];
    begin.extend((0..4).map(|bit| MaskOp::Copy(M::predicate(bit), M::NONE)));
    lower.blocks.push(Block {
        loops: 0,
        ops: begin.into_iter().map(Op::Mask).collect(),
        tally: Tally::default(),
        end: End::Next(JumpTarget::Block(1)),
    });
    for block in &code.blocks {
        let block = lower.block(block);
        lower.blocks.push(block);
    }
    lower.blocks.append(&mut lower.behind);
    Code {
        blocks: lower.blocks,
        fetches: code.fetches.clone(),
        stores: code.stores.clone(),
        watches_idle_lanes: code.watches_idle_lanes,
        keeps_idle_lanes: code.watches_idle_lanes || code.relative_temps,
        ..Code::default()
    }
}

struct Lower<'a> {
    code: &'a x1k::Code,
    joint: bool,
    blocks: Vec<Block>,
    /// Blocks after those of the program.
    behind: Vec<Block>,
    /// The operations of the block under construction.
    ops: Vec<Op>,
    /// Of each loop frame: the lanes that run after its loops are exactly those that ran before.
    restores: Vec<bool>,
    /// The program has a CONTINUE.
    continues: bool,
    /// aL is live, so it is maintained.
    indexed: bool,
}

/// Of each loop frame, whether the lanes that run after its loops are exactly those that ran before: no lane leaves it
/// by leaving an enclosing loop.
fn restores(code: &x1k::Code, joint: bool) -> Vec<bool> {
    let mut restores = vec![joint; LOOP_STACK];
    for block in &code.blocks {
        if let Some(&Flow { op: LoopOp::Break, frame, .. }) = block.flow() {
            restores.iter_mut().take(block.frames.len()).skip(usize::from(frame) + 1).for_each(|of| *of = false);
        }
    }
    restores
}

/// Some of the voting lanes: those of a mask, or (not `inside`) the others.
#[derive(Clone, Copy, PartialEq, Eq)]
struct VotingLanes {
    mask: M,
    inside: bool,
}

impl VotingLanes {
    const NONE: Self = Self { mask: M::NONE, inside: true };
    const ALL: Self = Self { mask: M::NONE, inside: false };

    const fn others(self) -> Self {
        Self { inside: !self.inside, ..self }
    }

    /// `to`: those of `from`.
    fn among(self, from: M, to: M) -> MaskOp {
        if self.inside { MaskOp::And(to, from, self.mask) } else { MaskOp::AndNot(to, from, self.mask) }
    }
}

/// A vote: the group jumps if some lane is in a mask, or (not `some`) if none is. With [`M::NONE`] it is known.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Vote {
    mask: M,
    some: bool,
}

impl Vote {
    const JUMPS: Self = Self { mask: M::NONE, some: false };
    const STAYS: Self = Self { mask: M::NONE, some: true };

    /// The branch by it.
    fn end(self, stay: JumpTarget, jump: JumpTarget) -> End {
        let (none, some) = if self.some { (stay, jump) } else { (jump, stay) };
        if self.mask == M::NONE { End::Next(none) } else { End::Branch { mask: self.mask, none, some } }
    }
}

impl Lower<'_> {
    fn mask(&mut self, op: MaskOp) {
        self.ops.push(Op::Mask(op));
    }

    fn block(&mut self, block: &x1k::Block) -> Block {
        self.ops = Vec::with_capacity(block.ops.len() + 16);
        self.ops.extend_from_slice(&block.ops);
        let end = match block.end {
            x1k::End::Stop => End::Stop,
            x1k::End::Next(next) => End::Next(target(next)),
            x1k::End::Flow(flow) => self.flow(block, &flow),
        };
        Block { loops: block.frames.len() as u8, ops: std::mem::take(&mut self.ops), tally: block.tally, end }
    }

    /// The lanes that want to jump, whether or not they vote (CTM §3.5.2).
    fn wants(&mut self, flow: &Flow) -> VotingLanes {
        let predicate = match flow.predicate {
            None => VotingLanes::ALL,
            Some((bit, inverted)) => VotingLanes { mask: M::predicate(bit), inside: !inverted },
        };
        // The lanes whose ALU result is clear, and those where it is set.
        let [clear, set] = [flow.wants, flow.wants >> 2].map(|wants| match wants & 3 {
            0 => VotingLanes::NONE,
            1 => predicate.others(),
            2 => predicate,
            _ => VotingLanes::ALL,
        });
        if clear == set {
            clear
        } else if clear.mask == M::NONE && set.mask == M::NONE {
            VotingLanes { mask: M::RESULT, inside: set == VotingLanes::ALL }
        } else {
            let (of_clear, wanted) = (M::under(0), M::under(1));
            self.mask(clear.among(M::EXISTING, of_clear));
            self.mask(MaskOp::AndNot(of_clear, of_clear, M::RESULT));
            self.mask(set.among(M::RESULT, wanted));
            self.mask(MaskOp::Or(wanted, wanted, of_clear));
            VotingLanes { mask: wanted, inside: true }
        }
    }

    /// A flow-control instruction (CTM §3.5.2, §3.5.3).
    fn flow(&mut self, block: &x1k::Block, flow: &Flow) -> End {
        let frame = usize::from(flow.frame);
        // The end of an iteration comes first: lanes that left it by CONTINUE take part in the decision again.
        if self.continues && flow.op == LoopOp::End {
            self.mask(MaskOp::Or(M::ACTIVE, M::ACTIVE, M::continued(frame)));
            self.mask(MaskOp::Copy(M::continued(frame), M::NONE));
        }
        if let Some(top) = flow.exchanged() {
            let top = M::saved(top.into());
            if block.depth == 0 {
                self.mask(MaskOp::Copy(top, M::NONE));
            }
            self.mask(MaskOp::Copy(EXCHANGED, M::ACTIVE));
            self.mask(MaskOp::Copy(M::ACTIVE, top));
            self.mask(MaskOp::Copy(top, EXCHANGED));
        }
        let wants = self.wants(flow);
        let end = self.decide(block, flow, wants);
        // The ALU result is used up by both outcomes.
        self.mask(MaskOp::Copy(M::RESULT, M::NONE));
        end
    }

    fn decide(&mut self, block: &x1k::Block, flow: &Flow, wants: VotingLanes) -> End {
        let frame = usize::from(flow.frame);
        let is_known = [flow.stay.to, flow.jump.to].contains(&x1k::JumpTarget::Never) || wants.mask == M::NONE;
        let simple = !flow.exchange && !flow.ignore_uncovered && !flow.jump_any && !is_known;
        let breaks = flow.op == LoopOp::Break;
        if simple && breaks && flow.stay.levels == 0 && flow.jump.levels <= 0 {
            if !self.restores[frame] {
                self.mask(wants.among(M::ACTIVE, JUMP));
                self.mask(MaskOp::Or(M::broken(frame), M::broken(frame), JUMP));
            }
            self.narrow(block, wants.others());
            let mask = self.with_idle(flow, M::ACTIVE);
            let none = self.outcome(block, flow, true);
            return End::Branch { mask, none, some: target(flow.stay.to) };
        }
        // The voting lanes, and the condition of the jump.
        let voters = if flow.ignore_uncovered {
            self.mask(MaskOp::And(M::under(2), M::ACTIVE, M::VALID));
            M::under(2)
        } else {
            M::ACTIVE
        };
        self.mask(wants.among(voters, JUMP));
        self.mask(wants.others().among(voters, STAY));
        let vote = self.vote(flow, wants);
        if flow.op == LoopOp::End {
            // One iteration less; after the last one the count is dead.
            let count = M::count(frame);
            self.mask(MaskOp::Add(count, -1, false));
            let (stay, jump) = (self.outcome(block, flow, false), self.outcome(block, flow, true));
            let again = MaskOp::IfNot0(DECIDES, M::EXISTING, count);
            let counted = End::Branch { mask: DECIDES, none: stay, some: jump };
            // Groups that decide as one go on while iterations are left, even with no lane running: the final state is
            // the same.
            if vote == Vote::JUMPS || self.joint && wants == VotingLanes::ALL {
                self.mask(again);
                return counted;
            }
            let again = self.block_behind(vec![again], counted);
            return vote.end(stay, again);
        }
        let (stay, jump) = (self.outcome(block, flow, false), self.outcome(block, flow, true));
        let never_runs = flow.op == LoopOp::Begin && flow.begins.count == 0;
        if flow.stay.to == x1k::JumpTarget::Never || never_runs && flow.jump.to != x1k::JumpTarget::Never {
            End::Next(jump)
        } else if flow.jump.to == x1k::JumpTarget::Never || vote == Vote::STAYS {
            End::Next(stay)
        } else if !breaks && flow.op != LoopOp::Continue {
            vote.end(stay, jump)
        } else if vote.some {
            // No lane may leave while others wait for it.
            let mask = self.with_idle(flow, M::NONE);
            let leaves = self.block_behind(Vec::new(), End::Branch { mask, none: jump, some: stay });
            vote.end(stay, leaves)
        } else {
            let mask = self.with_idle(flow, vote.mask);
            End::Branch { mask, none: jump, some: stay }
        }
    }

    /// Keeps only these of the active lanes active: those of a comparison, where one has made the mask.
    fn narrow(&mut self, block: &x1k::Block, stay: VotingLanes) {
        let result = block.result.filter(|_| stay.mask == M::RESULT);
        if let Some(holds) = result.and_then(|result| self.as_said(result, stay.inside)) {
            self.mask(MaskOp::Lanes(M::TEMP, holds));
            self.mask(MaskOp::And(M::ACTIVE, M::ACTIVE, M::TEMP));
        } else {
            self.mask(stay.among(M::ACTIVE, M::ACTIVE));
        }
    }

    /// A comparison, or its negation.
    fn as_said(&mut self, value: Value, said: bool) -> Option<Value> {
        let op = match self.ops[value.index()] {
            Op::Holds { op, operands, wanted: as_said } => Op::Holds { op, operands, wanted: as_said == said },
            Op::Select([by, known, others]) => {
                let Op::Bits(bits) = self.ops[known.index()] else { return None };
                let others = self.as_said(others, said)?;
                self.ops.push(Op::Bits(if said { bits } else { !bits }));
                Op::Select([by, Value(self.ops.len() as u32 - 1), others])
            }
            _ => return None,
        };
        self.ops.push(op);
        Some(Value(self.ops.len() as u32 - 1))
    }

    /// The vote of a group.
    fn vote(&mut self, flow: &Flow, wants: VotingLanes) -> Vote {
        if !flow.jump_any {
            return if wants == VotingLanes::ALL { Vote::JUMPS } else { Vote { mask: STAY, some: false } };
        }
        if !flow.exchange {
            return if wants == VotingLanes::NONE { Vote::STAYS } else { Vote { mask: JUMP, some: true } };
        }
        // Lanes that have just stopped vote for it.
        if flow.ignore_uncovered {
            self.mask(MaskOp::And(EXCHANGED, EXCHANGED, M::VALID));
        }
        self.mask(MaskOp::Or(EXCHANGED, JUMP, EXCHANGED));
        Vote { mask: EXCHANGED, some: true }
    }

    /// These lanes, and those for which a loop, or its iteration, may not be left yet.
    fn with_idle(&mut self, flow: &Flow, lanes: M) -> M {
        let mut masks: Vec<M> = Vec::new();
        let lowest = match flow.jump.to {
            // Nothing is counted, so it makes no difference whether the lanes outside of the loop run again.
            x1k::JumpTarget::Block(jump) if self.joint => self.code.blocks[jump].depth.min(flow.levels),
            _ => 0,
        };
        masks.extend((lowest..flow.levels).map(|level| M::saved(level.into())));
        if self.continues && flow.op != LoopOp::Continue {
            masks.extend((0..=usize::from(flow.frame)).map(M::continued));
        }
        if masks.is_empty() {
            return lanes;
        }
        self.mask(MaskOp::Copy(DECIDES, M::NONE));
        for mask in masks {
            self.mask(MaskOp::Or(DECIDES, DECIDES, mask));
        }
        if flow.ignore_uncovered {
            self.mask(MaskOp::And(DECIDES, DECIDES, M::VALID));
        }
        self.mask(MaskOp::Or(DECIDES, DECIDES, lanes));
        DECIDES
    }

    /// The operations of one outcome of the instruction, then its target.
    fn outcome(&mut self, block: &x1k::Block, flow: &Flow, jump: bool) -> JumpTarget {
        let of = if jump { flow.jump } else { flow.stay };
        if matches!(of.to, x1k::JumpTarget::Never | x1k::JumpTarget::Reference) {
            return JumpTarget::Reference;
        }
        let frame = usize::from(flow.frame);
        let (broken, continued) = (M::broken(frame), M::continued(frame));
        let mut ops = Vec::new();
        match (flow.op, jump) {
            (LoopOp::Jump, _) | (LoopOp::Begin | LoopOp::Continue, true) => {}
            (LoopOp::Begin, false) => {
                ops.push(MaskOp::Number(M::count(frame), flow.begins.count.into()));
                if self.indexed && flow.begins.is_loop {
                    ops.push(MaskOp::Number(M::loop_index(frame), flow.begins.start.into()));
                }
                // The lanes that run before the loop, or those that have left it.
                ops.push(MaskOp::Copy(broken, if self.restores[frame] { M::ACTIVE } else { M::NONE }));
                if self.continues {
                    ops.push(MaskOp::Copy(continued, M::NONE));
                }
            }
            (LoopOp::End, true) => {
                if let Some(of) = block.frames.get(frame).filter(|of| self.indexed && of.is_loop) {
                    ops.push(MaskOp::Add(M::loop_index(frame), of.step.into(), false));
                }
            }
            (LoopOp::End, false) | (LoopOp::Break, true) => {
                ops.push(if self.restores[frame] {
                    MaskOp::Copy(M::ACTIVE, broken)
                } else {
                    MaskOp::Or(M::ACTIVE, M::ACTIVE, broken)
                });
                if self.continues {
                    ops.push(MaskOp::Or(M::ACTIVE, M::ACTIVE, continued));
                }
            }
            (LoopOp::Break, false) => {
                ops.push(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, JUMP));
                if !self.restores[frame] {
                    ops.push(MaskOp::Or(broken, broken, JUMP));
                }
            }
            (LoopOp::Continue, false) => {
                ops.push(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, JUMP));
                ops.push(MaskOp::Or(continued, continued, JUMP));
            }
        }
        change_levels(&mut ops, flow.levels, of.levels, if jump { STAY } else { JUMP });
        self.behind(ops, target(of.to))
    }

    /// A new block at the end that performs these operations and goes on; the target itself where there are none.
    fn behind(&mut self, ops: Vec<MaskOp>, to: JumpTarget) -> JumpTarget {
        if ops.is_empty() || to == JumpTarget::Reference { to } else { self.block_behind(ops, End::Next(to)) }
    }

    fn block_behind(&mut self, ops: Vec<MaskOp>, end: End) -> JumpTarget {
        let own = 1 + self.code.blocks.len();
        let place = own + self.behind.len();
        let loops = |to: usize| {
            if to < own { self.code.blocks[to - 1].frames.len() as u8 } else { self.behind[to - own].loops }
        };
        let loops = end.successors().map(loops).min().unwrap_or(0);
        let ops = ops.into_iter().map(Op::Mask).collect();
        self.behind.push(Block { loops, ops, tally: Tally::default(), end });
        JumpTarget::Block(place as u16)
    }
}

/// The change of levels; `disagree`: the lanes that become a new one, where they run.
fn change_levels(ops: &mut Vec<MaskOp>, levels: u8, change: i8, disagree: M) {
    for level in levels.saturating_add_signed(change)..levels {
        ops.push(MaskOp::Or(M::ACTIVE, M::ACTIVE, M::saved(level.into())));
    }
    if change > 0 {
        let level = M::saved(levels.into());
        ops.push(MaskOp::And(level, M::ACTIVE, disagree));
        ops.push(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, level));
    }
}

const fn target(target: x1k::JumpTarget) -> JumpTarget {
    match target {
        x1k::JumpTarget::Block(id) => JumpTarget::Block(id as u16 + 1),
        x1k::JumpTarget::Never | x1k::JumpTarget::Reference => JumpTarget::Reference,
    }
}
