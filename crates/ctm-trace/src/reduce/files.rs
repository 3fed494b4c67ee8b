//! A job with the files that it names, in its directory.

use super::items;
use super::tree::{self, PathStep, ValuePath, at_mut, key};
use ctm_files::FileKind;
use ctm_files::array::{ArrayFileKind, Items};
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_isa::{r700, x1k};
use ctm_jobs::job::tree::{Table, Value};
use ctm_jobs::job::{AnyProgram, Isa, JobError, Reader, read_file};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An error of a job.
pub(super) fn wrong(rule: &'static str, message: impl Into<String>) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

/// A file that the job names.
#[derive(Clone)]
pub(super) enum NamedFile {
    /// A program's text.
    Text(Arc<str>),
    /// An array; for meshes how many rows a primitive has.
    Items(Arc<Items>, Option<usize>),
    /// Numbers without a head: they can be emptied.
    Raw(Arc<[u8]>),
    /// Any other file: it stays as it is.
    Other(Arc<[u8]>),
}

impl NamedFile {
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Items(items, _) => items.to_npy(),
            Self::Raw(bytes) | Self::Other(bytes) => bytes.to_vec(),
        }
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Arc::ptr_eq(a, b),
            (Self::Items(a, _), Self::Items(b, _)) => Arc::ptr_eq(a, b),
            (Self::Raw(a), Self::Raw(b)) | (Self::Other(a), Self::Other(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// A job with its files.
#[derive(Clone)]
pub(super) struct JobFiles {
    pub(super) root: Table,
    pub(super) files: BTreeMap<String, NamedFile>,
}

/// The name of the job file.
pub(super) const JOB: &str = "job.toml";
/// Keys that name the job's output files: only their names count.
const WRITES: [&str; 3] = ["save", "save_stencil", "vertices"];
/// Keys that name programs.
pub(super) const PROGRAMS: [&str; 3] = ["program", "programs", "fetch_program"];
pub(super) fn extension(name: &str) -> String {
    Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase()
}

/// The text of a program and the extension of such texts: texts unchanged, of words and images the disassembly.
///
/// # Errors
/// The file cannot be read, or holds no program.
pub fn program_text(path: &Path, isa: Option<Isa>) -> Result<(String, &'static str), JobError> {
    let bytes = read_file(path, FileKind::Program, None)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    match (extension.as_str(), String::from_utf8(bytes)) {
        ("x1k", Ok(text)) => return Ok((text, "x1k")),
        ("psh" | "vsh" | "gsh" | "csh" | "r700", Ok(text)) => return Ok((text, "psh")),
        _ => {}
    }
    let mut reader = Reader::for_program(path);
    if let Some(isa) = isa {
        reader.isa(isa);
    }
    reader.flag("size", "1x1");
    let programs = reader.finish()?.programs()?;
    match programs.last().map(|pass| &pass.program) {
        Some(AnyProgram::X1k(program)) => {
            Ok((x1k::text::disassemble(program, &x1k::text::ListingOptions::default()), "x1k"))
        }
        Some(AnyProgram::R700(program)) => {
            Ok((r700::text::disassemble(program, &r700::text::TextOptions::default()), "psh"))
        }
        None => Err(wrong("no-program", format!("{} has no program", path.display()))),
    }
}

impl JobFiles {
    /// Reads every file that the job names, and gives it a name in the job's directory.
    pub(super) fn collect(&mut self, base: &Path) -> Result<(), JobError> {
        let strings: Vec<(ValuePath, String)> = tree::all(&self.root)
            .into_iter()
            .filter_map(|(place, node)| match &node.value {
                Value::String(text) => Some((place, text.clone())),
                _ => None,
            })
            .collect();
        let mut known: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (place, text) in strings {
            let path = base.join(&text);
            let file_name = path.file_name().map_or_else(|| text.clone(), |name| name.to_string_lossy().into_owned());
            let name = if WRITES.contains(&key(&place)) {
                file_name
            } else if path.is_file() {
                match known.get(&path) {
                    Some(name) => name.clone(),
                    None => {
                        let bytes = read_file(&path, FileKind::Array, None)?;
                        let file = self.file_of(&path, &place, bytes);
                        let mut name = match &file {
                            // Pictures become arrays.
                            NamedFile::Items(..) => Path::new(&file_name).with_extension("npy").display().to_string(),
                            _ => file_name,
                        };
                        while self.files.contains_key(&name) || name == JOB {
                            name.insert(0, '_');
                        }
                        self.files.insert(name.clone(), file);
                        known.insert(path, name.clone());
                        name
                    }
                }
            } else {
                continue;
            };
            if let Some(value) = at_mut(&mut self.root, &place) {
                *value = Value::String(name);
            }
        }
        Ok(())
    }

    fn file_of(&self, path: &Path, place: &[PathStep], bytes: Vec<u8>) -> NamedFile {
        if PROGRAMS.contains(&key(place)) {
            let is_text = matches!(
                extension(&path.display().to_string()).as_str(),
                "x1k" | "psh" | "vsh" | "gsh" | "csh" | "r700"
            );
            return match String::from_utf8(bytes) {
                Ok(text) if is_text => NamedFile::Text(text.into()),
                Ok(text) => NamedFile::Other(text.into_bytes().into()),
                Err(error) => NamedFile::Other(error.into_bytes().into()),
            };
        }
        let is_mesh = key(place) == "mesh";
        match ArrayFileKind::of(path) {
            Some(ArrayFileKind::Raw) if !is_mesh => NamedFile::Raw(bytes.into()),
            Some(kind) => match items::read(kind, &bytes) {
                Some(read) => NamedFile::Items(read.into(), is_mesh.then_some(3)),
                None => NamedFile::Other(bytes.into()),
            },
            None => NamedFile::Other(bytes.into()),
        }
    }

    /// Forgets files that the job no longer names.
    pub(super) fn forget(&mut self) {
        let named: Vec<String> = tree::all(&self.root)
            .into_iter()
            .filter_map(|(_, node)| if let Value::String(text) = &node.value { Some(text.clone()) } else { None })
            .collect();
        self.files.retain(|name, _| named.contains(name));
    }

    /// Bytes of all files, and lines of program texts.
    pub(super) fn size(&self) -> (u64, usize) {
        let bytes = self.files.values().map(|file| file.bytes().len() as u64).sum::<u64>();
        let lines = |file: &NamedFile| match file {
            NamedFile::Text(text) => text.lines().filter(|line| !line.trim().is_empty()).count(),
            _ => 0,
        };
        (bytes + self.root.print().len() as u64, self.files.values().map(lines).sum())
    }
}
