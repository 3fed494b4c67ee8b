//! The methods of [`CommandBuffer`] for the commands of R700 devices.

use super::{
    BankWord, BufferPlace, BufferWord, ChipWord, ConstantsPlace, EntryWord, ExportKind, ExportWord, FetchFormatWord,
    GlobalsWord, GroupWord, InterpolantsWord, MemoryKind, MemoryPlace, MemoryWord, NeedsWord, ProgramPlace,
    ProgramSlot, ProgramWord, ResourceSet, ResourceSetWord, SamplerCompare, SamplerMip, SemanticsWord, StageWord,
    TextureDepthWord, TexturePitchWord, TextureSamplerWord, TextureSizeWord, TextureWord,
};
use crate::commands::builder::CommandBuffer;
use crate::commands::table::CommandKind;
use crate::mc::{Surface, TextureSurface};
use crate::memory::GpuAddr;
use ctm_exec::r700::resources::{Compare, MipFilter};
use ctm_exec::r700::{Sampler, Target};
use ctm_isa::r700::program::{Chip, Stage};

impl CommandBuffer {
    /// The program, or the fetch subroutine, lies at `place`.
    ///
    /// ```
    /// use ctm_device::commands::{CommandBuffer, ProgramPlace, ProgramSlot, print};
    /// use ctm_device::memory::GpuAddr;
    /// let place = ProgramPlace::image(GpuAddr(0x8000_0000), 4096, 0);
    /// let text = print(CommandBuffer::new().set_program(ProgramSlot::Main, &place).words());
    /// assert!(text.starts_with("set_program           which=main, form=image, address=0x80000000, bytes=4096"));
    /// ```
    #[must_use]
    pub fn set_program(self, which: ProgramSlot, place: &ProgramPlace) -> Self {
        let params = [
            ProgramWord { which, form: place.form }.encode(),
            place.base.0,
            place.bytes,
            EntryWord { entry: place.entry }.encode(),
            NeedsWord { gprs: place.gprs, stack: place.stack }.encode(),
        ];
        self.with(CommandKind::SetProgram, &params)
    }

    /// Sets the kind of program.
    #[must_use]
    pub fn set_stage(self, stage: Stage) -> Self {
        self.with(CommandKind::SetStage, &[StageWord { stage }.encode()])
    }

    /// Which chip it is, and how many threads its wavefronts have (a multiple of 4 up to 1024; 0: the chip's).
    #[must_use]
    pub fn set_chip(self, chip: Chip, wavefront: u16) -> Self {
        self.with(CommandKind::SetChip, &[ChipWord { chip, wavefront }.encode()])
    }

    /// How many threads of a compute program share the local data share: at most 1024; 0: a wavefront.
    #[must_use]
    pub fn set_thread_group(self, threads: u16) -> Self {
        self.with(CommandKind::SetThreadGroup, &[GroupWord { threads }.encode()])
    }

    /// How many SIMD-global registers there are, at most 124.
    #[must_use]
    pub fn set_global_gprs(self, gprs: u8) -> Self {
        self.with(CommandKind::SetGlobalGprs, &[GlobalsWord { gprs }.encode()])
    }

    /// The loop constants lie at `address`.
    #[must_use]
    pub fn set_loop_consts(self, address: GpuAddr) -> Self {
        self.with(CommandKind::SetLoopConsts, &[address.0])
    }

    /// Constant buffer `bank` (0..=15) lies at `place`.
    #[must_use]
    pub fn set_const_buffer(self, bank: u8, place: &ConstantsPlace) -> Self {
        let params = [BankWord { bank }.encode(), place.base.0, place.constants];
        self.with(CommandKind::SetConstBuffer, &params)
    }

    /// Buffer `buffer` of vertex fetches lies at `place`.
    #[must_use]
    pub fn set_vtx_buffer(self, buffer: u8, place: &BufferPlace) -> Self {
        let format = FetchFormatWord::from(place.format).encode();
        let params = [BufferWord { buffer }.encode(), place.base.0, place.bytes, place.stride_bytes, format];
        self.with(CommandKind::SetVtxBuffer, &params)
    }

