//! The rules on X1K programs: code that the CTM Guide forbids, warns of, or leaves undefined.
//!
//! [`check`] applies every rule of the table to a program. A rule is one function, named as the rule is, in the file of its
//! theme; its row in the table says how serious it is and where the manual says so. `docs/x1k-checks.md` is printed from the
//! table.
//!
//! | file | content |
//! |---|---|
//! | `words` | rules on single words: undecodable, reserved, without effect |
//! | `pairing` | rules on the two halves of one ALU instruction |
//! | `hazards` | rules on waits |
//! | `flow` | rules on jumps, stacks and branch counters |
//! | `outputs` | rules on outputs, uncached writes and the end of the program |
//! | `ranges` | rules on indices |
//! | `dataflow` | rules on unwritten and unread values |
//! | `live` | the readers of each written value: for tools, not for rules |
//! | `graph`, `state` | shared analyses, besides `access`: paths, outstanding hazards on them |
//!
//! **Invariants.** No words make the checker panic or run on: the search for paths is bounded (`graph`). An error is only
//! reported if it holds for all values of constants.

mod dataflow;
mod flow;
mod graph;
pub(crate) mod hazards;
mod live;
mod outputs;
mod pairing;
mod ranges;
mod rules;
mod state;
mod words;

use super::inst::{AluInst, FcInstruction, Inst, TexInstruction, Words};
use super::program::Program;
use crate::diag::Diagnostic;
use crate::rules::{Finding, apply};
use crate::table::FieldError;
use crate::x1k::access::{self, TemporaryAccess};
use graph::{Graph, Node};
use state::State;

pub use live::live;
use rules::ROWS;

/// The theme of a rule; the chapters of `docs/x1k-checks.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Theme {
    /// Single words.
    Words,
    /// The halves of an ALU instruction.
    Pairing,
    /// Waits.
    Hazards,
    /// Jumps, stacks and branch counters.
    Flow,
    /// Outputs, uncached writes and the end of the program.
    Outputs,
    /// Indices.
    Ranges,
    /// Unwritten and unread values.
    Dataflow,
}

impl Theme {
    /// Every theme, in the order of the table.
    pub const ALL: &'static [Self] =
        &[Self::Words, Self::Pairing, Self::Hazards, Self::Flow, Self::Outputs, Self::Ranges, Self::Dataflow];

    /// A heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Words => "Single words",
            Self::Pairing => "The halves of an ALU instruction",
            Self::Hazards => "Waits",
            Self::Flow => "Jumps, stacks and branch counters",
            Self::Outputs => "Outputs, uncached writes and the end of the program",
            Self::Ranges => "Indices",
            Self::Dataflow => "Unwritten and unread values",
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
/// use ctm_isa::x1k::{Program, check::check};
/// // An empty OUTPUT that waits for the texture semaphore is the shortest program without findings.
/// assert!(check(&Program::from_words(vec![[0x0000_0005, 0, 0, 0, 0, 0]])).is_empty());
/// // Without TEX_SEM_WAIT the Guide objects (CTM §3.4.2).
/// let findings = check(&Program::from_words(vec![[0x0000_0001, 0, 0, 0, 0, 0]]));
/// assert_eq!(findings[0].rule, "last-without-wait");
/// assert_eq!(findings[0].pc, Some(0));
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

/// A program and everything that rules ask about it.
struct Facts<'a> {
    program: &'a Program,
    insts: Vec<Option<Inst>>,
    errors: Vec<(u16, FieldError)>,
    reads: Vec<Vec<TemporaryAccess>>,
    writes: Vec<Vec<TemporaryAccess>>,
    graph: Graph,
    states: Vec<State>,
}

impl<'a> Facts<'a> {
    fn new(program: &'a Program) -> Self {
        let mut errors = Vec::new();
        let insts: Vec<Option<Inst>> = (0u16..)
            .zip(&program.words)
            .map(|(pc, words)| Inst::decode(words).map_err(|error| errors.push((pc, error))).ok())
            .collect();
        let list = |accesses: fn(&Inst) -> Vec<TemporaryAccess>| -> Vec<Vec<TemporaryAccess>> {
            insts.iter().map(|inst| inst.as_ref().map(accesses).unwrap_or_default()).collect()
        };
        let (reads, writes) = (list(access::reads), list(access::writes));
        let graph = Graph::new(program, &insts);
        let states = state::solve(program, &insts, &reads, &writes, &graph);
        Self { program, insts, errors, reads, writes, graph, states }
    }

    /// Every decodable instruction with its place and its words.
    fn each(&self) -> impl Iterator<Item = (u16, &Inst, &Words)> {
        (0u16..)
            .zip(self.insts.iter().zip(&self.program.words))
            .filter_map(|(pc, (inst, words))| inst.as_ref().map(|inst| (pc, inst, words)))
    }

    fn each_alu(&self) -> impl Iterator<Item = (u16, &AluInst)> {
        self.each().filter_map(|(pc, inst, _)| match inst {
            Inst::Alu(alu) => Some((pc, alu)),
            Inst::Tex(_) | Inst::Fc(_) => None,
        })
    }

    fn each_tex(&self) -> impl Iterator<Item = (u16, &TexInstruction)> {
        self.each().filter_map(|(pc, inst, _)| match inst {
            Inst::Tex(tex) => Some((pc, tex)),
            Inst::Alu(_) | Inst::Fc(_) => None,
        })
    }

    fn each_fc(&self) -> impl Iterator<Item = (u16, &FcInstruction)> {
        self.each().filter_map(|(pc, inst, _)| match inst {
            Inst::Fc(fc) => Some((pc, fc)),
            Inst::Alu(_) | Inst::Tex(_) => None,
        })
    }

    /// Every reachable instruction, once for each calling context, with the hazards that may be outstanding on entry.
    fn each_reached(&self) -> impl Iterator<Item = (&Node, &State, &Inst)> {
        self.graph
            .nodes
            .iter()
            .zip(&self.states)
            .filter_map(|(node, state)| self.insts[usize::from(node.pc)].as_ref().map(|inst| (node, state, inst)))
    }

    /// As [`Self::each_reached`], after the waits that the instruction itself does.
    fn each_after_waits(&self) -> impl Iterator<Item = (&Node, State, &Inst)> {
        self.each_reached().map(|(node, state, inst)| {
            let mut state = state.clone();
            state.wait(inst);
            (node, state, inst)
        })
    }
}
