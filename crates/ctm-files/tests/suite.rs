//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod arrays;
mod gfd;
mod gtx;
mod layout;
mod opening;
mod saving;
mod textures;
mod windows;
