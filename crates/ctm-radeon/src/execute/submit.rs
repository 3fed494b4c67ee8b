//! A stream, packet by packet.

use super::device::{Device, Placed, Problem};
use super::memory::GpuMemory;
use super::outline::{IndexSource, Outline, TargetPicture};
use super::registers::Registers;
use super::{draws, r500, state, targets};
use crate::Error;
use crate::chip::Family;
use crate::packets::{Kind, Operands, Packets};
use crate::registers::vgt;
use crate::stream::Relocation;
use ctm_draw::{Fragment, Funnel, Note};
use std::collections::BTreeMap;

/// Whether a stream goes on after a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// It does.
    Continue,
    /// No later packet runs.
    Stop,
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
    /// Whether [`DrawOptions::deadline`](super::DrawOptions::deadline) ended it; the last problem says so.
    pub is_over: bool,
}

/// The state after a draw, for a watcher.
pub struct Stepped<'a> {
    /// The draw.
    pub outline: Outline,
    /// The error of the draw, if it has one.
    pub problem: Option<&'a Problem>,
    /// Legal but suspicious operations of its programs, where [`DrawOptions::checks`](super::DrawOptions::checks) is set: the first place for each stage, rule and instruction.
    pub notes: &'a [Note],
    /// Fragments of the pixel of [`DrawOptions::watch`](super::DrawOptions::watch), in order.
    pub fragments: &'a [Fragment],
    /// Where its primitives and pixels ended, with the registers that decided, if [`DrawOptions::funnel`](super::DrawOptions::funnel) asks for it.
    pub funnel: Option<&'a Funnel>,
    /// Its primitives in the window, in order, if [`DrawOptions::funnel`](super::DrawOptions::funnel) asks for them.
    pub primitives: &'a [ctm_draw::Outline],
    /// The programs of the draw: `vertex`, `geometry`, `copy` or `pixel` as in notes, and the address.
    pub programs: Vec<(&'static str, u64)>,
    /// Registers and memory after the draw, if [`DrawOptions::targets`](super::DrawOptions::targets) is set.
    behind: Option<(Family, &'a Registers, &'a dyn GpuMemory)>,
}

impl Stepped<'_> {
    /// The contents of the draw's targets after it; none unless [`DrawOptions::targets`](super::DrawOptions::targets) is set.
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
        Family::R700 => targets::pictures(registers, memory),
        Family::R500 => r500::pictures::pictures(registers, memory),
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

impl Device {
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
        pictures(self.chip().family, &self.registers, memory)
    }

    fn run(
        &mut self,
        words: &[u32],
        addresses: Addresses<'_>,
        memory: &mut dyn GpuMemory,
        mut watcher: Option<&mut dyn FnMut(&Stepped<'_>) -> Next>,
    ) -> Submitted {
        let mut submitted = Submitted::default();
        self.surfaces.begin(memory);
        if self.chip().family == Family::R500 {
            self.surfaces.bring_back_all(memory);
        }
        let mut packets = Packets::of(self.chip(), words);
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
            // Relocations directly follow the packet that they belong to.
            let relocations = match addresses {
                Addresses::Relocated(all) if packet.relocation().is_none() => (all, packets.operands()),
                Addresses::Relocated(_) | Addresses::Absolute => (&[][..], Operands::default()),
            };
            let mut placed = Placed { packet, absolute, relocations, next: 0, indices: None };
            if let (Addresses::Relocated(relocations), Family::R500, true) =
                (addresses, self.chip().family, packet.draws())
            {
                let after = packet.at + packet.words.len() + 1;
                let rest = Packets::of(self.chip(), words.get(after..).unwrap_or_default());
                placed.indices = r500::index_buffer_after(rest, relocations);
            }
            let draws = packet.draws();
            submitted.draws += u32::from(draws);
            let predicated = matches!(packet.kind, Kind::Packet { predicated: true, .. });
            if predicated && !self.predicate.lets_pass() {
                continue;
            }
            let before = self.counters.drawn;
            self.place = (packet.at, submitted.draws);
            self.notes.clear();
            self.fragments.clear();
            (self.funnel, self.outlines) = (None, Vec::new());
            let result = match self.options.deadline.filter(|deadline| deadline.left().is_none()) {
                Some(deadline) => Err(deadline.error()),
                None => match self.chip().family {
                    Family::R700 => self.packet(&mut placed, memory),
                    Family::R500 => self.r500_packet(&mut placed, memory),
                },
            };
            submitted.problems.append(&mut self.problems);
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
                let family = self.chip().family;
                if let Some(funnel) = &mut self.funnel {
                    super::funnel::with_registers(family, &self.registers, funnel);
                }
                let (notes, fragments) = (&self.notes, &self.fragments);
                let (funnel, primitives) = (self.funnel.as_ref(), self.outlines.as_slice());
                let programs = match self.chip().family {
                    Family::R700 => draws::programs(&self.registers),
                    Family::R500 => Vec::new(),
                };
                let behind = self.options.targets.then_some((self.chip().family, &self.registers, &*memory));
                let problem = problem.as_ref();
                let stepped = Stepped { outline, problem, notes, fragments, funnel, primitives, programs, behind };
                submitted.stopped = watcher(&stepped) == Next::Stop;
            }
            submitted.problems.extend(problem);
            if submitted.stopped || submitted.is_over {
                break;
            }
        }
        self.draw_joined(memory);
        self.draw_queued(memory);
        if let Some(deadline) = self.options.deadline
            && !self.problems.is_empty()
            && deadline.left().is_none()
        {
            submitted.is_over = true;
            self.problems.iter_mut().for_each(|problem| problem.error = deadline.error());
        }
        submitted.problems.append(&mut self.problems);
        self.surfaces.end(memory);
        submitted
    }

    fn outline(&self, placed: &Placed<'_>, draw: u32, counts: ctm_draw::Counts, changes: Vec<(u32, u32)>) -> Outline {
        if self.chip().family == Family::R500 {
            return self.r500_outline(placed, draw, counts, changes);
        }
        let call = self.counters.call.as_ref();
        Outline {
            family: self.chip().family,
            draw,
            dword: placed.packet.at,
            topology: state::topology(&self.registers),
            count: call.map_or(0, |call| call.count),
            instances: self.registers.word(vgt::VGT_NUM_INSTANCES::REGISTER, 0),
            indexed: call.is_some_and(|call| call.indices != IndexSource::Counted),
            special: state::special_op(&self.registers),
            targets: targets::outline_targets(&self.registers),
            changes,
            counts,
        }
    }
}
