//! The forms in plain Rust: the back end for every host.
//!
//! | file | what |
//! |---|---|
//! | `rows` | rows of 64 lanes, which the compiler vectorises |
//! | `masked/` | the machine that runs them |
//! | `lookups` | texture fetches of X1K programs |

mod lookups;
pub mod masked;
pub mod rows;
