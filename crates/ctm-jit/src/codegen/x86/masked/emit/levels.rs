//! Lookups of textures with mipmap levels, slices, layers or faces, with borders and comparisons: as `ctm_exec::r700::sample` does them, a piece at once.
//!
//! They stand aside of the program, as they are long: for each lookup one routine, which is called for each piece of a wavefront with the coordinates in rows.
//! What kind of texture it is, is seen when it runs.

use super::Emit;
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, BROADCAST, CVT_F32_I32, CVT_I32_F32, Cond, EXPONENT, FMADD213, FMADD231, FRACTION, Int, Label,
    MAX, MIN, MOVAPS, MOVUPS_LOAD, MUL, MUL_I32, PERMUTE_IN_QUAD, PSLL, PSRA, RAX, RBX, ROUND_SCALE, Rm, SHIFT_IMM,
    SUB, SUB_I32, XOR,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::Src;
use crate::codegen::x86::masked::facts::{EQUAL, GREATER, NOT_EQUAL, NOT_LESS};
use crate::codegen::x86::masked::forms::Names;
use crate::codegen::x86::masked::levels::{of_level, of_texture, rows};
use crate::codegen::x86::masked::wide::SHR;
use crate::codegen::x86::masked::{Looked, Sample, What, gradient};
use crate::codegen::x86::vectors::Vectors;
use crate::ir::masked::{Fetch, M};
use crate::launch::wavefronts::wave::CUBE;
use ctm_exec::float::{HALF, INFINITY, ONE, SIGN};
use ctm_exec::r700::sample::FACES;
use ctm_exec::r700::texture::Detail;
use ctm_exec::transcendental::{LN2_POLYNOMIAL, THREE_QUARTERS};

mod texels;

/// Where lanes are marked on AVX2.
const MASK: u8 = Isa::Avx2.mask_scratch();
/// A comparison that always holds.
const ALWAYS: u8 = 0x0f;
/// Channels of a texel.
const CHANNELS: i32 = 4;
/// Roundings: to the nearest whole number, ties to even; to the one below.
const NEAREST: u8 = 8;
const BELOW: u8 = 9;
/// Bytes of a table from the numbers of one axis to those of the next.
const PER_AXIS: i32 = 64 * of_level::PER_AXIS;

/// How a routine looks up.
struct Routine {
    unnormalised: [bool; 3],
    offset: [f32; 3],
    what: What,
    detail: Detail,
    /// Some instruction chooses a cube of an array.
    cubes: bool,
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

    /// Where the lanes beyond the border are noted, of the low or the high side along an axis.
    fn beyond(&self, axis: i32, high: i32) -> i32 {
        self.rows + 64 * (rows::BEYOND + 2 * axis + high)
    }

    /// Where the lanes that weigh texels are noted: their bits, on AVX2 a row.
    fn linear(&self, isa: Isa) -> i32 {
        self.rows + if isa == Isa::Avx512 { rows::LINEAR } else { 64 * rows::LINEAR_LANES }
    }

    /// Whether gradients are set (`true`) or computed in quads, if there are any.
    fn gradients(&self) -> Option<bool> {
        match self.detail {
            Detail::Computed { set } | Detail::Biased { set } => Some(set),
            Detail::Given | Detail::Zero => None,
        }
    }

    /// Channels that are found.
    fn channels(&self) -> i32 {
        if self.what == What::Texels { CHANNELS } else { 1 }
    }
}

