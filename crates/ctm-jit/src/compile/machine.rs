//! The stages that make machine code of a masked form: one method a stage, over one struct.

use super::observe::Observer;
use super::stage::{Form, Stage, checked};
use crate::codegen::x86::allocate::{Location, Locations, Pieces, Ranges};
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::emit;
use crate::codegen::x86::masked::fused::{self, Iterations};
use crate::codegen::x86::masked::layout::Layout;
use crate::codegen::x86::masked::runs::Runs;
use crate::codegen::x86::masked::text::{allocated, selected};
use crate::codegen::x86::masked::unrolled::is_unrolled;
use crate::codegen::x86::masked::verify::verify;
use crate::codegen::x86::masked::{Assumed, Ins, Native, Parts, ROW, SelectedCode, Variant, kept, narrow, ranges};
use crate::codegen::x86::{FRAME_LIMIT, X86Target};
use crate::launch::lanes::LANES;
use crate::passes::masked::VarSet;
use crate::passes::table::Pass;
use ctm_ir::masked::{Op, Var};

/// A masked form, and the kind of launches that machine code is made for.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The program.
    pub form: &'a Form,
    /// Variables with start values, in order.
    pub start: &'a [Var],
    /// Exported elements, in order.
    pub exports: &'a [usize],
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// The target, and the counters of the code.
    pub variant: Variant,
    /// Facts about launches that the code relies on.
    pub assumed: Assumed<'a>,
}

/// A program between the stages. Each field is written by the stage above it, and read by later ones.
pub struct Machine<'a> {
    inputs: Inputs<'a>,
    // --- select ---
    selected: SelectedCode,
    // --- fuse ---
    /// Blocks that end with an iteration of a loop.
    iterations: Vec<Option<Iterations>>,
    // --- strips ---
    strips: Runs,
    // --- allocate ---
    ranges: Ranges,
    /// The vector of the active lanes, where masks are vectors.
    active: Option<Vector>,
    /// Literals and constants that loops keep in registers.
    constants: Vec<(Src, Vector)>,
    /// Whether each vector outlives a strip.
    wide: Vec<bool>,
    locations: Locations,
    /// Lanes of a wavefront: as many as the launch has, or fewer.
    lanes: usize,
    // --- frame ---
    layout: Layout,
    /// The offsets of exported elements' rows.
    rows: Vec<i32>,
    /// Rows that never change, and their bits.
    fixed: Vec<(i32, u32)>,
    // --- emit ---
    bytes: Vec<u8>,
}

