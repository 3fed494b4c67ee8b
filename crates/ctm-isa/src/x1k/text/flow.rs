//! Flow control: the statements of CTM §3.5.4, the raw form, and the structure they must have.

mod raw;

use super::Parse;
use super::alu::{predicate, predicate_bits, print_predicate};
use super::attrs::Attrs;
use super::lexer::{Cursor, Tok, unknown_word};
use super::names::{Names, RegisterFile};
use super::pair::Predicate;
use crate::diag::{Diagnostic, Span};
use crate::x1k::INSTRUCTION_SLOTS;
use crate::x1k::formats::{CmnInst, FcAddr, FcInst};
use crate::x1k::inst::{AluInst, FcInstruction};
use crate::x1k::ops::{AOp, BOp, FcOp, InstType, PredSel};
use raw::raw;
pub(super) use raw::{lift_raw, print_raw};

/// The condition of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// One predicate bit.
    Predicate(PredSel),
    /// A boolean constant.
    Bool(u8),
    /// The ALU result.
    Result,
}

/// A condition, or its inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    test: Test,
    invert: bool,
}

impl Condition {
    /// A boolean constant is the same for all processors: the branch needs no branch counters (CTM §3.5.4).
    const fn is_static(self) -> bool {
        matches!(self.test, Test::Bool(_))
    }
}

/// A statement that means one row of CTM §3.5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    If(Condition),
    Else,
    Endif,
    Loop { rep: bool, int: u8 },
    EndLoop { rep: bool },
    Break(Option<Condition>),
    Continue(Option<Condition>),
    Call(Option<Condition>),
    Ret,
}

/// Where a jump goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JumpTarget<'a> {
    Label(&'a str, Span),
    Address(u16),
}

/// The contents of a flow-control line.
#[derive(Clone, Debug)]
pub(super) enum Line<'a> {
    Structured(Statement, Option<JumpTarget<'a>>),
    Raw(Box<FcInstruction>, Option<JumpTarget<'a>>),
}

/// The first words of flow-control lines.
pub(super) const MNEMONICS: &[&str] =
    &["if", "else", "endif", "loop", "rep", "endloop", "endrep", "break", "continue", "call", "ret", "fc"];

/// The operations of the raw form.
const OPS: [(&str, FcOp); 8] = [
    ("jump", FcOp::Jump),
    ("loop", FcOp::Loop),
    ("endloop", FcOp::EndLoop),
    ("rep", FcOp::Rep),
    ("endrep", FcOp::EndRep),
    ("breakloop", FcOp::BreakLoop),
    ("breakrep", FcOp::BreakRep),
    ("continue", FcOp::Continue),
];
const A_OPS: [(&str, AOp); 3] = [("none", AOp::None), ("pop", AOp::Pop), ("push", AOp::Push)];
const B_OPS: [(&str, BOp); 3] = [("none", BOp::None), ("decr", BOp::Decr), ("incr", BOp::Incr)];

/// Every word that begins a line of flow control, and the operations of the raw form.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    MNEMONICS.iter().copied().chain(OPS.iter().map(|(name, _)| *name)).chain(["end"])
}

/// The meaning of a word of flow control: the operation of the tables.
pub(super) fn meaning(word: &str) -> Option<(&'static str, &'static str)> {
    let structured = match word {
        "if" | "else" | "endif" => Some(("a jump that keeps the branch counters (CTM table 3.5.4)", FcOp::Jump)),
        "call" | "ret" => Some(("a jump that uses the address stack (CTM table 3.5.4)", FcOp::Jump)),
        "break" => Some(("the break of the loop around it", FcOp::BreakLoop)),
        _ => None,
    };
    let raw = OPS.iter().find(|(name, _)| *name == word).map(|(_, op)| ("a flow-control operation", *op));
    structured.or(raw).map(|(says, op)| (says, op.name()))
}

/// An FC instruction with everything at 0.
fn blank() -> FcInstruction {
    FcInstruction {
        cmn: CmnInst { kind: InstType::Fc, ..AluInst::idle(InstType::Fc).cmn },
        inst: FcInst {
            op: FcOp::Jump,
            b_else: false,
            jump_any: false,
            a_op: AOp::None,
            jump_func: 0,
            b_pop_cnt: 0,
            b_op0: BOp::None,
            b_op1: BOp::None,
            ignore_uncovered: false,
        },
        addr: FcAddr { bool_addr: 0, int_addr: 0, jump_addr: 0, jump_global: false },
    }
}

