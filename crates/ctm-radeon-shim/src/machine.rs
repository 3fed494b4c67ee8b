//! What executes submissions.

use crate::space::Space;
use crate::submit::Chunks;
use crate::table::Buffer;

/// The machine of a process.
#[derive(Debug, Default)]
pub(crate) struct Machine;

impl Machine {
    /// Whether submissions are executed.
    #[allow(clippy::unused_self)] // Executing comes with the state of a machine.
    pub(crate) const fn executes(&self) -> bool {
        false
    }

    /// Looks at a submission and executes it, as the settings say; how many draws it had.
    ///
    /// # Errors
    /// What the kernel would refuse, in words.
    #[allow(clippy::unused_self, clippy::unnecessary_wraps)]
    pub(crate) fn run(&mut self, _space: &Space, _chunks: &Chunks, _buffers: &[Buffer]) -> Result<u64, String> {
        Ok(0)
    }
}
