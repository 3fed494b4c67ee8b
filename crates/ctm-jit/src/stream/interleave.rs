//! Two iterations of a loop as one, so that the processor sees two chains of operations where it saw one.
//!
//! What an iteration makes of elements that it fetches is often one long chain, and an iteration begins only as far before the end of the last one as the
//! processor looks ahead. Two iterations whose instructions alternate (`codegen/x86/stream/order.rs`) need half of that. Only what an iteration takes over from the
//! one before, as sums, stays in order: operations are those of the program, each with its rounding.

use super::affine::{Fetch, Item};
use super::prepare::{Prepared, renamed};
use crate::ir::masked::{Block, Op, Unit, Value, Var};
use crate::ir::numbering::Numbering;
use ctm_isa::r700::ops::Units;

/// Operations that an iteration may have: two of them have to find registers.
const MOST: usize = 96;
/// What two instructions at a time of so many vectors side by side, with four clocks each, are worth: a chain is long if so many times its
/// length is more than all instructions.
const LONG: u32 = 2;

/// The program and its parts with two iterations in one wherever that is worth it; `None`: nowhere.
pub fn joined(of: &Prepared, items: &[Item]) -> Option<(Prepared, Vec<Item>)> {
    let mut items = items.to_vec();
    let mut chains = Vec::new();
    visit(&mut items, 0, &mut |block, iterations, depth| {
        if *iterations % 2 == 0 && is_chain(&of.code.blocks[block]) {
            *iterations /= 2;
            chains.push((block, depth));
        }
    });
    if chains.is_empty() {
        return None;
    }
    let mut prepared = of.clone();
    chains.into_iter().for_each(|(block, depth)| join(&mut prepared, block, depth));
    Some((prepared, items))
}

/// Looks at every loop that is one block: the block, iterations, loops around it.
fn visit(items: &mut [Item], depth: usize, look: &mut impl FnMut(usize, &mut u16, usize)) {
    for item in items {
        let Item::Loop { iterations, body } = item else { continue };
        if let [Item::Block(block)] = body[..] {
            look(block, iterations, depth);
        } else {
            visit(body, depth + 1, look);
        }
    }
}

/// Instructions that an operation is about, each of which waits for the one before.
fn instructions(op: &Op) -> u32 {
    match op {
        Op::Unit(Unit::Scalar(_), _) => 10,
        Op::Alu(op, ..) if matches!(op.info().units, Units::Trans) => 10,
        Op::Unit(..) | Op::Alu(..) | Op::Select(..) => 1,
        _ => 0,
    }
}

/// Whether an iteration is mostly one chain that begins with what the iteration fetches.
fn is_chain(block: &Block) -> bool {
    let sets = |var: Var| block.ops.iter().any(|op| matches!(*op, Op::Set(of, ..) if of == var));
    // The longest way to each value, and the longest one from what the iteration before has left.
    let mut long: Vec<(u32, u32)> = Vec::with_capacity(block.ops.len());
    let (mut all, mut longest, mut carried) = (0, 0, 0);
    for op in &block.ops {
        if matches!(op, Op::GetRelative(..) | Op::QuadLane(..)) {
            return false;
        }
        let own = instructions(op);
        let mut way = (0, 0);
        for value in op.reads() {
            let of = long[value.index()];
            way = (way.0.max(of.0), way.1.max(of.1));
        }
        if let Op::Get(var) = *op
            && sets(var)
        {
            way.1 = 1;
        }
        let way = (way.0 + own, if way.1 > 0 { way.1 + own } else { 0 });
        all += own;
        longest = longest.max(way.0);
        carried = carried.max(way.1);
        long.push(way);
    }
    let fetches = block.ops.iter().any(|op| matches!(op, Op::Fetch(..)));
    fetches && block.ops.len() <= MOST && LONG * longest > all && LONG * carried < longest
}

/// Writes a block's iteration down twice.
fn join(prepared: &mut Prepared, block: usize, depth: usize) {
    let old = std::mem::take(&mut prepared.code.blocks[block].ops);
    let fetches = std::mem::take(&mut prepared.fetches[block]);
    // Values that do not change from one iteration to the next are there once.
    let mut new = Numbering::default();
    // What variables hold, and how they were stored.
    let mut held: Vec<(Var, Value, Op)> = Vec::new();
    for iteration in 0..2 {
        let mut place = Vec::with_capacity(old.len());
        let mut fetched = fetches.iter();
        for op in &old {
            let op = renamed(*op, |value: Value| place[value.index()]);
            let known = match op {
                Op::Get(var) => held.iter().find(|(of, ..)| *of == var).map(|(_, value, _)| *value),
                _ => None,
            };
            place.push(match (known, op) {
                (Some(value), _) => value,
                (None, Op::Set(var, value, _)) => {
                    held.retain(|(of, ..)| *of != var);
                    held.push((var, value, op));
                    value
                }
                (None, op) if op.is_pure() => new.pure(op),
                (None, op) => {
                    if let (Op::Fetch(..), Some(fetch)) = (op, fetched.next()) {
                        prepared.fetches[block].push(of_iteration(fetch, depth, iteration));
                    }
                    new.effect(op)
                }
            });
        }
    }
    held.into_iter().for_each(|(.., op)| _ = new.effect(op));
    prepared.code.blocks[block].ops = new.take();
}

/// A fetch of the first or the second of two iterations at a time.
fn of_iteration(fetch: &Fetch, depth: usize, iteration: i64) -> Fetch {
    let mut fetch = *fetch;
    for of in [&mut fetch.x, &mut fetch.y] {
        of.c += iteration * of.iterations[depth];
        of.iterations[depth] *= 2;
    }
    fetch.iterations[depth] /= 2;
    fetch
}

#[cfg(test)]
#[path = "../../tests/unit/stream/interleave.rs"]
mod tests;
