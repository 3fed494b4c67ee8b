//! Launches with epilogues: engines compute and store the targets' elements after each pixel.
//!
//! Truth: the reference interpreter, after which memory applies the lists pixel by pixel.

use crate::r700_spans::{Targets, program};
use ctm_exec::epilogue::{Epilogue, Step, StepIndex};
use ctm_exec::r700::{Constants, Launch, LoopConstant, Plane, TargetEpilogue};
use ctm_exec::x1k::Form;
use ctm_exec::{Domain, Engine, GroupSize, Interp};
use ctm_isa::r700::random::Random;
use ctm_jit::{Backend, Jit};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Colours with numbers, denormals, infinities and NaNs.
pub(super) const COLOURS: &str = "
ALU:
  0  x: MUL_e R2.x, R0.x, 0.01f
     y: MULADD_e R2.y, R0.y, 0.03f, R0.x
     z: MUL_e R2.z, R0.x, R0.y
     w: ADD R2.w, 1.0f, -R0.x
  1  t: RECIP_IEEE R3.x, R2.w
  2  x: MUL_e R3.y, R3.x, R2.w
     z: MOV R3.z, 1.0e-40f
     w: MOV R3.w, R2.y
EXP: PIX0, R2.xyzw
EXP_DONE: PIX1, R3.xyzw
END_OF_PROGRAM
";

/// The same behind a loop whose turns depend on the lane.
const TURNS: &str = "
ALU:
  0  x: MOV R2.x, R0.x
     y: MOV R2.y, 0.0f
LOOP_START i0 FAIL_JUMP_ADDR(done)
turn:
ALU_BREAK:
  1  x: MULADD_e R2.x, R2.x, 0.75f, R0.y
     y: ADD R2.y, R2.y, 0.125f
  2  x: PRED_SETGT ____, 9.0f, R2.x UPDATE_EXEC_MASK UPDATE_PRED
LOOP_END i0 PASS_JUMP_ADDR(turn)
done:
EXP: PIX0, R2.yxyx
EXP_DONE: PIX1, R2.x01y
END_OF_PROGRAM
";

/// Colours of lanes that are not killed, in a branch or not.
pub(super) const KILLS: &str = "
ALU_PUSH_BEFORE:
  0  x: PRED_SETGT ____, R0.x, 5.0f UPDATE_EXEC_MASK UPDATE_PRED
ALU_POP_AFTER:
  1  x: KILLGT ____, R0.y, 4.0f
ALU:
  2  x: KILLGT ____, 3.0f, R0.x
     y: MUL_e R1.y, R0.x, 0.37f
  3  x: FRACT R2.x, R1.y
     y: MUL_e R2.y, R0.y, 0.03f
EXP: PIX0, R2.xyxy
EXP_DONE: PIX1, R2.x01y
END_OF_PROGRAM
";

/// A test of the first output.
fn test(random: &mut Random) -> Epilogue {
    let mut list = Epilogue::default();
    let element = (random.bits() % 4) as u8;
    let colour = list.step(Step::Exported { output: 0, element });
    let bound = list.step(Step::Bits([0f32, 0.1, 0.25, 1e-40][random.bits() as usize % 4].to_bits()));
    let all = list.step(Step::Bits(u32::MAX));
    let [less, equal] = [Step::Less([colour, bound]), Step::Equal([bound, colour])].map(|step| list.step(step));
    let either = list.step(Step::Or([less, equal]));
    let last = [less, either, equal][random.bits() as usize % 3];
    let last = if random.bits().is_multiple_of(2) { list.step(Step::Xor([last, all])) } else { last };
    list.finish(last);
    list
}

