//! MAD and the dot products against two independent implementations: the host's fused multiply-add, and integers.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::float::{INFINITY, MIN_NORMAL, NAN, ONE, SIGN, flush};
use ctm_exec::x1k::ops::{ZeroRule, clamp, d2a, dp3, dp4, frc, mad, omod_factor, output_modifier, presubtract};
use ctm_isa::x1k::ops::{Omod, SrcpOp};
use ctm_testkit::tries::part;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Any bits: half of the time with an exponent near that of 1, or with a short fraction.
    fn bits(&mut self) -> u32 {
        let x = self.next();
        let mut bits = x as u32;
        if x >> 40 & 1 == 1 {
            let exponent = 127 - 30 + (x >> 41 & 63) as u32;
            bits = bits & 0x807f_ffff | exponent << 23;
        }
        if x >> 50 & 3 == 0 {
            bits &= 0xffff_f000 << (x >> 52 & 7);
        }
        bits
    }
}

/// `magnitude * 2^exponent`, with a sign.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

/// A finite number, taken apart.
fn take_apart(bits: u32) -> Exact {
    let bits = flush(bits);
    let exponent = (bits >> 23 & 0xff) as i32;
    let magnitude = if exponent == 0 { 0 } else { u128::from(bits & 0x007f_ffff | 0x0080_0000) };
    Exact { negative: bits & SIGN != 0, magnitude, exponent: exponent - 150 }
}

/// `a * b + c` of finite numbers in integers: exact, or with bits far below the last one replaced by a nudge in its direction.
fn multiply_add(a: u32, b: u32, c: u32) -> Exact {
    let (a, b, c) = (take_apart(a), take_apart(b), take_apart(c));
    let p = Exact {
        negative: a.negative != b.negative,
        magnitude: a.magnitude * b.magnitude,
        exponent: a.exponent + b.exponent,
    };
    if p.magnitude == 0 && c.magnitude == 0 {
        return Exact { negative: p.negative && c.negative, magnitude: 0, exponent: 0 };
    }
    let (high, low) = if p.magnitude == 0 || (c.magnitude != 0 && c.exponent > p.exponent) { (c, p) } else { (p, c) };
    let gap = if low.magnitude == 0 { 0 } else { high.exponent - low.exponent };
    let (high_part, low_part, exponent) = if gap <= 70 {
        (high.magnitude << gap, low.magnitude, high.exponent - gap)
    } else {
        // The low part has at most 48 bits and begins more than 70 below: less than one unit after a shift by 20.
        (high.magnitude << 20, 1, high.exponent - 20)
    };
    let low_part = if low.magnitude == 0 { 0 } else { low_part };
    if high.negative == low.negative || low_part == 0 {
        return Exact { negative: high.negative, magnitude: high_part + low_part, exponent };
    }
    match high_part.checked_sub(low_part) {
        Some(0) => Exact { negative: false, magnitude: 0, exponent },
        Some(magnitude) => Exact { negative: high.negative, magnitude, exponent },
        None => Exact { negative: low.negative, magnitude: low_part - high_part, exponent },
    }
}

/// One rounding to 24 bits, ties to even, then overflow and underflow.
fn round(x: Exact) -> u32 {
    let sign = if x.negative { SIGN } else { 0 };
    if x.magnitude == 0 {
        return sign;
    }
    let width = 128 - x.magnitude.leading_zeros() as i32;
    let (mut fraction, mut exponent) = (x.magnitude, x.exponent);
    if width > 24 {
        let drop = width - 24;
        let rest = fraction & ((1 << drop) - 1);
        let half = 1 << (drop - 1);
        fraction >>= drop;
        if rest > half || (rest == half && fraction & 1 == 1) {
            fraction += 1;
        }
        exponent += drop;
    } else {
        fraction <<= 24 - width;
        exponent -= 24 - width;
    }
    if fraction == 1 << 24 {
        fraction >>= 1;
        exponent += 1;
    }
    match exponent + 150 {
        ..=0 => sign,
        255.. => sign | INFINITY,
        biased => sign | (biased as u32) << 23 | (fraction as u32 & 0x007f_ffff),
    }
}

fn is_finite(bits: u32) -> bool {
    bits & INFINITY != INFINITY
}

fn is_normal(bits: u32) -> bool {
    is_finite(bits) && bits & !SIGN >= MIN_NORMAL
}

