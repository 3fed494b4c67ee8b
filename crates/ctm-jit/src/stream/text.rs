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
//! of the masked form; in the packed form `fetched v1, all` is a whole element. A fetch is named by the place of its
//! operation in the block. The parser accepts all output of the printer, and gives an equal stream.

use super::affine::{Fetch, Item, LOOPS, Linear, UNIT, blocks};
use super::prepare::Prepared;
use super::uniform::Number;
use ctm_ir::listing::code::lines;
use ctm_ir::masked::{Code, M, Op, Value, Var};
use ctm_ir::text::fields::Field;
use ctm_ir::text::{TextError, TextLine};
use ctm_ir::verify::{VerifyError, text as name, verify_unmasked};
use ctm_isa::x1k::OUTPUTS;
use rustc_hash::FxHashMap as Map;

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

/// A stream: its program, its parts, and the values of variables that are not 0 at the start.
pub type StreamText = (Prepared, Vec<Item>, Vec<(Var, Linear)>);

/// Reads a text.
///
/// # Errors
/// The first line that has no meaning: its place, and the allowed text there.
pub fn parse(text: &str) -> Result<StreamText, TextError> {
    let above = text.lines().take_while(|line| !line.starts_with("code")).count();
    let below: Vec<&str> = text.lines().skip(above).collect();
    let code = Code::parse(&below.join("\n"));
    let code = code.map_err(|error| TextError { line: error.line + above, ..error })?;
    let fetches = vec![Vec::new(); code.blocks.len()];
    let mut of = Prepared { code, fetches, numbers: Vec::new(), outputs: 0, packed: false };
    let (mut items, mut starts, none) = (Vec::new(), Vec::new(), Map::default());
    for (number, content) in lines(text).take_while(|(number, _)| *number <= above) {
        let mut line = TextLine::new(content, number, &none);
        let before = line.clone();
        match line.begin() {
            Some("parts") => items = take_parts(&mut line)?,
            Some("outputs") => {
                while line.peek().is_some() {
                    let before = line.clone();
                    let output = Var::parse(&mut line)?.export_index().filter(|&output| output < 4 * OUTPUTS);
                    of.outputs |=
                        1 << output.ok_or_else(|| before.error("expected an element of `color0` to `color3`"))?;
                }
            }
            Some(name) if name.starts_with("loop_index") => {
                let expected = M::loop_index(of.numbers.len());
                if M::parse(&mut line.result()?)? != expected {
                    let message = format!("expected `{}`: numbers come in order", self::name(&expected));
                    return Err(before.error(message));
                }
                let value = take_linear(&mut line, 1)?;
                let depth = value.iterations.iter().position(|&step| step != 0).unwrap_or(0);
                let (first, step) = (value.c as i32, value.iterations[depth] as i32);
                of.numbers.push(Number { depth: depth as u8, first, step });
            }
            Some(_) => {
                let var = Var::parse(&mut line.result()?)?;
                starts.push((var, take_linear(&mut line, UNIT)?));
            }
            None if content.starts_with(' ') => take_fetch(&mut line, &items, &mut of)?,
            None => {
                line.one_of(&["stream"], "head of a stream")?;
                of.packed = line.one_of(&["plain", "packed"], "form of a stream")? == 1;
            }
        }
        line.end()?;
    }
    Ok((of, items, starts))
}

/// Reads blocks, and loops with their iterations: `b0 [16: b1] b2`.
fn take_parts(line: &mut TextLine<'_>) -> Result<Vec<Item>, TextError> {
    let mut open: Vec<(u16, Vec<Item>)> = vec![(1, Vec::new())];
    while let Some(word) = line.peek() {
        let before = line.clone();
        line.word();
        if let Some(iterations) = word.strip_prefix('[').and_then(|word| word.strip_suffix(':')?.parse().ok()) {
            open.push((iterations, Vec::new()));
            continue;
        }
        let block = word.trim_end_matches(']');
        let is_block = block.strip_prefix('b').and_then(|number| number.parse().ok());
        let allowed =
            "expected `b` and the number of a block, or `[`, iterations and `:`; `]` after the last block of a loop";
        let number = is_block.ok_or_else(|| before.error(allowed))?;
        open.last_mut().into_iter().for_each(|(_, items)| items.push(Item::Block(number)));
        for _ in block.len()..word.len() {
            let Some((iterations, body)) = open.pop().filter(|_| !open.is_empty()) else {
                return Err(before.error("`]` without `[`"));
            };
            open.last_mut()
                .into_iter()
                .for_each(|(_, items)| items.push(Item::Loop { iterations, body: body.clone() }));
        }
    }
    match (open.len(), open.pop()) {
        (1, Some((_, items))) => Ok(items),
        _ => Err(line.error("expected `]`: a loop has no end")),
    }
}

/// Reads a linear function, of which `unit` is one: `i + 2*n0 + 0.5`.
fn take_linear(line: &mut TextLine<'_>, unit: i64) -> Result<Linear, TextError> {
    let mut sum = Linear::default();
    loop {
        let expected = "term: a number, `i`, `j`, or `n` and the depth of a loop, with a factor and `*` before it";
        line.parsed(expected, |word, _| {
            let (factor, name) = match word.split_once('*') {
                Some((factor, name)) => (factor.parse::<f64>().ok()?, name),
                None => word.parse::<f64>().map_or((1.0, word), |number| (number, "")),
            };
            let place = match name {
                "" => &mut sum.c,
                "i" => &mut sum.i,
                "j" => &mut sum.j,
                _ => sum.iterations.get_mut(name.strip_prefix('n')?.parse::<usize>().ok()?)?,
            };
            let units = factor * unit as f64;
            *place = units as i64;
            (units == units.trunc()).then_some(())
        })?;
        if line.peek() != Some("+") {
            return Ok(sum);
        }
        line.word();
    }
}

/// Reads the address of a fetch: `fetch b1 v1 = s0 at i + n0, j`.
fn take_fetch(line: &mut TextLine<'_>, items: &[Item], of: &mut Prepared) -> Result<(), TextError> {
    line.one_of(&["fetch"], "line of a stream's head")?;
    let before = line.clone();
    let mut number = |letter: char| {
        let expected = format!("number after `{letter}`");
        line.parsed(&expected, |word, _| word.strip_prefix(letter)?.parse::<usize>().ok())
    };
    let (block, place) = (number('b')?, number('v')?);
    line.one_of(&["="], "`=`")?;
    let input = line.parsed("input: `s0` to `s15`", |word, _| word.strip_prefix('s')?.parse().ok())?;
    line.one_of(&["at"], "`at`")?;
    let [x, y] = [take_linear(line, 1)?, take_linear(line, 1)?];
    let mut iterations = [0; LOOPS];
    let around = blocks(items).into_iter().find(|(index, _)| *index == block);
    let around = around.ok_or_else(|| before.error(format!("`b{block}` is none of the parts")))?.1;
    iterations.iter_mut().zip(around).for_each(|(to, of)| *to = of);
    let (Some(ops), Some(fetches)) = (of.code.blocks.get(block), of.fetches.get_mut(block)) else {
        return Err(before.error(format!("there is no `b{block}`")));
    };
    if places(&ops.ops).nth(fetches.len()).map(Value::index) != Some(place) {
        return Err(before.error(format!("`v{place}` is not fetch {} of `b{block}`", fetches.len())));
    }
    fetches.push(Fetch { input, x, y, iterations });
    Ok(())
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
