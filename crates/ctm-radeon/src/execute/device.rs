//! A stream, packet by packet.

use super::commands::{Counters, Predicate};
use super::draws::{self, IndexSource, Outline, TargetPicture};
use super::memory::GpuMemory;
use super::programs::Programs;
use super::r500;
use super::registers::Registers;
use super::state;
use super::surfaces::Surfaces;
use crate::Error;
use crate::chip::{Chip, Family};
use crate::packets::{Kind, Packet, Packets, R700};
use crate::stream::Relocation;
use crate::table::join;
use ctm_draw::{Fragment, Note, Notice};
use ctm_exec::{Budget, Control, Engine};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

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
    fn left(&self) -> Option<Duration> {
        self.at.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    fn error(&self) -> Error {
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
    /// The time by which all streams together must end. Later packets do not run ([`Submitted::is_over`]).
    pub deadline: Option<Deadline>,
    /// Can end a draw.
    pub control: Control,
    /// Programs report legal but suspicious operations ([`Stepped::notes`]); that takes time.
    pub checks: bool,
    /// The column and row of a pixel whose fragments are reported ([`Stepped::fragments`]).
    pub watch: Option<[u32; 2]>,
    /// Called with each launch of a draw.
    pub notice: Notice,
    /// [`Stepped::targets`] works: a draw's writes go to memory before its watcher is called.
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
            notice: Notice::default(),
            targets: false,
        }
    }
}

/// Whether a stream goes on after a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// It does.
    Continue,
    /// No later packet runs.
    Stop,
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

/// The result of a stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Submitted {
    /// Its draws, including those that a predicate dropped.
    pub draws: u32,
    /// Errors, by packet.
    pub problems: Vec<Problem>,
    /// Whether a draw's watcher ended it.
    pub stopped: bool,
    /// Whether [`DrawOptions::deadline`] ended it; the last problem says so.
    pub is_over: bool,
}

/// The state after a draw, for a watcher.
pub struct Stepped<'a> {
    /// The draw.
    pub outline: Outline,
    /// The error of the draw, if it has one.
    pub problem: Option<&'a Problem>,
    /// Legal but suspicious operations of its programs, where [`DrawOptions::checks`] is set: the first place for each stage, rule and instruction.
    pub notes: &'a [Note],
    /// Fragments of the pixel of [`DrawOptions::watch`], in order.
    pub fragments: &'a [Fragment],
    /// The programs of the draw: `vertex`, `geometry`, `copy` or `pixel` as in notes, and the address.
    pub programs: Vec<(&'static str, u64)>,
    /// Registers and memory after the draw, if [`DrawOptions::targets`] is set.
    behind: Option<(Family, &'a Registers, &'a dyn GpuMemory)>,
}

impl Stepped<'_> {
    /// The contents of the draw's targets after it; none unless [`DrawOptions::targets`] is set.
    ///
    /// # Errors
    /// Targets that cannot be read.
    pub fn targets(&self) -> Result<Vec<TargetPicture>, Error> {
        self.behind.map_or_else(|| Ok(Vec::new()), |(family, registers, memory)| pictures(family, registers, memory))
    }
}

/// The contents of the targets that registers of a chip name.
fn pictures(family: Family, registers: &Registers, memory: &dyn GpuMemory) -> Result<Vec<TargetPicture>, Error> {
    match family {
        Family::R700 => draws::pictures(registers, memory),
        Family::R500 => r500::pictures(registers, memory),
    }
}

/// A Radeon in software: registers, and the engine for programs. Memory is the caller's.
pub struct Device {
    chip: &'static Chip,
    /// The parts of an R500 that are no registers.
    pub(super) r500: r500::State,
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
    /// Registers that changed since the last draw; recorded only for watchers.
    changed: Option<BTreeMap<u32, u32>>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("counters", &self.counters).finish_non_exhaustive()
    }
}

/// The meaning of addresses in a stream.
#[derive(Clone, Copy)]
enum Addresses<'a> {
    /// Offsets into buffers, which relocations name.
    Relocated(&'a [Relocation]),
    /// Addresses.
    Absolute,
}

/// A packet with the relocations that follow it.
pub(super) struct Placed<'a> {
    pub(super) packet: Packet<'a>,
    /// Its addresses are absolute.
    pub(super) absolute: bool,
    relocations: Vec<Relocation>,
    next: usize,
    /// Of a draw of an R500: the address and the dwords of the indices in the packet after it.
    pub(super) indices: Option<(u64, u32)>,
}

