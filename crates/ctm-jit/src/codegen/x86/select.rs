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
pub use sums::factors;

use super::isa::Isa;
use super::lir::{Group, Lines, Lir, Src, Vars, Vector};
use super::lookups::{Fetch, Reference, Write};
use super::r700::alu::{Alu, Operand};
use super::scalar::{self, Sink, Special};
use crate::codegen::x86::asm;
use crate::ir::x1k::{Block, Few, File, Op, Test, Under, Value};
use ctm_exec::float::{NAN, ONE, SIGN};
use ctm_exec::x1k::ops::ZeroRule;
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::ops::{CompareOp, Imod, Omod};
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
/// Greater or equal, or one of them is a NaN.
const NOT_LESS: u8 = 0x15;
/// Less, or one of them is a NaN.
const NOT_GREATER_EQUAL: u8 = 0x19;
/// Less or equal, or one of them is a NaN.
const NOT_GREATER: u8 = 0x1a;

/// Turns blocks into vector instructions.
pub struct Select<'a> {
    vars: &'a Vars,
    facts: &'a Facts,
    rows: Rows,
    isa: Isa,
    /// Instructions have masks, and nobody looks at idle lanes.
    pub merges: bool,
    /// Sums before an output modifier may fall below the range of single precision. Otherwise the processor has to be asked whether
    /// one has, see [`Self::assumed`].
    pub careful: bool,
    /// Nothing may fall below the range of single precision.
    pub assumed: bool,
    /// Vectors so far.
    pub vectors: u32,
    lines: Lines,
    /// Some instruction since the last group names a mask register.
    masks: bool,
    /// Looks for wrong NaNs may be put off.
    pub defers: bool,
    /// Constants that are numbers other than zero in this launch, in order.
    pub ordinary: &'a [u16],
    deferred: Deferred,
    /// Some were.
    pub has_deferred: bool,
    /// The fetches of the program, in the order of their numbers.
    pub fetches: Vec<Fetch>,
    /// Its uncached writes, in the order of theirs.
    pub writes: Vec<Write>,
    /// Its calls of reference functions, in the order of theirs.
    pub references: Vec<Reference>,
    tables: Tables,
    /// Room for those of a block.
    notes: Vec<Note>,
}

/// Rows of a copy's part of the frame.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Coordinates of a fetch: two rows.
    pub coordinates: i32,
    /// What a fetch gave: four rows.
    pub texels: i32,
}

impl Rows {
    /// The three operands of a write or of a call of a reference function, whose result is then where the third was.
    const fn call(self) -> [i32; 3] {
        [self.coordinates, self.coordinates + 64, self.texels]
    }
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
    pub fn new(isa: Isa, vars: &'a Vars, facts: &'a Facts, rows: Rows) -> Self {
        Self {
            vars,
            facts,
            rows,
            isa,
            merges: false,
            careful: true,
            assumed: false,
            vectors: vars.used.len() as u32,
            lines: Lines::default(),
            masks: false,
            defers: false,
            ordinary: &[],
            deferred: Deferred::default(),
            has_deferred: false,
            fetches: Vec::new(),
            writes: Vec::new(),
            references: Vec::new(),
            tables: Tables::default(),
            notes: Vec::new(),
        }
    }

