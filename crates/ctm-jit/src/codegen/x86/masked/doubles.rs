//! R700's 64-bit operations as vector instructions.
//!
//! Registers hold doubles as two dwords, so a vector of doubles is two vectors of dwords. For arithmetic they are
//! unpacked into elements of 64 bits, which the processor adds and multiplies. It flushes denormals exactly as
//! `ctm_exec::r700::ops64` does. The host makes NaN operands quiet. R700 passes them on unchanged, so the code stores
//! the operands over those results.
//! Operations that only split and join exponents and fractions are done on the dwords.

use super::alu::Alu;
use super::alu::integers::{HIGH_DWORDS, LOW_DWORDS, number, unpack};
use super::facts::{INT_AT_LEAST, INT_AT_MOST, INT_EQUAL, INT_GREATER, INT_LESS, INT_NOT_EQUAL, UNORDERED, float_test};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::scalar::Sink;
use ctm_exec::float::{INFINITY, MIN_NORMAL, SIGN};
use ctm_isa::r700::ops::{AluOp, Decides, Omod, Op2, Op3};
use ctm_x86::{self as asm, SHUFFLE, V};

/// The high dword of infinity; the places of sign and fraction in it.
const INFINITY64: u32 = 0x7ff0_0000;
const SIGN_AND_FRACTION: u32 = SIGN | 0x000f_ffff;
/// The difference between the exponents of both precisions, in a high dword.
const REBIAS: u32 = (1023 - 127) << 20;

/// Doubles of all lanes, unpacked.
pub type DoubleLanes = [Src; 2];

/// The result of an operation: its dwords, by the `part` of the form's operation; 4 is the mask of the predicate.
pub type Results = [Src; 5];

/// A 64-bit operation with its modifiers.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// The operation.
    pub op: AluOp,
    /// Output modifier.
    pub omod: Omod,
    /// To 0..1.
    pub clamp: bool,
}

/// An operand: its high and low dwords.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    /// The high dwords.
    pub high: Src,
    /// The low dwords.
    pub low: Src,
}

impl Double {
    fn pair(self, s: &mut impl Sink) -> DoubleLanes {
        unpack(s, self.low, self.high)
    }
}

fn vector(src: Src) -> Vector {
    // Only results of `Sink::two` are passed here.
    if let Src::Vector(vector) = src { vector } else { Vector(0) }
}

