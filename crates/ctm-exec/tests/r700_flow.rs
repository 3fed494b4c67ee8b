//! The control-flow machine of R700 against a plain reading of structured programs, pixel by pixel.
//!
//! A random tree of statements becomes words, with the stack instructions that §3.7 gives for each; the same tree is simply followed for
//! each pixel. The tree knows nothing of masks, the words nothing of the tree. `CTM_FLOW_PROGRAMS` says how many programs are tried
//! (default 2000), `CTM_FLOW_SEED` where they begin; a failure prints the seed of its program.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::r700::flow::{Flow, PixelState, Place, Test};
use ctm_exec::r700::{Arrays, Constants, Interp, Launch, LoopConstant, Plane, Target};
use ctm_exec::x1k::arrays::Picture;
use ctm_exec::{Budget, Domain, Engine, GroupSize};
use ctm_isa::r700::Program;
use ctm_isa::r700::formats::{AluOp2, AluWord0};
use ctm_isa::r700::inst::{AluInst, AluWord1, Operand};
use ctm_isa::r700::ops::{CfAluOp, CfOp, Chan, Cond, IndexMode, Omod, Op2, PredSel, Source, SpecialSel};

/// An odd domain, so that some quads have pixels that are invalid from the start.
const DOMAIN: Domain = Domain { i0: 1, j0: 2, i1: 9, j1: 8 };
const ACC: u8 = 1;
const SCRATCH: u8 = 2;
/// Counters of DX10 loops, by depth.
const COUNTERS: u8 = 8;
/// Where constants for work begin.
const CONSTANTS: u8 = 100;

/// A condition: `acc > threshold` unsigned (or not), or a boolean constant.
#[derive(Clone, Copy, Debug)]
struct Above {
    threshold: u32,
    inverted: bool,
}

impl Above {
    fn holds(self, acc: u32) -> bool {
        (acc > self.threshold) != self.inverted
    }
}

#[derive(Clone, Debug)]
enum Stmt {
    /// `acc = acc * 5 + constant`, the constant relative to the loop index or not.
    Work {
        index: u8,
        relative: bool,
    },
    If {
        cond: Above,
        then: Vec<Stmt>,
        otherwise: Option<Vec<Stmt>>,
        pop_after: bool,
    },
    /// PUSH with a boolean, or JUMP with one.
    IfBool {
        index: u8,
        not: bool,
        push: bool,
        body: Vec<Stmt>,
    },
    Loop {
        kind: u8,
        constant: u8,
        depth: u8,
        body: Vec<Stmt>,
    },
    Leave {
        cond: Above,
        goes_on: bool,
        in_clause: bool,
    },
    LeaveAll {
        goes_on: bool,
    },
    Kill {
        threshold: u32,
    },
    Call {
        sub: usize,
    },
    ReturnBool {
        index: u8,
    },
}

