//! Many items of one format at once: small elements are converted by a table of all their values.

use super::formats::{Elements, Format, convert, element, elements, size_bytes};
use super::levels::NumberConstants;
use crate::fault::FaultKind;
use crate::float::ONE;
use ctm_isa::r700::ops::{EndianSwap, FormatComp, NumFormat, Sel};

/// Largest element whose values are all computed before, in bits.
const MOST_BITS: u32 = 11;

/// One element: where its bits begin, how many they are, and the table of its values, if it has one.
struct Field {
    at: u32,
    size: u32,
    table: Option<usize>,
}

/// How an element is changed after its conversion: its number (0 = x) and its bits.
pub type Change = fn(usize, u32) -> u32;

/// Converts items of a format as [`convert`] does, and changes each element after that.
pub struct Converter {
    format: Format,
    /// `None`: not at all.
    change: Option<Change>,
    bytes: usize,
    /// Empty for formats whose elements depend on each other.
    fields: Vec<Field>,
    tables: Vec<Vec<u32>>,
    /// Default of elements that the format lacks.
    missing: [u32; 4],
}

impl Converter {
    /// A converter of a format, for an approximate number of items: a few do not justify tables. `change` gets the number of an element (0 = x) and its bits.
    ///
    /// # Errors
    /// A format that cannot be fetched.
    pub fn new(format: Format, items: u64, change: Option<Change>) -> Result<Self, FaultKind> {
        let bytes = size_bytes(format.data)?;
        let nothing = convert(&format, &[])?;
        let missing = std::array::from_fn(|n| change.map_or(nothing[n], |change| change(n, nothing[n])));
        let mut all = Self { format, change, bytes, fields: Vec::new(), tables: Vec::new(), missing };
        if let Elements::Packed(sizes) | Elements::Float(sizes) = elements(format.data) {
            let mut at = 0;
            for (n, &size) in sizes.iter().enumerate() {
                let table = (size <= MOST_BITS && items >> size > 0).then(|| all.table(n, size));
                all.fields.push(Field { at, size, table });
                at += size;
            }
        }
        Ok(all)
    }

    /// The number of the table of an element.
    fn table(&mut self, n: usize, size: u32) -> usize {
        let table: Vec<u32> = (0..1u32 << size).map(|bits| self.value(n, size, bits)).collect();
        // Elements of one size mostly have the same values.
        self.tables.iter().position(|other| *other == table).unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        })
    }

    fn value(&self, n: usize, size: u32, bits: u32) -> u32 {
        self.changed(n, element(&self.format, bits, size))
    }

    fn changed(&self, n: usize, bits: u32) -> u32 {
        self.change.map_or(bits, |change| change(n, bits))
    }

    /// The elements of an item; bytes that it lacks are 0.
    ///
    /// # Errors
    /// None for a format that [`Self::new`] took.
    #[allow(clippy::cast_possible_truncation, reason = "cut to the element's bits")]
    pub fn item(&self, item: &[u8]) -> Result<[u32; 4], FaultKind> {
        if self.fields.is_empty() {
            let all = convert(&self.format, item)?;
            return Ok(std::array::from_fn(|n| self.changed(n, all[n])));
        }
        let mut result = self.missing;
        if let (Ok(whole), true) = (<[u8; 4]>::try_from(item), self.bytes == 4) {
            let whole = u32::from_le_bytes(whole);
            for (n, (field, place)) in self.fields.iter().zip(&mut result).enumerate() {
                *place = self.of(n, field, whole >> field.at & (u32::MAX >> (32 - field.size)));
            }
            return Ok(result);
        }
        let mut whole = [0u8; 16];
        for (place, byte) in whole.iter_mut().zip(item) {
            *place = *byte;
        }
        let whole = u128::from_le_bytes(whole);
        for (n, (field, place)) in self.fields.iter().zip(&mut result).enumerate() {
            *place = self.of(n, field, (whole >> field.at) as u32 & (u32::MAX >> (32 - field.size)));
        }
        Ok(result)
    }

    fn of(&self, n: usize, field: &Field, bits: u32) -> u32 {
        let found = field.table.and_then(|table| self.tables.get(table)?.get(bits as usize));
        found.copied().unwrap_or_else(|| self.value(n, field.size, bits))
    }
}

