//! Lookups of texels and of items of buffers: a gather for each element and part, four where texels are weighed.
//!
//! What is looked up is found as with AVX-512 (`emit/lookups`); what a lookup reads and makes lies in rows here, so that all registers are free.

use super::super::{Looked, Sample, UNCOMPARED, argument, result, table};
use super::emit::{Emit, MASK, SCRATCH};
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, BROADCAST, CMP_F32, Cond, EQUAL_I32, Int, Label, MIN_U32, MOVAPS, MUL, MUL_I32, RAX, RBX, RCX,
    RDX, Rm, SHIFT_IMM, V, XOR,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::r700::facts::NOT_LESS;
use crate::codegen::x86::texels::{Axis, REPEATS_BELOW, Texels, clamped};
use crate::codegen::x86::vectors::{Place, Vectors};
use ctm_exec::x1k::float::SIGN;

/// Coordinates, then indices.
const X: u8 = 0;
const Y: u8 = 1;
/// What is the same in all lanes.
const EACH: u8 = 2;
/// The lanes that find something.
const FOUND: u8 = 3;
/// Weights along x and y.
const WEIGHTS: [u8; 2] = [4, 5];
/// Columns left and right, rows above and below.
const SIDES: [[u8; 2]; 2] = [[6, 7], [8, 9]];
/// Texels: of the first row, the second row, and right of either.
const FIRST: u8 = 10;
const SECOND: u8 = 11;
const BESIDE: u8 = 12;
/// The extension of vector shifts to the left.
const SHIFT_LEFT: u8 = 6;

/// A lookup whose code goes on elsewhere: where that begins, and where it comes back to.
pub struct Aside {
    from: Label,
    back: Label,
    sample: Sample,
    kind: Kind,
}

/// What it goes on to.
enum Kind {
    /// A call.
    Call,
    /// Texels are weighed: the lookup's table, and where calls are.
    Weigh(i32, Label),
}

