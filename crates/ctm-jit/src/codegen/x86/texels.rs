//! From coordinates to texels, in instructions: what lookups of X1K and of R700 programs have in common, on both instruction sets.
//!
//! Registers are the caller's. Numbers of an input lie in memory, each for all lanes.

use super::isa::Isa;
use super::lir::K;
use super::masked::facts::{EQUAL, GREATER, INT_EQUAL, LESS, UNORDERED};
use super::vectors::load_of;
use crate::codegen::x86::asm::{
    ADD, ADD_I32, AND, Asm, BROADCAST, CMP_F32, CMP_I32, CVT_F32_I32, EQUAL_I32, FMADD231, FNMADD231, Gpr, Int, MAX,
    MIN, MIN_U32, MOVAPS, MOVUPS_LOAD, MOVUPS_STORE, MUL, OR, RAX, ROUND_SCALE, Rm, SUB, V, XOR,
};
use ctm_exec::float::{HALF, NAN, ONE};

/// Where lanes are marked on AVX2.
const MASK: u8 = Isa::Avx2.mask_scratch();

/// Floored coordinates that are no further from 0 repeat in single precision: see [`Texels::repeat`].
pub const REPEATS_BELOW: f32 = (1 << 21) as f32;

/// What is known of one axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// Columns or rows.
    pub size: Rm,
    /// The last one.
    pub last: Rm,
    /// After how many it repeats.
    pub period: Rm,
    /// 1 over that.
    pub inverse: Rm,
}

/// A coordinate as the number of a column or row, clamped: between 0 and `last` whatever the coordinate is. What is not a
/// number counts as infinite: the minimum is its second operand then.
pub fn clamped(asm: &mut Asm, to: u8, u: u8, last: Rm) {
    asm.vector(MIN, to, u, last);
    asm.vector(MAX, to, to, Rm::Literal(0));
    asm.vector(CVT_F32_I32, to, 0, Rm::Reg(to));
}

/// Makes the instructions of lookups.
pub struct Texels<'a> {
    /// The code.
    pub asm: &'a mut Asm,
    /// The instruction set.
    pub isa: Isa,
    /// A register for numbers that stand for all lanes, and for masks, where instructions do not take them from memory or from mask
    /// registers: AVX2. Mask 1 is AVX-512's.
    pub scratch: u8,
}

