//! Layout of header blocks (tables). Every word is four bytes, big-endian.

use super::BlockKind;
use crate::r700::registers::{self, Register};
use ctm_isa::ops;

ops! {
    /// The tables of variables, in the order in which header blocks name them.
    pub enum VariableKind cite "docs/image.md" info &'static [&'static str] {
        /// Blocks of uniforms.
        UniformBlock "uniform block" 0 => &["offset", "size"];
        /// Uniforms.
        Uniform "uniform" 1 => &["type", "count", "offset", "block"];
        /// Initial values of uniforms: four floats.
        InitialValue "initial value" 2 => &["x", "y", "z", "w", "offset"];
        /// Loop constants.
        Loop "loop" 3 => &["offset", "value"];
        /// Samplers.
        Sampler "sampler" 4 => &["type", "location"];
        /// Attributes.
        Attribute "attribute" 5 => &["type", "count", "location"];
    }
}

impl VariableKind {
    /// The names of the columns after the name.
    #[must_use]
    pub const fn columns(self) -> &'static [&'static str] {
        self.info()
    }

    /// Whether the first word of a row points at a name.
    #[must_use]
    pub const fn has_name(self) -> bool {
        !matches!(self, Self::InitialValue | Self::Loop)
    }

    /// Words of a row.
    #[must_use]
    pub const fn row_words(self) -> u64 {
        self.columns().len() as u64 + self.has_name() as u64
    }
}

ops! {
    /// The type of a uniform or attribute.
    pub enum VariableType cite "GX2 shader variable types" {
        /// Nothing.
        Void "void" 0;
        /// One boolean.
        Bool "bool" 1;
        /// One signed integer.
        Int "int" 2;
        /// One unsigned integer.
        Uint "uint" 3;
        /// One float.
        Float "float" 4;
        /// One double.
        Double "double" 5;
        /// Two doubles.
        Double2 "dvec2" 6;
        /// Three doubles.
        Double3 "dvec3" 7;
        /// Four doubles.
        Double4 "dvec4" 8;
        /// Two floats.
        Float2 "vec2" 9;
        /// Three floats.
        Float3 "vec3" 10;
        /// Four floats.
        Float4 "vec4" 11;
        /// Two booleans.
        Bool2 "bvec2" 12;
        /// Three booleans.
        Bool3 "bvec3" 13;
        /// Four booleans.
        Bool4 "bvec4" 14;
        /// Two signed integers.
        Int2 "ivec2" 15;
        /// Three signed integers.
        Int3 "ivec3" 16;
        /// Four signed integers.
        Int4 "ivec4" 17;
        /// Two unsigned integers.
        Uint2 "uvec2" 18;
        /// Three unsigned integers.
        Uint3 "uvec3" 19;
        /// Four unsigned integers.
        Uint4 "uvec4" 20;
        /// A matrix of floats.
        Float2x2 "mat2x2" 21;
        /// A matrix of floats.
        Float2x3 "mat2x3" 22;
        /// A matrix of floats.
        Float2x4 "mat2x4" 23;
        /// A matrix of floats.
        Float3x2 "mat3x2" 24;
        /// A matrix of floats.
        Float3x3 "mat3x3" 25;
        /// A matrix of floats.
        Float3x4 "mat3x4" 26;
        /// A matrix of floats.
        Float4x2 "mat4x2" 27;
        /// A matrix of floats.
        Float4x3 "mat4x3" 28;
        /// A matrix of floats.
        Float4x4 "mat4x4" 29;
    }
}

