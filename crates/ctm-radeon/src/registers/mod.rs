//! Every register that streams write, with its fields (tables), and lookups by offset and by name: a [`Table`] for each chip.
//!
//! | file | block |
//! |---|---|
//! | `vgt` | from indices to vertices |
//! | `sq` | programs, constants, rings |
//! | `spi` | from vertex exports to the registers of pixel programs |
//! | `clip`, `scan`, `setup` | clipping, scissors and samples, faces and points |
//! | `colour`, `depth` | targets |
//! | `texture`, `resource` | texture units, resources and samplers |
//! | `other` | registers without an effect on pictures here |
//!
//! A file has the R700's registers, and in its module `r500` those of the same subject of the R500.
//!
//! Registers that containers of programs also set are rows of [`ctm_image::r700::registers`] and come from there. Names, offsets and fields are
//! those of AMD's headers, which the open drivers share.

/// The named values of a field: a list, or the name of one.
macro_rules! named_values {
    ([$($code:literal $name:literal),*]) => { &[$($crate::table::value($code, $name)),*] };
    ($list:ident) => { $list };
}

/// Registers as rows:
///
/// ```text
/// CB_COLOR0_VIEW = 0x28080, 8 every 4, number, "its slices" {
///     SLICE_START 10:0 [] "first array slice";
/// }
/// ```
///
/// Each row becomes a module of its name with the register as `REGISTER` and each field as a constant of its name; all rows become `ROWS`.
macro_rules! registers {
    ($(
        $name:ident = $offset:literal, $count:literal every $stride:literal, $kind:ident, $doc:literal {
            $($field:ident $msb:literal : $lsb:literal $values:tt $field_doc:literal;)*
        }
    )*) => {
        $(
            #[doc = $doc]
            #[allow(non_snake_case, dead_code, reason = "the names of the registers; not every field has an effect")]
            pub(crate) mod $name {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the names of a table")]
                use crate::registers::values::*;
                #[allow(unused_imports, reason = "rows without fields")]
                use crate::table::{Bits, Register};
                use ctm_isa::table::Field;

                pub(crate) const FIELDS: &[Field] = &[$(Field {
                    name: stringify!($field),
                    msb: $msb,
                    lsb: $lsb,
                    doc: $field_doc,
                    values: named_values!($values),
                }),*];
                pub(crate) const REGISTER: &Register = &Register {
                    name: stringify!($name),
                    offset: $offset,
                    count: $count,
                    stride: $stride,
                    kind: crate::table::kinds::$kind,
                    doc: $doc,
                    fields: FIELDS,
                };
                $(
                    pub(crate) const $field: Bits = Bits {
                        register: REGISTER,
                        field: Field {
                            name: stringify!($field),
                            msb: $msb,
                            lsb: $lsb,
                            doc: $field_doc,
                            values: named_values!($values),
                        },
                    };
                )*
            }
        )*
        pub(in crate::registers) const ROWS: &[&crate::table::Register] = &[$($name::REGISTER),*];
    };
}

pub(crate) mod clip;
pub(crate) mod colour;
pub(crate) mod depth;
pub(crate) mod other;
pub(crate) mod resource;
pub(crate) mod scan;
pub(crate) mod setup;
pub(crate) mod spi;
pub(crate) mod sq;
pub(crate) mod texture;
pub(crate) mod values;
pub(crate) mod vgt;

use crate::table::{Register, RegisterKind};
use ctm_image::r700::registers as image;
use ctm_isa::table::Field;
use std::collections::HashMap;
use std::sync::OnceLock;

/// Byte offset of the first constant of the constant file: 256 of four dwords for pixel programs, then 256 for vertex programs.
pub const ALU_CONSTANTS: u32 = 0x30000;
/// Byte offset of the first word of the first fetch resource.
pub const RESOURCES: u32 = 0x38000;
/// Byte offset of the first word of the first sampler.
pub const SAMPLERS: u32 = 0x3c000;

const BLOCKS: &[&[&Register]] = &[
    vgt::ROWS,
    sq::ROWS,
    spi::ROWS,
    clip::ROWS,
    scan::ROWS,
    setup::ROWS,
    colour::ROWS,
    depth::ROWS,
    texture::ROWS,
    resource::ROWS,
    other::ROWS,
];

const R500_BLOCKS: &[&[&Register]] = &[
    vgt::r500::ROWS,
    sq::r500::ROWS,
    spi::r500::ROWS,
    clip::r500::ROWS,
    scan::r500::ROWS,
    setup::r500::ROWS,
    colour::r500::ROWS,
    depth::r500::ROWS,
    texture::r500::ROWS,
    other::r500::ROWS,
];

