//! Integer products and reciprocals, and the indices of the address register.

use super::super::facts::{GREATER, INT_GREATER, INT_LESS};
use super::operand::{Operand, flush};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::scalar::Sink;
use ctm_isa::r700::ops::Op2;
use ctm_x86::{self as asm, SHUFFLE, UNPACK_HIGH, UNPACK_LOW, V};

/// The low dwords of two vectors of 64-bit elements, and the high ones.
pub const LOW_DWORDS: u8 = 0x88;
pub const HIGH_DWORDS: u8 = 0xdd;

/// The lanes of two dwords as elements of 64 bits, in two vectors.
pub fn unpack(s: &mut (impl Sink + ?Sized), low: Src, high: Src) -> [Src; 2] {
    [s.two(UNPACK_LOW, low, high), s.two(UNPACK_HIGH, low, high)]
}

/// The same number of 64 bits in every element.
pub fn number(s: &mut (impl Sink + ?Sized), bits: u64) -> Src {
    s.two(UNPACK_LOW, Src::Literal(bits as u32), Src::Literal((bits >> 32) as u32))
}

/// The high dwords of products.
pub fn high_product(s: &mut impl Sink, dst: Vector, [a, b]: [Src; 2], signed: bool) {
    let multiply: V = if signed { asm::MUL_WIDE_I32 } else { asm::MUL_WIDE_U32 };
    let [a, b] = [a, b].map(|x| match x {
        Src::Vector(_) | Src::Row(_) => unpack(s, x, x),
        Src::Literal(_) | Src::Const(_) | Src::Each(_) => [Src::Vector(s.copied(x)); 2],
    });
    let products = [s.two(multiply, a[0], b[0]), s.two(multiply, a[1], b[1])];
    s.push(Lir::TwoImm { op: SHUFFLE, dst, a: products[0], b: products[1], imm: HIGH_DWORDS });
}

/// `2^32 / a`. A quotient that is no integer is at least 2^-32 of itself away from the next one, so that it does not become one by rounding.
pub fn reciprocal(s: &mut impl Sink, dst: Vector, a: Src, signed: bool) {
    const TWO_52: u64 = 0x4330_0000_0000_0000;
    const TWO_32: u64 = 0x41f0_0000_0000_0000;
    let sign = if signed { Some(s.shift(asm::PSRA, a, 31)) } else { None };
    let size = match sign {
        Some(sign) => {
            let turned = s.two(asm::XOR, a, sign);
            s.two(asm::SUB_I32, turned, sign)
        }
        None => a,
    };
    // 2^52 and the integer below it.
    let lifted = unpack(s, size, Src::Literal((TWO_52 >> 32) as u32));
    let (two_52, two_32) = (number(s, TWO_52), number(s, TWO_32));
    let quotients = lifted.map(|lifted| {
        let divisor = s.two(asm::SUB_F64, lifted, two_52);
        let quotient = s.two(asm::DIV_F64, two_32, divisor);
        let floor = s.one(asm::ROUND_F64, quotient, Some(9));
        s.two(asm::ADD_F64, floor, two_52)
    });
    s.push(Lir::TwoImm { op: SHUFFLE, dst, a: quotients[0], b: quotients[1], imm: LOW_DWORDS });
    s.patch(dst, (asm::CMP_U32, INT_LESS), [size, Src::Literal(2)], Src::Literal(u32::MAX));
    if let Some(sign) = sign {
        let most = s.two(asm::SUB_I32, Src::Literal(i32::MAX.cast_unsigned()), sign);
        s.push(Lir::Two { op: asm::MIN_U32, dst, a: Src::Vector(dst), b: most });
        s.push(Lir::Two { op: asm::XOR, dst, a: Src::Vector(dst), b: sign });
        s.push(Lir::Two { op: asm::SUB_I32, dst, a: Src::Vector(dst), b: sign });
    }
}

/// An index of nine bits; -256 for a number that is no index.
pub fn address(s: &mut impl Sink, dst: Vector, op: Op2, operand: Operand) {
    const LEAST: Src = Src::Literal((-256i32).cast_unsigned());
    if op == Op2::MovaInt {
        let a = operand.src;
        let above = s.two(asm::ADD_I32, a, Src::Literal(256));
        s.push(Lir::Copy(dst, a));
        s.patch(dst, (asm::CMP_U32, INT_GREATER), [above, Src::Literal(511)], LEAST);
        return;
    }
    let x = match op {
        Op2::Mova => s.two(asm::ADD, operand.src, Src::Literal(0.5f32.to_bits())),
        _ => flush(s, operand),
    };
    let floor = s.one(asm::ROUND_SCALE, x, Some(9));
    // The maximum of a NaN is its second operand.
    let bounded = s.two(asm::MAX, floor, Src::Literal((-256f32).to_bits()));
    s.push(Lir::One { op: asm::CVT_F32_I32, dst, a: bounded, imm: None });
    s.patch(dst, (asm::CMP_F32, GREATER), [bounded, Src::Literal(255f32.to_bits())], LEAST);
}
