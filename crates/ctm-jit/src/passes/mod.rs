//! Passes over the form, and the table of those that may be left out.
//!
//! | file | what |
//! |---|---|
//! | `table` | which passes may be left out, and the switch that leaves them out |
//! | `breaks` | breaks that lead to breaks |
//! | `masked` | liveness, dead code, masks that nobody sees |
//! | `masks` | operations on masks that are known |
//! | `computed` | what depends on uniform values alone |
//! | `bound` | how many instructions a wavefront can issue at most |
//!
//! Passes that choose instructions or registers are in [`crate::codegen`].

pub mod bound;
pub mod breaks;
pub mod computed;
pub mod masked;
pub mod masks;
pub mod table;
