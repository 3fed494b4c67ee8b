//! Another thread cancels running work: submissions of devices and replays, of both instruction sets and on every engine.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::device_support;

use ctm::EngineKind;
use ctm::commands::{CommandBuffer, MemoryKind, MemoryPlace};
use ctm::device::{CommandErrorReason, DeviceOptions};
use ctm::mc::{Format, Tiling};
use ctm::memory::ArenaOptions;
use ctm::record::{Recording, RecordingEnd, ReplayOptions, replay_under};
use ctm_exec::{Budget, Control, Domain, Engine, Fault, FaultKind, Outcome, r700, x1k};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_testkit::tape::Tape;
use device_support::{Rig, position_program};
use std::thread::JoinHandle;
use std::time::Duration;

const X1K: &str = ".output c = o0\n mov r1, 0\nagain: add r1, r1, r0\n fc jump func=0xff to=again\n mov c, r1\n";
const R700: &str = "ALU:\n x: MOV R1.x, 0\nagain:\nALU:\n x: ADD R1.x, R0.x, R1.x\nJUMP CND(FALSE) ADDR(again)\n\
                    MEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n";
const D: Domain = Domain { i0: 0, j0: 0, i1: 63, j1: 63 };

/// A device that nothing else ends.
fn rig(is_r700: bool, engine: Box<dyn Engine>) -> Rig {
    let options = if is_r700 { DeviceOptions::r700(Chip::Rv770) } else { DeviceOptions::default() };
    let arenas = ArenaOptions::with_sizes([1 << 20, 0, 1 << 20, 1 << 16]).unwrap();
    let budget = Budget { instructions_per_group: None, time: None };
    Rig::with_engine(engine, DeviceOptions { arenas, budget, ..options })
}

/// Commands that start a program without an end.
fn endless(rig: &mut Rig, is_r700: bool) -> CommandBuffer {
    if is_r700 {
        let program = device_support::r700::text(rig, R700);
        let memory = MemoryPlace { base: rig.bytes(&[0; 256]), bytes: 256, item: 0 };
        let setup = CommandBuffer::new().set_memory(MemoryKind::Scatter, &memory);
        return device_support::r700::start(Stage::Compute, &program, D, setup);
    }
    let program = rig.program(&ctm_isa::x1k::text::assemble(X1K).program.unwrap());
    let out = rig.surface(64, 64, Format::Float32x4, Tiling::Linear);
    CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_domain(D).start_program()
}

/// Cancels as soon as a launch runs.
fn canceller(control: &Control) -> JoinHandle<()> {
    let control = control.clone();
    std::thread::spawn(move || {
        while control.progress().processors == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(20));
        control.cancel();
    })
}

#[test]
fn a_submission_that_runs_is_cancelled_and_the_device_goes_on() {
    for engine in EngineKind::ALL {
        for is_r700 in [false, true] {
            let mut rig = rig(is_r700, engine.engine().unwrap());
            let buffer = endless(&mut rig, is_r700);
            let control = Control::new();
            rig.device.set_control(control.clone());
            let thread = canceller(&control);
            let error = rig.submit(&buffer).unwrap_err();
            thread.join().unwrap();
            let CommandErrorReason::Fault(fault) = &error.reason else { panic!("{engine}: {error}") };
            assert_eq!(fault.kind, FaultKind::Cancelled, "{engine}, R700 {is_r700}");
            let progress = control.progress();
            assert_eq!((progress.done, progress.processors), (0, 64 * 64), "{engine}, R700 {is_r700}");
            // Later submissions are cancelled, too, until the control is reset.
            assert_eq!(rig.submit(&buffer).unwrap_err().reason, CommandErrorReason::Cancelled);
            control.reset();
            rig.submit(&CommandBuffer::new().wait_for_idle()).unwrap();
        }
    }
}

/// Leaves memory unchanged, so that a program without an end can be recorded.
struct Idle;

impl Engine for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn run_x1k_under(&self, _: &Control, _: &x1k::Launch<'_>, _: &mut dyn x1k::Memory) -> Result<Outcome, Fault> {
        Ok(Outcome::default())
    }

    fn run_r700_under(&self, _: &Control, _: &r700::Launch<'_>, _: &mut dyn r700::Memory) -> Result<Outcome, Fault> {
        Ok(Outcome::default())
    }
}

