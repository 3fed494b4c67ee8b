//! The vectors of 64-bit ARM, which has them in every processor.

#![allow(unsafe_code, unused_unsafe, reason = "instructions, and memory at an index")]

use crate::array::Array;
use crate::each;
use crate::simd::{Simd, Whole, WholeBytes};
use std::arch::aarch64::{
    float32x4_t, uint32x4_t, vaddq_f32, vaddq_u32, vaddvq_u32, vandq_u32, vbslq_u32, vcaltq_f32, vceqq_f32, vceqq_u32,
    vcltq_f32, vcreate_u8, vcvtq_f32_s32, vcvtq_s32_f32, vdivq_f32, vdupq_laneq_u32, vdupq_n_f32, vdupq_n_s32,
    vdupq_n_u32, veorq_u32, vfmaq_f32, vget_high_u16, vget_low_u16, vgetq_lane_u32, vld1q_u32, vminq_u32, vmovl_u8,
    vmovl_u16, vmulq_f32, vmulq_u32, vmvnq_u32, vnegq_s32, vorrq_u32, vreinterpretq_f32_u32 as f32s,
    vreinterpretq_s32_u32 as i32s, vreinterpretq_u32_f32, vreinterpretq_u32_s32, vreinterpretq_u32_u64,
    vreinterpretq_u64_u32 as u64s, vrndmq_f32, vrndnq_f32, vrndpq_f32, vshlq_u32, vsqrtq_f32, vst1q_u32, vsubq_f32,
    vsubq_u32, vzip1q_u32, vzip1q_u64, vzip2q_u32, vzip2q_u64,
};

/// Vectors of 128 bits.
#[derive(Clone, Copy)]
pub struct Four(pub(crate) ());

/// 2^31.
const TWO_31: f32 = 2_147_483_648.0;

/// The bits of numbers.
#[inline(always)]
fn bits(a: float32x4_t) -> uint32x4_t {
    // SAFETY: every such processor has these instructions.
    unsafe { vreinterpretq_u32_f32(a) }
}

