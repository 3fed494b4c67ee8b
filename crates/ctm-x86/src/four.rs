//! Vectors of four lanes in plain Rust, which compilers make instructions of 128 bits of, on every processor.

use crate::simd::{Array, Simd, Whole};

/// Vectors of four lanes. A value exists only where a fused multiply-add is an instruction.
#[derive(Clone, Copy)]
pub struct Four(pub(crate) ());

/// Four lanes: bits, or all bits of a lane or none.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct FourLanes([u32; 4]);

#[inline(always)]
fn map(a: FourLanes, function: impl Fn(u32) -> u32) -> FourLanes {
    let [a, b, c, d] = a.0;
    FourLanes([function(a), function(b), function(c), function(d)])
}

#[inline(always)]
fn map2(a: FourLanes, b: FourLanes, function: impl Fn(u32, u32) -> u32) -> FourLanes {
    let ([a, b, c, d], [e, f, g, h]) = (a.0, b.0);
    FourLanes([function(a, e), function(b, f), function(c, g), function(d, h)])
}

#[inline(always)]
fn floats(a: FourLanes, function: impl Fn(f32) -> f32) -> FourLanes {
    map(a, |a| function(f32::from_bits(a)).to_bits())
}

#[inline(always)]
fn floats2(a: FourLanes, b: FourLanes, function: impl Fn(f32, f32) -> f32) -> FourLanes {
    map2(a, b, |a, b| function(f32::from_bits(a), f32::from_bits(b)).to_bits())
}

#[inline(always)]
fn holds(a: FourLanes, b: FourLanes, function: impl Fn(u32, u32) -> bool) -> FourLanes {
    map2(a, b, |a, b| if function(a, b) { u32::MAX } else { 0 })
}

/// 2^31.
const TWO_31: f32 = 2_147_483_648.0;

