//! Findings as text for people and as JSON for machines.
//!
//! A [`Diagnostic`] is data with byte offsets; here it meets the text it is about. Everything else that reports findings goes
//! through [`text`] or [`json()`], so that they look the same from every source.
//!
//! ```
//! use ctm_files::render::{Report, Source, json, text};
//! use ctm_isa::diag::{Diagnostic, Label, Severity, Span};
//! use std::sync::Arc;
//!
//! let diagnostic = Diagnostic::error("mnemonic", "`mvo` is not an instruction").at(Span::new(0, 3), "");
//! assert_eq!(diagnostic.severity, Severity::Error);
//! let label: &Label = &diagnostic.labels[0];
//! assert_eq!(label.span, Span::new(0, 3));
//! let report = Report { diagnostic, source: Some(Arc::new(Source::new("a.x1k", "mvo r0, r1"))) };
//! assert!(text(&report, false).contains("a.x1k:1:1"));
//! assert_eq!(json(&report)["severity"], "error");
//! ```

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctm_isa::diag::{Diagnostic, Severity, Span};
use serde_json::{Value, json};
use std::ops::Range;
use std::sync::Arc;

/// A text that findings can point into. It knows where its lines begin: a text may have as many findings as lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    name: String,
    text: String,
    /// The byte at which each line begins.
    line_starts: Vec<usize>,
}

impl Source {
    /// A text with a name: that of its file, or another one.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let line_starts = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, line_starts }
    }

    /// Its file name, or another name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column, from 1, of a byte offset. Columns count characters.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let at = self.boundary(offset);
        let line = self.line_of(at);
        (line + 1, self.text[self.line_starts[line]..at].chars().count() + 1)
    }

    /// A line, counted from 1, without its end; empty beyond the last.
    #[must_use]
    pub fn line(&self, number: usize) -> &str {
        let line = number.checked_sub(1).and_then(|n| self.line_starts.get(n)).map(|&start| &self.text[start..]);
        line.and_then(|rest| rest.lines().next()).unwrap_or("")
    }

    /// The line, counted from 0, that holds the byte at `at`.
    fn line_of(&self, at: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= at) - 1
    }

    /// The byte at the character that holds `offset`, or the end.
    fn boundary(&self, offset: u32) -> usize {
        let mut at = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    /// The span within the text, on character boundaries; spans are input and may be invalid.
    fn range(&self, span: Span) -> Range<usize> {
        let start = self.boundary(span.start);
        start..self.boundary(span.end).max(start)
    }

    /// The first line, counted from 0, and the bytes of the lines that hold all of `ranges`.
    fn lines_around(&self, ranges: &[Range<usize>]) -> (usize, Range<usize>) {
        let first = ranges.iter().map(|r| r.start).min().unwrap_or(0);
        let last = ranges.iter().map(|r| r.end).max().unwrap_or(0);
        // A place after the last line's end is shown with that line.
        let first = self.line_of(if first == self.text.len() { first.saturating_sub(1) } else { first });
        let end = self.line_starts.get(self.line_of(last) + 1).copied().unwrap_or(self.text.len());
        (first, self.line_starts[first]..end)
    }
}

/// A finding and the text it points into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The finding.
    pub diagnostic: Diagnostic,
    /// The text; `None` for findings about binary files.
    pub source: Option<Arc<Source>>,
}

impl Report {
    /// A finding without a text.
    #[must_use]
    pub fn bare(diagnostic: Diagnostic) -> Self {
        Self { diagnostic, source: None }
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.diagnostic.severity == Severity::Error
    }
}

/// A place in a text, for messages: in a job file, in a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The text.
    pub source: Arc<Source>,
    /// Where in it.
    pub span: Span,
}

/// A finding at a place, if there is one.
#[must_use]
pub fn report_at(place: Option<&TextPlace>, diagnostic: Diagnostic) -> Report {
    match place {
        Some(place) => Report { diagnostic: diagnostic.at(place.span, ""), source: Some(Arc::clone(&place.source)) },
        None => Report::bare(diagnostic),
    }
}