/// Sets the jump condition: jump if the condition holds, or (`when` false) if it does not.
fn set_condition(fc: &mut FcInstruction, condition: Option<Condition>, when: bool) {
    let func: u8 = match condition.map(|c| c.test) {
        None => 0xff,
        Some(Test::Bool(index)) => {
            fc.addr.bool_addr = index;
            0xaa
        }
        Some(Test::Predicate(sel)) => {
            fc.cmn.rgb_pred_sel = sel;
            fc.cmn.rgb_pred_inv = condition.is_some_and(|c| c.invert);
            fc.inst.jump_func = if when { 0xcc } else { !0xcc };
            return;
        }
        Some(Test::Result) => 0xf0,
    };
    let invert = condition.is_some_and(|c| c.invert);
    fc.inst.jump_func = if invert == when && condition.is_some() { !func } else { func };
}

/// The row of CTM §3.5.4 for a statement. `has_else` is for `If`, `dynamic` for `Else` and `Endif`, `pops` for `Break` and `Continue`.
fn row(statement: Statement, has_else: bool, dynamic: bool, rep: bool, pops: u8) -> FcInstruction {
    let mut fc = blank();
    let i = &mut fc.inst;
    match statement {
        Statement::If(condition) => {
            set_condition(&mut fc, Some(condition), false);
            if !condition.is_static() {
                fc.inst.b_op0 = BOp::Incr;
                fc.inst.b_op1 = if has_else { BOp::Incr } else { BOp::None };
            }
        }
        Statement::Else if dynamic => (i.b_else, i.b_op1, i.b_pop_cnt) = (true, BOp::Decr, 1),
        Statement::Else => i.jump_func = 0xff,
        Statement::Endif => (i.jump_any, i.b_op0, i.b_pop_cnt) = (true, BOp::Decr, 1),
        Statement::Loop { rep, int } => {
            i.op = if rep { FcOp::Rep } else { FcOp::Loop };
            fc.addr.int_addr = int;
        }
        Statement::EndLoop { rep } => {
            (i.op, i.jump_func, i.jump_any) = (if rep { FcOp::EndRep } else { FcOp::EndLoop }, 0xff, true);
        }
        Statement::Break(condition) => {
            (i.op, i.b_op1, i.b_pop_cnt) = (if rep { FcOp::BreakRep } else { FcOp::BreakLoop }, BOp::Decr, pops);
            set_condition(&mut fc, condition, true);
        }
        Statement::Continue(condition) => {
            (i.op, i.b_op1, i.b_pop_cnt) = (FcOp::Continue, BOp::Decr, pops);
            set_condition(&mut fc, condition, true);
        }
        Statement::Call(condition) => {
            (i.jump_any, i.a_op, i.b_op1) = (true, AOp::Push, BOp::Incr);
            set_condition(&mut fc, condition, true);
        }
        Statement::Ret => (i.jump_func, i.a_op, i.b_op1, i.b_pop_cnt) = (0xff, AOp::Pop, BOp::Decr, 1),
    }
    fc
}

/// Parses a line that begins with one of [`MNEMONICS`] after its predicate.
pub(super) fn parse<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<(Line<'a>, Attrs)> {
    let start = cursor.span();
    let prefix = predicate(cursor)?;
    let word = cursor.word("a flow-control statement")?;
    if prefix.is_some() && word != "fc" {
        return Err(Box::new(
            Diagnostic::error("predicate", format!("`{word}` takes its condition behind the word"))
                .at(cursor.span_from(start), "")
                .help(format!("write `{word} p.r`; only the raw form `fc` has a predicate in front")),
        ));
    }
    let mut attrs = Attrs::default();
    let statement = match word {
        "if" => Statement::If(condition(cursor, names)?),
        "else" => Statement::Else,
        "endif" => Statement::Endif,
        "loop" | "rep" => Statement::Loop { rep: word == "rep", int: names.plain(cursor, RegisterFile::Int)? },
        "endloop" | "endrep" => Statement::EndLoop { rep: word == "endrep" },
        "break" => Statement::Break(optional_condition(cursor, names)?),
        "continue" => Statement::Continue(optional_condition(cursor, names)?),
        "call" => {
            let target = target(cursor)?;
            let statement = Statement::Call(optional_condition(cursor, names)?);
            trailing(cursor, names, &mut attrs)?;
            return Ok((Line::Structured(statement, Some(target)), attrs));
        }
        "ret" => {
            if starts_condition(cursor, names) {
                return Err(Box::new(
                    Diagnostic::error("flow", "a return cannot have a condition here")
                        .at(cursor.span(), "")
                        .cite("CTM §3.5.2")
                        .help("put the rest of the subroutine between `if` and `endif`, or use `fc` and count the branches yourself"),
                ));
            }
            Statement::Ret
        }
        _ => return raw(cursor, names, prefix.map(|p| p.0)),
    };
    let target = trailing(cursor, names, &mut attrs)?;
    Ok((Line::Structured(statement, target), attrs))
}

