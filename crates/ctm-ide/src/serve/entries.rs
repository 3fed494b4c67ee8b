//! Entries of the page: the examples, which are part of the program, and jobs of the user's.

use crate::captures::Capture;
use crate::folder::TemporaryFolder;
use crate::language::Language;
use ctm::Control;
use ctm::Drawing;
use ctm::draw::ProgramSource;
use ctm::job::{Folders, Job, JobError, Reader};
use ctm::render::{self, Report};
use ctm::trace::{Draws, Subject};
use ctm_files::FileKind;
use ctm_files::save::scratch;
use ctm_isa::diag::Diagnostic;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files of an example, its job first.
struct Example {
    name: &'static str,
    files: &'static [(&'static str, &'static [u8])],
}

macro_rules! examples {
    ($($name:literal: $($file:literal)*;)*) => {
        const EXAMPLES: &[Example] = &[$(Example {
            name: $name,
            files: &[$(($file, include_bytes!(concat!("../../embedded/examples/", $name, "/", $file))),)*],
        },)*];
    };
}

examples! {
    "mandelbrot": "job.toml" "mandelbrot.x1k";
    "life": "job.toml" "life.x1k" "start.png";
    "conv5x5": "job.toml" "conv5x5.x1k" "photo.png";
    "nbody": "job.toml" "nbody.x1k" "body.npy" "speed.npy";
    "matmul": "job.toml" "matmul.x1k" "a.npy" "b.npy";
    "black-scholes": "job.toml" "black-scholes.x1k" "option.npy";
    "nearest-surface": "job.toml" "sphere.x1k";
    "saxpy": "job.toml" "saxpy.x1k" "x.npy" "y.npy";
    "r700/mandelbrot": "job.toml" "mandelbrot.psh";
    "r700/deep-zoom": "job.toml" "deep-zoom.psh";
    "r700/hash": "job.toml" "hash.psh";
    "histogram": "job.toml" "count.x1k" "sum.x1k" "image.npy";
}

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

