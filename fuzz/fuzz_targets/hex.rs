//! Words as text: reading never panics, writing gives the same words.
#![no_main]

use ctm_image::hex;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(program) = hex::read(text) {
        assert_eq!(hex::read(&hex::write(&program)).as_ref(), Ok(&program));
    }
    if let Ok(words) = hex::read_words(text, hex::R700_WORDS) {
        assert_eq!(hex::read_words(&hex::write_words(&words, hex::R700_WORDS), hex::R700_WORDS), Ok(words));
    }
});
