//! An instruction group: from the lines that name its instructions to its words.

use super::alu::{self, ParsedSlot};
use super::reading::{Reading, ReadyGroup};
use crate::diag::{Diagnostic, Span};
use crate::r700::GROUP_LITERALS;
use crate::r700::inst::{Group, Operand, Slot, assign_units};
use crate::r700::ops::{AluOp, AluUnit, Chan, Slots, Source, SpecialSel, Units};
use crate::r700::ports;

/// Whether an operand reads a literal.
pub(super) fn is_literal(operand: &Operand) -> bool {
    operand.source == Source::Special(SpecialSel::Literal)
}

/// The first operation that needs further slots which do not hold it: its slot, and the units that are missing.
pub(super) fn incomplete(slots: &[Slot]) -> Option<(usize, Vec<AluUnit>)> {
    const ALL: &[AluUnit] = &[AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W];
    for (i, slot) in slots.iter().enumerate() {
        let op = slot.inst.op();
        let needed = match (op.info().slots, slot.unit) {
            (Slots::One, _) => continue,
            (Slots::Reduction | Slots::Quad64, _) => ALL,
            (Slots::Pair64, AluUnit::X | AluUnit::Y) => &ALL[..2],
            (Slots::Pair64, _) => &ALL[2..],
        };
        let holds = |unit| slots.iter().any(|s| s.unit == unit && s.inst.op() == op);
        let missing: Vec<AluUnit> = needed.iter().copied().filter(|&unit| !holds(unit)).collect();
        if !missing.is_empty() {
            return Some((i, missing));
        }
    }
    None
}

/// The lines of a group as they are read.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The number in front of the first line.
    pub(super) number: Option<u32>,
    pub(super) slots: Vec<ParsedSlot>,
    /// Literals that no operand names.
    pub(super) literals: Vec<(Chan, u32, Span)>,
    /// A line could not be read; findings about the whole would mislead.
    pub(super) broken: bool,
}

fn unit_list(units: &[AluUnit]) -> String {
    units.iter().map(|u| u.name()).collect::<Vec<_>>().join(", ")
}

/// Whether the label of a line names another element than its destination. Lines without a destination, or with one that names no
/// element, write the element of their unit.
fn names_other_element(slot: &ParsedSlot) -> bool {
    let element = AluUnit::from(slot.inst.destination().2);
    !slot.unwritten && !slot.chan_missing && slot.unit.is_some_and(|unit| unit != AluUnit::T && unit != element)
}

/// The machine knows no label: `DST_CHAN` and the order of the words decide (R700 §4.3, §4.4). Where a label names another element
/// than its line's destination, the lines of the group that have destinations get their units as lines without labels do.
fn drop_wrong_labels(lines: &mut Lines) -> Vec<(Span, AluUnit)> {
    let wrong: Vec<(Span, AluUnit)> = lines
        .slots
        .iter()
        .filter(|slot| names_other_element(slot))
        .filter_map(|slot| Some((slot.span, slot.unit?)))
        .collect();
    if !wrong.is_empty() {
        let fixed = |slot: &&mut ParsedSlot| !slot.unwritten && !slot.chan_missing;
        lines.slots.iter_mut().filter(fixed).for_each(|slot| slot.unit = None);
    }
    wrong
}

/// Warns once a group of labels that name other elements than the destinations, when the units are known.
fn report_wrong_labels(lines: &Lines, wrong: &[(Span, AluUnit)], reading: &mut Reading<'_>) {
    let found = |span: Span| lines.slots.iter().find(|slot| slot.span == span);
    let place = |slot: &ParsedSlot| {
        let element = slot.inst.destination().2.name();
        match slot.unit {
            Some(unit) => format!("element {element}: executes in {}", unit.name()),
            None => format!("element {element}"),
        }
    };
    let Some((&(span, unit), rest)) = wrong.split_first() else { return };
    let Some(first) = found(span) else { return };
    let element = first.inst.destination().2.name();
    let executes = first.unit.map_or("no unit", AluUnit::name);
    let message = format!(
        "the label names unit {}, the destination element {element}: the destination decides, the instruction executes in {executes}",
        unit.name(),
    );
    let mut d = Diagnostic::warning("slot-element", message).at(span, "").cite("R700 §4.3");
    for &(span, _) in rest {
        d = d.at(span, found(span).map_or_else(String::new, place));
    }
    reading.report(d);
}

