//! Each operation of `ctm-x86` that selection uses, as one or a few of Cranelift's, with the results of x86-64: minima and maxima give the second operand for NaNs and for two zeros, counts of shifts have
//! all 32 bits, and numbers that are no integers become the least one.

use super::builder::Builder;
use crate::codegen::x86::lir::Negated;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32X4, F64X2, I8X16, I32X4};
use cranelift_codegen::ir::{ConstantData, InstBuilder, Value};
use ctm_exec::float::{ONE, SIGN};
use ctm_x86::{self as asm, V};

/// 2^31.
const TWO_31: u32 = 0x4f00_0000;
/// Whether minima and maxima of vectors flush denormals.
const MINIMA_FLUSH: bool = cfg!(target_arch = "x86_64");

impl Builder {
    /// `op(a, b)`.
    pub fn two(&mut self, op: V, a: Value, b: Value) -> Value {
        match op {
            asm::ADD | asm::SUB | asm::MUL => {
                let (a, b) = (self.floats(a), self.floats(b));
                match op {
                    asm::ADD => self.ins().fadd(a, b),
                    asm::SUB => self.ins().fsub(a, b),
                    _ => self.ins().fmul(a, b),
                }
            }
            asm::MIN | asm::MAX => self.extremum(op == asm::MIN, a, b),
            asm::AND | asm::AND_I64 => self.ins().band(a, b),
            asm::OR | asm::OR_I64 => self.ins().bor(a, b),
            asm::XOR => self.ins().bxor(a, b),
            asm::ADD_I32 => self.ins().iadd(a, b),
            asm::SUB_I32 => self.ins().isub(a, b),
            asm::MUL_I32 => self.ins().imul(a, b),
            asm::MAX_I32 => self.ins().smax(a, b),
            asm::MIN_I32 => self.ins().smin(a, b),
            asm::MAX_U32 => self.ins().umax(a, b),
            asm::MIN_U32 => self.ins().umin(a, b),
            asm::SHIFT_LEFT | asm::SHIFT_RIGHT | asm::SHIFT_RIGHT_SIGNED => self.shift_each(op, a, b),
            asm::UNPACK_LOW => self.choose(a, b, [0, 4, 1, 5]),
            asm::UNPACK_HIGH => self.choose(a, b, [2, 6, 3, 7]),
            asm::ADD_F64 | asm::SUB_F64 | asm::MUL_F64 | asm::DIV_F64 => {
                let (a, b) = (self.doubles(a), self.doubles(b));
                let made = match op {
                    asm::ADD_F64 => self.ins().fadd(a, b),
                    asm::SUB_F64 => self.ins().fsub(a, b),
                    asm::MUL_F64 => self.ins().fmul(a, b),
                    _ => self.ins().fdiv(a, b),
                };
                self.negative_nan(made)
            }
            asm::MIN_F64 | asm::MAX_F64 => {
                let (a, b) = (self.doubles(a), self.doubles(b));
                let how = if op == asm::MIN_F64 { FloatCC::LessThan } else { FloatCC::GreaterThan };
                let first = self.ins().fcmp(how, a, b);
                let (a, b) = (self.wides(a), self.wides(b));
                self.ins().bitselect(first, a, b)
            }
            asm::MUL_WIDE_U32 | asm::MUL_WIDE_I32 => {
                let [a, b] = [a, b].map(|x| self.choose(x, x, [0, 2, 0, 2]));
                let [a, b] = match op {
                    asm::MUL_WIDE_U32 => [self.ins().uwiden_low(a), self.ins().uwiden_low(b)],
                    _ => [self.ins().swiden_low(a), self.ins().swiden_low(b)],
                };
                self.ins().imul(a, b)
            }
            _ => self.missing(op),
        }
    }

    /// Selection does not use it for this target.
    fn missing(&mut self, op: V) -> Value {
        debug_assert!(false, "{op:?} has no counterpart");
        self.is_complete = false;
        self.literal(0)
    }

    /// `a < b ? a : b`, or with `>`; a denormal becomes a zero.
    fn extremum(&mut self, least: bool, a: Value, b: Value) -> Value {
        let (x, y) = (self.floats(a), self.floats(b));
        // Written in this way, each is one instruction of x86-64.
        let first = match least {
            true => self.ins().fcmp(FloatCC::LessThan, x, y),
            false => self.ins().fcmp(FloatCC::LessThan, y, x),
        };
        let first = self.floats(first);
        let made = self.ins().bitselect(first, x, y);
        if MINIMA_FLUSH {
            return made;
        }
        let one = self.literal(ONE);
        let one = self.floats(one);
        self.ins().fmul(made, one)
    }

