//! Whole programs as functions of Cranelift.

use super::builder::{Builder, frame_flags};
use super::lines::VectorEmitter;
use super::unrolled::Unrolled;
use super::values::StripPart;
use crate::codegen::x86::lir::Src;
use crate::codegen::x86::masked::Ins;
use crate::codegen::x86::masked::emit::Input;
use crate::codegen::x86::masked::fused::Iterations;
use crate::codegen::x86::masked::layout::{ROW, SPENT, head};
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, BlockArg, Function, InstBuilder, SigRef, Signature, UserFuncName, Value};
use cranelift_codegen::isa::CallConv;
use ctm_ir::masked::{Counter, End, JumpTarget, M, MaskOp};
use ctm_ir::order::postorder;

/// A function under construction.
pub struct FunctionEmitter<'a> {
    pub input: &'a Input<'a>,
    pub build: Builder,
    /// Pointers: the frame, the uniform values.
    pub frame: Value,
    pub uniforms: Value,
    /// The block counters.
    visits: Value,
    blocks: Vec<Block>,
    pub bail_out: Block,
    /// Instructions are used up.
    spent: Block,
    done: Block,
    /// Functions that are called.
    called: SigRef,
    /// Yields by number, with the blocks in which the code goes on after them.
    yields: Vec<(u16, Block)>,
    /// The part of a strip that the present code is for.
    pub part: StripPart,
    /// The values of the program, where its parts are unrolled.
    pub unrolled: Option<Unrolled>,
}

