//! Launches in which every processor does the same, against the reference interpreter: the examples, and small programs for every way of
//! reading and writing.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::Interp;
use ctm_jit::{Backend, Jit};
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces, noise};

/// Runs with the interpreter and every back end; compares outputs and counters.
fn compare(name: &str, case: &Case, memory: &Surfaces) {
    let mut expected = memory.clone();
    let outcome = Case { threads: 1, ..case.clone() }.run(&Interp, &mut expected);
    for backend in Backend::available() {
        // The form is slow lane by lane: one run is enough.
        let ways: &[(usize, bool)] =
            if backend == Backend::Portable { &[(0, true)] } else { &[(0, true), (0, false), (1, true)] };
        for &(threads, direct) in ways {
            let mut found = Surfaces { direct, ..memory.clone() };
            let case = Case { threads, ..case.clone() };
            let found_outcome = case.run(&Jit::with_backend(backend), &mut found);
            assert_eq!(found_outcome, outcome, "{name}, {backend}, direct {direct}");
            for (target, (f, e)) in found.outputs.iter().zip(&expected.outputs).enumerate() {
                for y in 0..e.height {
                    for x in 0..e.width {
                        assert_eq!(f.get(x, y), e.get(x, y), "{name}, {backend}, output {target}, ({x}, {y})");
                    }
                }
            }
        }
    }
}

fn array(width: u32, height: u32, channels: u8) -> PaddedArray {
    PaddedArray::new(width, height, channels, noise)
}

fn out(width: u32, height: u32, channels: u8) -> PaddedArray {
    PaddedArray::new(width, height, channels, |_, _, _| 7)
}

#[test]
fn the_examples_give_the_same() {
    for (w, h) in [(64, 32), (37, 41), (45, 33)] {
        let domain = [0, 0, w - 1, h - 1];
        let saxpy = Case::example("examples/saxpy/saxpy.x1k", domain).float("a", [2.5, 0.0, 0.0, 0.0]);
        let memory = Surfaces {
            inputs: vec![array(w, h, 4), array(w, h, 4)],
            outputs: vec![out(w, h, 4)],
            ..Surfaces::default()
        };
        compare("saxpy", &saxpy, &memory);
        let mut conv = Case::example("examples/conv5x5/conv5x5.x1k", domain);
        (1..26).for_each(|n| conv.constants.float[n] = [(n as f32 / 64.0).to_bits(), 0, 0, 0]);
        let memory = Surfaces { inputs: vec![array(w, h, 4)], outputs: vec![out(w, h, 4)], ..Surfaces::default() };
        compare("conv5x5", &conv, &memory);
        let options = PaddedArray::new(w, h, 4, |x, y, c| {
            let n = f32::from_bits(noise(x, y, c)) + 1.0;
            (0.1 + n * [20.0, 30.0, 4.0, 0.0][usize::from(c)]).to_bits()
        });
        let market = [0.02, 0.3, 0.065, 1.0 / 0.3];
        let black = Case::example("examples/black-scholes/black-scholes.x1k", domain).float("market", market);
        let memory = Surfaces { inputs: vec![options], outputs: vec![out(w, h, 4)], ..Surfaces::default() };
        compare("black-scholes", &black, &memory);
    }
    for n in [32, 80] {
        let case = Case::example("examples/matmul/matmul.x1k", [0, 0, n / 4 - 1 + 16, n - 1]);
        let case = case.int("blocks", [2, 0, 0]).int("steps", [(n / 8) as u8, 0, 0]);
        let memory = Surfaces {
            inputs: vec![array(n / 4, n, 4), array(n / 4 + 16, n, 4)],
            outputs: vec![out(n / 4 + 16, n, 4)],
            ..Surfaces::default()
        };
        compare("matmul", &case, &memory);
    }
    for (width, height) in [(40, 40), (67, 20), (66, 20)] {
        let nbody = Case::example("examples/nbody/nbody.x1k", [0, 0, width - 1, height - 1]);
        let nbody = nbody.float("k", [0.01, 0.1, 0.0, 0.0]).int("rows", [3, 0, 0]).int("columns", [width as u8, 0, 0]);
        let memory = Surfaces {
            inputs: vec![array(width, height, 4), array(width, height, 4)],
            outputs: vec![out(width, height, 4), out(width, height, 4)],
            ..Surfaces::default()
        };
        compare("nbody", &nbody, &memory);
    }
    let sum = Case::example("bench/x1k/sum.x1k", [0, 0, 15, 79]).int("turns", [3, 0, 0]);
    let memory = Surfaces { inputs: vec![array(200, 80, 4)], outputs: vec![out(16, 80, 1)], ..Surfaces::default() };
    compare("sum", &sum, &memory);
}

