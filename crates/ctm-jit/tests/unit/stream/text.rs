//! Tests of `src/stream/text.rs`.

use super::*;
use crate::ir::masked::Code;

/// A stream of this form whose fetches have no addresses.
fn stream(code: &str) -> Prepared {
    let code = Code::parse(code).unwrap_or_else(|error| panic!("{error}"));
    let fetches = vec![Vec::new(); code.blocks.len()];
    Prepared { code, fetches, numbers: Vec::new(), outputs: 1, packed: false }
}

#[test]
fn broken_streams_are_found() {
    let code = "code\n  f0 = input input=0\nblock b0\n  v0 = get r0.x\n  set color0.x, v0, existing\n  stop\n";
    let parts = [Item::Block(0)];
    let message = |code: &str, parts: &[Item]| verify(&stream(code), parts).map_err(|error| error.message);
    assert_eq!(message(code, &parts), Ok(()));
    let error = message(&code.replace("existing", "active"), &parts);
    assert_eq!(error, Err("it depends on a mask, where none is expected".to_owned()));
    assert_eq!(message(code, &[]), Err("the parts name it 0 times".to_owned()));
    assert_eq!(message(code, &[Item::Block(1)]), Err("there is no such block".to_owned()));
    let fetch = "v0 = get r0.x\n  v1 = fetch f0, v0, v0, v0, v0, existing";
    let error = message(&code.replace("v0 = get r0.x", fetch), &parts);
    assert_eq!(error, Err("0 of 1 fetches have addresses".to_owned()));
    let number = "v0 = number loop_index.0";
    let error = message(&code.replace("v0 = get r0.x", number), &parts);
    assert_eq!(error, Err("`loop_index.0` is no number of the stream".to_owned()));
}
