//! Further instructions for R700 code: integer instructions of 64 bits, for masks of whole wavefronts, and integer operations on vectors.

use super::{Asm, Gpr, Int, NOTHING, Rm, V, dword, rows, v};

rows! { R700_ROWS
    MAX_I32 = 2 1 0x3d;
    MIN_I32 = 2 1 0x39;
    MAX_U32 = 2 1 0x3f;
    MIN_U32 = 2 1 0x3b;
    /// Each lane by its own count.
    SHIFT_RIGHT = 2 1 0x45;
    SHIFT_RIGHT_SIGNED = 2 1 0x46;
    SHIFT_LEFT = 2 1 0x47;
    MUL_I32 = 2 1 0x40;
    CVT_U32_F32 = 1 3 0x7a;
    CMP_U32 = 3 1 0x1e;
    CVT_F32_I32 = 1 2 0x5b;
    BROADCAST_LANE_0 = 2 1 0x58;
}

/// Dwords of memory for each lane of a mask.
pub(super) const GATHER: V = V { part: 4, ..v(2, 1, 0x92) };
const SCATTER: V = V { part: 4, ..v(2, 1, 0xa2) };

impl Asm {
    /// `dst op= src`.
    pub fn wide(&mut self, op: Int, dst: Gpr, src: Gpr) {
        self.integer(true, op as u16, dst, Rm::Reg(src), NOTHING);
    }

    /// `dst op= imm`.
    pub fn wide_imm(&mut self, op: Int, dst: Gpr, imm: i32) {
        self.integer(true, 0x81, (op as u8 >> 3) & 7, Rm::Reg(dst), dword(imm));
    }

    /// `dst` shifted; the number is the opcode's extension: 4 left, 5 logical right, 7 arithmetic right.
    pub fn wide_shift(&mut self, how: u8, dst: Gpr, count: u8) {
        self.integer(true, 0xc1, how, Rm::Reg(dst), (count.into(), 1));
    }

    /// `dst = !dst`.
    pub fn wide_not(&mut self, dst: Gpr) {
        self.integer(true, 0xf7, 2, Rm::Reg(dst), NOTHING);
    }

    /// Sets flags by `a & b`.
    pub fn wide_test(&mut self, a: Gpr, b: Gpr) {
        self.integer(true, 0x85, b, Rm::Reg(a), NOTHING);
    }

    /// `dst = the number of set bits of src`.
    pub fn wide_popcount(&mut self, dst: Gpr, src: Gpr) {
        self.byte(0xf3);
        self.integer(true, 0x0fb8, dst, Rm::Reg(src), NOTHING);
    }

    /// The dwords at `base + 4 * index + offset` for the lanes of a mask, which is empty afterwards.
    pub fn gather(&mut self, dst: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.evex(GATHER, dst, 0, Rm::At(base, index, 2, offset), mask, false, None);
    }

    /// Stores the dwords at `base + 4 * index + offset` in the lanes of a mask, which is empty afterwards; of lanes
    /// with the same address the last one wins.
    pub fn scatter(&mut self, src: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.evex(SCATTER, src, 0, Rm::At(base, index, 2, offset), mask, false, None);
    }

    /// `dst = src * imm`.
    pub fn wide_times(&mut self, dst: Gpr, src: Gpr, imm: i32) {
        self.integer(true, 0x69, dst, Rm::Reg(src), dword(imm));
    }
}

#[cfg(test)]
#[path = "../tests/unit/wide.rs"]
mod tests;
