//! Lookups of texels and of items of buffers on AVX2: a gather for each element, four where texels are weighed, in a loop over the pieces.
//!
//! What it does as with AVX-512 is in `lookups`. A lookup reads and makes rows, where vectors have registers those of a call, so it may use any registers: it saves the ones that vectors
//! have. Whether it leaves for a call it decides with scratch registers alone.
//!
//! | register | holds |
//! |---|---|
//! | rsi, rdi | the frame, moved by a piece's bytes of rows, and by those of masks (`pieces`) |
//! | rdx | what is looked up |

use super::{ACTIVE, Emit};
use crate::codegen::x86::asm::{
    ADD_I32, AND, Cond, EQUAL_I32, Int, Label, MIN_U32, MOVAPS, MOVUPS_LOAD, MUL_I32, PERMUTE_IN_QUAD, PSLL, PSRA, RAX,
    RBX, RCX, RDI, RDX, Rm, SHIFT_IMM, SUB, XOR,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::masked::forms::Names;
use crate::codegen::x86::masked::{Looked, Sample, What, argument, result, table};
use crate::codegen::x86::vectors::{Access, Place, Vectors};
use crate::ir::masked::M;

/// Masks.
const MASK: u8 = Isa::Avx2.mask_scratch();
/// Coordinates, then indices.
const X: u8 = Isa::Avx2.operand_scratch();
/// What is the same in all lanes.
const EACH: u8 = Isa::Avx2.scratch();
/// Texels of the first row. The register below it is changed where coordinates repeat.
const FIRST: u8 = 11;
/// The lanes that find something.
pub(super) const FOUND: u8 = 9;
/// Weights along x and y.
const WEIGHTS: [u8; 2] = [9, 8];
/// Columns left and right, rows above and below.
const SIDES: [[u8; 2]; 2] = [[7, 6], [5, 4]];
/// Texels of the second row, and right of either.
const SECOND: u8 = 3;
pub(super) const BESIDE: u8 = 2;

impl Emit<'_> {
    /// What a lookup reads goes to rows, where vectors have registers.
    pub(super) fn give_arguments(&mut self, sample: &Sample) {
        let read: &[usize] = match sample.looked {
            Looked::Nearest { .. } if self.input.levels => &[0, 1, 2, 3],
            Looked::Nearest { what: What::Compared, .. } => &[0, 1, 3],
            Looked::Load { .. } if sample.at[3] != Src::Literal(0) => &[0, 1, 3],
            Looked::Nearest { .. } | Looked::Load { .. } | Looked::Sizes => &[0, 1],
            Looked::Item { .. } => &[0],
        };
        for &n in read {
            if !self.has_register(sample.at[n]) {
                continue;
            }
            self.pieces().for_each(|piece| self.line(&Lir::Store(argument(n), sample.at[n]), piece));
        }
        // Masks are looked at where they lie in the frame; programs with lookups have no others in registers.
        if sample.under == M::ACTIVE {
            self.asm.int_store(Int::Mov, true, RBX, Self::mask_at(M::ACTIVE), ACTIVE);
        }
    }

    /// Does something for each piece with registers from this number on, which vectors may have.
    pub(super) fn with_registers(&mut self, first: u8, body: impl FnOnce(&mut Self)) {
        let saved = first..self.registers().end.max(first);
        for register in saved.clone() {
            let row = self.saved(register);
            self.store(register, row);
        }
        self.each_piece(body);
        for register in saved {
            let row = self.saved(register);
            self.asm.vector(MOVUPS_LOAD, register, 0, row);
        }
    }

    fn has_register(&self, src: Src) -> bool {
        matches!(self.access(src, 0), Access::Register(_))
    }

    /// Takes what a lookup has found from the rows of results, where it is to be in registers.
    pub(super) fn found(&mut self, sample: &Sample) {
        for (element, dst) in sample.dst.into_iter().enumerate() {
            let Some(dst) = dst.filter(|&dst| self.has_register(Src::Vector(dst))) else { continue };
            self.pieces().for_each(|piece| self.copy(dst, Src::Row(result(element)), piece));
        }
    }

    /// A coordinate, or what stands in its place: from the row where it lies, or where it has been put.
    pub(super) fn load_argument(&mut self, to: u8, sample: &Sample, number: usize) {
        let src = sample.at[number];
        let src = if self.has_register(src) { Src::Row(argument(number)) } else { src };
        self.load_into(to, src, 0);
    }

    /// Stores an element in its row, or where it is taken from.
    pub(super) fn store_element(&mut self, from: u8, sample: &Sample, element: i32) {
        let Some(dst) = sample.dst[element as usize] else { return };
        let row = match self.place(dst, 0) {
            Place::Memory(row) => row,
            Place::Register(_) | Place::Nowhere => self.at(result(element as usize), 0),
        };
        self.store(from, row);
    }

    /// Goes to `from` when the mask holds in a lane that looks up.
    pub(super) fn leave_if(&mut self, sample: &Sample, from: Label) {
        self.asm.signs(RAX, MASK);
        self.asm.load_byte(RCX, false, RDI, Self::mask_at(sample.under));
        self.asm.test(RAX, RCX);
        self.asm.jump_if(Cond::NotEqual, from);
    }

    /// Dwords of texels in all lanes.
    fn gather_all(&mut self, to: u8, element: i32) {
        self.asm.vector(EQUAL_I32, MASK, MASK, Rm::Reg(MASK));
        self.asm.vector(XOR, to, to, Rm::Reg(to));
        self.asm.gather_by_signs(to, MASK, RDX, X, 4 * element);
    }

    /// The elements whose first dwords have the numbers in x, as the routines for elements leave them.
    pub(super) fn gather_elements(&mut self) {
        let [x, second, third, fourth] = Names::of(Isa::Avx2).channels();
        for (element, register) in (0..).zip([EACH, second, third, fourth]) {
            self.gather_all(register, element);
        }
        self.asm.vector(MOVAPS, x, 0, Rm::Reg(EACH));
    }

    /// The elements that are looked up, and a row for each.
    pub(super) fn elements_of(sample: &Sample) -> impl Iterator<Item = i32> + use<> {
        let count = if sample.looked.compares() { 1 } else { 4 };
        let dst = sample.dst;
        (0..).zip(dst).take(count).filter_map(|(element, dst)| dst.map(|_| element))
    }

    /// The elements of the texels whose dwords begin at x.
    pub(super) fn elements_by_gathers(&mut self, sample: &Sample, at: i32) {
        for element in Self::elements_of(sample) {
            self.gather_all(FIRST, element);
            if sample.looked.compares() {
                self.compare(sample, at, 0, FIRST);
            }
            self.store_element(FIRST, sample, element);
        }
    }

    /// One piece of a lookup that weighs texels.
    pub(super) fn weigh_by_gathers(&mut self, sample: &Sample, at: i32) {
        for (axis, weight) in WEIGHTS.into_iter().enumerate() {
            let [low, high] = SIDES[axis];
            self.in_texels(sample, axis, 0, at, X);
            self.texels().split(X, low, high);
            self.asm.vector(MOVAPS, weight, 0, Rm::Reg(X));
            for side in [low, high] {
                self.wrapped(sample, axis, at, side, side);
                if axis == 1 {
                    self.texels().with(MUL_I32, side, side, Rm::Each(RBX, at + table::WIDTH));
                }
            }
        }
        for element in Self::elements_of(sample) {
            for (below, left) in SIDES[1].into_iter().zip([FIRST, SECOND]) {
                for (column, to) in SIDES[0].into_iter().zip([left, BESIDE]) {
                    self.asm.vector(ADD_I32, X, column, Rm::Reg(below));
                    self.asm.instruction(SHIFT_IMM, PSLL, X, Rm::Reg(X), Some(2));
                    self.gather_all(to, element);
                    if sample.looked.compares() {
                        self.compare(sample, at, 0, to);
                    }
                }
                self.texels().mix(left, BESIDE, Rm::Reg(WEIGHTS[0]));
            }
            self.texels().mix(FIRST, SECOND, Rm::Reg(WEIGHTS[1]));
            self.texels().one_nan(FIRST);
            self.store_element(FIRST, sample, element);
        }
        self.uncompared(sample, 0);
    }

    /// `found = x < a dword of the frame's`, unsigned, and in that register already if `also`. The dword is not 0.
    pub(super) fn below_by_signs(&mut self, x: u8, offset: i32, also: bool) {
        let size = self.texels().each(Rm::Each(RBX, offset));
        self.load_rm(MASK, size, 0);
        self.asm.vector(ADD_I32, MASK, MASK, Rm::Literal(u32::MAX));
        self.asm.vector(MIN_U32, MASK, MASK, Rm::Reg(x));
        if also {
            self.asm.vector(EQUAL_I32, MASK, MASK, Rm::Reg(x));
            self.asm.vector(AND, FOUND, FOUND, Rm::Reg(MASK));
        } else {
            self.asm.vector(EQUAL_I32, FOUND, MASK, Rm::Reg(x));
        }
    }

    /// Dwords at indices (of dwords, or of `bytes`) in the lanes that find something, 0 in others.
    pub(super) fn gather_found(&mut self, sample: &Sample, bytes: bool, element: i32) {
        self.asm.vector(MOVAPS, MASK, 0, Rm::Reg(FOUND));
        self.asm.vector(XOR, FIRST, FIRST, Rm::Reg(FIRST));
        if bytes {
            self.asm.gather_bytes_by_signs(FIRST, MASK, RDX, X, 4 * element);
        } else {
            self.asm.gather_by_signs(FIRST, MASK, RDX, X, 4 * element);
        }
        self.store_element(FIRST, sample, element);
    }

    /// These bits in the lanes that find something, 0 in others.
    pub(super) fn found_bits(&mut self, sample: &Sample, bits: u32, element: i32) {
        self.asm.vector(AND, FIRST, FOUND, Rm::Literal(bits));
        self.store_element(FIRST, sample, element);
    }

    /// Marks the lanes where a whole number is not 0.
    pub(super) fn mark_others(&mut self, x: u8) {
        self.asm.vector(EQUAL_I32, MASK, x, Rm::Literal(0));
        self.asm.vector(XOR, MASK, MASK, Rm::Literal(u32::MAX));
    }

    /// By what a coordinate differs in each quad of a piece; 0 where a quad is not complete.
    pub(super) fn slope_of_piece(&mut self, dst: Vector, at: Src, vertical: bool, piece: u8) {
        let at = self.reg(at, piece, X);
        self.slope_by_signs(at, piece, vertical);
        self.make(dst, piece, |e, dst| e.asm.vector(AND, dst, X, Rm::Reg(MASK)));
    }

    /// By what a register differs in each quad of a piece, in x; the mask has the lanes whose quads are complete.
    pub(super) fn slope_by_signs(&mut self, at: u8, piece: u8, vertical: bool) {
        let other = if vertical { 2 } else { 1 };
        self.asm.instruction(PERMUTE_IN_QUAD, EACH, 0, Rm::Reg(at), Some(0x55 * other));
        self.asm.instruction(PERMUTE_IN_QUAD, X, 0, Rm::Reg(at), Some(0));
        self.asm.vector(SUB, X, EACH, Rm::Reg(X));
        self.texels().one_nan(X);
        // Whether each quad has its other lane, in the lane that compares.
        self.spread_piece(M::EXISTING, piece, MASK);
        self.in_mask = None;
        self.asm.instruction(PERMUTE_IN_QUAD, MASK, 0, Rm::Reg(MASK), Some(0x55 * other));
        self.asm.instruction(SHIFT_IMM, PSRA, MASK, Rm::Reg(MASK), Some(31));
    }
}