/// Special numbers of all kinds among others.
fn special(x: u32, y: u32, c: u8) -> u32 {
    const SPECIAL: [u32; 16] = [
        0,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffa0_1234,
        0x0000_0001,
        0x807f_ffff,
        0x0080_0000,
        0x7f7f_ffff,
        0x4b00_0001,
        0xc2ff_0000,
        0x3e00_0000,
        0x4049_0fdb,
    ];
    let bits = noise(x, y, c);
    if bits & 3 == 0 { SPECIAL[(bits >> 2 & 15) as usize] } else { bits.wrapping_add((bits & 0xf0) << 20) }
}

/// Loops whose turns are chains after a fetch, for even and odd numbers of turns: along rows, down columns, backwards,
/// beside the processor's own element; sums, and registers that hand on the previous turn's fetch.
#[test]
fn turns_that_are_long_chains() {
    const PROGRAM: &str = "
.input  a = s0, b = s1
.output c = o0
.const  k = c0 (1.0, -2.0, 0.25, 3.0)
.int    outer = i0, inner = i1
.reg    at = r1, x = r2, y = r3, sum = r4, first = r5, second = r6, here = r7
        mov   sum, 0
        mov   first, k.gggg
        mov   second, k.bbbb
        mov   at.rg, r0.rg
        rep   outer
          MOVE
          rep   inner
            tex   x, a, at.rg
            tex   y, b, at.ba
            STEP
            add   x.rgb, x.rgb, -y.rgb       | rsq x.a, |x.a|
            mad   x.r, x.r, x.a, y.r         | mad x.a, x.a, y.a, k.b
            mul   x.g, x.g, x.r              | rcp x.a, x.a
            mad   x.b, x.r, x.a, x.g
            mad   sum.rgb, x.rrr, x.aba, sum.rgb | mad sum.a, x.a, first.r, sum.a
            mov   first, second
            mov   second, x
          endrep
        endrep
        add   sum, sum, first.rrrg
        mad   c, second.gbar, k.rgba, sum
";
    let (row, own) = ("add at.rb, at.rb, k.rr", "mov at.b, at.r | mov at.a, at.g");
    let (column, back) = ("add at.g, at.g, k.r | add at.a, at.a, k.r", "add at.rb, at.rb, k.gg");
    let starts = [
        ("mov at.rb, 0 | mov at.a, 0", row),
        (own, row),
        ("mov at.g, 0 | mov at.a, 0", column),
        ("mov at.b, k.a | mov at.a, at.g", back),
    ];
    for (way, (start, step)) in starts.into_iter().enumerate() {
        let text = PROGRAM.replace("MOVE", start).replace("STEP", step);
        for (turns, (outer, width)) in [(1, 80), (2, 70), (2, 33), (1, 64), (3, 20)].into_iter().enumerate() {
            let case = Case::new(&text, [0, 0, width - 1, 21]).int("outer", [outer, 0, 0]);
            let inputs = vec![PaddedArray::new(90, 30, 4, special), PaddedArray::new(90, 30, 4, noise)];
            let memory = Surfaces { inputs, outputs: vec![out(width, 22, 4)], ..Surfaces::default() };
            for more in [1, 2] {
                let inner = 2 * turns as u8 + more;
                compare(&format!("{way}, {inner} turns"), &case.clone().int("inner", [inner, 0, 0]), &memory);
            }
        }
    }
}

