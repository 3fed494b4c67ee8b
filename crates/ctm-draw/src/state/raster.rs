//! State of the rasteriser: faces, fill modes, depth offset, points, lines, samples.

use crate::rect::{FARTHEST, PixelPlace, PositionUnit, Rect};

/// Where the samples of a pixel lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePattern {
    /// How many: 1, 2, 3, 4, 6 or 8.
    pub count: u32,
    /// Right of and below the pixel's centre, in 16 units: 1/16 of a pixel, or 1/12 with [`PositionUnit::Of192`]; -8..=7.
    pub at: [[i8; 2]; 8],
}

impl SamplePattern {
    /// One sample in the centre.
    pub const ONE: Self = Self { count: 1, at: [[0; 2]; 8] };
    /// The usual places of two.
    pub const TWO: Self = Self { count: 2, at: [[-4, 4], [4, -4], [0; 2], [0; 2], [0; 2], [0; 2], [0; 2], [0; 2]] };
    /// The usual places of four.
    pub const FOUR: Self = Self { count: 4, at: [[-2, -2], [2, 2], [-6, 6], [6, -6], [0; 2], [0; 2], [0; 2], [0; 2]] };
    /// The usual places of eight.
    pub const EIGHT: Self =
        Self { count: 8, at: [[-1, 1], [1, 5], [3, -5], [5, 3], [-7, -1], [-3, -7], [7, -3], [-5, 7]] };

    /// The usual places of `count` samples; of 1, 2, 4 or 8.
    #[must_use]
    pub const fn of(count: u32) -> Option<Self> {
        match count {
            1 => Some(Self::ONE),
            2 => Some(Self::TWO),
            4 => Some(Self::FOUR),
            8 => Some(Self::EIGHT),
            _ => None,
        }
    }

    /// The mask of all samples.
    #[must_use]
    pub const fn all(&self) -> u8 {
        if self.count >= 8 { u8::MAX } else { (1 << self.count) - 1 }
    }
}

/// How positions are brought onto the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// Down to the next multiple. UNVERIFIED: towards zero instead; a card that draws left of column 0 would settle it.
    #[default]
    Truncate,
    /// To the nearest, halves up.
    Nearest,
    /// To the nearest, halves to the even multiple.
    NearestEven,
    /// To the nearest, halves to the odd multiple.
    NearestOdd,
}

/// The fill mode of a face of triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fill {
    /// Its vertices.
    Points,
    /// Its edges.
    Lines,
    /// Its area.
    #[default]
    Triangles,
}

/// The offset of a primitive's depth: `m * scale + r * units`, m being the larger of its slopes in depth per pixel and r the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthOffset {
    /// Factor of the slope.
    pub scale: f32,
    /// Factor of the step.
    pub units: f32,
    /// The sum is at most this if it is above 0, and at least this if it is below.
    pub clamp: f32,
}

/// The step of [`DepthOffset`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthStep {
    /// `2^n`.
    Fixed(i8),
    /// `2^n` times the power of two of the primitive's largest depth.
    Float(i8),
}

/// A pattern that cuts lines into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stipple {
    /// Bit k says whether step k is drawn; bit 0 is the first.
    pub pattern: u16,
    /// Pixels of a step, 1..=256.
    pub repeat: u16,
    /// Bit 15 is the first.
    pub high_first: bool,
    /// It restarts with every line, instead of every strip or draw.
    pub restarts: bool,
}

/// From primitives to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RasterState {
    /// Triangles whose vertices follow each other clockwise, as seen with row 0 on top, are front faces.
    pub clockwise_is_front: bool,
    /// Front faces are dropped.
    pub cull_front: bool,
    /// Back faces are dropped.
    pub cull_back: bool,
    /// The fill mode of front faces.
    pub fill_front: Fill,
    /// The fill mode of back faces.
    pub fill_back: Fill,
    /// Added to the depth of front faces, in any fill mode.
    pub offset_front: Option<DepthOffset>,
    /// Added to the depth of back faces.
    pub offset_back: Option<DepthOffset>,
    /// Front faces' offset is added to points and lines that belong to no triangle.
    pub offset_others: bool,
    /// The step of offsets.
    pub depth_step: DepthStep,
    /// The last vertex gives flat values, instead of the first.
    pub last_provokes: bool,
    /// All parameters are linear in the window.
    pub no_perspective: bool,
    /// Pixel (0, 0) has its centre at (0.5, 0.5), instead of (0, 0).
    pub half_pixel_centres: bool,
    /// How positions are brought onto the grid.
    pub rounding: Rounding,
    /// The unit of positions.
    pub unit: PositionUnit,
    /// Positions are multiples of this many units: 1, 16, 32, 64, 128 or 256.
    pub grid: u16,
    /// Width and height of points, in pixels, unless the program exports a size.
    pub point_size: [f32; 2],
    /// Smallest and largest exported size of points.
    pub point_limits: [f32; 2],
    /// Width of lines, in pixels.
    pub line_width: f32,
    /// Lines are rectangles across their direction, instead of columns or rows of pixels.
    pub rectangular_lines: bool,
    /// A pattern for lines.
    pub stipple: Option<Stipple>,
    /// Only pixels in it are drawn.
    pub scissor: Rect,
    /// Up to four rectangles, and the rule of their combinations: a pixel is drawn if bit n of the rule is set, bit k of n being set where the pixel
    /// lies in rectangle k.
    pub clip_rectangles: Option<([Rect; 4], u16)>,
    /// The samples of a pixel.
    pub samples: SamplePattern,
    /// Samples are covered one by one; otherwise all as the centre.
    pub multisample: bool,
    /// Samples that may be covered, of each pixel of a quad.
    pub sample_mask: [u8; 4],
    /// The pixel program runs for each sample.
    pub per_sample: bool,
}

