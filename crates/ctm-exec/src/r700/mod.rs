//! The R700's shader core: inputs of a launch, its memory, and the reference interpreter.
//!
//! | file | content |
//! |---|---|
//! | `ops`, `transcendental`, `ops64` | one pure function per operation |
//! | `single` | operations of one slot by opcode, output modifiers |
//! | `alu` | ALU clauses: operands, units, write-back |
//! | `checks` | findings of checked runs |
//! | `clocks` | costs of instructions |
//! | `flow` | the control-flow machine of R700 §3.6 and §3.7 |
//! | `formats` | from bytes in memory to the elements of a register |
//! | `fetch` | fetch clauses of a wavefront |
//! | `vertex`, `texture`, `sample`, `cube` | one fetch for one lane |
//! | `data_share`, `shared` | the local data share, and all on-chip state that wavefronts share |
//! | `memory` | memory writes and reads, those of the local data share too |
//! | `exports` | exports of a program |
//! | `wavefront` | a wavefront running a program: issue, masks, faults, counters |
//! | `recorder`, `observe` | effects of a watched clause, and wavefronts that are watched |
//! | `interp` | the domain cut into wavefronts, their order, commits |
//! | `resources` | buffers, textures and samplers as plain structures, and a memory made of them |
//! | `levels` | the texels of mipmap levels in one allocation |
//! | `surface` | textures from bytes, in every format that can be expressed |
//! | `forward` | a memory that wraps another one |
//!
//! Begin with [`Launch`] and [`Memory`], then `interp`, `wavefront` and `flow`, the manual beside them. Choices that the manual leaves
//! open are in `docs/r700-open-questions.md`.

pub mod alu;
pub mod checks;
pub mod clocks;
mod convert;
pub mod cube;
pub mod data_share;
pub mod exports;
mod fetch;
pub mod flow;
pub mod formats;
mod forward;
pub mod interp;
mod levels;
pub mod memory;
pub mod observe;
pub mod ops;
pub mod ops64;
mod recorder;
pub mod resources;
pub mod sample;
pub mod shared;
pub mod single;
pub mod surface;
pub mod texture;
pub mod transcendental;
pub mod vertex;
pub mod wavefront;

pub use crate::arrays::{Elements, Tiles, Written};
pub use crate::epilogue::TargetEpilogue;
pub use crate::plane::{Divisor, Plane};
pub use exports::{Exports, Target};
pub use flow::LoopConstant;
pub use levels::NumberTexels;
pub use resources::{Arrays, Buffer, Sampler, Texture};
pub use surface::{Surface, SurfaceError};

use crate::domain::{Domain, GroupSize, Position};
use crate::epilogue::Epilogue;
use crate::fault::{Budget, FaultKind, MemoryFault};
use crate::rows::{LaneOrder, LaneRows, StartRow, covered_from};
use ctm_isa::r700::CONSTANT_FILE;
use ctm_isa::r700::program::{Chip, Program, Stage};
use std::sync::atomic::AtomicU64;

/// Boolean constants, and loop constants, of a program (`CF_CONST`, R700 §10.1).
pub const CF_CONSTANTS: usize = 32;

/// The constants of a launch that do not lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// The constant file: bits of x, y, z, w of each (R700 §4.6.4).
    pub file: [[u32; 4]; CONSTANT_FILE],
    /// The boolean constants (`COND`).
    pub bool: [bool; CF_CONSTANTS],
    /// The loop constants.
    pub loops: [LoopConstant; CF_CONSTANTS],
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            file: [[0; 4]; CONSTANT_FILE],
            bool: [false; CF_CONSTANTS],
            loops: [LoopConstant::default(); CF_CONSTANTS],
        }
    }
}

/// A row of the semantic table: which register a semantic fetch writes (R700 §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Semantic {
    /// `SEMANTIC_ID`.
    pub id: u8,
    /// The register.
    pub gpr: u8,
}

