//! From the form to vector instructions.
//!
//! NaN bits are made right only where somebody can see them: in what reaches an output or a move. Denormals need no care: the
//! processor flushes them (MXCSR), exactly as the X1K does; only moves and choices carry them, so a `Scale` after those multiplies
//! by one.

mod deferred;
mod facts;
mod plan;
mod r700;
mod sums;

pub use facts::Facts;
use facts::Known;

use super::isa::Isa;
use super::lir::{Group, Lines, Lir, Src, Vars, Vector};
use super::r700::alu::{Alu, Operand};
use super::scalar::{self, Sink, Special};
use crate::codegen::x86::asm;
use crate::ir::x1k::{Block, File, Op, Test, Value};
use ctm_exec::float::{NAN, ONE, SIGN};
use ctm_isa::x1k::ops::{Imod, Omod};
use deferred::Deferred;
use plan::{Note, Plan, Tables};
use r700::R700;

/// Predicates of float comparisons.
pub const EQUAL: u8 = 0x00;
/// One of them is a NaN.
pub const UNORDERED: u8 = 0x03;
/// Not equal, or one of them is a NaN.
pub const NOT_EQUAL: u8 = 0x04;
/// Less.
pub const LESS: u8 = 0x11;
/// Greater or equal.
pub const GREATER_EQUAL: u8 = 0x1d;
/// Greater.
pub const GREATER: u8 = 0x1e;

/// Turns blocks into vector instructions.
pub struct Select<'a> {
    vars: &'a Vars,
    facts: &'a Facts,
    isa: Isa,
    /// Vectors so far.
    pub vectors: u32,
    lines: Lines,
    /// Some instruction since the last group names a mask register.
    masks: bool,
    /// Looks for wrong NaNs may be put off.
    pub defers: bool,
    deferred: Deferred,
    fetches: u16,
    tables: Tables,
    /// Room for those of a block.
    notes: Vec<Note>,
}

impl Sink for Select<'_> {
    fn fresh(&mut self) -> Vector {
        self.vectors += 1;
        Vector(self.vectors - 1)
    }

    // Where it is called it is known which instruction that is.
    #[inline(always)]
    fn push(&mut self, lir: Lir) {
        if !self.deferred.is_empty() {
            self.settle_before(&lir);
        }
        self.masks |= lir.uses_masks();
        self.lines.lir.push(lir);
    }

    fn isa(&self) -> Isa {
        self.isa
    }

    /// Ends the group, so that a [`Lir::StopIfNone`] stops no more than it should.
    fn split(&mut self) {
        let first = self.lines.groups.last().map_or(0, |group| group.end);
        let end = self.lines.lir.len();
        if first < end {
            self.lines.groups.push(Group { first, end, masks: std::mem::take(&mut self.masks) });
        }
    }
}

impl<'a> Select<'a> {
    /// For a program with these variables.
    pub fn new(isa: Isa, vars: &'a Vars, facts: &'a Facts) -> Self {
        Self {
            vars,
            facts,
            isa,
            vectors: vars.used.len() as u32,
            lines: Lines::default(),
            masks: false,
            defers: false,
            deferred: Deferred::default(),
            fetches: 0,
            tables: Tables::default(),
            notes: Vec::new(),
        }
    }

    /// The instructions of a block, the program's of this number.
    pub fn block(&mut self, index: usize, block: &Block) -> Lines {
        let mut plan = self.plan(index, block);
        self.lines.lir.reserve(3 * block.ops.len());
        self.lines.groups.reserve(block.ops.len());
        for place in 0..block.ops.len() {
            self.op(&mut plan, place);
            self.split();
        }
        if !self.deferred.is_empty() {
            self.settle();
        }
        self.notes = plan.notes;
        std::mem::take(&mut self.lines)
    }

    /// Where the operation's result goes.
    fn dst(&mut self, plan: &Plan<'_>, place: usize) -> Vector {
        match plan.notes[place].location {
            Some(location) => location,
            None => self.fresh(),
        }
    }

    /// A vector; made now if it is a sign change that nobody needed so far.
    fn src(&mut self, plan: &Plan<'_>, value: Value) -> Src {
        plan.notes[value.index()].at.unwrap_or(Src::Literal(0))
    }

