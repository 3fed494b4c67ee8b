//! Streams: launches of uniform programs whose fetches read at linear functions of the index pair with integer results.
//!
//! Such a launch needs no masks and no coordinates: see `compile/stream` for the stages that make its code. Groups do not matter to it, so tiles are cut to suit the machine. Its counters
//! are known beforehand.
//!
//! Where a tile's fetches reach beyond an input, it reads a copy that is extended beyond the edge.

use crate::codegen::x86::X86Target;
use crate::codegen::x86::stream::{
    Chosen, Frame, Geometry, InputView, Kernel, KernelOptions, OutputView, PanelPart, Rect, Surfaces, Tile, is_local,
};
use crate::compile::observe::Observer;
use crate::compile::stream::{Inputs, Selected, kernel};
use crate::compile::stream_code;
use crate::launch::direct::cells_of;
use crate::launch::wavefronts::places::Waves;
use crate::passes::table::Pass;
use crate::runtime::options::{LoweringOptions as EngineOptions, StreamLimits};
use crate::runtime::wavefronts::Wavefronts;
use crate::runtime::work::{share, threads};
use crate::stream::affine::{Fetch, LaunchParameters};
use crate::stream::uniform::Uniform;
use ctm_exec::arrays::Form;
use ctm_exec::r700::Cells;
use ctm_exec::watch;
use ctm_exec::x1k::{Elements, Plane};
use ctm_exec::{Counters, Domain, Position};
use ctm_isa::x1k::INPUTS;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The least instructions of one processor with which few processors pay, too.
const LONG: u64 = 64;
/// Programs for streams that one artifact remembers.
const REMEMBERED: usize = 8;
/// Tasks for each core that rows of tiles are cut into.
const TASKS_PER_CORE: u64 = 16;
/// The least work of a task, in operations of single processors.
const OPERATIONS_OF_TASK: u64 = 1 << 15;
/// The most work of a task: the stop flag is tested between two tasks.
const OPERATIONS_PER_LOOK: u64 = 1 << 31;
/// The most operations of a processor: a tile cannot be stopped.
const OPERATIONS_OF_PROCESSOR: u64 = 1 << 20;

/// The parameters that a stream's code depends on.
#[derive(Clone, PartialEq)]
struct Key {
    planes: Vec<Plane>,
    geometry: Geometry,
    /// Columns of the domain, as far as they limit tiles.
    columns: u32,
}

/// A candidate that was tried.
struct Candidate {
    key: Key,
    /// Components of floating-point constants that it depends on, and their bits.
    constants: Vec<(u16, u32)>,
    stream: Option<Arc<Stream>>,
}

/// The programs for streams made from one program.
pub struct Streams {
    entries: Mutex<Vec<Candidate>>,
    limits: StreamLimits,
    /// Launches that were run as streams.
    ran: Arc<AtomicU64>,
}

/// A program for streams.
struct Stream {
    /// Components of constants that it depends on, and their bits.
    constants: Vec<(u16, u32)>,
    /// The program with its instructions chosen.
    chosen: Chosen,
    tile: Tile,
    /// Tiles run down a column: the rows of a tile read the same, and so do those below it.
    downwards: bool,
    kernels: Mutex<Vec<(KernelOptions, Option<Arc<Kernel>>)>>,
    past_caches_bytes: u64,
    /// Operations of one processor.
    operations: u64,
}

impl Streams {
    /// An empty list.
    pub fn new(options: &EngineOptions) -> Self {
        Self { entries: Mutex::default(), limits: options.limits, ran: Arc::clone(&options.streams_run) }
    }

    /// Whether a stream pays: many processors, or few with long programs. `instructions`: the most that each issues, if
    /// that is known.
    pub fn take(&self, domain: Domain, instructions: Option<u64>) -> bool {
        let (processors, enough) = (domain.processors(), self.limits.processors);
        let all = processors.saturating_mul(instructions.unwrap_or(u64::MAX));
        (processors >= enough || all >= enough.saturating_mul(LONG)) && Pass::Streams.is_on()
    }

    /// Whether a stream pays, and stays within the instruction budget.
    pub fn takes(&self, of: &Wavefronts<'_>, uniform: &Uniform) -> bool {
        self.take(of.domain, Some(uniform.instructions)) && uniform.instructions <= of.fuel
    }

