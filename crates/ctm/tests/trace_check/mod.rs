//! A small checker of traces: operand values through the reference functions must give the recorded results. It shares nothing with the recorder:
//! operands come from the words and from the values that were read.
#![allow(dead_code, reason = "each test uses its part")]

pub mod r700;
pub mod x1k;

use ctm::job::{AnyProgram, Job, Reader};
use ctm::trace::observe::{Event, Frame, LaneEvent, Place};
use ctm::trace::{Choice, Limits, Trace};
use ctm_exec::Position;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every example and every program of the corpus.
pub fn jobs() -> Vec<PathBuf> {
    let mut jobs = Vec::new();
    for folder in ["examples", "examples/r700", "tests/corpus/mesa/x1k", "tests/corpus/mesa/r700", "tests/corpus/llvm"]
    {
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

/// The results of an instruction for a lane, as far as the checker knows the instruction: the bits of each write.
pub fn results(
    program: &AnyProgram,
    trace: &Trace,
    event: &Event,
    lane: &LaneEvent,
    al: i32,
) -> Option<Vec<Option<u32>>> {
    match program {
        AnyProgram::X1k(program) => x1k::results(program, event, lane, al, &trace.positions),
        AnyProgram::R700(program) if !event.at.fetch => r700::results(program, event, lane),
        AnyProgram::R700(_) => None,
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
            let index = |frame: &Frame| if let Frame::Loop { index, .. } = frame { *index } else { None };
            self.0.insert(event.wave, flow.stack.iter().rev().find_map(index).unwrap_or(0));
        }
    }
}

/// What was checked of a trace.
#[derive(Default, Debug)]
pub struct Tally {
    pub results: usize,
    pub reads: usize,
}

fn is_shadowed(place: Place) -> bool {
    !place.is_memory() && !place.is_constant()
}

/// Checks every instruction of a trace: reads give what was written last, results are what the reference functions make of the operands.
pub fn check(name: &str, program: &AnyProgram, trace: &Trace) -> Tally {
    let mut tally = Tally::default();
    let mut shadow: HashMap<(u16, Place), u32> = HashMap::new();
    let mut loops = Loops::default();
    for step in &trace.steps {
        let event = &step.event;
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
            if let Some(results) = results(program, trace, event, lane, loops.before(event)) {
                for (write, result) in lane.writes.iter().zip(results) {
                    if let Some(bits) = result {
                        let text = trace.listing.text(event.at);
                        let (time, place) = (step.time, write.place);
                        assert_eq!(
                            write.bits, bits,
                            "{name}, time {time}, lane {}: {place} of `{text}`, from {:?}",
                            lane.lane, lane.reads
                        );
                        tally.results += 1;
                    }
                }
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
        loops.after(event);
    }
    tally
}
