//! Groups and clauses that must become two.

use super::reading::ReadyGroup;
use crate::diag::Span;
use crate::r700::inst::{AluInst, Group, Slot};
use crate::r700::ops::{Chan, PredSel, SideEffect, Slots, Source, SpecialSel};
use crate::r700::ports;
use crate::r700::program::CLAUSE_TEMPORARIES;

fn reads_previous(inst: &AluInst) -> bool {
    inst.operands().any(|o| matches!(o.source, Source::Special(SpecialSel::Pv | SpecialSel::Ps)))
}

/// Makes two groups of one whose operands cannot all be read at once, if executing one after the other gives the same
/// registers: the second part must not read results of the first, nor the previous group's results, and no reduction,
/// 64-bit operation or predicate may be torn apart. The results in PV and PS differ, so the caller sees to it that the next
/// group does not read them.
pub(super) fn split_group(group: &Group, spans: &[Span]) -> Option<Vec<ReadyGroup>> {
    let plain = |s: &Slot| {
        let info = s.inst.op().info();
        info.slots == Slots::One && info.kind == SideEffect::Plain && !s.inst.uses_index()
    };
    if !group.slots.iter().all(plain) {
        return None;
    }
    // The fewest instructions go into the second group: try every choice of one, then of two.
    let n = group.slots.len();
    let mut choices: Vec<u32> = (1..(1u32 << n) - 1).collect();
    choices.sort_by_key(|c| (c.count_ones(), std::cmp::Reverse(*c)));
    for second in choices {
        let part = |wanted: bool| -> Vec<(Slot, Span)> {
            (0..n).filter(|&i| (second >> i & 1 == 1) == wanted).map(|i| (group.slots[i], spans[i])).collect()
        };
        let (first, later) = (part(false), part(true));
        if later.iter().any(|(s, _)| reads_previous(&s.inst)) {
            continue;
        }
        let written: Vec<(u8, Chan)> = first
            .iter()
            .filter(|(s, _)| s.inst.writes())
            .map(|(s, _)| (s.inst.destination().0, s.inst.destination().2))
            .collect();
        let conflict = later
            .iter()
            .flat_map(|(s, _)| s.inst.operands())
            .any(|o| matches!(o.source, Source::Gpr(r) if written.contains(&(r, o.chan))));
        if conflict {
            continue;
        }
        if let (Some(a), Some(b)) = (alone(group, &first), alone(group, &later)) {
            return Some(vec![a, b]);
        }
    }
    None
}

/// A group of some instructions of another.
fn alone(group: &Group, part: &[(Slot, Span)]) -> Option<ReadyGroup> {
    let mut slots: Vec<Slot> = part.iter().map(|(s, _)| *s).collect();
    let units = crate::r700::inst::assign_units(slots.iter().map(|s| (s.inst.op(), s.inst.destination().2))).ok()?;
    slots.iter_mut().zip(units).for_each(|(s, unit)| s.unit = unit);
    let last = slots.len().checked_sub(1)?;
    let mut places = [None; 4];
    for (i, slot) in slots.iter_mut().enumerate() {
        slot.inst.word0.last = i == last;
        for k in 0..usize::from(slot.inst.op().info().operands) {
            let mut operand = slot.inst.operand(k);
            if operand.source != Source::Special(SpecialSel::Literal) {
                continue;
            }
            let bits = Some(group.literals[operand.chan as usize]);
            let place = places.iter().position(|&p| p == bits).or_else(|| places.iter().position(Option::is_none))?;
            places[place] = bits;
            operand.chan = Chan::ALL[place];
            slot.inst.set_operand(k, operand);
        }
    }
    let swizzles = ports::solve(&slots, &[]).ok()?;
    slots.iter_mut().zip(swizzles).for_each(|(s, swizzle)| s.inst.set_bank_swizzle(swizzle));
    let reach = slots.iter().map(|s| s.inst.literal_reach()).max().unwrap_or(0).next_multiple_of(2);
    #[allow(clippy::cast_possible_truncation, reason = "at most 4")]
    let group = Group { offset: 0, slots, literals: places.map(|p| p.unwrap_or(0)), literal_dwords: reach as u8 };
    Some(ReadyGroup { group, spans: part.iter().map(|(_, span)| *span).collect() })
}

