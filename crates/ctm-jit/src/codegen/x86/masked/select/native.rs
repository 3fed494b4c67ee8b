//! Pure operations as instructions.

use super::conditions::compound;
use super::with::With;
use super::{Plan, Select, negates, without_sign};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::masked::alu::{self, Alu, Operand};
use crate::codegen::x86::masked::facts::Known;
use crate::codegen::x86::masked::ins::{Indexed, Ins};
use crate::codegen::x86::scalar::Sink;
use ctm_exec::float::SIGN;
use ctm_ir::masked::{Op, RegisterFile, Value, Var};
use ctm_isa::r700::ops::{AluOp, Op2};
use ctm_x86 as asm;

impl Select<'_> {
    /// Makes a vector; false when the operation has no instructions.
    pub(super) fn native(&mut self, plan: &Plan<'_>, place: usize, dst: Vector) -> bool {
        match plan.block.ops[place] {
            Op::Number(m) => self.put(Ins::Number(dst, m)),
            Op::Abs(a) => {
                let a = self.src(plan, a);
                self.push(Lir::Two { op: asm::AND, dst, a, b: Src::Literal(!SIGN) });
            }
            Op::Neg(a) => {
                let a = self.src(plan, a);
                self.push(Lir::Two { op: asm::XOR, dst, a, b: Src::Literal(SIGN) });
            }
            Op::Select([c, a, b]) => {
                if let Some(condition) = compound(plan.block, Value(place as u32)) {
                    self.condition(plan, condition, true);
                    self.push(Lir::Blend { dst, k: 1, yes: Src::Literal(u32::MAX), no: Src::Literal(0) });
                    return true;
                }
                self.choose(plan, dst, [c, a, b]);
                if plan.known[place].mends_nan() {
                    self.one_nan(dst);
                }
            }
            Op::Holds { op, operands: ab, wanted } => {
                if !self.holds(plan, (op, ab), wanted) {
                    return false;
                }
                self.push(Lir::Blend { dst, k: 1, yes: Src::Literal(u32::MAX), no: Src::Literal(0) });
            }
            Op::GetRelative { file, base, element, index } => {
                let file = match file {
                    RegisterFile::Gprs(count) => match self.vars[Var::gpr(0, usize::from(element)).index()] {
                        Some(first) => Indexed::Gprs { first, count },
                        None => return false,
                    },
                    RegisterFile::Constants(first, count) => {
                        Indexed::Constants { first: 4 * u32::from(first) + u32::from(element), count }
                    }
                    RegisterFile::Share => Indexed::Share,
                };
                let index = self.src(plan, index);
                self.put(Ins::GetRelative { dst, from: file, base, index });
            }
            Op::Cube { element, operands: values, omod, clamp } => {
                let operands = values.map(|value| Operand {
                    src: self.src(plan, value),
                    flushed: plan.known[value.index()].flushed,
                    number: false,
                    value: value.0,
                    negated: false,
                });
                let alu = Alu { op: AluOp::Op2(Op2::Cube), omod, clamp, seen: plan.known[place].shows_nan() };
                alu::cube(self, dst, element, operands, alu);
            }
            Op::Unit(..) => return self.unit(plan, place, dst),
            Op::Dot(dot, all) => self.dot(plan, (place, dst), dot, &all),
            Op::QuadLane(a, lane) => {
                let a = self.src(plan, a);
                self.push(Lir::One { op: asm::PERMUTE_IN_QUAD, dst, a, imm: Some(0x55 * lane) });
            }
            ref own @ Op::Alu { op, operands: values, omod, clamp } => {
                let operands = values.map(|value| {
                    let (negated, of) = without_sign(plan.block, negates(own), value);
                    let Known { flushed, number, .. } = plan.known[of.index()];
                    Operand { src: self.src(plan, of), flushed, number, value: of.0, negated }
                });
                let alu = Alu { op, omod, clamp, seen: plan.known[place].shows_nan() };
                return alu.emit(&mut With { select: self, plan }, dst, operands);
            }
            _ => return false,
        }
        true
    }
}
