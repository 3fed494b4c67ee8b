//! Rules on jumps, loops, calls and the stack.

use super::graph::Event;
use super::{Facts, Finding};
use crate::r700::CALL_DEPTH;
use crate::r700::inst::Cf;
use crate::r700::ops::{Addr, CfAluOp, CfOp, Clause};
use crate::r700::program::{Chip, Stage};

/// The findings that `say` makes of the events it knows.
fn of_events(facts: &Facts<'_>, say: impl Fn(Event) -> Option<String>) -> Vec<Finding> {
    facts.graph.events.iter().filter_map(|&(pc, event)| say(event).map(|text| Finding::at(pc, text))).collect()
}

/// Jumps lead to control-flow instructions of the program.
pub(super) fn jump_target(facts: &Facts<'_>) -> Vec<Finding> {
    let slots = facts.program.words.len() / 2;
    let mut findings = of_events(facts, |event| match event {
        Event::NoTarget { target } => Some(format!("jumps to slot {target}; the program has {slots}")),
        _ => None,
    });
    // A jump into the middle of a clause finds something that may even read as control flow.
    let clauses: Vec<(u32, u32)> = facts.each_cf().filter_map(|(_, cf)| cf.clause()).collect();
    let mut covered = vec![false; slots];
    for &(first, count) in &clauses {
        let end = (first as usize).saturating_add(count as usize).min(slots);
        if let Some(range) = covered.get_mut(first as usize..end) {
            // Overlapping clauses are marked from their first unmarked slot only, so that marking stays linear.
            let from = range.iter().position(|&c| !c).unwrap_or(range.len());
            range[from..].fill(true);
        }
    }
    for (pc, plain) in facts.each_plain() {
        let target = plain.word0.addr;
        if plain.word1.op.info().addr == Addr::Target && covered.get(target as usize) == Some(&true) {
            findings.push(Finding::at(pc, format!("jumps to slot {target}, which is part of a clause")));
        }
    }
    findings
}

/// No path runs past the last control-flow instruction.
pub(super) fn runs_off(facts: &Facts<'_>) -> Vec<Finding> {
    let slots = u32::try_from(facts.program.words.len() / 2).unwrap_or(u32::MAX);
    let entry = facts.program.entry;
    let mut findings = of_events(facts, |event| match event {
        Event::RunsOff { next } if next >= slots => Some("the program's words end without END_OF_PROGRAM".to_owned()),
        Event::RunsOff { next } => Some(format!("goes on with slot {next}, which is part of a clause")),
        _ => None,
    });
    if facts.decoded.entries.is_empty() {
        findings.push(Finding::whole(format!("the program begins at slot {entry}; it has {slots}")));
    }
    findings
}

/// Some path ends the program.
pub(super) fn never_ends(facts: &Facts<'_>) -> Vec<Finding> {
    let graph = &facts.graph;
    let readable = facts.decoded.entries.iter().all(|e| e.cf.is_ok());
    // Paths that run off, return or cannot be decoded have findings of their own.
    let stuck = graph.events.iter().any(|(_, e)| {
        matches!(e, Event::RunsOff { .. } | Event::NoTarget { .. } | Event::Join { .. } | Event::TooDeep)
    });
    if graph.ends || graph.returns || graph.incomplete || stuck || !readable || facts.decoded.entries.is_empty() {
        return Vec::new();
    }
    vec![Finding::whole("no path reaches an instruction with `END_OF_PROGRAM`")]
}

/// No more is popped than was pushed since the innermost loop began, and an ELSE finds a mask there.
pub(super) fn stack_underflow(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |event| match event {
        Event::Underflow { pops, masks } => {
            let what = if masks == 1 { "1 mask".to_owned() } else { format!("{masks} masks") };
            Some(format!("pops {pops}, but {what} can be popped here"))
        }
        Event::NothingToExchange => {
            Some("exchanges the pixels of the last push, but no mask is on top of the stack here".to_owned())
        }
        _ => None,
    })
}

/// Every path to an instruction has the same on the stack.
pub(super) fn unbalanced_stack(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |event| match event {
        Event::Join { from, found, expected } if found == expected => {
            Some(format!("reached from slot {from} within other loops than on another path"))
        }
        Event::Join { from, found, expected } => {
            Some(format!("reached from slot {from} with {found}, on another path with {expected}"))
        }
        Event::ReturnWithin { depth } => Some(format!("returns with {depth}")),
        Event::LoopEndsWithin { masks } => {
            let s = if masks == 1 { "" } else { "s" };
            Some(format!("the loop ends with {masks} mask{s} on the stack above it"))
        }
        _ => None,
    })
}

