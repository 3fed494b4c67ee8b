//! Rules on the instructions of one group.

use super::{Facts, Finding, GroupContext};
use crate::r700::inst::Slot;
use crate::r700::ops::{AluOp, AluUnit, Available, Chan, Omod, SideEffect, Slots, Source, SpecialSel, Units};
use crate::r700::ports::{PortProblem, problems};

/// The messages of port conflicts.
fn of_ports(facts: &Facts<'_>, wanted: fn(&PortProblem) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for problem in problems(&place.group.slots).iter().filter(|p| wanted(p)) {
            findings.push(Finding::at(place.slot(problem.slot().unwrap_or(0)), problem.to_string()));
        }
    }
    findings
}

/// In each cycle one register is read per element.
pub(super) fn read_ports(facts: &Facts<'_>) -> Vec<Finding> {
    of_ports(facts, |problem| matches!(problem, PortProblem::Gpr { .. } | PortProblem::NoSolution))
}

/// At most two pairs of constants are read.
pub(super) fn constant_ports(facts: &Facts<'_>) -> Vec<Finding> {
    of_ports(facts, |problem| matches!(problem, PortProblem::Constants { .. }))
}

/// The instruction in t has at most two constants, and loads nothing else while they are loaded.
pub(super) fn trans_constants(facts: &Facts<'_>) -> Vec<Finding> {
    of_ports(facts, |problem| matches!(problem, PortProblem::TransConstants { .. } | PortProblem::TransCycle { .. }))
}

/// The bank swizzle means something for the unit.
pub(super) fn bank_swizzle(facts: &Facts<'_>) -> Vec<Finding> {
    of_ports(facts, |problem| matches!(problem, PortProblem::Swizzle { .. }))
}

/// Instructions are in the order x, y, z, w, t.
pub(super) fn slot_order(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let slots = &place.group.slots;
        for (i, pair) in slots.windows(2).enumerate() {
            if pair[0].unit > pair[1].unit {
                let message = format!(
                    "the instruction of unit {} stands after that of unit {}; the order is x, y, z, w, t",
                    pair[1].unit.name(),
                    pair[0].unit.name()
                );
                findings.push(Finding::at(place.slot(i + 1), message));
            }
        }
    }
    findings
}

/// Operands that an operation does not read do not name a literal.
pub(super) fn unread_literal(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            for n in usize::from(slot.inst.op().info().operands)..2 {
                if slot.inst.operand(n).source == Source::Special(SpecialSel::Literal) {
                    let message = format!(
                        "operand {n}, which {} does not read, names a literal; the machine may expect one behind the group",
                        slot.inst.op().name()
                    );
                    findings.push(Finding::at(place.slot(i), message).help(format!("set `SRC{n}_SEL` to 0")));
                }
            }
        }
    }
    findings
}

/// The instruction in one of the four vector units.
fn vector<'a>(place: &GroupContext<'a>, chan: Chan) -> Option<&'a Slot> {
    place.group.slots.iter().find(|slot| slot.unit == AluUnit::from(chan))
}

/// A reduction is in all of x, y, z, w, with one output modifier.
pub(super) fn reduction(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let Some((i, first)) =
            place.group.slots.iter().enumerate().find(|(_, s)| s.inst.op().info().slots == Slots::Reduction)
        else {
            continue;
        };
        let op = first.inst.op();
        let lacking: Vec<&str> = Chan::ALL
            .iter()
            .filter(|&&chan| vector(&place, chan).is_none_or(|s| s.inst.op() != op))
            .map(|chan| chan.name())
            .collect();
        if !lacking.is_empty() {
            let message = format!("{} is missing in {}; it stands in x, y, z and w", op.name(), lacking.join(", "));
            findings.push(Finding::at(place.slot(i), message));
        }
        for (j, slot) in place.group.slots.iter().enumerate().filter(|(_, s)| s.inst.op() == op) {
            if slot.inst.omod() != first.inst.omod() || slot.inst.clamp() != first.inst.clamp() {
                let message = format!("`OMOD` or `CLAMP` of {} differs between the slots of the group", op.name());
                findings.push(Finding::at(place.slot(j), message));
            }
        }
    }
    findings
}

