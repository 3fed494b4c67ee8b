//! Strips of instructions, part by part.
//!
//! The code of all parts is unrolled, or, where there are many, the strip is a loop over them.

use super::input::Lies;
use super::{ACTIVE, Emit, Rare};
use crate::codegen::x86::allocate::MOST_PIECES;
use crate::codegen::x86::lir::{self, Lir};
use crate::codegen::x86::masked::ins::Ins;
use crate::codegen::x86::masked::layout::{ACTIVE_ROWS, head};
use crate::codegen::x86::masked::wide::{SHL, SHR};
use crate::codegen::x86::vectors::{Destination, Vectors};
use ctm_ir::masked::M;
use ctm_x86::{
    AND_F32, BROADCAST, BROADCAST_BYTE, Cond, Gpr, Int, MOVUPS_LOAD, PSRA, RAX, RBX, RCX, RDI, RDX, RSI, Rm, SHIFT_IMM,
    SHIFT_LEFT,
};
use std::ops::Range;

/// Parts of eight lanes in a dword of a mask.
const PIECES_OF_DWORD: u8 = 4;
/// The mask that a strip makes.
const MADE: Gpr = 8;
/// The end of the loop over parts: rsi after the last one.
const END: Gpr = 9;
/// Instructions that are made for two parts before they are for the next two: different ones are close together, which
/// keeps all ports of a processor busy, and yet all parts are in sight of its scheduler.
const STRIP: usize = 8;

impl<'a> Emit<'a> {
    /// The instructions of a block, which has these strips.
    pub(super) fn runs(&mut self, list: &'a [Ins], runs: &[Range<usize>]) {
        let mut at = 0;
        let is_short = self.target().has_short_strips();
        let is_one = |run: &Range<usize>| is_short && matches!(list[run.clone()], [Ins::Lir(_)]);
        for strip in runs.chunk_by(|a, b| is_one(a) && is_one(b) && a.end == b.start) {
            list[at..strip[0].start].iter().for_each(|ins| self.effect(ins));
            at = strip[strip.len() - 1].end;
            if is_one(&strip[0]) {
                list[strip[0].start..at].chunks(STRIP).for_each(|strip| self.strip(strip));
            } else {
                self.run(&list[strip[0].clone()]);
            }
        }
        list[at..].iter().for_each(|ins| self.effect(ins));
    }

    /// Single instructions, for two parts and then for the next two.
    fn strip(&mut self, strip: &'a [Ins]) {
        for first in self.pieces().step_by(2) {
            for ins in strip {
                let Ins::Lir(lir) = ins else { continue };
                self.pieces().skip(first.into()).take(2).for_each(|piece| self.line(lir, piece));
            }
        }
    }

    fn run(&mut self, run: &'a [Ins]) {
        let is_looped = self.input.pieces > MOST_PIECES;
        let keeps = run.iter().any(|ins| matches!(ins, Ins::EndKeep));
        if keeps || run.iter().any(|ins| ins.works_under() == Some(M::ACTIVE)) {
            if self.lies == Lies::Nowhere {
                self.whole();
                if is_looped {
                    self.asm.int_store(Int::Mov, true, RBX, head::mask(M::ACTIVE), ACTIVE);
                }
            } else {
                self.spread();
            }
        }
        let made = run.iter().find_map(|ins| if let Ins::EndLanes(m) = *ins { Some(m) } else { None });
        let has_registers = self.target().has_mask_registers();
        if has_registers && keeps {
            self.keep(run);
        } else if let (true, [Ins::BeginRare(check), body @ ..]) = (has_registers, run) {
            self.rare_of_all(check, body);
        } else if is_looped {
            self.each_piece(|e| {
                // Shifts the first part down with each later one; the oldest part leaves the register.
                if made.is_some() {
                    e.asm.wide_shift(SHR, MADE, 8);
                }
                e.piece(run, 0);
            });
        } else {
            let mut from = 0;
            for to in self.cuts(run).into_iter().rev() {
                self.pieces().for_each(|piece| self.piece(&run[from..to], piece));
                from = to;
            }
        }
        if keeps {
            self.is_whole = false;
        }
        if let Some(m) = made {
            self.store_mask(m, MADE);
        }
    }

