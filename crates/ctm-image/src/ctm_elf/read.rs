//! Reading a CTM executable.

use super::program_info::{self, FgDepthSrc, InstrCnt, UsCodeAddr, UsCodeRange, UsConfig, UsFcCtrl, UsPixsize};
use super::{DataKind, NoteForm, NoteKind, data};
use crate::elf::{self, Elf, Note, Section, ehdr, phdr, shdr, sym};
use crate::error::{ImageError, Remark};
use ctm_isa::table::WordFormat;
use ctm_isa::x1k::program::{Literal, Symbol, Usage};
use ctm_isa::x1k::{self, Program};
use std::ops::Range;

/// The notes besides the program information. A note that is not there means "none" or "no" (CTM §4.1.4).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Inputs that the program reads.
    pub inputs: Option<Vec<u32>>,
    /// Outputs that the program writes.
    pub outputs: Option<Vec<u32>>,
    /// Whether the program writes a conditional value.
    pub conditional_output: Option<bool>,
    /// Floating-point constants that the program reads.
    pub float32_constants: Option<Vec<u32>>,
    /// Integer constants that the program reads.
    pub int32_constants: Option<Vec<u32>>,
    /// Whether the program may end early.
    pub early_exit: Option<bool>,
}

/// A CTM executable: the program, and further data of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The program.
    pub program: Program,
    /// The words of the program information note.
    pub information: program_info::InfoWords,
    /// Byte offset of the first of them.
    pub information_offset: u64,
    /// The other notes.
    pub notes: Notes,
    /// Remarks on the file.
    pub remarks: Vec<Remark>,
}

/// Reads the program of a CTM executable. Bytes beyond the file's end ([`super::extent`]) are ignored.
///
/// # Errors
/// The bytes are not a CTM executable, or it would fail to load: see `docs/image.md` for every case.
///
/// # Examples
/// ```
/// use ctm_image::ctm_elf;
/// use ctm_isa::x1k::Program;
///
/// let program = Program::from_words(vec![[5, 0, 0, 0, 0, 0]]);
/// let file = ctm_elf::write(&program)?;
/// assert_eq!(ctm_elf::read(&file)?, program);
/// # Ok::<(), ctm_image::ImageError>(())
/// ```
pub fn read(bytes: &[u8]) -> Result<Program, ImageError> {
    read_image(bytes).map(|image| image.program)
}

/// Reads a CTM executable with its further data.
///
/// # Errors
/// As [`read`].
pub fn read_image(bytes: &[u8]) -> Result<Image, ImageError> {
    let elf = Elf::read(bytes)?;
    elf.expect(ehdr::OSABI, super::OSABI, "ELFOSABI_ATI")?;
    elf.expect(ehdr::ABIVERSION, super::ABIVERSION, "the ABI version")?;
    elf.expect(ehdr::TYPE, elf::TYPE_EXEC, "ET_EXEC")?;
    elf.expect(ehdr::MACHINE, super::MACHINE, "EM_ATI_R5XX")?;
    elf.expect(ehdr::FLAGS, super::FLAGS, "EF_ATI_DPP")?;
    let mut remarks = Vec::new();
    if elf.header.get(ehdr::ENTRY) != 0 {
        remarks.push(Remark {
            offset: ehdr::ENTRY.at,
            message: format!(
                "`e_entry` is {}; the Guide defines no entry point and wants 0",
                elf.header.get(ehdr::ENTRY)
            ),
        });
    }
    let text = text_section(&elf, &mut remarks)?.range.clone();
    let raw = RawNotes::collect(&elf, &mut remarks)?;
    let (information, information_offset) = raw.information(&elf)?;
    let notes = raw.notes(&elf, &mut remarks)?;

    let mut reader = InfoReader { information: &information, offset: information_offset, remarks: &mut remarks };
    let mut program = reader.program(elf.bytes(&text), &text)?;
    program.conditional_value &= notes.conditional_output.unwrap_or(false);
    program.literals = raw.literals(&elf)?;
    program.symbols = symbols(&elf, &mut remarks)?;
    compare_with_usage(&program.usage(), &information, information_offset, &raw, &notes, &mut remarks);
    Ok(Image { program, information, information_offset, notes, remarks })
}

