//! Fetches by the reference functions of lookups and reads. Their memory holds only the values that the trace says were read: an address that was not
//! read is an error, as another value is.

use ctm::trace::observe::{Event, LaneEvent, Place};
use ctm_exec::engine::MemoryFault;
use ctm_exec::float::{bits, number};
use ctm_exec::r700::memory::MemoryRead;
use ctm_exec::r700::texture::{self, Gradients, TextureFetch, selected};
use ctm_exec::r700::vertex::VertexFetch;
use ctm_exec::r700::{self, Buffer, Exports, Sampler, Semantic, Space, Texture, VertexEvent};
use ctm_exec::transcendental;
use ctm_exec::x1k::{self, Input, Outputs, Written, sample};
use ctm_exec::{Engine, Fault, Outcome, Position, watch::Control};
use ctm_isa::r700::inst::{Decoded, Fetch, MemDsr, MemDsw, TexFetch, VtxFetch};
use ctm_isa::r700::ops::{FetchType, MuxCntl, Sel, TexOp};
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::x1k::inst::TexInstruction;
use ctm_isa::x1k::ops::TexOp as X1kOp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The bindings of a launch.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    textures: HashMap<u8, Texture>,
    samplers: HashMap<u8, Sampler>,
    buffers: HashMap<u8, Buffer>,
    inputs: HashMap<u8, Input>,
    semantics: Vec<Semantic>,
    offsets: [u32; 2],
    chip: Option<Chip>,
    quads: bool,
}

/// An engine that records the bindings of launch number `which`, and runs all on another.
pub struct Noting {
    pub inner: Box<dyn Engine>,
    pub which: u64,
    pub seen: Mutex<u64>,
    pub bound: Arc<Mutex<Bound>>,
}

impl Noting {
    fn is_wanted(&self) -> bool {
        let mut seen = self.seen.lock().unwrap();
        *seen += 1;
        *seen == self.which + 1
    }
}

impl Engine for Noting {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn run_x1k_under(
        &self,
        control: &Control,
        launch: &x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
    ) -> Result<Outcome, Fault> {
        if self.is_wanted() {
            let inputs = (0..16).filter_map(|id| memory.input(id).map(|input| (id, input))).collect();
            *self.bound.lock().unwrap() = Bound { inputs, ..Bound::default() };
        }
        self.inner.run_x1k_under(control, launch, memory)
    }

    fn run_r700_under(
        &self,
        control: &Control,
        launch: &r700::Launch<'_>,
        memory: &mut dyn r700::Memory,
    ) -> Result<Outcome, Fault> {
        if self.is_wanted() {
            *self.bound.lock().unwrap() = Bound {
                textures: (0..=255).filter_map(|id| memory.texture(id).map(|of| (id, of))).collect(),
                samplers: (0..=255).filter_map(|id| memory.sampler(id).map(|of| (id, of))).collect(),
                buffers: (0..=255).filter_map(|id| memory.buffer(id).map(|of| (id, of))).collect(),
                semantics: launch.semantics.to_vec(),
                offsets: [launch.vertex_offset, launch.instance_offset],
                chip: Some(launch.chip),
                quads: launch.stage == Stage::Pixel,
                ..Bound::default()
            };
        }
        self.inner.run_r700_under(control, launch, memory)
    }
}

/// A memory of the values that one lane has read, and of the bindings.
struct Served<'a> {
    bound: &'a Bound,
    lane: &'a LaneEvent,
}

impl Served<'_> {
    fn held(&self, place: Place) -> Result<u32, MemoryFault> {
        let found = self.lane.reads.iter().find(|read| read.place == place).map(|read| read.bits);
        found.ok_or_else(|| MemoryFault { what: place.to_string(), address: None, reason: "not in the trace".into() })
    }

    fn four(&self, place: impl Fn(u8) -> Place) -> Result<[u32; 4], MemoryFault> {
        Ok([self.held(place(0))?, self.held(place(1))?, self.held(place(2))?, self.held(place(3))?])
    }
}