impl<'a> Machine<'a> {
    /// Before the first stage.
    pub fn new(inputs: Inputs<'a>) -> Self {
        Self {
            inputs,
            selected: SelectedCode::default(),
            iterations: Vec::new(),
            strips: Runs::none(inputs.variant.target.target),
            ranges: Ranges::empty(0, 0),
            active: None,
            constants: Vec::new(),
            wide: Vec::new(),
            locations: Locations::default(),
            lanes: inputs.lanes,
            layout: Layout::default(),
            rows: Vec::new(),
            fixed: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// Runs a stage, verifies its result in debug builds, and shows it.
    pub fn run(&mut self, stage: Stage, run: impl FnOnce(&mut Self), observer: &mut Observer) {
        run(self);
        let code = &self.inputs.form.code;
        checked(stage, || verify(&self.selected, code), || selected(&self.selected, code));
        observer.after(stage, || self.text(stage));
    }

    /// The text of its form after a stage.
    fn text(&self, stage: Stage) -> String {
        let code = &self.inputs.form.code;
        match stage {
            Stage::Allocate | Stage::Frame => {
                let head = format!("allocated {} lanes={} pieces={}", self.target().name, self.lanes, self.pieces());
                let frame =
                    if stage == Stage::Frame { format!(" frame_bytes={}", self.layout.size) } else { String::new() };
                let location = |vector: usize| {
                    Some(match self.locations.of.get(vector)? {
                        Location::Register(register) => format!("r{register}"),
                        Location::Row(row) => format!("row{row}"),
                        Location::Nowhere => "none".to_owned(),
                    })
                };
                allocated(&format!("{head}{frame}"), &self.selected, code, location)
            }
            Stage::Emit => super::text::code_text(&self.bytes),
            Stage::Strips => selected(&self.selected, code) + &super::text::strips_text(&self.strips.of),
            _ => selected(&self.selected, code),
        }
    }

    const fn target(&self) -> X86Target {
        self.inputs.variant.target
    }

    /// Registers of a vector.
    fn pieces(&self) -> u8 {
        self.target().pieces(self.lanes)
    }

    /// Instruction selection.
    pub fn select(&mut self) {
        let Inputs { form, start, variant, assumed, .. } = self.inputs;
        self.selected = SelectedCode::new(&form.code, start, variant.target.target, assumed);
        if !variant.counts {
            let counts = |ins: &Ins| matches!(ins, Ins::Tally { .. });
            self.selected.lists.iter_mut().for_each(|list| list.retain(|ins| !counts(ins)));
        }
    }

    /// Fuses instructions.
    pub fn fuse(&mut self) {
        let (target, SelectedCode { lists, vars, used, vectors, .. }) = (self.target(), &mut self.selected);
        self.iterations = if Pass::Fused.is_on() {
            let begin: Vec<Vector> = self.inputs.start.iter().filter_map(|var| vars[var.index()]).collect();
            fused::fuse(&target, &self.inputs.form.code, lists, (used.len(), *vectors, &begin))
        } else {
            vec![None; lists.len()]
        };
    }

    /// Groups instructions into strips.
    pub fn strips(&mut self) {
        self.strips = Runs::of(self.target().target, &mut self.selected.lists);
    }

    /// Finds live ranges, then allocates registers and spill slots.
    pub fn allocate(&mut self) {
        let (target, Inputs { form, exports, .. }) = (self.target(), self.inputs);
        let (code, SelectedCode { lists, used, in_rows, vectors, .. }) = (&form.code, &self.selected);
        self.ranges = ranges(code, lists, &form.live, used, exports, *vectors);
        let active =
            (!target.has_mask_registers()).then(|| emit::add_active(&mut self.ranges, code, lists, &self.iterations));
        self.active = active.flatten();
        let ordinary_vectors = self.ranges.vectors();
        self.constants = kept::add(&target, &mut self.ranges, code, lists);
        let ranges = &self.ranges;
        let mut wide = self.strips.wide(lists, used.len(), ranges.vectors());
        wide[ordinary_vectors..].fill(false);
        self.active.into_iter().for_each(|active| wide[active.index()] = true);
        let places = self.strips.places(lists);
        let locations = |sixteens: u8| {
            ranges.locations(&Pieces {
                wide: &wide,
                runs: &places,
                pieces: target.pieces(usize::from(sixteens) * LANES),
                registers: target.registers,
                kept: ordinary_vectors,
                variables_in_rows: *in_rows,
            })
        };
        let sixteens = (self.inputs.lanes / LANES) as u8;
        let (sixteens, locations) = if self.inputs.variant.narrows && self.unrolls() {
            (1, locations(1))
        } else if self.inputs.variant.narrows {
            narrow::narrow(&target, (code, lists), ranges, exports, sixteens, locations)
        } else {
            (sixteens, locations(sixteens))
        };
        self.lanes = usize::from(sixteens) * LANES;
        self.locations = locations;
        self.wide = wide;
    }

    /// Whether all parts of a wavefront of 16 lanes are unrolled.
    fn unrolls(&self) -> bool {
        let SelectedCode { lists, in_rows, .. } = &self.selected;
        self.target().unrolls && in_rows.is_none() && is_unrolled(&self.inputs.form.code, lists, &self.iterations)
    }

    /// Lays out the frame.
    pub fn frame(&mut self) {
        let (target, Inputs { start, exports, .. }) = (self.target(), self.inputs);
        let SelectedCode { vars, in_rows, fixed, plain, .. } = &self.selected;
        // An index counts rows of whole wavefronts; other rows are close together, as rows far apart would share few
        // lines of the cache.
        let spill_bytes = if in_rows.is_some() { ROW } else { 4 * self.lanes as i32 };
        let spills = (self.locations.rows, spill_bytes, self.locations.slots);
        let layout = Layout::new((&target, plain.len()), start.len(), exports.len(), spills);
        let row_of = |(&export, place): (&usize, i32)| {
            let vector = vars[Var::export(export / 4, export % 4).index()];
            match vector.map(|vector| self.locations.of[vector.index()]) {
                Some(Location::Row(row)) => layout.spills + layout.spill_bytes * row as i32,
                _ => layout.exports + ROW * place,
            }
        };
        let rows: Vec<i32> = exports.iter().zip(0..).map(row_of).collect();
        let row = |var: Var| exports.iter().position(|&export| Some(export) == var.export_index()).map(|at| rows[at]);
        self.fixed = fixed.iter().filter_map(|&(var, bits)| Some((row(var)?, bits))).collect();
        (self.layout, self.rows) = (layout, rows);
    }

    /// Emits machine code.
    pub fn emit(&mut self) {
        let Inputs { form: Form { code, live, .. }, start, exports, variant, .. } = self.inputs;
        let SelectedCode { lists, vars, used, calls, .. } = &self.selected;
        let live_in = used.iter().copied().filter(|&var| live.first().is_some_and(|live| live.contains(var)));
        // An element is undefined in lanes that do not write it.
        let mut read = VarSet::NONE;
        let gets = |op: &Op| if let Op::Get(var) = *op { Some(var) } else { None };
        code.blocks.iter().flat_map(|block| &block.ops).filter_map(gets).for_each(|var| read.insert(var));
        // Places are those of the live ranges; calls are numbered in this order.
        let mut calls_at = Vec::with_capacity(calls.len());
        let mut first = 1;
        for list in lists.iter().filter(|_| !calls.is_empty()) {
            let here = (first..).zip(list).filter(|(_, ins)| matches!(ins, Ins::Call(..)));
            calls_at.extend(here.map(|(place, _)| place));
            first += list.len() as u32 + 2;
        }
        let input = emit::Input {
            code,
            lists,
            vars,
            locations: &self.locations,
            target: variant.target,
            active: self.active,
            wide: &self.wide,
            kept: &self.constants,
            runs: &self.strips.of,
            iterations: &self.iterations,
            layout: self.layout,
            pieces: self.pieces(),
            start,
            live_in: live_in.filter(|&var| var.export_index().is_none() || read.contains(var)).collect(),
            exports,
            rows: &self.rows,
            counts: variant.counts,
            fuel: variant.fuel,
            live_during: &self.ranges.across(&calls_at),
            leaves: !calls.is_empty() || !code.yields.is_empty(),
            #[cfg(feature = "cranelift")]
            unrolls: self.unrolls(),
        };
        self.bytes = match variant.target.has_encoder() {
            true => emit::emit(&input),
            #[cfg(feature = "cranelift")]
            false => crate::codegen::cranelift::emit(&input),
            #[cfg(not(feature = "cranelift"))]
            false => Vec::new(),
        };
    }

    /// The code, ready to run.
    pub fn native(self) -> Option<Native> {
        if self.layout.size > FRAME_LIMIT || self.bytes.is_empty() {
            return None;
        }
        Native::new(Parts {
            bytes: &self.bytes,
            lanes: self.lanes,
            layout: self.layout,
            target: self.inputs.variant.target,
            selected: self.selected,
            code: &self.inputs.form.code,
            exports: self.inputs.exports.to_vec(),
            rows: self.rows,
            fixed: self.fixed,
        })
    }
}

#[cfg(all(test, unix, target_arch = "x86_64"))]
#[path = "../../tests/unit/compile/stages.rs"]
mod tests;
