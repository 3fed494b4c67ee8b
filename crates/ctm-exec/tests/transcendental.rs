//! The transcendental sequences against double precision: error bounds, ranges, symmetry.
//!
//! By default RCP and RSQ are tried for every fraction (their error depends on nothing else), the others for a dense sample.
//! `CTM_EXHAUSTIVE=1` tries every one of the 2^32 values of each operation. Use a release build for that, for this processor: operations
//! are run on blocks of values, so that the compiler can make vector code of them.
//!
//!     RUSTFLAGS="-C target-cpu=native -C llvm-args=-inline-threshold=3000" CTM_EXHAUSTIVE=1 \
//!         cargo test --release -p ctm-exec --test suite -- transcendental --nocapture
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and says what it measured"
)]

use ctm_exec::float::{INFINITY, MIN_NORMAL, NAN, SIGN};
use ctm_exec::transcendental::{cos, ex2, ln2, rcp, rsq, sin};
use rayon::prelude::*;

/// The exact result, flushed and rounded, for special values; `None` for those that have an error bound.
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
    // The power of two in it, 23 places down: a reciprocal makes it the factor.
    let exponent = exact.to_bits() >> 52 & 0x7ff;
    (f64::from(got) - exact).abs() * f64::from_bits((2 * 1023 + 23 - exponent) << 52)
}

/// Compares one result with the exact one; gives the error in ulp.
fn error(name: &str, x: u32, got: u32, exact: f64) -> f64 {
    let (least, most) = (f64::from(f32::from_bits(MIN_NORMAL)), f64::from(f32::MAX));
    let number = f32::from_bits(got);
    if (least..most).contains(&exact.abs()) && number.is_finite() && number != 0.0 {
        return ulps(number, exact);
    }
    if let Some(bits) = special(exact) {
        assert_eq!(got, bits, "{name}(0x{x:08x})");
        return 0.0;
    }
    // At both ends of the range the result may also be the zero or infinity that the neighbouring true result would give.
    if number == 0.0 || exact.abs() < least {
        assert!(
            exact.abs() < least * (1.0 + 2f64.powi(-22)) && number.abs() <= f32::from_bits(MIN_NORMAL),
            "{name}(0x{x:08x}) = {number:e}"
        );
        assert_eq!(number.is_sign_negative(), exact.is_sign_negative(), "{name}(0x{x:08x})");
        return 0.0;
    }
    if number.is_infinite() {
        assert!(exact.abs() > most * (1.0 - 2f64.powi(-23)), "{name}(0x{x:08x}) is infinite");
        return 0.0;
    }
    ulps(number, exact)
}

/// An operation, and its properties.
struct Tried<F, E, D> {
    name: &'static str,
    function: F,
    exact: E,
    /// The error of a result: of this operation, operand, result, true result.
    error: D,
}

impl<F, E, D> Tried<F, E, D>
where
    F: Fn(u32) -> u32 + Sync,
    E: Fn(f64) -> f64 + Sync,
    D: Fn(&str, u32, u32, f64) -> f64 + Sync,
{
    /// The largest error over the values of `count` numbers, and its place. An emulator tries every sixteenth block of them.
    fn worst(&self, count: u64, value: impl Fn(u32) -> u32 + Sync) -> (f64, u32) {
        const BLOCK: usize = 1024;
        let larger = |a: (f64, u32), b: (f64, u32)| if b.0 > a.0 { b } else { a };
        let block = |block: u64| {
            let first = block * BLOCK as u64;
            let (mut xs, mut got, mut exact) = ([0u32; BLOCK], [0u32; BLOCK], [0f64; BLOCK]);
            xs.iter_mut().zip(first as u32..).for_each(|(x, k)| *x = value(k));
            got.iter_mut().zip(&xs).for_each(|(got, &x)| *got = (self.function)(x));
            exact.iter_mut().zip(&xs).for_each(|(exact, &x)| *exact = (self.exact)(number(x)));
            let left = (count - first).min(BLOCK as u64) as usize;
            let errors = (0..left).map(|k| ((self.error)(self.name, xs[k], got[k], exact[k]), xs[k]));
            errors.fold((0.0, 0), larger)
        };
        let all = count.div_ceil(BLOCK as u64);
        let tried = ctm_testkit::tries::part(all);
        (0..tried).into_par_iter().map(|n| block(n * all / tried)).reduce(|| (0.0, 0), larger)
    }

    /// The same over every 4999th value of all, or over all of them.
    fn worst_of_all(&self) -> (f64, u32) {
        let step = if std::env::var_os("CTM_EXHAUSTIVE").is_some() { 1 } else { 4999 };
        self.worst((1u64 << 32).div_ceil(step.into()), |k| k.wrapping_mul(step))
    }
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
    let rcp = Tried { name: "rcp", function: rcp, exact: |x: f64| 1.0 / x, error };
    check("rcp, all fractions", 1.0, rcp.worst(1 << 23, |f| 0x3f80_0000 | f));
    check("rcp, sample", 1.0, rcp.worst_of_all());
}

#[test]
fn rsq_is_within_one_ulp() {
    // -0 gives +inf: here the machine deviates from IEEE (CTM §3.6.3).
    let exact = |x: f64| if x == 0.0 { f64::INFINITY } else { 1.0 / x.sqrt() };
    let rsq = Tried { name: "rsq", function: rsq, exact, error };
    check("rsq, all fractions", 1.0, rsq.worst(1 << 24, |f| 0x3f80_0000 + f));
    check("rsq, sample", 1.0, rsq.worst_of_all());
}

#[test]
fn ex2_is_within_two_ulp() {
    let ex2 = Tried { name: "ex2", function: ex2, exact: f64::exp2, error };
    check("ex2, sample", 2.0, ex2.worst_of_all());
    // The whole range in steps of 2^-15, where most of the sample's values lie outside.
    let dense = |k: u32| (k as f32 / 32768.0 - 160.0).to_bits();
    check("ex2, -160..160", 2.0, ex2.worst(320 << 15, dense));
}

#[test]
fn ln2_is_within_two_ulp() {
    let exact = |x: f64| match x {
        0.0 => f64::NEG_INFINITY,
        _ if x < 0.0 => f64::NAN,
        _ => x.log2(),
    };
    let ln2 = Tried { name: "ln2", function: ln2, exact, error };
    check("ln2, sample", 2.0, ln2.worst_of_all());
    // Around 1, where the result is small: every value from 0.5 to 2.
    check("ln2, 0.5..2", 2.0, ln2.worst(1 << 24, |k| 0x3f00_0000 + k));
}

/// 2pi x, reduced before the multiplication.
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
    let dense = |k: u32| (k as f32 / 16384.0 - 256.0).to_bits();
    let sine = Tried { name: "sin", function: sin, exact: |x| turns(x).sin(), error: absolute };
    let cosine = Tried { name: "cos", function: cos, exact: |x| turns(x).cos(), error: absolute };
    for (name, worst) in [
        ("sin, sample", sine.worst_of_all()),
        ("sin, -256..256", sine.worst((512 << 14) + 1, dense)),
        ("cos, sample", cosine.worst_of_all()),
        ("cos, -256..256", cosine.worst((512 << 14) + 1, dense)),
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
