//! Lines: by OpenGL's diamond-exit rule, and as rectangles across their direction.

use crate::rect::{PositionUnit, Rect};
use crate::state::RasterState;
use std::cmp::Ordering;

/// The pixels of a line that is drawn as columns or rows of pixels (OpenGL 3.3, 3.5.1).
///
/// A line is wider than high, or not. In the first case it has a column of pixels in each column it passes, as many as it is
/// wide; in the second case rows and columns change places. Of the first and last columns, those have a pixel whose diamond the line
/// leaves: the points less than half a pixel from the centre, columns and rows added. So of lines that follow one another no pixel is
/// drawn twice. Points on borders are decided as if all positions lay less to the right by a very little, and higher up by much less than that.
#[derive(Clone, Debug)]
pub struct LinePixels {
    /// From a row above to a row below, or from left to right: which coordinate steps.
    steep: bool,
    unit: PositionUnit,
    /// Along and across, in units from the centre of pixel 0.
    start: [i64; 2],
    end: [i64; 2],
    /// How many pixels across.
    width: i64,
    next: i64,
    last: i64,
    step: i64,
    done: bool,
}

impl LinePixels {
    /// The line between two positions in units, `width` pixels wide (at least 1).
    #[must_use]
    pub fn new(from: [i64; 2], to: [i64; 2], width: i64, raster: &RasterState) -> Self {
        let (unit, centre) = (raster.unit, raster.centre());
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let steep = dy.abs() > dx.abs();
        let turned = |[x, y]: [i64; 2]| if steep { [y - centre, x - centre] } else { [x - centre, y - centre] };
        let (start, end) = (turned(from), turned(to));
        let step = if end[0] >= start[0] { 1 } else { -1 };
        let mut line = Self { steep, unit, start, end, width: width.max(1), next: 0, last: 0, step, done: false };
        // Columns whose centre lies between. Positions on centres lie before them, seen from the left.
        let (a, b) = (start[0] * step, end[0] * step);
        let past = |at: i64| unit.pixel(at) + i64::from(at.rem_euclid(unit.count()) != 0 || step < 0);
        let (first, last) = (past(a), past(b) - 1);
        (line.next, line.last) = (first, last);
        // After the centre of the column before, the line may still begin in its diamond.
        if line.leaves(start, (first - 1) * step) {
            line.next = first - 1;
        }
        // It ends in the diamond of the last column, or has not reached the next one: that one has no pixel.
        if last >= line.next && line.leaves(end, last * step) {
            line.last = last - 1;
        }
        // The last point lies short of the next column's centre, and yet in its diamond: not left. Nothing to add.
        line.done = line.next > line.last;
        line
    }

    /// Whether a point lies in the diamond of the pixel that the line has in a column. Of the points on its border those right of the centre do.
    fn leaves(&self, point: [i64; 2], column: i64) -> bool {
        let units = self.unit.count();
        let along = point[0] - column * units;
        let across = point[1] - self.row(column) * units;
        let right = if self.steep { across } else { along };
        match (along.abs() + across.abs()).cmp(&(units / 2)) {
            Ordering::Less => true,
            Ordering::Equal => right > 0,
            Ordering::Greater => false,
        }
    }

    /// The pixel across in a column: the one whose centre is nearest to the line there. Halfway between, it is the left one of two columns; of two rows, the
    /// one into which the line goes to the right, the upper one of a level line.
    fn row(&self, column: i64) -> i64 {
        let units = self.unit.count();
        let (length, rise) = (self.end[0] - self.start[0], self.end[1] - self.start[1]);
        // across = start + rise * (column - start) / length, in units; plus half a pixel, in whole pixels.
        let (mut above, mut below) =
            ((self.start[1] + units / 2) * length + rise * (column * units - self.start[0]), length * units);
        if below < 0 {
            (above, below) = (-above, -below);
        }
        if below == 0 {
            // A line without length.
            (above, below) = (self.start[1] + units / 2, units);
        }
        let falls = !self.steep && length.signum() * rise > 0;
        above.div_euclid(below) - i64::from(above.rem_euclid(below) == 0 && !falls)
    }
}

