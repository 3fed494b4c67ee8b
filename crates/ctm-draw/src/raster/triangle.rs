//! Coverage of triangles and of boxes with sides along rows and columns.

use super::QuadCoverage;
use crate::lanes::{COLUMNS, LANES, ROWS, Shape, bits};
use crate::rect::{PixelPlace, Rect};
use crate::state::SamplePoints;

/// A triangle with positions on the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// x and y of each vertex, in units.
    pub at: [[i64; 2]; 3],
    /// Twice its area: positive where vertices follow each other clockwise, as seen with row 0 on top.
    pub area: i64,
}

impl Triangle {
    /// Of three positions.
    #[must_use]
    pub const fn new(at: [[i64; 2]; 3]) -> Self {
        let [[x0, y0], [x1, y1], [x2, y2]] = at;
        Self { at, area: (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0) }
    }
}

impl Triangle {
    /// Its edges, clockwise; `None` of triangles without area.
    const fn edges(&self) -> Option<[Edge; 3]> {
        let [a, b, c] = self.at;
        match self.area {
            0 => None,
            1.. => Some([Edge::new(a, b), Edge::new(b, c), Edge::new(c, a)]),
            _ => Some([Edge::new(a, c), Edge::new(c, b), Edge::new(b, a)]),
        }
    }
}

/// One edge: `dx * (y - y0) - dy * (x - x0)` is positive inside. On the edge, samples belong to the triangle if it is a left or a top one.
#[derive(Clone, Copy, Debug)]
struct Edge {
    dx: i64,
    dy: i64,
    /// The value at the origin, less one where samples on the edge do not belong to the triangle: values inside are not negative.
    start: i64,
}

impl Edge {
    const fn new([ax, ay]: [i64; 2], [bx, by]: [i64; 2]) -> Self {
        let (dx, dy) = (bx - ax, by - ay);
        let owns = dy < 0 || (dy == 0 && dx > 0);
        Self { dx, dy, start: dy * ax - dx * ay - if owns { 0 } else { 1 } }
    }

    const fn at(&self, x: i64, y: i64) -> i64 {
        self.dx * y - self.dy * x + self.start
    }
}

impl Edge {
    /// The first and the last column of a row whose pixels are inside, tested in this place of each; the last before the first where none is.
    const fn columns(&self, row: i64, PixelPlace { unit, at: [x, y] }: PixelPlace) -> [i64; 2] {
        // Inside: dx * y + start - dy * (units * column + x) is not negative.
        let rest = self.dx * (row * unit.count() + y) + self.start - self.dy * x;
        let step = self.dy * unit.count();
        match step {
            0 if rest >= 0 => [i64::MIN, i64::MAX],
            0 => [i64::MAX, i64::MIN],
            1.. => [i64::MIN, rest.div_euclid(step)],
            _ => [-rest.div_euclid(-step), i64::MAX],
        }
    }
}

/// Calls `tell` with the rows of a rectangle in which a triangle covers pixels, tested in one place of each: with the first column and the one after
/// the last.
#[allow(clippy::cast_possible_truncation, reason = "cut to the rectangle")]
pub fn triangle_spans(triangle: &Triangle, place: PixelPlace, within: Rect, tell: &mut dyn FnMut(i32, i32, i32)) {
    let Some(edges) = triangle.edges() else { return };
    for y in within.top..within.bottom {
        let (mut left, mut right) = (i64::from(within.left), i64::from(within.right));
        for edge in &edges {
            let [first, last] = edge.columns(y.into(), place);
            (left, right) = (left.max(first), right.min(last.saturating_add(1)));
        }
        if left < right {
            tell(y, left as i32, right as i32);
        }
    }
}

/// Columns whose pixels a triangle covers in every row of a rectangle, tested in one place of each: the rectangle, cut to them.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "cut to the rectangle")]
pub fn inside_triangle(triangle: &Triangle, place: PixelPlace, within: Rect) -> Rect {
    let (mut left, mut right) = (i64::from(within.left), i64::from(within.right));
    for edge in triangle.edges().into_iter().flatten() {
        // Between two rows that are inside all are: the triangle is convex.
        for row in [within.top, within.bottom - 1] {
            let [first, last] = edge.columns(row.into(), place);
            (left, right) = (left.max(first), right.min(last.saturating_add(1)));
        }
    }
    let is_some = triangle.area != 0 && left < right && within.top < within.bottom;
    if is_some {
        Rect { left: left as i32, right: right as i32, ..within }
    } else {
        Rect { right: within.left, ..within }
    }
}

