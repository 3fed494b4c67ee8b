//! Traces of every example and every corpus program: consistent in themselves, the same as the run, the same backwards as forwards.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::trace_check;

use ctm::job::{AnyProgram, Job, Reader};
use ctm::trace::observe::{At, Flow, Place, Unit, WatchedIsa, Watcher, Wish};
use ctm::trace::{Ancestry, Choice, Direction, Limits, Session, Stop, Subject, Trace, TraceError, watch_job};
use ctm_exec::r700::Target;
use ctm_exec::{Fault, Position};
use ctm_isa::r700::inst::ClauseBody;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};
use trace_check::{Tally, check, jobs, read, root, trace, traced};

fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// The pass that is traced, and two processors of its domain.
fn processors(job: &Job) -> (usize, [Position; 2]) {
    let (pass, _) = Choice::default().resolve(job, None).unwrap();
    let d = job.passes[pass].domain;
    let at = |share: u32| Position { i: d.i0 + (d.i1 - d.i0) * share / 16, j: d.j0 + (d.j1 - d.j0) * share / 16 };
    (pass, [at(3), at(9)])
}

#[test]
fn results_are_what_the_reference_functions_make_of_the_operands() {
    let mut all = Tally::default();
    let mut programs = 0;
    for path in jobs() {
        let (name, job) = (name(&path), read(&path));
        let (pass, positions) = processors(&job);
        for at in positions {
            let limits = Limits { instructions: 6000, ..Limits::default() };
            let Some((trace, mut fetches)) = traced(&job, at, &limits) else { continue };
            let program = &job.programs().unwrap()[pass].program;
            let tally = check(&name, program, &trace, &mut fetches);
            // One program of the corpus uses an unsupported feature.
            let faults = name.ends_with("11_indirect_ps.toml");
            assert!(trace.fault.is_some() == faults && !trace.steps.is_empty(), "{name}: {:?}", trace.fault);
            all.results += tally.results;
            all.reads += tally.reads;
            all.fetched += tally.fetched;
            all.doubles += tally.doubles;
            all.unknown += tally.unknown;
        }
        programs += 1;
    }
    println!("{programs} programs: {all:?}");
    assert!(programs >= 160, "{programs} programs");
    assert!(all.results > 500_000 && all.reads > 500_000, "{all:?}");
    assert!(all.fetched > 5000 && all.doubles > 2000, "{all:?}");
    // Bursts of exports, writes to memory, kills of pixels.
    assert!(all.unknown < all.results / 50, "{all:?}");
}

/// The instruction of a slot of the program's words; `None` for slots of the fetch program.
fn at_of_slots(program: &AnyProgram) -> HashMap<u32, At> {
    let mut found = HashMap::new();
    match program {
        AnyProgram::X1k(program) => {
            found.extend((0..).zip(&program.words).map(|(pc, _)| (pc, At { pc, ..At::default() })));
        }
        AnyProgram::R700(program) => {
            for entry in program.decode().entries {
                let at = At { pc: entry.addr, ..At::default() };
                found.insert(entry.addr, at);
                let Some((start, _)) = entry.cf.as_ref().ok().and_then(|cf| cf.clause()) else { continue };
                match &entry.clause {
                    ClauseBody::Alu(clause) => {
                        for (item, group) in (0..).zip(&clause.groups) {
                            for slot in 0..group.size() {
                                found.insert(start + group.offset + slot, At { item: Some(item), ..at });
                            }
                        }
                    }
                    ClauseBody::Fetch(clause) => {
                        for (item, slot) in (0..clause.fetches.len()).zip((start..).step_by(2)) {
                            found.insert(slot, At { item: u16::try_from(item).ok(), ..at });
                        }
                    }
                    ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => {}
                }
            }
        }
    }
    found
}

