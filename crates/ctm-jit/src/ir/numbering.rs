//! Value numbering: operations in order, in which equal ones can be found.

use crate::ir::map::QuickHasher;
use crate::ir::masked::{Op, Value};
use std::hash::{Hash as _, Hasher as _};

/// Operations of a block. Those that were added as [`pure`](Self::pure) are there once.
#[derive(Debug, Default)]
pub struct Numbering {
    /// The operations.
    pub ops: Vec<Op>,
    /// Hashes of pure ones, and one more than their places; 0: free. None, or as many as a power of two.
    slots: Vec<(u32, u32)>,
    /// Slots that are taken.
    count: usize,
}

/// What has to be told [`Numbering::add`] of an operation that was not found.
#[derive(Clone, Copy, Debug)]
pub struct New(u32);

impl Numbering {
    /// Without operations; there is room for so many.
    pub fn with_capacity(ops: usize) -> Self {
        Self { ops: Vec::with_capacity(ops), ..Self::default() }
    }

    /// The operations so far; a new block begins.
    pub fn take(&mut self) -> Vec<Op> {
        if self.count > 0 {
            self.slots.fill((0, 0));
            self.count = 0;
        }
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
        self.find(&op).unwrap_or_else(|new| self.add(new, op))
    }

    /// An equal operation.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, op: &Op) -> Result<Value, New> {
        let hash = hash(op);
        let Some(last) = self.slots.len().checked_sub(1) else { return Err(New(hash)) };
        let mut at = hash as usize & last;
        loop {
            match self.slots[at] {
                (_, 0) => return Err(New(hash)),
                (of, place) if of == hash && self.ops[place as usize - 1] == *op => return Ok(Value(place - 1)),
                _ => at = (at + 1) & last,
            }
        }
    }

    /// Appends an operation that was not found.
    pub fn add(&mut self, New(hash): New, op: Op) -> Value {
        let value = self.effect(op);
        if 2 * self.count >= self.slots.len() {
            let size = (4 * self.slots.len()).max(64);
            let old = std::mem::replace(&mut self.slots, vec![(0, 0); size]);
            old.into_iter().filter(|slot| slot.1 > 0).for_each(|slot| self.put(slot));
        }
        self.put((hash, value.0 + 1));
        self.count += 1;
        value
    }

    fn put(&mut self, slot: (u32, u32)) {
        let last = self.slots.len() - 1;
        let mut at = slot.0 as usize & last;
        while self.slots[at].1 > 0 {
            at = (at + 1) & last;
        }
        self.slots[at] = slot;
    }
}

/// A hash of what it is and what it reads; modifiers, which seldom differ alone, are left to the comparison.
#[inline]
fn hash(op: &Op) -> u32 {
    let mut hasher = QuickHasher::default();
    std::mem::discriminant(op).hash(&mut hasher);
    match *op {
        Op::Bits(bits) => hasher.write_u32(bits),
        Op::Uniform(index) => hasher.write_u16(index),
        Op::Fetched(_, channel) | Op::QuadLane(_, channel) => hasher.write_u16(channel.into()),
        _ => {}
    }
    op.reads().for_each(|value| hasher.write_u32(value.0));
    (hasher.finish() >> 16) as u32
}