/// A row of a header's layout: one or several words.
#[derive(Clone, Copy, Debug)]
enum HeaderRow {
    /// A register, or several of a kind, by the name of the register table.
    Registers(&'static str),
    /// One word of this meaning.
    Word(WordMeaning),
    /// The count and place of a table.
    Table(VariableKind),
    /// Words that are kept as they are.
    Others(&'static str, u32),
}

/// The meaning of one word of a header block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordMeaning {
    /// A register, and which one of several.
    Register(&'static Register, u32),
    /// How many of the following registers count.
    Count,
    /// Bytes of the program.
    ProgramSize,
    /// Bytes of the copy program.
    CopySize,
    /// Room for a pointer that loaders fill in.
    Pointer,
    /// How uniforms reach the program: 0 registers, 1 blocks, 2 geometry, 3 compute.
    Mode,
    /// The count of a table; its place is in the next word.
    Table(VariableKind),
    /// Kept as it is.
    Other(&'static str),
}

/// The layout of one kind of header block.
#[derive(Debug)]
pub struct HeaderLayout {
    rows: &'static [HeaderRow],
    /// Bytes up to where tables begin.
    pub size: u64,
}

use HeaderRow::{Others, Registers, Table, Word};
use WordMeaning::{CopySize, Count, Mode, Pointer, ProgramSize};

/// Vertex programs.
#[rustfmt::skip]
pub static VERTEX: HeaderLayout = HeaderLayout { size: 0x134, rows: &[
    Registers("SQ_PGM_RESOURCES_VS"), Registers("VGT_PRIMITIVEID_EN"), Registers("SPI_VS_OUT_CONFIG"),
    Word(Count), Registers("SPI_VS_OUT_ID"),
    Registers("PA_CL_VS_OUT_CNTL"), Registers("SQ_VTX_SEMANTIC_CLEAR"),
    Word(Count), Registers("SQ_VTX_SEMANTIC"),
    Registers("VGT_STRMOUT_BUFFER_EN"), Registers("VGT_VERTEX_REUSE_BLOCK_CNTL"), Registers("VGT_HOS_REUSE_DEPTH"),
    Word(ProgramSize), Word(Pointer), Word(Mode),
    Table(VariableKind::UniformBlock), Table(VariableKind::Uniform), Table(VariableKind::InitialValue),
    Table(VariableKind::Loop), Table(VariableKind::Sampler), Table(VariableKind::Attribute),
    Others("ring item size", 1), Others("has stream out", 1), Others("stream out stride", 4), Others("buffer", 4),
] };

/// Pixel programs.
#[rustfmt::skip]
pub static PIXEL: HeaderLayout = HeaderLayout { size: 0xe8, rows: &[
    Registers("SQ_PGM_RESOURCES_PS"), Registers("SQ_PGM_EXPORTS_PS"),
    Registers("SPI_PS_IN_CONTROL_0"), Registers("SPI_PS_IN_CONTROL_1"),
    Word(Count), Registers("SPI_PS_INPUT_CNTL"),
    Registers("CB_SHADER_MASK"), Registers("CB_SHADER_CONTROL"), Registers("DB_SHADER_CONTROL"), Registers("SPI_INPUT_Z"),
    Word(ProgramSize), Word(Pointer), Word(Mode),
    Table(VariableKind::UniformBlock), Table(VariableKind::Uniform), Table(VariableKind::InitialValue),
    Table(VariableKind::Loop), Table(VariableKind::Sampler),
    Others("buffer", 4),
] };

/// Geometry programs, each with a copy program.
#[rustfmt::skip]
pub static GEOMETRY: HeaderLayout = HeaderLayout { size: 0xc0, rows: &[
    Registers("SQ_PGM_RESOURCES_GS"), Registers("VGT_GS_OUT_PRIM_TYPE"), Registers("VGT_GS_MODE"),
    Registers("PA_CL_VS_OUT_CNTL"), Registers("SQ_PGM_RESOURCES_VS"), Registers("SQ_GS_VERT_ITEMSIZE"),
    Registers("SPI_VS_OUT_CONFIG"), Word(Count), Registers("SPI_VS_OUT_ID"),
    Registers("VGT_STRMOUT_BUFFER_EN"),
    Word(ProgramSize), Word(Pointer), Word(CopySize), Word(Pointer), Word(Mode),
    Table(VariableKind::UniformBlock), Table(VariableKind::Uniform), Table(VariableKind::InitialValue),
    Table(VariableKind::Loop), Table(VariableKind::Sampler),
    Others("ring item size", 1), Others("has stream out", 1), Others("stream out stride", 4), Others("buffer", 4),
    Others("copy buffer", 4),
] };

/// Registers of a list beyond its count: no semantic number.
const UNUSED: &[(&str, u32)] = &[("SPI_VS_OUT_ID", u32::MAX), ("SQ_VTX_SEMANTIC", 0xff)];

/// The default of a register of this row.
#[must_use]
pub fn unset(row: &Register) -> u32 {
    UNUSED.iter().find(|u| u.0 == row.name).map_or(0, |u| u.1)
}

impl HeaderLayout {
    /// The layout of a header block; `None` for other blocks, and for compute programs, whose layout is not public.
    #[must_use]
    pub const fn of(kind: BlockKind) -> Option<&'static Self> {
        match kind {
            BlockKind::VertexHeader => Some(&VERTEX),
            BlockKind::PixelHeader => Some(&PIXEL),
            BlockKind::GeometryHeader => Some(&GEOMETRY),
            BlockKind::End
            | BlockKind::Padding
            | BlockKind::VertexProgram
            | BlockKind::PixelProgram
            | BlockKind::GeometryProgram
            | BlockKind::CopyProgram
            | BlockKind::TextureHeader
            | BlockKind::TextureImage
            | BlockKind::TextureMipmap
            | BlockKind::ComputeHeader
            | BlockKind::ComputeProgram => None,
        }
    }

    /// Every word with its byte offset.
    pub fn words(&self) -> impl Iterator<Item = (u64, WordMeaning)> {
        let parts = self.rows.iter().flat_map(|row| match *row {
            // A name that the register table lacks would shift all that follows; a test compares the sizes.
            Registers(name) => registers::named(name)
                .map_or_else(Vec::new, |r| (0..r.count).map(|i| WordMeaning::Register(r, i)).collect()),
            Word(part) => vec![part],
            Table(kind) => vec![WordMeaning::Table(kind), Pointer],
            Others(name, count) => (0..count).map(|_| WordMeaning::Other(name)).collect(),
        });
        parts.enumerate().map(|(i, part)| (i as u64 * 4, part))
    }
}
