//! One run on arrays. `ctm/__init__.py` has made them flat and contiguous, and of a kind that is read here.

use crate::drive::drive;
use crate::error::{self, findings};
use crate::program::Program;
use ctm::ctm_exec::r700::{LoopConstant, Space};
use ctm::ctm_exec::x1k::{Filter, Sampler, Wrap};
use ctm::run::Numbers;
use ctm::{Budget, Control, Counters, Domain, EngineKind, GroupSize, Plane, Run, View};
use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;

/// Numbers that are borrowed from NumPy while a run lasts.
pub(crate) enum Held<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    U8(PyReadonlyArray1<'py, u8>),
    U16(PyReadonlyArray1<'py, u16>),
    U32(PyReadonlyArray1<'py, u32>),
}

impl<'py> Held<'py> {
    pub(crate) fn of(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = array.extract() {
            return Ok(Self::F32(array));
        }
        if let Ok(array) = array.extract() {
            return Ok(Self::U8(array));
        }
        if let Ok(array) = array.extract() {
            return Ok(Self::U16(array));
        }
        match array.extract() {
            Ok(array) => Ok(Self::U32(array)),
            Err(_) => Err(error::argument(array.py(), "an input is no flat array of float32, uint8, uint16 or uint32")),
        }
    }

    pub(crate) fn numbers(&self, py: Python<'_>) -> PyResult<Numbers<'_>> {
        let numbers = match self {
            Self::F32(a) => a.as_slice().map(Numbers::F32),
            Self::U8(a) => a.as_slice().map(Numbers::U8),
            Self::U16(a) => a.as_slice().map(Numbers::U16),
            Self::U32(a) => a.as_slice().map(Numbers::U32),
        };
        numbers.map_err(|e| error::argument(py, &format!("an input cannot be read: {e}")))
    }
}

/// Name, numbers, rows and columns if it is no line, channels, (filter, wraps) if there is a sampler, border.
type InputArgument<'py> = (String, Bound<'py, PyAny>, Option<(usize, usize)>, usize, Option<(u8, u8, u8)>, [f32; 4]);
/// Name, numbers, rows and columns if they are its own, channels.
type OutputArgument<'py> = (String, Bound<'py, PyAny>, Option<(usize, usize)>, usize);

/// Number, origin, changes per column and row, whether values are integers.
type RegisterArgument = (u8, [f64; 4], [f64; 4], [f64; 4], bool);

fn sampler((filter, x, y): (u8, u8, u8), border: [f32; 4]) -> Sampler {
    let wrap = |n| match n {
        1 => Wrap::Repeat,
        2 => Wrap::Mirror,
        3 => Wrap::Border,
        _ => Wrap::Clamp,
    };
    let filter = if filter == 1 { Filter::Linear } else { Filter::Nearest };
    Sampler { filter, wrap: [wrap(x), wrap(y)], border: border.map(f32::to_bits) }
}

fn space(name: &str) -> Option<Space> {
    Space::ALL.into_iter().find(|space| space.name() == name)
}

/// Counters as a dictionary.
pub(crate) fn counters<'py>(py: Python<'py>, c: &Counters) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, value) in [
        ("groups", c.groups),
        ("processors", c.processors),
        ("alu", c.alu),
        ("output", c.output),
        ("tex", c.tex),
        ("fc", c.fc),
        ("active_lanes", c.active_lanes),
        ("total_lanes", c.total_lanes),
        ("fetches", c.fetches),
        ("fetch_bytes", c.fetch_bytes),
        ("writes", c.writes),
        ("write_bytes", c.write_bytes),
        ("clocks", c.clocks()),
    ] {
        out.set_item(name, value)?;
    }
    Ok(out)
}

pub(crate) fn engine(py: Python<'_>, name: Option<&str>) -> PyResult<EngineKind> {
    match name {
        None => EngineKind::preferred().map_err(|e| error::argument(py, &e.to_string())),
        Some(name) => EngineKind::from_name(name).ok_or_else(|| {
            let names = EngineKind::ALL.map(EngineKind::name).join(", ");
            error::argument(py, &format!("the engine is `{name}`; there are {names}"))
        }),
    }
}

pub(crate) fn budget(py: Python<'_>, instructions: Option<u64>, seconds: Option<f64>) -> PyResult<Budget> {
    let time = match seconds {
        None => None,
        Some(seconds) => Some(
            Duration::try_from_secs_f64(seconds)
                .map_err(|e| error::argument(py, &format!("`seconds` is {seconds}: {e}")))?,
        ),
    };
    let instructions_per_group = match instructions {
        None => Budget::default().instructions_per_group,
        Some(0) => None,
        some => some,
    };
    Ok(Budget { instructions_per_group, time })
}

