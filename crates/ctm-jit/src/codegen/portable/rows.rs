//! Rows of 64 lanes: the operands of the portable machines of both instruction sets.
//!
//! Every operation is a plain loop over the lanes of a row, which the compiler vectorises. Loops with a fused
//! multiply-add are compiled for hosts that have one ([`on_this_host`]); others add in double precision ([`Sum`]).
//!
//! **Exactness.** Where single precision rounds as the reference does, it is used; a row in which some lane comes near the smallest normal
//! number, where the two differ, is computed again by the reference function.

pub use crate::launch::wavefronts::wave::{LANES, Row};
use ctm_exec::float::{INFINITY, MIN_NORMAL, NAN, ONE, SIGN, WideResult, flush, number};
use ctm_exec::x1k::ops::{ZeroRule, mad, omod_factor, output_modifier};
use ctm_isa::x1k::ops::Omod;
use std::mem::MaybeUninit;

/// The bits of 2^-122: a number that is not smaller is normal after every output modifier.
const SMALL: u32 = 0x0280_0000;

/// Work that is compiled for every host, and once more for those with wider vectors and a fused multiply-add.
pub trait Work {
    /// Its result.
    type Done;

    /// Does it. `FUSED`: `f32::mul_add` is one instruction here, and rounds once wherever it is none.
    fn run<const FUSED: bool>(self) -> Self::Done;
}

/// Runs it with the features of this host.
#[inline]
pub fn on_this_host<W: Work>(work: W) -> W::Done {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            #[allow(unsafe_code, reason = "the processor has been asked")]
            // SAFETY: the processor has the features that the function is compiled for, and the system saves its
            // registers.
            return unsafe { with_avx2(work) };
        }
        work.run::<false>()
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        work.run::<{ cfg!(target_arch = "aarch64") }>()
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<W: Work>(work: W) -> W::Done {
    work.run::<{ ctm_x86::simd::FUSES }>()
}

/// A row, lane by lane. Nothing clears it first: in WebAssembly that is a call, which takes as long as some operations.
#[inline(always)]
pub fn row_of(mut lane_of: impl FnMut(usize) -> u32) -> Row {
    let mut row = [const { MaybeUninit::uninit() }; LANES];
    for (lane, place) in row.iter_mut().enumerate() {
        place.write(lane_of(lane));
    }
    #[allow(unsafe_code, reason = "the loop has written every lane")]
    // SAFETY: every lane has been written, and both types have the same layout.
    unsafe {
        std::mem::transmute::<[MaybeUninit<u32>; LANES], Row>(row)
    }
}

/// Copies a row, in parts that are moved by vectors: as a whole it would be a call in WebAssembly.
#[inline(always)]
pub fn copy(to: &mut Row, from: &Row) {
    let (to, from) = (to.as_chunks_mut::<16>().0, from.as_chunks::<16>().0);
    (to[0], to[1], to[2], to[3]) = (from[0], from[1], from[2], from[3]);
}

/// A function of each lane.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn map(a: &Row, function: impl Fn(u32) -> u32) -> Row {
    row_of(|lane| function(a[lane]))
}

/// A function of two.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn map2(a: &Row, b: &Row, function: impl Fn(u32, u32) -> u32) -> Row {
    row_of(|lane| function(a[lane], b[lane]))
}

/// A function of three.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn map3(a: &Row, b: &Row, c: &Row, function: impl Fn(u32, u32, u32) -> u32) -> Row {
    row_of(|lane| function(a[lane], b[lane], c[lane]))
}

/// The bits of a result: a denormal becomes the zero of its sign, every NaN becomes the canonical one. As
/// `ctm_exec::float::bits`.
#[inline(always)]
pub fn canonical(x: f32) -> u32 {
    if x.is_nan() { NAN } else { flush(x.to_bits()) }
}

