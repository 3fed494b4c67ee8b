//! Lookups of elements of every form, wherever they lie, with every wrap: routines that are the same for all programs, made once for each instruction set.
//!
//! Code of programs calls them for each piece with coordinates in elements. Which routines a lookup needs is seen when it is bound; so code does not depend on it.
//!
//! | register | holds |
//! |---|---|
//! | rdx | the array |
//! | r8 | the lookup's table ([`table`]) |
//! | r10 | rows to work on ([`ROWS`]) |
//! | x, y | the coordinates |
//! | x, a, y, b | afterwards: the channels ([`Names`]) |
//!
//! They change rax, r11 and mask 1, and read elements that exist whatever the coordinates are. Those that repeat are below [`super::super::texels::REPEATS_BELOW`].

use super::facts::NOT_EQUAL;
use super::lookups::{Looked, table};
use crate::codegen::x86::asm::{
    ADD_I32, AND, Asm, CVT_F32_I32, CVT_I32_F32, Cond, DIV, Gpr, Int, MAX, MIN, MIN_I32, MOVAPS, MOVUPS_LOAD,
    MOVUPS_STORE, MUL_I32, PSLL, PSRL, RAX, RDX, Rm, SHIFT_IMM, SHIFT_RIGHT, V, XOR,
};
use crate::codegen::x86::elements::{self, Elements};
use crate::codegen::x86::executable;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::texels::{self, Axis};
use crate::codegen::x86::weighed::Corners;
use crate::launch::wavefronts::bindings::Texels;
use ctm_exec::float::ONE;
use ctm_exec::x1k::Form;
use memmap2::Mmap;
use std::sync::OnceLock;

/// The table.
pub const TABLE: Gpr = 8;
/// Rows to work on.
pub const OWN: Gpr = 10;
/// A table of places.
const PLACES: Gpr = 11;

/// Rows that they work on, each of a vector's size: those for whole elements, or the places and elements of a square.
const SQUARE: i32 = 0;
/// Weights along x and y.
const WEIGHTS: i32 = SQUARE + 8;
/// Columns left and right, rows above and below.
const SIDES: i32 = WEIGHTS + 2;
/// Of each, the lanes where it lies beyond the border.
const BEYOND: i32 = SIDES + 4;
/// Elements of four corners, channel by channel.
const CORNERS: i32 = BEYOND + 4;
/// How many there are.
pub const ROWS: i32 = CORNERS + 4 * 4;
const _: () = assert!(elements::ROWS <= WEIGHTS && Corners::ROWS <= ROWS - CORNERS);

/// Vector registers.
#[derive(Clone, Copy)]
pub struct Names {
    /// Coordinates, columns, the number of an element; then the first channel.
    pub x: u8,
    /// Coordinates, rows; then the third channel.
    pub y: u8,
    /// The second and the fourth channel.
    pub a: u8,
    pub b: u8,
    /// The number of an element while it is read.
    index: u8,
    /// What is the same in all lanes, and masks: AVX2.
    pub each: u8,
    mask: u8,
}

impl Names {
    /// Scratch registers, and on AVX2 those from [`Self::FIRST`] on.
    pub const fn of(isa: Isa) -> Self {
        match isa {
            Isa::Avx512 => Self { x: 28, y: 29, a: 30, b: 31, index: 31, each: 31, mask: 31 },
            Isa::Avx2 => Self { x: 14, y: 12, a: 11, b: Self::FIRST, index: 13, each: 13, mask: 15 },
        }
    }

    /// The first one on AVX2.
    pub const FIRST: u8 = 10;

    /// Where the channels are: r, g, b, a.
    pub const fn channels(self) -> [u8; 4] {
        [self.x, self.a, self.y, self.b]
    }
}

/// What elements are: forms, with the channels of those that come in several numbers.
const FORMS: [(Form, u8); 8] = [
    (Form::Floats, 1),
    (Form::Floats, 2),
    (Form::Floats, 3),
    (Form::Floats, 4),
    (Form::Square, 1),
    (Form::Bytes { swapped: false }, 4),
    (Form::Bytes { swapped: true }, 4),
    (Form::Words, 1),
];

