//! Images of AMD's Compute Abstraction Layer: several encodings of a program in one ELF file.
//!
//! A dictionary, the first program header, names the encodings: machine, kind, and where its notes and sections are. Each
//! encoding has a program header for its notes and one for its sections `.text`, `.data`, `.symtab` and `.strtab`.

use super::{ExtractedProgram, RegisterValue, ShaderStage};
use crate::bytes::ByteOrder;
use crate::elf::{self, Elf, ElfField, ElfSymbol, NewSection, NewSegment, Note, Section, ehdr, phdr, shdr};
use crate::error::{ImageError, Remark};
use ctm_isa::ops;
use std::ops::Range;

/// `e_ident[EI_OSABI]`.
pub const OSABI: u64 = 100;
/// `e_ident[EI_ABIVERSION]`.
pub const ABIVERSION: u64 = 1;
/// `e_machine`.
pub const MACHINE: u64 = 125;
/// `e_flags`.
pub const FLAGS: u64 = 1;
/// `p_type` of the dictionary.
pub const PT_DICTIONARY: u32 = 0x7000_0002;
/// The owner of the notes in every file that was seen.
pub const OWNER: &str = "ATI CAL";
/// The owner by a header of 2007; read as well.
pub const OWNER_2007: &str = "AMD CAL";
/// Bytes of `.data`: 256 float, 32 integer vectors and 32 booleans.
pub const DATA_BYTES: u64 = 4736;
const CITE: &str = "CAL image format";

/// Fields of an entry of the dictionary.
mod entry {
    use super::ElfField;
    pub const MACHINE: ElfField = ElfField { name: "d_machine", at: 0, size: 4 };
    pub const TYPE: ElfField = ElfField { name: "d_type", at: 4, size: 4 };
    pub const OFFSET: ElfField = ElfField { name: "d_offset", at: 8, size: 4 };
    pub const SIZE_BYTES: ElfField = ElfField { name: "d_size", at: 12, size: 4 };
    /// Bytes of an entry; the last word is `d_flags`, which is not used.
    pub const SIZE: u64 = 20;
}

ops! {
    /// The machine of an encoding: `d_machine`.
    pub enum EncodingMachine cite "CAL amuABI.h" {
        /// R600 instructions.
        R600 "R600" 0;
        /// RV610 instructions.
        Rv610 "RV610" 1;
        /// RV630 instructions.
        Rv630 "RV630" 2;
        /// RV670 instructions.
        Rv670 "RV670" 3;
        /// RV770 instructions.
        Rv770 "RV770" 4;
        /// Intermediate language of R6xx, as words.
        R6xxIl "R6XX_IL" 5;
        /// Intermediate language of R7xx, as words.
        R7xxIl "R7XX_IL" 6;
        /// Intermediate language of R6xx, as text.
        R6xxIlText "R6XX_IL_TEXT" 7;
        /// Intermediate language of R7xx, as text.
        R7xxIlText "R7XX_IL_TEXT" 8;
        /// Evergreen instructions.
        Cypress "CYPRESS" 9;
        /// RV710 instructions.
        Rv710 "RV710" 11;
        /// RV730 instructions.
        Rv730 "RV730" 12;
    }
}

impl EncodingMachine {
    /// Whether the encoding holds R700 instructions.
    #[must_use]
    pub const fn is_r700(self) -> bool {
        matches!(self, Self::Rv770 | Self::Rv710 | Self::Rv730)
    }
}

ops! {
    /// The stage of a program: `d_type`.
    pub enum ProgramType cite "CAL amuABI.h" info ShaderStage {
        /// Pixel program.
        Fragment "FRAGMENT" 0 => ShaderStage::Pixel;
        /// Vertex program.
        Vertex "VERTEX" 1 => ShaderStage::Vertex;
        /// Geometry program.
        Geometry "GEOMETRY" 2 => ShaderStage::Geometry;
        /// Fetch program.
        Fetch "FETCH" 3 => ShaderStage::Fetch;
    }
}

