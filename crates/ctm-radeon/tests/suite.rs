//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod bare;
mod captures;
mod checks;
mod chips;
mod clears;
mod hostile;
mod joined;
mod kernel;
mod layout;
mod r500;
mod r500_corpus;
mod r500_fixed;
mod r500_outputs;
mod r500_textures;
mod r500_vertices;
