//! The file: a magic number, then records, each with its own length and checksum. `docs/replay.md` is the format's page.
//!
//! Reading trusts nothing: lengths are bounded before anything is allocated, and a body is looked at only when its checksum is right.

use super::watch::{Dwords, PAGE, Page};
use crate::memory::GpuAddr;
use std::fmt;
use std::io::{self, Read};

/// The first bytes of a recording.
pub(crate) const MAGIC: [u8; 8] = *b"CTMTRACE";
/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;
/// Bytes before the first record: the magic number, the version, a word that is 0.
pub(crate) const HEADER_BYTES: usize = 16;
/// Bytes of a record before its body.
pub(crate) const HEAD_BYTES: usize = 20;
/// What a body may be long, before and after compression.
pub(crate) const MAX_BODY: usize = 4 << 20;
/// What writers put into a body, about.
pub(crate) const BODY: usize = 1 << 20;
/// Flag of a record: its body is an LZ4 block.
const COMPRESSED: u32 = 1;
/// Bodies below this are not worth compressing.
const WORTH: usize = 128;

/// What kind of record: four letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(pub [u8; 4]);

impl Kind {
    /// Who made the recording, as JSON.
    pub const INFO: Self = Self(*b"INFO");
    /// A device was opened, as JSON.
    pub const OPEN: Self = Self(*b"OPEN");
    /// A device's registers got their initial values.
    pub const RESET: Self = Self(*b"RSET");
    /// Pages that the host changed before the next submission of a device.
    pub const PAGES: Self = Self(*b"PAGE");
    /// What the next submission of a device left in memory.
    pub const WRITTEN: Self = Self(*b"WROT");
    /// A submission.
    pub const DONE: Self = Self(*b"DONE");
    /// A device was closed.
    pub const CLOSE: Self = Self(*b"CLOS");

    /// Whether readers that do not know it may pass over it: its first letter is small.
    pub const fn may_be_skipped(self) -> bool {
        self.0[0].is_ascii_lowercase()
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.0.escape_ascii())
    }
}

/// The bytes before the first record.
pub(crate) fn header() -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header
}

/// A record as it stands in the file.
pub(crate) fn record(kind: Kind, body: &[u8]) -> Vec<u8> {
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

/// Why a recording, or the rest of it, cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not begin as a recording does.
    NotARecording,
    /// The recording was made by a newer version.
    Version {
        /// Its version; this build reads [`VERSION`].
        found: u32,
    },
    /// The file ends within a record.
    Cut {
        /// Where the record begins, in bytes.
        offset: u64,
    },
    /// A record is not what was written.
    Damaged {
        /// Where the record begins, in bytes.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The file cannot be read.
    Io(io::Error),
    /// The environment asks for an engine that this host does not have.
    Engine(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARecording => {
                write!(f, "this is no recording; recordings begin with `{}`", MAGIC.escape_ascii())
            }
            Self::Version { found } => {
                write!(f, "the recording has version {found}; this build reads version {VERSION}")
            }
            Self::Cut { offset } => write!(f, "the file ends within the record at byte {offset}"),
            Self::Damaged { offset, what } => write!(f, "the record at byte {offset} is damaged: {what}"),
            Self::Io(e) => write!(f, "the file cannot be read: {e}"),
            Self::Engine(e) => f.write_str(e),
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads records.
pub(crate) struct Records<R> {
    from: R,
    /// Where the next record begins, in bytes.
    pub offset: u64,
}

impl<R: Read> Records<R> {
    pub fn new(mut from: R) -> Result<Self, ReadError> {
        let mut header = [0; HEADER_BYTES];
        let got = fill(&mut from, &mut header)?;
        let magic = got.min(MAGIC.len());
        if got == 0 || header[..magic] != MAGIC[..magic] {
            return Err(ReadError::NotARecording);
        }
        if got < HEADER_BYTES {
            return Err(ReadError::Cut { offset: 0 });
        }
        match word(&header, 8) {
            VERSION => Ok(Self { from, offset: HEADER_BYTES as u64 }),
            found => Err(ReadError::Version { found }),
        }
    }

    /// The next record and where it begins; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<(u64, Kind, Vec<u8>)>, ReadError> {
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
        Ok(Some((offset, kind, body)))
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

/// What a submission left of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub address: GpuAddr,
    /// Which dwords the submission may have written.
    pub dwords: Dwords,
    /// The page, of which these dwords count; `None`: they are what they were before.
    pub page: Option<Box<Page>>,
}

/// Flags of a written page: all its dwords; they are what they were.
const WHOLE: u32 = 1;
const UNCHANGED: u32 = 2;

impl Written {
    pub fn encode(&self, out: &mut Vec<u8>) {
        let whole = self.dwords == Dwords::ALL;
        let flags = if whole { WHOLE } else { 0 } | if self.page.is_none() { UNCHANGED } else { 0 };
        out.extend(self.address.0.to_le_bytes());
        out.extend(flags.to_le_bytes());
        if !whole {
            out.extend(self.dwords.0.iter().flat_map(|word| word.to_le_bytes()));
        }
        match &self.page {
            Some(page) if whole => out.extend(&page[..]),
            Some(page) => self.dwords.iter().for_each(|n| out.extend(&page[4 * n..4 * n + 4])),
            None => {}
        }
    }

    fn decode(body: &mut Body<'_>) -> Option<Self> {
        let (address, flags) = (GpuAddr(body.u32()?), body.u32()?);
        if flags & !(WHOLE | UNCHANGED) != 0 {
            return None;
        }
        let dwords = if flags & WHOLE != 0 {
            Dwords::ALL
        } else {
            let mut dwords = Dwords::default();
            for word in &mut dwords.0 {
                *word = body.u64()?;
            }
            dwords
        };
        let page = if flags & UNCHANGED != 0 {
            None
        } else {
            let mut page = Box::new([0; PAGE]);
            for n in dwords.iter() {
                page[4 * n..4 * n + 4].copy_from_slice(body.take(4)?);
            }
            Some(page)
        };
        Some(Self { address, dwords, page })
    }
}

/// What a submission was, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// Counted from 1, for each device.
    pub number: u64,
    pub address: GpuAddr,
    pub size_dwords: u32,
    /// Commands that were executed.
    pub commands: u32,
    pub failure: Option<Failure>,
}

/// Why a submission stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub offset_dwords: u32,
    pub word: u32,
    pub code: String,
    pub message: String,
}

impl Done {
    pub fn encode(&self, device: u32) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(device.to_le_bytes());
        out.extend(self.number.to_le_bytes());
        for word in [self.address.0, self.size_dwords, self.commands, u32::from(self.failure.is_some())] {
            out.extend(word.to_le_bytes());
        }
        if let Some(failure) = &self.failure {
            out.extend(failure.offset_dwords.to_le_bytes());
            out.extend(failure.word.to_le_bytes());
            for text in [&failure.code, &failure.message] {
                out.extend(u32::try_from(text.len()).unwrap_or(0).to_le_bytes());
                out.extend(text.as_bytes());
            }
        }
        out
    }

    fn decode(body: &mut Body<'_>) -> Option<Self> {
        let number = body.u64()?;
        let (address, size_dwords, commands) = (GpuAddr(body.u32()?), body.u32()?, body.u32()?);
        let failure = match body.u32()? {
            0 => None,
            1 => Some(Failure {
                offset_dwords: body.u32()?,
                word: body.u32()?,
                code: body.text()?,
                message: body.text()?,
            }),
            _ => return None,
        };
        Some(Self { number, address, size_dwords, commands, failure })
    }
}