impl Emit<'_> {
    /// The lookups, and the routines that they call.
    pub(super) fn level_lookups(&mut self) {
        let Some(work) = self.input.layout.levels else { return };
        let cubes = self.input.code.fetches.iter().any(Fetch::sets_cube);
        for (begin, back, from, number) in std::mem::take(&mut self.levels) {
            let sample = self.input.samples[number as usize];
            let Some(of) = self.input.layout.levels_of(number) else { continue };
            let (unnormalised, offset, what, detail) = match sample.looked {
                Looked::Nearest { unnormalised, offset, what, detail } => (unnormalised, offset, what, detail),
                _ => ([true; 3], [0.0; 3], What::Texels, Detail::Zero),
            };
            let routine = Routine { unnormalised, offset, what, detail, cubes, of, rows: work };
            let label = self.asm.label();
            self.pieces_of(&sample, number, &routine, [begin, back, from, label]);
            self.asm.place(label);
            match sample.looked {
                Looked::Load { offset } => self.load_at_level(&routine, offset),
                Looked::Sizes => self.sizes(&routine),
                Looked::Nearest { .. } | Looked::Item { .. } => self.routine(&routine),
            }
        }
    }

    fn pieces_of(&mut self, sample: &Sample, number: i32, routine: &Routine, [begin, back, from, label]: [Label; 4]) {
        let (at, v) = (self.table_of(number), self.names());
        self.asm.place(begin);
        self.is_spread = false;
        // Other levels are smaller: their coordinates are larger by the offset at most, which the bound leaves room for.
        self.bound(sample, (at, 3), from);
        if routine.gradients() == Some(false) {
            self.one_face(sample, routine, from);
        }
        self.begin(sample, at);
        let found = if routine.what == What::Compared { 1 } else { 4 };
        self.each_looked_up(sample, |e, piece| {
            for n in 0..4 {
                let register = e.argument(sample, n, piece, v.x);
                e.store(register, routine.row(rows::AT + n as i32));
            }
            e.take_set(routine, piece);
            if e.isa() == Isa::Avx512 {
                e.load_mask(RAX, M::EXISTING);
                if piece > 0 {
                    e.asm.wide_shift(SHR, RAX, 16 * piece);
                }
                e.asm.int_store(Int::Mov, true, RBX, routine.rows + rows::EXISTING, RAX);
            }
            e.asm.call_label(label);
            for n in (0..found).filter(|&n| sample.dst[n].is_some()) {
                e.asm.vector(MOVUPS_LOAD, v.x, 0, routine.row(rows::FOUND + n as i32));
                e.give(sample, n, piece, v.x);
            }
            e.uncompared(sample, piece);
        });
        self.asm.jump(back);
    }

    /// Takes what was set for a lookup.
    fn take_set(&mut self, r: &Routine, piece: u8) {
        let v = self.names();
        let gradients = if r.gradients() == Some(true) { 0..CUBE } else { 0..0 };
        for n in gradients.chain(r.cubes.then_some(CUBE)) {
            let set = self.at(gradient(n), piece);
            self.asm.vector(MOVUPS_LOAD, v.x, 0, set);
            self.store(v.x, r.row(rows::SET + n as i32));
        }
    }

    /// Leaves where quads look at several faces of a cube and the level of detail matters: their gradients are `ctm_exec`'s.
    fn one_face(&mut self, sample: &Sample, r: &Routine, from: Label) {
        let v = self.names();
        let fine = self.asm.label();
        for number in [of_texture::DETAIL, of_texture::BACK, of_texture::QUADS] {
            self.asm.jump_cmp(false, RBX, r.of + number, 0, Cond::Equal, fine);
        }
        for piece in self.pieces() {
            let face = self.reg(sample.at[2], piece, v.x);
            self.asm.instruction(ROUND_SCALE, v.x, 0, Rm::Reg(face), Some(NEAREST));
            self.asm.instruction(PERMUTE_IN_QUAD, v.each, 0, Rm::Reg(v.x), Some(0));
            self.texels().mark(v.x, Rm::Reg(v.each), NOT_EQUAL, 0);
            self.texels().test_marked();
            self.asm.jump_if(Cond::NotEqual, from);
        }
        self.asm.place(fine);
    }

    /// A lookup of a piece's lanes. Changes the registers of [`Names`], rax and what marks lanes.
    fn routine(&mut self, r: &Routine) {
        let v = self.names();
        let [level, matters, chosen, two] = [(); 4].map(|()| self.asm.label());
        if r.what == What::Detail {
            return self.level_of_detail(r);
        }
        if r.what == What::Compared {
            self.reference(r);
        }
        self.asm.jump_cmp(false, RBX, r.of + of_texture::DETAIL, 0, Cond::NotEqual, matters);
        // Level 0, and one filter.
        self.asm.vector(XOR, v.x, v.x, Rm::Reg(v.x));
        self.store(v.x, r.row(rows::LOW));
        self.store(v.x, r.row(rows::WEIGHT));
        self.filter(r, false);
        self.asm.jump(chosen);
        self.asm.place(matters);
        self.detail(r);
        self.choose(r);
        self.asm.place(chosen);
        self.slice(r);
        self.move_row(r, rows::LOW, rows::LEVEL);
        if r.what == What::Four {
            self.texels().mark(v.x, Rm::Reg(v.x), ALWAYS, 0);
            self.note_linear(r);
            return self.level(r);
        }
        self.asm.call_label(level);
        self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::WEIGHT));
        self.texels().mark(v.x, Rm::Literal(0), NOT_EQUAL, 0);
        self.texels().test_marked();
        self.asm.jump_if(Cond::NotEqual, two);
        self.asm.ret();
        // The second level, weighed where it has a weight.
        self.asm.place(two);
        (0..r.channels()).for_each(|n| self.move_row(r, rows::FOUND + n, rows::FIRST + n));
        self.move_row(r, rows::HIGH, rows::LEVEL);
        self.asm.call_label(level);
        self.mix_found(r, rows::FIRST, rows::WEIGHT, |e| {
            e.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::WEIGHT));
            e.texels().mark(v.x, Rm::Literal(0), NOT_EQUAL, 0);
        });
        self.asm.ret();
        self.asm.place(level);
        self.level(r);
    }

    /// Weighs what was found before with what was found now, in the lanes that `mask` marks with x; the others keep what was found before.
    fn mix_found(&mut self, r: &Routine, before: i32, weight: i32, mask: impl Fn(&mut Self)) {
        let v = self.names();
        for n in 0..r.channels() {
            self.asm.vector(MOVUPS_LOAD, v.a, 0, r.row(before + n));
            self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::FOUND + n));
            self.texels().mix(v.a, v.x, r.row(weight));
            self.texels().one_nan(v.a);
            mask(self);
            self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(before + n));
            self.texels().replace(v.y, Rm::Reg(v.a));
            self.store(v.y, r.row(rows::FOUND + n));
        }
    }

    /// Registers: those of the routines for elements.
    fn names(&self) -> Names {
        Names::of(self.isa())
    }

    /// Notes which lanes weigh texels: by the filter for enlarging, or where lanes are marked that for reducing.
    fn filter(&mut self, r: &Routine, choose: bool) {
        match self.isa() {
            Isa::Avx512 => {
                if choose {
                    self.asm.mask_to(RAX, 1);
                    self.asm.int_load(Int::And, false, RAX, RBX, r.of + of_texture::MINIFY);
                }
                let op = if choose { Int::Xor } else { Int::Mov };
                self.asm.int_load(op, false, RAX, RBX, r.of + of_texture::MAGNIFY);
                self.asm.mask_from(1, RAX);
            }
            Isa::Avx2 if choose => {
                for (op, number) in [(AND, of_texture::MINIFY), (XOR, of_texture::MAGNIFY)] {
                    self.texels().with(op, MASK, MASK, r.each(number));
                }
            }
            Isa::Avx2 => self.asm.vector(BROADCAST, MASK, 0, r.each(of_texture::MAGNIFY)),
        }
        self.note_linear(r);
    }

    /// Notes that the marked lanes weigh texels, and how many.
    fn note_linear(&mut self, r: &Routine) {
        let row = r.linear(self.isa());
        self.texels().note_marked(RBX, row);
        if self.isa() == Isa::Avx2 {
            self.asm.signs(RAX, MASK);
            self.asm.int_store(Int::Mov, false, RBX, r.rows + rows::LINEAR, RAX);
        }
    }

    /// Marks the lanes that weigh texels.
    fn linear_lanes(&mut self, r: &Routine) {
        let row = r.linear(self.isa());
        self.texels().mark_noted(RBX, &[row]);
    }

    /// Notes the reference value.
    fn reference(&mut self, r: &Routine) {
        let fourth = self.asm.label();
        self.move_row(r, rows::AT + 3, rows::REFERENCE);
        self.asm.jump_cmp(false, RBX, r.of + of_texture::REFERENCE, 0, Cond::Equal, fourth);
        self.move_row(r, rows::AT + 2, rows::REFERENCE);
        self.asm.place(fourth);
    }

    /// `GET_COMP_TEX_LOD`: the level of detail within what there is, and as it is.
    fn level_of_detail(&mut self, r: &Routine) {
        let v = self.names();
        self.detail(r);
        self.asm.vector(MOVAPS, v.a, 0, Rm::Reg(v.x));
        self.texels().one_nan(v.a);
        self.store(v.a, r.row(rows::FOUND + 1));
        for (op, bound) in [
            (MAX, r.each(of_texture::LEAST)),
            (MIN, r.each(of_texture::MOST)),
            (MAX, Rm::Literal(0)),
            (MIN, r.each(of_texture::LAST_LEVEL)),
        ] {
            self.texels().with(op, v.x, v.x, bound);
        }
        self.store(v.x, r.row(rows::FOUND));
        self.asm.vector(XOR, v.x, v.x, Rm::Reg(v.x));
        (2..CHANNELS).for_each(|n| self.store(v.x, r.row(rows::FOUND + n)));
        self.asm.ret();
    }

    /// `GET_TEXTURE_RESINFO`: the sizes of a level, 0 where there is none; and how many there are.
    fn sizes(&mut self, r: &Routine) {
        let v = self.names();
        self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(rows::AT));
        self.existing_level(r);
        for axis in 0..3 {
            let size = of_level::SIZE + of_level::PER_AXIS * axis;
            self.of_level(r, size..size + 1);
            self.asm.vector(CVT_F32_I32, v.x, 0, r.at_level(size));
            self.texels().mark_zero(v.a);
            self.texels().keep_marked(v.x);
            self.store(v.x, r.row(rows::FOUND + axis));
        }
        self.texels().load_each(v.x, r.each(of_texture::LEVELS));
        self.store(v.x, r.row(rows::FOUND + 3));
        self.asm.ret();
    }

    /// The level in y as one that exists; a is 0 where it is.
    fn existing_level(&mut self, r: &Routine) {
        let v = self.names();
        self.asm.vector(XOR, v.a, v.a, Rm::Reg(v.a));
        self.texels().load_each(v.b, r.each(of_texture::LEVELS));
        self.texels().inside(v.y, v.b, v.a);
    }

    /// `LD`: texels by whole numbers, zeros outside.
    fn load_at_level(&mut self, r: &Routine, offset: [i32; 3]) {
        let (v, noted) = (self.names(), r.rows + 64 * rows::NEAREST);
        self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(rows::AT + 3));
        self.existing_level(r);
        self.of_level(r, 0..of_level::COUNT);
        self.asm.vector(MOVUPS_LOAD, v.x, 0, r.at_level(of_level::OFFSET));
        for (axis, step) in (0..).zip([None, Some(of_level::WIDTH), Some(of_level::SLICE)]) {
            self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(rows::AT + axis));
            if offset[axis as usize] != 0 {
                self.asm.vector(ADD_I32, v.y, v.y, Rm::Literal(offset[axis as usize].cast_unsigned()));
            }
            self.texels().with(AND, v.y, v.y, r.each(of_texture::USED + 4 * axis));
            self.asm.vector(CVT_F32_I32, v.b, 0, r.at_level(of_level::SIZE + of_level::PER_AXIS * axis));
            self.texels().inside(v.y, v.b, v.a);
            if let Some(step) = step {
                self.asm.vector(MUL_I32, v.y, v.y, r.at_level(step));
            }
            self.asm.vector(ADD_I32, v.x, v.x, Rm::Reg(v.y));
        }
        self.texels().mark_zero(v.a);
        self.texels().note_marked(RBX, noted);
        self.asm.instruction(SHIFT_IMM, PSLL, v.x, Rm::Reg(v.x), Some(2));
        self.load_elements();
        self.texels().mark_noted(RBX, &[noted]);
        for (n, register) in (0..).zip(v.channels()) {
            self.texels().keep_marked(register);
            self.store(register, r.row(rows::FOUND + n));
        }
        self.asm.ret();
    }

    fn move_row(&mut self, r: &Routine, from: i32, to: i32) {
        let v = self.names();
        self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(from));
        self.store(v.x, r.row(to));
    }

    /// The level of detail, in x.
    fn detail(&mut self, r: &Routine) {
        let v = self.names();
        let w = r.row(rows::AT + 3);
        if let Some(set) = r.gradients() {
            let flat = self.asm.label();
            if !set {
                self.asm.vector(XOR, v.x, v.x, Rm::Reg(v.x));
                self.asm.jump_cmp(false, RBX, r.of + of_texture::QUADS, 0, Cond::Equal, flat);
            }
            self.gradient(r, set, false);
            self.store(v.a, r.row(rows::GRADIENT));
            self.gradient(r, set, true);
            // Where one is no number, the second.
            self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::GRADIENT));
            self.asm.vector(MAX, v.x, v.x, Rm::Reg(v.a));
            self.logarithm();
            self.asm.vector(MUL, v.x, v.x, Rm::Literal(HALF));
            self.asm.place(flat);
            self.texels().with(ADD, v.x, v.x, r.each(of_texture::BIAS));
            if matches!(r.detail, Detail::Biased { .. }) {
                self.asm.vector(ADD, v.x, v.x, w);
            }
        } else if r.detail == Detail::Given {
            self.asm.vector(MOVUPS_LOAD, v.x, 0, w);
            self.texels().with(ADD, v.x, v.x, r.each(of_texture::BIAS));
        } else {
            self.asm.vector(XOR, v.x, v.x, Rm::Reg(v.x));
        }
    }

    /// The squared length of a gradient of each lane in texels of level 0, in a.
    fn gradient(&mut self, r: &Routine, set: bool, vertical: bool) {
        let v = self.names();
        let done = self.asm.label();
        self.asm.vector(XOR, v.a, v.a, Rm::Reg(v.a));
        for axis in 0..3 {
            if axis > 0 {
                self.asm.jump_cmp(false, RBX, r.of + of_texture::AXES, axis, Cond::BelowEqual, done);
            }
            if set {
                let number = axis + if vertical { 3 } else { 0 };
                self.asm.vector(MOVUPS_LOAD, v.x, 0, r.row(rows::SET + number));
            } else {
                self.asm.vector(MOVUPS_LOAD, v.y, 0, r.row(rows::AT + axis));
                if self.isa() == Isa::Avx512 {
                    self.asm.int_load(Int::Mov, true, RAX, RBX, r.rows + rows::EXISTING);
                    self.slope_of(v.y, vertical);
                } else {
                    self.is_moved = true;
                    self.slope_by_signs(v.y, 0, vertical);
                    self.is_moved = false;
                }
                self.texels().keep_marked(v.x);
            }
            if !r.unnormalised[axis as usize] {
                self.texels().with(MUL, v.x, v.x, r.each(64 * of_level::SIZE + PER_AXIS * axis));
            }
            self.asm.vector(FMADD231, v.a, v.x, Rm::Reg(v.x));
        }
        self.asm.place(done);
    }

    /// The logarithm by 2 of x, in its place: `ctm_exec::transcendental::ln2`.
    fn logarithm(&mut self) {
        let v = self.names();
        let (fraction, exponent, sum) = (v.y, v.b, v.a);
        match self.isa() {
            Isa::Avx512 => {
                self.asm.instruction(FRACTION, fraction, 0, Rm::Reg(v.x), Some(0x0f));
                self.asm.instruction(EXPONENT, exponent, 0, Rm::Reg(fraction), None);
                self.asm.instruction(EXPONENT, v.x, 0, Rm::Reg(v.x), None);
                self.asm.vector(SUB, exponent, v.x, Rm::Reg(exponent));
            }
            Isa::Avx2 => {
                self.asm.vector(ADD_I32, exponent, v.x, Rm::Literal(THREE_QUARTERS.wrapping_neg()));
                self.asm.instruction(SHIFT_IMM, PSRA, exponent, Rm::Reg(exponent), Some(23));
                self.asm.instruction(SHIFT_IMM, PSLL, fraction, Rm::Reg(exponent), Some(23));
                self.asm.vector(SUB_I32, fraction, v.x, Rm::Reg(fraction));
                self.asm.vector(CVT_I32_F32, exponent, 0, Rm::Reg(exponent));
            }
        }
        self.asm.vector(SUB, fraction, fraction, Rm::Literal(ONE));
        self.asm.vector(ADD, exponent, exponent, Rm::Reg(fraction));
        let [rest @ .., highest] = LN2_POLYNOMIAL;
        self.load_into(sum, Src::Literal(highest.to_bits()), 0);
        for c in rest.into_iter().rev() {
            self.asm.vector(FMADD213, sum, fraction, Rm::Literal(c.to_bits()));
        }
        self.asm.vector(FMADD213, sum, fraction, Rm::Reg(exponent));
        if self.isa() == Isa::Avx2 {
            // Exponents of AVX-512 are infinite where these are not.
            self.texels().mark(v.x, Rm::Literal(0), EQUAL, 0);
            self.texels().replace(sum, Rm::Literal(SIGN | INFINITY));
            self.texels().mark(v.x, Rm::Literal(INFINITY), NOT_LESS, 0);
            self.texels().replace(sum, Rm::Reg(v.x));
        }
        self.asm.vector(MOVAPS, v.x, 0, Rm::Reg(sum));
    }

    /// Levels, their weight, and the filter of each lane, from the level of detail.
    fn choose(&mut self, r: &Routine) {
        let v = self.names();
        // Of what is no number, minimum and maximum are their second operand.
        self.texels().with(MAX, v.x, v.x, r.each(of_texture::LEAST));
        self.texels().with(MIN, v.x, v.x, r.each(of_texture::MOST));
        self.texels().mark(v.x, Rm::Literal(0), GREATER, 0);
        self.filter(r, true);
        self.asm.vector(MAX, v.x, v.x, Rm::Literal(0));
        self.texels().with(MIN, v.x, v.x, r.each(of_texture::LAST));
        self.texels().with(ADD, v.x, v.x, r.each(of_texture::ROUND));
        self.asm.instruction(ROUND_SCALE, v.y, 0, Rm::Reg(v.x), Some(BELOW));
        self.asm.vector(SUB, v.x, v.x, Rm::Reg(v.y));
        self.texels().with(AND, v.x, v.x, r.each(of_texture::WEIGH));
        self.store(v.x, r.row(rows::WEIGHT));
        self.asm.vector(CVT_F32_I32, v.x, 0, Rm::Reg(v.y));
        self.store(v.x, r.row(rows::LOW));
        self.asm.vector(ADD, v.y, v.y, Rm::Literal(ONE));
        self.texels().with(MIN, v.y, v.y, r.each(of_texture::LAST));
        self.asm.vector(CVT_F32_I32, v.y, 0, Rm::Reg(v.y));
        self.store(v.y, r.row(rows::HIGH));
    }

    /// A whole number that a row names, from 0 to one of the table: as a number.
    fn named(&mut self, to: u8, row: Rm, last: Rm) {
        self.asm.instruction(ROUND_SCALE, to, 0, row, Some(NEAREST));
        self.asm.vector(MAX, to, to, Rm::Literal(0));
        self.texels().with(MIN, to, to, last);
    }

    /// The layer or face.
    fn slice(&mut self, r: &Routine) {
        let v = self.names();
        self.named(v.x, r.row(rows::AT + 2), r.each(of_texture::LAST_SLICE));
        if r.cubes {
            self.named(v.y, r.row(rows::SET + CUBE as i32), r.each(of_texture::LAST_CUBE));
            self.asm.vector(FMADD231, v.x, v.y, Rm::Literal((FACES as f32).to_bits()));
        }
        self.asm.vector(CVT_F32_I32, v.x, 0, Rm::Reg(v.x));
        self.store(v.x, r.row(rows::SLICE));
    }
}
