//! Saving: the old file or the whole new one.
//!
//! A file is written under a temporary name in its target's directory, synced to the disk, and renamed over the target. So a target has its old
//! content or the new one whenever the process ends, the power fails or the disk is full. An error removes the temporary file. A process that is
//! killed leaves it; the next save into the directory removes it.
//!
//! * The target's permissions and, where the process may do so, its owner are kept. A new file has those of any new file.
//! * A link is followed: the file that it leads to is replaced. Other names of that file (hard links) keep the old content.
//! * A file without write permission is not replaced, even where its directory would allow it. A directory that takes no new file keeps its old ones.
//! * Devices and pipes are written directly, and so are the files that a process has open, by their names in `/dev` and `/proc`.
//!
//! **Temporary names.** [`PREFIX`], the number of the process, a count. The writer holds a lock on the file (`flock`), which the system lets go of
//! with the process, in any container: a temporary file that can be locked is a leftover.

use crate::open::name;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How the names of temporary files begin.
pub const PREFIX: &str = ".ctm-saving-";

/// A file during a save. It has its name after [`Saving::finish`]; dropped before, it leaves nothing.
///
/// ```
/// use ctm_files::Saving;
/// use std::io::Write;
///
/// let path = std::env::temp_dir().join(format!("ctm-files-saving-{}.txt", std::process::id()));
/// std::fs::write(&path, "old")?;
/// let mut saving = Saving::begin(&path)?;
/// saving.write_all(b"new")?;
/// assert_eq!(std::fs::read(&path)?, b"old");
/// saving.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"new");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Saving {
    out: BufWriter<Limited>,
    /// Nothing where the target is written directly.
    temporary: Option<(Temporary, PathBuf)>,
}

impl Saving {
    /// Begins to save to a file. Its old contents stay until [`Saving::finish`].
    ///
    /// # Errors
    /// The target is a directory, may not be written, or its directory takes no new file.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let (file, temporary) = match PathTarget::of(path)? {
            PathTarget::Direct(direct) => (direct.open()?, None),
            PathTarget::File(path) => {
                let old = old(&path)?;
                let directory = directory(&path)?;
                remove_leftovers(directory);
                let (temporary, file) = Temporary::new(directory, old.as_ref())?;
                (file, Some((temporary, path)))
            }
        };
        let limit = if temporary.is_some() { file_limit() } else { u64::MAX };
        Ok(Self { out: BufWriter::with_capacity(1 << 16, Limited { file, left: limit }), temporary })
    }

    /// Puts the file in its place, after all of it is on the disk.
    ///
    /// # Errors
    /// The rest cannot be written, or the file cannot be renamed. The old file stays.
    pub fn finish(self) -> io::Result<()> {
        self.publish().map(drop)
    }

    /// Puts the file where it belongs after its beginning is on the disk, and gives the file, to which the rest is written as it comes: for files
    /// that are valid wherever they are cut.
    ///
    /// # Errors
    /// As for [`Saving::finish`].
    pub fn publish(self) -> io::Result<File> {
        let Limited { file, .. } = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some((temporary, path)) = self.temporary {
            match file.sync_all() {
                // File systems that know no disk say so.
                Err(e) if !matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
                    return Err(e);
                }
                _ => {}
            }
            temporary.rename(&path)?;
            // Where locks bind readers, the file is for all from here on.
            let _ = file.unlock();
        }
        Ok(file)
    }
}

impl Write for Saving {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Saves bytes to a file.
///
/// # Errors
/// As for [`Saving`].
pub fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut saving = Saving::begin(path)?;
    saving.write_all(bytes)?;
    saving.finish()
}

/// Writes a file that lives only as long as the process that made its directory: in place, and not synced.
///
/// # Errors
/// It cannot be written.
pub fn scratch(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::write(path, bytes)
}

