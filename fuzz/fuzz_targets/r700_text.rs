//! R700 assembly: ends with findings or a program, which can be printed.
#![no_main]

use ctm_isa::r700::text::{TextOptions, assemble, disassemble};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let options = TextOptions::default();
    let Some(program) = assemble(source, &options).program else { return };
    let _ = disassemble(&program, &options);
});
