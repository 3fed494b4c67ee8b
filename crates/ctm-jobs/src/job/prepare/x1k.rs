//! Passes of X1K programs: names resolved, arrays read, and all mismatches reported at once.

use crate::job::checker::{Checker, not_read, too_many_rows, unknown_name, unread, varying};
use crate::job::load::Loaded;
use crate::job::located::Located;
use crate::job::machine::StoredForm;
use crate::job::model::{FromOutput, Job, Output, Pass, ProgramInfo};
use crate::job::read::is_flag;
use crate::job::ready::{OutputRead, Own, Ready, ReadyOutput, ReadyTexture};
use crate::job::slots::Slots;
use ctm_device::commands::CondLoc;
use ctm_device::mc::{Format, MAX_INDEX};
use ctm_exec::r700::LoopConstant;
use ctm_files::error::JobError;
use ctm_files::program::Code;
use ctm_files::render::Source;
use ctm_files::render::report_at;
use ctm_image::ctm_elf;
use ctm_isa::diag::Diagnostic;
use ctm_isa::x1k::Program;
use ctm_isa::x1k::program::{Literal, Preload, SymbolKind, Usage};
use ctm_launch::Ref;
use ctm_launch::{Fit, misfit};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Constants by number.
#[derive(Default)]
struct ConstantTables {
    floats: BTreeMap<u8, [u32; 4]>,
    ints: BTreeMap<u8, LoopConstant>,
    bools: BTreeMap<u8, bool>,
}

impl Checker {
    /// The program of a pass; each file is read once.
    fn x1k_program(&mut self, job: &Job, pass: &Pass) -> Option<Arc<Loaded>> {
        let key = (pass.program.value.clone(), pass.program_info.as_ref().map(|i| i.value));
        if let Some(loaded) = self.programs.get(&key) {
            return Some(Arc::clone(loaded));
        }
        let (path, place) = (&pass.program.value, pass.program.place.as_ref());
        let loaded = match job.given.bytes_of(path) {
            Some(bytes) => Loaded::from_bytes(bytes, path, job.isa, place),
            None => Loaded::read(path, job.isa, place),
        };
        let loaded = loaded.and_then(|mut loaded| {
            if let Some(info) = &pass.program_info {
                apply_info(&mut loaded, info)?;
            }
            Ok(loaded)
        });
        let loaded = Arc::new(self.loaded(loaded)?);
        self.reports.extend(loaded.reports.iter().cloned());
        self.programs.insert(key, Arc::clone(&loaded));
        Some(loaded)
    }

    pub(super) fn x1k_pass(&mut self, job: &Job, pass: &Pass) -> Option<Ready> {
        let mut loaded = Loaded::clone(&*self.x1k_program(job, pass)?);
        let source = loaded.source.clone();
        let program = &mut loaded.program;
        let usage = program.usage();
        let errors_before = self.errors();
        let ConstantTables { floats, ints, bools } = self.x1k_constants(pass, program, &usage, source.as_ref());
        self.reports.extend(too_many_rows(job, pass));
        if pass.registers.is_some() {
            program.preloads.clear();
        } else if let Some(index) = program.preloads.iter().find_map(|p| match p {
            Preload::Interpolant { index, .. } => Some(index),
            Preload::Position { .. } => None,
        }) {
            let message = format!(
                "the program receives interpolant {index} from a rasteriser; say with [[register]] what its temporaries hold"
            );
            self.error(&pass.program, "interpolants", message);
        }
        if let Err(e) = ctm_elf::write(program) {
            self.error(&pass.program, e.name(), format!("{}: {e}", pass.program.value.display()));
        }
        let (textures, reads) = self.x1k_textures(pass, program, &usage);
        let outputs = self.x1k_outputs(pass, program, &usage);
        let exports = usage.conditional_value && pass.conditional().is_some();
        if usage.outputs.is_empty() && !exports {
            let report = report_at(
                pass.program.place.as_ref(),
                Diagnostic::warning("no-output", "the program writes no output, so this run has no result")
                    .help("an instruction such as `mov o0, r1` writes output 0; outputs are o0 to o3"),
            );
            self.reports.push(report);
        }
        let mut masks: Vec<u8> = outputs.iter().map(|o| o.output.mask).collect();
        masks.dedup();
        if masks.len() > 1 {
            self.error(&outputs[1].output.slot, "bad-value", "the write mask is one for all outputs, and these differ");
        }
        if let Some(c) = pass.conditional()
            && c.location == CondLoc::Dpp
            && !usage.conditional_value
        {
            let message =
                "the conditional test is made with the program's conditional value, and the program writes none (`w`)";
            self.warn(&pass.program, "no-conditional-value", message);
        }
        let varying = varying(pass, |name| program.symbol(SymbolKind::Float, name));
        let (program, own) = (Code::X1k(Arc::new(loaded)).into(), Own::X1k(textures));
        let ready = Ready { program, floats, ints, bools, varying, reads, outputs, own };
        (self.errors() == errors_before).then_some(ready)
    }

