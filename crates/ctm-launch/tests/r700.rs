//! Launches of R700 programs on arrays in memory: every form of an array, names, start values, and errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_device::EngineKind;
use ctm_exec::r700::{LoopConstant, Space};
use ctm_files::{Isa, Program};
use ctm_launch::{ArgumentError, Error, Numbers, Plane, Run, View};

fn program(text: &str) -> Program {
    Program::assemble_for(Isa::R700, text).unwrap_or_else(|e| panic!("{e}"))
}

/// Exports the texel at each pixel.
const COPY: &str = ".stage pixel\n.resource map t0\n.sampler near s0\nTEX:\n SAMPLE R1.xyzw, R0.xy__, map, near DENORM(XY)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";

/// The same of a pixel that has gone to the other end of the row, so that lookups are not streams.
const MIRRORED: &str = ".stage pixel\n.resource map t0\n.sampler near s0\nALU:\n x: ADD R2.x, 6.0f, -R0.x\n y: MOV R2.y, R0.y\nTEX:\n SAMPLE R1.xyzw, R2.xy__, map, near DENORM(XY)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// Every kind of numbers in every count of channels reads as X1K and R700 formats say: fractions of 8 and 16 bits, channels that lack are 0, the fourth 1.
#[test]
fn every_form_of_an_input_is_read_by_every_engine() {
    const WIDTH: usize = 7;
    const HEIGHT: usize = 3;
    for channels in 1..=4 {
        let count = WIDTH * HEIGHT * channels;
        let bytes: Vec<u8> = (0..count).map(|n| (n * 37 % 256) as u8).collect();
        let words: Vec<u16> = (0..count).map(|n| (n * 7919 % 65536) as u16).collect();
        let dwords: Vec<u32> = (0..count).map(|n| (n as u32).wrapping_mul(2_654_435_761)).collect();
        let floats: Vec<f32> = (0..count).map(|n| n as f32 * 0.25 - 3.0).collect();
        let kinds: [(Numbers<'_>, &dyn Fn(usize) -> u32); 4] = [
            (Numbers::U8(&bytes), &|n| (f32::from(bytes[n]) / 255.0).to_bits()),
            (Numbers::U16(&words), &|n| (f32::from(words[n]) / 65535.0).to_bits()),
            (Numbers::U32(&dwords), &|n| dwords[n]),
            (Numbers::F32(&floats), &|n| floats[n].to_bits()),
        ];
        for (numbers, number) in kinds {
            let texel = |x: usize, y: usize, c: usize| match c {
                c if c < channels => number((y * WIDTH + x) * channels + c),
                3 => 1f32.to_bits(),
                _ => 0,
            };
            for (text, mirrored) in [(COPY, false), (MIRRORED, true)] {
                let program = program(text);
                for engine in ENGINES {
                    for out in [1, 2, 4] {
                        let view = View::rows(numbers, [HEIGHT, WIDTH, channels]);
                        let run = Run::of(&program).size(7, 3).input("map", view).engine(engine).output("pix0", out);
                        let done = run.run().unwrap_or_else(|e| panic!("{e}"));
                        let found: Vec<u32> = done.values("pix0").iter().map(|x| x.to_bits()).collect();
                        let at = |x: usize| if mirrored { WIDTH - 1 - x } else { x };
                        let places = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (x, y)));
                        let expected: Vec<u32> = places
                            .flat_map(|(x, y)| (0..out).map(move |c| (at(x), y, c)))
                            .map(|(x, y, c)| texel(x, y, c))
                            .collect();
                        assert!(found == expected, "{numbers:?} of {channels} to {out}, {engine}, mirrored {mirrored}");
                    }
                }
            }
        }
    }
}

#[test]
fn numbers_outside_the_domain_and_of_killed_pixels_stay() {
    let kills = program(".stage pixel\nALU:\n x: KILLGT ____, 1.0f, R0.x\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    for engine in ENGINES {
        let mut numbers = vec![-1.0; 4 * 8 * 2];
        let run = Run::of(&kills).size(4, 2).engine(engine);
        run.output_into_rows("pix0", &mut numbers, [4, 8, 2]).run().unwrap_or_else(|e| panic!("{e}"));
        for (n, pair) in numbers.chunks(2).enumerate() {
            let (x, y) = (n % 8, n / 8);
            let expected = if (1..4).contains(&x) && y < 2 { [x as f32, y as f32] } else { [-1.0; 2] };
            assert_eq!(pair, expected, "({x}, {y}), {engine}");
        }
    }
}

