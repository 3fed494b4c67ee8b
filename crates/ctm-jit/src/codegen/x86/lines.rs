//! What single instructions become: operands, whole vectors, effects.

use super::emit::{Emit, Unit};
use super::frame::part;
use super::isa::Isa;
use super::lir::{K, Lir, Src, Vector};
use super::vectors::{Access, Place, Vectors};
use crate::codegen::x86::allocate::Location;
use crate::codegen::x86::asm::{
    Asm, BROADCAST, Cond, Gpr, Int, Label, MOVUPS_LOAD, MOVUPS_STORE, RAX, RBP, RBX, RCX, RDX, Rm,
};
use crate::ir::x1k::Under;

/// Bits of a mask that its pieces are collected in.
const COLLECTED: Gpr = 10;

impl Vectors for Emit<'_> {
    type Unit = Unit;

    fn isa(&self) -> Isa {
        self.input.isa
    }

    fn asm(&mut self) -> &mut Asm {
        &mut self.asm
    }

    #[inline]
    fn access(&self, src: Src, unit: Unit) -> Access {
        match src {
            Src::Vector(vector) => match self.input.locations.of[vector.index()] {
                Location::Register(bundle) => Access::Register(self.register(bundle, unit)),
                Location::Row(_) | Location::Nowhere => Access::Memory,
            },
            Src::Row(_) => Access::Memory,
            Src::Literal(_) | Src::Const(_) => match (self.constants.of(src), src) {
                (Some(register), _) => Access::Register(register),
                (None, Src::Const(_)) => Access::Each,
                (None, _) => Access::Memory,
            },
        }
    }

    fn rm(&mut self, src: Src, unit: Unit) -> Rm {
        self.operand(src, unit)
    }

    fn place(&self, vector: Vector, unit: Unit) -> Place {
        match self.location(vector, unit) {
            Rm::Reg(register) => Place::Register(register),
            row => Place::Memory(row),
        }
    }

    fn mask_row(&self, k: K) -> Rm {
        Rm::Row(RBX, self.input.layout.masks + 64 * (i32::from(k) - 2))
    }
}

