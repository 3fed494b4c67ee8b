//! Passes over the form: liveness, dead code, and masks that nobody sees.
//!
//! A store under the running lanes needs its mask only when some lane that does not run still wants the old value. Which lanes
//! those can be is known: a lane in a level comes back where that level is popped or exchanged, a lane that left a loop comes back behind
//! it. So for each block there is, beside the variables that are live for running lanes, the set that is live for *idle* ones: what is live
//! where they come back.

use crate::ir::x1k::{Block, BlockId, Code, End, File, Flow, Levels, Op, Target, Under, Value, Var, leaves_loop};
use ctm_isa::x1k::ops::FcOp;
use ctm_isa::x1k::{BRANCH_COUNTER_FULL, LOOP_STACK, TEMPORARIES};

const WORDS: usize = Var::COUNT.div_ceil(64);

/// A set of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct VarSet([u64; WORDS]);

impl VarSet {
    /// All variables.
    const ALL: Self = Self([u64::MAX; WORDS]);

    /// Whether the variable belongs to it.
    const fn contains(&self, var: Var) -> bool {
        self.0[var.index() / 64] >> (var.index() % 64) & 1 == 1
    }

    /// Adds a variable.
    const fn insert(&mut self, var: Var) {
        self.0[var.index() / 64] |= 1 << (var.index() % 64);
    }

    /// Takes a variable out.
    const fn remove(&mut self, var: Var) {
        self.0[var.index() / 64] &= !(1 << (var.index() % 64));
    }

    /// Adds the variables of another set; says whether any was new.
    fn add(&mut self, other: &Self) -> bool {
        let mut new = 0;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs & !*mine;
            *mine |= theirs;
        }
        new != 0
    }
}

/// What is live at the beginning of each block.
struct Liveness {
    /// For lanes that run.
    running: Vec<VarSet>,
    /// For lanes that do not.
    idle: Vec<VarSet>,
}

/// Removes what nobody reads and masks that nobody sees.
pub fn optimise(code: &mut Code) {
    let paths = Paths::of(code);
    // What is live behind the only block is always the same, whatever it does.
    let only_one = code.blocks.iter().all(|block| block.successors().next().is_none());
    let mut effects: Vec<Effect> = if only_one {
        vec![Effect::default(); code.blocks.len()]
    } else {
        code.blocks.iter().map(Effect::of).collect()
    };
    let mut swept: Vec<Option<(VarSet, VarSet)>> = vec![None; code.blocks.len()];
    // A dead store may have been the only reader of something that was live into its block.
    while sweep(code, &liveness(code, &paths, &effects), &mut effects, &mut swept) && !only_one {}
}

/// The outputs that the program may write.
fn outputs(code: &Code) -> VarSet {
    let mut set = VarSet::default();
    let outputs = (4 * TEMPORARIES..Var::COUNT).map(|index| Var(index as u16));
    outputs.filter(|var| var.output_index().is_some_and(|i| code.outputs >> i & 1 == 1)).for_each(|v| set.insert(v));
    set
}

/// What a block does to liveness: what it reads of what it is given, and what it stores for all lanes that run.
#[derive(Clone, Copy, Default)]
struct Effect {
    reads: VarSet,
    stores: VarSet,
}

impl Effect {
    fn of(block: &Block) -> Self {
        let mut effect = Self::default();
        block.ops.iter().rev().for_each(|op| effect.step_back(op));
        effect
    }

    /// The same with one operation more, before the others.
    fn step_back(&mut self, op: &Op) {
        match *op {
            Op::Get(var) => self.reads.insert(var),
            Op::GetRelative { file: File::Temp, channel, .. } => {
                (0..TEMPORARIES).for_each(|register| self.reads.insert(Var::temp(register, channel.into())));
            }
            Op::Set(var, _, under) if stores_all(under) => {
                self.stores.insert(var);
                self.reads.remove(var);
            }
            _ => {}
        }
    }

    /// Whether a variable is live before the block, if it may be live after it.
    fn leaves(&self, var: Var, after: &VarSet) -> bool {
        self.reads.contains(var) || (after.contains(var) && !self.stores.contains(var))
    }

    /// What is live before the block, from what is live after it.
    fn before(&self, mut live: VarSet) -> VarSet {
        live.0.iter_mut().zip(self.stores.0).for_each(|(live, stores)| *live &= !stores);
        live.add(&self.reads);
        live
    }
}

