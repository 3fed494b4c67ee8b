//! What is known of masks before code is made: which of them somebody still reads, and which segments may leave out parts without active
//! lanes.

use super::super::{Ins, Sample};
use super::Program;
use super::allocate::Location;
use super::segments::Step;
use crate::ir::r700::{End, M, MaskOp, Op};

/// A set of masks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct MaskSet([u64; M::COUNT.div_ceil(64)]);

impl MaskSet {
    /// Whether it has a mask.
    pub const fn contains(&self, m: M) -> bool {
        self.0[m.index() / 64] >> (m.index() % 64) & 1 == 1
    }

    const fn insert(&mut self, m: M) {
        self.0[m.index() / 64] |= 1 << (m.index() % 64);
    }

    const fn remove(&mut self, m: M) {
        self.0[m.index() / 64] &= !(1 << (m.index() % 64));
    }

    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}

/// The masks that an instruction reads.
pub fn reads(ins: &Ins, samples: &[Sample]) -> [Option<M>; 2] {
    match *ins {
        Ins::Set(_, _, m)
        | Ins::SetRelative(.., m)
        | Ins::Keep(.., m)
        | Ins::Number(_, m)
        | Ins::Mark(_, m)
        | Ins::Call(_, m) => [Some(m), None],
        Ins::Slope(..) => [Some(M::EXISTING), None],
        Ins::Tally(_, _, lanes) => [Some(lanes), None],
        Ins::Sample(number, ..) => [samples.get(usize::from(number)).map(|sample| sample.under), None],
        Ins::Mask(op) => op.reads(),
        _ => [None; 2],
    }
}

/// The mask that an instruction changes.
pub fn changes(ins: &Ins) -> Option<M> {
    match *ins {
        Ins::EndLanes(m) => Some(m),
        Ins::Mask(op) => Some(op.writes()),
        _ => None,
    }
}

/// Of each step, the masks that somebody may still read behind it.
pub fn live(program: &Program<'_>, blocks: &[Vec<Step<'_>>]) -> Vec<Vec<MaskSet>> {
    let mut into = vec![MaskSet::default(); blocks.len()];
    let mut behind: Vec<Vec<MaskSet>> = blocks.iter().map(|steps| vec![MaskSet::default(); steps.len()]).collect();
    loop {
        let before = into.clone();
        for (index, steps) in blocks.iter().enumerate().rev() {
            let mut live = at_end(program, index, &into);
            for (step, behind) in steps.iter().zip(&mut behind[index]).rev() {
                *behind = live;
                let list = match step {
                    Step::Segment(list) => list.as_slice(),
                    Step::Whole(ins) => std::slice::from_ref(ins),
                };
                // A segment reads no mask that it makes.
                list.iter().filter_map(|ins| changes(ins)).for_each(|m| live.remove(m));
                list.iter().flat_map(|ins| reads(ins, program.samples)).flatten().for_each(|m| live.insert(m));
            }
            into[index] = live;
        }
        if before == into {
            return behind;
        }
    }
}

/// The masks that somebody may still read at the end of a block.
fn at_end(program: &Program<'_>, index: usize, into: &[MaskSet]) -> MaskSet {
    let mut live = MaskSet::default();
    let end = program.code.blocks[index].end;
    end.successors().for_each(|next| live.add(&into[next]));
    match end {
        End::Branch { mask, .. } => live.insert(mask),
        End::Stop => live.insert(M::VALID),
        End::Next(_) => {}
    }
    live
}

/// What is known of a mask's bits in a part without active lanes.
#[derive(Clone, Copy, PartialEq)]
enum Bits {
    Zero,
    One,
    /// They are the same whether the segment was run or not.
    Same,
    /// They may differ.
    Differ,
}

