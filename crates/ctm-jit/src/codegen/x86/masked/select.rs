//! Instruction selection: from the form with masks to vector instructions.
//!
//! The processor flushes denormals; where an instruction would let one through, a product with 1.0 precedes it. NaN
//! bits are made canonical only in vectors with visible bits.

mod conditions;
mod dots;
mod fetches;
mod native;
mod units;
mod with;

use super::alu::Alu;
use super::doubles::{Double, Results, Wide};
use super::facts::{EQUAL, Facts, Known, UNORDERED, truth};
use super::ins::{Call, Indexed, Ins};
use super::layout::{argument, lane_numbers, result};
use crate::codegen::target::Target;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::scalar::Sink;
use conditions::compound;
use ctm_exec::float::NAN;
use ctm_exec::r700::resources::Wrap;
use ctm_ir::masked::{Block, ChannelOp, Code, M, MaskOp, Op, RegisterFile, Store, Value, Var, indexed};
use ctm_isa::r700::ops::{AluOp, Omod, Op2};
use ctm_isa::x1k::ops::Omod as XOmod;
use ctm_x86 as asm;

/// The inputs of instruction selection.
#[derive(Clone, Copy)]
pub struct SelectInputs<'a> {
    pub target: &'static Target,
    pub facts: &'a Facts,
    /// Uniform values that are numbers other than zero, in order.
    pub ordinary: &'a [u16],
    /// The wrap modes of each nearest fetch of plain texels.
    pub plain: &'a [Option<[Wrap; 2]>],
    /// For streams: lookups become loads, which streams make themselves, and nothing is called.
    pub streams: bool,
}

/// Instruction selection in progress.
pub struct Select<'a> {
    given: SelectInputs<'a>,
    code: &'a Code,
    vars: &'a [Option<Vector>],
    /// The number of vectors of variables, at least 1.
    variables: usize,
    /// Vectors so far; those of variables come first.
    pub vectors: u32,
    /// Calls so far.
    pub calls: Vec<Call>,
    /// Fetches that are inlined, so far.
    pub plain: Vec<usize>,
    out: Vec<Ins>,
    /// The last fetch that was made in code, and its live elements.
    sampled: Option<(Value, [Option<Vector>; 4])>,
    /// The block's 64-bit operations so far.
    doubles: Vec<(WideKey, Results)>,
}

/// A 64-bit operation, for any of its dwords.
type WideKey = (AluOp, [Value; 6], Omod, bool);

impl Sink for Select<'_> {
    fn fresh(&mut self) -> Vector {
        self.vectors += 1;
        Vector(self.vectors - 1)
    }

    fn push(&mut self, lir: Lir) {
        self.out.push(Ins::Lir(lir));
    }

    fn target(&self) -> &'static Target {
        self.given.target
    }

    fn split(&mut self) {
        // With AVX-512 nothing is skipped but in streams.
        if !self.has_short_runs() {
            self.out.push(Ins::Split);
        }
    }

    fn one_nan(&mut self, dst: Vector) {
        let it = Src::Vector(dst);
        let (check, mend) = (
            Lir::Test { op: asm::CMP_F32, how: UNORDERED, dst: 1, a: it, b: it, under: 0 },
            Lir::Merge { dst, k: 1, a: Src::Literal(NAN) },
        );
        let last = self.out.iter().rposition(|ins| !matches!(ins, Ins::Split));
        if let Some(end) = last.filter(|&last| matches!(self.out[last], Ins::EndRare))
            && let Some(Ins::BeginRare(of)) = self.out[..end].iter().rfind(|ins| matches!(ins, Ins::BeginRare(_)))
            && *of == check
        {
            // It has just been tested for NaNs.
            self.out.splice(end..end, [Ins::Lir(check), Ins::Lir(mend)]);
        } else if self.has_short_runs() {
            // One test of all parts takes less than mending each of them.
            self.rare(check, |select| select.push(mend));
        } else {
            [check, mend].into_iter().for_each(|lir| self.push(lir));
        }
    }
}

/// The analysis results of one block.
struct Plan<'a> {
    block: &'a Block,
    known: &'a [Known],
    /// The results of each operation.
    of: Vec<Planned>,
}

