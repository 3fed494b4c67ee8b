//! Sources of watched launches: a job, a drawing, or a recording of devices.

mod chosen;
pub mod drawing;
mod source;

use crate::choice::{Choice, Picking, Shown, watch_job_under};
pub(crate) use chosen::wrong;
pub use chosen::{Chosen, DrawStage};
use ctm_device::record::{MAGIC, ReplayOptions, replay_on};
use ctm_exec::observe::Watcher;
use ctm_exec::watch::Control;
use ctm_exec::{Domain, Engine, Fault, Outcome, Position, pvs, r700, x1k};
use ctm_files::FileKind;
use ctm_jobs::draw::Drawing;
use ctm_jobs::job::{Job, JobError, PassProgram};
use drawing::Draws;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A source of launches.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A job.
    Job(Box<Job>),
    /// A recording of devices (`docs/replay.md`).
    Recording(PathBuf),
    /// Draws (`docs/draw-jobs.md`), and which of their programs: pixels are processors by column and row, vertices by number and instance.
    Drawing(Arc<dyn Draws>, DrawStage),
}

impl Subject {
    /// Whether a file is a recording, by how it begins.
    #[must_use]
    pub fn is_recording(path: &Path) -> bool {
        ctm_files::begins_with(path, &MAGIC)
    }

    /// Whether a file is a draw job, by its keys.
    #[must_use]
    pub fn is_drawing(path: &Path) -> bool {
        let is_toml = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        is_toml && ctm_files::read_text(path, FileKind::Job).is_ok_and(|text| Drawing::is_job(&text))
    }

    /// The launch that a choice means, whose domain has the processor `at`.
    ///
    /// # Errors
    /// It does not exist, or the job or the recording is invalid.
    pub fn choose(&self, choice: Choice, at: Option<Position>) -> Result<Chosen, JobError> {
        self.choose_under(&Control::none(), choice, at)
    }

    /// The same under a [`Control`], which can end the launches that are run to find it. Those of a [`Self::Drawing`] are under its own.
    ///
    /// # Errors
    /// The same, or it was cancelled.
    pub fn choose_under(&self, control: &Control, choice: Choice, at: Option<Position>) -> Result<Chosen, JobError> {
        match self {
            Self::Job(job) => {
                let (pass, which) = choice.resolve(job, at)?;
                let mut programs = job.programs()?;
                let domain = job.passes.get(pass).map(|pass| pass.domain);
                match domain.filter(|_| pass < programs.len()) {
                    Some(domain) => {
                        Ok(Chosen { pass, which, domain, program: programs.swap_remove(pass), glsl: None, lane: None })
                    }
                    None => Err(wrong("no-such-launch", format!("there is no pass {pass}"))),
                }
            }
            Self::Drawing(draws, stage) => drawing::choose(draws.as_ref(), *stage, choice, at),
            Self::Recording(path) => {
                if choice.pass.is_some() {
                    return Err(wrong(
                        "no-such-launch",
                        "a recording has launches and no passes; --launch counts them from 0",
                    ));
                }
                let noted = Arc::new(Mutex::new(Noted { launch: choice.launch, at, seen: 0, chosen: None }));
                let noting = Arc::clone(&noted);
                let wrap = move |inner| -> Box<dyn Engine> { Box::new(Noting { inner, noted: Arc::clone(&noting) }) };
                replayed(path, control, &wrap)?;
                let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
                let (seen, shown) = (noted.seen, |at: Position| format!("processor ({}, {})", at.i, at.j));
                noted.chosen.take().ok_or_else(|| {
                    let why = match (choice.launch, at) {
                        (Some(n), _) if n >= seen => return no_launch(n, seen),
                        (Some(n), Some(at)) => format!("{} is not in the domain of launch {n}", shown(at)),
                        (_, Some(at)) if seen > 0 => format!("{} is in the domain of no launch", shown(at)),
                        _ => "the recording has no launches".to_owned(),
                    };
                    wrong("no-such-launch", why)
                })
            }
        }
    }

    /// Shows all that a profile counts to a watcher: a launch; of draws all launches of the chosen draw.
    pub(super) fn watch_whole(
        &self,
        control: &Control,
        chosen: &Chosen,
        watcher: impl Watcher + Send + 'static,
    ) -> Result<(), JobError> {
        match self {
            Self::Drawing(draws, stage) => drawing::watch_all(draws.as_ref(), *stage, chosen, watcher),
            Self::Job(_) | Self::Recording(_) => self.watch_under(control, chosen, watcher),
        }
    }

