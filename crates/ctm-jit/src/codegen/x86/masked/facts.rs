//! Analyses of operations and of a whole program before instruction selection: comparisons, and the vectors that may
//! hold denormals or show the bits of a NaN.

use crate::passes::masked::VarSet;
use ctm_exec::float::{NAN, ONE};
use ctm_ir::masked::{Block, ChannelOp, Code, Op, RegisterFile, Value, Var, indexed};
use ctm_isa::r700::ops::{AluOp, Decides, Domain, Op2, SideEffect, Test};
use ctm_x86::{self as asm, V};

/// Comparisons of floats.
pub const EQUAL: u8 = 0;
pub const LESS: u8 = 0x11;
pub const UNORDERED: u8 = 3;
pub const NOT_EQUAL: u8 = 4;
pub const AT_MOST: u8 = 0x12;
/// Or NaN.
pub const NOT_GREATER: u8 = 0x1a;
pub const AT_LEAST: u8 = 0x1d;
pub const GREATER: u8 = 0x1e;
/// Comparisons of integers.
pub const INT_EQUAL: u8 = 0;
pub const INT_LESS: u8 = 1;
pub const INT_AT_MOST: u8 = 2;
pub const INT_NOT_EQUAL: u8 = 4;
pub const INT_AT_LEAST: u8 = 5;
pub const INT_GREATER: u8 = 6;

/// The analysis results of a whole program.
pub struct Facts {
    /// Variables with visible NaN bits.
    seen: Vars,
    /// Variables that may hold denormals.
    unflushed: Vars,
    /// Variables that may hold a NaN.
    nans: Vars,
    /// Variables whose NaNs are made canonical where they are read with visible bits, not where they are written:
    /// sums of loops that end in an output.
    pub deferred: VarSet,
    /// The count of uniform values before the computed ones, and of each computed one whether it is no denormal.
    uniforms: (usize, Vec<bool>),
    /// The analysis results of each block's vectors.
    blocks: Vec<Vec<Known>>,
}

/// The analysis result of a vector.
#[derive(Clone, Copy)]
pub struct Known {
    /// Its NaN bits are visible.
    seen: bool,
    /// It holds no denormals.
    pub flushed: bool,
    /// It never holds a NaN.
    pub number: bool,
    /// A choice among results of arithmetic: NaNs are made canonical after it, and not in its operands.
    mends: bool,
}

impl Known {
    /// Whether a NaN in it is visible.
    pub const fn shows_nan(self) -> bool {
        self.seen && !self.number
    }

    /// Whether a choice has to make NaNs canonical.
    pub const fn mends_nan(self) -> bool {
        self.mends && self.shows_nan()
    }
}

/// A set of variables with a common property.
struct Vars {
    all: VarSet,
    /// Those with a query so far.
    asked: VarSet,
    /// A variable was added after a query for it: the answer no longer holds.
    is_late: bool,
}

impl Vars {
    const NONE: Self = Self { all: VarSet::NONE, asked: VarSet::NONE, is_late: false };

    /// Whether a variable is in the set so far; records the query.
    fn ask(&mut self, var: Var) -> bool {
        self.asked.insert(var);
        self.all.contains(var)
    }

    fn insert(&mut self, var: Var) {
        self.is_late |= !self.all.contains(var) && self.asked.contains(var);
        self.all.insert(var);
    }

    /// Whether an earlier answer no longer holds; begins a new round.
    fn asks_again(&mut self) -> bool {
        self.asked = VarSet::NONE;
        std::mem::take(&mut self.is_late)
    }
}