impl Texels<'_> {
    /// `to = op(a, b)`, where b may be a number in memory for all lanes.
    pub fn with(&mut self, op: V, to: u8, a: u8, b: Rm) {
        let b = self.each(b);
        self.asm.vector(op, to, a, b);
    }

    /// A number in memory as instructions take it, until the next one.
    pub fn each(&mut self, b: Rm) -> Rm {
        match (self.isa, b) {
            (Isa::Avx2, Rm::Each(..)) => {
                self.asm.vector(BROADCAST, self.scratch, 0, b);
                Rm::Reg(self.scratch)
            }
            _ => b,
        }
    }

    /// A number in memory, or a row of them, or a literal in a register.
    pub fn load_each(&mut self, to: u8, b: Rm) {
        // On AVX2 literals are whole vectors.
        let whole = matches!(b, Rm::Row(..)) || self.isa == Isa::Avx2 && matches!(b, Rm::Literal(_));
        self.asm.vector(if whole { MOVUPS_LOAD } else { BROADCAST }, to, 0, b);
    }

    /// Marks the lanes where a comparison holds: in mask 1, under another one (0: none), or on AVX2 in the scratch register for masks.
    pub fn mark(&mut self, left: u8, right: Rm, is: u8, under: K) {
        match self.isa {
            Isa::Avx512 => self.asm.evex(CMP_F32, 1, left, right, under, false, Some(is)),
            Isa::Avx2 => {
                let right = self.each(right);
                self.asm.vex(CMP_F32, MASK, left, right, Some(is));
            }
        }
    }

    /// Marks all lanes.
    pub fn mark_all(&mut self) {
        match self.isa {
            Isa::Avx512 => self.asm.mask_all(1),
            Isa::Avx2 => self.asm.vector(EQUAL_I32, MASK, MASK, Rm::Reg(MASK)),
        }
    }

    /// The dwords at `base + 4 * index + offset` in the lanes that are marked, which none is afterwards; 0 in others. `bytes`: `index` counts these.
    pub fn gather(&mut self, to: u8, base: Gpr, (index, bytes): (u8, bool), offset: i32) {
        // It waits for nothing that the register held.
        self.asm.vector(XOR, to, to, Rm::Reg(to));
        match (self.isa, bytes) {
            (Isa::Avx512, false) => self.asm.gather(to, 1, base, index, offset),
            (Isa::Avx512, true) => self.asm.gather_bytes(to, 1, base, index, offset),
            (Isa::Avx2, false) => self.asm.gather_by_signs(to, MASK, base, index, offset),
            (Isa::Avx2, true) => self.asm.gather_bytes_by_signs(to, MASK, base, index, offset),
        }
    }

    /// Marks the lanes in which a whole number is 0.
    pub fn mark_zero(&mut self, x: u8) {
        match self.isa {
            Isa::Avx512 => self.asm.evex(CMP_I32, 1, x, Rm::Literal(0), 0, false, Some(INT_EQUAL)),
            Isa::Avx2 => self.asm.vector(EQUAL_I32, MASK, x, Rm::Literal(0)),
        }
    }

    /// A whole number as one below a count, which is not 0; what that changes is noted in `lost`. The register of the count is changed.
    pub fn inside(&mut self, x: u8, count: u8, lost: u8) {
        self.asm.vector(ADD_I32, count, count, Rm::Literal(u32::MAX));
        self.asm.vector(MIN_U32, count, count, Rm::Reg(x));
        self.asm.vector(XOR, x, x, Rm::Reg(count));
        self.asm.vector(OR, lost, lost, Rm::Reg(x));
        self.asm.vector(MOVAPS, x, 0, Rm::Reg(count));
    }

    /// Sets flags: not equal where a lane is marked. Changes rax.
    pub fn test_marked(&mut self) {
        match self.isa {
            Isa::Avx512 => self.asm.mask_test(1),
            Isa::Avx2 => {
                self.asm.signs(RAX, MASK);
                self.asm.test(RAX, RAX);
            }
        }
    }

    /// Takes other values in the lanes that are marked.
    pub fn replace(&mut self, register: u8, with: Rm) {
        match self.isa {
            Isa::Avx512 => self.asm.evex(load_of(with), register, 0, with, 1, false, None),
            Isa::Avx2 => {
                let with = self.each(with);
                self.asm.blend(register, MASK, with, register);
            }
        }
    }

    /// Leaves 0 in the lanes that are not marked.
    pub fn keep_marked(&mut self, register: u8) {
        match self.isa {
            Isa::Avx512 => self.asm.evex(MOVAPS, register, 0, Rm::Reg(register), 1, true, None),
            Isa::Avx2 => self.asm.vector(AND, register, register, Rm::Reg(MASK)),
        }
    }

    /// Keeps the marked lanes in memory: their bits, on AVX2 a row. Changes rax.
    pub fn note_marked(&mut self, base: Gpr, row: i32) {
        match self.isa {
            Isa::Avx512 => {
                self.asm.mask_to(RAX, 1);
                self.asm.int_store(Int::Mov, false, base, row, RAX);
            }
            Isa::Avx2 => self.asm.vector(MOVUPS_STORE, MASK, 0, Rm::Row(base, row)),
        }
    }

    /// Marks the lanes that are kept in one of some places. Changes rax.
    pub fn mark_noted(&mut self, base: Gpr, noted: &[i32]) {
        for (n, &row) in noted.iter().enumerate() {
            match self.isa {
                Isa::Avx512 => self.asm.int_load(if n == 0 { Int::Mov } else { Int::Or }, false, RAX, base, row),
                Isa::Avx2 if n == 0 => self.asm.vector(MOVUPS_LOAD, MASK, 0, Rm::Row(base, row)),
                Isa::Avx2 => self.asm.vector(OR, MASK, MASK, Rm::Row(base, row)),
            }
        }
        if self.isa == Isa::Avx512 {
            self.asm.mask_from(1, RAX);
        }
    }

    /// The whole number below.
    pub fn floor(&mut self, to: u8, u: u8) {
        self.asm.instruction(ROUND_SCALE, to, 0, Rm::Reg(u), Some(9));
    }

    /// A floored coordinate in the first period; no number where it is not finite. `other` is written.
    ///
    /// A half more than a whole number is at least half of 1 / period away from each multiple of the period, when both are divided by it. The two
    /// roundings of the quotient move it by less than that below [`REPEATS_BELOW`]; so its floor is exact, and the fused sum is, too.
    pub fn repeat(&mut self, u: u8, other: u8, axis: &Axis) {
        self.asm.vector(ADD, other, u, Rm::Literal(HALF));
        self.with(MUL, other, other, axis.inverse);
        self.floor(other, other);
        self.with(FNMADD231, u, other, axis.period);
    }

    /// A coordinate in the first period: behind the edge that of its mirror image. `other` is written.
    pub fn mirror(&mut self, u: u8, other: u8, axis: &Axis) {
        // Columns and the last one: what a column and its image add up to. Where nothing is mirrored, no column is beyond.
        self.load_each(other, axis.size);
        self.with(ADD, other, other, axis.last);
        self.asm.vector(SUB, other, other, Rm::Reg(u));
        self.asm.vector(MIN, u, u, Rm::Reg(other));
    }

    /// Half a texel back, `low = floor(u)`, `high = low + 1`; u becomes how much the second texel weighs, 0 at infinity.
    pub fn split(&mut self, u: u8, low: u8, high: u8) {
        self.asm.vector(SUB, u, u, Rm::Literal(HALF));
        self.floor(low, u);
        self.asm.vector(SUB, u, u, Rm::Reg(low));
        // Of no number the maximum is its second operand.
        self.asm.vector(MAX, u, u, Rm::Literal(0));
        self.asm.vector(ADD, high, low, Rm::Literal(ONE));
    }

    /// `a = a + weight * (b - a)`.
    pub fn mix(&mut self, a: u8, b: u8, weight: Rm) {
        self.asm.vector(SUB, b, b, Rm::Reg(a));
        self.asm.vector(FMADD231, a, b, weight);
    }

    /// `to` = what a comparison of a reference value with texels gives, by `outcomes`: for what is not ordered, and by what that changes where the
    /// reference is less, equal, greater. On AVX2 `other` is written, and the reference is in a register.
    pub fn compare(&mut self, to: u8, texel: u8, reference: Rm, outcomes: [Rm; 4], other: u8) {
        let [unordered, changes @ ..] = outcomes;
        self.load_each(to, unordered);
        for (texel_is, change) in [GREATER, EQUAL, LESS].into_iter().zip(changes) {
            match self.isa {
                Isa::Avx512 => {
                    self.asm.evex(CMP_F32, 1, texel, reference, 0, false, Some(texel_is));
                    self.asm.evex(XOR, to, to, change, 1, false, None);
                }
                Isa::Avx2 => {
                    self.load_each(other, change);
                    self.asm.vex(CMP_F32, self.scratch, texel, reference, Some(texel_is));
                    self.asm.vector(AND, other, other, Rm::Reg(self.scratch));
                    self.asm.vector(XOR, to, to, Rm::Reg(other));
                }
            }
        }
    }

    /// The one NaN for all of them.
    pub fn one_nan(&mut self, a: u8) {
        match self.isa {
            Isa::Avx512 => {
                self.asm.evex(CMP_F32, 1, a, Rm::Reg(a), 0, false, Some(UNORDERED));
                self.asm.evex(BROADCAST, a, 0, Rm::Literal(NAN), 1, false, None);
            }
            Isa::Avx2 => {
                self.asm.vex(CMP_F32, self.scratch, a, Rm::Reg(a), Some(UNORDERED));
                self.asm.blend(a, self.scratch, Rm::Literal(NAN), a);
            }
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/codegen/x86/texels.rs"]
mod tests;
