//! Rules on flow-control slots and paths.

use super::{Finding, SlotFacts};
use crate::pvs::FLOW_STACK;
use crate::pvs::access;
use crate::pvs::flow::FlowSlot;
use crate::pvs::ops::{AddrMode, FlowOp};
use std::collections::BTreeSet;

/// The slots that do something, with their numbers.
fn slots<'a>(facts: &'a SlotFacts<'_>) -> impl Iterator<Item = (usize, &'a FlowSlot)> {
    facts.program.flow.iter().enumerate().filter(|(_, slot)| slot.op != FlowOp::None)
}

/// Slots name instructions of the program.
pub(super) fn flow_address(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let size = facts.insts.len();
    let mut findings = Vec::new();
    for (n, slot) in slots(facts) {
        let mut places = vec![("acts after", slot.lower.act)];
        if let Some(to) = slot.leads_to() {
            places.push(("leads to", to));
        }
        if slot.op != FlowOp::Jump {
            places.push(("ends at", slot.upper.last));
        }
        if slot.op == FlowOp::Jsr {
            places.push(("returns to", slot.upper.back));
        }
        for (what, pc) in places.into_iter().filter(|&(_, pc)| usize::from(pc) >= size) {
            let most = size.saturating_sub(1);
            findings.push(Finding::whole(format!("slot {n} {what} {pc}; the program's instructions are 0 to {most}")));
        }
    }
    findings
}

/// A loop or subroutine ends at or after its first instruction.
pub(super) fn flow_order(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let each = slots(facts).filter(|(_, slot)| slot.op != FlowOp::Jump);
    each.filter_map(|(n, slot)| Some((n, slot.leads_to()?, slot.upper.last)))
        .filter(|(_, first, last)| last < first)
        .map(|(n, first, last)| Finding::whole(format!("slot {n} begins at {first} and ends at {last}, before it")))
        .collect()
}

/// One slot acts after an instruction.
pub(super) fn act_twice(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (n, slot) in slots(facts) {
        if let Some((other, _)) = slots(facts).find(|(m, other)| *m < n && other.lower.act == slot.lower.act) {
            let message = format!("slots {other} and {n} act after the same instruction");
            findings.push(Finding::at(slot.lower.act, message));
        }
    }
    findings
}

/// A loop has 1 to 255 iterations.
pub(super) fn loop_count(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let each = slots(facts).filter(|(_, slot)| slot.op == FlowOp::Loop);
    each.map(|(n, slot)| (n, slot.lower.target_or_count))
        .filter(|(_, count)| !(1..=255).contains(count))
        .map(|(n, count)| Finding::whole(format!("slot {n} has {count} iterations; allowed are 1 to 255")))
        .collect()
}

/// Nesting is bounded.
pub(super) fn flow_depth(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let places: BTreeSet<u16> = facts.graph.too_deep.iter().copied().collect();
    let message = format!("more than {FLOW_STACK} loops and subroutines are open");
    places.into_iter().map(|pc| Finding::at(pc, message.clone())).collect()
}

/// Loops and subroutines are left at their last instruction.
pub(super) fn leaves_loop(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for node in &facts.graph.nodes {
        let Some(&n) = node.open.last() else { continue };
        let slot = &facts.program.flow[n];
        let first = slot.leads_to().unwrap_or(0);
        if !(first..=slot.upper.last).contains(&node.pc) && first <= slot.upper.last {
            let what = if slot.op == FlowOp::Loop { "loop" } else { "subroutine" };
            let last = slot.upper.last;
            let message = format!("a path is here inside the {what} of slot {n}, which is {first} to {last}");
            findings.push(Finding::at(node.pc, message));
        }
    }
    findings
}

/// No path runs past the program.
pub(super) fn runs_off(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let places: BTreeSet<u16> = facts.graph.runs_off.iter().copied().collect();
    places.into_iter().map(|pc| Finding::at(pc, "a path leads past the program's instructions")).collect()
}

/// Some path ends.
pub(super) fn never_ends(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let graph = &facts.graph;
    if graph.at_end.is_some() || graph.nodes.is_empty() || graph.incomplete {
        return Vec::new();
    }
    vec![Finding::whole(format!("no path ends at the last instruction, {}", facts.program.last))]
}

/// Every instruction is on a path. Runs of them are one finding.
pub(super) fn unreachable_code(facts: &SlotFacts<'_>) -> Vec<Finding> {
    if facts.graph.incomplete || facts.graph.nodes.is_empty() {
        return Vec::new();
    }
    let reached: BTreeSet<usize> = facts.graph.nodes.iter().map(|node| usize::from(node.pc)).collect();
    let mut findings = Vec::new();
    let mut pc = 0;
    while pc < facts.insts.len() {
        let end = (pc..facts.insts.len()).find(|pc| reached.contains(pc)).unwrap_or(facts.insts.len());
        if end > pc {
            let message = match end - pc {
                1 => "no path leads here".to_owned(),
                n => format!("no path leads here: {n} instructions"),
            };
            findings.push(Finding::at(u32::try_from(pc).unwrap_or(u32::MAX), message));
        }
        pc = end + 1;
    }
    findings
}

/// aL is used inside loops.
pub(super) fn relative_outside_loop(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let in_loop = |open: &[usize]| open.iter().any(|&n| facts.program.flow[n].op == FlowOp::Loop);
    let mut findings = Vec::new();
    for node in facts.graph.nodes.iter().filter(|node| !in_loop(&node.open)) {
        let Some(inst) = facts.inst(node.pc) else { continue };
        if access::addresses(inst).any(|address| address.mode == AddrMode::RelativeI0) {
            findings.push(Finding::at(node.pc, "aL is used outside of every loop, where it is not valid"));
        }
    }
    findings
}

/// The search reached its end.
pub(super) fn flow_too_complex(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let given_up = facts.graph.incomplete;
    given_up.then(|| Finding::whole("too many paths: not all of them were followed")).into_iter().collect()
}