/// A program ends with an empty stack, outside of subroutines.
pub(super) fn ends_within(facts: &Facts<'_>) -> Vec<Finding> {
    of_events(facts, |event| match event {
        Event::EndsWithin { depth } => Some(format!("the program ends with {depth}")),
        Event::EndsInSubroutine { start } => Some(format!("the program ends in the subroutine of slot {start}")),
        _ => None,
    })
}

/// Loop instructions are in a loop.
pub(super) fn outside_loop(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for &(pc, event) in &facts.graph.events {
        if event == Event::NoLoop
            && let Some(Ok(cf)) = facts.decoded.at(pc).map(|e| &e.cf)
        {
            findings.push(Finding::at(pc, format!("{} outside of every loop", cf.name())));
        }
    }
    findings
}

/// LOOP_START* skips to the instruction after its end, LOOP_END goes back to the one after the start, LOOP_BREAK and
/// LOOP_CONTINUE jump to the end.
pub(super) fn loop_target(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let op_at = |pc: Option<u32>| match facts.decoded.at(pc?).map(|e| &e.cf) {
        Some(Ok(Cf::Plain(plain))) => Some(plain.word1.op),
        Some(Ok(Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_)) | Err(_)) | None => None,
    };
    for node in &facts.graph.nodes {
        let Ok(Cf::Plain(plain)) = &facts.decoded.entries[node.entry].cf else { continue };
        let (op, target) = (plain.word1.op, plain.word0.addr);
        if op.starts_loop() && op_at(target.checked_sub(1)) != Some(CfOp::LoopEnd) {
            let message = format!("{} skips to slot {target}, which does not follow a LOOP_END", op.name());
            findings.push(Finding::at(node.pc, message));
        }
        if op == CfOp::LoopEnd
            && let Some(start) = facts.graph.stacks.innermost_loop(node.stack)
            && target != start + 1
        {
            let message = format!("LOOP_END goes back to slot {target}; the loop began at slot {start}");
            findings.push(Finding::at(node.pc, message).help(format!("jump to slot {}", start + 1)));
        }
        if matches!(op, CfOp::LoopBreak | CfOp::LoopContinue) && op_at(Some(target)) != Some(CfOp::LoopEnd) {
            let message = format!("{} jumps to slot {target}, which is not a LOOP_END", op.name());
            findings.push(Finding::at(node.pc, message));
        }
    }
    findings
}

/// A LOOP_START_DX10 loop is left by a break.
pub(super) fn endless_loop(facts: &Facts<'_>) -> Vec<Finding> {
    let graph = &facts.graph;
    let mut left = std::collections::HashSet::new();
    for node in &graph.nodes {
        let breaks = match &facts.decoded.entries[node.entry].cf {
            Ok(Cf::Plain(plain)) => plain.word1.op == CfOp::LoopBreak,
            Ok(Cf::Alu(alu)) => alu.word1.op == CfAluOp::Break,
            Ok(Cf::Export(_) | Cf::Mem(_)) => false,
            Err(_) => true,
        };
        // A subroutine that cannot be followed may break as well.
        if breaks && let Some(start) = graph.stacks.innermost_loop(node.stack) {
            left.insert(start);
        }
    }
    facts
        .each_plain()
        .filter(|(pc, plain)| plain.word1.op == CfOp::LoopStartDx10 && !left.contains(pc))
        .map(|(pc, _)| Finding::at(pc, "nothing in the loop breaks out of it; LOOP_START_DX10 counts no turns"))
        .collect()
}

/// POP goes on with the next instruction.
pub(super) fn pop_target(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_plain()
        .filter(|(pc, plain)| plain.word1.op == CfOp::Pop && ![0, pc + 1].contains(&plain.word0.addr))
        .map(|(pc, plain)| {
            let message =
                format!("`ADDR` of POP is {}; the manual is of two minds whether POP jumps", plain.word0.addr);
            Finding::at(pc, message).help(format!("set it to {}, the next slot", pc + 1))
        })
        .collect()
}

