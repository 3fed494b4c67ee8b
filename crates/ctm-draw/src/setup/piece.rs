//! Pieces of primitives in the window, and the quads of pixels that they cover.

use crate::lanes::{COLUMNS, ROWS, Wide, blocks, inside, whole, widely};
use crate::raster::{
    BLOCKS, BlockEdges, LinePixels, QuadCoverage, QuadEdges, Triangle, around, cover_box, cover_triangle, inside_box,
    inside_triangle, triangle_quads, triangle_spans,
};
use crate::rect::{PixelPlace, Rect};
use crate::setup::{Corner, Setup, Share};
use crate::state::{RasterState, SamplePoints};

/// A primitive, or a part of one, in the window: what its pixels have in common, and which they are.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// What its pixels have in common.
    pub(crate) setup: Setup,
    area: Area,
    /// It has no pixels outside.
    bounds: Rect,
}

/// Which pixels.
#[derive(Clone, Debug)]
pub(super) enum Area {
    /// Those between its corners.
    Triangle,
    /// A line that is a rectangle across its direction: two halves.
    Halves(Box<[Triangle; 2]>),
    Box([[i64; 2]; 2]),
    Line(Box<PixelRun>),
}

/// Columns or rows of pixels; `stipple`: steps of the pattern before its first pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct PixelRun {
    pub(super) from: [i64; 2],
    pub(super) to: [i64; 2],
    pub(super) width: i64,
    pub(super) stipple: u64,
}

impl Piece {
    /// Adds a piece with the pixels of an area that lie in a rectangle, if there may be any.
    pub(super) fn add(pieces: &mut Vec<Self>, setup: Setup, area: Area, (points, scissor): (&SamplePoints, Rect)) {
        let bounds = match &area {
            Area::Triangle => around(&setup.corners.map(|corner| corner.at), points, scissor),
            Area::Halves(halves) => around(halves.each_ref().map(|half| half.at).as_flattened(), points, scissor),
            Area::Box(corners) => around(corners, points, scissor),
            Area::Line(line) => {
                let PixelRun { from, to, width, .. } = **line;
                let (low, high) = (|n: usize| from[n].min(to[n]), |n: usize| from[n].max(to[n]));
                let more = (width + 2) * points.unit.count();
                let corners = [[low(0) - more, low(1) - more], [high(0) + more, high(1) + more]];
                around(&corners, points, scissor)
            }
        };
        if !bounds.is_empty() {
            pieces.push(Self { setup, area, bounds });
        }
    }

    /// The same of a whole triangle; `setup` is called only where a pixel may lie in it.
    #[inline]
    pub(super) fn add_triangle(
        pieces: &mut Vec<Self>,
        corners: &[Corner; 3],
        (points, scissor): (&SamplePoints, Rect),
        setup: impl FnOnce() -> Setup,
    ) {
        let bounds = around(&corners.map(|corner| corner.at), points, scissor);
        if !bounds.is_empty() {
            pieces.push(Self { setup: setup(), area: Area::Triangle, bounds });
        }
    }

    /// The triangle of [`Area::Triangle`].
    #[inline]
    fn triangle(&self) -> Triangle {
        let at = self.setup.corners.map(|corner| corner.at);
        match self.setup.share {
            Share::Triangle(area) => Triangle { at, area },
            Share::Line | Share::Point => Triangle::new(at),
        }
    }

    /// The part of it within a rectangle, if there may be one.
    pub(super) fn within(mut self, rect: Rect) -> Option<Self> {
        self.bounds = self.bounds.and(rect);
        (!self.bounds.is_empty()).then_some(self)
    }

    /// It has no pixels outside; some pixel lies in it.
    pub(crate) const fn bounds(&self) -> Rect {
        self.bounds
    }

    /// How many quads it has at most, roughly.
    pub(crate) const fn most_quads(&self) -> u64 {
        let Rect { left, top, right, bottom } = self.bounds;
        ((right - left) as u64 / 2 + 1) * ((bottom - top) as u64 / 2 + 1)
    }
}

/// The number of quads of a box up to which a triangle is covered quad by quad.
pub(crate) const MOST_SMALL: i32 = 32;

/// Finds the pixels of pieces.
pub(crate) struct Coverer<'a> {
    raster: &'a RasterState,
    points: SamplePoints,
}

/// Blocks side by side, at most [`BLOCKS`], of which lanes are covered by a triangle.
struct CoveredBlocks<'c> {
    edges: &'c BlockEdges,
    /// The first pixel.
    at: [i32; 2],
    lanes: &'c mut [u32],
}

