//! Command buffers: decoding, and printing and parsing as text.
#![no_main]

use ctm::commands;
use ctm_image::ByteOrder;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words = ByteOrder::Little.words(bytes);
    let mut rest = &words[..];
    while let Ok(command) = commands::Command::decode(rest) {
        assert_eq!(command.words(), rest[..command.len_dwords()]);
        let _ = command.check();
        rest = &rest[command.len_dwords()..];
    }
    assert_eq!(commands::parse(&commands::print(&words)), Ok(words));
});
