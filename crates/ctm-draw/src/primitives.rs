//! From primitives to quads of covered pixels: clipping, the window, faces, fill modes, points and lines.

use crate::assembly::{Primitive, Shape};
use crate::clip::{ClipInput, ClipVertex, Viewport};
use crate::raster::{
    DepthOffset, DepthStep, Fill, LinePixels, QuadCoverage, Rect, SamplePoints, Triangle, cover_box, cover_triangle,
    wide_line,
};
use crate::setup::{Setup, Share, WindowVertex};
use crate::state::DrawState;
use crate::vertices::Vertices;

/// Takes the pixels of a primitive.
pub(crate) trait Sink {
    type Error;

    /// A primitive begins whose pixels come next.
    fn begin(&mut self, setup: Setup) -> Result<(), Self::Error>;

    /// Pixels of it.
    fn quad(&mut self, quad: QuadCoverage) -> Result<(), Self::Error>;
}

/// Cuts and rasterises primitives, one after the other.
pub(crate) struct Rasteriser<'a> {
    state: &'a DrawState<'a>,
    points: SamplePoints,
    /// Pixels that can be drawn at all.
    bounds: Rect,
    /// Steps of the stipple pattern so far.
    stipple: u64,
    /// Primitives that clipping left something of.
    pub(crate) visible: u64,
}

/// What belongs to a primitive and not to its corners.
#[derive(Clone, Copy)]
struct Common {
    slots: [u32; 3],
    provoking: u32,
    is_front: bool,
    offset: f64,
    viewport: Viewport,
    layer: u32,
    scissor: Rect,
}

impl<'a> Rasteriser<'a> {
    pub(crate) fn new(state: &'a DrawState<'a>, bounds: Rect) -> Self {
        Self { state, points: state.raster.sample_points(), bounds, stipple: 0, visible: 0 }
    }

    /// Draws a primitive, whose vertices are at these places; `provoking`: the place of the one for flat values.
    pub(crate) fn draw<S: Sink>(
        &mut self,
        primitive: &Primitive,
        vertices: &Vertices,
        slots: [u32; 3],
        provoking: u32,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let count = match primitive.shape {
            Shape::Point => 1,
            Shape::Line => 2,
            Shape::Triangle | Shape::Rectangle => 3,
        };
        let inputs: [ClipInput; 3] = slots.map(|slot| vertices.clip[slot as usize]);
        let misc = &vertices.misc[provoking as usize];
        let viewport = self.state.clip.viewport(misc.viewport);
        let scissor = viewport.scissor.map_or(self.bounds, |scissor| scissor.and(self.bounds));
        if primitive.begins && self.state.raster.stipple.is_some_and(|stipple| stipple.restarts) {
            self.stipple = 0;
        }
        if scissor.is_empty() {
            return Ok(());
        }
        let flags = (0..3).filter(|&n| !vertices.misc[slots[n] as usize].no_edge).fold(0, |set, n| set | 1 << n);
        let polygon = self.state.clip.clip(&inputs[..count], primitive.edges & flags);
        if polygon.is_empty() {
            return Ok(());
        }
        let w = inputs.map(|input| f64::from(input.position[3]));
        let corner = |vertex: &ClipVertex| {
            let window = self.state.clip.window(&viewport, vertex.position)?;
            let at = [self.state.raster.snap(window[0]), self.state.raster.snap(window[1])];
            let window = if self.state.raster.no_perspective { [window[0], window[1], window[2], 1.0] } else { window };
            Some(WindowVertex::new(vertex, at, window, w))
        };
        let Some(corners) = polygon.iter().map(corner).collect::<Option<Vec<WindowVertex>>>() else { return Ok(()) };
        self.visible += 1;
        let common = Common { slots, provoking, is_front: true, offset: 0.0, viewport, layer: misc.layer, scissor };
        match (primitive.shape, corners.as_slice()) {
            (Shape::Point, &[a, ..]) => self.point(a, common, vertices, sink),
            (Shape::Line, &[a, b, ..]) => self.line(a, b, common, sink),
            (Shape::Rectangle, &[a, b, c, ..]) => self.rectangle([a, b, c], common, sink),
            (Shape::Triangle, corners) if corners.len() > 2 => self.polygon(&polygon, corners, common, vertices, sink),
            _ => Ok(()),
        }
    }

