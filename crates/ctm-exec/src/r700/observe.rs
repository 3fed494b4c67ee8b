//! Wavefronts of an R700 program that are watched: see [`crate::observe`].
//!
//! A control-flow instruction with its clause is one step of the interpreter. The events of a clause are its groups or fetches, each for all
//! lanes, and then the control-flow instruction itself with the state of flow control behind it.

use super::alu::{ClauseContext, Lane, Register, chan, global_register, is_register, relative_read, relative_write};
use super::flow::Test;
use super::memory::{MemoryRead, Shared, share_dword, share_read_at, share_written_from};
use super::texture::needs_quad;
use super::wavefront::{Context, Wavefront};
use super::{Memory, Target};
use crate::engine::{Counters, Fault, Position};
use crate::observe::tap::{Mark, Tap};
use crate::observe::{ALL_PARTS, At, Detail, Event, Flow, LaneEvent, LaneFlow, Lanes, Place, Read, Write};
use crate::x1k::observe::difference;
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::{AluInst, Cf, CfEntry, CfExport, CfMem, ClauseBody, Fetch, Group, Operand, VtxWord1};
use ctm_isa::r700::ops::{AluOp, Cond, IndexMode, Op2, PredSel, RelMode, Sel, Slots, Source, SpecialSel, Unit as Slot};

fn narrow(n: usize) -> u8 {
    u8::try_from(n).unwrap_or(u8::MAX)
}

/// What the clause that runs did, lane by lane.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// The unit's number of the wavefront's first lane.
    first_lane: usize,
    /// Lanes of the unit whose values are wanted.
    wanted: Lanes,
    /// The lanes that the ALU clause runs for.
    executing: Lanes,
    /// Of an ALU clause: each lane with its groups.
    lanes: Vec<(usize, Vec<LaneEvent>)>,
    /// Of a fetch clause: who executed each fetch, what lanes did, and the counters behind it.
    fetches: Vec<(Lanes, Vec<LaneEvent>, Counters)>,
}

impl Recorder {
    /// The lanes of the wavefront that execute an ALU clause.
    pub(super) fn executes(&mut self, executes: &[bool]) {
        let first = self.first_lane;
        self.executing = lanes_of(executes, first);
    }

    /// Where a lane's groups go, if they are wanted.
    pub(super) fn lane(&mut self, lane: usize) -> Option<&mut Vec<LaneEvent>> {
        let lane = self.first_lane + lane;
        if !self.wanted.contains(lane) {
            return None;
        }
        self.lanes.push((lane, Vec::new()));
        self.lanes.last_mut().map(|entry| &mut entry.1)
    }
}

fn lanes_of(executes: &[bool], first: usize) -> Lanes {
    (0..executes.len()).filter(|&lane| executes[lane]).map(|lane| first + lane).collect()
}

