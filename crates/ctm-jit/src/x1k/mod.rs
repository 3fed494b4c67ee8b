//! The X1K's half: from instruction words to the form.
//!
//! | file | what |
//! |---|---|
//! | `lower`, `lower/units` | ALU, OUTPUT and texture instructions; what the two units of an ALU instruction compute |
//! | `flow` | flow control: the graph of blocks |

mod flow;
mod lower;

#[cfg(all(test, target_arch = "x86_64"))]
pub use flow::lower;
pub use flow::{for_covered_groups, lower_with};
