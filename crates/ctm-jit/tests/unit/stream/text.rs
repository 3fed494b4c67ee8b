//! Tests of `src/stream/text.rs`.

use super::*;
use ctm_ir::masked::Code;

/// A stream of this form whose fetches have no addresses.
fn stream(code: &str) -> Prepared {
    let code = Code::parse(code).unwrap_or_else(|error| panic!("{error}"));
    let fetches = vec![Vec::new(); code.blocks.len()];
    Prepared { code, fetches, numbers: Vec::new(), outputs: 1, packed: false }
}

#[test]
fn texts_are_read_back() {
    let given = "stream plain
  parts = b0 [16: b1 [4: b2]] b3
  r0.x = i + 0.5
  r0.y = 2*j + -1
  loop_index.0 = 3 + 2*n0
  outputs = color0.x color1.w
  fetch b2 v1 = s0 at i + n0 + 1, j + -1*n1
code
  f0 = input input=0
block b0 loops=0
  next b1
block b1 loops=1
  v0 = number loop_index.0
  v1 = get_relative constants:0:256, base=1, x, v0
  set r1.x, v1, existing
  next b2
block b2 loops=2
  v0 = bits 0x0
  v1 = fetch f0, v0, existing
  v2 = fetched v1, x
  set color0.x, v2, existing
  branch none, none=b3, some=b1
block b3 loops=0
  stop
";
    let (prepared, items, starts) = parse(given).unwrap_or_else(|error| panic!("{error}"));
    let printed = text(&prepared, &items, &starts);
    let (again, other_items, other_starts) = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!((&items, &starts), (&other_items, &other_starts));
    assert_eq!((again.code, again.fetches, again.numbers), (prepared.code, prepared.fetches.clone(), prepared.numbers));
    assert_eq!((again.outputs, again.packed), (1 | 1 << 7, false));
    assert_eq!(prepared.fetches[2][0].iterations, [16, 4, 0, 0]);
    for line in given.lines().take_while(|&line| line != "code") {
        assert!(printed.lines().any(|printed| printed == line), "{line}\n{printed}");
    }
    let message = |text: &str| parse(text).map(drop).map_err(|error| error.message);
    assert_eq!(message(&given.replace("[4: b2]]", "[4: b2]")), Err("expected `]`: a loop has no end".to_owned()));
    assert_eq!(message(&given.replace("] b3", "]] b3")), Err("`]` without `[`".to_owned()));
    assert!(message(&given.replace("i + n0 + 1", "k")).is_err_and(|message| message.starts_with("`k` is no term")));
    assert_eq!(message(&given.replace("b2 v1 =", "b2 v0 =")), Err("`v0` is not fetch 0 of `b2`".to_owned()));
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
