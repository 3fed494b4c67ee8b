//! One launch of a program of either instruction set: the program, its bindings, the domain, the options; and the result.

use crate::engines;
use crate::error::{ArgumentError, Error};
use crate::fit::Fit;
use crate::slot::Ref;
use crate::source::{Conditional, InputArray, Items, OutputArray};
use crate::view::COLUMNS;
use ctm_device::EngineKind;
use ctm_exec::r700::{self, LoopConstant, Semantic, Space, VertexEvent};
use ctm_exec::x1k::{Plane, Sampler};
use ctm_exec::{Budget, Control, Counters, Domain, Engine, GroupSize, Position};
use ctm_files::array::{Array, Values};
use ctm_files::program::Program;
use ctm_files::render::Report;
use ctm_isa::r700 as r700_isa;
use ctm_isa::r700::program::{Chip, Stage};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// One launch. [`Run`](crate::Run) builds it call by call. [`run`](Self::run) runs it on arrays of the caller's, [`run_on`](Self::run_on) on arrays in a
/// device's memory; [`bind`](Self::bind) is common to both.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The program.
    pub program: &'a Program,
    /// Arrays, constants and start values.
    pub bindings: Vec<Binding<'a>>,
    /// The processors; a launch without them is an error.
    pub domain: Option<Extent>,
    /// How to run.
    pub options: Options<'a>,
}

/// The processors of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A line of elements. More than [`COLUMNS`] lie in rows of that many.
    Line(usize),
    /// A rectangle from (0, 0), as large as the arrays.
    Whole(Domain),
    /// A rectangle that is a part of larger arrays.
    Part(Domain),
}

impl Extent {
    /// The domain; of a line whole rows.
    ///
    /// # Errors
    /// When it is empty, or larger than a domain can be.
    pub fn domain(self) -> Result<Domain, ArgumentError> {
        let most = COLUMNS as usize;
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match self {
            Self::Line(n) if n == 0 || n > most * most => Err(ArgumentError::Domain { columns: n as u64, rows: 1 }),
            Self::Line(n) => Ok(Domain { i0: 0, j0: 0, i1: size(n.min(most)) - 1, j1: size(n.div_ceil(most)) - 1 }),
            Self::Whole(d) | Self::Part(d) if d.processors() == 0 || d.i1 >= COLUMNS || d.j1 >= COLUMNS => {
                Err(ArgumentError::Domain { columns: u64::from(d.i1) + 1, rows: u64::from(d.j1) + 1 })
            }
            Self::Whole(domain) | Self::Part(domain) => Ok(domain),
        }
    }
}

