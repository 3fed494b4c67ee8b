//! One draw on arrays. `ctm/_draw.py` has made them flat and contiguous, and of a kind that is read here.

use crate::drive::drive;
use crate::error;
use crate::program::Program;
use crate::run::{Held, budget, engine};
use ctm::array::Values;
use ctm::ctm_draw::depth::DepthFormat;
use ctm::ctm_draw::format::{ColourFormat, NumberType};
use ctm::ctm_exec::r700::resources::{Filter, Wrap};
use ctm::ctm_isa::r700::ops::DataFormat;
use ctm::draw::{Cull, Draw, Mixing, TOPOLOGIES, TextureBinding, TextureData};
use ctm::{Control, View};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Name, numbers, channels.
type AttributeArgument<'py> = (String, Bound<'py, PyAny>, usize);
/// Name, numbers, rows, columns, channels; filter and wraps, border, if there is a sampler.
type TextureArgument<'py> = (String, Bound<'py, PyAny>, (usize, usize, usize), Option<((u8, u8, u8), [f32; 4])>);
/// Number, dtype, colour before the draw.
type TargetArgument = (u8, String, [f32; 4]);
/// How to draw: topology, instances, mix, cull, samples.
type State = (String, u32, String, String, u32);
/// How to run: engine, instructions, seconds, check.
type How = (Option<String>, Option<u64>, Option<f64>, bool);
/// Number and array of each target, depths if there are any, counts, findings.
type Answer<'py> = (Vec<(u8, Bound<'py, PyAny>)>, Option<Bound<'py, PyAny>>, Bound<'py, PyDict>, Vec<String>);

fn format(name: &str) -> Option<ColourFormat> {
    let integers = |number| ColourFormat { data: DataFormat::Fmt32_32_32_32, number, ..ColourFormat::RGBA8 };
    match name {
        "uint8" => Some(ColourFormat::RGBA8),
        "float32" => Some(ColourFormat::RGBA32F),
        "uint32" => Some(integers(NumberType::Uint)),
        "int32" => Some(integers(NumberType::Sint)),
        _ => None,
    }
}

/// The value of a name, or which names there are.
fn one_of<T: Copy>(py: Python<'_>, what: &str, name: &str, all: &[(&str, T)]) -> PyResult<T> {
    all.iter().find(|row| row.0 == name).map(|row| row.1).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|row| row.0).collect();
        error::argument(py, &format!("{what} is `{name}`; there are {}", names.join(", ")))
    })
}

/// Draws. Returns targets, depths, counts, findings.
#[pyfunction]
#[allow(clippy::too_many_arguments, clippy::type_complexity, reason = "called by `ctm/_draw.py` alone, by position")]
pub(crate) fn draw<'py>(
    py: Python<'py>,
    programs: Vec<Bound<'py, Program>>,
    container: Option<(Bound<'py, PyBytes>, String)>,
    size: (u32, u32),
    mesh: Option<String>,
    attributes: Vec<AttributeArgument<'py>>,
    indices: Option<PyReadonlyArray1<'py, u32>>,
    constants: Vec<(String, PyReadonlyArray1<'py, f32>)>,
    textures: Vec<TextureArgument<'py>>,
    targets: Vec<TargetArgument>,
    depth: Option<f32>,
    state: State,
    how: How,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Answer<'py>> {
    let wrong = |e: numpy::AsSliceError| error::argument(py, &format!("an array cannot be read: {e}"));
    let programs: Vec<ctm::Program> = programs.iter().map(|program| program.get().0.clone()).collect();
    let mut draw = match (programs.as_slice(), &container) {
        ([], Some((bytes, name))) => Draw::container(bytes.as_bytes(), name),
        ([whole], None) => Draw::whole(whole),
        ([vertex, pixel], None) => Draw::of(vertex, pixel),
        _ => {
            return Err(error::argument(
                py,
                "a draw has a vertex and a pixel program, a container of both, or an X1K pixel program",
            ));
        }
    };
    let control = Control::new();
    let (topology, instances, mix, cull, samples) = state;
    let (engine_name, instructions, seconds, check) = how;
    let (rows, columns) = size;
    draw = draw
        .size(columns, rows)
        .samples(samples)
        .instances(instances)
        .mix(one_of(py, "the blending", &mix, &Mixing::ALL)?)
        .cull(one_of(py, "the culling", &cull, &Cull::ALL)?)
        .depth(depth.map(|clear| (DepthFormat::D32Float, clear)))
        .engine(engine(py, engine_name.as_deref())?)
        .budget(budget(py, instructions, seconds)?)
        .checked(check)
        .under(&control);
    if !topology.is_empty() {
        draw = draw.topology(one_of(py, "the topology", &topology, &TOPOLOGIES)?);
    }
    if let Some(mesh) = mesh {
        draw = draw.mesh(mesh);
    }
    for (name, array, channels) in &attributes {
        draw = draw.attribute(name, View::line(Held::of(array)?.numbers(py)?, *channels));
    }
    if let Some(indices) = &indices {
        draw = draw.indices(indices.as_slice().map_err(wrong)?);
    }
    for (name, numbers) in &constants {
        draw = draw.constant(name, numbers.as_slice().map_err(wrong)?);
    }
    for (name, array, (rows, columns, channels), how) in &textures {
        let held = Held::of(array)?;
        let view = View::rows(held.numbers(py)?, [*rows, *columns, *channels]);
        draw = match how {
            None => draw.texture(name, view),
            Some(((filter, x, y), border)) => {
                let filter = if *filter == 1 { Filter::Linear } else { Filter::Nearest };
                let wrap = |n: u8| match n {
                    1 => Wrap::Repeat,
                    2 => Wrap::Mirror,
                    3 => Wrap::Border,
                    _ => Wrap::Clamp,
                };
                let mut sampler = TextureBinding::new("", TextureData::Depth).sampler;
                (sampler.magnify, sampler.minify) = (filter, filter);
                sampler.wrap = [wrap(*x), wrap(*y), wrap(*x)];
                sampler.border = border.map(f32::to_bits);
                draw.sampled(name, view, sampler)
            }
        };
    }
    for (number, dtype, clear) in targets {
        let format = format(&dtype).ok_or_else(|| {
            error::argument(
                py,
                &format!("target {number} has dtype {dtype}; uint8, float32, uint32 and int32 are possible"),
            )
        })?;
        draw = draw.target(number, format, clear);
    }
    let drawn = drive(py, &control, progress.as_ref(), move || draw.run())?.map_err(|e| error::of_draw(py, e))?;
    let mut arrays: Vec<(u8, Bound<'py, PyAny>)> = Vec::new();
    for target in &drawn.targets {
        let array = match target.array().values {
            Values::U8(bytes) => bytes.into_pyarray(py).into_any(),
            Values::F32(numbers) => numbers.into_pyarray(py).into_any(),
            Values::U16(numbers) => numbers.into_pyarray(py).into_any(),
        };
        arrays.push((target.number, array));
    }
    let counts = PyDict::new(py);
    let c = drawn.counts;
    for (name, value) in [
        ("indices", c.indices),
        ("primitives", c.primitives),
        ("visible", c.visible),
        ("vertices", c.vertices),
        ("quads", c.quads),
        ("pixels", c.pixels),
        ("samples_passed", c.samples_passed),
        ("pixels_written", c.pixels_written),
    ] {
        counts.set_item(name, value)?;
    }
    let depths = (!drawn.depths.is_empty()).then(|| drawn.depths.into_pyarray(py).into_any());
    Ok((arrays, depths, counts, drawn.findings))
}