#[test]
fn mad_and_output_modifier_equal_integers() {
    let random = &mut Random(1);
    for _ in 0..part(1_000_000) {
        let [a, b, c] = std::array::from_fn(|_| random.bits());
        // Often a sum near cancellation.
        let c = if random.next() & 3 == 0 && is_finite(a) && is_finite(b) {
            ((f32::from_bits(flush(a)) * f32::from_bits(flush(b))).to_bits() ^ SIGN)
                .wrapping_add(random.next() as u32 & 3)
        } else {
            c
        };
        if !(is_finite(a) && is_finite(b) && is_finite(c)) {
            continue;
        }
        let exact = multiply_add(a, b, c);
        for (&omod, power) in Omod::ALL.iter().zip([0, 1, 2, 3, -1, -2, -3, 0]) {
            let got = output_modifier(mad(a, b, c, ZeroRule::Ieee), omod, false);
            let expected = round(Exact { exponent: exact.exponent + power, ..exact });
            assert_eq!(got, expected, "{a:08x} * {b:08x} + {c:08x}, {omod:?}: {got:08x} for {expected:08x}");
            assert_eq!(omod_factor(omod), 2f64.powi(power));
        }
    }
}

#[test]
#[cfg_attr(all(windows, target_env = "gnu"), ignore = "the C library of MinGW rounds a fused sum twice")]
fn mad_equals_the_fused_multiply_add_of_the_host() {
    let random = &mut Random(2);
    let mut compared = 0;
    for _ in 0..part(1_000_000) {
        let [a, b, c] = std::array::from_fn(|_| random.bits());
        if [a, b, c].iter().any(|&x| flush(x) != x) {
            continue;
        }
        let expected = f32::from_bits(a).mul_add(f32::from_bits(b), f32::from_bits(c));
        let got = output_modifier(mad(a, b, c, ZeroRule::Ieee), Omod::U1, false);
        if expected.is_nan() {
            assert_eq!(got, NAN);
        } else if expected.is_normal() || expected.is_infinite() || expected == 0.0 && got == 0 {
            // 2^-126 itself may be a denormal that the host rounded up.
            if expected.abs().to_bits() != MIN_NORMAL {
                compared += 1;
                assert_eq!(got, expected.to_bits(), "{a:08x} * {b:08x} + {c:08x}");
            }
        }
    }
    assert!(compared > part(500_000), "{compared}");
}

/// Rounded products, summed in two orders, as long as nothing leaves the range of normal numbers.
#[test]
fn dot_products_equal_their_steps() {
    let random = &mut Random(3);
    let n = |bits: u32| f32::from_bits(bits);
    let mut compared = 0;
    for _ in 0..part(500_000) {
        let a: [u32; 4] = std::array::from_fn(|_| random.bits());
        let b: [u32; 4] = std::array::from_fn(|_| random.bits());
        if a.iter().chain(&b).any(|&x| !is_normal(x)) {
            continue;
        }
        let t: [f32; 4] = std::array::from_fn(|c| n(a[c]) * n(b[c]));
        let c = n(a[2]);
        let (rg, three, four, sum) =
            (t[0] + t[1], (t[0] + t[1]) + t[2], (t[0] + t[1]) + (t[2] + t[3]), (t[0] + t[1]) + c);
        let steps = [t[0], t[1], t[2], t[3], rg, t[2] + t[3], t[0] + t[2], t[1] + t[3], t[0] + c, three, four, sum];
        let crosswise = [(t[0] + t[2]) + t[1], (t[0] + t[2]) + (t[1] + t[3]), (t[0] + c) + t[1]];
        if steps.iter().chain(&crosswise).any(|x| !x.is_normal() || x.abs().to_bits() == MIN_NORMAL) {
            continue;
        }
        compared += 1;
        let finish = |wide| output_modifier(wide, Omod::U1, false);
        let zero = ZeroRule::ZeroTimesAnything;
        assert_eq!(finish(dp3([a[0], a[1], a[2]], [b[0], b[1], b[2]], zero)), three.to_bits());
        assert_eq!(finish(dp4(a, b, zero)), four.to_bits());
        assert_eq!(finish(d2a([a[0], a[1]], [b[0], b[1]], a[2], zero)), sum.to_bits());
    }
    assert!(compared > part(100_000), "{compared}");
}

