//! An open device: its thread, and the queue of command buffers that the thread works off in order.

use crate::log::{self, Level};
use crate::name;
use crate::pages::Pages;
use ctm::memory::{ArenaError, ArenaId, ArenaOptions, DeviceMemory, GpuAddr, SharedPages};
use ctm::record::{self, Recording};
use ctm::render::Report;
use ctm::{Device, EngineKind};
use ctm_exec::{Control, Progress};
use ctm_isa::diag::Diagnostic;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Identifiers of submissions: 1 to this, then from 1 again.
const IDENTIFIERS: u64 = u32::MAX as u64;
/// The most reasons of failures that are stored.
const FAILURES: usize = 1024;
/// The most findings that are stored.
const FINDINGS: usize = 4096;
/// How often the thread polls for work before it sleeps: a client that submits again at once does not pay for waking it.
const SPINS: u32 = 2000;

/// A command buffer that waits for its turn.
struct Submission {
    number: u64,
    address: GpuAddr,
    size_dwords: u32,
    is_cancelled: bool,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Submission>,
    closing: bool,
    /// The one that runs.
    running: Option<u64>,
    /// The last submissions that failed, and why.
    failures: VecDeque<(u64, String)>,
    /// The last findings of checks that the client has not read yet.
    noticed: VecDeque<Noticed>,
}

/// Something that a check noticed.
pub(crate) struct Noticed {
    /// In which submission.
    pub submission: u32,
    pub report: Report,
}

/// State that the client's threads and the device's thread share.
struct SharedConnection {
    queue: Mutex<Queue>,
    /// Something was put into the queue, or it closes.
    work: Condvar,
    /// A buffer was consumed.
    progress: Condvar,
    /// Submissions so far; written with the queue locked.
    submitted: AtomicU64,
    /// The number of the last finished submission. They end in order, so one number is enough.
    consumed: AtomicU64,
    /// Whether any submission ever failed.
    failed: AtomicBool,
    device: Mutex<Device>,
    /// The control that can end the running submission.
    control: Control,
    /// Where the device records itself, until that fails.
    recording: Mutex<Option<Arc<Recording>>>,
}

