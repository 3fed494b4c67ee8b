//! The words of the commands that only R700 devices take: programs, stages, constants, resources, memories, exports.
//!
//! | file | content |
//! |---|---|
//! | this one | every field of every parameter (table) |
//! | `places` | operands of the commands, as plain structures |
//! | `builder` | the methods of [`CommandBuffer`](super::CommandBuffer) |
//!
//! The commands themselves are rows of [`CommandKind`](super::CommandKind).

mod builder;
mod places;

pub use places::{BufferPlace, ConstantsPlace, MemoryPlace, ProgramPlace};

use super::param::{Param, SamplerFilter, SamplerWrap, bits, strict};
use crate::mc::TextureShape;
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FormatComp, NumFormat, SrfMode};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::{ops, word_format};

ops! {
    /// Which of the two programs of a launch.
    pub enum ProgramSlot cite "docs/commands.md" {
        /// The program that is started.
        Main "MAIN" 0;
        /// The fetch subroutine that `CALL_FS` calls.
        Fetch "FETCH" 1;
    }
}

ops! {
    /// How a program lies in memory.
    pub enum ProgramForm cite "docs/commands.md" {
        /// Little-endian dwords, two a slot.
        Words "WORDS" 0;
        /// A container: a CAL image, an object of LLVM's, a GFD file.
        Image "IMAGE" 1;
    }
}

word_format! {
    /// Which program, and how it lies in memory.
    pub struct ProgramWord "program" dword 0 cite "docs/commands.md" {
        /// Which of the two programs.
        0:0     which: ProgramSlot = "which";
        /// How it lies in memory.
        8:8     form: ProgramForm = "form";
        reserved 7:1, 31:9;
    }
}

word_format! {
    /// How large something is.
    pub struct BytesWord "bytes" dword 2 cite "docs/commands.md" {
        /// Bytes.
        31:0    bytes: u32 = "bytes";
    }
}

word_format! {
    /// Where a program begins.
    pub struct EntryWord "entry" dword 3 cite "docs/commands.md" {
        /// Of words: the slot where control flow begins. Of an image: which of its programs.
        15:0    entry: u16 = "entry";
        reserved 31:16;
    }
}

word_format! {
    /// The needs of a program of bare words; an image has them itself.
    pub struct NeedsWord "needs" dword 4 cite "docs/commands.md" {
        /// Registers; 0: as many as the words name.
        7:0     gprs: u8 = "gprs";
        /// Stack entries; 0: as many as the words need.
        23:16   stack: u8 = "stack";
        reserved 15:8, 31:24;
    }
}

word_format! {
    /// The kind of program.
    pub struct StageWord "stage" dword 0 cite "docs/commands.md" {
        /// The stage.
        2:0     stage: Stage = "stage";
        reserved 31:3;
    }
}

word_format! {
    /// Which chip of the family the device is.
    pub struct ChipWord "chip" dword 0 cite "docs/commands.md" {
        /// The chip: whether there is double precision, and how wide its wavefronts are.
        1:0     chip: Chip = "chip";
        /// Threads of a wavefront, a multiple of 4 up to 1024; 0: the chip's.
        26:16   wavefront: u16 = "wavefront";
        reserved 15:2, 31:27;
    }
}

word_format! {
    /// How compute programs are cut into groups.
    pub struct GroupWord "group" dword 0 cite "docs/commands.md" {
        /// Threads of a group, at most 1024; 0: as many as a wavefront has.
        10:0    threads: u16 = "threads";
        reserved 31:11;
    }
}

word_format! {
    /// How many registers all wavefronts share.
    pub struct GlobalsWord "globals" dword 0 cite "docs/commands.md" {
        /// SIMD-global registers of each lane, at most 124.
        6:0     gprs: u8 = "gprs";
        reserved 31:7;
    }
}

word_format! {
    /// Which constant buffer.
    pub struct BankWord "bank" dword 0 cite "docs/commands.md" {
        /// The constant buffer.
        3:0     bank: u8 = "bank";
        reserved 31:4;
    }
}

