//! Lookups of textures with mipmap levels, layers or faces: the tables by which code finds their texels.
//!
//! What depends on the level is a row of [`MOST_LEVELS`] numbers, from which code takes those of each lane's level; so one sequence of instructions looks up
//! lanes of different levels.

use super::lookups::table;
use crate::codegen::x86::Frame;
use crate::launch::wavefronts::bindings::{Levels, MOST_LEVELS};
use ctm_exec::r700::resources::{Compare, Filter, MipFilter, TextureKind};
use ctm_exec::r700::sample::{FACES, compared, filtered_axes, is_cube};

/// The last face of a cube.
const LAST_FACE: f32 = (FACES - 1) as f32;

/// A row of a table: of each level.
pub mod of_level {
    /// Columns.
    pub const WIDTH: i32 = 0;
    /// Where it begins, in texels.
    pub const OFFSET: i32 = 1;
    /// Texels of a slice, layer or face.
    pub const SLICE: i32 = 2;
    /// Columns, or rows, or slices, as numbers; the last one; after how many they repeat; one over that. Those of the next axis follow.
    pub const SIZE: i32 = 3;
    pub const LAST: i32 = 4;
    pub const PERIOD: i32 = 5;
    pub const INVERSE: i32 = 6;
    pub const PER_AXIS: i32 = 4;
    /// How many rows there are for two axes, and for three.
    pub const FLAT: i32 = SIZE + 2 * PER_AXIS;
    pub const COUNT: i32 = SIZE + 3 * PER_AXIS;
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
    /// What coordinates are too large by: those of cubes.
    pub const BACK: i32 = AT + 32;
    /// All bits where texels are weighed when the texture is drawn larger than it is.
    pub const MAGNIFY: i32 = AT + 36;
    /// The same where it is drawn smaller, or'ed exclusively with that.
    pub const MINIFY: i32 = AT + 40;
    /// The last cube of an array, as a number.
    pub const LAST_CUBE: i32 = AT + 44;
    /// Axes that filters see.
    pub const AXES: i32 = AT + 48;
    /// 1 where lanes are pixels of quads.
    pub const QUADS: i32 = AT + 52;
    /// 1 where the third coordinate is the reference value.
    pub const REFERENCE: i32 = AT + 56;
    /// Levels, and the last one that there is, as a number.
    pub const LEVELS: i32 = AT + 60;
    pub const LAST_LEVEL: i32 = AT + 64;
    /// 1 where texels are weighed one by one: of one row, or with a border.
    pub const APART: i32 = AT + 68;
    /// 1 where there is a border; for each axis whether it has one; and its channels.
    pub const BORDERS: i32 = AT + 72;
    pub const BORDERED: i32 = AT + 76;
    pub const BORDER: i32 = AT + 88;
    /// All bits for each axis by which LD finds texels.
    pub const USED: i32 = AT + 104;
    /// What a comparison gives if the reference value is no number or the texel is none; then by what that changes where the reference is less,
    /// where it is equal, and where it is greater.
    pub const COMPARED: i32 = AT + 116;
    /// Where they end.
    pub const END: i32 = AT + 132;
}

/// Bytes of a table.
pub const BYTES: i32 = (of_texture::END + 63) & !63;

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
    /// Where its slice, layer or face begins, in texels; how far behind that the next slice does, and how much it weighs.
    pub const BASE: i32 = OF_LEVEL + of_level::COUNT;
    pub const STEP: i32 = BASE + 1;
    pub const DEPTH_WEIGHT: i32 = BASE + 2;
    /// What was found: last; in the first of two levels; in the first of two slices.
    pub const FOUND: i32 = BASE + 3;
    pub const FIRST: i32 = FOUND + 4;
    pub const ABOVE: i32 = FIRST + 4;
    /// Texels of four corners, channel by channel.
    pub const CORNERS: i32 = ABOVE + 4;
    /// Where the nearest texel begins.
    pub const NEAREST: i32 = CORNERS + 16;
    /// The reference value.
    pub const REFERENCE: i32 = NEAREST + 1;
    /// What was set for this lookup: gradients and a cube.
    pub const SET: i32 = REFERENCE + 1;
    /// Numbers: which lanes of the piece exist, which weigh texels.
    pub const MASKS: i32 = SET + 7;
    pub const EXISTING: i32 = 64 * MASKS;
    pub const LINEAR: i32 = EXISTING + 8;
    /// The lanes beyond the border, low and high along each axis; on AVX2 those that weigh texels.
    pub const BEYOND: i32 = MASKS + 1;
    pub const LINEAR_LANES: i32 = BEYOND + 6;
    /// The longer of both gradients.
    pub const GRADIENT: i32 = LINEAR_LANES + 1;
    /// How many there are.
    pub const COUNT: i32 = GRADIENT + 1;
}

/// Rows that lookups work on.
pub const ROWS: i32 = rows::COUNT;

