//! Launches of X1K programs: names into numbers, then on the caller's arrays in place, or as commands of a device.

mod memory;

use crate::client::{Client, Start, Use, bytes_of};
use crate::error::{ArgumentError, Error};
use crate::fit::{ANY_SIZE, Fit, misfit};
use crate::held::HeldInput;
use crate::landing::{BoundOutput, Demands, common_mask, elsewhere};
use crate::model::{Bindings, Done, Launch, Options};
use crate::numbers::{ConstantBank, GivenConstants};
use crate::slot::{Ref, register};
use crate::source::{Conditional, DeviceArray, InputArray, OutputArray};
use crate::view::{COLUMNS, Numbers, View};
use ctm_device::commands::CommandBuffer;
use ctm_exec::x1k::{Constants, Plane, Sampler};
use ctm_exec::{Domain, GroupSize, Instant};
use ctm_files::error::{finding_report, run_fault};
use ctm_files::load::Loaded;
use ctm_files::render;
use ctm_files::render::Report;
use ctm_image::ctm_elf;
use ctm_isa::diag::Diagnostic;
use ctm_isa::x1k::program::{Literal, Preload, Program, SymbolKind, Usage};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use memory::LaunchArrays;
use std::borrow::Cow;
use std::sync::Arc;

/// A launch whose slots are numbers.
pub(crate) struct BoundX1k<'a> {
    whole: &'a ctm_files::Program,
    program: &'a Program,
    source: Option<&'a Arc<render::Source>>,
    constants: Constants,
    /// Constants that the launch gives: in their place the program's literals do not count.
    given: GivenConstants,
    planes: Vec<Plane>,
    /// The planes are those of the launch; otherwise the program's own.
    has_registers: bool,
    inputs: SlotInputs<'a>,
    outputs: [Option<BoundOutput<'a>>; OUTPUTS],
    conditional: Option<Conditional>,
    domain: Domain,
    options: Options<'a>,
}

/// SlotInputs by number, and how coordinates become their elements.
type SlotInputs<'a> = [Option<(Bytes<'a>, Sampler)>; INPUTS];

/// An input, bound.
enum Bytes<'a> {
    Here(HeldInput<'a>),
    Device(DeviceArray),
}

impl Bytes<'_> {
    fn size(&self) -> [usize; 2] {
        match self {
            Self::Here(held) => held.size(),
            Self::Device(array) => array.size(),
        }
    }
}

impl<'a> BoundX1k<'a> {
    /// The launch with numbers in place of names, everything checked.
    pub fn of(mut launch: Launch<'a>, loaded: &'a Loaded) -> Result<Self, Error> {
        let given = launch.take_bindings()?;
        if let Some(what) = given.of_r700() {
            return Err(ArgumentError::WrongIsa { what, isa: "R700" }.into());
        }
        let program = &loaded.program;
        let own;
        let usage = match launch.program.usage() {
            Some(usage) => usage,
            None => {
                own = program.usage();
                &own
            }
        };
        let (domain, options) = (launch.the_domain()?, launch.options.clone());
        let names = Names { program };
        let (constants, constants_given) = constants(&given, &names, usage)?;
        // Start values of the caller's need not be the position.
        let fit = given.registers.is_empty().then(|| launch.fit());
        let has_registers = fit.is_none();
        let planes = if has_registers { given.registers } else { planes(program)? };
        let inputs = inputs(&given.inputs, &names, usage, (domain, fit))?;
        let outputs = outputs(given.outputs, launch.line(), &names, usage, domain)?;
        Ok(Self {
            whole: launch.program,
            program,
            source: loaded.source.as_ref(),
            constants,
            given: constants_given,
            planes,
            has_registers,
            inputs,
            outputs,
            conditional: given.conditional,
            domain,
            options,
        })
    }

