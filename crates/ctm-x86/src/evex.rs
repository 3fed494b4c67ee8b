//! 512-bit vector instructions (EVEX), and instructions on mask registers (VEX).

use super::{Asm, BROADCAST, Gpr, Rm, V, immediate};

/// The prefix and the opcode, as for a last operand whose number has only low bits.
#[inline]
fn head(op: V, reg: u8, second: u8, mask: u8, zero: bool) -> u64 {
    // These bits are inverted: the high ones of numbers of registers.
    let (reg, second) = (u32::from(reg), u32::from(second));
    let numbers = (reg & 8) << 12 | (reg & 16) << 8 | (second & 15) << 19 | (second & 16) << 23;
    u64::from((op.prefix ^ numbers) | u32::from(mask) << 24 | u32::from(zero) << 31) | u64::from(op.opcode) << 32
}

/// The bit for a memory operand of one number for all lanes. A broadcast instruction names four bytes without it; its
/// displacement still counts in fours.
fn broadcast(op: V) -> u64 {
    u64::from(op != BROADCAST) << 28
}

impl Asm {
    /// A 512-bit EVEX instruction: `reg`, `second` (0 where it has none), `rm`, mask register (0: none), zeroing, immediate.
    #[allow(clippy::too_many_arguments, reason = "the fields of the encoding")]
    pub fn evex(&mut self, op: V, reg: u8, second: u8, rm: Rm, mask: u8, zero: bool, imm: Option<u8>) {
        let (head, imm) = (head(op, reg, second, mask, zero), immediate(imm));
        if let Rm::Reg(last) = rm {
            let extensions = u64::from(last & 8) << 10 | u64::from(last & 16) << 10;
            return self.put((head ^ extensions, 5), ((0xc0 | (reg & 7) << 3 | last & 7).into(), 1), imm);
        }
        let (base, index) = rm.numbers();
        let extensions = u64::from(base & 8) << 10 | u64::from(index & 8) << 11 | u64::from(index & 16) << 23;
        let (each, element) = match rm {
            Rm::Each(..) | Rm::Literal(_) => (broadcast(op), 2 + u32::from(op.wide())),
            Rm::Reg(_) | Rm::Row(..) | Rm::At(..) | Rm::LaneShifts(_) => (0, 6 - u32::from(op.part)),
        };
        let tail = self.tail(reg, rm, element, [5, imm.1]);
        self.put(((head ^ extensions) | each, 5), tail, imm);
    }

    /// A VEX instruction on mask registers: `pp` and W as given, L 0 or 1.
    fn mask_op(&mut self, l: u8, pp: u8, opcode: u8, reg: u8, second: u8, rm: u8) {
        let b = rm >> 3 & 1;
        self.code.extend_from_slice(&[
            0xc4,
            (!(reg >> 3) & 1) << 7 | 1 << 6 | (!b & 1) << 5 | 1,
            (!second & 15) << 3 | l << 2 | pp,
            opcode,
            0xc0 | (reg & 7) << 3 | rm & 7,
        ]);
    }

    /// `k = the low 16 bits of r`.
    pub fn mask_from(&mut self, k: u8, r: Gpr) {
        self.mask_op(0, 0, 0x92, k, 0, r);
    }

    /// `r = k`.
    pub fn mask_to(&mut self, r: Gpr, k: u8) {
        self.mask_op(0, 0, 0x93, r, 0, k);
    }

    /// `dst = !a & b`.
    pub fn mask_and_not(&mut self, dst: u8, a: u8, b: u8) {
        self.mask_op(1, 0, 0x42, dst, a, b);
    }

    /// `dst = a | b`.
    pub fn mask_or(&mut self, dst: u8, a: u8, b: u8) {
        self.mask_op(1, 0, 0x45, dst, a, b);
    }

    /// Sets the zero flag when both masks are empty.
    pub fn mask_test_two(&mut self, a: u8, b: u8) {
        self.mask_op(0, 0, 0x98, a, 0, b);
    }

    /// Sets the zero flag when the mask is empty.
    pub fn mask_test(&mut self, k: u8) {
        self.mask_test_two(k, k);
    }
}
