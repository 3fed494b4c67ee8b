//! Strips: loops over the parts of a wavefront.

use super::lines::VectorEmitter;
use super::program::FunctionEmitter;
use super::values::PART;
use crate::codegen::x86::kept::sources;
use crate::codegen::x86::lir::{Lir, Src};
use crate::codegen::x86::masked::Ins;
use crate::codegen::x86::masked::layout::head;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value};
use ctm_ir::masked::M;
use std::ops::Range;

/// Literals and constants that are loaded before a loop: more would only be spilled.
const HOISTED: usize = if cfg!(target_arch = "aarch64") { 16 } else { 5 };
/// The same of strips whose parts are unrolled: a load of a spilled one takes as long as another literal.
const HOISTED_UNROLLED: usize = 16;

impl FunctionEmitter<'_> {
    /// The instructions of a block, which has these strips.
    pub fn strips(&mut self, list: &[Ins], strips: &[Range<usize>]) {
        let mut at = 0;
        for strip in strips {
            list[at..strip.start].iter().for_each(|ins| self.effect(ins));
            at = strip.end;
            self.strip(&list[strip.clone()]);
        }
        list[at..].iter().for_each(|ins| self.effect(ins));
    }

    /// A loop over all parts; `made`: masks that the parts make together. Gives these masks.
    pub fn each_part(&mut self, made: usize, body: impl FnOnce(&mut Self) -> Vec<Value>) -> Vec<Value> {
        let parts = i64::from(self.input.pieces);
        let [top, after] = [(); 2].map(|()| self.func.dfg.make_block());
        let zero = self.number(0);
        self.ins().jump(top, &vec![BlockArg::Value(zero); 1 + made]);
        self.begin(top);
        let offset = self.func.dfg.append_block_param(top, I64);
        let so_far: Vec<Value> = (0..made).map(|_| self.func.dfg.append_block_param(top, I64)).collect();
        let frame = self.frame;
        let moved = self.ins().iadd(frame, offset);
        let first = self.ins().ushr_imm(offset, 2);
        self.part.place = Some((moved, first));
        let bits = body(self);
        let mut next = Vec::new();
        for (so_far, bits) in so_far.into_iter().zip(bits) {
            let bits = self.ins().uextend(I64, bits);
            let bits = self.ins().ishl(bits, first);
            next.push(self.ins().bor(so_far, bits));
        }
        self.part.place = None;
        let results = next.iter().map(|_| self.func.dfg.append_block_param(after, I64)).collect();
        let offset = self.ins().iadd_imm(offset, i64::from(PART));
        let ends = self.ins().icmp_imm(IntCC::Equal, offset, i64::from(PART) * parts);
        let args: Vec<BlockArg> = next.iter().map(|&value| BlockArg::Value(value)).collect();
        let again: Vec<BlockArg> = [BlockArg::Value(offset)].into_iter().chain(args.iter().copied()).collect();
        self.ins().brif(ends, after, &args, top, &again);
        self.begin(after);
        results
    }

    fn strip(&mut self, strip: &[Ins]) {
        if self.unrolled.is_some() {
            return self.unrolled_strip(strip);
        }
        self.clear_part();
        self.hoist_operands(strip);
        let mut made: Vec<M> = Vec::new();
        for ins in strip {
            let read = ins.works_under().or((*ins == Ins::EndKeep).then_some(M::ACTIVE));
            if let Some(m) = read.filter(|&m| m != M::EXISTING || matches!(ins, Ins::EndLeave(_) | Ins::Keep { .. }))
                && !self.part.words.iter().any(|&(of, _)| of == m)
            {
                let word = self.load_wide(head::mask(m));
                self.part.words.push((m, word));
            }
            let makes = match *ins {
                Ins::EndLanes(m) => Some(m),
                Ins::EndKeep => Some(M::ACTIVE),
                _ => None,
            };
            made.extend(makes.filter(|m| !made.contains(m)));
        }
        let masks = self.each_part(made.len(), |e| {
            e.part(strip);
            let lanes = std::mem::take(&mut e.part.made);
            let of = |m: &M| lanes.iter().rev().find(|(of, _)| of == m).map(|&(_, lanes)| lanes);
            let bits = |m: &M| match of(m) {
                Some(lanes) => e.ins().vhigh_bits(I32, lanes),
                None => e.ins().iconst(I32, 0),
            };
            made.iter().map(bits).collect()
        });
        for (m, word) in made.into_iter().zip(masks) {
            self.store_wide(head::mask(m), word);
        }
    }

    /// Loads the literals and constants that a strip uses most before its loop.
    pub fn hoist_operands(&mut self, strip: &[Ins]) {
        let mut uses: Vec<(Src, usize)> = Vec::new();
        let mut is_rare = false;
        for ins in strip {
            is_rare = matches!(ins, Ins::BeginRare(_)) || is_rare && !matches!(ins, Ins::EndRare);
            let read = match ins {
                Ins::BeginRare(lir) => sources(lir),
                _ if is_rare => continue,
                Ins::Lir(lir) => sources(lir),
                Ins::Set { src, .. } | Ins::Keep { src, .. } => [*src; 3],
                Ins::SetTwo { a, b, .. } => [*a, *b, *b],
                _ => continue,
            };
            for (n, src) in read.into_iter().enumerate() {
                if !matches!(src, Src::Literal(1..) | Src::Const(_)) || read[..n].contains(&src) {
                    continue;
                }
                match uses.iter_mut().find(|(of, _)| *of == src) {
                    Some((_, count)) => *count += 1,
                    // Constants take two instructions.
                    None => uses.push((src, if let Src::Const(_) = src { 2 } else { 1 })),
                }
            }
        }
        uses.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let most = if self.unrolled.is_some() { HOISTED_UNROLLED } else { HOISTED };
        for (src, _) in uses.into_iter().take(most) {
            let value = self.hoist(src);
            self.hoisted.push((src, value));
        }
    }

    /// The instructions of an optional sequence.
    fn instructions(&mut self, list: &[Ins]) -> Vec<Lir> {
        let (mut found, mut others) = (Vec::with_capacity(list.len()), false);
        for ins in list {
            match *ins {
                Ins::Lir(lir) => found.push(lir),
                _ => others |= !matches!(ins, Ins::Split),
            }
        }
        debug_assert!(!others, "an optional sequence has instructions on vectors only");
        self.is_complete &= !others;
        found
    }

    /// The part's lanes of a mask are made.
    fn make_lanes(&mut self, m: M, lanes: Value) {
        if self.unrolled.is_some() { self.set_lanes(m, lanes) } else { self.part.made.push((m, lanes)) }
    }

    /// One part of a strip.
    pub fn part(&mut self, strip: &[Ins]) {
        let mut at = 0;
        while let Some(ins) = strip.get(at) {
            at += 1;
            match *ins {
                Ins::Lir(Lir::StopIfNone(k)) => {
                    let count = strip[at..].iter().take_while(|ins| !matches!(ins, Ins::Split)).count();
                    let body = self.instructions(&strip[at..at + count]);
                    self.only_if_any(k, false, &body);
                    at += count;
                }
                Ins::Lir(ref lir) => self.line(lir),
                Ins::BeginRare(ref check) => {
                    self.line(check);
                    let count = strip[at..].iter().take_while(|ins| !matches!(ins, Ins::EndRare)).count();
                    let body = self.instructions(&strip[at..at + count]);
                    self.only_if_any(1, true, &body);
                    at += count + 1;
                }
                Ins::Set { dst, src, under: M::EXISTING } => {
                    let value = self.operand(src);
                    self.set(dst, value);
                }
                Ins::Set { dst, src, under } => {
                    let (lanes, yes, no) = (self.lanes(under), self.operand(src), self.vector(dst));
                    let value = self.blend(lanes, yes, no);
                    self.set(dst, value);
                }
                Ins::SetTwo { op, dst, a, b, under } => {
                    let (a, b) = (self.operand(a), self.operand(b));
                    let yes = self.two(op, a, b);
                    let (lanes, yes, no) = (self.lanes(under), self.bits(yes), self.vector(dst));
                    let value = self.blend(lanes, yes, no);
                    self.set(dst, value);
                }
                Ins::Number(dst, m) => {
                    let number = self.wave_number(m);
                    let number = self.ins().ireduce(I32, number);
                    let value = self.ins().splat(I32X4, number);
                    self.set(dst, value);
                }
                Ins::Keep { row, src, under } => {
                    let (lanes, yes, no) = (self.lanes(under), self.operand(src), self.load_row(row));
                    let value = self.blend(lanes, yes, no);
                    self.store_row(row, value);
                }
                Ins::GetRelative { dst, from, base, index } => self.get_relative(dst, from, base, index),
                Ins::EndLanes(m) => {
                    let mask = self.mask(1);
                    self.make_lanes(m, mask);
                }
                Ins::EndKeep => {
                    let (mask, active) = (self.mask(1), self.lanes(M::ACTIVE));
                    let active = self.ins().band(active, mask);
                    self.part.lanes.retain(|&(m, _)| m != M::ACTIVE);
                    self.part.lanes.push((M::ACTIVE, active));
                    self.make_lanes(M::ACTIVE, active);
                }
                Ins::EndLeave(under) => {
                    let (mask, lanes) = (self.mask(1), self.lanes(under));
                    let both = self.ins().band(mask, lanes);
                    let any = self.ins().vany_true(both);
                    let (next, bail_out) = (self.func.dfg.make_block(), self.bail_out);
                    self.ins().brif(any, bail_out, &[], next, &[]);
                    self.begin(next);
                }
                Ins::Elements { lookup, dst, channels, index } => self.elements(lookup, (dst, channels), index),
                Ins::Split | Ins::BeginLanes | Ins::EndRare | Ins::Also(_) => {}
                _ => {
                    debug_assert!(false, "{ins:?} concerns the whole wavefront");
                    self.is_complete = false;
                }
            }
        }
        self.store_newer();
    }
}
