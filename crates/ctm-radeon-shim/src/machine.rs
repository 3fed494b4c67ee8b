//! Checks and executes submissions: a device of `ctm-radeon` for each process.

use crate::chunks::Chunks;
use crate::clears::ClearTable;
use crate::settings::{report, settings};
use crate::space::{FileId, Space};
use crate::table::Buffer;
use ctm::EngineKind;
use ctm_isa::diag::Severity;
use ctm_radeon::Relocation;
use ctm_radeon::check::{Finding, check_for, rule};
use ctm_radeon::execute::{BufferId, Device, DrawOptions, FastClear, GpuMemory, Next, Notes, told_note};
use ctm_radeon::packets::Packets;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, ThreadId};

/// How many different messages a process prints; a program may repeat one error a million times.
const MOST_TOLD: usize = 100;

/// The machine of a process.
#[derive(Default)]
pub(crate) struct ProcessMachine {
    /// Made for the first submission, with threads of its own: a parent's threads do not exist after a fork.
    running: Option<Running>,
    /// Messages that were printed already.
    told: HashSet<String>,
    /// Notes about programs that were printed already.
    notes: Notes,
    /// Draws so far: numbers of draws go on from submission to submission.
    draws: u32,
}

struct Running {
    device: Device,
    threads: Threads,
}

/// The threads of draws. The submitting thread is one of them: to hand a small submission to another thread takes longer than to execute it.
struct Threads {
    pool: rayon::ThreadPool,
    /// The thread that submits, if it is one of the pool; `None`: any may submit.
    submitter: Option<ThreadId>,
}

impl Threads {
    /// Threads for submissions of this one.
    fn here() -> Result<Self, String> {
        let new = || rayon::ThreadPoolBuilder::new().thread_name(|n| format!("radeon-{n}"));
        // A thread can be in one pool only.
        let (pool, submitter) = match new().use_current_thread().build() {
            Ok(pool) => (Ok(pool), Some(thread::current().id())),
            Err(_) => (new().build(), None),
        };
        Ok(Self { pool: pool.map_err(|e| format!("no threads can be started: {e}"))?, submitter })
    }

    /// Executes a submission of this thread.
    fn execute<T: Send>(&mut self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        // In a pool of one thread, others would wait for it forever.
        if self.submitter.is_some_and(|submitter| submitter != thread::current().id()) {
            *self = Self::here()?;
        }
        Ok(self.pool.install(work))
    }
}

impl ProcessMachine {
    /// Whether submissions are executed.
    #[allow(clippy::unused_self)] // The settings are the machine's.
    pub(crate) fn executes(&self) -> bool {
        settings().execute
    }

    /// Checks a submission and executes it, as the settings say; returns its number of draws. `own`: which of its buffers nothing but streams of this process can have written.
    /// `clears`: fast clears may be kept there.
    ///
    /// # Errors
    /// The kernel would refuse the submission; the reason in words.
    pub(crate) fn run(
        &mut self,
        (space, file): (&Space, FileId),
        chunks: &Chunks,
        (buffers, own): (&[Buffer], &[bool]),
        clears: Option<&mut ClearTable>,
    ) -> Result<u64, String> {
        let chip = settings().chip.streams();
        let mut memory = Memory::of(space, file, (buffers, own), clears)
            .map_err(|e| format!("its buffers cannot be mapped: {e}"))?;
        let list = buffers.iter().zip(&chunks.relocations);
        let list: Vec<Relocation> = list
            .map(|(buffer, entry)| Relocation { handle: entry[0], base: buffer.offset, size: buffer.size })
            .collect();
        // The kernel checks packets, registers and buffers. Programs are checked only on request.
        let wanted: Option<&dyn GpuMemory> = if settings().check { Some(&memory) } else { None };
        let findings = caught(|| check_for(chip, &chunks.words, Some(&list), wanted))?;
        if let Some(first) = findings.iter().find(|finding| refuses(finding)) {
            return Err(format!("{first} [{}]", first.rule));
        }
        if settings().check {
            for finding in &findings {
                let severity = if finding.severity == Severity::Error { "error" } else { "warning" };
                self.tell(format!("{severity}[{}]: {finding}", finding.rule));
            }
        }
        let mut draws = 0;
        if self.executes() {
            let mut notes = std::mem::take(&mut self.notes);
            let first = self.draws;
            let Running { device, threads } = self.running()?;
            let mut noted = Vec::new();
            let submitted = caught(|| {
                threads.execute(|| {
                    if !settings().check {
                        return device.submit(&chunks.words, &list, &mut memory);
                    }
                    let mut step = |stepped: &ctm_radeon::execute::Stepped<'_>| {
                        noted.extend(notes.new_of(first + stepped.outline.draw, stepped));
                        Next::Continue
                    };
                    device.submit_watched(&chunks.words, &list, &mut memory, &mut step)
                })
            })
            .and_then(|executed| executed);
            self.notes = notes;
            for (draw, note) in noted {
                self.tell(format!(
                    "warning[{}]: {}, at instruction {}",
                    note.finding.rule,
                    told_note(draw, &note),
                    note.finding.pc
                ));
            }
            match submitted {
                Ok(submitted) => {
                    draws = submitted.draws;
                    submitted.problems.into_iter().for_each(|problem| self.tell(format!("error: {problem}")));
                }
                Err(message) => {
                    // Its state is not valid after that.
                    self.running = None;
                    self.tell(format!("error: {message}"));
                }
            }
        } else {
            let packets = Packets::of(chip, &chunks.words);
            draws = packets.filter(|packet| packet.as_ref().is_ok_and(|packet| packet.draws())).count() as u32;
        }
        self.draws = self.draws.wrapping_add(draws);
        Ok(draws.into())
    }

    fn running(&mut self) -> Result<&mut Running, String> {
        if self.running.is_none() {
            let name = settings().engine.as_deref().and_then(EngineKind::from_name);
            let kind = name.map_or_else(EngineKind::preferred, Ok).map_err(|e| e.to_string())?;
            let engine = kind.engine().map_err(|e| e.to_string())?;
            let threads = Threads::here()?;
            let mut device = Device::new(engine);
            device.set_chip(settings().chip.streams());
            device.set_options(DrawOptions { checks: settings().check, ..DrawOptions::default() });
            self.running = Some(Running { device, threads });
        }
        self.running.as_mut().ok_or_else(|| "there is no machine".to_owned())
    }

    /// Prints a message, once.
    fn tell(&mut self, message: String) {
        if self.told.len() < MOST_TOLD && !self.told.contains(&message) {
            report(&message);
            self.told.insert(message);
            if self.told.len() == MOST_TOLD {
                report("no more is told of this process");
            }
        }
    }
}

