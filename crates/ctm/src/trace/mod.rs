//! What a launch did, instruction by instruction.
//!
//! | file | what |
//! |---|---|
//! | `subject` | what has launches: jobs, recordings and draws |
//! | `drawing` | launches of draws, by pixel and by vertex |
//! | `choice` | which launch of a job is watched, and an engine that lets a watcher see it |
//! | `listing` | a program as lines, and which line an instruction stands on |
//! | `record` | a [`Trace`]: everything that lanes of a group read and wrote |
//! | `recorded` | which launches a recording has, and what one of them leaves |
//! | `output` | a trace as text, JSON lines, Perfetto trace and HTML |
//! | `why` | the ancestry of a value |
//! | `profile` | counts for every instruction and every processor of a launch |
//! | `graph` | the control flow that was executed, as DOT and SVG |
//! | `live` | live ranges, pressure, and the longest chain of one processor |
//! | `compare` | where two runs part |
//! | `targets` | where two sources of draws part |
//! | `reduce` | smaller programs and jobs that still do what they should |
//! | `session` | a [`Session`]: a group under way, forwards and backwards |
//!
//! All of it stands on [`ctm_exec::observe`]. The launch that is watched runs on the reference interpreter; launches before it run on the job's
//! engine. Nothing here writes the files that a job names.
//!
//! Begin with [`Trace::of_job`].
//!
//! One processor of a small job, looked at in every way:
//!
//! ```
//! use ctm::Position;
//! use ctm::job::Reader;
//! use ctm::trace::observe::{At, Event, Flow, Isa, LaneEvent, LaneFlow, LaneState, Lanes, Place, Read, Write};
//! use ctm::trace::{Ancestor, Ancestry, Block, Choice, Chosen, Count, Graph, Limits, Line, Listing, LiveRange, Liveness, Oddity, OddityKind};
//! use ctm::trace::{Profile, Step, Subject, Trace, flow_json, isa_name, number};
//!
//! let text = b".output y = o0\nadd r1, r0, r0\nrcp r2, r1.g\nmov y, r1\n";
//! let mut reader = Reader::for_program_bytes("double.x1k", text.to_vec());
//! reader.flag("size", "4x1");
//! let subject = Subject::Job(Box::new(reader.finish()?));
//! let at = Position { i: 2, j: 0 };
//! let chosen: Chosen = subject.choose(Choice::default(), Some(at))?;
//!
//! // Everything that its group read and wrote.
//! let trace = Trace::of(&subject, &chosen, at, &Limits::default())?;
//! assert_eq!((trace.positions[trace.lane], isa_name(trace.isa)), (at, "x1k"));
//! let step: &Step = &trace.steps[0];
//! let event: &Event = &step.event;
//! let lane: &LaneEvent = event.lanes.iter().find(|lane| usize::from(lane.lane) == trace.lane).unwrap();
//! let (read, write): (&Read, &Write) = (&lane.reads[0], &lane.writes[0]);
//! assert_eq!((number(read.bits), number(write.bits)), ("2".into(), "4".into()));
//! let lanes: &Lanes = &event.executing;
//! assert!(lanes.contains(trace.lane));
//! let flow: &Flow = &trace.start[0];
//! let first: &LaneFlow = &flow.lanes[0];
//! assert!(first.covered && first.state == LaneState::Running && flow_json(flow).is_object());
//!
//! // Where a value comes from; what is odd; how long values live; how the program ran.
//! let place: Place = Place::parse(Isa::X1k, "o0.r")?[0];
//! let ancestry: Ancestry = Ancestry::of(&trace, trace.lane, place, None).unwrap();
//! let value: &Ancestor = &ancestry.nodes[0];
//! assert_eq!(number(value.bits), "4");
//! let oddities: Vec<Oddity> = trace.oddities(trace.lane);
//! assert!(oddities.iter().any(|oddity| oddity.kind == OddityKind::Infinity));
//! let liveness: Liveness = trace.liveness(trace.lane);
//! let range: Option<&LiveRange> = liveness.ranges.first();
//! assert!(range.is_some());
//! let profile = Profile::of(&subject, &chosen)?;
//! let graph: Graph = profile.graph();
//! let block: &Block = &graph.blocks[0];
//! let listing: &Listing = &trace.listing;
//! let line: &Line = &listing.lines[listing.line(block.instructions[0]).unwrap() - 1];
//! // Lines count from 1.
//! let first: At = line.at[0];
//! assert_eq!(first, block.instructions[0]);
//! let count: Count = profile.total();
//! assert!(count.executed >= 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two jobs are compared, and a program is made smaller:
//!
//! ```
//! use ctm::job::{Job, Reader};
//! use ctm::trace::{Choice, Difference, Incomparable, Left, Parting, Store, Subject, agree, difference, left_by, parting, reduce};
//! use ctm::trace::{Limits, Trace};
//! use ctm::{JobError, Position};
//!
//! let job = |text: &str| -> Result<Job, JobError> {
//!     let mut reader = Reader::for_program_bytes("p.x1k", text.into());
//!     reader.flag("size", "2x1");
//!     reader.finish()
//! };
//! let (a, b) = (job(".output y = o0\nmov y, r0\n")?, job(".output y = o0\nadd y, r0, r0\n")?);
//! let found: Result<Option<Difference>, Incomparable> = difference(&a.run(|_| {})?, &b.run(|_| {})?, 0.0);
//! let found = found?.unwrap();
//! assert_eq!((found.at, found.a, found.b), (Position { i: 1, j: 0 }, 1.0, 2.0));
//! assert!(agree(1.0, 1.0 + 1e-7, 1e-6) && !agree(1.0, 2.0, 0.0));
//!
//! let trace = |job: &Job| Trace::of_job(job, Choice::default(), found.at, &Limits::default());
//! let parts: Parting = parting(&trace(&a)?, &trace(&b)?, 0.0).unwrap();
//! let (left, right): (Option<Store>, Option<Store>) = (parts.a, parts.b);
//! assert!(left.is_some() && right.is_some());
//! let subject = Subject::Job(Box::new(a));
//! let (left, fault): (Left, _) = left_by(&subject, &subject.choose(Choice::default(), None)?)?;
//! assert!(left.contains_key(&found.at) && fault.is_none());
//!
//! let control = ctm::Control::none();
//! assert_eq!(reduce("mov r1, r0\nmov o0, r0\n", &control, &mut |text| text.contains("o0")).trim(), "mov o0, 0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two drawings are compared: the first draw behind which their targets differ, and the first instruction that stores something else:
//!
//! ```
//! use ctm::draw::Drawing;
//! use ctm::trace::{Apart, DrawParting, DrawStage, Draws, Limits, Target, TargetDifference, apart, draws_parting, target_difference, targets_behind};
//! use ctm::{EngineKind, Program};
//! use std::sync::Arc;
//!
//! let drawing = |text: &str| -> Result<Drawing, ctm::Error> {
//!     let mut drawing = Drawing::new(vec![Program::assemble(text)?]);
//!     drawing.size = [4, 4];
//!     Ok(drawing)
//! };
//! let a: Arc<dyn Draws> = Arc::new(drawing(".output o = o0\nmov r2, r1\nmov o, r2\n")?);
//! let b: Arc<dyn Draws> = Arc::new(drawing(".output o = o0\nmov r2, r1\nmov o, r2.rrba\n")?);
//! let engine = || EngineKind::Interp.engine();
//!
//! let found = apart((&*a, engine()?), (&*b, engine()?), 0.0)?;
//! let Some(Apart::Draw(0, difference)) = found else { panic!("{found:?}") };
//! let difference: TargetDifference = difference;
//! assert_eq!((difference.target.as_str(), difference.channel), ("colour0", 1));
//!
//! // The same of what two engines, or two files, have left.
//! let (draw, targets): (usize, Vec<Target>) = targets_behind(&*a, engine()?, None)?;
//! assert!(draw == 0 && target_difference(&targets, &targets, 0.0)?.is_none());
//!
//! let parting: Option<DrawParting> = draws_parting((&a, 0), (&b, 0), difference.at, &Limits::default(), 0.0)?;
//! let parting = parting.unwrap();
//! assert_eq!(parting.stage, DrawStage::Pixel);
//! let step = &parting.a.steps[parting.parting.a.unwrap().step];
//! let line = parting.a.listing.line(step.event.at).unwrap();
//! assert!(parting.a.listing.lines[line - 1].text.contains("r2"), "{:?}", parting.a.listing.lines);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A failing job is made smaller, with all its files:
//!
//! ```
//! use ctm::Control;
//! use ctm::trace::{Kept, Reduced, program_text, reduce_job};
//!
//! let place = std::env::temp_dir().join(format!("ctm-doc-reduce-{}", std::process::id()));
//! let small = place.join("small");
//! std::fs::create_dir_all(&small)?;
//! let job = place.join("job.toml");
//! std::fs::write(place.join("p.x1k"), "mul r1, r0, r0\nrcp r2, r1.r\nmov o0, r2\n")?;
//! std::fs::write(&job, "program = \"p.x1k\"\ndomain = [0, 0, 63, 63]\n[[output]]\nslot = 0\n")?;
//!
//! // What has to stay: an infinity in the output. The job runs with the files as they are.
//! let mut fails = |kept: Kept<'_>| {
//!     let job = ctm::job::Reader::for_file(kept.job).and_then(|reader| reader.finish());
//!     let report = job.and_then(|job| job.without_files().run(|_| {}));
//!     report.is_ok_and(|report| report.array(0).is_some_and(|array| array.to_f32().contains(&f32::INFINITY)))
//! };
//! let left: Reduced = reduce_job(&job, &small, &Control::none(), &mut fails)?;
//! assert!(left.lines[1] < left.lines[0] && left.tries > 1);
//! let (text, extension) = program_text(&small.join("p.x1k"), None)?;
//! assert!(text.contains("rcp") && extension == "x1k");
//! std::fs::remove_dir_all(&place)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What the launches of a recording leave, without the client that was recorded:
//!
//! ```
//! use ctm::ctm_exec::Domain;
//! use ctm::mc::{Format, Surface, Tiling};
//! use ctm::record::Recording;
//! use ctm::trace::{LaunchOutputs, launch_outputs, launches};
//! use ctm::{ArenaId, CommandBuffer, Control, Device, DeviceOptions, Program};
//!
//! let tape = std::env::temp_dir().join(format!("ctm-doc-tape-{}", std::process::id()));
//! let recording = Recording::to(Box::new(std::fs::File::create(&tape)?));
//! let mut device = Device::new(DeviceOptions::default())?;
//! device.record(&recording)?;
//! let image = Program::assemble(".output o = o0\nmov o, 7")?.to_elf()?;
//! let code = device.allocate(ArenaId::Sys, image.len() as u64)?;
//! device.write(code, &image)?;
//! let surface = Surface::for_size(4, 4, Format::Float32x4, Tiling::Linear)?;
//! let surface = surface.at(device.allocate(ArenaId::Gpu, surface.bytes())?);
//! let domain = Domain { i0: 0, j0: 0, i1: 3, j1: 3 };
//! let commands = CommandBuffer::new().set_inst_fmt(code).set_out_fmt(0, &surface).set_domain(domain).start_program();
//! let at = device.allocate(ArenaId::SysC, 4096)?;
//! device.write_dwords(at, commands.words())?;
//! device.submit(at, commands.len_dwords() as u32)?;
//! drop((device, recording));
//!
//! assert_eq!(launches(&tape, None, &Control::none())?.len(), 1);
//! let left: LaunchOutputs = launch_outputs(&tape, 0, None, &Control::none())?;
//! let (name, picture) = &left.outputs[0];
//! assert_eq!((name.as_str(), picture.to_f32()), ("o0", vec![7.0; 4 * 16]));
//! assert!(left.chosen.domain == domain && left.fault.is_none());
//! std::fs::remove_file(&tape)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A watcher steps by itself, looks at the stack, and goes back; here for the pixels of a draw, by an engine that shows one launch:
//!
//! ```
//! use ctm::ctm_exec::Fault;
//! use ctm::draw::{Drawing, NoticeFn};
//! use ctm::trace::observe::{ALL_PARTS, Detail, Event, Frame, Isa, Lanes, Place, Snapshot, Unit, Watcher, Wish};
//! use ctm::trace::observe::place::FORMS;
//! use ctm::trace::{BehindFn, Draws, Wrap, watching};
//! use ctm::{EngineKind, Position, Program};
//! use std::ops::ControlFlow;
//! use std::sync::{Arc, Mutex};
//!
//! struct Look(Arc<Mutex<Vec<Frame>>>);
//!
//! impl Watcher for Look {
//!     fn wish(&mut self, _: &[Position]) -> Wish {
//!         Wish::Watch
//!     }
//!     fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
//!         let start: Snapshot = unit.snapshot();
//!         let (mut lanes, mut events): (Lanes, Vec<Event>) = (Lanes::none(), Vec::new());
//!         lanes.insert(0);
//!         unit.step(Detail::Values(&lanes), &mut events)?;
//!         unit.step(Detail::Masks, &mut events)?;
//!         self.0.lock().unwrap().extend(unit.flow(0).stack);
//!         unit.restore(&start);
//!         // The group runs to its end, and no other one is shown.
//!         Ok(ControlFlow::Continue(()))
//!     }
//! }
//!
//! let program = Program::assemble(".output o = o0\nmov r1, r0\ncall twice\nmov o, r1\nend\ntwice: add r1, r1, r1\nret")?;
//! let mut drawing = Drawing::new(vec![program]);
//! drawing.size = [2, 2];
//! let seen = Arc::new(Mutex::new(Vec::new()));
//! let look = Look(Arc::clone(&seen));
//! let wrap: Wrap<'_> = Box::new(|inner| watching(inner, 0, look));
//! let launches = Arc::new(Mutex::new(Vec::new()));
//! let heard = Arc::clone(&launches);
//! let notice: Arc<NoticeFn> = Arc::new(move |draw, launch| heard.lock().unwrap().push((draw, launch.stage)));
//! drawing.draw(wrap, notice, None)?;
//! assert_eq!(*launches.lock().unwrap(), [(0, "pixel")]);
//! assert_eq!(seen.lock().unwrap()[0], Frame::Call(2));
//!
//! // The targets behind each draw, on any engine.
//! let mut sizes = Vec::new();
//! let behind: &mut BehindFn<'_> = &mut |_, look| {
//!     sizes.extend(look().unwrap().iter().map(|target| target.size));
//!     ControlFlow::Continue(())
//! };
//! drawing.targets(EngineKind::Interp.engine()?, behind)?;
//! assert_eq!(sizes, [[2, 2]; 2]);
//!
//! // Names of places, and what a name can be.
//! assert!(Place::parse(Isa::X1k, "q9").is_err() && FORMS.starts_with("r3"));
//! assert_eq!(ALL_PARTS, 0xff);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A session steps through a group, forwards and backwards:
//!
//! ```
//! use ctm::job::Reader;
//! use ctm::trace::observe::{Isa, Place, PlaceError, Unit, Watcher, Wish};
//! use ctm::trace::{Direction, Session, SetError, Stop, watch_job};
//! use ctm::{Position, ctm_exec::Fault};
//! use std::ops::ControlFlow;
//! use std::sync::{Arc, Mutex};
//!
//! struct Look(Arc<Mutex<Vec<String>>>);
//!
//! impl Watcher for Look {
//!     fn wish(&mut self, _: &[Position]) -> Wish {
//!         Wish::Watch
//!     }
//!     fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
//!         let mut session = Session::new(unit);
//!         let place: Result<Vec<Place>, PlaceError> = Place::parse(Isa::X1k, "r1.r");
//!         let place = place.unwrap()[0];
//!         let set: Result<(), SetError> = session.set(0, place, 7f32.to_bits());
//!         assert!(set.is_ok());
//!         let mut all = |_: &mut Session<'_, '_>| false;
//!         assert_eq!(session.run(Direction::Forward, false, &mut all), Stop::End);
//!         assert_eq!(session.back(), Stop::Reached);
//!         self.0.lock().unwrap().push(format!("{:?}", session.value(0, place).map(f32::from_bits)));
//!         Ok(ControlFlow::Continue(()))
//!     }
//! }
//!
//! let mut reader = Reader::for_program_bytes("p.x1k", b".output y = o0\nadd r1, r1, r1\nmov y, r1\n".to_vec());
//! reader.flag("size", "1x1");
//! let seen = Arc::new(Mutex::new(Vec::new()));
//! watch_job(&reader.finish()?, 0, Look(Arc::clone(&seen)))?;
//! assert_eq!(*seen.lock().unwrap(), ["Some(14.0)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod choice;
mod compare;
mod drawing;
mod graph;
mod listing;
mod live;
mod output;
mod profile;
mod record;
mod recorded;
mod reduce;
mod session;
mod subject;
mod targets;
mod why;

