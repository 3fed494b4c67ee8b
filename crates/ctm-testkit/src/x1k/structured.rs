//! Structured programs: a tree, the words that CTM §3.5.4 makes of it, and its effect on one processor when it is
//! simply followed, statement by statement.
//!
//! The tree has no masks; the words have no tree. If the machine follows the Guide, both agree for
//! every processor and every group size.

use ctm_isa::x1k::formats::{CmnInst, FcAddr, FcInst, TexAddr, TexAddrDxDy, TexInst};
use ctm_isa::x1k::inst::{AluInst, FcInstruction, Source, TexInstruction};
use ctm_isa::x1k::ops::{AOp, AlphaOp, AluResultSel, BOp, CompareOp, FcOp, InstType, PredSel, RgbOp, Swizzle, TexOp};
use ctm_isa::x1k::{Inst, Program, Words};

/// A condition of a branch.
#[derive(Clone, Copy, Debug)]
pub enum Cond {
    /// A boolean constant.
    Bool(u8),
    /// A predicate bit: set by comparing `acc - threshold` with zero, used inverted or not.
    Pred { bit: u8, op: CompareOp, threshold: u32, inverted: bool },
    /// The ALU result, of the red or the alpha unit.
    Alu { alpha: bool, op: CompareOp, threshold: u32 },
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `acc = frac(5*acc + c[index])`, or `c[index + aL]`.
    Work {
        index: u8,
        relative: bool,
    },
    If {
        cond: Cond,
        then: Vec<Stmt>,
        otherwise: Option<Vec<Stmt>>,
    },
    /// LOOP, or REP; the integer constant says how often.
    Loop {
        rep: bool,
        int: u8,
        body: Vec<Stmt>,
    },
    /// `None`: without a condition.
    Break(Option<Cond>),
    Continue(Option<Cond>),
    Call {
        cond: Option<Cond>,
        sub: usize,
    },
    /// A return on the outermost level of a subroutine.
    ReturnIf(Cond),
    /// KILL_LT_0 of `acc - threshold`.
    Kill {
        threshold: u32,
    },
}

/// A program.
#[derive(Clone, Debug)]
pub struct Tree {
    pub main: Vec<Stmt>,
    pub subs: Vec<Vec<Stmt>>,
    /// Set IGNORE_UNCOVERED on all flow control, as Mesa does.
    pub ignore_uncovered: bool,
    pub bools: [bool; 32],
    /// Count, first aL, step.
    pub ints: [[u8; 4]; 32],
    /// Numbers below 2^20; constant n is `value * 2^-20`.
    pub values: [u32; 256],
}

/// Everything is counted in units of 2^-20, so single precision is exact.
pub const UNIT: u32 = 1 << 20;
const ACC: u8 = 1;
const SCRATCH: u8 = 2;
/// Constants from here on hold thresholds.
const THRESHOLDS: u8 = 128;

// ---- meaning -------------------------------------------------------------------------------------------------

/// One processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor {
    pub acc: u32,
    pub killed: bool,
    predicates: [bool; 4],
    loop_variables: Vec<i32>,
}

enum BlockEnd {
    Normal,
    Break,
    Continue,
    Return,
}

impl Tree {
    /// Follows the program for one processor.
    pub fn follow(&self, acc: u32) -> Processor {
        let mut processor = Processor { acc, killed: false, predicates: [false; 4], loop_variables: Vec::new() };
        self.block(&self.main, &mut processor);
        processor
    }

    fn cond(&self, cond: &Cond, p: &mut Processor) -> bool {
        let compare = |op: CompareOp, threshold: u32| match op {
            CompareOp::Equal => p.acc == threshold,
            CompareOp::Less => p.acc < threshold,
            CompareOp::GreaterEqual => p.acc >= threshold,
            CompareOp::NotEqual => p.acc != threshold,
        };
        match *cond {
            Cond::Bool(index) => self.bools[usize::from(index)],
            Cond::Pred { bit, op, threshold, inverted } => {
                let set = compare(op, threshold);
                p.predicates[usize::from(bit)] = set;
                set != inverted
            }
            Cond::Alu { op, threshold, .. } => compare(op, threshold),
        }
    }