impl Emit<'_> {
    /// A lookup.
    pub(super) fn sample(&mut self, sample: &Sample, number: i32) {
        let at = self.layout.tables + table::BYTES * number;
        let (from, back) = (self.asm.label(), self.asm.label());
        self.asm.int_store_imm(Int::Cmp, true, RBX, at + table::BOUND, 0);
        self.asm.jump_if(Cond::Equal, from);
        if matches!(sample.looked, Looked::Nearest { .. }) {
            let linear = if self.program.linear { self.asm.label() } else { from };
            self.asm.int_store_imm(Int::Cmp, true, RBX, at + table::BOUND, 2);
            self.asm.jump_if(Cond::Equal, linear);
            if self.program.linear {
                let kind = Kind::Weigh(at, from);
                self.asides.push(Aside { from: linear, back, sample: *sample, kind });
            }
        }
        match sample.looked {
            Looked::Nearest { .. } => self.nearest(sample, at, from),
            Looked::Load { offset } => self.load_texel(sample, offset, at, from),
            Looked::Item { dwords, one } => self.item(sample, (dwords, one), at),
        }
        self.asm.place(back);
        self.asides.push(Aside { from, back, sample: *sample, kind: Kind::Call });
    }

    /// What stands behind all blocks.
    pub(super) fn asides(&mut self) {
        for Aside { from, back, sample, kind } in std::mem::take(&mut self.asides) {
            self.asm.place(from);
            match kind {
                Kind::Call => self.sample_call(&sample),
                Kind::Weigh(at, call) => self.weighed(&sample, at, call),
            }
            self.asm.jump(back);
        }
    }

    fn sample_call(&mut self, sample: &Sample) {
        let Sample { at, dst, .. } = *sample;
        self.each_part(2 * at.len(), &[], |e| {
            for (n, src) in at.into_iter().enumerate() {
                let from = e.reg(src, (), SCRATCH);
                let row = e.row(argument(n));
                e.store(from, row);
            }
        });
        self.call(sample.call, sample.under);
        self.each_part(2 * dst.len(), &[], |e| {
            for (element, dst) in dst.into_iter().enumerate() {
                if let Some(dst) = dst {
                    e.copy(dst, Src::Row(result(element)), ());
                }
            }
        });
    }

    /// Counts the lanes that look up, and loads the pointer to what they read.
    fn begin(&mut self, sample: &Sample, at: i32) {
        self.load_mask(RAX, sample.under);
        self.asm.wide_popcount(RAX, RAX);
        self.asm.int_store(Int::Add, true, RBX, at + table::LANES, RAX);
        self.asm.int_load(Int::Mov, true, RDX, RBX, at + table::DATA);
    }

    fn texels(&mut self) -> Texels<'_> {
        Texels { asm: &mut self.asm, isa: Isa::Avx2, scratch: EACH }
    }

    /// A dword of the frame's in all lanes.
    fn each(&mut self, offset: i32) -> Rm {
        self.asm.vector(BROADCAST, EACH, 0, Rm::Each(RBX, offset));
        Rm::Reg(EACH)
    }

    /// `to = op(a, a dword of the frame's)`.
    fn with_each(&mut self, op: V, to: u8, a: u8, offset: i32) {
        let each = self.each(offset);
        self.asm.vector(op, to, a, each);
    }

    /// A coordinate in texels.
    fn in_texels(&mut self, sample: &Sample, axis: usize, at: i32, to: u8) {
        self.load_into(to, sample.at[axis], ());
        let Looked::Nearest { unnormalised, offset, .. } = sample.looked else { return };
        if !unnormalised[axis] {
            self.with_each(MUL, to, to, at + table::SIZE + 4 * axis as i32);
        }
        if offset[axis] != 0.0 {
            self.asm.vector(ADD, to, to, Rm::Literal(offset[axis].to_bits()));
        }
    }

    /// Goes to `from` when mask 1 holds in a lane of another mask.
    fn leave_if(&mut self, sample: &Sample, from: Label) {
        let (base, offset) = self.bits(sample.under);
        self.asm.signs(RAX, MASK);
        self.asm.load_byte(RCX, false, base, offset);
        self.asm.test(RAX, RCX);
        self.asm.jump_if(Cond::NotEqual, from);
    }

    /// Goes to `from` where a coordinate that repeats is too large, before anything has been written, so that a call can still do everything.
    fn bound(&mut self, sample: &Sample, at: i32, from: Label) {
        let Looked::Nearest { unnormalised, .. } = sample.looked else { return };
        for axis in (0..2).filter(|&axis| !unnormalised[axis]) {
            let fine = self.asm.label();
            self.asm.int_store_imm(Int::Cmp, false, RBX, at + table::PERIOD + 4 * axis as i32, 0);
            self.asm.jump_if(Cond::Equal, fine);
            self.each_part(9, &[], |e| {
                e.in_texels(sample, axis, at, X);
                e.asm.vector(AND, X, X, Rm::Literal(!SIGN));
                e.asm.vex(CMP_F32, MASK, X, Rm::Literal(REPEATS_BELOW.to_bits()), Some(NOT_LESS));
                e.leave_if(sample, from);
            });
            self.asm.place(fine);
        }
    }

    /// A coordinate as the number of a column or row.
    fn wrapped(&mut self, sample: &Sample, axis: usize, at: i32, u: u8) {
        if let Looked::Nearest { unnormalised, .. } = sample.looked
            && !unnormalised[axis]
        {
            self.repeat(axis as i32, at, u);
        }
        let last = self.each(at + table::LAST + 4 * axis as i32);
        clamped(&mut self.asm, u, u, last);
    }

    /// Where coordinates repeat, the one of the first period, and behind the edge its mirror image.
    fn repeat(&mut self, axis: i32, at: i32, u: u8) {
        let of_axis = |place: i32| at + place + 4 * axis;
        let done = self.asm.label();
        self.asm.int_store_imm(Int::Cmp, false, RBX, of_axis(table::PERIOD), 0);
        self.asm.jump_if(Cond::Equal, done);
        let each = |place: i32| Rm::Each(RBX, of_axis(place));
        let of_axis = Axis {
            size: each(table::SIZE),
            last: each(table::LAST),
            period: each(table::PERIOD),
            inverse: each(table::INVERSE),
        };
        self.texels().floor(u, u);
        self.texels().repeat(u, SCRATCH, &of_axis);
        self.texels().mirror(u, SCRATCH, &of_axis);
        self.asm.place(done);
    }

    /// `x = 4 * (x + y * columns)`: where a texel's dwords begin.
    fn texel_index(&mut self, at: i32) {
        self.with_each(MUL_I32, Y, Y, at + table::WIDTH);
        self.asm.vector(ADD_I32, X, X, Rm::Reg(Y));
        self.asm.instruction(SHIFT_IMM, SHIFT_LEFT, X, Rm::Reg(X), Some(2));
    }

    /// Dwords of texels in all lanes.
    fn gather_all(&mut self, to: u8, index: u8, element: i32) {
        self.asm.vector(EQUAL_I32, MASK, MASK, Rm::Reg(MASK));
        self.asm.vector(XOR, to, to, Rm::Reg(to));
        self.asm.gather_by_signs(to, MASK, RDX, index, 4 * element);
    }

    /// Stores an element.
    fn put(&mut self, dst: Vector, from: u8) {
        if let Place::Memory(row) = self.place(dst, ()) {
            self.store(from, row);
        }
    }

    /// Compares texels with reference values, in place.
    fn compare(&mut self, sample: &Sample, at: i32, texels: u8) {
        self.load_into(Y, sample.at[3], ());
        let outcomes = [0, 4, 8, 12].map(|n| Rm::Each(RBX, at + table::COMPARED + n));
        self.texels().compare(X, texels, Rm::Reg(Y), outcomes, MASK);
        self.asm.vector(MOVAPS, texels, 0, Rm::Reg(X));
    }

    /// What the other elements of a comparison are.
    fn uncompared(&mut self, sample: &Sample) {
        for (dst, bits) in sample.dst.into_iter().zip(UNCOMPARED).skip(1) {
            dst.into_iter().for_each(|dst| self.copy(dst, Src::Literal(bits), ()));
        }
    }

    /// The nearest texels: coordinates clamped to the texture.
    fn nearest(&mut self, sample: &Sample, at: i32, from: Label) {
        self.bound(sample, at, from);
        self.begin(sample, at);
        self.each_part(48, &[], |e| {
            for (axis, to) in [X, Y].into_iter().enumerate() {
                e.in_texels(sample, axis, at, to);
                e.wrapped(sample, axis, at, to);
            }
            e.texel_index(at);
            let compares = sample.looked.compares();
            for (element, dst) in (0..).zip(sample.dst).take(if compares { 1 } else { 4 }) {
                let Some(dst) = dst else { continue };
                e.gather_all(FIRST, X, element);
                if compares {
                    e.compare(sample, at, FIRST);
                }
                e.put(dst, FIRST);
            }
            if compares {
                e.uncompared(sample);
            }
        });
    }

    /// Four texels weighed, along x, then along y.
    fn weighed(&mut self, sample: &Sample, at: i32, call: Label) {
        self.bound(sample, at, call);
        self.begin(sample, at);
        self.each_part(120, &[], |e| {
            for (axis, weight) in WEIGHTS.into_iter().enumerate() {
                let [low, high] = SIDES[axis];
                e.in_texels(sample, axis, at, X);
                e.texels().split(X, low, high);
                e.asm.vector(MOVAPS, weight, 0, Rm::Reg(X));
                for side in [low, high] {
                    e.wrapped(sample, axis, at, side);
                    if axis == 1 {
                        e.with_each(MUL_I32, side, side, at + table::WIDTH);
                    }
                }
            }
            let compares = sample.looked.compares();
            for (element, dst) in (0..).zip(sample.dst).take(if compares { 1 } else { 4 }) {
                let Some(dst) = dst else { continue };
                for (row, left) in SIDES[1].into_iter().zip([FIRST, SECOND]) {
                    for (column, to) in SIDES[0].into_iter().zip([left, BESIDE]) {
                        e.asm.vector(ADD_I32, X, column, Rm::Reg(row));
                        e.asm.instruction(SHIFT_IMM, SHIFT_LEFT, X, Rm::Reg(X), Some(2));
                        e.gather_all(to, X, element);
                        if compares {
                            e.compare(sample, at, to);
                        }
                    }
                    e.texels().mix(left, BESIDE, Rm::Reg(WEIGHTS[0]));
                }
                e.texels().mix(FIRST, SECOND, Rm::Reg(WEIGHTS[1]));
                e.texels().one_nan(FIRST);
                e.put(dst, FIRST);
            }
            if compares {
                e.uncompared(sample);
            }
        });
    }

    /// `found = x < a dword of the frame's`, unsigned, and in that register already if `also`. The dword is not 0.
    fn below(&mut self, x: u8, offset: i32, also: bool) {
        let size = self.each(offset);
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
    fn gather_found(&mut self, dst: Vector, index: u8, bytes: bool, element: i32) {
        self.asm.vector(MOVAPS, MASK, 0, Rm::Reg(FOUND));
        self.asm.vector(XOR, FIRST, FIRST, Rm::Reg(FIRST));
        if bytes {
            self.asm.gather_bytes_by_signs(FIRST, MASK, RDX, index, 4 * element);
        } else {
            self.asm.gather_by_signs(FIRST, MASK, RDX, index, 4 * element);
        }
        self.put(dst, FIRST);
    }

    /// `LD`: texels by whole numbers, zeros outside.
    fn load_texel(&mut self, sample: &Sample, offset: [i32; 2], at: i32, from: Label) {
        if sample.at[3] != Src::Literal(0) {
            // Other levels are for the call, before anything has been written.
            self.each_part(6, &[], |e| {
                e.load_into(X, sample.at[3], ());
                e.asm.vector(EQUAL_I32, MASK, X, Rm::Literal(0));
                e.asm.vector(XOR, MASK, MASK, Rm::Literal(u32::MAX));
                e.leave_if(sample, from);
            });
        }
        self.begin(sample, at);
        self.each_part(36, &[], |e| {
            let sizes = [table::WIDTH, table::HEIGHT];
            for (axis, to) in [X, Y].into_iter().enumerate() {
                e.load_into(to, sample.at[axis], ());
                if offset[axis] != 0 {
                    e.asm.vector(ADD_I32, to, to, Rm::Literal(offset[axis].cast_unsigned()));
                }
                e.below(to, at + sizes[axis], axis == 1);
            }
            e.texel_index(at);
            for (element, dst) in (0..).zip(sample.dst) {
                let Some(dst) = dst else { continue };
                e.gather_found(dst, X, false, element);
            }
        });
    }

    /// A vertex fetch: items by whole numbers, zeros outside.
    fn item(&mut self, sample: &Sample, (dwords, one): (u8, u32), at: i32) {
        self.begin(sample, at);
        self.each_part(30, &[], |e| {
            e.load_into(X, sample.at[0], ());
            e.with_each(ADD_I32, X, X, at + table::FIRST);
            e.below(X, at + table::HEIGHT, false);
            e.with_each(MUL_I32, X, X, at + table::WIDTH);
            for (element, dst) in (0..).zip(sample.dst) {
                let Some(dst) = dst else { continue };
                if element < i32::from(dwords) {
                    e.gather_found(dst, X, true, element);
                } else {
                    let bits = if element == 3 { one } else { 0 };
                    e.asm.vector(AND, FIRST, FOUND, Rm::Literal(bits));
                    e.put(dst, FIRST);
                }
            }
        });
    }
}
