//! The use of the number of the vertex in vertex programs, element x of register 0: whether fetches alone read it.
//!
//! The number of a vertex whose number nothing else reads may be any one under which the fetches find the same items. Looks at the text of straight programs alone, so it may miss some.

use ctm_isa::r700::formats::VtxWord0;
use ctm_isa::r700::inst::{AluClause, AluInst, Cf, ClauseBody, Decoded, Fetch, FetchClause, VtxFetch, VtxWord1};
use ctm_isa::r700::ops::{CfAluOp, CfOp, Chan, FetchType, PredSel, Source};

/// A straight walk through a program.
struct NumberWalk {
    /// The register still holds the number.
    holds: bool,
}

impl NumberWalk {
    /// Whether an operand is the number, or may be.
    fn is_number(&self, gpr: u8, chan: Chan) -> bool {
        self.holds && gpr == 0 && chan == Chan::X
    }

    /// Whether no instruction of an ALU clause reads the number.
    fn alu(&mut self, clause: &AluClause) -> bool {
        clause.broken.is_none()
            && clause.groups.iter().all(|group| {
                let mut insts = group.slots.iter().map(|slot| &slot.inst);
                let reads = |inst: &AluInst| {
                    let is_number = |source| matches!(source, Source::Gpr(gpr) if self.holds && gpr == 0);
                    let branches = inst.updates_execute_mask() || inst.updates_predicate();
                    let mut operands = inst.operands();
                    branches
                        || inst.uses_index()
                        || operands.any(|operand| operand.chan == Chan::X && is_number(operand.source))
                };
                if insts.clone().any(reads) {
                    return false;
                }
                let always = |inst: &AluInst| inst.writes() && inst.word0.pred_sel == PredSel::Off;
                self.holds &= !insts.any(|inst| always(inst) && inst.destination() == (0, false, Chan::X));
                true
            })
    }

    /// Whether no fetch of a clause reads the number.
    fn fetches(&self, clause: &FetchClause) -> bool {
        clause.fetches.iter().all(|entry| match entry.inst.map(|inst| inst.fetch) {
            Ok(Fetch::Vtx(inst)) => !inst.word0.src_rel && !self.is_number(inst.word0.src_gpr, inst.word0.src_sel_x),
            Ok(Fetch::Tex(inst)) => !(inst.word0.src_rel || self.holds && inst.word0.src_gpr == 0),
            Ok(Fetch::MemRd(_) | Fetch::MemDsw(_) | Fetch::MemDsr(_)) | Err(_) => false,
        })
    }
}

/// Whether a vertex program leaves the number of the vertex to the fetch program that it calls.
pub(super) fn is_left(program: &Decoded) -> bool {
    let mut walk = NumberWalk { holds: true };
    program.entries.iter().all(|entry| match (&entry.cf, &entry.clause) {
        (Ok(Cf::Plain(plain)), ClauseBody::None) => match plain.word1.op {
            CfOp::CallFs => walk.holds,
            op => op == CfOp::Nop,
        },
        (Ok(Cf::Plain(_)), ClauseBody::Fetch(clause)) => walk.fetches(clause),
        (Ok(Cf::Alu(alu)), ClauseBody::Alu(clause)) => alu.word1.op == CfAluOp::Alu && walk.alu(clause),
        (Ok(Cf::Export(export)), _) => !(export.word0.rw_rel || walk.holds && export.word0.rw_gpr == 0),
        _ => false,
    })
}

/// The fetches of a fetch program.
#[derive(Clone, Debug)]
pub(super) struct VertexFetches {
    /// Those by the number of the vertex.
    pub(super) by_vertex: Vec<VtxFetch>,
    /// The buffers of the others.
    pub(super) others: Vec<u8>,
}

impl VertexFetches {
    /// Of a program; `None` where it does more than to fetch.
    pub(super) fn of(program: &Decoded) -> Option<Self> {
        let mut found = Self { by_vertex: Vec::new(), others: Vec::new() };
        for entry in &program.entries {
            let clause = match (&entry.cf, &entry.clause) {
                (Ok(Cf::Plain(_)), ClauseBody::Fetch(clause)) => clause,
                (Ok(Cf::Plain(plain)), ClauseBody::None) if matches!(plain.word1.op, CfOp::Nop | CfOp::Return) => {
                    continue;
                }
                _ => return None,
            };
            for fetch in &clause.fetches {
                let Fetch::Vtx(inst) = fetch.inst.ok()?.fetch else { return None };
                let VtxWord1::Gpr(to) = &inst.word1 else { return None };
                let VtxWord0 { src_gpr, src_rel, src_sel_x, fetch_type, buffer_id, .. } = inst.word0;
                if src_rel || to.dst_rel || to.dst_gpr == 0 {
                    return None;
                }
                if (src_gpr, src_sel_x) != (0, Chan::X) {
                    found.others.push(buffer_id);
                } else if fetch_type == FetchType::VertexData && !inst.word2.const_buf_no_stride {
                    found.by_vertex.push(inst);
                } else {
                    return None;
                }
            }
        }
        Some(found)
    }
}
