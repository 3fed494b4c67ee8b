//! Live ranges of an R700 program.

use super::Facts;
use crate::live::{self, Channels, Liveness, PathNode, RegisterWrite, solve};
use crate::r700::Program;
use crate::r700::inst::{AluInst, Cf, ClauseBody, Fetch, Group, VtxWord1};
use crate::r700::ops::{CfAluOp, CfOp, IndexMode, PredSel, RelMode, Sel, SideEffect, Slots, Source, SpecialSel};

/// Programs with more control-flow instructions are given up.
const PLACES: usize = 4096;

/// The readers of each instruction's writes to registers, along every path. PV, PS and the address register are none.
///
/// ```
/// use ctm_isa::r700::{check::live, text};
/// let text = "ALU:\n x: ADD R1.x, R0.x, 1.0f\nALU:\n x: ADD R2.x, R1.x, 1.0f\nEXP_DONE: PIX0, R2.xxxx\nEND_OF_PROGRAM\n";
/// let program = text::assemble(text, &text::TextOptions::default()).program.unwrap();
/// let live = live(&program);
/// assert_eq!((live.values[0].register, live.values[0].readers.len()), (1, 1));
/// ```
#[must_use]
pub fn live(program: &Program) -> Liveness {
    match nodes(program) {
        Some(nodes) => solve(&nodes),
        None => Liveness { incomplete: true, ..Liveness::default() },
    }
}

/// The register elements whose initial values have no effect on the program; none where it has too many paths.
///
/// ```
/// use ctm_isa::r700::{check::unused_at_start, text};
/// let text = "ALU:\n x: MOV R1.x, R0.x\n t: RECIP_IEEE R0.w, R0.w\n x: ADD R1.x, R1.x, 1.0f\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n";
/// let program = text::assemble(text, &text::TextOptions::default()).program.unwrap();
/// assert_eq!(unused_at_start(&program).of(0), 0b1110);
/// ```
#[must_use]
pub fn unused_at_start(program: &Program) -> Channels {
    nodes(program).map(|nodes| live::unused_at_start(&nodes)).unwrap_or_default()
}

/// The instructions on the paths of a program; `None` where there are too many.
fn nodes(program: &Program) -> Option<Vec<PathNode>> {
    let facts = Facts::new(program);
    if facts.graph.incomplete || facts.r600.is_some() || facts.graph.nodes.len() > PLACES {
        return None;
    }
    let mut nodes = Vec::new();
    // The first and the last node of each place of the graph.
    let mut ends = Vec::new();
    for place in &facts.graph.nodes {
        let first = nodes.len();
        let entry = &facts.decoded.entries[place.entry];
        if let Ok(cf) = &entry.cf {
            nodes.push(flow_node(place.pc, cf));
            let start = cf.clause().map_or(0, |(start, _)| start);
            match &entry.clause {
                ClauseBody::Alu(clause) => {
                    for (n, group) in clause.groups.iter().enumerate() {
                        let mut node = group_node(start + group.offset, group);
                        // The next group may read results by PV and PS. None is known after the last one.
                        if clause.groups.get(n + 1).is_none_or(reads_last_results) {
                            node.pure.clear();
                        }
                        nodes.push(node);
                    }
                }
                ClauseBody::Fetch(clause) => {
                    for (slot, fetch) in (start..).step_by(2).zip(&clause.fetches) {
                        let node = fetch.inst.as_ref().map(|inst| fetch_node(slot, &inst.fetch));
                        nodes.push(node.unwrap_or_else(|_| PathNode { slot, ..PathNode::default() }));
                    }
                }
                ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => {}
            }
        } else {
            nodes.push(PathNode { slot: place.pc, ..PathNode::default() });
        }
        for at in first..nodes.len() - 1 {
            nodes[at].next = vec![at + 1];
        }
        ends.push((first, nodes.len() - 1));
    }
    for (place, &(_, last)) in facts.graph.nodes.iter().zip(&ends) {
        nodes[last].next = place.next.iter().flatten().map(|&next| ends[next].0).collect();
    }
    for (from, to) in waits(&facts) {
        let next = nodes[ends[to].1].next.clone();
        nodes[ends[from].1].next.extend(next);
    }
    // A call goes to its function, whose returns go on after every call of it.
    for (place, &(_, last)) in facts.graph.nodes.iter().zip(&ends) {
        let Some(function) = place.calls.and_then(|callee| facts.graph.functions.get(callee)) else { continue };
        let behind = nodes[last].next.clone();
        nodes[last].next.extend(ends.get(function.nodes.start).map(|end| end.0));
        for callee in function.nodes.clone() {
            let returns = matches!(&facts.decoded.entries[facts.graph.nodes[callee].entry].cf, Ok(Cf::Plain(p)) if p.word1.op == CfOp::Return);
            if returns && let Some(end) = ends.get(callee) {
                nodes[end.1].next.extend(&behind);
            }
        }
    }
    Some(nodes)
}

