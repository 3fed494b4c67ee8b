//! The stages of a stream: a launch without divergence, whose domain is cut into tiles. One function a stage.
//!
//! `stream/` has the analyses, `codegen/x86/stream` the machine code. The result of [`super::stream_code`] holds for the
//! launch's planes, constants in coordinates, formats of elements and width: `runtime/streams` caches it by these.

use super::observe::Observer;
use super::stage::{Stage, checked};
use crate::codegen::x86::X86Target;
use crate::codegen::x86::masked::text::selected;
use crate::codegen::x86::masked::{self, SelectedCode, exists};
use crate::codegen::x86::stream::{Chosen, Geometry, Kernel, KernelOptions};
use crate::passes::masked::{VarSet, optimise};
use crate::passes::table::Pass;
use crate::stream::affine::{self, Item, LaunchParameters, Linear};
use crate::stream::prepare::{self, Prepared, WHOLE};
use crate::stream::text::{parse, text, verify};
use crate::stream::uniform::Uniform;
use ctm_exec::ramp::Ramp;
use ctm_ir::lower::x1k::masks;
use ctm_ir::masked::{Op, Var};
use ctm_ir::x1k;
use ctm_isa::x1k::{INPUTS, OUTPUTS};

/// A uniform program, and the kind of launches that code is made for.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The target.
    pub target: X86Target,
    /// The program.
    pub uniform: &'a Uniform,
    /// The planes and constants of the launch.
    pub given: &'a LaunchParameters<'a>,
    /// The channels of its arrays.
    pub geometry: Geometry,
    /// Columns of the domain, as far as they limit tiles.
    pub columns: u32,
}

/// A program after tiling.
pub struct Tiled {
    /// Its form.
    prepared: Prepared,
    /// Its blocks and loops.
    parts: Vec<Item>,
    /// The variables that are live at the beginning of each block.
    live: Vec<VarSet>,
    /// The values of variables that are not 0 at the start.
    starts: Vec<(Var, Linear)>,
    /// Components of constants that its coordinates depend on, and their bits.
    constants: Vec<(u16, u32)>,
}

/// A program with selected instructions.
pub struct Selected {
    /// Components of constants that its coordinates depend on, and their bits.
    pub constants: Vec<(u16, u32)>,
    /// Its instructions.
    pub chosen: Chosen,
    /// Operations of one processor.
    pub operations: u64,
}

impl Tiled {
    /// A stream of its text.
    ///
    /// # Errors
    /// The text does not parse, or breaks a rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut prepared, parts, starts) = parse(text).map_err(|error| error.to_string())?;
        verify(&prepared, &parts).map_err(|error| error.to_string())?;
        let live = optimise(&mut prepared.code, true, false);
        Ok(Self { prepared, parts, live, starts, constants: Vec::new() })
    }

    /// Its text.
    pub fn text(&self) -> String {
        text(&self.prepared, &self.parts, &self.starts)
    }

    /// The channels of its arrays, if each of these has four.
    pub fn geometry(&self) -> Geometry {
        let mut geometry = Geometry { inputs: [4; INPUTS], ..Geometry::default() };
        for (output, channels) in geometry.outputs.iter_mut().enumerate() {
            *channels = if self.prepared.outputs >> (4 * output) & 0xf != 0 { 4 } else { 0 };
        }
        geometry
    }
}

/// An X1K program as a stream; `None` when it is none.
pub fn uniform(code: &x1k::Code) -> Option<Uniform> {
    Uniform::of(&masks::lower(code, false), exists, (0..OUTPUTS).collect())
}