/// The function of a program: from the frame to the value that `Native` expects; `None` where an instruction has no code.
pub fn function(input: &Input<'_>) -> Option<Function> {
    let signature = |params: &[_]| {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend(params.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.push(AbiParam::new(I32));
        signature
    };
    let mut func = Function::with_name_signature(UserFuncName::default(), signature(&[I64]));
    let called = func.import_signature(signature(&[I64, I32, I64]));
    let entry = func.dfg.make_block();
    func.layout.append_block(entry);
    let frame = func.dfg.append_block_param(entry, I64);
    let blocks = input.code.blocks.iter().map(|_| func.dfg.make_block()).collect();
    let [bail_out, spent, done] = [(); 3].map(|()| func.dfg.make_block());
    let mut cursor = FuncCursor::new(&mut func).at_bottom(entry);
    let [uniforms, visits] = [head::UNIFORMS, head::VISITS].map(|at| cursor.ins().load(I64, frame_flags(), frame, at));
    let mut emit = FunctionEmitter {
        input,
        build: Builder::new(func, entry),
        frame,
        uniforms,
        visits,
        blocks,
        bail_out,
        spent,
        done,
        called,
        yields: Vec::new(),
        part: StripPart::default(),
        unrolled: None,
    };
    emit.part.state.vectors = vec![None; input.locations.of.len()];
    emit.program();
    emit.is_complete.then_some(emit.build.func)
}

impl FunctionEmitter<'_> {
    /// Nothing is known of vectors.
    pub fn clear_part(&mut self) {
        self.hoisted.clear();
        self.part = StripPart { state: std::mem::take(&mut self.part.state), ..StripPart::default() };
        self.part.state.clear();
    }

    fn program(&mut self) {
        let input = self.input;
        let start = self.func.dfg.make_block();
        let resume = (!input.code.yields.is_empty()).then(|| self.func.dfg.make_block());
        match resume {
            Some(resume) => {
                let yielded = self.load_wide(head::YIELD);
                self.ins().brif(yielded, resume, &[], start, &[]);
            }
            None => {
                self.ins().jump(start, &[]);
            }
        }
        self.begin(start);
        self.begin_unrolled();
        match self.unrolled {
            Some(_) => self.start_unrolled(),
            None => self.start_values(),
        }
        let (first, args) = self.edge(JumpTarget::Block(0));
        self.ins().jump(first, &args);
        // Most blocks are before one of their successors.
        let mut order =
            postorder(vec![false; input.code.blocks.len()], [0], |block| input.code.blocks[block].end.successors());
        order.reverse();
        for index in order {
            self.block(index);
        }
        if let Some(resume) = resume {
            self.begin(resume);
            let yielded = self.load_wide(head::YIELD);
            for (number, block) in std::mem::take(&mut self.yields) {
                let is_here = self.ins().icmp_imm(IntCC::Equal, yielded, i64::from(number) + 1);
                let next = self.func.dfg.make_block();
                self.ins().brif(is_here, block, &[], next, &[]);
                self.begin(next);
            }
            let bail_out = self.bail_out;
            self.ins().jump(bail_out, &[]);
        }
        for (block, result) in [(self.done, 0), (self.spent, i64::from(SPENT)), (self.bail_out, 1)] {
            self.begin(block);
            self.leave(result);
        }
    }

    fn leave(&mut self, result: i64) {
        let result = self.ins().iconst(I32, result);
        self.ins().return_(&[result]);
    }

    /// Fills the rows of variables that are live at the start.
    fn start_values(&mut self) {
        let input = self.input;
        if input.live_in.is_empty() {
            return;
        }
        self.clear_part();
        self.each_part(0, |e| {
            for var in &input.live_in {
                let Some(row) = input.vars[var.index()].and_then(|vector| e.row_of(vector)) else { continue };
                let value = match input.start.iter().position(|of| of == var) {
                    Some(place) => e.load_row(input.layout.start + ROW * place as i32),
                    None => e.operand(Src::Literal(0)),
                };
                e.store_row(row, value);
            }
            Vec::new()
        });
    }

    fn block(&mut self, index: usize) {
        let input = self.input;
        let block = &input.code.blocks[index];
        let begin = self.blocks[index];
        self.begin(begin);
        self.parameters(index, begin);
        let instructions = i64::from(block.tally.instructions());
        if instructions > 0 && input.fuel {
            let fuel = self.load_wide(head::FUEL);
            let is_spent = self.ins().icmp_imm(IntCC::UnsignedLessThan, fuel, instructions);
            let ([next, look], spent, bail_out) =
                ([(); 2].map(|()| self.func.dfg.make_block()), self.spent, self.bail_out);
            self.ins().brif(is_spent, spent, &[], look, &[]);
            self.begin(look);
            let fuel = self.ins().iadd_imm(fuel, -instructions);
            self.store_wide(head::FUEL, fuel);
            let stop = self.load_wide(head::STOP);
            let stop = self.ins().load(I32, frame_flags(), stop, 0);
            self.ins().brif(stop, bail_out, &[], next, &[]);
            self.begin(next);
        }
        if instructions > 0 && input.counts {
            let (visits, at) = (self.visits, 8 * index as i32);
            let count = self.ins().load(I64, frame_flags(), visits, at);
            let count = self.ins().iadd_imm(count, 1);
            self.ins().store(frame_flags(), count, visits, at);
        }
        self.strips(&input.lists[index], &input.runs[index]);
        match block.end {
            End::Stop => {
                if self.unrolled.is_some() {
                    self.end_unrolled();
                }
                let done = self.done;
                self.ins().jump(done, &[]);
            }
            End::Next(target) => {
                let (to, args) = self.edge(target);
                self.ins().jump(to, &args);
            }
            End::Branch { mask, none, some } => {
                let ((none, none_args), (some, some_args)) = (self.edge(none), self.edge(some));
                let lanes = match input.iterations[index] {
                    None => mask,
                    // Existing lanes stay as long as the wavefront runs.
                    Some(Iterations { left, lanes: M::EXISTING }) => left,
                    Some(Iterations { left, lanes }) => {
                        let left = self.any(left);
                        let next = self.func.dfg.make_block();
                        self.ins().brif(left, next, &[], none, &none_args);
                        self.begin(next);
                        lanes
                    }
                };
                let lanes = self.any(lanes);
                self.ins().brif(lanes, some, &some_args, none, &none_args);
            }
        }
    }

    /// The block that a jump leads to, and its arguments.
    fn edge(&mut self, target: JumpTarget) -> (Block, Vec<BlockArg>) {
        match target {
            JumpTarget::Block(id) => (self.blocks[usize::from(id)], self.arguments(id.into())),
            JumpTarget::Reference => (self.bail_out, Vec::new()),
        }
    }

    /// A value that is not 0 where a mask has any lane, or a number is not 0.
    fn any(&mut self, m: M) -> Value {
        if self.unrolled.is_some() { self.unrolled_any(m) } else { self.load_wide(head::mask(m)) }
    }

    /// A mask as a word.
    fn word(&mut self, m: M) -> Value {
        if self.unrolled.is_some() { self.unrolled_word(m) } else { self.load_wide(head::mask(m)) }
    }

    /// A number of the wavefront.
    pub fn wave_number(&mut self, m: M) -> Value {
        if self.unrolled.is_some() { self.unrolled_number(m) } else { self.load_wide(head::mask(m)) }
    }

    /// Adds to a number.
    pub fn add_number(&mut self, before: Value, number: i32, thirteen_bits: bool) -> Value {
        let sum = self.ins().iadd_imm(before, i64::from(number));
        if !thirteen_bits {
            return sum;
        }
        let high = self.ins().ishl_imm(sum, 51);
        self.ins().sshr_imm(high, 51)
    }

    /// An instruction that concerns the wavefront as a whole.
    pub fn effect(&mut self, ins: &Ins) {
        match *ins {
            Ins::Mark(export, under) => {
                let at = head::WRITTEN + 8 * i32::from(export);
                let (lanes, written) = (self.word(under), self.load_wide(at));
                let written = self.ins().bor(written, lanes);
                self.store_wide(at, written);
            }
            Ins::Mask(op) => self.mask_op(op),
            Ins::Tally { counter, weight, under } => {
                let at = match counter {
                    Counter::Lanes => head::ACTIVE_LANES,
                    Counter::Lookups(input) => head::LOOKUPS + 8 * i32::from(input & 15),
                };
                let (lanes, before) = (self.load_wide(head::mask(under)), self.load_wide(at));
                let count = self.ins().popcnt(lanes);
                let count = self.ins().imul_imm(count, i64::from(weight));
                let count = self.ins().iadd(before, count);
                self.store_wide(at, count);
            }
            Ins::Guard { number, base, count } => {
                let number = self.wave_number(number);
                let number = self.ins().iadd_imm(number, i64::from(base));
                let is_outside = self.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, number, i64::from(count));
                let (next, bail_out) = (self.func.dfg.make_block(), self.bail_out);
                self.ins().brif(is_outside, bail_out, &[], next, &[]);
                self.begin(next);
            }
            Ins::SetRelative { to, base, index, value, under } => self.set_relative(to, base, index, value, under),
            Ins::Call(number, under) => self.call(number, under),
            Ins::Yield(number) => {
                let at = self.number(i64::from(number) + 1);
                self.store_wide(head::YIELD, at);
                self.leave(2);
                let next = self.func.dfg.make_block();
                self.begin(next);
                self.yields.push((number, next));
            }
            // All others are in strips (`Ins::is_whole`).
            _ => {
                debug_assert!(ins.is_whole() || matches!(ins, Ins::Split), "{ins:?} is in no strip");
                self.is_complete &= matches!(ins, Ins::Split);
            }
        }
    }

    fn call(&mut self, number: u16, under: M) {
        let lanes = self.load_wide(head::mask(under));
        let next = self.func.dfg.make_block();
        let bail_out = self.bail_out;
        let ended = self.call_function(number.into(), lanes);
        self.ins().brif(ended, bail_out, &[], next, &[]);
        self.begin(next);
    }

    fn call_function(&mut self, number: u32, lanes: Value) -> Value {
        let (frame, called) = (self.frame, self.called);
        let function = self.load_wide(head::FUNCTION);
        let number = self.ins().iconst(I32, i64::from(number));
        let call = self.ins().call_indirect(called, function, &[frame, number, lanes]);
        self.func.dfg.first_result(call)
    }

    fn mask_op(&mut self, op: MaskOp) {
        if self.unrolled.is_some() {
            return self.unrolled_mask_op(op);
        }
        let mut load = |m: M| self.load_wide(head::mask(m));
        let made = match op {
            MaskOp::Copy(_, a) => load(a),
            MaskOp::And(_, a, b) => {
                let (a, b) = (load(a), load(b));
                self.ins().band(a, b)
            }
            MaskOp::Or(_, a, b) => {
                let (a, b) = (load(a), load(b));
                self.ins().bor(a, b)
            }
            MaskOp::Xor(_, a, b) => {
                let (a, b) = (load(a), load(b));
                self.ins().bxor(a, b)
            }
            MaskOp::AndNot(_, a, b) => {
                let (a, b) = (load(a), load(b));
                self.ins().band_not(a, b)
            }
            MaskOp::Quads(_, a) => {
                let (mut lanes, existing) = (load(a), load(M::EXISTING));
                let first = self.load_wide(head::QUADS);
                for count in [1, 2] {
                    let moved = self.ins().ushr_imm(lanes, count);
                    lanes = self.ins().bor(lanes, moved);
                }
                let lanes = self.ins().band(lanes, first);
                let lanes = self.ins().imul_imm(lanes, 15);
                self.ins().band(lanes, existing)
            }
            MaskOp::Number(_, number) => self.number(number.into()),
            MaskOp::Add(d, number, thirteen_bits) => {
                let before = load(d);
                self.add_number(before, number, thirteen_bits)
            }
            MaskOp::IfNot0(_, a, b) => {
                let (a, b) = (load(a), load(b));
                let zero = self.number(0);
                let is_some = self.ins().icmp(IntCC::NotEqual, b, zero);
                self.ins().select(is_some, a, zero)
            }
            MaskOp::Lanes(..) => return,
        };
        self.store_wide(head::mask(op.writes()), made);
    }
}
