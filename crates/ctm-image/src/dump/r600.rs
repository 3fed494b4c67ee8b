//! Mesa's r600 driver: the assembler's dump in each of its forms, and that of the optimiser `sb`.

use super::{Cut, Dump, Family, is_comment, line_number};
use ctm_isa::r700::inst::{Cf, walk};
use ctm_isa::r700::ops::ExportType;
use ctm_isa::r700::program::Stage;
use std::collections::BTreeMap;
use std::ops::Range;

/// Dwords of a fetch.
const FETCH: u32 = 4;

/// A line with words.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordLine<'a> {
    /// The number of its first dword.
    index: u32,
    words: [u32; 4],
    count: u32,
    /// The text after the words.
    rest: &'a str,
}

impl<'a> WordLine<'a> {
    /// The words of a line: the first number of four or more decimal digits with a word of eight hexadecimal digits after it.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let start = line.as_ptr() as usize;
        let mut tokens = line.split_whitespace().peekable();
        while let Some(token) = tokens.next() {
            let digits = token.trim_start_matches(['>', '|', '+', '-', ':']);
            let numbered = (4..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
            if !numbered || tokens.peek().copied().and_then(word).is_none() {
                continue;
            }
            let mut found = Self { index: digits.parse().ok()?, words: [0; 4], count: 0, rest: "" };
            while let Some(token) = tokens.peek().copied()
                && let Some(word) = word(token)
                && found.count < FETCH
            {
                found.words[found.count as usize] = word;
                found.count += 1;
                tokens.next();
            }
            if let Some(token) = tokens.peek() {
                found.rest = &line[token.as_ptr() as usize - start..];
            }
            return Some(found);
        }
        None
    }

    /// Whether the name of an instruction follows the words.
    pub(super) fn names_instruction(&self) -> bool {
        let name = self.rest.split(|c: char| !c.is_ascii_uppercase() && c != '_').next().unwrap_or("");
        name.len() >= 2
    }

    /// Whether it is a literal: one dword with its value as a number.
    fn is_literal(&self) -> bool {
        self.count == 1 && !self.rest.starts_with(|c: char| c.is_ascii_uppercase())
    }
}

/// A word of exactly eight hexadecimal digits.
fn word(token: &str) -> Option<u32> {
    let eight = token.len() == 8 && token.bytes().all(|b| b.is_ascii_hexdigit());
    eight.then(|| u32::from_str_radix(token, 16).ok())?
}

/// Whether a line begins a program.
pub(super) fn is_header(line: &str) -> bool {
    assembler_header(line).is_some() || line.contains("===== SHADER #")
}

/// Registers and stack entries in `bytecode 8 dw -- 1 gprs -- 0 nstack`, and in `===== 8 dw ===== 1 gprs ===== 0 stack`.
fn sizes(line: &str) -> Option<[Option<u32>; 2]> {
    let mut found = [None; 2];
    let mut has_dwords = false;
    let mut before = None;
    for token in line.split_whitespace() {
        match token {
            "dw" => has_dwords = true,
            "gprs" => found[0] = before,
            "nstack" | "stack" => found[1] = before,
            number => before = number.parse().ok(),
        }
    }
    (has_dwords && found[0].is_some()).then_some(found)
}

fn assembler_header(line: &str) -> Option<[Option<u32>; 2]> {
    line.split_whitespace().any(|token| token.ends_with("bytecode")).then(|| sizes(line))?
}

/// The chip by the letter in the line after the header: `shader 1 -- 7`, or the letter alone.
fn family_of(line: &str) -> Option<Family> {
    let mut tokens = line.split_whitespace().filter(|token| !is_rule(token));
    let letter = if tokens.clone().any(|token| token == "shader") {
        tokens.next_back()?
    } else {
        tokens.next().filter(|_| tokens.next().is_none())?
    };
    match letter {
        "6" => Some(Family::R600),
        "7" => Some(Family::R700),
        "E" => Some(Family::Evergreen),
        "C" => Some(Family::Cayman),
        _ => None,
    }
}

/// Whether a word is a quote mark, or part of a line of dashes.
fn is_rule(token: &str) -> bool {
    token.chars().all(|c| "->|+".contains(c))
}

/// The stage and the chip in `PS/RV770/R700`.
fn target_of(line: &str) -> Option<(Option<Stage>, Option<Family>)> {
    let target = line.split_whitespace().find(|token| token.matches('/').count() == 2)?;
    let mut parts = target.split('/');
    let stage = match parts.next()? {
        "PS" => Some(Stage::Pixel),
        "VS" => Some(Stage::Vertex),
        "ES" => Some(Stage::Export),
        "GS" => Some(Stage::Geometry),
        "FETCH" | "FS" => Some(Stage::Fetch),
        "CS" | "COMPUTE" => Some(Stage::Compute),
        _ => None,
    };
    let family = match parts.next_back()? {
        "R600" => Some(Family::R600),
        "R700" => Some(Family::R700),
        "EVERGREEN" | "EG" => Some(Family::Evergreen),
        "CAYMAN" | "CM" => Some(Family::Cayman),
        _ => None,
    };
    Some((stage, family))
}

/// A program as its lines are read.
#[derive(Default)]
struct DumpReader {
    name: Option<String>,
    line: u32,
    family: Option<Family>,
    stage: Option<Stage>,
    sizes: [Option<u32>; 2],
    /// The header's next line may name the chip.
    wants_family: bool,
    words: BTreeMap<u32, u32>,
    /// Dwords that the dump leaves out where they are padding.
    pads: Vec<u32>,
}

