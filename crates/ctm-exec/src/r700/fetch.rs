//! Fetch clauses of a wavefront (R700 chapters 5 to 8): each instruction for all lanes that execute.

use super::alu::{is_register, relative_read, relative_write};
use super::checks::{At, Checks, DIVERGENT_GRADIENT, FETCH_OUT_OF_BOUNDS, UNBOUND_SAMPLER, UNKNOWN_SEMANTIC};
use super::flow::PixelSet;
use super::shared::Shared;
use super::texture::{self, TextureFetch, selected};
use super::vertex::{self, VertexFetch, index_offset};
use super::wavefront::{Context, Wavefront};
use super::{Memory, with_alternate};
use crate::fault::FaultKind;
use crate::float::{bits, number};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::{Fetch, FetchClause, TexFetch, VtxFetch, VtxWord1};
use ctm_isa::r700::ops::{Cond, Sel, TexOp};

type FetchStep<T> = Result<T, FaultKind>;

impl Wavefront {
    /// A fetch clause: its instructions one after the other, each for all lanes that execute.
    pub(super) fn fetch_clause(
        &mut self,
        context: &Context<'_>,
        shared: &mut Shared,
        memory: &mut dyn Memory,
        test: PixelSet,
        clause: &FetchClause,
        faulty: &mut Option<usize>,
    ) -> FetchStep<()> {
        // COND must be ACTIVE here (R700 §3.6.3).
        let passes = self.flow.test(PixelSet { cond: Cond::Active, ..test });
        let whole_quads = self.flow.fetched(&passes, true);
        let of = |whole_quad: bool| if whole_quad { &whole_quads } else { &passes };
        for (item, fetch) in clause.fetches.iter().enumerate() {
            let before = shared.recorder.is_some().then(|| self.gprs.clone());
            let checks = &mut shared.checks;
            let inst = fetch.inst.as_ref().map_err(|error| FaultKind::Undecodable(*error))?;
            match &inst.fetch {
                Fetch::Tex(tex) => {
                    self.texture_fetch(context, checks, memory, of(tex.word0.fetch_whole_quad), tex, item, faulty)?;
                }
                Fetch::Vtx(vtx) => {
                    self.vertex_fetch(context, checks, memory, of(vtx.word0.fetch_whole_quad), vtx, item, faulty)?;
                }
                Fetch::MemRd(read) => {
                    self.memory_read(context, checks, memory, of(read.word0.fetch_whole_quad), read, item, faulty)?;
                }
                Fetch::MemDsw(write) => self.share_write(context, shared, &passes, write, item)?,
                Fetch::MemDsr(read) => self.share_read(context, shared, &passes, read, item)?,
            }
            if let Some(before) = before {
                self.record_fetch(context, shared, &inst.fetch, &passes, &whole_quads, &before);
            }
        }
        Ok(())
    }

    /// The register that a fetch or export reads, relative to the loop index if it says so (R700 §4.6.3).
    pub(super) fn source_register(&self, context: &Context<'_>, base: u8, relative: bool) -> usize {
        if relative { relative_read(base, self.flow.loop_index(), context.gprs()) } else { usize::from(base) % GPRS }
    }

    /// The register that a fetch writes, if any.
    pub(super) fn destination_register(&self, context: &Context<'_>, base: u8, relative: bool) -> Option<usize> {
        if relative {
            relative_write(base, self.flow.loop_index(), context.gprs())
        } else {
            is_register(i64::from(base), context.gprs()).then_some(usize::from(base) % GPRS)
        }
    }

    /// Where a lane is, for findings.
    pub(super) fn at(&self, item: usize, lane: usize) -> At {
        At { pc: self.pc, item, position: self.positions.get(lane).copied() }
    }

    /// Elements of a lane's register hold something from now on.
    pub(super) fn now_written(&mut self, lane: usize, register: Option<usize>, elements: impl Fn(usize) -> bool) {
        if let (Some(written), Some(register)) = (self.written.get_mut(lane), register)
            && let Some(has) = written.get_mut(register)
        {
            *has |= (0..4).filter(|&element| elements(element)).fold(0, |sum, element| sum | 1 << element);
        }
    }