/// Items whose channels are converted one after the other.
const TOGETHER: usize = 64;

/// Entries of a table of [`Selected`].
const ENTRIES: usize = 1 << MOST_BITS;

/// How a selected element is found in an item.
#[derive(Clone, Copy, PartialEq)]
enum Channel {
    /// It is the entry of a table that these bits name.
    Entry { table: usize, at: u32, mask: u32 },
    /// It is a dword of the item.
    Dword { byte: usize },
    /// These bits are an unsigned fraction of the mask.
    Fraction { at: u32, mask: u32 },
    /// It is this element of the whole item.
    Element(usize),
}

/// Converts rows of items, and selects elements: see [`Converter`].
pub struct Selected {
    of: Converter,
    channels: [Channel; 4],
    /// The first channel that is equal to each.
    equal: [usize; 4],
    tables: Vec<[u32; ENTRIES]>,
    /// The same conversion, if the elements are fractions of 255.
    fractions: Option<SelectedBytes>,
}

impl Selected {
    /// Of a converter. `select`: which elements an instruction sees; `one`: the bits of 1.
    pub fn new(of: Converter, select: [Sel; 4], one: u32) -> Self {
        let channels = [Channel::Element(0); 4];
        let mut all = Self { of, channels, equal: [0; 4], tables: Vec::new(), fractions: None };
        all.channels = select.map(|sel| match sel {
            Sel::X | Sel::Y | Sel::Z | Sel::W => all.element(sel as usize),
            Sel::One => all.constant(one),
            Sel::Zero | Sel::Mask => all.constant(0),
        });
        all.equal =
            std::array::from_fn(|n| all.channels[..n].iter().position(|of| *of == all.channels[n]).unwrap_or(n));
        all.fractions = all.bytes(select, one);
        all
    }

    /// An element that is the same in all items: the one entry of a table.
    fn constant(&mut self, bits: u32) -> Channel {
        self.entry([bits; ENTRIES], 0, 0)
    }

    fn entry(&mut self, table: [u32; ENTRIES], at: u32, mask: u32) -> Channel {
        let known = self.tables.iter().position(|other| *other == table);
        let table = known.unwrap_or_else(|| {
            self.tables.push(table);
            self.tables.len() - 1
        });
        Channel::Entry { table, at, mask }
    }

    fn element(&mut self, n: usize) -> Channel {
        let Converter { format, change, fields, tables, missing, .. } = &self.of;
        let Some(&Field { at, size, table }) = fields.get(n) else {
            let bits = missing[n];
            return if fields.is_empty() { Channel::Element(n) } else { self.constant(bits) };
        };
        if let Some(values) = table.and_then(|table| tables.get(table)) {
            let mut entries = [0; ENTRIES];
            entries.iter_mut().zip(values).for_each(|(entry, value)| *entry = *value);
            return self.entry(entries, at, u32::MAX >> (32 - size));
        }
        // The quotient of two numbers that single precision holds, rounded once, is what rounding that of double precision gives.
        let fraction = (format.numbers, format.sign) == (NumFormat::Norm, FormatComp::Unsigned) && size <= 24;
        match (elements(format.data), change) {
            (Elements::Float(_), None) if size == 32 => Channel::Dword { byte: at as usize / 8 },
            (Elements::Packed(_), None) if fraction && at + size <= 32 => {
                Channel::Fraction { at, mask: u32::MAX >> (32 - size) }
            }
            _ => Channel::Element(n),
        }
    }

