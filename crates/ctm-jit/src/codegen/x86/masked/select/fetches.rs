//! What fetches are in instructions: lookups, differences in quads, gradients that are set, calls.

use super::super::{Call, Ins, Looked, Sample, What, gradient};
use super::{Plan, Select};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::scalar::Sink;
use crate::ir::masked::{Fetch, M, Value};
use crate::launch::wavefronts::bindings::takes_level_0;
use crate::launch::wavefronts::wave::CUBE;
use ctm_exec::r700::texture::{self, Detail, is_comparison};
use ctm_exec::r700::vertex::own_plain_dwords;
use ctm_isa::r700::inst::texel_offset;
use ctm_isa::r700::ops::TexOp;

/// Coordinates x, y, z.
const COORDINATES: usize = 3;

impl Select<'_> {
    /// A fetch.
    pub(super) fn fetch(&mut self, plan: &Plan<'_>, place: usize, number: u16, at: [Src; 4], under: M) {
        let fetch = self.code.fetches.get(usize::from(number));
        // What may not be bound is for the call.
        let own = fetch.filter(|fetch| !fetch.alternate()).and_then(|fetch| match fetch {
            Fetch::Texture(inst) => Some(inst.word0.op),
            _ => None,
        });
        match (own, fetch.and_then(looked)) {
            (Some(TexOp::GetGradientsH), _) => self.slopes(plan, place, false, at),
            (Some(TexOp::GetGradientsV), _) => self.slopes(plan, place, true, at),
            (Some(TexOp::SetGradientsH), _) => self.keep(plan, place, 0, &at[..COORDINATES], under),
            (Some(TexOp::SetGradientsV), _) => self.keep(plan, place, COORDINATES, &at[..COORDINATES], under),
            (Some(TexOp::SetCubemapIndex), _) => self.keep(plan, place, CUBE, &at[2..COORDINATES], under),
            (_, Some(looked)) => self.sample(plan, place, number, looked, at, under),
            (_, None) => self.call(Call::Fetch(number), &at, under),
        }
    }

    /// Keeps coordinates for later lookups, from a row on; what is read of such a fetch is 0.
    fn keep(&mut self, plan: &Plan<'_>, place: usize, first: usize, at: &[Src], under: M) {
        for (n, &src) in at.iter().enumerate() {
            self.put(Ins::Keep(gradient(first + n), src, under));
        }
        let dst = self.wanted(plan, place);
        dst.into_iter().flatten().for_each(|dst| self.push(Lir::Copy(dst, Src::Literal(0))));
        self.sampled = Some((Value(place as u32), dst));
    }

    /// Vectors for the elements of a fetch that somebody reads.
    fn wanted(&mut self, plan: &Plan<'_>, place: usize) -> [Option<Vector>; 4] {
        std::array::from_fn(|element| (plan.elements[place] >> element & 1 == 1).then(|| self.fresh()))
    }

    /// What coordinates differ by in each quad.
    fn slopes(&mut self, plan: &Plan<'_>, place: usize, vertical: bool, at: [Src; 4]) {
        let dst = self.wanted(plan, place);
        for (dst, at) in dst.into_iter().zip(at).filter_map(|(dst, at)| Some((dst?, at))) {
            self.put(Ins::Slope(dst, at, vertical));
        }
        self.sampled = Some((Value(place as u32), dst));
    }

    /// A lookup that may find its texels or items itself.
    fn sample(&mut self, plan: &Plan<'_>, place: usize, fetch: u16, looked: Looked, at: [Src; 4], under: M) {
        let dst = self.wanted(plan, place);
        let call = self.calls.len() as u16;
        self.samples.push(Sample { fetch, call, at, dst, under, looked });
        self.calls.push(Call::Fetch(fetch));
        let mut made = dst.into_iter().flatten();
        self.put(Ins::Sample(self.samples.len() as u16 - 1, made.next(), at));
        made.for_each(|dst| self.put(Ins::Also(dst)));
        self.sampled = Some((Value(place as u32), dst));
    }
}

/// How machine code can find what a fetch reads, if memory offers it.
fn looked(fetch: &Fetch) -> Option<Looked> {
    match fetch {
        Fetch::Texture(inst) => {
            let (op, word1, word2) = (inst.word0.op, &inst.word1, &inst.word2);
            let offset = [word2.offset_x, word2.offset_y, word2.offset_z].map(texel_offset);
            let unnormalised = [!word1.coord_type_x, !word1.coord_type_y, !word1.coord_type_z];
            let computed = Detail::Computed { set: false };
            let (what, detail) = match op {
                TexOp::Ld => return Some(Looked::Load { offset: offset.map(|x| x.floor() as i32) }),
                op if takes_level_0(op) => {
                    (if is_comparison(op) { What::Compared } else { What::Texels }, texture::detail(op)?)
                }
                TexOp::GetTextureResinfo => return Some(Looked::Sizes),
                TexOp::Fetch4 => (What::Four, computed),
                TexOp::GetCompTexLod => (What::Detail, computed),
                _ => return None,
            };
            Some(Looked::Nearest { unnormalised, offset, what, detail })
        }
        Fetch::Vertex(inst) => {
            let (dwords, one) = own_plain_dwords(inst)?;
            Some(Looked::Item { dwords: dwords as u8, one })
        }
        &Fetch::Input { unscaled, uncached: false, .. } => {
            let (unnormalised, offset, detail) = ([unscaled; 3], [0.0; 3], Detail::Zero);
            Some(Looked::Nearest { unnormalised, offset, what: What::Texels, detail })
        }
        Fetch::Memory(..) | Fetch::Share(..) | Fetch::Global | Fetch::Input { .. } => None,
    }
}
