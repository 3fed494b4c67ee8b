//! From vector instructions to machine code: operands, masks, memory, calls. Flow control is in [`super::jumps`].
//!
//! One pass over a block does the same for `copies` groups at a time, so that the latencies of one hide behind the others. A copy has its
//! own registers, its own part of the frame, and its running lanes in a general register. A vector takes as many registers as its
//! lanes need, its *pieces*; a [`Unit`] is one piece of one copy, and most instructions are emitted once for each unit.
//!
//! | register | holds |
//! |---|---|
//! | rbx | the frame |
//! | rbp | the floating-point constants |
//! | r10 | bits of a mask, while its pieces are collected |
//! | r12, r13, r14 | running lanes of copies 0, 1, 2; 0 while a copy waits. With mask registers, the same in k4, k5, k6 |
//! | r15 | which copies are here: the others wait at other blocks. Where copies never part: running lanes of copy 3, as k7 |
//! | the last vector registers | scratch ([`Isa`]) |
//!
//! What single instructions become is in `lines`; masks of lanes are the back ends' own: `avx512`.

use super::flows::Flows;
use super::frame::{Layout, head, part};
use super::isa::{Isa, MAX_COPIES};
use super::kept::{self, Kept};
use super::lir::{Group, Lines, Src, Vars};
use super::lookups::{Call, Fetch};
use super::needs::Needs;
use super::span;
use super::together::{Aside, Decision};
use super::vectors::Vectors;
use super::whole::Body;
use crate::codegen::x86::allocate::Locations;
use crate::codegen::x86::asm::{Asm, Cond, Gpr, Int, Label, RAX, RBP, RBX, RCX, RDI, Rm};
use crate::ir::x1k::{BlockId, Code, End, Flow, Target, Var};
use crate::launch::lanes::Mask;
use crate::passes::table::Pass;

/// What code returns: the groups have ended.
pub const DONE: u32 = 0;
/// They have to be left to the reference interpreter.
const BAIL_OUT: u32 = 1;
/// They have ended, but some result fell below the range of single precision: what the processor notes in MXCSR.
pub const UNDERFLOW: u32 = 0x10;

/// Bytes that an instruction takes for each unit, more or less.
const BYTES_OF_LINE: usize = 10;

/// What the emitter is told about the program.
pub struct Input<'a> {
    /// What to make code for.
    pub isa: Isa,
    /// Its form.
    pub code: &'a Code,
    /// Its instructions.
    pub lines: &'a [Lines],
    /// Its variables.
    pub vars: &'a Vars,
    /// Where vectors live.
    pub locations: &'a Locations,
    /// The frame.
    pub layout: Layout,
    /// Copies.
    pub copies: u8,
    /// Lanes of a group.
    pub existing: Mask,
    /// Variables with start values, in order.
    pub start: &'a [Var],
    /// Variables that are live at the start.
    pub live_in: Vec<Var>,
    /// Its fetches, by number.
    pub fetches: &'a [Fetch],
    /// Output components, in order.
    pub outputs: &'a [usize],
    /// Blocks during which copies may wait elsewhere.
    pub waited: &'a [bool],
    /// What is known of flow control.
    pub flows: &'a Flows,
    /// Nothing may fall below the range of single precision.
    pub assumed: bool,
    /// Count instructions down, as the budget may run out, and look whether to stop.
    pub fuel: bool,
    /// Count visits of blocks.
    pub counters: bool,
    /// All copies go the same way.
    pub joint: bool,
    /// Code goes over groups that lie side by side by itself.
    pub spans: bool,
}

/// One piece of the vectors of one copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Which copy.
    pub copy: u8,
    /// Which piece: lanes `piece * lanes of a register` and on.
    pub piece: u8,
}

/// Code under construction.
pub struct Emit<'a> {
    /// The program.
    pub input: &'a Input<'a>,
    /// The code.
    pub asm: Asm,
    /// Where each block begins.
    pub blocks: Vec<Label>,
    /// Where the group is left to the reference interpreter.
    pub bail_out: Label,
    /// The end of all copies.
    pub done: Label,
    /// Where the next block is chosen.
    pub dispatch: Label,
    /// Literals and constants that have registers.
    pub constants: Kept<u8>,
    /// Copies whose running lanes are where masks without registers are kept.
    pub cached: [bool; MAX_COPIES as usize],
    /// What is known of flow control.
    pub flows: &'a Flows,
    /// The block whose code is being made.
    pub at: usize,
    /// What stands behind all blocks.
    pub asides: Vec<Aside>,
    /// The same of votes for all copies.
    pub joint_asides: Vec<(Label, Flow, usize)>,
    /// Where nobody of the first two copies stays, where those go on who do because of others, and where all jump.
    pub first_two_at_rest: Vec<(Label, Label, Label)>,
    /// Which masks are looked at, where all copies go the same way.
    pub needs: Option<Needs>,
    /// Some flow-control instruction reads the ALU result from the frame.
    pub reads_result: bool,
    /// Fetches that may have to be calls.
    pub calls: Vec<Call>,
    /// Where elements of four channels are loaded, if some lookup needs it.
    pub elements: Option<Label>,
    /// Loops whose bodies have a second code, for when all lanes run.
    pub bodies: Vec<Body>,
    /// Where blocks that end in a decision for all copies make it, with masks.
    pub deciding: Vec<Label>,
    /// The code that is being made runs only with all lanes.
    pub whole: bool,
}

