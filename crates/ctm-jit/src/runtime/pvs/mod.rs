//! Launches of vertex programs of the R5xx.
//!
//! | file | contents |
//! |---|---|
//! | `artifact` | programs that have been lowered, with their code |
//! | `launched` | inputs and outputs of vertices, the reference interpreter in the engine's place |

pub mod artifact;
pub mod launched;
