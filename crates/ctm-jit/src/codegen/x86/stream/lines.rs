//! What single instructions become: operands, whole vectors.

use super::emit::{Emit, Unit};
use super::{Load, Location, Way};
use crate::codegen::x86::asm::{Asm, Label, RBP, RBX, Rm};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::vectors::{Access, Place, Vectors};

impl Vectors for Emit<'_> {
    type Unit = Unit;

    fn isa(&self) -> Isa {
        self.of.isa
    }

    fn asm(&mut self) -> &mut Asm {
        &mut self.asm
    }

    fn access(&self, src: Src, unit: Unit) -> Access {
        if let Some(rm) = self.kept(src) {
            return Access::of(rm);
        }
        match src {
            Src::Vector(vector) => match self.location(vector, unit) {
                Location::Register(register) => Access::Register(register),
                Location::Load(load) => match self.of.way(&self.of.loads[usize::from(load)], self.options.careful) {
                    Way::Uniform => Access::Each,
                    Way::Contiguous | Way::Gather => Access::Memory,
                },
                Location::Constant { .. } => Access::Each,
                Location::Row(_) | Location::Nowhere => Access::Memory,
            },
            Src::Const(_) => Access::Each,
            Src::Literal(_) | Src::Row(_) => Access::Memory,
        }
    }

    /// May load rax.
    fn rm(&mut self, src: Src, unit: Unit) -> Rm {
        if let Some(rm) = self.kept(src) {
            return rm;
        }
        match src {
            Src::Vector(vector) => match self.location(vector, unit) {
                Location::Register(register) => Rm::Reg(register),
                Location::Row(at) => Rm::Row(RBX, at),
                Location::Load(load) => {
                    let load = self.of.loads[usize::from(load)];
                    self.load_operand(&load, unit)
                }
                Location::Constant { slot, offset } => self.constant_operand(slot, offset),
                Location::Nowhere => Rm::Literal(0),
            },
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(_) => Rm::Literal(0),
        }
    }

    fn place(&self, vector: Vector, unit: Unit) -> Place {
        match self.location(vector, unit) {
            Location::Register(register) => Place::Register(register),
            Location::Row(at) => Place::Memory(Rm::Row(RBX, at)),
            Location::Load(_) | Location::Constant { .. } | Location::Nowhere => Place::Nowhere,
        }
    }

    fn mask_row(&self, k: K) -> Rm {
        Rm::Row(RBX, self.layout.masks + 64 * (i32::from(k) - 2))
    }

    fn mask(&self) -> u8 {
        if self.lean { self.of.isa.scratch() } else { self.of.isa.mask_scratch() }
    }

    /// What the units of one instruction share is loaded once for them.
    fn loaded(&mut self, src: Src, unit: Unit, scratch: u8) -> u8 {
        let name = match src {
            Src::Vector(vector) => match self.location(vector, unit) {
                Location::Load(_) | Location::Constant { .. } => Some((src, self.instance(vector, unit))),
                Location::Register(_) | Location::Row(_) | Location::Nowhere => None,
            },
            Src::Literal(_) | Src::Const(_) => Some((src, 0)),
            Src::Row(_) => None,
        };
        let shared = scratch == self.of.isa.operand_scratch();
        if shared && self.shares && name.is_some() && self.shared == name {
            return scratch;
        }
        self.load_into(scratch, src, unit);
        if shared {
            self.shared = name;
        }
        scratch
    }
}

impl Emit<'_> {
    /// Literals and constants that have a register or a row of the frame.
    fn kept(&self, src: Src) -> Option<Rm> {
        self.kept.of(src)
    }

    fn constant_operand(&mut self, slot: usize, offset: i32) -> Rm {
        let register = self.pointer(self.slots[slot]);
        Rm::Each(register, offset)
    }

    /// Where the element of a load that is no gather lies.
    pub fn load_operand(&mut self, load: &Load, unit: Unit) -> Rm {
        let size = self.of.geometry.input_bytes(load.fetch.input);
        let register = self.pointer(Self::input_slot(load, unit));
        let mut offset = load.fetch.x.c as i32 * size;
        if self.of.way(load, self.options.careful) == Way::Uniform {
            return Rm::Each(register, offset + 4 * i32::from(load.channel & 3));
        }
        offset += i32::from(unit.column) * self.of.columns() as i32 * size;
        Rm::Row(register, offset)
    }

    /// One instruction for one unit; `end`: where a group goes whose mask is empty.
    pub fn line(&mut self, lir: &Lir, unit: Unit, end: Label) {
        if self.single(lir, unit, end) {
            return;
        }
        // Streams have nothing else that `single` does not know.
        if let Lir::ConstRelative { number, dword, dst } = *lir
            && let Location::Constant { slot, offset } = self.constant_location(number, dword)
        {
            self.make(dst, unit, |e, dst| {
                let rm = e.constant_operand(slot, offset);
                e.load_rm(dst, rm, 0);
            });
        }
    }
}
