//! The instruction sets as job files see them: one row each.

use super::r700::model::SavedElements;
use super::slots::{Slots, formats};
use ctm_device::mc::Format;
use ctm_exec::GroupSize;
use ctm_files::load::Isa;

/// How the elements of an output are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredForm {
    /// In a device's memory.
    Device(Format),
    /// As numbers of these channels: outputs of R700 programs.
    Numbers(SavedElements),
}

/// One instruction set.
pub(super) struct JobIsa {
    /// Its inputs.
    pub inputs: Slots,
    /// Its outputs.
    pub outputs: OutputKeys,
    /// Its samplers, where they have numbers of their own.
    pub samplers: Option<Slots>,
    /// Coordinates of an input, each of which may have a wrap mode.
    pub coordinates: usize,
    /// Whether containers declare uniforms of other counts of numbers than four.
    pub has_uniforms: bool,
    /// Its integer constants.
    pub integers: Integers,
    /// How outputs are stored, by name.
    pub stored: fn() -> Vec<(&'static str, StoredForm)>,
    /// Processors that decide a jump together.
    pub group: GroupSize,
}

/// How outputs are named.
#[derive(Clone, Copy)]
pub(super) enum OutputKeys {
    /// By number, or by the program.
    Numbered(Slots),
    /// As exports: `pix0`, `depth`, `pos0`, `param0`.
    Exports,
}

/// An integer constant as a list.
pub(super) struct Integers {
    /// Its name.
    pub what: &'static str,
    /// The list, for messages.
    pub list: &'static str,
    /// The name, the least and the largest value of each number; all but the first may be left out.
    pub parts: &'static [(&'static str, i128, i128)],
}

static X1K: JobIsa = JobIsa {
    inputs: Slots::X1K_INPUT,
    outputs: OutputKeys::Numbered(Slots::X1K_OUTPUT),
    samplers: None,
    coordinates: 2,
    has_uniforms: false,
    // CTM §3.5.3: four bytes, of which the last has no meaning.
    integers: Integers {
        what: "integer constant",
        list: "[count, initial aL, step]",
        parts: &[("count", 0, 255), ("initial aL", 0, 255), ("step", -128, 255), ("spare", 0, 255)],
    },
    stored: || formats().into_iter().map(|(name, format)| (name, StoredForm::Device(format))).collect(),
    group: GroupSize::X1K,
};

static R700: JobIsa = JobIsa {
    inputs: Slots::RESOURCE,
    outputs: OutputKeys::Exports,
    samplers: Some(Slots::SAMPLER),
    coordinates: 3,
    has_uniforms: true,
    // R700 §3.7.3.
    integers: Integers {
        what: "loop constant",
        list: "[count, first index, step]",
        parts: &[("count", 0, 4095), ("first index", 0, 4095), ("step", -128, 127)],
    },
    stored: || SavedElements::NAMES.into_iter().map(|(name, elements)| (name, StoredForm::Numbers(elements))).collect(),
    group: GroupSize::R700,
};

impl JobIsa {
    /// The row of an instruction set.
    pub fn of(isa: Isa) -> &'static Self {
        match isa {
            Isa::X1k => &X1K,
            Isa::R700 => &R700,
        }
    }
}
