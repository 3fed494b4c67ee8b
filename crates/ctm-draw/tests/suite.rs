//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod bands;
mod changed_states;
mod coverage;
mod draws;
mod funnel;
mod geometry;
mod hostile;
mod layout;
mod llvmpipe;
mod states;
mod texel_formats;
