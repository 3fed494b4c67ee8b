//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod choices;
mod corpus;
mod differential;
mod dots;
mod ending;
mod layout;
mod lookups;
mod nested;
mod peers;
mod products;
mod pvs;
mod r700;
mod r700_conditions;
mod r700_details;
mod r700_epilogues;
mod r700_parts;
mod r700_spans;
mod r700_streams;
mod spans;
mod streams;
mod tiny;
mod vectors;
mod verify;
mod x1k_draws;