/// RETURN is in a subroutine.
pub(super) fn return_outside(facts: &Facts<'_>) -> Vec<Finding> {
    // Fetch programs are subroutines of vertex programs, and have nothing but RETURN to end with.
    let is_fetch = facts.stage() == Some(Stage::Fetch) || (facts.stage().is_none() && !facts.graph.ends);
    if is_fetch {
        return Vec::new();
    }
    of_events(facts, |event| match event {
        Event::ReturnOutside => Some("RETURN outside of every subroutine".to_owned()),
        _ => None,
    })
}

/// Calls do not nest deeper than 32.
pub(super) fn call_depth(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .graph
        .too_deep_call
        .into_iter()
        .map(|pc| {
            Finding::at(
                pc,
                format!("the nesting depth can be {}; calls beyond {CALL_DEPTH} are ignored", facts.graph.call_depth),
            )
        })
        .collect()
}

/// Subroutines do not call themselves.
pub(super) fn recursion(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .graph
        .nodes
        .iter()
        .filter_map(|node| {
            let callee = node.calls?;
            let is_recursive = |f: usize| facts.graph.recursive.get(f) == Some(&true);
            let loops = is_recursive(callee) && is_recursive(node.function);
            loops.then(|| {
                let start = facts.graph.functions[callee].start;
                let message = format!("a chain of calls leads from the subroutine of slot {start} back to itself; what the stack needs is not known");
                Finding::at(node.pc, message)
            })
        })
        .collect()
}

/// CALL and CALL_FS pop nothing.
pub(super) fn call_pops(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_plain()
        .filter(|(_, plain)| plain.word1.op == CfOp::Call && plain.word1.pop_count != 0)
        .map(|(pc, plain)| Finding::at(pc, format!("`POP_COUNT` of CALL is {}; it must be 0", plain.word1.pop_count)))
        .collect()
}

/// Stack needs of wavefronts of each width (R700 tables 3.5 and 3.6).
fn needs(facts: &Facts<'_>) -> Vec<(u32, u32)> {
    let entries = |&chip: &Chip| (chip.wavefront(), facts.graph.stack_entries(&facts.decoded, chip));
    let mut needs: Vec<(u32, u32)> = Chip::ALL.iter().map(entries).collect();
    needs.dedup();
    needs
}

fn too_small(stack: u32, needs: &[(u32, u32)]) -> Finding {
    let list: Vec<String> = needs.iter().map(|(width, n)| format!("{n} with wavefronts of {width}")).collect();
    let noun = if stack == 1 { "entry" } else { "entries" };
    Finding::whole(format!("the program has {stack} stack {noun}; it needs {}", list.join(", ")))
}

/// The stack is deep enough.
pub(super) fn stack_size(facts: &Facts<'_>) -> Vec<Finding> {
    let overflow = of_events(facts, |event| match event {
        Event::TooDeep => Some("more is on the stack than any stack holds".to_owned()),
        _ => None,
    });
    let stack = u32::from(facts.program.stack);
    let needs = needs(facts);
    if !overflow.is_empty() {
        return overflow;
    }
    if needs.iter().any(|n| n.1 <= stack) {
        return Vec::new();
    }
    vec![too_small(stack, &needs)]
}

/// The stack is deep enough for every width of wavefronts.
pub(super) fn stack_size_of_some(facts: &Facts<'_>) -> Vec<Finding> {
    let stack = u32::from(facts.program.stack);
    let (short, enough): (Vec<_>, Vec<_>) = needs(facts).into_iter().partition(|n| n.1 > stack);
    if short.is_empty() || enough.is_empty() {
        return Vec::new();
    }
    vec![too_small(stack, &short)]
}

/// Every instruction is on some path.
pub(super) fn unreachable_code(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.graph.incomplete
        || facts.graph.events.iter().any(|(_, e)| matches!(e, Event::Join { .. } | Event::TooDeep))
    {
        return Vec::new();
    }
    let reached: std::collections::HashSet<u32> = facts.graph.nodes.iter().map(|n| n.pc).collect();
    facts
        .each_cf()
        .filter(|(entry, cf)| !reached.contains(&entry.addr) && !is_filler(cf))
        .map(|(entry, cf)| Finding::at(entry.addr, format!("no path reaches this {}", cf.name())))
        .collect()
}

/// NOP, which compilers put anywhere.
fn is_filler(cf: &Cf) -> bool {
    matches!(cf, Cf::Plain(plain) if plain.word1.op == CfOp::Nop && plain.word1.op.info().clause == Clause::None)
}
