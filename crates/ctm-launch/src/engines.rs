//! Engines that serve all launches of this process.

use ctm_device::{EngineError, EngineKind};
use ctm_exec::Engine;
use std::sync::OnceLock;

/// The process's engine of a kind: its compiled code serves every launch.
///
/// # Errors
/// When this host or this build has no such engine.
pub fn shared(kind: EngineKind) -> Result<&'static dyn Engine, EngineError> {
    static ENGINES: [OnceLock<Box<dyn Engine>>; EngineKind::ALL.len()] = [const { OnceLock::new() }; 3];
    let place = EngineKind::ALL.iter().position(|k| *k == kind).unwrap_or_default();
    if let Some(engine) = ENGINES[place].get() {
        return Ok(&**engine);
    }
    let made = kind.engine()?;
    Ok(&**ENGINES[place].get_or_init(|| made))
}