/// `to=label` and attributes.
fn trailing<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>, attrs: &mut Attrs) -> Parse<Option<JumpTarget<'a>>> {
    let mut found = None;
    while !cursor.is_at_end() {
        if cursor.at_word("to") && matches!(cursor.peek_after(1), Some(Tok::Punct('='))) {
            cursor.advance();
            cursor.advance();
            found = Some(target(cursor)?);
        } else {
            attrs.parse(cursor, names, &[InstType::Fc])?;
        }
    }
    Ok(found)
}

fn target<'a>(cursor: &mut Cursor<'_, 'a>) -> Parse<JumpTarget<'a>> {
    if let Some(Tok::Number(_)) = cursor.peek() {
        return Ok(JumpTarget::Address(cursor.integer("the address", 511)? as u16));
    }
    let span = cursor.span();
    Ok(JumpTarget::Label(cursor.word("a label")?, span))
}

fn starts_condition(cursor: &Cursor<'_, '_>, names: &Names<'_>) -> bool {
    match cursor.peek() {
        Some(Tok::Punct('!')) => true,
        Some(Tok::Word("p" | "res")) => true,
        Some(Tok::Word(word)) => names.file_of(word) == Some(RegisterFile::Bool),
        _ => false,
    }
}

fn optional_condition<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Option<Condition>> {
    if starts_condition(cursor, names) { condition(cursor, names).map(Some) } else { Ok(None) }
}

/// `p.r`, `b3`, `res`, or the inverse with `!`.
fn condition<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Condition> {
    let start = cursor.span();
    if matches!(cursor.peek_after(usize::from(cursor.at_punct('!'))), Some(Tok::Word("p"))) {
        let Predicate { sel, invert } = predicate_bits(cursor)?;
        if sel == PredSel::Rgba {
            return Err(Box::new(
                Diagnostic::error("predicate", "flow control cannot be predicated per channel")
                    .at(cursor.span_from(start), "")
                    .cite("CTM §3.5.1")
                    .help("name one bit: p.r, p.g, p.b or p.a"),
            ));
        }
        return Ok(Condition { test: Test::Predicate(sel), invert });
    }
    let invert = cursor.eat('!');
    if cursor.eat_word("res") {
        return Ok(Condition { test: Test::Result, invert });
    }
    if !starts_condition(cursor, names) {
        let finding = *cursor.unexpected("a condition: `p.r`, `b0`, `res`, or one of them with `!`,");
        return Err(Box::new(
            finding.help("to compare, set a predicate first: `sub p.r(lt), r1, r0`, then `if p.r` for r0 > r1"),
        ));
    }
    Ok(Condition { test: Test::Bool(names.plain(cursor, RegisterFile::Bool)?), invert })
}

fn print_condition(condition: Condition, bool_name: &dyn Fn(u8) -> Option<String>) -> String {
    let Condition { test, invert } = condition;
    let not = if invert { "!" } else { "" };
    match test {
        Test::Predicate(sel) => print_predicate(Predicate { sel, invert }),
        Test::Bool(index) => format!("{not}{}", bool_name(index).unwrap_or_else(|| format!("b{index}"))),
        Test::Result => format!("{not}res"),
    }
}

fn choice<T: Copy>(cursor: &mut Cursor<'_, '_>, what: &str, rows: &[(&str, T)]) -> Parse<T> {
    let span = cursor.span();
    let word = cursor.word(what)?;
    let names: Vec<&str> = rows.iter().map(|r| r.0).collect();
    rows.iter().find(|r| r.0 == word).map(|r| r.1).ok_or_else(|| unknown_word("flow", what, word, span, &names))
}

