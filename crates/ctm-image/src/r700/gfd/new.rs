//! Making a container from programs.

use super::header::{HeaderLayout, VariableKind, WordMeaning, unset};
use super::{BLOCK_MAGIC, BlockKind, FILE_MAGIC, Gfd};
use crate::error::ImageError;
use crate::r700::{ExtractedProgram, ShaderStage};

/// A variable of a new program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVariable {
    /// Which table it goes to.
    pub kind: VariableKind,
    /// Its name; not used for tables without names.
    pub name: String,
    /// The further columns, by [`VariableKind::columns`].
    pub values: Vec<u32>,
}

/// A word of a header block that is no register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherWord {
    /// Its name in the layout ([`WordMeaning::Other`]).
    pub name: &'static str,
    /// Which one of several of the name.
    pub index: u32,
    /// Its contents.
    pub value: u32,
}

/// A program for a new container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewProgram {
    /// The program and its registers. Registers that are not given are [`unset`].
    pub code: ExtractedProgram,
    /// For a geometry program: the program that copies its vertices on.
    pub copy: Option<ExtractedProgram>,
    /// Its variables.
    pub variables: Vec<NewVariable>,
    /// How uniforms reach it ([`WordMeaning::Mode`]).
    pub mode: u32,
    /// Words of its header that are no registers; those that are not given are 0.
    pub words: Vec<OtherWord>,
}

impl NewProgram {
    /// A program without variables, with all that is not register 0.
    #[must_use]
    pub fn new(code: ExtractedProgram) -> Self {
        Self { code, copy: None, variables: Vec::new(), mode: 0, words: Vec::new() }
    }

    /// The kind and the bytes of its header block.
    ///
    /// # Errors
    /// As for [`build`].
    pub fn header_block(&self) -> Result<(BlockKind, Vec<u8>), ImageError> {
        let kind = header_kind(self.code.stage)?;
        let layout = HeaderLayout::of(kind).ok_or_else(|| no_header(self.code.stage))?;
        Ok((kind, header_block(self, layout)?))
    }
}

/// The tag of a pointer at data.
const DATA: u32 = 0xd060_0000;
/// The tag of a pointer at text.
const TEXT: u32 = 0xca70_0000;
/// `}BLK`, big-endian: the head of the list of pointers.
const POINTERS_MAGIC: u32 = 0x7d42_4c4b;
/// Bytes of that head.
const POINTERS_HEAD: u32 = 0x28;
/// The version of the file and of the GPU that tools write.
const FILE_VERSION: [u32; 3] = [7, 1, 2];

impl Gfd {
    /// A container with these blocks, numbered in their order, and the closing one.
    ///
    /// # Errors
    /// A block, or all of them, too large for the format.
    pub fn of_blocks(blocks: impl IntoIterator<Item = (BlockKind, Vec<u8>)>) -> Result<Self, ImageError> {
        let [major, minor, gpu] = FILE_VERSION;
        let mut bytes: Vec<u8> =
            [FILE_MAGIC, 0x20, major, minor, gpu, 0, 0, 0].iter().flat_map(|w| w.to_be_bytes()).collect();
        for (identifier, (kind, data)) in (0..).zip(blocks.into_iter().chain([(BlockKind::End, Vec::new())])) {
            let size = u32::try_from(data.len()).map_err(|_| ImageError::TooMany {
                what: "bytes",
                found: data.len() as u64,
                allowed: u64::from(u32::MAX),
            })?;
            let header = [BLOCK_MAGIC, 0x20, 1, 0, kind.code(), size, identifier, 0];
            bytes.extend(header.iter().flat_map(|w| w.to_be_bytes()));
            bytes.extend(data);
        }
        Self::read(&bytes)
    }
}

/// Makes a container of vertex, pixel and geometry programs.
///
/// # Errors
/// A program for another stage, a variable whose kind the stage has not, or something too large for the format.
pub fn build(programs: &[NewProgram]) -> Result<Gfd, ImageError> {
    let mut blocks = Vec::new();
    for program in programs {
        let (header, data) = program.header_block()?;
        blocks.push((header, data));
        let kinds = BlockKind::ALL.iter().filter(|kind| kind.program().is_some_and(|(_, of)| of == header));
        let Some(&program_kind) = kinds.min_by_key(|kind| kind.code()) else { continue };
        blocks.push((program_kind, words(&program.code)));
        if let Some(copy) = &program.copy {
            blocks.push((BlockKind::CopyProgram, words(copy)));
        }
    }
    Gfd::of_blocks(blocks)
}

/// The kind of header block that programs of a stage have.
fn header_kind(stage: ShaderStage) -> Result<BlockKind, ImageError> {
    match stage {
        ShaderStage::Vertex => Ok(BlockKind::VertexHeader),
        ShaderStage::Pixel => Ok(BlockKind::PixelHeader),
        ShaderStage::Geometry => Ok(BlockKind::GeometryHeader),
        ShaderStage::Fetch | ShaderStage::Copy | ShaderStage::Compute => Err(no_header(stage)),
    }
}

