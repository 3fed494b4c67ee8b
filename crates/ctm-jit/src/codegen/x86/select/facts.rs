//! What is known of variables before instructions are chosen: who can see the bits of a NaN, where denormals can be.

use crate::codegen::x86::r700::facts::{is_choice, is_integer};
use crate::ir::x1k::{Block, Code, Op, Value, Var};
use crate::passes::x1k::VarSet;
use ctm_exec::float::NAN;
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::ops::Omod;

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
#[derive(Clone, Copy, Default, PartialEq, Eq)]
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
        let mut touched = vec![Touched::default(); code.blocks.len()];
        facts.vectors.resize_with(code.blocks.len(), Vec::new);
        // Variables that have been observed, and those that may hold denormals, since the last round began.
        let mut news = Touched { reads: VarSet::ALL, stores: VarSet::ALL };
        let mut first = true;
        loop {
            let before = std::mem::take(&mut news);
            for (index, block) in code.blocks.iter().enumerate() {
                // Nothing that is known of others depends on anything else.
                let of = &mut touched[index];
                let is_known = !of.stores.meets(&before.reads)
                    && !of.stores.meets(&news.reads)
                    && !of.reads.meets(&before.stores)
                    && !of.reads.meets(&news.stores);
                if is_known && !first {
                    continue;
                }
                let mut vectors = std::mem::take(&mut facts.vectors[index]);
                facts.look_at(block, &mut vectors, of, &mut news);
                facts.vectors[index] = vectors;
            }
            first = false;
            if news == Touched::default() {
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

    /// Finds out what is known of the vectors of a block, and by that of variables: `news`, those that are read where somebody sees them and
    /// those that get what may be a denormal.
    fn look_at(&mut self, block: &Block, vectors: &mut Vec<Known>, touched: &mut Touched, news: &mut Touched) {
        vectors.clear();
        vectors.reserve(block.ops.len());
        for op in &block.ops {
            let is = |value: Value| vectors[value.index()].flushed;
            let flushed = match *op {
                Op::Bits(bits) => ctm_exec::float::flush(bits) == bits,
                Op::Get(var) => {
                    touched.reads.insert(var);
                    self.flushed.contains(var)
                }
                Op::Sign(_, a) | Op::QuadLane(a, _) => is(a),
                Op::Pick { a, b, .. } => is(a) && is(b),
                Op::Mad { .. } | Op::Scale(..) | Op::Clamp(_) | Op::Fraction(..) | Op::Scalar(..) => true,
                Op::Reference { omod, .. } => omod != Omod::Disabled,
                Op::R700(op, [_, b, c], _, clamp) if is_choice(op) => clamp && !is_integer(op) || is(b) && is(c),
                Op::R700(op, ..) => !is_integer(op),
                Op::Set(var, value, _) => {
                    touched.stores.insert(var);
                    if !is(value) && self.flushed.contains(var) {
                        self.flushed.remove(var);
                        news.stores.insert(var);
                    }
                    false
                }
                _ => false,
            };
            vectors.push(Known { seen: false, flushed });
        }
        for (place, op) in block.ops.iter().enumerate().rev() {
            match *op {
                Op::Get(var) if vectors[place].seen && !self.observed.contains(var) => {
                    self.observed.insert(var);
                    news.reads.insert(var);
                }
                Op::Set(var, value, _) if self.observed.contains(var) && !self.loose.contains(var) => {
                    see_in(vectors)(value);
                }
                Op::SetRelative { value, .. } | Op::Write { value, .. } => see_in(vectors)(value),
                Op::Reference { abc, .. } => abc.into_iter().for_each(see_in(vectors)),
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
            Op::Reference { omod, .. } => omod != Omod::Disabled,
            Op::R700(op, [_, b, c], _, clamp) if is_choice(op) => clamp && !is_integer(op) || is(b) && is(c),
            Op::R700(op, ..) => !is_integer(op),
            _ => false,
        });
    }
    values
}
