//! Lookups of every kind in arrays: one routine for each sampler's filter and wraps, made when an input first has such a sampler.
//!
//! Code of programs calls a routine for the lanes of a copy ([`super::lookups`]); lookups that are nearest and clamped it makes itself. A routine
//! works on rows of the frame and leaves everything but scratch registers as it was:
//!
//! | register | holds |
//! |---|---|
//! | rsi | the copy's rows: two of coordinates, four of texels |
//! | rdi | two numbers that coordinates are multiplied with |
//! | r8 | the description of the input ([`input`]) |
//! | r9 | the channels that are wanted, as bits |
//! | r10 | rows for itself ([`ROWS`]) |
//! | rcx | the lanes; stays as it is |
//! | rax | afterwards: 0, or 1 when nothing was done |
//!
//! It does nothing where a coordinate that repeats is finite and too large for single precision.

mod kinds;

use super::elements::{self, Elements};
use super::frame::input;
use super::isa::Isa;
use super::r700::facts::{EQUAL, INT_LESS};
use super::texels::{Axis, REPEATS_BELOW, Texels};
use super::weighed::Corners;
use crate::codegen::x86::asm::{
    ADD_I32, AND, AND_F32, Asm, BROADCAST, CMP_F32, CMP_I32, CVT_F32_I32, CVT_I32_F32, Cond, DIV, EQUAL_I32,
    GREATER_I32, Gpr, Int, Label, MAX, MIN, MIN_I32, MOVAPS, MOVUPS_LOAD, MOVUPS_STORE, MUL, MUL_I32, RAX, RCX, RDI,
    RDX, RSI, Rm, SHIFT_IMM, SHIFT_RIGHT as SHIFT_RIGHT_LANES, SUB_I32, XOR,
};
use ctm_exec::float::{INFINITY, ONE, SIGN};
use ctm_exec::x1k::{Filter, Form, Wrap};
pub use kinds::Kind;
use kinds::{Names, USED};

/// Rows that a routine needs: registers that it saves, masks, and elements of four corners, channel by channel.
pub const ROWS: i32 = CORNERS + if Corners::ROWS > 4 * 4 { Corners::ROWS } else { 4 * 4 };
/// Where elements are.
const ELEMENTS: i32 = USED as i32 + 4;
/// What is behind: elements of four corners, channel by channel, or those by which they are weighed.
const CORNERS: i32 = ELEMENTS + elements::ROWS;
/// The description.
const INPUT: Gpr = 8;
/// The channels that are wanted.
const WANTED: Gpr = 9;
/// Its own rows.
const OWN: Gpr = 10;
/// The lanes of a piece.
const PIECE: Gpr = 11;
/// The extensions of vector shifts.
const SHIFT_LEFT: u8 = 6;
const SHIFT_RIGHT: u8 = 2;

/// The code of a routine; `saves`: the program may use registers that it uses.
fn routine(isa: Isa, kind: Kind, saves: bool) -> Vec<u8> {
    let mut asm = Asm::new(isa);
    let refuse = asm.label();
    let mut routine = Routine { asm, isa, kind, piece: 0, refuse, whole: false, saves, names: Names::of(isa, kind) };
    routine.save(true);
    routine.asm.int_load(Int::Mov, true, RDX, INPUT, input::DATA);
    for piece in 0..isa.pieces() {
        routine.piece = piece.into();
        routine.asm.int(Int::Mov, PIECE, RCX);
        if piece > 0 {
            routine.asm.wide_shift(5, PIECE, isa.lanes() as u8 * piece);
        }
        match (kind.filter, kind.form) {
            (Filter::Nearest, Form::Square) => routine.square(),
            (Filter::Nearest, _) => routine.nearest(),
            (Filter::Linear, _) => routine.linear(),
        }
    }
    routine.asm.int_imm(RAX, 0);
    routine.save(false);
    routine.asm.ret();
    routine.asm.place(refuse);
    routine.asm.int_imm(RAX, 1);
    routine.save(false);
    routine.asm.ret();
    routine.asm.finish()
}

