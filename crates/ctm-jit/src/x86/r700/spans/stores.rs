//! Routines that store a wavefront's exports to a target, whose description is at r12: whole elements of strips, and lanes one by one.

use super::block::{self, surface};
use super::code::mask_at;
use crate::r700::form::M;
use crate::x86::encode::{
    ADD_I32, Asm, BROADCAST, Cond, Gpr, Int, Label, MOVUPS_LOAD, MOVUPS_STORE, MUL_I32, RAX, RBP, RBX, RCX, RDI, RDX,
    RSI, Rm,
};
use crate::x86::frame::target::group_bytes;
use crate::x86::isa::Isa;
use crate::x86::quads::{MASK_ROW, Stores};
use crate::x86::r700::wide::RIGHT;

/// How elements are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many channels of single precision, 1 to 4, row by row.
    Floats(u8),
}

/// Where routines begin, within the code.
pub struct Routines {
    /// For whole elements of 1, 2 and 4 channels.
    whole: [usize; 3],
    /// For elements of 2 and 4 channels of which some lanes write some.
    masked: [usize; 2],
    /// For elements of any number of channels, wherever they lie.
    parts: usize,
}

impl Routines {
    /// Those for strips of whole elements, and for everything else.
    pub fn of(&self, kind: Kind) -> [usize; 2] {
        match kind {
            Kind::Floats(1) => [self.whole[0], self.parts],
            Kind::Floats(2) => [self.whole[1], self.masked[0]],
            Kind::Floats(4) => [self.whole[2], self.masked[1]],
            Kind::Floats(_) => [self.parts; 2],
        }
    }
}

/// Registers with the rows of channels; in [`parts`] with the lanes that are stored.
const CHANNELS: [Gpr; 4] = [8, 9, 10, 11];

/// All routines.
pub fn emit(asm: &mut Asm, copies: u8) -> Routines {
    let whole = [1, 2, 4].map(|channels| strip(asm, copies, channels));
    let lanes = asm.label();
    let parts = asm.code.len();
    asm.place(lanes);
    scattered(asm, copies);
    let masked = [2, 4].map(|channels| masked(asm, copies, channels, lanes));
    Routines { whole, masked, parts }
}

/// The addresses of a strip's two rows.
fn strip_rows(asm: &mut Asm, channels: usize) {
    asm.int_load(Int::Mov, false, RCX, RBP, block::J);
    asm.product(RCX, 12, surface::ROW_BYTES);
    asm.int_load(Int::Mov, false, RAX, RBP, block::I);
    asm.wide_times(RAX, RAX, 4 * channels as i32);
    asm.add_wide(RCX, RAX);
    asm.int_load(Int::Add, true, RCX, 12, surface::DATA);
    asm.move_wide(RDX, RCX);
    asm.int_load(Int::Add, true, RDX, 12, surface::ROW_BYTES);
}

/// Whole elements of a strip, row by row.
fn strip(asm: &mut Asm, copies: u8, channels: usize) -> usize {
    let entry = asm.code.len();
    asm.int_store_imm(Int::Add, true, 12, surface::WHOLE, 1);
    strip_rows(asm, channels);
    for (channel, register) in (0..).zip(CHANNELS).take(channels) {
        asm.int_load(Int::Mov, true, register, 12, surface::ROWS + 8 * channel);
    }
    for copy in 0..copies {
        let rows = [64 * i32::from(copy); 4];
        let tables = (RBP, block::QUADS);
        Stores { isa: Isa::Avx512, asm, from: CHANNELS, to: [RCX, RDX], tables, masks: None }.store(&rows[..channels]);
        if copy + 1 < copies {
            let beside = group_bytes(channels as u32) as i32;
            asm.wide_imm(Int::Add, RCX, beside);
            asm.wide_imm(Int::Add, RDX, beside);
        }
    }
    asm.ret();
    entry
}

/// The channels of a strip's elements that lanes have written. Where the wavefront is no strip, it goes to `lanes`.
fn masked(asm: &mut Asm, copies: u8, channels: usize, lanes: Label) -> usize {
    let entry = asm.code.len();
    asm.test(14, 14);
    asm.jump_if(Cond::Equal, lanes);
    written(asm);
    strip_rows(asm, channels);
    let tables = (RBP, block::QUADS);
    for copy in 0..copies {
        for (channel, register) in (0..).zip(CHANNELS).take(channels) {
            asm.mask_from(1, register);
            asm.evex(BROADCAST, 0, 0, Rm::Literal(u32::MAX), 1, true, None);
            asm.vector(MOVUPS_STORE, 0, 0, Rm::Row(RBP, block::MASK_ROWS + 64 * channel));
            asm.wide_shift(RIGHT, register, 16);
        }
        // The masks take the same way as what they are for.
        for (to, row) in [(RSI, 0), (RDI, MASK_ROW)] {
            asm.move_wide(to, RBP);
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
    asm.ret();
    entry
}

/// The lanes that are stored, channel by channel, in the registers of channels; they are counted.
fn written(asm: &mut Asm) {
    // Channels that elements do not have are written by no lane.
    for register in CHANNELS {
        asm.int_imm(register, 0);
    }
    let known = asm.label();
    for (channel, register) in (0..).zip(CHANNELS) {
        asm.int_store_imm(Int::Cmp, false, 12, surface::CHANNELS, channel);
        asm.jump_if(Cond::BelowEqual, known);
        asm.int_load(Int::Mov, true, RCX, 12, surface::WRITTEN + 8 * channel);
        asm.int_load(Int::Mov, true, register, RBX, mask_at(M::VALID));
        asm.int_load(Int::And, true, register, RCX, 0);
        asm.wide_popcount(RAX, register);
        asm.int_store(Int::Add, true, 12, surface::CHANNELS_STORED, RAX);
    }
    asm.place(known);
    asm.wide(Int::Mov, RAX, CHANNELS[0]);
    CHANNELS[1..].iter().for_each(|&register| asm.wide(Int::Or, RAX, register));
    asm.wide_popcount(RCX, RAX);
    asm.int_store(Int::Add, true, 12, surface::ELEMENTS, RCX);
}

/// The lanes that have written a channel, each where it lies.
fn scattered(asm: &mut Asm, copies: u8) {
    let (index, value) = (0, 1);
    written(asm);
    asm.int_load(Int::Mov, true, RDX, 12, surface::DATA);
    for copy in 0..copies {
        let at = |of: i32| Rm::Row(RBP, of + 64 * i32::from(copy));
        // In bytes, from element (0, 0) on.
        asm.vector(MOVUPS_LOAD, index, 0, at(block::J));
        asm.vector(MUL_I32, index, index, Rm::Each(12, surface::ROW_BYTES));
        asm.vector(MOVUPS_LOAD, value, 0, at(block::I));
        asm.vector(MUL_I32, value, value, Rm::Each(12, surface::ELEMENT_BYTES));
        asm.vector(ADD_I32, index, index, Rm::Reg(value));
        for (channel, register) in (0..).zip(CHANNELS) {
            let none = asm.label();
            asm.mask_from(1, register);
            asm.mask_test(1);
            asm.jump_if(Cond::Equal, none);
            asm.int_load(Int::Mov, true, RSI, 12, surface::ROWS + 8 * channel);
            asm.vector(MOVUPS_LOAD, value, 0, Rm::Row(RSI, 64 * i32::from(copy)));
            asm.scatter_bytes(value, 1, RDX, index, 4 * channel);
            asm.place(none);
            asm.wide_shift(RIGHT, register, 16);
        }
    }
    asm.ret();
}
