//! Findings as text for people and as JSON for machines.
//!
//! A [`Diagnostic`] is data with byte offsets; here it meets the text it is about. Everything else that reports findings goes
//! through [`text`] or [`json()`], so that they look the same wherever they come from.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use ctm_isa::diag::{Diagnostic, Severity, Span};
use serde_json::{Value, json};
use std::sync::Arc;

/// A text that findings can point into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its file name, or what else it is.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// A text with a name.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// Line and column, from 1, of a byte offset. Columns count characters.
    #[must_use]
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut at = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A finding and the text it points into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The finding.
    pub diagnostic: Diagnostic,
    /// The text; `None` for findings about what was never text.
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

/// The finding with its source lines, carets, citation and help, as several lines without a newline at the end.
#[must_use]
pub fn text(report: &Report, color: bool) -> String {
    let d = &report.diagnostic;
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = if d.labels.is_empty() {
        match d.pc {
            Some(pc) => format!("{}, at instruction {pc}", d.message),
            None => d.message.clone(),
        }
    } else {
        d.message.clone()
    };
    let mut group = Group::with_title(level.primary_title(title).id(d.rule));
    if let Some(source) = &report.source {
        if d.labels.is_empty() {
            group = group.element(Origin::path(source.name.as_str()));
        } else {
            let annotations = d.labels.iter().enumerate().map(|(n, label)| {
                let kind = if n == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(range(&source.text, label.span));
                if label.message.is_empty() { annotation } else { annotation.label(label.message.as_str()) }
            });
            group = group.element(
                Snippet::source(source.text.as_str())
                    .path(source.name.as_str())
                    .line_start(1)
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
/// `column` from 1), `pc`, `cite`, `help`. What is not known is `null`.
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

/// The span within the text, on character boundaries; spans come from elsewhere and may be anything.
fn range(text: &str, span: Span) -> std::ops::Range<usize> {
    let boundary = |offset: u32| {
        let mut at = (offset as usize).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start);
    start..boundary(span.end).max(start)
}