/// The edges of a triangle whose pixels are tested in this place of each: their values at pixel (0, 0), and their changes by column and row. `None` where it has
/// no area, or values become too large for 32 bits in a rectangle.
#[inline]
fn planes_within(triangle: &Triangle, place: PixelPlace, rect: Rect) -> Option<[[i64; 3]; 3]> {
    let (units, [x, y]) = (place.unit.count(), place.at);
    let planes = triangle.edges()?.map(|edge| [edge.at(x, y), -edge.dy * units, edge.dx * units]);
    let fits = |[start, di, dj]: [i64; 3]| {
        let at = |x: i32, y: i32| (start + i64::from(x) * di + i64::from(y) * dj).abs();
        let most = at(rect.left, rect.top).max(at(rect.right, rect.top));
        most.max(at(rect.left, rect.bottom)).max(at(rect.right, rect.bottom)) < 1 << 30
    };
    planes.into_iter().all(fits).then_some(planes)
}

/// Edges of a small triangle for quads, in numbers of 32 bits.
pub(crate) struct QuadEdges {
    /// As of [`planes_within`].
    planes: [[i64; 3]; 3],
    /// The differences of a quad's pixels from the first one.
    steps: [[i32; 4]; 3],
}

impl QuadEdges {
    /// The edges of a triangle whose pixels are tested in this place of each; `None` where it has no area, or numbers become too large in a rectangle
    /// of whole quads.
    #[inline]
    pub(crate) fn new(triangle: &Triangle, place: PixelPlace, rect: Rect) -> Option<Self> {
        let planes = planes_within(triangle, place, rect)?;
        // The changes fit, as the sides of a quad do.
        let steps = planes.map(|[_, di, dj]| [0, di as i32, dj as i32, (di as i32).wrapping_add(dj as i32)]);
        Some(Self { planes, steps })
    }

    /// The pixels of a quad that are covered (bit 0 is the first).
    #[inline(always)]
    pub(crate) fn covered(&self, [x, y]: [i32; 2]) -> u32 {
        // Loops alone: see [`BlockEdges::covered`].
        let mut outside = [0u32; 4];
        for (&[start, di, dj], steps) in self.planes.iter().zip(&self.steps) {
            let first = (start + i64::from(x) * di + i64::from(y) * dj) as i32;
            for (outside, step) in outside.iter_mut().zip(steps) {
                // Negative where one of them is.
                *outside |= first.wrapping_add(*step).cast_unsigned();
            }
        }
        for outside in &mut outside {
            *outside = !(outside.cast_signed() >> 31).cast_unsigned();
        }
        bits(&outside)
    }
}

/// Edges of a triangle for blocks of lanes, in numbers of 32 bits.
pub(crate) struct BlockEdges {
    /// The first pixel of the rectangle.
    from: [i32; 2],
    /// The values there, and their changes by column and row.
    planes: [[i32; 3]; 3],
    /// The offset of each lane from the first one.
    steps: [[i32; LANES]; 3],
}

impl BlockEdges {
    /// The edges of a triangle whose pixels are tested in this place of each; `None` where it has no area, or numbers become too large in a rectangle
    /// of whole blocks.
    #[inline]
    pub(crate) fn new(triangle: &Triangle, place: PixelPlace, rect: Rect) -> Option<Self> {
        let large = planes_within(triangle, place, rect)?;
        let from = [rect.left, rect.top];
        let (mut planes, mut steps) = ([[0; 3]; 3], [[0i32; LANES]; 3]);
        for n in 0..3 {
            let [start, di, dj] = large[n];
            let value = start + i64::from(from[0]) * di + i64::from(from[1]) * dj;
            // Values fit, and so do their changes, as the sides of a block do.
            let [di, dj] = [di as i32, dj as i32];
            planes[n] = [value as i32, di, dj];
            // Each bit of a lane's number adds columns or rows.
            for power in 0..LANES.ilog2() {
                let bit = 1 << power;
                let [x, y] = Shape::Block.at(bit);
                let by = x.wrapping_mul(di).wrapping_add(y.wrapping_mul(dj));
                for lane in 0..bit {
                    steps[n][lane + bit] = steps[n][lane].wrapping_add(by);
                }
            }
        }
        Some(Self { from, planes, steps })
    }

