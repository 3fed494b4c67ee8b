//! Launches of X1K programs: what differs from those of the R700.
//!
//! | file | what |
//! |---|---|
//! | `artifact` | programs that have been lowered, with their code |
//! | `launched` | which processors run, what they read and send, the reference interpreter in the engine's place |

pub mod artifact;
pub mod launched;
