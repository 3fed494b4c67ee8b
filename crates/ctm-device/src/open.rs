//! Opening a device: its memory, its engine, and the recording named by the environment.

use crate::device::{Device, DeviceOptions};
use crate::engine::EngineKind;
use crate::memory::{ArenaError, DeviceMemory};
use crate::record;
use ctm_exec::Engine;

impl Device {
    /// A device with the default engine, whatever the environment says; otherwise as [`Self::open`].
    ///
    /// # Errors
    /// When sizes or places of the arenas cannot be.
    pub fn new(options: DeviceOptions) -> Result<Self, ArenaError> {
        Self::open(EngineKind::plain(), options)
    }

    /// A device in its initial state: memory is zero, no register is set, the conditional test always passes, all channels are written.
    ///
    /// # Errors
    /// When sizes or places of the arenas cannot be.
    pub fn open(engine: Box<dyn Engine>, options: DeviceOptions) -> Result<Self, ArenaError> {
        DeviceMemory::new(&options.arenas).map(|memory| Self::with_memory(engine, options, memory))
    }

    /// The same with memory that is there already; its arenas count, not those of the options.
    #[must_use]
    pub fn with_memory(engine: Box<dyn Engine>, options: DeviceOptions, memory: DeviceMemory) -> Self {
        let mut device = Self::unwatched(engine, options, memory);
        if let Ok(Some(recording)) = record::environment() {
            record::attach(&mut device, recording);
        }
        device
    }
}
