//! What streams need besides: elements into vectors and back.

use super::{Asm, Gpr, Rm, V, rows, v};
use crate::codegen::x86::isa::Isa;

rows! { SHUFFLE_ROWS
    UNPACK_LOW = 1 0 0x14;
    UNPACK_HIGH = 1 0 0x15;
    /// Two elements of each source in every quarter; the immediate says which.
    SHUFFLE = 1 0 0xc6;
    STORE_PAST_CACHES = 1 0 0x2b;
    /// Elements by the numbers in the second operand.
    PERMUTE = 2 1 0x16;
    /// The same from two vectors, the result's old elements first. AVX-512 alone.
    PERMUTE_TWO = 2 1 0x7f;
    /// Two quarters of each source; the immediate says which. AVX-512 alone.
    SHUFFLE_QUARTERS = 3 1 0x23;
}

impl Asm {
    /// `dst`, 16 bytes at base + offset in each quarter.
    pub fn broadcast_quarter(&mut self, dst: u8, base: Gpr, offset: i32) {
        const BROADCAST_QUARTER: V = v(2, 1, 0x1a);
        if self.isa == Isa::Avx2 {
            return self.vex(BROADCAST_QUARTER, dst, 0, Rm::Row(base, offset), None);
        }
        self.byte(0x62);
        self.byte(!(dst >> 3 & 1) << 7 | 1 << 6 | (!(base >> 3) & 1) << 5 | (!(dst >> 4) & 1) << 4 | 2);
        self.byte(15 << 3 | 4 | 1);
        self.byte(2 << 5 | 1 << 3);
        self.byte(0x1a);
        self.operand(dst, Rm::Row(base, offset), 16);
    }

    /// The 16 bytes at `base + 4 * index` in the first quarter, zeros elsewhere: AVX-512. The base is neither rbp nor r13.
    pub fn load_quarter(&mut self, dst: u8, base: Gpr, index: Gpr) {
        self.quarter_at(dst, (1, 15 << 3 | 4, 1 << 3, 0x10), base, index);
    }

    /// The same 16 bytes in another quarter, 1 to 3; the others stay: AVX-512.
    pub fn insert_quarter(&mut self, dst: u8, quarter: u8, base: Gpr, index: Gpr) {
        let (low, high) = ((!dst & 15) << 3, (!(dst >> 4) & 1) << 3);
        self.quarter_at(dst, (3, low | 4 | 1, 2 << 5 | high, 0x18), base, index);
        self.byte(quarter);
    }

    /// The 32 bytes at `base + 4 * index` in the first half, zeros in the other: AVX-512. The base is neither rbp nor r13.
    pub fn load_half(&mut self, dst: u8, base: Gpr, index: Gpr) {
        self.quarter_at(dst, (1, 15 << 3 | 4, 1 << 5 | 1 << 3, 0x10), base, index);
    }

    /// The same 32 bytes in the second half; the first one stays: AVX-512.
    pub fn insert_half(&mut self, dst: u8, base: Gpr, index: Gpr) {
        let (low, high) = ((!dst & 15) << 3, (!(dst >> 4) & 1) << 3);
        self.quarter_at(dst, (3, 1 << 7 | low | 4 | 1, 2 << 5 | high, 0x1a), base, index);
        self.byte(1);
    }

    /// An instruction on 16 or 32 bytes: its map, the other two bytes of the prefix, its opcode.
    fn quarter_at(&mut self, dst: u8, (map, second, third, opcode): (u8, u8, u8, u8), base: Gpr, index: Gpr) {
        debug_assert!(base & 7 != 5, "it needs no displacement");
        let (r, x, b) = (!(dst >> 3) & 1, !(index >> 3) & 1, !(base >> 3) & 1);
        self.byte(0x62);
        self.byte(r << 7 | x << 6 | b << 5 | (!(dst >> 4) & 1) << 4 | map);
        self.byte(second);
        self.byte(third);
        self.byte(opcode);
        self.byte((dst & 7) << 3 | 4);
        self.byte(2 << 6 | (index & 7) << 3 | base & 7);
    }

