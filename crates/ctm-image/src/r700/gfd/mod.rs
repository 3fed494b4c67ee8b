//! `Gfx2` containers: shaders of a console whose GPU runs R700 programs (`.gsh`).
//!
//! A file is a header and blocks, all numbers big-endian. A header block holds a program's registers and the names of its
//! variables; the block with the program's words (little-endian) follows. [`Gfd`] keeps every block as it was read, so that
//! unchanged parts are written byte for byte; [`header`] is the layout table of header blocks.

pub mod header;

pub mod print;

pub mod settings;

mod new;

pub use new::{NewProgram, NewVariable, OtherWord, build};

use super::{ExtractedProgram, RegisterValue, ShaderStage, registers};
use crate::bytes::{ByteOrder, FileBytes};
use crate::error::{ImageError, Remark};
use ctm_isa::ops;
use header::{HeaderLayout, VariableKind, WordMeaning};

ops! {
    /// The kind of a block.
    pub enum BlockKind cite "docs/image.md" {
        /// Nothing; the file ends.
        End "END" 1;
        /// Padding, for alignment of the next block.
        Padding "PADDING" 2;
        /// Registers and variables of a vertex program.
        VertexHeader "VERTEX_HEADER" 3;
        /// The words of a vertex program.
        VertexProgram "VERTEX_PROGRAM" 5;
        /// Registers and variables of a pixel program.
        PixelHeader "PIXEL_HEADER" 6;
        /// The words of a pixel program.
        PixelProgram "PIXEL_PROGRAM" 7;
        /// Registers and variables of a geometry program.
        GeometryHeader "GEOMETRY_HEADER" 8;
        /// The words of a geometry program.
        GeometryProgram "GEOMETRY_PROGRAM" 9;
        /// The words of the program that copies a geometry program's vertices on.
        CopyProgram "COPY_PROGRAM" 10;
        /// A texture's description.
        TextureHeader "TEXTURE_HEADER" 11;
        /// A texture's elements.
        TextureImage "TEXTURE_IMAGE" 12;
        /// A texture's smaller levels.
        TextureMipmap "TEXTURE_MIPMAP" 13;
        /// Registers and variables of a compute program. Its layout is not public.
        ComputeHeader "COMPUTE_HEADER" 14;
        /// The words of a compute program.
        ComputeProgram "COMPUTE_PROGRAM" 15;
    }
}

impl BlockKind {
    /// For blocks of words: the stage of the program, and the kind of its header block.
    #[must_use]
    pub const fn program(self) -> Option<(ShaderStage, Self)> {
        match self {
            Self::VertexProgram => Some((ShaderStage::Vertex, Self::VertexHeader)),
            Self::PixelProgram => Some((ShaderStage::Pixel, Self::PixelHeader)),
            Self::GeometryProgram => Some((ShaderStage::Geometry, Self::GeometryHeader)),
            Self::CopyProgram => Some((ShaderStage::Copy, Self::GeometryHeader)),
            Self::ComputeProgram => Some((ShaderStage::Compute, Self::ComputeHeader)),
            Self::End
            | Self::Padding
            | Self::VertexHeader
            | Self::PixelHeader
            | Self::GeometryHeader
            | Self::TextureHeader
            | Self::TextureImage
            | Self::TextureMipmap
            | Self::ComputeHeader => None,
        }
    }
}

/// `Gfx2`, big-endian.
pub const FILE_MAGIC: u32 = 0x4766_7832;
/// `BLK{`, big-endian.
pub const BLOCK_MAGIC: u32 = 0x424c_4b7b;
/// Words of the file header and of a block header.
pub const HEADER_WORDS: usize = 8;
/// Names of the file header's words.
pub const FILE_FIELDS: [&str; HEADER_WORDS] = [
    "magic",
    "header size",
    "major version",
    "minor version",
    "GPU version",
    "alignment mode",
    "reserved 0",
    "reserved 1",
];
/// Names of a block header's words.
pub const BLOCK_FIELDS: [&str; HEADER_WORDS] =
    ["magic", "header size", "major version", "minor version", "type", "data size", "identifier", "index"];
