//! Rules on addresses and contents of clauses.

use super::{Facts, Finding};
use crate::r700::inst::{Cf, ClauseBody, Fetch};
use crate::r700::ops::CfOp;
use std::collections::{BTreeMap, BTreeSet};

/// A clause lies within the program.
pub(super) fn clause_outside(facts: &Facts<'_>) -> Vec<Finding> {
    let slots = facts.program.words.len() / 2;
    facts
        .each_cf()
        .filter(|(entry, _)| entry.clause == ClauseBody::Outside)
        .filter_map(|(entry, cf)| cf.clause().map(|range| (entry, range)))
        .map(|(entry, (first, count))| {
            let last = u64::from(first) + u64::from(count) - 1;
            Finding::at(entry.addr, format!("the clause is in slots {first} to {last}; the program has {slots}"))
        })
        .collect()
}

/// Fetch clauses begin at an even slot.
pub(super) fn clause_alignment(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_cf()
        .filter_map(|(entry, cf)| match cf {
            Cf::Plain(plain) => cf.clause().map(|(first, _)| (entry.addr, plain.word1.op, first)),
            Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_) => None,
        })
        .filter(|&(_, _, first)| first % 2 != 0)
        .map(|(pc, op, first)| {
            let message = format!("`ADDR` of {} is {first}; a fetch clause begins at an even slot", op.name());
            Finding::at(pc, message)
        })
        .collect()
}

/// No slot is control flow and part of a clause, or part of two clauses.
pub(super) fn clause_overlap(facts: &Facts<'_>) -> Vec<Finding> {
    let mut ranges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (entry, cf) in facts.each_cf().filter(|(entry, _)| entry.clause != ClauseBody::Outside) {
        if let Some((first, count)) = cf.clause() {
            ranges.entry((first, first + count)).or_insert(entry.addr);
        }
    }
    let mut findings = Vec::new();
    let slots: BTreeSet<u32> = facts.decoded.entries.iter().map(|e| e.addr).collect();
    // The clause so far that reaches furthest.
    let mut furthest: Option<(u32, u32)> = None;
    for (&(first, end), &pc) in &ranges {
        if let Some(slot) = slots.range(first..end).next() {
            findings.push(Finding::at(pc, format!("the clause covers slot {slot}, which is control flow")));
        }
        if let Some((other_end, other)) = furthest
            && other_end > first
        {
            findings.push(Finding::at(pc, format!("the clause overlaps the one of slot {other}")));
        }
        if furthest.is_none_or(|(other_end, _)| end > other_end) {
            furthest = Some((end, pc));
        }
    }
    findings
}

/// The kinds of memory access that one clause must not mix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Fetch,
    MemoryRead,
    DataShare,
}

impl Family {
    const fn of(fetch: &Fetch) -> Self {
        match fetch {
            Fetch::Vtx(_) | Fetch::Tex(_) => Self::Fetch,
            Fetch::MemRd(_) => Self::MemoryRead,
            Fetch::MemDsw(_) | Fetch::MemDsr(_) => Self::DataShare,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "texture or vertex fetches",
            Self::MemoryRead => "memory reads",
            Self::DataShare => "data share operations",
        }
    }
}

/// Memory reads are in clauses of their own.
pub(super) fn mixed_clause(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cf, clause) in facts.each_fetch_clause() {
        let mut families = (0u32..)
            .zip(&clause.fetches)
            .filter_map(|(i, e)| e.inst.as_ref().ok().map(|inst| (i, inst.fetch.name(), Family::of(&inst.fetch))));
        let Some((_, _, first)) = families.next() else { continue };
        if let Some((i, name, _)) =
            families.find(|f| f.2 != first && (f.2 == Family::MemoryRead || first == Family::MemoryRead))
        {
            let message = format!("{name} in a clause of {}; memory reads have clauses of their own", first.name());
            findings.push(Finding::at(cf.word0.addr + 2 * i, message));
        }
    }
    findings
}

/// Data share operations are in TEX clauses.
pub(super) fn data_share_clause(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_fetch()
        .filter(|(_, cf, inst)| cf.word1.op != CfOp::Tex && Family::of(&inst.fetch) == Family::DataShare)
        .map(|(pc, cf, inst)| {
            let message = format!(
                "{} in a {} clause; data share operations stand in TEX clauses",
                inst.fetch.name(),
                cf.word1.op.name()
            );
            Finding::at(pc, message)
        })
        .collect()
}

/// ALU clauses and fetches lie in front of data share operations, these in front of memory reads. Said once. The section has ALU clauses in front of
/// fetches as well; no driver keeps to that, so nothing is said of it.
pub(super) fn clause_order(facts: &Facts<'_>) -> Vec<Finding> {
    const NAMES: [&str; 4] = ["the ALU", "the fetch", "the data share", "the memory read"];
    const MIXED: usize = 1;
    let rank = |body: &ClauseBody| match body {
        ClauseBody::Alu(_) => Some(0usize),
        ClauseBody::Fetch(clause) => {
            let first = clause.fetches.iter().find_map(|entry| entry.inst.as_ref().ok())?;
            Some(match &first.fetch {
                Fetch::Vtx(_) | Fetch::Tex(_) => MIXED,
                Fetch::MemDsw(_) | Fetch::MemDsr(_) => 2,
                Fetch::MemRd(_) => 3,
            })
        }
        ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => None,
    };
    let mut clauses: Vec<(u32, usize, u32)> =
        facts.each_cf().filter_map(|(entry, cf)| Some((cf.clause()?.0, rank(&entry.clause)?, entry.addr))).collect();
    clauses.sort_unstable();
    let disorder = clauses.windows(2).find(|pair| pair[0].1 > pair[1].1.max(MIXED));
    let finding = disorder.map(|pair| {
        let message = format!(
            "{} clause at slot {} lies behind {} clause at slot {}",
            NAMES[pair[1].1], pair[1].0, NAMES[pair[0].1], pair[0].0
        );
        Finding::at(pair[1].2, message)
    });
    finding.into_iter().collect()
}