/// Chooses units for lines that name none, and reports lines that name the same.
fn settle_units(lines: &mut Lines, reading: &mut Reading<'_>) -> bool {
    let mut taken: [Option<Span>; 5] = [None; 5];
    let mut ok = true;
    let wrong = drop_wrong_labels(lines);
    let implied = lines.slots.iter().any(|s| s.unit.is_none());
    if wrong.is_empty() {
        for slot in lines.slots.iter().filter(|s| s.unit.is_some()) {
            let Some(unit) = slot.unit else { continue };
            if let Some(first) = taken[unit as usize] {
                let d = Diagnostic::error("two-slots", format!("the group has two {} slots", unit.name()))
                    .at(slot.span, "")
                    .at(first, "the first is here")
                    .cite("R700 §4.3")
                    .help("a group begins with a number in front of its first line");
                reading.report(d);
                ok = false;
            }
            taken[unit as usize].get_or_insert(slot.span);
        }
    }
    let free = |taken: &[Option<Span>; 5]| {
        [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].into_iter().find(|&u| taken[u as usize].is_none())
    };
    let anywhere = |slot: &ParsedSlot| slot.unwritten || slot.chan_missing;
    // With labels dropped, unconstrained instructions take the units that the destinations leave, the unit of their own label first.
    let later = |slot: &ParsedSlot| !wrong.is_empty() && anywhere(slot);
    let mut order: Vec<usize> = (0..lines.slots.len()).collect();
    order.sort_by_key(|&i| (later(&lines.slots[i]), later(&lines.slots[i]) && lines.slots[i].unit.is_none()));
    for i in order {
        let late = later(&lines.slots[i]);
        let slot = &mut lines.slots[i];
        if slot.unit.is_some() && !late {
            continue;
        }
        let info = slot.inst.op().info();
        let labelled = slot.unit.filter(|&u| taken[u as usize].is_none());
        let own = if let Some(unit) = labelled {
            unit
        } else if slot.unwritten || late {
            free(&taken).unwrap_or(AluUnit::T)
        } else {
            AluUnit::from(slot.inst.destination().2)
        };
        let unit = match info.units {
            Units::Trans => AluUnit::T,
            Units::Vector => own,
            Units::Any if taken[own as usize].is_some() => AluUnit::T,
            Units::Any => own,
        };
        if taken[unit as usize].is_some() {
            let d = Diagnostic::error(
                "two-slots",
                format!("unit {} is taken by another instruction of the group", unit.name()),
            )
            .at(slot.mnemonic, "")
            .cite("R700 §4.4");
            reading.report(d);
            ok = false;
        }
        taken[unit as usize].get_or_insert(slot.span);
        slot.unit = Some(unit);
    }
    report_wrong_labels(lines, &wrong, reading);
    if implied {
        lines.slots.sort_by_key(|s| s.unit);
    }
    ok
}

/// Finds places for the literals, and sets the elements of the operands that read them.
fn settle_literals(lines: &mut Lines, reading: &mut Reading<'_>) -> Option<[u32; GROUP_LITERALS]> {
    let mut places: [Option<u32>; GROUP_LITERALS] = [None; GROUP_LITERALS];
    let mut ok = true;
    let mut place = |reading: &mut Reading<'_>, chan: Chan, bits: u32, span: Span| {
        let place = &mut places[chan as usize];
        if place.is_some_and(|held| held != bits) {
            let held = place.unwrap_or(0);
            let d = Diagnostic::error(
                "literal",
                format!("literal {} is 0x{held:08X} already, not 0x{bits:08X}", chan.name()),
            );
            reading.report(d.at(span, "").cite("R700 §4.7.6"));
            ok = false;
        }
        *place = Some(bits);
    };
    for &(chan, bits, span) in &lines.literals {
        place(reading, chan, bits, span);
    }
    for operand in lines.slots.iter().flat_map(|s| &s.operands) {
        if let Some((bits, Some(chan))) = operand.literal {
            place(reading, chan, bits, operand.span);
        }
    }
    for slot in &mut lines.slots {
        for i in 0..slot.operands.len() {
            let Some((bits, None)) = slot.operands[i].literal else { continue };
            let free = places.iter().position(|&p| p == Some(bits)).or_else(|| places.iter().position(Option::is_none));
            let Some(free) = free else {
                let d = Diagnostic::error(
                    "too-many-literals",
                    format!("0x{bits:08X} is the fifth different literal of the group; four are allowed"),
                );
                reading.report(d.at(slot.operands[i].span, "").cite("R700 §4.3"));
                ok = false;
                continue;
            };
            places[free] = Some(bits);
            let operand = &mut slot.operands[i].operand;
            operand.chan = Chan::ALL[free];
            slot.inst.set_operand(i, slot.operands[i].operand);
        }
    }
    ok.then(|| places.map(|p| p.unwrap_or(0)))
}