impl ClauseContext<'_> {
    /// What a group is going to read, and what it may write with what is there now; `None` when nobody wants to know.
    pub(super) fn before(&self, lane: &Lane<'_>, group: &Group) -> Option<LaneEvent> {
        lane.record.as_ref()?;
        let mut event = LaneEvent::default();
        // A unit without an instruction, or with NOP, makes its previous result 0 (R700 §4.7.1).
        for unit in [Slot::X, Slot::Y, Slot::Z, Slot::W, Slot::T] {
            let idle = group.unit(unit).is_none_or(|inst| inst.op() == AluOp::Op2(Op2::Nop));
            if idle {
                write(&mut event, previous(unit), value(lane, previous(unit)), 1 << unit as u8);
            }
        }
        for slot in group.slots.iter().filter(|slot| slot.inst.op() != AluOp::Op2(Op2::Nop)) {
            let inst = &slot.inst;
            let part = match inst.op().info().slots {
                Slots::One => 1 << slot.unit as u8,
                // All slots of the operation make its results together.
                Slots::Reduction | Slots::Pair64 | Slots::Quad64 => {
                    let same = group.slots.iter().filter(|other| other.inst.op() == inst.op());
                    same.fold(0, |all, other| all | 1 << other.unit as u8)
                }
            };
            if inst.word0.pred_sel != PredSel::Off {
                read(&mut event, Place::ClausePredicate, u32::from(lane.predicate), part);
                if (inst.word0.pred_sel == PredSel::One) != lane.predicate {
                    continue;
                }
            }
            for operand in inst.operands() {
                if let Some((place, bits)) = self.operand_place(lane, group, inst, &operand) {
                    read(&mut event, place, bits, part);
                }
                if let (true, Some(element)) = (operand.relative, index_element(inst, &operand)) {
                    read(&mut event, Place::Ar(element), lane.ar[usize::from(element)].cast_unsigned(), part);
                }
            }
            let one = 1 << slot.unit as u8;
            if let Some(place) = self.destination_place(lane, inst) {
                write(&mut event, place, value(lane, place), one);
            }
            write(&mut event, previous(slot.unit), value(lane, previous(slot.unit)), one);
            if inst.updates_predicate() {
                write(&mut event, Place::ClausePredicate, u32::from(lane.predicate), one);
            }
            if inst.updates_execute_mask() {
                write(&mut event, Place::Execute, lane.execute.map_or(1, u32::from), one);
            }
            let ar = Place::Ar(slot.unit as u8 & 3);
            if inst.op().name().starts_with("MOVA") {
                write(&mut event, ar, value(lane, ar), one);
            }
            if inst.op().name().starts_with("KILL") {
                write(&mut event, Place::Killed, u32::from(lane.killed), one);
            }
        }
        Some(event)
    }

    /// Completes what [`Self::before`] began.
    pub(super) fn after(&self, lane: &mut Lane<'_>, before: Option<LaneEvent>) {
        let Some(mut event) = before else { return };
        for write in &mut event.writes {
            write.bits = value(lane, write.place);
        }
        if let Some(record) = &mut lane.record {
            record.push(event);
        }
    }

    /// Where an operand comes from, and its bits before modifiers.
    fn operand_place(&self, lane: &Lane<'_>, group: &Group, inst: &AluInst, operand: &Operand) -> Option<(Place, u32)> {
        let bits = self.source(lane, group, inst, operand).ok()?;
        let mode = inst.word0.index_mode;
        let element = chan(operand.chan) as u8;
        let place = match operand.source {
            Source::Gpr(base) if operand.relative => {
                let (index, global) = self.register_index(mode, lane);
                if global {
                    match global_register(base, index, lane.globals.len())? {
                        Register::Global(at) => Place::Global(narrow(at), element),
                        Register::Own(at) => Place::Gpr(narrow(at), element),
                    }
                } else {
                    Place::Gpr(narrow(relative_read(base, index, self.gprs)), element)
                }
            }
            Source::Gpr(base) => Place::Gpr(base % GPRS as u8, element),
            Source::Kcache { set, index } => {
                let offset = if operand.relative && mode == IndexMode::Loop { self.loop_index } else { 0 };
                Place::Kcache(
                    set,
                    narrow(usize::try_from(i64::from(index) + i64::from(offset)).unwrap_or(255)),
                    element,
                )
            }
            Source::Constant(base) => {
                let index = if operand.relative { self.constant_index(mode, lane) } else { 0 };
                let at = u16::try_from(i64::from(base) + i64::from(index)).unwrap_or(u16::MAX);
                Place::ConstantFile(at, element)
            }
            Source::Special(SpecialSel::Pv) => Place::Pv(element),
            Source::Special(SpecialSel::Ps) => Place::Ps,
            Source::Special(_) => Place::Literal(bits),
            Source::Reserved(_) => return None,
        };
        Some((place, bits))
    }

    /// The register element that an instruction writes, if any.
    fn destination_place(&self, lane: &Lane<'_>, inst: &AluInst) -> Option<Place> {
        let (base, relative, element) = inst.destination();
        let element = chan(element) as u8;
        if !inst.writes() {
            return None;
        }
        if !relative {
            return is_register(i64::from(base), self.gprs).then_some(Place::Gpr(base, element));
        }
        let (index, global) = self.register_index(inst.word0.index_mode, lane);
        if !global {
            return relative_write(base, index, self.gprs).map(|at| Place::Gpr(narrow(at), element));
        }
        Some(match global_register(base, index, lane.globals.len())? {
            Register::Global(at) => Place::Global(narrow(at), element),
            Register::Own(at) => Place::Gpr(narrow(at), element),
        })
    }
}

