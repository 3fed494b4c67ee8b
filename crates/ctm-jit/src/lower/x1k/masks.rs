//! From the flow machine to masks: what back ends run.
//!
//! The blocks of [`crate::ir::x1k`] end in instructions of the machine of CTM §3.5.2. Here each becomes operations on masks in fixed places and a branch on
//! one of them; so do predicates, the ALU result, coverage, and the lanes that instructions concern. Block n there is block n + 1 here: block 0 only begins, and
//! what one outcome of an instruction does beside the other's stands in blocks of its own behind all others.

use crate::ir::masked::{
    Block, Code, Counter, End, Fetch, File, M, MaskOp, Op, Store, Tally, Target, Unit, Value, Var,
};
use crate::ir::x1k::leaves_loop;
use crate::ir::x1k::{self, Flow, Levels, Test, Under};
use ctm_exec::x1k::Constants;
use ctm_isa::r700::ops::Op2;
use ctm_isa::x1k::ops::{CompareOp, FcOp, Imod};
use ctm_isa::x1k::{FLOAT_CONSTANTS, LOOP_STACK, TEMPORARIES};
use std::collections::HashSet;

/// Lanes that want to jump, of those that vote.
const JUMP: M = M::CONCERNED;
/// Lanes that want to stay, of those that vote.
const STAY: M = M::PASS;
/// Lanes that ran before B_ELSE.
const EXCHANGED: M = M::TEMP;
/// What decides.
const DECIDES: M = M::TEMP2;

/// How a program is made of its form.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// Its constants.
    pub constants: &'a Constants,
    /// Several groups run as if they were one large one, which has to come to the same ([`super::joint::holds`]).
    pub joint: bool,
    /// Somebody looks at counters.
    pub counts: bool,
}

/// The variable of a variable.
pub fn var(var: x1k::Var) -> Var {
    match var.output_index() {
        None => Var(var.0),
        // Behind the four targets comes the conditional value.
        Some(output) => Var::export(output / 4, output % 4),
    }
}

/// The program with its flow control as operations on masks.
pub fn lower(code: &x1k::Code, how: How<'_>) -> Code {
    let mut lower = Lower {
        code,
        how,
        blocks: Vec::with_capacity(2 * code.blocks.len()),
        behind: Vec::new(),
        fetches: Vec::new(),
        stores: Vec::new(),
        ops: Vec::new(),
        values: Vec::new(),
        unders: Vec::new(),
        all_run: false,
        flushed: HashSet::new(),
        result: None,
        restores: restores(code, how.joint),
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
        fetches: lower.fetches,
        stores: lower.stores,
        yields: Vec::new(),
        locked: Vec::new(),
        watches_idle_lanes: code.watches_idle_lanes,
        computed: Vec::new(),
        keeps_idle_lanes: code.watches_idle_lanes || code.relative_temps,
    }
}

struct Lower<'a> {
    code: &'a x1k::Code,
    how: How<'a>,
    blocks: Vec<Block>,
    /// Blocks behind those of the program.
    behind: Vec<Block>,
    fetches: Vec<Fetch>,
    stores: Vec<Store>,
    /// Of the block under way.
    ops: Vec<Op>,
    /// What each vector of the block became.
    values: Vec<Value>,
    /// Masks of the lanes that instructions of the block concern.
    unders: Vec<(Under, M)>,
    all_run: bool,
    /// Vectors whose readers flush them.
    flushed: HashSet<usize>,
    /// By which comparison with zero the ALU result of all lanes that run has been made in this block, if nothing else has made it.
    result: Option<(CompareOp, x1k::Value)>,
    /// Of each loop frame: exactly those lanes run behind its loops that ran before.
    restores: Vec<bool>,
    /// Some CONTINUE is there.
    continues: bool,
}

/// The vectors of a block whose readers flush them.
fn only_flushed(block: &x1k::Block) -> HashSet<usize> {
    let picks = |(n, op): (usize, &x1k::Op)| matches!(op, x1k::Op::Pick { .. }).then_some(n);
    let mut all: HashSet<usize> = block.ops.iter().enumerate().filter_map(picks).collect();
    if all.is_empty() {
        return all;
    }
    for op in &block.ops {
        let flushes = matches!(
            op,
            x1k::Op::Mad { .. } | x1k::Op::Scale(..) | x1k::Op::Clamp(_) | x1k::Op::Fraction(..) | x1k::Op::Scalar(..)
        );
        if !flushes {
            op.reads().for_each(|value| _ = all.remove(&value.index()));
        }
    }
    all
}

