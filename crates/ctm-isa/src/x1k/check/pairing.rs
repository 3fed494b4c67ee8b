//! Rules on one ALU or OUTPUT instruction and the fit of its two halves.

use super::{Facts, Finding};
use crate::x1k::access::needed;
use crate::x1k::inst::{Inst, Source};
use crate::x1k::ops::{AlphaOp, InstType, Omod, PredSel, RgbOp};

/// RGB_SOP copies a transcendental result of the alpha unit.
pub(super) fn sop_pairing(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_alu()
        .filter(|(_, alu)| alu.rgba.op == RgbOp::Sop && !alu.alpha.op.is_transcendental())
        .map(|(pc, alu)| {
            let names: Vec<_> = AlphaOp::ALL.iter().filter(|op| op.is_transcendental()).map(|op| op.name()).collect();
            let message = format!("RGB_SOP beside alpha {}; allowed are {}", alu.alpha.op.name(), names.join(", "));
            Finding::at(pc, message)
        })
        .collect()
}

/// ALPHA_DP copies a dot product of the RGB unit.
pub(super) fn dp_pairing(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_alu()
        .filter(|(_, alu)| alu.alpha.op == AlphaOp::Dp && !alu.rgba.op.is_dot_product())
        .map(|(pc, alu)| {
            let names: Vec<_> = RgbOp::ALL.iter().filter(|op| op.is_dot_product()).map(|op| op.name()).collect();
            Finding::at(pc, format!("ALPHA_DP beside RGB {}; allowed are {}", alu.rgba.op.name(), names.join(", ")))
        })
        .collect()
}

/// OMOD_DISABLED goes with MIN, MAX, CND and CMP only.
pub(super) fn omod_disabled(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, alu) in facts.each_alu() {
        let (rgb, alpha) = needed(alu);
        let (rgb_info, alpha_info) = (alu.rgba.op.info(), alu.alpha.op.info());
        let mut report = |unit: &str, name: &str| {
            let allowed = RgbOp::ALL.iter().filter(|op| op.info().omod_disabled()).map(|op| op.name());
            let allowed = allowed.collect::<Vec<_>>().join(", ");
            let message = format!("{unit} {name} has OMOD_DISABLED; allowed with {allowed}");
            findings.push(Finding::at(pc, message).help("use OMOD_U1 for an unscaled result"));
        };
        if rgb != 0 && alu.rgb.omod == Omod::Disabled && !rgb_info.omod_disabled() {
            report("RGB", alu.rgba.op.name());
        }
        if alpha && alu.alpha.omod == Omod::Disabled && !alpha_info.omod_disabled() {
            report("alpha", alu.alpha.op.name());
        }
    }
    findings
}

/// A clamped result has its output modifier enabled.
pub(super) fn clamp_without_omod(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, alu) in facts.each_alu() {
        let (rgb, alpha) = needed(alu);
        let units = [
            ("RGB_CLAMP", alu.cmn.rgb_clamp && rgb != 0 && alu.rgb.omod == Omod::Disabled),
            ("ALPHA_CLAMP", alu.cmn.alpha_clamp && alpha && alu.alpha.omod == Omod::Disabled),
        ];
        for (field, _) in units.into_iter().filter(|&(_, wrong)| wrong) {
            let message = format!("`{field}` has no effect with OMOD_DISABLED");
            findings.push(Finding::at(pc, message).help("use OMOD_U1 for a clamped move"));
        }
    }
    findings
}

/// The ALU result is written by instructions of type ALU.
pub(super) fn alu_result_on_output(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_alu()
        .filter(|(_, alu)| alu.is_output() && alu.rgb.alu_wmask)
        .map(|(pc, _)| Finding::at(pc, "an OUTPUT instruction writes the ALU result; use an ALU instruction"))
        .collect()
}

/// The W output is written by instructions of type OUTPUT.
pub(super) fn w_output_on_alu(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_alu()
        .filter(|(_, alu)| !alu.is_output() && alu.alpha.w_omask)
        .map(|(pc, _)| Finding::at(pc, "an ALU instruction sets `W_OMASK`; only OUTPUT instructions write outputs"))
        .collect()
}

/// A predicate is inverted only where one is selected.
pub(super) fn inverted_no_predicate(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let cmn = inst.cmn();
        if cmn.rgb_pred_inv && cmn.rgb_pred_sel == PredSel::None {
            findings.push(Finding::at(pc, "`RGB_PRED_INV` is set but `RGB_PRED_SEL` is NONE"));
        }
        if cmn.alpha_pred_inv && cmn.alpha_pred_sel == PredSel::None && cmn.kind != InstType::Fc {
            findings.push(Finding::at(pc, "`ALPHA_PRED_INV` is set but `ALPHA_PRED_SEL` is NONE"));
        }
    }
    findings
}

/// aL is never added to an inline constant.
pub(super) fn relative_inline_constant(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, alu) in facts.each_alu() {
        for (unit, sources) in [("RGB", alu.rgb_sources()), ("alpha", alu.alpha_sources())] {
            for (i, source) in sources.iter().enumerate() {
                if matches!(source, Source::Inline { relative: true, .. }) {
                    findings.push(Finding::at(pc, format!("aL is added to the inline constant in {unit} source {i}")));
                }
            }
        }
    }
    findings
}

/// An OUTPUT instruction writes an output, or ends the program.
pub(super) fn idle_output(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let Inst::Alu(alu) = inst else { continue };
        let idle = alu.cmn.rgb_omask == 0 && !alu.cmn.alpha_omask && !alu.alpha.w_omask;
        let ends = pc == facts.program.last || alu.cmn.last;
        if alu.is_output() && idle && !ends && !facts.program.uncached {
            let message = "an OUTPUT instruction writes no output and does not end the program";
            findings.push(Finding::at(pc, message).help("make it an ALU instruction: OUTPUT reserves space early"));
        }
    }
    findings
}
