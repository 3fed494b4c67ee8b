//! CTM executables: reading never panics; read files can be written, and read again as the same program.
#![no_main]

use ctm_image::ctm_elf;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let extent = ctm_elf::extent(bytes);
    let Ok(program) = ctm_elf::read(bytes) else { return };
    assert!(extent.is_ok_and(|extent| extent <= bytes.len() as u64));
    let written = ctm_elf::write(&program).expect("what was read can be written");
    assert_eq!(ctm_elf::read(&written).expect("what was written can be read"), program);
});