impl Default for RasterState {
    fn default() -> Self {
        Self {
            clockwise_is_front: false,
            cull_front: false,
            cull_back: false,
            fill_front: Fill::Triangles,
            fill_back: Fill::Triangles,
            offset_front: None,
            offset_back: None,
            offset_others: false,
            depth_step: DepthStep::Fixed(-24),
            last_provokes: true,
            no_perspective: false,
            half_pixel_centres: true,
            rounding: Rounding::Truncate,
            unit: PositionUnit::Of256,
            grid: 1,
            point_size: [1.0; 2],
            point_limits: [1.0, 8192.0],
            line_width: 1.0,
            rectangular_lines: false,
            stipple: None,
            scissor: Rect { left: 0, top: 0, right: 16384, bottom: 16384 },
            clip_rectangles: None,
            samples: SamplePattern::ONE,
            multisample: true,
            sample_mask: [0xff; 4],
            per_sample: false,
        }
    }
}

/// Sums with it from 2^52 to 2^53 are whole numbers, and so are their last bits.
const WHOLE: f64 = (3u64 << 51) as f64;

/// The nearest whole number, of two the even one, of a number whose magnitude is below 2^51.
#[inline(always)]
fn nearest_even(of: f64) -> f64 {
    of + WHOLE - WHOLE
}

/// The floor of a number whose magnitude is below 2^51, without the library call that plain processors need.
#[inline(always)]
fn floor(of: f64) -> f64 {
    let nearest = nearest_even(of);
    if nearest > of { nearest - 1.0 } else { nearest }
}

/// A whole number whose magnitude is below 2^51, without the conversion that has no vectors.
#[inline(always)]
const fn whole(of: f64) -> i64 {
    (of + WHOLE).to_bits().cast_signed() - WHOLE.to_bits().cast_signed()
}

impl RasterState {
    /// A coordinate in pixels as units on the grid. Coordinates that are too far away are clamped ([`FARTHEST`]).
    #[must_use]
    pub fn snap(&self, pixels: f64) -> i64 {
        self.snap_all([pixels])[0]
    }

    /// The same of several coordinates.
    #[inline(always)]
    pub(crate) fn snap_all<const N: usize>(&self, pixels: [f64; N]) -> [i64; N] {
        let (grid, unit) = (f64::from(self.grid.clamp(1, 256)), self.unit.count() as f64);
        let mut at = pixels;
        for at in &mut at {
            let number = if at.is_nan() { 0.0 } else { *at };
            *at = number.clamp(-FARTHEST, FARTHEST) * unit;
        }
        if grid != 1.0 {
            // A division takes longer than all the rest.
            at.iter_mut().for_each(|at| *at /= grid);
        }
        match self.rounding {
            Rounding::Truncate => at.iter_mut().for_each(|at| *at = floor(*at)),
            Rounding::Nearest => at.iter_mut().for_each(|at| *at = floor(*at + 0.5)),
            Rounding::NearestEven => at.iter_mut().for_each(|at| *at = nearest_even(*at)),
            Rounding::NearestOdd => {
                for at in &mut at {
                    let below = floor(*at);
                    let odd = below + f64::from(u8::from(whole(below) & 1 == 0));
                    *at = if *at - below == 0.5 { odd } else { nearest_even(*at) };
                }
            }
        }
        let mut units = [0; N];
        // Products of whole numbers, which are exact.
        units.iter_mut().zip(at).for_each(|(units, at)| *units = whole(at * grid));
        units
    }

