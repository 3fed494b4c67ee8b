//! Launches of draws: which one has a pixel or a vertex, and watching it.
//!
//! A draw runs its programs in launches of some hundred lanes, and a lane is a pixel of a primitive, or a vertex. Everything is drawn twice: once to find the lane
//! that is meant, once to watch it. On one thread the launches come in one order.

use super::chosen::{Chosen, DrawStage, Lane, wrong};
use crate::choice::Choice;
use crate::glsl::GlslLines;
use ctm_draw::{DrawError, Fragment, Funnel, LaunchNotice, Outline};
use ctm_exec::observe::{Unit, Watcher, Wish};
use ctm_exec::watch::Control;
use ctm_exec::{Domain, Engine, Fault, Interp, Outcome, Position, pvs, r700, x1k};
use ctm_files::array::{Array, Values};
use ctm_files::render::Report;
use ctm_isa::diag::Diagnostic;
use ctm_jobs::draw::{DrawPlan, Drawing, Drawn, Error, MeshSource, NoticeFn};
use ctm_jobs::job::{JobError, PassProgram};
use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Puts an engine around the one on which programs would run.
pub type Wrap<'a> = Box<dyn FnOnce(Box<dyn Engine>) -> Box<dyn Engine> + 'a>;

/// A source of draws: a [`Drawing`], or a capture of command streams.
pub trait Draws: fmt::Debug + Send + Sync {
    /// The number of the first draw, as people count: 0, or 1 for captures.
    fn first(&self) -> usize {
        0
    }

    /// How many draws there are, where that is known before they are drawn.
    fn count(&self) -> Option<usize> {
        None
    }

    /// Columns and rows of the targets, where known before drawing.
    fn size(&self) -> Option<[u32; 2]> {
        None
    }

    /// Draws, on one thread, on the engine that `wrap` makes. `notice` is called with each launch before it runs, with the number of its draw from 0
    /// on. Draws after draw `last` may be left out. A fault of a program ends drawing and is not an error here: the watcher has seen it.
    ///
    /// # Errors
    /// The source is invalid.
    fn draw(&self, wrap: Wrap<'_>, notice: Arc<NoticeFn>, last: Option<usize>) -> Result<(), JobError>;

    /// Draws on an engine, at full speed; `behind` is called after each draw, and nothing is drawn after a break.
    ///
    /// # Errors
    /// The source is invalid, or a draw of a [`Drawing`] fails.
    fn targets(&self, engine: Box<dyn Engine>, behind: &mut BehindFn<'_>) -> Result<(), JobError>;

    /// Each draw in one line, for people.
    ///
    /// # Errors
    /// The source is invalid.
    fn list(&self) -> Result<Vec<String>, JobError>;

    /// Draws on an engine, and inspects each draw: where its primitives and pixels end, and the history of a pixel, if one is named.
    ///
    /// # Errors
    /// The source is invalid, or a draw of a [`Drawing`] fails.
    fn inspect(&self, engine: Box<dyn Engine>, at: Option<[u32; 2]>) -> Result<Vec<InspectedDraw>, JobError>;

    /// The program of a launch of a draw, from 0, with the text that it came from, where that is known.
    fn with_text(&self, _draw: usize, program: PassProgram) -> PassProgram {
        program
    }

    /// The GLSL that a program of a draw, from 0, was compiled from, where that is known.
    ///
    /// # Errors
    /// The source names a file of it that cannot be read.
    fn glsl(&self, _draw: usize, _stage: DrawStage) -> Result<Option<GlslLines>, JobError> {
        Ok(None)
    }
}

/// An inspected draw.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectedDraw {
    /// The draw, as in [`Draws::list`].
    pub name: String,
    /// Where primitives and pixels ended; `None`: it failed.
    pub funnel: Option<Funnel>,
    /// Its primitives in the window, in order.
    pub primitives: Vec<Outline>,
    /// Fragments of the pixel, in order.
    pub fragments: Vec<Fragment>,
}

/// Called after a draw with its number, from 0 on, and a function that reads its targets: colours by number, then depths, then stencil values.
pub type BehindFn<'a> =
    dyn FnMut(usize, &mut dyn FnMut() -> Result<Vec<TargetContents>, JobError>) -> ControlFlow<()> + 'a;

/// The contents of a target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetContents {
    /// `colour0` to `colour7`, `depth` or `stencil`.
    pub name: String,
    /// Columns and rows.
    pub size: [u32; 2],
    /// How many channels count: 4 of colours, otherwise 1.
    pub channels: usize,
    /// Bits of each pixel, row by row.
    pub texels: Vec<[u32; 4]>,
    /// The bits are integers, not floats.
    pub integers: bool,
}

