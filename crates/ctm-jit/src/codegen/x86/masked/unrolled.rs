//! Programs whose parts are unrolled: all variables and masks are values from the first block to the last.
//!
//! For targets whose compiler allocates registers. Strips are loops over the parts there, so variables lie in rows of the frame from strip to strip. A loop of the program would load and store them in each of
//! its iterations; so the code of short programs with loops is made for each part of a wavefront of 16 lanes.

use super::fused::Iterations;
use super::ins::{Indexed, Ins};
use crate::codegen::x86::lir::{Lir, Vector, each_read};
use ctm_ir::masked::{Code, End, M, MaskOp};

/// The most instructions, of all blocks: longer programs would take long to compile.
const INSTRUCTIONS: usize = 256;

/// Whether a program has code of this kind: it has loops, is short, and all of it works on vectors and masks.
pub fn is_unrolled(code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> bool {
    let has_loops = code.blocks.iter().any(|block| block.loops > 0);
    let is_value = |ins: &Ins| {
        !matches!(
            ins,
            Ins::SetRelative { .. }
                | Ins::GetRelative { from: Indexed::Gprs { .. } | Indexed::Share, .. }
                | Ins::Keep { .. }
                | Ins::Tally { .. }
                | Ins::Call(..)
                | Ins::Yield(_)
        )
    };
    has_loops
        && lists.iter().map(Vec::len).sum::<usize>() <= INSTRUCTIONS
        && lists.iter().flatten().all(is_value)
        && numbers(code, lists, iterations).is_some()
}

/// Of each mask, whether it is a number; `None` where one is both.
pub fn numbers(code: &Code, lists: &[Vec<Ins>], iterations: &[Option<Iterations>]) -> Option<Vec<bool>> {
    let mut are = vec![false; M::COUNT];
    let mut lanes = vec![false; M::COUNT];
    are[M::FIRST.index()] = true;
    let mut copies = Vec::new();
    for ins in lists.iter().flatten() {
        match *ins {
            Ins::Mask(op) => match op {
                MaskOp::Number(m, _) | MaskOp::Add(m, ..) => are[m.index()] = true,
                MaskOp::IfNot0(dst, of, number) => {
                    are[number.index()] = true;
                    [dst, of].iter().for_each(|m| lanes[m.index()] = true);
                }
                MaskOp::Copy(dst, of) => copies.push([dst, of]),
                _ => op.reads().into_iter().flatten().chain([op.writes()]).for_each(|m| lanes[m.index()] = true),
            },
            Ins::Number(_, m) | Ins::Guard { number: m, .. } => are[m.index()] = true,
            Ins::EndLanes(m) => lanes[m.index()] = true,
            _ => ins.mask().into_iter().for_each(|m| lanes[m.index()] = true),
        }
    }
    for (block, iterations) in code.blocks.iter().zip(iterations) {
        match (iterations, block.end) {
            (Some(iterations), _) => {
                are[iterations.left.index()] = true;
                lanes[iterations.lanes.index()] = true;
            }
            (None, End::Branch { mask, .. }) => lanes[mask.index()] = true,
            _ => {}
        }
    }
    // Each round marks one more, or is the last.
    while copies.iter().any(|pair| pair.iter().any(|m| are[m.index()]) && pair.iter().any(|m| !are[m.index()])) {
        let marked = copies.iter().filter(|pair| pair.iter().any(|m| are[m.index()])).copied().collect::<Vec<_>>();
        marked.into_iter().flatten().for_each(|m| are[m.index()] = true);
    }
    are.iter().zip(&lanes).all(|(&number, &lanes)| !(number && lanes)).then_some(are)
}

/// A variable, or a mask or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Variable(Vector),
    Mask(M),
}

/// The items that are live at the beginning of each block, of a program with this many `variables`, whose vectors come first. `exported`: those that are read at the end.
pub fn live_items(
    code: &Code,
    lists: &[Vec<Ins>],
    iterations: &[Option<Iterations>],
    variables: usize,
    exported: &[Vector],
) -> Vec<Vec<Item>> {
    let count = variables + M::COUNT;
    let of_mask = |m: M| variables + m.index();
    let mut live = vec![vec![false; count]; lists.len()];
    loop {
        let mut has_changed = false;
        for (index, (block, list)) in code.blocks.iter().zip(lists).enumerate().rev() {
            let mut now = vec![false; count];
            for next in block.end.successors() {
                now.iter_mut().zip(&live[next]).for_each(|(now, live)| *now |= live);
            }
            match (iterations[index], block.end) {
                (Some(Iterations { left, lanes }), _) => [left, lanes].iter().for_each(|&m| now[of_mask(m)] = true),
                (None, End::Branch { mask, .. }) => now[of_mask(mask)] = true,
                (None, End::Stop) => {
                    exported.iter().for_each(|vector| now[vector.index()] = true);
                    now[of_mask(M::VALID)] = true;
                }
                (None, End::Next(_)) => {}
            }
            // Instructions of an optional sequence may not run.
            let mut is_optional = optional(list);
            for ins in list.iter().rev() {
                let may_not_run = is_optional.pop().unwrap_or_default();
                let (written, sources) = ins.touches();
                if let Some((vector, false)) = written
                    && !may_not_run
                    && vector.index() < variables
                {
                    now[vector.index()] = false;
                }
                match *ins {
                    Ins::EndLanes(m) => now[of_mask(m)] = false,
                    Ins::Mask(op) => {
                        now[of_mask(op.writes())] = false;
                        op.reads().into_iter().flatten().for_each(|m| now[of_mask(m)] = true);
                    }
                    _ => ins.mask().into_iter().for_each(|m| now[of_mask(m)] = true),
                }
                each_read(written, &sources, |vector| {
                    if vector.index() < variables {
                        now[vector.index()] = true;
                    }
                });
                if may_not_run
                    && let Some((vector, _)) = written
                    && vector.index() < variables
                {
                    now[vector.index()] = true;
                }
            }
            // These never change.
            [M::EXISTING, M::NONE].iter().for_each(|&m| now[of_mask(m)] = false);
            has_changed |= now != live[index];
            live[index] = now;
        }
        if !has_changed {
            break;
        }
    }
    let item = |place: usize| match place.checked_sub(variables) {
        None => Item::Variable(Vector(place as u32)),
        Some(mask) => Item::Mask(M(mask as u16)),
    };
    live.iter().map(|live| (0..count).filter(|&place| live[place]).map(item).collect()).collect()
}

/// Of each instruction, whether it is in a sequence that may not run.
fn optional(list: &[Ins]) -> Vec<bool> {
    let (mut is_rare, mut is_skipped) = (false, false);
    let each = |ins: &Ins| {
        match ins {
            Ins::EndRare => (is_rare, is_skipped) = (false, false),
            Ins::Split => is_skipped = false,
            _ => {}
        }
        let here = is_rare || is_skipped;
        match ins {
            Ins::BeginRare(_) => is_rare = true,
            Ins::Lir(Lir::StopIfNone(_)) => is_skipped = true,
            _ => {}
        }
        here
    };
    list.iter().map(each).collect()
}
