//! What is computed of uniform values alone is computed once for each launch, and stands in their table.

use crate::ir::masked::{Block, Code, Op, Value};
use crate::ir::numbering::Numbering;
use crate::ir::values;
use std::borrow::Cow;

/// Finds it: it becomes [`Code::computed`], and those who read it read a uniform value.
pub fn gather(code: &mut Code) {
    let first = code.given_uniforms();
    let mut computed = Numbering::default();
    let (mut known, mut names) = (Vec::new(), Vec::new());
    for block in &mut code.blocks {
        let Some(last) = find_roots(block, &mut known) else { continue };
        for place in (0..=last).rev() {
            if known[place] & (ROOT | NEEDED) != 0 {
                block.ops[place].operands().iter().for_each(|value| known[value.index()] |= NEEDED);
            }
        }
        names.resize(names.len().max(last + 1), Value(0));
        for place in (0..=last).filter(|&place| known[place] & (ROOT | NEEDED) != 0) {
            let mut op = block.ops[place];
            op.rename(|value| names[value.index()]);
            names[place] = computed.pure(op);
            let index = u16::try_from(first + names[place].index());
            if let (true, Ok(index)) = (known[place] & ROOT != 0, index) {
                block.ops[place] = Op::Uniform(index);
            }
        }
    }
    code.computed = computed.take();
}

/// Appends what is computed to the table of uniform values.
pub fn append(computed: &[Op], table: &mut Cow<'_, [u32]>) {
    let first = table.len();
    for op in computed {
        let mut args = [0; 6];
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
/// It is made of uniform values alone, and is none.
const MADE: u8 = 2;
/// It is made so, and one that is not reads it.
const ROOT: u8 = 4;
/// A root is made of it.
const NEEDED: u8 = 8;

/// Finds the vectors of a block that depend on nothing but uniform values, are none, and are read by others. The last one.
fn find_roots(block: &Block, known: &mut Vec<u8>) -> Option<usize> {
    known.clear();
    known.reserve(block.ops.len());
    let mut last = None;
    for op in &block.ops {
        let of = |values: &[Value]| values.iter().fold(0, |all, value| all | known[value.index()]);
        let read = match op {
            Op::Bits(_) | Op::Uniform(_) => {
                known.push(0);
                continue;
            }
            // What it does not read repeats the first operand.
            Op::Unit(_, abc) => of(abc),
            Op::Set(_, value, _) => OPEN | of(&[*value]),
            _ => of(op.operands()),
        };
        let is_open = read & OPEN != 0 || !op.is_constant() || matches!(op, Op::Lane | Op::QuadLane(..));
        if is_open && read & MADE != 0 {
            for place in op.reads().map(|value| block.bare(value).index()) {
                if known[place] & MADE != 0 {
                    known[place] |= ROOT;
                    last = last.max(Some(place));
                }
            }
        }
        known.push(if is_open { OPEN } else { MADE });
    }
    last
}
