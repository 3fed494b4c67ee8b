//! The words of a structured program, with the stack instructions that §3.7 of the manual gives for each statement.

use super::{Above, Between, Boolean, ByBoolean, CONSTANTS, Stmt, Tree};
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{AluInst, AluWord1, Operand};
use ctm_isa::r700::ops::{AluOp, CfAluOp, CfOp, Chan, Cond, IndexMode, Op2, Source, SpecialSel};

/// The computation of a program.
pub const ACC: u8 = 1;
const SCRATCH: u8 = 2;
const WHOLE: u8 = 3;
/// Counters of DX10 loops, by depth.
const COUNTERS: u8 = 8;
const VALID_PIXEL_MODE: u32 = 1 << 22;
const WHOLE_QUAD_MODE: u32 = 1 << 30;

fn inst(op: Op2, dst: u8, write: bool, sources: &[(Source, bool)]) -> AluInst {
    let mut inst = AluInst::blank(AluOp::Op2(op));
    inst.set_destination(dst, false, Chan::X, write);
    (inst.word0.index_mode, inst.word0.last) = (IndexMode::Loop, true);
    for (index, &(source, relative)) in sources.iter().enumerate() {
        inst.set_operand(index, Operand { source, relative, chan: Chan::X, neg: false, abs: false });
    }
    inst
}

const LITERAL: Source = Source::Special(SpecialSel::Literal);

#[derive(Clone, Copy)]
struct Label(usize);

enum WordItem {
    Alu { op: CfAluOp, body: Vec<u32>, mode: u32 },
    Plain { op: CfOp, cond: Cond, constant: u8, pops: u8, call: u8, mode: u32, target: Option<Label> },
    Export,
}

#[derive(Default)]
pub struct Words {
    items: Vec<WordItem>,
    labels: Vec<usize>,
    loop_ends: Vec<Label>,
}

impl Words {
    fn label(&mut self) -> Label {
        self.labels.push(usize::MAX);
        Label(self.labels.len() - 1)
    }
    fn here(&mut self, label: Label) {
        self.labels[label.0] = self.items.len();
    }
    fn alu(&mut self, op: CfAluOp, groups: &[(AluInst, Option<u32>)]) {
        let mut words = Vec::new();
        for (inst, literal) in groups {
            words.extend(inst.encode());
            words.extend(literal.iter().flat_map(|&l| [l, 0]));
        }
        self.items.push(WordItem::Alu { op, body: words, mode: 0 });
    }
    /// Puts the last instruction in a mode.
    fn mode(&mut self, bit: u32) {
        if let Some(WordItem::Alu { mode, .. } | WordItem::Plain { mode, .. }) = self.items.last_mut() {
            *mode = bit;
        }
    }
    fn plain(&mut self, op: CfOp, pops: u8, target: Option<Label>) {
        self.items.push(WordItem::Plain { op, cond: Cond::Active, constant: 0, pops, call: 0, mode: 0, target });
    }
    fn with(&mut self, op: CfOp, cond: Cond, constant: u8, target: Option<Label>) {
        self.items.push(WordItem::Plain { op, cond, constant, pops: 0, call: 1, mode: 0, target });
    }

    /// An instruction by a boolean, or without one.
    fn by(&mut self, op: CfOp, boolean: Boolean, target: Option<Label>) {
        let (constant, cond) = match boolean {
            None => (0, Cond::Active),
            Some((index, true)) => (index, Cond::Bool),
            Some((index, false)) => (index, Cond::NotBool),
        };
        self.with(op, cond, constant, target);
    }
    /// Pops this many entries before the effect of the instruction just written.
    fn pops(&mut self, count: u8) {
        if let Some(WordItem::Plain { pops, .. }) = self.items.last_mut() {
            *pops = count;
        }
    }

    /// A clause that makes a condition the active mask.
    fn test(&mut self, op: CfAluOp, cond: Above) {
        let acc = (Source::Gpr(ACC), false);
        let literal = (LITERAL, false);
        // acc > t, or t >= acc.
        let mut set = if cond.inverted {
            inst(Op2::PredSetgeUint, 0, false, &[literal, acc])
        } else {
            inst(Op2::PredSetgtUint, 0, false, &[acc, literal])
        };
        if let AluWord1::Op2(w) = &mut set.word1 {
            (w.update_execute_mask, w.update_pred) = (true, true);
        }
        self.alu(op, &[(set, Some(cond.threshold))]);
    }

    fn block(&mut self, block: &[Stmt], subs: &[Label]) {
        for stmt in block {
            self.statement(stmt, subs);
        }
    }

    fn work(&mut self, op: CfAluOp, index: u8, relative: bool) {
        let times = inst(Op2::MulloUint, SCRATCH, true, &[(Source::Gpr(ACC), false), (LITERAL, false)]);
        let plus = [(Source::Gpr(SCRATCH), false), (Source::Constant(CONSTANTS + index), relative)];
        self.alu(op, &[(times, Some(5)), (inst(Op2::AddInt, ACC, true, &plus), None)]);
    }

