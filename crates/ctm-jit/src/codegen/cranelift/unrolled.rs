//! Programs whose parts are unrolled (`masked/unrolled.rs`): variables, masks and numbers of the wavefront are values, and parameters of the blocks in which they are live.
//!
//! A mask is one vector for each part, with all bits of a lane or none.

use super::builder::frame_flags;
use super::lines::{CurrentValues, VectorEmitter};
use super::program::FunctionEmitter;
use super::values::PART;
use crate::codegen::x86::lir::Vector;
use crate::codegen::x86::masked::Ins;
use crate::codegen::x86::masked::layout::{ROW, head};
use crate::codegen::x86::masked::live_items::{Item, live_items};
use crate::codegen::x86::masked::unrolled::numbers;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value};
use ctm_ir::masked::{M, MaskOp, Var};

/// The most parts.
pub const PARTS: usize = 4;

/// The values of a program at the present point.
pub struct Unrolled {
    /// Vectors of each part; those of the present part are the emitter's.
    vectors: Vec<CurrentValues>,
    /// The part that code is made for.
    part: usize,
    /// Masks.
    lanes: Vec<[Option<Value>; PARTS]>,
    /// Numbers.
    numbers: Vec<Option<Value>>,
    /// Of each mask, whether it is a number.
    are_numbers: Vec<bool>,
    /// The parameters of each block.
    live: Vec<Vec<Item>>,
}