fn recorded(is_r700: bool, session: impl FnOnce(&mut Rig)) -> Vec<u8> {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = rig(is_r700, Box::new(Idle));
    rig.device.record(&recording).unwrap();
    session(&mut rig);
    drop(rig);
    tape.bytes()
}

#[test]
fn a_replay_is_cancelled_within_a_launch() {
    for is_r700 in [false, true] {
        let tape = recorded(is_r700, |rig| {
            let buffer = endless(rig, is_r700);
            rig.submit(&buffer).unwrap();
            rig.submit(&CommandBuffer::new().wait_for_idle()).unwrap();
        });
        for engine in EngineKind::ALL {
            let control = Control::new();
            let thread = canceller(&control);
            let options = ReplayOptions { engine: Some(engine), ..ReplayOptions::default() };
            let report = replay_under(&control, &tape[..], &options, |_| {}).unwrap();
            thread.join().unwrap();
            assert_eq!((report.end, report.difference), (RecordingEnd::Cancelled, None), "{engine}, R700 {is_r700}");
            assert_eq!(report.submissions, 1, "{engine}, R700 {is_r700}");
        }
    }
}

#[test]
fn a_replay_is_cancelled_between_submissions() {
    let tape = recorded(false, |rig| {
        for _ in 0..5 {
            let program = rig.program(&position_program());
            rig.submit(&CommandBuffer::new().set_inst_fmt(program)).unwrap();
        }
    });
    let control = Control::new();
    let mut heard = Vec::new();
    let report = replay_under(&control, &tape[..], &ReplayOptions::default(), |submissions| {
        heard.push(submissions);
        if submissions == 2 {
            control.cancel();
        }
    })
    .unwrap();
    assert_eq!((heard, report.end), (vec![1, 2], RecordingEnd::Cancelled));
    let whole = replay_under(&Control::none(), &tape[..], &ReplayOptions::default(), |_| {}).unwrap();
    assert_eq!((whole.submissions, whole.end), (5, RecordingEnd::Complete));
}

/// A profile and a trace step the reference interpreter, which a control ends within a group as well.
#[test]
fn what_is_watched_ends_with_its_control() {
    use ctm::job::Reader;
    use ctm::trace::{Choice, Limits, Profile, Subject, Trace};
    let r700 = "ALU:\n x: MOV R1.x, 0\nagain:\nALU:\n x: ADD R1.x, R0.x, R1.x\nJUMP CND(FALSE) ADDR(again)\n\
                EXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n";
    for (name, text) in [("endless.x1k", X1K), ("endless.psh", r700)] {
        let mut reader = Reader::for_program_bytes(name, text.as_bytes().to_vec());
        reader.flag("size", "64x64");
        let subject = Subject::Job(Box::new(reader.finish().unwrap()));
        let chosen = subject.choose(Choice::default(), None).unwrap();
        let soon = || Control::new().until(std::time::Instant::now() + Duration::from_millis(200));
        let profile = Profile::of_under(&soon(), &subject, &chosen).unwrap();
        assert!(matches!(profile.fault.unwrap().kind, FaultKind::TimeBudget { .. }), "{name}");
        let cancelled = Control::new();
        let thread = canceller(&cancelled);
        let profile = Profile::of_under(&cancelled, &subject, &chosen).unwrap();
        thread.join().unwrap();
        assert_eq!(profile.fault.unwrap().kind, FaultKind::Cancelled, "{name}");
        let limits = Limits {
            instructions: usize::MAX,
            writes: Vec::new(),
            range: Some(u32::MAX..=u32::MAX),
            ..Limits::default()
        };
        let at = ctm_exec::Position { i: 63, j: 63 };
        let trace = Trace::of_under(&soon(), &subject, &chosen, at, &limits).unwrap();
        assert!(matches!(trace.fault.unwrap().kind, FaultKind::TimeBudget { .. }), "{name}");
        // Nothing begins under a control that is over.
        assert!(Profile::of_under(&cancelled, &subject, &chosen).is_err(), "{name}");
    }
}
