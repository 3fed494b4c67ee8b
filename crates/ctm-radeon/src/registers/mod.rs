//! Every register that streams write, with its fields (tables), and finding them by offset and by name.
//!
//! | file | block |
//! |---|---|
//! | `vgt` | from indices to vertices |
//! | `sq` | programs, constants, rings |
//! | `spi` | from vertex exports to the registers of pixel programs |
//! | `clip`, `scan`, `setup` | clipping, scissors and samples, faces and points |
//! | `colour`, `depth` | targets |
//! | `texture`, `resource` | texture units, resources and samplers |
//! | `other` | what has no effect on pictures here |
//!
//! Registers that containers of programs also set are rows of [`ctm_image::r700::registers`] and come from there. Names, offsets and fields are
//! those of AMD's headers, which the open drivers share.

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

use crate::table::{Kind, Register};
use ctm_image::r700::registers as image;
use ctm_isa::table::Field;
use std::collections::HashMap;
use std::sync::LazyLock;

#[allow(non_upper_case_globals, reason = "what rows say")]
pub(crate) const number: Kind = Kind::Number;
#[allow(non_upper_case_globals, reason = "what rows say")]
pub(crate) const float: Kind = Kind::Float;
#[allow(non_upper_case_globals, reason = "what rows say")]
pub(crate) const address: Kind = Kind::Address;

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

/// A register as a stream writes it: its name and number, what it holds, its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Its name, with its number.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// What it does.
    pub doc: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// Every row of this room's own tables, block by block.
pub fn rows() -> impl Iterator<Item = &'static Register> {
    BLOCKS.iter().flat_map(|rows| rows.iter().copied())
}

/// All registers by offset: of resources both the texture's and the buffer's words.
static BY_OFFSET: LazyLock<HashMap<u32, Vec<(&'static Register, u32)>>> = LazyLock::new(|| {
    let mut all: HashMap<u32, Vec<_>> = HashMap::new();
    for row in rows() {
        for index in 0..row.count {
            all.entry(row.at(index)).or_default().push((row, index));
        }
    }
    all
});

/// Offsets by name.
static BY_NAME: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let all = rows().flat_map(|row| (0..row.count).map(|index| (row.numbered(index), row.at(index))));
    all.chain(
        image::REGISTERS
            .iter()
            .flat_map(|row| (0..row.count).map(|index| (row.numbered(index), row.address + 4 * index))),
    )
    .collect()
});

/// The register at a byte offset. `buffer`: of the words of a resource, those of a buffer.
#[must_use]
pub fn at(offset: u32, buffer: bool) -> Option<Named> {
    if let Some(rows) = BY_OFFSET.get(&offset) {
        let of = |wanted: bool| rows.iter().find(|row| row.0.name.starts_with("SQ_VTX_CONSTANT") == wanted);
        let (row, index) = of(buffer).or_else(|| of(false)).or_else(|| of(true))?;
        return Some(Named { name: row.numbered(*index), kind: row.kind, doc: row.doc, fields: row.fields });
    }
    let (row, index) = image::at(offset)?;
    let kind = if row.name.starts_with("SQ_PGM_START") { Kind::Address } else { Kind::Number };
    let fields = if row.format == image::Plain::FORMAT { &[] } else { row.format.fields };
    Some(Named { name: row.numbered(index), kind, doc: row.format.doc, fields })
}

/// Whether programs may write a register at a byte offset below the resources: it has a name.
#[must_use]
pub fn is_known(offset: u32) -> bool {
    static KNOWN: LazyLock<Vec<bool>> = LazyLock::new(|| {
        let known = |offset: u32| at(offset, false).is_some() || constant_at(offset).is_some();
        (0..RESOURCES / 4).map(|dword| known(4 * dword)).collect()
    });
    offset.is_multiple_of(4) && KNOWN.get(offset as usize / 4).copied().unwrap_or(false)
}

/// The register at a byte offset that has a name in the constant file, and which element of it: `PS` or `VS`, constant, element.
#[must_use]
pub fn constant_at(offset: u32) -> Option<(&'static str, u32, u32)> {
    let dword = offset.checked_sub(ALU_CONSTANTS)? / 4;
    (dword < 2048).then_some((if dword < 1024 { "PS" } else { "VS" }, dword % 1024 / 4, dword % 4))
}

/// The byte offset of the register with a name.
#[must_use]
pub fn offset_of(name: &str) -> Option<u32> {
    if let Some(constant) = name.strip_prefix("SQ_ALU_CONSTANT_") {
        let (stage, rest) = constant.split_once('_')?;
        let (index, element) = rest.split_once('_')?;
        let element = ["X", "Y", "Z", "W"].iter().position(|&e| e == element)?;
        let first = match stage {
            "PS" => 0,
            "VS" => 256,
            _ => return None,
        };
        let index = index.parse::<u32>().ok().filter(|&index| index < 256)?;
        return Some(ALU_CONSTANTS + 16 * (first + index) + 4 * u32::try_from(element).unwrap_or(0));
    }
    BY_NAME.get(name).copied()
}

/// The name at a byte offset, or the offset itself.
#[must_use]
pub fn name(offset: u32) -> String {
    if let Some(named) = at(offset, false) {
        return named.name;
    }
    match constant_at(offset) {
        Some((stage, index, element)) => {
            format!("SQ_ALU_CONSTANT_{stage}_{index}_{}", ["X", "Y", "Z", "W"][element as usize % 4])
        }
        None => format!("0x{offset:05x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_offsets_belong_together() {
        for row in rows() {
            for index in 0..row.count {
                let name = row.numbered(index);
                assert_eq!(offset_of(&name), Some(row.at(index)), "{name}");
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
        for row in rows() {
            for index in 0..row.count {
                let form = row.name.starts_with("SQ_VTX_CONSTANT");
                assert_eq!(seen.insert((row.at(index), form), row.name), None, "{}", row.name);
                assert!(image::at(row.at(index)).is_none(), "{} is a row of ctm-image too", row.name);
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
