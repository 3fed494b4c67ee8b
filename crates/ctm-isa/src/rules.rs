//! Shared by the checkers of both instruction sets: findings, and their conversion to diagnostics.

use crate::diag::{Diagnostic, Severity, Span};
use std::collections::HashSet;

/// One rule on programs; `T` is the theme of rules of an instruction set.
#[derive(Debug)]
pub struct ProgramRule<T> {
    /// Kebab-case, stable: by this name a rule is allowed.
    pub name: &'static str,
    /// Its theme.
    pub theme: T,
    /// How serious its findings are.
    pub severity: Severity,
    /// The manual's section.
    pub cite: &'static str,
    /// The requirement, as a sentence.
    pub doc: &'static str,
}

/// A row of a table of rules: the rule, and the function that looks whether a program keeps it.
pub(crate) struct Row<T, F> {
    pub(crate) rule: ProgramRule<T>,
    run: F,
}

pub(crate) const fn row<T: Copy, F: Copy>(
    theme: T,
    severity: Severity,
    name: &'static str,
    cite: &'static str,
    run: F,
    doc: &'static str,
) -> Row<T, F> {
    Row { rule: ProgramRule { name, theme, severity, cite, doc }, run }
}

/// Applies every rule but those named in `allowed`; findings about the whole program first, then by instruction.
///
/// `run` calls a row's function; `spans` says where instructions are in the source, by their place, and is empty without a source.
pub(crate) fn apply<T, F>(
    rows: &[Row<T, F>],
    allowed: &[&str],
    spans: &[Span],
    run: impl Fn(&F) -> Vec<Finding>,
) -> Vec<Diagnostic> {
    let mut found = Collector { spans, diagnostics: Vec::new() };
    for Row { rule, run: function } in rows.iter().filter(|row| !allowed.contains(&row.rule.name)) {
        found.rule(rule.severity, rule.name, rule.cite, run(function));
    }
    // The sort keeps the order of the rules.
    found.diagnostics.sort_by_key(|diagnostic| diagnostic.pc);
    found.diagnostics
}

/// A report of a rule; the rule's table row adds the rest.
pub(crate) struct Finding {
    pub(crate) pc: Option<u32>,
    pub(crate) message: String,
    help: Option<String>,
}

impl Finding {
    /// About the instruction `pc`.
    pub(crate) fn at(pc: impl Into<u32>, message: impl Into<String>) -> Self {
        Self { pc: Some(pc.into()), message: message.into(), help: None }
    }

    /// About the program as a whole.
    pub(crate) fn whole(message: impl Into<String>) -> Self {
        Self { pc: None, message: message.into(), help: None }
    }

    /// The fix.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Findings as they come in, and the diagnostics that they become.
struct Collector<'a> {
    spans: &'a [Span],
    diagnostics: Vec<Diagnostic>,
}

impl Collector<'_> {
    /// Takes the reports of one rule. Code reached in several calling contexts is tested in each; equal reports are merged.
    fn rule(
        &mut self,
        severity: Severity,
        name: &'static str,
        cite: &'static str,
        findings: impl IntoIterator<Item = Finding>,
    ) {
        let mut said = HashSet::new();
        for finding in findings {
            if !said.insert((finding.pc, finding.message.clone())) {
                continue;
            }
            let mut diagnostic = Diagnostic::new(severity, name, finding.message).cite(cite);
            if let Some(pc) = finding.pc {
                diagnostic = diagnostic.pc(pc);
                if let Some(&span) = usize::try_from(pc).ok().and_then(|pc| self.spans.get(pc)) {
                    diagnostic = diagnostic.at(span, "");
                }
            }
            diagnostic.help = finding.help;
            self.diagnostics.push(diagnostic);
        }
    }
}
