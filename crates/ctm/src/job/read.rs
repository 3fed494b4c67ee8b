//! The tree into a [`Job`]: every key checked, every error reported with its place and what is allowed.

use super::keys::{self, For, Section};
use super::tree::{Node, Origin, Table, Tree, Value};
use super::{
    Conditional, Data, EngineKind, FLAGS, FromOutput, Isa, Job, JobError, Located, Output, Pass, Place, ProgramInfo,
    Ref, Run, Save, Texture, report_at,
};
use crate::commands::{CondLoc, CondTest};
use crate::mc::{Format, Tiling};
use crate::render::{Report, Source};
use ctm_exec::x1k::{Filter, Plane, Wrap};
use ctm_exec::{Domain, GroupSize};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::x1k::{BOOL_CONSTANTS, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS, TEMPORARIES};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Reads a job from a file's text, from flags, or from both: flags override the file.
///
/// ```
/// use ctm::job::Reader;
/// let mut reader = Reader::for_program("fill.x1k");
/// reader.flag("size", "8x8");
/// reader.flag("out", "o0=fill.npy");
/// let job = reader.finish().unwrap();
/// assert_eq!(job.passes[0].domain.width(), 8);
/// ```
#[derive(Debug)]
pub struct Reader {
    tree: Tree,
    file: Option<Arc<Source>>,
    flags: Vec<Arc<Source>>,
    directory: PathBuf,
    reports: Vec<Report>,
    isa: Option<Isa>,
    unsupported: Option<Report>,
}

impl Job {
    /// Reads a job file's text. `name` is for messages; file names in it are relative to `directory`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, name: &str, directory: &Path) -> Result<Self, JobError> {
        Reader::for_job(text, name, directory).finish()
    }
}

impl Reader {
    /// Begins with a job file's text.
    #[must_use]
    pub fn for_job(text: &str, name: &str, directory: &Path) -> Self {
        let (tree, diagnostics) = Tree::parse(text);
        let source = Arc::new(Source::new(name, text));
        let reports =
            diagnostics.into_iter().map(|diagnostic| Report { diagnostic, source: Some(source.clone()) }).collect();
        Self { tree, file: Some(source), directory: directory.to_owned(), reports, ..Self::empty() }
    }

