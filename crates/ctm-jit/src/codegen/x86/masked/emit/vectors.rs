//! Single vector instructions: the locations of operands and results, and the instructions that [`Vectors`] does
//! not have.

use super::{Emit, MASK_ROWS};
use crate::codegen::target::Target;
use crate::codegen::x86::allocate::Location;
use crate::codegen::x86::lines::line;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::vectors::{Access, Destination, Vectors};
use ctm_x86::{Asm, MOVAPS, RBP, RBX, RSI, Rm};

impl Vectors for Emit<'_> {
    /// A part of each vector.
    type Unit = u8;

    fn target(&self) -> &'static Target {
        self.input.target.target
    }

    fn asm(&mut self) -> &mut Asm {
        &mut self.asm
    }

    fn access(&self, src: Src, piece: u8) -> Access {
        match self.kept(src) {
            Src::Vector(vector) => self.register(vector, piece).map_or(Access::Memory, Access::Register),
            Src::Const(_) => Access::Each,
            Src::Each(_) if self.target().has.broadcast_operands => Access::Each,
            Src::Each(_) | Src::Row(_) | Src::Literal(_) => Access::Memory,
        }
    }

    fn rm(&mut self, src: Src, piece: u8) -> Rm {
        match self.kept(src) {
            Src::Vector(vector) => self.register(vector, piece).map_or_else(|| self.row(vector, piece), Rm::Reg),
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(offset) => self.at(offset, piece),
            Src::Each(offset) if self.target().has.broadcast_operands => Rm::Each(RBX, offset),
            Src::Each(offset) => Rm::Row(RBX, offset),
        }
    }

    fn place(&self, vector: Vector, piece: u8) -> Destination {
        match (self.register(vector, piece), self.input.locations.of[vector.index()]) {
            (Some(register), _) => Destination::Register(register),
            (None, Location::Nowhere) => Destination::Nowhere,
            (None, _) => Destination::Memory(self.row(vector, piece)),
        }
    }

    fn mask_row(&self, k: K) -> Rm {
        Rm::Row(RBX, self.input.layout.save + MASK_ROWS + 32 * i32::from(k - 2))
    }
}

impl Emit<'_> {
    /// The vector in which a loop pins a literal or a constant; any other operand unchanged.
    fn kept(&self, src: Src) -> Src {
        let kept = if self.is_in_loop { self.input.kept } else { &[] };
        let has_place = |vector: Vector| self.input.locations.of[vector.index()] != Location::Nowhere;
        let found = kept.iter().find(|&&(of, vector)| of == src && has_place(vector));
        found.map_or(src, |&(_, vector)| Src::Vector(vector))
    }

    /// The register of a vector's part.
    pub(super) fn register(&self, vector: Vector, piece: u8) -> Option<u8> {
        match self.input.locations.of[vector.index()] {
            Location::Register(first) => Some(if self.is_wide(vector) { first + piece } else { first }),
            Location::Row(_) | Location::Nowhere => None,
        }
    }

    /// Whether a vector has a place for each part, not one for the present part.
    fn is_wide(&self, vector: Vector) -> bool {
        self.input.wide.get(vector.index()).is_none_or(|&is_wide| is_wide)
    }

    /// A part of a row of the frame.
    pub(super) fn at(&self, offset: i32, piece: u8) -> Rm {
        if self.is_moved {
            return Rm::Row(RSI, offset);
        }
        Rm::Row(RBX, offset + self.target().bytes() * i32::from(piece))
    }

    /// The row of a vector without a register.
    pub(super) fn row(&self, vector: Vector, piece: u8) -> Rm {
        let row = match self.input.locations.of[vector.index()] {
            Location::Row(row) => row as i32,
            Location::Register(_) | Location::Nowhere => 0,
        };
        if !self.is_wide(vector) {
            return Rm::Row(RBX, self.input.layout.slots + self.target().bytes() * row);
        }
        self.at(self.input.layout.spills + self.input.layout.spill_bytes * row, piece)
    }

    /// One instruction for one part.
    pub(super) fn line(&mut self, lir: &Lir, piece: u8) {
        // A multiply-add of three numbers in memory needs all scratch registers.
        if lir.uses_masks() || matches!(lir, Lir::Fma { .. }) {
            self.in_mask = None;
        }
        match *lir {
            Lir::Store(offset, src) => {
                let from = self.reg(src, piece, self.target().scratch());
                let row = self.at(offset, piece);
                self.store(from, row);
            }
            _ => {
                let end = self.end;
                let is_one = line(self, lir, piece, end);
                debug_assert!(is_one, "{lir:?} is none of R700's");
            }
        }
    }

    /// A vector that is in a register.
    pub(super) fn put(&mut self, dst: Vector, piece: u8, from: u8) {
        match self.place(dst, piece) {
            Destination::Register(register) => self.asm.vector(MOVAPS, register, 0, Rm::Reg(from)),
            Destination::Memory(row) => self.store(from, row),
            Destination::Nowhere => {}
        }
    }
}