word_format! {
    /// How many constants a buffer holds.
    pub struct ConstantsWord "constants" dword 2 cite "docs/commands.md" {
        /// Constants of 16 bytes; 0: there is no such buffer.
        31:0    constants: u32 = "constants";
    }
}

word_format! {
    /// Which buffer of vertex fetches.
    pub struct BufferWord "buffer" dword 0 cite "docs/commands.md" {
        /// `BUFFER_ID` of fetches.
        7:0     buffer: u8 = "buffer";
        reserved 31:8;
    }
}

word_format! {
    /// How far apart the items of a buffer are.
    pub struct StrideWord "stride" dword 3 cite "docs/commands.md" {
        /// Bytes from one item to the next.
        31:0    stride: u32 = "stride";
    }
}

word_format! {
    /// The format of an item or texel, in the manual's terms.
    pub struct FetchFormatWord "fetch_format" dword 4 cite "R700 §10.3" {
        /// Sizes and kinds of the elements.
        5:0     data: DataFormat = "data_format";
        /// The number format of integers.
        9:8     numbers: NumFormat = "num_format";
        /// Signed or not.
        12:12   sign: FormatComp = "format_comp";
        /// How signed fractions become floats.
        13:13   srf: SrfMode = "srf_mode";
        /// Byte order.
        17:16   endian: EndianSwap = "endian_swap";
        reserved 7:6, 11:10, 15:14, 31:18;
    }
}

word_format! {
    /// Which texture resource, and how its texels are arranged.
    pub struct TextureWord "texture" dword 0 cite "docs/commands.md" {
        /// `RESOURCE_ID` of fetches.
        7:0     texture: u8 = "texture";
        /// How its texels are arranged.
        10:8    shape: TextureShape = "shape";
        reserved 31:11;
    }
}

word_format! {
    /// Width and height of level 0 of a texture.
    pub struct TextureSizeWord "size" dword 2 cite "docs/commands.md" {
        /// Texels of a row, at most 8192; 0: there is no such texture.
        15:0    width: u16 = "width";
        /// Rows, at most 8192.
        31:16   height: u16 = "height";
    }
}

word_format! {
    /// Depth and levels of a texture.
    pub struct TextureDepthWord "depth" dword 3 cite "docs/commands.md" {
        /// Slices or layers, at most 8192; 6 for cubes.
        15:0    depth: u16 = "depth";
        /// Mipmap levels, 1..=14.
        19:16   levels: u8 = "levels";
        /// x, y and z of unsigned fractions are stored with the sRGB curve.
        24:24   gamma: bool = "gamma";
        reserved 23:20, 31:25;
    }
}

word_format! {
    /// How far apart the rows of level 0 of a texture are.
    pub struct TexturePitchWord "pitch" dword 4 cite "docs/commands.md" {
        /// Texels from one row of level 0 to the next; 0: the width.
        15:0    pitch: u16 = "pitch";
        reserved 31:16;
    }
}

ops! {
    /// How a mipmap level is chosen.
    pub enum SamplerMip cite "docs/commands.md" {
        /// Always level 0.
        None "NONE" 0;
        /// The nearest level.
        Nearest "NEAREST" 1;
        /// Weighted mean of the two nearest levels.
        Linear "LINEAR" 2;
    }
}

ops! {
    /// Comparison of a reference value (left) with a texel (right).
    pub enum SamplerCompare cite "docs/commands.md" {
        /// False.
        Never "NEVER" 0;
        /// Less.
        Less "LESS" 1;
        /// Equal.
        Equal "EQUAL" 2;
        /// Less or equal.
        LessEqual "LESS_EQUAL" 3;
        /// Greater.
        Greater "GREATER" 4;
        /// Not equal.
        NotEqual "NOT_EQUAL" 5;
        /// Greater or equal.
        GreaterEqual "GREATER_EQUAL" 6;
        /// True.
        Always "ALWAYS" 7;
    }
}

