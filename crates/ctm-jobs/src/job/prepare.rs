//! All preparations of a job before the device is touched: programs loaded, names resolved, arrays read, and all mismatches reported at once.

mod arrays;

use super::load::Loaded;
use super::read::is_flag;
use super::surface::Elements;
use super::values::Slots;
use super::{FromOutput, Job, JobError, Located, Output, Pass, ProgramInfo, Ref, Save, Texture, Varying, report_at};
use ctm_device::commands::CondLoc;
use ctm_device::mc::{Format, MAX_INDEX};
use ctm_exec::x1k::Constants;
use ctm_files::array::Kind;
use ctm_files::render::{Report, Source};
use ctm_isa::diag::Diagnostic;
use ctm_isa::suggest::closest;
use ctm_isa::x1k::Program;
use ctm_isa::x1k::program::{Literal, Preload, SymbolKind, Usage};
use ctm_launch::{Fit, misfit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// A job whose parts have been found to fit together.
pub(super) struct Prepared {
    pub passes: Vec<Ready>,
    pub saves: Vec<(u8, Save)>,
    pub conditional_buffer: Option<Elements>,
    /// Warnings and notes.
    pub reports: Vec<Report>,
}

/// A pass with numbers instead of names and arrays instead of files.
pub(super) struct Ready {
    /// Without the literals that the job overrides; its preloads are those of the launch.
    pub program: Program,
    pub source: Option<Arc<Source>>,
    pub constants: Constants,
    /// Floating-point constants that differ between launches.
    pub varying: Vec<(u8, Varying)>,
    pub textures: Vec<ReadyTexture>,
    pub outputs: Vec<ReadyOutput>,
    /// The write mask of the outputs.
    pub mask: u8,
}

pub(super) struct ReadyTexture {
    pub slot: u8,
    pub texture: Texture,
    /// Output and pass that it reads once they have been written.
    pub from: Option<(u8, Option<String>)>,
    pub data: Option<Arc<Elements>>,
}

pub(super) struct ReadyOutput {
    pub slot: u8,
    pub output: Output,
    /// Its format, or the one that the program asks for.
    pub format: Format,
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

/// Collects errors.
struct Checker {
    reports: Vec<Report>,
    programs: HashMap<(PathBuf, Option<ProgramInfo>), Arc<Loaded>>,
    arrays: HashMap<PathBuf, Arc<Elements>>,
    unsupported: Option<JobError>,
    /// Whether the job has several passes.
    several: bool,
}

impl Prepared {
    pub fn new(job: &Job) -> Result<Self, JobError> {
        let mut checker = Checker {
            reports: Vec::new(),
            programs: HashMap::new(),
            arrays: HashMap::new(),
            unsupported: None,
            several: job.passes.len() > 1,
        };
        let mut passes = Vec::new();
        for pass in &job.passes {
            passes.extend(checker.pass(job, pass));
        }
        let complete = passes.len() == job.passes.len();
        if complete {
            checker.named_outputs(job, &passes);
            checker.sequence(job, &passes);
        }
        let saves = if complete { checker.saves(job, &passes) } else { Vec::new() };
        let buffer = job.passes.iter().find_map(|p| p.conditional.as_ref()?.buffer.as_ref());
        let conditional_buffer = buffer.and_then(|path| checker.array(path, None, None));
        if let (Some(elements), Some(path)) = (&conditional_buffer, buffer)
            && elements.shape()[2] != 1
        {
            let message = format!("the conditional buffer has one channel, {} has {}", path.value, elements.shape()[2]);
            checker.reports.push(path.error("bad-array", message));
        }
        match checker.unsupported {
            _ if checker.reports.iter().any(Report::is_error) => Err(JobError::Wrong(checker.reports)),
            Some(unsupported) => Err(unsupported),
            None => {
                let conditional_buffer = conditional_buffer.map(|e| Elements::clone(&e));
                Ok(Self { passes, saves, conditional_buffer, reports: checker.reports })
            }
        }
    }
}

impl Checker {
    fn error(&mut self, at: &Located<impl Sized>, rule: &'static str, message: impl Into<String>) {
        self.reports.push(report_at(at.place.as_ref(), Diagnostic::error(rule, message)));
    }

    fn warn(&mut self, at: &Located<impl Sized>, rule: &'static str, message: impl Into<String>) {
        let report = report_at(at.place.as_ref(), Diagnostic::warning(rule, message));
        if !self.reports.contains(&report) {
            self.reports.push(report);
        }
    }

    /// The program of a pass; each file is read once.
    fn program(&mut self, job: &Job, pass: &Pass) -> Option<Arc<Loaded>> {
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
        match loaded {
            Ok(loaded) => {
                self.reports.extend(loaded.reports.iter().cloned());
                let loaded = Arc::new(loaded);
                self.programs.insert(key, Arc::clone(&loaded));
                Some(loaded)
            }
            Err(JobError::Wrong(reports) | JobError::Usage(reports)) => {
                // Several passes may name the same wrong file.
                for report in reports {
                    if !self.reports.contains(&report) {
                        self.reports.push(report);
                    }
                }
                None
            }
            Err(other) => {
                self.unsupported.get_or_insert(other);
                None
            }
        }
    }

    fn pass(&mut self, job: &Job, pass: &Pass) -> Option<Ready> {
        let loaded = self.program(job, pass)?;
        let mut program = loaded.program.clone();
        let usage = program.usage();
        let errors_before = self.reports.iter().filter(|r| r.is_error()).count();
        let constants = self.constants(pass, &mut program, &usage, loaded.source.as_ref());
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
        let textures = self.textures(pass, &program, &usage);
        let outputs = self.outputs(pass, &program, &usage);
        let exports = usage.conditional_value && pass.conditional.is_some();
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
        if let Some(c) = &pass.conditional
            && c.location == CondLoc::Dpp
            && !usage.conditional_value
        {
            let message =
                "the conditional test is made with the program's conditional value, and the program writes none (`w`)";
            self.warn(&pass.program, "no-conditional-value", message);
        }
        let errors = self.reports.iter().filter(|r| r.is_error()).count();
        let varying = varying(pass, |name| program.symbol(SymbolKind::Float, name));
        (errors == errors_before).then(|| Ready {
            program,
            varying,
            source: loaded.source.clone(),
            constants,
            textures,
            outputs,
            mask: masks.first().copied().unwrap_or(15),
        })
    }

    /// The number of a name, or an error that lists the names there are.
    fn resolve(&mut self, at: &Located<Ref>, program: &Program, kind: SymbolKind) -> Option<u8> {
        let name = match &at.value {
            Ref::Index(n) => return Some(*n),
            Ref::Name(name) => name,
        };
        if let Some(index) = program.symbol(kind, name) {
            return Some(index);
        }
        let what = kind_name(kind);
        let names: Vec<&str> = program.symbols.iter().filter(|s| s.kind == kind).map(|s| s.name.as_str()).collect();
        let slots = match kind {
            SymbolKind::Input => Slots::X1K_INPUT,
            SymbolKind::Output => Slots::X1K_OUTPUT,
            SymbolKind::Float => Slots::FLOAT,
            SymbolKind::Int => Slots::INT,
            SymbolKind::Bool => Slots::BOOL,
        };
        let diagnostic = unknown_name(what, name, &names, Some(slots));
        self.reports.push(report_at(at.place.as_ref(), diagnostic));
        None
    }

    fn constants(
        &mut self,
        pass: &Pass,
        program: &mut Program,
        usage: &Usage,
        source: Option<&Arc<Source>>,
    ) -> Constants {
        let mut constants = Constants::default();
        // Each with its source: a flag overrides the file, which may name it otherwise.
        let mut given: BTreeMap<(SymbolKind, u8), bool> = BTreeMap::new();
        macro_rules! bank {
            ($map:expr, $kind:expr, $file:expr) => {
                for (which, value) in &$map {
                    let at = Located { value: which.clone(), place: value.place.clone() };
                    if let Some(index) = self.resolve(&at, program, $kind) {
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
                        if let Some(slot) = $file.get_mut(usize::from(index)) {
                            *slot = value.value;
                        }
                    }
                }
            };
        }
        bank!(pass.float, SymbolKind::Float, constants.float);
        bank!(pass.int, SymbolKind::Int, constants.int);
        bank!(pass.bool, SymbolKind::Bool, constants.bool);
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
            if !self.reports.contains(&report) {
                self.reports.push(report);
            }
        }
        constants
    }

    fn textures(&mut self, pass: &Pass, program: &Program, usage: &Usage) -> Vec<ReadyTexture> {
        let mut out: Vec<ReadyTexture> = Vec::new();
        for texture in &pass.textures {
            let Some(slot) = self.resolve(&texture.slot, program, SymbolKind::Input) else { continue };
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
                Some((self.resolve(&at, program, SymbolKind::Output)?, pass.clone()))
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
            out.push(ReadyTexture { slot, texture: texture.clone(), from, data });
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
        out
    }

    fn outputs(&mut self, pass: &Pass, program: &Program, usage: &Usage) -> Vec<ReadyOutput> {
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
            let Some(slot) = self.resolve(&output.slot, program, SymbolKind::Output) else { continue };
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
            out.push(ReadyOutput { slot, output: output.clone(), format: output.format.unwrap_or(format) });
        }
        for &slot in written {
            if !out.iter().any(|o| o.slot == slot) {
                out.push(ReadyOutput { slot, output: Output::new(Ref::Index(slot)), format });
            }
        }
        out.sort_by_key(|o| o.slot);
        out
    }

    /// Outputs by names that no program has: each pass leaves out those that may be another pass's.
    fn named_outputs(&mut self, job: &Job, passes: &[Ready]) {
        let known = |name: &str| passes.iter().any(|p| p.program.symbol(SymbolKind::Output, name).is_some());
        for output in job.passes.iter().flat_map(|pass| &pass.outputs) {
            let Ref::Name(name) = &output.slot.value else { continue };
            if !known(name) {
                let all = passes.iter().flat_map(|p| &p.program.symbols).filter(|s| s.kind == SymbolKind::Output);
                let names: BTreeSet<&str> = all.map(|s| s.name.as_str()).collect();
                let names: Vec<&str> = names.into_iter().collect();
                let diagnostic = unknown_name("output", name, &names, Some(Slots::X1K_OUTPUT));
                let report = report_at(output.slot.place.as_ref(), diagnostic);
                if !self.reports.contains(&report) {
                    self.reports.push(report);
                }
            }
        }
    }

    /// Textures read only outputs that some pass before them has written.
    fn sequence(&mut self, job: &Job, passes: &[Ready]) {
        let mut latest: BTreeSet<u8> = BTreeSet::new();
        let mut named: BTreeMap<&str, BTreeSet<u8>> = BTreeMap::new();
        for (pass, ready) in job.passes.iter().zip(passes) {
            let own: BTreeSet<u8> = ready.outputs.iter().map(|o| o.slot).collect();
            for texture in &ready.textures {
                let Some((output, from)) = &texture.from else { continue };
                let there = match from {
                    Some(name) => named.get(name.as_str()).is_some_and(|o| o.contains(output)),
                    None => latest.contains(output) || ready.program.uncached && own.contains(output),
                };
                if !there && texture.data.is_none() {
                    let message = match from {
                        Some(name) => format!(
                            "pass `{name}` has not written output {output} when this pass begins, and there is no `data`"
                        ),
                        None => {
                            format!("no pass has written output {output} when this pass begins, and there is no `data`")
                        }
                    };
                    let at =
                        Located { value: (), place: texture.texture.output.as_ref().and_then(|o| o.place.clone()) };
                    self.error(&at, "output-not-written", message);
                }
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
            let by_name = |p: &Ready| match &save.slot.value {
                Ref::Index(n) => Some(*n),
                Ref::Name(name) => p.program.symbol(SymbolKind::Output, name),
            };
            let slot = match passes.iter().rev().find_map(by_name) {
                Some(slot) => slot,
                None => match self.resolve(&save.slot, &passes[passes.len() - 1].program, SymbolKind::Output) {
                    Some(slot) => slot,
                    None => continue,
                },
            };
            if !all.contains(&slot) {
                let who = if passes.len() == 1 { "the program " } else { "the programs together: one " };
                let message = format!("output {slot} is to be saved, and {who}{}", writes(&all));
                self.error(&save.slot, "output-not-written", message);
            }
            if Kind::of(&save.path.value).is_none() {
                let message =
                    format!("{} names no kind of array; known are {}", save.path.value.display(), Kind::EXTENSIONS);
                self.error(&save.path, "unknown-extension", message);
            }
            saves.push((slot, save.clone()));
        }
        saves
    }
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

fn writes(written: &BTreeSet<u8>) -> String {
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
    for (name, value) in [("first", info.value.first), ("last", info.value.last)] {
        if let Some(n) = value
            && usize::from(n) >= slots
        {
            let message = format!("`{name}` is {n}, the program has instructions 0 to {}", slots.saturating_sub(1));
            return Err(JobError::Wrong(vec![info.error("bad-value", message)]));
        }
    }
    p.first = info.value.first.unwrap_or(p.first);
    p.last = info.value.last.unwrap_or(p.last);
    p.full_flow_control = info.value.full_flow_control.unwrap_or(p.full_flow_control);
    p.zero_times_anything = info.value.zero_times_anything.unwrap_or(p.zero_times_anything);
    p.uncached = info.value.uncached.unwrap_or(p.uncached);
    Ok(())
}