/// The live ranges of the program's text include every read of a run: no reader is missing on any path that was taken.
#[test]
fn live_ranges_hold_every_read_of_a_run() {
    let mut seen = 0;
    for path in jobs() {
        let (name, job) = (name(&path), read(&path));
        let (pass, positions) = processors(&job);
        let program = job.programs().unwrap().swap_remove(pass).program;
        let live = match &program {
            AnyProgram::X1k(program) => ctm_isa::x1k::check::live(program),
            AnyProgram::R700(program) => ctm_isa::r700::check::live(program),
        };
        assert!(!live.incomplete, "{name}");
        let at_of = at_of_slots(&program);
        let mut readers: HashMap<(At, u8, u8), HashSet<At>> = HashMap::new();
        for value in &live.values {
            for element in (0..4).filter(|e| value.mask >> e & 1 == 1) {
                let known = readers.entry((at_of[&value.slot], value.register, element)).or_default();
                known.extend(value.readers.iter().map(|slot| at_of[slot]));
            }
        }
        for at in positions {
            let limits = Limits { instructions: 3000, ..Limits::default() };
            let Ok(trace) = Trace::of_job(&job, Choice::default(), at, &limits) else { continue };
            let mut written: HashMap<(u16, u8, u8), At> = HashMap::new();
            for step in &trace.steps {
                for of in &step.event.lanes {
                    // A lane reads its neighbours' values, whether they wait or not (gradients).
                    for read in of.reads.iter().filter(|read| read.lane == of.lane) {
                        let (Place::Temp(n, e) | Place::Gpr(n, e)) = read.place else { continue };
                        let Some(from) = written.get(&(read.lane, n, e)) else { continue };
                        // Writes through an index have no range.
                        let Some(known) = readers.get(&(*from, n, e)) else { continue };
                        assert!(
                            known.contains(&step.event.at),
                            "{name}: {} of {from} read at {}",
                            read.place,
                            step.event.at
                        );
                        seen += 1;
                    }
                }
                for of in &step.event.lanes {
                    for write in &of.writes {
                        if let Place::Temp(n, e) | Place::Gpr(n, e) = write.place {
                            written.insert((of.lane, n, e), step.event.at);
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 100_000, "{seen}");
}

/// The last values of outputs, against the job's own outputs.
#[test]
fn the_last_values_are_the_outputs_of_the_run() {
    let mut compared = 0;
    for path in jobs() {
        let (name, mut job) = (name(&path), read(&path).without_files());
        // Outputs as they leave the program: four channels of single precision.
        let (pass, positions) = processors(&job);
        let four = Some(ctm::job::StoredForm::Device(ctm::mc::Format::Float32x4));
        job.passes[pass].outputs.iter_mut().for_each(|o| o.format = four);
        let Ok(report) = job.run(|_| {}) else { continue };
        for at in positions {
            let trace = match Trace::of_job(&job, Choice::default(), at, &Limits::default()) {
                Ok(trace) if !trace.cut => trace,
                Ok(_) | Err(TraceError::NotRun(_)) => continue,
                Err(e) => panic!("{name}: {e}"),
            };
            for (&(lane, place), &bits) in &trace.end {
                let (output, channel) = match place {
                    Place::Output(n, c) => (format!("o{n}"), c),
                    Place::Export(Target::Pixel(n), c) => (format!("pix{n}"), c),
                    Place::Export(Target::Parameter(n), c) => (format!("param{n}"), c),
                    _ => continue,
                };
                let last = trace.steps.iter().rev().find_map(|s| s.event.flow.as_ref().and_then(|f| f.lane(lane)));
                let at = trace.positions[lane];
                let Some(result) = report.outputs.iter().find(|o| o.name == output) else { continue };
                let (rect, channels) = (result.rect, result.channels);
                let inside =
                    (rect.x..rect.x + rect.width).contains(&at.i) && (rect.y..rect.y + rect.height).contains(&at.j);
                if !inside || usize::from(channel) >= channels || last.is_some_and(|of| !of.covered) {
                    continue;
                }
                // The conditional unit may keep an output back.
                if job.passes[pass].conditional().is_some() {
                    continue;
                }
                let array = report.array(result.slot).unwrap().to_f32();
                let element = ((at.j - rect.y) * rect.width + at.i - rect.x) as usize * channels + usize::from(channel);
                assert_eq!(array[element].to_bits(), bits, "{name}: {place} of ({}, {})", at.i, at.j);
                compared += 1;
            }
        }
    }
    assert!(compared > 5000, "{compared}");
}

/// All that can be asked of a session at a place.
fn state(session: &Session<'_, '_>, places: &[Place], lanes: usize) -> (Vec<Option<u32>>, Flow) {
    let values = (0..lanes).flat_map(|lane| places.iter().map(move |&place| (lane, place)));
    (values.map(|(lane, place)| session.value(lane, place)).collect(), session.flow(0))
}

struct BackAndForth {
    at: Position,
    name: String,
    steps: Arc<Mutex<u64>>,
}

impl Watcher for BackAndForth {
    fn wish(&mut self, positions: &[Position]) -> Wish {
        if positions.contains(&self.at) { Wish::Watch } else { Wish::Skip }
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let lanes = unit.positions().len().min(4);
        let mut places: Vec<Place> = Vec::new();
        let isa = unit.isa();
        for name in ["r0", "r1", "r2", "r3", "r4", "r5", "o0", "p", "res", "pix0", "valid"] {
            places.extend(Place::parse(isa, name).unwrap_or_default());
        }
        let mut session = Session::new(unit);
        let mut seen = vec![state(&session, &places, lanes)];
        while session.time() < 600 && session.step() == Stop::Reached {
            seen.push(state(&session, &places, lanes));
        }
        let end = session.time();
        for time in (0..end).rev() {
            assert_eq!(session.back(), Stop::Reached);
            assert_eq!(session.time(), time);
            assert!(state(&session, &places, lanes) == seen[time as usize], "{}: back at {time} of {end}", self.name);
        }
        assert_eq!(session.back(), Stop::Start);
        // Jumps, there and back.
        for time in [end / 2, 1, end, end / 3, end / 3 + 1] {
            assert_eq!(session.go_to(time), Stop::Reached, "{}: to {time}", self.name);
            assert!(state(&session, &places, lanes) == seen[time as usize], "{}: jump to {time}", self.name);
        }
        *self.steps.lock().unwrap() += end;
        Ok(ControlFlow::Break(()))
    }
}

#[test]
fn steps_back_give_the_same_states() {
    let steps = Arc::new(Mutex::new(0));
    for path in jobs() {
        let (name, job) = (name(&path), read(&path));
        let (_, positions) = processors(&job);
        let (_, which) = Choice::default().resolve(&job, None).unwrap();
        let watcher = BackAndForth { at: positions[1], name: name.clone(), steps: Arc::clone(&steps) };
        watch_job(&job, which, watcher).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    assert!(*steps.lock().unwrap() > 5000);
}

/// Every value of every tree, computed again from the values below it.
#[test]
fn trees_compute_their_values() {
    let (mut programs, mut computed) = (0, 0);
    for path in jobs() {
        let (name, job) = (name(&path), read(&path));
        let (pass, positions) = processors(&job);
        let program = &job.programs().unwrap()[pass].program;
        let Some((trace, fetches)) = traced(&job, positions[1], &Limits::default()).filter(|(trace, _)| !trace.cut)
        else {
            continue;
        };
        let mut loops = trace_check::Loops::default();
        let al: Vec<i32> = trace
            .steps
            .iter()
            .map(|step| {
                let al = loops.before(&step.event);
                loops.after(&step.event);
                al
            })
            .collect();
        let outputs: Vec<Place> =
            trace.end.keys().filter(|(lane, place)| *lane == trace.lane && place.is_output()).map(|k| k.1).collect();
        let mut any = false;
        for place in outputs {
            let tree = Ancestry::of(&trace, trace.lane, place, None).unwrap();
            assert_eq!(Some(&tree.nodes[0].bits), trace.end.get(&(trace.lane, place)), "{name}: {place}");
            // Deepest first: the instruction of an operand was executed before its use.
            let mut order: Vec<usize> = (0..tree.nodes.len()).collect();
            order.sort_by_key(|&n| tree.nodes[n].made.map_or(-1, |made| made.step as i64));
            let mut values: HashMap<usize, u32> = HashMap::new();
            for n in order {
                let node = &tree.nodes[n];
                let Some(made) = node.made else {
                    values.insert(n, node.bits);
                    continue;
                };
                let event = &trace.steps[made.step].event;
                let mut lane = event.lanes.iter().find(|e| usize::from(e.lane) == node.lane).unwrap().clone();
                let write = lane.writes.iter().rposition(|w| w.place == node.place).unwrap();
                let part = lane.writes[write].part;
                for read in lane.reads.iter_mut().filter(|read| read.parts & part != 0) {
                    let child = |&&c: &&usize| {
                        let child = &tree.nodes[c];
                        child.place == read.place
                            && (child.lane == usize::from(read.lane) || matches!(read.place, Place::Share(_)))
                    };
                    let child =
                        *node.from.iter().find(child).unwrap_or_else(|| panic!("{name}: {} has no child", read.place));
                    read.bits = values[&child];
                }
                let results = trace_check::results(program, &trace, event, &lane, al[made.step], &fetches);
                let value = results.and_then(|results| results[write]);
                computed += usize::from(value.is_some());
                values.insert(n, value.unwrap_or(node.bits));
            }
            assert_eq!(values[&0], tree.nodes[0].bits, "{name}: {place}");
            any = true;
        }
        programs += usize::from(any);
    }
    assert!(programs >= 20, "{programs} programs");
    assert!(computed > 2000, "{computed} values");
}

#[test]
fn a_value_that_is_set_counts_and_what_was_before_stays() {
    struct Setting;
    impl Watcher for Setting {
        fn wish(&mut self, _: &[Position]) -> Wish {
            Wish::Watch
        }
        fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
            let mut session = Session::new(unit);
            let c = Place::Temp(1, 0);
            session.go_to(2);
            let before = session.value(0, c);
            session.set(0, c, 2.5f32.to_bits()).unwrap();
            assert_eq!(session.value(0, c), Some(2.5f32.to_bits()));
            session.go_to(40);
            assert_eq!(session.value(0, c), Some(2.5f32.to_bits()));
            session.go_to(1);
            assert_eq!(session.value(0, c), before, "before the change");
            session.go_to(30);
            assert_eq!(session.value(0, c), Some(2.5f32.to_bits()), "forwards through the change");
            assert!(session.set(0, Place::Constant(0, 0), 0).is_err());
            let stop = session.run(Direction::Backward, false, &mut |s| s.time() == 0);
            assert_eq!((stop, session.time()), (Stop::Reached, 0));
            Ok(ControlFlow::Break(()))
        }
    }
    let job = read(&root().join("examples/mandelbrot/job.toml"));
    assert!(watch_job(&job, 0, Setting).unwrap().is_none());
}

#[test]
fn choices_that_cannot_be_are_said() {
    let job = read(&root().join("examples/mandelbrot/job.toml"));
    let at = Position { i: 35, j: 22 };
    let bad = |choice: Choice, at: Position| {
        Trace::of_job(&job, choice, at, &Limits::default()).map(|t| t.executed).unwrap_err().to_string()
    };
    assert!(bad(Choice { pass: Some(1), launch: None }, at).contains("passes 0 to 0"));
    assert!(bad(Choice { pass: None, launch: Some(1) }, at).contains("launched 1 times"));
    assert!(bad(Choice::default(), Position { i: 512, j: 0 }).contains("not in the domain"));
    assert_eq!(trace(&job, at).executed, 19);
}

/// The line of a value is that of the instruction in the group that made it, and only what the value needs is explained.
#[test]
fn ancestors_name_the_slot_and_nothing_else() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/r700/mandelbrot/job.toml");
    let job = Reader::for_file(&path).and_then(Reader::finish).unwrap();
    let trace = Trace::of_job(&job, Choice::default(), Position { i: 35, j: 22 }, &Limits::default()).unwrap();
    let place = Place::parse(WatchedIsa::R700, "PIX0.y").unwrap()[0];
    let tree = Ancestry::of(&trace, trace.lane, place, None).unwrap();
    let text = std::fs::read_to_string(path.with_file_name("mandelbrot.psh")).unwrap();
    let wrote = |name: &str| {
        let node = tree.nodes.iter().find(|node| node.place.to_string() == name).unwrap();
        let line = node.made.unwrap().line(&trace).unwrap();
        text.lines().nth(line - 1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(wrote("R4.w"), "w: SETGE R4.w, sq.x, 4.0f");
    assert_eq!(wrote("R5.y"), "y: MUL_e R5.y, PV.y, R4.w");
    assert_eq!(wrote("R4.y"), "y: FRACT R4.y, PV.y");
    assert_eq!(tree.nodes[0].from.len(), 1, "one element is exported from one");
    for other in ["R5.x", "R5.z", "R4.x", "R4.z", "PIX0.x"] {
        assert!(tree.nodes.iter().all(|node| node.place.to_string() != other), "{other} is not needed");
    }
    let shown = tree.text(&trace, 6, 200);
    assert!(shown.contains("line 40") && shown.lines().count() < 60, "{shown}");
}

/// Registers may be called by the names that the program gives them.
#[test]
fn places_have_the_names_of_the_program() {
    let named = |example: &str, name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example).join("job.toml");
        let job = Reader::for_file(&path).and_then(Reader::finish).unwrap();
        let chosen = Subject::Job(Box::new(job)).choose(Choice::default(), None).unwrap();
        chosen.places(name).map(|places| places.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(named("mandelbrot", "colour.g").unwrap(), "o0.g");
    assert_eq!(named("mandelbrot", "tint").unwrap(), "c2.r c2.g c2.b c2.a");
    assert_eq!(named("r700/mandelbrot", "view.z").unwrap(), "KC0[0].z");
    assert_eq!(named("r700/mandelbrot", "PIX0.y").unwrap(), "PIX0.y");
    assert!(named("mandelbrot", "color.g").is_err());
}
