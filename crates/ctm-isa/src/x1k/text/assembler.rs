//! Whole programs: lines to slots, labels, constants, hazards, program information.

mod explain;

use super::alu;
use super::attrs::Attrs;
use super::constants::{Pool, needs_pool};
use super::directive::{DIRECTIVES, Information, PLACED};
use super::flow::{self, Blocks, JumpTarget, Line};
use super::hazards::{Bits, derive};
use super::lexer::{Cursor, Tok, Token, tokens, unknown_word, with_near};
use super::listing::{hazard_bits, set_hazard_bits};
use super::mnemonics;
use super::names::Names;
use super::pair::Pair;
use super::sources::encode;
use super::{EMPTY_OUTPUT, Parse, tex};
use crate::diag::{Diagnostic, Severity, Span};
use crate::suggest::Suggester;
use crate::x1k::inst::{FcInstruction, Inst, Source};
use crate::x1k::program::{Literal, Preload, Program, Usage};
use crate::x1k::{INSTRUCTION_SLOTS, Words};
use explain::{each_source, explain_numbers, no_assignment};
use std::collections::{BTreeSet, HashMap};

/// The result of [`assemble`].
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// The program; `None` if any diagnostic is an error.
    pub program: Option<Program>,
    /// Everything that was found, in the order of the lines.
    pub diagnostics: Vec<Diagnostic>,
    /// The assembler's choices for open fields, in the order of the slots.
    pub explanations: Vec<Explanation>,
}

/// Something that the assembler chose: where a number went, which wait it set and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The statement it is about; empty for added instructions.
    pub span: Span,
    /// The slot it is about, if it is about one.
    pub pc: Option<u32>,
    /// The choice, in a few words.
    pub text: String,
}

/// A slot before its words are known.
enum SlotBody<'a> {
    Alu(Box<Pair>),
    Tex(tex::Tex),
    Fc(Box<FcInstruction>, Option<JumpTarget<'a>>),
    Words(Words),
    /// The empty OUTPUT that ends a program.
    End,
}

struct AssembledSlot<'a> {
    body: SlotBody<'a>,
    attrs: Attrs,
    span: Span,
}

/// The approximate number of mnemonics that an unknown one is compared with.
const MNEMONICS: usize = 150;

/// Assembles a source file (`docs/x1k-assembly.md`).
///
/// Lines are read independently, so that one run reports the errors of all of them.
///
/// ```
/// let assembly = ctm_isa::x1k::text::assemble("mov o0, r0\n");
/// let program = assembly.program.expect("no errors");
/// assert_eq!(program.words.len(), 1);
/// ```
#[must_use]
pub fn assemble(source: &str) -> Assembly {
    let mut assembler = Assembler::default();
    let lines = assembler.lines(source);
    assembler.directives(&lines);
    for line in &lines {
        if let Err(finding) = assembler.line(line) {
            assembler.diagnostics.push(*finding);
        }
    }
    let program = assembler.finish(source);
    // Findings of the directives came first; readers expect them by line.
    assembler.diagnostics.sort_by_key(|d| d.labels.first().map_or(u32::MAX, |l| l.span.start));
    // Consequences of a name that could not be declared are not reported.
    let names = &assembler.names;
    assembler.diagnostics.retain(|d| {
        let at = d.labels.first().map_or(0, |label| (label.span.start as usize).min(source.len()));
        let start = source[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = source[start..].lines().next().unwrap_or("");
        let code = line.split(';').next().unwrap_or("").trim();
        d.severity != Severity::Error || code.starts_with('.') || !names.has_refused(code)
    });
    let failed = assembler.diagnostics.iter().any(|d| d.severity == Severity::Error);
    Assembly {
        program: program.filter(|_| !failed),
        diagnostics: assembler.diagnostics,
        explanations: assembler.explanations,
    }
}

struct SourceLine<'a> {
    tokens: Vec<Token<'a>>,
    end: u32,
}

