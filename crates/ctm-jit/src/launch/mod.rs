//! What goes into a launch and comes out of it, whatever runs it: lanes and their start values, arrays that memory lends, exports.
//!
//! | file | what |
//! |---|---|
//! | `lanes` | groups of X1K lanes, and what they count |
//! | `kept` | what launches work in, kept for those to come |
//! | `direct` | arrays that memory lends; outputs written without asking it for each |
//! | `wavefronts/` | the same for wavefronts |

pub mod direct;
pub mod kept;
pub mod lanes;
pub mod wavefronts;

/// Arrays of fewer bytes may lie in caches.
pub const CACHED_BYTES: u64 = 8 << 20;