/// Makes a group of its lines; `None` after an error. `number` is the group's own, for PV and PS.
pub(super) fn settle(mut lines: Lines, number: u32, reading: &mut Reading<'_>) -> Option<Vec<ReadyGroup>> {
    if lines.broken || lines.slots.is_empty() {
        return None;
    }
    if lines.slots.len() > 5 && lines.slots.iter().all(|s| s.unit.is_none()) {
        let d = Diagnostic::error(
            "two-slots",
            format!("the group has {} instructions; five units exist", lines.slots.len()),
        );
        reading.report(d.at(lines.slots[5].span, "").cite("R700 §4.3"));
        return None;
    }
    let mut ok = settle_units(&mut lines, reading);
    let literals = settle_literals(&mut lines, reading);
    let mut slots: Vec<Slot> = Vec::with_capacity(lines.slots.len());
    for line in &mut lines.slots {
        let inst = alu::finish(line, &slots);
        let unit = line.unit.unwrap_or(AluUnit::X);
        let (_, _, chan) = inst.destination();
        if unit != AluUnit::T && unit != AluUnit::from(chan) && !line.unwritten {
            let d = Diagnostic::error(
                "slot-element",
                format!("slot {} writes element {}; each of x, y, z, w writes its own", unit.name(), chan.name()),
            );
            reading.report(d.at(line.span, "").cite("R700 §4.3"));
            ok = false;
        }
        slots.push(Slot { unit, inst });
    }
    previous_results(&lines, number, reading);
    let literals = literals.filter(|_| ok)?;
    check_units(&lines, &slots, reading)?;
    if let Some((i, missing)) = incomplete(&slots)
        && !reading.unchecked
    {
        let op = slots[i].inst.op();
        let needs = if op.info().slots == Slots::Pair64 {
            "both slots of a pair (x and y, or z and w)"
        } else {
            "x, y, z and w"
        };
        let d = Diagnostic::error(
            "missing-slot",
            format!(
                "`{}` takes {needs}: {} missing",
                op.listing(),
                match missing.as_slice() {
                    [one] => format!("{} is", one.name()),
                    more => format!("{} are", unit_list(more)),
                }
            ),
        );
        reading.report(d.at(lines.slots[i].mnemonic, "").cite("R700 §4.8.2.1, §4.12"));
        return None;
    }
    let last = slots.len() - 1;
    for (i, slot) in slots.iter_mut().enumerate() {
        slot.inst.word0.last = i == last;
    }
    let reach = slots.iter().map(|s| s.inst.literal_reach()).max().unwrap_or(0).next_multiple_of(2);
    for &(chan, _, span) in &lines.literals {
        if chan as usize >= reach {
            let d = Diagnostic::error("literal", format!("no operand makes the group have literal {}", chan.name()));
            reading.report(d.at(span, "").cite("R700 §4.7.6"));
            return None;
        }
    }
    #[allow(clippy::cast_possible_truncation, reason = "at most 4")]
    let mut group = Group { offset: 0, slots, literals, literal_dwords: reach as u8 };
    let fixed: Vec<Option<u8>> = lines.slots.iter().map(|s| s.swizzle.map(|(code, _)| code)).collect();
    let spans: Vec<Span> = lines.slots.iter().map(|s| s.span).collect();
    // The written swizzles, and 012 or 210 elsewhere, fit most of the time.
    match ports::check(&group.slots).or_else(|_| {
        ports::solve(&group.slots, &fixed).map(|swizzles| {
            group.slots.iter_mut().zip(swizzles).for_each(|(slot, swizzle)| slot.inst.set_bank_swizzle(swizzle));
        })
    }) {
        Ok(()) => Some(vec![ReadyGroup { group, spans }]),
        Err(_) if reading.unchecked => Some(vec![ReadyGroup { group, spans }]),
        Err(problem) => {
            if reading.options.split_groups
                && fixed.iter().all(Option::is_none)
                && let Some(parts) = super::split::split_group(&group, &spans)
            {
                return Some(parts);
            }
            let fixed_any = fixed.iter().any(Option::is_some);
            let span = problem.slot().map_or_else(
                || spans.iter().fold(spans[0], |a, &b| a.to(b)),
                |i| lines.slots[i].swizzle.map_or(spans[i], |(_, span)| span),
            );
            let mut d = Diagnostic::error("read-port", problem.to_string()).at(span, "").cite(problem.cite());
            d = if fixed_any {
                d.help("leave the bank swizzles out and the assembler finds them, if there are any")
            } else {
                d.help("make two groups of it, or let the assembler do so (split groups)")
            };
            reading.report(d);
            None
        }
    }
}

