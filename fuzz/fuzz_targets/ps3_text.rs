//! `ps_3_0` text: ends with findings or a program that the checker accepts.
#![no_main]

use ctm_isa::diag::Severity;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = std::str::from_utf8(bytes) else { return };
    let compiled = ctm_ps3::compile(source, &ctm_ps3::Options::default());
    match compiled.program {
        Some(program) => {
            let findings = ctm_isa::x1k::check::check(&program);
            assert!(findings.iter().all(|d| d.severity != Severity::Error), "{findings:?}");
        }
        None => assert!(compiled.diagnostics.iter().any(|d| d.severity == Severity::Error)),
    }
});