struct Tree {
    main: Vec<Stmt>,
    subs: Vec<Vec<Stmt>>,
    constants: Constants,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as u32) % n
    }
    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
    fn above(&mut self) -> Above {
        // Extremes give all-pass and all-fail.
        let threshold = match self.below(6) {
            0 => 0,
            1 => u32::MAX,
            _ => self.below(u32::MAX),
        };
        Above { threshold, inverted: self.chance(50) }
    }

    fn block(&mut self, budget: &mut u32, loops: u8, depth: u32, subs: usize, in_sub: bool) -> Vec<Stmt> {
        let mut block = Vec::new();
        for _ in 0..1 + self.below(4) {
            if *budget == 0 {
                break;
            }
            *budget -= 1;
            let nested = depth < 5;
            block.push(match self.below(13) {
                0..3 => Stmt::Work { index: self.below(20) as u8, relative: self.chance(40) },
                3..6 if nested => Stmt::If {
                    cond: self.above(),
                    then: self.block(budget, loops, depth + 1, subs, in_sub),
                    otherwise: self.chance(50).then(|| self.block(budget, loops, depth + 1, subs, in_sub)),
                    pop_after: self.chance(50),
                },
                6 if nested => Stmt::IfBool {
                    index: self.below(8) as u8,
                    not: self.chance(50),
                    push: self.chance(50),
                    body: self.block(budget, loops, depth + 1, subs, in_sub),
                },
                7..9 if nested && loops < 3 => Stmt::Loop {
                    kind: self.below(3) as u8,
                    constant: self.below(8) as u8,
                    depth: loops + if in_sub { 3 } else { 0 },
                    body: self.block(budget, loops + 1, depth + 1, subs, in_sub),
                },
                9 | 10 if loops > 0 => {
                    Stmt::Leave { cond: self.above(), goes_on: self.chance(50), in_clause: self.chance(40) }
                }
                11 if loops > 0 && self.chance(20) => Stmt::LeaveAll { goes_on: self.chance(50) },
                11 if self.chance(30) => Stmt::Kill { threshold: self.below(u32::MAX) },
                12 if subs > 0 => Stmt::Call { sub: self.below(subs as u32) as usize },
                12 if in_sub && depth == 0 => Stmt::ReturnBool { index: self.below(8) as u8 },
                _ => Stmt::Work { index: self.below(20) as u8, relative: false },
            });
        }
        block
    }

    fn tree(&mut self) -> Tree {
        let mut constants = Constants::default();
        for value in &mut constants.file {
            *value = [self.below(u32::MAX); 4];
        }
        for boolean in &mut constants.bool {
            *boolean = self.chance(50);
        }
        for constant in &mut constants.loops {
            *constant = LoopConstant {
                count: self.below(5) as u16,
                start: self.below(6) as u16,
                step: self.below(5) as i8 - 2,
            };
        }
        // A subroutine calls only later ones; loops of a caller do not reach into it.
        let subs = (0..2).map(|_| self.block(&mut 6, 0, 0, 0, true)).collect::<Vec<_>>();
        Tree { main: self.block(&mut 24, 0, 0, subs.len(), false), subs, constants }
    }
}

// ---- what it means --------------------------------------------------------------------------------------------

struct Pixel {
    acc: u32,
    killed: bool,
    indices: Vec<Option<i32>>,
}

#[derive(PartialEq)]
enum End {
    Normal,
    Break,
    Continue,
    Return,
}

impl Tree {
    fn block(&self, block: &[Stmt], p: &mut Pixel) -> End {
        for stmt in block {
            let end = self.statement(stmt, p);
            if end != End::Normal {
                return end;
            }
        }
        End::Normal
    }

    fn statement(&self, stmt: &Stmt, p: &mut Pixel) -> End {
        match stmt {
            Stmt::Work { index, relative } => {
                let al = p.indices.iter().rev().find_map(|i| *i).unwrap_or(0);
                let at = i32::from(CONSTANTS + index) + if *relative { al } else { 0 };
                let constant = self.constants.file[at as usize][0];
                p.acc = p.acc.wrapping_mul(5).wrapping_add(constant);
            }
            Stmt::If { cond, then, otherwise, .. } => {
                if cond.holds(p.acc) {
                    return self.block(then, p);
                } else if let Some(otherwise) = otherwise {
                    return self.block(otherwise, p);
                }
            }
            Stmt::IfBool { index, not, body, .. } => {
                if self.constants.bool[usize::from(*index)] != *not {
                    return self.block(body, p);
                }
            }
            Stmt::Loop { kind, constant, body, .. } => {
                let constant = self.constants.loops[usize::from(*constant)];
                let (count, mut index) = match kind {
                    0 => (constant.count, Some(i32::from(constant.start))),
                    1 => (constant.count, None),
                    // The DX10 loop counts by itself, up to three turns.
                    _ => (3, None),
                };
                for _ in 0..count {
                    p.indices.push(index);
                    let end = self.block(body, p);
                    p.indices.pop();
                    index = index.map(|i| i + i32::from(constant.step));
                    match end {
                        End::Normal | End::Continue => {}
                        End::Break => break,
                        End::Return => return End::Return,
                    }
                }
            }
            Stmt::Leave { cond, goes_on, .. } => {
                if cond.holds(p.acc) {
                    return if *goes_on { End::Continue } else { End::Break };
                }
            }
            Stmt::LeaveAll { goes_on } => return if *goes_on { End::Continue } else { End::Break },
            Stmt::Kill { threshold } => p.killed |= p.acc > *threshold,
            Stmt::Call { sub } => {
                // A return ends the subroutine only; the loop index of the caller stays visible.
                let _ = self.block(&self.subs[*sub], p);
            }
            Stmt::ReturnBool { index } => {
                if self.constants.bool[usize::from(*index)] {
                    return End::Return;
                }
            }
        }
        End::Normal
    }
}

