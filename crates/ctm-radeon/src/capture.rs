//! Captures: the submissions of a process, with the buffers as they were at each, to be inspected and drawn again anywhere.
//!
//! A capture is a file of records (`ctm-records` frames them), so one that was cut anywhere is good up to there. `docs/radeon.md` describes the
//! bodies. [`Writer`] makes one while a process runs, [`Reader`] gives the submissions back in order.
//!
//! **Invariants.** A submission is whole or absent: its buffers' pages come first. Only pages that changed are stored. Reading trusts nothing:
//! a page outside its buffer, a buffer that was never announced or memory without end is an error with the record's place.

use crate::chip::Chip;
use crate::environment;
use ctm_records::{BODY, Body, HEAD_BYTES, Kind, MAX_BODY, Record, RecordFormat, Records, record};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::Path;

pub use ctm_records::ReadError;

/// The files: their first bytes and version.
pub const FORMAT: RecordFormat = RecordFormat { magic: *b"CTMCAPTR", version: 1, what: "capture" };
/// Bytes of a page, the unit in which memory is compared and stored.
pub const PAGE: usize = 4096;
/// The most bytes that the buffers of a capture may have together; one of them has at most a quarter of it.
pub const MAX_MEMORY: u64 = 4 << 30;
/// How many words a submission may have.
pub const MAX_WORDS: usize = MAX_BODY / 8;

/// Whether a file is a capture, by how it begins.
#[must_use]
pub fn is_capture(path: &Path) -> bool {
    ctm_files::begins_with(path, &FORMAT.magic)
}

/// Who made the capture, as JSON.
const INFO: Kind = Kind(*b"INFO");
/// A buffer appears, or its description changes.
const BUFFER: Kind = Kind(*b"BUFF");
/// Pages of a buffer that changed.
const PAGES: Kind = Kind(*b"PAGE");
/// A buffer goes.
const FREE: Kind = Kind(*b"FREE");
/// A submission.
const SUBMISSION: Kind = Kind(*b"SUBM");
/// The answer to a submission, as the process got it.
const DONE: Kind = Kind(*b"DONE");

/// The description of a buffer, besides its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferInfo {
    /// Its size in bytes, a multiple of [`PAGE`].
    pub size_bytes: u64,
    /// Where the driver wants it: 1 CPU, 2 GTT, 4 VRAM.
    pub domain: u32,
    /// Tiling flags, as the driver noted them for other processes.
    pub tiling: u32,
    /// Bytes of a row, as the driver noted them.
    pub pitch_bytes: u32,
}

/// An entry of a submission's relocation list. The word after a packet is four times its number in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relocation {
    /// The buffer's number; numbers count from 1 in a capture and are not reused.
    pub buffer: u32,
    /// Domains that the submission reads it in.
    pub read_domains: u32,
    /// The domain that it writes it in, or 0.
    pub write_domain: u32,
    /// Bits 3:0, its priority.
    pub flags: u32,
}

/// One submission of a driver to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// Counted from 0 in a capture.
    pub number: u64,
    /// The words of the command stream.
    pub words: Vec<u32>,
    /// The buffers that its addresses mean.
    pub relocations: Vec<Relocation>,
}

/// The answer to a submission, as the process got it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Which submission.
    pub number: u64,
    /// 0, or the kernel's error number.
    pub error: u32,
    /// The reason of a refusal or a failure, in words; may be empty.
    pub message: String,
}

/// Writes a capture. Each record is one call of `write_all`, made before the method returns.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    buffers: HashMap<u32, Known>,
    submissions: u64,
}

