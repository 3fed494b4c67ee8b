//! The page of `ctm serve` in a browser tab, without a server: the same questions and answers (`ctm_ide::serve::Local`), as WebAssembly.
//!
//! `cargo xtask site` builds it. A worker of the page holds a `Page` (`assets/worker.js`), so that a run never blocks the page, and ends with the worker.
//!
//! It holds no logic, and nothing at all on other systems.

#[cfg(feature = "checks")]
pub mod checks;
#[cfg(target_family = "wasm")]
pub mod web;
