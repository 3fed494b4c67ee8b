//! Labels of units that name another element than the destination, and short names of AMD's tools: words that a right text gives.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::diag::Severity;
use ctm_isa::r700::check::check;
use ctm_isa::r700::text::{TextOptions, assemble};

/// The words of a text without errors, and its warnings' rules.
fn words(text: &str) -> (Vec<u32>, Vec<&'static str>) {
    let assembly = assemble(text, &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{text}\n{:#?}", assembly.diagnostics));
    (program.words, assembly.diagnostics.iter().map(|d| d.rule).collect())
}

/// A clause of these groups, with an end.
fn program(groups: &str) -> String {
    format!("ALU:\n{groups}\nEXP_DONE: PIX0, R1\nEND_OF_PROGRAM\n")
}

#[test]
fn the_destination_decides() {
    // `DST_CHAN` and the order of words are all that the machine has (R700 §4.3, §4.4).
    for (labelled, right) in [
        ("0 x: MOV R1.z, R0.z\n y: MOV R1.w, R0.w", "0 z: MOV R1.z, R0.z\n w: MOV R1.w, R0.w"),
        ("0 x: MOV R1.w, R0.w", "0 w: MOV R1.w, R0.w"),
        // An operation of t alone goes to t, whatever the label and the destination.
        ("0 x: SIN R1.y, R0.x", "0 t: SIN R1.y, R0.x"),
        // A second writer of an element goes to t.
        ("0 x: MOV R1.z, R0.z\n y: MOV R2.z, R0.y", "0 z: MOV R1.z, R0.z\n t: MOV R2.z, R0.y"),
        ("0 x: MOV R1.z, R0.z\n z: MOV R2.z, R0.y", "0 z: MOV R1.z, R0.z\n t: MOV R2.z, R0.y"),
        (
            "0 x: MOV R1.y, R0.x\n y: MOV R1.x, R0.y\n t: RCP_e R2.x, R0.x",
            "0 x: MOV R1.x, R0.y\n y: MOV R1.y, R0.x\n t: RCP_e R2.x, R0.x",
        ),
        // In a group with such labels t is one of them: it numbers lines.
        ("0 x: MOV R1.y, R0.x\n t: MOV R1.z, R0.y", "0 y: MOV R1.y, R0.x\n z: MOV R1.z, R0.y"),
        // A line without a destination keeps its unit where that is free, and takes the first free one elsewhere.
        ("0 x: MOV R1.z, R0.z\n y: KILLGT ____, R0.x, 0.0f", "0 y: KILLGT ____, R0.x, 0.0f\n z: MOV R1.z, R0.z"),
        ("0 x: MOV R1.z, R0.z\n z: KILLGT ____, R0.x, 0.0f", "0 x: KILLGT ____, R0.x, 0.0f\n z: MOV R1.z, R0.z"),
        // A reduction is in all four units; its result goes to the element that is written.
        (
            "0 x: DOT4 R1.z, R0.x, R2.x\n y: DOT4 ____, R0.y, R2.y\n z: DOT4 ____, R0.z, R2.z\n w: DOT4 ____, R0.w, R2.w",
            "0 x: DOT4 ____, R0.z, R2.z\n y: DOT4 ____, R0.y, R2.y\n z: DOT4 R1.z, R0.x, R2.x\n w: DOT4 ____, R0.w, R2.w",
        ),
        // The numbers before groups still separate them.
        (
            "0 x: MOV R1.z, R0.z\n1 x: MOV R1.w, R0.w\n2 x: ADD R1.x, PV1.w, R0.x",
            "0 z: MOV R1.z, R0.z\n1 w: MOV R1.w, R0.w\n2 x: ADD R1.x, PV1.w, R0.x",
        ),
        // Without numbers the labels do, as for right ones.
        (
            "x: MOV R1.x, R0.x\n y: MOV R1.y, R0.y\n x: MOV R1.z, R0.z\n y: MOV R1.w, R0.w",
            "0 x: MOV R1.x, R0.x\n y: MOV R1.y, R0.y\n1 z: MOV R1.z, R0.z\n w: MOV R1.w, R0.w",
        ),
    ] {
        let (found, warnings) = words(&program(labelled));
        let (expected, none) = words(&program(right));
        assert_eq!(found, expected, "{labelled}");
        assert!(
            !warnings.is_empty() && warnings.iter().all(|rule| *rule == "slot-element"),
            "{labelled}: {warnings:?}"
        );
        assert_eq!(none, Vec::<&str>::new(), "{right}");
    }
}

#[test]
fn a_group_that_no_units_hold_is_still_wrong() {
    for groups in [
        // Three writers of one element.
        "0 x: MOV R1.z, R0.x\n y: MOV R2.z, R0.x\n z: MOV R3.z, R0.x",
        // Two operations of t.
        "0 x: SIN R1.y, R0.x\n y: COS R1.z, R0.x",
        // Two lines of a reduction that write one element.
        "0 x: DOT4 R1.z, R0.x, R2.x\n y: DOT4 R1.z, R0.y, R2.y\n z: DOT4 ____, R0.z, R2.z\n w: DOT4 ____, R0.w, R2.w",
    ] {
        let assembly = assemble(&program(groups), &TextOptions::default());
        assert!(assembly.diagnostics.iter().any(|d| d.severity == Severity::Error), "{groups}");
        assert_eq!(assembly.program, None);
    }
}

#[test]
fn short_names_of_amds_tools() {
    let short = "00 LOOP_DX10 i0 FAIL_JUMP_ADDR(07)
01 ALU_PUSH_BEFORE:
   0 x: PREDGT __, R0.x, 2.0f UPDATE_EXEC_MASK UPDATE_PRED
02 JUMP POP_CNT(1) ADDR(5)
03 BREAK ADDR(6)
04 POP (1) ADDR(5)
05 CONTINUE ADDR(6)
06 ENDLOOP i0 PASS_JUMP_ADDR(1)
07 POP (2) ADDR(8)
08 EXP_DONE: PIX0, R0
END_OF_PROGRAM
";
    let long = "00 LOOP_START_DX10 i0 FAIL_JUMP_ADDR(7)
01 ALU_PUSH_BEFORE:
   0 x: PRED_SETGT ____, R0.x, 2.0f UPDATE_EXEC_MASK UPDATE_PRED
02 JUMP POP_CNT(1) ADDR(5)
03 LOOP_BREAK ADDR(6)
04 POP POP_CNT(1) ADDR(5)
05 LOOP_CONTINUE ADDR(6)
06 LOOP_END i0 PASS_JUMP_ADDR(1)
07 POP POP_CNT(2) ADDR(8)
08 EXP_DONE: PIX0, R0
END_OF_PROGRAM
";
    assert_eq!(words(short), words(long));
}

#[test]
fn a_negated_choice_is_no_warning() {
    // A compiler's `c ? a : -b` on floats: the sign bit is meant.
    let text = program(" x: CNDE_INT R1.x, R0.y, R1.x, -R2.x");
    let program = assemble(&text, &TextOptions::default()).program.unwrap();
    let found: Vec<_> = check(&program).into_iter().filter(|d| d.rule == "negated-choice").collect();
    assert!(found.iter().all(|d| d.severity == Severity::Note), "{found:?}");
}