/// The code of a program, and how many vector registers it uses between instructions.
pub fn emit(input: &Input<'_>) -> (Vec<u8>, u8) {
    let mut asm = Asm::new(input.isa);
    let units = usize::from(input.copies * input.isa.pieces());
    asm.code.reserve(input.lines.iter().map(|lines| lines.lir.len()).sum::<usize>() * units * BYTES_OF_LINE);
    let blocks = input.code.blocks.iter().map(|_| asm.label()).collect();
    let deciding = input.code.blocks.iter().map(|_| asm.label()).collect();
    let (bail_out, done, dispatch) = (asm.label(), asm.label(), asm.label());
    let constants = Kept::default();
    let (flows, asides) = (input.flows, Vec::new());
    let mut emit = Emit {
        input,
        asm,
        blocks,
        bail_out,
        done,
        dispatch,
        constants,
        cached: [false; MAX_COPIES as usize],
        flows,
        at: 0,
        asides,
        joint_asides: Vec::new(),
        first_two_at_rest: Vec::new(),
        needs: input.joint.then(|| Needs::of(input.code, input.lines, input.outputs)),
        reads_result: true,
        calls: Vec::new(),
        elements: None,
        bodies: Vec::new(),
        deciding,
        whole: false,
    };
    emit.choose_constants();
    emit.choose_bodies();
    emit.reads_result = !input.joint || emit.any_reads_result();
    let again = emit.prologue();
    for (index, block) in input.code.blocks.iter().enumerate() {
        let label = emit.blocks[index];
        emit.asm.place(label);
        emit.enter(BlockId(index as u16));
        let decision = emit.lines_of(index);
        match (block.end, decision) {
            (End::Stop, _) => emit.stop(),
            (End::Next(Target::Block(next)), _) if input.joint => emit.joint_go(next),
            (End::Flow(flow), decision) if input.joint => emit.joint_flow(&flow, block, index, decision),
            (End::Next(target), _) => emit.go(target, true),
            (End::Flow(flow), Some(decision)) => emit.decide_together(&flow, index, decision),
            (End::Flow(flow), None) if input.flows.begins(&flow, index) => emit.begin_together(&flow),
            (End::Flow(flow), None) if input.flows.ends(&flow) => emit.end_together(&flow, block, index),
            (End::Flow(flow), None) => emit.flow(&flow, block, true),
        }
    }
    emit.emit_asides();
    emit.emit_joint_asides();
    emit.emit_bodies();
    emit.emit_calls();
    emit.epilogue(again);
    let registers = emit.registers();
    (emit.asm.finish(), registers)
}