const BLOCK_TYPE: usize = 4;
const BLOCK_SIZE: usize = 5;
const HEADER_BYTES: u64 = HEADER_WORDS as u64 * 4;
/// The most blocks that are read. Real files have fewer than a thousand.
pub const MOST_BLOCKS: usize = 65_536;
/// The most variables that are read from one table.
pub const MOST_VARIABLES: u64 = 1024;
/// The longest name of a variable, its NUL included.
pub const LONGEST_NAME: u64 = 512;

/// One block as it is in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GfdBlock {
    /// Byte offset of the block's header.
    pub at: u64,
    /// The header's words; see [`BLOCK_FIELDS`].
    pub header: [u32; HEADER_WORDS],
    /// The contents.
    pub data: Vec<u8>,
}

impl GfdBlock {
    /// Its kind; `None` for numbers that are not known.
    #[must_use]
    pub fn kind(&self) -> Option<BlockKind> {
        BlockKind::from_code(self.header[BLOCK_TYPE])
    }

    fn input(&self) -> FileBytes<'_> {
        FileBytes::new(&self.data, ByteOrder::Big)
    }

    /// Turns an offset within the contents into one within the file.
    fn place(&self, error: ImageError) -> ImageError {
        let base = self.at + HEADER_BYTES;
        match error {
            ImageError::Truncated { what, offset, size, available } => {
                ImageError::Truncated { what, offset: offset + base, size, available: available + base }
            }
            ImageError::Field { field, offset, found, allowed } => {
                ImageError::Field { field, offset: offset + base, found, allowed }
            }
            other => other,
        }
    }
}

/// A variable of a program: a host binds data to its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Which table it is in.
    pub kind: VariableKind,
    /// Its name; empty for tables without names.
    pub name: String,
    /// The further columns, by [`VariableKind::columns`].
    pub values: Vec<u32>,
}

/// A program and the blocks that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// Index of the header block, where there is one.
    pub header: Option<usize>,
    /// Index of the block with the words.
    pub program: usize,
    /// The program and its registers.
    pub code: ExtractedProgram,
    /// Its variables. A copy program has those of its geometry program.
    pub variables: Vec<Variable>,
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gfd {
    /// The file header's words; see [`FILE_FIELDS`].
    pub header: [u32; HEADER_WORDS],
    /// The blocks in order, the closing one included.
    pub blocks: Vec<GfdBlock>,
    /// Bytes after the closing block.
    pub rest: Vec<u8>,
}

fn header_words(
    input: &FileBytes<'_>,
    at: u64,
    what: &'static str,
    magic: u32,
    name: &str,
) -> Result<[u32; HEADER_WORDS], ImageError> {
    let bytes = input.slice(what, at, HEADER_BYTES)?;
    let mut words = [0; HEADER_WORDS];
    words.copy_from_slice(&ByteOrder::Big.words(bytes));
    for (index, field, allowed, meaning) in
        [(0, "magic", magic, name), (1, "header size", HEADER_BYTES as u32, "bytes of a header")]
    {
        if words[index] != allowed {
            return Err(ImageError::Field {
                field,
                offset: at + index as u64 * 4,
                found: u64::from(words[index]),
                allowed: format!("{allowed} ({meaning})"),
            });
        }
    }
    Ok(words)
}

