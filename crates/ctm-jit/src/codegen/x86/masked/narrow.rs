//! Narrower wavefronts for programs with high register pressure.
//!
//! A vector of 64 lanes takes four registers, so seven vectors fill those of AVX-512. Where a program keeps more, two
//! wavefronts of 32 lanes or four of 16, one after the other, may take less time: their vectors are in registers and
//! not in the frame. They pay for starts, exports and branches again, and where each instruction waits for the one
//! before, there is less parallel work.

use super::ins::Ins;
use crate::codegen::target::{Cost, Costs, Target};
use crate::codegen::x86::allocate::{Locations, Ranges};
use crate::codegen::x86::lir::each_read;
use crate::launch::lanes::LANES;
use ctm_ir::masked::{Code, M};

/// The work of a program, for any number of lanes.
struct Work {
    /// Cycles of all instructions on one register.
    cycles: u64,
    /// Cycles of the critical path.
    latency: u64,
    /// Executions of blocks.
    blocks: u64,
}

impl Work {
    fn of(costs: &Costs, code: &Code, lists: &[Vec<Ins>], vectors: usize) -> Self {
        let mut work = Self { cycles: 0, latency: 0, blocks: 0 };
        let mut ready = vec![0; vectors];
        for (block, list) in code.blocks.iter().zip(lists) {
            let weight = 1 << (3 * u64::from(block.loops.min(8)));
            ready.fill(0u64);
            let mut latest = 0;
            let mut rare = false;
            for ins in list {
                rare = matches!(ins, Ins::BeginRare(_)) || rare && !matches!(ins, Ins::EndRare);
                if rare && !matches!(ins, Ins::BeginRare(_)) {
                    continue;
                }
                let Cost { cycles, latency_cycles } = match ins {
                    Ins::Elements { .. } => costs.elements,
                    Ins::Call(..) => costs.call,
                    _ => costs.instruction,
                };
                let (mut begins, (written, sources)) = (0, ins.touches());
                each_read(written, &sources, |vector| begins = begins.max(ready[vector.index()]));
                work.cycles += weight * cycles;
                if let Some((vector, _)) = written {
                    ready[vector.index()] = begins + latency_cycles;
                    latest = latest.max(begins + latency_cycles);
                }
            }
            work.latency += weight * latest;
            work.blocks += weight;
        }
        work
    }
}

/// Whether lanes diverge.
fn lanes_diverge(code: &Code, lists: &[Vec<Ins>]) -> bool {
    let diverges = |ins: &Ins| match *ins {
        Ins::EndKeep | Ins::EndLanes(M::ACTIVE) => true,
        Ins::Mask(op) => op.writes() == M::ACTIVE,
        _ => false,
    };
    code.blocks.len() > 1 && lists.iter().flatten().any(diverges)
}

/// The width of a wavefront in units of 16 lanes, and the locations of vectors for it: those for `asked`, or for a
/// smaller one that is estimated to be faster.
pub fn narrow(
    target: &Target,
    (code, lists): (&Code, &[Vec<Ins>]),
    ranges: &Ranges,
    exports: &[usize],
    asked: u8,
    locations: impl Fn(u8) -> Locations,
) -> (u8, Locations) {
    let costs = &target.costs;
    let work = Work::of(costs, code, lists, ranges.vectors());
    let targets = exports.chunk_by(|a, b| a / 4 == b / 4).count().max(1) as f64;
    let deepest = code.blocks.iter().map(|block| block.loops).max().unwrap_or(0);
    let apart = costs.wavefront_cycles * targets * targets / costs.loop_factor.powi(deepest.into())
        + costs.block_cycles * work.blocks as f64;
    // Cycles of all lanes, where `rows` are spent on rows of one register.
    let time = |copies: u8, rows: f64| {
        let (cycles, latency) = (work.cycles as f64, work.latency as f64);
        let issued = f64::from(copies) * (costs.beside_share * cycles + rows);
        // Processors look ahead over one wavefront only; long strips hide the latency of one part after the other.
        let cycles = if target.has_short_strips() { issued + latency } else { issued.max(latency) };
        f64::from(asked / copies) * (cycles + apart)
    };
    let estimate = |copies: u8| {
        let locations = locations(copies);
        let bytes = f64::from(locations.rows) * f64::from(copies) * 64.0;
        let each = bytes / costs.spill_bytes_per_cycle + costs.spill_cycles;
        let rows = ranges.weight_in_rows(&locations) as f64 * each;
        (time(copies, rows), copies, locations)
    };
    let few = costs.divergent_lanes.map(|lanes| (lanes / LANES) as u8).filter(|&few| asked > few);
    if let Some(few) = few.filter(|_| lanes_diverge(code, lists)) {
        let few = estimate(few);
        let calls = lists.iter().flatten().any(|ins| matches!(ins, Ins::Call(..)));
        let loops = code.blocks.iter().any(|block| block.loops > 0);
        let least = if loops { costs.divergent_loop_share } else { costs.divergent_share };
        let one = (!calls).then(|| estimate(1)).filter(|one| one.0 < least * few.0);
        let best = one.unwrap_or(few);
        return (best.1, best.2);
    }
    let mut best = estimate(asked);
    for copies in [2, 1].into_iter().filter(|&copies| copies < asked) {
        if time(copies, 0.0) < costs.narrow_share * best.0 {
            let other = estimate(copies);
            if other.0 < costs.narrow_share * best.0 {
                best = other;
            }
        }
    }
    (best.1, best.2)
}
