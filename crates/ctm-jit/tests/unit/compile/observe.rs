//! Tests of `src/compile/observe.rs`.

use super::*;

#[test]
fn names_are_understood_or_refused() {
    let parse = |list: &str| DUMPS.parse(list, Stage::ALL.iter().map(|stage| stage.name()));
    for (bit, stage) in Stage::ALL.iter().enumerate() {
        assert_eq!(parse(stage.name()), Ok(1 << bit));
    }
    assert_eq!(parse(" lower , masks"), Ok(3));
    assert_eq!(parse(""), Ok(0));
    let error = parse("masks,colour").map_err(|error| error.to_string());
    let message = "CTM_DUMP: `colour` is no stage of the compiler; allowed: `lower`, `masks`, `liveness`, `tile`, `select`, `fuse`, \
                   `strips`, `allocate`, `frame`, `emit`";
    assert_eq!(error, Err(message.to_owned()));
}
