//! The engines: a random X1K program, mutated by the input, runs on the reference interpreter and on every back end of the fast one, as a
//! stream where it is one. Outcomes, counters, outputs and conditional values must agree bit for bit.
#![no_main]

use ctm_exec::Interp;
use ctm_jit::{Backend, Jit, StreamLimits};
use libfuzzer_sys::fuzz_target;

use ctm_testkit::x1k::case::KINDS;

fuzz_target!(|bytes: &[u8]| {
    let Some((&[low, high, kind], mutations)) = bytes.split_first_chunk::<3>() else { return };
    let (mut program, mut case) =
        KINDS[usize::from(kind) % KINDS.len()].make(u64::from(u16::from_le_bytes([low, high])));
    // Each mutation: an instruction, a byte of it, the flipped bits.
    for &[place, byte, flips] in mutations.as_chunks::<3>().0 {
        let count = program.words.len();
        let word = &mut program.words[usize::from(place) % count][usize::from(byte) / 4 % 6];
        *word ^= u32::from(flips) << (8 * u32::from(byte % 4));
    }
    case.budget.instructions_per_group = Some(1000);
    let (expected, memory) = case.run(&program, &Interp, 1);
    for backend in Backend::available() {
        let limits = StreamLimits { processors: 1, ..StreamLimits::default() };
        let (found, surfaces) = case.run(&program, &Jit::with_backend(backend).with_stream_limits(limits), 1);
        assert_eq!(found, expected, "{backend}");
        assert_eq!(surfaces.first_difference(&memory), None, "{backend}");
    }
});
