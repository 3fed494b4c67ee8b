//! Value numbering: a list of operations with a search for equal ones.

use crate::masked::{Op, Value};

/// Operations of a block, without duplicates among those added as [`pure`](Self::pure).
#[derive(Debug, Default)]
pub struct Numbering {
    /// The operations.
    pub ops: Vec<Op>,
    /// The count of operations of earlier blocks.
    before: u32,
    /// The places of pure operations, each in the first free slot from that of its hash on: the hash, and the total
    /// count of operations with it, earlier blocks included, so that slots of earlier blocks count as free: emptying a
    /// table for each block takes longer. A power of two, at least half of them free.
    slots: Vec<u64>,
}

impl Numbering {
    /// The operations so far; a new block begins.
    pub fn take(&mut self) -> Vec<Op> {
        self.before += self.ops.len() as u32;
        let ops = self.ops.as_slice().to_vec();
        self.ops.clear();
        ops
    }

    /// Appends an operation without a search for an equal one.
    #[inline]
    pub fn effect(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value(self.ops.len() as u32 - 1)
    }

    /// An equal operation, or this one appended.
    #[inline(always)]
    pub fn pure(&mut self, op: Op) -> Value {
        let hash = op.hash();
        self.find(hash, &op).unwrap_or_else(|| self.add(hash, op))
    }

    /// An equal operation, which has this hash, if there is one.
    #[inline(always)]
    pub fn find(&self, hash: u32, op: &Op) -> Option<Value> {
        self.probe(hash, |value| self.ops[value.index()] == *op).ok()
    }

    /// Appends an operation that was not found.
    pub fn add(&mut self, hash: u32, op: Op) -> Value {
        let value = self.effect(op);
        if 2 * self.ops.len() > self.slots.len() {
            let more = vec![0; (2 * self.slots.len()).max(1024)];
            self.ops.reserve(more.len() / 2);
            std::mem::replace(&mut self.slots, more).into_iter().filter(|&of| of > 0).for_each(|of| self.put(of));
        }
        self.put(u64::from(hash) << 32 | u64::from(self.before + value.0 + 1));
        value
    }

    fn put(&mut self, of: u64) {
        let free = self.probe((of >> 32) as u32, |_| false).err();
        free.into_iter().for_each(|free| self.slots[free] = of);
    }

    /// The operation of this hash that `is_wanted` accepts; else the first free slot.
    #[inline(always)]
    fn probe(&self, hash: u32, is_wanted: impl Fn(Value) -> bool) -> Result<Value, usize> {
        let mut slot = hash as usize;
        loop {
            slot &= self.slots.len().wrapping_sub(1);
            let of = self.slots.get(slot).copied().unwrap_or(0);
            let Some(place) = (of as u32).checked_sub(self.before + 1) else { return Err(slot) };
            if of >> 32 == u64::from(hash) && is_wanted(Value(place)) {
                return Ok(Value(place));
            }
            slot += 1;
        }
    }
}
