//! A trace: everything that lanes of a group read and wrote, instruction by instruction.

use crate::choice::Choice;
use crate::listing::Listing;
use crate::subject::{Chosen, Subject};
use ctm_exec::observe::{Detail, Event, Flow, Lanes, Place, Unit, WatchedIsa, Watcher, Wish};
use ctm_exec::{Control, Fault, Position};
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_jobs::job::{Job, JobError};
use std::collections::HashMap;
use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

/// Limits of recording.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Slots whose instructions are recorded; `None`: all.
    pub range: Option<RangeInclusive<u32>>,
    /// Only instructions that write one of these places; empty: all.
    pub writes: Vec<Place>,
    /// Instructions that are recorded at most.
    pub instructions: usize,
    /// Only the lanes of the processor's quad, in place of all of its group.
    pub quad_only: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { range: None, writes: Vec::new(), instructions: 100_000, quad_only: false }
    }
}

/// One instruction of a trace.
#[derive(Clone, Debug)]
pub struct Step {
    /// The count of instructions that the group had executed before it; R700: groups, fetches and control flow each count.
    pub time: u64,
    /// The event.
    pub event: Event,
}

/// Everything that lanes of a group did.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Which machine.
    pub isa: WatchedIsa,
    /// The pass of the job.
    pub pass: usize,
    /// The program.
    pub listing: Arc<Listing>,
    /// The index pair of each lane of the group.
    pub positions: Vec<Position>,
    /// The lane that was asked for.
    pub lane: usize,
    /// The lanes whose values are recorded.
    pub lanes: Lanes,
    /// The state of flow control of each wavefront before the first instruction.
    pub start: Vec<Flow>,
    /// The instructions in the order of their execution.
    pub steps: Vec<Step>,
    /// How many instructions the group executed.
    pub executed: u64,
    /// The limit ended the record before the program's end.
    pub cut: bool,
    /// The fault that ended the group.
    pub fault: Option<Fault>,
    /// The final value of each place that was written, `(lane, place)`; outputs and exports, too.
    pub end: HashMap<(usize, Place), u32>,
}

/// The reason why there is no trace.
///
/// ```
/// use ctm::Position;
/// use ctm::job::Reader;
/// use ctm::trace::{Choice, Limits, Subject, Trace, TraceError};
///
/// let mut reader = Reader::for_program_bytes("p.x1k", b"mov o0, r0\n".to_vec());
/// reader.flag("size", "4x1");
/// let subject = Subject::Job(Box::new(reader.finish()?));
/// let chosen = subject.choose(Choice::default(), None)?;
/// let at = Position { i: 90, j: 0 };
/// let error = Trace::of(&subject, &chosen, at, &Limits::default()).unwrap_err();
/// assert!(matches!(error, TraceError::NotRun(place) if place == at));
/// # Ok::<(), ctm::JobError>(())
/// ```
#[derive(Clone, Debug)]
pub enum TraceError {
    /// An error of the job.
    Job(JobError),
    /// No group has the processor, or the conditional unit kept its group from running.
    NotRun(Position),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(e) => e.fmt(f),
            Self::NotRun(at) => write!(f, "processor ({}, {}) does not run in this launch", at.i, at.j),
        }
    }
}

impl std::error::Error for TraceError {}

impl From<JobError> for TraceError {
    fn from(e: JobError) -> Self {
        Self::Job(e)
    }
}

impl From<TraceError> for JobError {
    fn from(e: TraceError) -> Self {
        match e {
            TraceError::Job(e) => e,
            e @ TraceError::NotRun(_) => {
                Self::Wrong(vec![Report::bare(Diagnostic::error("processor-does-not-run", e.to_string()))])
            }
        }
    }
}

struct Recording {
    at: Position,
    limits: Limits,
    pass: usize,
    listing: Arc<Listing>,
    result: Arc<Mutex<Option<Trace>>>,
}

impl Watcher for Recording {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.at) { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let trace = Trace::record(unit, self.at, &self.limits, self.pass, Arc::clone(&self.listing));
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(trace);
        Ok(ControlFlow::Break(()))
    }
}

