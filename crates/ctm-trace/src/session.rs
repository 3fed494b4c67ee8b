//! A running group that steps forwards and backwards.
//!
//! A session is always between two instructions. It keeps the last instructions with the values that they overwrote, so that most steps back cost
//! nothing, and snapshots of the whole group from which older instructions are executed again. There are at most [`SNAPSHOTS`]; when there would be
//! more, their distance doubles, so that a million instructions back are some thousands forward.

use crate::listing::Listing;
use crate::record::{Step, Trace};
use ctm_exec::observe::{At, Detail, Event, Flow, Lanes, Place, Snapshot, Unit, WatchedIsa};
use ctm_exec::{Fault, Position};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most snapshots.
const SNAPSHOTS: usize = 48;
/// Instructions from one to the next at first.
const DISTANCE: u64 = 512;
/// The most instructions that are recorded with their values.
const WINDOW: usize = 1024;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards later instructions.
    Forward,
    /// Towards earlier instructions.
    Backward,
}

/// Why a session stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The requested stop was reached.
    Reached,
    /// The program has ended.
    End,
    /// The start.
    Start,
    /// The next instruction faults.
    Fault(Fault),
    /// The caller's patience.
    Interrupted,
}

/// Why a place cannot be made to hold something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SetError {
    /// The session is inside a clause; values can be set between control-flow instructions.
    InsideClause,
    /// The place does not exist for this lane, or no program can change it.
    Fixed(Place),
}

impl std::fmt::Display for SetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::InsideClause => {
                f.write_str("values can be set between control-flow instructions, not inside a clause")
            }
            Self::Fixed(place) => write!(f, "{place} cannot be set"),
        }
    }
}

impl std::error::Error for SetError {}

struct Restorable {
    time: u64,
    snapshot: Snapshot,
    /// A value was set here: execution of earlier instructions does not lead to the later ones.
    edited: bool,
}

/// A group of processors that can be stepped both ways, inspected and changed.
pub struct Session<'u, 'a> {
    unit: &'u mut Unit<'a>,
    all: Lanes,
    waves: u16,
    /// Instructions that the unit has executed.
    done: u64,
    /// The session's time; never after `done`.
    now: u64,
    /// The last instructions up to `done`.
    window: VecDeque<Event>,
    /// Flow control of each wavefront before the window.
    base: Vec<Flow>,
    kept: Vec<Restorable>,
    distance: u64,
    fault: Option<(u64, Fault)>,
}

impl<'u, 'a> Session<'u, 'a> {
    /// A session at the start of a unit.
    #[must_use]
    pub fn new(unit: &'u mut Unit<'a>) -> Self {
        let lanes = unit.positions().len();
        let mut waves = 0;
        let mut seen = 0;
        while seen < lanes {
            let flow = unit.flow(waves);
            if flow.lanes.is_empty() {
                break;
            }
            seen += flow.lanes.len();
            waves += 1;
        }
        let kept = vec![Restorable { time: 0, snapshot: unit.snapshot(), edited: false }];
        let mut session = Self {
            unit,
            all: Lanes::first(lanes),
            waves,
            done: 0,
            now: 0,
            window: VecDeque::new(),
            base: Vec::new(),
            kept,
            distance: DISTANCE,
            fault: None,
        };
        session.base = session.flows();
        session
    }

    fn flows(&self) -> Vec<Flow> {
        (0..self.waves).map(|wave| self.unit.flow(wave)).collect()
    }

    /// Which machine.
    #[must_use]
    pub const fn isa(&self) -> WatchedIsa {
        self.unit.isa()
    }

