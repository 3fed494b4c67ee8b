//! Texture fetches (R700 chapter 6, §9.4), one instruction for all lanes of a wavefront.

use super::Memory;
use super::cube;
use super::formats::in_format;
use super::resources::{Filter, TextureKind};
use super::sample::{FACES, Lookup, LookupCoordinates, filtered_axes, is_cube, layer};
use crate::fault::{FaultKind, MemoryFault};
use crate::float::{bits, fma, number};
use crate::transcendental::ln2;
use ctm_isa::r700::inst::{TexFetch, lod_bias, texel_offset};
use ctm_isa::r700::ops::{Sel, TexOp};
use std::cell::Cell;

/// The result of one fetch for one lane: four elements before the destination swizzle.
pub type Fetched = [u32; 4];

/// State that instructions set for later ones, for each lane: gradients (`SET_GRADIENTS_*`, `KEEP_GRADIENTS`) and cube (`SET_CUBEMAP_INDEX`).
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    /// Horizontal x, y, z.
    pub h: Vec<[f32; 3]>,
    /// Vertical x, y, z.
    pub v: Vec<[f32; 3]>,
    /// Which cube of an array; 0 before any is set.
    pub cube: Vec<u32>,
}

/// An element that a selector takes of four.
#[must_use]
pub const fn selected(sel: Sel, elements: &[u32; 4]) -> Option<u32> {
    match sel {
        Sel::X => Some(elements[0]),
        Sel::Y => Some(elements[1]),
        Sel::Z => Some(elements[2]),
        Sel::W => Some(elements[3]),
        Sel::Zero => Some(0),
        Sel::One => Some(0x3f80_0000),
        Sel::Mask => None,
    }
}

/// The slopes of the coordinates in a lane's quad (R700 §9.4 GET_GRADIENTS_*): right less left, or upper less lower, of the quad's first
/// row or column. All four lanes of a quad have the same; 0 where the quad is not complete.
#[must_use]
pub fn slopes(coordinates: &[[u32; 4]], lane: usize, vertical: bool) -> [f32; 4] {
    let first = lane & !3;
    let other = first + if vertical { 2 } else { 1 };
    let (Some(first), Some(other)) = (coordinates.get(first), coordinates.get(other)) else { return [0.0; 4] };
    std::array::from_fn(|e| number(bits(number(other[e]) - number(first[e]))))
}

/// The slope of the coordinates of a cube on the plane of the lane's face; `None` where that is the slope of the quad's coordinates: the lanes that it is taken
/// from have the lane's face, or one has no place on its plane.
#[must_use]
pub fn slope_on_face(coordinates: &[[u32; 4]], lane: usize, vertical: bool) -> Option<[f32; 2]> {
    let first = lane & !3;
    let ends = [first, first + if vertical { 2 } else { 1 }];
    let face = |lane: usize| coordinates.get(lane).map(|at| layer(at[2], FACES));
    let own = face(lane)?;
    if ends.iter().all(|&end| face(end) == Some(own)) {
        return None;
    }
    let on_plane = |lane: usize| {
        let [x, y, ..] = coordinates.get(lane)?.map(number);
        cube::on_plane(own, face(lane)?, [x, y])
    };
    let [from, to] = [on_plane(ends[0])?, on_plane(ends[1])?];
    Some([to[0] - from[0], to[1] - from[1]])
}

/// How an instruction finds its level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// From gradients: of the quad, or set before (`_G`).
    Computed {
        /// Set before.
        set: bool,
    },
    /// From gradients, and the bias in W.
    Biased {
        /// Set before.
        set: bool,
    },
    /// W itself.
    Given,
    /// Zero.
    Zero,
}

