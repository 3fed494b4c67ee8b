//! State of this process: the nodes that it has opened, its capture, its counts.

use crate::process_id::process_id;
use crate::screen::Screen;
use crate::settings::{report, settings};
use crate::space::{FileId, Space, file_of};
use crate::{card, prime};
use ctm_radeon::capture::{Done, Writer};
use ctm_radeon::environment::Settings;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The state that requests change, under one lock: requests of a process run one after another.
#[derive(Default)]
pub(crate) struct Process {
    /// The process that this belongs to: after a fork it is another one, which begins anew.
    id: u32,
    spaces: HashMap<FileId, Arc<Space>>,
    capture: Capturing,
    counts: Counts,
    displays: HashMap<FileId, Screen>,
    /// Whether a driver has made a buffer.
    pub has_buffers: bool,
    /// The executor of submissions.
    pub machine: crate::machine::ProcessMachine,
}

/// The capture of a process.
#[derive(Default)]
enum Capturing {
    #[default]
    NotYet,
    To(Box<Capture>),
    /// None is requested, or it could not be written.
    No,
}

/// A capture that is being made.
pub(crate) struct Capture {
    pub writer: Writer<File>,
    numbers: HashMap<(FileId, u64), u32>,
}

impl Capture {
    /// The number of a buffer in the capture.
    pub(crate) fn number(&mut self, file: FileId, serial: u64) -> u32 {
        let next = u32::try_from(self.numbers.len() + 1).unwrap_or(u32::MAX);
        *self.numbers.entry((file, serial)).or_insert(next)
    }
}

/// Counts of a process's submissions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub submissions: u64,
    pub words: u64,
    pub refused: u64,
    pub draws: u64,
    pub time: Duration,
}

fn process() -> &'static Mutex<Process> {
    static PROCESS: OnceLock<Mutex<Process>> = OnceLock::new();
    PROCESS.get_or_init(Mutex::default)
}

/// The process, locked.
pub(crate) fn lock() -> MutexGuard<'static, Process> {
    let mut process = process().lock().unwrap_or_else(PoisonError::into_inner);
    let id = process_id();
    if process.id != id {
        let fresh = Process { id, ..Process::default() };
        let of_parent = std::mem::replace(&mut *process, fresh);
        if of_parent.id != 0 {
            // Threads of the parent are not here, and files are still its own: nothing of it is ended.
            std::mem::forget(of_parent);
        }
    }
    process
}

impl Process {
    /// The settings of the environment.
    #[allow(clippy::unused_self)] // Only a caller with access to the process may read them.
    pub(crate) fn settings(&self) -> &'static Settings {
        settings()
    }

    /// The memory file of a descriptor, mapped.
    pub(crate) fn space(&mut self, fd: RawFd, file: FileId) -> io::Result<Arc<Space>> {
        if let Some(space) = self.spaces.get(&file) {
            return Ok(Arc::clone(space));
        }
        let space = Arc::new(Space::of(fd)?);
        self.spaces.insert(file, Arc::clone(&space));
        Ok(space)
    }

    /// Closes memory files that the program has no descriptor of any more. Its mappings of them stay.
    pub(crate) fn sweep(&mut self) {
        if self.spaces.is_empty() {
            return;
        }
        let Ok(open) = fs::read_dir("/proc/self/fd") else { return };
        let fds: Vec<RawFd> = open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
        let cards = card::sweep(&fds);
        let mut ours: Vec<RawFd> = self.spaces.values().map(|space| space.as_raw_fd()).collect();
        ours.extend(cards.iter().map(|card| card.1));
        let mut held: Vec<FileId> = fds.into_iter().filter(|fd| !ours.contains(fd)).filter_map(file_of).collect();
        held.extend(cards.iter().map(|card| card.0));
        self.spaces.retain(|file, _| held.contains(file));
        self.displays.retain(|file, _| held.contains(file));
        prime::sweep(&held);
    }

    /// The display of an opened card.
    pub(crate) fn display(&mut self, file: FileId) -> &mut Screen {
        self.displays.entry(file).or_default()
    }

    /// Runs `work` on the capture, if one is made. An error ends it, not the process.
    pub(crate) fn capture<T>(&mut self, work: impl FnOnce(&mut Capture) -> io::Result<T>) -> Option<T> {
        if matches!(self.capture, Capturing::NotYet) {
            self.capture = self.begin_capture();
        }
        let Capturing::To(capture) = &mut self.capture else { return None };
        match work(capture) {
            Ok(out) => Some(out),
            Err(e) => {
                report(&format!("the capture ends here, it cannot be written: {e}"));
                self.capture = Capturing::No;
                None
            }
        }
    }

    fn begin_capture(&self) -> Capturing {
        let settings = settings();
        let Some(directory) = &settings.capture else { return Capturing::No };
        let program = program();
        let about = serde_json::json!({
            "program": program,
            "process": self.id,
            "chip": settings.chip.name(),
            "executed": self.machine.executes(),
        });
        let begin = || {
            fs::create_dir_all(directory)?;
            let (path, file) = new_file(directory, &program, self.id)?;
            Ok((path, Writer::new(file, about)?))
        };
        match begin() {
            Ok((_, writer)) => Capturing::To(Box::new(Capture { writer, numbers: HashMap::new() })),
            Err(e) => {
                let e: io::Error = e;
                report(&format!("no capture is made in {}: {e}", directory.display()));
                Capturing::No
            }
        }
    }

    /// A buffer is gone.
    pub(crate) fn forget(&mut self, file: FileId, serial: u64) {
        if let Capturing::To(_) = self.capture {
            self.capture(|capture| match capture.numbers.get(&(file, serial)) {
                Some(&number) => capture.writer.free(number),
                None => Ok(()),
            });
        }
    }

    /// Records the answer to a submission.
    pub(crate) fn answered(&mut self, number: Option<u64>, error: i32, message: String) {
        self.counts.refused += u64::from(error != 0);
        if let Some(number) = number {
            let error = error.unsigned_abs();
            self.capture(|capture| capture.writer.done(&Done { number, error, message }));
        }
    }

    /// Counts a submission.
    pub(crate) fn submitted(&mut self, words: usize, draws: u64, begun: Instant) {
        self.counts.submissions += 1;
        self.counts.words += words as u64;
        self.counts.draws += draws;
        self.counts.time += begun.elapsed();
    }

    /// Counts of submissions.
    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }
}

