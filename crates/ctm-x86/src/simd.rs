//! Vectors of 32-bit lanes for Rust code: every operation for each instruction set. Functions on them are written once ([`Do`]) and compiled for each.
//!
//! ```
//! use ctm_x86::Isa;
//! use ctm_x86::simd::{Do, Simd, with};
//!
//! struct Double<'a>(&'a mut [u32; 16]);
//!
//! impl Do for Double<'_> {
//!     fn run<S: Simd>(self, s: S) -> bool {
//!         for lanes in self.0.chunks_exact_mut(S::LANES) {
//!             let x = s.load(lanes);
//!             s.store(s.add_int(x, x), lanes);
//!         }
//!         true
//!     }
//! }
//!
//! let mut numbers: [u32; 16] = std::array::from_fn(|n| n as u32);
//! let available = [Isa::Avx512, Isa::Avx2, Isa::Four].into_iter().find(|isa| isa.is_available());
//! if let Some(isa) = available {
//!     // SAFETY: the processor has it.
//!     unsafe { with(isa, Double(&mut numbers)) };
//!     assert_eq!(numbers[15], 30);
//! }
//! ```

#![allow(unsafe_code, unused_unsafe, reason = "instructions that a processor may lack, and memory at an index")]

use crate::Isa;
pub use crate::array::{Array, Whole, WholeBytes};
#[cfg(target_arch = "aarch64")]
pub use crate::neon::Four;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm_castps_si128 as i128, _mm_castsi128_ps as f128, _mm256_castps_si256 as i256, _mm256_castsi256_ps as f256,
    _mm512_castps_si512 as i512, _mm512_castsi512_ps as f512,
};

/// AVX-512. A value exists only where the processor has it.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx512(());

/// AVX2 and FMA. A value exists only where the processor has them.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Avx2(());

/// Vectors of 128 bits. A value exists only where the processor has AVX and FMA.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Four(());

/// Bits shifted to the right, each lane by its own count: a processor without AVX2 shifts whole vectors only.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
fn right_each(a: __m128, count: __m128) -> __m128 {
    let (a, count) = (i128(a), i128(count));
    let [low, high] = [_mm_cvtepu32_epi64(count), _mm_cvtepu32_epi64(_mm_unpackhi_epi64(count, count))];
    let [first, third] = [_mm_srl_epi32(a, low), _mm_srl_epi32(a, high)];
    let second = _mm_srl_epi32(a, _mm_unpackhi_epi64(low, low));
    let fourth = _mm_srl_epi32(a, _mm_unpackhi_epi64(high, high));
    let (even, odd) = (_mm_blend_epi16::<0xf0>(first, third), _mm_blend_epi16::<0xf0>(second, fourth));
    f128(_mm_blend_epi16::<0xcc>(even, odd))
}

/// Whether `f32::mul_add` rounds once wherever it is compiled. Where it is no instruction it is a call of the C library, and MinGW's rounds twice: code for FMA that was
/// not compiled in line would have other bits.
pub const FUSES: bool = !cfg!(all(windows, target_env = "gnu"));

/// Runs a function on the vectors of an instruction set.
///
/// # Safety
/// The processor has it.
pub unsafe fn with<D: Do>(isa: Isa, done: D) -> bool {
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,popcnt")]
    fn avx512<D: Do>(done: D) -> bool {
        done.run(Avx512(()))
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,popcnt")]
    fn avx2<D: Do>(done: D) -> bool {
        done.run(Avx2(()))
    }

    #[cfg(any(target_arch = "aarch64", feature = "four", test))]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx,fma,popcnt"))]
    fn four<D: Do>(done: D) -> bool {
        done.run(Four(()))
    }

    // SAFETY: the processor has the instructions.
    unsafe {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512(done),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2(done),
            #[cfg(any(target_arch = "aarch64", feature = "four", test))]
            Isa::Four => four(done),
            #[allow(unreachable_patterns, reason = "on some hosts all others are above")]
            _ => unreachable!("{isa:?} is not available here"),
        }
    }
}