/// Places of the graph where pixels may be switched off, each with those after which they go on (R700 §3.6): ELSE and the pops that find the same stack, for
/// breaks and continues the end of the loop. Jumps are no help here: a group with active pixels goes through code that the others skip.
fn waits(facts: &Facts<'_>) -> Vec<(usize, usize)> {
    let nodes = &facts.graph.nodes;
    let mut found = Vec::new();
    for (from, place) in nodes.iter().enumerate() {
        let entry = &facts.decoded.entries[place.entry];
        let (masks, leaves) = match (&entry.cf, &entry.clause) {
            (Ok(Cf::Alu(alu)), ClauseBody::Alu(clause)) => {
                let slots = clause.groups.iter().flat_map(|group| &group.slots);
                // ALU_ELSE_AFTER switches off those that were active, and has no jump to where they go on.
                let exchanges = alu.word1.op == CfAluOp::ElseAfter;
                let masks = exchanges || slots.clone().any(|slot| slot.inst.updates_execute_mask());
                (masks, matches!(alu.word1.op, CfAluOp::Break | CfAluOp::Continue))
            }
            (Ok(Cf::Plain(p)), _) => {
                let leaves = matches!(p.word1.op, CfOp::LoopBreak | CfOp::LoopContinue);
                (
                    leaves || matches!(p.word1.op, CfOp::Push | CfOp::PushElse | CfOp::PopPush | CfOp::PopPushElse),
                    leaves,
                )
            }
            _ => (false, false),
        };
        let Some(first) = place.next[0].filter(|_| masks) else { continue };
        let stack = nodes[first].stack;
        let innermost = facts.graph.stacks.innermost_loop(stack);
        let mut seen = vec![false; nodes.len()];
        let mut open: Vec<usize> = place.next.iter().flatten().copied().collect();
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            open.extend(nodes[at].next.iter().flatten());
            let same = nodes[at].stack == stack;
            let goes_on = match &facts.decoded.entries[nodes[at].entry].cf {
                Ok(Cf::Alu(alu)) => same && (alu.word1.op == CfAluOp::ElseAfter || alu.word1.op.info().pops > 0),
                Ok(Cf::Plain(p)) if p.word1.op == CfOp::LoopEnd => {
                    leaves && facts.graph.stacks.innermost_loop(nodes[at].stack) == innermost
                }
                Ok(Cf::Plain(p)) => same && (p.word1.op == CfOp::Else || p.word1.pop_count > 0),
                Ok(Cf::Export(_) | Cf::Mem(_)) | Err(_) => false,
            };
            if goes_on {
                found.push((from, at));
            }
        }
    }
    found
}

fn elements(swizzle: [Sel; 4]) -> u8 {
    swizzle.iter().fold(0, |mask, sel| match sel {
        Sel::X => mask | 1,
        Sel::Y => mask | 2,
        Sel::Z => mask | 4,
        Sel::W => mask | 8,
        Sel::Zero | Sel::One | Sel::Mask => mask,
    })
}

fn written(swizzle: [Sel; 4]) -> u8 {
    (0..4).filter(|&n| swizzle[n] != Sel::Mask).fold(0, |mask, n| mask | 1 << n)
}

/// `mask` of a register, or of every register where an index is added.
fn channels(register: u8, relative: bool, mask: u8) -> Channels {
    let mut set = Channels::default();
    if relative {
        set.insert_everywhere(mask)
    } else {
        set.insert(register, mask)
    }
    set
}

/// Exports and memory writes read registers.
fn flow_node(slot: u32, cf: &Cf) -> PathNode {
    let burst = |first: u8, count: u8, relative: bool, mask: u8| {
        (first..=first.saturating_add(count)).map(move |n| (slot, channels(n & 127, relative, mask)))
    };
    let reads = match cf {
        Cf::Export(e) => burst(e.word0.rw_gpr, e.word1.burst_count, e.word0.rw_rel, elements(e.swizzle())).collect(),
        Cf::Mem(m) => {
            let mut reads: Vec<_> =
                burst(m.word0.rw_gpr, m.word1.burst_count, m.word0.rw_rel, m.word1.comp_mask).collect();
            if m.kind.is_indexed() {
                reads.push((slot, channels(m.word0.index_gpr, false, 0xf)));
            }
            reads
        }
        Cf::Plain(_) | Cf::Alu(_) => Vec::new(),
    };
    PathNode { slot, reads, ..PathNode::default() }
}

