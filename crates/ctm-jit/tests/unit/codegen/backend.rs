//! Tests of `src/runtime/backend.rs`.

use super::*;

#[test]
fn names_are_understood_or_refused() {
    for backend in Backend::available() {
        assert_eq!(Backend::named(backend.name()), Ok(backend));
    }
    assert_eq!(Backend::available().last(), Some(Backend::Portable));
    // It has to be asked for.
    assert_ne!(Backend::detect(), Backend::Cranelift);
    let text = Backend::named("avx3").map_err(|error| error.to_string());
    let start =
        "`avx3` is no back end of the engine; there are `avx512`, `avx2`, `cranelift`, `portable`; this host can run `";
    assert!(text.as_ref().is_err_and(|text| text.starts_with(start)), "{text:?}");
}