fn refused<T>() -> Result<T, MemoryFault> {
    Err(MemoryFault { what: "the memory of the checker".into(), address: None, reason: "it is for fetches".into() })
}

impl r700::Memory for Served<'_> {
    fn constant(&self, _: u8, _: u32) -> Result<[u32; 4], MemoryFault> {
        refused()
    }
    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.bound.buffers.get(&id).copied()
    }
    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        for (dword, part) in (0..).zip(bytes.chunks_mut(4)) {
            let from = self.held(Place::Buffer(id, u32::try_from(offset_bytes).unwrap() + 4 * dword))?.to_le_bytes();
            part.copy_from_slice(&from[..part.len()]);
        }
        Ok(())
    }
    fn texture(&self, id: u8) -> Option<Texture> {
        self.bound.textures.get(&id).copied()
    }
    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.bound.samplers.get(&id).copied()
    }
    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        let (at, level) = (at.map(|c| u16::try_from(c).unwrap()), u8::try_from(level).unwrap());
        self.four(|element| Place::Texel { id, at, level, element })
    }
    fn space(&self, _: Space) -> Option<u64> {
        None
    }
    fn load(&self, _: Space, _: u64) -> Result<u32, MemoryFault> {
        refused()
    }
    fn store(&mut self, _: Space, _: u64, _: u32) -> Result<(), MemoryFault> {
        refused()
    }
    fn vertex_event(&mut self, _: Position, _: VertexEvent) -> Result<(), MemoryFault> {
        refused()
    }
    fn commit(&mut self, _: Position, _: &Exports) -> Result<Written, MemoryFault> {
        refused()
    }
}

impl x1k::Memory for Served<'_> {
    fn schedule(&mut self, _: Position) -> Result<bool, MemoryFault> {
        refused()
    }
    fn input(&self, index: u8) -> Option<Input> {
        self.bound.inputs.get(&index).copied()
    }
    fn read(&self, input: u8, x: u32, y: u32, _: bool) -> Result<[u32; 4], MemoryFault> {
        let (x, y) = (u16::try_from(x).unwrap(), u16::try_from(y).unwrap());
        self.four(|channel| Place::Element { input, x, y, channel })
    }
    fn commit(&mut self, _: Position, _: &Outputs) -> Result<Written, MemoryFault> {
        refused()
    }
    fn write_uncached(&mut self, _: u32, _: u32, _: u32) -> Result<Written, MemoryFault> {
        refused()
    }
    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// Registers that an event read of a lane: all of one register, by element.
fn element(lane: &LaneEvent, of: u16, element: u8) -> Option<u32> {
    let is = |place: Place| matches!(place, Place::Gpr(_, e) | Place::Temp(_, e) | Place::Global(_, e) if e == element);
    lane.reads.iter().find(|read| read.lane == of && is(read.place)).map(|read| read.bits)
}

/// A lookup of X1K (CTM §3.4): the channels of its element, or of the filter's four.
pub fn x1k_lookup(bound: &Bound, tex: &TexInstruction, lane: &LaneEvent) -> Option<Vec<Option<u32>>> {
    if !tex.inst.op.is_lookup() {
        return None;
    }
    let served = Served { bound, lane };
    let channel = |c: ctm_isa::x1k::ops::Channel| element(lane, lane.lane, c as u8);
    let (mut s, mut t) = (channel(tex.addr.src_s_swiz)?, channel(tex.addr.src_t_swiz)?);
    if tex.inst.op == X1kOp::LookupProj {
        let q = transcendental::rcp(channel(tex.addr.src_q_swiz)?);
        (s, t) = (sample::project(s, q), sample::project(t, q));
    }
    let texel = match bound.inputs.get(&tex.inst.tex_id) {
        None => [0; 4],
        Some(input) => {
            let uncached = tex.inst.op == X1kOp::LookupUncached;
            let found = sample::lookup(&served, tex.inst.tex_id, input, (s, t), tex.inst.unscaled, uncached);
            found.unwrap_or_else(|fault| panic!("{fault:?} of {lane:?}")).texel
        }
    };
    let swizzle = [tex.addr.dst_r_swiz, tex.addr.dst_g_swiz, tex.addr.dst_b_swiz, tex.addr.dst_a_swiz];
    let result = |place: Place| match place {
        Place::Temp(_, c) => Some(texel[swizzle[usize::from(c)] as usize]),
        _ => None,
    };
    Some(lane.writes.iter().map(|write| result(write.place)).collect())
}

