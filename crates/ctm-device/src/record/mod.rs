//! Recordings: every submission of a process with the memory it touches, to be run again anywhere.
//!
//! | file | content |
//! |---|---|
//! | `mod` | a recording that is being made: [`Recording`], and a device's additions to it |
//! | `format` | records of the file, with checksums |
//! | `options` | how a device was opened, as JSON |
//! | `replay` | runs a recording again and compares |
//!
//! The environment variable `CTM_RECORD` records every device of a process; [`Device::record`](crate::Device::record) one of them.
//! `docs/replay.md` describes the file.
//!
//! **Invariants.** A device that is not recorded does nothing for it: memory is watched by another kind of storage, not by a question on
//! the way. Contents of files are not trusted; no file panics.
//!
//! A recording of a device's submissions is made in memory, and runs again:
//!
//! ```
//! use ctm_device::record::{RecordingEnd, Recording, ReplayOptions, replay};
//! use ctm_device::{ArenaId, CommandBuffer, Device, DeviceOptions};
//! use std::sync::{Arc, Mutex};
//!
//! #[derive(Clone, Default)]
//! struct File(Arc<Mutex<Vec<u8>>>);
//!
//! impl std::io::Write for File {
//!     fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
//!         self.0.lock().unwrap().write(bytes)
//!     }
//!     fn flush(&mut self) -> std::io::Result<()> {
//!         Ok(())
//!     }
//! }
//!
//! let file = File::default();
//! let mut device = Device::new(DeviceOptions::default())?;
//! let recording = Recording::to(Box::new(file.clone()));
//! device.record(&recording)?;
//! let at = device.allocate(ArenaId::Gpu, 64)?;
//! let buffer = CommandBuffer::new().wait_for_idle();
//! device.write_dwords(at, buffer.words())?;
//! device.submit(at, buffer.len_dwords() as u32)?;
//! drop((device, recording));
//!
//! let bytes = file.0.lock().unwrap().clone();
//! let report = replay(&bytes[..], &ReplayOptions::default(), |_| {})?;
//! assert!(report.submissions == 1 && report.difference.is_none());
//! assert!(!matches!(report.end, RecordingEnd::Cut { .. } | RecordingEnd::Damaged { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod format;
mod options;
mod replay;

pub use format::{MAGIC, ReadError, VERSION};
pub use replay::{
    Difference, Found, Noticed, RecordingEnd, ReplayOptions, ReplayReport, SubmissionId, replay, replay_on,
    replay_under,
};

use crate::device::{Device, Submission, SubmissionWatcher};
use crate::memory::{DeviceMemory, PAGE, Watched};
use ctm_files::Saving;
use format::{BODY, Failure, Kind, SubmissionEnd, WrittenPage, kind};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The environment variable that names the file to which a process records. `%p` in it is the number of the process.
pub const ENVIRONMENT: &str = "CTM_RECORD";

/// A recording that is being made. Devices add to it; it is good up to the last submission that ended, whenever the process ends.
pub struct Recording {
    to: Mutex<RecordingFile>,
}

struct RecordingFile {
    /// `None` after something could not be written.
    to: Option<Box<dyn Write + Send>>,
    devices: u32,
    failure: Option<String>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").finish_non_exhaustive()
    }
}

/// A recording cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordError {
    /// The file cannot be created or written.
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The device has executed commands already; their settings are not in the recording.
    Late,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, reason } => {
                write!(f, "the recording {} cannot be written: {reason}", path.display())
            }
            Self::Late => f.write_str(
                "the device has executed command buffers that are not in the recording; record it before the first, or after `reset`",
            ),
        }
    }
}

impl std::error::Error for RecordError {}

impl Recording {
    /// A recording in a file. An existing file is replaced once the new one has begun; later records are appended.
    ///
    /// # Errors
    /// When the file cannot be created or written.
    pub fn create(path: &Path) -> Result<Arc<Self>, RecordError> {
        let failed = |reason: String| RecordError::File { path: path.to_owned(), reason };
        // The rest comes while the process runs, which may end at any time.
        let begun = Saving::begin(path).and_then(|mut saving| {
            saving.write_all(&beginning())?;
            saving.publish()
        });
        begun.map(|file| Self::going_on(Box::new(file))).map_err(|e| failed(e.to_string()))
    }

    /// A recording that goes wherever `to` writes. Every record is one call of `write_all`.
    #[must_use]
    pub fn to(to: Box<dyn Write + Send>) -> Arc<Self> {
        let recording = Self::going_on(to);
        recording.write(&beginning());
        recording
    }

    /// A recording that has begun.
    fn going_on(to: Box<dyn Write + Send>) -> Arc<Self> {
        Arc::new(Self { to: Mutex::new(RecordingFile { to: Some(to), devices: 0, failure: None }) })
    }

    /// Why the recording ended before its time, when something could not be written. Devices go on without it.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        self.to.lock().unwrap_or_else(PoisonError::into_inner).failure.clone()
    }

    fn write(&self, bytes: &[u8]) {
        let mut output = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(to) = &mut output.to
            && let Err(e) = to.write_all(bytes).and_then(|()| to.flush())
        {
            (output.to, output.failure) = (None, Some(e.to_string()));
        }
    }

    fn next_device(&self) -> u32 {
        let mut output = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        output.devices += 1;
        output.devices - 1
    }
}