/// Every number of channels to read and to write, on domains of odd sizes that begin anywhere.
#[test]
fn every_way_of_reading_and_writing() {
    // Elements side by side; the edges; every other element; one for all columns; one for all; reversed.
    const PROGRAM: &str = "
.input  a = s0, b = s1
.output c = o0, d = o1
.const  k = c0 (1.0, 2.0, -3.0, 5.0), half = c1 (0.5, 0.0, 79.0, 0.25)
.reg    at = r1, x = r2, y = r3, z = r4, u = r5, v = r6, q = r7
        tex   x, a, r0.rg
        add   at.rgb, r0.rgg, k.bba
        tex   y, a, at.rg
        mul   at.rgb, r0.rgg, k.grr
        tex   z, b, at.rg
        mov   at.rgb, half.ggg                | mov at.a, r0.g
        tex   u, b, at.ra
        tex   v, a, at.rg
        mad   at.rgb, r0.rgg, -k.rrr, half.bbb
        tex   q, b, at.rg
        mad   x, x, half.rrrr, y
        mad   z, z, half.aaaa, u
        add   z, z, v.gggg
        MIX
        mov   c, x
        mov   d, z
";
    for (mix, text) in
        [("all channels alike", "add x, x, q"), ("others", "add x, x, q.abgr"), ("places", "add x.rgb, q.rgb, r0.rgr")]
    {
        let text = PROGRAM.replace("MIX", text);
        for (number, (reads, writes)) in
            [([4, 4], [4, 4]), ([1, 2], [2, 1]), ([2, 4], [4, 2]), ([4, 1], [1, 4])].into_iter().enumerate()
        {
            let sizes: [[u32; 4]; 4] = [[0, 0, 63, 15], [0, 0, 36, 40], [5, 3, 42, 33], [16, 1, 48, 64]];
            let [i0, j0, i1, j1] = sizes[number];
            let case = Case::new(&text, [i0, j0, i1, j1]);
            let memory = Surfaces {
                inputs: reads.map(|channels| PaddedArray::new(160, 80, channels, special)).to_vec(),
                outputs: writes.map(|channels| out(i1 + 1, j1 + 1, channels)).to_vec(),
                ..Surfaces::default()
            };
            compare(&format!("{mix}, {reads:?} to {writes:?}"), &case, &memory);
        }
    }
}

/// More vectors than any machine has registers, in a loop, with masks and constants between them.
#[test]
fn vectors_without_registers() {
    let mut text = String::from(
        ".input a = s0\n.output c = o0\n.const k = c0 (1.0, 0.0, 0.5, 3.0), m = c1 (0.25, -0.75, 2.0, 1.5)\n.int turns = i0 (5, 0, 0)\n",
    );
    text += ".reg at = r1\n mov at.rg, r0.rgb\n";
    let registers = 2..14;
    registers.clone().for_each(|r| text += &format!(" mad r{r}, r0.rgrg, m.rgba, {}\n", ["k.rrrr", "k.bgra"][r % 2]));
    text += " rep turns\n";
    for r in registers.clone() {
        text += &format!(" tex r14, a, at.rg\n add at.rgb, at.rgb, k.rgg\n mad r{r}, r14.abgr, m, r{r}\n");
        text += &format!(" max r{r}, r{r}, -r14.{}\n", ["rgba", "bgra"][r % 2]);
    }
    text += " endrep\n mov r14, 0\n";
    for r in registers {
        text += &format!(" mad r14, r{r}, m.abgr, r14\n");
    }
    text += " rcp r14.a, r14.a\n mov c, r14\n";
    for value in [noise, special] {
        let case = Case::new(&text, [0, 0, 40, 30]);
        let memory = Surfaces {
            inputs: vec![PaddedArray::new(70, 31, 4, value)],
            outputs: vec![out(41, 31, 4)],
            ..Surfaces::default()
        };
        compare("many vectors", &case, &memory);
    }
}

#[test]
fn functions_of_special_numbers() {
    for function in ["rcp", "rsq", "ex2", "ln2", "sin", "cos"] {
        let text = format!(
            ".input a = s0\n.output c = o0\n.reg x = r1, y = r2\n tex x, a, r0.rg\n {function} y.r, x.r\n {function} y.g, x.g\n \
             {function} y.b, x.b\n {function} y.a, x.a\n mov c, y\n"
        );
        let memory = Surfaces {
            inputs: vec![PaddedArray::new(47, 24, 4, special)],
            outputs: vec![out(47, 24, 4)],
            ..Surfaces::default()
        };
        compare(function, &Case::new(&text, [0, 0, 46, 23]), &memory);
    }
}