    /// Of blocks side by side, from the one at this pixel on: those with pixels that may be covered, and those whose pixels all are (bit n: block n).
    #[inline(always)]
    pub(crate) fn row(&self, at: [i32; 2]) -> [u32; 2] {
        // Loops alone: in a function for other vectors, compilers leave calls of closures as calls.
        let (mut least_of_all, mut most_of_all) = ([0; BLOCKS], [0; BLOCKS]);
        let firsts = self.firsts(at);
        for (&first, &[_, di, dj]) in firsts.iter().zip(&self.planes) {
            // Values change in one direction along a row or a column, so the least and the largest are in corners.
            let (right, down) = ((COLUMNS - 1).wrapping_mul(di), (ROWS - 1).wrapping_mul(dj));
            let least = first.wrapping_add(right.min(0)).wrapping_add(down.min(0));
            let most = first.wrapping_add(right.max(0)).wrapping_add(down.max(0));
            let by = COLUMNS.wrapping_mul(di);
            for n in 0..BLOCKS {
                let along = by.wrapping_mul(n as i32);
                // Negative where one of them is.
                least_of_all[n] |= least.wrapping_add(along);
                most_of_all[n] |= most.wrapping_add(along);
            }
        }
        let (mut all, mut may) = ([0; BLOCKS], [0; BLOCKS]);
        for n in 0..BLOCKS {
            all[n] = !(least_of_all[n] >> 31).cast_unsigned();
            may[n] = !(most_of_all[n] >> 31).cast_unsigned();
        }
        [bits(&may), bits(&all)]
    }

    /// The values of edges at a pixel of the rectangle.
    #[inline(always)]
    fn firsts(&self, [x, y]: [i32; 2]) -> [i32; 3] {
        let (x, y) = (x - self.from[0], y - self.from[1]);
        let mut firsts = [0; 3];
        for (to, &[first, di, dj]) in firsts.iter_mut().zip(&self.planes) {
            *to = first.wrapping_add(x.wrapping_mul(di)).wrapping_add(y.wrapping_mul(dj));
        }
        firsts
    }

    /// The lanes of the block at this pixel that are covered.
    #[inline(always)]
    pub(crate) fn covered(&self, at: [i32; 2]) -> u32 {
        let first = self.firsts(at);
        let mut masks = [0; LANES];
        for (n, mask) in masks.iter_mut().enumerate() {
            // Negative where one of them is.
            let [a, b, c] = &self.steps;
            let all = first[0].wrapping_add(a[n]) | first[1].wrapping_add(b[n]) | first[2].wrapping_add(c[n]);
            *mask = !(all >> 31).cast_unsigned();
        }
        bits(&masks)
    }
}

/// Blocks that are looked at together.
pub(crate) const BLOCKS: usize = 8;

/// Side of the blocks of pixels that are tested as a whole.
const BLOCK: i32 = 8;

/// Side of rectangles whose pixels are tested one by one.
const SMALL: i32 = 4;

/// Pixels of the box around these positions that may have a covered sample, cut by a scissor.
#[allow(clippy::cast_possible_truncation, reason = "positions are limited")]
#[inline]
pub(crate) fn around(at: &[[i64; 2]], points: &SamplePoints, scissor: Rect) -> Rect {
    let range = |axis: usize| {
        let least = at.iter().map(|p| p[axis]).min().unwrap_or(0);
        let most = at.iter().map(|p| p[axis]).max().unwrap_or(0);
        let [mut first, mut last] = [points.at[0][axis]; 2];
        if points.count > 1 {
            for (place, _) in points.iter() {
                (first, last) = (first.max(place[axis]), last.min(place[axis]));
            }
        }
        // A sample at pixel * units + place lies in least..=most.
        let from = points.unit.pixel(least - first);
        let to = points.unit.pixel(most - last) + 1;
        (from as i32, to as i32)
    };
    let ((left, right), (top, bottom)) = (range(0), range(1));
    Rect { left, top, right, bottom }.and(scissor)
}

/// Calls `emit` with the quads of which a triangle covers a sample, row of blocks by row of blocks. Triangles without area cover nothing.
pub fn cover_triangle(triangle: &Triangle, points: &SamplePoints, scissor: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
    triangle_quads(triangle, points, around(&triangle.at, points, scissor), emit);
}