#[derive(Default)]
struct Assembler<'a> {
    diagnostics: Vec<Diagnostic>,
    explanations: Vec<Explanation>,
    names: Names<'a>,
    information: Information,
    slots: Vec<AssembledSlot<'a>>,
    blocks: Blocks,
    labels: HashMap<&'a str, (usize, Span)>,
    entry: Option<JumpTarget<'a>>,
    last: Option<JumpTarget<'a>>,
    end: Option<(usize, Span)>,
    suggester: Suggester,
}

impl<'a> Assembler<'a> {
    fn error(&mut self, finding: Diagnostic) {
        self.diagnostics.push(finding);
    }

    fn lines(&mut self, source: &'a str) -> Vec<SourceLine<'a>> {
        let mut lines = Vec::new();
        let mut base = 0;
        for text in source.split_inclusive('\n') {
            let line = text.trim_end_matches(['\n', '\r']);
            let mut list = Vec::new();
            if let Err(finding) = tokens(line, base, &mut list) {
                self.diagnostics.push(*finding);
                list.clear();
            }
            lines.push(SourceLine { tokens: list, end: base + line.len() as u32 });
            base += text.len() as u32;
        }
        lines
    }

    /// The first pass: everything that says something about the whole program.
    fn directives(&mut self, lines: &[SourceLine<'a>]) {
        for line in lines {
            let Some(Token { tok: Tok::Dotted(name), span, .. }) = line.tokens.first() else { continue };
            if PLACED.contains(name) {
                continue;
            }
            let mut cursor = Cursor::new(&line.tokens, line.end);
            cursor.advance();
            match self.information.parse(name, *span, &mut cursor, &mut self.names) {
                Ok(warning) => self.diagnostics.extend(warning),
                Err(finding) => self.diagnostics.push(*finding),
            }
        }
    }

    /// The second pass: labels and instructions.
    fn line(&mut self, line: &SourceLine<'a>) -> Parse<()> {
        let mut cursor = Cursor::new(&line.tokens, line.end);
        while let (Some(Tok::Word(word)), Some(Tok::Punct(':'))) = (cursor.peek(), cursor.peek_after(1)) {
            let span = cursor.span();
            cursor.advance();
            cursor.advance();
            if let Some((_, old)) = self.labels.insert(word, (self.slots.len(), span)) {
                self.error(
                    Diagnostic::error("label", format!("the label `{word}` stands twice"))
                        .at(span, "")
                        .at(old, "first here"),
                );
            }
        }
        if cursor.is_at_end() {
            return Ok(());
        }
        let start = cursor.span();
        if let Some(Tok::Dotted(name)) = cursor.peek() {
            cursor.advance();
            return match *name {
                "word" => self.word(&mut cursor, start),
                "entry" => {
                    self.entry = Some(self.place(&mut cursor, self.slots.len())?);
                    Ok(())
                }
                "last" => {
                    let above = self.slots.len().saturating_sub(1);
                    self.last = Some(self.place(&mut cursor, above)?);
                    Ok(())
                }
                // Anything else was read, or found unknown, before; a label in front hid it.
                name if line.tokens.first().is_some_and(|t| matches!(t.tok, Tok::Dotted(_))) => {
                    let _ = name;
                    Ok(())
                }
                _ => Err(cursor.unexpected("an instruction: a directive has a line of its own")),
            };
        }
        let (body, attrs) = self.statement(&mut cursor)?;
        let span = cursor.span_from(start);
        if let Some(body) = body {
            if matches!(body, SlotBody::End) {
                self.ends_here(span)?;
            }
            self.slots.push(AssembledSlot { body, attrs, span });
        }
        Ok(())
    }

    fn ends_here(&mut self, span: Span) -> Parse<()> {
        match self.end.replace((self.slots.len(), span)) {
            None => Ok(()),
            Some((_, old)) => Err(Box::new(
                Diagnostic::error("flow", "the program ends twice")
                    .at(span, "")
                    .at(old, "it ends here")
                    .cite("CTM §3.1")
                    .help("a program ends at one instruction: jump there, or put subroutines behind it"),
            )),
        }
    }

    /// `.word` and its six numbers.
    fn word(&mut self, cursor: &mut Cursor<'_, 'a>, start: Span) -> Parse<()> {
        let mut words = [0; 6];
        for (i, word) in words.iter_mut().enumerate() {
            if i > 0 {
                cursor.expect(',', "between the six words")?;
            }
            *word = cursor.integer("a word", u32::MAX)?;
        }
        if !cursor.is_at_end() {
            return Err(cursor.unexpected("the end of the line"));
        }
        let span = cursor.span_from(start);
        self.slots.push(AssembledSlot { body: SlotBody::Words(words), attrs: Attrs::default(), span });
        Ok(())
    }

    /// The optional place of `.entry` and `.last`.
    fn place(&self, cursor: &mut Cursor<'_, 'a>, default: usize) -> Parse<JumpTarget<'a>> {
        let span = cursor.span();
        let target = match cursor.peek() {
            None => JumpTarget::Address(default as u16),
            Some(Tok::Number(_)) => JumpTarget::Address(cursor.integer("the address", u32::from(u16::MAX))? as u16),
            _ => JumpTarget::Label(cursor.word("a label or an address")?, span),
        };
        if cursor.is_at_end() { Ok(target) } else { Err(cursor.unexpected("the end of the line")) }
    }

    fn statement(&mut self, cursor: &mut Cursor<'_, 'a>) -> Parse<(Option<SlotBody<'a>>, Attrs)> {
        let ahead = behind_predicate(cursor);
        let word = match cursor.peek_after(ahead) {
            Some(Tok::Word(word)) => *word,
            _ => "",
        };
        if mnemonics::Mnemonic::of(word).is_some() {
            let (pair, attrs) = alu::parse(cursor, &self.names, self.information.uncached)?;
            return Ok((Some(SlotBody::Alu(Box::new(pair))), attrs));
        }
        if tex::MNEMONICS.iter().any(|m| m.0 == word) {
            let (tex, attrs) = tex::parse(cursor, &self.names)?;
            return Ok((Some(SlotBody::Tex(tex)), attrs));
        }
        if flow::MNEMONICS.contains(&word) {
            let start = cursor.span();
            let (line, attrs) = match flow::parse(cursor, &self.names) {
                Ok(line) => line,
                Err(finding) => {
                    self.blocks.open_anyway(word, self.slots.len(), start);
                    return Err(finding);
                }
            };
            return match line {
                Line::Raw(fc, to) => Ok((Some(SlotBody::Fc(fc, to)), attrs)),
                Line::Structured(statement, to) => {
                    let fc = self.blocks.statement(self.slots.len(), statement, cursor.span_from(start))?;
                    Ok((fc.map(|fc| SlotBody::Fc(Box::new(fc), to)), attrs))
                }
            };
        }
        if word == "end" {
            cursor.advance();
            let mut attrs = Attrs::default();
            while !cursor.is_at_end() {
                attrs.parse(cursor, &self.names, &[crate::x1k::ops::InstType::Output])?;
            }
            return Ok((Some(SlotBody::End), attrs));
        }
        (0..ahead).for_each(|_| cursor.advance());
        if word.is_empty() {
            return Err(cursor.unexpected("an instruction, a label or a directive"));
        }
        let span = cursor.span();
        let finding = Diagnostic::error("mnemonic", format!("`{word}` is not an instruction")).at(span, "");
        if let Some(instead) = super::alu::other_dialect(word) {
            return Err(Box::new(finding.help(instead)));
        }
        if !self.suggester.allows(MNEMONICS) {
            return Err(Box::new(finding));
        }
        let known: Vec<&str> = (mnemonics::mnemonics().map(|m| m.0))
            .chain(tex::MNEMONICS.iter().map(|m| m.0))
            .chain(flow::MNEMONICS.iter().copied())
            .chain(["end"])
            .collect();
        let finding = unknown_word("mnemonic", "an instruction", word, span, &known);
        let dotted = matches!(cursor.peek_after(1), Some(Tok::Punct('='))) || DIRECTIVES.contains(&word);
        Err(if dotted && finding.help.is_none() {
            Box::new((*finding).help("directives begin with a point, such as `.const`"))
        } else {
            finding
        })
    }

    /// Labels, constants, words, hazards.
    fn finish(&mut self, source: &str) -> Option<Program> {
        let open: Vec<Diagnostic> = self.blocks.unclosed().collect();
        self.diagnostics.extend(open);
        if self.slots.is_empty() && self.last.is_none() && self.diagnostics.is_empty() {
            let end = source.len() as u32;
            self.error(
                Diagnostic::error("program", "there is no instruction")
                    .at(Span::new(end, end), "")
                    .cite("CTM §3.1")
                    .help("the shortest program is `end`"),
            );
        }
        let pool = self.pool();
        let mut words = self.words(&pool);
        self.jumps(&mut words);
        let last = self.last_slot(&mut words);
        if words.len() > INSTRUCTION_SLOTS {
            let span = self.slots.get(INSTRUCTION_SLOTS).map_or(Span::default(), |s| s.span);
            self.error(
                Diagnostic::error(
                    "program",
                    format!("the program has {} instructions, the machine has 512 slots", words.len()),
                )
                .at(span, "the first one too many")
                .cite("CTM §3.1"),
            );
        }
        let first = match self.entry.take() {
            None => 0,
            Some(target) => self.resolve(&target).unwrap_or(0),
        };
        if self.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            return None;
        }
        let insts: Vec<Option<Inst>> = words.iter().map(|w| Inst::decode(w).ok()).collect();
        let derived = derive(&insts, usize::from(last), self.information.uncached);
        for (pc, words) in words.iter_mut().enumerate() {
            self.settle(pc, words, &derived[pc]);
        }
        let usage = Usage::of(&words);
        let information = &mut self.information;
        let full = information.full_flow_control.unwrap_or(usage.needs_full_flow_control);
        if full && information.full_flow_control.is_none() {
            self.explanations.push(Explanation {
                span: Span::default(),
                pc: None,
                text: "full flow-control mode: loops, calls or branches nested more than 4 deep need it (CTM §3.5)"
                    .to_owned(),
            });
        }
        let mut literals = std::mem::take(&mut information.literals);
        literals.extend(pool.literals());
        Some(Program {
            first,
            last,
            full_flow_control: full,
            uncached: information.uncached,
            zero_times_anything: information.zero_times_anything,
            conditional_value: information.conditional_value.unwrap_or(usage.conditional_value),
            lookups: crate::x1k::program::Lookups::Inputs,
            preloads: information.preloads.take().unwrap_or_else(|| vec![Preload::Position { temp: 0 }]),
            symbols: std::mem::take(&mut information.symbols),
            literals,
            spans: (0..words.len()).map(|i| self.slots.get(i).map_or(Span::default(), |s| s.span)).collect(),
            words,
        })
    }

