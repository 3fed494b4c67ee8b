//! Captures, run again: submissions in order, each on the process's buffers of that time.

use crate::capture::{Buffer, CaptureEvent, ReadError, Reader, Submission};
use crate::chip::Chip;
use crate::execute::{Device, GpuMemory, Next, Stepped, Submitted, TargetPicture};
use crate::stream::Relocation;
use crate::{Error, check, text};
use ctm_exec::Engine;
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::time::Duration;

/// The address of the first buffer, and the alignment of all of them.
const FIRST_BASE: u64 = 1 << 20;
/// Addresses end here: the chips have 40 bits.
const LAST: u64 = 1 << 40;

/// The limit of wall time for all draws of a capture together, unless a larger one is set.
pub const CAPTURE_TIME: Duration = Duration::from_secs(30);

/// A capture that is being run.
#[derive(Debug)]
pub struct Replay<R> {
    reader: Reader<R>,
    device: Device,
    places: Places,
}

/// Where buffers lie.
#[derive(Debug, Default)]
struct Places {
    base: HashMap<u32, u64>,
    /// Buffers by address.
    at: BTreeMap<u64, u32>,
    next: u64,
}

impl Places {
    /// Gives every buffer a place; deleted ones lose theirs. Buffers for which there is no room have none.
    fn follow(&mut self, buffers: &HashMap<u32, Buffer>) {
        self.at.retain(|_, number| buffers.contains_key(number));
        self.base.retain(|number, _| buffers.contains_key(number));
        let mut new: Vec<u32> = buffers.keys().copied().filter(|number| !self.base.contains_key(number)).collect();
        new.sort_unstable();
        for number in new {
            let size = buffers.get(&number).map_or(0, |buffer| buffer.info.size_bytes);
            let base = self.next.max(FIRST_BASE);
            let next = (base + size).next_multiple_of(FIRST_BASE);
            if next > LAST {
                continue;
            }
            self.next = next;
            self.base.insert(number, base);
            self.at.insert(base, number);
        }
    }

    /// The buffer of a range, and the place in it.
    fn find(&self, buffers: &HashMap<u32, Buffer>, address: u64, length: u64) -> Option<(u32, std::ops::Range<usize>)> {
        let (base, number) = self.at.range(..=address).next_back()?;
        let size = buffers.get(number)?.bytes.len();
        let from = usize::try_from(address - base).ok()?;
        let end = from.checked_add(usize::try_from(length).ok()?)?;
        (end <= size).then_some((*number, from..end))
    }
}

/// The buffers of a capture as a device's memory.
struct CaptureMemory<'a> {
    buffers: &'a mut HashMap<u32, Buffer>,
    places: &'a Places,
}

impl GpuMemory for CaptureMemory<'_> {
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (number, range) = self.places.find(self.buffers, address, length)?;
        self.buffers.get(&number)?.bytes.get(range)
    }

    fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let (number, range) = self.places.find(self.buffers, address, length)?;
        self.buffers.get_mut(&number)?.bytes.get_mut(range)
    }
}

/// The same, for reading alone.
struct ReadMemory<'a> {
    buffers: &'a HashMap<u32, Buffer>,
    places: &'a Places,
}

impl GpuMemory for ReadMemory<'_> {
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (number, range) = self.places.find(self.buffers, address, length)?;
        self.buffers.get(&number)?.bytes.get(range)
    }

    fn bytes_mut(&mut self, _: u64, _: u64) -> Option<&mut [u8]> {
        None
    }
}

/// A submission that has been run.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The submission.
    pub submission: Submission,
    /// Its result.
    pub submitted: Submitted,
}

impl<R: Read> Replay<R> {
    /// Begins.
    ///
    /// # Errors
    /// When this is no capture.
    pub fn new(from: R, engine: Box<dyn Engine>) -> Result<Self, ReadError> {
        Ok(Self { reader: Reader::new(from)?, device: Device::new(engine), places: Places::default() })
    }

