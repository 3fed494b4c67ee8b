//! Rules on registers, constants and indices.

use super::{Facts, Finding, GroupContext};
use crate::r700::inst::{AluClause, AluInst, Cf, ClauseBody, Fetch, VtxWord1};
use crate::r700::ops::{AluOp, IndexMode, KcacheMode, RelMode, Sel, SideEffect, Source};
use crate::r700::program::{CLAUSE_TEMPORARIES, Stage};
use crate::r700::{GPRS, KCACHE_LINE};
use std::collections::{HashMap, HashSet};

/// A register that an instruction names.
struct Use {
    gpr: u8,
    relative: bool,
    writes: bool,
    /// How the finding calls it.
    what: &'static str,
    /// Whether the address is that of the whole register file.
    global: bool,
}

fn alu_uses(inst: &AluInst) -> Vec<Use> {
    let global = |relative: bool| relative && matches!(inst.word0.index_mode, IndexMode::Global | IndexMode::GlobalArX);
    let mut uses: Vec<Use> = inst
        .operands()
        .filter_map(|o| match o.source {
            Source::Gpr(gpr) => {
                Some(Use { gpr, relative: o.relative, writes: false, what: "read", global: global(o.relative) })
            }
            Source::Kcache { .. } | Source::Constant(_) | Source::Special(_) | Source::Reserved(_) => None,
        })
        .collect();
    if inst.writes() {
        let (gpr, relative, _) = inst.destination();
        uses.push(Use { gpr, relative, writes: true, what: "written", global: global(relative) });
    }
    uses
}

fn fetch_uses(fetch: &Fetch) -> Vec<Use> {
    let read = |gpr, relative| Use { gpr, relative, writes: false, what: "read", global: false };
    let write = |gpr, relative| Use { gpr, relative, writes: true, what: "written", global: false };
    let last = |gpr: u8, burst: u8| gpr.saturating_add(burst);
    let any = |swizzle: [Sel; 4]| swizzle.iter().any(|&s| s != Sel::Mask);
    match fetch {
        Fetch::Vtx(i) => {
            let mut uses = vec![read(i.word0.src_gpr, i.word0.src_rel)];
            if let VtxWord1::Gpr(w) = &i.word1
                && any(i.word1.swizzle())
            {
                uses.push(write(w.dst_gpr, w.dst_rel));
            }
            uses
        }
        Fetch::Tex(i) => {
            let mut uses = Vec::new();
            if i.source_swizzle().iter().any(|s| matches!(s, Sel::X | Sel::Y | Sel::Z | Sel::W)) {
                uses.push(read(i.word0.src_gpr, i.word0.src_rel));
            }
            if any(i.destination_swizzle()) {
                uses.push(write(i.word1.dst_gpr, i.word1.dst_rel));
            }
            uses
        }
        Fetch::MemRd(i) => {
            let mut uses = vec![write(last(i.word1.dst_gpr, i.word0.burst_cnt), i.word1.dst_rel)];
            if i.word0.indexed {
                uses.push(read(i.word0.src_gpr, i.word0.src_rel));
            }
            uses
        }
        Fetch::MemDsw(i) => {
            let (mode, gpr) = (i.word0.src_rel_mode, last(i.word0.src_gpr, i.word2.burst_cnt));
            vec![Use { global: mode == RelMode::Global, ..read(gpr, mode == RelMode::Loop) }]
        }
        Fetch::MemDsr(i) => {
            let (from, to) = (i.word0.src_rel_mode, i.word1.dst_rel_mode);
            vec![
                Use { global: from == RelMode::Global, ..read(i.word0.src_gpr, from == RelMode::Loop) },
                Use {
                    global: to == RelMode::Global,
                    ..write(last(i.word1.dst_gpr, i.word2.burst_cnt), to == RelMode::Loop)
                },
            ]
        }
    }
}

fn cf_uses(cf: &Cf) -> Vec<Use> {
    let read = |gpr, relative, what| Use { gpr, relative, writes: false, what, global: false };
    match cf {
        Cf::Export(e) => {
            let exports = e.swizzle().iter().any(|s| matches!(s, Sel::X | Sel::Y | Sel::Z | Sel::W));
            let last = e.word0.rw_gpr.saturating_add(e.word1.burst_count);
            if exports { vec![read(last, e.word0.rw_rel, "exported")] } else { Vec::new() }
        }
        Cf::Mem(m) => {
            let mut uses = vec![read(m.word0.rw_gpr.saturating_add(m.word1.burst_count), m.word0.rw_rel, "stored")];
            if m.kind.is_indexed() {
                uses.push(read(m.word0.index_gpr, false, "the index"));
            }
            uses
        }
        Cf::Plain(_) | Cf::Alu(_) => Vec::new(),
    }
}

