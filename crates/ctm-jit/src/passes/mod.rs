//! Passes over the forms, and the table of those that may be left out.
//!
//! | file | what |
//! |---|---|
//! | `table` | which passes may be left out, and the switch that leaves them out |
//! | `x1k` | liveness, dead code, masks that nobody sees |
//! | `breaks` | breaks that lead to breaks |
//! | `masked`, `masks` | the same for the form with masks; operations on masks that are known |
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
pub mod x1k;
