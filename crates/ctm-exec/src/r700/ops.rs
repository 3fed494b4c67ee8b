//! One pure function per single-slot ALU operation (R700 §9.2), in the order of the opcode table.
//!
//! Floating-point functions take numbers whose denormals have been flushed and give numbers: the caller applies
//! output modifiers and makes bits (`alu`). Every step of a formula is one rounding to single precision, ties to even, with
//! tiny results flushed to the zero of their sign: on this machine the product of a multiply-add is rounded before the sum.
//! Integer functions take and give bits.
//!
//! Comparisons are those of IEEE: false when an operand is NaN, except *not equal*; zeros of both signs are equal.

use crate::float::{WideResult, number};

/// The largest finite number, the manual's `MAX_FLOAT`.
pub const MAX_FLOAT: f32 = f32::MAX;

/// `x` as a step of a formula leaves it: a denormal becomes the zero of its sign.
#[inline]
#[must_use]
pub const fn step(x: f32) -> f32 {
    number(x.to_bits())
}

/// `ADD`: `src0 + src1`.
#[inline]
#[must_use]
pub fn add(a: f32, b: f32) -> f32 {
    step(a + b)
}

/// `MUL`: `src0 * src1`, zero times anything is zero.
///
/// The sign of a zero product of finite numbers is IEEE's; zero times infinity or NaN gives +0 (the page says zero and no sign:
/// docs/r700-open-questions.md).
#[inline]
#[must_use]
pub fn mul(a: f32, b: f32) -> f32 {
    if (a == 0.0 && !b.is_finite()) || (b == 0.0 && !a.is_finite()) { 0.0 } else { mul_ieee(a, b) }
}

/// `MUL_IEEE`: `src0 * src1`; zero times infinity is NaN.
#[inline]
#[must_use]
pub fn mul_ieee(a: f32, b: f32) -> f32 {
    // The product of two single-precision numbers is exact in double precision, so this rounds once.
    f32::from_bits(WideResult::from(a).scaled(f64::from(b)).round())
}

/// `MAX`: `src0 >= src1 ? src0 : src1`; with a NaN it is `src1`.
#[inline]
#[must_use]
pub fn max(a: f32, b: f32) -> f32 {
    if a >= b { a } else { b }
}