/// The first bytes of every recording.
fn beginning() -> Vec<u8> {
    let mut start = format::FORMAT.header().to_vec();
    let about = serde_json::json!({ "made_by": concat!("ctm ", env!("CARGO_PKG_VERSION")), "page_bytes": PAGE });
    start.extend(format::record(kind::INFO, about.to_string().as_bytes()));
    start
}

/// The recording of `CTM_RECORD`: the same for the whole process, `None` without the variable.
///
/// Devices that are opened look here themselves and go on unrecorded when the file cannot be created; callers can query it.
///
/// # Errors
/// When the file cannot be created.
pub fn environment() -> Result<Option<Arc<Recording>>, RecordError> {
    static RECORDING: OnceLock<Result<Option<Arc<Recording>>, RecordError>> = OnceLock::new();
    let recording = RECORDING.get_or_init(|| {
        let Some(name) = std::env::var_os(ENVIRONMENT).filter(|name| !name.is_empty()) else { return Ok(None) };
        let path = match name.to_str() {
            Some(name) => PathBuf::from(name.replace("%p", &std::process::id().to_string())),
            None => PathBuf::from(name),
        };
        Recording::create(&path).map(Some)
    });
    recording.clone()
}

/// A recorded device's additions to its recording.
struct DeviceRecorder {
    recording: Arc<Recording>,
    device: u32,
    submissions: u64,
}

/// Adds every submission of a device from here on to a recording.
pub(crate) fn attach(device: &mut Device, recording: Arc<Recording>) {
    device.memory_mut().watch();
    let number = recording.next_device();
    let mut body = number.to_le_bytes().to_vec();
    body.extend(options::to_json(device.options(), device.engine()).to_string().as_bytes());
    recording.write(&format::record(kind::OPEN, &body));
    *device.watcher() = Some(Box::new(DeviceRecorder { recording, device: number, submissions: 0 }));
}

impl Device {
    /// Adds every submission from here on to a recording. A device is in one recording at a time; the last one counts.
    ///
    /// # Errors
    /// When commands have set registers already: the recording would not know of them.
    pub fn record(&mut self, recording: &Arc<Recording>) -> Result<(), RecordError> {
        if !self.is_initial() {
            return Err(RecordError::Late);
        }
        // The previous recording gets the closing of the device.
        *self.watcher() = None;
        attach(self, Arc::clone(recording));
        Ok(())
    }

    /// Whether submissions are recorded.
    #[must_use]
    pub const fn is_recorded(&self) -> bool {
        self.is_watched()
    }
}

impl SubmissionWatcher for DeviceRecorder {
    fn reset(&mut self) {
        self.recording.write(&format::record(kind::RESET, &self.device.to_le_bytes()));
    }

    fn begin(&mut self, memory: &mut DeviceMemory) {
        memory.watched().for_each(Watched::begin);
    }

    fn end(&mut self, memory: &mut DeviceMemory, submission: &Submission<'_>) {
        let Submission { address, size_dwords, commands, error } = *submission;
        self.submissions += 1;
        let mut pages = Body::new(self, kind::PAGES);
        for arena in memory.watched() {
            for page in arena.end() {
                pages.bytes.extend(arena.address(page).0.to_le_bytes());
                pages.bytes.extend(arena.image(page));
                pages.write_when_full();
            }
        }
        pages.write();
        let mut written = Body::new(self, kind::WRITTEN);
        for arena in memory.watched() {
            for (page, dwords) in arena.take_written() {
                let now = arena.now(page);
                let address = arena.address(page);
                let image = arena.image(page);
                let same = dwords.iter().all(|n| image[4 * n..4 * n + 4] == now[4 * n..4 * n + 4]);
                if !same {
                    let image = arena.image_mut(page);
                    dwords.iter().for_each(|n| image[4 * n..4 * n + 4].copy_from_slice(&now[4 * n..4 * n + 4]));
                }
                let left = WrittenPage { address, dwords, page: (!same).then(|| Box::new(now)) };
                left.encode(&mut written.bytes);
                written.write_when_full();
            }
        }
        written.write();
        let failure = error.map(|error| Failure {
            offset_dwords: error.offset_dwords,
            word: error.word,
            code: error.reason.code().to_owned(),
            message: error.reason.to_string(),
        });
        let done = SubmissionEnd { number: self.submissions, address, size_dwords, commands, failure };
        self.recording.write(&format::record(kind::DONE, &done.encode(self.device)));
    }
}

impl Drop for DeviceRecorder {
    fn drop(&mut self) {
        self.recording.write(&format::record(kind::CLOSE, &self.device.to_le_bytes()));
    }
}

/// A buffered body, written once it is large enough.
struct Body<'a> {
    recorder: &'a DeviceRecorder,
    kind: Kind,
    bytes: Vec<u8>,
}

impl<'a> Body<'a> {
    fn new(recorder: &'a DeviceRecorder, kind: Kind) -> Self {
        Self { recorder, kind, bytes: recorder.device.to_le_bytes().to_vec() }
    }

    fn write_when_full(&mut self) {
        if self.bytes.len() >= BODY {
            self.write();
        }
    }

    /// Writes pending records.
    fn write(&mut self) {
        let empty = self.recorder.device.to_le_bytes();
        if self.bytes.len() > empty.len() {
            self.recorder.recording.write(&format::record(self.kind, &self.bytes));
            self.bytes.truncate(empty.len());
        }
    }
}
