//! Shared by the steps that read groups: the findings of a source, and a group that has been read.

use super::TextOptions;
use crate::diag::{Diagnostic, Span};
use crate::r700::inst::Group;

/// Inputs and findings of group resolution.
pub(super) struct Reading<'a> {
    pub(super) options: &'a TextOptions,
    pub(super) unchecked: bool,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

impl Reading<'_> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}

/// A group with the places of its lines.
#[derive(Clone, Debug)]
pub(super) struct ReadyGroup {
    pub(super) group: Group,
    pub(super) spans: Vec<Span>,
}
