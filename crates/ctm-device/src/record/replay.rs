//! Runs a recording again and compares outcome and memory after every submission.

use super::format::{FORMAT, ReadError, Record, RecordEntry, Records, SubmissionEnd, WrittenPage};
use super::options;
use crate::device::{Caches, CommandError, Device};
use crate::engine::EngineKind;
use crate::memory::{ArenaId, DeviceMemory, Dwords, GpuAddr, PAGE, Page, Watched};
use ctm_exec::{Control, Engine};
use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;

/// Devices that a recording may hold open at a time.
const DEVICES: usize = 256;
/// Codes of ends that depend on how fast the host is, or on a person.
const ENDED: [&str; 2] = ["time-budget", "cancelled"];

/// How to run a recording again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// The engine; `None`: the one that was recorded, or the preferred one when that is not known here.
    pub engine: Option<EngineKind>,
    /// Look for mistakes in commands and programs, whether the recorded device did or not.
    pub checks: bool,
    /// Worker threads; `None`: as recorded.
    pub threads: Option<usize>,
}

/// A submission of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionId {
    /// The device, counted from 0 in the order of opening.
    pub device: u32,
    /// The submission, counted from 1 for each device.
    pub submission: u64,
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "submission {} of device {}", self.submission, self.device)
    }
}

/// A difference from the recording.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// A dword of memory: the lowest address of all that differ.
    Memory {
        /// Where.
        address: GpuAddr,
        /// The arena.
        arena: ArenaId,
        /// The value that the recording process saw.
        expected: u32,
        /// The value found now.
        found: u32,
        /// How many dwords differ after this submission.
        dwords: u64,
    },
    /// How the submission ended: in words.
    Outcome {
        /// The result that the recording process saw.
        expected: String,
        /// The result now.
        found: String,
    },
    /// The two engines of `verify` differ.
    Engines {
        /// Where and how.
        message: String,
    },
}

/// The first thing that is not as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// After which submission.
    pub place: SubmissionId,
    /// The difference.
    pub found: Found,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place;
        match &self.found {
            Found::Memory { address, arena, expected, found, dwords } => {
                write!(
                    f,
                    "{place} left 0x{found:08x} at {address} ({arena}), 0x{expected:08x} was recorded; {dwords} dwords differ"
                )
            }
            Found::Outcome { expected, found } => write!(f, "{place}: {found}; recorded: {expected}"),
            Found::Engines { message } => write!(f, "{place}: the engines differ: {message}"),
        }
    }
}

/// How the recording ends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordingEnd {
    /// Every device was closed.
    Complete,
    /// With open devices: the process ended without closing them, or the file was cut between two records.
    Open {
        /// How many.
        devices: usize,
    },
    /// Within a record. Earlier records ran.
    Cut {
        /// Where that record begins, in bytes.
        offset: u64,
    },
    /// At a damaged record. Earlier records ran.
    Damaged {
        /// Where it begins, in bytes.
        offset: u64,
        /// The error.
        what: String,
    },
    /// At the first difference; the rest was not compared.
    Difference,
    /// The replay was cancelled.
    Cancelled,
}

impl RecordingEnd {
    /// A stable name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Open { .. } => "open",
            Self::Cut { .. } => "cut",
            Self::Damaged { .. } => "damaged",
            Self::Difference => "difference",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RecordingEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("the recording is complete"),
            Self::Open { devices } => write!(
                f,
                "the recording ends with {devices} open devices: the process did not close them, or the file was cut between two records"
            ),
            Self::Cut { offset } => {
                write!(f, "the recording is cut within the record at byte {offset}; what stands before it was run")
            }
            Self::Damaged { offset, what } => {
                write!(f, "the record at byte {offset} is damaged ({what}); what stands before it was run")
            }
            Self::Difference => f.write_str("the replay ended at the first difference"),
            Self::Cancelled => f.write_str("the replay was cancelled"),
        }
    }
}

/// Something that a check noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noticed {
    /// In which submission.
    pub place: SubmissionId,
    /// The check's name.
    pub rule: &'static str,
    /// The instruction, when it is about a running program.
    pub pc: Option<u32>,
    /// The found value.
    pub message: String,
}

/// Statistics of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayReport {
    /// Devices that were opened.
    pub devices: u64,
    /// Submissions that were run.
    pub submissions: u64,
    /// Programs that were started.
    pub launches: u64,
    /// Bytes of memory that were compared.
    pub compared_bytes: u64,
    /// Submissions that had run out of time, or were cancelled, when they were recorded: the command at which that was is not executed, and
    /// results are taken from the recording, not compared.
    pub timed_out: u64,
    /// How the recording ends.
    pub end: RecordingEnd,
    /// The first difference.
    pub difference: Option<Difference>,
    /// Findings of checks.
    pub noticed: Vec<Noticed>,
}

