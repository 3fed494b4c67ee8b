//! What is computed of uniform values alone is computed once for each launch, and stands in their table.

use crate::ir::masked::{Block, Code, Op, Value};
use crate::ir::numbering::Numbering;
use crate::ir::values;
use std::borrow::Cow;

/// Finds it: it becomes [`Code::computed`], and those who read it read a uniform value.
pub fn gather(code: &mut Code) {
    let first = code.given_uniforms();
    let mut computed = Numbering::default();
    for block in &mut code.blocks {
        let roots = roots(block);
        let Some(&last) = roots.last() else { continue };
        let mut needed = vec![false; last + 1];
        roots.iter().for_each(|&place| needed[place] = true);
        for place in (0..needed.len()).rev() {
            if needed[place] {
                block.ops[place].reads().for_each(|value| needed[value.index()] = true);
            }
        }
        let mut names = vec![Value(0); needed.len()];
        for place in (0..needed.len()).filter(|&place| needed[place]) {
            let mut op = block.ops[place];
            op.rename(|value| names[value.index()]);
            names[place] = computed.pure(op);
        }
        for place in roots {
            if let Ok(index) = u16::try_from(first + names[place].index()) {
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

/// The vectors of a block that depend on nothing but uniform values, are none, and are read by others.
fn roots(block: &Block) -> Vec<usize> {
    let mut known: Vec<bool> = Vec::with_capacity(block.ops.len());
    let mut roots = Vec::new();
    for op in &block.ops {
        let is_known = match op {
            Op::Bits(_) | Op::Uniform(_) => true,
            Op::Abs(_)
            | Op::Neg(_)
            | Op::Alu(..)
            | Op::Unit(..)
            | Op::Holds(..)
            | Op::Select(..)
            | Op::Cube(..)
            | Op::Wide(..) => op.reads().all(|value| known[value.index()]),
            _ => false,
        };
        if !is_known {
            let read = op.reads().filter(|value| known[value.index()]).map(|value| block.bare(value).index());
            roots.extend(read.filter(|&place| !is_given(&block.ops[place])));
        }
        known.push(is_known);
    }
    roots.sort_unstable();
    roots.dedup();
    roots
}

const fn is_given(op: &Op) -> bool {
    matches!(op, Op::Bits(_) | Op::Uniform(_))
}
