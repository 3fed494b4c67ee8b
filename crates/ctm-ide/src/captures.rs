//! Captures of command streams, so that the programs of their draws can be looked into.

use ctm::EngineKind;
use ctm::job::{JobError, read_file};
use ctm::render::Report;
use ctm::trace::{Draws, NoticeFn, Wrap};
use ctm_draw::Notice;
use ctm_exec::Budget;
use ctm_isa::diag::Diagnostic;
use ctm_radeon::capture::{ReadError, is_capture};
use ctm_radeon::execute::{DrawOptions, Next, Stepped};
use ctm_radeon::replay::Replay;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A capture: what `ctm radeon` writes and `ctm replay` draws.
pub struct Capture {
    bytes: Vec<u8>,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("bytes", &self.bytes.len()).finish()
    }
}

impl Capture {
    /// Whether a file is a capture, by how it begins.
    #[must_use]
    pub fn is_one(path: &Path) -> bool {
        is_capture(path)
    }

    /// Reads a capture.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> Result<Self, JobError> {
        Ok(Self { bytes: read_file(path, "the capture", None)? })
    }
}

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

impl Draws for Capture {
    fn first(&self) -> usize {
        1
    }

    /// A capture that was cut is drawn as far as it goes.
    fn draw(&self, wrap: Wrap<'_>, notice: Arc<NoticeFn>, last: Option<usize>) -> Result<(), JobError> {
        let engine = EngineKind::default().engine().map_err(|e| wrong("no-engine", e.to_string()))?;
        let damaged = |error: ReadError| wrong("bad-capture", error.to_string());
        let mut replay = Replay::new(self.bytes.as_slice(), wrap(engine)).map_err(damaged)?;
        let drawn = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&drawn);
        let notice = Notice::new(move |launch| notice(now.load(Ordering::Relaxed), launch));
        let budget = Budget::default();
        replay.device().set_options(DrawOptions { one_thread: true, budget, notice, ..DrawOptions::default() });
        let mut behind = |_: &Stepped<'_>| match drawn.fetch_add(1, Ordering::Relaxed) {
            draw if Some(draw) == last => Next::Stop,
            _ => Next::Continue,
        };
        while let Some(replayed) = match replay.step(&mut behind) {
            Err(ReadError::Cut { .. }) => None,
            stepped => stepped.map_err(damaged)?,
        } {
            if replayed.submitted.stopped {
                break;
            }
        }
        Ok(())
    }
}
