//! What is left out of lowered programs: vectors without readers, stores that nobody reads, masks that nobody sees.

use crate::ir::masked::{Block, Code, End, File, M, MaskOp, Op, Value, Var, indexed};

/// A set of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VarSet([u64; Var::COUNT.div_ceil(64)]);

impl Default for VarSet {
    fn default() -> Self {
        Self::NONE
    }
}

impl VarSet {
    /// No variable.
    pub const NONE: Self = Self([0; Var::COUNT.div_ceil(64)]);
    /// Every variable.
    pub const ALL: Self = Self([u64::MAX; Var::COUNT.div_ceil(64)]);

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

    /// Whether both have some variable.
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |all, (a, b)| all | a & b) != 0
    }

    /// Puts in what another one has; says whether that changed it.
    pub fn add(&mut self, other: &Self) -> bool {
        let before = *self;
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
        *self != before
    }
}

/// The variables that somebody may still read: in the lanes that are active, and in those that are not but may become so.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Live {
    active: VarSet,
    idle: VarSet,
}

impl Live {
    /// Steps back over an operation; `seen`: somebody looks at what it reads in all lanes, active or not.
    fn before(&mut self, op: &Op, seen: bool) {
        match op {
            Op::Set(var, _, M::ACTIVE) => self.active.remove(*var),
            Op::Set(var, _, M::EXISTING) => {
                self.active.remove(*var);
                self.idle.remove(*var);
            }
            Op::Get(var) => {
                self.active.insert(*var);
                if seen {
                    self.idle.insert(*var);
                }
            }
            Op::GetRelative(File::Gprs(gprs), _, element, _) => indexed(*gprs, *element).for_each(|var| {
                self.active.insert(var);
                if seen {
                    self.idle.insert(var);
                }
            }),
            Op::Mask(op) if op.writes() == M::ACTIVE => {
                let (active, idle) = (self.active, self.idle);
                self.active.add(&idle);
                if !op.only_narrows() {
                    self.idle.add(&active);
                }
            }
            _ => {}
        }
    }
}

/// Takes out what nobody sees. Gives the variables that somebody may still read at the beginning of each block. `whole`: all lanes that exist lie in the domain.
pub fn optimise(code: &mut Code, whole: bool) -> Vec<VarSet> {
    let ops = || code.blocks.iter().flat_map(|block| &block.ops);
    // Whole quads wake lanes for one clause.
    let wakes = ops().any(|op| matches!(op, Op::Mask(MaskOp::Quads(..))));
    let idles = !whole || ops().any(|op| matches!(op, Op::Mask(op) if op.writes() == M::ACTIVE));
    if code.keeps_idle_lanes || wakes && idles {
        for block in &mut code.blocks {
            sweep(block, &mut |_, _| true);
        }
        return vec![VarSet::ALL; code.blocks.len()];
    }
    let seen: Vec<Vec<bool>> = code.blocks.iter().map(|block| seen(block, code.watches_idle_lanes && idles)).collect();
    let mut exports = VarSet::NONE;
    (0..crate::launch::wavefronts::wave::EXPORTS).for_each(|e| exports.insert(Var::export(e / 4, e % 4)));
    let end = Live { active: exports, idle: exports };
    let none = Live { active: VarSet::NONE, idle: VarSet::NONE };
    let mut into = vec![none; code.blocks.len()];
    let out = |block: &Block, into: &[Live]| {
        let mut live = if block.end == End::Stop { end } else { none };
        for next in block.end.successors() {
            live.active.add(&into[next].active);
            live.idle.add(&into[next].idle);
        }
        live
    };
    loop {
        let mut changed = false;
        for (index, block) in code.blocks.iter().enumerate().rev() {
            let mut live = out(block, &into);
            block.ops.iter().zip(&seen[index]).rev().for_each(|(op, &seen)| live.before(op, seen));
            if live != into[index] {
                into[index] = live;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (block, seen) in code.blocks.iter_mut().zip(&seen) {
        let mut live = out(block, &into);
        let mut keeps = vec![true; block.ops.len()];
        for (place, op) in block.ops.iter_mut().enumerate().rev() {
            if let Op::Set(var, _, under) = op {
                let wanted = live.active.contains(*var) || live.idle.contains(*var);
                keeps[place] = wanted;
                if wanted && *under == M::ACTIVE && !live.idle.contains(*var) {
                    live.active.remove(*var);
                    // Nobody looks at the others.
                    *under = M::EXISTING;
                    continue;
                }
            }
            live.before(op, seen[place]);
        }
        sweep(block, &mut |place, _| keeps[place]);
    }
    let either = |live: &Live| {
        let mut either = live.active;
        either.add(&live.idle);
        either
    };
    into.iter().map(either).collect()
}

/// For each operation of a block whether it reads a variable for a fetch, which looks at the other lanes of a quad where such fetches are (`watches`).
fn seen(block: &Block, watches: bool) -> Vec<bool> {
    let mut seen = vec![false; block.ops.len()];
    let fetches = block.ops.iter().filter(|_| watches);
    fetches.filter(|op| matches!(op, Op::Fetch(..))).flat_map(Op::reads).for_each(|value| seen[value.index()] = true);
    seen
}

/// Takes out operations that `keeps` does not want, and vectors without readers.
pub fn sweep(block: &mut Block, keeps: &mut dyn FnMut(usize, &Op) -> bool) {
    let mut needed = vec![false; block.ops.len()];
    for (place, op) in block.ops.iter().enumerate().rev() {
        needed[place] = keeps(place, op) && (needed[place] || !op.is_pure());
        if needed[place] {
            op.reads().for_each(|value| needed[value.index()] = true);
        }
    }
    let mut names = Vec::with_capacity(block.ops.len());
    let mut ops = Vec::with_capacity(block.ops.len());
    for (op, &needed) in block.ops.iter().zip(&needed) {
        names.push(Value(ops.len() as u32));
        if needed {
            let mut op = *op;
            op.rename(|value| names[value.index()]);
            ops.push(op);
        }
    }
    block.ops = ops;
}