// ---- its words ------------------------------------------------------------------------------------------------

fn inst(op: Op2, dst: u8, write: bool, sources: &[(Source, bool)]) -> AluInst {
    let mut inst = AluInst {
        word0: AluWord0 {
            src0_sel: 0,
            src0_rel: false,
            src0_chan: Chan::X,
            src0_neg: false,
            src1_sel: 0,
            src1_rel: false,
            src1_chan: Chan::X,
            src1_neg: false,
            index_mode: IndexMode::Loop,
            pred_sel: PredSel::Off,
            last: true,
        },
        word1: AluWord1::Op2(AluOp2 {
            src0_abs: false,
            src1_abs: false,
            update_execute_mask: false,
            update_pred: false,
            write_mask: write,
            omod: Omod::Off,
            op,
            bank_swizzle: 0,
            dst_gpr: dst,
            dst_rel: false,
            dst_chan: Chan::X,
            clamp: false,
        }),
    };
    for (index, &(source, relative)) in sources.iter().enumerate() {
        inst.set_operand(index, Operand { source, relative, chan: Chan::X, neg: false, abs: false });
    }
    inst
}

const LITERAL: Source = Source::Special(SpecialSel::Literal);

#[derive(Clone, Copy)]
struct Label(usize);

enum Item {
    Alu(CfAluOp, Vec<u32>),
    Plain { op: CfOp, cond: Cond, constant: u8, pops: u8, call: u8, target: Option<Label> },
    Export,
}

