//! From the flow machine to masks: what back ends run.
//!
//! The blocks of [`crate::ir::x1k`] end in instructions of the machine of CTM §3.5.2. Here each becomes operations on masks in fixed places and a branch on
//! one of them. Block n there is block n + 1 here: block 0 only begins, and what one outcome of an instruction does beside the other's stands in blocks of
//! its own behind all others.

use crate::ir::masked::{Block, Code, End, M, MaskOp, Op, Tally, Target, Value};
use crate::ir::x1k::leaves_loop;
use crate::ir::x1k::{self, Flow, Levels};
use ctm_exec::x1k::Constants;
use ctm_isa::x1k::LOOP_STACK;
use ctm_isa::x1k::ops::FcOp;

/// Lanes that want to jump, of those that vote.
const JUMP: M = M::CONCERNED;
/// Lanes that want to stay, of those that vote.
const STAY: M = M::PASS;
/// Lanes that ran before B_ELSE.
const EXCHANGED: M = M::TEMP;
/// What decides.
const DECIDES: M = M::TEMP2;

/// The program with its flow control as operations on masks. `joint`: several groups run as if they were one large one, which has to come to the same
/// ([`super::joint::holds`]).
pub fn lower(code: &x1k::Code, constants: &Constants, joint: bool) -> Code {
    let mut lower = Lower {
        code,
        constants,
        joint,
        blocks: Vec::with_capacity(2 * code.blocks.len()),
        behind: Vec::new(),
        ops: Vec::new(),
        restores: restores(code, joint),
        continues: code.blocks.iter().any(|block| matches!(block.end, x1k::End::Flow(Flow { op: FcOp::Continue, .. }))),
    };
    let mut begin = vec![MaskOp::Copy(M::ACTIVE, M::EXISTING), MaskOp::Copy(M::RESULT, M::NONE)];
    begin.extend((0..4).map(|bit| MaskOp::Copy(M::predicate(bit), M::NONE)));
    lower.blocks.push(Block {
        loops: 0,
        ops: begin.into_iter().map(Op::Mask).collect(),
        tally: Tally::default(),
        end: End::Next(Target::Block(1)),
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
    constants: &'a Constants,
    joint: bool,
    blocks: Vec<Block>,
    /// Blocks behind those of the program.
    behind: Vec<Block>,
    /// Of the block under way.
    ops: Vec<Op>,
    /// Of each loop frame: exactly those lanes run behind its loops that ran before.
    restores: Vec<bool>,
    /// Some CONTINUE is there.
    continues: bool,
}

/// Of each loop frame, whether exactly those lanes run behind its loops that ran before: nobody leaves it by leaving a loop around it.
fn restores(code: &x1k::Code, joint: bool) -> Vec<bool> {
    let mut restores = vec![joint; LOOP_STACK];
    for block in &code.blocks {
        if let x1k::End::Flow(Flow { op: FcOp::BreakLoop | FcOp::BreakRep, frame, .. }) = block.end {
            restores.iter_mut().take(block.frames.frames.len()).skip(usize::from(frame) + 1).for_each(|of| *of = false);
        }
    }
    restores
}

/// Which lanes want to jump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wants {
    All,
    None,
    /// Those of a mask, or (`false`) the others.
    Lanes(M, bool),
}

impl Lower<'_> {
    fn push(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value((self.ops.len() - 1) as u32)
    }

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
        Block { loops: block.frames.frames.len() as u8, ops: std::mem::take(&mut self.ops), tally: block.tally, end }
    }

    /// The lanes that want to jump, whoever of them votes (CTM §3.5.2).
    fn wants(&mut self, flow: &Flow) -> Wants {
        let predicate = match flow.predicate {
            None => Wants::All,
            Some((bit, inverted)) => Wants::Lanes(M::predicate(bit), !inverted),
        };
        // Of those whose ALU result is clear, and of those where it is set.
        let [clear, set] = [0, 2].map(|first| {
            let (without, with) = (flow.wants >> first & 1 == 1, flow.wants >> (first + 1) & 1 == 1);
            match (without, with) {
                (true, true) => Wants::All,
                (false, false) => Wants::None,
                (_, true) => predicate,
                (true, false) => opposite(predicate),
            }
        });
        match (clear, set) {
            (clear, set) if clear == set => clear,
            (Wants::None, Wants::All) => Wants::Lanes(M::RESULT, true),
            (Wants::All, Wants::None) => Wants::Lanes(M::RESULT, false),
            (clear, set) => {
                let (of_clear, wanted) = (M::under(0), M::under(1));
                self.lanes_that(of_clear, clear, M::EXISTING);
                self.mask(MaskOp::AndNot(of_clear, of_clear, M::RESULT));
                self.lanes_that(wanted, set, M::RESULT);
                self.mask(MaskOp::Or(wanted, wanted, of_clear));
                Wants::Lanes(wanted, true)
            }
        }
    }

    /// `to`: those of `from` that want.
    fn lanes_that(&mut self, to: M, want: Wants, from: M) {
        self.mask(match want {
            Wants::All => MaskOp::Copy(to, from),
            Wants::None => MaskOp::Copy(to, M::NONE),
            Wants::Lanes(mask, true) => MaskOp::And(to, from, mask),
            Wants::Lanes(mask, false) => MaskOp::AndNot(to, from, mask),
        });
    }

    /// A flow-control instruction (CTM §3.5.2, §3.5.3).
    fn flow(&mut self, block: &x1k::Block, flow: &Flow) -> End {
        let frame = usize::from(flow.frame);
        let levels = flow.depth.max(u8::from(flow.exchange));
        // The end of an iteration comes first: who left it by CONTINUE takes part in the decision again.
        if self.continues && matches!(flow.op, FcOp::EndLoop | FcOp::EndRep) {
            self.mask(MaskOp::Or(M::ACTIVE, M::ACTIVE, M::continued(frame)));
            self.mask(MaskOp::Copy(M::continued(frame), M::NONE));
        }
        if flow.exchange {
            let top = M::saved(usize::from(levels) - 1);
            if flow.depth == 0 {
                self.mask(MaskOp::Copy(top, M::NONE));
            }
            self.mask(MaskOp::Copy(EXCHANGED, M::ACTIVE));
            self.mask(MaskOp::Copy(M::ACTIVE, top));
            self.mask(MaskOp::Copy(top, EXCHANGED));
        }
        let first = self.ops.len();
        let wants = self.wants(flow);
        let end = self.decide(block, flow, levels, wants);
        // The ALU result is used up, whichever way the program goes.
        let reads = |op: &Op| matches!(op, Op::Mask(op) if op.reads().contains(&Some(M::RESULT)));
        let place = self.ops[first..].iter().rposition(reads).map_or(first, |place| first + place + 1);
        self.ops.insert(place, Op::Mask(MaskOp::Copy(M::RESULT, M::NONE)));
        let moved = |value: Value| Value(value.0 + u32::from(value.index() >= place));
        self.ops[place + 1..].iter_mut().for_each(|op| op.rename(moved));
        end
    }

    fn decide(&mut self, block: &x1k::Block, flow: &Flow, levels: u8, wants: Wants) -> End {
        let frame = usize::from(flow.frame);
        let simple = !flow.exchange && !flow.ignore_uncovered && !flow.jump_any && !self.is_known(flow);
        let breaks = matches!(flow.op, FcOp::BreakLoop | FcOp::BreakRep);
        if simple && let Wants::Lanes(mask, wanted) = wants {
            let narrow = |lower: &mut Self| match block.result.filter(|_| mask == M::RESULT) {
                // The comparison that has made it is made into them.
                Some(holds) => {
                    let stays = if wanted { lower.opposite_of(holds) } else { holds };
                    lower.mask(MaskOp::Lanes(M::TEMP, stays));
                    lower.mask(MaskOp::And(M::ACTIVE, M::ACTIVE, M::TEMP));
                }
                None if wanted => lower.mask(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, mask)),
                None => lower.mask(MaskOp::And(M::ACTIVE, M::ACTIVE, mask)),
            };
            let branches =
                flow.op == FcOp::Jump && flow.stay_levels == Levels::Push && flow.jump_levels != Levels::Push;
            if branches {
                // Those who jump become a new level. When nobody stays, it is empty again.
                let level = M::saved(usize::from(levels));
                self.mask(MaskOp::Copy(level, M::ACTIVE));
                narrow(self);
                self.mask(MaskOp::AndNot(level, level, M::ACTIVE));
                let mut jump = vec![MaskOp::Copy(M::ACTIVE, level)];
                change_levels(&mut jump, levels, flow.jump_levels, M::NONE);
                let none = self.behind(jump, target(flow.jump));
                return End::Branch { mask: M::ACTIVE, none, some: target(flow.stay) };
            }
            if breaks && flow.stay_levels == Levels::Keep && flow.jump_levels != Levels::Push {
                if !self.restores[frame] {
                    self.lanes_that(JUMP, wants, M::ACTIVE);
                    self.mask(MaskOp::Or(M::broken(frame), M::broken(frame), JUMP));
                }
                narrow(self);
                let stays = self.with_idle(flow, levels, M::ACTIVE);
                let none = self.outcome(block, flow, levels, true);
                return End::Branch { mask: stays, none, some: target(flow.stay) };
            }
        }
        // Who votes, and how.
        let voters = if flow.ignore_uncovered {
            self.mask(MaskOp::And(M::under(2), M::ACTIVE, M::VALID));
            M::under(2)
        } else {
            M::ACTIVE
        };
        self.lanes_that(JUMP, wants, voters);
        self.lanes_that(STAY, opposite(wants), voters);
        let voted = self.voted(flow, wants);
        if let FcOp::EndLoop | FcOp::EndRep = flow.op {
            // One iteration less; when it is the last one, nobody looks any more.
            let count = M::count(frame);
            self.mask(MaskOp::Add(count, -1, false));
            let (stay, jump) = (self.outcome(block, flow, levels, false), self.outcome(block, flow, levels, true));
            let again = vec![MaskOp::IfNot0(DECIDES, M::EXISTING, count)];
            let counted = End::Branch { mask: DECIDES, none: stay, some: jump };
            // Groups that decide as one go on while iterations are left, whoever runs: that is the same in the end.
            let voted = if self.joint && wants == Wants::All { Voted::Known(true) } else { voted };
            return match voted {
                Voted::Known(false) => End::Next(stay),
                Voted::Known(true) => {
                    again.into_iter().for_each(|op| self.mask(op));
                    counted
                }
                voted => {
                    let again = self.block_behind(again, counted);
                    voted.end(stay, again)
                }
            };
        }
        let (stay, jump) = (self.outcome(block, flow, levels, false), self.outcome(block, flow, levels, true));
        match voted {
            _ if flow.stay == x1k::Target::Never => End::Next(jump),
            _ if flow.jump == x1k::Target::Never => End::Next(stay),
            _ if matches!(flow.op, FcOp::Loop | FcOp::Rep) && flow.count == 0 => End::Next(jump),
            Voted::Known(false) => End::Next(stay),
            // Nobody may leave while others wait for them.
            voted if breaks || flow.op == FcOp::Continue => match voted {
                Voted::Known(_) | Voted::None(_) => {
                    let stays = if let Voted::None(mask) = voted { mask } else { M::NONE };
                    let idle = self.with_idle(flow, levels, stays);
                    End::Branch { mask: idle, none: jump, some: stay }
                }
                Voted::Some(mask) => {
                    let idle = self.with_idle(flow, levels, M::NONE);
                    let leaves = self.block_behind(Vec::new(), End::Branch { mask: idle, none: jump, some: stay });
                    End::Branch { mask, none: stay, some: leaves }
                }
            },
            voted => voted.end(stay, jump),
        }
    }

    /// All ones where a comparison does not hold.
    fn opposite_of(&mut self, holds: Value) -> Value {
        let op = match self.ops[holds.index()] {
            Op::Holds(op, operands, as_said) => Op::Holds(op, operands, !as_said),
            Op::Bits(bits) => Op::Bits(!bits),
            _ => {
                let (none, all) = (self.push(Op::Bits(0)), self.push(Op::Bits(u32::MAX)));
                Op::Select([holds, none, all])
            }
        };
        self.push(op)
    }

    fn is_known(&self, flow: &Flow) -> bool {
        [flow.stay, flow.jump].contains(&x1k::Target::Never)
    }

    /// The outcome of a vote.
    fn voted(&mut self, flow: &Flow, wants: Wants) -> Voted {
        if !flow.jump_any {
            return if wants == Wants::All { Voted::Known(true) } else { Voted::None(STAY) };
        }
        if !flow.exchange {
            return if wants == Wants::None { Voted::Known(false) } else { Voted::Some(JUMP) };
        }
        // Those that have just stopped vote for it.
        if flow.ignore_uncovered {
            self.mask(MaskOp::And(EXCHANGED, EXCHANGED, M::VALID));
        }
        self.mask(MaskOp::Or(EXCHANGED, JUMP, EXCHANGED));
        Voted::Some(EXCHANGED)
    }

    /// These lanes, and those for which a loop, or its iteration, may not be left yet.
    fn with_idle(&mut self, flow: &Flow, levels: u8, lanes: M) -> M {
        let mut masks: Vec<M> = Vec::new();
        let lowest = match flow.jump {
            // Nobody counts: whether those outside of the loop run again comes to the same.
            x1k::Target::Block(jump) if self.joint => self.code.blocks[jump.index()].depth.min(levels),
            _ => 0,
        };
        masks.extend((lowest..levels).map(|level| M::saved(level.into())));
        if self.continues && flow.op != FcOp::Continue {
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

    /// What one outcome of the instruction does, then where it leads.
    fn outcome(&mut self, block: &x1k::Block, flow: &Flow, levels: u8, jump: bool) -> Target {
        let to = if jump { flow.jump } else { flow.stay };
        if matches!(to, x1k::Target::Never | x1k::Target::Reference) {
            return Target::Reference;
        }
        let frame = usize::from(flow.frame);
        let (broken, continued) = (M::broken(frame), M::continued(frame));
        let mut ops = Vec::new();
        match (flow.op, jump) {
            (FcOp::Jump, _) | (FcOp::Loop | FcOp::Rep | FcOp::Continue, true) => {}
            (FcOp::Loop | FcOp::Rep, false) => {
                let [_, value, ..] = self.constants.int[usize::from(flow.int)];
                ops.push(MaskOp::Number(M::count(frame), flow.count.into()));
                if flow.op == FcOp::Loop {
                    ops.push(MaskOp::Number(M::loop_index(frame), value.into()));
                }
                // Who runs before the loop, or who has left it.
                ops.push(MaskOp::Copy(broken, if self.restores[frame] { M::ACTIVE } else { M::NONE }));
                if self.continues {
                    ops.push(MaskOp::Copy(continued, M::NONE));
                }
            }
            (FcOp::EndLoop | FcOp::EndRep, true) => {
                if let Some(&(true, int)) = block.frames.frames.get(frame) {
                    let step = self.constants.int[usize::from(int)][2].cast_signed();
                    ops.push(MaskOp::Add(M::loop_index(frame), step.into(), false));
                }
            }
            (op @ (FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep), _) if leaves_loop(op, jump) => {
                ops.push(if self.restores[frame] {
                    MaskOp::Copy(M::ACTIVE, broken)
                } else {
                    MaskOp::Or(M::ACTIVE, M::ACTIVE, broken)
                });
                if self.continues {
                    ops.push(MaskOp::Or(M::ACTIVE, M::ACTIVE, continued));
                }
            }
            (FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep, _) => {
                ops.push(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, JUMP));
                if !self.restores[frame] {
                    ops.push(MaskOp::Or(broken, broken, JUMP));
                }
            }
            (FcOp::Continue, false) => {
                ops.push(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, JUMP));
                ops.push(MaskOp::Or(continued, continued, JUMP));
            }
        }
        let effect = if jump { flow.jump_levels } else { flow.stay_levels };
        change_levels(&mut ops, levels, effect, if jump { STAY } else { JUMP });
        self.behind(ops, target(to))
    }

    /// A block behind the others that does this and goes on; none where there is nothing to do.
    fn behind(&mut self, ops: Vec<MaskOp>, to: Target) -> Target {
        if ops.is_empty() || to == Target::Reference { to } else { self.block_behind(ops, End::Next(to)) }
    }

    fn block_behind(&mut self, ops: Vec<MaskOp>, end: End) -> Target {
        let place = 1 + self.code.blocks.len() + self.behind.len();
        let ops = ops.into_iter().map(Op::Mask).collect();
        self.behind.push(Block { loops: 0, ops, tally: Tally::default(), end });
        Target::Block(place as u16)
    }
}

