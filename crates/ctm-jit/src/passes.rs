//! Passes over the form: liveness, dead code, and masks that nobody sees.
//!
//! A store under the running lanes needs its mask only when some lane that does not run still wants the old value. Which lanes
//! those can be is known: a lane in a level comes back where that level is popped or exchanged, a lane that left a loop comes back behind
//! it. So for each block there is, beside the variables that are live for running lanes, the set that is live for *idle* ones: what is live
//! where they come back.

use crate::form::{Block, BlockId, Code, End, File, Flow, Levels, Op, Target, Value, Var};
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::ops::FcOp;

const WORDS: usize = Var::COUNT.div_ceil(64);

/// A set of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VarSet([u64; WORDS]);

impl VarSet {
    /// All variables.
    pub const ALL: Self = Self([u64::MAX; WORDS]);

    /// Whether the variable belongs to it.
    pub const fn contains(&self, var: Var) -> bool {
        self.0[var.index() / 64] >> (var.index() % 64) & 1 == 1
    }

    /// Adds a variable.
    pub const fn insert(&mut self, var: Var) {
        self.0[var.index() / 64] |= 1 << (var.index() % 64);
    }

    /// Takes a variable out.
    pub const fn remove(&mut self, var: Var) {
        self.0[var.index() / 64] &= !(1 << (var.index() % 64));
    }

    /// Adds the variables of another set; says whether any was new.
    pub fn add(&mut self, other: &Self) -> bool {
        let before = *self;
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine |= theirs);
        *self != before
    }

    /// The variables in order.
    pub fn iter(&self) -> impl Iterator<Item = Var> + use<> {
        let bits = |(index, word): (usize, u64)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(Var((64 * index) as u16 + bit as u16))
            })
        };
        // There may be bits behind the last variable.
        self.0.into_iter().enumerate().flat_map(bits).take_while(|var| var.index() < Var::COUNT)
    }
}

/// What is live at the beginning of each block.
#[derive(Clone, Debug)]
pub struct Liveness {
    /// For lanes that run.
    pub running: Vec<VarSet>,
    /// For lanes that do not, and for other groups that wait elsewhere.
    pub idle: Vec<VarSet>,
    /// Whether other groups may wait elsewhere meanwhile.
    pub waited: Vec<bool>,
}

impl Liveness {
    /// What has to be kept across the beginning of a block.
    pub fn at(&self, block: BlockId) -> VarSet {
        let mut set = self.running[block.index()];
        set.add(&self.idle[block.index()]);
        set
    }
}

/// Removes what nobody reads and masks that nobody sees; gives the liveness of what is left.
///
/// `together`: several groups run at once and may part ways. Where they do, those whose target comes later wait there.
pub fn optimise(code: &mut Code, together: bool) -> Liveness {
    let mut liveness = liveness(code, together);
    // A dead store may have been the only reader of something that was live into its block.
    while sweep(code, &liveness) {
        liveness = self::liveness(code, together);
        // What is live behind the only block is always the same.
        if code.blocks.iter().all(|block| block.successors().next().is_none()) {
            break;
        }
    }
    liveness
}

/// Whether groups that run at once may part ways somewhere.
#[cfg(target_arch = "x86_64")]
pub fn parts(code: &Code) -> bool {
    code.blocks.iter().any(|block| {
        matches!(block.end, End::Flow(Flow { stay: Target::Block(stay), jump: Target::Block(jump), .. }) if stay != jump)
    })
}

/// For each block, where other groups may wait while it runs.
pub fn waits(code: &Code) -> Vec<Vec<BlockId>> {
    let count = code.blocks.len();
    let mut waits: Vec<Vec<BlockId>> = vec![Vec::new(); count];
    let mut seen = vec![false; count * count];
    // Some go on from the first block while others wait at the second.
    let mut parted: Vec<(BlockId, BlockId)> = Vec::new();
    for block in &code.blocks {
        if let End::Flow(Flow { stay: Target::Block(stay), jump: Target::Block(jump), .. }) = block.end
            && stay != jump
        {
            parted.push((stay.min(jump), stay.max(jump)));
        }
    }
    while let Some((first, wait)) = parted.pop() {
        let mut pending = vec![first];
        while let Some(id) = pending.pop() {
            if id > wait {
                // Who has come further waits in turn, and those who waited go on.
                parted.push((wait, id));
            } else if id < wait && !std::mem::replace(&mut seen[id.index() * count + wait.index()], true) {
                waits[id.index()].push(wait);
                pending.extend(code.blocks[id.index()].successors());
            }
        }
    }
    waits
}

