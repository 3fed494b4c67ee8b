//! From coordinates to texels: scaling, wrap, filters, mipmaps, comparison.
//!
//! The manual leaves all of this to the host's sampler state. Here is the usual definition in single precision, one rounding
//! per step; a separately written computation in the tests must agree.

use super::Memory;
use super::cube::across;
use super::resources::{Compare, Filter, MipFilter, Sampler, Texture, TextureKind, Wrap};
use crate::fault::MemoryFault;
use crate::float::{fma, number};
use crate::sample::{in_elements, wrap};

/// Where a lookup goes.
#[derive(Clone, Copy, Debug)]
pub struct LookupCoordinates {
    /// Bits of x, y, z.
    pub at: [u32; 3],
    /// Which coordinates count texels instead of 0..1.
    pub unnormalised: [bool; 3],
    /// Added to the place in texels.
    pub offset: [f32; 3],
}

/// A texture with its sampler and how it is looked up.
pub struct Lookup<'a> {
    /// Where its texels are.
    pub memory: &'a dyn Memory,
    /// The resource.
    pub id: u8,
    /// Its description.
    pub texture: Texture,
    /// How it is sampled.
    pub sampler: Sampler,
    /// The reference value of a comparison.
    pub reference: Option<f32>,
    /// Which cube of an array of them (SET_CUBEMAP_INDEX).
    pub cube: u32,
    /// Black texels and a white border (BC_FRAC_MODE).
    pub border_fraction: bool,
}

/// Neighbours along one axis: two indices (`None` is the border) and the weight of the second.
#[derive(Clone, Copy, Debug)]
struct Axis {
    low: Option<u32>,
    high: Option<u32>,
    weight: f32,
}

/// The axes of a texture that filters see; the others choose a layer, or do not exist.
#[inline]
#[must_use]
pub const fn filtered_axes(kind: TextureKind) -> usize {
    match kind {
        TextureKind::OneD | TextureKind::OneDArray => 1,
        TextureKind::TwoD | TextureKind::TwoDArray | TextureKind::Cube | TextureKind::CubeArray => 2,
        TextureKind::ThreeD => 3,
    }
}

/// Faces of a cube.
pub const FACES: u32 = 6;

/// Whether a texture consists of faces.
#[inline]
#[must_use]
pub const fn is_cube(kind: TextureKind) -> bool {
    matches!(kind, TextureKind::Cube | TextureKind::CubeArray)
}

/// The layer or face that a coordinate names: the nearest integer, ties to even, kept within 0..count.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept within range")]
pub fn layer(bits: u32, count: u32) -> u32 {
    let nearest = number(bits).round_ties_even();
    if nearest > 0.0 { f64::from(nearest).min(f64::from(count.saturating_sub(1))) as u32 } else { 0 }
}

fn mix(w: f32, a: [u32; 4], b: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|c| {
        let (a, b) = (number(a[c]), number(b[c]));
        fma(w, number((b - a).to_bits()), a).to_bits()
    })
}

/// The result of a comparison for a texel's first element.
#[must_use]
pub fn compared(compare: Compare, reference: f32, texel: u32) -> [u32; 4] {
    let passes = compare.holds(&reference, &number(texel));
    [if passes { 1f32.to_bits() } else { 0 }, 0, 0, 1f32.to_bits()]
}

