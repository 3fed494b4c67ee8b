//! Lookups of texels ([`Elements`]) and of items of buffers, by a gather for each dword.
//!
//! Whether a lookup has a binding is seen when it runs, and so is whether its coordinates repeat; without one it is a call.

use super::gathers::{BESIDE, FOUND};
use super::{Emit, FORM_ROWS, GATHERED, OPERAND, SCRATCH};
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, BROADCAST, CMP_F32, CMP_I32, CMP_U32, Cond, Int, Label, MOVAPS, MOVUPS_LOAD, MUL, MUL_I32,
    PERMUTE_IN_QUAD, PSLL, RAX, RBX, RCX, RDX, Rm, SHIFT_IMM, SUB, XOR,
};
use crate::codegen::x86::elements::{self, Elements};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{K, Lir, Src, Vector};
use crate::codegen::x86::masked::facts::{INT_LESS, INT_NOT_EQUAL, NOT_LESS, UNORDERED};
use crate::codegen::x86::masked::forms::{self, Names};
use crate::codegen::x86::masked::wide::SHR;
use crate::codegen::x86::masked::{Looked, Sample, UNCOMPARED, argument, head, result, table};
use crate::codegen::x86::texels::{Axis, REPEATS_BELOW, Texels, clamped};
use crate::codegen::x86::vectors::Vectors;
use crate::codegen::x86::weighed::Corners;
use crate::ir::masked::M;
use ctm_exec::float::{NAN, SIGN};

/// One more scratch register.
pub(super) const RIGHT: u8 = 31;