    /// Writes a fetch result to a lane's register, through the destination swizzle. `one`: the bits of its 1.
    pub(super) fn write_fetched(
        &mut self,
        lane: usize,
        register: Option<usize>,
        (swizzle, one): ([Sel; 4], u32),
        fetched: &[u32; 4],
    ) {
        let Some(register) = register else { return };
        self.now_written(lane, Some(register), |element| swizzle[element] != Sel::Mask);
        let place = &mut self.gprs[lane * GPRS + register];
        for (element, sel) in swizzle.into_iter().enumerate() {
            if let Some(bits) = selected(sel, fetched) {
                place[element] = if sel == Sel::One { one } else { bits };
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "an instruction, its place, and what it may touch")]
    fn texture_fetch(
        &mut self,
        context: &Context<'_>,
        checks: &mut Option<Checks>,
        memory: &dyn Memory,
        executes: &[bool],
        inst: &TexFetch,
        item: usize,
        faulty: &mut Option<usize>,
    ) -> FetchStep<()> {
        let memory = with_alternate(memory, inst.word0.alt_const)?;
        let source = self.source_register(context, inst.word0.src_gpr, inst.word0.src_rel);
        let destination = self.destination_register(context, inst.word1.dst_gpr, inst.word1.dst_rel);
        let swizzle = inst.source_swizzle();
        let coordinates: Vec<[u32; 4]> = (0..self.positions.len())
            .map(|lane| {
                let register = &self.gprs[lane * GPRS + source];
                swizzle.map(|sel| selected(sel, register).unwrap_or(0))
            })
            .collect();
        let op = inst.word0.op;
        self.gradients.h.resize(self.positions.len(), [0.0; 3]);
        self.gradients.v.resize(self.positions.len(), [0.0; 3]);
        self.gradients.cube.resize(self.positions.len(), 0);
        let quads = self.quads;
        let fetch = if texture::needs_no_resource(op) { None } else { Some(TextureFetch::new(memory, inst, quads)?) };
        if let Some(checks) = checks {
            self.texture_checked(checks, memory, executes, inst, source, item, fetch.as_ref());
        }
        for lane in (0..executes.len()).filter(|&lane| executes[lane]) {
            *faulty = Some(lane);
            memory.begin_lane(self.positions[lane], item);
            let slopes = |vertical| texture::slopes(&coordinates, lane, vertical);
            let three = |[x, y, z, _]: [f32; 4]| [x, y, z];
            let given = coordinates[lane].map(number);
            let fetched = match (&fetch, op) {
                (Some(fetch), _) => {
                    if op == TexOp::KeepGradients {
                        self.gradients.h[lane] = three(slopes(false));
                        self.gradients.v[lane] = three(slopes(true));
                    }
                    self.counters.fetches += 1;
                    self.counters.fetch_bytes += u64::from(fetch.texel_bytes());
                    fetch.lane(&coordinates, lane, &self.gradients)?
                }
                (None, TexOp::GetGradientsV) => slopes(true).map(bits),
                (None, TexOp::SetGradientsH) => {
                    self.gradients.h[lane] = three(given);
                    [0; 4]
                }
                (None, TexOp::SetCubemapIndex) => {
                    self.gradients.cube[lane] = texture::cube_index(&coordinates[lane]);
                    [0; 4]
                }
                (None, TexOp::SetGradientsV) => {
                    self.gradients.v[lane] = three(given);
                    [0; 4]
                }
                (None, _) => slopes(false).map(bits),
            };
            self.write_fetched(lane, destination, (inst.destination_swizzle(), 1f32.to_bits()), &fetched);
        }
        *faulty = None;
        Ok(())
    }

    /// Findings of a checked run on a texture fetch.
    #[allow(clippy::too_many_arguments, reason = "an instruction, its place, and who looks")]
    fn texture_checked(
        &self,
        checks: &mut Checks,
        memory: &dyn Memory,
        executes: &[bool],
        inst: &TexFetch,
        source: usize,
        item: usize,
        fetch: Option<&TextureFetch<'_>>,
    ) {
        let swizzle = inst.source_swizzle();
        let used = texture::coordinates_used(inst.word0.op, fetch.map(TextureFetch::kind));
        let elements = (0..4).filter(|c| used >> c & 1 == 1 && (swizzle[*c] as u8) < 4);
        let elements = elements.fold(0u8, |sum, c| sum | 1 << swizzle[c] as u8);
        let sampler = inst.word2.sampler_id;
        for lane in (0..executes.len()).filter(|&lane| executes[lane] && self.flow.valid[lane]) {
            let here = self.at(item, lane);
            checks.registers_read(here, self.written.get(lane), source, elements);
            let quad = executes.iter().skip(lane & !3).take(4).filter(|&&e| e).count();
            if texture::needs_quad(inst.word0.op) && self.quads && quad < 4 {
                checks
                    .note(DIVERGENT_GRADIENT, here, || format!("{quad} of the 4 pixels of the quad execute the fetch"));
            }
            if fetch.is_some() && texture::needs_sampler(inst.word0.op) && memory.sampler(sampler).is_none() {
                checks.note(UNBOUND_SAMPLER, here, || format!("nothing is bound as sampler {sampler}"));
            }
            if inst.word0.op == TexOp::Ld
                && let Some(fetch) = fetch
            {
                let register = &self.gprs[lane * GPRS + source];
                let at = swizzle.map(|sel| selected(sel, register).unwrap_or(0));
                if fetch.loads_outside(&at) {
                    let [x, y, z, level] = at.map(u32::cast_signed);
                    checks.note(FETCH_OUT_OF_BOUNDS, here, || {
                        format!("the texture has no texel ({x}, {y}, {z}) in level {level}; 0 is read")
                    });
                }
            }
        }
    }

    /// A vertex fetch for every lane that executes (R700 §9.3).
    #[allow(clippy::too_many_arguments, reason = "an instruction, its place, and what it may touch")]
    fn vertex_fetch(
        &mut self,
        context: &Context<'_>,
        checks: &mut Option<Checks>,
        memory: &dyn Memory,
        executes: &[bool],
        inst: &VtxFetch,
        item: usize,
        faulty: &mut Option<usize>,
    ) -> FetchStep<()> {
        let memory = with_alternate(memory, inst.word2.alt_const)?;
        let offset = index_offset(context.launch, inst.word0.fetch_type);
        let source = self.source_register(context, inst.word0.src_gpr, inst.word0.src_rel);
        let destination = match &inst.word1 {
            VtxWord1::Gpr(w) => self.destination_register(context, w.dst_gpr, w.dst_rel),
            // Semantics missing from the table are not written.
            VtxWord1::Sem(w) => {
                let row = context.launch.semantics.iter().find(|row| row.id == w.semantic_id);
                row.and_then(|row| self.destination_register(context, row.gpr, false))
            }
        };
        let fetch = VertexFetch::new(memory, inst)?;
        for lane in (0..executes.len()).filter(|&lane| executes[lane]) {
            *faulty = Some(lane);
            memory.begin_lane(self.positions[lane], item);
            let index = self.gprs[lane * GPRS + source][inst.word0.src_sel_x as usize];
            if let (true, Some(checks)) = (self.flow.valid[lane], checks.as_mut()) {
                let here = self.at(item, lane);
                checks.registers_read(here, self.written.get(lane), source, 1 << inst.word0.src_sel_x as usize);
                if !fetch.is_within(index.wrapping_add(offset)) {
                    let id = inst.word0.buffer_id;
                    checks.note(FETCH_OUT_OF_BOUNDS, here, || {
                        format!("index {} lies outside buffer {id}; 0 is read", index.wrapping_add(offset))
                    });
                }
                if let VtxWord1::Sem(w) = &inst.word1
                    && !context.launch.semantics.iter().any(|row| row.id == w.semantic_id)
                {
                    let id = w.semantic_id;
                    checks.note(UNKNOWN_SEMANTIC, here, || format!("the semantic table has no identifier {id}"));
                }
            }
            let fetched = fetch.at(memory, index.wrapping_add(offset))?;
            self.counters.fetches += 1;
            self.counters.fetch_bytes += fetch.size_bytes();
            self.write_fetched(lane, destination, (inst.word1.swizzle(), vertex::one(inst)), &fetched);
        }
        *faulty = None;
        Ok(())
    }
}

pub(super) fn not_done(feature: &str, section: &'static str) -> FaultKind {
    FaultKind::Unsupported { feature: feature.into(), section }
}
