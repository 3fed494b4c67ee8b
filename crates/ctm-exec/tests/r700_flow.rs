//! The control-flow machine of R700 against a plain reading of structured programs, pixel by pixel.
//!
//! Random programs (`ctm_testkit::r700::structured`) are run for wavefronts of 16, 32 and 64 and compared with their meaning for each pixel. `CTM_RANDOM=n` tries n
//! times as many, `CTM_FLOW_PROGRAMS` says how many, `CTM_FLOW_SEED` where they begin; a failure prints the seed of its program.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::flow::{Flow, PixelSet, PixelState, ProgramPoint};
use ctm_exec::r700::{Arrays, Launch, LoopConstant, Plane, Target};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp};
use ctm_isa::r700::ops::{CfAluOp, CfOp, Cond};
use ctm_testkit::r700::flow_vectors;
use ctm_testkit::r700::structured::words::{ACC, Words};
use ctm_testkit::r700::structured::{Pixel, Random};
use std::collections::{BTreeMap, BTreeSet};

/// An odd domain, so that some quads have pixels that are invalid from the start.
const DOMAIN: Domain = Domain { i0: 1, j0: 2, i1: 9, j1: 8 };
const UNTOUCHED: u32 = 0xdead_beef;

fn start(i: u32, j: u32) -> u32 {
    i * 0x1234_5671 + j * 0x0765_4321
}

/// How often conditions held for no, some and every pixel, by instruction, in a loop, in a branch.
type Coverage = BTreeMap<(&'static str, bool, bool), [u32; 3]>;

fn try_one(seed: u64, coverage: &mut Coverage, names: &mut BTreeSet<&'static str>) -> Result<(), String> {
    let tree = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).tree();
    let program = Words::program(&tree);
    let decoded = program.decode();
    let slots = (0..program.words.len() as u32 / 2).filter_map(|slot| decoded.at(slot));
    names.extend(slots.filter_map(|entry| entry.cf.as_ref().ok()).map(ctm_isa::r700::inst::Cf::name));
    let plane = Plane {
        temp: ACC,
        origin: [0.0; 4],
        di: [f64::from(0x1234_5671), 0.0, 0.0, 0.0],
        dj: [f64::from(0x0765_4321), 0.0, 0.0, 0.0],
        bits: true,
    };
    for wavefront in [16, 32, 64] {
        let launch = Launch {
            planes: &[plane],
            wavefront: GroupSize::new(wavefront).unwrap(),
            budget: Budget { instructions_per_group: Some(10_000_000), time: None },
            ..Launch::new(&program, &tree.constants, DOMAIN)
        };
        let mut memory = Arrays::default();
        let blank = Picture { width: 16, height: 16, elements: vec![[UNTOUCHED; 4]; 256] };
        memory.targets.insert(Target::Pixel(0), blank);
        Interp
            .run_r700(&launch, &mut memory)
            .map_err(|fault| format!("seed {seed}, wavefront {wavefront}: {fault}"))?;
        for j in DOMAIN.j0..=DOMAIN.j1 {
            for i in DOMAIN.i0..=DOMAIN.i1 {
                let mut pixel = Pixel { acc: start(i, j), killed: false, indices: Vec::new(), branches: 0 };
                tree.block(&tree.main, &mut pixel);
                let expected = if pixel.killed { UNTOUCHED } else { pixel.acc };
                let got = memory.targets[&Target::Pixel(0)].get(i, j).unwrap()[0];
                if got != expected {
                    return Err(format!(
                        "seed {seed}, wavefront {wavefront}, pixel ({i}, {j}): {got:#x} for {expected:#x}\n{:?}\n{:?}",
                        tree.main, tree.subs
                    ));
                }
            }
        }
    }
    for seen in tree.seen.into_inner().into_values() {
        let counts = coverage.entry((seen.name, seen.in_loop, seen.in_branch)).or_default();
        counts[usize::from(seen.passed > 0) + usize::from(seen.failed == 0)] += 1;
    }
    Ok(())
}

