//! What is left out of lowered programs: vectors without readers, stores that nobody reads, masks that nobody sees.

use crate::ir::masked::{Block, Code, End, File, M, MaskOp, Op, Value, Var, indexed};
use crate::ir::order::postorder;

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

    /// Puts it in.
    pub const fn insert(&mut self, var: Var) {
        self.0[var.index() / 64] |= 1 << (var.index() % 64);
    }

    const fn remove(&mut self, var: Var) {
        self.0[var.index() / 64] &= !(1 << (var.index() % 64));
    }

    /// Puts in what another one has; says whether that changed it.
    pub fn add(&mut self, other: &Self) -> bool {
        let mut new = 0;
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            new |= theirs & !*mine;
            *mine |= theirs;
        }
        new != 0
    }
}

/// The masks whose lanes may become active later, each by the number of a set of variables: those that somebody may still read in these lanes. A mask beyond the
/// most counts as all lanes that exist.
struct Waiting {
    of: Vec<Option<u8>>,
    sets: usize,
}

/// The sets of the active lanes, and of all that exist.
const ACTIVE: usize = 0;
const EXISTING: usize = 1;
/// The most sets.
const MOST_SETS: usize = 16;

/// The masks from which the lanes of what an operation makes have come.
fn sources(op: MaskOp) -> [M; 2] {
    match op {
        MaskOp::Copy(_, a) | MaskOp::AndNot(_, a, _) | MaskOp::IfNot0(_, a, _) => [a, M::NONE],
        // They are in both; one will do.
        MaskOp::And(_, a, b) => [if b == M::ACTIVE || a == M::TEMP { b } else { a }, M::NONE],
        MaskOp::Or(_, a, b) | MaskOp::Xor(_, a, b) => [a, b],
        MaskOp::Quads(..) | MaskOp::Lanes(..) => [M::EXISTING, M::NONE],
        MaskOp::Number(..) | MaskOp::Add(..) => [M::NONE; 2],
    }
}