/// Declares operations.
macro_rules! operations {
    ($($name:ident($($arg:ident: $of:ty),*) -> $to:ty: $made:expr;)*) => {
        // SAFETY: every such processor has these instructions.
        $(#[inline(always)] fn $name(self, $($arg: $of),*) -> $to { unsafe { $made } })*
    };
}

impl Simd for Four {
    type V = uint32x4_t;
    type M = uint32x4_t;
    const LANES: usize = 4;

    operations! {
        splat(bits: u32) -> Self::V: vdupq_n_u32(bits);
        first_lane(a: Self::V) -> u32: vgetq_lane_u32::<0>(a);
        bits(mask: Self::M) -> u32: vaddvq_u32(vandq_u32(mask, vld1q_u32([1, 2, 4, 8].as_ptr())));
        add(a: Self::V, b: Self::V) -> Self::V: bits(vaddq_f32(f32s(a), f32s(b)));
        sub(a: Self::V, b: Self::V) -> Self::V: bits(vsubq_f32(f32s(a), f32s(b)));
        mul(a: Self::V, b: Self::V) -> Self::V: bits(vmulq_f32(f32s(a), f32s(b)));
        div(a: Self::V, b: Self::V) -> Self::V: bits(vdivq_f32(f32s(a), f32s(b)));
        fma(a: Self::V, b: Self::V, c: Self::V) -> Self::V: bits(vfmaq_f32(f32s(c), f32s(a), f32s(b)));
        min(a: Self::V, b: Self::V) -> Self::V: vbslq_u32(vcltq_f32(f32s(a), f32s(b)), a, b);
        max(a: Self::V, b: Self::V) -> Self::V: vbslq_u32(vcltq_f32(f32s(b), f32s(a)), a, b);
        sqrt(a: Self::V) -> Self::V: bits(vsqrtq_f32(f32s(a)));
        floor(a: Self::V) -> Self::V: bits(vrndmq_f32(f32s(a)));
        ceil(a: Self::V) -> Self::V: bits(vrndpq_f32(f32s(a)));
        nearest(a: Self::V) -> Self::V: bits(vrndnq_f32(f32s(a)));
        // As the instruction of x86-64: the least integer for numbers that do not fit.
        to_int(a: Self::V) -> Self::V: vbslq_u32(
            vcaltq_f32(f32s(a), vdupq_n_f32(TWO_31)),
            vreinterpretq_u32_s32(vcvtq_s32_f32(f32s(a))),
            vdupq_n_u32(i32::MIN.cast_unsigned()),
        );
        of_int(a: Self::V) -> Self::V: bits(vcvtq_f32_s32(i32s(a)));
        add_int(a: Self::V, b: Self::V) -> Self::V: vaddq_u32(a, b);
        sub_int(a: Self::V, b: Self::V) -> Self::V: vsubq_u32(a, b);
        mul_int(a: Self::V, b: Self::V) -> Self::V: vmulq_u32(a, b);
        least(a: Self::V, b: Self::V) -> Self::V: vminq_u32(a, b);
        and(a: Self::V, b: Self::V) -> Self::V: vandq_u32(a, b);
        xor(a: Self::V, b: Self::V) -> Self::V: veorq_u32(a, b);
        left(a: Self::V, b: i32) -> Self::V: vshlq_u32(a, vdupq_n_s32(b.min(32)));
        right(a: Self::V, b: i32) -> Self::V: vshlq_u32(a, vdupq_n_s32(-b.min(32)));
        right_each(a: Self::V, b: Self::V) -> Self::V: vshlq_u32(a, vnegq_s32(i32s(vminq_u32(b, vdupq_n_u32(32)))));
        less(a: Self::V, b: Self::V) -> Self::M: vcltq_f32(f32s(a), f32s(b));
        equal(a: Self::V, b: Self::V) -> Self::M: vceqq_f32(f32s(a), f32s(b));
        equal_bits(a: Self::V, b: Self::V) -> Self::M: vceqq_u32(a, b);
        not(m: Self::M) -> Self::M: vmvnq_u32(m);
        either(a: Self::M, b: Self::M) -> Self::M: vorrq_u32(a, b);
        both(a: Self::M, b: Self::M) -> Self::M: vandq_u32(a, b);
        select(m: Self::M, yes: Self::V, no: Self::V) -> Self::V: vbslq_u32(m, yes, no);
        low(a: Self::V, b: Self::V) -> Self::V: vzip1q_u32(a, b);
        high(a: Self::V, b: Self::V) -> Self::V: vzip2q_u32(a, b);
        first(a: Self::V, b: Self::V) -> Self::V: vreinterpretq_u32_u64(vzip1q_u64(u64s(a), u64s(b)));
        second(a: Self::V, b: Self::V) -> Self::V: vreinterpretq_u32_u64(vzip2q_u64(u64s(a), u64s(b)));
    }

    #[inline(always)]
    fn load(self, row: &[u32]) -> Self::V {
        let row = &row[..4];
        // SAFETY: the row is long enough.
        unsafe { vld1q_u32(row.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, a: Self::V, row: &mut [u32]) {
        let row = &mut row[..4];
        // SAFETY: the row is long enough.
        unsafe { vst1q_u32(row.as_mut_ptr(), a) }
    }

    #[inline(always)]
    fn mask(self, bits: u32) -> Self::M {
        let [each, bits] = [self.load(&[1, 2, 4, 8]), self.splat(bits)];
        self.equal_bits(self.and(bits, each), each)
    }

    #[inline(always)]
    fn quad_lane(self, a: Self::V, lane: u8) -> Self::V {
        // SAFETY: every such processor has these instructions.
        unsafe {
            match lane {
                0 => vdupq_laneq_u32::<0>(a),
                1 => vdupq_laneq_u32::<1>(a),
                2 => vdupq_laneq_u32::<2>(a),
                _ => vdupq_laneq_u32::<3>(a),
            }
        }
    }

    #[inline(always)]
    fn choose(self, table: &[u32; 16], index: Self::V) -> Self::V {
        let mut at = [0; 4];
        self.store(index, &mut at);
        self.load(&each!(4, lane => table[at[lane] as usize & 15]))
    }

    #[inline(always)]
    fn gather<const BYTES: i32>(self, array: Array<'_>, index: Self::V) -> Self::V {
        let Some(last) = array.last(4, BYTES as usize) else { return self.splat(0) };
        let mut at = [0; 4];
        self.store(self.least(index, self.splat(last)), &mut at);
        // SAFETY: the dwords lie in the array.
        self.load(&each!(4, lane => unsafe { array.within::<BYTES>(at[lane]) }))
    }

    #[inline(always)]
    fn repeated(self, array: Array<'_>, index: u32) -> Self::V {
        let (array, last) = array.whole(1);
        array.quarter(index.min(last))
    }

    #[inline(always)]
    fn quarters(self, of: &Whole<'_, 1>, place: usize) -> Self::V {
        // SAFETY: the element lies in the array.
        unsafe { vld1q_u32(of.at(place).cast()) }
    }

    #[inline(always)]
    fn pairs(self, of: &Whole<'_, 2>, place: usize) -> [Self::V; 2] {
        let at = of.at(place).cast::<u32>();
        // SAFETY: both elements lie in the array.
        unsafe { [vld1q_u32(at), vld1q_u32(at.add(4))] }
    }

    #[inline(always)]
    fn repeated_bytes(self, array: Array<'_>, index: u32) -> Self::V {
        bytes(array.dword::<4>(index).into())[0]
    }

    #[inline(always)]
    fn quarters_of_bytes(self, of: &WholeBytes<'_, 1>, place: usize) -> Self::V {
        // SAFETY: the element lies in the array.
        let four = unsafe { of.at(place).cast::<u32>().read_unaligned() };
        bytes(four.into())[0]
    }

    #[inline(always)]
    fn pairs_of_bytes(self, of: &WholeBytes<'_, 2>, place: usize) -> [Self::V; 2] {
        // SAFETY: both elements lie in the array.
        bytes(unsafe { of.at(place).cast::<u64>().read_unaligned() })
    }
}

/// The lower and the upper four bytes, one in each lane.
#[inline(always)]
fn bytes(eight: u64) -> [uint32x4_t; 2] {
    // SAFETY: every such processor has these instructions.
    unsafe {
        let halves = vmovl_u8(vcreate_u8(eight));
        [vmovl_u16(vget_low_u16(halves)), vmovl_u16(vget_high_u16(halves))]
    }
}
