//! Groups of X1K lanes, and their counters.

use ctm_exec::Counters;
use ctm_exec::x1k::{Memory, sample};

/// Lanes of a vector. Groups of up to this many lanes run here; larger ones are left to the reference
/// interpreter.
pub const LANES: usize = 16;

/// 32 bits for each lane.
pub type LaneDwords = [u32; LANES];

/// Counts `lookups` lookups of lanes in an input.
pub fn count_lookups(memory: &dyn Memory, input: u8, lookups: u64, counters: &mut Counters) {
    if let Some(input) = memory.input(input).filter(|_| lookups > 0) {
        let elements = lookups * sample::elements_per_lookup(input.sampler.filter);
        counters.fetches += elements;
        counters.fetch_bytes += elements * u64::from(input.element_bytes);
    }
}

/// The group has to be run by the reference interpreter: it has a fault, or may have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BailOut;

/// The result of a step that may bail out.
pub type Result<T = ()> = std::result::Result<T, BailOut>;
