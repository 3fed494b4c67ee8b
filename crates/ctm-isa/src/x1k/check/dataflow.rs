//! Rules on unwritten and unread values.

use super::state::result_is_read_after;
use super::{Facts, Finding};
use crate::x1k::inst::Inst;
use crate::x1k::program::jump_depends_on_alu_result;

/// A temporary is written on some path before it is read.
pub(super) fn unwritten_temporary(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, _) in facts.each_reached() {
        for read in facts.reads[usize::from(node.pc)].iter().filter(|read| !read.relative) {
            let unwritten = read.mask & !state.written.of(read.temp);
            if unwritten != 0 {
                findings.push(Finding::at(node.pc, format!("{} is read, but nothing wrote it", read.name(unwritten))));
            }
        }
    }
    findings
}

/// A jump that depends on the ALU result finds one, written since the last flow-control instruction.
pub(super) fn alu_result_missing(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, state, inst) in facts.each_reached() {
        let Inst::Fc(fc) = inst else { continue };
        if jump_depends_on_alu_result(fc.inst.jump_func) && state.lacks_result() {
            let where_ = if state.has_result() { "on a path to here" } else { "before it" };
            let message = format!("the jump depends on the ALU result, which nothing wrote {where_} since the last FC");
            findings.push(Finding::at(node.pc, message).help("set `ALU_WMASK` on an ALU instruction in between"));
        }
    }
    findings
}

/// An ALU result that is written is read by the next flow-control instruction.
pub(super) fn alu_result_unused(facts: &Facts<'_>) -> Vec<Finding> {
    let mut writes = vec![false; facts.insts.len()];
    let mut reads = vec![false; facts.insts.len()];
    // A subroutine's result may be read after one call and not after another.
    for (node, read) in facts.graph.nodes.iter().zip(result_is_read_after(&facts.insts, &facts.graph)) {
        let pc = usize::from(node.pc);
        writes[pc] = matches!(facts.insts[pc], Some(Inst::Alu(alu)) if alu.rgb.alu_wmask);
        reads[pc] |= read;
    }
    (0u16..)
        .zip(writes.into_iter().zip(reads))
        .filter(|&(_, (writes, reads))| writes && !reads)
        .map(|(pc, _)| Finding::at(pc, "the ALU result is written, but the next FC does not depend on it"))
        .collect()
}
