//! Random legal programs, for tests that compare engines and for fuzzing.
//!
//! The same seed gives the same program. Programs use few registers, so that instructions depend on each other, and every field
//! that an engine implements: swizzles, input and output modifiers, presubtract, predicates, partial masks, relative addresses, KILL,
//! lookups, and flow control either from the statements of CTM §3.5.4 or with every field at random. [`stream`] makes programs in which
//! every processor does the same, [`text`] programs that people read.

mod compiled;
mod flow;
mod instructions;
mod readable;
mod stream;

use super::formats::{AlphaAddr, RgbAddr};
use super::inst::{AluInst, Inst, Words};
use super::ops::{AOp, AlphaOp, BOp, FcOp, InstType, Omod, RgbOp, Swizzle};
use super::program::Program;
pub use readable::{TextShape, text};
pub use stream::{COORDINATES, StreamShape, stream};

/// Values on which arithmetic goes wrong first: zeros, ones, extremes, denormals, infinities, NaNs of several patterns.
pub const SPECIAL: &[u32] = &[
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x0080_0000,
    0x8080_0000,
    0x007f_ffff,
    0x807f_ffff,
    0x0000_0001,
    0x8000_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f00_0000,
    0x0100_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc1_2345,
    0x4b80_0000,
    0x4b7f_ffff,
    0x3eff_ffff,
    0x3f00_0001,
    0x42fe_0000,
    0xc2fc_0000,
    // Values that output modifiers move across the ends of the range, or just not.
    0x7eff_ffff,
    0xfeff_ffff,
    0x7e80_0000,
    0x7dff_ffff,
    0x7c7f_ffff,
    0x00ff_ffff,
    0x80ff_ffff,
    0x017f_ffff,
    0x0180_0000,
    0x03ff_ffff,
    0x8280_0000,
    // 2^-75 and 2^64: their squares are at the ends. 2^-64, 2^63 and numbers around them, for terms of dot products that leave the range and come back.
    0x1a00_0000,
    0x5f80_0000,
    0x1f80_0000,
    0x9f80_0000,
    0x1fc0_0001,
    0x5f00_0000,
    0xdf80_0000,
    0x5f35_04f3,
    // Limits of integer and of exact coordinates: +-2^31, 2^32, 2^40, 65536 and its neighbours, 4095.5, -1/256.
    0x4f00_0000,
    0xcf00_0000,
    0x4eff_ffff,
    0x4f80_0000,
    0x5380_0000,
    0xd380_0000,
    0x4780_0000,
    0x477f_ff80,
    0x4780_0040,
    0xc780_0000,
    0x457f_f800,
    0xbb80_0000,
    // Steps and halves below them; arguments of EX2 at its ends.
    0x3f7f_ffff,
    0x3f80_0001,
    0x4300_0000,
    0x42ff_ffff,
    0xc315_0000,
    0xc315_8000,
];

/// A small generator of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u32) -> u32 {
        (((self.bits() >> 32) * limit as u64) >> 32) as u32
    }

    /// True once in `n` times.
    pub const fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    pub const fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// The bits of a single-precision number: often a special one, often of moderate size, sometimes anything.
    pub fn value(&mut self) -> u32 {
        match self.below(8) {
            0 | 1 => self.of(SPECIAL),
            2 => self.bits() as u32,
            3 => (self.below(17) as f32 - 8.0).to_bits(),
            _ => ((self.below(1 << 24) as f32 / (1 << 20) as f32 - 8.0) * 0.75).to_bits(),
        }
    }
}

/// How jumps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// None.
    None,
    /// By the statements of CTM §3.5.4, properly nested.
    Statements,
    /// The same, and everything else, as compilers write them: conditions are truth values that are computed, BREAK is in a branch, uncovered processors never vote.
    Compiled,
    /// Every field of every flow-control instruction at random.
    Raw,
}

/// The permitted contents of a random program.
#[derive(Clone, Copy, Debug)]
pub struct RandomContents {
    /// About how many instructions.
    pub instructions: usize,
    /// How jumps are made.
    pub flow: FlowControl,
    /// The number of inputs that lookups name, from 0 on; 0: no lookups.
    pub inputs: u32,
    /// WRITE_INACTIVE and quad operations may occur.
    pub watches_idle_lanes: bool,
    /// Relative addresses may occur.
    pub relative: bool,
}

/// Temporaries that programs use.
pub const TEMPS: u32 = 6;
/// Floating-point constants that programs use.
pub const CONSTANTS: u32 = 12;
/// Integer constants that programs use.
pub const INTS: u32 = 4;