impl Wide for CoveredBlocks<'_> {
    /// The first block that may have such lanes, and the one after the last.
    type Out = [usize; 2];

    const TAKES_AVX512: bool = true;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> [usize; 2] {
        /// Of so few blocks none is likely to be empty.
        const FEW: usize = 2;
        let Self { edges, at: [left, y], lanes } = self;
        let count = lanes.len();
        let [may, whole] = if count <= FEW { [u32::MAX, 0] } else { edges.row([left, y]) };
        let may = may & u32::MAX >> (32 - count.clamp(1, BLOCKS));
        let (first, behind) = (may.trailing_zeros() as usize, 32 - may.leading_zeros() as usize);
        for (block, lanes) in lanes.iter_mut().enumerate() {
            let at = [left + COLUMNS * block as i32, y];
            *lanes = match [may >> block & 1, whole >> block & 1] {
                [0, _] => 0,
                [_, 1] => u32::MAX,
                [..] => edges.covered(at),
            };
        }
        [first, behind]
    }
}

impl<'a> Coverer<'a> {
    pub(crate) fn new(raster: &'a RasterState) -> Self {
        Self { raster, points: raster.sample_points() }
    }

    /// Tells the quads of a piece that lie in a rectangle, whose sides are even.
    pub(crate) fn cover(&self, piece: &Piece, within: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
        let scissor = piece.bounds.and(within);
        if scissor.is_empty() {
            return;
        }
        let plain = self.is_whole();
        let mut masked = |mut quad: QuadCoverage| {
            if self.raster.clip_rectangles.is_some() {
                for (n, mask) in quad.masks.iter_mut().enumerate() {
                    if !self.raster.passes_clip_rectangles(quad.x + (n as i32 & 1), quad.y + (n as i32 >> 1)) {
                        *mask = 0;
                    }
                }
            }
            quad.masks.iter_mut().zip(self.raster.sample_mask).for_each(|(mask, allowed)| *mask &= allowed);
            if quad.masks != [0; 4] {
                emit(quad);
            }
        };
        if plain { self.area(piece, scissor, emit) } else { self.area(piece, scissor, &mut masked) }
    }

    /// Whether a piece covers one span of columns in each row, and nothing else decides.
    pub(crate) fn has_spans(&self, piece: &Piece) -> bool {
        let plain = self.is_whole();
        plain && self.points.count == 1 && matches!(piece.area, Area::Triangle | Area::Box(_))
    }

    /// Tells the rows of a rectangle in which a piece covers something, with the first column and the one behind the last.
    pub(crate) fn spans(&self, piece: &Piece, within: Rect, tell: &mut dyn FnMut(i32, i32, i32)) {
        let (scissor, place) = (piece.bounds.and(within), self.points.first());
        match &piece.area {
            _ if !self.has_spans(piece) || scissor.is_empty() => {}
            Area::Triangle => triangle_spans(&piece.triangle(), place, scissor, tell),
            Area::Box(corners) => {
                let inside = inside_box(*corners, place, scissor);
                if inside.left < inside.right {
                    (inside.top..inside.bottom).for_each(|y| tell(y, inside.left, inside.right));
                }
            }
            Area::Halves(_) | Area::Line(_) => {}
        }
    }

    /// Pixels of a rectangle that a piece covers, in columns that are covered in all of their rows. Empty where [`Self::has_spans`] is false.
    pub(crate) fn inside(&self, piece: &Piece, within: Rect) -> Rect {
        let scissor = piece.bounds.and(within);
        let place = self.points.first();
        match &piece.area {
            _ if !self.has_spans(piece) || scissor.is_empty() => Rect { right: within.left, ..within },
            Area::Triangle => inside_triangle(&piece.triangle(), place, scissor),
            Area::Box(corners) => inside_box(*corners, place, scissor),
            Area::Halves(_) | Area::Line(_) => Rect { right: within.left, ..within },
        }
    }

    /// Tells the blocks of lanes side by side of a rectangle in which a piece covers something: the first pixel, and of each block the lanes that it does; the
    /// lanes may be changed. Nothing where [`Self::has_spans`] is false.
    pub(crate) fn blocks(&self, piece: &Piece, within: Rect, tell: &mut dyn FnMut([i32; 2], &mut [u32])) {
        let scissor = piece.bounds.and(within);
        if scissor.is_empty() || !self.has_spans(piece) {
            return;
        }
        let all = whole(scissor);
        let edges = match piece.area {
            Area::Triangle => BlockEdges::new(&piece.triangle(), self.points.first(), all),
            _ => None,
        };
        let Some(edges) = edges else {
            let mut lanes = Vec::new();
            for y in (all.top..all.bottom).step_by(ROWS as usize) {
                let mut spans = [[0; 2]; 4];
                let rows = Rect { top: y, bottom: y + ROWS, ..scissor }.and(scissor);
                self.spans(piece, rows, &mut |row, left, right| spans[(row - y) as usize & 3] = [left, right]);
                let left = blocks(spans, &mut lanes);
                tell([left, y], &mut lanes);
            }
            return;
        };
        for y in (all.top..all.bottom).step_by(ROWS as usize) {
            for left in (all.left..all.right).step_by(BLOCKS * COLUMNS as usize) {
                let count = (((all.right - left) / COLUMNS) as usize).min(BLOCKS);
                let mut lanes = [0; BLOCKS];
                let [first, behind] =
                    widely(CoveredBlocks { edges: &edges, at: [left, y], lanes: &mut lanes[..count] });
                if scissor != all {
                    for (x, lanes) in (left..).step_by(COLUMNS as usize).zip(&mut lanes[..count]) {
                        *lanes &= inside(scissor, [x, y]);
                    }
                }
                if first < behind {
                    tell([left + COLUMNS * first as i32, y], &mut lanes[first..behind]);
                }
            }
        }
    }