    /// The NaN that an invalid operation on doubles makes is negative on x86-64.
    fn negative_nan(&mut self, made: Value) -> Value {
        if cfg!(target_arch = "x86_64") {
            return made;
        }
        let nan = self.ins().fcmp(FloatCC::Unordered, made, made);
        let sign = self.wide_literal(1 << 63);
        let sign = self.ins().band(nan, sign);
        let made = self.wides(made);
        self.ins().bor(made, sign)
    }

    /// Elements of two vectors, by their numbers among both.
    fn choose(&mut self, a: Value, b: Value, which: [u8; 4]) -> Value {
        let (a, b) = (self.cast(I8X16, a), self.cast(I8X16, b));
        let bytes: Vec<u8> = which.iter().flat_map(|&element| (0..4).map(move |byte| 4 * element + byte)).collect();
        let mask = self.func.dfg.immediates.push(ConstantData::from(bytes.as_slice()));
        let made = self.ins().shuffle(a, b, mask);
        self.bits(made)
    }

    /// Each lane shifted by its own count. Neither processor shifts so in one instruction of Cranelift's: to the left a lane is multiplied by a power of two, to the right the high bits of such a product are taken.
    fn shift_each(&mut self, op: V, a: Value, count: Value) -> Value {
        if op == asm::SHIFT_LEFT {
            let most = self.literal(32);
            let count = self.ins().umin(count, most);
            let factor = self.power_of_two(count);
            let (made, is_beyond) = (self.ins().imul(a, factor), self.ins().icmp(IntCC::Equal, count, most));
            return self.ins().band_not(made, is_beyond);
        }
        // A negative number is shifted as its complement. Beyond 31 only its sign is left.
        let sign = (op == asm::SHIFT_RIGHT_SIGNED).then(|| self.ins().sshr_imm(a, 31));
        let a = sign.map_or(a, |sign| self.ins().bxor(a, sign));
        let most = self.literal(31);
        let inside = self.ins().umin(count, most);
        let opposite = self.ins().isub(most, inside);
        let factor = self.power_of_two(opposite);
        let products = [
            [self.ins().uwiden_low(a), self.ins().uwiden_low(factor)],
            [self.ins().uwiden_high(a), self.ins().uwiden_high(factor)],
        ];
        let [low, high] = products.map(|[a, b]| {
            let product = self.ins().imul(a, b);
            self.ins().ushr_imm(product, 31)
        });
        let made = self.choose(low, high, [0, 2, 4, 6]);
        match sign {
            Some(sign) => self.ins().bxor(made, sign),
            None => {
                let is_beyond = self.ins().icmp(IntCC::UnsignedGreaterThan, count, most);
                self.ins().band_not(made, is_beyond)
            }
        }
    }

    /// Two to a power from 0 to 31.
    fn power_of_two(&mut self, power: Value) -> Value {
        let (exponent, one) = (self.ins().ishl_imm(power, 23), self.literal(ONE));
        let number = self.ins().iadd(exponent, one);
        // As 2^31 is no signed integer, it becomes the least one, which has the same bits.
        self.truncated(number)
    }

    /// All lanes shifted by one count; the kind is that of `Lir::Shift`.
    pub fn shift(&mut self, kind: u8, a: Value, count: u8) -> Value {
        match kind {
            asm::PSRL => self.ins().ushr_imm(a, i64::from(count)),
            asm::PSRA => self.ins().sshr_imm(a, i64::from(count)),
            _ => self.ins().ishl_imm(a, i64::from(count)),
        }
    }

    /// `op(a, b)` with an immediate.
    pub fn two_imm(&mut self, op: V, a: Value, b: Value, imm: u8) -> Value {
        match op {
            asm::SHUFFLE => self.choose(a, b, [imm & 3, imm >> 2 & 3, 4 + (imm >> 4 & 3), 4 + (imm >> 6)]),
            _ => self.missing(op),
        }
    }

    /// `op(a)` with an immediate.
    pub fn one(&mut self, op: V, a: Value, imm: Option<u8>) -> Value {
        match (op, imm) {
            (asm::CVT_I32_F32, _) => self.ins().fcvt_from_sint(F32X4, a),
            (asm::CVT_U32_F32, _) => self.ins().fcvt_from_uint(F32X4, a),
            (asm::CVT_F32_I32, _) => self.truncated(a),
            (asm::ROUND_SCALE, Some(how)) => {
                let a = self.floats(a);
                self.rounded(a, how)
            }
            (asm::ROUND_F64, Some(how)) => {
                let a = self.doubles(a);
                self.rounded(a, how)
            }
            (asm::SQRT, _) => {
                let a = self.floats(a);
                self.ins().sqrt(a)
            }
            (asm::PERMUTE_IN_QUAD, Some(imm)) => self.choose(a, a, [imm & 3, imm >> 2 & 3, imm >> 4 & 3, imm >> 6]),
            _ => self.missing(op),
        }
    }

