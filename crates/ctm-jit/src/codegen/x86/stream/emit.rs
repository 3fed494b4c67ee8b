//! From vector instructions to the code of a tile.

use super::types::{
    Chosen, FrameLayout, ITERATIONS, KernelOptions, Location, ROW_STEP, Slot, TILE_STEP, Varies, at, iteration_step,
    slot_at, table, use_masks,
};
use crate::codegen::target::SCRATCH;
use crate::codegen::x86::allocate::SingleAllocation;
use crate::codegen::x86::kept;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::vectors::Vectors;
use crate::passes::table::Pass;
use crate::stream::affine::{Item, Linear, UNIT};
use ctm_ir::masked::End;
use ctm_x86::{Asm, CVT_I32_F32, Cond, Gpr, Int, MUL, RAX, RBP, RBX, RDI, Rm};
use rustc_hash::FxHashMap as Map;

/// Code under construction.
pub(in crate::codegen) struct Emit<'a> {
    pub of: &'a Chosen,
    pub options: KernelOptions,
    /// The location of each vector's instances.
    pub locations: Vec<Vec<Location>>,
    pub asm: Asm,
    pub slots: Vec<Slot>,
    /// The registers of slots.
    pub resident: Vec<Option<Gpr>>,
    /// Literals and constants that have a register or a row of the frame.
    pub kept: Map<Src, Rm>,
    /// Whether units may leave operands to later ones, and the instance left in the scratch register for operands.
    pub shares: bool,
    pub shared: Option<(Src, usize)>,
    pub layout: FrameLayout,
    pub transposed: bool,
    /// Vectors have the third scratch register, too; no result lives in a row of the frame.
    pub lean: bool,
}

/// One vector of a tile.
#[derive(Clone, Copy, Debug)]
pub(in crate::codegen) struct TileVector {
    pub row: u8,
    pub column: u8,
}

impl<'a> Emit<'a> {
    /// No code.
    pub fn new(of: &'a Chosen, options: KernelOptions) -> Self {
        Self {
            of,
            options,
            locations: Vec::new(),
            asm: Asm::new(of.target.isa),
            slots: Vec::new(),
            resident: Vec::new(),
            kept: Map::default(),
            shares: false,
            shared: None,
            layout: FrameLayout::default(),
            transposed: of.transposed(),
            lean: false,
        }
    }
}

