//! A job whose parts have been found to fit together: numbers instead of names, contents instead of files.

use super::surface::Elements;
use crate::job::frames::Varying;
use crate::job::model::{Job, Output, Pass, Run, Save, Texture};
use crate::job::program::{AnyProgram, PassProgram};
use crate::job::r700::model::{FetchBuffer, target_slot};
use ctm_exec::Control;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Image};
use ctm_exec::r700::{LoopConstant, Plane, Sampler, Semantic, Space, Target};
use ctm_files::Program;
use ctm_files::error::JobError;
use ctm_files::program::Code;
use ctm_files::r700::target_name;
use ctm_files::render::{Report, TextPlace};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::x1k::program::SymbolKind;
use ctm_launch::r700::constants::Buffers;
use ctm_launch::r700::target_of;
use ctm_launch::{Binding, Error, Extent, Launch, Options, Ref};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A job whose parts have been found to fit together.
pub(super) struct PreparedJob {
    pub passes: Vec<Ready>,
    /// Outputs, by their numbers, that are saved at the end of the job.
    pub saves: Vec<(u8, Save)>,
    pub conditional_buffer: Option<Elements>,
    /// Warnings and notes.
    pub reports: Vec<Report>,
}

/// A pass of either instruction set.
pub(super) struct Ready {
    /// The program, with its text; the job's constants are in place of its literals.
    pub program: Program,
    /// Constants by number.
    pub floats: BTreeMap<u8, [u32; 4]>,
    pub ints: BTreeMap<u8, LoopConstant>,
    pub bools: BTreeMap<u8, bool>,
    /// Floating-point constants that differ between launches.
    pub varying: Vec<(u8, Varying)>,
    /// Textures that read an output once it has been written.
    pub reads: Vec<OutputRead>,
    pub outputs: Vec<ReadyOutput>,
    pub own: Own,
}

/// The inputs of a pass as its backing takes them.
pub(super) enum Own {
    /// Arrays for a device's memory.
    X1k(Vec<ReadyTexture>),
    /// Plain arrays, and the state of the host.
    R700(Box<R700Ready>),
}

pub(super) struct R700Ready {
    pub fetch_program: Option<ctm_isa::r700::Program>,
    pub stage: Option<Stage>,
    pub chip: Chip,
    pub semantics: Vec<Semantic>,
    /// Constants, buffers, textures and samplers that do not change from launch to launch.
    pub arrays: NumberedArrays,
    /// Buffers that show a memory's contents from the begin of the pass.
    pub buffers: Vec<(u8, Space, FetchBuffer)>,
    pub memories: Vec<ReadyMemory>,
}

/// Arrays by number.
#[derive(Default)]
pub(super) struct NumberedArrays {
    pub constants: Buffers<'static>,
    pub buffers: BTreeMap<u8, BufferData>,
    pub textures: BTreeMap<u8, Image>,
    pub samplers: BTreeMap<u8, Sampler>,
}

