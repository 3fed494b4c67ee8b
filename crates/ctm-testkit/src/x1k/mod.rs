//! X1K.

pub mod build;
pub mod case;
pub mod run_vectors;
pub mod structured;
pub mod surfaces;