/// Calls a function that is compiled for the vectors of AVX2, and gives its result; `None` where the processor lacks them, and nothing is called.
///
/// The compiler has to inline the function, with everything that it calls: it does so for a closure that only this call uses. Results are those of the plain call: nothing is contracted.
///
/// ```
/// let mut numbers = [1.5f32; 64];
/// let wide = ctm_x86::simd::on_avx2(|| numbers.iter_mut().for_each(|x| *x = *x * 2.0 + 1.0));
/// assert_eq!(numbers[63], if wide.is_some() { 4.0 } else { 1.5 });
/// ```
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn on_avx2<R>(function: impl FnOnce() -> R) -> Option<R> {
    // In line, so that it is compiled beside its function and can inline it.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn avx2<R>(function: impl FnOnce() -> R) -> R {
        function()
    }

    let has_avx2 = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("popcnt");
    // SAFETY: the processor has the instructions.
    has_avx2.then(|| unsafe { avx2(function) })
}

/// Work that is compiled for vectors of several widths.
pub trait Wide: Sized {
    /// Its result.
    type Out;

    /// Whether it is compiled for the vectors of AVX-512, too: worth its code where long loops on many lanes are most of it.
    const TAKES_AVX512: bool = false;

    /// Does it. It has to be marked `#[inline(always)]`, with all large functions that it calls. `FMA`: `f32::mul_add` is an instruction, or [rounds once](FUSES).
    fn run<const FMA: bool>(self) -> Self::Out;
}

/// Does work compiled for the vectors of AVX2, with FMA, or for those of AVX-512, where it takes them. Unlike a closure, it may be of any size.
///
/// # Errors
/// The work, where the processor lacks them: nothing is done.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn on_avx2_of<W: Wide>(work: W) -> Result<W::Out, W> {
    #[inline]
    #[target_feature(enable = "avx2,fma,popcnt")]
    fn avx2<W: Wide>(work: W) -> W::Out {
        work.run::<FUSES>()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,popcnt")]
    fn avx512<W: Wide>(work: W) -> W::Out {
        work.run::<FUSES>()
    }

    if W::TAKES_AVX512 && Isa::Avx512.is_available() && std::is_x86_feature_detected!("avx512vl") {
        // SAFETY: the processor has the instructions.
        return Ok(unsafe { avx512(work) });
    }
    if std::is_x86_feature_detected!("avx2")
        && std::is_x86_feature_detected!("fma")
        && std::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the instructions.
        Ok(unsafe { avx2(work) })
    } else {
        Err(work)
    }
}

/// The highest bits of up to 32 lanes, the first lane's in bit 0; a multiple of four lanes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[must_use]
pub fn high_bits<const N: usize>(lanes: &[u32; N]) -> u32 {
    lanes.as_chunks::<4>().0.iter().rev().fold(0, |all, &four| {
        let [a, b, c, d] = four.map(u32::cast_signed);
        // SAFETY: every such processor has these instructions.
        all << 4 | unsafe { _mm_movemask_ps(_mm_castsi128_ps(_mm_set_epi32(d, c, b, a))) }.cast_unsigned()
    })
}

/// Puts elements of four dwords into rows, one for each of the four; at most as many as a row has.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn transpose<const N: usize>(from: &[[u32; 4]], to: &mut [[f32; N]; 4]) {
    let from = &from[..from.len().min(N)];
    let (fours, rest) = from.as_chunks::<4>();
    let [x, y, z, w] = to;
    for (n, four) in fours.iter().enumerate() {
        let at = 4 * n;
        let [Some(x), Some(y), Some(z), Some(w)] = [&mut *x, &mut *y, &mut *z, &mut *w].map(|row| {
            let row: Option<&mut [f32; 4]> = row.get_mut(at..at + 4).and_then(|four| four.try_into().ok());
            row
        }) else {
            continue;
        };
        // SAFETY: every such processor has these instructions; elements and rows have four dwords.
        unsafe {
            let [a, b, c, d] = four.each_ref().map(|element| _mm_loadu_ps(element.as_ptr().cast()));
            let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
            _mm_storeu_ps(x.as_mut_ptr(), _mm_movelh_ps(ab, cd));
            _mm_storeu_ps(y.as_mut_ptr(), _mm_movehl_ps(cd, ab));
            let (ab, cd) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
            _mm_storeu_ps(z.as_mut_ptr(), _mm_movelh_ps(ab, cd));
            _mm_storeu_ps(w.as_mut_ptr(), _mm_movehl_ps(cd, ab));
        }
    }
    for (n, element) in (4 * fours.len()..).zip(rest) {
        to.iter_mut().zip(element).for_each(|(row, &bits)| row[n] = f32::from_bits(bits));
    }
}