impl NumberedArrays {
    /// Binds constants as constant buffer `bank` and, if it is given, as the buffer of vertex fetches `fetch_resource`.
    pub fn bind_constants(&mut self, bank: u8, fetch_resource: Option<u8>, values: Vec<[u32; 4]>) {
        if let Some(id) = fetch_resource {
            let bytes = values.as_flattened().iter().flat_map(|dword| dword.to_le_bytes()).collect();
            self.buffers.insert(id, BufferData { stride_bytes: 16, format: Format::default(), bytes });
        }
        self.constants.insert(bank, values.into());
    }
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
    pub place: Option<TextPlace>,
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
        let source = self.program.source().cloned();
        let fetch = match &self.own {
            Own::X1k(_) => None,
            Own::R700(own) => own.fetch_program.clone(),
        };
        let program = match self.program.code() {
            Code::X1k(loaded) => AnyProgram::X1k(loaded.program.clone()),
            Code::R700(loaded) => {
                let mut program = self.program.interface().map_or(&loaded.program, |of| &of.program).clone();
                program.gprs = fetch.as_ref().map_or(0, |fetch| fetch.gprs).max(program.gprs);
                AnyProgram::R700(program)
            }
        };
        PassProgram { program, fetch, source }
    }

    /// Whether the program may read elements that the same launch writes: that is the purpose of uncached writes.
    pub fn reads_own_writes(&self) -> bool {
        self.program.as_x1k().is_some_and(|program| program.uncached)
    }

    /// The name that the program gives an output; exports of the R700 have fixed names.
    pub fn output_name(&self, slot: u8) -> Option<String> {
        match self.program.as_x1k() {
            Some(program) => {
                let mut symbols = program.symbols.iter();
                symbols.find(|s| s.kind == SymbolKind::Output && s.index == slot).map(|s| s.name.clone())
            }
            None => target_at(slot).map(target_name),
        }
    }

    /// The number of an output by its name or number, if the program has it.
    pub fn output_number(&self, which: &Ref) -> Option<u8> {
        match (self.program.as_x1k(), which) {
            (None, which) => target_of(which).map(target_slot),
            (Some(_), Ref::Index(n)) => Some(*n),
            (Some(program), Ref::Name(name)) => program.symbol(SymbolKind::Output, name),
        }
    }

    /// An output as messages name it.
    pub fn shown(&self, slot: u8) -> String {
        match &self.own {
            Own::X1k(_) => slot.to_string(),
            Own::R700(_) => target_at(slot).map(target_name).unwrap_or_default(),
        }
    }

    /// About as many bindings as a launch has.
    fn bindings(&self) -> usize {
        let of_isa = match &self.own {
            Own::X1k(textures) => textures.len(),
            Own::R700(own) => own.arrays.textures.len() + own.arrays.buffers.len() + own.arrays.samplers.len() + 4,
        };
        self.floats.len() + self.ints.len() + self.bools.len() + self.outputs.len() + of_isa + 4
    }

    /// Launch number `number` of the pass, without its arrays.
    pub fn launch<'r>(&'r self, job: &Job, pass: &'r Pass, number: u64, control: &Control) -> Launch<'r> {
        let mut launch = Launch::of(&self.program);
        launch.domain = Some(Extent::Part(pass.domain));
        let Run { threads, group, budget, check, counters, .. } = job.run;
        let control = control.clone();
        let kind = job.run.engine.value;
        launch.options =
            Options { engine: None, kind, group: Some(group), threads, budget, checks: check, counters, control };
        let varying = self.varying.iter().map(|(n, of)| (*n, Cow::Owned(of.at(number).to_vec())));
        let is_fixed = |n: u8| self.varying.iter().all(|(other, _)| *other != n);
        let fixed = self.floats.iter().filter(|(n, _)| is_fixed(**n)).map(|(n, bits)| (*n, Cow::Borrowed(&bits[..])));
        let floats = fixed.chain(varying).map(|(n, bits)| Binding::Float(Ref::Index(n), bits));
        let ints = self.ints.iter().map(|(&n, &value)| Binding::Integer(Ref::Index(n), value));
        let bools = self.bools.iter().map(|(&n, &value)| Binding::Boolean(Ref::Index(n), value));
        launch.bindings.reserve(self.bindings());
        launch.bindings.extend(floats.chain(ints).chain(bools));
        if let Some(planes) = &pass.registers {
            // No start values at all are those of a register that is 0.
            let zero = Plane { temp: 0, origin: [0.0; 4], di: [0.0; 4], dj: [0.0; 4], bits: false };
            let zero = planes.is_empty().then_some(&zero);
            launch.bindings.extend(planes.iter().chain(zero).map(|plane| Binding::Register(*plane)));
        }
        launch
    }
}

/// The error of a launch, with the place of its pass.
pub(super) fn of_pass(error: Error, index: usize, pass: &Pass) -> JobError {
    let path = pass.program.value.display();
    match error {
        Error::Fault(mut fault) => {
            fault.pass = index;
            fault.pass_name = pass.name.as_ref().map(|name| name.value.clone());
            JobError::Fault(fault)
        }
        Error::Unsupported(report) => JobError::Unsupported(report),
        Error::Wrong(reports) => JobError::Wrong(
            reports
                .into_iter()
                .map(|Report { diagnostic, .. }| {
                    pass.program.error(diagnostic.rule, format!("{path}: {}", diagnostic.message))
                })
                .collect(),
        ),
        other => JobError::Wrong(vec![pass.program.error(other.code(), format!("{path}: {other}"))]),
    }
}
