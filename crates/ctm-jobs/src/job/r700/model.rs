//! The parts of passes, textures and outputs that belong to R700 programs.

use crate::job::located::{Data, Located};
use ctm_exec::Position;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{Compare, Filter, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{Space, Target, VertexEvent};
use ctm_files::array::ItemType;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_launch::Ref;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The part of a pass for R700 programs.
#[derive(Clone, Debug, Default)]
pub struct R700Pass {
    /// The program of a container, by number or name.
    pub which: Option<Located<String>>,
    /// The kind of program; `None`: as the program declares, else a pixel program.
    pub stage: Option<Stage>,
    /// The chip; `None`: RV770.
    pub chip: Option<Chip>,
    /// The file of the fetch subroutine that `CALL_FS` calls.
    pub fetch_program: Option<Located<PathBuf>>,
    /// Threads of a group, which share the local data share; `None`: as many as a wavefront has.
    pub group_threads: Option<u32>,
    /// Index offset of vertex fetches of VERTEX_DATA.
    pub vertex_offset: Option<u32>,
    /// Index offset of vertex fetches of INSTANCE_DATA.
    pub instance_offset: Option<u32>,
    /// SIMD-global registers, 0..=124.
    pub global_gprs: Option<u8>,
    /// The register that each SEMANTIC_ID names.
    pub semantics: BTreeMap<u8, u8>,
    /// Constant buffers.
    pub constant_buffers: Vec<ConstantBuffer>,
    /// Buffers of vertex fetches.
    pub buffers: Vec<FetchBuffer>,
    /// Memories of MEM instructions.
    pub memories: Vec<MemoryBlock>,
    /// The file of the list of emitted vertices when this pass is done.
    pub vertices: Option<Located<PathBuf>>,
}

/// The part of an input for R700 programs.
#[derive(Clone, Debug, Default)]
pub struct R700Texture {
    /// The sampler of the program that the texture's sampler becomes; `None`: those that the program reads it with.
    pub sampler_slot: Option<Located<Ref>>,
    /// How its texels are arranged.
    pub kind: TextureKind,
    /// Slices, layers or faces, which follow each other in the rows of the file; `None`: as many as its kind needs.
    pub depth: Option<u32>,
    /// Files of mipmap levels 1 and up.
    pub levels: Vec<Located<Data>>,
}

/// The contents of a buffer.
#[derive(Clone, Debug)]
pub enum Contents {
    /// Bits of x, y, z, w, row by row.
    Values(Vec<[u32; 4]>),
    /// A file, its items unchanged.
    Data(Located<Data>),
    /// The contents of a memory when the pass begins, before the pass gets a fresh one.
    Memory(Space),
}

/// One constant buffer.
#[derive(Clone, Debug)]
pub struct ConstantBuffer {
    /// The bank, 0..=15.
    pub bank: Located<u8>,
    /// The buffer of vertex fetches that shows it too.
    pub fetch_resource: Option<u8>,
    /// The constants; beyond them is 0.
    pub contents: Contents,
}

/// One buffer of vertex fetches.
#[derive(Clone, Debug)]
pub struct FetchBuffer {
    /// Which buffer.
    pub slot: Located<Ref>,
    /// Its bytes.
    pub contents: Contents,
    /// Bytes from one item to the next.
    pub stride_bytes: u32,
    /// The format for fetches that take it from the buffer.
    pub format: Format,
}

/// One memory of MEM instructions.
#[derive(Clone, Debug)]
pub struct MemoryBlock {
    /// The memory; `None` is scratch memory, of which each thread has its own.
    pub space: Located<Option<Space>>,
    /// Its size; `None`: that of its data, else that of an earlier pass.
    pub size_bytes: Option<u64>,
    /// Initial contents; zeros otherwise.
    pub data: Option<Located<Data>>,
    /// Ring and streams: dwords from one thread's item to the next.
    pub item_dwords: Option<u32>,
    /// Reduction: elements of four dwords that each thread has.
    pub stride: Option<u32>,
    /// The type of its dwords when it is saved.
    pub items: ItemType,
    /// Rows, columns, elements of the saved array; `None`: one row of everything.
    pub shape: Option<Vec<usize>>,
    /// Where it goes when this pass is done.
    pub save: Option<Located<PathBuf>>,
    /// Begin with `data` or zeros even where an earlier pass left something.
    pub fresh: bool,
}

/// How the elements of an R700 output are saved.
///
/// ```
/// use ctm::array::ItemType;
/// use ctm::job::r700::SavedElements;
///
/// let named = SavedElements::NAMES.iter().find(|(name, _)| *name == "float32_1").unwrap();
/// assert_eq!(named.1, SavedElements { items: ItemType::Float32, channels: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavedElements {
    /// The type of its values.
    pub items: ItemType,
    /// How many of x, y, z, w: 1, 2 or 4.
    pub channels: usize,
}

impl Default for SavedElements {
    fn default() -> Self {
        Self { items: ItemType::Float32, channels: 4 }
    }
}

impl SavedElements {
    /// All of them, by the names that people type.
    pub const NAMES: [(&'static str, Self); 9] = {
        const fn of(items: ItemType, channels: usize) -> SavedElements {
            SavedElements { items, channels }
        }
        [
            ("float32_1", of(ItemType::Float32, 1)),
            ("float32_2", of(ItemType::Float32, 2)),
            ("float32_4", of(ItemType::Float32, 4)),
            ("int32_1", of(ItemType::Int32, 1)),
            ("int32_2", of(ItemType::Int32, 2)),
            ("int32_4", of(ItemType::Int32, 4)),
            ("uint32_1", of(ItemType::Uint32, 1)),
            ("uint32_2", of(ItemType::Uint32, 2)),
            ("uint32_4", of(ItemType::Uint32, 4)),
        ]
    };
}

/// A vertex that a geometry program emitted, or where it cut a strip (R700 §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// The thread.
    pub at: Position,
    /// The event.
    pub event: VertexEvent,
    /// The count of vertices that the thread had emitted before: the item in its part of the ring.
    pub number: u32,
    /// How many strips the thread had ended before.
    pub strip: u32,
}

/// The number of an export in lists of outputs: pixel exports 0 to 7, depth 8, positions 9 to 12, parameters 13 to 44.
#[must_use]
pub fn target_slot(target: Target) -> u8 {
    Target::all().position(|t| t == target).and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX)
}

pub(crate) const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];
pub(crate) const WRAPS: [(&str, Wrap); 4] =
    [("repeat", Wrap::Repeat), ("mirror", Wrap::Mirror), ("clamp", Wrap::Clamp), ("border", Wrap::Border)];

/// How texels are arranged, by name.
pub const KINDS: [(&str, TextureKind); 7] = [
    ("1d", TextureKind::OneD),
    ("2d", TextureKind::TwoD),
    ("3d", TextureKind::ThreeD),
    ("cube", TextureKind::Cube),
    ("1d_array", TextureKind::OneDArray),
    ("2d_array", TextureKind::TwoDArray),
    ("cube_array", TextureKind::CubeArray),
];

pub(crate) const MIPS: [(&str, MipFilter); 3] =
    [("none", MipFilter::None), ("nearest", MipFilter::Nearest), ("linear", MipFilter::Linear)];

pub(crate) const COMPARES: [(&str, Compare); 8] = [
    ("never", Compare::Never),
    ("less", Compare::Less),
    ("less_equal", Compare::LessEqual),
    ("equal", Compare::Equal),
    ("greater_equal", Compare::GreaterEqual),
    ("greater", Compare::Greater),
    ("not_equal", Compare::NotEqual),
    ("always", Compare::Always),
];