    /// Texture resource `texture` is `surface`.
    #[must_use]
    pub fn set_texture(self, texture: u8, surface: &TextureSurface) -> Self {
        let params = [
            TextureWord { texture, shape: surface.shape }.encode(),
            surface.base.0,
            TextureSizeWord { width: surface.width, height: surface.height }.encode(),
            TextureDepthWord { depth: surface.depth, levels: surface.levels, gamma: surface.gamma }.encode(),
            TexturePitchWord { pitch: surface.pitch }.encode(),
            FetchFormatWord::from(surface.format).encode(),
        ];
        self.with(CommandKind::SetTexture, &params)
    }

    /// How textures are sampled by fetches that name sampler `number` (0..=31).
    #[must_use]
    pub fn set_sampler(self, number: u8, sampler: &Sampler) -> Self {
        let [wrap_x, wrap_y, wrap_z] = sampler.wrap.map(Into::into);
        let word = TextureSamplerWord {
            sampler: number,
            magnify: sampler.magnify.into(),
            minify: sampler.minify.into(),
            mip: match sampler.mip {
                MipFilter::None => SamplerMip::None,
                MipFilter::Nearest => SamplerMip::Nearest,
                MipFilter::Linear => SamplerMip::Linear,
            },
            wrap_x,
            wrap_y,
            wrap_z,
            compare: match sampler.compare {
                Compare::Never => SamplerCompare::Never,
                Compare::Less => SamplerCompare::Less,
                Compare::Equal => SamplerCompare::Equal,
                Compare::LessEqual => SamplerCompare::LessEqual,
                Compare::Greater => SamplerCompare::Greater,
                Compare::NotEqual => SamplerCompare::NotEqual,
                Compare::GreaterEqual => SamplerCompare::GreaterEqual,
                Compare::Always => SamplerCompare::Always,
            },
        };
        let [min, max, bias] = [sampler.min_lod, sampler.max_lod, sampler.lod_bias].map(f32::to_bits);
        let [r, g, b, a] = sampler.border;
        self.with(CommandKind::SetSampler, &[word.encode(), min, max, bias, r, g, b, a])
    }

    /// A memory of MEM instructions lies at `place`.
    #[must_use]
    pub fn set_memory(self, memory: MemoryKind, place: &MemoryPlace) -> Self {
        let params = [MemoryWord { memory }.encode(), place.base.0, place.bytes, place.item];
        self.with(CommandKind::SetMemory, &params)
    }

    /// The semantic table of `count` dwords lies at `address`.
    #[must_use]
    pub fn set_semantics(self, address: GpuAddr, count: u8) -> Self {
        self.with(CommandKind::SetSemantics, &[address.0, SemanticsWord { count }.encode()])
    }

    /// Exports to `target` go to `surface`; a height of 0 unbinds the target.
    #[must_use]
    pub fn set_export(self, target: Target, surface: &Surface) -> Self {
        let (kind, index) = match target {
            Target::Pixel(index) => (ExportKind::Pixel, index),
            Target::Depth => (ExportKind::Depth, 0),
            Target::Position(index) => (ExportKind::Position, index),
            Target::Parameter(index) => (ExportKind::Parameter, index),
        };
        let word = ExportWord { index, kind }.encode();
        self.with(CommandKind::SetExport, &[word, surface.base.0, surface.format_word(), surface.height])
    }

    /// Vertex events of geometry programs go to the `dwords` dwords at `address`.
    #[must_use]
    pub fn set_vertex_events(self, address: GpuAddr, dwords: u32) -> Self {
        self.with(CommandKind::SetVertexEvents, &[address.0, dwords])
    }

    /// Registers `first..first + count` receive interpolants 0..`count` of `set_params`.
    #[must_use]
    pub fn set_interpolants(self, first: u8, count: u8) -> Self {
        self.with(CommandKind::SetInterpolants, &[InterpolantsWord { first, count }.encode()])
    }

    /// Sets the offsets of the indices of vertex fetches of VERTEX_DATA and of INSTANCE_DATA.
    #[must_use]
    pub fn set_index_offsets(self, vertex: u32, instance: u32) -> Self {
        self.with(CommandKind::SetIndexOffsets, &[vertex, instance])
    }

    /// Whose constant buffers, buffers, textures and samplers the commands after it set.
    #[must_use]
    pub fn select_resources(self, set: ResourceSet) -> Self {
        self.with(CommandKind::SelectResources, &[ResourceSetWord { set }.encode()])
    }
}
