//! The tree into a [`Job`]: every key checked, every error reported with its place and the allowed values.

mod whole;

use super::draft::{ConditionalDraft, Draft, OutputDraft, TextureDraft};
use super::keys;
use super::names::text_of_name;
use super::slots::{Slots, formats, tilings};
use super::tree::{Node, Origin, Table, Tree, Value};
use crate::job::flags::FLAGS;
use crate::job::folders::Folders;
use crate::job::located::Located;
use crate::job::model::{FromOutput, Given, Job, ProgramInfo};
use crate::job::r700::draft::LookupDraft;
use crate::job::r700::model::{FILTERS, WRAPS};
use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::mc::Format;
use ctm_exec::r700::LoopConstant;
use ctm_exec::x1k::Plane;
use ctm_files::error::JobError;
use ctm_files::load::Isa;
use ctm_files::render::{Place, report_at};
use ctm_files::render::{Report, Source};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_launch::Ref;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    pub(crate) directory: PathBuf,
    pub(super) reports: Vec<Report>,
    pub(super) isa: Option<Isa>,
    /// A flag gives the domain in a wrong form: that has been reported.
    domain_flag_failed: bool,
    pub(super) given: Given,
    /// Where files may lie; `None`: anywhere.
    folders: Option<Folders>,
}

impl Job {
    /// Whether a text is a job of passes: it has the key `program` or `pass`, and none of a draw job ([`crate::draw::Drawing::is_job`]).
    ///
    /// ```
    /// use ctm::Job;
    /// assert!(Job::is_one("program = \"a.x1k\""));
    /// assert!(!Job::is_one("programs = [\"a.vsh\", \"a.psh\"]"));
    /// ```
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        let (table, _) = toml::de::DeTable::parse_recoverable(text);
        ["program", "pass"].iter().any(|key| table.get_ref().contains_key(*key)) && !keys::is_draw_job(text)
    }

    /// Reads a job file's text. `name` is for messages; file names in it are relative to `directory`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, name: &str, directory: &Path) -> Result<Self, JobError> {
        Reader::for_job(text, name, directory).finish()
    }
}

/// The source of flags, for messages.
const COMMAND_LINE: &str = "command line";