/// One launch of a program over a domain.
///
/// Pixel programs run over the quads of the domain: 2x2 pixels aligned to even index pairs, quads row by row, as many of them in a
/// wavefront as it holds, continued across row ends. All other programs run over the index pairs row by row; where they have one
/// index, it is `i` and the domain has one row.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The program. Its `gprs` say how many registers a thread has; 0 is taken as 1.
    pub program: &'a Program,
    /// The program that `CALL_FS` calls; without one it does nothing.
    pub fetch_program: Option<&'a Program>,
    /// The kind of program.
    pub stage: Stage,
    /// The chip: whether there is double precision.
    pub chip: Chip,
    /// Lanes of a wavefront: 16, 32 or 64 on real chips.
    pub wavefront: GroupSize,
    /// Threads of a group, which share the local data share (compute programs), at most 1024; 0: as many as a wavefront has.
    pub group_threads: u32,
    /// Elements of four dwords that each thread has in the reduction buffer (ReductionBufferStride, R700 §7.1).
    pub reduction_stride: u32,
    /// Dwords from one thread's item to the next in the ring buffer, a host register.
    pub ring_item_dwords: u32,
    /// Dwords from one thread's item to the next in each stream buffer, host registers.
    pub stream_item_dwords: [u32; 4],
    /// Index offset of vertex fetches of VERTEX_DATA (FETCH_TYPE, R700 §10.3), a host register.
    pub vertex_offset: u32,
    /// Index offset of vertex fetches of INSTANCE_DATA, a host register.
    pub instance_offset: u32,
    /// SIMD-global registers (R700 §2.6.1.1), 0..=124. They start as 0 and live as long as the launch.
    pub global_gprs: u8,
    /// The clamp of a NaN: 0 if set, the NaN itself if not (DX10_CLAMP of SQ_PGM_RESOURCES, a host register).
    pub dx10_clamp: bool,
    /// Constants.
    pub constants: &'a Constants,
    /// The semantic table.
    pub semantics: &'a [Semantic],
    /// Start values of registers ([`Plane::temp`] is the register); all others are 0.
    pub planes: &'a [Plane],
    /// The divisor of elements of planes.
    pub divisor: Option<Divisor<'a>>,
    /// The lanes whose exports are sent: lane `n` is bit `n % 64` of word `n / 64`; `None`: all. The others run as they do, as pixels of a quad that a
    /// primitive does not cover; wavefronts without a covered lane in the domain do not run.
    pub covered: Option<&'a [u64]>,
    /// Its planes will hardly come again, as those of a triangle: engines make no code for them alone.
    pub once: bool,
    /// Start values of register elements by lane, where they are not planes. They override planes.
    pub rows: &'a [StartRow<'a>],
    /// The meaning of [`Memory::commit`] for these colour targets, for engines that compute and store their elements themselves ([`Memory::merged`]).
    /// Engines need not use them.
    pub epilogues: &'a [TargetEpilogue],
    /// A test after a pixel program: lanes for which this list gives 0 end as killed pixels do. It reads exports alone, those of a lane that it did not make as zeros.
    pub keeps: Option<&'a Epilogue>,
    /// Where lanes are marked that reach the end, are covered and were not killed: lane `n` is bit `n % 64` of word `n / 64`. Those of pixel programs only.
    pub survivors: Option<&'a [AtomicU64]>,
    /// The domain, at most 4096 x 4096.
    pub domain: Domain,
    /// Limits of the launch.
    pub budget: Budget,
    /// Worker threads; 0 means one per core. Never changes results. The interpreter uses one.
    pub threads: usize,
    /// Whether to report legal but suspicious behaviour at run time.
    pub checks: bool,
    /// Whether to maintain costly counters; otherwise the outcome's counters are [`Counters::cheap`](crate::Counters::cheap).
    pub counters: bool,
}

impl<'a> Launch<'a> {
    /// A launch of a program of its own stage (pixel, if the program does not say), for RV770, with nothing bound.
    #[must_use]
    pub fn new(program: &'a Program, constants: &'a Constants, domain: Domain) -> Self {
        Self {
            program,
            fetch_program: None,
            stage: program.stage.unwrap_or(Stage::Pixel),
            chip: Chip::Rv770,
            wavefront: GroupSize::R700,
            group_threads: 0,
            reduction_stride: 0,
            ring_item_dwords: 0,
            stream_item_dwords: [0; 4],
            vertex_offset: 0,
            instance_offset: 0,
            global_gprs: 0,
            dx10_clamp: program.dx10_clamp().unwrap_or(true),
            constants,
            semantics: &[],
            planes: &[],
            divisor: None,
            covered: None,
            once: false,
            rows: &[],
            epilogues: &[],
            keeps: None,
            survivors: None,
            domain,
            budget: Budget::default(),
            threads: 1,
            checks: false,
            counters: true,
        }
    }

    /// Which of 64 lanes, from this one on, are [`Self::covered`] (bit 0 is the first).
    #[must_use]
    pub fn covered_from(&self, first: u64) -> u64 {
        covered_from(self.covered, first)
    }

    /// The numbers of the launch's lanes: the indices of [`StartRow::bits`] and the rows of [`LaneRows`].
    #[must_use]
    pub const fn lane_order(&self) -> LaneOrder {
        match self.stage {
            Stage::Pixel => LaneOrder::quads(self.domain),
            Stage::Vertex | Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Copy | Stage::Compute => {
                LaneOrder::rows(self.domain)
            }
        }
    }
}

