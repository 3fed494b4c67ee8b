//! Findings of checked runs on instructions before they execute: registers, predicate bits and ALU results that nothing wrote, and loops of the other kind.

use super::super::alu::{self, Surroundings, register};
use super::super::checks;
use super::super::plan::{AluPlan, Component};
use super::{Context, Group};
use ctm_isa::x1k::TEMPORARIES;
use ctm_isa::x1k::inst::{FcInstruction, Source};
use ctm_isa::x1k::ops::{FcOp, InstType};
use ctm_isa::x1k::program::{jump_depends_on_alu_result, jump_depends_on_predicate};

impl Group {
    /// Suspicious reads of an ALU or OUTPUT instruction.
    pub(super) fn note_alu(&mut self, context: &Context<'_>, plan: &AluPlan, surroundings: &Surroundings<'_>, pc: u32) {
        let cmn = &plan.inst.cmn;
        self.note_reads(&plan.reads, surroundings.loop_variable, cmn.write_inactive, pc);
        self.note_predicates(cmn, pc);
        let exports = plan.inst.alpha.w_omask && plan.inst.is_output();
        if exports
            && !context.launch.program.conditional_value
            && let Some(position) = self.first_concerned(cmn.write_inactive)
        {
            self.findings.note(checks::CONDITIONAL_VALUE_NOT_EXPORTED, pc, Some(position), || {
                "the conditional value is written, but FG_DEPTH_SRC says that the program exports none".into()
            });
        }
    }

    /// Reads of temporaries that a covered lane has never written.
    pub(super) fn note_reads(&mut self, reads: &[Component], loop_variable: i32, write_inactive: bool, pc: u32) {
        for &Component { source, channel } in reads {
            let Source::Temp { index, relative } = source else { continue };
            let Ok(temp) = register(index, relative, loop_variable, TEMPORARIES) else { continue };
            for block in &self.blocks {
                let executing = if write_inactive { block.existing } else { block.running };
                let unwritten = executing.and(block.covered).without(block.written_temps[temp][channel]);
                if let Some(lane) = unwritten.first() {
                    self.findings.note(checks::UNINITIALISED_TEMPORARY, pc, Some(block.positions[lane]), || {
                        format!("r{temp}.{} is read but was never written; it holds 0", ["r", "g", "b", "a"][channel])
                    });
                    break;
                }
            }
        }
    }

    /// Predicates that mask a write before they were ever set.
    pub(super) fn note_predicates(&mut self, cmn: &ctm_isa::x1k::formats::CmnInst, pc: u32) {
        let outputs = cmn.kind == InstType::Output;
        let rgb = cmn.rgb_wmask | if outputs { cmn.rgb_omask } else { 0 };
        let alpha = cmn.alpha_wmask || (outputs && cmn.alpha_omask);
        for channel in 0..4 {
            let (sel, used) =
                if channel == 3 { (cmn.alpha_pred_sel, alpha) } else { (cmn.rgb_pred_sel, rgb >> channel & 1 == 1) };
            if let (true, Some(bit)) = (used, alu::predicate_channel(sel, channel)) {
                self.note_predicate(bit, cmn.write_inactive, pc);
            }
        }
    }

    fn note_predicate(&mut self, bit: usize, write_inactive: bool, pc: u32) {
        for block in &self.blocks {
            let executing = if write_inactive { block.existing } else { block.running };
            let unset = executing.and(block.covered).without(block.written_predicates[bit]);
            if let Some(lane) = unset.first() {
                self.findings.note(checks::UNINITIALISED_PREDICATE, pc, Some(block.positions[lane]), || {
                    format!("predicate bit {} is used but was never set; it is 0", ["r", "g", "b", "a"][bit])
                });
                return;
            }
        }
    }

    /// Suspicious behaviour of a flow-control instruction.
    pub(super) fn note_fc(&mut self, fc: &FcInstruction, pc: u32) {
        if jump_depends_on_predicate(fc.inst.jump_func)
            && let Some(bit) = alu::predicate_channel(fc.cmn.rgb_pred_sel, 0)
        {
            self.note_predicate(bit, false, pc);
        }
        if jump_depends_on_alu_result(fc.inst.jump_func) {
            for block in &self.blocks {
                let undefined = block.running.and(block.covered).without(block.written_alu_result);
                if let Some(lane) = undefined.first() {
                    self.findings.note(checks::UNDEFINED_ALU_RESULT, pc, Some(block.positions[lane]), || {
                        "the jump depends on the ALU result, but none was produced since the last flow-control instruction"
                            .into()
                    });
                    break;
                }
            }
        }
        let wants_loop = match fc.inst.op {
            FcOp::EndLoop | FcOp::BreakLoop => Some(true),
            FcOp::EndRep | FcOp::BreakRep => Some(false),
            FcOp::Jump | FcOp::Loop | FcOp::Rep | FcOp::Continue => None,
        };
        if let (Some(wanted), Some(is_loop)) = (wants_loop, self.machine.innermost_is_loop())
            && wanted != is_loop
        {
            let frame = if is_loop { "LOOP" } else { "REP" };
            self.findings
                .note(checks::LOOP_KIND, pc, None, || format!("{} is used in a {frame} block", fc.inst.op.name()));
        }
    }
}