    /// The number of a name, or an error that lists the names there are.
    pub(super) fn x1k_number(&mut self, at: &Located<Ref>, program: &Program, kind: SymbolKind) -> Option<u8> {
        let names: Vec<&str> = program.symbols.iter().filter(|s| s.kind == kind).map(|s| s.name.as_str()).collect();
        let slots = match kind {
            SymbolKind::Input => Slots::X1K_INPUT,
            SymbolKind::Output => Slots::X1K_OUTPUT,
            SymbolKind::Float => Slots::FLOAT,
            SymbolKind::Int => Slots::INT,
            SymbolKind::Bool => Slots::BOOL,
        };
        self.named(at, |name| program.symbol(kind, name), (kind_name(kind), &names, Some(slots)))
    }

    fn x1k_constants(
        &mut self,
        pass: &Pass,
        program: &mut Program,
        usage: &Usage,
        source: Option<&Arc<Source>>,
    ) -> ConstantTables {
        let mut constants = ConstantTables::default();
        // Each with its source: a flag overrides the file, which may name it otherwise.
        let mut given: BTreeMap<(SymbolKind, u8), bool> = BTreeMap::new();
        macro_rules! bank {
            ($map:expr, $kind:expr, $to:expr) => {
                for (which, value) in &$map {
                    let at = Located { value: which.clone(), place: value.place.clone() };
                    if let Some(index) = self.x1k_number(&at, program, $kind) {
                        let by_flag = is_flag(at.place.as_ref());
                        match given.get(&($kind, index)) {
                            Some(true) if !by_flag => continue,
                            Some(earlier) if *earlier == by_flag => {
                                let message = format!("{} {index} is given twice, once by name", kind_name($kind));
                                self.error(&at, "duplicate-constant", message);
                            }
                            _ => {}
                        }
                        given.insert(($kind, index), by_flag);
                        $to.insert(index, value.value);
                    }
                }
            };
        }
        bank!(pass.float, SymbolKind::Float, constants.floats);
        bank!(pass.int, SymbolKind::Int, constants.ints);
        bank!(pass.bool, SymbolKind::Bool, constants.bools);
        // Constants at the top of a job may be another pass's; named ones may have been optimised away.
        if !self.several {
            let mut all = unread("c", pass.float.keys(), &usage.float_constants);
            all.extend(unread("i", pass.int.keys(), &usage.int_constants));
            all.extend(unread("b", pass.bool.keys(), &usage.bool_constants));
            if !all.is_empty() {
                self.warn(&pass.program, "constant-not-read", not_read(&all));
            }
        }
        // The loader would overwrite the job's values with the program's own literals.
        program.literals.retain(|l| !given.contains_key(&literal_key(l)));
        let carried: BTreeSet<_> = program.literals.iter().map(literal_key).collect();
        let read = |kind, indices: &BTreeSet<u8>| -> Vec<(SymbolKind, u8)> {
            indices.iter().map(|&i| (kind, i)).filter(|k| !given.contains_key(k) && !carried.contains(k)).collect()
        };
        let mut missing = read(SymbolKind::Float, &usage.float_constants);
        // A relative address names every constant from its base on: no job gives all of them.
        if usage.float_constants.contains(&255) && missing.len() > 16 {
            missing.retain(|k| program.symbols.iter().any(|s| (s.kind, s.index) == *k));
        }
        missing.extend(read(SymbolKind::Int, &usage.int_constants));
        missing.extend(read(SymbolKind::Bool, &usage.bool_constants));
        let name_of =
            |k: &(SymbolKind, u8)| program.symbols.iter().find(|s| (s.kind, s.index) == *k).map(|s| s.name.clone());
        let (named, numbered): (Vec<_>, Vec<_>) = missing.iter().partition(|k| name_of(k).is_some());
        if !named.is_empty() {
            let list: Vec<String> = named
                .iter()
                .map(|k| format!("`{}` ({}{})", name_of(k).unwrap_or_default(), prefix(k.0), k.1))
                .collect();
            let example = named.first().and_then(|k| name_of(k).map(|n| (k.0, n)));
            let mut diagnostic = Diagnostic::error(
                "missing-constant",
                format!("the program declares constants that the job does not give: {}", list.join(", ")),
            );
            if let Some((kind, name)) = example {
                let (flag, value, table) = match kind {
                    SymbolKind::Int => ("int", "COUNT,AL,STEP", "int"),
                    SymbolKind::Bool => ("bool", "true", "bool"),
                    _ => ("const", "R,G,B,A", "float"),
                };
                diagnostic = diagnostic.help(format!("give it in [constants] {table}, or --{flag} {name}={value}"));
            }
            self.reports.push(report_at(pass.program.place.as_ref(), diagnostic));
        }
        if !numbered.is_empty() {
            let list: Vec<String> = numbered.iter().map(|k| format!("{}{}", prefix(k.0), k.1)).collect();
            let read = if list.len() == 1 {
                "is read and not given; it reads 0"
            } else {
                "are read and not given; they read 0"
            };
            let message = format!("{} {read}", list.join(", "));
            let mut report = report_at(pass.program.place.as_ref(), Diagnostic::warning("constant-not-given", message));
            if report.source.is_none() {
                report.source = source.cloned();
            }
            self.add(report);
        }
        constants
    }