    /// The instructions of a block, the program's of this number; `waited`: copies may wait elsewhere meanwhile.
    pub fn block(&mut self, index: usize, block: &Block, waited: bool) -> Lines {
        let mut plan = self.plan(index, block, waited);
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

    /// Whether an operand is known to be a number other than zero.
    fn is_ordinary(&self, src: Src) -> bool {
        matches!(src, Src::Const(index) if self.ordinary.binary_search(&index).is_ok())
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
                self.push(match file {
                    File::Temp => Lir::TempRelative { frame, base, channel, dst },
                    File::Const => Lir::ConstRelative { frame, base, channel, dst },
                });
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
                if plan.notes[place].masked {
                    self.masked(plan, dst, [a, b, c], zero_wins, omod);
                    plan.notes[place].at = Some(Src::Vector(dst));
                    return;
                }
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
            Op::Reference { op, abc, zero_wins, omod, clamp } => {
                for (row, value) in self.rows.call().into_iter().zip(abc) {
                    let src = self.src(plan, value);
                    self.push(Lir::Store(row, src));
                }
                self.push(Lir::Reference(self.references.len() as u16));
                let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
                self.references.push(Reference { op, zero, omod, clamp });
                let dst = self.dst(plan, place);
                self.push(Lir::Copy(dst, Src::Row(self.rows.texels)));
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
                self.push(Lir::Copy(dst, Src::Row(self.rows.texels + 64 * i32::from(channel))));
                Some(Src::Vector(dst))
            }
            Op::Fetch { s, t, under, input, unscaled, uncached } => {
                let (s, t) = (self.src(plan, s), self.src(plan, t));
                self.push(Lir::Store(self.rows.coordinates, s));
                self.push(Lir::Store(self.rows.coordinates + 64, t));
                self.push(Lir::Fetch(self.fetches.len() as u16, under));
                let channels = plan.notes[place].channels;
                self.fetches.push(Fetch { input: input & 15, unscaled, uncached, channels });
                None
            }
            Op::Write { index: [x, y], value, shared, under, set, clear } => {
                for (row, value) in self.rows.call().into_iter().zip([x, y, value]) {
                    let src = self.src(plan, value);
                    self.push(Lir::Store(row, src));
                }
                self.push(Lir::Write(self.writes.len() as u16, under));
                self.writes.push(Write { shared, set, clear });
                None
            }
            Op::Set(var, value, under) => {
                if let Some(output) = var.output_index() {
                    let under = Under { inactive: under.inactive || plan.all_here, ..under };
                    self.push(Lir::Written(output as u8, under));
                }
                let Some(vector) = self.vars.of(var) else { return };
                if plan.notes[value.index()].location == Some(vector) {
                    return;
                }
                let under = (!whole(plan.all_here, under)).then_some(under);
                let src = self.src(plan, value);
                self.push(Lir::Set(vector, src, under));
                None
            }
            Op::SetRelative { base, channel, value, under } => {
                let frame = plan.block.frames.loop_variable().map(|frame| frame as u8);
                let src = self.src(plan, value);
                self.push(Lir::SetTempRelative { frame, base, channel, src, under });
                None
            }
            Op::SetPredicate(bit, test, value, under) => {
                self.compare(plan, test, value);
                self.push(Lir::SetMask(bit, 1, under));
                None
            }
            Op::SetResult(test, value, under) => {
                self.compare(plan, test, value);
                self.push(Lir::SetMask(4, 1, under));
                None
            }
            Op::Kill(value, under) => {
                self.compare(plan, CompareOp::Less, value);
                self.push(Lir::Kill(1, under));
                None
            }
            Op::Guard { file, base } => {
                let frame = plan.block.frames.loop_variable().map(|frame| frame as u8);
                let limit = match file {
                    File::Temp => TEMPORARIES,
                    File::Const => ctm_isa::x1k::FLOAT_CONSTANTS,
                } as u32;
                self.push(Lir::Guard { frame, base, limit });
                None
            }
        };
        plan.notes[place].at = made;
    }

    /// Compares with zero, into mask 1.
    fn compare(&mut self, plan: &Plan<'_>, test: CompareOp, value: Value) {
        let (how, x, y) = match decision(plan.block, test, value) {
            Some((how, x, y)) => (how, self.src(plan, x), self.src(plan, y)),
            None => (with_zero(test), self.src(plan, value), Src::Literal(0)),
        };
        self.push(Lir::Test(asm::CMP_F32, how, 1, x, y, 0));
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

/// What an operation reads once multiply-adds have absorbed negations, and comparisons with zero choices between two constants.
fn operands(block: &Block, op: &Op) -> impl Iterator<Item = Value> {
    let compared = match *op {
        Op::SetPredicate(_, test, value, _) | Op::SetResult(test, value, _) => decision(block, test, value),
        Op::Kill(value, _) => decision(block, CompareOp::Less, value),
        _ => None,
    };
    let reads = match compared {
        Some((_, x, y)) => Few::of([x, y]).into_iter(),
        None => op.reads(),
    };
    let absorbs = absorbs(op);
    reads.map(move |value| if absorbs { resolve(block, value).0 } else { value })
}

/// How a choice between two constants, compared with zero, compares what it was made by: predicate, left and right side. `None`: it is no such choice, or it does not matter what
/// was chosen.
fn decision(block: &Block, test: CompareOp, value: Value) -> Option<(u8, Value, Value)> {
    let Op::Pick { test: made, x, y, a, b } = block.op_at(value) else { return None };
    let passes = |value: Value| match block.op_at(value) {
        Op::Bits(bits) => Some(ctm_exec::x1k::ops::compare(test, bits)),
        _ => None,
    };
    match (passes(a)?, passes(b)?) {
        (true, false) => Some((predicate(made), x, y)),
        (false, true) => Some((opposite(made), x, y)),
        (true, true) | (false, false) => None,
    }
}

/// Whether a store goes to all lanes: nobody looks at those that it does not concern.
fn whole(all_here: bool, under: Under) -> bool {
    under.predicate.is_none() && !under.covered && (under.inactive || all_here)
}

/// Whether the operation makes a vector that can go where we like.
fn makes(op: &Op) -> bool {
    op.is_pure() && !matches!(op, Op::Bits(_) | Op::Const(_) | Op::Get(_))
}

/// Whether the operation can be made under a mask.
const fn merges(op: &Op) -> bool {
    matches!(op, Op::Mad { .. })
}

/// The predicate of a comparison with zero.
const fn with_zero(test: CompareOp) -> u8 {
    match test {
        CompareOp::Equal => EQUAL,
        CompareOp::Less => LESS,
        CompareOp::GreaterEqual => GREATER_EQUAL,
        CompareOp::NotEqual => NOT_EQUAL,
    }
}

/// The predicate that holds where the test does not.
const fn opposite(test: Test) -> u8 {
    match test {
        Test::Less => NOT_LESS,
        Test::Greater => NOT_GREATER,
        Test::GreaterEqual => NOT_GREATER_EQUAL,
        Test::Equal => NOT_EQUAL,
    }
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
