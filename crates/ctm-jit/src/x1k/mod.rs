//! The X1K's half: from instruction words to the form.
//!
//! | file | what |
//! |---|---|
//! | `lower` | ALU, OUTPUT and texture instructions |
//! | `flow` | flow control: the graph of blocks |

mod flow;
mod lower;

pub use flow::lower;
