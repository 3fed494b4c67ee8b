//! The groups of a launch that runs in quads.

use crate::domain::{Domain, Position};

/// The quads of a domain, cut into groups (CTM §2.1.2).
///
/// Quads are aligned to even index pairs and follow each other row by row; a group is a fixed number of them, across row ends.
#[derive(Clone, Copy, Debug)]
pub struct Groups {
    domain: Domain,
    quads_per_row: u64,
    quads: u64,
    quads_per_group: u64,
}

impl Groups {
    /// The groups of `lanes` lanes that cover the domain.
    #[must_use]
    pub fn new(domain: Domain, lanes: usize) -> Self {
        let empty = domain.width() == 0 || domain.height() == 0;
        let span = |first: u32, last: u32| if empty { 0 } else { u64::from(last / 2 - first / 2) + 1 };
        let quads_per_row = span(domain.i0, domain.i1);
        let quads = quads_per_row * span(domain.j0, domain.j1);
        Self { domain, quads_per_row, quads, quads_per_group: (lanes / 4).max(1) as u64 }
    }

    /// How many groups there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.quads.div_ceil(self.quads_per_group)
    }

    /// The index pairs of the lanes of group `index`; the last group may have fewer. Some may lie outside the domain.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "quads of a domain have 32-bit index pairs")]
    pub fn positions(&self, index: u64) -> Vec<Position> {
        let first = index * self.quads_per_group;
        let end = (first + self.quads_per_group).min(self.quads);
        let mut positions = Vec::with_capacity(4 * (end - first) as usize);
        for quad in first..end {
            let i = (self.domain.i0 & !1) + 2 * (quad % self.quads_per_row) as u32;
            let j = (self.domain.j0 & !1) + 2 * (quad / self.quads_per_row) as u32;
            positions.extend([(0, 0), (1, 0), (0, 1), (1, 1)].map(|(di, dj)| Position { i: i + di, j: j + dj }));
        }
        positions
    }
}