/// The finding with its source lines, carets, citation and help, as several lines without a newline at the end.
#[must_use]
pub fn text(report: &Report, color: bool) -> String {
    let d = &report.diagnostic;
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let mut title = d.message.clone();
    // Labels show the instruction, and messages of faults name it.
    if let Some(place) = d.pc.filter(|_| d.labels.is_empty()).map(|pc| format!(", at instruction {pc}"))
        && !title.contains(&place)
    {
        title += &place;
    }
    let mut group = Group::with_title(level.primary_title(title).id(d.rule));
    if let Some(source) = &report.source {
        if d.labels.is_empty() {
            group = group.element(Origin::path(source.name.as_str()));
        } else {
            let ranges: Vec<Range<usize>> = d.labels.iter().map(|label| source.range(label.span)).collect();
            let (first, shown) = source.lines_around(&ranges);
            let annotations = d.labels.iter().zip(&ranges).enumerate().map(|(n, (label, range))| {
                let kind = if n == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(range.start - shown.start..range.end - shown.start);
                if label.message.is_empty() { annotation } else { annotation.label(label.message.as_str()) }
            });
            // The renderer processes its whole input.
            group = group.element(
                Snippet::source(&source.text[shown.clone()])
                    .path(source.name.as_str())
                    .line_start(first + 1)
                    .fold(true)
                    .annotations(annotations),
            );
        }
    }
    if let Some(cite) = d.cite {
        group = group.element(Level::NOTE.message(format!("see {cite}")));
    }
    if let Some(help) = &d.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

/// The finding as one JSON object: `severity`, `rule`, `message`, `file`, `labels` (with `start`, `end` in bytes and `line`,
/// `column` from 1), `pc`, `cite`, `help`. Unknown values are `null`.
#[must_use]
pub fn json(report: &Report) -> Value {
    let d = &report.diagnostic;
    let labels: Vec<Value> = d
        .labels
        .iter()
        .map(|label| {
            let place = report.source.as_ref().map(|s| s.line_column(label.span.start));
            json!({
                "start": label.span.start,
                "end": label.span.end,
                "line": place.map(|p| p.0),
                "column": place.map(|p| p.1),
                "message": label.message,
            })
        })
        .collect();
    json!({
        "severity": d.severity.name(),
        "rule": d.rule,
        "message": d.message,
        "file": report.source.as_ref().map(|s| s.name.as_str()),
        "labels": labels,
        "pc": d.pc,
        "cite": d.cite,
        "help": d.help,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_in_lines() {
        let source = Source::new("f", "first\nzweite ä\r\n\nlast");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(5), (1, 6), "a line's end belongs to it");
        assert_eq!(source.line_column(6), (2, 1));
        // Byte 14 is the second of `ä`.
        assert_eq!(source.line_column(13), (2, 8));
        assert_eq!(source.line_column(14), (2, 8));
        assert_eq!(source.line_column(u32::MAX), (4, 5));
        let lines: Vec<&str> = (0..=5).map(|n| source.line(n)).collect();
        assert_eq!(lines, ["", "first", "zweite ä", "", "last", ""]);
        assert_eq!(Source::new("f", "").line_column(7), (1, 1));
    }

    /// The renderer's time grows with its input, and a text may have as many findings as lines.
    #[test]
    fn only_the_lines_of_a_finding_are_rendered() {
        let source = Source::new("f", "one\ntwo\nthree\nfour\n");
        let around = |ranges: &[Range<usize>]| source.lines_around(ranges);
        let (two, three, end) = (4..7, 9..10, 19..19);
        assert_eq!(around(std::slice::from_ref(&two)), (1, 4..8));
        assert_eq!(around(&[three, two]), (1, 4..14));
        assert_eq!(around(&[end.clone(), end]), (3, 14..19), "the end is shown with the last line");
        assert_eq!(Source::new("f", "").lines_around(&[]), (0, 0..0));
        let finding = Diagnostic::error("rule", "wrong").at(Span::new(8, 13), "here");
        let report = Report { diagnostic: finding, source: Some(Arc::new(source)) };
        assert_eq!(text(&report, false), "error[rule]: wrong\n --> f:3:1\n  |\n3 | three\n  | ^^^^^ here");
    }
    #[test]
    fn an_instruction_is_named_once() {
        let at = |message: &str| text(&Report::bare(Diagnostic::error("rule", message).pc(3)), false);
        assert_eq!(at("wrong"), "error[rule]: wrong, at instruction 3");
        let fault = "wrong, at instruction 3 for processor (0, 1)";
        assert_eq!(at(fault), format!("error[rule]: {fault}"));
    }
}
