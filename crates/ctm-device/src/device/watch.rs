//! Observers of a device's submissions.

use super::CommandError;
use crate::memory::{DeviceMemory, GpuAddr};

/// A submission that ended.
pub(crate) struct Submission<'a> {
    /// Where its commands lie.
    pub address: GpuAddr,
    /// How long they are.
    pub size_dwords: u32,
    /// How many commands were executed.
    pub commands: u32,
    /// The error that ended it early.
    pub error: Option<&'a CommandError>,
}

/// An observer of the host's requests to a device. Dropping it ends the observation.
pub(crate) trait SubmissionWatcher: Send + Sync {
    /// The device's registers get their initial values.
    fn reset(&mut self);

    /// A submission begins.
    fn begin(&mut self, memory: &mut DeviceMemory);

    /// A submission ended.
    fn end(&mut self, memory: &mut DeviceMemory, submission: &Submission<'_>);
}