/// The comparison of a choice.
const fn holds(test: Test, [x, y]: [Value; 2]) -> (Op2, [Value; 2]) {
    match test {
        Test::Less => (Op2::PredSetgt, [y, x]),
        Test::Greater => (Op2::PredSetgt, [x, y]),
        Test::GreaterEqual => (Op2::PredSetge, [x, y]),
        Test::Equal => (Op2::PredSete, [x, y]),
    }
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
        self.values.clear();
        self.unders.clear();
        self.flushed = only_flushed(block);
        self.result = None;
        self.all_run = block.all_run();
        let instructions = block.tally.instructions();
        if self.how.counts && instructions > 0 {
            let lanes = self.under(Under { covered: true, ..Under::default() });
            self.push(Op::Tally(Counter::Lanes, instructions, lanes));
        }
        for op in &block.ops {
            let value = self.op(block, op);
            self.values.push(value);
        }
        let end = match block.end {
            x1k::End::Stop => End::Stop,
            x1k::End::Next(next) => End::Next(target(next)),
            x1k::End::Flow(flow) => self.flow(block, &flow),
        };
        let tally = Tally {
            alu: block.tally.alu,
            output: block.tally.output,
            tex: block.tally.tex,
            fc: block.tally.fc,
            ..Tally::default()
        };
        Block { loops: block.frames.frames.len() as u8, ops: std::mem::take(&mut self.ops), tally, end }
    }

    /// The mask of the lanes that an effect concerns.
    fn under(&mut self, under: Under) -> M {
        let under = Under { inactive: under.inactive || self.all_run, ..under };
        let all = if under.inactive { M::EXISTING } else { M::ACTIVE };
        if under.predicate.is_none() && !under.covered {
            return all;
        }
        if let Some((_, mask)) = self.unders.iter().find(|known| known.0 == under) {
            return *mask;
        }
        let mask = M::under(self.unders.len() % M::UNDERS);
        self.unders.retain(|known| known.1 != mask);
        self.unders.push((under, mask));
        let mut from = all;
        if let Some((bit, inverted)) = under.predicate {
            let bit = M::predicate(bit);
            self.mask(if inverted { MaskOp::AndNot(mask, from, bit) } else { MaskOp::And(mask, from, bit) });
            from = mask;
        }
        if under.covered {
            self.mask(MaskOp::And(mask, from, M::VALID));
        }
        mask
    }

    /// All ones where a number compares so with zero, or (not `wanted`) does not. A choice between two constants is compared by what it was made by.
    fn compared(&mut self, block: &x1k::Block, test: CompareOp, value: x1k::Value, wanted: bool) -> Value {
        if let x1k::Op::Pick { test: made, x, y, a, b } = block.op_at(value) {
            let passes = |value| match block.op_at(value) {
                x1k::Op::Bits(bits) => Some(ctm_exec::x1k::ops::compare(test, bits)),
                _ => None,
            };
            if let (Some(first), Some(second)) = (passes(a), passes(b))
                && first != second
            {
                let (op, operands) = holds(made, [x, y].map(|value| self.values[value.index()]));
                return self.push(Op::Holds(op, operands, first == wanted));
            }
        }
        let value = self.values[value.index()];
        let zero = self.push(Op::Bits(0));
        let (op, operands) = match test {
            CompareOp::Equal => (Op2::PredSete, [value, zero]),
            CompareOp::Less => (Op2::PredSetgt, [zero, value]),
            CompareOp::GreaterEqual => (Op2::PredSetge, [value, zero]),
            CompareOp::NotEqual => (Op2::PredSetne, [value, zero]),
        };
        self.push(Op::Holds(op, operands, wanted))
    }

    /// In the lanes of `under`, a mask becomes what a comparison gives.
    fn compare_into(&mut self, block: &x1k::Block, mask: M, test: CompareOp, value: x1k::Value, under: Under) {
        let under = self.under(under);
        let holds = self.compared(block, test, value, true);
        if under == M::EXISTING {
            return self.mask(MaskOp::Lanes(mask, holds));
        }
        self.mask(MaskOp::Lanes(M::TEMP, holds));
        self.mask(MaskOp::And(M::TEMP2, M::TEMP, under));
        self.mask(MaskOp::AndNot(mask, mask, under));
        self.mask(MaskOp::Or(mask, mask, M::TEMP2));
    }

    /// The number aL.
    fn loop_variable(&mut self, block: &x1k::Block) -> Value {
        let op = match block.frames.loop_variable() {
            Some(frame) => Op::Number(M::loop_index(frame)),
            None => Op::Bits(0),
        };
        self.push(op)
    }

    fn op(&mut self, block: &x1k::Block, op: &x1k::Op) -> Value {
        let of = |lower: &Self, value: x1k::Value| lower.values[value.index()];
        let unit = |lower: &mut Self, unit: Unit, operands: [x1k::Value; 3]| {
            let operands = operands.map(|value| of(lower, value));
            lower.push(Op::Unit(unit, operands))
        };
        match *op {
            x1k::Op::Bits(bits) => self.push(Op::Bits(bits)),
            x1k::Op::Get(from) => self.push(Op::Get(var(from))),
            x1k::Op::Const(component) => self.push(Op::Uniform(component)),
            x1k::Op::GetRelative { file, base, channel } => {
                let index = self.loop_variable(block);
                let file = match file {
                    x1k::File::Temp => File::Gprs(TEMPORARIES as u8),
                    x1k::File::Const => File::Constants(0, FLOAT_CONSTANTS as u16),
                };
                self.push(Op::GetRelative(file, base, channel, index))
            }
            x1k::Op::Sign(imod, a) => {
                let a = of(self, a);
                match imod {
                    Imod::Off => a,
                    Imod::Neg => self.push(Op::Neg(a)),
                    Imod::Abs => self.push(Op::Abs(a)),
                    Imod::Nab => {
                        let magnitude = self.push(Op::Abs(a));
                        self.push(Op::Neg(magnitude))
                    }
                }
            }
            x1k::Op::Mad { a, b, c, zero_wins, omod } => unit(self, Unit::Mad { zero_wins, omod }, [a, b, c]),
            x1k::Op::Pick { test: test @ (Test::Less | Test::Greater), x, y, a, b }
                if x == a && y == b && self.flushed.contains(&self.values.len()) =>
            {
                unit(self, if test == Test::Less { Unit::Min } else { Unit::Max }, [x, y, x])
            }
            x1k::Op::Pick { test, x, y, a, b } => {
                let [x, y, a, b] = [x, y, a, b].map(|value| of(self, value));
                let (op, operands) = holds(test, [x, y]);
                let holds = self.push(Op::Holds(op, operands, true));
                self.push(Op::Select(holds, a, b))
            }
            x1k::Op::Scale(a, omod) => unit(self, Unit::Scale(omod), [a; 3]),
            x1k::Op::Clamp(a) => unit(self, Unit::Clamp, [a; 3]),
            x1k::Op::Fraction(a, omod) => unit(self, Unit::Fraction(omod), [a; 3]),
            x1k::Op::Scalar(function, a) => unit(self, Unit::Scalar(function), [a; 3]),
            x1k::Op::Reference { op, abc, zero_wins, omod, clamp } => {
                unit(self, Unit::Reference { op, zero_wins, omod, clamp }, abc)
            }
            x1k::Op::QuadLane(a, lane) => {
                let a = of(self, a);
                self.push(Op::QuadLane(a, lane))
            }
            x1k::Op::Texel(fetch, channel) => {
                let fetch = of(self, fetch);
                self.push(Op::Fetched(fetch, channel))
            }
            x1k::Op::Write { index, value, shared, under, set, clear } => {
                let [x, y, bits] = [index[0], index[1], value].map(|value| of(self, value));
                let executing = self.under(under);
                self.mask(MaskOp::Copy(M::WRITING, executing));
                for bit in 0..4 {
                    if set >> bit & 1 == 1 {
                        self.mask(MaskOp::And(M::WRITING, M::WRITING, M::predicate(bit)));
                    }
                    if clear >> bit & 1 == 1 {
                        self.mask(MaskOp::AndNot(M::WRITING, M::WRITING, M::predicate(bit)));
                    }
                }
                let writing = self.push(Op::Number(M::WRITING));
                let number = number_of(&mut self.stores, Store::Uncached { shared });
                self.push(Op::Store(number, [x, y, bits, writing, x], executing))
            }
            x1k::Op::Fetch { input, s, t, unscaled, uncached, under } => {
                let [s, t] = [s, t].map(|value| of(self, value));
                if self.how.counts {
                    let lanes = self.under(Under { covered: true, predicate: None, ..under });
                    self.push(Op::Tally(Counter::Lookups(input), 1, lanes));
                }
                let under = self.under(under);
                let number = number_of(&mut self.fetches, Fetch::Input { input: input & 15, unscaled, uncached });
                self.push(Op::Fetch(number, [s, t, s, t], under))
            }
            x1k::Op::Set(to, value, under) => {
                let (value, under) = (of(self, value), self.under(under));
                if to.output_index().is_some() {
                    self.push(Op::Mark(var(to), under));
                }
                self.push(Op::Set(var(to), value, under))
            }
            x1k::Op::SetRelative { base, channel, value, under } => {
                let (value, under) = (of(self, value), self.under(under));
                let index = self.loop_variable(block);
                self.push(Op::SetRelative(TEMPORARIES as u8, base, channel, index, value, under))
            }
            x1k::Op::SetPredicate(bit, test, value, under) => {
                self.compare_into(block, M::predicate(bit), test, value, under);
                self.unders.retain(|known| known.0.predicate.is_none_or(|(of, _)| of != bit));
                Value(0)
            }
            x1k::Op::SetResult(test, value, under) => {
                self.result = (under == Under::default()).then_some((test, value));
                self.compare_into(block, M::RESULT, test, value, under);
                Value(0)
            }
            x1k::Op::Kill(value, under) => {
                let under = self.under(under);
                let kills = self.compared(block, CompareOp::Less, value, true);
                self.mask(MaskOp::Lanes(M::TEMP, kills));
                self.mask(MaskOp::And(M::TEMP2, M::TEMP, under));
                self.mask(MaskOp::AndNot(M::VALID, M::VALID, M::TEMP2));
                self.unders.retain(|known| !known.0.covered);
                Value(0)
            }
            x1k::Op::Guard { file, base } => {
                let count = match file {
                    x1k::File::Temp => TEMPORARIES,
                    x1k::File::Const => FLOAT_CONSTANTS,
                } as u16;
                match block.frames.loop_variable() {
                    Some(frame) => self.push(Op::Guard(M::loop_index(frame), base, count)),
                    // No loop: aL is 0, and every register is there.
                    None => Value(0),
                }
            }
        }
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
            let narrow = |lower: &mut Self| match lower.result.filter(|_| mask == M::RESULT) {
                // The comparison that has made it is made into them.
                Some((test, value)) => {
                    let stays = lower.compared(block, test, value, !wanted);
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
            let voted = if self.how.joint && wants == Wants::All { Voted::Known(true) } else { voted };
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
                Voted::Known(_) => {
                    let idle = self.with_idle(flow, levels, M::NONE);
                    End::Branch { mask: idle, none: jump, some: stay }
                }
                Voted::None(mask) => {
                    let idle = self.with_idle(flow, levels, mask);
                    End::Branch { mask: idle, none: jump, some: stay }
                }
                Voted::Some(mask) => {
                    let idle = self.with_idle(flow, levels, M::NONE);
                    let leaves = self.block_behind(Vec::new(), End::Branch { mask: idle, none: jump, some: stay });
                    End::Branch { mask, none: stay, some: leaves }
                }
            },
            Voted::Known(true) => End::Next(jump),
            voted => voted.end(stay, jump),
        }
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
        self.mask(MaskOp::Or(DECIDES, JUMP, EXCHANGED));
        Voted::Some(DECIDES)
    }

    /// These lanes, and those for which a loop, or its iteration, may not be left yet.
    fn with_idle(&mut self, flow: &Flow, levels: u8, lanes: M) -> M {
        let mut masks: Vec<M> = Vec::new();
        let lowest = match flow.jump {
            // Nobody counts: whether those outside of the loop run again comes to the same.
            x1k::Target::Block(jump) if self.how.joint => self.code.blocks[jump.index()].depth.min(levels),
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
                let [_, value, ..] = self.how.constants.int[usize::from(flow.int)];
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
                    let step = self.how.constants.int[usize::from(int)][2].cast_signed();
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

/// The number of a thing in a list, to which it is added where it is new.
fn number_of<T: PartialEq>(list: &mut Vec<T>, thing: T) -> u16 {
    let place = list.iter().position(|known| *known == thing).unwrap_or_else(|| {
        list.push(thing);
        list.len() - 1
    });
    place as u16
}