impl Facts {
    /// Runs the analysis; `start`: variables with start values.
    pub fn of(code: &Code, start: &[Var]) -> Self {
        let uniforms = (code.given_uniforms(), code.computed.iter().map(is_arithmetic).collect());
        let (seen, mut unflushed, mut nans) = (Vars::NONE, Vars::NONE, Vars::NONE);
        start.iter().for_each(|&var| [&mut unflushed, &mut nans].into_iter().for_each(|vars| vars.insert(var)));
        let mut facts = Self { seen, unflushed, nans, deferred: VarSet::NONE, uniforms, blocks: Vec::new() };
        let mut blocks: Vec<_> = code.blocks.iter().map(|block| Vec::with_capacity(block.ops.len())).collect();
        // The sets of variables only grow.
        loop {
            code.blocks.iter().zip(&mut blocks).for_each(|(block, known)| facts.holds(block, known));
            if ![&mut facts.unflushed, &mut facts.nans].map(Vars::asks_again).contains(&true) {
                break;
            }
        }
        // Outside of loops a test of each operand takes no longer.
        let chooses =
            |(block, _): &(&Block, _)| block.loops > 0 && block.ops.iter().any(|op| matches!(op, Op::Select(_)));
        code.blocks.iter().zip(&mut blocks).filter(chooses).for_each(|(block, known)| find_menders(block, known));
        facts.blocks = blocks;
        facts.find_seen(code);
        if code.blocks.iter().any(|block| block.loops > 0) {
            facts.deferred = facts.worth_deferring(code, start);
            if facts.deferred != VarSet::NONE {
                facts.find_seen(code);
            }
        }
        facts
    }

    /// Registers that hold results of arithmetic only, and that loops write more often than others read their bits.
    fn worth_deferring(&self, code: &Code, start: &[Var]) -> VarSet {
        let other = with_other_nans(code, start);
        // By variable: NaN tests at writes, less those at reads. A loop counts as eight iterations.
        let mut gain = vec![0i64; Var::export(0, 0).index()];
        for (block, of) in code.blocks.iter().zip(&self.blocks) {
            let weight = 1i64 << (3 * u32::from(block.loops.min(8)));
            for (op, &Known { seen, .. }) in block.ops.iter().zip(of) {
                match *op {
                    Op::Set { var, value, .. }
                        if var.export_index().is_none()
                            && matches!(
                                block.ops[value.index()],
                                Op::Unit(..) | Op::Dot(..) | Op::Alu { clamp: false, .. }
                            ) =>
                    {
                        gain[var.index()] += weight;
                    }
                    Op::Get(var) if seen && var.export_index().is_none() => gain[var.index()] -= weight,
                    _ => {}
                }
            }
        }
        let mut deferred = VarSet::NONE;
        let gains = gain.iter().zip(0..).filter(|(gain, _)| **gain > 0).map(|(_, var)| Var(var));
        gains.filter(|&var| self.seen.all.contains(var) && !other.contains(var)).for_each(|var| deferred.insert(var));
        deferred
    }

    /// Finds the visible vectors. Most stored values are read in later blocks, so the last block comes first.
    fn find_seen(&mut self, code: &Code) {
        self.seen = Vars::NONE;
        (Var::export(0, 0).index()..Var::COUNT).for_each(|var| self.seen.insert(Var(var as u16)));
        let mut blocks = std::mem::take(&mut self.blocks);
        loop {
            code.blocks.iter().zip(&mut blocks).rev().for_each(|(block, known)| self.sees(block, known));
            if !self.seen.asks_again() {
                break;
            }
        }
        self.blocks = blocks;
    }

    /// The analysis results of the block of this number.
    pub fn block(&self, index: usize) -> &[Known] {
        &self.blocks[index]
    }

