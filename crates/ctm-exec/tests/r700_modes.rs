//! Subroutines, whole-quad and valid-pixel mode of R700 in whole programs, for wavefronts of 16, 32 and 64.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants, Launch, LoopConstant, Plane, Target};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};

/// Nine columns and seven rows: some quads are not complete, and of wavefronts of 16 there are several.
const DOMAIN: Domain = Domain { i0: 0, j0: 0, i1: 8, j1: 6 };

fn program(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{source}\n{:?}", assembly.diagnostics))
}

/// Runs a program whose R0 is (i, j, 0, 0) as integers and whose loop constant 0 is three turns; returns PIX0.x.
fn run(source: &str, fetch: Option<&str>, stage: Stage, lanes: u16) -> Result<Vec<u32>, &'static str> {
    let (main, fetch) = (program(source), fetch.map(program));
    let mut constants = Constants::default();
    constants.loops[0] = LoopConstant { count: 3, start: 0, step: 1 };
    constants.bool[1] = true;
    let plane = Plane { temp: 0, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0, 1.0, 0.0, 0.0], bits: true };
    let launch = Launch {
        stage,
        fetch_program: fetch.as_ref(),
        planes: &[plane],
        wavefront: GroupSize::new(lanes).unwrap(),
        budget: Budget { instructions_per_group: Some(20_000), time: None },
        ..Launch::new(&main, &constants, DOMAIN)
    };
    let mut memory = Arrays::default();
    memory.targets.insert(Target::Pixel(0), Picture::filled(9, 7, [-1.0; 4]));
    Interp.run_r700(&launch, &mut memory).map_err(|fault| fault.code())?;
    Ok(memory.targets[&Target::Pixel(0)].elements.iter().map(|texel| texel[0]).collect())
}

/// Compares with the expected value of pixel (i, j), for every width; text blocks are in a branch, in a loop, in both, and in neither.
fn everywhere(before: &str, body: &str, after: &str, once: impl Fn(u32, u32) -> u32) {
    let branch = |inner: &str| {
        // Pixels with i < 6 go in.
        format!(
            "ALU_PUSH_BEFORE:\n x: PRED_SETGT_INT ____, (0x6, 0.0f), R0.x UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(past)\n{inner}POP POP_CNT(1)\npast:\n"
        )
    };
    let loops = |inner: &str| {
        format!(
            "LOOP_START CF_CONST(0) FAIL_JUMP_ADDR(behind)\nagain:\n{inner}LOOP_END CF_CONST(0) PASS_JUMP_ADDR(again)\nbehind:\n"
        )
    };
    let end = format!("EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n{after}");
    for (turns, inside, text) in [
        (1, false, body.to_owned()),
        (1, true, branch(body)),
        (3, false, loops(body)),
        (3, true, branch(&loops(body))),
        (3, true, loops(&branch(body))),
    ] {
        for lanes in [16, 32, 64] {
            let got = run(&format!("{before}{text}{end}"), None, Stage::Pixel, lanes).unwrap();
            for (n, got) in (0..63).zip(got) {
                let (i, j) = (n % 9, n / 9);
                let expected = if inside && i >= 6 { 0 } else { turns * once(i, j) };
                assert_eq!(got, expected, "({i}, {j}), {lanes} lanes\n{text}");
            }
        }
    }
}

/// A clause that counts.
const COUNT: &str = "ALU:\n x: ADD_INT R1.x, R1.x, 1\n";

/// R700 §3.7.6: a call that would pass depth 32 is ignored.
#[test]
fn calls_nest_32_deep() {
    for (count, depth) in [(1, 32), (2, 16), (3, 10), (16, 2), (31, 1)] {
        let sub = format!("sub:\n{COUNT}CALL CALL_COUNT({count}) ADDR(sub)\nRETURN\n");
        everywhere("", &format!("CALL CALL_COUNT({count}) ADDR(sub)\n"), &sub, |_, _| depth);
    }
    // Without counting there is no end but that of the stack.
    let endless = format!(
        "CALL CALL_COUNT(0) ADDR(sub)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\nsub:\n{COUNT}CALL CALL_COUNT(0) ADDR(sub)\nRETURN\n"
    );
    assert_eq!(run(&endless, None, Stage::Pixel, 64), Err("stack-overflow"));
}