    fn block(&self, block: &[Stmt], p: &mut Processor) -> BlockEnd {
        for stmt in block {
            match stmt {
                Stmt::Work { index, relative } => {
                    let offset = if *relative { p.loop_variables.last().copied().unwrap_or(0) } else { 0 };
                    let value = self.values[(i32::from(*index) + offset) as usize];
                    p.acc = (5 * p.acc + value) % UNIT;
                }
                Stmt::If { cond, then, otherwise } => {
                    let end = if self.cond(cond, p) {
                        self.block(then, p)
                    } else if let Some(otherwise) = otherwise {
                        self.block(otherwise, p)
                    } else {
                        BlockEnd::Normal
                    };
                    if !matches!(end, BlockEnd::Normal) {
                        return end;
                    }
                }
                Stmt::Loop { rep, int, body } => {
                    let [count, first, step, _] = self.ints[usize::from(*int)];
                    for turn in 0..i32::from(count) {
                        if !rep {
                            p.loop_variables.push(i32::from(first) + turn * i32::from(step.cast_signed()));
                        }
                        let end = self.block(body, p);
                        if !rep {
                            p.loop_variables.pop();
                        }
                        match end {
                            BlockEnd::Normal | BlockEnd::Continue => {}
                            BlockEnd::Break => break,
                            BlockEnd::Return => unreachable!("no returns inside loops"),
                        }
                    }
                }
                Stmt::Break(cond) => {
                    if cond.is_none_or(|c| self.cond(&c, p)) {
                        return BlockEnd::Break;
                    }
                }
                Stmt::Continue(cond) => {
                    if cond.is_none_or(|c| self.cond(&c, p)) {
                        return BlockEnd::Continue;
                    }
                }
                Stmt::Call { cond, sub } => {
                    if cond.is_none_or(|c| self.cond(&c, p)) {
                        self.block(&self.subs[*sub], p);
                    }
                }
                Stmt::ReturnIf(cond) => {
                    if self.cond(cond, p) {
                        return BlockEnd::Return;
                    }
                }
                Stmt::Kill { threshold } => p.killed |= p.acc < *threshold,
            }
        }
        BlockEnd::Normal
    }
}

// ---- lowering by the Guide (CTM §3.5.4) ---------------------------------------------------------------------

/// The program as words, or `None` if it is too long.
pub fn assemble(tree: &Tree) -> Option<Program> {
    let mut emit = Emit { tree, words: Vec::new(), calls: Vec::new(), thresholds: Vec::new() };
    let mut entries = Vec::new();
    for sub in &tree.subs {
        entries.push(emit.words.len());
        let mut returns = 0;
        for stmt in sub {
            if let Stmt::ReturnIf(cond) = stmt {
                // Who returns waits with counter 0; the Guide: "by incrementing the branch stack counter on stay".
                let (func, cmn) = emit.condition(cond, [0xaa, 0xcc, 0xf0]);
                let mut fc = emit.fc(cmn, func);
                (fc.inst.a_op, fc.inst.b_op0, fc.inst.b_op1) = (AOp::Pop, BOp::Incr, BOp::Decr);
                fc.inst.b_pop_cnt = 1 + returns;
                fc.addr.bool_addr = bool_of(cond);
                emit.push(Inst::Fc(fc));
                returns += 1;
            } else {
                emit.stmt(stmt, 0, None);
            }
        }
        let mut fc = emit.fc(fc_cmn(), 0xff);
        (fc.inst.a_op, fc.inst.b_op1, fc.inst.b_pop_cnt) = (AOp::Pop, BOp::Decr, 1 + returns);
        emit.push(Inst::Fc(fc));
    }
    let first = emit.words.len();
    for stmt in &tree.main {
        emit.stmt(stmt, 0, None);
    }
    let mut out = AluInst::idle(InstType::Output);
    out.cmn.rgb_omask = 1;
    out.cmn.tex_sem_wait = true;
    set_operand(&mut out, Source::Temp { index: ACC, relative: false }, None);
    emit.push(Inst::Alu(out));
    for (at, sub) in std::mem::take(&mut emit.calls) {
        emit.set_target(at, entries[sub]);
    }
    if emit.words.len() > 512 {
        return None;
    }
    let mut program = Program::from_words(emit.words);
    program.first = first as u16;
    program.full_flow_control = true;
    Some(program)
}

