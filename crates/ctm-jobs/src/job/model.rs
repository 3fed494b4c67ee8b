//! A [`Job`] and its passes: all fields are public.

use super::frames::Varying;
use super::located::{Data, Located};
use crate::job::machine::{JobIsa, StoredForm};
use crate::job::r700::model::{MemoryBlock, R700Pass, R700Texture, SavedElements};
use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::engine::EngineKind;
use ctm_device::mc::{Format, Tiling};
use ctm_exec::r700::{LoopConstant, Sampler};
use ctm_exec::x1k::Plane;
use ctm_exec::{Budget, Domain, GroupSize};
use ctm_files::load::Isa;
use ctm_launch::Ref;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Everything needed to run programs: a list of passes, and settings.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program that it was made for, if it was made for one.
    pub given: GivenProgram,
    /// The instruction set, where a program does not say it.
    pub isa: Option<Isa>,
    /// The launches, in order; at least one.
    pub passes: Vec<Pass>,
    /// How often the whole list runs.
    pub repeat: u32,
    /// Values that are saved after all passes.
    pub saves: Vec<Save>,
    /// Further saves after all passes, of the state that the instruction set of its programs has.
    pub own_saves: OwnSaves,
    /// Constants that a viewer may change.
    pub sliders: Vec<super::slider::Slider>,
    /// How to run.
    pub run: Run,
}

impl Job {
    /// The value of a slider's number in the first pass that gives its constant; `None`: none does.
    #[must_use]
    pub fn slider_value(&self, slider: &super::slider::Slider) -> Option<f32> {
        let found = self.passes.iter().flat_map(|pass| &pass.float).find(|(key, _)| slider.is_of(key))?;
        found.1.value.get(slider.element).map(|&bits| f32::from_bits(bits))
    }

    /// Gives a slider's number a value in every pass that has its constant.
    pub fn slide(&mut self, slider: &super::slider::Slider, value: f32) {
        for (key, constant) in self.passes.iter_mut().flat_map(|pass| &mut pass.float) {
            if slider.is_of(key)
                && let Some(bits) = constant.value.get_mut(slider.element)
            {
                *bits = value.to_bits();
            }
        }
    }

    /// The instruction set of its programs.
    #[must_use]
    pub fn program_isa(&self) -> Isa {
        self.passes.first().map_or(Isa::X1k, Pass::isa)
    }

    /// Whether the domains of all passes were given as one row of columns.
    pub(crate) fn is_one_dimensional(&self) -> bool {
        self.passes.iter().all(|pass| pass.one_dimensional)
    }

    /// Gives every pass a domain of `width` x `height`, each 1 to 4096, and stretches the initial register values over it: the values at the
    /// edges of the old domain, half a step outside of its outermost processors, become those at the edges of the new one.
    ///
    /// A register that grows by exactly 1 from column to column or from row to row counts them, and goes on to; so do registers that hold integers.
    pub fn stretch(&mut self, [width, height]: [u32; 2]) {
        for pass in &mut self.passes {
            let old = pass.domain;
            pass.domain = Domain { i0: 0, j0: 0, i1: width.saturating_sub(1), j1: height.saturating_sub(1) };
            let columns = f64::from(old.i1 - old.i0 + 1) / f64::from(width.max(1));
            let rows = f64::from(old.j1 - old.j0 + 1) / f64::from(height.max(1));
            for plane in pass.registers.iter_mut().flatten().filter(|p| !p.bits) {
                for (c, origin) in plane.origin.iter_mut().enumerate() {
                    for (step, scale, first) in [(&mut plane.di[c], columns, old.i0), (&mut plane.dj[c], rows, old.j0)]
                    {
                        if *step != 1.0 {
                            *origin += *step * (f64::from(first) - 0.5);
                            *step *= scale;
                            *origin += *step * 0.5;
                        }
                    }
                }
            }
        }
    }
}

/// Saves at the end of a job besides outputs.
#[derive(Clone, Debug)]
pub enum OwnSaves {
    /// Of X1K programs: where the conditional buffer goes.
    X1k(Option<Located<PathBuf>>),
    /// Of R700 programs: memories of MEM instructions.
    R700(Vec<MemoryBlock>),
}

impl OwnSaves {
    /// No saves.
    #[must_use]
    pub const fn none(isa: Isa) -> Self {
        match isa {
            Isa::X1k => Self::X1k(None),
            Isa::R700 => Self::R700(Vec::new()),
        }
    }

    /// Where the conditional buffer goes.
    #[must_use]
    pub const fn conditional(&self) -> Option<&Located<PathBuf>> {
        match self {
            Self::X1k(path) => path.as_ref(),
            Self::R700(_) => None,
        }
    }

    /// The memories that are saved.
    #[must_use]
    pub fn memories(&self) -> &[MemoryBlock] {
        match self {
            Self::X1k(_) => &[],
            Self::R700(memories) => memories,
        }
    }
}

