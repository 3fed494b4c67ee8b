//! Launches end when they have to: soon after their first fault is certain, when their time is over, and when they are
//! cancelled, with every engine.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Constants, Launch, Plane};
use ctm_exec::{Budget, Control, Domain, Engine, Fault, FaultKind, GroupSize, Interp, Outcome, r700, x1k};
use ctm_isa::r700::program::Stage;
use ctm_jit::{Backend, Jit};
use ctm_verify::Verify;
use std::time::{Duration, Instant};

/// Time for other work of the machine: these tests run beside others. Ends that are not soon take minutes or for ever. In an emulator, a wavefront of the interpreter takes
/// ten times as long, and so does the end of one.
fn slack() -> Duration {
    Duration::from_secs(if ctm_testkit::in_emulator() { 80 } else { 8 })
}

fn engines() -> Vec<(String, Box<dyn Engine>)> {
    let jits = Backend::available().map(|backend| {
        let engine: Box<dyn Engine> = Box::new(Jit::with_backend(backend));
        (format!("jit, {backend}"), engine)
    });
    let interp: (String, Box<dyn Engine>) = ("interp".to_owned(), Box::new(Interp));
    let verify: (String, Box<dyn Engine>) = ("verify".to_owned(), Box::new(Verify::<Jit>::default()));
    std::iter::once(interp).chain(jits).chain([verify]).collect()
}

const ENDLESS: &str = ".output c = o0\nmov r1, 0\ntop:\nadd r1, r1, r0\nfc jump func=0xff to=top\nmov c, r1\n";
/// Three nested loops: 255 times 255 times 100 turns.
const SLOW: &str =
    ".output c = o0\nmov r1, 0\nrep i0\nrep i0\nrep i1\nmad r1, r1, r0, r0\nendrep\nendrep\nendrep\nmov c, r1\n";
/// Each processor ends soon; all of them together do not.
const MANY: &str = ".output c = o0\nmov r1, 0\nrep i0\nrep i1\nmad r1, r1, r0, r0\nendrep\nendrep\nmov c, r1\n";
const UNCACHED: &str =
    ".uncached\nmov r1, 0\nmov r1.gb, r0.gr\ntop:\nadd r1.r, r1.r, 1\nfc jump func=0xff to=top\nmov umrt[each], r1\n";

fn run(
    engine: &dyn Engine,
    control: &Control,
    text: &str,
    side: u32,
    budget: Budget,
) -> (Result<Outcome, Fault>, Duration) {
    let assembly = ctm_isa::x1k::text::assemble(text);
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let mut constants = Constants::default();
    (constants.int[0], constants.int[1]) = ([255, 0, 1, 0], [100, 0, 1, 0]);
    let launch = Launch {
        program: &program,
        constants: &constants,
        planes: &[Plane::position(0)],
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: side - 1, j1: side - 1 },
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget,
        threads: 0,
        checks: false,
        counters: false,
    };
    let mut memory = x1k::Arrays::default();
    memory.outputs[0] = Some(Picture::filled(side, side, [0.0; 4]));
    let since = Instant::now();
    let outcome = engine.run_x1k_under(control, &launch, &mut memory);
    (outcome, since.elapsed())
}

fn time(millis: u64) -> Budget {
    Budget { instructions_per_group: None, time: Some(Duration::from_millis(millis)) }
}

#[test]
fn the_first_fault_ends_a_launch_of_any_size() {
    let limit = ctm_testkit::tries::part(400_000);
    let budget = Budget { instructions_per_group: Some(limit), time: None };
    for (name, engine) in engines() {
        for text in [ENDLESS, UNCACHED] {
            let (small, one) = run(&*engine, &Control::none(), text, 2, budget);
            let (large, all) = run(&*engine, &Control::none(), text, 512, budget);
            let fault = large.unwrap_err();
            assert_eq!(fault.kind, FaultKind::InstructionBudget { limit }, "{name}");
            assert_eq!(fault.pc, small.unwrap_err().pc, "{name}");
            assert!(all < 4 * one + slack(), "{name}: {all:?} for 512x512, {one:?} for 2x2");
        }
    }
}

#[test]
fn time_ends_launches_and_the_fault_names_what_ran() {
    for (name, engine) in engines() {
        for (text, side) in [(ENDLESS, 2), (ENDLESS, 512), (SLOW, 512), (MANY, 1024), (UNCACHED, 64)] {
            let limit = Duration::from_millis(150);
            let (outcome, taken) = run(&*engine, &Control::none(), text, side, time(150));
            let fault = outcome.unwrap_err();
            assert_eq!(fault.kind, FaultKind::TimeBudget { limit }, "{name}, {side}");
            assert!(fault.pc > 0, "{name}, {side}: {fault}");
            assert!(taken >= limit && taken < limit + slack(), "{name}, {side}: {taken:?}\n{text}");
            eprintln!("{name}, {side}: {taken:?}");
        }
    }
}

