//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod batch;
mod bench;
mod browser;
mod cli;
mod dap;
mod dir;
mod docs;
mod dumps;
mod emit;
mod endings;
mod files;
mod inputs;
mod inside;
mod kinds;
mod lsp;
mod pvs;
mod r700;
mod radeon;
mod recordings;
mod replay;
mod saved;
mod serve;
mod shard;
mod skin;
#[cfg(target_os = "linux")]
mod window;
mod written;