    /// The device.
    pub const fn device(&mut self) -> &mut Device {
        &mut self.device
    }

    /// Reads the next submission without running it; `None` at the end. [`Self::memory`] is then the process's memory.
    ///
    /// # Errors
    /// Where the capture ends or is damaged.
    pub fn read(&mut self) -> Result<Option<Submission>, ReadError> {
        loop {
            match self.reader.next()? {
                Some(CaptureEvent::Submission(submission)) => {
                    self.device.set_chip(self.reader.chip());
                    self.places.follow(self.reader.buffers());
                    return Ok(Some(submission));
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Runs the next submission; `None` at the end. The watcher is called after each draw and decides whether the submission goes on.
    ///
    /// # Errors
    /// Where the capture ends or is damaged.
    pub fn step(&mut self, watcher: &mut dyn FnMut(&Stepped<'_>) -> Next) -> Result<Option<Replayed>, ReadError> {
        Ok(self.read()?.map(|submission| self.run(submission, watcher)))
    }

    /// Runs a submission that was [read](Self::read) just before.
    pub fn run(&mut self, submission: Submission, watcher: &mut dyn FnMut(&Stepped<'_>) -> Next) -> Replayed {
        let relocations = self.relocations(&submission);
        let Self { reader, device, places } = self;
        let mut memory = CaptureMemory { buffers: reader.buffers_mut(), places };
        let submitted = device.submit_watched(&submission.words, &relocations, &mut memory, watcher);
        Replayed { submission, submitted }
    }

    /// The same without a watcher, as programs run: draws may be joined.
    pub fn run_at_once(&mut self, submission: Submission) -> Replayed {
        let relocations = self.relocations(&submission);
        let Self { reader, device, places } = self;
        let mut memory = CaptureMemory { buffers: reader.buffers_mut(), places };
        let submitted = device.submit(&submission.words, &relocations, &mut memory);
        Replayed { submission, submitted }
    }

    /// The chip of the capture; known after the first submission was read.
    #[must_use]
    pub fn chip(&self) -> &'static Chip {
        self.reader.chip()
    }

    /// The text of a submission that was [read](Self::read) just before.
    #[must_use]
    pub fn text(&self, submission: &Submission) -> String {
        text::disassemble_for(self.chip(), &submission.words, &self.relocations(submission))
    }

    /// The findings of the checks about a submission that was [read](Self::read) just before.
    #[must_use]
    pub fn findings(&self, submission: &Submission) -> Vec<check::Finding> {
        let relocations = self.relocations(submission);
        check::check_for(self.chip(), &submission.words, Some(&relocations), Some(&self.memory()))
    }

    /// Where the buffers of a submission lie.
    #[must_use]
    pub fn relocations(&self, submission: &Submission) -> Vec<Relocation> {
        let of = |entry: &crate::capture::Relocation| Relocation {
            handle: entry.buffer,
            base: self.places.base.get(&entry.buffer).copied().unwrap_or(0),
            size: self.reader.buffers().get(&entry.buffer).map_or(0, |buffer| buffer.info.size_bytes),
        };
        submission.relocations.iter().map(of).collect()
    }

    /// The contents of the targets that were bound last.
    ///
    /// # Errors
    /// Targets that cannot be read.
    pub fn targets(&mut self) -> Result<Vec<TargetPicture>, Error> {
        let Self { reader, device, places } = self;
        let memory = CaptureMemory { buffers: reader.buffers_mut(), places };
        device.targets(&memory)
    }

    /// The buffers at their addresses.
    #[must_use]
    pub fn memory(&self) -> impl GpuMemory {
        ReadMemory { buffers: self.reader.buffers(), places: &self.places }
    }

    /// The current buffers, by number.
    #[must_use]
    pub const fn buffers(&self) -> &HashMap<u32, Buffer> {
        self.reader.buffers()
    }
}
