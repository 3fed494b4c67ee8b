//! R700: operations of one slot and dot products by the functions of R700 chapter 9, exports by their swizzle.

use ctm::trace::observe::{Event, LaneEvent, Place};
use ctm_exec::r700::ops;
use ctm_exec::r700::single::{op2, op3, output};
use ctm_exec::x1k::float::number;
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{AluInst, Cf, ClauseBody, Group};
use ctm_isa::r700::ops::{AluOp, IndexMode, Op2, PredSel, Sel, Slots, Unit};

/// The bits of each write of the event's lane.
pub fn results(program: &Program, event: &Event, lane: &LaneEvent) -> Option<Vec<Option<u32>>> {
    let decoded = program.decode();
    let entry = decoded.at(event.at.pc)?;
    match (event.at.item, &entry.clause, &entry.cf) {
        (Some(item), ClauseBody::Alu(clause), _) => Some(group(clause.groups.get(usize::from(item))?, lane)),
        (None, _, Ok(Cf::Export(cf))) => {
            let swizzle = cf.swizzle();
            let result = |place: Place| {
                let Place::Export(_, element) = place else { return None };
                match swizzle[usize::from(element)] {
                    Sel::Zero => Some(0),
                    Sel::One => Some(0x3f80_0000),
                    // One register of a burst only: which one, the target says.
                    sel if cf.word1.burst_count == 0 => {
                        let of = |p: Place| matches!(p, Place::Gpr(_, e) if e == sel as u8);
                        lane.reads.iter().find(|read| of(read.place)).map(|read| read.bits)
                    }
                    _ => None,
                }
            };
            Some(lane.writes.iter().map(|write| result(write.place)).collect())
        }
        _ => None,
    }
}

fn group(group: &Group, lane: &LaneEvent) -> Vec<Option<u32>> {
    let mut reads = lane.reads.iter();
    let mut units: [Option<u32>; 5] = [None; 5];
    let mut vectors: Vec<(Unit, AluInst, Vec<u32>)> = Vec::new();
    for slot in group.slots.iter().filter(|slot| slot.inst.op() != AluOp::Op2(Op2::Nop)) {
        let inst = &slot.inst;
        if inst.word0.pred_sel != PredSel::Off {
            let Some(predicate) = reads.next() else { break };
            if (inst.word0.pred_sel == PredSel::One) != (predicate.bits != 0) {
                continue;
            }
        }
        let mut operands = Vec::new();
        for operand in inst.operands() {
            let Some(read) = reads.next() else { break };
            let bits = if operand.abs { read.bits & 0x7fff_ffff } else { read.bits };
            operands.push(if operand.neg { bits ^ 0x8000_0000 } else { bits });
            let indexed = !matches!(inst.word0.index_mode, IndexMode::Loop | IndexMode::Global);
            if operand.relative && indexed {
                reads.next();
            }
        }
        operands.resize(3, 0);
        vectors.push((slot.unit, *inst, operands));
    }
    for (unit, inst, x) in &vectors {
        let op = inst.op();
        let scalar = match (op.info().slots, op) {
            (Slots::One, AluOp::Op2(op)) => op2(op, x[0], x[1]).ok().flatten(),
            (Slots::One, AluOp::Op3(op)) => op3(op, x[0], x[1], x[2]),
            (Slots::Reduction, AluOp::Op2(dot @ (Op2::Dot4 | Op2::Dot4Ieee))) => {
                let of = |which: usize| -> Option<[f32; 4]> {
                    let mut values = [0.0; 4];
                    for (n, unit) in [Unit::X, Unit::Y, Unit::Z, Unit::W].into_iter().enumerate() {
                        values[n] = number(vectors.iter().find(|v| v.0 == unit && v.1.op() == op)?.2[which]);
                    }
                    Some(values)
                };
                let sum = of(0)
                    .zip(of(1))
                    .map(|(a, b)| ops::dot4(a, b, if dot == Op2::Dot4 { ops::mul } else { ops::mul_ieee }));
                if let Some(sum) = sum {
                    let value = ctm_exec::r700::single::Value::Float(sum);
                    units[*unit as usize] = Some(output(value, inst.omod(), inst.clamp()));
                }
                None
            }
            _ => None,
        };
        if let Some(scalar) = scalar {
            units[*unit as usize] = Some(output(scalar.value, inst.omod(), inst.clamp()));
        }
    }
    let result = |place: Place, part: u8| match place {
        Place::Gpr(..) | Place::Global(..) => units[part.trailing_zeros() as usize % 5],
        Place::Pv(n) => units[usize::from(n)],
        Place::Ps => units[4],
        _ => None,
    };
    lane.writes.iter().map(|write| result(write.place, write.part)).collect()
}
