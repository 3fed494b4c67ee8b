//! 512-bit vector instructions (EVEX), and instructions on mask registers (VEX).

use super::{Asm, BROADCAST, Gpr, NOTHING, Rm, V};

impl Asm {
    /// A 512-bit EVEX instruction: `reg`, `second` (0 where it has none), `rm`, mask register (0: none), zeroing, immediate.
    #[allow(clippy::too_many_arguments, reason = "the fields of the encoding")]
    pub fn evex(&mut self, op: V, reg: u8, second: u8, rm: Rm, mask: u8, zero: bool, imm: Option<u8>) {
        let (x, b) = match rm {
            Rm::Reg(r) => (r >> 4 & 1, r >> 3 & 1),
            Rm::Row(base, _) | Rm::Each(base, _) => (0, base >> 3 & 1),
            Rm::Literal(_) | Rm::LaneShifts(_) => (0, 0),
        };
        // A broadcast instruction names four bytes without the broadcast bit; its displacement still counts in fours.
        let each = matches!(rm, Rm::Each(..) | Rm::Literal(_));
        let is_broadcast = op == BROADCAST;
        let broadcast = u8::from(each && !is_broadcast);
        let prefix = [
            0x62,
            !(reg >> 3 & 1) << 7 | (!x & 1) << 6 | (!b & 1) << 5 | (!(reg >> 4) & 1) << 4 | op.map,
            op.wide << 7 | (!second & 15) << 3 | 4 | op.pp,
            u8::from(zero) << 7 | 2 << 5 | broadcast << 4 | (!(second >> 4) & 1) << 3 | mask,
        ];
        let head = u64::from(u32::from_le_bytes(prefix)) | u64::from(op.opcode) << 32;
        let tail = self.tail(reg, rm, if each { 4 } else { 64 });
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
