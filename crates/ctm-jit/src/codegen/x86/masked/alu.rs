//! R700's arithmetic as vector instructions, for two selectors: its own back end's, and that of streams.
//!
//! The processor flushes denormals; where an instruction would let one through, a product with 1.0 precedes it. NaN
//! bits are made canonical only in vectors with visible bits.

mod counters;
pub(super) mod integers;
mod operand;

pub use operand::Operand;
use operand::flush;

use super::facts::{
    AT_LEAST, EQUAL, GREATER, INT_AT_LEAST, INT_EQUAL, INT_GREATER, LESS, NOT_GREATER, UNORDERED, comparison, outcomes,
};
use crate::codegen::target::Target;
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::scalar::{self, Sink, Special};
use ctm_exec::float::{INFINITY, ONE, SIGN};
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};
use ctm_isa::x1k::ops::AlphaOp;
use ctm_x86 as asm;

/// A consumer of instructions that can mend products of zero.
pub trait AluSink: Sink {
    /// Makes `dst`, the product of the first two operands: +0 where one of them is zero and the other infinite or a
    /// NaN.
    fn zero_wins(&mut self, dst: Vector, operands: [Operand; 2]);

    /// Instructions for the lanes of a rare case: `check` puts these lanes into mask 1.
    fn rare(&mut self, check: Lir, body: impl FnOnce(&mut Self))
    where
        Self: Sized;

    /// `dst = a * b + c`, each step rounded; the bits of the product are not visible. `zero_wins` as above.
    fn multiply_add(&mut self, dst: Vector, operands: [Operand; 3], zero_wins: bool)
    where
        Self: Sized,
    {
        multiply_add(self, dst, operands, zero_wins);
    }
}

/// [`AluSink::multiply_add`] in the general case: a product and a sum.
pub fn multiply_add(s: &mut impl AluSink, dst: Vector, operands: [Operand; 3], zero_wins: bool) {
    let product = s.fresh();
    let [a, b, mut c] = operands;
    s.push(Lir::Two { op: asm::MUL, dst: product, a: a.src, b: b.src });
    if zero_wins {
        s.zero_wins(product, [a, b]);
    }
    let product = Src::Vector(product);
    // The sign of a product is the product of its factors' signs.
    if a.negated == b.negated {
        let op = if c.negated { asm::SUB } else { asm::ADD };
        return s.push(Lir::Two { op, dst, a: product, b: c.src });
    }
    if c.negated {
        c = c.plain(s);
    }
    s.push(Lir::Two { op: asm::SUB, dst, a: c.src, b: product });
}

/// An operation of one slot with its modifiers.
#[derive(Clone, Copy, Debug)]
pub struct Alu {
    /// The operation.
    pub op: AluOp,
    /// Output modifier.
    pub omod: Omod,
    /// To 0..1.
    pub clamp: bool,
    /// The bits of a NaN are visible.
    pub seen: bool,
}

impl Alu {
    /// Whether the instructions write the result only after they have read all operands, so that it may take an
    /// operand's place.
    pub const fn writes_last(&self) -> bool {
        match self.op {
            AluOp::Op2(op) => integer(op).is_some() || matches!(op, Op2::Add | Op2::MulIeee | Op2::Mov | Op2::Min),
            AluOp::Op3(op) => matches!(op.unscaled(), Op3::Muladd | Op3::MuladdIeee),
        }
    }

    /// Whether it accepts operands that have to be negated.
    pub const fn negates(op: AluOp) -> bool {
        match op {
            AluOp::Op2(op) => matches!(op, Op2::Add),
            AluOp::Op3(op) => matches!(op.unscaled(), Op3::MuladdIeee),
        }
    }

    /// Whether an operation has instructions.
    pub fn exists(op: AluOp) -> bool {
        let operand = Operand { src: Src::Literal(0), flushed: true, number: true, value: 0, negated: false };
        Self { op, omod: Omod::Off, clamp: false, seen: false }.emit(&mut Nobody, Vector(0), [operand; 3])
    }

