//! Inspection of primitives: the funnel up to the tests of pixels, the outlines of primitives, and the fragments of a watched pixel that end here.

use crate::assembly::Primitive;
use crate::raster::QuadCoverage;
use crate::rect::Rect;
use crate::setup::Setup;
use crate::setup::piece::{Coverer, Piece};
use crate::state::{Loss, Losses, Options, RasterState};

/// The window: no position lies outside.
pub(super) const WINDOW: Rect = Rect { left: -(1 << 22), top: -(1 << 22), right: 1 << 22, bottom: 1 << 22 };

/// The most outlines that are listed.
const OUTLINES: usize = 1 << 16;

/// A primitive, or a part that clipping left of one, as it lies in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The primitive's number in the draw and instance.
    pub primitive: u32,
    /// The instance.
    pub instance: u32,
    /// The numbers of its vertices; a line repeats its end, a point its only one.
    pub vertices: [u32; 3],
    /// Column, row and depth of its corners, in pixels; `None` where it ended before the window.
    pub corners: Option<[[f64; 3]; 3]>,
    /// Whether it is a front face, a point or a line.
    pub is_front: bool,
    /// Where it ended; `None`: it has pixels in the targets.
    pub loss: Option<Loss>,
}

/// A fragment of the watched pixel that ended before its tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missed {
    pub(crate) primitive: u32,
    pub(crate) instance: u32,
    pub(crate) is_front: bool,
    pub(crate) layer: u32,
    pub(crate) covered: u8,
    pub(crate) loss: Loss,
}

/// The inspection of a draw's primitives.
#[derive(Debug)]
pub(crate) struct Inspection {
    pub(crate) losses: Losses,
    pub(crate) outlines: Vec<Outline>,
    pub(crate) missed: Vec<Missed>,
    /// Outlines are listed.
    lists: bool,
    watch: Option<[i32; 2]>,
    /// All pixels of the targets.
    targets: Rect,
    /// The rasteriser's state, whose masks of pixels and samples are applied here.
    raster: RasterState,
    /// The same without masks.
    unmasked: RasterState,
    /// Memory of pieces.
    pub(super) pieces: Vec<Piece>,
}

impl Inspection {
    /// The inspection that the options ask for. `targets`: all pixels of the targets.
    pub(crate) fn of(options: &Options, raster: &RasterState, targets: Rect) -> Option<Box<Self>> {
        if !options.funnel && options.watch.is_none() {
            return None;
        }
        // Without targets the scissor is the only limit.
        let targets = if targets.right == i32::MAX { raster.scissor } else { targets };
        Some(Box::new(Self {
            losses: Losses::default(),
            outlines: Vec::new(),
            missed: Vec::new(),
            lists: options.funnel,
            watch: options.watch.map(|at| at.map(|n| i32::try_from(n).unwrap_or(i32::MAX))),
            targets,
            raster: *raster,
            unmasked: RasterState { clip_rectangles: None, sample_mask: [u8::MAX; 4], ..*raster },
            pieces: Vec::new(),
        }))
    }

    /// Counts a primitive with the pieces that it has in the window. `ended`: the reason why it is not drawn, if it is known; `viewport`: the viewport's rectangle.
    pub(super) fn count(
        &mut self,
        primitive: &Primitive,
        (pieces, ended): (&[Piece], Option<Loss>),
        viewport: Option<Rect>,
    ) {
        let mut covered = 0;
        for piece in pieces {
            covered += self.pixels(piece, ended, viewport);
        }
        let in_targets = || pieces.iter().any(|piece| piece.bounds().meets(self.targets));
        let loss = match ended {
            Some(loss) => Some(loss),
            None if covered > 0 => None,
            None if pieces.is_empty() || in_targets() => Some(Loss::NoSample),
            None => Some(Loss::OutsideTargets),
        };
        match loss {
            Some(loss) => self.losses.lose(loss, 1),
            None => self.losses.rasterised += 1,
        }
        let outline = |setup: Option<&Setup>| Outline {
            primitive: primitive.number,
            instance: primitive.instance,
            vertices: primitive.vertices,
            corners: setup.map(|setup| {
                setup.corners.map(|corner| {
                    let [x, y] = corner.at.map(|at| setup.unit.in_pixels(at));
                    [x, y, corner.z]
                })
            }),
            is_front: setup.is_none_or(|setup| setup.is_front),
            loss,
        };
        if self.lists && self.outlines.len() < OUTLINES {
            if pieces.is_empty() {
                self.outlines.push(outline(None));
            }
            self.outlines.extend(pieces.iter().map(|piece| outline(Some(&piece.setup))));
        }
    }

    /// Counts the pixels of a piece in the targets; returns how many there are. `ended`: it is not drawn.
    fn pixels(&mut self, piece: &Piece, ended: Option<Loss>, viewport: Option<Rect>) -> u64 {
        let Self { losses, missed, watch, targets, raster, unmasked, .. } = self;
        let setup = &piece.setup;
        let per_sample = raster.per_sample && raster.samples.count > 1;
        // Of a primitive that is not drawn only the watched pixel counts.
        let within = match (ended, *watch) {
            (None, _) => *targets,
            (Some(_), Some([x, y])) => {
                Rect { left: x & !1, top: y & !1, right: (x & !1) + 2, bottom: (y & !1) + 2 }.and(*targets)
            }
            (Some(_), None) => return 0,
        };
        let mut count = 0;
        Coverer::new(unmasked).cover(piece, within, &mut |quad: QuadCoverage| {
            for (n, &mask) in quad.masks.iter().enumerate().filter(|(_, mask)| **mask != 0) {
                let [x, y] = [quad.x + (n as i32 & 1), quad.y + (n as i32 >> 1)];
                let loss = match () {
                    () if ended.is_some() => ended,
                    () if viewport.is_some_and(|of| !of.contains(x, y)) => Some(Loss::ViewportScissor),
                    () if !raster.scissor.contains(x, y) => Some(Loss::Scissor),
                    () if !raster.passes_clip_rectangles(x, y) => Some(Loss::ClipRectangles),
                    () if mask & raster.sample_mask[n] == 0 => Some(Loss::SampleMask),
                    () => None,
                };
                let left = if loss.is_some() { mask } else { mask & raster.sample_mask[n] };
                let fragments = if per_sample { u64::from(left.count_ones()) } else { 1 };
                count += fragments;
                let Some(loss) = loss else { continue };
                if ended.is_none() {
                    losses.lose(loss, fragments);
                }
                if *watch == Some([x, y]) {
                    let &Setup { primitive, instance, is_front, layer, .. } = setup;
                    missed.push(Missed { primitive, instance, is_front, layer, covered: mask, loss });
                }
            }
        });
        if ended.is_none() {
            losses.covered += count;
        }
        count
    }
}
