//! Errors of a job that is prepared, and the files that have been read.

use super::load::Loaded;
use super::slots::Slots;
use super::surface::Elements;
use crate::job::frames::Varying;
use crate::job::located::Located;
use crate::job::model::{Job, Pass, ProgramInfo};
use crate::job::r700::model::MemoryBlock;
use ctm_files::array::{ArrayFileKind, ItemType};
use ctm_files::error::JobError;
use ctm_files::render::Report;
use ctm_files::render::{TextPlace, report_at};
use ctm_isa::diag::Diagnostic;
use ctm_isa::suggest::closest;
use ctm_launch::Ref;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// Collects errors.
pub(super) struct Checker {
    pub reports: Vec<Report>,
    pub programs: HashMap<(PathBuf, Option<ProgramInfo>), Arc<Loaded>>,
    pub arrays: HashMap<PathBuf, Arc<Elements>>,
    pub unsupported: Option<JobError>,
    /// Whether the job has several passes.
    pub several: bool,
}

impl Checker {
    pub fn of(job: &Job) -> Self {
        Self {
            reports: Vec::new(),
            programs: HashMap::new(),
            arrays: HashMap::new(),
            unsupported: None,
            several: job.passes.len() > 1,
        }
    }

    /// Adds a report, once.
    pub fn add(&mut self, report: Report) {
        if !self.reports.contains(&report) {
            self.reports.push(report);
        }
    }

    pub fn push(&mut self, place: Option<&TextPlace>, diagnostic: Diagnostic) {
        self.add(report_at(place, diagnostic));
    }

    pub fn error(&mut self, at: &Located<impl Sized>, rule: &'static str, message: impl Into<String>) {
        self.push(at.place.as_ref(), Diagnostic::error(rule, message));
    }

    pub fn warn(&mut self, at: &Located<impl Sized>, rule: &'static str, message: impl Into<String>) {
        self.push(at.place.as_ref(), Diagnostic::warning(rule, message));
    }

    pub fn keep<T>(&mut self, result: Result<T, Box<Report>>) -> Option<T> {
        result.map_err(|report| self.reports.push(*report)).ok()
    }

    /// A loaded program; its errors are reported once, where several passes name it.
    pub fn loaded<T>(&mut self, result: Result<T, JobError>) -> Option<T> {
        match result {
            Ok(loaded) => return Some(loaded),
            Err(JobError::Wrong(reports) | JobError::Usage(reports)) => reports.into_iter().for_each(|r| self.add(r)),
            Err(other) => {
                self.unsupported.get_or_insert(other);
            }
        }
        None
    }

    pub fn errors(&self) -> usize {
        self.reports.iter().filter(|r| r.is_error()).count()
    }

    /// The number of a name (`index`, if the program has it), or an error that lists the names there are.
    pub fn named(
        &mut self,
        at: &Located<Ref>,
        index: impl FnOnce(&str) -> Option<u8>,
        (what, names, slots): (&str, &[&str], Option<Slots>),
    ) -> Option<u8> {
        let name = match &at.value {
            Ref::Index(n) => return Some(*n),
            Ref::Name(name) => name,
        };
        let index = index(name);
        if index.is_none() {
            self.push(at.place.as_ref(), unknown_name(what, name, names, slots));
        }
        index
    }

    /// A file to which an array goes, by its extension.
    pub fn array_path(&mut self, path: &Located<PathBuf>, allowed: &[ArrayFileKind]) {
        let shown = path.value.display();
        let known = if allowed.contains(&ArrayFileKind::Png) { ArrayFileKind::EXTENSIONS } else { ".npy, .raw" };
        let message = match ArrayFileKind::of(&path.value) {
            Some(kind) if allowed.contains(&kind) => return,
            Some(_) => format!("{shown} cannot be written so; known are {known}"),
            None => format!("{shown} names no kind of array; known are {known}"),
        };
        self.error(path, "unknown-extension", message);
    }

    /// The file of an array of numbers of a type: pictures hold single precision.
    pub fn items_path(&mut self, path: &Located<PathBuf>, items: ItemType) {
        let all = [ArrayFileKind::Npy, ArrayFileKind::Raw, ArrayFileKind::Png, ArrayFileKind::Pfm];
        self.array_path(path, if items == ItemType::Float32 { &all } else { &all[..2] });
    }

    pub fn memory_path(&mut self, memory: &MemoryBlock) {
        if let Some(path) = &memory.save {
            self.items_path(path, memory.items);
        }
    }
}

/// The constants of a pass that differ between launches, by number.
pub(super) fn varying(pass: &Pass, number: impl Fn(&str) -> Option<u8>) -> Vec<(u8, Varying)> {
    let numbered = |(which, varying): (&Ref, &Varying)| {
        let index = match which {
            Ref::Index(index) => Some(*index),
            Ref::Name(name) => number(name),
        };
        Some((index?, varying.clone()))
    };
    pass.varying.iter().filter_map(numbered).collect()
}

/// More rows of a constant than launches, if the pass has any such.
pub(super) fn too_many_rows(job: &Job, pass: &Pass) -> Option<Report> {
    let launches = u64::from(pass.repeat) * u64::from(job.repeat);
    pass.varying.iter().find_map(|(which, varying)| match varying {
        Varying::Rows(rows) if rows.len() as u64 > launches => {
            let times = if launches == 1 { "once".to_owned() } else { format!("{launches} times") };
            let message = format!(
                "constant {which} has {} rows of four numbers, one for each launch, and its program runs {times}",
                rows.len()
            );
            let place = pass.float.get(which).and_then(|value| value.place.as_ref());
            Some(report_at(place, Diagnostic::error("constant-count", message)))
        }
        Varying::Rows(_) | Varying::Numbers(_) | Varying::Line { .. } => None,
    })
}

/// The registers that are given by number and not read.
pub(super) fn unread<'a>(prefix: &str, given: impl Iterator<Item = &'a Ref>, read: &BTreeSet<u8>) -> Vec<String> {
    let is_unread = |which: &&Ref| matches!(which, Ref::Index(n) if !read.contains(n));
    given.filter(is_unread).map(|which| format!("{prefix}{which}")).collect()
}

/// Says that constants are given in vain.
pub(super) fn not_read(names: &[String]) -> String {
    let are = if names.len() == 1 {
        "is given, and the program does not read it"
    } else {
        "are given, and the program reads none of them"
    };
    format!("{} {are}", names.join(", "))
}

/// An unknown name: the known names, and the registers that are bound by number.
pub(super) fn unknown_name(what: &str, name: &str, names: &[&str], slots: Option<Slots>) -> Diagnostic {
    let range = slots.map(|slots| format!(", {}", slots.range())).unwrap_or_default();
    let message = if names.is_empty() {
        format!("the program has no {what} `{name}`: it names none, and they go by number{range}")
    } else {
        format!("the program has no {what} `{name}`; it has {}", names.join(", "))
    };
    let diagnostic = Diagnostic::error("unknown-name", message);
    match (closest(name, names.iter().copied()), Slots::of(name)) {
        (Some(near), _) => diagnostic.help(format!("did you mean `{near}`?")),
        (None, Some((kind, flag))) if slots.is_some_and(|slots| slots.what != kind) => {
            diagnostic.help(format!("`{name}` is one of the {kind}, which {flag} sets"))
        }
        _ => diagnostic,
    }
}
