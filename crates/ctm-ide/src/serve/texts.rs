//! Questions about texts: findings, places, words.

use super::context::{Answer, AnswerContext, entry, language};
use super::question::Question;
use super::{cost, entries, wire};
use crate::language::{Language, findings, shown_findings};
use ctm_isa::diag::Severity;
use std::collections::BTreeMap;

/// Counts units of UTF-16, as browsers do. Places that follow each other cost the text between them.
pub(super) struct Utf16Offsets<'t> {
    text: &'t str,
    /// A byte, and the units before it.
    known: (usize, usize),
}

impl<'t> Utf16Offsets<'t> {
    pub(super) const fn of(text: &'t str) -> Self {
        Self { text, known: (0, 0) }
    }

    /// Units before a byte.
    pub(super) fn before(&mut self, byte: usize) -> usize {
        let mut end = byte.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let (at, units) = self.known;
        let count = |from: usize, to: usize| self.text[from..to].encode_utf16().count();
        let units = if end < at { units - count(end, at) } else { units + count(at, end) };
        self.known = (end, units);
        units
    }
}

/// The byte of `offset`, which counts units of UTF-16.
pub(super) fn byte(question: &Question) -> usize {
    let (text, mut left) = (question.text(), question.offset.unwrap_or(0));
    for (at, c) in text.char_indices() {
        if left == 0 {
            return at;
        }
        left = left.saturating_sub(c.len_utf16() as u64);
    }
    text.len()
}

/// Findings of a program, or of the job file of an entry with the page's texts.
pub(super) fn check(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Findings> {
    context.take(cost::of_check(question.text()))?;
    if question.language.as_deref() == Some(entries::TOML) {
        return check_job(question, context);
    }
    let found = findings(language(question), question.text());
    let (shown, more) = shown_findings(&found);
    let mut units = Utf16Offsets::of(question.text());
    let mut told: Vec<wire::PageFinding> = shown.iter().map(|finding| page_finding(finding, &mut units)).collect();
    if let Some(more) = more {
        let end = units.before(question.text().len());
        let (rule, message) = (more.rule.to_string(), more.message.clone());
        told.push(wire::PageFinding { from: end, to: end, severity: "error", rule, message });
    }
    Ok(wire::Findings { findings: told })
}

/// Findings of the job file; those of its programs are with their texts.
fn check_job(question: &Question, context: &AnswerContext<'_>) -> Answer<wire::Findings> {
    let entry = entry(question, context)?;
    let name = question.name.as_deref().unwrap_or("");
    let mut texts = question.files.0.clone();
    texts.insert(name.to_owned(), question.text().to_owned());
    let Err(error) = entry.opened(&texts, context.folders, context.control) else {
        return Ok(wire::Findings { findings: Vec::new() });
    };
    let mut units = Utf16Offsets::of(question.text());
    let reports = error.reports();
    let own =
        |report: &&ctm::render::Report| report.source.as_ref().is_none_or(|source| source.text() == question.text());
    let own = reports.iter().filter(own).take(100);
    Ok(wire::Findings { findings: own.map(|report| page_finding(&report.diagnostic, &mut units)).collect() })
}

fn page_finding(finding: &ctm_isa::diag::Diagnostic, units: &mut Utf16Offsets<'_>) -> wire::PageFinding {
    let span = finding.labels.first().map(|label| label.span).unwrap_or_default();
    let mut message = finding.message.clone();
    for part in [finding.cite.map(|cite| format!("see {cite}")), finding.help.clone()].into_iter().flatten() {
        message.push('\n');
        message.push_str(&part);
    }
    wire::PageFinding {
        from: units.before(span.start as usize),
        to: units.before(span.end as usize),
        severity: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "info",
        },
        rule: finding.rule.to_string(),
        message,
    }
}

/// The words of the languages, for colouring.
pub(super) fn words() -> BTreeMap<String, Vec<(String, String)>> {
    let of = |language: Language| {
        let words = language.vocabulary().into_iter();
        let words = words.map(|(kind, word)| (format!("{kind:?}").to_lowercase(), word.to_string()));
        (language.id().to_owned(), words.collect())
    };
    Language::ALL.into_iter().map(of).collect()
}