impl Waiting {
    fn of(code: &Code) -> Self {
        let mut waiting = Self { of: vec![None; M::COUNT], sets: 2 };
        waiting.of[M::ACTIVE.index()] = Some(ACTIVE as u8);
        waiting.of[M::EXISTING.index()] = Some(EXISTING as u8);
        let ops = code.blocks.iter().flat_map(|block| &block.ops);
        let mut ops: Vec<MaskOp> = ops.filter_map(|op| if let Op::Mask(op) = op { Some(*op) } else { None }).collect();
        loop {
            let before = ops.len();
            ops.retain(|&op| {
                let waits = waiting.of[op.writes().index()].is_some();
                for m in sources(op).into_iter().filter(|&m| waits && m != M::NONE) {
                    waiting.note(m);
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

/// What is found out about a block.
#[derive(Default)]
struct Found {
    /// The operations that somebody needs.
    needed: Vec<bool>,
    /// Stores of active lanes whose variable nobody reads in others.
    whole: Vec<usize>,
}

/// Where lanes that are not active are looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nowhere,
    /// In what fetches read: they look at the other lanes of a quad.
    Fetches,
    Everywhere,
}

/// Takes out what nobody sees. Gives the variables that somebody may still read at the beginning of each block. `whole`: all lanes that exist lie in the domain.
pub fn optimise(code: &mut Code, whole: bool) -> Vec<VarSet> {
    let ops = || code.blocks.iter().flat_map(|block| &block.ops);
    // Whole quads wake lanes for one clause.
    let wakes = ops().any(|op| matches!(op, Op::Mask(MaskOp::Quads(..))));
    let idles = !whole || ops().any(|op| matches!(op, Op::Mask(op) if op.writes() == M::ACTIVE));
    let seen = match (code.keeps_idle_lanes || wakes && idles, code.watches_idle_lanes && idles) {
        (true, _) => Seen::Everywhere,
        (false, true) => Seen::Fetches,
        (false, false) => Seen::Nowhere,
    };
    let waiting = Waiting::of(code);
    let sets = waiting.sets;
    let mut exports = VarSet::NONE;
    (0..crate::launch::wavefronts::wave::EXPORTS).for_each(|e| exports.insert(Var::export(e / 4, e % 4)));
    let mut into = vec![VarSet::NONE; sets * code.blocks.len()];
    let mut found: Vec<Found> = code.blocks.iter().map(|_| Found::default()).collect();
    let mut live = vec![VarSet::NONE; sets];
    let (order, before) = backwards(code);
    let mut open = vec![true; code.blocks.len()];
    while open.contains(&true) {
        for &index in &order {
            if !std::mem::replace(&mut open[index], false) {
                continue;
            }
            let block = &code.blocks[index];
            live.fill(VarSet::NONE);
            if block.end == End::Stop {
                live[..2].fill(exports);
            }
            for next in block.end.successors() {
                live.iter_mut().zip(&into[sets * next..]).for_each(|(live, of)| _ = live.add(of));
            }
            step_back(block, &waiting, seen, &mut live, &mut found[index]);
            let into = &mut into[sets * index..sets * (index + 1)];
            if *into != live[..] {
                into.copy_from_slice(&live);
                before[index].iter().for_each(|&index| open[index] = true);
            }
        }
    }
    for (block, found) in code.blocks.iter_mut().zip(&found) {
        for &place in &found.whole {
            if let Op::Set(.., under) = &mut block.ops[place] {
                *under = M::EXISTING;
            }
        }
        compact(block, &found.needed);
    }
    let either = |sets: &[VarSet]| {
        let mut either = VarSet::NONE;
        sets.iter().for_each(|set| _ = either.add(set));
        either
    };
    into.chunks(sets).map(either).collect()
}

/// Steps back over a block: from what is live behind it to what is before it.
fn step_back(block: &Block, waiting: &Waiting, seen: Seen, live: &mut [VarSet], found: &mut Found) {
    let needed = &mut found.needed;
    needed.clear();
    needed.resize(block.ops.len(), false);
    found.whole.clear();
    let mut looked_at = vec![false; if seen == Seen::Fetches { block.ops.len() } else { 0 }];
    for (place, op) in block.ops.iter().enumerate().rev() {
        let mut read = |var: Var| {
            live[ACTIVE].insert(var);
            if seen == Seen::Everywhere || looked_at.get(place) == Some(&true) {
                live[EXISTING].insert(var);
            }
        };
        match *op {
            Op::Get(var) if needed[place] => read(var),
            Op::GetRelative(File::Gprs(gprs), _, element, _) if needed[place] => indexed(gprs, element).for_each(read),
            Op::Set(var, _, under) => {
                let waits = live[1..].iter().any(|set| set.contains(var));
                if !waits && !live[ACTIVE].contains(var) {
                    continue;
                }
                if under == M::EXISTING {
                    live.iter_mut().for_each(|set| set.remove(var));
                } else if under == M::ACTIVE {
                    live[ACTIVE].remove(var);
                    if !waits {
                        // Nobody looks at the others.
                        found.whole.push(place);
                    }
                }
            }
            // It changes nothing (`masks.rs`).
            Op::Mask(MaskOp::Copy(d, a)) if d == a => continue,
            Op::Mask(op) => waiting.step_back(op, live),
            Op::Fetch(..) if seen == Seen::Fetches => op.reads().for_each(|value| looked_at[value.index()] = true),
            _ => {}
        }
        needed[place] |= !op.is_pure();
        if needed[place] {
            op.reads().for_each(|value| needed[value.index()] = true);
        }
    }
}

/// The blocks, each behind those that it leads to where there is no loop; and of each, those that lead to it.
fn backwards(code: &Code) -> (Vec<usize>, Vec<Vec<usize>>) {
    let count = code.blocks.len();
    let mut before = vec![Vec::new(); count];
    for (block, of) in code.blocks.iter().enumerate() {
        of.end.successors().for_each(|next| before[next].push(block));
    }
    (postorder(vec![false; count], 0..count, |block| code.blocks[block].end.successors()), before)
}

/// Takes out operations that `keeps` does not want, and vectors without readers.
pub fn sweep(block: &mut Block, keeps: impl Fn(&Op) -> bool) {
    let mut needed = vec![false; block.ops.len()];
    for (place, op) in block.ops.iter().enumerate().rev() {
        needed[place] = keeps(op) && (needed[place] || !op.is_pure());
        if needed[place] {
            op.reads().for_each(|value| needed[value.index()] = true);
        }
    }
    compact(block, &needed);
}

/// Takes out the operations that are not needed.
fn compact(block: &mut Block, needed: &[bool]) {
    let Some(first) = needed.iter().position(|needed| !needed) else { return };
    let mut names: Vec<Value> = (0..first as u32).map(Value).collect();
    names.reserve(block.ops.len() - first);
    let mut kept = first;
    for (place, needed) in needed.iter().enumerate().skip(first) {
        names.push(Value(kept as u32));
        if *needed {
            let mut op = block.ops[place];
            op.rename(|value| names[value.index()]);
            block.ops[kept] = op;
            kept += 1;
        }
    }
    block.ops.truncate(kept);
}