    /// Gives numbers that need one a constant register.
    fn pool(&mut self) -> Pool {
        if !self.slots.iter().any(|slot| matches!(&slot.body, SlotBody::Alu(pair) if needs_pool(pair))) {
            return Pool::default();
        }
        let mut used: BTreeSet<u8> = BTreeSet::new();
        let literal_floats = self.information.literals.iter().filter_map(|l| match l {
            Literal::Float { index, .. } => Some(*index),
            Literal::Int { .. } | Literal::Bool { .. } => None,
        });
        used.extend(literal_floats);
        let symbols = self.information.symbols.iter();
        used.extend(symbols.filter(|s| s.kind == crate::x1k::program::SymbolKind::Float).map(|s| s.index));
        let mut relative_from: Option<u8> = None;
        for slot in &self.slots {
            match &slot.body {
                SlotBody::Alu(pair) => each_source(pair, &mut |source| {
                    if let Source::Const { index, relative } = source {
                        used.insert(index);
                        if relative {
                            relative_from = Some(relative_from.map_or(index, |old| old.min(index)));
                        }
                    }
                }),
                SlotBody::Words(words) => used.extend(Usage::of(&[*words]).float_constants),
                SlotBody::Tex(_) | SlotBody::Fc(..) | SlotBody::End => {}
            }
        }
        if let Some(from) = relative_from {
            used.extend(from..=255);
        }
        let mut pool = Pool::default();
        let mut full = None;
        for slot in &self.slots {
            if let SlotBody::Alu(pair) = &slot.body
                && pool.reserve(pair, &used).is_err()
            {
                full = full.or(Some(slot.span));
            }
        }
        if let Some(span) = full {
            let finding =
                Diagnostic::error("constants", "no constant register is left for a number of this instruction")
                    .at(span, "")
                    .cite("CTM §3.3.1");
            self.error(match relative_from {
                Some(from) => finding.help(format!(
                    "`c[aL+{from}]` can reach every register from c{from} on: put the number into a register with .const"
                )),
                None => finding,
            });
        }
        pool
    }