impl TargetContents {
    /// It as numbers; integers by their value.
    #[must_use]
    pub fn array(&self) -> Array {
        #[allow(clippy::cast_precision_loss, reason = "to be looked at")]
        let value = |bits: u32| if self.integers { bits as f32 } else { f32::from_bits(bits) };
        let values = self.texels.iter().flat_map(|texel| texel.iter().take(self.channels).map(|&bits| value(bits)));
        let [width, height] = self.size.map(|side| side as usize);
        Array { width, height, channels: self.channels, values: Values::F32(values.collect()) }
    }

    /// The targets of a drawing.
    fn of(drawn: &Drawn) -> Vec<Self> {
        let size = drawn.size;
        let one = |name: &str, bits: Vec<u32>, integers| {
            let texels = bits.into_iter().map(|bits| [bits, 0, 0, 0]).collect::<Vec<_>>();
            (!texels.is_empty()).then(|| Self { name: name.to_owned(), size, channels: 1, texels, integers })
        };
        let colours = drawn.targets.iter().map(|target| Self {
            name: format!("colour{}", target.number),
            size,
            channels: 4,
            texels: target.texels().collect(),
            integers: target.format().number.is_integer(),
        });
        let depths = one("depth", drawn.depths.iter().map(|depth| depth.to_bits()).collect(), false);
        let stencils = one("stencil", drawn.stencils.iter().map(|&value| value.into()).collect(), true);
        colours.chain(depths).chain(stencils).collect()
    }
}

impl Draws for Drawing {
    fn count(&self) -> Option<usize> {
        Some(self.draws.len())
    }

    fn size(&self) -> Option<[u32; 2]> {
        Some(self.size)
    }

