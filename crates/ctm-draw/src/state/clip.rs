//! State of clipping, and viewports.

use crate::rect::Rect;

/// A viewport.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    /// Factors of x, y, z after the division by w.
    pub scale: [f32; 3],
    /// The offset added then: x and y in pixels, z in depth.
    pub offset: [f32; 3],
    /// Depth is clamped to these, per sample, exported depth too.
    pub depth: [f32; 2],
    /// Pixels outside are not drawn.
    pub scissor: Option<Rect>,
}

impl Viewport {
    /// A viewport of OpenGL's kind on a surface with row 0 on top: y up in clip space becomes up on the surface; depth 0 to 1 of z from -w to w
    /// (`half`: from 0 to w).
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "sizes of surfaces")]
    pub fn of_size(width: u32, height: u32, half: bool) -> Self {
        let (w, h) = (width as f32, height as f32);
        let z = if half { (1.0, 0.0) } else { (0.5, 0.5) };
        let scissor = Some(Rect { left: 0, top: 0, right: width.cast_signed(), bottom: height.cast_signed() });
        Self { scale: [w / 2.0, -h / 2.0, z.0], offset: [w / 2.0, h / 2.0, z.1], depth: [0.0, 1.0], scissor }
    }
}

impl Default for Viewport {
    /// Positions are window positions.
    fn default() -> Self {
        Self { scale: [1.0; 3], offset: [0.0; 3], depth: [0.0, 1.0], scissor: None }
    }
}

/// Clipping and viewports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipState<'a> {
    /// Up to 16, chosen by the vertex program's viewport number. Missing ones are the default.
    pub viewports: &'a [Viewport],
    /// No clipping at all; no primitive is dropped for its w.
    pub disabled: bool,
    /// z goes from 0 to w, instead of from -w to w.
    pub half_z: bool,
    /// No near plane.
    pub no_near: bool,
    /// No far plane.
    pub no_far: bool,
    /// User planes: parts with a negative product with the position are cut off.
    pub user_planes: [Option<[f32; 4]>; 6],
    /// Planes reject primitives that are wholly outside of one, but do not cut.
    pub planes_only_cull: bool,
    /// Exported distances that cut.
    pub clip_distances: u8,
    /// Exported distances: a primitive is dropped if one of them is negative at all of its vertices.
    pub cull_distances: u8,
    /// x and y are cut off beyond these multiples of w.
    pub guard_band: [f32; 2],
    /// A primitive is dropped if any vertex has the kill flag, instead of all.
    pub any_kill: bool,
    /// Edges that cutting makes are drawn in line mode.
    pub cut_edges_are_drawn: bool,
    /// Every primitive is dropped, after stream output.
    pub discard: bool,
    /// x and y are already divided by w.
    pub xy_divided: bool,
    /// z is already divided by w.
    pub z_divided: bool,
    /// The exported w is 1/w.
    pub w_is_reciprocal: bool,
}

impl Default for ClipState<'_> {
    fn default() -> Self {
        Self {
            viewports: &[],
            disabled: false,
            half_z: false,
            no_near: false,
            no_far: false,
            user_planes: [None; 6],
            planes_only_cull: false,
            clip_distances: 0,
            cull_distances: 0,
            guard_band: [1.0; 2],
            any_kill: false,
            cut_edges_are_drawn: false,
            discard: false,
            xy_divided: false,
            z_divided: false,
            w_is_reciprocal: false,
        }
    }
}