/// The one `.text` section, which the one loadable segment must contain (CTM §4.1.3).
fn text_section<'e>(elf: &'e Elf<'_>, remarks: &mut Vec<Remark>) -> Result<&'e Section, ImageError> {
    let cite = "CTM §4.1.3";
    let text = elf.one_section(super::TEXT, cite)?;
    if text.kind != elf::SHT_PROGBITS {
        return Err(ImageError::Field {
            field: shdr::TYPE.name,
            offset: text.at + shdr::TYPE.at,
            found: u64::from(text.kind),
            allowed: format!("{} (SHT_PROGBITS) for .text", elf::SHT_PROGBITS),
        });
    }
    let wanted = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
    if text.flags & wanted != wanted {
        remarks.push(Remark {
            offset: text.at + shdr::FLAGS.at,
            message: format!(
                "`sh_flags` of .text is {:#x}; the Guide wants {wanted:#x} (SHF_ALLOC, SHF_EXECINSTR)",
                text.flags
            ),
        });
    }
    let mut loads = elf.segments.iter().filter(|s| s.kind == elf::PT_LOAD);
    let load = loads.next().ok_or(ImageError::Missing {
        what: "program header of type PT_LOAD",
        offset: elf.header.get(ehdr::PHOFF),
        cite,
    })?;
    if let Some(second) = loads.next() {
        let what = "program header of type PT_LOAD";
        return Err(ImageError::Duplicate { what, offset: second.at, first: load.at });
    }
    if text.range.start < load.range.start || text.range.end > load.range.end {
        return Err(ImageError::Field {
            field: phdr::OFFSET.name,
            offset: load.at + phdr::OFFSET.at,
            found: load.range.start,
            allowed: format!(
                "a segment that contains .text, bytes {}..{}; it ends at {}",
                text.range.start, text.range.end, load.range.end
            ),
        });
    }
    Ok(text)
}

/// The Guide's notes by number, and ours.
#[derive(Default)]
struct RawNotes {
    guide: [Option<Note>; NoteKind::ALL.len()],
    literals: Option<Note>,
}

impl RawNotes {
    /// Finds the notes in segments of type PT_NOTE, and ours also in note sections outside them.
    fn collect(elf: &Elf<'_>, remarks: &mut Vec<Remark>) -> Result<Self, ImageError> {
        let segments: Vec<&Range<u64>> =
            elf.segments.iter().filter(|s| s.kind == elf::PT_NOTE).map(|s| &s.range).collect();
        if segments.is_empty() {
            let offset = elf.header.get(ehdr::PHOFF);
            return Err(ImageError::Missing { what: "program header of type PT_NOTE", offset, cite: "CTM §4.1.4" });
        }
        let loose = elf.sections.iter().filter(|s| s.kind == elf::SHT_NOTE).map(|s| &s.range).filter(|section| {
            !segments.iter().any(|segment| segment.start <= section.start && section.end <= segment.end)
        });
        let mut raw = Self::default();
        let mut total = 0;
        for (range, in_segment) in segments.iter().map(|r| (*r, true)).chain(loose.map(|r| (r, false))) {
            for note in elf.notes(range)? {
                total += 1;
                if total > elf::MOST_NOTES {
                    return Err(ImageError::Field {
                        field: "number of notes",
                        offset: note.at,
                        found: total as u64,
                        allowed: format!("0..={}", elf::MOST_NOTES),
                    });
                }
                raw.add(note, in_segment, remarks)?;
            }
        }
        Ok(raw)
    }

    fn add(&mut self, note: Note, in_segment: bool, remarks: &mut Vec<Remark>) -> Result<(), ImageError> {
        let slot = match (note.owner.as_str(), NoteKind::from_code(note.kind)) {
            (super::OWNER, Some(kind)) if in_segment => &mut self.guide[kind.code() as usize - 1],
            (super::OWN_OWNER, _) if note.kind == super::OWN_LITERALS => &mut self.literals,
            (owner, _) => {
                let outside = if in_segment { "" } else { " outside the segments of type PT_NOTE" };
                remarks.push(Remark {
                    offset: note.at,
                    message: format!(
                        "a note of owner `{}` and type {}{outside}, ignored",
                        owner.escape_debug(),
                        note.kind
                    ),
                });
                return Ok(());
            }
        };
        match slot {
            Some(first) => Err(ImageError::Duplicate { what: "note of this type", offset: note.at, first: first.at }),
            None => {
                *slot = Some(note);
                Ok(())
            }
        }
    }

    fn get(&self, kind: NoteKind) -> Option<&Note> {
        self.guide[kind.code() as usize - 1].as_ref()
    }

