//! Fetches, exports and memory instructions of the R700 (`tests/vectors/r700/run/fetch.txt`), on the reference interpreter.

use ctm_exec::Interp;
use ctm_testkit::r700::fetch_vectors;

#[test]
fn every_vector_holds() {
    fetch_vectors::every_vector_holds(&Interp);
}

#[test]
fn every_field_matters() {
    fetch_vectors::every_field_matters(&Interp);
}

#[test]
fn every_operation_has_a_vector() {
    fetch_vectors::every_operation_has_a_vector();
}
