//! Live ranges of a vertex program.

use super::SlotFacts;
use crate::live::{Channels, Liveness, PathNode, RegisterWrite, solve};
use crate::pvs::access::{self, WrittenFile};
use crate::pvs::inst::Inst;
use crate::pvs::ops::{AddrMode, SrcType};
use crate::pvs::program::VertexProgram;

/// The readers of each instruction's writes to temporaries, along every path.
///
/// ```
/// use ctm_isa::pvs::{check::live, text::assemble};
/// let program = assemble("mov r1.x, v0\nadd r2.x, r1.x, 1\nmov o0, r2.x\n").program.unwrap();
/// let live = live(&program);
/// assert_eq!((live.values[0].register, live.values[0].readers.as_slice()), (1, [1].as_slice()));
/// ```
#[must_use]
pub fn live(program: &VertexProgram) -> Liveness {
    let facts = SlotFacts::new(program);
    if facts.graph.incomplete {
        return Liveness { incomplete: true, ..Liveness::default() };
    }
    let nodes = facts.graph.nodes.iter().zip(&facts.graph.next);
    let nodes: Vec<PathNode> = nodes
        .map(|(node, next)| {
            let slot = u32::from(node.pc);
            let inst = facts.inst(node.pc);
            PathNode {
                slot,
                reads: vec![(slot, inst.map(temporaries_read).unwrap_or_default())],
                writes: inst.and_then(|inst| temporary_written(inst, slot)).into_iter().collect(),
                next: next.clone(),
                ..PathNode::default()
            }
        })
        .collect();
    solve(&nodes)
}

fn temporaries_read(inst: &Inst) -> Channels {
    let mut reads = Channels::default();
    for read in access::reads(inst).into_iter().filter(|read| read.file == SrcType::Temporary) {
        match read.address.mode {
            AddrMode::Absolute => reads.insert(read.address.offset, read.components),
            AddrMode::RelativeA0 | AddrMode::RelativeI0 => reads.insert_everywhere(read.components),
        }
    }
    reads
}

/// The write to a temporary that the words name.
fn temporary_written(inst: &Inst, slot: u32) -> Option<RegisterWrite> {
    let write = access::write(inst)?;
    let is_known = write.file == WrittenFile::Temporary && write.address.mode == AddrMode::Absolute;
    is_known.then_some(RegisterWrite {
        slot,
        register: write.address.offset,
        mask: write.components,
        certain: !write.conditional,
    })
}
