//! The state of the processors of one group, sixteen lanes to a block.
//!
//! A lane is one processor. Blocks exist so that one operation is a short loop over an array; they mean nothing to programs.
//! Lanes come as quads of 2x2 processors; lane `4*q + k` of a block is processor `k` of quad `q`, in the order (0,0), (1,0), (0,1), (1,1).

use super::Launch;
use crate::domain::Position;
use ctm_isa::x1k::{OUTPUTS, TEMPORARIES};

/// Lanes of a block.
pub const BLOCK: usize = 16;

/// One 32-bit value of each lane of a block.
pub type Values = [u32; BLOCK];

/// A set of lanes of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneMask(u16);

impl LaneMask {
    /// No lane.
    pub const NONE: Self = Self(0);
    /// Every lane.
    pub const ALL: Self = Self(u16::MAX);

    /// The first `count` lanes.
    #[must_use]
    pub const fn first_lanes(count: usize) -> Self {
        if count >= BLOCK { Self::ALL } else { Self((1 << count) - 1) }
    }

    /// The lanes for which `test` holds.
    pub fn of(mut test: impl FnMut(usize) -> bool) -> Self {
        (0..BLOCK).filter(|&lane| test(lane)).fold(Self::NONE, |set, lane| Self(set.0 | 1 << lane))
    }

    /// Whether the lane belongs to it.
    #[must_use]
    pub const fn contains(self, lane: usize) -> bool {
        self.0 >> lane & 1 == 1
    }

    /// Whether it has no lane.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many lanes it has.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Its first lane.
    #[must_use]
    pub fn first(self) -> Option<usize> {
        self.iter().next()
    }

    /// Its lanes in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..BLOCK).filter(move |&lane| self.contains(lane))
    }

    /// The lanes of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The lanes of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The lanes of this one that the other lacks.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Writes `values` to `to` where `mask` says so.
pub fn store(to: &mut Values, values: &Values, mask: LaneMask) {
    for lane in 0..BLOCK {
        to[lane] = if mask.contains(lane) { values[lane] } else { to[lane] };
    }
}

/// Sixteen processors.
#[derive(Clone, Debug)]
pub struct Block {
    /// Temporaries: `[register][channel][lane]`.
    pub temps: Box<[[Values; 4]; TEMPORARIES]>,
    /// Which lanes have ever written a temporary's channel; kept in checked runs only.
    pub written_temps: Box<[[LaneMask; 4]; TEMPORARIES]>,
    /// Predicate bits: `[channel]`.
    pub predicates: [LaneMask; 4],
    /// Which lanes have ever set a predicate bit.
    pub written_predicates: [LaneMask; 4],
    /// The ALU result.
    pub alu_result: LaneMask,
    /// Which lanes have produced an ALU result since the last flow-control instruction.
    pub written_alu_result: LaneMask,
    /// Lanes there are: the last group of a domain may be short.
    pub existing: LaneMask,
    /// Lanes whose processor is inside the domain, scheduled, and not killed.
    pub covered: LaneMask,
    /// Lanes that flow control lets execute.
    pub running: LaneMask,
    /// Column and row of each lane; uncovered lanes may lie outside the domain.
    pub positions: [Position; BLOCK],
    /// Output registers: `[target][channel][lane]`.
    pub outputs: [[Values; 4]; OUTPUTS],
    /// Which lanes have written an output's channel.
    pub written_outputs: [[LaneMask; 4]; OUTPUTS],
    /// The W output: the conditional value.
    pub conditional_value: Values,
    /// Which lanes have written it.
    pub written_conditional_value: LaneMask,
}

impl Block {
    /// A block without lanes.
    #[must_use]
    pub fn new() -> Self {
        Self {
            temps: Box::new([[[0; BLOCK]; 4]; TEMPORARIES]),
            written_temps: Box::new([[LaneMask::NONE; 4]; TEMPORARIES]),
            predicates: [LaneMask::NONE; 4],
            written_predicates: [LaneMask::NONE; 4],
            alu_result: LaneMask::NONE,
            written_alu_result: LaneMask::NONE,
            existing: LaneMask::NONE,
            covered: LaneMask::NONE,
            running: LaneMask::NONE,
            positions: [Position { i: 0, j: 0 }; BLOCK],
            outputs: [[[0; BLOCK]; 4]; OUTPUTS],
            written_outputs: [[LaneMask::NONE; 4]; OUTPUTS],
            conditional_value: [0; BLOCK],
            written_conditional_value: LaneMask::NONE,
        }
    }

    /// Starts over: `existing` lanes at `positions`, all registers 0, then the launch's planes and rows.
    pub fn restart(
        &mut self,
        existing: LaneMask,
        covered: LaneMask,
        positions: [Position; BLOCK],
        launch: &Launch<'_>,
    ) {
        let Self { temps, written_temps, .. } = self;
        temps.fill([[0; BLOCK]; 4]);
        written_temps.fill([LaneMask::NONE; 4]);
        for plane in launch.planes {
            let temp = usize::from(plane.temp) % TEMPORARIES;
            for lane in existing.iter() {
                let Position { i, j } = positions[lane];
                let (i, j) = (i64::from(i), i64::from(j));
                let value = launch.draw.divisor.map_or_else(|| plane.at(i, j), |divisor| divisor.at(plane, i, j));
                for channel in 0..4 {
                    temps[temp][channel][lane] = value[channel];
                }
            }
            written_temps[temp] = [LaneMask::ALL; 4];
        }
        if !launch.rows.is_empty() {
            let order = launch.lane_order();
            let numbers = positions.map(|at| order.lane(at).unwrap_or(usize::MAX));
            for row in launch.rows {
                let (temp, channel) = (usize::from(row.register) % TEMPORARIES, usize::from(row.element) % 4);
                for lane in existing.iter() {
                    temps[temp][channel][lane] = row.of_lane(numbers[lane]);
                }
                written_temps[temp][channel] = LaneMask::ALL;
            }
        }
        self.predicates = [LaneMask::NONE; 4];
        self.written_predicates = [LaneMask::NONE; 4];
        self.alu_result = LaneMask::NONE;
        self.written_alu_result = LaneMask::NONE;
        self.existing = existing;
        self.covered = covered;
        self.running = existing;
        self.positions = positions;
        self.written_outputs = [[LaneMask::NONE; 4]; OUTPUTS];
        self.written_conditional_value = LaneMask::NONE;
    }

    /// The outputs of one lane at its end.
    #[must_use]
    pub fn outputs_of(&self, lane: usize) -> super::Outputs {
        let mut outputs = super::Outputs::default();
        for target in 0..OUTPUTS {
            for channel in 0..4 {
                if self.written_outputs[target][channel].contains(lane) {
                    outputs.values[target][channel] = self.outputs[target][channel][lane];
                    outputs.written[target] |= 1 << channel;
                }
            }
        }
        outputs.conditional_value =
            self.written_conditional_value.contains(lane).then_some(self.conditional_value[lane]);
        outputs
    }
}

impl Default for Block {
    fn default() -> Self {
        Self::new()
    }
}
