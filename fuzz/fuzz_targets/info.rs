//! Descriptions of files of any kind, as text and as JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(description) = ctm_image::info::describe(bytes) {
        let value = description.to_value();
        let _ = (value.to_text(), value.to_json());
    }
});