impl Emit<'_> {
    pub fn packed(&self) -> bool {
        self.of.prepared.packed
    }

    /// The units for which an operation with this dependence has to be repeated.
    pub fn units(&self, varies: Varies) -> impl Iterator<Item = TileVector> + use<> {
        let rows = if varies.rows { self.options.tile.rows } else { 1 };
        let columns = if varies.columns { self.options.tile.vectors } else { 1 };
        (0..rows).flat_map(move |row| (0..columns).map(move |column| TileVector { row, column }))
    }

    pub fn instance(&self, vector: Vector, unit: TileVector) -> usize {
        let varies = self.of.varies[vector.index()];
        let columns = if varies.columns { usize::from(self.options.tile.vectors) } else { 1 };
        let row = if varies.rows { usize::from(unit.row) } else { 0 };
        row * columns + if varies.columns { usize::from(unit.column) } else { 0 }
    }

    /// Whether a load is a memory operand of its use.
    pub fn is_in_place(&self, vector: Vector) -> bool {
        matches!(self.locations[vector.index()].first(), Some(Location::Load(_)))
    }

    pub fn location(&self, vector: Vector, unit: TileVector) -> Location {
        self.locations[vector.index()][self.instance(vector, unit)]
    }

    /// Assigns locations to all values; vectors, literals and constants have `count` registers together.
    pub fn lay_out(&mut self, registers: &SingleAllocation, count: u8) {
        let of = self.of;
        self.lean = count > of.target.tile_registers - SCRATCH;
        let mut next = (slot_at(self.slots.len()) + 63) & !63;
        let mut take = |rows: usize| {
            let at = next;
            next += 64 * rows as i32;
            at
        };
        self.layout.tables = take(table::ROWS);
        self.layout.masks = take(2);
        self.layout.lanes = take(usize::from(self.options.tile.vectors));
        self.layout.spills = take(0);
        for vector in 0..of.selected.vectors {
            let given = registers.of(vector);
            let instances = self.units(of.varies[vector]).enumerate();
            let locations = instances.map(|(instance, _)| match given.get(instance) {
                Some(Some(register)) => Location::Register(of.isa_register(*register)),
                Some(None) => Location::Row(take(1)),
                None => Location::Nowhere,
            });
            self.locations.push(locations.collect());
        }
        for (vector, location) in of.in_place(self.options.tile) {
            self.locations[vector.index()].fill(location);
        }
        self.choose_literals(count, || take(1));
        self.layout.size = take(0);
    }

    fn group(&mut self, lir: &[Lir]) {
        self.shares = false;
        if use_masks(lir) {
            let mut varies = Varies::default();
            lir.iter().for_each(|lir| lir.each_vector(|vector| varies = varies.with(self.of.varies[vector.index()])));
            for unit in self.units(varies) {
                let end = self.asm.label();
                lir.iter().for_each(|lir| self.line(lir, unit, end));
                self.asm.place(end);
            }
        } else {
            let end = self.asm.label();
            self.asm.place(end);
            for lir in lir {
                let varies = lir.touches().0.map_or(Varies::default(), |(dst, _)| self.of.varies[dst.index()]);
                // These put only operands into the scratch register for operands.
                self.shares = matches!(lir, Lir::Two { .. } | Lir::Fma { .. });
                self.shared = None;
                for unit in self.units(varies) {
                    self.line(lir, unit, end);
                }
            }
        }
    }

    fn block(&mut self, index: usize) {
        let of = self.of;
        let lines = &of.lines[index];
        self.ask_ahead(index);
        let mut place = 0;
        while let Some(group) = lines.get(place) {
            if let [Lir::Copy(_, Src::Row(load))] = group[..] {
                // The adjacent loads of one fetch.
                let number = of.loads[load as usize].number;
                let mut together = Vec::new();
                while let Some(group) = lines.get(place)
                    && let [Lir::Copy(dst, Src::Row(load))] = group[..]
                    && of.loads[load as usize].number == number
                {
                    together.push((dst, of.loads[load as usize]));
                    place += 1;
                }
                self.loads(&together);
            } else {
                self.group(group);
                place += 1;
            }
        }
        if of.prepared.code.blocks[index].end == End::Stop {
            self.outputs();
        }
    }

    fn items(&mut self, items: &[Item], depth: usize) {
        for item in items {
            match item {
                Item::Block(index) => self.block(*index),
                Item::Loop { iterations, body } => self.repeat(*iterations, body, depth),
            }
        }
    }

    fn repeat(&mut self, iterations: u16, body: &[Item], depth: usize) {
        self.asm.int_imm(ITERATIONS[depth], iterations.into());
        let again = self.asm.label();
        self.asm.place(again);
        self.items(body, depth + 1);
        let moves = move |of: &Linear| of.iterations[depth] != 0;
        self.step(moves, iteration_step(depth));
        self.asm.int_op_imm(Int::Sub, ITERATIONS[depth], 1);
        self.asm.jump_if(Cond::NotEqual, again);
        self.step_back(moves, iteration_step(depth), iterations);
    }

    /// Gives free registers to the literals and constants with the most uses; on AVX2 the remaining constants get rows.
    fn choose_literals(&mut self, count: u8, mut row: impl FnMut() -> i32) {
        let is_used = |register: u8| self.locations.iter().flatten().any(|of| *of == Location::Register(register));
        let free: Vec<u8> = (0..count).map(|r| self.of.isa_register(r)).filter(|&r| !is_used(r)).collect();
        let blocks = self.of.prepared.code.blocks.iter().zip(&self.of.lines);
        let blocks = blocks.map(|(block, lines)| (block.loops, lines.iter().flatten().flat_map(kept::sources)));
        let uses = if Pass::Kept.is_on() { kept::uses(blocks) } else { Vec::new() };
        let (with, without) = uses.split_at(free.len().min(uses.len()));
        self.kept = with.iter().zip(free).map(|(&(src, _), register)| (src, Rm::Reg(register))).collect();
        if !self.of.target.has.broadcast_operands {
            let constants = without.iter().filter(|(src, _)| matches!(src, Src::Const(_)));
            self.kept.extend(constants.map(|&(src, _)| (src, Rm::Row(RBX, row()))));
        }
    }

    /// Loads the pinned literals and constants.
    fn load_kept(&mut self) {
        let unit = TileVector { row: 0, column: 0 };
        // They have to be loaded from their old location before the new one is recorded.
        let kept = std::mem::take(&mut self.kept);
        for (&src, &to) in &kept {
            if let Rm::Reg(register) = to {
                self.load_into(register, src, unit);
            } else {
                let scratch = self.of.target.scratch();
                self.load_into(scratch, src, unit);
                Vectors::store(self, scratch, to);
            }
        }
        self.kept = kept;
    }

    pub fn everything(&mut self) {
        self.asm.enter();
        self.asm.wide(Int::Mov, RBX, RDI);
        self.asm.int_load(Int::Mov, true, RBP, RBX, at::CONSTANTS);
        self.load_kept();
        for number in 0..self.slots.len() {
            if let Some(register) = self.resident[number] {
                self.asm.int_load(Int::Mov, true, register, RBX, slot_at(number));
            }
        }
        let (next_row, next_tile) = (self.asm.label(), self.asm.label());
        self.asm.place(next_row);
        self.asm.int_load(Int::Mov, false, RAX, RBX, at::TILES);
        self.asm.int_store(Int::Mov, false, RBX, at::TILES_LEFT, RAX);
        self.asm.place(next_tile);
        self.begin();
        let of = self.of;
        self.items(&of.items, 0);
        self.step(|of| of.i != 0, TILE_STEP);
        self.asm.int_store_imm(Int::Sub, false, RBX, at::TILES_LEFT, 1);
        self.asm.jump_if(Cond::NotEqual, next_tile);
        self.step(|of| of.i != 0 || of.j != 0, ROW_STEP);
        self.asm.int_store_imm(Int::Sub, false, RBX, at::ROWS_LEFT, 1);
        self.asm.jump_if(Cond::NotEqual, next_row);
        self.asm.leave();
    }

    /// The values of variables at the beginning of a tile.
    fn begin(&mut self) {
        let of = self.of;
        for &var in &of.live_in {
            let Some(vector) = of.selected.vars[var.index()] else { continue };
            let start = of.starts.iter().find(|(start, _)| *start == var);
            for unit in self.units(of.varies[vector.index()]) {
                self.make(vector, unit, |e, register| match start {
                    Some(&(_, value)) => e.start(register, value, unit),
                    None => e.load_rm(register, Rm::Literal(0), 0),
                });
            }
        }
    }

    /// A start value, in units of 1/256.
    fn start(&mut self, register: u8, value: Linear, unit: TileVector) {
        self.coordinate(register, value, unit, self.of.target.operand_scratch());
        self.asm.vector(CVT_I32_F32, register, 0, Rm::Reg(register));
        self.asm.vector(MUL, register, register, Rm::Literal((1.0 / UNIT as f32).to_bits()));
    }
}