impl FunctionEmitter<'_> {
    /// Decides whether the program's parts are unrolled, and makes the values at its start.
    pub fn begin_unrolled(&mut self) {
        let input = self.input;
        if !input.unrolls || usize::from(input.pieces) > PARTS {
            return;
        }
        let Some(are_numbers) = numbers(input.code, input.lists, input.iterations) else { return };
        let variables = input.vars.iter().flatten().count();
        let exported: Vec<Vector> = input.exports.iter().filter_map(|&export| self.exported(export)).collect();
        let live = live_items(input.code, input.lists, input.iterations, variables, &exported);
        let vectors = || CurrentValues { vectors: vec![None; input.locations.of.len()], ..CurrentValues::default() };
        self.unrolled = Some(Unrolled {
            vectors: (0..input.pieces).map(|_| vectors()).collect(),
            part: 0,
            lanes: vec![[None; PARTS]; M::COUNT],
            numbers: vec![None; M::COUNT],
            are_numbers,
            live,
        });
    }

    /// The values at the program's start.
    pub fn start_unrolled(&mut self) {
        let (input, items) = (self.input, self.live_items(0));
        for item in items {
            match item {
                Item::Variable(vector) => {
                    let place = input.start.iter().position(|var| input.vars[var.index()] == Some(vector));
                    self.each_unrolled(|e| {
                        let value = match place {
                            Some(place) => e.load_row(input.layout.start + ROW * place as i32),
                            None => e.literal(0),
                        };
                        e.part.state.put(vector.index(), value);
                    });
                }
                Item::Mask(m) => {
                    let word = self.load_wide(head::mask(m));
                    if self.is_number(m) {
                        self.set_number(m, word);
                    } else {
                        self.each_unrolled(|e| {
                            let value = e.expanded(word);
                            e.set_lanes(m, value);
                        });
                    }
                }
            }
        }
    }

    /// The vector of an exported element.
    fn exported(&self, export: usize) -> Option<Vector> {
        self.input.vars[Var::export(export / 4, export % 4).index()]
    }

    fn live_items(&self, block: usize) -> Vec<Item> {
        self.unrolled.as_ref().and_then(|of| of.live.get(block)).cloned().unwrap_or_default()
    }

    fn is_number(&self, m: M) -> bool {
        self.unrolled.as_ref().is_some_and(|of| of.are_numbers[m.index()])
    }

    /// Makes code for each part in turn.
    pub fn each_unrolled(&mut self, mut body: impl FnMut(&mut Self)) {
        for part in 0..usize::from(self.input.pieces) {
            self.change_part(part);
            body(self);
        }
        self.change_part(0);
    }

    /// Goes on with another part.
    fn change_part(&mut self, part: usize) {
        if let Some(of) = &mut self.unrolled {
            let before = std::mem::replace(&mut of.part, part);
            std::mem::swap(&mut of.vectors[before], &mut self.part.state);
            std::mem::swap(&mut of.vectors[part], &mut self.part.state);
            self.part.offset = PART * part as i32;
        }
    }

    /// The lanes of a mask in the present part.
    pub fn unrolled_lanes(&mut self, m: M) -> Value {
        match m {
            // It never changes.
            M::EXISTING => {
                let word = self.load_wide(head::mask(m));
                self.expanded(word)
            }
            _ => match self.unrolled.as_ref().and_then(|of| of.lanes[m.index()][of.part]) {
                Some(value) => value,
                // It is empty, or dead.
                None => self.literal(0),
            },
        }
    }

    /// The lanes of a mask in the present part change.
    pub fn set_lanes(&mut self, m: M, value: Value) {
        if let Some(of) = &mut self.unrolled {
            of.lanes[m.index()][of.part] = Some(value);
        }
    }

    /// A number of the wavefront.
    pub fn unrolled_number(&mut self, m: M) -> Value {
        match self.unrolled.as_ref().and_then(|of| of.numbers[m.index()]) {
            Some(value) => value,
            None => self.number(0),
        }
    }

    fn set_number(&mut self, m: M, value: Value) {
        if let Some(of) = &mut self.unrolled {
            of.numbers[m.index()] = Some(value);
        }
    }

    /// The lanes of all parts as a word.
    pub fn unrolled_word(&mut self, m: M) -> Value {
        if m == M::EXISTING {
            return self.load_wide(head::mask(m));
        }
        let mut word = None;
        self.each_unrolled(|e| {
            let (lanes, first) = (e.unrolled_lanes(m), i64::from(e.part.offset / 4));
            let bits = e.ins().vhigh_bits(I32, lanes);
            let bits = e.ins().uextend(I64, bits);
            let bits = if first == 0 { bits } else { e.ins().ishl_imm(bits, first) };
            word = Some(word.map_or(bits, |word| e.ins().bor(word, bits)));
        });
        word.unwrap_or_else(|| self.number(0))
    }

    /// Whether a mask has any lane, or a number is not 0.
    pub fn unrolled_any(&mut self, m: M) -> Value {
        if self.is_number(m) {
            return self.unrolled_number(m);
        }
        let mut all = None;
        self.each_unrolled(|e| {
            let lanes = e.unrolled_lanes(m);
            all = Some(all.map_or(lanes, |all| e.ins().bor(all, lanes)));
        });
        let all = all.unwrap_or_else(|| self.literal(0));
        self.ins().vany_true(all)
    }

    /// The arguments of a jump to a block.
    pub fn arguments(&mut self, block: usize) -> Vec<BlockArg> {
        let mut arguments = Vec::new();
        for item in self.live_items(block) {
            match item {
                Item::Mask(m) if self.is_number(m) => {
                    let number = self.unrolled_number(m);
                    arguments.push(BlockArg::Value(number));
                }
                Item::Mask(m) => self.each_unrolled(|e| {
                    let lanes = e.unrolled_lanes(m);
                    arguments.push(BlockArg::Value(lanes));
                }),
                Item::Variable(vector) => self.each_unrolled(|e| {
                    let value = e.vector(vector);
                    arguments.push(BlockArg::Value(value));
                }),
            }
        }
        arguments
    }

    /// The values at the beginning of a block.
    pub fn parameters(&mut self, index: usize, block: Block) {
        if let Some(of) = &mut self.unrolled {
            of.vectors.iter_mut().for_each(CurrentValues::clear);
            of.lanes.fill([None; PARTS]);
            of.numbers.fill(None);
        }
        self.part.state.clear();
        for item in self.live_items(index) {
            match item {
                Item::Mask(m) if self.is_number(m) => {
                    let number = self.func.dfg.append_block_param(block, I64);
                    self.set_number(m, number);
                }
                Item::Mask(m) => self.each_unrolled(|e| {
                    let lanes = e.func.dfg.append_block_param(block, I32X4);
                    e.set_lanes(m, lanes);
                }),
                Item::Variable(vector) => self.each_unrolled(|e| {
                    let value = e.func.dfg.append_block_param(block, I32X4);
                    e.part.state.put(vector.index(), value);
                }),
            }
        }
    }

    /// A strip: its code for one part after the other.
    pub fn unrolled_strip(&mut self, strip: &[Ins]) {
        self.hoisted.clear();
        self.hoist_operands(strip);
        self.each_unrolled(|e| e.part(strip));
        self.hoisted.clear();
    }

    /// An operation on masks or numbers.
    pub fn unrolled_mask_op(&mut self, op: MaskOp) {
        match op {
            MaskOp::Copy(d, a) if self.is_number(d) => {
                let number = self.unrolled_number(a);
                self.set_number(d, number);
            }
            MaskOp::Number(d, number) => {
                let number = self.number(number.into());
                self.set_number(d, number);
            }
            MaskOp::Add(d, number, thirteen_bits) => {
                let before = self.unrolled_number(d);
                let sum = self.add_number(before, number, thirteen_bits);
                self.set_number(d, sum);
            }
            MaskOp::IfNot0(d, a, b) => {
                let number = self.unrolled_number(b);
                let is_some = self.ins().icmp_imm(IntCC::NotEqual, number, 0);
                let all = self.ins().bmask(I32, is_some);
                let all = self.ins().splat(I32X4, all);
                self.each_unrolled(|e| {
                    let lanes = e.unrolled_lanes(a);
                    let lanes = e.ins().band(lanes, all);
                    e.set_lanes(d, lanes);
                });
            }
            MaskOp::Quads(d, a) => self.each_unrolled(|e| {
                let (lanes, existing) = (e.unrolled_lanes(a), e.unrolled_lanes(M::EXISTING));
                let any = e.ins().vany_true(lanes);
                let all = e.ins().bmask(I32, any);
                let all = e.ins().splat(I32X4, all);
                let lanes = e.ins().band(all, existing);
                e.set_lanes(d, lanes);
            }),
            MaskOp::Copy(d, a) => self.each_unrolled(|e| {
                let lanes = e.unrolled_lanes(a);
                e.set_lanes(d, lanes);
            }),
            MaskOp::And(d, a, b) | MaskOp::Or(d, a, b) | MaskOp::Xor(d, a, b) | MaskOp::AndNot(d, a, b) => {
                self.each_unrolled(|e| {
                    let (a, b) = (e.unrolled_lanes(a), e.unrolled_lanes(b));
                    let made = match op {
                        MaskOp::And(..) => e.ins().band(a, b),
                        MaskOp::Or(..) => e.ins().bor(a, b),
                        MaskOp::Xor(..) => e.ins().bxor(a, b),
                        _ => e.ins().band_not(a, b),
                    };
                    e.set_lanes(d, made);
                });
            }
            MaskOp::Lanes(..) => {}
        }
    }

    /// Stores the results of the wavefront in the frame.
    pub fn end_unrolled(&mut self) {
        let input = self.input;
        for (&export, &row) in input.exports.iter().zip(input.rows) {
            let Some(vector) = self.exported(export) else { continue };
            self.each_unrolled(|e| {
                let value = e.vector(vector);
                e.store_row(row, value);
            });
        }
        let valid = self.unrolled_word(M::VALID);
        self.store_wide(head::mask(M::VALID), valid);
    }

    /// The part's lanes of a mask that is a word of the frame.
    pub fn expanded(&mut self, word: Value) -> Value {
        let bits = match (self.part.place, self.part.offset) {
            (Some((_, first)), _) => self.ins().ushr(word, first),
            (None, 0) => word,
            (None, offset) => self.ins().ushr_imm(word, i64::from(offset / 4)),
        };
        let bits = self.ins().band_imm(bits, 15);
        let offset = self.ins().ishl_imm(bits, 4);
        let table = self.number(super::values::expanded_lanes());
        let at = self.ins().iadd(table, offset);
        self.ins().load(I32X4, frame_flags().with_readonly(), at, 0)
    }
}