    /// The same conversion to fractions of 255, if all elements are such: bytes of the item, 0 or 1.
    pub fn bytes(&self, select: [Sel; 4], one: u32) -> Option<SelectedBytes> {
        let Converter { format, change, bytes, fields, .. } = &self.of;
        let is_fraction = (format.numbers, format.sign) == (NumFormat::Norm, FormatComp::Unsigned);
        let is_packed = matches!(elements(format.data), Elements::Packed(_));
        let is_plain = change.is_none() && format.endian == EndianSwap::None && one == ONE;
        if !is_fraction || !is_packed || !is_plain || !matches!(bytes, 1 | 2 | 4) {
            return None;
        }
        let field = |n: usize| match fields.get(n) {
            Some(&Field { at, size: 8, .. }) => Some((at, 0)),
            Some(_) => None,
            None => self.of.missing.get(n).and_then(|&bits| constant_byte(bits)),
        };
        let mut channels = [(0, 0); 4];
        for (channel, sel) in channels.iter_mut().zip(select) {
            *channel = match sel {
                Sel::X | Sel::Y | Sel::Z | Sel::W => field(sel as usize)?,
                Sel::One => constant_byte(ONE)?,
                Sel::Zero | Sel::Mask => constant_byte(0)?,
            };
        }
        Some(SelectedBytes { channels, bytes: *bytes })
    }

    /// The channel that is the same in all of these (bit 0 is the first) but those that are constant, if there is one.
    #[must_use]
    pub fn number(&self, channels: u8) -> Option<(usize, NumberConstants)> {
        let is_one = |n: usize| channels >> n & 1 == 1;
        let constant = |n: usize| match self.channels[n] {
            Channel::Entry { table, mask: 0, .. } => self.tables.get(table).map(|table| table[0]),
            _ => None,
        };
        let constants = std::array::from_fn(constant);
        let channel = (0..4).find(|&n| is_one(n) && constants[n].is_none())?;
        let is_shared = |n: usize| !is_one(n) || constants[n].is_some() || self.equal[n] == self.equal[channel];
        (0..4).all(is_shared).then_some((channel, constants))
    }

    /// Bytes of an item.
    pub const fn item_bytes(&self) -> usize {
        self.of.bytes
    }

    /// Converts one channel of items that follow each other, as many as there are of both.
    ///
    /// # Errors
    /// None for a format that [`Converter::new`] took.
    pub fn write_numbers(&self, channel: usize, items: &[u8], to: &mut [u32]) -> Result<(), FaultKind> {
        let channel = &self.channels[channel % 4];
        let to = to.iter_mut();
        match self.of.bytes {
            1 => self.write_channel(channel, items.as_chunks::<1>().0, to),
            2 => self.write_channel(channel, items.as_chunks::<2>().0, to),
            3 => self.write_channel(channel, items.as_chunks::<3>().0, to),
            4 => self.write_channel(channel, items.as_chunks::<4>().0, to),
            6 => self.write_channel(channel, items.as_chunks::<6>().0, to),
            8 => self.write_channel(channel, items.as_chunks::<8>().0, to),
            12 => self.write_channel(channel, items.as_chunks::<12>().0, to),
            _ => self.write_channel(channel, items.as_chunks::<16>().0, to),
        }
    }

    /// Converts items that follow each other, as many as there are of both.
    ///
    /// # Errors
    /// None for a format that [`Converter::new`] took.
    pub fn write(&self, items: &[u8], to: &mut [[u32; 4]]) -> Result<(), FaultKind> {
        if let Some(fractions) = &self.fractions {
            fractions.write_numbers(items, to);
            return Ok(());
        }
        match self.of.bytes {
            1 => self.write_items::<1>(items, to),
            2 => self.write_items::<2>(items, to),
            3 => self.write_items::<3>(items, to),
            4 => self.write_items::<4>(items, to),
            6 => self.write_items::<6>(items, to),
            8 => self.write_items::<8>(items, to),
            12 => self.write_items::<12>(items, to),
            _ => self.write_items::<16>(items, to),
        }
    }

