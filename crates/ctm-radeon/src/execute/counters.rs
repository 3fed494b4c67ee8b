//! Counters and the predicate of a device, which run on from stream to stream.

use super::outline::DrawCall;
use ctm_draw::Counts;

/// The counters of a device. They run on from stream to stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    /// Samples that passed.
    pub(super) samples: u64,
    /// Primitives for stream output, and those that it stored.
    pub(super) streams: [u64; 2],
    /// PS invocations, clipper primitives out, clipper invocations, VS invocations, GS invocations, GS primitives, IA primitives, IA vertices.
    pub(super) pipeline: [u64; 8],
    /// Whether pipeline statistics are counted.
    pub(super) pipeline_on: bool,
    /// Draws.
    pub(super) drawn: u64,
    /// Draws that ran as a part of the one before them.
    pub(super) joined: u64,
    /// Draws that ran together with others in a queue.
    pub(super) queued: u64,
    /// The counts of the last draw.
    pub(super) last: Counts,
    /// The last draw.
    pub(super) call: Option<DrawCall>,
    /// The clock; it goes on by one with each packet.
    pub(super) clock: u64,
}

/// Whether predicated packets run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Predicate {
    /// The query result that was read; `None`: everything runs.
    pub(super) visible: Option<bool>,
    /// Packets run if something was visible, instead of if nothing was.
    pub(super) draws_visible: bool,
}

impl Predicate {
    pub(super) fn lets_pass(self) -> bool {
        self.visible.is_none_or(|visible| visible == self.draws_visible)
    }
}
