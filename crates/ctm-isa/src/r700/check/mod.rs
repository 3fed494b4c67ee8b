//! The rules on R700 programs: code that the manual forbids, warns of, or leaves undefined.
//!
//! [`check`] applies every rule of the table to a program. A rule is one function, named as the rule is, in the file of its
//! theme; its row in the table says how serious it is and where the manual says so. `docs/r700-checks.md` is printed from the
//! table.
//!
//! | file | content |
//! |---|---|
//! | `words` | rules on single words: undecodable, of other chips, reserved, without effect |
//! | `clauses` | rules on addresses and contents of clauses |
//! | `groups` | rules on the instructions of one group: units, read ports, constants, reductions, 64 bits |
//! | `registers` | rules on registers, constants and indices |
//! | `results` | rules on results used by the next group: PV, PS, AR, predicates, adjacent dependencies |
//! | `flow` | rules on jumps, loops, calls and the stack |
//! | `exports` | rules on exports, memory writes and operations of some kinds of program only |
//! | `live` | the readers of each written value: for tools, not for rules |
//! | `graph` | shared analyses: paths, and the stack on them |
//! | `other_chips` | opcodes of Evergreen that R700 lacks or has under another number (table) |
//!
//! **Invariants.** No words make the checker panic or run on: the search for paths is bounded (`graph`), and clauses that
//! several instructions name are tested once. An error is only reported if it holds for all values of constants.

mod clauses;
mod exports;
mod flow;
mod graph;
mod groups;
mod live;
mod other_chips;
mod registers;
mod results;
mod rules;
mod words;

use super::inst::{
    AluClause, Cf, CfAlu, CfEntry, CfPlain, ClauseBody, Decoded, FetchClause, FetchEntry, FetchInst, Group,
    R600Finding, decode_program, looks_like_r600,
};
use super::ops::CfOp;
use super::program::{Program, Stage};
use crate::diag::Diagnostic;
use crate::rules::{Finding, apply};
use graph::Graph;
use std::collections::HashSet;

pub use live::{live, unused_at_start};
pub(in crate::r700) use results::reads_adjacent_index;
use rules::ROWS;

/// The theme of a rule; the chapters of `docs/r700-checks.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theme {
    /// Single words.
    Words,
    /// Addresses and contents of clauses.
    Clauses,
    /// The instructions of one group.
    Groups,
    /// Registers, constants and indices.
    Registers,
    /// Results used by the next group.
    Results,
    /// Jumps, loops, calls and the stack.
    Flow,
    /// Exports, memory writes, kinds of program.
    Exports,
}

impl Theme {
    /// Every theme, in the order of the table.
    pub const ALL: &'static [Self] =
        &[Self::Words, Self::Clauses, Self::Groups, Self::Registers, Self::Results, Self::Flow, Self::Exports];

    /// A heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Words => "Single words",
            Self::Clauses => "Clauses: addresses and contents",
            Self::Groups => "The instructions of one group",
            Self::Registers => "Registers, constants and indices",
            Self::Results => "From one group to the next",
            Self::Flow => "Jumps, loops, calls and the stack",
            Self::Exports => "Exports, memory writes, kinds of program",
        }
    }
}

/// One rule on programs.
pub type Rule = crate::rules::ProgramRule<Theme>;

/// Every rule, by theme.
pub fn rules() -> impl ExactSizeIterator<Item = &'static Rule> + Clone {
    ROWS.iter().map(|row| &row.rule)
}

/// The rule with this name.
#[must_use]
pub fn rule(name: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.name == name)
}

/// Applies every rule; findings about the whole program first, then by slot.
///
/// The `pc` of a finding is the 64-bit slot of the control-flow, ALU or fetch instruction it is about. Rules on kinds of
/// program are silent where [`Program::stage`] is not known.
///
/// ```
/// use ctm_isa::r700::{Program, check::check};
/// // EXPORT_DONE of pixel 0 from R0.xyzw that ends the program.
/// assert!(check(&Program::from_words(vec![0xc000_0000, 0x9420_0688])).is_empty());
/// // The same with bits 16:12 set, which are reserved (R700 §10.1).
/// let findings = check(&Program::from_words(vec![0xc000_0000, 0x9421_f688]));
/// assert_eq!((findings[0].rule, findings[0].pc), ("reserved-bits", Some(0)));
/// ```
#[must_use]
pub fn check(program: &Program) -> Vec<Diagnostic> {
    check_allowing(program, &[])
}

/// As [`check`], without the rules named in `allowed`. Names that no rule has are ignored; see [`rule`].
#[must_use]
pub fn check_allowing(program: &Program, allowed: &[&str]) -> Vec<Diagnostic> {
    let facts = Facts::new(program);
    apply(ROWS, allowed, &program.spans, |rule| rule(&facts))
}

/// Stack entries that the program at `entry` needs on a chip (R700 §3.6.5), along its paths.
pub(in crate::r700) fn stack_entries(words: &[u32], entry: u32, chip: super::program::Chip) -> u32 {
    let decoded = decode_program(words, entry);
    Graph::new(&decoded, entry).stack_entries(&decoded, chip)
}

/// A program and everything that rules ask about it.
struct Facts<'a> {
    program: &'a Program,
    decoded: Decoded,
    graph: Graph,
    r600: Option<R600Finding>,
    /// Entries whose clause no entry before them names.
    first_naming: Vec<usize>,
    /// Entries whose clause no entry before them names with the same locked constants.
    first_locking: Vec<usize>,
}