    /// Begins with a job file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn for_file(path: &Path) -> Result<Self, JobError> {
        let bytes = super::load::read_file(path, "the job", None)?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            let message = format!("{} is no text: byte {at} is not UTF-8", path.display());
            JobError::Wrong(vec![Report::bare(Diagnostic::error("not-text", message))])
        })?;
        Ok(Self::for_job(&text, &path.display().to_string(), path.parent().unwrap_or(Path::new(""))))
    }

    /// Begins with a program alone; flags say the rest.
    #[must_use]
    pub fn for_program(path: impl AsRef<Path>) -> Self {
        let mut reader = Self::empty();
        let name = path.as_ref().to_string_lossy().into_owned();
        let origin = Origin::Flag(0);
        reader.flags.push(Arc::new(Source::new("command line", name.clone())));
        reader.tree.flags.push(name.clone());
        reader.tree.root.set("program", Node { value: Value::String(name), origin });
        reader
    }

    fn empty() -> Self {
        Self {
            tree: Tree::default(),
            file: None,
            flags: Vec::new(),
            directory: PathBuf::new(),
            reports: Vec::new(),
            isa: None,
            unsupported: None,
        }
    }

    /// Says which instruction set the program is for, where its file does not.
    pub fn isa(&mut self, isa: Isa) {
        self.isa = Some(isa);
    }

    /// Adds a flag of [`FLAGS`] with its value (empty for switches). What is wrong with it, [`Self::finish`] tells.
    pub fn flag(&mut self, name: &str, value: &str) {
        let Some(flag) = FLAGS.iter().find(|f| f.name == name) else {
            self.reports.push(Report::bare(Diagnostic::error("unknown-flag", format!("there is no flag `--{name}`"))));
            return;
        };
        let result = self.tree.apply(flag, value);
        if let Some(text) = self.tree.flags.last() {
            self.flags.push(Arc::new(Source::new("command line", text.clone())));
        }
        if let Err(message) = result {
            self.error(Origin::Flag(self.tree.flags.len().saturating_sub(1)), "bad-flag", message);
        }
    }

    /// The job.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn finish(mut self) -> Result<Job, JobError> {
        let root = std::mem::take(&mut self.tree.root);
        let job = self.job(&root);
        let from_flags = self.file.is_none()
            || self
                .reports
                .iter()
                .filter(|r| r.is_error())
                .all(|r| r.source.as_ref().is_some_and(|s| self.flags.iter().any(|f| Arc::ptr_eq(f, s))));
        if self.reports.iter().any(Report::is_error) {
            return Err(if from_flags { JobError::Usage(self.reports) } else { JobError::Wrong(self.reports) });
        }
        match (job, self.unsupported) {
            (_, Some(report)) => Err(JobError::Unsupported(Box::new(report))),
            (Some(job), None) => Ok(job),
            (None, None) => Err(JobError::Wrong(self.reports)),
        }
    }

    fn place(&self, origin: Origin) -> Option<Place> {
        match origin {
            Origin::File(span) => self.file.clone().map(|source| Place { source, span }),
            Origin::Flag(n) => self.flags.get(n).or(self.flags.last()).map(|source| Place {
                source: source.clone(),
                span: Span::new(0, u32::try_from(source.text.len()).unwrap_or(u32::MAX)),
            }),
        }
    }

    fn push(&mut self, origin: Origin, diagnostic: Diagnostic) {
        let report = report_at(self.place(origin).as_ref(), diagnostic);
        self.reports.push(report);
    }

    fn error(&mut self, origin: Origin, rule: &'static str, message: impl Into<String>) {
        self.push(origin, Diagnostic::error(rule, message));
    }

    fn located<T>(&self, value: T, origin: Origin) -> Located<T> {
        Located { value, place: self.place(origin) }
    }

    // ---- whole tables

    fn job(&mut self, root: &Table) -> Option<Job> {
        const ISAS: [(&str, Isa); 2] = [("x1k", Isa::X1k), ("r700", Isa::R700)];
        if let Some(node) = root.get("isa") {
            self.isa = self.choice("isa", node, &ISAS).or(self.isa);
            if self.isa == Some(Isa::R700) {
                self.not_yet(node.origin, "r700 execution is not part of this build yet; x1k programs can be run");
            }
        } else if let Some(Node { value: Value::String(program), origin }) = root.get("program") {
            let extension = Path::new(program).extension().and_then(|e| e.to_str()).unwrap_or("");
            if matches!(extension, "r700" | "psh" | "vsh" | "gsh" | "o") && self.isa.is_none() {
                self.isa = Some(Isa::R700);
                self.not_yet(*origin, format!(
                    "`.{extension}` names an r700 program, and r700 execution is not part of this build yet; x1k programs can be run"
                ));
            }
        }
        self.known_keys(root, &keys::JOB);
        let base = self.draft(root);
        let run = match root.get("run") {
            Some(node) => self.run(node),
            None => Run::default(),
        };
        let repeat = root.get("repeat").and_then(|n| self.repeat(n)).unwrap_or(1);
        for key in ["constant_buffer", "memory"] {
            // Checked for unknown keys; an x1k job has been told that it cannot have them.
            let section = if key == "memory" { &keys::MEMORY } else { &keys::CONSTANT_BUFFER };
            if self.isa == Some(Isa::R700) {
                for node in self.tables(root, key) {
                    self.section(node, section);
                }
            }
        }
        let drafts: Vec<Draft> = match root.get("pass") {
            Some(_) => {
                let mut drafts: Vec<Draft> = Vec::new();
                for node in self.tables(root, "pass") {
                    let Some(table) = self.section(node, &keys::PASS) else { continue };
                    let mut draft = self.draft(table);
                    draft.origin = Some(node.origin);
                    draft.repeat = table.get("repeat").and_then(|n| self.repeat(n));
                    if let Some(name) = &draft.name
                        && drafts.iter().any(|d| d.name.as_ref().is_some_and(|n| n.value == name.value))
                    {
                        let report = name.error("duplicate-name", format!("two passes are named `{}`", name.value));
                        self.reports.push(report);
                    }
                    drafts.push(draft.over(&base));
                }
                if drafts.is_empty() {
                    self.error(
                        root.get("pass")?.origin,
                        "no-pass",
                        "`pass` is an empty list, a job has at least one pass",
                    );
                }
                drafts
            }
            None => vec![base.clone()],
        };
        let mut passes = Vec::new();
        for draft in drafts {
            passes.extend(self.pass(draft));
        }
        self.pass_references(&passes);
        let saves = base.outputs.iter().filter_map(|o| o.save(false)).collect();
        let conditional_save = base.conditional.and_then(|c| c.save);
        Some(Job { isa: self.isa, passes, repeat, saves, conditional_save, run })
    }

    fn not_yet(&mut self, origin: Origin, message: impl Into<String>) {
        let report = report_at(self.place(origin).as_ref(), Diagnostic::error("unsupported", message));
        self.unsupported.get_or_insert(report);
    }

    fn draft(&mut self, table: &Table) -> Draft {
        let mut draft = Draft::default();
        if let Some(node) = table.get("name") {
            draft.name = self.string("name", node).map(|s| self.located(s, node.origin));
        }
        draft.program = table.get("program").and_then(|n| self.path("program", n));
        draft.has_program = table.get("program").is_some();
        draft.has_domain = table.get("domain").is_some();
        if let Some(node) = table.get("program_info") {
            draft.program_info = self.program_info(node).map(|p| self.located(p, node.origin));
        }
        draft.domain = table.get("domain").and_then(|n| self.domain(n));
        if table.get("register").is_some() {
            let nodes = self.tables(table, "register");
            draft.registers = Some(nodes.into_iter().filter_map(|n| self.register(n)).collect());
        }
        if let Some(node) = table.get("constants") {
            self.constants(node, &mut draft);
        }
        for node in self.tables(table, "texture") {
            if let Some(texture) = self.texture(node) {
                self.once("texture", draft.textures.iter().map(|t| &t.slot), &texture.slot);
                draft.textures.push(texture);
            }
        }
        for node in self.tables(table, "output") {
            if let Some(output) = self.output(node) {
                self.once("output", draft.outputs.iter().map(|t| &t.slot), &output.slot);
                draft.outputs.push(output);
            }
        }
        draft.conditional = table.get("conditional").and_then(|n| self.conditional(n));
        draft
    }

    fn once<'s>(&mut self, what: &str, mut earlier: impl Iterator<Item = &'s Located<Ref>>, slot: &Located<Ref>) {
        if earlier.any(|s| s.value == slot.value) {
            let report = slot.error("duplicate-slot", format!("{what} {} is given twice", slot.value));
            self.reports.push(report);
        }
    }

    fn program_info(&mut self, node: &Node) -> Option<ProgramInfo> {
        let table = self.section(node, &keys::PROGRAM_INFO)?;
        let mut slot = |key: &str| table.get(key).and_then(|n| self.integer(key, n, 0..=511));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against 0..=511")]
        let (first, last) = (slot("first").map(|n| n as u16), slot("last").map(|n| n as u16));
        let mut flag = |key: &str| table.get(key).and_then(|n| self.boolean(key, n));
        Some(ProgramInfo {
            first,
            last,
            full_flow_control: flag("full_flow_control"),
            zero_times_anything: flag("zero_times_anything"),
            uncached: flag("uncached"),
        })
    }

    fn register(&mut self, node: &Node) -> Option<Plane> {
        let table = self.section(node, &keys::REGISTER)?;
        let index = self.required(node, table, "index", "[[register]]")?;
        let temp = match self.slot("index", index, TEMPORARIES, "registers")? {
            Ref::Index(n) => n,
            Ref::Name(name) => {
                self.error(
                    index.origin,
                    "bad-value",
                    format!("`index` is `{name}`, registers are 0 to 127 or r0 to r127"),
                );
                return None;
            }
        };
        let bits = table.get("bits").and_then(|n| self.boolean("bits", n)).unwrap_or(false);
        let mut four = |key: &str| match table.get(key) {
            Some(node) => self.doubles(key, node, bits),
            None => Some([0.0; 4]),
        };
        Some(Plane { temp, origin: four("origin")?, di: four("di")?, dj: four("dj")?, bits })
    }

    fn constants(&mut self, node: &Node, draft: &mut Draft) {
        let Some(table) = self.section(node, &keys::CONSTANTS) else { return };
        for (key, limit) in [("float", FLOAT_CONSTANTS), ("int", INT_CONSTANTS), ("bool", BOOL_CONSTANTS)] {
            let Some(node) = table.get(key) else { continue };
            let Value::Table(entries) = &node.value else {
                self.error(
                    node.origin,
                    "bad-type",
                    format!(
                        "`{key}` is {}, it must be a table from index or name to value: `{key} = {{ 0 = ... }}`",
                        node.value.kind()
                    ),
                );
                continue;
            };
            for entry in &entries.entries {
                let name = Node { value: Value::String(entry.key.clone()), origin: entry.origin };
                let Some(which) = self.slot(key, &name, limit, &format!("{key} constants")) else { continue };
                let (value, origin) = (&entry.node, entry.node.origin);
                match key {
                    "float" => {
                        if let Some(bits) = self.four_bits(&format!("constant {}", entry.key), value) {
                            draft.float.insert(which, self.located(bits, origin));
                        }
                    }
                    "int" => {
                        if let Some(bytes) = self.int_constant(&entry.key, value) {
                            draft.int.insert(which, self.located(bytes, origin));
                        }
                    }
                    _ => {
                        if let Some(b) = self.boolean(&entry.key, value) {
                            draft.bool.insert(which, self.located(b, origin));
                        }
                    }
                }
            }
        }
    }

    fn int_constant(&mut self, key: &str, node: &Node) -> Option<[u8; 4]> {
        let list = match &node.value {
            Value::Array(list) if (1..=4).contains(&list.len()) => list,
            other => {
                let found = match other {
                    Value::Array(list) => format!("a list of {}", list.len()),
                    other => other.kind().to_owned(),
                };
                self.error(
                    node.origin,
                    "bad-value",
                    format!("integer constant {key} is {found}, it must be [count, initial aL, step]"),
                );
                return None;
            }
        };
        let mut bytes = [0; 4];
        for (n, (byte, node)) in bytes.iter_mut().zip(list).enumerate() {
            let (name, range) =
                [("count", 0..=255), ("initial aL", 0..=255), ("step", -128..=255), ("spare", 0..=255)][n].clone();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "the low byte, two's complement"
            )]
            let value = self.integer(name, node, range)? as u8;
            *byte = value;
        }
        Some(bytes)
    }

    fn texture(&mut self, node: &Node) -> Option<TextureDraft> {
        const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];
        const WRAPS: [(&str, Wrap); 4] =
            [("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror), ("clamp", Wrap::Clamp), ("border", Wrap::Border)];
        let table = self.section(node, &keys::TEXTURE)?;
        let slot_node = self.required(node, table, "slot", "[[texture]]")?;
        let slot = self.slot("slot", slot_node, INPUTS, "X1K inputs")?;
        let wrap = table.get("wrap").and_then(|n| match &n.value {
            Value::Array(pair) if pair.len() == 2 => {
                Some([self.choice("wrap", &pair[0], &WRAPS)?, self.choice("wrap", &pair[1], &WRAPS)?])
            }
            Value::String(_) => self.choice("wrap", n, &WRAPS).map(|w| [w, w]),
            other => {
                let message = format!("`wrap` is {}, it must be a pair such as [\"repeat\", \"clamp\"]", other.kind());
                self.error(n.origin, "bad-type", message);
                None
            }
        });
        let pass = table.get("pass").and_then(|n| self.string("pass", n));
        let output = table.get("output").and_then(|n| {
            let output = self.slot("output", n, OUTPUTS, "X1K outputs")?;
            Some(self.located(FromOutput { output, pass: pass.clone() }, n.origin))
        });
        if let (Some(n), None) = (table.get("pass"), table.get("output")) {
            self.error(n.origin, "missing-key", "`pass` says whose output is read, and `output` is missing");
        }
        Some(TextureDraft {
            slot: self.located(slot, slot_node.origin),
            data: table.get("data").and_then(|n| self.data("data", n)),
            output,
            filter: table.get("filter").and_then(|n| self.choice("filter", n, &FILTERS)),
            wrap,
            border: table.get("border").and_then(|n| self.four_bits("`border`", n)),
            format: self.format(table).map(|(f, origin)| self.located(f, origin)),
            tiling: table.get("tiling").and_then(|n| self.choice("tiling", n, &tilings())),
            size: table.get("size").and_then(|n| self.size(n)),
        })
    }

    fn format(&mut self, table: &Table) -> Option<(Format, Origin)> {
        let node = table.get("format")?;
        Some((self.choice("format", node, &formats())?, node.origin))
    }

    fn output(&mut self, node: &Node) -> Option<OutputDraft> {
        let table = self.section(node, &keys::OUTPUT)?;
        let slot_node = self.required(node, table, "slot", "[[output]]")?;
        let slot = self.slot("slot", slot_node, OUTPUTS, "X1K outputs")?;
        let mask = table.get("mask").and_then(|n| {
            let text = self.string("mask", n)?;
            let mut mask = 0;
            for c in text.chars() {
                match "rgba".find(c) {
                    Some(bit) => mask |= 1 << bit,
                    None => {
                        self.error(
                            n.origin,
                            "bad-value",
                            format!("`mask` is \"{text}\", it is made of the letters rgba"),
                        );
                        return None;
                    }
                }
            }
            Some(mask)
        });
        Some(OutputDraft {
            slot: self.located(slot, slot_node.origin),
            clear: table.get("clear").and_then(|n| self.four_bits("`clear`", n)),
            format: self.format(table).map(|(f, _)| f),
            tiling: table.get("tiling").and_then(|n| self.choice("tiling", n, &tilings())),
            size: table.get("size").and_then(|n| self.size(n)),
            mask,
            path: table.get("save").and_then(|n| self.path("save", n)),
            flip_y: table.get("flip_y").and_then(|n| self.boolean("flip_y", n)),
            fresh: false,
            pass_path: None,
        })
    }

    fn conditional(&mut self, node: &Node) -> Option<ConditionalDraft> {
        const LOCATIONS: [(&str, CondLoc); 2] = [("dpp", CondLoc::Dpp), ("pe", CondLoc::Pe)];
        let table = self.section(node, &keys::CONDITIONAL)?;
        let names = ["never", "less", "less_equal", "equal", "greater_equal", "greater", "not_equal", "always"];
        let tests: Vec<(&str, CondTest)> = names.into_iter().zip(CondTest::ALL.iter().copied()).collect();
        let mut bits = |key: &str| table.get(key).and_then(|n| self.bits(&format!("`{key}`"), n));
        let (value, clear) = (bits("value"), bits("clear"));
        Some(ConditionalDraft {
            location: table.get("location").and_then(|n| self.choice("location", n, &LOCATIONS)),
            test: table.get("test").and_then(|n| self.choice("test", n, &tests)),
            value,
            clear,
            buffer: table.get("buffer").and_then(|n| self.data("buffer", n)),
            write: table.get("write").and_then(|n| self.boolean("write", n)),
            save: table.get("save").and_then(|n| self.path("save", n)),
        })
    }

    fn run(&mut self, node: &Node) -> Run {
        const ENGINES: [(&str, EngineKind); 3] =
            [("interp", EngineKind::Interp), ("jit", EngineKind::Jit), ("verify", EngineKind::Verify)];
        let mut run = Run::default();
        let Some(table) = self.section(node, &keys::RUN) else { return run };
        if let Some(n) = table.get("engine")
            && let Some(engine) = self.choice("engine", n, &ENGINES)
        {
            run.engine = self.located(engine, n.origin);
            match engine {
                EngineKind::Interp => {}
                EngineKind::Jit => self.not_yet(n.origin, "the jit engine is not part of this build; use interp"),
                EngineKind::Verify => {
                    self.not_yet(n.origin, "the verify engine compares two engines and this build has one; use interp")
                }
            }
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the ranges are checked")]
        {
            if let Some(n) = table.get("threads").and_then(|n| self.integer("threads", n, 0..=1024)) {
                run.threads = n as usize;
            }
            if let Some(node) = table.get("group")
                && let Some(n) = self.integer("group", node, 4..=i128::from(GroupSize::MAX))
            {
                match GroupSize::new(n as u16) {
                    Some(group) => run.group = group,
                    None => self.error(node.origin, "bad-value", format!("`group` is {n}, it must be a multiple of 4")),
                }
            }
            if let Some(n) = table.get("budget_instructions") {
                let limit = self.integer("budget_instructions", n, 0..=i128::from(u64::MAX));
                if let Some(limit) = limit {
                    run.budget.instructions_per_group = (limit > 0).then_some(limit as u64);
                }
            }
        }
        if let Some(node) = table.get("budget_seconds")
            && let Some(seconds) = self.number("budget_seconds", node)
        {
            match Duration::try_from_secs_f64(seconds) {
                Ok(time) => run.budget.time = (!time.is_zero()).then_some(time),
                Err(_) => {
                    let message =
                        format!("`budget_seconds` is {seconds}, it must be a number of seconds, 0 for no limit");
                    self.error(node.origin, "bad-value", message);
                }
            }
        }
        if let Some(check) = table.get("check").and_then(|n| self.boolean("check", n)) {
            run.check = check;
        }
        run
    }

    fn pass(&mut self, draft: Draft) -> Option<Pass> {
        if draft.program.is_none() || draft.domain.is_none() {
            let place = draft
                .origin
                .and_then(|o| self.place(o))
                .or_else(|| self.file.clone().map(|source| Place { source, span: Span::default() }));
            let mut missing = |key: &str, help: &str| {
                let what = if draft.origin.is_some() { "neither this pass nor the job has" } else { "the job has no" };
                let diagnostic = Diagnostic::error("missing-key", format!("{what} `{key}`")).help(help);
                self.reports.push(report_at(place.as_ref(), diagnostic));
            };
            // A key that is there but wrong has been reported already.
            if draft.program.is_none() && !draft.has_program {
                missing("program", "name the program file: program = \"fill.x1k\"");
            }
            if draft.domain.is_none() && !draft.has_domain {
                missing("domain", "give i0, j0, i1, j1, inclusive: domain = [0, 0, 63, 63], or --size 64x64");
            }
            return None;
        }
        let conditional = draft.conditional.map(|c| Conditional {
            location: c.location.unwrap_or(CondLoc::Dpp),
            test: c.test.unwrap_or(CondTest::Always),
            value: c.value.unwrap_or(0),
            clear: c.clear.unwrap_or(0),
            buffer: c.buffer,
            write: c.write.unwrap_or(true),
            save: draft.conditional_save,
        });
        Some(Pass {
            name: draft.name,
            repeat: if draft.origin.is_some() { draft.repeat.unwrap_or(1) } else { 1 },
            program: draft.program?,
            program_info: draft.program_info,
            domain: draft.domain?,
            registers: draft.registers,
            float: draft.float,
            int: draft.int,
            bool: draft.bool,
            textures: draft
                .textures
                .into_iter()
                .map(|t| Texture {
                    slot: t.slot,
                    data: t.data,
                    output: t.output,
                    filter: t.filter.unwrap_or_default(),
                    wrap: t.wrap.unwrap_or_default(),
                    border: t.border.unwrap_or_default(),
                    format: t.format,
                    tiling: t.tiling,
                    size: t.size,
                })
                .collect(),
            outputs: draft
                .outputs
                .into_iter()
                .map(|o| Output {
                    save: o.save(true),
                    slot: o.slot,
                    clear: o.clear.unwrap_or_default(),
                    fresh: o.fresh,
                    format: o.format.unwrap_or(Format::Float32x4),
                    tiling: o.tiling.unwrap_or(Tiling::Linear),
                    size: o.size,
                    mask: o.mask.unwrap_or(15),
                })
                .collect(),
            conditional,
        })
    }

    /// A texture can name only passes that have run when it is read.
    fn pass_references(&mut self, passes: &[Pass]) {
        let names: Vec<&str> = passes.iter().filter_map(|p| p.name.as_ref().map(|n| n.value.as_str())).collect();
        for texture in passes.iter().flat_map(|p| &p.textures) {
            let Some(from) = &texture.output else { continue };
            if let Some(name) = &from.value.pass
                && !names.contains(&name.as_str())
            {
                let mut diagnostic = Diagnostic::error("unknown-pass", format!("no pass is named `{name}`"));
                if let Some(near) = keys::closest(name, names.iter().copied()) {
                    diagnostic = diagnostic.help(format!("there is a pass `{near}`"));
                }
                self.reports.push(report_at(from.place.as_ref(), diagnostic));
            }
        }
    }

    // ---- tables and keys

    fn section<'t>(&mut self, node: &'t Node, section: &Section) -> Option<&'t Table> {
        match &node.value {
            Value::Table(table) => {
                self.known_keys(table, section);
                Some(table)
            }
            other => {
                let message = format!("{} is {}, it must be a table", section.name, other.kind());
                self.error(node.origin, "bad-type", message);
                None
            }
        }
    }

    fn known_keys(&mut self, table: &Table, section: &Section) {
        for entry in &table.entries {
            let Some(key) = section.keys.iter().find(|k| k.name == entry.key) else {
                let mut diagnostic =
                    Diagnostic::error("unknown-key", format!("{} has no key `{}`", section.name, entry.key));
                let names = section.keys.iter().map(|k| k.name);
                diagnostic = match keys::closest(&entry.key, names.clone()) {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => {
                        let home = keys::SECTIONS.iter().find(|s| s.keys.iter().any(|k| k.name == entry.key));
                        match home {
                            Some(home) => diagnostic.help(format!("`{}` is a key of {}", entry.key, home.name)),
                            None => diagnostic.help(format!("its keys are {}", names.collect::<Vec<_>>().join(", "))),
                        }
                    }
                };
                self.push(entry.origin, diagnostic);
                continue;
            };
            let wrong = match (key.isa, self.isa) {
                (For::R700, None | Some(Isa::X1k)) => Some(("an R700", "an X1K")),
                (For::X1k, Some(Isa::R700)) => Some(("an X1K", "an R700")),
                _ => None,
            };
            if let Some((of, is)) = wrong {
                let message = format!("`{}` is a key of {of} job ({}), and this is {is} job", key.name, key.summary);
                self.error(entry.origin, "wrong-isa", message);
            }
        }
    }

    /// The elements of a list of tables.
    fn tables<'t>(&mut self, table: &'t Table, key: &str) -> Vec<&'t Node> {
        match table.get(key) {
            None => Vec::new(),
            Some(Node { value: Value::Array(list), .. }) => list.iter().collect(),
            Some(node) => {
                let message = format!("`{key}` is {}, it must be a list of tables: [[{key}]]", node.value.kind());
                self.error(node.origin, "bad-type", message);
                Vec::new()
            }
        }
    }

    fn required<'t>(&mut self, node: &Node, table: &'t Table, key: &str, what: &str) -> Option<&'t Node> {
        let found = table.get(key);
        if found.is_none() {
            self.error(node.origin, "missing-key", format!("{what} has no `{key}`"));
        }
        found
    }

    // ---- values

    fn wrong_kind(&mut self, key: &str, node: &Node, allowed: &str) {
        self.error(node.origin, "bad-type", format!("`{key}` is {}, it must be {allowed}", node.value.kind()));
    }

    fn string(&mut self, key: &str, node: &Node) -> Option<String> {
        match &node.value {
            Value::String(s) => Some(s.clone()),
            // A flag's bare word may look like a number.
            Value::Integer(n) if matches!(node.origin, Origin::Flag(_)) => Some(n.to_string()),
            _ => {
                self.wrong_kind(key, node, "a string");
                None
            }
        }
    }

    fn boolean(&mut self, key: &str, node: &Node) -> Option<bool> {
        match node.value {
            Value::Boolean(b) => Some(b),
            Value::Integer(n @ (0 | 1)) if matches!(node.origin, Origin::Flag(_)) => Some(n == 1),
            _ => {
                self.wrong_kind(key, node, "true or false");
                None
            }
        }
    }

    /// Paths in the file are relative to it, paths in flags to the current directory.
    fn path(&mut self, key: &str, node: &Node) -> Option<Located<PathBuf>> {
        let text = self.string(key, node)?;
        if text.is_empty() {
            self.error(node.origin, "bad-value", format!("`{key}` is empty, it must name a file"));
            return None;
        }
        let path = match node.origin {
            Origin::File(_) => self.directory.join(text),
            Origin::Flag(_) => PathBuf::from(text),
        };
        Some(self.located(path, node.origin))
    }

    fn data(&mut self, key: &str, node: &Node) -> Option<Located<Data>> {
        self.path(key, node).map(|path| Located { value: Data::File(path.value), place: path.place })
    }

    fn choice<T: Copy>(&mut self, key: &str, node: &Node, allowed: &[(&str, T)]) -> Option<T> {
        let text = self.string(key, node)?;
        if let Some((_, value)) = allowed.iter().find(|(name, _)| *name == text) {
            return Some(*value);
        }
        let names: Vec<&str> = allowed.iter().map(|(name, _)| *name).collect();
        let mut diagnostic =
            Diagnostic::error("bad-value", format!("`{key}` is \"{text}\", it must be one of {}", names.join(", ")));
        if let Some(near) = keys::closest(&text, names) {
            diagnostic = diagnostic.help(format!("did you mean \"{near}\"?"));
        }
        self.push(node.origin, diagnostic);
        None
    }

    fn integer(&mut self, key: &str, node: &Node, range: std::ops::RangeInclusive<i128>) -> Option<i128> {
        let value = match &node.value {
            Value::Integer(n) => Some(*n),
            Value::String(s) => hex(s).map(i128::from),
            _ => None,
        };
        let Some(value) = value else {
            self.wrong_kind(key, node, "an integer");
            return None;
        };
        if !range.contains(&value) {
            let shown = if value == i128::MAX { "too large".to_owned() } else { value.to_string() };
            let message = format!("`{key}` is {shown}, it must be {} to {}", range.start(), range.end());
            self.error(node.origin, "bad-value", message);
            return None;
        }
        Some(value)
    }

    fn repeat(&mut self, node: &Node) -> Option<u32> {
        self.integer("repeat", node, 1..=1_000_000).and_then(|n| u32::try_from(n).ok())
    }

    fn number(&mut self, key: &str, node: &Node) -> Option<f64> {
        match &node.value {
            #[allow(clippy::cast_precision_loss, reason = "rounded once")]
            Value::Integer(n) => Some(*n as f64),
            Value::Float(f) => Some(*f),
            _ => {
                self.wrong_kind(key, node, "a number");
                None
            }
        }
    }

    /// The bits of a single-precision number: a number, rounded once, or a string with a bit pattern.
    fn bits(&mut self, what: &str, node: &Node) -> Option<u32> {
        match &node.value {
            #[allow(clippy::cast_precision_loss, reason = "rounded once")]
            Value::Integer(n) => Some((*n as f32).to_bits()),
            #[allow(clippy::cast_possible_truncation, reason = "rounded once")]
            Value::Float(f) => Some((*f as f32).to_bits()),
            Value::String(s) if hex(s).is_some() => hex(s),
            Value::String(s) => {
                let message = format!("{what} has \"{s}\", a bit pattern is written \"0x3F800000\"");
                self.error(node.origin, "bad-value", message);
                None
            }
            other => {
                let message =
                    format!("{what} has {}, it must be a number or a bit pattern \"0x3F800000\"", other.kind());
                self.error(node.origin, "bad-type", message);
                None
            }
        }
    }

    fn four<'t>(&mut self, what: &str, node: &'t Node) -> Option<&'t [Node; 4]> {
        if let Value::Array(list) = &node.value
            && let Ok(four) = <&[Node; 4]>::try_from(list.as_slice())
        {
            return Some(four);
        }
        let found = match &node.value {
            Value::Array(list) => format!("a list of {}", list.len()),
            other => other.kind().to_owned(),
        };
        self.error(node.origin, "bad-value", format!("{what} is {found}, it must have four numbers r, g, b, a"));
        None
    }

    fn four_bits(&mut self, what: &str, node: &Node) -> Option<[u32; 4]> {
        let [r, g, b, a] = self.four(what, node)?;
        let [r, g, b, a] = [r, g, b, a].map(|n| self.bits(what, n));
        Some([r?, g?, b?, a?])
    }

    /// Four numbers in double precision; a bit pattern is the integer or the single-precision number that it is.
    fn doubles(&mut self, key: &str, node: &Node, bits: bool) -> Option<[f64; 4]> {
        let [r, g, b, a] = self.four(&format!("`{key}`"), node)?;
        let [r, g, b, a] = [r, g, b, a].map(|n| match &n.value {
            Value::String(s) if hex(s).is_some() => {
                hex(s).map(|word| if bits { f64::from(word) } else { f64::from(f32::from_bits(word)) })
            }
            _ => self.number(key, n),
        });
        Some([r?, g?, b?, a?])
    }

    /// A slot by number (`0`, `s0`) or by the program's name for it.
    fn slot(&mut self, key: &str, node: &Node, limit: usize, what: &str) -> Option<Ref> {
        let number = match &node.value {
            Value::Integer(n) => *n,
            Value::String(s) => match register_number(s) {
                Some(n) => n,
                None if is_name(s) => return Some(Ref::Name(s.clone())),
                None => {
                    self.error(
                        node.origin,
                        "bad-value",
                        format!("`{key}` is \"{s}\", it must be a number 0 to {} or a name of the program", limit - 1),
                    );
                    return None;
                }
            },
            _ => {
                self.wrong_kind(key, node, &format!("a number 0 to {} or a name of the program", limit - 1));
                return None;
            }
        };
        match u8::try_from(number) {
            Ok(n) if usize::from(n) < limit => Some(Ref::Index(n)),
            _ => {
                self.error(node.origin, "bad-value", format!("`{key}` is {number}, {what} are 0 to {}", limit - 1));
                None
            }
        }
    }

    fn domain(&mut self, node: &Node) -> Option<Domain> {
        let corners = match &node.value {
            Value::Array(list) if list.len() == 4 => list,
            _ => {
                self.error(node.origin, "bad-value", "`domain` must be four integers i0, j0, i1, j1, inclusive");
                return None;
            }
        };
        let mut out = [0; 4];
        for ((name, node), out) in ["i0", "j0", "i1", "j1"].iter().zip(corners).zip(&mut out) {
            *out = u32::try_from(self.integer(name, node, 0..=4095)?).ok()?;
        }
        let [i0, j0, i1, j1] = out;
        if i1 < i0 || j1 < j0 {
            self.error(node.origin, "bad-value", format!(
                "the domain [{i0}, {j0}, {i1}, {j1}] is empty: it is i0, j0, i1, j1, inclusive, and i1 >= i0, j1 >= j0"
            ));
            return None;
        }
        Some(Domain { i0, j0, i1, j1 })
    }

    fn size(&mut self, node: &Node) -> Option<[u32; 2]> {
        match &node.value {
            Value::Array(list) if list.len() == 2 => {
                let w = self.integer("size", &list[0], 1..=4096)?;
                let h = self.integer("size", &list[1], 1..=4096)?;
                Some([u32::try_from(w).ok()?, u32::try_from(h).ok()?])
            }
            _ => {
                self.wrong_kind("size", node, "[columns, rows]");
                None
            }
        }
    }
}

