//! Folders in memory: files with paths, and no disk below them. Examples of the page lie in them, and in a browser, which has no disk, all files.
//!
//! A path in such a folder begins with [`ROOT`], which is no name of a folder on a disk. Opening follows these paths, and nothing is saved there. There are no links: `..` goes up.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The first component of paths in memory.
pub const ROOT: &str = "<memory>";

/// Files by their paths without `.` and `..`.
type Files = BTreeMap<PathBuf, Arc<[u8]>>;

/// The files of each folder.
static FOLDERS: Mutex<BTreeMap<PathBuf, Files>> = Mutex::new(BTreeMap::new());

fn folders() -> MutexGuard<'static, BTreeMap<PathBuf, Files>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder in memory. Its files go when this value does.
///
/// ```
/// use ctm_files::{FileKind, MemoryFolder, read_text};
///
/// let folder = MemoryFolder::new();
/// let path = folder.put("programs/a.x1k", b"mov o0, r0\n".as_slice())?;
/// assert_eq!(read_text(&path, FileKind::Program)?, "mov o0, r0\n");
/// drop(folder);
/// assert!(read_text(&path, FileKind::Program).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct MemoryFolder {
    path: PathBuf,
}

impl MemoryFolder {
    /// An empty folder.
    #[must_use]
    pub fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let path = Path::new(ROOT).join(NUMBER.fetch_add(1, Relaxed).to_string());
        folders().insert(path.clone(), BTreeMap::new());
        Self { path }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a file at a place below it, instead of one that was there; the file's path.
    ///
    /// # Errors
    /// The place leads out of the folder, or is the folder itself.
    pub fn put(&self, place: impl AsRef<Path>, bytes: impl Into<Arc<[u8]>>) -> io::Result<PathBuf> {
        let path = normal(&self.path.join(place));
        if !path.starts_with(&self.path) || path == self.path {
            let message = format!("{} is no place in the folder {}", path.display(), self.path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        folders().entry(self.path.clone()).or_default().insert(path.clone(), bytes.into());
        Ok(path)
    }
}

impl Default for MemoryFolder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for MemoryFolder {
    fn drop(&mut self) {
        folders().remove(&self.path);
    }
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

/// Whether a path is one in memory.
fn is_in_memory(path: &Path) -> bool {
    path.components().next() == Some(Component::Normal(ROOT.as_ref()))
}

/// Something at a path in memory.
pub(crate) enum Entry {
    /// A file with these bytes.
    File(Arc<[u8]>),
    /// A folder.
    Folder,
}

/// The entry at a path; `None` of a path that is not in memory.
pub(crate) fn find(path: &Path) -> Option<io::Result<Entry>> {
    if !is_in_memory(path) {
        return None;
    }
    let path = normal(path);
    let folder: PathBuf = path.components().take(2).collect();
    let folders = folders();
    let found = folders.get(&folder).and_then(|files| match files.get(&path) {
        Some(bytes) => Some(Entry::File(Arc::clone(bytes))),
        None => (path == folder || files.keys().any(|file| file.starts_with(&path))).then_some(Entry::Folder),
    });
    Some(found.ok_or_else(|| io::ErrorKind::NotFound.into()))
}

/// The path of a file or folder that exists, without links and `..`.
///
/// # Errors
/// There is none.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    match find(path) {
        Some(found) => found.map(|_| normal(path)),
        None => path.canonicalize(),
    }
}

/// The length of a file in bytes.
///
/// # Errors
/// There is none.
pub fn length(path: &Path) -> io::Result<u64> {
    match find(path) {
        Some(found) => found.map(|entry| match entry {
            Entry::File(bytes) => bytes.len() as u64,
            Entry::Folder => 0,
        }),
        None => path.metadata().map(|of| of.len()),
    }
}
