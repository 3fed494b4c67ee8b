//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod bytecode;
mod eval;
mod harness;
mod hostile;
mod instructions;
mod options;
mod quality;
mod random;
