//! The inputs and results of a launch, for any back end: lanes and their start values, arrays that memory maps,
//! exports.
//!
//! | file | contents |
//! |---|---|
//! | `lanes` | groups of X1K lanes, and their counters |
//! | `kept` | pools of working memory for later launches |
//! | `direct` | arrays that memory maps; outputs written without a call for each element |
//! | `events` | counts of a thread's events, for tests |
//! | `wavefronts/` | the same for wavefronts |

pub mod direct;
pub mod events;
pub mod kept;
pub mod lanes;
pub mod wavefronts;

/// Arrays of fewer bytes may be in caches.
pub const CACHED_BYTES: u64 = 8 << 20;