/// A slot of the program with the array or value that the launch gives it. Slots go by the names that the program or its container gives them, or by
/// registers: `s0`, `o0`, `c0`, `i0`, `b0` of the X1K; `t0` (textures), `b0` (buffers), `pix0`, `C0`, `i0` of the R700.
#[derive(Debug)]
pub enum Binding<'a> {
    /// An array that the program reads, with a sampler or at its own elements.
    Input(Ref, InputArray<'a>, Option<Sampler>),
    /// R700: a buffer of vertex fetches, of any stride and format.
    Buffer(Ref, Items<'a>),
    /// R700: a sampler by its number, 0 to 31. With any of them, textures that have none of their own are read by these alone.
    Sampler(u8, r700::Sampler),
    /// An array that the program writes.
    Output(Ref, OutputArray<'a>),
    /// A floating-point constant by its bits: four numbers, or as many as a uniform of a container takes.
    Float(Ref, Cow<'a, [u32]>),
    /// An integer constant of the X1K (CTM §3.5.3), a loop constant of the R700.
    Integer(Ref, LoopConstant),
    /// A boolean constant.
    Boolean(Ref, bool),
    /// R700: a constant buffer, 0 to 15, as bits of x, y, z, w.
    ConstantBuffer(u8, Cow<'a, [[u32; 4]]>),
    /// R700: a memory of MEM instructions and its initial contents.
    Memory {
        /// The memory.
        space: Space,
        /// Its contents.
        dwords: Vec<u32>,
        /// Ring and streams: dwords from one thread's item to the next. Reduction: elements of four dwords that each thread has.
        item: u32,
    },
    /// Initial values of a register, in place of the position and of the program's own preloads.
    Register(Plane),
    /// R700: the registers that a host sets.
    Host(HostRegisters<'a>),
    /// The Conditional Output Unit, of launches on a device.
    Conditional(Conditional),
}

/// State of an R700 that a host sets by registers: the program does not say it.
#[derive(Clone, Copy, Debug)]
pub struct HostRegisters<'a> {
    /// The kind of program; `None`: its own, else a pixel program.
    pub stage: Option<Stage>,
    /// The chip.
    pub chip: Chip,
    /// The fetch subroutine that `CALL_FS` calls; `None`: the one that fetches the attributes that its container declares.
    pub fetch_program: Option<&'a r700_isa::Program>,
    /// Threads of a group, which share the local data share; 0: as many as a wavefront has.
    pub group_threads: u32,
    /// SIMD-global registers, 0 to 124.
    pub global_gprs: u8,
    /// Index offsets of vertex fetches of VERTEX_DATA and of INSTANCE_DATA.
    pub index_offsets: [u32; 2],
    /// The register that each SEMANTIC_ID names.
    pub semantics: &'a [Semantic],
}

impl Default for HostRegisters<'_> {
    /// An RV770, and nothing else.
    fn default() -> Self {
        Self {
            stage: None,
            chip: Chip::Rv770,
            fetch_program: None,
            group_threads: 0,
            global_gprs: 0,
            index_offsets: [0; 2],
            semantics: &[],
        }
    }
}

/// How a launch runs.
#[derive(Clone)]
pub struct Options<'a> {
    /// An engine of the caller's, in place of the process's engine of `kind`.
    pub engine: Option<&'a dyn Engine>,
    /// The kind of engine.
    pub kind: EngineKind,
    /// Processors that decide a jump together; `None`: 16 of the X1K, 64 of the R700.
    pub group: Option<GroupSize>,
    /// Worker threads; 0: one per core. Never changes results.
    pub threads: usize,
    /// Its limits.
    pub budget: Budget,
    /// Look for mistakes while running.
    pub checks: bool,
    /// Count the expensive counters, too.
    pub counters: bool,
    /// By which another thread can end it.
    pub control: Control,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            engine: None,
            kind: EngineKind::default(),
            group: None,
            threads: 0,
            budget: Budget::default(),
            checks: false,
            counters: false,
            control: Control::none(),
        }
    }
}

impl<'a> Options<'a> {
    /// The engine that runs it.
    ///
    /// # Errors
    /// When this host or this build has no such engine.
    pub fn engine(&self) -> Result<&'a dyn Engine, Error> {
        match self.engine {
            Some(engine) => Ok(engine),
            None => engines::shared(self.kind).map_err(Error::Engine),
        }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let engine = self.engine.map_or(self.kind.name(), Engine::name);
        f.debug_struct("Options").field("engine", &engine).finish_non_exhaustive()
    }
}