#[derive(Default)]
struct Words {
    items: Vec<Item>,
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
        self.items.push(Item::Alu(op, words));
    }
    fn plain(&mut self, op: CfOp, pops: u8, target: Option<Label>) {
        self.items.push(Item::Plain { op, cond: Cond::Active, constant: 0, pops, call: 0, target });
    }
    fn with(&mut self, op: CfOp, cond: Cond, constant: u8, target: Option<Label>) {
        self.items.push(Item::Plain { op, cond, constant, pops: 0, call: 1, target });
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
    fn leave(&mut self, goes_on: bool) {
        let op = if goes_on { CfOp::LoopContinue } else { CfOp::LoopBreak };
        let end = *self.loop_ends.last().unwrap();
        self.plain(op, 0, Some(end));
    }

    fn leave_if(&mut self, test: impl FnOnce(&mut Self), goes_on: bool) {
        let after = self.label();
        test(self);
        self.plain(CfOp::Jump, 1, Some(after));
        self.leave(goes_on);
        self.plain(CfOp::Pop, 1, None);
        self.here(after);
    }

    fn statement(&mut self, stmt: &Stmt, subs: &[Label]) {
        match stmt {
            Stmt::Work { index, relative } => self.work(CfAluOp::Alu, *index, *relative),
            Stmt::If { cond, then, otherwise, pop_after } => {
                let (other, end) = (self.label(), self.label());
                self.test(CfAluOp::PushBefore, *cond);
                self.plain(
                    CfOp::Jump,
                    u8::from(otherwise.is_none()),
                    Some(if otherwise.is_some() { other } else { end }),
                );
                self.block(then, subs);
                let last = if let Some(otherwise) = otherwise {
                    self.here(other);
                    self.plain(CfOp::Else, 1, Some(end));
                    self.block(otherwise, subs);
                    otherwise.last()
                } else {
                    then.last()
                };
                // A pop at the end of the last clause, where that is one.
                match (last, self.items.last_mut()) {
                    (Some(Stmt::Work { .. }), Some(Item::Alu(op, _))) if *pop_after => *op = CfAluOp::PopAfter,
                    _ => self.plain(CfOp::Pop, 1, None),
                }
                self.here(end);
            }
            Stmt::IfBool { index, not, push, body } => {
                let end = self.label();
                let cond = if *not { Cond::NotBool } else { Cond::Bool };
                self.with(if *push { CfOp::Push } else { CfOp::Jump }, cond, *index, Some(end));
                self.block(body, subs);
                if *push {
                    self.plain(CfOp::Pop, 1, None);
                }
                self.here(end);
            }
            Stmt::Loop { kind, constant, depth, body } => {
                let (start, last, after) = (self.label(), self.label(), self.label());
                let counter = Source::Gpr(COUNTERS + depth);
                let zero = (Source::Special(SpecialSel::Zero), false);
                if *kind == 2 {
                    self.alu(CfAluOp::Alu, &[(inst(Op2::Mov, COUNTERS + depth, true, &[zero]), None)]);
                }
                let op = [CfOp::LoopStart, CfOp::LoopStartNoAl, CfOp::LoopStartDx10][usize::from(*kind)];
                self.with(op, Cond::Active, *constant, Some(after));
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
            Stmt::LeaveAll { goes_on } => self.leave(*goes_on),
            Stmt::Kill { threshold } => {
                let operands = [(Source::Gpr(ACC), false), (LITERAL, false)];
                self.alu(CfAluOp::Alu, &[(inst(Op2::KillgtUint, 0, false, &operands), Some(*threshold))]);
            }
            Stmt::Call { sub } => self.with(CfOp::Call, Cond::Active, 0, Some(subs[*sub])),
            Stmt::ReturnBool { index } => self.with(CfOp::Return, Cond::Bool, *index, None),
        }
    }

    fn program(tree: &Tree) -> Program {
        let mut words = Self::default();
        let subs: Vec<Label> = tree.subs.iter().map(|_| words.label()).collect();
        words.block(&tree.main, &subs);
        words.items.push(Item::Export);
        for (sub, &label) in tree.subs.iter().zip(&subs) {
            words.here(label);
            words.block(sub, &subs);
            words.plain(CfOp::Return, 0, None);
        }
        let mut out = Vec::new();
        let mut clauses: Vec<u32> = Vec::new();
        let base = words.items.len() as u32;
        for item in &words.items {
            match item {
                Item::Alu(op, body) => {
                    let slots = body.len() as u32 / 2;
                    out.extend([base + clauses.len() as u32 / 2, 1 << 31 | op.code() << 26 | (slots - 1) << 18]);
                    clauses.extend(body);
                }
                Item::Plain { op, cond, constant, pops, call, target } => {
                    out.push(target.map_or(0, |label| words.labels[label.0] as u32));
                    let fields =
                        u32::from(*pops) | u32::from(*constant) << 3 | cond.code() << 8 | u32::from(*call) << 13;
                    out.push(1 << 31 | op.code() << 23 | fields);
                }
                // EXPORT_DONE PIX0 from ACC, end of program.
                Item::Export => out.extend([u32::from(ACC) << 15, 0x9420_0688]),
            }
        }
        out.extend(clauses);
        let mut program = Program::from_words(out);
        program.gprs = 16;
        program
    }
}

const UNTOUCHED: u32 = 0xdead_beef;

fn start(i: u32, j: u32) -> u32 {
    i * 0x1234_5671 + j * 0x0765_4321
}

fn try_one(seed: u64) -> Result<(), String> {
    let tree = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).tree();
    let program = Words::program(&tree);
    let plane = Plane {
        temp: ACC,
        origin: [0.0; 4],
        di: [f64::from(0x1234_5671), 0.0, 0.0, 0.0],
        dj: [f64::from(0x0765_4321), 0.0, 0.0, 0.0],
        bits: true,
    };
    for wavefront in [16, 32, 64] {
        let launch = Launch {
            planes: &[plane],
            wavefront: GroupSize::new(wavefront).unwrap(),
            budget: Budget { instructions_per_group: Some(10_000_000), time: None },
            ..Launch::new(&program, &tree.constants, DOMAIN)
        };
        let mut memory = Arrays::default();
        let blank = Picture { width: 16, height: 16, elements: vec![[UNTOUCHED; 4]; 256] };
        memory.targets.insert(Target::Pixel(0), blank);
        Interp
            .run_r700(&launch, &mut memory)
            .map_err(|fault| format!("seed {seed}, wavefront {wavefront}: {fault}"))?;
        for j in DOMAIN.j0..=DOMAIN.j1 {
            for i in DOMAIN.i0..=DOMAIN.i1 {
                let mut pixel = Pixel { acc: start(i, j), killed: false, indices: Vec::new() };
                tree.block(&tree.main, &mut pixel);
                let expected = if pixel.killed { UNTOUCHED } else { pixel.acc };
                let got = memory.targets[&Target::Pixel(0)].get(i, j).unwrap()[0];
                if got != expected {
                    return Err(format!(
                        "seed {seed}, wavefront {wavefront}, pixel ({i}, {j}): {got:#x} for {expected:#x}\n{:?}\n{:?}",
                        tree.main, tree.subs
                    ));
                }
            }
        }
    }
    Ok(())
}

