//! Tests of `src/simd.rs` and `src/neon.rs`: every operation on lanes against plain Rust, for each instruction set of this host.

use super::*;

/// Numbers with edges of every operation: zeros, ties, the ends of integers, infinities, NaN, counts of shifts.
const NUMBERS: [u32; 24] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x4f32_d05e,
    0xcf32_d05e,
    0x4f00_0000,
    0xcf00_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x3a83_126f,
    0x47f1_205a,
    0xc0f8_0000,
    31,
    32,
    33,
    u32::MAX,
    5,
];

/// Compares all operations.
struct All;

impl Do for All {
    fn run<S: Simd>(self, s: S) -> bool {
        for (from, step) in (0..24).flat_map(|from| (0..24).map(move |step| (from, step))) {
            let row = |first: usize| -> [u32; 16] { std::array::from_fn(|n| NUMBERS[(first + n) % 24]) };
            let (a, b) = (row(from), row(from + step));
            let (x, y) = (s.load(&a), s.load(&b));
            let test = |name: &str, found: S::V, expected: &dyn Fn(u32, u32) -> u32| {
                let mut row = [0; 16];
                s.store(found, &mut row);
                for lane in 0..S::LANES {
                    let expected = expected(a[lane], b[lane]);
                    let are_nans = [row[lane], expected].map(|bits| f32::from_bits(bits).is_nan()) == [true; 2];
                    let [a, b] = [a[lane], b[lane]];
                    assert!(row[lane] == expected || are_nans, "{name} {a:x} {b:x}: {:x}, {expected:x}", row[lane]);
                }
            };
            let one = |name: &str, found: S::V, expected: fn(f32) -> f32| {
                test(name, found, &|a, _| expected(f32::from_bits(a)).to_bits());
            };
            let two = |name: &str, found: S::V, expected: fn(f32, f32) -> f32| {
                test(name, found, &|a, b| expected(f32::from_bits(a), f32::from_bits(b)).to_bits());
            };
            two("add", s.add(x, y), |a, b| a + b);
            two("sub", s.sub(x, y), |a, b| a - b);
            two("mul", s.mul(x, y), |a, b| a * b);
            two("div", s.div(x, y), |a, b| a / b);
            // Elsewhere plain Rust rounds a fused sum twice.
            if FUSES {
                two("fma", s.fma(x, y, x), |a, b| a.mul_add(b, a));
            }
            two("min", s.min(x, y), |a, b| if a < b { a } else { b });
            two("max", s.max(x, y), |a, b| if a > b { a } else { b });
            one("sqrt", s.sqrt(x), f32::sqrt);
            one("floor", s.floor(x), f32::floor);
            one("ceil", s.ceil(x), f32::ceil);
            one("nearest", s.nearest(x), f32::round_ties_even);
            test("to_int", s.to_int(x), &|a, _| {
                let a = f32::from_bits(a);
                (if a.abs() < 2_147_483_648.0 { a as i32 } else { i32::MIN }).cast_unsigned()
            });
            test("of_int", s.of_int(x), &|a, _| (a.cast_signed() as f32).to_bits());
            test("add_int", s.add_int(x, y), &u32::wrapping_add);
            test("sub_int", s.sub_int(x, y), &u32::wrapping_sub);
            test("mul_int", s.mul_int(x, y), &u32::wrapping_mul);
            test("least", s.least(x, y), &u32::min);
            test("and", s.and(x, y), &|a, b| a & b);
            test("xor", s.xor(x, y), &|a, b| a ^ b);
            test("right_each", s.right_each(x, y), &|a, b| a.checked_shr(b).unwrap_or(0));
            for count in [0, 1, 31, 32, 40] {
                let bits = count as u32;
                test("left", s.left(x, count), &|a, _| a.checked_shl(bits).unwrap_or(0));
                test("right", s.right(x, count), &|a, _| a.checked_shr(bits).unwrap_or(0));
            }
            let chosen = |mask: S::M| s.select(mask, x, y);
            let less = |a: u32, b: u32| f32::from_bits(a) < f32::from_bits(b);
            let equal = |a: u32, b: u32| f32::from_bits(a) == f32::from_bits(b);
            test("less", chosen(s.less(x, y)), &|a, b| if less(a, b) { a } else { b });
            test("not", chosen(s.not(s.less(x, y))), &|a, b| if less(a, b) { b } else { a });
            test("equal", chosen(s.equal(x, y)), &|a, b| if equal(a, b) { a } else { b });
            test("equal_bits", chosen(s.equal_bits(x, y)), &|_, b| b);
        }
        for lanes in 0..16 {
            assert_eq!(s.bits(s.mask(lanes)), lanes);
        }
        let dwords: Vec<u8> = (0..160u32).flat_map(|n| (7 * n).to_le_bytes()).collect();
        let (array, at) =
            (Array::of(&dwords), std::array::from_fn::<u32, 16, _>(|n| if n == 3 { u32::MAX } else { 11 * n as u32 }));
        let mut found = [0; 16];
        s.store(s.gather::<4>(array, s.load(&at)), &mut found);
        (0..S::LANES).for_each(|lane| assert_eq!(found[lane], 7 * at[lane].min(159), "lane {lane}"));
        let table = std::array::from_fn(|n| 3 * n as u32);
        s.store(s.choose(&table, s.load(&std::array::from_fn::<u32, 16, _>(|n| 15 - n as u32))), &mut found);
        (0..S::LANES).for_each(|lane| assert_eq!(found[lane], 3 * (15 - lane as u32), "lane {lane}"));
        true
    }
}

#[test]
fn operations_are_those_of_plain_rust() {
    for isa in [Isa::Avx512, Isa::Avx2, Isa::Four].into_iter().filter(|isa| isa.is_available()) {
        // SAFETY: the processor has it.
        assert!(unsafe { with(isa, All) }, "{isa:?}");
    }
}
