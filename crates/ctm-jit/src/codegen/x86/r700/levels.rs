//! Lookups of textures with mipmap levels, layers or faces: the tables by which code finds their texels.
//!
//! What depends on the level is a row of [`MOST_LEVELS`] numbers, from which code takes those of each lane's level; so one sequence of instructions looks up
//! lanes of different levels.

use super::lookups::table;
use crate::codegen::x86::Frame;
use crate::launch::r700::bindings::{Levels, MOST_LEVELS};
use ctm_exec::r700::resources::{Filter, MipFilter, TextureKind};

/// A row of a table: of each level.
pub mod of_level {
    /// Columns, rows: as numbers.
    pub const SIZE: i32 = 0;
    /// The last column, the last row: as numbers.
    pub const LAST: i32 = 2;
    /// After how many columns, and rows, they repeat.
    pub const PERIOD: i32 = 4;
    /// One over that.
    pub const INVERSE: i32 = 6;
    /// Columns.
    pub const WIDTH: i32 = 8;
    /// Where it begins, in texels.
    pub const OFFSET: i32 = 9;
    /// Texels of a layer or face.
    pub const SLICE: i32 = 10;
    /// How many rows there are.
    pub const COUNT: i32 = 11;
}

/// Numbers behind the rows of a table: what is the same for all levels.
pub mod of_texture {
    use super::of_level;

    const AT: i32 = 64 * of_level::COUNT;
    /// 1 where anything depends on the level of detail.
    pub const DETAIL: i32 = AT;
    /// Added to the level of detail.
    pub const BIAS: i32 = AT + 4;
    /// Its least value.
    pub const LEAST: i32 = AT + 8;
    /// Its largest value.
    pub const MOST: i32 = AT + 12;
    /// The last level that is taken.
    pub const LAST: i32 = AT + 16;
    /// Added before the level below is taken: a half where the nearest one is wanted.
    pub const ROUND: i32 = AT + 20;
    /// All bits where two levels are weighed.
    pub const WEIGH: i32 = AT + 24;
    /// The last layer or face, as a number.
    pub const LAST_SLICE: i32 = AT + 28;
    /// What coordinates are too large by.
    pub const BACK: i32 = AT + 32;
    /// Lanes that weigh texels where the texture is drawn larger than it is: all of a piece, or none.
    pub const MAGNIFY: i32 = AT + 36;
    /// The same where it is drawn smaller, or'ed exclusively with that.
    pub const MINIFY: i32 = AT + 40;
}

/// Bytes of a table.
pub const BYTES: i32 = 64 * (of_level::COUNT + 1);

/// Rows that lookups work on, one after the other.
pub mod rows {
    use super::of_level;

    /// Coordinates.
    pub const AT: i32 = 0;
    /// The levels and the weight of the second.
    pub const LOW: i32 = 4;
    pub const HIGH: i32 = 5;
    pub const WEIGHT: i32 = 6;
    /// The layer or face.
    pub const SLICE: i32 = 7;
    /// The level that is looked up.
    pub const LEVEL: i32 = 8;
    /// What the table has for it.
    pub const OF_LEVEL: i32 = 9;
    /// Where its layer or face begins, in texels.
    pub const BASE: i32 = OF_LEVEL + of_level::COUNT;
    /// What was found: in the second level, or the only one; in the first of two.
    pub const FOUND: i32 = BASE + 1;
    pub const FIRST: i32 = FOUND + 4;
    /// Where the nearest texel begins.
    pub const NEAREST: i32 = FIRST + 4;
    /// Numbers: which lanes of the piece exist, which weigh texels, the longer of both gradients.
    pub const MASKS: i32 = NEAREST + 1;
    pub const EXISTING: i32 = 64 * MASKS;
    pub const LINEAR: i32 = EXISTING + 8;
    pub const GRADIENT: i32 = MASKS + 1;
    /// How many there are.
    pub const COUNT: i32 = GRADIENT + 1;
}

/// Rows that lookups work on.
pub const ROWS: i32 = rows::COUNT;

/// Fills in a lookup's tables.
pub fn put(frame: &mut Frame, (at, of_levels): (i32, i32), levels: &Levels<'_>) {
    let (texture, sampler) = (&levels.texture, &levels.sampler);
    frame.put(at + table::BOUND, &3u64.to_le_bytes());
    frame.put(at + table::LANES, &0u64.to_le_bytes());
    frame.put(at + table::DATA, &(levels.first.as_ptr() as usize).to_le_bytes());
    let mut float = |at: i32, x: f32| frame.put(at, &x.to_bits().to_le_bytes());
    // The largest level, for the test of coordinates that repeat.
    for axis in 0..2 {
        let size = texture.size(0)[axis];
        float(at + table::SIZE + 4 * axis as i32, size as f32);
        float(at + table::PERIOD + 4 * axis as i32, (levels.periods[axis] * size) as f32);
    }
    for level in 0..MOST_LEVELS {
        let size = texture.size(level as u32);
        let row = |number: i32| of_levels + 64 * number + 4 * level as i32;
        for (axis, number) in (0..).enumerate().take(2) {
            let period = levels.periods[axis] * size[axis];
            float(row(of_level::SIZE + number), size[axis] as f32);
            float(row(of_level::LAST + number), (size[axis] - 1) as f32);
            float(row(of_level::PERIOD + number), period as f32);
            float(row(of_level::INVERSE + number), 1.0 / period as f32);
        }
    }
    let is_linear = |filter: Filter| if filter == Filter::Linear { 0xffffu32 } else { 0 };
    let (magnify, minify) = (is_linear(sampler.magnify), is_linear(sampler.minify));
    let last = if sampler.mip == MipFilter::None { 0 } else { texture.levels - 1 };
    let slices = texture.size(0)[2];
    float(of_levels + of_texture::BIAS, levels.bias);
    float(of_levels + of_texture::LEAST, sampler.min_lod);
    float(of_levels + of_texture::MOST, sampler.max_lod);
    float(of_levels + of_texture::LAST, last as f32);
    float(of_levels + of_texture::ROUND, if sampler.mip == MipFilter::Nearest { 0.5 } else { 0.0 });
    float(of_levels + of_texture::LAST_SLICE, (slices - 1) as f32);
    float(of_levels + of_texture::BACK, if texture.kind == TextureKind::Cube { 1.0 } else { 0.0 });
    let mut number = |at: i32, x: u32| frame.put(at, &x.to_le_bytes());
    number(of_levels + of_texture::WEIGH, if sampler.mip == MipFilter::Linear { u32::MAX } else { 0 });
    number(of_levels + of_texture::MAGNIFY, magnify);
    number(of_levels + of_texture::MINIFY, minify ^ magnify);
    number(of_levels + of_texture::DETAIL, levels.detail_matters.into());
    for level in 0..MOST_LEVELS {
        let size = texture.size(level as u32);
        let row = |number: i32| of_levels + 64 * number + 4 * level as i32;
        number(row(of_level::WIDTH), size[0]);
        number(row(of_level::OFFSET), levels.offsets[level]);
        number(row(of_level::SLICE), size[0] * size[1]);
    }
}
