//! From R700's form to vector instructions.
//!
//! Denormals are flushed by the processor; where an instruction would let one through, a product with 1.0 stands before it. NaN bits are
//! made right only in vectors whose bits somebody can see.

use super::facts::{
    AT_LEAST, EQUAL, Facts, GREATER, INT_AT_LEAST, INT_EQUAL, INT_GREATER, INT_NOT_EQUAL, LESS, UNORDERED, comparison,
    outcomes,
};
use super::{Call, Ins, Sample};
use crate::r700::form::{Block, Fetch, File, M, MaskOp, Op, Value};
use crate::r700::wave::is_plain_sample;
use crate::x86::encode::{self, V};
use crate::x86::isa::Isa;
use crate::x86::lir::{Lir, Negated, Src, Vector};
use crate::x86::scalar::{self, Sink, Special};
use ctm_exec::x1k::float::{INFINITY, NAN, ONE, SIGN};
use ctm_isa::r700::inst::{TexFetch, texel_offset};
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};
use ctm_isa::x1k::ops::AlphaOp;

/// Instructions being chosen.
pub struct Select<'a> {
    facts: &'a Facts,
    vars: &'a [Option<Vector>],
    fetches: &'a [Fetch],
    /// Lookups so far.
    pub samples: Vec<Sample>,
    /// Vectors so far; those of variables come first.
    pub vectors: u32,
    /// Calls so far.
    pub calls: Vec<Call>,
    /// Uniform values are neither zero, infinite nor NaN where that matters: which ones it matters for.
    pub assumed: Option<Vec<u16>>,
    out: Vec<Ins>,
    /// The fetch that the last lookup was made for.
    sampled: Option<Value>,
}

impl Sink for Select<'_> {
    fn fresh(&mut self) -> Vector {
        self.vectors += 1;
        Vector(self.vectors - 1)
    }

    fn push(&mut self, lir: Lir) {
        self.out.push(Ins::Lir(lir));
    }

    fn isa(&self) -> Isa {
        Isa::Avx512
    }

    // Nothing stops here.
    fn split(&mut self) {}
}

/// What is known of one block.
struct Plan<'a> {
    block: &'a Block,
    seen: Vec<bool>,
    flushed: Vec<bool>,
    /// The last place at which each vector is read.
    last: Vec<usize>,
    uses: Vec<u32>,
    /// The variable's vector that a vector is made in.
    home: Vec<Option<Vector>>,
    at: Vec<Option<Src>>,
}

impl<'a> Select<'a> {
    /// For a program whose variables have these vectors, numbered from 0.
    pub fn new(facts: &'a Facts, vars: &'a [Option<Vector>], fetches: &'a [Fetch], used: u32, assume: bool) -> Self {
        let assumed = assume.then(Vec::new);
        Self {
            facts,
            vars,
            fetches,
            samples: Vec::new(),
            vectors: used,
            calls: Vec::new(),
            assumed,
            out: Vec::new(),
            sampled: None,
        }
    }

    /// The instructions of a block.
    pub fn block(&mut self, block: &Block) -> Vec<Ins> {
        self.sampled = None;
        let mut plan = self.plan(block);
        for place in 0..block.ops.len() {
            let made = self.op(&plan, place);
            plan.at[place] = made;
            self.out.push(Ins::Split);
        }
        std::mem::take(&mut self.out)
    }