    /// The words of every slot, without jump targets and without derived bits.
    fn words(&mut self, pool: &Pool) -> Vec<Words> {
        let mut list = Vec::with_capacity(self.slots.len() + 1);
        let mut findings = Vec::new();
        for (pc, slot) in self.slots.iter_mut().enumerate() {
            let attrs = &slot.attrs;
            let mut words = match &slot.body {
                SlotBody::Words(words) => *words,
                SlotBody::End => EMPTY_OUTPUT,
                SlotBody::Tex(tex) => Inst::Tex(tex.lower(attrs)).encode(),
                SlotBody::Fc(fc, _) => {
                    let mut fc = **fc;
                    fc.inst.ignore_uncovered |= attrs.covered;
                    (fc.cmn.last, fc.cmn.write_inactive) = (attrs.last, attrs.inactive);
                    if self.blocks.with_else.contains(&pc) {
                        Blocks::patch_else(&mut fc);
                    }
                    Inst::Fc(fc).encode()
                }
                SlotBody::Alu(pair) => match encode(pair, attrs.rgb_sources, attrs.alpha_sources, pool) {
                    Ok(mut inst) => {
                        (inst.cmn.last, inst.cmn.write_inactive) = (attrs.last, attrs.inactive);
                        explain_numbers(pair, pool, pc, slot.span, &mut self.explanations);
                        Inst::Alu(inst).encode()
                    }
                    Err(why) => {
                        findings.push(no_assignment(why, attrs, slot.span));
                        [0; 6]
                    }
                },
            };
            attrs.raw.iter().for_each(|raw| raw.apply(&mut words));
            list.push(words);
        }
        self.diagnostics.extend(findings);
        list
    }

