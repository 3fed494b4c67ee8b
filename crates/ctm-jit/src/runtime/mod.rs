//! Launches: wavefronts on all cores, commits in order.
//!
//! | file | contents |
//! |---|---|
//! | `engine` | [`crate::Jit`], which remembers lowered programs |
//! | `options` | the options of an engine |
//! | `batches` | launches: at once, or in batches of groups, whose exports are committed in order |
//! | `x1k/`, `r700/`, `pvs/` | the parts of launches that depend on the instruction set |
//! | `worker` | groups whose exports are committed later, on one thread |
//! | `direct` | launches whose wavefronts store their exports as they end |
//! | `streams` | launches that are streams |
//! | `wavefronts` | wavefronts of a launch, and their runner |
//! | `work` | tasks on several threads |

pub mod batches;
pub mod direct;
pub mod engine;
pub mod options;
pub mod pvs;
pub mod r700;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
pub mod streams;
pub mod wavefronts;
pub mod work;
pub mod worker;
pub mod x1k;
