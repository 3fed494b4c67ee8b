//! 512-bit vector instructions (EVEX), and instructions on mask registers (VEX).

use super::{Asm, BROADCAST, Gpr, NOTHING, Rm, V, in_memory};

/// The prefix and the opcode, as for a last operand whose number has only low bits.
#[inline]
fn head(op: V, reg: u8, second: u8, mask: u8, zero: bool) -> u64 {
    // These bits are inverted: the high ones of numbers of registers.
    let none = u32::from_le_bytes([0x62, 0xf0 | op.map, op.wide << 7 | 0x7c | op.pp, 0x48]);
    let (reg, second) = (u32::from(reg), u32::from(second));
    let numbers = (reg & 8) << 12 | (reg & 16) << 8 | (second & 15) << 19 | (second & 16) << 23;
    u64::from((none ^ numbers) | u32::from(mask) << 24 | u32::from(zero) << 31) | u64::from(op.opcode) << 32
}

/// The bit that says that memory holds one number for all lanes. A broadcast instruction names four bytes without it; its displacement still counts in
/// fours.
fn broadcast(op: V) -> u64 {
    u64::from(op != BROADCAST) << 28
}

impl Asm {
    /// A 512-bit EVEX instruction: `reg`, `second` (0 where it has none), `rm`, mask register (0: none), zeroing, immediate.
    #[allow(clippy::too_many_arguments, reason = "the fields of the encoding")]
    pub fn evex(&mut self, op: V, reg: u8, second: u8, rm: Rm, mask: u8, zero: bool, imm: Option<u8>) {
        let head = head(op, reg, second, mask, zero);
        let field = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => {
                let third = u64::from(r & 8) << 10 | u64::from(r & 16) << 10;
                let bits = (head ^ third) | u64::from(0xc0 | field | r & 7) << 40;
                match imm {
                    Some(imm) => self.bytes(bits | u64::from(imm) << 48, 7),
                    None => self.bytes(bits, 6),
                }
            }
            Rm::Row(base, offset) => {
                self.evex_memory(head, in_memory(field, base, offset, 6 - u32::from(op.part)), base, imm)
            }
            Rm::Each(base, offset) => {
                let element = 2 + u32::from(op.wide);
                self.evex_memory(head | broadcast(op), in_memory(field, base, offset, element), base, imm);
            }
            Rm::Literal(_) => self.evex_literal(head | broadcast(op), reg, rm, imm),
            Rm::LaneShifts(_) => self.evex_literal(head, reg, rm, imm),
        }
    }

    /// The rest of an instruction on memory.
    #[inline]
    fn evex_memory(&mut self, head: u64, (operand, count): (u64, usize), base: Gpr, imm: Option<u8>) {
        let head = head ^ u64::from(base & 8) << 10;
        self.long(u128::from(head) | u128::from(operand) << 40, 5 + count);
        if let Some(imm) = imm {
            self.byte(imm);
        }
    }

    /// The rest of an instruction on what lies behind the code.
    #[inline(never)]
    fn evex_literal(&mut self, head: u64, reg: u8, rm: Rm, imm: Option<u8>) {
        let tail = self.tail(reg, rm, 4);
        self.put((head, 5), tail, imm.map_or(NOTHING, |imm| (imm.into(), 1)));
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
