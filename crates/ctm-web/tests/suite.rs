//! The tests of this crate, in one program.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

#[path = "../src/checks.rs"]
mod checks;
mod node;