/// A statement as text; `call` needs its target.
pub(super) fn print_statement(
    statement: Statement,
    target: Option<&str>,
    bool_name: &dyn Fn(u8) -> Option<String>,
    int_name: &dyn Fn(u8) -> Option<String>,
) -> String {
    let with = |word: &str, condition: Option<Condition>| match condition {
        Some(condition) => format!("{word} {}", print_condition(condition, bool_name)),
        None => word.to_owned(),
    };
    let to = target.map_or_else(String::new, |t| format!(" to={t}"));
    match statement {
        Statement::If(condition) => with("if", Some(condition)) + &to,
        Statement::Else => format!("else{to}"),
        Statement::Endif => format!("endif{to}"),
        Statement::Loop { rep, int } => {
            let int = int_name(int).unwrap_or_else(|| format!("i{int}"));
            format!("{} {int}{to}", if rep { "rep" } else { "loop" })
        }
        Statement::EndLoop { rep } => format!("{}{to}", if rep { "endrep" } else { "endloop" }),
        Statement::Break(condition) => with("break", condition) + &to,
        Statement::Continue(condition) => with("continue", condition) + &to,
        Statement::Call(condition) => with(&format!("call {}", target.unwrap_or("0")), condition),
        Statement::Ret => format!("ret{to}"),
    }
}

/// An open block.
#[derive(Clone, Debug)]
enum OpenBlock {
    If { pc: usize, dynamic: bool, else_pc: Option<usize>, span: Span },
    Loop { pc: usize, rep: bool, jumps: Vec<(usize, bool)>, span: Span },
}

/// The blocks that are open, and where the jumps of the closed ones go.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    frames: Vec<OpenBlock>,
    /// Slot and target of every jump that a structure decides.
    pub targets: Vec<(usize, usize)>,
    /// Slots of dynamic `if`s that turned out to have an `else`.
    pub with_else: Vec<usize>,
    /// Blocks that are open beyond [`DEEPEST`], which have no frames.
    beyond: usize,
}

/// More blocks than the machine has instructions cannot be open. Their contents are not parsed.
const DEEPEST: usize = INSTRUCTION_SLOTS;