ops! {
    /// The notes of an encoding: how many words a row of their contents has, and their meaning.
    pub enum NoteKind cite "CAL amuABI.h" info &'static [&'static str] {
        /// Registers and ABI keys.
        ProgInfo "PROGINFO" 1 => &["address", "value"];
        /// Inputs that the program reads.
        Inputs "INPUTS" 2 => &["input"];
        /// Outputs that it writes.
        Outputs "OUTPUTS" 3 => &["output"];
        /// Whether it writes a conditional value.
        CondOut "CONDOUT" 4 => &["flag"];
        /// Which parts of `.data` are float constants.
        Float32Consts "FLOAT32CONSTS" 5 => &["offset", "size"];
        /// Which parts of `.data` are integer constants.
        Int32Consts "INT32CONSTS" 6 => &["offset", "size"];
        /// Which parts of `.data` are boolean constants.
        Bool32Consts "BOOL32CONSTS" 7 => &["offset", "size"];
        /// Whether it may end early.
        EarlyExit "EARLYEXIT" 8 => &["flag"];
        /// Global buffers.
        GlobalBuffers "GLOBAL_BUFFERS" 9 => &["buffer"];
        /// Constant buffers; sizes in vectors.
        ConstantBuffers "CONSTANT_BUFFERS" 10 => &["index", "size"];
        /// Which sampler each input uses.
        InputSamplers "INPUT_SAMPLERS" 11 => &["input", "sampler"];
        /// Persistent buffers.
        PersistentBuffers "PERSISTENT_BUFFERS" 12 => &["buffer"];
        /// Scratch buffers.
        ScratchBuffers "SCRATCH_BUFFERS" 13 => &["buffer"];
        /// Parts of constant buffers.
        SubConstantBuffers "SUB_CONSTANT_BUFFERS" 14 => &["index", "size", "offset"];
        /// Not decoded.
        UavMailboxSize "UAV_MAILBOX_SIZE" 15 => &["word"];
        /// Unordered access views.
        Uav "UAV" 16 => &["id", "word 1", "word 2", "type"];
        /// Not decoded.
        UavOpMask "UAV_OP_MASK" 17 => &["word"];
    }
}

/// Addresses in PROGINFO from here on are keys of the ABI, not registers.
pub const FIRST_ABI_KEY: u32 = 0x8000_0000;

ops! {
    /// Keys of the ABI in PROGINFO, counted from [`FIRST_ABI_KEY`].
    pub enum AbiKey cite "CAL amuABI.h" {
        /// How many inputs a pixel program has.
        PsInputCount "PS_INPUT_COUNT" 0x00;
        /// Whether their numbers have gaps.
        PsInputSparse "PS_INPUT_SPARSE" 0x01;
        /// Threads of a group, first extent.
        NumThreadPerGroupX "NUM_THREAD_PER_GROUP_X" 0x1c;
        /// Threads of a group, second extent.
        NumThreadPerGroupY "NUM_THREAD_PER_GROUP_Y" 0x1d;
        /// Threads of a group, third extent.
        NumThreadPerGroupZ "NUM_THREAD_PER_GROUP_Z" 0x1e;
        /// GPRs in use.
        NumGprUsed "NUM_GPR_USED" 0x80;
        /// Local memory in use.
        LdsSizeUsed "LDS_SIZE_USED" 0x82;
        /// Stack in use.
        StackSizeUsed "STACK_SIZE_USED" 0x84;
    }
}

/// A note's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteWords {
    /// Its number; see [`NoteKind`].
    pub kind: u32,
    /// Its words.
    pub words: Vec<u32>,
}

/// One encoding of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// `d_machine`; see [`EncodingMachine`].
    pub machine: u32,
    /// `d_type`; see [`ProgramType`].
    pub program_type: u32,
    /// The notes, in order.
    pub notes: Vec<NoteWords>,
    /// `.text`: instructions, or the text of the intermediate language.
    pub text: Vec<u8>,
    /// `.data`.
    pub data: Vec<u8>,
    /// Names: kind by `st_info` as in the CTM executable, value, section.
    pub symbols: Vec<ElfSymbol>,
}

impl Encoding {
    /// The program, where the encoding holds R700 instructions.
    #[must_use]
    pub fn code(&self) -> Option<ExtractedProgram> {
        EncodingMachine::from_code(self.machine).filter(|m| m.is_r700())?;
        let stage = ProgramType::from_code(self.program_type)?.info();
        let registers = self
            .program_information()
            .filter(|(address, _)| *address < FIRST_ABI_KEY)
            .map(|(address, value)| RegisterValue { address: address.wrapping_mul(4), value })
            .collect();
        Some(ExtractedProgram { stage, words: ByteOrder::Little.words(&self.text), registers })
    }