#[test]
fn constants_go_by_the_names_of_containers() {
    let text = "; $UNIFORM_VARS[0].name = \"m\"\n; $UNIFORM_VARS[0].type = \"mat3x3\"\n; $UNIFORM_VARS[0].block = -1\n; $UNIFORM_VARS[0].offset = 0\n\
                ; $UNIFORM_VARS[1].name = \"w\"\n; $UNIFORM_VARS[1].type = \"float\"\n; $UNIFORM_VARS[1].count = 5\n; $UNIFORM_VARS[1].block = -1\n; $UNIFORM_VARS[1].offset = 12\n\
                .stage pixel\nALU:\n 0 x: MOV R0.x, C2.x\n y: MOV R0.y, C7.x\n 1 z: MOV R0.z, C1.z\n w: MOV R0.w, C3.x\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let program = program(text);
    let m: Vec<f32> = (1..=9u8).map(f32::from).collect();
    let run = || Run::of(&program).size(1, 1).uniform("m", &m);
    let done = run().uniform("w", &[10.0, 20.0, 30.0, 40.0, 50.0]).run().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(done.values("pix0"), [7.0, 50.0, 6.0, 10.0]);
    // Constant by constant.
    let run = Run::of(&program).size(1, 1).constant("m", [1.0; 4]).constant("m.1", [2.0; 4]).constant("m.2", [3.0; 4]);
    let done = run.uniform("w", &[10.0, 20.0, 30.0, 40.0, 50.0]).run().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(done.values("pix0"), [3.0, 50.0, 2.0, 10.0]);
    let wrong = |run: Run<'_>| run.run().unwrap_err().to_string();
    assert_eq!(
        wrong(Run::of(&program).size(1, 1).uniform("w", &[1.0; 3])),
        "`w`: `w` is float[5] and takes 5 numbers (or 20, four for each constant); 3 are given"
    );
    let unknown = wrong(Run::of(&program).size(1, 1).uniform("mm", &[1.0; 4]));
    assert!(unknown.starts_with("the program has no constant `mm`; it has m, "), "{unknown}");
}

#[test]
fn registers_begin_as_they_are_told() {
    let program = program(".stage pixel\nALU:\n x: ADD R1.x, R1.x, R2.x\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n");
    let ramp = Plane { temp: 1, origin: [0.5; 4], di: [1.0; 4], dj: [10.0; 4], bits: false };
    let two = Plane { temp: 2, origin: [2.0; 4], di: [0.0; 4], dj: [0.0; 4], bits: false };
    for engine in ENGINES {
        let run = || Run::of(&program).size(3, 2).engine(engine).output("pix0", 1).register(ramp);
        let done = run().register(two).run().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(done.values("pix0"), [2.5, 3.5, 4.5, 12.5, 13.5, 14.5]);
        let twice = run().register(ramp).run().unwrap_err();
        assert_eq!(twice.to_string(), "register `r1` is given twice");
        let none = run().register(Plane { temp: 128, ..ramp }).run().unwrap_err();
        assert_eq!(none.to_string(), "`r128`: registers are 0 to 127");
    }
}

#[test]
fn buffers_are_fetched_from() {
    let program = program(
        ".stage vertex\nVTX:\n FETCH R1.xyzw, R0.x, b3 FORMAT(32_32_32_32_FLOAT)\nEXP_DONE: POS0, R1.xyzw\nEND_OF_PROGRAM\n",
    );
    let items: Vec<f32> = (0..16u8).map(f32::from).collect();
    for engine in ENGINES {
        let run = Run::of(&program).size(4, 1).engine(engine).input("b3", View::line(&items, 4));
        assert_eq!(run.run().unwrap_or_else(|e| panic!("{e}")).values("pos0"), items);
    }
}

#[test]
fn what_does_not_fit_is_an_argument_error() {
    let copy = program(COPY);
    let texels = [0.0; 4];
    let refused = |run: Run<'_>| match run.run() {
        Err(Error::Argument(error)) => error,
        other => panic!("{other:?}"),
    };
    let run = || Run::of(&copy).size(4, 1);
    let cases: [(ArgumentError, &str); 9] = [
        (refused(run()), "the program needs input `map`, which is not given"),
        (
            refused(run().input("mop", &texels)),
            "the program has no input `mop`; it has map, t0 to t255 (textures), b0 to b255 (buffers); did you mean `map`?",
        ),
        (refused(run().input("map", &texels).input("t0", &texels)), "input `t0` is given twice"),
        (
            refused(run().input("map", &texels).output("pix1", 4)),
            "output `pix1` is asked for, which the program does not write; it writes pix0",
        ),
        (refused(run().input("map", &texels).output("pix0", 3)), "`pix0`: an output has 1, 2 or 4 channels, not 3"),
        (
            refused(run().input("map", View::line(&texels, 3))),
            "`map`: 4 numbers are no line of elements of 3 channels; 1 to 4 are possible",
        ),
        (
            refused(run().input("map", &texels).boolean("b32", true)),
            "the program has no boolean constant `b32`; it has b0 to b31",
        ),
        (
            refused(
                run()
                    .input("map", &texels)
                    .integer("i0", LoopConstant::default())
                    .integer("i0", LoopConstant::default()),
            ),
            "constant `i0` is given twice",
        ),
        (
            refused(Run::of(&copy).input("map", &texels)),
            "the run has no domain: say how many columns and rows, or how many elements",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found.to_string(), expected);
    }
    // The memory of an argument is returned.
    let plain = program(".stage pixel\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let done = Run::of(&plain).size(1, 1).memory(Space::Scatter, vec![7, 8]).run().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(done.memories[&Space::Scatter], [7, 8]);
}