/// A device of the recording, and the records of its next submission.
struct Running {
    device: Device,
    written: Vec<WrittenPage>,
}

/// Runs a recording. `progress` gets the number of submissions after each.
///
/// Time limits of the recorded process do not count; limits on instructions do.
///
/// # Errors
/// When `from` is no recording, of a newer version, or cannot be read, or when the environment names an engine that this host does not have. A cut or damaged recording runs up to its last valid record.
pub fn replay(from: impl Read, options: &ReplayOptions, progress: impl FnMut(u64)) -> Result<ReplayReport, ReadError> {
    replay_under(&Control::none(), from, options, progress)
}

/// The same under a [`Control`], which can end it: [`RecordingEnd::Cancelled`].
///
/// # Errors
/// As [`replay`].
pub fn replay_under(
    control: &Control,
    from: impl Read,
    options: &ReplayOptions,
    progress: impl FnMut(u64),
) -> Result<ReplayReport, ReadError> {
    replay_on(control, from, options, &|engine| engine, progress)
}

/// The same, with something of the caller's around the engine of each device.
///
/// # Errors
/// As [`replay`].
pub fn replay_on(
    control: &Control,
    from: impl Read,
    options: &ReplayOptions,
    wrap: &dyn Fn(Box<dyn Engine>) -> Box<dyn Engine>,
    mut progress: impl FnMut(u64),
) -> Result<ReplayReport, ReadError> {
    // Reported here, where it is not taken for a fault of the recording.
    options.engine.map_or_else(EngineKind::preferred, Ok).map_err(|e| ReadError::Engine(e.to_string()))?;
    options.engine.unwrap_or_default().engine().map_err(|e| ReadError::Engine(e.to_string()))?;
    let mut session = ReplaySession {
        options: *options,
        wrap,
        control: control.clone(),
        running: BTreeMap::new(),
        report: ReplayReport {
            devices: 0,
            submissions: 0,
            launches: 0,
            compared_bytes: 0,
            timed_out: 0,
            end: RecordingEnd::Complete,
            difference: None,
            noticed: Vec::new(),
        },
    };
    let end = match FORMAT.read(from) {
        Ok(mut records) => session.run(&mut records, &mut progress),
        Err(e) => Err(e.into()),
    };
    session.report.end = match end {
        Ok(end) => end,
        Err(ReadError::Cut { offset }) => RecordingEnd::Cut { offset },
        Err(ReadError::Damaged { offset, what }) => RecordingEnd::Damaged { offset, what },
        Err(e) => return Err(e),
    };
    Ok(session.report)
}

struct ReplaySession<'w> {
    options: ReplayOptions,
    wrap: &'w dyn Fn(Box<dyn Engine>) -> Box<dyn Engine>,
    control: Control,
    running: BTreeMap<u32, Running>,
    report: ReplayReport,
}