/// The analysis results of one operation.
#[derive(Clone, Copy, Default)]
struct Planned {
    /// The last place at which its vector is read.
    last: usize,
    uses: u32,
    /// The next store after a read or a store, into the same variable.
    store: usize,
    /// The variable's vector that it is made in.
    location: Option<Vector>,
    at: Option<Src>,
    /// Of a comparison: its bits are live, not only its outcome.
    is_shown: bool,
    /// The live elements of a fetch, a bit for each.
    elements: u8,
}

/// The accesses to a variable.
#[derive(Clone, Copy)]
struct Accesses {
    /// The next store.
    next: usize,
    /// The last read or store.
    last: usize,
    /// The last read of a vector that is this variable's value.
    read: usize,
}

impl<'a> Select<'a> {
    /// For a program of which `used` variables have vectors, numbered from 0.
    pub fn new(given: SelectInputs<'a>, code: &'a Code, vars: &'a [Option<Vector>], used: usize) -> Self {
        Self {
            given,
            code,
            vars,
            variables: used.max(1),
            vectors: used as u32,
            calls: Vec::new(),
            plain: Vec::new(),
            out: Vec::new(),
            sampled: None,
            doubles: Vec::new(),
        }
    }

    /// The instructions of the program's block of this number.
    pub fn block(&mut self, index: usize, block: &Block) -> Vec<Ins> {
        self.sampled = None;
        self.doubles.clear();
        let mut plan = self.plan(index, block);
        self.out.reserve(2 * block.ops.len());
        for place in 0..block.ops.len() {
            let made = self.op(&plan, place);
            plan.of[place].at = made;
            self.end_operation();
        }
        std::mem::take(&mut self.out)
    }

    /// Ends an operation. Short strips end anyway, but for instructions that use masks ([`super::runs`]);
    /// elsewhere marks count as places.
    fn end_operation(&mut self) {
        if !self.has_short_runs() || matches!(self.out.last(), Some(Ins::Lir(lir)) if lir.uses_masks()) {
            self.out.push(Ins::Split);
        }
    }

    /// Whether most strips are single instructions.
    fn has_short_runs(&self) -> bool {
        self.given.target.has_short_strips() && !self.given.streams
    }

    /// Appends an instruction that makes no vector.
    fn put(&mut self, ins: Ins) {
        // It does not move before its predecessors.
        if ins.is_whole() && self.has_short_runs() && !self.out.last().is_some_and(Ins::is_whole) {
            self.out.push(Ins::Split);
        }
        self.out.push(ins);
    }

    /// The same, for an operation without a result.
    fn effect(&mut self, ins: Ins) -> Option<Src> {
        self.put(ins);
        None
    }

