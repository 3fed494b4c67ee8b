//! R700 programs in the fast engine.
//!
//! | file | what |
//! |---|---|
//! | `verify` | the fast engine compared with the reference interpreter |

pub mod verify;

use ctm_exec::r700::{Interp, Launch, Memory};
use ctm_exec::{Engine, Fault, Outcome};

/// Runs a launch.
///
/// # Errors
/// The fault of the first wavefront that did wrong.
pub fn run(launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
    Interp.run_r700(launch, memory)
}
