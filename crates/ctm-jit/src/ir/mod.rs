//! Intermediate representation: micro-operations on lane vectors, in one form for both instruction sets.
//!
//! | file | what |
//! |---|---|
//! | `masked` | what a program does to the lanes that run together, with masks of lanes as values; streams are made of it, too |
//! | `x1k` | the graph of an X1K program's states |
//! | `values` | what pure operations mean, lane by lane |
//! | `awake` | where some lane runs, whatever the data are |
//! | `order` | orders of blocks |
//! | `verify` | the rules that every form keeps |
//! | `text` | the text form: printer and parser |

pub mod awake;
pub mod masked;
pub mod names;
pub mod numbering;
pub mod order;
pub mod text;
pub mod values;
pub mod verify;
pub mod x1k;
