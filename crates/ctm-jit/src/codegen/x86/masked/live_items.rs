//! The variables and masks that are live at the beginning of each block, for compilers that allocate registers themselves.

use super::fused::Iterations;
use super::ins::Ins;
use crate::codegen::x86::lir::{Lir, Vector, each_read};
use ctm_ir::masked::{Code, End, M};

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