/// A register as a stream writes it: its name and number, its kind, its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name, with its number.
    pub name: String,
    /// Its kind.
    pub kind: RegisterKind,
    /// Its effect.
    pub doc: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// The registers of a chip.
#[derive(Debug)]
pub struct Table {
    /// Rows, block by block.
    blocks: &'static [&'static [&'static Register]],
    /// Rows of registers that containers of programs also set.
    containers: &'static [image::Register],
    /// Byte offset of the constant file; `None`: the chip has none among its registers.
    constant_file: Option<u32>,
    /// All registers by offset: of resources both the texture's and the buffer's words.
    by_offset: OnceLock<HashMap<u32, Vec<(&'static Register, u32)>>>,
    by_name: OnceLock<HashMap<String, u32>>,
    known: OnceLock<Vec<bool>>,
}

/// Of an R700.
pub static R700: Table = Table::new(BLOCKS, image::REGISTERS, Some(ALU_CONSTANTS));

/// Of an R500.
pub static R500: Table = Table::new(R500_BLOCKS, &[], None);

/// Words of one stage's constant file: 256 constants of four.
const CONSTANT_WORDS: u32 = 1024;
/// Stages of the constant file.
const CONSTANT_STAGES: [&str; 2] = ["PS", "VS"];
const ELEMENTS: [&str; 4] = ["X", "Y", "Z", "W"];

impl Table {
    const fn new(
        blocks: &'static [&'static [&'static Register]],
        containers: &'static [image::Register],
        constant_file: Option<u32>,
    ) -> Self {
        Self {
            blocks,
            containers,
            constant_file,
            by_offset: OnceLock::new(),
            by_name: OnceLock::new(),
            known: OnceLock::new(),
        }
    }

    /// Every row of its own, block by block.
    pub fn rows(&self) -> impl Iterator<Item = &'static Register> + use<> {
        self.blocks.iter().flat_map(|rows| rows.iter().copied())
    }

    fn by_offset(&self) -> &HashMap<u32, Vec<(&'static Register, u32)>> {
        self.by_offset.get_or_init(|| {
            let mut all: HashMap<u32, Vec<_>> = HashMap::new();
            for row in self.rows() {
                for index in 0..row.count {
                    all.entry(row.at(index)).or_default().push((row, index));
                }
            }
            all
        })
    }

    fn by_name(&self) -> &HashMap<String, u32> {
        self.by_name.get_or_init(|| {
            let of = |row: &'static Register| (0..row.count).map(move |n| (row.numbered(n), row.at(n)));
            let contained =
                |row: &'static image::Register| (0..row.count).map(move |n| (row.numbered(n), row.address + 4 * n));
            self.rows().flat_map(of).chain(self.containers.iter().flat_map(contained)).collect()
        })
    }

    /// The register at a byte offset. `buffer`: of the words of a resource, those of a buffer.
    #[must_use]
    pub fn at(&self, offset: u32, buffer: bool) -> Option<Named> {
        if let Some(rows) = self.by_offset().get(&offset) {
            let of = |wanted: bool| rows.iter().find(|row| row.0.name.starts_with("SQ_VTX_CONSTANT") == wanted);
            let (row, index) = of(buffer).or_else(|| of(false)).or_else(|| of(true))?;
            return Some(Named { name: row.numbered(*index), kind: row.kind, doc: row.doc, fields: row.fields });
        }
        if self.containers.is_empty() {
            return None;
        }
        let (row, index) = image::at(offset)?;
        let kind = if row.name.starts_with("SQ_PGM_START") { RegisterKind::Address } else { RegisterKind::Number };
        let fields = if row.format == image::Plain::FORMAT { &[] } else { row.format.fields };
        Some(Named { name: row.numbered(index), kind, doc: row.format.doc, fields })
    }

    /// Whether programs may write a register at a byte offset below the resources: it has a name.
    #[must_use]
    pub fn is_known(&self, offset: u32) -> bool {
        let known = self.known.get_or_init(|| {
            let known = |offset: u32| self.at(offset, false).is_some() || self.constant_at(offset).is_some();
            (0..RESOURCES / 4).map(|dword| known(4 * dword)).collect()
        });
        offset.is_multiple_of(4) && known.get(offset as usize / 4).copied().unwrap_or(false)
    }

    /// Whether a register takes a relocation: it has an address. Resources of an R700 do so by other rules.
    #[must_use]
    pub fn takes_relocation(&self, offset: u32) -> bool {
        self.by_offset().get(&offset).is_some_and(|rows| rows.iter().any(|(row, _)| row.kind == RegisterKind::Address))
    }

    /// The register of the constant file at a byte offset, and its element: `PS` or `VS`, constant, element.
    #[must_use]
    pub fn constant_at(&self, offset: u32) -> Option<(&'static str, u32, u32)> {
        let dword = offset.checked_sub(self.constant_file?)? / 4;
        let stage = CONSTANT_STAGES.get((dword / CONSTANT_WORDS) as usize)?;
        Some((stage, dword % CONSTANT_WORDS / 4, dword % 4))
    }

    /// The byte offset of the register with a name.
    #[must_use]
    pub fn offset_of(&self, name: &str) -> Option<u32> {
        if let (Some(first), Some(constant)) = (self.constant_file, name.strip_prefix("SQ_ALU_CONSTANT_")) {
            let (stage, rest) = constant.split_once('_')?;
            let (index, element) = rest.split_once('_')?;
            let element = u32::try_from(ELEMENTS.iter().position(|&e| e == element)?).ok()?;
            let stage = u32::try_from(CONSTANT_STAGES.iter().position(|&s| s == stage)?).ok()?;
            let index = index.parse::<u32>().ok().filter(|&index| index < CONSTANT_WORDS / 4)?;
            return Some(first + 4 * (CONSTANT_WORDS * stage + 4 * index + element));
        }
        self.by_name().get(name).copied()
    }

    /// The name at a byte offset, or the offset itself.
    #[must_use]
    pub fn name(&self, offset: u32) -> String {
        if let Some(named) = self.at(offset, false) {
            return named.name;
        }
        match self.constant_at(offset) {
            Some((stage, index, element)) => {
                format!("SQ_ALU_CONSTANT_{stage}_{index}_{}", ELEMENTS[element as usize % 4])
            }
            None => format!("0x{offset:05x}"),
        }
    }
}

/// Every row of the R700's own tables, block by block.
pub fn rows() -> impl Iterator<Item = &'static Register> {
    R700.rows()
}

/// [`Table::at`] of an R700.
#[must_use]
pub fn at(offset: u32, buffer: bool) -> Option<Named> {
    R700.at(offset, buffer)
}

/// [`Table::is_known`] of an R700.
#[must_use]
pub fn is_known(offset: u32) -> bool {
    R700.is_known(offset)
}

/// [`Table::offset_of`] of an R700.
#[must_use]
pub fn offset_of(name: &str) -> Option<u32> {
    R700.offset_of(name)
}

/// [`Table::name`] of an R700.
#[must_use]
pub fn name(offset: u32) -> String {
    R700.name(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_offsets_belong_together() {
        for (table, row) in [&R700, &R500].iter().flat_map(|table| table.rows().map(move |row| (table, row))) {
            for index in 0..row.count {
                let name = row.numbered(index);
                assert_eq!(table.offset_of(&name), Some(row.at(index)), "{name}");
                // The words of a resource have two names.
                assert!(table.name(row.at(index)) == name || name.starts_with("SQ_VTX_CONSTANT"), "{name}");
                assert_eq!(row.index_at(row.at(index)), Some(index));
            }
            assert_eq!(row.index_at(row.at(row.count)), None);
        }
        for row in image::REGISTERS {
            for index in 0..row.count {
                let name = row.numbered(index);
                assert_eq!(offset_of(&name), Some(row.address + 4 * index), "{name}");
                assert_eq!(at(row.address + 4 * index, false).map(|named| named.name), Some(name));
            }
        }
        assert_eq!(offset_of("SQ_ALU_CONSTANT_VS_255_W"), Some(0x31ffc));
        assert_eq!(name(0x31ffc), "SQ_ALU_CONSTANT_VS_255_W");
        assert_eq!(offset_of("CB_COLOR8_BASE"), None);
        assert_eq!(offset_of("CB_COLOR00_BASE"), None);
    }

    /// No two registers lie at one offset, but for the two forms of a resource's words; no two fields share a bit.
    #[test]
    fn rows_do_not_overlap() {
        let mut seen = std::collections::HashMap::new();
        let all = R700.rows().map(|row| (false, row)).chain(R500.rows().map(|row| (true, row)));
        for (chip, row) in all {
            for index in 0..row.count {
                let form = row.name.starts_with("SQ_VTX_CONSTANT");
                assert_eq!(seen.insert((row.at(index), form, chip), row.name), None, "{}", row.name);
                assert!(chip || image::at(row.at(index)).is_none(), "{} is a row of ctm-image too", row.name);
            }
            let mut bits = 0;
            for field in row.fields {
                assert_eq!(bits & field.mask(), 0, "{}.{}", row.name, field.name);
                bits |= field.mask();
                assert!(field.values.iter().all(|value| value.code <= field.mask() >> field.lsb));
            }
        }
    }
}
