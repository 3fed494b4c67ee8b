//! The rules on vertex programs: code that the register text forbids, or that is very likely unintended.
//!
//! [`check`] applies every rule of the table to a program. A rule is one function, named as the rule is, in the file of its
//! theme; its row in the table says how serious it is and where it comes from. `docs/pvs-checks.md` is printed from the table.
//!
//! | file | content |
//! |---|---|
//! | `words` | rules on single words: undecodable, reserved, without effect |
//! | `operands` | rules on the operands of one instruction |
//! | `ranges` | rules on indices |
//! | `flow` | rules on flow-control slots and paths |
//! | `dataflow` | rules on unwritten values |
//! | `graph` | shared analysis: paths, and the registers that may have been written on them |
//! | `live` | the readers of each written value: for tools, not for rules |
//!
//! **Invariants.** No words make the checker panic or run on: the search for paths is bounded (`graph`).

mod dataflow;
mod flow;
mod graph;
mod live;
mod operands;
mod ranges;
mod rules;
mod words;

use super::inst::{Inst, Words};
use super::program::VertexProgram;
use crate::diag::Diagnostic;
use crate::rules::{Finding, apply};
use crate::table::FieldError;
use graph::Graph;
pub use live::live;
use rules::ROWS;

/// The theme of a rule; the chapters of `docs/pvs-checks.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theme {
    /// Single words.
    Words,
    /// The operands of one instruction.
    Operands,
    /// Indices.
    Ranges,
    /// Flow-control slots and paths.
    Flow,
    /// Unwritten values.
    Dataflow,
}

impl Theme {
    /// Every theme, in the order of the table.
    pub const ALL: &'static [Self] = &[Self::Words, Self::Operands, Self::Ranges, Self::Flow, Self::Dataflow];

    /// A heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Words => "Single words",
            Self::Operands => "The operands of one instruction",
            Self::Ranges => "Indices",
            Self::Flow => "Flow-control slots and paths",
            Self::Dataflow => "Unwritten values",
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

/// Applies every rule; findings about the whole program first, then by instruction.
///
/// ```
/// use ctm_isa::pvs::{check::check, text::assemble};
/// let findings = |text| check(&assemble(text).program.expect("it assembles"));
/// assert!(findings("mov o0, v0").is_empty());
/// // One instruction reads one constant (pvs-encoding §7).
/// assert_eq!(findings("add o0, c0, c1")[0].rule, "constant-port");
/// ```
#[must_use]
pub fn check(program: &VertexProgram) -> Vec<Diagnostic> {
    check_allowing(program, &[])
}

/// As [`check`], without the rules named in `allowed`. Names that no rule has are ignored; see [`rule`].
#[must_use]
pub fn check_allowing(program: &VertexProgram, allowed: &[&str]) -> Vec<Diagnostic> {
    let facts = SlotFacts::new(program);
    apply(ROWS, allowed, &program.spans, |rule| rule(&facts))
}

/// A program and everything that rules ask about it.
struct SlotFacts<'a> {
    program: &'a VertexProgram,
    insts: Vec<Option<Inst>>,
    errors: Vec<(u32, FieldError)>,
    graph: Graph,
}

impl<'a> SlotFacts<'a> {
    fn new(program: &'a VertexProgram) -> Self {
        let mut errors = Vec::new();
        let insts: Vec<Option<Inst>> = (0u32..)
            .zip(&program.words)
            .map(|(pc, words)| Inst::decode(words).map_err(|error| errors.push((pc, error))).ok())
            .collect();
        let graph = Graph::new(program, &insts);
        Self { program, insts, errors, graph }
    }

    /// Every decodable instruction with its place and its words.
    fn each(&self) -> impl Iterator<Item = (u32, &Inst, &Words)> {
        (0u32..)
            .zip(self.insts.iter().zip(&self.program.words))
            .filter_map(|(pc, (inst, words))| inst.as_ref().map(|inst| (pc, inst, words)))
    }

    /// The instruction at `pc`, if it can be decoded.
    fn inst(&self, pc: u16) -> Option<&Inst> {
        self.insts.get(usize::from(pc)).and_then(Option::as_ref)
    }
}
