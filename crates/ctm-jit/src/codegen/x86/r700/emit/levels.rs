//! Lookups of textures with mipmap levels, layers or faces: as `ctm_exec::r700::sample` does them, 16 lanes at once.
//!
//! They stand aside of the program, as they are long: for each lookup one routine, which is called for each piece of a wavefront with the coordinates in rows.

use super::lookups::{RIGHT, SHIFT_LEFT};
use super::{Emit, GATHERED, OPERAND, SCRATCH};
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, CMP_F32, CMP_I32, CVT_F32_I32, Cond, EXPONENT, FMADD213, FMADD231, FRACTION, Int, Label, MAX,
    MIN, MOVAPS, MOVUPS_LOAD, MUL, MUL_I32, PERMUTE, PERMUTE_IN_QUAD, RAX, RBX, ROUND_SCALE, Rm, SHIFT_IMM, SUB, XOR,
};
use crate::codegen::x86::lir::Src;
use crate::codegen::x86::r700::facts::{GREATER, INT_NOT_EQUAL};
use crate::codegen::x86::r700::levels::{of_level, of_texture, rows};
use crate::codegen::x86::r700::wide::SHR;
use crate::codegen::x86::r700::{Looked, Sample};
use crate::codegen::x86::select::NOT_EQUAL;
use crate::codegen::x86::texels::{Axis, clamped};
use crate::codegen::x86::vectors::Vectors;
use crate::ir::r700::M;
use ctm_exec::float::{HALF, ONE};
use ctm_exec::r700::texture::Detail;
use ctm_exec::transcendental::LN2_POLYNOMIAL;

/// Channels of a texel.
const CHANNELS: i32 = 4;
/// Roundings: to the nearest whole number, ties to even; to the one below.
const NEAREST: u8 = 8;
const BELOW: u8 = 9;

/// How a routine looks up.
struct Routine {
    unnormalised: [bool; 2],
    offset: [f32; 2],
    detail: Detail,
    /// Its table.
    of: i32,
    /// Rows to work on.
    rows: i32,
}

impl Routine {
    fn row(&self, number: i32) -> Rm {
        Rm::Row(RBX, self.rows + 64 * number)
    }

    /// What the table has for the level of each lane.
    fn at_level(&self, number: i32) -> Rm {
        self.row(rows::OF_LEVEL + number)
    }

    /// A number of the texture.
    fn each(&self, offset: i32) -> Rm {
        Rm::Each(RBX, self.of + offset)
    }
}

