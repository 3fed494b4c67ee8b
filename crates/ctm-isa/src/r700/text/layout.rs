//! Statements as words: clauses are cut at their limits, placed, and named by their instructions.

use super::cf::{self, Address, ParsedCf};
use super::listing::must_be_control_flow;
use super::reading::ReadyGroup;
use super::source::{Body, MAX_SLOT, Statement, StatementOutput, Statements};
use super::split;
use crate::diag::{Diagnostic, Span};
use crate::r700::inst::Cf;
use crate::r700::ops::{Addr, CfAluOp, CfOp};
use crate::r700::{ALU_CLAUSE_SLOTS, FETCH_CLAUSE_INSTRUCTIONS};
use crate::suggest::Suggester;
use std::collections::HashMap;

/// The words, and the statement of each slot.
#[derive(Default)]
pub(super) struct Built {
    pub(super) words: Vec<u32>,
    pub(super) spans: Vec<Span>,
}

/// Where a statement is: its slot, and that of its clause.
#[derive(Clone, Copy, Default)]
struct StatementSlot {
    at: u32,
    clause: Option<u32>,
}

/// Makes the words. Findings go to the statements' list; with errors among them the words mean nothing.
pub(super) fn build(s: &mut Statements) -> Built {
    cut_clauses(s);
    let relayout = check_counts(s);
    let mut places = place_statements(s);
    place_clauses(s, &mut places, relayout);
    resolve(s, &places);
    emit(s, &places)
}

// ---- limits

/// Makes several instructions of those whose clause is too long.
fn cut_clauses(s: &mut Statements) {
    let too_long = |body: &Body| match body {
        Body::Alu { .. } => body.slots() as usize > ALU_CLAUSE_SLOTS,
        Body::Fetch(fetches) => fetches.len() > FETCH_CLAUSE_INSTRUCTIONS,
    };
    if !s.list.iter().any(|st| matches!(&st.what, StatementOutput::Cf(_, Some(body)) if too_long(body))) {
        return;
    }
    // Further instructions move the following ones, so numbers for it would be wrong.
    let numbers = s.list.iter().find_map(|st| match &st.what {
        StatementOutput::Cf(parsed, _) => match parsed.address {
            Address::Number(_, span) if jumps(&parsed.cf) => Some(span),
            _ => st.number.map(|(_, span)| span),
        },
        StatementOutput::Word(_) | StatementOutput::Data(_) | StatementOutput::Org(_) => None,
    });
    let old = std::mem::take(&mut s.list);
    let mut moved = Vec::with_capacity(old.len() + 1);
    for statement in old {
        moved.push(s.list.len());
        match statement.what {
            StatementOutput::Cf(parsed, Some(body)) if too_long(&body) => {
                let pieces = match body {
                    Body::Alu { groups, tail } => cut_alu(&parsed, groups, &tail, statement.span, &mut s.diagnostics),
                    Body::Fetch(fetches) => {
                        let parts = fetches.len().div_ceil(FETCH_CLAUSE_INSTRUCTIONS);
                        let each = fetches.len().div_ceil(parts);
                        fetches.chunks(each).map(|part| ((*parsed).clone(), Body::Fetch(part.to_vec()))).collect()
                    }
                };
                if let Some(span) = numbers {
                    let limit =
                        if matches!(parsed.cf, Cf::Alu(_)) { ALU_CLAUSE_SLOTS } else { FETCH_CLAUSE_INSTRUCTIONS };
                    s.diagnostics.push(
                        Diagnostic::error("clause-size", format!("the clause is longer than {limit}; cutting it would move the numbered instructions behind it"))
                            .at(statement.span, "")
                            .at(span, "a number")
                            .cite("R700 §3.3")
                            .help("use labels for jumps, and no numbers in front of control-flow lines"),
                    );
                }
                for (mut parsed, body) in pieces {
                    (parsed.count, parsed.address) = (None, Address::Missing);
                    let what = StatementOutput::Cf(Box::new(parsed), Some(body));
                    s.list.push(Statement { what, number: None, span: statement.span, broken: statement.broken });
                }
            }
            _ => s.list.push(statement),
        }
    }
    moved.push(s.list.len());
    for (target, _) in s.labels.values_mut() {
        *target = moved[*target];
    }
}

fn jumps(cf: &Cf) -> bool {
    matches!(cf, Cf::Plain(p) if p.word1.op.info().addr == Addr::Target)
}

