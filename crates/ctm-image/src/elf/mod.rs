//! The Executable and Linking Format, 32 bits, as far as programs for GPUs use it (Tool Interface Standard, ELF 1.2).
//!
//! Reading works on a slice that may be longer than the file, because the CTM loader parses a file at an address whose
//! size is not given (CTM §4, `set_inst_fmt`); [`extent`] finds the size. Every field is an [`ElfField`] with the name that
//! the standard gives it, and that name is in every error.

mod edit;
mod fields;
mod write;

pub use edit::{Edited, replace_section};
pub use fields::*;
pub(crate) use write::put;
pub use write::{NewSection, NewSegment, build, note_bytes};

use crate::bytes::{ByteOrder, FileBytes};
use crate::error::ImageError;
use std::ops::Range;

/// The most program headers, and the most section headers, that are read. Real files have fewer than a hundred.
pub const MOST_HEADERS: u64 = 1024;
/// The most symbols that are read from one table.
pub const MOST_SYMBOLS: u64 = 16_384;
/// The most notes that are read from one file.
pub const MOST_NOTES: usize = 4096;

/// The ELF header's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Every field with its value, in the order of the file.
    pub fields: Vec<(ElfField, u64)>,
}

impl Header {
    /// The value of a field; fields of other structures are 0.
    #[must_use]
    pub fn get(&self, field: ElfField) -> u64 {
        self.fields.iter().find(|(p, _)| *p == field).map_or(0, |(_, v)| *v)
    }
}

/// A program header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset of the program header itself.
    pub at: u64,
    /// `p_type`.
    pub kind: u32,
    /// Bytes of the file.
    pub range: Range<u64>,
    /// `p_memsz`.
    pub memory_size: u64,
    /// `p_flags`.
    pub flags: u32,
}

/// A section header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Offset of the section header itself.
    pub at: u64,
    /// Its name; empty where the file has no section names.
    pub name: String,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u32,
    /// Bytes of the file; empty for `SHT_NOBITS`, and then somewhere in the file.
    pub range: Range<u64>,
    /// `sh_link`.
    pub link: u32,
    /// `sh_addralign`.
    pub align: u32,
    /// `sh_entsize`.
    pub entry_size: u32,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElfSymbol {
    /// Offset of the symbol itself.
    pub at: u64,
    /// Its name.
    pub name: String,
    /// `st_value`.
    pub value: u32,
    /// `st_size`.
    pub size: u32,
    /// Low four bits of `st_info`.
    pub kind: u8,
    /// `st_shndx`.
    pub section: u16,
}

/// A note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Offset of the note's head.
    pub at: u64,
    /// The owner, without the closing NUL.
    pub owner: String,
    /// The type number; each owner has its own.
    pub kind: u32,
    /// Bytes of the contents.
    pub range: Range<u64>,
}

/// A file's headers, checked so far that every range lies within the input.
#[derive(Clone, Debug)]
pub struct Elf<'a> {
    pub(crate) input: FileBytes<'a>,
    /// The ELF header.
    pub header: Header,
    /// The program headers.
    pub segments: Vec<Segment>,
    /// The section headers, the empty first one included.
    pub sections: Vec<Section>,
}

fn read_place(input: &FileBytes<'_>, base: u64, field: ElfField) -> Result<u64, ImageError> {
    let offset = base.saturating_add(field.at);
    match field.size {
        1 => input.u8(field.name, offset).map(u64::from),
        2 => input.u16(field.name, offset).map(u64::from),
        _ => input.u32(field.name, offset).map(u64::from),
    }
}

fn read_u32(input: &FileBytes<'_>, base: u64, field: ElfField) -> Result<u32, ImageError> {
    input.u32(field.name, base.saturating_add(field.at))
}

