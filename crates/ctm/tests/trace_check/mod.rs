//! A small checker of traces: operand values through the reference functions must give the recorded results. It shares nothing with the recorder:
//! operands come from the words and from the values that were read.
#![allow(dead_code, reason = "each test uses its part")]

pub mod fetches;
pub mod r700;
pub mod x1k;

use ctm::job::{AnyProgram, Job, Reader};
use ctm::trace::observe::{Event, LaneEvent, Place, StackFrame, Unit, Watcher, Wish};
use ctm::trace::{Choice, Limits, Listing, Trace, watching};
use ctm_exec::{Fault, Position};
use ctm_isa::r700::inst::{ClauseBody, Fetch};
use fetches::{Bound, Fetches, Noting};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folders of examples and of the corpus.
const FOLDERS: [&str; 7] = [
    "examples",
    "examples/r700",
    "tests/corpus/mesa/x1k",
    "tests/corpus/mesa/r700",
    "tests/corpus/llvm",
    "tests/corpus/compiled/x1k",
    "tests/corpus/compiled/r700",
];

/// Every example and every program of the corpus.
pub fn jobs() -> Vec<PathBuf> {
    let mut jobs = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(root().join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            let job = if path.is_dir() { path.join("job.toml") } else { path };
            if job.extension().is_some_and(|e| e == "toml") && job.is_file() {
                jobs.push(job);
            }
        }
    }
    jobs.sort();
    jobs
}

pub fn read(path: &Path) -> Job {
    Reader::for_file(path).and_then(Reader::finish).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// A trace of the last launch at a processor.
pub fn trace(job: &Job, at: Position) -> Trace {
    Trace::of_job(job, Choice::default(), at, &Limits::default()).unwrap_or_else(|e| panic!("{e}"))
}

struct Recorder {
    at: Position,
    limits: Limits,
    pass: usize,
    listing: Arc<Listing>,
    trace: Arc<Mutex<Option<Trace>>>,
}

impl Watcher for Recorder {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.at) { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let trace = Trace::record(unit, self.at, &self.limits, self.pass, Arc::clone(&self.listing));
        *self.trace.lock().unwrap() = Some(trace);
        Ok(ControlFlow::Break(()))
    }
}

/// A trace of the last launch at a processor, and the memory of its fetches; `None` where the processor does not run.
pub fn traced(job: &Job, at: Position, limits: &Limits) -> Option<(Trace, Fetches)> {
    let (pass, which) = Choice::default().resolve(job, Some(at)).unwrap_or_else(|e| panic!("{e}"));
    let (trace, bound) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(Bound::default())));
    let program = job.programs().unwrap().swap_remove(pass);
    let listing = Arc::new(Listing::new(&program));
    let recorder = Recorder { at, limits: limits.clone(), pass, listing, trace: Arc::clone(&trace) };
    let inner = watching(job.run.engine.value.engine().unwrap(), which, recorder);
    let noting = Noting { inner, which, seen: Mutex::new(0), bound: Arc::clone(&bound) };
    // The watcher ends the launch, which is a fault.
    let _ = job.without_files().run_on(Box::new(noting), |_| {});
    let trace: Trace = trace.lock().unwrap().take()?;
    let decoded = match &program.program {
        AnyProgram::R700(program) => Some(program.decode()),
        AnyProgram::X1k(_) => None,
    };
    let fetches = Fetches::new(decoded, bound.lock().unwrap().clone(), trace.positions.len());
    Some((trace, fetches))
}

/// The fetch of an event of R700.
fn fetch_of(fetches: &Fetches, event: &Event) -> Option<Fetch> {
    let (Some(item), false) = (event.at.item, event.at.fetch) else { return None };
    match &fetches.decoded.as_ref()?.at(event.at.pc)?.clause {
        ClauseBody::Fetch(clause) => clause.fetches.get(usize::from(item))?.inst.as_ref().ok().map(|inst| inst.fetch),
        _ => None,
    }
}

