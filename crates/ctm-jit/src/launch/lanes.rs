//! Groups of X1K lanes, and what they count.

use crate::ir::x1k::Code;
use ctm_exec::Counters;
use ctm_exec::x1k::{Memory, sample};

/// Lanes of a vector. Groups of up to so many lanes run here; larger ones are left to the reference interpreter.
pub const LANES: usize = 16;

/// 32 bits for each lane.
pub type Row = [u32; LANES];

/// Turns passages of blocks into the counters of `docs/clocks.md`, for groups of `lanes` lanes: those that do not depend on what lanes do.
pub fn count(code: &Code, visits: &[u64], lanes: u64, counters: &mut Counters) {
    let quads = lanes / 4;
    for (block, &visits) in code.blocks.iter().zip(visits) {
        let tally = &block.tally;
        let times = |count: u32| visits * u64::from(count);
        counters.alu += times(tally.alu);
        counters.output += times(tally.output);
        counters.tex += times(tally.tex);
        counters.fc += times(tally.fc);
        counters.total_lanes += times(tally.instructions()) * lanes;
        counters.alu_clocks += times(tally.alu + tally.output + 3 * tally.scattered) * quads + times(tally.nops);
        counters.tex_clocks += times(tally.tex_wide) * quads + times(tally.tex - tally.tex_wide);
        counters.fc_clocks += times(tally.fc);
    }
}

/// Counts so many lookups of lanes in an input.
pub fn count_lookups(memory: &dyn Memory, input: u8, lookups: u64, counters: &mut Counters) {
    if let Some(input) = memory.input(input).filter(|_| lookups > 0) {
        let elements = lookups * sample::elements_per_lookup(input.sampler.filter);
        counters.fetches += elements;
        counters.fetch_bytes += elements * u64::from(input.element_bytes);
    }
}

/// The group has to be run by the reference interpreter: it does, or may do, something that ends in a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BailOut;
