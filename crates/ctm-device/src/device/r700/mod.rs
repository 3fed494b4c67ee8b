//! The R700 part of the device: its registers, its program loader, and the memory of its programs.
//!
//! | file | content |
//! |---|---|
//! | this one | the registers that commands set, and the start of a program |
//! | `load` | from memory to the engine's launch: programs, constants, planes |
//! | `alternate` | the resources of another program type |
//! | `memory` | the memory of a running program: resources, memories, exports |
//! | `touched` | the bindings that a program can access |
//! | `strips` | vertex events of geometry programs, as strips |

mod alternate;
mod lent;
mod load;
mod memory;
mod strips;
mod touched;

pub use strips::{Strip, strips, vertex_events};

use super::cache::Cache;
use super::launch::lock;
use super::pe::{KEPT_PROGRAMS, field};
use super::report::CommandErrorReason as Reason;
use super::{Device, Registers};
use crate::commands::{
    BankWord, BufferPlace, BufferWord, ChipWord, Command, CondLoc, CondTest, ConstantsPlace, EntryWord, ExportKind,
    ExportWord, FetchFormatWord, GlobalsWord, GroupWord, InterpolantsWord, MemoryKind, MemoryPlace, MemoryWord,
    NeedsWord, ProgramPlace, ProgramSlot, ProgramWord, ResourceSet, ResourceSetWord, SamplerCompare, SamplerMip,
    SemanticsWord, StageWord, TextureDepthWord, TexturePitchWord, TextureSamplerWord, TextureSizeWord, TextureWord,
};
use crate::mc::{Format, Surface, TextureShape, TextureSurface};
use crate::memory::{DeviceMemory, GpuAddr};
use ctm_exec::GroupSize;
use ctm_exec::r700::exports::{PARAMETERS, PIXELS, POSITIONS};
use ctm_exec::r700::resources::{Compare, MipFilter};
use ctm_exec::r700::{Launch, Sampler, Target};
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::r700::program::{Chip, Stage};
use load::LoadedProgram;
use memory::LaunchMemory;
use std::collections::BTreeMap;
use std::sync::Arc;

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
pub(super) fn texel_format(format: Format) -> ctm_exec::r700::formats::Format {
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
fn at_most(what: &'static str, found: u32, most: u32) -> Result<(), Reason> {
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

    pub(super) fn select_resources(&mut self, command: &Command) -> Result<(), Reason> {
        self.selected = Some(field(command, 0, ResourceSetWord::decode)?.set);
        Ok(())
    }

    /// The binding of `set_inp_fmt`, for the texture resource with the input's number.
    pub(super) fn input(&mut self, input: u8, surface: Surface) {
        self.resources().textures.insert(input, BoundTexture::Input(surface));
    }

    pub(super) fn set_program(&mut self, command: &Command) -> Result<ProgramSlot, Reason> {
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

    pub(super) fn set_stage(&mut self, command: &Command) -> Result<(), Reason> {
        self.stage = Some(field(command, 0, StageWord::decode)?.stage);
        Ok(())
    }

    pub(super) fn set_chip(&mut self, command: &Command) -> Result<(), Reason> {
        let word = field(command, 0, ChipWord::decode)?;
        let lanes = if word.wavefront == 0 { word.chip.wavefront() } else { word.wavefront.into() };
        let wavefront = u16::try_from(lanes).ok().and_then(GroupSize::new).ok_or_else(|| {
            let allowed = format!("multiples of 4 up to {}, and 0", GroupSize::MAX);
            Reason::OutOfRange { what: "wavefront", found: lanes, allowed }
        })?;
        self.chip = Some((word.chip, wavefront));
        Ok(())
    }

    pub(super) fn set_thread_group(&mut self, command: &Command) -> Result<(), Reason> {
        let threads = u32::from(field(command, 0, GroupWord::decode)?.threads);
        at_most("threads", threads, 1024)?;
        self.group_threads = threads;
        Ok(())
    }

    pub(super) fn set_global_gprs(&mut self, command: &Command) -> Result<(), Reason> {
        let gprs = field(command, 0, GlobalsWord::decode)?.gprs;
        at_most("gprs", gprs.into(), GLOBAL_GPRS.into())?;
        self.global_gprs = gprs;
        Ok(())
    }

    pub(super) fn set_const_buffer(&mut self, command: &Command) -> Result<(), Reason> {
        let bank = field(command, 0, BankWord::decode)?.bank;
        let place = ConstantsPlace { base: address(command, 1), constants: command.param(2) };
        bind(&mut self.resources().constant_buffers, bank, (place.constants > 0).then_some(place));
        Ok(())
    }

    pub(super) fn set_vtx_buffer(&mut self, command: &Command) -> Result<(), Reason> {
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

    pub(super) fn set_texture(&mut self, command: &Command) -> Result<(), Reason> {
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

    pub(super) fn set_sampler(&mut self, command: &Command) -> Result<(), Reason> {
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

    pub(super) fn set_memory(&mut self, command: &Command) -> Result<(), Reason> {
        let memory = field(command, 0, MemoryWord::decode)?.memory;
        let place = MemoryPlace { base: address(command, 1), bytes: command.param(2), item: command.param(3) };
        bind(&mut self.memories, memory, (place.bytes > 0).then_some(place));
        Ok(())
    }

    pub(super) fn set_semantics(&mut self, command: &Command) -> Result<(), Reason> {
        let count = field(command, 1, SemanticsWord::decode)?.count;
        self.semantics = (count > 0).then_some((address(command, 0), count));
        Ok(())
    }

    pub(super) fn set_export(&mut self, command: &Command, surface: Surface) -> Result<(), Reason> {
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

    pub(super) fn set_vertex_events(&mut self, command: &Command) {
        let dwords = command.param(1);
        self.vertex_events = (dwords > 0).then_some((address(command, 0), dwords));
    }

    pub(super) fn set_interpolants(&mut self, command: &Command) -> Result<(), Reason> {
        let InterpolantsWord { first, count } = field(command, 0, InterpolantsWord::decode)?;
        self.interpolants = (count > 0).then_some((first, count));
        Ok(())
    }

    /// The state of `set_inp_sampler`, for the sampler with the input's number.
    pub(super) fn input_sampler(&mut self, input: u8, sampler: &ctm_exec::x1k::Sampler) {
        let [x, y] = sampler.wrap;
        let (magnify, minify) = (sampler.filter, sampler.filter);
        let wrap = [x, y, ctm_exec::r700::resources::Wrap::Clamp];
        self.resources()
            .samplers
            .insert(input, Sampler { magnify, minify, wrap, border: sampler.border, ..Sampler::default() });
    }

    /// The item size of a memory for MEM instructions.
    fn item(&self, memory: MemoryKind) -> u32 {
        self.memories.get(&memory).map_or(0, |place| place.item)
    }
}

/// The programs that were read; `None` when one is to be read again.
#[derive(Debug, Default)]
pub(super) struct Programs {
    main: Option<Arc<LoadedProgram>>,
    fetch: Option<Arc<LoadedProgram>>,
    /// Those that were read before.
    kept: Vec<Arc<LoadedProgram>>,
}

impl Programs {
    /// The instruction cache is invalid, or the place of a program changed.
    pub fn forget(&mut self) {
        for program in [self.main.take(), self.fetch.take()].into_iter().flatten() {
            if self.kept.len() >= KEPT_PROGRAMS {
                self.kept.remove(0);
            }
            self.kept.push(program);
        }
    }

    /// Nothing that was read stays.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// One that was read before from this place, if memory still holds it: it is not taken apart again.
    fn known(
        &mut self,
        memory: &DeviceMemory,
        base: GpuAddr,
        place: Option<ProgramPlace>,
    ) -> Option<Arc<LoadedProgram>> {
        let found = self.kept.iter().position(|kept| kept.is_at(memory, base, place))?;
        Some(self.kept.swap_remove(found))
    }
}

impl Device {
    /// Reads the programs that were not read yet.
    fn r700_programs(&mut self) -> Result<(Arc<LoadedProgram>, Option<Arc<LoadedProgram>>), Reason> {
        let (registers, memory, programs) = (&self.registers, &self.memory, &mut self.programs);
        if programs.main.is_none() {
            let main = match (registers.r700.program, registers.instructions) {
                (Some(place), _) => match programs.known(memory, place.base, Some(place)) {
                    Some(known) => known,
                    None => Arc::new(LoadedProgram::load(memory, &place, "the program")?),
                },
                (None, Some(at)) => match programs.known(memory, at, None) {
                    Some(known) => known,
                    None => Arc::new(LoadedProgram::load_elf(memory, at)?),
                },
                (None, None) => return Err(Reason::NoProgram),
            };
            programs.main = Some(main);
        }
        if let (None, Some(place)) = (&programs.fetch, registers.r700.fetch_program) {
            programs.fetch = Some(match programs.known(memory, place.base, Some(place)) {
                Some(known) => known,
                None => Arc::new(LoadedProgram::load(memory, &place, "the fetch program")?),
            });
        }
        let main = programs.main.clone().ok_or(Reason::NoProgram)?;
        Ok((main, programs.fetch.clone()))
    }

    /// `start_program` on an R700 device.
    pub(super) fn start_r700(&mut self, command: &Command, offset: u32) -> Result<(), Reason> {
        let domain = self.registers.domain.ok_or(Reason::NoDomain)?;
        let (main, fetch) = self.r700_programs()?;
        let r700 = &self.registers.r700;
        let stage = r700.stage.or(main.program.stage).unwrap_or(Stage::Pixel);
        self.check_conditional(stage)?;
        for (kind, place) in &r700.memories {
            self.memory
                .check(place.base, place.bytes.into())
                .map_err(|error| load::outside(format!("{} memory", kind.name().to_ascii_lowercase()), error))?;
        }
        if self.options.checks && (domain.width() == 0 || domain.height() == 0) {
            self.find_empty_domain(domain, command, offset);
        }
        let (constants, semantics, alternate) = {
            let mut model = self.model.as_ref().map(lock);
            if let Some(model) = &mut model {
                model.start_launch();
                for loaded in [Some(&main), fetch.as_ref()].into_iter().flatten() {
                    let what = || "the program".to_owned();
                    model.reads(Some(Cache::Instruction), loaded.base, loaded.bytes, what);
                }
            }
            let constants = load::constants(&self.memory, model.as_deref_mut(), &self.registers)?;
            let programs = [Some(&main), fetch.as_ref()];
            let alternate = if programs.into_iter().flatten().any(|loaded| loaded.names_alternates) {
                let order = self.options.uint8_order;
                Some(alternate::copy(&self.memory, model.as_deref_mut(), &self.registers, order)?)
            } else {
                None
            };
            (constants, load::semantics(&self.memory, &self.registers)?, alternate)
        };
        let planes = load::planes(&self.memory, &self.registers, stage, self.options.params_stride)?;
        let r700 = &self.registers.r700;
        let (chip, wavefront) = r700.chip.unwrap_or((self.options.chip, self.options.group));
        let streams = [MemoryKind::Stream0, MemoryKind::Stream1, MemoryKind::Stream2, MemoryKind::Stream3];
        let launch = Launch {
            fetch_program: fetch.as_ref().map(|loaded| &loaded.program),
            stage,
            chip,
            wavefront,
            group_threads: r700.group_threads,
            reduction_stride: r700.item(MemoryKind::Reduction),
            ring_item_dwords: r700.item(MemoryKind::Ring),
            stream_item_dwords: streams.map(|stream| r700.item(stream)),
            global_gprs: r700.global_gprs,
            vertex_offset: r700.index_offsets[0],
            instance_offset: r700.index_offsets[1],
            semantics: &semantics,
            planes: &planes,
            budget: self.options.budget,
            threads: self.options.threads,
            checks: self.options.checks,
            counters: self.counts(),
            ..Launch::new(&main.program, &constants, domain)
        };
        let outcome = if domain.width() == 0 || domain.height() == 0 {
            Ok(ctm_exec::Outcome::default())
        } else {
            let order = self.options.uint8_order;
            let both = fetch.as_ref().map(|fetch| main.touched.clone().and(&fetch.touched));
            let touched = (stage, both.as_ref().unwrap_or(&main.touched), domain.processors());
            let mut memory =
                LaunchMemory::new(&mut self.memory, self.model.as_ref(), order, &self.registers, touched, alternate)?;
            self.engine.run_r700_under(&self.control, &launch, &mut memory)
        };
        self.end_launch(outcome, domain, offset)
    }

    /// Whether the Conditional Output Unit supports its settings with a program of this stage.
    fn check_conditional(&self, stage: Stage) -> Result<(), Reason> {
        let unit = self.registers.conditional;
        if unit.location == CondLoc::Pe && unit.test != CondTest::Always {
            let feature = "conditional scheduling (location PE) of R700 programs".to_owned();
            return Err(Reason::Unsupported { feature });
        }
        if stage == Stage::Pixel && unit.compares() && unit.buffer.is_none() {
            return Err(Reason::NoConditionalBuffer { test: unit.test });
        }
        Ok(())
    }
}

/// The texture resource that `set_inp_fmt` made of an input: its columns and rows.
fn input_size(surface: &Surface, registers: &Registers, index: u8) -> (u32, u32) {
    let width = match registers.samplers.get(usize::from(index)).map_or(0, |s| s.width) {
        0 => surface.width(),
        width => width.min(surface.width()),
    };
    (width, surface.rows())
}
