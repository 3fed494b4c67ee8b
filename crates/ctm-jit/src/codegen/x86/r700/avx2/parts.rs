//! Machine code of a segment: a loop over the parts of the wavefront, or all of them one behind the other.

use super::super::Ins;
use super::PART;
use super::allocate::Location;
use super::emit::{Emit, MASK, OPERAND, SCRATCH};
use super::segments::MOST_MASKS;
use crate::codegen::x86::asm::{
    Asm, BROADCAST, BROADCAST_BYTE, CMP_F32, Cond, Gpr, Int, Label, MOVUPS_LOAD, PERMUTE_IN_QUAD, RAX, RBX, RDI, RSI,
    Rm, SHIFT_LEFT_LANES, SUB, XOR,
};
use crate::codegen::x86::avx2::Avx2Masks;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::r700::facts::{
    AT_LEAST, AT_MOST, EQUAL, GREATER, LESS, NOT_EQUAL, NOT_GREATER, NOT_LESS, UNORDERED,
};
use crate::codegen::x86::r700::wide::{SHL, SHR};
use crate::codegen::x86::vectors::{Access, Place, Vectors};
use crate::ir::r700::M;
use ctm_exec::x1k::float::NAN;

/// The frame, moved by a part's bytes of rows.
const MOVED: Gpr = RSI;
/// The frame, moved by a part's bytes of masks.
const MOVED_MASKS: Gpr = RDI;
/// Where `MOVED` is behind the last part.
const END: Gpr = 9;
/// Masks that a segment makes.
const MADE: [Gpr; MOST_MASKS] = [8, 10, 11];
/// The most instructions of a segment whose parts stand one behind the other, all parts together.
const STRAIGHT: usize = 200;

/// Which part is being done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// This one.
    Fixed(u8),
    /// The one that registers point to.
    Moved,
}

/// A zero rule that has to look closer: where it begins, where it goes on, for which part, and which.
pub struct Slow {
    from: Label,
    back: Label,
    part: Part,
    rule: (Vector, Src, Src),
}

impl Vectors for Emit<'_> {
    type Unit = ();

    fn isa(&self) -> Isa {
        Isa::Avx2
    }

    fn asm(&mut self) -> &mut Asm {
        &mut self.asm
    }

    fn access(&self, src: Src, (): ()) -> Access {
        match src {
            Src::Vector(vector) => match self.locations.of[vector.index()] {
                Location::Register(register) => Access::Register(register),
                Location::Slot(_) | Location::Row(_) | Location::Nowhere => Access::Memory,
            },
            Src::Literal(_) | Src::Const(_) | Src::Row(_) => Access::Memory,
        }
    }

    fn rm(&mut self, src: Src, (): ()) -> Rm {
        match src {
            Src::Vector(vector) => match self.locations.of[vector.index()] {
                Location::Register(register) => Rm::Reg(register),
                Location::Slot(slot) => Rm::Row(RBX, self.slot(slot)),
                Location::Row(row) => self.row(row),
                Location::Nowhere => Rm::Literal(0),
            },
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Row(RBX, self.uniform(index)),
            Src::Row(offset) => self.row(offset),
        }
    }

    fn place(&self, vector: Vector, (): ()) -> Place {
        match self.locations.of[vector.index()] {
            Location::Register(register) => Place::Register(register),
            Location::Slot(slot) => Place::Memory(Rm::Row(RBX, self.slot(slot))),
            Location::Row(row) => Place::Memory(self.row(row)),
            Location::Nowhere => Place::Nowhere,
        }
    }

    fn mask_row(&self, k: K) -> Rm {
        Rm::Row(RBX, self.mask_slot(k))
    }
}

