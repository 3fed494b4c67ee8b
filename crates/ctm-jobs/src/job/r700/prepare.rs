//! Passes of R700 programs: programs loaded, names resolved, files read, and all mismatches reported at once.

mod bind;

use super::uses::Uses;
use crate::job::checker::{Checker, too_many_rows, varying};
use crate::job::load::read_file;
use crate::job::located::Located;
use crate::job::model::{Job, Output, Pass, ProgramInfo};
use crate::job::r700::model::{R700Pass, target_slot};
use crate::job::ready::{NumberedArrays, Own, R700Ready, Ready, ReadyOutput};
use crate::job::slots::Slots;
use ctm_exec::r700::{CF_CONSTANTS, Semantic, Space, Target};
use ctm_files::FileKind;
use ctm_files::array::ArrayFileKind;
use ctm_files::error::JobError;
use ctm_files::load::Isa;
use ctm_files::program::Code;
use ctm_files::r700::target_name;
use ctm_files::r700::{Interface, Loaded, is_r700};
use ctm_files::render::report_at;
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::{Chip, SymbolKind};
use ctm_isa::r700::text::TextOptions;
use ctm_launch::Ref;
use ctm_launch::r700::target_of;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

impl Checker {
    fn r700_program(&mut self, job: &Job, path: &Located<PathBuf>, which: Option<&str>) -> Option<Loaded> {
        let loaded = self.loaded(load(path, job, which))?;
        self.reports.extend(loaded.reports.iter().cloned());
        Some(loaded)
    }

