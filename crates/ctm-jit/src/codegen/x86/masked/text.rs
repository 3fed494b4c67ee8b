//! The text of a program as machine instructions: after selection, and with allocated registers.
//!
//! ```text
//! selected
//!   r0.x = x0
//!   f0 = input input=0
//!   call0 = fetch f0
//! block b0 loops=0
//!   x1 = two ADD, x0, 0x3f800000
//!   x0 = set x1, active
//!   stop
//! ```
//!
//! Vectors of variables come first, in the order of the head.

use super::ins::{Call, Ins};
use super::selected::SelectedCode;
use crate::codegen::x86::lir::Vector;
use crate::codegen::x86::lookups::Looked;
use ctm_ir::listing::code::{lines, put_block, put_definitions, put_line, take_block};
use ctm_ir::masked::{Code, End, Fetch, Op, Store, Var, Yield};
use ctm_ir::text::fields::Field;
use ctm_ir::text::line::listed;
use ctm_ir::text::{TextError, TextLine};
use rustc_hash::FxHashMap as Map;

fn text(of: &impl Field) -> String {
    let mut text = String::new();
    of.print(&mut text);
    text
}

/// The text of selected instructions. `code`: the masked form that they were selected for.
pub fn selected(of: &SelectedCode, code: &Code) -> String {
    print("selected", of, code, |text| text)
}

/// The text of instructions with the locations of vectors by number: `x3@r4`.
pub fn allocated(head: &str, of: &SelectedCode, code: &Code, location: impl Fn(usize) -> Option<String>) -> String {
    let locate = |word: &str| {
        let vector = word.strip_prefix('x').and_then(|number| number.parse::<usize>().ok())?;
        Some(format!("{word}@{}", location(vector)?))
    };
    print(head, of, code, |text| {
        let words = text.split_inclusive([' ', ',', '\n']);
        words
            .map(|word| {
                let name = word.trim_end_matches([' ', ',', '\n']);
                locate(name).map_or_else(|| word.to_owned(), |located| located + &word[name.len()..])
            })
            .collect()
    })
}

fn print(head: &str, of: &SelectedCode, code: &Code, change: impl Fn(String) -> String) -> String {
    let mut out = format!("{head}\n");
    for (number, var) in of.used.iter().enumerate() {
        out.push_str(&format!("  {} = {}\n", text(var), text(&Vector(number as u32))));
    }
    out.push_str(&of.in_rows.map_or_else(String::new, |count| format!("  rows = {count}\n")));
    of.fixed.iter().for_each(|(var, bits)| out.push_str(&format!("  fixed = {} {bits:#x}\n", text(var))));
    of.plain.iter().for_each(|fetch| out.push_str(&format!("  lookup = f{fetch}\n")));
    put_definitions("f", &code.fetches, &mut out);
    put_definitions("s", &code.stores, &mut out);
    put_definitions("y", &code.yields, &mut out);
    for (number, call) in of.calls.iter().enumerate() {
        let call = match call {
            Call::Fetch(fetch, _) => format!("fetch f{fetch}"),
            Call::Store(store) => format!("store s{store}"),
            Call::Pure(op) => format!("pure {}", text(&Unnamed(*op))),
        };
        out.push_str(&format!("  call{number} = {call}\n"));
    }
    for (number, (block, list)) in code.blocks.iter().zip(&of.lists).enumerate() {
        put_block(number, block, &mut out);
        let mut lines = String::new();
        list.iter().for_each(|ins| put_line(ins, &mut lines));
        out.push_str(&change(lines));
        put_line(&block.end, &mut out);
    }
    out
}

/// An operation whose operands are the arguments of a call, in their order.
#[derive(Clone, Copy, PartialEq)]
struct Unnamed(Op);

impl Field for Unnamed {
    fn print(&self, out: &mut String) {
        self.0.print(out);
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        Op::parse(line).map(Self)
    }
}

