//! Groups that lie side by side, in one row of quads or by turns in two, in one call: after a pass, code stores the outputs itself and begins with the next groups.
//!
//! What a span needs stands in the frame: how many groups are left, what the variables hold that have start values, and where the
//! outputs of the next pass go. Passes that code cannot finish itself end the call before anything of them has been stored: when something
//! fell below the range of single precision, and on AVX2 when some lane did not write an output.

use super::emit::Emit;
use super::frame::{head, part, target};
use super::isa::Isa;
use super::quads::{self, Stores};
use super::vectors::{Place, Vectors};
use crate::codegen::x86::asm::{
    ADD, BROADCAST, Cond, Gpr, Int, Label, MOVUPS_LOAD, MOVUPS_STORE, RAX, RBX, RCX, RDI, RDX, RSI, Rm,
};
use crate::launch::lanes::{Row, output_var};
use ctm_isa::x1k::OUTPUTS;
use std::sync::atomic::AtomicU32;

/// What code returns: it leaves the outputs of a pass of a span to its caller.
pub const LEFT: u32 = 2;

/// How a frame says that there is no span.
pub const NO_SPAN: u32 = 0;
/// A span whose start values take the same step from group to group.
pub const STEPS: u32 = 1;
/// A span whose start values lie ready for all passes.
pub const READY: u32 = 2;

/// How outputs are stored.
pub mod form {
    /// Not at all.
    pub const NONE: u32 = 0;
    /// By the caller.
    pub const LEFT: u32 = 3;
}

/// Copies whose outputs are still to be looked at.
const COPIES_LEFT: Gpr = 8;
/// Which part of the frame, less the offset of the first.
const PART: Gpr = 9;
/// Bytes to the next group's elements, and from there to those of the one behind it.
const STEP: [Gpr; 2] = [RSI, RDI];

/// Where the masks of a group's elements go.
const MASKS: [Gpr; 2] = [10, 11];
/// The lanes that have written some channel.
const ANY: Gpr = 12;

/// Groups that lie side by side, and where their outputs go.
pub struct Span<'a> {
    /// How many.
    pub groups: u32,
    /// In so many rows of quads, 1 or 2, that give one by turns.
    pub rows: u8,
    /// What they start with.
    pub starts: StartsOfSpan<'a>,
    /// Where each output goes.
    pub targets: [TargetOfSpan<'a>; OUTPUTS],
}

/// What variables hold at the start of a span's passes.
#[derive(Clone, Copy)]
pub enum StartsOfSpan<'a> {
    /// Rows of the first pass, copy by copy, and what each of a copy's gains from pass to pass.
    Steps {
        /// Rows.
        first: &'a [Row],
        /// Gains.
        steps: &'a [f32],
    },
    /// Rows of all passes, copy by copy; as many in the last pass as in the others.
    Ready(&'a [Row]),
}

/// Where an output of a span goes.
#[derive(Clone, Copy)]
pub enum TargetOfSpan<'a> {
    /// Nowhere.
    None,
    /// The caller writes it.
    Left,
    /// Into rows of elements.
    Rows {
        /// From the first element of the groups to the last one.
        rows: &'a [AtomicU32],
        /// From row to row.
        row_elements: usize,
        /// 1, 2 or 4.
        channels: u8,
    },
}

impl TargetOfSpan<'_> {
    pub(super) const fn form(&self) -> u32 {
        match self {
            Self::None => form::NONE,
            Self::Left => form::LEFT,
            Self::Rows { channels, .. } => *channels as u32,
        }
    }
}