impl Blocks {
    /// Takes the statement at slot `pc`. `None`: the statement needs no instruction.
    pub fn statement(&mut self, pc: usize, statement: Statement, span: Span) -> Parse<Option<FcInstruction>> {
        let wrong =
            |message: &str, cite: &'static str| Box::new(Diagnostic::error("flow", message).at(span, "").cite(cite));
        match statement {
            Statement::If(_) | Statement::Loop { .. } if self.frames.len() >= DEEPEST => {
                self.beyond += 1;
                if self.beyond > 1 {
                    return Ok(None);
                }
                let message = format!("more than {DEEPEST} blocks are open; the machine has {DEEPEST} slots");
                return Err(wrong(&message, "CTM §3.1"));
            }
            Statement::Endif | Statement::EndLoop { .. } if self.beyond > 0 => {
                self.beyond -= 1;
                return Ok(None);
            }
            _ if self.beyond > 0 => return Ok(None),
            _ => {}
        }
        let mut pops = 0u8;
        let mut in_rep = false;
        let mut is_dynamic = true;
        match statement {
            Statement::If(condition) => {
                self.frames.push(OpenBlock::If { pc, dynamic: !condition.is_static(), else_pc: None, span });
            }
            Statement::Else => match self.frames.last_mut() {
                Some(OpenBlock::If { pc: if_pc, dynamic, else_pc: else_pc @ None, .. }) => {
                    *else_pc = Some(pc);
                    is_dynamic = *dynamic;
                    if *dynamic {
                        self.with_else.push(*if_pc);
                    }
                    self.targets.push((*if_pc, pc + 1));
                }
                Some(OpenBlock::If { span: open, .. }) => {
                    return Err(Box::new(
                        (*wrong("this `if` has an `else` already", "CTM §3.5.4")).at(*open, "the `if`"),
                    ));
                }
                Some(OpenBlock::Loop { span: open, .. }) => {
                    let open = *open;
                    return Err(Box::new(
                        (*wrong("`else` stands in a loop that began after its `if`", "CTM §3.5.4"))
                            .at(open, "the loop"),
                    ));
                }
                None => return Err(wrong("`else` without `if`", "CTM §3.5.4")),
            },
            Statement::Endif => match self.frames.last() {
                Some(&OpenBlock::If { pc: if_pc, dynamic, else_pc, .. }) => {
                    self.frames.pop();
                    // A static branch ends without an instruction: its jumps come here.
                    let after = if dynamic { pc + 1 } else { pc };
                    self.targets.push((else_pc.unwrap_or(if_pc), after));
                    if !dynamic {
                        return Ok(None);
                    }
                }
                Some(OpenBlock::Loop { span: open, rep, .. }) => {
                    let message = if *rep { "`endif` closes a `rep`" } else { "`endif` closes a `loop`" };
                    return Err(Box::new((*wrong(message, "CTM §3.5.4")).at(*open, "opened here")));
                }
                None => return Err(wrong("`endif` without `if`", "CTM §3.5.4")),
            },
            Statement::Loop { rep, .. } => {
                self.frames.push(OpenBlock::Loop { pc, rep, jumps: Vec::new(), span });
            }
            Statement::EndLoop { rep } => {
                let (word, opener) = if rep { ("endrep", "rep") } else { ("endloop", "loop") };
                match self.frames.last() {
                    Some(OpenBlock::Loop { rep: found, .. }) if *found == rep => {}
                    Some(OpenBlock::Loop { span: open, .. } | OpenBlock::If { span: open, .. }) => {
                        let open = *open;
                        if matches!(self.frames.last(), Some(OpenBlock::Loop { .. })) {
                            // It was meant to: one finding is enough.
                            self.frames.pop();
                        }
                        return Err(Box::new(
                            (*wrong(&format!("`{word}` does not close a `{opener}`"), "CTM §3.5.4"))
                                .at(open, "this is open"),
                        ));
                    }
                    None => return Err(wrong(&format!("`{word}` without `{opener}`"), "CTM §3.5.4")),
                }
                if let Some(OpenBlock::Loop { pc: begin, jumps, .. }) = self.frames.pop() {
                    self.targets.push((begin, pc + 1));
                    self.targets.push((pc, begin + 1));
                    self.targets.extend(jumps.iter().map(|&(from, breaks)| (from, if breaks { pc + 1 } else { pc })));
                }
            }
            Statement::Break(_) | Statement::Continue(_) => {
                for frame in self.frames.iter_mut().rev() {
                    match frame {
                        OpenBlock::If { dynamic, .. } => pops = pops.saturating_add(u8::from(*dynamic)),
                        OpenBlock::Loop { jumps, rep, .. } => {
                            in_rep = *rep;
                            jumps.push((pc, matches!(statement, Statement::Break(_))));
                            return Ok(Some(row(statement, false, true, in_rep, pops)));
                        }
                    }
                }
                return Err(wrong("there is no loop around this", "CTM §3.5.4"));
            }
            Statement::Call(_) => {}
            Statement::Ret => {
                for frame in &self.frames {
                    let (message, open) = match frame {
                        OpenBlock::If { dynamic: true, span, .. } => {
                            ("a subroutine cannot return within a branch that processors decide one by one", span)
                        }
                        OpenBlock::Loop { span, .. } => ("a subroutine cannot return within a loop", span),
                        OpenBlock::If { .. } => continue,
                    };
                    return Err(Box::new((*wrong(message, "CTM §3.5.2")).at(*open, "opened here")));
                }
            }
        }
        Ok(Some(row(statement, false, is_dynamic, in_rep, pops)))
    }

    /// Opens a block whose line could not be read, so that its end is not a second finding.
    pub fn open_anyway(&mut self, word: &str, pc: usize, span: Span) {
        match word {
            "if" | "loop" | "rep" if self.frames.len() >= DEEPEST => self.beyond += 1,
            "if" => self.frames.push(OpenBlock::If { pc, dynamic: true, else_pc: None, span }),
            "loop" | "rep" => self.frames.push(OpenBlock::Loop { pc, rep: word == "rep", jumps: Vec::new(), span }),
            _ => {}
        }
    }

    /// A finding for each block that is still open.
    pub fn unclosed(&self) -> impl Iterator<Item = Diagnostic> {
        self.frames.iter().map(|frame| {
            let (message, span) = match frame {
                OpenBlock::If { span, .. } => ("`if` has no `endif`", span),
                OpenBlock::Loop { rep: true, span, .. } => ("`rep` has no `endrep`", span),
                OpenBlock::Loop { rep: false, span, .. } => ("`loop` has no `endloop`", span),
            };
            Diagnostic::error("flow", message).at(*span, "").cite("CTM §3.5.4")
        })
    }

