//! From vector instructions to machine code: operands, masks, memory, calls. Flow control is in [`super::jumps`].
//!
//! One pass over a block does the same for `copies` groups at a time, so that the latencies of one hide behind the others. A copy has its
//! own registers, its own part of the frame, and its running lanes in a general register.
//!
//! | register | holds |
//! |---|---|
//! | rbx | the frame |
//! | rbp | the floating-point constants |
//! | r12, r13, r14 | running lanes of copies 0, 1, 2; 0 while a copy waits |
//! | r15 | which copies are here: the others wait at other blocks |
//! | zmm28-31 | scratch |
//! | k1-k3 | masks within one group of instructions |
//! | k4-k6 | the running lanes of copies 0, 1, 2, once loaded in a block |

use super::alloc::{Home, Homes};
use super::encode::{
    ADD, Asm, BLEND_MASK, BROADCAST, CLASS, Cond, FMADD132, FMADD213, FMADD231, FMSUB132, FMSUB213, FMSUB231,
    FNMADD132, FNMADD213, FNMADD231, FNMSUB132, FNMSUB213, FNMSUB231, Gpr, Int, Label, MOVAPS, MOVUPS_LOAD,
    MOVUPS_STORE, RAX, RBP, RBX, RCX, RDI, RDX, RSI, Rm, SHIFT_IMM, V, XOR,
};
use super::lir::{Group, K, Lines, Lir, Negated, Src, Vars, Vector};
use super::select::Rows;
use crate::form::{BlockId, Code, End, Under, Var};
use crate::lanes::Mask;

/// The most copies.
pub const MAX_COPIES: u8 = 3;
/// Registers that vectors may have.
pub const REGISTERS: u8 = 28;

/// Offsets in the frame's head.
pub mod head {
    /// Pointer to the floating-point constants.
    pub const CONSTANTS: i32 = 0;
    /// Pointer to the integer constants.
    pub const INTS: i32 = 8;
    /// Pointer to the function that fetches.
    pub const FETCH: i32 = 16;
    /// Pointer for that function.
    pub const CONTEXT: i32 = 24;
    /// Pointer to the visits of blocks.
    pub const VISITS: i32 = 32;
    /// Instructions that are left.
    pub const FUEL: i32 = 40;
    /// The host's MXCSR.
    pub const HOST_MXCSR: i32 = 48;
    /// Ours.
    pub const MXCSR: i32 = 52;
    /// The first block at which a copy waits.
    pub const WAITING: i32 = 56;
    /// Which copies there are at the start.
    pub const PRESENT: i32 = 60;
    /// Its size.
    pub const SIZE: i32 = 64;
}

/// Offsets in a copy's part: masks and numbers of 32 bits, then rows.
pub mod part {
    use ctm_isa::x1k::{BRANCH_COUNTER_FULL, LOOP_STACK, OUTPUTS};

    /// Covered lanes.
    pub const COVERED: i32 = 0;
    /// Predicate bits; the ALU result follows as the fifth.
    pub const PREDICATES: i32 = 4;
    /// The ALU result.
    pub const RESULT: i32 = PREDICATES + 16;
    /// Lanes that wrote each output component.
    pub const WRITTEN: i32 = RESULT + 4;
    /// Levels of branch-inactive lanes.
    pub const LEVELS: i32 = WRITTEN + 4 * (4 * OUTPUTS as i32 + 1);
    /// Lanes that left each loop.
    pub const BROKE: i32 = LEVELS + 4 * (BRANCH_COUNTER_FULL as i32 + 2);
    /// Lanes that left an iteration of each loop.
    pub const CONTINUED: i32 = BROKE + 4 * LOOP_STACK as i32;
    /// Iterations left of each loop.
    pub const COUNTS: i32 = CONTINUED + 4 * LOOP_STACK as i32;
    /// aL of each loop.
    pub const LOOP_VARIABLES: i32 = COUNTS + 4 * LOOP_STACK as i32;
    /// The running lanes of a copy that waits.
    pub const RUNNING: i32 = LOOP_VARIABLES + 4 * LOOP_STACK as i32;
    /// The block at which it waits.
    pub const PENDING: i32 = RUNNING + 4;
    /// Where rows begin.
    pub const ROWS: i32 = (PENDING + 4 + 63) & !63;
}

