//! X1K words: decoding, encoding and the checker.
#![no_main]

use ctm_image::hex;
use ctm_isa::x1k::{Inst, check};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = &bytes[..bytes.len() / 24 * 24];
    let Ok(program) = hex::read_binary(whole) else { return };
    for words in &program.words {
        if let Ok(inst) = Inst::decode(words) {
            assert_eq!(Inst::decode(&inst.encode()), Ok(inst));
        }
    }
    let _ = check::check(&program);
});