/// Every instruction with a condition, outside and inside loops and branches, with every pixel failing, some passing, and every one passing.
#[test]
fn random_structured_programs() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |v| v.parse().unwrap());
    let first = number("CTM_FLOW_SEED", 1);
    let count = number("CTM_FLOW_PROGRAMS", 2500 * number("CTM_RANDOM", 1));
    let (mut coverage, mut names) = (Coverage::new(), BTreeSet::new());
    for seed in first..first + count {
        if let Err(difference) = try_one(seed, &mut coverage, &mut names) {
            panic!("{difference}");
        }
    }
    if count < 1000 {
        return;
    }
    // Clauses and WAIT_ACK are in r700_fetch.rs, CALL_FS in r700_modes.rs, vertices in r700_programs.rs.
    let elsewhere =
        ["NOP", "TEX", "VTX", "VTX_TC", "WAIT_ACK", "CALL_FS", "EMIT_VERTEX", "EMIT_CUT_VERTEX", "CUT_VERTEX"];
    let all = CfOp::ALL.iter().map(|op| op.name()).chain(CfAluOp::ALL.iter().map(|op| op.name()));
    let missing: Vec<_> = all.filter(|name| !names.contains(name) && !elsewhere.contains(name)).collect();
    assert!(missing.is_empty(), "no program had {missing:?}");
    // By value: pixels can differ. By boolean: all pixels do the same.
    let by_value = [
        "ALU_PUSH_BEFORE",
        "ELSE",
        "ALU_POP2_AFTER",
        "ALU_ELSE_AFTER",
        "ALU_BREAK",
        "ALU_CONTINUE",
        "LOOP_BREAK",
        "LOOP_CONTINUE",
    ];
    let by_boolean = ["JUMP", "PUSH", "PUSH_ELSE", "POP_JUMP", "POP_PUSH", "POP_PUSH_ELSE", "KILL", "CALL", "RETURN"];
    let loops = ["LOOP_START", "LOOP_START_NO_AL", "LOOP_START_DX10"];
    for (name, values) in
        by_value.map(|n| (n, true)).into_iter().chain(by_boolean.into_iter().chain(loops).map(|n| (n, false)))
    {
        for (in_loop, in_branch) in [(false, false), (true, false), (false, true), (true, true)] {
            let needs_loop = name.ends_with("BREAK") || name.ends_with("CONTINUE");
            if needs_loop && !in_loop {
                continue;
            }
            let [failed, some, passed] = coverage.get(&(name, in_loop, in_branch)).copied().unwrap_or_default();
            assert!(
                failed > 0 && passed > 0 && (some > 0 || !values),
                "{name} in loop {in_loop} in branch {in_branch}: {failed} {some} {passed}"
            );
        }
    }
}

// ---- run vectors (`tests/vectors/r700/run/flow.txt`) -------------------------------------------------------------

#[test]
fn every_vector_holds() {
    flow_vectors::every_vector_holds(&Interp);
}

#[test]
fn every_operation_has_a_vector() {
    flow_vectors::every_operation_has_a_vector();
}

#[test]
fn valid_pixel_mode_matters() {
    flow_vectors::valid_pixel_mode_matters(&Interp);
}

// ---- single instructions on eight pixels -----------------------------------------------------------------------

/// A machine whose pixels have the states `A` active, `b` inactive-branch, `c` -continue, `k` -break; a lower-case `x` is invalid.
fn machine(states: &str) -> Flow {
    let mut flow = Flow::default();
    flow.reset(&states.chars().map(|c| c != 'x').collect::<Vec<_>>());
    for (state, c) in flow.state.iter_mut().zip(states.chars()) {
        *state = match c {
            'A' => PixelState::Active,
            'c' => PixelState::InactiveContinue,
            'k' => PixelState::InactiveBreak,
            _ => PixelState::InactiveBranch,
        };
    }
    flow
}

fn states(flow: &Flow) -> String {
    let name = |state: &PixelState| match state {
        PixelState::Active => 'A',
        PixelState::InactiveBranch => 'b',
        PixelState::InactiveContinue => 'c',
        PixelState::InactiveBreak => 'k',
    };
    flow.state.iter().map(name).collect()
}

const FALSE: PixelSet = PixelSet { cond: Cond::False, ..PixelSet::ACTIVE };
const WHOLE_QUAD: PixelSet = PixelSet { whole_quad: true, ..PixelSet::ACTIVE };
const VALID: PixelSet = PixelSet { valid_pixel: true, ..PixelSet::ACTIVE };

/// R700 table 3.4.
#[test]
fn condition_tests() {
    let mut flow = machine("AbkcbbbbA");
    flow.valid[0] = false;
    let passes = |test: PixelSet| flow.test(test).iter().map(|&p| if p { '1' } else { '0' }).collect::<String>();
    assert_eq!(passes(PixelSet::ACTIVE), "100000001");
    assert_eq!(passes(WHOLE_QUAD), "111100001");
    assert_eq!(passes(VALID), "000000001");
    assert_eq!(passes(FALSE), "000000000");
    assert_eq!(passes(PixelSet { cond: Cond::Bool, ..PixelSet::ACTIVE }), "000000000");
    assert_eq!(passes(PixelSet { cond: Cond::NotBool, ..PixelSet::ACTIVE }), "100000001");
    assert_eq!(passes(PixelSet { cond: Cond::Bool, boolean: true, ..WHOLE_QUAD }), "111100001");
}

