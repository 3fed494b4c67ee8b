//! The meaning of the records of a recording. `docs/replay.md` is the format's page, `ctm-records` frames the records.

use crate::memory::{Dwords, GpuAddr, PAGE, Page};
pub(crate) use ctm_records::{BODY, Kind, Record, Records, record};
use ctm_records::{Body, RecordFormat};
use std::fmt;
use std::io;

/// The first eight bytes of every recording.
pub const MAGIC: [u8; 8] = *b"CTMTRACE";
/// The files.
pub(crate) const FORMAT: RecordFormat = RecordFormat { magic: MAGIC, version: VERSION, what: "recording" };
/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// The kinds of records.
pub(crate) mod kind {
    use super::Kind;

    /// Who made the recording, as JSON.
    pub(crate) const INFO: Kind = Kind(*b"INFO");
    /// A device was opened, as JSON.
    pub(crate) const OPEN: Kind = Kind(*b"OPEN");
    /// A device's registers got their initial values.
    pub(crate) const RESET: Kind = Kind(*b"RSET");
    /// Pages that the host changed before the next submission of a device.
    pub(crate) const PAGES: Kind = Kind(*b"PAGE");
    /// Memory after the next submission of a device.
    pub(crate) const WRITTEN: Kind = Kind(*b"WROT");
    /// A submission.
    pub(crate) const DONE: Kind = Kind(*b"DONE");
    /// A device was closed.
    pub(crate) const CLOSE: Kind = Kind(*b"CLOS");
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
    /// A record is damaged.
    Damaged {
        /// Where the record begins, in bytes.
        offset: u64,
        /// The error.
        what: String,
    },
    /// The file cannot be read.
    Io(io::Error),
    /// The environment names an engine that this host does not have.
    Engine(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotARecording => {
                write!(f, "this is no recording; recordings begin with `{}`", FORMAT.magic.escape_ascii())
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

impl From<ctm_records::ReadError> for ReadError {
    fn from(e: ctm_records::ReadError) -> Self {
        match e {
            ctm_records::ReadError::Foreign { .. } => Self::NotARecording,
            ctm_records::ReadError::Version { found, .. } => Self::Version { found },
            ctm_records::ReadError::Cut { offset } => Self::Cut { offset },
            ctm_records::ReadError::Damaged { offset, what } => Self::Damaged { offset, what },
            ctm_records::ReadError::Io(e) => Self::Io(e),
            e => Self::Io(io::Error::other(e)),
        }
    }
}

/// A page after a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrittenPage {
    pub address: GpuAddr,
    /// Which dwords the submission may have written.
    pub dwords: Dwords,
    /// The page, of which these dwords count; `None`: they are unchanged.
    pub page: Option<Box<Page>>,
}

/// Flags of a written page: all its dwords; they are unchanged.
const WHOLE: u32 = 1;
const UNCHANGED: u32 = 2;

impl WrittenPage {
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

/// A submission, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SubmissionEnd {
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

impl SubmissionEnd {
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
pub(crate) enum RecordEntry {
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
        pages: Vec<WrittenPage>,
    },
    SubmissionEnd {
        device: u32,
        done: SubmissionEnd,
    },
    Close {
        device: u32,
    },
    /// One that this version does not know and may pass over.
    Unknown,
}

impl RecordEntry {
    /// The content of a record, or its error.
    pub fn decode(of: Kind, body: &[u8]) -> Result<Self, String> {
        let mut rest = Body(body);
        let json = |bytes: &[u8]| serde_json::from_slice(bytes).map_err(|e| format!("{of}: {e}"));
        let short = || format!("{of}: its body does not hold what it announces");
        let entry = match of {
            kind::INFO => return json(body).map(Self::Info),
            kind::OPEN => {
                let device = rest.u32().ok_or_else(short)?;
                return Ok(Self::Open { device, about: json(rest.0)? });
            }
            kind::RESET => rest.u32().map(|device| Self::Reset { device }),
            kind::CLOSE => rest.u32().map(|device| Self::Close { device }),
            kind::PAGES => pages(&mut rest),
            kind::WRITTEN => rest.u32().and_then(|device| {
                let mut pages = Vec::new();
                while !rest.0.is_empty() {
                    pages.push(WrittenPage::decode(&mut rest)?);
                }
                Some(Self::Written { device, pages })
            }),
            kind::DONE => rest
                .u32()
                .and_then(|device| Some(Self::SubmissionEnd { device, done: SubmissionEnd::decode(&mut rest)? })),
            _ if of.may_be_skipped() => return Ok(Self::Unknown),
            _ => return Err(format!("{of} is no kind of record that this build knows")),
        };
        entry.filter(|_| rest.0.is_empty()).ok_or_else(short)
    }
}

/// Pages: the device, then address and bytes of each.
fn pages(body: &mut Body<'_>) -> Option<RecordEntry> {
    let device = body.u32()?;
    let mut pages = Vec::new();
    while !body.0.is_empty() {
        let address = GpuAddr(body.u32()?);
        let mut page = Box::new([0; PAGE]);
        page.copy_from_slice(body.take(PAGE)?);
        pages.push((address, page));
    }
    Some(RecordEntry::Pages { device, pages })
}
