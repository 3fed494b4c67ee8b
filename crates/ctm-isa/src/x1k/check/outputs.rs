//! Rules on outputs, uncached writes, texture masks and the end of the program.

use super::{Facts, Finding};
use crate::x1k::inst::Inst;
use crate::x1k::ops::{Channel, InstType, TexOp};
use crate::x1k::program::SymbolKind;

/// The instruction at which the program ends.
fn last<'f>(facts: &'f Facts<'_>) -> Option<(u16, &'f Inst)> {
    let pc = facts.program.last;
    facts.insts.get(usize::from(pc))?.as_ref().map(|inst| (pc, inst))
}

/// The last instruction is an OUTPUT instruction.
pub(super) fn last_not_output(facts: &Facts<'_>) -> Vec<Finding> {
    last(facts)
        .filter(|(_, inst)| inst.cmn().kind != InstType::Output)
        .map(|(pc, inst)| {
            Finding::at(pc, format!("the last instruction is of type {}; OUTPUT is required", inst.cmn().kind.name()))
                .help("append an OUTPUT instruction with an empty mask")
        })
        .into_iter()
        .collect()
}

/// The last instruction waits for the texture semaphore.
pub(super) fn last_without_wait(facts: &Facts<'_>) -> Vec<Finding> {
    last(facts)
        .filter(|(_, inst)| !inst.cmn().tex_sem_wait)
        .map(|(pc, _)| Finding::at(pc, "the program ends without `TEX_SEM_WAIT`").help("set `TEX_SEM_WAIT`"))
        .into_iter()
        .collect()
}

/// An early exit obeys the rules for the last instruction.
pub(super) fn early_exit(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_alu()
        .filter(|&(pc, alu)| pc != facts.program.last && alu.cmn.last && !(alu.is_output() && alu.cmn.tex_sem_wait))
        .map(|(pc, _)| {
            Finding::at(pc, "`LAST` may end the program on an instruction that is not OUTPUT with `TEX_SEM_WAIT`")
        })
        .collect()
}

/// The program information says whether the W output is written.
pub(super) fn conditional_value(facts: &Facts<'_>) -> Vec<Finding> {
    let writer = facts.each_alu().find(|(_, alu)| alu.alpha.w_omask);
    match (writer, facts.program.conditional_value) {
        (Some((pc, _)), false) => vec![Finding::at(
            pc,
            "the conditional value is written, but the program information says that it is not exported",
        )],
        (None, true) => {
            vec![Finding::whole(
                "the program information exports a conditional value, but no instruction sets `W_OMASK`",
            )]
        }
        (Some(_), true) | (None, false) => Vec::new(),
    }
}

/// An OUTPUT instruction of an uncached program writes all four channels or none.
pub(super) fn umrt_channels(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, alu) in facts.each_alu().filter(|(_, alu)| facts.program.uncached && alu.is_output()) {
        let mask = alu.cmn.rgb_omask | u8::from(alu.cmn.alpha_omask) << 3;
        if mask != 0 && mask != 0xf {
            let letters: String = Channel::ALL.iter().filter(|c| mask >> c.code() & 1 == 1).map(|c| c.name()).collect();
            findings.push(Finding::at(
                pc,
                format!("an uncached write of {letters} only; all four channels or none are allowed"),
            ));
        }
    }
    findings
}

/// A program writes its outputs either cached or uncached.
pub(super) fn umrt_mixing(facts: &Facts<'_>) -> Vec<Finding> {
    let outputs = facts.program.symbols.iter().filter(|s| s.kind == SymbolKind::Output && s.index != 0);
    outputs
        .filter(|_| facts.program.uncached)
        .map(|symbol| {
            let message =
                format!("`{}` names output {}, but uncached writes go to output 0", symbol.name, symbol.index);
            Finding::whole(message)
        })
        .collect()
}

/// An uncached read takes unscaled coordinates.
pub(super) fn uncached_read_scaled(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_tex()
        .filter(|(_, tex)| tex.inst.op == TexOp::LookupUncached && !tex.inst.unscaled)
        .map(|(pc, _)| {
            Finding::at(pc, "LOOKUP_UNCACHED without `UNSCALED`: coordinates are scaled by the input's size")
        })
        .collect()
}

/// A texture instruction has a channel in its write mask.
pub(super) fn tex_without_mask(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, tex) in facts.each_tex().filter(|(_, tex)| tex.cmn.rgb_wmask == 0 && !tex.cmn.alpha_wmask) {
        match tex.inst.op {
            TexOp::Nop => {}
            TexOp::KillLt0 => findings.push(Finding::at(pc, "KILL_LT_0 with an empty write mask examines no channel")),
            TexOp::Lookup | TexOp::LookupProj | TexOp::LodBias | TexOp::Lod | TexOp::Dxdy | TexOp::LookupUncached => {
                findings
                    .push(Finding::at(pc, format!("{} with an empty write mask writes nothing", tex.inst.op.name())));
            }
        }
    }
    findings
}

/// KILL_LT_0 is not given a source swizzle, which it ignores.
pub(super) fn kill_swizzle(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, tex) in facts.each_tex().filter(|(_, tex)| tex.inst.op == TexOp::KillLt0) {
        let a = &tex.addr;
        let swizzle = [a.src_s_swiz, a.src_t_swiz, a.src_r_swiz, a.src_q_swiz];
        // Zeroed bits mean all red.
        if swizzle != [Channel::R, Channel::G, Channel::B, Channel::A] && swizzle != [Channel::R; 4] {
            findings.push(
                Finding::at(pc, "KILL_LT_0 ignores source swizzles").help("choose the channels with the write mask"),
            );
        }
    }
    findings
}
