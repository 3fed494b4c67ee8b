//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod device_caches;
mod device_checked;
mod device_docs;
mod device_formats;
mod device_fuzz;
mod device_launch;
mod device_r700_pixels;
mod device_support;
mod layout;
mod record;
