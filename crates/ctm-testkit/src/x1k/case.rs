//! Everything of a random case that is not the program: constants, planes, domain, surfaces. Shared by the tests of this crate.
#![allow(dead_code, reason = "every test file uses its part")]

pub mod reduce;

use crate::far::FAR;
pub use crate::tries::seeds;
use crate::x1k::surfaces::{PaddedArray, Surfaces};
use ctm_exec::x1k::{Constants, Filter, Form, Launch, Memory, Plane, Sampler, Target, Wrap};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, LaneOrder, LaneRows, Outcome, StartRow};
use ctm_isa::x1k::Program;
use ctm_isa::x1k::inst::Inst;
use ctm_isa::x1k::ops::{Imod, InstType, Omod, RgbOp, Sel, Swizzle};
use ctm_isa::x1k::random::{
    CONSTANTS, COORDINATES, FlowControl, INTS, Random, RandomContents, StreamShape, TEMPS, program,
    stream as stream_program,
};

/// Everything of one case that is not the program.
#[derive(Clone, Debug)]
pub struct Case {
    pub constants: Constants,
    pub planes: Vec<Plane>,
    /// Start values lane by lane: register, element, values.
    pub rows: Vec<(u8, u8, Vec<u32>)>,
    pub domain: Domain,
    pub group: GroupSize,
    pub budget: Budget,
    /// Whether everything is counted.
    pub counters: bool,
    pub memory: Surfaces,
}

/// An array of special values, with gaps between its rows or not.
fn array(r: &mut Random, width: u32, height: u32) -> PaddedArray {
    let channels = r.of(&[1, 2, 4, 4]);
    let pitch = width + r.of(&[0, 1, 7]);
    let elements: Vec<u32> = (0..width * height * 4).map(|_| r.value()).collect();
    PaddedArray::with_pitch(pitch, [width, height], channels, |x, y, c| {
        elements[((y * width + x) * 4) as usize + usize::from(c)]
    })
}

/// An output that nothing has been written to.
fn blank(r: &mut Random, width: u32, height: u32) -> PaddedArray {
    let channels = r.of(&[1, 2, 4, 4, 4]);
    let pitch = (width + r.of(&[0, 1, 5])).next_multiple_of(r.of(&[1, 1, 16]));
    PaddedArray::with_pitch(pitch, [width, height], channels, |_, _, _| 0xc040_0000)
}

fn constants(r: &mut Random) -> Constants {
    let mut constants = Constants::default();
    for constant in constants.float.iter_mut().take(CONSTANTS as usize + 8) {
        *constant = std::array::from_fn(|_| r.value());
    }
    for int in constants.int.iter_mut().take(INTS as usize) {
        // Count, initial aL, step.
        *int = [r.below(5) as u8, r.below(4) as u8, r.of(&[0, 1, 2, 255]), 0];
    }
    constants.bool = std::array::from_fn(|_| r.one_in(2));
    constants
}

/// Every other four cases count: each engine that takes turns with three others has both.
const fn counters(seed: u64) -> bool {
    (seed / 4).is_multiple_of(2)
}

/// Forms of elements that are no numbers as they are.
const FORMS: [Form; 4] = [Form::Bytes { swapped: false }, Form::Bytes { swapped: true }, Form::Words, Form::Square];

/// An array of elements that are no numbers as they are.
fn other(r: &mut Random, w: u32, h: u32) -> PaddedArray {
    let form = r.of(&FORMS);
    read_as(&array(r, w, h), form)
}

/// As many words as an array has elements, as elements of another form.
fn read_as(array: &PaddedArray, form: Form) -> PaddedArray {
    PaddedArray::with_pitch(array.pitch, [array.width, array.height], 1, |x, y, _| array.get(x, y)[0]).read_as(form)
}

fn sampler(r: &mut Random) -> Sampler {
    Sampler {
        filter: if r.one_in(3) { Filter::Linear } else { Filter::Nearest },
        wrap: std::array::from_fn(|_| r.of(&[Wrap::Clamp, Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border])),
        border: std::array::from_fn(|_| r.value()),
    }
}

