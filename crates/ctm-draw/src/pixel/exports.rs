//! Exports of the pixel program.

use crate::state::DrawState;
use ctm_exec::r700::Target;
use ctm_exec::{ExportRow, LaneRows, x1k};

/// A program's exports for the pixels of its quads.
pub(crate) enum Exports {
    R700(LaneRows<Target>),
    X1k(LaneRows<x1k::Target>),
}

impl Exports {
    /// The rows of a colour output.
    pub(crate) fn colour(&self, n: u8) -> Option<&[ExportRow; 4]> {
        match self {
            Self::R700(rows) => rows.get(Target::Pixel(n)),
            Self::X1k(rows) => rows.get(x1k::Target::Colour(n)),
        }
    }

    /// The rows of each target.
    pub(crate) fn colours(&self, state: &DrawState<'_>) -> [Option<&[ExportRow; 4]>; 8] {
        if state.colour.multiwrite {
            return [self.colour(0); 8];
        }
        std::array::from_fn(|n| self.colour(n as u8))
    }

    /// The rows of the depth export.
    pub(crate) fn depth(&self) -> Option<&[ExportRow; 4]> {
        match self {
            Self::R700(rows) => rows.get(Target::Depth),
            Self::X1k(rows) => rows.get(x1k::Target::ConditionalValue),
        }
    }

    /// Whether a pixel was not killed.
    pub(crate) fn survived(&self, lane: usize) -> bool {
        match self {
            Self::R700(rows) => rows.survived(lane),
            Self::X1k(rows) => rows.survived(lane),
        }
    }
}
