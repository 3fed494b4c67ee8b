//! Choices between constants, computations on them and comparisons of them, against the reference interpreter:
//! compilers make every condition in this way.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_isa::x1k::random::Random;
use ctm_jit::{Backend, Jit};
use ctm_testkit::tries::{on_all_cores, seeds};
use ctm_testkit::x1k::surfaces::{Case, Surfaces};
use std::fmt::Write as _;

/// A constant that an instruction can name.
fn constant(r: &mut Random) -> &'static str {
    r.of(&["0", "1", "0.5", "2", "-1", "-2", "-0.5", "12", "0.125"])
}

/// A component of arbitrary values: coordinates, values computed from them, constants that are no ordinary numbers.
fn anything(r: &mut Random) -> &'static str {
    r.of(&["x.r", "-x.r", "x.g", "|x.b|", "x.a", "c.r", "c.g", "-c.b", "c.a", "k.r", "-k.g"])
}

/// A choice, mostly between constants, by anything or by an earlier one.
fn choice(text: &mut String, to: &str, r: &mut Random) {
    let by = if r.one_in(3) { r.of(&["h.r", "-h.g", "h.b", "-|h.a|", "k.b", "k.a"]) } else { anything(r) };
    let [a, b] = std::array::from_fn(|_| if r.one_in(6) { anything(r) } else { constant(r) });
    let after = r.of(&["", "", "", " *2", " /4", " sat", " raw"]);
    let op = r.of(&["cmp", "cmp", "cnd"]);
    let _ = match r.below(6) {
        0 => writeln!(text, "{} {to}, {by}, {a}{after}", r.of(&["min", "max"])),
        _ => writeln!(text, "{op} {to}, {a}, {b}, {by}{after}"),
    };
}

fn program(r: &mut Random) -> String {
    let mut text = String::from(
        ".output first = o0, second = o1\n.const k = c0 (-1.5, 3, 0.5, 0)\n.reg x = r0, c = r1, h = r2, t = r3\n.bool yes = b0 (true)\n\
         mul c.r, x.r, 0.125\nrcp c.a, x.g\nmov c.g, c.a\nmad c.b, -c.g, 0, c.r\nadd c.a, x.r, -x.g\nmov h, c\nmov t, c\n",
    );
    let components = ["r", "g", "b", "a"];
    for _ in 0..4 + r.below(12) {
        let to = format!("{}.{}", r.of(&["h", "h", "t"]), r.of(&components));
        match r.below(9) {
            0..=3 => choice(&mut text, &to, r),
            4 => {
                let of = r.of(&["h.r", "-h.g", "|h.b|", "-|h.a|"]);
                let _ =
                    writeln!(text, "mad {to}, {of}, {}, {}{}", constant(r), constant(r), r.of(&["", " *4", " sat"]));
            }
            5 => {
                let _ = writeln!(text, "mul {to}, {}, {}", r.of(&["h.r", "-h.g"]), r.of(&["h.b", "h.a", "c.r"]));
            }
            6 => {
                let how = r.of(&["eq", "lt", "ge", "ne"]);
                let _ = writeln!(
                    text,
                    "mul t._, res(r {how}), h.rrr, (1, 1, 1)\nif {}\nadd t.g, t.g, 1",
                    r.of(&["res", "!res"])
                );
                if r.one_in(2) {
                    choice(&mut text, "t.b", r);
                }
                text.push_str("endif\n");
            }
            7 => {
                let how = r.of(&["eq", "lt", "ge", "ne"]);
                let _ = writeln!(text, "mov p.r({how}), h.g\n(p.r) add t.r, t.r, h.b");
            }
            _ if r.one_in(4) => text.push_str("texkill h.rgb\n"),
            _ => {}
        }
    }
    text.push_str("mov first, h\nmov second, t\n");
    text
}

#[test]
fn choices_between_constants() {
    let engines = || -> Vec<Jit> { Backend::available().map(Jit::with_backend).collect() };
    on_all_cores(seeds(400), engines, |engines, seed, differences| {
        let r = &mut Random::new(seed ^ 0xc401_ce00);
        let text = program(r);
        let domain = r.of(&[[0, 0, 63, 7], [0, 0, 47, 3], [3, 1, 40, 6]]);
        let case = Case { threads: 1, counters: r.one_in(5), ..Case::new(&text, domain) };
        if let Some((engine, difference)) = case.differing(engines, &Surfaces::two_outputs()) {
            differences.add(seed, format!("{}: {difference}\n{text}", engine.backend()));
        }
    });
}
