//! The inputs of the emitter, and decisions before it: the location of the active lanes where blocks begin, the registers of other masks.

use super::super::fused::Iterations;
use super::super::ins::Ins;
use super::super::layout::Layout;
use crate::codegen::x86::X86Target;
use crate::codegen::x86::allocate::{Locations, MOST_PIECES, Ranges};
use crate::codegen::x86::lir::{Src, Vector};
use ctm_ir::masked::{Block, Code, End, M, Var};
use ctm_x86::{Gpr, RDI, RSI};
use std::ops::Range;

/// The emitter's inputs.
pub struct Input<'a> {
    /// Its form.
    pub code: &'a Code,
    /// Its instructions.
    pub lists: &'a [Vec<Ins>],
    /// Vectors of variables.
    pub vars: &'a [Option<Vector>],
    /// The locations of vectors.
    pub locations: &'a Locations,
    /// The target.
    pub target: X86Target,
    /// The vector of the active lanes, where masks are vectors: their sign bits.
    pub active: Option<Vector>,
    /// Of each vector, whether it has a place for each part; vectors beyond the list have.
    pub wide: &'a [bool],
    /// Literals and constants that may have a place in loops.
    pub kept: &'a [(Src, Vector)],
    /// The strips of each block.
    pub runs: &'a [Vec<Range<usize>>],
    /// Blocks that end with an iteration of a loop.
    pub iterations: &'a [Option<Iterations>],
    /// The frame.
    pub layout: Layout,
    /// Registers of a vector.
    pub pieces: u8,
    /// Variables with start values, in order.
    pub start: &'a [Var],
    /// Variables that are live at the start.
    pub live_in: Vec<Var>,
    /// Exported elements, in order.
    pub exports: &'a [usize],
    /// The places of their rows at the end of the wavefront: those of variables without a register.
    pub rows: &'a [i32],
    /// Executions of blocks are counted.
    pub counts: bool,
    /// Instructions are counted down.
    pub fuel: bool,
    /// The vectors that live during each of these calls.
    pub live_during: &'a [Vec<Vector>],
    /// It calls out, or yields.
    pub leaves: bool,
    /// The parts of the whole program are unrolled.
    #[cfg(feature = "cranelift")]
    pub unrolls: bool,
}

/// The needed location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// As a general register.
    pub whole: bool,
    /// As mask registers.
    pub pieces: bool,
}

/// The needed location of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// In mask registers.
    InMasks,
    /// In a vector.
    InVector,
    /// They are made from the general register at each use.
    Nowhere,
}

impl Needs {
    const WHOLE: Self = Self { whole: true, pieces: false };
    const PIECES: Self = Self { whole: false, pieces: true };

    const fn and(self, other: Self) -> Self {
        Self { whole: self.whole || other.whole, pieces: self.pieces || other.pieces }
    }

