//! Launches of X1K programs, as far as they differ from those of the R700.
//!
//! | file | contents |
//! |---|---|
//! | `artifact` | programs that have been lowered, with their code |
//! | `launched` | the processors that run, their reads and sends, the reference interpreter in the engine's place |

pub mod artifact;
pub mod launched;
