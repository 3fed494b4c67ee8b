//! Runs of X1K programs on the caller's arrays: engines read and write them where they lie.

use super::view::{Numbers, Shape, View};
use super::{ANY_SIZE, ArgumentError, COLUMNS, Done, Error, Place, Run, Wanted, engine, misfit, text};
use crate::array::{Array, ItemType, Values};
use crate::job::Ref;
use crate::job::{finding_report, run_fault};
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Constants, Direct, Elements, Form, Input, Launch, Memory, Outputs, Plane, Sampler, Written};
use ctm_exec::{Domain, GroupSize, Position};
use ctm_files::program::Code;
use ctm_isa::x1k::program::{Literal, Preload, Program, SymbolKind, Usage};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

pub(super) fn run(mut run: Run<'_>) -> Result<Done, Error> {
    let Code::X1k(loaded) = run.program.code() else { return Ok(Done::default()) };
    if !run.buffers.is_empty() {
        return Err(ArgumentError::WrongIsa { what: "a constant buffer", isa: "R700" }.into());
    }
    if !run.memories.is_empty() {
        return Err(ArgumentError::WrongIsa { what: "a memory", isa: "R700" }.into());
    }
    let program = &loaded.program;
    let usage = program.usage();
    let domain = run.the_domain()?;
    let names = Names { program };
    let constants = constants(&run, &names, &usage)?;
    let planes = planes(program)?;
    let bound = inputs(&run, &names, &usage, domain)?;
    let line = run.line();
    let wanted = std::mem::take(&mut run.outputs);
    let mut outputs = outputs(wanted, line, &names, &usage, domain)?;
    let launch = Launch {
        program,
        constants: &constants,
        planes: &planes,
        rows: &[],
        domain,
        group: run.group.unwrap_or(GroupSize::X1K),
        budget: run.budget,
        threads: run.threads,
        checks: run.checks,
        counters: run.counters,
    };
    let engine = match run.engine {
        Some(engine) => engine,
        None => engine(run.kind)?,
    };
    let mut memory = Arrays { inputs: std::array::from_fn(|_| None), outputs: [const { None }; OUTPUTS] };
    for (slot, (held, sampler)) in &bound {
        memory.inputs[usize::from(*slot)] = Some((held.elements(), *sampler));
    }
    for (slot, output) in &mut outputs {
        memory.outputs[usize::from(*slot)] = Some(output.elements());
    }
    let started = Instant::now();
    let outcome = engine.run_x1k_under(&run.control, &launch, &mut memory);
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
        let name = match which {
            Ref::Index(n) => format!("{prefix}{n}"),
            Ref::Name(name) => name.clone(),
        };
        if let Some(number) = self.program.symbol(kind, &name) {
            return Ok(number);
        }
        let digits = name.strip_prefix(prefix).filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|d| d.parse::<u8>().ok()).filter(|&n| usize::from(n) < count);
        number.ok_or_else(|| {
            let mut known = self.of(kind);
            known.push(format!("{prefix}0 to {prefix}{}", count - 1));
            ArgumentError::UnknownName { what, name, known }
        })
    }

    fn output(&self, slot: u8) -> String {
        let symbols = &self.program.symbols;
        let named = symbols.iter().find(|s| s.kind == SymbolKind::Output && s.index == slot);
        named.map_or_else(|| format!("o{slot}"), |s| s.name.clone())
    }
}