word_format! {
    /// Which sampler, its filters, wraps and comparison.
    pub struct TextureSamplerWord "sampler" dword 0 cite "docs/commands.md" {
        /// `SAMPLER_ID` of fetches.
        4:0     sampler: u8 = "sampler";
        /// Filter where the texture is drawn larger than it is.
        8:8     magnify: SamplerFilter = "magnify";
        /// Filter where it is drawn smaller.
        9:9     minify: SamplerFilter = "minify";
        /// How a mipmap level is chosen.
        13:12   mip: SamplerMip = "mip";
        /// Coordinates outside along x.
        17:16   wrap_x: SamplerWrap = "wrap_x";
        /// Coordinates outside along y.
        19:18   wrap_y: SamplerWrap = "wrap_y";
        /// Coordinates outside along z.
        21:20   wrap_z: SamplerWrap = "wrap_z";
        /// How SAMPLE_C compares.
        26:24   compare: SamplerCompare = "compare";
        reserved 7:5, 11:10, 15:14, 23:22, 31:27;
    }
}

word_format! {
    /// Smallest level of detail.
    pub struct MinLodWord "min_lod" dword 1 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "min_lod";
    }
}

word_format! {
    /// Largest level of detail.
    pub struct MaxLodWord "max_lod" dword 2 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "max_lod";
    }
}

word_format! {
    /// The bias of levels of detail.
    pub struct LodBiasWord "lod_bias" dword 3 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "lod_bias";
    }
}

ops! {
    /// A memory of MEM instructions.
    pub enum MemoryKind cite "R700 §3.4.2" {
        /// Scratch memory.
        Scratch "SCRATCH" 0;
        /// The reduction buffer.
        Reduction "REDUCTION" 1;
        /// The ring buffer.
        Ring "RING" 2;
        /// Stream buffer 0.
        Stream0 "STREAM0" 3;
        /// Stream buffer 1.
        Stream1 "STREAM1" 4;
        /// Stream buffer 2.
        Stream2 "STREAM2" 5;
        /// Stream buffer 3.
        Stream3 "STREAM3" 6;
        /// The shared buffer of scattered writes and reads.
        Scatter "SCATTER" 7;
    }
}

word_format! {
    /// Which memory.
    pub struct MemoryWord "memory" dword 0 cite "docs/commands.md" {
        /// Which memory.
        2:0     memory: MemoryKind = "memory";
        reserved 31:3;
    }
}

word_format! {
    /// How far apart the items of threads are.
    pub struct ItemWord "item" dword 3 cite "docs/commands.md" {
        /// Ring and streams: dwords from one thread's item to the next. Reduction: elements of four dwords that each thread has. Others: 0.
        31:0    item: u32 = "item";
    }
}

word_format! {
    /// How many rows the semantic table has.
    pub struct SemanticsWord "count" dword 1 cite "docs/commands.md" {
        /// Rows; 0: none.
        7:0     count: u8 = "count";
        reserved 31:8;
    }
}

ops! {
    /// The kind of export (R700 table 3.3).
    pub enum ExportKind cite "R700 §3.4.1" {
        /// A colour.
        Pixel "PIXEL" 0;
        /// The computed depth.
        Depth "DEPTH" 1;
        /// A position.
        Position "POSITION" 2;
        /// A parameter.
        Parameter "PARAMETER" 3;
    }
}

word_format! {
    /// Which export.
    pub struct ExportWord "export" dword 0 cite "docs/commands.md" {
        /// Colour 0..=7, depth 0, position 0..=3, parameter 0..=31.
        4:0     index: u8 = "index";
        /// Its kind.
        9:8     kind: ExportKind = "kind";
        reserved 7:5, 31:10;
    }
}

word_format! {
    /// The space for vertex events of geometry programs.
    pub struct EventsWord "dwords" dword 1 cite "docs/commands.md" {
        /// Dwords, the count at the beginning included; 0: nothing is stored.
        31:0    dwords: u32 = "dwords";
    }
}

