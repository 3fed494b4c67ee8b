//! Run vectors of R700's control flow (`tests/vectors/r700/run/flow.txt`), and their completeness: every branch-loop instruction and ALU clause has one, and
//! VALID_PIXEL_MODE changes the result of some vector of every instruction that it affects.

use super::fetch_vectors::{Vector, all_hold, read};
use ctm_exec::Engine;
use ctm_isa::r700::inst::Cf;
use ctm_isa::r700::ops::{CfAluOp, CfOp};
use std::collections::BTreeSet;

/// VALID_PIXEL_MODE in the second word of a control-flow instruction.
const VALID_PIXEL_MODE: u32 = 1 << 22;

/// Instructions whose VALID_PIXEL_MODE changes nothing in a pixel program: they do nothing there, or kill killed pixels.
const INERT: [CfOp; 7] =
    [CfOp::Nop, CfOp::WaitAck, CfOp::CallFs, CfOp::EmitVertex, CfOp::EmitCutVertex, CfOp::CutVertex, CfOp::Kill];

fn vectors() -> Vec<Vector> {
    read("r700/run/flow.txt")
}

/// The control-flow instructions of a vector, with their slots.
fn instructions(vector: &Vector) -> Vec<(usize, Cf)> {
    let decoded = vector.program().decode();
    decoded.entries.iter().filter_map(|entry| Some((entry.addr as usize, *entry.cf.as_ref().ok()?))).collect()
}

pub fn every_vector_holds(engine: &dyn Engine) {
    all_hold(&vectors(), engine);
}

pub fn every_operation_has_a_vector() {
    let seen: BTreeSet<&str> = vectors().iter().flat_map(instructions).map(|(_, cf)| cf.name()).collect();
    let plain = CfOp::ALL.iter().filter(|op| op.info().conditional && **op != CfOp::CallFs).map(|op| op.name());
    let all = plain.chain(CfAluOp::ALL.iter().map(|op| op.name()));
    let missing: Vec<&str> = all.filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

pub fn valid_pixel_mode_matters(engine: &dyn Engine) {
    let mut matters = BTreeSet::new();
    for vector in vectors() {
        let program = vector.program();
        let left = vector.run(engine, &program);
        for (slot, cf) in instructions(&vector) {
            let Cf::Plain(plain) = cf else { continue };
            let mut changed = program.clone();
            changed.words[2 * slot + 1] ^= VALID_PIXEL_MODE;
            if vector.run(engine, &changed) != left {
                assert!(!INERT.contains(&plain.word1.op), "line {}: the mode of {} matters", vector.line, cf.name());
                matters.insert(plain.word1.op.name());
            }
        }
    }
    let expected: BTreeSet<&str> = CfOp::ALL.iter().filter(|op| !INERT.contains(op)).map(|op| op.name()).collect();
    let missing: Vec<_> = expected.difference(&matters).collect();
    assert!(missing.is_empty(), "no vector in which VALID_PIXEL_MODE matters for {missing:?}");
}
