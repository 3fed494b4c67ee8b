//! Rules on jumps, stacks and branch counters.

use super::graph::{Event, is_end_of_loop_at, is_loop_end};
use super::{Facts, Finding};
use crate::x1k::inst::Inst;
use crate::x1k::ops::{AOp, FcOp, PredSel};
use crate::x1k::program::jump_depends_on_predicate;
use crate::x1k::{ADDRESS_STACK, LOOP_STACK};

/// The findings that `say` makes of the events it knows.
fn of_events(facts: &Facts<'_>, say: impl Fn(u16, Event) -> Option<String>) -> Vec<Finding> {
    facts.graph.events.iter().filter_map(|&(pc, event)| say(pc, event).map(|text| Finding::at(pc, text))).collect()
}

/// Loops and calls need full flow-control mode.
pub(super) fn partial_mode(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, fc) in facts.each_fc().filter(|_| !facts.program.full_flow_control) {
        let what = match (fc.inst.op, fc.inst.a_op) {
            (FcOp::Jump, AOp::None) => continue,
            (FcOp::Jump, a_op) => format!("address-stack {}", a_op.name()),
            (op, _) => op.name().to_owned(),
        };
        let message = format!("{what} in partial flow-control mode, which has no loop and address stacks");
        findings.push(Finding::at(pc, message).help("ask for full flow control (bit 31 of `US_FC_CTRL`)"));
    }
    findings
}

/// Full flow-control mode is only required where it is needed: partial mode runs twice the contexts.
pub(super) fn full_mode_unneeded(facts: &Facts<'_>) -> Vec<Finding> {
    if !facts.program.full_flow_control || facts.program.usage().needs_full_flow_control {
        return Vec::new();
    }
    let deep = facts.graph.nodes.iter().any(|node| node.stacks.branch > crate::x1k::BRANCH_COUNTER_PARTIAL);
    if deep {
        return Vec::new();
    }
    vec![Finding::whole(
        "full flow control, but no loop, call or deep branch needs it; partial mode runs twice the contexts",
    )]
}

/// Branches are not nested deeper than the branch counter counts.
pub(super) fn branch_depth(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::BranchOverflow { limit } => {
            Some(format!("a branch inside {limit} others; {limit} is the deepest nesting"))
        }
        _ => None,
    })
}

/// On every path to an instruction the branch counters have been incremented and decremented alike.
pub(super) fn unbalanced_branches(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::BranchJoin { from, found, expected } => {
            Some(format!("reached from {from} at branch depth {found}, on another path at {expected}"))
        }
        Event::BranchReturn { found, expected } => {
            Some(format!("returns at branch depth {found} to a call made at {expected}"))
        }
        _ => None,
    })
}

/// DECR takes no more off than INCRs have put on.
pub(super) fn branch_underflow(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::BranchUnderflow { depth, pop } => Some(format!("`B_POP_CNT` is {pop} at branch depth {depth}")),
        _ => None,
    })
}

/// A program ends outside branches, loops and subroutines.
pub(super) fn ends_within(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::EndsWithin { branch, loops, calls } => Some(format!(
            "the program ends at branch depth {branch}, loop depth {loops}, call depth {calls}; processors may still be inactive"
        )),
        _ => None,
    })
}

/// The loop stack neither overflows nor underflows.
pub(super) fn loop_stack(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::LoopOverflow => Some(format!("a loop inside {LOOP_STACK} others; the loop stack holds {LOOP_STACK}")),
        Event::LoopUnderflow { op } => Some(format!("{} outside of every loop", op.name())),
        _ => None,
    })
}

/// ENDLOOP ends LOOP, ENDREP ends REP.
pub(super) fn loop_kind(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::LoopKind { op, opened } => {
            let opener = if op == FcOp::EndLoop { "REP" } else { "LOOP" };
            Some(format!("{} ends the {opener} of instruction {opened}", op.name()))
        }
        _ => None,
    })
}

/// BREAKLOOP leaves LOOP, BREAKREP leaves REP.
pub(super) fn break_kind(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::BreakKind { op, opened } => {
            let opener = if op == FcOp::BreakLoop { "REP" } else { "LOOP" };
            Some(format!("{} within the {opener} of instruction {opened}", op.name()))
        }
        _ => None,
    })
}

/// On every path to an instruction the same loops are open.
pub(super) fn unbalanced_loops(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::LoopJoin { from, found, expected } if found == expected => {
            Some(format!("reached from {from} at loop depth {found}, on another path in other kinds of loops"))
        }
        Event::LoopJoin { from, found, expected } => {
            Some(format!("reached from {from} at loop depth {found}, on another path at {expected}"))
        }
        Event::LoopReturn => Some("returns from within a loop of the subroutine".to_owned()),
        _ => None,
    })
}

