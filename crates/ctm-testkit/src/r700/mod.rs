//! R700.

pub mod alu_vectors;
pub mod chain;
pub mod fetch_vectors;
pub mod flow_vectors;
pub mod structured;