/// The routines.
pub struct Routines {
    text: Mmap,
    /// Lookups: of the nearest element, or linear ones; with borders.
    lookups: [[usize; 2]; 2],
    /// The same of whole elements of four dwords row by row, without borders.
    whole: [usize; 2],
    /// Elements by whole numbers.
    loads: usize,
    /// Of each form: the elements that columns and rows name; in tiles.
    elements: [[usize; 2]; FORMS.len()],
}

impl Routines {
    /// Those for an instruction set; `None` where memory cannot be made executable.
    pub fn of(isa: Isa) -> Option<&'static Self> {
        static ALL: [OnceLock<Option<Routines>>; 2] = [const { OnceLock::new() }; 2];
        ALL[usize::from(isa == Isa::Avx2)].get_or_init(|| Self::new(isa)).as_ref()
    }

    fn new(isa: Isa) -> Option<Self> {
        let mut emit = Emit { asm: Asm::new(isa), isa, n: Names::of(isa) };
        let lookups = [false, true].map(|linear| {
            [false, true].map(|borders| emit.entry(|e| if linear { e.linear(borders) } else { e.nearest(borders) }))
        });
        let loads = emit.entry(Emit::loads);
        let weighs = if isa == Isa::Avx512 { emit.entry(Emit::weigh_whole) } else { lookups[1][0] };
        let whole = [emit.entry(Emit::nearest_whole), weighs];
        let elements = FORMS.map(|(form, channels)| {
            [false, true].map(|tiled| {
                emit.entry(|e| {
                    if form == Form::Square {
                        e.square(tiled);
                    } else {
                        e.place(tiled, form.element_bytes(channels));
                        e.element(form, channels);
                    }
                })
            })
        });
        Some(Self { text: executable(&emit.asm.finish())?, lookups, whole, loads, elements })
    }

    /// Where the routine for lookups begins.
    pub fn lookup(&self, looked: Looked, texels: &Texels<'_>) -> usize {
        let borders = texels.borders != [false; 2];
        let whole = texels.form == Form::Floats && texels.channels == 4 && texels.tiles.is_none() && !borders;
        let routine = match looked {
            Looked::Load { .. } => self.loads,
            _ if whole => self.whole[usize::from(texels.linear)],
            _ => self.lookups[usize::from(texels.linear)][usize::from(borders)],
        };
        self.text.as_ptr() as usize + routine
    }

    /// Where the routine for elements begins; `None` when there are none of this form.
    pub fn elements(&self, form: Form, channels: u8, tiled: bool) -> Option<usize> {
        let of_form = |&(of, count): &(Form, u8)| of == form && (count == channels || form != Form::Floats);
        let number = FORMS.iter().position(of_form)?;
        if tiled && !form.element_bytes(channels).is_power_of_two() {
            return None;
        }
        Some(self.text.as_ptr() as usize + self.elements[number][usize::from(tiled)])
    }
}

struct Emit {
    asm: Asm,
    isa: Isa,
    n: Names,
}

impl Emit {
    /// A routine; where it begins.
    fn entry(&mut self, body: impl FnOnce(&mut Self)) -> usize {
        let entry = self.asm.code.len();
        body(self);
        self.asm.ret();
        entry
    }