/// Differences of the sixteen SAMPLE instructions: comparison, and level of detail.
const fn variant(op: TexOp) -> Option<(bool, Detail)> {
    let (set, none) = (Detail::Computed { set: true }, Detail::Computed { set: false });
    Some(match op {
        TexOp::Sample => (false, none),
        TexOp::SampleL | TexOp::SampleGL => (false, Detail::Given),
        TexOp::SampleLb => (false, Detail::Biased { set: false }),
        TexOp::SampleLz | TexOp::SampleGLz => (false, Detail::Zero),
        TexOp::SampleG => (false, set),
        TexOp::SampleGLb => (false, Detail::Biased { set: true }),
        TexOp::SampleC => (true, none),
        TexOp::SampleCL | TexOp::SampleCGL => (true, Detail::Given),
        TexOp::SampleCLb => (true, Detail::Biased { set: false }),
        TexOp::SampleCLz | TexOp::SampleCGLz => (true, Detail::Zero),
        TexOp::SampleCG => (true, set),
        TexOp::SampleCGLb => (true, Detail::Biased { set: true }),
        TexOp::VtxFetch
        | TexOp::VtxSemantic
        | TexOp::Mem
        | TexOp::Ld
        | TexOp::GetTextureResinfo
        | TexOp::GetNumberOfSamples
        | TexOp::GetCompTexLod
        | TexOp::GetGradientsH
        | TexOp::GetGradientsV
        | TexOp::GetLerp
        | TexOp::KeepGradients
        | TexOp::SetGradientsH
        | TexOp::SetGradientsV
        | TexOp::SetCubemapIndex
        | TexOp::Fetch4 => return None,
    })
}

/// How an instruction finds its level of detail; `None` for those that are no SAMPLE instruction.
#[must_use]
pub const fn detail(op: TexOp) -> Option<Detail> {
    match variant(op) {
        Some((_, detail)) => Some(detail),
        None => None,
    }
}

/// Whether an instruction compares texels with a reference value.
#[must_use]
pub const fn is_comparison(op: TexOp) -> bool {
    matches!(variant(op), Some((true, _)))
}

/// The coordinate that holds the reference value: W (R700 §9.4, SAMPLE_C). The pages of `SAMPLE_C_L` and its relatives put the level there too;
/// drivers then put the reference in Z, which is free unless it names a layer or face.
#[must_use]
pub const fn reference_element(op: TexOp, kind: TextureKind) -> usize {
    match (variant(op), kind) {
        (Some((true, Detail::Given | Detail::Biased { .. })), TextureKind::OneD | TextureKind::TwoD) => 2,
        _ => 3,
    }
}

/// Whether an instruction computes its level of detail by gradients that were set before.
#[must_use]
pub const fn needs_set_gradients(op: TexOp) -> bool {
    matches!(variant(op), Some((_, Detail::Computed { set: true } | Detail::Biased { set: true })))
}

/// Whether an instruction works on coordinates alone, without a resource.
#[must_use]
pub const fn needs_no_resource(op: TexOp) -> bool {
    matches!(
        op,
        TexOp::GetGradientsH
            | TexOp::GetGradientsV
            | TexOp::SetGradientsH
            | TexOp::SetGradientsV
            | TexOp::SetCubemapIndex
    )
}

/// Whether an instruction computes slopes of the coordinates in its quad.
#[must_use]
pub const fn needs_quad(op: TexOp) -> bool {
    match variant(op) {
        Some((_, Detail::Computed { set } | Detail::Biased { set })) => !set,
        Some((_, Detail::Given | Detail::Zero)) => false,
        None => matches!(
            op,
            TexOp::GetCompTexLod
                | TexOp::GetGradientsH
                | TexOp::GetGradientsV
                | TexOp::GetLerp
                | TexOp::KeepGradients
                | TexOp::Fetch4
        ),
    }
}

/// Whether an instruction uses a sampler.
#[must_use]
pub const fn needs_sampler(op: TexOp) -> bool {
    variant(op).is_some() || matches!(op, TexOp::Fetch4 | TexOp::GetLerp | TexOp::GetCompTexLod | TexOp::KeepGradients)
}

/// Which coordinates an instruction reads, bit 0 = x, of a texture of some kind, or without one.
#[must_use]
pub const fn coordinates_used(op: TexOp, kind: Option<TextureKind>) -> u8 {
    let place = match kind {
        None => 0b0111,
        Some(TextureKind::OneD) => 0b0001,
        Some(TextureKind::TwoD) => 0b0011,
        Some(TextureKind::OneDArray) => 0b0101,
        Some(TextureKind::ThreeD | TextureKind::Cube | TextureKind::TwoDArray | TextureKind::CubeArray) => 0b0111,
    };
    let place = match kind {
        Some(kind) if is_comparison(op) => place | 1 << reference_element(op, kind),
        _ => place,
    };
    match variant(op) {
        Some((false, Detail::Computed { .. } | Detail::Zero)) => place,
        Some(_) => place | 0b1000,
        None => match op {
            TexOp::Ld => place | 0b1000,
            TexOp::GetTextureResinfo => 0b0001,
            TexOp::GetNumberOfSamples => 0,
            TexOp::SetCubemapIndex => 0b0100,
            TexOp::GetGradientsH | TexOp::GetGradientsV => 0,
            _ => place,
        },
    }
}