/// Reads a text: the instructions, and their blocks, which have no operations.
///
/// # Errors
/// The first line that has no meaning: its place, and the allowed text there.
pub fn parse(text: &str) -> Result<(SelectedCode, Code), TextError> {
    let (mut of, mut code) =
        (SelectedCode { vars: vec![None; Var::COUNT], ..SelectedCode::default() }, Code::default());
    // Operands of operations in calls name lines of the masked form, which is not here.
    let names: Map<u32, u32> = (0..1 << 16).map(|n| (n, n)).collect();
    let names_of_nothing = Map::default();
    let mut is_ended = true;
    let mut vectors = 0;
    for (number, content) in lines(text) {
        let mut line = TextLine::new(content, number, &names);
        match (content.starts_with(' '), code.blocks.is_empty()) {
            (true, true) => take_definition(&mut line, &mut of, &mut code)?,
            (true, false) if is_ended => return Err(line.error("the block has ended; expected `block`")),
            (true, false) if line.peek().is_some_and(|word| End::names().contains(&word)) => {
                let end = End::parse(&mut line)?;
                code.blocks.last_mut().into_iter().for_each(|block| block.end = end);
                is_ended = true;
            }
            (true, false) => {
                let ins = Ins::parse(&mut line)?;
                let (written, sources) = ins.touches();
                written.into_iter().for_each(|(dst, _)| vectors = vectors.max(dst.index() + 1));
                crate::codegen::x86::lir::each_read(written, &sources, |of| vectors = vectors.max(of.index() + 1));
                of.lists.last_mut().into_iter().for_each(|list| list.push(ins));
            }
            (false, _) if !is_ended => {
                let names = listed(&End::names());
                return Err(line.error(format!("the block before has no end; expected one of {names}")));
            }
            (false, _) => match line.one_of(&["selected", "block"], "head of a part")? {
                0 => {}
                _ => {
                    let block = take_block(&mut line, code.blocks.len())?;
                    code.blocks.push(block);
                    of.lists.push(Vec::new());
                    is_ended = false;
                }
            },
        }
        line.end()?;
    }
    if !is_ended {
        let names = listed(&End::names());
        let end = TextLine::new("", text.lines().count() + 1, &names_of_nothing);
        return Err(end.error(format!("the block before has no end; expected one of {names}")));
    }
    of.vectors = vectors.max(of.used.len());
    Ok((of, code))
}

fn take_definition(line: &mut TextLine<'_>, of: &mut SelectedCode, code: &mut Code) -> Result<(), TextError> {
    let before = line.clone();
    let name = line.begin().unwrap_or_default();
    let numbered =
        |letter: &str| name.strip_prefix(letter).is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
    match name {
        "rows" => of.in_rows = Some(u16::parse(line)?.into()),
        "fixed" => of.fixed.push((Var::parse(line)?, u32::parse(line)?)),
        "lookup" => of.plain.push(line.parsed("fetch", |word, _| word.strip_prefix('f')?.parse().ok())?),
        _ if numbered("f") => code.fetches.push(Fetch::parse(line)?),
        _ if numbered("s") => code.stores.push(Store::parse(line)?),
        _ if numbered("y") => code.yields.push(Yield::parse(line)?),
        _ if numbered("call") => of.calls.push(take_call(line, code)?),
        _ if name.contains('.') => {
            let var = before.clone().parsed("variable", |word, _| Some(word.to_owned()))?;
            let names = Map::default();
            let var = Var::parse(&mut TextLine::new(&var, 0, &names)).map_err(|error| before.error(error.message))?;
            let vector = Vector::parse(line)?;
            if vector.index() != of.used.len() {
                return Err(before.error(format!("expected `x{}`: variables come in order", of.used.len())));
            }
            of.vars[var.index()] = Some(vector);
            of.used.push(var);
        }
        _ => {
            let allowed =
                "expected a definition: a variable, `rows`, `fixed`, `lookup`, `f0`, `s0`, `y0` or `call0`, and `=`";
            return Err(before.error(allowed));
        }
    }
    Ok(())
}

fn take_call(line: &mut TextLine<'_>, code: &Code) -> Result<Call, TextError> {
    let mut ahead = line.clone();
    Ok(match ahead.one_of(&["fetch", "store", "pure"], "call")? {
        0 => {
            let fetch = ahead.parsed("fetch", |word, _| word.strip_prefix('f')?.parse::<u16>().ok())?;
            let looked = code.fetches.get(usize::from(fetch)).and_then(Looked::of);
            *line = ahead;
            Call::Fetch(fetch, looked)
        }
        1 => {
            let store = ahead.parsed("store", |word, _| word.strip_prefix('s')?.parse::<u16>().ok())?;
            *line = ahead;
            Call::Store(store)
        }
        _ => {
            let op = Op::parse(&mut ahead)?;
            *line = ahead;
            Call::Pure(op)
        }
    })
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/masked/text.rs"]
mod tests;
