//! Tests of `src/runtime/backend.rs`.

use super::*;

#[test]
fn names_are_understood_or_refused() {
    for backend in Backend::available() {
        assert_eq!(Backend::named(backend.name()), Ok(backend));
    }
    assert_eq!(Backend::available().last(), Some(Backend::Portable));
    let text = Backend::named("avx3").map_err(|error| error.to_string());
    let start =
        "`avx3` is no back end of the engine; there are `avx512`, `avx2`, `cranelift`, `portable`; this host can run `";
    assert!(text.as_ref().is_err_and(|text| text.starts_with(start)), "{text:?}");
}

#[test]
fn the_fastest_is_chosen() {
    use Backend::{Avx2, Avx512, Cranelift, Portable};
    for (there, chosen) in [
        (&[Portable, Cranelift, Avx2, Avx512][..], Avx512),
        (&[Avx2, Cranelift, Portable], Avx2),
        (&[Avx2, Portable], Avx2),
        // 64-bit ARM, and x86-64 without AVX2.
        (&[Cranelift, Portable], Cranelift),
        (&[Portable], Portable),
        (&[], Portable),
    ] {
        assert_eq!(Backend::fastest(there.iter().copied()), chosen, "{there:?}");
    }
}

#[test]
fn the_choice_depends_on_the_host() {
    // Tests of this crate are built with the feature `cranelift`.
    let is = |feature: bool, backend| feature.then_some(backend);
    #[cfg(target_arch = "x86_64")]
    let expected = {
        let has_fma = is_x86_feature_detected!("fma") && is_x86_feature_detected!("popcnt");
        is(crate::codegen::x86::X86Target::AVX512.isa.is_available(), Backend::Avx512)
            .or(is(has_fma && is_x86_feature_detected!("avx2"), Backend::Avx2))
            .or(is(has_fma && is_x86_feature_detected!("avx"), Backend::Cranelift))
    };
    #[cfg(not(target_arch = "x86_64"))]
    let expected = is(cfg!(target_arch = "aarch64"), Backend::Cranelift);
    let executes = std::env::var_os("CTM_ENGINE_NO_EXEC").is_none_or(|value| value == "0");
    assert_eq!(Backend::detect(), expected.filter(|_| executes).unwrap_or(Backend::Portable));
}
