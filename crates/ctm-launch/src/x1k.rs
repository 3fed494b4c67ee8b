//! Runs of X1K programs on the caller's arrays: engines read and write them in place.

use crate::error::{ArgumentError, Error};
use crate::fit::{ANY_SIZE, Fit, misfit};
use crate::held::Held;
use crate::landing::{Demands, Landing};
use crate::model::{Bindings, Done, Launch, Place};
use crate::slot::{Ref, register};
use crate::view::{COLUMNS, Numbers, View};
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Constants, Direct, Elements, Input, Memory, Outputs, Plane, Sampler, Written};
use ctm_exec::{Domain, GroupSize, Position};
use ctm_files::error::{finding_report, run_fault};
use ctm_files::load::Loaded;
use ctm_isa::x1k::program::{Literal, Preload, Program, SymbolKind, Usage};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// Runs a launch of this program.
pub(crate) fn run(mut launch: Launch<'_>, loaded: &Loaded) -> Result<Done, Error> {
    let given = launch.take_bindings()?;
    if !given.buffers.is_empty() {
        return Err(ArgumentError::WrongIsa { what: "a constant buffer", isa: "R700" }.into());
    }
    if !given.memories.is_empty() {
        return Err(ArgumentError::WrongIsa { what: "a memory", isa: "R700" }.into());
    }
    let program = &loaded.program;
    let usage = program.usage();
    let (domain, options) = (launch.the_domain()?, launch.options.clone());
    let names = Names { program };
    let constants = constants(&given, &names, &usage)?;
    // Start values of the caller's need not be the position.
    let fit = given.registers.is_empty().then(|| launch.fit());
    let planes = match fit {
        Some(_) => planes(program)?,
        None => given.registers,
    };
    let bound = inputs(&given.inputs, &names, &usage, (domain, fit))?;
    let mut outputs = outputs(given.outputs, launch.line(), &names, &usage, domain)?;
    let of_engine = ctm_exec::x1k::Launch {
        program,
        constants: &constants,
        planes: &planes,
        rows: &[],
        domain,
        group: options.group.unwrap_or(GroupSize::X1K),
        budget: options.budget,
        threads: options.threads,
        checks: options.checks,
        counters: options.counters,
    };
    let engine = options.engine()?;
    let mut memory = Arrays { inputs: std::array::from_fn(|_| None), outputs: [const { None }; OUTPUTS] };
    for (slot, (held, sampler)) in &bound {
        memory.inputs[usize::from(*slot)] = Some((held.elements(), *sampler));
    }
    for (slot, output) in &mut outputs {
        memory.outputs[usize::from(*slot)] = Some(output.elements());
    }
    let started = Instant::now();
    let outcome = engine.run_x1k_under(&options.control, &of_engine, &mut memory);
    let elapsed = started.elapsed();
    let (spans, source) = (&program.spans, loaded.source.as_ref());
    let outcome = outcome.map_err(|fault| Error::Fault(Box::new(run_fault(0, None, &fault, spans, source))))?;
    let findings = outcome.findings.iter().map(|finding| finding_report(finding, spans, source)).collect();
    let outputs = outputs.into_iter().filter_map(|(slot, output)| Some((names.output(slot), output.finish()?)));
    let outputs = outputs.collect();
    Ok(Done { outputs, memories: BTreeMap::new(), counters: outcome.counters, findings, elapsed })
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

    fn output(&self, slot: u8) -> String {
        let symbols = &self.program.symbols;
        let named = symbols.iter().find(|s| s.kind == SymbolKind::Output && s.index == slot);
        named.map_or_else(|| format!("o{slot}"), |s| s.name.clone())
    }
}