/// The address stack neither overflows nor underflows.
pub(super) fn address_stack(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::AddressOverflow => {
            Some(format!("a call inside {ADDRESS_STACK} others; the address stack holds {ADDRESS_STACK}"))
        }
        Event::AddressUnderflow => Some("a return outside of every subroutine".to_owned()),
        _ => None,
    })
}

/// Jumps lead to instructions of the program.
pub(super) fn jump_target(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::JumpOutside { target } => Some(format!(
            "jumps to {target}; the program's instructions are 0 to {}",
            facts.insts.len().saturating_sub(1)
        )),
        _ => None,
    })
}

/// No path runs past the last slot.
pub(super) fn runs_off(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |_, event| match event {
        Event::RunsOff => Some("nothing follows this instruction, and it does not end the program".to_owned()),
        _ => None,
    })
}

/// LOOP and REP skip to the instruction after their end; CONTINUE jumps to an end.
pub(super) fn loop_target(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, fc) in facts.each_fc() {
        let target = u32::from(fc.addr.jump_addr);
        let at_end = is_loop_end(&facts.insts, target);
        let name = fc.inst.op.name();
        match fc.inst.op {
            FcOp::Loop | FcOp::Rep if is_end_of_loop_at(&facts.insts, pc, target) => {
                let message = format!("{name} skips to {target}, its own end, which pops a loop that was not pushed");
                findings.push(Finding::at(pc, message).help(format!("jump to {}", target + 1)));
            }
            FcOp::Continue if !at_end && fc.inst.a_op == AOp::None => {
                findings
                    .push(Finding::at(pc, format!("CONTINUE jumps to {target}, which is neither ENDLOOP nor ENDREP")));
            }
            FcOp::Jump
            | FcOp::Loop
            | FcOp::Rep
            | FcOp::EndLoop
            | FcOp::EndRep
            | FcOp::BreakLoop
            | FcOp::BreakRep
            | FcOp::Continue => {}
        }
    }
    findings
}

/// Some path reaches the last instruction.
pub(super) fn never_ends(facts: &Facts<'_>) -> Vec<Finding> {
    let last = usize::from(facts.program.last);
    match facts.graph.reached.get(last) {
        Some(false) if !facts.graph.incomplete && !facts.graph.nodes.is_empty() => {
            vec![Finding::whole(format!("no path reaches instruction {last}, where the program ends"))]
        }
        Some(_) | None => Vec::new(),
    }
}

/// Every instruction is on some path.
pub(super) fn unreachable_code(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.graph.incomplete || facts.graph.nodes.is_empty() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut pc = 0;
    for run in facts.graph.reached.chunk_by(|a, b| a == b) {
        let (first, last) = (pc, pc + run.len() - 1);
        pc += run.len();
        if !run[0] {
            let first = u32::try_from(first).unwrap_or(u32::MAX);
            let message = match run.len() {
                1 => "no path reaches this instruction".to_owned(),
                _ => format!("no path reaches instructions {first} to {last}"),
            };
            findings.push(Finding::at(first, message));
        }
    }
    findings
}

/// A jump condition uses one predicate bit: a replicate swizzle.
pub(super) fn fc_predicate_swizzle(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_fc()
        .filter(|(_, fc)| fc.cmn.rgb_pred_sel == PredSel::Rgba && jump_depends_on_predicate(fc.inst.jump_func))
        .map(|(pc, _)| {
            Finding::at(
                pc,
                "the jump depends on the predicate, but `RGB_PRED_SEL` is RGBA; allowed are RRRR, GGGG, BBBB, AAAA",
            )
        })
        .collect()
}

/// A jump that depends on the predicate selects one.
pub(super) fn fc_predicate_none(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_fc()
        .filter(|(_, fc)| fc.cmn.rgb_pred_sel == PredSel::None && jump_depends_on_predicate(fc.inst.jump_func))
        .map(|(pc, _)| {
            Finding::at(pc, "the jump depends on the predicate, but `RGB_PRED_SEL` is NONE, which is always true")
        })
        .collect()
}

/// The paths could be followed to their ends.
pub(super) fn flow_too_complex(facts: &Facts<'_>) -> Vec<Finding> {
    let calls = facts.each().filter(|(_, inst, _)| matches!(inst, Inst::Fc(fc) if fc.inst.a_op == AOp::Push)).count();
    if !facts.graph.incomplete {
        return Vec::new();
    }
    vec![Finding::whole(format!("{calls} calls nest in too many ways; not every path was checked"))]
}
