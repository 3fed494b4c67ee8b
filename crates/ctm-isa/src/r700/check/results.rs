//! Rules on results used by the next group: PV, PS, predicates, registers just written.

use super::{Facts, Finding, GroupContext};
use crate::r700::inst::{Group, Slot};
use crate::r700::ops::{AluOp, AluUnit, Chan, IndexMode, Op2, SideEffect, Slots, Source, SpecialSel};
use crate::r700::program::CLAUSE_TEMPORARIES;

/// Whether a unit of the group leaves its result in PV or PS.
fn leaves_result(group: &Group, unit: AluUnit) -> Result<(), &'static str> {
    match group.unit(unit).map(crate::r700::inst::AluInst::op) {
        None => Err("has nothing in that unit"),
        Some(AluOp::Op2(Op2::Nop)) => Err("has NOP in that unit"),
        Some(op) if op.info().kind == SideEffect::Mova => Err("has MOVA* in that unit, whose result is undefined"),
        Some(_) => Ok(()),
    }
}

/// The operands that read PV or PS: slot index and the unit whose result they read.
fn reads<'a>(place: &GroupContext<'a>) -> impl Iterator<Item = (usize, AluUnit)> + 'a {
    let group = place.group;
    group.slots.iter().enumerate().flat_map(|(i, slot)| {
        slot.inst.operands().filter_map(move |operand| match operand.source {
            Source::Special(SpecialSel::Pv) => Some((i, AluUnit::from(operand.chan))),
            Source::Special(SpecialSel::Ps) => Some((i, AluUnit::T)),
            Source::Gpr(_) | Source::Kcache { .. } | Source::Constant(_) | Source::Special(_) | Source::Reserved(_) => {
                None
            }
        })
    })
}

fn result_name(unit: AluUnit) -> String {
    if unit == AluUnit::T { "PS".to_owned() } else { format!("PV.{}", unit.name()) }
}

/// PV and PS are read where the group before left something in them.
pub(super) fn undefined_result(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, unit) in reads(&place) {
            let name = result_name(unit);
            match place.before.map(|before| leaves_result(before, unit)) {
                None => {
                    let message = format!("{name} is read in the first group of the clause, where it is undefined");
                    findings.push(Finding::at(place.slot(i), message));
                }
                Some(Err(why)) => {
                    findings.push(Finding::at(place.slot(i), format!("{name} is read, but the group before {why}")));
                }
                Some(Ok(())) => {}
            }
        }
    }
    findings
}

/// The result of DOT4, DOT4_IEEE and MAX4 is read from PV.x.
pub(super) fn reduction_result(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let Some(before) = place.before else { continue };
        for (i, unit) in reads(&place).filter(|&(_, unit)| !matches!(unit, AluUnit::X | AluUnit::T)) {
            let Some(op) = before.unit(unit).map(crate::r700::inst::AluInst::op) else { continue };
            if op.info().slots == Slots::Reduction && op != AluOp::Op2(Op2::Cube) {
                let message =
                    format!("{} is read after {}, whose result is in PV.x only", result_name(unit), op.name());
                findings.push(Finding::at(place.slot(i), message));
            }
        }
    }
    findings
}

/// KILL* is in the last group of its clause.
pub(super) fn kill_not_last(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group().filter(|place| !place.last) {
        if let Some(i) = place.group.slots.iter().position(|s| s.inst.op().info().kind == SideEffect::Kill) {
            let message = format!(
                "groups follow {} in its clause; they do not see which pixels it killed",
                place.group.slots[i].inst.op().name()
            );
            findings.push(Finding::at(place.slot(i), message));
        }
    }
    findings
}

/// A register that an instruction reads or writes, as far as the adjacent-dependency rule distinguishes addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Address {
    gpr: u8,
    chan: Chan,
    /// With AR.x (`Some(true)`), with the loop index (`Some(false)`), or neither.
    index: Option<bool>,
}

impl Address {
    fn of(slot: &Slot, gpr: u8, chan: Chan, relative: bool) -> Option<Self> {
        let index = match (relative, slot.inst.word0.index_mode) {
            (false, _) => None,
            (true, IndexMode::ArX | IndexMode::ArY | IndexMode::ArZ | IndexMode::ArW) => Some(true),
            (true, IndexMode::Loop) => Some(false),
            // Registers of the whole file are other registers.
            (true, IndexMode::Global | IndexMode::GlobalArX) => return None,
        };
        Some(Self { gpr, chan, index })
    }

    fn name(self) -> String {
        let index = match self.index {
            None => "",
            Some(true) => "[AR.x]",
            Some(false) => "[AL]",
        };
        format!("R{}{index}.{}", self.gpr, self.chan.name())
    }
}

/// The operands of a group that may read a register whose write the machine has not finished: slot index, the read register,
/// and the written one.
fn clashes(before: &Group, group: &Group) -> Vec<(usize, Address, Address)> {
    let written: Vec<Address> = before
        .slots
        .iter()
        .filter(|slot| slot.inst.writes())
        .filter_map(|slot| {
            let (gpr, relative, chan) = slot.inst.destination();
            Address::of(slot, gpr, chan, relative)
        })
        .collect();
    let temporary = |a: &Address| a.index.is_none() && a.gpr >= CLAUSE_TEMPORARIES;
    let mut found = Vec::new();
    for (i, slot) in group.slots.iter().enumerate() {
        for operand in slot.inst.operands() {
            let Source::Gpr(gpr) = operand.source else { continue };
            let Some(read) = Address::of(slot, gpr, operand.chan, operand.relative) else { continue };
            let clash = written.iter().find(|w| {
                let differ = (w.index == Some(true)) != (read.index == Some(true));
                differ && w.chan == read.chan && !temporary(w) && !temporary(&read)
            });
            found.extend(clash.map(|&write| (i, read, write)));
        }
    }
    found
}

/// Whether a group breaks `adjacent-index` after another.
pub(in crate::r700) fn reads_adjacent_index(before: &Group, group: &Group) -> bool {
    !clashes(before, group).is_empty()
}

/// A register that is written with AR.x is not read with another index by the next group.
pub(super) fn adjacent_index(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let Some(before) = place.before else { continue };
        for (i, read, write) in clashes(before, place.group) {
            let message = format!(
                "{} is read right after {} is written; if they are the same register, the old value is read",
                read.name(),
                write.name()
            );
            findings.push(Finding::at(place.slot(i), message).help("put a group between them"));
        }
    }
    findings
}
