//! Command streams of R6xx and R7xx Radeons: what their words say, what is wrong with them, and what they draw.
//!
//! A stream is a list of words that a driver hands to the kernel, with relocations that say which buffers its addresses mean.

pub mod capture;
pub mod environment;
mod error;

pub use error::Error;