impl Simd for Four {
    type V = FourLanes;
    type M = FourLanes;
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(self, bits: u32) -> FourLanes {
        FourLanes([bits; 4])
    }
    #[inline(always)]
    fn first_lane(self, a: FourLanes) -> u32 {
        a.0[0]
    }
    #[inline(always)]
    fn bits(self, mask: FourLanes) -> u32 {
        let [a, b, c, d] = mask.0;
        a >> 31 | b >> 31 << 1 | c >> 31 << 2 | d >> 31 << 3
    }
    #[inline(always)]
    fn add(self, a: FourLanes, b: FourLanes) -> FourLanes {
        floats2(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(self, a: FourLanes, b: FourLanes) -> FourLanes {
        floats2(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(self, a: FourLanes, b: FourLanes) -> FourLanes {
        floats2(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(self, a: FourLanes, b: FourLanes) -> FourLanes {
        floats2(a, b, |a, b| a / b)
    }
    #[inline(always)]
    fn fma(self, a: FourLanes, b: FourLanes, c: FourLanes) -> FourLanes {
        let [x, y, z] = [a.0, b.0, c.0].map(|lanes| lanes.map(f32::from_bits));
        let lane = |n: usize| x[n].mul_add(y[n], z[n]).to_bits();
        FourLanes([lane(0), lane(1), lane(2), lane(3)])
    }
    #[inline(always)]
    fn min(self, a: FourLanes, b: FourLanes) -> FourLanes {
        floats2(a, b, |a, b| if a < b { a } else { b })
    }
    #[inline(always)]
    fn max(self, a: FourLanes, b: FourLanes) -> FourLanes {
        floats2(a, b, |a, b| if a > b { a } else { b })
    }
    #[inline(always)]
    fn sqrt(self, a: FourLanes) -> FourLanes {
        floats(a, f32::sqrt)
    }
    #[inline(always)]
    fn floor(self, a: FourLanes) -> FourLanes {
        floats(a, f32::floor)
    }
    #[inline(always)]
    fn ceil(self, a: FourLanes) -> FourLanes {
        floats(a, f32::ceil)
    }
    #[inline(always)]
    fn nearest(self, a: FourLanes) -> FourLanes {
        floats(a, f32::round_ties_even)
    }
    #[inline(always)]
    fn to_int(self, a: FourLanes) -> FourLanes {
        // As the instruction of x86-64: the least integer for numbers that do not fit.
        map(a, |a| {
            let number = f32::from_bits(a);
            (if number.abs() < TWO_31 { number as i32 } else { i32::MIN }).cast_unsigned()
        })
    }
    #[inline(always)]
    fn of_int(self, a: FourLanes) -> FourLanes {
        map(a, |a| (a.cast_signed() as f32).to_bits())
    }
    #[inline(always)]
    fn add_int(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, u32::wrapping_add)
    }
    #[inline(always)]
    fn sub_int(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, u32::wrapping_sub)
    }
    #[inline(always)]
    fn mul_int(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, u32::wrapping_mul)
    }
    #[inline(always)]
    fn least(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, u32::min)
    }
    #[inline(always)]
    fn and(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn xor(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn left(self, a: FourLanes, b: i32) -> FourLanes {
        map(a, |a| a.checked_shl(b.cast_unsigned()).unwrap_or(0))
    }
    #[inline(always)]
    fn right(self, a: FourLanes, b: i32) -> FourLanes {
        map(a, |a| a.checked_shr(b.cast_unsigned()).unwrap_or(0))
    }
    #[inline(always)]
    fn right_each(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, |a, b| a.checked_shr(b).unwrap_or(0))
    }
    #[inline(always)]
    fn less(self, a: FourLanes, b: FourLanes) -> FourLanes {
        holds(a, b, |a, b| f32::from_bits(a) < f32::from_bits(b))
    }
    #[inline(always)]
    fn equal(self, a: FourLanes, b: FourLanes) -> FourLanes {
        holds(a, b, |a, b| f32::from_bits(a) == f32::from_bits(b))
    }
    #[inline(always)]
    fn equal_bits(self, a: FourLanes, b: FourLanes) -> FourLanes {
        holds(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn not(self, m: FourLanes) -> FourLanes {
        map(m, |m| !m)
    }
    #[inline(always)]
    fn either(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn both(self, a: FourLanes, b: FourLanes) -> FourLanes {
        map2(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn select(self, m: FourLanes, yes: FourLanes, no: FourLanes) -> FourLanes {
        let lane = |n: usize| yes.0[n] & m.0[n] | no.0[n] & !m.0[n];
        FourLanes([lane(0), lane(1), lane(2), lane(3)])
    }
    #[inline(always)]
    fn low(self, a: FourLanes, b: FourLanes) -> FourLanes {
        FourLanes([a.0[0], b.0[0], a.0[1], b.0[1]])
    }
    #[inline(always)]
    fn high(self, a: FourLanes, b: FourLanes) -> FourLanes {
        FourLanes([a.0[2], b.0[2], a.0[3], b.0[3]])
    }
    #[inline(always)]
    fn first(self, a: FourLanes, b: FourLanes) -> FourLanes {
        FourLanes([a.0[0], a.0[1], b.0[0], b.0[1]])
    }
    #[inline(always)]
    fn second(self, a: FourLanes, b: FourLanes) -> FourLanes {
        FourLanes([a.0[2], a.0[3], b.0[2], b.0[3]])
    }
    #[inline(always)]
    fn load(self, row: &[u32]) -> FourLanes {
        FourLanes([row[0], row[1], row[2], row[3]])
    }
    #[inline(always)]
    fn store(self, a: FourLanes, row: &mut [u32]) {
        row[..4].copy_from_slice(&a.0);
    }
    #[inline(always)]
    fn mask(self, bits: u32) -> FourLanes {
        map(FourLanes([1, 2, 4, 8]), |bit| if bits & bit != 0 { u32::MAX } else { 0 })
    }
    #[inline(always)]
    fn quad_lane(self, a: FourLanes, lane: u8) -> FourLanes {
        FourLanes([a.0[usize::from(lane & 3)]; 4])
    }
    #[inline(always)]
    fn choose(self, table: &[u32; 16], index: FourLanes) -> FourLanes {
        map(index, |index| table[index as usize & 15])
    }
    #[inline(always)]
    fn gather<const BYTES: i32>(self, array: Array<'_>, index: FourLanes) -> FourLanes {
        map(index, |index| array.dword::<BYTES>(index))
    }
    #[inline(always)]
    fn repeated(self, array: Array<'_>, index: u32) -> FourLanes {
        let (array, last) = array.whole(1);
        FourLanes(array.four(index.min(last)))
    }
    #[inline(always)]
    fn quarters(self, of: &Whole<'_, 1>, place: usize) -> FourLanes {
        FourLanes(of.elements(place)[0])
    }
    #[inline(always)]
    fn pairs(self, of: &Whole<'_, 2>, place: usize) -> [FourLanes; 2] {
        of.elements(place).map(FourLanes)
    }
}
