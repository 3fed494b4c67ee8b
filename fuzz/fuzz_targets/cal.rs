//! CAL images: reading never panics, an untouched one is written as it was, a changed one can be read.
#![no_main]

use ctm_image::r700::Container;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut container) = ctm_image::r700::cal::Image::read(bytes).map(Container::Cal) else { return };
    assert_eq!(container.write(), bytes);
    let Ok(programs) = container.programs() else { return };
    for mut program in programs.into_iter().take(4) {
        program.code.words.extend([1, 2]);
        if container.replace(program.index, &program.code).is_ok() {
            let written = container.write();
            assert_eq!(Container::read(&written).map(|c| c.write()), Ok(written));
        }
    }
});
