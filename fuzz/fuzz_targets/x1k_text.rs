//! X1K assembly: ends with findings or a program, whose listing gives the same words.
#![no_main]

use ctm_isa::x1k::text::{ListingOptions, assemble, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let Some(program) = assemble(source).program else { return };
    let listing = disassemble(&program, &ListingOptions::default());
    let back = assemble(&listing).program.expect("a listing assembles");
    assert_eq!(back.words, program.words, "{listing}");
});
