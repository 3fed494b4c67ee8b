//! The run vectors of `tests/vectors/x1k/run` through every back end.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_jit::{Backend, Jit};
use ctm_testkit::x1k::run_vectors;

#[test]
fn every_vector_gives_its_bits() {
    let vectors = run_vectors::all();
    let mut wrong = Vec::new();
    for engine in Backend::available().map(Jit::with_backend) {
        for vector in &vectors {
            for (index, case) in vector.cases.iter().enumerate() {
                if let Err(difference) = run_vectors::run(case, &engine) {
                    let (at, truth, backend) = (&vector.at, &vector.truth, engine.backend());
                    wrong.push(format!("{at} (program {index}), {backend}: {difference}; truth: {truth}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} vectors:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}
