//! Test helpers of vertex programs.

pub mod run_vectors;