/// Where a unit's previous result is.
const fn previous(unit: Slot) -> Place {
    match unit {
        Slot::T => Place::Ps,
        Slot::X | Slot::Y | Slot::Z | Slot::W => Place::Pv(unit as u8),
    }
}

/// The element of the address register that an operand's index reads.
fn index_element(inst: &AluInst, operand: &Operand) -> Option<u8> {
    let of_constant = matches!(operand.source, Source::Constant(_));
    match inst.word0.index_mode {
        IndexMode::ArX | IndexMode::GlobalArX => Some(0),
        IndexMode::ArY => Some(if of_constant { 1 } else { 0 }),
        IndexMode::ArZ => Some(if of_constant { 2 } else { 0 }),
        IndexMode::ArW => Some(if of_constant { 3 } else { 0 }),
        IndexMode::Loop | IndexMode::Global => None,
    }
}

/// What a place holds for a lane in a clause.
fn value(lane: &Lane<'_>, place: Place) -> u32 {
    match place {
        Place::Gpr(n, e) => lane.gprs[usize::from(n) % GPRS][usize::from(e & 3)],
        Place::Global(n, e) => lane.globals.get(usize::from(n)).map_or(0, |g| g[usize::from(e & 3)]),
        Place::Pv(e) => lane.pv[usize::from(e & 3)],
        Place::Ps => lane.ps,
        Place::Ar(e) => lane.ar[usize::from(e & 3)].cast_unsigned(),
        Place::ClausePredicate => u32::from(lane.predicate),
        Place::Execute => lane.execute.map_or(1, u32::from),
        Place::Killed => u32::from(lane.killed),
        _ => 0,
    }
}

fn read(event: &mut LaneEvent, place: Place, bits: u32, parts: u8) {
    event.reads.push(Read { place, lane: event.lane, bits, parts });
}

fn write(event: &mut LaneEvent, place: Place, old: u32, part: u8) {
    event.writes.push(Write { place, old, bits: 0, part });
}

fn elements(sels: impl IntoIterator<Item = Sel>) -> impl Iterator<Item = u8> {
    let mut seen = 0u8;
    sels.into_iter().map(|sel| sel as u8).filter(move |&sel| {
        let new = sel < 4 && seen >> sel & 1 == 0;
        seen |= if new { 1 << sel } else { 0 };
        new
    })
}

/// What a fetch reads and writes of one lane, by its words.
struct FetchPlaces {
    /// Registers with elements; the lane is the wavefront's.
    reads: Vec<(usize, Place)>,
    writes: Vec<Place>,
}

impl Wavefront {
    /// Notes a fetch that has been executed; `before` are all registers before it.
    pub(super) fn record_fetch(
        &self,
        context: &Context<'_>,
        shared: &mut Shared,
        fetch: &Fetch,
        passes: &[bool],
        whole_quads: &[bool],
        before: &[[u32; 4]],
    ) {
        let Some(mut recorder) = shared.recorder.take() else { return };
        let whole = match fetch {
            Fetch::Tex(tex) => tex.word0.fetch_whole_quad,
            Fetch::Vtx(vtx) => vtx.word0.fetch_whole_quad,
            Fetch::MemRd(read) => read.word0.fetch_whole_quad,
            Fetch::MemDsw(_) | Fetch::MemDsr(_) => false,
        };
        let executes = if whole { whole_quads } else { passes };
        let executing = lanes_of(executes, recorder.first_lane);
        let mut lanes = Vec::new();
        for lane in (0..executes.len()).filter(|&lane| executes[lane]) {
            let unit_lane = recorder.first_lane + lane;
            if !recorder.wanted.contains(unit_lane) {
                continue;
            }
            let places = self.fetch_places(context, fetch, lane, before);
            let mut event = LaneEvent { lane: unit_lane as u16, ..LaneEvent::default() };
            for (other, place) in places.reads {
                let bits = match place {
                    Place::Gpr(n, e) => before[other * GPRS + usize::from(n) % GPRS][usize::from(e & 3)],
                    place => self.held(shared, other, place).unwrap_or(0),
                };
                let lane = (recorder.first_lane + other) as u16;
                event.reads.push(Read { place, lane, bits, parts: ALL_PARTS });
            }
            for place in places.writes {
                let old = match place {
                    Place::Gpr(n, e) => before[lane * GPRS + usize::from(n) % GPRS][usize::from(e & 3)],
                    _ => 0,
                };
                let bits = self.held(shared, lane, place).unwrap_or(0);
                event.writes.push(Write { place, old, bits, part: ALL_PARTS });
            }
            lanes.push(event);
        }
        recorder.fetches.push((executing, lanes, self.counters));
        shared.recorder = Some(recorder);
    }