/// One launch, or several of the same, complete: nothing is inherited any more.
#[derive(Clone, Debug)]
pub struct Pass {
    /// By which textures of later passes name it.
    pub name: Option<Located<String>>,
    /// How often it runs before the next pass.
    pub repeat: u32,
    /// The program file.
    pub program: Located<PathBuf>,
    /// Declarations that bare words lack.
    pub program_info: Option<Located<ProgramInfo>>,
    /// The domain, at most 4096 x 4096.
    pub domain: Domain,
    /// The domain was given as one row of columns. Where those of all passes were, `.npy` files of outputs have no side for rows.
    pub one_dimensional: bool,
    /// Initial values of temporaries; `None`: those of the program's own preloads.
    pub registers: Option<Vec<Plane>>,
    /// Floating-point constants: bits of r, g, b, a.
    pub float: BTreeMap<Ref, Located<[u32; 4]>>,
    /// Floating-point constants that differ between the launches of the pass.
    pub varying: BTreeMap<Ref, Varying>,
    /// Integer constants of the X1K, loop constants of the R700: count, initial aL, step.
    pub int: BTreeMap<Ref, Located<LoopConstant>>,
    /// Boolean constants.
    pub bool: BTreeMap<Ref, Located<bool>>,
    /// Inputs.
    pub textures: Vec<Texture>,
    /// Outputs.
    pub outputs: Vec<Output>,
    /// The part for the instruction set of its program.
    pub own: OwnPass,
}

/// The part of a pass that belongs to an instruction set.
#[derive(Clone, Debug)]
pub enum OwnPass {
    /// Of an X1K program, with the conditional operation unit of its device.
    X1k(Option<Conditional>),
    /// Of an R700 program.
    R700(Box<R700Pass>),
}

impl Pass {
    /// The instruction set of its program.
    #[must_use]
    pub const fn isa(&self) -> Isa {
        match self.own {
            OwnPass::X1k(_) => Isa::X1k,
            OwnPass::R700(_) => Isa::R700,
        }
    }

    /// The conditional operation unit.
    #[must_use]
    pub const fn conditional(&self) -> Option<&Conditional> {
        match &self.own {
            OwnPass::X1k(conditional) => conditional.as_ref(),
            OwnPass::R700(_) => None,
        }
    }

    /// The part for R700 programs.
    #[must_use]
    pub fn r700(&self) -> Option<&R700Pass> {
        match &self.own {
            OwnPass::X1k(_) => None,
            OwnPass::R700(own) => Some(own),
        }
    }

    /// The same, to change it.
    pub fn r700_mut(&mut self) -> Option<&mut R700Pass> {
        match &mut self.own {
            OwnPass::X1k(_) => None,
            OwnPass::R700(own) => Some(own),
        }
    }
}

/// Declarations that bare words lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgramInfo {
    /// Of X1K programs.
    X1k(X1kInfo),
    /// Of R700 programs.
    R700(R700Info),
}

/// Declarations that bare words of the X1K lack; `None`: as the words themselves require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct X1kInfo {
    /// First instruction.
    pub first: Option<u16>,
    /// Last instruction, inclusive.
    pub last: Option<u16>,
    /// `US_FC_CTRL` bit 31.
    pub full_flow_control: Option<bool>,
    /// `US_CONFIG` bit 1.
    pub zero_times_anything: Option<bool>,
    /// `US_CONFIG` bit 0.
    pub uncached: Option<bool>,
}

/// Declarations that bare words of the R700 lack; `None`: as the words themselves require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct R700Info {
    /// General purpose registers.
    pub gprs: Option<u8>,
    /// Stack entries.
    pub stack: Option<u8>,
}

/// One input.
#[derive(Clone, Debug)]
pub struct Texture {
    /// Which input.
    pub slot: Located<Ref>,
    /// Its elements.
    pub data: Option<Located<Data>>,
    /// The output that it reads instead, once one has been written.
    pub output: Option<Located<FromOutput>>,
    /// How it is sampled. An X1K input has two coordinates, one filter and no levels.
    pub sampler: Sampler,
    /// Whether the job names the wrap, so that reading outside is intended.
    pub has_wrap: bool,
    /// Its layout in device memory; `None`: the one that suits its elements.
    pub format: Option<Located<Format>>,
    /// Columns and rows of a raw file.
    pub size: Option<[u32; 2]>,
    /// The part for the instruction set of its program.
    pub own: OwnTexture,
}

/// The part of an input that belongs to an instruction set.
#[derive(Clone, Debug)]
pub enum OwnTexture {
    /// Of an X1K program: the order in device memory; `None`: linear, or that of the output it reads.
    X1k(Option<Tiling>),
    /// Of an R700 program.
    R700(R700Texture),
}

impl Texture {
    /// Its order in device memory, if the job names one.
    #[must_use]
    pub const fn tiling(&self) -> Option<Tiling> {
        match self.own {
            OwnTexture::X1k(tiling) => tiling,
            OwnTexture::R700(_) => None,
        }
    }

    /// The part for R700 programs.
    #[must_use]
    pub const fn r700(&self) -> Option<&R700Texture> {
        match &self.own {
            OwnTexture::X1k(_) => None,
            OwnTexture::R700(own) => Some(own),
        }
    }

