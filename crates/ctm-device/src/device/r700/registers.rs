//! The registers that commands of R700 devices set.

use crate::commands::{
    BankWord, BufferPlace, BufferWord, ChipWord, Command, ConstantsPlace, EntryWord, ExportKind, ExportWord,
    FetchFormatWord, GlobalsWord, GroupWord, InterpolantsWord, MemoryKind, MemoryPlace, MemoryWord, NeedsWord,
    ProgramPlace, ProgramSlot, ProgramWord, ResourceSet, ResourceSetWord, SamplerCompare, SamplerMip, SemanticsWord,
    StageWord, TextureDepthWord, TexturePitchWord, TextureSamplerWord, TextureSizeWord, TextureWord,
};
use crate::device::parameter::field;
use crate::device::report::CommandErrorReason as Reason;
use crate::mc::{Format, Surface, TextureShape, TextureSurface};
use crate::memory::GpuAddr;
use ctm_exec::GroupSize;
use ctm_exec::r700::exports::{PARAMETERS, PIXELS, POSITIONS};
use ctm_exec::r700::resources::{Compare, MipFilter};
use ctm_exec::r700::{Sampler, Target};
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::r700::program::{Chip, Stage};
use std::collections::BTreeMap;

/// Most SIMD-global registers (R700 §2.6.1.1).
const GLOBAL_GPRS: u8 = 124;

/// The binding of a texture resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundTexture {
    /// An array of the Guide's, by `set_inp_fmt`.
    Input(Surface),
    /// A texture, by `set_texture`.
    Texture(TextureSurface),
}

/// The R700 format of an array of the Guide.
pub(in crate::device) fn texel_format(format: Format) -> ctm_exec::r700::formats::Format {
    let data = match format {
        Format::Uint16x1 => DataFormat::Fmt16,
        Format::Uint8x4 => DataFormat::Fmt8_8_8_8,
        Format::Float32x1 => DataFormat::Fmt32Float,
        Format::Float32x2 => DataFormat::Fmt32_32Float,
        Format::Float32x4 => DataFormat::Fmt32_32_32_32Float,
    };
    ctm_exec::r700::formats::Format { data, ..Default::default() }
}

/// Where the loop constants lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopConstants {
    /// By `set_consti_fmt`: bytes for count, first index and step.
    Bytes(GpuAddr),
    /// By `set_loop_consts`: dwords.
    Words(GpuAddr),
}

/// Bindings by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resources {
    /// Constant buffers by bank.
    pub constant_buffers: BTreeMap<u8, ConstantsPlace>,
    /// Buffers of vertex fetches by number.
    pub buffers: BTreeMap<u8, BufferPlace>,
    /// Texture resources by number.
    pub textures: BTreeMap<u8, BoundTexture>,
    /// Samplers by number.
    pub samplers: BTreeMap<u8, Sampler>,
}

/// State of R700 devices only, set by commands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct R700Registers {
    /// The program, where `set_program` said where it lies.
    pub program: Option<ProgramPlace>,
    /// The fetch subroutine.
    pub fetch_program: Option<ProgramPlace>,
    /// The kind of program; `None`: its own.
    pub stage: Option<Stage>,
    /// The chip and the threads of its wavefronts; `None`: those of the options.
    pub chip: Option<(Chip, GroupSize)>,
    /// Threads of a group; 0: those of a wavefront.
    pub group_threads: u32,
    /// SIMD-global registers.
    pub global_gprs: u8,
    /// Where the loop constants lie. Without an address they are 0.
    pub loop_constants: Option<LoopConstants>,
    /// Bindings by number.
    pub own: Resources,
    /// Bindings by number for clauses and fetches with ALT_CONST.
    pub alternate: Resources,
    /// Which of the two commands set; `None`: the first.
    pub selected: Option<ResourceSet>,
    /// Memories of MEM instructions.
    pub memories: BTreeMap<MemoryKind, MemoryPlace>,
    /// Where the semantic table lies, and how many rows it has.
    pub semantics: Option<(GpuAddr, u8)>,
    /// Where exports go.
    pub exports: BTreeMap<Target, Surface>,
    /// Where vertex events go, and how many dwords there are.
    pub vertex_events: Option<(GpuAddr, u32)>,
    /// Offsets of the indices of vertex fetches of VERTEX_DATA and INSTANCE_DATA.
    pub index_offsets: [u32; 2],
    /// The register that receives interpolant 0, and how many interpolants there are.
    pub interpolants: Option<(u8, u8)>,
}

/// Puts a value in or takes it away.
fn bind<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => {
            map.insert(key, value);
        }
        None => {
            map.remove(&key);
        }
    }
}

fn address(command: &Command, index: usize) -> GpuAddr {
    GpuAddr(command.param(index)).base()
}

/// `found` must be at most `most`.
pub(super) fn at_most(what: &'static str, found: u32, most: u32) -> Result<(), Reason> {
    if found <= most { Ok(()) } else { Err(Reason::OutOfRange { what, found, allowed: format!("0..={most}") }) }
}

