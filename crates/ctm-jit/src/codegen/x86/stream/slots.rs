//! Slots: pointers and coordinates that take fixed steps.

use super::emit::{Emit, TileVector};
use super::types::{Base, ITERATIONS, Load, Slot, Varies, slot_at};
use crate::codegen::x86::lir::{Lir, Src};
use crate::stream::affine::{Fetch, Linear, depth};
use ctm_x86::{Gpr, Int, RAX, RBX, RCX, RDI, RDX, RSI};

/// General registers for slots.
const GENERAL: [Gpr; 8] = [RDI, RSI, RDX, RCX, 8, 9, 10, 11];

impl Emit<'_> {
    pub fn slot(&mut self, slot: Slot) -> usize {
        self.slots.iter().position(|s| *s == slot).unwrap_or_else(|| {
            self.slots.push(slot);
            self.slots.len() - 1
        })
    }

    pub fn input_slot(load: &Load, unit: TileVector) -> Slot {
        let Fetch { input, x, y, .. } = load.fetch;
        let [x, y] = [Linear { c: 0, ..x }, y].map(|of| of.below(unit.row));
        Slot { base: Base::Input(input), x, y }
    }

    pub fn output_slot(target: usize, row: u8) -> Slot {
        let [x, y] = [Linear { i: 1, ..Linear::default() }, Linear { j: 1, ..Linear::default() }];
        Slot { base: Base::Output(target as u8), x, y: y.below(row) }
    }

    pub fn coordinate_slot(of: Linear, unit: TileVector) -> Slot {
        Slot { base: Base::Zero, x: of.below(unit.row), y: Linear::default() }
    }

    /// Names all slots, and gives registers to those that are used most.
    pub fn collect_slots(&mut self) {
        // Of each slot.
        let mut weights: Vec<u64> = Vec::new();
        let mut note = |slot: usize, weight: u64| {
            weights.resize(weights.len().max(slot + 1), 0);
            weights[slot] += weight;
        };
        let of = self.of;
        for (block, lines) in of.prepared.code.blocks.iter().zip(&of.lines) {
            let weight = 1u64 << (3 * block.loops);
            for lir in lines.iter().flatten() {
                match *lir {
                    Lir::Copy(_, Src::Row(load)) => {
                        let load = of.loads[load as usize];
                        for unit in self.units(Varies { rows: true, columns: false }) {
                            let slot = self.slot(Self::input_slot(&load, unit));
                            note(slot, weight);
                        }
                    }
                    Lir::ConstRelative { number, .. } => {
                        let slot = self.slot(of.relative_constants(number));
                        note(slot, weight);
                    }
                    _ => {}
                }
            }
        }
        for (target, channels) in of.geometry.outputs.iter().enumerate() {
            if *channels > 0 {
                for row in 0..self.options.tile.rows {
                    let slot = self.slot(Self::output_slot(target, row));
                    note(slot, 1);
                }
            }
        }
        for &(_, value) in &of.starts {
            for unit in self.units(Varies { rows: true, columns: false }) {
                self.slot(Self::coordinate_slot(value, unit));
            }
        }
        let mut free = [&GENERAL, &ITERATIONS[depth(&of.items)..]].concat();
        let mut order: Vec<usize> = (0..weights.len()).filter(|&slot| weights[slot] > 0).collect();
        order.sort_by_key(|&slot| std::cmp::Reverse(weights[slot]));
        self.resident = vec![None; self.slots.len()];
        for slot in order {
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

    /// The slots with a step at this place.
    fn moving(&self, moves: impl Fn(&Linear) -> bool) -> Vec<usize> {
        (0..self.slots.len()).filter(|&slot| moves(&self.slots[slot].x) || moves(&self.slots[slot].y)).collect()
    }

    /// Adds the step at `offset` of every slot that has one.
    pub fn step(&mut self, moves: impl Fn(&Linear) -> bool, offset: i32) {
        for number in self.moving(moves) {
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

    /// Undoes all steps of a loop.
    pub fn step_back(&mut self, moves: impl Fn(&Linear) -> bool, offset: i32, iterations: u16) {
        for number in self.moving(moves) {
            let at = slot_at(number);
            self.asm.multiply_wide(RAX, RBX, at + offset, iterations.into());
            match self.resident[number] {
                Some(register) => self.asm.wide(Int::Sub, register, RAX),
                None => self.asm.int_store(Int::Sub, true, RBX, at, RAX),
            }
        }
    }
}