impl Emit<'_> {
    /// How many vector registers hold something between instructions.
    pub fn registers(&self) -> u8 {
        let vectors = self.input.locations.bundles * self.input.copies * self.input.isa.pieces();
        self.constants.iter().map(|(_, register)| register + 1).fold(vectors, u8::max)
    }

    /// The running lanes of a copy.
    pub const fn running(copy: u8) -> Gpr {
        12 + copy
    }

    /// Whether copies may diverge.
    const fn parts(&self) -> bool {
        self.input.copies > 1 && !self.input.joint
    }

    /// The copies.
    pub fn copies(&self) -> std::ops::Range<u8> {
        0..self.input.copies
    }

    /// The units of a copy.
    pub fn units(&self, copy: u8) -> impl Iterator<Item = Unit> + use<> {
        (0..self.input.isa.pieces()).map(move |piece| Unit { copy, piece })
    }

    /// The units of all copies.
    pub fn all_units(&self) -> impl Iterator<Item = Unit> + use<> {
        let pieces = self.input.isa.pieces();
        self.copies().flat_map(move |copy| (0..pieces).map(move |piece| Unit { copy, piece }))
    }

    /// A mask or number of a copy.
    pub fn part(&self, copy: u8, offset: i32) -> i32 {
        self.input.layout.part(copy) + offset
    }

    /// Gives registers that are left to the literals and constants with the most uses.
    fn choose_constants(&mut self) {
        let uses = if Pass::Kept.is_on() { kept::uses(&self.input.code.blocks, self.input.lines) } else { Vec::new() };
        let first = self.input.locations.bundles * self.input.copies * self.input.isa.pieces();
        let first = if self.input.spans { first.max(span::FREE) } else { first };
        // Without a loop, loading a constant before its one use gains nothing.
        let registers = first..self.input.isa.registers();
        let often = uses.iter().filter(|(_, n)| *n > 1);
        often.zip(registers).for_each(|(&(src, _), register)| self.constants.add(src, register));
    }

    /// What comes before the first pass; gives where a pass begins.
    fn prologue(&mut self) -> Label {
        for register in [RBX, RBP, 12, 13, 14, 15] {
            self.asm.push(register);
        }
        self.asm.move_stack(-8);
        self.asm.move_wide(RBX, RDI);
        self.asm.int_load(Int::Mov, true, RBP, RBX, head::CONSTANTS);
        self.asm.mxcsr(true, RBX, head::HOST_MXCSR);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        // They have to be loaded from where they are before they count as being in registers.
        let constants = std::mem::take(&mut self.constants);
        for (src, register) in constants.iter() {
            self.load_into(register, src, Unit { copy: 0, piece: 0 });
        }
        self.constants = constants;
        let again = self.asm.label();
        self.asm.place(again);
        self.begin_pass();
        again
    }

    /// The beginning of a pass: masks, and what variables hold.
    fn begin_pass(&mut self) {
        if self.parts() {
            // The last pass may have fewer groups.
            self.asm.int_imm(15, (1 << self.input.copies) - 1);
            for groups in (1..self.input.copies).rev() {
                let more = self.asm.label();
                self.asm.int_store_imm(Int::Cmp, false, RBX, head::GROUPS, groups.into());
                self.asm.jump_if(Cond::Above, more);
                self.asm.int_imm(15, (1 << groups) - 1);
                self.asm.place(more);
            }
            self.asm.int_store_imm(Int::Mov, false, RBX, head::WAITING, super::jumps::NOWHERE);
        }
        self.asm.int_load(Int::Mov, true, RDI, RBX, head::STARTS);
        for copy in self.copies() {
            self.asm.int_load(Int::Mov, false, Self::running(copy), RBX, self.part(copy, part::EXISTING));
        }
        let all = self.asm.label();
        if self.input.joint && self.input.copies > 1 {
            self.asm.int_store_imm(Int::Cmp, false, RBX, head::GROUPS, self.input.copies.into());
            self.asm.jump_if(Cond::AboveEqual, all);
        }
        for copy in 1..self.input.copies {
            let here = self.asm.label();
            if self.input.joint {
                self.asm.int_store_imm(Int::Cmp, false, RBX, head::GROUPS, copy.into());
                self.asm.jump_if(Cond::Above, here);
            } else {
                self.asm.test_imm(15, 1 << copy);
                self.asm.jump_if(Cond::NotEqual, here);
                self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::PENDING), super::jumps::NOWHERE);
            }
            self.asm.int_imm(Self::running(copy), 0);
            self.asm.place(here);
        }
        self.asm.place(all);
        let predicates = self.needs.as_ref().is_none_or(|needs| needs.predicates);
        let written = self.needs.as_ref().is_none_or(|needs| needs.written);
        for copy in self.copies() {
            for mask in (0..5).filter(|&mask| if mask == 4 { self.reads_result } else { predicates }) {
                self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::PREDICATES + 4 * mask), 0);
            }
            for &output in self.input.outputs.iter().filter(|_| written) {
                let at = self.part(copy, part::WRITTEN + 4 * output as i32);
                self.asm.int_store_imm(Int::Mov, false, RBX, at, 0);
            }
            self.start_values(copy);
            self.sync(copy);
        }
    }

    fn epilogue(&mut self, again: Label) {
        if self.parts() {
            self.dispatcher();
        }
        let leave = self.asm.label();
        self.asm.place(self.done);
        if self.input.assumed {
            self.asm.mxcsr(true, RBX, head::MXCSR);
            self.asm.int_load(Int::Mov, false, RAX, RBX, head::MXCSR);
            self.asm.int_op_imm(Int::And, RAX, UNDERFLOW as i32);
            self.asm.jump_if(Cond::NotEqual, leave);
        }
        if self.input.spans {
            let (left, end) = (self.asm.label(), self.asm.label());
            self.after_pass(again, left, end);
            self.asm.place(left);
            self.asm.int_imm(RAX, span::LEFT);
            self.asm.jump(leave);
            self.asm.place(end);
        }
        self.asm.int_imm(RAX, DONE);
        self.asm.jump(leave);
        self.asm.place(self.bail_out);
        self.asm.int_imm(RAX, BAIL_OUT);
        self.asm.place(leave);
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.zero_upper();
        self.asm.move_stack(8);
        for register in [15, 14, 13, 12, RBP, RBX] {
            self.asm.pop(register);
        }
        self.asm.ret();
    }

    /// Counts a visit.
    fn enter(&mut self, id: BlockId) {
        let tally = self.input.code.blocks[id.index()].tally;
        if self.input.fuel {
            let issued = tally.instructions() as i32;
            self.asm.int_store_imm(Int::Sub, true, RBX, head::FUEL, issued);
            self.asm.jump_if(Cond::Below, self.bail_out);
            self.asm.int_load(Int::Mov, true, RAX, RBX, head::STOP);
            self.asm.int_store_imm(Int::Cmp, false, RAX, 0, 0);
            self.asm.jump_if(Cond::NotEqual, self.bail_out);
        }
        if self.flows.iterations[id.index()].is_none() {
            self.count_visit(id, Int::Add);
        }
    }

    /// Counts a visit of a block by the copies that are here, or takes it away: uses rax, rcx, rdi.
    pub fn count_visit(&mut self, id: BlockId, how: Int) {
        if !self.input.counters || self.input.code.blocks[id.index()].tally.instructions() == 0 {
            return;
        }
        let visits = i32::from(id.0) * 24;
        self.asm.int_load(Int::Mov, true, RDI, RBX, head::VISITS);
        if self.input.copies == 1 {
            self.asm.int_store_imm(how, true, RDI, visits, 1);
        } else {
            self.asm.popcount(RAX, 15);
            self.asm.int_store(how, true, RDI, visits, RAX);
        }
        for copy in self.copies() {
            let lanes = if copy == 0 { RAX } else { RCX };
            self.asm.int_load(Int::Mov, false, lanes, RBX, self.part(copy, part::COVERED));
            self.asm.int(Int::And, lanes, Self::running(copy));
            self.asm.popcount(lanes, lanes);
            if copy > 0 {
                self.asm.int(Int::Add, RAX, RCX);
            }
        }
        self.asm.int_store(how, true, RDI, visits + 8, RAX);
        if self.input.code.watches_idle_lanes {
            // There is one copy only.
            self.asm.int_load(Int::Mov, false, RAX, RBX, self.part(0, part::COVERED));
            self.asm.popcount(RAX, RAX);
            self.asm.int_store(how, true, RDI, visits + 16, RAX);
        }
    }

    /// What a block does before it ends; gives the decision that is left, if it ends in one for all copies.
    pub fn lines_of(&mut self, index: usize) -> Option<Decision> {
        self.cached = [false; MAX_COPIES as usize];
        self.at = index;
        let decision = self.decision(index);
        let lines = &self.input.lines[index];
        for group in &lines.groups[..lines.groups.len() - usize::from(decision.is_some())] {
            self.group(lines, group, self.input.waited[index]);
        }
        decision
    }

    fn group(&mut self, lines: &Lines, group: &Group, waited: bool) {
        let lir = &lines.lir[group.first..group.end];
        if group.masks {
            for unit in self.all_units() {
                let end = self.asm.label();
                lir.iter().for_each(|lir| self.line(lir, unit, end, waited));
                self.asm.place(end);
            }
        } else {
            for lir in lir {
                for unit in self.all_units() {
                    let end = self.bail_out;
                    self.line(lir, unit, end, waited);
                }
            }
        }
    }

    /// The program ends for the copies that are here.
    fn stop(&mut self) {
        for copy in self.copies() {
            let skip = self.asm.label();
            if self.parts() {
                self.asm.test_imm(15, 1 << copy);
                self.asm.jump_if(Cond::Equal, skip);
                self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::PENDING), super::jumps::NOWHERE);
            }
            for (place, &output) in self.input.outputs.iter().enumerate() {
                let Some(vector) = self.input.vars.of(crate::launch::lanes::output_var(output)) else { continue };
                for unit in self.units(copy) {
                    let from = self.reg(Src::Vector(vector), unit, self.input.isa.scratch());
                    let at = self.piece(unit, self.input.layout.outputs + 64 * place as i32);
                    self.store(from, Rm::Row(RBX, at));
                }
            }
            self.asm.place(skip);
        }
        self.asm.jump(if self.parts() { self.dispatch } else { self.done });
    }
}