/// Functions on vectors.
pub trait Do {
    /// Does it, and returns whether it could. It has to be inlined, with all its calls.
    fn run<S: Simd>(self, simd: S) -> bool;
}

/// An array of an expression's values for 0 to 1, 2 or 3. Closures do not inherit target features, so their code would be compiled without the instructions.
#[doc(hidden)]
#[macro_export]
macro_rules! each {
    (2, $n:ident => $of:expr) => {
        $crate::each!([0 1], $n => $of)
    };
    (3, $n:ident => $of:expr) => {
        $crate::each!([0 1 2], $n => $of)
    };
    (4, $n:ident => $of:expr) => {
        $crate::each!([0 1 2 3], $n => $of)
    };
    ([$($number:literal)*], $n:ident => $of:expr) => {
        [$({
            let $n: usize = $number;
            $of
        },)*]
    };
}
#[doc(inline)]
pub use each;

/// The type of an operand in the table of operations.
macro_rules! operand {
    (V) => {
        Self::V
    };
    (M) => {
        Self::M
    };
    ($other:ident) => {
        $other
    };
}

/// Declares operations, and defines them for AVX-512, for AVX2 and for vectors of 128 bits.
macro_rules! simd {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $of:ident),*) -> $to:ident: $avx512:expr, $avx2:expr, $four:expr;)*) => {
        /// Operations on all lanes: on numbers of single precision, where nothing else is noted. Comparisons hold in no
        /// lane with a NaN.
        pub trait Simd: Copy {
            /// A vector.
            type V: Copy;
            /// A mask of lanes.
            type M: Copy;
            /// Lanes of a vector.
            const LANES: usize;

            $($(#[$doc])* fn $name(self, $($arg: operand!($of)),*) -> operand!($to);)*

            /// The first lanes of a row.
            fn load(self, row: &[u32]) -> Self::V;
            /// Stores to the first lanes of a row.
            fn store(self, a: Self::V, row: &mut [u32]);
            /// The mask of lanes.
            fn mask(self, bits: u32) -> Self::M;
            /// In each lane of a quad the same one of it.
            fn quad_lane(self, a: Self::V, lane: u8) -> Self::V;
            /// Each lane's dword of 16.
            fn choose(self, table: &[u32; 16], index: Self::V) -> Self::V;
            /// The dwords that begin at `index * BYTES`; the last one, where the array ends before.
            fn gather<const BYTES: i32>(self, array: Array<'_>, index: Self::V) -> Self::V;
            /// One element of four dwords in each quarter, as [`Whole::new`].
            fn repeated(self, array: Array<'_>, index: u32) -> Self::V;
            /// The elements of the lanes at one place of each quarter.
            fn quarters(self, of: &Whole<'_, 1>, place: usize) -> Self::V;
            /// The same of two side by side: the first ones, and the second ones.
            fn pairs(self, of: &Whole<'_, 2>, place: usize) -> [Self::V; 2];
            /// One element of four bytes in each quarter, a byte in each lane, as [`WholeBytes::new`].
            fn repeated_bytes(self, array: Array<'_>, index: u32) -> Self::V;
            /// As [`Self::quarters`], a byte in each lane.
            fn quarters_of_bytes(self, of: &WholeBytes<'_, 1>, place: usize) -> Self::V;
            /// As [`Self::pairs`], a byte in each lane.
            fn pairs_of_bytes(self, of: &WholeBytes<'_, 2>, place: usize) -> [Self::V; 2];
        }

        #[cfg(target_arch = "x86_64")]
        impl Simd for Avx512 {
            type V = __m512;
            type M = __mmask16;
            const LANES: usize = 16;

            // SAFETY: the processor has AVX-512, of which this is a value.
            $(#[inline(always)] fn $name(self, $($arg: operand!($of)),*) -> operand!($to) { unsafe { $avx512 } })*

            #[inline(always)]
            fn mask(self, bits: u32) -> Self::M {
                bits as u16
            }

            #[inline(always)]
            fn choose(self, table: &[u32; 16], index: Self::V) -> Self::V {
                let table = self.load(table);
                // SAFETY: as above.
                unsafe { _mm512_permutexvar_ps(i512(index), table) }
            }

            #[inline(always)]
            fn repeated(self, array: Array<'_>, index: u32) -> Self::V {
                let (array, last) = array.whole(1);
                // SAFETY: as above.
                unsafe { _mm512_broadcast_f32x4(array.quarter(index.min(last))) }
            }

            #[inline(always)]
            fn quarters(self, of: &Whole<'_, 1>, place: usize) -> Self::V {
                // SAFETY: as above; the elements lie in the array.
                unsafe {
                    let [a, b, c, d] = each!(4, quarter => _mm_loadu_ps(of.at(4 * quarter + place)));
                    let two = _mm512_insertf32x4::<1>(_mm512_castps128_ps512(a), b);
                    _mm512_insertf32x4::<3>(_mm512_insertf32x4::<2>(two, c), d)
                }
            }

            #[inline(always)]
            fn pairs(self, of: &Whole<'_, 2>, place: usize) -> [Self::V; 2] {
                // SAFETY: as above; both elements lie in the array.
                unsafe {
                    let [a, b, c, d] = each!(4, quarter => _mm256_castps_pd(_mm256_loadu_ps(of.at(4 * quarter + place))));
                    let ab = _mm512_castpd_ps(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(a), b));
                    let cd = _mm512_castpd_ps(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(c), d));
                    [_mm512_shuffle_f32x4::<0x88>(ab, cd), _mm512_shuffle_f32x4::<0xdd>(ab, cd)]
                }
            }

            #[inline(always)]
            fn repeated_bytes(self, array: Array<'_>, index: u32) -> Self::V {
                // SAFETY: as above.
                unsafe { f512(_mm512_cvtepu8_epi32(_mm_set1_epi32(array.dword::<4>(index).cast_signed()))) }
            }

            #[inline(always)]
            fn quarters_of_bytes(self, of: &WholeBytes<'_, 1>, place: usize) -> Self::V {
                // SAFETY: as above; the elements lie in the array.
                unsafe {
                    let [a, b, c, d] = each!(4, quarter => of.at(4 * quarter + place).cast::<i32>().read_unaligned());
                    f512(_mm512_cvtepu8_epi32(_mm_set_epi32(d, c, b, a)))
                }
            }

            #[inline(always)]
            fn pairs_of_bytes(self, of: &WholeBytes<'_, 2>, place: usize) -> [Self::V; 2] {
                // SAFETY: as above; both elements lie in the array.
                unsafe {
                    let [a, b, c, d] = each!(4, quarter => _mm_loadl_epi64(of.at(4 * quarter + place).cast()));
                    let (ab, cd) = (_mm_unpacklo_epi32(a, b), _mm_unpacklo_epi32(c, d));
                    let [first, second] = [_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd)];
                    [f512(_mm512_cvtepu8_epi32(first)), f512(_mm512_cvtepu8_epi32(second))]
                }
            }

            both! { _mm512_loadu_ps _mm512_storeu_ps _mm512_permute_ps }

            #[inline(always)]
            fn gather<const BYTES: i32>(self, array: Array<'_>, index: Self::V) -> Self::V {
                let Some(last) = array.last(4, BYTES as usize) else { return self.splat(0) };
                let index = self.least(index, self.splat(last));
                // SAFETY: as above; the dwords lie in the array.
                unsafe { _mm512_i32gather_ps::<BYTES>(i512(index), array.first.cast()) }
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl Simd for Avx2 {
            type V = __m256;
            type M = __m256;
            const LANES: usize = 8;

            // SAFETY: the processor has AVX2 and FMA, of which this is a value.
            $(#[inline(always)] fn $name(self, $($arg: operand!($of)),*) -> operand!($to) { unsafe { $avx2 } })*

            #[inline(always)]
            fn mask(self, bits: u32) -> Self::M {
                let [each, bits] = [self.load(&[1, 2, 4, 8, 16, 32, 64, 128]), self.splat(bits)];
                self.equal_bits(self.and(bits, each), each)
            }

            #[inline(always)]
            fn choose(self, table: &[u32; 16], index: Self::V) -> Self::V {
                let [low, high] = [self.load(&table[..8]), self.load(&table[8..])];
                // SAFETY: as above.
                unsafe {
                    let index = i256(index);
                    let (low, high) = (_mm256_permutevar8x32_ps(low, index), _mm256_permutevar8x32_ps(high, index));
                    _mm256_blendv_ps(low, high, f256(_mm256_slli_epi32::<28>(index)))
                }
            }

            #[inline(always)]
            fn repeated(self, array: Array<'_>, index: u32) -> Self::V {
                let (array, last) = array.whole(1);
                let quarter = array.quarter(index.min(last));
                // SAFETY: as above.
                unsafe { _mm256_set_m128(quarter, quarter) }
            }

            #[inline(always)]
            fn quarters(self, of: &Whole<'_, 1>, place: usize) -> Self::V {
                // SAFETY: as above; the elements lie in the array.
                unsafe { _mm256_set_m128(_mm_loadu_ps(of.at(4 + place)), _mm_loadu_ps(of.at(place))) }
            }

            #[inline(always)]
            fn pairs(self, of: &Whole<'_, 2>, place: usize) -> [Self::V; 2] {
                // SAFETY: as above; both elements lie in the array.
                unsafe {
                    let (low, high) = (_mm256_loadu_ps(of.at(place)), _mm256_loadu_ps(of.at(4 + place)));
                    [_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high)]
                }
            }

            #[inline(always)]
            fn repeated_bytes(self, array: Array<'_>, index: u32) -> Self::V {
                // SAFETY: as above.
                unsafe { f256(_mm256_cvtepu8_epi32(_mm_set1_epi32(array.dword::<4>(index).cast_signed()))) }
            }

            #[inline(always)]
            fn quarters_of_bytes(self, of: &WholeBytes<'_, 1>, place: usize) -> Self::V {
                // SAFETY: as above; the elements lie in the array.
                unsafe {
                    let [low, high] = each!(2, half => of.at(4 * half + place).cast::<i32>().read_unaligned());
                    f256(_mm256_cvtepu8_epi32(_mm_insert_epi32::<1>(_mm_cvtsi32_si128(low), high)))
                }
            }

            #[inline(always)]
            fn pairs_of_bytes(self, of: &WholeBytes<'_, 2>, place: usize) -> [Self::V; 2] {
                // SAFETY: as above; both elements lie in the array.
                unsafe {
                    let [low, high] = each!(2, half => _mm_loadl_epi64(of.at(4 * half + place).cast()));
                    let both = _mm_unpacklo_epi32(low, high);
                    let second = _mm_unpackhi_epi64(both, both);
                    [f256(_mm256_cvtepu8_epi32(both)), f256(_mm256_cvtepu8_epi32(second))]
                }
            }

            both! { _mm256_loadu_ps _mm256_storeu_ps _mm256_permute_ps }

            #[inline(always)]
            fn gather<const BYTES: i32>(self, array: Array<'_>, index: Self::V) -> Self::V {
                let Some(last) = array.last(4, BYTES as usize) else { return self.splat(0) };
                let index = self.least(index, self.splat(last));
                // SAFETY: as above; the dwords lie in the array.
                unsafe { _mm256_i32gather_ps::<BYTES>(array.first.cast(), i256(index)) }
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl Simd for Four {
            type V = __m128;
            type M = __m128;
            const LANES: usize = 4;

            // SAFETY: the processor has AVX and FMA, of which this is a value.
            $(#[inline(always)] fn $name(self, $($arg: operand!($of)),*) -> operand!($to) { unsafe { $four } })*

            #[inline(always)]
            fn mask(self, bits: u32) -> Self::M {
                let [each, bits] = [self.load(&[1, 2, 4, 8]), self.splat(bits)];
                self.equal_bits(self.and(bits, each), each)
            }

            #[inline(always)]
            fn choose(self, table: &[u32; 16], index: Self::V) -> Self::V {
                let mut at = [0; 4];
                self.store(index, &mut at);
                self.load(&each!(4, lane => table[at[lane] as usize & 15]))
            }

            #[inline(always)]
            fn repeated(self, array: Array<'_>, index: u32) -> Self::V {
                let (array, last) = array.whole(1);
                array.quarter(index.min(last))
            }

            #[inline(always)]
            fn quarters(self, of: &Whole<'_, 1>, place: usize) -> Self::V {
                // SAFETY: as above; the element lies in the array.
                unsafe { _mm_loadu_ps(of.at(place)) }
            }

            #[inline(always)]
            fn pairs(self, of: &Whole<'_, 2>, place: usize) -> [Self::V; 2] {
                let at = of.at(place);
                // SAFETY: as above; both elements lie in the array.
                unsafe { [_mm_loadu_ps(at), _mm_loadu_ps(at.add(4))] }
            }

            #[inline(always)]
            fn repeated_bytes(self, array: Array<'_>, index: u32) -> Self::V {
                // SAFETY: as above.
                unsafe { f128(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(array.dword::<4>(index).cast_signed()))) }
            }

            #[inline(always)]
            fn quarters_of_bytes(self, of: &WholeBytes<'_, 1>, place: usize) -> Self::V {
                // SAFETY: as above; the element lies in the array.
                unsafe { f128(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(of.at(place).cast::<i32>().read_unaligned()))) }
            }

            #[inline(always)]
            fn pairs_of_bytes(self, of: &WholeBytes<'_, 2>, place: usize) -> [Self::V; 2] {
                // SAFETY: as above; both elements lie in the array.
                unsafe {
                    let both = _mm_loadl_epi64(of.at(place).cast());
                    [f128(_mm_cvtepu8_epi32(both)), f128(_mm_cvtepu8_epi32(_mm_srli_epi64::<32>(both)))]
                }
            }

            both! { _mm_loadu_ps _mm_storeu_ps _mm_permute_ps }

            #[inline(always)]
            fn gather<const BYTES: i32>(self, array: Array<'_>, index: Self::V) -> Self::V {
                let Some(last) = array.last(4, BYTES as usize) else { return self.splat(0) };
                let index = self.least(index, self.splat(last));
                // SAFETY: as above; the dwords lie in the array.
                unsafe {
                    let index = i128(index);
                    let (a, b) = (_mm_cvtsi128_si32(index), _mm_extract_epi32::<1>(index));
                    let at = [a, b, _mm_extract_epi32::<2>(index), _mm_extract_epi32::<3>(index)];
                    self.load(&each!(4, lane => array.within::<BYTES>(at[lane].cast_unsigned())))
                }
            }
        }
    };
}

/// Operations that only have other names.
#[cfg(target_arch = "x86_64")]
macro_rules! both {
    ($load:ident $store:ident $permute:ident) => {
        #[inline(always)]
        fn load(self, row: &[u32]) -> Self::V {
            let row = &row[..Self::LANES];
            // SAFETY: as above; the row is long enough.
            unsafe { $load(row.as_ptr().cast()) }
        }

        #[inline(always)]
        fn store(self, a: Self::V, row: &mut [u32]) {
            let row = &mut row[..Self::LANES];
            // SAFETY: as above; the row is long enough.
            unsafe { $store(row.as_mut_ptr().cast(), a) }
        }

        #[inline(always)]
        fn quad_lane(self, a: Self::V, lane: u8) -> Self::V {
            // SAFETY: as above.
            unsafe {
                match lane {
                    0 => $permute::<0x00>(a),
                    1 => $permute::<0x55>(a),
                    2 => $permute::<0xaa>(a),
                    _ => $permute::<0xff>(a),
                }
            }
        }
    };
}

simd! {
    /// The same bits in all lanes.
    splat(bits: u32) -> V: f512(_mm512_set1_epi32(bits.cast_signed())), f256(_mm256_set1_epi32(bits.cast_signed())), f128(_mm_set1_epi32(bits.cast_signed()));
    /// The first lane.
    first_lane(a: V) -> u32: _mm512_cvtsi512_si32(i512(a)).cast_unsigned(), _mm256_cvtsi256_si32(i256(a)).cast_unsigned(), _mm_cvtsi128_si32(i128(a)).cast_unsigned();
    /// The lanes of a mask.
    bits(mask: M) -> u32: mask.into(), _mm256_movemask_ps(mask).cast_unsigned(), _mm_movemask_ps(mask).cast_unsigned();
    /// `a + b`.
    add(a: V, b: V) -> V: _mm512_add_ps(a, b), _mm256_add_ps(a, b), _mm_add_ps(a, b);
    /// `a - b`.
    sub(a: V, b: V) -> V: _mm512_sub_ps(a, b), _mm256_sub_ps(a, b), _mm_sub_ps(a, b);
    /// `a * b`.
    mul(a: V, b: V) -> V: _mm512_mul_ps(a, b), _mm256_mul_ps(a, b), _mm_mul_ps(a, b);
    /// `a / b`.
    div(a: V, b: V) -> V: _mm512_div_ps(a, b), _mm256_div_ps(a, b), _mm_div_ps(a, b);
    /// `a * b + c`, rounded once.
    fma(a: V, b: V, c: V) -> V: _mm512_fmadd_ps(a, b, c), _mm256_fmadd_ps(a, b, c), _mm_fmadd_ps(a, b, c);
    /// The smaller one; `b` where one is NaN.
    min(a: V, b: V) -> V: _mm512_min_ps(a, b), _mm256_min_ps(a, b), _mm_min_ps(a, b);
    /// The larger one; `b` where one is NaN.
    max(a: V, b: V) -> V: _mm512_max_ps(a, b), _mm256_max_ps(a, b), _mm_max_ps(a, b);
    /// The square root.
    sqrt(a: V) -> V: _mm512_sqrt_ps(a), _mm256_sqrt_ps(a), _mm_sqrt_ps(a);
    /// The floor.
    floor(a: V) -> V: _mm512_roundscale_ps::<9>(a), _mm256_floor_ps(a), _mm_floor_ps(a);
    /// The ceiling.
    ceil(a: V) -> V: _mm512_roundscale_ps::<10>(a), _mm256_ceil_ps(a), _mm_ceil_ps(a);
    /// The nearest integer, ties to even.
    nearest(a: V) -> V: _mm512_roundscale_ps::<8>(a), _mm256_round_ps::<8>(a), _mm_round_ps::<8>(a);
    /// A number as a signed integer of 32 bits, rounded towards 0.
    to_int(a: V) -> V: f512(_mm512_cvttps_epi32(a)), f256(_mm256_cvttps_epi32(a)), f128(_mm_cvttps_epi32(a));
    /// The inverse conversion.
    of_int(a: V) -> V: _mm512_cvtepi32_ps(i512(a)), _mm256_cvtepi32_ps(i256(a)), _mm_cvtepi32_ps(i128(a));
    /// `a + b` of integers.
    add_int(a: V, b: V) -> V: f512(_mm512_add_epi32(i512(a), i512(b))), f256(_mm256_add_epi32(i256(a), i256(b))), f128(_mm_add_epi32(i128(a), i128(b)));
    /// `a - b` of integers.
    sub_int(a: V, b: V) -> V: f512(_mm512_sub_epi32(i512(a), i512(b))), f256(_mm256_sub_epi32(i256(a), i256(b))), f128(_mm_sub_epi32(i128(a), i128(b)));
    /// `a * b` of integers.
    mul_int(a: V, b: V) -> V: f512(_mm512_mullo_epi32(i512(a), i512(b))), f256(_mm256_mullo_epi32(i256(a), i256(b))), f128(_mm_mullo_epi32(i128(a), i128(b)));
    /// The smaller one of unsigned integers.
    least(a: V, b: V) -> V: f512(_mm512_min_epu32(i512(a), i512(b))), f256(_mm256_min_epu32(i256(a), i256(b))), f128(_mm_min_epu32(i128(a), i128(b)));
    /// Bitwise and.
    and(a: V, b: V) -> V: _mm512_and_ps(a, b), _mm256_and_ps(a, b), _mm_and_ps(a, b);
    /// Bitwise or.
    xor(a: V, b: V) -> V: _mm512_xor_ps(a, b), _mm256_xor_ps(a, b), _mm_xor_ps(a, b);
    /// Bits shifted to the left by `b`, zeros after.
    left(a: V, b: i32) -> V: f512(_mm512_sll_epi32(i512(a), _mm_cvtsi32_si128(b))), f256(_mm256_sll_epi32(i256(a), _mm_cvtsi32_si128(b))), f128(_mm_sll_epi32(i128(a), _mm_cvtsi32_si128(b)));
    /// Bits shifted to the right, zeros in front.
    right(a: V, b: i32) -> V: f512(_mm512_srl_epi32(i512(a), _mm_cvtsi32_si128(b))), f256(_mm256_srl_epi32(i256(a), _mm_cvtsi32_si128(b))), f128(_mm_srl_epi32(i128(a), _mm_cvtsi32_si128(b)));
    /// The same, each lane by that of `b`.
    right_each(a: V, b: V) -> V: f512(_mm512_srlv_epi32(i512(a), i512(b))), f256(_mm256_srlv_epi32(i256(a), i256(b))), right_each(a, b);
    /// `a < b`.
    less(a: V, b: V) -> M: _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), _mm256_cmp_ps::<_CMP_LT_OQ>(a, b), _mm_cmp_ps::<_CMP_LT_OQ>(a, b);
    /// `a = b`.
    equal(a: V, b: V) -> M: _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b), _mm256_cmp_ps::<_CMP_EQ_OQ>(a, b), _mm_cmp_ps::<_CMP_EQ_OQ>(a, b);
    /// The bits are the same.
    equal_bits(a: V, b: V) -> M: _mm512_cmpeq_epi32_mask(i512(a), i512(b)), f256(_mm256_cmpeq_epi32(i256(a), i256(b))), f128(_mm_cmpeq_epi32(i128(a), i128(b)));
    /// The negation.
    not(m: M) -> M: !m, _mm256_xor_ps(m, f256(_mm256_set1_epi32(-1))), _mm_xor_ps(m, f128(_mm_set1_epi32(-1)));
    /// One of both holds.
    either(a: M, b: M) -> M: a | b, _mm256_or_ps(a, b), _mm_or_ps(a, b);
    /// Both hold.
    both(a: M, b: M) -> M: a & b, _mm256_and_ps(a, b), _mm_and_ps(a, b);
    /// `yes` where the mask holds, else `no`.
    select(m: M, yes: V, no: V) -> V: _mm512_mask_blend_ps(m, no, yes), _mm256_blendv_ps(no, yes, m), _mm_blendv_ps(no, yes, m);
    /// Low halves of each quarter's pairs: `a0 b0 a1 b1`.
    low(a: V, b: V) -> V: _mm512_unpacklo_ps(a, b), _mm256_unpacklo_ps(a, b), _mm_unpacklo_ps(a, b);
    /// High halves: `a2 b2 a3 b3`.
    high(a: V, b: V) -> V: _mm512_unpackhi_ps(a, b), _mm256_unpackhi_ps(a, b), _mm_unpackhi_ps(a, b);
    /// First halves of each quarter: `a0 a1 b0 b1`.
    first(a: V, b: V) -> V: _mm512_shuffle_ps::<0x44>(a, b), _mm256_shuffle_ps::<0x44>(a, b), _mm_shuffle_ps::<0x44>(a, b);
    /// Second halves: `a2 a3 b2 b3`.
    second(a: V, b: V) -> V: _mm512_shuffle_ps::<0xee>(a, b), _mm256_shuffle_ps::<0xee>(a, b), _mm_shuffle_ps::<0xee>(a, b);
}

#[cfg(test)]
#[path = "../tests/unit/simd.rs"]
mod tests;