#[test]
fn random_structured_programs() {
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |v| v.parse().unwrap());
    let first = number("CTM_FLOW_SEED", 1);
    for seed in first..first + number("CTM_FLOW_PROGRAMS", 2000) {
        if let Err(difference) = try_one(seed) {
            panic!("{difference}");
        }
    }
}

// ---- single instructions on eight pixels -----------------------------------------------------------------------

/// A machine whose pixels have the states `A` active, `b` inactive-branch, `c` -continue, `k` -break; a lower-case `x` is invalid.
fn machine(states: &str) -> Flow {
    let mut flow = Flow::default();
    flow.reset(&states.chars().map(|c| c != 'x').collect::<Vec<_>>());
    for (state, c) in flow.state.iter_mut().zip(states.chars()) {
        *state = match c {
            'A' => PixelState::Active,
            'c' => PixelState::InactiveContinue,
            'k' => PixelState::InactiveBreak,
            _ => PixelState::InactiveBranch,
        };
    }
    flow
}

fn states(flow: &Flow) -> String {
    let name = |state: &PixelState| match state {
        PixelState::Active => 'A',
        PixelState::InactiveBranch => 'b',
        PixelState::InactiveContinue => 'c',
        PixelState::InactiveBreak => 'k',
    };
    flow.state.iter().map(name).collect()
}

const FALSE: Test = Test { cond: Cond::False, ..Test::ACTIVE };
const WHOLE_QUAD: Test = Test { whole_quad: true, ..Test::ACTIVE };
const VALID: Test = Test { valid_pixel: true, ..Test::ACTIVE };

/// R700 table 3.4.
#[test]
fn condition_tests() {
    let mut flow = machine("AbkcbbbbA");
    flow.valid[0] = false;
    let passes = |test: Test| flow.test(test).iter().map(|&p| if p { '1' } else { '0' }).collect::<String>();
    assert_eq!(passes(Test::ACTIVE), "100000001");
    assert_eq!(passes(WHOLE_QUAD), "111100001");
    assert_eq!(passes(VALID), "000000001");
    assert_eq!(passes(FALSE), "000000000");
    assert_eq!(passes(Test { cond: Cond::Bool, ..Test::ACTIVE }), "000000000");
    assert_eq!(passes(Test { cond: Cond::NotBool, ..Test::ACTIVE }), "100000001");
    assert_eq!(passes(Test { cond: Cond::Bool, boolean: true, ..WHOLE_QUAD }), "111100001");
}

/// R700 table 3.7, PUSH and PUSH_ELSE (the latter as docs/r700-open-questions.md says).
#[test]
fn push_and_push_else() {
    let mut flow = machine("AAbbkAAA");
    flow.valid[1] = false;
    assert!(!flow.push_state(VALID, 0).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("AbbbkAAA", 1));
    flow.pop(Test::ACTIVE, 1).unwrap();
    assert_eq!(states(&flow), "AAbbkAAA");
    // All fail: nothing is pushed, POP_COUNT entries go.
    flow.push_before_clause().unwrap();
    assert!(flow.push_state(FALSE, 1).unwrap());
    assert_eq!(flow.stack_depth(), 0);
    // Whole-quad mode wakes pixels until the pop, but none that a loop holds.
    assert!(!flow.push_state(WHOLE_QUAD, 0).unwrap());
    assert_eq!(states(&flow), "AAAAkAAA");
    flow.pop(Test::ACTIVE, 1).unwrap();
    assert!(!flow.push_else(VALID).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("bAbbkbbb", 1));
    flow.pop(Test::ACTIVE, 1).unwrap();
    // All pass: pushed all the same, and it jumps.
    assert!(flow.push_else(Test::ACTIVE).unwrap());
    assert_eq!(flow.stack_depth(), 1);
}

