//! The run vectors of `tests/vectors/x1k` through the reference interpreter.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::Interp;
use ctm_isa::x1k::ops::{
    AlphaOp, AluResultSel, Channel, CompareOp, Imod, InstType, Omod, PredSel, RenderTarget, RgbOp, Sel, SrcpOp,
    Swizzle, TexOp,
};
use ctm_testkit::x1k::run_vectors;

#[test]
fn every_vector_gives_its_bits() {
    let vectors = run_vectors::all();
    let mut wrong = Vec::new();
    for vector in &vectors {
        for (index, case) in vector.cases.iter().enumerate() {
            if let Err(difference) = run_vectors::run(case, &Interp) {
                wrong.push(format!("{} (program {index}): {difference}; truth: {}", vector.at, vector.truth));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} vectors:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

/// Rows that no line of a vector file names: tested as whole programs, by the test that is named.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("RgbOp", "MDH", "machine::quad_operations"),
    ("RgbOp", "MDV", "machine::quad_operations"),
    ("AlphaOp", "MDH", "machine::quad_operations"),
    ("AlphaOp", "MDV", "machine::quad_operations"),
];

#[test]
fn every_row_has_a_vector() {
    let used = run_vectors::rows_used(&run_vectors::all());
    let mut missing = Vec::new();
    macro_rules! rows {
        ($($table:ident)+) => { $(
            for row in $table::ALL {
                let key = (stringify!($table), row.name());
                if !used.contains(&key) && !ELSEWHERE.iter().any(|&(table, row, _)| (table, row) == key) {
                    missing.push(key);
                }
            }
        )+ };
    }
    rows!(InstType PredSel CompareOp SrcpOp Sel Swizzle Imod Omod RenderTarget RgbOp AlphaOp TexOp Channel);
    // Every `compare` line tries both.
    assert_eq!(AluResultSel::ALL.len(), 2);
    assert!(missing.is_empty(), "no vector for {missing:?}");
}