    fn get(
        &self,
        target: X86Target,
        key: &Key,
        uniform: &Uniform,
        given: &LaunchParameters<'_>,
    ) -> Option<Arc<Stream>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |entry: &&Candidate| {
            entry.key == *key && entry.constants.iter().all(|&(index, bits)| given.constant(index) == bits)
        };
        if let Some(entry) = entries.iter().find(holds) {
            return entry.stream.clone();
        }
        if entries.len() >= REMEMBERED {
            entries.remove(0);
        }
        let inputs = Inputs { target, uniform, given, geometry: key.geometry, columns: key.columns };
        let selected = stream_code(&inputs, &mut Observer::of_environment());
        let stream = selected.map(|of| Arc::new(Stream::new(of, key.columns, self.limits)));
        let constants = match &stream {
            Some(stream) => stream.constants.clone(),
            // Other constants might suit.
            None => (0..=u16::MAX).zip(given.constants.iter().copied()).collect(),
        };
        entries.push(Candidate { key: key.clone(), constants, stream: stream.clone() });
        stream
    }
}

impl Stream {
    fn new(of: Selected, columns: u32, limits: StreamLimits) -> Self {
        let Selected { constants, chosen, operations } = of;
        let (tile, downwards, kernels) = (chosen.tile(columns), chosen.shares_rows(), Mutex::default());
        let past_caches_bytes = limits.past_caches_bytes;
        Self { constants, chosen, tile, downwards, kernels, past_caches_bytes, operations }
    }

    fn kernel(&self, options: KernelOptions) -> Option<Arc<Kernel>> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, kernel)) = kernels.iter().find(|(o, _)| *o == options) {
            return kernel.clone();
        }
        let kernel = kernel(&self.chosen, options, &mut Observer::of_environment()).map(Arc::new);
        kernels.push((options, kernel.clone()));
        kernel
    }

    fn fetches(&self) -> impl Iterator<Item = &Fetch> {
        self.chosen.prepared.fetches.iter().flatten()
    }
}

/// The kernel for the launch's domain, for measurements.
#[cfg(all(test, unix, target_arch = "x86_64"))]
pub fn compile(
    target: X86Target,
    uniform: &Uniform,
    launch: &ctm_exec::x1k::Launch<'_>,
    geometry: Geometry,
) -> Option<Arc<Kernel>> {
    let columns = launch.domain.width().min(64);
    let key = Key { planes: launch.planes.to_vec(), geometry, columns };
    let streams = Streams::new(&EngineOptions::default());
    let stream = streams.get(target, &key, uniform, &LaunchParameters::of(launch, None))?;
    stream.kernel(KernelOptions { tile: stream.tile, past_caches: false })
}