/// A random program.
#[must_use]
pub fn program(seed: u64, shape: &RandomContents) -> Program {
    let mut random = Random::new(seed);
    let zero_times_anything = random.one_in(2);
    let mut make = Maker::new(random, *shape);
    let mut first = 0;
    match shape.flow {
        FlowControl::None => make.straight(shape.instructions),
        FlowControl::Statements | FlowControl::Compiled => {
            let compiled = shape.flow == FlowControl::Compiled;
            make.compiled = compiled || make.random.one_in(3);
            if compiled {
                make.new_habits();
            }
            if make.random.one_in(if compiled { 8 } else { 3 }) {
                make.in_subroutine = true;
                make.statements(shape.instructions / 4, 1, 0);
                make.flow(FlowRow { func: 0xff, a_op: AOp::Pop, b1: BOp::Decr, count: 1, ..FlowRow::JUMP }, 0);
                make.in_subroutine = false;
                make.subroutine = Some(0);
                first = make.words.len() as u16;
            }
            make.statements(shape.instructions, 0, 0);
        }
        FlowControl::Raw => {
            for _ in 0..shape.instructions {
                if make.random.one_in(3) {
                    make.raw_flow(shape.instructions as u32);
                } else {
                    make.straight(1);
                }
            }
        }
    }
    make.stores();
    let mut program = Program::from_words(make.words);
    program.first = first;
    program.zero_times_anything = zero_times_anything;
    program.conditional_value = make.random.one_in(if shape.flow == FlowControl::Compiled { 12 } else { 2 });
    if shape.flow == FlowControl::Raw && make.random.one_in(4) {
        program.full_flow_control = false;
    }
    program
}

/// A row of the table of CTM §3.5.4.
#[derive(Clone, Copy)]
struct FlowRow {
    func: u8,
    any: bool,
    op: FcOp,
    a_op: AOp,
    b0: BOp,
    b1: BOp,
    count: u8,
    b_else: bool,
}

impl FlowRow {
    const JUMP: Self = Self {
        func: 0,
        any: false,
        op: FcOp::Jump,
        a_op: AOp::None,
        b0: BOp::None,
        b1: BOp::None,
        count: 0,
        b_else: false,
    };
}

struct Maker {
    random: Random,
    shape: RandomContents,
    words: Vec<Words>,
    subroutine: Option<u16>,
    in_subroutine: bool,
    /// As Mesa's compiler writes flow control: uncovered processors never vote, and a loop that no lane enters jumps to its end.
    compiled: bool,
    habits: compiled::Habits,
}

/// A loop that is open: where it begins, whether it is a LOOP, branch blocks opened in it, and the jumps to patch.
struct Loop {
    is_loop: bool,
    branches: u8,
    to_end: Vec<usize>,
    behind: Vec<usize>,
}

impl Maker {
    fn new(random: Random, shape: RandomContents) -> Self {
        let habits = compiled::Habits::default();
        Self { random, shape, words: Vec::new(), subroutine: None, in_subroutine: false, compiled: false, habits }
    }

    fn flag(&mut self, one_in: u32) -> bool {
        self.random.one_in(one_in)
    }

    fn push(&mut self, inst: Inst) -> usize {
        self.words.push(inst.encode());
        self.words.len() - 1
    }

    fn straight(&mut self, count: usize) {
        for _ in 0..count {
            if self.shape.flow == FlowControl::Compiled {
                self.usual();
                continue;
            }
            let inst = if self.shape.inputs > 0 && self.flag(6) { self.tex() } else { Inst::Alu(self.alu()) };
            self.push(inst);
        }
    }

    /// Writes most temporaries to the outputs, bit for bit.
    fn stores(&mut self) {
        for target in 0..4 {
            self.store(target, target);
        }
    }

    /// Writes a temporary to an output, bit for bit.
    fn store(&mut self, target: u8, temp: u8) {
        let mut alu = AluInst::idle(InstType::Output);
        alu.cmn.rgb_omask = 7;
        alu.cmn.alpha_omask = true;
        alu.rgb_addr = RgbAddr { addr0: temp, addr0_const: false, ..alu.rgb_addr };
        alu.alpha_addr = AlphaAddr { addr0: temp, addr0_const: false, ..alu.alpha_addr };
        alu.rgba.op = RgbOp::Max;
        alu.alpha.op = AlphaOp::Max;
        let rgb = [Swizzle::R, Swizzle::G, Swizzle::B];
        [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = rgb;
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = rgb;
        (alu.alpha.swiz_a, alu.alpha.swiz_b) = (Swizzle::A, Swizzle::A);
        (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
        (alu.rgb.target, alu.alpha.target) = (target, target);
        self.push(Inst::Alu(alu));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_decodes_and_seeds_repeat() {
        for flow in [FlowControl::None, FlowControl::Statements, FlowControl::Compiled, FlowControl::Raw] {
            let shape = RandomContents { instructions: 30, flow, inputs: 2, watches_idle_lanes: true, relative: true };
            for seed in 0..50 {
                let made = program(seed, &shape);
                assert_eq!(made.words, program(seed, &shape).words);
                assert!(made.words.len() <= super::super::INSTRUCTION_SLOTS);
                assert!(made.words.iter().all(|words| Inst::decode(words).is_ok()));
            }
        }
        for seed in 0..100 {
            let (alike, relative) = (seed % 2 == 0, seed % 3 == 0);
            let shape = StreamShape { instructions: 20, inputs: 4, outputs: 2, loops: 3, alike, relative };
            let made = stream(seed, &shape);
            assert_eq!(made.words, stream(seed, &shape).words);
            assert!(made.words.len() <= super::super::INSTRUCTION_SLOTS);
            assert!(made.words.iter().all(|words| Inst::decode(words).is_ok()));
        }
    }
}