/// The constants that hold thresholds, as the words expect them.
pub fn thresholds(tree: &Tree) -> Vec<(u8, u32)> {
    let mut emit = Emit { tree, words: Vec::new(), calls: Vec::new(), thresholds: Vec::new() };
    for block in tree.subs.iter().chain([&tree.main]) {
        for stmt in block {
            if let Stmt::ReturnIf(cond) = stmt {
                emit.condition(cond, [0; 3]);
            } else {
                emit.stmt(stmt, 0, None);
            }
        }
    }
    emit.thresholds.iter().enumerate().map(|(index, &value)| (THRESHOLDS + index as u8, value)).collect()
}

struct Emit<'a> {
    tree: &'a Tree,
    words: Vec<Words>,
    calls: Vec<(usize, usize)>,
    thresholds: Vec<u32>,
}

/// The position of a statement within its loop.
#[derive(Clone)]
struct InLoop {
    rep: bool,
    breaks: std::rc::Rc<std::cell::RefCell<Vec<usize>>>,
    continues: std::rc::Rc<std::cell::RefCell<Vec<usize>>>,
}

fn bool_of(cond: &Cond) -> u8 {
    if let Cond::Bool(index) = cond { *index } else { 0 }
}

fn fc_cmn() -> CmnInst {
    CmnInst { kind: InstType::Fc, alu_wait: true, ..CmnInst::decode(0).unwrap() }
}

/// Makes both halves compute `r - c` or just `r`, for every channel.
fn set_operand(alu: &mut AluInst, source: Source, minus: Option<u8>) {
    let (addr, is_const, relative) = source.fields();
    (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const, alu.rgb_addr.addr0_rel) = (addr, is_const, relative);
    alu.rgb.red_swiz_a = Swizzle::R;
    alu.rgb.green_swiz_a = Swizzle::R;
    alu.rgb.blue_swiz_a = Swizzle::R;
    alu.alpha.swiz_a = Swizzle::R;
    (alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b) = (Swizzle::One, Swizzle::One, Swizzle::One);
    alu.alpha.swiz_b = Swizzle::One;
    if let Some(constant) = minus {
        (alu.rgb_addr.addr1, alu.rgb_addr.addr1_const) = (constant, true);
        alu.rgba.rgb_sel_c = ctm_isa::x1k::ops::Sel::Src1;
        alu.rgba.alpha_sel_c = ctm_isa::x1k::ops::Sel::Src1;
        alu.rgba.rgb_imod_c = ctm_isa::x1k::ops::Imod::Neg;
        alu.rgba.alpha_imod_c = ctm_isa::x1k::ops::Imod::Neg;
        (alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c) = (Swizzle::R, Swizzle::R, Swizzle::R);
        alu.rgba.alpha_swiz_c = Swizzle::R;
    } else {
        (alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c) =
            (Swizzle::Zero, Swizzle::Zero, Swizzle::Zero);
        alu.rgba.alpha_swiz_c = Swizzle::Zero;
    }
    alu.rgba.op = RgbOp::Mad;
    alu.alpha.op = AlphaOp::Mad;
}

