//! Files of records: a magic number and a version, then records, each with its own length and checksum.
//!
//! A file that was cut, by a full disk or by the end of the process that wrote it, is good up to the last whole record. Recordings of devices
//! (`docs/replay.md`) and captures of command streams (`docs/radeon.md`) are such files; they define the meaning of records.
//!
//! | bytes | content |
//! |---|---|
//! | 0-7 | the magic number of the format |
//! | 8-11 | the version of the format |
//! | 12-15 | 0 |
//! | then, for each record: 0-3 | its kind, four letters |
//! | 4-7 | flags: bit 0, the body is an LZ4 block; the others are 0 |
//! | 8-11 | length of the body, at most [`MAX_BODY`] |
//! | 12-15 | length of the body as it is in the file, at most [`MAX_BODY`] |
//! | 16-19 | CRC-32 (of zlib and PNG) of bytes 0 to 15 and the body as it is in the file |
//! | 20- | the body |
//!
//! Numbers are little-endian. **Invariant:** reading trusts nothing; lengths are bounded before anything is allocated, and a body is decoded
//! only when its checksum is right.
//!
//! ```
//! use ctm_records::{RecordFormat, Kind, record};
//!
//! const NOTES: RecordFormat = RecordFormat { magic: *b"MYNOTES!", version: 1, what: "file of notes" };
//! let mut file = NOTES.header().to_vec();
//! file.extend(record(Kind(*b"NOTE"), b"the first"));
//! file.extend(record(Kind(*b"NOTE"), b"the second"));
//! let cut = &file[..file.len() - 1];
//! let mut records = NOTES.read(cut)?;
//! assert_eq!(records.next()?.map(|record| record.body), Some(b"the first".to_vec()));
//! assert!(records.next().is_err());
//! # Ok::<(), ctm_records::ReadError>(())
//! ```

use std::fmt;
use std::io::{self, Read};

/// Bytes before the first record.
pub const HEADER_BYTES: usize = 16;
/// Bytes of a record before its body.
pub const HEAD_BYTES: usize = 20;
/// The longest body, in bytes, before and after compression.
pub const MAX_BODY: usize = 4 << 20;
/// The usual size of a body, in bytes.
pub const BODY: usize = 1 << 20;
/// Flag of a record: its body is an LZ4 block.
const COMPRESSED: u32 = 1;
/// Bodies below this are not worth compressing.
const WORTH: usize = 128;

/// A format of such files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordFormat {
    /// The first bytes of its files.
    pub magic: [u8; 8],
    /// The version that is written, and the only one that is read.
    pub version: u32,
    /// The file's name in messages: "recording".
    pub what: &'static str,
}

impl RecordFormat {
    /// The bytes before the first record.
    #[must_use]
    pub fn header(&self) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..8].copy_from_slice(&self.magic);
        header[8..12].copy_from_slice(&self.version.to_le_bytes());
        header
    }

    /// Begins to read a file.
    ///
    /// # Errors
    /// [`ReadError::Foreign`] for files of another kind, [`ReadError::Version`] for those of another version, [`ReadError::Cut`] when the file ends
    /// before its first record could begin, [`ReadError::Io`] when it cannot be read.
    pub fn read<R: Read>(&self, mut from: R) -> Result<Records<R>, ReadError> {
        let mut header = [0; HEADER_BYTES];
        let got = fill(&mut from, &mut header)?;
        let magic = got.min(self.magic.len());
        if got == 0 || header[..magic] != self.magic[..magic] {
            return Err(ReadError::Foreign { format: *self });
        }
        if got < HEADER_BYTES {
            return Err(ReadError::Cut { offset: 0 });
        }
        match word(&header, 8) {
            found if found == self.version => Ok(Records { from, offset: HEADER_BYTES as u64 }),
            found => Err(ReadError::Version { format: *self, found }),
        }
    }
}

/// The kind of record: four letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind(pub [u8; 4]);

impl Kind {
    /// Whether readers that do not know it may pass over it: its first letter is small.
    #[must_use]
    pub const fn may_be_skipped(self) -> bool {
        self.0[0].is_ascii_lowercase()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.escape_ascii())
    }
}

/// A record as it is in the file. The body has at most [`MAX_BODY`] bytes; a longer one cannot be read again.
#[must_use]
pub fn record(kind: Kind, body: &[u8]) -> Vec<u8> {
    let length = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
    let compressed = (body.len() >= WORTH).then(|| lz4_flex::block::compress(body));
    let compressed = compressed.filter(|c| c.len() < body.len());
    let stored = compressed.as_deref().unwrap_or(body);
    let mut out = Vec::with_capacity(HEAD_BYTES + stored.len());
    out.extend(kind.0);
    out.extend((if compressed.is_some() { COMPRESSED } else { 0 }).to_le_bytes());
    out.extend(length(body.len()));
    out.extend(length(stored.len()));
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&out);
    checksum.update(stored);
    out.extend(checksum.finalize().to_le_bytes());
    out.extend(stored);
    out
}

