//! From a capture of the client on an R580 to the programs of the draw: X1K for pixels, PVS for vertices.
//!
//! Mesa's r300 driver loads programs into the chip's memories through ports. The programs are the memories' contents at the last draw.

use crate::pair::PairError;
use crate::types::by_number;
use ctm_isa::pvs;
use ctm_isa::x1k::program::{Literal, Preload, Program, Symbol, SymbolKind};
use ctm_radeon::capture::{CaptureEvent, ReadError, Reader};
use ctm_radeon::execute::LoadedPrograms;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The client's target is 16 pixels wide and high. A further input of programs with the position in clip space.
const OF_TARGET: [(OfTarget, [f32; 4]); 2] =
    [(OfTarget::Half, OfTarget::Half.value(16.0, 16.0)), (OfTarget::Flip, OfTarget::Flip.value(16.0, 16.0))];

/// A pixel program for the X1K.
#[derive(Clone, Debug)]
pub struct Pixel {
    /// The program: samplers and uniforms have their names, other constants their values.
    pub program: Program,
    /// The start values of the temporaries of [`Program::preloads`], in that order.
    pub inputs: Vec<StartInput>,
    /// Constants that depend on the size of the target.
    pub of_target: Vec<(u8, OfTarget)>,
    /// The vertex program: attributes, uniforms and the position have their names, other constants their values.
    pub vertex: pvs::VertexProgram,
    /// Its inexpressible parts.
    pub remarks: Vec<String>,
}

/// The start value of a temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartInput {
    /// A varying, counted as the linker orders them.
    Varying(u8),
    /// The position in clip space: -1 to 1 over the target.
    Position,
}

/// A constant that depends on the size of the target. With these a program makes a position of the window of one of clip space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OfTarget {
    /// Half the columns, half the rows, 0.5, 1.
    Half,
    /// 1, 0, -1, the rows: the sign of y for row 0 at the bottom or the top.
    Flip,
}

impl OfTarget {
    /// The name of constant `index` in the program.
    fn name(self, index: u8) -> String {
        let what = match self {
            Self::Half => "half",
            Self::Flip => "flip",
        };
        format!("target_{what}_{index}")
    }

    /// Its value for a target of this size.
    #[must_use]
    pub const fn value(self, columns: f32, rows: f32) -> [f32; 4] {
        match self {
            Self::Half => [columns / 2.0, rows / 2.0, 0.5, 1.0],
            Self::Flip => [1.0, 0.0, -1.0, rows],
        }
    }
}

/// The pixel program of the last draw in a capture. `open` opens the capture, `told` is the result of [`reflect`](crate::reflect).
///
/// # Errors
/// A capture that is damaged, is of another chip, or has no draw.
pub fn pixel<R: std::io::Read>(open: impl Fn() -> std::io::Result<R>, told: &Value) -> Result<Pixel, PairError> {
    let from = open().map_err(|e| PairError::Capture(ReadError::Io(e)))?;
    let mut reader = Reader::new(from)?;
    let (mut state, mut last) = (LoadedPrograms::default(), None);
    while let Some(event) = reader.next()? {
        if let CaptureEvent::Submission(submission) = event {
            state.run(&submission.words, |at| last = Some(at.clone())).map_err(|_| PairError::Stream)?;
        }
    }
    let state = last.ok_or(PairError::NoDraw)?;
    let mut program = state.pixel().map_err(|_| PairError::Program("pixel"))?;
    let constants = state.pixel_constants();
    let usage = program.usage();
    let mut remarks = Vec::new();

    let reads_position = told["position"].as_bool().unwrap_or(false);
    let temps = state.interpolated();
    let mut inputs = Vec::new();
    for (n, &(temp, vector)) in (0u8..).zip(&temps) {
        // Output 0 of the vertex program is the position; the others are interpolants.
        program.preloads.push(Preload::Interpolant { index: vector.saturating_sub(1), temp });
        let is_position = reads_position && usize::from(n) + 1 == temps.len();
        inputs.push(if is_position { StartInput::Position } else { StartInput::Varying(n) });
    }

    let names = ValueNames::of(told);
    for &unit in &usage.inputs {
        match names.samplers.get(&state.columns(unit)) {
            Some(name) => program.symbols.push(Symbol { name: name.clone(), kind: SymbolKind::Input, index: unit }),
            None => remarks.push(format!("the program reads texture {unit}, which no sampler is")),
        }
    }
    let mut of_target = Vec::new();
    for &index in &usage.float_constants {
        let bits = constants.float.get(usize::from(index)).copied().unwrap_or_default();
        let values = bits.map(f32::from_bits);
        let of_its_size = OF_TARGET.into_iter().find(|(_, known)| reads_position && *known == values);
        let name = bits.iter().find_map(|word| names.uniforms.get(word));
        match (of_its_size, name) {
            // Its value is not the program's, or it would override a job's value.
            (Some((of, _)), _) => {
                of_target.push((index, of));
                program.symbols.push(Symbol { name: of.name(index), kind: SymbolKind::Float, index });
            }
            (None, Some(name)) => {
                program.symbols.push(Symbol { name: name.clone(), kind: SymbolKind::Float, index });
            }
            (None, None) => program.literals.push(Literal::Float { index, bits }),
        }
    }
    for &index in &usage.int_constants {
        let value = constants.int.get(usize::from(index)).copied().unwrap_or_default();
        program.literals.push(Literal::Int { index, value });
    }
    let named: BTreeSet<&str> = program.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    for name in names.unseen.iter().filter(|name| !named.contains(name.as_str())) {
        remarks.push(format!("uniform `{name}` is a boolean, whose place cannot be seen"));
    }
    let vertex = vertex(&state, told, &names);
    Ok(Pixel { program, inputs, of_target, vertex, remarks })
}