/// Every register that every instruction names, with the slot; `true` for ALU instructions.
fn each_use(facts: &Facts<'_>, mut see: impl FnMut(u32, Option<&AluInst>, &Use)) {
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            for used in alu_uses(&slot.inst) {
                see(place.slot(i), Some(&slot.inst), &used);
            }
        }
    }
    for (pc, _, inst) in facts.each_fetch() {
        fetch_uses(&inst.fetch).iter().for_each(|used| see(pc, None, used));
    }
    for (entry, cf) in facts.each_cf() {
        cf_uses(cf).iter().for_each(|used| see(entry.addr, None, used));
    }
}

#[allow(clippy::cast_possible_truncation, reason = "128")]
const ALL_GPRS: u8 = GPRS as u8;

/// How many registers the program has. Those of a fetch program are its caller's (R700 §3.7.6), which may have all.
fn registers(facts: &Facts<'_>) -> u8 {
    if facts.stage() == Some(Stage::Fetch) { ALL_GPRS } else { facts.program.gprs }
}

/// Whether a register is a clause temporary of this program.
fn is_temporary(facts: &Facts<'_>, gpr: u8) -> bool {
    gpr >= CLAUSE_TEMPORARIES && gpr >= registers(facts)
}

/// Registers that are read, fetched into or exported belong to the program or are clause temporaries.
pub(super) fn register_range(facts: &Facts<'_>) -> Vec<Finding> {
    let gprs = registers(facts);
    let mut findings = Vec::new();
    each_use(facts, |pc, alu, used| {
        let dropped = alu.is_some() && used.writes;
        if !used.global && !dropped && used.gpr >= gprs && !is_temporary(facts, used.gpr) {
            let message = format!(
                "R{} is {}; the program has {}",
                used.gpr,
                used.what,
                if gprs == 0 { "none".to_owned() } else { format!("R0 to R{}", gprs - 1) }
            );
            findings.push(Finding::at(pc, message).help(format!("declare {} registers", u32::from(used.gpr) + 1)));
        }
    });
    findings
}

/// Results of ALU instructions are written. Three-operand instructions, which have no write mask, may drop it so.
pub(super) fn dropped_write(facts: &Facts<'_>) -> Vec<Finding> {
    let gprs = registers(facts);
    let mut findings = Vec::new();
    each_use(facts, |pc, alu, used| {
        let masked = alu.is_some_and(|inst| matches!(inst.op(), AluOp::Op2(_)));
        if masked && used.writes && !used.global && used.gpr >= gprs && !is_temporary(facts, used.gpr) {
            let message = format!("R{} is written, which the program does not have; the result is dropped", used.gpr);
            findings.push(Finding::at(pc, message).help("clear `WRITE_MASK`, or declare the register"));
        }
    });
    findings
}

/// Clause temporaries are not indexed.
pub(super) fn indexed_temporary(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    each_use(facts, |pc, _, used| {
        if used.relative && !used.global && is_temporary(facts, used.gpr) {
            findings.push(Finding::at(pc, format!("R{}, a clause temporary, is indexed", used.gpr)));
        }
    });
    findings
}

/// Operands of fetches and exports are not clause temporaries.
pub(super) fn temporary_outside(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    each_use(facts, |pc, alu, used| {
        if alu.is_none() && !used.writes && !used.global && is_temporary(facts, used.gpr) {
            let message =
                format!("R{}, a clause temporary, is {}; its value ended with the ALU clause", used.gpr, used.what);
            findings.push(Finding::at(pc, message));
        }
    });
    findings
}

/// A clause temporary is written in the clause before it is read.
pub(super) fn unwritten_temporary(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cf, clause) in facts.each_alu_clause() {
        let mut written = [[false; 4]; 128];
        for place in super::places(cf, clause) {
            for (i, slot) in place.group.slots.iter().enumerate() {
                for operand in slot.inst.operands().filter(|o| !o.relative) {
                    if let Source::Gpr(gpr) = operand.source
                        && is_temporary(facts, gpr)
                        && !written[usize::from(gpr)][operand.chan as usize]
                    {
                        let message = format!(
                            "R{gpr}.{}, a clause temporary, is read, but the clause has not written it",
                            operand.chan.name()
                        );
                        findings.push(Finding::at(place.slot(i), message));
                    }
                }
            }
            for slot in place.group.slots.iter().filter(|s| s.inst.writes()) {
                let (gpr, _, chan) = slot.inst.destination();
                written[usize::from(gpr & 127)][chan as usize] = true;
            }
        }
    }
    findings
}

