//! Random structured programs for the control-flow machine of R700: a tree of statements, and its meaning for one pixel.
//!
//! The tree knows nothing of masks; `words` turns it into words with the stack instructions that §3.7 gives for each statement.

pub mod words;

use ctm_exec::r700::{Constants, LoopConstant};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Where constants for work begin.
pub const CONSTANTS: u8 = 100;
/// Subroutines of a program; each calls later ones only.
const SUBROUTINES: usize = 3;

/// A condition: `acc > threshold` unsigned (or not).
#[derive(Clone, Copy, Debug)]
pub struct Above {
    pub threshold: u32,
    pub inverted: bool,
}

impl Above {
    fn holds(self, acc: u32) -> bool {
        (acc > self.threshold) != self.inverted
    }
}

/// A boolean constant, or its contrary (`COND`); `None` where there is no condition.
pub type Boolean = Option<(u8, bool)>;

/// How a boolean decides about a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ByBoolean {
    Jump,
    Push,
    PushElse,
}

#[allow(clippy::enum_variant_names, reason = "the manual names them so")]
/// The instruction between two blocks that ends the first and begins the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Between {
    PopJump,
    PopPush,
    PopPushElse,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    /// `acc = acc * 5 + constant`, the constant relative to the loop index or not.
    Work {
        index: u8,
        relative: bool,
    },
    /// `acc ^= acc * 7`, the product in a clause in whole-quad mode.
    WholeQuad,
    /// A branch; `valid` puts its JUMP, ELSE and POP in valid-pixel mode.
    If {
        cond: Above,
        then: Vec<Stmt>,
        otherwise: Option<Vec<Stmt>>,
        pop_after: bool,
        valid: bool,
    },
    /// Two branches that end in one ALU_POP2_AFTER.
    Nested {
        outer: Above,
        inner: Above,
        body: Vec<Stmt>,
        index: u8,
    },
    /// A block for the pixels for which the condition fails, begun by ALU_ELSE_AFTER: its clause makes the condition, or works for the pixels for which it
    /// holds.
    ElseAfter {
        cond: Above,
        works: Option<u8>,
        body: Vec<Stmt>,
    },
    /// A block by a boolean; PUSH_ELSE executes it where the boolean is *not* as asked.
    IfBool {
        by: ByBoolean,
        boolean: (u8, bool),
        body: Vec<Stmt>,
    },
    /// A branch, and a block by a boolean, with one instruction between them.
    Then {
        cond: Above,
        first: Vec<Stmt>,
        between: Between,
        boolean: (u8, bool),
        second: Vec<Stmt>,
    },
    Loop {
        kind: u8,
        constant: u8,
        enters: Option<bool>,
        depth: u8,
        body: Vec<Stmt>,
    },
    Leave {
        cond: Above,
        goes_on: bool,
        in_clause: bool,
    },
    /// LOOP_BREAK or LOOP_CONTINUE of every pixel, or by a boolean.
    LeaveAll {
        goes_on: bool,
        boolean: Boolean,
    },
    Kill {
        threshold: u32,
    },
    /// The control-flow KILL.
    KillAll {
        boolean: (u8, bool),
    },
    Call {
        sub: usize,
        boolean: Boolean,
    },
    /// RETURN with a condition, which decides nothing (R700 table 3.7).
    ReturnBool {
        index: u8,
    },
}

pub struct Tree {
    pub main: Vec<Stmt>,
    pub subs: Vec<Vec<Stmt>>,
    pub constants: Constants,
    /// Statistics of each statement's conditions: how many pixels passed and failed.
    pub seen: RefCell<BTreeMap<usize, ConditionCounts>>,
}

/// The conditions of one statement, over all pixels.
#[derive(Clone, Copy, Debug)]
pub struct ConditionCounts {
    /// The instruction that the condition belongs to.
    pub name: &'static str,
    pub in_loop: bool,
    pub in_branch: bool,
    pub passed: u32,
    pub failed: u32,
}

pub struct Random(pub u64);