    fn write_items<const BYTES: usize>(&self, items: &[u8], to: &mut [[u32; 4]]) -> Result<(), FaultKind> {
        let items = items.as_chunks::<BYTES>().0;
        let [table, at, mask] = match self.entries().filter(|_| BYTES <= 4) {
            Some(entries) => entries,
            None => {
                // Rows of channels first: loops over them become vectors.
                let mut rows = [[0; TOGETHER]; 4];
                for (items, texels) in items.chunks(TOGETHER).zip(to.chunks_mut(TOGETHER)) {
                    for (n, channel) in self.channels.iter().enumerate().filter(|(n, _)| self.equal[*n] == *n) {
                        self.write_channel(channel, items, rows[n].iter_mut())?;
                    }
                    let [x, y, z, w] = self.equal.map(|n| &rows[n]);
                    for (((texel, x), (y, z)), w) in texels.iter_mut().zip(x).zip(y.iter().zip(z)).zip(w) {
                        *texel = [*x, *y, *z, *w];
                    }
                }
                return Ok(());
            }
        };
        let tables = table.map(|table| &self.tables[table as usize]);
        for (item, texel) in items.iter().zip(to) {
            let whole = low(item);
            for n in 0..4 {
                // No mask has more bits than a table has entries.
                texel[n] = tables[n][(whole >> at[n] & mask[n]) as usize % ENTRIES];
            }
        }
        Ok(())
    }

    /// The tables, places and masks of the channels, if each has one.
    fn entries(&self) -> Option<[[u32; 4]; 3]> {
        let mut found = [[0; 4]; 3];
        for (n, channel) in self.channels.iter().enumerate() {
            let &Channel::Entry { table, at, mask } = channel else { return None };
            // Below the number of channels.
            (found[0][n], found[1][n], found[2][n]) = (u32::try_from(table).ok()?, at, mask);
        }
        found[1].iter().all(|&at| at < 32).then_some(found)
    }

    /// Converts one channel of items.
    #[inline]
    fn write_channel<'t, const BYTES: usize>(
        &self,
        channel: &Channel,
        items: &[[u8; BYTES]],
        to: impl Iterator<Item = &'t mut u32>,
    ) -> Result<(), FaultKind> {
        let each = items.iter().zip(to);
        match *channel {
            Channel::Entry { table, at, mask } => {
                let table = &self.tables[table];
                if mask == 0 {
                    each.for_each(|(_, to)| *to = table[0]);
                } else if at < 32 {
                    each.for_each(|(item, to)| *to = table[(low(item) >> at & mask) as usize % ENTRIES]);
                } else {
                    for (item, to) in each {
                        let whole = item.iter().rev().fold(0u128, |sum, &byte| sum << 8 | u128::from(byte));
                        #[allow(clippy::cast_possible_truncation, reason = "cut to the element's bits")]
                        let bits = (whole >> at) as u32 & mask;
                        *to = table[bits as usize % ENTRIES];
                    }
                }
            }
            Channel::Dword { byte } => each.for_each(|(item, to)| *to = item.get(byte..).map_or(0, low)),
            #[allow(clippy::cast_precision_loss, reason = "at most 24 bits")]
            Channel::Fraction { at, mask } => {
                let bits = |item| (low(item) >> at & mask).cast_signed();
                each.for_each(|(item, to)| *to = (bits(item) as f32 / mask as f32).to_bits());
            }
            Channel::Element(n) => {
                for (item, to) in each {
                    *to = self.of.item(item)?[n];
                }
            }
        }
        Ok(())
    }
}

/// The elements of a texel of bytes: fractions of 255.
#[must_use]
pub fn texel_of_bytes(bytes: [u8; 4]) -> [u32; 4] {
    bytes.map(|byte| fraction(byte.into()).to_bits())
}