impl Lookup<'_> {
    /// One axis of a lookup in a level.
    fn axis(&self, place: &LookupCoordinates, axis: usize, size: u32, filter: Filter) -> Axis {
        let unnormalised = place.unnormalised[axis];
        // Faces of a cube lie at 1..2, where compilers put them: the coordinates over twice the major axis, plus 1.5.
        let cube = is_cube(self.texture.kind);
        let bits = if cube { (number(place.at[axis]) - 1.0).to_bits() } else { place.at[axis] };
        let u = in_elements(bits, size, unnormalised) + place.offset[axis];
        // Repeat and mirror need normalised coordinates (R700 §10.4); faces have edges.
        let mode = match self.sampler.wrap[axis] {
            Wrap::Repeat | Wrap::Mirror if unnormalised || cube => Wrap::Clamp,
            mode => mode,
        };
        let once = self.sampler.mirrors_once[axis];
        let u = if once { u.abs() } else { u };
        let u = if self.sampler.half_border[axis] { u.clamp(0.0, size as f32) } else { u };
        // The column at -1 is the mirror image of that at 0.
        let wrap = |floored: f32, size, mode| wrap(if once { floored.max(0.0) } else { floored }, size, mode);
        match filter {
            Filter::Nearest => {
                let at = wrap(u.floor(), size, mode);
                Axis { low: at, high: at, weight: 0.0 }
            }
            Filter::Linear => {
                let u = u - 0.5;
                let floor = u.floor();
                let weight = if u.is_finite() { number((u - floor).to_bits()) } else { 0.0 };
                Axis { low: wrap(floor, size, mode), high: wrap(floor + 1.0, size, mode), weight }
            }
        }
    }

    /// The layer or face that the third coordinate names; in an array of cubes that face of the chosen cube, the last where there are fewer.
    fn slice(&self, bits: u32, depth: u32) -> u32 {
        if self.texture.kind == TextureKind::CubeArray {
            let last = (depth / FACES).saturating_sub(1);
            (layer(bits, FACES) + FACES * self.cube.min(last)).min(depth.saturating_sub(1))
        } else {
            layer(bits, depth)
        }
    }

    fn axes(&self, place: &LookupCoordinates, level: u32, filter: Filter) -> [Axis; 3] {
        let size = self.texture.size(level);
        let filtered = filtered_axes(self.texture.kind);
        std::array::from_fn(|axis| {
            if axis < filtered {
                self.axis(place, axis, size[axis], filter)
            } else {
                let at = if axis == 2 { self.slice(place.at[2], size[2]) } else { 0 };
                Axis { low: Some(at), high: Some(at), weight: 0.0 }
            }
        })
    }

    /// The weights of a linear lookup along x, y and z.
    #[must_use]
    pub fn weights(&self, place: &LookupCoordinates, level: u32) -> [f32; 3] {
        self.axes(place, level, Filter::Linear).map(|axis| axis.weight)
    }

    /// A texel or the border, compared if the lookup compares.
    fn texel(&self, level: u32, at: [Option<u32>; 3]) -> Result<[u32; 4], MemoryFault> {
        let value = match at {
            [Some(x), Some(y), Some(z)] if !self.border_fraction => self.memory.texel(self.id, level, [x, y, z])?,
            [Some(_), Some(_), Some(_)] => [0; 4],
            _ if self.border_fraction => [1f32.to_bits(); 4],
            _ => self.sampler.border,
        };
        Ok(match self.reference {
            None => value,
            Some(reference) => compared(self.sampler.compare, reference, value[0]),
        })
    }

    /// A lookup in one level.
    ///
    /// # Errors
    /// A texel that memory refuses.
    pub fn level(&self, place: &LookupCoordinates, level: u32, filter: Filter) -> Result<[u32; 4], MemoryFault> {
        let [x, y, z] = self.axes(place, level, filter);
        if filter == Filter::Nearest {
            return self.texel(level, [x.low, y.low, z.low]);
        }
        if self.sampler.seamless && is_cube(self.texture.kind) {
            return self.over_edges(place, level, z.low.unwrap_or(0));
        }
        let row = |y, z| Ok(mix(x.weight, self.texel(level, [x.low, y, z])?, self.texel(level, [x.high, y, z])?));
        let filtered = filtered_axes(self.texture.kind);
        let slice = |z| -> Result<[u32; 4], MemoryFault> {
            if filtered < 2 { row(y.low, z) } else { Ok(mix(y.weight, row(y.low, z)?, row(y.high, z)?)) }
        };
        if filtered < 3 { slice(z.low) } else { Ok(mix(z.weight, slice(z.low)?, slice(z.high)?)) }
    }

    /// A linear lookup in a level of a cube whose neighbours may lie on other faces. `slice`: the face's place among all.
    #[allow(clippy::cast_possible_truncation, reason = "kept within the face and one texel beyond")]
    fn over_edges(&self, place: &LookupCoordinates, level: u32, slice: u32) -> Result<[u32; 4], MemoryFault> {
        let size = self.texture.size(level)[0];
        let (face, cube) = (slice % FACES, slice - slice % FACES);
        let axis = |axis: usize| {
            let bits = (number(place.at[axis]) - 1.0).to_bits();
            let u = in_elements(bits, size, place.unnormalised[axis]) + place.offset[axis] - 0.5;
            let floor = u.floor();
            let weight = if u.is_finite() { number((u - floor).to_bits()) } else { 0.0 };
            (floor.clamp(-1.0, size as f32) as i64, weight)
        };
        let ((x, across_x), (y, across_y)) = (axis(0), axis(1));
        // The four texels, and the place of one that does not exist.
        let mut texels = [[0; 4]; 4];
        let mut missing = None;
        for (n, texel) in texels.iter_mut().enumerate() {
            let at = (x + n as i64 % 2, y + n as i64 / 2);
            match across(face, at.0.min(size.into()), at.1.min(size.into()), size) {
                Some((face, x, y)) => *texel = self.texel(level, [Some(x), Some(y), Some(cube + face)])?,
                None => missing = Some(n),
            }
        }
        if let Some(missing) = missing {
            let others = || (0..4).filter(|&n| n != missing);
            texels[missing] = std::array::from_fn(|c| {
                let sum = others().fold(0.0, |sum: f32, n| number((sum + number(texels[n][c])).to_bits()));
                number((sum / 3.0).to_bits()).to_bits()
            });
        }
        let [a, b, c, d] = texels;
        Ok(mix(across_y, mix(across_x, a, b), mix(across_x, c, d)))
    }

    /// A level of detail within the sampler's limits; the smallest for NaN.
    fn within_sampler(&self, lod: f32) -> f32 {
        let within = if lod > self.sampler.min_lod { lod } else { self.sampler.min_lod };
        if within < self.sampler.max_lod { within } else { self.sampler.max_lod }
    }

    /// A level of detail within the limits of the sampler and the texture.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "levels are few")]
    pub fn clamped(&self, lod: f32) -> f32 {
        let within = self.within_sampler(lod);
        let last = self.texture.levels.saturating_sub(1) as f32;
        let above = if within > 0.0 { within } else { 0.0 };
        if above < last { above } else { last }
    }

    /// The two levels of a lookup and the weight of the second.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the levels there are")]
    pub fn levels(&self, clamped: f32) -> (u32, u32, f32) {
        match self.sampler.mip {
            MipFilter::None => (0, 0, 0.0),
            MipFilter::Nearest => {
                let level = (clamped + 0.5).floor() as u32;
                let level = level.min(self.texture.levels.saturating_sub(1));
                (level, level, 0.0)
            }
            MipFilter::Linear => {
                let floor = clamped.floor();
                let last = self.texture.levels.saturating_sub(1);
                let low = (floor as u32).min(last);
                (low, low.saturating_add(1).min(last), number((clamped - floor).to_bits()))
            }
        }
    }

    /// A whole lookup at a level of detail (sampler bias included by the caller). The filter is that for minification where the level, within
    /// the sampler's limits, is above 0.
    ///
    /// # Errors
    /// A texel that memory refuses.
    pub fn sample(&self, place: &LookupCoordinates, lod: f32) -> Result<[u32; 4], MemoryFault> {
        let filter = if self.within_sampler(lod) > 0.0 { self.sampler.minify } else { self.sampler.magnify };
        let (low, high, weight) = self.levels(self.clamped(lod));
        let first = self.level(place, low, filter)?;
        if weight == 0.0 { Ok(first) } else { Ok(mix(weight, first, self.level(place, high, filter)?)) }
    }

    /// One element of the four texels that a linear lookup would weigh: (x1,y0), (x0,y1), (x1,y1), (x0,y0).
    ///
    /// # Errors
    /// A texel that memory refuses.
    pub fn four(&self, place: &LookupCoordinates, level: u32) -> Result<[u32; 4], MemoryFault> {
        let [x, y, z] = self.axes(place, level, Filter::Linear);
        let one = |x, y| self.texel(level, [x, y, z.low]).map(|t| t[0]);
        Ok([one(x.high, y.low)?, one(x.low, y.high)?, one(x.high, y.high)?, one(x.low, y.low)?])
    }
}
