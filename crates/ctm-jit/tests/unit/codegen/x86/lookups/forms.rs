//! Tests of `src/codegen/x86/lookups/texels.rs`: lookups of inputs of every form, in rows and in tiles, with every
//! filter and wrap, against the reference function. The arrays are between pages that may not be touched.

use crate::codegen::x86::X86Target;
use crate::codegen::x86::masked::{Assumed, Native, Variant};
use crate::compile::machine::Inputs;
use crate::compile::machine_code;
use crate::compile::observe::Observer;
use crate::launch::wavefronts::bindings::{Binding, Texels};
use crate::launch::wavefronts::wave::{Guest, LANES, Ran, Shared, Wave};
use crate::tests::guarded::Guarded;
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::Tiles;
use ctm_exec::x1k::sample::lookup;
use ctm_exec::x1k::{Elements, Filter, Form, Input, Memory, Outputs, Sampler, Wrap, Written};
use ctm_ir::masked::{Block, Code, End, Fetch, M, Op, Tally, Value, Var};
use ctm_isa::r700::random::Random;
use std::sync::atomic::AtomicU32;

/// The forms of elements, with their channels.
const FORMS: [(Form, u8); 8] = [
    (Form::Floats, 1),
    (Form::Floats, 2),
    (Form::Floats, 3),
    (Form::Floats, 4),
    (Form::Square, 1),
    (Form::Bytes { swapped: false }, 4),
    (Form::Bytes { swapped: true }, 4),
    (Form::Words, 1),
];

/// One input.
struct Held<'a>(Input, Elements<&'a [u8]>);

impl Memory for Held<'_> {
    fn schedule(&mut self, _: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, _: u8) -> Option<Input> {
        Some(self.0)
    }

    fn read(&self, _: u8, x: u32, y: u32, _: bool) -> Result<[u32; 4], MemoryFault> {
        Ok(self.1.read(x, y, [self.0.width, self.0.height]))
    }

    fn commit(&mut self, _: Position, _: &Outputs) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn write_uncached(&mut self, _: u32, _: u32, _: u32) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// A program that looks up at the place that its first register names, and outputs the result.
fn program(unscaled: bool) -> Code {
    let zero = Value(2);
    let mut ops = vec![Op::Get(Var::gpr(0, 0)), Op::Get(Var::gpr(0, 1)), Op::Bits(0)];
    ops.push(Op::Fetch { number: 0, at: [Value(0), Value(1), zero, zero], under: M::ACTIVE });
    ops.extend((0..4).map(|channel| Op::Fetched(Value(3), channel)));
    for channel in 0..4 {
        let var = Var::export(0, channel);
        ops.extend([Op::Set { var, value: Value(4 + channel as u32), under: M::ACTIVE }, Op::Mark(var, M::ACTIVE)]);
    }
    Code {
        blocks: vec![Block { loops: 0, ops, tally: Tally::default(), end: End::Stop }],
        fetches: vec![Fetch::Input { input: 0, unscaled, uncached: false }],
        stores: Vec::new(),
        yields: Vec::new(),
        locked: Vec::new(),
        computed: Vec::new(),
        watches_idle_lanes: false,
        keeps_idle_lanes: false,
    }
}

/// Tiles of 8 columns, in which every other row has its halves exchanged.
fn tiles([width, height]: [u32; 2], element_bytes: u32) -> Tiles {
    const TILE_BYTES: u32 = 256;
    let rows_of_tile = TILE_BYTES / (8 * element_bytes);
    let row = |y: u32| {
        let (tile, within) = (y / rows_of_tile * width.div_ceil(8), y % rows_of_tile);
        tile * TILE_BYTES + ((within * 8 * element_bytes) ^ ((y & 1) * 4 * element_bytes))
    };
    Tiles {
        columns: (0..width).map(|x| x / 8 * TILE_BYTES + x % 8 * element_bytes).collect(),
        rows: (0..height).map(row).collect(),
        tile_bytes: TILE_BYTES,
    }
}

/// Inside, at edges, outside, and NaNs.
fn coordinate(r: &mut Random, size: u32, unscaled: bool, near: bool) -> u32 {
    let in_elements = match r.below(if near { 7 } else { 8 }) {
        0..4 => r.below(8 * size) as f32 / 8.0,
        4 => r.below(64) as f32 - 32.5,
        5 => size as f32 + r.of(&[0.0, -0.000_01, 0.5, -0.5, 1.0]),
        6 => r.of(&[0.0, -0.0, 0.5, -0.000_01, f32::from_bits(1), -1.0, 1e5, -1e6]),
        _ => r.of(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e9, -3e12, f32::MAX, 0.25, 0.75, 1.5]),
    };
    let scale = if unscaled { 1.0 } else { size as f32 };
    (in_elements / scale).to_bits()
}