/// The vertex program of a draw.
fn vertex(state: &LoadedPrograms, told: &Value, names: &ValueNames) -> pvs::VertexProgram {
    use pvs::program::{Literal, SymbolKind, VertexSymbol};
    let mut program = state.vertex();
    let usage = program.usage();
    let mut add = |name: &str, kind, index| program.symbols.push(VertexSymbol { name: name.to_owned(), kind, index });
    add("position", SymbolKind::Output, 0);
    // Vectors are loaded in the order of locations; a matrix has one for each column.
    let list = told["attributes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let number = |value: &Value| value.as_u64().and_then(|n| u32::try_from(n).ok());
    let mut attributes: Vec<_> = list.iter().filter_map(|of| Some((number(&of["location"])?, of))).collect();
    attributes.sort_by_key(|of| of.0);
    let mut next = 0;
    for (_, of) in attributes {
        let name = of["name"].as_str().unwrap_or_default();
        let columns = by_number(number(&of["type"]).unwrap_or(0)).map_or(1, |of| of.columns as u8);
        let count = columns * number(&of["size"]).and_then(|n| u8::try_from(n).ok()).unwrap_or(1).max(1);
        for n in 0..count {
            let full = if count == 1 { name.to_owned() } else { format!("{name}[{n}]") };
            if usage.inputs.contains(&(next + n)) {
                add(&full, SymbolKind::Input, next + n);
            }
        }
        next += count;
    }
    let constants: Vec<u8> = if usage.relative_constants {
        (0..=program.const_max).collect()
    } else {
        usage.constants.into_iter().collect()
    };
    for index in constants {
        let bits = state.vertex_constant(index);
        match bits.iter().find_map(|word| names.uniforms.get(word)) {
            Some(name) => program.symbols.push(VertexSymbol { name: name.clone(), kind: SymbolKind::Constant, index }),
            None => program.literals.push(Literal { index, bits }),
        }
    }
    // Addresses are those of the program, wherever the driver put it.
    program.const_base = 0;
    program
}

/// Names by the values that the client gave.
#[derive(Default)]
struct ValueNames {
    /// Samplers by the columns of their textures.
    samplers: BTreeMap<u32, String>,
    /// Uniforms by each of their components.
    uniforms: BTreeMap<u32, String>,
    /// Uniforms without a distinct value.
    unseen: Vec<String>,
}

impl ValueNames {
    fn of(told: &Value) -> Self {
        let mut names = Self::default();
        let number = |value: &Value| u32::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
        let list = |name: &str| told[name].as_array().map(Vec::as_slice).unwrap_or_default();
        for sampler in list("samplers") {
            let name = sampler["name"].as_str().unwrap_or_default().to_owned();
            names.samplers.insert(number(&sampler["columns"]), name);
        }
        for uniform in list("uniforms") {
            let name = uniform["name"].as_str().unwrap_or_default();
            let Some(of) = by_number(number(&uniform["type"])) else { continue };
            if of.is_boolean() {
                names.unseen.push(name.to_owned());
                continue;
            }
            let (pattern, count) = (number(&uniform["pattern"]), number(&uniform["size"]).max(1));
            // A constant register holds a column of one element.
            let registers = of.columns as u32 * count;
            for register in 0..registers {
                let full = if registers == 1 { name.to_owned() } else { format!("{name}[{register}]") };
                let first = pattern + register * of.rows as u32;
                names.uniforms.extend((0..of.rows as u32).map(|row| (first + row, full.clone())));
            }
        }
        names
    }
}