/// The highest constant of each set that a clause reads.
fn highest_constants(clause: &AluClause) -> [Option<u8>; 2] {
    let mut highest = [None; 2];
    for operand in clause.groups.iter().flat_map(|g| &g.slots).flat_map(|s| s.inst.operands()) {
        if let Source::Kcache { set, index } = operand.source {
            let known = &mut highest[usize::from(set & 1)];
            *known = (*known).max(Some(index));
        }
    }
    highest
}

/// The constants of the cache that a clause reads are locked.
pub(super) fn kcache_window(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut highest = HashMap::new();
    for (cf, clause) in facts.each_locked_clause() {
        let known = highest.entry((cf.word0.addr, cf.word1.count)).or_insert_with(|| highest_constants(clause));
        let locks = cf.kcache();
        if locks.iter().zip(known).all(|(lock, high)| high.is_none_or(|n| u32::from(n) < lock.mode.constants())) {
            continue;
        }
        for place in super::places(cf, clause) {
            for (i, slot) in place.group.slots.iter().enumerate() {
                for operand in slot.inst.operands() {
                    let Source::Kcache { set, index } = operand.source else { continue };
                    let locked = locks[usize::from(set & 1)].mode.constants();
                    if u32::from(index) >= locked {
                        let message = match locked {
                            0 => format!("KC{set}[{index}] is read; the clause locks nothing in set {set}"),
                            n => format!("KC{set}[{index}] is read; the clause locks {n} constants, 0 to {}", n - 1),
                        };
                        let last = if index < 16 { 15 } else { 31 };
                        let help = format!(
                            "lock its lines on the ALU line: `KCACHE{set}(CB0:0-{last})`, of the buffer that is meant"
                        );
                        findings.push(Finding::at(place.slot(i), message).help(help));
                    }
                }
            }
        }
    }
    findings
}

/// Locked lines lie in the constant buffer.
pub(super) fn kcache_lines(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (entry, cf) in facts.each_cf() {
        let Cf::Alu(alu) = cf else { continue };
        for (set, lock) in alu.kcache().iter().enumerate() {
            if lock.mode == KcacheMode::Lock2 && lock.line == u8::MAX {
                let message = format!(
                    "set {set} locks lines 255 and 256 of buffer {}; a buffer has 256 lines of {KCACHE_LINE} constants",
                    lock.bank
                );
                findings.push(Finding::at(entry.addr, message));
            }
        }
    }
    findings
}

/// A program reads the constant file or the constant cache, not both.
pub(super) fn constant_modes(facts: &Facts<'_>) -> Vec<Finding> {
    let (mut file, mut cache) = (None, None);
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            for operand in slot.inst.operands() {
                let pc = place.slot(i);
                match operand.source {
                    Source::Constant(n) => file = file.or(Some((pc, n))),
                    Source::Kcache { set, index } => cache = cache.or(Some((pc, set, index))),
                    Source::Gpr(_) | Source::Special(_) | Source::Reserved(_) => {}
                }
            }
        }
    }
    let (Some((pc, n)), Some((other, set, index))) = (file, cache) else { return Vec::new() };
    vec![Finding::at(
        pc.max(other),
        format!(
            "c[{n}] (slot {pc}) and KC{set}[{index}] (slot {other}) are read; a program uses the constant file or constant \
             buffers, not both"
        ),
    )]
}

const fn is_ar(mode: IndexMode) -> bool {
    match mode {
        IndexMode::ArX | IndexMode::ArY | IndexMode::ArZ | IndexMode::ArW | IndexMode::GlobalArX => true,
        IndexMode::Loop | IndexMode::Global => false,
    }
}

/// The constant cache is indexed with the loop index only.
pub(super) fn kcache_index(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            for operand in slot.inst.operands().filter(|o| o.relative) {
                let mode = slot.inst.word0.index_mode;
                if matches!(operand.source, Source::Kcache { .. }) && mode != IndexMode::Loop {
                    let message =
                        format!("a constant of the cache is indexed with {}; only AL is allowed", mode.name());
                    findings.push(Finding::at(place.slot(i), message));
                }
            }
        }
    }
    findings
}

/// A group uses one element of the address register.
pub(super) fn one_ar_element(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let mut first: Option<IndexMode> = None;
        for (i, slot) in place.group.slots.iter().enumerate() {
            let mode = slot.inst.word0.index_mode;
            if !is_ar(mode) || !slot.inst.uses_index() {
                continue;
            }
            let element = if mode == IndexMode::GlobalArX { IndexMode::ArX } else { mode };
            match first {
                Some(other) if other != element => {
                    let message = format!("{} beside {}; a group uses one element of AR", element.name(), other.name());
                    findings.push(Finding::at(place.slot(i), message));
                }
                Some(_) => {}
                None => first = Some(element),
            }
        }
    }
    findings
}