    pub(in crate::job) fn r700_pass(&mut self, job: &Job, pass: &Pass, own: &R700Pass) -> Option<Ready> {
        let loaded = self.r700_program(job, &pass.program, own.which.as_ref().map(|w| w.value.as_str()))?;
        let mut loaded = loaded;
        let program = &mut loaded.program;
        let errors_before = self.errors();
        if let Some(which) = &own.which
            && (loaded.is_text || loaded.is_bare)
        {
            let path = pass.program.value.display();
            self.error(
                which,
                "which-program",
                format!("`which` chooses a program of a container, and {path} holds one"),
            );
        }
        if let Some(info) = &pass.program_info {
            if let (true, ProgramInfo::R700(value)) = (loaded.is_bare, info.value) {
                if let Some(gprs) = value.gprs.filter(|&n| n < program.gprs) {
                    let message = format!(
                        "`gprs` is {gprs}, and the program names registers up to R{}: those beyond read 0",
                        program.gprs - 1
                    );
                    self.warn(info, "too-few-registers", message);
                }
                program.gprs = value.gprs.unwrap_or(program.gprs);
                program.stack = value.stack.unwrap_or(program.stack);
            } else {
                let message =
                    "this program says itself what [program_info] is for: only bare words (.hex, .bin) need one";
                self.error(info, "program-info-not-needed", message);
            }
        }
        let program = ctm_files::Program::from(Code::R700(Arc::new(loaded)));
        let Interface { program: named, uses, uniforms, attributes, .. } = program.interface()?;
        let attributes = attributes.as_ref().filter(|_| pass.registers.is_none());
        let fetch = match &own.fetch_program {
            Some(path) => Some(self.r700_program(job, path, None)?.program),
            None => None,
        };
        let uses = match (&fetch, attributes) {
            (Some(fetch), _) => {
                if !uses.calls_fetch {
                    let message = "a fetch program is given, and the program has no CALL_FS";
                    self.warn(&pass.program, "fetch-program-not-called", message);
                }
                Cow::Owned(uses.clone().and(Uses::of(&fetch.decode())))
            }
            // A program whose settings name attributes gets them by a fetch, as from a host.
            (None, Some((_, both))) => Cow::Borrowed(both),
            (None, None) => {
                if uses.calls_fetch && pass.registers.is_none() {
                    let diagnostic = Diagnostic::warning(
                        "no-fetch-program",
                        "the program calls a fetch subroutine (CALL_FS), and none is given: the call does nothing",
                    );
                    let help =
                        "give it with fetch_program or --fetch-program, or what it would fetch with [[register]]";
                    self.push(pass.program.place.as_ref(), diagnostic.help(help));
                }
                Cow::Borrowed(uses)
            }
        };
        let uses = &*uses;
        let fetch_program = fetch.or_else(|| attributes.map(|(fetch, _)| fetch.clone()));
        let mut arrays = NumberedArrays::default();
        let constants = self.constants(pass, own, (named, uniforms), uses, &mut arrays);
        let buffers = self.buffers(own, named, uses, &mut arrays);
        let reads = self.textures(pass, named, uses, &mut arrays);
        // A resource whose name or file is wrong may be the missing one.
        if self.errors() == errors_before {
            self.missing(pass, uses, &arrays, &reads, &buffers);
        }
        let memories = self.memories(own);
        let outputs = self.outputs(pass, uses);
        if uses.targets.is_empty() && uses.spaces.is_empty() && !uses.emits {
            let message = "the program exports nothing and writes no memory, so this run has no result";
            let help = "an instruction such as `EXP_DONE: PIX0, R0.xyzw` writes output pix0";
            self.push(pass.program.place.as_ref(), Diagnostic::warning("no-output", message).help(help));
        }
        if let Some(path) = &own.vertices {
            if !uses.emits && !self.several {
                self.warn(path, "no-vertices", "the list of vertices is to be saved, and the program emits none");
            }
            self.array_path(path, &[ArrayFileKind::Npy, ArrayFileKind::Raw]);
        }
        let mut varying = varying(pass, |name| named.symbol(SymbolKind::Constant, name));
        let whole = pass.varying.keys().filter(|which| bind::whole(pass, uniforms, which).is_some());
        let whole: Vec<Option<u8>> = whole.map(|which| number_of(named, which)).collect();
        varying.retain(|(index, _)| !whole.contains(&Some(*index)));
        if whole.len() < pass.varying.len() {
            let of_uniforms = |which: &Ref| bind::whole(pass, uniforms, which).is_some();
            let mut launches = pass.clone();
            launches.varying.retain(|which, _| !of_uniforms(which));
            self.reports.extend(too_many_rows(job, &launches));
        }
        if varying.len() + whole.len() < pass.varying.len() {
            let message = "constants of constant buffers are the same in every launch of a pass; only those of the constant file can differ";
            self.push(pass.program.place.as_ref(), Diagnostic::error("constant-varies", message));
        }
        let semantics = own.semantics.iter().map(|(&id, &gpr)| Semantic { id, gpr }).collect();
        let chip = own.chip.unwrap_or(Chip::Rv770);
        let own = R700Ready { fetch_program, stage: own.stage, chip, semantics, arrays, buffers, memories };
        let number = |which: &Ref| match which {
            Ref::Index(n) => usize::from(*n) < CF_CONSTANTS,
            Ref::Name(_) => false,
        };
        let index = |which: &Ref| if let Ref::Index(n) = which { *n } else { 0 };
        let ints = pass.int.iter().filter(|(which, _)| number(which)).map(|(which, at)| (index(which), at.value));
        let bools = pass.bool.iter().filter(|(which, _)| number(which)).map(|(which, at)| (index(which), at.value));
        let (ints, bools) = (ints.collect(), bools.collect());
        (self.errors() == errors_before).then(|| Ready {
            program: program.clone(),
            floats: constants,
            ints,
            bools,
            varying,
            reads,
            outputs,
            own: Own::R700(Box::new(own)),
        })
    }

    /// The number of a name, or an error that lists the names there are.
    fn r700_number(&mut self, at: &Located<Ref>, program: &Program, kind: SymbolKind, what: &str) -> Option<u8> {
        let names: Vec<&str> = program.symbols.iter().filter(|s| s.kind == kind).map(|s| s.name.as_str()).collect();
        let slots = match kind {
            SymbolKind::Resource => Some(Slots::RESOURCE),
            SymbolKind::Buffer => Some(Slots::BUFFER),
            SymbolKind::Sampler => Some(Slots::SAMPLER),
            _ => None,
        };
        self.named(at, |name| program.symbol(kind, name), (what, &names, slots))
    }

