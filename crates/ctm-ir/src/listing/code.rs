//! The text of a program in the masked form.
//!
//! ```text
//! code watches_idle_lanes
//!   f0 = texture SAMPLE 0x00000010 0xf00d1000 0x68800000
//! block b0 loops=0 alu=1 tex=1
//!   v0 = get r0.x
//!   v1 = fetch f0, v0, v0, v0, v0, active
//!   v2 = fetched v1, x
//!   set color0.x, v2, active
//!   mark color0.x, active
//!   stop
//! ```
//!
//! A vector is named by the number of its operation in the block. A text written by hand may use any numbers.

use crate::masked::{Block, Code, End, Fetch, Locked, Op, Store, Tally, Value, Yield};
use crate::text::fields::Field;
use crate::text::line::listed;
use crate::text::{TextError, TextLine};
use rustc_hash::FxHashMap as Map;
use std::fmt;

/// The flags of a program by name.
macro_rules! flags {
    ($code:expr) => {
        [("watches_idle_lanes", &mut $code.watches_idle_lanes), ("keeps_idle_lanes", &mut $code.keeps_idle_lanes)]
    };
}

/// The counts of a block by name.
fn counts(tally: &mut Tally) -> [(&'static str, &mut u32); 9] {
    let Tally { alu, delays, nops, output, scattered, tex, tex_passes, tex_wide, fc } = tally;
    [
        ("alu", alu),
        ("delays", delays),
        ("nops", nops),
        ("output", output),
        ("scattered", scattered),
        ("tex", tex),
        ("tex_passes", tex_passes),
        ("tex_wide", tex_wide),
        ("fc", fc),
    ]
}

/// Appends a line of two spaces and an operation.
pub fn put_line(of: &impl Field, out: &mut String) {
    out.push_str("  ");
    let mut text = String::new();
    of.print(&mut text);
    out.push_str(&text);
    out.push('\n');
}

/// Appends numbered definitions.
pub fn put_definitions<T: Field>(letter: &str, all: &[T], out: &mut String) {
    for (number, of) in all.iter().enumerate() {
        let mut text = String::new();
        of.print(&mut text);
        out.push_str(&format!("  {letter}{number} = {text}\n"));
    }
}

/// Appends the head of a block.
pub fn put_block(number: usize, block: &Block, out: &mut String) {
    out.push_str(&format!("block b{number} loops={}", block.loops));
    let mut tally = block.tally;
    let used = counts(&mut tally).into_iter().filter(|(_, count)| **count > 0);
    used.for_each(|(name, count)| out.push_str(&format!(" {name}={count}")));
    out.push('\n');
}

/// The text of an operation.
fn op_text(op: &Op) -> String {
    let mut text = String::new();
    op.print(&mut text);
    text
}

/// Appends operations, each vector with its name.
fn put_ops(ops: &[Op], out: &mut String) {
    for (number, op) in ops.iter().enumerate() {
        let mut text = String::new();
        op.print(&mut text);
        let is_named = op.is_pure() || matches!(op, Op::Fetch { .. });
        let name = if is_named { format!("v{number} = ") } else { String::new() };
        let note = match *op {
            Op::Bits(bits) if f32::from_bits(bits).is_normal() => format!(" ; {}", f32::from_bits(bits)),
            _ => String::new(),
        };
        out.push_str(&format!("  {name}{text}{note}\n"));
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::from("code");
        let mut code = Self {
            watches_idle_lanes: self.watches_idle_lanes,
            keeps_idle_lanes: self.keeps_idle_lanes,
            ..Self::default()
        };
        flags!(code).into_iter().filter(|(_, flag)| **flag).for_each(|(name, _)| out.push_str(&format!(" {name}")));
        out.push('\n');
        put_definitions("f", &self.fetches, &mut out);
        put_definitions("s", &self.stores, &mut out);
        put_definitions("y", &self.yields, &mut out);
        put_definitions("l", &self.locked, &mut out);
        if !self.computed.is_empty() {
            out.push_str(&format!("computed from={}\n", self.given_uniforms()));
            put_ops(&self.computed, &mut out);
        }
        for (number, block) in self.blocks.iter().enumerate() {
            put_block(number, block, &mut out);
            put_ops(&block.ops, &mut out);
            put_line(&block.end, &mut out);
        }
        f.write_str(&out)
    }
}

impl Field for Yield {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&format!("yield block={} before={}", self.block, self.before));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.one_of(&["yield"], "yield")?;
        Ok(Self { block: u16::take(line, "block", true)?, before: u32::take(line, "before", true)? })
    }
}

impl Field for Locked {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        let alternate = if self.alternate { " alternate" } else { "" };
        out.push_str(&format!("locked bank={} first={} count={}{alternate}", self.bank, self.first, self.count));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.one_of(&["locked"], "locked range of constants")?;
        Ok(Self {
            bank: u8::take(line, "bank", true)?,
            first: i32::take(line, "first", true)?,
            count: u16::take(line, "count", true)?,
            alternate: bool::take(line, "alternate", true)?,
        })
    }
}

/// The lines of a text that are not only a comment, with their numbers from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let content = |line: &str| !line.split(';').next().unwrap_or_default().trim().is_empty();
    text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(move |(_, line)| content(line))
}