/// The outputs that the program may write.
fn outputs(code: &Code) -> VarSet {
    let mut set = VarSet::default();
    let outputs = (4 * TEMPORARIES..Var::COUNT).map(|index| Var(index as u16));
    outputs.filter(|var| var.output_index().is_some_and(|i| code.outputs >> i & 1 == 1)).for_each(|v| set.insert(v));
    set
}

/// Works out what is live.
fn liveness(code: &Code, together: bool) -> Liveness {
    let count = code.blocks.len();
    let outputs = outputs(code);
    let returns: Vec<Returns> = (0..count).map(|block| returns(code, block)).collect();
    let waits = if together { waits(code) } else { vec![Vec::new(); count] };
    let mut live = Liveness {
        running: vec![VarSet::default(); count],
        idle: vec![VarSet::default(); count],
        waited: waits.iter().map(|waits| !waits.is_empty()).collect(),
    };
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in code.blocks.iter().enumerate().rev() {
            let mut idle = live.idle[index];
            if code.watches_idle_lanes && !block.all_run() {
                idle = VarSet::ALL;
            }
            if returns[index].at_end {
                idle.add(&outputs);
            }
            for &back in returns[index].blocks.iter().chain(&waits[index]) {
                idle.add(&live.at(back));
            }
            let running = before(block, live_out(code, &live, block, &outputs), code.relative_temps);
            changed |= live.idle[index].add(&idle) | live.running[index].add(&running);
        }
    }
    live
}

/// What is live after the operations of a block, for lanes that ran in it.
fn live_out(code: &Code, live: &Liveness, block: &Block, outputs: &VarSet) -> VarSet {
    let mut out = if block.end == End::Stop { *outputs } else { VarSet::default() };
    // Some of the lanes may be idle from there on.
    block.successors().for_each(|next| {
        out.add(&live.at(next));
    });
    debug_assert!(code.blocks.len() == live.running.len());
    out
}

/// What is live before a block, from what is live after it.
fn before(block: &Block, mut live: VarSet, relative_temps: bool) -> VarSet {
    for op in block.ops.iter().rev() {
        step_back(op, &mut live, relative_temps);
    }
    live
}

/// What is live before one operation, from what is live after it.
fn step_back(op: &Op, live: &mut VarSet, relative_temps: bool) {
    match *op {
        Op::Get(var) => live.insert(var),
        Op::GetRelative { file: File::Temp, channel, .. } => {
            (0..TEMPORARIES).for_each(|register| live.insert(Var::temp(register, channel.into())));
        }
        // A store under a predicate leaves some lanes as they are.
        Op::Set(var, _, under) if under.predicate.is_none() && !under.covered => live.remove(var),
        _ => {}
    }
    debug_assert!(relative_temps || !matches!(op, Op::GetRelative { file: File::Temp, .. } | Op::SetRelative { .. }));
}

/// Removes dead stores and operations without readers, and drops masks. Says whether a store went.
fn sweep(code: &mut Code, live: &Liveness) -> bool {
    let outputs = outputs(code);
    let mut swept = false;
    for index in 0..code.blocks.len() {
        let mut out = live_out(code, live, &code.blocks[index], &outputs);
        let idle = live.idle[index];
        let relative_temps = code.relative_temps;
        let block = &mut code.blocks[index];
        let mut needed = vec![false; block.ops.len()];
        for place in (0..block.ops.len()).rev() {
            let keep = match &mut block.ops[place] {
                Op::Set(var, _, under) => {
                    // Outputs also record who wrote them.
                    if !idle.contains(*var) && !under.covered && var.output_index().is_none() {
                        under.inactive = true;
                    }
                    out.contains(*var) || (under.inactive && idle.contains(*var))
                }
                op => !op.is_pure() || needed[place],
            };
            if !keep {
                swept |= !block.ops[place].is_pure();
                continue;
            }
            needed[place] = true;
            block.ops[place].reads().for_each(|value| needed[value.index()] = true);
            step_back(&block.ops[place], &mut out, relative_temps);
        }
        if needed.contains(&false) {
            compact(block, &needed);
        }
    }
    swept
}