/// The bit of each lane in its half of a mask. Not every processor shifts each lane by a number of its own.
const BITS: [u32; 32] = {
    let mut bits = [0; 32];
    let mut lane = 0;
    while lane < 32 {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// The lanes for which a condition holds.
#[inline(always)]
pub fn lanes_where(a: &Row, holds: impl Fn(u32) -> bool) -> u64 {
    let mut halves = [0u32; 2];
    for (half, lanes) in halves.iter_mut().zip(a.as_chunks::<32>().0) {
        for (&lane, bit) in lanes.iter().zip(BITS) {
            *half |= if holds(lane) { bit } else { 0 };
        }
    }
    u64::from(halves[0]) | u64::from(halves[1]) << 32
}

/// Writes `from` to `to` in the lanes of the mask.
#[inline(always)]
pub fn store(to: &mut Row, from: &Row, mask: u64) {
    let halves = [mask as u32, (mask >> 32) as u32];
    let rows = to.as_chunks_mut::<32>().0.iter_mut().zip(from.as_chunks::<32>().0);
    for ((to, from), mask) in rows.zip(halves) {
        for lane in 0..32 {
            // As bits: a choice between places in memory is a branch.
            let chosen = if mask & BITS[lane] != 0 { u32::MAX } else { 0 };
            to[lane] ^= (to[lane] ^ from[lane]) & chosen;
        }
    }
}

/// A fused multiply-add for sequences that see normal numbers.
#[inline(always)]
pub fn fma<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { to_odd(a, b, c) as f32 }
}

/// A product, which double precision holds exactly, and a sum that is rounded to odd: rounded once more to single precision, it is as if it had been exact.
#[inline(always)]
fn to_odd(a: f32, b: f32, c: f32) -> f64 {
    WideResult::sum(f64::from(a) * f64::from(b), f64::from(c)).get()
}

/// How a product and a sum are rounded once.
type Sum = u8;
/// By the host's instruction.
const FUSED_SUM: Sum = 0;
/// In double precision, rounded to nearest: half as many instructions as [`ODD`]. A second rounding to single precision gives another result only for a sum that
/// the first one has made a tie between two numbers of single precision. A row with such a sum is computed again.
const NEAREST: Sum = 1;
/// In double precision, rounded to odd.
const ODD: Sum = 2;
/// A factor is 1: one rounding of a sum in single precision.
const ADDITION: Sum = 3;
/// The third operand is a zero: one rounding of a product in single precision, and the sum decides the sign of a zero.
const PRODUCT: Sum = 4;

/// The bits of a double that single precision drops, in the lower dword.
const DROPPED: u32 = (1 << 29) - 1;
/// Their value half-way between two numbers of single precision.
const TIE: u32 = 1 << 28;

/// A product and a sum with one rounding, times an output modifier: as `ctm_exec::x1k::ops::mad` and `output_modifier`. `constants` are the bits of operands that are the
/// same in all lanes, as far as that is known: dot products and plain sums are made of such steps. Results go to `to`: in WebAssembly a row that is returned is copied by a call.
#[inline(always)]
pub fn fused<const FUSED: bool>(
    [a, b, c]: [&Row; 3],
    constants: [Option<u32>; 3],
    (zero_wins, omod): (bool, Omod),
    to: &mut Row,
) {
    let rare = if FUSED {
        fused_by::<FUSED_SUM>([a, b, c], zero_wins, omod, to)
    } else if constants[1] == Some(ONE) {
        fused_by::<ADDITION>([a, b, c], false, omod, to)
    } else if constants[0] == Some(ONE) {
        fused_by::<ADDITION>([b, a, c], false, omod, to)
    } else if constants[2].is_some_and(|bits| bits & !SIGN == 0) {
        fused_by::<PRODUCT>([a, b, c], zero_wins, omod, to)
    } else {
        match fused_by::<NEAREST>([a, b, c], zero_wins, omod, to) {
            Rare { tie: true, .. } => fused_by::<ODD>([a, b, c], zero_wins, omod, to),
            usual => usual,
        }
    };
    if rare.range {
        let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
        *to = map3(a, b, c, |a, b, c| output_modifier(mad(a, b, c, zero), omod, false));
    }
}

/// The cases of some lane that make a row wrong.
struct Rare {
    /// A result near an end of the range.
    range: bool,
    /// A tie after the first rounding.
    tie: bool,
}

#[inline(always)]
fn fused_by<const SUM: Sum>(operands: [&Row; 3], zero_wins: bool, omod: Omod, to: &mut Row) -> Rare {
    let [a, b, c] = operands;
    let plain = matches!(omod, Omod::U1 | Omod::Disabled);
    let factor = omod_factor(omod) as f32;
    match (plain, zero_wins) {
        (true, false) => fused_fast::<SUM, true, false>(a, b, c, factor, to),
        (true, true) => fused_fast::<SUM, true, true>(a, b, c, factor, to),
        (false, false) => fused_fast::<SUM, false, false>(a, b, c, factor, to),
        (false, true) => fused_fast::<SUM, false, true>(a, b, c, factor, to),
    }
}

/// The same, rounded to single precision before the output modifier.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn fused_fast<const SUM: Sum, const PLAIN: bool, const ZERO_WINS: bool>(
    a: &Row,
    b: &Row,
    c: &Row,
    factor: f32,
    to: &mut Row,
) -> Rare {
    let (mut range, mut least) = (0, u32::MAX);
    for (lane, to) in to.iter_mut().enumerate() {
        let (mut x, mut y, z) = (number(a[lane]), number(b[lane]), number(c[lane]));
        if ZERO_WINS {
            let zero = (x * y).is_nan() & ((x == 0.0) | (y == 0.0));
            (x, y) = if zero { (0.0, 0.0) } else { (x, y) };
        }
        let sum = match SUM {
            FUSED_SUM => x.mul_add(y, z),
            NEAREST => {
                let sum = f64::from(x) * f64::from(y) + f64::from(z);
                // 0 for a tie. A minimum of dwords is one instruction.
                least = least.min(sum.to_bits() as u32 & DROPPED ^ TIE);
                sum as f32
            }
            ADDITION => x + z,
            PRODUCT => x * y + z,
            _ => to_odd(x, y, z) as f32,
        };
        let magnitude = sum.to_bits() & !SIGN;
        *to = if PLAIN {
            // It may have been smaller than that before rounding.
            range |= u32::from(magnitude == MIN_NORMAL);
            canonical(sum)
        } else {
            // Rounded, or infinite, before it was multiplied.
            range |= u32::from((magnitude != 0) & (magnitude < SMALL)) | u32::from(magnitude == INFINITY);
            canonical(sum * factor)
        };
    }
    Rare { range: range != 0, tie: least == 0 }
}