/// The position of a block.
#[derive(Clone, Copy)]
struct BlockPosition {
    loops: u8,
    depth: u32,
    first_sub: usize,
    in_sub: bool,
}

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
    fn boolean(&mut self) -> (u8, bool) {
        (self.below(8) as u8, self.chance(50))
    }

    fn block(&mut self, budget: &mut u32, at: BlockPosition) -> Vec<Stmt> {
        let mut block = Vec::new();
        for _ in 0..1 + self.below(4) {
            if *budget == 0 {
                break;
            }
            *budget -= 1;
            block.push(self.statement(budget, at));
        }
        block
    }

    fn statement(&mut self, budget: &mut u32, at: BlockPosition) -> Stmt {
        let nested = at.depth < 5;
        let inside = BlockPosition { depth: at.depth + 1, ..at };
        if at.loops > 0 && self.chance(12) {
            return Stmt::Leave { cond: self.above(), goes_on: self.chance(50), in_clause: self.chance(60) };
        }
        match self.below(20) {
            0..3 => Stmt::Work { index: self.below(20) as u8, relative: self.chance(40) },
            3 => Stmt::WholeQuad,
            4..7 if nested => Stmt::If {
                cond: self.above(),
                then: self.block(budget, inside),
                otherwise: self.chance(50).then(|| self.block(budget, inside)),
                pop_after: self.chance(50),
                valid: self.chance(20),
            },
            7 if nested => Stmt::IfBool {
                by: [ByBoolean::Jump, ByBoolean::Push, ByBoolean::PushElse][self.below(3) as usize],
                boolean: self.boolean(),
                body: self.block(budget, inside),
            },
            8 if nested => Stmt::Nested {
                outer: self.above(),
                inner: self.above(),
                body: self.block(budget, inside),
                index: self.below(20) as u8,
            },
            9 if nested => {
                let cond = self.above();
                let works = cond.inverted.then_some((cond.threshold % 20) as u8);
                Stmt::ElseAfter { cond, works, body: self.block(budget, inside) }
            }
            10 if nested => Stmt::Then {
                cond: self.above(),
                first: self.block(budget, inside),
                between: [Between::PopJump, Between::PopPush, Between::PopPushElse][self.below(3) as usize],
                boolean: self.boolean(),
                second: self.block(budget, inside),
            },
            11..13 if nested && at.loops < 3 => Stmt::Loop {
                kind: self.below(3) as u8,
                constant: self.below(8) as u8,
                enters: self.chance(25).then(|| self.chance(50)),
                depth: at.loops + if at.in_sub { 3 * at.first_sub as u8 } else { 0 },
                body: self.block(budget, BlockPosition { loops: at.loops + 1, ..inside }),
            },
            13..15 if at.loops > 0 => {
                Stmt::Leave { cond: self.above(), goes_on: self.chance(50), in_clause: self.chance(40) }
            }
            15 if at.loops > 0 && self.chance(50) => {
                let boolean = if self.chance(60) { Some(self.boolean()) } else { None };
                Stmt::LeaveAll { goes_on: self.chance(50), boolean }
            }
            16 if self.chance(30) => Stmt::Kill { threshold: self.below(u32::MAX) },
            16 if self.chance(20) => Stmt::KillAll { boolean: self.boolean() },
            17 | 18 if at.first_sub < SUBROUTINES => {
                let sub = at.first_sub + self.below((SUBROUTINES - at.first_sub) as u32) as usize;
                Stmt::Call { sub, boolean: if self.chance(30) { Some(self.boolean()) } else { None } }
            }
            19 if at.in_sub && at.depth == 0 => Stmt::ReturnBool { index: self.below(8) as u8 },
            _ => Stmt::Work { index: self.below(20) as u8, relative: false },
        }
    }

    pub fn tree(&mut self) -> Tree {
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
        // Loops of a caller do not reach into a subroutine.
        let subs = (0..SUBROUTINES)
            .map(|n| self.block(&mut 6, BlockPosition { loops: 0, depth: 0, first_sub: n + 1, in_sub: true }))
            .collect::<Vec<_>>();
        let main = self.block(&mut 24, BlockPosition { loops: 0, depth: 0, first_sub: 0, in_sub: false });
        Tree { main, subs, constants, seen: RefCell::default() }
    }
}

// ---- meaning -------------------------------------------------------------------------------------------------

pub struct Pixel {
    pub acc: u32,
    pub killed: bool,
    pub indices: Vec<Option<i32>>,
    pub branches: u32,
}

#[derive(PartialEq)]
pub enum End {
    Normal,
    Break,
    Continue,
    Return,
}

impl Tree {
    pub fn block(&self, block: &[Stmt], p: &mut Pixel) -> End {
        for stmt in block {
            let end = self.statement(stmt, p);
            if end != End::Normal {
                return end;
            }
        }
        End::Normal
    }

    fn branch(&self, block: &[Stmt], p: &mut Pixel) -> End {
        p.branches += 1;
        let end = self.block(block, p);
        p.branches -= 1;
        end
    }

    fn boolean(&self, (index, wanted): (u8, bool)) -> bool {
        self.constants.bool[usize::from(index)] == wanted
    }

    /// Counts the outcome of a condition.
    fn note(&self, stmt: &Stmt, name: &'static str, p: &Pixel, holds: bool) -> bool {
        let fresh =
            ConditionCounts { name, in_loop: !p.indices.is_empty(), in_branch: p.branches > 0, passed: 0, failed: 0 };
        let mut seen = self.seen.borrow_mut();
        let entry = seen.entry(std::ptr::from_ref(stmt) as usize * 64 + name.len()).or_insert(fresh);
        if holds {
            entry.passed += 1;
        } else {
            entry.failed += 1;
        }
        holds
    }

