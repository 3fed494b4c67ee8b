//! Rules on waits: presubtract, texture semaphore, ALU_WAIT.

use super::state::{Unfinished, acquires};
use super::{Facts, Finding};
use crate::x1k::access::{TemporaryAccess, components, needed};
use crate::x1k::inst::{AluInst, Inst, Source};
use crate::x1k::ops::{Sel, SrcpOp, Swizzle, TexOp};

/// The channels of temporaries that the used presubtract results read.
pub(crate) fn presubtract_reads(alu: &AluInst) -> Vec<TemporaryAccess> {
    let (mut rgb, mut alpha) = (0, 0);
    for (_, swizzle) in components(alu).into_iter().filter(|&(sel, _)| sel == Sel::Srcp) {
        match swizzle {
            Swizzle::R => rgb |= 1,
            Swizzle::G => rgb |= 2,
            Swizzle::B => rgb |= 4,
            Swizzle::A => alpha |= 8,
            Swizzle::Zero | Swizzle::Half | Swizzle::One | Swizzle::Unused => {}
        }
    }
    let units = [(alu.rgb_sources(), alu.rgb_addr.srcp_op, rgb), (alu.alpha_sources(), alu.alpha_addr.srcp_op, alpha)];
    units
        .into_iter()
        .filter(|&(.., mask)| mask != 0)
        .flat_map(|(sources, op, mask)| {
            let count = if matches!(op, SrcpOp::Sub | SrcpOp::Add) { 2 } else { 1 };
            sources.into_iter().take(count).filter_map(move |source| temp_access(source, mask))
        })
        .collect()
}

/// The channels of temporaries that MDH and MDV read as src0 of the quad's processors.
pub(crate) fn quad_reads(alu: &AluInst) -> Vec<TemporaryAccess> {
    let (rgb, alpha) = needed(alu);
    let units = [
        (alu.rgba.op.is_quad(), alu.rgb_sources()[0], rgb),
        (alu.alpha.op.is_quad(), alu.alpha_sources()[0], u8::from(alpha) << 3),
    ];
    units.into_iter().filter(|&(quad, ..)| quad).filter_map(|(_, source, mask)| temp_access(source, mask)).collect()
}

fn temp_access(source: Source, mask: u8) -> Option<TemporaryAccess> {
    match source {
        Source::Temp { index, relative } => Some(TemporaryAccess { temp: index, relative, mask }),
        Source::Const { .. } | Source::Inline { .. } => None,
    }
}

/// Registers that the instruction before `pc` writes and that `reads` contains, unless that instruction has NOP set.
fn written_just_before(facts: &Facts<'_>, pc: u16, reads: &[TemporaryAccess]) -> Option<String> {
    let before = usize::from(pc.checked_sub(1)?);
    let Inst::Alu(previous) = facts.insts[before].as_ref()? else { return None };
    if previous.cmn.nop || !facts.graph.reached[before] || before == usize::from(facts.program.last) {
        return None;
    }
    let clash = |read: &TemporaryAccess| {
        let write = facts.writes[before].iter().find(|w| w.may_alias(*read) && w.mask & read.mask != 0)?;
        Some(write.name(write.mask & read.mask))
    };
    reads.iter().find_map(clash)
}

/// A presubtract does not read a result of the previous ALU instruction, unless that one has NOP set.
pub(super) fn presubtract_nop(facts: &Facts<'_>) -> Vec<Finding> {
    nop_hazard(facts, presubtract_reads, "the presubtract reads")
}

/// No source register of a presubtract is written by the previous ALU instruction, in whatever channels, unless that one has NOP set.
///
/// *The Guide speaks of sources that are written, not of their channels; the presubtract works channel by channel, and Mesa leaves the NOP out
/// when the channels differ.* Where they meet it is [`presubtract_nop`].
pub(super) fn presubtract_nop_register(facts: &Facts<'_>) -> Vec<Finding> {
    let whole = |alu: &AluInst| {
        presubtract_reads(alu).into_iter().map(|read| TemporaryAccess { mask: 15, ..read }).collect::<Vec<_>>()
    };
    let mut findings = Vec::new();
    for (pc, alu) in facts.each_alu() {
        if written_just_before(facts, pc, &presubtract_reads(alu)).is_none()
            && let Some(register) = written_just_before(facts, pc, &whole(alu))
        {
            let message = format!(
                "a presubtract reads other channels of the register of {register}, which the previous instruction writes without `NOP`"
            );
            findings.push(Finding::at(pc, message).help(format!("set `NOP` on instruction {}", pc - 1)));
        }
    }
    findings
}

/// MDH and MDV do not read a result of the previous ALU instruction, unless that one has NOP set.
pub(super) fn quad_nop(facts: &Facts<'_>) -> Vec<Finding> {
    nop_hazard(facts, quad_reads, "MDH or MDV reads")
}

fn nop_hazard(facts: &Facts<'_>, reads: fn(&AluInst) -> Vec<TemporaryAccess>, what: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, alu) in facts.each_alu() {
        if let Some(register) = written_just_before(facts, pc, &reads(alu)) {
            let message = format!("{what} {register}, which the previous instruction writes without `NOP`");
            findings.push(Finding::at(pc, message).help(format!("set `NOP` on instruction {}", pc - 1)));
        }
    }
    findings
}

