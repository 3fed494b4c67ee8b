//! Wavefronts of an R700 program that are watched: see [`crate::observe`].
//!
//! A control-flow instruction with its clause is one step of the interpreter. The events of a clause are its groups or fetches, each for all
//! lanes, and then the control-flow instruction itself with the state of flow control after it.

mod clauses;
mod fetches;

use super::flow::PixelSet;
use super::recorder::{Recorder, lanes_of};
use super::shared::Shared;
use super::wavefront::{Context, Wavefront};
use super::{Memory, Target};
use crate::domain::Position;
use crate::fault::Fault;
use crate::observe::tap::{Mark, Tap};
use crate::observe::{ALL_PARTS, At, Detail, Event, Flow, LaneEvent, LaneFlow, Lanes, Place, Read, Write};
use crate::outcome::Counters;
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::{Cf, CfEntry, CfExport, CfMem, ClauseBody};
use ctm_isa::r700::ops::Sel;
use fetches::elements;

fn narrow(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

fn read(event: &mut LaneEvent, place: Place, bits: u32, parts: u8) {
    event.reads.push(Read { place, lane: event.lane, bits, parts });
}

fn write(event: &mut LaneEvent, place: Place, old: u32, part: u8) {
    event.writes.push(Write { place, old, bits: 0, part });
}

/// The wavefronts of a thread group, or a wavefront, under way.
pub struct Unit<'a> {
    context: &'a Context<'a>,
    tap: Tap<&'a mut dyn Memory>,
    indices: Vec<Position>,
    /// Their names.
    positions: Vec<Position>,
    state: Inside,
}

#[derive(Clone, Debug)]
struct Inside {
    waves: Vec<Wavefront>,
    shared: Shared,
    /// Whose turn it is.
    turn: usize,
}