/// See [`of_texture::COMPARED`].
fn outcomes(compare: Compare) -> [u32; 4] {
    let of = |reference: f32| compared(compare, reference, 1f32.to_bits())[0];
    let unordered = of(f32::NAN);
    [unordered, of(0.0) ^ unordered, of(1.0) ^ unordered, of(2.0) ^ unordered]
}

/// Fills in a lookup's tables.
pub fn put(frame: &mut Frame, (at, of_levels): (i32, i32), levels: &Levels<'_>) {
    let (texture, sampler) = (&levels.texture, &levels.sampler);
    let axes = filtered_axes(texture.kind);
    frame.put(at + table::BOUND, &2u64.to_le_bytes());
    frame.put(at + table::LANES, &0u64.to_le_bytes());
    frame.put(at + table::DATA, &(levels.first.as_ptr() as usize).to_le_bytes());
    let mut float = |at: i32, x: f32| frame.put(at, &x.to_bits().to_le_bytes());
    // The largest level, for the test of coordinates that repeat.
    for (axis, size) in (0..).zip(texture.size(0)) {
        float(at + table::SIZE + 4 * axis, size as f32);
        float(at + table::PERIOD + 4 * axis, (levels.periods[axis as usize] * size) as f32);
    }
    for level in 0..texture.levels.min(MOST_LEVELS as u32) {
        for (axis, size) in levels.size(level).into_iter().enumerate() {
            let row = |number: i32| of_levels + 64 * (number + of_level::PER_AXIS * axis as i32) + 4 * level as i32;
            let period = levels.periods[axis] * size;
            float(row(of_level::SIZE), size as f32);
            float(row(of_level::LAST), size.saturating_sub(1) as f32);
            float(row(of_level::PERIOD), period as f32);
            float(row(of_level::INVERSE), 1.0 / period as f32);
        }
    }
    let is_linear = |filter: Filter| if filter == Filter::Linear { u32::MAX } else { 0 };
    let (magnify, minify) = (is_linear(sampler.magnify), is_linear(sampler.minify));
    let [last_level, slices] = [texture.levels, texture.size(0)[2]].map(|count| (count - 1) as f32);
    let cubes = texture.kind == TextureKind::CubeArray;
    let bordered = levels.borders.contains(&true);
    let mut number = |at: i32, x: u32| frame.put(of_levels + at, &x.to_le_bytes());
    for (at, x) in [
        (of_texture::BIAS, levels.bias),
        (of_texture::LEAST, sampler.min_lod),
        (of_texture::MOST, sampler.max_lod),
        (of_texture::LAST, if sampler.mip == MipFilter::None { 0.0 } else { last_level }),
        (of_texture::LAST_LEVEL, last_level),
        (of_texture::ROUND, if sampler.mip == MipFilter::Nearest { 0.5 } else { 0.0 }),
        (of_texture::LAST_SLICE, if cubes { slices.min(LAST_FACE) } else { slices }),
        (of_texture::LAST_CUBE, if cubes { (texture.depth / FACES).saturating_sub(1) as f32 } else { 0.0 }),
        (of_texture::BACK, if is_cube(texture.kind) { 1.0 } else { 0.0 }),
    ] {
        number(at, x.to_bits());
    }
    for (at, x) in [
        (of_texture::WEIGH, if sampler.mip == MipFilter::Linear { u32::MAX } else { 0 }),
        (of_texture::MAGNIFY, magnify),
        (of_texture::MINIFY, minify ^ magnify),
        (of_texture::DETAIL, levels.detail_matters.into()),
        (of_texture::AXES, axes as u32),
        (of_texture::QUADS, levels.quads.into()),
        (of_texture::REFERENCE, u32::from(levels.reference == 2)),
        (of_texture::LEVELS, texture.levels),
        (of_texture::APART, u32::from(bordered || axes == 1)),
        (of_texture::BORDERS, bordered.into()),
    ] {
        number(at, x);
    }
    for (axis, bordered) in (0..).zip(levels.borders) {
        number(of_texture::BORDERED + 4 * axis, bordered.into());
        let used = (axis as usize) < axes || axis == 2 && texture.size(0)[2] > 1;
        number(of_texture::USED + 4 * axis, if used { u32::MAX } else { 0 });
    }
    for (n, (border, compared)) in (0..).zip(sampler.border.into_iter().zip(outcomes(sampler.compare))) {
        number(of_texture::BORDER + 4 * n, border);
        number(of_texture::COMPARED + 4 * n, compared);
    }
    for level in 0..texture.levels.min(MOST_LEVELS as u32) {
        let size = texture.size(level);
        let row = |number: i32| 64 * number + 4 * level as i32;
        number(row(of_level::WIDTH), size[0]);
        number(row(of_level::OFFSET), levels.offsets[level as usize]);
        number(row(of_level::SLICE), size[0] * size[1]);
    }
}