    fn words(elf: &Elf<'_>, note: &Note) -> Vec<u32> {
        elf.input.order.words(elf.bytes(&note.range))
    }

    /// The program information's words and where they are.
    fn information(&self, elf: &Elf<'_>) -> Result<(program_info::InfoWords, u64), ImageError> {
        let note = self.get(NoteKind::ProgInfo).ok_or(ImageError::Missing {
            what: "program information note",
            offset: elf.header.get(ehdr::PHOFF),
            cite: "CTM §4.1.4",
        })?;
        let size = note.range.end - note.range.start;
        let words = Self::words(elf, note).try_into().ok().filter(|_| size % 4 == 0);
        let words = words.ok_or_else(|| ImageError::Field {
            field: elf::nhdr::DESCSZ.name,
            offset: note.at + elf::nhdr::DESCSZ.at,
            found: size,
            allowed: format!("{} (the size of the program information)", program_info::WORDS * 4),
        })?;
        Ok((words, note.range.start))
    }

    fn notes(&self, elf: &Elf<'_>, remarks: &mut Vec<Remark>) -> Result<Notes, ImageError> {
        Ok(Notes {
            inputs: self.indices(elf, NoteKind::Inputs)?,
            outputs: self.indices(elf, NoteKind::Outputs)?,
            conditional_output: self.flag(elf, NoteKind::CondOut, remarks)?,
            float32_constants: self.indices(elf, NoteKind::Float32Consts)?,
            int32_constants: self.indices(elf, NoteKind::Int32Consts)?,
            early_exit: self.flag(elf, NoteKind::EarlyExit, remarks)?,
        })
    }

    fn indices(&self, elf: &Elf<'_>, kind: NoteKind) -> Result<Option<Vec<u32>>, ImageError> {
        let (Some(note), NoteForm::Indices(limit)) = (self.get(kind), kind.info()) else { return Ok(None) };
        let size = note.range.end - note.range.start;
        if size % 4 != 0 {
            return Err(ImageError::Field {
                field: elf::nhdr::DESCSZ.name,
                offset: note.at + elf::nhdr::DESCSZ.at,
                found: size,
                allowed: "multiples of 4, the size of an index".to_owned(),
            });
        }
        let words = Self::words(elf, note);
        for (i, &word) in words.iter().enumerate() {
            if word >= limit {
                return Err(ImageError::Field {
                    field: kind.name(),
                    offset: note.range.start + i as u64 * 4,
                    found: u64::from(word),
                    allowed: format!("0..={}", limit - 1),
                });
            }
        }
        Ok(Some(words))
    }

    fn flag(&self, elf: &Elf<'_>, kind: NoteKind, remarks: &mut Vec<Remark>) -> Result<Option<bool>, ImageError> {
        let Some(note) = self.get(kind) else { return Ok(None) };
        let [word] = Self::words(elf, note)[..] else {
            return Err(ImageError::Field {
                field: elf::nhdr::DESCSZ.name,
                offset: note.at + elf::nhdr::DESCSZ.at,
                found: note.range.end - note.range.start,
                allowed: "4 (one word)".to_owned(),
            });
        };
        if word > 1 {
            let message = format!("the {} note holds {word}; allowed are 0 and 1; taken as 1", kind.name());
            remarks.push(Remark { offset: note.range.start, message });
        }
        Ok(Some(word != 0))
    }

    fn literals(&self, elf: &Elf<'_>) -> Result<Vec<Literal>, ImageError> {
        let Some(note) = &self.literals else { return Ok(Vec::new()) };
        let size = note.range.end - note.range.start;
        if size % (super::LITERAL_WORDS as u64 * 4) != 0 {
            return Err(ImageError::Field {
                field: elf::nhdr::DESCSZ.name,
                offset: note.at + elf::nhdr::DESCSZ.at,
                found: size,
                allowed: format!("multiples of {}, the size of a literal", super::LITERAL_WORDS * 4),
            });
        }
        let words = Self::words(elf, note);
        words
            .chunks_exact(super::LITERAL_WORDS)
            .enumerate()
            .map(|(i, record)| {
                let offset = note.range.start + (i * super::LITERAL_WORDS * 4) as u64;
                let bad = |field, word: usize, allowed: String| ImageError::Field {
                    field,
                    offset: offset + word as u64 * 4,
                    found: u64::from(record[word]),
                    allowed,
                };
                let kind = DataKind::from_code(record[0]);
                let limit = kind.map_or(0, DataKind::limit);
                let index = u8::try_from(record[1]).ok().filter(|&index| usize::from(index) < limit);
                match (kind, index) {
                    (None, _) => Err(bad("literal kind", 0, "13 (FLOAT32), 14 (INT32), 15 (BOOL32)".to_owned())),
                    (Some(_), None) => Err(bad("literal index", 1, format!("0..={}", limit - 1))),
                    (Some(kind), Some(index)) => {
                        let value = [record[2], record[3], record[4], record[5]];
                        data::literal(kind, index, value)
                            .ok_or_else(|| bad("literal kind", 0, "13 (FLOAT32), 14 (INT32), 15 (BOOL32)".to_owned()))
                    }
                }
            })
            .collect()
    }
}

