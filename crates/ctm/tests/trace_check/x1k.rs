//! X1K: ALU and OUTPUT instructions by the functions of CTM §3.3.4 and §3.3.5, lookups by those of §3.4.

use super::fetches::{Bound, x1k_lookup};
use ctm::trace::observe::{Event, LaneEvent, Place};
use ctm_exec::Position;
use ctm_exec::float::WideResult;
use ctm_exec::x1k::functions::{Function, UnitOp};
use ctm_exec::x1k::ops::{self, ZeroRule};
use ctm_isa::x1k::inst::{Inst, Source, inline_constant};
use ctm_isa::x1k::ops::{AluResultSel, CompareOp, InstType, Looks, Omod, Sel, Swizzle};
use ctm_isa::x1k::{Program, inst::AluInst};

struct Lane<'a> {
    inst: &'a AluInst,
    reads: &'a LaneEvent,
    al: i32,
    zero: ZeroRule,
}

/// The bits of each write of the event's lane.
pub fn results(
    program: &Program,
    event: &Event,
    lane: &LaneEvent,
    al: i32,
    _: &[Position],
    bound: &Bound,
) -> Option<Vec<Option<u32>>> {
    let inst = match Inst::decode(program.words.get(event.at.pc as usize)?) {
        Ok(Inst::Alu(inst)) => inst,
        Ok(Inst::Tex(tex)) => return x1k_lookup(bound, &tex, lane),
        _ => return None,
    };
    let zero = if program.zero_times_anything { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
    let at = Lane { inst: &inst, reads: lane, al, zero };
    let result = |channel: usize| if channel == 3 { at.alpha() } else { at.rgb(channel) };
    let compared = |op: u32, channel: usize| {
        let op = CompareOp::from_code(op & 3)?;
        Some(u32::from(ops::compare(op, result(channel)?)))
    };
    let one = |place: Place| match place {
        Place::Temp(_, c) | Place::Output(_, c) => result(c.into()),
        Place::ConditionalValue => result(3),
        Place::Predicate(c) if inst.cmn.kind == InstType::Alu => {
            let target = if c == 3 { inst.alpha.target } else { inst.rgb.target };
            compared(target.into(), c.into())
        }
        Place::AluResult => match inst.cmn.alu_result_sel {
            AluResultSel::Red => compared(inst.cmn.alu_result_op.code(), 0),
            AluResultSel::Alpha => compared(inst.cmn.alu_result_op.code(), 3),
        },
        Place::Uncached(..) => result(0),
        _ => None,
    };
    Some(lane.writes.iter().map(|write| one(write.place)).collect())
}

impl Lane<'_> {
    fn held(&self, place: Place, lane: u16) -> Option<u32> {
        self.reads.reads.iter().find(|read| read.place == place && read.lane == lane).map(|read| read.bits)
    }

    fn source(&self, source: Source, channel: usize, lane: u16) -> Option<u32> {
        let index = |base: u8, relative: bool| u8::try_from(i32::from(base) + if relative { self.al } else { 0 }).ok();
        match source {
            Source::Temp { index: n, relative } => self.held(Place::Temp(index(n, relative)?, channel as u8), lane),
            Source::Const { index: n, relative } => {
                self.held(Place::Constant(index(n, relative)?, channel as u8), lane)
            }
            Source::Inline { code, .. } => Some(inline_constant(code).to_bits()),
        }
    }

    fn component(&self, sel: Sel, swizzle: Swizzle) -> Option<u32> {
        let channel = match swizzle {
            Swizzle::R => 0,
            Swizzle::G => 1,
            Swizzle::B => 2,
            Swizzle::A => 3,
            Swizzle::Half => return Some(0x3f00_0000),
            Swizzle::One => return Some(0x3f80_0000),
            Swizzle::Zero | Swizzle::Unused => return Some(0),
        };
        let (sources, op) = if channel == 3 {
            (self.inst.alpha_sources(), self.inst.alpha_addr.srcp_op)
        } else {
            (self.inst.rgb_sources(), self.inst.rgb_addr.srcp_op)
        };
        let of = |n: usize| self.source(sources[n], channel, self.reads.lane);
        match sel {
            Sel::Src0 => of(0),
            Sel::Src1 => of(1),
            Sel::Src2 => of(2),
            // Two of the presubtract's four forms do not look at src1.
            Sel::Srcp => Some(ops::presubtract(op, of(0)?, of(1).unwrap_or(0))),
        }
    }

    fn rgb_operand(&self, which: usize, channel: usize) -> Option<u32> {
        let operand = self.inst.rgb_operands()[which];
        Some(ops::input_modifier(operand.imod, self.component(operand.sel, operand.swizzle[channel])?))
    }

    fn alpha_operand(&self, which: usize) -> Option<u32> {
        let operand = self.inst.alpha_operands()[which];
        Some(ops::input_modifier(operand.imod, self.component(operand.sel, operand.swizzle)?))
    }

    fn dot(&self) -> Option<WideResult> {
        let op = UnitOp::Rgb(self.inst.rgba.op);
        let Function::Dot(function) = op.function() else { return None };
        let mut operands = [[0; 4]; 3];
        for (which, channel) in op.info().looked_at(7) {
            operands[which][channel] =
                if channel == 3 { self.alpha_operand(which)? } else { self.rgb_operand(which, channel)? };
        }
        Some(function(operands[0], operands[1], operands[2][2], self.zero))
    }

    fn transcendental(&self) -> Option<WideResult> {
        let op = self.inst.alpha.op;
        match UnitOp::Alpha(op).function() {
            Function::Number(function) if op.is_transcendental() => {
                Some(function([self.alpha_operand(0)?, 0, 0], self.zero))
            }
            _ => None,
        }
    }

    /// The result of an operation of one channel: a number, or the bits of an operand.
    fn single(&self, op: UnitOp, x: impl Fn(usize) -> Option<u32>) -> Option<Result<WideResult, u32>> {
        let mut abc = [0; 3];
        for (which, looks) in op.info().looks.into_iter().enumerate() {
            if looks != Looks::Nothing {
                abc[which] = x(which)?;
            }
        }
        match op.function() {
            Function::Number(function) => Some(Ok(function(abc, self.zero))),
            Function::Choice(function) => Some(Err(function(abc))),
            Function::Dot(_) | Function::Copy | Function::Quad { .. } => None,
        }
    }

    fn finish(value: Result<WideResult, u32>, omod: Omod, clamp: bool) -> u32 {
        match value {
            Err(bits) if omod == Omod::Disabled => bits,
            Err(bits) => ops::output_modifier(WideResult::from_bits(bits), omod, clamp),
            Ok(wide) => ops::output_modifier(wide, omod, clamp && omod != Omod::Disabled),
        }
    }

    fn quad(
        &self,
        source: Source,
        channel: usize,
        b: u32,
        horizontal: bool,
        modify: impl Fn(usize, u32) -> u32,
    ) -> Option<WideResult> {
        let first = self.reads.lane & !3;
        let other = first | if horizontal { 1 } else { 2 };
        let (a, c) = (self.source(source, channel, first)?, self.source(source, channel, other)?);
        Some(ops::quad_mad(modify(0, a), b, modify(2, c), self.zero))
    }

    fn rgb(&self, channel: usize) -> Option<u32> {
        let inst = self.inst;
        let op = UnitOp::Rgb(inst.rgba.op);
        let x = |which| self.rgb_operand(which, channel);
        let value = match op.function() {
            Function::Number(_) | Function::Choice(_) => self.single(op, x)?,
            Function::Dot(_) => Ok(self.dot()?),
            Function::Copy => Ok(self.transcendental()?),
            Function::Quad { horizontal } => {
                let modify = |which: usize, bits| ops::input_modifier(inst.rgb_operands()[which].imod, bits);
                Ok(self.quad(inst.rgb_sources()[0], channel, x(1)?, horizontal, modify)?)
            }
        };
        Some(Self::finish(value, inst.rgb.omod, inst.cmn.rgb_clamp))
    }

    fn alpha(&self) -> Option<u32> {
        let inst = self.inst;
        let op = UnitOp::Alpha(inst.alpha.op);
        let x = |which| self.alpha_operand(which);
        let value = match op.function() {
            Function::Number(_) | Function::Choice(_) => self.single(op, x)?,
            Function::Dot(_) | Function::Copy => Ok(self.dot()?),
            Function::Quad { horizontal } => {
                let modify = |which: usize, bits| ops::input_modifier(inst.alpha_operands()[which].imod, bits);
                Ok(self.quad(inst.alpha_sources()[0], 3, x(1)?, horizontal, modify)?)
            }
        };
        Some(Self::finish(value, inst.alpha.omod, inst.cmn.alpha_clamp))
    }
}
