//! Lookups of texels and of items of buffers.
//!
//! Texels are found by routines that all programs share (`forms`) and that the lookup's table names, those of textures with levels by routines of the program
//! (`levels`); items by a gather for each dword. Whether a lookup has a binding is seen when it runs, and so is whether its coordinates repeat; without one it is a call.

use super::{Emit, FORM_ROWS, OPERAND, SCRATCH};
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, BROADCAST, CMP_F32, Cond, Int, Label, MOVAPS, MOVUPS_LOAD, MUL, MUL_I32, PERMUTE_IN_QUAD, PSLL,
    RAX, RBX, RDX, Rm, SHIFT_IMM, SUB, XOR,
};
use crate::codegen::x86::elements::{self, Elements};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::masked::facts::{NOT_LESS, UNORDERED};
use crate::codegen::x86::masked::forms::{self, Names};
use crate::codegen::x86::masked::wide::SHR;
use crate::codegen::x86::masked::{Looked, Sample, UNCOMPARED, argument, head, result, table};
use crate::codegen::x86::texels::{REPEATS_BELOW, Texels};
use crate::codegen::x86::vectors::Vectors;
use crate::codegen::x86::weighed::Corners;
use crate::ir::masked::M;
use ctm_exec::float::{NAN, SIGN};

impl Emit<'_> {
    /// A lookup.
    pub(super) fn sample(&mut self, sample: &Sample, number: i32) {
        let (at, isa) = (self.table_of(number), self.isa());
        let (from, back) = (self.asm.label(), self.asm.label());
        self.asm.jump_cmp(true, RBX, at + table::BOUND, 0, Cond::Equal, from);
        if isa == Isa::Avx2 {
            self.give_arguments(sample);
        }
        let is_item = matches!(sample.looked, Looked::Item { .. });
        if self.input.levels && !is_item {
            let begin = self.asm.label();
            self.asm.jump_cmp(true, RBX, at + table::BOUND, 2, Cond::Equal, begin);
            self.levels.push((begin, back, from, number));
        }
        match sample.looked {
            Looked::Item { dwords, one } => self.item(sample, (dwords, one), at),
            // They have no other binding.
            _ if sample.looked.needs_levels() => self.asm.jump(from),
            _ => self.by_routine(sample, number, from),
        }
        self.asm.place(back);
        self.is_spread &= isa == Isa::Avx2;
        self.calls.push((from, back, *sample));
    }

    /// Texels by the routine that the lookup's table names.
    fn by_routine(&mut self, sample: &Sample, number: i32, from: Label) {
        let (at, names) = (self.table_of(number), Names::of(self.isa()));
        self.bound(sample, (at, 2), from);
        self.begin(sample, at);
        for (register, at) in [(forms::TABLE, at), (forms::OWN, self.work())] {
            self.asm.wide(Int::Mov, register, RBX);
            self.asm.wide_imm(Int::Add, register, at);
        }
        self.each_looked_up(sample, |e, piece| {
            for (axis, to) in [names.x, names.y].into_iter().enumerate() {
                let u = e.in_texels(sample, axis, piece, at, to);
                if u != to {
                    e.asm.vector(MOVAPS, to, 0, Rm::Reg(u));
                }
            }
            e.asm.call(forms::TABLE, table::ROUTINE);
            e.give_channels(sample, piece);
        });
    }

    /// Does something for each piece.
    pub(super) fn each_looked_up(&mut self, sample: &Sample, body: impl Fn(&mut Self, u8)) {
        match self.isa() {
            Isa::Avx512 => self.pieces().for_each(|piece| body(self, piece)),
            Isa::Avx2 => {
                self.with_registers(|e| body(e, 0));
                self.found(sample);
            }
        }
    }

    /// A coordinate, or what stands in its place; the register is `to` unless the operand is taken as it is.
    pub(super) fn argument(&mut self, sample: &Sample, number: usize, piece: u8, to: u8) -> u8 {
        match self.isa() {
            Isa::Avx512 => self.reg(sample.at[number], piece, to),
            Isa::Avx2 => {
                self.load_argument(to, sample, number);
                to
            }
        }
    }

    /// Gives an element that was found to whoever reads it.
    pub(super) fn give(&mut self, sample: &Sample, element: usize, piece: u8, from: u8) {
        match (self.isa(), sample.dst[element]) {
            (Isa::Avx512, Some(dst)) => self.put(dst, piece, from),
            (Isa::Avx512, None) => {}
            (Isa::Avx2, _) => self.store_element(from, sample, element as i32),
        }
    }

    /// Gives all channels of elements.
    fn give_channels(&mut self, sample: &Sample, piece: u8) {
        for (element, register) in Names::of(self.isa()).channels().into_iter().enumerate() {
            self.give(sample, element, piece, register);
        }
    }

    /// The table of a lookup.
    pub(super) fn table_of(&self, number: i32) -> i32 {
        self.input.layout.tables + table::BYTES * number
    }

    /// By what a coordinate differs in each quad; 0 where a quad is not complete.
    pub(super) fn slope(&mut self, dst: Vector, at: Src, vertical: bool) {
        for piece in self.pieces() {
            let at = self.reg(at, piece, OPERAND);
            self.load_mask(RAX, M::EXISTING);
            if piece > 0 {
                self.asm.wide_shift(SHR, RAX, 16 * piece);
            }
            self.slope_of(at, vertical);
            self.make(dst, piece, |e, dst| e.asm.evex(MOVAPS, dst, 0, Rm::Reg(SCRATCH), 1, true, None));
        }
    }

    /// By what a register differs in each quad, in the scratch register; in mask 1 the lanes whose quads are complete. Of rax, bits tell which lanes
    /// of the piece exist, from the first one on.
    pub(super) fn slope_of(&mut self, at: u8, vertical: bool) {
        let other = if vertical { 2 } else { 1 };
        self.asm.instruction(PERMUTE_IN_QUAD, SCRATCH, 0, Rm::Reg(at), Some(0x55 * other));
        self.asm.instruction(PERMUTE_IN_QUAD, OPERAND, 0, Rm::Reg(at), Some(0));
        self.asm.vector(SUB, SCRATCH, SCRATCH, Rm::Reg(OPERAND));
        self.asm.evex(CMP_F32, 1, SCRATCH, Rm::Reg(SCRATCH), 0, false, Some(UNORDERED));
        self.asm.evex(BROADCAST, SCRATCH, 0, Rm::Literal(NAN), 1, false, None);
        self.asm.wide_shift(SHR, RAX, other);
        self.asm.int_load(Int::And, true, RAX, RBX, head::QUADS);
        self.asm.wide_times(RAX, RAX, 15);
        self.asm.mask_from(1, RAX);
    }

    /// Counts the lanes that look up, and loads the pointer to what they read.
    pub(super) fn begin(&mut self, sample: &Sample, at: i32) {
        self.load_mask(RAX, sample.under);
        self.asm.wide_popcount(RAX, RAX);
        self.asm.int_store(Int::Add, true, RBX, at + table::LANES, RAX);
        self.asm.int_load(Int::Mov, true, RDX, RBX, at + table::DATA);
    }

    /// A coordinate in texels; the register is `to` unless the operand is taken as it is.
    pub(super) fn in_texels(&mut self, sample: &Sample, axis: usize, piece: u8, at: i32, to: u8) -> u8 {
        let mut u = self.argument(sample, axis, piece, to);
        let (scaled, offset) = match sample.looked {
            Looked::Nearest { unnormalised, offset, .. } => (!unnormalised[axis], (ADD, offset[axis].to_bits())),
            Looked::Load { offset } => (false, (ADD_I32, offset[axis].cast_unsigned())),
            Looked::Sizes | Looked::Item { .. } => return u,
        };
        if scaled {
            self.texels().with(MUL, to, u, Rm::Each(RBX, at + table::SIZE + 4 * axis as i32));
            u = to;
        }
        if offset.1 != 0 {
            self.asm.vector(offset.0, to, u, Rm::Literal(offset.1));
            u = to;
        }
        u
    }

    /// Goes to `from` where a coordinate that repeats is too large, before anything has been written, so that a call can still do everything.
    pub(super) fn bound(&mut self, sample: &Sample, (at, axes): (i32, usize), from: Label) {
        let Looked::Nearest { .. } = sample.looked else { return };
        for axis in 0..axes {
            let fine = self.asm.label();
            self.asm.jump_cmp(false, RBX, at + table::PERIOD + 4 * axis as i32, 0, Cond::Equal, fine);
            let x = Names::of(self.isa()).x;
            self.leave_where(sample, from, |e, piece, lanes| {
                let u = e.in_texels(sample, axis, piece, at, x);
                e.asm.vector(AND, x, u, Rm::Literal(!SIGN));
                e.texels().mark(x, Rm::Literal(REPEATS_BELOW.to_bits()), NOT_LESS, lanes);
            });
            self.asm.place(fine);
            // Where they do not repeat, no mask has been loaded.
            self.is_spread &= self.isa() == Isa::Avx2;
        }
    }

    /// Goes to `from` where `mark` marks a lane of a piece that looks up. It is told the mask register of those lanes; on AVX2 it may mark others.
    pub(super) fn leave_where(&mut self, sample: &Sample, from: Label, mark: impl Fn(&mut Self, u8, K)) {
        match self.isa() {
            Isa::Avx512 => {
                for piece in self.pieces() {
                    let lanes = self.lane_mask(sample.under, piece);
                    mark(self, piece, lanes);
                    self.asm.mask_test(1);
                    self.asm.jump_if(Cond::NotEqual, from);
                }
            }
            Isa::Avx2 => self.each_piece(|e| {
                mark(e, 0, 0);
                e.leave_if(sample, from);
            }),
        }
    }

    /// What the other elements of a comparison are; behind the first, as the reference values may lie where these go.
    pub(super) fn uncompared(&mut self, sample: &Sample, piece: u8) {
        if !sample.looked.compares() {
            return;
        }
        for (element, bits) in (0..).zip(UNCOMPARED).skip(1) {
            match (self.isa(), sample.dst[element as usize]) {
                (Isa::Avx512, Some(dst)) => self.copy(dst, Src::Literal(bits), piece),
                (Isa::Avx2, Some(_)) => {
                    let first = Names::of(Isa::Avx2).a;
                    self.load_rm(first, Rm::Literal(bits), 0);
                    self.store_element(first, sample, element);
                }
                (_, None) => {}
            }
        }
    }

    /// How elements are loaded.
    fn whole_elements(&self) -> Elements {
        let Names { x, y, a, b, .. } = Names::of(self.isa());
        Elements { registers: [x, y, a, b], data: RDX, rows: (RBX, self.work()) }
    }

    /// Loads the elements whose first dwords have the numbers in the scratch register.
    pub(super) fn load_elements(&mut self) {
        let elements = *self.elements.get_or_insert_with(|| self.asm.label());
        self.asm.call_label(elements);
    }

    /// The code for that, and for [`Self::weigh_elements`], once.
    pub(super) fn elements(&mut self) {
        if let Some(label) = self.elements.take() {
            self.asm.place(label);
            let elements = self.whole_elements();
            elements.load(&mut self.asm, elements.registers[0]);
            self.asm.ret();
        }
        if let Some(label) = self.weighed.take() {
            self.asm.place(label);
            let corners = self.corners();
            self.whole_elements().weigh(&mut self.asm, corners);
            self.asm.ret();
        }
    }

    /// Rows to work on: of those for registers during calls.
    fn work(&self) -> i32 {
        self.input.layout.save + if self.isa() == Isa::Avx512 { 0 } else { FORM_ROWS }
    }

    /// What lookups of four corners work on.
    pub(super) fn corners(&self) -> Corners {
        Corners { base: RBX, offset: self.work() + 64 * elements::ROWS }
    }

    /// Where the columns (axis 0) and the beginnings of the rows are kept, low and high.
    pub(super) fn side(&self, axis: usize, high: usize) -> Rm {
        Rm::Row(RBX, self.work() + 64 * (elements::ROWS + Corners::ROWS + (2 * axis + high) as i32))
    }

    /// The numbers of the corners' first dwords.
    pub(super) fn find_corners(&mut self, corners: Corners) {
        let x = Names::of(self.isa()).x;
        for corner in 0..4 {
            let [column, row] = [self.side(0, corner % 2), self.side(1, corner / 2)];
            self.asm.vector(MOVUPS_LOAD, x, 0, column);
            self.asm.vector(ADD_I32, x, x, row);
            self.asm.instruction(SHIFT_IMM, PSLL, x, Rm::Reg(x), Some(2));
            self.store(x, corners.index(corner));
        }
    }

    /// Weighs the elements of four corners, into the scratch registers.
    pub(super) fn weigh_elements(&mut self) {
        let weighed = *self.weighed.get_or_insert_with(|| self.asm.label());
        self.asm.call_label(weighed);
    }

    /// Goes to `done` where a period is as long as the texture. Changes rax.
    pub(super) fn unless_mirrored(&mut self, period: i32, size: i32, done: Label) {
        self.asm.int_load(Int::Mov, false, RAX, RBX, period);
        self.asm.int_load(Int::Cmp, false, RAX, RBX, size);
        self.asm.jump_if(Cond::Equal, done);
    }

    pub(super) fn texels(&mut self) -> Texels<'_> {
        let isa = self.isa();
        Texels { asm: &mut self.asm, isa, scratch: Names::of(isa).each }
    }

    /// A vertex fetch: items by whole numbers, zeros outside.
    fn item(&mut self, sample: &Sample, (dwords, one): (u8, u32), at: i32) {
        let Names { x, y, a, .. } = Names::of(self.isa());
        self.begin(sample, at);
        self.each_looked_up(sample, |e, piece| {
            let index = e.argument(sample, 0, piece, x);
            e.texels().with(ADD_I32, x, index, Rm::Each(RBX, at + table::FIRST));
            e.asm.vector(XOR, a, a, Rm::Reg(a));
            e.texels().load_each(y, Rm::Each(RBX, at + table::HEIGHT));
            e.texels().inside(x, y, a);
            e.texels().with(MUL_I32, x, x, Rm::Each(RBX, at + table::WIDTH));
            for element in (0..4).filter(|&element| sample.dst[element].is_some()) {
                e.texels().mark_zero(a);
                if element < usize::from(dwords) {
                    e.texels().gather(y, RDX, (x, true), 4 * element as i32);
                } else {
                    e.texels().load_each(y, Rm::Literal(if element == 3 { one } else { 0 }));
                    e.texels().keep_marked(y);
                }
                e.give(sample, element, piece, y);
            }
        });
    }

    /// Lookups by calls.
    pub(super) fn sample_calls(&mut self) {
        for (from, back, sample) in std::mem::take(&mut self.calls) {
            self.asm.place(from);
            for (n, src) in sample.at.into_iter().enumerate() {
                self.pieces().for_each(|piece| self.line(&Lir::Store(argument(n), src), piece));
            }
            self.call(sample.call, sample.under);
            for (element, dst) in sample.dst.into_iter().enumerate() {
                let Some(dst) = dst else { continue };
                self.pieces().for_each(|piece| self.copy(dst, Src::Row(result(element)), piece));
            }
            self.asm.jump(back);
        }
    }
}