pub use crate::draw::NoticeFn;
pub use choice::{Choice, watch_job, watching};
pub use compare::{Difference, Incomparable, Left, Parting, Store, agree, difference, left_by, parting};
pub use ctm_exec::observe;
pub use drawing::{BehindFn, Draws, Target, Wrap};
pub use graph::{Block, Graph};
pub use listing::{Line, Listing};
pub use live::{LiveRange, Liveness};
pub use output::{flow_json, isa_name};
pub use profile::{Count, Profile};
pub use record::{Limits, Step, Trace, TraceError};
pub use recorded::{LaunchOutputs, launch_outputs, launches};
pub use reduce::{Kept, Reduced, program_text, reduce, reduce_job};
pub use session::{Direction, Session, SetError, Stop};
pub use subject::{Chosen, DrawStage, Subject};
pub use targets::{Apart, DrawParting, TargetDifference, apart, draws_parting, target_difference, targets_behind};
pub use why::{Ancestor, Ancestry, Oddity, OddityKind};

/// The value of 32 bits as people read it: the shortest decimal number, NaN by its bits.
#[must_use]
pub fn number(bits: u32) -> String {
    let value = f32::from_bits(bits);
    if value.is_nan() { format!("nan(0x{bits:08x})") } else { format!("{value}") }
}