/// A 64-bit operation is in all of its slots.
pub(super) fn double_slots(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            let op = slot.inst.op();
            let needed: &[Chan] = match (op.info().slots, slot.unit) {
                (Slots::Pair64, AluUnit::X | AluUnit::Y) => &[Chan::X, Chan::Y],
                (Slots::Pair64, AluUnit::Z | AluUnit::W | AluUnit::T) => &[Chan::Z, Chan::W],
                (Slots::Quad64, _) => Chan::ALL,
                (Slots::One | Slots::Reduction, _) => continue,
            };
            let lacking: Vec<&str> = needed
                .iter()
                .filter(|&&chan| vector(&place, chan).is_none_or(|s| s.inst.op() != op))
                .map(|chan| chan.name())
                .collect();
            if !lacking.is_empty() {
                let all: Vec<&str> = needed.iter().map(|chan| chan.name()).collect();
                let message = format!(
                    "{} is missing in {}; it stands in {} at once",
                    op.name(),
                    lacking.join(", "),
                    all.join(", ")
                );
                findings.push(Finding::at(place.slot(i), message));
            }
        }
    }
    findings
}

/// Double precision needs a chip that has it.
pub(super) fn double_precision(facts: &Facts<'_>) -> Vec<Finding> {
    let found = facts.each_group().find_map(|place| {
        let i = place.group.slots.iter().position(|s| s.inst.op().info().available == Available::Doubles)?;
        Some(Finding::at(
            place.slot(i),
            format!(
                "{} needs double precision, which RV770 and RV790 have, RV710, RV730 and RV740 not",
                place.group.slots[i].inst.op().name()
            ),
        ))
    });
    found.into_iter().collect()
}

/// One instruction of a group at most sets a predicate, and none kills beside it.
pub(super) fn predicate_pairing(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let mut first: Option<&Slot> = None;
        for (i, slot) in place.group.slots.iter().enumerate() {
            let info = slot.inst.op().info();
            if !matches!(info.kind, SideEffect::PredSet | SideEffect::Kill) {
                continue;
            }
            match first {
                None => first = Some(slot),
                // The slots of a 64-bit comparison are one instruction, and two of them may be side by side (R700 §9.2).
                Some(other) if info.slots != Slots::One && other.inst.op() == slot.inst.op() => {}
                Some(other) if info.kind == SideEffect::Kill && other.inst.op().info().kind == SideEffect::Kill => {}
                Some(other) => findings.push(Finding::at(place.slot(i), paired(other, slot))),
            }
        }
    }
    findings
}

fn paired(other: &Slot, slot: &Slot) -> String {
    format!(
        "{} beside {}; a group has one PRED_SET* at most, and no KILL* beside it",
        slot.inst.op().name(),
        other.inst.op().name()
    )
}

/// The manual allows one KILL* in a group; drivers emit four, and a pixel ends if any of them says so.
pub(super) fn several_kills(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let kill = |slot: &&Slot| slot.inst.op().info().kind == SideEffect::Kill;
        let count = place.group.slots.iter().filter(kill).count();
        if count > 1 {
            let message = format!("{count} KILL* in one group; a pixel is killed if any of them says so");
            findings.push(Finding::at(place.pc, message));
        }
    }
    findings
}

/// Only PRED_SET* update the predicate or the active mask.
pub(super) fn predicate_update(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            let updates = [
                ("UPDATE_PRED", slot.inst.updates_predicate()),
                ("UPDATE_EXECUTE_MASK", slot.inst.updates_execute_mask()),
            ];
            let op = slot.inst.op();
            if op.info().kind != SideEffect::PredSet {
                for (name, _) in updates.iter().filter(|u| u.1) {
                    findings.push(Finding::at(
                        place.slot(i),
                        format!("`{name}` is set on {}, which computes no predicate", op.name()),
                    ));
                }
            }
        }
    }
    findings
}