/// State of fetches for later ones while a trace goes on: gradients and cubes of each lane.
#[derive(Clone, Debug, Default)]
pub struct Fetches {
    /// The instructions of a program of R700.
    pub decoded: Option<Decoded>,
    pub bound: Bound,
    gradients: Gradients,
}

impl Fetches {
    pub fn new(decoded: Option<Decoded>, bound: Bound, lanes: usize) -> Self {
        let gradients = Gradients { h: vec![[0.0; 3]; lanes], v: vec![[0.0; 3]; lanes], cube: vec![0; lanes] };
        Self { decoded, bound, gradients }
    }

    /// The coordinates of a lane's quad, in its first four entries; entries that were not read are 0.
    fn coordinates(tex: &TexFetch, lane: &LaneEvent) -> [[u32; 4]; 4] {
        let first = lane.lane & !3;
        std::array::from_fn(|other| {
            tex.source_swizzle().map(|sel| match sel {
                Sel::Zero => 0,
                Sel::One => 1f32.to_bits(),
                sel => element(lane, first + other as u16, sel as u8).unwrap_or(0),
            })
        })
    }

    /// Updates the state for later instructions.
    pub fn after(&mut self, fetch: &Fetch, event: &Event) {
        let Fetch::Tex(tex) = fetch else { return };
        for lane in &event.lanes {
            let coordinates = Self::coordinates(tex, lane);
            let (quad_lane, lane) = (usize::from(lane.lane & 3), usize::from(lane.lane));
            let three = |[x, y, z, _]: [f32; 4]| [x, y, z];
            let given = three(coordinates[quad_lane].map(number));
            match tex.word0.op {
                TexOp::SetGradientsH => self.gradients.h[lane] = given,
                TexOp::SetGradientsV => self.gradients.v[lane] = given,
                TexOp::SetCubemapIndex => self.gradients.cube[lane] = texture::cube_index(&coordinates[quad_lane]),
                TexOp::KeepGradients => {
                    self.gradients.h[lane] = three(texture::slopes(&coordinates, quad_lane, false));
                    self.gradients.v[lane] = three(texture::slopes(&coordinates, quad_lane, true));
                }
                _ => {}
            }
        }
    }

    /// The bits of each write of a fetch of R700.
    pub fn results(&self, fetch: &Fetch, lane: &LaneEvent) -> Option<Vec<Option<u32>>> {
        match fetch {
            Fetch::Tex(tex) => {
                let fetched = self.texture(tex, lane)?;
                Some(swizzled(lane, tex.destination_swizzle(), &fetched))
            }
            Fetch::Vtx(vtx) => {
                let fetched = self.vertex(vtx, lane)?;
                Some(swizzled(lane, vtx.word1.swizzle(), &fetched))
            }
            Fetch::MemRd(inst) => {
                let read = MemoryRead::new(inst, self.bound.chip?).ok()?;
                let dwords: Vec<u32> = lane
                    .reads
                    .iter()
                    .filter(|read| matches!(read.place, Place::Scratch(..) | Place::Dword(..)))
                    .map(|read| read.bits)
                    .collect();
                if inst.word0.burst_cnt > 0 || dwords.len() != read.dwords {
                    return None;
                }
                let fetched = read.converted(std::array::from_fn(|n| dwords.get(n).copied().unwrap_or(0))).ok()?;
                let word = &inst.word1;
                Some(swizzled(lane, [word.dst_sel_x, word.dst_sel_y, word.dst_sel_z, word.dst_sel_w], &fetched))
            }
            Fetch::MemDsw(inst) => share_write(inst, lane),
            Fetch::MemDsr(inst) => share_read(inst, lane),
        }
    }

