//! The structure of flow control: matching ends, jump targets, nesting depth.

use crate::syntax::{Inst, Shader};
use crate::table::TableOp;
use ctm_isa::diag::{Diagnostic, Span};
use std::collections::BTreeMap;

/// Loops that can be open at once, those of callers included (CTM §3.5.2).
const LOOPS: usize = 4;
/// Calls that can be open at once (CTM §3.5.2).
const CALLS: usize = 4;
/// Branches that can be open at once (CTM §3.5.2).
const BRANCHES: usize = 32;

#[derive(Clone, Copy, PartialEq)]
enum OpenBlock {
    If { has_else: bool },
    Loop,
    Rep,
}

impl OpenBlock {
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::If { .. } => ("if", "endif"),
            Self::Loop => ("loop", "endloop"),
            Self::Rep => ("rep", "endrep"),
        }
    }
}

/// A part of the program: the main part, or a subroutine.
#[derive(Default)]
struct ProgramPart {
    label: Option<u16>,
    span: Span,
    ended: bool,
    /// Callees, with the loops and branches open there, and whether one of the loops has an `aL`.
    calls: Vec<(u16, Span, usize, usize, bool)>,
    loops: usize,
    branches: usize,
    /// Where `aL` is used outside of any loop of this part.
    counter: Option<Span>,
}

fn error(rule: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
    Diagnostic::error(rule, message).at(span, "")
}

/// Reports everything that is wrong with the structure.
pub(crate) fn check(shader: &Shader, findings: &mut Vec<Diagnostic>) {
    let mut parts = vec![ProgramPart::default()];
    let mut open: Vec<(OpenBlock, Span)> = Vec::new();
    for inst in &shader.code {
        let index = parts.len() - 1;
        if inst.op == TableOp::Label {
            close_all(&mut open, findings);
            if index > 0 && !parts[index].ended {
                findings
                    .push(error("flow", "the subroutine has no `ret`", parts[index].span).help("end it with `ret`"));
            }
            let label = inst.sources.first().map_or(0, |s| s.reg.index);
            if let Some(first) = parts.iter().find(|p| p.label == Some(label)) {
                findings
                    .push(error("label", format!("l{label} is there twice"), inst.span).at(first.span, "first here"));
            }
            parts.push(ProgramPart { label: Some(label), span: inst.span, ..ProgramPart::default() });
            continue;
        }
        let part = &mut parts[index];
        if part.ended {
            findings.push(
                error("unreachable", "nothing leads here: the program part has ended with `ret`", inst.span)
                    .help("only `label` can follow `ret`"),
            );
            // Once is enough.
            part.ended = false;
        }
        statement(inst, part, &mut open, findings);
    }
    close_all(&mut open, findings);
    if let Some(last) = parts.last().filter(|p| p.label.is_some() && !p.ended) {
        findings.push(error("flow", "the subroutine has no `ret`", last.span).help("end it with `ret`"));
    }
    calls(&parts, findings);
}

fn close_all(open: &mut Vec<(OpenBlock, Span)>, findings: &mut Vec<Diagnostic>) {
    for (what, span) in open.drain(..) {
        let (begin, end) = what.names();
        findings.push(error("flow", format!("`{begin}` has no `{end}`"), span));
    }
}

fn statement(inst: &Inst, part: &mut ProgramPart, open: &mut Vec<(OpenBlock, Span)>, findings: &mut Vec<Diagnostic>) {
    let in_loop = |open: &[(OpenBlock, Span)]| open.iter().any(|o| !matches!(o.0, OpenBlock::If { .. }));
    let counts = |open: &[(OpenBlock, Span)]| open.iter().any(|o| o.0 == OpenBlock::Loop);
    if inst.sources.iter().any(|s| s.reg.relative) && !counts(open) {
        part.counter.get_or_insert(inst.span);
    }
    match inst.op {
        TableOp::If => open.push((OpenBlock::If { has_else: false }, inst.name)),
        TableOp::Loop => open.push((OpenBlock::Loop, inst.name)),
        TableOp::Rep => open.push((OpenBlock::Rep, inst.name)),
        TableOp::Else => match open.last_mut() {
            Some((OpenBlock::If { has_else }, _)) if !*has_else => *has_else = true,
            Some((OpenBlock::If { .. }, span)) => {
                findings.push(error("flow", "this `if` has an `else` already", inst.span).at(*span, "the `if`"));
            }
            _ => findings.push(error("flow", "`else` belongs to no `if`", inst.span)),
        },
        TableOp::Endif | TableOp::Endloop | TableOp::Endrep => {
            let word = match inst.op {
                TableOp::Endif => "endif",
                TableOp::Endloop => "endloop",
                _ => "endrep",
            };
            match open.last() {
                Some((what, _)) if what.names().1 == word => {
                    open.pop();
                }
                Some((what, span)) => findings.push(
                    error("flow", format!("`{word}` closes a `{}`", what.names().0), inst.span)
                        .at(*span, "opened here")
                        .help(format!("write `{}` first", what.names().1)),
                ),
                None => findings.push(error("flow", format!("`{word}` closes nothing"), inst.span)),
            }
        }
        TableOp::Break | TableOp::Breakp if !in_loop(open) => {
            findings
                .push(error("flow", "there is no loop here to break", inst.span).help("loops of callers do not count"));
        }
        TableOp::Call | TableOp::Callnz => {
            if let Some(label) = inst.sources.first() {
                let loops = open.iter().filter(|o| !matches!(o.0, OpenBlock::If { .. })).count();
                part.calls.push((label.reg.index, inst.span, loops, open.len() - loops, counts(open)));
            }
        }
        TableOp::Ret => {
            if let Some((what, span)) = open.last() {
                findings.push(
                    error("flow", "`ret` stands inside a branch or loop", inst.span).at(*span, "opened here").help(
                        format!("write `{}` first; the machine cannot return from within (CTM §3.5.2)", what.names().1),
                    ),
                );
                open.clear();
            }
            part.ended = true;
        }
        _ => {}
    }
    let loops = open.iter().filter(|o| !matches!(o.0, OpenBlock::If { .. })).count();
    let branches = open.len() - loops;
    for (depth, most, held, what) in
        [(loops, LOOPS, &mut part.loops, "loops"), (branches, BRANCHES, &mut part.branches, "branches")]
    {
        if depth > *held {
            *held = depth;
            if depth == most + 1 {
                findings
                    .push(error("nesting", format!("{what} nest no deeper than {most}"), inst.span).cite("CTM §3.5.2"));
            }
        }
    }
}