/// A record's meaning. Numbers of devices count from 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Entry {
    Info(serde_json::Value),
    Open {
        device: u32,
        about: serde_json::Value,
    },
    Reset {
        device: u32,
    },
    Pages {
        device: u32,
        pages: Vec<(GpuAddr, Box<Page>)>,
    },
    Written {
        device: u32,
        pages: Vec<Written>,
    },
    Done {
        device: u32,
        done: Done,
    },
    Close {
        device: u32,
    },
    /// One that this version does not know and may pass over.
    Unknown,
}

impl Entry {
    /// What a record says; what is wrong with it.
    pub fn decode(kind: Kind, body: &[u8]) -> Result<Self, String> {
        let mut rest = Body(body);
        let json = |bytes: &[u8]| serde_json::from_slice(bytes).map_err(|e| format!("{kind}: {e}"));
        let short = || format!("{kind}: its body does not hold what it announces");
        let entry = match kind {
            Kind::INFO => return json(body).map(Self::Info),
            Kind::OPEN => {
                let device = rest.u32().ok_or_else(short)?;
                return Ok(Self::Open { device, about: json(rest.0)? });
            }
            Kind::RESET => rest.u32().map(|device| Self::Reset { device }),
            Kind::CLOSE => rest.u32().map(|device| Self::Close { device }),
            Kind::PAGES => rest.pages(),
            Kind::WRITTEN => rest.u32().and_then(|device| {
                let mut pages = Vec::new();
                while !rest.0.is_empty() {
                    pages.push(Written::decode(&mut rest)?);
                }
                Some(Self::Written { device, pages })
            }),
            Kind::DONE => rest.u32().and_then(|device| Some(Self::Done { device, done: Done::decode(&mut rest)? })),
            _ if kind.may_be_skipped() => return Ok(Self::Unknown),
            _ => return Err(format!("{kind} is no kind of record that this build knows")),
        };
        entry.filter(|_| rest.0.is_empty()).ok_or_else(short)
    }
}

/// The rest of a body.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| word(bytes, 0))
    }

    fn u64(&mut self) -> Option<u64> {
        let bytes = self.take(8)?;
        Some(u64::from(word(bytes, 0)) | u64::from(word(bytes, 4)) << 32)
    }

    fn text(&mut self) -> Option<String> {
        let bytes = self.u32()? as usize;
        self.take(bytes).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Pages: the device, then address and bytes of each.
    fn pages(&mut self) -> Option<Entry> {
        let device = self.u32()?;
        let mut pages = Vec::new();
        while !self.0.is_empty() {
            let address = GpuAddr(self.u32()?);
            let mut page = Box::new([0; PAGE]);
            page.copy_from_slice(self.take(PAGE)?);
            pages.push((address, page));
        }
        Some(Entry::Pages { device, pages })
    }
}
