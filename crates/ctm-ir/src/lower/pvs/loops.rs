//! Loops of compilers run 255 times, and vertices leave them by a predicate that stays off. An iteration that changes none of the variables which the next one
//! reads is the last that has to run: all others would do the same.

use super::{ADDRESS, FIRST_COPY, predicate, register, units::RegisterKind};
use crate::masked::Var;
use ctm_isa::pvs::access::{self, WrittenFile as Written};
use ctm_isa::pvs::flow::FlowSlot;
use ctm_isa::pvs::ops::{AddrMode, FlowOp, SrcType};
use ctm_isa::pvs::{Inst, VertexProgram};
use ctm_isa::r700::GPRS;
use std::collections::BTreeSet;

/// Loops of fewer iterations are not tested.
const ITERATIONS: u16 = 16;

/// Of each slot, the variables that iterations of its loop carry to the next one, each with a variable for its copy. Empty where the loop is not tested.
pub fn copies(program: &VertexProgram, insts: &[Option<Inst>]) -> Vec<Vec<(Var, Var)>> {
    let mut next = 4 * FIRST_COPY;
    let copies = |slot: &FlowSlot| {
        let all = carried(program, insts, slot).unwrap_or_default();
        if next + all.len() > 4 * GPRS {
            return Vec::new();
        }
        let first = next;
        next += all.len();
        all.into_iter().zip((first..).map(|n| Var::gpr(n / 4, n % 4))).collect()
    };
    program.flow.iter().map(copies).collect()
}

/// The variables that a loop's body reads and writes; `None`: it is not tested.
fn carried(program: &VertexProgram, insts: &[Option<Inst>], slot: &FlowSlot) -> Option<BTreeSet<Var>> {
    let body = slot.upper.back..=slot.upper.last;
    if slot.op != FlowOp::Loop || slot.lower.target_or_count < ITERATIONS {
        return None;
    }
    // All of the body lies between its first and its last instruction, and no jump leads out of it.
    let stays = |other: &FlowSlot| match other.op {
        FlowOp::None => true,
        _ if !body.contains(&other.lower.act) => true,
        FlowOp::Loop => other == slot || body.contains(&other.upper.back) && body.contains(&other.upper.last),
        FlowOp::Jump | FlowOp::Jsr => false,
    };
    if !program.flow.iter().all(stays) {
        return None;
    }
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for pc in body {
        let inst = insts.get(usize::from(pc))?.as_ref()?;
        if access::addresses(inst).any(|address| address.mode == AddrMode::RelativeI0) {
            return None;
        }
        let parts = |register: usize, components: u8| {
            (0..4).filter(move |n| components >> n & 1 == 1).map(move |n| Var::gpr(register, n))
        };
        for of in access::reads(inst) {
            let file = match of.file {
                SrcType::Temporary => RegisterKind::Temporary,
                SrcType::Input => RegisterKind::Input,
                SrcType::AltTemporary => RegisterKind::Alternate,
                SrcType::Constant => continue,
            };
            read.extend(register(file, of.address.offset).into_iter().flat_map(|r| parts(r, of.components)));
        }
        read.extend(parts(ADDRESS, access::address_components(inst)));
        read.extend(inst.dst.pred_enable.then(predicate));
        for of in access::write(inst).into_iter().chain(access::dual_write(inst)) {
            let file = match of.file {
                Written::Temporary => RegisterKind::Temporary,
                Written::Input => RegisterKind::Input,
                Written::AltTemporary => RegisterKind::Alternate,
                Written::A0 => {
                    written.extend(parts(ADDRESS, of.components));
                    continue;
                }
                Written::Output | Written::OutputReplicateX => continue,
            };
            written.extend(register(file, of.address.offset).into_iter().flat_map(|r| parts(r, of.components)));
        }
        written.extend(access::sets_predicate(inst).then(predicate));
    }
    Some(&read & &written)
}