    fn resolve(&mut self, target: &JumpTarget<'a>) -> Option<u16> {
        match target {
            JumpTarget::Address(address) => Some(*address),
            JumpTarget::Label(name, span) => {
                let found = self.labels.get(name).map(|l| l.0 as u16);
                if found.is_none() {
                    let finding = Diagnostic::error("label", format!("`{name}` is not a label of this program"));
                    let near = self.suggester.closest(name, self.labels.keys().copied());
                    let mut few: Vec<&str> = self.labels.keys().copied().take(13).collect();
                    few.sort_unstable();
                    self.error(with_near(finding.at(*span, ""), near, &few));
                }
                found
            }
        }
    }

    /// Writes the jump targets.
    fn jumps(&mut self, words: &mut [Words]) {
        let decided: HashMap<usize, usize> = self.blocks.targets.iter().copied().collect();
        for (pc, words) in words.iter_mut().enumerate() {
            let SlotBody::Fc(_, explicit) = &self.slots[pc].body else { continue };
            let target = match explicit.clone() {
                Some(target) => self.resolve(&target).map(usize::from),
                None => decided.get(&pc).copied(),
            };
            let Some(target) = target else { continue };
            if target >= INSTRUCTION_SLOTS {
                // The program is too long, which is said elsewhere, or a label follows slot 511.
                if self.slots.len() <= INSTRUCTION_SLOTS {
                    self.error(
                        Diagnostic::error(
                            "range",
                            format!("the jump goes to {target}, the machine has slots 0 to 511"),
                        )
                        .at(self.slots[pc].span, "")
                        .cite("CTM §3.5.3"),
                    );
                }
                continue;
            }
            if let Ok(Inst::Fc(mut fc)) = Inst::decode(words) {
                fc.addr.jump_addr = target as u16;
                *words = Inst::Fc(fc).encode();
            }
        }
    }

