//! The clock of deadlines and measurements.
//!
//! A browser has a clock, but the standard library does not know it: there `Instant::now` panics. So all code that runs there takes this type.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use web_time::Instant;
