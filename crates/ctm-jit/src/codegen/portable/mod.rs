//! The forms in plain Rust: the back end for every host.
//!
//! | file | contents |
//! |---|---|
//! | `rows` | rows of 64 lanes, which the compiler vectorises |
//! | `dense` | programs whose operands are rows |
//! | `masked/` | the machine that runs them |
//! | `lookups` | texture fetches of X1K programs |

pub mod dense;
mod lookups;
pub mod masked;
pub mod rows;