    fn plan<'b>(&self, index: usize, block: &'b Block) -> Plan<'b>
    where
        'a: 'b,
    {
        let count = block.ops.len();
        let of = vec![Planned { store: count, ..Planned::default() }; count];
        let mut plan = Plan { block, known: self.given.facts.block(index), of };
        // The places of operations that access variables, or read fetched elements.
        let mut accesses = Vec::with_capacity(count);
        for (place, op) in block.ops.iter().enumerate() {
            // Where a comparison is only the condition of a choice, or a mask, its bits are dead.
            let shows = match *op {
                Op::Mask(MaskOp::Lanes(..)) => Some([None; 2]),
                Op::Select(_) if compound(block, Value(place as u32)).is_some() => Some([None; 2]),
                Op::Select([_, a, b]) => Some([Some(a), Some(b)]),
                Op::Get(_) | Op::Set { .. } | Op::GetRelative { .. } | Op::SetRelative { .. } | Op::Fetched(..) => {
                    accesses.push(place);
                    None
                }
                _ => None,
            };
            for value in operands(block, op) {
                let read = &mut plan.of[value.index()];
                read.last = place;
                read.uses += 1;
                read.is_shown |= shows.is_none_or(|shows| shows.contains(&Some(value)));
                // A comparison may be made where its result is used.
                if let Op::Holds { operands: ab, .. } = block.ops[value.index()] {
                    ab.into_iter().for_each(|v| plan.of[v.index()].last = place);
                } else if let Some(condition) = compound(block, value) {
                    condition.reads(&block.ops, &mut |v| plan.of[v.index()].last = place);
                }
            }
        }
        let number = |var: Var| self.vars[var.index()].map_or(0, Vector::index);
        let mut vars = vec![Accesses { next: count, last: 0, read: 0 }; self.variables];
        for &place in accesses.iter().rev() {
            match block.ops[place] {
                Op::Get(var) => plan.of[place].store = vars[number(var)].next,
                Op::Set { var, .. } => plan.of[place].store = std::mem::replace(&mut vars[number(var)].next, place),
                Op::SetRelative { gprs, element, .. } => {
                    indexed(gprs, element).for_each(|var| vars[number(var)].next = place);
                }
                Op::Fetched(of, element) if plan.of[place].uses > 0 => {
                    plan.of[of.index()].elements |= 1 << (element & 3);
                }
                _ => {}
            }
        }
        for &place in &accesses {
            match block.ops[place] {
                Op::Get(var) => {
                    let of = &mut vars[number(var)];
                    (of.last, of.read) = (place, of.read.max(plan.of[place].last));
                }
                Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. }
                | Op::SetRelative { gprs, element, .. } => {
                    indexed(gprs, element).for_each(|var| vars[number(var)].last = place);
                }
                Op::Set { var, value, under } => {
                    let of = &mut vars[number(var)];
                    let accessed = std::mem::replace(&mut of.last, place);
                    let (Some(vector), M::EXISTING) = (self.vars[var.index()], under) else { continue };
                    let (store, at) = (plan.of[place].store, value.index());
                    let made = &mut plan.of[at];
                    // No operation reads or writes the variable between the vector's definition and its store, nor
                    // changes it during the vector's live range; and the variable's old value is dead.
                    let free = made.location.is_none() && can_go_anywhere(&block.ops[at]) && made.last <= store;
                    if free && accessed <= at && of.read <= at {
                        made.location = Some(vector);
                        of.read = made.last;
                    }
                }
                _ => {}
            }
        }
        // A vector made in a variable's place changes it, too; its definition may still read the old value.
        vars.iter_mut().for_each(|of| of.next = count);
        for &place in accesses.iter().rev() {
            match block.ops[place] {
                Op::Set { var, value, .. }
                    if plan.of[value.index()].location.is_some_and(|of| of.index() == number(var)) =>
                {
                    vars[number(var)].next = value.index() + 1;
                }
                Op::Get(var) if vars[number(var)].next > place => {
                    plan.of[place].store = plan.of[place].store.min(vars[number(var)].next);
                }
                _ => {}
            }
        }
        plan
    }

    fn src(&self, plan: &Plan<'_>, value: Value) -> Src {
        plan.of[value.index()].at.unwrap_or(Src::Literal(0))
    }

    fn op(&mut self, plan: &Plan<'_>, place: usize) -> Option<Src> {
        let op = &plan.block.ops[place];
        match *op {
            Op::Bits(bits) => return Some(Src::Literal(bits)),
            Op::Uniform(index) => return Some(Src::Const(index)),
            Op::Lane => return Some(Src::Row(lane_numbers())),
            Op::Get(var) => {
                let vector = self.vars[var.index()]?;
                let stays = plan.of[place].store > plan.of[place].last;
                let mends = plan.known[place].shows_nan() && self.given.facts.deferred.contains(var);
                if stays && !mends {
                    return Some(Src::Vector(vector));
                }
                let dst = self.fresh();
                self.push(Lir::Copy(dst, Src::Vector(vector)));
                if mends {
                    self.one_nan(dst);
                }
                return Some(Src::Vector(dst));
            }
            Op::Set { var, value, under } => {
                let vector = self.vars[var.index()]?;
                if plan.of[value.index()].location == Some(vector) {
                    return None;
                }
                let src = self.src(plan, value);
                return self.effect(Ins::Set { dst: vector, src, under });
            }
            Op::Mask(MaskOp::Lanes(m, value)) => {
                self.put(Ins::BeginLanes);
                self.truth(plan, value, true);
                return self.effect(Ins::EndLanes(m));
            }
            Op::Mask(op) => return self.effect(Ins::Mask(op)),
            Op::Mark(var, under) => return self.effect(Ins::Mark(var.export_index()? as u16, under)),
            Op::Tally { counter, weight, under: lanes } => {
                return self.effect(Ins::Tally { counter, weight, under: lanes });
            }
            Op::Guard { number, base, count } => return self.effect(Ins::Guard { number, base, count }),
            Op::Yield(number) => return self.effect(Ins::Yield(number)),
            Op::Fetch { number, .. } if self.given.streams => {
                return self.effect(Ins::Call(number, M::EXISTING));
            }
            Op::Fetch { number, at, under } => {
                let at = at.map(|value| self.src(plan, value));
                self.fetch(plan, place, number, at, under);
                return None;
            }
            Op::Store { number, operands: of, under } => {
                let of = of.map(|value| self.src(plan, value));
                if self.code.stores.get(usize::from(number)) == Some(&Store::Dword) {
                    return self.effect(Ins::SetRelative {
                        to: Indexed::Share,
                        base: 0,
                        index: of[0],
                        value: of[1],
                        under,
                    });
                }
                self.call(Call::Store(number), &of, under);
                return None;
            }
            Op::Fetched(_, element) if self.given.streams => {
                let dst = plan.of[place].location.unwrap_or_else(|| self.fresh());
                self.push(Lir::Copy(dst, Src::Row(element.into())));
                return Some(Src::Vector(dst));
            }
            Op::Fetched(of, element) => {
                let sampled = self.sampled.filter(|(made, _)| *made == of);
                let from = match sampled.and_then(|(_, dst)| dst[usize::from(element & 3)]) {
                    Some(vector) => Src::Vector(vector),
                    None => Src::Row(result(usize::from(element))),
                };
                match (plan.of[place].location, from) {
                    (None, Src::Vector(_)) => return Some(from),
                    (location, _) => {
                        let dst = location.unwrap_or_else(|| self.fresh());
                        self.push(Lir::Copy(dst, from));
                        return Some(Src::Vector(dst));
                    }
                }
            }
            Op::SetRelative { gprs, base, element, operands: [index, value], under } => {
                let first = self.vars[Var::gpr(0, usize::from(element)).index()]?;
                let file = Indexed::Gprs { first, count: gprs };
                let (index, value) = (self.src(plan, index), self.src(plan, value));
                return self.effect(Ins::SetRelative { to: file, base, index, value, under });
            }
            _ => {}
        }
        if plan.of[place].uses == 0 {
            return None;
        }
        // A condition that only chooses or becomes a mask is made there.
        let compares = matches!(op, Op::Holds { op, .. } if truth(*op).is_some());
        let is_compound = compound(plan.block, Value(place as u32)).is_some();
        if (compares || is_compound) && plan.of[place].location.is_none() && !plan.of[place].is_shown {
            return None;
        }
        if let Some(result) = self.wide(plan, place) {
            let Some(location) = plan.of[place].location else { return Some(result) };
            self.push(Lir::Copy(location, result));
            return Some(Src::Vector(location));
        }
        // Straight into its location, unless an operand is still read from there.
        let location = plan.of[place].location;
        let reads = || operands(plan.block, op);
        let is_read = |location: Vector| reads().any(|v| plan.of[v.index()].at == Some(Src::Vector(location)));
        let is_read = |location: Vector| {
            let through = |v: Value| {
                let mut is = false;
                let mut look = |v: Value| is |= plan.of[v.index()].at == Some(Src::Vector(location));
                match plan.block.ops[v.index()] {
                    Op::Holds { operands: ab, .. } => ab.into_iter().for_each(look),
                    _ => compound(plan.block, v).into_iter().for_each(|of| of.reads(&plan.block.ops, &mut look)),
                }
                is
            };
            is_read(location) || reads().any(through)
        };
        let last = match *op {
            Op::Alu { op, omod, clamp, .. } => Alu { op, omod, clamp, seen: false }.writes_last(),
            _ => self.is_plain_mad(plan, op),
        };
        let dst = match *op {
            Op::Dot(dot, [estimate, ..]) if location.is_none() && dot.omod == XOmod::U1 => {
                self.only_for(plan, estimate)
            }
            _ => location.filter(|&location| last || !is_read(location)),
        };
        let dst = dst.unwrap_or_else(|| self.fresh());
        if !self.native(plan, place, dst) {
            let args: Vec<Src> = op.reads().map(|value| self.src(plan, value)).collect();
            self.call(Call::Pure(*op), &args, M::EXISTING);
            self.push(Lir::Copy(dst, Src::Row(result(0))));
        }
        if let Some(location) = location.filter(|&location| location != dst) {
            self.push(Lir::Copy(location, Src::Vector(dst)));
            return Some(Src::Vector(location));
        }
        Some(Src::Vector(dst))
    }

    /// The vector of a value that was made for its only use.
    fn only_for(&self, plan: &Plan<'_>, value: Value) -> Option<Vector> {
        let Planned { uses, at, .. } = plan.of[value.index()];
        match at {
            Some(Src::Vector(vector)) if uses == 1 && vector.index() >= self.variables => Some(vector),
            _ => None,
        }
    }

    fn call(&mut self, call: Call, args: &[Src], under: M) {
        for (n, &src) in args.iter().enumerate() {
            self.push(Lir::Store(argument(n), src));
        }
        self.put(Ins::Call(self.calls.len() as u16, under));
        self.calls.push(call);
    }

    /// Instructions for the lanes of a rare case: `check` puts these lanes into mask 1.
    fn rare(&mut self, check: Lir, body: impl FnOnce(&mut Self)) {
        self.begin_rare(check);
        body(self);
        self.end_rare();
    }

    fn begin_rare(&mut self, check: Lir) {
        self.end_operation();
        self.put(Ins::BeginRare(check));
    }

    fn end_rare(&mut self) {
        self.put(Ins::EndRare);
        self.end_operation();
    }

    /// Mends a product (or a sum of one) where it is a NaN and a factor is zero: `mend` runs in the lanes of mask 2.
    fn zero_wins(&mut self, made: Vector, factors: [Src; 2], mend: Lir) {
        let made = Src::Vector(made);
        self.rare(Lir::Test { op: asm::CMP_F32, how: UNORDERED, dst: 1, a: made, b: made, under: 0 }, |select| {
            for (k, factor) in [2, 3].into_iter().zip(factors) {
                select.push(Lir::Test {
                    op: asm::CMP_F32,
                    how: EQUAL,
                    dst: k,
                    a: factor,
                    b: Src::Literal(0),
                    under: 1,
                });
            }
            select.push(Lir::Or(2, 2, 3));
            select.push(mend);
        });
    }

    /// A dword of a 64-bit operation; all of its dwords are made at once.
    fn wide(&mut self, plan: &Plan<'_>, place: usize) -> Option<Src> {
        let (key, part) = wide_key(&plan.block.ops[place])?;
        if let Some((_, results)) = self.doubles.iter().find(|(made, _)| *made == key) {
            return results.get(part).copied();
        }
        let (op, dwords, omod, clamp) = key;
        let operands =
            [0, 2, 4].map(|n| Double { high: self.src(plan, dwords[n]), low: self.src(plan, dwords[n + 1]) });
        let results = Wide { op, omod, clamp }.emit(self, operands)?;
        self.doubles.push((key, results));
        results.get(part).copied()
    }
}