/// A byte as a fraction of 255.
#[inline]
#[allow(clippy::cast_precision_loss, reason = "a byte")]
fn fraction(byte: u32) -> f32 {
    // Plain processors have no vectors of conversions of unsigned numbers.
    byte.cast_signed() as f32 / 255.0
}

/// A channel of [`SelectedBytes`] that is 0 or 1 in all items: no bits of them, and these.
fn constant_byte(bits: u32) -> Option<(u32, u32)> {
    match bits {
        0 => Some((NO_BITS, 0)),
        ONE => Some((NO_BITS, 0xff)),
        _ => None,
    }
}

/// A shift that leaves no bits of an item.
const NO_BITS: u32 = 32;

/// Selects bytes of items: see [`Selected::bytes`].
pub struct SelectedBytes {
    /// For each channel: where its bits begin in an item, and bits that are always set.
    channels: [(u32, u32); 4],
    bytes: usize,
}

impl SelectedBytes {
    /// Writes the bytes of items that follow each other, as many as there are of both.
    pub fn write(&self, items: &[u8], to: &mut [[u8; 4]]) {
        match self.bytes {
            1 => self.write_items::<1>(items, to),
            2 => self.write_items::<2>(items, to),
            _ => self.write_items::<4>(items, to),
        }
    }

    /// Writes the elements of items that follow each other as numbers, as many as there are of both.
    fn write_numbers(&self, items: &[u8], to: &mut [[u32; 4]]) {
        match self.bytes {
            1 => self.write_number_items::<1>(items, to),
            2 => self.write_number_items::<2>(items, to),
            _ => self.write_number_items::<4>(items, to),
        }
    }

    fn write_number_items<const BYTES: usize>(&self, items: &[u8], to: &mut [[u32; 4]]) {
        let items = items.as_chunks::<BYTES>().0;
        let items = &items[..items.len().min(to.len())];
        let channels = self.channels.map(|(shift, all)| (shift % NO_BITS, if shift < NO_BITS { 0xff } else { 0 }, all));
        let (fours, rest) = items.as_chunks::<4>();
        let (texels, last) = to.split_at_mut(4 * fours.len());
        for (four, texels) in fours.iter().zip(texels.as_chunks_mut::<4>().0) {
            let whole = four.each_ref().map(|item| low(item));
            let mut rows = [[0.0; 4]; 4];
            for (row, (shift, mask, all)) in rows.iter_mut().zip(channels) {
                for (number, whole) in row.iter_mut().zip(whole) {
                    *number = fraction(whole >> shift & mask | all);
                }
            }
            for (n, texel) in texels.iter_mut().enumerate() {
                *texel = rows.map(|row| row[n].to_bits());
            }
        }
        for (item, texel) in rest.iter().zip(last) {
            let whole = low(item);
            *texel = channels.map(|(shift, mask, all)| fraction(whole >> shift & mask | all).to_bits());
        }
    }

    #[allow(clippy::cast_possible_truncation, reason = "cut to the element's bits")]
    fn write_items<const BYTES: usize>(&self, items: &[u8], to: &mut [[u8; 4]]) {
        let all = self.channels.map(|(_, bits)| bits as u8);
        let shifts = self.channels.map(|(shift, _)| shift);
        for (item, texel) in items.as_chunks::<BYTES>().0.iter().zip(to) {
            let whole = u64::from(low(item));
            *texel = std::array::from_fn(|n| (whole >> shifts[n]) as u8 | all[n]);
        }
    }
}