/// Device formats by their names in job files: those of the commands, in lower case.
#[must_use]
pub fn formats() -> Vec<(&'static str, Format)> {
    let names = ["uint16_1", "uint8_4", "float32_1", "float32_2", "float32_4"];
    names.into_iter().zip(Format::ALL.iter().copied()).collect()
}

/// Orders in memory by their names in job files: those of the commands, in lower case.
pub(super) fn tilings() -> Vec<(&'static str, Tiling)> {
    ["linear", "tiled", "linear_inp_2x2", "tiled_inp_2x2"].into_iter().zip(Tiling::ALL.iter().copied()).collect()
}

/// `"0x3F800000"`: up to 32 bits.
fn hex(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

/// `12`, `s12`, `c12`, `o2`, `i3`, `b4`, `r5`: the registers' own names.
pub(super) fn register_number(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['s', 'c', 'o', 'i', 'b', 'r']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || "_.".contains(c))
}

// ---- what a table said, before the job's own keys are mixed in

#[derive(Clone, Debug, Default)]
struct Draft {
    origin: Option<Origin>,
    name: Option<Located<String>>,
    repeat: Option<u32>,
    program: Option<Located<PathBuf>>,
    has_program: bool,
    program_info: Option<Located<ProgramInfo>>,
    domain: Option<Domain>,
    has_domain: bool,
    registers: Option<Vec<Plane>>,
    float: BTreeMap<Ref, Located<[u32; 4]>>,
    int: BTreeMap<Ref, Located<[u8; 4]>>,
    bool: BTreeMap<Ref, Located<bool>>,
    textures: Vec<TextureDraft>,
    outputs: Vec<OutputDraft>,
    conditional: Option<ConditionalDraft>,
    /// Where the buffer goes after this very pass.
    conditional_save: Option<Located<PathBuf>>,
}

