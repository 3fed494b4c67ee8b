//! What is computed of uniform values alone is computed once for each launch, and stands in their table.

use crate::ir::masked::{Block, Code, Op, Value};
use crate::ir::numbering::Numbering;
use crate::ir::values;
use std::borrow::Cow;

/// Finds it: it becomes [`Code::computed`], and those who read it read a uniform value.
pub fn gather(code: &mut Code) {
    let first = code.given_uniforms();
    let mut computed = Numbering::default();
    let (mut kinds, mut names) = (Vec::new(), Vec::new());
    for block in &mut code.blocks {
        let Some(last) = find_roots(block, &mut kinds) else { continue };
        for place in (0..=last).rev() {
            if matches!(kinds[place], Kind::Root | Kind::Needed) {
                for value in block.ops[place].reads() {
                    let kind = &mut kinds[value.index()];
                    *kind = if *kind == Kind::Root { Kind::Root } else { Kind::Needed };
                }
            }
        }
        names.clear();
        names.resize(last + 1, Value(0));
        for place in 0..=last {
            let kind = kinds[place];
            if matches!(kind, Kind::Root | Kind::Needed) {
                let mut op = block.ops[place];
                op.rename(|value| names[value.index()]);
                names[place] = computed.pure(op);
                if let (Kind::Root, Ok(index)) = (kind, u16::try_from(first + names[place].index())) {
                    block.ops[place] = Op::Uniform(index);
                }
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

/// What is known of a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It depends on more than uniform values.
    Open,
    /// It is given.
    Given,
    /// It depends on uniform values alone.
    Known,
    /// So it does, and others read it.
    Root,
    /// A root is made of it.
    Needed,
}

/// Finds the vectors of a block that depend on nothing but uniform values, are none, and are read by others. The last one.
fn find_roots(block: &Block, kinds: &mut Vec<Kind>) -> Option<usize> {
    kinds.clear();
    kinds.reserve(block.ops.len());
    let mut last = None;
    for op in &block.ops {
        let (mut open, mut known) = (false, false);
        for value in op.reads() {
            match kinds[value.index()] {
                Kind::Open => open = true,
                Kind::Given => {}
                Kind::Known | Kind::Root | Kind::Needed => known = true,
            }
        }
        let is_open = open || !op.is_constant() || matches!(op, Op::Lane | Op::QuadLane(..));
        if is_open && known {
            for value in op.reads() {
                let place = block.bare(value).index();
                if !matches!(kinds[place], Kind::Open | Kind::Given) {
                    kinds[place] = Kind::Root;
                    last = last.max(Some(place));
                }
            }
        }
        kinds.push(match op {
            Op::Bits(_) | Op::Uniform(_) => Kind::Given,
            _ if is_open => Kind::Open,
            _ => Kind::Known,
        });
    }
    last
}