fn constants(run: &Run<'_>, names: &Names<'_>, usage: &Usage) -> Result<Constants, ArgumentError> {
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
            Err(ArgumentError::Twice { what: "constant", name: text(which) })
        }
    };
    for (which, bits) in &run.floats {
        out.float[take(which, SymbolKind::Float)?] = *bits;
    }
    for (which, value) in &run.ints {
        let slot = take(which, SymbolKind::Int)?;
        let byte = |what: &str, n: u16| {
            u8::try_from(n).map_err(|_| ArgumentError::Value {
                name: text(which),
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
    // What has a name is meant to be given; what is read by number alone reads 0, as jobs have it.
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

/// What temporaries hold at the start.
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

/// The bytes of an input as engines read them.
struct Held<'a> {
    bytes: Cow<'a, [u8]>,
    like: Elements<()>,
}

impl Held<'_> {
    fn elements(&self) -> Elements<&[u8]> {
        self.like.with(&self.bytes)
    }
}

type Bound<'a> = BTreeMap<u8, (Held<'a>, Sampler)>;

fn inputs<'a>(run: &Run<'a>, names: &Names<'_>, usage: &Usage, domain: Domain) -> Result<Bound<'a>, ArgumentError> {
    let mut bound = Bound::new();
    for (which, view, sampler) in &run.inputs {
        let slot = names.number(which, SymbolKind::Input)?;
        let shape = |message| ArgumentError::Shape { name: text(which), message };
        let held = held(view).map_err(shape)?;
        if sampler.is_none()
            && let Some(message) = misfit(names.program, slot, size_of(view, &held), domain, run.fit)
        {
            return Err(shape(format!("{message}; {ANY_SIZE}")));
        }
        if bound.insert(slot, (held, sampler.unwrap_or_default())).is_some() {
            return Err(ArgumentError::Twice { what: "input", name: text(which) });
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

/// Rows and columns; those of a line that is not whole rows are told by its elements.
fn size_of(view: &View<'_>, held: &Held<'_>) -> [usize; 2] {
    match view.shape {
        Shape::Line if view.numbers.len() / view.channels < COLUMNS as usize => [1, view.numbers.len() / view.channels],
        _ => [held.like.height as usize, held.like.width as usize],
    }
}

/// The array where it lies, if engines can read it so; otherwise a copy in single precision.
fn held<'a>(view: &View<'a>) -> Result<Held<'a>, String> {
    let numbers = view.numbers.len();
    let [rows, columns] = view.size().ok_or_else(|| match view.shape {
        Shape::Line => {
            format!("{numbers} numbers are no line of elements of {} channels; 1 to 4 are possible", view.channels)
        }
        Shape::Rows(rows, columns) => format!(
            "{numbers} numbers are no {rows} rows of {columns} elements of {} channels; 1 to 4 channels are possible",
            view.channels
        ),
    })?;
    let most = COLUMNS as usize;
    if rows == 0 || columns == 0 || rows > most || columns > most {
        return Err(format!("it has {rows} rows and {columns} columns, inputs have 1 to {most} of each"));
    }
    let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let like = |form, channels: usize| Elements {
        bytes: (),
        pitch: size(columns),
        width: size(columns),
        height: size(rows),
        form,
        channels: u8::try_from(channels).unwrap_or(4),
        mask: 0xf,
        tiles: None,
    };
    let whole = rows * columns * view.channels == numbers && cfg!(target_endian = "little");
    match (view.numbers, view.channels) {
        (Numbers::F32(v), 1 | 2 | 4) if whole => {
            return Ok(Held { bytes: Cow::Borrowed(bytemuck::cast_slice(v)), like: like(Form::Floats, view.channels) });
        }
        (Numbers::U8(v), 4) if whole => {
            return Ok(Held { bytes: Cow::Borrowed(v), like: like(Form::Bytes { swapped: false }, 4) });
        }
        (Numbers::U16(v), 1) if whole && numbers.is_multiple_of(2) => {
            return Ok(Held { bytes: Cow::Borrowed(bytemuck::cast_slice(v)), like: like(Form::Words, 1) });
        }
        (Numbers::U32(_), _) => {
            return Err("the X1K reads single precision, bytes and 16-bit integers, no 32-bit integers".to_owned());
        }
        _ => {}
    }
    // Three channels become four, the last one 1; the end of a folded line is filled up with zeros.
    let channels = if view.channels == 3 { 4 } else { view.channels };
    let mut bytes = Vec::with_capacity(rows * columns * channels * 4);
    for element in 0..rows * columns {
        for c in 0..channels {
            let bits = match c {
                3 if view.channels == 3 => 1.0_f32.to_bits(),
                _ => view.numbers.bits(element * view.channels + c),
            };
            bytes.extend_from_slice(&bits.to_le_bytes());
        }
    }
    Ok(Held { bytes: Cow::Owned(bytes), like: like(Form::Floats, channels) })
}

/// An output while it is written.
struct Target<'a> {
    numbers: Landing<'a>,
    like: Elements<()>,
    /// Elements of a line that is cut to its length.
    line: Option<usize>,
}

enum Landing<'a> {
    Own(Vec<f32>),
    Caller(&'a mut [f32]),
    /// The caller's, which is shorter than whole rows.
    Copy(Vec<f32>, &'a mut [f32]),
}

impl Target<'_> {
    fn elements(&mut self) -> Elements<&mut [u8]> {
        let numbers: &mut [f32] = match &mut self.numbers {
            Landing::Own(own) | Landing::Copy(own, _) => own,
            Landing::Caller(numbers) => numbers,
        };
        self.like.with(bytemuck::cast_slice_mut(numbers))
    }

    /// The array, if the caller has not had it written to his own.
    fn finish(self) -> Option<Array> {
        let channels = usize::from(self.like.channels);
        match self.numbers {
            Landing::Caller(_) => None,
            Landing::Copy(own, to) => {
                let count = to.len();
                to.copy_from_slice(&own[..count]);
                None
            }
            Landing::Own(mut own) => {
                let (mut height, mut width) = (self.like.height as usize, self.like.width as usize);
                if let Some(n) = self.line {
                    own.truncate(n * channels);
                    (height, width) = (1, n);
                }
                Some(Array { height, width, channels, values: Values::F32(own) })
            }
        }
    }
}

fn outputs<'a>(
    mut wanted: Vec<Wanted<'a>>,
    line: Option<usize>,
    names: &Names<'_>,
    usage: &Usage,
    domain: Domain,
) -> Result<BTreeMap<u8, Target<'a>>, ArgumentError> {
    let mut out = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for one in &wanted {
        let slot = names.number(&one.which, SymbolKind::Output)?;
        let name = text(&one.which);
        if !usage.outputs.contains(&slot) {
            let written = usage.outputs.iter().map(|&n| names.output(n)).collect();
            return Err(ArgumentError::NotWritten { name, written });
        }
        if !seen.insert(slot) {
            return Err(ArgumentError::Twice { what: "output", name });
        }
    }
    let default = if names.program.uncached { 1 } else { 4 };
    for &slot in usage.outputs.iter().filter(|slot| !seen.contains(slot)) {
        let elements = crate::job::r700::Elements { channels: default, ..Default::default() };
        wanted.push(Wanted { which: Ref::Index(slot), elements, place: Place::New });
    }
    for one in wanted {
        let slot = names.number(&one.which, SymbolKind::Output)?;
        let name = text(&one.which);
        let wrong = |message: String| ArgumentError::Shape { name: name.clone(), message };
        let channels = one.elements.channels;
        if one.elements.items != ItemType::Float32 {
            return Err(wrong("outputs of the X1K are single precision".to_owned()));
        }
        if !matches!(channels, 1 | 2 | 4) {
            return Err(wrong(format!("an output has 1, 2 or 4 channels, not {channels}")));
        }
        if names.program.uncached && channels != 1 {
            return Err(wrong(format!("uncached writes need one channel (CTM §3.3.8), not {channels}")));
        }
        let reaches = [domain.j1 as usize + 1, domain.i1 as usize + 1];
        let [rows, columns] = match &one.place {
            Place::Into(_, Some(size)) => *size,
            _ => reaches,
        };
        let most = COLUMNS as usize;
        let small = rows < reaches[0] || columns < reaches[1];
        if small && !names.program.uncached || rows == 0 || columns == 0 || rows > most || columns > most {
            return Err(wrong(format!(
                "it has {rows} rows and {columns} columns, the domain reaches {} and {}, and {most} are the most",
                reaches[0], reaches[1]
            )));
        }
        let like = Elements {
            bytes: (),
            pitch: u32::try_from(columns).unwrap_or(u32::MAX),
            width: u32::try_from(columns).unwrap_or(u32::MAX),
            height: u32::try_from(rows).unwrap_or(u32::MAX),
            form: Form::Floats,
            channels: u8::try_from(channels).unwrap_or(4),
            mask: 0xf,
            tiles: None,
        };
        let count = rows * columns * channels;
        let cut = line.filter(|_| !matches!(one.place, Place::Into(_, Some(_))));
        let expected = cut.map_or(count, |n| n * channels);
        let numbers = match one.place {
            Place::New => Landing::Own(vec![0.0; count]),
            Place::Into(numbers, _) if numbers.len() != expected => {
                return Err(wrong(format!("it has room for {} numbers, the run gives {expected}", numbers.len())));
            }
            Place::Into(numbers, _) if expected == count => Landing::Caller(numbers),
            Place::Into(numbers, _) => {
                let mut copy = numbers.to_vec();
                copy.resize(count, 0.0);
                Landing::Copy(copy, numbers)
            }
        };
        out.insert(slot, Target { numbers, like, line: cut });
    }
    Ok(out)
}

/// An input's elements, and how coordinates become them.
type Sampled<'a> = (Elements<&'a [u8]>, Sampler);

/// What a run reaches: every processor runs, every output passes.
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