/// The same within a rectangle that contains all of the triangle's pixels, or the requested ones.
pub(crate) fn triangle_quads(
    triangle: &Triangle,
    points: &SamplePoints,
    bounds: Rect,
    emit: &mut dyn FnMut(QuadCoverage),
) {
    let (Some(edges), unit) = (triangle.edges(), points.unit) else { return };
    if bounds.is_empty() {
        return;
    }
    if points.count == 1 && bounds.right - bounds.left <= SMALL && bounds.bottom - bounds.top <= SMALL {
        small_quads(&edges, points, bounds, emit);
        return;
    }
    // Each edge's difference from a pixel's corner to each place, and the least and greatest.
    let mut all_places = [[0; 3]; 8];
    for (place, ([x, y], _)) in all_places.iter_mut().zip(points.iter()) {
        *place = edges.map(|edge| edge.dx * y - edge.dy * x);
    }
    let places = &all_places[..points.count.min(8)];
    let extreme = |edge: usize, pick: fn(i64, i64) -> i64| {
        let of_places = places.iter().map(|place| place[edge]).reduce(pick).unwrap_or(0);
        let across = unit.corner(BLOCK - 1);
        of_places + pick(0, edges[edge].dx * across) + pick(0, -edges[edge].dy * across)
    };
    let most: [i64; 3] = std::array::from_fn(|edge| extreme(edge, i64::max));
    let least: [i64; 3] = std::array::from_fn(|edge| extreme(edge, i64::min));
    let all = points.iter().fold(0, |all, (_, mask)| all | mask);
    let mut block_y = bounds.top.div_euclid(BLOCK) * BLOCK;
    while block_y < bounds.bottom {
        let mut block_x = bounds.left.div_euclid(BLOCK) * BLOCK;
        while block_x < bounds.right {
            let corner: [i64; 3] = std::array::from_fn(|n| edges[n].at(unit.corner(block_x), unit.corner(block_y)));
            if (0..3).all(|n| corner[n] + most[n] >= 0) {
                let whole = (0..3).all(|n| corner[n] + least[n] >= 0);
                let block = Rect { left: block_x, top: block_y, right: block_x + BLOCK, bottom: block_y + BLOCK };
                if whole && block.and(bounds) == block {
                    for y in (block.top..block.bottom).step_by(2) {
                        for x in (block.left..block.right).step_by(2) {
                            emit(QuadCoverage { x, y, masks: [all; 4] });
                        }
                    }
                    block_x += BLOCK;
                    continue;
                }
                block_quads(
                    block.and(bounds),
                    &mut |x, y| {
                        if whole {
                            return all;
                        }
                        let pixel: [i64; 3] = std::array::from_fn(|n| {
                            let (dx, dy) = (unit.corner(x - block_x), unit.corner(y - block_y));
                            corner[n] + edges[n].dx * dy - edges[n].dy * dx
                        });
                        let covers = |place: &[i64; 3]| (0..3).all(|n| pixel[n] + place[n] >= 0);
                        let masks = places.iter().zip(points.masks);
                        masks.filter(|(place, _)| covers(place)).fold(0, |sum, (_, mask)| sum | mask)
                    },
                    emit,
                );
            }
            block_x += BLOCK;
        }
        block_y += BLOCK;
    }
}

/// Calls `emit` with the quads of a small rectangle, tested in one place of each pixel.
fn small_quads(edges: &[Edge; 3], points: &SamplePoints, bounds: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
    let ([px, py], mask) = (points.at[0], points.masks[0]);
    // Each edge's difference from a pixel to its neighbours.
    let (unit, units) = (points.unit, points.unit.count());
    let gains = edges.each_ref().map(|edge| [-edge.dy * units, edge.dx * units]);
    let (left, top) = (bounds.left & !1, bounds.top & !1);
    for y in (top..bounds.bottom).step_by(2) {
        for x in (left..bounds.right).step_by(2) {
            let first: [i64; 3] = std::array::from_fn(|n| edges[n].at(unit.corner(x) + px, unit.corner(y) + py));
            let mut quad = QuadCoverage { x, y, masks: [0; 4] };
            for (n, place) in quad.masks.iter_mut().enumerate() {
                let (right, down) = (n as i64 & 1, n as i64 >> 1);
                // Negative if one of them is.
                let all = (0..3).fold(0, |all, k| all | (first[k] + right * gains[k][0] + down * gains[k][1]));
                let is_inside = bounds.contains(x + right as i32, y + down as i32);
                *place = if all >= 0 && is_inside { mask } else { 0 };
            }
            if quad.masks != [0; 4] {
                emit(quad);
            }
        }
    }
}