impl Emit<'_> {
    /// The lookups, and the routines that they call.
    pub(super) fn level_lookups(&mut self) {
        let Some(work) = self.input.layout.levels else { return };
        for (begin, back, from, number) in std::mem::take(&mut self.levels) {
            let sample = self.input.samples[number as usize];
            let Looked::Nearest { unnormalised, offset, detail, .. } = sample.looked else { continue };
            let Some(of) = self.input.layout.levels_of(number) else { continue };
            let routine = Routine { unnormalised, offset, detail, of, rows: work };
            let label = self.asm.label();
            self.pieces_of(&sample, number, &routine, [begin, back, from, label]);
            self.asm.place(label);
            self.routine(&routine);
        }
    }

    fn pieces_of(&mut self, sample: &Sample, number: i32, routine: &Routine, [begin, back, from, label]: [Label; 4]) {
        let at = self.table_of(number);
        self.asm.place(begin);
        self.is_spread = false;
        // Other levels are smaller: their coordinates are larger by the offset at most, which the bound leaves room for.
        self.bound(sample, at, from, false);
        if matches!(routine.detail, Detail::Computed { set: false } | Detail::Biased { set: false }) {
            self.one_face(sample, routine, from);
        }
        self.begin(sample, at);
        for piece in self.pieces() {
            for (n, src) in (0..).zip(sample.at) {
                let register = self.reg(src, piece, SCRATCH);
                self.store(register, routine.row(rows::AT + n));
            }
            self.load_mask(RAX, M::EXISTING);
            if piece > 0 {
                self.asm.wide_shift(SHR, RAX, 16 * piece);
            }
            self.asm.int_store(Int::Mov, true, RBX, routine.rows + rows::EXISTING, RAX);
            self.asm.call_label(label);
            for (n, dst) in (0..).zip(sample.dst) {
                let Some(dst) = dst else { continue };
                self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, routine.row(rows::FOUND + n));
                self.put(dst, piece, SCRATCH);
            }
        }
        self.asm.jump(back);
    }

    /// Leaves where quads look at several faces of a cube and the level of detail matters: their gradients are `ctm_exec`'s.
    fn one_face(&mut self, sample: &Sample, r: &Routine, from: Label) {
        let fine = self.asm.label();
        for number in [of_texture::DETAIL, of_texture::BACK] {
            self.asm.int_store_imm(Int::Cmp, false, RBX, r.of + number, 0);
            self.asm.jump_if(Cond::Equal, fine);
        }
        for piece in self.pieces() {
            let face = self.reg(sample.at[2], piece, SCRATCH);
            self.asm.instruction(ROUND_SCALE, OPERAND, 0, Rm::Reg(face), Some(NEAREST));
            self.asm.instruction(PERMUTE_IN_QUAD, SCRATCH, 0, Rm::Reg(OPERAND), Some(0));
            self.asm.evex(CMP_F32, 1, SCRATCH, Rm::Reg(OPERAND), 0, false, Some(NOT_EQUAL));
            self.asm.mask_test(1);
            self.asm.jump_if(Cond::NotEqual, from);
        }
        self.asm.place(fine);
    }

    /// A lookup of 16 lanes. Changes the scratch registers, rax and mask 1.
    fn routine(&mut self, r: &Routine) {
        let [level, matters, chosen, two] = [(); 4].map(|()| self.asm.label());
        self.asm.int_store_imm(Int::Cmp, false, RBX, r.of + of_texture::DETAIL, 0);
        self.asm.jump_if(Cond::NotEqual, matters);
        // Level 0, and one filter.
        self.asm.vector(XOR, SCRATCH, SCRATCH, Rm::Reg(SCRATCH));
        self.store(SCRATCH, r.row(rows::LOW));
        self.store(SCRATCH, r.row(rows::WEIGHT));
        self.asm.int_load(Int::Mov, false, RAX, RBX, r.of + of_texture::MAGNIFY);
        self.asm.int_store(Int::Mov, false, RBX, r.rows + rows::LINEAR, RAX);
        self.asm.jump(chosen);
        self.asm.place(matters);
        self.detail(r);
        self.choose(r);
        self.asm.place(chosen);
        self.slice(r);
        self.move_row(r, rows::LOW, rows::LEVEL);
        self.asm.call_label(level);
        self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(rows::WEIGHT));
        self.asm.evex(CMP_I32, 1, SCRATCH, Rm::Literal(0), 0, false, Some(INT_NOT_EQUAL));
        self.asm.mask_test(1);
        self.asm.jump_if(Cond::NotEqual, two);
        self.asm.ret();
        // The second level, weighed where it has a weight.
        self.asm.place(two);
        (0..CHANNELS).for_each(|n| self.move_row(r, rows::FOUND + n, rows::FIRST + n));
        self.move_row(r, rows::HIGH, rows::LEVEL);
        self.asm.call_label(level);
        for n in 0..CHANNELS {
            self.asm.vector(MOVUPS_LOAD, GATHERED, 0, r.row(rows::FIRST + n));
            self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(rows::FOUND + n));
            self.texels().mix(GATHERED, SCRATCH, r.row(rows::WEIGHT));
            self.texels().one_nan(GATHERED);
            self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(rows::WEIGHT));
            self.asm.evex(CMP_I32, 1, SCRATCH, Rm::Literal(0), 0, false, Some(INT_NOT_EQUAL));
            self.asm.vector(MOVUPS_LOAD, OPERAND, 0, r.row(rows::FIRST + n));
            self.asm.evex(MOVAPS, OPERAND, 0, Rm::Reg(GATHERED), 1, false, None);
            self.store(OPERAND, r.row(rows::FOUND + n));
        }
        self.asm.ret();
        self.asm.place(level);
        self.level(r);
        self.asm.ret();
    }

    fn move_row(&mut self, r: &Routine, from: i32, to: i32) {
        self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(from));
        self.store(SCRATCH, r.row(to));
    }

    /// The level of detail, in the scratch register.
    fn detail(&mut self, r: &Routine) {
        let w = r.row(rows::AT + 3);
        match r.detail {
            Detail::Computed { set: false } | Detail::Biased { set: false } => {
                self.gradient(r, false);
                self.store(GATHERED, r.row(rows::GRADIENT));
                self.gradient(r, true);
                // Where one is no number, the second.
                self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(rows::GRADIENT));
                self.asm.vector(MAX, SCRATCH, SCRATCH, Rm::Reg(GATHERED));
                self.logarithm();
                self.asm.vector(MUL, SCRATCH, SCRATCH, Rm::Literal(HALF));
                self.asm.vector(ADD, SCRATCH, SCRATCH, r.each(of_texture::BIAS));
                if matches!(r.detail, Detail::Biased { .. }) {
                    self.asm.vector(ADD, SCRATCH, SCRATCH, w);
                }
            }
            Detail::Given => {
                self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, w);
                self.asm.vector(ADD, SCRATCH, SCRATCH, r.each(of_texture::BIAS));
            }
            // Gradients that are set have no binding where the level of detail matters.
            Detail::Zero | Detail::Computed { set: true } | Detail::Biased { set: true } => {
                self.asm.vector(XOR, SCRATCH, SCRATCH, Rm::Reg(SCRATCH));
            }
        }
    }

    /// The squared length of a gradient of each quad in texels of level 0, in the register of what is gathered.
    fn gradient(&mut self, r: &Routine, vertical: bool) {
        self.asm.vector(XOR, GATHERED, GATHERED, Rm::Reg(GATHERED));
        for axis in 0..2 {
            self.asm.vector(MOVUPS_LOAD, OPERAND, 0, r.row(rows::AT + axis));
            self.asm.int_load(Int::Mov, true, RAX, RBX, r.rows + rows::EXISTING);
            self.slope_of(OPERAND, vertical);
            self.asm.evex(MOVAPS, SCRATCH, 0, Rm::Reg(SCRATCH), 1, true, None);
            if !r.unnormalised[axis as usize] {
                self.asm.vector(MUL, SCRATCH, SCRATCH, Rm::Each(RBX, r.of + 64 * (of_level::SIZE + axis)));
            }
            self.asm.vector(FMADD231, GATHERED, SCRATCH, Rm::Reg(SCRATCH));
        }
    }

    /// The logarithm by 2 of the scratch register, in its place: `ctm_exec::transcendental::ln2`.
    fn logarithm(&mut self) {
        let (fraction, exponent, sum) = (OPERAND, RIGHT, GATHERED);
        self.asm.instruction(FRACTION, fraction, 0, Rm::Reg(SCRATCH), Some(0x0f));
        self.asm.instruction(EXPONENT, exponent, 0, Rm::Reg(fraction), None);
        self.asm.instruction(EXPONENT, SCRATCH, 0, Rm::Reg(SCRATCH), None);
        self.asm.vector(SUB, exponent, SCRATCH, Rm::Reg(exponent));
        self.asm.vector(SUB, fraction, fraction, Rm::Literal(ONE));
        self.asm.vector(ADD, exponent, exponent, Rm::Reg(fraction));
        let [rest @ .., highest] = LN2_POLYNOMIAL;
        self.load_into(sum, Src::Literal(highest.to_bits()), 0);
        for c in rest.into_iter().rev() {
            self.asm.vector(FMADD213, sum, fraction, Rm::Literal(c.to_bits()));
        }
        self.asm.vector(FMADD213, sum, fraction, Rm::Reg(exponent));
        self.asm.vector(MOVAPS, SCRATCH, 0, Rm::Reg(sum));
    }

    /// Levels, their weight, and the filter of each lane, from the level of detail.
    fn choose(&mut self, r: &Routine) {
        // Of what is no number, minimum and maximum are their second operand.
        self.asm.vector(MAX, SCRATCH, SCRATCH, r.each(of_texture::LEAST));
        self.asm.vector(MIN, SCRATCH, SCRATCH, r.each(of_texture::MOST));
        self.asm.evex(CMP_F32, 1, SCRATCH, Rm::Literal(0), 0, false, Some(GREATER));
        self.asm.mask_to(RAX, 1);
        self.asm.int_load(Int::And, false, RAX, RBX, r.of + of_texture::MINIFY);
        self.asm.int_load(Int::Xor, false, RAX, RBX, r.of + of_texture::MAGNIFY);
        self.asm.int_store(Int::Mov, false, RBX, r.rows + rows::LINEAR, RAX);
        self.asm.vector(MAX, SCRATCH, SCRATCH, Rm::Literal(0));
        self.asm.vector(MIN, SCRATCH, SCRATCH, r.each(of_texture::LAST));
        self.asm.vector(ADD, SCRATCH, SCRATCH, r.each(of_texture::ROUND));
        self.asm.instruction(ROUND_SCALE, OPERAND, 0, Rm::Reg(SCRATCH), Some(BELOW));
        self.asm.vector(SUB, SCRATCH, SCRATCH, Rm::Reg(OPERAND));
        self.asm.vector(AND, SCRATCH, SCRATCH, r.each(of_texture::WEIGH));
        self.store(SCRATCH, r.row(rows::WEIGHT));
        self.asm.vector(CVT_F32_I32, SCRATCH, 0, Rm::Reg(OPERAND));
        self.store(SCRATCH, r.row(rows::LOW));
        self.asm.vector(ADD, OPERAND, OPERAND, Rm::Literal(ONE));
        self.asm.vector(MIN, OPERAND, OPERAND, r.each(of_texture::LAST));
        self.asm.vector(CVT_F32_I32, OPERAND, 0, Rm::Reg(OPERAND));
        self.store(OPERAND, r.row(rows::HIGH));
    }

    /// The layer or face.
    fn slice(&mut self, r: &Routine) {
        self.asm.instruction(ROUND_SCALE, SCRATCH, 0, r.row(rows::AT + 2), Some(NEAREST));
        self.asm.vector(MAX, SCRATCH, SCRATCH, Rm::Literal(0));
        self.asm.vector(MIN, SCRATCH, SCRATCH, r.each(of_texture::LAST_SLICE));
        self.asm.vector(CVT_F32_I32, SCRATCH, 0, Rm::Reg(SCRATCH));
        self.store(SCRATCH, r.row(rows::SLICE));
    }

    /// A lookup in one level.
    fn level(&mut self, r: &Routine) {
        self.asm.vector(MOVUPS_LOAD, OPERAND, 0, r.row(rows::LEVEL));
        for number in 0..of_level::COUNT {
            self.asm.vector(PERMUTE, SCRATCH, OPERAND, Rm::Row(RBX, r.of + 64 * number));
            self.store(SCRATCH, r.at_level(number));
        }
        self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(rows::SLICE));
        self.asm.vector(MUL_I32, SCRATCH, SCRATCH, r.at_level(of_level::SLICE));
        self.asm.vector(ADD_I32, SCRATCH, SCRATCH, r.at_level(of_level::OFFSET));
        self.store(SCRATCH, r.row(rows::BASE));
        let linear = self.asm.label();
        self.asm.int_store_imm(Int::Cmp, false, RBX, r.rows + rows::LINEAR, 0);
        self.asm.jump_if(Cond::NotEqual, linear);
        for (axis, to) in (0..).zip([SCRATCH, OPERAND]) {
            self.coordinate(r, axis, to);
            self.wrapped_at_level(r, axis, to);
        }
        self.asm.vector(MUL_I32, OPERAND, OPERAND, r.at_level(of_level::WIDTH));
        self.asm.vector(ADD_I32, SCRATCH, SCRATCH, Rm::Reg(OPERAND));
        self.asm.vector(ADD_I32, SCRATCH, SCRATCH, r.row(rows::BASE));
        self.asm.instruction(SHIFT_IMM, SHIFT_LEFT, SCRATCH, Rm::Reg(SCRATCH), Some(2));
        self.load_elements();
        for (n, register) in (0..).zip(self.whole_elements().channels()) {
            self.store(register, r.row(rows::FOUND + n));
        }
        self.asm.ret();
        self.asm.place(linear);
        self.weigh_at_level(r);
    }

    /// A coordinate in texels of the level.
    fn coordinate(&mut self, r: &Routine, axis: i32, to: u8) {
        self.asm.vector(MOVUPS_LOAD, to, 0, r.row(rows::AT + axis));
        self.asm.vector(SUB, to, to, r.each(of_texture::BACK));
        if !r.unnormalised[axis as usize] {
            self.asm.vector(MUL, to, to, r.at_level(of_level::SIZE + axis));
        }
        if r.offset[axis as usize] != 0.0 {
            self.asm.vector(ADD, to, to, Rm::Literal(r.offset[axis as usize].to_bits()));
        }
    }

    /// A coordinate as the number of a column or row of the level.
    fn wrapped_at_level(&mut self, r: &Routine, axis: i32, u: u8) {
        if !r.unnormalised[axis as usize] {
            let done = self.asm.label();
            // No level repeats where the first one does not.
            self.asm.int_store_imm(Int::Cmp, false, RBX, r.of + 64 * (of_level::PERIOD + axis), 0);
            self.asm.jump_if(Cond::Equal, done);
            let of = |number: i32| r.at_level(number + axis);
            let of_axis = Axis {
                size: of(of_level::SIZE),
                last: of(of_level::LAST),
                period: of(of_level::PERIOD),
                inverse: of(of_level::INVERSE),
            };
            self.texels().floor(u, u);
            self.texels().repeat(u, GATHERED, &of_axis);
            // All levels are mirrored, or none.
            let [period, size] = [of_level::PERIOD, of_level::SIZE].map(|number| r.of + 64 * (number + axis));
            self.unless_mirrored(period, size, done);
            self.texels().mirror(u, GATHERED, &of_axis);
            self.asm.place(done);
        }
        clamped(&mut self.asm, u, u, r.at_level(of_level::LAST + axis));
    }

    /// Four texels of the level, weighed; in lanes that take the nearest one, that.
    fn weigh_at_level(&mut self, r: &Routine) {
        let corners = self.corners();
        for axis in 0..2 {
            self.coordinate(r, axis, SCRATCH);
            self.asm.int_load(Int::Mov, false, RAX, RBX, r.rows + rows::LINEAR);
            self.asm.mask_from(1, RAX);
            // Half a texel back, where texels are weighed; the rest as `Texels::split`.
            self.asm.evex(SUB, SCRATCH, SCRATCH, Rm::Literal(HALF), 1, false, None);
            self.asm.instruction(ROUND_SCALE, OPERAND, 0, Rm::Reg(SCRATCH), Some(BELOW));
            self.asm.vector(SUB, SCRATCH, SCRATCH, Rm::Reg(OPERAND));
            self.asm.vector(MAX, SCRATCH, SCRATCH, Rm::Literal(0));
            self.asm.vector(ADD, RIGHT, OPERAND, Rm::Literal(ONE));
            self.store(SCRATCH, corners.weight(axis as usize));
            for (high, register) in [OPERAND, RIGHT].into_iter().enumerate() {
                self.wrapped_at_level(r, axis, register);
                if axis == 1 {
                    self.asm.vector(MUL_I32, register, register, r.at_level(of_level::WIDTH));
                    self.asm.vector(ADD_I32, register, register, r.row(rows::BASE));
                }
                let place = self.side(axis as usize, high);
                self.store(register, place);
            }
        }
        self.find_corners(corners);
        // The indices are written.
        self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, corners.index(0));
        self.store(SCRATCH, r.row(rows::NEAREST));
        self.weigh_elements();
        for (n, register) in (0..).zip(self.whole_elements().channels()) {
            self.store(register, r.row(rows::FOUND + n));
        }
        let all = self.asm.label();
        self.asm.int_store_imm(Int::Cmp, false, RBX, r.rows + rows::LINEAR, 0xffff);
        self.asm.jump_if(Cond::Equal, all);
        self.asm.vector(MOVUPS_LOAD, SCRATCH, 0, r.row(rows::NEAREST));
        self.load_elements();
        self.asm.int_load(Int::Mov, false, RAX, RBX, r.rows + rows::LINEAR);
        self.asm.mask_from(1, RAX);
        for (n, register) in (0..).zip(self.whole_elements().channels()) {
            self.asm.evex(MOVUPS_LOAD, register, 0, r.row(rows::FOUND + n), 1, false, None);
            self.store(register, r.row(rows::FOUND + n));
        }
        self.asm.place(all);
    }
}
