//! All preparations of a job before anything runs: programs loaded, names resolved, files read, and all mismatches reported at once.

mod arrays;
mod x1k;

use super::checker::Checker;
use super::ready::{Own, PreparedJob, Ready};
use crate::job::model::{Job, OwnPass, Save};
use ctm_files::array::ItemType;
use ctm_files::error::JobError;
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_isa::x1k::program::SymbolKind;
use std::collections::{BTreeMap, BTreeSet};

impl PreparedJob {
    pub fn new(job: &Job) -> Result<Self, JobError> {
        let mut checker = Checker::of(job);
        let mut passes = Vec::new();
        for pass in &job.passes {
            passes.extend(match &pass.own {
                OwnPass::X1k(_) => checker.x1k_pass(job, pass),
                OwnPass::R700(own) => checker.r700_pass(job, pass, own),
            });
        }
        let complete = passes.len() == job.passes.len();
        if complete {
            checker.named_outputs(job, &passes);
            checker.sequence(job, &passes);
        }
        let saves = if complete { checker.saves(job, &passes) } else { Vec::new() };
        job.own_saves.memories().iter().filter(|_| complete).for_each(|memory| checker.memory_path(memory));
        let buffer = job.passes.iter().find_map(|p| p.conditional()?.buffer.as_ref());
        let conditional_buffer = buffer.and_then(|path| checker.array(path, None, None));
        if let (Some(elements), Some(path)) = (&conditional_buffer, buffer)
            && elements.shape()[2] != 1
        {
            let message = format!("the conditional buffer has one channel, {} has {}", path.value, elements.shape()[2]);
            checker.error(path, "bad-array", message);
        }
        match checker.unsupported {
            _ if checker.reports.iter().any(Report::is_error) => Err(JobError::Wrong(checker.reports)),
            Some(unsupported) => Err(unsupported),
            None => {
                let conditional_buffer = conditional_buffer.map(|elements| (*elements).clone());
                Ok(Self { passes, saves, conditional_buffer, reports: checker.reports })
            }
        }
    }
}

impl Checker {
    /// Textures read only outputs that some pass before them has written, and memories are there before they are used.
    fn sequence(&mut self, job: &Job, passes: &[Ready]) {
        let mut latest: BTreeSet<u8> = BTreeSet::new();
        let mut named: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
        let mut spaces = BTreeSet::new();
        for (pass, ready) in job.passes.iter().zip(passes) {
            let own: BTreeSet<u8> = ready.outputs.iter().map(|o| o.slot).collect();
            for read in ready.reads.iter().filter(|read| !read.has_data) {
                let there = match &read.pass {
                    Some(name) => named.get(name.as_str()).is_some_and(|outputs| outputs.contains(&read.output)),
                    None => latest.contains(&read.output) || ready.reads_own_writes() && own.contains(&read.output),
                };
                if !there {
                    let who =
                        read.pass.as_ref().map_or("no pass has".to_owned(), |name| format!("pass `{name}` has not"));
                    let output = ready.shown(read.output);
                    let message =
                        format!("{who} written output {output} when this pass begins, and there is no `data`");
                    self.push(read.place.as_ref(), Diagnostic::error("output-not-written", message));
                }
            }
            if let Own::R700(own) = &ready.own {
                self.memory_sequence(pass, (&ready.program, own), &mut spaces);
            }
            latest.extend(&own);
            if let Some(name) = &pass.name {
                named.insert(&name.value, latest.clone());
            }
        }
    }

    /// Outputs that are saved at the end have been written by some pass.
    fn saves(&mut self, job: &Job, passes: &[Ready]) -> Vec<(u8, Save)> {
        let all: BTreeSet<u8> = passes.iter().flat_map(|p| p.outputs.iter().map(|o| o.slot)).collect();
        let mut saves = Vec::new();
        for save in &job.saves {
            let by_name = |ready: &Ready| ready.output_number(&save.slot.value);
            let slot = passes.iter().rev().find_map(by_name).or_else(|| {
                let last = passes.iter().rev().find_map(|ready| ready.program.as_x1k())?;
                self.x1k_number(&save.slot, last, SymbolKind::Output)
            });
            let Some(slot) = slot else { continue };
            let output = passes.iter().rev().find_map(|p| p.outputs.iter().find(|o| o.slot == slot));
            if output.is_none() {
                let who = match passes.first().map(|ready| &ready.own) {
                    Some(Own::R700(_)) => "no program exports it".to_owned(),
                    _ if passes.len() == 1 => format!("the program {}", x1k::writes(&all)),
                    _ => format!("the programs together: one {}", x1k::writes(&all)),
                };
                let shown = passes.first().map(|ready| ready.shown(slot)).unwrap_or_default();
                let message = format!("output {shown} is to be saved, and {who}");
                self.error(&save.slot, "output-not-written", message);
            }
            self.items_path(&save.path, output.map_or(ItemType::Float32, |o| o.output.elements().items));
            saves.push((slot, save.clone()));
        }
        saves
    }
}