impl Placed<'_> {
    /// The next buffer that the packet names.
    pub(super) fn relocation(&mut self) -> Result<Relocation, Error> {
        if self.absolute {
            return Ok(Relocation { handle: 0, base: 0, size: u64::MAX });
        }
        let found = self.relocations.get(self.next).copied();
        self.next += 1;
        found.ok_or_else(|| Error::new("no-relocation", "the packet has an address, and no relocation behind it"))
    }

    /// An address of the packet: from its words, and from the next buffer in its relocations.
    pub(super) fn address(&mut self, low: u32, high: u32) -> Result<u64, Error> {
        Ok(join(low, high).wrapping_add(self.relocation()?.base))
    }

    /// Whether another relocation follows.
    pub(super) fn has_relocation(&self) -> bool {
        self.next < self.relocations.len()
    }
}

impl Device {
    /// An R700 whose programs run on this engine.
    #[must_use]
    pub fn new(engine: Box<dyn Engine>) -> Self {
        Self {
            chip: &R700,
            r500: r500::State::default(),
            engine,
            options: DrawOptions::default(),
            registers: Registers::default(),
            programs: Programs::default(),
            surfaces: Surfaces::default(),
            counters: Counters::default(),
            predicate: Predicate::default(),
            notes: Vec::new(),
            fragments: Vec::new(),
            changed: None,
        }
    }

    /// Makes it another chip. One of another generation starts with its own registers.
    pub fn set_chip(&mut self, chip: &'static Chip) {
        if self.chip.family != chip.family {
            self.registers = match chip.family {
                Family::R700 => Registers::default(),
                Family::R500 => r500::reset(),
            };
            self.r500 = r500::State::default();
        }
        self.chip = chip;
    }