/// Whether something was written as a flag.
pub(crate) fn is_flag(place: Option<&Place>) -> bool {
    place.is_some_and(|p| p.source.name() == COMMAND_LINE)
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
        let bytes = super::load::read_file(path, ctm_files::FileKind::Job, None)?;
        let name = path.display().to_string();
        let text = super::load::text_of(&bytes, &name)?;
        Ok(Self::for_job(text, &name, path.parent().unwrap_or(Path::new(""))))
    }

    /// Begins with a program alone; flags say the rest.
    #[must_use]
    pub fn for_program(path: impl AsRef<Path>) -> Self {
        let mut reader = Self::empty();
        reader.given.path = Some(path.as_ref().to_owned());
        let name = path.as_ref().to_string_lossy().into_owned();
        let origin = Origin::Flag(0);
        reader.flags.push(Arc::new(Source::new(COMMAND_LINE, name.clone())));
        reader.tree.flags.push(name.clone());
        reader.tree.root.set("program", Node { value: Value::String(name), origin });
        reader
    }

    /// The same with the program's bytes, which have been read. The path is for its extension and for messages.
    #[must_use]
    pub fn for_program_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Self {
        let mut reader = Self::for_program(&path);
        reader.given = Given { path: Some(path.as_ref().to_owned()), bytes: Some(bytes.into()) };
        reader
    }

    pub(crate) fn empty() -> Self {
        Self {
            given: Given::default(),
            tree: Tree::default(),
            file: None,
            flags: Vec::new(),
            directory: PathBuf::new(),
            reports: Vec::new(),
            isa: None,
            domain_flag_failed: false,
            folders: None,
        }
    }

    /// Lets the job name only files that lie in its own folder or in `folders`, as [`Folders`] says. Reading fails with `outside-folder` otherwise.
    ///
    /// ```
    /// use ctm::job::{Folders, Reader};
    /// let text = "program = \"/etc/passwd\"\ndomain = [8, 8]\n[[output]]\nslot = 0\n";
    /// let job = Reader::for_job(text, "job.toml", ".".as_ref()).within(&Folders::new(&[])).finish();
    /// assert!(job.unwrap_err().to_string().contains("outside of the job's folder"));
    /// ```
    #[must_use]
    pub fn within(mut self, folders: &Folders) -> Self {
        self.folders = Some(folders.with(&self.directory));
        self
    }

    /// Whether a file is in an allowed folder; otherwise that is an error.
    pub(crate) fn may_open(&mut self, key: &str, path: &Path, origin: Origin) -> bool {
        let refused = self.folders.as_ref().and_then(|folders| folders.refused(path));
        if let Some(why) = refused {
            self.error(origin, "outside-folder", format!("`{key}` is {}, {why}", path.display()));
            return false;
        }
        true
    }

    /// Whether a file that no message is about lies where it may.
    pub(crate) fn is_within(&self, path: &Path) -> bool {
        self.folders.as_ref().is_none_or(|folders| folders.refused(path).is_none())
    }

    /// Sets the instruction set of the program, where its file does not say.
    pub fn isa(&mut self, isa: Isa) {
        self.isa = Some(isa);
    }

    /// Adds a flag of [`FLAGS`] with its value (empty for switches). [`Self::finish`] reports its errors.
    pub fn flag(&mut self, name: &str, value: &str) {
        let Some(flag) = FLAGS.iter().find(|f| f.name == name) else {
            self.reports.push(Report::bare(Diagnostic::error("unknown-flag", format!("there is no flag `--{name}`"))));
            return;
        };
        let result = self.tree.apply(flag, value);
        if let Some(text) = self.tree.flags.last() {
            self.flags.push(Arc::new(Source::new(COMMAND_LINE, text.clone())));
        }
        if let Err(message) = result {
            self.domain_flag_failed |= matches!(name, "size" | "domain");
            self.error(Origin::Flag(self.tree.flags.len().saturating_sub(1)), "bad-flag", message);
        }
    }

    /// As [`Self::flag`]; file names in the value need not be text.
    pub fn flag_os(&mut self, name: &str, value: &OsStr) {
        self.flag(name, &text_of_name(value));
    }

    /// The values so far.
    pub(crate) const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The same, to be changed by flags.
    pub(crate) const fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// Takes note of a flag as it was typed, for messages; the origin of its values.
    pub(crate) fn flag_text(&mut self, text: String) -> Origin {
        let origin = Origin::Flag(self.tree.flags.len());
        self.flags.push(Arc::new(Source::new(COMMAND_LINE, text.clone())));
        self.tree.flags.push(text);
        origin
    }

    /// The instruction set that was asked for.
    pub(crate) const fn stated_isa(&self) -> Option<Isa> {
        self.isa
    }

    /// The program of the command line.
    pub(crate) const fn given(&self) -> &Given {
        &self.given
    }

    /// The file's table, unless it is no TOML.
    pub(crate) fn take_root(&mut self) -> Result<Table, JobError> {
        if self.reports.iter().any(|r| r.diagnostic.rule == "toml-syntax") {
            return Err(JobError::Wrong(std::mem::take(&mut self.reports)));
        }
        Ok(std::mem::take(&mut self.tree.root))
    }

    /// Everything that was found wrong.
    pub(crate) fn done(self) -> Result<(), JobError> {
        if self.reports.iter().any(Report::is_error) { Err(self.failed()) } else { Ok(()) }
    }

    /// The errors found: of usage where all of them are about flags.
    fn failed(self) -> JobError {
        let of_flag = |report: &Report| {
            report.source.as_ref().is_some_and(|source| self.flags.iter().any(|flag| Arc::ptr_eq(flag, source)))
        };
        let from_flags = self.file.is_none() || self.reports.iter().filter(|r| r.is_error()).all(of_flag);
        if from_flags { JobError::Usage(self.reports) } else { JobError::Wrong(self.reports) }
    }

    /// The job.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn finish(mut self) -> Result<Job, JobError> {
        if self.reports.iter().any(|r| r.diagnostic.rule == "toml-syntax") {
            // Further errors of a file that is no TOML follow from that.
            return Err(JobError::Wrong(self.reports));
        }
        let root = std::mem::take(&mut self.tree.root);
        if let Some(key) = keys::DRAW_KEYS.iter().find_map(|key| root.get(key))
            && self.file.is_some()
        {
            self.error(key.origin, "draw-job", "this is a key of draw jobs; `ctm draw` draws them");
            return Err(JobError::Wrong(self.reports));
        }
        let job = self.job(&root);
        if self.reports.iter().any(Report::is_error) {
            return Err(self.failed());
        }
        job.ok_or(JobError::Wrong(self.reports))
    }

    pub(crate) fn place(&self, origin: Origin) -> Option<Place> {
        match origin {
            Origin::File(span) => self.file.clone().map(|source| Place { source, span }),
            Origin::Flag(n) => self.flags.get(n).or(self.flags.last()).map(|source| Place {
                source: source.clone(),
                span: Span::new(0, u32::try_from(source.text().len()).unwrap_or(u32::MAX)),
            }),
        }
    }

    pub(crate) fn push(&mut self, origin: Origin, diagnostic: Diagnostic) {
        let report = report_at(self.place(origin).as_ref(), diagnostic);
        self.reports.push(report);
    }

    pub(crate) fn error(&mut self, origin: Origin, rule: &'static str, message: impl Into<String>) {
        self.push(origin, Diagnostic::error(rule, message));
    }

    pub(crate) fn located<T>(&self, value: T, origin: Origin) -> Located<T> {
        Located { value, place: self.place(origin) }
    }

    // ---- whole tables

    fn job(&mut self, root: &Table) -> Option<Job> {
        const ISAS: [(&str, Isa); 2] = [("x1k", Isa::X1k), ("r700", Isa::R700)];
        if let Some(node) = root.get("isa") {
            self.isa = self.choice("isa", node, &ISAS).or(self.isa);
        }
        let stated_isa = self.isa;
        if self.isa.is_none() && self.finds_r700(root) {
            self.isa = Some(Isa::R700);
        }
        self.known_keys(root, &keys::JOB);
        let base = self.draft(root);
        let run = self.run(root.get("run"));
        let repeat = root.get("repeat").and_then(|n| self.repeat(n)).unwrap_or(1);
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
            None => {
                let mut only = base.clone();
                // Saved once, at the end of the job.
                only.r700.memories.iter_mut().for_each(|m| m.save = None);
                vec![only]
            }
        };
        let mut passes = Vec::new();
        for draft in drafts {
            passes.extend(self.pass(draft));
        }
        self.pass_references(&passes);
        let saves = base.outputs.iter().flat_map(|o| o.saves(false)).collect();
        let conditional_save = base.conditional.and_then(|c| c.save);
        let memory_saves = base.r700.memories.into_iter().filter(|m| m.save.is_some()).collect();
        let given = self.given.clone();
        let sliders = self.sliders(root);
        let mut job = Job {
            given,
            isa: stated_isa,
            passes,
            repeat,
            saves,
            conditional_save,
            memory_saves,
            sliders: Vec::new(),
            run,
        };
        job.sliders = self.sliders_have_values(sliders, |slider| job.slider_value(slider));
        self.one_file_each(&job);
        Some(job)
    }

    /// A later save would replace an earlier one.
    fn one_file_each(&mut self, job: &Job) {
        let mut earlier: Vec<&Located<PathBuf>> = Vec::new();
        for path in job.files() {
            // One key for all passes is one save.
            if earlier.iter().any(|e| e.value == path.value && (e.place.is_none() || e.place != path.place)) {
                let message = format!("two things are saved as {}", path.value.display());
                self.reports.push(path.error("duplicate-file", message));
            }
            earlier.push(path);
        }
    }

    fn is_r700(&self) -> bool {
        self.isa == Some(Isa::R700)
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
        draft.one_dimensional =
            table.get("domain").is_some_and(|n| matches!(&n.value, Value::Array(list) if list.len() == 2));
        if table.get("register").is_some() {
            let mut planes: Vec<Plane> = Vec::new();
            for node in self.tables(table, "register") {
                let Some(plane) = self.register(node) else { continue };
                if planes.iter().any(|p| p.temp == plane.temp) {
                    self.error(node.origin, "duplicate-slot", format!("register {} is given twice", plane.temp));
                }
                planes.push(plane);
            }
            draft.registers = Some(planes);
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
        if self.is_r700() {
            draft.r700 = self.r700_draft(table);
        }
        draft
    }

    pub(crate) fn once<'s>(
        &mut self,
        what: &str,
        mut earlier: impl Iterator<Item = &'s Located<Ref>>,
        slot: &Located<Ref>,
    ) {
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
        let mut small = |key: &str, most| table.get(key).and_then(|n| self.integer(key, n, 0..=most));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against their ranges")]
        let (gprs, stack) = (small("gprs", 128).map(|n| n as u8), small("stack", 255).map(|n| n as u8));
        let mut flag = |key: &str| table.get(key).and_then(|n| self.boolean(key, n));
        Some(ProgramInfo {
            first,
            last,
            full_flow_control: flag("full_flow_control"),
            zero_times_anything: flag("zero_times_anything"),
            uncached: flag("uncached"),
            gprs,
            stack,
        })
    }

    fn register(&mut self, node: &Node) -> Option<Plane> {
        let table = self.section(node, &keys::REGISTER)?;
        let index = self.required(node, table, "index", "[[register]]")?;
        let temp = match self.slot("index", index, Slots::REGISTER)? {
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
        for (key, slots) in [("float", Slots::FLOAT), ("int", Slots::INT), ("bool", Slots::BOOL)] {
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
                let Some(which) = self.slot(key, &name, slots) else { continue };
                let (value, origin) = (&entry.node, entry.node.origin);
                // `0` and `c0` are one constant. A flag overrides the file.
                let earlier = match key {
                    "float" => draft.float.get(&which).map(|c| &c.place),
                    "int" => draft.int.get(&which).map(|c| &c.place),
                    _ => draft.bool.get(&which).map(|c| &c.place),
                };
                if earlier.is_some_and(|place| is_flag(place.as_ref()) == matches!(origin, Origin::Flag(_))) {
                    self.error(origin, "duplicate-constant", format!("{key} constant {which} is given twice"));
                }
                match key {
                    "float" => {
                        draft.varying.remove(&which);
                        // Only R700 containers declare uniforms, by name.
                        let uniform = self.is_r700() && matches!(which, Ref::Name(_));
                        let errors = self.reports.len();
                        if let Some(varying) = self.varying(&format!("constant {}", entry.key), value, uniform) {
                            draft.float.insert(which.clone(), self.located(varying.at(0), origin));
                            draft.varying.insert(which, varying);
                        } else if self.reports.len() == errors
                            && let Some(bits) = self.four_bits(&format!("constant {}", entry.key), value)
                        {
                            draft.float.insert(which, self.located(bits, origin));
                        }
                    }
                    "int" => {
                        let constant = match self.is_r700() {
                            true => self.loop_constant(&entry.key, value),
                            false => self.int_constant(&entry.key, value),
                        };
                        if let Some(constant) = constant {
                            draft.int.insert(which, self.located(constant, origin));
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

    fn int_constant(&mut self, key: &str, node: &Node) -> Option<LoopConstant> {
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
        let [count, start, step, _] = bytes;
        Some(LoopConstant { count: count.into(), start: start.into(), step: step.cast_signed() })
    }

    fn texture(&mut self, node: &Node) -> Option<TextureDraft> {
        let table = self.section(node, &keys::TEXTURE)?;
        let slot_node = self.required(node, table, "slot", "[[texture]]")?;
        let r700 = self.is_r700();
        let slot = match r700 {
            true => self.slot("slot", slot_node, Slots::RESOURCE)?,
            false => self.slot("slot", slot_node, Slots::X1K_INPUT)?,
        };
        let wrap = table.get("wrap").and_then(|n| match &n.value {
            Value::Array(pair) if pair.len() == 2 || r700 && pair.len() == 3 => {
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
            let output = match r700 {
                true => self.target("output", n)?,
                false => self.slot("output", n, Slots::X1K_OUTPUT)?,
            };
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
            lookup: if r700 { self.lookup(table) } else { LookupDraft::default() },
        })
    }

    fn format(&mut self, table: &Table) -> Option<(Format, Origin)> {
        let node = table.get("format")?;
        Some((self.choice("format", node, &formats())?, node.origin))
    }

    fn output(&mut self, node: &Node) -> Option<OutputDraft> {
        let table = self.section(node, &keys::OUTPUT)?;
        let slot_node = self.required(node, table, "slot", "[[output]]")?;
        let r700 = self.is_r700();
        let slot = match r700 {
            true => self.target("slot", slot_node)?,
            false => self.slot("slot", slot_node, Slots::X1K_OUTPUT)?,
        };
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
            format: if r700 { None } else { self.format(table).map(|(f, _)| f) },
            elements: table.get("format").filter(|_| r700).and_then(|n| self.elements(n)),
            tiling: table.get("tiling").and_then(|n| self.choice("tiling", n, &tilings())),
            size: table.get("size").and_then(|n| self.size(n)),
            mask,
            paths: table.get("save").map(|n| self.paths("save", n)).unwrap_or_default(),
            flip_y: table.get("flip_y").and_then(|n| self.boolean("flip_y", n)),
            fresh: false,
            pass_paths: Vec::new(),
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
}
