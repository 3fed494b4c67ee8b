//! The files that a job writes: that they can be written is found before anything runs.

use super::frames::frame;
use super::{Job, JobError, Located};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

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
        let reports: Vec<_> = self.files().filter_map(wrong).collect();
        if reports.is_empty() { Ok(()) } else { Err(JobError::Wrong(reports)) }
    }
}

/// Whether a file can be written: one that is there is opened, one that is not is made and removed again.
fn writable(path: &Path) -> Result<(), String> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent
        && !parent.exists()
    {
        return Err(format!("there is no directory {}", parent.display()));
    }
    let tried = match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err("it is a directory".to_owned()),
        // Opening a pipe waits for somebody to read it.
        Ok(there) if !there.is_file() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(e) if e.kind() == io::ErrorKind::NotFound => File::create_new(path).and_then(|_| fs::remove_file(path)),
        Err(e) => Err(e),
    };
    tried.map_err(|e| e.to_string())
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
}