word_format! {
    /// Which registers receive interpolants.
    pub struct InterpolantsWord "interpolants" dword 0 cite "docs/commands.md" {
        /// The register that receives interpolant 0; the others follow.
        6:0     first: u8 = "first";
        /// How many; 0: none.
        11:8    count: u8 = "count";
        reserved 7:7, 31:12;
    }
}

ops! {
    /// Whose constant buffers, buffers, textures and samplers.
    pub enum ResourceSet cite "R700 §4.6.4.6" {
        /// The program's own.
        Own "OWN" 0;
        /// Those of another program type, for clauses and fetches with ALT_CONST.
        Alternate "ALTERNATE" 1;
    }
}

word_format! {
    /// Whose resources the commands after it set.
    pub struct ResourceSetWord "resources" dword 0 cite "docs/commands.md" {
        /// Whose.
        0:0     set: ResourceSet = "set";
        reserved 31:1;
    }
}

word_format! {
    /// The offset of the index of fetches of VERTEX_DATA.
    pub struct VertexOffsetWord "vertex_offset" dword 0 cite "R700 §10.3" {
        /// Items.
        31:0    offset: u32 = "vertex";
    }
}

word_format! {
    /// The offset of the index of fetches of INSTANCE_DATA.
    pub struct InstanceOffsetWord "instance_offset" dword 1 cite "R700 §10.3" {
        /// Items.
        31:0    offset: u32 = "instance";
    }
}

pub(super) const PROGRAM: Param = strict(&ProgramWord::FORMAT);
pub(super) const BYTES: Param = strict(&BytesWord::FORMAT);
pub(super) const ENTRY: Param = strict(&EntryWord::FORMAT);
pub(super) const NEEDS: Param = strict(&NeedsWord::FORMAT);
pub(super) const STAGE: Param = strict(&StageWord::FORMAT);
pub(super) const CHIP: Param = strict(&ChipWord::FORMAT);
pub(super) const GROUP: Param = strict(&GroupWord::FORMAT);
pub(super) const GLOBALS: Param = strict(&GlobalsWord::FORMAT);
pub(super) const BANK: Param = strict(&BankWord::FORMAT);
pub(super) const CONSTANTS: Param = strict(&ConstantsWord::FORMAT);
pub(super) const BUFFER: Param = strict(&BufferWord::FORMAT);
pub(super) const STRIDE: Param = strict(&StrideWord::FORMAT);
pub(super) const FETCH_FORMAT: Param = strict(&FetchFormatWord::FORMAT);
pub(super) const TEXTURE: Param = strict(&TextureWord::FORMAT);
pub(super) const TEXTURE_SIZE: Param = strict(&TextureSizeWord::FORMAT);
pub(super) const TEXTURE_DEPTH: Param = strict(&TextureDepthWord::FORMAT);
pub(super) const TEXTURE_PITCH: Param = strict(&TexturePitchWord::FORMAT);
pub(super) const TEXTURE_SAMPLER: Param = strict(&TextureSamplerWord::FORMAT);
pub(super) const MIN_LOD: Param = bits(&MinLodWord::FORMAT);
pub(super) const MAX_LOD: Param = bits(&MaxLodWord::FORMAT);
pub(super) const LOD_BIAS: Param = bits(&LodBiasWord::FORMAT);
pub(super) const MEMORY: Param = strict(&MemoryWord::FORMAT);
pub(super) const ITEM: Param = strict(&ItemWord::FORMAT);
pub(super) const SEMANTICS: Param = strict(&SemanticsWord::FORMAT);
pub(super) const EXPORT: Param = strict(&ExportWord::FORMAT);
pub(super) const EVENTS: Param = strict(&EventsWord::FORMAT);
pub(super) const RESOURCE_SET: Param = strict(&ResourceSetWord::FORMAT);
pub(super) const VERTEX_OFFSET: Param = strict(&VertexOffsetWord::FORMAT);
pub(super) const INSTANCE_OFFSET: Param = strict(&InstanceOffsetWord::FORMAT);
pub(super) const INTERPOLANTS: Param = strict(&InterpolantsWord::FORMAT);