/// CTM §3.6.2: the two largest terms cancel exactly and the next is smaller by 2^25 or more: +0.0, in every order of the operands.
#[test]
fn what_is_left_of_a_cancellation_is_zero_in_every_order() {
    let random = &mut Random(7);
    let finish = |wide| output_modifier(wide, Omod::U1, false);
    let mut kept = 0;
    for round in 0..part(200_000) {
        // Operands of any sign whose products have 48 bits; some of powers of two.
        let of = |random: &mut Random, least: u32, exponents: u64| {
            let fraction = if random.next() & 7 == 0 { 0 } else { random.next() as u32 & 0x7f_ffff };
            let exponent = least + (random.next() % exponents) as u32;
            (random.next() as u32 & SIGN) | exponent << 23 | fraction
        };
        let (x, y) = (of(random, 120, 20), of(random, 120, 20));
        let large = f64::from(f32::from_bits(x)) * f64::from(f32::from_bits(y));
        // A small term: at the limit 2^-25, at half of it, or anything below; every fourth time just too large to vanish.
        let too_large = round % 4 == 0;
        let mut small = || loop {
            let (a, b) = match random.next() % 3 {
                _ if too_large => (of(random, 110, 1), of(random, 120, 1)),
                0 => (x ^ (random.next() as u32 & SIGN), (f32::from_bits(y) * 2f32.powi(-25)).to_bits()),
                1 => (x, (f32::from_bits(y) * 2f32.powi(-26)).to_bits() ^ (random.next() as u32 & SIGN)),
                _ => (of(random, 90, 20), of(random, 100, 1)),
            };
            let ratio = (f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b)) / large).abs();
            if too_large && (2f64.powi(-22)..0.5).contains(&ratio) || !too_large && ratio <= 2f64.powi(-25) {
                return [a, b];
            }
            if too_large {
                return [x, (f32::from_bits(y) * 2f32.powi(-22)).to_bits()];
            }
        };
        let terms = [[x, y], [x ^ SIGN, y], small(), small()];
        let zero = ZeroRule::Ieee;
        for order in [[0, 1, 2, 3], [0, 2, 1, 3], [2, 0, 1, 3], [1, 0, 2, 3], [1, 2, 0, 3], [2, 1, 0, 3]] {
            let t = order.map(|n| terms[n]);
            let (a, b) = (t.map(|t| t[0]), t.map(|t| t[1]));
            let three = finish(dp3([a[0], a[1], a[2]], [b[0], b[1], b[2]], zero));
            // The same as sums: one of the terms is C itself, which needs products that single precision holds.
            if too_large {
                assert_ne!(three & !SIGN, 0, "{t:x?}");
                kept += 1;
            } else {
                assert_eq!(three, 0, "{t:x?}");
            }
        }
        if too_large {
            continue;
        }
        for first in 0..4 {
            for second in (0..4).filter(|&n| n != first) {
                let mut t = [[0; 2]; 4];
                (t[first], t[second]) = (terms[0], terms[1]);
                let mut rest = [terms[2], terms[3]].into_iter();
                (0..4).filter(|&n| n != first && n != second).for_each(|n| t[n] = rest.next().unwrap());
                assert_eq!(finish(dp4(t.map(|t| t[0]), t.map(|t| t[1]), zero)), 0, "{t:x?}");
            }
        }
        // D2A: the third term is a number, so a large one has 24 bits.
        let [small, large] = [terms[2], [x, ONE]];
        let c = (f32::from_bits(small[0]) * f32::from_bits(small[1])).to_bits();
        assert_eq!(finish(d2a([x, x ^ SIGN], [y, y], c, zero)), 0, "{x:x} {y:x} {c:x}");
        let tiny = (f32::from_bits(x) * 2f32.powi(-25)).to_bits();
        assert_eq!(finish(d2a([large[0], tiny], [ONE, ONE], x ^ SIGN, zero)), 0, "{x:x}");
        assert_eq!(finish(d2a([tiny, large[0]], [ONE, ONE], x ^ SIGN, zero)), 0, "{x:x}");
    }
    assert!(kept > part(100_000), "{kept}");
}

#[test]
fn presubtract_and_fraction_equal_single_precision() {
    let random = &mut Random(4);
    for _ in 0..part(500_000) {
        let (x, y) = (random.bits(), random.bits());
        if !is_normal(x) || !is_normal(y) {
            continue;
        }
        let (s0, s1) = (f32::from_bits(x), f32::from_bits(y));
        for (op, expected) in [
            // The product is exact.
            (SrcpOp::Bias, 1.0 - 2.0 * s0),
            (SrcpOp::Sub, s1 - s0),
            (SrcpOp::Add, s1 + s0),
            (SrcpOp::Inv, 1.0 - s0),
        ] {
            assert_eq!(presubtract(op, x, y), flush(expected.to_bits()), "{op:?} {x:08x} {y:08x}");
        }
        let fraction = output_modifier(frc(x), Omod::U1, false);
        assert_eq!(fraction, flush((s0 - s0.floor()).to_bits()), "frc {x:08x}");
        let clamped = clamp(x);
        assert_eq!(f32::from_bits(clamped), s0.clamp(0.0, 1.0));
    }
}
