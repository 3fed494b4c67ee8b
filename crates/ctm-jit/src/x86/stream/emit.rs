//! From vector instructions to the code of a tile.

use super::super::encode::{
    ADD, ADD_I32, AND, Asm, BLEND_MASK, BROADCAST, CLASS, Cond, FMADD132, FMADD213, FMADD231, FMSUB132, FMSUB213,
    FMSUB231, FNMADD132, FNMADD213, FNMADD231, FNMSUB132, FNMSUB213, FNMSUB231, Gpr, Int, Label, MOVAPS, MOVUPS_LOAD,
    MOVUPS_STORE, MUL, OR, RAX, RBP, RBX, RCX, RDI, RDX, RSI, Rm, SHIFT_IMM, V, XOR,
};
use super::super::isa::Isa;
use super::super::lir::{Group, K, Lines, Lir, Negated, Src, Vector};
use super::{
    Chosen, Home, Kind, Layout, Load, Options, REGISTERS, ROW_STEP, Slot, TILE_STEP, Tile, Varies, Way, at, slot_at,
    turn_step,
};
use crate::form::End;
use crate::lanes::ENTRY;
use crate::stream::affine::{Fetch, Item, LOOPS, Linear, depth};

/// General registers for turns and slots, the most useful last.
const GENERAL: [Gpr; 12] = [RDI, RSI, RDX, RCX, 8, 9, 10, 11, 12, 13, 14, 15];

/// Code under construction.
pub(super) struct Emit<'a, 'b> {
    pub of: &'b Chosen<'a>,
    pub options: Options,
    pub varies: Vec<Varies>,
    /// Of each vector's instances.
    homes: Vec<Vec<Home>>,
    pub asm: Asm,
    pub slots: Vec<Slot>,
    /// The registers of slots.
    resident: Vec<Option<Gpr>>,
    /// The registers of loop turns.
    turns: [Option<Gpr>; LOOPS],
    /// Literals and constants that have registers.
    literals: Vec<(Src, u8)>,
    pub layout: Layout,
    pub transposed: bool,
    /// The block whose instructions are looked at.
    current: usize,
}

/// One vector of a tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub row: u8,
    pub column: u8,
}

impl<'a, 'b> Emit<'a, 'b> {
    /// Nothing yet.
    pub fn new(of: &'b Chosen<'a>, options: Options, varies: Vec<Varies>) -> Self {
        Self {
            of,
            options,
            varies,
            homes: vec![Vec::new(); of.vectors],
            asm: Asm::new(Isa::Avx512),
            slots: Vec::new(),
            resident: Vec::new(),
            turns: [None; LOOPS],
            literals: Vec::new(),
            layout: Layout::default(),
            transposed: of.transposed(),
            current: 0,
        }
    }
}

impl Emit<'_, '_> {
    pub fn packed(&self) -> bool {
        self.of.prepared.packed
    }

    /// The units for which something that varies so has to be done.
    pub fn units(&self, varies: Varies) -> Vec<Unit> {
        let rows = if varies.rows { self.options.tile.rows } else { 1 };
        let columns = if varies.columns { self.options.tile.vectors } else { 1 };
        (0..rows).flat_map(|row| (0..columns).map(move |column| Unit { row, column })).collect()
    }

    fn instance(&self, vector: Vector, unit: Unit) -> usize {
        let varies = self.varies[vector.index()];
        let columns = if varies.columns { usize::from(self.options.tile.vectors) } else { 1 };
        let row = if varies.rows { usize::from(unit.row) } else { 0 };
        row * columns + if varies.columns { usize::from(unit.column) } else { 0 }
    }

    /// Whether a load is read where it lies.
    pub fn is_in_place(&self, vector: Vector) -> bool {
        matches!(self.homes[vector.index()].first(), Some(Home::Load(_)))
    }

    fn home(&self, vector: Vector, unit: Unit) -> Home {
        self.homes[vector.index()].get(self.instance(vector, unit)).copied().unwrap_or(Home::Nowhere)
    }

    // --- slots ---

