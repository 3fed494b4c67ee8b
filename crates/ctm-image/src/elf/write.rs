//! Laying out an ELF file.

use super::fields::{CLASS_32, DATA_LITTLE, ElfField, MAGIC, SHT_STRTAB, ehdr, phdr, shdr};

/// A section to be written; with `kind` 0, bytes that no section header names.
#[derive(Clone, Debug, Default)]
pub struct NewSection {
    /// Its name.
    pub name: &'static str,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u32,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addralign`.
    pub align: u32,
    /// `sh_entsize`.
    pub entry_size: u32,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// A segment to be written: consecutive sections.
#[derive(Clone, Debug)]
pub struct NewSegment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`.
    pub flags: u32,
    /// Indices into the list of sections to be written, first to last inclusive.
    pub sections: (usize, usize),
}

/// Lays out a file: ELF header, program headers, sections in their order, section names, section headers.
///
/// `header` gives the fields that differ between formats; the rest follows from the layout. Section 0 is added, so the
/// index of a section in the file is one more than its place among those that have a header.
#[must_use]
pub fn build(header: &[(ElfField, u64)], segments: &[NewSegment], sections: &[NewSection]) -> Vec<u8> {
    let mut out = vec![0; (ehdr::SIZE + segments.len() as u64 * phdr::SIZE) as usize];
    let mut names = vec![0u8];
    let mut placed: Vec<(usize, usize, usize)> = Vec::new();
    for section in sections {
        out.resize(out.len().next_multiple_of(section.align.max(1) as usize), 0);
        placed.push((names.len(), out.len(), section.bytes.len()));
        if section.kind != 0 {
            names.extend(section.name.bytes().chain([0]));
        }
        out.extend(&section.bytes);
    }
    let strings_name = names.len();
    names.extend(b".shstrtab\0");
    let strings_at = out.len();
    out.extend(&names);
    out.resize(out.len().next_multiple_of(4), 0);
    let table = out.len();

    for (i, segment) in segments.iter().enumerate() {
        let (first, last) = segment.sections;
        let (start, end) = (placed[first].1, placed[last].1 + placed[last].2);
        let base = ehdr::SIZE + i as u64 * phdr::SIZE;
        for (field, value) in [
            (phdr::TYPE, u64::from(segment.kind)),
            (phdr::OFFSET, start as u64),
            (phdr::FILESZ, (end - start) as u64),
            (phdr::MEMSZ, (end - start) as u64),
            (phdr::FLAGS, u64::from(segment.flags)),
            (phdr::ALIGN, u64::from(sections[first].align)),
        ] {
            put(&mut out, base, field, value);
        }
    }

    let listed = sections.iter().filter(|s| s.kind != 0).count();
    out.resize(table + (listed + 2) * shdr::SIZE as usize, 0);
    let with_header = sections.iter().zip(&placed).filter(|(section, _)| section.kind != 0);
    for (i, (section, &(name, offset, size))) in with_header.enumerate() {
        let base = table as u64 + (i as u64 + 1) * shdr::SIZE;
        for (field, value) in [
            (shdr::NAME, name as u64),
            (shdr::TYPE, u64::from(section.kind)),
            (shdr::FLAGS, u64::from(section.flags)),
            (shdr::OFFSET, offset as u64),
            (shdr::SIZE_BYTES, size as u64),
            (shdr::LINK, u64::from(section.link)),
            (shdr::INFO, u64::from(section.info)),
            (shdr::ADDRALIGN, u64::from(section.align)),
            (shdr::ENTSIZE, u64::from(section.entry_size)),
        ] {
            put(&mut out, base, field, value);
        }
    }
    let strings_index = listed as u64 + 1;
    for (field, value) in [
        (shdr::NAME, strings_name as u64),
        (shdr::TYPE, u64::from(SHT_STRTAB)),
        (shdr::OFFSET, strings_at as u64),
        (shdr::SIZE_BYTES, names.len() as u64),
        (shdr::ADDRALIGN, 1),
    ] {
        put(&mut out, table as u64 + strings_index * shdr::SIZE, field, value);
    }

    let layout = [
        (ehdr::MAGIC, u64::from(MAGIC)),
        (ehdr::CLASS, CLASS_32),
        (ehdr::DATA, DATA_LITTLE),
        (ehdr::IDENT_VERSION, 1),
        (ehdr::VERSION, 1),
        (ehdr::PHOFF, if segments.is_empty() { 0 } else { ehdr::SIZE }),
        (ehdr::SHOFF, table as u64),
        (ehdr::EHSIZE, ehdr::SIZE),
        (ehdr::PHENTSIZE, phdr::SIZE),
        (ehdr::PHNUM, segments.len() as u64),
        (ehdr::SHENTSIZE, shdr::SIZE),
        (ehdr::SHNUM, strings_index + 1),
        (ehdr::SHSTRNDX, strings_index),
    ];
    for &(field, value) in layout.iter().chain(header) {
        put(&mut out, 0, field, value);
    }
    out
}

/// Writes one field; a value too wide for it is cut.
pub(crate) fn put(out: &mut [u8], base: u64, field: ElfField, value: u64) {
    let start = (base + field.at) as usize;
    let size = usize::from(field.size);
    out[start..start + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// One note's bytes: head, owner with NUL, contents, each padded to four bytes.
#[must_use]
pub fn note_bytes(owner: &str, kind: u32, words: &[u32]) -> Vec<u8> {
    let mut name = owner.as_bytes().to_vec();
    name.push(0);
    let mut out = Vec::new();
    for head in [name.len() as u32, words.len() as u32 * 4, kind] {
        out.extend(head.to_le_bytes());
    }
    name.resize(name.len().next_multiple_of(4), 0);
    out.extend(name);
    out.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    out
}
