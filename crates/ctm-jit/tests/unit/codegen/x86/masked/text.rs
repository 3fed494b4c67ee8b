//! Tests of `src/codegen/x86/masked/text.rs` and of the parser of lines: errors name line, column and the allowed
//! text.

use super::*;

#[test]
fn errors_say_where_and_what_is_allowed() {
    let machine = |line: &str| parse(&format!("selected\nblock b0\n{line}\n")).err().map(|error| error.to_string());
    let masked = |line: &str| Code::parse(&format!("code\nblock b0\n{line}\n")).err().map(|error| error.to_string());
    for (found, expected) in [
        (machine("  x1 = plus x0, x0"), "line 3, column 8: `plus` is no machine instruction; allowed: `mov`, `two`,"),
        (machine("  x1 = mov y0"), "line 3, column 12: `y0` is no operand: a vector `x0`, bits"),
        (machine("  x1 = mov x0, x2"), "line 3, column 16: `x2` is left; expected the end of the line"),
        (
            machine("  x1 = two ADD, x0, x0"),
            "line 4, column 1: the block before has no end; expected one of `stop`, `next`, `branch`",
        ),
        (masked("  v0 = abs v7"), "line 3, column 12: `v7` is no vector of this block"),
        (masked("  abs v0"), "line 3, column 7: `v0` is no vector of this block"),
        (masked("  set r0.q, v0, active"), "line 3, column 7: `r0.q` is no variable: `r0.x` to `r127.w`"),
        (masked("  active = nand active, pass"), "`nand` is no micro-operation; allowed: `bits`, `get`,"),
        (masked("  v0 = lane\n  v0 = lane"), "line 4, column 3: `v0` is made twice in this block"),
        (masked("  lane"), "line 3, column 3: `lane`: expected `v0 = `: it makes a vector"),
        (Code::parse("block b1\n").err().map(|error| error.to_string()), "line 1, column 7: expected `b0`"),
    ] {
        assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{found:?}\n{expected}");
    }
}

/// Each name means one operation of its level.
#[test]
fn names_are_unique() {
    use ctm_ir::masked::Op;
    for names in [Ins::names(), Op::names()] {
        let unique: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len(), "{names:?}");
    }
}