/// A group reads all of its operands before it writes.
fn group_node(start: u32, group: &Group) -> PathNode {
    let mut node = PathNode { slot: start, ..PathNode::default() };
    let global = |inst: &AluInst| matches!(inst.word0.index_mode, IndexMode::Global | IndexMode::GlobalArX);
    for (slot, inst) in (start..).zip(group.slots.iter().map(|slot| &slot.inst)) {
        for operand in inst.operands() {
            if let Source::Gpr(n) = operand.source
                && !(operand.relative && global(inst))
            {
                node.reads.push((slot, channels(n, operand.relative, 1 << operand.chan as u8)));
            }
        }
        let (register, relative, chan) = inst.destination();
        let info = inst.op().info();
        let writes_only =
            inst.writes() && !inst.uses_index() && !inst.updates_execute_mask() && !inst.updates_predicate();
        if writes_only && info.kind == SideEffect::Plain && info.slots == Slots::One {
            node.pure.push(slot);
        }
        if inst.writes() && !relative {
            let certain = inst.word0.pred_sel == PredSel::Off;
            node.writes.push(RegisterWrite { slot, register, mask: 1 << chan as u8, certain });
        }
    }
    node
}

/// Whether a group reads results of the one before it that are not in registers.
fn reads_last_results(group: &Group) -> bool {
    let operands = group.slots.iter().flat_map(|slot| slot.inst.operands());
    operands.into_iter().any(|operand| matches!(operand.source, Source::Special(SpecialSel::Pv | SpecialSel::Ps)))
}

fn fetch_node(slot: u32, fetch: &Fetch) -> PathNode {
    let mut node = PathNode { slot, ..PathNode::default() };
    let mut write = |first: u8, count: u8, relative: bool, mask: u8| {
        if !relative && mask != 0 {
            let registers = first..=first.saturating_add(count);
            node.writes.extend(registers.map(|n| RegisterWrite { slot, register: n & 127, mask, certain: true }));
        }
    };
    let reads = match fetch {
        Fetch::Vtx(i) => {
            if let VtxWord1::Gpr(w) = &i.word1 {
                write(w.dst_gpr, 0, w.dst_rel, written(i.word1.swizzle()));
            }
            vec![channels(i.word0.src_gpr, i.word0.src_rel, 1 << i.word0.src_sel_x as u8)]
        }
        Fetch::Tex(i) => {
            write(i.word1.dst_gpr, 0, i.word1.dst_rel, written(i.destination_swizzle()));
            // Gradients are differences between the lanes of a quad.
            let reads = channels(i.word0.src_gpr, i.word0.src_rel, elements(i.source_swizzle()));
            node.of_neighbours = reads;
            vec![reads]
        }
        Fetch::MemRd(i) => {
            let w = &i.word1;
            let swizzle = [w.dst_sel_x, w.dst_sel_y, w.dst_sel_z, w.dst_sel_w];
            write(w.dst_gpr, i.word0.burst_cnt, w.dst_rel, written(swizzle));
            let index = channels(i.word0.src_gpr, i.word0.src_rel, 1 << i.word0.src_sel_x as u8);
            if i.word0.indexed { vec![index] } else { Vec::new() }
        }
        Fetch::MemDsw(i) => {
            let w = &i.word0;
            let mask = elements([w.src_sel_x, w.src_sel_y, w.src_sel_z, w.src_sel_w]);
            let registers = w.src_gpr..=w.src_gpr.saturating_add(i.word2.burst_cnt);
            registers.map(|n| channels(n & 127, w.src_rel_mode != RelMode::None, mask)).collect()
        }
        Fetch::MemDsr(i) => {
            let w = &i.word1;
            let mask = [w.dst_wr_x, w.dst_wr_y, w.dst_wr_z, w.dst_wr_w];
            let mask = (0..4).filter(|&n| mask[n]).fold(0, |mask, n| mask | 1 << n);
            write(w.dst_gpr, i.word2.burst_cnt, w.dst_rel_mode != RelMode::None, mask);
            let address = elements([i.word0.src_sel_x, i.word0.src_sel_y, Sel::Mask, Sel::Mask]);
            vec![channels(i.word0.src_gpr, i.word0.src_rel_mode != RelMode::None, address)]
        }
    };
    node.reads = reads.into_iter().map(|read| (slot, read)).collect();
    node
}