    fn plan(&self, block: &'a Block) -> Plan<'a> {
        let count = block.ops.len();
        let mut plan = Plan {
            block,
            seen: self.facts.seen(block),
            flushed: self.facts.flushed(block),
            last: vec![0; count],
            uses: vec![0; count],
            home: vec![None; count],
            at: vec![None; count],
        };
        for (place, op) in block.ops.iter().enumerate() {
            for value in op.reads() {
                plan.last[value.index()] = place;
                plan.uses[value.index()] += 1;
                // A comparison may be made where its result is used.
                if let Op::Holds(_, ab) = block.ops[value.index()] {
                    ab.into_iter().for_each(|v| plan.last[v.index()] = place);
                }
            }
        }
        for (place, op) in block.ops.iter().enumerate() {
            let Op::Set(var, value, M::EXISTING) = *op else { continue };
            let (Some(vector), made) = (self.vars[var.index()], value.index()) else { continue };
            let next = block.ops[place + 1..].iter().position(|op| matches!(op, Op::Set(v, ..) if *v == var));
            let until = next.map_or(count, |n| place + 1 + n);
            let free = plan.home[made].is_none() && can_go_anywhere(&block.ops[made]) && plan.last[made] <= until;
            // Nobody reads or writes the variable from where the vector is made to where it is stored.
            let disturbs = |(at, op): (usize, &Op)| match op {
                Op::Get(v) if *v == var => at > made || plan.last[at] > made,
                Op::Set(v, ..) if *v == var => at > made,
                _ => false,
            };
            // What lives there already is not read any more.
            let lives = |(at, home): (usize, &Option<Vector>)| *home == Some(vector) && plan.last[at] > made;
            let disturbed =
                block.ops[..place].iter().enumerate().any(disturbs) || plan.home[..made].iter().enumerate().any(lives);
            if free && !disturbed {
                plan.home[made] = Some(vector);
            }
        }
        plan
    }

    fn src(&self, plan: &Plan<'_>, value: Value) -> Src {
        plan.at[value.index()].unwrap_or(Src::Literal(0))
    }

    fn two(&mut self, op: V, a: Src, b: Src) -> Src {
        Sink::two(self, op, a, b)
    }

    /// An operand without denormals.
    fn flush(&mut self, plan: &Plan<'_>, value: Value) -> Src {
        let src = self.src(plan, value);
        if plan.flushed[value.index()] { src } else { self.two(encode::MUL, src, Src::Literal(ONE)) }
    }

    fn op(&mut self, plan: &Plan<'_>, place: usize) -> Option<Src> {
        let op = &plan.block.ops[place];
        match *op {
            Op::Bits(bits) => return Some(Src::Literal(bits)),
            Op::Uniform(index) => return Some(Src::Const(index)),
            Op::Get(var) => {
                let vector = self.vars[var.index()]?;
                let overwritten = |op: &Op| matches!(op, Op::Set(v, ..) if *v == var);
                let stays = !plan.block.ops[place..=plan.last[place].max(place)].iter().any(overwritten)
                    && !plan.home[place..=plan.last[place].max(place)]
                        .iter()
                        .enumerate()
                        .any(|(n, home)| *home == Some(vector) && place + n < plan.last[place]);
                if stays {
                    return Some(Src::Vector(vector));
                }
                let dst = self.fresh();
                self.push(Lir::Copy(dst, Src::Vector(vector)));
                return Some(Src::Vector(dst));
            }
            Op::Set(var, value, under) => {
                let vector = self.vars[var.index()]?;
                if plan.home[value.index()] == Some(vector) {
                    return None;
                }
                let src = self.src(plan, value);
                self.out.push(Ins::Set(vector, src, under));
                return None;
            }
            Op::Mark(var, under) => {
                self.out.push(Ins::Mark(var.export_index()? as u16, under));
                return None;
            }
            Op::Mask(MaskOp::Lanes(m, value)) => {
                self.out.push(Ins::BeginLanes);
                self.truth(plan, value);
                self.out.push(Ins::EndLanes(m));
                return None;
            }
            Op::Mask(op) => {
                self.out.push(Ins::Mask(op));
                return None;
            }
            Op::Tally(weight) => {
                self.out.push(Ins::Tally(weight));
                return None;
            }
            Op::Fetch(number, at, under) => {
                let at = at.map(|value| self.src(plan, value));
                match self.fetches.get(usize::from(number)) {
                    Some(Fetch::Texture(inst)) if is_plain_sample(inst.word0.op) => {
                        self.sample(plan, place, number, inst, at, under);
                    }
                    _ => self.call(Call::Fetch(number), &at, under),
                }
                return None;
            }
            Op::Fetched(of, element) => {
                let sampled = self.samples.last().filter(|_| self.sampled == Some(of)).copied();
                let from = match sampled.and_then(|sample| sample.dst[usize::from(element & 3)]) {
                    Some(vector) => Src::Vector(vector),
                    None => Src::Row(super::result(usize::from(element))),
                };
                match (plan.home[place], from) {
                    (None, Src::Vector(_)) => return Some(from),
                    (home, _) => {
                        let dst = home.unwrap_or_else(|| self.fresh());
                        self.push(Lir::Copy(dst, from));
                        return Some(Src::Vector(dst));
                    }
                }
            }
            // Programs with these are not made into code.
            Op::SetRelative(..) | Op::GetRelative(File::Gprs(_), ..) => return None,
            _ => {}
        }
        if plan.uses[place] == 0 {
            return None;
        }
        // A comparison that only chooses or becomes a mask is made there.
        if matches!(op, Op::Holds(op, _) if comparison(*op).is_some()) && self.only_chooses(plan, place) {
            return None;
        }
        // Straight into its home, unless that is still read while the vector is made.
        let home = plan.home[place];
        let is_read = |home: Vector| op.reads().any(|v| plan.at[v.index()] == Some(Src::Vector(home)));
        let is_read = |home: Vector| {
            let through = |v: Value| match plan.block.ops[v.index()] {
                Op::Holds(_, ab) => ab.into_iter().any(|v| plan.at[v.index()] == Some(Src::Vector(home))),
                _ => false,
            };
            is_read(home) || op.reads().any(through)
        };
        let dst = home.filter(|&home| !is_read(home)).unwrap_or_else(|| self.fresh());
        if !self.native(plan, place, dst) {
            let args: Vec<Src> = op.reads().map(|value| self.src(plan, value)).collect();
            let call = match *op {
                Op::GetRelative(file, base, element, _) => Call::Relative(file, base, element),
                op => Call::Pure(op),
            };
            self.call(call, &args, M::EXISTING);
            self.push(Lir::Copy(dst, Src::Row(super::result(0))));
        }
        if let Some(home) = home.filter(|&home| home != dst) {
            self.push(Lir::Copy(home, Src::Vector(dst)));
            return Some(Src::Vector(home));
        }
        Some(Src::Vector(dst))
    }

    fn only_chooses(&self, plan: &Plan<'_>, place: usize) -> bool {
        let value = Value(place as u32);
        let fine = |op: &Op| match *op {
            Op::Select(_, a, b) => a != value && b != value,
            Op::Mask(MaskOp::Lanes(..)) => true,
            ref op => op.reads().all(|v| v != value),
        };
        plan.home[place].is_none() && plan.block.ops[place..].iter().all(fine)
    }

    /// A lookup that may find its texels itself.
    fn sample(&mut self, plan: &Plan<'_>, place: usize, fetch: u16, inst: &TexFetch, at: [Src; 4], under: M) {
        let value = Value(place as u32);
        let mut dst = [None; 4];
        for (element, dst) in (0..).zip(&mut dst) {
            let reads = |(at, op): (usize, &Op)| *op == Op::Fetched(value, element) && plan.uses[at] > 0;
            if plan.block.ops.iter().enumerate().any(reads) {
                *dst = Some(self.fresh());
            }
        }
        let word2 = &inst.word2;
        self.samples.push(Sample {
            fetch,
            call: self.calls.len() as u16,
            at,
            dst,
            under,
            unnormalised: [!inst.word1.coord_type_x, !inst.word1.coord_type_y],
            offset: [word2.offset_x, word2.offset_y].map(texel_offset),
        });
        self.calls.push(Call::Fetch(fetch));
        let mut made = dst.into_iter().flatten();
        self.out.push(Ins::Sample(self.samples.len() as u16 - 1, made.next(), at));
        self.out.extend(made.map(Ins::Also));
        self.sampled = Some(value);
    }

    fn call(&mut self, call: Call, args: &[Src], under: M) {
        for (n, &src) in args.iter().enumerate() {
            self.push(Lir::Store(super::argument(n), src));
        }
        self.out.push(Ins::Call(self.calls.len() as u16, under));
        self.calls.push(call);
    }

    /// Puts the lanes in which a value is not zero into mask 1.
    fn truth(&mut self, plan: &Plan<'_>, value: Value) {
        if let Op::Holds(op, [a, b]) = plan.block.ops[value.index()]
            && let Some((compare, how)) = comparison(op)
            && plan.at[value.index()].is_none()
        {
            let (a, b) = (self.src(plan, a), self.src(plan, b));
            return self.push(Lir::Test(compare, how, 1, a, b, 0));
        }
        let src = self.src(plan, value);
        self.push(Lir::Test(encode::CMP_I32, INT_NOT_EQUAL, 1, src, Src::Literal(0), 0));
    }

    /// Output modifier, clamp, NaN bits.
    fn finish(&mut self, plan: &Plan<'_>, place: usize, dst: Vector, omod: Omod, clamp: bool, may_be_nan: bool) {
        let it = Src::Vector(dst);
        if let Some(factor) = factor(omod) {
            self.push(Lir::Two(encode::MUL, dst, it, factor));
        }
        if clamp {
            self.push(Lir::Two(encode::MAX, dst, it, Src::Literal(0)));
            self.push(Lir::Two(encode::MIN, dst, it, Src::Literal(ONE)));
        } else if may_be_nan && plan.seen[place] {
            self.push(Lir::Test(encode::CMP_F32, UNORDERED, 1, it, it, 0));
            self.push(Lir::Merge(dst, 1, Src::Literal(NAN)));
        }
    }

    /// Makes a vector; false when there are no instructions for it.
    fn native(&mut self, plan: &Plan<'_>, place: usize, dst: Vector) -> bool {
        match plan.block.ops[place] {
            Op::Number(m) => self.out.push(Ins::Number(dst, m)),
            Op::Abs(a) => {
                let a = self.src(plan, a);
                self.push(Lir::Two(encode::AND, dst, a, Src::Literal(!SIGN)));
            }
            Op::Neg(a) => {
                let a = self.src(plan, a);
                self.push(Lir::Two(encode::XOR, dst, a, Src::Literal(SIGN)));
            }
            Op::Select(c, a, b) => {
                self.truth(plan, c);
                let (a, b) = (self.src(plan, a), self.src(plan, b));
                self.push(Lir::Blend(dst, 1, a, b));
            }
            Op::Holds(op, [a, b]) => {
                let Some((compare, how)) = comparison(op) else { return false };
                let (a, b) = (self.src(plan, a), self.src(plan, b));
                self.push(Lir::Test(compare, how, 1, a, b, 0));
                self.push(Lir::Blend(dst, 1, Src::Literal(u32::MAX), Src::Literal(0)));
            }
            Op::Alu(AluOp::Op2(op), [a, b, _], omod, clamp) => {
                return self.op2(plan, place, dst, op, [a, b], omod, clamp);
            }
            Op::Alu(AluOp::Op3(op), abc, omod, clamp) => return self.op3(plan, place, dst, op, abc, omod, clamp),
            _ => return false,
        }
        true
    }

    #[allow(clippy::too_many_arguments, reason = "an operation with its modifiers")]
    fn op2(
        &mut self,
        plan: &Plan<'_>,
        place: usize,
        dst: Vector,
        op: Op2,
        [va, vb]: [Value; 2],
        omod: Omod,
        clamp: bool,
    ) -> bool {
        let (a, b) = (self.src(plan, va), self.src(plan, vb));
        if let Some((compare, how)) = comparison(op) {
            let (yes, no) = outcomes(op);
            self.push(Lir::Test(compare, how, 1, a, b, 0));
            self.push(Lir::Blend(dst, 1, Src::Literal(yes), Src::Literal(no)));
            if (yes, no) != (u32::MAX, 0) && (omod != Omod::Off || clamp) {
                self.finish(plan, place, dst, omod, clamp, false);
            }
            return true;
        }
        let simple = |op: Op2| {
            Some(match op {
                Op2::AndInt => encode::AND,
                Op2::OrInt => encode::OR,
                Op2::XorInt => encode::XOR,
                Op2::AddInt => encode::ADD_I32,
                Op2::SubInt => encode::SUB_I32,
                Op2::MaxInt => encode::MAX_I32,
                Op2::MinInt => encode::MIN_I32,
                Op2::MaxUint => encode::MAX_U32,
                Op2::MinUint => encode::MIN_U32,
                Op2::AshrInt => encode::SHIFT_RIGHT_SIGNED,
                Op2::LshrInt => encode::SHIFT_RIGHT,
                Op2::LshlInt => encode::SHIFT_LEFT,
                Op2::MulloInt | Op2::MulloUint => encode::MUL_I32,
                _ => return None,
            })
        };
        if let Some(instruction) = simple(op) {
            self.push(Lir::Two(instruction, dst, a, b));
            return true;
        }
        let round = |op: Op2| {
            Some(match op {
                Op2::Floor => 9,
                Op2::Ceil => 10,
                Op2::Trunc => 11,
                Op2::Rndne => 8,
                _ => return None,
            })
        };
        if let Some(how) = round(op) {
            let a = self.flush(plan, va);
            self.push(Lir::One(encode::ROUND_SCALE, dst, a, Some(how)));
            self.finish(plan, place, dst, omod, clamp, true);
            return true;
        }
        let flushed = |v: Value| plan.flushed[v.index()];
        match op {
            Op2::NotInt => {
                self.push(Lir::Two(encode::XOR, dst, a, Src::Literal(u32::MAX)));
                return true;
            }
            Op2::Add => self.push(Lir::Two(encode::ADD, dst, a, b)),
            Op2::MulIeee => self.push(Lir::Two(encode::MUL, dst, a, b)),
            Op2::Mul => self.product(plan, dst, va, vb),
            Op2::Max => {
                self.push(Lir::Test(encode::CMP_F32, AT_LEAST, 1, a, b, 0));
                self.push(Lir::Blend(dst, 1, a, b));
                self.flush_result(dst, flushed(va) && flushed(vb));
            }
            Op2::Min => {
                self.push(Lir::Two(encode::MIN, dst, a, b));
                self.flush_result(dst, flushed(va) && flushed(vb));
            }
            Op2::MaxDx10 => {
                self.push(Lir::Test(encode::CMP_F32, AT_LEAST, 1, a, b, 0));
                self.push(Lir::Test(encode::CMP_F32, UNORDERED, 2, b, b, 0));
                self.push(Lir::Or(1, 1, 2));
                self.push(Lir::Blend(dst, 1, a, b));
                self.flush_result(dst, flushed(va) && flushed(vb));
            }
            Op2::MinDx10 => {
                self.push(Lir::Two(encode::MIN, dst, a, b));
                self.push(Lir::Test(encode::CMP_F32, UNORDERED, 1, b, b, 0));
                self.push(Lir::Merge(dst, 1, a));
                self.flush_result(dst, flushed(va) && flushed(vb));
            }
            Op2::Fract => {
                let a = self.flush(plan, va);
                let floor = self.fresh();
                self.push(Lir::One(encode::ROUND_SCALE, floor, a, Some(9)));
                self.push(Lir::Two(encode::SUB, dst, a, Src::Vector(floor)));
            }
            Op2::Mov => {
                self.push(Lir::Two(encode::MUL, dst, a, factor(omod).unwrap_or(Src::Literal(ONE))));
                self.finish(plan, place, dst, Omod::Off, clamp, true);
                return true;
            }
            Op2::IntToFlt => {
                self.push(Lir::One(encode::CVT_I32_F32, dst, a, None));
                self.finish(plan, place, dst, omod, clamp, false);
                return true;
            }
            Op2::UintToFlt => {
                self.push(Lir::One(encode::CVT_U32_F32, dst, a, None));
                self.finish(plan, place, dst, omod, clamp, false);
                return true;
            }
            Op2::FltToInt | Op2::FltToUint => {
                self.float_to_int(dst, a);
                return true;
            }
            _ => {
                if !self.transcendental(plan, op, va, dst) {
                    return false;
                }
                // They make the one NaN themselves.
                self.finish(plan, place, dst, omod, clamp, false);
                return true;
            }
        }
        self.finish(plan, place, dst, omod, clamp, true);
        true
    }

    fn flush_result(&mut self, dst: Vector, flushed: bool) {
        if !flushed {
            self.push(Lir::Two(encode::MUL, dst, Src::Vector(dst), Src::Literal(ONE)));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "an operation with its modifiers")]
    fn op3(
        &mut self,
        plan: &Plan<'_>,
        place: usize,
        dst: Vector,
        op: Op3,
        [va, vb, vc]: [Value; 3],
        omod: Omod,
        clamp: bool,
    ) -> bool {
        let (a, b, c) = (self.src(plan, va), self.src(plan, vb), self.src(plan, vc));
        let choice = match op {
            Op3::Cnde => Some((encode::CMP_F32, EQUAL, false)),
            Op3::Cndgt => Some((encode::CMP_F32, GREATER, false)),
            Op3::Cndge => Some((encode::CMP_F32, AT_LEAST, false)),
            Op3::CndeInt => Some((encode::CMP_I32, INT_EQUAL, true)),
            Op3::CndgtInt => Some((encode::CMP_I32, INT_GREATER, true)),
            Op3::CndgeInt => Some((encode::CMP_I32, INT_AT_LEAST, true)),
            _ => None,
        };
        if let Some((compare, how, integer)) = choice {
            self.push(Lir::Test(compare, how, 1, a, Src::Literal(0), 0));
            self.push(Lir::Blend(dst, 1, b, c));
            if !integer && (omod != Omod::Off || clamp) {
                self.flush_result(dst, plan.flushed[vb.index()] && plan.flushed[vc.index()]);
                self.finish(plan, place, dst, omod, clamp, true);
            }
            return true;
        }
        let (ieee, scale) = match op {
            Op3::Muladd => (false, None),
            Op3::MuladdM2 => (false, factor(Omod::M2)),
            Op3::MuladdM4 => (false, factor(Omod::M4)),
            Op3::MuladdD2 => (false, factor(Omod::D2)),
            Op3::MuladdIeee => (true, None),
            Op3::MuladdIeeeM2 => (true, factor(Omod::M2)),
            Op3::MuladdIeeeM4 => (true, factor(Omod::M4)),
            Op3::MuladdIeeeD2 => (true, factor(Omod::D2)),
            _ => return false,
        };
        let product = self.fresh();
        if ieee {
            self.push(Lir::Two(encode::MUL, product, a, b));
        } else {
            self.product(plan, product, va, vb);
        }
        self.push(Lir::Two(encode::ADD, dst, Src::Vector(product), c));
        if let Some(scale) = scale {
            self.push(Lir::Two(encode::MUL, dst, Src::Vector(dst), scale));
        }
        self.finish(plan, place, dst, omod, clamp, true);
        true
    }

    /// `a * b`, where zero times anything is zero.
    fn product(&mut self, plan: &Plan<'_>, dst: Vector, va: Value, vb: Value) {
        let (a, b) = (self.src(plan, va), self.src(plan, vb));
        self.push(Lir::Two(encode::MUL, dst, a, b));
        let same = bare(plan.block, va) == bare(plan.block, vb);
        if !same && !self.is_ordinary(plan, va) && !self.is_ordinary(plan, vb) {
            self.out.push(Ins::ZeroRule(dst, a, b));
        }
    }

    /// Whether a factor is known to be neither zero, infinite nor NaN.
    fn is_ordinary(&mut self, plan: &Plan<'_>, value: Value) -> bool {
        match plan.block.ops[bare(plan.block, value).index()] {
            Op::Bits(bits) => f32::from_bits(bits).is_normal(),
            Op::Uniform(index) => match &mut self.assumed {
                Some(assumed) => {
                    if !assumed.contains(&index) {
                        assumed.push(index);
                    }
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    fn shift(&mut self, how: u8, a: Src, count: u8) -> Src {
        let dst = self.fresh();
        self.push(Lir::Shift(how, dst, a, count));
        Src::Vector(dst)
    }

    /// The low-order bits of the integer part: the fraction with its leading one, shifted by the exponent. Shift counts beyond 31, negative
    /// ones too, give 0.
    fn float_to_int(&mut self, dst: Vector, a: Src) {
        let exponent = self.shift(2, a, 23);
        let exponent = self.two(encode::AND, exponent, Src::Literal(255));
        let left = self.two(encode::SUB_I32, exponent, Src::Literal(150));
        let right = self.two(encode::SUB_I32, Src::Literal(150), exponent);
        let fraction = self.two(encode::AND, a, Src::Literal(0x007f_ffff));
        let fraction = self.two(encode::OR, fraction, Src::Literal(0x0080_0000));
        let up = self.two(encode::SHIFT_LEFT, fraction, left);
        let down = self.two(encode::SHIFT_RIGHT, fraction, right);
        let magnitude = self.two(encode::OR, up, down);
        let sign = self.shift(4, a, 31);
        let turned = self.two(encode::XOR, magnitude, sign);
        self.push(Lir::Two(encode::SUB_I32, dst, turned, sign));
    }

    fn transcendental(&mut self, plan: &Plan<'_>, op: Op2, value: Value, dst: Vector) -> bool {
        let function = match op {
            Op2::ExpIeee => AlphaOp::Ex2,
            Op2::LogIeee | Op2::LogClamped => AlphaOp::Ln2,
            Op2::RecipIeee | Op2::RecipClamped | Op2::RecipFf => AlphaOp::Rcp,
            Op2::RecipsqrtIeee | Op2::RecipsqrtClamped | Op2::RecipsqrtFf => AlphaOp::Rsq,
            Op2::Sin => AlphaOp::Sin,
            Op2::Cos => AlphaOp::Cos,
            Op2::SqrtIeee => {
                let x = self.flush(plan, value);
                self.square_root(x, dst);
                return true;
            }
            _ => return false,
        };
        let x = self.flush(plan, value);
        scalar::emit(self, function, x, dst, Special { one_nan: true, signed_root: true });
        let it = Src::Vector(dst);
        let magnitude = match op {
            Op2::RecipClamped | Op2::RecipsqrtClamped => f32::MAX.to_bits(),
            Op2::RecipFf | Op2::RecipsqrtFf => 0,
            Op2::LogClamped => {
                self.push(Lir::Test(encode::CMP_I32, INT_EQUAL, 1, it, Src::Literal(SIGN | INFINITY), 0));
                self.push(Lir::Merge(dst, 1, Src::Literal(SIGN | f32::MAX.to_bits())));
                return true;
            }
            _ => return true,
        };
        let sign = self.two(encode::AND, it, Src::Literal(SIGN));
        let bounded = self.two(encode::OR, sign, Src::Literal(magnitude));
        let size = self.two(encode::AND, it, Src::Literal(!SIGN));
        self.push(Lir::Test(encode::CMP_I32, INT_EQUAL, 1, size, Src::Literal(INFINITY), 0));
        self.push(Lir::Merge(dst, 1, bounded));
        true
    }

    /// The sequence of `ctm_exec::r700::transcendental::sqrt_ieee`.
    fn square_root(&mut self, x: Src, dst: Vector) {
        let low = self.two(encode::AND, x, Src::Literal(0x00ff_ffff));
        let m = self.two(encode::ADD_I32, low, Src::Literal(126 << 23));
        let exponent = self.shift(2, x, 23);
        let exponent = self.two(encode::SUB_I32, exponent, Src::Literal(126));
        let k = self.shift(4, exponent, 1);
        let y = scalar::reciprocal_root(self, m);
        let s = self.two(encode::MUL, m, y);
        let minus = Negated { product: true, summand: false };
        let rest = self.fma(minus, [s, s, m]);
        let half = self.two(encode::MUL, y, Src::Literal(0x3f00_0000));
        let root = self.fma(Negated::default(), [rest, half, s]);
        let k = self.shift(6, k, 23);
        self.push(Lir::Two(encode::ADD_I32, dst, root, k));
        self.push(Lir::Test(encode::CMP_F32, UNORDERED, 1, x, x, 0));
        self.push(Lir::Merge(dst, 1, Src::Literal(NAN)));
        self.push(Lir::Test(encode::CMP_F32, LESS, 1, x, Src::Literal(0), 0));
        self.push(Lir::Merge(dst, 1, Src::Literal(NAN)));
        self.push(Lir::Test(encode::CMP_F32, EQUAL, 1, x, Src::Literal(0), 0));
        self.push(Lir::Merge(dst, 1, x));
        self.push(Lir::Test(encode::CMP_F32, EQUAL, 1, x, Src::Literal(INFINITY), 0));
        self.push(Lir::Merge(dst, 1, x));
    }
}

/// The value behind sign changes.
fn bare(block: &Block, value: Value) -> Value {
    match block.ops[value.index()] {
        Op::Abs(a) | Op::Neg(a) => bare(block, a),
        _ => value,
    }
}

/// Whether the operation makes a vector of its own.
fn can_go_anywhere(op: &Op) -> bool {
    op.is_pure() && !matches!(op, Op::Bits(_) | Op::Uniform(_) | Op::Get(_))
}

/// The factor of an output modifier, if there is one.
fn factor(omod: Omod) -> Option<Src> {
    let factor: f32 = match omod {
        Omod::Off => return None,
        Omod::M2 => 2.0,
        Omod::M4 => 4.0,
        Omod::D2 => 0.5,
    };
    Some(Src::Literal(factor.to_bits()))
}