    fn fetch_places(&self, context: &Context<'_>, fetch: &Fetch, lane: usize, before: &[[u32; 4]]) -> FetchPlaces {
        let mut places = FetchPlaces { reads: Vec::new(), writes: Vec::new() };
        let gpr = |n: usize, e: u8| Place::Gpr(narrow(n), e);
        let to = |places: &mut FetchPlaces, register: Option<usize>, swizzle: [Sel; 4]| {
            if let Some(n) = register {
                let written = (0u8..).zip(swizzle).filter(|(_, sel)| *sel != Sel::Mask);
                places.writes.extend(written.map(|(e, _)| gpr(n, e)));
            }
        };
        match fetch {
            Fetch::Tex(tex) => {
                let source = self.source_register(context, tex.word0.src_gpr, tex.word0.src_rel);
                let quad = self.quads && needs_quad(tex.word0.op);
                let readers = if quad { (lane & !3)..(lane & !3) + 4 } else { lane..lane + 1 };
                for other in readers.filter(|&other| other < self.positions.len()) {
                    places.reads.extend(elements(tex.source_swizzle()).map(|e| (other, gpr(source, e))));
                }
                let register = self.destination_register(context, tex.word1.dst_gpr, tex.word1.dst_rel);
                to(&mut places, register, tex.destination_swizzle());
            }
            Fetch::Vtx(vtx) => {
                let source = self.source_register(context, vtx.word0.src_gpr, vtx.word0.src_rel);
                places.reads.push((lane, gpr(source, vtx.word0.src_sel_x as u8)));
                let register = match &vtx.word1 {
                    VtxWord1::Gpr(w) => self.destination_register(context, w.dst_gpr, w.dst_rel),
                    VtxWord1::Sem(w) => {
                        let row = context.launch.semantics.iter().find(|row| row.id == w.semantic_id);
                        row.and_then(|row| self.destination_register(context, row.gpr, false))
                    }
                };
                to(&mut places, register, vtx.word1.swizzle());
            }
            Fetch::MemRd(inst) => {
                let (word0, word1) = (&inst.word0, &inst.word1);
                let source = self.source_register(context, word0.src_gpr, word0.src_rel);
                if word0.indexed {
                    places.reads.push((lane, gpr(source, word0.src_sel_x as u8)));
                }
                let given = before[lane * GPRS + source % GPRS][word0.src_sel_x as usize & 3];
                for burst in 0..=word0.burst_cnt {
                    if let Ok(read) = MemoryRead::new(inst, context.launch.chip)
                        && read.space.is_none()
                    {
                        let at = u16::try_from(read.scratch_element(read.element(given, burst))).unwrap_or(u16::MAX);
                        places.reads.extend((0..read.dwords).map(|c| (lane, Place::Scratch(at, narrow(c)))));
                    }
                    let register =
                        self.destination_register(context, word1.dst_gpr.saturating_add(burst), word1.dst_rel);
                    let register = if register.is_none() && word1.dst_rel { Some(0) } else { register };
                    to(&mut places, register, [word1.dst_sel_x, word1.dst_sel_y, word1.dst_sel_z, word1.dst_sel_w]);
                }
            }
            Fetch::MemDsw(inst) => {
                if !self.flow.valid[lane] {
                    return places;
                }
                let word0 = &inst.word0;
                let thread = if inst.word1.simd_wave_rel { self.first_in_group + lane } else { lane };
                let sels = [word0.src_sel_x, word0.src_sel_y, word0.src_sel_z, word0.src_sel_w];
                for burst in 0..=inst.word2.burst_cnt {
                    let n = word0.src_gpr.saturating_add(burst);
                    places
                        .reads
                        .extend(elements(sels).map(|e| (lane, self.share_place(context, n, word0.src_rel_mode, e))));
                    let first = share_written_from(inst, thread, burst);
                    for (c, _) in sels.iter().enumerate().filter(|(_, sel)| **sel != Sel::Mask) {
                        if let Some(at) = share_dword(thread, first + c) {
                            places.writes.push(Place::Share(at as u16));
                        }
                    }
                }
            }
            Fetch::MemDsr(inst) => {
                let (word0, word1) = (&inst.word0, &inst.word1);
                let sels = [word0.src_sel_x, word0.src_sel_y];
                // With BROADCAST everybody reads what the first valid lane that executes reads.
                let passes = self.flow.test(Test { cond: Cond::Active, ..Test::ACTIVE });
                let first = (0..passes.len()).find(|&other| passes[other] && self.flow.valid[other]);
                let reader = if word1.broadcast { first.unwrap_or(lane) } else { lane };
                let index = self.source_register(context, word0.src_gpr, word0.src_rel_mode == RelMode::Loop);
                let element = |sel: Sel| match sel as usize {
                    e @ 0..4 if word0.src_rel_mode != RelMode::Global => {
                        before[reader * GPRS + index % GPRS][e] as usize
                    }
                    _ => 0,
                };
                let (x, y) = (element(word0.src_sel_x), element(word0.src_sel_y));
                let writes = [word1.dst_wr_x, word1.dst_wr_y, word1.dst_wr_z, word1.dst_wr_w];
                for burst in 0..=inst.word2.burst_cnt {
                    let place = |e| (reader, self.share_place(context, word0.src_gpr, word0.src_rel_mode, e));
                    places.reads.extend(elements(sels).map(place));
                    let read = share_read_at(inst, x, y, burst).into_iter().flatten();
                    let read = read.filter_map(|at| share_dword(x, at)).map(|at| (reader, Place::Share(at as u16)));
                    for place in read {
                        if !places.reads.contains(&place) {
                            places.reads.push(place);
                        }
                    }
                    let base = word1.dst_gpr.saturating_add(burst);
                    let written = (0u8..).zip(writes).filter(|(_, writes)| *writes).map(|(e, _)| e);
                    if word1.dst_rel_mode == RelMode::Global {
                        places.writes.extend(written.map(|e| Place::Global(base, e)));
                    } else if let Some(n) =
                        self.destination_register(context, base, word1.dst_rel_mode == RelMode::Loop)
                    {
                        places.writes.extend(written.map(|e| gpr(n, e)));
                    }
                }
            }
        }
        places
    }

