//! A program as lines, and the line of each instruction.

use crate::glsl::GlslLines;
use ctm_exec::observe::{At, WatchedIsa};
use ctm_files::render::Source;
use ctm_isa::r700::inst::ClauseBody;
use ctm_isa::{r700, x1k};
use ctm_jobs::job::{AnyProgram, PassProgram};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A line of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// The instructions of the line.
    pub at: Vec<At>,
}

/// A program as lines.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Which machine.
    pub isa: WatchedIsa,
    /// The file, or another name of the text.
    pub name: String,
    /// The lines, from line 1.
    pub lines: Vec<Line>,
    /// The GLSL that it was compiled from, where it is known.
    pub glsl: Option<Arc<GlslLines>>,
    line_of: BTreeMap<At, usize>,
    /// R700: the line of each instruction of a group, by the bit of its unit (x = 0 to t = 4).
    slot_of: BTreeMap<(At, u8), usize>,
    labels: BTreeMap<String, usize>,
}

impl Listing {
    /// Of the program of a pass: its source where it came from text, otherwise its disassembly.
    #[must_use]
    pub fn new(pass: &PassProgram) -> Self {
        let main = match &pass.program {
            AnyProgram::X1k(program) => Self::x1k(program, pass.source.as_ref()),
            AnyProgram::R700(program) => Self::r700(program, pass.source.as_ref(), false),
        };
        match &pass.fetch {
            Some(fetch) => main.with(Self::r700(fetch, None, true)),
            None => main,
        }
    }

    fn x1k(program: &x1k::Program, source: Option<&Arc<Source>>) -> Self {
        let mut places = BTreeMap::new();
        let mut note = |program: &x1k::Program| {
            for (pc, span) in (0..).zip(&program.spans) {
                places.insert(At { pc, ..At::default() }, span.start);
            }
        };
        let source = match source {
            Some(source) if program.spans.len() == program.words.len() => {
                note(program);
                Arc::clone(source)
            }
            _ => {
                let text = x1k::text::disassemble(program, &x1k::text::ListingOptions::default());
                if let Some(again) = x1k::text::assemble(&text).program.filter(|p| p.words.len() == program.words.len())
                {
                    note(&again);
                }
                Arc::new(Source::new("disassembly", text))
            }
        };
        Self::of(WatchedIsa::X1k, &source, places)
    }

    fn r700(program: &r700::Program, source: Option<&Arc<Source>>, fetch: bool) -> Self {
        let mut places = BTreeMap::new();
        let mut slots = BTreeMap::new();
        let mut note = |program: &r700::Program| {
            let span = |slot: u32| program.spans.get(slot as usize).map(|span| span.start);
            for entry in &program.decode().entries {
                let at = At { pc: entry.addr, item: None, fetch };
                places.extend(span(entry.addr).map(|start| (at, start)));
                let Some((mut slot, _)) = entry.cf.as_ref().ok().and_then(|cf| cf.clause()) else { continue };
                if let ClauseBody::Alu(clause) = &entry.clause {
                    for (item, group) in (0..).zip(&clause.groups) {
                        for (n, one) in (slot + group.offset..).zip(&group.slots) {
                            let at = At { item: Some(item), ..at };
                            slots.extend(span(n).map(|start| ((at, one.unit as u8), start)));
                        }
                    }
                }
                let sizes: Vec<u32> = match &entry.clause {
                    ClauseBody::Alu(clause) => clause.groups.iter().map(r700::inst::Group::size).collect(),
                    ClauseBody::Fetch(clause) => vec![2; clause.fetches.len()],
                    ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => Vec::new(),
                };
                for (item, size) in (0..).zip(sizes) {
                    places.extend(span(slot).map(|start| (At { item: Some(item), ..at }, start)));
                    slot += size;
                }
            }
        };
        let source = match source {
            Some(source) if !program.spans.is_empty() => {
                note(program);
                Arc::clone(source)
            }
            _ => {
                let options = r700::text::TextOptions::default();
                let text = r700::text::disassemble(program, &options);
                if let Some(again) = r700::text::assemble(&text, &options).program {
                    note(&again);
                }
                Arc::new(Source::new(if fetch { "fetch program" } else { "disassembly" }, text))
            }
        };
        let slot_of = slots.into_iter().map(|(of, start)| (of, source.line_column(start).0)).collect();
        Self { slot_of, ..Self::of(WatchedIsa::R700, &source, places) }
    }

