//! The engines: a random X1K program, mutated by the input, runs on the reference interpreter and on every back end of the fast one.
//! Outcomes, counters, outputs and conditional values must agree bit for bit.
#![no_main]

use ctm_exec::x1k::Interp;
use ctm_isa::x1k::random::{FlowControl, Shape, program};
use ctm_jit::{Backend, Jit};
use libfuzzer_sys::fuzz_target;

#[path = "../../crates/ctm-jit/tests/case/mod.rs"]
#[allow(dead_code)]
mod case;
use case::{Case, first_difference};

fuzz_target!(|bytes: &[u8]| {
    let Some((head, mutations)) = bytes.split_first_chunk::<6>() else { return };
    let [low, high, of_case, flow, kinds, size] = *head;
    let shape = Shape {
        instructions: 1 + usize::from(size % 48),
        flow: [FlowControl::None, FlowControl::Statements, FlowControl::Raw][usize::from(flow % 3)],
        inputs: 2,
        watches_idle_lanes: kinds & 1 != 0,
        relative: kinds & 2 != 0,
    };
    let mut program = program(u64::from(u16::from_le_bytes([low, high])), &shape);
    // Each mutation: an instruction, a byte of it, what is flipped there.
    for &[place, byte, flips] in mutations.as_chunks::<3>().0 {
        let count = program.words.len();
        let word = &mut program.words[usize::from(place) % count][usize::from(byte) / 4 % 6];
        *word ^= u32::from(flips) << (8 * u32::from(byte % 4));
    }
    let mut case = Case::new(of_case.into());
    case.budget.instructions_per_group = Some(1000);
    let (expected, memory) = case.run(&program, &Interp, 1);
    for backend in Backend::available() {
        let (found, arrays) = case.run(&program, &Jit::with_backend(backend), 1);
        assert_eq!(found, expected, "{backend}");
        assert_eq!(arrays.conditional_values, memory.conditional_values, "{backend}");
        assert_eq!(first_difference(&arrays, &memory), None, "{backend}");
    }
});