    /// Emits `dst = op(operands)`; false, and nothing has been emitted, when the operation has no instructions.
    pub fn emit(self, s: &mut impl AluSink, dst: Vector, operands: [Operand; 3]) -> bool {
        match self.op {
            AluOp::Op2(op) => self.op2(s, dst, op, [operands[0], operands[1]]),
            AluOp::Op3(op) => self.op3(s, dst, op, operands),
        }
    }

    /// Output modifier, clamp, NaN bits.
    pub(super) fn finish(self, s: &mut impl Sink, dst: Vector, may_be_nan: bool) {
        let it = Src::Vector(dst);
        if let Some(factor) = factor(self.omod) {
            s.push(Lir::Two { op: asm::MUL, dst, a: it, b: factor });
        }
        if self.clamp {
            s.push(Lir::Two { op: asm::MAX, dst, a: it, b: Src::Literal(0) });
            s.push(Lir::Two { op: asm::MIN, dst, a: it, b: Src::Literal(ONE) });
        } else if may_be_nan && self.seen {
            s.one_nan(dst);
        }
    }

    fn op2(self, s: &mut impl AluSink, dst: Vector, op: Op2, [va, vb]: [Operand; 2]) -> bool {
        let (a, b) = (va.src, vb.src);
        if let Some((compare, how)) = comparison(op) {
            let (yes, no) = outcomes(op);
            s.push(Lir::Test { op: compare, how, dst: 1, a, b, under: 0 });
            s.push(Lir::Blend { dst, k: 1, yes: Src::Literal(yes), no: Src::Literal(no) });
            if (yes, no) != (u32::MAX, 0) && (self.omod != Omod::Off || self.clamp) {
                self.finish(s, dst, false);
            }
            return true;
        }
        let Some(instruction) = integer(op) else { return self.longer(s, dst, op, [va, vb]) };
        let line = match shift(op) {
            // A shift takes the low five bits of its count; the machine's take all 32.
            Some(kind) => match b {
                Src::Literal(count) => Lir::Shift { kind, dst, a, count: (count & LARGEST_COUNT) as u8 },
                count => Lir::Two { op: instruction, dst, a, b: s.two(asm::AND, count, Src::Literal(LARGEST_COUNT)) },
            },
            None => Lir::Two { op: instruction, dst, a, b },
        };
        s.push(line);
        true
    }

    /// Operations of several instructions, or of one that is no [`Lir::Two`].
    fn longer(self, s: &mut impl AluSink, dst: Vector, op: Op2, [va, vb]: [Operand; 2]) -> bool {
        let (a, b) = (va.src, vb.src);
        match op {
            Op2::NotInt => s.push(Lir::Two { op: asm::XOR, dst, a, b: Src::Literal(u32::MAX) }),
            Op2::FltToInt | Op2::FltToUint => float_to_int(s, dst, a),
            Op2::MulhiInt | Op2::MulhiUint => integers::high_product(s, dst, [a, b], op == Op2::MulhiInt),
            Op2::RecipInt | Op2::RecipUint => integers::reciprocal(s, dst, a, op == Op2::RecipInt),
            Op2::Mova | Op2::MovaFloor | Op2::MovaInt => integers::address(s, dst, op, va),
            _ => return self.number(s, dst, op, [va, vb]),
        }
        true
    }

