//! Rules on unwritten values.

use super::graph::WrittenRegisters;
use super::{Finding, SlotFacts};
use crate::pvs::access;
use crate::pvs::inst::Inst;
use crate::pvs::ops::{AddrMode, SrcType};

/// Each reached instruction with the registers that may have been written before it.
fn reached<'a>(facts: &'a SlotFacts<'_>) -> impl Iterator<Item = (u16, &'a Inst, &'a WrittenRegisters)> {
    let nodes = facts.graph.nodes.iter().zip(&facts.graph.before);
    nodes.filter_map(|(node, before)| Some((node.pc, facts.inst(node.pc)?, before)))
}

fn letters(mask: u8) -> String {
    "xyzw".chars().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|(_, letter)| letter).collect()
}

/// Temporaries are written before they are read. Reads at computed addresses are not followed.
pub(super) fn unwritten_temporary(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, before) in reached(facts) {
        for read in access::reads(inst).into_iter().filter(|read| read.address.mode == AddrMode::Absolute) {
            let offset = read.address.offset;
            let (name, written) = match read.file {
                SrcType::Temporary => ("r", before.temporary(offset)),
                SrcType::AltTemporary => ("at", before.alternate(offset)),
                SrcType::Input | SrcType::Constant => continue,
            };
            let missing = read.components & !written;
            if missing != 0 {
                let message = format!("{name}{offset}.{} is read, and nothing has written it", letters(missing));
                findings.push(Finding::at(pc, message));
            }
        }
    }
    findings
}

/// A0 is written before it is used.
pub(super) fn unwritten_address(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let missing = |inst: &Inst, before: &WrittenRegisters| access::address_components(inst) & !before.address;
    let each =
        reached(facts).map(|(pc, inst, before)| (pc, missing(inst, before))).filter(|(_, missing)| *missing != 0);
    each.map(|(pc, missing)| Finding::at(pc, format!("a0.{} is used, and nothing has written it", letters(missing))))
        .collect()
}

/// The predicate is set before it counts.
pub(super) fn unset_predicate(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let each = reached(facts).filter(|(_, inst, before)| inst.dst.pred_enable && !before.predicate);
    each.map(|(pc, ..)| Finding::at(pc, "it depends on the predicate, which nothing has set")).collect()
}

/// The position is written.
pub(super) fn unwritten_position(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let written = facts.graph.at_end.as_ref().is_none_or(|written| written.position);
    (!written).then(|| Finding::whole("output 0, the position, is not written")).into_iter().collect()
}
