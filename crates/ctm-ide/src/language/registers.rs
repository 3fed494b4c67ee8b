//! Which register a word means, whose value it reads, and live ranges beside the lines.

use super::words::WordForm;
use super::{Document, Language};
use ctm_isa::diag::Span;
use ctm_isa::live::LiveValue;
use std::collections::HashMap;
use std::fmt::Write as _;

/// Something that an editor shows after a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The end of the line's code.
    pub offset: usize,
    /// A few words: `r3.rg to line 24; 5 live`.
    pub text: String,
    /// The whole of it.
    pub tooltip: String,
}

const CHANNELS: [[char; 4]; 2] = [['r', 'g', 'b', 'a'], ['x', 'y', 'z', 'w']];

/// The elements that a swizzle or mask names; all where it names none.
fn mask_of(channels: &str) -> u8 {
    let bit = |c: char| CHANNELS.iter().find_map(|letters| letters.iter().position(|&l| l == c));
    let mask = channels.chars().filter_map(bit).fold(0, |mask, n| mask | 1 << n);
    if mask == 0 { 0xf } else { mask }
}

impl Document {
    /// The register that a name or register means: `r3`, `z`, `R12`.
    pub(super) fn register(&self, word: &str) -> Option<u8> {
        let letter = match self.language {
            Language::X1k | Language::Pvs => 'r',
            Language::R700 => 'R',
        };
        let of = |word: &str| word.strip_prefix(letter)?.parse::<u8>().ok().filter(|&n| n < 128);
        of(word).or_else(|| of(self.stands_for(word)?.as_str()))
    }

    /// The channels after a word.
    fn channels_behind(&self, at: usize) -> u8 {
        let word = self.words.get(at + 1).filter(|word| word.form == WordForm::Dotted);
        mask_of(word.map_or("", |word| self.of(word)))
    }

    /// The slots of the instructions on a line.
    fn slots_on(&self, line: usize) -> Vec<u32> {
        let first = self.slots.partition_point(|&(of, _)| of < line);
        self.slots[first..].iter().take_while(|&&(of, _)| of == line).map(|&(_, slot)| slot).collect()
    }

    fn line_of_slot(&self, slot: u32) -> Option<usize> {
        let span = self.spans().get(slot as usize).filter(|span| span.end > span.start)?;
        Some(self.line_of(span.start as usize))
    }

    /// The writers of the register value at an offset; for a written register, its readers.
    #[must_use]
    pub fn register_places(&self, offset: usize) -> Vec<Span> {
        let Some(at) = self.word_at(offset) else { return Vec::new() };
        // On channels: the register in front.
        let at = if self.words[at].form == WordForm::Dotted { at.saturating_sub(1) } else { at };
        let word = &self.words[at];
        let (Some(register), Some(live)) = (self.register(self.of(word)), &self.live) else { return Vec::new() };
        let (mask, slots) = (self.channels_behind(at), self.slots_on(word.line));
        let of_register = |value: &&LiveValue| value.register == register && value.mask & mask != 0;
        let reading = live.values.iter().filter(of_register).filter(|v| v.readers.iter().any(|r| slots.contains(r)));
        let mut found: Vec<u32> = reading.map(|value| value.slot).collect();
        if found.is_empty() {
            let writing = live.values.iter().filter(of_register).filter(|v| slots.contains(&v.slot));
            found = writing.flat_map(|value| value.readers.iter().copied()).collect();
        }
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|slot| self.spans().get(slot as usize).copied()).collect()
    }

    /// A description of a register at a place.
    pub(super) fn register_story(&self, at: usize) -> String {
        let word = &self.words[at];
        let mut out = String::new();
        let Some(register) = self.register(self.of(word)) else { return out };
        let Some(live) = &self.live else { return out };
        let slots = self.slots_on(word.line);
        let lines = |slots: &[u32]| {
            let mut lines: Vec<usize> = slots.iter().filter_map(|&s| self.line_of_slot(s)).map(|n| n + 1).collect();
            lines.dedup();
            let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
            shown.join(", ")
        };
        for value in live.values.iter().filter(|value| value.register == register) {
            let name = self.element_name(value);
            if value.readers.iter().any(|reader| slots.contains(reader)) {
                let _ = writeln!(out, "- `{name}` was written on line {}", lines(&[value.slot]));
            }
            if slots.contains(&value.slot) {
                if value.readers.is_empty() {
                    let _ = writeln!(out, "- `{name}` is never read");
                } else {
                    let _ = writeln!(out, "- `{name}` is read on line {}", lines(&value.readers));
                }
            }
        }
        out
    }

    fn element_name(&self, value: &LiveValue) -> String {
        let (letter, channels) = match self.language {
            Language::X1k => ('r', CHANNELS[0]),
            Language::R700 => ('R', CHANNELS[1]),
            Language::Pvs => ('r', CHANNELS[1]),
        };
        let of: String = (0..4).filter(|n| value.mask >> n & 1 == 1).map(|n| channels[n]).collect();
        format!("{letter}{}.{of}", value.register)
    }

    /// Live ranges, for the lines `from..to` counted from 0: how far each value lives that a line writes, and how many elements of registers are live before it.
    #[must_use]
    pub fn hints(&self, from: usize, to: usize) -> Vec<Hint> {
        let Some(live) = self.live.as_ref().filter(|live| !live.incomplete) else { return Vec::new() };
        let mut written: HashMap<u32, Vec<&LiveValue>> = HashMap::new();
        live.values.iter().for_each(|value| written.entry(value.slot).or_default().push(value));
        let pressure: HashMap<u32, u32> = live.pressure.iter().map(|&(slot, count)| (slot, count)).collect();
        let mut found = Vec::new();
        let mut base = 0;
        for (line, text) in self.text.split_inclusive('\n').enumerate().take(to) {
            let start = base;
            base += text.len();
            if line < from {
                continue;
            }
            let slots = self.slots_on(line);
            let (mut short, mut long) = (Vec::new(), String::new());
            for &value in slots.iter().filter_map(|slot| written.get(slot)).flatten() {
                let name = self.element_name(value);
                let mut lines: Vec<usize> = value.readers.iter().filter_map(|&slot| self.line_of_slot(slot)).collect();
                lines.sort_unstable();
                lines.dedup();
                let last = lines.iter().filter(|&&reader| reader > line).max();
                let again = lines.iter().any(|&reader| reader <= line);
                short.push(match (last, again) {
                    (None, false) => format!("{name} unread"),
                    (None, true) => format!("{name} to the next turn"),
                    (Some(last), _) => format!("{name} to {}", last + 1),
                });
                let shown: Vec<String> = lines.iter().map(|n| (n + 1).to_string()).collect();
                let _ = match lines.as_slice() {
                    [] => writeln!(long, "{name}: nothing reads it"),
                    _ => writeln!(long, "{name}: read on line {}", shown.join(", ")),
                };
            }
            let before = slots.iter().find_map(|slot| pressure.get(slot));
            if let Some(count) = before {
                short.push(format!("{count} live"));
                let _ =
                    writeln!(long, "{count} elements of registers hold a value before this line that is still read");
            }
            if !short.is_empty() {
                let code = super::words::code_end(self.language, text.trim_end_matches(['\n', '\r']));
                let offset = start + text[..code].trim_end().len();
                found.push(Hint { offset, text: short.join("; "), tooltip: long.trim_end().to_owned() });
            }
        }
        found
    }
}
