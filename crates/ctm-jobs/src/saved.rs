//! A job with copies of its files in a directory of its own: the job file that flags or a file describe, for later runs with the same results.
//!
//! The values are those of the tree, flags included; names of files become names in the directory. Which keys name files is said by the tables of
//! [`job::keys`](crate::job::keys) and [`draw::keys`](crate::draw::keys).

use crate::draw::{Drawing, keys as draw_keys};
use crate::job::keys::{self, Holds, Section};
use crate::job::names::{name_of_text, text_of_name};
use crate::job::slots::{Slots, register_number};
use crate::job::tree::{Origin, PlacedValue, Table, Value};
use crate::job::{AnyProgram, GivenProgram, Isa, JobError, PassProgram, Reader, read_file};
use ctm_files::render::Report;
use ctm_files::{FileKind, mesh, save};
use ctm_isa::diag::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The name of the job file in the directory.
pub const JOB_FILE: &str = "job.toml";

/// The first line of a saved job: a directory that begins with it may be replaced.
const MARK: &str = "# Saved with its files: it needs nothing outside of this directory.\n";

/// A job as a reader has it, to be written with its files.
///
/// ```
/// use ctm::job::Reader;
///
/// let mut reader = Reader::for_program_bytes("fill.x1k", b"mov o0, c0\n".to_vec());
/// reader.flag("size", "2x2");
/// reader.flag("const", "c0=0.25,0.5,0.75,1");
/// let saved = reader.saved();
/// let first = reader.finish()?.run(|_| {})?;
///
/// let directory = std::env::temp_dir().join(format!("ctm-saved-{}", std::process::id()));
/// let files = saved.write(&directory, &[])?;
/// assert_eq!(files[0], directory.join("job.toml"));
/// let again = Reader::for_file(&files[0])?.finish()?.run(|_| {})?;
/// assert_eq!(first.named("o0").unwrap().to_f32(), again.named("o0").unwrap().to_f32());
/// # std::fs::remove_dir_all(&directory).unwrap();
/// # Ok::<(), ctm::JobError>(())
/// ```
#[derive(Clone, Debug)]
pub struct SavedJob {
    root: Table,
    directory: PathBuf,
    given: GivenProgram,
    is_draw: bool,
}

impl Reader {
    /// The job as it is now, with the flags so far, to be written with its files.
    #[must_use]
    pub fn saved(&self) -> SavedJob {
        let (tree, isa) = (self.tree(), self.stated_isa());
        let mut root = tree.root.clone();
        if let Some(isa) = isa.filter(|_| root.get("isa").is_none()) {
            let name = match isa {
                Isa::X1k => "x1k",
                Isa::R700 => "r700",
            };
            root.set("isa", PlacedValue { value: Value::String(name.to_owned()), origin: Origin::Flag(0) });
        }
        let is_draw = keys::DRAW_KEYS.iter().any(|key| root.get(key).is_some());
        SavedJob { root, directory: self.directory.clone(), given: self.given().clone(), is_draw }
    }
}

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

fn cannot(path: &Path, why: impl std::fmt::Display) -> JobError {
    wrong("cannot-write", format!("{} cannot be written: {why}", path.display()))
}

impl SavedJob {
    /// Adds a file that a draw job's first colour target is saved to.
    pub fn save_target(&mut self, path: &Path) {
        let origin = Origin::Flag(0);
        let targets = self.root.list("target", origin);
        if targets.is_empty() {
            targets.push(PlacedValue { value: Value::Table(Table::default()), origin });
        }
        let Some(PlacedValue { value: Value::Table(first), .. }) = targets.first_mut() else { return };
        let name = |text: String| PlacedValue { value: Value::String(text), origin };
        let added = name(text_of_name(path.as_os_str()));
        let all = match first.get("save") {
            None => added,
            Some(PlacedValue { value: Value::Array(list), .. }) => {
                PlacedValue { value: Value::Array(list.iter().cloned().chain([added]).collect()), origin }
            }
            Some(one) => PlacedValue { value: Value::Array(vec![one.clone(), added]), origin },
        };
        first.set("save", all);
    }