/// The buffer's contents in the capture; pages that are absent are 0.
#[derive(Debug)]
struct Known {
    info: BufferInfo,
    pages: HashMap<u32, Box<[u8; PAGE]>>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture. `about` is an object that describes its origin: `program`, `process`, `chip`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut to: W, mut about: Value) -> io::Result<Self> {
        about["made_by"] = concat!("ctm ", env!("CARGO_PKG_VERSION")).into();
        about["page_bytes"] = PAGE.into();
        let mut start = FORMAT.header().to_vec();
        start.extend(record(INFO, about.to_string().as_bytes()));
        to.write_all(&start)?;
        Ok(Self { to, buffers: HashMap::new(), submissions: 0 })
    }

    /// Stores the bytes of a buffer that changed since the capture last saw it. `read` copies bytes of it from an offset; it is called for the ranges
    /// `parts` alone, all other bytes are 0.
    ///
    /// # Errors
    /// When `read` fails or the capture cannot be written.
    pub fn buffer(
        &mut self,
        buffer: u32,
        info: BufferInfo,
        parts: impl IntoIterator<Item = (u64, u64)>,
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.buffers.get(&buffer).is_none_or(|known| known.info != info) {
            let mut body = buffer.to_le_bytes().to_vec();
            body.extend(info.size_bytes.to_le_bytes());
            for word in [info.domain, info.tiling, info.pitch_bytes] {
                body.extend(word.to_le_bytes());
            }
            self.to.write_all(&record(BUFFER, &body))?;
        }
        let known = self.buffers.entry(buffer).or_insert_with(|| Known { info, pages: HashMap::new() });
        known.info = info;
        let mut out = Pages { buffer, body: Vec::new(), to: &mut self.to };
        let mut chunk = vec![0; 64 * PAGE];
        // Pages of the last submission that no part holds now have become 0.
        let mut absent: Vec<u32> = known.pages.keys().copied().collect();
        absent.sort_unstable();
        for (start, end) in parts {
            let (mut at, end) = (start / PAGE as u64 * PAGE as u64, end.min(info.size_bytes));
            while at < end {
                let bytes = usize::try_from(end - at).map_or(chunk.len(), |left| left.min(chunk.len()));
                read(at, &mut chunk[..bytes])?;
                chunk[bytes..bytes.next_multiple_of(PAGE)].fill(0);
                for page in chunk[..bytes.next_multiple_of(PAGE)].as_chunks::<PAGE>().0 {
                    let number = u32::try_from(at / PAGE as u64).map_err(io::Error::other)?;
                    if let Ok(found) = absent.binary_search(&number) {
                        absent.remove(found);
                    }
                    if known.change(number, page) {
                        out.add(number, page)?;
                    }
                    at += PAGE as u64;
                }
            }
        }
        for number in absent {
            known.pages.remove(&number);
            out.add(number, &[0; PAGE])?;
        }
        out.flush()
    }

    /// Stores a submission and returns its number. Its buffers must have been stored before.
    ///
    /// # Errors
    /// When it is longer than [`MAX_WORDS`] or cannot be written.
    pub fn submission(&mut self, words: &[u32], relocations: &[Relocation]) -> io::Result<u64> {
        let number = self.submissions;
        if words.len() > MAX_WORDS || relocations.len() > MAX_WORDS / 8 {
            return Err(io::Error::other(format!(
                "a submission of {} words and {} relocations is too long for a capture",
                words.len(),
                relocations.len()
            )));
        }
        let mut body = number.to_le_bytes().to_vec();
        body.extend(length(relocations.len()).to_le_bytes());
        for r in relocations {
            body.extend([r.buffer, r.read_domains, r.write_domain, r.flags].iter().flat_map(|word| word.to_le_bytes()));
        }
        body.extend(length(words.len()).to_le_bytes());
        body.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self.to.write_all(&record(SUBMISSION, &body))?;
        self.submissions += 1;
        Ok(number)
    }

    /// Stores the answer to a submission, as the process got it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn done(&mut self, done: &Done) -> io::Result<()> {
        let mut body = done.number.to_le_bytes().to_vec();
        let message = done.message.get(..4096).unwrap_or(&done.message);
        body.extend(done.error.to_le_bytes());
        body.extend(length(message.len()).to_le_bytes());
        body.extend(message.as_bytes());
        self.to.write_all(&record(DONE, &body))
    }

    /// Records that a buffer is gone; ignored for one that the capture has never seen.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn free(&mut self, buffer: u32) -> io::Result<()> {
        if self.buffers.remove(&buffer).is_none() {
            return Ok(());
        }
        self.to.write_all(&record(FREE, &buffer.to_le_bytes()))
    }
}

impl Known {
    /// Takes the current contents of a page; returns whether they changed.
    fn change(&mut self, number: u32, page: &[u8; PAGE]) -> bool {
        match self.pages.get_mut(&number) {
            Some(known) if **known == *page => false,
            Some(known) => {
                known.copy_from_slice(page);
                true
            }
            None if page.iter().all(|&byte| byte == 0) => false,
            None => {
                self.pages.insert(number, Box::new(*page));
                true
            }
        }
    }
}

/// A record of pages that is being filled.
struct Pages<'a, W> {
    buffer: u32,
    body: Vec<u8>,
    to: &'a mut W,
}

impl<W: Write> Pages<'_, W> {
    fn add(&mut self, number: u32, page: &[u8; PAGE]) -> io::Result<()> {
        if self.body.is_empty() {
            self.body.extend(self.buffer.to_le_bytes());
        }
        self.body.extend(number.to_le_bytes());
        self.body.extend(page);
        if self.body.len() >= BODY { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.body.is_empty() {
            return Ok(());
        }
        let body = std::mem::take(&mut self.body);
        self.to.write_all(&record(PAGES, &body))
    }
}