/// The first four bytes, lowest first; those that there are not are 0.
#[inline]
fn low(item: &[u8]) -> u32 {
    let (mut four, count) = ([0; 4], item.len().min(4));
    four[..count].copy_from_slice(&item[..count]);
    u32::from_le_bytes(four)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::r700::NumberTexels;
    use ctm_isa::r700::ops::{DataFormat, SrfMode};
    use ctm_isa::table::FieldValue;

    #[test]
    fn items_are_what_convert_gives() {
        // Not a multiple of those that are converted together.
        const ITEMS: usize = 23;
        let (mut of_bytes, mut of_numbers) = (0, 0);
        let mut seed = 1u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 8
        };
        for data in (0..64).filter_map(DataFormat::from_bits).filter(|&data| size_bytes(data).is_ok()) {
            for numbers in [NumFormat::Norm, NumFormat::Int, NumFormat::Scaled] {
                for sign in [FormatComp::Unsigned, FormatComp::Signed] {
                    for srf in [SrfMode::ZeroClampMinusOne, SrfMode::NoZero] {
                        let format = Format { data, numbers, sign, srf, endian: EndianSwap::None };
                        let change: Change = |n, bits| if n < 3 { bits ^ 5 } else { bits };
                        for many in [true, false] {
                            let items = if many { 1 << MOST_BITS } else { 1 };
                            for change in [None, Some(change)] {
                                let new = || Converter::new(format, items, change);
                                let Ok(converter) = new() else { panic!("{data:?}") };
                                let any = [Sel::X, Sel::Y, Sel::Z, Sel::W, Sel::Zero, Sel::One];
                                let select: [Sel; 4] = std::array::from_fn(|_| any[random() as usize % 6]);
                                let Ok(selected) = new().map(|of| Selected::new(of, select, 77)) else { panic!() };
                                let row: Vec<u8> = (0..ITEMS * converter.bytes).map(|_| random() as u8).collect();
                                let Ok(of_one) = new().map(|of| Selected::new(of, select, ONE)) else { panic!() };
                                if let Some(bytes) = of_one.bytes(select, ONE) {
                                    let (mut found, mut texels) = ([[0; 4]; ITEMS], [[0; 4]; ITEMS]);
                                    bytes.write(&row, &mut found);
                                    assert_eq!(of_one.write(&row, &mut texels), Ok(()));
                                    assert_eq!(found.map(texel_of_bytes), texels, "{format:?} {select:?}");
                                    of_bytes += 1;
                                }
                                let mut texels = [[0; 4]; ITEMS];
                                assert_eq!(selected.write(&row, &mut texels), Ok(()));
                                for channel in 0..4 {
                                    let mut numbers = [0; ITEMS];
                                    assert_eq!(selected.write_numbers(channel, &row, &mut numbers), Ok(()));
                                    assert_eq!(numbers, texels.map(|texel| texel[channel]), "{format:?} {select:?}");
                                }
                                let channels = 1 + (random() % 15) as u8;
                                if let Some((channel, constants)) = selected.number(channels) {
                                    for texel in texels {
                                        let whole = NumberTexels::texel(constants, texel[channel]);
                                        let same = |n: usize| whole[n] == texel[n] || channels >> n & 1 == 0;
                                        assert!((0..4).all(same), "{format:?} {select:?}");
                                    }
                                    of_numbers += 1;
                                }
                                let mut plain = [[0; 4]; ITEMS];
                                assert_eq!(of_one.write(&row, &mut plain), Ok(()));
                                for ((item, texel), plain) in row.chunks(converter.bytes).zip(texels).zip(plain) {
                                    let all = convert(&format, item).unwrap_or_default();
                                    let expected: [u32; 4] =
                                        std::array::from_fn(|n| change.map_or(all[n], |change| change(n, all[n])));
                                    assert_eq!(converter.item(item), Ok(expected), "{format:?} {item:?}");
                                    let of = |one: u32| {
                                        select.map(|sel| match sel {
                                            Sel::Zero | Sel::Mask => 0,
                                            Sel::One => one,
                                            sel => expected[sel as usize],
                                        })
                                    };
                                    assert_eq!(texel, of(77), "{format:?} {item:?} {select:?}");
                                    assert_eq!(plain, of(ONE), "{format:?} {item:?} {select:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
        assert!(of_bytes > 10, "{of_bytes} formats of bytes");
        assert!(of_numbers > 10, "{of_numbers} formats of one number");
    }
}
