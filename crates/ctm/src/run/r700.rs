//! Runs of R700 programs: a job of one pass, made of the caller's arrays.

use super::view::{Numbers, Shape, View};
use super::{ANY_SIZE, ArgumentError, COLUMNS, Done, Error, Place, Run, engine, size_misfit, text};
use crate::array::{Array, Values};
use crate::job::r700::uses::textures_at_position;
use crate::job::r700::{ConstantBuffer, Contents, FetchBuffer, Lookup, MemoryBlock, R700Pass, target_name, target_of};
use crate::job::{Data, Given, Isa, Job, Output, Pass, Ref, Texture};
use crate::mc::Format;
use crate::r700::gfd::{UniformPlace, uniforms_of};
use ctm_exec::GroupSize;
use ctm_exec::r700::LoopConstant;
use ctm_exec::r700::formats::Format as BufferFormat;
use ctm_files::program::{Code, with_names};
use ctm_isa::r700::program::{Program, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

pub(super) fn run(mut run: Run<'_>) -> Result<Done, Error> {
    let Code::R700(loaded) = run.program.code() else { return Ok(Done::default()) };
    let program = &with_names(&loaded.program);
    let domain = run.the_domain()?;
    let line = run.line();
    let path = PathBuf::from(run.program.origin().1);
    let which = run.program.which().map(|which| which.to_owned().into());
    let mut own = R700Pass { stage: program.stage, which, ..R700Pass::default() };
    let mut pass = Pass {
        name: None,
        repeat: 1,
        program: path.clone().into(),
        program_info: None,
        domain,
        one_dimensional: false,
        registers: None,
        float: BTreeMap::new(),
        varying: BTreeMap::new(),
        int: BTreeMap::new(),
        bool: BTreeMap::new(),
        textures: Vec::new(),
        outputs: Vec::new(),
        conditional: None,
        r700: None,
    };
    for (which, view, sampler) in &run.inputs {
        let (is_buffer, slot) = input(program, which)?;
        let shape = |message: String| ArgumentError::Shape { name: text(which), message };
        let array = Arc::new(array(view, is_buffer).map_err(shape)?);
        let at_position = matches!(slot, Ref::Index(n) if !is_buffer && textures_at_position(program).contains(&n));
        if at_position
            && sampler.is_none()
            && let Some(message) = size_misfit([array.height, array.width], domain, run.fit)
        {
            return Err(shape(format!("{message}; {ANY_SIZE}")).into());
        }
        let sampler = sampler.unwrap_or_default();
        if is_buffer {
            own.buffers.push(FetchBuffer {
                slot: slot.into(),
                stride_bytes: u32::try_from(4 * array.channels).unwrap_or(16),
                contents: Contents::Data(Data::Array(array).into()),
                format: BufferFormat::default(),
            });
        } else {
            pass.textures.push(Texture {
                slot: slot.into(),
                data: Some(Data::Array(array).into()),
                output: None,
                filter: sampler.filter,
                wrap: sampler.wrap,
                has_wrap: true,
                border: sampler.border,
                format: None::<crate::job::Located<Format>>,
                tiling: None,
                size: None,
                lookup: Lookup::default(),
            });
        }
    }
    for (which, bits) in &run.floats {
        let place = constant(program, which)?;
        if pass.float.insert(place, (*bits).into()).is_some() {
            return Err(ArgumentError::Twice { what: "constant", name: text(which) }.into());
        }
    }
    for (which, LoopConstant { count, start, step }) in &run.ints {
        let value = LoopConstant { count: *count, start: *start, step: *step };
        if *count > 4095 || *start > 4095 {
            let message = format!("count {count} and start {start}: 0 to 4095 are possible");
            return Err(ArgumentError::Value { name: text(which), message }.into());
        }
        own.loops.insert(numbered(which, "loop constant", 'i')?, value.into());
    }
    for (which, value) in &run.bools {
        pass.bool.insert(numbered(which, "boolean constant", 'b')?, (*value).into());
    }
    for (bank, rows) in &run.buffers {
        if *bank > 15 {
            let message = format!("there is no constant buffer {bank}; 0 to 15 are possible");
            return Err(ArgumentError::Value { name: format!("constant buffer {bank}"), message }.into());
        }
        let contents = Contents::Values(rows.clone());
        own.constant_buffers.push(ConstantBuffer { bank: (*bank).into(), fetch_resource: None, contents });
    }
    for (space, dwords) in &run.memories {
        let values = Values::F32(dwords.iter().map(|&bits| f32::from_bits(bits)).collect());
        let array = Array { height: 1, width: dwords.len(), channels: 1, values };
        own.memories.push(MemoryBlock {
            space: Some(*space).into(),
            size_bytes: Some(4 * dwords.len() as u64),
            data: Some(Data::Array(Arc::new(array)).into()),
            item_dwords: None,
            stride: None,
            items: crate::array::ItemType::Uint32,
            shape: None,
            save: None,
            fresh: true,
        });
    }
    let mut wanted = BTreeMap::new();
    for one in std::mem::take(&mut run.outputs) {
        let name = text(&one.which);
        let Some(target) = target_of(&one.which) else {
            let known = run.program.outputs().into_iter().map(|n| n.0).collect();
            return Err(ArgumentError::UnknownName { what: "output", name, known }.into());
        };
        if !matches!(one.elements.channels, 1 | 2 | 4) {
            let message = format!("an output has 1, 2 or 4 channels, not {}", one.elements.channels);
            return Err(ArgumentError::Shape { name, message }.into());
        }
        let size = match &one.place {
            Place::Into(_, Some([rows, columns])) => Some([*rows, *columns]),
            _ => None,
        };
        let mut output = Output { elements: one.elements, ..Output::new(Ref::Name(target_name(target))) };
        if let Some([rows, columns]) = size {
            output.size = Some([columns, rows].map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        }
        pass.outputs.push(output);
        if wanted.insert(target_name(target), one).is_some() {
            return Err(ArgumentError::Twice { what: "output", name }.into());
        }
    }
    pass.r700 = Some(own);
    let mut how = crate::job::Run::of(Isa::R700);
    how.engine = run.kind.into();
    how.threads = run.threads;
    how.group = run.group.unwrap_or(GroupSize::R700);
    how.budget = run.budget;
    how.check = run.checks;
    how.counters = run.counters;
    let job = Job {
        given: Given { path: Some(path), bytes: Some(run.program.origin().0.into()) },
        isa: Some(Isa::R700),
        passes: vec![pass],
        repeat: 1,
        saves: Vec::new(),
        conditional_save: None,
        memory_saves: Vec::new(),
        run: how,
    };
    let engine = match run.engine {
        Some(engine) => engine,
        None => engine(run.kind)?,
    };
    let mut report = job.run_lent(&run.control, engine)?;
    let mut outputs = BTreeMap::new();
    let whole = (domain.i1 as usize + 1, domain.j1 as usize + 1);
    for result in &mut report.outputs {
        // What lies left of the domain or above it belongs to the array, too: every run's outputs begin at (0, 0).
        let rect = result.rect;
        result.rect.width = rect.x + rect.width;
        result.rect.height = rect.y + rect.height;
        (result.rect.x, result.rect.y) = (0, 0);
    }
    for result in &report.outputs {
        let Some(mut array) = report.array(result.slot) else { continue };
        let name = result.number();
        let line = line.filter(|_| (array.width, array.height) == whole);
        if let Some(n) = line
            && let Values::F32(values) = &mut array.values
        {
            values.truncate(n * array.channels);
            (array.height, array.width) = (1, n);
        }
        match wanted.remove(&name).map(|one| one.place) {
            Some(Place::Into(numbers, _)) => {
                let Values::F32(values) = &array.values else { continue };
                if numbers.len() != values.len() {
                    let message = format!("it has room for {} numbers, the run gives {}", numbers.len(), values.len());
                    return Err(ArgumentError::Shape { name, message }.into());
                }
                numbers.copy_from_slice(values);
            }
            Some(Place::New) | None => {
                outputs.insert(name, array);
            }
        }
    }
    let counters = report.counters();
    Ok(Done { outputs, memories: report.memories, counters, findings: report.reports, elapsed: report.elapsed })
}

/// A number behind a letter: `i3`.
fn numbered(which: &Ref, what: &'static str, prefix: char) -> Result<Ref, ArgumentError> {
    let Ref::Name(name) = which else { return Ok(which.clone()) };
    match register(name, &[prefix]) {
        Some(n) if usize::from(n) < ctm_exec::r700::CF_CONSTANTS => Ok(Ref::Index(n)),
        _ => {
            let known = vec![format!("{prefix}0 to {prefix}31")];
            Err(ArgumentError::UnknownName { what, name: name.clone(), known })
        }
    }
}

fn register(name: &str, prefixes: &[char]) -> Option<u8> {
    let digits = name.strip_prefix(prefixes)?;
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Whether an input is a buffer of vertex fetches, and which.
fn input(program: &Program, which: &Ref) -> Result<(bool, Ref), ArgumentError> {
    let Ref::Name(name) = which else { return Ok((false, which.clone())) };
    if let Some(n) = program.symbol(SymbolKind::Resource, name) {
        return Ok((false, Ref::Index(n)));
    }
    if let Some(n) = program.symbol(SymbolKind::Buffer, name) {
        return Ok((true, Ref::Index(n)));
    }
    match (register(name, &['t']), register(name, &['b'])) {
        (Some(n), _) => Ok((false, Ref::Index(n))),
        (None, Some(n)) => Ok((true, Ref::Index(n))),
        (None, None) => {
            let is_input = |k| matches!(k, SymbolKind::Resource | SymbolKind::Buffer);
            let named: BTreeSet<String> =
                program.symbols.iter().filter(|s| is_input(s.kind)).map(|s| s.name.clone()).collect();
            let known = named.into_iter().chain(["t0 to t255 (textures), b0 to b255 (buffers)".to_owned()]).collect();
            Err(ArgumentError::UnknownName { what: "input", name: name.clone(), known })
        }
    }
}

fn constant(program: &Program, which: &Ref) -> Result<Ref, ArgumentError> {
    let Ref::Name(name) = which else { return Ok(which.clone()) };
    let is_constant = |k| matches!(k, SymbolKind::Constant | SymbolKind::Kcache(_));
    let in_blocks = uniforms_of(program);
    let is_named = program.symbols.iter().any(|s| is_constant(s.kind) && s.name == *name);
    if is_named || in_blocks.iter().any(|uniform| uniform.name == *name) {
        return Ok(which.clone());
    }
    match register(name, &['C', 'c']) {
        Some(n) => Ok(Ref::Index(n)),
        None => {
            let known = program.symbols.iter().filter(|s| is_constant(s.kind)).map(|s| s.name.clone());
            let in_blocks = in_blocks.iter().filter(|uniform| matches!(uniform.place, UniformPlace::Buffer(..)));
            let known = known.chain(in_blocks.map(|uniform| uniform.name.clone()));
            let known = known.chain(["C0 to C255".to_owned()]).collect();
            Err(ArgumentError::UnknownName { what: "constant", name: name.clone(), known })
        }
    }
}

/// A copy of a view; lines are folded for textures, and stay as they are in buffers.
fn array(view: &View<'_>, is_buffer: bool) -> Result<Array, String> {
    let count = view.numbers.len();
    let size = view.size().filter(|size| !size.contains(&0));
    let [rows, columns] = size.ok_or_else(|| {
        format!("{count} numbers do not make elements of {} channels; 1 to 4 are possible", view.channels)
    })?;
    let (rows, columns) = match view.shape {
        Shape::Line if is_buffer => (1, count / view.channels),
        _ => (rows, columns),
    };
    if !is_buffer && (rows > 2 * COLUMNS as usize || columns > 2 * COLUMNS as usize) {
        return Err(format!("it has {rows} rows and {columns} columns, textures have 1 to {} of each", 2 * COLUMNS));
    }
    let padded = rows * columns * view.channels;
    // Fetches read numbers of 32 bits from buffers; textures keep the format of their numbers.
    let values = match view.numbers {
        Numbers::F32(v) => Values::F32(padded_to(v, padded)),
        Numbers::U8(v) if !is_buffer => Values::U8(padded_to(v, padded)),
        Numbers::U16(v) if !is_buffer => Values::U16(padded_to(v, padded)),
        Numbers::U8(_) | Numbers::U16(_) | Numbers::U32(_) => {
            Values::F32((0..padded).map(|n| f32::from_bits(view.numbers.bits(n))).collect())
        }
    };
    Ok(Array { height: rows, width: columns, channels: view.channels, values })
}

/// The numbers, with zeros behind them.
fn padded_to<T: Copy + Default>(numbers: &[T], count: usize) -> Vec<T> {
    let mut numbers = numbers.to_vec();
    numbers.resize(count, T::default());
    numbers
}