/// Checks whether a file can be saved, and changes nothing.
///
/// Nothing is done under the file's own name: another process may write it at this time.
///
/// # Errors
/// Why not, as [`Saving::begin`] would say it.
pub fn can_save(path: &Path) -> io::Result<()> {
    match PathTarget::of(path)? {
        // Opening a pipe waits for its reader.
        PathTarget::Direct(_) => Ok(()),
        PathTarget::File(path) => {
            let old = old(&path)?;
            Temporary::new(directory(&path)?, old.as_ref()).map(drop)
        }
    }
}

/// The disk of a file, existing or not, and its free bytes. `None`: they are unknown, or the target is no file.
#[must_use]
pub fn free_space(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let PathTarget::File(path) = PathTarget::of(path).ok()? else { return None };
        let parent = directory(&path).ok()?;
        let disk = fs::metadata(parent).ok()?.dev();
        let space = rustix::fs::statvfs(parent).ok()?;
        // Some file systems say nothing of their size.
        (space.f_blocks != 0).then(|| (disk, space.f_bavail.saturating_mul(space.f_frsize)))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Where a path leads.
enum PathTarget {
    /// To a regular file or to none; without links.
    File(PathBuf),
    /// To anything else that is written.
    Direct(DirectFile),
}

enum DirectFile {
    #[cfg(unix)]
    Stdout,
    #[cfg(unix)]
    Stderr,
    Path(PathBuf),
}

/// Names of the process's own output, the second that of the descriptor.
#[cfg(unix)]
const STDOUT: [&str; 3] = ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
#[cfg(unix)]
const STDERR: [&str; 3] = ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];
/// Links that a system follows at most.
const MOST_LINKS: usize = 40;

impl PathTarget {
    fn of(path: &Path) -> io::Result<Self> {
        if path.as_os_str().as_encoded_bytes().last().is_none_or(|&last| std::path::is_separator(last.into())) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        }
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            #[cfg(unix)]
            {
                let is_one_of = |names: &[&str]| names.iter().any(|name| path == Path::new(name));
                if is_one_of(&STDOUT) {
                    return Ok(Self::Direct(DirectFile::Stdout));
                }
                if is_one_of(&STDERR) {
                    return Ok(Self::Direct(DirectFile::Stderr));
                }
                // Files that the process has open cannot be replaced under these names.
                if path.starts_with("/dev/fd") || path.starts_with("/proc") {
                    return Ok(Self::Direct(DirectFile::Path(path)));
                }
            }
            let kind = match fs::symlink_metadata(&path) {
                Ok(there) => there.file_type(),
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::File(path)),
                Err(e) => return Err(e),
            };
            if kind.is_symlink() {
                let to = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(to);
            } else if kind.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, format!("it is a {}", name(kind))));
            } else if kind.is_file() {
                return Ok(Self::File(path));
            } else {
                return Ok(Self::Direct(DirectFile::Path(path)));
            }
        }
        Err(io::Error::other("its links lead to each other"))
    }
}

impl DirectFile {
    fn open(self) -> io::Result<File> {
        match self {
            #[cfg(unix)]
            Self::Stdout => duplicate(&io::stdout()),
            #[cfg(unix)]
            Self::Stderr => duplicate(&io::stderr()),
            Self::Path(path) => OpenOptions::new().write(true).create(true).truncate(true).open(path),
        }
    }
}

/// The process's own output, at the place where it is.
#[cfg(unix)]
fn duplicate(output: &impl std::os::fd::AsFd) -> io::Result<File> {
    // Earlier printed output comes first.
    io::stdout().flush()?;
    output.as_fd().try_clone_to_owned().map(File::from)
}

/// The directory of a file.
fn directory(path: &Path) -> io::Result<&Path> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if parent.exists() {
        return Ok(parent);
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no directory {}", parent.display())))
}

