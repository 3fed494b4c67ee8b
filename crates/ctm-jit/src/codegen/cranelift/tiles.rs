//! The tiles of streams: all vectors of a tile are values, and loops are loops of Cranelift. Slots and rows of the frame are those of `codegen/x86/stream`.

use super::builder::{Builder, data_flags, frame_flags};
use super::lines::{CurrentValues, VectorEmitter};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::stream::emit::{Emit, TileVector};
use crate::codegen::x86::stream::types::{
    Load, Location, ROW_STEP, Slot, TILE_STEP, Varies, at, bytes, iteration_step, slot_at, use_masks,
};
use crate::stream::affine::{Item, Linear, UNIT};
use crate::stream::prepare::WHOLE;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::types::{F32X4, I32, I32X4, I64};
use cranelift_codegen::ir::{AbiParam, BlockArg, Function, InstBuilder, Signature, UserFuncName, Value};
use cranelift_codegen::isa::CallConv;
use ctm_ir::masked::{End, Var};
use ctm_x86::{self as asm, Rm};
use std::ops::{Deref, DerefMut};

/// Elements at even places of two vectors, at odd ones, and their low and high halves.
const EVEN: u8 = 0x88;
const ODD: u8 = 0xdd;
const LOW: u8 = 0x44;
const HIGH: u8 = 0xee;

/// A function under construction.
struct TileEmitter<'a> {
    of: &'a Emit<'a>,
    build: Builder,
    frame: Value,
    constants: Value,
    /// The present value of each slot.
    slots: Vec<Value>,
    /// The place of each vector's first instance, and the count of all instances.
    first: Vec<usize>,
    state: CurrentValues,
    /// The vector of the tile that the present code is for.
    unit: TileVector,
    /// Operands in memory that the units of one instruction share.
    shared: Vec<(Vector, usize, Value)>,
}

/// The function of a kernel: from the frame to nothing; `None` where an instruction has no code.
pub fn function(of: &Emit<'_>) -> Option<Function> {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.push(AbiParam::new(I64));
    let mut func = Function::with_name_signature(UserFuncName::default(), signature);
    let entry = func.dfg.make_block();
    func.layout.append_block(entry);
    let frame = func.dfg.append_block_param(entry, I64);
    let constants = FuncCursor::new(&mut func).at_bottom(entry).ins().load(I64, frame_flags(), frame, at::CONSTANTS);
    let (mut first, mut count) = (Vec::new(), 0);
    for &varies in &of.of.varies {
        first.push(count);
        count += of.units(varies).count();
    }
    let mut emit = TileEmitter {
        of,
        build: Builder::new(func, entry),
        frame,
        constants,
        slots: Vec::new(),
        first,
        state: CurrentValues { vectors: vec![None; count], ..CurrentValues::default() },
        unit: TileVector { row: 0, column: 0 },
        shared: Vec::new(),
    };
    emit.kernel();
    emit.build.is_complete.then_some(emit.build.func)
}

/// The values that a loop carries from one iteration to the next.
struct Carried {
    slots: Vec<usize>,
    /// Places of instances.
    vectors: Vec<usize>,
    /// The offset of the step among a slot's numbers.
    step: i32,
}