    /// The chip.
    #[must_use]
    pub const fn chip(&self) -> &'static Chip {
        self.chip
    }

    /// Says how draws run from now on.
    pub fn set_options(&mut self, options: DrawOptions) {
        self.options = options;
    }

    /// The registers' values.
    #[must_use]
    pub const fn registers(&self) -> &Registers {
        &self.registers
    }

    /// Runs a stream. When it returns, memory holds all that the stream wrote.
    pub fn submit(&mut self, words: &[u32], relocations: &[Relocation], memory: &mut dyn GpuMemory) -> Submitted {
        self.run(words, Addresses::Relocated(relocations), memory, None)
    }

    /// Runs a stream with absolute addresses, as programs on the bare chip use it, and calls `watcher` after each draw.
    pub fn submit_absolute(
        &mut self,
        words: &[u32],
        memory: &mut dyn GpuMemory,
        watcher: &mut dyn FnMut(&Stepped<'_>) -> Next,
    ) -> Submitted {
        self.changed = Some(BTreeMap::new());
        let submitted = self.run(words, Addresses::Absolute, memory, Some(watcher));
        self.changed = None;
        submitted
    }

    /// Runs a stream and calls the watcher after each draw; its answer decides whether the stream goes on.
    pub fn submit_watched(
        &mut self,
        words: &[u32],
        relocations: &[Relocation],
        memory: &mut dyn GpuMemory,
        watcher: &mut dyn FnMut(&Stepped<'_>) -> Next,
    ) -> Submitted {
        self.changed = Some(BTreeMap::new());
        let submitted = self.run(words, Addresses::Relocated(relocations), memory, Some(watcher));
        self.changed = None;
        submitted
    }

    /// The contents of the targets that the registers name now.
    ///
    /// # Errors
    /// Targets that cannot be read.
    pub fn targets(&self, memory: &dyn GpuMemory) -> Result<Vec<TargetPicture>, Error> {
        pictures(self.chip.family, &self.registers, memory)
    }

    fn run(
        &mut self,
        words: &[u32],
        addresses: Addresses<'_>,
        memory: &mut dyn GpuMemory,
        mut watcher: Option<&mut dyn FnMut(&Stepped<'_>) -> Next>,
    ) -> Submitted {
        let mut submitted = Submitted::default();
        let mut packets = Packets::of(self.chip, words).peekable();
        while let Some(packet) = packets.next() {
            let packet = match packet {
                Ok(packet) => packet,
                Err((dword, bad)) => {
                    let error = Error::new("bad-packet", bad.to_string());
                    submitted.problems.push(Problem { dword, draw: None, error });
                    break;
                }
            };
            let absolute = matches!(addresses, Addresses::Absolute);
            let mut placed = Placed { packet, absolute, relocations: Vec::new(), next: 0, indices: None };
            // Relocations directly follow the packet that they belong to.
            if let (Addresses::Relocated(relocations), None) = (addresses, packet.relocation()) {
                while let Some(operand) = packets.peek().and_then(|next| next.as_ref().ok()?.relocation()) {
                    packets.next();
                    if let Some(found) = relocations.get(operand as usize / 4) {
                        placed.relocations.push(*found);
                    }
                }
            }
            if let (Addresses::Relocated(relocations), Family::R500, true) =
                (addresses, self.chip.family, packet.draws())
            {
                let after = packet.at + packet.words.len() + 1;
                let rest = Packets::of(self.chip, words.get(after..).unwrap_or_default());
                placed.indices = r500::index_buffer_after(rest, relocations);
            }
            let draws = packet.draws();
            submitted.draws += u32::from(draws);
            let predicated = matches!(packet.kind, Kind::Packet { predicated: true, .. });
            if predicated && !self.predicate.lets_pass() {
                continue;
            }
            let before = self.counters.drawn;
            self.notes.clear();
            self.fragments.clear();
            let result = match self.options.deadline.filter(|deadline| deadline.left().is_none()) {
                Some(deadline) => Err(deadline.error()),
                None => match self.chip.family {
                    Family::R700 => self.packet(&mut placed, memory),
                    Family::R500 => self.r500_packet(&mut placed, memory),
                },
            };
            let mut problem = None;
            // The draw that the deadline ended, or else the packet that comes after it, is the end of the stream.
            let over = self.options.deadline.filter(|deadline| result.is_err() && deadline.left().is_none());
            submitted.is_over = over.is_some();
            if let Err(error) = result.map_err(|error| over.map_or(error, |deadline| deadline.error())) {
                problem = Some(Problem { dword: packet.at, draw: draws.then_some(submitted.draws), error });
            }
            if let (Some(watcher), true) = (watcher.as_mut(), draws) {
                let mut counts = self.counters.last;
                if self.counters.drawn == before {
                    counts = ctm_draw::Counts::default();
                }
                let changes = self.changed.replace(BTreeMap::new()).unwrap_or_default().into_iter().collect();
                let outline = self.outline(&placed, submitted.draws, counts, changes);
                if self.options.targets {
                    self.surfaces.bring_back_all(memory);
                }
                let (notes, fragments) = (&self.notes, &self.fragments);
                let programs = match self.chip.family {
                    Family::R700 => draws::programs(&self.registers),
                    Family::R500 => Vec::new(),
                };
                let behind = self.options.targets.then_some((self.chip.family, &self.registers, &*memory));
                let stepped = Stepped { outline, problem: problem.as_ref(), notes, fragments, programs, behind };
                submitted.stopped = watcher(&stepped) == Next::Stop;
            }
            submitted.problems.extend(problem);
            if submitted.stopped || submitted.is_over {
                break;
            }
        }
        self.surfaces.bring_back_all(memory);
        submitted
    }

    /// The limits of a draw that begins now.
    pub(super) fn draw_budget(&self) -> Budget {
        let Budget { instructions_per_group, time } = self.options.budget;
        let left = self.options.deadline.map(|deadline| deadline.left().unwrap_or_default());
        Budget { instructions_per_group, time: time.into_iter().chain(left).min() }
    }

    /// Sets a register.
    pub(super) fn set(&mut self, offset: u32, value: u32) {
        if let Some(changed) = &mut self.changed
            && self.registers.at(offset) != value
        {
            changed.insert(offset, value);
        }
        self.registers.set(offset, value);
    }

    fn outline(&self, placed: &Placed<'_>, draw: u32, counts: ctm_draw::Counts, changes: Vec<(u32, u32)>) -> Outline {
        use crate::registers::vgt;
        if self.chip.family == Family::R500 {
            return self.r500_outline(placed, draw, counts, changes);
        }
        let call = self.counters.call.as_ref();
        Outline {
            family: self.chip.family,
            draw,
            dword: placed.packet.at,
            topology: state::topology(&self.registers),
            count: call.map_or(0, |call| call.count),
            instances: self.registers.word(vgt::VGT_NUM_INSTANCES::REGISTER, 0),
            indexed: call.is_some_and(|call| call.indices != IndexSource::Counted),
            special: state::special_op(&self.registers),
            targets: draws::outline_targets(&self.registers),
            changes,
            counts,
        }
    }
}
