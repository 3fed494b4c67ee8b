//! R700: operations of one slot, reductions and 64-bit operations by the functions of R700 chapter 9, exports by their swizzle.

use ctm::trace::observe::{Event, LaneEvent, Place};
use ctm_exec::float::number;
use ctm_exec::r700::single::{Effect, SlotResult, factor, op2, op3, output};
use ctm_exec::r700::{ops, ops64};
use ctm_isa::r700::inst::{AluInst, Cf, ClauseBody, Decoded, Group};
use ctm_isa::r700::ops::{AluOp, AluUnit, IndexMode, Omod, Op2, Op3, PredSel, Sel, Slots};

/// The bits of each write of the event's lane.
pub fn results(decoded: &Decoded, event: &Event, lane: &LaneEvent) -> Option<Vec<Option<u32>>> {
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

/// An instruction of a group with its operands: after their modifiers, and as they were read.
struct Slot {
    unit: AluUnit,
    inst: AluInst,
    x: Vec<u32>,
    raw: Vec<u32>,
}

/// The instruction of a unit, if it is that operation.
fn at(slots: &[Slot], unit: AluUnit, op: AluOp) -> Option<&Slot> {
    slots.iter().find(|slot| slot.unit == unit && slot.inst.op() == op)
}

/// A double of two instructions' operands.
fn double(high: &Slot, low: &Slot, which: usize) -> u64 {
    u64::from(high.x[which]) << 32 | u64::from(low.raw[which])
}

fn dwords(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

/// x, y, z and w of a reduction (R700 §4.8.2.1).
fn reduction(slots: &[Slot], op: Op2) -> Option<[SlotResult; 4]> {
    let of = |which: usize| -> Option<[f32; 4]> {
        let mut values = [0.0; 4];
        for (n, unit) in [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].into_iter().enumerate() {
            values[n] = number(at(slots, unit, AluOp::Op2(op))?.x[which]);
        }
        Some(values)
    };
    let (a, b) = (of(0)?, of(1)?);
    Some(match op {
        Op2::Dot4 => [SlotResult::Float(ops::dot4(a, b, ops::mul)); 4],
        Op2::Dot4Ieee => [SlotResult::Float(ops::dot4(a, b, ops::mul_ieee)); 4],
        Op2::Max4 => [SlotResult::Float(ops::max4(a)); 4],
        // CUBE x: Rn.z, Rn.y; y: Rn.z, Rn.x; z: Rn.x, Rn.z; w: Rn.y, Rn.z.
        Op2::Cube => {
            let [t, s, major, face] = ops::cube(b[1], b[0], a[0]);
            [SlotResult::Float(t), SlotResult::Float(s), SlotResult::Float(major), SlotResult::Plain(face.to_bits())]
        }
        _ => return None,
    })
}

/// Low and high dword of a 64-bit operation in a pair of slots, and its effect on lanes (R700 §4.12).
fn pair(slots: &[Slot], op: Op2, first: AluUnit) -> Option<([u32; 2], Effect)> {
    let second = if first == AluUnit::X { AluUnit::Y } else { AluUnit::W };
    let (high, low) = (at(slots, first, AluOp::Op2(op))?, at(slots, second, AluOp::Op2(op))?);
    let (a, b) = (double(high, low, 0), double(high, low, 1));
    let (omod, clamp) = (high.inst.omod(), high.inst.clamp());
    let compared = |holds: bool| Some(([ops64::pred_set_64(holds); 2], Effect::Predicate(holds)));
    let result = match op {
        Op2::Add64 => ops64::add_64(a, b),
        Op2::Fract64 => ops64::fract_64(a),
        Op2::Ldexp64 => ops64::ldexp_64(a, high.raw[1]),
        Op2::Flt32ToFlt64 => ops64::flt32_to_flt64(high.x[0]),
        Op2::Flt64ToFlt32 => {
            let single = ops64::flt64_to_flt32(a);
            let value = match omod == Omod::Off && !clamp {
                true => SlotResult::Plain(single),
                false => SlotResult::Float(f32::from_bits(single)),
            };
            return Some(([output(value, omod, clamp), 0], Effect::None));
        }
        Op2::PredSete64 => return compared(ops64::sete_64(a, b)),
        Op2::PredSetgt64 => return compared(ops64::setgt_64(a, b)),
        Op2::PredSetge64 => return compared(ops64::setge_64(a, b)),
        _ => return None,
    };
    Some((dwords(ops64::modified(result, factor(omod), clamp)), Effect::None))
}

/// x, y, z and w of a 64-bit operation in four slots.
fn quad(slots: &[Slot], op: AluOp) -> Option<[u32; 4]> {
    let [x, y, z, w] = [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].map(|unit| at(slots, unit, op));
    let (x, y, z, w) = (x?, y?, z?, w?);
    let of = |which| double(x, w, which);
    let (result, factor) = match op {
        AluOp::Op2(Op2::Mul64) => (ops64::mul_64(of(0), of(1)), factor(x.inst.omod())),
        AluOp::Op3(op3) if op3.unscaled() == Op3::Muladd64 => {
            (ops64::muladd_64(of(0), of(1), of(2)), factor(op.info().scale))
        }
        AluOp::Op2(Op2::Frexp64) => {
            let (exponent, fraction) = ops64::frexp_64(double(x, y, 0));
            let [low, high] = dwords(fraction);
            return Some([exponent as u32, (exponent >> 31) as u32, low, high]);
        }
        _ => return None,
    };
    let [low, high] = dwords(ops64::modified(result, factor, x.inst.clamp()));
    let [low_z, high_z] = dwords(ops64::modified(result, factor, z.inst.clamp()));
    Some([low, high, low_z, high_z])
}

fn group(group: &Group, lane: &LaneEvent) -> Vec<Option<u32>> {
    let mut reads = lane.reads.iter();
    // Units that do nothing have 0 as their previous result (R700 §4.7.1).
    let mut units: [Option<u32>; 5] = [Some(0); 5];
    let mut effects = [Effect::None; 5];
    let mut slots: Vec<Slot> = Vec::new();
    for slot in group.slots.iter().filter(|slot| slot.inst.op() != AluOp::Op2(Op2::Nop)) {
        let inst = &slot.inst;
        units[slot.unit as usize] = None;
        if inst.word0.pred_sel != PredSel::Off {
            let Some(predicate) = reads.next() else { break };
            if (inst.word0.pred_sel == PredSel::One) != (predicate.bits != 0) {
                continue;
            }
        }
        let (mut x, mut raw) = (Vec::new(), Vec::new());
        for operand in inst.operands() {
            let Some(read) = reads.next() else { break };
            let bits = if operand.abs { read.bits & 0x7fff_ffff } else { read.bits };
            x.push(if operand.neg { bits ^ 0x8000_0000 } else { bits });
            raw.push(read.bits);
            let indexed = !matches!(inst.word0.index_mode, IndexMode::Loop | IndexMode::Global);
            if operand.relative && indexed {
                reads.next();
            }
        }
        x.resize(3, 0);
        raw.resize(3, 0);
        slots.push(Slot { unit: slot.unit, inst: *inst, x, raw });
    }
    for Slot { unit, inst, x, .. } in &slots {
        let (op, n) = (inst.op(), *unit as usize);
        let written = |value: SlotResult| output(value, inst.omod(), inst.clamp());
        match (op.info().slots, op) {
            (Slots::One, AluOp::Op2(op)) => {
                if let Ok(Some(scalar)) = op2(op, x[0], x[1]) {
                    (units[n], effects[n]) = (Some(written(scalar.value)), scalar.effect);
                }
            }
            (Slots::One, AluOp::Op3(op)) => {
                units[n] = op3(op, x[0], x[1], x[2]).map(|scalar| written(scalar.value));
            }
            (Slots::Reduction, AluOp::Op2(op)) => {
                units[n] = reduction(&slots, op).and_then(|values| values.get(n).map(|&value| written(value)));
            }
            (Slots::Pair64, AluOp::Op2(op)) => {
                let first = if matches!(unit, AluUnit::X | AluUnit::Y) { AluUnit::X } else { AluUnit::Z };
                if let Some((result, effect)) = pair(&slots, op, first) {
                    (units[n], effects[n]) = (Some(result[n & 1]), effect);
                }
            }
            (Slots::Quad64, op) => units[n] = quad(&slots, op).map(|result| result[n & 3]),
            _ => {}
        }
    }
    // The last unit that decides is the one that counts.
    let predicate = |of: &dyn Fn(&AluInst) -> bool| {
        let decides = slots.iter().filter(|slot| of(&slot.inst)).max_by_key(|slot| slot.unit as usize)?;
        match effects[decides.unit as usize] {
            Effect::Predicate(holds) => Some(u32::from(holds)),
            _ => None,
        }
    };
    let result = |place: Place, part: u8, old: u32| match place {
        Place::Gpr(..) | Place::Global(..) => units[part.trailing_zeros() as usize % 5],
        Place::Pv(n) => units[usize::from(n)],
        Place::Ps => units[4],
        Place::ClausePredicate => predicate(&AluInst::updates_predicate),
        Place::Execute => predicate(&AluInst::updates_execute_mask),
        Place::Ar(_) => match effects[part.trailing_zeros() as usize % 5] {
            Effect::Address(index) => Some(index.cast_unsigned()),
            _ => None,
        },
        // Only pixel programs kill; killed lanes stay so.
        Place::Killed if old == 1 => Some(1),
        _ => None,
    };
    lane.writes.iter().map(|write| result(write.place, write.part, write.old)).collect()
}
