//! Liveness and dead code: removes vectors without uses, dead stores and needless masks from lowered programs.

use crate::passes::computed::{Gathered, NEEDED};
use ctm_ir::masked::{Block, Code, End, M, MaskOp, Op, RegisterFile, Value, Var, indexed};
use ctm_ir::order::postorder;

/// A set of variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VarSet([u64; Var::COUNT.div_ceil(64)]);

impl VarSet {
    /// No variable.
    pub const NONE: Self = Self([0; Var::COUNT.div_ceil(64)]);

    /// Whether the variable is in it.
    pub const fn contains(&self, var: Var) -> bool {
        self.0[var.index() / 64] >> (var.index() % 64) & 1 == 1
    }

    /// Adds a variable.
    pub const fn insert(&mut self, var: Var) {
        self.0[var.index() / 64] |= 1 << (var.index() % 64);
    }

    const fn remove(&mut self, var: Var) {
        self.0[var.index() / 64] &= !(1 << (var.index() % 64));
    }

    /// Adds the members of another set; returns whether that changed it.
    pub fn add(&mut self, other: &Self) -> bool {
        let mut new = 0;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs & !*mine;
            *mine |= theirs;
        }
        new != 0
    }
}

/// The masks whose lanes may become active later, each with the number of a set of variables: those that are live in
/// these lanes. Masks beyond `MOST_SETS` count as all existing lanes.
struct Waiting {
    of: Vec<Option<u8>>,
    sets: usize,
}

/// The sets of the active lanes, and of all that exist.
const ACTIVE: usize = 0;
const EXISTING: usize = 1;
/// The most sets.
const MOST_SETS: usize = 16;

/// The masks whose lanes an operation's result is made of.
fn sources(op: MaskOp) -> [M; 2] {
    match op {
        MaskOp::Copy(_, a) | MaskOp::AndNot(_, a, _) | MaskOp::IfNot0(_, a, _) => [a, M::NONE],
        // They are in both; one is enough.
        MaskOp::And(_, a, b) => [if b == M::ACTIVE || a == M::TEMP { b } else { a }, M::NONE],
        MaskOp::Or(_, a, b) | MaskOp::Xor(_, a, b) => [a, b],
        MaskOp::Quads(..) | MaskOp::Lanes(..) => [M::EXISTING, M::NONE],
        MaskOp::Number(..) | MaskOp::Add(..) => [M::NONE; 2],
    }
}

impl Waiting {
    /// By all operations on masks of a program.
    fn of(mut ops: Vec<MaskOp>) -> Self {
        let mut waiting = Self { of: vec![None; M::COUNT], sets: 2 };
        waiting.of[M::ACTIVE.index()] = Some(ACTIVE as u8);
        waiting.of[M::EXISTING.index()] = Some(EXISTING as u8);
        loop {
            let before = ops.len();
            ops.retain(|&op| {
                let waits = waiting.of[op.writes().index()].is_some();
                if waits {
                    sources(op).into_iter().filter(|&m| m != M::NONE).for_each(|m| waiting.note(m));
                }
                !waits
            });
            if ops.len() == before {
                return waiting;
            }
        }
    }

    fn note(&mut self, m: M) {
        if self.of[m.index()].is_none() {
            let is_own = self.sets < MOST_SETS;
            self.of[m.index()] = Some(if is_own { self.sets } else { EXISTING } as u8);
            self.sets += usize::from(is_own);
        }
    }

    /// Steps back over an operation on masks.
    fn step_back(&self, op: MaskOp, live: &mut [VarSet]) {
        let Some(made) = self.of[op.writes().index()].map(usize::from) else { return };
        let of = if made == EXISTING { live[made] } else { std::mem::take(&mut live[made]) };
        for m in sources(op).into_iter().filter(|&m| m != M::NONE) {
            live[self.of[m.index()].map_or(EXISTING, usize::from)].add(&of);
        }
    }
}

/// It stores in active lanes, and its variable is dead in all others.
const WHOLE: u8 = 2;
/// Fetches read its vector, or one computed from it.
const LOOKED_AT: u8 = 4;

