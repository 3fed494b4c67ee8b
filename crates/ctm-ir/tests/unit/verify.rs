//! Tests of `src/ir/verify.rs`: a broken form is refused for each rule, with its block, line and operation.

use super::*;

/// The finding on a program of one block, with the definition of a fetch only.
fn found(ops: &str) -> Option<String> {
    let text = format!("code\n  f0 = input input=0\nblock b0\n{ops}\n  stop\n");
    let code = Code::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(&code).err().map(|error| error.to_string())
}

#[test]
fn broken_forms_are_refused() {
    let cases = [
        ("  v0 = abs v1\n  v1 = lane", "block b0, line 0, `abs v1`: `v1` is read before it is made"),
        (
            "  v0 = get r0.x\n  v1 = fetch f0, v0, active\n  v2 = abs v1",
            "line 2, `abs v1`: `v1` is a fetch: its elements are read by `fetched`",
        ),
        ("  v0 = get r0.x\n  v1 = fetched v0, x", "line 1, `fetched v0, x`: `v0` is no fetch"),
        (
            "  active = and active, count.0",
            "`active = and active, count.0`: `count.0` is a number, where a mask is expected",
        ),
        ("  pass = add -1, false", "`pass` is a mask, where a number is expected"),
        ("  v0 = number saved.0", "`saved.0` is a mask, where a number is expected"),
        (
            "  v0 = lane\n  set r0.x, v0, count.1",
            "`set r0.x, v0, count.1`: `count.1` is a number, where a mask is expected",
        ),
        (
            "  active = copy saved.3",
            "`active = copy saved.3`: `saved.3` is read, but not written on every path to this line",
        ),
        ("  v0 = lane\n  v1 = fetch f3, v0, active", "there is no fetch 3; there are 1"),
        ("  yield y0", "there is no yield 0; there are 0"),
        ("  v0 = uniform 60000", "there is no uniform value 60000; there are 1024"),
        ("  v0 = lane\n  v1 = quad_lane v0, 4", "there is no lane of a quad 4; there are 4"),
        ("  v0 = lane\n  v1 = alu ADD_64, v0, v0", "the operation has 64 bits, where one of 32 is expected"),
        ("  v0 = lane\n  v1 = wide ADD, part=0, v0, v0", "the operation has 32 bits, where one of 64 is expected"),
        ("  v0 = lane\n  v1 = wide ADD_64, part=5, v0, v0", "there is no dword of a 64-bit operation 5; there are 5"),
        ("  v0 = lane\n  v1 = get_relative gprs:200, base=0, x, v0", "there is no register 199; there are 128"),
        ("  mark r0.x, active", "`r0.x` is no element of an export"),
    ];
    for (ops, expected) in cases {
        let found = found(ops);
        assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{ops}\n{found:?}\n{expected}");
    }
    assert_eq!(
        found("  v0 = get r0.x\n  v1 = fetch f0, v0, active\n  v2 = fetched v1, w\n  set color0.x, v2, active"),
        None
    );
}

/// A mask that only one of two paths writes.
#[test]
fn masks_are_written_on_every_path() {
    let text = "code\nblock b0\n  branch active, none=b2, some=b1\nblock b1\n  saved.0 = copy active\n  next b2\nblock b2\n  \
                active = copy saved.0\n  stop\n";
    let code = Code::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let error = verify(&code).err().map(|error| error.to_string());
    let expected =
        "block b2, line 0, `active = copy saved.0`: `saved.0` is read, but not written on every path to this line";
    assert_eq!(error.as_deref(), Some(expected));
    let code = Code::parse(&text.replace("block b0\n", "block b0\n  saved.0 = copy none\n"));
    assert_eq!(code.map(|code| verify(&code)), Ok(Ok(())));
}

/// Blocks that do not exist.
#[test]
fn targets_exist() {
    let code = Code::parse("code\nblock b0\n  next b1\n").unwrap_or_else(|error| panic!("{error}"));
    let error = verify(&code).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("block b0, line 0, `next b1`: there is no block 1; there are 1"));
}
