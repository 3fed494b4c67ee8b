//! Reduces a failing program or job, while a test still holds.
//!
//! | file | subject |
//! |---|---|
//! | `text` | lines, halves, operands of a program |
//! | `job` | a whole job: its keys, domain, numbers, arrays, meshes and programs, as files that run on their own |
//! | `files` | the files that a job names, in its directory |
//! | `tree` | the values of a job file: places, taking away |
//! | `items` | arrays: cut, emptied, thinned |
//! | `textures` | textures in files of their own formats, as arrays |

mod files;
mod items;
mod job;
mod text;
mod textures;
mod tree;

pub use files::program_text;
pub use job::{Kept, Reduced, reduce_job};
pub use text::reduce;

use std::ops::Range;

/// The shortest range within `0..length` that still holds, shortened from either end by ever smaller steps. All of it has to hold.
fn narrowed(length: usize, holds: &mut dyn FnMut(Range<usize>) -> bool) -> Range<usize> {
    let mut range = 0..length;
    let mut step = length / 2;
    while step > 0 {
        let mut shorter = false;
        while range.len() > step {
            let (front, back) = (range.start..range.end - step, range.start + step..range.end);
            match [front, back].into_iter().find(|range| holds(range.clone())) {
                Some(found) => (range, shorter) = (found, true),
                None => break,
            }
        }
        if !shorter || step == 1 {
            step /= 2;
        } else {
            step = step.min(range.len() / 2).max(1);
        }
    }
    range
}

/// The members of `0..length` that have to stay: runs of them are taken away, long ones first. `holds` is asked of those that would stay.
fn thinned(length: usize, holds: &mut dyn FnMut(&[usize]) -> bool) -> Vec<usize> {
    let mut all: Vec<usize> = (0..length).collect();
    let mut size = length.div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while at < all.len() {
            let end = (at + size).min(all.len());
            let rest: Vec<usize> = all[..at].iter().chain(&all[end..]).copied().collect();
            if !rest.is_empty() && holds(&rest) { all = rest } else { at = end }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_become_as_short_as_they_can() {
        for (first, last) in [(0, 0), (63, 63), (17, 17), (30, 33), (0, 63)] {
            let mut tries = 0;
            let found = narrowed(64, &mut |range| {
                tries += 1;
                range.contains(&first) && range.contains(&last)
            });
            assert_eq!(found, first..last + 1);
            assert!(tries < 40, "{tries}");
        }
        assert_eq!(narrowed(1, &mut |_| true), 0..1);
    }

    #[test]
    fn lists_keep_what_they_need() {
        assert_eq!(thinned(100, &mut |rest| rest.contains(&3) && rest.contains(&77)), [3, 77]);
        assert_eq!(thinned(5, &mut |_| true).len(), 1);
    }
}