/// A new file for a capture: one process may become another program, which makes its own.
fn new_file(directory: &std::path::Path, program: &str, id: u32) -> io::Result<(PathBuf, File)> {
    let mut count = 0;
    loop {
        let name =
            if count == 0 { format!("{program}-{id}.capture") } else { format!("{program}-{id}-{count}.capture") };
        let path = directory.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => count += 1,
            Err(e) => return Err(e),
            Ok(file) => return Ok((path, file)),
        }
    }
}

/// The name of the program that this process runs, of characters that a file's name may have anywhere.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().map_or_else(|| "program".into(), |name| name.to_string_lossy());
    name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
}

/// Drivers that draw without the node, as parts of the names of their libraries.
const DRIVERS: [&str; 6] = ["swrast_dri", "_dri.so", "libgallium", "libEGL", "libGLX", "libvulkan"];

/// Prints that a program with an open graphics library never used the Radeon: it drew with another renderer, or not at all.
pub(crate) fn print_renderer() {
    let Ok(process) = process().try_lock() else { return };
    let of_parent = process.id != 0 && process.id != process_id();
    if of_parent || process.counts.submissions > 0 || process.has_buffers || !settings().execute {
        return;
    }
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else { return };
    let names = maps.lines().filter_map(|line| Some(line.rsplit_once('/')?.1));
    let Some(library) = names.into_iter().find(|name| DRIVERS.iter().any(|driver| name.contains(driver))) else {
        return;
    };
    report(&format!(
        "{}: no submission came to the Radeon, though {library} is open: the program drew with another renderer (GL_RENDERER says which), or not at all",
        program()
    ));
}

/// Prints the counts of this process's submissions, if that is requested and there were any.
pub(crate) fn print_stats() {
    if !settings().stats {
        return;
    }
    // A program that ends within a request has other messages.
    let Ok(process) = process().try_lock() else { return };
    let Counts { submissions, words, refused, draws, time } = process.counts;
    if process.id == process_id() && submissions > 0 {
        report(&format!(
            "{} {}: {submissions} submissions ({refused} refused), {words} words, {draws} draws, {:.3} s",
            program(),
            process.id,
            time.as_secs_f64()
        ));
    }
}

/// Keeps locks whole over forks: no other thread of the process is in the middle of a request when it forks.
pub(crate) mod fork {
    use super::{Process, lock};
    use std::cell::RefCell;
    use std::sync::MutexGuard;

    thread_local! {
        static HELD: RefCell<Option<MutexGuard<'static, Process>>> = const { RefCell::new(None) };
    }

    extern "C" fn before() {
        // At the end of a thread its storage for the lock is gone, and no request waits.
        let _ = HELD.try_with(|held| *held.borrow_mut() = Some(lock()));
    }

    extern "C" fn after() {
        let _ = HELD.try_with(|held| held.borrow_mut().take());
    }

    /// Registers both with the C library.
    pub(crate) fn register() {
        // SAFETY: the functions have no arguments and no result, and are valid as long as this library, which is never unloaded.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    }
}