impl EntryFile {
    fn json(&self) -> Value {
        let language = Language::of_path(Path::new(&self.name)).map(Language::id);
        json!({ "name": self.name, "text": self.text, "language": language })
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
    /// A capture, draws that are as they are, and its bytes.
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

/// The beginning of the names of directories that are there for one run.
pub(super) const PREFIX: &str = "ctm-page";
/// Tests whether a user's entry can be opened.
pub(super) fn check(path: &Path, folders: &Folders) -> Result<(), JobError> {
    if given(path).is_some() {
        return Ok(());
    }
    let reader = Reader::for_file(path)?.within(folders);
    if Subject::is_drawing(path) { Drawing::from_reader(reader).map(|_| ()) } else { reader.finish().map(|_| ()) }
}

/// A directory that goes when it is no longer needed, or when the next one is made after its server was killed.
pub(super) struct Directory(TemporaryFolder);

impl Directory {
    fn new() -> std::io::Result<Self> {
        TemporaryFolder::new(PREFIX).map(Self)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl PageEntry {
    fn example(&self) -> Option<&'static Example> {
        EXAMPLES.iter().find(|example| self.path.is_none() && example.name == self.name)
    }

    /// The length of a capture, which is read as a whole; 0 of everything else.
    pub(super) fn capture_bytes(&self) -> u64 {
        let capture = self.path.as_deref().filter(|path| given(path) == Some(ReadOnlyInput::Capture));
        capture.and_then(|path| path.metadata().ok()).map_or(0, |there| there.len())
    }

    /// The texts of the job: the job file, then its programs.
    pub(super) fn open(&self, folders: &Folders) -> Result<Value, JobError> {
        if let Some(given) = self.path.as_deref().and_then(given) {
            let kind = if given == ReadOnlyInput::Capture { "capture" } else { "recording" };
            return Ok(json!({ "name": self.name, "files": [], "given": kind }));
        }
        let files = self.files(folders)?;
        Ok(json!({ "name": self.name, "files": files.iter().map(EntryFile::json).collect::<Vec<_>>() }))
    }

    fn files(&self, folders: &Folders) -> Result<Vec<EntryFile>, JobError> {
        if let Some(example) = self.example() {
            let texts = example.files.iter().filter_map(|(name, bytes)| {
                let text = std::str::from_utf8(bytes).ok()?;
                Some(EntryFile { name: (*name).to_owned(), text: text.to_owned() })
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
            if !known && Language::of_path(program).is_some() {
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
    ) -> Result<(Opened, Option<Directory>), JobError> {
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
        let is_drawing = match texts.get(&name) {
            Some(text) => Drawing::is_job(text),
            None => Subject::is_drawing(path),
        };
        if self.path.is_some() && is_drawing {
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
    ) -> Result<(Drawing, Option<Directory>), JobError> {
        let known = self.files(folders)?;
        let Some(job) = known.first() else { return Err(wrong("there is no such job")) };
        let text = texts.get(&job.name).unwrap_or(&job.text);
        let reader = Reader::for_job(text, &job.name, path.parent().unwrap_or(Path::new("")));
        let mut drawing = Drawing::from_reader(reader.within(folders))?;
        drawing.targets.iter_mut().for_each(|target| target.saves.clear());
        if let Some(depth) = &mut drawing.depth {
            (depth.save, depth.save_stencil) = (None, None);
        }
        let mut directory = None;
        for program in drawing.draws.iter_mut().flat_map(|draw| &mut draw.programs) {
            let ProgramSource::File(place) = program else { continue };
            let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let changed =
                |file: &&EntryFile| file.name == name && texts.get(&name).is_some_and(|text| *text != file.text);
            if known.iter().skip(1).find(changed).is_none() {
                continue;
            }
            if directory.is_none() {
                directory = Some(Directory::new().map_err(|e| wrong(format!("no directory for the run: {e}")))?);
            }
            if let (Some(directory), Some(text)) = (&directory, texts.get(&name)) {
                *place = directory.path().join(&name);
                scratch(place, text.as_bytes()).map_err(|e| wrong(format!("{name}: {e}")))?;
            }
        }
        Ok((drawing, directory))
    }

    /// The job with the page's texts, writing no files; the directory stays until the work on the job is done.
    fn job(&self, texts: &BTreeMap<String, String>, folders: &Folders) -> Result<(Job, Option<Directory>), JobError> {
        let known = self.files(folders)?;
        let job_file = known.first().map(|file| file.name.clone()).unwrap_or_default();
        let text = texts.get(&job_file).or(known.first().map(|file| &file.text)).cloned().unwrap_or_default();
        if let Some(example) = self.example() {
            let directory = Directory::new().map_err(|e| wrong(format!("no directory for the run: {e}")))?;
            for (name, bytes) in example.files.iter().skip(1) {
                let bytes = texts.get(*name).map_or(*bytes, |text| text.as_bytes());
                scratch(&directory.path().join(name), bytes).map_err(|e| wrong(format!("{name}: {e}")))?;
            }
            let job = Reader::for_job(&text, &job_file, directory.path()).within(folders).finish()?;
            return Ok((job.without_files(), Some(directory)));
        }
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
    fn every_example_opens_and_runs() {
        for entry in all(&[]) {
            let opened = entry.open(&Folders::default()).unwrap();
            assert!(opened["files"].as_array().unwrap().len() >= 2, "{opened}");
            let (job, directory) = entry
                .job(&BTreeMap::new(), &Folders::default())
                .unwrap_or_else(|e| panic!("{}: {}", entry.name, said(&e)));
            assert!(job.programs().is_ok(), "{}", entry.name);
            let path = directory.as_ref().unwrap().path().to_owned();
            assert!(path.is_dir());
            drop(directory);
            assert!(!path.exists());
        }
    }
}