impl Iterator for LinePixels {
    /// The pixels of one column or row: the first, the last, and the count of steps along before them.
    type Item = ([i64; 2], [i64; 2]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let column = self.next * self.step;
        self.next += 1;
        self.done = self.next > self.last;
        // `width` pixels, as evenly on both sides as possible (OpenGL 3.3, 3.5.2.1).
        let first = {
            let shifted = Self { start: self.moved(self.start), end: self.moved(self.end), ..self.clone() };
            shifted.row(column)
        };
        let last = first + self.width - 1;
        Some(if self.steep { ([first, column], [last, column]) } else { ([column, first], [column, last]) })
    }
}

impl LinePixels {
    /// How many columns or rows are left.
    #[must_use]
    pub const fn left(&self) -> u64 {
        if self.done { 0 } else { (self.last - self.next + 1) as u64 }
    }

    /// Leaves out the part outside of a rectangle along the line's direction; returns how many columns or rows were left out at its beginning.
    pub fn cut(&mut self, within: Rect) -> u64 {
        if self.done {
            return 0;
        }
        let (low, high) = if self.steep { (within.top, within.bottom) } else { (within.left, within.right) };
        let (low, high) = (i64::from(low), i64::from(high) - 1);
        let (first, last) = if self.step > 0 { (low, high) } else { (-high, -low) };
        let skipped = (first - self.next).clamp(0, self.last - self.next + 1);
        self.next += skipped;
        self.last = self.last.min(last);
        self.done = self.next > self.last;
        skipped as u64
    }

    /// A point, moved across so that the first of all pixels is the nearest one.
    const fn moved(&self, [along, across]: [i64; 2]) -> [i64; 2] {
        [along, across - (self.width - 1) * self.unit.count() / 2]
    }
}

