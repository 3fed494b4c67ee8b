//! Results of each ALU operation of the R700 (`tests/vectors/r700/run/alu.txt`), on the reference interpreter.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::Interp;
use ctm_testkit::r700::alu_vectors;

#[test]
fn every_vector_gives_its_bits_and_every_operation_has_one() {
    alu_vectors::every_vector_gives_its_bits_and_every_operation_has_one(&Interp);
}

#[test]
fn the_trans_unit_computes_the_same() {
    alu_vectors::the_trans_unit_computes_the_same(&Interp);
}

#[test]
fn modifiers() {
    alu_vectors::modifiers(&Interp);
}

#[test]
fn previous_results() {
    alu_vectors::previous_results(&Interp);
}

#[test]
fn trans_dominates() {
    alu_vectors::trans_dominates(&Interp);
}

/// `ctm isa r700` names the function of each operation; there it is.
#[test]
fn reference_functions_exist() {
    use ctm_isa::r700::ops::{AluOp, notes::reference_function};
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctm-exec/src/r700");
    for name in AluOp::all().filter_map(reference_function) {
        let (file, function) = name.split_once("::").unwrap();
        let source = std::fs::read_to_string(root.join(file).with_extension("rs")).unwrap();
        assert!(source.contains(&format!("fn {function}(")), "{name}");
    }
}
