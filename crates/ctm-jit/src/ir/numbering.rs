//! Value numbering: operations in order, in which equal ones can be found.

use crate::ir::masked::{Op, Value};

/// Operations of a block. Those that were added as [`pure`](Self::pure) are there once.
#[derive(Debug, Default)]
pub struct Numbering {
    /// The operations.
    pub ops: Vec<Op>,
    /// Operations of the blocks before.
    before: u32,
    /// Where pure ones are, each in the first free slot from that of its hash on: the hash, and how many operations there were with it, those of the
    /// blocks before included. So what stands there of those blocks counts as free.
    slots: Vec<(u32, u32)>,
    /// Slots that are not free: at most half of them.
    taken: usize,
}

impl Numbering {
    /// The operations so far; a new block begins.
    pub fn take(&mut self) -> Vec<Op> {
        self.before += self.ops.len() as u32;
        self.taken = 0;
        let ops = self.ops.as_slice().to_vec();
        self.ops.clear();
        ops
    }

    /// Appends an operation that is not looked for.
    #[inline]
    pub fn effect(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value(self.ops.len() as u32 - 1)
    }

    /// The operation that is there, or is appended.
    #[inline(always)]
    pub fn pure(&mut self, op: Op) -> Value {
        let hash = op.hash();
        self.find(hash, &op).unwrap_or_else(|| self.add(hash, op))
    }

    /// An equal operation, which has this hash, if there is one.
    #[inline(always)]
    pub fn find(&self, hash: u32, op: &Op) -> Option<Value> {
        let mut slot = self.first_slot(hash);
        loop {
            let &(of, count) = self.slots.get(slot)?;
            if count <= self.before {
                return None;
            }
            let value = Value(count - self.before - 1);
            if of == hash && self.ops[value.index()] == *op {
                return Some(value);
            }
            slot = self.next_slot(slot);
        }
    }

    /// Appends an operation that was not found.
    #[inline(never)]
    pub fn add(&mut self, hash: u32, op: Op) -> Value {
        self.taken += 1;
        if 2 * self.taken > self.slots.len() {
            self.grow();
        }
        let value = self.effect(op);
        self.put((hash, self.before + value.0 + 1));
        value
    }

    #[cold]
    fn grow(&mut self) {
        let more = vec![(0, 0); (4 * self.slots.len()).max(512)];
        self.ops.reserve(more.len() / 2);
        let fewer = std::mem::replace(&mut self.slots, more);
        fewer.into_iter().for_each(|slot| self.put(slot));
    }

    #[inline]
    fn put(&mut self, (hash, count): (u32, u32)) {
        let mut slot = self.first_slot(hash);
        while self.slots[slot].1 > self.before {
            slot = self.next_slot(slot);
        }
        self.slots[slot] = (hash, count);
    }

    /// The high bits of a hash are the good ones.
    const fn first_slot(&self, hash: u32) -> usize {
        ((hash as u64 * self.slots.len() as u64) >> 32) as usize
    }

    const fn next_slot(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }
}