    /// Runs it on arrays of the caller's.
    pub fn run(mut self) -> Result<Done, Error> {
        let (program, options, names) = (self.program, &self.options, Names { program: self.program });
        if self.conditional.is_some() {
            return Err(elsewhere("conditional".to_owned(), true).into());
        }
        let of_engine = ctm_exec::x1k::Launch {
            program,
            constants: &self.constants,
            planes: &self.planes,
            rows: &[],
            domain: self.domain,
            group: options.group.unwrap_or(GroupSize::X1K),
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: options.budget,
            threads: options.threads,
            checks: options.checks,
            counters: options.counters,
        };
        let engine = options.engine()?;
        let mut memory = LaunchArrays { inputs: std::array::from_fn(|_| None), outputs: [const { None }; OUTPUTS] };
        for (slot, (bytes, sampler)) in numbered(self.inputs.iter().map(Option::as_ref)) {
            let Bytes::Here(held) = bytes else {
                return Err(elsewhere(names.of_slot(SymbolKind::Input, slot), true).into());
            };
            memory.inputs[usize::from(slot)] = Some((held.elements(), *sampler));
        }
        for (slot, output) in numbered(self.outputs.iter_mut().map(Option::as_mut)) {
            let landing = output.here(|| names.of_slot(SymbolKind::Output, slot))?;
            memory.outputs[usize::from(slot)] = Some(landing.elements());
        }
        let started = Instant::now();
        let outcome = engine.run_x1k_under(&options.control, &of_engine, &mut memory);
        let elapsed = started.elapsed();
        let (spans, source) = (&program.spans, self.source);
        let outcome = outcome.map_err(|fault| Error::Fault(Box::new(run_fault(0, None, &fault, spans, source))))?;
        let findings = outcome.findings.iter().map(|finding| finding_report(finding, spans, source)).collect();
        let name = |slot| names.of_slot(SymbolKind::Output, slot);
        let outputs = numbered(self.outputs).filter_map(|(slot, output)| Some((name(slot), output.finish()?)));
        Ok(Done { outputs: outputs.collect(), counters: outcome.counters, findings, elapsed, ..Done::default() })
    }

    /// Runs it on arrays in the client's device, as one submission.
    pub fn run_on(self, client: &mut Client) -> Result<Done, Error> {
        let names = Names { program: self.program };
        let mut commands = CommandBuffer::new();
        for (slot, (bytes, sampler)) in numbered(self.inputs.iter().map(Option::as_ref)) {
            let Bytes::Device(DeviceArray { surface, columns }) = bytes else {
                return Err(elsewhere(names.of_slot(SymbolKind::Input, slot), false).into());
            };
            let width = u16::try_from(*columns).unwrap_or(u16::MAX);
            commands = commands.set_inp_fmt(slot, surface).set_inp_sampler(slot, sampler, width);
        }
        for (slot, output) in numbered(self.outputs.iter().map(Option::as_ref)) {
            commands = commands.set_out_fmt(slot, output.there(|| names.of_slot(SymbolKind::Output, slot))?);
        }
        let Constants { float, int, bool, .. } = &self.constants;
        let (float, bool) = (float.as_flattened(), bool.map(u32::from));
        let commands = commands
            .set_inst_fmt(client.put(Use::Program, &self.image()?)?)
            .set_constf_fmt(client.put(Use::Floats, &bytes_of(float))?)
            .set_consti_fmt(client.put(Use::Integers, int.as_flattened())?)
            .set_constb_fmt(client.put(Use::Booleans, &bytes_of(&bool))?);
        let start = Start {
            mask: common_mask(self.outputs.iter().flatten())?,
            conditional: self.conditional.as_ref(),
            planes: self.has_registers.then_some(&self.planes),
            domain: self.domain,
            text: (&self.program.spans, self.source),
        };
        client.launch(commands, &start)
    }

    /// The program for the device's loader, which stores literals over constants and start values of its own over none.
    fn image(&self) -> Result<Cow<'a, [u8]>, Error> {
        let is_given = |literal: &Literal| is_given(&self.given, key(literal));
        let has_preloads = self.has_registers && !self.program.preloads.is_empty();
        if !has_preloads && !self.program.literals.iter().any(is_given) {
            return Ok(Cow::Borrowed(self.whole.elf()?));
        }
        let mut program = self.program.clone();
        program.literals.retain(|literal| !is_given(literal));
        if self.has_registers {
            program.preloads.clear();
        }
        ctm_elf::write(&program)
            .map(Cow::Owned)
            .map_err(|e| Error::Wrong(vec![Report::bare(Diagnostic::error(e.name(), e.to_string()))]))
    }
}

const fn key(literal: &Literal) -> (SymbolKind, u8) {
    match *literal {
        Literal::Float { index, .. } => (SymbolKind::Float, index),
        Literal::Int { index, .. } => (SymbolKind::Int, index),
        Literal::Bool { index, .. } => (SymbolKind::Bool, index),
    }
}

/// Names into numbers.
struct Names<'a> {
    program: &'a Program,
}

