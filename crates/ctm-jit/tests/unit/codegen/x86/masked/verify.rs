//! Tests of `src/codegen/x86/masked/verify.rs`: broken instructions are refused for each rule.

use super::*;
use crate::codegen::x86::masked::text::parse;

fn found(lines: &str) -> Option<String> {
    let text = format!("selected\n  r0.x = x0\nblock b0\n{lines}\n  stop\n");
    let (of, code) = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&of, &code).err().map(|error| error.to_string())
}

#[test]
fn broken_instructions_are_refused() {
    let cases = [
        ("  x2 = mov x1", "block b0, line 0, `x2 = mov x1`: `x1` is read before it is made"),
        ("  x1 = blend k1, x0, x0", "`k1` is read, but not made in this block"),
        ("  k1 = test CMP_F32, how=0, x0, x0, under=k2", "`k2` is read, but not made in this block"),
        ("  x1 = merge k3, x0", "`x1 = merge k3, x0`: `x1` is read before it is made"),
        ("  x0 = set 0x0, count.0", "`count.0` is a number, where a mask is expected"),
        ("  yield y0", "there is no yield 0; there are 0"),
        ("  begin_lanes", "`begin_lanes` has no end in this block"),
        ("  end_rare", "`end_rare`: there is no `begin_rare` before it"),
        ("  begin_lanes\n  pass = end_lanes", "`k1` is taken, but not made in this block"),
    ];
    for (lines, expected) in cases {
        let found = found(lines);
        assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{lines}\n{found:?}\n{expected}");
    }
    assert_eq!(
        found("  begin_lanes\n  k1 = test CMP_F32, how=0, x0, 0x0\n  pass = end_lanes\n  x0 = set 0x1, pass"),
        None
    );
}
