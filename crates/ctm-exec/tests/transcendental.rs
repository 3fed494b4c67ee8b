//! The transcendental sequences against double precision: error bounds, ranges, symmetry.
//!
//! By default RCP and RSQ are tried for every fraction (their error depends on nothing else), the others for a dense sample.
//! `CTM_EXHAUSTIVE=1` tries every one of the 2^32 values of each operation; use a release build for that.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and says what it measured"
)]

use ctm_exec::x1k::float::{INFINITY, MIN_NORMAL, NAN, SIGN};
use ctm_exec::x1k::transcendental::{cos, ex2, ln2, rcp, rsq, sin};
use rayon::prelude::*;

/// What the true result, flushed and rounded, would be for special values; `None` for those that have an error bound.
fn special(exact: f64) -> Option<u32> {
    let sign = if exact.is_sign_negative() { SIGN } else { 0 };
    if exact.is_nan() {
        Some(NAN)
    } else if exact.is_infinite() {
        Some(sign | INFINITY)
    } else {
        (exact == 0.0).then_some(sign)
    }
}

/// The distance of `got` from `exact` in units in the last place of `exact`, in single precision with unbounded exponent.
fn ulps(got: f32, exact: f64) -> f64 {
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    (f64::from(got) - exact).abs() / 2f64.powi(exponent - 23)
}

/// Compares one result with the exact one; gives the error in ulp.
fn error(name: &str, x: u32, got: u32, exact: f64) -> f64 {
    if let Some(bits) = special(exact) {
        assert_eq!(got, bits, "{name}(0x{x:08x})");
        return 0.0;
    }
    let got = f32::from_bits(got);
    let smallest = f64::from(f32::from_bits(MIN_NORMAL));
    // At both ends of the range the result may also be the zero or infinity that the neighbouring true result would give.
    if got == 0.0 || exact.abs() < smallest {
        assert!(
            exact.abs() < smallest * (1.0 + 2f64.powi(-22)) && got.abs() <= f32::from_bits(MIN_NORMAL),
            "{name}(0x{x:08x}) = {got:e}"
        );
        assert_eq!(got.is_sign_negative(), exact.is_sign_negative(), "{name}(0x{x:08x})");
        return 0.0;
    }
    if got.is_infinite() {
        assert!(exact.abs() > f64::from(f32::MAX) * (1.0 - 2f64.powi(-23)), "{name}(0x{x:08x}) is infinite");
        return 0.0;
    }
    ulps(got, exact)
}

