//! The choice of the back end: by name, by the host's permissions. Each case is a process of its own, as the
//! environment decides.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::{Domain, Engine, Interp, r700};
use ctm_isa::x1k::random::{FlowControl, RandomContents, program};
use ctm_jit::{Backend, Jit};
use ctm_testkit::x1k::case::Case;

/// Runs the test `child` in a process with these variables.
fn child(variables: &[(&str, &str)]) {
    let mut command = ctm_testkit::again();
    command.args(["--exact", "in_a_process_of_its_own", "--ignored", "--nocapture"]);
    for variable in ["CTM_ENGINE_ISA", "CTM_ENGINE_NO_EXEC", "CTM_TEST_FORBID", "CTM_TEST_EXPECT"] {
        command.env_remove(variable);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{variables:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn every_name_is_taken_or_refused() {
    for backend in Backend::available() {
        child(&[("CTM_ENGINE_ISA", backend.name()), ("CTM_TEST_EXPECT", backend.name())]);
    }
    child(&[("CTM_ENGINE_ISA", "avx3"), ("CTM_TEST_EXPECT", "error: is no back end of the engine")]);
    child(&[("CTM_ENGINE_ISA", ""), ("CTM_TEST_EXPECT", "error: is no back end of the engine")]);
    let best = Backend::detect().name();
    child(&[("CTM_TEST_EXPECT", best)]);
}

#[test]
fn without_executable_memory_the_portable_one_runs() {
    child(&[("CTM_ENGINE_NO_EXEC", "1"), ("CTM_TEST_EXPECT", "portable")]);
    child(&[("CTM_ENGINE_NO_EXEC", "0"), ("CTM_TEST_EXPECT", Backend::detect().name())]);
    let error = "error: memory cannot be made executable here";
    for backend in Backend::available().filter(|&b| b != Backend::Portable) {
        let isa = ("CTM_ENGINE_ISA", backend.name());
        child(&[isa, ("CTM_ENGINE_NO_EXEC", "1"), ("CTM_TEST_EXPECT", error)]);
    }
}

/// The same where the system really forbids it (an option of Linux 6.3 and later).
#[cfg(target_os = "linux")]
#[test]
fn where_the_system_forbids_it_the_portable_one_runs() {
    child(&[("CTM_TEST_FORBID", "1"), ("CTM_TEST_EXPECT", "portable")]);
}

#[test]
#[ignore = "run by the others"]
fn in_a_process_of_its_own() {
    #[cfg_attr(not(target_os = "linux"), expect(unused_mut, reason = "only Linux forbids it"))]
    let mut expected = std::env::var("CTM_TEST_EXPECT").unwrap_or_else(|_| Backend::detect().to_string());
    #[cfg(target_os = "linux")]
    if std::env::var_os("CTM_TEST_FORBID").is_some() {
        const PR_SET_MDWE: i32 = 65;
        const PR_MDWE_REFUSE_EXEC_GAIN: u64 = 1;
        #[allow(unsafe_code, reason = "the system is asked to forbid executable memory")]
        // SAFETY: it restricts later mappings of this process, and nothing else.
        let forbidden = unsafe { libc::prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0u64, 0u64, 0u64) } == 0;
        if !forbidden {
            // An older kernel: the test has nothing to check here.
            expected = Backend::detect().to_string();
        }
    }
    let engine = match (Jit::from_environment(), expected.strip_prefix("error: ")) {
        (Ok(engine), None) => engine,
        (Err(error), Some(text)) => {
            let message = error.to_string();
            assert!(message.starts_with("CTM_ENGINE_ISA: ") && message.contains(text), "{message}");
            return;
        }
        (Ok(engine), Some(_)) => panic!("{} instead of an error", engine.backend()),
        (Err(error), None) => panic!("{error}"),
    };
    assert_eq!(engine.backend().name(), expected);
    // For any requested back end, one that can run does.
    let forced = Backend::ALL.map(Jit::with_backend);
    let flow = FlowControl::Statements;
    let shape = RandomContents { instructions: 20, flow, inputs: 2, watches_idle_lanes: false, relative: false };
    for seed in 0..4 {
        let (program, case) = (program(seed, &shape), Case::new(seed));
        let (outcome, memory) = case.run(&program, &Interp, 1);
        for engine in forced.iter().chain([&engine]) {
            let (found, arrays) = case.run(&program, engine, 1);
            assert_eq!(found, outcome);
            assert_eq!(arrays.first_difference(&memory), None);
        }
    }
    // The same for R700, with divergence.
    let source = "ALU_BREAK:\n x: ADD R0.x, R0.x, 1.0f\n x: PRED_SETGT ____, 9.0f, R0.x UPDATE_EXEC_MASK UPDATE_PRED\n";
    let source = format!("LOOP_START i0 FAIL_JUMP_ADDR(on)\nturn:\n{source}LOOP_END i0 PASS_JUMP_ADDR(turn)\non:\n");
    let source = format!("{source}EXP_DONE: PIX0, R0.xyxy\nEND_OF_PROGRAM\n");
    let assembly = ctm_isa::r700::text::assemble(&source, &ctm_isa::r700::text::TextOptions::default());
    let program = assembly.program.unwrap();
    let mut constants = r700::Constants::default();
    constants.loops[0] = r700::LoopConstant { count: 40, start: 0, step: 1 };
    let planes = [r700::Plane::position(0)];
    let domain = Domain { i0: 0, j0: 0, i1: 19, j1: 4 };
    let run = |engine: &dyn Engine| {
        let mut memory = r700::Arrays::default();
        memory.targets.insert(r700::Target::Pixel(0), Picture::filled(20, 5, [0.0; 4]));
        let launch = r700::Launch { planes: &planes, ..r700::Launch::new(&program, &constants, domain) };
        let outcome = engine.run_r700(&launch, &mut memory).unwrap();
        (outcome, memory.targets)
    };
    let expected = run(&ctm_exec::Interp);
    for engine in forced.iter().chain([&engine]) {
        assert_eq!(run(engine), expected, "{}", engine.backend());
    }
}
