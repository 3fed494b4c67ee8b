//! Job files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|text: &str| {
    let _ = ctm::job::Job::parse(text, "job.toml", Path::new("."));
});
