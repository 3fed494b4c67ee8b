//! The device: its registers, engine and options.

use super::counters::{Counters, Predicate};
use super::joined::Joined;
use super::programs::Programs;
use super::queue::DrawQueue;
use super::r500::units;
use super::registers::Registers;
use super::surfaces::Surfaces;
use crate::Error;
use crate::chip::{Chip, Family};
use crate::packets::{Operands, Packet, R700};
use crate::stream::Relocation;
use crate::table::join;
use ctm_draw::{Fragment, Funnel, Note, Notice, Options};
use ctm_exec::{Budget, Control, Engine, Instant};
use std::collections::BTreeMap;
use std::time::Duration;

/// The time at which a device stops in any case, and how much time that is in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The end.
    pub at: Instant,
    /// The time from the beginning to the end.
    pub whole: Duration,
}

impl Deadline {
    /// From now on; `None` for a time that no clock reaches.
    #[must_use]
    pub fn after(whole: Duration) -> Option<Self> {
        Instant::now().checked_add(whole).map(|at| Self { at, whole })
    }

    /// The time that is left; `None`: none.
    pub(super) fn left(&self) -> Option<Duration> {
        self.at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    pub(super) fn error(&self) -> Error {
        let seconds = self.whole.as_secs_f64();
        Error::new(
            "time-budget",
            format!("the {seconds} s that all draws together may take are over: the rest is not run"),
        )
    }
}

/// How draws run.
#[derive(Clone, Debug)]
pub struct DrawOptions {
    /// Runs on one thread instead of all cores. Results do not depend on it.
    pub one_thread: bool,
    /// Limits of one draw.
    pub budget: Budget,
    /// The time by which all streams together must end. Later packets do not run ([`Submitted::is_over`](super::Submitted::is_over)).
    pub deadline: Option<Deadline>,
    /// Can end a draw.
    pub control: Control,
    /// Programs report legal but suspicious operations ([`Stepped::notes`](super::Stepped::notes)); that takes time.
    pub checks: bool,
    /// The column and row of a pixel whose fragments are reported ([`Stepped::fragments`](super::Stepped::fragments)).
    pub watch: Option<[u32; 2]>,
    /// The primitives and pixels that end at each stage are counted ([`Stepped::funnel`](super::Stepped::funnel)), and primitives are listed; that takes time.
    pub funnel: bool,
    /// Called with each launch of a draw.
    pub notice: Notice,
    /// [`Stepped::targets`](super::Stepped::targets) works: a draw's writes go to memory before its watcher is called.
    pub targets: bool,
}

impl Default for DrawOptions {
    /// All cores; half a minute for a draw.
    fn default() -> Self {
        let budget = Budget { time: Some(Duration::from_secs(30)), ..Budget::default() };
        Self {
            one_thread: false,
            budget,
            deadline: None,
            control: Control::default(),
            checks: false,
            watch: None,
            funnel: false,
            notice: Notice::default(),
            targets: false,
        }
    }
}

/// An error in a packet. The packets after it have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The dword of the packet's header.
    pub dword: usize,
    /// The number of the draw, from 1 on, if it is one.
    pub draw: Option<u32>,
    /// The error.
    pub error: Error,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.draw {
            Some(draw) => write!(f, "dword {}, draw {draw}: {}", self.dword, self.error),
            None => write!(f, "dword {}: {}", self.dword, self.error),
        }
    }
}

/// A Radeon in software: registers, and the engine for programs. Memory is the caller's.
pub struct Device {
    chip: &'static Chip,
    /// The parts of an R500 that are no registers.
    pub(super) r500: units::UnitState,
    pub(super) engine: Box<dyn Engine>,
    pub(super) options: DrawOptions,
    pub(super) registers: Registers,
    pub(super) programs: Programs,
    pub(super) surfaces: Surfaces,
    pub(super) counters: Counters,
    pub(super) predicate: Predicate,
    /// Side results of the last draw, besides its counts.
    pub(super) notes: Vec<Note>,
    pub(super) fragments: Vec<Fragment>,
    pub(super) funnel: Option<Funnel>,
    pub(super) outlines: Vec<ctm_draw::Outline>,
    /// Registers that changed since the last draw; recorded only for watchers.
    pub(super) changed: Option<BTreeMap<u32, u32>>,
    /// Draws that wait for others that differ in nothing but their vertices.
    pub(super) joined: Option<Joined>,
    /// Small draws that wait for others with the same targets.
    pub(super) queue: Option<DrawQueue>,
    /// Errors of draws that waited.
    pub(super) problems: Vec<Problem>,
    /// The dword of the packet that runs, and the number of the last draw.
    pub(super) place: (usize, u32),
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("counters", &self.counters).finish_non_exhaustive()
    }
}

/// A packet with the relocations that follow it.
pub(super) struct Placed<'a> {
    pub(super) packet: Packet<'a>,
    /// Its addresses are absolute.
    pub(super) absolute: bool,
    /// The relocations of the stream, and the operands of those that are the packet's.
    pub(super) relocations: (&'a [Relocation], Operands<'a>),
    pub(super) next: usize,
    /// Of a draw of an R500: the address and the dwords of the indices in the packet after it.
    pub(super) indices: Option<(u64, u32)>,
}