    /// Forward step over a block: the numbers that its vectors, and by that variables, can hold.
    fn holds(&mut self, block: &Block, known: &mut Vec<Known>) {
        known.clear();
        for op in &block.ops {
            let is = |value: Value| (known[value.index()].flushed, known[value.index()].number);
            let mut hold = |var: Var, value: Value| {
                let (is_flushed, is_number) = is(value);
                (!is_flushed).then(|| self.unflushed.insert(var));
                (!is_number).then(|| self.nans.insert(var));
            };
            let (is_flushed, is_number) = match *op {
                Op::Bits(bits) => (ctm_exec::float::flush(bits) == bits, !f32::from_bits(bits).is_nan()),
                Op::Uniform(index) => {
                    let computed = usize::from(index).checked_sub(self.uniforms.0);
                    (computed.is_some_and(|index| self.uniforms.1[index]), false)
                }
                Op::Get(var) => (!self.unflushed.ask(var), !self.nans.ask(var)),
                Op::Set { var, value, .. } => {
                    hold(var, value);
                    (false, false)
                }
                Op::SetRelative { gprs, element, operands: [_, value], .. } => {
                    indexed(gprs, element).for_each(|var| hold(var, value));
                    (false, false)
                }
                Op::Abs(a) | Op::Neg(a) | Op::QuadLane(a, _) => is(a),
                Op::Alu { op, operands: [_, b, c], clamp, .. } if op.info().is_choice() => {
                    (clamp || (is(b).0 && is(c).0), false)
                }
                Op::Alu { op, operands: ab, .. } => {
                    (!op.info().is_integer(), is_number(block, op, ab, |value| is(value).1))
                }
                Op::Select([_, a, b]) => (is(a).0 && is(b).0, is(a).1 && is(b).1),
                Op::Cube { element, .. } => (element != 3, false),
                Op::Unit(unit, abc) => (true, is_number_of_unit(block, unit, abc, |value| is(value).1)),
                Op::Dot(..) => (true, false),
                _ => (false, false),
            };
            known.push(Known { seen: false, flushed: is_flushed, number: is_number, mends: false });
        }
    }

    /// Backward step over a block: its vectors, and by that variables, with visible bits.
    fn sees(&mut self, block: &Block, known: &mut [Known]) {
        known.iter_mut().for_each(|known| known.seen = false);
        for (place, op) in block.ops.iter().enumerate().rev() {
            let Known { seen: own, mends, .. } = known[place];
            let mut see = |value: Value, by: bool| known[value.index()].seen |= by;
            match *op {
                Op::Get(var) if own => self.seen.insert(var),
                Op::Get(_) => {}
                Op::Abs(a) | Op::Neg(a) | Op::QuadLane(a, _) => see(a, own),
                Op::Alu { op, operands: [_, b, c], clamp, .. } if op.info().is_choice() => {
                    see(b, own && !clamp);
                    see(c, own && !clamp);
                    if op.info().is_integer() {
                        block.ops[place].reads().for_each(|value| see(value, true));
                    }
                }
                Op::Alu { op, .. } if !op.info().is_integer() => {}
                Op::Holds { op, .. } if !op.info().is_integer() => {}
                Op::Select([c, a, b]) => {
                    see(c, true);
                    see(a, own && !mends);
                    see(b, own && !mends);
                }
                Op::Cube { .. } | Op::Unit(..) | Op::Dot(..) => {}
                Op::Set { var, value, .. } => see(value, !self.deferred.contains(var) && self.seen.ask(var)),
                _ => {
                    op.reads().for_each(|value| see(value, true));
                    if let Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. } = *op
                        && own
                    {
                        indexed(gprs, element).for_each(|var| self.seen.insert(var));
                    }
                }
            }
        }
    }
}

/// Finds the choices after which NaNs are made canonical: of results of arithmetic alone, at least two of which may be
/// NaNs.
fn find_menders(block: &Block, known: &mut [Known]) {
    // The number of NaN tests of each vector, if any NaN in it may become the canonical one.
    let mut looks: Vec<Option<u8>> = Vec::with_capacity(block.ops.len());
    for (place, op) in block.ops.iter().enumerate() {
        looks.push(match *op {
            _ if known[place].number => Some(0),
            Op::Bits(bits) => (bits == NAN).then_some(0),
            Op::Select([_, a, b]) => looks[a.index()].zip(looks[b.index()]).map(|(a, b)| {
                known[place].mends = a + b > 1;
                (a + b).min(1)
            }),
            ref op => is_arithmetic(op).then_some(1),
        });
    }
}

/// Whether an operation gives numbers without denormals, and no NaN but the canonical one.
fn is_arithmetic(op: &Op) -> bool {
    match *op {
        Op::Alu { op, .. } => !op.info().is_choice() && !op.info().is_integer(),
        _ => matches!(op, Op::Unit(..) | Op::Dot(..)),
    }
}

