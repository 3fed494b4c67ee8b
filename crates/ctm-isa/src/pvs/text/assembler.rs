//! Whole programs: lines to instructions, labels, directives.

use super::directive::{DIRECTIVES, Information, InstTarget, PLACED, target};
use super::line;
use super::names::RegisterNames;
use crate::diag::{Diagnostic, Severity, Span};
use crate::lexer::{Cursor, Parse, Tok, Token, tokens, with_near};
use crate::pvs::INSTRUCTION_SLOTS;
use crate::pvs::flow::NO_FLOW;
use crate::pvs::inst::Words;
use crate::pvs::program::VertexProgram;
use crate::suggest::Suggester;
use std::collections::HashMap;

/// The result of [`assemble`].
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// The program; `None` if any diagnostic is an error.
    pub program: Option<VertexProgram>,
    /// Everything that was found, in the order of the lines.
    pub diagnostics: Vec<Diagnostic>,
}

/// Assembles a source file (`docs/pvs-assembly.md`).
///
/// Lines are read independently, so that one run reports the errors of all of them.
///
/// ```
/// let assembly = ctm_isa::pvs::text::assemble("mov o0, v0\n");
/// let program = assembly.program.expect("no errors");
/// assert_eq!(program.words, [[0x00f0_0203, 0x00d1_0001, 0x0124_8001, 0x0124_8001]]);
/// ```
#[must_use]
pub fn assemble(source: &str) -> Assembly {
    if u32::try_from(source.len()).is_err() {
        let diagnostics = vec![Diagnostic::error("size", "the source is larger than 4 GiB")];
        return Assembly { program: None, diagnostics };
    }
    let mut assembler = Assembler::default();
    let lines = assembler.lines(source);
    assembler.directives(&lines);
    for line in &lines {
        if let Err(finding) = assembler.line(line) {
            assembler.diagnostics.push(*finding);
        }
    }
    let program = assembler.finish(source);
    assembler.diagnostics.sort_by_key(|d| d.labels.first().map_or(u32::MAX, |l| l.span.start));
    let failed = assembler.diagnostics.iter().any(|d| d.severity == Severity::Error);
    Assembly { program: program.filter(|_| !failed), diagnostics: assembler.diagnostics }
}

struct SourceLine<'a> {
    tokens: Vec<Token<'a>>,
    end: u32,
}

#[derive(Default)]
struct Assembler<'a> {
    diagnostics: Vec<Diagnostic>,
    names: RegisterNames<'a>,
    information: Information<'a>,
    words: Vec<Words>,
    spans: Vec<Span>,
    labels: HashMap<&'a str, (usize, Span)>,
    entry: Option<InstTarget<'a>>,
    last: Option<InstTarget<'a>>,
    suggester: Suggester,
}

