//! Where a block's instructions are cut into segments, which can be run part by part.
//!
//! What changes or reads masks stands before the segment that it was found in, unless that uses the same masks.

use super::super::{Indexed, Ins};
use crate::ir::r700::M;

/// Masks that one segment can make.
pub const MOST_MASKS: usize = 3;

/// What follows what.
#[derive(Debug)]
pub enum Step<'a> {
    /// A segment.
    Segment(Vec<&'a Ins>),
    /// Something that concerns the wavefront as a whole.
    Whole(&'a Ins),
}

/// The masks that a segment looks at, and those it makes.
#[derive(Default)]
struct Masks {
    reads: Vec<M>,
    makes: Vec<M>,
}

/// The mask that an instruction of a segment reads.
fn read_by(ins: &Ins) -> Option<M> {
    match *ins {
        Ins::Set(_, _, under) | Ins::SetRelative(.., under) | Ins::Keep(.., under) if under != M::EXISTING => {
            Some(under)
        }
        Ins::Number(_, m) => Some(m),
        _ => None,
    }
}

/// Whether it writes to the local data share: a segment by itself.
const fn writes_share(ins: &Ins) -> bool {
    matches!(ins, Ins::SetRelative(Indexed::Share, ..))
}

/// Cuts a list.
pub fn steps(list: &[Ins]) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    let mut segment = Vec::new();
    let mut masks = Masks::default();
    let flush = |steps: &mut Vec<_>, segment: &mut Vec<_>, masks: &mut Masks| {
        if !segment.is_empty() {
            steps.push(Step::Segment(std::mem::take(segment)));
        }
        *masks = Masks::default();
    };
    for ins in list {
        let meets = match *ins {
            // All parts see what all parts have written before, and write it in order.
            Ins::SetRelative(Indexed::Share, ..) => true,
            // All vectors may be needed.
            Ins::Call(..) | Ins::Yield(_) | Ins::Sample(..) | Ins::Also(_) => true,
            Ins::Mark(_, m) => masks.makes.contains(&m),
            Ins::Tally(..) => masks.makes.contains(&M::ACTIVE),
            Ins::Mask(op) => {
                masks.reads.contains(&op.writes())
                    || masks.makes.contains(&op.writes())
                    || op.reads().into_iter().flatten().any(|m| masks.makes.contains(&m))
            }
            Ins::BeginLanes => masks.makes.len() == MOST_MASKS,
            Ins::EndLanes(m) => {
                masks.makes.push(m);
                false
            }
            Ins::Lir(_)
            | Ins::Split
            | Ins::ZeroRule(..)
            | Ins::Set(..)
            | Ins::SetTwo(..)
            | Ins::EndKeep
            | Ins::GetRelative(..)
            | Ins::SetRelative(..)
            | Ins::Keep(..)
            | Ins::Number(..)
            | Ins::Slope(..) => read_by(ins).is_some_and(|m| masks.makes.contains(&m)),
        };
        if meets {
            flush(&mut steps, &mut segment, &mut masks);
        }
        match ins {
            Ins::Call(..)
            | Ins::Yield(_)
            | Ins::Sample(..)
            | Ins::Also(_)
            | Ins::Mark(..)
            | Ins::Mask(_)
            | Ins::Tally(..) => {
                steps.push(Step::Whole(ins));
            }
            Ins::Split if segment.is_empty() => {}
            ins if writes_share(ins) => {
                segment.push(ins);
                flush(&mut steps, &mut segment, &mut masks);
            }
            ins => {
                masks.reads.extend(read_by(ins));
                segment.push(ins);
            }
        }
    }
    flush(&mut steps, &mut segment, &mut masks);
    steps.retain(|step| !matches!(step, Step::Segment(list) if list.iter().all(|ins| matches!(ins, Ins::Split))));
    steps
}