    fn draw(&self, wrap: Wrap<'_>, notice: Arc<NoticeFn>, _: Option<usize>) -> Result<(), JobError> {
        let mut prepared = self.prepare().map_err(failed)?;
        prepared.watch(wrap, notice);
        match prepared.draw(0.0) {
            Ok(_) | Err(Error::Draw(_, DrawError::Program { .. })) => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    fn targets(&self, engine: Box<dyn Engine>, behind: &mut BehindFn<'_>) -> Result<(), JobError> {
        let mut prepared = self.prepare().map_err(failed)?;
        prepared.run_on(engine);
        let mut behind = |draw: usize, look: &mut dyn FnMut() -> Result<Drawn, Error>| {
            behind(draw, &mut || look().map(|drawn| TargetContents::of(&drawn)).map_err(failed))
        };
        prepared.draw_behind(0.0, &mut behind).map(|_| ()).map_err(failed)
    }

    fn inspect(&self, engine: Box<dyn Engine>, at: Option<[u32; 2]>) -> Result<Vec<InspectedDraw>, JobError> {
        let drawing = Self { at, funnel: true, ..self.clone() };
        let mut prepared = drawing.prepare().map_err(failed)?;
        prepared.run_on(engine);
        let drawn = prepared.draw(0.0).map_err(failed)?;
        let mut inspected: Vec<InspectedDraw> = self
            .list()?
            .into_iter()
            .zip(drawn.funnels)
            .map(|(name, (funnel, primitives))| InspectedDraw {
                name,
                funnel: Some(funnel),
                primitives,
                fragments: Vec::new(),
            })
            .collect();
        for event in drawn.events {
            if let Some(of) = inspected.get_mut(event.number) {
                of.fragments.push(event.fragment);
            }
        }
        Ok(inspected)
    }

    fn list(&self) -> Result<Vec<String>, JobError> {
        let line = |(number, draw): (usize, &DrawPlan)| {
            let name = draw.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
            let mesh = match &draw.mesh {
                MeshSource::Named(mesh) => format!(": {mesh}"),
                MeshSource::Given(_) => String::new(),
            };
            format!("draw {number}{name}{mesh}")
        };
        Ok(self.draws.iter().enumerate().map(line).collect())
    }

    fn with_text(&self, draw: usize, program: PassProgram) -> PassProgram {
        match self.draws.get(draw) {
            Some(plan) => super::source::sourced(&plan.programs, program),
            None => program,
        }
    }

    fn glsl(&self, draw: usize, stage: DrawStage) -> Result<Option<GlslLines>, JobError> {
        let Some(plan) = self.draws.get(draw).filter(|plan| !plan.glsl.is_empty()) else { return Ok(None) };
        super::source::glsl(plan, stage)
    }
}

/// A launch that is about to run.
struct Coming {
    draw: usize,
    domain: Domain,
    lanes: Vec<Lane>,
}

/// Results of the launches so far.
#[derive(Default)]
struct Seen {
    launches: u64,
    /// Draws so far.
    draws: usize,
    /// Fragments, or invocations, that match the request.
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

/// A pixel or a vertex that does not match the request: a helper, or the same pixel of another primitive.
const OTHER: Position = Position { i: u32::MAX, j: u32::MAX };

fn lanes(domain: Domain) -> impl Iterator<Item = Position> + Clone {
    (domain.j0..=domain.j1).flat_map(move |j| (domain.i0..=domain.i1).map(move |i| Position { i, j }))
}

/// The lane of a pixel or a vertex: of all draws or of draw `pass` the last one, or the one with the number `launch` among them. Without `at` the last launch, as its
/// first lane.
pub(crate) fn choose(
    draws: &dyn Draws,
    stage: DrawStage,
    choice: Choice,
    at: Option<Position>,
) -> Result<Chosen, JobError> {
    let first = draws.first();
    let no_draw = |pass: usize, count: usize| {
        let (pass, last) = (pass + first, (count + first).saturating_sub(1));
        wrong("no-such-launch", format!("there is no draw {pass}, there are draws {first} to {last}"))
    };
    if let (Some(pass), Some(count)) = (choice.pass, draws.count())
        && pass >= count
    {
        return Err(no_draw(pass, count));
    }
    if at.is_none() && choice.launch.is_some() {
        return Err(wrong("no-such-launch", "--launch counts the fragments of one pixel, and no pixel is named"));
    }
    let seen = Arc::new(Mutex::new(Seen::default()));
    let hears = Arc::clone(&seen);
    let notice = move |draw: usize, launch: &LaunchNotice<'_>| {
        let mut found = Vec::new();
        if launch.stage == stage.name() && choice.pass.is_none_or(|pass| pass == draw) {
            let all = || lanes(launch.domain);
            let mut meant: Vec<Position> =
                all().filter(|&lane| at.is_none_or(|at| launch.place(lane) == at) && launch.counts(lane)).collect();
            meant.truncate(if at.is_some() { usize::MAX } else { 1 });
            for lane in meant {
                // Other lanes of the same pixel are those of other primitives.
                let name = |of: Position| match launch.place(of) {
                    place if place == launch.place(lane) && of != lane => OTHER,
                    place => place,
                };
                found.push(Lane { lane, names: all().map(|of| (of, name(of))).collect() });
            }
        }
        let mut seen = lock(&hears);
        seen.draws = seen.draws.max(draw + 1);
        seen.coming = Some(Coming { draw, domain: launch.domain, lanes: found });
    };
    let noting = Arc::clone(&seen);
    let wrap = move |inner| -> Box<dyn Engine> { Box::new(Choosing { inner, seen: noting, launch: choice.launch }) };
    draws.draw(Box::new(wrap), Arc::new(notice), choice.pass)?;
    let mut seen = lock(&seen);
    let (found, count) = (seen.found, seen.draws);
    if let Some(chosen) = seen.chosen.take() {
        let glsl = draws.glsl(chosen.pass, stage)?.map(Arc::new);
        return Ok(Chosen { program: draws.with_text(chosen.pass, chosen.program), glsl, ..chosen });
    }
    if let Some(pass) = choice.pass.filter(|&pass| pass >= count && draws.count().is_none()) {
        return Err(no_draw(pass, count));
    }
    let what = match (stage, at) {
        (_, None) => "anything".to_owned(),
        (DrawStage::Pixel, Some(at)) => format!("pixel ({}, {})", at.i, at.j),
        (DrawStage::Vertex, Some(at)) => format!("vertex {} of instance {}", at.i, at.j),
    };
    let name = stage.name();
    Err(wrong(
        "no-such-launch",
        match choice.launch {
            Some(n) if found > 0 => {
                format!("the {name} program runs {found} times for {what}, there is no time {n}")
            }
            _ => format!("the {name} program does not run for {what}"),
        },
    ))
}

/// Shows the chosen launch to a watcher, with lanes as pixels or vertices.
pub(crate) fn watch(
    draws: &dyn Draws,
    chosen: &Chosen,
    watcher: impl Watcher + Send + 'static,
) -> Result<(), JobError> {
    let Some(lane) = chosen.lane.clone() else {
        return Err(wrong("no-such-launch", "the launch is not one of a drawing"));
    };
    let watcher = Renamed { lane, watcher };
    let which = chosen.which;
    let wrap = move |inner| crate::choice::watching(inner, which, watcher);
    draws.draw(Box::new(wrap), Arc::new(|_, _| {}), Some(chosen.pass))
}

/// Shows all launches of a stage of the chosen draw to a watcher, with lanes as pixels or vertices; helpers are called (4294967295, 4294967295).
pub(crate) fn watch_all(
    draws: &dyn Draws,
    stage: DrawStage,
    chosen: &Chosen,
    watcher: impl Watcher + Send + 'static,
) -> Result<(), JobError> {
    let coming = Arc::new(Mutex::new(None));
    let (hears, wanted) = (Arc::clone(&coming), chosen.pass);
    let notice = move |draw: usize, launch: &LaunchNotice<'_>| {
        let name = |of: Position| if launch.counts(of) { launch.place(of) } else { OTHER };
        let names = || lanes(launch.domain).map(|of| (of, name(of))).collect();
        *lock(&hears) = (draw == wanted && launch.stage == stage.name()).then(names);
    };
    let watcher = Mutex::new(watcher);
    let wrap = move |inner| -> Box<dyn Engine> { Box::new(Every { inner, coming, watcher }) };
    draws.draw(Box::new(wrap), Arc::new(notice), Some(wanted))
}

/// The domain of all pixels, or of all vertices, of the chosen draw, and how many lanes its launches have.
pub(crate) fn domain(draws: &dyn Draws, stage: DrawStage, chosen: &Chosen) -> Result<(Domain, u64), JobError> {
    let last = Arc::new(Mutex::new(([0u32; 2], 0u64)));
    let (hears, wanted) = (Arc::clone(&last), chosen.pass);
    let notice = move |draw: usize, launch: &LaunchNotice<'_>| {
        if draw == wanted && launch.stage == stage.name() {
            let mut last = lock(&hears);
            last.1 += launch.domain.processors();
            let last = &mut last.0;
            for of in lanes(launch.domain).filter(|&of| launch.counts(of)).map(|of| launch.place(of)) {
                *last = [last[0].max(of.i), last[1].max(of.j)];
            }
        }
    };
    draws.draw(Box::new(|inner| inner), Arc::new(notice), Some(wanted))?;
    let ([i1, j1], lanes) = *lock(&last);
    let domain = match (draws.size(), stage) {
        (Some([width, height]), DrawStage::Pixel) => {
            Domain { i0: 0, j0: 0, i1: width.saturating_sub(1), j1: height.saturating_sub(1) }
        }
        _ => Domain { i0: 0, j0: 0, i1, j1 },
    };
    Ok((domain, lanes))
}