impl R700Registers {
    /// The resources that commands set.
    const fn resources(&mut self) -> &mut Resources {
        match self.selected {
            None | Some(ResourceSet::Own) => &mut self.own,
            Some(ResourceSet::Alternate) => &mut self.alternate,
        }
    }

    pub(in crate::device) fn select_resources(&mut self, command: &Command) -> Result<(), Reason> {
        self.selected = Some(field(command, 0, ResourceSetWord::decode)?.set);
        Ok(())
    }

    /// The binding of `set_inp_fmt`, for the texture resource with the input's number.
    pub(in crate::device) fn input(&mut self, input: u8, surface: Surface) {
        self.resources().textures.insert(input, BoundTexture::Input(surface));
    }

    pub(in crate::device) fn set_program(&mut self, command: &Command) -> Result<ProgramSlot, Reason> {
        let word = field(command, 0, ProgramWord::decode)?;
        let needs = field(command, 4, NeedsWord::decode)?;
        let place = ProgramPlace {
            base: address(command, 1),
            bytes: command.param(2),
            form: word.form,
            entry: field(command, 3, EntryWord::decode)?.entry,
            gprs: needs.gprs,
            stack: needs.stack,
        };
        let place = (place.bytes > 0).then_some(place);
        match word.which {
            ProgramSlot::Main => self.program = place,
            ProgramSlot::Fetch => self.fetch_program = place,
        }
        Ok(word.which)
    }

    pub(in crate::device) fn set_stage(&mut self, command: &Command) -> Result<(), Reason> {
        self.stage = Some(field(command, 0, StageWord::decode)?.stage);
        Ok(())
    }

    pub(in crate::device) fn set_chip(&mut self, command: &Command) -> Result<(), Reason> {
        let word = field(command, 0, ChipWord::decode)?;
        let lanes = if word.wavefront == 0 { word.chip.wavefront() } else { word.wavefront.into() };
        let wavefront = u16::try_from(lanes).ok().and_then(GroupSize::new).ok_or_else(|| {
            let allowed = format!("multiples of 4 up to {}, and 0", GroupSize::MAX);
            Reason::OutOfRange { what: "wavefront", found: lanes, allowed }
        })?;
        self.chip = Some((word.chip, wavefront));
        Ok(())
    }

    pub(in crate::device) fn set_thread_group(&mut self, command: &Command) -> Result<(), Reason> {
        let threads = u32::from(field(command, 0, GroupWord::decode)?.threads);
        at_most("threads", threads, 1024)?;
        self.group_threads = threads;
        Ok(())
    }

    pub(in crate::device) fn set_global_gprs(&mut self, command: &Command) -> Result<(), Reason> {
        let gprs = field(command, 0, GlobalsWord::decode)?.gprs;
        at_most("gprs", gprs.into(), GLOBAL_GPRS.into())?;
        self.global_gprs = gprs;
        Ok(())
    }

    pub(in crate::device) fn set_const_buffer(&mut self, command: &Command) -> Result<(), Reason> {
        let bank = field(command, 0, BankWord::decode)?.bank;
        let place = ConstantsPlace { base: address(command, 1), constants: command.param(2) };
        bind(&mut self.resources().constant_buffers, bank, (place.constants > 0).then_some(place));
        Ok(())
    }

    pub(in crate::device) fn set_vtx_buffer(&mut self, command: &Command) -> Result<(), Reason> {
        let buffer = field(command, 0, BufferWord::decode)?.buffer;
        let place = BufferPlace {
            base: address(command, 1),
            bytes: command.param(2),
            stride_bytes: command.param(3),
            format: field(command, 4, FetchFormatWord::decode)?.into(),
        };
        bind(&mut self.resources().buffers, buffer, (place.bytes > 0).then_some(place));
        Ok(())
    }

    pub(in crate::device) fn set_texture(&mut self, command: &Command) -> Result<(), Reason> {
        let word = field(command, 0, TextureWord::decode)?;
        let size = field(command, 2, TextureSizeWord::decode)?;
        let depth = field(command, 3, TextureDepthWord::decode)?;
        if size.width == 0 {
            self.resources().textures.remove(&word.texture);
            return Ok(());
        }
        let texture = TextureSurface {
            base: address(command, 1),
            shape: word.shape,
            width: size.width,
            height: size.height,
            depth: depth.depth,
            levels: depth.levels,
            pitch: field(command, 4, TexturePitchWord::decode)?.pitch,
            format: field(command, 5, FetchFormatWord::decode)?.into(),
            gamma: depth.gamma,
        };
        let rows = !matches!(texture.shape, TextureShape::OneD | TextureShape::OneDArray);
        let slices = matches!(texture.shape, TextureShape::ThreeD | TextureShape::OneDArray | TextureShape::TwoDArray);
        let sizes = [("width", size.width, true), ("height", size.height, rows), ("depth", depth.depth, slices)];
        for (what, found, counts) in sizes {
            if counts && !(1..=TextureSurface::LARGEST).contains(&found) {
                let allowed = format!("1..={}", TextureSurface::LARGEST);
                return Err(Reason::OutOfRange { what, found: found.into(), allowed });
            }
        }
        if !(1..=TextureSurface::LEVELS).contains(&texture.levels) {
            let allowed = format!("1..={}", TextureSurface::LEVELS);
            return Err(Reason::OutOfRange { what: "levels", found: texture.levels.into(), allowed });
        }
        if texture.texture().is_none() {
            let format = texture.format.data.name();
            return Err(Reason::Unsupported { feature: format!("textures of {format}") });
        }
        if texture.pitch != 0 && !texture.is_plain() {
            let allowed = "0: the rows of textures of this format are not padded".to_owned();
            return Err(Reason::OutOfRange { what: "pitch", found: texture.pitch.into(), allowed });
        }
        self.resources().textures.insert(word.texture, BoundTexture::Texture(texture));
        Ok(())
    }