/// `MIN`: `src0 < src1 ? src0 : src1`; with a NaN, and of equal zeros, it is `src1`.
#[inline]
#[must_use]
pub fn min(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// `MAX_DX10`: as [`max`], but of a number and a NaN it is the number (the method of DirectX 10).
#[inline]
#[must_use]
pub fn max_dx10(a: f32, b: f32) -> f32 {
    if b.is_nan() { a } else { max(a, b) }
}

/// `MIN_DX10`: as [`min`], but of a number and a NaN it is the number (the method of DirectX 10).
#[inline]
#[must_use]
pub fn min_dx10(a: f32, b: f32) -> f32 {
    if b.is_nan() { a } else { min(a, b) }
}

/// 1.0 for true, 0.0 for false.
#[inline]
const fn one_or_zero(truth: bool) -> f32 {
    if truth { 1.0 } else { 0.0 }
}

/// All ones for true, zero for false.
#[inline]
const fn ones_or_zero(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

/// `SETE`: `src0 == src1 ? 1.0 : 0.0`.
#[inline]
#[must_use]
pub fn sete(a: f32, b: f32) -> f32 {
    one_or_zero(a == b)
}

/// `SETGT`: `src0 > src1 ? 1.0 : 0.0`.
#[inline]
#[must_use]
pub fn setgt(a: f32, b: f32) -> f32 {
    one_or_zero(a > b)
}

/// `SETGE`: `src0 >= src1 ? 1.0 : 0.0`.
#[inline]
#[must_use]
pub fn setge(a: f32, b: f32) -> f32 {
    one_or_zero(a >= b)
}

/// `SETNE`: `src0 != src1 ? 1.0 : 0.0`; 1.0 with a NaN.
#[inline]
#[must_use]
pub fn setne(a: f32, b: f32) -> f32 {
    one_or_zero(a != b)
}

/// `SETE_DX10`: `src0 == src1 ? 0xffffffff : 0`.
#[inline]
#[must_use]
pub fn sete_dx10(a: f32, b: f32) -> u32 {
    ones_or_zero(a == b)
}

/// `SETGT_DX10`: `src0 > src1 ? 0xffffffff : 0`.
#[inline]
#[must_use]
pub fn setgt_dx10(a: f32, b: f32) -> u32 {
    ones_or_zero(a > b)
}

/// `SETGE_DX10`: `src0 >= src1 ? 0xffffffff : 0`.
#[inline]
#[must_use]
pub fn setge_dx10(a: f32, b: f32) -> u32 {
    ones_or_zero(a >= b)
}

/// `SETNE_DX10`: `src0 != src1 ? 0xffffffff : 0`; all ones with a NaN.
#[inline]
#[must_use]
pub fn setne_dx10(a: f32, b: f32) -> u32 {
    ones_or_zero(a != b)
}

/// `FRACT`: `src0 - FLOOR(src0)`, one rounding (so a tiny negative number gives 1.0); NaN of an infinity.
#[inline]
#[must_use]
pub fn fract(a: f32) -> f32 {
    step(a - floor(a))
}

/// `TRUNC`: the integer part; the sign stays, also of a zero result.
#[inline]
#[must_use]
pub fn trunc(a: f32) -> f32 {
    a.trunc()
}

/// `CEIL`: the next integer above; -0 between -1 and 0.
#[inline]
#[must_use]
pub fn ceil(a: f32) -> f32 {
    a.ceil()
}

/// `RNDNE`: the nearest integer, ties to even, the sign kept.
///
/// *The page computes `FLOOR(src0 + 0.5)` less a correction, which in single precision is wrong just below 0.5 and for large odd
/// numbers; we follow the name.*
#[inline]
#[must_use]
pub fn rndne(a: f32) -> f32 {
    a.round_ties_even()
}

/// `FLOOR`: the next integer below.
#[inline]
#[must_use]
pub fn floor(a: f32) -> f32 {
    a.floor()
}

/// The signed 9-bit index that `MOVA` and `MOVA_FLOOR` export: too small, too large and NaN become -256.
#[allow(clippy::cast_possible_truncation, reason = "the number is an integer of 9 bits")]
fn index(dst: f32) -> i32 {
    let low = if dst >= -256.0 { dst } else { -256.0 };
    let both = if low > 255.0 { -256.0 } else { low };
    both as i32
}

/// `MOVA`: `FLOOR(src0 + 0.5)`; outside -256..=255 it is -256.
#[inline]
#[must_use]
pub fn mova(a: f32) -> i32 {
    index(floor(add(a, 0.5)))
}

/// `MOVA_FLOOR`: `FLOOR(src0)`; outside -256..=255 it is -256.
#[inline]
#[must_use]
pub fn mova_floor(a: f32) -> i32 {
    index(floor(a))
}

/// `MOVA_INT`: the integer; outside -256..=255 it is -256.
#[inline]
#[must_use]
pub const fn mova_int(a: u32) -> i32 {
    let a = a.cast_signed();
    if a < -256 || a > 255 { -256 } else { a }
}

/// A predicate operation's two results: the register's value, and whether the pixel executes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicate {
    /// The result.
    pub dst: f32,
    /// `predicate_result`: execute, or skip.
    pub execute: bool,
}

/// `PRED_SETE`, `PRED_SETGT`, ... of every type: 0.0 and execute when the comparison holds, 1.0 and skip when not.
#[inline]
#[must_use]
pub const fn pred_set(holds: bool) -> Predicate {
    Predicate { dst: if holds { 0.0 } else { 1.0 }, execute: holds }
}

/// `PRED_SET_INV`: 1.0 becomes 0.0 and executes, 0.0 becomes 1.0 and skips, any other counter stays and skips.
#[inline]
#[must_use]
pub fn pred_set_inv(a: f32) -> Predicate {
    if a == 1.0 {
        Predicate { dst: 0.0, execute: true }
    } else {
        Predicate { dst: if a == 0.0 { 1.0 } else { a }, execute: false }
    }
}

/// `PRED_SET_POP`: `src0 <= src1` gives 0.0 and executes, otherwise `src0 - src1` skips.
#[inline]
#[must_use]
pub fn pred_set_pop(a: f32, b: f32) -> Predicate {
    if a <= b { Predicate { dst: 0.0, execute: true } } else { Predicate { dst: step(a - b), execute: false } }
}

/// `PRED_SET_CLR`: the largest number, and skip.
#[inline]
#[must_use]
pub const fn pred_set_clr() -> Predicate {
    Predicate { dst: MAX_FLOAT, execute: false }
}

/// `PRED_SET_RESTORE`: a counter of 0.0 executes, any other skips; the counter stays.
#[inline]
#[must_use]
pub fn pred_set_restore(a: f32) -> Predicate {
    if a == 0.0 { Predicate { dst: 0.0, execute: true } } else { Predicate { dst: a, execute: false } }
}

/// `PRED_SETE_PUSH`, ... of both types: executes and gives 0.0 when the comparison of `src1` with zero holds and the counter
/// `src0` is 0.0; otherwise the counter grows by 1.0 and the pixel skips.
#[inline]
#[must_use]
pub fn pred_set_push(counter: f32, holds: bool) -> Predicate {
    if holds && counter == 0.0 {
        Predicate { dst: 0.0, execute: true }
    } else {
        Predicate { dst: add(counter, 1.0), execute: false }
    }
}

/// `KILLE`, `KILLGT`, ... of every type: 1.0 when the comparison holds and the pixel is killed, else 0.0.
#[inline]
#[must_use]
pub const fn kill(holds: bool) -> f32 {
    one_or_zero(holds)
}

/// `AND_INT`: `src0 & src1`.
#[inline]
#[must_use]
pub const fn and_int(a: u32, b: u32) -> u32 {
    a & b
}

/// `OR_INT`: `src0 | src1`.
#[inline]
#[must_use]
pub const fn or_int(a: u32, b: u32) -> u32 {
    a | b
}

/// `XOR_INT`: `src0 ^ src1`.
#[inline]
#[must_use]
pub const fn xor_int(a: u32, b: u32) -> u32 {
    a ^ b
}

/// `NOT_INT`: `~src0`.
#[inline]
#[must_use]
pub const fn not_int(a: u32) -> u32 {
    !a
}

/// `ADD_INT`: `src0 + src1`, low 32 bits.
#[inline]
#[must_use]
pub const fn add_int(a: u32, b: u32) -> u32 {
    a.wrapping_add(b)
}

/// `SUB_INT`: `src0 - src1`, low 32 bits.
///
/// *The page prints `src1 - src0`; compilers rely on `src0 - src1` (the corpus' `i_gcd`), and so do we.*
#[inline]
#[must_use]
pub const fn sub_int(a: u32, b: u32) -> u32 {
    a.wrapping_sub(b)
}

/// `MAX_INT`: the larger signed integer.
#[inline]
#[must_use]
pub const fn max_int(a: u32, b: u32) -> u32 {
    if a.cast_signed() >= b.cast_signed() { a } else { b }
}

/// `MIN_INT`: the smaller signed integer.
#[inline]
#[must_use]
pub const fn min_int(a: u32, b: u32) -> u32 {
    if a.cast_signed() < b.cast_signed() { a } else { b }
}

/// `MAX_UINT`: the larger unsigned integer.
#[inline]
#[must_use]
pub const fn max_uint(a: u32, b: u32) -> u32 {
    if a >= b { a } else { b }
}

/// `MIN_UINT`: the smaller unsigned integer.
#[inline]
#[must_use]
pub const fn min_uint(a: u32, b: u32) -> u32 {
    if a < b { a } else { b }
}

/// `SETE_INT`: `src0 == src1 ? 0xffffffff : 0`.
#[inline]
#[must_use]
pub const fn sete_int(a: u32, b: u32) -> u32 {
    ones_or_zero(a == b)
}

/// `SETGT_INT`: `src0 > src1 ? 0xffffffff : 0`, signed.
#[inline]
#[must_use]
pub const fn setgt_int(a: u32, b: u32) -> u32 {
    ones_or_zero(a.cast_signed() > b.cast_signed())
}

/// `SETGE_INT`: `src0 >= src1 ? 0xffffffff : 0`, signed.
#[inline]
#[must_use]
pub const fn setge_int(a: u32, b: u32) -> u32 {
    ones_or_zero(a.cast_signed() >= b.cast_signed())
}

/// `SETNE_INT`: `src0 != src1 ? 0xffffffff : 0`.
#[inline]
#[must_use]
pub const fn setne_int(a: u32, b: u32) -> u32 {
    ones_or_zero(a != b)
}

/// `SETGT_UINT`: `src0 > src1 ? 0xffffffff : 0`, unsigned.
#[inline]
#[must_use]
pub const fn setgt_uint(a: u32, b: u32) -> u32 {
    ones_or_zero(a > b)
}

/// `SETGE_UINT`: `src0 >= src1 ? 0xffffffff : 0`, unsigned.
#[inline]
#[must_use]
pub const fn setge_uint(a: u32, b: u32) -> u32 {
    ones_or_zero(a >= b)
}

/// `FLT_TO_INT`: truncates; of a value that does not fit in 32 bits it is the low-order bits of the integer, of infinities
/// and NaN 0.
#[inline]
#[must_use]
pub fn flt_to_int(a: f32) -> u32 {
    low_order_bits(a)
}

/// `FLT_TO_UINT`: as [`flt_to_int`]; it has no page of its own.
#[inline]
#[must_use]
pub fn flt_to_uint(a: f32) -> u32 {
    low_order_bits(a)
}

/// The low-order 32 bits of the integer part in two's complement.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the low-order bits are what is meant")]
fn low_order_bits(a: f32) -> u32 {
    // From 2^63 on all 32 low-order bits are zero, and a saturated conversion must not be used.
    if a.is_finite() && a.abs() < 9_223_372_036_854_775_808.0 { a as i64 as u32 } else { 0 }
}

/// `INT_TO_FLT`: the nearest number to the signed integer, ties to even.
#[inline]
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "this is the one rounding")]
pub const fn int_to_flt(a: u32) -> f32 {
    a.cast_signed() as f32
}

