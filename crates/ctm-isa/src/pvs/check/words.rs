//! Rules on single words: undecodable fields, and fields set without effect.

use super::{Finding, SlotFacts};
use crate::pvs::access::{dual_operands, operand_components};
use crate::pvs::inst::{RegisterAddress, stray_bits};
use crate::pvs::ops::{AddrMode, Class, Component, Op, Select};

/// Every field holds a number with a meaning, and fields agree.
pub(super) fn undecodable(facts: &SlotFacts<'_>) -> Vec<Finding> {
    facts.errors.iter().map(|(pc, error)| Finding::at(*pc, error.to_string())).collect()
}

/// Reserved bits are 0.
pub(super) fn reserved_bits(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, _, words) in facts.each() {
        let stray = stray_bits(words).unwrap_or_default();
        for (dword, bits) in stray.into_iter().enumerate().filter(|&(_, bits)| bits != 0) {
            findings.push(Finding::at(pc, format!("reserved bits {bits:#010x} of dword {dword} are set")));
        }
    }
    findings
}

/// No component that reaches a result selects 7.
pub(super) fn undefined_swizzle(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let mut undefined = Vec::new();
        for n in 0..3 {
            let (mask, Some(src)) = (operand_components(inst, n), inst.source(n)) else { continue };
            let swizzle = src.swizzle();
            if (0..4).any(|i| mask >> i & 1 == 1 && swizzle[i] == Select::Unused) {
                undefined.push(format!("source {n}"));
            }
        }
        if let Some((op, dual)) = inst.dual() {
            let used = dual_operands(op);
            if [dual.swizzle_x, dual.swizzle_y].iter().zip(used).any(|(&s, used)| used && s == Select::Unused) {
                undefined.push("the dual operation".to_owned());
            }
        }
        for what in undefined {
            let message = format!("a component of {what} that reaches a result selects 7, which is not defined");
            findings.push(Finding::at(pc, message).help("select 4 for the value 0"));
        }
    }
    findings
}

/// Fields are set where they have an effect.
pub(super) fn ineffective_field(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let mut set = Vec::new();
        let idle = |address: RegisterAddress| address.mode != AddrMode::RelativeA0 && address.sel != Component::X;
        let has_result = inst.op.info().class != Class::Nothing;
        let vector = !inst.op.is_math() && has_result;
        let math = matches!(inst.op, Op::Math(_)) && has_result;
        let dual = inst.dual().is_some_and(|(op, _)| op.info().class != Class::Nothing);
        if inst.dst.ve_sat && !vector {
            set.push("PVS_DST_VE_SAT");
        }
        if inst.dst.me_sat && !math && !dual {
            set.push("PVS_DST_ME_SAT");
        }
        if inst.dst.pred_sense && !inst.dst.pred_enable {
            set.push("PVS_DST_PRED_SENSE");
        }
        if idle(inst.dst.address()) {
            set.push("PVS_DST_ADDR_SEL");
        }
        if (0..3).filter_map(|n| inst.source(n)).any(|src| idle(src.address())) {
            set.push("PVS_SRC_ADDR_SEL");
        }
        for field in set {
            findings.push(Finding::at(pc, format!("`{field}` is set without effect")));
        }
    }
    findings
}
