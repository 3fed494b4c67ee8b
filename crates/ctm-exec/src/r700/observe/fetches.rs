//! Reads and writes of fetches for one lane.

use super::super::data_share::share_dword;
use super::super::flow::PixelSet;
use super::super::memory::{MemoryRead, share_read_at, share_written_from};
use super::super::recorder::lanes_of;
use super::super::shared::Shared;
use super::super::texture::needs_quad;
use super::super::wavefront::{Context, Wavefront};
use super::narrow;
use crate::observe::{ALL_PARTS, LaneEvent, Place, Read, Write};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::{Fetch, VtxWord1};
use ctm_isa::r700::ops::{Cond, RelMode, Sel};

pub(super) fn elements(sels: impl IntoIterator<Item = Sel>) -> impl Iterator<Item = u8> {
    let mut seen = 0u8;
    sels.into_iter().map(|sel| sel as u8).filter(move |&sel| {
        let new = sel < 4 && seen >> sel & 1 == 0;
        seen |= if new { 1 << sel } else { 0 };
        new
    })
}

/// The reads and writes of a fetch for one lane, by its words.
struct FetchPlaces {
    /// Registers with elements; the lane is the wavefront's.
    reads: Vec<(usize, Place)>,
    writes: Vec<Place>,
}

impl Wavefront {
    /// Notes a fetch that has been executed; `before` are all registers before it.
    pub(in crate::r700) fn record_fetch(
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
                // With BROADCAST all lanes read the value of the first valid executing lane.
                let passes = self.flow.test(PixelSet { cond: Cond::Active, ..PixelSet::ACTIVE });
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

    /// The value of a place for a lane of the wavefront, between instructions.
    pub(super) fn held(&self, shared: &Shared, lane: usize, place: Place) -> Option<u32> {
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