    fn share_place(&self, context: &Context<'_>, base: u8, mode: RelMode, element: u8) -> Place {
        match mode {
            RelMode::None | RelMode::Loop => {
                Place::Gpr(narrow(self.source_register(context, base, mode == RelMode::Loop) % GPRS), element)
            }
            RelMode::Global => Place::Global(base, element),
        }
    }

    /// What a place holds for a lane of the wavefront, between instructions.
    fn held(&self, shared: &Shared, lane: usize, place: Place) -> Option<u32> {
        match place {
            Place::Gpr(n, e) => self.gprs.get(lane * GPRS + usize::from(n)).map(|r| r[usize::from(e & 3)]),
            Place::Global(n, e) => shared.globals.get(lane)?.get(usize::from(n)).map(|r| r[usize::from(e & 3)]),
            Place::Valid => self.flow.valid.get(lane).map(|&valid| u32::from(valid)),
            Place::Export(target, e) => {
                Some(self.exports.get(lane)?.get(target).map_or(0, |(values, _)| values[usize::from(e & 3)]))
            }
            Place::Scratch(n, e) => {
                Some(self.scratch.get(lane)?.get(usize::from(n)).map_or(0, |element| element[usize::from(e & 3)]))
            }
            Place::Share(n) => shared.data_share.dwords().get(usize::from(n)).copied(),
            _ => None,
        }
    }
}