    /// The needs of each block at its beginning.
    pub fn of(lies: Lies, code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> Vec<Self> {
        // The needs of the block's own instructions, up to the first one that moves the active lanes.
        let mut own: Vec<(Self, bool)> = lists.iter().map(|list| Self::of_list(lies, list)).collect();
        let needs = Self::settle(code, &own);
        // A jump takes them from any location; where nothing fixes one, from the general register.
        for (index, block) in code.blocks.iter().enumerate() {
            let jumps = match (iterations[index], block.end) {
                (Some(iterations), _) => iterations.lanes == M::ACTIVE,
                (None, End::Branch { mask, .. }) => mask == M::ACTIVE,
                (None, _) => false,
            };
            if jumps && !own[index].1 && needs[index] == Self::default() {
                own[index].0 = Self::WHOLE;
            }
        }
        Self::settle(code, &own)
    }

    /// The needs of blocks and their successors: a fixed point. Needs only grow from round to round, so it ends.
    fn settle(code: &Code, own: &[(Self, bool)]) -> Vec<Self> {
        let mut needs = vec![Self::default(); own.len()];
        loop {
            let mut changed = false;
            for (index, (block, &(own, is_put))) in code.blocks.iter().zip(own).enumerate().rev() {
                let need = if is_put { own } else { own.and(Self::behind(block.end, &needs)) };
                changed |= std::mem::replace(&mut needs[index], need) != need;
            }
            if !changed {
                return needs;
            }
        }
    }

    /// The needs of a block's own instructions, and whether one of them moves the active lanes.
    fn of_list(lies: Lies, list: &[Ins]) -> (Self, bool) {
        let mut own = Self::default();
        for ins in list {
            let (reads, is_put) = uses(lies, ins);
            own = own.and(reads.unwrap_or_default());
            if is_put {
                return (own, true);
            }
        }
        (own, false)
    }

    /// The needs of a block's successors.
    pub fn behind(end: End, needs: &[Self]) -> Self {
        end.successors().fold(Self::default(), |need, next| need.and(needs[next]))
    }
}

/// Adds a vector for the active lanes, if masks are vectors and it is worth one: where there are loops.
pub fn add_active(
    ranges: &mut Ranges,
    code: &Code,
    lists: &[Vec<Ins>],
    iterations: &[Option<Iterations>],
) -> Option<Vector> {
    let is_worth_it =
        |(block, list): (&Block, &Vec<Ins>)| block.loops > 0 || list.iter().any(|ins| matches!(ins, Ins::EndKeep));
    if !code.blocks.iter().zip(lists).any(is_worth_it) {
        return None;
    }
    let needs = Needs::of(Lies::InVector, code, lists, iterations);
    let mut vector = None;
    let mut end = lists.iter().map(|list| list.len() + 2).sum();
    for ((block, list), need) in code.blocks.iter().zip(lists).zip(&needs).rev() {
        let first = end - (list.len() + 2);
        let uses = list.iter().filter(|ins| uses(Lies::InVector, ins).0.is_some_and(|need| need.pieces)).count() as u64;
        if uses > 0 || need.pieces || Needs::behind(block.end, &needs).pieces {
            let vector = *vector.get_or_insert_with(|| ranges.vector());
            ranges.weigh(vector, uses << (3 * block.loops.min(8)));
            ranges.add(vector, first, end);
        }
        end = first;
    }
    vector
}

/// The location from which an instruction reads the active lanes, and whether it moves them.
fn uses(lies: Lies, ins: &Ins) -> (Option<Needs>, bool) {
    let whole = |reads: bool| reads.then_some(Needs::WHOLE);
    match *ins {
        // It is in no strip, and may be a loop over lanes.
        Ins::SetRelative { under, .. } => (whole(under == M::ACTIVE), false),
        Ins::Set { .. } | Ins::SetTwo { .. } | Ins::Keep { .. } | Ins::EndLeave(_) => {
            let needs = if lies == Lies::Nowhere { Needs::WHOLE } else { Needs::PIECES };
            ((ins.works_under() == Some(M::ACTIVE)).then_some(needs), false)
        }
        Ins::EndKeep => (Some(Needs::PIECES), true),
        Ins::Mark(_, under) => (whole(under == M::ACTIVE), false),
        Ins::Tally { under: lanes, .. } => (whole(lanes == M::ACTIVE), false),
        Ins::Mask(op) => (whole(op.reads().contains(&Some(M::ACTIVE))), op.writes() == M::ACTIVE),
        Ins::EndLanes(m) => (None, m == M::ACTIVE),
        // These change mask registers.
        Ins::Call(..) | Ins::Yield(_) => (whole(true), true),
        Ins::Lir(_)
        | Ins::Split
        | Ins::BeginRare(_)
        | Ins::EndRare
        | Ins::Guard { .. }
        | Ins::GetRelative { .. }
        | Ins::Number(..)
        | Ins::BeginLanes
        | Ins::Elements { .. }
        | Ins::Also(_) => (None, false),
    }
}

/// Registers for the masks that are used most.
const REGISTERS: [Gpr; 5] = [9, 10, RSI, RDI, 11];

/// Registers for the masks and numbers that are used most, weighted by the depth of loops. Those with uses outside of
/// the code stay in the frame.
pub(super) fn locations(input: &Input<'_>) -> Vec<Option<Gpr>> {
    let mut locations = vec![None; M::COUNT];
    if input.leaves || input.pieces > MOST_PIECES {
        return locations;
    }
    let mut uses = vec![0u64; M::COUNT];
    let shared = [M::ACTIVE, M::EXISTING, M::NONE, M::VALID];
    for ((block, list), iterations) in input.code.blocks.iter().zip(input.lists).zip(input.iterations) {
        let weight = 1 << (3 * u64::from(block.loops.min(8)));
        let mut note = |m: M| uses[m.index()] += weight;
        for ins in list {
            match *ins {
                Ins::Mask(op) => op.reads().into_iter().flatten().chain([op.writes()]).for_each(&mut note),
                Ins::Set { under: m, .. }
                | Ins::SetTwo { under: m, .. }
                | Ins::SetRelative { under: m, .. }
                | Ins::Keep { under: m, .. }
                | Ins::Guard { number: m, .. }
                | Ins::Mark(_, m)
                | Ins::EndLeave(m)
                | Ins::EndLanes(m) => note(m),
                _ => {}
            }
        }
        if let End::Branch { mask, .. } = block.end {
            note(mask);
        }
        iterations.iter().for_each(|iterations| note(iterations.left));
    }
    // Vectors are made of these.
    let numbers =
        input.lists.iter().flatten().filter_map(|ins| if let Ins::Number(_, m) = *ins { Some(m) } else { None });
    numbers.chain(shared).for_each(|m| uses[m.index()] = 0);
    for register in REGISTERS {
        let most = (0..M::COUNT).max_by_key(|&m| (uses[m], std::cmp::Reverse(m))).filter(|&m| uses[m] > 0);
        let Some(m) = most else { break };
        locations[m] = Some(register);
        uses[m] = 0;
    }
    locations
}

#[cfg(test)]
#[path = "../../../../../tests/unit/codegen/x86/masked/emit/active.rs"]
mod tests;
