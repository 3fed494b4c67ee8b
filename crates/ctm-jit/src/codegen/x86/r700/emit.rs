//! Machine code of R700 programs.
//!
//! | register | holds |
//! |---|---|
//! | rbx | the frame |
//! | rbp | the uniform values |
//! | r12 | active lanes |
//! | r13 | passages of blocks |
//! | r14 | instructions that are left |
//! | r15 | active lanes, summed over instructions |
//! | rsi, rdi, r9-r11 | the other masks that are used most, in programs without calls |
//! | zmm28-31 | scratch |
//! | k1-k3 | masks within a few instructions |
//! | k4-k7 | the active lanes of each piece (`active`) |

mod active;
mod levels;
mod lookups;
mod masks;
mod relative;
mod vectors;

use super::fused::Iterations;
use super::wide::SHL;
use super::{Ins, ROW, SPENT, Sample, head, levels as tables, table};
use crate::codegen::x86::allocate::Locations;
use crate::codegen::x86::asm::{
    Asm, BROADCAST, CMP_F32, Cond, Gpr, Int, Label, MOVUPS_LOAD, MOVUPS_STORE, RAX, RBP, RBX, RCX, RDI, RDX, RSI, Rm,
};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::ir::r700::{Code, End, M, Target, Var};
use active::Needs;

const ACTIVE: Gpr = 12;
const VISITS: Gpr = 13;
const FUEL: Gpr = 14;
const ACTIVE_LANES: Gpr = 15;
/// Bits of a mask that its pieces are collected in.
const COLLECTED: Gpr = 8;
const SCRATCH: u8 = 28;
const OPERAND: u8 = 29;
const GATHERED: u8 = 30;
const UNORDERED: u8 = 3;

/// Where things lie in the frame.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Start values, in the artifact's order.
    pub start: i32,
    /// Exported elements, in the artifact's order.
    pub exports: i32,
    /// Vectors without a register.
    pub spills: i32,
    /// Bytes from one of them to the next.
    pub spill_bytes: i32,
    /// Registers during calls.
    save: i32,
    /// The numbers of a piece's lanes.
    pub lanes: i32,
    /// Tables of lookups.
    pub tables: i32,
    /// Tables of textures with mipmap levels, and rows for their lookups, if there may be any.
    pub levels: Option<i32>,
    /// All of it.
    pub size: i32,
}

impl Layout {
    /// For so many start values, exported elements, spilled vectors and how many bytes each has, and lookups, which may be of textures with mipmap levels.
    pub fn new(start: usize, exports: usize, (spills, spill_bytes): (u32, i32), samples: usize, levels: bool) -> Self {
        let start_at = super::lane_numbers() + ROW;
        let exports_at = start_at + ROW * start as i32;
        let spills_at = exports_at + ROW * exports as i32;
        let save = (spills_at + spill_bytes * spills as i32 + 63) & !63;
        let lanes = save + 64 * 32;
        let tables = lanes + 64;
        let behind = tables + table::BYTES * samples as i32;
        let levels_at = (behind + 63) & !63;
        let levels = levels.then_some(levels_at);
        let size = levels.map_or(behind, |at| at + tables::BYTES * samples as i32 + 64 * tables::ROWS);
        Self { start: start_at, exports: exports_at, spills: spills_at, spill_bytes, save, lanes, tables, levels, size }
    }

    /// The table of a lookup's texture with mipmap levels.
    pub fn levels_of(&self, sample: i32) -> Option<i32> {
        self.levels.map(|at| at + 64 * tables::ROWS + tables::BYTES * sample)
    }
}

/// What the emitter is told about the program.
pub struct Input<'a> {
    /// Its form.
    pub code: &'a Code,
    /// Its instructions.
    pub lists: &'a [Vec<Ins>],
    /// Its lookups.
    pub samples: &'a [Sample],
    /// Vectors of variables.
    pub vars: &'a [Option<Vector>],
    /// Where vectors live.
    pub locations: &'a Locations,
    /// The frame.
    pub layout: Layout,
    /// Registers of a vector.
    pub copies: u8,
    /// Variables with start values, in order.
    pub start: &'a [Var],
    /// Variables that are live at the start.
    pub live_in: Vec<Var>,
    /// Exported elements, in order.
    pub exports: &'a [usize],
    /// Where their rows are when the wavefront has ended: where variables without a register live.
    pub rows: &'a [i32],
    /// Lookups can weigh texels.
    pub linear: bool,
    /// Textures can have mipmap levels, layers or faces.
    pub levels: bool,
    /// Passages of blocks are counted.
    pub counts: bool,
    /// Instructions are counted down.
    pub fuel: bool,
    /// Blocks that end with an iteration of a loop.
    pub iterations: &'a [Option<Iterations>],
    /// It calls out.
    pub calls: bool,
}

