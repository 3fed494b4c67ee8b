//! From primitives to quads of covered pixels: clipping, the window, faces, fill modes, points and lines.

use crate::assembly::{Primitive, Shape};
use crate::raster::{LinePixels, Triangle, point_box, wide_line};
use crate::rect::{PositionUnit, Rect};
use crate::setup::clip::ClipVertex;
use crate::setup::inspect::{Inspection, WINDOW};
use crate::setup::piece::{Area, Piece, PixelRun};
use crate::setup::seen::{Seen, corners, see};
use crate::setup::{Corner, Setup, Share, Shares};
use crate::state::{DepthOffset, DepthStep, DrawState, Fill, Loss, SamplePoints, Viewport};
use crate::vertex::{ClipInput, Vertices};

/// Clips primitives and sets them up, in order.
pub(crate) struct Cutter<'a> {
    state: &'a DrawState<'a>,
    /// Pixels that can be drawn at all.
    bounds: Rect,
    points: SamplePoints,
    /// Steps of the stipple pattern so far.
    stipple: u64,
    /// Primitives that clipping left something of.
    pub(crate) visible: u64,
    /// Counts where primitives end, if that is asked for.
    pub(crate) inspection: Option<Box<Inspection>>,
    /// Culled faces are cut as well, for an inspection.
    keeps_culled: bool,
}

/// A corner, and its weights of the primitive's vertices.
type Cut = (Corner, Shares);

/// Data of a primitive that its corners share.
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
    unit: PositionUnit,
}

impl Common {
    #[inline]
    fn setup(&self, corners: [Corner; 3], cut: Option<Box<[Shares; 3]>>, share: Share) -> Setup {
        let &Self { primitive, instance, slots, provoking, is_front, offset, viewport, layer, unit, .. } = self;
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
            unit,
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
        let points = state.raster.sample_points();
        Self { state, bounds, points, stipple: 0, visible: 0, inspection: None, keeps_culled: false }
    }

    /// The window position of a vertex; `None` where the division has no result.
    fn corner(&self, viewport: &Viewport, position: [f64; 4]) -> Option<Corner> {
        corners(&self.state.clip, &self.state.raster, viewport, &position.map(|element| [element]))[0]
    }

    /// Finds the data that all primitives of a vertex share.
    pub(crate) fn see(&self, vertices: &Vertices, seen: &mut Vec<Option<Seen>>) {
        see(&self.state.clip, &self.state.raster, vertices, seen);
    }

    /// Adds the piece of a triangle that needs no clipping, in one viewport and filled; `None`: it is no such triangle. Otherwise the reason why it is not drawn, if
    /// there is one.
    fn whole(
        &mut self,
        seen: [Option<&Seen>; 3],
        mut common: Common,
        pieces: &mut Vec<Piece>,
    ) -> Option<Result<(), Loss>> {
        let raster = &self.state.raster;
        let [Some(a), Some(b), Some(c)] = seen else { return None };
        let same = |seen: &Seen| seen.viewport == common.viewport_number;
        if !(same(a) && same(b) && same(c)) {
            return None;
        }
        let corners = [a.corner, b.corner, c.corner];
        let triangle = Triangle::new(corners.map(|corner| corner.at));
        common.is_front = (triangle.area > 0) == raster.clockwise_is_front;
        let (culled, fill, offset) = raster.of_face(common.is_front);
        let culled = culled && !self.keeps_culled;
        if triangle.area != 0 && !culled && (fill != Fill::Triangles || offset.is_some()) {
            return None;
        }
        self.visible += 1;
        if triangle.area == 0 {
            return Some(Err(Loss::NoArea));
        }
        if culled {
            return Some(Err(culled_face(common.is_front)));
        }
        Piece::add_triangle(pieces, &corners, (&self.points, common.scissor), || {
            common.setup(corners, None, Share::Triangle(triangle.area))
        });
        Some(Ok(()))
    }

    /// Adds the pieces of a primitive, whose vertices are at these places; `provoking`: the place of the one for flat values. `seen`: the result of
    /// [`Self::see`].
    pub(crate) fn cut(
        &mut self,
        primitive: &Primitive,
        (vertices, seen): (&Vertices, &[Option<Seen>]),
        slots: [u32; 3],
        provoking: u32,
        pieces: &mut Vec<Piece>,
    ) {
        let viewport = self.state.clip.viewport(vertices.misc(provoking).viewport);
        let scissor = viewport.scissor.map_or(self.bounds, |scissor| scissor.and(self.bounds));
        if primitive.begins && self.state.raster.stipple.is_some_and(|stipple| stipple.restarts) {
            self.stipple = 0;
        }
        if let Some(mut inspection) = self.inspection.take() {
            let mut found = std::mem::take(&mut inspection.pieces);
            let mut ended = self.primitive(primitive, (vertices, seen), (slots, provoking), WINDOW, &mut found);
            if matches!(ended, Err(Loss::FrontFace | Loss::BackFace)) {
                let before = (self.visible, self.stipple);
                self.keeps_culled = true;
                // The reason stays.
                let _ = self.primitive(primitive, (vertices, seen), (slots, provoking), WINDOW, &mut found);
                (self.visible, self.stipple, self.keeps_culled) = (before.0, before.1, false);
            } else if ended.is_ok() && found.is_empty() && primitive.shape == Shape::Triangle && self.is_outlined() {
                ended = Err(Loss::NoEdge);
            }
            inspection.count(primitive, (&found, ended.err()), viewport.scissor);
            if ended.is_ok() {
                pieces.extend(found.drain(..).filter_map(|piece| piece.within(scissor)));
            }
            found.clear();
            inspection.pieces = found;
            self.inspection = Some(inspection);
            return;
        }
        if !scissor.is_empty() {
            // The reason counts in inspections alone.
            let _ = self.primitive(primitive, (vertices, seen), (slots, provoking), scissor, pieces);
        }
    }

