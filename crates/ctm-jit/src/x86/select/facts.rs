//! What is known of variables before instructions are chosen: who can see the bits of a NaN, where denormals can be.

use crate::form::{Block, Code, Op, Value, Var};
use crate::passes::VarSet;
use crate::x86::r700::facts::{is_choice, is_integer};
use ctm_exec::x1k::float::NAN;
use ctm_isa::x1k::TEMPORARIES;

/// What holds for variables at every block's beginning, and for the vectors of each block.
pub struct Facts {
    /// Somebody can see the bits of a NaN in them.
    pub observed: VarSet,
    /// They never hold denormals.
    pub flushed: VarSet,
    /// Where they hold the NaN, any NaN will do: whoever reads them and lets somebody see its bits makes it right.
    pub(super) loose: VarSet,
    /// Of each block: of each vector.
    pub(super) vectors: Vec<Vec<Known>>,
}

/// What is known of a vector.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    /// Somebody can see the bits of a NaN in it.
    pub seen: bool,
    /// It holds no denormals.
    pub flushed: bool,
}

/// The variables that a block reads, and those that it stores into.
#[derive(Clone, Copy, Default)]
struct Touched {
    reads: VarSet,
    stores: VarSet,
}

impl Facts {
    /// Works them out; `start`: the variables that are given values at the start.
    pub fn of(code: &Code, start: &[Var]) -> Self {
        let mut facts = Self::with_loose(code, start, VarSet::default());
        if !code.relative_temps && code.blocks.iter().any(|block| !block.frames.frames.is_empty()) {
            let loose = facts.worth_loosening(code, start);
            if loose != VarSet::default() {
                facts = Self::with_loose(code, start, loose);
            }
        }
        facts
    }

    fn with_loose(code: &Code, start: &[Var], loose: VarSet) -> Self {
        let mut facts = Self { observed: VarSet::default(), flushed: VarSet::ALL, loose, vectors: Vec::new() };
        (4 * TEMPORARIES..Var::COUNT).for_each(|index| facts.observed.insert(Var(index as u16)));
        if code.relative_temps {
            (0..4 * TEMPORARIES).for_each(|index| facts.observed.insert(Var(index as u16)));
            facts.flushed = VarSet::default();
        }
        start.iter().for_each(|&var| facts.flushed.remove(var));
        let mut touched: Vec<Touched> = Vec::with_capacity(code.blocks.len());
        for block in &code.blocks {
            let mut of = Touched::default();
            for op in &block.ops {
                match *op {
                    Op::Get(var) => of.reads.insert(var),
                    Op::Set(var, ..) => of.stores.insert(var),
                    _ => {}
                }
            }
            touched.push(of);
            facts.vectors.push(Vec::new());
        }
        // Variables that have been observed, and those that may hold denormals, since the last round began.
        let (mut observed, mut unflushed) = (VarSet::ALL, VarSet::ALL);
        let mut first = true;
        loop {
            let before = (std::mem::take(&mut observed), std::mem::take(&mut unflushed));
            let mut changed = false;
            for (index, block) in code.blocks.iter().enumerate() {
                // Nothing that is known of others depends on anything else.
                let of = &touched[index];
                let is_known = !of.stores.meets(&before.0)
                    && !of.stores.meets(&observed)
                    && !of.reads.meets(&before.1)
                    && !of.reads.meets(&unflushed);
                if is_known && !first {
                    continue;
                }
                let mut vectors = std::mem::take(&mut facts.vectors[index]);
                facts.look_at(block, &mut vectors);
                for (op, known) in block.ops.iter().zip(&vectors) {
                    match *op {
                        Op::Get(var) if known.seen && !facts.observed.contains(var) => {
                            facts.observed.insert(var);
                            observed.insert(var);
                            changed = true;
                        }
                        Op::Set(var, value, _) if !vectors[value.index()].flushed && facts.flushed.contains(var) => {
                            facts.flushed.remove(var);
                            unflushed.insert(var);
                            changed = true;
                        }
                        _ => {}
                    }
                }
                facts.vectors[index] = vectors;
            }
            first = false;
            if !changed {
                return facts;
            }
        }
    }