    pub fn slot(&mut self, slot: Slot) -> usize {
        self.slots.iter().position(|s| *s == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.slots.len() - 1
        })
    }

    pub fn input_slot(load: &Load, unit: Unit) -> Slot {
        let Fetch { input, x, y, .. } = load.fetch;
        let row = if x.j != 0 || y.j != 0 { unit.row } else { 0 };
        Slot { kind: Kind::Input { input, x: Linear { c: 0, ..x }, y }, row }
    }

    pub fn coordinate_slot(of: Linear, unit: Unit) -> Slot {
        Slot { kind: Kind::Coordinate(of), row: if of.j != 0 { unit.row } else { 0 } }
    }

    /// Names all slots, and gives registers to those that are used most.
    pub fn collect_slots(&mut self) {
        let mut weights: Vec<(usize, u64)> = Vec::new();
        let mut note = |slot: usize, weight: u64| match weights.iter_mut().find(|(s, _)| *s == slot) {
            Some((_, all)) => *all += weight,
            None => weights.push((slot, weight)),
        };
        let of = self.of;
        for (number, (block, lines)) in of.prepared.code.blocks.iter().zip(&of.lines).enumerate() {
            let weight = 1u64 << (3 * block.frames.frames.len());
            for lir in &lines.lir {
                match *lir {
                    Lir::Copy(_, Src::Row(load)) => {
                        let load = of.loads[load as usize];
                        let gathers = of.way(&load, self.options.careful) == Way::Gather;
                        for unit in self.units(Varies { rows: true, columns: false }) {
                            if gathers {
                                self.slot(Self::coordinate_slot(load.fetch.x, unit));
                                self.slot(Self::coordinate_slot(load.fetch.y, unit));
                            } else {
                                let slot = self.slot(Self::input_slot(&load, unit));
                                note(slot, weight);
                            }
                        }
                    }
                    Lir::ConstRelative { frame: Some(frame), .. } => {
                        let slot = self.slot(Slot { kind: of.constants(number, frame), row: 0 });
                        note(slot, weight);
                    }
                    _ => {}
                }
            }
        }
        for (target, &channels) in of.geometry.outputs.iter().enumerate() {
            if channels > 0 {
                for row in 0..self.options.tile.rows {
                    let slot = self.slot(Slot { kind: Kind::Output(target as u8), row });
                    note(slot, 1);
                }
            }
        }
        let mut free = GENERAL.to_vec();
        if self.slots.iter().any(|slot| matches!(slot.kind, Kind::Coordinate(_))) {
            // Gathers need a base.
            free.retain(|&r| r != RDI);
        }
        // The innermost loops first.
        for turns in self.turns.iter_mut().take(depth(of.items)).rev() {
            *turns = free.pop();
        }
        weights.sort_by_key(|&(_, weight)| std::cmp::Reverse(weight));
        self.resident = vec![None; self.slots.len()];
        for (slot, _) in weights {
            self.resident[slot] = free.pop();
        }
    }

    /// The register that holds a slot: its own, or rax, loaded now.
    pub fn pointer(&mut self, slot: Slot) -> Gpr {
        let number = self.slot(slot);
        match self.resident.get(number).copied().flatten() {
            Some(register) => register,
            None => {
                self.asm.int_load(Int::Mov, true, RAX, RBX, slot_at(number));
                RAX
            }
        }
    }

    /// Adds the step at `offset` of every slot that has one.
    fn step(&mut self, moves: impl Fn(&Slot) -> bool, offset: i32) {
        for number in 0..self.slots.len() {
            if !moves(&self.slots[number]) {
                continue;
            }
            let at = slot_at(number);
            match self.resident[number] {
                Some(register) => self.asm.int_load(Int::Add, true, register, RBX, at + offset),
                None => {
                    self.asm.int_load(Int::Mov, true, RAX, RBX, at + offset);
                    self.asm.int_store(Int::Add, true, RBX, at, RAX);
                }
            }
        }
    }

    /// Takes back all the steps that a loop has made.
    fn step_back(&mut self, moves: impl Fn(&Slot) -> bool, offset: i32, turns: u8) {
        for number in 0..self.slots.len() {
            if !moves(&self.slots[number]) {
                continue;
            }
            let at = slot_at(number);
            self.asm.multiply_wide(RAX, RBX, at + offset, turns.into());
            match self.resident[number] {
                Some(register) => self.asm.subtract_wide(register, RAX),
                None => self.asm.int_store(Int::Sub, true, RBX, at, RAX),
            }
        }
    }

    // --- homes ---

    pub fn lay_out(&mut self, registers: &[Vec<Option<u8>>]) {
        let of = self.of;
        let units = usize::from(self.options.tile.rows) * usize::from(self.options.tile.vectors);
        let mut next = (slot_at(self.slots.len()) + 63) & !63;
        let mut take = |rows: usize| {
            let at = next;
            next += 64 * rows as i32;
            at
        };
        self.layout.tables = take(8);
        self.layout.lanes = take(usize::from(self.options.tile.vectors));
        self.layout.starts = take(3 * units * of.starts.len());
        self.layout.spills = take(0);
        let in_place = of.in_place(&self.varies, self.options.tile, self.options.careful);
        for (vector, given) in registers.iter().enumerate() {
            let varies = self.varies[vector];
            let count = self.units(varies).len();
            let mut homes = vec![Home::Nowhere; count];
            for (instance, home) in homes.iter_mut().enumerate() {
                *home = match given.get(instance) {
                    Some(Some(register)) => Home::Register(*register),
                    Some(None) => Home::Row(take(1)),
                    None => Home::Nowhere,
                };
            }
            self.homes[vector] = homes;
        }
        for (number, lines) in of.lines.iter().enumerate() {
            self.current = number;
            for lir in &lines.lir {
                let Some((dst, _)) = lir.writes() else { continue };
                if !in_place.iter().any(|(vector, _)| *vector == dst) {
                    continue;
                }
                let home = match *lir {
                    Lir::Copy(_, Src::Row(load)) => Home::Load(load as u16),
                    Lir::ConstRelative { frame, base, channel, .. } => self.constant_home(frame, base, channel),
                    _ => continue,
                };
                self.homes[dst.index()].fill(home);
            }
        }
        self.layout.size = take(0);
    }

    fn constant_home(&mut self, frame: Option<u8>, base: u8, channel: u8) -> Home {
        let offset = 16 * i32::from(base) + 4 * i32::from(channel);
        let kind = frame.map(|frame| self.of.constants(self.current, frame));
        let slot = kind.map_or(usize::MAX, |kind| self.slot(Slot { kind, row: 0 }));
        Home::Constant { slot, offset }
    }

    // --- operands ---

    /// An operand as instructions take it last. May load rax.
    pub fn rm(&mut self, src: Src, unit: Unit) -> Rm {
        if let Some(&(_, register)) = self.literals.iter().find(|(s, _)| *s == src) {
            return Rm::Reg(register);
        }
        match src {
            Src::Vector(vector) => match self.home(vector, unit) {
                Home::Register(register) => Rm::Reg(register),
                Home::Row(at) => Rm::Row(RBX, at),
                Home::Load(load) => {
                    let load = self.of.loads[usize::from(load)];
                    self.load_operand(&load, unit)
                }
                Home::Constant { slot, offset } => self.constant_operand(slot, offset),
                Home::Nowhere => Rm::Literal(0),
            },
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(_) => Rm::Literal(0),
        }
    }

    fn constant_operand(&mut self, slot: usize, offset: i32) -> Rm {
        if slot == usize::MAX {
            return Rm::Each(RBP, offset);
        }
        let register = self.pointer(self.slots[slot]);
        Rm::Each(register, offset)
    }

    /// Where the element of a load that is no gather lies.
    pub fn load_operand(&mut self, load: &Load, unit: Unit) -> Rm {
        let channels = self.of.geometry.inputs[usize::from(load.fetch.input)];
        let size = 4 * i32::from(channels);
        let register = self.pointer(Self::input_slot(load, unit));
        let mut offset = load.fetch.x.c as i32 * size;
        if self.of.way(load, self.options.careful) == Way::Uniform {
            return Rm::Each(register, offset + 4 * i32::from(load.channel & 3));
        }
        offset += i32::from(unit.column) * if self.packed() { 4 } else { 16 } * size;
        Rm::Row(register, offset)
    }

    fn load_into(&mut self, register: u8, src: Src, unit: Unit, k: K) {
        let rm = self.rm(src, unit);
        self.load_rm(register, rm, k);
    }

    pub fn load_rm(&mut self, register: u8, rm: Rm, k: K) {
        match rm {
            Rm::Reg(from) if from == register && k == 0 => {}
            Rm::Reg(_) => self.asm.evex(MOVAPS, register, 0, rm, k, false, None),
            Rm::Literal(0) if k == 0 => self.asm.vector(XOR, register, register, Rm::Reg(register)),
            Rm::Row(..) | Rm::LaneShifts(_) => self.asm.evex(MOVUPS_LOAD, register, 0, rm, k, false, None),
            Rm::Each(..) | Rm::Literal(_) => self.asm.evex(BROADCAST, register, 0, rm, k, false, None),
        }
    }

    /// An operand in a register: its own, or the scratch register.
    pub fn reg(&mut self, src: Src, unit: Unit, scratch: u8) -> u8 {
        match self.rm(src, unit) {
            Rm::Reg(register) => register,
            rm => {
                self.load_rm(scratch, rm, 0);
                scratch
            }
        }
    }

    /// Makes a vector with `make`, which is given the register to write.
    pub fn make(&mut self, vector: Vector, unit: Unit, make: impl FnOnce(&mut Self, u8)) {
        match self.home(vector, unit) {
            Home::Register(register) => make(self, register),
            Home::Row(at) => {
                make(self, 28);
                self.asm.vector(MOVUPS_STORE, 28, 0, Rm::Row(RBX, at));
            }
            Home::Load(_) | Home::Constant { .. } | Home::Nowhere => {}
        }
    }

    fn change(&mut self, vector: Vector, unit: Unit, make: impl FnOnce(&mut Self, u8)) {
        if let Home::Row(at) = self.home(vector, unit) {
            self.asm.vector(MOVUPS_LOAD, 28, 0, Rm::Row(RBX, at));
        }
        self.make(vector, unit, make);
    }

    // --- instructions ---

    fn line(&mut self, lir: &Lir, unit: Unit, end: Label) {
        match *lir {
            Lir::Copy(dst, a) | Lir::Set(dst, a, _) => self.make(dst, unit, |e, dst| e.load_into(dst, a, unit, 0)),
            Lir::Two(op, dst, a, b) => self.two(op, dst, a, b, unit),
            Lir::One(op, dst, a, imm) => self.make(dst, unit, |e, dst| {
                let rm = e.rm(a, unit);
                e.asm.evex(op, dst, 0, rm, 0, false, imm);
            }),
            Lir::Shift(how, dst, a, count) => self.make(dst, unit, |e, dst| {
                let rm = e.rm(a, unit);
                e.asm.evex(SHIFT_IMM, how, dst, rm, 0, false, Some(count));
            }),
            Lir::Fma(negated, dst, abc) => self.fma(negated, dst, abc, unit),
            Lir::Test(op, how, k, a, b, under) => {
                let a = self.reg(a, unit, 29);
                let rm = self.rm(b, unit);
                self.asm.evex(op, k, a, rm, under, false, Some(how));
            }
            Lir::Class(class, k, a, under) => {
                let rm = self.rm(a, unit);
                let classes = class.number();
                self.asm.evex(CLASS, k, 0, rm, under, false, Some(classes));
            }
            Lir::Or(k, a, b) => self.asm.mask_or(k, a, b),
            Lir::AndNot(k, a, b) => self.asm.mask_and_not(k, a, b),
            Lir::Blend(dst, k, yes, no) => self.make(dst, unit, |e, dst| {
                let no = e.reg(no, unit, 29);
                let rm = e.rm(yes, unit);
                e.asm.evex(BLEND_MASK, dst, no, rm, k, false, None);
            }),
            Lir::Merge(dst, k, a) => self.change(dst, unit, |e, dst| e.load_into(dst, a, unit, k)),
            Lir::MergeTwo(op, dst, k, a, b) => self.change(dst, unit, |e, dst| {
                let a = e.reg(a, unit, 29);
                let rm = e.rm(b, unit);
                e.asm.evex(op, dst, a, rm, k, false, None);
            }),
            Lir::StopIfNone(k) => {
                self.asm.mask_test(k);
                self.asm.jump_if(Cond::Equal, end);
            }
            Lir::ConstRelative { frame, base, channel, dst } => {
                if let Home::Constant { slot, offset } = self.constant_home(frame, base, channel) {
                    self.make(dst, unit, |e, dst| {
                        let rm = e.constant_operand(slot, offset);
                        e.load_rm(dst, rm, 0);
                    });
                }
            }
            // What streams have not, or do not need.
            Lir::Written(..)
            | Lir::SetMask(..)
            | Lir::Kill(..)
            | Lir::Store(..)
            | Lir::Fetch(..)
            | Lir::Guard { .. }
            | Lir::TempRelative { .. }
            | Lir::SetTempRelative { .. } => {}
        }
    }

    fn two(&mut self, op: V, dst: Vector, a: Src, b: Src, unit: Unit) {
        // A memory operand goes last, where the order does not matter.
        let commutes = matches!(op, ADD | XOR | MUL | AND | OR | ADD_I32);
        let (a, b) = if commutes && self.in_memory(a, unit) && !self.in_memory(b, unit) { (b, a) } else { (a, b) };
        self.make(dst, unit, |e, dst| {
            let a = e.reg(a, unit, 29);
            let rm = e.rm(b, unit);
            e.asm.vector(op, dst, a, rm);
        });
    }

    fn in_memory(&self, src: Src, unit: Unit) -> bool {
        let has = |src: Src| self.literals.iter().any(|(s, _)| *s == src);
        match src {
            Src::Vector(vector) => !matches!(self.home(vector, unit), Home::Register(_)),
            Src::Literal(_) | Src::Const(_) | Src::Row(_) => !has(src),
        }
    }

    fn fma(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], unit: Unit) {
        let [form132, form213, form231] = match (negated.product, negated.summand) {
            (false, false) => [FMADD132, FMADD213, FMADD231],
            (false, true) => [FMSUB132, FMSUB213, FMSUB231],
            (true, false) => [FNMADD132, FNMADD213, FNMADD231],
            (true, true) => [FNMSUB132, FNMSUB213, FNMSUB231],
        };
        self.make(dst, unit, |e, dst| {
            let is_here = |e: &Self, src: Src| matches!(src, Src::Vector(v) if e.home(v, unit) == Home::Register(dst));
            let [here_a, here_b, here_c] = [is_here(e, a), is_here(e, b), is_here(e, c)];
            if !here_c && (here_a || here_b) {
                // dst * x + c
                let x = if here_a { b } else { a };
                if e.in_memory(x, unit) && !e.in_memory(c, unit) {
                    let c = e.reg(c, unit, 29);
                    let x = e.rm(x, unit);
                    e.asm.vector(form132, dst, c, x);
                } else {
                    let x = e.reg(x, unit, 29);
                    let c = e.rm(c, unit);
                    e.asm.vector(form213, dst, x, c);
                }
                return;
            }
            // a * b + dst, once the summand is there.
            let (a, b) = if e.in_memory(a, unit) && !e.in_memory(b, unit) { (b, a) } else { (a, b) };
            let a = e.reg(a, unit, 29);
            if !here_c {
                e.load_into(dst, c, unit, 0);
            }
            let b = e.rm(b, unit);
            e.asm.vector(form231, dst, a, b);
        });
    }

    fn group(&mut self, lines: &Lines, group: &Group) {
        let lir = &lines.lir[group.first..group.end];
        if let [Lir::Copy(_, Src::Row(_))] = lir {
            return;
        }
        if group.masks {
            let mut varies = Varies::default();
            for vector in lir.iter().flat_map(|l| l.reads().chain(l.writes().map(|w| w.0))) {
                varies = varies.with(self.varies[vector.index()]);
            }
            for unit in self.units(varies) {
                let end = self.asm.label();
                lir.iter().for_each(|lir| self.line(lir, unit, end));
                self.asm.place(end);
            }
        } else {
            let end = self.asm.label();
            self.asm.place(end);
            for lir in lir {
                let varies = lir.writes().map_or(Varies::default(), |(dst, _)| self.varies[dst.index()]);
                for unit in self.units(varies) {
                    self.line(lir, unit, end);
                }
            }
        }
    }

    fn block(&mut self, index: usize) {
        let of = self.of;
        let lines = &of.lines[index];
        self.current = index;
        let mut place = 0;
        while place < lines.groups.len() {
            let group = &lines.groups[place];
            if let [Lir::Copy(_, Src::Row(load))] = lines.lir[group.first..group.end] {
                // The loads of one fetch that come together.
                let number = of.loads[load as usize].number;
                let mut together = Vec::new();
                while let Some(group) = lines.groups.get(place)
                    && let [Lir::Copy(dst, Src::Row(load))] = lines.lir[group.first..group.end]
                    && of.loads[load as usize].number == number
                {
                    together.push((dst, of.loads[load as usize]));
                    place += 1;
                }
                self.loads(&together);
            } else {
                self.group(lines, group);
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
                Item::Loop { turns, body, .. } => self.repeat(*turns, body, depth),
            }
        }
    }

    fn repeat(&mut self, turns: u8, body: &[Item], depth: usize) {
        let at = at::TURNS + 4 * depth as i32;
        match self.turns[depth] {
            Some(register) => self.asm.int_imm(register, turns.into()),
            None => self.asm.int_store_imm(Int::Mov, false, RBX, at, turns.into()),
        }
        let again = self.asm.label();
        self.asm.place(again);
        self.items(body, depth + 1);
        let moves = move |slot: &Slot| match slot.kind {
            Kind::Input { x, y, .. } => x.turns[depth] != 0 || y.turns[depth] != 0,
            Kind::Coordinate(of) => of.turns[depth] != 0,
            Kind::Constants { depth: of, .. } => usize::from(of) == depth,
            Kind::Output(_) => false,
        };
        self.step(moves, turn_step(depth));
        match self.turns[depth] {
            Some(register) => self.asm.int_op_imm(Int::Sub, register, 1),
            None => self.asm.int_store_imm(Int::Sub, false, RBX, at, 1),
        }
        self.asm.jump_if(Cond::NotEqual, again);
        self.step_back(moves, turn_step(depth), turns);
    }

    /// Gives registers that are left to the literals and constants with the most uses.
    fn choose_literals(&mut self) {
        let used = self.homes.iter().flatten().filter_map(|home| match home {
            Home::Register(register) => Some(register + 1),
            _ => None,
        });
        let first = used.max().unwrap_or(0);
        let mut uses: Vec<(Src, u64)> = Vec::new();
        for (block, lines) in self.of.prepared.code.blocks.iter().zip(&self.of.lines) {
            let weight = 1u64 << (3 * block.frames.frames.len());
            let mut note = |src: Src| {
                if let Src::Literal(_) | Src::Const(_) = src {
                    match uses.iter_mut().find(|(s, _)| *s == src) {
                        Some((_, n)) => *n += weight,
                        None => uses.push((src, weight)),
                    }
                }
            };
            for lir in &lines.lir {
                match *lir {
                    Lir::Two(_, _, a, b) | Lir::Test(_, _, _, a, b, _) | Lir::Blend(_, _, a, b) => {
                        note(a);
                        note(b);
                    }
                    Lir::Fma(_, _, abc) => abc.into_iter().for_each(&mut note),
                    Lir::Copy(_, a @ (Src::Literal(_) | Src::Const(_))) | Lir::One(_, _, a, _) => note(a),
                    _ => {}
                }
            }
        }
        uses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let chosen: Vec<(Src, u8)> = uses.iter().map(|(src, _)| *src).zip(first..REGISTERS).collect();
        for &(src, register) in &chosen {
            self.load_into(register, src, Unit { row: 0, column: 0 }, 0);
        }
        self.literals = chosen;
    }

    pub fn everything(&mut self) {
        for register in [RBX, RBP, 12, 13, 14, 15] {
            self.asm.push(register);
        }
        self.asm.move_stack(-8);
        self.asm.move_wide(RBX, RDI);
        self.asm.int_load(Int::Mov, true, RBP, RBX, at::CONSTANTS);
        self.asm.mxcsr(true, RBX, at::HOST_MXCSR);
        self.asm.mxcsr(false, RBX, at::MXCSR);
        self.choose_literals();
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
        self.items(self.of.items, 0);
        let columns = |slot: &Slot| match slot.kind {
            Kind::Input { x, y, .. } => x.i != 0 || y.i != 0,
            Kind::Coordinate(of) => of.i != 0,
            Kind::Output(_) => true,
            Kind::Constants { .. } => false,
        };
        self.step(columns, TILE_STEP);
        self.step_starts(1, |value| value.i != 0);
        self.asm.int_store_imm(Int::Sub, false, RBX, at::TILES_LEFT, 1);
        self.asm.jump_if(Cond::NotEqual, next_tile);
        let rows = move |slot: &Slot| match slot.kind {
            Kind::Input { x, y, .. } => columns(slot) || x.j != 0 || y.j != 0,
            Kind::Coordinate(of) => of.i != 0 || of.j != 0,
            Kind::Output(_) => true,
            Kind::Constants { .. } => false,
        };
        self.step(rows, ROW_STEP);
        self.step_starts(2, |value| value.i != 0 || value.j != 0);
        self.asm.int_store_imm(Int::Sub, false, RBX, at::ROWS_LEFT, 1);
        self.asm.jump_if(Cond::NotEqual, next_row);
        if self.options.past_caches {
            self.asm.store_fence();
        }
        self.asm.mxcsr(false, RBX, at::HOST_MXCSR);
        self.asm.zero_upper();
        self.asm.move_stack(8);
        for register in [15, 14, 13, 12, RBP, RBX] {
            self.asm.pop(register);
        }
        self.asm.ret();
    }

    /// Row of a start value in the frame; `part`: 0 now, 1 what a tile adds, 2 what a row of tiles adds.
    fn start_row(&self, start: usize, unit: Unit, part: usize) -> i32 {
        start_row(&self.layout, self.options.tile, start, (unit.row, unit.column), part)
    }

    /// What variables hold at the beginning of a tile.
    fn begin(&mut self) {
        let of = self.of;
        for var in of.live.at(ENTRY).iter() {
            let Some(vector) = of.vars.of(var) else { continue };
            let start = of.starts.iter().position(|start| start.var == var);
            for unit in self.units(self.varies[vector.index()]) {
                let rm = start.map_or(Rm::Literal(0), |start| Rm::Row(RBX, self.start_row(start, unit, 0)));
                self.make(vector, unit, |e, register| e.load_rm(register, rm, 0));
            }
        }
    }

    fn step_starts(&mut self, part: usize, moves: impl Fn(&Linear) -> bool) {
        for (number, start) in self.of.starts.iter().enumerate() {
            if !moves(&start.value) {
                continue;
            }
            for unit in self.units(Varies::ALL) {
                let (now, step) = (self.start_row(number, unit, 0), self.start_row(number, unit, part));
                self.asm.vector(MOVUPS_LOAD, 28, 0, Rm::Row(RBX, now));
                self.asm.vector(ADD, 28, 28, Rm::Row(RBX, step));
                self.asm.vector(MOVUPS_STORE, 28, 0, Rm::Row(RBX, now));
            }
        }
    }
}

/// Row of a start value in the frame.
pub(super) fn start_row(layout: &Layout, tile: Tile, start: usize, (row, column): (u8, u8), part: usize) -> i32 {
    let units = usize::from(tile.rows) * usize::from(tile.vectors);
    let unit = usize::from(row) * usize::from(tile.vectors) + usize::from(column);
    layout.starts + 64 * ((start * 3 + part) * units + unit) as i32
}