    /// The domain that a profile counts, and how many lanes.
    pub(super) fn whole_domain(&self, chosen: &Chosen) -> Result<(Domain, u64), JobError> {
        match self {
            Self::Drawing(draws, stage) => drawing::domain(draws.as_ref(), *stage, chosen),
            Self::Job(_) | Self::Recording(_) => Ok((chosen.domain, chosen.domain.processors())),
        }
    }

    /// Shows a launch to a watcher. Launches before it run on the subject's own engine; no file is written.
    ///
    /// # Errors
    /// Everything that is wrong with the subject, or the fault that ended it.
    pub fn watch(&self, chosen: &Chosen, watcher: impl Watcher + Send + 'static) -> Result<(), JobError> {
        self.watch_under(&Control::none(), chosen, watcher)
    }

    /// The same under a [`Control`]: launches, and the steps of the units that are shown, end with a fault when it is cancelled or past its deadline. Those of a
    /// [`Self::Drawing`] are under its own.
    ///
    /// # Errors
    /// The same.
    pub fn watch_under(
        &self,
        control: &Control,
        chosen: &Chosen,
        watcher: impl Watcher + Send + 'static,
    ) -> Result<(), JobError> {
        match self {
            Self::Job(job) => watch_job_under(job, control, chosen.which, watcher).map(|_| ()),
            Self::Recording(path) => {
                // There may be several devices: launches are counted over all of them.
                let (seen, which) = (Arc::default(), chosen.which);
                let picked: Arc<dyn Engine> = Arc::new(Shown(Mutex::new(watcher)));
                let wrap = move |inner| -> Box<dyn Engine> {
                    Box::new(Picking { inner, picked: Arc::clone(&picked), which, seen: Arc::clone(&seen) })
                };
                replayed(path, control, &wrap)
            }
            Self::Drawing(draws, _) => drawing::watch(draws.as_ref(), chosen, watcher),
        }
    }
}

/// The error for a launch that a recording does not have.
pub(super) fn no_launch(which: u64, seen: u64) -> JobError {
    wrong("no-such-launch", format!("the recording has {seen} launches, there is no launch {which}"))
}

/// Replays a recording on other engines; differences from the recorded results are ignored, as launches may be ended.
pub(super) fn replayed(
    path: &Path,
    control: &Control,
    wrap: &dyn Fn(Box<dyn Engine>) -> Box<dyn Engine>,
) -> Result<(), JobError> {
    let cannot = |why: String| wrong("not-a-recording", format!("{}: {why}", path.display()));
    let file = ctm_files::open(path, FileKind::Recording).map_err(|e| wrong("cannot-read", e.to_string()))?;
    let options = ReplayOptions::default();
    let from = BufReader::with_capacity(1 << 20, file);
    replay_on(control, from, &options, wrap, |_| {}).map_err(|e| cannot(e.to_string()))?;
    Ok(())
}

/// Facts about a recording's launches.
struct Noted {
    launch: Option<u64>,
    at: Option<Position>,
    seen: u64,
    chosen: Option<Chosen>,
}

/// An engine that notes which launches there are.
struct Noting {
    inner: Box<dyn Engine>,
    noted: Arc<Mutex<Noted>>,
}

impl Noting {
    fn note(&self, domain: Domain, program: impl FnOnce() -> PassProgram) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let which = noted.seen;
        noted.seen += 1;
        if noted.launch.is_none_or(|launch| launch == which) && noted.at.is_none_or(|at| domain.contains(at)) {
            noted.chosen = Some(Chosen { pass: 0, which, domain, program: program(), glsl: None, lane: None });
        }
    }
}

impl Engine for Noting {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        self.note(launch.domain, || launch.into());
        self.inner.run_x1k_under(control, launch, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        self.note(launch.domain, || launch.into());
        self.inner.run_r700_under(control, launch, memory)
    }

    fn run_pvs_under(&self, control: &Control, launch: &pvs::PvsLaunch<'_>) -> Result<Vec<pvs::Outputs>, Fault> {
        self.inner.run_pvs_under(control, launch)
    }
}