/// Follows the calls from the main part: labels that do not exist, recursion, and depths that only callers make too large.
fn calls(parts: &[ProgramPart], findings: &mut Vec<Diagnostic>) {
    let labels: BTreeMap<u16, usize> =
        parts.iter().enumerate().filter_map(|(n, p)| p.label.map(|label| (label, n))).collect();
    for part in parts {
        for &(label, span, ..) in &part.calls {
            if !labels.contains_key(&label) {
                findings.push(
                    error("label", format!("there is no `label l{label}`"), span)
                        .help("a subroutine stands behind the main program: label, instructions, ret"),
                );
            }
        }
    }
    // The deepest state in which each part is entered: calls, loops, branches. Depths only grow, and are bounded by recursion's refusal.
    let mut entered: BTreeMap<usize, (usize, usize, usize)> = BTreeMap::from([(0, (0, 0, 0))]);
    // Parts that some call reaches where aL does not exist.
    let mut without_counter: Vec<bool> = vec![false; parts.len()];
    without_counter[0] = true;
    let mut reported = vec![false; parts.len()];
    for round in 0..=parts.len() {
        let mut changed = false;
        for (n, part) in parts.iter().enumerate() {
            let Some(&(calls, loops, branches)) = entered.get(&n) else { continue };
            for &(label, span, more_loops, more_branches, counts) in &part.calls {
                let Some(&to) = labels.get(&label) else { continue };
                let depth = (calls + 1, loops + more_loops, branches + more_branches);
                let old = entered.get(&to).copied().unwrap_or_default();
                let new = (depth.0.max(old.0), depth.1.max(old.1), depth.2.max(old.2));
                if without_counter[n] && !counts && !without_counter[to] {
                    without_counter[to] = true;
                    changed = true;
                }
                if entered.get(&to) == Some(&new) {
                    continue;
                }
                let total = [
                    (new.0, CALLS, "calls"),
                    (new.1 + parts[to].loops, LOOPS, "loops"),
                    (new.2 + parts[to].branches, BRANCHES, "branches"),
                ];
                let too_deep = total.iter().find(|(depth, most, _)| depth > most);
                if (too_deep.is_some() || round == parts.len()) && !reported[to] {
                    reported[to] = true;
                    let message = match too_deep {
                        Some((_, most, what)) if round < parts.len() => {
                            format!("with this call, {what} nest deeper than {most}, or the subroutine calls itself")
                        }
                        _ => "the subroutine calls itself".to_owned(),
                    };
                    findings.push(error("nesting", message, span).cite("CTM §3.5.2"));
                }
                if !reported[to] {
                    entered.insert(to, new);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (n, part) in parts.iter().enumerate() {
        if let Some(span) = part.counter.filter(|_| without_counter[n] && (n == 0 || entered.contains_key(&n))) {
            findings.push(
                error("relative", "aL exists inside `loop` only", span).help("`rep` has no counter").cite("CTM §3.5.2"),
            );
        }
    }
    for (n, part) in parts.iter().enumerate().skip(1) {
        if !entered.contains_key(&n) && !reported[n] {
            findings.push(
                Diagnostic::warning("unused", format!("nothing calls l{}; it is left out", part.label.unwrap_or(0)))
                    .at(part.span, ""),
            );
        }
    }
}

/// The labels that something reachable from the main program calls.
pub(crate) fn called(insts: &[crate::ir::VirtualStatement]) -> Vec<u16> {
    use crate::ir::{FlowStatement, VirtualStatement};
    let mut of: BTreeMap<Option<u16>, Vec<u16>> = BTreeMap::new();
    let mut part = None;
    for inst in insts {
        match inst {
            VirtualStatement::Flow(FlowStatement::Label(label), _) => part = Some(*label),
            VirtualStatement::Flow(FlowStatement::Call(label, _), _) => of.entry(part).or_default().push(*label),
            _ => {}
        }
    }
    let mut found: Vec<u16> = Vec::new();
    let mut todo: Vec<Option<u16>> = vec![None];
    while let Some(part) = todo.pop() {
        for &label in of.get(&part).into_iter().flatten() {
            if !found.contains(&label) {
                found.push(label);
                todo.push(Some(label));
            }
        }
    }
    found
}
