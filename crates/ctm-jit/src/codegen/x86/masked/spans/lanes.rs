//! Routines that store what lanes have exported, one lane after the other: for processors that store no vectors under masks.
//!
//! | register | holds |
//! |---|---|
//! | rsi | 4 times the lane |
//! | rax, r8 to r11 | the lanes that are left: any that store, and those of each channel; the lane's own bit is the lowest |
//! | rcx | where the lane's element lies |

use super::block::{self, surface};
use super::stores::{CHANNELS, any, combined, scaled, written};
use crate::codegen::x86::asm::{
    Asm, BROADCAST, Cond, Int, MOVUPS_LOAD, MOVUPS_STORE, OR, PERMUTE_IN_QUAD, RAX, RBP, RCX, RDI, RDX, RSI, Rm,
    SHIFT_LEFT,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::launch::wavefronts::outputs::Kind;

/// The routine for elements of a kind, wherever they lie.
pub fn emit(asm: &mut Asm, copies: u8, kind: Kind) {
    let [each, next, done] = std::array::from_fn(|_| asm.label());
    // Both of two words that share a dword are stored at once.
    let (lanes, element) = match kind {
        Kind::Floats(channels) => (1, 4 * i32::from(channels)),
        Kind::Bytes => (1, 4),
        Kind::Words => (2, 2),
    };
    written(asm);
    match kind {
        Kind::Floats(_) => {}
        Kind::Bytes => bytes(asm, copies),
        Kind::Words => words(asm, copies),
    }
    any(asm);
    asm.int_imm(RSI, 0);
    asm.wide_test(RAX, RAX);
    asm.jump_if(Cond::Equal, done);
    asm.place(each);
    asm.test_imm(RAX, (1 << lanes) - 1);
    asm.jump_if(Cond::Equal, next);
    place(asm, element);
    match kind {
        Kind::Floats(channels) => floats(asm, channels),
        Kind::Bytes | Kind::Words => change(asm, kind),
    }
    asm.place(next);
    asm.wide_imm(Int::Add, RSI, 4 * i32::from(lanes));
    for register in CHANNELS {
        asm.wide_shift(SHR, register, lanes);
    }
    asm.wide_shift(SHR, RAX, lanes);
    asm.wide_test(RAX, RAX);
    asm.jump_if(Cond::NotEqual, each);
    asm.place(done);
}

/// Where the lane's element lies, in rcx. Changes rdx, rdi and r15.
fn place(asm: &mut Asm, element: i32) {
    let (row, column) = (RCX, 15);
    let [tiles, done] = std::array::from_fn(|_| asm.label());
    asm.wide(Int::Mov, RDI, RBP);
    asm.wide(Int::Add, RDI, RSI);
    asm.int_load(Int::Mov, false, row, RDI, block::J);
    asm.int_load(Int::Mov, false, column, RDI, block::I);
    asm.jump_cmp(true, 12, surface::COLUMNS, 0, Cond::NotEqual, tiles);
    asm.product(row, 12, surface::ROW_BYTES);
    asm.wide_times(column, column, element);
    asm.wide(Int::Add, row, column);
    asm.jump(done);
    asm.place(tiles);
    for (register, table) in [(column, surface::COLUMNS), (row, surface::ROW_PLACES)] {
        asm.wide_shift(SHL, register, 2);
        asm.int_load(Int::Add, true, register, 12, table);
        asm.int_load(Int::Mov, false, register, register, 0);
    }
    // Tiles add up; within a tile, bits are folded.
    asm.int(Int::Mov, RDX, row);
    asm.int(Int::Xor, RDX, column);
    asm.int_load(Int::And, false, RDX, 12, surface::WITHIN);
    for register in [row, column] {
        asm.int_load(Int::And, false, register, 12, surface::WHOLE_TILES);
    }
    asm.wide(Int::Add, row, column);
    asm.wide(Int::Add, row, RDX);
    asm.place(done);
    asm.int_load(Int::Add, true, row, 12, surface::DATA);
}

/// Stores the channels that the lane has written.
fn floats(asm: &mut Asm, channels: u8) {
    for (channel, register) in (0..).zip(CHANNELS).take(channels.into()) {
        let none = asm.label();
        asm.test_imm(register, 1);
        asm.jump_if(Cond::Equal, none);
        asm.int_load(Int::Mov, true, RDX, 12, surface::ROWS + 8 * channel);
        asm.wide(Int::Add, RDX, RSI);
        asm.int_load(Int::Mov, false, RDX, RDX, 0);
        asm.int_store(Int::Mov, false, RCX, 4 * channel, RDX);
        asm.place(none);
    }
}

/// What a lane changes of its dword lies in [`block::MASK_ROWS`]; the bits of each channel in [`block::MASKS`].
fn bytes(asm: &mut Asm, copies: u8) {
    for_each_part(asm, copies, |asm, offset| {
        let all = combined(asm, offset);
        asm.vector(MOVUPS_STORE, all, 0, Rm::Row(RBP, block::MASK_ROWS + offset));
    });
    let (bits, shift) = (0, 1);
    for channel in 0..4 {
        asm.vector(MOVUPS_LOAD, bits, 0, Rm::Literal(u8::MAX.into()));
        asm.vector(BROADCAST, shift, 0, Rm::Each(12, surface::SHIFTS + 4 * channel));
        asm.vector(SHIFT_LEFT, bits, bits, Rm::Reg(shift));
        asm.vector(MOVUPS_STORE, bits, 0, Rm::Row(RBP, block::MASKS + 64 * channel));
    }
}

/// The same; left lanes have both words.
fn words(asm: &mut Asm, copies: u8) {
    for_each_part(asm, copies, |asm, offset| {
        let (new, right) = (9, 10);
        scaled(asm, new, 0, offset, u16::MAX.into());
        asm.instruction(PERMUTE_IN_QUAD, right, 0, Rm::Reg(new), Some(0b10_11_00_01));
        asm.vector(SHIFT_LEFT, right, right, Rm::Literal(16));
        asm.vector(OR, new, new, Rm::Reg(right));
        asm.vector(MOVUPS_STORE, new, 0, Rm::Row(RBP, block::MASK_ROWS + offset));
    });
}

fn for_each_part(asm: &mut Asm, copies: u8, make: impl Fn(&mut Asm, i32)) {
    for part in 0..i32::from(copies * Isa::Avx2.pieces()) {
        make(asm, Isa::Avx2.bytes() * part);
    }
}

/// Changes those bits of a dword that the lane has written, or the lane and its right neighbour.
fn change(asm: &mut Asm, kind: Kind) {
    let bits = RDI;
    asm.int_imm(bits, 0);
    let parts: &[_] = if kind == Kind::Words {
        &[(CHANNELS[0], 1, Some(0xffff)), (CHANNELS[0], 2, Some(0xffff_0000_u32.cast_signed()))]
    } else {
        &CHANNELS.map(|register| (register, 1, None))
    };
    for (channel, &(register, lane, literal)) in (0..).zip(parts) {
        let none = asm.label();
        asm.test_imm(register, lane);
        asm.jump_if(Cond::Equal, none);
        match literal {
            Some(literal) => asm.int_op_imm(Int::Or, bits, literal),
            None => asm.int_load(Int::Or, false, bits, RBP, block::MASKS + 64 * channel),
        }
        asm.place(none);
    }
    let (new, old) = (RDX, 15);
    asm.wide(Int::Mov, new, RBP);
    asm.wide(Int::Add, new, RSI);
    asm.int_load(Int::Mov, false, new, new, block::MASK_ROWS);
    asm.int(Int::And, new, bits);
    asm.not(bits);
    asm.int_load(Int::Mov, false, old, RCX, 0);
    asm.int(Int::And, old, bits);
    asm.int(Int::Or, old, new);
    asm.int_store(Int::Mov, false, RCX, 0, old);
}