    /// Operations that give numbers, to which modifiers apply.
    fn number(self, s: &mut impl AluSink, dst: Vector, op: Op2, [va, vb]: [Operand; 2]) -> bool {
        let (a, b) = (va.src, vb.src);
        let both_flushed = va.flushed && vb.flushed;
        match op {
            Op2::Add => match (va.negated, vb.negated) {
                (false, false) => s.push(Lir::Two { op: asm::ADD, dst, a, b }),
                (false, true) => s.push(Lir::Two { op: asm::SUB, dst, a, b }),
                (true, false) => s.push(Lir::Two { op: asm::SUB, dst, a: b, b: a }),
                (true, true) => {
                    let a = va.plain(s);
                    s.push(Lir::Two { op: asm::SUB, dst, a: a.src, b });
                }
            },
            Op2::MulIeee => s.push(Lir::Two { op: asm::MUL, dst, a, b }),
            Op2::Mul => {
                s.push(Lir::Two { op: asm::MUL, dst, a, b });
                s.zero_wins(dst, [va, vb]);
            }
            Op2::Max => {
                s.push(Lir::Test { op: asm::CMP_F32, how: AT_LEAST, dst: 1, a, b, under: 0 });
                s.push(Lir::Blend { dst, k: 1, yes: a, no: b });
                flush_result(s, dst, both_flushed);
            }
            Op2::Min => {
                s.push(Lir::Two { op: asm::MIN, dst, a, b });
                flush_result(s, dst, both_flushed);
            }
            // The second operand is the one that the instruction passes on where both are equal, or one is NaN.
            Op2::MaxDx10 => {
                if va.number {
                    s.push(Lir::Two { op: asm::MAX, dst, a: b, b: a });
                } else {
                    s.push(Lir::Test { op: asm::CMP_F32, how: AT_LEAST, dst: 1, a, b, under: 0 });
                    if !vb.number {
                        s.push(Lir::Test { op: asm::CMP_F32, how: UNORDERED, dst: 2, a: b, b, under: 0 });
                        s.push(Lir::Or(1, 1, 2));
                    }
                    s.push(Lir::Blend { dst, k: 1, yes: a, no: b });
                }
                flush_result(s, dst, both_flushed);
            }
            Op2::MinDx10 => {
                let no_zero = matches!(a, Src::Literal(bits) if f32::from_bits(bits).is_normal());
                if no_zero && !vb.number {
                    s.push(Lir::Two { op: asm::MIN, dst, a: b, b: a });
                } else {
                    s.push(Lir::Two { op: asm::MIN, dst, a, b });
                    if !vb.number {
                        s.patch(dst, (asm::CMP_F32, UNORDERED), [b, b], a);
                    }
                }
                flush_result(s, dst, both_flushed);
            }
            Op2::Floor | Op2::Ceil | Op2::Trunc | Op2::Rndne => {
                let how = match op {
                    Op2::Floor => 9,
                    Op2::Ceil => 10,
                    Op2::Trunc => 11,
                    _ => 8,
                };
                let a = flush(s, va);
                s.push(Lir::One { op: asm::ROUND_SCALE, dst, a, imm: Some(how) });
            }
            Op2::SqrtIeee => s.push(Lir::One { op: asm::SQRT, dst, a, imm: None }),
            Op2::Fract => {
                let a = flush(s, va);
                let floor = s.one(asm::ROUND_SCALE, a, Some(9));
                s.push(Lir::Two { op: asm::SUB, dst, a, b: floor });
            }
            Op2::Mov => {
                s.push(Lir::Two { op: asm::MUL, dst, a, b: factor(self.omod).unwrap_or(Src::Literal(ONE)) });
                Self { omod: Omod::Off, ..self }.finish(s, dst, true);
                return true;
            }
            Op2::IntToFlt | Op2::UintToFlt => {
                let convert = if op == Op2::IntToFlt { asm::CVT_I32_F32 } else { asm::CVT_U32_F32 };
                s.push(Lir::One { op: convert, dst, a, imm: None });
                self.finish(s, dst, false);
                return true;
            }
            _ => {
                if let Some(may_be_nan) = counters::emit(s, dst, op, [va, vb]) {
                    self.finish(s, dst, may_be_nan);
                    return true;
                }
                if !self.transcendental(s, op, va, dst) {
                    return false;
                }
                // These functions make the canonical NaN themselves.
                self.finish(s, dst, false);
                return true;
            }
        }
        self.finish(s, dst, true);
        true
    }