/// `UINT_TO_FLT`: the nearest number to the unsigned integer, ties to even.
#[inline]
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "this is the one rounding")]
pub const fn uint_to_flt(a: u32) -> f32 {
    a as f32
}

/// The bits of `src1` that count in a shift: the low five (table 4.4 says so of ASHR_INT; the pages' "0 above 31" loses, r700-encoding §10 E28).
const SHIFT_BITS: u32 = 31;

/// `ASHR_INT`: `src0 >> (src1 & 31)`, the sign shifted in.
#[inline]
#[must_use]
pub const fn ashr_int(a: u32, b: u32) -> u32 {
    (a.cast_signed() >> (b & SHIFT_BITS)).cast_unsigned()
}

/// `LSHR_INT`: `src0 >> (src1 & 31)`, zeros shifted in.
#[inline]
#[must_use]
pub const fn lshr_int(a: u32, b: u32) -> u32 {
    a >> (b & SHIFT_BITS)
}

/// `LSHL_INT`: `src0 << (src1 & 31)`.
#[inline]
#[must_use]
pub const fn lshl_int(a: u32, b: u32) -> u32 {
    a << (b & SHIFT_BITS)
}

/// `MULLO_INT`: the low 32 bits of the product.
#[inline]
#[must_use]
pub const fn mullo_int(a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

/// `MULHI_INT`: the high 32 bits of the signed product.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the high half is what is meant")]
pub const fn mulhi_int(a: u32, b: u32) -> u32 {
    ((a.cast_signed() as i64 * b.cast_signed() as i64) >> 32) as u32
}

/// `MULLO_UINT`: the low 32 bits of the product.
#[inline]
#[must_use]
pub const fn mullo_uint(a: u32, b: u32) -> u32 {
    a.wrapping_mul(b)
}

/// `MULHI_UINT`: the high 32 bits of the unsigned product.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "the high half is what is meant")]
pub const fn mulhi_uint(a: u32, b: u32) -> u32 {
    ((a as u64 * b as u64) >> 32) as u32
}

/// `RECIP_INT`: `2^32 / src0` toward zero, kept within a signed integer; of 0 the largest one (the page leaves it undefined).
///
/// The page says no more than *ApproximateRecip*, a *fractional signed integer*. UNVERIFIED: a run on a real card.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept within range just before")]
pub const fn recip_int(a: u32) -> u32 {
    if a == 0 {
        return i32::MAX.cast_unsigned();
    }
    let quotient = (1i64 << 32) / a.cast_signed() as i64;
    let kept = if quotient > i32::MAX as i64 {
        i32::MAX as i64
    } else if quotient < i32::MIN as i64 {
        i32::MIN as i64
    } else {
        quotient
    };
    kept as i32 as u32
}

/// `RECIP_UINT`: `2^32 / src0` rounded down, at most 0xffffffff; of 0 also 0xffffffff (the page leaves it undefined).
///
/// The page says no more than *ApproximateRecip*, a *fractional unsigned integer*; compilers correct the quotients they build on it.
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "below 2^32 from 2 on")]
pub const fn recip_uint(a: u32) -> u32 {
    if a < 2 { u32::MAX } else { ((1u64 << 32) / a as u64) as u32 }
}

