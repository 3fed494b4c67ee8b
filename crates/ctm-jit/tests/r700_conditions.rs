//! Conditions as compilers make them: comparisons, computations on their outcomes, and comparisons of those, against
//! the reference interpreter; with uniform values, and registers at an index. Domains of whole quads and of parts of
//! some, as lanes outside of the domain are treated apart.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Target};
use ctm_exec::{Domain, Engine, Interp};
use ctm_isa::r700::random::Random;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::{Backend, Jit};
use ctm_testkit::tries::{on_all_cores, seeds};
use std::fmt::Write as _;

const ELEMENTS: [&str; 4] = ["x", "y", "z", "w"];

/// A number that an instruction can name, or one of its kinds of literals.
fn constant(r: &mut Random) -> String {
    let literals = [
        "0.0f",
        "1.0f",
        "0.5f",
        "1",
        "-1",
        "2.0f",
        "-0.5f",
        "0x7f800000",
        "0x80000000",
        "0x00000001",
        "0xffffffff",
        "7",
    ];
    r.of(&literals).to_owned()
}

/// Anything: coordinates, infinities, NaNs.
fn anything(r: &mut Random) -> String {
    r.of(&["R0.x", "-R0.x", "R0.y", "|R0.z|", "R0.w", "R1.x", "-R1.y", "R1.z", "R1.w", "C0.x", "-C0.y", "C1.z"])
        .to_owned()
}

/// A possible outcome of earlier instructions.
fn outcome(r: &mut Random) -> String {
    format!("R{}.{}", 2 + r.below(2), r.of(&ELEMENTS))
}

fn program(r: &mut Random) -> String {
    // A NaN, an infinity and a zero of each sign, where the planes make them.
    let mut text = "ALU:\n t: RCP_e R1.x, R0.x\nALU:\n t: FLT_TO_INT R4.x, R0.x\nALU:\n y: MUL_e R1.y, R1.x, 0.0f\n z: MUL_e R1.z, -R0.x, 0.0f\n w: MOV R1.w, R0.y\nALU:\n".to_owned();
    for element in ELEMENTS {
        let _ = writeln!(text, " {element}: MOV R2.{element}, R0.{element}");
    }
    if r.one_in(3) {
        // More registers than the few that are selected by comparisons.
        text += "ALU:\n x: MOV R20.x, R0.x\n";
    }
    for _ in 0..4 + r.below(14) {
        let (to, element) = (2 + r.below(2), r.of(&ELEMENTS));
        let (a, b) = (anything(r), if r.one_in(2) { constant(r) } else { anything(r) });
        let plain = |of: &str| of.replace('|', "");
        let (of, with) = (
            outcome(r),
            match r.below(6) {
                0 => anything(r),
                1 | 2 => outcome(r),
                _ => constant(r),
            },
        );
        if r.one_in(8) {
            let moves = r.of(&["MOV R2[AR.x].$, %", "MOV R%.$, R1[AR.x].$", "ADD R3[AR.x].$, R2[AR.x].$, %"]);
            let value = if moves.contains("R%") { to.to_string() } else { of };
            let moves = moves.replace('$', element).replace('%', &value);
            let _ = writeln!(text, "ALU:\n x: MOVA_INT ____, R4.x\n {element}: {moves}");
            continue;
        }
        let compares = r.of(&[
            "SETE",
            "SETGT",
            "SETGE",
            "SETNE",
            "SETE_DX10",
            "SETGT_DX10",
            "SETGE_DX10",
            "SETNE_DX10",
            "SETE_INT",
            "SETGT_INT",
            "SETGE_INT",
            "SETNE_INT",
            "SETGT_UINT",
            "SETGE_UINT",
        ]);
        let line = match r.below(13) {
            0..=2 => format!("{compares} R{to}.{element}, {a}, {b}"),
            3 => format!("{compares} R{to}.{element}, {of}, {with}"),
            4 => format!("NOT_INT R{to}.{element}, {of}"),
            5 => format!(
                "{} R{to}.{element}, {of}, {with}",
                r.of(&["AND_INT", "OR_INT", "XOR_INT", "ADD", "MUL_e", "ADD_INT"])
            ),
            6 => format!(
                "{} R{to}.{element}, {of}, {}, {}",
                r.of(&["CNDE", "CNDGT", "CNDGE", "CNDE_INT", "CNDGT_INT", "CNDGE_INT"]),
                plain(&a),
                plain(&b),
            ),
            7 => match r.of(&["-", "", "|"]) {
                "|" => format!("MOV R{to}.{element}, -|{of}|"),
                sign => format!("MOV R{to}.{element}, {sign}{of}"),
            },
            8 => format!("MULADD_e R{to}.{element}, {of}, {}, {}", plain(&with), constant(r)),
            9 | 10 => format!(
                "{} R{to}.{element}, {}, {}",
                r.of(&["MIN_DX10", "MAX_DX10", "MIN", "MAX", "AND_INT", "OR_INT"]),
                if r.one_in(2) { constant(r) } else { of },
                plain(&with),
            ),
            11 => format!("{} R{to}.{element}, {of}", r.of(&["INT_TO_FLT", "FLT_TO_INT", "TRUNC", "SQRT_e"])),
            _ => {
                let (factor, clamp) = r.of(&[("", ""), ("*2", ""), ("", " CLAMP"), ("/2", " CLAMP")]);
                format!("ADD{factor} R{to}.{element}, {of}, {}{clamp}", constant(r))
            }
        };
        let slot =
            if ["INT_TO_FLT", "FLT_TO_INT", "SQRT_e"].iter().any(|op| line.starts_with(op)) { "t" } else { element };
        let _ = writeln!(text, "ALU:\n {slot}: {line}");
        if r.one_in(5) {
            let (how, of) =
                (r.of(&["PRED_SETNE_INT", "PRED_SETE_INT", "PRED_SETGT", "PRED_SETNE", "PRED_SETGE_INT"]), outcome(r));
            let _ = write!(
                text,
                "ALU_PUSH_BEFORE:\n x: {how} ____, {of}, 0.0f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(after{0})\n\
                 ALU_POP_AFTER:\n x: ADD R2.x, R2.x, 0.25f\n y: {compares} R3.y, R0.x, R0.y\nafter{0}:\n",
                text.len(),
            );
        }
        if r.one_in(12) {
            let _ = writeln!(
                text,
                "ALU:\n x: {} ____, {}, 0.0f",
                r.of(&["KILLNE_INT", "KILLE_INT", "KILLGT", "KILLE"]),
                outcome(r)
            );
        }
    }
    text + "EXP: PIX0, R2.xyzw\nEXP_DONE: PIX1, R3.xyzw\nEND_OF_PROGRAM\n"
}

