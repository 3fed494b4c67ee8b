//! The transcendental functions: the sequences of `ctm_exec::transcendental`, instruction by instruction.
//!
//! That module is the definition; nothing is explained twice. The differential tests compare every bit.
//!
//! The treatment of exponents and special values differs. RCP and RSQ make their steps on the operand itself instead of
//! its fraction, which gives the same bits. Some targets have instructions that split and join numbers, and one that
//! replaces results by the operand's class (`Target::has`). On others operands that are not positive (or small enough) normal numbers are tested
//! for, and patched where there are any.

use super::lir::{Lir, Negated, Src, Vector, fix};
use super::masked::facts::{AT_LEAST, EQUAL, INT_GREATER, LESS, UNORDERED};
use crate::codegen::target::Target;
use ctm_exec::float::{HALF, INFINITY, MIN_NORMAL, NAN, SIGN};
use ctm_exec::transcendental::{
    EX2_POLYNOMIAL, EX2_RANGE, EXPONENT, LN2_POLYNOMIAL, RCP_SEED, RSQ_FIRST, RSQ_SEED, RSQ_STEP, SINE_POLYNOMIAL,
    THREE_QUARTERS, TO_INTEGER, TO_SIGNED_INTEGER,
};
use ctm_isa::x1k::ops::AlphaOp;
use ctm_x86::{self as asm, PSLL, PSRL, V};

/// A consumer of instructions, which makes vectors.
pub trait Sink {
    /// A new vector.
    fn fresh(&mut self) -> Vector;

    /// Appends an instruction.
    fn push(&mut self, lir: Lir);

    /// The instruction set.
    fn target(&self) -> &'static Target;

    /// Ends the sequence that a [`Lir::StopIfNone`] may skip.
    fn split(&mut self);

    /// `dst = op(a, b)` in a new vector.
    fn two(&mut self, op: V, a: Src, b: Src) -> Src {
        let dst = self.fresh();
        self.push(Lir::Two { op, dst, a, b });
        Src::Vector(dst)
    }

    /// `op(a)` with an immediate, in a new vector.
    fn one(&mut self, op: V, a: Src, imm: Option<u8>) -> Src {
        let dst = self.fresh();
        self.push(Lir::One { op, dst, a, imm });
        Src::Vector(dst)
    }

    /// `a` shifted, as by [`Lir::Shift`], in a new vector.
    fn shift(&mut self, how: u8, a: Src, count: u8) -> Src {
        let dst = self.fresh();
        self.push(Lir::Shift { kind: how, dst, a, count });
        Src::Vector(dst)
    }

    /// A copy in a new vector.
    fn copied(&mut self, a: Src) -> Vector {
        let dst = self.fresh();
        self.push(Lir::Copy(dst, a));
        dst
    }

    /// The value takes the place of `dst` where a comparison holds. Changes mask 1.
    fn patch(&mut self, dst: Vector, (op, how): (V, u8), [x, y]: [Src; 2], value: Src) {
        self.push(Lir::Test { op, how, dst: 1, a: x, b: y, under: 0 });
        self.push(Lir::Merge { dst, k: 1, a: value });
    }

    /// Makes every NaN canonical. Changes mask 1.
    fn one_nan(&mut self, dst: Vector) {
        self.patch(dst, IS_NAN, [Src::Vector(dst); 2], Src::Literal(NAN));
    }

    /// `±(a * b) ± c` in a new vector.
    fn fma(&mut self, negated: Negated, abc: [Src; 3]) -> Src {
        let dst = self.fresh();
        self.push(Lir::Fma { negated, dst, operands: abc });
        Src::Vector(dst)
    }
}

const PLUS: Negated = Negated { product: false, summand: false };
const MINUS: Negated = Negated { product: true, summand: false };

const fn float(x: f32) -> Src {
    Src::Literal(x.to_bits())
}

/// The required treatment of special values.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// The bits of a NaN are visible.
    pub one_nan: bool,
    /// The reciprocal root of -0 is -infinity.
    pub signed_root: bool,
}

