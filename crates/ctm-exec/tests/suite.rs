//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod arithmetic;
mod corpus;
mod flow;
mod flow_vectors;
mod launches;
mod layout;
mod machine;
mod pvs_vectors;
mod r700_alu;
mod r700_clocks;
mod r700_corpus;
mod r700_fetch;
mod r700_findings;
mod r700_flow;
mod r700_hostile;
mod r700_modes;
mod r700_programs;
mod r700_surface;
mod r700_texture;
mod ramps;
mod random;
mod rows;
mod texture_reference;
mod transcendental;
mod vectors;
mod x1k_check_agrees;