    /// Temporaries that hold results of arithmetic only, and are seen less often than they are written: a loop that ends in an output.
    fn worth_loosening(&self, code: &Code, start: &[Var]) -> VarSet {
        let mut clean = VarSet::default();
        (0..4 * TEMPORARIES).for_each(|index| clean.insert(Var(index as u16)));
        start.iter().for_each(|&var| clean.remove(var));
        let mut changed = true;
        while changed {
            changed = false;
            for block in &code.blocks {
                let values = values_clean(block, &clean);
                for op in &block.ops {
                    if let Op::Set(var, value, _) = *op
                        && !values[value.index()]
                        && clean.contains(var)
                    {
                        clean.remove(var);
                        changed = true;
                    }
                }
            }
        }
        let mut gain = vec![0i64; Var::COUNT];
        for (block, vectors) in code.blocks.iter().zip(&self.vectors) {
            let weight = 1i64 << (3 * block.frames.frames.len());
            for (op, known) in block.ops.iter().zip(vectors) {
                match *op {
                    Op::Set(var, value, _)
                        if matches!(
                            block.op_at(value),
                            Op::Mad { .. }
                                | Op::Scale(..)
                                | Op::Fraction(..)
                                | Op::Scalar(..)
                                | Op::R700(_, _, _, false)
                        ) =>
                    {
                        gain[var.index()] += weight;
                    }
                    Op::Get(var) if known.seen => gain[var.index()] -= weight,
                    _ => {}
                }
            }
        }
        let mut loose = VarSet::default();
        clean.iter().filter(|var| gain[var.index()] > 0 && self.observed.contains(*var)).for_each(|v| loose.insert(v));
        loose
    }

    /// Finds out what is known of the vectors of a block.
    fn look_at(&self, block: &Block, vectors: &mut Vec<Known>) {
        vectors.clear();
        vectors.reserve(block.ops.len());
        for op in &block.ops {
            let is = |value: Value| vectors[value.index()].flushed;
            let flushed = match *op {
                Op::Bits(bits) => ctm_exec::x1k::float::flush(bits) == bits,
                Op::Get(var) => self.flushed.contains(var),
                Op::Sign(_, a) | Op::QuadLane(a, _) => is(a),
                Op::Pick { a, b, .. } => is(a) && is(b),
                Op::Mad { .. } | Op::Scale(..) | Op::Clamp(_) | Op::Fraction(..) | Op::Scalar(..) => true,
                Op::R700(op, [_, b, c], _, clamp) if is_choice(op) => clamp && !is_integer(op) || is(b) && is(c),
                Op::R700(op, ..) => !is_integer(op),
                _ => false,
            };
            vectors.push(Known { seen: false, flushed });
        }
        for (place, op) in block.ops.iter().enumerate().rev() {
            match *op {
                Op::Set(var, value, _) if self.observed.contains(var) && !self.loose.contains(var) => {
                    see_in(vectors)(value);
                }
                Op::SetRelative { value, .. } | Op::Write { value, .. } => see_in(vectors)(value),
                Op::R700(op, abc, ..) if is_integer(op) => abc.into_iter().for_each(see_in(vectors)),
                Op::Pick { a, b, .. } if vectors[place].seen => [a, b].into_iter().for_each(see_in(vectors)),
                Op::Sign(_, a) | Op::QuadLane(a, _) if vectors[place].seen => see_in(vectors)(a),
                Op::R700(op, [_, b, c], _, false) if is_choice(op) && vectors[place].seen => {
                    [b, c].into_iter().for_each(see_in(vectors));
                }
                _ => {}
            }
        }
    }
}

/// Somebody can see the bits of a NaN in a vector.
fn see_in(vectors: &mut [Known]) -> impl FnMut(Value) {
    |value| vectors[value.index()].seen = true
}

/// The vectors of a block that are results of arithmetic: where they are NaNs, they are the one NaN. `clean`: such variables.
fn values_clean(block: &Block, clean: &VarSet) -> Vec<bool> {
    let mut values: Vec<bool> = Vec::with_capacity(block.ops.len());
    for op in &block.ops {
        let is = |value: Value| values[value.index()];
        values.push(match *op {
            Op::Bits(bits) => bits == NAN || !f32::from_bits(bits).is_nan(),
            Op::Get(var) => clean.contains(var),
            Op::QuadLane(a, _) => is(a),
            Op::Pick { a, b, .. } => is(a) && is(b),
            Op::Mad { .. } | Op::Scale(..) | Op::Clamp(_) | Op::Fraction(..) | Op::Scalar(..) => true,
            Op::R700(op, [_, b, c], _, clamp) if is_choice(op) => clamp && !is_integer(op) || is(b) && is(c),
            Op::R700(op, ..) => !is_integer(op),
            _ => false,
        });
    }
    values
}
