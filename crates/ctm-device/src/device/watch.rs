//! Who is told of a device's submissions.

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
    /// What ended it before its time.
    pub error: Option<&'a CommandError>,
}

/// Is told of what the host has a device do. When it is dropped, it watches the device no longer.
pub(crate) trait SubmissionWatcher: Send + Sync {
    /// The device's registers get their initial values.
    fn reset(&mut self);

    /// A submission begins.
    fn begin(&mut self, memory: &mut DeviceMemory);

    /// A submission ended.
    fn end(&mut self, memory: &mut DeviceMemory, submission: &Submission<'_>);
}