    fn x1k_textures(&mut self, pass: &Pass, program: &Program, usage: &Usage) -> (Vec<ReadyTexture>, Vec<OutputRead>) {
        let mut out: Vec<ReadyTexture> = Vec::new();
        let mut reads = Vec::new();
        for texture in &pass.textures {
            let Some(slot) = self.x1k_number(&texture.slot, program, SymbolKind::Input) else { continue };
            if out.iter().any(|t| t.slot == slot) {
                self.error(&texture.slot, "duplicate-slot", format!("input {slot} is given twice, once by name"));
            }
            if !usage.inputs.contains(&slot) {
                self.warn(
                    &texture.slot,
                    "input-not-read",
                    format!("input {slot} is given, and the program does not read it"),
                );
            }
            let from = texture.output.as_ref().and_then(|f| {
                let FromOutput { output, pass } = &f.value;
                let at = Located { value: output.clone(), place: f.place.clone() };
                Some((self.x1k_number(&at, program, SymbolKind::Output)?, pass.clone()))
            });
            let data = match &texture.data {
                Some(data) => self.array(data, texture.size, texture.format.as_ref()),
                None => {
                    if texture.output.is_none() {
                        self.error(
                            &texture.slot,
                            "missing-key",
                            format!("input {slot} has neither `data` nor `output`"),
                        );
                    }
                    None
                }
            };
            if let (Some(elements), Some(path)) = (&data, &texture.data) {
                let limit = MAX_INDEX as usize;
                let [height, width, _] = elements.shape();
                if width > limit || height > limit || width == 0 || height == 0 {
                    let message =
                        format!("{} is {width}x{height}, inputs have 1 to {limit} columns and rows", path.value);
                    self.error(path, "bad-array", message);
                } else if !texture.has_wrap
                    && from.is_none()
                    && pass.registers.is_none()
                    && let Some(message) = misfit(program, slot, [height, width], pass.domain, Fit::Reaches)
                {
                    let diagnostic = Diagnostic::error("input-too-small", format!("{}: {message}", path.value));
                    let help = "wrap = \"clamp\" (:wrap=clamp) repeats its edge, \"repeat\" the whole";
                    self.reports.push(report_at(path.place.as_ref(), diagnostic.help(help)));
                }
            }
            if let Some((output, pass)) = from {
                let place = texture.output.as_ref().and_then(|from| from.place.clone());
                reads.push(OutputRead { texture: slot, output, pass, has_data: data.is_some(), place });
            }
            out.push(ReadyTexture { slot, texture: texture.clone(), data });
        }
        let bound: BTreeSet<u8> = out.iter().map(|t| t.slot).collect();
        // A texture whose name could not be resolved may be the missing one.
        if out.len() == pass.textures.len() {
            for &input in usage.inputs.difference(&bound) {
                let name = program.symbols.iter().find(|s| s.kind == SymbolKind::Input && s.index == input);
                let shown = name.map(|n| format!(" (`{}`)", n.name)).unwrap_or_default();
                let given = match bound.len() {
                    0 => "none is given".to_owned(),
                    _ => format!("given are {}", list(bound.iter())),
                };
                let diagnostic =
                    Diagnostic::error("missing-input", format!("the program reads input {input}{shown}, and {given}"))
                        .help(format!("give it as [[texture]] with slot = {input}, or --in s{input}=FILE"));
                self.reports.push(report_at(pass.program.place.as_ref(), diagnostic));
            }
        }
        (out, reads)
    }