/// Works out what is live.
fn liveness(code: &Code, paths: &Paths, effects: &[Effect]) -> Liveness {
    let count = code.blocks.len();
    let outputs = outputs(code);
    let mut live = Liveness { running: vec![VarSet::default(); count], idle: vec![VarSet::default(); count] };
    for (idle, block) in live.idle.iter_mut().zip(&code.blocks) {
        if code.watches_idle_lanes && !block.all_run() {
            *idle = VarSet::ALL;
        }
    }
    // For each block and reason: what is live for lanes that are idle in it for that reason, where they run again.
    let mut away = vec![VarSet::default(); count * paths.reasons];
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in code.blocks.iter().enumerate().rev() {
            let out = live_out(&live, block, &outputs);
            let mut idle = live.idle[index];
            for reason in 0..paths.reasons {
                let place = index * paths.reasons + reason;
                let mut set = away[place];
                if block.end == End::Stop {
                    set.add(&outputs);
                }
                for &(next, back) in paths.next[index].iter().flatten() {
                    if back >> reason & 1 == 1 {
                        set.add(&live.running[next.index()]);
                        set.add(&live.idle[next.index()]);
                    } else {
                        set.add(&away[next.index() * paths.reasons + reason]);
                    }
                }
                changed |= away[place].add(&set);
                if paths.idle[index] >> reason & 1 == 1 {
                    idle.add(&set);
                }
            }
            changed |= live.idle[index].add(&idle) | live.running[index].add(&effects[index].before(out));
        }
    }
    live
}

/// What is live after the operations of a block, for lanes that ran in it.
fn live_out(live: &Liveness, block: &Block, outputs: &VarSet) -> VarSet {
    let mut out = if block.end == End::Stop { *outputs } else { VarSet::default() };
    // Some of the lanes may be idle from there on.
    for next in block.successors() {
        out.add(&live.running[next.index()]);
        out.add(&live.idle[next.index()]);
    }
    out
}

/// A store under a predicate leaves some lanes as they are.
const fn stores_all(under: Under) -> bool {
    under.predicate.is_none() && !under.covered
}

/// Removes dead stores and operations without readers, and drops masks. Says whether a store went; then `effects` have changed.
/// `done`: what was live behind each block, and for idle lanes, when it was swept last.
fn sweep(code: &mut Code, live: &Liveness, effects: &mut [Effect], done: &mut [Option<(VarSet, VarSet)>]) -> bool {
    let outputs = outputs(code);
    let mut swept = false;
    let mut needed = Vec::new();
    let mut names = Vec::new();
    for (index, (block, idle)) in code.blocks.iter_mut().zip(&live.idle).enumerate() {
        let out = live_out(live, block, &outputs);
        if done[index].replace((out, *idle)) == Some((out, *idle)) {
            continue;
        }
        let mut rest = Effect::default();
        needed.clear();
        needed.resize(block.ops.len(), false);
        for place in (0..block.ops.len()).rev() {
            let op = &mut block.ops[place];
            let keep = match &mut *op {
                Op::Set(var, _, under) => {
                    // Outputs also record who wrote them.
                    if !idle.contains(*var) && !under.covered && var.output_index().is_none() {
                        under.inactive = true;
                    }
                    let keep = rest.leaves(*var, &out) || (under.inactive && idle.contains(*var));
                    swept |= !keep;
                    keep
                }
                op if needed[place] || op.is_pure() => needed[place],
                _ => true,
            };
            needed[place] = keep;
            if keep {
                op.reads().for_each(|value| needed[value.index()] = true);
                rest.step_back(op);
            }
        }
        effects[index] = rest;
        if needed.contains(&false) {
            compact(block, &needed, &mut names);
        }
    }
    swept
}

/// Removes the operations that are not needed. `names`: room for the new name of each.
fn compact(block: &mut Block, needed: &[bool], names: &mut Vec<Value>) {
    names.clear();
    let mut kept = 0;
    for (old, needed) in needed.iter().enumerate() {
        names.push(Value(kept as u32));
        if *needed {
            block.ops[kept] = renamed(block.ops[old], |value| names[value.index()]);
            kept += 1;
        }
    }
    block.ops.truncate(kept);
}