/// Emits `dst = function(a)`.
pub fn emit(s: &mut impl Sink, function: AlphaOp, x: Src, dst: Vector, special: Special) {
    // The operand is read once more after the result.
    let result = if x == Src::Vector(dst) { s.fresh() } else { dst };
    match function {
        AlphaOp::Rcp => rcp(s, x, result),
        AlphaOp::Rsq => rsq(s, x, result, special.signed_root),
        AlphaOp::Ex2 => ex2(s, x, result),
        AlphaOp::Ln2 => ln2(s, x, result),
        AlphaOp::Sin => sin(s, x, result),
        AlphaOp::Cos => cos(s, x, result),
        // Lowering makes calls of the others.
        _ => s.push(Lir::Copy(result, Src::Literal(0))),
    }
    if special.one_nan {
        s.split();
        s.one_nan(result);
    }
    if result != dst {
        s.push(Lir::Copy(dst, Src::Vector(result)));
    }
}

const ZERO: Src = Src::Literal(0);
const IS_EQUAL: (V, u8) = (asm::CMP_F32, EQUAL);
const IS_AT_LEAST: (V, u8) = (asm::CMP_F32, AT_LEAST);
const IS_NAN: (V, u8) = (asm::CMP_F32, UNORDERED);

/// A polynomial with these coefficients, lowest power first.
fn polynomial(s: &mut impl Sink, x: Src, coefficients: &[f32]) -> Src {
    let mut powers = coefficients.iter().rev().map(|&c| float(c));
    let highest = powers.next().unwrap_or(ZERO);
    powers.fold(highest, |p, c| s.fma(PLUS, [x, p, c]))
}

/// The following instructions only concern lanes whose bits are not those of a normal number from 2^-126 to this one,
/// and are skipped if there are none. Ends with the group.
fn unless_normal(s: &mut impl Sink, bits: Src, most: u32) {
    s.split();
    // Signed comparison: the addition moves the range to the smallest integers.
    let from_least = s.two(asm::ADD_I32, bits, Src::Literal(SIGN - MIN_NORMAL));
    s.push(Lir::Test {
        op: asm::CMP_I32,
        how: INT_GREATER,
        dst: 1,
        a: from_least,
        b: Src::Literal(SIGN - MIN_NORMAL + most),
        under: 0,
    });
    s.push(Lir::StopIfNone(1));
}

/// NaN where [`unless_normal`] found something, but these values for zeros and infinity.
fn patch_root(s: &mut impl Sink, x: Src, dst: Vector, [zero, infinity]: [Src; 2]) {
    s.push(Lir::Merge { dst, k: 1, a: Src::Literal(NAN) });
    s.patch(dst, IS_EQUAL, [x, ZERO], zero);
    s.patch(dst, IS_EQUAL, [x, Src::Literal(INFINITY)], infinity);
    s.split();
}

/// Above this the reciprocal is zero.
const RCP_LARGEST: u32 = 0x7e80_0000;

fn rcp(s: &mut impl Sink, x: Src, dst: Vector) {
    let fixes = s.target().has.range && s.target().has.fix_by_class;
    let inside = match fixes {
        true => {
            // The number with the smaller magnitude, and x's sign: beyond 2^127 seeds would be infinite.
            let inside = s.fresh();
            s.push(Lir::TwoImm { op: asm::RANGE, dst: inside, a: x, b: Src::Literal(RCP_SEED), imm: 2 });
            Src::Vector(inside)
        }
        false => x,
    };
    let mut y = s.two(asm::SUB_I32, Src::Literal(RCP_SEED), inside);
    for last in [false, true] {
        let e = s.fma(MINUS, [inside, y, float(1.0)]);
        let q = s.fma(PLUS, [e, e, e]);
        let next = if last { dst } else { s.fresh() };
        s.push(Lir::Fma { negated: PLUS, dst: next, operands: [y, q, y] });
        y = Src::Vector(next);
    }
    match fixes {
        true => s.push(Lir::Fix { dst, a: x, table: fix::table(fix::SIGNED_INFINITY, 0, 0, 0) }),
        false => {
            let magnitude = s.two(asm::AND, x, Src::Literal(!SIGN));
            unless_normal(s, magnitude, RCP_LARGEST);
            let value = s.fresh();
            s.push(Lir::Test { op: asm::CMP_F32, how: LESS, dst: 2, a: magnitude, b: float(1.0), under: 0 });
            s.push(Lir::Blend { dst: value, k: 2, yes: Src::Literal(INFINITY), no: ZERO });
            let sign = s.two(asm::AND, x, Src::Literal(SIGN));
            let value = s.two(asm::OR, Src::Vector(value), sign);
            s.push(Lir::Merge { dst, k: 1, a: value });
            s.patch(dst, IS_NAN, [x, x], Src::Literal(NAN));
            s.split();
        }
    }
}

