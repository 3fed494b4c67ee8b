//! The last error of a thread, and the log that the environment variable `CTM_LOG` chooses.
//!
//! `CTM_LOG=LEVEL` or `CTM_LOG=LEVEL:FILE`. LEVEL is `error` (failures), `warn` (also findings of a checked device) or `info` (also
//! every open, submit and close); lines go to standard error or are added to FILE. Without it nothing is written.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fs::File;
use std::io::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

/// How much the log wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
}

struct Log {
    level: Level,
    /// `None`: standard error.
    file: Option<Mutex<File>>,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Parses `CTM_LOG`; an invalid value logs errors, beginning with that one.
fn parse(value: &str) -> (Level, Option<&str>, Option<String>) {
    let (level, file) = match value.split_once(':') {
        Some((level, file)) if !file.is_empty() => (level, Some(file)),
        _ => (value.trim_end_matches(':'), None),
    };
    match level {
        "error" => (Level::Error, file, None),
        "warn" => (Level::Warn, file, None),
        "info" => (Level::Info, file, None),
        _ => {
            let message = format!("CTM_LOG is `{value}`; it is error, warn or info, and may name a file: info:ctm.log");
            (Level::Error, None, Some(message))
        }
    }
}

impl Log {
    fn open() -> Option<Self> {
        let value = std::env::var("CTM_LOG").ok().filter(|v| !v.is_empty())?;
        let (level, path, complaint) = parse(&value);
        let (file, complaint) = match path.map(|p| (p, File::options().create(true).append(true).open(p))) {
            Some((_, Ok(file))) => (Some(Mutex::new(file)), complaint),
            Some((path, Err(e))) => (None, Some(format!("the log {path} cannot be opened: {e}"))),
            None => (None, complaint),
        };
        let log = Self { level, file };
        if let Some(complaint) = complaint {
            log.write(Level::Error, &complaint);
        }
        Some(log)
    }

    fn write(&self, level: Level, message: &str) {
        let name = match level {
            Level::Error => "error",
            Level::Warn => "warning",
            Level::Info => "info",
        };
        let line = format!("ctm: {name}: {message}\n");
        // A log that cannot be written is no reason to stop.
        let _ = match &self.file {
            Some(file) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}

fn log() -> Option<&'static Log> {
    static LOG: OnceLock<Option<Log>> = OnceLock::new();
    LOG.get_or_init(Log::open).as_ref()
}

/// Whether anybody wants to know.
pub(crate) fn wants(level: Level) -> bool {
    log().is_some_and(|log| level <= log.level)
}

/// A line of the log.
pub(crate) fn write(level: Level, message: &str) {
    if let Some(log) = log().filter(|log| level <= log.level) {
        log.write(level, message);
    }
}

/// Remembers why this thread's call failed.
pub(crate) fn remember(message: &str) {
    let text = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    // A thread that is ending has no last error any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = text);
}

/// Remembers why this thread's call failed, and logs it.
pub(crate) fn fail(message: &str) {
    remember(message);
    write(Level::Error, message);
}

/// The message of the last failure on this thread: a C string, empty when there was none, valid until the next failure on this thread.
pub(crate) fn last() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_variable() {
        assert_eq!(parse("info"), (Level::Info, None, None));
        assert_eq!(parse("warn:/tmp/a:b"), (Level::Warn, Some("/tmp/a:b"), None));
        assert_eq!(parse("error:"), (Level::Error, None, None));
        assert!(parse("loud").2.is_some());
    }
}