/// An open device.
pub(crate) struct Connection {
    shared: Arc<SharedConnection>,
    thread: Mutex<Option<JoinHandle<()>>>,
    name: String,
    arenas: ArenaOptions,
    /// Where the client finds the arenas, in the order of [`ArenaId::ALL`]; 0 where there is none.
    pointers: [usize; 4],
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Opens the device of this name.
    pub fn open(name: &str) -> Result<Self, String> {
        let opening = name::opening(name)?;
        let options = opening.options;
        let engine = opening.engine.map_or_else(EngineKind::preferred, Ok).map_err(|e| format!("{name}: {e}"))?;
        let made = engine.engine().map_err(|e| format!("{name}: {e}"))?;
        // The device records itself; an unwritable recording is reported here.
        let recording = record::environment().map_err(|e| format!("{name}: {e}"))?;
        let mut pointers = [0; 4];
        let memory = DeviceMemory::with_pages(&options.arenas, |arena, range| {
            let pages = Pages::new(arena, range)?;
            pointers[arena as usize] = pages.client_pointer() as usize;
            Ok::<Box<dyn SharedPages>, ArenaError>(Box::new(pages))
        });
        let memory = memory.map_err(|e| format!("{name}: {e}"))?;
        let device = Device::with_memory(made, options, memory);
        let shared = Arc::new(SharedConnection {
            control: device.control().clone(),
            queue: Mutex::default(),
            work: Condvar::new(),
            progress: Condvar::new(),
            submitted: AtomicU64::new(0),
            consumed: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            device: Mutex::new(device),
            recording: Mutex::new(recording),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("ctm device".to_owned())
            .spawn(move || of_thread.work_off())
            .map_err(|e| format!("{name}: the device's thread cannot be started: {e}"))?;
        log::write(Level::Info, &format!("{name}: opened, engine {engine}"));
        Ok(Self { shared, thread: Mutex::new(Some(thread)), name: name.to_owned(), arenas: options.arenas, pointers })
    }

    pub fn arenas(&self) -> &ArenaOptions {
        &self.arenas
    }

    /// Where the client finds an arena; 0 when there is none.
    pub fn pointer(&self, arena: ArenaId) -> usize {
        self.pointers[arena as usize]
    }

    /// Puts a command buffer into the queue and returns its identifier.
    pub fn submit(&self, address: u32, size_dwords: u32) -> Result<u32, String> {
        self.check_buffer(address, size_dwords)?;
        let number = {
            let mut queue = lock(&self.shared.queue);
            if queue.closing {
                return Err(format!("{}: the device is being closed", self.name));
            }
            let number = self.shared.submitted.load(Ordering::Relaxed) + 1;
            queue.waiting.push_back(Submission { number, address: GpuAddr(address), size_dwords, is_cancelled: false });
            self.shared.submitted.store(number, Ordering::Release);
            number
        };
        self.shared.work.notify_one();
        let identifier = identifier(number);
        if log::wants(Level::Info) {
            let name = &self.name;
            log::write(
                Level::Info,
                &format!("{name}: submission {identifier}: {size_dwords} dwords at 0x{address:08x}"),
            );
        }
        Ok(identifier)
    }

    /// Checks a buffer before anything runs.
    fn check_buffer(&self, address: u32, size_dwords: u32) -> Result<(), String> {
        let name = &self.name;
        if !address.is_multiple_of(4) {
            return Err(format!("{name}: the command buffer begins at 0x{address:08x}, which is not a multiple of 4"));
        }
        let end = u64::from(address) + 4 * u64::from(size_dwords);
        let range = ArenaId::ALL
            .map(|id| (id, self.arenas.range(id)))
            .into_iter()
            .find(|(_, range)| range.bytes > 0 && address >= range.base.0 && address - range.base.0 < range.bytes);
        let Some((id, range)) = range else {
            let sys = self.arenas.sys.base;
            return Err(format!("{name}: the command buffer at 0x{address:08x} lies in no arena; SYS begins at {sys}"));
        };
        let arena_end = u64::from(range.base.0) + u64::from(range.bytes);
        if end > arena_end {
            return Err(format!(
                "{name}: the command buffer of {size_dwords} dwords at 0x{address:08x} passes the end of arena {id} at 0x{arena_end:x}"
            ));
        }
        Ok(())
    }

    /// The number of the last submission with this identifier.
    fn number_of(&self, identifier: u32) -> Result<u64, String> {
        let submitted = self.shared.submitted.load(Ordering::Acquire);
        let wanted = u64::from(identifier);
        if wanted > 0 && submitted > 0 {
            let round = (submitted - 1) / IDENTIFIERS;
            let number = round * IDENTIFIERS + wanted;
            if number <= submitted {
                return Ok(number);
            }
            if let Some(number) = number.checked_sub(IDENTIFIERS).filter(|&n| n > 0) {
                return Ok(number);
            }
        }
        Err(format!(
            "{}: {identifier} identifies no submission; amSubmitCommandBuffer gives identifiers, 0 is none",
            self.name
        ))
    }

    /// Whether a submission is done and all its writes can be read.
    pub fn consumed(&self, identifier: u32) -> Result<bool, String> {
        let number = self.number_of(identifier)?;
        Ok(self.shared.consumed.load(Ordering::Acquire) >= number)
    }

    /// The reason why a submission failed; `None` when it did not, is not done, or is too long ago.
    pub fn failure(&self, identifier: u32) -> Option<String> {
        if !self.shared.failed.load(Ordering::Acquire) {
            return None;
        }
        let number = self.number_of(identifier).ok()?;
        let queue = lock(&self.shared.queue);
        queue.failures.iter().find(|(n, _)| *n == number).map(|(_, why)| why.clone())
    }

    /// Ends a submission that runs or waits; a finished one is left alone.
    pub fn cancel(&self, identifier: u32) -> Result<(), String> {
        let number = self.number_of(identifier)?;
        let mut queue = lock(&self.shared.queue);
        if queue.running == Some(number) {
            self.shared.control.cancel();
        } else if let Some(waiting) = queue.waiting.iter_mut().find(|waiting| waiting.number == number) {
            waiting.is_cancelled = true;
        }
        Ok(())
    }

    /// How far the launch is that runs, or ran last.
    pub fn progress(&self) -> Progress {
        self.shared.control.progress()
    }

    /// Findings of checks since the last call, in the order of submissions.
    pub fn take_findings(&self) -> Vec<Noticed> {
        std::mem::take(&mut lock(&self.shared.queue).noticed).into()
    }

    /// Waits until a submission is done, or the time is over; returns whether it is done.
    pub fn wait(&self, identifier: u32, time: Option<Duration>) -> Result<bool, String> {
        let number = self.number_of(identifier)?;
        Ok(self.shared.wait_for(number, time))
    }

    /// Waits until everything submitted so far is done, and returns the device.
    pub fn idle_device(&self) -> MutexGuard<'_, Device> {
        let submitted = self.shared.submitted.load(Ordering::Acquire);
        self.shared.wait_for(submitted, None);
        lock(&self.shared.device)
    }

    /// Lets the thread finish the submitted buffers, and ends it.
    pub fn close(&self) {
        lock(&self.shared.queue).closing = true;
        self.shared.work.notify_one();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            // The thread catches its panics.
            let _ = thread.join();
            log::write(Level::Info, &format!("{}: closed", self.name));
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}

#[allow(clippy::cast_possible_truncation, reason = "at most u32::MAX")]
const fn identifier(number: u64) -> u32 {
    ((number - 1) % IDENTIFIERS) as u32 + 1
}

impl SharedConnection {
    fn wait_for(&self, number: u64, time: Option<Duration>) -> bool {
        let is_done = || self.consumed.load(Ordering::Acquire) >= number;
        if is_done() {
            return true;
        }
        // A time that is too long to be added is no limit.
        let end = time.and_then(|t| Instant::now().checked_add(t));
        let mut queue = lock(&self.queue);
        while !is_done() {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            queue = match left {
                Some(Duration::ZERO) => return false,
                Some(left) => self.progress.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0,
                None => self.progress.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
        true
    }

    /// The next submission; `None` when the queue is empty and closes.
    fn next(&self) -> Option<Submission> {
        for _ in 0..SPINS {
            if self.submitted.load(Ordering::Relaxed) > self.consumed.load(Ordering::Relaxed) {
                break;
            }
            std::hint::spin_loop();
        }
        let mut queue = lock(&self.queue);
        loop {
            if let Some(next) = queue.waiting.pop_front() {
                queue.running = Some(next.number);
                if next.is_cancelled {
                    self.control.cancel();
                }
                return Some(next);
            }
            if queue.closing {
                return None;
            }
            queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work_off(&self) {
        while let Some(next) = self.next() {
            let failure = self.run(&next);
            self.look_at_recording();
            let mut queue = lock(&self.queue);
            queue.running = None;
            self.control.reset();
            if let Some(why) = failure {
                log::write(Level::Error, &format!("submission {}: {why}", identifier(next.number)));
                if queue.failures.len() == FAILURES {
                    queue.failures.pop_front();
                }
                queue.failures.push_back((next.number, why));
                self.failed.store(true, Ordering::Release);
            }
            // All writes of the buffer are visible to a thread that reads the number with acquire ordering.
            self.consumed.store(next.number, Ordering::Release);
            drop(queue);
            self.progress.notify_all();
        }
    }

    /// Says once that the recording has ended before its time.
    fn look_at_recording(&self) {
        let mut recording = lock(&self.recording);
        if let Some(why) = recording.as_ref().and_then(|recording| recording.failure()) {
            log::write(Level::Error, &format!("the recording is not complete: {why}"));
            *recording = None;
        }
    }

    /// Queues the findings of checks for the client, and writes them to the log.
    fn keep_findings(&self, submission: u32, device: &mut Device) {
        let host = device.take_findings();
        let report = device.last_report();
        if host.is_empty() && report.findings.is_empty() && report.launches.iter().all(|l| l.findings.is_empty()) {
            return;
        }
        let commands = host.iter().chain(&report.findings).map(|f| Diagnostic::warning(f.rule, f.to_string()));
        let programs = report.launches.iter().flat_map(|launch| &launch.findings);
        let programs = programs.map(|f| Diagnostic::warning(f.rule, f.message.clone()).pc(f.pc));
        let mut queue = lock(&self.queue);
        for diagnostic in commands.chain(programs) {
            if log::wants(Level::Warn) {
                let pc = diagnostic.pc.map(|pc| format!("instruction {pc}: ")).unwrap_or_default();
                let (message, rule) = (&diagnostic.message, diagnostic.rule);
                log::write(Level::Warn, &format!("submission {submission}: {pc}{message} ({rule})"));
            }
            if queue.noticed.len() == FINDINGS {
                queue.noticed.pop_front();
            }
            queue.noticed.push_back(Noticed { submission, report: Report::bare(diagnostic) });
        }
    }

    /// Runs a command buffer; why it failed.
    fn run(&self, next: &Submission) -> Option<String> {
        let mut device = lock(&self.device);
        // The device stays usable: its registers and memory are plain values wherever a panic is possible.
        let result = catch_unwind(AssertUnwindSafe(|| device.submit(next.address, next.size_dwords)));
        self.keep_findings(identifier(next.number), &mut device);
        match result {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => {
                std::mem::forget(panic);
                Some("internal error: the device panicked; this is a bug in the library".to_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_never_zero() {
        assert_eq!((identifier(1), identifier(IDENTIFIERS), identifier(IDENTIFIERS + 1)), (1, u32::MAX, 1));
    }

    #[test]
    fn identifiers_mean_the_last_submission_that_got_them() {
        let Ok(connection) = Connection::open("ctm:x1k,gpu=1M,gpub=0,sys=1M,sysc=0") else { panic!("opens") };
        assert!(connection.number_of(1).is_err());
        connection.shared.submitted.store(IDENTIFIERS + 3, Ordering::Release);
        assert_eq!(connection.number_of(3), Ok(IDENTIFIERS + 3));
        assert_eq!(connection.number_of(4), Ok(4));
        assert_eq!(connection.number_of(u32::MAX), Ok(IDENTIFIERS));
        assert!(connection.number_of(0).is_err());
        connection.shared.submitted.store(0, Ordering::Release);
    }
}
