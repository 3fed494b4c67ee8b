//! Value numbering: operations in order, in which equal ones can be found.

use crate::ir::masked::{Op, Value};
use rustc_hash::FxHashMap as Map;

/// Operations of a block. Those that were added as [`pure`](Self::pure) are there once.
#[derive(Debug, Default)]
pub struct Numbering {
    /// The operations.
    pub ops: Vec<Op>,
    /// Where pure ones are.
    places: Map<Op, Value>,
}

impl Numbering {
    /// The operations so far; a new block begins.
    pub fn take(&mut self) -> Vec<Op> {
        self.places.clear();
        std::mem::take(&mut self.ops)
    }

    /// Appends an operation that is not looked for.
    #[inline]
    pub fn effect(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value(self.ops.len() as u32 - 1)
    }

    /// The operation that is there, or is appended.
    pub fn pure(&mut self, op: Op) -> Value {
        self.find(&op).unwrap_or_else(|| self.add(op))
    }

    /// An equal operation, if there is one.
    pub fn find(&self, op: &Op) -> Option<Value> {
        self.places.get(op).copied()
    }

    /// Appends an operation that was not found.
    pub fn add(&mut self, op: Op) -> Value {
        let value = self.effect(op);
        self.places.insert(op, value);
        value
    }
}
