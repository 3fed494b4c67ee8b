//! A lookup in one level: from coordinates to texels.

use super::{BELOW, CHANNELS, MASK, PER_AXIS, Routine};
use crate::codegen::x86::asm::{
    ADD, ADD_I32, Cond, Int, Label, MAX, MIN, MOVUPS_LOAD, MUL, MUL_I32, PERMUTE, PSLL, RBX, ROUND_SCALE, Rm,
    SHIFT_IMM, SUB, SUB_I32, XOR,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::masked::What;
use crate::codegen::x86::masked::emit::Emit;
use crate::codegen::x86::masked::facts::NOT_EQUAL;
use crate::codegen::x86::masked::levels::{of_level, of_texture, rows};
use crate::codegen::x86::texels::{Axis, clamped};
use crate::codegen::x86::vectors::Vectors;
use ctm_exec::float::{HALF, ONE};

impl Emit<'_> {
    /// What the table has for the levels in y.
    pub(super) fn of_level(&mut self, r: &Routine, numbers: std::ops::Range<i32>) {
        let v = self.names();
        for number in numbers {
            let row = r.of + 64 * number;
            match self.isa() {
                Isa::Avx512 => self.asm.vector(PERMUTE, v.x, v.y, Rm::Row(RBX, row)),
                Isa::Avx2 => {
                    self.texels().mark_all();
                    self.texels().gather(v.x, RBX, (v.y, false), row);
                }
            }
            self.store(v.x, r.at_level(number));
        }
    }

    /// A lookup in one level.
    pub(super) fn level(&mut self, r: &Routine) {
        let v = self.names();
        let [linear, layers, begun] = [(); 3].map(|()| self.asm.label());
        self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(rows::LEVEL));
        self.of_level(r, 0..of_level::FLAT);
        self.asm.jump_cmp(false, RBX, r.of + of_texture::AXES, 3, Cond::NotEqual, layers);
        self.slices(r);
        self.asm.jump(begun);
        self.asm.place(layers);
        self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::SLICE));
        self.asm.vector(MUL_I32, v.x, v.x, r.at_level(of_level::SLICE));
        self.asm.vector(ADD_I32, v.x, v.x, r.at_level(of_level::OFFSET));
        self.store(v.x, r.row(rows::BASE));
        self.inside(r, 2, 0);
        self.asm.place(begun);
        self.asm.jump_cmp(false, RBX, r.rows + rows::LINEAR, 0, Cond::NotEqual, linear);
        for (axis, to) in (0..).zip([v.x, v.y]) {
            self.coordinate(r, axis, to);
            self.wrapped_at_level(r, (axis, 0), to);
        }
        self.asm.vector(MUL_I32, v.y, v.y, r.at_level(of_level::WIDTH));
        self.asm.vector(ADD_I32, v.x, v.x, Rm::Reg(v.y));
        self.asm.vector(ADD_I32, v.x, v.x, r.row(rows::BASE));
        self.asm.instruction(SHIFT_IMM, PSLL, v.x, Rm::Reg(v.x), Some(2));
        self.texel(r, [0, 0], rows::FOUND);
        self.asm.ret();
        self.asm.place(linear);
        self.weigh_at_level(r);
    }

    /// The slices of a volume that a lookup begins in: the first one, how far behind it the second one is, and how much that weighs.
    fn slices(&mut self, r: &Routine) {
        let v = self.names();
        self.of_level(r, of_level::FLAT..of_level::COUNT);
        self.split_at_level(r, 2);
        self.store(v.x, r.row(rows::DEPTH_WEIGHT));
        for (high, register) in (0..).zip([v.y, v.b]) {
            self.wrapped_at_level(r, (2, high), register);
            self.asm.vector(MUL_I32, register, register, r.at_level(of_level::SLICE));
        }
        self.asm.vector(SUB_I32, v.b, v.b, Rm::Reg(v.y));
        self.store(v.b, r.row(rows::STEP));
        self.asm.vector(ADD_I32, v.y, v.y, r.at_level(of_level::OFFSET));
        self.store(v.y, r.row(rows::BASE));
    }

    /// The texels whose first dwords have the numbers in x, or the border, compared if a comparison is asked for. Which columns
    /// and rows those are: low or high.
    fn texel(&mut self, r: &Routine, sides: [i32; 2], to: i32) {
        let v = self.names();
        let inside = self.asm.label();
        self.load_elements();
        self.asm.jump_cmp(false, RBX, r.of + of_texture::BORDERS, 0, Cond::Equal, inside);
        self.texels().mark_noted(RBX, &[r.beyond(0, sides[0]), r.beyond(1, sides[1]), r.beyond(2, 0)]);
        let channels = (0..r.channels()).zip(v.channels());
        for (n, register) in channels.clone() {
            self.texels().replace(register, r.each(of_texture::BORDER + 4 * n));
        }
        self.asm.place(inside);
        if r.what == What::Compared {
            let outcomes = [0, 4, 8, 12].map(|n| r.each(of_texture::COMPARED + n));
            self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(rows::REFERENCE));
            self.texels().compare(v.a, v.x, Rm::Reg(v.y), outcomes, v.b);
            return self.store(v.a, r.row(to));
        }
        channels.for_each(|(n, register)| self.store(register, r.row(to + n)));
    }

    /// A coordinate in texels of the level.
    fn coordinate(&mut self, r: &Routine, axis: i32, to: u8) {
        self.asm.vector(MOVUPS_LOAD, to, 0, r.row(rows::AT + axis));
        self.texels().with(SUB, to, to, r.each(of_texture::BACK));
        if !r.unnormalised[axis as usize] {
            self.asm.vector(MUL, to, to, r.at_level(of_level::SIZE + of_level::PER_AXIS * axis));
        }
        if r.offset[axis as usize] != 0.0 {
            self.asm.vector(ADD, to, to, Rm::Literal(r.offset[axis as usize].to_bits()));
        }
    }

    /// The column, row or slice of a coordinate in y, the next one in b, and how much that weighs in x:
    /// half a texel back where texels are weighed; the rest as `Texels::split`.
    fn split_at_level(&mut self, r: &Routine, axis: i32) {
        let v = self.names();
        self.coordinate(r, axis, v.x);
        self.linear_lanes(r);
        self.asm.vector(SUB, v.y, v.x, Rm::Literal(HALF));
        self.texels().replace(v.x, Rm::Reg(v.y));
        self.asm.instruction(ROUND_SCALE, v.y, 0, Rm::Reg(v.x), Some(BELOW));
        self.asm.vector(SUB, v.x, v.x, Rm::Reg(v.y));
        self.asm.vector(MAX, v.x, v.x, Rm::Literal(0));
        self.asm.vector(ADD, v.b, v.y, Rm::Literal(ONE));
    }

    /// Notes that no lane lies beyond the border.
    fn inside(&mut self, r: &Routine, axis: i32, high: i32) {
        match self.isa() {
            Isa::Avx512 => self.asm.int_store_imm(Int::Mov, false, RBX, r.beyond(axis, high), 0),
            Isa::Avx2 => {
                self.asm.vector(XOR, MASK, MASK, Rm::Reg(MASK));
                self.texels().note_marked(RBX, r.beyond(axis, high));
            }
        }
    }

    /// A coordinate as the number of a column, row or slice of the level; notes where it lies beyond the border. `high`: the side.
    fn wrapped_at_level(&mut self, r: &Routine, (axis, high): (i32, i32), u: u8) {
        let v = self.names();
        let [done, clamps] = [(); 2].map(|()| self.asm.label());
        let of = |number: i32| r.at_level(number + of_level::PER_AXIS * axis);
        self.inside(r, axis, high);
        if !r.unnormalised[axis as usize] {
            let [period, size] = [of_level::PERIOD, of_level::SIZE].map(|number| r.of + 64 * number + PER_AXIS * axis);
            // No level repeats where the first one does not.
            self.asm.jump_cmp(false, RBX, period, 0, Cond::Equal, clamps);
            let of_axis = Axis {
                size: of(of_level::SIZE),
                last: of(of_level::LAST),
                period: of(of_level::PERIOD),
                inverse: of(of_level::INVERSE),
            };
            self.texels().floor(u, u);
            self.texels().repeat(u, v.a, &of_axis);
            // All levels are mirrored, or none.
            self.unless_mirrored(period, size, done);
            self.texels().mirror(u, v.a, &of_axis);
            self.asm.jump(done);
        }
        self.asm.place(clamps);
        self.asm.jump_cmp(false, RBX, r.of + of_texture::BORDERED + 4 * axis, 0, Cond::Equal, done);
        self.texels().floor(u, u);
        self.asm.vector(MIN, v.a, u, of(of_level::LAST));
        self.asm.vector(MAX, v.a, v.a, Rm::Literal(0));
        self.texels().mark(u, Rm::Reg(v.a), NOT_EQUAL, 0);
        self.texels().note_marked(RBX, r.beyond(axis, high));
        self.asm.place(done);
        clamped(&mut self.asm, u, u, of(of_level::LAST));
    }

    /// Texels of the level, weighed; in lanes that take the nearest one, that.
    fn weigh_at_level(&mut self, r: &Routine) {
        let v = self.names();
        let (corners, [square, volume]) = (self.corners(), [(); 2].map(|()| self.asm.label()));
        for axis in 0..2 {
            self.split_at_level(r, axis);
            self.store(v.x, corners.weight(axis as usize));
            for (high, register) in (0..).zip([v.y, v.b]) {
                self.wrapped_at_level(r, (axis, high), register);
                if axis == 1 {
                    self.asm.vector(MUL_I32, register, register, r.at_level(of_level::WIDTH));
                    self.asm.vector(ADD_I32, register, register, r.row(rows::BASE));
                }
                let place = self.side(axis as usize, high as usize);
                self.store(register, place);
            }
        }
        if r.what != What::Four {
            self.asm.jump_cmp(false, RBX, r.of + of_texture::AXES, 3, Cond::Equal, volume);
            self.asm.place(square);
        }
        self.square(r);
        if r.what == What::Four {
            return;
        }
        // The second slice.
        self.asm.place(volume);
        self.asm.call_label(square);
        (0..r.channels()).for_each(|n| self.move_row(r, rows::FOUND + n, rows::ABOVE + n));
        for high in 0..2 {
            let place = self.side(1, high);
            self.asm.vector(MOVUPS_LOAD, v.x, 0, place);
            self.asm.vector(ADD_I32, v.x, v.x, r.row(rows::STEP));
            self.store(v.x, place);
        }
        self.texels().mark_noted(RBX, &[r.beyond(2, 1)]);
        self.texels().note_marked(RBX, r.beyond(2, 0));
        self.asm.call_label(square);
        self.mix_found(r, rows::ABOVE, rows::DEPTH_WEIGHT, |e| e.linear_lanes(r));
        self.asm.ret();
    }

    /// The texels of four corners, weighed.
    fn square(&mut self, r: &Routine) {
        let v = self.names();
        let corners = self.corners();
        let [all, apart] = [(); 2].map(|()| self.asm.label());
        self.find_corners(corners);
        if r.what == What::Texels && self.isa() == Isa::Avx512 {
            self.asm.jump_cmp(false, RBX, r.of + of_texture::APART, 0, Cond::NotEqual, apart);
            // The indices are written.
            self.asm.vector(MOVUPS_LOAD, v.x, 0, corners.index(0));
            self.store(v.x, r.row(rows::NEAREST));
            self.weigh_elements();
            for (n, register) in (0..).zip(v.channels()) {
                self.store(register, r.row(rows::FOUND + n));
            }
            self.asm.jump_cmp(false, RBX, r.rows + rows::LINEAR, 0xffff, Cond::Equal, all);
            self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::NEAREST));
            self.load_elements();
            self.linear_lanes(r);
            for (n, register) in (0..).zip(v.channels()) {
                self.asm.evex(MOVUPS_LOAD, register, 0, r.row(rows::FOUND + n), 1, false, None);
                self.store(register, r.row(rows::FOUND + n));
            }
            self.asm.place(all);
            self.asm.ret();
            self.asm.place(apart);
        }
        self.one_by_one(r);
    }

    /// The same for each corner by itself.
    fn one_by_one(&mut self, r: &Routine) {
        let v = self.names();
        let (corners, row) = (self.corners(), self.asm.label());
        let one_row = |e: &mut Self, to: Label| {
            e.asm.jump_cmp(false, RBX, r.of + of_texture::AXES, 1, Cond::Equal, to);
        };
        for corner in 0..4 {
            if corner == 2 && r.what != What::Four {
                one_row(self, row);
            }
            self.asm.vector(MOVUPS_LOAD, v.x, 0, corners.index(corner as usize));
            self.texel(r, [corner % 2, corner / 2], rows::CORNERS + CHANNELS * corner);
        }
        self.asm.place(row);
        if r.what == What::Four {
            // In the order of the manual.
            (0..4).for_each(|n| self.move_row(r, rows::CORNERS + CHANNELS * ((n + 1) % 4), rows::FOUND + n));
            return self.asm.ret();
        }
        for n in 0..r.channels() {
            let along_x = self.asm.label();
            for (corner, register) in (0..).zip([v.a, v.b]) {
                self.asm.vector(MOVUPS_LOAD, register, 0, r.row(rows::CORNERS + CHANNELS * corner + n));
            }
            self.texels().mix(v.a, v.b, corners.weight(0));
            one_row(self, along_x);
            for (corner, register) in (2..).zip([v.y, v.b]) {
                self.asm.vector(MOVUPS_LOAD, register, 0, r.row(rows::CORNERS + CHANNELS * corner + n));
            }
            self.texels().mix(v.y, v.b, corners.weight(0));
            self.texels().mix(v.a, v.y, corners.weight(1));
            self.asm.place(along_x);
            self.texels().one_nan(v.a);
            self.linear_lanes(r);
            self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::CORNERS + n));
            self.texels().replace(v.x, Rm::Reg(v.a));
            self.store(v.x, r.row(rows::FOUND + n));
        }
        self.asm.ret();
    }
}