/// A call is skipped if and only if all pixels fail; pixels that sleep do not run it; RETURN goes whatever its condition (R700 table 3.7).
#[test]
fn calls_and_returns_by_condition() {
    let sub =
        format!("sub:\n{COUNT}RETURN CND(BOOL) CF_CONST(0)\n{COUNT}RETURN CND(BOOL) CF_CONST(1)\n{COUNT}RETURN\n");
    everywhere("", "CALL CALL_COUNT(1) ADDR(sub)\n", &sub, |_, _| 1);
    everywhere("", "CALL CALL_COUNT(1) CND(FALSE) ADDR(sub)\n", &sub, |_, _| 0);
    everywhere("", "CALL CALL_COUNT(1) CND(NOT_BOOL) CF_CONST(0) ADDR(sub)\n", &sub, |_, _| 1);
    // Odd columns only.
    let odd = "ALU:\n x: AND_INT R3.x, R0.x, 1\n";
    let call = "ALU_PUSH_BEFORE:\n x: PRED_SETNE_INT ____, R3.x, 0.0f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(none)\nCALL CALL_COUNT(1) ADDR(sub)\nPOP POP_CNT(1)\nnone:\n";
    everywhere(odd, call, &sub, |i, _| i % 2);
}

/// R700 §3.7.6 CALL_FS: the fetch program runs once for each call; within it the instruction does nothing.
#[test]
fn fetch_subroutines() {
    let fetch = format!("CALL_FS CALL_COUNT(1)\n{COUNT}RETURN\nNOP\nEND_OF_PROGRAM\n");
    let main = "CALL_FS\nLOOP_START CF_CONST(0) FAIL_JUMP_ADDR(b)\na:\nCALL_FS CALL_COUNT(1)\nLOOP_END CF_CONST(0) PASS_JUMP_ADDR(a)\nb:\nCALL_FS CND(FALSE)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    for lanes in [16, 32, 64] {
        assert_eq!(run(main, Some(&fetch), Stage::Vertex, lanes), Ok(vec![4; 63]));
        assert_eq!(run(main, None, Stage::Vertex, lanes), Ok(vec![0; 63]));
    }
}

/// Whether a pixel of the pattern is active: about one in five.
fn chosen(i: u32, j: u32) -> bool {
    (i + 3 * j).is_multiple_of(5)
}

/// R3.x = 0 for chosen pixels: i + 3j less five times its fifth, by a multiplication.
const CHOOSE: &str = "ALU:\n 0 t: MULLO_INT R3.x, R0.y, (0x3, 0.0f)\n 1 x: ADD_INT R3.x, R3.x, R0.x\n 2 t: MULLO_INT R4.x, R3.x, (0xcd, 0.0f)\n 3 x: LSHR_INT R4.x, R4.x, (0xa, 0.0f)\n 4 t: MULLO_INT R4.x, R4.x, (0x5, 0.0f)\n 5 x: SUB_INT R3.x, R3.x, R4.x\n";
const IF_CHOSEN: &str =
    "ALU_PUSH_BEFORE:\n x: PRED_SETE_INT ____, R3.x, 0.0f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(none)\n";

/// Whether the quad of a pixel holds a chosen one; columns from `end` on sleep.
fn quad_chosen(i: u32, j: u32, end: u32) -> bool {
    (0..4).any(|n| {
        let (x, y) = ((i & !1) + n % 2, (j & !1) + n / 2);
        x < end.min(9) && y < 7 && chosen(x, y)
    })
}