/// Whether an integer operation only hands this operand on, so that it may be a float.
const fn hands_on(op: AluOp, operand: usize) -> bool {
    operand > 0 && op.info().is_choice() && op.info().reads.is_integer()
}

/// The result of integer conditional moves is not negated: shipping programs do so, and mean floats.
pub(super) fn negated_choice(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            let op = slot.inst.op();
            for (n, _) in slot.inst.operands().enumerate().filter(|(n, o)| hands_on(op, *n) && o.neg) {
                let message =
                    format!("operand {n} of {}, which it hands on, is negated: its highest bit changes", op.name());
                findings.push(Finding::at(place.slot(i), message));
            }
        }
    }
    findings
}

/// Integers are neither negated nor scaled nor clamped.
pub(super) fn integer_modifiers(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            let op = slot.inst.op();
            let info = op.info();
            if info.reads.is_integer() {
                let computed = |n: usize| !hands_on(op, n);
                for (n, operand) in slot.inst.operands().enumerate().filter(|(n, o)| computed(*n) && (o.neg || o.abs)) {
                    let what = if operand.neg { "negated" } else { "an absolute value" };
                    let message =
                        format!("operand {n} of {}, an integer, is {what}; modifiers are for floats", op.name());
                    findings.push(Finding::at(place.slot(i), message));
                }
            }
            if info.writes.is_integer()
                && info.kind != SideEffect::Mova
                && (slot.inst.omod() != Omod::Off || slot.inst.clamp())
            {
                let what = if slot.inst.clamp() { "clamped" } else { "scaled" };
                let message = format!("the result of {}, an integer, is {what}; modifiers are for floats", op.name());
                findings.push(Finding::at(place.slot(i), message));
            }
        }
    }
    findings
}

/// t and a vector unit do not write the same element.
pub(super) fn same_destination(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let slots = &place.group.slots;
        let Some((i, trans)) = slots.iter().enumerate().find(|(_, s)| s.unit == AluUnit::T && s.inst.writes()) else {
            continue;
        };
        let same = |s: &Slot| {
            let index = |s: &Slot| s.inst.destination().1.then_some(s.inst.word0.index_mode);
            s.unit != AluUnit::T
                && s.inst.writes()
                && s.inst.destination() == trans.inst.destination()
                && index(s) == index(trans)
                && s.inst.word0.pred_sel == trans.inst.word0.pred_sel
        };
        if let Some(other) = slots.iter().find(|s| same(s)) {
            let (gpr, _, chan) = trans.inst.destination();
            let message =
                format!("R{gpr}.{} is written by units {} and t; what t writes stays", chan.name(), other.unit.name());
            findings.push(Finding::at(place.slot(i), message));
        }
    }
    findings
}

/// One instruction of a group at most writes the address register.
pub(super) fn several_mova(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let mova = |s: &&Slot| s.inst.op().info().kind == SideEffect::Mova && s.inst.op().info().units == Units::Vector;
        let count = place.group.slots.iter().filter(mova).count();
        if count > 1 {
            let message = format!("{count} MOVA* in one group; R700 §4.8.2.2 allows up to four, §4.9.5 one");
            findings.push(Finding::at(place.pc, message));
        }
    }
    findings
}

/// MOVA* write no register.
pub(super) fn mova_write(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            let op = slot.inst.op();
            if op.info().kind == SideEffect::Mova && op.info().units == Units::Vector && slot.inst.writes() {
                let (gpr, _, chan) = slot.inst.destination();
                let message = format!("{} writes R{gpr}.{}, whose value is undefined", op.name(), chan.name());
                findings.push(Finding::at(place.slot(i), message).help("clear `WRITE_MASK`"));
            }
        }
    }
    findings
}