/// The bindings by their kinds, in the order in which they were given.
#[derive(Default)]
pub(crate) struct Bindings<'a> {
    pub inputs: Vec<(Ref, InputArray<'a>, Option<Sampler>)>,
    pub items: Vec<(Ref, Items<'a>)>,
    pub samplers: Vec<(u8, r700::Sampler)>,
    pub outputs: Vec<(Ref, OutputArray<'a>)>,
    pub floats: Vec<(Ref, Cow<'a, [u32]>)>,
    pub ints: Vec<(Ref, LoopConstant)>,
    pub bools: Vec<(Ref, bool)>,
    pub buffers: Vec<(u8, Cow<'a, [[u32; 4]]>)>,
    pub memories: Vec<(Space, Vec<u32>, u32)>,
    pub registers: Vec<Plane>,
    pub host: Option<HostRegisters<'a>>,
    pub conditional: Option<Conditional>,
}

impl Bindings<'_> {
    /// The name of a binding that only R700 programs have.
    pub fn of_r700(&self) -> Option<&'static str> {
        let kinds = [
            (!self.items.is_empty(), "a buffer of vertex fetches"),
            (!self.samplers.is_empty(), "a sampler by number"),
            (!self.buffers.is_empty(), "a constant buffer"),
            (!self.memories.is_empty(), "a memory"),
            (self.host.is_some(), "host registers"),
        ];
        kinds.into_iter().find(|(given, _)| *given).map(|(_, what)| what)
    }
}

impl<'a> Launch<'a> {
    /// A launch of a program without bindings.
    #[must_use]
    pub fn of(program: &'a Program) -> Self {
        Self { program, bindings: Vec::new(), domain: None, options: Options::default() }
    }

    pub(crate) fn the_domain(&self) -> Result<Domain, ArgumentError> {
        self.domain.ok_or(ArgumentError::NoDomain)?.domain()
    }

    /// Elements of the line, if its array has to be cut to them.
    pub(crate) fn line(&self) -> Option<usize> {
        match self.domain {
            Some(Extent::Line(n)) => Some(n),
            _ => None,
        }
    }

    pub(crate) fn fit(&self) -> Fit {
        if matches!(self.domain, Some(Extent::Part(_))) { Fit::Reaches } else { Fit::Exact }
    }

    /// The bindings by their kinds; a register has one start value.
    pub(crate) fn take_bindings(&mut self) -> Result<Bindings<'a>, ArgumentError> {
        let mut all = Bindings::default();
        let mut bindings = std::mem::take(&mut self.bindings).into_iter();
        while let Some(binding) = bindings.next() {
            let left = bindings.len();
            match binding {
                Binding::Input(slot, source, sampler) => add(&mut all.inputs, (slot, source, sampler), left),
                Binding::Buffer(slot, items) => add(&mut all.items, (slot, items), left),
                Binding::Sampler(number, sampler) => add(&mut all.samplers, (number, sampler), left),
                Binding::Output(slot, place) => add(&mut all.outputs, (slot, place), left),
                Binding::Float(slot, bits) => add(&mut all.floats, (slot, bits), left),
                Binding::Integer(slot, value) => add(&mut all.ints, (slot, value), left),
                Binding::Boolean(slot, value) => add(&mut all.bools, (slot, value), left),
                Binding::ConstantBuffer(bank, rows) => add(&mut all.buffers, (bank, rows), left),
                Binding::Memory { space, dwords, item } => add(&mut all.memories, (space, dwords, item), left),
                Binding::Host(host) => all.host = Some(host),
                Binding::Conditional(unit) => all.conditional = Some(unit),
                Binding::Register(plane) => {
                    let name = format!("r{}", plane.temp);
                    if usize::from(plane.temp) >= REGISTERS {
                        let message = format!("registers are 0 to {}", REGISTERS - 1);
                        return Err(ArgumentError::Value { name, message });
                    }
                    if all.registers.iter().any(|other| other.temp == plane.temp) {
                        return Err(ArgumentError::Twice { what: "register", name });
                    }
                    add(&mut all.registers, plane, left);
                }
            }
        }
        Ok(all)
    }
}

/// Adds a binding; the first one of its kind makes room for all that are left, so that a kind takes one allocation.
fn add<T>(to: &mut Vec<T>, binding: T, left: usize) {
    if to.is_empty() {
        to.reserve_exact(left + 1);
    }
    to.push(binding);
}

/// Registers of a thread, of either instruction set.
const REGISTERS: usize = 128;

/// The result of a launch.
#[derive(Clone, Debug, Default)]
pub struct Done {
    /// New outputs by their names: the program's, otherwise `o0` or `pix0`. A line is one row.
    pub outputs: BTreeMap<String, Array>,
    /// R700: the memories that were given, as they are at the end.
    pub memories: BTreeMap<Space, Vec<u32>>,
    /// R700: vertices that were emitted and strips that were cut, in order.
    pub events: Vec<(Position, VertexEvent)>,
    /// Its counters; all of them only on request.
    pub counters: Counters,
    /// Warnings, and the findings of a checked run.
    pub findings: Vec<Report>,
    /// The time of the launch alone.
    pub elapsed: Duration,
}

impl Done {
    /// The array of an output, by the program's name or the register's.
    #[must_use]
    pub fn array(&self, name: &str) -> Option<&Array> {
        self.outputs.get(name)
    }

    /// The numbers of an output, row by row; none if there is no such output.
    #[must_use]
    pub fn values(&self, name: &str) -> &[f32] {
        match self.array(name).map(|array| &array.values) {
            Some(Values::F32(values)) => values,
            _ => &[],
        }
    }
}
