//! Opening: regular files, within the limit of their kind, without waiting.

use crate::kinds::{ENVIRONMENT, FileKind, Size, enough_for};
use crate::memory::{self, Entry};
use std::fmt;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason why a file cannot be opened or read. The text is complete: it names the file and, where there is one, the way out.
#[derive(Debug)]
pub struct OpenError {
    /// The file's purpose, for the message: "the program".
    pub noun: String,
    /// The file.
    pub path: PathBuf,
    /// The error.
    pub problem: Problem,
}

/// An error of a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The system says so.
    Io(io::Error),
    /// It is no regular file but a "directory", "pipe", "socket" or "device".
    NotRegular(&'static str),
    /// It is larger than its kind may be.
    TooLarge {
        /// The kind.
        kind: FileKind,
        /// Its bytes; unknown of a pipe.
        bytes: Option<u64>,
        /// The most bytes of the kind.
        limit: u64,
    },
    /// It does not have the size that the system reported when it was opened.
    Changes {
        /// The size that the system reported.
        said: u64,
        /// Whether it has more than that.
        is_longer: bool,
    },
    /// Not the bytes that the file naming it states.
    WrongSize {
        /// The stated size.
        stated: u64,
        /// The file's size.
        bytes: u64,
    },
    /// It is outside of the folder of the file that names it; the reason.
    Outside(&'static str),
    /// It is no text; the number of the first byte that is not UTF-8.
    NotText(usize),
    /// The user's limits cannot be understood.
    Limits(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) if e.kind() == io::ErrorKind::NotFound => f.write_str("there is no such file"),
            Self::Io(e) => write!(f, "{e}"),
            Self::NotRegular(what) => write!(f, "it is a {what}, and files are read"),
            Self::TooLarge { kind, bytes, limit } => {
                let noun = kind.noun();
                let noun = noun.strip_prefix("the ").unwrap_or(noun);
                match bytes {
                    Some(bytes) => write!(f, "it has {bytes} bytes")?,
                    None => write!(f, "it has more than {limit} bytes")?,
                }
                let enough = bytes.map_or(Size(limit.saturating_mul(2)), enough_for);
                write!(f, ", and a {noun} may have {limit}; {ENVIRONMENT}={}={enough} raises this", kind.name())
            }
            Self::Changes { said: 0, .. } => {
                f.write_str("it says that it is empty and is not: the system makes it while it is read, or it is growing; read a copy")
            }
            Self::Changes { said, is_longer } => {
                let how = if *is_longer { "more" } else { "fewer" };
                write!(f, "it had {said} bytes when it was opened and has {how} now; read it when it no longer changes")
            }
            Self::WrongSize { stated, bytes } => write!(f, "it has {bytes} bytes, and {stated} are stated"),
            Self::Outside(why) => f.write_str(why),
            Self::NotText(at) => write!(f, "byte {at} is not UTF-8"),
            Self::Limits(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} cannot be read: {}", self.noun, self.path.display(), self.problem)
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Io(e) => Some(e),
            _ => None,
        }
    }
}

impl OpenError {
    pub(crate) fn new(path: &Path, kind: FileKind, problem: Problem) -> Self {
        Self { noun: kind.noun().to_owned(), path: path.to_owned(), problem }
    }

    /// The same for a file that messages call by another name, such as "the shader".
    #[must_use]
    pub fn called(mut self, noun: &str) -> Self {
        noun.clone_into(&mut self.noun);
        self
    }
}

/// The bytes of an open file.
#[derive(Debug)]
pub(crate) enum FileBytes {
    Disk(File),
    Memory(Cursor<Arc<[u8]>>),
}

impl Read for FileBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Disk(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for FileBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Disk(file) => file.seek(to),
            Self::Memory(bytes) => bytes.seek(to),
        }
    }
}

/// An open regular file. It ends at its length when it was opened, even if it grows.
#[derive(Debug)]
pub struct InputFile {
    file: FileBytes,
    bytes: u64,
    at: u64,
}

impl InputFile {
    /// How many bytes it had when it was opened.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.bytes
    }
}

impl Read for InputFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.bytes.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = buffer.len().min(left);
        let read = self.file.read(&mut buffer[..most])?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for InputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.bytes.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let to = to.ok_or(io::ErrorKind::InvalidInput)?;
        self.at = self.file.seek(SeekFrom::Start(to))?;
        Ok(self.at)
    }
}

/// Opens a regular file within the limit of its kind.
///
/// # Errors
/// It does not exist, is no regular file, or is too large.
pub fn open(path: &Path, kind: FileKind) -> Result<InputFile, OpenError> {
    let wrong = |problem| OpenError::new(path, kind, problem);
    let limit = kind.limit().map_err(|why| wrong(Problem::Limits(why)))?;
    let (file, bytes) = open_regular(path).map_err(wrong)?;
    if bytes > limit {
        return Err(wrong(Problem::TooLarge { kind, bytes: Some(bytes), limit }));
    }
    Ok(InputFile { file, bytes, at: 0 })
}