pub(super) fn read(text: &str) -> Vec<Dump> {
    let mut all = Vec::new();
    let mut current = DumpReader::default();
    let finish = |current: &mut DumpReader, all: &mut Vec<Dump>| {
        if let Some(dump) = std::mem::take(current).finish() {
            all.push(dump);
        }
    };
    for (i, line) in text.lines().enumerate() {
        if is_comment(line) {
            continue;
        }
        if let Some(sizes) = assembler_header(line) {
            finish(&mut current, &mut all);
            current = DumpReader { line: line_number(i), sizes, wants_family: true, ..DumpReader::default() };
            continue;
        }
        if let Some(at) = line.find("===== SHADER #") {
            finish(&mut current, &mut all);
            let (stage, family) = target_of(line).unwrap_or_default();
            let name = line[at..].trim_matches(['=', ' ']);
            let name = name.split('=').next().unwrap_or("").trim().to_owned();
            current = DumpReader { name: Some(name), line: line_number(i), stage, family, ..DumpReader::default() };
            continue;
        }
        if line.contains("===== SHADER_END") {
            finish(&mut current, &mut all);
            continue;
        }
        if let Some(found) = WordLine::of(line) {
            if found.index == 0 && !current.words.is_empty() || current.words.contains_key(&found.index) {
                finish(&mut current, &mut all);
            }
            current.add(found, line_number(i));
            continue;
        }
        if current.words.is_empty() {
            current.header(line);
        }
    }
    finish(&mut current, &mut all);
    all
}

impl DumpReader {
    /// A line after the header, in front of the first word.
    fn header(&mut self, line: &str) {
        if self.wants_family && !line.split_whitespace().all(is_rule) {
            self.wants_family = false;
            self.family = family_of(line);
            let number = line.split_once("shader ").and_then(|(_, rest)| rest.split_whitespace().next());
            self.name = number.map(|number| format!("shader {number}"));
        } else if self.name.is_some()
            && let Some(sizes) = sizes(line)
        {
            self.sizes = sizes;
        }
    }

    fn add(&mut self, line: WordLine<'_>, number: u32) {
        if self.line == 0 {
            self.line = number;
        }
        for (i, &word) in (0..).zip(&line.words[..line.count as usize]) {
            self.words.insert(line.index + i, word);
        }
        if line.count == FETCH - 1 || line.is_literal() && line.index.is_multiple_of(2) {
            self.pads.push(line.index + line.count);
        }
    }

    /// The program, if there are words.
    fn finish(mut self) -> Option<Dump> {
        for &pad in &self.pads {
            self.words.entry(pad).or_insert(0);
        }
        let end = (self.words.last_key_value()?.0 + 1).next_multiple_of(2);
        let gaps = gaps(&self.words, end);
        // The gaps of a dump are smaller than the rest; a number far off would take memory for nothing.
        let scattered = end as usize > 4 * self.words.len() + 1024;
        let mut words = vec![0; if scattered { 0 } else { end as usize }];
        let cut = if scattered {
            Some(Cut::Missing(gaps))
        } else {
            self.words.iter().for_each(|(&at, &word)| words[at as usize] = word);
            cut(&words, &gaps)
        };
        let small = |size: Option<u32>| size.and_then(|size| u8::try_from(size).ok());
        Some(Dump {
            family: self.family,
            name: self.name.unwrap_or_else(|| "program".to_owned()),
            line: self.line,
            stage: self.stage.or_else(|| stage_of(&words)),
            words,
            gprs: small(self.sizes[0]),
            stack: small(self.sizes[1]),
            cut,
        })
    }
}

/// The dwords in front of `end` that no line has.
fn gaps(words: &BTreeMap<u32, u32>, end: u32) -> Vec<Range<u32>> {
    let mut gaps = Vec::new();
    let mut next = 0;
    for at in words.keys().copied().chain([end]) {
        if at > next {
            gaps.push(next..at);
        }
        next = at + 1;
    }
    gaps
}

/// Words that a program needs and the dump lacks. Clauses are aligned, so unused gaps exist; the size in the header may count
/// padding after the last word.
fn cut(words: &[u32], gaps: &[Range<u32>]) -> Option<Cut> {
    let end = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let mut missing = Vec::new();
    let mut goes_on = false;
    let mut need = |range: Range<u32>| {
        goes_on |= range.end > end;
        for gap in gaps.iter().filter(|gap| gap.start < range.end && range.start < gap.end) {
            let part = gap.start.max(range.start)..gap.end.min(range.end);
            if !missing.contains(&part) {
                missing.push(part);
            }
        }
    };
    for (slot, _, cf) in walk(words, 0) {
        need(slot * 2..slot * 2 + 2);
        let Ok(cf) = cf else { continue };
        if let Some((first, slots)) = cf.clause() {
            need(first.saturating_mul(2)..first.saturating_add(slots).saturating_mul(2));
        }
        if !cf.ends_program() && (slot + 1) * 2 == end {
            need(end..end + 2);
        }
    }
    missing.sort_by_key(|range| range.start);
    if missing.is_empty() { goes_on.then_some(Cut::End) } else { Some(Cut::Missing(missing)) }
}

/// The stage that a program's exports show.
fn stage_of(words: &[u32]) -> Option<Stage> {
    walk(words, 0).into_iter().find_map(|(_, _, cf)| match cf {
        Ok(Cf::Export(export)) => match export.kind {
            ExportType::Pixel => Some(Stage::Pixel),
            ExportType::Pos | ExportType::Param => Some(Stage::Vertex),
        },
        _ => None,
    })
}