    /// Whether triangles are drawn as lines or points.
    fn is_outlined(&self) -> bool {
        self.state.raster.fill_front != Fill::Triangles || self.state.raster.fill_back != Fill::Triangles
    }

    /// Adds the pieces of a primitive within a rectangle.
    ///
    /// # Errors
    /// It is not drawn.
    fn primitive(
        &mut self,
        primitive: &Primitive,
        (vertices, seen): (&Vertices, &[Option<Seen>]),
        (slots, provoking): ([u32; 3], u32),
        scissor: Rect,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Loss> {
        let misc = vertices.misc(provoking);
        let viewport = self.state.clip.viewport(misc.viewport);
        let common = Common {
            primitive: primitive.number,
            instance: primitive.instance,
            slots,
            provoking,
            is_front: true,
            offset: 0.0,
            viewport,
            viewport_number: misc.viewport,
            layer: misc.layer,
            scissor,
            unit: self.state.raster.unit,
        };
        if primitive.shape == Shape::Triangle
            && let Some(done) = self.whole(slots.map(|slot| seen.get(slot as usize)?.as_ref()), common, pieces)
        {
            return done;
        }
        let count = match primitive.shape {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle | Shape::Rectangle => 3,
        };
        let inputs: [ClipInput; 3] = slots.map(|slot| vertices.clip_input(slot));
        let flags = (0..3).filter(|&n| !vertices.misc(slots[n]).no_edge).fold(0, |set, n| set | 1 << n);
        let polygon = self.state.clip.clipped(&inputs[..count], primitive.edges & flags)?;
        let w = inputs.map(|input| f64::from(input.position[3]));
        let corner = |vertex: &ClipVertex| Some((self.corner(&viewport, vertex.position)?, Shares::of(vertex, w)));
        let corners = polygon.iter().map(corner).collect::<Option<Vec<Cut>>>().ok_or(Loss::NoDivision)?;
        self.visible += 1;
        match (primitive.shape, corners.as_slice()) {
            (Shape::Point, &[a, ..]) => self.point(a, common, vertices, pieces),
            (Shape::Line, &[a, b, ..]) => self.line(a, b, common, pieces),
            (Shape::Rectangle, &[a, b, c, ..]) => return self.rectangle([a, b, c], common, pieces),
            (Shape::Triangle, corners) if corners.len() > 2 => {
                return self.polygon(&polygon, corners, common, vertices, pieces);
            }
            _ => return Err(Loss::ClippedAway),
        }
        Ok(())
    }

    /// A triangle, or the polygon that clipping left of one.
    fn polygon(
        &mut self,
        cut: &[ClipVertex],
        corners: &[Cut],
        common: Common,
        vertices: &Vertices,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Loss> {
        let raster = &self.state.raster;
        let fan = |n: usize| [corners[0], corners[n], corners[n + 1]];
        let triangle = |of: &[Cut; 3]| Triangle::new(of.map(|(corner, _)| corner.at));
        let parts: Vec<_> = (1..corners.len() - 1).map(fan).map(|of| (of, triangle(&of))).collect();
        let area: i128 = parts.iter().map(|(_, triangle)| i128::from(triangle.area)).sum();
        if area == 0 {
            return Err(Loss::NoArea);
        }
        let is_front = (area > 0) == raster.clockwise_is_front;
        let (culled, fill, offset) = raster.of_face(is_front);
        if culled && !self.keeps_culled {
            return Err(culled_face(is_front));
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
        Ok(())
    }

    /// The box around three corners of a rectangle; no face, no fill mode.
    fn rectangle(&mut self, corners: [Cut; 3], common: Common, pieces: &mut Vec<Piece>) -> Result<(), Loss> {
        let triangle = Triangle::new(corners.map(|(corner, _)| corner.at));
        if triangle.area == 0 {
            return Err(Loss::NoArea);
        }
        let range = |axis: usize| {
            let all = corners.map(|(corner, _)| corner.at[axis]);
            (all[0].min(all[1]).min(all[2]), all[0].max(all[1]).max(all[2]))
        };
        let ((left, right), (top, bottom)) = (range(0), range(1));
        let setup = common.setup_cut(corners, Share::Triangle(triangle.area));
        Piece::add(pieces, setup, Area::Box([[left, top], [right, bottom]]), (&self.points, common.scissor));
        Ok(())
    }

    fn point(&mut self, corner: Cut, common: Common, vertices: &Vertices, pieces: &mut Vec<Piece>) {
        let raster = &self.state.raster;
        let size = if self.state.outputs.point_size {
            let size = vertices.misc(common.provoking).point_size;
            let [least, most] = raster.point_limits;
            // NaN becomes the smallest size; of contradicting limits the upper one is used.
            [size.max(least).min(most); 2]
        } else {
            raster.point_size
        };
        let units = |pixels: f32| (f64::from(pixels).clamp(0.0, 16384.0) * raster.unit.count() as f64).round() as i64;
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
            self.stipple = stipple.wrapping_add(LinePixels::new(a.0.at, b.0.at, width, raster).left());
            Area::Line(Box::new(PixelRun { from: a.0.at, to: b.0.at, width, stipple }))
        };
        Piece::add(pieces, setup, area, (&self.points, common.scissor));
    }
}

/// The loss of a culled face.
const fn culled_face(is_front: bool) -> Loss {
    if is_front { Loss::FrontFace } else { Loss::BackFace }
}

/// The offset of a primitive's depths.
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
