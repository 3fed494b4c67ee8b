//! What the checkers of both instruction sets share: findings, and how they become diagnostics.

use crate::diag::{Diagnostic, Severity, Span};
use std::collections::HashSet;

/// What a rule reports; the rule's row in its table adds the rest.
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

    /// What would be right.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Findings as they come in, and the diagnostics that they become.
pub(crate) struct Collector<'a> {
    /// Where instructions stand in the source, by their place; empty without a source.
    spans: &'a [Span],
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Collector<'a> {
    pub(crate) const fn new(spans: &'a [Span]) -> Self {
        Self { spans, diagnostics: Vec::new() }
    }

    /// Takes what one rule found. Code that is reached in several ways is looked at once for each; what is the same in all of them is said once.
    pub(crate) fn rule(
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

    /// Everything, about the whole program first, then by instruction.
    pub(crate) fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.pc);
        self.diagnostics
    }
}
