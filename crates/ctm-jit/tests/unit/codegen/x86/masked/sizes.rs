//! Tests of `src/codegen/x86/masked/sizes.rs`.

use super::*;

#[test]
fn sums_with_exact_products_need_one_rounding() {
    let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let factors = [2f32, -2.0, 4.0, (1 << LARGEST_FACTOR) as f32];
    let largest = f32::from_bits((127 + LARGEST_SUMMAND as u32) << 23);
    let near = |x: f32| (-2..=2).map(move |step| f32::from_bits(x.to_bits().wrapping_add_signed(step)));
    let numbers = [1f32, 0.75, 1e-20, 1e20, f32::MIN_POSITIVE, 8.5e37, 1.7e38, f32::MAX, largest];
    let numbers: Vec<f32> = numbers.into_iter().flat_map(near).chain([0.0, f32::INFINITY]).collect();
    let mut overflows = 0;
    for factor in factors {
        assert!(is_power_of_two(factor.to_bits()));
        for x in numbers.iter().flat_map(|&x| [flushed(x), flushed(-x)]).filter(|x| !x.is_nan()) {
            let like = [x * factor, x * factor * 0.5];
            for c in numbers.iter().copied().chain(like).flat_map(|c| [flushed(c), flushed(-c)]) {
                if c.abs() > largest {
                    continue;
                }
                let product = flushed(x * factor);
                overflows += u32::from(product.is_infinite() && x.is_finite());
                let (twice, once) = (flushed(product + c), flushed(x.mul_add(factor, c)));
                assert_eq!(twice.to_bits(), once.to_bits(), "{x:e} * {factor} + {c:e}");
            }
        }
    }
    assert!(overflows > 100, "{overflows} products overflow");
    assert!([1f32, 3.0, 0.5, f32::INFINITY, 0.0].iter().all(|x| !is_power_of_two(x.to_bits())));
    assert!(is_moderate(1e12f32.to_bits()) && !is_moderate(2e12f32.to_bits()) && !is_moderate(f32::NAN.to_bits()));
}
