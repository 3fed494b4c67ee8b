//! Single vector instructions: where operands and results are, and what they are here beyond what [`Vectors`] does.

use super::Emit;
use crate::codegen::x86::allocate::Location;
use crate::codegen::x86::asm::{Asm, CMP_F32, CMP_I32, CMP_U32, MOVAPS, RBP, RBX, RSI, Rm, V};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{K, Lir, Negated, Src, Vector};
use crate::codegen::x86::masked::facts::{
    AT_LEAST, AT_MOST, EQUAL, GREATER, INT_AT_LEAST, INT_AT_MOST, INT_EQUAL, INT_GREATER, INT_LESS, INT_NOT_EQUAL,
    LESS, NOT_EQUAL, NOT_GREATER, NOT_LESS, UNORDERED,
};
use crate::codegen::x86::vectors::{Access, Place, Vectors, commutes, forms, load_of};

/// The comparison with its operands exchanged, if there is one.
fn turned(op: V, how: u8) -> Option<u8> {
    let pairs: &[(u8, u8)] = match op {
        CMP_F32 => &[(LESS, GREATER), (AT_MOST, AT_LEAST), (NOT_LESS, NOT_GREATER)],
        CMP_I32 | CMP_U32 => &[(INT_LESS, INT_GREATER), (INT_AT_MOST, INT_AT_LEAST)],
        _ => return None,
    };
    let either_way = if op == CMP_F32 { [EQUAL, NOT_EQUAL, UNORDERED] } else { [INT_EQUAL, INT_NOT_EQUAL, INT_EQUAL] };
    let other = |&(a, b): &(u8, u8)| if how == a { Some(b) } else { (how == b).then_some(a) };
    pairs.iter().find_map(other).or(either_way.contains(&how).then_some(how))
}

impl Vectors for Emit<'_> {
    /// A piece of each vector.
    type Unit = u8;

    fn isa(&self) -> Isa {
        self.asm.isa
    }

    fn asm(&mut self) -> &mut Asm {
        &mut self.asm
    }

    fn access(&self, src: Src, piece: u8) -> Access {
        match src {
            Src::Vector(vector) => self.register(vector, piece).map_or(Access::Memory, Access::Register),
            Src::Literal(_) | Src::Row(_) => Access::Memory,
            Src::Const(_) | Src::Each(_) => Access::Each,
        }
    }

    fn rm(&mut self, src: Src, piece: u8) -> Rm {
        match src {
            Src::Vector(vector) => self.register(vector, piece).map_or_else(|| self.row(vector, piece), Rm::Reg),
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(offset) => self.at(offset, piece),
            Src::Each(offset) => Rm::Each(RBX, offset),
        }
    }

    fn place(&self, vector: Vector, piece: u8) -> Place {
        match (self.register(vector, piece), self.input.locations.of[vector.index()]) {
            (Some(register), _) => Place::Register(register),
            (None, Location::Nowhere) => Place::Nowhere,
            (None, _) => Place::Memory(self.row(vector, piece)),
        }
    }

    fn mask_row(&self, k: K) -> Rm {
        Rm::Row(RBX, self.input.layout.save + super::MASK_ROWS + 32 * i32::from(k - 2))
    }
}