impl ReplaySession<'_> {
    fn run(
        &mut self,
        records: &mut Records<impl Read>,
        progress: &mut impl FnMut(u64),
    ) -> Result<RecordingEnd, ReadError> {
        while let Some(Record { offset, kind, body }) = records.next()? {
            let damaged = |what| ReadError::Damaged { offset, what };
            let entry = RecordEntry::decode(kind, &body).map_err(damaged)?;
            let before = self.report.submissions;
            self.entry(entry).map_err(damaged)?;
            if self.control.is_cancelled() {
                // A launch that was ended within is no difference.
                self.report.difference = None;
                return Ok(RecordingEnd::Cancelled);
            }
            if self.report.difference.is_some() {
                return Ok(RecordingEnd::Difference);
            }
            if self.report.submissions > before {
                progress(self.report.submissions);
            }
        }
        Ok(match self.running.len() {
            0 => RecordingEnd::Complete,
            devices => RecordingEnd::Open { devices },
        })
    }

    /// Executes a record, or returns the reason why it cannot.
    fn entry(&mut self, entry: RecordEntry) -> Result<(), String> {
        match entry {
            RecordEntry::Info(_) | RecordEntry::Unknown => {}
            RecordEntry::Open { device, about } => {
                if self.running.contains_key(&device) || self.running.len() >= DEVICES {
                    return Err(format!("device {device} is open already, or more than {DEVICES} are"));
                }
                let device_of = self.open(&about)?;
                self.running.insert(device, Running { device: device_of, written: Vec::new() });
                self.report.devices += 1;
            }
            RecordEntry::Reset { device } => self.of(device)?.device.reset(),
            RecordEntry::Pages { device, pages } => {
                let running = self.of(device)?;
                for (address, page) in pages {
                    host_wrote(&mut running.device, address, &page)?;
                }
            }
            RecordEntry::Written { device, pages } => self.of(device)?.written.extend(pages),
            RecordEntry::SubmissionEnd { device, done } => self.submit(device, &done)?,
            RecordEntry::Close { device } => {
                self.of(device)?;
                self.running.remove(&device);
            }
        }
        Ok(())
    }

    fn of(&mut self, device: u32) -> Result<&mut Running, String> {
        self.running.get_mut(&device).ok_or_else(|| format!("device {device} is not open"))
    }

    fn open(&self, about: &serde_json::Value) -> Result<Device, String> {
        let (mut options, recorded) = options::from_json(about)?;
        options.budget.time = None;
        if let Some(threads) = self.options.threads {
            options.threads = threads;
        }
        if self.options.checks {
            (options.checks, options.caches) = (true, Caches::Modelled);
        }
        let engine = self.options.engine.or(recorded).map_or_else(EngineKind::preferred, Ok);
        let engine = engine.map_err(|e| e.to_string())?;
        let engine = (self.wrap)(engine.engine().map_err(|e| e.to_string())?);
        let mut memory = DeviceMemory::new(&options.arenas).map_err(|e| e.to_string())?;
        memory.watch();
        let mut device = Device::unwatched(engine, options, memory);
        device.set_control(self.control.clone());
        Ok(device)
    }

    fn submit(&mut self, device: u32, done: &SubmissionEnd) -> Result<(), String> {
        let place = SubmissionId { device, submission: done.number };
        let running = self.of(device)?;
        let written = std::mem::take(&mut running.written);
        let device = &mut running.device;
        device.memory_mut().watched().for_each(Watched::begin);
        let timed_out = done.failure.as_ref().is_some_and(|failure| ENDED.contains(&failure.code.as_str()));
        if timed_out {
            // Effects of the stopped command are in the recording.
            device.stop_after(done.commands);
        }
        let result = device.submit(done.address, done.size_dwords);
        for arena in device.memory_mut().watched() {
            // Differences from the image were found after an earlier submission.
            let _ = arena.end();
        }
        let (compared, difference) = compare(device, &written, timed_out)?;
        let commands = device.last_report().commands;
        let launches = device.last_report().launches.len() as u64;
        let mut noticed = Vec::new();
        let mut engines = None;
        let mut findings = device.take_findings();
        findings.extend(device.last_report().findings.iter().cloned());
        for finding in findings {
            noticed.push(Noticed { place, rule: finding.rule, pc: None, message: finding.to_string() });
        }
        for finding in device.last_report().launches.iter().flat_map(|launch| &launch.findings) {
            if finding.rule == ctm_verify::DIFFERENCE && engines.is_none() {
                engines = Some(Found::Engines { message: format!("instruction {}: {}", finding.pc, finding.message) });
            }
            let message = finding.message.clone();
            noticed.push(Noticed { place, rule: finding.rule, pc: Some(finding.pc), message });
        }
        let outcome = if timed_out { None } else { outcome(done, commands, result.as_ref().err()) };
        let report = &mut self.report;
        report.submissions += 1;
        report.launches += launches;
        report.compared_bytes += compared;
        report.timed_out += u64::from(timed_out);
        report.noticed.append(&mut noticed);
        report.difference = engines.or(outcome).or(difference).map(|found| Difference { place, found });
        Ok(())
    }
}

/// How the submission ended, where that is not as recorded.
fn outcome(done: &SubmissionEnd, commands: u32, error: Option<&CommandError>) -> Option<Found> {
    let same = match (&done.failure, error) {
        (None, None) => true,
        (Some(failure), Some(error)) => {
            // Not the message, which may be another in another version.
            failure.code == error.reason.code()
                && (failure.offset_dwords, failure.word) == (error.offset_dwords, error.word)
        }
        _ => false,
    };
    if same && commands == done.commands {
        return None;
    }
    let said = |commands: u32, failure: Option<String>| match failure {
        Some(failure) => format!("stopped after {commands} commands: {failure}"),
        None => format!("{commands} commands were executed"),
    };
    let expected = done
        .failure
        .as_ref()
        .map(|f| format!("{}, at dword {} (0x{:08x}) of the command buffer", f.message, f.offset_dwords, f.word));
    let found = error.map(ToString::to_string);
    Some(Found::Outcome { expected: said(done.commands, expected), found: said(commands, found) })
}