#[test]
fn a_caller_can_cancel_and_sees_how_far_it_is() {
    let endless = Budget { instructions_per_group: None, time: None };
    for (name, engine) in engines() {
        for (text, side) in [(ENDLESS, 64), (MANY, 1024)] {
            let control = Control::new();
            let canceller = control.clone();
            let wait = Duration::from_millis(100);
            let thread = std::thread::spawn(move || {
                std::thread::sleep(wait);
                canceller.cancel();
            });
            let (outcome, taken) = run(&*engine, &control, text, side, endless);
            thread.join().unwrap();
            assert_eq!(outcome.unwrap_err().kind, FaultKind::Cancelled, "{name}, {side}");
            assert!(taken < wait + slack(), "{name}, {side}: {taken:?}");
            assert!(control.progress().share() < 1.0);
            assert_eq!(control.progress().processors, u64::from(side * side));
        }
    }
}

#[test]
fn all_processors_are_counted_once() {
    let stream = ".output c = o0\nmad r1, r0, r0, 1\nmul c, r1, r1\n";
    let branches = ".output c = o0\nmov r1, r0\nfc jump func=0x0f b0=incr to=end\nmul r1, r1, r0\nend:\nmov c, r1\n";
    let turns = ".output c = o0\nmov r1, 0\nrep i1\nmad r1, r1, r0, r0\nendrep\nmov c, r1\n";
    let uncached = ".uncached\nmov r1, 0\nmov umrt[each], r1\n";
    let r700 = "ALU\n0 x: MUL R1.x, R0.x, R0.x\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n";
    for (name, engine) in engines() {
        for side in [1, 7, 64, 100, 333] {
            let check = |text: &str, told: &dyn Fn(&Control) -> Result<Outcome, Fault>| {
                let control = Control::new();
                assert_eq!(told(&control).err(), None, "{name}, {side}\n{text}");
                assert_eq!(control.progress().share(), 1.0, "{name}, {side}\n{text}");
                assert_eq!(control.progress().done, u64::from(side * side), "{name}, {side}\n{text}");
            };
            for text in [stream, branches, turns, uncached] {
                check(text, &|control| run(&*engine, control, text, side, Budget::default()).0);
            }
            check(r700, &|control| run_r700(&*engine, control, r700, side, Budget::default()).0);
        }
    }
}

const R700_ENDLESS: &str = "ALU\n0 x: MOV R1.x, 0\nagain:\nALU\n1 x: ADD R1.x, R0.x, R1.x\nJUMP CND(FALSE) ADDR(again)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
/// It writes memory, so its wavefronts wait for their turn.
const R700_WRITES: &str = "MEM_EXPORT: WRITE(0), R0.x___ ARRAY_SIZE(0)\nagain:\nALU\n0 x: ADD R1.x, R0.x, R1.x\nJUMP CND(FALSE) ADDR(again)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";