/// The state of a unit.
#[derive(Clone, Debug)]
pub struct State {
    inside: Inside,
    mark: Mark,
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        waves: Vec<Wavefront>,
        shared: Shared,
        memory: &'a mut dyn Memory,
        changes: bool,
    ) -> Self {
        let positions: Vec<Position> = waves.iter().flat_map(|wave| wave.positions.clone()).collect();
        let indices = positions.clone();
        let changes = changes || memory.outputs_alias_inputs();
        Self { context, tap: Tap::new(memory, changes), indices, positions, state: Inside { waves, shared, turn: 0 } }
    }

    /// Runs to the end; the wavefronts and their shared state.
    pub(super) fn finish(mut self) -> Result<(Vec<Wavefront>, Shared), Fault> {
        while !self.has_ended() {
            self.step(Detail::None, &mut Vec::new())?;
        }
        Ok((self.state.waves, self.state.shared))
    }

    /// The index pair of each lane.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Calls the lanes something else from here on, one name for each.
    pub fn rename(&mut self, names: Vec<Position>) {
        if names.len() == self.indices.len() {
            self.positions = names;
        }
    }

    /// Whether all wavefronts have ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.state.waves.iter().any(Wavefront::is_running)
    }

    /// The wavefront whose turn it is.
    fn turn(&self) -> Option<usize> {
        let count = self.state.waves.len();
        (0..count).map(|n| (self.state.turn + n) % count).find(|&n| self.state.waves[n].is_running())
    }

    /// The slot that comes next.
    #[must_use]
    pub fn pc(&self) -> Option<u32> {
        self.state.waves[self.turn()?].place.map(|place| place.slot)
    }

    /// The exports of a lane so far.
    pub fn exports_of(&self, lane: usize) -> impl Iterator<Item = (Target, [u32; 4], u8)> + '_ {
        let (wave, lane) = self.wave_of(lane);
        self.state.waves.get(wave).and_then(|wave| wave.exports.get(lane)).into_iter().flat_map(|e| e.iter())
    }

    /// The wavefront of a lane of the unit, and its number there. All wavefronts but the last are full.
    fn wave_of(&self, lane: usize) -> (usize, usize) {
        let lanes = self.context.launch.wavefront.lanes();
        (lane / lanes, lane % lanes)
    }

    /// The state of flow control of a wavefront.
    #[must_use]
    pub fn flow(&self, wave: u16) -> Flow {
        let Some(wavefront) = self.state.waves.get(usize::from(wave)) else { return Flow::default() };
        let lane =
            |lane: usize| LaneFlow { state: wavefront.flow.lane_state(lane), covered: wavefront.flow.valid[lane] };
        Flow {
            first_lane: u16::try_from(usize::from(wave) * self.context.launch.wavefront.lanes()).unwrap_or(u16::MAX),
            lanes: (0..wavefront.positions.len()).map(lane).collect(),
            stack: wavefront.flow.frames(),
            next: wavefront.place.map(|place| place.slot),
        }
    }

    /// The value of a place for a lane.
    #[must_use]
    pub fn value(&self, lane: usize, place: Place) -> Option<u32> {
        match place {
            Place::ConstantFile(n, e) => {
                self.context.launch.constants.file.get(usize::from(n)).map(|c| c[usize::from(e & 3)])
            }
            Place::Literal(bits) => Some(bits),
            place => {
                let (wave, lane) = self.wave_of(lane);
                self.state.waves.get(wave)?.held(&self.state.shared, lane, place)
            }
        }
    }

    /// Makes a place hold something else.
    pub fn set(&mut self, lane: usize, place: Place, bits: u32) -> bool {
        let (wave, lane) = self.wave_of(lane);
        let Some(wavefront) = self.state.waves.get_mut(wave).filter(|w| lane < w.positions.len()) else { return false };
        let cell = match place {
            Place::Gpr(n, e) => {
                wavefront.gprs.get_mut(lane * GPRS + usize::from(n) % GPRS).map(|r| &mut r[usize::from(e & 3)])
            }
            Place::Global(n, e) => {
                let globals = self.state.shared.globals.get_mut(lane);
                globals.and_then(|g| g.get_mut(usize::from(n))).map(|r| &mut r[usize::from(e & 3)])
            }
            Place::Export(target, e) => {
                let mut elements = [None; 4];
                elements[usize::from(e & 3)] = Some(bits);
                wavefront.exports[lane].set(target, elements);
                self.tap.forget_future();
                return true;
            }
            _ => None,
        };
        let Some(cell) = cell else { return false };
        *cell = bits;
        self.tap.forget_future();
        true
    }

    /// The state as it is.
    #[must_use]
    pub fn snapshot(&self) -> State {
        State { inside: self.state.clone(), mark: self.tap.mark() }
    }

    /// Goes back to a state.
    pub fn restore(&mut self, state: &State) {
        self.state.clone_from(&state.inside);
        self.tap.return_to(state.mark);
    }

    /// Executes the next control-flow instruction with its clause.
    ///
    /// # Errors
    /// Its fault; earlier events of the clause are returned.
    pub fn step(&mut self, detail: Detail<'_>, events: &mut Vec<Event>) -> Result<(), Fault> {
        let Some(turn) = self.turn() else { return Ok(()) };
        let context = self.context;
        let Some(place) = self.state.waves[turn].place else { return Ok(()) };
        self.state.turn = turn + 1;
        if detail == Detail::None {
            let result = self.state.waves[turn].step(context, &mut self.state.shared, &mut self.tap);
            self.tap.take();
            return result;
        }
        let decoded = if place.fetch { context.fetch.as_ref().unwrap_or(&context.main) } else { &context.main };
        let first_lane = turn * context.launch.wavefront.lanes();
        let wanted = if let Detail::Values(lanes) = detail { lanes.clone() } else { Lanes::none() };
        let at = At { pc: place.slot, item: None, fetch: place.fetch };
        let wave = u16::try_from(turn).unwrap_or(u16::MAX);
        let before = *self.state.waves[turn].counters();
        let mut last = Event { at, wave, ..Event::default() };
        let entry = decoded.at(place.slot);
        let (executes, lanes) = self.instruction(turn, entry, first_lane, &wanted);
        (last.executing, last.lanes) = (lanes_of(&executes, first_lane), lanes);
        self.state.shared.recorder = Some(Recorder { first_lane, wanted, ..Recorder::default() });
        self.tap.take();
        let result = self.state.waves[turn].step(context, &mut self.state.shared, &mut self.tap);
        let recorder = self.state.shared.recorder.take().unwrap_or_default();
        let mut accesses = self.tap.take();
        let own = matches!(entry.map(|entry| &entry.cf), Some(Ok(Cf::Mem(_))));
        if own {
            self.attribute(&mut last.lanes, std::mem::take(&mut accesses), None);
        }
        for lane in &mut last.lanes {
            for write in lane.writes.iter_mut().filter(|w| !w.place.is_memory()) {
                write.bits = self.value(usize::from(lane.lane), write.place).unwrap_or(0);
            }
        }
        let mut total = self.state.waves[turn].counters().since(&before);
        let count = self.state.waves[turn].positions.len() as u64;
        let mut items = self.items(recorder, entry, count, &before);
        for (n, item) in items.iter_mut().enumerate() {
            (item.at, item.wave) = (At { item: Some(u16::try_from(n).unwrap_or(u16::MAX)), ..at }, wave);
            self.attribute(&mut item.lanes, accesses.clone(), Some(n));
            total = total.since(&smaller(&item.cost, &total));
        }
        last.cost = total;
        last.flow = Some(self.flow(wave));
        events.append(&mut items);
        events.push(last);
        result
    }

    /// The events of the clause's groups or fetches, without their places.
    fn items(&self, recorder: Recorder, entry: Option<&CfEntry>, count: u64, before: &Counters) -> Vec<Event> {
        let mut events = Vec::new();
        match entry.map(|entry| &entry.clause) {
            Some(ClauseBody::Alu(clause)) => {
                for _ in &clause.groups {
                    let active = u64::from(recorder.executing.count());
                    let cost = Counters {
                        alu: 1,
                        active_lanes: active,
                        total_lanes: count,
                        alu_clocks: count.div_ceil(super::clocks::GROUP_LANES),
                        ..Counters::default()
                    };
                    events.push(Event { executing: recorder.executing.clone(), cost, ..Event::default() });
                }
                for (lane, groups) in recorder.lanes {
                    for (event, mut done) in events.iter_mut().zip(groups) {
                        done.lane = lane as u16;
                        done.reads.iter_mut().for_each(|read| read.lane = lane as u16);
                        event.lanes.push(done);
                    }
                }
            }
            Some(ClauseBody::Fetch(clause)) => {
                let mut before = *before;
                for ((executing, lanes, counters), fetch) in recorder.fetches.into_iter().zip(&clause.fetches) {
                    let passes = fetch.inst.as_ref().map_or(1, |inst| super::clocks::passes(&inst.fetch));
                    let cost = Counters {
                        tex: 1,
                        active_lanes: executing.count().into(),
                        total_lanes: count,
                        tex_clocks: passes * count.div_ceil(super::clocks::FETCH_LANES),
                        ..counters.since(&before)
                    };
                    before = counters;
                    events.push(Event { executing, lanes, cost, ..Event::default() });
                }
            }
            _ => {}
        }
        events
    }

    /// Adds accesses of memory to the lanes that made them.
    fn attribute(&self, lanes: &mut [LaneEvent], accesses: Vec<crate::observe::tap::Access>, item: Option<usize>) {
        for access in accesses.into_iter().filter(|access| item.is_none_or(|item| access.item == item)) {
            let of = |lane: &&mut LaneEvent| self.indices.get(usize::from(lane.lane)) == Some(&access.of);
            if let Some(lane) = lanes.iter_mut().find(of) {
                lane.access(access.place, access.bits, access.written);
            }
        }
    }

    /// The executing lanes of a control-flow instruction, and the registers it will read and write.
    fn instruction(
        &self,
        turn: usize,
        entry: Option<&CfEntry>,
        first_lane: usize,
        wanted: &Lanes,
    ) -> (Vec<bool>, Vec<LaneEvent>) {
        let wave = &self.state.waves[turn];
        let test = |whole_quad, valid_pixel| wave.flow.test(PixelSet { whole_quad, valid_pixel, ..PixelSet::ACTIVE });
        let (executes, places): (Vec<bool>, PlacesOf<'_>) = match entry.map(|e| &e.cf) {
            Some(Ok(Cf::Export(cf))) => {
                (test(cf.word1.whole_quad_mode, cf.word1.valid_pixel_mode), Box::new(|_| self.export_places(wave, cf)))
            }
            Some(Ok(Cf::Mem(cf))) => {
                let mut executes = test(cf.word1.whole_quad_mode, cf.word1.valid_pixel_mode);
                executes.iter_mut().zip(&wave.flow.valid).for_each(|(executes, valid)| *executes &= valid);
                (executes, Box::new(|lane| self.write_places(wave, cf, lane)))
            }
            Some(Ok(Cf::Plain(_) | Cf::Alu(_)) | Err(_)) | None => {
                (test(false, false), Box::new(|_| (Vec::new(), Vec::new())))
            }
        };
        let mut lanes = Vec::new();
        for lane in (0..executes.len()).filter(|&lane| executes[lane] && wanted.contains(first_lane + lane)) {
            let (reads, writes) = places(lane);
            let mut event = LaneEvent { lane: (first_lane + lane) as u16, ..LaneEvent::default() };
            let held = |place| wave.held(&self.state.shared, lane, place).unwrap_or(0);
            for (place, parts) in reads {
                read(&mut event, place, held(place), parts);
            }
            for (place, part) in writes {
                write(&mut event, place, held(place), part);
            }
            lanes.push(event);
        }
        (executes, lanes)
    }

    /// An element of an export depends on the element of the register that its swizzle names.
    fn export_places(&self, wave: &Wavefront, cf: &CfExport) -> (Vec<PartOf>, Vec<PartOf>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for burst in 0..=cf.word1.burst_count {
            let index = u32::from(cf.word0.array_base) + u32::from(burst);
            let Ok(target) = Target::from_fields(cf.kind, index) else { continue };
            let base = cf.word0.rw_gpr.saturating_add(burst);
            let register = narrow(wave.source_register(self.context, base, cf.word0.rw_rel));
            let written = || (0u8..).zip(cf.swizzle()).filter(|(_, sel)| *sel != Sel::Mask);
            for e in elements(cf.swizzle()) {
                let parts = written().filter(|(_, sel)| *sel as u8 == e);
                reads.push((Place::Gpr(register, e), parts.fold(0, |parts, (to, _)| parts | part_of(burst, to))));
            }
            writes.extend(written().map(|(e, _)| (Place::Export(target, e), part_of(burst, e))));
        }
        (reads, writes)
    }

    fn write_places(&self, wave: &Wavefront, cf: &CfMem, lane: usize) -> (Vec<PartOf>, Vec<PartOf>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let index_gpr = usize::from(cf.word0.index_gpr) % GPRS;
        let mut index = 0;
        if cf.kind.is_indexed() {
            reads.push((Place::Gpr(narrow(index_gpr), 0), ALL_PARTS));
            index = u64::from(wave.gprs[lane * GPRS + index_gpr][0]);
        }
        for burst in 0..=cf.word1.burst_count {
            let base = cf.word0.rw_gpr.saturating_add(burst);
            let register = wave.source_register(self.context, base, cf.word0.rw_rel);
            let written = super::memory::written_components(cf).map(|c| c as u8);
            reads.extend(written.clone().map(|c| (Place::Gpr(narrow(register), c), part_of(burst, c))));
            let n = index + u64::from(burst);
            if super::memory::space(cf.word1.op).is_none() && n <= u64::from(cf.word1.array_size) {
                let at = u16::try_from(u64::from(cf.word0.array_base) + n).unwrap_or(u16::MAX);
                writes.extend(written.map(|c| (Place::Scratch(at, c), part_of(burst, c))));
            }
        }
        (reads, writes)
    }
}