/// Where things lie in the frame.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Start values, in the artifact's order.
    pub start: i32,
    /// Output components, in the artifact's order.
    pub outputs: i32,
    /// Vectors without a register.
    pub spills: i32,
    /// A copy's part.
    pub stride: i32,
    /// Registers during calls.
    pub save: i32,
    /// All of it.
    pub size: i32,
}

impl Layout {
    /// Rows of fetches: they come first.
    pub const ROWS: Rows = Rows { coordinates: part::ROWS, texels: part::ROWS + 2 * 64 };

    /// For so many start values, outputs and spilled vectors.
    pub fn new(start: usize, outputs: usize, spills: u32, copies: u8) -> Self {
        let start_at = part::ROWS + 6 * 64;
        let outputs_at = start_at + 64 * start as i32;
        let spills_at = outputs_at + 64 * outputs as i32;
        let stride = spills_at + 64 * spills as i32;
        let save = head::SIZE + stride * i32::from(copies);
        Self { start: start_at, outputs: outputs_at, spills: spills_at, stride, save, size: save + 64 * 32 }
    }

    /// A copy's part.
    pub fn part(&self, copy: u8) -> i32 {
        head::SIZE + self.stride * i32::from(copy)
    }
}

/// What the emitter is told about the program.
pub struct Input<'a> {
    /// Its form.
    pub code: &'a Code,
    /// Its instructions.
    pub lines: &'a [Lines],
    /// Its variables.
    pub vars: &'a Vars,
    /// Where vectors live.
    pub homes: &'a Homes,
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
    /// Output components, in order.
    pub outputs: &'a [usize],
    /// Blocks during which copies may wait elsewhere.
    pub waited: &'a [bool],
    /// Count instructions down, as the budget may run out.
    pub fuel: bool,
    /// Count visits of blocks.
    pub counters: bool,
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
    pub refer: Label,
    /// The end of all copies.
    pub done: Label,
    /// Where the next block is chosen.
    pub dispatch: Label,
    /// Literals and constants that have registers.
    constants: Vec<(Src, u8)>,
    /// Copies whose running lanes are in their mask register.
    cached: [bool; MAX_COPIES as usize],
}

/// The code of a program.
pub fn emit(input: &Input<'_>) -> Vec<u8> {
    let mut asm = Asm::default();
    let blocks = input.code.blocks.iter().map(|_| asm.label()).collect();
    let (refer, done, dispatch) = (asm.label(), asm.label(), asm.label());
    let constants = Vec::new();
    let mut emit = Emit { input, asm, blocks, refer, done, dispatch, constants, cached: [false; MAX_COPIES as usize] };
    emit.choose_constants();
    emit.prologue();
    for (index, block) in input.code.blocks.iter().enumerate() {
        let label = emit.blocks[index];
        emit.asm.place(label);
        emit.cached = [false; MAX_COPIES as usize];
        emit.enter(BlockId(index as u16));
        for group in &input.lines[index].groups {
            emit.group(&input.lines[index], group, input.waited[index]);
        }
        match block.end {
            End::Stop => emit.stop(),
            End::Next(target) => emit.go(target, Some(index)),
            End::Flow(flow) => emit.flow(&flow, block, index),
        }
    }
    emit.epilogue();
    emit.asm.finish()
}

