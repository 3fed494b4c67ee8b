//! The text of a stream after tiling, and its rules.
//!
//! ```text
//! stream packed
//!   parts = b0 [16: b1] b2
//!   loop_index.0 = 3 + 2*n0
//!   outputs = color0
//!   fetch b1 v1 = s0 at i + n0, j
//! code
//! block b0
//! ```
//!
//! `i` and `j` are the column and the row of a processor, `n0` the iteration of the outermost loop. The blocks are those
//! of the masked form; in the packed form `fetched v1, all` is a whole element.

use super::affine::{Item, LOOPS, Linear, UNIT, blocks};
use super::prepare::Prepared;
use crate::ir::masked::{M, Op, Value, Var};
use crate::ir::verify::{VerifyError, text as name, verify_unmasked};
use ctm_isa::x1k::OUTPUTS;

/// The text of a linear function, of which `unit` is one.
fn linear(of: &Linear, unit: i64) -> String {
    let one = |factor: i64, name: &str| match factor {
        0 => None,
        _ if factor == unit => Some(name.to_owned()),
        _ => Some(format!("{}*{name}", factor as f64 / unit as f64)),
    };
    let turns = (0..LOOPS).filter_map(|depth| one(of.iterations[depth], &format!("n{depth}")));
    let terms = [one(of.i, "i"), one(of.j, "j")].into_iter().flatten().chain(turns);
    let constant = (of.c != 0).then(|| (of.c as f64 / unit as f64).to_string());
    let terms: Vec<String> = terms.chain(constant).collect();
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

/// The text of parts: blocks, and loops with their iterations.
fn parts(items: &[Item]) -> String {
    let one = |item: &Item| match item {
        Item::Block(index) => format!("b{index}"),
        Item::Loop { iterations, body } => format!("[{iterations}: {}]", parts(body)),
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// The fetches of a block, by their values.
fn places(ops: &[Op]) -> impl Iterator<Item = Value> {
    ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::Fetch { .. })).map(|(place, _)| Value(place as u32))
}

/// The text. `starts`: values of variables that are not 0 at the start.
pub fn text(of: &Prepared, items: &[Item], starts: &[(Var, Linear)]) -> String {
    let mut out = format!("stream {}\n  parts = {}\n", if of.packed { "packed" } else { "plain" }, parts(items));
    starts.iter().for_each(|(var, value)| out.push_str(&format!("  {} = {}\n", name(var), linear(value, UNIT))));
    for (number, of) in of.numbers.iter().enumerate() {
        let turns = format!("{}*n{}", of.step, of.depth);
        out.push_str(&format!("  {} = {} + {turns}\n", name(&M::loop_index(number)), of.first));
    }
    let outputs = (0..4 * OUTPUTS).filter(|output| of.outputs >> output & 1 == 1);
    let outputs: Vec<String> = outputs.map(|output| name(&Var::export(output / 4, output % 4))).collect();
    out.push_str(&format!("  outputs = {}\n", outputs.join(" ")));
    for (number, (block, fetches)) in of.code.blocks.iter().zip(&of.fetches).enumerate() {
        for (value, fetch) in places(&block.ops).zip(fetches) {
            let [x, y] = [fetch.x, fetch.y].map(|at| linear(&at, 1));
            out.push_str(&format!("  fetch b{number} {} = s{} at {x}, {y}\n", name(&value), fetch.input));
        }
    }
    out + &of.code.to_string()
}

/// Checks the rules of streams: those of the form but for masks, of which there are none; each block belongs to the parts once; every fetch has an
/// address; numbers exist.
///
/// # Errors
/// The first broken one.
pub fn verify(of: &Prepared, items: &[Item]) -> Result<(), VerifyError> {
    verify_unmasked(&of.code, if of.packed { 5 } else { 4 })?;
    let error = |block, message| VerifyError { block, line: 0, operation: String::new(), message };
    let mut seen = vec![0; of.code.blocks.len()];
    for (index, _) in blocks(items) {
        let count = seen.get_mut(index).ok_or_else(|| error(index, "there is no such block".to_owned()))?;
        *count += 1;
    }
    for (index, (block, fetches)) in of.code.blocks.iter().zip(&of.fetches).enumerate() {
        if seen[index] != 1 {
            return Err(error(index, format!("the parts name it {} times", seen[index])));
        }
        let count = places(&block.ops).count();
        if count != fetches.len() {
            return Err(error(index, format!("{} of {count} fetches have addresses", fetches.len())));
        }
        for op in &block.ops {
            if let Op::Number(m) = op
                && m.entry() >= of.numbers.len()
            {
                return Err(error(index, format!("`{}` is no number of the stream", name(m))));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../tests/unit/stream/text.rs"]
mod tests;
