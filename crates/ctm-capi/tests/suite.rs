//! The tests of this crate, in one program: each program more is linked with the whole library once more.

mod cancelled;
mod client;
mod compiler;
mod headers;
mod managed;
mod programs;
mod prototypes;