    /// To an integer, by the two low bits of the immediate of x86-64.
    fn rounded(&mut self, a: Value, how: u8) -> Value {
        match how & 3 {
            0 => self.ins().nearest(a),
            1 => self.ins().floor(a),
            2 => self.ins().ceil(a),
            _ => self.ins().trunc(a),
        }
    }

    /// As a signed integer.
    fn truncated(&mut self, a: Value) -> Value {
        let a = self.floats(a);
        if cfg!(target_arch = "x86_64") {
            return self.ins().x86_cvtt2dq(I32X4, a);
        }
        let made = self.ins().fcvt_to_sint_sat(I32X4, a);
        let (size, bound) = (self.ins().fabs(a), self.literal(TWO_31));
        let bound = self.floats(bound);
        let fits = self.ins().fcmp(FloatCC::LessThan, size, bound);
        let least = self.literal(SIGN);
        self.ins().bitselect(fits, made, least)
    }

    /// `±(a * b) ± c`, rounded once.
    pub fn fused(&mut self, negated: Negated, [a, b, c]: [Value; 3]) -> Value {
        let [mut a, b, mut c] = [a, b, c].map(|x| self.floats(x));
        if negated.product {
            a = self.ins().fneg(a);
        }
        if negated.summand {
            c = self.ins().fneg(c);
        }
        self.ins().fma(a, b, c)
    }

    /// A comparison, by the predicates of `Lir::Test`.
    pub fn test(&mut self, op: V, how: u8, a: Value, b: Value) -> Value {
        let (a, b) = match op {
            asm::CMP_F32 => (self.floats(a), self.floats(b)),
            asm::CMP_F64 => (self.doubles(a), self.doubles(b)),
            _ => {
                let how = integers(op == asm::CMP_U32, how);
                return self.ins().icmp(how, a, b);
            }
        };
        let Some(how) = floats(how) else { return self.missing(op) };
        debug_assert_eq!(self.func.dfg.value_type(a) == F64X2, op == asm::CMP_F64, "of one type");
        // Only x86-64 has all of them.
        let is_inverse = cfg!(not(target_arch = "x86_64"))
            && matches!(
                how,
                FloatCC::UnorderedOrLessThan
                    | FloatCC::UnorderedOrLessThanOrEqual
                    | FloatCC::UnorderedOrGreaterThan
                    | FloatCC::UnorderedOrGreaterThanOrEqual
            );
        if !is_inverse {
            return self.ins().fcmp(how, a, b);
        }
        let not = self.ins().fcmp(how.complement(), a, b);
        self.ins().bnot(not)
    }
}

/// The predicates of x86-64 for floats; bit 4 only concerns exceptions.
const fn floats(how: u8) -> Option<FloatCC> {
    Some(match how & 15 {
        0 => FloatCC::Equal,
        1 => FloatCC::LessThan,
        2 => FloatCC::LessThanOrEqual,
        3 => FloatCC::Unordered,
        4 => FloatCC::NotEqual,
        5 => FloatCC::UnorderedOrGreaterThanOrEqual,
        6 => FloatCC::UnorderedOrGreaterThan,
        7 => FloatCC::Ordered,
        9 => FloatCC::UnorderedOrLessThan,
        10 => FloatCC::UnorderedOrLessThanOrEqual,
        13 => FloatCC::GreaterThanOrEqual,
        14 => FloatCC::GreaterThan,
        _ => return None,
    })
}

/// The same for integers.
const fn integers(unsigned: bool, how: u8) -> IntCC {
    match (how & 7, unsigned) {
        (0, _) => IntCC::Equal,
        (1, false) => IntCC::SignedLessThan,
        (2, false) => IntCC::SignedLessThanOrEqual,
        (5, false) => IntCC::SignedGreaterThanOrEqual,
        (4, _) => IntCC::NotEqual,
        (1, true) => IntCC::UnsignedLessThan,
        (2, true) => IntCC::UnsignedLessThanOrEqual,
        (5, true) => IntCC::UnsignedGreaterThanOrEqual,
        (_, false) => IntCC::SignedGreaterThan,
        (_, true) => IntCC::UnsignedGreaterThan,
    }
}
