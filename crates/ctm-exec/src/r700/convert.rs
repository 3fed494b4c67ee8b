//! Many items of one format at once: small elements are converted by a table of all their values.

use super::formats::{Elements, Format, convert, element, elements, size_bytes};
use crate::engine::FaultKind;

/// Largest element whose values are all computed before, in bits.
const MOST_BITS: u32 = 11;

/// One element: where its bits begin, how many they are, and the table of its values, if it has one.
struct Field {
    at: u32,
    size: u32,
    table: Option<usize>,
}

/// Converts items of a format as [`convert`] does, and changes each element after that.
pub struct Converter<'a> {
    format: &'a Format,
    change: &'a dyn Fn(usize, u32) -> u32,
    bytes: usize,
    /// Empty for formats whose elements depend on each other.
    fields: Vec<Field>,
    tables: Vec<Vec<u32>>,
    /// Default of elements that the format lacks.
    missing: [u32; 4],
}

impl<'a> Converter<'a> {
    /// A converter of a format, for an approximate number of items: a few do not justify tables. `change` gets the number of an element (0 = x) and its bits.
    ///
    /// # Errors
    /// A format that cannot be fetched.
    pub fn new(format: &'a Format, items: u64, change: &'a dyn Fn(usize, u32) -> u32) -> Result<Self, FaultKind> {
        let bytes = size_bytes(format.data)?;
        let nothing = convert(format, &[])?;
        let missing = std::array::from_fn(|n| change(n, nothing[n]));
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
        (self.change)(n, element(self.format, bits, size))
    }

    /// The elements of an item; bytes that it lacks are 0.
    ///
    /// # Errors
    /// None for a format that [`Self::new`] took.
    #[allow(clippy::cast_possible_truncation, reason = "cut to the element's bits")]
    pub fn item(&self, item: &[u8]) -> Result<[u32; 4], FaultKind> {
        if self.fields.is_empty() {
            let all = convert(self.format, item)?;
            return Ok(std::array::from_fn(|n| (self.change)(n, all[n])));
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

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, SrfMode};
    use ctm_isa::table::FieldValue;

    #[test]
    fn items_are_what_convert_gives() {
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
                        let change = |n: usize, bits: u32| if n < 3 { bits ^ 5 } else { bits };
                        for many in [true, false] {
                            let items = if many { 1 << MOST_BITS } else { 1 };
                            let Ok(converter) = Converter::new(&format, items, &change) else { panic!("{data:?}") };
                            for _ in 0..20 {
                                let item: Vec<u8> = (0..converter.bytes).map(|_| random() as u8).collect();
                                let all = convert(&format, &item).unwrap_or_default();
                                let expected: [u32; 4] = std::array::from_fn(|n| change(n, all[n]));
                                assert_eq!(converter.item(&item), Ok(expected), "{format:?} {item:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
