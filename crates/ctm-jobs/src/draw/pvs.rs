//! Pairs of the R5xx: a vertex program (PVS) and a pixel program (X1K).
//!
//! Output 0 of the vertex program is the position. The others are interpolated: output 1 + n is interpolant n of the pixel program (`.interp t0 -> r4`), or, where it
//! declares none, the start value of temporary n. Attributes and constants go by name; names with `[n]` at their end are columns of a matrix or elements of an array.

use super::bound::{BoundPvs, BoundX1k, PreparedDraw};
use super::matrices::MatrixKind;
use super::mesh::{Channel, Mesh};
use super::pair::{self, Attribute, is_meant};
use super::plan::{DrawPlan, ProgramSource};
use super::reach::rows_of;
use super::{Error, blocks, unknown};
use ctm_draw::DrawError;
use ctm_exec::{Budget, Control, Engine, Fault, pvs};
use ctm_files::array::Items;
use ctm_files::pvs::{Loaded, is_pvs};
use ctm_isa::pvs::program::SymbolKind;
use ctm_isa::pvs::{CONSTANTS, INPUTS, OUTPUTS};
use ctm_isa::x1k::program::Preload;
use ctm_launch::slot::register;

/// Whether a program is a vertex program of the R5xx, by the name of its file.
pub(super) fn is_vertex(source: &ProgramSource) -> bool {
    pair::bytes(source).is_ok_and(|(_, path)| is_pvs(&path))
}

/// A constant's name without the number of a column or element at its end.
fn base(name: &str) -> &str {
    blocks::element_of(name).map_or(name, |(base, _)| base)
}

impl BoundPvs {
    /// Reads a vertex program, and binds its attributes.
    pub(super) fn new(
        source: &ProgramSource,
        plan: &DrawPlan,
        mesh: &Mesh,
        arrays: &[(String, Items)],
    ) -> Result<Self, Error> {
        let (bytes, path) = pair::bytes(source)?;
        let program = Loaded::from_bytes(&bytes, &path).map_err(Error::Job)?.program;
        let mut constants = vec![[0; 4]; CONSTANTS];
        for literal in &program.literals {
            constants[usize::from(literal.index)] = literal.bits;
        }
        let mut bound = Self { program, constants, inputs: Vec::new(), findings: Vec::new() };
        let attributes = bound.attributes();
        let blocks = blocks::attributes(&attributes, arrays, mesh.vertices.len())?;
        for slot in plan.attributes.iter().map(|of| &of.0).chain(plan.arrays.iter().map(|of| &of.0)) {
            if !attributes.iter().any(|attribute| is_meant(slot, attribute)) {
                let names: Vec<&str> = attributes.iter().map(|a| a.name.as_str()).collect();
                return Err(unknown("attribute", &slot.text(), &names));
            }
        }
        for (n, attribute) in attributes.iter().enumerate() {
            let given = plan.attributes.iter().find(|(slot, _)| is_meant(slot, attribute));
            // The usual order of programs without names.
            let usual = [Channel::Position, Channel::Colour, Channel::Texcoord, Channel::Normal];
            let of_name = Channel::of_attribute(&attribute.name);
            if given.is_none() && of_name.is_none() && !attribute.name.is_empty() {
                let message = "says nothing of what it takes; `attributes` can";
                bound.findings.push(format!("the name of attribute `{}` {message}", attribute.name));
            }
            let channel = given.map(|given| given.1).or(of_name).unwrap_or(usual[n % 4]);
            let array = plan.arrays.iter().chain(&blocks).find(|(slot, _)| is_meant(slot, attribute));
            let rows = array.map_or_else(|| mesh.channel(channel), |(_, rows)| rows.clone());
            let bits = rows.into_iter().map(|row| row.map(f32::to_bits)).collect();
            bound.inputs.push((attribute.location, bits));
        }
        Ok(bound)
    }

    /// The input vectors that it reads, with their names.
    pub(super) fn attributes(&self) -> Vec<Attribute> {
        let name = |index: u8| {
            let named = self.program.symbols.iter().find(|of| of.kind == SymbolKind::Input && of.index == index);
            named.map(|of| of.name.clone()).unwrap_or_default()
        };
        let attribute = |index: u8| Attribute { name: name(index), location: index, gpr: index, integer: false };
        self.program.usage().inputs.into_iter().map(attribute).collect()
    }

