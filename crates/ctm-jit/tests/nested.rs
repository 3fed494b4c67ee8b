//! Nested loops that lanes leave by the same comparison, or by a similar one, against the reference
//! interpreter.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_isa::x1k::random::Random;
use ctm_jit::{Backend, Jit};
use ctm_testkit::tries::{on_all_cores, seeds};
use ctm_testkit::x1k::surfaces::{Case, Surfaces};
use std::fmt::Write as _;

/// The operands of a loop's BREAK: mostly the same at all of them.
struct Comparison {
    usual: String,
    break_if: &'static str,
}

impl Comparison {
    fn new(r: &mut Random) -> Self {
        let usual = Self::any(r);
        Self { usual, break_if: r.of(&["res", "res", "!res"]) }
    }

    fn any(r: &mut Random) -> String {
        let how = r.of(&["r ge", "r ge", "r lt", "r ne"]);
        let of =
            r.of(&["z.ra0, z.ra0, -k.rrr", "z.ra0, z.ra0, -k.rrr", "z.ra0, n.ar0, -k.ggg", "c.ra0, z.ra0, -k.bbb"]);
        format!("d2a   res({how}), {of}\n")
    }

    /// The comparison and the BREAK; instructions between them seldom affect it.
    fn add(&self, text: &mut String, r: &mut Random) {
        let other = r.below(6) == 0;
        text.push_str(&if other { Self::any(r) } else { self.usual.clone() });
        text.push_str(&effect(r, 4));
        let condition = if r.below(8) == 0 { "!res" } else { self.break_if };
        match r.below(10) {
            0 => {
                let _ = writeln!(text, "if {condition}\n{}break\nendif", effect(r, 2));
            }
            1 => {
                let _ = writeln!(text, "if yes\nbreak {condition}\nendif");
            }
            _ => {
                let _ = writeln!(text, "break {condition}");
            }
        }
    }
}

/// Nothing, or in one case of `out_of` an instruction that changes an operand of the comparison, or a
/// count.
fn effect(r: &mut Random, out_of: u32) -> String {
    if r.below(out_of) != 0 {
        return String::new();
    }
    let what = ["add n.a, n.a, 1", "mov z.r, z.a", "mad z.a, z.r, 0.5, c.r", "mov k2.r, z.r", "add c.r, c.r, 0.125"];
    format!("{}\n", r.of(&what))
}

/// A turn of the innermost loop.
fn turn(text: &mut String, comparison: &Comparison, r: &mut Random) {
    text.push_str("mad   t.r, -z.a, z.a, c.r | mad  t.a, z.r, z.a, c.a *2\n");
    text.push_str("mad   z.r, z.r, z.r, t.r  | mov  z.a, t.a\n");
    text.push_str("add   n.a, n.a, 1\n");
    comparison.add(text, r);
    if r.below(3) == 0 {
        text.push_str("mad   z.r, z.a, 0.25, z.r\n");
        comparison.add(text, r);
    }
    text.push_str(&effect(r, 3));
}

fn loops(text: &mut String, depth: u32, comparison: &Comparison, r: &mut Random) {
    let (begin, end) = r.of(&[("rep", "endrep"), ("rep", "endrep"), ("loop", "endloop")]);
    let _ = writeln!(text, "{begin} count{depth}");
    text.push_str(&effect(r, 5));
    if depth == 0 {
        turn(text, comparison, r);
    } else {
        loops(text, depth - 1, comparison, r);
        if r.below(8) == 0 {
            loops(text, depth - 1, comparison, r);
        }
        text.push_str(&effect(r, 8));
        comparison.add(text, r);
        text.push_str(&effect(r, 5));
    }
    let _ = writeln!(text, "{end}");
}

/// A program of two or three loops.
fn program(r: &mut Random) -> String {
    let mut text = String::from(
        ".output turns = o0, last = o1\n.const view = c0 (-2, -1.5, 0.05, 0)\n.const k = c1 (4, 3, 0.5, 0)\n.bool yes = b0 (true)\n\
         .reg c = r1, z = r2, n = r3, t = r4, k2 = r5\n",
    );
    for depth in 0..3 {
        let count = r.of(&[0, 1, 2, 3, 3, 4, 5, 7]);
        let _ = writeln!(text, ".int count{depth} = i{depth} ({count}, 1, 1)");
    }
    text.push_str("mad c.r, r0.r, view.b, view.r | mad c.a, r0.g, view.b, view.g /2\n");
    text.push_str("mov z, 0\nmov n, 0\nmov k2, 0\n");
    let comparison = Comparison::new(r);
    loops(&mut text, 1 + u32::from(r.below(3) == 0), &comparison, r);
    text.push_str("mov turns, n.a\n");
    text.push_str(r.of(&["mov last, z", "mov last, n", "mov last, k2"]));
    text.push('\n');
    text
}

#[test]
fn loops_that_are_left_by_the_same_comparison() {
    let engines = || -> Vec<Jit> {
        let native = Backend::available().filter(|&backend| backend != Backend::Portable);
        native.map(Jit::with_backend).collect()
    };
    on_all_cores(seeds(250), engines, |engines, seed, differences| {
        let r = &mut Random::new(seed);
        let text = program(r);
        let domain = r.of(&[[0, 0, 63, 7], [0, 0, 47, 3], [3, 1, 40, 6]]);
        let case = Case { threads: 1, counters: r.below(5) == 0, ..Case::new(&text, domain) };
        if let Some((engine, difference)) = case.differing(engines, &Surfaces::two_outputs()) {
            differences.add(seed, format!("{}: {difference}\n{text}", engine.backend()));
        }
    });
}