/// A plane of small numbers, of which some channels may lie far out.
fn plane(r: &mut Random, temp: u8) -> Plane {
    let mut plane = Plane {
        temp,
        origin: std::array::from_fn(|_| f64::from(r.below(33)) / 8.0 - 2.0),
        di: std::array::from_fn(|_| f64::from(r.below(17)) / 32.0 - 0.25),
        dj: std::array::from_fn(|_| f64::from(r.below(17)) / 16.0 - 0.5),
        bits: false,
    };
    if r.one_in(4) {
        for channel in (0..4).filter(|c| c % 2 == 0 || temp == 2) {
            plane.origin[channel] = r.of(FAR);
            plane.di[channel] = r.of(&[0.0, 1.0, -1.0, 0.25, 1e-40, 1e9]);
        }
    }
    plane
}

/// Start values lane by lane, now and then: some rows too short, or for registers that are not there.
fn rows(r: &mut Random, domain: Domain) -> Vec<(u8, u8, Vec<u32>)> {
    if !r.one_in(4) {
        return Vec::new();
    }
    let all = LaneOrder::quads(domain).count();
    let count = 1 + r.below(5);
    let row = |_| {
        let lanes = if r.one_in(6) { r.below(all as u32) as usize } else { all };
        let moderate = !r.one_in(3);
        let bits = (0..lanes).map(|_| if moderate { number(r) } else { r.value() }).collect();
        (if r.one_in(24) { 127 } else { r.below(TEMPS) as u8 }, r.below(4) as u8, bits)
    };
    (0..count).map(row).collect()
}

/// The bits of a small number, as programs have for constants.
fn number(r: &mut Random) -> u32 {
    match r.below(4) {
        0 => r.of(&[0.0f32, 1.0, -1.0, 0.5, 0.25, 2.0]).to_bits(),
        _ => ((r.below(129) as f32 - 64.0) / 32.0).to_bits(),
    }
}

/// A number of outputs of any kind, for a domain.
fn blanks(r: &mut Random, count: u32, domain: Domain) -> Vec<PaddedArray> {
    let blank_one = |_| {
        let width = domain.i1 + 1 + r.below(3);
        let mut output = blank(r, width, domain.j1 + 1);
        if r.one_in(8) {
            output.mask = r.below(16) as u8;
        }
        output
    };
    (0..count).map(blank_one).collect()
}

impl Case {
    /// The case of this number, for any program.
    pub fn new(seed: u64) -> Self {
        let r = &mut Random::new(seed ^ 0x5eed);
        let constants = constants(r);
        let mut planes = vec![Plane::position(0), plane(r, 1), plane(r, 2), plane(r, 3)];
        if r.one_in(4) {
            // Special values as bits: every lane another denormal, then NaNs.
            planes.push(Plane { temp: 4, origin: [8e6, 4.29e9, 3e9, 5.0], di: [1.0; 4], dj: [1e5; 4], bits: true });
        }
        if r.one_in(4) {
            // The same around ends of the range of numbers and of integers, in bits.
            let around = [0x7f00_0000u32, 0x007f_fff8, 0x4eff_fff8, 0x7f7f_fff0, 0xcf00_0000, 0x477f_ffc0, 0x3f7f_fffc];
            let origin = std::array::from_fn(|_| f64::from(r.of(&around)));
            planes.push(Plane { temp: 5, origin, di: [1.0; 4], dj: [3.0; 4], bits: true });
        }
        let mut memory = Surfaces::default();
        for index in 0..2 {
            let (w, h) = (1 + r.below(9), 1 + r.below(6));
            memory.inputs.push(if r.one_in(8) { other(r, w, h) } else { array(r, w, h) });
            memory.samplers[index] = if index == 0 { Sampler::default() } else { sampler(r) };
        }
        let (i0, j0) = (r.below(4), r.below(4));
        let size = r.of(&[6, 12, 20]);
        let domain = Domain { i0, j0, i1: i0 + r.below(size), j1: j0 + r.below(size / 2) };
        let outputs = r.of(&[4, 4, 4, 4, 1, 2]);
        memory.outputs = blanks(r, outputs, domain);
        memory.direct = !r.one_in(3);
        memory.lends = !r.one_in(3);
        memory.refuses = r.one_in(16);
        memory.feedback = r.one_in(16).then_some(1);
        let group = GroupSize::new(r.of(&[16, 16, 16, 4, 8, 12])).unwrap_or(GroupSize::X1K);
        let instructions_per_group = Some(if r.one_in(8) { u64::from(r.below(200)) } else { 2000 });
        let budget = Budget { instructions_per_group, time: None };
        let rows = rows(&mut Random::new(seed ^ 0x5_7a27), domain);
        Self { constants, planes, rows, domain, group, budget, counters: counters(seed), memory }
    }