impl Trace {
    /// Traces the group of a processor in one launch of a job. Launches before it run on the job's engine.
    ///
    /// ```no_run
    /// use ctm::job::Reader;
    /// use ctm::trace::{Choice, Limits, Trace};
    /// use ctm_exec::Position;
    /// let job = Reader::for_file("job.toml".as_ref()).and_then(Reader::finish)?;
    /// let trace = Trace::of_job(&job, Choice::default(), Position { i: 35, j: 22 }, &Limits::default())?;
    /// println!("{} instructions", trace.executed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Everything that is wrong with the job or the choice. A fault of the group itself is part of the trace.
    pub fn of_job(job: &Job, choice: Choice, at: Position, limits: &Limits) -> Result<Self, TraceError> {
        let subject = Subject::Job(Box::new(job.clone()));
        Self::of(&subject, &subject.choose(choice, Some(at))?, at, limits)
    }

    /// Traces the group of a processor in a launch.
    ///
    /// # Errors
    /// Everything that is wrong with the subject. A fault of the group itself is part of the trace.
    pub fn of(subject: &Subject, chosen: &Chosen, at: Position, limits: &Limits) -> Result<Self, TraceError> {
        Self::of_under(&Control::none(), subject, chosen, at, limits)
    }

    /// The same under a [`Control`], as of [`Subject::watch_under`].
    ///
    /// # Errors
    /// The same. That it was cancelled, or its time is over, is a fault as of any launch.
    pub fn of_under(
        control: &Control,
        subject: &Subject,
        chosen: &Chosen,
        at: Position,
        limits: &Limits,
    ) -> Result<Self, TraceError> {
        let listing = Arc::new(chosen.listing());
        let result = Arc::new(Mutex::new(None));
        let limits = limits.clone();
        let recording = Recording { at, limits, pass: chosen.pass, listing, result: Arc::clone(&result) };
        subject.watch_under(control, chosen, recording)?;
        let trace = result.lock().unwrap_or_else(PoisonError::into_inner).take();
        trace.ok_or(TraceError::NotRun(at))
    }

    /// Runs a unit to its end, to a fault or to the limit, and records it.
    #[must_use]
    pub fn record(unit: &mut Unit<'_>, at: Position, limits: &Limits, pass: usize, listing: Arc<Listing>) -> Self {
        let positions = unit.positions().to_vec();
        let lane = positions.iter().position(|&p| p == at).unwrap_or(0);
        let all = if limits.quad_only { lane & !3..((lane & !3) + 4).min(positions.len()) } else { 0..positions.len() };
        let lanes: Lanes = all.collect();
        let mut start = Vec::new();
        while start.iter().map(|flow: &Flow| flow.lanes.len()).sum::<usize>() < positions.len() {
            let flow = unit.flow(u16::try_from(start.len()).unwrap_or(u16::MAX));
            if flow.lanes.is_empty() {
                break;
            }
            start.push(flow);
        }
        let mut trace = Self {
            isa: unit.isa(),
            pass,
            listing,
            positions,
            lane,
            lanes,
            start,
            steps: Vec::new(),
            executed: 0,
            cut: false,
            fault: None,
            end: HashMap::new(),
        };
        let mut events = Vec::new();
        while !unit.has_ended() {
            if trace.steps.len() >= limits.instructions {
                trace.cut = true;
                break;
            }
            let inside = limits.range.as_ref().is_none_or(|range| unit.pc().is_some_and(|pc| range.contains(&pc)));
            let detail = if inside { Detail::Values(&trace.lanes) } else { Detail::Masks };
            let result = unit.step(detail, &mut events);
            for event in events.drain(..) {
                let time = trace.executed;
                trace.executed += 1;
                let writes = |place: &Place| event.lanes.iter().any(|l| l.writes.iter().any(|w| w.place == *place));
                if !inside || !(limits.writes.is_empty() || limits.writes.iter().any(writes)) {
                    continue;
                }
                for lane in &event.lanes {
                    for write in &lane.writes {
                        trace.end.insert((usize::from(lane.lane), write.place), write.bits);
                    }
                }
                trace.steps.push(Step { time, event });
            }
            if let Err(fault) = result {
                trace.fault = Some(fault);
                break;
            }
        }
        trace
    }

    /// The events of one lane, in order: the step and its share of the event.
    pub fn of_lane(&self, lane: usize) -> impl Iterator<Item = (&Step, &ctm_exec::observe::LaneEvent)> {
        self.steps.iter().filter_map(move |step| {
            step.event.lanes.iter().find(|event| usize::from(event.lane) == lane).map(|event| (step, event))
        })
    }
}
