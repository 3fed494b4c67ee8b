//! Ranges of memory with absolute addresses, as options name them: filled from files, shown, or saved.

use ctm::array::ItemType;
use std::path::PathBuf;

/// Addresses end here: the chips have 40 bits.
pub(crate) const LAST: u64 = 1 << 40;

/// Memory that is there: at an address, of a size, of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) address: u64,
    /// Without it as much as the file has.
    pub(crate) bytes: Option<u64>,
    pub(crate) file: Option<PathBuf>,
}

/// How bytes that are saved are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DumpFormat {
    pub(crate) name: &'static str,
    /// Bytes of an element.
    pub(crate) bytes: usize,
    /// Numbers of an element.
    pub(crate) channels: usize,
    pub(crate) items: RangeItems,
}

/// The numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeItems {
    /// Bytes that mean 0 to 1 in pictures; the order of the channels in memory.
    Bytes(&'static [usize]),
    /// Numbers of 32 bits.
    Words(ItemType),
}

#[rustfmt::skip]
const FORMATS: &[DumpFormat] = &[
    DumpFormat { name: "u8",      bytes: 1,  channels: 1, items: RangeItems::Bytes(&[0]) },
    DumpFormat { name: "u32",     bytes: 4,  channels: 1, items: RangeItems::Words(ItemType::Uint32) },
    DumpFormat { name: "i32",     bytes: 4,  channels: 1, items: RangeItems::Words(ItemType::Int32) },
    DumpFormat { name: "f32",     bytes: 4,  channels: 1, items: RangeItems::Words(ItemType::Float32) },
    DumpFormat { name: "rgba8",   bytes: 4,  channels: 4, items: RangeItems::Bytes(&[0, 1, 2, 3]) },
    DumpFormat { name: "bgra8",   bytes: 4,  channels: 4, items: RangeItems::Bytes(&[2, 1, 0, 3]) },
    DumpFormat { name: "rgba32f", bytes: 16, channels: 4, items: RangeItems::Words(ItemType::Float32) },
];

/// Memory that is shown or saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    pub(crate) address: u64,
    pub(crate) shape: DumpShape,
    pub(crate) file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DumpShape {
    Bytes(u64),
    /// Columns, rows and elements from one row to the next.
    Picture {
        size: [u64; 2],
        pitch: u64,
        format: DumpFormat,
    },
}

impl DumpShape {
    /// Bytes from the first to the last.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Picture { size: [width, height], pitch, format } => {
                let rows = height.saturating_sub(1).saturating_mul(pitch);
                rows.saturating_add(width).saturating_mul(format.bytes as u64)
            }
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| format!("`{text}` is no number; write 4096 or 0x1000"))
}

fn address(text: &str) -> Result<u64, String> {
    number(text).and_then(|at| if at < LAST { Ok(at) } else { Err(format!("{at:#x} is no address of 40 bits")) })
}

/// A number of bytes from an address on.
fn length(at: u64, text: &str) -> Result<u64, String> {
    let bytes = number(text)?;
    match at.checked_add(bytes) {
        _ if bytes == 0 => Err("0 bytes are asked for".into()),
        Some(end) if end <= LAST => Ok(bytes),
        _ => Err(format!("{bytes} bytes at {at:#x} end outside the 40 bits of addresses")),
    }
}

/// Parses `0x100000=vs.bin`, `0x200000:65536` or `0x100000:4096=vs.bin`.
pub(crate) fn memory(text: &str) -> Result<Range, String> {
    let (what, file) = text.split_once('=').map_or((text, None), |(what, file)| (what, Some(PathBuf::from(file))));
    let (at, bytes) = what.split_once(':').map_or((what, None), |(at, bytes)| (at, Some(bytes)));
    let at = address(at)?;
    let bytes = bytes.map(|bytes| length(at, bytes)).transpose()?;
    if bytes.is_none() && file.is_none() {
        return Err(format!("write {text}=FILE, or {text}:BYTES for bytes that are 0"));
    }
    Ok(Range { address: at, bytes, file })
}

/// Parses `0x104000:1024`, `0x104000:1024=out.raw` or `0x200000:64x64/64:rgba8=out.png`.
pub(crate) fn dump(text: &str) -> Result<Dump, String> {
    let (what, file) = text.split_once('=').map_or((text, None), |(what, file)| (what, Some(PathBuf::from(file))));
    let mut parts = what.split(':');
    let (at, size, format) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let at = address(at)?;
    let size = size.ok_or_else(|| format!("write {text}:BYTES, or {text}:WIDTHxHEIGHT:FORMAT"))?;
    if parts.next().is_some() {
        return Err("write ADDRESS:BYTES or ADDRESS:WIDTHxHEIGHT:FORMAT, and =FILE behind it".into());
    }
    let shape = match (size.split_once('x').filter(|(width, _)| *width != "0"), format) {
        (None, None) => DumpShape::Bytes(length(at, size)?),
        (_, Some(name)) => {
            let format = FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
                let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
                format!("`{name}` is no format; there are {}", names.join(", "))
            })?;
            let (width, rest) = size.split_once('x').ok_or("a format wants WIDTHxHEIGHT, as in 64x64")?;
            let (height, pitch) = rest.split_once('/').map_or((rest, None), |(rows, pitch)| (rows, Some(pitch)));
            let size = [number(width)?, number(height)?];
            let pitch = pitch.map_or(Ok(size[0]), number)?;
            if size.iter().any(|side| !(1..=16384).contains(side)) || !(size[0]..=1 << 20).contains(&pitch) {
                return Err(format!(
                    "{size:?} with a pitch of {pitch}: sides are 1 to 16384, a pitch is no less than the width"
                ));
            }
            DumpShape::Picture { size, pitch, format: *format }
        }
        (Some(_), None) => return Err("a picture wants a format, as in 64x64:rgba8".into()),
    };
    if at.checked_add(shape.bytes()).is_none_or(|end| end > LAST) {
        return Err(format!("{} bytes at {at:#x} end outside the 40 bits of addresses", shape.bytes()));
    }
    Ok(Dump { address: at, shape, file })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn flags_are_addresses_sizes_and_files() {
        let at = memory("0x100000=vs.bin").unwrap();
        assert_eq!((at.address, at.bytes, at.file.is_some()), (1 << 20, None, true));
        assert_eq!(memory("4096:0x100").unwrap(), Range { address: 4096, bytes: Some(256), file: None });
        assert!(memory("4096:8=x").unwrap().file.is_some());
        let picture = dump("0x200000:60x4/64:bgra8=a.png").unwrap();
        assert_eq!(picture.shape.bytes(), 4 * (3 * 64 + 60));
        assert_eq!(dump("0:16").unwrap().shape, DumpShape::Bytes(16));
        assert_eq!(dump("0:0x10").unwrap().shape, DumpShape::Bytes(16));
        for (text, told) in [
            ("0x100", "write 0x100=FILE, or 0x100:BYTES"),
            ("x=a", "`x` is no number"),
            ("0x10000000000=a", "no address of 40 bits"),
            ("0:0", "0 bytes are asked for"),
            ("0xffffffffff:2", "end outside the 40 bits"),
        ] {
            let found = memory(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
        for (text, told) in [
            ("0", "write 0:BYTES"),
            ("0:4x4", "a picture wants a format"),
            ("0:4x4:rgb", "there are u8, u32"),
            ("0:16:f32", "WIDTHxHEIGHT"),
            ("0:4x4/2:f32", "a pitch is no less than the width"),
            ("0:4:f32:4", "=FILE behind it"),
        ] {
            let found = dump(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
    }
}
