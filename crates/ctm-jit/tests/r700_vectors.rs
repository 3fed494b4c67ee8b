//! The run vectors of `tests/vectors/r700/run` on the fast engine, with every back end that this host can run.

use ctm_jit::{Backend, Jit};
use ctm_testkit::r700::{alu_vectors, fetch_vectors, flow_vectors};
use std::sync::LazyLock;

/// The engine of the vectors: the fastest back end, or the one that the environment names.
fn engine() -> &'static Jit {
    static ENGINE: LazyLock<Jit> = LazyLock::new(|| Jit::from_environment().unwrap_or_else(|error| panic!("{error}")));
    &ENGINE
}

/// The other back ends, each in a process of its own.
#[test]
fn every_back_end() {
    for backend in Backend::available().filter(|&backend| backend != engine().backend()) {
        let mut command = ctm_testkit::again();
        let output = command.args(["--skip", "every_back_end"]).env("CTM_ENGINE_ISA", backend.name()).output();
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        assert!(output.status.success(), "{backend}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn every_vector_gives_its_bits_and_every_operation_has_one() {
    alu_vectors::every_vector_gives_its_bits_and_every_operation_has_one(engine());
}

#[test]
fn the_trans_unit_computes_the_same() {
    alu_vectors::the_trans_unit_computes_the_same(engine());
}

#[test]
fn modifiers() {
    alu_vectors::modifiers(engine());
}

#[test]
fn previous_results() {
    alu_vectors::previous_results(engine());
}

#[test]
fn trans_dominates() {
    alu_vectors::trans_dominates(engine());
}

#[test]
fn every_vector_holds() {
    fetch_vectors::every_vector_holds(engine());
}

#[test]
fn every_field_matters() {
    fetch_vectors::every_field_matters(engine());
}

#[test]
fn every_flow_vector_holds() {
    flow_vectors::every_vector_holds(engine());
}

#[test]
fn valid_pixel_mode_matters() {
    flow_vectors::valid_pixel_mode_matters(engine());
}
