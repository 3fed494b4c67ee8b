//! Narrower wavefronts for programs with high register pressure.
//!
//! A vector of 64 lanes takes four registers, so seven vectors fill the processor's. Where a program keeps more, two
//! wavefronts of 32 lanes or four of 16, one after the other, may take less time: their vectors are in registers and
//! not in the frame. They pay for starts, exports and branches again, and where each instruction waits for the one
//! before, there is less parallel work.

use super::Ins;
use crate::codegen::x86::allocate::{Locations, Ranges};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::each_read;
use crate::ir::masked::{Code, M};

/// Estimated cycles of an instruction on one register, and its latency.
const INSTRUCTION: [u64; 2] = [1, 4];
/// The same for loading elements, and for a call.
const ELEMENTS: [u64; 2] = [15, 40];
const CALL: [u64; 2] = [20, 60];
/// Cycles of a wavefront's start and of storing to one target. Targets disturb each other, so it grows with the square of their number.
const WAVEFRONT: f64 = 130.0;
const WAVEFRONT_OF_AVX2: f64 = 250.0;
/// Cycles of a block's end.
const BLOCK: f64 = 10.0;
/// Cycles of a use of one register's row, and the bytes of rows in the frame at which it takes one more: the extra time
/// grows with the share of the first-level cache that they fill.
const ROW: f64 = 0.65;
const ROW_OF_AVX2: f64 = 1.0;
const ROWS: f64 = 22.0 * 1024.0;
/// With AVX-512, the share of an instruction's cycle that it takes beside others. Latency comes on top, as the
/// processor looks ahead over one wavefront only.
const BESIDE: f64 = 0.4;
/// For divergent programs AVX2 has wavefronts of twice 16 lanes at most, as the slowest of many lanes takes much longer
/// than that of 16. In loops iterations wait for each other, which the estimate underrates; so 16 lanes have to be
/// estimated to take less than this share of the time.
const FEW: u8 = 2;
const STRAGGLERS: f64 = 1.15;
const LOOPS: f64 = 0.98;
/// On AVX2 long strips are made for one register after the other. So a block's end costs less there; and loops run more
/// often than their weight, which matters, as there is hardly any other gain.
const BLOCK_OF_AVX2: f64 = 2.0;
const OFTEN: f64 = 4.0;
/// A smaller width has to be estimated to take less than this share of the time.
const GAIN: f64 = 0.9;

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
    fn of(code: &Code, lists: &[Vec<Ins>], vectors: usize) -> Self {
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
                let [cycles, latency] = match ins {
                    Ins::Elements { .. } => ELEMENTS,
                    Ins::Call(..) => CALL,
                    _ => INSTRUCTION,
                };
                let (mut begins, (written, sources)) = (0, ins.touches());
                each_read(written, &sources, |vector| begins = begins.max(ready[vector.index()]));
                work.cycles += weight * cycles;
                if let Some((vector, _)) = written {
                    ready[vector.index()] = begins + latency;
                    latest = latest.max(begins + latency);
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
    isa: Isa,
    (code, lists): (&Code, &[Vec<Ins>]),
    ranges: &Ranges,
    exports: &[usize],
    asked: u8,
    locations: impl Fn(u8) -> Locations,
) -> (u8, Locations) {
    let work = Work::of(code, lists, ranges.vectors());
    let targets = exports.chunk_by(|a, b| a / 4 == b / 4).count().max(1) as f64;
    let apart = match isa {
        Isa::Avx512 => WAVEFRONT * targets * targets + BLOCK * work.blocks as f64,
        Isa::Avx2 => {
            let deepest = code.blocks.iter().map(|block| block.loops).max().unwrap_or(0);
            WAVEFRONT_OF_AVX2 * targets * targets / OFTEN.powi(deepest.into()) + BLOCK_OF_AVX2 * work.blocks as f64
        }
    };
    // Cycles of all lanes, where `rows` are spent on rows of one register.
    let time = |copies: u8, rows: f64| {
        let (cycles, latency) = (work.cycles as f64, work.latency as f64);
        let cycles = match isa {
            Isa::Avx512 => f64::from(copies) * (BESIDE * cycles + rows) + latency,
            Isa::Avx2 => (f64::from(copies) * (cycles + rows)).max(latency),
        };
        f64::from(asked / copies) * (cycles + apart)
    };
    let estimate = |copies: u8| {
        let locations = locations(copies);
        let bytes = f64::from(locations.rows) * f64::from(copies) * 64.0;
        let each = bytes / ROWS + if isa == Isa::Avx2 { ROW_OF_AVX2 } else { ROW };
        let rows = ranges.weight_in_rows(&locations) as f64 * each;
        (time(copies, rows), copies, locations)
    };
    if isa == Isa::Avx2 && asked > FEW && lanes_diverge(code, lists) {
        let few = estimate(FEW);
        let calls = lists.iter().flatten().any(|ins| matches!(ins, Ins::Call(..)));
        let loops = code.blocks.iter().any(|block| block.loops > 0);
        let least = if loops { LOOPS } else { STRAGGLERS };
        let one = (!calls).then(|| estimate(1)).filter(|one| one.0 < least * few.0);
        let best = one.unwrap_or(few);
        return (best.1, best.2);
    }
    let mut best = estimate(asked);
    for copies in [2, 1].into_iter().filter(|&copies| copies < asked) {
        if time(copies, 0.0) < GAIN * best.0 {
            let other = estimate(copies);
            if other.0 < GAIN * best.0 {
                best = other;
            }
        }
    }
    (best.1, best.2)
}
