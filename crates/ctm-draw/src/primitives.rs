//! From primitives to quads of covered pixels: clipping, the window, faces, fill modes, points and lines.

use crate::assembly::{Primitive, Shape};
use crate::clip::{ClipInput, ClipVertex, Viewport};
use crate::raster::{
    DepthOffset, DepthStep, Fill, LinePixels, QuadCoverage, RasterState, Rect, SamplePoints, Triangle, UNITS, around,
    cover_box, cover_triangle, inside_box, inside_triangle, point_box, triangle_quads, triangle_spans, wide_line,
};
use crate::setup::{Corner, Setup, Share, Shares};
use crate::state::DrawState;
use crate::vertices::{Misc, Vertices};

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
enum Area {
    /// Those between its corners.
    Triangle,
    /// A line that is a rectangle across its direction: two halves.
    Halves(Box<[Triangle; 2]>),
    Box([[i64; 2]; 2]),
    Line(Box<Line>),
}

/// Columns or rows of pixels; `stipple`: steps of the pattern before its first pixel.
#[derive(Clone, Copy, Debug)]
struct Line {
    from: [i64; 2],
    to: [i64; 2],
    width: i64,
    stipple: u64,
}

impl Piece {
    /// Adds a piece with the pixels of an area that lie in a rectangle, if there may be any.
    fn add(pieces: &mut Vec<Self>, setup: Setup, area: Area, (points, scissor): (&SamplePoints, Rect)) {
        let bounds = match &area {
            Area::Triangle => around(&setup.corners.map(|corner| corner.at), points, scissor),
            Area::Halves(halves) => around(halves.each_ref().map(|half| half.at).as_flattened(), points, scissor),
            Area::Box(corners) => around(corners, points, scissor),
            Area::Line(line) => {
                let Line { from, to, width, .. } = **line;
                let (low, high) = (|n: usize| from[n].min(to[n]), |n: usize| from[n].max(to[n]));
                let more = (width + 2) * UNITS;
                let corners = [[low(0) - more, low(1) - more], [high(0) + more, high(1) + more]];
                around(&corners, points, scissor)
            }
        };
        if !bounds.is_empty() {
            pieces.push(Self { setup, area, bounds });
        }
    }