/// A product, rounded to single precision: as `ctm_exec::r700::ops::mul_ieee`, or as `mul`, whose zeros win.
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn product(a: &Row, b: &Row, zero_wins: bool) -> Row {
    let (row, rare) = if zero_wins { product_fast::<true>(a, b) } else { product_fast::<false>(a, b) };
    if !rare {
        return row;
    }
    let multiply = if zero_wins { ctm_exec::r700::ops::mul } else { ctm_exec::r700::ops::mul_ieee };
    map2(a, b, |a, b| canonical(multiply(number(a), number(b))))
}

#[inline(always)]
fn product_fast<const ZERO_WINS: bool>(a: &Row, b: &Row) -> (Row, bool) {
    let mut rare = 0;
    let row = row_of(|lane| fast::<ZERO_WINS>(a[lane], b[lane], &mut rare));
    (row, rare != 0)
}

/// The product of a lane; `rare` becomes 1 where it may be wrong.
#[inline(always)]
fn fast<const ZERO_WINS: bool>(x: u32, y: u32, rare: &mut u32) -> u32 {
    let (x, y) = (number(x), number(y));
    let product = x * y;
    *rare |= u32::from(product.to_bits() & !SIGN == MIN_NORMAL);
    let zero = ZERO_WINS & product.is_nan() & ((x == 0.0) | (y == 0.0));
    if zero { 0 } else { canonical(product) }
}

/// A product, and a sum of it, each rounded to single precision: [`sum`] of [`product`].
#[cfg_attr(target_arch = "wasm32", inline(never))]
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
pub fn product_and_sum(a: &Row, b: &Row, c: &Row, zero_wins: bool) -> Row {
    let (row, rare) =
        if zero_wins { product_and_sum_fast::<true>(a, b, c) } else { product_and_sum_fast::<false>(a, b, c) };
    if rare { sum(&product(a, b, zero_wins), c) } else { row }
}

#[inline(always)]
fn product_and_sum_fast<const ZERO_WINS: bool>(a: &Row, b: &Row, c: &Row) -> (Row, bool) {
    let mut rare = 0;
    let row = row_of(|lane| {
        let product = fast::<ZERO_WINS>(a[lane], b[lane], &mut rare);
        canonical(number(product) + number(c[lane]))
    });
    (row, rare != 0)
}

/// A sum, rounded to single precision: as `ctm_exec::r700::ops::add`.
#[inline(always)]
pub fn sum(a: &Row, b: &Row) -> Row {
    map2(a, b, |a, b| canonical(number(a) + number(b)))
}

#[cfg(test)]
#[path = "../../../tests/unit/codegen/portable/rows.rs"]
mod tests;