/// Removes the operations that are not needed.
fn compact(block: &mut Block, needed: &[bool]) {
    let mut place = vec![Value(0); needed.len()];
    let mut kept = Vec::with_capacity(needed.len());
    for (old, op) in block.ops.iter().enumerate() {
        if needed[old] {
            place[old] = Value(kept.len() as u32);
            kept.push(renamed(*op, |value| place[value.index()]));
        }
    }
    block.ops = kept;
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
        Op::R700(op, abc, omod, clamp) => Op::R700(op, abc.map(name), omod, clamp),
        Op::QuadLane(a, lane) => Op::QuadLane(name(a), lane),
        Op::Texel(a, channel) => Op::Texel(name(a), channel),
        Op::Fetch { input, s, t, unscaled, uncached, under } => {
            Op::Fetch { input, s: name(s), t: name(t), unscaled, uncached, under }
        }
        Op::Set(var, a, under) => Op::Set(var, name(a), under),
        Op::SetRelative { base, channel, value, under } => Op::SetRelative { base, channel, value: name(value), under },
        Op::SetPredicate(bit, test, a, under) => Op::SetPredicate(bit, test, name(a), under),
        Op::SetResult(test, a, under) => Op::SetResult(test, name(a), under),
        Op::Kill(a, under) => Op::Kill(name(a), under),
    }
}

/// Where the lanes that are idle in a block may run again.
#[derive(Debug, Default)]
struct Returns {
    blocks: Vec<BlockId>,
    /// Or the program may end before they do.
    at_end: bool,
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

fn returns(code: &Code, index: usize) -> Returns {
    let block = &code.blocks[index];
    let mut returns = Returns::default();
    let has = |wanted: fn(FcOp) -> bool, frame: u8| {
        code.blocks.iter().any(|b| matches!(b.end, End::Flow(f) if wanted(f.op) && f.frame == frame))
    };
    let frames = block.frames.frames.len() as u8;
    let levels = (0..block.depth).map(Idle::Level);
    let broke = (0..frames).filter(|&f| has(|op| matches!(op, FcOp::BreakLoop | FcOp::BreakRep), f)).map(Idle::Broke);
    let continued = (0..frames).filter(|&f| has(|op| op == FcOp::Continue, f)).map(Idle::Continued);
    for idle in levels.chain(broke).chain(continued) {
        follow(code, index, idle, &mut returns);
    }
    returns
}

/// Follows the program from a block until lanes that are idle for this reason run again.
fn follow(code: &Code, from: usize, idle: Idle, returns: &mut Returns) {
    let mut seen = vec![false; code.blocks.len()];
    let mut pending = vec![from];
    while let Some(index) = pending.pop() {
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        let mut go = |target: Target, back: bool| {
            if let Target::Block(next) = target {
                if !back {
                    pending.push(next.index());
                } else if !returns.blocks.contains(&next) {
                    returns.blocks.push(next);
                }
            }
        };
        match code.blocks[index].end {
            End::Stop => returns.at_end = true,
            End::Next(target) => go(target, false),
            End::Flow(flow) => {
                let levels = flow.depth.max(u8::from(flow.exchange));
                let back = |effect: Levels, jump: bool| match idle {
                    Idle::Level(level) => {
                        let popped = match effect {
                            Levels::Pop(count) => level >= levels - count,
                            Levels::Keep | Levels::Push => false,
                        };
                        popped || (flow.exchange && level + 1 == levels)
                    }
                    Idle::Broke(frame) => flow.frame == frame && leaves_loop(flow.op, jump),
                    Idle::Continued(frame) => {
                        flow.frame == frame
                            && (leaves_loop(flow.op, jump) || matches!(flow.op, FcOp::EndLoop | FcOp::EndRep))
                    }
                };
                go(flow.stay, back(flow.stay_levels, false));
                go(flow.jump, back(flow.jump_levels, true));
            }
        }
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
