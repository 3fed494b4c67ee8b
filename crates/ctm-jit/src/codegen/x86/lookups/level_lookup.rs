//! A lookup in a texture with levels: the values that all its levels share.

#![allow(unsafe_code, reason = "levels are arrays of their own")]

use super::texels::LookupArray;
use super::{Looked, What};
use crate::launch::wavefronts::bindings::{Levels, TexelForm};
use ctm_exec::r700::resources::{TextureKind, Wrap};
use ctm_exec::r700::sample::{filtered_axes, is_cube};
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
    pub texture: LookupArray<'a>,
    /// The kind of texture: a cube; one without slices, layers or faces.
    pub cube: bool,
    pub flat: bool,
    /// The sampler mirrors once, or clamps halfway to the border; it has a border; its filters cross edges of cubes.
    pub bends: bool,
    pub has_border: bool,
    pub over_edges: bool,
}

impl<'a> LevelLookup<'a> {
    /// Such a lookup; `None` for items of buffers.
    pub fn new(looked: &Looked, levels: &'a Levels<'a>) -> Option<Self> {
        let (unnormalised, offset, what, detail) = match *looked {
            Looked::Sample { unnormalised, offset, what, detail } => (unnormalised, offset, what, detail),
            Looked::Load { .. } | Looked::Sizes => ([true; 3], [0.0; 3], What::Texels, Detail::Zero),
            Looked::Item { .. } => return None,
        };
        let kind = levels.texture.kind;
        let size_bytes = levels.form.bytes() * levels.texels;
        // SAFETY: the level index is below the number of levels, and column, row and slice are clamped to that level's
        // size, so every texel lies inside the level's array.
        let array = unsafe { Array::among(levels.first, size_bytes) };
        Some(Self {
            levels,
            unnormalised,
            offset,
            what,
            detail,
            axes: filtered_axes(kind),
            texture: LookupArray {
                array,
                are_bytes: levels.form == TexelForm::Bytes,
                constants: (levels.form == TexelForm::Number).then_some(levels.constants),
            },
            cube: is_cube(kind),
            flat: kind == TextureKind::TwoD,
            bends: levels.sampler.bends(),
            has_border: levels.wrap.contains(&Wrap::Border),
            over_edges: levels.over_edges,
        })
    }
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
