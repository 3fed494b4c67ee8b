//! Reasons why a program, a file or a job has no result: findings, each at its place.

use crate::render::{self, Report, Source};
use ctm_exec::{Control, Fault, FaultKind, Finding};
use ctm_isa::diag::{Diagnostic, Span};
use std::fmt;
use std::sync::Arc;

/// The reason why a program, a file or a job has no result.
///
/// ```
/// use ctm_files::{JobError, Program, RunFault};
///
/// let error: JobError = Program::assemble("mvo o0, r0").unwrap_err();
/// assert_eq!((error.code(), error.findings().len(), error.exit_code()), ("mnemonic", 1, 1));
/// let fault: Option<&RunFault> = if let JobError::Fault(fault) = &error { Some(fault) } else { None };
/// assert!(fault.is_none() && !error.is_cancelled());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum JobError {
    /// The job or one of its files is wrong; all findings, warnings included.
    Wrong(Vec<Report>),
    /// The flags are wrong.
    Usage(Vec<Report>),
    /// Legal, but not part of this build: the feature, and the place of its use.
    Unsupported(Box<Report>),
    /// The running program did wrong.
    Fault(Box<RunFault>),
}

/// A fault, and which launch it ended.
#[derive(Clone, Debug)]
pub struct RunFault {
    /// Which pass, from 0.
    pub pass: usize,
    /// The pass's name, if it has one.
    pub pass_name: Option<String>,
    /// A stable name: [`ctm_exec::Fault::code`], or `device` when the device refused a command.
    pub code: &'static str,
    /// The instruction, where one is.
    pub pc: Option<u32>,
    /// The processor, where one is.
    pub position: Option<ctm_exec::Position>,
    /// The finding, at its source line where the program came from text.
    pub report: Report,
}

impl JobError {
    /// The findings to show.
    #[must_use]
    pub fn findings(&self) -> &[Report] {
        self.reports()
    }

    /// The findings to show.
    #[must_use]
    pub fn reports(&self) -> &[Report] {
        match self {
            Self::Wrong(reports) | Self::Usage(reports) => reports,
            Self::Unsupported(report) => std::slice::from_ref(report),
            Self::Fault(fault) => std::slice::from_ref(&fault.report),
        }
    }

    /// A stable name: that of the first error found, or of the fault.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Wrong(reports) | Self::Usage(reports) => {
                reports.iter().find(|r| r.is_error()).map_or("wrong", |r| r.diagnostic.rule)
            }
            Self::Unsupported(report) => report.diagnostic.rule,
            Self::Fault(fault) => fault.code,
        }
    }

    /// Whether the run was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Fault(fault) if fault.code == "cancelled")
    }

    /// The exit code of `docs/cli.md`: 1 the program or job is wrong, 2 the flags are, 3 a fault while running.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Wrong(_) | Self::Unsupported(_) => 1,
            Self::Usage(_) => 2,
            Self::Fault(_) => 3,
        }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, report) in self.reports().iter().enumerate() {
            let newline = if n > 0 { "\n" } else { "" };
            write!(f, "{newline}{}", render::text(report, false))?;
        }
        Ok(())
    }
}

impl std::error::Error for JobError {}

/// The fault of pass `index`, named `name`, at its statement: the program's spans by instruction, and its text.
#[must_use]
pub fn run_fault(
    index: usize,
    name: Option<String>,
    f: &Fault,
    spans: &[Span],
    source: Option<&Arc<Source>>,
) -> RunFault {
    let mut diagnostic = Diagnostic::error(f.code(), f.to_string());
    if let Some(help) = fault_help(f) {
        diagnostic = diagnostic.help(help);
    }
    let report = at_instruction(diagnostic, f.pc, spans, source);
    RunFault { pass: index, pass_name: name, code: f.code(), pc: Some(f.pc), position: f.position, report }
}

fn fault_help(f: &Fault) -> Option<String> {
    match &f.kind {
        FaultKind::InstructionBudget { .. } => Some(
            "a loop without an end? otherwise [run] budget_instructions or --budget-instructions gives more, 0 for no limit"
                .to_owned(),
        ),
        FaultKind::TimeBudget { .. } => {
            Some("[run] budget_seconds or --budget-seconds gives more, 0 for no limit".to_owned())
        }
        FaultKind::Unsupported { feature, .. } if feature.starts_with("the engine") => {
            Some("[run] engine = \"interp\" or --engine interp runs it".to_owned())
        }
        _ => None,
    }
}

/// Points at the instruction's statement, where the program came from text.
fn at_instruction(diagnostic: Diagnostic, pc: u32, spans: &[Span], source: Option<&Arc<Source>>) -> Report {
    let diagnostic = diagnostic.pc(pc);
    match (spans.get(pc as usize), source) {
        (Some(&span), Some(source)) => Report { diagnostic: diagnostic.at(span, ""), source: Some(Arc::clone(source)) },
        _ => Report::bare(diagnostic),
    }
}

/// A finding of a checked run at its statement, as [`run_fault`].
#[must_use]
pub fn finding_report(finding: &Finding, spans: &[Span], source: Option<&Arc<Source>>) -> Report {
    let mut message = finding.message.clone();
    if let Some(at) = finding.position {
        message.push_str(&format!(", for processor ({}, {})", at.i, at.j));
    }
    at_instruction(Diagnostic::warning(finding.rule, message), finding.pc, spans, source)
}

/// Stops a launch that was cancelled before it began.
///
/// # Errors
/// The fault `cancelled`, if it was cancelled.
pub fn not_cancelled(control: &Control) -> Result<(), JobError> {
    if !control.is_cancelled() {
        return Ok(());
    }
    let report = Report::bare(Diagnostic::error("cancelled", "it was cancelled before the launch began"));
    let fault = RunFault { pass: 0, pass_name: None, code: "cancelled", pc: None, position: None, report };
    Err(JobError::Fault(Box::new(fault)))
}