impl Names<'_> {
    fn of(&self, kind: SymbolKind) -> Vec<String> {
        self.program.symbols.iter().filter(|s| s.kind == kind).map(|s| s.name.clone()).collect()
    }

    /// The number of a name of the program, or of a register: `s3`.
    fn number(&self, which: &Ref, kind: SymbolKind) -> Result<u8, ArgumentError> {
        let (what, prefix, count) = match kind {
            SymbolKind::Input => ("input", 's', INPUTS),
            SymbolKind::Output => ("output", 'o', OUTPUTS),
            SymbolKind::Float => ("floating-point constant", 'c', ctm_isa::x1k::FLOAT_CONSTANTS),
            SymbolKind::Int => ("integer constant", 'i', ctm_isa::x1k::INT_CONSTANTS),
            SymbolKind::Bool => ("boolean constant", 'b', ctm_isa::x1k::BOOL_CONSTANTS),
        };
        let number = match which {
            Ref::Index(n) => Some(*n),
            Ref::Name(name) => self.program.symbol(kind, name).or_else(|| register(name, &[prefix])),
        };
        number.filter(|&n| usize::from(n) < count).ok_or_else(|| {
            let mut known = self.of(kind);
            known.push(format!("{prefix}0 to {prefix}{}", count - 1));
            ArgumentError::UnknownName { what, name: which.text(), known }
        })
    }

    /// The name of an input or output, or its register.
    fn of_slot(&self, kind: SymbolKind, slot: u8) -> String {
        let named = self.program.symbols.iter().find(|s| s.kind == kind && s.index == slot);
        let prefix = if kind == SymbolKind::Input { 's' } else { 'o' };
        named.map_or_else(|| format!("{prefix}{slot}"), |s| s.name.clone())
    }
}

/// The slots that are there, with their numbers.
fn numbered<T>(slots: impl IntoIterator<Item = Option<T>>) -> impl Iterator<Item = (u8, T)> {
    (0..).zip(slots).filter_map(|(slot, of)| Some((slot, of?)))
}

/// Whether a launch gives a constant; inputs and outputs are none.
fn is_given(given: &GivenConstants, (kind, number): (SymbolKind, u8)) -> bool {
    bank(kind).is_some_and(|bank| given.contains(bank, number.into()))
}

const fn bank(kind: SymbolKind) -> Option<ConstantBank> {
    match kind {
        SymbolKind::Float => Some(ConstantBank::Floats),
        SymbolKind::Int => Some(ConstantBank::Integers),
        SymbolKind::Bool => Some(ConstantBank::Booleans),
        SymbolKind::Input | SymbolKind::Output => None,
    }
}

fn constants(
    run: &Bindings<'_>,
    names: &Names<'_>,
    usage: &Usage,
) -> Result<(Constants, GivenConstants), ArgumentError> {
    let mut out = Constants::default();
    for literal in &names.program.literals {
        match *literal {
            Literal::Float { index, bits } => out.float[usize::from(index)] = bits,
            Literal::Int { index, value } => out.int[usize::from(index)] = value,
            Literal::Bool { index, value } => out.bool[usize::from(index)] = value,
        }
    }
    let mut given = GivenConstants::default();
    let mut take = |which: &Ref, kind: SymbolKind| {
        let number = names.number(which, kind)?;
        if bank(kind).is_some_and(|bank| given.insert(bank, number.into())) {
            Ok(usize::from(number))
        } else {
            Err(ArgumentError::Twice { what: "constant", name: which.text() })
        }
    };
    for (which, bits) in &run.floats {
        let slot = take(which, SymbolKind::Float)?;
        out.float[slot] = bits.as_ref().try_into().map_err(|_| ArgumentError::Value {
            name: which.text(),
            message: format!("it is given {} numbers; a constant has four, r, g, b, a", bits.len()),
        })?;
    }
    for (which, value) in &run.ints {
        let slot = take(which, SymbolKind::Int)?;
        let byte = |what: &str, n: u16| {
            u8::try_from(n).map_err(|_| ArgumentError::Value {
                name: which.text(),
                message: format!("the {what} is {n}, 0 to 255 are possible"),
            })
        };
        out.int[slot] = [byte("count", value.count)?, byte("start", value.start)?, value.step.to_le_bytes()[0], 0];
    }
    for (which, value) in &run.bools {
        out.bool[take(which, SymbolKind::Bool)?] = *value;
    }
    let carried = |of| names.program.literals.iter().any(|literal| key(literal) == of);
    let used = |kind: SymbolKind, n: u8| match kind {
        SymbolKind::Float => usage.float_constants.contains(&n),
        SymbolKind::Int => usage.int_constants.contains(&n),
        SymbolKind::Bool => usage.bool_constants.contains(&n),
        SymbolKind::Input | SymbolKind::Output => false,
    };
    // Named constants must be given; those that are read by number alone are 0, as in jobs.
    let missing = names
        .program
        .symbols
        .iter()
        .find(|s| used(s.kind, s.index) && !carried((s.kind, s.index)) && !is_given(&given, (s.kind, s.index)));
    match missing {
        Some(symbol) => Err(ArgumentError::Missing { what: "constant", name: symbol.name.clone() }),
        None => Ok((out, given)),
    }
}