    fn texture(&self, tex: &TexFetch, lane: &LaneEvent) -> Option<[u32; 4]> {
        if tex.word0.alt_const {
            return None;
        }
        let served = Served { bound: &self.bound, lane };
        let coordinates = Self::coordinates(tex, lane);
        let (at, lane_number) = (usize::from(lane.lane & 3), usize::from(lane.lane));
        let op = tex.word0.op;
        if texture::needs_no_resource(op) {
            return Some(match op {
                TexOp::GetGradientsH => texture::slopes(&coordinates, at, false).map(bits),
                TexOp::GetGradientsV => texture::slopes(&coordinates, at, true).map(bits),
                _ => [0; 4],
            });
        }
        let first = lane_number & !3;
        let gradients = Gradients {
            h: self.gradients.h[first..first + 4].to_vec(),
            v: self.gradients.v[first..first + 4].to_vec(),
            cube: self.gradients.cube[first..first + 4].to_vec(),
        };
        let fetch = TextureFetch::new(&served, tex, self.bound.quads).unwrap_or_else(|fault| panic!("{fault:?}"));
        let fetched = fetch.lane(&coordinates, at, &gradients);
        Some(fetched.unwrap_or_else(|fault| panic!("{fault:?} of {lane:?}")))
    }

    fn vertex(&self, vtx: &VtxFetch, lane: &LaneEvent) -> Option<[u32; 4]> {
        if vtx.word2.alt_const {
            return None;
        }
        let served = Served { bound: &self.bound, lane };
        let index = element(lane, lane.lane, vtx.word0.src_sel_x as u8)?;
        let offset = match vtx.word0.fetch_type {
            FetchType::VertexData => self.bound.offsets[0],
            FetchType::InstanceData => self.bound.offsets[1],
            FetchType::NoIndexOffset => 0,
        };
        let fetch = VertexFetch::new(&served, vtx).unwrap_or_else(|fault| panic!("{fault:?}"));
        let fetched = fetch.at(&served, index.wrapping_add(offset));
        Some(fetched.unwrap_or_else(|fault| panic!("{fault:?} of {lane:?}")))
    }
}

/// The values that each register write gets of four elements.
fn swizzled(lane: &LaneEvent, swizzle: [Sel; 4], fetched: &[u32; 4]) -> Vec<Option<u32>> {
    let result = |place: Place| match place {
        Place::Gpr(_, e) => selected(swizzle[usize::from(e)], fetched),
        _ => None,
    };
    lane.writes.iter().map(|write| result(write.place)).collect()
}

/// LOCAL_DS_WRITE: the selected elements, in order.
fn share_write(inst: &MemDsw, lane: &LaneEvent) -> Option<Vec<Option<u32>>> {
    let word = &inst.word0;
    let sels: Vec<Sel> = [word.src_sel_x, word.src_sel_y, word.src_sel_z, word.src_sel_w]
        .into_iter()
        .filter(|&sel| sel != Sel::Mask)
        .collect();
    if inst.word2.burst_cnt > 0 || sels.len() != lane.writes.len() {
        return None;
    }
    let result = |sel: Sel| match sel {
        Sel::Zero => Some(0),
        Sel::One => Some(1f32.to_bits()),
        sel => element(lane, lane.lane, sel as u8),
    };
    Some(sels.into_iter().map(result).collect())
}

/// LOCAL_DS_READ: the dwords that were read, in order, or one for all.
fn share_read(inst: &MemDsr, lane: &LaneEvent) -> Option<Vec<Option<u32>>> {
    let read = |place: Place| matches!(place, Place::Share(_));
    let dwords: Vec<u32> = lane.reads.iter().filter(|r| read(r.place)).map(|r| r.bits).collect();
    if inst.word2.burst_cnt > 0 {
        return None;
    }
    match inst.word1.mux_cntl {
        MuxCntl::WordSelect if dwords.len() == 1 => Some(vec![Some(dwords[0]); lane.writes.len()]),
        MuxCntl::WordSelect | MuxCntl::FftPermute => None,
        _ if dwords.len() == lane.writes.len() => Some(dwords.into_iter().map(Some).collect()),
        _ => None,
    }
}
