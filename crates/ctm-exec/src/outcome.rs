//! The outcome of a launch: counters, and findings of checked runs.

use crate::domain::Position;

/// Something a checked run noticed; the run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The check's name in kebab-case; stable.
    pub rule: &'static str,
    /// The instruction.
    pub pc: u32,
    /// The first processor concerned.
    pub position: Option<Position>,
    /// The found value and the allowed ones; lower case, no full stop.
    pub message: String,
}

/// Statistics of a launch: the clock model of `docs/clocks.md` and its underlying counts.
///
/// Every engine gives the same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Groups that ran.
    pub groups: u64,
    /// Processors that ran: covered lanes.
    pub processors: u64,
    /// ALU instructions issued, once per group.
    pub alu: u64,
    /// OUTPUT instructions issued, once per group.
    pub output: u64,
    /// Texture instructions issued, once per group.
    pub tex: u64,
    /// Flow-control instructions issued, once per group.
    pub fc: u64,
    /// Covered lanes that flow control let run, summed over issued instructions.
    pub active_lanes: u64,
    /// Lanes there were, summed over issued instructions.
    pub total_lanes: u64,
    /// Input elements read by active lanes.
    pub fetches: u64,
    /// Bytes requested by those reads.
    pub fetch_bytes: u64,
    /// Output elements written.
    pub writes: u64,
    /// Bytes those writes stored.
    pub write_bytes: u64,
    /// Clocks of the ALU.
    pub alu_clocks: u64,
    /// Clocks of the texture unit.
    pub tex_clocks: u64,
    /// Clocks of flow control.
    pub fc_clocks: u64,
}

impl Counters {
    /// Instructions issued, all types.
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.alu + self.output + self.tex + self.fc
    }

    /// Clocks of the launch: the three units work in parallel on different groups, so the busiest one decides.
    #[must_use]
    pub fn clocks(&self) -> u64 {
        self.alu_clocks.max(self.tex_clocks).max(self.fc_clocks)
    }

    /// Only free counters: groups, processors and writes. All others are 0, as in a launch that did not ask for them.
    #[must_use]
    pub fn cheap(&self) -> Self {
        let Self { groups, processors, writes, write_bytes, .. } = *self;
        Self { groups, processors, writes, write_bytes, ..Self::default() }
    }

    /// The difference since these were taken; not groups and processors, which are counted at the end.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            groups: 0,
            processors: 0,
            alu: self.alu - before.alu,
            output: self.output - before.output,
            tex: self.tex - before.tex,
            fc: self.fc - before.fc,
            active_lanes: self.active_lanes - before.active_lanes,
            total_lanes: self.total_lanes - before.total_lanes,
            fetches: self.fetches - before.fetches,
            fetch_bytes: self.fetch_bytes - before.fetch_bytes,
            writes: self.writes - before.writes,
            write_bytes: self.write_bytes - before.write_bytes,
            alu_clocks: self.alu_clocks - before.alu_clocks,
            tex_clocks: self.tex_clocks - before.tex_clocks,
            fc_clocks: self.fc_clocks - before.fc_clocks,
        }
    }

    /// Adds another launch or group.
    pub fn add(&mut self, other: &Self) {
        self.groups += other.groups;
        self.processors += other.processors;
        self.alu += other.alu;
        self.output += other.output;
        self.tex += other.tex;
        self.fc += other.fc;
        self.active_lanes += other.active_lanes;
        self.total_lanes += other.total_lanes;
        self.fetches += other.fetches;
        self.fetch_bytes += other.fetch_bytes;
        self.writes += other.writes;
        self.write_bytes += other.write_bytes;
        self.alu_clocks += other.alu_clocks;
        self.tex_clocks += other.tex_clocks;
        self.fc_clocks += other.fc_clocks;
    }
}

/// The result of a launch that did not fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Its statistics.
    pub counters: Counters,
    /// Findings of a checked run; empty when checks are off.
    pub findings: Vec<Finding>,
}

impl Outcome {
    /// The outcome of a launch with or without counters.
    #[must_use]
    pub fn counted(self, counters: bool) -> Self {
        if counters { self } else { Self { counters: self.counters.cheap(), ..self } }
    }
}
