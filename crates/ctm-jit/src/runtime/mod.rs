//! Launches: batches of groups on all cores, commits in order.
//!
//! | file | what |
//! |---|---|
//! | `backend` | which back end runs |
//! | `engine`, `engine/` | X1K launches, and [`crate::Jit`], which remembers what it has lowered |
//! | `r700/` | R700 launches |
//! | `streams` | launches of both that are streams |
//! | `native` | arrays as machine code takes them |
//! | `program` | a program, and its code for each back end |
//! | `wavefronts` | wavefronts of a launch, and what runs one |
//! | `direct` | launches that store what they export as they end |
//! | `work` | tasks on several threads |

pub mod backend;
pub mod direct;
pub mod engine;
#[cfg(target_arch = "x86_64")]
pub mod native;
pub mod program;
pub mod r700;
#[cfg(target_arch = "x86_64")]
pub mod streams;
pub mod wavefronts;
pub mod work;
