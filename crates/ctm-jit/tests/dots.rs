//! Dot products of the X1K at the ends of the range: terms and sums that leave it and come back, cancel, or are brought back by the output modifier
//! (CTM §3.6.2), of registers and of constants that are other numbers in each launch: against the reference interpreter.

use ctm_isa::x1k::random::Random;
use ctm_jit::{Backend, Jit};
use ctm_testkit::tries::{on_all_cores, seeds};
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces};
use std::fmt::Write as _;

/// A number whose products are anywhere from below the range to beyond it, often close to an end.
fn number(r: &mut Random) -> u32 {
    let sign = r.below(2) << 31;
    let exponent = match r.below(8) {
        // 2^-63 and 2^64: products at the ends.
        0 | 1 => 61 + r.below(6),
        2 | 3 => 188 + r.below(6),
        4 => r.of(&[1, 2, 252, 253, 254]),
        5 => 115 + r.below(24),
        6 => 1 + r.below(254),
        _ => return sign | r.of(&[0, 0, 0x7f80_0000, 0x7fc0_0000, 1, 0x0080_0000, 0x7f7f_ffff, 0x3f80_0000]),
    };
    // Few bits, so that sums cancel and ties come, or all of them.
    let fraction = match r.below(3) {
        0 => 0,
        1 => r.of(&[1, 0x40_0000, 0x7f_ffff, 0x7f_fffe, 0x20_0000]),
        _ => r.bits() as u32 & 0x7f_ffff,
    };
    sign | exponent << 23 | fraction
}

/// A number of moderate size, as constants mostly are.
fn moderate(r: &mut Random) -> u32 {
    r.of(&[1f32, -4.0, 0.01, 3.5, -0.75, 1e-7, 1.6e7]).to_bits()
}

fn program(r: &mut Random) -> String {
    let mut text = String::from(if r.one_in(3) { ".zero_times_anything\n" } else { "" });
    text.push_str(
        ".input m = s0, n = s1\n.output first = o0, second = o1\n.reg x = r0, a = r1, h = r2, t = r3, u = r4\n\
         tex a, m, x.rg\ntex h, n, x.rg\nmov t, c1\nmov u, c2\n",
    );
    let swizzles = ["rgba", "gbra", "brga", "rrgg", "rgrb", "bbra", "rga0", "r0g1"];
    let operand = |r: &mut Random, channels: usize| {
        let sign = r.of(&["", "", "-"]);
        let swizzle = &r.of(&swizzles)[..channels];
        format!("{sign}{}.{swizzle}", r.of(&["a", "a", "h", "h", "t", "c1", "c2"]))
    };
    for _ in 0..1 + r.below(4) {
        let after = r.of(&["", "", "", " *2", " *8", " /2", " /8", " sat", " *4 sat"]);
        let to = format!("u.{}", r.of(&["r", "g", "b", "a"]));
        let op = r.of(&["dp3", "dp3", "dp4", "d2a"]);
        let channels = if op == "dp4" { 4 } else { 3 };
        let [mut first, second] = [(); 2].map(|()| operand(r, channels));
        if r.one_in(3) {
            first.clone_from(&second);
        }
        let _ = match op {
            "d2a" => writeln!(text, "d2a {to}, {first}, {second}, {}{after}", operand(r, 3)),
            _ => writeln!(text, "{op} {to}, {first}, {second}{after}"),
        };
        if r.one_in(4) {
            let _ = writeln!(
                text,
                "{op} t._, res(r {}), {first}, {second}{}\nif res\nmov u.g, 5\nendif",
                r.of(&["eq", "lt", "ge", "ne"]),
                if op == "d2a" { ", c1.rgb" } else { "" }
            );
        }
    }
    text.push_str("mov first, u\nmov second, t\n");
    text
}

#[test]
fn dot_products_at_the_ends_of_the_range() {
    let engines = || -> Vec<Jit> {
        let limits = ctm_jit::StreamLimits { processors: 1, ..ctm_jit::StreamLimits::default() };
        Backend::available()
            .flat_map(|of| [Jit::with_backend(of), Jit::with_backend(of).with_stream_limits(limits)])
            .collect()
    };
    on_all_cores(seeds(600), engines, |engines, seed, differences| {
        let r = &mut Random::new(seed ^ 0xd07_0000);
        let text = program(r);
        // One engine runs the same program with other constants in turn: code that was made for moderate ones must not
        // run for others.
        for launch in 0..3 {
            let mut case = Case { threads: 1, counters: r.one_in(2), ..Case::new(&text, [0, 0, 31, 3]) };
            for constant in &mut case.constants.float[1..3] {
                let usual = r.one_in(2) || launch == 0 && seed % 2 == 0;
                *constant = std::array::from_fn(|_| if usual { moderate(r) } else { number(r) });
            }
            let mut input = || {
                let numbers: Vec<u32> = (0..32 * 4 * 4).map(|_| number(r)).collect();
                PaddedArray::new(32, 4, 4, |x, y, c| numbers[((4 * y + u32::from(c)) * 32 + x) as usize])
            };
            let inputs = vec![input(), input()];
            let memory = Surfaces { inputs, lends: true, ..Surfaces::two_outputs() };
            if let Some((engine, difference)) = case.differing(engines, &memory) {
                differences.add(seed, format!("{}, launch {launch}: {difference}\n{text}", engine.backend()));
                return;
            }
        }
    });
}