/// What decides a vote.
enum Voted {
    /// Nothing: it is known.
    Known(bool),
    /// They jump if nobody is in a mask.
    None(M),
    /// They jump if somebody is.
    Some(M),
}

impl Voted {
    /// The branch by a vote that is not known.
    fn end(self, stay: Target, jump: Target) -> End {
        match self {
            Self::Known(true) => End::Next(jump),
            Self::Known(false) => End::Next(stay),
            Self::None(mask) => End::Branch { mask, none: jump, some: stay },
            Self::Some(mask) => End::Branch { mask, none: stay, some: jump },
        }
    }
}

const fn opposite(wants: Wants) -> Wants {
    match wants {
        Wants::All => Wants::None,
        Wants::None => Wants::All,
        Wants::Lanes(mask, wanted) => Wants::Lanes(mask, !wanted),
    }
}

/// What happens to levels; `disagree`: the lanes that become a new one, where they run.
fn change_levels(ops: &mut Vec<MaskOp>, levels: u8, effect: Levels, disagree: M) {
    match effect {
        Levels::Keep => {}
        Levels::Pop(count) => {
            for level in levels - count..levels {
                let level = M::saved(level.into());
                ops.push(MaskOp::Or(M::ACTIVE, M::ACTIVE, level));
            }
        }
        Levels::Push => {
            let level = M::saved(levels.into());
            ops.push(MaskOp::And(level, M::ACTIVE, disagree));
            ops.push(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, level));
        }
    }
}

const fn target(target: x1k::Target) -> Target {
    match target {
        x1k::Target::Block(id) => Target::Block(id.0 + 1),
        x1k::Target::Never | x1k::Target::Reference => Target::Reference,
    }
}