/// Warns of PV and PS with the number of another group than the previous one.
fn previous_results(lines: &Lines, number: u32, reading: &mut Reading<'_>) {
    for operand in lines.slots.iter().flat_map(|s| &s.operands) {
        if let Some(found) = operand.previous
            && Some(found) != number.checked_sub(1)
        {
            let what = if operand.operand.source == Source::Special(SpecialSel::Pv) { "PV" } else { "PS" };
            let d = Diagnostic::warning(
                "previous-result",
                match number.checked_sub(1) {
                    Some(previous) => format!("{what} is the result of group {previous}, not of group {found}"),
                    None => format!("{what} has no value in the first group"),
                },
            );
            reading.report(d.at(operand.span, "").cite("R700 §4.6.2"));
        }
    }
}

/// Compares the units that the lines name with those that the machine will use.
fn check_units(lines: &Lines, slots: &[Slot], reading: &mut Reading<'_>) -> Option<()> {
    let assigned = assign_units(slots.iter().map(|s| (s.inst.op(), s.inst.destination().2)));
    let units = match assigned {
        Ok(units) => units,
        Err((i, unit)) => {
            let d = Diagnostic::error(
                "unit",
                format!(
                    "`{}` needs unit {}, which another instruction of the group has",
                    name(slots[i].inst.op()),
                    unit.name()
                ),
            );
            reading.report(d.at(lines.slots[i].mnemonic, "").cite("R700 §4.4"));
            return None;
        }
    };
    let mut ok = true;
    for ((slot, unit), line) in slots.iter().zip(&units).zip(&lines.slots) {
        if slot.unit == *unit {
            continue;
        }
        let op = slot.inst.op();
        let why = match op.info().units {
            Units::Trans => "it is an operation of t only".to_owned(),
            Units::Vector => format!(
                "it is an operation of x, y, z and w only, and writes element {}",
                slot.inst.destination().2.name()
            ),
            Units::Any => format!(
                "it writes element {}, and {}",
                slot.inst.destination().2.name(),
                if *unit == AluUnit::T { "that unit is taken" } else { "that unit is free" }
            ),
        };
        let d = Diagnostic::error(
            "unit",
            format!("`{}` executes in {}, not in {}: {why}", name(op), unit.name(), slot.unit.name()),
        );
        reading.report(d.at(line.span, "").cite("R700 §4.4, r700-encoding §7"));
        ok = false;
    }
    if ok && slots.windows(2).any(|w| w[0].unit > w[1].unit) {
        let d = Diagnostic::warning("slot-order", "the instructions of a group stand in the order x, y, z, w, t");
        reading.report(d.at(lines.slots[0].span.to(lines.slots[slots.len() - 1].span), "").cite("R700 §4.3"));
    }
    ok.then_some(())
}

fn name(op: AluOp) -> &'static str {
    op.listing()
}