impl Wide {
    /// Emits the operation; `None`, and nothing is emitted, where there is none.
    pub fn emit(self, s: &mut impl Sink, [a, b, c]: [Double; 3]) -> Option<Results> {
        match self.op {
            AluOp::Op2(Op2::Add64) => {
                let (a, b) = (a.pair(s), b.pair(s));
                let sum = arithmetic(s, asm::ADD_F64, a, b);
                Some(self.finish(s, sum, factor(self.omod)))
            }
            AluOp::Op2(Op2::Mul64) => {
                let (pa, pb) = (a.pair(s), if a == b { None } else { Some(b.pair(s)) });
                let product = arithmetic(s, asm::MUL_F64, pa, pb.unwrap_or(pa));
                Some(self.finish(s, product, factor(self.omod)))
            }
            AluOp::Op3(op) if op.unscaled() == Op3::Muladd64 => {
                let (pa, pb) = (a.pair(s), b.pair(s));
                let product = arithmetic(s, asm::MUL_F64, pa, pb);
                let c = c.pair(s);
                let sum = arithmetic(s, asm::ADD_F64, product, c);
                Some(self.finish(s, sum, factor(self.op.info().scale)))
            }
            AluOp::Op2(Op2::Fract64) => {
                let a = a.pair(s);
                let below_one = number(s, 1f64.to_bits() - 1);
                let fraction = a.map(|a| {
                    let floor = s.one(asm::ROUND_F64, a, Some(9));
                    let rest = s.two(asm::SUB_F64, a, floor);
                    // The minimum of a NaN, which an infinity leaves, is its second operand.
                    s.two(asm::MIN_F64, below_one, rest)
                });
                keep_nans(s, fraction, a);
                Some(self.finish(s, fraction, factor(self.omod)))
            }
            AluOp::Op2(Op2::Ldexp64) => {
                let dwords = ldexp(s, a, b.high);
                Some(self.finish_dwords(s, dwords))
            }
            AluOp::Op2(Op2::Flt32ToFlt64) => {
                let dwords = lengthened(s, a.high);
                Some(self.finish_dwords(s, dwords))
            }
            AluOp::Op2(Op2::Flt64ToFlt32) => {
                let single = shortened(s, a);
                if self.omod != Omod::Off || self.clamp {
                    let alu = Alu { op: self.op, omod: self.omod, clamp: self.clamp, seen: true };
                    alu.finish(s, single, true);
                }
                Some([Src::Vector(single), ZERO, ZERO, ZERO, ZERO])
            }
            AluOp::Op2(op @ (Op2::PredSete64 | Op2::PredSetgt64 | Op2::PredSetge64)) => {
                let Decides::Compare(test) = op.info().decides else { return None };
                let how = float_test(test);
                let (a, b) = (a.pair(s), b.pair(s));
                let ones = s.copied(Src::Literal(u32::MAX));
                let mut holds = [s.fresh(), s.fresh()];
                for (n, holds) in holds.iter_mut().enumerate() {
                    s.push(Lir::Copy(*holds, ZERO));
                    s.push(Lir::Test { op: asm::CMP_F64, how, dst: 1, a: a[n], b: b[n], under: 0 });
                    s.push(Lir::MergeTwo {
                        op: asm::OR_I64,
                        dst: *holds,
                        k: 1,
                        a: Src::Vector(ones),
                        b: Src::Vector(ones),
                    });
                }
                let [low, _] = pack(s, holds.map(Src::Vector));
                let skips = s.two(asm::XOR, low, Src::Literal(u32::MAX));
                Some([skips, skips, skips, skips, low])
            }
            AluOp::Op2(Op2::Frexp64) => Some(frexp(s, a)),
            AluOp::Op2(_) | AluOp::Op3(_) => None,
        }
    }

    /// Output modifier and clamp, and the dwords of the results.
    fn finish(self, s: &mut impl Sink, mut doubles: DoubleLanes, factor: Option<u64>) -> Results {
        if let Some(factor) = factor {
            let factor = number(s, factor);
            let scaled = doubles.map(|x| s.two(asm::MUL_F64, x, factor));
            keep_nans(s, scaled, doubles);
            doubles = scaled;
        }
        if self.clamp {
            let one = number(s, 1f64.to_bits());
            let zero = s.copied(ZERO);
            doubles = doubles.map(|x| {
                let positive = s.two(asm::MAX_F64, x, Src::Vector(zero));
                s.two(asm::MIN_F64, positive, one)
            });
        }
        let [low, high] = pack(s, doubles);
        [low, high, low, high, ZERO]
    }

    /// The same for results in dwords: low, high.
    fn finish_dwords(self, s: &mut impl Sink, [low, high]: [Src; 2]) -> Results {
        if self.omod != Omod::Off || self.clamp {
            let doubles = unpack(s, low, high);
            return self.finish(s, doubles, factor(self.omod));
        }
        [low, high, low, high, ZERO]
    }
}

const ZERO: Src = Src::Literal(0);

fn factor(omod: Omod) -> Option<u64> {
    match omod {
        Omod::Off => None,
        Omod::M2 => Some(2f64.to_bits()),
        Omod::M4 => Some(4f64.to_bits()),
        Omod::D2 => Some(0.5f64.to_bits()),
    }
}

/// Low and high dwords.
fn pack(s: &mut impl Sink, [first, second]: DoubleLanes) -> [Src; 2] {
    [LOW_DWORDS, HIGH_DWORDS].map(|which| {
        let dst = s.fresh();
        s.push(Lir::TwoImm { op: SHUFFLE, dst, a: first, b: second, imm: which });
        Src::Vector(dst)
    })
}