/// Variables that may hold a NaN other than the canonical one, or are accessed at an index: such reads make none canonical.
fn with_other_nans(code: &Code, start: &[Var]) -> VarSet {
    let mut other = Vars::NONE;
    start.iter().for_each(|&var| other.insert(var));
    for op in code.blocks.iter().flat_map(|block| &block.ops) {
        if let Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. } | Op::SetRelative { gprs, element, .. } =
            *op
        {
            indexed(gprs, element).for_each(|var| other.insert(var));
        }
    }
    loop {
        for block in &code.blocks {
            let mut canonical: Vec<bool> = Vec::with_capacity(block.ops.len());
            for op in &block.ops {
                let is = |value: Value| canonical[value.index()];
                let holds = match *op {
                    Op::Bits(bits) => bits == NAN || !f32::from_bits(bits).is_nan(),
                    Op::Get(var) => !other.ask(var),
                    Op::QuadLane(a, _) => is(a),
                    Op::Select([_, a, b]) => is(a) && is(b),
                    Op::Alu { op, operands: [_, b, c], clamp, .. } if op.info().is_choice() => {
                        clamp && !op.info().is_integer() || is(b) && is(c)
                    }
                    ref op => is_arithmetic(op),
                };
                if let Op::Set { var, value, .. } = *op
                    && !is(value)
                {
                    other.insert(var);
                }
                canonical.push(holds);
            }
        }
        if !other.asks_again() {
            return other.all;
        }
    }
}

/// Whether the result of an operation that is no choice is never a NaN; `is`: whether an operand is none. Counts of
/// iterations in floats are such.
fn is_number(block: &Block, op: AluOp, [a, b, _]: [Value; 3], is: impl Fn(Value) -> bool) -> bool {
    let AluOp::Op2(op) = op else { return false };
    let finite = |value: Value| match block.ops[value.index()] {
        Op::Alu { op: AluOp::Op2(Op2::IntToFlt | Op2::UintToFlt), .. } => true,
        ref op => is_finite(op),
    };
    let ordinary = |value: Value| is_normal(&block.ops[value.index()]);
    match op {
        Op2::IntToFlt | Op2::UintToFlt | Op2::Sete | Op2::Setgt | Op2::Setge | Op2::Setne => true,
        Op2::Mov | Op2::Floor | Op2::Ceil | Op2::Trunc | Op2::Rndne => is(a),
        Op2::Max | Op2::Min => is(a) && is(b),
        Op2::MaxDx10 | Op2::MinDx10 => is(a) || is(b),
        // Infinities of both signs have no sum, and zero times infinity is NaN.
        Op2::Add => is(a) && is(b) && (finite(a) || finite(b)),
        Op2::Mul | Op2::MulIeee => is(a) && is(b) && (ordinary(a) || ordinary(b)),
        _ => false,
    }
}

/// The same of an X1K operation.
fn is_number_of_unit(block: &Block, unit: ChannelOp, [a, b, c]: [Value; 3], is: impl Fn(Value) -> bool) -> bool {
    let op = |value: Value| &block.ops[block.bare(value).index()];
    match unit {
        ChannelOp::Clamp => true,
        ChannelOp::Scale(_) => is(a),
        // They give the second operand where one is a NaN.
        ChannelOp::Min | ChannelOp::Max => is(b),
        // No product of zero and infinity, and no sum of infinities.
        ChannelOp::Mad { .. } => {
            let is_one = |value| matches!(op(value), Op::Bits(ONE));
            let product_is_finite = || is_finite(op(if is_one(b) { a } else { b })) && (is_one(a) || is_one(b));
            [a, b, c].into_iter().all(&is)
                && (is_normal(op(a)) || is_normal(op(b)))
                && (is_finite(op(c)) || product_is_finite())
        }
        ChannelOp::Fraction(_) | ChannelOp::Scalar(_) => false,
    }
}

/// Whether an operation is a number that is not infinite.
fn is_finite(op: &Op) -> bool {
    matches!(*op, Op::Bits(bits) if f32::from_bits(bits).is_finite())
}