/// R700 §3.6.2, §3.7.2: POP applies its test to the restored state; ELSE exchanges; both leave loop states alone.
#[test]
fn pop_and_else() {
    let mut flow = machine("AAAAbbbb");
    flow.push_before_clause().unwrap();
    flow.take_predicates(&[Some(true), Some(false), Some(true), Some(false), None, None, None, None]);
    assert_eq!(states(&flow), "AbAbbbbb");
    assert!(!flow.else_(Test::ACTIVE, 1).unwrap());
    assert_eq!(states(&flow), "bAbAbbbb");
    flow.valid[1] = false;
    flow.pop(VALID, 1).unwrap();
    assert_eq!(states(&flow), "AbAAbbbb");
    // ELSE with nobody on the other side pops and jumps.
    flow.push_before_clause().unwrap();
    assert!(flow.else_(Test::ACTIVE, 1).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("AbAAbbbb", 0));
    assert!(flow.pop(Test::ACTIVE, 1).is_err());
}

/// R700 §3.7.3: pixels that left a loop stay out whatever is popped, and come back behind it.
#[test]
fn breaks_survive_pops() {
    let mut flow = machine("AAAbbbbb");
    let three = LoopConstant { count: 3, start: 10, step: -4 };
    assert!(!flow.loop_start(ctm_exec::r700::flow::LoopKind::Counted(three), Test::ACTIVE, 0).unwrap());
    assert_eq!((states(&flow).as_str(), flow.loop_index()), ("AAAkkkkk", 10));
    flow.push_before_clause().unwrap();
    flow.take_predicates(&[Some(true), Some(false), Some(false), None, None, None, None, None]);
    assert!(!flow.loop_leave(Test::ACTIVE, PixelState::InactiveBreak).unwrap());
    flow.pop(Test::ACTIVE, 1).unwrap();
    assert_eq!(states(&flow), "kAAkkkkk");
    flow.push_before_clause().unwrap();
    // The rest waits for the next turn: the push is dropped, and it jumps to the end.
    assert!(flow.loop_leave(Test::ACTIVE, PixelState::InactiveContinue).unwrap());
    assert!(flow.loop_end(Test::ACTIVE).unwrap());
    assert_eq!((states(&flow).as_str(), flow.loop_index(), flow.stack_depth()), ("kAAkkkkk", 6, 1));
    assert!(flow.loop_end(Test::ACTIVE).unwrap());
    assert!(!flow.loop_end(Test::ACTIVE).unwrap());
    assert_eq!((states(&flow).as_str(), flow.stack_depth()), ("AAAbbbbb", 0));
}

/// R700 §3.7.6, §9.1 KILL.
#[test]
fn calls_and_kills() {
    let mut flow = machine("AAAAxxxx");
    let back = Place { fetch: false, slot: 7 };
    assert!(flow.call(Test::ACTIVE, 31, back).unwrap());
    assert!(flow.call(Test::ACTIVE, 1, back).unwrap());
    // 31 + 1 + 1 is too deep; without counting it is not.
    assert!(!flow.call(Test::ACTIVE, 1, back).unwrap());
    assert!(flow.call(Test::ACTIVE, 0, back).unwrap());
    assert!(!flow.call(FALSE, 0, back).unwrap());
    for _ in 0..3 {
        assert_eq!(flow.return_(Test::ACTIVE, 0).unwrap(), Some(back));
    }
    assert!(flow.return_(Test::ACTIVE, 0).is_err());
    flow.state[3] = PixelState::InactiveBranch;
    assert!(!flow.kill(Test::ACTIVE));
    assert_eq!((states(&flow).as_str(), &flow.valid[..4]), ("AAAbbbbb", &[false, false, false, true][..]));
    assert!(flow.kill(WHOLE_QUAD));
}