    /// The pairs of PROGINFO: address (a register's byte address divided by 4, or an ABI key) and value.
    pub fn program_information(&self) -> impl Iterator<Item = (u32, u32)> {
        let words =
            self.notes.iter().filter(|n| n.kind == NoteKind::ProgInfo.code()).flat_map(|n| n.words.chunks_exact(2));
        words.map(|pair| (pair[0], pair[1]))
    }
}

/// Where an encoding's parts are in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct EncodingParts {
    entry: u64,
    range: Range<u64>,
    text: usize,
    information: Option<Range<u64>>,
}

/// An image, kept as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    bytes: Vec<u8>,
    parts: Vec<EncodingParts>,
    /// The encodings, in the dictionary's order.
    pub encodings: Vec<Encoding>,
    /// Remarks on the image.
    pub remarks: Vec<Remark>,
}

impl Image {
    /// Reads an image.
    ///
    /// # Errors
    /// Not such an image, or a part of an encoding is missing, twice there or outside the file.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        let parsed = Elf::read(bytes)?;
        parsed.expect(ehdr::OSABI, OSABI, "ELFOSABI_CALIMAGE")?;
        parsed.expect(ehdr::MACHINE, MACHINE, "EM_AMD_CALIMAGE_BINARY")?;
        parsed.expect(ehdr::TYPE, elf::TYPE_EXEC, "ET_EXEC")?;
        let dictionary = parsed.segments.iter().find(|s| s.kind == PT_DICTIONARY).ok_or(ImageError::Missing {
            what: "program header of type PT_LOPROC+2, the dictionary",
            offset: parsed.header.get(ehdr::PHOFF),
            cite: CITE,
        })?;
        let size = dictionary.range.end - dictionary.range.start;
        if !size.is_multiple_of(entry::SIZE) {
            return Err(ImageError::Field {
                field: phdr::FILESZ.name,
                offset: dictionary.at + phdr::FILESZ.at,
                found: size,
                allowed: format!("multiples of {}, the size of an entry of the dictionary", entry::SIZE),
            });
        }
        let count = size / entry::SIZE;
        if count > elf::MOST_HEADERS {
            return Err(ImageError::Field {
                field: phdr::FILESZ.name,
                offset: dictionary.at + phdr::FILESZ.at,
                found: size,
                allowed: format!("at most {} entries of the dictionary", elf::MOST_HEADERS),
            });
        }
        let mut image = Self { bytes: bytes.to_vec(), parts: Vec::new(), encodings: Vec::new(), remarks: Vec::new() };
        for i in 0..count {
            image.read_encoding(&parsed, dictionary.range.start + i * entry::SIZE)?;
        }
        Ok(image)
    }

    fn read_encoding(&mut self, parsed: &Elf<'_>, at: u64) -> Result<(), ImageError> {
        let word = |field: ElfField| parsed.input.u32(field.name, at + field.at);
        let (machine, program_type) = (word(entry::MACHINE)?, word(entry::TYPE)?);
        let start = u64::from(word(entry::OFFSET)?);
        let size = u64::from(word(entry::SIZE_BYTES)?);
        parsed.input.slice("an encoding", start, size)?;
        let range = start..start + size;
        if let Some(other) = self.parts.iter().find(|p| p.range.start < range.end && range.start < p.range.end) {
            return Err(ImageError::Field {
                field: entry::OFFSET.name,
                offset: at + entry::OFFSET.at,
                found: start,
                allowed: format!(
                    "encodings that do not overlap; another has bytes {}..{}",
                    other.range.start, other.range.end
                ),
            });
        }
        let within = |r: &Range<u64>| range.start <= r.start && r.end <= range.end && r.start < r.end;

        let segment = |kind: u32, what: &'static str| {
            let mut found = parsed.segments.iter().filter(|s| s.kind == kind && within(&s.range));
            match (found.next(), found.next()) {
                (Some(one), None) => Ok(one),
                (None, _) => Err(ImageError::Missing { what, offset: start, cite: CITE }),
                (Some(first), Some(second)) => Err(ImageError::Duplicate { what, offset: second.at, first: first.at }),
            }
        };
        let note_segment = segment(elf::PT_NOTE, "program header of type PT_NOTE of an encoding")?;
        let load = segment(elf::PT_LOAD, "program header of type PT_LOAD of an encoding")?;
        let inside = |s: &&(usize, &Section)| load.range.start <= s.1.range.start && s.1.range.end <= load.range.end;
        let section = |name: &'static str| {
            let all: Vec<(usize, &Section)> =
                parsed.sections.iter().enumerate().filter(|(_, s)| s.name == name).collect();
            let mut found = all.iter().filter(inside);
            match (found.next(), found.next()) {
                (Some(&one), None) => Ok(one),
                (None, _) => Err(ImageError::Missing { what: name, offset: load.range.start, cite: CITE }),
                (Some(first), Some(second)) => {
                    Err(ImageError::Duplicate { what: name, offset: second.1.at, first: first.1.at })
                }
            }
        };
        let (text_index, text) = section(".text")?;
        let (_, data) = section(".data")?;
        let (_, symbols) = section(".symtab")?;
        section(".strtab")?;
        let data_size = data.range.end - data.range.start;
        if data_size != DATA_BYTES {
            let message = format!("`.data` has {data_size} bytes; the format wants {DATA_BYTES}");
            self.remarks.push(Remark { offset: data.at + shdr::SIZE_BYTES.at, message });
        }
        let notes = parsed.notes(&note_segment.range)?;
        let mut information = None;
        let mut contents = Vec::new();
        for note in &notes {
            self.remark_note(note);
            if note.kind == NoteKind::ProgInfo.code() && information.is_none() {
                information = Some(note.range.clone());
            }
            let words = ByteOrder::Little.words(parsed.bytes(&note.range));
            contents.push(NoteWords { kind: note.kind, words });
        }
        self.parts.push(EncodingParts { entry: at, range, text: text_index, information });
        self.encodings.push(Encoding {
            machine,
            program_type,
            notes: contents,
            text: parsed.bytes(&text.range).to_vec(),
            data: parsed.bytes(&data.range).to_vec(),
            symbols: parsed.symbols(symbols)?,
        });
        Ok(())
    }

    fn remark_note(&mut self, note: &Note) {
        let size = note.range.end - note.range.start;
        let row = NoteKind::from_code(note.kind).map(|k| k.info().len() as u64 * 4);
        let message = match row {
            _ if note.owner != OWNER && note.owner != OWNER_2007 => {
                format!("a note of owner `{}`, not `{OWNER}`", note.owner.escape_debug())
            }
            None => format!("a note of type {}, which is not known", note.kind),
            Some(row) if !size.is_multiple_of(row) => {
                format!("a note of type {} has {size} bytes, not a multiple of {row}", note.kind)
            }
            Some(_) => return,
        };
        self.remarks.push(Remark { offset: note.at, message });
    }

    /// The image's bytes. Unchanged parts keep their bytes.
    #[must_use]
    pub fn write(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts a program in the place of encoding `index`: its words, and its registers where PROGINFO has them.
    ///
    /// # Errors
    /// There is no such encoding, it holds no R700 instructions or another stage's, or PROGINFO lacks a register.
    pub fn replace(&mut self, index: usize, code: &ExtractedProgram) -> Result<(), ImageError> {
        let refuse = |what, message| Err(ImageError::Unstorable { what, message });
        let (Some(encoding), Some(parts)) = (self.encodings.get(index), self.parts.get(index)) else {
            let message = format!("the image has {} encodings; there is none at {index}", self.encodings.len());
            return refuse("the program", message);
        };
        let Some(old) = encoding.code().filter(|old| old.stage == code.stage) else {
            return refuse(
                "the program",
                format!("encoding {index} is not a {} program of an R700 chip", code.stage.name()),
            );
        };
        let mut bytes = self.bytes.clone();
        for register in &code.registers {
            let slot = encoding.program_information().position(|(address, _)| address == register.address / 4);
            let (Some(slot), Some(range)) = (slot, &parts.information) else {
                let name = super::registers::name(register.address);
                return refuse("a register", format!("PROGINFO does not set {name}"));
            };
            let at = range.start as usize + slot * 8 + 4;
            if let Some(place) = bytes.get_mut(at..at + 4) {
                place.copy_from_slice(&register.value.to_le_bytes());
            }
        }
        if code.words != old.words {
            let contents: Vec<u8> = code.words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let edited = elf::replace_section(&Elf::read(&bytes)?, parts.text, &contents)?;
            bytes = edited.bytes;
            let shift = |offset: u64| if offset >= edited.from { offset + edited.moved } else { offset };
            for other in &self.parts {
                let at = shift(other.entry);
                let input = crate::bytes::FileBytes::new(&self.bytes, ByteOrder::Little);
                let word = |field: ElfField| input.u32(field.name, other.entry + field.at).map(u64::from);
                let (start, size) = (word(entry::OFFSET)?, word(entry::SIZE_BYTES)?);
                let contains = start < edited.from && start + size >= edited.from;
                elf::put(&mut bytes, at, entry::OFFSET, shift(start));
                elf::put(&mut bytes, at, entry::SIZE_BYTES, if contains { size + edited.moved } else { size });
            }
        }
        *self = Self::read(&bytes)?;
        Ok(())
    }
}