/// Whether an operation is a number that is neither infinite nor too small.
fn is_normal(op: &Op) -> bool {
    matches!(*op, Op::Bits(bits) if f32::from_bits(bits).is_normal())
}

/// The predicate of a float comparison.
pub const fn float_test(test: Test) -> u8 {
    match test {
        Test::Equal => EQUAL,
        Test::NotEqual => NOT_EQUAL,
        Test::Greater => GREATER,
        Test::GreaterEqual => AT_LEAST,
        Test::Less => LESS,
        Test::LessEqual => AT_MOST,
    }
}

/// The same of integers.
const fn int_test(test: Test) -> u8 {
    match test {
        Test::Equal => INT_EQUAL,
        Test::NotEqual => INT_NOT_EQUAL,
        Test::Greater => INT_GREATER,
        Test::GreaterEqual => INT_AT_LEAST,
        Test::Less => INT_LESS,
        Test::LessEqual => INT_AT_MOST,
    }
}

/// The instruction that compares 32-bit numbers, and its predicate.
const fn compares(domain: Domain, test: Test) -> Option<(V, u8)> {
    match domain {
        Domain::Float => Some((asm::CMP_F32, float_test(test))),
        Domain::Int => Some((asm::CMP_I32, int_test(test))),
        Domain::Uint => Some((asm::CMP_U32, int_test(test))),
        Domain::Bits | Domain::Double => None,
    }
}

/// The comparison of an operation: instruction and predicate, and whether the operands are swapped.
pub const fn comparison(op: Op2) -> Option<(V, u8)> {
    let info = op.info();
    match info.decides {
        Decides::Compare(test) => compares(info.reads, test),
        Decides::Nothing | Decides::Choose(_) | Decides::Counter | Decides::Push(_) => None,
    }
}

/// An operand of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The first operand.
    A,
    /// The second operand.
    B,
    /// A number.
    Bits(u32),
}

/// A comparison: instruction, predicate and both operands.
pub type Comparison = (V, u8, Side, Side);

/// The condition in which an operation's predicate is execute, or in which it kills: a comparison, and a second one, if
/// there is one.
pub fn truth(op: Op2) -> Option<(Comparison, Option<Comparison>)> {
    use Side::{A, B, Bits};
    use asm::{CMP_F32, CMP_I32};
    if let Some((compare, how)) = comparison(op) {
        return Some(((compare, how, A, B), None));
    }
    let counter = (CMP_F32, EQUAL, A, Bits(0));
    if let Decides::Push(test) = op.info().decides {
        return compares(op.info().reads, test).map(|(compare, how)| (counter, Some((compare, how, B, Bits(0)))));
    }
    Some(match op {
        Op2::PredSetInv => ((CMP_F32, EQUAL, A, Bits(ONE)), None),
        Op2::PredSetPop => ((CMP_F32, AT_MOST, A, B), None),
        Op2::PredSetClr => ((CMP_I32, INT_NOT_EQUAL, Bits(0), Bits(0)), None),
        Op2::PredSetRestore => (counter, None),
        _ => return None,
    })
}

/// The comparison that holds where this one does not, NaNs included.
pub const fn opposite(how: u8) -> u8 {
    how ^ 4
}

/// The comparison with swapped operands.
pub const fn mirrored(how: u8) -> u8 {
    match (how & 3, how < 16) {
        (1 | 2, true) => how ^ 7,
        (1 | 2, false) => how ^ 15,
        _ => how,
    }
}

/// Bits for true and for false.
pub const fn outcomes(op: Op2) -> (u32, u32) {
    let info = op.info();
    match (info.kind, info.writes) {
        (SideEffect::PredSet, _) => (0, ONE),
        (SideEffect::Kill, _) | (SideEffect::Plain | SideEffect::Mova, Domain::Float) => (ONE, 0),
        (SideEffect::Plain | SideEffect::Mova, Domain::Bits | Domain::Int | Domain::Uint | Domain::Double) => {
            (u32::MAX, 0)
        }
    }
}
