//! Nothing that can be in the words makes the interpreter panic or hang.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Filter, Plane, Sampler, Wrap};
use ctm_exec::{Budget, Domain};
use ctm_isa::x1k::{Inst, Program};
use ctm_testkit::x1k::build::Setup;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A word whose jump goes somewhere in the program, half of the time.
fn words(random: &mut Random, slots: u64) -> [u32; 6] {
    let mut words: [u32; 6] = std::array::from_fn(|_| random.next() as u32);
    // Codes without a meaning are rare enough in this range.
    words[0] = words[0] & !0x0000_0038 | (random.below(6) as u32) << 3;
    words[0] = words[0] & !0x0e00_0000 | (random.below(6) as u32) << 25;
    if words[0] & 3 == 2 {
        words[2] &= !0x0a00_0080;
        words[3] = words[3] & !0x01ff_0000 | (random.below(slots + 1) as u32) << 16;
    }
    words
}

#[test]
fn random_words_neither_panic_nor_hang() {
    let random = &mut Random(7);
    let (mut decodable, mut finished) = (0, 0);
    for round in 0..6000 {
        let slots = 1 + random.below(24);
        let mut program = Program::from_words((0..slots).map(|_| words(random, slots)).collect());
        program.last = random.below(slots + 2) as u16;
        program.first = random.below(slots) as u16;
        program.full_flow_control = random.below(4) > 0;
        program.uncached = random.below(4) == 0;
        program.zero_times_anything = random.below(2) == 0;
        program.conditional_value = random.below(2) == 0;
        decodable += program.words.iter().filter(|w| Inst::decode(w).is_ok()).count();
        let mut setup = Setup {
            domain: Domain { i0: 1, j0: 0, i1: 4, j1: 3 },
            group: [4, 16, 20, 64][random.below(4) as usize],
            budget: Budget { instructions_per_group: Some(200), time: None },
            threads: 1,
            checks: random.below(2) == 0,
            planes: vec![Plane::position(random.next() as u8)],
            ..Setup::default()
        };
        setup.constants.float.as_flattened_mut().iter_mut().for_each(|x| *x = random.next() as u32);
        setup.constants.int.as_flattened_mut().iter_mut().for_each(|x| *x = random.next() as u8);
        setup.constants.bool.iter_mut().for_each(|x| *x = random.below(2) == 0);
        let mut memory = Arrays::default();
        for input in 0..12 {
            let wrap = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border][input % 4];
            let filter = if input % 3 == 0 { Filter::Linear } else { Filter::Nearest };
            let sampler = Sampler { filter, wrap: [wrap; 2], border: [1, 2, 3, 4] };
            let (width, height) = (random.below(4) as u32, random.below(4) as u32);
            memory.inputs[input] = Some((Picture::filled(width, height, [1.0, f32::NAN, -0.0, 1e-40]), sampler));
        }
        memory.outputs[0] = Some(Picture::filled(5, 4, [0.0; 4]));
        memory.feedback = (random.below(4) == 0).then_some(3);
        if let Ok(outcome) = setup.run(&program, &mut memory) {
            finished += 1;
            assert!(outcome.counters.processors == 16, "round {round}");
        }
    }
    // The test means something only if programs get somewhere.
    assert!(decodable > 6000 && finished > 200, "{decodable} decodable, {finished} finished");
}