fn length(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}

/// A buffer of a capture that is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its description.
    pub info: BufferInfo,
    /// Its bytes, [`BufferInfo::size_bytes`] of them.
    pub bytes: Vec<u8>,
}

/// The next event of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CaptureEvent {
    /// A submission; [`Reader::buffers`] have their contents from that time.
    Submission(Submission),
    /// The answer to the submission before.
    Done(Done),
}

/// Reads a capture: submissions in order, and the buffers at each.
#[derive(Debug)]
pub struct Reader<R> {
    records: Records<R>,
    about: Value,
    buffers: HashMap<u32, Buffer>,
    memory: u64,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// When this is no capture, or one of another version.
    pub fn new(from: R) -> Result<Self, ReadError> {
        Ok(Self { records: FORMAT.read(from)?, about: Value::Null, buffers: HashMap::new(), memory: 0 })
    }

    /// The origin of the capture: `made_by`, `program`, `process`, `chip`. `null` before the first event was read.
    #[must_use]
    pub const fn about(&self) -> &Value {
        &self.about
    }

    /// The chip that the streams are for: that of [`Self::about`]. An R700 in captures that do not say it.
    #[must_use]
    pub fn chip(&self) -> &'static Chip {
        let named = self.about.get("chip").and_then(Value::as_str).and_then(environment::Chip::of_name);
        named.unwrap_or_default().streams()
    }

    /// The buffers that exist now, by number.
    #[must_use]
    pub const fn buffers(&self) -> &HashMap<u32, Buffer> {
        &self.buffers
    }

    /// The same, for executing submissions. Bytes may change, their number may not; the next events are applied on top.
    pub const fn buffers_mut(&mut self) -> &mut HashMap<u32, Buffer> {
        &mut self.buffers
    }

    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// [`ReadError::Cut`] where the file ends within a record, [`ReadError::Damaged`] where a record is malformed or has impossible values. All
    /// events before are good.
    #[allow(clippy::should_implement_trait)] // An iterator could not return borrowed buffers.
    pub fn next(&mut self) -> Result<Option<CaptureEvent>, ReadError> {
        while let Some(Record { offset, kind, body }) = self.records.next()? {
            match self.apply(kind, &body) {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => {}
                Err(what) => return Err(ReadError::Damaged { offset, what: format!("{kind}: {what}") }),
            }
        }
        Ok(None)
    }

    fn apply(&mut self, kind: Kind, body: &[u8]) -> Result<Option<CaptureEvent>, String> {
        let mut rest = Body(body);
        let short = || "its body does not hold what it announces".to_owned();
        let mut event = None;
        match kind {
            INFO => {
                self.about = serde_json::from_slice(body).map_err(|e| e.to_string())?;
                return Ok(None);
            }
            BUFFER => {
                let (number, info) = buffer(&mut rest).ok_or_else(short)?;
                self.announce(number, info)?;
            }
            PAGES => return self.pages(rest).map(|()| None),
            FREE => {
                let number = rest.u32().ok_or_else(short)?;
                if let Some(gone) = self.buffers.remove(&number) {
                    self.memory -= gone.info.size_bytes;
                }
            }
            SUBMISSION => {
                let submission = submission(&mut rest).ok_or_else(short)?;
                if let Some(r) = submission.relocations.iter().find(|r| !self.buffers.contains_key(&r.buffer)) {
                    return Err(format!(
                        "submission {} names buffer {}, which there is not",
                        submission.number, r.buffer
                    ));
                }
                event = Some(CaptureEvent::Submission(submission));
            }
            DONE => {
                let done = (|| Some(Done { number: rest.u64()?, error: rest.u32()?, message: rest.text()? }))();
                event = Some(CaptureEvent::Done(done.ok_or_else(short)?));
            }
            _ if kind.may_be_skipped() => return Ok(None),
            _ => return Err("this is no kind of record that this build knows".to_owned()),
        }
        if rest.0.is_empty() { Ok(event) } else { Err(short()) }
    }

    fn announce(&mut self, number: u32, info: BufferInfo) -> Result<(), String> {
        let size = info.size_bytes;
        if let Some(known) = self.buffers.get_mut(&number) {
            if known.info.size_bytes != size {
                return Err(format!("buffer {number} has {} bytes and would have {size} now", known.info.size_bytes));
            }
            known.info = info;
            return Ok(());
        }
        let fits = size <= MAX_MEMORY / 4 && self.memory + size <= MAX_MEMORY && size.is_multiple_of(PAGE as u64);
        let bytes = usize::try_from(size).ok().filter(|_| fits).ok_or_else(|| {
            format!(
                "buffer {number} would have {size} bytes; a multiple of {PAGE} is wanted, at most {}, and {MAX_MEMORY} with all others",
                MAX_MEMORY / 4
            )
        })?;
        self.memory += size;
        self.buffers.insert(number, Buffer { info, bytes: vec![0; bytes] });
        Ok(())
    }

    fn pages(&mut self, mut rest: Body<'_>) -> Result<(), String> {
        let short = || "its body does not hold whole pages".to_owned();
        let number = rest.u32().ok_or_else(short)?;
        let buffer =
            self.buffers.get_mut(&number).ok_or_else(|| format!("it is for buffer {number}, which there is not"))?;
        while !rest.0.is_empty() {
            let page = rest.u32().ok_or_else(short)?;
            let bytes = rest.take(PAGE).ok_or_else(short)?;
            let at = page as usize * PAGE;
            let to = buffer.bytes.get_mut(at..at + PAGE).ok_or_else(|| {
                format!("page {page} lies outside of buffer {number}, which has {} bytes", buffer.info.size_bytes)
            })?;
            to.copy_from_slice(bytes);
        }
        Ok(())
    }
}

