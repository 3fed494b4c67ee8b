//! R700 launches: wavefronts on all cores.
//!
//! | file | what |
//! |---|---|
//! | `artifact` | programs that have been lowered, with their code |
//! | `engine` | wavefronts in batches, commits in order |
//! | `streamed` | launches that are streams |
//! | `worker`, `worker/spans` | what one thread does; wavefronts that follow one another, in one call |

pub mod artifact;
pub mod engine;
#[cfg(target_arch = "x86_64")]
pub mod streamed;
pub mod worker;

pub use artifact::Programs;
pub use engine::run;