/// Turns the program information into a program.
struct InfoReader<'a> {
    information: &'a program_info::InfoWords,
    offset: u64,
    remarks: &'a mut Vec<Remark>,
}

impl InfoReader<'_> {
    fn place(&self, format: WordFormat) -> u64 {
        self.offset + format.dword as u64 * 4
    }

    fn word<T>(
        &self,
        format: WordFormat,
        decode: fn(u32) -> Result<T, ctm_isa::table::FieldError>,
    ) -> Result<T, ImageError> {
        decode(self.information[format.dword]).map_err(|error| ImageError::Field {
            field: error.field,
            offset: self.place(format),
            found: u64::from(error.found),
            allowed: "a number with a meaning".to_owned(),
        })
    }

    fn remark(&mut self, format: WordFormat, message: String) {
        let offset = self.place(format);
        self.remarks.push(Remark { offset, message });
    }

    fn program(&mut self, text: &[u8], range: &Range<u64>) -> Result<Program, ImageError> {
        let words = self.instructions(text, range)?;
        let count = words.len();
        let addr = self.word(UsCodeAddr::FORMAT, UsCodeAddr::decode)?;
        for (field, found) in [("START_ADDR", addr.first), ("END_ADDR", addr.last)] {
            if usize::from(found) >= count {
                return Err(ImageError::Field {
                    field,
                    offset: self.place(UsCodeAddr::FORMAT),
                    found: u64::from(found),
                    allowed: format!("0..={}, the program's instructions", count - 1),
                });
            }
        }
        let code = self.word(UsCodeRange::FORMAT, UsCodeRange::decode)?;
        if usize::from(code.size) + 1 != count {
            let message =
                format!("`CODE_SIZE` of US_CODE_RANGE is {}; {} instructions want {}", code.size, count, count - 1);
            self.remark(UsCodeRange::FORMAT, message);
        }
        if code.base != 0 {
            self.remark(
                UsCodeRange::FORMAT,
                format!("`CODE_ADDR` of US_CODE_RANGE is {}; the Guide wants 0; ignored", code.base),
            );
        }
        let config = self.word(UsConfig::FORMAT, UsConfig::decode)?;
        let (preloads, unknown) = program_info::preloads(self.information);
        for index in unknown {
            self.remarks.push(Remark {
                offset: self.offset + index as u64 * 4,
                message: "a rasteriser instruction writes a colour or a face, which CTM has not; ignored".to_owned(),
            });
        }
        Ok(Program {
            words,
            first: addr.first,
            last: addr.last,
            full_flow_control: self.word(UsFcCtrl::FORMAT, UsFcCtrl::decode)?.full,
            uncached: config.uncached,
            zero_times_anything: config.zero_times_anything,
            conditional_value: self.word(FgDepthSrc::FORMAT, FgDepthSrc::decode)?.conditional_value,
            lookups: x1k::program::Lookups::Inputs,
            preloads,
            symbols: Vec::new(),
            literals: Vec::new(),
            spans: Vec::new(),
        })
    }

    fn instructions(&mut self, text: &[u8], range: &Range<u64>) -> Result<Vec<x1k::Words>, ImageError> {
        let offset = self.place(InstrCnt::FORMAT);
        let found = u64::from(self.word(InstrCnt::FORMAT, InstrCnt::decode)?.count);
        let most = x1k::INSTRUCTION_SLOTS as u64;
        if found == 0 || found > most {
            let allowed = format!("1..={most}");
            return Err(ImageError::Field { field: InstrCnt::FORMAT.name, offset, found, allowed });
        }
        let (needed, size) = (found * super::INSTRUCTION_BYTES, range.end - range.start);
        if needed > size {
            return Err(ImageError::Field {
                field: InstrCnt::FORMAT.name,
                offset,
                found,
                allowed: format!(
                    "1..={}, which is what the {size} bytes of .text at byte {} hold",
                    size / super::INSTRUCTION_BYTES,
                    range.start
                ),
            });
        }
        if needed < size {
            let message =
                format!("`INSTR_CNT` is {found}, but .text has {size} bytes, not {needed}; the rest is ignored");
            self.remark(InstrCnt::FORMAT, message);
        }
        let words = crate::bytes::ByteOrder::Little.words(&text[..needed as usize]);
        Ok(words.chunks_exact(6).map(|w| [w[0], w[1], w[2], w[3], w[4], w[5]]).collect())
    }
}