/// Removes dead operations. Gives the live variables at the beginning of each block. `whole`: all existing lanes lie in
/// the domain; `gathers`: computations on uniform values are moved to the launch ([`Gathered`]).
pub fn optimise(code: &mut Code, whole: bool, gathers: bool) -> Vec<VarSet> {
    let ops = code.blocks.iter().flat_map(|block| &block.ops);
    let mut masks = Vec::with_capacity(256);
    masks.extend(ops.filter_map(|op| if let Op::Mask(op) = op { Some(*op) } else { None }));
    // Whole quads wake lanes for one clause.
    let wakes = masks.iter().any(|op| matches!(op, MaskOp::Quads(..)));
    let idles = !whole || masks.iter().any(|op| op.writes() == M::ACTIVE);
    // Inactive lanes are read everywhere, or by fetches: these read the other lanes of a quad.
    let everywhere = code.keeps_idle_lanes || wakes && idles;
    let seen = [everywhere, !everywhere && code.watches_idle_lanes && idles];
    let waiting = Waiting::of(masks);
    let sets = waiting.sets;
    let exports = sent(code);
    let count = code.blocks.len();
    let mut into = vec![VarSet::NONE; sets * count];
    let mut live = vec![VarSet::NONE; sets];
    let mut found = vec![0; code.blocks.iter().map(|block| block.ops.len()).sum()];
    let mut begins = Vec::with_capacity(count);
    begins.extend(code.blocks.iter().scan(0, |end, block| Some(std::mem::replace(end, *end + block.ops.len()))));
    // Postorder: each after its successors, but for loops.
    let order = postorder(vec![false; count], 0..count, |block| code.blocks[block].end.successors());
    // The time of each block's last visit, and of the last change of its live-in set.
    let (mut now, mut looked, mut changed) = (0, vec![0; count], vec![0; count]);
    loop {
        let before = now;
        for &index in &order {
            let block = &code.blocks[index];
            if looked[index] > 0 && block.end.successors().all(|next| changed[next] < looked[index]) {
                continue;
            }
            now += 1;
            looked[index] = now;
            live.fill(VarSet::NONE);
            if block.end == End::Stop {
                live[..2].fill(exports);
            }
            for next in block.end.successors() {
                live.iter_mut().zip(&into[sets * next..]).for_each(|(live, of)| _ = live.add(of));
            }
            let found = &mut found[begins[index]..][..block.ops.len()];
            step_back(block, &waiting, seen, &mut live, found);
            let into = &mut into[sets * index..sets * (index + 1)];
            if *into != live[..] {
                into.copy_from_slice(&live);
                changed[index] = now;
            }
        }
        if now == before {
            break;
        }
    }
    let (first, mut computed) = (code.given_uniforms(), gathers.then(Gathered::default));
    let mut names = Vec::new();
    for (block, &begin) in code.blocks.iter_mut().zip(&begins) {
        let found = &mut found[begin..begin + block.ops.len()];
        if let Some(computed) = &mut computed {
            computed.gather(block, first, found);
        }
        for (op, found) in block.ops.iter_mut().zip(&*found) {
            if let (true, Op::Set { under, .. }) = (found & WHOLE != 0, op) {
                *under = M::EXISTING;
            }
        }
        compact(block, found, &mut names);
    }
    computed.into_iter().for_each(|computed| code.computed = computed.take());
    let either = |sets: &[VarSet]| {
        let mut either = VarSet::NONE;
        sets.iter().for_each(|set| _ = either.add(set));
        either
    };
    into.chunks(sets).map(either).collect()
}

/// The exported elements that are sent: those that are marked, as epilogues read other colours. Without any mark, all.
fn sent(code: &Code) -> VarSet {
    let (mut all, mut marked) = (VarSet::NONE, VarSet::NONE);
    (0..crate::launch::wavefronts::wave::EXPORTS).for_each(|e| all.insert(Var::export(e / 4, e % 4)));
    for op in code.blocks.iter().flat_map(|block| &block.ops) {
        if let Op::Mark(var, _) = *op {
            marked.insert(var);
        }
    }
    if marked == VarSet::NONE { all } else { marked }
}

/// Steps back over a block: from the variables live after it to those live before it.
fn step_back(block: &Block, waiting: &Waiting, seen: [bool; 2], live: &mut [VarSet], found: &mut [u8]) {
    let [everywhere, in_fetches] = seen;
    found.fill(0);
    for (place, op) in block.ops.iter().enumerate().rev() {
        if op.is_pure() && found[place] & NEEDED == 0 {
            continue;
        }
        let needed = NEEDED | found[place] & LOOKED_AT;
        let mut read = |var: Var| {
            live[ACTIVE].insert(var);
            if everywhere || found[place] & LOOKED_AT != 0 {
                live[EXISTING].insert(var);
            }
        };
        // Frequent ones are finished here: each further test of one takes time.
        match *op {
            Op::Get(var) => read(var),
            Op::Unit(_, abc) => {
                abc.iter().for_each(|value| found[value.index()] |= needed);
                continue;
            }
            Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. } => indexed(gprs, element).for_each(read),
            Op::Set { var, value, under } => {
                let waits = live[1..].iter().any(|set| set.contains(var));
                if !waits && !live[ACTIVE].contains(var) {
                    continue;
                }
                if under == M::EXISTING {
                    live.iter_mut().for_each(|set| set.remove(var));
                } else if under == M::ACTIVE {
                    live[ACTIVE].remove(var);
                    // The value is dead in the other lanes.
                    found[place] |= if waits { 0 } else { WHOLE };
                }
                found[place] |= NEEDED;
                found[value.index()] |= NEEDED;
                continue;
            }
            // It changes nothing (`masks.rs`).
            Op::Mask(MaskOp::Copy(d, a)) if d == a => continue,
            Op::Mask(op) => waiting.step_back(op, live),
            Op::Fetch { .. } if in_fetches => {
                op.operands().iter().for_each(|value| found[value.index()] |= LOOKED_AT);
            }
            _ => {}
        }
        found[place] |= NEEDED;
        op.operands().iter().for_each(|value| found[value.index()] |= needed);
    }
}

/// Removes operations that `keeps` rejects, and vectors without uses.
pub fn sweep(block: &mut Block, keeps: impl Fn(&Op) -> bool) {
    let mut found = vec![0; block.ops.len()];
    for (place, op) in block.ops.iter().enumerate().rev() {
        if keeps(op) && (found[place] == NEEDED || !op.is_pure()) {
            found[place] = NEEDED;
            op.operands().iter().for_each(|value| found[value.index()] = NEEDED);
        } else {
            found[place] = 0;
        }
    }
    compact(block, &found, &mut Vec::new());
}

/// Removes the dead operations. `names` is overwritten.
fn compact(block: &mut Block, found: &[u8], names: &mut Vec<Value>) {
    let Some(first) = found.iter().position(|found| found & NEEDED == 0) else { return };
    names.clear();
    names.reserve(found.len());
    names.extend((0..first as u32).map(Value));
    let mut kept = first;
    for (place, found) in found.iter().enumerate().skip(first) {
        names.push(Value(kept as u32));
        if found & NEEDED != 0 {
            let mut op = block.ops[place];
            op.rename(|value| names[value.index()]);
            block.ops[kept] = op;
            kept += 1;
        }
    }
    block.ops.truncate(kept);
}