    /// Stores the low half of a vector, or the high one: AVX-512.
    pub fn store_half(&mut self, register: u8, high: bool, base: Gpr, offset: i32) {
        self.byte(0x62);
        let (r, b) = (!(register >> 3) & 1, !(base >> 3) & 1);
        self.byte(r << 7 | 1 << 6 | b << 5 | (!(register >> 4) & 1) << 4 | 3);
        self.byte(15 << 3 | 4 | 1);
        self.byte(2 << 5 | 1 << 3);
        self.byte(0x1b);
        self.operand(register, Rm::Row(base, offset), 32);
        self.byte(high.into());
    }

    /// The dwords at `base + 4 * index + offset` for the lanes whose sign bit is set in the mask, a vector that is 0 afterwards: AVX2. The
    /// three vectors are different ones.
    pub fn gather_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.indexed_by_signs(dst, mask, base, (index, 2), offset);
    }

    /// The dwords at `base + index + offset`: as [`Self::gather_by_signs`], by bytes.
    pub fn gather_bytes_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, index: u8, offset: i32) {
        self.indexed_by_signs(dst, mask, base, (index, 0), offset);
    }

    /// `scale`: how far left the index is shifted.
    fn indexed_by_signs(&mut self, dst: u8, mask: u8, base: Gpr, (index, scale): (u8, u8), offset: i32) {
        self.byte(0xc4);
        let (r, x, b) = (!(dst >> 3) & 1, !(index >> 3) & 1, !(base >> 3) & 1);
        self.byte(r << 7 | x << 6 | b << 5 | 2);
        self.byte((!mask & 15) << 3 | 1 << 2 | 1);
        self.byte(0x92);
        self.byte(0x80 | (dst & 7) << 3 | 4);
        self.byte(scale << 6 | (index & 7) << 3 | base & 7);
        self.dword(offset);
    }

    /// Asks for the line of the caches with this address, wherever that is.
    pub fn prefetch(&mut self, base: Gpr, offset: i32) {
        self.prefixed(false, 0, base, 0x0f);
        self.byte(0x18);
        self.operand(1, Rm::Row(base, offset), 1);
    }

    /// Ends a run of stores that pass the caches by.
    pub fn store_fence(&mut self) {
        self.code.extend([0x0f, 0xae, 0xf8]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::decoded_for;
    use super::super::{PERMUTE_HALVES, RAX, RBP, RBX, RCX, RDI, RDX};
    use super::*;

    #[test]
    fn shuffles() {
        let names = ["vunpcklps", "vunpckhps", "vshufps", "vmovntps", "vpermps", "vpermt2ps", "vshuff32x4"];
        for (isa, vector) in [(Isa::Avx512, "zmm"), (Isa::Avx2, "ymm")] {
            for ((_, op), name) in SHUFFLE_ROWS.iter().zip(names) {
                let found = |rm| match *op {
                    SHUFFLE => decoded_for(isa, |a| a.instruction(SHUFFLE, 11, 9, rm, Some(0x44))),
                    SHUFFLE_QUARTERS => {
                        decoded_for(Isa::Avx512, |a| a.instruction(SHUFFLE_QUARTERS, 11, 9, rm, Some(0x44)))
                    }
                    STORE_PAST_CACHES => decoded_for(isa, |a| a.vector(STORE_PAST_CACHES, 11, 0, rm)),
                    PERMUTE_TWO => decoded_for(Isa::Avx512, |a| a.vector(PERMUTE_TWO, 11, 9, rm)),
                    op => decoded_for(isa, |a| a.vector(op, 11, 9, rm)),
                };
                let vector = if matches!(*op, PERMUTE_TWO | SHUFFLE_QUARTERS) { "zmm" } else { vector };
                let end = if matches!(*op, SHUFFLE | SHUFFLE_QUARTERS) { ",44h" } else { "" };
                if *op == STORE_PAST_CACHES {
                    assert_eq!(found(Rm::Row(RBX, 64)), format!("{name} [rbx+40h],{vector}11"));
                } else {
                    assert_eq!(found(Rm::Row(RBX, 64)), format!("{name} {vector}11,{vector}9,[rbx+40h]{end}"));
                    assert_eq!(found(Rm::Reg(14)), format!("{name} {vector}11,{vector}9,{vector}14{end}"));
                }
            }
        }
    }

    /// An instruction as text, and what emits it.
    type Form = (Isa, &'static str, fn(&mut Asm));

    #[test]
    fn broadcasts_and_gathers() {
        let table: &[Form] = &[
            (Isa::Avx512, "vbroadcastf32x4 zmm17,[r12+40h]", |a| a.broadcast_quarter(17, 12, 0x40)),
            (Isa::Avx512, "vmovups xmm28,[rdx+rax*4]", |a| a.load_quarter(28, RDX, RAX)),
            (Isa::Avx512, "vmovups xmm3,[r8+r9*4]", |a| a.load_quarter(3, 8, 9)),
            (Isa::Avx512, "vinsertf32x4 zmm31,zmm31,[rdx+rax*4],3", |a| a.insert_quarter(31, 3, RDX, RAX)),
            (Isa::Avx512, "vinsertf32x4 zmm9,zmm9,[r8+r9*4],1", |a| a.insert_quarter(9, 1, 8, 9)),
            (Isa::Avx512, "vmovups ymm28,[rdx+rax*4]", |a| a.load_half(28, RDX, RAX)),
            (Isa::Avx512, "vmovups ymm3,[r8+r9*4]", |a| a.load_half(3, 8, 9)),
            (Isa::Avx512, "vinsertf64x4 zmm31,zmm31,[rdx+rax*4],1", |a| a.insert_half(31, RDX, RAX)),
            (Isa::Avx512, "vinsertf64x4 zmm9,zmm9,[r8+r9*4],1", |a| a.insert_half(9, 8, 9)),
            (Isa::Avx512, "vbroadcastf32x4 zmm9,[rbp-10h]", |a| a.broadcast_quarter(9, RBP, -16)),
            (Isa::Avx2, "vbroadcastf128 ymm11,[r12+40h]", |a| a.broadcast_quarter(11, 12, 0x40)),
            (Isa::Avx2, "vbroadcastf128 ymm3,[rbp-10h]", |a| a.broadcast_quarter(3, RBP, -16)),
            (Isa::Avx512, "vextractf32x8 [rcx],zmm9,0", |a| a.store_half(9, false, RCX, 0)),
            (Isa::Avx512, "vextractf32x8 [r9+40h],zmm30,1", |a| a.store_half(30, true, 9, 64)),
            (Isa::Avx2, "vperm2f128 ymm3,ymm9,[rcx+20h],31h", |a| {
                a.vex(PERMUTE_HALVES, 3, 9, Rm::Row(RCX, 32), Some(0x31));
            }),
            (Isa::Avx2, "vgatherdps ymm3,[rdi+ymm14*4+0Ch],ymm15", |a| a.gather_by_signs(3, 15, RDI, 14, 12)),
            (Isa::Avx2, "vgatherdps ymm13,[r13+ymm6*4+8],ymm2", |a| a.gather_by_signs(13, 2, 13, 6, 8)),
            (Isa::Avx2, "vgatherdps ymm13,[r13+ymm6+8],ymm2", |a| a.gather_bytes_by_signs(13, 2, 13, 6, 8)),
            (Isa::Avx512, "prefetcht0 [r13+400h]", |a| a.prefetch(13, 0x400)),
            (Isa::Avx2, "prefetcht0 [rbp-10h]", |a| a.prefetch(RBP, -16)),
            (Isa::Avx2, "sfence", Asm::store_fence),
        ];
        for (isa, text, emit) in table {
            assert_eq!(&decoded_for(*isa, emit), text);
        }
    }
}