impl Placed<'_> {
    /// The next buffer that the packet names.
    pub(super) fn relocation(&mut self) -> Result<Relocation, Error> {
        if self.absolute {
            return Ok(Relocation { handle: 0, base: 0, size: u64::MAX });
        }
        let (all, operands) = self.relocations;
        let found = operands.get(self.next).and_then(|operand| all.get(operand as usize / 4)).copied();
        self.next += 1;
        found.ok_or_else(|| Error::new("no-relocation", "the packet has an address, and no relocation behind it"))
    }

    /// An address of the packet: from its words, and from the next buffer in its relocations.
    pub(super) fn address(&mut self, low: u32, high: u32) -> Result<u64, Error> {
        Ok(join(low, high).wrapping_add(self.relocation()?.base))
    }

    /// Whether another relocation follows.
    pub(super) fn has_relocation(&self) -> bool {
        self.next < self.relocations.1.len()
    }
}

impl Device {
    /// An R700 whose programs run on this engine.
    #[must_use]
    pub fn new(engine: Box<dyn Engine>) -> Self {
        Self {
            chip: &R700,
            r500: units::UnitState::default(),
            engine,
            options: DrawOptions::default(),
            registers: Registers::default(),
            programs: Programs::default(),
            surfaces: Surfaces::default(),
            counters: Counters::default(),
            predicate: Predicate::default(),
            notes: Vec::new(),
            fragments: Vec::new(),
            funnel: None,
            outlines: Vec::new(),
            changed: None,
            joined: None,
            queue: None,
            problems: Vec::new(),
            place: (0, 0),
        }
    }

    /// Makes it another chip. One of another generation starts with its own registers.
    pub fn set_chip(&mut self, chip: &'static Chip) {
        if self.chip.family != chip.family {
            self.registers = match chip.family {
                Family::R700 => Registers::default(),
                Family::R500 => units::reset(),
            };
            self.r500 = units::UnitState::default();
        }
        self.chip = chip;
    }

    /// The chip.
    #[must_use]
    pub const fn chip(&self) -> &'static Chip {
        self.chip
    }

    /// How many draws ran as a part of the one before them, as they differed in nothing but their vertices.
    #[must_use]
    pub const fn joined_draws(&self) -> u64 {
        self.counters.joined
    }

    /// How many draws ran together with others that have the same targets; none without several threads.
    #[must_use]
    pub const fn queued_draws(&self) -> u64 {
        self.counters.queued
    }

    /// Says how draws run from now on.
    pub fn set_options(&mut self, options: DrawOptions) {
        self.surfaces.one_thread = options.one_thread;
        self.surfaces.are_observed = options.checks || options.notice.is_heard();
        self.options = options;
    }

    /// The registers' values.
    #[must_use]
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    /// The limits of draws that begin now.
    pub(super) fn draw_budget(&self, draws: u32) -> Budget {
        let Budget { instructions_per_group, time } = self.options.budget;
        let time = time.map(|time| time.saturating_mul(draws));
        let left = self.options.deadline.map(|deadline| deadline.left().unwrap_or_default());
        Budget { instructions_per_group, time: time.into_iter().chain(left).min() }
    }

    /// Whether something depends on where each draw begins and ends.
    pub(super) fn is_observed(&self) -> bool {
        self.changed.is_some()
            || self.options.checks
            || self.options.funnel
            || self.options.watch.is_some()
            || self.options.notice.is_heard()
    }

    /// The options of draws that begin now, as many as this.
    pub(super) fn draw_options(&self, draws: u32) -> Options {
        let DrawOptions { one_thread, ref control, checks, watch, funnel, ref notice, .. } = self.options;
        let (budget, control, notice) = (self.draw_budget(draws), control.clone(), notice.clone());
        Options { one_thread, budget, control, checks, watch, funnel, notice }
    }

    /// Sets a register.
    pub(super) fn set(&mut self, offset: u32, value: u32) {
        if let Some(changed) = &mut self.changed
            && self.registers.at(offset) != value
        {
            changed.insert(offset, value);
        }
        if let Some(joined) = &mut self.joined
            && (self.registers.at(offset) != value || Registers::changed_with(offset, value).next().is_some())
        {
            let all = std::iter::once(offset).chain(Registers::changed_with(offset, value));
            all.for_each(|offset| joined.note(&self.registers, offset));
        }
        self.registers.set(offset, value);
    }

    /// Sets consecutive registers, none of which is an action.
    pub(super) fn set_all(&mut self, first: u32, values: &[u32]) {
        if self.changed.is_none() && self.joined.is_none() {
            return self.registers.set_all(first, values);
        }
        for (&value, offset) in values.iter().zip((first..).step_by(4)) {
            self.set(offset, value);
        }
    }

    /// Sets the end of the buffer of a register's address.
    pub(super) fn set_end(&mut self, offset: u32, end: u64) {
        if let Some(joined) = &mut self.joined {
            joined.note_end(&self.registers, offset);
        }
        self.registers.set_end(offset, end);
    }
}
