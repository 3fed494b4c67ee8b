//! Which routines there are, and which vector registers they use.

use super::routine;
use crate::codegen::x86::isa::Isa;
use ctm_exec::x1k::{Filter, Form, Sampler, Wrap};
use memmap2::Mmap;
use std::sync::OnceLock;

/// Vector registers that a routine uses at most: the last ones. It saves those that the program may use.
pub(super) const USED: u8 = 11;

/// What routines differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub(super) filter: Filter,
    pub(super) wrap: [Wrap; 2],
    pub(super) form: Form,
}

impl Kind {
    /// How many there are.
    const COUNT: usize = 2 * 4 * 4 * 5;

    /// Of a sampler, and of elements.
    pub const fn of(sampler: &Sampler, form: Form) -> Self {
        Self { filter: sampler.filter, wrap: sampler.wrap, form }
    }

    /// Nearest, clamped to the edge, numbers as they are: needs no routine.
    pub fn is_plain(self) -> bool {
        self.filter == Filter::Nearest && self.wrap == [Wrap::Clamp; 2] && self.form == Form::Floats
    }

    pub(super) const fn has_border(self) -> bool {
        matches!(self.wrap, [Wrap::Border, _] | [_, Wrap::Border])
    }

    const fn number(self) -> usize {
        let form = match self.form {
            Form::Floats => 0,
            Form::Square => 1,
            Form::Bytes { swapped: false } => 2,
            Form::Bytes { swapped: true } => 3,
            Form::Words => 4,
        };
        let [x, y] = self.wrap;
        ((form * 2 + self.filter as usize) * 4 + x as usize) * 4 + y as usize
    }

    /// Whether coordinates of an axis repeat, mirrored or not.
    pub fn repeats(self, axis: usize) -> bool {
        self.period(axis, 1) != 0
    }

    /// After how many columns or rows an axis of so many repeats; 0: it does not.
    pub fn period(self, axis: usize, size: u32) -> u32 {
        match self.wrap[axis] {
            Wrap::Clamp | Wrap::Border => 0,
            Wrap::Repeat => size,
            Wrap::Mirror => 2 * size,
        }
    }

    /// Where its routine is, for a program that uses so many vector registers; `None` when there is none, or memory cannot be made executable.
    pub fn routine(self, isa: Isa, registers: u8) -> Option<usize> {
        if self.form == Form::Square && self.filter == Filter::Linear {
            // Sixteen elements for each of them.
            return None;
        }
        static ROUTINES: [OnceLock<Option<Mmap>>; 4 * Kind::COUNT] = [const { OnceLock::new() }; 4 * Kind::COUNT];
        let of_isa = match isa {
            Isa::Avx512 => 0,
            Isa::Avx2 => 2 * Self::COUNT,
        };
        let saves = registers > Names::of(isa, self).first();
        let number = of_isa + usize::from(saves) * Self::COUNT + self.number();
        let made = ROUTINES[number].get_or_init(|| crate::codegen::x86::executable(&routine(isa, self, saves)));
        made.as_ref().map(|text| text.as_ptr() as usize)
    }
}

/// The vector registers of a routine.
#[derive(Clone, Copy)]
pub(super) struct Names {
    /// What instructions cannot take from memory, and masks: the first one.
    pub(super) scratch: u8,
    /// Coordinates, then columns; of linear lookups how much the right texel weighs.
    pub(super) x: u8,
    /// Rows.
    pub(super) y: u8,
    /// Whatever is needed for some instructions.
    pub(super) other: u8,
    /// Where texels of the upper row are.
    pub(super) upper: [u8; 2],
    /// Where those of the lower row are.
    pub(super) lower: [u8; 2],
    /// Texels.
    pub(super) texels: [u8; 3],
    /// Numbers of dwords, and borders of converted elements.
    pub(super) dwords: u8,
    /// Elements, before all other texels.
    pub(super) elements: [u8; 4],
}

impl Names {
    /// Few, as far as the kind allows: those that programs never use need not be saved.
    pub(super) const fn of(isa: Isa, kind: Kind) -> Self {
        let few = matches!((isa, kind.filter), (Isa::Avx512, Filter::Nearest))
            && match kind.form {
                Form::Floats => true,
                Form::Bytes { .. } => !kind.has_border(),
                Form::Square | Form::Words => false,
            };
        if few {
            let first = isa.registers();
            let [x, y, other, texel] = [first, first + 1, first + 2, first + 3];
            return Self {
                scratch: texel,
                x,
                y,
                other,
                upper: [x; 2],
                lower: [x; 2],
                texels: [texel; 3],
                dwords: x,
                elements: [x, y, other, texel],
            };
        }
        let first = isa.all_registers() - USED;
        let (other, dwords) = (first + 3, first + 10);
        Self {
            scratch: first,
            x: first + 1,
            y: first + 2,
            other,
            upper: [first + 4, first + 5],
            lower: [first + 6, first + 7],
            texels: [first + 8, other, first + 9],
            dwords,
            elements: [other, first + 8, first + 9, dwords],
        }
    }

    /// The first one; it uses those behind it, too.
    pub(super) const fn first(&self) -> u8 {
        if self.scratch < self.x { self.scratch } else { self.x }
    }
}
