//! Entries of the page: the examples, which are part of the program, and jobs of the user's.

use super::gallery::{EXAMPLES, Example};
use super::wire;
use crate::captures::Capture;
use crate::language::Language;
use ctm::Control;
use ctm::Drawing;
use ctm::draw::ProgramSource;
use ctm::job::{Folders, Job, JobError, Reader};
use ctm::render::{self, Report};
use ctm::trace::{Draws, Subject};
use ctm_files::{FileKind, MemoryFolder};
use ctm_isa::diag::Diagnostic;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The language of job files, as editors call it.
pub(super) const TOML: &str = "toml";

/// Something to open.
#[derive(Clone, Debug)]
pub(super) struct PageEntry {
    pub(super) name: String,
    /// The job file of a user; `None` for an example.
    path: Option<PathBuf>,
}

/// Everything that can be opened: the user's jobs, then the examples.
pub(super) fn all(jobs: &[PathBuf]) -> Vec<PageEntry> {
    let own = jobs.iter().map(|path| PageEntry { name: path.display().to_string(), path: Some(path.clone()) });
    own.chain(EXAMPLES.iter().map(|example| PageEntry { name: example.name.to_owned(), path: None })).collect()
}

/// A text that the page edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EntryFile {
    pub(super) name: String,
    pub(super) text: String,
}

/// The language of a program. Editors leave `.csh` to another language and `.gsh` to containers, which are no texts; among a job's files they are programs.
fn language_of(path: &Path) -> Option<Language> {
    let is_listing = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("csh") || e.eq_ignore_ascii_case("gsh"));
    Language::of_path(path).or(is_listing.then_some(Language::R700))
}

impl EntryFile {
    fn into_wire(self) -> wire::TextFile {
        let path = Path::new(&self.name);
        let is_job = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        let language = if is_job { Some(TOML) } else { language_of(path).map(Language::id) };
        wire::TextFile { name: self.name, text: self.text, language }
    }
}

/// Findings of a job that are shown.
const MOST_REPORTS: usize = 100;

/// An error, as the page shows it.
pub(super) fn said(error: &JobError) -> String {
    let reports = error.reports();
    let mut out: String =
        reports.iter().take(MOST_REPORTS).map(|report| format!("{}\n", render::text(report, false))).collect();
    if reports.len() > MOST_REPORTS {
        out.push_str(&format!("{} more are not shown\n", reports.len() - MOST_REPORTS));
    }
    out
}

fn wrong(message: impl Into<String>) -> JobError {
    JobError::Usage(vec![Report::bare(Diagnostic::error("page", message))])
}

fn program_file(program: &ProgramSource) -> Option<&PathBuf> {
    match program {
        ProgramSource::File(path) => Some(path),
        ProgramSource::Given(_) | ProgramSource::Bytes(..) => None,
    }
}

/// A loaded entry.
pub(super) enum Opened {
    Job(Box<Job>),
    Drawing(Box<Drawing>),
    /// A capture, whose draws cannot be edited, and its size in bytes.
    Capture(Arc<dyn Draws>, u64),
    /// A recording of devices.
    Recording(PathBuf),
}

/// Read-only entries: their launches are inspected one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadOnlyInput {
    Capture,
    Recording,
}

/// Whether a file is a recording or a capture, by how it begins.
fn given(path: &Path) -> Option<ReadOnlyInput> {
    match () {
        () if Capture::is_one(path) => Some(ReadOnlyInput::Capture),
        () if Subject::is_recording(path) => Some(ReadOnlyInput::Recording),
        () => None,
    }
}

/// Tests whether a user's entry can be opened.
pub(super) fn check(path: &Path, folders: &Folders) -> Result<(), JobError> {
    if given(path).is_some() {
        return Ok(());
    }
    let reader = Reader::for_file(path)?.within(folders);
    if Subject::is_drawing(path) { Drawing::from_reader(reader).map(|_| ()) } else { reader.finish().map(|_| ()) }
}

/// Takes the files that a drawing writes from it.
fn without_files(drawing: &mut Drawing) {
    drawing.targets.iter_mut().for_each(|target| target.saves.clear());
    if let Some(depth) = &mut drawing.depth {
        (depth.save, depth.save_stencil) = (None, None);
    }
}