/// The operation with its operands renamed.
pub fn renamed(op: Op, name: impl Fn(Value) -> Value) -> Op {
    match op {
        Op::Bits(_) | Op::Get(_) | Op::Const(_) | Op::GetRelative { .. } | Op::Guard { .. } => op,
        Op::Sign(imod, a) => Op::Sign(imod, name(a)),
        Op::Mad { a, b, c, zero_wins, omod } => Op::Mad { a: name(a), b: name(b), c: name(c), zero_wins, omod },
        Op::Pick { test, x, y, a, b } => Op::Pick { test, x: name(x), y: name(y), a: name(a), b: name(b) },
        Op::Scale(a, omod) => Op::Scale(name(a), omod),
        Op::Clamp(a) => Op::Clamp(name(a)),
        Op::Fraction(a, omod) => Op::Fraction(name(a), omod),
        Op::Scalar(function, a) => Op::Scalar(function, name(a)),
        Op::Reference { op, abc, zero_wins, omod, clamp } => {
            Op::Reference { op, abc: abc.map(name), zero_wins, omod, clamp }
        }
        Op::QuadLane(a, lane) => Op::QuadLane(name(a), lane),
        Op::Texel(a, channel) => Op::Texel(name(a), channel),
        Op::Fetch { input, s, t, unscaled, uncached, under } => {
            Op::Fetch { input, s: name(s), t: name(t), unscaled, uncached, under }
        }
        Op::Write { index, value, shared, under, set, clear } => {
            Op::Write { index: index.map(&name), value: name(value), shared, under, set, clear }
        }
        Op::Set(var, a, under) => Op::Set(var, name(a), under),
        Op::SetRelative { base, channel, value, under } => Op::SetRelative { base, channel, value: name(value), under },
        Op::SetPredicate(bit, test, a, under) => Op::SetPredicate(bit, test, name(a), under),
        Op::SetResult(test, a, under) => Op::SetResult(test, name(a), under),
        Op::Kill(a, under) => Op::Kill(name(a), under),
    }
}

/// What liveness has to know of flow control.
struct Paths {
    /// Reasons for which lanes are idle somewhere.
    reasons: usize,
    /// For each block, bits of the reasons for which lanes may be idle in it.
    idle: Vec<u64>,
    /// For each block, what comes next, and bits of the reasons whose lanes run again there.
    next: Vec<[Option<(BlockId, u64)>; 2]>,
}

/// Why a lane is idle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    /// It lies in this level.
    Level(u8),
    /// It left this loop by BREAK.
    Broke(u8),
    /// It left an iteration of this loop by CONTINUE.
    Continued(u8),
}

// One bit for each reason.
const _: () = assert!(BRANCH_COUNTER_FULL as usize + 1 + 2 * LOOP_STACK <= 64);

impl Paths {
    fn of(code: &Code) -> Self {
        let has = |wanted: fn(FcOp) -> bool, frame: u8| {
            code.blocks.iter().any(|b| matches!(b.end, End::Flow(f) if wanted(f.op) && f.frame == frame))
        };
        let depth = code.blocks.iter().map(|block| block.depth).max().unwrap_or(0);
        let frames = code.blocks.iter().map(|block| block.frames.frames.len()).max().unwrap_or(0) as u8;
        let broke = (0..frames).filter(|&f| has(|op| matches!(op, FcOp::BreakLoop | FcOp::BreakRep), f));
        let continued = (0..frames).filter(|&f| has(|op| op == FcOp::Continue, f));
        let reasons: Vec<Idle> =
            (0..depth).map(Idle::Level).chain(broke.map(Idle::Broke)).chain(continued.map(Idle::Continued)).collect();
        let bits = |holds: &dyn Fn(Idle) -> bool| {
            reasons.iter().enumerate().fold(0u64, |bits, (bit, &reason)| bits | u64::from(holds(reason)) << bit)
        };
        let idle = |block: &Block| {
            let open = block.frames.frames.len();
            bits(&|reason| match reason {
                Idle::Level(level) => level < block.depth,
                Idle::Broke(frame) | Idle::Continued(frame) => usize::from(frame) < open,
            })
        };
        let next = |block: &Block| match block.end {
            End::Next(Target::Block(next)) => [Some((next, 0)), None],
            End::Stop | End::Next(_) => [None, None],
            End::Flow(flow) => [(flow.stay, flow.stay_levels, false), (flow.jump, flow.jump_levels, true)].map(
                |(target, effect, jump)| match target {
                    Target::Block(next) => Some((next, bits(&|reason| returns(&flow, reason, effect, jump)))),
                    Target::Never | Target::Reference => None,
                },
            ),
        };
        Self {
            reasons: reasons.len(),
            idle: code.blocks.iter().map(idle).collect(),
            next: code.blocks.iter().map(next).collect(),
        }
    }
}

/// Whether lanes that are idle for this reason run again behind this outcome of a flow-control instruction.
fn returns(flow: &Flow, reason: Idle, effect: Levels, jump: bool) -> bool {
    let levels = flow.depth.max(u8::from(flow.exchange));
    match reason {
        Idle::Level(level) => {
            let popped = match effect {
                Levels::Pop(count) => level >= levels - count,
                Levels::Keep | Levels::Push => false,
            };
            popped || (flow.exchange && level + 1 == levels)
        }
        Idle::Broke(frame) => flow.frame == frame && leaves_loop(flow.op, jump),
        Idle::Continued(frame) => {
            flow.frame == frame && (leaves_loop(flow.op, jump) || matches!(flow.op, FcOp::EndLoop | FcOp::EndRep))
        }
    }
}