impl Emit<'_> {
    fn push(&mut self, inst: Inst) -> usize {
        self.words.push(inst.encode());
        self.words.len() - 1
    }

    fn set_target(&mut self, at: usize, target: usize) {
        let Ok(Inst::Fc(mut fc)) = Inst::decode(&self.words[at]) else { unreachable!("a flow-control slot") };
        fc.addr.jump_addr = target as u16;
        self.words[at] = Inst::Fc(fc).encode();
    }

    fn fc(&self, cmn: CmnInst, jump_func: u8) -> FcInstruction {
        let inst = FcInst { jump_func, ignore_uncovered: self.tree.ignore_uncovered, ..FcInst::decode(0).unwrap() };
        FcInstruction { cmn, inst, addr: FcAddr::decode(0).unwrap() }
    }

    fn threshold(&mut self, value: u32) -> u8 {
        let known = self.thresholds.iter().position(|&t| t == value);
        let index = known.unwrap_or_else(|| {
            self.thresholds.push(value);
            self.thresholds.len() - 1
        });
        THRESHOLDS + index as u8
    }

    /// Emits code for the condition; returns the JUMP_FUNC for it (of those for boolean, predicate, ALU result) and the common word.
    fn condition(&mut self, cond: &Cond, funcs: [u8; 3]) -> (u8, CmnInst) {
        let mut cmn = fc_cmn();
        match *cond {
            Cond::Bool(_) => (funcs[0], cmn),
            Cond::Pred { bit, op, threshold, inverted } => {
                let constant = self.threshold(threshold);
                let mut alu = AluInst::idle(InstType::Alu);
                set_operand(&mut alu, Source::Temp { index: ACC, relative: false }, Some(constant));
                if bit == 3 {
                    alu.cmn.alpha_omask = true;
                    alu.alpha.target = op.code() as u8;
                } else {
                    alu.cmn.rgb_omask = 1 << bit;
                    alu.rgb.target = op.code() as u8;
                }
                self.push(Inst::Alu(alu));
                cmn.rgb_pred_sel = [PredSel::Rrrr, PredSel::Gggg, PredSel::Bbbb, PredSel::Aaaa][usize::from(bit)];
                cmn.rgb_pred_inv = inverted;
                (funcs[1], cmn)
            }
            Cond::Alu { alpha, op, threshold } => {
                let constant = self.threshold(threshold);
                let mut alu = AluInst::idle(InstType::Alu);
                set_operand(&mut alu, Source::Temp { index: ACC, relative: false }, Some(constant));
                alu.rgb.alu_wmask = true;
                alu.cmn.alu_result_op = op;
                alu.cmn.alu_result_sel = if alpha { AluResultSel::Alpha } else { AluResultSel::Red };
                self.push(Inst::Alu(alu));
                (funcs[2], cmn)
            }
        }
    }

    fn block(&mut self, block: &[Stmt], branches: u8, in_loop: Option<&InLoop>) {
        for stmt in block {
            self.stmt(stmt, branches, in_loop);
        }
    }

    /// `branches`: dynamic branches around the statement within its loop.
    fn stmt(&mut self, stmt: &Stmt, branches: u8, in_loop: Option<&InLoop>) {
        match stmt {
            Stmt::Work { index, relative } => self.work(*index, *relative),
            Stmt::If { cond: Cond::Bool(bool_addr), then, otherwise } => {
                let mut fc = self.fc(fc_cmn(), 0x55);
                fc.addr.bool_addr = *bool_addr;
                let if_at = self.push(Inst::Fc(fc));
                self.block(then, branches, in_loop);
                if let Some(otherwise) = otherwise {
                    let jump = self.fc(fc_cmn(), 0xff);
                    let else_at = self.push(Inst::Fc(jump));
                    self.set_target(if_at, else_at + 1);
                    self.block(otherwise, branches, in_loop);
                    self.set_target(else_at, self.words.len());
                } else {
                    self.set_target(if_at, self.words.len());
                }
            }
            Stmt::If { cond, then, otherwise } => {
                let (func, cmn) = self.condition(cond, [0x55, 0x33, 0x0f]);
                let mut fc = self.fc(cmn, func);
                fc.inst.b_op0 = BOp::Incr;
                if otherwise.is_some() {
                    fc.inst.b_op1 = BOp::Incr;
                }
                let if_at = self.push(Inst::Fc(fc));
                self.block(then, branches + 1, in_loop);
                let else_at = otherwise.as_ref().map(|otherwise| {
                    let mut fc = self.fc(fc_cmn(), 0x00);
                    (fc.inst.b_op1, fc.inst.b_pop_cnt, fc.inst.b_else) = (BOp::Decr, 1, true);
                    let else_at = self.push(Inst::Fc(fc));
                    self.set_target(if_at, else_at + 1);
                    self.block(otherwise, branches + 1, in_loop);
                    else_at
                });
                let mut fc = self.fc(fc_cmn(), 0x00);
                (fc.inst.jump_any, fc.inst.b_op0, fc.inst.b_pop_cnt) = (true, BOp::Decr, 1);
                let end_at = self.push(Inst::Fc(fc));
                self.set_target(else_at.unwrap_or(if_at), end_at + 1);
            }
            Stmt::Loop { rep, int, body } => {
                let mut fc = self.fc(fc_cmn(), 0x00);
                fc.inst.op = if *rep { FcOp::Rep } else { FcOp::Loop };
                fc.addr.int_addr = *int;
                let loop_at = self.push(Inst::Fc(fc));
                let inner = InLoop { rep: *rep, breaks: std::rc::Rc::default(), continues: std::rc::Rc::default() };
                self.block(body, 0, Some(&inner));
                let mut fc = self.fc(fc_cmn(), 0xff);
                fc.inst.op = if *rep { FcOp::EndRep } else { FcOp::EndLoop };
                fc.inst.jump_any = true;
                let end_at = self.push(Inst::Fc(fc));
                self.set_target(end_at, loop_at + 1);
                self.set_target(loop_at, end_at + 1);
                inner.breaks.borrow().iter().for_each(|&at| self.set_target(at, end_at + 1));
                inner.continues.borrow().iter().for_each(|&at| self.set_target(at, end_at));
            }
            Stmt::Break(cond) | Stmt::Continue(cond) => {
                let in_loop = in_loop.expect("inside a loop");
                let is_break = matches!(stmt, Stmt::Break(_));
                let (func, cmn) =
                    cond.as_ref().map_or((0xff, fc_cmn()), |cond| self.condition(cond, [0xaa, 0xcc, 0xf0]));
                let mut fc = self.fc(cmn, func);
                fc.addr.bool_addr = cond.as_ref().map_or(0, bool_of);
                fc.inst.op = match (is_break, in_loop.rep) {
                    (true, false) => FcOp::BreakLoop,
                    (true, true) => FcOp::BreakRep,
                    (false, _) => FcOp::Continue,
                };
                (fc.inst.b_op1, fc.inst.b_pop_cnt) = (BOp::Decr, branches);
                let at = self.push(Inst::Fc(fc));
                if is_break { &in_loop.breaks } else { &in_loop.continues }.borrow_mut().push(at);
            }
            Stmt::Call { cond, sub } => {
                let (func, cmn) =
                    cond.as_ref().map_or((0xff, fc_cmn()), |cond| self.condition(cond, [0xaa, 0xcc, 0xf0]));
                let mut fc = self.fc(cmn, func);
                fc.addr.bool_addr = cond.as_ref().map_or(0, bool_of);
                (fc.inst.jump_any, fc.inst.a_op, fc.inst.b_op1) = (true, AOp::Push, BOp::Incr);
                let at = self.push(Inst::Fc(fc));
                self.calls.push((at, *sub));
            }
            Stmt::ReturnIf(_) => unreachable!("returns stand on the outermost level of subroutines"),
            Stmt::Kill { threshold } => {
                let constant = self.threshold(*threshold);
                let mut alu = AluInst::idle(InstType::Alu);
                set_operand(&mut alu, Source::Temp { index: ACC, relative: false }, Some(constant));
                alu.cmn.rgb_wmask = 1;
                alu.rgba.addrd = SCRATCH;
                self.push(Inst::Alu(alu));
                let cmn = CmnInst { kind: InstType::Tex, alu_wait: true, rgb_wmask: 1, ..CmnInst::decode(0).unwrap() };
                let inst = TexInst { op: TexOp::KillLt0, ..TexInst::decode(0).unwrap() };
                let addr = TexAddr { src_addr: SCRATCH, ..TexAddr::decode(0).unwrap() };
                self.push(Inst::Tex(TexInstruction { cmn, inst, addr, dxdy: TexAddrDxDy::decode(0).unwrap() }));
            }
        }
    }

    /// `acc = 5*acc + c`, then its fraction.
    fn work(&mut self, index: u8, relative: bool) {
        let mut alu = AluInst::idle(InstType::Alu);
        set_operand(&mut alu, Source::Temp { index: ACC, relative: false }, Some(index));
        alu.rgb_addr.addr1_rel = relative;
        alu.rgba.rgb_imod_c = ctm_isa::x1k::ops::Imod::Off;
        let (addr, is_const, rel) = Source::Inline { code: 0x4a, relative: false }.fields();
        (alu.rgb_addr.addr2, alu.rgb_addr.addr2_const, alu.rgb_addr.addr2_rel) = (addr, is_const, rel);
        alu.rgb.sel_b = ctm_isa::x1k::ops::Sel::Src2;
        alu.rgb.red_swiz_b = Swizzle::R;
        alu.cmn.rgb_wmask = 1;
        alu.rgba.addrd = ACC;
        self.push(Inst::Alu(alu));
        let mut alu = AluInst::idle(InstType::Alu);
        set_operand(&mut alu, Source::Temp { index: ACC, relative: false }, None);
        alu.rgba.op = RgbOp::Frc;
        alu.cmn.rgb_wmask = 1;
        alu.rgba.addrd = ACC;
        self.push(Inst::Alu(alu));
    }
}