fn no_header(stage: ShaderStage) -> ImageError {
    let message = format!("there is no header for a {} program", stage.name());
    ImageError::Unstorable { what: "the program", message }
}

fn words(code: &ExtractedProgram) -> Vec<u8> {
    code.words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Registers, tables, names, and the list of pointers with its head.
fn header_block(program: &NewProgram, layout: &HeaderLayout) -> Result<Vec<u8>, ImageError> {
    let mut data: Vec<u8> = Vec::new();
    // Offsets of pointers to data and to text: the list names those at data first.
    let (mut at_data, mut at_text) = (Vec::new(), Vec::new());
    let (mut tables, mut names) = (Vec::new(), Vec::new());
    // Names come after all tables, so their places are known only when the tables' size is.
    let table_bytes: u64 = program.variables.iter().map(|v| v.kind.row_words() * 4).sum();
    let text_start = (layout.size + table_bytes) as u32;
    let mut parts = layout.words().peekable();
    let register = |address: u32| program.code.registers.iter().find(|r| r.address == address).map(|r| r.value);
    let mut others: Vec<&str> = Vec::new();
    let parts_list: Vec<WordMeaning> = layout.words().map(|(_, part)| part).collect();
    while let Some((at, part)) = parts.next() {
        let word = match part {
            WordMeaning::Register(row, index) => register(row.address + index * 4).unwrap_or_else(|| unset(row)),
            // The registers that count are those up to the last one given.
            WordMeaning::Count => match parts_list.get(at as usize / 4 + 1) {
                Some(WordMeaning::Register(row, _)) => {
                    let given = |i: &u32| program.code.registers.iter().any(|r| r.address == row.address + i * 4);
                    (0..row.count).rev().find(given).map_or(0, |i| i + 1)
                }
                _ => 0,
            },
            WordMeaning::ProgramSize => program.code.words.len() as u32 * 4,
            WordMeaning::CopySize => program.copy.as_ref().map_or(0, |c| c.words.len() as u32 * 4),
            WordMeaning::Table(kind) => {
                let rows: Vec<&NewVariable> = program.variables.iter().filter(|v| v.kind == kind).collect();
                data.extend((rows.len() as u32).to_be_bytes());
                parts.next();
                if rows.is_empty() {
                    0
                } else {
                    at_data.push(DATA | (at as u32 + 4));
                    let place = layout.size as u32 + tables.len() as u32;
                    for row in rows {
                        table_row(row, layout, text_start, &mut tables, &mut names, &mut at_text)?;
                    }
                    DATA | place
                }
            }
            WordMeaning::Mode => program.mode,
            WordMeaning::Other(name) => {
                let index = others.iter().filter(|o| **o == name).count() as u32;
                others.push(name);
                program.words.iter().find(|w| w.name == name && w.index == index).map_or(0, |w| w.value)
            }
            WordMeaning::Pointer => 0,
        };
        data.extend(word.to_be_bytes());
    }
    if program.variables.iter().any(|v| !parts_list.contains(&WordMeaning::Table(v.kind))) {
        let message = format!("a {} program's header has no table for it", program.code.stage.name());
        return Err(ImageError::Unstorable { what: "a variable", message });
    }
    data.extend(tables);
    let text_size = names.len() as u32;
    data.extend(names);
    let size = data.len() as u32;
    if size > super::POINTER {
        let (found, allowed) = (u64::from(size), u64::from(super::POINTER));
        return Err(ImageError::TooMany { what: "bytes of variables", found, allowed });
    }
    let pointers = [at_data, at_text].concat();
    data.extend(pointers.iter().flat_map(|w| w.to_be_bytes()));
    let head = [
        POINTERS_MAGIC,
        POINTERS_HEAD,
        0,
        size,
        DATA,
        text_size,
        DATA | text_start,
        0,
        pointers.len() as u32,
        DATA | size,
    ];
    data.extend(head.iter().flat_map(|w| w.to_be_bytes()));
    Ok(data)
}

fn table_row(
    row: &NewVariable,
    layout: &HeaderLayout,
    text_start: u32,
    tables: &mut Vec<u8>,
    names: &mut Vec<u8>,
    at_text: &mut Vec<u32>,
) -> Result<(), ImageError> {
    let columns = row.kind.columns();
    if row.values.len() != columns.len() || row.name.contains('\0') || row.name.len() as u64 >= super::LONGEST_NAME {
        let message = format!(
            "{} values were given for the columns {}, and a name has no NUL and fewer than {} bytes",
            row.values.len(),
            columns.join(", "),
            super::LONGEST_NAME
        );
        return Err(ImageError::Unstorable { what: "a variable", message });
    }
    if row.kind.has_name() {
        at_text.push(TEXT | (layout.size as u32 + tables.len() as u32));
        tables.extend((TEXT | (text_start + names.len() as u32)).to_be_bytes());
        names.extend(row.name.bytes().chain([0]));
        names.resize(names.len().next_multiple_of(4), 0);
    }
    tables.extend(row.values.iter().flat_map(|w| w.to_be_bytes()));
    Ok(())
}