    fn op(&mut self, plan: &mut Plan<'_>, place: usize) {
        let made = match plan.block.ops[place] {
            Op::Bits(bits) => Some(Src::Literal(bits)),
            Op::Const(index) => Some(Src::Const(index)),
            Op::Get(var) => {
                let vector = self.vars.of(var).map_or(Src::Literal(0), Src::Vector);
                let mend = plan.known[place].seen && self.facts.loose.contains(var);
                if plan.notes[place].copied || mend {
                    let dst = self.fresh();
                    self.push(Lir::Copy(dst, vector));
                    self.one_nan(mend, dst);
                    Some(Src::Vector(dst))
                } else {
                    Some(vector)
                }
            }
            Op::GetRelative { file, base, channel } => {
                let frame = plan.block.frames.loop_variable().map(|frame| frame as u8);
                let dst = self.dst(plan, place);
                debug_assert!(file == File::Const, "streams have no relative temporaries");
                self.push(Lir::ConstRelative { frame, base, channel, dst });
                Some(Src::Vector(dst))
            }
            Op::Sign(imod, a) => {
                if plan.notes[place].uses == 0 {
                    return;
                }
                let a = self.src(plan, a);
                let dst = self.dst(plan, place);
                let (op, bits) = match imod {
                    Imod::Off => (asm::OR, 0),
                    Imod::Neg => (asm::XOR, SIGN),
                    Imod::Abs => (asm::AND, !SIGN),
                    Imod::Nab => (asm::OR, SIGN),
                };
                self.push(Lir::Two(op, dst, a, Src::Literal(bits)));
                Some(Src::Vector(dst))
            }
            Op::Mad { a, b, c, zero_wins, omod } => {
                let dst = self.dst(plan, place);
                self.mad(plan, dst, [a, b, c], zero_wins, omod);
                self.one_nan(plan.known[place].seen, dst);
                Some(Src::Vector(dst))
            }
            Op::Pick { test, x, y, a, b } => {
                if self.is_absorbed_pick(plan, place) || plan.notes[place].uses == 0 {
                    return;
                }
                let [x, y, a, b] = [x, y, a, b].map(|v| self.src(plan, v));
                let dst = self.dst(plan, place);
                self.push(Lir::Test(asm::CMP_F32, predicate(test), 1, x, y, 0));
                self.push(Lir::Blend(dst, 1, a, b));
                Some(Src::Vector(dst))
            }
            Op::Scale(a, omod) => Some(self.scale(plan, place, a, omod)),
            Op::Clamp(a) => {
                let a = self.src(plan, a);
                let positive = self.two(asm::MAX, a, Src::Literal(0));
                let dst = self.dst(plan, place);
                self.push(Lir::Two(asm::MIN, dst, positive, Src::Literal(ONE)));
                Some(Src::Vector(dst))
            }
            Op::Fraction(a, omod) => {
                let a = self.src(plan, a);
                let floor = self.fresh();
                self.push(Lir::One(asm::ROUND_SCALE, floor, a, Some(9)));
                let dst = self.dst(plan, place);
                if omod == Omod::U1 {
                    self.push(Lir::Two(asm::SUB, dst, a, Src::Vector(floor)));
                } else {
                    let fraction = self.two(asm::SUB, a, Src::Vector(floor));
                    self.push(Lir::Two(asm::MUL, dst, fraction, factor(omod)));
                }
                self.one_nan(plan.known[place].seen, dst);
                Some(Src::Vector(dst))
            }
            Op::Scalar(function, a) => {
                let a = self.src(plan, a);
                let dst = self.dst(plan, place);
                scalar::emit(self, function, a, dst, Special { one_nan: plan.known[place].seen, signed_root: false });
                Some(Src::Vector(dst))
            }
            Op::R700(op, values, omod, clamp) => {
                let operands = values.map(|value| {
                    let (bare, negated) =
                        if absorbs(&plan.block.ops[place]) { resolve(plan.block, value) } else { (value, false) };
                    let flushed = plan.known[value.index()].flushed;
                    let src = self.src(plan, bare);
                    let number = matches!(src, Src::Literal(bits) if !f32::from_bits(bits).is_nan());
                    Operand { src, flushed, number, value: value.0, negated }
                });
                let alu = Alu { op, omod, clamp, seen: plan.known[place].seen };
                let dst = self.dst(plan, place);
                let read = operands.iter().any(|operand| operand.src == Src::Vector(dst));
                let made = if read && !alu.writes_last() { self.fresh() } else { dst };
                let exists = alu.emit(&mut R700 { select: self, block: plan.block }, made, operands);
                debug_assert!(exists, "{op:?} has no instructions");
                if made != dst {
                    self.push(Lir::Copy(dst, Src::Vector(made)));
                }
                Some(Src::Vector(dst))
            }
            Op::QuadLane(a, lane) => {
                let a = self.src(plan, a);
                let dst = self.dst(plan, place);
                self.push(Lir::One(asm::PERMUTE_IN_QUAD, dst, a, Some(0x55 * lane)));
                Some(Src::Vector(dst))
            }
            Op::Texel(_, channel) => {
                let dst = self.dst(plan, place);
                self.push(Lir::Copy(dst, Src::Row(64 * i32::from(channel))));
                Some(Src::Vector(dst))
            }
            Op::Fetch { .. } => {
                self.push(Lir::Fetch(self.fetches));
                self.fetches += 1;
                None
            }
            Op::Set(var, value, _) => {
                let Some(vector) = self.vars.of(var) else { return };
                if plan.notes[value.index()].location == Some(vector) {
                    return;
                }
                let src = self.src(plan, value);
                self.push(Lir::Set(vector, src));
                None
            }
            Op::Reference { .. }
            | Op::Write { .. }
            | Op::SetRelative { .. }
            | Op::SetPredicate(..)
            | Op::SetResult(..)
            | Op::Kill(..)
            | Op::Guard { .. } => {
                debug_assert!(false, "{:?} is in no stream", plan.block.ops[place]);
                None
            }
        };
        plan.notes[place].at = made;
    }

