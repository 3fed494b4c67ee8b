//! Quads that one launch may draw in any order: no two of them at one place.

use crate::pixel::shade::{PER_LAUNCH, ShadeQuad};

/// Places of the table: a power of two, a multiple of the quads of a launch.
const SLOTS: usize = 4 * PER_LAUNCH;

/// Which places of the window have a quad: a table with open addressing.
#[derive(Default)]
pub(super) struct Apart {
    /// The place of a quad below the number of the search that put it there; other numbers: free.
    slots: Vec<u64>,
    search: u32,
}

impl Apart {
    /// Leaves the first quads at each place, and returns the others, both in order.
    pub(super) fn split(&mut self, quads: &mut Vec<ShadeQuad>) -> Vec<ShadeQuad> {
        self.search = self.search.wrapping_add(1);
        if self.slots.is_empty() || self.search == 0 {
            self.slots = vec![0; SLOTS];
            self.search = 1;
        }
        let (mut others, mut number) = (Vec::new(), 0);
        quads.retain(|quad| {
            number += 1;
            // More quads would fill the table.
            let is_first = number <= SLOTS / 2 && self.takes(quad);
            if !is_first {
                others.push(*quad);
            }
            is_first
        });
        others
    }

    /// Marks the place of a quad; returns whether it was free.
    fn takes(&mut self, quad: &ShadeQuad) -> bool {
        let [x, y] = [quad.quad.x, quad.quad.y].map(|at| u64::from((at / 2).cast_unsigned() as u16));
        let place = y << 16 | x;
        let wanted = u64::from(self.search) << 32 | place;
        let mut slot = (place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % SLOTS;
        loop {
            let found = self.slots[slot];
            if found == wanted {
                return false;
            }
            if found >> 32 != u64::from(self.search) {
                self.slots[slot] = wanted;
                return true;
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raster::QuadCoverage;

    #[test]
    fn quads_at_one_place_go_into_launches_of_their_own_in_order() {
        let quad = |setup: u32, x: i32| {
            let quad = QuadCoverage { x, y: 6, masks: [1; 4] };
            ShadeQuad { setup, quad, sample: None }
        };
        let quads: Vec<ShadeQuad> =
            (0..3).flat_map(|setup| (0..100).map(move |n| quad(setup, (2 * n * 4099 % 9000) & !1))).collect();
        let mut apart = Apart::default();
        let mut left = quads;
        for setup in 0..3 {
            let others = apart.split(&mut left);
            assert_eq!(left.len(), 100);
            assert!(left.iter().all(|quad| quad.setup == setup));
            left = others;
        }
        assert!(left.is_empty());
    }
}