impl TileEmitter<'_> {
    fn kernel(&mut self) {
        let of = self.of;
        let (frame, constants) = (self.frame, self.constants);
        for (&src, to) in &of.kept {
            let value = match src {
                Src::Const(index) => self.spread(constants, 4 * i32::from(index)),
                Src::Literal(bits) => self.literal(bits),
                _ => continue,
            };
            match *to {
                Rm::Row(_, row) => drop(self.ins().store(frame_flags(), value, frame, row)),
                _ => self.hoisted.push((src, value)),
            }
        }
        for slot in 0..of.slots.len() {
            let value = self.ins().load(I64, frame_flags(), frame, slot_at(slot));
            self.slots.push(value);
        }
        let [tiles, rows] = [at::TILES, at::ROWS_LEFT].map(|at| self.ins().uload32(frame_flags(), frame, at));
        let row_step = Carried { slots: self.moving(|of| of.i != 0 || of.j != 0), vectors: Vec::new(), step: ROW_STEP };
        let tile_step = Carried { slots: self.moving(|of| of.i != 0), vectors: Vec::new(), step: TILE_STEP };
        self.repeat(rows, &row_step, |e| {
            e.repeat(tiles, &tile_step, |e| {
                e.start_values();
                e.items(&of.of.items, 0);
            });
        });
        self.ins().return_(&[]);
    }

    /// The slots with a step at this place.
    fn moving(&self, moves: impl Fn(&Linear) -> bool) -> Vec<usize> {
        let slots = &self.of.slots;
        (0..slots.len()).filter(|&slot| moves(&slots[slot].x) || moves(&slots[slot].y)).collect()
    }

    /// A loop with at least one iteration.
    fn repeat(&mut self, count: Value, carried: &Carried, body: impl FnOnce(&mut Self)) {
        let Carried { slots, vectors, step } = carried;
        let [top, after] = [(); 2].map(|()| self.func.dfg.make_block());
        let given = self.carried(count, carried);
        self.ins().jump(top, &given);
        self.begin(top);
        let left = self.func.dfg.append_block_param(top, I64);
        for &slot in slots {
            self.slots[slot] = self.func.dfg.append_block_param(top, I64);
        }
        for &place in vectors {
            let value = self.func.dfg.append_block_param(top, I32X4);
            self.state.put(place, value);
        }
        body(self);
        let frame = self.frame;
        for &slot in slots {
            let (now, by) = (self.slots[slot], self.ins().load(I64, frame_flags(), frame, slot_at(slot) + step));
            self.slots[slot] = self.ins().iadd(now, by);
        }
        let left = self.ins().iadd_imm(left, -1);
        let given = self.carried(left, carried);
        self.ins().brif(left, top, &given, after, &[]);
        self.begin(after);
    }

    /// The arguments of a loop's block.
    fn carried(&mut self, count: Value, Carried { slots, vectors, .. }: &Carried) -> Vec<BlockArg> {
        let slots: Vec<Value> = slots.iter().map(|&slot| self.slots[slot]).collect();
        let vectors: Vec<Value> = vectors.iter().map(|&place| self.value_at(place)).collect();
        [count].into_iter().chain(slots).chain(vectors).map(BlockArg::Value).collect()
    }

    fn value_at(&mut self, place: usize) -> Value {
        match self.state.vectors[place] {
            Some(value) => value,
            None => self.literal(0),
        }
    }

    fn items(&mut self, items: &[Item], depth: usize) {
        for item in items {
            match item {
                Item::Block(index) => self.block(*index),
                Item::Loop { iterations, body } => {
                    let moves = |of: &Linear| of.iterations[depth] != 0;
                    let (mut read, mut written) = (Vec::new(), Vec::new());
                    self.reads_first(body, &mut read, &mut written);
                    read.retain(|vector| written.contains(vector));
                    let of = self.of;
                    let instances = |vector: &Vector| of.units(of.of.varies[vector.index()]).count();
                    let places = read.iter().map(|vector| (self.first[vector.index()], instances(vector)));
                    let vectors = places.flat_map(|(first, count)| first..first + count).collect();
                    let carried = Carried { slots: self.moving(moves), vectors, step: iteration_step(depth) };
                    let before = self.slots.clone();
                    let count = self.number((*iterations).into());
                    self.repeat(count, &carried, |e| e.items(body, depth + 1));
                    // After a loop slots are as before it.
                    self.slots = before;
                }
            }
        }
    }

    /// The variables that items read before they write them, and those that they write.
    fn reads_first(&self, items: &[Item], read: &mut Vec<Vector>, written: &mut Vec<Vector>) {
        let variables = self.of.of.selected.used.len();
        for item in items {
            let block = match item {
                Item::Loop { body, .. } => {
                    self.reads_first(body, read, written);
                    continue;
                }
                Item::Block(block) => *block,
            };
            for group in &self.of.of.lines[block] {
                let mut is_optional = false;
                for lir in group {
                    let mut reads = |vector: Vector| {
                        if vector.index() < variables && !written.contains(&vector) && !read.contains(&vector) {
                            read.push(vector);
                        }
                    };
                    lir.each_read(&mut reads);
                    is_optional |= matches!(lir, Lir::StopIfNone(_));
                    let Some((dst, _)) = lir.touches().0.filter(|(dst, _)| dst.index() < variables) else { continue };
                    if is_optional {
                        reads(dst);
                    }
                    if !written.contains(&dst) {
                        written.push(dst);
                    }
                }
            }
        }
    }

    fn block(&mut self, index: usize) {
        let of = self.of.of;
        let lines = &of.lines[index];
        let mut place = 0;
        while let Some(group) = lines.get(place) {
            place += 1;
            let [Lir::Copy(dst, Src::Row(load))] = group[..] else {
                self.lines_of(group);
                continue;
            };
            // The adjacent loads of one fetch.
            let mut together = vec![(dst, of.loads[load as usize])];
            while let Some([Lir::Copy(dst, Src::Row(load))]) = lines.get(place).map(|group| &group[..])
                && of.loads[*load as usize].number == together[0].1.number
            {
                together.push((*dst, of.loads[*load as usize]));
                place += 1;
            }
            self.loads(&together);
        }
        if of.prepared.code.blocks[index].end == End::Stop {
            self.outputs();
        }
    }

    /// Instructions that stay together, for each unit that they concern.
    fn lines_of(&mut self, group: &[Lir]) {
        let varies = &self.of.of.varies;
        if use_masks(group) {
            let mut all = Varies::default();
            group.iter().for_each(|lir| lir.each_vector(|vector| all = all.with(varies[vector.index()])));
            for unit in self.of.units(all) {
                (self.unit, self.state.masks) = (unit, [None; 4]);
                self.shared.clear();
                self.group(group, true);
            }
            return;
        }
        for lir in group {
            self.shared.clear();
            let varies = lir.touches().0.map_or(Varies::default(), |(dst, _)| varies[dst.index()]);
            for unit in self.of.units(varies) {
                self.unit = unit;
                self.line(lir);
            }
        }
    }

    fn relative_constant(&mut self, number: u16, dword: u16) -> Value {
        let address = self.slot_of(self.of.of.relative_constants(number));
        self.spread(address, 4 * i32::from(dword))
    }

    /// The value of a slot.
    fn slot_of(&mut self, slot: Slot) -> Value {
        match self.of.slots.iter().position(|of| *of == slot) {
            Some(number) => self.slots[number],
            None => {
                debug_assert!(false, "{slot:?} is no slot");
                self.is_complete = false;
                self.number(0)
            }
        }
    }

    /// The address of a load's element for the present unit.
    fn element(&mut self, load: &Load) -> (Value, i32) {
        let size = bytes(self.of.of.geometry.input(&load.fetch));
        let first = load.fetch.x.c as i32 * size;
        let address = self.slot_of(Emit::input_slot(load, self.unit));
        if load.fetch.is_uniform() {
            return (address, first + 4 * i32::from(load.channel & 3));
        }
        (address, first + i32::from(self.unit.column) * self.of.of.columns() as i32 * size)
    }

    /// A load of one channel, or of whole elements.
    fn load(&mut self, load: &Load) -> Value {
        let (address, offset) = self.element(load);
        match load.fetch.is_uniform() && load.channel != WHOLE {
            true => self.spread(address, offset),
            false => self.ins().load(I32X4, data_flags(), address, offset),
        }
    }

    /// Loads channels of one fetch.
    fn loads(&mut self, together: &[(Vector, Load)]) {
        let of = self.of;
        let wanted: Vec<(Vector, Load)> = together.iter().filter(|(dst, _)| !of.is_in_place(*dst)).copied().collect();
        let Some((_, first)) = wanted.first().copied() else { return };
        let varies = wanted.iter().fold(Varies::default(), |all, (dst, _)| all.with(of.of.varies[dst.index()]));
        for unit in of.units(varies) {
            self.unit = unit;
            let channels = of.of.geometry.input(&first.fetch);
            if first.fetch.is_uniform() || of.packed() || channels == 1 {
                for (dst, load) in &wanted {
                    let value = self.load(load);
                    self.set(*dst, value);
                }
                continue;
            }
            let (address, offset) = self.element(&Load { channel: 0, ..first });
            let rows: Vec<Value> = (0..i32::from(channels))
                .map(|row| self.ins().load(I32X4, data_flags(), address, offset + 16 * row))
                .collect();
            let mut pairs = [None; 2];
            for (dst, load) in &wanted {
                let value = self.column(&rows, load.channel, &mut pairs);
                self.set(*dst, value);
            }
        }
    }

    /// A channel of each of the elements side by side; `pairs`: vectors of which the channels 0 and 1, and 2 and 3, are made.
    fn column(&mut self, rows: &[Value], channel: u8, pairs: &mut [Option<[Value; 2]>; 2]) -> Value {
        match *rows {
            [a, b] => self.two_imm(asm::SHUFFLE, a, b, if channel == 0 { EVEN } else { ODD }),
            [a, b, c, d] => {
                let op = if channel < 2 { asm::UNPACK_LOW } else { asm::UNPACK_HIGH };
                let pair = &mut pairs[usize::from(channel >= 2)];
                let [low, high] = *pair.get_or_insert_with(|| [[a, b], [c, d]].map(|[a, b]| self.two(op, a, b)));
                self.two_imm(asm::SHUFFLE, low, high, if channel.is_multiple_of(2) { LOW } else { HIGH })
            }
            _ => self.literal(0),
        }
    }

    /// The values of variables at the beginning of a tile.
    fn start_values(&mut self) {
        let of = self.of.of;
        for &var in &of.live_in {
            let Some(vector) = of.selected.vars[var.index()] else { continue };
            let start = of.starts.iter().find(|(start, _)| *start == var);
            for unit in self.of.units(of.varies[vector.index()]) {
                self.unit = unit;
                let value = match start {
                    Some(&(_, value)) => self.start(value),
                    None => self.literal(0),
                };
                self.set(vector, value);
            }
        }
    }

    /// A start value, in units of 1/256.
    fn start(&mut self, value: Linear) -> Value {
        let number = self.slot_of(Emit::coordinate_slot(value, self.unit));
        let number = self.ins().ireduce(I32, number);
        let mut made = self.ins().splat(I32X4, number);
        if value.i != 0 {
            let (frame, row) = (self.frame, self.of.layout.lanes + 64 * i32::from(self.unit.column));
            let mut lanes = self.ins().load(I32X4, frame_flags(), frame, row);
            if value.i != 1 {
                let step = self.literal(value.i as i32 as u32);
                lanes = self.ins().imul(lanes, step);
            }
            made = self.ins().iadd(made, lanes);
        }
        let made = self.ins().fcvt_from_sint(F32X4, made);
        let unit = self.literal((1.0 / UNIT as f32).to_bits());
        let unit = self.floats(unit);
        self.ins().fmul(made, unit)
    }

    /// Writes the outputs of a tile.
    fn outputs(&mut self) {
        let of = self.of.of;
        for target in (0..ctm_isa::x1k::OUTPUTS).filter(|&target| of.geometry.outputs[target] > 0) {
            for unit in self.of.units(Varies::ALL) {
                self.unit = unit;
                self.shared.clear();
                self.output(target);
            }
        }
    }

    fn output(&mut self, target: usize) {
        let of = self.of.of;
        let channels = if self.of.packed() { 1 } else { usize::from(of.geometry.outputs[target]) };
        let written = |channel: usize| of.selected.vars[Var::export(target, channel).index()];
        let values: Vec<Value> =
            (0..channels).map(|channel| self.operand(written(channel).map_or(Src::Literal(0), Src::Vector))).collect();
        let rows = match values[..] {
            [a, b] => [asm::UNPACK_LOW, asm::UNPACK_HIGH].map(|op| self.two(op, a, b)).to_vec(),
            [r, g, b, a] => {
                let mut rows = Vec::with_capacity(4);
                for op in [asm::UNPACK_LOW, asm::UNPACK_HIGH] {
                    let (one, other) = (self.two(op, r, g), self.two(op, b, a));
                    rows.extend([LOW, HIGH].map(|half| self.two_imm(asm::SHUFFLE, one, other, half)));
                }
                rows
            }
            _ => values,
        };
        let address = self.slot_of(Emit::output_slot(target, self.unit.row));
        let first = 16 * rows.len() as i32 * i32::from(self.unit.column);
        for (value, row) in rows.into_iter().zip(0..) {
            let value = self.bits(value);
            self.ins().store(data_flags(), value, address, first + 16 * row);
        }
    }
}