    /// The case of this number for programs as compilers write them: ordinary numbers for the most part, inputs of every form, mapped memory arrays.
    pub fn compiled(seed: u64) -> Self {
        let mut case = Self::new(seed);
        let r = &mut Random::new(seed ^ 0xc0de_5eed);
        let constants = case.constants.float.iter_mut().take(CONSTANTS as usize + 8).flatten();
        constants.for_each(|bits| *bits = if r.one_in(8) { *bits } else { number(r) });
        if !r.one_in(16) {
            case.budget.instructions_per_group = r.of(&[None, Some(20_000)]);
        }
        if r.one_in(2) {
            // Rows that hold several groups of 16 lanes and more.
            let (i0, j0) = (r.of(&[0, 0, 0, 3, 8]), r.of(&[0, 0, 1]));
            case.domain = Domain { i0, j0, i1: i0 + r.of(&[7, 15, 31, 33]), j1: j0 + r.of(&[0, 1, 3, 4]) };
            case.rows = rows(r, case.domain);
        }
        let memory = &mut case.memory;
        for (input, sampler_of) in memory.inputs.iter_mut().zip(&mut memory.samplers) {
            if r.one_in(3) {
                let (w, h) = (1 + r.below(9), 1 + r.below(6));
                *input = if r.one_in(2) { other(r, w, h) } else { array(r, w, h) };
            }
            *sampler_of = if r.one_in(2) { sampler(r) } else { Sampler::default() };
        }
        let outputs = r.of(&[4, 4, 4, 2, 1]);
        memory.outputs = blanks(r, outputs, case.domain);
        (memory.direct, memory.lends) = (!r.one_in(6), !r.one_in(6));
        (memory.refuses, memory.feedback) = (r.one_in(32), r.one_in(32).then_some(1));
        if r.one_in(8) {
            let targets: Vec<Target> = (0..4).map(Target::Colour).filter(|_| !r.one_in(4)).collect();
            memory.rows = Some(LaneRows::new(LaneOrder::quads(case.domain), &targets));
            (memory.refuses, memory.feedback) = (false, None);
        }
        case
    }