/// Initial values of temporaries.
fn planes(program: &Program) -> Result<Vec<Plane>, ArgumentError> {
    let plane = |preload: &Preload| match *preload {
        Preload::Position { temp } => Ok(Plane::position(temp)),
        Preload::Interpolant { index, .. } => Err(ArgumentError::Missing {
            what: "interpolant",
            name: format!("{index} of a rasteriser (a job has them)"),
        }),
    };
    program.preloads.iter().map(plane).collect()
}

fn inputs<'a>(
    given: &[(Ref, InputArray<'a>, Option<Sampler>)],
    names: &Names<'_>,
    usage: &Usage,
    (domain, fit): (Domain, Option<Fit>),
) -> Result<SlotInputs<'a>, ArgumentError> {
    let mut bound: SlotInputs<'a> = std::array::from_fn(|_| None);
    for (which, source, sampler) in given {
        let slot = names.number(which, SymbolKind::Input)?;
        let shape = |message| ArgumentError::Shape { name: which.text(), message };
        let bytes = match source {
            InputArray::View(View { numbers: Numbers::U32(_), .. }) => {
                let message = "the X1K reads single precision, bytes and 16-bit integers, no 32-bit integers";
                return Err(shape(message.to_owned()));
            }
            InputArray::View(view) => Bytes::Here(HeldInput::of(view, COLUMNS as usize).map_err(shape)?),
            InputArray::Device(array) => Bytes::Device(*array),
            InputArray::Texture(_) => {
                let message = "the X1K reads arrays of rows and columns, no textures with levels";
                return Err(shape(message.to_owned()));
            }
        };
        if sampler.is_none()
            && let Some(fit) = fit
            && let Some(message) = misfit(names.program, slot, bytes.size(), domain, fit)
        {
            return Err(shape(format!("{message}; {ANY_SIZE}")));
        }
        if bound[usize::from(slot)].replace((bytes, sampler.unwrap_or_default())).is_some() {
            return Err(ArgumentError::Twice { what: "input", name: which.text() });
        }
    }
    match usage.inputs.iter().find(|&&slot| bound[usize::from(slot)].is_none()) {
        Some(&slot) => Err(ArgumentError::Missing { what: "input", name: names.of_slot(SymbolKind::Input, slot) }),
        None => Ok(bound),
    }
}

fn outputs<'a>(
    wanted: Vec<(Ref, OutputArray<'a>)>,
    line: Option<usize>,
    names: &Names<'_>,
    usage: &Usage,
    domain: Domain,
) -> Result<[Option<BoundOutput<'a>>; OUTPUTS], ArgumentError> {
    let demands = Demands { domain, line, uncached: names.program.uncached };
    let mut out = [const { None }; OUTPUTS];
    for (which, place) in wanted {
        let slot = names.number(&which, SymbolKind::Output)?;
        let name = || which.text();
        if !usage.outputs.contains(&slot) {
            let written = usage.outputs.iter().map(|&n| names.of_slot(SymbolKind::Output, n)).collect();
            return Err(ArgumentError::NotWritten { name: name(), written });
        }
        let free = &mut out[usize::from(slot)];
        if free.is_some() {
            return Err(ArgumentError::Twice { what: "output", name: name() });
        }
        *free = Some(BoundOutput::new(name, place, demands)?);
    }
    let default = if names.program.uncached { 1 } else { 4 };
    for &slot in &usage.outputs {
        let free = &mut out[usize::from(slot)];
        if free.is_none() {
            let name = || names.of_slot(SymbolKind::Output, slot);
            *free = Some(BoundOutput::new(name, OutputArray::New(default), demands)?);
        }
    }
    Ok(out)
}