/// R700 table 3.7, PUSH and PUSH_ELSE (the latter as docs/r700-open-questions.md says).
#[test]
fn push_and_push_else() {
    let mut flow = machine("AAbbkAAA");
    flow.valid[1] = false;
    assert!(!flow.push_state(VALID, 0).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("AbbbkAAA", 1));
    flow.pop(PixelSet::ACTIVE, 1).unwrap();
    assert_eq!(states(&flow), "AAbbkAAA");
    // All fail: nothing is pushed, POP_COUNT entries go.
    flow.push_before_clause().unwrap();
    assert!(flow.push_state(FALSE, 1).unwrap());
    assert_eq!(flow.stack_depth(), 0);
    // Whole-quad mode wakes pixels until the pop, but none that a loop holds.
    assert!(!flow.push_state(WHOLE_QUAD, 0).unwrap());
    assert_eq!(states(&flow), "AAAAkAAA");
    flow.pop(PixelSet::ACTIVE, 1).unwrap();
    // In valid-pixel mode an invalid pixel counts as inactive (R700 §3.6.2): nothing is left, and it jumps.
    assert!(flow.push_else(VALID).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("bbbbkbbb", 1));
    flow.pop(PixelSet::ACTIVE, 1).unwrap();
    // All pass: pushed all the same, and it jumps.
    assert!(flow.push_else(PixelSet::ACTIVE).unwrap());
    assert_eq!(flow.stack_depth(), 1);
}

/// R700 §3.6.2, §3.7.2: POP applies its test to the restored state; ELSE exchanges; both leave loop states alone.
#[test]
fn pop_and_else() {
    let mut flow = machine("AAAAbbbb");
    flow.push_before_clause().unwrap();
    flow.take_predicates(&[Some(true), Some(false), Some(true), Some(false), None, None, None, None]);
    assert_eq!(states(&flow), "AbAbbbbb");
    assert!(!flow.else_(PixelSet::ACTIVE, 1).unwrap());
    assert_eq!(states(&flow), "bAbAbbbb");
    flow.valid[1] = false;
    flow.pop(VALID, 1).unwrap();
    assert_eq!(states(&flow), "AbAAbbbb");
    // ELSE without pixels on the other side pops and jumps.
    flow.push_before_clause().unwrap();
    assert!(flow.else_(PixelSet::ACTIVE, 1).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("AbAAbbbb", 0));
    assert!(flow.pop(PixelSet::ACTIVE, 1).is_err());
}

/// R700 §3.7.3: pixels that left a loop stay inactive through every pop, and return after the loop.
#[test]
fn breaks_survive_pops() {
    let mut flow = machine("AAAbbbbb");
    let three = LoopConstant { count: 3, start: 10, step: -4 };
    assert!(!flow.loop_start(ctm_exec::r700::flow::LoopKind::Counted(three), PixelSet::ACTIVE, 0).unwrap());
    assert_eq!((states(&flow).as_str(), flow.loop_index()), ("AAAkkkkk", 10));
    flow.push_before_clause().unwrap();
    flow.take_predicates(&[Some(true), Some(false), Some(false), None, None, None, None, None]);
    assert!(!flow.loop_leave(PixelSet::ACTIVE, PixelState::InactiveBreak).unwrap());
    flow.pop(PixelSet::ACTIVE, 1).unwrap();
    assert_eq!(states(&flow), "kAAkkkkk");
    flow.push_before_clause().unwrap();
    // The rest waits for the next turn: the push is dropped, and it jumps to the end.
    assert!(flow.loop_leave(PixelSet::ACTIVE, PixelState::InactiveContinue).unwrap());
    assert!(flow.loop_end(PixelSet::ACTIVE).unwrap());
    assert_eq!((states(&flow).as_str(), flow.loop_index(), flow.stack_depth()), ("kAAkkkkk", 6, 1));
    assert!(flow.loop_end(PixelSet::ACTIVE).unwrap());
    assert!(!flow.loop_end(PixelSet::ACTIVE).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("AAAbbbbb", 0));
}

/// R700 §3.7.6, §9.1 KILL.
#[test]
fn calls_and_kills() {
    let mut flow = machine("AAAAxxxx");
    let back = ProgramPoint { fetch: false, slot: 7 };
    assert!(flow.call(PixelSet::ACTIVE, 31, back).unwrap());
    assert!(flow.call(PixelSet::ACTIVE, 1, back).unwrap());
    // 31 + 1 + 1 is too deep; without counting it is not.
    assert!(!flow.call(PixelSet::ACTIVE, 1, back).unwrap());
    assert!(flow.call(PixelSet::ACTIVE, 0, back).unwrap());
    assert!(!flow.call(FALSE, 0, back).unwrap());
    for _ in 0..3 {
        assert_eq!(flow.return_(false, 0).unwrap(), back);
    }
    assert!(flow.return_(false, 0).is_err());
    flow.state[3] = PixelState::InactiveBranch;
    assert!(!flow.kill(PixelSet::ACTIVE));
    assert_eq!((states(&flow).as_str(), &flow.valid[..4]), ("AAAbbbbb", &[false, false, false, true][..]));
    assert!(flow.kill(WHOLE_QUAD));
}
