//! Elements of 8 and 16 bits, whole numbers that stand for 0 to 1, as numbers, and back.

use crate::codegen::x86::isa::Isa;
use ctm_exec::arrays::Form;

/// What has room for no fraction: the numbers added to it stand in its low bits.
const MAGIC: f32 = 8_388_608.0;

/// A whole number as a number: not divided by the largest, but multiplied by its reciprocal and by what that lacks, which rounds as the division does
/// for all whole numbers of 16 bits.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "rounded")]
fn number(whole: u16, largest: u16) -> [u8; 4] {
    let (whole, inverse) = (f32::from(whole), 1.0 / f64::from(largest));
    let reciprocal = inverse as f32;
    whole.mul_add(reciprocal, whole * (inverse - f64::from(reciprocal)) as f32).to_ne_bytes()
}

/// As [`ctm_exec::arrays::scaled`]: the number appears in the low bits of a sum that has no room for a fraction. FMA rounds once.
#[inline(always)]
pub fn scaled(bits: u32, most: u32) -> u32 {
    let value = f32::from_bits(bits);
    let above = if value > 0.0 { value } else { 0.0 };
    let inside = if above < 1.0 { above } else { 1.0 };
    inside.mul_add(most as f32, MAGIC).to_bits() & 0xffff
}

/// The same of a number in memory.
#[inline(always)]
fn whole(number: [u8; 4], largest: u16) -> u16 {
    scaled(u32::from_ne_bytes(number), largest.into()) as u16
}

/// Compiles a conversion for each instruction set.
macro_rules! for_each_isa {
    ($(#[$doc:meta])* $name:ident, $of:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The processor has the instruction set.
        #[allow(unsafe_code, reason = "instructions that a processor may lack")]
        pub unsafe fn $name(isa: Isa, form: Option<Form>, from: &[u8], to: &mut [u8]) {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
            fn avx512(form: Option<Form>, from: &[u8], to: &mut [u8]) {
                $of(form, from, to)
            }

            #[target_feature(enable = "avx2,fma")]
            fn avx2(form: Option<Form>, from: &[u8], to: &mut [u8]) {
                $of(form, from, to)
            }

            // SAFETY: as above.
            unsafe {
                match isa {
                    Isa::Avx512 => avx512(form, from, to),
                    Isa::Avx2 => avx2(form, from, to),
                }
            }
        }
    };
}

for_each_isa! {
    /// Whole numbers as numbers, as many as there are of both.
    load, loaded
}

for_each_isa! {
    /// Numbers as whole ones, as many as there are of both.
    store, stored
}

/// As [`load`]: loops that become vector code.
#[inline(always)]
fn loaded(form: Option<Form>, from: &[u8], to: &mut [u8]) {
    let (to, _) = to.as_chunks_mut::<4>();
    match form {
        Some(Form::Words) => {
            for (&word, to) in from.as_chunks().0.iter().zip(to) {
                *to = number(u16::from_le_bytes(word), u16::MAX);
            }
        }
        Some(Form::Bytes { swapped: false }) => {
            for (&byte, to) in from.iter().zip(to) {
                *to = number(byte.into(), 255);
            }
        }
        Some(Form::Bytes { swapped: true }) => {
            for (&[b, g, r, a], to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
                // A closure here would be compiled for any processor.
                *to = [number(r.into(), 255), number(g.into(), 255), number(b.into(), 255), number(a.into(), 255)];
            }
        }
        Some(Form::Floats | Form::Square) | None => {}
    }
}

/// As [`store`].
#[inline(always)]
fn stored(form: Option<Form>, from: &[u8], to: &mut [u8]) {
    let (from, _) = from.as_chunks::<4>();
    match form {
        Some(Form::Words) => {
            for (&from, to) in from.iter().zip(to.as_chunks_mut().0) {
                *to = whole(from, u16::MAX).to_le_bytes();
            }
        }
        Some(Form::Bytes { swapped: false }) => {
            for (&from, to) in from.iter().zip(to) {
                *to = whole(from, 255) as u8;
            }
        }
        Some(Form::Bytes { swapped: true }) => {
            for (&[r, g, b, a], to) in from.as_chunks().0.iter().zip(to.as_chunks_mut().0) {
                *to = [whole(b, 255) as u8, whole(g, 255) as u8, whole(r, 255) as u8, whole(a, 255) as u8];
            }
        }
        Some(Form::Floats | Form::Square) | None => {}
    }
}