impl Emit<'_> {
    /// The running lanes of a copy.
    pub const fn running(copy: u8) -> Gpr {
        12 + copy
    }

    /// The copies.
    pub fn copies(&self) -> std::ops::Range<u8> {
        0..self.input.copies
    }

    /// A mask or number of a copy.
    pub fn part(&self, copy: u8, offset: i32) -> i32 {
        self.input.layout.part(copy) + offset
    }

    /// Gives registers that are left to the literals and constants with the most uses.
    fn choose_constants(&mut self) {
        let mut uses: Vec<(Src, u64)> = Vec::new();
        for (block, lines) in self.input.code.blocks.iter().zip(self.input.lines) {
            let weight = 1u64 << (3 * block.frames.frames.len());
            let mut note = |src: Src| {
                if let Src::Literal(_) | Src::Const(_) = src {
                    match uses.iter_mut().find(|(s, _)| *s == src) {
                        Some((_, n)) => *n += weight,
                        None => uses.push((src, weight)),
                    }
                }
            };
            for lir in &lines.lir {
                match *lir {
                    Lir::Two(_, _, a, b) | Lir::Test(_, _, _, a, b, _) | Lir::Blend(_, _, a, b) => {
                        note(a);
                        note(b);
                    }
                    Lir::Fma(_, _, abc) => abc.into_iter().for_each(&mut note),
                    Lir::Copy(_, a) | Lir::One(_, _, a, _) => note(a),
                    _ => {}
                }
            }
        }
        uses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let first = self.input.homes.bundles * self.input.copies;
        // Without a loop, loading a constant before its one use gains nothing.
        let registers = first..REGISTERS;
        self.constants = uses.iter().filter(|(_, n)| *n > 1).map(|(src, _)| *src).zip(registers).collect();
    }

    fn prologue(&mut self) {
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
        for &(src, register) in &constants {
            self.load_into(register, src, 0, None);
        }
        self.constants = constants;
        if self.input.copies > 1 {
            self.asm.int_load(Int::Mov, false, 15, RBX, head::PRESENT);
            self.asm.int_store_imm(Int::Mov, false, RBX, head::WAITING, super::jumps::NOWHERE);
        }
        for copy in self.copies() {
            self.asm.int_imm(Self::running(copy), u32::from(self.input.existing));
            if copy > 0 {
                let here = self.asm.label();
                self.asm.test_imm(15, 1 << copy);
                self.asm.jump_if(Cond::NotEqual, here);
                self.asm.int_imm(Self::running(copy), 0);
                self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::PENDING), super::jumps::NOWHERE);
                self.asm.place(here);
            }
            for mask in 0..5 {
                self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::PREDICATES + 4 * mask), 0);
            }
            for &output in self.input.outputs {
                let at = self.part(copy, part::WRITTEN + 4 * output as i32);
                self.asm.int_store_imm(Int::Mov, false, RBX, at, 0);
            }
            for var in self.input.live_in.clone() {
                let Some(vector) = self.input.vars.of(var) else { continue };
                let given = self.input.start.iter().position(|&v| v == var);
                let src = given.map_or(Src::Literal(0), |place| Src::Row(self.input.layout.start + 64 * place as i32));
                self.copy(vector, src, copy);
            }
        }
    }

    fn epilogue(&mut self) {
        if self.input.copies > 1 {
            self.dispatcher();
        }
        let leave = self.asm.label();
        self.asm.place(self.done);
        self.asm.int_imm(RAX, 0);
        self.asm.jump(leave);
        self.asm.place(self.refer);
        self.asm.int_imm(RAX, 1);
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
        let visits = i32::from(id.0) * 24;
        if self.input.fuel {
            let issued = tally.instructions() as i32;
            self.asm.int_store_imm(Int::Sub, true, RBX, head::FUEL, issued);
            self.asm.jump_if(Cond::Below, self.refer);
        }
        if !self.input.counters || tally.instructions() == 0 {
            return;
        }
        let single = self.input.copies == 1;
        self.asm.int_load(Int::Mov, true, RDI, RBX, head::VISITS);
        if single {
            self.asm.int_store_imm(Int::Add, true, RDI, visits, 1);
        } else {
            self.asm.popcount(RAX, 15);
            self.asm.int_store(Int::Add, true, RDI, visits, RAX);
        }
        for copy in self.copies() {
            self.asm.int_load(Int::Mov, false, RAX, RBX, self.part(copy, part::COVERED));
            self.asm.int(Int::And, RAX, Self::running(copy));
            self.asm.popcount(RAX, RAX);
            self.asm.int_store(Int::Add, true, RDI, visits + 8, RAX);
            if self.input.code.watches_idle_lanes {
                self.asm.int_load(Int::Mov, false, RAX, RBX, self.part(copy, part::COVERED));
                self.asm.popcount(RAX, RAX);
                self.asm.int_store(Int::Add, true, RDI, visits + 16, RAX);
            }
        }
    }

    fn group(&mut self, lines: &Lines, group: &Group, waited: bool) {
        let lir = &lines.lir[group.first..group.end];
        if group.masks {
            for copy in self.copies() {
                let end = self.asm.label();
                lir.iter().for_each(|lir| self.line(lir, copy, end, waited));
                self.asm.place(end);
            }
        } else {
            for lir in lir {
                for copy in self.copies() {
                    let end = self.refer;
                    self.line(lir, copy, end, waited);
                }
            }
        }
    }

    /// The register of a vector, if it has one.
    fn register(&self, vector: Vector, copy: u8) -> Option<u8> {
        match self.input.homes.of[vector.index()] {
            Home::Register(bundle) => Some(bundle * self.input.copies + copy),
            Home::Row(_) | Home::Nowhere => None,
        }
    }

    /// The row of a vector that has no register.
    fn row(&self, vector: Vector, copy: u8) -> Rm {
        let row = match self.input.homes.of[vector.index()] {
            Home::Row(row) => row as i32,
            Home::Register(_) | Home::Nowhere => 0,
        };
        Rm::Row(RBX, self.input.layout.part(copy) + self.input.layout.spills + 64 * row)
    }

    /// An operand as instructions take it last.
    fn rm(&self, src: Src, copy: u8) -> Rm {
        if let Some(&(_, register)) = self.constants.iter().find(|(s, _)| *s == src) {
            return Rm::Reg(register);
        }
        match src {
            Src::Vector(vector) => self.register(vector, copy).map_or_else(|| self.row(vector, copy), Rm::Reg),
            Src::Literal(bits) => Rm::Literal(bits),
            Src::Const(index) => Rm::Each(RBP, 4 * i32::from(index)),
            Src::Row(offset) => Rm::Row(RBX, self.input.layout.part(copy) + offset),
        }
    }

    /// Loads an operand into a register, under a mask if there is one.
    fn load_into(&mut self, register: u8, src: Src, copy: u8, mask: Option<K>) {
        let rm = self.rm(src, copy);
        let k = mask.unwrap_or(0);
        match rm {
            Rm::Reg(from) if from == register && mask.is_none() => {}
            Rm::Reg(_) => self.asm.evex(MOVAPS, register, 0, rm, k, false, None),
            Rm::Literal(0) if mask.is_none() => self.asm.vector(XOR, register, register, Rm::Reg(register)),
            Rm::Row(..) => self.asm.evex(MOVUPS_LOAD, register, 0, rm, k, false, None),
            Rm::Each(..) | Rm::Literal(_) => self.asm.evex(BROADCAST, register, 0, rm, k, false, None),
        }
    }

    /// An operand in a register: its own, or the scratch register.
    fn reg(&mut self, src: Src, copy: u8, scratch: u8) -> u8 {
        match self.rm(src, copy) {
            Rm::Reg(register) => register,
            Rm::Row(..) | Rm::Each(..) | Rm::Literal(_) => {
                self.load_into(scratch, src, copy, None);
                scratch
            }
        }
    }

    /// Makes a vector with `make`, which is given the register to write; stores it when the vector has none.
    fn make(&mut self, vector: Vector, copy: u8, make: impl FnOnce(&mut Self, u8)) {
        match self.register(vector, copy) {
            Some(register) => make(self, register),
            None => {
                make(self, 28);
                let row = self.row(vector, copy);
                self.asm.vector(MOVUPS_STORE, 28, 0, row);
            }
        }
    }

    /// Changes a vector in part.
    fn change(&mut self, vector: Vector, copy: u8, make: impl FnOnce(&mut Self, u8)) {
        let loaded = self.register(vector, copy).is_none();
        if loaded {
            let row = self.row(vector, copy);
            self.asm.vector(MOVUPS_LOAD, 28, 0, row);
        }
        self.make(vector, copy, make);
    }

    fn copy(&mut self, vector: Vector, src: Src, copy: u8) {
        match self.register(vector, copy) {
            Some(register) => self.load_into(register, src, copy, None),
            None => {
                let from = self.reg(src, copy, 28);
                let row = self.row(vector, copy);
                self.asm.vector(MOVUPS_STORE, from, 0, row);
            }
        }
    }

    /// The lanes of an effect in a general register: the running lanes' own, or rax.
    fn lanes(&mut self, under: Under, copy: u8) -> Gpr {
        let running = Self::running(copy);
        if under.predicate.is_none() && !under.inactive && !under.covered {
            return running;
        }
        match under.predicate {
            Some((bit, inverted)) => {
                let at = self.part(copy, part::PREDICATES + 4 * i32::from(bit));
                self.asm.int_load(Int::Mov, false, RAX, RBX, at);
                if inverted {
                    self.asm.not(RAX);
                }
                if under.inactive {
                    self.asm.int_op_imm(Int::And, RAX, i32::from(self.input.existing));
                } else {
                    self.asm.int(Int::And, RAX, running);
                }
            }
            None if under.inactive => self.asm.int_imm(RAX, u32::from(self.input.existing)),
            None => self.asm.int(Int::Mov, RAX, running),
        }
        if under.covered {
            self.asm.int_load(Int::And, false, RAX, RBX, self.part(copy, part::COVERED));
        }
        RAX
    }

    /// The lanes of an effect in a mask register.
    fn lane_mask(&mut self, under: Under, copy: u8) -> K {
        let lanes = self.lanes(under, copy);
        if lanes != Self::running(copy) {
            self.asm.mask_from(1, lanes);
            return 1;
        }
        let cache = 4 + copy;
        if !self.cached[usize::from(copy)] {
            self.asm.mask_from(cache, lanes);
            self.cached[usize::from(copy)] = true;
        }
        cache
    }

    /// rax = base + aL.
    fn relative(&mut self, frame: Option<u8>, base: u8, copy: u8) {
        match frame {
            Some(frame) => {
                let at = self.part(copy, part::LOOP_VARIABLES + 4 * i32::from(frame));
                self.asm.int_load(Int::Mov, false, RAX, RBX, at);
                self.asm.int_op_imm(Int::Add, RAX, i32::from(base));
            }
            None => self.asm.int_imm(RAX, u32::from(base)),
        }
    }

    #[allow(clippy::too_many_lines, reason = "one row for each instruction")]
    fn line(&mut self, lir: &Lir, copy: u8, end: Label, waited: bool) {
        match *lir {
            Lir::Copy(dst, a) => self.copy(dst, a, copy),
            Lir::Two(op, dst, a, b) => self.two(op, dst, a, b, copy),
            Lir::One(op, dst, a, imm) => self.make(dst, copy, |e, dst| {
                let rm = e.rm(a, copy);
                e.asm.evex(op, dst, 0, rm, 0, false, imm);
            }),
            Lir::Shift(how, dst, a, count) => self.make(dst, copy, |e, dst| {
                let rm = e.rm(a, copy);
                e.asm.evex(SHIFT_IMM, how, dst, rm, 0, false, Some(count));
            }),
            Lir::Fma(negated, dst, abc) => self.fma(negated, dst, abc, copy),
            Lir::Test(op, how, k, a, b, under) => {
                let a = self.reg(a, copy, 29);
                let rm = self.rm(b, copy);
                self.asm.evex(op, k, a, rm, under, false, Some(how));
            }
            Lir::Class(classes, k, a, under) => {
                let rm = self.rm(a, copy);
                self.asm.evex(CLASS, k, 0, rm, under, false, Some(classes));
            }
            Lir::Or(k, a, b) => self.asm.mask_or(k, a, b),
            Lir::AndNot(k, a, b) => self.asm.mask_and_not(k, a, b),
            Lir::Blend(dst, k, yes, no) => self.make(dst, copy, |e, dst| {
                let no = e.reg(no, copy, 29);
                let rm = e.rm(yes, copy);
                e.asm.evex(BLEND_MASK, dst, no, rm, k, false, None);
            }),
            Lir::Merge(dst, k, a) => self.change(dst, copy, |e, dst| e.load_into(dst, a, copy, Some(k))),
            Lir::MergeTwo(op, dst, k, a, b) => self.change(dst, copy, |e, dst| {
                let a = e.reg(a, copy, 29);
                let rm = e.rm(b, copy);
                e.asm.evex(op, dst, a, rm, k, false, None);
            }),
            Lir::StopIfNone(k) => {
                self.asm.mask_test(k);
                self.asm.jump_if(Cond::Equal, end);
            }
            Lir::Set(dst, src, None) => self.copy(dst, src, copy),
            Lir::Set(dst, src, Some(under)) => {
                let k = self.lane_mask(under, copy);
                if let Some(register) = self.register(dst, copy) {
                    self.load_into(register, src, copy, Some(k));
                } else {
                    let from = self.reg(src, copy, 28);
                    let row = self.row(dst, copy);
                    self.asm.evex(MOVUPS_STORE, from, 0, row, k, false, None);
                }
            }
            Lir::Written(output, under) => {
                let at = self.part(copy, part::WRITTEN + 4 * i32::from(output));
                let lanes = self.lanes(under, copy);
                self.asm.int_store(Int::Or, false, RBX, at, lanes);
            }
            Lir::SetMask(bit, k, under) => self.set_mask(bit, k, under, copy),
            Lir::Kill(k, under) => {
                let lanes = self.lanes(under, copy);
                self.asm.mask_to(RCX, k);
                self.asm.int(Int::And, RCX, lanes);
                self.asm.not(RCX);
                self.asm.int_store(Int::And, false, RBX, self.part(copy, part::COVERED), RCX);
            }
            Lir::Store(offset, src) => {
                let from = self.reg(src, copy, 28);
                let row = Rm::Row(RBX, self.input.layout.part(copy) + offset);
                self.asm.vector(MOVUPS_STORE, from, 0, row);
            }
            Lir::Fetch(fetch, under) => self.fetch(fetch, under, copy),
            Lir::Guard { frame, base, limit } => {
                let skip = self.asm.label();
                if waited {
                    self.asm.test_imm(15, 1 << copy);
                    self.asm.jump_if(Cond::Equal, skip);
                }
                self.relative(frame, base, copy);
                self.asm.int_op_imm(Int::Cmp, RAX, limit as i32);
                self.asm.jump_if(Cond::AboveEqual, self.refer);
                self.asm.place(skip);
            }
            Lir::ConstRelative { frame, base, channel, dst } => {
                self.relative_in_range(frame, base, copy, 255);
                self.asm.shift_left(RAX, 4);
                self.asm.add_wide(RAX, RBP);
                self.make(dst, copy, |e, dst| {
                    e.asm.evex(BROADCAST, dst, 0, Rm::Each(RAX, 4 * i32::from(channel)), 0, false, None);
                });
            }
            Lir::TempRelative { frame, base, channel, dst } => {
                self.relative_in_range(frame, base, copy, 127);
                let at = self.variable_row(channel, copy);
                self.make(dst, copy, |e, dst| e.asm.vector(MOVUPS_LOAD, dst, 0, Rm::Row(RAX, at)));
            }
            Lir::SetTempRelative { frame, base, channel, src, under } => {
                let k = self.lane_mask(under, copy);
                let from = self.reg(src, copy, 28);
                self.relative_in_range(frame, base, copy, 127);
                let at = self.variable_row(channel, copy);
                self.asm.evex(MOVUPS_STORE, from, 0, Rm::Row(RAX, at), k, false, None);
            }
        }
    }

    /// rax = base + aL, kept within the file whatever a copy that waits has there.
    fn relative_in_range(&mut self, frame: Option<u8>, base: u8, copy: u8, mask: i32) {
        self.relative(frame, base, copy);
        self.asm.int_op_imm(Int::And, RAX, mask);
    }

    /// Adds the row of register rax; gives the offset of its channel.
    fn variable_row(&mut self, channel: u8, copy: u8) -> i32 {
        self.asm.shift_left(RAX, 8);
        self.asm.add_wide(RAX, RBX);
        self.input.layout.part(copy) + self.input.layout.spills + 64 * i32::from(channel)
    }

    fn two(&mut self, op: V, dst: Vector, a: Src, b: Src, copy: u8) {
        // A memory operand goes last, where the order does not matter.
        let commutes = matches!(
            op,
            ADD | XOR | super::encode::MUL | super::encode::AND | super::encode::OR | super::encode::ADD_I32
        );
        let in_memory = |e: &Self, src| !matches!(e.rm(src, copy), Rm::Reg(_));
        let (a, b) = if commutes && in_memory(self, a) && !in_memory(self, b) { (b, a) } else { (a, b) };
        self.make(dst, copy, |e, dst| {
            let a = e.reg(a, copy, 29);
            let rm = e.rm(b, copy);
            e.asm.vector(op, dst, a, rm);
        });
    }

    fn fma(&mut self, negated: Negated, dst: Vector, [a, b, c]: [Src; 3], copy: u8) {
        let [form132, form213, form231] = match (negated.product, negated.summand) {
            (false, false) => [FMADD132, FMADD213, FMADD231],
            (false, true) => [FMSUB132, FMSUB213, FMSUB231],
            (true, false) => [FNMADD132, FNMADD213, FNMADD231],
            (true, true) => [FNMSUB132, FNMSUB213, FNMSUB231],
        };
        self.make(dst, copy, |e, dst| {
            let here = Rm::Reg(dst);
            let [ra, rb, rc] = [a, b, c].map(|src| e.rm(src, copy));
            let in_memory = |rm: Rm| !matches!(rm, Rm::Reg(_));
            if rc != here && (ra == here || rb == here) {
                // dst * x + c
                let (x, rx) = if ra == here { (b, rb) } else { (a, ra) };
                if in_memory(rx) && !in_memory(rc) {
                    let c = e.reg(c, copy, 29);
                    e.asm.vector(form132, dst, c, rx);
                } else {
                    let x = e.reg(x, copy, 29);
                    e.asm.vector(form213, dst, x, rc);
                }
                return;
            }
            // a * b + dst, once the summand is there.
            let (a, rb) = if in_memory(ra) && !in_memory(rb) { (b, ra) } else { (a, rb) };
            let a = e.reg(a, copy, 29);
            if rc != here {
                e.load_into(dst, c, copy, None);
            }
            e.asm.vector(form231, dst, a, rb);
        });
    }

    fn set_mask(&mut self, bit: u8, k: K, under: Under, copy: u8) {
        let at = self.part(copy, part::PREDICATES + 4 * i32::from(bit));
        let lanes = self.lanes(under, copy);
        self.asm.mask_to(RCX, k);
        if bit == 4 && lanes == Self::running(copy) && !self.input.code.watches_idle_lanes && self.input.copies == 1 {
            // Flow control has cleared the ALU result, and only running lanes have set it since.
            self.asm.int(Int::And, RCX, lanes);
        } else {
            self.asm.int_load(Int::Mov, false, RDX, RBX, at);
            self.asm.int(Int::Xor, RCX, RDX);
            self.asm.int(Int::And, RCX, lanes);
            self.asm.int(Int::Xor, RCX, RDX);
        }
        self.asm.int_store(Int::Mov, false, RBX, at, RCX);
    }

    /// Calls the fetch function, with all registers saved and the host's MXCSR.
    fn fetch(&mut self, fetch: u16, under: Under, copy: u8) {
        let skip = self.asm.label();
        let lanes = self.lanes(under, copy);
        self.asm.int(Int::Mov, RCX, lanes);
        self.asm.test(RCX, RCX);
        self.asm.jump_if(Cond::Equal, skip);
        let used = self.input.homes.bundles * self.input.copies + self.constants.len() as u8;
        for register in 0..used {
            let row = Rm::Row(RBX, self.input.layout.save + 64 * i32::from(register));
            self.asm.vector(MOVUPS_STORE, register, 0, row);
        }
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.move_wide(RDI, RBX);
        self.asm.int_imm(RSI, u32::from(fetch));
        self.asm.int_imm(RDX, u32::from(copy));
        self.asm.zero_upper();
        self.asm.call(RBX, head::FETCH);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        for register in 0..used {
            let row = Rm::Row(RBX, self.input.layout.save + 64 * i32::from(register));
            self.asm.vector(MOVUPS_LOAD, register, 0, row);
        }
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, self.refer);
        self.asm.place(skip);
        self.cached = [false; MAX_COPIES as usize];
    }

    /// The program ends for the copies that are here.
    fn stop(&mut self) {
        for copy in self.copies() {
            let skip = self.asm.label();
            if self.input.copies > 1 {
                self.asm.test_imm(15, 1 << copy);
                self.asm.jump_if(Cond::Equal, skip);
                self.asm.int_store_imm(Int::Mov, false, RBX, self.part(copy, part::PENDING), super::jumps::NOWHERE);
            }
            for (place, &output) in self.input.outputs.iter().enumerate() {
                let Some(vector) = self.input.vars.of(crate::lanes::output_var(output)) else { continue };
                let from = self.reg(Src::Vector(vector), copy, 28);
                let row = Rm::Row(RBX, self.part(copy, self.input.layout.outputs + 64 * place as i32));
                self.asm.vector(MOVUPS_STORE, from, 0, row);
            }
            self.asm.place(skip);
        }
        self.asm.jump(if self.input.copies > 1 { self.dispatch } else { self.done });
    }
}