fn buffer(body: &mut Body<'_>) -> Option<(u32, BufferInfo)> {
    let number = body.u32()?;
    let size_bytes = body.u64()?;
    Some((number, BufferInfo { size_bytes, domain: body.u32()?, tiling: body.u32()?, pitch_bytes: body.u32()? }))
}

fn submission(body: &mut Body<'_>) -> Option<Submission> {
    let number = body.u64()?;
    let count = body.u32()? as usize;
    let list = Body(body.take(count.checked_mul(16)?)?);
    let words = body.u32()? as usize;
    let words = body.take(words.checked_mul(4)?)?;
    let relocations = list.0.as_chunks::<16>().0.iter().map(|entry| {
        let mut word = entry.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut next = || word.next().unwrap_or(0);
        Relocation { buffer: next(), read_domains: next(), write_domain: next(), flags: next() }
    });
    let words = words.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    Some(Submission { number, words: words.collect(), relocations: relocations.collect() })
}

const _: () = assert!(MAX_WORDS * 4 + MAX_WORDS / 8 * 16 + HEAD_BYTES <= MAX_BODY, "a submission fits into a record");
const _: () = assert!(BODY + PAGE + 8 <= MAX_BODY, "a record of pages is readable");

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: &[u8]) -> impl FnMut(u64, &mut [u8]) -> io::Result<()> + '_ {
        |at, to| {
            let at = usize::try_from(at).map_err(io::Error::other)?;
            to.copy_from_slice(&bytes[at..at + to.len()]);
            Ok(())
        }
    }

    const INFO_1: BufferInfo = BufferInfo { size_bytes: 3 * PAGE as u64, domain: 4, tiling: 0, pitch_bytes: 0 };
    const ALL: [(u64, u64); 1] = [(0, 3 * PAGE as u64)];
    const ONE: Relocation = Relocation { buffer: 1, read_domains: 4, write_domain: 4, flags: 0 };

    /// Two submissions with one buffer, which changes in between; the buffer is freed at the end.
    fn sample() -> (Vec<u8>, [Vec<u8>; 2]) {
        let mut bytes = vec![0; 3 * PAGE];
        bytes[5] = 1;
        bytes[2 * PAGE] = 2;
        let before = bytes.clone();
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, serde_json::json!({ "chip": "RV770" })).unwrap();
        writer.buffer(1, INFO_1, ALL, memory(&bytes)).unwrap();
        assert_eq!(writer.submission(&[0x8000_0000, 7], &[ONE]).unwrap(), 0);
        writer.done(&Done { number: 0, error: 22, message: "no such packet".to_owned() }).unwrap();
        bytes[PAGE + 1] = 9;
        bytes[5] = 0;
        writer.buffer(1, INFO_1, ALL, memory(&bytes)).unwrap();
        assert_eq!(writer.submission(&[], &[ONE]).unwrap(), 1);
        writer.free(1).unwrap();
        writer.free(2).unwrap();
        (file, [before, bytes])
    }

    #[test]
    fn what_was_written_is_read() {
        let (file, memories) = sample();
        let mut reader = Reader::new(file.as_slice()).unwrap();
        let first = Submission { number: 0, words: vec![0x8000_0000, 7], relocations: vec![ONE] };
        assert_eq!(reader.next().unwrap(), Some(CaptureEvent::Submission(first)));
        assert_eq!(reader.about()["chip"], "RV770");
        assert_eq!(reader.buffers()[&1].bytes, memories[0]);
        let done = Done { number: 0, error: 22, message: "no such packet".to_owned() };
        assert_eq!(reader.next().unwrap(), Some(CaptureEvent::Done(done)));
        assert!(matches!(reader.next().unwrap(), Some(CaptureEvent::Submission(Submission { number: 1, .. }))));
        assert_eq!(reader.buffers()[&1].bytes, memories[1]);
        assert_eq!(reader.next().unwrap(), None);
        assert!(reader.buffers().is_empty());
    }

    #[test]
    fn only_changed_pages_are_stored() {
        let bytes: Vec<u8> = (0..3 * PAGE).map(|n| ((n * n) >> 3) as u8).collect();
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, serde_json::json!({})).unwrap();
        writer.buffer(1, INFO_1, ALL, memory(&bytes)).unwrap();
        let once = writer.to.len();
        writer.buffer(1, INFO_1, ALL, memory(&bytes)).unwrap();
        assert_eq!(writer.to.len(), once);
        // A part that is no longer named has become a hole.
        writer.buffer(1, INFO_1, [(0, 2 * PAGE as u64)], memory(&bytes)).unwrap();
        writer.submission(&[], &[ONE]).unwrap();
        let mut reader = Reader::new(file.as_slice()).unwrap();
        reader.next().unwrap();
        assert_eq!(reader.buffers()[&1].bytes[..2 * PAGE], bytes[..2 * PAGE]);
        assert!(reader.buffers()[&1].bytes[2 * PAGE..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_cut_capture_is_good_up_to_the_cut() {
        let (file, memories) = sample();
        let mut whole = 0;
        for length in 16..file.len() {
            let mut reader = Reader::new(&file[..length]).unwrap();
            let mut submissions = 0;
            let end = loop {
                match reader.next() {
                    Ok(Some(CaptureEvent::Submission(s))) => {
                        assert_eq!(reader.buffers()[&1].bytes, memories[s.number as usize]);
                        submissions += 1;
                    }
                    Ok(Some(CaptureEvent::Done(_))) => {}
                    Ok(None) => break None,
                    Err(e) => break Some(e),
                }
            };
            assert!(end.is_none() || matches!(end, Some(ReadError::Cut { .. })), "{length}: {end:?}");
            assert!(submissions >= whole, "a longer file has no fewer submissions");
            whole = submissions;
        }
        assert_eq!(whole, 2);
    }

    #[test]
    fn changed_bytes_are_found() {
        let (file, _) = sample();
        for at in 16..file.len() {
            let mut bad = file.clone();
            bad[at] ^= 0x41;
            let mut reader = Reader::new(bad.as_slice()).unwrap();
            let end = loop {
                match reader.next() {
                    Ok(Some(_)) => {}
                    Ok(None) => break None,
                    Err(e) => break Some(e),
                }
            };
            assert!(matches!(end, Some(ReadError::Damaged { .. } | ReadError::Cut { .. })), "byte {at}: {end:?}");
        }
    }

    #[test]
    fn impossible_records_are_errors() {
        let announce = |size: u64| {
            let mut body = 1u32.to_le_bytes().to_vec();
            body.extend(size.to_le_bytes());
            body.extend([0; 12]);
            record(BUFFER, &body)
        };
        let page = |buffer: u32, page: u32| {
            let mut body = buffer.to_le_bytes().to_vec();
            body.extend(page.to_le_bytes());
            body.extend([0; PAGE]);
            record(PAGES, &body)
        };
        let submission = record(SUBMISSION, &[&[0; 8][..], &[1, 0, 0, 0], &[3, 0, 0, 0], &[0; 12], &[0; 4]].concat());
        let cases: [(&[Vec<u8>], &str); 7] = [
            (&[announce(1 << 40)], "would have 1099511627776 bytes"),
            (&[announce(100)], "a multiple of 4096"),
            (&[announce(4096), announce(8192)], "has 4096 bytes and would have 8192 now"),
            (&[page(1, 0)], "buffer 1, which there is not"),
            (&[announce(4096), page(1, 1)], "page 1 lies outside of buffer 1"),
            (&[submission], "submission 0 names buffer 3, which there is not"),
            (&[record(Kind(*b"WHAT"), &[])], "no kind of record that this build knows"),
        ];
        for (records, expected) in cases {
            let file = [FORMAT.header().to_vec(), records.concat()].concat();
            let mut reader = Reader::new(file.as_slice()).unwrap();
            let error = reader.next().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
