//! From instructions to the form of [`crate::masked`].
//!
//! | file | contents |
//! |---|---|
//! | `build`, `fold` | a block under construction; operations whose outcome is known |
//! | `epilogues` | operations on a pixel's colours after its program, for both instruction sets |
//! | `x1k/` | ALU, OUTPUT and texture instructions; `flow`: the graph of states; `masks`: its flow control as operations on masks |
//! | `pvs/` | vertex programs: flow control that is the same in all lanes, predicates as vectors |
//! | `r700/` | control flow with the known part of the stack; `clauses/`: ALU groups and fetches |

pub mod build;
pub mod epilogues;
mod fold;
pub mod pvs;
pub mod r700;
pub mod x1k;