#[test]
fn conditions_of_compilers() {
    let engines = || -> Vec<Jit> { Backend::available().map(Jit::with_backend).collect() };
    on_all_cores(seeds(300), engines, |engines, seed, differences| {
        let r = &mut Random::new(seed ^ 0x00c0_4d17);
        let text = program(r);
        let assembly = assemble(&text, &TextOptions::default());
        let program = assembly.program.unwrap_or_else(|| panic!("{text}\n{:?}", assembly.diagnostics));
        let planes = [Plane {
            temp: 0,
            origin: [-4.0, -2.0, 1.5, 0.0],
            di: [1.0, 0.5, -0.25, 0.0],
            dj: [0.0, 1.0, 1.0, 3.0],
            bits: r.one_in(4),
        }];
        let mut constants = Constants::default();
        constants.file[0] = [r.of(&[0, 1, 0x3f80_0000, 0xffc0_0001]), r.of(&[0x4040_0000, 0x7f80_0000, 3]), 0, 0];
        constants.file[1][2] = r.of(&[0, u32::MAX, 0x8000_0000, 0xbf00_0000]);
        let [i0, j0, i1, j1] = r.of(&[[0, 0, 31, 3], [0, 0, 31, 3], [1, 1, 20, 4], [2, 0, 8, 6]]);
        let launch = Launch { planes: &planes, ..Launch::new(&program, &constants, Domain { i0, j0, i1, j1 }) };
        let mut memory = Arrays::default();
        let blank = || Picture { width: 32, height: 8, elements: vec![[0xdead_beef; 4]; 32 * 8] };
        (0..2).for_each(|target| _ = memory.targets.insert(Target::Pixel(target), blank()));
        let mut expected = memory.clone();
        let outcome = Interp.run_r700(&launch, &mut expected);
        for engine in engines {
            let mut found = memory.clone();
            if engine.run_r700(&launch, &mut found) != outcome || found.targets != expected.targets {
                differences.add(seed, format!("{}, {i0} {j0} {i1} {j1}\n{text}", engine.backend()));
                break;
            }
        }
    });
}