/// Fails unless a header field holds one value.
fn expect(header: &Header, field: ElfField, allowed: u64, meaning: &str) -> Result<(), ImageError> {
    let found = header.get(field);
    if found == allowed {
        return Ok(());
    }
    let allowed = format!("{allowed} ({meaning})");
    Err(ImageError::Field { field: field.name, offset: field.at, found, allowed })
}

impl<'a> Elf<'a> {
    /// Reads only the ELF header of a 32-bit little-endian ELF file.
    ///
    /// # Errors
    /// Not such a file.
    pub fn read_header(bytes: &[u8]) -> Result<Header, ImageError> {
        let input = FileBytes::new(bytes, ByteOrder::Little);
        input.slice("the ELF header", 0, ehdr::SIZE)?;
        let mut header = Header { fields: Vec::with_capacity(ehdr::ALL.len()) };
        for &field in ehdr::ALL {
            header.fields.push((field, read_place(&input, 0, field)?));
        }
        expect(&header, ehdr::MAGIC, u64::from(MAGIC), "the bytes 7f 45 4c 46")?;
        expect(&header, ehdr::CLASS, CLASS_32, "ELFCLASS32")?;
        expect(&header, ehdr::DATA, DATA_LITTLE, "ELFDATA2LSB")?;
        Ok(header)
    }

