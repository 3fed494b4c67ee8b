//! From instructions to the forms of [`crate::ir`].
//!
//! | file | what |
//! |---|---|
//! | `x1k/` | ALU, OUTPUT and texture instructions; `flow`: the graph of blocks |
//! | `r700/` | control flow with what is known of the stack; `clauses/`: ALU groups and fetches |

pub mod r700;
pub mod x1k;