impl Deref for TileEmitter<'_> {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.build
    }
}

impl DerefMut for TileEmitter<'_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.build
    }
}

impl VectorEmitter for TileEmitter<'_> {
    fn state(&mut self) -> &mut CurrentValues {
        &mut self.state
    }

    fn place(&self, vector: Vector) -> usize {
        self.first[vector.index()] + self.of.instance(vector, self.unit)
    }

    fn vector(&mut self, vector: Vector) -> Value {
        if !self.of.is_in_place(vector) {
            let place = self.place(vector);
            let value = self.value_at(place);
            if self.state.vectors[place].is_none() {
                self.state.put(place, value);
            }
            return value;
        }
        let instance = self.of.instance(vector, self.unit);
        if let Some(&(_, _, value)) = self.shared.iter().find(|&&(of, n, _)| (of, n) == (vector, instance)) {
            return value;
        }
        let value = match self.of.location(vector, self.unit) {
            Location::Load(load) => self.load(&self.of.of.loads[usize::from(load)]),
            Location::Constant(number, dword) => self.relative_constant(number, dword),
            _ => self.literal(0),
        };
        if self.state.changed.is_none() {
            self.shared.push((vector, instance, value));
        }
        value
    }

    fn has_value(&self, vector: Vector) -> bool {
        !self.of.is_in_place(vector)
    }

    fn set(&mut self, vector: Vector, value: Value) {
        let (place, value) = (self.place(vector), self.bits(value));
        self.state.put(place, value);
    }

    fn operand(&mut self, src: Src) -> Value {
        match src {
            Src::Vector(vector) => self.vector(vector),
            Src::Literal(bits) => self.literal(bits),
            Src::Const(index) => {
                let (frame, constants) = (self.frame, self.constants);
                match (self.hoisted(src), self.of.kept.get(&src)) {
                    (Some(value), _) => value,
                    (None, Some(&Rm::Row(_, row))) => self.ins().load(I32X4, frame_flags(), frame, row),
                    _ => self.spread(constants, 4 * i32::from(index)),
                }
            }
            Src::Row(_) | Src::Each(_) => {
                debug_assert!(false, "{src:?} is in no stream");
                self.is_complete = false;
                self.literal(0)
            }
        }
    }

    fn set_relative_constant(&mut self, dst: Vector, number: u16, dword: u16) {
        if !self.of.is_in_place(dst) {
            let value = self.relative_constant(number, dword);
            self.set(dst, value);
        }
    }

    fn store_row(&mut self, _: i32, _: Value) {
        debug_assert!(false, "streams have no rows");
        self.is_complete = false;
    }
}
