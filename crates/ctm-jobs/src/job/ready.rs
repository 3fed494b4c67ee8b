//! A job whose parts have been found to fit together: numbers instead of names, contents instead of files.

use super::surface::Elements;
use crate::job::frames::Varying;
use crate::job::model::{Output, Save, Texture};
use crate::job::program::{AnyProgram, PassProgram};
use crate::job::r700::model::FetchBuffer;
use ctm_exec::r700::{self, Plane, Semantic, Space, Target};
use ctm_exec::x1k;
use ctm_files::r700::target_name;
use ctm_files::render::Place;
use ctm_files::render::{Report, Source};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::x1k::program::SymbolKind;
use std::sync::Arc;

/// A job whose parts have been found to fit together.
pub(super) struct Prepared {
    pub passes: Vec<Ready>,
    /// Outputs, by their numbers, that are saved at the end of the job.
    pub saves: Vec<(u8, Save)>,
    pub conditional_buffer: Option<Elements>,
    /// Warnings and notes.
    pub reports: Vec<Report>,
}

/// A pass of either instruction set.
pub(super) struct Ready {
    pub source: Option<Arc<Source>>,
    /// Floating-point constants that differ between launches.
    pub varying: Vec<(u8, Varying)>,
    /// Textures that read an output once it has been written.
    pub reads: Vec<OutputRead>,
    pub outputs: Vec<ReadyOutput>,
    pub own: Own,
}

/// The part of a pass that belongs to its instruction set.
pub(super) enum Own {
    X1k(Box<X1kReady>),
    R700(Box<R700Ready>),
}

pub(super) struct X1kReady {
    /// Without the literals that the job overrides; its preloads are those of the launch.
    pub program: ctm_isa::x1k::Program,
    pub constants: x1k::Constants,
    pub textures: Vec<ReadyTexture>,
    /// The write mask of the outputs.
    pub mask: u8,
}

pub(super) struct R700Ready {
    pub program: ctm_isa::r700::Program,
    pub fetch_program: Option<ctm_isa::r700::Program>,
    pub stage: Stage,
    pub chip: Chip,
    pub constants: r700::Constants,
    pub semantics: Vec<Semantic>,
    pub planes: Vec<Plane>,
    /// Constants, buffers, textures and samplers that do not change from launch to launch.
    pub arrays: r700::Arrays,
    /// Buffers that show a memory's contents from the begin of the pass.
    pub buffers: Vec<(u8, Space, FetchBuffer)>,
    pub memories: Vec<ReadyMemory>,
}

pub(super) struct ReadyTexture {
    pub slot: u8,
    pub texture: Texture,
    pub data: Option<Arc<Elements>>,
}

/// A texture that reads an output once it has been written.
pub(super) struct OutputRead {
    pub texture: u8,
    pub output: u8,
    /// The pass of this name; `None`: the last one that wrote it.
    pub pass: Option<String>,
    /// Until then it has data of its own.
    pub has_data: bool,
    pub place: Option<Place>,
}

/// An output, by its number: 0 to 3 of the X1K, those of [`target_slot`](super::r700::target_slot) of the R700.
pub(super) struct ReadyOutput {
    pub slot: u8,
    pub output: Output,
}

pub(super) struct ReadyMemory {
    pub space: Space,
    /// Its initial contents; `None`: those that an earlier pass left.
    pub initial: Option<Arc<Vec<u32>>>,
    pub fresh: bool,
}

/// The export of a number of [`target_slot`](super::r700::target_slot).
pub(super) fn target_at(slot: u8) -> Option<Target> {
    Target::all().nth(slot.into())
}

impl Ready {
    /// The program that its findings point into, and their text.
    pub fn program(&self) -> PassProgram {
        let (program, fetch) = match &self.own {
            Own::X1k(own) => (AnyProgram::X1k(own.program.clone()), None),
            Own::R700(own) => (AnyProgram::R700(own.program.clone()), own.fetch_program.clone()),
        };
        PassProgram { program, fetch, source: self.source.clone() }
    }

    /// The part of an X1K pass.
    pub fn x1k(&self) -> Option<&X1kReady> {
        match &self.own {
            Own::X1k(own) => Some(own),
            Own::R700(_) => None,
        }
    }

    /// The places of its instructions in the text.
    pub fn spans(&self) -> &[ctm_isa::diag::Span] {
        match &self.own {
            Own::X1k(own) => &own.program.spans,
            Own::R700(own) => &own.program.spans,
        }
    }

    /// Whether the program may read elements that the same launch writes: that is the purpose of uncached writes.
    pub fn reads_own_writes(&self) -> bool {
        matches!(&self.own, Own::X1k(own) if own.program.uncached)
    }

    /// The name that the program gives an output; exports of the R700 have fixed names.
    pub fn output_name(&self, slot: u8) -> Option<String> {
        match &self.own {
            Own::X1k(own) => {
                let mut symbols = own.program.symbols.iter();
                symbols.find(|s| s.kind == SymbolKind::Output && s.index == slot).map(|s| s.name.clone())
            }
            Own::R700(_) => target_at(slot).map(target_name),
        }
    }

    /// An output as messages name it.
    pub fn shown(&self, slot: u8) -> String {
        match &self.own {
            Own::X1k(_) => slot.to_string(),
            Own::R700(_) => target_at(slot).map(target_name).unwrap_or_default(),
        }
    }
}