impl Bits {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Zero, _) | (_, Self::Zero) => Self::Zero,
            (Self::One, x) | (x, Self::One) => x,
            (Self::Same, Self::Same) => Self::Same,
            _ => Self::Differ,
        }
    }

    const fn not(self) -> Self {
        match self {
            Self::Zero => Self::One,
            Self::One => Self::Zero,
            other => other,
        }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }

    fn xor(self, other: Self) -> Self {
        match (self, other) {
            (Self::Zero, x) | (x, Self::Zero) => x,
            (Self::Differ, _) | (_, Self::Differ) => Self::Differ,
            _ => Self::Same,
        }
    }
}

/// Whether idle lanes are seen by somebody who does not name them: then stores without masks are for all lanes.
pub fn idle_lanes_count(program: &Program<'_>) -> bool {
    let wakes = |op: &Op| matches!(op, Op::Mask(MaskOp::Quads(..)));
    let code = program.code;
    program.indexed > 0 || code.watches_idle_lanes || code.blocks.iter().flat_map(|block| &block.ops).any(wakes)
}

/// Whether parts without active lanes may be left out of a segment: nobody sees what it does to them. Only where idle lanes do not count.
/// `behind`: the steps of its block that follow; `live`: masks that somebody may still read at the block's end.
pub fn may_skip(
    program: &Program<'_>,
    locations: &[Location],
    list: &[&Ins],
    behind: &[Step<'_>],
    end: End,
    live: &MaskSet,
) -> bool {
    let mut masks = vec![Bits::Same; M::COUNT];
    masks[M::ACTIVE.index()] = Bits::Zero;
    masks[M::NONE.index()] = Bits::Zero;
    for ins in list {
        let stays = ins.writes().is_none_or(|(vector, _)| {
            // What others of the block read would be missing.
            vector.index() < program.used.len() || !matches!(locations[vector.index()], Location::Row(_))
        });
        let fine = match ins {
            Ins::Lir(lir) => !matches!(lir, crate::codegen::x86::lir::Lir::Store(..)),
            Ins::Split | Ins::ZeroRule(..) | Ins::Number(..) | Ins::BeginLanes => true,
            Ins::Set(_, _, m) => [M::ACTIVE, M::EXISTING].contains(m),
            Ins::EndLanes(m) => {
                masks[m.index()] = Bits::Differ;
                *m != M::ACTIVE
            }
            _ => false,
        };
        if !stays || !fine {
            return false;
        }
    }
    let differs = |masks: &[Bits], ins: &Ins| {
        reads(ins, program.samples).into_iter().flatten().any(|m| masks[m.index()] == Bits::Differ)
    };
    for step in behind {
        match step {
            Step::Segment(list) => {
                if list.iter().any(|ins| differs(&masks, ins)) {
                    return false;
                }
                // What is compared there may have been left out here.
                list.iter().filter_map(|ins| changes(ins)).for_each(|m| masks[m.index()] = Bits::Differ);
            }
            Step::Whole(Ins::Mask(op)) => {
                let of = |m: M| masks[m.index()];
                let result = match *op {
                    MaskOp::Copy(_, a) | MaskOp::Quads(_, a) => match of(a) {
                        Bits::One if matches!(op, MaskOp::Quads(..)) => Bits::Same,
                        bits => bits,
                    },
                    MaskOp::And(_, a, b) => of(a).and(of(b)),
                    MaskOp::AndNot(_, a, b) => of(a).and(of(b).not()),
                    MaskOp::Or(_, a, b) => of(a).or(of(b)),
                    MaskOp::Xor(_, a, b) => of(a).xor(of(b)),
                    MaskOp::IfNot0(_, a, _) if of(a) == Bits::One => Bits::Same,
                    MaskOp::IfNot0(_, a, _) => of(a),
                    MaskOp::Lanes(..) => Bits::Differ,
                    MaskOp::Number(..) | MaskOp::Add(..) => Bits::Same,
                };
                masks[op.writes().index()] = result;
            }
            Step::Whole(ins) => {
                if differs(&masks, ins) {
                    return false;
                }
            }
        }
    }
    let branch = matches!(end, End::Branch { mask, .. } if masks[mask.index()] == Bits::Differ);
    let left = (0..M::COUNT as u16).map(M).any(|m| masks[m.index()] == Bits::Differ && live.contains(m));
    !branch && !left
}
