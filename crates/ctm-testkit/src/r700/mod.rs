//! R700.

pub mod alu_vectors;
pub mod fetch_vectors;
pub mod structured;