/// A zero rule that has to look closer.
struct Slow {
    from: Label,
    back: Label,
    rule: (Vector, Src, Src),
}

/// Code under construction.
struct Emit<'a> {
    input: &'a Input<'a>,
    asm: Asm,
    blocks: Vec<Label>,
    bail_out: Label,
    /// Instructions are used up.
    spent: Label,
    done: Label,
    leave: Label,
    /// Where a wavefront that comes back after a yield finds out which.
    resume: Label,
    /// Yields by number, and where the code goes on after them.
    yields: Vec<(u16, Label)>,
    slow: Vec<Slow>,
    /// Lookups that have to call: where they begin, where they go on, and which.
    calls: Vec<(Label, Label, Sample)>,
    /// Lookups that weigh texels: where they begin, where they go on, where they would call, which, and their table.
    linear: Vec<(Label, Label, Label, Sample, i32)>,
    /// Lookups of textures with mipmap levels: where they begin, where they go on, where they would call, and which.
    levels: Vec<(Label, Label, Label, i32)>,
    /// Where whole texels are loaded, if some lookup needs it.
    elements: Option<Label>,
    /// Code that weighs elements, if some lookup calls it.
    weighed: Option<Label>,
    /// Pieces of the active lanes are in their mask registers.
    cached: bool,
    /// The active lanes are in their general register.
    whole: bool,
    /// Where each block needs them at its beginning.
    needs: Vec<Needs>,
    /// The registers of other masks.
    masks: Vec<Option<Gpr>>,
}

/// The code of a program.
pub fn emit(input: &Input<'_>) -> Vec<u8> {
    let mut asm = Asm::new(Isa::Avx512);
    let blocks = input.code.blocks.iter().map(|_| asm.label()).collect();
    let (bail_out, done, leave, resume) = (asm.label(), asm.label(), asm.label(), asm.label());
    let spent = asm.label();
    let mut emit = Emit {
        input,
        asm,
        blocks,
        bail_out,
        spent,
        done,
        leave,
        resume,
        yields: Vec::new(),
        slow: Vec::new(),
        calls: Vec::new(),
        linear: Vec::new(),
        levels: Vec::new(),
        elements: None,
        weighed: None,
        cached: false,
        whole: true,
        needs: Needs::of(input.code, input.lists, input.iterations),
        masks: masks::locations(input),
    };
    emit.prologue();
    let order = order(input.code);
    for (n, &index) in order.iter().enumerate() {
        emit.block(index, order.get(n + 1).copied());
    }
    emit.slow_parts();
    emit.epilogue();
    emit.asm.finish()
}

/// Blocks so that one mostly stands before where it goes on.
pub(super) fn order(code: &Code) -> Vec<usize> {
    let mut seen = vec![false; code.blocks.len()];
    let mut after = Vec::with_capacity(code.blocks.len());
    // Depth first; each entry: a block, and how many of its successors have been followed.
    let mut path = vec![(0, 0)];
    seen[0] = true;
    while let Some((block, followed)) = path.pop() {
        // What lanes do comes right behind; what happens when there are none, later.
        match code.blocks[block].end.successors().nth(followed) {
            Some(next) => {
                path.push((block, followed + 1));
                if !seen[next] {
                    seen[next] = true;
                    path.push((next, 0));
                }
            }
            None => after.push(block),
        }
    }
    after.reverse();
    after
}