    /// The case of this number for programs of `ctm_isa::x1k::random::stream` with this number of outputs.
    pub fn stream(seed: u64, outputs: u32) -> Self {
        let r = &mut Random::new(seed ^ 0x57ea_5eed);
        let mut constants = constants(r);
        for int in constants.int.iter_mut().take(INTS as usize) {
            *int = [1 + r.below(4) as u8, r.below(4) as u8, r.of(&[0, 1, 2, 255]), 0];
        }
        if r.one_in(24) {
            constants.int[0][0] = 0;
        }
        // Factors, steps and offsets: whole, half, negative, far out of range; and now and then something that is none.
        for constant in constants.float.iter_mut().skip(CONSTANTS as usize).take(COORDINATES as usize) {
            *constant = std::array::from_fn(|_| {
                let number = match r.below(16) {
                    0..5 => r.of(&[1.0, -1.0, 2.0, -2.0, 3.0, 4.0]),
                    5..12 => f64::from(r.below(17)) - 8.0,
                    12 | 13 => f64::from(r.below(64)) / 8.0 - 4.0,
                    14 => r.of(&[100.0, -100.0, 1000.0, -4000.0, 40_000.0, 0.00390625, -0.75]),
                    _ => 0.0,
                };
                (number as f32).to_bits()
            });
        }
        if r.one_in(24) {
            constants.float[CONSTANTS as usize + r.below(COORDINATES) as usize][r.below(4) as usize] = r.value();
        }
        let (i0, j0) = (r.below(10), r.below(6));
        let width = r.of(&[8, 16, 16, 20, 32, 40]) + r.below(9);
        let height = 1 + r.below(if width > 24 { 6 } else { 12 });
        let domain = Domain { i0, j0, i1: i0 + width - 1, j1: j0 + height - 1 };
        let mut planes = vec![Plane::position(0)];
        if r.one_in(3) {
            // The index pair otherwise: reversed, exchanged, with steps of its own.
            let mut part = |of: &[f64]| std::array::from_fn(|_| r.of(of));
            let (origin, di) = (part(&[0.0, 0.5, -3.0, 20.0, 40.25]), part(&[0.0, 1.0, -1.0, 2.0]));
            let dj = part(&[0.0, 0.0, 1.0, -1.0, 5.0]);
            planes[0] = Plane { temp: 0, origin, di, dj, bits: false };
        }
        if r.one_in(6) {
            let quarters = |r: &mut Random| f64::from(r.below(33)) / 4.0 - 4.0;
            let [origin, di, dj] = std::array::from_fn(|_| std::array::from_fn(|_| quarters(r)));
            planes.push(Plane { temp: 3, origin, di, dj, bits: false });
        }
        if r.one_in(48) {
            planes.push(plane(r, 4));
        }
        let mut memory = Surfaces { direct: true, ..Surfaces::default() };
        let alike = r.one_in(2).then(|| r.of(&[1, 2, 4, 4, 4]));
        // Of 8 or 16 bits: those of four channels where all have as many.
        let small = if alike == Some(4) { &FORMS[..2] } else { &FORMS[..3] };
        for _ in 0..4 {
            // Often larger than the fetched area, sometimes a single element.
            let (w, h) = match r.below(4) {
                0 => (1 + r.below(6), 1 + r.below(6)),
                1 => (domain.i1 + 1, domain.j1 + 1),
                _ => (50 + r.below(30), 16 + r.below(24)),
            };
            let mut input = array(r, w, h);
            if let Some(channels) = alike {
                input =
                    PaddedArray::with_pitch(input.pitch, [w, h], channels, |x, y, c| input.get(x, y)[usize::from(c)]);
            }
            if r.one_in(4) {
                input = read_as(&input, r.of(small));
            }
            memory.inputs.push(input);
        }
        for _ in 0..outputs {
            let (mut w, h) = (domain.i1 + 1 + r.below(3), domain.j1 + 1);
            if r.one_in(2) {
                w = w.next_multiple_of(16);
            }
            let mut output = blank(r, w, h);
            if alike == Some(4) {
                output = PaddedArray::with_pitch(output.pitch, [w, h], 4, |_, _, _| 0xc040_0000);
            }
            if r.one_in(4) {
                output = read_as(&output, r.of(small));
            }
            if r.one_in(96) {
                output.mask = r.below(16) as u8;
            }
            memory.outputs.push(output);
        }
        if r.one_in(48) {
            memory.samplers[1] = sampler(r);
        }
        let group = GroupSize::new(r.of(&[16, 16, 16, 4, 8, 12])).unwrap_or(GroupSize::X1K);
        let counters = counters(seed);
        let rows = if seed.is_multiple_of(16) { rows(r, domain) } else { Vec::new() };
        Self { constants, planes, rows, domain, group, budget: Budget::default(), counters, memory }
    }