    fn setup(&self, corners: [WindowVertex; 3], share: Share, common: &Common) -> Setup {
        let &Common { slots, provoking, is_front, offset, viewport, layer, .. } = common;
        let depth_range = viewport.depth;
        Setup { corners, share, slots, provoking, is_front, offset, depth_range, layer, sprite: None }
    }

    /// A triangle, or what clipping left of one.
    fn polygon<S: Sink>(
        &mut self,
        cut: &[ClipVertex],
        corners: &[WindowVertex],
        common: Common,
        vertices: &Vertices,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let raster = &self.state.raster;
        let fan = |n: usize| [corners[0], corners[n], corners[n + 1]];
        let triangle = |of: &[WindowVertex; 3]| Triangle::new([of[0].at, of[1].at, of[2].at]);
        let parts: Vec<_> = (1..corners.len() - 1).map(fan).map(|of| (of, triangle(&of))).collect();
        let area: i128 = parts.iter().map(|(_, triangle)| i128::from(triangle.area)).sum();
        if area == 0 {
            return Ok(());
        }
        let is_front = (area > 0) == raster.clockwise_is_front;
        let (culled, fill, offset) = if is_front {
            (raster.cull_front, raster.fill_front, raster.offset_front)
        } else {
            (raster.cull_back, raster.fill_back, raster.offset_back)
        };
        if culled {
            return Ok(());
        }
        let mut common = Common { is_front, ..common };
        if let Some(offset) = offset
            && let Some((of, triangle)) = parts.iter().max_by_key(|(_, triangle)| triangle.area.abs())
        {
            let setup = self.setup(*of, Share::Triangle(triangle.area), &common);
            common.offset = depth_offset(offset, raster.depth_step, setup.slopes(), corners);
        }
        match fill {
            Fill::Triangles => {
                for (of, triangle) in parts {
                    if triangle.area == 0 {
                        continue;
                    }
                    sink.begin(self.setup(of, Share::Triangle(triangle.area), &common))?;
                    self.cover(common.scissor, sink, |points, scissor, emit| {
                        cover_triangle(&triangle, points, scissor, emit);
                    })?;
                }
                Ok(())
            }
            Fill::Lines => {
                for n in (0..cut.len()).filter(|&n| cut[n].edge) {
                    self.line_of(corners[n], corners[(n + 1) % corners.len()], common, sink)?;
                }
                Ok(())
            }
            Fill::Points => {
                for (n, vertex) in cut.iter().enumerate() {
                    // Vertices of the triangle itself whose edge flag is set.
                    if vertex.edge && vertex.weights.contains(&1.0) {
                        self.point(corners[n], common, vertices, sink)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// Collects the quads of a shape and hands them on.
    fn cover<S: Sink>(
        &self,
        scissor: Rect,
        sink: &mut S,
        shape: impl FnOnce(&SamplePoints, Rect, &mut dyn FnMut(QuadCoverage)),
    ) -> Result<(), S::Error> {
        let mut result = Ok(());
        shape(&self.points, scissor, &mut |mut quad| {
            if result.is_err() {
                return;
            }
            if self.state.raster.clip_rectangles.is_some() {
                for (n, mask) in quad.masks.iter_mut().enumerate() {
                    if !self.state.raster.passes_clip_rectangles(quad.x + (n as i32 & 1), quad.y + (n as i32 >> 1)) {
                        *mask = 0;
                    }
                }
            }
            quad.masks.iter_mut().zip(self.state.raster.sample_mask).for_each(|(mask, allowed)| *mask &= allowed);
            if quad.masks != [0; 4] {
                result = sink.quad(quad);
            }
        });
        result
    }

    /// The box around three corners of a rectangle; no face, no fill mode.
    fn rectangle<S: Sink>(&mut self, corners: [WindowVertex; 3], common: Common, sink: &mut S) -> Result<(), S::Error> {
        let triangle = Triangle::new(corners.map(|corner| corner.at));
        if triangle.area == 0 {
            return Ok(());
        }
        let range = |axis: usize| {
            let all = corners.map(|corner| corner.at[axis]);
            (all[0].min(all[1]).min(all[2]), all[0].max(all[1]).max(all[2]))
        };
        let ((left, right), (top, bottom)) = (range(0), range(1));
        sink.begin(self.setup(corners, Share::Triangle(triangle.area), &common))?;
        self.cover(common.scissor, sink, |points, scissor, emit| {
            cover_box([[left, top], [right, bottom]], points, scissor, emit);
        })
    }

    fn point<S: Sink>(
        &mut self,
        corner: WindowVertex,
        common: Common,
        vertices: &Vertices,
        sink: &mut S,
    ) -> Result<(), S::Error> {
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
        let (left, top) = (corner.at[0] - width / 2, corner.at[1] - height / 2);
        let mut setup = self.setup([corner; 3], Share::Point, &common);
        setup.sprite = Some([left, top, width, height]);
        if let (true, Some(offset)) = (raster.offset_others, raster.offset_front) {
            setup.offset += depth_offset(offset, raster.depth_step, [0.0; 2], &[corner]);
        }
        sink.begin(setup)?;
        self.cover(common.scissor, sink, |points, scissor, emit| {
            cover_box([[left, top], [left + width, top + height]], points, scissor, emit);
        })
    }

    /// A line that is one, not an edge of a triangle.
    fn line<S: Sink>(
        &mut self,
        a: WindowVertex,
        b: WindowVertex,
        mut common: Common,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let raster = &self.state.raster;
        if let (true, Some(offset)) = (raster.offset_others, raster.offset_front) {
            common.offset = depth_offset(offset, raster.depth_step, [0.0; 2], &[a, b]);
        }
        self.line_of(a, b, common, sink)
    }

    fn line_of<S: Sink>(
        &mut self,
        a: WindowVertex,
        b: WindowVertex,
        common: Common,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        let raster = &self.state.raster;
        sink.begin(self.setup([a, b, b], Share::Line, &common))?;
        if raster.rectangular_lines {
            let Some([p, q, r, s]) = wide_line(raster, a.at, b.at) else { return Ok(()) };
            for half in [[p, q, r], [p, r, s]] {
                self.cover(common.scissor, sink, |points, scissor, emit| {
                    cover_triangle(&Triangle::new(half), points, scissor, emit);
                })?;
            }
            return Ok(());
        }
        let width = (f64::from(raster.line_width).clamp(1.0, 8192.0)).round() as i64;
        let all = raster.samples.all();
        let mut held: Option<QuadCoverage> = None;
        let mut quads = Vec::new();
        let mut pixels = LinePixels::new(a.at, b.at, width, raster.centre());
        // The pattern goes on where nothing is drawn, too.
        let end = self.stipple.wrapping_add(pixels.left());
        let begin = self.stipple.wrapping_add(pixels.cut(common.scissor));
        for (count, (first, last)) in (begin..).zip(pixels) {
            let drawn = raster.stipple.is_none_or(|pattern| {
                let step = (count / u64::from(pattern.repeat.max(1)) % 16) as u32;
                let bit = if pattern.high_first { 15 - step } else { step };
                pattern.pattern >> bit & 1 == 1
            });
            if !drawn {
                continue;
            }
            let Some(([mut x, mut y], last)) = within(common.scissor, first, last) else { continue };
            loop {
                let (px, py) = (x as i32, y as i32);
                let (qx, qy) = (px & !1, py & !1);
                if held.is_none_or(|quad| (quad.x, quad.y) != (qx, qy)) {
                    quads.extend(held.take());
                }
                let quad = held.get_or_insert(QuadCoverage { x: qx, y: qy, masks: [0; 4] });
                quad.masks[((px & 1) + 2 * (py & 1)) as usize] = all;
                if [x, y] == last {
                    break;
                }
                (x, y) = (x + (last[0] - x).signum(), y + (last[1] - y).signum());
            }
        }
        quads.extend(held);
        self.stipple = end;
        self.cover(common.scissor, sink, |_, _, emit| quads.into_iter().for_each(emit))
    }
}

/// The part of a column or row of pixels that lies in a rectangle.
fn within(rect: Rect, first: [i64; 2], last: [i64; 2]) -> Option<([i64; 2], [i64; 2])> {
    let low = [first[0].max(rect.left.into()), first[1].max(rect.top.into())];
    let high = [last[0].min(i64::from(rect.right) - 1), last[1].min(i64::from(rect.bottom) - 1)];
    (low[0] <= high[0] && low[1] <= high[1]).then_some((low, high))
}

/// What is added to the depths of a primitive.
fn depth_offset(offset: DepthOffset, step: DepthStep, slopes: [f64; 2], corners: &[WindowVertex]) -> f64 {
    let slope = slopes[0].abs().max(slopes[1].abs());
    let step = match step {
        DepthStep::Fixed(power) => 2f64.powi(power.into()),
        DepthStep::Float(power) => {
            let largest = corners.iter().map(|corner| corner.z.abs()).fold(0.0, f64::max);
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