fn constants(run: &Bindings<'_>, names: &Names<'_>, usage: &Usage) -> Result<Constants, ArgumentError> {
    let mut out = Constants::default();
    for literal in &names.program.literals {
        match *literal {
            Literal::Float { index, bits } => out.float[usize::from(index)] = bits,
            Literal::Int { index, value } => out.int[usize::from(index)] = value,
            Literal::Bool { index, value } => out.bool[usize::from(index)] = value,
        }
    }
    let mut given: BTreeSet<(SymbolKind, u8)> = BTreeSet::new();
    let mut take = |which: &Ref, kind: SymbolKind| {
        let number = names.number(which, kind)?;
        if given.insert((kind, number)) {
            Ok(usize::from(number))
        } else {
            Err(ArgumentError::Twice { what: "constant", name: which.text() })
        }
    };
    for (which, bits) in &run.floats {
        let slot = take(which, SymbolKind::Float)?;
        out.float[slot] = bits.as_slice().try_into().map_err(|_| ArgumentError::Value {
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
    let carried = |kind: SymbolKind, n: u8| {
        names.program.literals.iter().any(|l| match *l {
            Literal::Float { index, .. } => (SymbolKind::Float, index) == (kind, n),
            Literal::Int { index, .. } => (SymbolKind::Int, index) == (kind, n),
            Literal::Bool { index, .. } => (SymbolKind::Bool, index) == (kind, n),
        })
    };
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
        .find(|s| used(s.kind, s.index) && !carried(s.kind, s.index) && !given.contains(&(s.kind, s.index)));
    match missing {
        Some(symbol) => Err(ArgumentError::Missing { what: "constant", name: symbol.name.clone() }),
        None => Ok(out),
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

type Bound<'a> = BTreeMap<u8, (Held<'a>, Sampler)>;

fn inputs<'a>(
    given: &[(Ref, View<'a>, Option<Sampler>)],
    names: &Names<'_>,
    usage: &Usage,
    (domain, fit): (Domain, Option<Fit>),
) -> Result<Bound<'a>, ArgumentError> {
    let mut bound = Bound::new();
    for (which, view, sampler) in given {
        let slot = names.number(which, SymbolKind::Input)?;
        let shape = |message| ArgumentError::Shape { name: which.text(), message };
        if matches!(view.numbers, Numbers::U32(_)) {
            let message = "the X1K reads single precision, bytes and 16-bit integers, no 32-bit integers";
            return Err(shape(message.to_owned()));
        }
        let held = Held::of(view, COLUMNS as usize).map_err(shape)?;
        if sampler.is_none()
            && let Some(fit) = fit
            && let Some(message) = misfit(names.program, slot, held.size(), domain, fit)
        {
            return Err(shape(format!("{message}; {ANY_SIZE}")));
        }
        if bound.insert(slot, (held, sampler.unwrap_or_default())).is_some() {
            return Err(ArgumentError::Twice { what: "input", name: which.text() });
        }
    }
    match usage.inputs.iter().find(|slot| !bound.contains_key(slot)) {
        Some(slot) => {
            let symbols = &names.program.symbols;
            let named = symbols.iter().find(|s| s.kind == SymbolKind::Input && s.index == *slot);
            let name = named.map_or_else(|| format!("s{slot}"), |s| s.name.clone());
            Err(ArgumentError::Missing { what: "input", name })
        }
        None => Ok(bound),
    }
}

fn outputs<'a>(
    wanted: Vec<(Ref, usize, Place<'a>)>,
    line: Option<usize>,
    names: &Names<'_>,
    usage: &Usage,
    domain: Domain,
) -> Result<BTreeMap<u8, Landing<'a>>, ArgumentError> {
    let demands = Demands { domain, line, uncached: names.program.uncached };
    let mut out = BTreeMap::new();
    for (which, channels, place) in wanted {
        let slot = names.number(&which, SymbolKind::Output)?;
        let name = which.text();
        if !usage.outputs.contains(&slot) {
            let written = usage.outputs.iter().map(|&n| names.output(n)).collect();
            return Err(ArgumentError::NotWritten { name, written });
        }
        if out.contains_key(&slot) {
            return Err(ArgumentError::Twice { what: "output", name });
        }
        out.insert(slot, Landing::new(&name, channels, place, demands)?);
    }
    let default = if names.program.uncached { 1 } else { 4 };
    for &slot in &usage.outputs {
        if let Entry::Vacant(free) = out.entry(slot) {
            free.insert(Landing::new(&names.output(slot), default, Place::New, demands)?);
        }
    }
    Ok(out)
}

/// An input's elements, and how coordinates become them.
type Sampled<'a> = (Elements<&'a [u8]>, Sampler);

/// The memory of a run: every processor runs, every output passes.
struct Arrays<'a> {
    inputs: [Option<Sampled<'a>>; INPUTS],
    outputs: [Option<Elements<&'a mut [u8]>>; OUTPUTS],
}

fn refused(what: String, reason: String) -> MemoryFault {
    MemoryFault { what, address: None, reason }
}

impl Arrays<'_> {
    /// Stores channels of an element of an output.
    fn store(&mut self, slot: usize, x: u32, y: u32, bits: [u32; 4], mask: u8) -> Result<Written, MemoryFault> {
        let Some(output) = &mut self.outputs[slot] else { return Ok(Written::default()) };
        if x >= output.width || y >= output.height {
            let reason = format!("element ({x}, {y}) lies outside its {} x {} elements", output.width, output.height);
            return Err(refused(format!("output {slot}"), reason));
        }
        let channels = usize::from(output.channels);
        let first = (y as usize * output.pitch as usize + x as usize) * channels * 4;
        let mut bytes = 0;
        for c in (0..channels).filter(|c| mask >> c & 1 == 1) {
            output.bytes[first + 4 * c..first + 4 * c + 4].copy_from_slice(&bits[c].to_ne_bytes());
            bytes += 4;
        }
        Ok(Written { elements: u64::from(bytes > 0), bytes })
    }
}

impl Memory for Arrays<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<Input> {
        let (elements, sampler) = self.inputs.get(usize::from(index))?.as_ref()?;
        let element_bytes = elements.form.element_bytes(elements.channels);
        Some(Input { width: elements.width, height: elements.height, element_bytes, sampler: *sampler })
    }

    fn read(&self, index: u8, x: u32, y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let what = || format!("input {index}");
        let Some(Some((elements, _))) = self.inputs.get(usize::from(index)) else {
            return Err(refused(what(), "it is not given".to_owned()));
        };
        let (width, height) = (elements.width, elements.height);
        if x >= width || y >= height {
            return Err(refused(what(), format!("element ({x}, {y}) lies outside its {width} x {height} elements")));
        }
        Ok(elements.read(x, y, [width, height]))
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let mut written = Written::default();
        for slot in (0..OUTPUTS).filter(|&slot| outputs.written[slot] != 0) {
            let stored = self.store(slot, at.i, at.j, outputs.values[slot], outputs.written[slot])?;
            written.elements += stored.elements;
            written.bytes += stored.bytes;
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        self.store(0, x, y, [bits, 0, 0, 0], 1)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let mut direct = Direct::default();
        for (to, from) in direct.inputs.iter_mut().zip(&self.inputs) {
            *to = from.as_ref().map(|(elements, _)| elements.clone());
        }
        for (to, from) in direct.outputs.iter_mut().zip(&mut self.outputs) {
            *to = from.as_mut().map(|elements| {
                let like = elements.with(());
                like.with(&mut *elements.bytes)
            });
        }
        Some(direct)
    }

    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        std::array::from_fn(|n| {
            self.inputs[n].as_ref().filter(|_| cfg!(target_endian = "little")).map(|(elements, _)| elements.clone())
        })
    }
}