/// Of squares, and where the third product is a zero, one order of summing a dot product is enough: of zeros, denormals, infinities and NaNs, too.
#[test]
fn dot_products_of_squares_and_of_two_products() {
    // Sums of these cancel to less than the smallest normal number, or pass the largest.
    const ENDS: [u32; 16] = [
        0,
        1 << 31,
        0x3f80_0000,
        0xbf80_0000,
        0x0080_0000,
        0x8080_0000,
        0x00c0_0000,
        0x80c0_0000,
        0x0080_0001,
        0x8100_0000,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x7f00_0000,
        0x7f80_0000,
        0x7fc0_0000,
        0x0000_0001,
    ];
    let value = |x: u32, y: u32, c: u8| {
        let bits = noise(x, y, c);
        match (y % 4, c) {
            (0, _) => special(x, y, c),
            // Factors of one leave the others as they are.
            (_, 2 | 3) => ENDS[2 + (bits & 1) as usize],
            _ => ENDS[(bits >> 4 & 15) as usize],
        }
    };
    let of = |dots: &str| {
        let head = ".input a = s0\n.output c = o0\n.reg x = r1, y = r2\n tex x, a, r0.rg\n";
        let memory = Surfaces {
            inputs: vec![PaddedArray::new(80, 64, 4, value)],
            outputs: vec![out(80, 64, 4)],
            ..Surfaces::default()
        };
        compare(dots, &Case::new(&format!("{head}{dots} mov c, y\n"), [0, 0, 79, 63]), &memory);
    };
    of("dp3 y.r, x, x\n dp4 y.g, x, x\n dp3 y.b, -x, x\n dp4 y.a, x.abgr, x.abgr\n");
    of("dp3 y.r, x.rg0, x.rg0\n dp3 y.g, x.ba0, x.ba0 *8\n dp3 y.b, x.ar0, x.ar0 /8\n dp3 y.a, x.gb0, x.gb0 sat\n");
    of("dp3 y.r, x.rg0, x.ba0\n dp3 y.g, x.rg0, -x.ba0 *4\n dp3 y.b, x.rb0, x.ga0 /2\n dp3 y.a, x.rg0, x.ab0 sat\n");
    of(
        "d2a y.r, x.rgb, x.rgb, x.000\n d2a y.g, x.rgb, x.bgr, -x.000 *2\n d2a y.b, x.rrr, x.ggg, x.ggg\n dp3 y.a, x.rg0, x.br1\n",
    );
}

/// A transcendental sequence whose operand is the same for all columns while its register once held a value that
/// varies: each unit runs the sequence, so that nothing in it may take the operand's register.
#[test]
fn sequences_of_uniform_operands_run_for_every_unit() {
    let text = "
.input  values = s0
.output result = o0
.int    turns  = i0
        mov   r1, r0.rrrr
        rep   turns
          cos   r1.a, r2.a
          tex   r3, values, r0.rg
          add   r2.a, r4.b, c9.a
        endrep
        mov   result, r1
";
    let (w, h) = (64, 24);
    let mut case = Case::new(text, [0, 0, w - 1, h - 1]).int("turns", [3, 0, 0]);
    case.constants.float[9] = [0.3f32.to_bits(); 4];
    let memory = Surfaces { inputs: vec![array(w, h, 4)], outputs: vec![out(w, h, 4)], ..Surfaces::default() };
    compare("uniform sequence", &case, &memory);
}

/// A constant outside its file is a fault, whether it is used or not.
#[test]
fn constants_outside_the_file_are_faults() {
    let text = "
.output result = o0
.int    turns  = i0
        mov   r1, r0
        loop  turns
          mad   r2, c[aL+250], r0, r0
        endloop
        mov   result, r1
";
    let (w, h) = (64, 24);
    let memory = Surfaces { outputs: vec![out(w, h, 4)], ..Surfaces::default() };
    for (turns, faults) in [(3, false), (9, true)] {
        let case = Case::new(text, [0, 0, w - 1, h - 1]).int("turns", [turns, 0, 1]);
        assert_eq!(case.run(&Interp, &mut memory.clone()).is_err(), faults, "{turns} turns");
        compare("constants outside the file", &case, &memory);
    }
}