    /// The edges of a piece within a rectangle for its quads, and the rectangle around these, if it is a triangle of few quads.
    #[inline]
    pub(crate) fn small(&self, piece: &Piece, within: Rect) -> Option<(QuadEdges, Rect)> {
        let rect = piece.bounds.and(within);
        if !matches!(piece.area, Area::Triangle) || rect.is_empty() || !self.has_spans(piece) {
            return None;
        }
        let quads = rect.quads();
        let area = (quads.right - quads.left) * (quads.bottom - quads.top);
        (area <= 4 * MOST_SMALL)
            .then(|| QuadEdges::new(&piece.triangle(), self.points.first(), quads))
            .flatten()
            .map(|edges| (edges, rect))
    }

    /// Whether all samples of covered pixels are drawn. Bits of a mask for samples that pixels do not have mean nothing.
    fn is_whole(&self) -> bool {
        let all = self.raster.samples.all();
        self.raster.clip_rectangles.is_none() && self.raster.sample_mask.iter().all(|mask| mask & all == all)
    }

    /// Pixels of a rectangle all of whose samples a box covers, in whole quads; empty for other pieces.
    pub(crate) fn whole_quads(&self, piece: &Piece, within: Rect) -> Rect {
        let plain = self.is_whole();
        let Area::Box(corners) = &piece.area else { return Rect { right: within.left, ..within } };
        let mut inside = piece.bounds.and(within);
        for (at, _) in self.points.iter() {
            inside = inside_box(*corners, PixelPlace { at, ..self.points.first() }, inside);
        }
        let Rect { left, top, right, bottom } = inside;
        let right = if plain { right & !1 } else { left };
        Rect { left: (left + 1) & !1, top: (top + 1) & !1, right, bottom: bottom & !1 }
    }

    fn area(&self, piece: &Piece, scissor: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
        match &piece.area {
            Area::Triangle => triangle_quads(&piece.triangle(), &self.points, scissor, emit),
            Area::Halves(halves) => halves.iter().for_each(|half| cover_triangle(half, &self.points, scissor, emit)),
            Area::Box(corners) => cover_box(*corners, &self.points, scissor, emit),
            Area::Line(line) => {
                let PixelRun { from, to, width, stipple } = **line;
                self.line(LinePixels::new(from, to, width, self.raster), stipple, scissor, emit);
            }
        }
    }

    /// The columns or rows of a line that its pattern lets be drawn.
    fn line(&self, mut pixels: LinePixels, stipple: u64, scissor: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
        let all = self.raster.samples.all();
        let mut held: Option<QuadCoverage> = None;
        // The pattern goes on where nothing is drawn, too.
        let begin = stipple.wrapping_add(pixels.cut(scissor));
        for (count, (first, last)) in (begin..).zip(pixels) {
            let drawn = self.raster.stipple.is_none_or(|pattern| {
                let step = (count / u64::from(pattern.repeat.max(1)) % 16) as u32;
                let bit = if pattern.high_first { 15 - step } else { step };
                pattern.pattern >> bit & 1 == 1
            });
            if !drawn {
                continue;
            }
            let Some(([mut x, mut y], last)) = within(scissor, first, last) else { continue };
            loop {
                let (px, py) = (x as i32, y as i32);
                let (qx, qy) = (px & !1, py & !1);
                if held.is_none_or(|quad| (quad.x, quad.y) != (qx, qy)) {
                    held.take().into_iter().for_each(&mut *emit);
                }
                let quad = held.get_or_insert(QuadCoverage { x: qx, y: qy, masks: [0; 4] });
                quad.masks[((px & 1) + 2 * (py & 1)) as usize] = all;
                if [x, y] == last {
                    break;
                }
                (x, y) = (x + (last[0] - x).signum(), y + (last[1] - y).signum());
            }
        }
        held.into_iter().for_each(emit);
    }
}

/// The part of a column or row of pixels that lies in a rectangle.
fn within(rect: Rect, first: [i64; 2], last: [i64; 2]) -> Option<([i64; 2], [i64; 2])> {
    let low = [first[0].max(rect.left.into()), first[1].max(rect.top.into())];
    let high = [last[0].min(i64::from(rect.right) - 1), last[1].min(i64::from(rect.bottom) - 1)];
    (low[0] <= high[0] && low[1] <= high[1]).then_some((low, high))
}