/// Whether a vector can be made without a call.
pub fn exists(op: &Op) -> bool {
    match *op {
        Op::Alu { op, .. } => Alu::exists(op),
        // The negation of two comparisons is not one.
        Op::Holds { op, wanted, .. } => truth(op).is_some_and(|(_, second)| wanted || second.is_none()),
        Op::Wide { .. } => false,
        _ => op.is_pure(),
    }
}

/// A 64-bit operation and the dword in question. Where both pairs of slots have the same operands, they are the first
/// pair.
fn wide_key(op: &Op) -> Option<(WideKey, usize)> {
    let Op::Wide { op, part, operands: dwords, omod, clamp } = *op else { return None };
    Some(match op {
        AluOp::Op2(Op2::PredSete64 | Op2::PredSetgt64 | Op2::PredSetge64 | Op2::Frexp64) => {
            ((op, dwords, Omod::Off, false), usize::from(part))
        }
        _ => ((op, dwords, omod, clamp), usize::from(part & 1)),
    })
}

/// Whether an operation takes negated operands.
fn negates(op: &Op) -> bool {
    match *op {
        Op::Alu { op, .. } => Alu::negates(op),
        Op::Unit(ChannelOp::Mad { .. }, _) => true,
        _ => false,
    }
}

/// An operand with its sign change taken off, if the operation negates operands: whether it is negated, and the bare
/// value.
fn without_sign(block: &Block, negates: bool, value: Value) -> (bool, Value) {
    match block.ops[value.index()] {
        Op::Neg(a) if negates => (true, a),
        _ => (false, value),
    }
}

/// The vectors that the instructions of an operation read.
fn operands(block: &Block, op: &Op) -> impl Iterator<Item = Value> {
    let negates = negates(op);
    op.reads().map(move |value| without_sign(block, negates, value).1)
}

/// Whether the operation makes a vector of its own.
fn can_go_anywhere(op: &Op) -> bool {
    op.is_pure() && !matches!(op, Op::Bits(_) | Op::Uniform(_) | Op::Lane | Op::Get(_))
}