    /// Whether faces of a side are dropped, their fill mode, and their depth offset.
    #[must_use]
    pub const fn of_face(&self, is_front: bool) -> (bool, Fill, Option<DepthOffset>) {
        if is_front {
            (self.cull_front, self.fill_front, self.offset_front)
        } else {
            (self.cull_back, self.fill_back, self.offset_back)
        }
    }

    /// Where the centre of pixel 0 lies, in units.
    #[must_use]
    pub const fn centre(&self) -> i64 {
        if self.half_pixel_centres { self.unit.count() / 2 } else { 0 }
    }

    /// The places of samples, in units from the first corner of a pixel that a position names, and the mask of each.
    #[must_use]
    pub fn sample_points(&self) -> SamplePoints {
        let centre = self.centre();
        let mut points = SamplePoints { unit: self.unit, count: 0, at: [[centre; 2]; 8], masks: [0; 8] };
        if self.multisample && self.samples.count > 1 {
            for (n, [x, y]) in self.samples.at.into_iter().enumerate().take(self.samples.count.min(8) as usize) {
                points.at[n] = [centre + 16 * i64::from(x), centre + 16 * i64::from(y)];
                points.masks[n] = 1 << n;
                points.count += 1;
            }
        } else {
            (points.count, points.masks[0]) = (1, self.samples.all());
        }
        points
    }

    /// Whether clip rectangles let a pixel be drawn.
    #[must_use]
    pub fn passes_clip_rectangles(&self, x: i32, y: i32) -> bool {
        let Some((rectangles, rule)) = &self.clip_rectangles else { return true };
        let inside = rectangles.iter().enumerate().fold(0, |n, (k, r)| n | u16::from(r.contains(x, y)) << k);
        rule >> inside & 1 == 1
    }
}

/// The places in every pixel at which coverage is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePoints {
    /// The unit of places.
    pub unit: PositionUnit,
    /// How many places.
    pub count: usize,
    /// Right and below, in units, from the corner that the pixel's numbers name.
    pub at: [[i64; 2]; 8],
    /// The samples that are covered where the place is.
    pub masks: [u8; 8],
}

impl SamplePoints {
    /// The first place.
    #[must_use]
    pub const fn first(&self) -> PixelPlace {
        PixelPlace { unit: self.unit, at: self.at[0] }
    }

    /// The places with their masks.
    pub fn iter(&self) -> impl Iterator<Item = ([i64; 2], u8)> + '_ {
        self.at.iter().copied().zip(self.masks).take(self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_brought_onto_the_grid() {
        let state = |rounding, grid| RasterState { rounding, grid, ..RasterState::default() };
        let at = 1.0 + 0.5 / 256.0;
        assert_eq!(state(Rounding::Truncate, 1).snap(at), 256);
        assert_eq!(state(Rounding::Truncate, 1).snap(-at), -257);
        assert_eq!(state(Rounding::Nearest, 1).snap(at), 257);
        assert_eq!(state(Rounding::NearestEven, 1).snap(at), 256);
        assert_eq!(state(Rounding::NearestOdd, 1).snap(at), 257);
        assert_eq!(state(Rounding::NearestOdd, 1).snap(at + 1.0 / 256.0), 257);
        assert_eq!(state(Rounding::NearestEven, 16).snap(3.0 / 32.0 + 1.0), 256 + 32);
        for n in -40_000i32..40_000 {
            // Multiples of an eighth of a unit, and others.
            for pixels in [f64::from(n) / 2048.0, f64::from(n) * 26.2143] {
                let units = pixels * 256.0;
                assert_eq!(state(Rounding::Truncate, 1).snap(pixels), units.floor() as i64);
                assert_eq!(state(Rounding::Nearest, 1).snap(pixels), (units + 0.5).floor() as i64);
                assert_eq!(state(Rounding::NearestEven, 1).snap(pixels), units.round_ties_even() as i64);
            }
        }
        assert_eq!(state(Rounding::Truncate, 256).snap(7.9), 7 * 256);
        assert_eq!(state(Rounding::Truncate, 1).snap(1e300), 256 << 20);
        assert_eq!(state(Rounding::Truncate, 1).snap(f64::NEG_INFINITY), -(256 << 20));
        assert_eq!(state(Rounding::Nearest, 1).snap(f64::NAN), 0);
    }

    #[test]
    fn clip_rectangles_follow_their_rule() {
        let small = Rect { left: 2, top: 2, right: 4, bottom: 4 };
        let none = Rect { left: 0, top: 0, right: 0, bottom: 0 };
        let state = RasterState { clip_rectangles: Some(([small, none, none, none], 0b10)), ..RasterState::default() };
        assert!(state.passes_clip_rectangles(2, 3));
        assert!(!state.passes_clip_rectangles(4, 3));
    }
}
