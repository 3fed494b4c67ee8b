//! The files that a job writes: that they can be written is found before anything runs.

use super::frames::{frame, is_numbered};
use super::{Job, JobError, Located, Output, Pass, Save};
use crate::array::Kind;
use crate::mc::Format;
use crate::render::Report;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

impl Job {
    /// All files that the job saves something to.
    pub(super) fn files(&self) -> impl Iterator<Item = &Located<PathBuf>> {
        let of_pass = self.passes.iter().flat_map(|pass| {
            let outputs = pass.outputs.iter().flat_map(|output| &output.saves).map(|save| &save.path);
            let conditional = pass.conditional.iter().filter_map(|c| c.save.as_ref());
            let own = pass
                .r700
                .iter()
                .flat_map(|own| own.memories.iter().filter_map(|memory| memory.save.as_ref()).chain(&own.vertices));
            outputs.chain(conditional).chain(own)
        });
        let at_end = self.saves.iter().map(|save| &save.path).chain(&self.conditional_save);
        let memories = self.memory_saves.iter().filter_map(|memory| memory.save.as_ref());
        of_pass.chain(at_end).chain(memories)
    }

    /// Looks whether all files can be written, and changes none.
    ///
    /// # Errors
    /// All that cannot be, each with the reason.
    pub(super) fn check_files(&self) -> Result<(), JobError> {
        let wrong = |path: &Located<PathBuf>| {
            let why = writable(&frame(&path.value, 0)).err()?;
            Some(path.error("cannot-write", format!("{} cannot be written: {why}", path.value.display())))
        };
        let mut reports: Vec<_> = self.files().filter_map(wrong).collect();
        if reports.is_empty() {
            reports = self.too_large(free_space);
        }
        if reports.is_empty() { Ok(()) } else { Err(JobError::Wrong(reports)) }
    }

    /// Says what does not fit on its disk. `space` gives the number of a file's disk and the bytes that are free there.
    fn too_large(&self, space: impl Fn(&Path) -> Option<(u64, u64)>) -> Vec<Report> {
        let mut wanted: BTreeMap<u64, u64> = BTreeMap::new();
        let mut reports = Vec::new();
        for (path, bytes) in self.sizes() {
            let Some((disk, free)) = space(&path.value) else { continue };
            // What the file has now is written over.
            let held = fs::metadata(&path.value).map_or(0, |there| there.len());
            let wanted = wanted.entry(disk).or_default();
            *wanted = wanted.saturating_add(bytes.saturating_sub(held));
            if *wanted > free {
                let file = path.value.display();
                let message = format!(
                    "{file} cannot be written: with it files take at least {wanted} bytes, and {free} are free"
                );
                reports.push(path.error("cannot-write", message));
            }
        }
        reports
    }

    /// How much files of outputs take at least. Of pictures that are compressed and of numbered files nothing is known.
    fn sizes(&self) -> impl Iterator<Item = (&Located<PathBuf>, u64)> {
        let of = |pass: &Pass, output: &Output, save: &Save| {
            let channels = match Kind::of(&save.path.value)? {
                Kind::Npy | Kind::Raw if pass.r700.is_some() => output.elements.channels as u64,
                Kind::Npy | Kind::Raw => output.format.unwrap_or(Format::Float32x4).info().channels as u64,
                Kind::Pfm => 1,
                Kind::Png => return None,
            };
            let [width, height] = output.size.unwrap_or([pass.domain.width(), pass.domain.height()]).map(u64::from);
            (!is_numbered(&save.path.value)).then_some(width * height * channels * 4)
        };
        let outputs = move || self.passes.iter().flat_map(|pass| pass.outputs.iter().map(move |output| (pass, output)));
        let of_pass =
            outputs().flat_map(move |(pass, output)| output.saves.iter().map(move |save| (pass, output, save)));
        let at_end = self.saves.iter().filter_map(move |save| {
            let (pass, output) = outputs().rfind(|(_, output)| output.slot.value == save.slot.value)?;
            Some((pass, output, save))
        });
        of_pass.chain(at_end).filter_map(move |(pass, output, save)| Some((&save.path, of(pass, output, save)?)))
    }
}