impl Gfd {
    /// Reads a container. [`Gfd::shaders`] reads the contents of blocks.
    ///
    /// # Errors
    /// Not such a file, or a block reaches beyond the input.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        let input = FileBytes::new(bytes, ByteOrder::Big);
        let header = header_words(&input, 0, "the file header", FILE_MAGIC, "the bytes `Gfx2`")?;
        let mut blocks: Vec<GfdBlock> = Vec::new();
        let mut at = HEADER_BYTES;
        while at < input.len() && blocks.last().and_then(GfdBlock::kind) != Some(BlockKind::End) {
            if blocks.len() == MOST_BLOCKS {
                let (found, allowed) = (MOST_BLOCKS as u64 + 1, format!("0..={MOST_BLOCKS}"));
                return Err(ImageError::Field { field: "number of blocks", offset: at, found, allowed });
            }
            let words = header_words(&input, at, "a block header", BLOCK_MAGIC, "the bytes `BLK{`")?;
            let size = u64::from(words[BLOCK_SIZE]);
            let data = input.slice("a block's contents", at + HEADER_BYTES, size)?.to_vec();
            blocks.push(GfdBlock { at, header: words, data });
            at += HEADER_BYTES + size;
        }
        let rest = bytes.get(usize::try_from(at).unwrap_or(bytes.len())..).unwrap_or_default().to_vec();
        Ok(Self { header, blocks, rest })
    }

    /// The container's bytes. Unchanged parts keep their bytes.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut out: Vec<u8> = self.header.iter().flat_map(|w| w.to_be_bytes()).collect();
        for block in &self.blocks {
            out.extend(block.header.iter().flat_map(|w| w.to_be_bytes()));
            out.extend(&block.data);
        }
        out.extend(&self.rest);
        out
    }

    /// The programs, in the order of their words in the file.
    ///
    /// # Errors
    /// A header block is too short for its contents, or has an offset beyond its end.
    pub fn shaders(&self) -> Result<Vec<Shader>, ImageError> {
        let mut shaders = Vec::new();
        for (index, block) in self.blocks.iter().enumerate() {
            let Some((stage, header_kind)) = block.kind().and_then(BlockKind::program) else { continue };
            // A header serves the next program of each kind, and no other.
            let header = self.blocks[..index]
                .iter()
                .rposition(|b| b.kind() == Some(header_kind) || b.kind() == block.kind())
                .filter(|&h| self.blocks[h].kind() == Some(header_kind));
            let (mut registers, mut variables) = (Vec::new(), Vec::new());
            if let Some((h, layout)) = header.and_then(|h| Some((&self.blocks[h], HeaderLayout::of(header_kind)?))) {
                registers = read_registers(h, layout).map_err(|e| h.place(e))?;
                variables = read_variables(h, layout).map_err(|e| h.place(e))?;
            }
            if !block.data.len().is_multiple_of(8) {
                return Err(ImageError::Field {
                    field: "data size",
                    offset: block.at + BLOCK_SIZE as u64 * 4,
                    found: block.data.len() as u64,
                    allowed: "multiples of 8, the size of a slot".to_owned(),
                });
            }
            let code = ExtractedProgram { stage, words: ByteOrder::Little.words(&block.data), registers };
            shaders.push(Shader { header, program: index, code, variables });
        }
        Ok(shaders)
    }

    /// Puts a program in the place of the one at `index` of [`Gfd::shaders`]: its words, and the registers that the header
    /// block has room for. The variables stay.
    ///
    /// # Errors
    /// There is no such program, it is for another stage, or it sets a register that the header block does not hold.
    pub fn replace(&mut self, index: usize, code: &ExtractedProgram) -> Result<(), ImageError> {
        let shaders = self.shaders()?;
        let Some(shader) = shaders.get(index) else {
            let message = format!("the container has {} programs; there is none at {index}", shaders.len());
            return Err(ImageError::Unstorable { what: "the program", message });
        };
        if shader.code.stage != code.stage {
            let (old, new) = (shader.code.stage.name(), code.stage.name());
            let message = format!("a {new} program cannot stand in the place of a {old} program");
            return Err(ImageError::Unstorable { what: "the program", message });
        }
        let data: Vec<u8> = code.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let size = u32::try_from(data.len()).map_err(|_| ImageError::TooMany {
            what: "bytes",
            found: data.len() as u64,
            allowed: u64::from(u32::MAX),
        })?;
        if let Some(h) = shader.header
            && let Some(layout) = self.blocks[h].kind().and_then(HeaderLayout::of)
        {
            let mut header = self.blocks[h].data.clone();
            let size_part =
                if code.stage == ShaderStage::Copy { WordMeaning::CopySize } else { WordMeaning::ProgramSize };
            for (at, part) in layout.words() {
                let value = match part {
                    WordMeaning::Register(row, i) => {
                        let address = row.address + i * 4;
                        code.registers.iter().find(|r| r.address == address).map(|r| r.value)
                    }
                    part if part == size_part => Some(size),
                    _ => None,
                };
                if let Some(value) = value
                    && let Some(place) = header.get_mut(at as usize..at as usize + 4)
                {
                    place.copy_from_slice(&value.to_be_bytes());
                }
            }
            let holds = |address| {
                layout
                    .words()
                    .any(|(_, p)| matches!(p, WordMeaning::Register(row, i) if row.address + i * 4 == address))
            };
            if let Some(lost) = code.registers.iter().find(|r| !holds(r.address)) {
                let name = registers::name(lost.address);
                let message = format!("a {} program's header has no place for {name}", code.stage.name());
                return Err(ImageError::Unstorable { what: "a register", message });
            }
            self.blocks[h].data = header;
        }
        let block = &mut self.blocks[shader.program];
        block.header[BLOCK_SIZE] = size;
        block.data = data;
        Ok(())
    }

    /// Remarks on the container.
    #[must_use]
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        let mut say = |offset, message| remarks.push(Remark { offset, message });
        for block in &self.blocks {
            match block.kind() {
                None => say(block.at, format!("a block of type {}, which is not known", block.header[BLOCK_TYPE])),
                Some(kind) if kind.program().is_some() => {
                    let size = block.data.len();
                    if let Some((_, header_kind)) = kind.program()
                        && let Some(layout) = HeaderLayout::of(header_kind)
                        && let Some(header) =
                            self.blocks.iter().rfind(|b| b.at < block.at && b.kind() == Some(header_kind))
                    {
                        let part = if kind == BlockKind::CopyProgram {
                            WordMeaning::CopySize
                        } else {
                            WordMeaning::ProgramSize
                        };
                        let said = layout.words().find(|(_, p)| *p == part).map(|(at, _)| at);
                        let said = said.and_then(|at| header.input().u32("program size", at).ok());
                        if said.is_some_and(|said| said as usize != size) {
                            let said = said.unwrap_or_default();
                            say(block.at, format!("the program has {size} bytes; its header says {said}"));
                        }
                    } else {
                        say(block.at, "a program without a header block that can be read".to_owned());
                    }
                }
                Some(_) => {}
            }
        }
        if self.blocks.last().and_then(GfdBlock::kind) != Some(BlockKind::End) {
            let end = HEADER_BYTES + self.blocks.iter().map(|b| HEADER_BYTES + b.data.len() as u64).sum::<u64>();
            say(end, "the closing block is missing".to_owned());
        }
        remarks
    }
}