/// Whether the kernel refuses a stream for it: rules say so themselves.
fn refuses(finding: &Finding) -> bool {
    finding.severity == Severity::Error && rule(finding.rule).is_some_and(|rule| rule.doc.starts_with("kernel:"))
}

/// The result of `work`; a panic becomes a message.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        // Dropping the panic's payload may panic itself.
        std::mem::forget(panic);
        "internal error: the machine panicked; this is a bug in it".to_owned()
    })
}

/// The buffers of a submission, each at its place in the memory file.
struct Memory<'c> {
    /// Place and bytes, by place, and the buffer where streams of this process alone write it.
    parts: Vec<BufferPart>,
    /// The serial numbers of the buffers.
    serials: Vec<u64>,
    /// Fast clears of all buffers of the file; `None`: memory is always up to date.
    clears: Option<&'c mut ClearTable>,
}

/// See [`Memory`].
type BufferPart = (u64, *mut [u8], Option<BufferId>);

// SAFETY: the bytes are mapped until the submission has ended, and belong to no thread.
unsafe impl Send for Memory<'_> {}
// SAFETY: as above. The program makes the kernel the same promise as with a card: not to change memory that a running submission uses. Where it
// breaks the promise, bytes change while they are read, and any value of a byte is valid: they hold no Rust values.
unsafe impl Sync for Memory<'_> {}

impl<'c> Memory<'c> {
    /// The last part that begins at an address or before it.
    fn part(&self, address: u64) -> Option<BufferPart> {
        let at = self.parts.partition_point(|part| part.0 <= address).checked_sub(1)?;
        self.parts.get(at).copied()
    }

    fn of(
        space: &Space,
        file: FileId,
        (buffers, own): (&[Buffer], &[bool]),
        clears: Option<&'c mut ClearTable>,
    ) -> std::io::Result<Self> {
        let mut parts = Vec::with_capacity(buffers.len());
        for (buffer, &is_own) in buffers.iter().zip(own) {
            let id = is_own.then_some([file.0, file.1, buffer.serial]);
            parts.push((buffer.offset, space.bytes(buffer.offset, buffer.size)?, id));
        }
        parts.sort_unstable_by_key(|part| part.0);
        parts.dedup_by_key(|part| part.0);
        let serials = buffers.iter().map(|buffer| buffer.serial).collect();
        Ok(Self { parts, serials, clears })
    }

    /// The bytes of a range that lies in one buffer.
    fn find(&self, address: u64, length: u64) -> Option<*mut [u8]> {
        let (start, bytes, _) = self.part(address)?;
        let from = usize::try_from(address - start).ok()?;
        let length = usize::try_from(length).ok()?;
        let inside = from.checked_add(length).is_some_and(|end| end <= bytes.len());
        // SAFETY: the range lies in the bytes.
        inside.then(|| std::ptr::slice_from_raw_parts_mut(unsafe { bytes.cast::<u8>().add(from) }, length))
    }
}

impl GpuMemory for Memory<'_> {
    fn own_buffer(&self, address: u64, _: u64) -> Option<BufferId> {
        self.part(address)?.2
    }

    fn take_clears(&mut self) -> Vec<(u64, FastClear)> {
        let Some(clears) = &mut self.clears else { return Vec::new() };
        self.serials.iter().flat_map(|&serial| clears.take(serial)).collect()
    }

    fn keep_clear(&mut self, address: u64, clear: &FastClear) -> bool {
        // Programs look at the memory of others.
        let (own, clears) = (self.own_buffer(address, 0), &mut self.clears);
        own.zip(clears.as_mut()).is_some_and(|([_, _, serial], clears)| clears.keep(serial, address, clear))
    }

    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        // SAFETY: mapped until the submission has ended; nothing here writes while `self` is borrowed so.
        self.find(address, length).map(|bytes| unsafe { &*bytes })
    }

    fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        // SAFETY: as above, and `self` is borrowed alone.
        self.find(address, length).map(|bytes| unsafe { &mut *bytes })
    }

    fn buffers_mut(&mut self) -> Option<Vec<(u64, &mut [u8])>> {
        let apart = |two: &[BufferPart]| two[0].0.checked_add(two[0].1.len() as u64).is_some_and(|end| end <= two[1].0);
        if !self.parts.windows(2).all(apart) {
            return None;
        }
        // SAFETY: as above, and no two buffers have a byte in common: places in the file are places in its one mapping.
        Some(self.parts.iter().map(|&(start, bytes, _)| (start, unsafe { &mut *bytes })).collect())
    }
}