/// The disk that a file lies on, or would, and the bytes that are free there.
#[cfg(unix)]
fn free_space(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    // A pipe or a device takes what it takes.
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return None;
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let disk = fs::metadata(parent).ok()?.dev();
    let space = rustix::fs::statvfs(parent).ok()?;
    // Some file systems say nothing of their size.
    (space.f_blocks != 0).then(|| (disk, space.f_bavail.saturating_mul(space.f_frsize)))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<(u64, u64)> {
    None
}

/// Whether a file can be written: one that is there is opened, of one that is not its directory is tried.
///
/// Nothing is done under the file's own name: another run may write it at this time.
fn writable(path: &Path) -> Result<(), String> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.exists() {
        return Err(format!("there is no directory {}", parent.display()));
    }
    let there = fs::metadata(path).and_then(|there| match there {
        there if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // Opening a pipe waits for somebody to read it.
        there if !there.is_file() => Ok(()),
        _ => OpenOptions::new().append(true).open(path).map(drop),
    });
    let tried = match there {
        Err(e) if e.kind() == io::ErrorKind::NotFound => takes_files(parent),
        Err(e) if e.kind() == io::ErrorKind::IsADirectory => return Err("it is a directory".to_owned()),
        there => there,
    };
    tried.map_err(|e| e.to_string())
}

/// Makes a file in a directory and removes it again.
fn takes_files(directory: &Path) -> io::Result<()> {
    static TRIED: AtomicU64 = AtomicU64::new(0);
    loop {
        let name = format!(".ctm-{}-{}", std::process::id(), TRIED.fetch_add(1, Relaxed));
        let file = directory.join(name);
        match File::create_new(&file) {
            // One that was killed left it, in a container perhaps, where numbers of processes repeat.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.and_then(|_| fs::remove_file(&file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_leaves_nothing_behind() {
        let directory = std::env::temp_dir().join(format!("ctm-files-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap_or_else(|e| panic!("{e}"));
        let file = directory.join("a.npy");
        assert_eq!(writable(&file), Ok(()));
        assert!(!file.exists());
        fs::write(&file, "old").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(writable(&file), Ok(()));
        assert_eq!(fs::read(&file).ok().as_deref(), Some(&b"old"[..]));
        assert_eq!(writable(&directory), Err("it is a directory".to_owned()));
        let missing = directory.join("none").join("a.npy");
        assert!(writable(&missing).is_err_and(|why| why.starts_with("there is no directory")));
        let _ = fs::remove_dir_all(&directory);
    }

    /// A run that looked under the file's own name took the file from another one, or refused it.
    #[test]
    fn runs_that_write_one_file_do_not_disturb_each_other() {
        let directory = std::env::temp_dir().join(format!("ctm-both-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap_or_else(|e| panic!("{e}"));
        let file = directory.join("a.npy");
        std::thread::scope(|scope| {
            let looks = || (0..300).try_for_each(|_| writable(&file));
            let (one, two) = (scope.spawn(looks), scope.spawn(looks));
            for _ in 0..300 {
                fs::write(&file, "new").unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(fs::read(&file).ok().as_deref(), Some(&b"new"[..]));
                fs::remove_file(&file).unwrap_or_else(|e| panic!("{e}"));
            }
            assert_eq!(one.join().ok(), Some(Ok(())));
            assert_eq!(two.join().ok(), Some(Ok(())));
        });
        let _ = fs::remove_dir_all(&directory);
    }

    #[test]
    fn a_disk_that_is_too_small_is_found() {
        let directory = std::env::temp_dir();
        let text = "program = \"a.x1k\"\ndomain = [0, 0, 1023, 1023]\n[[output]]\nslot = 0\nsave = \"ctm-space-a.npy\"\n\
            [[output]]\nslot = 1\nformat = \"float32_1\"\nsave = [\"ctm-space-b.raw\", \"ctm-space-c.png\"]\n";
        let job = Job::parse(text, "job.toml", &directory).unwrap_or_else(|e| panic!("{e}"));
        let messages = |free: u64| -> Vec<String> {
            job.too_large(|_| Some((1, free))).into_iter().map(|report| report.diagnostic.message).collect()
        };
        assert!(messages(20 << 20).is_empty());
        let one = messages((20 << 20) - 1);
        assert_eq!(one.len(), 1);
        assert!(one[0].contains("ctm-space-b.raw") && one[0].contains("at least 20971520 bytes"), "{one:?}");
        assert_eq!(messages(1).len(), 2);
        assert!(job.too_large(|_| None).is_empty());
        #[cfg(unix)]
        assert!(free_space(&directory.join("a.npy")).is_some_and(|(_, free)| free < u64::MAX));
    }
}