/// A sum or product; a NaN operand is passed on unchanged, the first before the second.
fn arithmetic(s: &mut impl Sink, op: V, a: DoubleLanes, b: DoubleLanes) -> DoubleLanes {
    let results = [s.two(op, a[0], b[0]), s.two(op, a[1], b[1])];
    if a != b {
        keep_nans(s, results, b);
    }
    keep_nans(s, results, a);
    results
}

/// Replaces results by NaN operands.
fn keep_nans(s: &mut impl Sink, results: DoubleLanes, operands: DoubleLanes) {
    for (result, operand) in results.into_iter().zip(operands) {
        s.push(Lir::Test { op: asm::CMP_F64, how: UNORDERED, dst: 1, a: operand, b: operand, under: 0 });
        s.push(Lir::MergeTwo { op: asm::AND_I64, dst: vector(result), k: 1, a: operand, b: operand });
    }
}

/// `a * 2 ^ power`, as dwords.
fn ldexp(s: &mut impl Sink, a: Double, power: Src) -> [Src; 2] {
    let exponent = exponent(s, a.high);
    // Larger powers have the same result.
    let power = s.two(asm::MIN_I32, power, Src::Literal(4096));
    let power = s.two(asm::MAX_I32, power, Src::Literal((-4096i32).cast_unsigned()));
    let sum = s.two(asm::ADD_I32, exponent, power);
    let sign = s.two(asm::AND, a.high, Src::Literal(SIGN));
    let rest = s.two(asm::AND, a.high, Src::Literal(SIGN_AND_FRACTION));
    let moved = s.shift(asm::PSLL, sum, 20);
    let high = s.two(asm::OR, rest, moved);
    let infinity = s.two(asm::OR, sign, Src::Literal(INFINITY64));
    let low = s.copied(a.low);
    let tests: [(u8, Src, u32, Src, Src); 4] = [
        (INT_AT_LEAST, sum, 0x7ff, infinity, ZERO),
        (INT_AT_MOST, sum, 0, sign, ZERO),
        (INT_EQUAL, exponent, 0, sign, ZERO),
        (INT_EQUAL, exponent, 0x7ff, a.high, a.low),
    ];
    for (how, of, bound, h, l) in tests {
        s.patch(vector(high), (asm::CMP_I32, how), [of, Src::Literal(bound)], h);
        s.push(Lir::Merge { dst: low, k: 1, a: l });
    }
    [Src::Vector(low), high]
}

fn exponent(s: &mut impl Sink, high: Src) -> Src {
    let field = s.shift(asm::PSRL, high, 20);
    s.two(asm::AND, field, Src::Literal(0x7ff))
}

/// Exponent, its sign, and the dwords of the fraction.
fn frexp(s: &mut impl Sink, a: Double) -> [Src; 5] {
    let field = exponent(s, a.high);
    let power = s.two(asm::ADD_I32, field, Src::Literal((-1022i32).cast_unsigned()));
    let sign = s.two(asm::AND, a.high, Src::Literal(SIGN));
    let size = s.two(asm::AND, a.high, Src::Literal(!SIGN));
    let rest = s.two(asm::AND, a.high, Src::Literal(SIGN_AND_FRACTION));
    let high = s.two(asm::OR, rest, Src::Literal(0x3fe << 20));
    let low = s.copied(a.low);
    s.patch(vector(power), (asm::CMP_I32, INT_EQUAL), [field, ZERO], ZERO);
    s.push(Lir::Merge { dst: vector(high), k: 1, a: sign });
    s.push(Lir::Merge { dst: low, k: 1, a: ZERO });
    s.patch(vector(power), (asm::CMP_I32, INT_EQUAL), [field, Src::Literal(0x7ff)], Src::Literal(u32::MAX));
    s.push(Lir::Merge { dst: vector(high), k: 1, a: a.high });
    s.push(Lir::Test { op: asm::CMP_I32, how: INT_EQUAL, dst: 1, a: size, b: Src::Literal(INFINITY64), under: 0 });
    s.push(Lir::Test { op: asm::CMP_I32, how: INT_EQUAL, dst: 1, a: a.low, b: ZERO, under: 1 });
    s.push(Lir::Merge { dst: vector(high), k: 1, a: Src::Literal(0xfff8_0000) });
    let extended = s.shift(asm::PSRA, power, 31);
    [power, extended, Src::Vector(low), high, ZERO]
}

