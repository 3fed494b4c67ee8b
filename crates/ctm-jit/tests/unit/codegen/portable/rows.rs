//! Tests of `src/codegen/portable/rows.rs`.

use super::*;
use ctm_testkit::seeded::Random;

struct Fused<'a>([&'a Row; 3], bool, Omod, [Option<u32>; 3]);

impl Work for Fused<'_> {
    type Done = Row;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Row {
        let mut row = [0; LANES];
        fused::<FUSED>(self.0, self.3, (self.1, self.2), &mut row);
        row
    }
}

/// Numbers around the ends of the range, and others.
fn number_near(random: &mut Random, exponent: u32) -> u32 {
    let bits = random.word();
    match bits >> 28 {
        0 => [0, SIGN, 1, MIN_NORMAL, MIN_NORMAL - 1, INFINITY, SIGN | INFINITY, NAN][bits as usize % 8],
        1..=11 => bits & 0x807f_ffff | (exponent + (bits >> 8) % 4) << 23,
        _ => bits,
    }
}

#[test]
fn sums_and_products_are_those_of_the_reference() {
    let mut random = Random::new(11);
    let omods = [Omod::U1, Omod::U2, Omod::U8, Omod::D2, Omod::D8];
    for n in 0..4000 {
        let [a, b, c]: [Row; 3] = std::array::from_fn(|operand| {
            let exponent = if operand < 2 { [62, 63, 126, 189][n % 4] } else { [0, 1, 125, 250][n / 4 % 4] };
            std::array::from_fn(|_| number_near(&mut random, exponent))
        });
        let (omod, zero_wins) = (omods[n % 5], n % 3 == 0);
        let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
        let row = on_this_host(Fused([&a, &b, &c], zero_wins, omod, [None; 3]));
        assert_eq!(row, Fused([&a, &b, &c], zero_wins, omod, [None; 3]).run::<false>());
        let (products, sums) = (product(&a, &b, zero_wins), product_and_sum(&a, &b, &c, zero_wins));
        for lane in 0..LANES {
            let (x, y, z) = (a[lane], b[lane], c[lane]);
            let expected = output_modifier(mad(x, y, z, zero), omod, false);
            assert_eq!(row[lane], expected, "{x:#x} * {y:#x} + {z:#x}, {omod:?}, {zero_wins}");
            let multiply = if zero_wins { ctm_exec::r700::ops::mul } else { ctm_exec::r700::ops::mul_ieee };
            let expected = canonical(multiply(number(x), number(y)));
            assert_eq!(products[lane], expected, "{x:#x} * {y:#x}, {zero_wins}");
            let expected = canonical(ctm_exec::r700::ops::add(number(expected), number(z)));
            assert_eq!(sums[lane], expected, "{x:#x} * {y:#x}, then + {z:#x}, {zero_wins}");
        }
    }
}

#[test]
fn masks_name_lanes() {
    let row: Row = std::array::from_fn(|lane| lane as u32);
    assert_eq!(lanes_where(&row, |lane| lane == 0 || lane == 31 || lane >= 40), 1 | 1 << 31 | !0 << 40);
    let mut to = [7; LANES];
    store(&mut to, &row, 1 << 63 | 2);
    assert!(to.iter().enumerate().all(|(lane, &bits)| bits == if matches!(lane, 1 | 63) { lane as u32 } else { 7 }));
}

/// Truth: IEEE 754. 24929 * 673 is 2^24 + 1, so the product is a tie between 1 and the next number of single precision, and double precision loses the third operand.
#[test]
fn a_tie_is_decided_by_a_part_that_double_precision_loses() {
    let [x, y] = [24929.0, 673.0].map(|n: f32| n / 4096.0);
    let tiny = 2f32.powi(-60);
    for (z, expected) in [(tiny, 0x3f80_0001), (-tiny, 0x3f80_0000), (0.0, 0x3f80_0000)] {
        // One lane among others that are no ties.
        for lane in [0, 17, LANES - 1] {
            let [mut a, mut b, mut c] = [[0x3f80_0000; LANES]; 3];
            (a[lane], b[lane], c[lane]) = (x.to_bits(), (-y).to_bits(), (-z).to_bits());
            for omod in [Omod::U1, Omod::U2] {
                let row = Fused([&a, &b, &c], false, omod, [None; 3]).run::<false>();
                let up = if omod == Omod::U2 { 1 << 23 } else { 0 };
                assert_eq!(row[lane], (expected | SIGN) + up, "{z}, lane {lane}, {omod:?}");
                assert_eq!(row[1], 0x4000_0000 + up);
                assert_eq!(row, on_this_host(Fused([&a, &b, &c], false, omod, [None; 3])));
            }
        }
    }
}

/// Operands that are known to be 1 or a zero: the same results as where nothing is known.
#[test]
fn known_operands_change_no_result() {
    let mut random = Random::new(12);
    for n in 0..4000 {
        let mut rows: [Row; 3] = std::array::from_fn(|operand| {
            let exponent = if operand < 2 { [62, 63, 126, 189][n % 4] } else { [0, 1, 125, 250][n / 4 % 4] };
            std::array::from_fn(|_| number_near(&mut random, exponent))
        });
        let (place, bits) = [(0, ONE), (1, ONE), (2, 0), (2, SIGN)][n % 4];
        rows[place] = [bits; LANES];
        let mut known = [None; 3];
        known[place] = Some(bits);
        let (omod, zero_wins) = ([Omod::U1, Omod::U4, Omod::D2][n % 3], n % 5 == 0);
        let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
        let row = Fused(rows.each_ref(), zero_wins, omod, known).run::<false>();
        for (lane, &found) in row.iter().enumerate() {
            let [x, y, z] = rows.map(|row| row[lane]);
            let expected = output_modifier(mad(x, y, z, zero), omod, false);
            assert_eq!(found, expected, "{x:#x} * {y:#x} + {z:#x}, {omod:?}, {zero_wins}");
        }
    }
}
