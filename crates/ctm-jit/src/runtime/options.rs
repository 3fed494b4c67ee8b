//! The options of an engine, which its programs share.

use crate::launch::CACHED_BYTES;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The conditions under which launches run as streams (`docs/engine/streams.md`), and their options.
///
/// Results do not depend on it; the tests of streams use small domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Domains of fewer processors do not pay for code of their own.
    pub processors: u64,
    /// Outputs of at least this many bytes, added up, are stored past the caches.
    pub past_caches_bytes: u64,
}

impl Default for StreamLimits {
    fn default() -> Self {
        Self { processors: 1024, past_caches_bytes: CACHED_BYTES }
    }
}

/// The options of lowering and running programs.
#[derive(Clone, Default)]
pub struct LoweringOptions {
    /// When launches run as streams.
    pub limits: StreamLimits,
    /// Launches that ran as streams.
    pub streams_run: Arc<AtomicU64>,
}
