//! Launches of R700 programs, as far as they differ from those of the X1K.
//!
//! | file | contents |
//! |---|---|
//! | `artifact` | programs that have been lowered, with their code |
//! | `launched` | reads and sends of wavefronts, the reference interpreter in the engine's place |

pub mod artifact;
pub mod launched;
