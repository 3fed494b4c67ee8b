//! Mesa's r300 driver: fragment programs of the R500.

use super::{Cut, Dump, Family, is_comment, line_number};
use crate::hex::X1K_WORDS;

/// The name of a word and its place in the instruction, as the driver prints them for every type of instruction.
const WORDS: &[(&str, usize)] = &[
    ("CMN_INST", 0),
    ("RGB_ADDR", 1),
    ("ALPHA_ADDR", 2),
    ("RGB_INST", 3),
    ("ALPHA_INST", 4),
    ("RGBA_INST", 5),
    ("TEX_INST", 1),
    ("TEX_ADDR", 2),
    ("TEX_DXDY", 3),
    ("TEX_ADDR_DXDY", 3),
    ("FC_INST", 2),
    ("FC_ADDR", 3),
];
/// The words that an instruction of each type (the lowest two bits of `US_CMN_INST`: ALU, OUT, FC, TEX) must have.
const NEEDED: [&[usize]; 4] = [&[1, 2, 3, 4, 5], &[1, 2, 3, 4, 5], &[2, 3], &[1, 2, 3]];

/// A line with a word: its place, the word, and the text in front of the name.
fn line_of(line: &str) -> Option<(usize, u32, &str)> {
    let at = line.find("0x")?;
    let before = &line[..at];
    let name = before.trim_end_matches([' ', '\t', ':']);
    let is_other = |c: char| !c.is_ascii_uppercase() && c != '_';
    let start = name.char_indices().rev().find(|&(_, c)| is_other(c)).map_or(0, |(i, c)| i + c.len_utf8());
    let place = WORDS.iter().find(|row| row.0 == &name[start..])?.1;
    let digits = line[at + 2..].split(|c: char| !c.is_ascii_hexdigit()).next()?;
    let word = (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok())??;
    Some((place, word, &name[..start]))
}

/// Whether a line has the first word of an instruction.
pub(super) fn is_first_word(line: &str) -> bool {
    matches!(line_of(line), Some((0, ..)))
}

/// The number of an instruction in front of `0:CMN_INST`.
fn number_of(before: &str) -> Option<u32> {
    let before = before.trim_end().trim_end_matches(':').trim_end();
    let before = before.strip_suffix('0').unwrap_or(before);
    let token = before.split([' ', '\t', '>', '|']).rfind(|token| !token.is_empty())?;
    token.trim_end_matches(':').parse().ok()
}

/// A program as its lines are read.
struct DumpReader {
    line: u32,
    /// The number and the words of each instruction.
    instructions: Vec<(u32, [Option<u32>; X1K_WORDS])>,
}

pub(super) fn read(text: &str) -> Vec<Dump> {
    let mut all: Vec<DumpReader> = Vec::new();
    // A header, or a line that belongs to nothing, ends a program.
    let mut fresh = true;
    for (i, line) in text.lines().enumerate() {
        if is_comment(line) {
            continue;
        }
        if line.contains("R500 Fragment Program") {
            fresh = true;
        }
        let Some((place, word, before)) = line_of(line) else { continue };
        let next = all.last().filter(|_| !fresh).and_then(|r| r.instructions.last()).map(|(n, _)| n + 1);
        if place == 0 {
            let number = number_of(before).or(next).unwrap_or(0);
            if fresh || number < next.unwrap_or(0) {
                all.push(DumpReader { line: line_number(i), instructions: Vec::new() });
            }
            fresh = false;
            if let Some(reader) = all.last_mut() {
                reader.instructions.push((number, [None; X1K_WORDS]));
            }
        }
        if let Some((_, words)) = all.last_mut().filter(|_| !fresh).and_then(|r| r.instructions.last_mut()) {
            words[place].get_or_insert(word);
        }
    }
    let count = all.len();
    all.into_iter().enumerate().map(|(i, reader)| reader.finish((count > 1).then_some(i))).collect()
}

impl DumpReader {
    fn finish(mut self, index: Option<usize>) -> Dump {
        let whole = |words: &[Option<u32>; X1K_WORDS]| {
            let kind = words[0].unwrap_or(0) & 3;
            NEEDED[kind as usize].iter().all(|&place| words[place].is_some())
        };
        let mut missing = Vec::new();
        let mut end = false;
        if self.instructions.last().is_some_and(|(_, words)| !whole(words)) {
            self.instructions.pop();
            end = true;
        }
        let mut next = 0;
        for (number, words) in &self.instructions {
            if *number > next {
                missing.push(next..*number);
            }
            if !whole(words) {
                missing.push(*number..*number + 1);
            }
            next = number + 1;
        }
        let cut = if missing.is_empty() { end.then_some(Cut::End) } else { Some(Cut::Missing(missing)) };
        let words = self.instructions.iter().flat_map(|(_, words)| words.map(Option::unwrap_or_default)).collect();
        Dump {
            family: Some(Family::R500),
            name: index.map_or_else(|| "fragment program".to_owned(), |i| format!("fragment program {i}")),
            line: self.line,
            words,
            stage: None,
            gprs: None,
            stack: None,
            cut,
        }
    }
}