    /// The slot that ends the program; adds an empty OUTPUT where the text leaves the end open (CTM §3.1).
    fn last_slot(&mut self, words: &mut Vec<Words>) -> u16 {
        if let Some(target) = self.last.take() {
            return self.resolve(&target).unwrap_or(0);
        }
        if let Some((pc, _)) = self.end {
            return pc as u16;
        }
        let ends_in_output = words.last().is_some_and(|w| w[0] & 3 == 1);
        let behind = words.len();
        let jumps_behind = words
            .iter()
            .any(|w| matches!(Inst::decode(w), Ok(Inst::Fc(fc)) if usize::from(fc.addr.jump_addr) == behind));
        if !ends_in_output || jumps_behind {
            words.push(EMPTY_OUTPUT);
            self.explanations.push(Explanation {
                span: Span::default(),
                pc: Some(behind as u32),
                text: "an empty OUTPUT instruction ends the program (CTM §3.1)".to_owned(),
            });
        }
        (words.len().max(1) - 1) as u16
    }

    /// Sets derived bits, or the source's own values.
    fn settle(&mut self, pc: usize, words: &mut Words, derived: &Bits) {
        let default = AssembledSlot { body: SlotBody::End, attrs: Attrs::default(), span: Span::default() };
        let slot = self.slots.get(pc).unwrap_or(&default);
        if matches!(slot.body, SlotBody::Words(_)) {
            return;
        }
        let attrs = &slot.attrs;
        let mut bits = hazard_bits(words, self.information.uncached);
        for (bit, set, reason, name) in [
            (&mut bits.wait, attrs.wait, derived.wait, "wait"),
            (&mut bits.acquire, attrs.acquire, derived.acquire, "acquire"),
            (&mut bits.alu_wait, attrs.alu_wait, derived.alu_wait, "aluwait"),
            (&mut bits.nop, attrs.nop, derived.nop, "nop"),
        ] {
            *bit = set.unwrap_or(reason.is_some());
            if let (None, Some(reason)) = (set, reason) {
                let text = format!("{name}: {reason}");
                self.explanations.push(Explanation { span: slot.span, pc: Some(pc as u32), text });
            }
        }
        set_hazard_bits(words, bits, self.information.uncached);
    }
}

/// How many tokens a predicate in front of the mnemonic takes.
fn behind_predicate(cursor: &Cursor<'_, '_>) -> usize {
    if !cursor.at_punct('(') {
        return 0;
    }
    let mut ahead = 1;
    loop {
        match cursor.peek_after(ahead) {
            Some(Tok::Punct(')')) => return ahead + 1,
            None => return 0,
            Some(_) => ahead += 1,
        }
    }
}