/// Reads the head of a block after the word `block`. The blocks of a text are numbered in their order.
///
/// # Errors
/// It has another number, or unknown fields.
pub fn take_block(line: &mut TextLine<'_>, number: usize) -> Result<Block, TextError> {
    let before = line.clone();
    if line.word() != Some(format!("b{number}").as_str()) {
        return Err(before.error(format!("expected `b{number}`: blocks are numbered in their order")));
    }
    let mut block = Block { loops: 0, ops: Vec::new(), tally: Tally::default(), end: End::Stop };
    block.loops = if line.takes("loops", true) { u8::parse(line)? } else { 0 };
    for (name, count) in counts(&mut block.tally) {
        if line.takes(name, true) {
            *count = u32::parse(line)?;
        }
    }
    Ok(block)
}

/// The names of the vectors of the operations from a line to the next head: of each, the place of its operation.
fn names<'a>(rest: impl Iterator<Item = (usize, &'a str)>) -> Result<Map<u32, u32>, TextError> {
    let (mut names, none) = (Map::default(), Map::default());
    for (place, (number, text)) in (0..).zip(rest.take_while(|(_, text)| text.starts_with(' '))) {
        let mut line = TextLine::new(text, number, &none);
        let before = line.clone();
        let name = line.begin().and_then(|name| name.strip_prefix('v')?.parse().ok());
        if let Some(name) = name
            && names.insert(name, place).is_some()
        {
            return Err(before.error(format!("`v{name}` is made twice in this block")));
        }
    }
    Ok(names)
}

/// The part of a text that a line belongs to.
enum ListingPart {
    Nothing,
    Head,
    Computed,
    Block { is_ended: bool },
}

/// A block's end comes before the next head.
fn is_ended(part: &ListingPart, line: &TextLine<'_>) -> Result<(), TextError> {
    let names = listed(&End::names());
    if matches!(part, ListingPart::Block { is_ended: false }) {
        return Err(line.error(format!("the block before has no end; expected one of {names}")));
    }
    Ok(())
}

impl Code {
    /// Reads a text.
    ///
    /// # Errors
    /// The first line that has no meaning: its place, and the allowed text there.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let (mut code, mut part, mut all) = (Self::default(), ListingPart::Nothing, lines(text));
        let mut known = Map::default();
        while let Some((number, text)) = all.next() {
            if !text.starts_with(' ') {
                is_ended(&part, &TextLine::new(text, number, &known))?;
                known = names(all.clone())?;
            }
            let mut line = TextLine::new(text, number, &known);
            if text.starts_with(' ') {
                code.take_line(&mut line, &mut part)?;
            } else {
                part = match line.one_of(&["code", "computed", "block"], "head of a part")? {
                    0 => {
                        flags!(code).into_iter().for_each(|(name, flag)| *flag = line.takes(name, false));
                        ListingPart::Head
                    }
                    1 => {
                        u32::take(&mut line, "from", true)?;
                        ListingPart::Computed
                    }
                    _ => {
                        let block = take_block(&mut line, code.blocks.len())?;
                        code.blocks.push(block);
                        ListingPart::Block { is_ended: false }
                    }
                };
            }
            line.end()?;
        }
        let after = text.lines().count() + 1;
        is_ended(&part, &TextLine::new("", after, &known))?;
        Ok(code)
    }

    fn take_line(&mut self, line: &mut TextLine<'_>, part: &mut ListingPart) -> Result<(), TextError> {
        match part {
            ListingPart::Nothing => return Err(line.error("expected `code` at the beginning of the text")),
            ListingPart::Head => {
                let before = line.clone();
                let name = line.begin().unwrap_or_default();
                match name.get(..1) {
                    Some("f") => self.fetches.push(Fetch::parse(line)?),
                    Some("s") => self.stores.push(Store::parse(line)?),
                    Some("y") => self.yields.push(Yield::parse(line)?),
                    Some("l") => self.locked.push(Locked::parse(line)?),
                    _ => {
                        let allowed = "expected a definition: `f0 = `, `s0 = `, `y0 = ` or `l0 = `, and a fetch, store, yield or locked range";
                        return Err(before.error(allowed));
                    }
                }
            }
            ListingPart::Computed => self.computed.push(Op::parse(line)?),
            ListingPart::Block { is_ended: true } => return Err(line.error("the block has ended; expected `block`")),
            ListingPart::Block { is_ended } => {
                let Some(block) = self.blocks.last_mut() else { return Ok(()) };
                if line.peek().is_some_and(|word| End::names().contains(&word)) {
                    block.end = End::parse(line)?;
                    *is_ended = true;
                } else {
                    let before = line.clone();
                    let op = Op::parse(line)?;
                    let is_named = before.clone().begin().is_some_and(Value::is_like);
                    let makes = op.is_pure() || matches!(op, Op::Fetch { .. });
                    if is_named != makes {
                        let expected = if makes { "expected `v0 = `: it makes a vector" } else { "it makes no vector" };
                        return Err(before.error(format!("`{}`: {expected}", op_text(&op))));
                    }
                    block.ops.push(op);
                }
            }
        }
        Ok(())
    }
}