/// A watcher of one lane, with lanes renamed to pixels or vertices.
struct Renamed<W> {
    lane: Lane,
    watcher: W,
}

fn renamed(names: &HashMap<Position, Position>, positions: &[Position]) -> Vec<Position> {
    positions.iter().map(|at| names.get(at).copied().unwrap_or(*at)).collect()
}

impl<W: Watcher> Watcher for Renamed<W> {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.lane.lane) {
            self.watcher.wish(&renamed(&self.lane.names, positions))
        } else {
            Wish::Skip
        }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let names = renamed(&self.lane.names, unit.positions());
        unit.rename(names);
        self.watcher.watch(unit)
    }
}

/// A watcher of all lanes of a launch, with lanes renamed to pixels or vertices.
struct AllRenamed<'a, W> {
    names: HashMap<Position, Position>,
    watcher: &'a mut W,
}

impl<W: Watcher> Watcher for AllRenamed<'_, W> {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        self.watcher.wish(&renamed(&self.names, positions))
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let names = renamed(&self.names, unit.positions());
        unit.rename(names);
        self.watcher.watch(unit)
    }
}

/// An engine that shows every launch with names to a watcher.
struct Every<W> {
    inner: Box<dyn Engine>,
    coming: Arc<Mutex<Option<HashMap<Position, Position>>>>,
    watcher: Mutex<W>,
}

impl<W: Watcher + Send> Engine for Every<W> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        let coming = lock(&self.coming).take();
        match coming {
            None => self.inner.run_x1k_under(control, launch, memory),
            Some(names) => Interp.watch_x1k_under(
                control,
                launch,
                memory,
                &mut AllRenamed { names, watcher: &mut *lock(&self.watcher) },
            ),
        }
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        let coming = lock(&self.coming).take();
        match coming {
            None => self.inner.run_r700_under(control, launch, memory),
            Some(names) => Interp.watch_r700_under(
                control,
                launch,
                memory,
                &mut AllRenamed { names, watcher: &mut *lock(&self.watcher) },
            ),
        }
    }
}

/// An engine that counts launches and records the chosen one.
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
                seen.chosen = Some(Chosen { pass: draw, which, domain, program: program(), glsl: None, lane });
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

    fn run_pvs_under(&self, control: &Control, launch: &pvs::PvsLaunch<'_>) -> Result<Vec<pvs::Outputs>, Fault> {
        self.inner.run_pvs_under(control, launch)
    }
}
