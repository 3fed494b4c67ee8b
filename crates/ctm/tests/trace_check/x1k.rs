//! X1K: ALU and OUTPUT instructions by the functions of CTM §3.3.4 and §3.3.5, lookups by those of §3.4.

use super::fetches::{Bound, x1k_lookup};
use ctm::trace::observe::{Event, LaneEvent, Place};
use ctm_exec::Position;
use ctm_exec::x1k::float::Wide;
use ctm_exec::x1k::ops::{self, ZeroRule};
use ctm_exec::x1k::transcendental;
use ctm_isa::x1k::inst::{Inst, Source, inline_constant};
use ctm_isa::x1k::ops::{AlphaOp, AluResultSel, CompareOp, InstType, Omod, RgbOp, Sel, Swizzle};
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

    fn dot(&self) -> Option<Wide> {
        let (a, b) = (|c| self.rgb_operand(0, c), |c| self.rgb_operand(1, c));
        Some(match self.inst.rgba.op {
            RgbOp::Dp3 => ops::dp3([a(0)?, a(1)?, a(2)?], [b(0)?, b(1)?, b(2)?], self.zero),
            RgbOp::Dp4 => ops::dp4(
                [a(0)?, a(1)?, a(2)?, self.alpha_operand(0)?],
                [b(0)?, b(1)?, b(2)?, self.alpha_operand(1)?],
                self.zero,
            ),
            RgbOp::D2a => ops::d2a([a(0)?, a(1)?], [b(0)?, b(1)?], self.rgb_operand(2, 2)?, self.zero),
            _ => return None,
        })
    }

    fn transcendental(&self) -> Option<Wide> {
        let a = self.alpha_operand(0)?;
        Some(Wide::from_bits(match self.inst.alpha.op {
            AlphaOp::Ex2 => transcendental::ex2(a),
            AlphaOp::Ln2 => transcendental::ln2(a),
            AlphaOp::Rcp => transcendental::rcp(a),
            AlphaOp::Rsq => transcendental::rsq(a),
            AlphaOp::Sin => transcendental::sin(a),
            AlphaOp::Cos => transcendental::cos(a),
            _ => return None,
        }))
    }

    fn finish(value: Result<Wide, u32>, omod: Omod, clamp: bool) -> u32 {
        match value {
            Err(bits) if omod == Omod::Disabled => bits,
            Err(bits) => ops::output_modifier(Wide::from_bits(bits), omod, clamp),
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
    ) -> Option<Wide> {
        let first = self.reads.lane & !3;
        let other = first | if horizontal { 1 } else { 2 };
        let (a, c) = (self.source(source, channel, first)?, self.source(source, channel, other)?);
        Some(ops::quad_mad(modify(0, a), b, modify(2, c), self.zero))
    }

    fn rgb(&self, channel: usize) -> Option<u32> {
        let inst = self.inst;
        let x = |which| self.rgb_operand(which, channel);
        let value = match inst.rgba.op {
            RgbOp::Mad => Ok(ops::mad(x(0)?, x(1)?, x(2)?, self.zero)),
            RgbOp::Dp3 | RgbOp::Dp4 | RgbOp::D2a => Ok(self.dot()?),
            RgbOp::Min => Err(ops::min(x(0)?, x(1)?)),
            RgbOp::Max => Err(ops::max(x(0)?, x(1)?)),
            RgbOp::Cnd => Err(ops::cnd(x(0)?, x(1)?, x(2)?)),
            RgbOp::Cmp => Err(ops::cmp(x(0)?, x(1)?, x(2)?)),
            RgbOp::Frc => Ok(ops::frc(x(0)?)),
            RgbOp::Sop => Ok(self.transcendental()?),
            RgbOp::Mdh | RgbOp::Mdv => {
                let modify = |which: usize, bits| ops::input_modifier(inst.rgb_operands()[which].imod, bits);
                Ok(self.quad(inst.rgb_sources()[0], channel, x(1)?, inst.rgba.op == RgbOp::Mdh, modify)?)
            }
        };
        Some(Self::finish(value, inst.rgb.omod, inst.cmn.rgb_clamp))
    }

    fn alpha(&self) -> Option<u32> {
        let inst = self.inst;
        let x = |which| self.alpha_operand(which);
        let value = match inst.alpha.op {
            AlphaOp::Mad => Ok(ops::mad(x(0)?, x(1)?, x(2)?, self.zero)),
            AlphaOp::Dp => Ok(self.dot()?),
            AlphaOp::Min => Err(ops::min(x(0)?, x(1)?)),
            AlphaOp::Max => Err(ops::max(x(0)?, x(1)?)),
            AlphaOp::Cnd => Err(ops::cnd(x(0)?, x(1)?, x(2)?)),
            AlphaOp::Cmp => Err(ops::cmp(x(0)?, x(1)?, x(2)?)),
            AlphaOp::Frc => Ok(ops::frc(x(0)?)),
            AlphaOp::Mdh | AlphaOp::Mdv => {
                let modify = |which: usize, bits| ops::input_modifier(inst.alpha_operands()[which].imod, bits);
                Ok(self.quad(inst.alpha_sources()[0], 3, x(1)?, inst.alpha.op == AlphaOp::Mdh, modify)?)
            }
            AlphaOp::Ex2 | AlphaOp::Ln2 | AlphaOp::Rcp | AlphaOp::Rsq | AlphaOp::Sin | AlphaOp::Cos => {
                Ok(self.transcendental()?)
            }
        };
        Some(Self::finish(value, inst.alpha.omod, inst.cmn.alpha_clamp))
    }
}