/// Calls `emit` with the covered quads of a rectangle.
fn block_quads(within: Rect, mask: &mut dyn FnMut(i32, i32) -> u8, emit: &mut dyn FnMut(QuadCoverage)) {
    let mut y = within.top & !1;
    while y < within.bottom {
        let mut x = within.left & !1;
        while x < within.right {
            let mut quad = QuadCoverage { x, y, masks: [0; 4] };
            for (n, place) in quad.masks.iter_mut().enumerate() {
                let (px, py) = (x + (n as i32 & 1), y + (n as i32 >> 1));
                if within.contains(px, py) {
                    *place = mask(px, py);
                }
            }
            if quad.masks != [0; 4] {
                emit(quad);
            }
            x += 2;
        }
        y += 2;
    }
}

/// Calls `emit` with the quads with a sample inside the box: left and top sides belong to it, right and bottom ones do not. Corners in any order.
pub fn cover_box(corners: [[i64; 2]; 2], points: &SamplePoints, scissor: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
    let [[ax, ay], [bx, by]] = corners;
    let (left, right, top, bottom) = (ax.min(bx), ax.max(bx), ay.min(by), ay.max(by));
    let bounds = around(&corners, points, scissor);
    block_quads(
        bounds,
        &mut |x, y| {
            let (x, y) = (points.unit.corner(x), points.unit.corner(y));
            let covers = |[px, py]: [i64; 2]| left <= x + px && x + px < right && top <= y + py && y + py < bottom;
            points.iter().filter(|&(place, _)| covers(place)).fold(0, |sum, (_, mask)| sum | mask)
        },
        emit,
    );
}

/// The box of a point of this width and height. Its sides are those of any box: left and top ones belong to it.
#[must_use]
pub const fn point_box([x, y]: [i64; 2], [width, height]: [i64; 2]) -> [[i64; 2]; 2] {
    let (left, top) = (x - width / 2, y - height / 2);
    [[left, top], [left + width, top + height]]
}

/// Pixels that the box covers, tested in one place of each: the rectangle, cut to them.
#[must_use]
#[allow(clippy::cast_possible_truncation, reason = "cut to the rectangle")]
pub fn inside_box(corners: [[i64; 2]; 2], PixelPlace { unit, at: [x, y] }: PixelPlace, within: Rect) -> Rect {
    let [[ax, ay], [bx, by]] = corners;
    // A pixel is inside where low <= units * pixel + place < high.
    let first = |side: i64, place: i64| -unit.pixel(place - side);
    let clamp = |at: i64, low: i32, high: i32| at.clamp(low.into(), high.into()) as i32;
    Rect {
        left: clamp(first(ax.min(bx), x), within.left, within.right),
        right: clamp(first(ax.max(bx), x), within.left, within.right),
        top: clamp(first(ay.min(by), y), within.top, within.bottom),
        bottom: clamp(first(ay.max(by), y), within.top, within.bottom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::of_quad;
    use crate::rect::PositionUnit;

    /// Truth: the pixels of quads tested one by one.
    #[test]
    fn quads_of_a_small_triangle_are_covered_alike() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % n
        };
        let scissor = Rect { left: 0, top: 0, right: 64, bottom: 64 };
        let mut covered = 0;
        for case in 0..4000 {
            let unit = [PositionUnit::Of256, PositionUnit::Of192][case % 2];
            let side = [400, 1000, 4000, 15000][case / 2 % 4];
            let corner = [below(12000) as i64 - 500, below(12000) as i64 - 500];
            let triangle = Triangle::new([0; 3].map(|_| corner.map(|at| at + below(side) as i64)));
            let points = SamplePoints { unit, count: 1, at: [[unit.count() / 2; 2]; 8], masks: [1; 8] };
            let bounds = around(&triangle.at, &points, scissor);
            if bounds.is_empty() {
                continue;
            }
            let mut expected = Vec::new();
            cover_triangle(&triangle, &points, scissor, &mut |quad| expected.push(quad));
            let edges = QuadEdges::new(&triangle, points.first(), bounds.quads());
            let mut found = Vec::new();
            for y in ((bounds.top & !1)..bounds.bottom).step_by(2) {
                for x in ((bounds.left & !1)..bounds.right).step_by(2) {
                    let pixels = edges.as_ref().map_or(0, |edges| edges.covered([x, y])) & of_quad(bounds, [x, y]);
                    if pixels != 0 {
                        found.push(QuadCoverage { x, y, masks: [0, 1, 2, 3].map(|n| (pixels >> n & 1) as u8) });
                    }
                }
            }
            expected.sort_by_key(|quad| (quad.y, quad.x));
            assert_eq!(found, expected, "case {case}: {triangle:?}");
            covered += found.len();
        }
        assert!(covered > 4000, "{covered} quads are covered");
    }
}
