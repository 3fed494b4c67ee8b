//! The transcendental functions: the sequences of `ctm_exec::x1k::transcendental`, instruction by instruction.
//!
//! That module is the definition; here nothing is explained twice. The differential tests compare every bit.

use super::encode::{self, V};
use super::lir::{Lir, Negated, Src, Vector};
use super::select::{EQUAL, GREATER_EQUAL, LESS, UNORDERED};
use ctm_exec::x1k::float::{HALF, INFINITY, MIN_NORMAL, NAN, ONE, SIGN};
use ctm_exec::x1k::transcendental::{
    EX2_POLYNOMIAL, EX2_RANGE, EXPONENT, FRACTION, LN2_POLYNOMIAL, RCP_SEED, RSQ_SEED, RSQ_STEP, SINE_POLYNOMIAL,
    SQRT_HALF, TO_INTEGER, TO_SIGNED_INTEGER,
};
use ctm_isa::x1k::ops::AlphaOp;

/// What takes instructions, and makes vectors.
pub trait Sink {
    /// A vector of its own.
    fn fresh(&mut self) -> Vector;

    /// Appends an instruction.
    fn push(&mut self, lir: Lir);

    /// `dst = op(a, b)` in a vector of its own.
    fn two(&mut self, op: V, a: Src, b: Src) -> Src {
        let dst = self.fresh();
        self.push(Lir::Two(op, dst, a, b));
        Src::Vector(dst)
    }

    /// `±(a * b) ± c` in a vector of its own.
    fn fma(&mut self, negated: Negated, abc: [Src; 3]) -> Src {
        let dst = self.fresh();
        self.push(Lir::Fma(negated, dst, abc));
        Src::Vector(dst)
    }
}

const PLUS: Negated = Negated { product: false, summand: false };
const MINUS: Negated = Negated { product: true, summand: false };
/// Comparison of signed integers: less.
const LESS_I32: u8 = 1;

const fn float(x: f32) -> Src {
    Src::Literal(x.to_bits())
}

/// Emits `dst = function(a)`; `flushed`: a holds no denormals.
pub fn emit(s: &mut impl Sink, function: AlphaOp, a: Src, flushed: bool, dst: Vector) {
    // Integer operations see denormals.
    let x = if flushed { a } else { s.two(encode::MUL, a, float(1.0)) };
    match function {
        AlphaOp::Rcp => rcp(s, x, dst),
        AlphaOp::Rsq => rsq(s, x, dst),
        AlphaOp::Ex2 => ex2(s, x, dst),
        AlphaOp::Ln2 => ln2(s, x, dst),
        AlphaOp::Sin => sin(s, x, dst),
        AlphaOp::Cos => cos(s, x, dst),
        AlphaOp::Mad
        | AlphaOp::Dp
        | AlphaOp::Min
        | AlphaOp::Max
        | AlphaOp::Cnd
        | AlphaOp::Cmp
        | AlphaOp::Frc
        | AlphaOp::Mdh
        | AlphaOp::Mdv => s.push(Lir::Copy(dst, Src::Literal(0))),
    }
}

fn shift(s: &mut impl Sink, how: u8, a: Src, count: u8) -> Src {
    let dst = s.fresh();
    s.push(Lir::Shift(how, dst, a, count));
    Src::Vector(dst)
}

/// Logical right, arithmetic right, left.
const RIGHT: u8 = 2;
const RIGHT_SIGNED: u8 = 4;
const LEFT: u8 = 6;

/// `result = x ? y : result` where a comparison holds.
fn patch(s: &mut impl Sink, result: Vector, (op, how): (V, u8), [x, y]: [Src; 2], value: Src) {
    s.push(Lir::Test(op, how, 1, x, y, 0));
    s.push(Lir::Merge(result, 1, value));
}

const ZERO: Src = Src::Literal(0);
const IS_EQUAL: (V, u8) = (encode::CMP_F32, EQUAL);
const IS_LESS: (V, u8) = (encode::CMP_F32, LESS);
const IS_AT_LEAST: (V, u8) = (encode::CMP_F32, GREATER_EQUAL);
const IS_NAN: (V, u8) = (encode::CMP_F32, UNORDERED);

fn owned(src: Src, s: &mut impl Sink) -> Vector {
    match src {
        Src::Vector(vector) => vector,
        Src::Literal(_) | Src::Const(_) | Src::Row(_) => {
            let dst = s.fresh();
            s.push(Lir::Copy(dst, src));
            dst
        }
    }
}

