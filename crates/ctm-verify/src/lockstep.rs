//! Comparison of two engines, for both instruction sets: by the reference interpreter's writes to memory, in order, with memory's answers.

use super::shadow::Shadows;
use super::target::{OutputTarget, differing};
use super::{Compared, Difference, Ended, timed_out};
use ctm_exec::Position;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Space, VertexEvent, Written};
use std::array::from_fn;
use std::sync::{Mutex, PoisonError};

/// Something that a program sends to memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent<T> {
    /// The targets that a processor wrote: their elements, and which of them it wrote (bit 0 is the first). The others are 0.
    Outputs(Position, Vec<(T, [u32; 4], u8)>),
    Uncached {
        x: u32,
        y: u32,
        bits: u32,
    },
    Store(Space, u64, u32),
    Event(Position, VertexEvent),
}

/// A write, and memory's answer.
pub type CheckedWrite<T> = (Sent<T>, Result<Written, MemoryFault>);

impl<T: OutputTarget> Sent<T> {
    /// The outputs of a processor.
    pub fn outputs(at: Position, targets: impl Iterator<Item = (T, [u32; 4], u8)>) -> Self {
        let only = |(target, values, written): (T, [u32; 4], u8)| {
            (target, from_fn(|e| if written >> e & 1 == 1 { values[e] } else { 0 }), written)
        };
        Self::Outputs(at, targets.map(only).collect())
    }

    const fn position(&self) -> Option<Position> {
        match self {
            Self::Outputs(at, _) | Self::Event(at, _) => Some(*at),
            Self::Uncached { .. } | Self::Store(..) => None,
        }
    }

    fn described(&self) -> String {
        match self {
            Self::Outputs(at, _) => format!("the outputs of ({}, {})", at.i, at.j),
            Self::Uncached { x, y, bits } => format!("0x{bits:08x} uncached to element ({x}, {y})"),
            Self::Store(space, dword, bits) => format!("0x{bits:08x} to dword {dword} of the {} memory", space.name()),
            Self::Event(at, event) => format!("{event:?} of ({}, {})", at.i, at.j),
        }
    }

    /// Describes the difference from the expected write.
    fn different(&self, expected: &Self) -> String {
        if let (Self::Outputs(at, found), Self::Outputs(expected_at, expected)) = (self, expected)
            && at == expected_at
        {
            let element = |all: &[(T, [u32; 4], u8)], target: T, e: usize| {
                let (_, values, written) = all.iter().find(|(other, ..)| *other == target)?;
                (written >> e & 1 == 1).then_some(values[e])
            };
            let pair = |target, e| [element(found, target, e), element(expected, target, e)];
            let elements = found.iter().chain(expected).flat_map(|&(target, ..)| (0..4).map(move |e| (target, e)));
            let mut pairs = elements.map(|(target, e)| (target, e, pair(target, e)));
            if let Some((target, e, pair)) = pairs.find(|(.., [found, expected])| found != expected) {
                return differing(target, e, pair);
            }
        }
        format!("the engine sent {}, the reference {}", self.described(), expected.described())
    }
}

/// The first difference of the runs without and with counters from the reference interpreter's results with them; and the latter
/// when counters are `asked` for.
pub fn both(expected: &Ended, asked: bool, mut replay: impl FnMut(bool, &Ended) -> Option<Difference>) -> Compared {
    let counted = |counters| expected.clone().map(|outcome| outcome.counted(counters));
    let mut runs = [false, true].into_iter().filter(|_| !timed_out(expected));
    (counted(asked), runs.find_map(|counters| replay(counters, &counted(counters))))
}

/// Replays memory's answers to the reference interpreter's writes, as long as the other engine sends the same.
pub struct Answers<'a, T> {
    log: &'a [CheckedWrite<T>],
    /// How many of these were sent again.
    pub seen: usize,
    /// Copies of mapped arrays, with their initial contents.
    pub shadows: Shadows<T>,
    /// The engine has them, and may store outputs by itself.
    pub lent: bool,
    difference: Mutex<Option<Difference>>,
}

impl<'a, T: OutputTarget> Answers<'a, T> {
    pub fn new(log: &'a [CheckedWrite<T>], shadows: Shadows<T>) -> Self {
        Self { log, seen: 0, shadows, lent: false, difference: Mutex::default() }
    }

    /// Remembers a difference; stops the engine.
    pub fn stop(&self, position: Option<Position>, message: String) -> MemoryFault {
        let mut difference = self.difference.lock().unwrap_or_else(PoisonError::into_inner);
        difference.get_or_insert(Difference { pc: None, position, message });
        MemoryFault { what: "memory".into(), address: None, reason: "the engines disagree".into() }
    }

    /// The answer to the next write.
    pub fn next(&mut self, sent: &Sent<T>) -> Result<Written, MemoryFault> {
        let rest = self.log.get(self.seen..).unwrap_or_default();
        // Outputs that the engine stored by itself were not sent.
        let stored = |(other, _): &&CheckedWrite<T>| {
            self.lent && matches!(other, Sent::Outputs(..)) && other.position() != sent.position()
        };
        let skipped = rest.iter().take_while(stored).count();
        let expected = rest.get(skipped);
        let message = match expected {
            Some((same, answer)) if same == sent => {
                // Refused writes may be repeated by the reference interpreter in the engine's place.
                self.seen += skipped + usize::from(answer.is_ok());
                if let (Ok(_), Sent::Outputs(at, targets)) = (answer, sent) {
                    self.shadows.store(*at, targets);
                }
                return answer.clone();
            }
            Some((expected, _)) => sent.different(expected),
            None => format!("the engine sent {}, the reference nothing more", sent.described()),
        };
        let position = sent.position().or_else(|| expected.and_then(|(expected, _)| expected.position()));
        Err(self.stop(position, message))
    }

    /// The first difference, after a run that gave `found`; `left`: the reference interpreter's contents of the arrays of which the engine had
    /// copies, if that is to be compared.
    pub fn difference(
        self,
        found: &Ended,
        expected: &Ended,
        left: impl FnOnce() -> Option<Shadows<T>>,
    ) -> Option<Difference> {
        let difference = self.difference.into_inner().unwrap_or_else(PoisonError::into_inner);
        if difference.is_some() || timed_out(found) {
            return difference;
        }
        if found != expected {
            let fault = found.as_ref().err().or(expected.as_ref().err());
            let message = format!("the engine gave {found:?}, the reference {expected:?}");
            let position = fault.and_then(|fault| fault.position);
            return Some(Difference { pc: fault.map(|fault| fault.pc), position, message });
        }
        let is_missing =
            |(sent, answer): &&CheckedWrite<T>| answer.is_ok() && !(self.lent && matches!(sent, Sent::Outputs(..)));
        if let Some((missing, _)) = self.log.get(self.seen..).unwrap_or_default().iter().find(is_missing) {
            let message = format!("the engine did not send {}, the reference did", missing.described());
            return Some(Difference { pc: None, position: missing.position(), message });
        }
        if self.lent { self.shadows.difference(&left()?) } else { None }
    }
}