    /// The places where a strip is cut, the last one first: all parts are made up to there before the rest, so results
    /// that the next iteration of a loop waits for come sooner. No vector of a single part is live there, nor a mask
    /// register.
    fn cuts(&self, run: &[Ins]) -> Vec<usize> {
        let (mut cuts, mut alive, mut depth) = (vec![run.len()], Vec::new(), 0);
        let uses_masks = |ins: &Ins| matches!(ins, Ins::Lir(lir) if lir.uses_masks());
        for (at, ins) in run.iter().enumerate().rev() {
            match ins {
                Ins::EndLanes(_) | Ins::EndKeep | Ins::EndLeave(_) | Ins::EndRare => depth += 1,
                Ins::BeginLanes | Ins::BeginRare(_) => depth -= 1,
                _ => {}
            }
            let (written, sources) = ins.touches();
            alive.retain(|&vector| written != Some((vector, false)));
            lir::each_read(written, &sources, |vector| {
                if !self.input.wide[vector.index()] && !alive.contains(&vector) {
                    alive.push(vector);
                }
            });
            let stays = matches!(ins, Ins::Also(_)) || uses_masks(ins) && run[..at].last().is_some_and(uses_masks);
            if alive.is_empty() && depth == 0 && !stays {
                cuts.push(at);
            }
        }
        cuts
    }

    /// Runs a function for each part: rsi and rdi are the frame, moved by a part's bytes of rows, and by those of
    /// masks.
    pub(super) fn each_piece(&mut self, body: impl FnOnce(&mut Self)) {
        let (bytes, top) = (self.target().bytes(), self.asm.label());
        self.asm.wide(Int::Mov, RSI, RBX);
        self.asm.wide(Int::Mov, RDI, RBX);
        self.asm.wide(Int::Mov, END, RBX);
        self.asm.wide_imm(Int::Add, END, bytes * i32::from(self.input.pieces));
        self.asm.place(top);
        self.is_moved = true;
        body(self);
        self.is_moved = false;
        self.asm.wide_imm(Int::Add, RSI, bytes);
        self.asm.wide_imm(Int::Add, RDI, 1);
        self.asm.wide(Int::Cmp, RSI, END);
        self.asm.jump_if(Cond::NotEqual, top);
    }

    /// One part of a strip.
    fn piece(&mut self, run: &'a [Ins], piece: u8) {
        self.in_mask = None;
        let mut end = None;
        let mut at = 0;
        while let Some(ins) = run.get(at) {
            at += 1;
            match *ins {
                Ins::Split => end.take().into_iter().for_each(|end| self.asm.place(end)),
                Ins::Lir(ref lir) => {
                    if matches!(lir, Lir::StopIfNone(_)) {
                        self.end = *end.get_or_insert_with(|| self.asm.label());
                    }
                    self.line(lir, piece);
                }
                Ins::BeginRare(ref check) => {
                    let rest = run[at..].iter();
                    let body = &run[at..at + rest.take_while(|ins| !matches!(ins, Ins::EndRare)).count()];
                    at += body.len() + 1;
                    self.rare_of_piece(check, body, piece);
                }
                Ins::Set { dst, src, under: M::EXISTING } => self.copy(dst, src, piece),
                Ins::Set { dst, src, under } => self.set_under(dst, src, under, piece),
                Ins::SetTwo { op, dst, a, b, under } => self.two_under(op, dst, [a, b], under, piece),
                Ins::Number(dst, m) => {
                    let number = Rm::Each(RBX, head::mask(m));
                    self.make(dst, piece, |e, dst| e.asm.vector(BROADCAST, dst, 0, number));
                }
                Ins::Keep { row, src, under } => self.store_under(row, src, under, piece),
                Ins::GetRelative { dst, from, base, index } => self.get_relative(dst, from, base, index, piece),
                Ins::EndLanes(_) => self.collect(piece),
                Ins::EndKeep => self.keep_piece(piece),
                Ins::EndLeave(under) => self.leave_piece(under, piece),
                Ins::Elements { lookup, dst, channels, index } => self.elements(lookup, (dst, channels), index, piece),
                Ins::BeginLanes | Ins::EndRare | Ins::Also(_) => {}
                // No strip has them (`Ins::is_whole`).
                _ => debug_assert!(false, "{ins:?} concerns the whole wavefront"),
            }
        }
        end.into_iter().for_each(|end| self.asm.place(end));
    }

    /// The bits of a comparison in mask 1 join those of the other parts.
    fn collect(&mut self, piece: u8) {
        let lanes = self.target().lanes as u8;
        let to = if piece == 0 && !self.is_moved { MADE } else { RAX };
        self.mask_bits(to);
        if to == RAX {
            self.asm.wide_shift(SHL, RAX, if self.is_moved { 64 - lanes } else { lanes * piece });
            self.asm.wide(Int::Or, MADE, RAX);
        }
    }

    /// The bits of mask 1, in a general register.
    fn mask_bits(&mut self, to: Gpr) {
        if self.target().has_mask_registers() {
            return self.asm.mask_to(to, 1);
        }
        let mask = self.mask();
        self.asm.signs(to, mask);
    }