    /// The index pair of each lane.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        self.unit.positions()
    }

    /// How many instructions were executed before this place.
    #[must_use]
    pub const fn time(&self) -> u64 {
        self.now
    }

    /// The instruction that comes next, with everything that it is going to read and write; `None` at the end and before a fault.
    pub fn upcoming(&mut self) -> Option<&Event> {
        self.ahead();
        let at = self.index(self.now)?;
        self.window.get(at)
    }

    /// The instruction that was executed last.
    pub fn previous(&mut self) -> Option<&Event> {
        if self.now == 0 {
            return None;
        }
        if self.index(self.now - 1).is_none() {
            self.rebuild(self.now);
        }
        let at = self.index(self.now - 1)?;
        self.window.get(at)
    }

    /// The fault of the next instruction, if it has one.
    pub fn fault(&mut self) -> Option<&Fault> {
        self.ahead();
        self.fault.as_ref().filter(|(time, _)| *time == self.now).map(|(_, fault)| fault)
    }

    /// Where in the window the instruction at a time is.
    fn index(&self, time: u64) -> Option<usize> {
        let first = self.done - self.window.len() as u64;
        let at = usize::try_from(time.checked_sub(first)?).ok()?;
        (at < self.window.len()).then_some(at)
    }

    /// Executes so far that the next instruction is in the window.
    fn ahead(&mut self) {
        while self.now >= self.done && self.fault.is_none() && !self.unit.has_ended() {
            self.execute(true);
        }
    }

    /// One step of the unit.
    fn execute(&mut self, values: bool) {
        if let Some(kept) = self.kept.iter().find(|kept| kept.edited && kept.time == self.done) {
            self.unit.restore(&kept.snapshot);
        }
        self.keep();
        let mut events = Vec::new();
        let detail = if values { Detail::Values(&self.all) } else { Detail::Masks };
        let result = self.unit.step(detail, &mut events);
        if result.is_err() {
            // The instruction itself did not happen; the groups before it in its clause did.
            events.pop();
        }
        self.done += events.len() as u64;
        self.window.extend(events);
        if !values {
            self.trim(0);
        } else if self.window.len() > 2 * WINDOW {
            let behind = usize::try_from(self.done - self.now).unwrap_or(0);
            self.trim(WINDOW.max(behind + 1));
        }
        if let Err(fault) = result {
            self.fault = Some((self.done, fault));
        }
    }

    /// Forgets all but the last instructions of the window.
    fn trim(&mut self, length: usize) {
        while self.window.len() > length {
            if let Some(Event { wave, flow: Some(flow), .. }) = self.window.pop_front()
                && let Some(base) = self.base.get_mut(usize::from(wave))
            {
                *base = flow;
            }
        }
    }

    /// Takes a snapshot where one is due.
    fn keep(&mut self) {
        let last = self.kept.last().map_or(0, |kept| kept.time);
        if self.done < last + self.distance {
            return;
        }
        self.kept.push(Restorable { time: self.done, snapshot: self.unit.snapshot(), edited: false });
        if self.kept.len() > SNAPSHOTS {
            self.distance *= 2;
            let mut n = 0;
            self.kept.retain(|kept| {
                n += 1;
                kept.time == 0 || kept.edited || n % 2 == 1
            });
        }
    }

    /// Moves to `time`, and records as many earlier instructions as the window holds.
    fn rebuild(&mut self, time: u64) {
        let wanted = time.saturating_sub(WINDOW as u64 / 2);
        // Snapshots from before an edit are not used.
        let edit = self.kept.iter().filter(|kept| kept.edited && kept.time <= time).map(|kept| kept.time).max();
        let wanted = wanted.max(edit.unwrap_or(0));
        let from = self.kept.iter().rposition(|kept| kept.time <= wanted).unwrap_or(0);
        let start = self.kept[from].time;
        self.unit.restore(&self.kept[from].snapshot);
        (self.done, self.now) = (start, time);
        self.window.clear();
        self.base = self.flows();
        self.fault = None;
        while self.done < time && self.fault.is_none() && !self.unit.has_ended() {
            self.execute(self.done >= wanted);
        }
    }

    /// One instruction forwards.
    pub fn step(&mut self) -> Stop {
        self.ahead();
        if let Some((time, fault)) = &self.fault
            && *time == self.now
        {
            return Stop::Fault(fault.clone());
        }
        if self.now >= self.done {
            return Stop::End;
        }
        self.now += 1;
        Stop::Reached
    }

    /// One instruction backwards.
    pub fn back(&mut self) -> Stop {
        let Some(before) = self.now.checked_sub(1) else { return Stop::Start };
        // The state before an edit is the one without it.
        if self.index(before).is_none() || self.kept.iter().any(|kept| kept.edited && kept.time == self.now) {
            self.rebuild(before);
        }
        self.now = before;
        Stop::Reached
    }

    /// Moves to a time; stops earlier at the first time that cannot be reached.
    pub fn go_to(&mut self, time: u64) -> Stop {
        let edits =
            |kept: &Restorable| kept.edited && kept.time > time.min(self.now) && kept.time <= time.max(self.now);
        let near = time <= self.done && (time == self.done || self.index(time).is_some());
        if near && !self.kept.iter().any(edits) {
            self.now = time;
            return Stop::Reached;
        }
        if time < self.now {
            self.rebuild(time);
            return Stop::Reached;
        }
        self.run(Direction::Forward, false, &mut |session| session.now == time)
    }

    /// Goes on until `reached` holds at a place that is not this one. With `values` every instruction on the way is in the window;
    /// without, `reached` may ask for no more than time and place, which is faster. It may also say that it waited long enough.
    pub fn run(&mut self, direction: Direction, values: bool, reached: &mut dyn FnMut(&mut Self) -> bool) -> Stop {
        match direction {
            Direction::Forward if values => loop {
                match self.step() {
                    Stop::Reached if reached(self) => return Stop::Reached,
                    Stop::Reached => {}
                    stop => return stop,
                }
            },
            Direction::Forward => self.run_light(reached),
            Direction::Backward => self.run_back(values, reached),
        }
    }

    /// Backwards, snapshot by snapshot: from each forwards to the place where the search was, remembering the last hit.
    fn run_back(&mut self, values: bool, reached: &mut dyn FnMut(&mut Self) -> bool) -> Stop {
        let mut end = self.now;
        while let Some(from) = self.kept.iter().rposition(|kept| kept.time < end) {
            let start = self.kept[from].time;
            self.unit.restore(&self.kept[from].snapshot);
            (self.done, self.now) = (start, start);
            self.window.clear();
            self.base = self.flows();
            self.fault = None;
            let mut hit = None;
            while self.now < end {
                if reached(self) {
                    hit = Some(self.now);
                }
                if values {
                    if self.step() != Stop::Reached {
                        break;
                    }
                } else {
                    if self.unit.has_ended() || self.fault.is_some() {
                        break;
                    }
                    self.execute(false);
                    self.now = self.done;
                }
            }
            if let Some(hit) = hit {
                self.rebuild(hit);
                return Stop::Reached;
            }
            end = start;
        }
        self.rebuild(0);
        Stop::Start
    }

    fn run_light(&mut self, reached: &mut dyn FnMut(&mut Self) -> bool) -> Stop {
        // Instructions that were executed already are stepped through as recorded.
        while self.now < self.done {
            self.now += 1;
            if reached(self) {
                return Stop::Reached;
            }
        }
        loop {
            if let Some((_, fault)) = &self.fault {
                return Stop::Fault(fault.clone());
            }
            if self.unit.has_ended() {
                return Stop::End;
            }
            self.execute(false);
            self.now = self.done;
            if reached(self) {
                return Stop::Reached;
            }
        }
    }

    /// The place of the next instruction, without executing it: in a clause, its control-flow instruction unless the session is inside.
    #[must_use]
    pub fn at(&self) -> Option<At> {
        match self.index(self.now) {
            Some(at) => self.window.get(at).map(|event| event.at),
            None => self.unit.pc().map(|pc| At { pc, ..At::default() }),
        }
    }

    /// The value of a place for a lane here; `None` where it has none.
    #[must_use]
    pub fn value(&self, lane: usize, place: Place) -> Option<u32> {
        let write_of = |event: &Event| {
            let lanes = event.lanes.iter().find(|e| usize::from(e.lane) == lane);
            lanes.map(|e| e.writes.iter().filter(|w| w.place == place).copied().collect::<Vec<_>>()).unwrap_or_default()
        };
        if place == Place::Valid {
            return self.flow(self.wave_of(lane)).lane(lane).map(|of| u32::from(of.covered));
        }
        let here = self.index(self.now).unwrap_or(self.window.len());
        if place.is_of_clause() {
            // It lives in a clause only: its last write there, or the value before its first one.
            let inside = |event: &&Event| event.at.item.is_some();
            let mut before = self.window.iter().take(here).rev().take_while(inside).peekable();
            before.peek()?;
            let last = before.find_map(|event| write_of(event).last().map(|write| write.bits));
            let mut after = self.window.iter().skip(here).take_while(inside);
            return last.or_else(|| after.find_map(|event| write_of(event).first().map(|write| write.old)));
        }
        for event in self.window.iter().skip(here) {
            if let Some(write) = write_of(event).first().filter(|_| !place.is_memory()) {
                return Some(write.old);
            }
        }
        self.unit.value(lane, place)
    }

    /// The state of flow control here.
    #[must_use]
    pub fn flow(&self, wave: u16) -> Flow {
        let here = self.index(self.now).unwrap_or(self.window.len());
        let mut before = self.window.iter().take(here).rev();
        let last = before.find_map(|event| event.flow.as_ref().filter(|_| event.wave == wave));
        last.or_else(|| self.base.get(usize::from(wave))).cloned().unwrap_or_default()
    }

    /// The wavefront of a lane.
    #[must_use]
    pub fn wave_of(&self, lane: usize) -> u16 {
        let holds = |wave: &u16| self.unit.flow(*wave).lane(lane).is_some();
        (0..self.waves).find(holds).unwrap_or(0)
    }

    /// Sets a place to another value from here on; later instructions are forgotten, earlier ones stay.
    ///
    /// # Errors
    /// The place cannot be set, or the session is inside a clause.
    pub fn set(&mut self, lane: usize, place: Place, bits: u32) -> Result<(), SetError> {
        let now = self.now;
        if self.done != now {
            self.rebuild(now);
        }
        if self.done != now {
            return Err(SetError::InsideClause);
        }
        if !self.unit.set(lane, place, bits) {
            return Err(SetError::Fixed(place));
        }
        self.kept.retain(|kept| kept.time < now);
        self.kept.push(Restorable { time: now, snapshot: self.unit.snapshot(), edited: true });
        self.window.clear();
        self.base = self.flows();
        self.fault = None;
        Ok(())
    }

    /// Everything from the start to here as a trace, with the values of all lanes; `lane` is the one that it is about.
    #[must_use]
    pub fn trace(&mut self, lane: usize, pass: usize, listing: Arc<Listing>) -> Trace {
        let now = self.now;
        self.rebuild(0);
        let start = self.flows();
        let mut steps = Vec::new();
        let mut end = HashMap::new();
        while self.now < now {
            let time = self.now;
            let Some(event) = self.upcoming().cloned() else { break };
            for of in &event.lanes {
                end.extend(of.writes.iter().map(|write| ((usize::from(of.lane), write.place), write.bits)));
            }
            steps.push(Step { time, event });
            if self.step() != Stop::Reached {
                break;
            }
        }
        self.go_to(now);
        Trace {
            isa: self.isa(),
            pass,
            listing,
            positions: self.positions().to_vec(),
            lane,
            lanes: self.all.clone(),
            start,
            steps,
            executed: now,
            cut: false,
            fault: None,
            end,
        }
    }
}