fn cut_alu(
    parsed: &ParsedCf,
    groups: Vec<ReadyGroup>,
    tail: &[u32],
    span: Span,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(ParsedCf, Body)> {
    let Cf::Alu(alu) = parsed.cf else { return Vec::new() };
    let fail = |message: &str, span: Span, diagnostics: &mut Vec<Diagnostic>| {
        let d = Diagnostic::error("clause-size", message).at(span, "").cite("R700 §3.3");
        diagnostics.push(
            d.help("end the clause earlier, where no PV, PS, AR, predicate or clause temporary is needed behind it"),
        );
    };
    if !tail.is_empty() {
        fail("the clause has more than 128 slots and holds `.word` lines, so it cannot be cut", span, diagnostics);
        return Vec::new();
    }
    let limit = u32::try_from(ALU_CLAUSE_SLOTS).unwrap_or(u32::MAX);
    let cuts = match split::cut_clause(&groups, limit) {
        Ok(cuts) => cuts,
        Err(i) => {
            let at = groups[i].spans.first().copied().unwrap_or(span);
            fail("the clause has more than 128 slots, and no place before this group to cut it", at, diagnostics);
            return Vec::new();
        }
    };
    let mut parts: Vec<Vec<ReadyGroup>> = Vec::new();
    let mut rest = groups;
    for &cut in cuts.iter().rev() {
        parts.push(rest.split_off(cut));
    }
    parts.push(rest);
    parts.reverse();
    let last = parts.len() - 1;
    // The stack is pushed before the first part and popped after the last, where the predicate that changes the mask is too.
    let op = alu.word1.op;
    let op_of = |i: usize| match op {
        CfAluOp::PushBefore if i > 0 => CfAluOp::Alu,
        CfAluOp::PopAfter | CfAluOp::Pop2After | CfAluOp::Continue | CfAluOp::Break | CfAluOp::ElseAfter
            if i < last =>
        {
            CfAluOp::Alu
        }
        op => op,
    };
    let piece = |(i, groups)| {
        let mut cf = alu;
        cf.word1.op = op_of(i);
        (ParsedCf { cf: Cf::Alu(cf), ..parsed.clone() }, Body::Alu { groups, tail: Vec::new() })
    };
    parts.into_iter().enumerate().map(piece).collect()
}

// ---- counts and addresses

/// Compares written counts with the lengths of clauses. Whether one is wrong: then the written addresses of clauses rest on
/// a wrong size and are not used.
fn check_counts(s: &mut Statements) -> bool {
    let mut wrong = false;
    for statement in &s.list {
        let StatementOutput::Cf(parsed, Some(body)) = &statement.what else { continue };
        let held = match body {
            Body::Alu { .. } => body.slots(),
            Body::Fetch(_) => body.slots() / 2,
        };
        if let Some((written, span)) = parsed.count
            && !body.is_empty()
            && written != held
        {
            wrong = true;
            s.diagnostics.push(
                Diagnostic::warning(
                    "count",
                    format!("CNT is {written}, the clause has {held}; the clauses are laid out anew"),
                )
                .at(span, "")
                .cite("R700 §3.3"),
            );
        }
    }
    wrong
}

/// Gives each statement its slot.
fn place_statements(s: &mut Statements) -> Vec<StatementSlot> {
    let mut here = 0u32;
    let mut places = Vec::with_capacity(s.list.len() + 1);
    for statement in &s.list {
        if let Some((number, span)) = statement.number
            && number != here
        {
            s.diagnostics.push(
                Diagnostic::error("cf-number", format!("this is control-flow instruction {here:02}, not {number:02}"))
                    .at(span, "")
                    .help("leave the numbers out, or begin elsewhere with `.org`"),
            );
        }
        places.push(StatementSlot { at: here, clause: None });
        here = match &statement.what {
            StatementOutput::Cf(..) | StatementOutput::Word(_) => here + 1,
            StatementOutput::Data(words) => {
                here.saturating_add(u32::try_from(words.len().div_ceil(2)).unwrap_or(u32::MAX))
            }
            StatementOutput::Org(slot) => *slot,
        };
        if here > MAX_SLOT {
            let d = Diagnostic::error("size", format!("the program is longer than {MAX_SLOT} slots"));
            s.diagnostics.push(d.at(statement.span, ""));
            here = 0;
        }
    }
    places.push(StatementSlot { at: here, clause: None });
    places
}

/// Gives each clause its slot: the written one, or after everything else in the order of the instructions.
fn place_clauses(s: &mut Statements, places: &mut [StatementSlot], relayout: bool) {
    let mut end = 0;
    for (statement, place) in s.list.iter().zip(places.iter_mut()) {
        match &statement.what {
            StatementOutput::Cf(parsed, body) => {
                end = end.max(place.at + 1);
                let Some(body) = body else { continue };
                let Address::Number(addr, span) = parsed.address else { continue };
                if body.is_empty() {
                    place.clause = Some(addr);
                } else if !relayout {
                    if addr > MAX_SLOT {
                        let d = Diagnostic::error(
                            "address",
                            format!("ADDR is {addr}; clauses lie in slots 0 to {MAX_SLOT}"),
                        );
                        s.diagnostics.push(d.at(span, ""));
                        continue;
                    }
                    if matches!(body, Body::Fetch(_)) && addr % 2 != 0 && !s.unchecked {
                        s.diagnostics.push(
                            Diagnostic::error("address", format!("ADDR is {addr}; fetch clauses begin in even slots"))
                                .at(span, "")
                                .cite("R700 §3.3"),
                        );
                    }
                    place.clause = Some(addr);
                    end = end.max(addr.saturating_add(body.slots()));
                }
            }
            StatementOutput::Word(_) => end = end.max(place.at + 1),
            StatementOutput::Data(words) => {
                end = end.max(place.at + u32::try_from(words.len().div_ceil(2)).unwrap_or(0))
            }
            StatementOutput::Org(_) => {}
        }
    }
    for (statement, place) in s.list.iter().zip(places.iter_mut()) {
        let StatementOutput::Cf(parsed, Some(body)) = &statement.what else { continue };
        if place.clause.is_some() {
            continue;
        }
        if body.is_empty() {
            if !statement.broken {
                s.diagnostics.push(
                    Diagnostic::error("empty-clause", format!("the {} clause has no instructions", parsed.cf.name()))
                        .at(statement.span, "")
                        .cite("R700 §3.3")
                        .help("with ADDR and CNT it executes a clause that is written elsewhere"),
                );
            }
            continue;
        }
        if matches!(body, Body::Fetch(_)) {
            end += end % 2;
        }
        place.clause = Some(end);
        end = end.saturating_add(body.slots());
    }
}

/// Writes addresses and counts into the instructions.
fn resolve(s: &mut Statements, places: &[StatementSlot]) {
    let targets: std::collections::HashSet<u32> = s
        .list
        .iter()
        .zip(places)
        .filter(|(st, _)| matches!(st.what, StatementOutput::Cf(..) | StatementOutput::Word(_)))
        .map(|(_, place)| place.at)
        .collect();
    let mut found = Vec::new();
    let suggester = Suggester::default();
    for (i, statement) in s.list.iter_mut().enumerate() {
        let StatementOutput::Cf(parsed, body) = &mut statement.what else { continue };
        if let Some(body) = body {
            let Some(clause) = places[i].clause else { continue };
            let written = parsed.count.map_or(0, |(n, _)| n);
            let count = match body {
                _ if body.is_empty() => written,
                Body::Alu { .. } => body.slots(),
                Body::Fetch(_) => body.slots() / 2,
            };
            if count == 0 && !statement.broken {
                found.push(
                    Diagnostic::error("empty-clause", "a clause that is written elsewhere needs CNT")
                        .at(statement.span, ""),
                );
            }
            cf::set_clause(&mut parsed.cf, clause, count);
            if let (Cf::Alu(_), true) = (&parsed.cf, clause > MAX_SLOT) {
                found.push(
                    Diagnostic::error("address", format!("ADDR is {clause}; ALU clauses lie in slots 0 to {MAX_SLOT}"))
                        .at(statement.span, ""),
                );
            }
            continue;
        }
        let Cf::Plain(plain) = &parsed.cf else { continue };
        let op = plain.word1.op;
        let addr = match &parsed.address {
            Address::Number(n, span) => {
                if must_be_control_flow(op) && !targets.contains(n) && !s.unchecked {
                    found.push(
                        Diagnostic::error("address", format!("ADDR is {n}, where no control-flow instruction is"))
                            .at(*span, "")
                            .cite("R700 §3.7.1"),
                    );
                }
                *n
            }
            Address::Label(label, span) => match s.labels.get(label) {
                Some((target, _)) => places[*target].at,
                None => {
                    found.push(no_label(label, *span, &s.labels, &suggester));
                    0
                }
            },
            Address::Missing => match op {
                // These do not jump as programs use them; producers name the next instruction (r700-encoding §10 E23).
                CfOp::Pop | CfOp::Kill => places[i].at + 1,
                op if must_be_control_flow(op) => {
                    found.push(
                        Diagnostic::error("address", format!("{} needs ADDR(…): a number or a label", op.name()))
                            .at(statement.span, "")
                            .cite("R700 §3.7.1"),
                    );
                    0
                }
                _ => 0,
            },
        };
        cf::set_clause(&mut parsed.cf, addr, 0);
    }
    if let Some((label, span)) = &s.entry_label {
        match s.labels.get(label) {
            Some((target, _)) => s.entry = Some((places[*target].at, *span)),
            None => found.push(no_label(label, *span, &s.labels, &suggester)),
        }
    }
    s.diagnostics.extend(found);
}

fn no_label(label: &str, span: Span, labels: &HashMap<String, (usize, Span)>, suggester: &Suggester) -> Diagnostic {
    let d = Diagnostic::error("label", format!("no label `{label}`")).at(span, "");
    match suggester.closest(label, labels.keys().map(String::as_str)) {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d,
    }
}

// ---- words

struct PlacedClauses {
    words: Vec<u32>,
    written: Vec<bool>,
    spans: Vec<Span>,
}

impl PlacedClauses {
    /// Puts words at a dword; `false` if others are there already.
    fn put(&mut self, at: usize, words: &[u32], span: Span) -> bool {
        let end = at + words.len();
        if self.words.len() < end {
            self.words.resize(end, 0);
            self.written.resize(end, false);
            self.spans.resize(end.div_ceil(2), Span::default());
        }
        let mut clean = true;
        for (i, &word) in words.iter().enumerate() {
            clean &= !self.written[at + i] || self.words[at + i] == word;
            self.words[at + i] = word;
            self.written[at + i] = true;
            self.spans[(at + i) / 2] = span;
        }
        clean
    }
}

fn emit(s: &mut Statements, places: &[StatementSlot]) -> Built {
    let mut image = PlacedClauses { words: Vec::new(), written: Vec::new(), spans: Vec::new() };
    let mut overlaps = Vec::new();
    let overlap = |span: Span, what: &str, slot: u32| {
        Diagnostic::error("address", format!("{what} at slot {slot} overlaps other words"))
            .at(span, "")
            .help("leave ADDR out and the assembler places it")
    };
    for (statement, place) in s.list.iter().zip(places) {
        let at = place.at as usize * 2;
        let (what, clean) = match &statement.what {
            StatementOutput::Cf(parsed, _) => ("the instruction", image.put(at, &parsed.words(), statement.span)),
            StatementOutput::Word(pair) => ("the instruction", image.put(at, pair, statement.span)),
            StatementOutput::Data(words) => ("the data", image.put(at, words, statement.span)),
            StatementOutput::Org(_) => continue,
        };
        if !clean {
            overlaps.push(overlap(statement.span, what, place.at));
        }
    }
    // Clauses come second, so that an overlap is reported at their address.
    for (statement, place) in s.list.iter().zip(places) {
        let (StatementOutput::Cf(parsed, Some(body)), Some(clause)) = (&statement.what, place.clause) else { continue };
        let address = match parsed.address {
            Address::Number(_, span) => span,
            Address::Missing | Address::Label(..) => statement.span,
        };
        if !body.is_empty() && !put_clause(&mut image, body, clause) {
            overlaps.push(overlap(address, "the clause", clause));
        }
    }
    s.diagnostics.extend(overlaps);
    if let Some((size, span)) = s.size {
        if (size as usize) < image.words.len() {
            let d = Diagnostic::error("size", format!("the program has {} dwords, not {size}", image.words.len()));
            s.diagnostics.push(d.at(span, ""));
        } else {
            image.words.resize(size as usize, 0);
            image.spans.resize((size as usize).div_ceil(2), Span::default());
        }
    }
    Built { words: image.words, spans: image.spans }
}

fn put_clause(image: &mut PlacedClauses, body: &Body, clause: u32) -> bool {
    let mut at = clause as usize * 2;
    let mut clean = true;
    match body {
        Body::Alu { groups, tail } => {
            for ready in groups {
                for (slot, &span) in ready.group.slots.iter().zip(&ready.spans) {
                    clean &= image.put(at, &slot.inst.encode(), span);
                    at += 2;
                }
                let literals = &ready.group.literals[..usize::from(ready.group.literal_dwords)];
                clean &= image.put(at, literals, ready.spans.last().copied().unwrap_or_default());
                at += literals.len();
            }
            clean &= image.put(at, tail, Span::default());
        }
        Body::Fetch(fetches) => {
            for (words, span) in fetches {
                clean &= image.put(at, words, *span);
                at += 4;
            }
        }
    }
    clean
}