    /// Writes [`JOB_FILE`] and copies of all files that the job reads; files that it writes go beside them when it runs. `programs` are those of the
    /// job's passes, for their names of constants; none of draws. The files, the job first.
    ///
    /// The directory is new, empty, or one of an earlier saved job.
    ///
    /// # Errors
    /// The directory holds something else, a file cannot be read or written, or the written job cannot be read again.
    pub fn write(mut self, directory: &Path, programs: &[PassProgram]) -> Result<Vec<PathBuf>, JobError> {
        let job = directory.join(JOB_FILE);
        match std::fs::read_dir(directory) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                std::fs::create_dir_all(directory).map_err(|e| cannot(directory, e))?;
            }
            Err(e) => return Err(cannot(directory, e)),
            Ok(mut entries) => {
                if entries.next().is_some() && !ctm_files::begins_with(&job, MARK.as_bytes()) {
                    let message = format!(
                        "{} is not empty and holds no saved job; a job is saved in a new directory, or in place of a saved one",
                        directory.display()
                    );
                    return Err(wrong("cannot-write", message));
                }
            }
        }
        one_spelling(&mut self.root, programs);
        let sections = if self.is_draw { draw_keys::SECTIONS } else { keys::SECTIONS };
        let Some(top) = sections.first() else { return Ok(Vec::new()) };
        let mut copies = Copies::new(&self, directory);
        let mut root = self.root.clone();
        copies.table(&mut root, top, sections)?;
        let mut files = vec![job.clone()];
        files.append(&mut copies.written);
        save::save(&job, format!("{MARK}{}", root.print()).as_bytes()).map_err(|e| cannot(&job, e))?;
        let again = Reader::for_file(&job)?;
        let read =
            if self.is_draw { Drawing::from_reader(again).map(|_| ()) } else { again.finish()?.programs().map(|_| ()) };
        read.map(|()| files)
    }
}

/// Flags override constants of the file that have another name there: those go.
fn one_spelling(root: &mut Table, programs: &[PassProgram]) {
    let Some(PlacedValue { value: Value::Table(kinds), .. }) =
        root.entries.iter_mut().find(|e| e.key == "constants").map(|e| &mut e.node)
    else {
        return;
    };
    for (kind, slots) in [("float", Slots::FLOAT), ("int", Slots::INT), ("bool", Slots::BOOL)] {
        let Some(Value::Table(all)) = kinds.entries.iter_mut().find(|e| e.key == kind).map(|e| &mut e.node.value)
        else {
            continue;
        };
        let by_flag: Vec<String> = all
            .entries
            .iter()
            .filter(|entry| matches!(entry.node.origin, Origin::Flag(_)))
            .map(|entry| entry.key.clone())
            .collect();
        all.entries.retain(|entry| {
            matches!(entry.node.origin, Origin::Flag(_))
                || !by_flag.iter().any(|flag| are_one(flag, &entry.key, kind, slots.letters, programs))
        });
    }
}

/// Whether two names mean one constant: by number, or by a program's name for it.
fn are_one(a: &str, b: &str, kind: &str, letters: &[char], programs: &[PassProgram]) -> bool {
    use ctm_isa::{r700, x1k};
    let numbers = |name: &str| -> BTreeSet<i128> {
        let by_name = programs.iter().filter_map(|pass| match &pass.program {
            AnyProgram::X1k(program) => {
                let kind = match kind {
                    "int" => x1k::program::SymbolKind::Int,
                    "bool" => x1k::program::SymbolKind::Bool,
                    _ => x1k::program::SymbolKind::Float,
                };
                program.symbol(kind, name).map(i128::from)
            }
            AnyProgram::R700(program) => program.symbol(r700::program::SymbolKind::Constant, name).map(i128::from),
        });
        by_name.chain(register_number(name, letters)).collect()
    };
    a == b || !numbers(a).is_disjoint(&numbers(b))
}

/// The files that are copied while the tree is walked.
struct Copies<'a> {
    job: &'a SavedJob,
    to: &'a Path,
    /// Names in the directory.
    taken: BTreeSet<String>,
    /// Names of files that are read, by their path.
    inputs: BTreeMap<PathBuf, String>,
    /// Names of files that the job writes, by their path.
    outputs: BTreeMap<PathBuf, String>,
    written: Vec<PathBuf>,
}

impl<'a> Copies<'a> {
    fn new(job: &'a SavedJob, to: &'a Path) -> Self {
        let (inputs, outputs) = (BTreeMap::new(), BTreeMap::new());
        Self { job, to, taken: BTreeSet::from([JOB_FILE.to_owned()]), inputs, outputs, written: Vec::new() }
    }

    /// Makes the values of a table those of the saved job.
    fn table(&mut self, table: &mut Table, section: &Section, sections: &[&Section]) -> Result<(), JobError> {
        for entry in &mut table.entries {
            let key = section.keys.iter().find(|key| key.name == entry.key);
            self.value(&mut entry.node, &entry.key, key.map_or(Holds::Values, |key| key.holds), sections)?;
        }
        Ok(())
    }

