//! Emission of single instructions: operands, whole vectors.

use super::emit::{Emit, TileVector};
use super::types::{Load, Location, Slot, bytes};
use crate::codegen::target::Target;
use crate::codegen::x86::lines::line;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::vectors::{Access, Destination, Vectors};
use ctm_x86::{Asm, Label, RAX, RBP, RBX, Rm};

impl Vectors for Emit<'_> {
    type Unit = TileVector;

    fn target(&self) -> &'static Target {
        self.of.target.target
    }

    fn asm(&mut self) -> &mut Asm {
        &mut self.asm
    }

    fn access(&self, src: Src, unit: TileVector) -> Access {
        Access::of(self.operand(src, unit).0)
    }

    /// May load rax.
    fn rm(&mut self, src: Src, unit: TileVector) -> Rm {
        let operand = self.operand(src, unit);
        self.pointed(operand)
    }

    fn place(&self, vector: Vector, unit: TileVector) -> Destination {
        match self.location(vector, unit) {
            Location::Register(register) => Destination::Register(register),
            Location::Row(at) => Destination::Memory(Rm::Row(RBX, at)),
            Location::Load(_) | Location::Constant(..) | Location::Nowhere => Destination::Nowhere,
        }
    }

    fn mask_row(&self, k: K) -> Rm {
        Rm::Row(RBX, self.layout.masks + 64 * (i32::from(k) - 2))
    }

    fn mask(&self) -> u8 {
        if self.lean { self.of.target.scratch() } else { self.of.target.mask_scratch() }
    }

    /// Operands that the units of one instruction share are loaded once for them.
    fn loaded(&mut self, src: Src, unit: TileVector, scratch: u8) -> u8 {
        let instance = if let Src::Vector(vector) = src { self.instance(vector, unit) } else { 0 };
        let name = Some((src, instance));
        let shared = scratch == self.of.target.operand_scratch();
        if shared && self.shares && self.shared == name {
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
    /// An operand as the last one of an instruction, and the slot that points to it, if there is one: then the base has
    /// yet to be named.
    fn operand(&self, src: Src, unit: TileVector) -> (Rm, Option<Slot>) {
        if let Some(&rm) = self.kept.get(&src) {
            return (rm, None);
        }
        let rm = match src {
            Src::Vector(vector) => match self.location(vector, unit) {
                Location::Register(register) => Rm::Reg(register),
                Location::Row(at) => Rm::Row(RBX, at),
                Location::Load(load) => return self.element(&self.of.loads[usize::from(load)], unit),
                Location::Constant(number, dword) => return self.constant(number, dword),
                Location::Nowhere => Rm::Literal(0),
            },
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(_) | Src::Each(_) => Rm::Literal(0),
        };
        (rm, None)
    }

    /// The same with its base, which may be loaded into rax.
    fn pointed(&mut self, (rm, slot): (Rm, Option<Slot>)) -> Rm {
        let Some(slot) = slot else { return rm };
        let base = self.pointer(slot);
        match rm {
            Rm::Row(_, offset) => Rm::Row(base, offset),
            Rm::Each(_, offset) => Rm::Each(base, offset),
            rm => rm,
        }
    }

    /// The address of a relative constant, in the form of [`Self::operand`].
    fn constant(&self, number: u16, dword: u16) -> (Rm, Option<Slot>) {
        (Rm::Each(RAX, 4 * i32::from(dword)), Some(self.of.relative_constants(number)))
    }

    /// The address of a load's element, in the form of [`Self::operand`].
    fn element(&self, load: &Load, unit: TileVector) -> (Rm, Option<Slot>) {
        let size = bytes(self.of.geometry.input(&load.fetch));
        let offset = load.fetch.x.c as i32 * size;
        let rm = if load.fetch.is_uniform() {
            Rm::Each(RAX, offset + 4 * i32::from(load.channel & 3))
        } else {
            Rm::Row(RAX, offset + i32::from(unit.column) * self.of.columns() as i32 * size)
        };
        (rm, Some(Self::input_slot(load, unit)))
    }

    /// The same as an operand of an instruction.
    pub fn load_operand(&mut self, load: &Load, unit: TileVector) -> Rm {
        let element = self.element(load, unit);
        self.pointed(element)
    }

    /// One instruction for one unit; `end`: the target of a group whose mask is empty.
    pub fn line(&mut self, lir: &Lir, unit: TileVector, end: Label) {
        if line(self, lir, unit, end) {
            return;
        }
        // The only instruction of streams that `single` does not have.
        if let Lir::ConstRelative { number, dword, dst } = *lir {
            let operand = self.constant(number, dword);
            self.make(dst, unit, |e, dst| {
                let rm = e.pointed(operand);
                e.load_rm(dst, rm, 0);
            });
        }
    }
}