    /// Keeps the active lanes of mask 1 active, where masks are vectors.
    fn keep_piece(&mut self, piece: u8) {
        let mask = self.mask();
        match self.active_place(piece) {
            Destination::Register(active) => self.asm.vector(AND_F32, active, mask, Rm::Reg(active)),
            Destination::Memory(row) => {
                self.asm.vector(AND_F32, mask, mask, row);
                self.store(mask, row);
                self.in_mask = Some(M::ACTIVE);
            }
            Destination::Nowhere => {}
        }
    }

    /// Bails out where lanes of mask 1 are in another mask, too. Changes rax, rcx and rdx.
    fn leave_piece(&mut self, under: M, piece: u8) {
        let done = self.asm.label();
        self.mask_bits(RDX);
        self.asm.test(RDX, RDX);
        self.asm.jump_if(Cond::Equal, done);
        if self.target().has_mask_registers() {
            let lanes = self.lane_mask(under, piece);
            self.asm.mask_to(RCX, lanes);
        } else {
            let lanes = self.lane_signs(under, piece);
            self.asm.signs(RCX, lanes);
            self.in_mask = None;
        }
        self.asm.test(RDX, RCX);
        self.asm.jump_if(Cond::NotEqual, self.bail_out);
        self.asm.place(done);
    }

    /// A part of a mask as sign bits, in a register.
    pub(super) fn lane_signs(&mut self, under: M, piece: u8) -> u8 {
        let mask = self.mask();
        if self.in_mask == Some(under) {
            return mask;
        }
        if under == M::ACTIVE && self.input.active.is_some() {
            let signs = self.active_signs(piece, mask);
            if signs == mask {
                self.in_mask = Some(under);
            }
            return signs;
        }
        self.spread_piece(under, piece, mask);
        self.in_mask = Some(under);
        mask
    }

    /// A part of a mask as sign bits. May change rax.
    pub(super) fn spread_piece(&mut self, m: M, piece: u8, to: u8) {
        match self.mask_location(m) {
            Some(from) if !self.is_moved => {
                self.spread_dword(from, piece, to);
                self.asm.vector(SHIFT_LEFT, to, to, Rm::LaneShifts(piece % PIECES_OF_DWORD));
            }
            _ => {
                let byte = if self.is_moved {
                    Rm::Row(RDI, head::mask(m))
                } else {
                    Rm::Row(RBX, head::mask(m) + i32::from(piece))
                };
                self.asm.vex(BROADCAST_BYTE, to, 0, byte, None);
                self.asm.vector(SHIFT_LEFT, to, to, Rm::LaneShifts(0));
            }
        }
    }

    /// The dword of a mask in a general register that has the bits of a part, in all lanes.
    fn spread_dword(&mut self, from: Gpr, piece: u8, to: u8) {
        let mut from = from;
        if piece >= PIECES_OF_DWORD {
            self.asm.wide(Int::Mov, RAX, from);
            self.asm.wide_shift(SHR, RAX, 32);
            from = RAX;
        }
        self.asm.spread(to, from);
    }

    /// The vector of the active lanes from their general register.
    pub(super) fn spread_active(&mut self) {
        let (scratch, mask) = (self.target().scratch(), self.mask());
        for piece in self.pieces() {
            if piece % PIECES_OF_DWORD == 0 {
                self.spread_dword(ACTIVE, piece, scratch);
            }
            let place = self.active_place(piece);
            let to = if let Destination::Register(register) = place { register } else { mask };
            self.asm.vector(SHIFT_LEFT, to, scratch, Rm::LaneShifts(piece % PIECES_OF_DWORD));
            // All bits of a lane, as comparisons make them.
            self.asm.instruction(SHIFT_IMM, PSRA, to, Rm::Reg(to), Some(31));
            if let Destination::Memory(row) = place {
                self.store(to, row);
            }
        }
    }

    /// Tests whether a rare case has occurred in a part.
    fn rare_of_piece(&mut self, check: &Lir, body: &'a [Ins], piece: u8) {
        let [from, back] = std::array::from_fn(|_| self.asm.label());
        self.line(check, piece);
        self.mask_bits(RAX);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, from);
        self.asm.place(back);
        self.rare.push(Rare { from, back, pieces: piece..piece + 1, is_moved: self.is_moved, check: *check, body });
    }

    /// The location of a part of the active lanes as sign bits.
    pub(super) fn active_place(&self, piece: u8) -> Destination {
        match self.input.active.and_then(|active| self.register(active, piece)) {
            Some(register) => Destination::Register(register),
            None => Destination::Memory(self.work_row(ACTIVE_ROWS, piece)),
        }
    }

    /// A part of the active lanes as sign bits: its register, or this one.
    pub(super) fn active_signs(&mut self, piece: u8, scratch: u8) -> u8 {
        match self.active_place(piece) {
            Destination::Register(register) => register,
            Destination::Memory(row) => {
                self.asm.vector(MOVUPS_LOAD, scratch, 0, row);
                scratch
            }
            Destination::Nowhere => scratch,
        }
    }
}