    fn value(
        &mut self,
        node: &mut PlacedValue,
        key: &str,
        holds: Holds,
        sections: &[&Section],
    ) -> Result<(), JobError> {
        let inner = sections.iter().find(|section| !key.is_empty() && section.key() == key);
        match (&mut node.value, inner) {
            (Value::Table(table), Some(section)) if key == "constants" => {
                self.table(table, section, sections)?;
                let bools = table.entries.iter_mut().filter(|entry| entry.key == "bool");
                for PlacedValue { value, .. } in bools.map(|entry| &mut entry.node) {
                    if let Value::Table(all) = value {
                        all.entries.iter_mut().for_each(|entry| switch(&mut entry.node.value));
                    }
                }
            }
            (Value::Table(table), Some(section)) => self.table(table, section, sections)?,
            (Value::Array(list), _) => {
                for node in list {
                    self.value(node, key, holds, sections)?;
                }
            }
            (value, _) => match holds {
                Holds::Switch => switch(value),
                Holds::Word => {
                    if let Value::Integer(n) = value {
                        *value = Value::String(n.to_string());
                    }
                }
                Holds::Input if key == "mesh" => {
                    if let Value::String(text) = value
                        && Path::new(&*text).extension().is_some()
                    {
                        *text = self.mesh(&self.path(text, node.origin, key))?;
                    }
                }
                Holds::Input => {
                    if let Value::String(text) = value {
                        *text = self.input(&self.path(text, node.origin, key), key)?;
                    }
                }
                Holds::Output => {
                    if let Value::String(text) = value {
                        let path = self.path(text, node.origin, key);
                        *text = match self.outputs.get(&path) {
                            Some(name) => name.clone(),
                            None => {
                                let name = self.name(&path);
                                self.outputs.insert(path, name.clone());
                                name
                            }
                        };
                    }
                }
                Holds::Values => {}
            },
        }
        Ok(())
    }

    /// A file of the job: relative to the job file, or of a flag to the current directory.
    fn path(&self, text: &str, origin: Origin, key: &str) -> PathBuf {
        match origin {
            Origin::File(_) => self.job.directory.join(text),
            Origin::Flag(0) if key == "program" && self.job.given.path.is_some() => {
                self.job.given.path.clone().unwrap_or_default()
            }
            Origin::Flag(_) => name_of_text(text),
        }
    }

    /// A free name in the directory for a file.
    fn name(&mut self, path: &Path) -> String {
        let plain = path.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
        let mut name = plain.clone();
        let mut n = 2;
        while self.taken.contains(&name) {
            name = format!("{n}-{plain}");
            n += 1;
        }
        self.taken.insert(name.clone());
        name
    }

    /// Copies a file that is read; its name in the directory.
    fn input(&mut self, path: &Path, key: &str) -> Result<String, JobError> {
        if let Some(name) = self.inputs.get(path) {
            return Ok(name.clone());
        }
        let bytes = match &self.job.given {
            GivenProgram { path: Some(given), bytes: Some(bytes) } if key == "program" && given == path => {
                bytes.to_vec()
            }
            _ => read_file(path, FileKind::Array, None)?,
        };
        let name = self.name(path);
        self.write(&name, &bytes)?;
        self.inputs.insert(path.to_owned(), name.clone());
        Ok(name)
    }

    /// Copies a mesh; with a folder of its own where it names other files.
    fn mesh(&mut self, path: &Path) -> Result<String, JobError> {
        let beside = mesh::files_beside(path).map_err(|e| wrong("bad-mesh", e.to_string()))?;
        if beside.is_empty() {
            return self.input(path, "mesh");
        }
        if let Some(name) = self.inputs.get(path) {
            return Ok(name.clone());
        }
        let folder = self.name(&path.with_extension(""));
        let file = path.file_name().map_or_else(|| "mesh.gltf".to_owned(), |name| name.to_string_lossy().into_owned());
        let name = format!("{folder}/{file}");
        self.write(&name, &read_file(path, FileKind::Mesh, None)?)?;
        for (relative, bytes) in beside {
            self.write(&format!("{folder}/{relative}"), &bytes)?;
        }
        self.inputs.insert(path.to_owned(), name.clone());
        Ok(name)
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), JobError> {
        let to = self.to.join(name);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).map_err(|e| cannot(parent, e))?;
        }
        save::save(&to, bytes).map_err(|e| cannot(&to, e))?;
        self.written.push(to);
        Ok(())
    }
}

/// 0 and 1 of a flag as the file writes them.
fn switch(value: &mut Value) {
    if let Value::Integer(n @ (0 | 1)) = value {
        *value = Value::Boolean(*n == 1);
    }
}
