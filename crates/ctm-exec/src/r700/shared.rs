//! On-chip state that wavefronts share.

use super::checks::Checks;
use super::data_share::DataShare;
use super::recorder::Recorder;
use crate::watch::Part;

/// On-chip state shared by the wavefronts of a launch.
#[derive(Debug, Default)]
pub struct Shared {
    /// SIMD-global registers of each lane of a wavefront.
    pub globals: Vec<Vec<[u32; 4]>>,
    /// The local data share of the group that runs.
    pub data_share: DataShare,
    /// State of a checked run.
    pub checks: Option<Checks>,
    /// The part of the launch that runs; `None`: nothing stops it.
    pub part: Option<Part>,
    /// Instructions since it was last asked whether to stop.
    pub since_look: u64,
    /// Effects of the current instruction, for watchers.
    pub recorder: Option<Recorder>,
}

impl Clone for Shared {
    /// The same state, which nothing stops: a watched group returns to it.
    fn clone(&self) -> Self {
        let Self { globals, data_share, checks, .. } = self;
        Self { globals: globals.clone(), data_share: data_share.clone(), checks: checks.clone(), ..Self::default() }
    }
}