fn run_r700(
    engine: &dyn Engine,
    control: &Control,
    text: &str,
    side: u32,
    budget: Budget,
) -> (Result<Outcome, Fault>, Duration) {
    let assembly = ctm_isa::r700::text::assemble(text, &ctm_isa::r700::text::TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let constants = r700::Constants::default();
    let domain = Domain { i0: 0, j0: 0, i1: side - 1, j1: side - 1 };
    let planes = [Plane::position(0)];
    let launch = r700::Launch {
        stage: Stage::Pixel,
        planes: &planes,
        budget,
        ..r700::Launch::new(&program, &constants, domain)
    };
    let mut memory = r700::Arrays::default();
    memory.targets.insert(r700::Target::Pixel(0), Picture::filled(side, side, [0.0; 4]));
    memory.spaces.insert(r700::Space::Scatter, vec![0; 1024]);
    let since = Instant::now();
    let outcome = engine.run_r700_under(control, &launch, &mut memory);
    (outcome, since.elapsed())
}

/// Systems without threads have nothing that sets flags: the portable machine reads the clock itself, and leaves nothing to the reference interpreter.
#[test]
fn the_portable_machine_ends_launches_without_another_thread() {
    let control = Control::new().polled();
    let jit = Jit::with_backend(Backend::Portable);
    let limit = Duration::from_millis(150);
    for text in [R700_ENDLESS, R700_WRITES] {
        let (outcome, taken) = run_r700(&jit, &control, text, 64, time(150));
        assert_eq!(outcome.unwrap_err().kind, FaultKind::TimeBudget { limit }, "{text}");
        assert!(taken >= limit && taken < limit + slack(), "{taken:?}");
    }
    for (text, side) in [(ENDLESS, 64), (SLOW, 512), (MANY, 1024)] {
        let (outcome, taken) = run(&jit, &control, text, side, time(150));
        assert_eq!(outcome.unwrap_err().kind, FaultKind::TimeBudget { limit }, "{text}");
        assert!(taken >= limit && taken < limit + slack(), "{taken:?}");
    }
    // A loop without a known end, which lanes leave one after the other.
    let ends = "ALU:\n 0 x: MOV R1.x, 0\nLOOP_START_DX10 ADDR(done)\nturn:\nALU_BREAK:\n 1 x: ADD R1.x, R1.x, 1.0f\n \
                2 x: PRED_SETGT ____, R0.x, R1.x UPDATE_EXEC_MASK UPDATE_PRED\nLOOP_END ADDR(turn)\ndone:\n\
                EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let jit = Jit::with_backend(Backend::Portable);
    assert_eq!(run_r700(&jit, &control, ends, 64, time(60_000)).0.err(), None);
    assert_eq!(jit.r700_bail_outs(), 0);
    control.cancel();
    assert_eq!(run_r700(&jit, &control, ends, 64, time(60_000)).0.unwrap_err().kind, FaultKind::Cancelled);
}

#[test]
fn r700_launches_end_the_same_way() {
    let limit = ctm_testkit::tries::part(100_000);
    let few = Budget { instructions_per_group: Some(limit), time: None };
    for (name, engine) in engines() {
        for text in [R700_ENDLESS, R700_WRITES] {
            // The time of one wavefront on this machine, with its other work.
            let (small, one) = run_r700(&*engine, &Control::none(), text, 8, few);
            let (outcome, taken) = run_r700(&*engine, &Control::none(), text, 512, few);
            let fault = outcome.unwrap_err();
            assert_eq!(fault.kind, FaultKind::InstructionBudget { limit }, "{name}: {fault}");
            assert_eq!(fault, small.unwrap_err(), "{name}");
            assert!(taken < 4 * one + slack(), "{name}: {taken:?} for 512x512, {one:?} for 8x8");
            let limit = Duration::from_millis(150);
            let (outcome, taken) = run_r700(&*engine, &Control::none(), text, 512, time(150));
            assert_eq!(outcome.unwrap_err().kind, FaultKind::TimeBudget { limit }, "{name}");
            assert!(taken < limit + slack(), "{name}: {taken:?}");
            eprintln!("{name}: {taken:?}");
        }
        let control = Control::new();
        control.cancel();
        let (outcome, _) =
            run_r700(&*engine, &control, R700_ENDLESS, 512, Budget { time: None, instructions_per_group: None });
        assert_eq!(outcome.unwrap_err().kind, FaultKind::Cancelled, "{name}");
    }
}

#[test]
fn r700_launches_are_cancelled_while_they_run() {
    let endless = Budget { instructions_per_group: None, time: None };
    for (name, engine) in engines() {
        for text in [R700_ENDLESS, R700_WRITES] {
            let control = Control::new();
            let canceller = control.clone();
            let thread = std::thread::spawn(move || {
                while canceller.progress().processors == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
                canceller.cancel();
                Instant::now()
            });
            let (outcome, _) = run_r700(&*engine, &control, text, 512, endless);
            let since = thread.join().unwrap().elapsed();
            assert_eq!(outcome.unwrap_err().kind, FaultKind::Cancelled, "{name}");
            assert!(since < slack(), "{name}: {since:?}");
            assert_eq!((control.progress().done, control.progress().processors), (0, 512 * 512), "{name}");
        }
    }
}

/// Endless for the processors right of column 300: neither the first group of a launch nor the first of a thread's
/// batch.
const R700_LATE: &str = "ALU:\n 0 x: MOV R1.x, 0\nLOOP_START_DX10 ADDR(done)\nturn:\nALU_BREAK:\n 1 x: ADD R1.x, R1.x, 1.0f\n \
                         2 x: PRED_SETGT ____, R0.x, 300.5f UPDATE_EXEC_MASK UPDATE_PRED\nLOOP_END ADDR(turn)\ndone:\n";

#[test]
fn the_fault_of_a_later_group_is_told_as_it_is() {
    let few = Budget { instructions_per_group: Some(5_000), time: None };
    for write in ["", "MEM_EXPORT: WRITE(0), R0.x___ ARRAY_SIZE(0)\n"] {
        let text = format!("{R700_LATE}{write}EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n");
        let mut expected = None;
        for (name, engine) in engines() {
            let fault = run_r700(&*engine, &Control::none(), &text, 512, few).0.unwrap_err();
            assert_eq!(fault.kind, FaultKind::InstructionBudget { limit: 5_000 }, "{name}: {text}");
            assert_eq!(*expected.get_or_insert_with(|| fault.clone()), fault, "{name}: {text}");
        }
    }
}