    /// Reads the headers of a 32-bit little-endian ELF file.
    ///
    /// # Errors
    /// Not such a file, or a header or a part that a header names reaches beyond the input.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let input = FileBytes::new(bytes, ByteOrder::Little);
        let header = Self::read_header(bytes)?;
        let (phnum, shnum) = (header.get(ehdr::PHNUM), header.get(ehdr::SHNUM));
        for (count, field, size_field, size) in
            [(phnum, ehdr::PHNUM, ehdr::PHENTSIZE, phdr::SIZE), (shnum, ehdr::SHNUM, ehdr::SHENTSIZE, shdr::SIZE)]
        {
            if count > MOST_HEADERS {
                let allowed = format!("0..={MOST_HEADERS}");
                return Err(ImageError::Field { field: field.name, offset: field.at, found: count, allowed });
            }
            if count > 0 {
                expect(&header, size_field, size, "the size of one header")?;
            }
        }
        let mut elf = Self { input, header, segments: Vec::new(), sections: Vec::new() };
        elf.read_segments(phnum)?;
        elf.read_sections(shnum)?;
        Ok(elf)
    }

    fn read_segments(&mut self, count: u64) -> Result<(), ImageError> {
        let table = self.header.get(ehdr::PHOFF);
        for at in (0..count).map(|i| table + i * phdr::SIZE) {
            self.input.slice("a program header", at, phdr::SIZE)?;
            let offset = u64::from(read_u32(&self.input, at, phdr::OFFSET)?);
            let size = u64::from(read_u32(&self.input, at, phdr::FILESZ)?);
            self.input.slice("a segment", offset, size)?;
            self.segments.push(Segment {
                at,
                kind: read_u32(&self.input, at, phdr::TYPE)?,
                range: offset..offset + size,
                memory_size: u64::from(read_u32(&self.input, at, phdr::MEMSZ)?),
                flags: read_u32(&self.input, at, phdr::FLAGS)?,
            });
        }
        Ok(())
    }

    fn read_sections(&mut self, count: u64) -> Result<(), ImageError> {
        let table = self.header.get(ehdr::SHOFF);
        let mut names = Vec::new();
        for at in (0..count).map(|i| table + i * shdr::SIZE) {
            self.input.slice("a section header", at, shdr::SIZE)?;
            let kind = read_u32(&self.input, at, shdr::TYPE)?;
            let offset = u64::from(read_u32(&self.input, at, shdr::OFFSET)?);
            let size = match kind {
                0 | SHT_NOBITS => 0,
                _ => u64::from(read_u32(&self.input, at, shdr::SIZE_BYTES)?),
            };
            if size > 0 {
                self.input.slice("a section", offset, size)?;
            }
            // An empty section may name any offset, also one outside the file.
            let start = offset.min(self.input.len());
            names.push(read_u32(&self.input, at, shdr::NAME)?);
            self.sections.push(Section {
                at,
                name: String::new(),
                kind,
                flags: read_u32(&self.input, at, shdr::FLAGS)?,
                range: start..start + size,
                link: read_u32(&self.input, at, shdr::LINK)?,
                align: read_u32(&self.input, at, shdr::ADDRALIGN)?,
                entry_size: read_u32(&self.input, at, shdr::ENTSIZE)?,
            });
        }
        let strings_index = self.header.get(ehdr::SHSTRNDX);
        if strings_index == 0 || self.sections.is_empty() {
            return Ok(());
        }
        let strings = match usize::try_from(strings_index).ok().and_then(|i| self.sections.get(i)) {
            Some(section) => section.range.clone(),
            None => {
                return Err(ImageError::Field {
                    field: ehdr::SHSTRNDX.name,
                    offset: ehdr::SHSTRNDX.at,
                    found: strings_index,
                    allowed: format!("0..={}", self.sections.len() - 1),
                });
            }
        };
        for (section, name) in self.sections.iter_mut().zip(names).skip(1) {
            section.name = self.input.text("a section name", strings.start + u64::from(name), strings.end)?;
        }
        Ok(())
    }

    /// Fails unless a field of the ELF header holds `allowed`; `meaning` is its symbolic name.
    ///
    /// # Errors
    /// The field holds something else.
    pub fn expect(&self, field: ElfField, allowed: u64, meaning: &str) -> Result<(), ImageError> {
        expect(&self.header, field, allowed, meaning)
    }

    /// The one section of this name.
    ///
    /// # Errors
    /// There is none, or there are several.
    pub fn one_section(&self, name: &'static str, cite: &'static str) -> Result<&Section, ImageError> {
        let mut found = self.sections.iter().filter(|s| s.name == name);
        let first =
            found.next().ok_or(ImageError::Missing { what: name, offset: self.header.get(ehdr::SHOFF), cite })?;
        match found.next() {
            None => Ok(first),
            Some(second) => Err(ImageError::Duplicate { what: name, offset: second.at, first: first.at }),
        }
    }

    /// The symbol table, of which a file has at most one for its programs.
    ///
    /// # Errors
    /// There are several.
    pub fn one_symbol_table(&self) -> Result<Option<&Section>, ImageError> {
        let mut tables = self.sections.iter().filter(|s| s.kind == SHT_SYMTAB);
        match (tables.next(), tables.next()) {
            (Some(first), Some(second)) => {
                Err(ImageError::Duplicate { what: "symbol table", offset: second.at, first: first.at })
            }
            (first, _) => Ok(first),
        }
    }

    /// The bytes of a range that a header named.
    #[must_use]
    pub fn bytes(&self, range: &Range<u64>) -> &'a [u8] {
        self.input.slice("a part of the file", range.start, range.end - range.start).unwrap_or_default()
    }

    /// The notes in a range, in order. Zeros after the last one are padding.
    ///
    /// # Errors
    /// A note reaches beyond the range, or there are more than [`MOST_NOTES`].
    pub fn notes(&self, range: &Range<u64>) -> Result<Vec<Note>, ImageError> {
        let part = FileBytes::new(&self.input.bytes[..usize::try_from(range.end).unwrap_or(0)], self.input.order);
        let used = self.bytes(range).iter().rposition(|&b| b != 0).map_or(range.start, |i| range.start + i as u64 + 1);
        let mut notes = Vec::new();
        let mut at = range.start;
        while at < used {
            if notes.len() == MOST_NOTES {
                return Err(ImageError::Field {
                    field: "number of notes",
                    offset: at,
                    found: MOST_NOTES as u64 + 1,
                    allowed: format!("0..={MOST_NOTES}"),
                });
            }
            part.slice("a note's head", at, nhdr::SIZE)?;
            let name_size = u64::from(read_u32(&part, at, nhdr::NAMESZ)?);
            let size = u64::from(read_u32(&part, at, nhdr::DESCSZ)?);
            let name = part.slice("a note's name", at + nhdr::SIZE, name_size)?;
            let owner = name.split(|&b| b == 0).next().unwrap_or_default();
            let start = at + nhdr::SIZE + name_size.next_multiple_of(4);
            part.slice("a note's contents", start, size)?;
            notes.push(Note {
                at,
                owner: String::from_utf8_lossy(&owner[..owner.len().min(64)]).into_owned(),
                kind: read_u32(&part, at, nhdr::TYPE)?,
                range: start..start + size,
            });
            at = (start + size).next_multiple_of(4);
        }
        Ok(notes)
    }

    /// The symbols of a symbol table, without the empty first one.
    ///
    /// # Errors
    /// The table is not a multiple of a symbol's size, its string table does not exist, or a name does not end in it.
    pub fn symbols(&self, table: &Section) -> Result<Vec<ElfSymbol>, ImageError> {
        let size = table.range.end - table.range.start;
        if !size.is_multiple_of(sym::SIZE) {
            return Err(ImageError::Field {
                field: shdr::SIZE_BYTES.name,
                offset: table.at + shdr::SIZE_BYTES.at,
                found: size,
                allowed: format!("multiples of {}, the size of a symbol", sym::SIZE),
            });
        }
        if size / sym::SIZE > MOST_SYMBOLS {
            return Err(ImageError::Field {
                field: shdr::SIZE_BYTES.name,
                offset: table.at + shdr::SIZE_BYTES.at,
                found: size,
                allowed: format!("at most {MOST_SYMBOLS} symbols"),
            });
        }
        let strings = self.sections.get(table.link as usize).filter(|s| s.kind == SHT_STRTAB).ok_or_else(|| {
            ImageError::Field {
                field: shdr::LINK.name,
                offset: table.at + shdr::LINK.at,
                found: u64::from(table.link),
                allowed: "the index of a string table".to_owned(),
            }
        })?;
        (1..size / sym::SIZE)
            .map(|i| {
                let at = table.range.start + i * sym::SIZE;
                let name = u64::from(read_u32(&self.input, at, sym::NAME)?);
                Ok(ElfSymbol {
                    at,
                    name: match name {
                        0 => String::new(),
                        _ => self.input.text("a symbol's name", strings.range.start + name, strings.range.end)?,
                    },
                    value: read_u32(&self.input, at, sym::VALUE)?,
                    size: read_u32(&self.input, at, sym::SIZE_BYTES)?,
                    kind: self.input.u8(sym::INFO.name, at + sym::INFO.at)? & 0xf,
                    section: self.input.u16(sym::SHNDX.name, at + sym::SHNDX.at)?,
                })
            })
            .collect()
    }

    /// The size of the file: where the last header or part ends.
    #[must_use]
    pub fn extent(&self) -> u64 {
        let headers = [
            ehdr::SIZE,
            self.header.get(ehdr::PHOFF) + self.segments.len() as u64 * phdr::SIZE,
            self.header.get(ehdr::SHOFF) + self.sections.len() as u64 * shdr::SIZE,
        ];
        let segments = self.segments.iter().map(|s| s.range.end);
        // An empty section may name any offset.
        let sections = self.sections.iter().filter(|s| !s.range.is_empty()).map(|s| s.range.end);
        headers.into_iter().chain(segments).chain(sections).fold(0, u64::max)
    }
}

/// The size in bytes of the ELF file at the start of `bytes`, which may be longer.
///
/// # Errors
/// As [`Elf::read`].
pub fn extent(bytes: &[u8]) -> Result<u64, ImageError> {
    Elf::read(bytes).map(|elf| elf.extent())
}