/// Integer magnitudes below the normal numbers become 0.
fn flush_magnitude(s: &mut impl Sink, magnitude: Src) -> Vector {
    let magnitude = owned(magnitude, s);
    let limit = Src::Literal(MIN_NORMAL);
    patch(s, magnitude, (encode::CMP_I32, LESS_I32), [Src::Vector(magnitude), limit], ZERO);
    magnitude
}

/// A polynomial with these coefficients, lowest power first.
fn polynomial(s: &mut impl Sink, x: Src, coefficients: &[f32]) -> Src {
    let mut powers = coefficients.iter().rev().map(|&c| float(c));
    let highest = powers.next().unwrap_or(ZERO);
    powers.fold(highest, |p, c| s.fma(PLUS, [x, p, c]))
}

fn rcp(s: &mut impl Sink, x: Src, dst: Vector) {
    let fraction = s.two(encode::AND, x, Src::Literal(FRACTION));
    let m = s.two(encode::OR, fraction, Src::Literal(ONE));
    let mut y = s.two(encode::SUB_I32, Src::Literal(RCP_SEED), m);
    for _ in 0..2 {
        let e = s.fma(MINUS, [m, y, float(1.0)]);
        let q = s.fma(PLUS, [e, e, e]);
        y = s.fma(PLUS, [y, q, y]);
    }
    let exponent = s.two(encode::AND, x, Src::Literal(EXPONENT));
    let magnitude = s.two(encode::ADD_I32, y, Src::Literal(ONE));
    let magnitude = s.two(encode::SUB_I32, magnitude, exponent);
    let magnitude = flush_magnitude(s, magnitude);
    patch(s, magnitude, IS_EQUAL, [x, ZERO], Src::Literal(INFINITY));
    let sign = s.two(encode::AND, x, Src::Literal(SIGN));
    let result = owned(s.two(encode::OR, Src::Vector(magnitude), sign), s);
    patch(s, result, IS_NAN, [x, x], Src::Literal(NAN));
    s.push(Lir::Copy(dst, Src::Vector(result)));
}

fn rsq(s: &mut impl Sink, x: Src, dst: Vector) {
    let low = s.two(encode::AND, x, Src::Literal(FRACTION | MIN_NORMAL));
    let m = s.two(encode::ADD_I32, low, Src::Literal(126 << 23));
    let exponent = shift(s, RIGHT, x, 23);
    let exponent = s.two(encode::SUB_I32, exponent, Src::Literal(126));
    let k = shift(s, RIGHT_SIGNED, exponent, 1);
    let half = shift(s, RIGHT, m, 1);
    let mut y = s.two(encode::SUB_I32, Src::Literal(RSQ_SEED), half);
    for _ in 0..2 {
        let my = s.two(encode::MUL, m, y);
        let e = s.fma(MINUS, [my, y, float(1.0)]);
        let p = s.fma(PLUS, [e, float(RSQ_STEP[1]), float(RSQ_STEP[0])]);
        let p = s.two(encode::MUL, p, e);
        y = s.fma(PLUS, [y, p, y]);
    }
    let k = shift(s, LEFT, k, 23);
    let result = owned(s.two(encode::SUB_I32, y, k), s);
    patch(s, result, IS_EQUAL, [x, Src::Literal(INFINITY)], ZERO);
    patch(s, result, IS_NAN, [x, x], Src::Literal(NAN));
    patch(s, result, IS_LESS, [x, ZERO], Src::Literal(NAN));
    patch(s, result, IS_EQUAL, [x, ZERO], Src::Literal(INFINITY));
    s.push(Lir::Copy(dst, Src::Vector(result)));
}

fn ex2(s: &mut impl Sink, x: Src, dst: Vector) {
    // MAXPS and MINPS choose as the comparisons of the definition do.
    let above = s.two(encode::MAX, x, float(EX2_RANGE[0]));
    let inside = s.two(encode::MIN, above, float(EX2_RANGE[1]));
    let shifted = s.two(encode::ADD, inside, float(TO_SIGNED_INTEGER));
    let n = s.two(encode::SUB_I32, shifted, float(TO_SIGNED_INTEGER));
    let nearest = s.two(encode::SUB, shifted, float(TO_SIGNED_INTEGER));
    let f = s.two(encode::SUB, inside, nearest);
    let p = polynomial(s, f, &EX2_POLYNOMIAL);
    let p = s.fma(PLUS, [f, p, float(1.0)]);
    let n = shift(s, LEFT, n, 23);
    let magnitude = s.two(encode::ADD_I32, p, n);
    let result = flush_magnitude(s, magnitude);
    patch(s, result, IS_NAN, [x, x], Src::Literal(NAN));
    s.push(Lir::Copy(dst, Src::Vector(result)));
}