    fn outputs(&mut self, pass: &Pass, uses: &Uses) -> Vec<ReadyOutput> {
        let mut out: Vec<ReadyOutput> = Vec::new();
        for output in &pass.outputs {
            let Some(target) = target_of(&output.slot.value) else {
                let message = format!("there is no output {}", output.slot.value);
                self.error(&output.slot, "bad-value", message);
                continue;
            };
            if !uses.targets.contains(&target) {
                // The job's outputs may be another pass's.
                if !output.saves.is_empty() || !self.several {
                    let message = format!(
                        "output {} is asked for, and the program {}",
                        target_name(target),
                        exports(&uses.targets)
                    );
                    self.error(&output.slot, "output-not-written", message);
                }
                continue;
            }
            if let Some([w, h]) = output.size
                && (pass.domain.i1 >= w || pass.domain.j1 >= h)
            {
                let message = format!(
                    "output {} has {w} columns and {h} rows, and the domain reaches to ({}, {})",
                    target_name(target),
                    pass.domain.i1,
                    pass.domain.j1
                );
                self.error(&output.slot, "output-too-small", message);
            }
            for save in &output.saves {
                self.items_path(&save.path, output.elements().items);
            }
            out.push(ReadyOutput { slot: target_slot(target), output: output.clone() });
        }
        for &target in &uses.targets {
            let slot = target_slot(target);
            if !out.iter().any(|o| o.slot == slot) {
                out.push(ReadyOutput { slot, output: Output::new(Ref::Name(target_name(target))) });
            }
        }
        out.sort_by_key(|o| o.slot);
        out
    }

    /// Memories are there before they are used; `spaces`: those of the passes before.
    pub(in crate::job) fn memory_sequence(
        &mut self,
        pass: &Pass,
        (program, ready): (&ctm_files::Program, &R700Ready),
        spaces: &mut BTreeSet<Space>,
    ) {
        for (slot, space, buffer) in &ready.buffers {
            if !spaces.contains(space) {
                let message =
                    format!("buffer {slot} shows the {} memory, and no pass before this one has it", space.name());
                self.error(&buffer.slot, "missing-memory", message);
            }
        }
        for memory in &ready.memories {
            if memory.initial.is_none() && !spaces.contains(&memory.space) {
                let message = format!("the {} memory has neither `size_bytes` nor `data`", memory.space.name());
                let at =
                    pass.r700().into_iter().flat_map(|o| &o.memories).find(|m| m.space.value == Some(memory.space));
                let place = at.and_then(|m| m.space.place.clone());
                self.push(place.as_ref(), Diagnostic::error("missing-key", message));
            }
            spaces.insert(memory.space);
        }
        for space in program.interface().iter().flat_map(|of| of.uses.spaces.difference(&*spaces)) {
            let name = space.name();
            let message = format!("the program uses the {name} memory, and it is not given");
            let help = format!(
                "give it as [[memory]] with kind = \"{name}\" and size_bytes, or --memory {name}:size_bytes=65536"
            );
            self.push(pass.program.place.as_ref(), Diagnostic::error("missing-memory", message).help(help));
        }
    }
}

/// Reads a program file of an R700 job.
fn load(path: &Located<PathBuf>, job: &Job, which: Option<&str>) -> Result<Loaded, JobError> {
    let (path, place, stated) = (path.value.as_path(), path.place.as_ref(), job.isa);
    let read;
    let bytes = match job.given.bytes_of(path) {
        Some(bytes) => bytes,
        None => {
            read = read_file(path, FileKind::Program, place)?;
            &read
        }
    };
    let wrong = |message: String| JobError::Wrong(vec![report_at(place, Diagnostic::error("wrong-isa", message))]);
    let says_so = is_r700(bytes, path, None);
    let words = path.extension().and_then(|e| e.to_str()).is_some_and(|e| matches!(e, "hex" | "bin"));
    if bytes.is_empty() {
        return Err(wrong(format!("{} is empty; a program for the R700 is wanted", path.display())));
    }
    if !says_so && !words && !is_r700(bytes, path, Some(Isa::R700)) {
        return Err(wrong(format!("{} is no R700 program, and this is an R700 job", path.display())));
    }
    let isa = if says_so { stated } else { Some(Isa::R700) };
    Loaded::from_bytes(bytes, path, isa, which, &TextOptions::default())
}

fn exports(targets: &BTreeSet<Target>) -> String {
    match targets.len() {
        0 => "exports nothing".to_owned(),
        _ => format!("exports {} only", targets.iter().map(|&t| target_name(t)).collect::<Vec<_>>().join(", ")),
    }
}

/// The number of a constant of the constant file.
fn number_of(program: &Program, which: &Ref) -> Option<u8> {
    match which {
        Ref::Index(index) => Some(*index),
        Ref::Name(name) => program.symbol(SymbolKind::Constant, name),
    }
}