/// Makes an image: dictionary first, then for each encoding its notes and its four sections.
#[must_use]
pub fn build(encodings: &[Encoding]) -> Vec<u8> {
    let mut sections = vec![NewSection { align: 4, ..NewSection::default() }];
    let mut segments = vec![NewSegment { kind: PT_DICTIONARY, flags: 0, sections: (0, 0) }];
    let mut listed = 0;
    for encoding in encodings {
        let notes = encoding.notes.iter().flat_map(|n| elf::note_bytes(OWNER, n.kind, &n.words)).collect();
        let first = sections.len();
        sections.push(NewSection { align: 4, bytes: notes, ..NewSection::default() });
        let named = |name, kind, bytes| NewSection { name, kind, align: 4, bytes, ..NewSection::default() };
        let (table, strings) = symbols(&encoding.symbols);
        sections.push(named(".text", elf::SHT_PROGBITS, encoding.text.clone()));
        sections.push(named(".data", elf::SHT_PROGBITS, encoding.data.clone()));
        sections.push(NewSection {
            link: listed + 4,
            info: 1,
            entry_size: elf::sym::SIZE as u32,
            ..named(".symtab", elf::SHT_SYMTAB, table)
        });
        sections.push(named(".strtab", elf::SHT_STRTAB, strings));
        listed += 4;
        segments.push(NewSegment { kind: elf::PT_NOTE, flags: 0, sections: (first, first) });
        segments.push(NewSegment { kind: elf::PT_LOAD, flags: 0, sections: (first + 1, first + 4) });
    }
    sections[0].bytes = vec![0; encodings.len() * entry::SIZE as usize];
    let header = [
        (ehdr::OSABI, OSABI),
        (ehdr::ABIVERSION, ABIVERSION),
        (ehdr::TYPE, elf::TYPE_EXEC),
        (ehdr::MACHINE, MACHINE),
        (ehdr::FLAGS, FLAGS),
    ];
    let mut out = elf::build(&header, &segments, &sections);
    // The dictionary names places that are known only now.
    let places: Vec<(u64, Range<u64>)> = match Elf::read(&out) {
        Ok(parsed) => {
            let dictionary = parsed.segments.first().map_or(0, |s| s.range.start);
            let pairs = parsed.segments.get(1..).unwrap_or_default().chunks_exact(2);
            pairs
                .enumerate()
                .map(|(i, pair)| (dictionary + i as u64 * entry::SIZE, pair[0].range.start..pair[1].range.end))
                .collect()
        }
        // The output of `build` can be read.
        Err(_) => Vec::new(),
    };
    for ((at, range), encoding) in places.into_iter().zip(encodings) {
        elf::put(&mut out, at, entry::MACHINE, u64::from(encoding.machine));
        elf::put(&mut out, at, entry::TYPE, u64::from(encoding.program_type));
        elf::put(&mut out, at, entry::OFFSET, range.start);
        elf::put(&mut out, at, entry::SIZE_BYTES, range.end - range.start);
    }
    out
}

fn symbols(symbols: &[ElfSymbol]) -> (Vec<u8>, Vec<u8>) {
    let mut table = vec![0; elf::sym::SIZE as usize];
    let mut strings = vec![0u8];
    for symbol in symbols {
        let base = table.len() as u64;
        table.resize(table.len() + elf::sym::SIZE as usize, 0);
        for (field, value) in [
            (elf::sym::NAME, if symbol.name.is_empty() { 0 } else { strings.len() as u64 }),
            (elf::sym::VALUE, u64::from(symbol.value)),
            (elf::sym::SIZE_BYTES, u64::from(symbol.size)),
            (elf::sym::INFO, 1 << 4 | u64::from(symbol.kind)),
            (elf::sym::SHNDX, u64::from(symbol.section)),
        ] {
            elf::put(&mut table, base, field, value);
        }
        if !symbol.name.is_empty() {
            strings.extend(symbol.name.bytes().filter(|&b| b != 0).chain([0]));
        }
    }
    (table, strings)
}
