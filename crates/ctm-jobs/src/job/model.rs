//! A [`Job`] and its passes: all fields are public.

use super::frames::Varying;
use super::located::{Data, Located};
use crate::job::r700::model::{Elements, Lookup, MemoryBlock, R700Pass};
use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::engine::EngineKind;
use ctm_device::mc::{Format, Tiling};
use ctm_exec::r700::LoopConstant;
use ctm_exec::x1k::{Filter, Plane, Wrap};
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
    pub given: Given,
    /// The instruction set, where a program does not say it.
    pub isa: Option<Isa>,
    /// The launches, in order; at least one.
    pub passes: Vec<Pass>,
    /// How often the whole list runs.
    pub repeat: u32,
    /// Values that are saved after all passes.
    pub saves: Vec<Save>,
    /// Where the conditional buffer goes at the end.
    pub conditional_save: Option<Located<PathBuf>>,
    /// R700: memories that are saved when all passes are done.
    pub memory_saves: Vec<MemoryBlock>,
    /// Constants that a viewer may change.
    pub sliders: Vec<super::slider::Slider>,
    /// How to run.
    pub run: Run,
}

impl Job {
    /// Whether its programs are for the R700.
    #[must_use]
    pub fn is_r700(&self) -> bool {
        self.passes.iter().any(|p| p.r700.is_some())
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
    /// The conditional operation unit.
    pub conditional: Option<Conditional>,
    /// The part for R700 programs; `None` for X1K programs.
    pub r700: Option<R700Pass>,
}

/// Declarations that bare words lack; `None`: as the words themselves require.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProgramInfo {
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
    /// R700: general purpose registers.
    pub gprs: Option<u8>,
    /// R700: stack entries.
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
    /// Nearest or linear.
    pub filter: Filter,
    /// For columns and rows.
    pub wrap: [Wrap; 2],
    /// Whether the job names the wrap, so that reading outside is intended.
    pub has_wrap: bool,
    /// The value that [`Wrap::Border`] reads, as bits of r, g, b, a.
    pub border: [u32; 4],
    /// Its layout in device memory; `None`: the one that suits its elements.
    pub format: Option<Located<Format>>,
    /// Its order in device memory; `None`: linear, or that of the output it reads.
    pub tiling: Option<Tiling>,
    /// Columns and rows of a raw file.
    pub size: Option<[u32; 2]>,
    /// The part for R700 textures.
    pub lookup: Lookup,
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
    /// Its layout in device memory; `None`: `FLOAT32_4`, in a pass with uncached writes `FLOAT32_1`, which those need.
    pub format: Option<Format>,
    /// R700: how its elements are saved, in place of `format`.
    pub elements: Elements,
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
            elements: Elements::default(),
            tiling: Tiling::Linear,
            size: None,
            mask: 15,
            saves: Vec::new(),
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
        let group = match isa {
            Isa::X1k => GroupSize::X1K,
            Isa::R700 => GroupSize::R700,
        };
        Self {
            engine: EngineKind::default().into(),
            threads: 0,
            group,
            budget: Budget { time: Some(LAUNCH_TIME), ..Budget::default() },
            check: false,
            counters: true,
        }
    }
}

/// The program that a reader began with.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Its path, which need not be text.
    pub path: Option<PathBuf>,
    /// Its bytes, where they have been read.
    pub bytes: Option<Arc<[u8]>>,
}

impl Given {
    /// The bytes of this file, if they are here.
    pub(crate) fn bytes_of(&self, path: &Path) -> Option<&[u8]> {
        self.bytes.as_deref().filter(|_| self.path.as_deref() == Some(path))
    }
}