    fn work(&self, p: &mut Pixel, index: u8, relative: bool) {
        let al = p.indices.iter().rev().find_map(|i| *i).unwrap_or(0);
        let at = i32::from(CONSTANTS + index) + if relative { al } else { 0 };
        p.acc = p.acc.wrapping_mul(5).wrapping_add(self.constants.file[at as usize][0]);
    }

    fn statement(&self, stmt: &Stmt, p: &mut Pixel) -> End {
        match stmt {
            Stmt::Work { index, relative } => self.work(p, *index, *relative),
            Stmt::WholeQuad => p.acc ^= p.acc.wrapping_mul(7),
            Stmt::If { cond, then, otherwise, .. } => {
                if self.note(stmt, if otherwise.is_some() { "ELSE" } else { "ALU_PUSH_BEFORE" }, p, cond.holds(p.acc)) {
                    return self.branch(then, p);
                } else if let Some(otherwise) = otherwise {
                    return self.branch(otherwise, p);
                }
            }
            Stmt::Nested { outer, inner, body, index } => {
                let holds = outer.holds(p.acc) && inner.holds(p.acc);
                if self.note(stmt, "ALU_POP2_AFTER", p, holds) {
                    let end = self.branch(body, p);
                    if end != End::Normal {
                        return end;
                    }
                    self.work(p, *index, false);
                }
            }
            Stmt::ElseAfter { cond, works, body } => {
                if !self.note(stmt, "ALU_ELSE_AFTER", p, cond.holds(p.acc)) {
                    return self.branch(body, p);
                }
                if let Some(index) = works {
                    self.work(p, *index, false);
                }
            }
            Stmt::IfBool { by, boolean, body } => {
                let name = match by {
                    ByBoolean::Jump => "JUMP",
                    ByBoolean::Push => "PUSH",
                    ByBoolean::PushElse => "PUSH_ELSE",
                };
                if self.note(stmt, name, p, self.boolean(*boolean)) != (*by == ByBoolean::PushElse) {
                    return self.branch(body, p);
                }
            }
            Stmt::Then { cond, first, between, boolean, second } => {
                if cond.holds(p.acc) {
                    let end = self.branch(first, p);
                    if end != End::Normal {
                        return end;
                    }
                }
                let name = match between {
                    Between::PopJump => "POP_JUMP",
                    Between::PopPush => "POP_PUSH",
                    Between::PopPushElse => "POP_PUSH_ELSE",
                };
                if self.note(stmt, name, p, self.boolean(*boolean)) != (*between == Between::PopPushElse) {
                    return self.branch(second, p);
                }
            }
            Stmt::Loop { kind, constant: number, enters, body, .. } => {
                let constant = self.constants.loops[usize::from(*number)];
                let (name, count, mut index) = match kind {
                    0 => ("LOOP_START", constant.count, Some(i32::from(constant.start))),
                    1 => ("LOOP_START_NO_AL", constant.count, None),
                    // The DX10 loop counts by itself, up to three turns.
                    _ => ("LOOP_START_DX10", 3, None),
                };
                let enters = enters.is_none_or(|wanted| self.boolean((*number, wanted)));
                if !self.note(stmt, name, p, enters && count > 0) {
                    return End::Normal;
                }
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
            Stmt::Leave { cond, goes_on, in_clause } => {
                let name = match (in_clause, goes_on) {
                    (true, true) => "ALU_CONTINUE",
                    (true, false) => "ALU_BREAK",
                    (false, true) => "LOOP_CONTINUE",
                    (false, false) => "LOOP_BREAK",
                };
                if self.note(stmt, name, p, cond.holds(p.acc)) {
                    return if *goes_on { End::Continue } else { End::Break };
                }
            }
            Stmt::LeaveAll { goes_on, boolean } => {
                if boolean.is_none_or(|boolean| self.boolean(boolean)) {
                    return if *goes_on { End::Continue } else { End::Break };
                }
            }
            Stmt::Kill { threshold } => p.killed |= p.acc > *threshold,
            Stmt::KillAll { boolean } => p.killed |= self.note(stmt, "KILL", p, self.boolean(*boolean)),
            Stmt::Call { sub, boolean } => {
                // A return ends the subroutine only; the loop index of the caller stays visible.
                if self.note(stmt, "CALL", p, boolean.is_none_or(|boolean| self.boolean(boolean))) {
                    let _ = self.block(&self.subs[*sub], p);
                }
            }
            Stmt::ReturnBool { index } => {
                self.note(stmt, "RETURN", p, self.constants.bool[usize::from(*index)]);
                return End::Return;
            }
        }
        End::Normal
    }
}