impl Emit<'_> {
    pub(super) fn load(&mut self, register: u8, row: Rm) {
        self.asm.vector(MOVUPS_LOAD, register, 0, row);
    }

    /// The part's bytes of a row.
    pub(super) const fn row(&self, offset: i32) -> Rm {
        match self.part {
            Part::Fixed(part) => Rm::Row(RBX, offset + PART * part as i32),
            Part::Moved => Rm::Row(MOVED, offset),
        }
    }

    /// The part's byte of a mask: base and offset.
    pub(super) fn bits(&self, m: M) -> (Gpr, i32) {
        match self.part {
            Part::Fixed(part) => (RBX, Self::mask_at(m) + i32::from(part)),
            Part::Moved => (MOVED_MASKS, Self::mask_at(m)),
        }
    }

    /// Does something for each part. `size`: about how many instructions that is; `made`: registers that masks are collected in.
    pub(super) fn each_part(&mut self, size: usize, made: &[Gpr], mut body: impl FnMut(&mut Self)) {
        let parts = self.parts();
        if size * usize::from(parts) <= STRAIGHT {
            for part in 0..parts {
                self.part = Part::Fixed(part);
                self.holds = None;
                body(self);
            }
            return;
        }
        self.part = Part::Moved;
        let top = self.asm.label();
        self.asm.wide(Int::Mov, MOVED, RBX);
        self.asm.wide(Int::Mov, MOVED_MASKS, RBX);
        self.asm.wide(Int::Mov, END, RBX);
        self.asm.wide_imm(Int::Add, END, PART * i32::from(parts));
        self.asm.place(top);
        self.holds = None;
        body(self);
        self.asm.wide_imm(Int::Add, MOVED, PART);
        self.asm.wide_imm(Int::Add, MOVED_MASKS, 1);
        self.asm.wide(Int::Cmp, MOVED, END);
        self.asm.jump_if(Cond::NotEqual, top);
        if parts < 8 {
            made.iter().for_each(|&made| self.asm.wide_shift(SHR, made, 64 - 8 * parts));
        }
    }

    /// A segment.
    ///
    /// `skips`: parts without active lanes are left out.
    pub(super) fn segment(&mut self, list: &[&Ins], skips: bool) {
        let size = list.iter().filter(|ins| !matches!(ins, Ins::Split)).count();
        let made: Vec<M> =
            list.iter().filter_map(|ins| if let Ins::EndLanes(m) = ins { Some(*m) } else { None }).collect();
        let registers = &MADE[..made.len().min(MOST_MASKS)];
        if skips {
            registers.iter().for_each(|&register| self.asm.int_imm(register, 0));
        }
        self.each_part(size, registers, |e| {
            if e.part == Part::Moved {
                // The first part moves down with each that follows; what the register held falls out.
                registers.iter().for_each(|&register| e.asm.wide_shift(SHR, register, 8));
            }
            let next_part = e.asm.label();
            if skips {
                let (base, offset) = e.bits(M::ACTIVE);
                e.asm.compare_byte(base, offset, 0);
                e.asm.jump_if(Cond::Equal, next_part);
            }
            let mut next = registers.iter();
            for ins in list {
                if let Ins::EndLanes(_) = ins
                    && let Some(&register) = next.next()
                {
                    e.collect(register, skips);
                    continue;
                }
                e.one_of(ins);
            }
            e.end_group();
            e.asm.place(next_part);
        });
        for (&m, &register) in made.iter().zip(registers) {
            self.store_mask(m, register);
        }
    }

    /// Adds a part's bits of mask 1 to a mask; `begun`: also the first part's.
    fn collect(&mut self, register: Gpr, begun: bool) {
        self.asm.signs(RAX, MASK);
        match self.part {
            Part::Fixed(0) if !begun => self.asm.wide(Int::Mov, register, RAX),
            Part::Fixed(part) => {
                self.asm.wide_shift(SHL, RAX, 8 * part);
                self.asm.wide(Int::Or, register, RAX);
            }
            Part::Moved => {
                self.asm.wide_shift(SHL, RAX, 56);
                self.asm.wide(Int::Or, register, RAX);
            }
        }
    }

    /// What belongs together ends here.
    fn end_group(&mut self) {
        if let Some(end) = self.end.take() {
            self.asm.place(end);
            self.holds = None;
        }
    }

    /// One instruction of a segment, for one part.
    fn one_of(&mut self, ins: &Ins) {
        match *ins {
            Ins::Split => self.end_group(),
            Ins::Lir(Lir::Store(row, src)) => {
                let from = self.reg(src, (), SCRATCH);
                let row = self.row(row);
                self.store(from, row);
            }
            Ins::Lir(ref lir) => {
                if lir.uses_masks() {
                    self.holds = None;
                }
                let end = match (lir, self.end) {
                    (Lir::StopIfNone(_), None) => self.asm.label(),
                    (_, end) => end.unwrap_or(self.bail_out),
                };
                if matches!(lir, Lir::StopIfNone(_)) {
                    self.end = Some(end);
                }
                self.single(&self.turned(lir), (), end);
            }
            Ins::ZeroRule(dst, a, b) => self.zero_rule(dst, a, b),
            Ins::Set(dst, src, M::EXISTING) => self.copy(dst, src, ()),
            Ins::Set(dst, src, under) => {
                self.spread(under);
                let yes = self.last(src, (), OPERAND);
                self.merge(dst, (), 1, yes);
            }
            Ins::Number(dst, m) => {
                let number = Rm::Each(RBX, Self::mask_at(m));
                self.make(dst, (), |e, dst| e.asm.vector(BROADCAST, dst, 0, number));
            }
            Ins::Keep(row, src, under) => {
                self.spread(under);
                let yes = self.reg(src, (), OPERAND);
                let row = self.row(row);
                self.load(SCRATCH, row);
                self.asm.blend(SCRATCH, MASK, Rm::Reg(yes), SCRATCH);
                self.store(SCRATCH, row);
            }
            Ins::Slope(dst, at, vertical) => self.slope(dst, at, vertical),
            Ins::GetRelative(dst, from, base, index) => self.get_relative(dst, from, base, index),
            Ins::SetRelative(to, base, index, value, under) => self.set_relative(to, base, index, value, under),
            Ins::BeginLanes | Ins::EndLanes(_) => {}
            Ins::SetTwo(..) | Ins::EndKeep => debug_assert!(false, "{ins:?} is for AVX-512"),
            Ins::Mark(..)
            | Ins::Mask(_)
            | Ins::Tally(..)
            | Ins::Call(..)
            | Ins::Yield(_)
            | Ins::Sample(..)
            | Ins::Also(_) => {
                debug_assert!(false, "{ins:?} concerns the whole wavefront");
            }
        }
    }

    /// A comparison the other way around, where that leaves what is in memory for the last operand.
    fn turned(&self, lir: &Lir) -> Lir {
        let Lir::Test(CMP_F32, how, k, a, b, under) = *lir else { return *lir };
        let in_memory = |src: Src| self.access(src, ()).is_memory();
        let turned = match how {
            EQUAL | NOT_EQUAL | UNORDERED => how,
            LESS => GREATER,
            GREATER => LESS,
            AT_MOST => AT_LEAST,
            AT_LEAST => AT_MOST,
            NOT_LESS => NOT_GREATER,
            NOT_GREATER => NOT_LESS,
            _ => return *lir,
        };
        if in_memory(a) && !in_memory(b) { Lir::Test(CMP_F32, turned, k, b, a, under) } else { *lir }
    }

    /// The part's lanes of a mask as mask 1: their sign bits.
    pub(super) fn spread(&mut self, m: M) {
        if self.holds == Some(m) {
            return;
        }
        let (base, offset) = self.bits(m);
        self.asm.vex(BROADCAST_BYTE, MASK, 0, Rm::Row(base, offset), None);
        self.asm.vector(SHIFT_LEFT_LANES, MASK, MASK, Rm::LaneShifts(0));
        self.holds = Some(m);
    }

    /// Where some product is not a number, the slow part looks why.
    fn zero_rule(&mut self, dst: Vector, a: Src, b: Src) {
        let (from, back) = (self.asm.label(), self.asm.label());
        self.line(&Lir::Test(CMP_F32, UNORDERED, 1, Src::Vector(dst), Src::Vector(dst), 0));
        self.asm.signs(RAX, MASK);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, from);
        self.asm.place(back);
        self.slow.push(Slow { from, back, part: self.part, rule: (dst, a, b) });
    }

    fn line(&mut self, lir: &Lir) {
        self.holds = None;
        let nowhere = self.bail_out;
        self.single(lir, (), nowhere);
    }

    /// What stands behind all blocks. Mask 1 holds where products are not numbers.
    pub(super) fn slow_parts(&mut self) {
        let zero = Src::Literal(0);
        for Slow { from, back, part, rule: (dst, a, b) } in std::mem::take(&mut self.slow) {
            self.part = part;
            self.asm.place(from);
            self.line(&Lir::Test(CMP_F32, EQUAL, 2, a, zero, 1));
            self.line(&Lir::Test(CMP_F32, EQUAL, 3, b, zero, 1));
            self.line(&Lir::Or(2, 2, 3));
            self.line(&Lir::Merge(dst, 2, zero));
            self.asm.jump(back);
        }
    }

    /// By what a coordinate differs in each quad; 0 where a quad is not complete.
    fn slope(&mut self, dst: Vector, at: Src, vertical: bool) {
        let other = if vertical { 2 } else { 1 };
        let at = self.reg(at, (), OPERAND);
        self.asm.instruction(PERMUTE_IN_QUAD, SCRATCH, 0, Rm::Reg(at), Some(0x55 * other));
        self.asm.instruction(PERMUTE_IN_QUAD, OPERAND, 0, Rm::Reg(at), Some(0));
        self.asm.vector(SUB, SCRATCH, SCRATCH, Rm::Reg(OPERAND));
        self.asm.vex(CMP_F32, MASK, SCRATCH, Rm::Reg(SCRATCH), Some(UNORDERED));
        self.asm.blend(OPERAND, MASK, Rm::Literal(NAN), SCRATCH);
        // Whether each quad has its other lane, in the lane that compares.
        let (base, offset) = self.bits(M::EXISTING);
        self.asm.vex(BROADCAST_BYTE, MASK, 0, Rm::Row(base, offset), None);
        self.asm.vector(SHIFT_LEFT_LANES, MASK, MASK, Rm::LaneShifts(0));
        self.asm.instruction(PERMUTE_IN_QUAD, MASK, 0, Rm::Reg(MASK), Some(0x55 * other));
        self.asm.vector(XOR, SCRATCH, SCRATCH, Rm::Reg(SCRATCH));
        self.holds = None;
        self.make(dst, (), |e, dst| e.asm.blend(dst, MASK, Rm::Reg(OPERAND), SCRATCH));
    }
}
