//! Tests of `src/passes/table.rs`.

use super::*;

#[test]
fn names_are_understood_or_refused() {
    let parse = |list: &str| LEFT_OUT.parse(list, Pass::ALL.iter().map(|pass| pass.name()));
    for (bit, (name, precondition)) in passes().enumerate() {
        assert_eq!(parse(&format!("-{name}")), Ok(1 << bit));
        assert!(!precondition.is_empty());
    }
    assert_eq!(parse(""), Ok(0));
    assert_eq!(parse(" -streams , -packed"), Ok(3));
    let error = parse("-waves,-quick").map_err(|error| error.to_string());
    let start = "CTM_PASSES: `-quick` is no pass to leave out; allowed: `-streams`, ";
    assert!(error.as_ref().is_err_and(|text| text.starts_with(start)), "{error:?}");
    // A name without its sign leaves nothing out.
    assert!(parse("waves").is_err());
}
