//! Predicates that keep a counter of skipped branches in a register: PRED_SET_INV, POP, CLR, RESTORE and the PUSH forms.

use super::super::facts::{AT_MOST, EQUAL, Side, truth};
use super::operand::{Operand, flush};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::scalar::Sink;
use ctm_exec::float::{INFINITY, ONE};
use ctm_isa::r700::ops::Op2;
use ctm_x86 as asm;

/// Emits the result of one of them before its modifiers; returns whether it may be a NaN. `None`, and nothing is
/// emitted, for other operations.
pub fn emit(s: &mut impl Sink, dst: Vector, op: Op2, [va, vb]: [Operand; 2]) -> Option<bool> {
    let (a, b) = (va.src, vb.src);
    let zero = Src::Literal(0);
    match op {
        Op2::PredSetInv => {
            let counter = flush(s, va);
            s.push(Lir::Copy(dst, counter));
            s.patch(dst, (asm::CMP_F32, EQUAL), [counter, Src::Literal(ONE)], zero);
            s.patch(dst, (asm::CMP_F32, EQUAL), [counter, zero], Src::Literal(ONE));
        }
        Op2::PredSetPop => {
            s.push(Lir::Two { op: asm::SUB, dst, a, b });
            s.patch(dst, (asm::CMP_F32, AT_MOST), [a, b], zero);
        }
        Op2::PredSetClr => {
            s.push(Lir::Copy(dst, Src::Literal(INFINITY - 1)));
            return Some(false);
        }
        Op2::PredSetRestore => {
            let counter = flush(s, va);
            s.push(Lir::Copy(dst, counter));
            s.patch(dst, (asm::CMP_F32, EQUAL), [counter, zero], zero);
        }
        _ => {
            let (counter, Some(condition)) = truth(op)? else { return None };
            s.push(Lir::Two { op: asm::ADD, dst, a, b: Src::Literal(ONE) });
            let side = |side| match side {
                Side::A => a,
                Side::B => b,
                Side::Bits(bits) => Src::Literal(bits),
            };
            for ((compare, how, x, y), under) in [(counter, 0), (condition, 1)] {
                s.push(Lir::Test { op: compare, how, dst: 1, a: side(x), b: side(y), under });
            }
            s.push(Lir::Merge { dst, k: 1, a: zero });
        }
    }
    Some(true)
}