/// Why a file, or the rest of it, cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not begin as those of its format do.
    Foreign {
        /// The format that was expected.
        format: RecordFormat,
    },
    /// The file has another version.
    Version {
        /// The format.
        format: RecordFormat,
        /// The version of the file.
        found: u32,
    },
    /// The file ends within a record.
    Cut {
        /// Where the record begins, in bytes.
        offset: u64,
    },
    /// A record is damaged.
    Damaged {
        /// Where the record begins, in bytes.
        offset: u64,
        /// The error.
        what: String,
    },
    /// The file cannot be read.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { format: RecordFormat { magic, what, .. } } => {
                write!(f, "this is no {what}; {what}s begin with `{}`", magic.escape_ascii())
            }
            Self::Version { format: RecordFormat { version, what, .. }, found } => {
                write!(f, "the {what} has version {found}; this build reads version {version}")
            }
            Self::Cut { offset } => write!(f, "the file ends within the record at byte {offset}"),
            Self::Damaged { offset, what } => write!(f, "the record at byte {offset} is damaged: {what}"),
            Self::Io(e) => write!(f, "the file cannot be read: {e}"),
        }
    }
}

impl std::error::Error for ReadError {}

/// One record of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its kind.
    pub kind: Kind,
    /// Its body, as it was before compression.
    pub body: Vec<u8>,
}

/// Reads records; [`RecordFormat::read`] makes it.
#[derive(Debug)]
pub struct Records<R> {
    from: R,
    offset: u64,
}

impl<R: Read> Records<R> {
    /// Where the next record begins, in bytes.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The next record; `None` at the end of the file.
    ///
    /// # Errors
    /// [`ReadError::Cut`], [`ReadError::Damaged`] and [`ReadError::Io`]. Records read before are valid.
    #[allow(clippy::should_implement_trait)] // An iterator would go on after an error.
    pub fn next(&mut self) -> Result<Option<Record>, ReadError> {
        let offset = self.offset;
        let damaged = |what: String| ReadError::Damaged { offset, what };
        let mut head = [0; HEAD_BYTES];
        match fill(&mut self.from, &mut head)? {
            0 => return Ok(None),
            HEAD_BYTES => {}
            _ => return Err(ReadError::Cut { offset }),
        }
        let kind = Kind([head[0], head[1], head[2], head[3]]);
        let (flags, plain, stored) = (word(&head, 4), word(&head, 8) as usize, word(&head, 12) as usize);
        if !kind.0.iter().all(u8::is_ascii_alphabetic) || flags & !COMPRESSED != 0 {
            return Err(damaged("it does not begin as a record does".to_owned()));
        }
        if plain > MAX_BODY || stored > MAX_BODY {
            return Err(damaged(format!("it would have {} bytes, at most {MAX_BODY} are allowed", plain.max(stored))));
        }
        let mut body = vec![0; stored];
        if fill(&mut self.from, &mut body)? < stored {
            return Err(ReadError::Cut { offset });
        }
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&head[..16]);
        checksum.update(&body);
        if checksum.finalize() != word(&head, 16) {
            return Err(damaged("its checksum is wrong".to_owned()));
        }
        if flags & COMPRESSED != 0 {
            body = lz4_flex::block::decompress(&body, plain).map_err(|e| damaged(format!("{e}")))?;
        }
        if body.len() != plain {
            return Err(damaged(format!("its body has {} bytes, {plain} were announced", body.len())));
        }
        self.offset = offset + (HEAD_BYTES + stored) as u64;
        Ok(Some(Record { offset, kind, body }))
    }
}

/// Reads until `to` is full or the file ends; how many bytes there were.
fn fill(from: &mut impl Read, to: &mut [u8]) -> Result<usize, ReadError> {
    let mut got = 0;
    while got < to.len() {
        match from.read(&mut to[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(ReadError::Io(e)),
        }
    }
    Ok(got)
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(word)
}

/// The rest of a body, read from its front. Every method is `None` where the body is too short, and takes nothing then.
#[derive(Clone, Copy, Debug)]
pub struct Body<'a>(
    /// Unread bytes.
    pub &'a [u8],
);

impl<'a> Body<'a> {
    /// The next bytes.
    pub fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// A number of 4 bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| word(bytes, 0))
    }

    /// A number of 8 bytes.
    pub fn u64(&mut self) -> Option<u64> {
        let bytes = self.take(8)?;
        Some(u64::from(word(bytes, 0)) | u64::from(word(bytes, 4)) << 32)
    }

    /// A text: its length in bytes as a number of 4 bytes, then UTF-8.
    pub fn text(&mut self) -> Option<String> {
        let mut rest = *self;
        let bytes = rest.u32()? as usize;
        let text = rest.take(bytes)?;
        *self = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }
}