    fn transcendental(self, s: &mut impl Sink, op: Op2, operand: Operand, dst: Vector) -> bool {
        let function = match op {
            Op2::ExpIeee => AlphaOp::Ex2,
            Op2::LogIeee | Op2::LogClamped => AlphaOp::Ln2,
            Op2::RecipIeee | Op2::RecipClamped | Op2::RecipFf => AlphaOp::Rcp,
            Op2::RecipsqrtIeee | Op2::RecipsqrtClamped | Op2::RecipsqrtFf => AlphaOp::Rsq,
            Op2::Sin => AlphaOp::Sin,
            Op2::Cos => AlphaOp::Cos,
            _ => return false,
        };
        let x = flush(s, operand);
        scalar::emit(s, function, x, dst, Special { one_nan: self.seen, signed_root: true });
        let it = Src::Vector(dst);
        let magnitude = match op {
            Op2::RecipClamped | Op2::RecipsqrtClamped => f32::MAX.to_bits(),
            Op2::RecipFf | Op2::RecipsqrtFf => 0,
            Op2::LogClamped => {
                let [lowest, infinity] = [f32::MAX.to_bits(), INFINITY].map(|bits| Src::Literal(SIGN | bits));
                s.patch(dst, (asm::CMP_I32, INT_EQUAL), [it, infinity], lowest);
                return true;
            }
            _ => return true,
        };
        let sign = s.two(asm::AND, it, Src::Literal(SIGN));
        let bounded = s.two(asm::OR, sign, Src::Literal(magnitude));
        let size = s.two(asm::AND, it, Src::Literal(!SIGN));
        s.patch(dst, (asm::CMP_I32, INT_EQUAL), [size, Src::Literal(INFINITY)], bounded);
        true
    }

    fn op3(self, s: &mut impl AluSink, dst: Vector, op: Op3, [va, vb, vc]: [Operand; 3]) -> bool {
        let choice = match op {
            Op3::Cnde => Some((asm::CMP_F32, EQUAL, false)),
            Op3::Cndgt => Some((asm::CMP_F32, GREATER, false)),
            Op3::Cndge => Some((asm::CMP_F32, AT_LEAST, false)),
            Op3::CndeInt => Some((asm::CMP_I32, INT_EQUAL, true)),
            Op3::CndgtInt => Some((asm::CMP_I32, INT_GREATER, true)),
            Op3::CndgeInt => Some((asm::CMP_I32, INT_AT_LEAST, true)),
            _ => None,
        };
        if let Some((compare, how, integer)) = choice {
            s.push(Lir::Test { op: compare, how, dst: 1, a: va.src, b: Src::Literal(0), under: 0 });
            s.push(Lir::Blend { dst, k: 1, yes: vb.src, no: vc.src });
            if !integer && (self.omod != Omod::Off || self.clamp) {
                flush_result(s, dst, vb.flushed && vc.flushed);
                self.finish(s, dst, true);
            }
            return true;
        }
        if op.unscaled() == Op3::MulLit {
            const LEAST: Src = Src::Literal(SIGN | (INFINITY - 1));
            s.push(Lir::Two { op: asm::MUL, dst, a: va.src, b: vb.src });
            s.zero_wins(dst, [va, vb]);
            // The least number, smaller ones, and NaNs.
            s.patch(dst, (asm::CMP_F32, NOT_GREATER), [vb.src, LEAST], LEAST);
            s.patch(dst, (asm::CMP_F32, NOT_GREATER), [vc.src, Src::Literal(0)], LEAST);
            if let Some(scale) = factor(op.info().scale) {
                s.push(Lir::Two { op: asm::MUL, dst, a: Src::Vector(dst), b: scale });
            }
            self.finish(s, dst, true);
            return true;
        }
        let zero_wins = op.unscaled() == Op3::Muladd;
        if !zero_wins && op.unscaled() != Op3::MuladdIeee {
            return false;
        }
        s.multiply_add(dst, [va, vb, vc], zero_wins);
        if let Some(scale) = factor(op.info().scale) {
            s.push(Lir::Two { op: asm::MUL, dst, a: Src::Vector(dst), b: scale });
        }
        self.finish(s, dst, true);
        true
    }
}