    fn x1k_outputs(&mut self, pass: &Pass, program: &Program, usage: &Usage) -> Vec<ReadyOutput> {
        let written = &usage.outputs;
        // Uncached writes need single numbers (CTM §3.3.8).
        let format = if program.uncached { Format::Float32x1 } else { Format::Float32x4 };
        let mut out: Vec<ReadyOutput> = Vec::new();
        for output in &pass.outputs {
            // Outputs come from the job, and the name may belong to another pass's program.
            if let Ref::Name(name) = &output.slot.value
                && output.saves.is_empty()
                && program.symbol(SymbolKind::Output, name).is_none()
                && self.several
            {
                continue;
            }
            let Some(slot) = self.x1k_number(&output.slot, program, SymbolKind::Output) else { continue };
            if out.iter().any(|t| t.slot == slot) {
                self.error(&output.slot, "duplicate-slot", format!("output {slot} is given twice, once by name"));
            }
            if !written.contains(&slot) {
                if !output.saves.is_empty() {
                    let message = format!("output {slot} is to be saved, and the program {}", writes(written));
                    self.error(&output.slot, "output-not-written", message);
                }
                continue;
            }
            if let Some([w, h]) = output.size
                && !program.uncached
                && (pass.domain.i1 >= w || pass.domain.j1 >= h)
            {
                let message = format!(
                    "output {slot} has {w} columns and {h} rows, and the domain reaches to ({}, {})",
                    pass.domain.i1, pass.domain.j1
                );
                self.error(&output.slot, "output-too-small", message);
            }
            let format = Some(output.format.unwrap_or(StoredForm::Device(format)));
            out.push(ReadyOutput { slot, output: Output { format, ..output.clone() } });
        }
        for &slot in written {
            if !out.iter().any(|o| o.slot == slot) {
                let format = Some(StoredForm::Device(format));
                let output = Output { format, ..Output::new(Ref::Index(slot)) };
                out.push(ReadyOutput { slot, output });
            }
        }
        out.sort_by_key(|o| o.slot);
        out
    }

