//! Reads and writes of the groups of an ALU clause for one lane.

use super::super::alu::{
    ClauseContext, Lane, Register, chan, global_register, is_register, relative_read, relative_write,
};
use super::{narrow, read, write};
use crate::observe::{LaneEvent, Place};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::{AluInst, Group, Operand};
use ctm_isa::r700::ops::AluUnit as Slot;
use ctm_isa::r700::ops::{AluOp, IndexMode, Op2, PredSel, Slots, Source, SpecialSel};

impl ClauseContext<'_> {
    /// The operands of the next group, and its possible destinations with their old values; `None` without a watcher.
    pub(in crate::r700) fn before(&self, lane: &Lane<'_>, group: &Group) -> Option<LaneEvent> {
        lane.record.as_ref()?;
        let mut event = LaneEvent::default();
        // A unit without an instruction, or with NOP, makes its previous result 0 (R700 §4.7.1).
        for unit in [Slot::X, Slot::Y, Slot::Z, Slot::W, Slot::T] {
            let idle = group.unit(unit).is_none_or(|inst| inst.op() == AluOp::Op2(Op2::Nop));
            if idle {
                write(&mut event, previous(unit), value(lane, previous(unit)), 1 << unit as u8);
            }
        }
        for slot in group.slots.iter().filter(|slot| slot.inst.op() != AluOp::Op2(Op2::Nop)) {
            let inst = &slot.inst;
            let part = match inst.op().info().slots {
                Slots::One => 1 << slot.unit as u8,
                // All slots of the operation make its results together.
                Slots::Reduction | Slots::Pair64 | Slots::Quad64 => {
                    let same = group.slots.iter().filter(|other| other.inst.op() == inst.op());
                    same.fold(0, |all, other| all | 1 << other.unit as u8)
                }
            };
            if inst.word0.pred_sel != PredSel::Off {
                read(&mut event, Place::ClausePredicate, u32::from(lane.predicate), part);
                if (inst.word0.pred_sel == PredSel::One) != lane.predicate {
                    continue;
                }
            }
            for operand in inst.operands() {
                if let Some((place, bits)) = self.operand_place(lane, group, inst, &operand) {
                    read(&mut event, place, bits, part);
                }
                if let (true, Some(element)) = (operand.relative, index_element(inst, &operand)) {
                    read(&mut event, Place::Ar(element), lane.ar[usize::from(element)].cast_unsigned(), part);
                }
            }
            let one = 1 << slot.unit as u8;
            if let Some(place) = self.destination_place(lane, inst) {
                write(&mut event, place, value(lane, place), one);
            }
            write(&mut event, previous(slot.unit), value(lane, previous(slot.unit)), one);
            if inst.updates_predicate() {
                write(&mut event, Place::ClausePredicate, u32::from(lane.predicate), one);
            }
            if inst.updates_execute_mask() {
                write(&mut event, Place::Execute, lane.execute.map_or(1, u32::from), one);
            }
            let ar = Place::Ar(slot.unit as u8 & 3);
            if inst.op().name().starts_with("MOVA") {
                write(&mut event, ar, value(lane, ar), one);
            }
            if inst.op().name().starts_with("KILL") {
                write(&mut event, Place::Killed, u32::from(lane.killed), one);
            }
        }
        Some(event)
    }

    /// Completes the record of [`Self::before`].
    pub(in crate::r700) fn after(&self, lane: &mut Lane<'_>, before: Option<LaneEvent>) {
        let Some(mut event) = before else { return };
        for write in &mut event.writes {
            write.bits = value(lane, write.place);
        }
        if let Some(record) = &mut lane.record {
            record.push(event);
        }
    }

    /// Where an operand comes from, and its bits before modifiers.
    fn operand_place(&self, lane: &Lane<'_>, group: &Group, inst: &AluInst, operand: &Operand) -> Option<(Place, u32)> {
        let bits = self.source(lane, group, inst, operand).ok()?;
        let mode = inst.word0.index_mode;
        let element = chan(operand.chan) as u8;
        let place = match operand.source {
            Source::Gpr(base) if operand.relative => {
                let (index, global) = self.register_index(mode, lane);
                if global {
                    match global_register(base, index, lane.globals.len())? {
                        Register::Global(at) => Place::Global(narrow(at), element),
                        Register::Own(at) => Place::Gpr(narrow(at), element),
                    }
                } else {
                    Place::Gpr(narrow(relative_read(base, index, self.gprs)), element)
                }
            }
            Source::Gpr(base) => Place::Gpr(base % GPRS as u8, element),
            Source::Kcache { set, index } => {
                let offset = if operand.relative && mode == IndexMode::Loop { self.loop_index } else { 0 };
                Place::Kcache(
                    set,
                    narrow(usize::try_from(i64::from(index) + i64::from(offset)).unwrap_or(255)),
                    element,
                )
            }
            Source::Constant(base) => {
                let index = if operand.relative { self.constant_index(mode, lane) } else { 0 };
                let at = u16::try_from(i64::from(base) + i64::from(index)).unwrap_or(u16::MAX);
                Place::ConstantFile(at, element)
            }
            Source::Special(SpecialSel::Pv) => Place::Pv(element),
            Source::Special(SpecialSel::Ps) => Place::Ps,
            Source::Special(_) => Place::Literal(bits),
            Source::Reserved(_) => return None,
        };
        Some((place, bits))
    }

    /// The register element that an instruction writes, if any.
    fn destination_place(&self, lane: &Lane<'_>, inst: &AluInst) -> Option<Place> {
        let (base, relative, element) = inst.destination();
        let element = chan(element) as u8;
        if !inst.writes() {
            return None;
        }
        if !relative {
            return is_register(i64::from(base), self.gprs).then_some(Place::Gpr(base, element));
        }
        let (index, global) = self.register_index(inst.word0.index_mode, lane);
        if !global {
            return relative_write(base, index, self.gprs).map(|at| Place::Gpr(narrow(at), element));
        }
        Some(match global_register(base, index, lane.globals.len())? {
            Register::Global(at) => Place::Global(narrow(at), element),
            Register::Own(at) => Place::Gpr(narrow(at), element),
        })
    }
}

