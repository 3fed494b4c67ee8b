//! What a job did: numbers, outputs, findings, and the fault that may have ended it.

use super::prepare::Ready;
use super::surface::{Rect, download};
use super::{Pass, RunFault};
use crate::array::Array;
use crate::device::{CommandError, CommandErrorReason, CommandFinding, Device};
use crate::mc::Surface;
use crate::render::{Report, Source};
use ctm_exec::{Counters, Fault, FaultKind, Finding};
use ctm_isa::diag::Diagnostic;
use ctm_isa::x1k::Program;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What a job did, and the device as it left it.
#[derive(Debug)]
pub struct JobReport {
    /// What each pass did, all its launches together.
    pub passes: Vec<PassReport>,
    /// The outputs that were written, by slot.
    pub outputs: Vec<OutputResult>,
    /// The conditional buffer: where it lies, and the part of it that belongs to domains.
    pub(super) conditional: Option<(Surface, Rect)>,
    pub(super) device: Device,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Warnings about the job, and what a checked run noticed.
    pub reports: Vec<Report>,
    /// All command buffers, one after the other.
    pub commands: Vec<u32>,
    /// The time that launches took.
    pub elapsed: Duration,
}

/// What one pass did.
#[derive(Clone, Debug, Default)]
pub struct PassReport {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// How often it ran.
    pub launches: u64,
    /// What it did, in numbers.
    pub counters: Counters,
}

/// An output at the end of a job.
#[derive(Clone, Debug)]
pub struct OutputResult {
    /// Which output.
    pub slot: u8,
    /// Where it lies in device memory.
    pub surface: Surface,
    /// The part of it that was asked for: the domain's rectangle, or all of it.
    pub rect: Rect,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Launches that are done.
    pub done: u64,
    /// Launches there will be.
    pub total: u64,
}

impl JobReport {
    /// What all passes did.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut all = Counters::default();
        for pass in &self.passes {
            all.add(&pass.counters);
        }
        all
    }

    /// What output `slot` holds, with the channels of its format.
    #[must_use]
    pub fn array(&self, slot: u8) -> Option<Array> {
        let output = self.outputs.iter().find(|o| o.slot == slot)?;
        download(self.device.memory(), &output.surface, output.rect).ok()
    }

    /// What the conditional buffer holds, if the job has one.
    #[must_use]
    pub fn conditional(&self) -> Option<Array> {
        let (surface, rect) = self.conditional.as_ref()?;
        download(self.device.memory(), surface, *rect).ok()
    }

    /// The device as the job left it.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }
}

pub(super) fn fault(index: usize, pass: &Pass, ready: &Ready, error: &CommandError) -> RunFault {
    let name = pass.name.as_ref().map(|n| n.value.clone());
    let CommandErrorReason::Fault(f) = &error.reason else {
        return RunFault {
            pass: index,
            pass_name: name,
            code: "device",
            pc: None,
            position: None,
            report: Report::bare(Diagnostic::error("device", error.to_string())),
        };
    };
    let mut diagnostic = Diagnostic::error(f.code(), f.to_string());
    if let Some(help) = fault_help(f) {
        diagnostic = diagnostic.help(help);
    }
    let report = at_instruction(diagnostic, f.pc, &ready.program, ready.source.as_ref());
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
        _ => None,
    }
}

/// Points at the instruction's statement, where the program came from text.
fn at_instruction(diagnostic: Diagnostic, pc: u32, program: &Program, source: Option<&Arc<Source>>) -> Report {
    let diagnostic = diagnostic.pc(pc);
    match (program.spans.get(pc as usize), source) {
        (Some(&span), Some(source)) => Report { diagnostic: diagnostic.at(span, ""), source: Some(Arc::clone(source)) },
        _ => Report::bare(diagnostic),
    }
}

pub(super) fn finding_report(finding: &Finding, program: &Program, source: Option<&Arc<Source>>) -> Report {
    let mut message = finding.message.clone();
    if let Some(at) = finding.position {
        message.push_str(&format!(", for processor ({}, {})", at.i, at.j));
    }
    at_instruction(Diagnostic::warning(finding.rule, message), finding.pc, program, source)
}

pub(super) fn command_report(finding: &CommandFinding) -> Report {
    Report::bare(Diagnostic::warning(finding.rule, finding.to_string()))
}
