//! What goes into a group and what comes out of it, whichever back end runs it.

use crate::ir::masked::{Counter, Fetch, Op};
use crate::ir::x1k::{Code, End, OUTPUT_VARS, Tally, Target};
use ctm_exec::Counters;
use ctm_exec::x1k::{Constants, Memory, sample};
use ctm_isa::x1k::INPUTS;
use ctm_isa::x1k::ops::FcOp;

/// Lanes of a vector. Groups of up to so many lanes run here; larger ones are left to the reference interpreter.
pub const LANES: usize = 16;

/// 32 bits for each lane.
pub type Row = [u32; LANES];

/// A set of lanes, lane 0 in bit 0.
pub type Mask = u16;

/// One group: what it starts with, and what it leaves.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Lanes that are covered.
    pub covered: Mask,
    /// Output components, W last: meaningful where [`Self::written`] says so.
    pub outputs: Vec<Row>,
    /// Lanes that wrote each output component.
    pub written: [Mask; OUTPUT_VARS],
}

impl Lanes {
    /// A group.
    pub fn new() -> Self {
        Self { covered: 0, outputs: vec![[0; LANES]; OUTPUT_VARS], written: [0; OUTPUT_VARS] }
    }
}

/// The first lanes.
pub const fn mask_of(lanes: usize) -> Mask {
    if lanes >= LANES { Mask::MAX } else { (1 << lanes) - 1 }
}

/// The lanes of a set, in order.
pub fn lanes_of(mask: Mask) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

/// How often groups have passed a block. Machine code adds to the fields in this order.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// Groups.
    pub groups: u64,
    /// Lanes that ran and were covered, over all of them.
    pub active: u64,
    /// Lanes that were covered, running or not, over all of them.
    pub covered: u64,
}

impl Visits {
    /// Adds others.
    pub const fn add(&mut self, other: &Self) {
        self.groups += other.groups;
        self.active += other.active;
        self.covered += other.covered;
    }
}

/// What is counted for lanes, by [`Counter`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tallies(pub [u64; Counter::COUNT]);

impl Tallies {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(all, more)| *all += more);
    }

    /// Turns them into counters of an X1K launch.
    pub fn count(&self, memory: &dyn Memory, counters: &mut Counters) {
        counters.active_lanes += self.0[Counter::Lanes.index()];
        for number in 0..INPUTS as u8 {
            let lookups = self.0[Counter::Lookups(number).index()];
            if let Some(input) = memory.input(number).filter(|_| lookups > 0) {
                let elements = lookups * sample::elements_per_lookup(input.sampler.filter);
                counters.fetches += elements;
                counters.fetch_bytes += elements * u64::from(input.element_bytes);
            }
        }
    }
}

/// Turns visits of blocks into the counters of `docs/clocks.md`, for groups of `lanes` lanes.
pub fn count(code: &Code, visits: &[Visits], lanes: usize, memory: &dyn Memory, counters: &mut Counters) {
    let (lanes, quads) = (lanes as u64, (lanes / 4) as u64);
    for (block, visits) in code.blocks.iter().zip(visits).filter(|(_, visits)| visits.groups > 0) {
        let tally = &block.tally;
        let times = |count: u32| visits.groups * u64::from(count);
        counters.alu += times(tally.alu);
        counters.output += times(tally.output);
        counters.tex += times(tally.tex);
        counters.fc += times(tally.fc);
        counters.active_lanes += visits.active * u64::from(tally.instructions());
        counters.total_lanes += times(tally.instructions()) * lanes;
        counters.alu_clocks += times(tally.alu + tally.output + 3 * tally.scattered) * quads + times(tally.nops);
        counters.tex_clocks += times(tally.tex_wide) * quads + times(tally.tex - tally.tex_wide);
        counters.fc_clocks += times(tally.fc);
        for op in &block.ops {
            if let Op::Fetch(number, ..) = *op
                && let Fetch::Input { input, .. } = code.fetches[usize::from(number)]
                && let Some(input) = memory.input(input)
            {
                let elements = visits.active * sample::elements_per_lookup(input.sampler.filter);
                counters.fetches += elements;
                counters.fetch_bytes += elements * u64::from(input.element_bytes);
            }
        }
    }
}

/// The group has to be run by the reference interpreter: it does, or may do, something that ends in a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BailOut;

/// How many instructions one group can issue at most, each block's as `weight` counts them; `None` when that depends on data: some jump goes back that
/// ends no loop.
pub fn instruction_bound(code: &Code, constants: &Constants, weight: impl Fn(&Tally) -> u32) -> Option<u64> {
    let mut bound = 0u64;
    for (index, block) in code.blocks.iter().enumerate() {
        let goes_back = |target: Target| matches!(target, Target::Block(id) if id.index() <= index);
        let unbounded = match block.end {
            End::Stop => false,
            End::Next(target) => goes_back(target),
            End::Flow(flow) => {
                let ends_loop = matches!(flow.op, FcOp::EndLoop | FcOp::EndRep);
                goes_back(flow.stay) || (goes_back(flow.jump) && !ends_loop)
            }
        };
        if unbounded {
            return None;
        }
        let iterations = |&(_, int): &(bool, u8)| u64::from(constants.int[usize::from(int)][0].max(1));
        let iterations = block.frames.frames.iter().map(iterations).product::<u64>();
        bound = bound.saturating_add(iterations.saturating_mul(weight(&block.tally).into()));
    }
    Some(bound)
}