/// Reads a regular file within the limit of its kind.
///
/// # Errors
/// As for [`open`]; and the file does not have the size that the system reports.
pub fn read(path: &Path, kind: FileKind) -> Result<Vec<u8>, OpenError> {
    open(path, kind)?.whole().map_err(|problem| OpenError::new(path, kind, problem))
}

/// Reads a text file within the limit of its kind.
///
/// # Errors
/// As for [`read`]; and when it is not UTF-8.
pub fn read_text(path: &Path, kind: FileKind) -> Result<String, OpenError> {
    let not_text = |e: std::string::FromUtf8Error| Problem::NotText(e.utf8_error().valid_up_to());
    String::from_utf8(read(path, kind)?).map_err(|e| OpenError::new(path, kind, not_text(e)))
}

/// Reads a file that a command's user names on the command line: as [`read`], and for `-` and [descriptors](names_pipe) pipes to their end.
///
/// # Errors
/// As for [`read`].
pub fn read_argument(path: &Path, kind: FileKind) -> Result<Vec<u8>, OpenError> {
    if path == Path::new("-") || path == Path::new("/dev/stdin") && names_pipe(path) {
        return to_end(&mut io::stdin().lock(), Path::new("from stdin"), kind);
    }
    if !names_pipe(path) {
        return read(path, kind);
    }
    let mut file = File::open(path).map_err(|e| OpenError::new(path, kind, Problem::Io(e)))?;
    to_end(&mut file, path, kind)
}

/// Whether a path is the name of a pipe that this process was started with, as a shell's `<(...)` is.
#[must_use]
pub fn names_pipe(path: &Path) -> bool {
    let is_descriptor =
        path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    is_descriptor && std::fs::metadata(path).is_ok_and(|of| matches!(name(of.file_type()), "pipe" | "socket"))
}

/// Reads a stream to its end, within the limit of its kind.
fn to_end(from: &mut dyn Read, path: &Path, kind: FileKind) -> Result<Vec<u8>, OpenError> {
    let wrong = |problem| OpenError::new(path, kind, problem);
    let limit = kind.limit().map_err(|why| wrong(Problem::Limits(why)))?;
    let mut bytes = Vec::new();
    let count = from.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|e| wrong(Problem::Io(e)))?;
    if count as u64 > limit {
        return Err(wrong(Problem::TooLarge { kind, bytes: None, limit }));
    }
    Ok(bytes)
}

/// Whether a regular file begins with these bytes. Of a file that cannot be opened the answer is no.
#[must_use]
pub fn begins_with(path: &Path, magic: &[u8]) -> bool {
    let mut begin = vec![0; magic.len()];
    open_regular(path).is_ok_and(|(mut file, _)| file.read_exact(&mut begin).is_ok() && begin == magic)
}

/// The first bytes of a regular file, `most` at the most; `None` of a file that cannot be read.
#[must_use]
pub fn beginning(path: &Path, most: u64) -> Option<Vec<u8>> {
    let (file, _) = open_regular(path).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

impl InputFile {
    /// All its bytes; the file must not have been read from.
    pub(crate) fn whole(mut self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        let room = usize::try_from(self.bytes).map_err(|_| Problem::Io(io::ErrorKind::OutOfMemory.into()))?;
        bytes.try_reserve_exact(room).map_err(|_| Problem::Io(io::ErrorKind::OutOfMemory.into()))?;
        self.read_to_end(&mut bytes).map_err(Problem::Io)?;
        let more = self.file.read(&mut [0]).map_err(Problem::Io)?;
        if bytes.len() as u64 != self.bytes || more != 0 {
            return Err(Problem::Changes { said: self.bytes, is_longer: more != 0 });
        }
        Ok(bytes)
    }
}

/// Opens a regular file; its size.
pub(crate) fn open_regular(path: &Path) -> Result<(FileBytes, u64), Problem> {
    match memory::find(path) {
        Some(Ok(Entry::File(bytes))) => {
            let length = bytes.len() as u64;
            return Ok((FileBytes::Memory(Cursor::new(bytes)), length));
        }
        Some(Ok(Entry::Folder)) => return Err(Problem::NotRegular("directory")),
        Some(Err(e)) => return Err(Problem::Io(e)),
        None => {}
    }
    // Opening some devices has an effect: they are not opened to find out.
    regular(&std::fs::metadata(path).map_err(Problem::Io)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // It may be a pipe by now: opening one waits for a writer.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path).map_err(Problem::Io)?;
    let bytes = regular(&file.metadata().map_err(Problem::Io)?)?;
    Ok((FileBytes::Disk(file), bytes))
}

/// The size of a regular file.
fn regular(of: &Metadata) -> Result<u64, Problem> {
    if of.is_file() { Ok(of.len()) } else { Err(Problem::NotRegular(name(of.file_type()))) }
}

/// The kind of something that is no regular file.
pub(crate) fn name(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "pipe";
        }
        if kind.is_socket() {
            return "socket";
        }
    }
    if kind.is_dir() { "directory" } else { "device" }
}