/// A random list of both outputs and the stored element.
pub(super) fn list(random: &mut Random, reads_stored: bool) -> Epilogue {
    let mut list = Epilogue::default();
    let [one, whole, low, sign, inverse] =
        [1f32.to_bits(), 0x4b00_0000, 0xff, 0x8000_0000, 0x3b80_8081].map(|bits| list.step(Step::Bits(bits)));
    let mut numbers: Vec<StepIndex> = vec![one, whole, sign, inverse];
    let mut bits: Vec<StepIndex> = vec![low, sign];
    for element in 0..4 {
        numbers.push(list.step(Step::Exported { output: (random.bits() % 2) as u8, element }));
    }
    if reads_stored {
        bits.push(list.step(Step::Stored));
    }
    for _ in 0..24 {
        let mut pick = |of: &[StepIndex]| of[(random.bits() % of.len() as u64) as usize];
        let (a, b, c) = (pick(&numbers), pick(&numbers), pick(&numbers));
        let (x, y) = (pick(&bits), pick(&bits));
        let by = (random.bits() % 32) as u8;
        match random.bits() % 14 {
            0 => numbers.push(list.step(Step::Neg(a))),
            1 | 2 => numbers.push(list.step(Step::Fused([a, b, c]))),
            3 => numbers.push(list.step(Step::Clamp(a))),
            4 => numbers.push(list.step(Step::Min([a, b]))),
            5 => numbers.push(list.step(Step::Max([a, b]))),
            6 => numbers.push(list.step(Step::Number(x))),
            7 => bits.push(list.step(Step::And([x, y]))),
            8 => bits.push(list.step(Step::Or([x, y]))),
            9 => bits.push(list.step(Step::ShiftLeft(x, by))),
            10 => bits.push(list.step(Step::ShiftRight(x, by))),
            11 => bits.push(list.step(Step::Less([a, b]))),
            12 => bits.push(list.step(Step::Equal([a, b]))),
            _ => {
                let limited = list.step(Step::Clamp(a));
                bits.push(list.step(Step::Fused([limited, one, whole])));
            }
        }
    }
    let (number, other) = (numbers[numbers.len() - 1], bits[bits.len() - 1]);
    let limited = list.step(Step::Clamp(number));
    let scaled = list.step(Step::Fused([limited, whole, whole]));
    let both = list.step(Step::Xor([scaled, other]));
    // The last one, even if it was there before.
    list.finish(both);
    list
}

#[test]
fn engines_apply_the_lists() {
    let domains = [[0, 0, 127, 3], [4, 2, 75, 21], [8, 0, 71, 7], [2, 4, 33, 9], [0, 0, 7, 63], [1, 0, 30, 5]];
    let planes = [Plane::position(0)];
    let mut random = Random::new(7);
    let mut constants = Constants::default();
    constants.loops = constants.loops.map(|_| LoopConstant { count: 9, start: 0, step: 1 });
    let mut merged = 0;
    let mut dropped = 0;
    for (case, text) in (0..48).map(|case| (case, [COLOURS, TURNS, KILLS, KILLS][case % 4])) {
        let program = program(text);
        let [i0, j0, i1, j1] = domains[case / 4 % domains.len()];
        let domain = Domain { i0, j0, i1, j1 };
        let forms = [0, 1].map(|n| (1, 1, Form::Floats, (case >> 1 ^ n) & 1 == 1));
        let epilogues =
            [0u8, 1].map(|target| TargetEpilogue { target, epilogue: list(&mut random, case % 3 > 0 || target == 1) });
        let lanes = (i1 / 2 - i0 / 2 + 1) as usize * (j1 / 2 - j0 / 2 + 1) as usize * 4;
        let covered: Vec<u64> = (0..lanes.div_ceil(64)).map(|_| random.bits() | random.bits() << 32).collect();
        let keeps = (case / 2 % 3 > 0).then(|| test(&mut random));
        let marks = || -> Vec<AtomicU64> { (0..lanes.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() };
        let lanes_of = |marks: &[AtomicU64]| -> Vec<u64> { marks.iter().map(|word| word.load(Relaxed)).collect() };
        let survivors = marks();
        let mut before = Targets::new(i1 + 1, j1 + 1, &forms);
        before.epilogues = if case % 7 == 6 { Vec::new() } else { epilogues.to_vec() };
        let launch = Launch {
            planes: &planes,
            counters: false,
            threads: 1,
            wavefront: GroupSize::new([16, 64][case / 4 % 2]).unwrap(),
            covered: (case % 5 > 1).then_some(&covered[..]),
            epilogues: if case % 7 == 6 { &[] } else { &epilogues },
            keeps: keeps.as_ref(),
            survivors: Some(&survivors),
            ..Launch::new(&program, &constants, domain)
        };
        let mut expected = before.clone();
        let outcome = Interp.run_r700(&launch, &mut expected).unwrap();
        for backend in Backend::available() {
            let mut found = before.clone();
            let found_survivors = marks();
            let launch = Launch { survivors: Some(&found_survivors), ..launch };
            let same = Jit::with_backend(backend).run_r700(&launch, &mut found).unwrap();
            assert_eq!(lanes_of(&found_survivors), lanes_of(&survivors), "case {case}, {backend:?}");
            assert!(found.arrays == expected.arrays, "case {case}, {backend:?}: {epilogues:?}");
            assert_eq!(same.counters.writes, outcome.counters.writes, "case {case}, {backend:?}");
            merged += found.merges;
        }
        let marked: u32 = lanes_of(&survivors).iter().map(|word| word.count_ones()).sum();
        dropped += u32::from(marked > 0 && u64::from(marked) < outcome.counters.processors);
    }
    assert!(dropped > 20, "pixels are dropped in {dropped} launches");
    assert!(merged >= 40, "{merged} launches merged themselves");
}