    /// Runs a program over memory with these constants.
    pub fn run_on(
        &self,
        program: &Program,
        engine: &dyn Engine,
        threads: usize,
        constants: &Constants,
        memory: &mut dyn Memory,
    ) -> Result<Outcome, Fault> {
        let rows = self.rows.iter();
        let rows: Vec<_> =
            rows.map(|(register, element, bits)| StartRow { register: *register, element: *element, bits }).collect();
        let launch = Launch {
            program,
            constants,
            planes: &self.planes,
            rows: &rows,
            domain: self.domain,
            group: self.group,
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: self.budget,
            threads,
            checks: false,
            counters: self.counters,
        };
        engine.run_x1k(&launch, memory)
    }

    /// Runs a program over a copy of the case's memory.
    pub fn run(&self, program: &Program, engine: &dyn Engine, threads: usize) -> (Result<Outcome, Fault>, Surfaces) {
        let mut memory = self.memory.clone();
        let outcome = self.run_on(program, engine, threads, &self.constants, &mut memory);
        (outcome, memory)
    }
}

/// A kind of random programs, and how many of them a sample has.
#[derive(Clone, Copy, Debug)]
pub struct CaseKind {
    pub name: &'static str,
    pub count: u64,
    pub makes: Makes,
}

#[derive(Clone, Copy, Debug)]
pub enum Makes {
    /// Programs of a shape.
    Program(RandomContents),
    /// Programs as compilers write them.
    Compiled,
    /// The same as of a shape, whose OUTPUT instructions write uncached.
    Uncached(RandomContents),
    /// Programs that are to run as streams.
    Stream,
}

const SHAPE: RandomContents =
    RandomContents { instructions: 24, flow: FlowControl::None, inputs: 2, watches_idle_lanes: false, relative: false };
const STATEMENTS: RandomContents = RandomContents { instructions: 40, flow: FlowControl::Statements, ..SHAPE };
const RAW: RandomContents = RandomContents { instructions: 16, flow: FlowControl::Raw, ..SHAPE };

const fn kind(name: &'static str, count: u64, shape: RandomContents) -> CaseKind {
    CaseKind { name, count, makes: Makes::Program(shape) }
}

/// All kinds: 1500 programs times `CTM_RANDOM`.
pub const KINDS: [CaseKind; 10] = [
    kind("straight", 120, SHAPE),
    kind("straight with quads", 60, RandomContents { watches_idle_lanes: true, ..SHAPE }),
    kind("statements", 160, STATEMENTS),
    kind("statements with everything", 100, RandomContents { watches_idle_lanes: true, relative: true, ..STATEMENTS }),
    kind("relative addresses", 120, RandomContents { relative: true, ..STATEMENTS }),
    kind("raw flow control", 100, RAW),
    kind("raw flow control with everything", 100, RandomContents { watches_idle_lanes: true, relative: true, ..RAW }),
    CaseKind { name: "compiled", count: 300, makes: Makes::Compiled },
    CaseKind { name: "uncached writes", count: 200, makes: Makes::Uncached(STATEMENTS) },
    CaseKind { name: "streams", count: 240, makes: Makes::Stream },
];

