//! Instructions on vectors and masks, for one part of a strip or one vector of a tile.

use super::builder::Builder;
use crate::codegen::x86::lir::{Class, K, Lir, Src, Vector};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32X4;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use ctm_exec::float::{INFINITY, SIGN};
use std::ops::DerefMut;

/// The present values of vectors and masks.
#[derive(Default)]
pub struct CurrentValues {
    /// Vectors, by their places, that are values at this point.
    pub vectors: Vec<Option<Value>>,
    /// Mask registers 1 to 3.
    pub masks: [Option<Value>; 4],
    /// Vectors and masks that have changed since the beginning of an optional sequence, with their values before it.
    pub changed: Option<Changed>,
}

/// See [`CurrentValues::changed`].
#[derive(Default)]
pub struct Changed {
    vectors: Vec<(usize, Option<Value>)>,
    masks: Vec<(K, Option<Value>)>,
}

impl CurrentValues {
    /// Nothing is known of any vector or mask.
    pub fn clear(&mut self) {
        self.vectors.fill(None);
        (self.masks, self.changed) = ([None; 4], None);
    }

    /// A vector gets a value.
    pub fn put(&mut self, place: usize, value: Value) {
        let before = self.vectors[place].replace(value);
        if let Some(changed) = &mut self.changed
            && !changed.vectors.iter().any(|&(of, _)| of == place)
        {
            changed.vectors.push((place, before));
        }
    }

    fn put_mask(&mut self, k: K, value: Value) {
        let before = self.masks[usize::from(k & 3)].replace(value);
        if let Some(changed) = &mut self.changed
            && !changed.masks.iter().any(|&(of, _)| of == k)
        {
            changed.masks.push((k, before));
        }
    }
}

/// An emitter of instructions on vectors.
pub trait VectorEmitter: DerefMut<Target = Builder> {
    /// The present values.
    fn state(&mut self) -> &mut CurrentValues;

    /// The place of a vector among them.
    fn place(&self, vector: Vector) -> usize;

    /// A vector's value.
    fn vector(&mut self, vector: Vector) -> Value;

    /// Whether a vector that is written for the first time may have had a value before.
    fn has_value(&self, vector: Vector) -> bool;

    /// A vector gets a new value.
    fn set(&mut self, vector: Vector, value: Value);

    /// An operand.
    fn operand(&mut self, src: Src) -> Value;

    /// A vector becomes a dword of the constants, counted from four times a number of the program: of streams.
    fn set_relative_constant(&mut self, dst: Vector, number: u16, dword: u16);

    /// Stores a vector into a row of the frame.
    fn store_row(&mut self, offset: i32, value: Value);

    /// A mask register.
    fn mask(&mut self, k: K) -> Value {
        match self.state().masks[usize::from(k & 3)] {
            Some(value) => value,
            None => self.literal(0),
        }
    }

    /// A mask register gets a new value.
    fn set_mask(&mut self, k: K, value: Value) {
        let value = self.bits(value);
        self.state().put_mask(k, value);
    }

    /// Instructions that stay together; after a [`Lir::StopIfNone`] the others run only if its mask has a lane; `is_rare`: seldom.
    fn group(&mut self, list: &[Lir], is_rare: bool) {
        for (at, lir) in list.iter().enumerate() {
            if let Lir::StopIfNone(k) = *lir {
                return self.only_if_any(k, is_rare, &list[at + 1..]);
            }
            self.line(lir);
        }
    }

    /// One instruction.
    fn line(&mut self, lir: &Lir) {
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
            Lir::MulAdd { negated, dst, operands: [a, b, c] } => {
                let [a, b, c] = [a, b, c].map(|src| {
                    let value = self.operand(src);
                    self.floats(value)
                });
                let product = self.ins().fmul(a, b);
                let made = match (negated.product, negated.summand) {
                    (true, _) => self.ins().fsub(c, product),
                    (false, true) => self.ins().fsub(product, c),
                    (false, false) => self.ins().fadd(product, c),
                };
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
                let made = self.blend(k, yes, no);
                self.set(dst, made);
            }
            Lir::Merge { dst, k, a } => {
                let (k, yes, no) = (self.mask(k), self.operand(a), self.vector(dst));
                let made = self.blend(k, yes, no);
                self.set(dst, made);
            }
            Lir::MergeTwo { op, dst, k, a, b } => {
                let (a, b) = (self.operand(a), self.operand(b));
                let yes = self.two(op, a, b);
                let (k, yes, no) = (self.mask(k), self.bits(yes), self.vector(dst));
                let made = self.blend(k, yes, no);
                self.set(dst, made);
            }
            Lir::Store(row, a) => {
                let a = self.operand(a);
                self.store_row(row, a);
            }
            Lir::ConstRelative { dst, number, dword } => self.set_relative_constant(dst, number, dword),
            // A sequence ends in `group` and in `strips`; the others are of AVX-512.
            Lir::StopIfNone(_) | Lir::Fix { .. } => {
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
    fn only_if_any(&mut self, k: u8, is_rare: bool, list: &[Lir]) {
        let mask = self.mask(k);
        let any = self.ins().vany_true(mask);
        let [body, after] = [(); 2].map(|()| self.func.dfg.make_block());
        // Values that the body changes have to exist before it.
        for lir in list {
            if let Some((vector, _)) = lir.touches().0
                && self.has_value(vector)
            {
                self.vector(vector);
            }
        }
        let before = self.state().changed.replace(Changed::default());
        let from = self.at;
        self.begin(body);
        if is_rare {
            self.func.layout.set_cold(body);
        }
        self.group(list, is_rare);
        let changed = std::mem::replace(&mut self.state().changed, before).unwrap_or_default();
        let (mut skipped, mut made) = (Vec::new(), Vec::new());
        let mut vectors = Vec::new();
        for (place, old) in changed.vectors {
            match (old, self.state().vectors[place]) {
                (Some(old), Some(new)) if old != new => {
                    skipped.push(BlockArg::Value(old));
                    made.push(BlockArg::Value(new));
                    vectors.push((place, self.func.dfg.append_block_param(after, I32X4)));
                }
                _ => self.state().vectors[place] = old,
            }
        }
        let mut masks = Vec::new();
        for (k, old) in changed.masks {
            match (old, self.state().masks[usize::from(k & 3)]) {
                (Some(old), Some(new)) if old != new => {
                    skipped.push(BlockArg::Value(old));
                    made.push(BlockArg::Value(new));
                    masks.push((k, self.func.dfg.append_block_param(after, I32X4)));
                }
                _ => self.state().masks[usize::from(k & 3)] = old,
            }
        }
        self.ins().jump(after, &made);
        let to = self.at;
        self.at = from;
        self.ins().brif(any, body, &[], after, &skipped);
        self.at = to;
        self.begin(after);
        vectors.into_iter().for_each(|(place, value)| self.state().put(place, value));
        masks.into_iter().for_each(|(k, value)| self.set_mask(k, value));
    }
}
