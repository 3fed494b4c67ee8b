//! A lookup in a texture with levels: the values that all its levels share.

use super::What;
use crate::launch::wavefronts::bindings::Levels;
use ctm_exec::r700::texture::Detail;
use ctm_x86::simd::Array;

/// A lookup of a texture, with the values that all levels share.
#[derive(Clone, Copy)]
pub(super) struct LevelLookup<'a> {
    pub levels: &'a Levels<'a>,
    pub unnormalised: [bool; 3],
    pub offset: [f32; 3],
    pub what: What,
    pub detail: Detail,
    /// Axes that filters weigh.
    pub axes: usize,
    pub array: Array<'a>,
    /// The kind of texture: a cube; one without slices, layers or faces.
    pub cube: bool,
    pub flat: bool,
    /// The sampler mirrors once, or clamps halfway to the border; it has a border; its filters cross edges of cubes.
    pub bends: bool,
    pub has_border: bool,
    pub over_edges: bool,
}

impl LevelLookup<'_> {
    /// Slices, layers or faces of level 0.
    pub const fn slices(&self) -> f32 {
        f32::from_bits(self.levels.tables[5][0])
    }

    /// Channels of the result.
    pub const fn channels(&self) -> usize {
        if matches!(self.what, What::Texels) { 4 } else { 1 }
    }
}