/// A place, and its parts: see [`Write::part`].
type PartOf = (Place, u8);

/// The reads and writes of an instruction for a lane of the wavefront.
type PlacesOf<'a> = Box<dyn Fn(usize) -> (Vec<PartOf>, Vec<PartOf>) + 'a>;

/// The part of an element that a burst stores. Registers of a burst alternate between the low and the high four bits.
const fn part_of(burst: u8, element: u8) -> u8 {
    1 << (element + 4 * (burst & 1))
}

/// The smaller of each pair of counters, so that a difference cannot be negative.
fn smaller(a: &Counters, b: &Counters) -> Counters {
    Counters {
        groups: 0,
        processors: 0,
        alu: a.alu.min(b.alu),
        output: a.output.min(b.output),
        tex: a.tex.min(b.tex),
        fc: a.fc.min(b.fc),
        active_lanes: a.active_lanes.min(b.active_lanes),
        total_lanes: a.total_lanes.min(b.total_lanes),
        fetches: a.fetches.min(b.fetches),
        fetch_bytes: a.fetch_bytes.min(b.fetch_bytes),
        writes: a.writes.min(b.writes),
        write_bytes: a.write_bytes.min(b.write_bytes),
        alu_clocks: a.alu_clocks.min(b.alu_clocks),
        tex_clocks: a.tex_clocks.min(b.tex_clocks),
        fc_clocks: a.fc_clocks.min(b.fc_clocks),
    }
}