/// Metadata of the existing file, if there is one: it must be one that may be written.
fn old(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match OpenOptions::new().append(true).open(path) {
        Ok(file) => file.metadata().map(Some),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// A file under a temporary name, which goes when this is dropped.
///
/// `None`: it has been renamed.
#[derive(Debug)]
struct Temporary(Option<PathBuf>);

impl Temporary {
    /// Makes a locked file. It takes the permissions of `old`, and its owner if the process may give files away.
    fn new(directory: &Path, old: Option<&fs::Metadata>) -> io::Result<(Self, File)> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if old.is_some() {
            use std::os::unix::fs::OpenOptionsExt;
            // A secret stays one.
            options.mode(0o600);
        }
        loop {
            let path = directory.join(format!("{PREFIX}{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed)));
            let file = match options.open(&path) {
                // Numbers of processes repeat.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(io::Error::new(e.kind(), format!("its directory takes no new file: {e}"))),
                Ok(file) => file,
            };
            // Another process that removes leftovers may have taken it before it was locked.
            let is_taken = matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)) || !path.exists();
            let this = Self(Some(path));
            if is_taken {
                continue;
            }
            if let Some(old) = old {
                adopt(&file, old)?;
            }
            return Ok((this, file));
        }
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        if let Some(path) = &self.0 {
            replace(path, to)?;
        }
        self.0 = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// Gives a file the name of another one, which goes.
#[cfg(not(windows))]
fn replace(path: &Path, to: &Path) -> io::Result<()> {
    fs::rename(path, to)
}

/// Gives a file the name of another one, which goes. Windows refuses that while another program has that one open; scanners have every new file open for a moment.
#[cfg(windows)]
fn replace(path: &Path, to: &Path) -> io::Result<()> {
    const TRIES: u32 = 8;
    let mut wait = std::time::Duration::from_millis(2);
    for _ in 1..TRIES {
        match fs::rename(path, to) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => std::thread::sleep(wait),
            done => return done,
        }
        wait *= 2;
    }
    fs::rename(path, to).map_err(|e| match e.kind() {
        io::ErrorKind::PermissionDenied => io::Error::new(e.kind(), format!("another program has it open: {e}")),
        _ => e,
    })
}

/// Gives a file the permissions of another, and its owner where the process may do so.
fn adopt(file: &File, old: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
            // Its group alone is often possible.
            let _ = fchown(file, None, Some(old.gid()));
        }
        // Some file systems give all files the same ones, and refuse to change them.
        let (has, had) = (file.metadata()?.mode() & 0o777, old.mode() & 0o777);
        if has == had { Ok(()) } else { file.set_permissions(fs::Permissions::from_mode(had)) }
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

/// The most entries of a directory that is searched before each save into it; a larger one is searched once a second.
const MANY: usize = 2000;

/// Removes the temporary files of processes that are gone.
fn remove_leftovers(directory: &Path) {
    // A directory of very many files is not searched for each of them.
    static NEXT: Mutex<Option<(PathBuf, Instant)>> = Mutex::new(None);
    let start = Instant::now();
    {
        let next = NEXT.lock().unwrap_or_else(PoisonError::into_inner);
        if next.as_ref().is_some_and(|(of, next)| of == directory && start < *next) {
            return;
        }
    }
    let mut count = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        count += 1;
        if !entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            continue;
        }
        // Only a file of this kind is opened: a pipe would wait.
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        if let Ok(file) = OpenOptions::new().append(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
    let pause = if count > MANY { Duration::from_secs(1) } else { Duration::ZERO };
    *NEXT.lock().unwrap_or_else(PoisonError::into_inner) = Some((directory.to_owned(), start + pause));
}

/// A file that refuses to grow beyond the process's own limit: the system would end the process there.
#[derive(Debug)]
struct Limited {
    file: File,
    left: u64,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len() as u64;
        if count > self.left {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "it would be larger than this process may make files (ulimit -f)",
            ));
        }
        let written = self.file.write(bytes)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The most bytes that this process may make a file of.
fn file_limit() -> u64 {
    #[cfg(unix)]
    return rustix::process::getrlimit(rustix::process::Resource::Fsize).current.unwrap_or(u64::MAX);
    #[cfg(not(unix))]
    u64::MAX
}