/// `MULADD`: `src0 * src1 + src2` with [`mul`]; the product is rounded, then the sum.
#[inline]
#[must_use]
pub fn muladd(a: f32, b: f32, c: f32) -> f32 {
    add(mul(a, b), c)
}

/// `MULADD_IEEE`: `src0 * src1 + src2` with [`mul_ieee`]; the product is rounded, then the sum.
#[inline]
#[must_use]
pub fn muladd_ieee(a: f32, b: f32, c: f32) -> f32 {
    add(mul_ieee(a, b), c)
}

/// `MUL_LIT`: `src0 * src1` with [`mul`]; -MAX_FLOAT when `src1` is -MAX_FLOAT, -infinity or NaN, or `src2` is not above zero.
#[inline]
#[must_use]
pub fn mul_lit(a: f32, b: f32, c: f32) -> f32 {
    // "src2 <= 0 or src2 is NaN" is "not src2 > 0".
    if b == -MAX_FLOAT || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan() {
        -MAX_FLOAT
    } else {
        mul(a, b)
    }
}

/// `CNDE`: `src0 == 0.0 ? src1 : src2`, as bits.
#[inline]
#[must_use]
pub fn cnde(a: f32, b: u32, c: u32) -> u32 {
    if a == 0.0 { b } else { c }
}