/// Looks up with every kind of array and sampler, by code for any texels and by code for plain ones; gives the number
/// of lanes looked up by the former.
fn check(native: impl Fn(&[Option<[Wrap; 2]>]) -> Native, code: &Code, unscaled: bool, r: &mut Random) -> u64 {
    let any = native(&[]);
    let (stop, mut looked_up, lanes) = (AtomicU32::new(0), 0, any.lanes());
    let uniforms = Guarded::new(code.given_uniforms());
    let wraps = [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border];
    for (form, channels) in FORMS {
        let element_bytes = form.element_bytes(channels);
        for (wrap_x, wrap_y, filter, tiled) in wraps.iter().flat_map(|&x| wraps.map(|y| (x, y))).flat_map(|(x, y)| {
            [Filter::Nearest, Filter::Linear].into_iter().flat_map(move |f| [false, true].map(|t| (x, y, f, t)))
        }) {
            if tiled && !element_bytes.is_power_of_two() {
                continue;
            }
            let [width, height] = r.of(&[[7, 5], [1, 1], [1, 9], [37, 3], [64, 64]]);
            let size = [width + r.below(3), height + r.below(2)];
            let pitch = size[0] + r.below(3);
            let tiles = tiled.then(|| tiles(size, element_bytes));
            let shape = Elements { bytes: (), pitch, width: size[0], height: size[1], form, channels, mask: 0, tiles };
            let mut bytes = Guarded::<u8>::new(shape.bytes_needed() as usize);
            for word in bytes.chunks_mut(4) {
                word.copy_from_slice(&r.value().to_le_bytes());
            }
            let border = std::array::from_fn(|_| r.value());
            let input =
                Input { width, height, element_bytes, sampler: Sampler { filter, wrap: [wrap_x, wrap_y], border } };
            let memory = Held(input, shape.with(&bytes[..]));
            let bindings = [Texels::of_input(&input, &memory.1).map(Binding::Texels)];
            assert!(bindings[0].is_some());
            let shared = Shared {
                guest: Guest::X1k(&memory),
                fetches: &code.fetches,
                stores: &[],
                reads_back: false,
                uniforms: &uniforms,
                lanes,
                fuel: 1 << 40,
                stop: &stop,
                polled: None,
                bindings: &bindings,
            };
            let is_plain =
                bindings.iter().flatten().any(|of| matches!(of, Binding::Texels(of) if of.are_plain() && !of.linear));
            let plain = is_plain.then(|| native(&[Some([wrap_x, wrap_y])]));
            let native = plain.as_ref().unwrap_or(&any);
            let mut frame = native.frame();
            // Where a lane has a far coordinate that repeats, all lanes are for the reference function, or for the
            // reference interpreter.
            for near in [false, true] {
                let mut wave = Wave::new(2, 4, code.blocks.len());
                wave.reset();
                wave.existing = u64::MAX >> (64 - lanes);
                wave.valid = wave.existing & r.of(&[u64::MAX, u64::MAX, 0x5a5a_0ff0_1234_8001]);
                wave.fetched.covered = wave.valid;
                for lane in 0..LANES {
                    wave.start[0][lane] = coordinate(r, width, unscaled, near);
                    wave.start[1][lane] = coordinate(r, height, unscaled, near);
                }
                if r.one_in(4) {
                    let (s, t) = (wave.start[0][0], wave.start[1][0]);
                    wave.start[0].fill(s);
                    wave.start[1].fill(t);
                }
                let ran = native.run(&mut frame, &shared, &mut wave, false);
                if is_plain && !near && ran.is_err() {
                    continue;
                }
                assert!(matches!(ran, Ok(Ran::ToEnd)));
                // Only calls count.
                assert!(!is_plain || wave.fetched.fetches == 0, "plain texels are looked up by the code itself");
                looked_up += wave.fetched.fetches;
                for lane in (0..lanes).filter(|lane| wave.valid >> lane & 1 == 1) {
                    let at = (wave.start[0][lane], wave.start[1][lane]);
                    let expected = lookup(&memory, 0, &input, at, unscaled, false).map(|sampled| sampled.texel);
                    let found = std::array::from_fn(|channel| wave.exports[channel][lane]);
                    assert_eq!(Ok(found), expected, "lane {lane} at {at:?}: {input:?}, {:?}", shape.with(()));
                }
            }
        }
    }
    looked_up
}

#[test]
fn inputs_of_every_form() {
    let r = &mut Random::new(5);
    for target in X86Target::ALL.into_iter().filter(|target| target.is_available()) {
        for (unscaled, lanes) in [(false, 64), (true, 16), (false, 32), (true, 64)] {
            let mut code = program(unscaled);
            let live = crate::passes::masked::optimise(&mut code, false, false);
            let start = [Var::gpr(0, 0), Var::gpr(0, 1)];
            let variant = Variant { target, ordinary: false, counts: true, fuel: false, narrows: false };
            let native = |plain: &[_]| {
                let form = crate::compile::Form { code: code.clone(), live: live.clone() };
                let assumed = Assumed { ordinary: &[], plain };
                let inputs = Inputs { form: &form, start: &start, exports: &[0, 1, 2, 3], lanes, variant, assumed };
                machine_code(inputs, &mut Observer::default()).expect("code")
            };
            let looked_up = check(native, &code, unscaled, r);
            let all = 2 * lanes as u64 * 15 * 16 * 2;
            assert!(looked_up > all / 2, "{target:?}: {looked_up} of {all} lanes");
        }
    }
}