fn rsq(s: &mut impl Sink, x: Src, dst: Vector, signed: bool) {
    let half = s.shift(PSRL, x, 1);
    let y = s.two(asm::SUB_I32, Src::Literal(RSQ_SEED), half);
    let xy = s.two(asm::MUL, x, y);
    let w = s.fma(MINUS, [xy, y, float(RSQ_FIRST)]);
    let y = s.two(asm::MUL, y, w);
    let xy = s.two(asm::MUL, x, y);
    let e = s.fma(MINUS, [xy, y, float(1.0)]);
    let p = s.fma(PLUS, [e, float(RSQ_STEP[1]), float(RSQ_STEP[0])]);
    let p = s.two(asm::MUL, p, e);
    s.push(Lir::Fma { negated: PLUS, dst, operands: [y, p, y] });
    match s.target().has.fix_by_class {
        true => {
            let zero = if signed { fix::SIGNED_INFINITY } else { fix::INFINITY };
            s.push(Lir::Fix { dst, a: x, table: fix::table(zero, fix::NAN, fix::ZERO, fix::NAN) });
        }
        false => {
            unless_normal(s, x, INFINITY - 1);
            let mut infinity = Src::Literal(INFINITY);
            if signed {
                let sign = s.two(asm::AND, x, Src::Literal(SIGN));
                infinity = s.two(asm::OR, sign, infinity);
            }
            patch_root(s, x, dst, [infinity, ZERO]);
        }
    }
}

fn ex2(s: &mut impl Sink, x: Src, dst: Vector) {
    match s.target().has.reduce && s.target().has.scale {
        true => {
            // An infinity has the fraction 0; scaling handles the ends of the range.
            let f = s.one(asm::REDUCE, x, Some(8));
            let n = s.two(asm::SUB, x, f);
            let p = polynomial(s, f, &EX2_POLYNOMIAL);
            let p = s.fma(PLUS, [f, p, float(1.0)]);
            s.push(Lir::Two { op: asm::SCALE, dst, a: p, b: n });
        }
        false => {
            // MAXPS and MINPS choose as the comparisons of the definition do, but pass NaNs on.
            let above = s.two(asm::MAX, float(EX2_RANGE[0]), x);
            let inside = s.two(asm::MIN, float(EX2_RANGE[1]), above);
            let shifted = s.two(asm::ADD, inside, float(TO_SIGNED_INTEGER));
            let nearest = s.two(asm::SUB, shifted, float(TO_SIGNED_INTEGER));
            let f = s.two(asm::SUB, inside, nearest);
            let p = polynomial(s, f, &EX2_POLYNOMIAL);
            let p = s.fma(PLUS, [f, p, float(1.0)]);
            // 0 for a NaN, once shifted.
            let n = s.one(asm::CVT_F32_I32, nearest, None);
            let n = s.shift(PSLL, n, 23);
            let scaled = s.two(asm::ADD_I32, p, n);
            s.push(Lir::Two { op: asm::MUL, dst, a: scaled, b: float(1.0) });
        }
    }
}