    /// Takes pixels for which the present active mask holds out of the iteration.
    fn leave(&mut self, goes_on: bool, boolean: Boolean) {
        let op = if goes_on { CfOp::LoopContinue } else { CfOp::LoopBreak };
        let end = *self.loop_ends.last().unwrap();
        self.by(op, boolean, Some(end));
    }

    fn leave_if(&mut self, test: impl FnOnce(&mut Self), goes_on: bool) {
        let after = self.label();
        test(self);
        self.plain(CfOp::Jump, 1, Some(after));
        self.leave(goes_on, None);
        self.plain(CfOp::Pop, 1, None);
        self.here(after);
    }

    fn statement(&mut self, stmt: &Stmt, subs: &[Label]) {
        match stmt {
            Stmt::Work { index, relative } => self.work(CfAluOp::Alu, *index, *relative),
            Stmt::WholeQuad => {
                let times = [(Source::Gpr(ACC), false), (LITERAL, false)];
                self.alu(CfAluOp::Alu, &[(inst(Op2::MulloUint, WHOLE, true, &times), Some(7))]);
                self.mode(WHOLE_QUAD_MODE);
                let or = [(Source::Gpr(ACC), false), (Source::Gpr(WHOLE), false)];
                self.alu(CfAluOp::Alu, &[(inst(Op2::XorInt, ACC, true, &or), None)]);
            }
            Stmt::If { cond, then, otherwise, pop_after, valid } => {
                let mode = if *valid { VALID_PIXEL_MODE } else { 0 };
                let (other, end) = (self.label(), self.label());
                self.test(CfAluOp::PushBefore, *cond);
                let (pops, target) = if otherwise.is_some() { (0, other) } else { (1, end) };
                self.plain(CfOp::Jump, pops, Some(target));
                self.mode(mode);
                self.block(then, subs);
                let last = if let Some(otherwise) = otherwise {
                    self.here(other);
                    self.plain(CfOp::Else, 1, Some(end));
                    self.mode(mode);
                    self.block(otherwise, subs);
                    otherwise.last()
                } else {
                    then.last()
                };
                // A pop at the end of the last clause, where that is one.
                match (last, self.items.last_mut()) {
                    (Some(Stmt::Work { .. }), Some(WordItem::Alu { op, .. })) if *pop_after => *op = CfAluOp::PopAfter,
                    _ => {
                        self.plain(CfOp::Pop, 1, None);
                        self.mode(mode);
                    }
                }
                self.here(end);
            }
            Stmt::Nested { outer, inner, body, index } => {
                let end = self.label();
                for (cond, pops) in [(outer, 1), (inner, 2)] {
                    self.test(CfAluOp::PushBefore, *cond);
                    self.plain(CfOp::Jump, pops, Some(end));
                }
                self.block(body, subs);
                self.work(CfAluOp::Pop2After, *index, false);
                self.here(end);
            }
            Stmt::ElseAfter { cond, works, body } => {
                let end = self.label();
                if let Some(index) = works {
                    self.test(CfAluOp::PushBefore, *cond);
                    self.work(CfAluOp::ElseAfter, *index, false);
                } else {
                    self.plain(CfOp::Push, 0, Some(end));
                    self.test(CfAluOp::ElseAfter, *cond);
                }
                self.plain(CfOp::Jump, 1, Some(end));
                self.block(body, subs);
                self.plain(CfOp::Pop, 1, None);
                self.here(end);
            }
            Stmt::IfBool { by, boolean, body } => {
                let (pop, end) = (self.label(), self.label());
                let (op, target) = match by {
                    ByBoolean::Jump => (CfOp::Jump, end),
                    ByBoolean::Push => (CfOp::Push, end),
                    ByBoolean::PushElse => (CfOp::PushElse, pop),
                };
                self.by(op, Some(*boolean), Some(target));
                self.block(body, subs);
                self.here(pop);
                if *by != ByBoolean::Jump {
                    self.plain(CfOp::Pop, 1, None);
                }
                self.here(end);
            }
            Stmt::Then { cond, first, between, boolean, second } => {
                let (middle, pop, end) = (self.label(), self.label(), self.label());
                self.test(CfAluOp::PushBefore, *cond);
                self.plain(CfOp::Jump, 0, Some(middle));
                self.block(first, subs);
                self.here(middle);
                let (op, target) = match between {
                    Between::PopJump => (CfOp::PopJump, end),
                    Between::PopPush => (CfOp::PopPush, end),
                    Between::PopPushElse => (CfOp::PopPushElse, pop),
                };
                self.by(op, Some(*boolean), Some(target));
                self.pops(1);
                self.block(second, subs);
                self.here(pop);
                if *between != Between::PopJump {
                    self.plain(CfOp::Pop, 1, None);
                }
                self.here(end);
            }
            Stmt::Loop { kind, constant, enters, depth, body } => {
                let (start, last, after) = (self.label(), self.label(), self.label());
                let counter = Source::Gpr(COUNTERS + depth);
                let zero = (Source::Special(SpecialSel::Zero), false);
                if *kind == 2 {
                    self.alu(CfAluOp::Alu, &[(inst(Op2::Mov, COUNTERS + depth, true, &[zero]), None)]);
                }
                let op = [CfOp::LoopStart, CfOp::LoopStartNoAl, CfOp::LoopStartDx10][usize::from(*kind)];
                self.with(op, Cond::Active, *constant, Some(after));
                if let (Some(wanted), Some(WordItem::Plain { cond, .. })) = (enters, self.items.last_mut()) {
                    *cond = if *wanted { Cond::Bool } else { Cond::NotBool };
                }
                self.here(start);
                self.loop_ends.push(last);
                if *kind == 2 {
                    let one = (Source::Special(SpecialSel::OneInt), false);
                    let add = inst(Op2::AddInt, COUNTERS + depth, true, &[(counter, false), one]);
                    self.alu(CfAluOp::Alu, &[(add, None)]);
                    let mut set = inst(Op2::PredSetgtUint, 0, false, &[(counter, false), (LITERAL, false)]);
                    if let AluWord1::Op2(w) = &mut set.word1 {
                        w.update_execute_mask = true;
                    }
                    self.leave_if(|words| words.alu(CfAluOp::PushBefore, &[(set, Some(3))]), false);
                }
                self.block(body, subs);
                self.loop_ends.pop();
                self.here(last);
                self.with(CfOp::LoopEnd, Cond::Active, *constant, Some(start));
                self.here(after);
            }
            Stmt::Leave { cond, goes_on, in_clause } => {
                if *in_clause {
                    // The clause takes those out whose predicate says skip.
                    let stays = Above { inverted: !cond.inverted, ..*cond };
                    self.test(if *goes_on { CfAluOp::Continue } else { CfAluOp::Break }, stays);
                } else {
                    self.leave_if(|words| words.test(CfAluOp::PushBefore, *cond), *goes_on);
                }
            }
            Stmt::LeaveAll { goes_on, boolean } => self.leave(*goes_on, *boolean),
            Stmt::Kill { threshold } => {
                let operands = [(Source::Gpr(ACC), false), (LITERAL, false)];
                self.alu(CfAluOp::Alu, &[(inst(Op2::KillgtUint, 0, false, &operands), Some(*threshold))]);
            }
            Stmt::KillAll { boolean } => {
                let next = self.label();
                self.by(CfOp::Kill, Some(*boolean), Some(next));
                self.here(next);
            }
            Stmt::Call { sub, boolean } => self.by(CfOp::Call, *boolean, Some(subs[*sub])),
            Stmt::ReturnBool { index } => self.with(CfOp::Return, Cond::Bool, *index, None),
        }
    }