/// Where a unit's previous result is.
const fn previous(unit: Slot) -> Place {
    match unit {
        Slot::T => Place::Ps,
        Slot::X | Slot::Y | Slot::Z | Slot::W => Place::Pv(unit as u8),
    }
}

/// The element of the address register that an operand's index reads.
fn index_element(inst: &AluInst, operand: &Operand) -> Option<u8> {
    let of_constant = matches!(operand.source, Source::Constant(_));
    match inst.word0.index_mode {
        IndexMode::ArX | IndexMode::GlobalArX => Some(0),
        IndexMode::ArY => Some(if of_constant { 1 } else { 0 }),
        IndexMode::ArZ => Some(if of_constant { 2 } else { 0 }),
        IndexMode::ArW => Some(if of_constant { 3 } else { 0 }),
        IndexMode::Loop | IndexMode::Global => None,
    }
}

/// The value of a place for a lane in a clause.
pub(super) fn value(lane: &Lane<'_>, place: Place) -> u32 {
    match place {
        Place::Gpr(n, e) => lane.gprs[usize::from(n) % GPRS][usize::from(e & 3)],
        Place::Global(n, e) => lane.globals.get(usize::from(n)).map_or(0, |g| g[usize::from(e & 3)]),
        Place::Pv(e) => lane.pv[usize::from(e & 3)],
        Place::Ps => lane.ps,
        Place::Ar(e) => lane.ar[usize::from(e & 3)].cast_unsigned(),
        Place::ClausePredicate => u32::from(lane.predicate),
        Place::Execute => lane.execute.map_or(1, u32::from),
        Place::Killed => u32::from(lane.killed),
        _ => 0,
    }
}