fn ln2(s: &mut impl Sink, x: Src, dst: Vector) {
    let magnitude = s.two(encode::AND, x, Src::Literal(!SIGN));
    let e = s.two(encode::SUB_I32, magnitude, Src::Literal(SQRT_HALF));
    let e = shift(s, RIGHT_SIGNED, e, 23);
    let e_high = shift(s, LEFT, e, 23);
    let m = s.two(encode::SUB_I32, magnitude, e_high);
    let f = s.two(encode::SUB, m, float(1.0));
    let p = polynomial(s, f, &LN2_POLYNOMIAL);
    let e_float = s.fresh();
    s.push(Lir::One(encode::CVT_I32_F32, e_float, e, None));
    let sum = s.two(encode::ADD, Src::Vector(e_float), f);
    let result = owned(s.fma(PLUS, [f, p, sum]), s);
    patch(s, result, IS_EQUAL, [x, Src::Literal(INFINITY)], Src::Literal(INFINITY));
    patch(s, result, IS_NAN, [x, x], Src::Literal(NAN));
    patch(s, result, IS_LESS, [x, ZERO], Src::Literal(NAN));
    patch(s, result, IS_EQUAL, [x, ZERO], Src::Literal(SIGN | INFINITY));
    s.push(Lir::Copy(dst, Src::Vector(result)));
}

/// `|x|` less its nearest integer, 0 from 2^23 on.
fn turns(s: &mut impl Sink, magnitude: Src) -> Vector {
    let shifted = s.two(encode::ADD, magnitude, float(TO_INTEGER));
    let nearest = s.two(encode::SUB, shifted, float(TO_INTEGER));
    let r = owned(s.two(encode::SUB, magnitude, nearest), s);
    patch(s, r, IS_AT_LEAST, [magnitude, float(TO_INTEGER)], ZERO);
    r
}

fn sine_of_quarter(s: &mut impl Sink, q: Src) -> Src {
    let square = s.two(encode::MUL, q, q);
    let p = polynomial(s, square, &SINE_POLYNOMIAL);
    let y = s.two(encode::MUL, q, p);
    s.two(encode::MIN, y, float(1.0))
}

/// NaN for infinities and NaN; else the sine with this sign.
fn finish(s: &mut impl Sink, magnitude: Src, sine: Src, sign_of: Src, dst: Vector) {
    let sign = s.two(encode::AND, sign_of, Src::Literal(SIGN));
    let result = owned(s.two(encode::XOR, sine, sign), s);
    patch(s, result, IS_EQUAL, [magnitude, Src::Literal(INFINITY)], Src::Literal(NAN));
    patch(s, result, IS_NAN, [magnitude, magnitude], Src::Literal(NAN));
    s.push(Lir::Copy(dst, Src::Vector(result)));
}

fn sin(s: &mut impl Sink, x: Src, dst: Vector) {
    let magnitude = s.two(encode::AND, x, Src::Literal(!SIGN));
    let r = Src::Vector(turns(s, magnitude));
    let near = s.two(encode::AND, r, Src::Literal(!SIGN));
    let far = s.two(encode::SUB, Src::Literal(HALF), near);
    let q = s.two(encode::MIN, near, far);
    let sine = sine_of_quarter(s, q);
    let signs = s.two(encode::XOR, r, x);
    finish(s, magnitude, sine, signs, dst);
}

fn cos(s: &mut impl Sink, x: Src, dst: Vector) {
    let magnitude = s.two(encode::AND, x, Src::Literal(!SIGN));
    let r = Src::Vector(turns(s, magnitude));
    let r = s.two(encode::AND, r, Src::Literal(!SIGN));
    let q = s.two(encode::SUB, float(0.25), r);
    let near = s.two(encode::AND, q, Src::Literal(!SIGN));
    let sine = sine_of_quarter(s, near);
    finish(s, magnitude, sine, q, dst);
}