/// The largest error over the values, and where it is.
fn worst(values: impl ParallelIterator<Item = u32>, error: impl Fn(u32) -> f64 + Sync) -> (f64, u32) {
    values.map(|x| (error(x), x)).reduce(|| (0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
}

fn exhaustive() -> bool {
    std::env::var_os("CTM_EXHAUSTIVE").is_some()
}

/// Every 4999th value of all, or all of them.
fn sample() -> impl ParallelIterator<Item = u32> {
    let step = if exhaustive() { 1u64 } else { 4999 };
    (0..(1u64 << 32).div_ceil(step)).into_par_iter().map(move |k| (k * step) as u32)
}

fn number(x: u32) -> f64 {
    let flushed = if x & !SIGN < MIN_NORMAL { x & SIGN } else { x };
    f64::from(f32::from_bits(flushed))
}

fn check(name: &str, bound: f64, worst: (f64, u32)) {
    println!("{name}: {:.4} ulp at 0x{:08x}", worst.0, worst.1);
    assert!(worst.0 <= bound, "{name}(0x{:08x}) is off by {} ulp, allowed are {bound}", worst.1, worst.0);
}

#[test]
fn rcp_is_within_one_ulp() {
    let error = |x: u32| error("rcp", x, rcp(x), 1.0 / number(x));
    check("rcp, all fractions", 1.0, worst((0..1u32 << 23).into_par_iter().map(|f| 0x3f80_0000 | f), error));
    check("rcp, sample", 1.0, worst(sample(), error));
}

#[test]
fn rsq_is_within_one_ulp() {
    // -0 gives +inf: here the machine deviates from IEEE (CTM §3.6.3).
    let exact = |x: f64| if x == 0.0 { f64::INFINITY } else { 1.0 / x.sqrt() };
    let error = |x: u32| error("rsq", x, rsq(x), exact(number(x)));
    check("rsq, all fractions", 1.0, worst((0..1u32 << 24).into_par_iter().map(|f| 0x3f80_0000 + f), error));
    check("rsq, sample", 1.0, worst(sample(), error));
}

#[test]
fn ex2_is_within_two_ulp() {
    let error = |x: u32| error("ex2", x, ex2(x), number(x).exp2());
    check("ex2, sample", 2.0, worst(sample(), error));
    // The whole range in steps of 2^-15, where most of the sample's values lie outside.
    let dense = (-(160 << 15)..160 << 15).into_par_iter().map(|k: i32| (k as f32 / 32768.0).to_bits());
    check("ex2, -160..160", 2.0, worst(dense, error));
}

#[test]
fn ln2_is_within_two_ulp() {
    let error = |x: u32| error("ln2", x, ln2(x), if number(x) == 0.0 { f64::NEG_INFINITY } else { number(x).log2() });
    check("ln2, sample", 2.0, worst(sample(), error));
    // Around 1, where the result is small: every value from 0.5 to 2.
    check("ln2, 0.5..2", 2.0, worst((0x3f00_0000..0x4000_0000u32).into_par_iter(), error));
}

/// sin(2pi x), reduced before the multiplication.
fn turns(x: f64) -> f64 {
    (x - x.round()) * std::f64::consts::TAU
}

#[test]
fn sin_and_cos_are_within_the_absolute_bound() {
    let absolute = |name: &str, x: u32, got: u32, exact: f64| -> f64 {
        if f64::from(f32::from_bits(x)).is_finite() {
            let got = f64::from(f32::from_bits(got));
            assert!(got.abs() <= 1.0, "{name}(0x{x:08x}) = {got}");
            (got - exact).abs()
        } else {
            assert_eq!(got, NAN, "{name}(0x{x:08x})");
            0.0
        }
    };
    let dense = |_: ()| (-(256 << 14)..=256 << 14).into_par_iter().map(|k: i32| (k as f32 / 16384.0).to_bits());
    let sine = |x: u32| absolute("sin", x, sin(x), turns(number(x)).sin());
    let cosine = |x: u32| absolute("cos", x, cos(x), turns(number(x)).cos());
    for (name, worst) in [
        ("sin, sample", worst(sample(), sine)),
        ("sin, -256..256", worst(dense(()), sine)),
        ("cos, sample", worst(sample(), cosine)),
        ("cos, -256..256", worst(dense(()), cosine)),
    ] {
        println!("{name}: 2^{:.2} at 0x{:08x}", worst.0.log2(), worst.1);
        assert!(worst.0 <= 2f64.powi(-21), "{name}: off by {:e} at 0x{:08x}", worst.0, worst.1);
    }
}

/// Powers of two and quarter turns come out exact.
#[test]
fn exact_values() {
    for e in -126i32..=127 {
        let x = 2f32.powi(e);
        assert_eq!(ln2(x.to_bits()), (e as f32).to_bits());
        assert_eq!(ex2((e as f32).to_bits()), x.to_bits());
        if e <= 126 {
            assert_eq!(rcp(x.to_bits()), (1.0 / x).to_bits());
        }
        if e % 2 == 0 {
            assert_eq!(rsq(x.to_bits()), (1.0 / x.sqrt()).to_bits());
        }
    }
    for quarter in -1024..=1024i32 {
        let x = quarter as f32 / 4.0;
        let sine = [0.0, 1.0, 0.0, -1.0][quarter.rem_euclid(4) as usize];
        let cosine = [1.0, 0.0, -1.0, 0.0][quarter.rem_euclid(4) as usize];
        assert_eq!(f32::from_bits(sin(x.to_bits())), sine, "sin({x})");
        assert_eq!(f32::from_bits(cos(x.to_bits())), cosine, "cos({x})");
    }
}