/// Tiling: fetches at linear functions of the index pair, masks and coordinates removed, and the packed form where it applies.
pub fn tile(inputs: &Inputs<'_>, observer: &mut Observer) -> Option<Tiled> {
    let Inputs { uniform, given, geometry, columns, .. } = *inputs;
    let fetches = affine::analyse(&uniform.code, &uniform.parts, given)?;
    let channels = |input| geometry.inputs[usize::from(input & 15)];
    let mut prepared = prepare::plain(uniform, &fetches, channels, wanted(uniform, &geometry)?);
    let mut live = optimise(&mut prepared.code, true, false);
    let start = (0..Var::COUNT as u16).map(Var).filter(|&var| live[0].contains(var));
    let ramps = start.filter_map(|var| Some((var, Ramp::of(var.index() / 4, var.index() % 4, given.planes)?)));
    let starts: Vec<(Var, Linear)> =
        ramps.map(|(var, ramp)| Some((var, affine::of_ramp(&ramp)?))).collect::<Option<_>>()?;
    if Pass::Packed.is_on()
        && starts.is_empty()
        && let Some(mut packed) = prepare::packed(&prepared)
    {
        let packed_live = optimise(&mut packed.code, true, false);
        if suits(&packed, &geometry) {
            (prepared, live) = (packed, packed_live);
        }
    }
    let each = if prepared.packed { 4 } else { 16 };
    let tiled = Tiled { prepared, parts: uniform.parts.clone(), live, starts, constants: fetches.constants };
    checked(Stage::Tile, || verify(&tiled.prepared, &tiled.parts), || tiled.text());
    observer.after(Stage::Tile, || tiled.text());
    (columns >= each).then_some(tiled)
}

/// Instruction selection.
pub fn select((target, geometry): (X86Target, Geometry), tiled: Tiled, observer: &mut Observer) -> Selected {
    let Tiled { prepared, parts, live, starts, constants } = tiled;
    let vars: Vec<Var> = starts.iter().map(|start| start.0).collect();
    let of = SelectedCode::of_stream(&prepared.code, &vars, target.target);
    let text = || selected(&of, &prepared.code);
    checked(Stage::Select, || masked::verify::verify(&of, &prepared.code), text);
    observer.after(Stage::Select, text);
    let executions = executions(&parts);
    let operations = executions.map(|(block, count)| count * prepared.code.blocks[block].ops.len() as u64).sum();
    let chosen = Chosen::new(target, prepared, of, parts, &live, &starts, geometry);
    Selected { constants, chosen, operations }
}

/// Register allocation for tiles of this shape, and their code.
pub fn kernel(chosen: &Chosen, options: KernelOptions, observer: &mut Observer) -> Option<Kernel> {
    let mut allocated = chosen.allocate(options)?;
    checked(Stage::Allocate, || allocated.verify(), || allocated.text());
    observer.after(Stage::Allocate, || allocated.text());
    let bytes = allocated.emit();
    observer.after(Stage::Emit, || super::text::code_text(&bytes));
    allocated.kernel(&bytes)
}

/// The output components that are to be written; `None` when a bound output does not get all its channels.
fn wanted(uniform: &Uniform, geometry: &Geometry) -> Option<u32> {
    let mut wanted = 0;
    for (target, channels) in geometry.outputs.iter().enumerate() {
        let all = (1u32 << channels) - 1;
        if uniform.outputs >> (4 * target) & all != all {
            return None;
        }
        wanted |= all << (4 * target);
    }
    Some(wanted)
}

/// Whether elements have the channels that the packed form assumes.
fn suits(packed: &Prepared, geometry: &Geometry) -> bool {
    let outputs = geometry.outputs.iter().all(|channels| matches!(channels, 0 | 4));
    let channels = |input: u8| geometry.inputs[usize::from(input & 15)];
    let has_four = |ops: &[Op], op: &Op| match *op {
        Op::Fetched(fetch, WHOLE) => prepare::input(&packed.code, &ops[fetch.index()]).map_or(0, channels) == 4,
        _ => true,
    };
    outputs && packed.code.blocks.iter().all(|block| block.ops.iter().all(|op| has_four(&block.ops, op)))
}

/// The blocks, with the executions by each processor.
fn executions(items: &[Item]) -> impl Iterator<Item = (usize, u64)> {
    let iterations = |around: Vec<u16>| around.iter().map(|&iterations| u64::from(iterations)).product();
    affine::blocks(items).into_iter().map(move |(block, around)| (block, iterations(around)))
}
