//! Captures of command streams, so that the programs of their draws can be looked into.

use ctm::EngineKind;
use ctm::job::{JobError, read_file};
use ctm::render::Report;
use ctm::trace::{BehindFn, Draws, InspectedDraw, NoticeFn, TargetContents, Wrap};
use ctm_draw::Notice;
use ctm_exec::{Budget, Control, Engine};
use ctm_files::FileKind;
use ctm_isa::diag::Diagnostic;
use ctm_radeon::capture::{ReadError, is_capture};
use ctm_radeon::execute::{Deadline, DrawOptions, Next, Stepped, TargetPicture};
use ctm_radeon::replay::{CAPTURE_TIME, Replay, Replayed};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A capture: written by `ctm radeon` and drawn by `ctm replay`.
pub struct Capture {
    bytes: Vec<u8>,
    /// Wall time that all its draws together may take each time it is drawn.
    time: Option<Duration>,
    control: Control,
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

    /// A capture of which these are the bytes.
    #[must_use]
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, time: Some(CAPTURE_TIME), control: Control::none() }
    }

    /// Says how much wall time all its draws together may take, each time it is drawn; `None`: any. Without it that is [`CAPTURE_TIME`].
    #[must_use]
    pub fn within(self, time: Option<Duration>) -> Self {
        Self { time, ..self }
    }

    /// The options of a drawing that begins now.
    fn options(&self) -> DrawOptions {
        // One budget for all draws: they share it.
        let budget = Budget::default();
        let (control, deadline) = (self.control.clone(), self.time.and_then(Deadline::after));
        DrawOptions { budget, control, deadline, ..DrawOptions::default() }
    }

    /// Reads a capture.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(path: &Path) -> Result<Self, JobError> {
        Ok(Self::from_bytes(read_file(path, FileKind::Capture, None)?))
    }

    /// The same under a control: its work ends when that is cancelled or past its deadline, draws with a fault and the rest with an error.
    #[must_use]
    pub fn under(mut self, control: &Control) -> Self {
        self.control = control.clone();
        self
    }

    /// Its length in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Runs it until it ends, is cut, or the watcher has seen enough.
    fn steps(&self, replay: &mut Replay<&[u8]>, behind: &mut dyn FnMut(&Stepped<'_>) -> Next) -> Result<(), JobError> {
        let mut behind = |stepped: &Stepped<'_>| if self.control.is_over() { Next::Stop } else { behind(stepped) };
        loop {
            let replayed = replay.step(&mut behind);
            if self.control.is_over() {
                return Err(wrong("cancelled", "the capture takes longer than it may, or was cancelled".into()));
            }
            match replayed {
                Ok(Some(Replayed { submitted, .. })) if submitted.is_over => {
                    let told =
                        submitted.problems.last().map_or_else(String::new, |problem| problem.error.message.clone());
                    return Err(wrong("time-budget", format!("the capture: {told}")));
                }
                Ok(Some(replayed)) if !replayed.submitted.stopped => {}
                Ok(_) | Err(ReadError::Cut { .. }) => return Ok(()),
                Err(error) => return Err(damaged(error)),
            }
        }
    }
}

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

impl Draws for Capture {
    fn first(&self) -> usize {
        1
    }

    /// A cut capture is drawn up to its last valid record.
    fn draw(&self, wrap: Wrap<'_>, notice: Arc<NoticeFn>, last: Option<usize>) -> Result<(), JobError> {
        let engine = EngineKind::default().engine().map_err(|e| wrong("no-engine", e.to_string()))?;
        let mut replay = Replay::new(self.bytes.as_slice(), wrap(engine)).map_err(damaged)?;
        let drawn = Arc::new(AtomicUsize::new(0));
        let now = Arc::clone(&drawn);
        let notice = Notice::new(move |launch| notice(now.load(Ordering::Relaxed), launch));
        replay.device().set_options(DrawOptions { one_thread: true, notice, ..self.options() });
        let mut behind = |_: &Stepped<'_>| match drawn.fetch_add(1, Ordering::Relaxed) {
            draw if Some(draw) == last => Next::Stop,
            _ => Next::Continue,
        };
        self.steps(&mut replay, &mut behind)
    }

    fn targets(&self, engine: Box<dyn Engine>, behind: &mut BehindFn<'_>) -> Result<(), JobError> {
        let mut replay = Replay::new(self.bytes.as_slice(), engine).map_err(damaged)?;
        replay.device().set_options(DrawOptions { targets: true, ..self.options() });
        let mut drawn = 0;
        let mut step = |stepped: &Stepped<'_>| {
            let mut look = || stepped.targets().map(shown).map_err(|error| wrong(error.kind, error.message));
            let next = behind(drawn, &mut look);
            drawn += 1;
            if next.is_break() { Next::Stop } else { Next::Continue }
        };
        self.steps(&mut replay, &mut step)
    }

    fn inspect(&self, engine: Box<dyn Engine>, at: Option<[u32; 2]>) -> Result<Vec<InspectedDraw>, JobError> {
        let mut replay = Replay::new(self.bytes.as_slice(), engine).map_err(damaged)?;
        replay.device().set_options(DrawOptions { watch: at, funnel: true, ..self.options() });
        let mut inspected = Vec::new();
        let mut step = |stepped: &Stepped<'_>| {
            inspected.push(InspectedDraw {
                name: stepped.outline.line(inspected.len() + 1),
                funnel: stepped.funnel.cloned(),
                primitives: stepped.primitives.to_vec(),
                fragments: stepped.fragments.to_vec(),
            });
            Next::Continue
        };
        self.steps(&mut replay, &mut step)?;
        Ok(inspected)
    }

    fn list(&self) -> Result<Vec<String>, JobError> {
        let engine = EngineKind::default().engine().map_err(|e| wrong("no-engine", e.to_string()))?;
        let mut replay = Replay::new(self.bytes.as_slice(), engine).map_err(damaged)?;
        replay.device().set_options(self.options());
        let mut lines = Vec::new();
        let mut step = |stepped: &Stepped<'_>| {
            lines.push(stepped.outline.line(lines.len() + 1));
            Next::Continue
        };
        self.steps(&mut replay, &mut step)?;
        Ok(lines)
    }
}

fn damaged(error: ReadError) -> JobError {
    wrong("bad-capture", error.to_string())
}

fn shown(pictures: Vec<TargetPicture>) -> Vec<TargetContents> {
    let shown = |picture: TargetPicture| TargetContents {
        channels: if picture.name.starts_with("colour") { 4 } else { 1 },
        name: picture.name,
        size: picture.size,
        texels: picture.pixels,
        integers: picture.integers,
    };
    pictures.into_iter().map(shown).collect()
}