impl Example {
    /// It with the page's texts, in a directory of its own.
    fn opened(
        &self,
        texts: &BTreeMap<String, String>,
        control: &Control,
    ) -> Result<(Opened, Option<MemoryFolder>), JobError> {
        let directory = MemoryFolder::new();
        let place = directory.path().join("examples").join(self.name);
        for (name, bytes) in self.files.iter().skip(1) {
            let bytes = texts.get(*name).map_or(*bytes, |text| text.as_bytes());
            directory
                .put(Path::new("examples").join(self.name).join(name), bytes)
                .map_err(|e| wrong(format!("{name}: {e}")))?;
        }
        let Some((name, bytes)) = self.files.first() else { return Err(wrong("there is no such job")) };
        let own = String::from_utf8_lossy(bytes);
        let text = texts.get(*name).map_or(&*own, String::as_str);
        let folders = Folders::new(&[directory.path().to_owned()]);
        let reader = Reader::for_job(text, name, &place).within(&folders);
        let opened = if Drawing::is_job(text) {
            let mut drawing = Drawing::from_reader(reader)?;
            without_files(&mut drawing);
            drawing.control = control.clone();
            Opened::Drawing(Box::new(drawing))
        } else {
            Opened::Job(Box::new(reader.finish()?.without_files()))
        };
        Ok((opened, Some(directory)))
    }
}

/// Whether a file is a capture or a recording.
pub(super) fn is_read_only(path: &Path) -> bool {
    given(path).is_some()
}

impl PageEntry {
    /// A file of the user's, by another name than its path.
    pub(super) const fn own(name: String, path: PathBuf) -> Self {
        Self { name, path: Some(path) }
    }