    /// The program of a tree: it begins with the start value in ACC and exports ACC.
    pub fn program(tree: &Tree) -> Program {
        let mut words = Self::default();
        let subs: Vec<Label> = tree.subs.iter().map(|_| words.label()).collect();
        words.block(&tree.main, &subs);
        words.items.push(WordItem::Export);
        for (n, (sub, &label)) in tree.subs.iter().zip(&subs).enumerate() {
            words.here(label);
            words.block(sub, &subs);
            words.plain(CfOp::Return, 0, None);
            // Some deactivate the killed pixels, which changes no result.
            words.mode(if tree.constants.bool[8 + n] { VALID_PIXEL_MODE } else { 0 });
        }
        let mut out = Vec::new();
        let mut clauses: Vec<u32> = Vec::new();
        let base = words.items.len() as u32;
        for item in &words.items {
            match item {
                WordItem::Alu { op, body, mode } => {
                    let slots = body.len() as u32 / 2;
                    out.extend([base + clauses.len() as u32 / 2, 1 << 31 | mode | op.code() << 26 | (slots - 1) << 18]);
                    clauses.extend(body);
                }
                WordItem::Plain { op, cond, constant, pops, call, mode, target } => {
                    out.push(target.map_or(0, |label| words.labels[label.0] as u32));
                    let fields =
                        u32::from(*pops) | u32::from(*constant) << 3 | cond.code() << 8 | u32::from(*call) << 13;
                    out.push(1 << 31 | mode | op.code() << 23 | fields);
                }
                // EXPORT_DONE PIX0 from ACC, end of program.
                WordItem::Export => out.extend([u32::from(ACC) << 15, 0x9420_0688]),
            }
        }
        out.extend(clauses);
        let mut program = Program::from_words(out);
        program.gprs = 24;
        program
    }
}