    pub(in crate::device) fn set_sampler(&mut self, command: &Command) -> Result<(), Reason> {
        let word = field(command, 0, TextureSamplerWord::decode)?;
        let number = |index| f32::from_bits(command.param(index));
        let sampler = Sampler {
            magnify: word.magnify.into(),
            minify: word.minify.into(),
            mip: match word.mip {
                SamplerMip::None => MipFilter::None,
                SamplerMip::Nearest => MipFilter::Nearest,
                SamplerMip::Linear => MipFilter::Linear,
            },
            wrap: [word.wrap_x, word.wrap_y, word.wrap_z].map(Into::into),
            border: std::array::from_fn(|c| command.param(4 + c)),
            min_lod: number(1),
            max_lod: number(2),
            lod_bias: number(3),
            compare: match word.compare {
                SamplerCompare::Never => Compare::Never,
                SamplerCompare::Less => Compare::Less,
                SamplerCompare::Equal => Compare::Equal,
                SamplerCompare::LessEqual => Compare::LessEqual,
                SamplerCompare::Greater => Compare::Greater,
                SamplerCompare::NotEqual => Compare::NotEqual,
                SamplerCompare::GreaterEqual => Compare::GreaterEqual,
                SamplerCompare::Always => Compare::Always,
            },
            ..Sampler::default()
        };
        self.resources().samplers.insert(word.sampler, sampler);
        Ok(())
    }

    pub(in crate::device) fn set_memory(&mut self, command: &Command) -> Result<(), Reason> {
        let memory = field(command, 0, MemoryWord::decode)?.memory;
        let place = MemoryPlace { base: address(command, 1), bytes: command.param(2), item: command.param(3) };
        bind(&mut self.memories, memory, (place.bytes > 0).then_some(place));
        Ok(())
    }

    pub(in crate::device) fn set_semantics(&mut self, command: &Command) -> Result<(), Reason> {
        let count = field(command, 1, SemanticsWord::decode)?.count;
        self.semantics = (count > 0).then_some((address(command, 0), count));
        Ok(())
    }

    pub(in crate::device) fn set_export(&mut self, command: &Command, surface: Surface) -> Result<(), Reason> {
        let ExportWord { index, kind } = field(command, 0, ExportWord::decode)?;
        #[allow(clippy::cast_possible_truncation, reason = "at most 32")]
        let (targets, target) = match kind {
            ExportKind::Pixel => (PIXELS as u32, Target::Pixel(index)),
            ExportKind::Depth => (1, Target::Depth),
            ExportKind::Position => (POSITIONS as u32, Target::Position(index)),
            ExportKind::Parameter => (PARAMETERS as u32, Target::Parameter(index)),
        };
        at_most("index", index.into(), targets - 1)?;
        bind(&mut self.exports, target, (surface.height > 0).then_some(surface));
        Ok(())
    }

    pub(in crate::device) fn set_vertex_events(&mut self, command: &Command) {
        let dwords = command.param(1);
        self.vertex_events = (dwords > 0).then_some((address(command, 0), dwords));
    }

    pub(in crate::device) fn set_interpolants(&mut self, command: &Command) -> Result<(), Reason> {
        let InterpolantsWord { first, count } = field(command, 0, InterpolantsWord::decode)?;
        self.interpolants = (count > 0).then_some((first, count));
        Ok(())
    }

    /// The state of `set_inp_sampler`, for the sampler with the input's number.
    pub(in crate::device) fn input_sampler(&mut self, input: u8, sampler: &ctm_exec::x1k::Sampler) {
        let [x, y] = sampler.wrap;
        let (magnify, minify) = (sampler.filter, sampler.filter);
        let wrap = [x, y, ctm_exec::r700::resources::Wrap::Clamp];
        self.resources()
            .samplers
            .insert(input, Sampler { magnify, minify, wrap, border: sampler.border, ..Sampler::default() });
    }

    /// The item size of a memory for MEM instructions.
    pub(super) fn item(&self, memory: MemoryKind) -> u32 {
        self.memories.get(&memory).map_or(0, |place| place.item)
    }
}