/// The names in `.symtab`. Symbols of other kinds, and numbers that name nothing, are remarked on.
fn symbols(elf: &Elf<'_>, remarks: &mut Vec<Remark>) -> Result<Vec<Symbol>, ImageError> {
    let mut symbols = Vec::new();
    let Some(table) = elf.one_symbol_table()? else { return Ok(symbols) };
    for symbol in elf.symbols(table)? {
        let kind = DataKind::from_code(u32::from(symbol.kind));
        let index = kind.and_then(|k| u8::try_from(symbol.value).ok().filter(|&i| usize::from(i) < k.limit()));
        match (kind, index) {
            (Some(kind), Some(index)) if symbol.section == elf::SHN_ABS => {
                symbols.push(Symbol { name: symbol.name, kind: data::symbol_kind(kind), index });
            }
            _ => remarks.push(Remark {
                offset: symbol.at + sym::INFO.at,
                message: format!(
                    "symbol `{}` of type {} with value {} names no input, output or constant; ignored",
                    symbol.name.escape_debug(),
                    symbol.kind,
                    symbol.value
                ),
            }),
        }
    }
    Ok(symbols)
}

/// Remarks where notes and instructions disagree. The loader uses the notes.
fn compare_with_usage(
    usage: &Usage,
    information: &program_info::InfoWords,
    information_offset: u64,
    raw: &RawNotes,
    notes: &Notes,
    remarks: &mut Vec<Remark>,
) {
    let place = |kind: NoteKind| raw.get(kind).map_or(information_offset, |note| note.at);
    for (kind, said, used) in [
        (NoteKind::Inputs, &notes.inputs, &usage.inputs),
        (NoteKind::Outputs, &notes.outputs, &usage.outputs),
        (NoteKind::Float32Consts, &notes.float32_constants, &usage.float_constants),
        (NoteKind::Int32Consts, &notes.int32_constants, &usage.int_constants),
    ] {
        let said = said.as_deref().unwrap_or_default();
        let missing: Vec<String> = used.iter().filter(|&&i| !said.contains(&u32::from(i))).map(u8::to_string).collect();
        let extra: Vec<String> =
            said.iter().filter(|&&i| !used.iter().any(|&u| u32::from(u) == i)).map(u32::to_string).collect();
        for (list, message) in
            [(missing, "leaves out what instructions refer to"), (extra, "lists what no instruction refers to")]
        {
            if !list.is_empty() {
                let message = format!("the {} note {message}: {}", kind.name(), list.join(", "));
                remarks.push(Remark { offset: place(kind), message });
            }
        }
    }
    let exported = information[FgDepthSrc::FORMAT.dword] & 1 != 0;
    for (kind, said, used, by) in [
        (NoteKind::CondOut, notes.conditional_output, usage.conditional_value, "the instructions"),
        (NoteKind::CondOut, notes.conditional_output, exported, "FG_DEPTH_SRC"),
        (NoteKind::EarlyExit, notes.early_exit, usage.early_exit, "the instructions"),
    ] {
        if said.unwrap_or(false) != used {
            let said = match said {
                Some(value) => format!("says {}", u8::from(value)),
                None => "is not there, which means 0".to_owned(),
            };
            let message = format!("the {} note {said}; by {by} it is {}", kind.name(), u8::from(used));
            remarks.push(Remark { offset: place(kind), message });
        }
    }
    let largest = UsPixsize::decode(information[UsPixsize::FORMAT.dword]).map_or(0, |w| w.largest_temp);
    if largest < usage.highest_temp {
        remarks.push(Remark {
            offset: information_offset + UsPixsize::FORMAT.dword as u64 * 4,
            message: format!("US_PIXSIZE is {largest}, but instructions refer to temporary {}", usage.highest_temp),
        });
    }
}