/// Pixels of a launch of several parts ([`Engine::run_r700_parts`](crate::Engine::run_r700_parts)), and all in which these differ.
#[derive(Clone, Copy, Debug)]
pub struct LaunchPart<'a> {
    /// As of [`Launch::planes`].
    pub planes: &'a [Plane],
    /// As of [`Launch::divisor`].
    pub divisor: Option<Divisor<'a>>,
    /// Tiles of 8x8 pixels, no two of them the same, by their first columns and rows, which are even.
    pub tiles: &'a [[u32; 2]],
    /// The pixels of each tile whose exports are sent: bit n is lane n of a [launch](Launch) over the tile alone.
    pub covered: &'a [u64],
}

impl<'a> LaunchPart<'a> {
    /// Columns and rows of a tile.
    pub const SIDE: u32 = 8;

    /// The launch over each tile, alone.
    pub fn launches(&self, of: &Launch<'a>) -> impl Iterator<Item = Launch<'a>> {
        let Self { planes, divisor, tiles, covered } = *self;
        let of = *of;
        tiles.iter().zip(covered.chunks(1)).map(move |(&[i0, j0], covered)| {
            let domain = Domain { i0, j0, i1: i0 + (Self::SIDE - 1), j1: j0 + (Self::SIDE - 1) };
            Launch { domain, planes, divisor, covered: Some(covered), ..of }
        })
    }
}

/// A memory that MEM instructions write and MEM_RD fetches read (R700 §3.4.2, §3.4.3). Scratch memory is not among them: each
/// thread has its own, which lives as long as the thread and reads 0 where nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The reduction buffer.
    Reduction,
    /// The ring buffer.
    Ring,
    /// Stream buffer 0..=3.
    Stream(u8),
    /// The shared buffer of scattered writes and reads.
    Scatter,
}

impl Space {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Reduction,
        Self::Ring,
        Self::Stream(0),
        Self::Stream(1),
        Self::Stream(2),
        Self::Stream(3),
        Self::Scatter,
    ];

    /// The name people type, as in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reduction => "reduction",
            Self::Ring => "ring",
            Self::Stream(0) => "stream0",
            Self::Stream(1) => "stream1",
            Self::Stream(2) => "stream2",
            Self::Stream(_) => "stream3",
            Self::Scatter => "scatter",
        }
    }
}

/// Vertex events of a geometry program (R700 §3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexEvent {
    /// `EMIT_VERTEX`: a vertex has been written.
    Emit,
    /// `EMIT_CUT_VERTEX`: a vertex has been written, and the strip ends.
    EmitCut,
    /// `CUT_VERTEX`: the strip ends.
    Cut,
}

/// The memory of a running program. A device implements it with its arenas; tests with [`Arrays`]. A memory that wraps another one forwards reads by
/// [`forward_r700_reads`](crate::forward_r700_reads).
pub trait Memory: Sync {
    /// The next accesses belong to this processor, and to fetch `item` of a clause: the reference interpreter calls it, for watchers.
    /// Does nothing by default.
    fn begin_lane(&self, at: Position, item: usize) {
        let _ = (at, item);
    }

    /// Constant `index` of constant buffer `bank` (0..=15); 0 beyond its end and where none is bound.
    ///
    /// # Errors
    /// When it lies outside memory.
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault>;

    /// The constants, buffers, textures and samplers of the other program type, which clauses and fetches with ALT_CONST use
    /// (R700 §4.6.4.6, §5.2, §6.4); `None`, which is the default, where there are none.
    fn alternate(&self) -> Option<&dyn Memory> {
        None
    }

    /// Buffer `id` of vertex fetches.
    fn buffer(&self, id: u8) -> Option<Buffer>;

    /// Reads bytes of a buffer; they lie within its size.
    ///
    /// # Errors
    /// When they lie outside memory.
    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault>;

    /// Texture resource `id`.
    fn texture(&self, id: u8) -> Option<Texture>;

    /// Sampler `id`.
    fn sampler(&self, id: u8) -> Option<Sampler>;

    /// Texel (x, y, z) of a mipmap level as the bits of four elements, converted from the texture's format; within the level's size.
    ///
    /// # Errors
    /// When it lies outside memory.
    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault>;

    /// Dwords of a memory; `None` where none is bound.
    fn space(&self, space: Space) -> Option<u64>;

    /// A dword of a memory, within its size.
    ///
    /// # Errors
    /// When it lies outside memory.
    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault>;

    /// Stores a dword of a memory, within its size.
    ///
    /// # Errors
    /// When it lies outside memory.
    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault>;

    /// A geometry program emitted a vertex or cut a strip. Events of one thread come in order, threads in lane order as the program
    /// reaches them, before the exports of their wavefront.
    ///
    /// # Errors
    /// When there is no room.
    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault>;