/// The cube that `SET_CUBEMAP_INDEX` names by its third coordinate: the nearest integer, ties to even, from 0 on (R700 §10.4).
#[must_use]
pub fn cube_index(coordinates: &[u32; 4]) -> u32 {
    layer(coordinates[2], u32::MAX)
}

/// A fetch with its resources.
pub struct TextureFetch<'a> {
    inst: &'a TexFetch,
    lookup: Lookup<'a>,
    /// Whether lanes are pixels of quads, so that a level of detail can be computed.
    quads: bool,
    /// The last operand of a logarithm, and its result: lanes of a quad have the same, and neighbours mostly.
    last_logarithm: Cell<(u32, f32)>,
}

impl<'a> TextureFetch<'a> {
    /// Looks up the resource and the sampler. A sampler that is not bound is the default one.
    ///
    /// # Errors
    /// The resource is not bound, or has no texels.
    pub fn new(memory: &'a dyn Memory, inst: &'a TexFetch, quads: bool) -> Result<Self, FaultKind> {
        let id = inst.word0.resource_id;
        let refused = |reason: &str| {
            FaultKind::Memory(MemoryFault { what: format!("texture {id}"), address: None, reason: reason.into() })
        };
        let texture = memory.texture(id).ok_or_else(|| refused("nothing is bound there"))?;
        if texture.size(0).contains(&0) || texture.width == 0 || texture.levels == 0 {
            return Err(refused("it has no texels, a fetch needs one"));
        }
        let sampler = memory.sampler(inst.word2.sampler_id).unwrap_or_default();
        let border_fraction = inst.word0.bc_frac_mode;
        let lookup = Lookup { memory, id, texture, sampler, reference: None, cube: 0, border_fraction };
        let last_logarithm = Cell::new((0, f32::from_bits(ln2(0))));
        Ok(Self { inst, lookup, quads, last_logarithm })
    }

    /// How the texels of the texture are arranged.
    #[must_use]
    pub const fn kind(&self) -> TextureKind {
        self.lookup.texture.kind
    }

    /// Bytes that one texel asks memory for.
    #[must_use]
    pub const fn texel_bytes(&self) -> u32 {
        self.lookup.texture.texel_bytes
    }

    fn place(&self, at: &[u32; 4]) -> LookupCoordinates {
        let (word1, word2) = (&self.inst.word1, &self.inst.word2);
        LookupCoordinates {
            at: [at[0], at[1], at[2]],
            unnormalised: [!word1.coord_type_x, !word1.coord_type_y, !word1.coord_type_z],
            offset: [word2.offset_x, word2.offset_y, word2.offset_z].map(texel_offset),
        }
    }

    /// The squared length of a gradient in texels of level 0.
    #[allow(clippy::cast_precision_loss, reason = "sizes are far below 2^24")]
    fn squared_texels(&self, gradient: [f32; 3]) -> f32 {
        let size = self.lookup.texture.size(0);
        let place = self.place(&[0; 4]);
        let mut sum = 0.0;
        for axis in 0..filtered_axes(self.lookup.texture.kind) {
            let scale = if place.unnormalised[axis] { 1.0 } else { size[axis] as f32 };
            let texels = number((gradient[axis] * scale).to_bits());
            sum = fma(texels, texels, sum);
        }
        sum
    }

    /// The level of detail of gradients: half the logarithm of the larger squared length, in texels of level 0.
    fn detail(&self, h: [f32; 3], v: [f32; 3]) -> f32 {
        let (h, v) = (self.squared_texels(h), self.squared_texels(v));
        let larger = if h > v { h } else { v }.to_bits();
        let (last, logarithm) = self.last_logarithm.get();
        if last == larger {
            return 0.5 * logarithm;
        }
        let logarithm = f32::from_bits(ln2(larger));
        self.last_logarithm.set((larger, logarithm));
        0.5 * logarithm
    }

