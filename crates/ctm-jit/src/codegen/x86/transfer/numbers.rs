//! Elements of 8 and 16 bits, integers that represent 0 to 1, as numbers, and back.

use ctm_exec::arrays::Form;
use ctm_exec::float::{INFINITY, ONE, WideResult};
use ctm_x86::simd::{Do, FUSES, Simd};

/// A number without room for a fraction: integers added to it are in its low bits.
const MAGIC: f32 = 8_388_608.0;

/// A product and a sum, rounded once.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "rounded")]
fn fused(a: f32, b: f32, c: f32) -> f32 {
    if FUSES { a.mul_add(b, c) } else { WideResult::sum(f64::from(a) * f64::from(b), f64::from(c)).get() as f32 }
}

/// An integer as a number: not divided by the largest, but multiplied by its reciprocal and by that reciprocal's error,
/// which rounds as the division does for all integers of 16 bits.
#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "rounded")]
fn number(whole: u16, largest: u16) -> [u8; 4] {
    let (whole, inverse) = (f32::from(whole), 1.0 / f64::from(largest));
    let reciprocal = inverse as f32;
    fused(whole, reciprocal, whole * (inverse - f64::from(reciprocal)) as f32).to_ne_bytes()
}

/// As [`ctm_exec::arrays::scaled`]: the number appears in the low bits of a sum that has no room for a fraction. FMA rounds once.
#[inline(always)]
pub fn scaled(bits: u32, most: u32) -> u32 {
    // As integers: compilers would make minima of numbers, which on ARM give 1 for signalling NaNs. Negative numbers and NaNs are above infinity.
    let inside = if bits > INFINITY { 0 } else { bits.min(ONE) };
    fused(f32::from_bits(inside), most as f32, MAGIC).to_bits() & 0xffff
}

/// The same of a number in memory.
#[inline(always)]
fn whole(number: [u8; 4], largest: u16) -> u16 {
    scaled(u32::from_ne_bytes(number), largest.into()) as u16
}

/// Elements of this form as numbers, as many as both slices have: loops that are vectorised.
pub struct Load<'a>(pub Option<Form>, pub &'a [u8], pub &'a mut [u8]);

/// Numbers as elements of this form, in the same way.
pub struct Store<'a>(pub Option<Form>, pub &'a [u8], pub &'a mut [u8]);

impl Do for Load<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        load(self.0, self.1, self.2);
        true
    }
}

impl Do for Store<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        store(self.0, self.1, self.2);
        true
    }
}

#[inline(always)]
fn load(form: Option<Form>, from: &[u8], to: &mut [u8]) {
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

#[inline(always)]
fn store(form: Option<Form>, from: &[u8], to: &mut [u8]) {
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

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/transfer/numbers.rs"]
mod tests;
