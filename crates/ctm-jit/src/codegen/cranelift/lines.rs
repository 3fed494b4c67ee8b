//! Instructions on vectors and masks, for one part.

use super::program::FunctionEmitter;
use super::values::Changed;
use crate::codegen::x86::lir::{Class, Lir};
use crate::codegen::x86::masked::Ins;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32X4;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use ctm_exec::float::{INFINITY, SIGN};

impl FunctionEmitter<'_> {
    /// One instruction.
    pub fn line(&mut self, lir: &Lir) {
        match *lir {
            Lir::Copy(dst, a) => {
                let a = self.operand(a);
                self.set(dst, a);
            }
            Lir::Two { op, dst, a, b } => {
                let (a, b) = (self.operand(a), self.operand(b));
                let made = self.two(op, a, b);
                self.set(dst, made);
            }
            Lir::TwoImm { op, dst, a, b, imm } => {
                let (a, b) = (self.operand(a), self.operand(b));
                let made = self.two_imm(op, a, b, imm);
                self.set(dst, made);
            }
            Lir::One { op, dst, a, imm } => {
                let a = self.operand(a);
                let made = self.one(op, a, imm);
                self.set(dst, made);
            }
            Lir::Shift { kind, dst, a, count } => {
                let a = self.operand(a);
                let made = self.shift(kind, a, count);
                self.set(dst, made);
            }
            Lir::Fma { negated, dst, operands } => {
                let operands = operands.map(|src| self.operand(src));
                let made = self.fused(negated, operands);
                self.set(dst, made);
            }
            Lir::Test { op, how, dst, a, b, under } => {
                let (a, b) = (self.operand(a), self.operand(b));
                let made = self.test(op, how, a, b);
                self.set_mask_under(dst, under, made);
            }
            Lir::Class { class, dst, a, under } => {
                let (a, magnitude) = (self.operand(a), self.literal(!SIGN));
                let magnitude = self.ins().band(a, magnitude);
                let made = match class {
                    Class::Infinite => {
                        let infinity = self.literal(INFINITY);
                        self.ins().icmp(IntCC::Equal, magnitude, infinity)
                    }
                    Class::NotFinite => {
                        let largest = self.literal(INFINITY - 1);
                        self.ins().icmp(IntCC::SignedGreaterThan, magnitude, largest)
                    }
                };
                self.set_mask_under(dst, under, made);
            }
            Lir::Or(dst, a, b) => {
                let (a, b) = (self.mask(a), self.mask(b));
                let made = self.ins().bor(a, b);
                self.set_mask(dst, made);
            }
            Lir::AndNot(dst, a, b) => {
                let (a, b) = (self.mask(a), self.mask(b));
                let made = self.ins().band_not(b, a);
                self.set_mask(dst, made);
            }
            Lir::Blend { dst, k, yes, no } => {
                let (k, yes, no) = (self.mask(k), self.operand(yes), self.operand(no));
                let made = self.ins().bitselect(k, yes, no);
                self.set(dst, made);
            }
            Lir::Merge { dst, k, a } => {
                let (k, yes, no) = (self.mask(k), self.operand(a), self.vector(dst));
                let made = self.ins().bitselect(k, yes, no);
                self.set(dst, made);
            }
            Lir::MergeTwo { op, dst, k, a, b } => {
                let (a, b) = (self.operand(a), self.operand(b));
                let yes = self.two(op, a, b);
                let (k, yes, no) = (self.mask(k), self.bits(yes), self.vector(dst));
                let made = self.ins().bitselect(k, yes, no);
                self.set(dst, made);
            }
            Lir::Store(row, a) => {
                let a = self.operand(a);
                self.store_row(row, a);
            }
            // A sequence ends in `strips`; the others are of AVX-512 and of streams.
            Lir::StopIfNone(_) | Lir::Fix { .. } | Lir::MulAdd { .. } | Lir::ConstRelative { .. } => {
                debug_assert!(false, "{lir:?} is none of this target's");
                self.is_complete = false;
            }
        }
    }

    fn set_mask_under(&mut self, k: u8, under: u8, made: Value) {
        let mut made = self.bits(made);
        if under != 0 {
            let under = self.mask(under);
            made = self.ins().band(made, under);
        }
        self.set_mask(k, made);
    }

    /// Instructions that run only where a mask has a lane; `is_rare`: seldom.
    pub fn only_if_any(&mut self, k: u8, is_rare: bool, list: &[Ins]) {
        let mask = self.mask(k);
        let any = self.ins().vany_true(mask);
        let [body, after] = [(); 2].map(|()| self.func.dfg.make_block());
        // Values that the body changes have to exist before it.
        for ins in list {
            if let (Some((vector, _)), _) = ins.touches()
                && self.row_of(vector).is_some()
            {
                self.vector(vector);
            }
        }
        let before = self.part.changed.replace(Changed::default());
        let from = self.at;
        self.begin(body);
        if is_rare {
            self.func.layout.set_cold(body);
        }
        for ins in list {
            match ins {
                Ins::Lir(lir) => self.line(lir),
                Ins::Split => {}
                _ => self.is_complete = false,
            }
        }
        let changed = std::mem::replace(&mut self.part.changed, before).unwrap_or_default();
        let (mut skipped, mut made) = (Vec::new(), Vec::new());
        let mut vectors = Vec::new();
        for (vector, old) in changed.vectors {
            let new = self.part.vectors[vector.index()];
            match (old, new) {
                (Some(old), Some(new)) if old != new => {
                    skipped.push(BlockArg::Value(old));
                    made.push(BlockArg::Value(new));
                    vectors.push((vector, self.func.dfg.append_block_param(after, I32X4)));
                }
                _ => self.part.vectors[vector.index()] = old,
            }
        }
        let mut masks = Vec::new();
        for (k, old) in changed.masks {
            match (old, self.part.masks[usize::from(k & 3)]) {
                (Some(old), Some(new)) if old != new => {
                    skipped.push(BlockArg::Value(old));
                    made.push(BlockArg::Value(new));
                    masks.push((k, self.func.dfg.append_block_param(after, I32X4)));
                }
                _ => self.part.masks[usize::from(k & 3)] = old,
            }
        }
        self.ins().jump(after, &made);
        let to = self.at;
        self.at = from;
        self.ins().brif(any, body, &[], after, &skipped);
        self.at = to;
        self.begin(after);
        vectors.into_iter().for_each(|(vector, value)| self.set(vector, value));
        masks.into_iter().for_each(|(k, value)| self.set_mask(k, value));
    }
}