fn ln2(s: &mut impl Sink, x: Src, dst: Vector) {
    match s.target().has.split_number {
        true => {
            // The fraction in 0.75..1.5, NaN for negative numbers; the exponent is one more where it is below 1.
            let m = s.one(asm::FRACTION, x, Some(0x0f));
            let f = s.two(asm::SUB, m, float(1.0));
            let low = s.one(asm::EXPONENT, x, None);
            let more = s.one(asm::EXPONENT, m, None);
            let e = s.two(asm::SUB, low, more);
            let p = polynomial(s, f, &LN2_POLYNOMIAL);
            let sum = s.two(asm::ADD, e, f);
            s.push(Lir::Fma { negated: PLUS, dst, operands: [f, p, sum] });
        }
        false => {
            let e = s.two(asm::SUB_I32, x, Src::Literal(THREE_QUARTERS));
            let e = s.two(asm::AND, e, Src::Literal(SIGN | EXPONENT));
            let m = s.two(asm::SUB_I32, x, e);
            let f = s.two(asm::SUB, m, float(1.0));
            let p = polynomial(s, f, &LN2_POLYNOMIAL);
            let e = s.one(asm::CVT_I32_F32, e, None);
            // An exact product: the sum is rounded as it is by itself.
            let sum = s.fma(PLUS, [e, float(1.0 / TO_INTEGER), f]);
            s.push(Lir::Fma { negated: PLUS, dst, operands: [f, p, sum] });
            unless_normal(s, x, INFINITY - 1);
            patch_root(s, x, dst, [SIGN | INFINITY, INFINITY].map(Src::Literal));
        }
    }
}

/// `|x|` less its nearest integer, 0 from 2^23 on.
fn turns(s: &mut impl Sink, magnitude: Src) -> Src {
    if s.target().has.reduce {
        return s.one(asm::REDUCE, magnitude, Some(8));
    }
    let shifted = s.two(asm::ADD, magnitude, float(TO_INTEGER));
    let nearest = s.two(asm::SUB, shifted, float(TO_INTEGER));
    let r = s.fresh();
    s.push(Lir::Two { op: asm::SUB, dst: r, a: magnitude, b: nearest });
    s.patch(r, IS_AT_LEAST, [magnitude, float(TO_INTEGER)], ZERO);
    Src::Vector(r)
}

fn sine_of_quarter(s: &mut impl Sink, q: Src) -> Src {
    let square = s.two(asm::MUL, q, q);
    let p = polynomial(s, square, &SINE_POLYNOMIAL);
    let y = s.two(asm::MUL, q, p);
    s.two(asm::MIN, y, float(1.0))
}

/// NaN for infinities and NaN; else the sine with this sign.
fn finish(s: &mut impl Sink, magnitude: Src, sine: Src, sign_of: Src, dst: Vector) {
    let sign = s.two(asm::AND, sign_of, Src::Literal(SIGN));
    s.push(Lir::Two { op: asm::XOR, dst, a: sine, b: sign });
    match s.target().has.fix_by_class {
        true => s.push(Lir::Fix { dst, a: magnitude, table: fix::table(0, 0, fix::NAN, 0) }),
        false => {
            s.patch(dst, IS_EQUAL, [magnitude, Src::Literal(INFINITY)], Src::Literal(NAN));
            s.patch(dst, IS_NAN, [magnitude, magnitude], Src::Literal(NAN));
        }
    }
}

fn sin(s: &mut impl Sink, x: Src, dst: Vector) {
    let magnitude = s.two(asm::AND, x, Src::Literal(!SIGN));
    let r = turns(s, magnitude);
    let near = s.two(asm::AND, r, Src::Literal(!SIGN));
    let far = s.two(asm::SUB, Src::Literal(HALF), near);
    let q = s.two(asm::MIN, near, far);
    let sine = sine_of_quarter(s, q);
    let signs = s.two(asm::XOR, r, x);
    finish(s, magnitude, sine, signs, dst);
}

fn cos(s: &mut impl Sink, x: Src, dst: Vector) {
    let magnitude = s.two(asm::AND, x, Src::Literal(!SIGN));
    let r = turns(s, magnitude);
    let r = s.two(asm::AND, r, Src::Literal(!SIGN));
    let q = s.two(asm::SUB, float(0.25), r);
    let near = s.two(asm::AND, q, Src::Literal(!SIGN));
    let sine = sine_of_quarter(s, near);
    finish(s, magnitude, sine, q, dst);
}