    /// Outputs by names that no program has: each pass leaves out those that may be another pass's.
    pub(super) fn named_outputs(&mut self, job: &Job, passes: &[Ready]) {
        let programs = || passes.iter().filter_map(|ready| ready.program.as_x1k());
        let known = |name: &str| programs().any(|program| program.symbol(SymbolKind::Output, name).is_some());
        let of_x1k = job.passes.iter().zip(passes).filter(|(_, ready)| ready.program.as_x1k().is_some());
        for output in of_x1k.flat_map(|(pass, _)| &pass.outputs) {
            let Ref::Name(name) = &output.slot.value else { continue };
            if !known(name) {
                let all = programs().flat_map(|program| &program.symbols).filter(|s| s.kind == SymbolKind::Output);
                let names: BTreeSet<&str> = all.map(|s| s.name.as_str()).collect();
                let names: Vec<&str> = names.into_iter().collect();
                let diagnostic = unknown_name("output", name, &names, Some(Slots::X1K_OUTPUT));
                self.push(output.slot.place.as_ref(), diagnostic);
            }
        }
    }
}

pub(super) fn writes(written: &BTreeSet<u8>) -> String {
    match written.len() {
        0 => "writes no output".to_owned(),
        1 => format!("writes output {} only", list(written.iter())),
        _ => format!("writes outputs {} only", list(written.iter())),
    }
}

fn list<'a>(numbers: impl Iterator<Item = &'a u8>) -> String {
    numbers.map(u8::to_string).collect::<Vec<_>>().join(", ")
}

const fn kind_name(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Input => "input",
        SymbolKind::Output => "output",
        SymbolKind::Float => "float constant",
        SymbolKind::Int => "integer constant",
        SymbolKind::Bool => "boolean constant",
    }
}

const fn prefix(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Input => "s",
        SymbolKind::Output => "o",
        SymbolKind::Float => "c",
        SymbolKind::Int => "i",
        SymbolKind::Bool => "b",
    }
}

const fn literal_key(literal: &Literal) -> (SymbolKind, u8) {
    match *literal {
        Literal::Float { index, .. } => (SymbolKind::Float, index),
        Literal::Int { index, .. } => (SymbolKind::Int, index),
        Literal::Bool { index, .. } => (SymbolKind::Bool, index),
    }
}

/// Applies `[program_info]` to bare words, which lack these declarations.
fn apply_info(loaded: &mut Loaded, info: &Located<ProgramInfo>) -> Result<(), JobError> {
    if !loaded.form.is_bare() {
        let message = "this program says itself what [program_info] is for: only bare words (.hex, .bin) need one";
        return Err(JobError::Wrong(vec![info.error("program-info-not-needed", message)]));
    }
    let p = &mut loaded.program;
    let slots = p.words.len();
    let ProgramInfo::X1k(value) = info.value else { return Ok(()) };
    for (name, value) in [("first", value.first), ("last", value.last)] {
        if let Some(n) = value
            && usize::from(n) >= slots
        {
            let message = format!("`{name}` is {n}, the program has instructions 0 to {}", slots.saturating_sub(1));
            return Err(JobError::Wrong(vec![info.error("bad-value", message)]));
        }
    }
    p.first = value.first.unwrap_or(p.first);
    p.last = value.last.unwrap_or(p.last);
    p.full_flow_control = value.full_flow_control.unwrap_or(p.full_flow_control);
    p.zero_times_anything = value.zero_times_anything.unwrap_or(p.zero_times_anything);
    p.uncached = value.uncached.unwrap_or(p.uncached);
    Ok(())
}