struct Routine {
    asm: Asm,
    isa: Isa,
    kind: Kind,
    /// The piece that is being looked up.
    piece: i32,
    /// Where it ends without having done anything.
    refuse: Label,
    /// Elements have four channels, and lie in its own rows.
    whole: bool,
    /// It saves registers.
    saves: bool,
    names: Names,
}

impl Routine {
    fn texels(&mut self) -> Texels<'_> {
        let n = self.names;
        Texels { asm: &mut self.asm, isa: self.isa, scratch: n.scratch }
    }

    /// Saves vector registers, or restores them.
    fn save(&mut self, save: bool) {
        let used = self.names.first();
        let first = if self.saves { used } else { self.isa.registers() };
        for register in first..self.isa.registers() {
            let row = Rm::Row(OWN, 64 * i32::from(register - used));
            self.asm.vector(if save { MOVUPS_STORE } else { MOVUPS_LOAD }, register, 0, row);
        }
    }

    /// A row's share of the piece.
    fn row(&self, base: Gpr, number: i32) -> Rm {
        Rm::Row(base, 64 * number + self.isa.bytes() * self.piece)
    }

    /// A number of the description, for all lanes.
    const fn each(place: i32, axis: usize) -> Rm {
        Rm::Each(INPUT, place + 4 * axis as i32)
    }

    /// The coordinates in elements.
    fn coordinates(&mut self) {
        let n = self.names;
        for (axis, to) in [n.x, n.y].into_iter().enumerate() {
            let row = self.row(RSI, axis as i32);
            self.asm.vector(MOVUPS_LOAD, to, 0, row);
            self.texels().with(MUL, to, to, Rm::Each(RDI, 4 * axis as i32));
        }
        // Without their signs floats are in order as whole numbers. Less the bound, those from there on to infinity are the first ones, without a sign; with
        // one, as comparisons take them, when half of all numbers is subtracted, too.
        const HALF_OF_ALL: u32 = 1 << 31;
        let bound = REPEATS_BELOW.to_bits() + HALF_OF_ALL;
        let beyond = |r: &mut Self, to: u8, of: u8| {
            r.asm.vector(AND, to, of, Rm::Literal(!SIGN));
            r.asm.vector(SUB_I32, to, to, Rm::Literal(bound));
        };
        match [self.kind.repeats(0), self.kind.repeats(1)] {
            [false, false] => return,
            [true, false] => beyond(self, n.other, n.x),
            [false, true] => beyond(self, n.other, n.y),
            [true, true] => {
                beyond(self, n.other, n.x);
                beyond(self, n.texels[0], n.y);
                self.asm.vector(MIN_I32, n.other, n.other, Rm::Reg(n.texels[0]));
            }
        }
        let finite = Rm::Literal(INFINITY.wrapping_sub(bound));
        match self.isa {
            Isa::Avx512 => {
                self.asm.mask_from(1, PIECE);
                self.asm.evex(CMP_I32, 1, n.other, finite, 1, false, Some(INT_LESS));
                self.asm.mask_test(1);
            }
            Isa::Avx2 => {
                self.asm.vector(MOVUPS_LOAD, n.scratch, 0, finite);
                self.asm.vector(GREATER_I32, n.scratch, n.scratch, Rm::Reg(n.other));
                self.asm.signs(RAX, n.scratch);
                self.asm.test(RAX, PIECE);
            }
        }
        let refuse = self.refuse;
        self.asm.jump_if(Cond::NotEqual, refuse);
    }

    /// A floored coordinate as the number of a column or row, always one that exists. `inside`: the row for the mask of lanes inside.
    fn wrapped(&mut self, axis: usize, u: u8, inside: i32) {
        let n = self.names;
        let last = Self::each(input::LAST, axis);
        match self.kind.wrap[axis] {
            Wrap::Clamp => {
                self.texels().with(MIN, u, u, last);
                self.asm.vector(MAX, u, u, Rm::Literal(0));
            }
            Wrap::Repeat | Wrap::Mirror => {
                let of_axis = Axis {
                    size: Self::each(input::SIZE, axis),
                    last,
                    period: Self::each(input::PERIOD, axis),
                    inverse: Self::each(input::INVERSE, axis),
                };
                self.texels().repeat(u, n.other, &of_axis);
                if self.kind.wrap[axis] == Wrap::Mirror {
                    self.texels().mirror(u, n.other, &of_axis);
                }
                // Infinities read the first one, and lanes at rest one that exists: of no number the maximum is its second operand.
                self.asm.vector(MAX, u, u, Rm::Literal(0));
                self.texels().with(MIN, u, u, last);
            }
            Wrap::Border => {
                self.texels().with(MIN, n.other, u, last);
                self.asm.vector(MAX, n.other, n.other, Rm::Literal(0));
                self.compare_equal(u, n.other);
                self.keep_mask(inside);
                self.asm.instruction(CVT_F32_I32, u, 0, Rm::Reg(n.other), None);
                return;
            }
        }
        self.asm.instruction(CVT_F32_I32, u, 0, Rm::Reg(u), None);
    }

    /// A mask of the lanes where two vectors are equal: mask 1, or the scratch register.
    fn compare_equal(&mut self, a: u8, b: u8) {
        let n = self.names;
        match self.isa {
            Isa::Avx512 => self.asm.evex(CMP_F32, 1, a, Rm::Reg(b), 0, false, Some(EQUAL)),
            Isa::Avx2 => self.asm.vex(CMP_F32, n.scratch, a, Rm::Reg(b), Some(EQUAL)),
        }
    }

    /// Where masks of lanes are kept.
    fn mask_row(&self, number: i32) -> Rm {
        self.row(OWN, i32::from(USED) + number)
    }

    fn keep_mask(&mut self, number: i32) {
        let n = self.names;
        let row = self.mask_row(number);
        match (self.isa, row) {
            (Isa::Avx512, Rm::Row(base, offset)) => {
                self.asm.mask_to(RAX, 1);
                self.asm.int_store(Int::Mov, false, base, offset, RAX);
            }
            _ => self.asm.vector(MOVUPS_STORE, n.scratch, 0, row),
        }
    }

    /// The lanes that look up an element that exists, of a corner: mask 1, or the scratch register. All, or the running ones, where there is
    /// no border.
    fn inside(&mut self, corner: [usize; 2]) {
        let n = self.names;
        let rows = [0, 1].map(|axis| self.mask_row((2 * axis + corner[axis]) as i32));
        let with = [0, 1].map(|axis| self.kind.wrap[axis] == Wrap::Border);
        match self.isa {
            Isa::Avx512 => {
                self.asm.int(Int::Mov, RAX, PIECE);
                for (row, with) in rows.into_iter().zip(with) {
                    if let (Rm::Row(base, offset), true) = (row, with) {
                        self.asm.int_load(Int::And, false, RAX, base, offset);
                    }
                }
                self.asm.mask_from(1, RAX);
            }
            Isa::Avx2 => match with {
                [false, false] => self.asm.vector(EQUAL_I32, n.scratch, n.scratch, Rm::Reg(n.scratch)),
                [true, false] => self.asm.vector(MOVUPS_LOAD, n.scratch, 0, rows[0]),
                [false, true] => self.asm.vector(MOVUPS_LOAD, n.scratch, 0, rows[1]),
                [true, true] => {
                    self.asm.vector(MOVUPS_LOAD, n.scratch, 0, rows[0]);
                    self.asm.vector(AND_F32, n.scratch, n.scratch, rows[1]);
                }
            },
        }
    }

    /// A channel of the elements at an index, or of the border.
    fn texel(&mut self, to: u8, index: u8, corner: [usize; 2], channel: i32) {
        let n = self.names;
        match self.kind.form {
            Form::Floats => self.dword(to, index, corner, channel, 4 * channel),
            Form::Square => self.dword(to, index, corner, channel, 0),
            Form::Bytes { swapped } => {
                self.gather(to, index, corner, 0);
                let byte = if swapped && channel != 3 { 2 - channel } else { channel };
                if byte > 0 {
                    self.asm.instruction(SHIFT_IMM, SHIFT_RIGHT, to, Rm::Reg(to), Some(8 * byte as u8));
                }
                self.normalise(to, u8::MAX.into());
                self.or_border(to, corner, channel);
            }
            Form::Words => {
                self.asm.instruction(SHIFT_IMM, SHIFT_RIGHT, n.dwords, Rm::Reg(index), Some(1));
                self.gather(to, n.dwords, corner, 0);
                // Every other one is the upper half.
                self.asm.vector(AND, n.dwords, index, Rm::Literal(1));
                self.asm.instruction(SHIFT_IMM, SHIFT_LEFT, n.dwords, Rm::Reg(n.dwords), Some(4));
                self.asm.vector(SHIFT_RIGHT_LANES, to, to, Rm::Reg(n.dwords));
                self.normalise(to, u16::MAX.into());
                self.or_border(to, corner, channel);
            }
        }
    }

    /// A dword at an offset behind those that indices name, or the border's channel.
    fn dword(&mut self, to: u8, index: u8, corner: [usize; 2], channel: i32, offset: i32) {
        if self.kind.has_border() {
            self.asm.vector(BROADCAST, to, 0, Self::each(input::BORDER, channel as usize));
            self.gather_inside(to, index, corner, offset);
        } else {
            self.gather(to, index, corner, offset);
        }
    }

    /// A dword at an offset behind those that indices name; lanes outside hold 0.
    fn gather(&mut self, to: u8, index: u8, corner: [usize; 2], offset: i32) {
        if self.whole {
            let row = self.element(corner, offset / 4);
            return self.asm.vector(MOVUPS_LOAD, to, 0, row);
        }
        self.asm.vector(XOR, to, to, Rm::Reg(to));
        self.gather_inside(to, index, corner, offset);
    }

    /// The same; lanes outside stay.
    fn gather_inside(&mut self, to: u8, index: u8, corner: [usize; 2], offset: i32) {
        let n = self.names;
        self.inside(corner);
        match self.isa {
            Isa::Avx512 if self.whole => {
                let row = self.element(corner, offset / 4);
                self.asm.evex(MOVUPS_LOAD, to, 0, row, 1, false, None);
            }
            Isa::Avx512 => self.asm.gather(to, 1, RDX, index, offset),
            Isa::Avx2 => self.asm.gather_by_signs(to, n.scratch, RDX, index, offset),
        }
    }

    /// The lowest bits as a number of 0 to 1, which `most` stands for.
    fn normalise(&mut self, to: u8, most: u32) {
        self.asm.vector(AND, to, to, Rm::Literal(most));
        self.asm.instruction(CVT_I32_F32, to, 0, Rm::Reg(to), None);
        self.asm.vector(DIV, to, to, Rm::Literal((most as f32).to_bits()));
    }

    /// The border's channel in lanes outside.
    fn or_border(&mut self, to: u8, corner: [usize; 2], channel: i32) {
        let n = self.names;
        if !self.kind.has_border() {
            return;
        }
        self.asm.vector(BROADCAST, n.dwords, 0, Self::each(input::BORDER, channel as usize));
        self.inside(corner);
        match self.isa {
            Isa::Avx512 => {
                self.asm.evex(MOVAPS, n.dwords, 0, Rm::Reg(to), 1, false, None);
                self.asm.vector(MOVAPS, to, 0, Rm::Reg(n.dwords));
            }
            Isa::Avx2 => self.asm.blend(to, n.scratch, Rm::Reg(to), n.dwords),
        }
    }

    /// The same for a channel that elements lack.
    fn missing(&mut self, to: u8, corner: [usize; 2], channel: i32) {
        let n = self.names;
        let bits = Rm::Literal(if channel == 3 { ONE } else { 0 });
        if !self.kind.has_border() {
            return self.texels().load_each(to, bits);
        }
        self.asm.vector(BROADCAST, to, 0, Self::each(input::BORDER, channel as usize));
        self.inside(corner);
        match self.isa {
            Isa::Avx512 => self.asm.evex(BROADCAST, to, 0, bits, 1, false, None),
            Isa::Avx2 => self.asm.blend(to, n.scratch, bits, to),
        }
    }

    /// Where a channel of a corner's elements lies.
    fn element(&self, [x, y]: [usize; 2], channel: i32) -> Rm {
        self.row(OWN, CORNERS + 4 * (2 * y + x) as i32 + channel)
    }

    /// Makes channels as [`Self::channels`] does. Where elements may have four channels, there is code for these, too, which loads the elements of
    /// the corners first.
    fn all_channels(&mut self, corners: &[([usize; 2], u8)], make: impl Fn(&mut Self, i32, bool) -> u8) {
        let n = self.names;
        let as_they_are = corners.len() == 1 && !self.kind.has_border();
        let weighed = corners.len() > 1 && !self.kind.has_border();
        if self.isa != Isa::Avx512 || self.kind.form != Form::Floats || weighed {
            return self.channels(make);
        }
        let (narrow, done) = (self.asm.label(), self.asm.label());
        self.asm.int_store_imm(Int::Cmp, false, INPUT, input::CHANNELS, 4);
        self.asm.jump_if(Cond::NotEqual, narrow);
        for &(corner, index) in corners {
            let Rm::Row(base, offset) = self.row(OWN, ELEMENTS) else { return };
            let elements = Elements { registers: n.elements, data: RDX, rows: (base, offset) };
            elements.load(&mut self.asm, index);
            for (channel, register) in (0..).zip(elements.channels()) {
                let row = if as_they_are { self.row(RSI, 2 + channel) } else { self.element(corner, channel) };
                self.asm.vector(MOVUPS_STORE, register, 0, row);
            }
        }
        if !as_they_are {
            self.whole = true;
            self.channels(&make);
            self.whole = false;
        }
        self.asm.jump(done);
        self.asm.place(narrow);
        self.channels(make);
        self.asm.place(done);
    }

    /// Makes each channel that is wanted by `make`, which is told whether elements have it and says where it is.
    fn channels(&mut self, make: impl Fn(&mut Self, i32, bool) -> u8) {
        for channel in 0..4 {
            let (missing, made, next) = (self.asm.label(), self.asm.label(), self.asm.label());
            self.asm.test_imm(WANTED, 1 << channel);
            self.asm.jump_if(Cond::Equal, next);
            // Only numbers come in any number of channels.
            let asks = self.kind.form == Form::Floats && channel > 0 && !self.whole;
            if asks {
                self.asm.int_store_imm(Int::Cmp, false, INPUT, input::CHANNELS, channel);
                self.asm.jump_if(Cond::BelowEqual, missing);
            }
            let register = make(self, channel, self.kind.form != Form::Words || channel == 0);
            if asks {
                self.asm.jump(made);
                self.asm.place(missing);
                let same = make(self, channel, false);
                debug_assert_eq!(same, register);
                self.asm.place(made);
            }
            let row = self.row(RSI, 2 + channel);
            self.asm.vector(MOVUPS_STORE, register, 0, row);
            self.asm.place(next);
        }
    }

    fn nearest(&mut self) {
        let n = self.names;
        self.coordinates();
        for (axis, u) in [n.x, n.y].into_iter().enumerate() {
            self.texels().floor(u, u);
            self.wrapped(axis, u, 2 * axis as i32);
            self.texels().with(MUL_I32, u, u, Self::each(input::STRIDES, 1 - axis));
        }
        self.asm.vector(ADD_I32, n.x, n.x, Rm::Reg(n.y));
        self.all_channels(&[([0; 2], n.x)], |r, channel, there| {
            if there {
                r.texel(n.texels[0], n.x, [0; 2], channel);
            } else {
                r.missing(n.texels[0], [0; 2], channel);
            }
            n.texels[0]
        });
    }

    /// Four elements side by side, as channels.
    fn square(&mut self) {
        let n = self.names;
        self.coordinates();
        let [right, below] = n.upper;
        for (axis, (u, next)) in [(n.x, right), (n.y, below)].into_iter().enumerate() {
            self.texels().floor(u, u);
            self.wrapped(axis, u, 2 * axis as i32);
            self.texels().load_each(n.other, Self::each(input::LAST, axis));
            self.asm.instruction(CVT_F32_I32, n.other, 0, Rm::Reg(n.other), None);
            self.asm.vector(ADD_I32, next, u, Rm::Literal(1));
            self.asm.vector(MIN_I32, next, next, Rm::Reg(n.other));
            for place in [u, next] {
                self.texels().with(MUL_I32, place, place, Self::each(input::STRIDES, 1 - axis));
            }
        }
        let [under, beyond] = n.lower;
        self.asm.vector(ADD_I32, under, n.x, Rm::Reg(below));
        self.asm.vector(ADD_I32, beyond, right, Rm::Reg(below));
        self.asm.vector(ADD_I32, right, right, Rm::Reg(n.y));
        self.asm.vector(ADD_I32, n.x, n.x, Rm::Reg(n.y));
        self.channels(|r, channel, _| {
            r.texel(n.texels[0], [right, under, beyond, n.x][channel as usize], [0; 2], channel);
            n.texels[0]
        });
    }

    fn linear(&mut self) {
        let n = self.names;
        self.coordinates();
        // Columns of the left and right texels, rows of the upper and lower ones.
        let places = [n.upper, n.lower];
        for (axis, u) in [n.x, n.y].into_iter().enumerate() {
            let [low, high] = places[axis];
            self.texels().split(u, low, high);
            for (n, place) in [low, high].into_iter().enumerate() {
                self.wrapped(axis, place, (2 * axis + n) as i32);
                self.texels().with(MUL_I32, place, place, Self::each(input::STRIDES, 1 - axis));
            }
        }
        let [left, right] = n.upper;
        let [up, down] = n.lower;
        self.asm.vector(ADD_I32, n.other, left, Rm::Reg(down));
        self.asm.vector(ADD_I32, left, left, Rm::Reg(up));
        self.asm.vector(ADD_I32, down, right, Rm::Reg(down));
        self.asm.vector(ADD_I32, right, right, Rm::Reg(up));
        self.asm.vector(MOVAPS, up, 0, Rm::Reg(n.other));
        let corners = [([0, 0], left), ([1, 0], right), ([0, 1], up), ([1, 1], down)];
        let (narrow, done) = (self.asm.label(), self.asm.label());
        if self.isa == Isa::Avx512 && self.kind.form == Form::Floats && !self.kind.has_border() {
            self.asm.int_store_imm(Int::Cmp, false, INPUT, input::CHANNELS, 4);
            self.asm.jump_if(Cond::NotEqual, narrow);
            self.weigh(corners.map(|(_, index)| index));
            self.asm.jump(done);
        }
        self.asm.place(narrow);
        self.all_channels(&corners, |r, channel, there| {
            let [upper, one, lower] = n.texels;
            for (y, (to, indices)) in [(upper, n.upper), (lower, n.lower)].into_iter().enumerate() {
                for (x, (to, index)) in [to, one].into_iter().zip(indices).enumerate() {
                    if there {
                        r.texel(to, index, [x, y], channel);
                    } else {
                        r.missing(to, [x, y], channel);
                    }
                }
                r.texels().mix(to, one, Rm::Reg(n.x));
            }
            r.texels().mix(upper, lower, Rm::Reg(n.y));
            r.texels().one_nan(upper);
            upper
        });
        self.asm.place(done);
    }

    /// Weighs elements of four channels.
    fn weigh(&mut self, indices: [u8; 4]) {
        let n = self.names;
        let corners = Corners { base: OWN, offset: 64 * CORNERS };
        for (corner, index) in indices.into_iter().enumerate() {
            self.asm.vector(MOVUPS_STORE, index, 0, corners.index(corner));
        }
        for (axis, weight) in [n.x, n.y].into_iter().enumerate() {
            self.asm.vector(MOVUPS_STORE, weight, 0, corners.weight(axis));
        }
        let elements = Elements { registers: n.elements, data: RDX, rows: (OWN, 64 * ELEMENTS) };
        elements.weigh(&mut self.asm, corners);
        for (channel, register) in (0..).zip(elements.channels()) {
            let row = self.row(RSI, 2 + channel);
            self.asm.vector(MOVUPS_STORE, register, 0, row);
        }
    }
}
