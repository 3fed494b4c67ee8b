//! Products where zero times anything is zero, in chains and sums with dead parts, by constants that are other numbers
//! in each launch: against the reference interpreter.

use ctm_isa::x1k::random::Random;
use ctm_jit::{Backend, Jit};
use ctm_testkit::tries::{on_all_cores, seeds};
use ctm_testkit::x1k::surfaces::{Case, Surfaces};
use std::fmt::Write as _;

/// The values of constants: mostly numbers that need no test as factors.
const VALUES: [u32; 10] = [
    0x4000_0000, // 2
    0xbf40_0000, // -0.75
    0x3e80_0000, // 0.25
    0x4120_0000, // 10
    0x0000_0000,
    0x8000_0000,
    0x7f80_0000, // infinity
    0xff80_0000,
    0x7fc0_0000, // NaN
    0x0000_0001, // a denormal, which counts as zero
];

fn factor(r: &mut Random) -> &'static str {
    r.of(&[
        "x.r", "-x.g", "a.r", "-a.g", "a.b", "a.a", "h.r", "h.g", "-h.b", "h.a", "c1.r", "-c1.g", "c2.b", "c2.a",
        "c3.r", "c3.a",
    ])
}

/// A program of products: registers begin as coordinates, zeros, infinities and NaNs.
fn program(r: &mut Random) -> String {
    let mut text = String::from(
        ".zero_times_anything\n.output first = o0, second = o1\n.reg x = r0, a = r1, h = r2, t = r3\n\
         sub a.r, x.r, 5\nrcp a.g, a.r\nsub a.b, a.g, a.g\nmul a.a, a.r, 0\nmov h, a\nmov t, x.rgrg\n",
    );
    let components = ["r", "g", "b", "a"];
    for _ in 0..6 + r.below(24) {
        let to = format!("{}.{}", r.of(&["h", "h", "t", "a"]), r.of(&components));
        let after = r.of(&["", "", "", "", " *2", " /4", " sat"]);
        let [a, b, c] = std::array::from_fn(|_| factor(r));
        let _ = match r.below(10) {
            0..=3 => writeln!(text, "mul {to}, {a}, {b}{after}"),
            4..=6 => writeln!(text, "mad {to}, {a}, {b}, {c}{after}"),
            7 => writeln!(text, "add {to}, {a}, {b}{after}"),
            8 => writeln!(text, "dp3 {}, h.rgb, {}.rgb", r.of(&["t.r", "h.g"]), r.of(&["t", "a", "c1", "c2"])),
            _ => writeln!(text, "{} {to}, {a}, {b}", r.of(&["max", "min"])),
        };
        if r.one_in(12) {
            let _ = writeln!(
                text,
                "mul t._, res(r {}), h.rrr, (1, 1, 1)\nif res\nmul h.g, {a}, {b}\nmul h.b, h.g, {c}\nendif",
                r.of(&["eq", "lt", "ge"])
            );
        }
    }
    text.push_str("mov first, h\nmov second, t\n");
    text
}

#[test]
fn products_of_zero_and_anything() {
    let engines = || -> Vec<Jit> { Backend::available().map(Jit::with_backend).collect() };
    on_all_cores(seeds(400), engines, |engines, seed, differences| {
        let r = &mut Random::new(seed ^ 0x0be5_0f00);
        let text = program(r);
        // One engine runs the same program with other constants in turn: code that was made for numbers must not run
        // for zeros.
        for launch in 0..4 {
            let mut case = Case { threads: 1, ..Case::new(&text, [0, 0, 31, 3]) };
            for constant in &mut case.constants.float[1..4] {
                let usual = r.one_in(2) || launch == 0 && seed % 2 == 0;
                *constant =
                    std::array::from_fn(|_| VALUES[r.below(if usual { 4 } else { VALUES.len() as u32 }) as usize]);
            }
            if let Some((engine, difference)) = case.differing(engines, &Surfaces::two_outputs()) {
                differences.add(seed, format!("{}, launch {launch}: {difference}\n{text}", engine.backend()));
                return;
            }
        }
    });
}