/// Whether a group reads the results of the one before it.
pub(super) fn group_reads_previous(group: &Group) -> bool {
    group.slots.iter().any(|s| reads_previous(&s.inst))
}

/// State private to a clause that a later group may use (R700 §3.3.1, §4.6, §4.6.2).
#[derive(Clone, Default)]
struct ClauseState {
    /// PV and PS hold the group before.
    previous: bool,
    /// The address register is set.
    address: bool,
    /// The predicate is set.
    predicate: bool,
    /// Elements of clause temporaries that hold a value.
    temporaries: [bool; 16],
}

fn temporary(gpr: u8, chan: Chan) -> Option<usize> {
    gpr.checked_sub(CLAUSE_TEMPORARIES).map(|n| usize::from(n) * 4 + chan as usize)
}

/// Where a clause of groups can be cut so that no part has more than `limit` slots: the index of the first group of each
/// part but the first.
///
/// # Errors
/// The index of the first group that must stay with those before it, although there is no room.
pub(super) fn cut_clause(groups: &[ReadyGroup], limit: u32) -> Result<Vec<usize>, usize> {
    // A cut before group i is possible if nothing that a clause keeps to itself is read from i on before it is set again, and
    // no group before it changes the active mask: that takes effect at the end of the clause (R700 §3.6.3).
    let wanted: Vec<ClauseState> = needs(groups);
    let mut cuts = Vec::new();
    let mut start = 0;
    let mut size = 0;
    let mut possible = None;
    let mut masked = false;
    let mut i = 0;
    while i < groups.len() {
        masked |= i > start && changes_mask(&groups[i - 1]);
        if i > start && !masked && !blocked(&wanted[i]) {
            possible = Some(i);
        }
        let next = size + groups[i].group.size();
        if next > limit {
            let cut = possible.ok_or(i)?;
            cuts.push(cut);
            (start, size, possible, masked) = (cut, 0, None, false);
            i = cut;
            continue;
        }
        size = next;
        i += 1;
    }
    Ok(cuts)
}

fn blocked(kept: &ClauseState) -> bool {
    kept.previous || kept.address || kept.predicate || kept.temporaries.contains(&true)
}

/// Uses of the preceding clause's state by each group and later ones.
fn needs(groups: &[ReadyGroup]) -> Vec<ClauseState> {
    let mut later = ClauseState::default();
    let mut all = vec![ClauseState::default(); groups.len()];
    for (i, ready) in groups.iter().enumerate().rev() {
        let mut now = ClauseState { previous: false, ..later.clone() };
        let slots = &ready.group.slots;
        for inst in slots.iter().map(|s| &s.inst) {
            let unconditional = inst.word0.pred_sel == PredSel::Off;
            let op = inst.op();
            if op.info().kind == SideEffect::Mova && unconditional {
                now.address = false;
            }
            if inst.updates_predicate() && unconditional {
                now.predicate = false;
            }
            let (gpr, relative, chan) = inst.destination();
            if let Some(t) = temporary(gpr, chan).filter(|_| inst.writes() && !relative && unconditional) {
                now.temporaries[t] = false;
            }
        }
        for inst in slots.iter().map(|s| &s.inst) {
            now.previous |= reads_previous(inst);
            now.address |= inst.uses_address_register();
            now.predicate |= inst.word0.pred_sel != PredSel::Off;
            for operand in inst.operands() {
                if let Source::Gpr(r) = operand.source
                    && let Some(t) = temporary(r, operand.chan)
                {
                    now.temporaries[t] = true;
                }
            }
        }
        all[i] = now.clone();
        later = now;
    }
    all
}

/// Whether a predicate of the group becomes the active mask at the end of the clause.
fn changes_mask(ready: &ReadyGroup) -> bool {
    ready.group.slots.iter().any(|s| s.inst.updates_execute_mask())
}
