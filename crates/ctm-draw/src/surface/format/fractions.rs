//! Colours of fractions of 1 to 16 bits, many at a time: loops that compilers vectorise, with the results of [`Colours::pack`] and
//! [`Colours::unpack`].

use super::{A, Colours, FieldKind, NumberType, Row, TOGETHER};
use crate::lanes::mask;

/// Elements side by side: their first and their second dwords.
#[derive(Clone)]
pub(crate) struct Dwords {
    pub(crate) first: [u32; TOGETHER],
    pub(crate) second: [u32; TOGETHER],
}

impl Dwords {
    pub(crate) const ZERO: Self = Self { first: [0; TOGETHER], second: [0; TOGETHER] };

    /// Of elements of 1, 2, 4 or 8 bytes.
    #[inline(always)]
    pub(crate) fn load(&mut self, bytes: &[u8], size: usize) {
        let first = self.first.iter_mut();
        match size {
            1 => first.zip(bytes).for_each(|(to, &one)| *to = one.into()),
            2 => first.zip(bytes.as_chunks().0).for_each(|(to, &two)| *to = u16::from_le_bytes(two).into()),
            4 => first.zip(bytes.as_chunks().0).for_each(|(to, &four)| *to = u32::from_le_bytes(four)),
            _ => {
                for ((first, second), &eight) in first.zip(&mut self.second).zip(bytes.as_chunks().0) {
                    let both = u64::from_le_bytes(eight);
                    (*first, *second) = (both as u32, (both >> 32) as u32);
                }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn store(&self, bytes: &mut [u8], size: usize) {
        let first = self.first.iter();
        match size {
            1 => first.zip(bytes).for_each(|(&new, to)| *to = new as u8),
            2 => first.zip(bytes.as_chunks_mut().0).for_each(|(&new, to)| *to = (new as u16).to_le_bytes()),
            4 => first.zip(bytes.as_chunks_mut().0).for_each(|(&new, to)| *to = new.to_le_bytes()),
            _ => {
                for ((&first, &second), to) in first.zip(&self.second).zip(bytes.as_chunks_mut().0) {
                    *to = (u64::from(second) << 32 | u64::from(first)).to_le_bytes();
                }
            }
        }
    }
}

/// The fields of such a format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fractions {
    /// Channel, lowest bit and size.
    fields: [Option<(usize, u32, u32)>; 4],
}

impl Fractions {
    /// Of a format; `None` of others.
    pub(crate) fn of(colours: &Colours) -> Option<Self> {
        let is_fraction = |kind| kind == FieldKind::Number(NumberType::Unorm);
        let fits = |size: u32, at: u32| size <= 16 && at / 32 == (at + size - 1) / 32;
        let fields = colours.fields.iter().flatten();
        let all = colours.bytes <= 8 && fields.clone().all(|of| is_fraction(of.kind) && fits(of.size, of.at));
        let fields = colours.fields.map(|field| field.map(|field| (field.channel, field.at, field.size)));
        all.then_some(Self { fields })
    }

    /// Colours, channel by channel.
    #[inline(always)]
    pub(crate) fn unpack(&self, from: &Dwords, rgba: &mut [Row; 4]) {
        for (channel, row) in rgba.iter_mut().enumerate() {
            row.fill(if channel == A { 1.0 } else { 0.0 });
        }
        for &(channel, at, size) in self.fields.iter().flatten() {
            let dwords = if at < 32 { &from.first } else { &from.second };
            let (at, all) = (at % 32, u32::MAX >> (32 - size));
            let most = all as f32;
            for (to, &dword) in rgba[channel].iter_mut().zip(dwords) {
                *to = (dword >> at & all).cast_signed() as f32 / most;
            }
        }
    }

    /// Stored elements of colours, channel by channel.
    #[inline(always)]
    pub(crate) fn pack(&self, rgba: &[Row; 4], to: &mut Dwords) {
        *to = Dwords::ZERO;
        for &(channel, at, size) in self.fields.iter().flatten() {
            let dwords = if at < 32 { &mut to.first } else { &mut to.second };
            let (at, all) = (at % 32, u32::MAX >> (32 - size));
            let most = f64::from(all);
            for (to, &value) in dwords.iter_mut().zip(&rgba[channel]) {
                // NaN becomes 0.
                let value = if value > 0.0 { value } else { 0.0 };
                let value = if value < 1.0 { value } else { 1.0 };
                // The product is exact. Added to 2^52 it is rounded to a whole number, which the low bits are then. The only fraction whose product lies in the middle of two
                // is a half: the even one of both is the one away from zero, but for one bit.
                let rounded = (f64::from(value) * most + (1u64 << 52) as f64).to_bits() as u32;
                let bit = mask(value >= 0.5) & 1;
                *to |= (if size == 1 { bit } else { rounded & all }) << at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::format::{ColourFormat, Swap};
    use ctm_isa::r700::ops::DataFormat;

    /// Truth: the functions of one colour.
    #[test]
    fn rows_are_packed_as_colours_are() {
        let mut formats = 0;
        for (&data, swap) in DataFormat::ALL
            .iter()
            .flat_map(|data| [Swap::Std, Swap::Alt, Swap::StdRev, Swap::AltRev].map(|swap| (data, swap)))
        {
            let Ok(colours) = Colours::new(ColourFormat { data, number: NumberType::Unorm, swap }) else { continue };
            let Some(fractions) = Fractions::of(&colours) else { continue };
            formats += 1;
            let mut state = 0x9e37_79b9_7f4a_7c15u64;
            for round in 0..40 {
                let mut random = || {
                    state = state.wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(29) ^ 0x5a5a;
                    state
                };
                let bytes: Vec<u8> = (0..TOGETHER * colours.bytes()).map(|_| random() as u8).collect();
                let (mut dwords, mut rows) = (Dwords::ZERO, [[0.0; TOGETHER]; 4]);
                dwords.load(&bytes, colours.bytes());
                fractions.unpack(&dwords, &mut rows);
                for (n, of) in bytes.chunks(colours.bytes()).enumerate() {
                    let bits = of.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                    assert_eq!([0, 1, 2, 3].map(|c: usize| rows[c][n].to_bits()), colours.unpack(bits), "{colours:?}");
                }
                let odd = [f32::NAN, -1.0, -0.0, 0.5, 1.0, 2.0, f32::INFINITY, 1e-30, 0.499_999_97, 0.999_999_9];
                for row in &mut rows {
                    row.iter_mut().for_each(|x| *x = (random() >> 40) as f32 / 16_777_216.0);
                    row[round % TOGETHER] = odd[round % odd.len()];
                }
                fractions.pack(&rows, &mut dwords);
                let mut packed = vec![0; bytes.len()];
                dwords.store(&mut packed, colours.bytes());
                for (n, of) in packed.chunks(colours.bytes()).enumerate() {
                    let bits = colours.pack([0, 1, 2, 3].map(|c: usize| rows[c][n].to_bits()), false);
                    assert_eq!(of, &bits.to_le_bytes()[..colours.bytes()], "{colours:?}, {n}");
                }
            }
        }
        assert!(formats > 30, "{formats}");
    }
}