impl<'a> Assembler<'a> {
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
            if let Some((_, old)) = self.labels.insert(word, (self.words.len(), span)) {
                let message = format!("the label `{word}` is defined twice");
                self.diagnostics.push(Diagnostic::error("label", message).at(span, "").at(old, "first here"));
            }
        }
        if cursor.is_at_end() {
            return Ok(());
        }
        let start = cursor.span();
        if let Some(Tok::Dotted(name)) = cursor.peek() {
            cursor.advance();
            let own_line = line.tokens.first().is_some_and(|t| matches!(t.tok, Tok::Dotted(_)));
            return match *name {
                "word" => self.word(&mut cursor, start),
                "entry" => {
                    self.entry = Some(Self::place(&mut cursor, self.words.len())?);
                    Ok(())
                }
                "last" => {
                    self.last = Some(Self::place(&mut cursor, self.words.len().saturating_sub(1))?);
                    Ok(())
                }
                // The first pass has read it.
                _ if own_line => Ok(()),
                _ => Err(cursor.unexpected("an instruction: a directive has a line of its own")),
            };
        }
        let directive = match (cursor.peek(), cursor.peek_after(1)) {
            (Some(Tok::Word(word)), _) if DIRECTIVES.contains(word) || PLACED.contains(word) => Some(*word),
            _ => None,
        };
        let words = match (line::parse(&mut cursor, &self.names), directive) {
            (Err(finding), Some(word)) if finding.rule == "mnemonic" => {
                let mut finding = finding;
                finding.help = Some(format!("directives begin with a point: `.{word}`"));
                return Err(finding);
            }
            (words, _) => words?,
        };
        self.words.push(words);
        self.spans.push(cursor.span_from(start));
        Ok(())
    }

    /// `.word` and its four numbers.
    fn word(&mut self, cursor: &mut Cursor<'_, 'a>, start: Span) -> Parse<()> {
        let mut words = [0; 4];
        for (i, word) in words.iter_mut().enumerate() {
            if i > 0 {
                cursor.expect(',', "between the four words")?;
            }
            *word = cursor.integer("a word", u32::MAX)?;
        }
        if !cursor.is_at_end() {
            return Err(cursor.unexpected("the end of the line"));
        }
        self.words.push(words);
        self.spans.push(cursor.span_from(start));
        Ok(())
    }

    /// The optional place of `.entry` and `.last`.
    fn place(cursor: &mut Cursor<'_, 'a>, default: usize) -> Parse<InstTarget<'a>> {
        let target = if cursor.is_at_end() {
            InstTarget::Number(u16::try_from(default).unwrap_or(u16::MAX))
        } else {
            target(cursor)?
        };
        if cursor.is_at_end() { Ok(target) } else { Err(cursor.unexpected("the end of the line")) }
    }

    fn resolve(&mut self, target: InstTarget<'a>) -> u16 {
        match target {
            InstTarget::Number(at) => at,
            InstTarget::Label(name, span) => match self.labels.get(name) {
                Some(&(at, _)) => u16::try_from(at).unwrap_or(u16::MAX),
                None => {
                    let found = Diagnostic::error("label", format!("`{name}` is not a label of this program"));
                    let near = self.suggester.closest(name, self.labels.keys().copied());
                    let mut few: Vec<&str> = self.labels.keys().copied().take(13).collect();
                    few.sort_unstable();
                    self.diagnostics.push(with_near(found.at(span, ""), near, &few));
                    0
                }
            },
        }
    }

    fn finish(&mut self, source: &str) -> Option<VertexProgram> {
        if self.words.is_empty() && self.diagnostics.is_empty() {
            let end = source.len() as u32;
            let found = Diagnostic::error("program", "there is no instruction").at(Span::new(end, end), "");
            self.diagnostics.push(found.help("the shortest program is `nop`"));
        }
        if self.words.len() > INSTRUCTION_SLOTS {
            let message =
                format!("the program has {} instructions, the machine holds {INSTRUCTION_SLOTS}", self.words.len());
            let found =
                Diagnostic::error("program", message).at(self.spans[INSTRUCTION_SLOTS], "the first one too many");
            self.diagnostics.push(found.cite("pvs-encoding §7"));
        }
        let mut flow = NO_FLOW;
        for (line, _) in std::mem::take(&mut self.information.flow) {
            flow[line.slot] = line.resolve(|target| self.resolve(target));
        }
        let end = InstTarget::Number(u16::try_from(self.words.len().saturating_sub(1)).unwrap_or(u16::MAX));
        let (entry, last) = (self.entry.unwrap_or(InstTarget::Number(0)), self.last.unwrap_or(end));
        let (first, last) = (self.resolve(entry), self.resolve(last));
        let (const_base, const_max) = self.information.const_range.unwrap_or((0, 255));
        Some(VertexProgram {
            words: std::mem::take(&mut self.words),
            first,
            last,
            flow,
            const_base,
            const_max,
            symbols: std::mem::take(&mut self.information.symbols),
            literals: std::mem::take(&mut self.information.literals),
            spans: std::mem::take(&mut self.spans),
        })
    }
}