impl Emit<'_> {
    fn copies(&self) -> std::ops::Range<u8> {
        0..self.input.copies
    }

    fn mask_at(m: M) -> i32 {
        head::MASKS + 8 * i32::from(m.0)
    }

    fn prologue(&mut self) {
        for register in [RBX, RBP, 12, 13, 14, 15] {
            self.asm.push(register);
        }
        self.asm.move_stack(-8);
        self.asm.move_wide(RBX, RDI);
        self.asm.int_load(Int::Mov, true, RBP, RBX, head::UNIFORMS);
        self.asm.int_load(Int::Mov, true, VISITS, RBX, head::VISITS);
        self.asm.int_load(Int::Mov, true, FUEL, RBX, head::FUEL);
        self.asm.int_load(Int::Mov, true, ACTIVE, RBX, Self::mask_at(M::ACTIVE));
        self.asm.int_load(Int::Mov, true, ACTIVE_LANES, RBX, head::ACTIVE_LANES);
        self.asm.mxcsr(true, RBX, head::HOST_MXCSR);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        if !self.input.code.yields.is_empty() {
            self.asm.int_store_imm(Int::Cmp, true, RBX, head::YIELD, 0);
            self.asm.jump_if(Cond::NotEqual, self.resume);
        }
        for var in self.input.live_in.clone() {
            let Some(vector) = self.input.vars[var.index()] else { continue };
            let given = self.input.start.iter().position(|&v| v == var);
            let at = |place: usize| Src::Row(self.input.layout.start + ROW * place as i32);
            let src = given.map_or(Src::Literal(0), at);
            self.copies().for_each(|copy| self.copy(vector, src, copy));
        }
        self.provide(self.needs[0]);
    }

    fn epilogue(&mut self) {
        let leave = self.leave;
        self.asm.place(self.done);
        self.asm.int_store(Int::Mov, true, RBX, head::ACTIVE_LANES, ACTIVE_LANES);
        for (&export, &at) in self.input.exports.iter().zip(self.input.rows) {
            let Some(vector) = self.input.vars[Var::export(export / 4, export % 4).index()] else { continue };
            for copy in self.copies() {
                if let Some(register) = self.register(vector, copy) {
                    self.store(register, Rm::Row(RBX, at + 64 * i32::from(copy)));
                }
            }
        }
        self.asm.int_imm(RAX, 0);
        self.asm.jump(leave);
        self.asm.place(self.spent);
        self.asm.int_imm(RAX, SPENT);
        self.asm.jump(leave);
        self.asm.place(self.bail_out);
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

    fn block(&mut self, index: usize, next: Option<usize>) {
        let block = &self.input.code.blocks[index];
        let label = self.blocks[index];
        self.asm.place(label);
        self.active_at(index);
        let instructions = block.tally.instructions();
        if instructions > 0 && self.input.fuel {
            self.asm.wide_imm(Int::Sub, FUEL, instructions as i32);
            self.asm.jump_if(Cond::Below, self.spent);
            self.asm.int_load(Int::Mov, true, RAX, RBX, head::STOP);
            self.asm.int_store_imm(Int::Cmp, false, RAX, 0, 0);
            self.asm.jump_if(Cond::NotEqual, self.bail_out);
        }
        if instructions > 0 && self.input.counts {
            self.asm.int_store_imm(Int::Add, true, VISITS, 8 * index as i32, 1);
        }
        self.list(&self.input.lists[index]);
        self.provide(Needs::behind(block.end, &self.needs));
        let is_next = |target: Target| next.is_some_and(|next| target == Target::Block(next as u16));
        match block.end {
            End::Stop => self.asm.jump(self.done),
            End::Next(target) if is_next(target) => {}
            End::Next(target) => self.go(target),
            End::Branch { mask, none, some } => {
                let mut lanes = mask;
                if let Some(iterations) = self.input.iterations[index] {
                    let to = self.label_of(none);
                    self.test_iterations(iterations.left, to);
                    lanes = iterations.lanes;
                }
                self.test_lanes(lanes);
                if is_next(none) {
                    let to = self.label_of(some);
                    self.asm.jump_if(Cond::NotEqual, to);
                } else {
                    let to = self.label_of(none);
                    self.asm.jump_if(Cond::Equal, to);
                    if !is_next(some) {
                        self.go(some);
                    }
                }
            }
        }
    }

    fn label_of(&self, target: Target) -> Label {
        match target {
            Target::Block(id) => self.blocks[usize::from(id)],
            Target::Reference => self.bail_out,
        }
    }

    fn go(&mut self, target: Target) {
        let label = self.label_of(target);
        self.asm.jump(label);
    }

    /// The instructions of a block. Those that use mask registers are emitted piece by piece, the others one by one for all pieces.
    fn list(&mut self, list: &[Ins]) {
        let mut at = 0;
        while at < list.len() {
            match list[at] {
                Ins::Split => at += 1,
                Ins::Lir(first) => {
                    let masks = first.uses_masks();
                    let same = |ins: &Ins| matches!(ins, Ins::Lir(lir) if lir.uses_masks() == masks);
                    let end = at + list[at..].iter().take_while(|ins| same(ins)).count();
                    let lirs: Vec<Lir> = list[at..end]
                        .iter()
                        .filter_map(|ins| if let Ins::Lir(lir) = ins { Some(*lir) } else { None })
                        .collect();
                    if masks {
                        for copy in self.copies() {
                            lirs.iter().for_each(|lir| self.line(lir, copy));
                        }
                    } else {
                        for lir in &lirs {
                            self.copies().for_each(|copy| self.line(lir, copy));
                        }
                    }
                    at = end;
                }
                Ins::BeginLanes => {
                    let ends = |ins: &Ins| matches!(ins, Ins::EndLanes(_) | Ins::EndKeep);
                    let end = at + list[at..].iter().take_while(|ins| !ends(ins)).count();
                    let tests: Vec<Lir> = list[at + 1..end.min(list.len())]
                        .iter()
                        .filter_map(|ins| if let Ins::Lir(lir) = ins { Some(*lir) } else { None })
                        .collect();
                    match list.get(end) {
                        Some(Ins::EndLanes(m)) => {
                            self.lanes_of(&tests);
                            self.store_mask(*m, COLLECTED);
                        }
                        Some(_) => self.keep(&tests),
                        None => {}
                    }
                    at = end + 1;
                }
                ins => {
                    self.effect(&ins);
                    at += 1;
                }
            }
        }
    }

    /// The lanes that pass all of these tests, in a general register.
    fn lanes_of(&mut self, tests: &[Lir]) {
        for copy in self.copies() {
            tests.iter().for_each(|test| self.line(test, copy));
            self.asm.mask_to(if copy == 0 { COLLECTED } else { RCX }, 1);
            if copy > 0 {
                self.asm.wide_shift(SHL, RCX, 16 * copy);
                self.asm.wide(Int::Or, COLLECTED, RCX);
            }
        }
    }

    /// Of the active lanes, those stay active that pass all of these tests: each is made under what is left by those before it.
    fn keep(&mut self, tests: &[Lir]) {
        self.pieces();
        for test in tests {
            for copy in self.copies() {
                if let Lir::Test(op, how, _, a, b, _) = *test {
                    self.line(&Lir::Test(op, how, 4 + copy, a, b, 4 + copy), copy);
                }
            }
        }
        self.whole = false;
    }

    fn effect(&mut self, ins: &Ins) {
        match *ins {
            Ins::ZeroRule(dst, a, b) => self.zero_rule(dst, a, b),
            Ins::Set(dst, src, M::EXISTING) => self.copies().for_each(|copy| self.copy(dst, src, copy)),
            Ins::Set(dst, src, under) => {
                for copy in self.copies() {
                    let k = self.lane_mask(under, copy);
                    self.change(dst, copy, |e, dst| e.load_masked(dst, src, copy, k));
                }
            }
            Ins::SetTwo(op, dst, a, b, under) => {
                for copy in self.copies() {
                    let k = self.lane_mask(under, copy);
                    self.two_under(op, dst, [a, b], k, copy);
                }
            }
            Ins::Number(dst, m) => {
                for copy in self.copies() {
                    let at = Rm::Each(RBX, Self::mask_at(m));
                    self.make(dst, copy, |e, dst| e.asm.vector(BROADCAST, dst, 0, at));
                }
            }
            Ins::Mark(export, under) => {
                let at = head::WRITTEN + 8 * i32::from(export);
                let lanes = self.mask_register(under, RAX);
                self.asm.int_store(Int::Or, true, RBX, at, lanes);
            }
            Ins::Mask(op) => self.mask_op(op),
            Ins::Tally(_, weight, lanes) => {
                let lanes = self.mask_register(lanes, RAX);
                self.asm.wide_popcount(RAX, lanes);
                if weight != 1 {
                    self.asm.wide_times(RAX, RAX, weight as i32);
                }
                self.asm.wide(Int::Add, ACTIVE_LANES, RAX);
            }
            Ins::Keep(row, src, under) => {
                for copy in self.copies() {
                    let k = self.lane_mask(under, copy);
                    let from = self.reg(src, copy, SCRATCH);
                    let row = Rm::Row(RBX, row + 64 * i32::from(copy));
                    self.asm.evex(MOVUPS_STORE, from, 0, row, k, false, None);
                }
            }
            Ins::Slope(dst, at, vertical) => self.slope(dst, at, vertical),
            Ins::GetRelative(dst, from, base, index) => self.get_relative(dst, from, base, index),
            Ins::SetRelative(to, base, index, value, under) => self.set_relative(to, base, index, value, under),
            Ins::Call(number, under) => {
                self.whole();
                self.call(number, under);
            }
            Ins::Yield(number) => {
                self.whole();
                self.yield_here(number);
            }
            Ins::Sample(number, ..) => {
                self.whole();
                if let Some(sample) = self.input.samples.get(usize::from(number)) {
                    self.sample(sample, i32::from(number));
                }
            }
            Ins::Also(_) | Ins::Lir(_) | Ins::Split | Ins::BeginLanes | Ins::EndLanes(_) | Ins::EndKeep => {}
        }
    }

    /// Where some product is not a number, the slow part looks why.
    fn zero_rule(&mut self, dst: Vector, a: Src, b: Src) {
        let it = Src::Vector(dst);
        let (from, back) = (self.asm.label(), self.asm.label());
        // A comparison of two registers finds what is unordered in either.
        let pairs: &[(u8, u8)] = match self.input.copies {
            1 => &[(0, 0)],
            2 => &[(0, 1)],
            _ => &[(0, 1), (2, 3)],
        };
        for (&(x, y), k) in pairs.iter().zip(1..) {
            let x = self.reg(it, x, SCRATCH);
            let y = self.rm(it, y);
            self.asm.evex(CMP_F32, k, x, y, 0, false, Some(UNORDERED));
        }
        if pairs.len() > 1 {
            self.asm.mask_or(1, 1, 2);
        }
        self.asm.mask_test(1);
        self.asm.jump_if(Cond::NotEqual, from);
        self.asm.place(back);
        self.slow.push(Slow { from, back, rule: (dst, a, b) });
    }

    /// A lookup of nearest texels: coordinates clamped to the texture, all lanes at once. Lanes of a piece that look up the same texel get it
    fn slow_parts(&mut self) {
        if !self.input.code.yields.is_empty() {
            self.asm.place(self.resume);
            for (number, label) in std::mem::take(&mut self.yields) {
                self.asm.int_store_imm(Int::Cmp, true, RBX, head::YIELD, i32::from(number) + 1);
                self.asm.jump_if(Cond::Equal, label);
            }
            self.asm.jump(self.bail_out);
        }
        // Lookups leave the active lanes where they have found them.
        self.whole = true;
        self.linear_lookups();
        self.level_lookups();
        self.sample_calls();
        self.elements();
        for Slow { from, back, rule: (dst, a, b) } in std::mem::take(&mut self.slow) {
            self.asm.place(from);
            let (it, zero) = (Src::Vector(dst), Src::Literal(0));
            for copy in self.copies() {
                self.line(&Lir::Test(CMP_F32, UNORDERED, 1, it, it, 0), copy);
                self.line(&Lir::Test(CMP_F32, 0, 2, a, zero, 1), copy);
                self.line(&Lir::Test(CMP_F32, 0, 3, b, zero, 1), copy);
                self.line(&Lir::Or(2, 2, 3), copy);
                self.line(&Lir::Merge(dst, 2, zero), copy);
            }
            self.asm.jump(back);
        }
    }

    /// Calls out, with all registers saved and the host's MXCSR.
    fn call(&mut self, number: u16, under: M) {
        self.save();
        self.load_mask(RDX, under);
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.move_wide(RDI, RBX);
        self.asm.int_imm(RSI, u32::from(number));
        self.asm.zero_upper();
        self.asm.call(RBX, head::FUNCTION);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, self.bail_out);
        self.restore();
    }

    /// Leaves, so that other wavefronts of the group can catch up; the next call goes on here.
    fn yield_here(&mut self, number: u16) {
        self.save();
        self.asm.int_store(Int::Mov, true, RBX, Self::mask_at(M::ACTIVE), ACTIVE);
        self.asm.int_store(Int::Mov, true, RBX, head::FUEL, FUEL);
        self.asm.int_store(Int::Mov, true, RBX, head::ACTIVE_LANES, ACTIVE_LANES);
        self.asm.int_store_imm(Int::Mov, true, RBX, head::YIELD, i32::from(number) + 1);
        self.asm.int_imm(RAX, 2);
        self.asm.jump(self.leave);
        let label = self.asm.label();
        self.asm.place(label);
        self.yields.push((number, label));
        self.restore();
    }

    /// Registers with vectors go to the frame.
    fn save(&mut self) {
        for register in 0..self.input.locations.bundles * self.input.copies {
            self.store(register, Rm::Row(RBX, self.input.layout.save + 64 * i32::from(register)));
        }
    }

    /// And come back.
    fn restore(&mut self) {
        for register in 0..self.input.locations.bundles * self.input.copies {
            let row = Rm::Row(RBX, self.input.layout.save + 64 * i32::from(register));
            self.asm.vector(MOVUPS_LOAD, register, 0, row);
        }
        self.cached = false;
    }
}