/// The largest count of a shift.
const LARGEST_COUNT: u32 = 31;

/// The shift of all lanes by one count, if this is a shift.
const fn shift(op: Op2) -> Option<u8> {
    match op {
        Op2::AshrInt => Some(asm::PSRA),
        Op2::LshrInt => Some(asm::PSRL),
        Op2::LshlInt => Some(asm::PSLL),
        _ => None,
    }
}

/// The instruction that does the same to whole numbers, if one does; shifts when their count is below 32.
const fn integer(op: Op2) -> Option<asm::V> {
    Some(match op {
        Op2::AndInt => asm::AND,
        Op2::OrInt => asm::OR,
        Op2::XorInt => asm::XOR,
        Op2::AddInt => asm::ADD_I32,
        Op2::SubInt => asm::SUB_I32,
        Op2::MaxInt => asm::MAX_I32,
        Op2::MinInt => asm::MIN_I32,
        Op2::MaxUint => asm::MAX_U32,
        Op2::MinUint => asm::MIN_U32,
        Op2::AshrInt => asm::SHIFT_RIGHT_SIGNED,
        Op2::LshrInt => asm::SHIFT_RIGHT,
        Op2::LshlInt => asm::SHIFT_LEFT,
        Op2::MulloInt | Op2::MulloUint => asm::MUL_I32,
        _ => return None,
    })
}

/// Discards instructions.
pub(super) struct Nobody;

impl Sink for Nobody {
    fn target(&self) -> &'static Target {
        &crate::codegen::target::AVX512
    }

    fn split(&mut self) {}

    fn fresh(&mut self) -> Vector {
        Vector(0)
    }

    fn push(&mut self, _: Lir) {}
}

impl AluSink for Nobody {
    fn zero_wins(&mut self, _: Vector, _: [Operand; 2]) {}

    fn rare(&mut self, _: Lir, _: impl FnOnce(&mut Self)) {}
}

