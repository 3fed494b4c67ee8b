//! Elements of four dwords, one for each lane. A load for each element and a transposition take less time than four
//! gathers of dwords; where all lanes read the same element, as is frequent when a picture is enlarged, its dwords are
//! broadcast.

use super::Emit;
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::facts::INT_NOT_EQUAL;
use crate::codegen::x86::masked::layout::{lookup as number_of, table};
use crate::codegen::x86::masked::wide::SHL;
use crate::codegen::x86::vectors::Vectors;
use ctm_x86::{
    BROADCAST, BROADCAST_LANE_0, CMP_I32, Cond, EQUAL_I32, Int, MOVUPS_LOAD, MOVUPS_STORE, RAX, RBX, RDX, Rm, SHUFFLE,
    UNPACK_HIGH, UNPACK_LOW,
};

/// Elements of a quarter of a register.
const EACH: u8 = 4;

impl Emit<'_> {
    /// Loads the elements of a part's lanes, each from the array that a lookup's numbers name, at the numbers of their
    /// first dwords: these channels, a bit for each, become consecutive vectors.
    pub(super) fn elements(&mut self, lookup: u16, (first, channels): (Vector, u8), index: Src, piece: u8) {
        let before = |channel: u8| (channels & ((1 << channel) - 1)).count_ones();
        let dst = [0, 1, 2, 3].map(|channel| (channels >> channel & 1 == 1).then(|| Vector(first.0 + before(channel))));
        let (target, [differ, done]) = (self.target(), [(); 2].map(|()| self.asm.label()));
        let (one, two, three) = (target.scratch(), target.operand_scratch(), target.mask_scratch());
        let row = |number: u8| Rm::Row(RBX, self.input.layout.elements + target.bytes() * i32::from(number));
        let [numbers, rows @ ..] = [0, 1, 2, 3, 4].map(row);
        self.in_mask = None;
        let index = self.reg(index, piece, one);
        self.asm.vector(MOVUPS_STORE, index, 0, numbers);
        self.asm.int_load(Int::Mov, true, RDX, RBX, number_of(target, lookup.into(), table::DATA));
        self.asm.vector(BROADCAST_LANE_0, two, 0, Rm::Reg(index));
        if target.has_mask_registers() {
            self.asm.evex(CMP_I32, 1, index, Rm::Reg(two), 0, false, Some(INT_NOT_EQUAL));
            self.asm.mask_test(1);
        } else {
            self.asm.vector(EQUAL_I32, two, two, Rm::Reg(index));
            self.asm.signs(RAX, two);
            self.asm.int_op_imm(Int::Cmp, RAX, 0xff);
        }
        self.asm.jump_if(Cond::NotEqual, differ);
        self.number(0);
        self.asm.wide_shift(SHL, RAX, 2);
        self.asm.wide(Int::Add, RAX, RDX);
        for (channel, dst) in (0..).zip(dst).filter_map(|(channel, dst)| Some((channel, dst?))) {
            self.make(dst, piece, |e, dst| e.asm.vector(BROADCAST, dst, 0, Rm::Each(RAX, 4 * channel)));
        }
        self.asm.jump(done);
        self.asm.place(differ);
        // The elements of the lanes at one place of each quarter.
        for (place, row) in (0..).zip(rows) {
            for quarter in 0..target.lanes as u8 / EACH {
                self.number(EACH * quarter + place);
                match quarter {
                    0 => self.asm.load_quarter(one, RDX, RAX),
                    _ => self.asm.insert_quarter(one, quarter, RDX, RAX),
                }
            }
            self.store(one, row);
        }
        for (unpack, dst) in [(UNPACK_LOW, [dst[0], dst[1]]), (UNPACK_HIGH, [dst[2], dst[3]])] {
            for (register, pair) in [(two, [rows[0], rows[1]]), (three, [rows[2], rows[3]])] {
                self.asm.vector(MOVUPS_LOAD, register, 0, pair[0]);
                self.asm.vector(unpack, register, register, pair[1]);
            }
            for (half, dst) in [0x44, 0xee].into_iter().zip(dst).filter_map(|(half, dst)| Some((half, dst?))) {
                self.make(dst, piece, |e, dst| e.asm.instruction(SHUFFLE, dst, two, Rm::Reg(three), Some(half)));
            }
        }
        self.asm.place(done);
    }

    /// A lane's number, in rax.
    fn number(&mut self, lane: u8) {
        self.asm.int_load(Int::Mov, false, RAX, RBX, self.input.layout.elements + 4 * i32::from(lane));
    }
}
