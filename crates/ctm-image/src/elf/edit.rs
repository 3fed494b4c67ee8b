//! Putting other contents into a section of a file that otherwise stays as it is.

use super::fields::{ehdr, phdr, shdr, sym};
use super::write::put;
use super::{Elf, SHT_NOBITS, SHT_SYMTAB};
use crate::error::ImageError;

/// A file with one section's contents replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new file.
    pub bytes: Vec<u8>,
    /// Contents at this offset or after it ...
    pub from: u64,
    /// ... has moved by this many bytes.
    pub moved: u64,
}

/// Replaces the contents of the section at `index`. Later sections move up when they are longer; a gap of zeros stays when
/// they are shorter. Headers and the sizes of symbols that span the section follow; contents of the same size change
/// nothing else.
///
/// # Errors
/// There is no such section in the file, or the file grows beyond 32-bit offsets.
pub fn replace_section(elf: &Elf<'_>, index: usize, contents: &[u8]) -> Result<Edited, ImageError> {
    let section = elf.sections.get(index).filter(|s| s.kind != SHT_NOBITS && s.kind != 0).ok_or_else(|| {
        let message = format!("the file has no section {index} with contents");
        ImageError::Unstorable { what: "a section", message }
    })?;
    let (old, new) = (section.range.end - section.range.start, contents.len() as u64);
    let source = elf.input.bytes;
    // A gap that is a multiple of every alignment keeps later sections aligned.
    let moved = match new.checked_sub(old) {
        Some(0) | None => 0,
        Some(more) => {
            let aligns = elf.sections.iter().map(|s| u64::from(s.align)).filter(|a| a.is_power_of_two() && *a <= 4096);
            more.next_multiple_of(aligns.fold(16, u64::max))
        }
    };
    let from = section.range.end;
    if source.len() as u64 + moved > u64::from(u32::MAX) {
        let (found, allowed) = (source.len() as u64 + moved, u64::from(u32::MAX));
        return Err(ImageError::TooMany { what: "bytes", found, allowed });
    }
    let (start, end) = (section.range.start as usize, from as usize);
    let mut out = source[..start].to_vec();
    out.extend(contents);
    out.resize((from + moved).max(start as u64 + new) as usize, 0);
    out.extend(&source[end..]);
    let shift = |offset: u64| if offset >= from { offset + moved } else { offset };

    for field in [ehdr::PHOFF, ehdr::SHOFF] {
        put(&mut out, 0, field, shift(elf.header.get(field)));
    }
    for segment in &elf.segments {
        let at = shift(segment.at);
        let (s, e) = (segment.range.start, segment.range.end);
        let contains = s <= section.range.start && e >= from && s < e;
        let size = match (contains, e == from) {
            (false, _) => e - s,
            (true, true) => section.range.start - s + new,
            (true, false) => e - s + moved,
        };
        let offset = if contains { s } else { shift(s) };
        put(&mut out, at, phdr::OFFSET, offset);
        if contains {
            put(&mut out, at, phdr::FILESZ, size);
            let memory = segment.memory_size.saturating_sub(e - s) + size;
            put(&mut out, at, phdr::MEMSZ, memory);
        }
    }
    for (i, other) in elf.sections.iter().enumerate() {
        let at = shift(other.at);
        if i == index {
            put(&mut out, at, shdr::OFFSET, section.range.start);
            put(&mut out, at, shdr::SIZE_BYTES, new);
        } else if other.kind != 0 {
            // Not the range's start: an empty section keeps whatever offset it names.
            let offset = u64::from(elf.input.u32(shdr::OFFSET.name, other.at + shdr::OFFSET.at)?);
            put(&mut out, at, shdr::OFFSET, shift(offset));
        }
    }
    for table in elf.sections.iter().filter(|s| s.kind == SHT_SYMTAB) {
        for symbol in elf.symbols(table)? {
            if usize::from(symbol.section) == index && symbol.value == 0 && u64::from(symbol.size) == old {
                put(&mut out, shift(symbol.at), sym::SIZE_BYTES, new);
            }
        }
    }
    Ok(Edited { bytes: out, from, moved })
}
