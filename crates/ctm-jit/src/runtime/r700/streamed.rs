//! R700 launches that are streams.

use super::engine::Run;
use crate::codegen::x86::Isa;
use crate::codegen::x86::masked::exists;
use crate::codegen::x86::stream::{InputView, OutputView, Surfaces};
use crate::launch::direct::cells;
use crate::runtime::native::dwords;
use crate::runtime::streams as stream;
use crate::stream::affine::Given;
use crate::stream::uniform::Uniform;
use ctm_exec::r700::resources::{Filter, MipFilter, TextureKind, Wrap};
use ctm_exec::r700::{Cells, Direct, Memory, Target, Texels, Texture};
use ctm_exec::{Counters, Position};

impl Run<'_> {
    /// Runs the launch as a stream; `None`, and nothing has happened, when it is none.
    pub fn stream(&self, memory: &mut dyn Memory) -> Option<Counters> {
        let launch = self.launch;
        let domain = launch.domain;
        let isa = self.backend.isa()?;
        if memory.outputs_alias_inputs()
            || !launch.rows.is_empty()
            || launch.divisor.is_some()
            || launch.covered.is_some()
            || launch.once
        {
            return None;
        }
        let artifact = self.artifact;
        let uniform = artifact.uniform.get_or_init(|| Uniform::of(&artifact.code, exists, Vec::new())).as_ref()?;
        let streams = &artifact.streams;
        if !streams.take(domain, uniform.instructions) {
            return None;
        }
        if uniform.instructions > launch.budget.instructions_per_group.unwrap_or(u64::MAX) {
            return None;
        }
        let constants = self.uniforms(memory)?;
        let textures: Vec<Texture> = uniform.textures.iter().map(|&of| texture(memory, of)).collect::<Option<_>>()?;
        let all: Vec<Target> = Target::all().collect();
        let targets: Vec<Target> = uniform.targets.iter().map(|&target| all[target]).collect();
        let ids: Vec<u8> = uniform.textures.iter().map(|texture| texture.0).collect();
        let last = Position { i: domain.i1, j: domain.j1 };
        let surfaces = surfaces(isa, memory.direct(&ids, &targets)?, &textures, last)?;
        let gprs = usize::from(launch.program.gprs).clamp(1, ctm_isa::r700::GPRS);
        let planes: Vec<_> = launch.planes.iter().filter(|plane| usize::from(plane.temp) < gprs).copied().collect();
        let (threads, watch) = (launch.threads, Some(self.watch));
        let given = Given { domain, planes: &planes, constants: &constants, threads, watch };
        let written = stream::run_on(streams, isa, uniform, &given, &surfaces)?;
        let mut counters = Counters::default();
        let processors = u64::from(domain.width()) * u64::from(domain.height());
        counters.processors = processors;
        counters.groups = self.waves.count();
        counters.active_lanes = uniform.active * processors;
        [counters.writes, counters.write_bytes] = written;
        for (inst, &times) in artifact.code.fetches.iter().zip(&uniform.fetches) {
            let crate::ir::masked::Fetch::Texture(inst) = inst else { continue };
            let of = (inst.word0.resource_id, inst.word2.sampler_id);
            let Some(input) = uniform.textures.iter().position(|&texture| texture == of) else { continue };
            counters.fetches += times * processors;
            counters.fetch_bytes += times * processors * u64::from(textures[input].texel_bytes);
        }
        // The last wavefront may be short.
        let full = counters.groups - 1;
        let visits: Vec<u64> = uniform.visits.iter().map(|n| n * full).collect();
        self.count(&visits, launch.wavefront.lanes() as u64, &mut counters);
        self.count(&uniform.visits, self.waves.lanes_of_last(), &mut counters);
        Some(counters)
    }
}

/// A texture whose nearest texels are looked up by whole texels, clamped to its edges.
fn texture(memory: &dyn Memory, (resource, sampler): (u8, u8)) -> Option<Texture> {
    let texture = memory.texture(resource)?;
    let sampler = memory.sampler(sampler).unwrap_or_default();
    let nearest = sampler.mip == MipFilter::None && [sampler.magnify, sampler.minify] == [Filter::Nearest; 2];
    // Coordinates in texels do not repeat.
    let clamps = sampler.wrap[..2].iter().all(|&wrap| wrap != Wrap::Border);
    let plain = texture.kind == TextureKind::TwoD && texture.levels > 0 && texture.width.min(texture.height) > 0;
    (nearest && clamps && plain).then_some(texture)
}

/// The arrays as streams take them; `None` when one of them is something else, or a target does not let all its channels pass.
fn surfaces<'a>(isa: Isa, direct: Direct<'a>, textures: &[Texture], last: Position) -> Option<Surfaces<'a>> {
    let mut surfaces = Surfaces::default();
    for ((place, of), texture) in surfaces.inputs.iter_mut().zip(direct.textures).zip(textures) {
        let bytes = match of.bytes {
            Texels::Bytes(bytes) => bytes,
            Texels::Dwords(texels) => dwords(texels),
        };
        *place = Some(InputView::of(isa, &of.with(bytes), [texture.width, texture.height])?);
    }
    for (place, of) in surfaces.outputs.iter_mut().zip(direct.targets) {
        let Some(of) = of else { continue };
        let shape = of.with(());
        let cells = match of.bytes {
            Cells::Bytes(bytes) => cells(bytes)?,
            Cells::Dwords(elements) => cells(elements)?,
        };
        *place = Some(OutputView::of(isa, &shape.with(cells), last)?);
    }
    Some(surfaces)
}
