//! Passes over the form, and the table of optional ones.
//!
//! | file | contents |
//! |---|---|
//! | `table` | the optional passes, and the switch that leaves them out |
//! | `switches` | environment variables that list names |
//! | `breaks` | breaks that lead to breaks |
//! | `masked` | liveness, dead code, needless masks |
//! | `masks` | mask propagation: operations on masks with known results |
//! | `computed` | computations on uniform values alone |
//! | `bound` | the most instructions that a wavefront can issue |
//!
//! Passes for selection and register allocation are in [`crate::codegen`].

pub mod bound;
pub mod breaks;
pub mod computed;
pub mod masked;
pub mod masks;
pub mod switches;
pub mod table;