    /// Names of constants.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.program.symbols.iter().filter(|of| of.kind == SymbolKind::Constant).map(|of| base(&of.name))
    }

    /// The constants that take rows of a name: the row, and the constant. Of a number (`c4`) those from there on, if the program reads one of them.
    fn places(&self, name: &str, rows: usize) -> Vec<(usize, usize)> {
        let symbols = || self.program.symbols.iter().filter(|of| of.kind == SymbolKind::Constant);
        let elements = symbols().filter_map(|of| {
            let (array, row) = blocks::element_of(&of.name).filter(|(array, _)| *array == name)?;
            (!array.is_empty() && row < rows).then_some((row, usize::from(of.index)))
        });
        let elements: Vec<(usize, usize)> = elements.collect();
        if !elements.is_empty() {
            return elements;
        }
        let named = symbols().find(|of| of.name == name).map(|of| of.index);
        let read = || self.program.usage().constants;
        let by_number = || register(name, &['c']).filter(|&n| (n..=u8::MAX).take(rows).any(|n| read().contains(&n)));
        let Some(first) = named.or_else(by_number).map(usize::from) else { return Vec::new() };
        (0..rows).map(|row| (row, first + row)).take_while(|(_, place)| *place < CONSTANTS).collect()
    }

    /// Sets the constants of a name; whether there are any.
    pub(super) fn constant(&mut self, name: &str, numbers: &[u32]) -> Result<bool, Error> {
        let rows = rows_of(name, numbers)?;
        let places = self.places(name, rows.len());
        for &(row, place) in &places {
            self.constants[place] = rows[row];
        }
        Ok(!places.is_empty())
    }

    /// A camera's matrix as the constants of a name take it: columns where they are named one by one, as a compiler of GLSL does, otherwise rows.
    pub(super) fn matrix_numbers(&self, name: &str, columns: &[f32; 16]) -> Vec<f32> {
        let has_columns = self.program.symbols.iter().any(|of| {
            of.kind == SymbolKind::Constant && blocks::element_of(&of.name).is_some_and(|(base, _)| base == name)
        });
        if has_columns {
            return columns.to_vec();
        }
        (0..4).flat_map(|row| (0..4).map(move |column| columns[4 * column + row])).collect()
    }

    /// The names of matrices among its constants that a camera gives: those of several vectors.
    pub(super) fn matrices(&self) -> Vec<(String, MatrixKind)> {
        let mut all: Vec<(String, MatrixKind)> = Vec::new();
        let read = self.program.usage().constants;
        for symbol in self.program.symbols.iter().filter(|of| of.kind == SymbolKind::Constant) {
            let name = base(&symbol.name);
            let others = |n: u8| {
                let taken = self.program.symbols.iter().any(|of| of.kind == SymbolKind::Constant && of.index == n);
                taken || self.program.literals.iter().any(|of| of.index == n)
            };
            let last = symbol.index.saturating_add(3);
            let rows = (symbol.index..=last).all(|n| read.contains(&n) && (n == symbol.index || !others(n)));
            let kind = MatrixKind::of_name(name).filter(|_| name != symbol.name || rows);
            if let Some(kind) = kind.filter(|_| all.iter().all(|known| known.0 != name)) {
                all.push((name.to_owned(), kind));
            }
        }
        all
    }

    /// The outputs of a mesh's vertices.
    fn run(
        &self,
        engine: &dyn Engine,
        (control, budget, one_thread): (&Control, Budget, bool),
        count: usize,
    ) -> Result<Vec<pvs::Outputs>, Fault> {
        let mut vertices = vec![[[0, 0, 0, 1f32.to_bits()]; INPUTS]; count];
        for (input, rows) in &self.inputs {
            for (vertex, row) in vertices.iter_mut().zip(rows) {
                vertex[usize::from(*input) % INPUTS] = *row;
            }
        }
        let (program, constants) = (&self.program, self.constants.as_slice());
        let launch = pvs::PvsLaunch { program, constants, vertices: &vertices, budget, one_thread };
        engine.run_pvs_under(control, &launch)
    }
}

/// The vertices of a draw: positions, and the values of each temporary that starts with some.
pub(super) struct ShadedVertices {
    pub(super) positions: Vec<[u32; 4]>,
    pub(super) parameters: Vec<Vec<[u32; 4]>>,
    /// The number of each of these, from 1 on, by temporary; 0: the temporary starts with zeros.
    pub(super) semantics: Vec<u8>,
}

impl BoundX1k {
    /// Runs the vertex program for the vertices of a draw.
    pub(super) fn shaded(
        &self,
        vertex: &BoundPvs,
        draw: &PreparedDraw<'_>,
        engine: &dyn Engine,
        limits: (&Control, Budget, bool),
    ) -> Result<ShadedVertices, Error> {
        let outputs = vertex.run(engine, limits, draw.mesh.vertices.len()).map_err(|fault| {
            let fault = DrawError::Program { stage: "vertex", fault };
            Error::Draw(draw.name.clone(), fault)
        })?;
        let written = vertex.program.usage().outputs;
        // By interpolant: the temporary.
        let declared: Vec<(u8, u8)> = self
            .program
            .preloads
            .iter()
            .filter_map(|preload| match *preload {
                Preload::Interpolant { index, temp } => Some((index, temp)),
                Preload::Position { .. } => None,
            })
            .collect();
        let in_order = || written.iter().filter(|&&n| n > 0).map(|&n| (n - 1, n - 1)).collect();
        let links: Vec<(u8, u8)> = if declared.is_empty() { in_order() } else { declared };
        let last = links.iter().map(|link| usize::from(link.1) + 1).max().unwrap_or(0);
        let mut shaded = ShadedVertices {
            positions: outputs.iter().map(|of| of[0]).collect(),
            parameters: Vec::new(),
            semantics: vec![0; last],
        };
        for (interpolant, temp) in links {
            let output = usize::from(interpolant) + 1;
            if output < OUTPUTS {
                shaded.parameters.push(outputs.iter().map(|of| of[output]).collect());
                shaded.semantics[usize::from(temp)] = shaded.parameters.len() as u8;
            }
        }
        Ok(shaded)
    }
}
