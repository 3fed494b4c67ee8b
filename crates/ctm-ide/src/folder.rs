//! Temporary folders that do not outlive their process by more than the next start.
//!
//! A process that is killed cannot remove its folder. So each folder holds a file that its process keeps locked, and the next process that makes a folder removes those
//! whose file nothing locks any more. A lock ends with its process, however that ends, and is seen from every container that shares the folder.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The file that is locked.
const LOCK: &str = ".in-use";

/// A folder of this process among the system's temporary ones. It goes when this value does.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// Locked until it is closed; none afterwards.
    lock: Option<File>,
}

impl TemporaryFolder {
    /// A new folder whose name begins with `prefix`. Folders with this prefix that killed processes left are removed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(prefix: &str) -> io::Result<Self> {
        Self::within(&std::env::temp_dir(), prefix)
    }

    fn within(parent: &Path, prefix: &str) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        remove_leftovers_of(parent, prefix);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{prefix}-{}-{number}", std::process::id()));
            match create(&path) {
                // A folder of an earlier process with this number, in another container.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    let lock = File::create_new(path.join(LOCK)).and_then(|file| match file.lock() {
                        // Where files cannot be locked, folders of killed processes stay.
                        Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error),
                        _ => Ok(file),
                    });
                    return match lock {
                        Ok(lock) => Ok(Self { path, lock: Some(lock) }),
                        Err(error) => {
                            // Undeletable entries stay.
                            let _ = fs::remove_dir_all(&path);
                            Err(error)
                        }
                    };
                }
            }
        }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Windows keeps a folder as long as a file of it is open.
        self.lock = None;
        // The next process that makes one removes the rest.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes a folder that only its owner can look into.
fn create(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }
    // Elsewhere the folder of temporary files belongs to the user.
    #[cfg(not(unix))]
    fs::create_dir(path)
}

/// Removes folders whose process has ended. Links, and folders without a lock, are left alone.
fn remove_leftovers_of(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(prefix)?.strip_prefix('-'));
        let is_ours = numbers.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'));
        // The kind of the entry itself, not of a link's target.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let lock = entry.path().join(LOCK);
        let is_file = fs::symlink_metadata(&lock).is_ok_and(|data| data.is_file());
        if is_file && File::open(&lock).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn folders_of_ended_processes_go_with_the_next_start() {
        let parent = std::env::temp_dir().join(format!("ctm-folders-{}", std::process::id()));
        fs::create_dir_all(&parent).unwrap();
        let living = TemporaryFolder::within(&parent, "ctm-page").unwrap();
        assert!(living.path().is_dir());
        // A killed process leaves a lock file that no process holds.
        let left = parent.join("ctm-page-1-0");
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        fs::write(left.join("job.toml"), "x").unwrap();
        // Folders of others: another name, or without a lock.
        let others = ["ctm-page-of-mine", "ctm-glsl-1-0", "ctm-page-2-0"].map(|name| parent.join(name));
        for (n, other) in others.iter().enumerate() {
            fs::create_dir(other).unwrap();
            if n < 2 {
                fs::write(other.join(LOCK), "").unwrap();
            }
        }
        let next = TemporaryFolder::within(&parent, "ctm-page").unwrap();
        assert!(!left.exists() && living.path().is_dir() && others.iter().all(|other| other.is_dir()));
        let paths = [living.path().to_owned(), next.path().to_owned()];
        drop((living, next));
        assert!(paths.iter().all(|path| !path.exists()));
        fs::remove_dir_all(parent).unwrap();
    }
}
