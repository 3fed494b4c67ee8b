//! Colours of fractions of 1 to 16 bits, many at a time: loops that compilers vectorise, with the results of [`Colours::pack`] and
//! [`Colours::unpack`].

use super::{A, ChannelRow, Colours, FieldKind, NumberType, TOGETHER};

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

    /// Channel, lowest bit and size of each field.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (usize, u32, u32)> + use<> {
        self.fields.into_iter().flatten()
    }

    /// Colours, channel by channel. `FMA`: `mul_add` is an instruction.
    #[inline(always)]
    pub(crate) fn unpack<const FMA: bool>(&self, from: &Dwords, rgba: &mut [ChannelRow; 4]) {
        let mut there = [false; 4];
        for &(channel, at, size) in self.fields.iter().flatten() {
            there[channel] = true;
            let dwords = if at < 32 { &from.first } else { &from.second };
            let (at, all) = (at % 32, u32::MAX >> (32 - size));
            let most = all as f32;
            let inverse = 1.0 / most;
            for (to, &dword) in rgba[channel].iter_mut().zip(dwords) {
                *to = number::<FMA>((dword >> at & all).cast_signed() as f32, most, inverse);
            }
        }
        for (channel, row) in rgba.iter_mut().enumerate().filter(|(channel, _)| !there[*channel]) {
            row.fill(if channel == A { 1.0 } else { 0.0 });
        }
    }

    /// Stored elements of colours, channel by channel.
    #[inline(always)]
    pub(crate) fn pack<const FMA: bool>(&self, rgba: &[ChannelRow; 4], to: &mut Dwords) {
        self.pack_each::<FMA>(to, |channel, tell| {
            rgba[channel].iter().enumerate().for_each(|(n, &value)| tell.of(n, value));
        });
    }

    /// Stored elements of the colours of which `each` tells a channel, pixel by pixel.
    #[inline(always)]
    pub(crate) fn pack_each<const FMA: bool>(&self, to: &mut Dwords, each: impl Fn(usize, &mut Packer<'_, FMA>)) {
        *to = Dwords::ZERO;
        for &(channel, at, size) in self.fields.iter().flatten() {
            let dwords = if at < 32 { &mut to.first } else { &mut to.second };
            let all = u32::MAX >> (32 - size);
            each(
                channel,
                &mut Packer { dwords, at: at % 32, all, most: all as f32, one: if size == 1 { 0.5 } else { 1.0 } },
            );
        }
    }
}

/// The fraction of a field's bits: the nearest number to their quotient.
#[inline(always)]
fn number<const FMA: bool>(bits: f32, most: f32, inverse: f32) -> f32 {
    if FMA {
        // A product, and what it lacks.
        let nearly = bits * inverse;
        (-nearly).mul_add(most, bits).mul_add(inverse, nearly)
    } else {
        bits / most
    }
}

/// Puts the fractions of a channel into dwords.
pub(crate) struct Packer<'d, const FMA: bool> {
    dwords: &'d mut [u32; TOGETHER],
    at: u32,
    all: u32,
    most: f32,
    /// Numbers from here on are 1: of one bit the half, otherwise 1.
    one: f32,
}

impl<const FMA: bool> Packer<'_, FMA> {
    /// The fraction of a pixel, which is limited to 0 to 1.
    #[inline(always)]
    pub(crate) fn of(&mut self, n: usize, value: f32) {
        // NaN becomes 0.
        let value = if value > 0.0 { value } else { 0.0 };
        let value = if value < self.one { value } else { 1.0 };
        // The sum of the exact product and a power of two whose neighbours are whole numbers apart is rounded to a whole number, which the low bits are then. The only fraction whose
        // product lies in the middle of two is a half: the even one of both is the one away from zero.
        let rounded = if FMA {
            value.mul_add(self.most, (1u32 << 23) as f32).to_bits()
        } else {
            (f64::from(value) * f64::from(self.most) + (1u64 << 52) as f64).to_bits() as u32
        };
        self.dwords[n] |= (rounded & self.all) << self.at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::format::{ColourFormat, Swap};
    use ctm_isa::r700::ops::DataFormat;

    // Code for FMA is only used where `f32::mul_add` rounds once.
    #[cfg(not(target_arch = "x86_64"))]
    const FUSES: bool = true;
    #[cfg(target_arch = "x86_64")]
    use ctm_x86::simd::FUSES;

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
                fractions.unpack::<false>(&dwords, &mut rows);
                let mut other = [[0.0; TOGETHER]; 4];
                fractions.unpack::<FUSES>(&dwords, &mut other);
                assert_eq!(rows, other);
                for (n, of) in bytes.chunks(colours.bytes()).enumerate() {
                    let bits = of.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte));
                    assert_eq!([0, 1, 2, 3].map(|c: usize| rows[c][n].to_bits()), colours.unpack(bits), "{colours:?}");
                }
                let odd = [f32::NAN, -1.0, -0.0, 0.5, 1.0, 2.0, f32::INFINITY, 1e-30, 0.499_999_97, 0.999_999_9];
                for row in &mut rows {
                    row.iter_mut().for_each(|x| *x = (random() >> 40) as f32 / 16_777_216.0);
                    row[round % TOGETHER] = odd[round % odd.len()];
                }
                let mut other = Dwords::ZERO;
                fractions.pack::<FUSES>(&rows, &mut other);
                fractions.pack::<false>(&rows, &mut dwords);
                assert_eq!((dwords.first, dwords.second), (other.first, other.second));
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

    /// Truth: the quotient.
    #[test]
    fn fractions_are_quotients() {
        for size in 1..=16 {
            let most = (u32::MAX >> (32 - size)) as f32;
            for bits in 0..1u32 << size {
                let found = number::<FUSES>(bits as f32, most, 1.0 / most);
                assert_eq!(found.to_bits(), (bits as f32 / most).to_bits(), "{bits} of {size} bits");
            }
        }
    }
}