    /// The same of a triangle that clipping left as it is.
    #[inline]
    fn add_whole(pieces: &mut Vec<Self>, common: &Common, corners: [Corner; 3], area: i64, points: &SamplePoints) {
        let bounds = around(&corners.map(|corner| corner.at), points, common.scissor);
        if !bounds.is_empty() {
            let setup = common.setup(corners, None, Share::Triangle(area));
            pieces.push(Self { setup, area: Area::Triangle, bounds });
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

/// Finds the pixels of pieces.
pub(crate) struct Coverer<'a> {
    raster: &'a RasterState,
    points: SamplePoints,
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
        let plain = self.raster.clip_rectangles.is_none() && self.raster.sample_mask == [u8::MAX; 4];
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
        let plain = self.raster.clip_rectangles.is_none() && self.raster.sample_mask == [u8::MAX; 4];
        plain && self.points.count == 1 && matches!(piece.area, Area::Triangle | Area::Box(_))
    }

    /// Tells the rows of a rectangle in which a piece covers something, with the first column and the one behind the last.
    pub(crate) fn spans(&self, piece: &Piece, within: Rect, tell: &mut dyn FnMut(i32, i32, i32)) {
        let (scissor, place) = (piece.bounds.and(within), self.points.at[0]);
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
        let place = self.points.at[0];
        match &piece.area {
            _ if !self.has_spans(piece) || scissor.is_empty() => Rect { right: within.left, ..within },
            Area::Triangle => inside_triangle(&piece.triangle(), place, scissor),
            Area::Box(corners) => inside_box(*corners, place, scissor),
            Area::Halves(_) | Area::Line(_) => Rect { right: within.left, ..within },
        }
    }

    fn area(&self, piece: &Piece, scissor: Rect, emit: &mut dyn FnMut(QuadCoverage)) {
        match &piece.area {
            Area::Triangle => triangle_quads(&piece.triangle(), &self.points, scissor, emit),
            Area::Halves(halves) => halves.iter().for_each(|half| cover_triangle(half, &self.points, scissor, emit)),
            Area::Box(corners) => cover_box(*corners, &self.points, scissor, emit),
            Area::Line(line) => {
                let Line { from, to, width, stipple } = **line;
                self.line(LinePixels::new(from, to, width, self.raster.centre()), stipple, scissor, emit);
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

/// Cuts primitives and sets them up, one after the other.
pub(crate) struct Cutter<'a> {
    state: &'a DrawState<'a>,
    /// Pixels that can be drawn at all.
    bounds: Rect,
    points: SamplePoints,
    /// Steps of the stipple pattern so far.
    stipple: u64,
    /// Primitives that clipping left something of.
    pub(crate) visible: u64,
}

/// A corner, and what it is of the primitive's vertices.
type Cut = (Corner, Shares);

/// What a vertex is in the window, where clipping leaves every primitive of such vertices as it is.
pub(crate) struct Seen {
    corner: Corner,
    /// The number of its viewport.
    viewport: u32,
}

/// What belongs to a primitive and not to its corners.
#[derive(Clone, Copy)]
struct Common {
    primitive: u32,
    instance: u32,
    slots: [u32; 3],
    provoking: u32,
    is_front: bool,
    offset: f64,
    viewport: Viewport,
    viewport_number: u32,
    layer: u32,
    scissor: Rect,
}

impl Common {
    #[inline]
    fn setup(&self, corners: [Corner; 3], cut: Option<Box<[Shares; 3]>>, share: Share) -> Setup {
        let &Self { primitive, instance, slots, provoking, is_front, offset, viewport, layer, .. } = self;
        let (depth_range, sprite) = (viewport.depth, None);
        Setup {
            corners,
            cut,
            share,
            slots,
            provoking,
            primitive,
            instance,
            is_front,
            offset,
            depth_range,
            layer,
            sprite,
        }
    }

    /// Of corners that clipping may have made.
    fn setup_cut(&self, corners: [Cut; 3], share: Share) -> Setup {
        let whole = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let shares = corners.map(|(_, shares)| shares);
        let cut = (shares.map(|shares| shares.weights) != whole).then(|| Box::new(shares));
        self.setup(corners.map(|(corner, _)| corner), cut, share)
    }
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(state: &'a DrawState<'a>, bounds: Rect) -> Self {
        Self { state, bounds, points: state.raster.sample_points(), stipple: 0, visible: 0 }
    }

    /// Where a vertex lies in the window; `None` where the division gives nothing.
    fn corner(&self, viewport: &Viewport, position: [f64; 4]) -> Option<Corner> {
        let [x, y, z, reciprocal_w] = self.state.clip.window(viewport, position)?;
        let raster = &self.state.raster;
        let reciprocal_w = if raster.no_perspective { 1.0 } else { reciprocal_w };
        Some(Corner { at: [raster.snap(x), raster.snap(y)], z, reciprocal_w })
    }

    /// What is the same for all primitives that vertices are of.
    pub(crate) fn see(&self, vertices: &Vertices) -> Vec<Option<Seen>> {
        let clip = &self.state.clip;
        let seen = |(input, misc): (&ClipInput, &Misc)| {
            let viewport = misc.viewport;
            let corner = || self.corner(&clip.viewport(viewport), input.position.map(f64::from));
            clip.is_inside(input).then(corner)?.map(|corner| Seen { corner, viewport })
        };
        vertices.clip.iter().zip(&vertices.misc).map(seen).collect()
    }

    /// Adds the piece of a triangle whose vertices are all seen, in one viewport, where triangles are drawn as such; says whether it is one.
    fn whole(&mut self, seen: [Option<&Seen>; 3], mut common: Common, pieces: &mut Vec<Piece>) -> bool {
        let raster = &self.state.raster;
        let [Some(a), Some(b), Some(c)] = seen else { return false };
        let same = |seen: &Seen| seen.viewport == common.viewport_number;
        if !(same(a) && same(b) && same(c)) {
            return false;
        }
        let corners = [a.corner, b.corner, c.corner];
        let triangle = Triangle::new(corners.map(|corner| corner.at));
        common.is_front = (triangle.area > 0) == raster.clockwise_is_front;
        let (culled, fill, offset) = raster.of_face(common.is_front);
        if triangle.area != 0 && !culled && (fill != Fill::Triangles || offset.is_some()) {
            return false;
        }
        self.visible += 1;
        if triangle.area != 0 && !culled {
            Piece::add_whole(pieces, &common, corners, triangle.area, &self.points);
        }
        true
    }

    /// Adds the pieces of a primitive, whose vertices are at these places; `provoking`: the place of the one for flat values. `seen`: what [`Self::see`] says of
    /// vertices.
    pub(crate) fn cut(
        &mut self,
        primitive: &Primitive,
        instance: u32,
        (vertices, seen): (&Vertices, &[Option<Seen>]),
        slots: [u32; 3],
        provoking: u32,
        pieces: &mut Vec<Piece>,
    ) {
        let misc = &vertices.misc[provoking as usize];
        let viewport = self.state.clip.viewport(misc.viewport);
        let scissor = viewport.scissor.map_or(self.bounds, |scissor| scissor.and(self.bounds));
        if primitive.begins && self.state.raster.stipple.is_some_and(|stipple| stipple.restarts) {
            self.stipple = 0;
        }
        if scissor.is_empty() {
            return;
        }
        let common = Common {
            primitive: primitive.number,
            instance,
            slots,
            provoking,
            is_front: true,
            offset: 0.0,
            viewport,
            viewport_number: misc.viewport,
            layer: misc.layer,
            scissor,
        };
        if primitive.shape == Shape::Triangle
            && self.whole(slots.map(|slot| seen.get(slot as usize)?.as_ref()), common, pieces)
        {
            return;
        }
        let count = match primitive.shape {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle | Shape::Rectangle => 3,
        };
        let inputs: [ClipInput; 3] = slots.map(|slot| vertices.clip[slot as usize]);
        let flags = (0..3).filter(|&n| !vertices.misc[slots[n] as usize].no_edge).fold(0, |set, n| set | 1 << n);
        let polygon = self.state.clip.clip(&inputs[..count], primitive.edges & flags);
        if polygon.is_empty() {
            return;
        }
        let w = inputs.map(|input| f64::from(input.position[3]));
        let corner = |vertex: &ClipVertex| Some((self.corner(&viewport, vertex.position)?, Shares::of(vertex, w)));
        let Some(corners) = polygon.iter().map(corner).collect::<Option<Vec<Cut>>>() else { return };
        self.visible += 1;
        match (primitive.shape, corners.as_slice()) {
            (Shape::Point, &[a, ..]) => self.point(a, common, vertices, pieces),
            (Shape::Line, &[a, b, ..]) => self.line(a, b, common, pieces),
            (Shape::Rectangle, &[a, b, c, ..]) => self.rectangle([a, b, c], common, pieces),
            (Shape::Triangle, corners) if corners.len() > 2 => {
                self.polygon(&polygon, corners, common, vertices, pieces)
            }
            _ => {}
        }
    }

    /// A triangle, or what clipping left of one.
    fn polygon(
        &mut self,
        cut: &[ClipVertex],
        corners: &[Cut],
        common: Common,
        vertices: &Vertices,
        pieces: &mut Vec<Piece>,
    ) {
        let raster = &self.state.raster;
        let fan = |n: usize| [corners[0], corners[n], corners[n + 1]];
        let triangle = |of: &[Cut; 3]| Triangle::new(of.map(|(corner, _)| corner.at));
        let parts: Vec<_> = (1..corners.len() - 1).map(fan).map(|of| (of, triangle(&of))).collect();
        let area: i128 = parts.iter().map(|(_, triangle)| i128::from(triangle.area)).sum();
        if area == 0 {
            return;
        }
        let is_front = (area > 0) == raster.clockwise_is_front;
        let (culled, fill, offset) = raster.of_face(is_front);
        if culled {
            return;
        }
        let mut common = Common { is_front, ..common };
        if let Some(offset) = offset
            && let Some((of, triangle)) = parts.iter().max_by_key(|(_, triangle)| triangle.area.abs())
        {
            let setup = common.setup_cut(*of, Share::Triangle(triangle.area));
            common.offset = depth_offset(offset, raster.depth_step, setup.slopes(), corners);
        }
        match fill {
            Fill::Triangles => {
                for (of, triangle) in parts {
                    if triangle.area == 0 {
                        continue;
                    }
                    let setup = common.setup_cut(of, Share::Triangle(triangle.area));
                    Piece::add(pieces, setup, Area::Triangle, (&self.points, common.scissor));
                }
            }
            Fill::Lines => {
                for n in (0..cut.len()).filter(|&n| cut[n].edge) {
                    self.line_of(corners[n], corners[(n + 1) % corners.len()], common, pieces);
                }
            }
            Fill::Points => {
                for (n, vertex) in cut.iter().enumerate() {
                    // Vertices of the triangle itself whose edge flag is set.
                    if vertex.edge && vertex.weights.contains(&1.0) {
                        self.point(corners[n], common, vertices, pieces);
                    }
                }
            }
        }
    }

    /// The box around three corners of a rectangle; no face, no fill mode.
    fn rectangle(&mut self, corners: [Cut; 3], common: Common, pieces: &mut Vec<Piece>) {
        let triangle = Triangle::new(corners.map(|(corner, _)| corner.at));
        if triangle.area == 0 {
            return;
        }
        let range = |axis: usize| {
            let all = corners.map(|(corner, _)| corner.at[axis]);
            (all[0].min(all[1]).min(all[2]), all[0].max(all[1]).max(all[2]))
        };
        let ((left, right), (top, bottom)) = (range(0), range(1));
        let setup = common.setup_cut(corners, Share::Triangle(triangle.area));
        Piece::add(pieces, setup, Area::Box([[left, top], [right, bottom]]), (&self.points, common.scissor));
    }

    fn point(&mut self, corner: Cut, common: Common, vertices: &Vertices, pieces: &mut Vec<Piece>) {
        let raster = &self.state.raster;
        let size = if self.state.outputs.point_size {
            let size = vertices.misc[common.provoking as usize].point_size;
            let [least, most] = raster.point_limits;
            // NaN becomes the smallest size; limits that contradict each other: the upper one counts.
            [size.max(least).min(most); 2]
        } else {
            raster.point_size
        };
        let units = |pixels: f32| (f64::from(pixels).clamp(0.0, 16384.0) * 256.0).round() as i64;
        let [width, height] = size.map(units);
        let (left, top) = (corner.0.at[0] - width / 2, corner.0.at[1] - height / 2);
        let mut setup = common.setup_cut([corner; 3], Share::Point);
        setup.sprite = Some(Box::new([left, top, width, height]));
        if let (true, Some(offset)) = (raster.offset_others, raster.offset_front) {
            setup.offset += depth_offset(offset, raster.depth_step, [0.0; 2], &[corner]);
        }
        let area = Area::Box(point_box(corner.0.at, [width, height]));
        Piece::add(pieces, setup, area, (&self.points, common.scissor));
    }

    /// A line that is one, not an edge of a triangle.
    fn line(&mut self, a: Cut, b: Cut, mut common: Common, pieces: &mut Vec<Piece>) {
        let raster = &self.state.raster;
        if let (true, Some(offset)) = (raster.offset_others, raster.offset_front) {
            common.offset = depth_offset(offset, raster.depth_step, [0.0; 2], &[a, b]);
        }
        self.line_of(a, b, common, pieces);
    }

    fn line_of(&mut self, a: Cut, b: Cut, common: Common, pieces: &mut Vec<Piece>) {
        let raster = &self.state.raster;
        let setup = common.setup_cut([a, b, b], Share::Line);
        let area = if raster.rectangular_lines {
            let Some([p, q, r, s]) = wide_line(raster, a.0.at, b.0.at) else { return };
            Area::Halves(Box::new([Triangle::new([p, q, r]), Triangle::new([p, r, s])]))
        } else {
            let width = (f64::from(raster.line_width).clamp(1.0, 8192.0)).round() as i64;
            let stipple = self.stipple;
            self.stipple = stipple.wrapping_add(LinePixels::new(a.0.at, b.0.at, width, raster.centre()).left());
            Area::Line(Box::new(Line { from: a.0.at, to: b.0.at, width, stipple }))
        };
        Piece::add(pieces, setup, area, (&self.points, common.scissor));
    }
}

/// The part of a column or row of pixels that lies in a rectangle.
fn within(rect: Rect, first: [i64; 2], last: [i64; 2]) -> Option<([i64; 2], [i64; 2])> {
    let low = [first[0].max(rect.left.into()), first[1].max(rect.top.into())];
    let high = [last[0].min(i64::from(rect.right) - 1), last[1].min(i64::from(rect.bottom) - 1)];
    (low[0] <= high[0] && low[1] <= high[1]).then_some((low, high))
}

/// What is added to the depths of a primitive.
fn depth_offset(offset: DepthOffset, step: DepthStep, slopes: [f64; 2], corners: &[Cut]) -> f64 {
    let slope = slopes[0].abs().max(slopes[1].abs());
    let step = match step {
        DepthStep::Fixed(power) => 2f64.powi(power.into()),
        DepthStep::Float(power) => {
            let largest = corners.iter().map(|(corner, _)| corner.z.abs()).fold(0.0, f64::max);
            let exponent = if largest > 0.0 { ((largest.to_bits() >> 52 & 0x7ff) as i32) - 1023 } else { -126 };
            2f64.powi(exponent + i32::from(power))
        }
    };
    let sum = slope * f64::from(offset.scale) + step * f64::from(offset.units);
    match offset.clamp {
        clamp if clamp > 0.0 => sum.min(clamp.into()),
        clamp if clamp < 0.0 => sum.max(clamp.into()),
        _ => sum,
    }
}