    /// The slot that opened the innermost block.
    pub fn innermost(&self) -> Option<usize> {
        self.frames.last().map(|frame| match frame {
            OpenBlock::If { pc, .. } | OpenBlock::Loop { pc, .. } => *pc,
        })
    }

    /// Whether the innermost block is a static `if`; whether it has an `else` by now.
    pub fn innermost_static(&self) -> Option<(usize, Option<usize>)> {
        match self.frames.last() {
            Some(OpenBlock::If { pc, dynamic: false, else_pc, .. }) => Some((*pc, *else_pc)),
            _ => None,
        }
    }

    /// Turns the rows of dynamic `if`s into those with an `else`.
    pub fn patch_else(fc: &mut FcInstruction) {
        fc.inst.b_op1 = BOp::Incr;
    }
}

/// Whether nothing is set in the common word that has no effect on flow control (CTM §3.2): such a line is certainly no `.word`.
pub(super) fn is_clean(fc: &FcInstruction) -> bool {
    let c = &fc.cmn;
    let effective = CmnInst {
        tex_sem_wait: c.tex_sem_wait,
        alu_wait: c.alu_wait,
        rgb_pred_sel: c.rgb_pred_sel,
        rgb_pred_inv: c.rgb_pred_inv,
        nop: c.nop,
        last: c.last,
        write_inactive: c.write_inactive,
        ..blank().cmn
    };
    effective == *c
}

/// The statement whose row an instruction could be, whatever its target, pop count and `covered`.
///
/// `If` is returned for rows with and without `else`; the caller compares the words in the end.
pub(super) fn lift(fc: &FcInstruction) -> Option<Statement> {
    let (i, c) = (&fc.inst, &fc.cmn);
    let condition = |jump_if_true: bool| -> Option<Option<Condition>> {
        let of = |test, invert| Some(Some(Condition { test, invert }));
        let plain = c.rgb_pred_sel == PredSel::None;
        match i.jump_func {
            0xff if jump_if_true && plain => Some(None),
            0xaa | 0x55 if plain => of(Test::Bool(fc.addr.bool_addr), (i.jump_func == 0xaa) != jump_if_true),
            0xf0 | 0x0f if plain => of(Test::Result, (i.jump_func == 0xf0) != jump_if_true),
            0xcc | 0x33 if !plain && c.rgb_pred_sel != PredSel::Rgba && (i.jump_func == 0xcc) == jump_if_true => {
                of(Test::Predicate(c.rgb_pred_sel), c.rgb_pred_inv)
            }
            _ => None,
        }
    };
    let statement = match (i.op, i.a_op, i.b_op0, i.b_op1) {
        (FcOp::Jump, AOp::None, BOp::Incr, BOp::Incr | BOp::None) if !i.jump_any => {
            Statement::If(condition(false)?.filter(|c| !c.is_static())?)
        }
        (FcOp::Jump, AOp::None, BOp::None, BOp::Decr) if i.b_else && i.jump_func == 0 => Statement::Else,
        (FcOp::Jump, AOp::None, BOp::Decr, BOp::None) if i.jump_any && i.jump_func == 0 => Statement::Endif,
        (FcOp::Jump, AOp::None, BOp::None, BOp::None) if !i.jump_any && !i.b_else => match i.jump_func {
            0xff => Statement::Else,
            _ => Statement::If(condition(false)?.filter(|c| c.is_static())?),
        },
        (FcOp::Loop | FcOp::Rep, AOp::None, BOp::None, BOp::None) if i.jump_func == 0 => {
            Statement::Loop { rep: i.op == FcOp::Rep, int: fc.addr.int_addr }
        }
        (FcOp::EndLoop | FcOp::EndRep, AOp::None, BOp::None, BOp::None) if i.jump_func == 0xff && i.jump_any => {
            Statement::EndLoop { rep: i.op == FcOp::EndRep }
        }
        (FcOp::BreakLoop | FcOp::BreakRep, AOp::None, BOp::None, BOp::Decr) => Statement::Break(condition(true)?),
        (FcOp::Continue, AOp::None, BOp::None, BOp::Decr) => Statement::Continue(condition(true)?),
        (FcOp::Jump, AOp::Push, BOp::None, BOp::Incr) if i.jump_any => Statement::Call(condition(true)?),
        (FcOp::Jump, AOp::Pop, BOp::None, BOp::Decr) if i.jump_func == 0xff => Statement::Ret,
        _ => return None,
    };
    Some(statement)
}
