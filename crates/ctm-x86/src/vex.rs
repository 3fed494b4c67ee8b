//! 256-bit vector instructions (VEX): AVX2 and FMA.

use super::{Asm, BROADCAST_LANE_0, Gpr, Rm, V, immediate, rows, v};

rows! { VEX_ROWS
    AND_F32 = 1 0 0x54;
    AND_NOT_F32 = 1 0 0x55;
    OR_F32 = 1 0 0x56;
    /// Into a general register: the sign bit of each lane.
    SIGNS = 1 0 0x50;
    /// From a general register: into lane 0.
    FROM_INT = 1 1 0x6e;
    GREATER_I32 = 1 1 0x66;
    EQUAL_I32 = 1 1 0x76;
    /// One byte of memory in all bytes.
    BROADCAST_BYTE = 2 1 0x78;
    /// The selecting register is in the immediate.
    BLEND = 3 1 0x4a;
}

impl Asm {
    /// A VEX instruction: 256 bits wide or 128, `reg`, `second` (0 where it has none), `rm`, immediate.
    pub(super) fn vex_sized(&mut self, wide: bool, op: V, reg: u8, second: u8, rm: Rm, imm: Option<u8>) {
        let (base, index) = rm.numbers();
        let (base, index) = (base >> 3 & 1, index >> 3 & 1);
        let last = (!second & 15) << 3 | u8::from(wide) << 2 | op.pp();
        let reg_bit = !(reg >> 3 & 1) << 7;
        let (head, count) = if (base | index, op.map()) == (0, 1) {
            ([0xc5, reg_bit | last, op.opcode, 0], 3)
        } else {
            ([0xc4, reg_bit | (!index & 1) << 6 | (!base & 1) << 5 | op.map(), last, op.opcode], 4)
        };
        let imm = immediate(imm);
        let tail = self.tail(reg, rm, 0, [count, imm.1]);
        self.put((u32::from_le_bytes(head).into(), count), tail, imm);
    }

    /// A 256-bit VEX instruction. A literal is 32 bytes of memory; [`Rm::Each`] is for [`super::BROADCAST`] alone.
    pub fn vex(&mut self, op: V, reg: u8, second: u8, rm: Rm, imm: Option<u8>) {
        self.vex_sized(true, op, reg, second, rm, imm);
    }

    /// `dst = mask ? yes : no`, lane by lane.
    pub fn blend(&mut self, dst: u8, mask: u8, yes: Rm, no: u8) {
        self.vex(BLEND, dst, no, yes, Some(mask << 4));
    }

    /// `r = the sign bits of the lanes`.
    pub fn signs(&mut self, r: Gpr, mask: u8) {
        self.vex(SIGNS, r, 0, Rm::Reg(mask), None);
    }

    /// `dst = r in every lane`.
    pub fn spread(&mut self, dst: u8, r: Gpr) {
        self.vex_sized(false, FROM_INT, dst, 0, Rm::Reg(r), None);
        self.vex(BROADCAST_LANE_0, dst, 0, Rm::Reg(dst), None);
    }
}