/// The results of an instruction for a lane, as far as the checker knows the instruction: the bits of each write.
pub fn results(
    program: &AnyProgram,
    trace: &Trace,
    event: &Event,
    lane: &LaneEvent,
    al: i32,
    fetches: &Fetches,
) -> Option<Vec<Option<u32>>> {
    match program {
        AnyProgram::X1k(program) => x1k::results(program, event, lane, al, &trace.positions, &fetches.bound),
        AnyProgram::R700(_) if event.at.fetch => None,
        AnyProgram::R700(_) => match fetch_of(fetches, event) {
            Some(fetch) => fetches.results(&fetch, lane),
            None => r700::results(fetches.decoded.as_ref()?, event, lane),
        },
    }
}

/// aL of each wavefront while a trace goes on.
#[derive(Default)]
pub struct Loops(HashMap<u16, i32>);

impl Loops {
    pub fn before(&self, event: &Event) -> i32 {
        self.0.get(&event.wave).copied().unwrap_or(0)
    }

    pub fn after(&mut self, event: &Event) {
        if let Some(flow) = &event.flow {
            let index = |frame: &StackFrame| if let StackFrame::Loop { index, .. } = frame { *index } else { None };
            self.0.insert(event.wave, flow.stack.iter().rev().find_map(index).unwrap_or(0));
        }
    }
}

/// Counts of checks of a trace.
#[derive(Default, Debug)]
pub struct Tally {
    pub results: usize,
    pub reads: usize,
    /// Results of fetches, among those.
    pub fetched: usize,
    /// Results of 64-bit operations.
    pub doubles: usize,
    /// Results that the checker has no function for.
    pub unknown: usize,
}

fn is_shadowed(place: Place) -> bool {
    !place.is_memory() && !place.is_constant()
}

fn is_lookup(lane: &LaneEvent) -> bool {
    lane.reads.iter().any(|read| matches!(read.place, Place::Element { .. }))
}

/// Checks every instruction of a trace: reads give the last write, results are those of the reference functions for the operands.
pub fn check(name: &str, program: &AnyProgram, trace: &Trace, fetches: &mut Fetches) -> Tally {
    let mut tally = Tally::default();
    let mut shadow: HashMap<(u16, Place), u32> = HashMap::new();
    let mut loops = Loops::default();
    for step in &trace.steps {
        let event = &step.event;
        let fetch = fetch_of(fetches, event);
        let text = trace.listing.text(event.at);
        let doubles = text.contains("64");
        for lane in &event.lanes {
            for read in lane.reads.iter().filter(|read| is_shadowed(read.place)) {
                if read.place.is_of_clause() && !shadow.contains_key(&(read.lane, read.place)) {
                    continue;
                }
                let known = *shadow.entry((read.lane, read.place)).or_insert(read.bits);
                assert_eq!(
                    known, read.bits,
                    "{name}, time {}: {} is read by lane {}",
                    step.time, read.place, lane.lane
                );
                tally.reads += 1;
            }
        }
        for lane in &event.lanes {
            if let Some(results) = results(program, trace, event, lane, loops.before(event), fetches) {
                for (write, result) in lane.writes.iter().zip(results) {
                    if let Some(bits) = result {
                        let (time, place) = (step.time, write.place);
                        assert_eq!(
                            write.bits, bits,
                            "{name}, time {time}, lane {}: {place} of `{text}`, from {:?}",
                            lane.lane, lane.reads
                        );
                        tally.results += 1;
                        tally.fetched += usize::from(fetch.is_some() || is_lookup(lane));
                        tally.doubles += usize::from(doubles && fetch.is_none());
                    } else {
                        tally.unknown += 1;
                    }
                }
            } else {
                tally.unknown += lane.writes.len();
            }
            for write in
                lane.writes.iter().filter(|write| is_shadowed(write.place) && !matches!(write.place, Place::Share(_)))
            {
                if let Some(&known) = shadow.get(&(lane.lane, write.place)).filter(|_| !write.place.is_of_clause()) {
                    assert_eq!(known, write.old, "{name}, time {}: {} before", step.time, write.place);
                }
                shadow.insert((lane.lane, write.place), write.bits);
            }
            for write in lane.writes.iter().filter(|write| matches!(write.place, Place::Share(_))) {
                (0..trace.positions.len() as u16).for_each(|lane| {
                    shadow.insert((lane, write.place), write.bits);
                });
            }
        }
        if event.at.item.is_none() {
            shadow.retain(|(_, place), _| !place.is_of_clause());
        }
        if let Some(fetch) = &fetch {
            fetches.after(fetch, event);
        }
        loops.after(event);
    }
    tally
}