/// The wavefronts of a thread group, or a wavefront, under way.
pub struct Unit<'a> {
    context: &'a Context<'a>,
    tap: Tap<&'a mut dyn Memory>,
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
        let positions = waves.iter().flat_map(|wave| wave.positions.clone()).collect();
        let changes = changes || memory.outputs_alias_inputs();
        Self { context, tap: Tap::new(memory, changes), positions, state: Inside { waves, shared, turn: 0 } }
    }

    /// Runs to the end; the wavefronts and what they share.
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

    /// What a place holds for a lane.
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
    /// Its fault; the events of the clause, as far as it got, are there.
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
        let mut total = difference(self.state.waves[turn].counters(), &before);
        let count = self.state.waves[turn].positions.len() as u64;
        let mut items = self.items(recorder, entry, count, &before);
        for (n, item) in items.iter_mut().enumerate() {
            (item.at, item.wave) = (At { item: Some(u16::try_from(n).unwrap_or(u16::MAX)), ..at }, wave);
            self.attribute(&mut item.lanes, accesses.clone(), Some(n));
            total = difference(&total, &smaller(&item.cost, &total));
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
                        ..difference(&counters, &before)
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
            let of = |lane: &&mut LaneEvent| self.positions.get(usize::from(lane.lane)) == Some(&access.of);
            if let Some(lane) = lanes.iter_mut().find(of) {
                lane.access(access.place, access.bits, access.written);
            }
        }
    }

    /// Who executes a control-flow instruction, and what it is going to read and write of registers.
    fn instruction(
        &self,
        turn: usize,
        entry: Option<&CfEntry>,
        first_lane: usize,
        wanted: &Lanes,
    ) -> (Vec<bool>, Vec<LaneEvent>) {
        let wave = &self.state.waves[turn];
        let test = |whole_quad, valid_pixel| wave.flow.test(Test { whole_quad, valid_pixel, ..Test::ACTIVE });
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
            for place in reads {
                read(&mut event, place, held(place), ALL_PARTS);
            }
            for place in writes {
                write(&mut event, place, held(place), ALL_PARTS);
            }
            lanes.push(event);
        }
        (executes, lanes)
    }

    fn export_places(&self, wave: &Wavefront, cf: &CfExport) -> (Vec<Place>, Vec<Place>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for burst in 0..=cf.word1.burst_count {
            let index = u32::from(cf.word0.array_base) + u32::from(burst);
            let Ok(target) = Target::from_fields(cf.kind, index) else { continue };
            let base = cf.word0.rw_gpr.saturating_add(burst);
            let register = narrow(wave.source_register(self.context, base, cf.word0.rw_rel));
            reads.extend(elements(cf.swizzle()).map(|e| Place::Gpr(register, e)));
            let written = (0u8..).zip(cf.swizzle()).filter(|(_, sel)| *sel != Sel::Mask);
            writes.extend(written.map(|(e, _)| Place::Export(target, e)));
        }
        (reads, writes)
    }

    fn write_places(&self, wave: &Wavefront, cf: &CfMem, lane: usize) -> (Vec<Place>, Vec<Place>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let index_gpr = usize::from(cf.word0.index_gpr) % GPRS;
        let mut index = 0;
        if cf.kind.is_indexed() {
            reads.push(Place::Gpr(narrow(index_gpr), 0));
            index = u64::from(wave.gprs[lane * GPRS + index_gpr][0]);
        }
        for burst in 0..=cf.word1.burst_count {
            let base = cf.word0.rw_gpr.saturating_add(burst);
            let register = wave.source_register(self.context, base, cf.word0.rw_rel);
            let written = (0u8..4).filter(|c| cf.word1.comp_mask >> c & 1 == 1 && *c <= cf.word0.elem_size);
            reads.extend(written.clone().map(|c| Place::Gpr(narrow(register), c)));
            let n = index + u64::from(burst);
            if super::memory::space(cf.word1.op).is_none() && n <= u64::from(cf.word1.array_size) {
                let at = u16::try_from(u64::from(cf.word0.array_base) + n).unwrap_or(u16::MAX);
                writes.extend(written.map(|c| Place::Scratch(at, c)));
            }
        }
        (reads, writes)
    }
}

/// What an instruction reads and writes for a lane of the wavefront.
type PlacesOf<'a> = Box<dyn Fn(usize) -> (Vec<Place>, Vec<Place>) + 'a>;

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