/// MOVA* are not in a group that uses AR.
pub(super) fn mova_with_ar(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        let slots = &place.group.slots;
        let uses = slots.iter().any(|s| is_ar(s.inst.word0.index_mode) && s.inst.uses_index());
        if let Some(i) = slots.iter().position(|s| s.inst.op().info().kind == SideEffect::Mova)
            && uses
        {
            let message = format!("{} in a group that is indexed with AR", slots[i].inst.op().name());
            findings
                .push(Finding::at(place.slot(i), message).help("read into a register first, in a group of its own"));
        }
    }
    findings
}

/// AR is set in the clause, in a group before it is used.
pub(super) fn ar_unset(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (cf, clause) in facts.each_alu_clause() {
        let mut set = [false; 4];
        for place in super::places(cf, clause) {
            for (i, slot) in place.group.slots.iter().enumerate() {
                for element in elements(&slot.inst).into_iter().filter(|&e| !set[e]) {
                    let name = IndexMode::ALL[element].name();
                    let message = format!("{name} is used, but no MOVA* of a group before in this clause set it");
                    findings.push(Finding::at(place.slot(i), message));
                }
            }
            for slot in place.group.slots.iter().filter(|s| s.inst.op().info().kind == SideEffect::Mova) {
                // The unit decides; MOVA_GPR_INT, which is in t, sets x.
                set[(slot.unit as usize) % 4] = true;
            }
        }
    }
    findings
}

/// The elements of AR that an instruction uses: registers take x whatever is named (R700 table 4.2).
fn elements(inst: &AluInst) -> Vec<usize> {
    let mode = inst.word0.index_mode;
    if !is_ar(mode) {
        return Vec::new();
    }
    let named = if mode == IndexMode::GlobalArX { 0 } else { mode as usize };
    let mut elements: Vec<usize> = inst
        .operands()
        .filter(|o| o.relative)
        .filter_map(|o| match o.source {
            Source::Gpr(_) => Some(0),
            Source::Constant(_) => Some(named),
            Source::Kcache { .. } | Source::Special(_) | Source::Reserved(_) => None,
        })
        .collect();
    if inst.writes() && inst.destination().1 {
        elements.push(0);
    }
    elements.sort_unstable();
    elements.dedup();
    elements
}

/// Whether an instruction of an ALU clause needs the loop index, and where.
fn alu_loop_index(place: &GroupContext<'_>) -> Option<u32> {
    let i = place.group.slots.iter().position(|s| s.inst.word0.index_mode == IndexMode::Loop && s.inst.uses_index())?;
    Some(place.slot(i))
}

/// The loop index is used within LOOP_START only.
pub(super) fn loop_index(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen = HashSet::new();
    // A subroutine may be called from within a loop.
    let main = facts.graph.functions.first().map_or(0..0, |f| f.nodes.clone());
    for node in &facts.graph.nodes[main] {
        let entry = &facts.decoded.entries[node.entry];
        let Ok(cf) = &entry.cf else { continue };
        if facts.graph.stacks.has_index(node.stack) {
            continue;
        }
        if cf.clause().is_some_and(|range| !seen.insert(range)) {
            continue;
        }
        let mut report = |pc: u32| findings.push(Finding::at(pc, "the loop index is used outside of every LOOP_START"));
        match (cf, &entry.clause) {
            (Cf::Alu(alu), ClauseBody::Alu(clause)) => {
                if alu.kcache().iter().any(|k| k.mode == KcacheMode::LockLoopIndex) {
                    report(entry.addr);
                }
                super::places(alu, clause).filter_map(|place| alu_loop_index(&place)).for_each(report);
            }
            (Cf::Plain(plain), ClauseBody::Fetch(clause)) => {
                for (i, fetch) in (0u32..).zip(&clause.fetches) {
                    if let Ok(inst) = &fetch.inst
                        && fetch_uses(&inst.fetch).iter().any(|used| used.relative)
                    {
                        report(plain.word0.addr + 2 * i);
                    }
                }
            }
            (Cf::Export(_) | Cf::Mem(_), _) => {
                if cf_uses(cf).iter().any(|used| used.relative) {
                    report(entry.addr);
                }
            }
            (Cf::Alu(_) | Cf::Plain(_), _) => {}
        }
    }
    findings
}