/// The program with uncached writes: red at (green, blue), where most indices are some. They are few, so lanes meet.
fn uncached(r: &mut Random, mut program: Program) -> Program {
    program.uncached = true;
    for words in &mut program.words {
        let Ok(Inst::Alu(mut alu)) = Inst::decode(words) else { continue };
        if alu.is_output() || r.one_in(5) {
            alu.cmn.kind = InstType::Output;
            alu.alpha.w_omask = r.one_in(4);
            alu.rgb.target = r.below(4) as u8;
            // A part of the mask writes nothing.
            (alu.cmn.rgb_omask, alu.cmn.alpha_omask) =
                if r.one_in(8) { (r.below(8) as u8, r.one_in(2)) } else { (7, true) };
            match r.below(16) {
                0 => {}
                1..6 => (alu.cmn.rgb_clamp, alu.rgb.omod) = (true, r.of(&[Omod::U1, Omod::U2])),
                way => {
                    // A move of some channel; the index is that of the processor, as long as r0 holds it, or a fixed one.
                    let [x, y] = match way {
                        6..11 => [Swizzle::R, Swizzle::G],
                        _ => [r.of(&[Swizzle::Zero, Swizzle::One]), r.of(&[Swizzle::Zero, Swizzle::Half])],
                    };
                    let temp = if x == Swizzle::R { 0 } else { r.below(6) as u8 };
                    (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const, alu.rgb_addr.addr0_rel) = (temp, false, false);
                    (alu.alpha_addr.addr0, alu.alpha_addr.addr0_const, alu.alpha_addr.addr0_rel) = (temp, false, false);
                    let red = r.of(&[Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A, Swizzle::One]);
                    [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = [red, x, y];
                    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = [red, x, y];
                    (alu.rgb.sel_a, alu.rgb.sel_b) = (Sel::Src0, Sel::Src0);
                    (alu.rgb.imod_a, alu.rgb.imod_b) = (Imod::Off, Imod::Off);
                    (alu.rgba.op, alu.rgb.omod, alu.cmn.rgb_clamp) = (RgbOp::Max, Omod::Disabled, false);
                }
            }
            *words = Inst::Alu(alu).encode();
        }
    }
    program
}

impl CaseKind {
    /// The program and the case of this number.
    pub fn make(&self, seed: u64) -> (Program, Case) {
        match self.makes {
            Makes::Program(shape) => (program(seed, &shape), Case::new(seed)),
            Makes::Compiled => {
                let r = &mut Random::new(seed ^ 0xc0de);
                let shape = RandomContents {
                    flow: FlowControl::Compiled,
                    instructions: r.of(&[3, 6, 12, 12, 24]),
                    inputs: r.of(&[0, 2, 2]),
                    watches_idle_lanes: r.one_in(4),
                    relative: r.one_in(4),
                };
                (program(seed, &shape), Case::compiled(seed))
            }
            Makes::Uncached(shape) => {
                let r = &mut Random::new(seed ^ 0x0ca0);
                let shape = RandomContents {
                    flow: r.of(&[
                        FlowControl::None,
                        FlowControl::Statements,
                        FlowControl::Statements,
                        FlowControl::Raw,
                    ]),
                    instructions: r.of(&[8, 16, shape.instructions]),
                    watches_idle_lanes: r.one_in(3),
                    relative: r.one_in(6),
                    ..shape
                };
                let mut case = Case::new(seed);
                case.memory.feedback = r.of(&[None, Some(0), Some(1)]);
                (uncached(r, program(seed, &shape)), case)
            }
            Makes::Stream => {
                let r = &mut Random::new(seed ^ 0x0abe);
                let most = r.of(&[14, 14, 14, 40]);
                let shape = StreamShape {
                    instructions: 1 + r.below(most) as usize,
                    inputs: if r.one_in(12) { 0 } else { 4 },
                    outputs: 1 + r.below(4),
                    loops: r.of(&[0, 1, 1, 2, 2, 3]),
                    alike: r.one_in(2),
                    relative: r.one_in(4),
                };
                (stream_program(seed, &shape), Case::stream(seed, shape.outputs))
            }
        }
    }

    /// The kind that a long run takes for this number: each as often as in the sample; programs of a shape are often smaller.
    pub fn of_many(number: u64) -> Self {
        let all = KINDS.iter().map(|kind| kind.count).sum::<u64>();
        let (mut place, parts) = (number * 7919 % all, [1, 2, 3, 4, 6, 8][(number / all % 6) as usize]);
        let holds = move |kind: &&Self| {
            let here = place < kind.count;
            place = place.saturating_sub(kind.count);
            here
        };
        let kind = *KINDS.iter().find(holds).unwrap_or(&KINDS[0]);
        match kind.makes {
            Makes::Program(shape) => {
                let instructions = shape.instructions.div_ceil(parts);
                Self { makes: Makes::Program(RandomContents { instructions, ..shape }), ..kind }
            }
            Makes::Compiled | Makes::Uncached(_) | Makes::Stream => kind,
        }
    }

    /// The numbers to try: the one that `CTM_SEED` names, or as many as this kind has times `CTM_RANDOM`, from `CTM_FIRST` on.
    pub fn seeds(&self) -> std::ops::Range<u64> {
        seeds(self.count)
    }
}