impl Emit<'_> {
    /// The register of a unit.
    #[inline]
    fn register(&self, bundle: u8, unit: Unit) -> u8 {
        (bundle * self.input.copies + unit.copy) * self.input.isa.pieces() + unit.piece
    }

    /// Where a vector lives.
    fn location(&self, vector: Vector, unit: Unit) -> Rm {
        let row = match self.input.locations.of[vector.index()] {
            Location::Register(bundle) => return Rm::Reg(self.register(bundle, unit)),
            Location::Row(row) => row as i32,
            Location::Nowhere => 0,
        };
        Rm::Row(RBX, self.piece(unit, self.input.layout.spills + 64 * row))
    }

    fn operand(&self, src: Src, unit: Unit) -> Rm {
        if let Src::Vector(vector) = src {
            return self.location(vector, unit);
        }
        if let Some(register) = self.constants.of(src) {
            return Rm::Reg(register);
        }
        match src {
            Src::Vector(vector) => self.location(vector, unit),
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(offset) => Rm::Row(RBX, self.piece(unit, offset)),
        }
    }

    /// A unit's share of a row of its copy's part.
    pub fn piece(&self, unit: Unit, offset: i32) -> i32 {
        self.part(unit.copy, offset) + self.input.isa.bytes() * i32::from(unit.piece)
    }

    /// The lanes of an effect in a general register: the running lanes' own, or rax.
    pub fn lanes(&mut self, under: Under, copy: u8) -> Gpr {
        let running = Self::running(copy);
        if !under.inactive {
            self.fresh(copy);
        }
        if under.predicate.is_none() && !under.inactive && !under.covered {
            return running;
        }
        match under.predicate {
            Some((bit, inverted)) => {
                let at = self.part(copy, part::PREDICATES + 4 * i32::from(bit));
                self.asm.int_load(Int::Mov, false, RAX, RBX, at);
                if inverted {
                    self.asm.not(RAX);
                }
                if under.inactive {
                    self.asm.int_op_imm(Int::And, RAX, i32::from(self.input.existing));
                } else {
                    self.asm.int(Int::And, RAX, running);
                }
            }
            None if under.inactive => self.asm.int_imm(RAX, u32::from(self.input.existing)),
            None => self.asm.int(Int::Mov, RAX, running),
        }
        if under.covered {
            self.asm.int_load(Int::And, false, RAX, RBX, self.part(copy, part::COVERED));
        }
        RAX
    }

    /// rax = base + aL.
    fn relative(&mut self, frame: Option<u8>, base: u8, copy: u8) {
        match frame {
            Some(frame) => {
                let at = self.part(copy, part::LOOP_VARIABLES + 4 * i32::from(frame));
                self.asm.int_load(Int::Mov, false, RAX, RBX, at);
                self.asm.int_op_imm(Int::Add, RAX, i32::from(base));
            }
            None => self.asm.int_imm(RAX, u32::from(base)),
        }
    }

    /// One instruction for one unit; `end`: where a group goes whose mask is empty.
    pub fn line(&mut self, lir: &Lir, unit: Unit, end: Label, waited: bool) {
        if self.single(lir, unit, end) {
            return;
        }
        let (scratch, operand_scratch) = (self.input.isa.scratch(), self.input.isa.operand_scratch());
        match *lir {
            Lir::Set(dst, a, None) => self.copy(dst, a, unit),
            Lir::Set(dst, a, Some(under)) if self.whole && under == Under::default() => self.copy(dst, a, unit),
            Lir::TwoUnder(op, dst, a, b, under) => {
                let k = self.lane_mask(under, unit);
                self.mask_line(&Lir::MergeTwo(op, dst, k, a, b), unit, end);
            }
            Lir::FmaUnder(negated, dst, abc, under) => {
                let k = self.lane_mask(under, unit);
                self.avx512_fma(negated, dst, abc, k, unit);
            }
            Lir::Set(dst, src, Some(under)) => match self.input.isa {
                Isa::Avx512 => self.avx512_set(dst, src, under, unit),
                Isa::Avx2 => self.avx2_set(dst, src, under, unit),
            },
            Lir::Store(offset, src) => {
                let from = self.reg(src, unit, scratch);
                let at = self.piece(unit, offset);
                self.store(from, Rm::Row(RBX, at));
            }
            Lir::ConstRelative { frame, base, channel, dst } => {
                self.relative_in_range(frame, base, unit.copy, 255);
                self.asm.shift_left(RAX, 4);
                self.asm.add_wide(RAX, RBP);
                let at = Rm::Each(RAX, 4 * i32::from(channel));
                self.make(dst, unit, |e, dst| e.asm.vector(BROADCAST, dst, 0, at));
            }
            Lir::TempRelative { frame, base, channel, dst } => {
                let row = self.relative_row(frame, base, channel, unit);
                self.make(dst, unit, |e, dst| e.asm.vector(MOVUPS_LOAD, dst, 0, row));
            }
            Lir::SetTempRelative { frame, base, channel, src, under } => {
                let k = self.lane_mask(under, unit);
                let from = self.reg(src, unit, operand_scratch);
                let row = self.relative_row(frame, base, channel, unit);
                self.store_masked(from, row, k);
            }
            Lir::SetMask(bit, k, under) => self.set_mask(bit, k, under, unit),
            Lir::Kill(k, under) => {
                if self.collect(k, unit) {
                    let lanes = self.lanes(under, unit.copy);
                    self.asm.int(Int::And, RCX, lanes);
                    self.asm.not(RCX);
                    self.asm.int_store(Int::And, false, RBX, self.part(unit.copy, part::COVERED), RCX);
                }
            }
            // The others concern a copy as a whole.
            _ if unit.piece > 0 => {}
            Lir::Written(output, under) => {
                let at = self.part(unit.copy, part::WRITTEN + 4 * i32::from(output));
                if self.needs.as_ref().is_some_and(|needs| !needs.written) {
                    return self.asm.int_store_imm(Int::Mov, false, RBX, at, self.input.existing.into());
                }
                let lanes = self.lanes(under, unit.copy);
                self.asm.int_store(Int::Or, false, RBX, at, lanes);
            }
            Lir::Fetch(fetch, under) => self.fetch(fetch, under, unit.copy),
            Lir::Write(write, under) => self.uncached_write(write, under, unit.copy),
            Lir::Reference(function) => self.reference(function, unit.copy),
            Lir::Guard { frame, base, limit } => {
                let skip = self.asm.label();
                if waited {
                    self.asm.test_imm(15, 1 << unit.copy);
                    self.asm.jump_if(Cond::Equal, skip);
                }
                self.relative(frame, base, unit.copy);
                self.asm.int_op_imm(Int::Cmp, RAX, limit as i32);
                self.asm.jump_if(Cond::AboveEqual, self.bail_out);
                self.asm.place(skip);
            }
            _ => debug_assert!(false, "{lir:?} is a single instruction"),
        }
    }

    /// The lanes of an effect as a mask.
    pub fn lane_mask(&mut self, under: Under, unit: Unit) -> K {
        match self.input.isa {
            Isa::Avx512 => self.avx512_lane_mask(under, unit),
            Isa::Avx2 => self.avx2_lane_mask(under, unit),
        }
    }

    /// Stores lanes of a register.
    fn store_masked(&mut self, register: u8, row: Rm, k: K) {
        match self.input.isa {
            Isa::Avx512 => self.asm.evex(MOVUPS_STORE, register, 0, row, k, false, None),
            Isa::Avx2 => self.avx2_store_masked(register, row),
        }
    }

    /// rcx = the bits of a mask, once its last piece is there; says whether it is. Nothing that depends on a mask may skip pieces in
    /// between.
    pub fn collect(&mut self, k: K, unit: Unit) -> bool {
        match self.input.isa {
            Isa::Avx512 => self.asm.mask_to(RCX, k),
            Isa::Avx2 => self.avx2_bits(k),
        }
        if unit.piece > 0 {
            self.asm.shift_left(RCX, self.input.isa.lanes() as u8 * unit.piece);
            self.asm.int(Int::Or, RCX, COLLECTED);
        }
        let last = unit.piece + 1 == self.input.isa.pieces();
        if !last {
            self.asm.int(Int::Mov, COLLECTED, RCX);
        }
        last
    }

    /// rax = base + aL, kept within the file whatever a copy that waits has there.
    fn relative_in_range(&mut self, frame: Option<u8>, base: u8, copy: u8, mask: i32) {
        self.relative(frame, base, copy);
        self.asm.int_op_imm(Int::And, RAX, mask);
    }

    /// The row of the temporary `base + aL`, by rax.
    fn relative_row(&mut self, frame: Option<u8>, base: u8, channel: u8, unit: Unit) -> Rm {
        self.relative_in_range(frame, base, unit.copy, 127);
        self.asm.shift_left(RAX, 8);
        self.asm.add_wide(RAX, RBX);
        Rm::Row(RAX, self.piece(unit, self.input.layout.spills + 64 * i32::from(channel)))
    }

    fn set_mask(&mut self, bit: u8, k: K, under: Under, unit: Unit) {
        if !self.collect(k, unit) {
            return;
        }
        let copy = unit.copy;
        let at = self.part(copy, part::PREDICATES + 4 * i32::from(bit));
        let lanes = self.lanes(under, copy);
        if bit == 4 && lanes == Self::running(copy) && !self.input.code.watches_idle_lanes && self.input.copies == 1 {
            // Flow control has cleared the ALU result, and only running lanes have set it since.
            self.asm.int(Int::And, RCX, lanes);
        } else {
            self.asm.int_load(Int::Mov, false, RDX, RBX, at);
            self.asm.int(Int::Xor, RCX, RDX);
            self.asm.int(Int::And, RCX, lanes);
            self.asm.int(Int::Xor, RCX, RDX);
        }
        self.asm.int_store(Int::Mov, false, RBX, at, RCX);
    }
}