/// A single-precision number in double precision, as dwords.
fn lengthened(s: &mut impl Sink, a: Src) -> [Src; 2] {
    let sign = s.two(asm::AND, a, Src::Literal(SIGN));
    let size = s.two(asm::AND, a, Src::Literal(!SIGN));
    let moved = s.shift(asm::PSRL, size, 3);
    let high = s.two(asm::ADD_I32, moved, Src::Literal(REBIAS));
    let low = s.shift(asm::PSLL, a, 29);
    s.push(Lir::Test { op: asm::CMP_I32, how: INT_AT_LEAST, dst: 1, a: size, b: Src::Literal(INFINITY), under: 0 });
    s.push(Lir::MergeTwo { op: asm::OR, dst: vector(high), k: 1, a: high, b: Src::Literal(INFINITY64) });
    s.patch(vector(high), (asm::CMP_I32, INT_LESS), [size, Src::Literal(MIN_NORMAL)], ZERO);
    s.push(Lir::Merge { dst: vector(low), k: 1, a: ZERO });
    s.push(Lir::Two { op: asm::OR, dst: vector(high), a: high, b: sign });
    [low, high]
}

/// A double-precision number in single precision: the dropped bits round the rest, and carry into the exponent.
fn shortened(s: &mut impl Sink, a: Double) -> Vector {
    let sign = s.two(asm::AND, a.high, Src::Literal(SIGN));
    let size = s.two(asm::AND, a.high, Src::Literal(!SIGN));
    let rebiased = s.two(asm::SUB_I32, size, Src::Literal(REBIAS));
    let upper = s.shift(asm::PSLL, rebiased, 3);
    let lower = s.shift(asm::PSRL, a.low, 29);
    let kept = s.two(asm::OR, upper, lower);
    let left_out = s.two(asm::AND, a.low, Src::Literal(0x1fff_ffff));
    let odd = s.two(asm::AND, kept, Src::Literal(1));
    let half = s.two(asm::ADD_I32, left_out, Src::Literal(0x0fff_ffff));
    let half = s.two(asm::ADD_I32, half, odd);
    let carry = s.shift(asm::PSRL, half, 29);
    let dst = vector(s.two(asm::ADD_I32, kept, carry));
    let it = Src::Vector(dst);
    s.patch(dst, (asm::CMP_I32, INT_LESS), [it, Src::Literal(MIN_NORMAL)], ZERO);
    s.patch(dst, (asm::CMP_I32, INT_LESS), [size, Src::Literal(REBIAS)], ZERO);
    s.patch(dst, (asm::CMP_I32, INT_AT_LEAST), [size, Src::Literal(REBIAS + (255 << 20))], Src::Literal(INFINITY));
    const ONE_NAN: Src = Src::Literal(0x7fc0_0000);
    s.patch(dst, (asm::CMP_I32, INT_GREATER), [size, Src::Literal(INFINITY64)], ONE_NAN);
    s.push(Lir::Test { op: asm::CMP_I32, how: INT_EQUAL, dst: 1, a: size, b: Src::Literal(INFINITY64), under: 0 });
    s.push(Lir::Test { op: asm::CMP_I32, how: INT_NOT_EQUAL, dst: 1, a: a.low, b: ZERO, under: 1 });
    s.push(Lir::Merge { dst, k: 1, a: ONE_NAN });
    s.push(Lir::Two { op: asm::OR, dst, a: it, b: sign });
    dst
}
