//! The forms in plain Rust: the back end for every host.
//!
//! | file | what |
//! |---|---|
//! | `rows` | rows of 64 lanes, which the compiler vectorises |
//! | `dense` | programs whose operands are rows |
//! | `x1k/`, `r700/` | the machines that run them |

pub mod dense;
pub mod r700;
pub mod rows;
pub mod x1k;
