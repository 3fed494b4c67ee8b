//! Masks of a wavefront's lanes in general registers: the operations on them that the code for both instruction
//! sets shares.

use super::layout::head;
use ctm_x86::{Asm, Cond, Gpr, Int, RAX, RBX, RCX};

/// Extensions of shifts.
pub const SHL: u8 = 4;
/// Zeros are shifted in.
pub const SHR: u8 = 5;
/// Copies of the sign are shifted in.
pub const RIGHT_SIGNED: u8 = 7;

/// rax = all lanes of the quads with a lane in rax; lanes that do not exist, too. Changes rcx.
pub fn whole_quads(asm: &mut Asm) {
    for count in [1, 2] {
        asm.wide(Int::Mov, RCX, RAX);
        asm.wide_shift(SHR, RCX, count);
        asm.wide(Int::Or, RAX, RCX);
    }
    asm.int_load(Int::And, true, RAX, RBX, head::QUADS);
    asm.wide_times(RAX, RAX, 15);
}

/// rax = 0 where rcx is 0.
pub fn unless_zero(asm: &mut Asm) {
    let some = asm.label();
    asm.wide_test(RCX, RCX);
    asm.jump_if(Cond::NotEqual, some);
    asm.int_imm(RAX, 0);
    asm.place(some);
}

/// The number in a register plus another; `thirteen_bits`: as a signed number of 13 bits.
pub fn add(asm: &mut Asm, register: Gpr, number: i32, thirteen_bits: bool) {
    asm.wide_imm(Int::Add, register, number);
    if thirteen_bits {
        asm.wide_shift(SHL, register, 51);
        asm.wide_shift(RIGHT_SIGNED, register, 51);
    }
}