pub(crate) fn group(py: Python<'_>, lanes: Option<u16>) -> PyResult<Option<GroupSize>> {
    let wrong = |n| error::argument(py, &format!("`group` is {n}; multiples of 4 from 4 to 1024 are possible"));
    lanes.map(|n| GroupSize::new(n).ok_or_else(|| wrong(n))).transpose()
}

/// How to run: engine, threads, group, instructions, seconds, check, count; whether the domain is a part of the arrays.
type How = (Option<String>, usize, Option<u16>, Option<u64>, Option<f64>, bool, bool, bool);

/// Runs a program. Returns findings as JSON, counters, seconds of the launch, memories.
#[pyfunction]
#[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "called by `ctm/__init__.py` alone, by position")]
pub(crate) fn run<'py>(
    py: Python<'py>,
    program: &Bound<'py, Program>,
    line: Option<usize>,
    rectangle: (u32, u32, u32, u32),
    inputs: Vec<InputArgument<'py>>,
    floats: Vec<(String, Vec<u32>)>,
    ints: Vec<(String, (u16, u16, i8))>,
    bools: Vec<(String, bool)>,
    buffers: Vec<(u8, Vec<[u32; 4]>)>,
    memories: Vec<(String, Bound<'py, PyAny>)>,
    registers: Vec<RegisterArgument>,
    outputs: Vec<OutputArgument<'py>>,
    how: How,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<(String, Bound<'py, PyDict>, f64, Vec<(String, Vec<u32>)>)> {
    let program = program.get().0.clone();
    let control = Control::new();
    let (engine_name, threads, lanes, instructions, seconds, check, count, part) = how;
    let mut run = Run::of(&program)
        .engine(engine(py, engine_name.as_deref())?)
        .threads(threads.min(1024))
        .budget(budget(py, instructions, seconds)?)
        .checked(check)
        .counted(count)
        .under(&control);
    if let Some(group) = group(py, lanes)? {
        run = run.group(group);
    }
    run = match line {
        Some(n) => run.elements(n),
        None => {
            let (i0, j0, i1, j1) = rectangle;
            if part {
                run.domain(Domain { i0, j0, i1, j1 })
            } else {
                run.size(i1.saturating_add(1), j1.saturating_add(1))
            }
        }
    };
    let held: Vec<Held<'_>> = inputs.iter().map(|input| Held::of(&input.1)).collect::<PyResult<_>>()?;
    for ((name, _, rows, channels, how, border), held) in inputs.iter().zip(&held) {
        let numbers = held.numbers(py)?;
        let view = match rows {
            Some((rows, columns)) => View::rows(numbers, [*rows, *columns, *channels]),
            None => View::line(numbers, *channels),
        };
        run = match how {
            Some(how) => run.sampled(name, view, sampler(*how, *border)),
            None => run.input(name, view),
        };
    }
    for (name, bits) in &floats {
        run = run.uniform_bits(name, bits.clone());
    }
    for (temp, origin, di, dj, bits) in registers {
        run = run.register(Plane { temp, origin, di, dj, bits });
    }
    for (name, (count, start, step)) in &ints {
        run = run.integer(name, LoopConstant { count: *count, start: *start, step: *step });
    }
    for (name, value) in &bools {
        run = run.boolean(name, *value);
    }
    for (bank, rows) in buffers {
        run = run.constant_buffer(bank, rows);
    }
    for (name, array) in &memories {
        let space = space(name).ok_or_else(|| {
            error::argument(
                py,
                &format!("there is no memory `{name}`; there are reduction, ring, scatter, stream0 to stream3"),
            )
        })?;
        let dwords: PyReadonlyArray1<'_, u32> = array.extract()?;
        run = run.memory(space, dwords.as_slice().map_err(|e| error::argument(py, &e.to_string()))?.to_vec());
    }
    let mut targets: Vec<PyReadwriteArray1<'_, f32>> = Vec::new();
    for (name, array, ..) in &outputs {
        let array = array
            .cast::<numpy::PyArray1<f32>>()
            .map_err(|_| error::argument(py, &format!("output `{name}` is no flat array of float32")))?;
        targets.push(array.try_readwrite().map_err(|e| {
            error::argument(
                py,
                &format!("output `{name}` cannot be written while an input or another output shares its memory: {e}"),
            )
        })?);
    }
    for ((name, _, rows, channels), target) in outputs.iter().zip(&mut targets) {
        let numbers = target.as_slice_mut().map_err(|e| error::argument(py, &format!("output `{name}`: {e}")))?;
        run = match rows {
            Some((rows, columns)) => run.output_into_rows(name, numbers, [*rows, *columns, *channels]),
            None => run.output_into(name, numbers, *channels),
        };
    }
    let done = drive(py, &control, progress.as_ref(), move || run.run())?.map_err(|e| error::of(py, &e))?;
    let memories = done.memories.into_iter().map(|(space, dwords)| (space.name().to_owned(), dwords)).collect();
    Ok((findings(&done.findings), counters(py, &done.counters)?, done.elapsed.as_secs_f64(), memories))
}
