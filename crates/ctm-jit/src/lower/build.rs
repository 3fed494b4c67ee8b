//! A block under construction: equal operations are made once, and what has just been stored is not read again.

use crate::ir::masked::{Counter, M, MaskOp, Op, Tally, Value, Var};
use crate::ir::numbering::Numbering;
use rustc_hash::FxHashMap as Map;

/// A block under construction.
#[derive(Default)]
pub struct Build {
    numbering: Numbering,
    /// What variables hold in the active lanes, as far as it is known.
    current: Map<Var, Value>,
    pub tally: Tally,
    /// Instructions that have not been counted for the active lanes yet.
    pub pending: u32,
}

impl Build {
    /// Appends an operation.
    pub fn effect(&mut self, op: Op) -> Value {
        self.numbering.effect(op)
    }

    /// The vector that a pure operation makes.
    pub fn make(&mut self, op: Op) -> Value {
        if !op.is_constant() {
            return self.effect(op);
        }
        let known = self.numbering.find(&op).or_else(|| self.folded(&op));
        known.unwrap_or_else(|| self.numbering.add(op))
    }

    /// The same of one that gives the same wherever it stands in this block.
    pub fn once(&mut self, op: Op) -> Value {
        self.numbering.pure(op)
    }

    /// The operations of the block so far.
    pub fn ops(&self) -> &[Op] {
        &self.numbering.ops
    }

    pub fn bits(&mut self, bits: u32) -> Value {
        self.make(Op::Bits(bits))
    }

    /// What a variable holds in the lanes that execute.
    pub fn get(&mut self, var: Var) -> Value {
        if let Some(&value) = self.current.get(&var) {
            return value;
        }
        let value = self.effect(Op::Get(var));
        self.current.insert(var, value);
        value
    }

    /// One vector where another, if there is one, is not zero, and what `no` makes elsewhere.
    pub fn select(&mut self, on: Option<Value>, yes: Value, no: impl FnOnce(&mut Self) -> Value) -> Value {
        let Some(on) = on else { return yes };
        let no = no(self);
        self.make(Op::Select([on, yes, no]))
    }

    /// Stores where a vector, if there is one, is not zero.
    pub fn set_where(&mut self, on: Option<Value>, var: Var, value: Value, under: M) {
        let value = self.select(on, value, |b| b.get(var));
        self.set(var, value, under);
    }

    pub fn set(&mut self, var: Var, value: Value, under: M) {
        self.effect(Op::Set(var, value, under));
        self.current.insert(var, value);
    }

    /// Says what a variable holds now, if that is known.
    pub fn hold(&mut self, var: Var, value: Option<Value>) {
        match value {
            Some(value) => _ = self.current.insert(var, value),
            None => _ = self.current.remove(&var),
        }
    }

    /// Whether a variable is known to hold this.
    pub fn holds(&self, var: Var, value: Value) -> bool {
        self.current.get(&var) == Some(&value)
    }

    /// The operations so far; a new block begins.
    pub fn take(&mut self) -> Vec<Op> {
        self.current.clear();
        self.numbering.take()
    }

    /// From here on other lanes may look.
    pub fn forget(&mut self) {
        self.current.clear();
    }

    /// From here on these lanes look, or no longer do; if they are the active ones, nothing changes.
    pub fn forget_beside(&mut self, under: M) {
        if under != M::ACTIVE {
            self.forget();
        }
    }

    pub fn mask(&mut self, op: MaskOp) {
        if op.writes() == M::ACTIVE {
            self.flush();
            if !op.only_narrows() {
                self.forget();
            }
        }
        self.effect(Op::Mask(op));
    }

    pub fn flush(&mut self) {
        if self.pending > 0 {
            let weight = std::mem::take(&mut self.pending);
            self.effect(Op::Tally(Counter::Lanes, weight, M::ACTIVE));
        }
    }
}
