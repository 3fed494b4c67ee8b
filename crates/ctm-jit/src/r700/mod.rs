//! R700 programs in the fast engine.
//!
//! | file | what |
//! |---|---|
//! | `form` | the micro-operation form of R700 programs |
//! | `lower`, `lower/build`, `lower/branches`, `lower/sends` | from instructions to the form: control flow; a block; branch-loop instructions; exports and memory writes |
//! | `clauses`, `clauses/*` | ALU clauses, their locked constants and global registers, fetch clauses |
//! | `passes`, `masks` | what is left out: vectors and stores; operations on masks |
//! | `wave` | what goes into a wavefront and comes out; its fetches |
//! | `group` | what the wavefronts of a group share; memory writes and reads |
//! | `values` | what operations mean, by the reference functions |
//! | `portable`, `dense`, `alu_rows` | the form in plain Rust: operations on rows |
//! | `uniform` | programs whose every thread does the same, in the X1K's form, for streams |
//! | `artifact` | programs that have been lowered, with their code |
//! | `bound` | how many instructions a wavefront can issue |
//! | `engine`, `streamed` | wavefronts on all cores, commits in order; launches that are streams |
//! | `worker`, `places`, `outputs` | what one thread does; where lanes lie and what they start with; exports that are stored side by side |
//! | `worker/spans` | wavefronts that follow one another, in one call |
//! | `walled` | random programs between pages that may not be touched |
//! | `verify` | the fast engine compared with the reference interpreter |
//!
//! Machine code is made in `x86/r700`. Begin with `form`.

mod alu_rows;
mod artifact;
pub mod bindings;
mod bound;
mod clauses;
#[cfg(all(test, unix, target_arch = "x86_64"))]
mod cost;
mod dense;
mod engine;
pub mod form;
pub mod group;
pub(crate) mod lower;
pub mod masks;
mod outputs;
pub mod passes;
pub mod places;
pub mod portable;
#[cfg(target_arch = "x86_64")]
mod streamed;
#[cfg(target_arch = "x86_64")]
mod uniform;
pub mod values;
pub mod verify;
#[cfg(all(test, target_arch = "x86_64"))]
mod walled;
pub mod wave;
mod worker;

pub use alu_rows::alu_rows;
pub use artifact::Programs;
pub use engine::run;
