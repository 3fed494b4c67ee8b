//! Tests of `src/codegen/portable/rows.rs`.

use super::*;
use ctm_testkit::seeded::Random;

struct Fused<'a>([&'a Row; 3], bool, Omod);

impl Work for Fused<'_> {
    type Done = Row;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Row {
        let [a, b, c] = self.0;
        fused::<FUSED>(a, b, c, self.1, self.2)
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
        let row = on_this_host(Fused([&a, &b, &c], zero_wins, omod));
        assert_eq!(row, Fused([&a, &b, &c], zero_wins, omod).run::<false>());
        let products = product(&a, &b, zero_wins);
        for lane in 0..LANES {
            let (x, y, z) = (a[lane], b[lane], c[lane]);
            let expected = output_modifier(mad(x, y, z, zero), omod, false);
            assert_eq!(row[lane], expected, "{x:#x} * {y:#x} + {z:#x}, {omod:?}, {zero_wins}");
            let multiply = if zero_wins { ctm_exec::r700::ops::mul } else { ctm_exec::r700::ops::mul_ieee };
            let expected = canonical(multiply(number(x), number(y)));
            assert_eq!(products[lane], expected, "{x:#x} * {y:#x}, {zero_wins}");
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