/// `CNDGT`: `src0 > 0.0 ? src1 : src2`, as bits.
#[inline]
#[must_use]
pub fn cndgt(a: f32, b: u32, c: u32) -> u32 {
    if a > 0.0 { b } else { c }
}

/// `CNDGE`: `src0 >= 0.0 ? src1 : src2`, as bits.
#[inline]
#[must_use]
pub fn cndge(a: f32, b: u32, c: u32) -> u32 {
    if a >= 0.0 { b } else { c }
}

/// `CNDE_INT`: `src0 == 0 ? src1 : src2`.
#[inline]
#[must_use]
pub const fn cnde_int(a: u32, b: u32, c: u32) -> u32 {
    if a == 0 { b } else { c }
}

/// `CNDGT_INT`: `src0 > 0 ? src1 : src2`, signed.
#[inline]
#[must_use]
pub const fn cndgt_int(a: u32, b: u32, c: u32) -> u32 {
    if a.cast_signed() > 0 { b } else { c }
}

/// `CNDGE_INT`: `src0 >= 0 ? src1 : src2`, signed.
#[inline]
#[must_use]
pub const fn cndge_int(a: u32, b: u32, c: u32) -> u32 {
    if a.cast_signed() >= 0 { b } else { c }
}

/// `DOT4` and `DOT4_IEEE`, in the order of the pages: w, z, y, x; each product and each sum is one rounding.
#[inline]
#[must_use]
pub fn dot4(a: [f32; 4], b: [f32; 4], multiply: fn(f32, f32) -> f32) -> f32 {
    let w = multiply(a[3], b[3]);
    let zw = add(w, multiply(a[2], b[2]));
    let yzw = add(zw, multiply(a[1], b[1]));
    add(yzw, multiply(a[0], b[0]))
}

/// `MAX4`: the largest of the four, by [`max`] in the order of the page: w, z, y, x.
#[inline]
#[must_use]
pub fn max4(a: [f32; 4]) -> f32 {
    max(max(max(a[3], a[2]), a[1]), a[0])
}

/// `CUBE` of a direction: `[T, S, 2 * major axis, face]`, for x, y, z and w.
///
/// The page gives the four meanings. Which axis is major when two are equal, the signs of S and T, and the numbers of the faces
/// (0..=5: +x, -x, +y, -y, +z, -z) are Direct3D's: z before y before x.
#[inline]
#[must_use]
pub fn cube(x: f32, y: f32, z: f32) -> [f32; 4] {
    let (t, s, major, face) = if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { (-y, -x, z, 5.0) } else { (-y, x, z, 4.0) }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { (-z, x, y, 3.0) } else { (z, x, y, 2.0) }
    } else if x < 0.0 {
        (-y, z, x, 1.0)
    } else {
        (-y, -z, x, 0.0)
    };
    [t, s, major * 2.0, face]
}