impl Emit<'_> {
    /// The register of a vector's piece.
    pub(super) fn register(&self, vector: Vector, piece: u8) -> Option<u8> {
        match self.input.locations.of[vector.index()] {
            Location::Register(first) => Some(match self.isa() {
                Isa::Avx512 => first * self.input.pieces + piece,
                Isa::Avx2 if self.is_wide(vector) => first + piece,
                Isa::Avx2 => first,
            }),
            Location::Row(_) | Location::Nowhere => None,
        }
    }

    /// Whether a vector has a place for each piece, not one for the piece at hand.
    fn is_wide(&self, vector: Vector) -> bool {
        self.input.wide.get(vector.index()).is_none_or(|&is_wide| is_wide)
    }

    /// A piece of a row of the frame.
    pub(super) fn at(&self, offset: i32, piece: u8) -> Rm {
        if self.is_moved {
            return Rm::Row(RSI, offset);
        }
        Rm::Row(RBX, offset + self.asm.isa.bytes() * i32::from(piece))
    }

    /// The row of a vector without a register.
    pub(super) fn row(&self, vector: Vector, piece: u8) -> Rm {
        let row = match self.input.locations.of[vector.index()] {
            Location::Row(row) => row as i32,
            Location::Register(_) | Location::Nowhere => 0,
        };
        if !self.is_wide(vector) {
            return Rm::Row(RBX, self.input.layout.slots + self.asm.isa.bytes() * row);
        }
        let home = self.input.homes.get(vector.index()).copied().flatten();
        self.at(home.unwrap_or(self.input.layout.spills + self.input.layout.spill_bytes * row), piece)
    }

    /// Whether an operand has no register.
    fn in_memory(&self, src: Src, piece: u8) -> bool {
        self.access(src, piece).is_memory()
    }

    /// One instruction for one piece.
    pub(super) fn line(&mut self, lir: &Lir, piece: u8) {
        // A multiply-add of three numbers in memory needs all scratch registers.
        if lir.uses_masks() || matches!(lir, Lir::Fma(..)) {
            self.in_mask = None;
        }
        match *lir {
            Lir::Test(op, how, k, a, b, under) if self.in_memory(a, piece) && !self.in_memory(b, piece) => {
                // AVX2 has other comparisons of integers.
                let turned = turned(op, how).filter(|_| op == CMP_F32 || self.isa() == Isa::Avx512);
                let lir = turned.map_or(*lir, |how| Lir::Test(op, how, k, b, a, under));
                self.single(&lir, piece, self.end);
            }
            Lir::Blend(dst, k, yes, Src::Literal(0)) if self.isa() == Isa::Avx512 => self.make(dst, piece, |e, dst| {
                let rm = e.rm(yes, piece);
                e.asm.evex(load_of(rm), dst, 0, rm, k, true, None);
            }),
            Lir::Store(offset, src) => {
                let from = self.reg(src, piece, self.isa().scratch());
                let row = self.at(offset, piece);
                self.store(from, row);
            }
            _ => {
                let is_one = self.single(lir, piece, self.end);
                debug_assert!(is_one, "{lir:?} is none of R700's");
            }
        }
    }

    /// `dst = op(a, b)` under a mask register.
    pub(super) fn two_under(&mut self, op: V, dst: Vector, [a, b]: [Src; 2], k: K, piece: u8) {
        let swap = commutes(op) && self.in_memory(a, piece) && !self.in_memory(b, piece);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        let a = self.reg(a, piece, self.isa().operand_scratch());
        let rm = self.rm(b, piece);
        self.change(dst, piece, |e, dst| e.asm.evex(op, dst, a, rm, k, false, None));
    }

    /// `dst = ±(a * b) ± c` under a mask register, where `dst` is one of the operands.
    pub(super) fn fma_under(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], k: K, piece: u8) {
        let [_, form213, form231] = forms(negated);
        let own = Src::Vector(dst);
        self.change(dst, piece, |e, dst| {
            let (form, factor, last) = if a == own {
                (form213, b, c)
            } else if b == own {
                (form213, a, c)
            } else {
                (form231, a, b)
            };
            let factor = e.reg(factor, piece, e.isa().operand_scratch());
            let last = e.rm(last, piece);
            e.asm.evex(form, dst, factor, last, k, false, None);
        });
    }

    /// A vector that a register has.
    pub(super) fn put(&mut self, dst: Vector, piece: u8, from: u8) {
        match self.place(dst, piece) {
            Place::Register(register) => self.asm.vector(MOVAPS, register, 0, Rm::Reg(from)),
            Place::Memory(row) => self.store(from, row),
            Place::Nowhere => {}
        }
    }
}
