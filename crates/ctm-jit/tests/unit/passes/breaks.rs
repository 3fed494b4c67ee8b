//! Tests of `src/passes/breaks.rs`.

use super::*;
use ctm_exec::x1k::Constants;
use ctm_ir::lower::x1k::Asked;

/// The options of lowering.
const ASKED: Asked = Asked { counts: false, relies: true };

/// How many breaks leave more than one loop then.
fn leave_both(before_inner: &str, before_outer: &str) -> usize {
    let text = format!(
        ".output o = o0\n.int i = i0 (3, 0, 0)\nmov r1, r0\nmov r2, 0\nrep i\nrep i\nmad r1, r1, r1, r0\nadd r2, r2, 1\n{before_inner}\nbreak res\n\
         endrep\n{before_outer}\nbreak res\nendrep\nmov o, r2\n"
    );
    let assembly = ctm_isa::x1k::text::assemble(&text);
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let Some(code) = ctm_ir::lower::x1k::lower(&program, &Constants::default(), ASKED) else { panic!("{text}") };
    assert!(ctm_ir::lower::x1k::joint::holds(&code));
    let Some(joined) = joined(&code) else { return 0 };
    assert!(ctm_ir::lower::x1k::joint::holds(&joined));
    let further = |(old, new): &(&Block, &Block)| match (old.end, new.end) {
        (End::Flow(old), End::Flow(new)) => new.frame < old.frame,
        _ => false,
    };
    code.blocks.iter().zip(&joined.blocks).filter(further).count()
}

#[test]
fn the_same_comparison_leaves_both_loops() {
    let compare = "add res(r ge), r1.r, -2.0";
    assert_eq!(leave_both(compare, compare), 1);
    assert_eq!(leave_both(&format!("{compare}\nadd r2.g, r2.r, 1"), compare), 1);
    // Twice in the inner loop, and both times the same.
    let twice = format!("{compare}\nbreak res\nmad r1, r1, r1, r0\n{compare}");
    assert_eq!(leave_both(&twice, compare), 2);
}

#[test]
fn other_comparisons_do_not() {
    let compare = "add res(r ge), r1.r, -2.0";
    for (inner, outer) in [
        (compare, "add res(r lt), r1.r, -2.0"),
        (compare, "add res(r ge), r1.r, -4.0"),
        (compare, "add res(r ge), r2.r, -2.0"),
        // An operand of the comparison has changed meanwhile.
        ("add res(r ge), r1.r, -2.0\nadd r1.r, r1.r, 1", compare),
        // Another instruction is between the two.
        (compare, "add r2.g, r2.g, 1\nadd res(r ge), r1.r, -2.0"),
        // Some leave the inner loop for another reason.
        ("add res(r ge), r2.r, -2.0\nbreak res\nadd res(r ge), r1.r, -2.0", compare),
    ] {
        assert_eq!(leave_both(inner, outer), 0, "{inner} / {outer}");
    }
}