/// An instruction that acquires the texture semaphore waits for it first.
pub(super) fn acquire_without_wait(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each()
        .filter(|(_, inst, _)| acquires(inst, facts.program.uncached) && !inst.cmn().tex_sem_wait)
        .map(|(pc, ..)| {
            Finding::at(pc, "the texture semaphore is acquired without `TEX_SEM_WAIT`")
                .help("set `TEX_SEM_WAIT`: it costs nothing when the semaphore is free")
        })
        .collect()
}

/// The result of a lookup is not used before `TEX_SEM_WAIT`.
pub(super) fn missing_tex_wait(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, inst) in facts.each_after_waits() {
        for read in facts.reads[usize::from(node.pc)].iter().filter(|read| !read.relative) {
            let pending = state.guarded.of(read.temp) & read.mask;
            if pending != 0 {
                let message = format!("{} is read while its lookup may be outstanding", read.name(pending));
                findings.push(Finding::at(node.pc, message).help("set `TEX_SEM_WAIT`"));
            }
        }
        let uncached = matches!(inst, Inst::Tex(tex) if tex.inst.op == TexOp::LookupUncached);
        if uncached && state.uncached_write_guarded() {
            let message = "LOOKUP_UNCACHED while an uncached write may be outstanding";
            findings.push(Finding::at(node.pc, message).help("set `TEX_SEM_WAIT`"));
        }
    }
    findings
}

/// A lookup whose result is used is covered by a `TEX_SEM_ACQUIRE`.
pub(super) fn missing_tex_acquire(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, inst) in facts.each_after_waits() {
        for read in facts.reads[usize::from(node.pc)].iter().filter(|read| !read.relative) {
            let pending = state.fetching.of(read.temp) & read.mask;
            if pending != 0 {
                let message = format!("{} is read, but its lookup never acquired the semaphore", read.name(pending));
                findings.push(Finding::at(node.pc, message).help("set `TEX_SEM_ACQUIRE` on the last lookup before"));
            }
        }
        let uncached = matches!(inst, Inst::Tex(tex) if tex.inst.op == TexOp::LookupUncached);
        if uncached && state.uncached_write() {
            let message = "LOOKUP_UNCACHED after an uncached write that did not acquire the semaphore";
            let help = "use a TEX_SEM_ACQUIRE target for the last uncached write before";
            findings.push(Finding::at(node.pc, message).help(help));
        }
    }
    findings
}

/// An ALU instruction does not write a register whose lookup is outstanding.
pub(super) fn overwritten_lookup(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, _) in facts.each_after_waits().filter(|(_, _, inst)| matches!(inst, Inst::Alu(_))) {
        for write in facts.writes[usize::from(node.pc)].iter().filter(|write| !write.relative) {
            let pending = (state.guarded.of(write.temp) | state.fetching.of(write.temp)) & write.mask;
            if pending != 0 {
                let message = format!("{} is written while a lookup into it may be outstanding", write.name(pending));
                findings.push(Finding::at(node.pc, message).help("wait for the lookup first: it may arrive later"));
            }
        }
    }
    findings
}

/// TEX and FC wait for the ALU results that they use.
pub(super) fn missing_alu_wait(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, inst) in facts.each_after_waits() {
        let Unfinished { temps, predicate, result } = state.unfinished(inst, &facts.reads[usize::from(node.pc)]);
        let named = [(result, "the ALU result"), (predicate, "a predicate")];
        let what: Vec<String> = temps
            .iter()
            .map(|access| access.name(access.mask))
            .chain(named.into_iter().filter(|&(used, _)| used).map(|(_, name)| name.to_owned()))
            .collect();
        if !what.is_empty() {
            let (kind, what) = (inst.cmn().kind.name(), what.join(" and "));
            let message = format!("{kind} uses {what}, computed by an ALU instruction, without `ALU_WAIT`");
            findings.push(Finding::at(node.pc, message).help("set `ALU_WAIT`"));
        }
    }
    findings
}

/// A flow-control instruction waits for the semaphore when an instruction that may follow it does: the erratum of CTM §3.7.
///
/// *The Guide always requires it; without an outstanding ACQUIRE it has no effect, and we do not require it.*
pub(super) fn fc_tex_wait_erratum(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, inst) in facts.each_reached() {
        if !matches!(inst, Inst::Fc(_)) || inst.cmn().tex_sem_wait || !state.semaphore_held() {
            continue;
        }
        let waiting = node
            .successors
            .iter()
            .map(|&s| facts.graph.nodes[s].pc)
            .find(|&pc| facts.insts[usize::from(pc)].is_some_and(|next| next.cmn().tex_sem_wait));
        if let Some(next) = waiting {
            let message =
                format!("instruction {next} may follow and waits for the texture semaphore, but this FC does not");
            findings.push(Finding::at(node.pc, message).help("set `TEX_SEM_WAIT` here: the wait after FC may fail"));
        }
    }
    findings
}