    /// Makes every NaN the one that arithmetic makes, where somebody can see it.
    fn one_nan(&mut self, seen: bool, dst: Vector) {
        if seen {
            self.push(Lir::Test(asm::CMP_F32, UNORDERED, 1, Src::Vector(dst), Src::Vector(dst), 0));
            self.push(Lir::Merge(dst, 1, Src::Literal(NAN)));
        }
    }

    /// Whether the only reader of a MIN or MAX is the `Scale` after it, which then makes both at once.
    fn is_absorbed_pick(&self, plan: &Plan<'_>, place: usize) -> bool {
        let Op::Pick { test: Test::Less | Test::Greater, x, y, a, b } = plan.block.ops[place] else { return false };
        let note = &plan.notes[place];
        x == a && y == b && note.uses == 1 && note.scaled
    }

    fn scale(&mut self, plan: &Plan<'_>, place: usize, a: Value, omod: Omod) -> Src {
        let flushed = plan.known[a.index()].flushed;
        let mut src = None;
        if self.is_absorbed_pick(plan, a.index())
            && let Op::Pick { test, a: x, b: y, .. } = plan.block.op_at(a)
        {
            // MINPS and MAXPS give the second operand for NaN and for two zeros, as the Guide wants it.
            let op = if test == Test::Less { asm::MIN } else { asm::MAX };
            let (x, y) = (self.src(plan, x), self.src(plan, y));
            if flushed && omod == Omod::U1 {
                let dst = self.dst(plan, place);
                self.push(Lir::Two(op, dst, x, y));
                self.one_nan(plan.known[place].seen, dst);
                return Src::Vector(dst);
            }
            src = Some(self.two(op, x, y));
        }
        let src = match src {
            Some(src) => src,
            None => self.src(plan, a),
        };
        if flushed && omod == Omod::U1 && !plan.known[place].seen && plan.notes[place].location.is_none() {
            return src;
        }
        let dst = self.dst(plan, place);
        self.push(if flushed && omod == Omod::U1 {
            Lir::Copy(dst, src)
        } else {
            Lir::Two(asm::MUL, dst, src, factor(omod))
        });
        self.one_nan(plan.known[place].seen, dst);
        Src::Vector(dst)
    }
}

/// The value of an operand of a multiply-add without its negation, and whether it is negated.
fn resolve(block: &Block, value: Value) -> (Value, bool) {
    match block.op_at(value) {
        Op::Sign(Imod::Neg, a) => (a, true),
        _ => (value, false),
    }
}

/// Whether an operation takes operands that are to be negated.
const fn absorbs(op: &Op) -> bool {
    match *op {
        Op::Mad { .. } => true,
        Op::R700(op, ..) => Alu::negates(op),
        _ => false,
    }
}

/// What an operation reads once multiply-adds have absorbed negations.
fn operands(block: &Block, op: &Op) -> impl Iterator<Item = Value> {
    let absorbs = absorbs(op);
    op.reads().map(move |value| if absorbs { resolve(block, value).0 } else { value })
}

/// Whether the operation makes a vector that can go where we like.
fn makes(op: &Op) -> bool {
    op.is_pure() && !matches!(op, Op::Bits(_) | Op::Const(_) | Op::Get(_))
}

fn predicate(test: Test) -> u8 {
    match test {
        Test::Less => LESS,
        Test::Greater => GREATER,
        Test::GreaterEqual => GREATER_EQUAL,
        Test::Equal => EQUAL,
    }
}

/// The factor of an output modifier.
fn factor(omod: Omod) -> Src {
    Src::Literal((ctm_exec::x1k::ops::omod_factor(omod) as f32).to_bits())
}
