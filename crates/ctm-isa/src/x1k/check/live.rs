//! Live ranges of an X1K program.

use super::Facts;
use crate::live::{Channels, Liveness, PathNode, RegisterWrite, solve};
use crate::x1k::Program;
use crate::x1k::access::predicate_bits;

/// The readers of each instruction's writes to temporaries, along every path.
///
/// ```
/// let program = ctm_isa::x1k::text::assemble("add r1.r, r0.r, 1\nadd r2.r, r1.r, 1\nmov o0, r2.r\n").program.unwrap();
/// let live = ctm_isa::x1k::check::live(&program);
/// assert_eq!((live.values[0].register, live.values[0].readers.as_slice()), (1, [1].as_slice()));
/// ```
#[must_use]
pub fn live(program: &Program) -> Liveness {
    let facts = Facts::new(program);
    let nodes: Vec<PathNode> = facts
        .graph
        .nodes
        .iter()
        .map(|node| {
            let (pc, slot) = (usize::from(node.pc), u32::from(node.pc));
            let mut reads = Channels::default();
            facts.reads[pc].iter().for_each(|&access| reads.add(access));
            let certain = facts.insts[pc].as_ref().is_none_or(|inst| predicate_bits(inst) == 0);
            let writes = facts.writes[pc].iter().filter(|access| !access.relative);
            PathNode {
                slot,
                reads: vec![(slot, reads)],
                writes: writes
                    .map(|access| RegisterWrite { slot, register: access.temp, mask: access.mask, certain })
                    .collect(),
                next: node.successors.clone(),
                ..PathNode::default()
            }
        })
        .collect();
    if facts.graph.incomplete { Liveness { incomplete: true, ..Liveness::default() } } else { solve(&nodes) }
}