/// A group in its place.
#[derive(Clone, Copy)]
struct GroupContext<'a> {
    /// The slot of the group's first instruction.
    pc: u32,
    group: &'a Group,
    /// The group before it in the clause.
    before: Option<&'a Group>,
    /// Whether it is the last of the clause.
    last: bool,
}

impl GroupContext<'_> {
    /// The slot of one of its instructions.
    fn slot(&self, index: usize) -> u32 {
        self.pc + u32::try_from(index).unwrap_or(0)
    }
}

impl<'a> Facts<'a> {
    fn new(program: &'a Program) -> Self {
        let decoded = decode_program(&program.words, program.entry);
        let graph = Graph::new(&decoded, program.entry);
        let (mut named, mut locked) = (HashSet::new(), HashSet::new());
        let (mut first_naming, mut first_locking) = (Vec::new(), Vec::new());
        for (i, entry) in decoded.entries.iter().enumerate() {
            let Ok(cf) = &entry.cf else { continue };
            let Some(range) = cf.clause() else { continue };
            let locks = if let Cf::Alu(alu) = cf { Some(alu.kcache()) } else { None };
            let texture = matches!(cf, Cf::Plain(p) if p.word1.op == CfOp::Tex);
            if named.insert((range, locks.is_some(), texture)) {
                first_naming.push(i);
            }
            if locked.insert((range, locks)) {
                first_locking.push(i);
            }
        }
        let r600 = looks_like_r600(&program.words, program.entry);
        Self { program, decoded, graph, r600, first_naming, first_locking }
    }

    fn stage(&self) -> Option<Stage> {
        self.program.stage
    }

    /// Every decodable control-flow instruction.
    fn each_cf(&self) -> impl Iterator<Item = (&CfEntry, &Cf)> {
        self.decoded.entries.iter().filter_map(|entry| entry.cf.as_ref().ok().map(|cf| (entry, cf)))
    }

    fn each_plain(&self) -> impl Iterator<Item = (u32, &CfPlain)> {
        self.each_cf().filter_map(|(entry, cf)| match cf {
            Cf::Plain(plain) => Some((entry.addr, plain)),
            Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_) => None,
        })
    }

    /// Every ALU clause, with the first instruction that names it.
    fn each_alu_clause(&self) -> impl Iterator<Item = (&CfAlu, &AluClause)> {
        self.alu_clauses(&self.first_naming)
    }

    /// Every ALU clause, once for each choice of locked constants.
    fn each_locked_clause(&self) -> impl Iterator<Item = (&CfAlu, &AluClause)> {
        self.alu_clauses(&self.first_locking)
    }

    fn alu_clauses<'s>(&'s self, entries: &'s [usize]) -> impl Iterator<Item = (&'s CfAlu, &'s AluClause)> {
        // Findings on an R600 program read as R700 code would mean nothing.
        let entries = if self.r600.is_some() { &[] } else { entries };
        entries.iter().filter_map(|&i| match (&self.decoded.entries[i].cf, &self.decoded.entries[i].clause) {
            (Ok(Cf::Alu(alu)), ClauseBody::Alu(clause)) => Some((alu, &**clause)),
            (
                _,
                ClauseBody::None | ClauseBody::Alu(_) | ClauseBody::Fetch(_) | ClauseBody::Outside | ClauseBody::Unread,
            ) => None,
        })
    }

    /// Every group of every ALU clause.
    fn each_group(&self) -> impl Iterator<Item = GroupContext<'_>> {
        self.each_alu_clause().flat_map(|(cf, clause)| places(cf, clause))
    }

    /// Every fetch clause.
    fn each_fetch_clause(&self) -> impl Iterator<Item = (&CfPlain, &FetchClause)> {
        self.first_naming.iter().filter_map(|&i| match (&self.decoded.entries[i].cf, &self.decoded.entries[i].clause) {
            (Ok(Cf::Plain(plain)), ClauseBody::Fetch(clause)) => Some((plain, &**clause)),
            (
                _,
                ClauseBody::None | ClauseBody::Alu(_) | ClauseBody::Fetch(_) | ClauseBody::Outside | ClauseBody::Unread,
            ) => None,
        })
    }

    /// Every place of every fetch clause: its first slot and its words.
    fn each_fetch_entry(&self) -> impl Iterator<Item = (u32, &CfPlain, &FetchEntry)> {
        self.each_fetch_clause().flat_map(|(cf, clause)| {
            (0u32..).zip(&clause.fetches).map(move |(i, entry)| (cf.word0.addr + 2 * i, cf, entry))
        })
    }

    /// Every decodable fetch.
    fn each_fetch(&self) -> impl Iterator<Item = (u32, &CfPlain, &FetchInst)> {
        self.each_fetch_entry().filter_map(|(pc, cf, entry)| entry.inst.as_ref().ok().map(|inst| (pc, cf, inst)))
    }
}

/// The groups of one clause.
fn places<'a>(cf: &'a CfAlu, clause: &'a AluClause) -> impl Iterator<Item = GroupContext<'a>> {
    let groups = &clause.groups;
    groups.iter().enumerate().map(move |(i, group)| GroupContext {
        pc: cf.word0.addr + group.offset,
        group,
        before: i.checked_sub(1).map(|i| &groups[i]),
        last: i + 1 == groups.len() && clause.broken.is_none(),
    })
}