/// The corners, in either direction, of a line that is a rectangle: to both sides of each end by half the width across its direction. `None` of a
/// line without length.
#[must_use]
pub fn wide_line(state: &RasterState, from: [i64; 2], to: [i64; 2]) -> Option<[[i64; 2]; 4]> {
    #[allow(clippy::cast_precision_loss, reason = "positions are limited")]
    let [fx, fy, tx, ty] = [from[0], from[1], to[0], to[1]].map(|at| state.unit.in_pixels(at));
    let (dx, dy) = (tx - fx, ty - fy);
    let length = dx.hypot(dy);
    if length == 0.0 {
        return None;
    }
    let half = f64::from(state.line_width) / 2.0 / length;
    let (ox, oy) = (-dy * half, dx * half);
    let corner = |x: f64, y: f64| [state.snap(x), state.snap(y)];
    Some([corner(fx + ox, fy + oy), corner(tx + ox, ty + oy), corner(tx - ox, ty - oy), corner(fx - ox, fy - oy)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(from: [f64; 2], to: [f64; 2], width: i64) -> Vec<[i64; 2]> {
        let state = RasterState::default();
        let units = |[x, y]: [f64; 2]| [state.snap(x), state.snap(y)];
        let mut all = Vec::new();
        for ([x0, y0], [x1, y1]) in LinePixels::new(units(from), units(to), width, &state) {
            for y in y0..=y1 {
                for x in x0..=x1 {
                    all.push([x, y]);
                }
            }
        }
        all
    }

    #[test]
    fn straight_lines_have_the_pixels_they_leave() {
        assert_eq!(pixels([0.5, 0.5], [3.5, 0.5], 1), [[0, 0], [1, 0], [2, 0]]);
        assert_eq!(pixels([3.5, 0.5], [0.5, 0.5], 1), [[3, 0], [2, 0], [1, 0]]);
        assert_eq!(pixels([0.5, 0.5], [0.5, 2.5], 1), [[0, 0], [0, 1]]);
        assert_eq!(pixels([0.7, 0.5], [2.9, 0.5], 1), [[0, 0], [1, 0]]);
        // The end lies on the border of a diamond: inside on its right, outside on its left.
        assert_eq!(pixels([0.5, 0.5], [3.0, 0.5], 1), [[0, 0], [1, 0]]);
        assert_eq!(pixels([3.5, 0.5], [1.0, 0.5], 1), [[3, 0], [2, 0], [1, 0]]);
        assert_eq!(pixels([0.5, 0.5], [0.6, 0.5], 1), <[[i64; 2]; 0]>::default());
        assert_eq!(pixels([0.5, 0.5], [0.5, 0.5], 1), <[[i64; 2]; 0]>::default());
        assert_eq!(pixels([0.5, 0.5], [2.5, 2.5], 1), [[0, 0], [1, 1]]);
    }

    #[test]
    fn wide_lines_lie_on_both_sides() {
        assert_eq!(pixels([0.5, 4.5], [1.5, 4.5], 3), [[0, 3], [0, 4], [0, 5]]);
        assert_eq!(pixels([4.5, 0.5], [4.5, 1.5], 2), [[3, 0], [4, 0]]);
    }

    /// Truth: the definition of OpenGL 3.3 (3.5.1), with a line's crossing of diamonds computed apart, in small steps.
    #[test]
    fn strips_draw_every_pixel_once() {
        let mut state = 1u32;
        let mut random = |most: u32| {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            f64::from(state >> 8 & 0xffff) / 65536.0 * f64::from(most)
        };
        for _ in 0..2000 {
            let [a, b] = [[random(40), random(40)], [random(40), random(40)]];
            let middle = [f64::midpoint(a[0], b[0]), f64::midpoint(a[1], b[1])];
            // Both halves of a line, on a grid that makes them one line.
            let grid = |p: [f64; 2]| p.map(|c| (c * 4.0).round() / 4.0);
            let (a, b, middle) = (grid(a), grid(b), grid(middle));
            let first = pixels(a, middle, 1);
            for pixel in pixels(middle, b, 1) {
                let joint = (0..2).all(|c| (pixel[c] as f64 + 0.5 - middle[c]).abs() < 1.5);
                assert!(!first.contains(&pixel) || joint, "{a:?} {middle:?} {b:?}: {pixel:?} twice");
            }
        }
    }

    #[test]
    fn each_pixel_is_one_whose_diamond_the_line_leaves() {
        let mut state = 7u32;
        let mut random = || {
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            f64::from(state >> 8 & 0xff_ffff) / 16_777_216.0 * 12.0
        };
        for _ in 0..400 {
            let on_grid = |c: f64| (c * 256.0).floor() / 256.0;
            let (a, b) = ([on_grid(random()), on_grid(random())], [on_grid(random()), on_grid(random())]);
            let found = pixels(a, b, 1);
            for y in -1..13i64 {
                for x in -1..13i64 {
                    let from_centre = |t: f64| {
                        let at = |c: usize| a[c] + (b[c] - a[c]) * t - [x, y][c] as f64 - 0.5;
                        at(0).abs() + at(1).abs()
                    };
                    let nearest = (0..=1500).map(|n| from_centre(f64::from(n) / 1500.0)).fold(f64::MAX, f64::min);
                    // Where the definition is not a matter of a hair's breadth.
                    let clearly = |d: f64| (d - 0.5).abs() > 0.01;
                    if !clearly(nearest) || !clearly(from_centre(1.0)) {
                        continue;
                    }
                    let leaves = nearest < 0.5 && from_centre(1.0) > 0.5;
                    assert_eq!(found.contains(&[x, y]), leaves, "{a:?} {b:?} pixel ({x}, {y})");
                }
            }
        }
    }
}