/// The registers of a header block, in the order of the file. Entries of lists beyond their count are not there.
fn read_registers(block: &GfdBlock, layout: &HeaderLayout) -> Result<Vec<RegisterValue>, ImageError> {
    let input = block.input();
    let mut values = Vec::new();
    let mut count = None;
    for (at, part) in layout.words() {
        let value = input.u32("a register", at)?;
        match part {
            WordMeaning::Count => count = Some(value),
            WordMeaning::Register(row, index) => {
                if row.count == 1 || count.is_none_or(|count| index < count) {
                    values.push(RegisterValue { address: row.address + index * 4, value });
                }
            }
            WordMeaning::ProgramSize
            | WordMeaning::CopySize
            | WordMeaning::Pointer
            | WordMeaning::Mode
            | WordMeaning::Table(_)
            | WordMeaning::Other(_) => {}
        }
    }
    Ok(values)
}

/// Pointers within a block carry a tag in the upper bits: data or text.
const POINTER: u32 = 0x000f_ffff;

fn read_variables(block: &GfdBlock, layout: &HeaderLayout) -> Result<Vec<Variable>, ImageError> {
    let input = block.input();
    let mut variables = Vec::new();
    for (at, part) in layout.words() {
        let WordMeaning::Table(kind) = part else { continue };
        let count = u64::from(input.u32("the size of a table", at)?);
        if count > MOST_VARIABLES {
            let allowed = format!("0..={MOST_VARIABLES}");
            return Err(ImageError::Field { field: "number of variables", offset: at, found: count, allowed });
        }
        let start = u64::from(input.u32("the place of a table", at + 4)? & POINTER);
        let row = kind.row_words() * 4;
        input.slice("a table of variables", start, count.saturating_mul(row))?;
        for base in (0..count).map(|i| start + i * row) {
            let mut words = base;
            let mut next = || {
                words += 4;
                input.u32("a variable", words - 4)
            };
            let name = match kind.has_name() {
                true => {
                    let pointer = u64::from(next()? & POINTER);
                    input.text("a variable's name", pointer, pointer + LONGEST_NAME)?
                }
                false => String::new(),
            };
            let values = kind.columns().iter().map(|_| next()).collect::<Result<_, _>>()?;
            variables.push(Variable { kind, name, values });
        }
    }
    Ok(variables)
}