#[derive(Clone, Debug)]
struct TextureDraft {
    slot: Located<Ref>,
    data: Option<Located<Data>>,
    output: Option<Located<FromOutput>>,
    filter: Option<Filter>,
    wrap: Option<[Wrap; 2]>,
    border: Option<[u32; 4]>,
    format: Option<Located<Format>>,
    tiling: Option<Tiling>,
    size: Option<[u32; 2]>,
}

#[derive(Clone, Debug)]
struct OutputDraft {
    slot: Located<Ref>,
    clear: Option<[u32; 4]>,
    format: Option<Format>,
    tiling: Option<Tiling>,
    size: Option<[u32; 2]>,
    mask: Option<u8>,
    /// Saved at the end of the job (in the job's own table) or of the pass (in a pass's).
    path: Option<Located<PathBuf>>,
    flip_y: Option<bool>,
    fresh: bool,
    pass_path: Option<Located<PathBuf>>,
}

#[derive(Clone, Debug)]
struct ConditionalDraft {
    location: Option<CondLoc>,
    test: Option<CondTest>,
    value: Option<u32>,
    clear: Option<u32>,
    buffer: Option<Located<Data>>,
    write: Option<bool>,
    save: Option<Located<PathBuf>>,
}

impl Draft {
    /// What this pass says, and where it says nothing what the job says.
    fn over(self, base: &Self) -> Self {
        let own_program = self.program.is_some() || self.has_program;
        let mut out = Self {
            origin: self.origin,
            name: self.name,
            repeat: self.repeat,
            program: self.program.or_else(|| base.program.clone()),
            has_program: self.has_program || base.has_program,
            program_info: self.program_info.or_else(|| base.program_info.clone().filter(|_| !own_program)),
            domain: self.domain.or(base.domain),
            has_domain: self.has_domain || base.has_domain,
            registers: self.registers.or_else(|| base.registers.clone()),
            float: base.float.clone(),
            int: base.int.clone(),
            bool: base.bool.clone(),
            textures: base.textures.clone(),
            outputs: base.outputs.iter().map(|o| OutputDraft { path: None, ..o.clone() }).collect(),
            conditional: base.conditional.clone(),
            conditional_save: self.conditional.as_ref().and_then(|c| c.save.clone()),
        };
        out.float.extend(self.float);
        out.int.extend(self.int);
        out.bool.extend(self.bool);
        for own in self.textures {
            match out.textures.iter_mut().find(|t| t.slot.value == own.slot.value) {
                Some(t) => {
                    // A file of the pass's own takes the place of an output, and an output that of the file, which
                    // then serves until the output has been written.
                    t.output = if own.data.is_some() { own.output } else { own.output.or(t.output.take()) };
                    t.data = own.data.or(t.data.take());
                    t.filter = own.filter.or(t.filter);
                    t.wrap = own.wrap.or(t.wrap);
                    t.border = own.border.or(t.border);
                    t.format = own.format.or(t.format.take());
                    t.tiling = own.tiling.or(t.tiling);
                    t.size = own.size.or(t.size);
                }
                None => out.textures.push(own),
            }
        }
        for own in self.outputs {
            let fresh = own.clear.is_some();
            match out.outputs.iter_mut().find(|o| o.slot.value == own.slot.value) {
                Some(o) => {
                    o.clear = own.clear.or(o.clear);
                    o.format = own.format.or(o.format);
                    o.tiling = own.tiling.or(o.tiling);
                    o.size = own.size.or(o.size);
                    o.mask = own.mask.or(o.mask);
                    o.flip_y = own.flip_y.or(o.flip_y);
                    o.fresh = fresh;
                    o.pass_path = own.path;
                }
                None => out.outputs.push(OutputDraft { fresh, pass_path: own.path.clone(), path: None, ..own }),
            }
        }
        if let Some(own) = self.conditional {
            out.conditional = Some(match out.conditional.take() {
                None => own,
                Some(c) => ConditionalDraft {
                    location: own.location.or(c.location),
                    test: own.test.or(c.test),
                    value: own.value.or(c.value),
                    clear: own.clear.or(c.clear),
                    buffer: own.buffer.or(c.buffer),
                    write: own.write.or(c.write),
                    save: None,
                },
            });
        }
        out
    }
}

impl OutputDraft {
    fn save(&self, of_pass: bool) -> Option<Save> {
        let path = if of_pass { &self.pass_path } else { &self.path };
        Some(Save { slot: self.slot.clone(), path: path.clone()?, flip_y: self.flip_y.unwrap_or(false) })
    }
}