    /// The slope of the coordinates in a lane's quad; of a cube on the plane of the lane's face.
    fn slope(&self, coordinates: &[[u32; 4]], lane: usize, vertical: bool) -> [f32; 3] {
        let [x, y, z, _] = slopes(coordinates, lane, vertical);
        let on_face = if is_cube(self.lookup.texture.kind) { slope_on_face(coordinates, lane, vertical) } else { None };
        on_face.map_or([x, y, z], |[x, y]| [x, y, 0.0])
    }

    /// The level of detail of a lane before clamping.
    fn lod(&self, detail: Detail, coordinates: &[[u32; 4]], lane: usize, gradients: &Gradients) -> f32 {
        let computed = |set: bool| {
            let bias = lod_bias(self.inst.word1.lod_bias) + self.lookup.sampler.lod_bias;
            if set {
                let (h, v) = (gradients.h.get(lane).copied(), gradients.v.get(lane).copied());
                self.detail(h.unwrap_or_default(), v.unwrap_or_default()) + bias
            } else if self.quads {
                let [h, v] = [false, true].map(|vertical| self.slope(coordinates, lane, vertical));
                self.detail(h, v) + bias
            } else {
                bias
            }
        };
        let w = number(coordinates[lane][3]);
        match detail {
            Detail::Computed { set } => computed(set),
            Detail::Biased { set } => computed(set) + w,
            Detail::Given => w + self.lookup.sampler.lod_bias,
            Detail::Zero => 0.0,
        }
    }

    /// The longer gradient of a lookup that takes several steps along it, and how many (`max_anisotropy`): the ratio of the lengths of both
    /// gradients, rounded up.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 16")]
    fn steps(
        &self,
        detail: Detail,
        coordinates: &[[u32; 4]],
        lane: usize,
        gradients: &Gradients,
    ) -> Option<([f32; 3], u8)> {
        let (sampler, kind) = (&self.lookup.sampler, self.lookup.texture.kind);
        let filters = sampler.minify == Filter::Linear && matches!(kind, TextureKind::TwoD | TextureKind::TwoDArray);
        let (Detail::Computed { set } | Detail::Biased { set }) = detail else { return None };
        if sampler.max_anisotropy <= 1 || !filters || !(set || self.quads) {
            return None;
        }
        let [h, v] = if set {
            [&gradients.h, &gradients.v].map(|all| all.get(lane).copied().unwrap_or_default())
        } else {
            [false, true].map(|vertical| {
                let [x, y, z, _] = slopes(coordinates, lane, vertical);
                [x, y, z]
            })
        };
        let [along_h, along_v] = [h, v].map(|gradient| self.squared_texels(gradient));
        let (longer, long, short) = if along_h > along_v { (h, along_h, along_v) } else { (v, along_v, along_h) };
        let most = f32::from(sampler.max_anisotropy.min(16));
        // Of squared lengths; NaN and 0/0 are one step.
        let ratio = (long / short).sqrt().ceil();
        (ratio > 1.0).then(|| (longer, ratio.min(most) as u8))
    }

    /// A lookup as the mean of n steps along a gradient, each with 1/n of its length.
    fn stepped(
        &self,
        lookup: &Lookup<'_>,
        at: &[u32; 4],
        lod: f32,
        (gradient, count): ([f32; 3], u8),
    ) -> Result<Fetched, FaultKind> {
        let whole = f32::from(count);
        let lod = lod - f32::from_bits(ln2(whole.to_bits()));
        let mut sum = [0.0f32; 4];
        for step in 0..count {
            let part = (f32::from(step) + 0.5) / whole - 0.5;
            let mut place = *at;
            for (coordinate, along) in place.iter_mut().zip(gradient).take(2) {
                *coordinate = number(fma(part, along, number(*coordinate)).to_bits()).to_bits();
            }
            let found = lookup.sample(&self.place(&place), lod).map_err(FaultKind::Memory)?;
            sum.iter_mut().zip(found).for_each(|(sum, bits)| *sum = number((*sum + number(bits)).to_bits()));
        }
        Ok(sum.map(|sum| bits(number((sum / whole).to_bits()))))
    }

