//! Rules on single words: undecodable fields, and fields set without effect.

use super::{Facts, Finding};
use crate::table::WordFormat;
use crate::x1k::access::components;
use crate::x1k::formats::{CmnInst, WORDS, cmn_field_is_effective};
use crate::x1k::inst::{Inst, stray_bits};
use crate::x1k::ops::{InstType, Swizzle, TexOp};

/// Every field holds a number with a meaning.
pub(super) fn undecodable(facts: &Facts<'_>) -> Vec<Finding> {
    facts.errors.iter().map(|(pc, error)| Finding::at(*pc, error.to_string())).collect()
}

fn format_at(kind: InstType, dword: usize) -> Option<&'static WordFormat> {
    WORDS.iter().find(|(kinds, format)| kinds.contains(&kind) && format.dword == dword).map(|(_, format)| format)
}

/// Reserved bits are 0.
pub(super) fn reserved_bits(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, words) in facts.each() {
        let stray = stray_bits(words).unwrap_or_default();
        for (dword, bits) in stray.into_iter().enumerate().filter(|&(_, bits)| bits != 0) {
            if let Some(format) = format_at(inst.cmn().kind, dword) {
                findings.push(Finding::at(pc, format!("reserved bits {bits:#010x} of {} are set", format.name)));
            }
        }
    }
    findings
}

/// Dwords that the instruction type does not use are 0.
pub(super) fn unused_dwords(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, words) in facts.each() {
        let kind = inst.cmn().kind;
        let dxdy_unused = matches!(inst, Inst::Tex(tex) if tex.inst.op != TexOp::Dxdy);
        for (dword, &word) in words.iter().enumerate().filter(|&(_, &word)| word != 0) {
            if format_at(kind, dword).is_none() {
                findings
                    .push(Finding::at(pc, format!("dword {dword} is {word:#010x}; {} does not use it", kind.name())));
            } else if dword == 3 && dxdy_unused {
                findings.push(Finding::at(pc, format!("TEX_ADDR_DXDY is {word:#010x}; only DXDY uses it")));
            }
        }
    }
    findings
}

/// Fields of the common word are set only where the table of CTM §3.2 marks them effective.
pub(super) fn ineffective_field(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, words) in facts.each() {
        let kind = inst.cmn().kind;
        let set: Vec<String> = CmnInst::FORMAT
            .fields
            .iter()
            .filter(|field| field.extract(words[0]) != 0 && !cmn_field_is_effective(field.name, kind))
            .map(|field| format!("`{}`", field.name))
            .collect();
        if !set.is_empty() {
            let verb = if set.len() == 1 { "is" } else { "are" };
            findings.push(Finding::at(pc, format!("{} {verb} set, without effect on {}", set.join(", "), kind.name())));
        }
    }
    findings
}

/// No component that reaches a result selects swizzle 7, whose meaning AMD does not document.
pub(super) fn undefined_swizzle(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_alu()
        .filter(|(_, alu)| components(alu).iter().any(|&(_, swizzle)| swizzle == Swizzle::Unused))
        .map(|(pc, _)| {
            Finding::at(pc, "a component that reaches a result selects swizzle 7, which is not defined")
                .help("select ZERO (4) for the value 0")
        })
        .collect()
}