    /// Its files, those of levels included.
    pub fn data(&self) -> impl Iterator<Item = &Located<Data>> {
        self.data.iter().chain(self.r700().into_iter().flat_map(|own| &own.levels))
    }
}

/// The output of an earlier pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FromOutput {
    /// The output, 0..=3, or its name in the program that reads it.
    pub output: Ref,
    /// The pass of this name; `None`: whichever wrote it last.
    pub pass: Option<String>,
}

/// One output of a pass.
#[derive(Clone, Debug)]
pub struct Output {
    /// Which output.
    pub slot: Located<Ref>,
    /// Contents before the run, as bits of r, g, b, a.
    pub clear: [u32; 4],
    /// Start from `clear` even where an earlier pass left a fitting output.
    pub fresh: bool,
    /// How its elements are stored; `None`: four single-precision numbers, in a pass with uncached writes one, which those need.
    pub format: Option<StoredForm>,
    /// Its order in device memory.
    pub tiling: Tiling,
    /// Columns and rows in memory; `None`: as far as the domain reaches.
    pub size: Option<[u32; 2]>,
    /// Which channels are written (bit 0 = r).
    pub mask: u8,
    /// Its file when this pass is done, or (numbered names) after each of its launches.
    pub saves: Vec<Save>,
}

impl Output {
    /// An output of four single-precision channels, full of zeros at the start, as large as the domain, not saved.
    #[must_use]
    pub fn new(slot: Ref) -> Self {
        Self {
            slot: slot.into(),
            clear: [0; 4],
            fresh: false,
            format: None,
            tiling: Tiling::Linear,
            size: None,
            mask: 15,
            saves: Vec::new(),
        }
    }
}

impl Output {
    /// Its layout in device memory.
    #[must_use]
    pub fn device_format(&self) -> Format {
        match self.format {
            Some(StoredForm::Device(format)) => format,
            Some(StoredForm::Numbers(_)) | None => Format::Float32x4,
        }
    }

    /// Its values in files.
    #[must_use]
    pub fn elements(&self) -> SavedElements {
        match self.format {
            Some(StoredForm::Device(format)) => {
                SavedElements { channels: format.info().channels, ..SavedElements::default() }
            }
            Some(StoredForm::Numbers(elements)) => elements,
            None => SavedElements::default(),
        }
    }
}

/// A file to be written.
#[derive(Clone, Debug)]
pub struct Save {
    /// The output.
    pub slot: Located<Ref>,
    /// The file; its extension says the format. `%d` or `%03d` in its name is the number of the launch or repetition: there is one file for each.
    pub path: Located<PathBuf>,
    /// Last row first.
    pub flip_y: bool,
}

/// The conditional operation unit (CTM §2.1.3).
#[derive(Clone, Debug)]
pub struct Conditional {
    /// Whether the test comes before a processor runs (PE) or when it has ended (DPP).
    pub location: CondLoc,
    /// The test.
    pub test: CondTest,
    /// The reference value of the PE's comparison, as bits.
    pub value: u32,
    /// The buffer's initial contents.
    pub buffer: Option<Located<Data>>,
    /// Initial contents without a file, as bits.
    pub clear: u32,
    /// Whether the buffer is written.
    pub write: bool,
    /// Where the buffer goes when this pass is done.
    pub save: Option<Located<PathBuf>>,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The engine.
    pub engine: Located<EngineKind>,
    /// Worker threads; 0: one per core.
    pub threads: usize,
    /// Lanes that decide a jump together.
    pub group: GroupSize,
    /// Limits of each launch: by default, 100 million instructions for each group and half a minute.
    pub budget: Budget,
    /// Checks while running.
    pub check: bool,
    /// Count the expensive counters, too; without it, the report has [`Counters::cheap`](ctm_exec::Counters::cheap).
    pub counters: bool,
}

/// The wall time of each launch of a job that does not say.
pub const LAUNCH_TIME: Duration = Duration::from_secs(30);

impl Default for Run {
    fn default() -> Self {
        Self::of(Isa::X1k)
    }
}

impl Run {
    /// How jobs run that say nothing about it.
    #[must_use]
    pub fn of(isa: Isa) -> Self {
        Self {
            engine: EngineKind::default().into(),
            threads: 0,
            group: JobIsa::of(isa).group,
            budget: Budget { time: Some(LAUNCH_TIME), ..Budget::default() },
            check: false,
            counters: true,
        }
    }
}

/// The program that a reader began with.
#[derive(Clone, Debug, Default)]
pub struct GivenProgram {
    /// Its path, which need not be text.
    pub path: Option<PathBuf>,
    /// Its bytes, where they have been read.
    pub bytes: Option<Arc<[u8]>>,
}

impl GivenProgram {
    /// The bytes of this file, if they are here.
    pub(crate) fn bytes_of(&self, path: &Path) -> Option<&[u8]> {
        self.bytes.as_deref().filter(|_| self.path.as_deref() == Some(path))
    }
}
