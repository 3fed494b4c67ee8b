//! Launches of R700 programs: what differs from those of the X1K.
//!
//! | file | what |
//! |---|---|
//! | `artifact` | programs that have been lowered, with their code |
//! | `launched` | what wavefronts read and send, the reference interpreter in the engine's place |

pub mod artifact;
pub mod launched;
