//! What launches need besides: conversions of positions, start values and elements, for AVX-512; a product of registers.

use super::{Asm, Gpr, Rm, V, rows, v};

const fn wide(map: u8, pp: u8, opcode: u8) -> V {
    V { map, pp, opcode, wide: 1 }
}

rows! { CONVERT_ROWS
    /// Eight numbers of 32 bits, the low half, as doubles.
    CVT_I32_F64 = 1 2 0xe6;
    /// The low halves of 16 dwords, in order: the destination is the last operand.
    NARROW_I32 = 2 2 0x33;
    /// The low halves of 8 numbers of 64 bits, in order: the destination is the last operand.
    NARROW_I64 = 2 2 0x35;
    /// A half takes another vector's low half; the immediate says which.
    INSERT_HALF = 3 1 0x1a;
    /// A half in the low half: the destination is the last operand.
    EXTRACT_HALF = 3 1 0x1b;
}

/// Doubles in single precision: the low half.
pub const CVT_F64_F32: V = wide(1, 1, 0x5a);
/// Doubles as whole numbers.
pub const CVT_F64_I64: V = wide(1, 1, 0x7b);

impl Asm {
    /// Stores 16 bytes of a vector: AVX-512.
    pub fn store_quarter(&mut self, register: u8, quarter: u8, base: Gpr, offset: i32) {
        self.byte(0x62);
        let (r, b) = (!(register >> 3) & 1, !(base >> 3) & 1);
        self.byte(r << 7 | 1 << 6 | b << 5 | (!(register >> 4) & 1) << 4 | 3);
        self.byte(15 << 3 | 4 | 1);
        self.byte(2 << 5 | 1 << 3);
        self.byte(0x19);
        self.operand(register, Rm::Row(base, offset), 16);
        self.byte(quarter);
    }

    /// `dst *= [base + offset]`, 64 bits.
    pub fn product(&mut self, dst: Gpr, base: Gpr, offset: i32) {
        self.prefixed(true, dst, base, 0x0f);
        self.byte(0xaf);
        self.operand(dst, Rm::Row(base, offset), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::decoded_for;
    use super::super::{ADD_F64, RAX, RBP, RCX};
    use super::*;
    use crate::codegen::x86::isa::Isa;

    /// An instruction as text, and what emits it.
    type Form = (&'static str, fn(&mut Asm));

    #[test]
    fn conversions() {
        let table: &[Form] = &[
            ("vcvtdq2pd zmm17,ymm9", |a| a.evex(CVT_I32_F64, 17, 0, Rm::Reg(9), 0, false, None)),
            ("vcvtpd2ps ymm9,zmm17", |a| a.evex(CVT_F64_F32, 9, 0, Rm::Reg(17), 0, false, None)),
            ("vcvtpd2qq zmm9,zmm17", |a| a.evex(CVT_F64_I64, 9, 0, Rm::Reg(17), 0, false, None)),
            ("vpmovqd ymm9,zmm17", |a| a.evex(NARROW_I64, 17, 0, Rm::Reg(9), 0, false, None)),
            ("vpmovdw ymm9,zmm17", |a| a.evex(NARROW_I32, 17, 0, Rm::Reg(9), 0, false, None)),
            ("vextractf32x4 [r9+10h],zmm17,1", |a| a.store_quarter(17, 1, 9, 16)),
            ("vinsertf32x8 zmm1,zmm17,ymm9,1", |a| a.evex(INSERT_HALF, 1, 17, Rm::Reg(9), 0, false, Some(1))),
            ("vextractf32x8 ymm9,zmm17,1", |a| a.evex(EXTRACT_HALF, 17, 0, Rm::Reg(9), 0, false, Some(1))),
            ("vaddpd zmm9,zmm17,[rcx+10h]{1to8}", |a| a.vector(ADD_F64, 9, 17, Rm::Each(RCX, 16))),
            ("imul rax,[rbp+48h]", |a| a.product(RAX, RBP, 72)),
            ("vscatterdps [rcx+zmm28+8],k2,zmm30", |a| a.scatter_bytes(30, 2, RCX, 28, 8)),
        ];
        for (text, emit) in table {
            assert_eq!(&decoded_for(Isa::Avx512, emit), text);
        }
        assert_eq!(CONVERT_ROWS.len(), 5);
    }
}