    fn texels(&mut self) -> texels::Texels<'_> {
        texels::Texels { asm: &mut self.asm, isa: self.isa, scratch: self.n.each }
    }

    fn row(&self, number: i32) -> Rm {
        Rm::Row(OWN, self.isa.bytes() * number)
    }

    fn load(&mut self, to: u8, number: i32) {
        let row = self.row(number);
        self.asm.vector(MOVUPS_LOAD, to, 0, row);
    }

    fn store(&mut self, from: u8, number: i32) {
        let row = self.row(number);
        self.asm.vector(MOVUPS_STORE, from, 0, row);
    }

    /// `to = op(a, a number of the table)`.
    fn with(&mut self, op: V, to: u8, a: u8, place: i32) {
        self.texels().with(op, to, a, Rm::Each(TABLE, place));
    }

    /// Dwords in all lanes.
    fn gather(&mut self, to: u8, base: Gpr, index: u8, offset: i32) {
        self.texels().mark_all();
        self.texels().gather(to, base, (index, false), offset);
    }

    /// A coordinate as the number of a column or row that exists. Changes `other`; `beyond`: the row for the lanes beyond the border, which asks for a floored one.
    fn wrapped(&mut self, axis: i32, u: u8, other: u8, beyond: Option<i32>) {
        let of = |place: i32| Rm::Each(TABLE, place + 4 * axis);
        let done = self.asm.label();
        self.asm.jump_cmp(false, TABLE, table::PERIOD + 4 * axis, 0, Cond::Equal, done);
        let of_axis = Axis {
            size: of(table::SIZE),
            last: of(table::LAST),
            period: of(table::PERIOD),
            inverse: of(table::INVERSE),
        };
        if beyond.is_none() {
            self.texels().floor(u, u);
        }
        self.texels().repeat(u, other, &of_axis);
        self.texels().mirror(u, other, &of_axis);
        self.asm.place(done);
        self.with(MIN, other, u, table::LAST + 4 * axis);
        self.asm.vector(MAX, other, other, Rm::Literal(0));
        if let Some(beyond) = beyond {
            let (row, place) = (self.isa.bytes() * beyond, table::BORDERED + 4 * axis);
            self.texels().mark(u, Rm::Reg(other), NOT_EQUAL, 0);
            if self.isa == Isa::Avx512 {
                self.asm.mask_to(RAX, 1);
                self.asm.int_load(Int::And, false, RAX, TABLE, place);
                self.asm.int_store(Int::Mov, false, OWN, row, RAX);
            } else {
                let mask = self.n.mask;
                self.with(AND, mask, mask, place);
                self.store(mask, beyond);
            }
        }
        self.asm.vector(CVT_F32_I32, u, 0, Rm::Reg(other));
    }

    /// Gives the lanes beyond the border its channels; so many columns and rows are right and below.
    fn border(&mut self, [x, y]: [i32; 2]) {
        let rows = [BEYOND + x, BEYOND + 2 + y].map(|row| self.isa.bytes() * row);
        self.texels().mark_noted(OWN, &rows);
        for (channel, register) in (0..).zip(self.n.channels()) {
            self.texels().replace(register, Rm::Each(TABLE, table::BORDER + 4 * channel));
        }
    }

    /// The columns and rows of the nearest elements.
    fn nearest_places(&mut self, borders: bool) {
        for (axis, u) in (0..).zip([self.n.x, self.n.y]) {
            if borders {
                self.texels().floor(u, u);
            }
            self.wrapped(axis, u, self.n.a, borders.then_some(BEYOND + 2 * axis));
        }
    }

    /// The nearest elements.
    fn nearest_whole(&mut self) {
        self.nearest_places(false);
        self.place(false, Form::Floats.element_bytes(4));
        self.element(Form::Floats, 4);
    }

    /// The same of every form, wherever they lie.
    fn nearest(&mut self, borders: bool) {
        self.nearest_places(borders);
        self.asm.call(TABLE, table::ELEMENTS);
        if borders {
            self.border([0; 2]);
        }
    }

    /// Elements with whole numbers, zeros outside.
    fn loads(&mut self) {
        let Names { x, y, a, b, .. } = self.n;
        self.asm.vector(XOR, a, a, Rm::Reg(a));
        for (u, count) in [(x, table::WIDTH), (y, table::HEIGHT)] {
            self.texels().load_each(b, Rm::Each(TABLE, count));
            self.texels().inside(u, b, a);
        }
        let noted = self.isa.bytes() * BEYOND;
        self.texels().mark_zero(a);
        self.texels().note_marked(OWN, noted);
        self.asm.call(TABLE, table::ELEMENTS);
        self.texels().mark_noted(OWN, &[noted]);
        self.n.channels().into_iter().for_each(|register| self.texels().keep_marked(register));
    }

    /// The columns and rows of four elements, and how much they weigh, in rows from `weights` on.
    fn sides(&mut self, weights: i32, borders: bool) {
        let Names { x, y, a, b, .. } = self.n;
        for (axis, u) in (0..).zip([x, y]) {
            self.texels().split(u, a, b);
            self.store(u, weights + axis);
            for (side, place) in (0..).zip([a, b]) {
                self.wrapped(axis, place, u, borders.then_some(BEYOND + 2 * axis + side));
                self.store(place, SIDES + 2 * axis + side);
            }
        }
    }

    /// Four whole elements weighed, along x, then along y: AVX-512.
    fn weigh_whole(&mut self) {
        let Names { x, y, a, b, .. } = self.n;
        let corners = Corners { base: OWN, offset: self.isa.bytes() * CORNERS };
        self.sides(CORNERS + Corners::WEIGHTS, false);
        for row in [SIDES + 2, SIDES + 3] {
            self.load(y, row);
            self.with(MUL_I32, y, y, table::WIDTH);
            self.store(y, row);
        }
        for corner in 0..4 {
            let row = self.row(SIDES + 2 + corner / 2);
            self.load(x, SIDES + corner % 2);
            self.asm.vector(ADD_I32, x, x, row);
            self.shift(PSLL, x, x, 2);
            self.asm.vector(MOVUPS_STORE, x, 0, corners.index(corner as usize));
        }
        Elements { registers: [x, y, a, b], data: RDX, rows: (OWN, SQUARE) }.weigh(&mut self.asm, corners);
    }

    /// Four elements weighed, along x, then along y.
    fn linear(&mut self, borders: bool) {
        let Names { x, y, a, b, .. } = self.n;
        self.sides(WEIGHTS, borders);
        for corner in 0..4 {
            let sides = [corner % 2, corner / 2];
            self.load(x, SIDES + sides[0]);
            self.load(y, SIDES + 2 + sides[1]);
            self.asm.call(TABLE, table::ELEMENTS);
            if borders {
                self.border(sides);
            }
            for (channel, register) in (0..).zip(self.n.channels()) {
                self.store(register, CORNERS + 4 * corner + channel);
            }
        }
        let [along_x, along_y] = [0, 1].map(|axis| self.row(WEIGHTS + axis));
        for channel in 0..4 {
            for (corner, register) in (0..).zip([x, y, a, b]) {
                self.load(register, CORNERS + 4 * corner + channel);
            }
            self.texels().mix(x, y, along_x);
            self.texels().mix(a, b, along_x);
            self.texels().mix(x, a, along_y);
            self.texels().one_nan(x);
            self.store(x, CORNERS + channel);
        }
        for (channel, register) in (0..).zip(self.n.channels()) {
            self.load(register, CORNERS + channel);
        }
    }

    /// The numbers of the elements at columns and rows, in x.
    fn place(&mut self, tiled: bool, element_bytes: u32) {
        let Names { x, y, a, b, .. } = self.n;
        if !tiled {
            self.with(MUL_I32, y, y, table::WIDTH);
            return self.asm.vector(ADD_I32, x, x, Rm::Reg(y));
        }
        for (to, index, places) in [(a, x, table::COLUMNS), (b, y, table::ROW_PLACES)] {
            self.asm.int_load(Int::Mov, true, PLACES, TABLE, places);
            self.gather(to, PLACES, index, 0);
        }
        // Tiles add up; within a tile, bits are folded.
        self.asm.vector(XOR, x, a, Rm::Reg(b));
        self.with(AND, x, x, table::WITHIN);
        for register in [a, b] {
            self.with(AND, register, register, table::WHOLE_TILES);
            self.asm.vector(ADD_I32, x, x, Rm::Reg(register));
        }
        self.shift(PSRL, x, x, element_bytes.trailing_zeros() as u8);
    }

    fn shift(&mut self, how: u8, to: u8, from: u8, bits: u8) {
        self.asm.instruction(SHIFT_IMM, how, to, Rm::Reg(from), Some(bits));
    }

    /// The elements with the numbers in x.
    fn element(&mut self, form: Form, channels: u8) {
        let n @ Names { x, y, a, b, index, .. } = self.n;
        match form {
            Form::Floats if channels == 4 => {
                self.shift(PSLL, x, x, 2);
                let whole = Elements { registers: [x, y, a, b], data: RDX, rows: (OWN, SQUARE) };
                debug_assert_eq!(whole.channels(), n.channels());
                whole.load(&mut self.asm, x);
            }
            Form::Floats | Form::Square => {
                match channels {
                    1 => self.asm.vector(MOVAPS, index, 0, Rm::Reg(x)),
                    2 => self.shift(PSLL, index, x, 1),
                    _ => {
                        self.asm.vector(ADD_I32, index, x, Rm::Reg(x));
                        self.asm.vector(ADD_I32, index, index, Rm::Reg(x));
                    }
                }
                for (channel, register) in n.channels().into_iter().enumerate().take(channels.into()) {
                    self.gather(register, RDX, index, 4 * channel as i32);
                }
                self.missing(channels.into());
            }
            Form::Bytes { swapped } => {
                self.asm.vector(MOVAPS, index, 0, Rm::Reg(x));
                self.gather(x, RDX, index, 0);
                // The register of them all comes last.
                let [red, blue] = if swapped { [16, 0] } else { [0, 16] };
                for (register, bits) in [(b, 24), (a, 8), (y, blue), (x, red)] {
                    self.shift(PSRL, register, x, bits);
                    self.normalise(register, u8::MAX.into());
                }
            }
            Form::Words => {
                self.shift(PSRL, index, x, 1);
                // Every other one is the upper half of a dword.
                self.asm.vector(AND, a, x, Rm::Literal(1));
                self.shift(PSLL, a, a, 4);
                self.gather(x, RDX, index, 0);
                self.asm.vector(SHIFT_RIGHT, x, x, Rm::Reg(a));
                self.normalise(x, u16::MAX.into());
                self.missing(1);
            }
        }
    }

    /// The channels that elements lack.
    fn missing(&mut self, channels: usize) {
        for (register, bits) in self.n.channels().into_iter().zip([0, 0, 0, ONE]).skip(channels) {
            self.texels().load_each(register, Rm::Literal(bits));
        }
    }

    /// The lowest bits as a number of 0 to 1, which `most` stands for.
    fn normalise(&mut self, to: u8, most: u32) {
        self.asm.vector(AND, to, to, Rm::Literal(most));
        self.asm.vector(CVT_I32_F32, to, 0, Rm::Reg(to));
        self.asm.vector(DIV, to, to, Rm::Literal((most as f32).to_bits()));
    }

    /// Four elements side by side, as channels: of these columns and rows, and those right and below as far as there are such.
    fn square(&mut self, tiled: bool) {
        let Names { x, y, a, b, .. } = self.n;
        for (axis, u) in (0..).zip([x, y]) {
            self.store(u, SQUARE + 2 * axis);
            self.texels().load_each(a, Rm::Each(TABLE, table::LAST + 4 * axis));
            self.asm.vector(CVT_F32_I32, a, 0, Rm::Reg(a));
            self.asm.vector(ADD_I32, b, u, Rm::Literal(1));
            self.asm.vector(MIN_I32, b, b, Rm::Reg(a));
            self.store(b, SQUARE + 2 * axis + 1);
        }
        for (channel, [right, below]) in (0..).zip([[1, 0], [0, 1], [1, 1], [0, 0]]) {
            self.load(x, SQUARE + right);
            self.load(y, SQUARE + 2 + below);
            self.place(tiled, Form::Square.element_bytes(1));
            self.gather(a, RDX, x, 0);
            self.store(a, SQUARE + 4 + channel);
        }
        for (channel, register) in (0..).zip(self.n.channels()) {
            self.load(register, SQUARE + 4 + channel);
        }
    }
}

#[cfg(all(test, unix))]
#[path = "../../../../tests/unit/codegen/x86/masked/forms.rs"]
mod tests;