/// `CUBE` of a direction: `element` 0..=3 of `ctm_exec::r700::ops::cube`. Operands are not negated.
pub fn cube(s: &mut impl Sink, dst: Vector, element: u8, [vx, vy, vz]: [Operand; 3], alu: Alu) {
    let [x, y, z] = [vx.src, vy.src, vz.src];
    let zero = Src::Literal(0);
    let [ax, ay, az] = [x, y, z].map(|v| s.two(asm::AND, v, Src::Literal(!SIGN)));
    let below_zero =
        |s: &mut dyn FnMut(Lir), v: Src| s(Lir::Test { op: asm::CMP_F32, how: LESS, dst: 3, a: v, b: zero, under: 0 });
    let negative = |s: &mut _, v: Src| Sink::two(s, asm::XOR, v, Src::Literal(SIGN));
    // Masks 1 and 2: the lanes whose major axis is z, and those whose major axis is y.
    let axes = |s: &mut dyn FnMut(Lir)| {
        s(Lir::Test { op: asm::CMP_F32, how: AT_LEAST, dst: 1, a: az, b: ax, under: 0 });
        s(Lir::Test { op: asm::CMP_F32, how: AT_LEAST, dst: 1, a: az, b: ay, under: 1 });
        s(Lir::Test { op: asm::CMP_F32, how: AT_LEAST, dst: 2, a: ay, b: ax, under: 0 });
        s(Lir::AndNot(2, 1, 2));
    };
    match element {
        0 => {
            let (turned, choice) = (negative(s, z), s.fresh());
            s.push(Lir::Two { op: asm::XOR, dst, a: y, b: Src::Literal(SIGN) });
            below_zero(&mut |lir| s.push(lir), y);
            s.push(Lir::Blend { dst: choice, k: 3, yes: turned, no: z });
            axes(&mut |lir| s.push(lir));
            s.push(Lir::Merge { dst, k: 2, a: Src::Vector(choice) });
        }
        1 => {
            let (minus_x, minus_z, choice) = (negative(s, x), negative(s, z), s.fresh());
            below_zero(&mut |lir| s.push(lir), z);
            s.push(Lir::Blend { dst: choice, k: 3, yes: minus_x, no: x });
            below_zero(&mut |lir| s.push(lir), x);
            s.push(Lir::Blend { dst, k: 3, yes: z, no: minus_z });
            axes(&mut |lir| s.push(lir));
            s.push(Lir::Merge { dst, k: 2, a: x });
            s.push(Lir::Merge { dst, k: 1, a: Src::Vector(choice) });
        }
        2 => {
            s.push(Lir::Copy(dst, x));
            axes(&mut |lir| s.push(lir));
            s.push(Lir::Merge { dst, k: 2, a: y });
            s.push(Lir::Merge { dst, k: 1, a: z });
            s.push(Lir::Two { op: asm::MUL, dst, a: Src::Vector(dst), b: Src::Literal(2f32.to_bits()) });
        }
        _ => {
            let major = s.copied(x);
            s.push(Lir::Copy(dst, zero));
            axes(&mut |lir| s.push(lir));
            for (k, axis, face) in [(2, y, 2f32), (1, z, 4f32)] {
                s.push(Lir::Merge { dst: major, k, a: axis });
                s.push(Lir::Merge { dst, k, a: Src::Literal(face.to_bits()) });
            }
            below_zero(&mut |lir| s.push(lir), Src::Vector(major));
            s.push(Lir::MergeTwo { op: asm::ADD, dst, k: 3, a: Src::Vector(dst), b: Src::Literal(ONE) });
            return;
        }
    }
    if element < 2 {
        flush_result(s, dst, vx.flushed && vy.flushed && vz.flushed);
    }
    alu.finish(s, dst, true);
}

fn flush_result(s: &mut impl Sink, dst: Vector, flushed: bool) {
    if !flushed {
        s.push(Lir::Two { op: asm::MUL, dst, a: Src::Vector(dst), b: Src::Literal(ONE) });
    }
}

/// The low-order bits of the integer part.
fn float_to_int(s: &mut impl AluSink, dst: Vector, a: Src) {
    s.push(Lir::One { op: asm::CVT_F32_I32, dst, a, imm: None });
    // The instruction gives this for every number that does not fit, and for -2^31, which fits.
    s.rare(
        Lir::Test { op: asm::CMP_I32, how: INT_EQUAL, dst: 1, a: Src::Vector(dst), b: Src::Literal(SIGN), under: 0 },
        |s| {
            // The fraction with its leading one, shifted by the exponent. Shift counts beyond 31, negative ones too, give 0.
            let exponent = s.shift(asm::PSRL, a, 23);
            let exponent = s.two(asm::AND, exponent, Src::Literal(255));
            let left = s.two(asm::SUB_I32, exponent, Src::Literal(150));
            let right = s.two(asm::SUB_I32, Src::Literal(150), exponent);
            let fraction = s.two(asm::AND, a, Src::Literal(0x007f_ffff));
            let fraction = s.two(asm::OR, fraction, Src::Literal(0x0080_0000));
            let up = s.two(asm::SHIFT_LEFT, fraction, left);
            let down = s.two(asm::SHIFT_RIGHT, fraction, right);
            let magnitude = s.two(asm::OR, up, down);
            let sign = s.shift(asm::PSRA, a, 31);
            let turned = s.two(asm::XOR, magnitude, sign);
            let made = s.two(asm::SUB_I32, turned, sign);
            s.push(Lir::Merge { dst, k: 1, a: made });
        },
    );
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
