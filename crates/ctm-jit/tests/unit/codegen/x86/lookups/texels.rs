//! Tests of `src/codegen/x86/lookups/texels.rs`.

use super::*;

/// The sequence of [`Lanes::wrapped`], against the exact remainder.
#[test]
fn quotients_are_exact() {
    let repeated = |x: f32, period: f32| {
        let whole = ((x + 0.5) * (1.0 / period)).floor();
        (whole).mul_add(-period, x)
    };
    let bound = REPEATS_BELOW as i32;
    let periods = (1..600).chain((0..23).flat_map(|n| [(1 << n) - 1, 1 << n, (1 << n) + 1])).chain([8_388_607]);
    for period in periods.filter(|&p: &i32| p > 0) {
        // Around multiples, near and far.
        let last = bound / period;
        let multiples = (0..60).chain((0..60).map(|n| last - n)).map(|n| n * period);
        for x in multiples.flat_map(|m| [m - 1, m, m + 1]).flat_map(|x| [x, -x]).filter(|x| x.abs() <= bound) {
            assert_eq!(repeated(x as f32, period as f32), x.rem_euclid(period) as f32, "{x} by {period}");
        }
    }
}

/// The sequence of [`Lanes::fractions`].
#[test]
#[cfg_attr(all(windows, target_env = "gnu"), ignore = "the C library of MinGW rounds a fused sum twice")]
fn bytes_are_divided_exactly() {
    let [part, rest] = PART_OF_255;
    for byte in (0..=255u8).map(f32::from) {
        assert_eq!(byte.mul_add(part, byte * rest), byte / 255.0, "{byte}");
    }
}
