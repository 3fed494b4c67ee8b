//! Launches: wavefronts on all cores, commits in order.
//!
//! | file | what |
//! |---|---|
//! | `engine` | [`crate::Jit`], which remembers what it has lowered |
//! | `batches` | launches: at once, or in batches of groups, whose exports are committed in order |
//! | `x1k/`, `r700/` | what differs between launches of the two |
//! | `worker` | groups whose exports are committed later, on one thread |
//! | `direct` | launches that store what they export as they end |
//! | `streams` | launches that are streams |
//! | `wavefronts` | wavefronts of a launch, and what runs one |
//! | `work` | tasks on several threads |

pub mod batches;
pub mod direct;
pub mod engine;
pub mod r700;
#[cfg(target_arch = "x86_64")]
pub mod streams;
pub mod wavefronts;
pub mod work;
pub mod worker;
pub mod x1k;
