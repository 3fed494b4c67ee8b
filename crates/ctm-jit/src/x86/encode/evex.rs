//! 512-bit vector instructions (EVEX), and instructions on mask registers (VEX).

use super::{Asm, BROADCAST, Gpr, Rm, V, in_memory};

impl Asm {
    /// A 512-bit EVEX instruction: `reg`, `second` (0 where it has none), `rm`, mask register (0: none), zeroing, immediate.
    #[allow(clippy::too_many_arguments, reason = "the fields of the encoding")]
    pub fn evex(&mut self, op: V, reg: u8, second: u8, rm: Rm, mask: u8, zero: bool, imm: Option<u8>) {
        // The third and fourth byte, the opcode, and what the operand does not change in the second one: its bits are inverted.
        let last = u8::from(zero) << 7 | 2 << 5 | (!(second >> 4) & 1) << 3 | mask;
        let rest = u32::from_le_bytes([0x62, 0, op.wide << 7 | (!second & 15) << 3 | 4 | op.pp, last]);
        let high = (!(reg >> 3) & 1) << 7 | (!(reg >> 4) & 1) << 4 | op.map;
        let head = u64::from(rest) | u64::from(op.opcode) << 32;
        let second_byte = |x: u8, b: u8| u64::from(high | (!x & 1) << 6 | (!b & 1) << 5) << 8;
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => {
                let operand = u64::from(0xc0 | reg | r & 7);
                let bits = head | second_byte(r >> 4, r >> 3) | operand << 40;
                match imm {
                    Some(imm) => self.bytes(bits | u64::from(imm) << 48, 7),
                    None => self.bytes(bits, 6),
                }
            }
            Rm::Row(base, offset) => {
                let (operand, count) = in_memory(reg, base, offset, 6);
                let bits = u128::from(head | second_byte(0, base >> 3)) | u128::from(operand) << 40;
                self.long(bits, 5 + count);
                imm.into_iter().for_each(|imm| self.byte(imm));
            }
            Rm::Each(base, offset) => {
                // A broadcast instruction names four bytes without the broadcast bit; its displacement still counts in fours.
                let broadcast = u64::from(op != BROADCAST) << 28;
                let (operand, count) = in_memory(reg, base, offset, 2);
                let bits = u128::from(head | second_byte(0, base >> 3) | broadcast) | u128::from(operand) << 40;
                self.long(bits, 5 + count);
                imm.into_iter().for_each(|imm| self.byte(imm));
            }
            Rm::Literal(_) | Rm::LaneShifts(_) => {
                let after = usize::from(imm.is_some());
                let imm = u64::from(imm.unwrap_or_default());
                let is_literal = matches!(rm, Rm::Literal(_));
                let broadcast = u64::from(is_literal && op != BROADCAST) << 28;
                let tail = self.tail(reg >> 3, rm, if is_literal { 4 } else { 64 });
                self.put((head | second_byte(0, 0) | broadcast, 5), tail, (imm, after));
            }
        }
    }

    /// All lanes.
    pub fn mask_all(&mut self, k: u8) {
        self.mask_op(1, 0, 0x46, k, k, k);
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
