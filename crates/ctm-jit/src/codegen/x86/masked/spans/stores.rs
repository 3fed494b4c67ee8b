//! Routines that store a wavefront's exports to a target, whose description is at r12: whole elements of strips, and lanes one by one.

use super::block::{self, surface};
use super::code::mask_at;
use super::lanes;
use crate::codegen::x86::asm::{
    ADD_I32, AND, AND_NOT_F32, Asm, BROADCAST, Cond, FMADD213, Gpr, Int, Label, MAX, MIN, MOVAPS, MOVUPS_LOAD,
    MOVUPS_STORE, MUL_I32, NARROW_I32, OR, PERMUTE, PERMUTE_IN_QUAD, RAX, RBP, RBX, RCX, RDI, RDX, RSI, Rm, SHIFT_LEFT,
    XOR,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::masked::wide::SHR;
use crate::codegen::x86::quads::{MASK_ROW, Stores, group_bytes};
use crate::ir::masked::M;
use crate::launch::wavefronts::outputs::Kind;

/// Where routines begin, within the code.
pub struct Routines {
    /// For whole elements of 1, 2 and 4 channels.
    whole: [usize; 3],
    /// For elements of 1 to 4 channels of single precision, wherever they lie, of which some lanes write some.
    parts: [usize; 4],
    /// For four channels of 8 bits: whole elements of a strip, and others.
    bytes: [usize; 2],
    /// For one channel of 16 bits.
    words: [usize; 2],
}

impl Routines {
    /// Those for strips of whole elements, and for everything else.
    pub fn of(&self, kind: Kind) -> [usize; 2] {
        match kind {
            Kind::Floats(1) => [self.whole[0], self.parts[0]],
            Kind::Floats(2) => [self.whole[1], self.parts[1]],
            Kind::Floats(4) => [self.whole[2], self.parts[3]],
            Kind::Floats(_) => [self.parts[2]; 2],
            Kind::Bytes => self.bytes,
            Kind::Words => self.words,
        }
    }
}

/// Registers with the rows of channels; in those for parts with the lanes that are stored.
pub(super) const CHANNELS: [Gpr; 4] = [8, 9, 10, 11];

/// The vector that says where elements begin.
const PLACE: u8 = 0;

/// All routines.
pub fn emit(asm: &mut Asm, isa: Isa, copies: u8) -> Routines {
    let whole = [1, 2, 4].map(|channels| asm.routine(|asm| strip(asm, isa, copies, channels)));
    let bytes_of_strip = asm.routine(|asm| bytes_of_strip(asm, isa, copies));
    if isa == Isa::Avx2 {
        let mut lanes = |kind| asm.routine(|asm| lanes::emit(asm, copies, kind));
        let parts = [1, 2, 3, 4].map(|channels| lanes(Kind::Floats(channels)));
        let [bytes, words] = [Kind::Bytes, Kind::Words].map(lanes);
        return Routines { whole, parts, bytes: [bytes_of_strip, bytes], words: [words; 2] };
    }
    let lanes = asm.label();
    asm.place(lanes);
    let all = asm.routine(|asm| scattered(asm, copies));
    let [two, four] = [2, 4].map(|channels| asm.routine(|asm| masked(asm, copies, channels, lanes)));
    let bytes = [bytes_of_strip, asm.routine(|asm| bytes(asm, copies))];
    let words = [words_of_strip, words].map(|emit| asm.routine(|asm| emit(asm, copies)));
    Routines { whole, parts: [all, two, all, four], bytes, words }
}

/// The addresses of a strip's two rows.
fn strip_rows(asm: &mut Asm, element_bytes: i32) {
    asm.int_load(Int::Mov, false, RCX, RBP, block::J);
    asm.product(RCX, 12, surface::ROW_BYTES);
    asm.int_load(Int::Mov, false, RAX, RBP, block::I);
    asm.wide_times(RAX, RAX, element_bytes);
    asm.wide(Int::Add, RCX, RAX);
    asm.int_load(Int::Add, true, RCX, 12, surface::DATA);
    asm.wide(Int::Mov, RDX, RCX);
    asm.int_load(Int::Add, true, RDX, 12, surface::ROW_BYTES);
}

/// Whole elements of a strip, row by row.
fn strip(asm: &mut Asm, isa: Isa, copies: u8, channels: usize) {
    asm.int_store_imm(Int::Add, true, 12, surface::WHOLE, 1);
    strip_rows(asm, 4 * channels as i32);
    for (channel, register) in (0..).zip(CHANNELS).take(channels) {
        asm.int_load(Int::Mov, true, register, 12, surface::ROWS + 8 * channel);
    }
    for copy in 0..copies {
        let rows = [64 * i32::from(copy); 4];
        let tables = (RBP, block::QUADS);
        Stores { isa, asm, from: CHANNELS, to: [RCX, RDX], tables, masks: None }.store(&rows[..channels]);
        if copy + 1 < copies {
            let beside = group_bytes(channels as u32) as i32;
            asm.wide_imm(Int::Add, RCX, beside);
            asm.wide_imm(Int::Add, RDX, beside);
        }
    }
}

/// The channels of a strip's elements that lanes have written. Where the wavefront is no strip, it goes to `lanes`.
fn masked(asm: &mut Asm, copies: u8, channels: usize, lanes: Label) {
    asm.test(14, 14);
    asm.jump_if(Cond::Equal, lanes);
    asm.jump_cmp(true, 12, surface::COLUMNS, 0, Cond::NotEqual, lanes);
    written(asm);
    strip_rows(asm, 4 * channels as i32);
    let tables = (RBP, block::QUADS);
    for copy in 0..copies {
        for (channel, register) in (0..).zip(CHANNELS).take(channels) {
            asm.mask_from(1, register);
            asm.evex(BROADCAST, 0, 0, Rm::Literal(u32::MAX), 1, true, None);
            asm.vector(MOVUPS_STORE, 0, 0, Rm::Row(RBP, block::MASK_ROWS + 64 * channel));
            asm.wide_shift(SHR, register, 16);
        }
        // The masks take the same way as what they are for.
        for (to, row) in [(RSI, 0), (RDI, MASK_ROW)] {
            asm.wide(Int::Mov, to, RBP);
            asm.wide_imm(Int::Add, to, block::MASKS + row);
        }
        let rows: [i32; 4] = std::array::from_fn(|channel| block::MASK_ROWS + 64 * channel as i32);
        Stores { isa: Isa::Avx512, asm, from: [RBP; 4], to: [RSI, RDI], tables, masks: None }.store(&rows[..channels]);
        let from = [RSI, RDI, RAX, 15];
        for (channel, register) in (0..).zip(from).take(channels) {
            asm.int_load(Int::Mov, true, register, 12, surface::ROWS + 8 * channel);
        }
        let (rows, masks) = ([64 * i32::from(copy); 4], Some((RBP, block::MASKS)));
        Stores { isa: Isa::Avx512, asm, from, to: [RCX, RDX], tables, masks }.store(&rows[..channels]);
        let beside = group_bytes(channels as u32) as i32;
        asm.wide_imm(Int::Add, RCX, beside);
        asm.wide_imm(Int::Add, RDX, beside);
    }
}

/// The lanes that are stored, channel by channel, in the registers of channels; they are counted.
pub(super) fn written(asm: &mut Asm) {
    // Channels that elements do not have are written by no lane.
    for register in CHANNELS {
        asm.int_imm(register, 0);
    }
    let known = asm.label();
    for (channel, register) in (0..).zip(CHANNELS) {
        asm.jump_cmp(false, 12, surface::CHANNELS, channel, Cond::BelowEqual, known);
        asm.int_load(Int::Mov, true, RCX, 12, surface::WRITTEN + 8 * channel);
        asm.int_load(Int::Mov, true, register, RBX, mask_at(M::VALID));
        asm.int_load(Int::And, true, register, RCX, 0);
        asm.wide_popcount(RAX, register);
        asm.int_store(Int::Add, true, 12, surface::CHANNELS_STORED, RAX);
    }
    asm.place(known);
    any(asm);
    asm.wide_popcount(RCX, RAX);
    asm.int_store(Int::Add, true, 12, surface::ELEMENTS, RCX);
}

/// In each lane of a piece where its element begins, in bytes from element (0, 0) on. Only the lanes of rax have a meaning. Changes rsi.
fn places(asm: &mut Asm, copy: u8) {
    let (column, row) = (1, 2);
    let [tiles, done] = std::array::from_fn(|_| asm.label());
    for (register, of) in [(row, block::J), (column, block::I)] {
        asm.vector(MOVUPS_LOAD, register, 0, Rm::Row(RBP, of + 64 * i32::from(copy)));
    }
    asm.jump_cmp(true, 12, surface::COLUMNS, 0, Cond::NotEqual, tiles);
    asm.vector(MUL_I32, row, row, Rm::Each(12, surface::ROW_BYTES));
    asm.vector(MUL_I32, column, column, Rm::Each(12, surface::ELEMENT_BYTES));
    asm.vector(ADD_I32, PLACE, row, Rm::Reg(column));
    asm.jump(done);
    asm.place(tiles);
    let (of_column, of_row) = (3, 4);
    for (to, index, table) in [(of_column, column, surface::COLUMNS), (of_row, row, surface::ROW_PLACES)] {
        asm.int_load(Int::Mov, true, RSI, 12, table);
        asm.mask_from(1, RAX);
        asm.gather(to, 1, RSI, index, 0);
    }
    // Tiles add up; within a tile, bits are folded.
    asm.vector(XOR, PLACE, of_column, Rm::Reg(of_row));
    asm.vector(AND, PLACE, PLACE, Rm::Each(12, surface::WITHIN));
    for register in [of_column, of_row] {
        asm.vector(AND, register, register, Rm::Each(12, surface::WHOLE_TILES));
        asm.vector(ADD_I32, PLACE, PLACE, Rm::Reg(register));
    }
    asm.place(done);
}

/// rax = the lanes of which some channel is stored.
pub(super) fn any(asm: &mut Asm) {
    asm.wide(Int::Mov, RAX, CHANNELS[0]);
    CHANNELS[1..].iter().for_each(|&register| asm.wide(Int::Or, RAX, register));
}

/// The lanes that have written a channel, each where it lies.
fn scattered(asm: &mut Asm, copies: u8) {
    let value = 1;
    written(asm);
    asm.int_load(Int::Mov, true, RDX, 12, surface::DATA);
    for copy in 0..copies {
        any(asm);
        places(asm, copy);
        for (channel, register) in (0..).zip(CHANNELS) {
            let none = asm.label();
            asm.mask_from(1, register);
            asm.mask_test(1);
            asm.jump_if(Cond::Equal, none);
            asm.int_load(Int::Mov, true, RSI, 12, surface::ROWS + 8 * channel);
            asm.vector(MOVUPS_LOAD, value, 0, Rm::Row(RSI, 64 * i32::from(copy)));
            asm.scatter_bytes(value, 1, RDX, PLACE, 4 * channel);
            asm.place(none);
            asm.wide_shift(SHR, register, 16);
        }
    }
}

/// 0 to 1 as a whole number of 0 to `most`, rounded to nearest even; NaN gives 0. The number appears in the low bits of a sum that has no room for a fraction.
fn scale(asm: &mut Asm, register: u8, most: u32) {
    const MAGIC: f32 = 8_388_608.0;
    let factor = register + 1;
    asm.vector(MAX, register, register, Rm::Literal(0));
    asm.vector(MIN, register, register, Rm::Literal(1f32.to_bits()));
    let of_literals = if asm.isa == Isa::Avx2 { MOVUPS_LOAD } else { BROADCAST };
    asm.vector(of_literals, factor, 0, Rm::Literal((most as f32).to_bits()));
    asm.vector(FMADD213, register, factor, Rm::Literal(MAGIC.to_bits()));
    asm.vector(AND, register, register, Rm::Literal(u16::MAX.into()));
}

/// A channel of the lanes at an offset of its row, scaled. Changes the register behind, and rsi.
pub(super) fn scaled(asm: &mut Asm, register: u8, channel: i32, offset: i32, most: u32) {
    asm.int_load(Int::Mov, true, RSI, 12, surface::ROWS + 8 * channel);
    asm.vector(MOVUPS_LOAD, register, 0, Rm::Row(RSI, offset));
    scale(asm, register, most);
}

/// Four channels of 8 bits of the lanes at an offset of their rows, as dwords; the register that has them.
pub(super) fn combined(asm: &mut Asm, offset: i32) -> u8 {
    let (all, one, shift) = (9, 10, 11);
    for channel in 0..4 {
        scaled(asm, one, channel, offset, u8::MAX.into());
        asm.vector(BROADCAST, shift, 0, Rm::Each(12, surface::SHIFTS + 4 * channel));
        asm.vector(SHIFT_LEFT, one, one, Rm::Reg(shift));
        if channel == 0 {
            asm.vector(MOVAPS, all, 0, Rm::Reg(one));
        } else {
            asm.vector(OR, all, all, Rm::Reg(one));
        }
    }
    all
}

/// Four channels of 8 bits of a strip, row by row.
fn bytes_of_strip(asm: &mut Asm, isa: Isa, copies: u8) {
    asm.int_store_imm(Int::Add, true, 12, surface::WHOLE, 1);
    strip_rows(asm, 4);
    for copy in 0..copies {
        for piece in 0..isa.pieces() {
            let part = isa.bytes() * i32::from(piece);
            let all = combined(asm, 64 * i32::from(copy) + part);
            asm.vector(MOVUPS_STORE, all, 0, Rm::Row(RBP, block::MASK_ROWS + part));
        }
        let tables = (RBP, block::QUADS);
        Stores { isa, asm, from: [RBP; 4], to: [RCX, RDX], tables, masks: None }.store(&[block::MASK_ROWS]);
        let beside = group_bytes(1) as i32;
        asm.wide_imm(Int::Add, RCX, beside);
        asm.wide_imm(Int::Add, RDX, beside);
    }
}

/// Changes what some bits of dwords hold: `new` where `bits` are set, in the lanes of rax.
fn change(asm: &mut Asm, new: u8, bits: u8) {
    let old = 20;
    asm.mask_from(1, RAX);
    asm.gather_bytes(old, 1, RDX, PLACE, 0);
    asm.vector(AND_NOT_F32, old, bits, Rm::Reg(old));
    asm.vector(OR, new, new, Rm::Reg(old));
    asm.mask_from(1, RAX);
    asm.scatter_bytes(new, 1, RDX, PLACE, 0);
}

/// The channels of 8 bits that lanes have written, each where it lies.
fn bytes(asm: &mut Asm, copies: u8) {
    let (new, bits, one, its_bits) = (16, 17, 18, 21);
    written(asm);
    asm.int_load(Int::Mov, true, RDX, 12, surface::DATA);
    for copy in 0..copies {
        any(asm);
        places(asm, copy);
        for register in [new, bits] {
            asm.vector(XOR, register, register, Rm::Reg(register));
        }
        for (channel, register) in (0..).zip(CHANNELS) {
            scaled(asm, one, channel, 64 * i32::from(copy), u8::MAX.into());
            asm.vector(BROADCAST, its_bits, 0, Rm::Literal(u8::MAX.into()));
            asm.mask_from(1, register);
            for (all, one) in [(new, one), (bits, its_bits)] {
                asm.vector(SHIFT_LEFT, one, one, Rm::Each(12, surface::SHIFTS + 4 * channel));
                asm.evex(OR, all, all, Rm::Reg(one), 1, false, None);
            }
            asm.wide_shift(SHR, register, 16);
        }
        change(asm, new, bits);
    }
}

/// One channel of 16 bits of a strip, row by row.
fn words_of_strip(asm: &mut Asm, copies: u8) {
    let (value, order) = (16, 18);
    asm.int_store_imm(Int::Add, true, 12, surface::WHOLE, 1);
    strip_rows(asm, 2);
    asm.vector(MOVUPS_LOAD, order, 0, Rm::Row(RBP, block::QUADS));
    for copy in 0..copies {
        let beside = 16 * i32::from(copy);
        scaled(asm, value, 0, 64 * i32::from(copy), u16::MAX.into());
        asm.vector(PERMUTE, value, order, Rm::Reg(value));
        asm.vector(NARROW_I32, value, 0, Rm::Reg(value));
        asm.store_quarter(value, 0, RCX, beside);
        asm.store_quarter(value, 1, RDX, beside);
    }
}

/// The channels of 16 bits that lanes have written: the left lane of two stores both.
fn words(asm: &mut Asm, copies: u8) {
    let (new, bits, right) = (16, 17, 18);
    let neighbours = Some(0b10_11_00_01);
    written(asm);
    asm.int_load(Int::Mov, true, RDX, 12, surface::DATA);
    for copy in 0..copies {
        // The left lanes of those that are stored.
        asm.wide(Int::Mov, RAX, CHANNELS[0]);
        asm.wide_shift(SHR, RAX, 1);
        asm.wide(Int::Or, RAX, CHANNELS[0]);
        asm.int_op_imm(Int::And, RAX, 0x5555);
        places(asm, copy);
        scaled(asm, new, 0, 64 * i32::from(copy), u16::MAX.into());
        asm.mask_from(1, CHANNELS[0]);
        asm.evex(MOVAPS, new, 0, Rm::Reg(new), 1, true, None);
        asm.evex(BROADCAST, bits, 0, Rm::Literal(u16::MAX.into()), 1, true, None);
        for register in [new, bits] {
            asm.instruction(PERMUTE_IN_QUAD, right, 0, Rm::Reg(register), neighbours);
            asm.vector(SHIFT_LEFT, right, right, Rm::Literal(16));
            asm.vector(OR, register, register, Rm::Reg(right));
        }
        change(asm, new, bits);
        asm.wide_shift(SHR, CHANNELS[0], 16);
    }
}
