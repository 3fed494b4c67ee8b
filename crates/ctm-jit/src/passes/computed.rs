//! Uniform computations: operations on uniform values alone are computed once for each launch, and stored in the table
//! of uniform values.

use ctm_ir::masked::{Block, Op, Value};
use ctm_ir::numbering::Numbering;
use ctm_ir::values;
use std::borrow::Cow;

/// The operation's result is live.
pub(super) const NEEDED: u8 = 1;

/// Finds uniform computations: they become [`computed`](ctm_ir::masked::Code::computed), and their uses read a
/// uniform value.
#[derive(Default)]
pub struct Gathered {
    computed: Numbering,
    known: Vec<u8>,
    names: Vec<Value>,
}

impl Gathered {
    /// In a block; `first`: the uniform value that is computed first. Of the operations that are [`NEEDED`], those with
    /// uses only in computed ones no longer are.
    pub fn gather(&mut self, block: &mut Block, first: usize, found: &mut [u8]) {
        let Self { computed, known, names } = self;
        let Some(last) = find_roots(block, found, known) else { return };
        if first + computed.ops.len() + last > u16::MAX.into() {
            return;
        }
        let unread = found.iter_mut().zip(&*known).filter(|(_, known)| **known & (OPEN | READ) == 0);
        unread.for_each(|(found, _)| *found &= !NEEDED);
        for place in (0..=last).rev() {
            if known[place] & (ROOT | PART) != 0 {
                block.ops[place].operands().iter().for_each(|value| known[value.index()] |= PART);
            }
        }
        names.resize(names.len().max(last + 1), Value(0));
        for place in (0..=last).filter(|&place| known[place] & (ROOT | PART) != 0) {
            let mut op = block.ops[place];
            op.rename(|value| names[value.index()]);
            names[place] = computed.pure(op);
            if known[place] & ROOT != 0 {
                block.ops[place] = Op::Uniform((first + names[place].index()) as u16);
            }
        }
    }

    /// All of it.
    pub fn take(mut self) -> Vec<Op> {
        self.computed.take()
    }
}

/// Appends the computed values to the table of uniform values.
pub fn append(computed: &[Op], table: &mut Cow<'_, [u32]>) {
    let first = table.len();
    for op in computed {
        let mut args = [0; Op::OPERANDS];
        op.reads().zip(&mut args).for_each(|(value, arg)| *arg = table[first + value.index()]);
        let bits = match *op {
            Op::Uniform(index) => table.get(usize::from(index)).copied().unwrap_or(0),
            ref op => values::lane(op, &args),
        };
        table.to_mut().push(bits);
    }
}

/// A vector depends on more than uniform values.
const OPEN: u8 = 1;
/// It is a uniform value or a literal.
const GIVEN: u8 = 2;
/// It is computed from these alone.
const MADE: u8 = 4;
/// An operation that depends on more reads it.
const READ: u8 = 8;
/// It is computed, and an operation that depends on more reads it, with any sign.
const ROOT: u8 = 16;
/// A root is computed from it.
const PART: u8 = 32;

/// Classifies the live vectors of a block, and gives the last root.
fn find_roots(block: &Block, found: &[u8], known: &mut Vec<u8>) -> Option<usize> {
    known.clear();
    known.reserve(block.ops.len());
    let mut last = None;
    for (op, found) in block.ops.iter().zip(found) {
        if found & NEEDED == 0 {
            known.push(0);
            continue;
        }
        let of = |values: &[Value]| values.iter().fold(0, |all, value| all | known[value.index()]);
        let read = match op {
            Op::Bits(_) | Op::Uniform(_) => {
                known.push(GIVEN);
                continue;
            }
            // Unused operands repeat the first one.
            Op::Unit(_, abc) => of(abc),
            Op::Dot(_, all) => of(all),
            Op::Set { value, .. } => OPEN | of(&[*value]),
            _ => of(op.operands()),
        };
        let is_open = read & OPEN != 0 || !op.is_constant() || matches!(op, Op::Lane | Op::QuadLane(..));
        if is_open && read & (GIVEN | MADE) != 0 {
            for mut value in op.reads() {
                known[value.index()] |= READ;
                while let (true, &(Op::Abs(a) | Op::Neg(a))) =
                    (known[value.index()] & MADE != 0, &block.ops[value.index()])
                {
                    value = a;
                    known[value.index()] |= READ;
                }
                if known[value.index()] & MADE != 0 {
                    known[value.index()] |= ROOT;
                    last = last.max(Some(value.index()));
                }
            }
        }
        known.push(if is_open { OPEN } else { MADE });
    }
    last
}
