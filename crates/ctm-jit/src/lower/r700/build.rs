//! A block under construction: equal operations are made once, and what has just been stored is not read again.

use crate::ir::map::Map;
use crate::ir::masked::{Counter, M, MaskOp, Op, Tally, Value, Var};

/// A block under construction.
#[derive(Default)]
pub struct Build {
    pub ops: Vec<Op>,
    made: Map<Op, Value>,
    /// What variables hold in the active lanes, as far as it is known.
    current: Map<Var, Value>,
    pub tally: Tally,
    /// Instructions that have not been counted for the active lanes yet.
    pub(super) pending: u32,
}

impl Build {
    fn push(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value(self.ops.len() as u32 - 1)
    }

    /// The vector that a pure operation makes.
    pub fn make(&mut self, op: Op) -> Value {
        if !op.is_constant() {
            return self.push(op);
        }
        if let Some(&value) = self.made.get(&op) {
            return value;
        }
        let value = self.folded(&op).unwrap_or_else(|| self.push(op));
        self.made.insert(op, value);
        value
    }

    pub fn bits(&mut self, bits: u32) -> Value {
        self.make(Op::Bits(bits))
    }

    /// What a variable holds in the lanes that execute.
    pub fn get(&mut self, var: Var) -> Value {
        if let Some(&value) = self.current.get(&var) {
            return value;
        }
        let value = self.push(Op::Get(var));
        self.current.insert(var, value);
        value
    }

    /// What a variable holds in all lanes.
    pub fn get_exactly(&mut self, var: Var) -> Value {
        self.push(Op::Get(var))
    }

    /// Stores where a vector, if there is one, is not zero.
    pub fn set_where(&mut self, on: Option<Value>, var: Var, value: Value, under: M) {
        let value = match on {
            Some(on) => {
                let old = self.get(var);
                self.make(Op::Select(on, value, old))
            }
            None => value,
        };
        self.set(var, value, under);
    }

    pub fn set(&mut self, var: Var, value: Value, under: M) {
        self.push(Op::Set(var, value, under));
        self.current.insert(var, value);
    }

    pub fn effect(&mut self, op: Op) -> Value {
        self.push(op)
    }

    /// From here on other lanes may look.
    pub fn forget(&mut self) {
        self.current.clear();
    }

    pub fn mask(&mut self, op: MaskOp) {
        if op.writes() == M::ACTIVE {
            self.flush();
            if !op.only_narrows() {
                self.forget();
            }
        }
        self.push(Op::Mask(op));
    }

    pub fn flush(&mut self) {
        if self.pending > 0 {
            let weight = std::mem::take(&mut self.pending);
            self.push(Op::Tally(Counter::Lanes, weight, M::ACTIVE));
        }
    }
}
