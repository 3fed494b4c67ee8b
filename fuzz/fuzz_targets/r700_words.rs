//! R700 words: decoding a program, with every clause that it names.
#![no_main]

use ctm_image::{ByteOrder, hex};
use ctm_isa::r700::inst;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let whole = &bytes[..bytes.len() / 8 * 8];
    let Ok(words) = hex::read_binary_words(whole, hex::R700_WORDS, ByteOrder::Little) else { return };
    for entry in inst::decode_program(&words, 0).entries {
        if let Ok(cf) = entry.cf {
            assert_eq!(inst::Cf::decode(cf.encode()), Ok(cf));
        }
    }
    let _ = inst::looks_like_r600(&words, 0);
});
