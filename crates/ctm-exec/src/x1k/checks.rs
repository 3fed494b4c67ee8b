//! Findings of a checked run: things that the machine lets pass and that are almost surely mistakes.

use super::uncached_index;
use crate::checks::{LIMIT, RunRule, rules};
use crate::domain::Position;
use crate::outcome::Finding;
use std::collections::{HashMap, HashSet};

rules! {
    /// An instruction reads a temporary that the processor has never written.
    UNINITIALISED_TEMPORARY "uninitialised-temporary" "CTM §3.3.1";
    /// A predicate bit masks a write or takes part in a jump before it was ever set.
    UNINITIALISED_PREDICATE "uninitialised-predicate" "CTM §3.3.9";
    /// A jump depends on the ALU result although none was produced since the last flow-control instruction.
    UNDEFINED_ALU_RESULT "undefined-alu-result" "CTM §3.3.10";
    /// A relative address uses aL outside any LOOP.
    LOOP_VARIABLE_OUTSIDE_LOOP "loop-variable-outside-loop" "CTM §3.5.2";
    /// A lookup's coordinates lie outside an input that clamps.
    FETCH_OUT_OF_BOUNDS "fetch-out-of-bounds" "CTM §2.1.4";
    /// A lookup names an input to which nothing is bound; it reads 0.
    UNBOUND_INPUT "unbound-input" "CTM §2.1.4";
    /// The alpha channel of an uncached write is not zero.
    UMRT_ALPHA "umrt-alpha" "CTM §3.3.8";
    /// An uncached write has some channels of its output mask set and not all; it writes nothing.
    UMRT_PARTIAL_MASK "umrt-partial-mask" "CTM §3.3.8";
    /// The index of an uncached write is no whole number; its fraction is cut off.
    UMRT_INDEX "umrt-index" "CTM §3.3.8";
    /// Two processors of a launch write the same element uncached; with a shared index, other bits. Which comes last is not defined.
    RACING_WRITES "racing-writes" "CTM §3.3.8";
    /// A lookup through the cache reads an element that the launch has written uncached; LOOKUP_UNCACHED is needed.
    CACHED_READ "cached-read" "CTM §3.4.1";
    /// A processor whose conditional test, made at location DPP, failed had written uncached before; its writes stay.
    UMRT_CONDITIONAL "umrt-conditional" "CTM §2.1.3";
    /// The conditional value is written although the program information does not announce it (FG_DEPTH_SRC); the write is lost.
    CONDITIONAL_VALUE_NOT_EXPORTED "conditional-value-not-exported" "CTM §4.1.4";
    /// A BREAKLOOP, ENDLOOP and so on meets a frame of the other kind.
    LOOP_KIND "loop-kind" "CTM §3.5.3";
}

/// The uncached writes of a checked launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Scattered {
    /// The last writer of an element, and the value.
    written: HashMap<(u32, u32), (Position, u32)>,
    /// Who has written.
    writers: HashSet<Position>,
}

impl Scattered {
    /// Logs a write; returns another processor that wrote the element before, and its value.
    pub fn write(&mut self, element: (u32, u32), at: Position, bits: u32) -> Option<(Position, u32)> {
        self.writers.insert(at);
        self.written.insert(element, (at, bits)).filter(|(before, _)| *before != at)
    }

    pub fn has_written(&self, at: Position) -> bool {
        self.writers.contains(&at)
    }
}

/// The findings of a run, in the order in which they were made, each rule once per instruction.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    /// Notes a finding, unless the rule has already been noted for this instruction.
    pub fn note(&mut self, rule: RunRule, pc: u32, position: Option<Position>, message: impl FnOnce() -> String) {
        if !self.has(rule.name, pc) && self.found.len() < LIMIT {
            self.found.push(Finding { rule: rule.name, pc, position, message: message() });
        }
    }

    /// Findings on an uncached write of `bits` to element (x, y), the bits of two numbers.
    pub(super) fn note_scattered(
        &mut self,
        scattered: &mut Scattered,
        pc: u32,
        at: Position,
        ([x, y], bits): ([u32; 2], u32),
        shared_index: bool,
    ) {
        let [fx, fy] = [x, y].map(f32::from_bits);
        if fx.is_finite() && fy.is_finite() && (fx.fract() != 0.0 || fy.fract() != 0.0) {
            self.note(UMRT_INDEX, pc, Some(at), || format!("the index ({fx}, {fy}) is no pair of whole numbers"));
        }
        let (Some(i), Some(j)) = (uncached_index(x), uncached_index(y)) else { return };
        if let Some((before, other)) = scattered.write((i, j), at, bits)
            && (!shared_index || other != bits)
        {
            self.note(RACING_WRITES, pc, Some(at), || {
                format!("element ({i}, {j}) is written by processor ({}, {}) as well", before.i, before.j)
            });
        }
    }

    /// Adds the findings of a group that comes later in domain order.
    pub fn add(&mut self, later: Self) {
        for finding in later.found {
            if !self.has(finding.rule, finding.pc) && self.found.len() < LIMIT {
                self.found.push(finding);
            }
        }
    }

    /// The findings.
    #[must_use]
    pub fn into_vec(self) -> Vec<Finding> {
        self.found
    }

    fn has(&self, rule: &str, pc: u32) -> bool {
        self.found.iter().any(|f| f.pc == pc && f.rule == rule)
    }
}