    fn example(&self) -> Option<&'static Example> {
        EXAMPLES.iter().find(|example| self.path.is_none() && example.name == self.name)
    }

    /// The length of a capture, which is read as a whole; 0 of everything else.
    pub(super) fn capture_bytes(&self) -> u64 {
        let capture = self.path.as_deref().filter(|path| given(path) == Some(ReadOnlyInput::Capture));
        capture.and_then(|path| ctm_files::length(path).ok()).unwrap_or(0)
    }

    /// Its name, and a sentence about it.
    pub(super) fn described(&self) -> wire::Entry {
        let (part, says, at) = self.example().map_or(("own", "", None), |one| (one.part, one.says, one.at()));
        wire::Entry { name: self.name.clone(), part: part.to_owned(), says: says.to_owned(), at }
    }

    /// The texts of the job: the job file, then its programs.
    pub(super) fn open(&self, folders: &Folders) -> Result<wire::Opened, JobError> {
        if let Some(given) = self.path.as_deref().and_then(given) {
            let kind = if given == ReadOnlyInput::Capture { "capture" } else { "recording" };
            let draws = given == ReadOnlyInput::Capture;
            return Ok(wire::Opened { files: Vec::new(), given: Some(kind), draws });
        }
        let files = self.files(folders)?;
        let draws = files.first().is_some_and(|job| Drawing::is_job(&job.text));
        Ok(wire::Opened { files: files.into_iter().map(EntryFile::into_wire).collect(), given: None, draws })
    }

    fn files(&self, folders: &Folders) -> Result<Vec<EntryFile>, JobError> {
        if let Some(example) = self.example() {
            let texts = example.files.iter().filter_map(|(name, bytes)| {
                let text = std::str::from_utf8(bytes).ok()?;
                let is_text =
                    (language_of(Path::new(name)).is_some() || name.ends_with(".toml")) && !text.contains('\0');
                is_text.then(|| EntryFile { name: (*name).to_owned(), text: text.to_owned() })
            });
            return Ok(texts.collect());
        }
        let path = self.path.as_deref().ok_or_else(|| wrong("there is no such job"))?;
        let read = |path: &Path, kind| ctm_files::read_text(path, kind).map_err(|e| wrong(e.to_string()));
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut files = vec![EntryFile { name: name(path), text: read(path, FileKind::Job)? }];
        let reader = Reader::for_file(path)?.within(folders);
        let programs: Vec<PathBuf> = if Subject::is_drawing(path) {
            let drawing = Drawing::from_reader(reader)?;
            drawing.draws.iter().flat_map(|draw| &draw.programs).filter_map(program_file).cloned().collect()
        } else {
            reader.finish()?.passes.iter().map(|pass| pass.program.value.clone()).collect()
        };
        for program in &programs {
            let known = files.iter().any(|file| file.name == name(program));
            // Words are nothing to edit.
            let is_text = || {
                ctm_files::read(program, FileKind::Program)
                    .is_ok_and(|bytes| std::str::from_utf8(&bytes).is_ok_and(|text| !text.contains('\0')))
            };
            if !known && language_of(program).is_some() && is_text() {
                files.push(EntryFile { name: name(program), text: read(program, FileKind::Program)? });
            }
        }
        Ok(files)
    }

    /// The inspected job or draws, with the page's texts; they write no files. The directory stays until the work on them is done.
    pub(super) fn opened(
        &self,
        texts: &BTreeMap<String, String>,
        folders: &Folders,
        control: &Control,
    ) -> Result<(Opened, Option<MemoryFolder>), JobError> {
        let path = self.path.as_deref().unwrap_or(Path::new(""));
        match given(path) {
            Some(ReadOnlyInput::Capture) => {
                let capture = Capture::read(path)?.under(control);
                let bytes = capture.bytes();
                return Ok((Opened::Capture(Arc::new(capture), bytes), None));
            }
            Some(ReadOnlyInput::Recording) => return Ok((Opened::Recording(path.to_owned()), None)),
            None => {}
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(example) = self.example() {
            return example.opened(texts, control);
        }
        let is_drawing = match texts.get(&name) {
            Some(text) => Drawing::is_job(text),
            None => Subject::is_drawing(path),
        };
        if is_drawing {
            let (mut drawing, directory) = self.drawing(path, texts, folders)?;
            drawing.control = control.clone();
            return Ok((Opened::Drawing(Box::new(drawing)), directory));
        }
        let (job, directory) = self.job(texts, folders)?;
        Ok((Opened::Job(Box::new(job)), directory))
    }

    /// The draws of a user's file. Programs that the page has changed are files of the directory.
    fn drawing(
        &self,
        path: &Path,
        texts: &BTreeMap<String, String>,
        folders: &Folders,
    ) -> Result<(Drawing, Option<MemoryFolder>), JobError> {
        let known = self.files(folders)?;
        let Some(job) = known.first() else { return Err(wrong("there is no such job")) };
        let text = texts.get(&job.name).unwrap_or(&job.text);
        let reader = Reader::for_job(text, &job.name, path.parent().unwrap_or(Path::new("")));
        let mut drawing = Drawing::from_reader(reader.within(folders))?;
        without_files(&mut drawing);
        let mut directory: Option<MemoryFolder> = None;
        for program in drawing.draws.iter_mut().flat_map(|draw| &mut draw.programs) {
            let ProgramSource::File(place) = program else { continue };
            let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let changed =
                |file: &&EntryFile| file.name == name && texts.get(&name).is_some_and(|text| *text != file.text);
            if known.iter().skip(1).find(changed).is_none() {
                continue;
            }
            if let Some(text) = texts.get(&name) {
                let directory = directory.get_or_insert_default();
                *place = directory.put(&name, text.as_bytes()).map_err(|e| wrong(format!("{name}: {e}")))?;
            }
        }
        Ok((drawing, directory))
    }

    /// The job with the page's texts, writing no files; the directory stays until the work on the job is done.
    fn job(
        &self,
        texts: &BTreeMap<String, String>,
        folders: &Folders,
    ) -> Result<(Job, Option<MemoryFolder>), JobError> {
        let known = self.files(folders)?;
        let job_file = known.first().map(|file| file.name.clone()).unwrap_or_default();
        let text = texts.get(&job_file).or(known.first().map(|file| &file.text)).cloned().unwrap_or_default();
        let place = self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let mut job = Reader::for_job(&text, &job_file, place).within(folders).finish()?;
        let changed = |file: &&EntryFile| texts.get(&file.name).is_some_and(|text| *text != file.text);
        let changed: Vec<&EntryFile> = known.iter().skip(1).filter(changed).collect();
        match changed.as_slice() {
            [] => {}
            [file] => {
                let program = job.passes.iter().map(|pass| &pass.program.value);
                let path = program
                    .clone()
                    .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy() == file.name));
                let text = texts.get(&file.name).cloned().unwrap_or_default();
                job.given.path = path.cloned();
                job.given.bytes = Some(text.into_bytes().into());
            }
            _ => return Err(wrong("of a job's programs one can be changed at a time; save the others")),
        }
        Ok((job.without_files(), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_opens_and_goes() {
        let entries = all(&[]);
        assert_eq!(entries.len(), 30);
        for entry in entries {
            let files = entry.open(&Folders::default()).unwrap().files;
            // A container has no text to edit.
            let least = if ["draw/skin", "lessons/marble"].contains(&entry.name.as_str()) { 1 } else { 2 };
            assert!(files.len() >= least && files[0].language == Some(TOML), "{}: {files:?}", entry.name);
            let opened = entry.opened(&BTreeMap::new(), &Folders::default(), &Control::new());
            let (opened, directory) = opened.unwrap_or_else(|e| panic!("{}: {}", entry.name, said(&e)));
            match opened {
                Opened::Job(job) => assert!(job.programs().is_ok(), "{}", entry.name),
                Opened::Drawing(drawing) => assert!(drawing.prepare().is_ok(), "{}", entry.name),
                Opened::Capture(..) | Opened::Recording(_) => panic!("{}", entry.name),
            }
            let path = directory.as_ref().unwrap().path().to_owned();
            assert!(ctm_files::real_path(&path).is_ok());
            drop(directory);
            assert!(ctm_files::real_path(&path).is_err());
        }
    }
}
