//! Intermediate representation: micro-operations on lane vectors, one form for each instruction set.
//!
//! | file | what |
//! |---|---|
//! | `x1k` | what an X1K program does to one group of lanes; streams are made of it, too |
//! | `r700` | what an R700 program does to one wavefront |
//! | `values` | what pure operations of R700 mean, lane by lane |
//! | `awake` | where some lane runs, whatever the data are |
//! | `map` | tables for looking things up while compiling |

pub mod awake;
pub mod map;
pub mod r700;
pub mod values;
pub mod x1k;
