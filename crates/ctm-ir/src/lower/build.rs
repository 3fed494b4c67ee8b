//! A block under construction: equal operations are merged, and stored values are forwarded to later reads.

use crate::masked::{Counter, M, MaskOp, Op, Tally, Value, Var};
use crate::numbering::Numbering;

/// A block under construction.
#[derive(Default)]
pub struct Build {
    numbering: Numbering,
    /// The known values of variables in the active lanes: only entries with the present number of `forgets` are valid.
    current: Vec<(u32, Value)>,
    forgets: u32,
    /// Its counts so far.
    pub tally: Tally,
    /// Instructions that are not yet counted for the active lanes.
    pub pending: u32,
}

impl Build {
    /// Appends an operation.
    pub fn effect(&mut self, op: Op) -> Value {
        self.numbering.effect(op)
    }

    /// The vector of a pure operation. Inlined, as its callers know the operation, so that no test of its kind is left.
    #[inline(always)]
    pub fn make(&mut self, op: Op) -> Value {
        if !op.is_constant() {
            return self.effect(op);
        }
        let hash = op.hash();
        if let Some(known) = self.numbering.find(hash, &op) {
            return known;
        }
        if let Some(folded) = self.folded(&op) { folded } else { self.numbering.add(hash, op) }
    }

    /// The same, for an operation that gives the same result anywhere in this block.
    #[inline(always)]
    pub fn once(&mut self, op: Op) -> Value {
        self.numbering.pure(op)
    }

    /// The operations of the block so far.
    pub fn ops(&self) -> &[Op] {
        &self.numbering.ops
    }

    /// The vector that holds these bits in every lane.
    pub fn bits(&mut self, bits: u32) -> Value {
        self.once(Op::Bits(bits))
    }

    /// The value of a variable in the lanes that execute.
    pub fn get(&mut self, var: Var) -> Value {
        if let Some(value) = self.held(var) {
            return value;
        }
        let value = self.effect(Op::Get(var));
        self.hold(var, Some(value));
        value
    }

    /// `yes` where `on`, if there is one, is not zero, and the result of `no` elsewhere.
    pub fn select(&mut self, on: Option<Value>, yes: Value, no: impl FnOnce(&mut Self) -> Value) -> Value {
        let Some(on) = on else { return yes };
        let no = no(self);
        self.make(Op::Select([on, yes, no]))
    }

    /// Stores into a variable in the lanes of a mask.
    pub fn set(&mut self, var: Var, value: Value, under: M) {
        self.effect(Op::Set { var, value, under });
        self.hold(var, Some(value));
    }

    /// Records the present value of a variable, if it is known.
    pub fn hold(&mut self, var: Var, value: Option<Value>) {
        const UNKNOWN: (u32, Value) = (u32::MAX, Value(0));
        self.current.resize(Var::COUNT, UNKNOWN);
        self.current[var.index()] = value.map_or(UNKNOWN, |value| (self.forgets, value));
    }

    fn held(&self, var: Var) -> Option<Value> {
        let (forgets, value) = *self.current.get(var.index())?;
        (forgets == self.forgets).then_some(value)
    }

    /// Whether a variable is known to hold this.
    pub fn holds(&self, var: Var, value: Value) -> bool {
        self.held(var) == Some(value)
    }

    /// The operations so far; a new block begins.
    pub fn take(&mut self) -> Vec<Op> {
        self.forget();
        self.numbering.take()
    }

    /// From here on other lanes may read.
    pub fn forget(&mut self) {
        self.forgets += 1;
    }

    /// From here on these lanes read, or no longer do; if they are the active ones, nothing changes.
    pub fn forget_beside(&mut self, under: M) {
        if under != M::ACTIVE {
            self.forget();
        }
    }

    /// An operation on masks. Before the active lanes change, pending instructions are counted for them.
    pub fn mask(&mut self, op: MaskOp) {
        if op.writes() == M::ACTIVE {
            self.flush();
            if !op.only_narrows() {
                self.forget();
            }
        }
        self.effect(Op::Mask(op));
    }

    /// Counts the pending instructions for the active lanes.
    pub fn flush(&mut self) {
        if self.pending > 0 {
            let weight = std::mem::take(&mut self.pending);
            self.effect(Op::Tally { counter: Counter::Lanes, weight, under: M::ACTIVE });
        }
    }
}