/// R700 §3.6.2, table 3.4: in whole-quad mode a clause runs for all pixels of quads with an active one, and changes no state.
#[test]
fn whole_quad_mode() {
    let body = format!(
        "{IF_CHOSEN}ALU: WHOLE_QUAD\n x: ADD_INT R1.x, R1.x, (0x64, 0.0f)\nALU:\n x: ADD_INT R1.x, R1.x, 1\nPOP POP_CNT(1)\nnone:\n"
    );
    // The branch of `everywhere` ends between quads, so its sleepers are in quads of their own.
    everywhere(CHOOSE, &body, "", |i, j| u32::from(quad_chosen(i, j, 9)) * 100 + u32::from(chosen(i, j)));
    // PUSH in whole-quad mode wakes them until its pop.
    let body = format!(
        "{IF_CHOSEN}PUSH WHOLE_QUAD ADDR(skip)\n{COUNT}POP POP_CNT(1)\nskip:\nALU:\n x: ADD_INT R1.x, R1.x, (0x64, 0.0f)\nPOP POP_CNT(1)\nnone:\n"
    );
    everywhere(CHOOSE, &body, "", |i, j| u32::from(quad_chosen(i, j, 9)) + 100 * u32::from(chosen(i, j)));
}

/// R700 §3.6.1, §3.6.2: killed pixels go on, for their quads; a pop in valid-pixel mode puts them to sleep, another pop does not.
#[test]
fn valid_pixel_mode() {
    // Odd columns are killed; R2 = i + 1, then 4i; the slope along the row shows the killed pixel's value.
    let source = |mode: &str| {
        format!(
            "ALU:\n x: AND_INT R3.x, R0.x, 1\nPUSH ADDR(out)\nALU:\n x: KILLNE_INT ____, R3.x, 0.0f\nALU:\n 0 t: INT_TO_FLT R4.x, R3.x\n 1 x: ADD R2.x, R4.x, 1.0f\n\
             POP POP_CNT(1) {mode}\nout:\nTEX:\n GET_GRADIENTS_H R5.x___, R2.xxxx, t0, s0\nALU:\n x: MUL R2.x, R4.x, 4.0f\nTEX:\n GET_GRADIENTS_H R6.x___, R2.xxxx, t0, s0\n\
             ALU:\n x: MULADD R1.x, R6.x, 16.0f, R5.x\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"
        )
    };
    for lanes in [16, 32, 64] {
        for (mode, slope) in [("", 4.0f32), ("VALID_PIX", 2.0)] {
            let got = run(&source(mode), None, Stage::Pixel, lanes).unwrap();
            for (n, got) in (0..63u32).zip(got) {
                let i = n % 9;
                // Odd pixels are not drawn, -1 is there; the last column's neighbour is invalid and never executed: 0 less 1.
                let expected = if i % 2 == 1 || i == 8 { -1.0 } else { slope * 16.0 + 1.0 };
                assert_eq!(f32::from_bits(got), expected, "pixel {n}, {lanes} lanes, {mode}");
            }
        }
    }
}

/// Every width ends an endless loop, and says so.
#[test]
fn endless_loops_end() {
    for (source, code) in [
        (
            "LOOP_START_DX10 FAIL_JUMP_ADDR(b)\na:\nNOP\nLOOP_END PASS_JUMP_ADDR(a)\nb:\nNOP\nEND_OF_PROGRAM\n",
            "instruction-budget",
        ),
        ("again:\nJUMP CND(FALSE) ADDR(again)\nNOP\nEND_OF_PROGRAM\n", "instruction-budget"),
        ("again:\nPUSH ADDR(again)\nJUMP CND(FALSE) ADDR(again)\nNOP\nEND_OF_PROGRAM\n", "stack-overflow"),
        ("a:\nLOOP_START_DX10 FAIL_JUMP_ADDR(a)\nJUMP CND(FALSE) ADDR(a)\nNOP\nEND_OF_PROGRAM\n", "stack-overflow"),
    ] {
        for lanes in [16, 32, 64] {
            assert_eq!(run(source, None, Stage::Pixel, lanes), Err(code), "{source}");
        }
    }
}