/// What code has stored of elements that were not wholly written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Partial {
    /// Groups that had some.
    pub groups: u64,
    /// Elements of these groups of which something was written.
    pub elements: u64,
    /// Channels of these.
    pub channels: u64,
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// All groups have stored their outputs.
    Done,
    /// So many have not: the groups of one pass, whose results are in the frame ([`super::Native::collect`]), and those behind them.
    Left {
        /// Groups.
        left: u32,
    },
    /// As [`Self::Left`], but the pass has no results: careful code has to run it.
    Underflow {
        /// Groups.
        left: u32,
    },
    /// As [`Self::Underflow`], but the reference interpreter has to run it.
    BailOut {
        /// Groups.
        left: u32,
    },
}

impl Emit<'_> {
    /// The rows of start values of one copy.
    fn start_bytes(&self) -> i32 {
        64 * self.input.start.len() as i32
    }

    /// Variables that are live at the start and have a value: their vectors, and which start value it is.
    fn started(&self) -> Vec<(super::lir::Vector, Option<i32>)> {
        let live = self.input.live_in.iter().filter_map(|&var| Some((self.input.vars.of(var)?, var)));
        let place = |var| self.input.start.iter().position(|&v| v == var).map(|place| 64 * place as i32);
        live.map(|(vector, var)| (vector, place(var))).collect()
    }

    /// What the variables of a copy hold at the start. The start values' address is in rdi.
    pub fn start_values(&mut self, copy: u8) {
        for (vector, given) in self.started() {
            for unit in self.units(copy) {
                let at = i32::from(copy) * self.start_bytes() + self.input.isa.bytes() * i32::from(unit.piece);
                let from = given.map_or(Rm::Literal(0), |given| Rm::Row(RDI, at + given));
                match self.place(vector, unit) {
                    Place::Register(register) => self.load_rm(register, from, 0),
                    Place::Memory(row) => {
                        let scratch = self.input.isa.scratch();
                        self.load_rm(scratch, from, 0);
                        self.store(scratch, row);
                    }
                    Place::Nowhere => {}
                }
            }
        }
    }

    /// What follows a pass whose results count: the end, or the next pass of a span, which begins at `again`. `left`: where the
    /// pass is left to the caller; `end`: behind the span.
    pub fn after_pass(&mut self, again: Label, left: Label, end: Label) {
        self.asm.int_store_imm(Int::Cmp, false, RBX, head::SPAN, NO_SPAN as i32);
        self.asm.jump_if(Cond::Equal, end);
        let partial = self.needs.as_ref().is_none_or(|needs| needs.written);
        let masked = partial && self.input.isa == Isa::Avx512;
        if partial && !masked {
            self.check_whole(left);
        }
        for target in 0..OUTPUTS {
            self.store_target(target, masked, left);
        }
        self.asm.int_store_imm(Int::Sub, false, RBX, head::GROUPS, self.input.copies.into());
        self.asm.jump_if(Cond::BelowEqual, end);
        self.next_starts();
        let covered = self.needs.as_ref().is_none_or(|needs| needs.covered);
        for copy in self.copies().filter(|_| covered) {
            let covered = self.part(copy, part::COVERED);
            self.asm.int_store_imm(Int::Mov, false, RBX, covered, self.input.existing.into());
        }
        self.asm.jump(again);
    }

    /// `COPIES_LEFT` = how many copies have run.
    fn copies_that_ran(&mut self) {
        let all = self.asm.label();
        self.asm.int_load(Int::Mov, false, COPIES_LEFT, RBX, head::GROUPS);
        self.asm.int_op_imm(Int::Cmp, COPIES_LEFT, self.input.copies.into());
        self.asm.jump_if(Cond::BelowEqual, all);
        self.asm.int_imm(COPIES_LEFT, self.input.copies.into());
        self.asm.place(all);
        self.asm.move_wide(PART, RBX);
    }

    /// Goes on with the next copy at `to`, if there is one.
    fn next_copy(&mut self, to: Label) {
        self.asm.wide_imm(Int::Add, PART, self.input.layout.stride);
        self.asm.int_op_imm(Int::Sub, COPIES_LEFT, 1);
        self.asm.jump_if(Cond::NotEqual, to);
    }

    /// Leaves passes to the caller in which some lane is not covered, or has not written something.
    fn check_whole(&mut self, left: Label) {
        self.copies_that_ran();
        let next = self.asm.label();
        self.asm.place(next);
        self.asm.int_load(Int::Mov, false, RAX, PART, self.part(0, part::COVERED));
        for &output in self.input.outputs {
            let written = self.part(0, part::WRITTEN + 4 * output as i32);
            self.asm.int_load(Int::And, false, RAX, PART, written);
        }
        self.asm.int_op_imm(Int::And, RAX, self.input.existing.into());
        self.asm.int_op_imm(Int::Cmp, RAX, self.input.existing.into());
        self.asm.jump_if(Cond::NotEqual, left);
        self.next_copy(next);
    }

    /// Stores what the copies have written to an output; `masked`: some lanes may not have written all of it.
    fn store_target(&mut self, number: usize, masked: bool, left: Label) {
        let layout = self.input.layout;
        let row = |channel: usize| {
            let place = self.input.outputs.iter().position(|&output| output == 4 * number + channel)?;
            self.input.vars.of(output_var(4 * number + channel))?;
            Some(layout.part(0) + layout.outputs + 64 * place as i32)
        };
        let rows: [Option<i32>; 4] = std::array::from_fn(row);
        if rows == [None; 4] {
            return;
        }
        let (at, done) = (head::TARGETS + target::SIZE * number as i32, self.asm.label());
        self.asm.int_load(Int::Mov, false, RAX, RBX, at + target::FORM);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, done);
        self.asm.int_load(Int::Mov, true, RCX, RBX, at + target::POINTER);
        self.asm.move_wide(RDX, RCX);
        self.asm.int_load(Int::Mov, true, RSI, RBX, at + target::ROW_BYTES);
        self.asm.add_wide(RDX, RSI);
        for (step, register) in STEP.into_iter().enumerate() {
            self.asm.int_load(Int::Mov, true, register, RBX, at + target::STEPS + 8 * step as i32);
        }
        for channels in [1, 2, 4] {
            let rows: Vec<i32> = rows[..channels].iter().copied().flatten().collect();
            if rows.len() < channels {
                continue;
            }
            let other = self.asm.label();
            self.asm.int_op_imm(Int::Cmp, RAX, channels as i32);
            self.asm.jump_if(Cond::NotEqual, other);
            self.copies_that_ran();
            let next = self.asm.label();
            self.asm.place(next);
            let stored = self.asm.label();
            if masked {
                self.store_written(number, &rows, stored);
            }
            self.store_elements(&rows, None);
            self.asm.place(stored);
            for to in [RCX, RDX] {
                self.asm.add_wide(to, STEP[0]);
            }
            for (to, from) in [(RAX, STEP[0]), (STEP[0], STEP[1]), (STEP[1], RAX)] {
                self.asm.move_wide(to, from);
            }
            self.next_copy(next);
            self.asm.int_store(Int::Mov, true, RBX, at + target::POINTER, RCX);
            self.asm.jump(done);
            self.asm.place(other);
        }
        self.asm.jump(left);
        self.asm.place(done);
    }

    /// Stores elements of a copy, whose channels' vectors lie at these offsets in its part.
    fn store_elements(&mut self, rows: &[i32], masks: Option<(Gpr, i32)>) {
        let (isa, asm, tables) = (self.input.isa, &mut self.asm, (RBX, self.input.layout.tables));
        Stores { isa, asm, from: [PART; 4], to: [RCX, RDX], tables, masks }.store(rows);
    }

    /// Stores what the lanes of a copy have written of elements, and goes to `stored`; falls through where all lanes have written all of them.
    fn store_written(&mut self, number: usize, rows: &[i32], stored: Label) {
        let (first, all) = (self.part(0, part::WRITTEN + 16 * number as i32), self.asm.label());
        let covered = self.part(0, part::COVERED);
        let written = |emit: &mut Self, how: Int, channel: usize| {
            emit.asm.int_load(how, false, RAX, PART, first + 4 * channel as i32);
        };
        self.asm.int_load(Int::Mov, false, RAX, PART, covered);
        (0..rows.len()).for_each(|channel| written(self, Int::And, channel));
        self.asm.int_op_imm(Int::And, RAX, self.input.existing.into());
        self.asm.int_op_imm(Int::Cmp, RAX, self.input.existing.into());
        self.asm.jump_if(Cond::Equal, all);
        let at = head::TARGETS + target::SIZE * number as i32;
        self.asm.int_store_imm(Int::Add, true, RBX, at + target::PARTIAL, 1);
        let vectors = self.input.layout.written;
        self.asm.int_imm(ANY, 0);
        for channel in 0..rows.len() {
            written(self, Int::Mov, channel);
            self.asm.int_load(Int::And, false, RAX, PART, covered);
            self.asm.int_op_imm(Int::And, RAX, self.input.existing.into());
            self.asm.int(Int::Or, ANY, RAX);
            self.asm.mask_from(1, RAX);
            self.asm.evex(BROADCAST, 0, 0, Rm::Literal(u32::MAX), 1, true, None);
            self.asm.vector(MOVUPS_STORE, 0, 0, Rm::Row(RBX, vectors + 64 * channel as i32));
            self.asm.popcount(RAX, RAX);
            self.asm.int_store(Int::Add, true, RBX, at + target::CHANNELS, RAX);
        }
        self.asm.popcount(RAX, ANY);
        self.asm.int_store(Int::Add, true, RBX, at + target::ELEMENTS, RAX);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, stored);
        // The masks take the same way as what they are for.
        let elements = vectors + 4 * 64;
        for (row, register) in (0..).zip(MASKS) {
            self.asm.move_wide(register, RBX);
            self.asm.wide_imm(Int::Add, register, elements + quads::MASK_ROW * row);
        }
        let of_masks: Vec<i32> = (0..rows.len() as i32).map(|channel| vectors + 64 * channel).collect();
        let (isa, asm, tables) = (self.input.isa, &mut self.asm, (RBX, self.input.layout.tables));
        Stores { isa, asm, from: [RBX; 4], to: MASKS, tables, masks: None }.store(&of_masks);
        self.store_elements(rows, Some((RBX, elements)));
        self.asm.jump(stored);
        self.asm.place(all);
    }

    /// The start values of the next pass.
    fn next_starts(&mut self) {
        let pass_bytes = self.start_bytes() * i32::from(self.input.copies);
        if pass_bytes == 0 {
            return;
        }
        let (ready, done) = (self.asm.label(), self.asm.label());
        self.asm.int_store_imm(Int::Cmp, false, RBX, head::SPAN, STEPS as i32);
        self.asm.jump_if(Cond::NotEqual, ready);
        self.asm.int_load(Int::Mov, true, RDI, RBX, head::STARTS);
        // Registers of vectors are free between passes.
        let (step, sum) = (0, 1);
        for place in 0..self.input.start.len() as i32 {
            self.asm.vector(MOVUPS_LOAD, step, 0, Rm::Row(RBX, self.input.layout.steps + 64 * place));
            for unit in self.all_units() {
                let at = 64 * place
                    + i32::from(unit.copy) * self.start_bytes()
                    + self.input.isa.bytes() * i32::from(unit.piece);
                self.asm.vector(ADD, sum, step, Rm::Row(RDI, at));
                self.store(sum, Rm::Row(RDI, at));
            }
        }
        self.asm.jump(done);
        self.asm.place(ready);
        self.asm.int_store_imm(Int::Add, true, RBX, head::STARTS, pass_bytes);
        self.asm.place(done);
    }
}

/// Registers that no constant may have, as what follows a pass uses them.
pub const FREE: u8 = quads::REGISTERS + 1;
