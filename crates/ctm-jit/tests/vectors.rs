//! The run vectors of `tests/vectors/x1k` through every back end.
#![allow(clippy::unwrap_used, dead_code, reason = "a test stops at what it did not expect; shared code")]

#[path = "../../ctm-exec/tests/run_vectors/mod.rs"]
mod run_vectors;

use ctm_jit::{Backend, Jit};

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