/// The arena in which a recorded page lies, and the page's number there.
fn arena_of(device: &mut Device, address: GpuAddr) -> Result<(&mut Watched, u32), String> {
    let found = device.memory_mut().watched().find_map(|arena| arena.page_at(address).map(|page| (arena, page)));
    found.ok_or_else(|| format!("no page of an arena begins at {address}"))
}

/// Writes only the bytes of a page that the host changed: checks distinguish host writes from unchanged bytes.
fn host_wrote(device: &mut Device, address: GpuAddr, page: &Page) -> Result<(), String> {
    let (arena, number) = arena_of(device, address)?;
    let bytes = arena.bytes_of(number);
    let image = arena.image_mut(number);
    let old = std::mem::replace(image, *page);
    let mut at = 0;
    while at < bytes {
        let end = (at + 4).min(bytes);
        if old[at..end] == page[at..end] {
            at = end;
            continue;
        }
        let mut until = end;
        while until < bytes && old[until..(until + 4).min(bytes)] != page[until..(until + 4).min(bytes)] {
            until = (until + 4).min(bytes);
        }
        #[allow(clippy::cast_possible_truncation, reason = "less than a page")]
        let to = GpuAddr(address.0.wrapping_add(at as u32));
        device.write(to, &page[at..until]).map_err(|e| e.to_string())?;
        at = until;
    }
    Ok(())
}

/// Updates the image from the recording and compares memory with it: how many bytes, and the first difference. With `resync` memory is made
/// equal to the recording instead.
fn compare(device: &mut Device, recorded: &[WrittenPage], resync: bool) -> Result<(u64, Option<Found>), String> {
    let mut by_arena: BTreeMap<ArenaId, BTreeMap<u32, Dwords>> = BTreeMap::new();
    for left in recorded {
        let id = device.memory().arena_of(left.address).ok_or_else(|| format!("{} lies in no arena", left.address))?;
        let (arena, page) = arena_of(device, left.address)?;
        if let Some(bytes) = &left.page {
            let image = arena.image_mut(page);
            left.dwords.iter().for_each(|n| image[4 * n..4 * n + 4].copy_from_slice(&bytes[4 * n..4 * n + 4]));
        }
        let dwords = by_arena.entry(id).or_default().entry(page).or_default();
        *dwords = dwords.union(left.dwords);
    }
    let mut ids = ArenaId::ALL.into_iter();
    for arena in device.memory_mut().watched() {
        let Some(id) = ids.next() else { break };
        for (page, dwords) in arena.take_written() {
            let all = by_arena.entry(id).or_default().entry(page).or_default();
            *all = all.union(dwords);
        }
    }
    let (mut bytes, mut count) = (0, 0);
    let mut first: Option<(GpuAddr, ArenaId, u32, u32)> = None;
    let mut corrections = Vec::new();
    let mut ids = ArenaId::ALL.into_iter();
    for arena in device.memory_mut().watched() {
        let Some(id) = ids.next() else { break };
        for (&page, dwords) in by_arena.get(&id).into_iter().flatten() {
            bytes += 4 * dwords.len() as u64;
            let now = arena.now(page);
            let address = arena.address(page);
            let image = arena.image(page);
            if now == *image {
                continue;
            }
            for n in dwords.iter() {
                let dword =
                    |page: &Page| u32::from_le_bytes([page[4 * n], page[4 * n + 1], page[4 * n + 2], page[4 * n + 3]]);
                let (expected, found) = (dword(image), dword(&now));
                if expected == found {
                    continue;
                }
                count += 1;
                #[allow(clippy::cast_possible_truncation, reason = "less than a page")]
                let address = GpuAddr(address.0.wrapping_add(4 * n as u32));
                if resync {
                    corrections.push((address, expected));
                } else if first.is_none_or(|(lowest, ..)| address < lowest) {
                    first = Some((address, id, expected, found));
                }
            }
        }
    }
    for (address, expected) in corrections {
        // After the end of an arena there is nothing to correct.
        let _ = device.memory_mut().write_u32(address, expected);
    }
    let found =
        first.map(|(address, arena, expected, found)| Found::Memory { address, arena, expected, found, dwords: count });
    Ok((bytes, found))
}

const _: () = assert!(PAGE.is_multiple_of(4));
