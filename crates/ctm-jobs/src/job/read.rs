//! The tree into a [`Job`]: every key checked, every error reported with its place and the allowed values.

mod bindings;
mod sliders;
mod whole;

use super::draft::{Draft, DraftTable};
use super::keys;
use super::machine::JobIsa;
use super::names::text_of_name;
use super::slots::Slots;
use super::tree::{Origin, PlacedValue, Table, Tree, Value, is_unreadable};
use crate::job::flags::FLAGS;
use crate::job::folders::Folders;
use crate::job::located::Located;
use crate::job::model::{GivenProgram, Job, OwnSaves, Pass, ProgramInfo, R700Info, X1kInfo};
use ctm_exec::x1k::Plane;
use ctm_files::error::JobError;
use ctm_files::load::Isa;
use ctm_files::render::{Report, Source};
use ctm_files::render::{TextPlace, report_at};
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
    pub(super) given: GivenProgram,
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
        let (tree, _) = Tree::parse(text);
        tree.has_one_of(&["program", "pass"]) && !tree.has_one_of(&keys::DRAW_KEYS)
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
pub(crate) fn is_flag(place: Option<&TextPlace>) -> bool {
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
        reader.tree.root.set("program", PlacedValue { value: Value::String(name), origin });
        reader
    }

    /// The same with the program's bytes, which have been read. The path is for its extension and for messages.
    #[must_use]
    pub fn for_program_bytes(path: impl AsRef<Path>, bytes: Vec<u8>) -> Self {
        let mut reader = Self::for_program(&path);
        reader.given = GivenProgram { path: Some(path.as_ref().to_owned()), bytes: Some(bytes.into()) };
        reader
    }

    pub(crate) fn empty() -> Self {
        Self {
            given: GivenProgram::default(),
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
    pub(crate) const fn given(&self) -> &GivenProgram {
        &self.given
    }

    /// The file's table, unless it is no TOML.
    pub(crate) fn take_root(&mut self) -> Result<Table, JobError> {
        if self.reports.iter().any(|r| is_unreadable(&r.diagnostic)) {
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
        if self.reports.iter().any(|r| is_unreadable(&r.diagnostic)) {
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

    pub(crate) fn place(&self, origin: Origin) -> Option<TextPlace> {
        match origin {
            Origin::File(span) => self.file.clone().map(|source| TextPlace { source, span }),
            Origin::Flag(n) => self.flags.get(n).or(self.flags.last()).map(|source| TextPlace {
                source: source.clone(),
                span: Span::new(0, u32::try_from(source.text().len()).unwrap_or(u32::MAX)),
            }),
        }
    }

    pub(crate) fn push(&mut self, origin: Origin, diagnostic: Diagnostic) {
        let report = report_at(self.place(origin).as_ref(), diagnostic);
        // A table of the job is read again for each pass that inherits it.
        if !self.reports.contains(&report) {
            self.reports.push(report);
        }
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
        let inherited = base.without_saves();
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
                    drafts.push(draft.over(&inherited));
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
            // Saved once, at the end of the job.
            None => vec![inherited],
        };
        let mut passes = Vec::new();
        for draft in drafts {
            passes.extend(self.pass(draft));
        }
        self.pass_references(&passes);
        let saved = base.outputs.iter().filter_map(|part| self.output(&part.table, false));
        let saves = saved.flat_map(|output| output.saves).collect();
        let conditional = base.conditional.and_then(|node| self.conditional(&node)?.save);
        let memories = base.r700.memories.into_iter().filter(|m| m.save.is_some()).collect();
        let own_saves = match passes.first().map_or(Isa::X1k, Pass::isa) {
            Isa::X1k => OwnSaves::X1k(conditional),
            Isa::R700 => OwnSaves::R700(memories),
        };
        let given = self.given.clone();
        let sliders = self.sliders(root);
        let mut job = Job { given, isa: stated_isa, passes, repeat, saves, own_saves, sliders: Vec::new(), run };
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

    /// The instruction set of the job's programs.
    fn program_isa(&self) -> Isa {
        self.isa.unwrap_or(Isa::X1k)
    }

    /// Its row.
    fn machine(&self) -> &'static JobIsa {
        JobIsa::of(self.program_isa())
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
                draft.textures.push(DraftTable { slot: texture.slot, table: node.clone(), fresh: false });
            }
        }
        for node in self.tables(table, "output") {
            if let Some(output) = self.output(node, false) {
                self.once("output", draft.outputs.iter().map(|t| &t.slot), &output.slot);
                draft.outputs.push(DraftTable { slot: output.slot, table: node.clone(), fresh: false });
            }
        }
        draft.conditional = table.get("conditional").filter(|n| self.conditional(n).is_some()).cloned();
        if self.program_isa() == Isa::R700 {
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

    fn program_info(&mut self, node: &PlacedValue) -> Option<ProgramInfo> {
        let table = self.section(node, &keys::PROGRAM_INFO)?;
        let mut number = |key: &str, most| table.get(key).and_then(|n| self.integer(key, n, 0..=most));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against their ranges")]
        let (first, last, gprs, stack) = (
            number("first", 511).map(|n| n as u16),
            number("last", 511).map(|n| n as u16),
            number("gprs", 128).map(|n| n as u8),
            number("stack", 255).map(|n| n as u8),
        );
        let mut flag = |key: &str| table.get(key).and_then(|n| self.boolean(key, n));
        let (full_flow_control, zero_times_anything, uncached) =
            (flag("full_flow_control"), flag("zero_times_anything"), flag("uncached"));
        // Keys of the other instruction set are errors.
        Some(match self.program_isa() {
            Isa::X1k => ProgramInfo::X1k(X1kInfo { first, last, full_flow_control, zero_times_anything, uncached }),
            Isa::R700 => ProgramInfo::R700(R700Info { gprs, stack }),
        })
    }

    fn register(&mut self, node: &PlacedValue) -> Option<Plane> {
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
}