    /// Runs the instruction for one lane.
    ///
    /// # Errors
    /// A texel that memory refuses, and unsupported state.
    pub fn lane(&self, coordinates: &[[u32; 4]], lane: usize, gradients: &Gradients) -> Result<Fetched, FaultKind> {
        let at = &coordinates[lane];
        let cube = gradients.cube.get(lane).copied().unwrap_or(0);
        let lookup = &Lookup { cube, ..self.lookup };
        let texture = &lookup.texture;
        let op = self.inst.word0.op;
        if let Some((compares, detail)) = variant(op) {
            let lod = self.lod(detail, coordinates, lane, gradients);
            let element = reference_element(op, texture.kind);
            let reference = compares.then(|| in_format(&texture.format, number(at[element])));
            let lookup = Lookup { reference, ..*lookup };
            let found = match self.steps(detail, coordinates, lane, gradients) {
                Some(steps) => self.stepped(&lookup, at, lod, steps)?,
                None => lookup.sample(&self.place(at), lod).map_err(FaultKind::Memory)?,
            };
            let select = |sel| selected(sel, &found).unwrap_or_default();
            return Ok(if compares { texture.compared.map(select) } else { found });
        }
        let computed = || self.lod(Detail::Computed { set: false }, coordinates, lane, gradients);
        let level = |lod: f32| lookup.levels(lookup.clamped(lod));
        Ok(match op {
            TexOp::Ld => self.load(at)?,
            TexOp::GetTextureResinfo => {
                let [width, height, depth] = if at[0] < texture.levels { texture.size(at[0]) } else { [0; 3] };
                // An array of cubes says how many cubes there are.
                let depth = if texture.kind == TextureKind::CubeArray { depth / FACES } else { depth };
                match texture.kind {
                    // The layers of a one-dimensional array are where others have rows.
                    TextureKind::OneDArray => [width, depth, height, texture.levels],
                    _ => [width, height, depth, texture.levels],
                }
            }
            TexOp::GetNumberOfSamples => {
                let [width, height, depth] = texture.size(0);
                [width, height, depth, texture.samples]
            }
            TexOp::GetCompTexLod => {
                let lod = computed();
                [bits(lookup.clamped(lod)), bits(lod), 0, 0]
            }
            TexOp::GetLerp => {
                let (low, _, mip) = level(computed());
                let [x, y, z] = lookup.weights(&self.place(at), low);
                [x, y, z, mip].map(f32::to_bits)
            }
            TexOp::Fetch4 => lookup.four(&self.place(at), level(computed()).0).map_err(FaultKind::Memory)?,
            TexOp::KeepGradients => lookup.sampler.border,
            other => return Err(not_done(other.name())),
        })
    }

    /// `LD`: the texel at integers x, y, z of level w, without filter; 0 where there is none.
    fn load(&self, at: &[u32; 4]) -> Result<Fetched, FaultKind> {
        if is_cube(self.lookup.texture.kind) {
            return Err(not_done("LD from a cube map, which the manual excludes"));
        }
        match self.texel_place(at) {
            None => Ok([0; 4]),
            Some(place) => self.lookup.memory.texel(self.lookup.id, at[3], place).map_err(FaultKind::Memory),
        }
    }

    /// Whether LD finds no texel.
    #[must_use]
    pub fn loads_outside(&self, at: &[u32; 4]) -> bool {
        self.texel_place(at).is_none()
    }

    /// The texel that LD reads, if there is one.
    fn texel_place(&self, at: &[u32; 4]) -> Option<[u32; 3]> {
        let texture = &self.lookup.texture;
        let size = texture.size(at[3]);
        let offset = self.place(at).offset;
        // A one-dimensional array has its layer in z.
        let axes: [usize; 3] = [0, 1, 2];
        let mut place = [0u32; 3];
        for axis in axes {
            let is_used = axis < filtered_axes(texture.kind) || (axis == 2 && size[2] > 1);
            #[allow(clippy::cast_possible_truncation, reason = "offsets are a few texels")]
            let moved = i64::from(at[axis].cast_signed()) + offset[axis].floor() as i64;
            let coordinate = if is_used { moved } else { 0 };
            match u32::try_from(coordinate) {
                Ok(c) if c < size[axis] => place[axis] = c,
                _ => return None,
            }
        }
        (at[3] < texture.levels).then_some(place)
    }
}

fn not_done(feature: &str) -> FaultKind {
    FaultKind::Unsupported { feature: feature.into(), section: "R700 §9.4" }
}