    /// Sends the exports of one thread. Invalid pixels are not sent, nor threads that stored nothing ([`Exports::is_empty`]).
    ///
    /// # Errors
    /// When a target lies outside memory.
    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault>;

    /// Whether this launch may read its own exports or stores in another way: as a constant, a buffer, a texture or another
    /// memory. If so (the default), engines run wavefronts strictly one after the other.
    fn outputs_alias_inputs(&self) -> bool {
        true
    }

    /// The bytes of a buffer, all of its size, for engines that read items themselves; `None` (the default) when they have to ask.
    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        let _ = id;
        None
    }

    /// The texels of a mipmap level, slice by slice, row by row, for engines that read them themselves; `None` (the default) when they
    /// have to ask.
    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        let _ = (id, level);
        None
    }

    /// The same of a texture whose elements are fractions of 255: its bytes; `None` (the default) also where [`Self::texels`] has them.
    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        let _ = (id, level);
        None
    }

    /// The same of a texture whose texels are one number each; `None` (the default) also where [`Self::texels`] has them.
    fn number_texels(&self, id: u8, level: u32) -> Option<NumberTexels<'_>> {
        let _ = (id, level);
        None
    }

    /// The arrays that back these textures and targets, for engines that read and write all of a launch themselves; `None` (the default) when
    /// they have to ask.
    ///
    /// `Some` says: the exports of every valid thread to these targets pass, and no target shares a byte with one of these textures, with
    /// another target, or with the reads of [`Direct::reads`]. After a fault it is unspecified which of the wavefronts after the one that did wrong have
    /// stored their exports; those before it have.
    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        let _ = (textures, targets);
        None
    }

    /// The arrays of the targets of [`Launch::epilogues`], in their order, for engines that compute new elements by these; `None` (the default) when they have to commit.
    /// An element is one number, which has the element's bits. Otherwise as [`Self::direct`], which asks for programs' exports.
    fn merged(&mut self, targets: &[u8]) -> Option<Direct<'_>> {
        let _ = targets;
        None
    }

    /// Rows that take the place of [`Self::commit`], for engines that store exports lane beside lane; `None` (the default) when they have to
    /// commit. Engines need not use them.
    ///
    /// `Some` says: [`Self::commit`] would do no more than mark the lane as a survivor and store its exports in these rows, never refuses, and counts
    /// the exports stored in rows. The rows have the order of the launch's lanes ([`Launch::lane_order`]).
    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        None
    }
}

/// The memory whose constants and resources an instruction uses: its own program's, or with ALT_CONST the other program type's.
fn with_alternate(memory: &dyn Memory, alternate: bool) -> Result<&dyn Memory, FaultKind> {
    if !alternate {
        return Ok(memory);
    }
    memory.alternate().ok_or_else(|| {
        let what = "constants and resources of the other program type (ALT_CONST)".into();
        FaultKind::Memory(MemoryFault { what, address: None, reason: "nothing is bound there".into() })
    })
}

/// Arrays after textures and targets. See [`Memory::direct`].
pub struct Direct<'a> {
    /// Of each requested texture, level 0, as [`Memory::texel`] reads it.
    pub textures: Vec<Elements<Texels<'a>>>,
    /// Of each requested target, where [`Memory::commit`] writes; one that is `None` drops exports uncounted.
    ///
    /// The form of its elements is not [`Form::Square`](crate::x1k::Form::Square).
    pub targets: Vec<Option<Elements<Cells<'a>>>>,
    /// The memory reads of the launch while its targets are mapped; it takes no writes.
    pub reads: Box<dyn Memory + 'a>,
}

/// The content of an input array: bytes, or elements of four channels.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "they say what they are")]
pub enum Texels<'a> {
    Bytes(&'a [u8]),
    Dwords(&'a [[u32; 4]]),
}

/// The content of an output array.
#[derive(Debug)]
#[allow(missing_docs, reason = "they say what they are")]
pub enum Cells<'a> {
    Bytes(&'a mut [u8]),
    Dwords(&'a mut [[u32; 4]]),
}

impl<'a> Cells<'a> {
    /// Its bytes; `None` for dwords of hosts on which these are not bytes as an array of numbers has them.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Cells::Bytes(bytes) => Some(bytes),
            Cells::Dwords(_) if cfg!(target_endian = "big") => None,
            Cells::Dwords(dwords) => Some(bytemuck::cast_slice(dwords)),
        }
    }

    /// As [`Self::bytes`], to be written.
    #[must_use]
    pub fn into_bytes(self) -> Option<&'a mut [u8]> {
        match self {
            Cells::Bytes(bytes) => Some(bytes),
            Cells::Dwords(_) if cfg!(target_endian = "big") => None,
            Cells::Dwords(dwords) => Some(bytemuck::cast_slice_mut(dwords)),
        }
    }
}