    fn of(isa: WatchedIsa, source: &Source, places: BTreeMap<At, u32>) -> Self {
        let mut lines: Vec<Line> =
            source.text().lines().map(|text| Line { text: text.to_owned(), at: Vec::new() }).collect();
        let mut line_of = BTreeMap::new();
        for (at, start) in places {
            let line = source.line_column(start).0;
            if let Some(entry) = lines.get_mut(line - 1) {
                entry.at.push(at);
                line_of.insert(at, line);
            }
        }
        let mut labels = BTreeMap::new();
        for (n, line) in (1..).zip(&lines) {
            let word = line.text.split(';').next().unwrap_or("").trim();
            if let Some((name, _)) = word.split_once(':')
                && isa == WatchedIsa::X1k
                && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !name.is_empty()
            {
                labels.insert(name.to_owned(), n);
            }
        }
        Self { isa, name: source.name().to_owned(), lines, glsl: None, line_of, slot_of: BTreeMap::new(), labels }
    }

    /// The lines of another program after these.
    fn with(mut self, other: Self) -> Self {
        let shift = self.lines.len() + 1;
        self.lines.push(Line { text: format!("; {}", other.name), at: Vec::new() });
        self.lines.extend(other.lines);
        self.line_of.extend(other.line_of.into_iter().map(|(at, line)| (at, line + shift)));
        self.slot_of.extend(other.slot_of.into_iter().map(|(of, line)| (of, line + shift)));
        self
    }

    /// The line of an instruction, from 1; of a clause's control-flow instruction where its items have none.
    #[must_use]
    pub fn line(&self, at: At) -> Option<usize> {
        self.line_of.get(&at).or_else(|| self.line_of.get(&At { item: None, ..at })).copied()
    }

    /// The line of the instruction of a group that makes one of its results, by the result's bits ([`Write::part`](ctm_exec::observe::Write::part)); otherwise
    /// as [`Self::line`].
    #[must_use]
    pub fn line_of_part(&self, at: At, part: u8) -> Option<usize> {
        let unit = u8::try_from(part.trailing_zeros()).unwrap_or(u8::MAX);
        let slot = if part.count_ones() == 1 { self.slot_of.get(&(at, unit)).copied() } else { None };
        slot.or_else(|| self.line(at))
    }

    /// The place of an instruction in the text, in words: `line 25 of mandelbrot.x1k`, `lines 37 to 41 of mandelbrot.psh` for a group of several; empty where it has
    /// none.
    #[must_use]
    pub fn place(&self, at: At) -> String {
        let Some(line) = self.line(at) else { return String::new() };
        let last = self.slot_of.range((at, 0)..=(at, u8::MAX)).map(|(_, &line)| line).max().unwrap_or(line);
        let lines = if last > line { format!("lines {line} to {last}") } else { format!("line {line}") };
        format!("{lines} of {}", self.name)
    }

    /// Lines with their lines of the GLSL, in the order of the listing; none where there is no GLSL.
    #[must_use]
    pub fn glsl_pairs(&self) -> Vec<(usize, usize)> {
        let mut all = BTreeMap::new();
        for (at, unit, line) in self.glsl.iter().flat_map(|glsl| glsl.instructions()) {
            let own = match unit {
                Some(unit) => self.line_of_part(at, 1 << unit),
                None => self.line(at),
            };
            all.extend(own.map(|own| (own, line)));
        }
        all.into_iter().collect()
    }

    /// The line of the GLSL for an instruction, as [`Self::glsl_of_part`].
    #[must_use]
    pub fn glsl_of(&self, at: At) -> String {
        let Some(glsl) = &self.glsl else { return String::new() };
        let line = glsl.line(at);
        line.map_or_else(String::new, |line| format!("{} line {line}: {}", glsl.name, glsl.text(line)))
    }

    /// The line of the GLSL for that result, with the file's name and the line's text: `skin.frag line 8: float light = ...`; empty where none is known.
    #[must_use]
    pub fn glsl_of_part(&self, at: At, part: u8) -> String {
        let Some(glsl) = &self.glsl else { return String::new() };
        let line = glsl.line_of_part(at, part);
        line.map_or_else(String::new, |line| format!("{} line {line}: {}", glsl.name, glsl.text(line)))
    }

    /// The text of that line without the space around it.
    #[must_use]
    pub fn text_of_part(&self, at: At, part: u8) -> &str {
        self.line_of_part(at, part).and_then(|line| self.lines.get(line - 1)).map_or("", |line| line.text.trim())
    }

    /// The text of an instruction without the space around it.
    #[must_use]
    pub fn text(&self, at: At) -> &str {
        self.line(at).and_then(|line| self.lines.get(line - 1)).map_or("", |line| line.text.trim())
    }

    /// The first instruction on a line or after it.
    #[must_use]
    pub fn at_line(&self, line: usize) -> Option<At> {
        self.lines.get(line.checked_sub(1)?..)?.iter().find_map(|line| line.at.first().copied())
    }

    /// The first instruction after a label.
    #[must_use]
    pub fn at_label(&self, label: &str) -> Option<At> {
        self.labels.get(label).and_then(|&line| self.at_line(line))
    }

    /// Every instruction in order.
    pub fn instructions(&self) -> impl Iterator<Item = At> + '_ {
        self.line_of.keys().copied()
    }
}