impl Emit<'_> {
    /// A lookup.
    pub(super) fn sample(&mut self, sample: &Sample, number: i32) {
        let (at, isa) = (self.table_of(number), self.isa());
        let (from, back) = (self.asm.label(), self.asm.label());
        self.asm.jump_cmp(true, RBX, at + table::BOUND, 0, Cond::Equal, from);
        if isa == Isa::Avx2 {
            self.give_arguments(sample);
        }
        let nearest = matches!(sample.looked, Looked::Nearest { .. });
        if sample.looked.needs_levels() {
            self.only_levels(number, back, from);
        } else if nearest || isa == Isa::Avx512 && !matches!(sample.looked, Looked::Item { .. }) {
            let linear = if self.input.linear { self.asm.label() } else { from };
            self.asm.int_store_imm(Int::Cmp, true, RBX, at + table::BOUND, 2);
            if nearest {
                self.asm.jump_if(Cond::Equal, linear);
            }
            self.other(sample, number, back, from);
            if nearest && self.input.linear {
                self.linear.push((linear, back, from, *sample, at));
            }
        }
        match sample.looked {
            _ if sample.looked.needs_levels() => {}
            Looked::Nearest { .. } | Looked::Sizes => self.nearest(sample, at, from),
            Looked::Load { offset } => self.load(sample, offset, at, from),
            Looked::Item { dwords, one } => self.item(sample, (dwords, one), at),
        }
        self.asm.place(back);
        self.is_spread &= isa == Isa::Avx2;
        self.calls.push((from, back, *sample));
    }

    /// Does something for each piece. On AVX2 it may use registers from `first` on, which vectors may have.
    pub(super) fn each_looked_up(&mut self, sample: &Sample, first: u8, body: impl Fn(&mut Self, u8)) {
        match self.isa() {
            Isa::Avx512 => self.pieces().for_each(|piece| body(self, piece)),
            Isa::Avx2 => {
                self.with_registers(first, |e| body(e, 0));
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

    /// Leaves for a lookup of mipmap levels.
    pub(super) fn only_levels(&mut self, number: i32, back: Label, from: Label) {
        let begin = if self.input.levels { self.asm.label() } else { from };
        self.asm.jump(begin);
        if self.input.levels {
            self.levels.push((begin, back, from, number));
        }
    }

    /// Leaves for a lookup by a routine, or of mipmap levels, where the number that was compared with 2 is above.
    pub(super) fn other(&mut self, sample: &Sample, number: i32, back: Label, from: Label) {
        let forms = sample.looked.has_forms();
        if !forms && !self.input.levels {
            return;
        }
        let begin = self.asm.label();
        self.asm.jump_if(Cond::Above, begin);
        if forms {
            self.others.push((begin, back, from, *sample, number));
        } else {
            self.levels.push((begin, back, from, number));
        }
    }

    /// The beginning of such a lookup. Without code for levels, their tables say that there is no binding.
    pub(super) fn begin_other(&mut self, number: i32, [begin, back, from]: [Label; 3]) {
        self.asm.place(begin);
        self.is_spread = false;
        if self.input.levels {
            let levels = self.asm.label();
            self.asm.jump_cmp(true, RBX, self.table_of(number) + table::BOUND, 3, Cond::Equal, levels);
            self.levels.push((levels, back, from, number));
        }
    }

    /// Points to what routines work on: the lookup's table and rows.
    pub(super) fn begin_routine(&mut self, number: i32, rows: i32) {
        for (register, at) in [(forms::TABLE, self.table_of(number)), (forms::OWN, self.input.layout.save + rows)] {
            self.asm.wide(Int::Mov, register, RBX);
            self.asm.wide_imm(Int::Add, register, at);
        }
    }

    /// Lookups by routines.
    pub(super) fn other_lookups(&mut self) {
        let names = Names::of(self.isa());
        for (begin, back, from, sample, number) in std::mem::take(&mut self.others) {
            let at = self.table_of(number);
            self.begin_other(number, [begin, back, from]);
            self.bound(&sample, (at, 2), from, true);
            self.begin(&sample, at);
            self.begin_routine(number, self.work() - self.input.layout.save);
            self.each_looked_up(&sample, Names::FIRST, |e, piece| {
                for (axis, to) in [names.x, names.y].into_iter().enumerate() {
                    let u = e.in_texels(&sample, axis, piece, at, to);
                    if u != to {
                        e.asm.vector(MOVAPS, to, 0, Rm::Reg(u));
                    }
                }
                e.asm.call(forms::TABLE, table::ROUTINE);
                e.give_channels(&sample, piece);
            });
            self.asm.jump(back);
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
        let Looked::Nearest { unnormalised, offset, .. } = sample.looked else { return u };
        if !unnormalised[axis] {
            self.texels().with(MUL, to, u, Rm::Each(RBX, at + table::SIZE + 4 * axis as i32));
            u = to;
        }
        if offset[axis] != 0.0 {
            self.asm.vector(ADD, to, u, Rm::Literal(offset[axis].to_bits()));
            u = to;
        }
        u
    }

    /// Goes to `from` where a coordinate that repeats is too large, before anything has been written, so that a call can still do everything. Only
    /// for routines those may repeat that count texels.
    pub(super) fn bound(&mut self, sample: &Sample, (at, axes): (i32, usize), from: Label, routine: bool) {
        let Looked::Nearest { unnormalised, .. } = sample.looked else { return };
        for axis in (0..axes).filter(|&axis| routine || !unnormalised[axis]) {
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

    /// A coordinate as the number of a column or row; from `u`, in `to`.
    pub(super) fn wrapped(&mut self, sample: &Sample, axis: usize, at: i32, u: u8, to: u8) {
        let (mut u, names) = (u, Names::of(self.isa()));
        if let Looked::Nearest { unnormalised, .. } = sample.looked
            && !unnormalised[axis]
        {
            self.repeat(axis as i32, at, to, if self.isa() == Isa::Avx512 { names.a } else { names.b });
            u = to;
        }
        let last = self.texels().each(Rm::Each(RBX, at + table::LAST + 4 * axis as i32));
        clamped(&mut self.asm, to, u, last);
    }

    /// `x = 4 * (x + y * columns)`: where texels' dwords begin.
    pub(super) fn texel_index(&mut self, at: i32) {
        let Names { x, y, .. } = Names::of(self.isa());
        self.texels().with(MUL_I32, y, y, Rm::Each(RBX, at + table::WIDTH));
        self.asm.vector(ADD_I32, x, x, Rm::Reg(y));
        self.asm.instruction(SHIFT_IMM, PSLL, x, Rm::Reg(x), Some(2));
    }

    /// Compares texels with reference values, in place. Changes x, and on AVX2 y and the mask.
    pub(super) fn compare(&mut self, sample: &Sample, at: i32, piece: u8, texels: u8) {
        let Names { x, y, .. } = Names::of(self.isa());
        let (reference, other) = match self.isa() {
            Isa::Avx512 => (self.rm(sample.at[3], piece), x),
            Isa::Avx2 => (Rm::Reg(self.argument(sample, 3, piece, y)), self.mask()),
        };
        let outcomes = [0, 4, 8, 12].map(|n| Rm::Each(RBX, at + table::COMPARED + n));
        self.texels().compare(x, texels, reference, outcomes, other);
        self.asm.vector(MOVAPS, texels, 0, Rm::Reg(x));
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

    /// The nearest texels.
    fn nearest(&mut self, sample: &Sample, at: i32, from: Label) {
        self.bound(sample, (at, 2), from, false);
        self.begin(sample, at);
        let names = Names::of(self.isa());
        self.each_looked_up(sample, Names::FIRST, |e, piece| {
            for (axis, to) in [names.x, names.y].into_iter().enumerate() {
                let u = e.in_texels(sample, axis, piece, at, to);
                e.wrapped(sample, axis, at, u, to);
            }
            e.texel_index(at);
            if e.isa() == Isa::Avx2 {
                e.elements_by_gathers(sample, at);
            } else if !sample.looked.compares() {
                e.load_elements();
                e.give_channels(sample, piece);
            } else if let Some(dst) = sample.dst[0] {
                e.asm.int_imm(RCX, 0xffff);
                e.asm.mask_from(1, RCX);
                e.asm.gather(GATHERED, 1, RDX, SCRATCH, 0);
                e.compare(sample, at, piece, GATHERED);
                e.put(dst, piece, GATHERED);
            }
            e.uncompared(sample, piece);
        });
    }

    /// How elements are loaded: to the scratch registers.
    pub(super) fn whole_elements(&self) -> Elements {
        Elements { registers: [SCRATCH, OPERAND, GATHERED, RIGHT], data: RDX, rows: (RBX, self.input.layout.save) }
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
            match self.isa() {
                Isa::Avx512 => self.whole_elements().load(&mut self.asm, SCRATCH),
                Isa::Avx2 => self.gather_elements(),
            }
            self.asm.ret();
        }
        if let Some(label) = self.weighed.take() {
            self.asm.place(label);
            let corners = self.corners();
            self.whole_elements().weigh(&mut self.asm, corners);
            self.asm.ret();
        }
    }

    /// Lookups that weigh four texels, along x, then along y.
    pub(super) fn linear_lookups(&mut self) {
        for (begin, back, from, sample, at) in std::mem::take(&mut self.linear) {
            self.asm.place(begin);
            self.is_spread = false;
            self.bound(&sample, (at, 2), from, false);
            self.begin(&sample, at);
            if self.isa() == Isa::Avx512 {
                self.asm.int_imm(RCX, 0xffff);
            }
            self.each_looked_up(&sample, BESIDE, |e, piece| match e.isa() {
                Isa::Avx512 => e.weigh(&sample, at, piece),
                Isa::Avx2 => e.weigh_by_gathers(&sample, at),
            });
            self.asm.jump(back);
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

    /// One piece of a lookup that weighs texels.
    fn weigh(&mut self, sample: &Sample, at: i32, piece: u8) {
        let corners = self.corners();
        for axis in 0..2 {
            let u = self.in_texels(sample, axis, piece, at, SCRATCH);
            if u != SCRATCH {
                self.asm.vector(MOVAPS, SCRATCH, 0, Rm::Reg(u));
            }
            // The column behind is where nothing else is meanwhile.
            self.texels().split(SCRATCH, OPERAND, RIGHT);
            self.store(SCRATCH, corners.weight(axis));
            for (high, register) in [OPERAND, RIGHT].into_iter().enumerate() {
                self.wrapped(sample, axis, at, register, register);
                if axis == 1 {
                    self.asm.vector(MUL_I32, register, register, Rm::Each(RBX, at + table::WIDTH));
                }
                let place = self.side(axis, high);
                self.store(register, place);
            }
        }
        self.find_corners(corners);
        if sample.looked.compares() {
            return self.weigh_compared(sample, at, piece, corners);
        }
        self.weigh_elements();
        self.give_channels(sample, piece);
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

    /// Two rows of texels, weighed along x, then along y: in the register of what is gathered.
    fn two_rows(&mut self, weights: [Rm; 2], mut load: impl FnMut(&mut Self, u8, usize)) {
        for (row, low) in [GATHERED, OPERAND].into_iter().enumerate() {
            load(self, low, 2 * row);
            load(self, RIGHT, 2 * row + 1);
            self.texels().mix(low, RIGHT, weights[0]);
        }
        self.texels().mix(GATHERED, OPERAND, weights[1]);
        self.texels().one_nan(GATHERED);
    }

    /// The same for what comparisons with the texels give.
    fn weigh_compared(&mut self, sample: &Sample, at: i32, piece: u8, corners: Corners) {
        if let Some(dst) = sample.dst[0] {
            self.two_rows([0, 1].map(|axis| corners.weight(axis)), |e, register, corner| {
                e.asm.vector(MOVUPS_LOAD, SCRATCH, 0, corners.index(corner));
                e.asm.mask_from(1, RCX);
                e.asm.gather(register, 1, RDX, SCRATCH, 0);
                e.compare(sample, at, piece, register);
            });
            self.put(dst, piece, GATHERED);
        }
        self.uncompared(sample, piece);
    }

    /// A vector by a gather under mask 1, which is the bits of rcx; lanes outside are 0 if `zero`. A gather keeps the index; what has no
    /// register goes through another one.
    fn gathered(&mut self, dst: Vector, piece: u8, zero: bool, gather: impl FnOnce(&mut Self, u8)) {
        self.asm.mask_from(1, RCX);
        let register = self.register(dst, piece).unwrap_or(GATHERED);
        if zero {
            self.asm.vector(XOR, register, register, Rm::Reg(register));
        }
        gather(self, register);
        if self.register(dst, piece).is_none() {
            let row = self.row(dst, piece);
            self.store(register, row);
        }
    }

    /// Where coordinates repeat, the one of the first period, and behind the edge its mirror image. Changes `other` and rax.
    pub(super) fn repeat(&mut self, axis: i32, at: i32, u: u8, other: u8) {
        let each = |place: i32| Rm::Each(RBX, at + place + 4 * axis);
        let done = self.asm.label();
        self.asm.jump_cmp(false, RBX, at + table::PERIOD + 4 * axis, 0, Cond::Equal, done);
        let of_axis = Axis {
            size: each(table::SIZE),
            last: each(table::LAST),
            period: each(table::PERIOD),
            inverse: each(table::INVERSE),
        };
        self.texels().floor(u, u);
        self.texels().repeat(u, other, &of_axis);
        self.unless_mirrored(at + table::PERIOD + 4 * axis, at + table::SIZE + 4 * axis, done);
        self.texels().mirror(u, other, &of_axis);
        self.asm.place(done);
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

    /// A coordinate, or what stands in its place, in this register.
    fn load_coordinate(&mut self, sample: &Sample, axis: usize, piece: u8, to: u8) {
        match self.isa() {
            Isa::Avx512 => self.load_into(to, sample.at[axis], piece),
            Isa::Avx2 => self.load_argument(to, sample, axis),
        }
    }

    /// The lanes in which a whole number is below a dword of the frame's, which is not 0 on AVX2: in mask 1, or in the register of the lanes that find
    /// something. `also`: of those lanes.
    fn below(&mut self, x: u8, offset: i32, also: bool) {
        match self.isa() {
            Isa::Avx512 => self.asm.evex(CMP_U32, 1, x, Rm::Each(RBX, offset), also.into(), false, Some(INT_LESS)),
            Isa::Avx2 => self.below_by_signs(x, offset, also),
        }
    }

    /// `LD`: texels by whole numbers, zeros outside.
    fn load(&mut self, sample: &Sample, offset: [i32; 3], at: i32, from: Label) {
        let Names { x, y, .. } = Names::of(self.isa());
        if sample.at[3] != Src::Literal(0) {
            // Other levels are for the call, before anything has been written.
            self.leave_where(sample, from, |e, piece, lanes| {
                let level = e.argument(sample, 3, piece, x);
                match e.isa() {
                    Isa::Avx512 => e.asm.evex(CMP_I32, 1, level, Rm::Literal(0), lanes, false, Some(INT_NOT_EQUAL)),
                    Isa::Avx2 => e.mark_others(level),
                }
            });
        }
        self.begin(sample, at);
        self.each_looked_up(sample, FOUND, |e, piece| {
            for ((axis, to), size) in [x, y].into_iter().enumerate().zip([table::WIDTH, table::HEIGHT]) {
                e.load_coordinate(sample, axis, piece, to);
                if offset[axis] != 0 {
                    e.asm.vector(ADD_I32, to, to, Rm::Literal(offset[axis].cast_unsigned()));
                }
                e.below(to, at + size, axis == 1);
            }
            if e.isa() == Isa::Avx2 {
                e.texel_index(at);
                return Self::elements_of(sample).for_each(|element| e.gather_found(sample, false, element));
            }
            e.asm.mask_to(RCX, 1);
            e.texel_index(at);
            // Lanes outside load the first one.
            e.asm.mask_from(1, RCX);
            e.asm.evex(MOVAPS, SCRATCH, 0, Rm::Reg(SCRATCH), 1, true, None);
            e.load_elements();
            e.asm.mask_from(1, RCX);
            for (register, dst) in e.whole_elements().channels().into_iter().zip(sample.dst) {
                let Some(dst) = dst else { continue };
                e.make(dst, piece, |e, dst| e.asm.evex(MOVAPS, dst, 0, Rm::Reg(register), 1, true, None));
            }
        });
    }

    /// A vertex fetch: items by whole numbers, zeros outside.
    fn item(&mut self, sample: &Sample, (dwords, one): (u8, u32), at: i32) {
        let x = Names::of(self.isa()).x;
        self.begin(sample, at);
        self.each_looked_up(sample, FOUND, |e, piece| {
            e.load_coordinate(sample, 0, piece, x);
            e.texels().with(ADD_I32, x, x, Rm::Each(RBX, at + table::FIRST));
            e.below(x, at + table::HEIGHT, false);
            if e.isa() == Isa::Avx512 {
                e.asm.mask_to(RCX, 1);
            }
            e.texels().with(MUL_I32, x, x, Rm::Each(RBX, at + table::WIDTH));
            for (element, dst) in sample.dst.into_iter().enumerate() {
                let Some(dst) = dst else { continue };
                let (is_read, offset) = (element < usize::from(dwords), 4 * element as i32);
                let bits = if element == 3 { one } else { 0 };
                match e.isa() {
                    Isa::Avx512 if is_read => {
                        e.gathered(dst, piece, true, |e, r| e.asm.gather_bytes(r, 1, RDX, SCRATCH, offset));
                    }
                    Isa::Avx512 => {
                        e.asm.mask_from(1, RCX);
                        e.make(dst, piece, |e, dst| e.asm.evex(BROADCAST, dst, 0, Rm::Literal(bits), 1, true, None));
                    }
                    Isa::Avx2 if is_read => e.gather_found(sample, true, element as i32),
                    Isa::Avx2 => e.found_bits(sample, bits, element as i32),
                }
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
