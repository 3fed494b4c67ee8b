//! Launches of draws: which one has a pixel or a vertex, and watching it.
//!
//! A draw runs its programs in launches of some hundred lanes, and a lane is a pixel of a primitive, or a vertex. Everything is drawn twice: once to find the lane
//! that is meant, once to watch it. On one thread the launches come in one order.

use super::choice::Choice;
use super::subject::{Chosen, DrawStage, wrong};
use crate::draw::{Drawing, Error, NoticeFn};
use crate::job::{JobError, PassProgram};
use crate::render::Report;
use ctm_draw::DrawError;
use ctm_exec::observe::{Unit, Watcher, Wish};
use ctm_exec::watch::Control;
use ctm_exec::{Domain, Engine, Fault, Outcome, Position, r700, x1k};
use ctm_isa::diag::Diagnostic;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The lane of a launch that is meant, and what each lane is.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    lane: Position,
    names: HashMap<Position, Position>,
}

/// What a launch that is about to run has.
struct Coming {
    draw: usize,
    domain: Domain,
    lanes: Vec<Lane>,
}

/// What the launches have shown.
#[derive(Default)]
struct Seen {
    launches: u64,
    /// Fragments, or invocations, of what was asked for.
    found: u64,
    coming: Option<Coming>,
    chosen: Option<Chosen>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: Error) -> JobError {
    match error {
        Error::Job(error) => error,
        Error::Wrong { rule, message } => JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))]),
        other => JobError::Wrong(vec![Report::bare(Diagnostic::error("draw", other.to_string()))]),
    }
}

/// Draws, and hears of every launch of a stage. A program that does wrong ends it, as does a watcher.
fn drawn(
    drawing: &Drawing,
    wrap: impl FnOnce(Box<dyn Engine>) -> Box<dyn Engine>,
    notice: Arc<NoticeFn>,
) -> Result<(), JobError> {
    let mut prepared = drawing.prepare().map_err(failed)?;
    prepared.watch(wrap, notice);
    match prepared.draw(0.0) {
        // The launch that did wrong has been seen, too.
        Ok(_) | Err(Error::Draw(_, DrawError::Program { .. })) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// The lane of a pixel or a vertex: of all draws or of draw `pass` the last one, or the one with the number `launch` among them.
pub(super) fn choose(
    drawing: &Drawing,
    stage: DrawStage,
    choice: Choice,
    at: Option<Position>,
) -> Result<Chosen, JobError> {
    let draws = drawing.draws.len();
    if let Some(pass) = choice.pass.filter(|&pass| pass >= draws) {
        let last = draws.saturating_sub(1);
        return Err(wrong("no-such-launch", format!("there is no draw {pass}, there are draws 0 to {last}")));
    }
    let at = at.unwrap_or_default();
    let name = DrawStage::ALL.iter().find(|row| row.1 == stage).map_or("", |row| row.0);
    let seen = Arc::new(Mutex::new(Seen::default()));
    let hears = Arc::clone(&seen);
    let notice = move |draw: usize, launch: &ctm_draw::LaunchNotice<'_>| {
        let mut lanes = Vec::new();
        if launch.stage == name && choice.pass.is_none_or(|pass| pass == draw) {
            let d = launch.domain;
            let all = || (d.j0..=d.j1).flat_map(move |j| (d.i0..=d.i1).map(move |i| Position { i, j }));
            for lane in all().filter(|&lane| launch.place(lane) == at && launch.counts(lane)) {
                // Other lanes of the same pixel are those of other primitives.
                let other = Position { i: u32::MAX, j: u32::MAX };
                let name = |of: Position| match launch.place(of) {
                    place if place == at && of != lane => other,
                    place => place,
                };
                lanes.push(Lane { lane, names: all().map(|of| (of, name(of))).collect() });
            }
        }
        lock(&hears).coming = Some(Coming { draw, domain: launch.domain, lanes });
    };
    let noting = Arc::clone(&seen);
    let wrap = move |inner| -> Box<dyn Engine> { Box::new(Choosing { inner, seen: noting, launch: choice.launch }) };
    drawn(drawing, wrap, Arc::new(notice))?;
    let mut seen = lock(&seen);
    let found = seen.found;
    seen.chosen.take().ok_or_else(|| {
        let what = match stage {
            DrawStage::Pixel => format!("pixel ({}, {})", at.i, at.j),
            DrawStage::Vertex => format!("vertex {} of instance {}", at.i, at.j),
        };
        wrong(
            "no-such-launch",
            match choice.launch {
                Some(n) if found > 0 => {
                    format!("the {name} program runs {found} times for {what}, there is no time {n}")
                }
                _ => format!("the {name} program does not run for {what}"),
            },
        )
    })
}

/// Shows the launch that was chosen to a watcher, which hears of pixels or vertices.
pub(super) fn watch(
    drawing: &Drawing,
    _: DrawStage,
    chosen: &Chosen,
    watcher: impl Watcher + Send + 'static,
) -> Result<(), JobError> {
    let Some(lane) = chosen.lane.clone() else {
        return Err(wrong("no-such-launch", "the launch is not one of a drawing"));
    };
    let watcher = Renamed { lane, watcher };
    let which = chosen.which;
    let wrap = move |inner| super::choice::watching(inner, which, watcher);
    drawn(drawing, wrap, Arc::new(|_, _| {}))
}

/// A watcher of one lane that knows lanes by what they are.
struct Renamed<W> {
    lane: Lane,
    watcher: W,
}

impl<W> Renamed<W> {
    fn names(&self, positions: &[Position]) -> Vec<Position> {
        positions.iter().map(|at| self.lane.names.get(at).copied().unwrap_or(*at)).collect()
    }
}

impl<W: Watcher> Watcher for Renamed<W> {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.lane.lane) { self.watcher.wish(&self.names(positions)) } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let names = self.names(unit.positions());
        unit.rename(names);
        self.watcher.watch(unit)
    }
}

/// An engine that counts launches and notes the one that is meant.
struct Choosing {
    inner: Box<dyn Engine>,
    seen: Arc<Mutex<Seen>>,
    /// Which of the fragments.
    launch: Option<u64>,
}

impl Choosing {
    fn note(&self, program: impl Fn() -> PassProgram) {
        let mut seen = lock(&self.seen);
        let which = seen.launches;
        seen.launches += 1;
        let Some(Coming { draw, domain, lanes }) = seen.coming.take() else { return };
        for lane in lanes {
            if self.launch.is_none_or(|launch| launch == seen.found) {
                let lane = Some(lane);
                seen.chosen = Some(Chosen { pass: draw, which, domain, program: program(), lane });
            }
            seen.found += 1;
        }
    }
}

impl Engine for Choosing {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        self.note(|| launch.into());
        self.inner.run_x1k_under(control, launch, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        self.note(|| launch.into());
        self.inner.run_r700_under(control, launch, memory)
    }
}