/// An output for a stream; `None` when streams do not support it, or some channel is masked.
pub fn output(of: Elements<Cells<'_>>, Domain { i1, j1, .. }: Domain) -> Option<OutputView<'_>> {
    let shape = of.with(());
    OutputView::of(&shape.with(cells_of(of.bytes)?), Position { i: i1, j: j1 })
}

/// Runs a launch as a stream, and derives its counters, as every processor of these wavefronts executes every block
/// equally often; `None`, and no effect, when it is none. `count` turns block counts of wavefronts of a width into
/// counters.
pub fn run(
    streams: &Streams,
    of: &Wavefronts<'_>,
    uniform: &Uniform,
    given: &LaunchParameters<'_>,
    surfaces: &Surfaces<'_>,
    (waves, lanes): (&Waves<'_>, usize),
    count: impl Fn(&[u64], u64, &mut Counters),
) -> Option<Counters> {
    let target = of.backend.target()?;
    let domain = given.domain;
    let processors = domain.processors();
    let key = Key { planes: given.planes.to_vec(), geometry: Geometry::of(surfaces), columns: domain.width().min(64) };
    let stream = streams.get(target, &key, uniform, given)?;
    let mut surfaces = surfaces.clone();
    let whole = stream.whole(target, &surfaces);
    for (view, whole) in surfaces.inputs.iter_mut().zip(&whole) {
        if let (Some(view), Some((bytes, pitch))) = (view, whole) {
            *view = InputView { data: bytes, pitch: *pitch, form: Form::Floats, stored: None, ..view.clone() };
        }
    }
    if !stream.run_as_rows(given, &surfaces).unwrap_or_else(|| stream.run(given, &surfaces)) {
        return None;
    }
    streams.ran.fetch_add(1, Ordering::Relaxed);
    let outputs = surfaces.outputs.iter().flatten();
    let bytes = outputs.clone().map(OutputView::element_bytes).sum::<u64>();
    let mut counters = Counters {
        groups: waves.count(),
        processors,
        writes: outputs.count() as u64 * processors,
        write_bytes: bytes * processors,
        ..Counters::default()
    };
    // The last wavefront may be short.
    let full: Vec<u64> = uniform.visits.iter().map(|n| n * (counters.groups - 1)).collect();
    count(&full, lanes as u64, &mut counters);
    count(&uniform.visits, waves.lanes_of_last(), &mut counters);
    Some(counters)
}

/// Rows and columns of one kernel.
struct Area {
    kernel: Arc<Kernel>,
    rect: Rect,
    /// Columns of its one tile that another area covers, too.
    again: u32,
}

impl Stream {
    /// The numbers, row by row, of inputs with another layout that are read from everywhere, and their pitch.
    fn whole(&self, target: X86Target, surfaces: &Surfaces<'_>) -> [Option<(Vec<u8>, u32)>; INPUTS] {
        std::array::from_fn(|input| {
            let view = surfaces.inputs[input].as_ref()?;
            let fetches = self.fetches().filter(|fetch| usize::from(fetch.input) == input);
            view.stored.as_ref().filter(|_| !is_local(fetches, view)).map(|stored| {
                let (numbers, panel) =
                    stored.numbers(target.isa, view.data, &PanelPart { x: 0..view.width, y: 0..view.height });
                (numbers, panel.pitch as u32)
            })
        })
    }

    /// Runs whole tiles of arrays in memory order, and then the area around them, if all arrays have the same layout
    /// and processors compute only with the elements at their own places; `false` when something could not be run: then
    /// all has to be run otherwise.
    fn run_as_rows(&self, given: &LaunchParameters<'_>, surfaces: &Surfaces<'_>) -> Option<bool> {
        let Domain { i0, j0, i1, j1 } = given.domain;
        if !self.chosen.is_by_element() {
            return None;
        }
        let all = PanelPart { x: i0..i1 + 1, y: j0..j1 + 1 };
        let (whole, [columns, count], rows) = surfaces.as_rows(&all, self.columns())?;
        let domain = |PanelPart { x, y }: PanelPart| Domain { i0: x.start, j0: y.start, i1: x.end - 1, j1: y.end - 1 };
        let around = all.around(&whole).map(|part| (domain(part), surfaces));
        let whole = (Domain { i0: 0, j0: 0, i1: columns - 1, j1: count - 1 }, &rows);
        let mut done = 0;
        for (domain, surfaces) in around.chain([whole]) {
            if !self.run(&LaunchParameters { domain, ..*given }, surfaces) {
                given.watch.iter().for_each(|watch| watch.undone(done));
                return Some(false);
            }
            done += domain.processors();
        }
        Some(true)
    }

    /// Runs all tiles; `false` when something could not be run: then all has to be run otherwise.
    fn run(&self, given: &LaunchParameters<'_>, surfaces: &Surfaces<'_>) -> bool {
        let LaunchParameters { domain, watch, .. } = *given;
        if self.operations > OPERATIONS_OF_PROCESSOR {
            return false;
        }
        let Some(areas) = self.areas(domain, surfaces) else { return false };
        let large = self.is_large(domain, surfaces);
        // Work is cut by rows into tasks with a bounded number of operations.
        let processors = domain.processors();
        let cores = threads(given.threads) as u64;
        let operations = processors.saturating_mul(self.operations);
        let tasks = if self.downwards || cores == 1 { 1 } else { TASKS_PER_CORE * cores };
        let tasks = tasks.min(operations / OPERATIONS_OF_TASK).max(1);
        let each = (processors / tasks.max(operations.div_ceil(OPERATIONS_PER_LOOK))).max(1);
        let tasks = areas.iter().enumerate().flat_map(|(area, Area { kernel, rect, .. })| {
            let of_tile = u64::from(kernel.columns) * u64::from(kernel.options.tile.rows);
            let rows = (each / (of_tile * u64::from(rect.tiles))).clamp(1, rect.rows.into());
            let look = OPERATIONS_PER_LOOK / (rows * of_tile * self.operations).max(1);
            let tiles = if self.downwards { 1 } else { look.clamp(1, rect.tiles.into()) };
            kernel.cut(rect, [tiles as u32, rows as u32], u32::MAX).into_iter().map(move |rect| (area, rect))
        });
        let tasks: Vec<(usize, Rect)> = tasks.collect();
        let part = watch.map(|watch| watch.part(0));
        let (failed, told) = (AtomicBool::new(false), AtomicU64::new(0));
        let one = |frames: &mut Vec<Option<Frame>>, task: usize| {
            if failed.load(Ordering::Relaxed) {
                return;
            }
            let (area, rect) = tasks[task];
            let kernel = &areas[area].kernel;
            let frame = frames[area].get_or_insert_with(|| kernel.frame());
            if part.as_ref().is_some_and(watch::Part::is_stopped)
                || !kernel.run(frame, &rect, surfaces, given.constants, large)
            {
                failed.store(true, Ordering::Relaxed);
            }
            if let Some(watch) = watch {
                let rows = u64::from(rect.rows) * u64::from(kernel.options.tile.rows);
                let processors = rows * u64::from(rect.tiles * kernel.columns - areas[area].again);
                told.fetch_add(processors, Ordering::Relaxed);
                watch.done(processors);
            }
        };
        share(given.threads, tasks.len(), || areas.iter().map(|_| None).collect::<Vec<_>>(), one);
        let failed = failed.into_inner();
        if let Some(watch) = watch.filter(|_| failed) {
            watch.undone(told.into_inner());
        }
        !failed
    }

    /// Whether outputs are larger than the caches.
    fn is_large(&self, domain: Domain, surfaces: &Surfaces<'_>) -> bool {
        let bytes = surfaces.outputs.iter().flatten().map(OutputView::element_bytes).sum::<u64>();
        bytes * u64::from(domain.width()) * u64::from(domain.height()) >= self.past_caches_bytes
    }

    /// Columns of a tile.
    fn columns(&self) -> u32 {
        self.chosen.columns() * u32::from(self.tile.vectors)
    }

    /// The domain cut into areas, each with its kernel. Tiles are never cut, so some columns are computed twice.
    fn areas(&self, domain: Domain, surfaces: &Surfaces<'_>) -> Option<Vec<Area>> {
        let (columns, rows) = (self.columns(), u32::from(self.tile.rows));
        let large = self.is_large(domain, surfaces);
        // Tiles of which the first begins in this column.
        let large = large && self.chosen.stores_past_caches();
        let is_aligned = |i: u32| {
            surfaces.outputs.iter().flatten().all(|view| {
                let rows = [view.pitch, i, columns].map(|elements| view.element_bytes() * u64::from(elements));
                view.stored.is_none()
                    && (view.data.as_ptr() as u64).is_multiple_of(64)
                    && rows.iter().all(|bytes| bytes.is_multiple_of(64))
            })
        };
        let (across, down) = (domain.width() / columns, domain.height() / rows);
        let rest = domain.width() % columns;
        if across == 0 {
            return None;
        }
        let mut areas = Vec::new();
        for (j, rows, tile) in [
            (domain.j0, down, self.tile),
            (domain.j0 + down * rows, domain.height() % rows, Tile { rows: 1, ..self.tile }),
        ] {
            let last = (rest > 0).then(|| (domain.i1 + 1 - columns, 1, columns - rest));
            for (i, tiles, again) in [(domain.i0, across, 0)].into_iter().chain(last) {
                if rows > 0 && tiles > 0 {
                    let kernel = self.kernel(KernelOptions { tile, past_caches: large && is_aligned(i) })?;
                    areas.push(Area { kernel, rect: Rect { i, j, tiles, rows }, again });
                }
            }
        }
        Some(areas)
    }
}
