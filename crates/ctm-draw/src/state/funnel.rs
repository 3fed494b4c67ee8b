//! The funnel of a draw: how many primitives and pixels ended at each stage, and the state that ended them.
//!
//! Every primitive is counted once, and so is every pixel that a primitive covers inside the targets. Pixels of a program that runs for each sample are counted for
//! each of its samples.

use super::{ColourState, DrawState, Fill, PixelSource, StencilFace};
use std::fmt;

/// The unit of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossUnit {
    /// Primitives.
    Primitive,
    /// Pixels that primitives cover.
    Pixel,
}

/// One row a loss, in the order of the pipeline:
///
/// ```text
/// /// Documentation.
/// BackFace Primitive "back-face" "back faces";
/// ```
///
/// becomes `Loss::BackFace`, its unit, its name for programs and its name for people.
macro_rules! losses {
    ($($(#[$doc:meta])* $name:ident $unit:ident $key:literal $words:literal;)*) => {
        /// Where a primitive or a pixel ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Loss {
            $($(#[$doc])* $name,)*
        }

        impl Loss {
            /// All, in the order of the pipeline.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The unit that it is counted in.
            #[must_use]
            pub const fn unit(self) -> LossUnit {
                match self {
                    $(Self::$name => LossUnit::$unit,)*
                }
            }

            /// Its name for programs.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }

            /// Its name for people.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }
    };
}

losses! {
    /// The state drops all primitives.
    Discarded Primitive "discarded" "dropped: rasterisation is off";
    /// Kill flags of vertices.
    VertexKill Primitive "vertex-kill" "killed by a flag of their vertices";
    /// A cull distance is negative at all vertices.
    CullDistance Primitive "cull-distance" "culled by a distance that vertices export";
    /// A position is NaN.
    NotANumber Primitive "not-a-number" "with a position that is not a number";
    /// w is not above 0 at any vertex.
    BehindViewer Primitive "behind-viewer" "behind the viewer: w is not above 0";
    /// Wholly left of the view volume.
    Left Primitive "left" "left of the view volume: x < -w";
    /// Wholly right of it.
    Right Primitive "right" "right of the view volume: x > w";
    /// Wholly below it.
    Below Primitive "below" "below the view volume: y < -w";
    /// Wholly above it.
    Above Primitive "above" "above the view volume: y > w";
    /// Wholly before the near plane.
    Near Primitive "near" "before the near plane";
    /// Wholly past the far plane.
    Far Primitive "far" "past the far plane: z > w";
    /// Wholly outside a user plane.
    UserPlane Primitive "user-plane" "outside a clip plane";
    /// A clip distance is negative at all vertices.
    ClipDistance Primitive "clip-distance" "outside by a clip distance that vertices export";
    /// Several planes together leave nothing.
    ClippedAway Primitive "clipped-away" "outside: several planes together leave nothing";
    /// The division by w has no result.
    NoDivision Primitive "no-division" "with a position whose division by w has no result";
    /// The corners are on one line.
    NoArea Primitive "no-area" "without area";
    /// Culled front faces.
    FrontFace Primitive "front-face" "front faces, which are culled";
    /// Culled back faces.
    BackFace Primitive "back-face" "back faces, which are culled";
    /// Triangles drawn as lines or points of which no edge or vertex is drawn.
    NoEdge Primitive "no-edge" "without an edge or vertex that is drawn";
    /// Primitives between the places of samples.
    NoSample Primitive "no-sample" "too small: no sample of a pixel is covered";
    /// Primitives in the window that miss the targets.
    OutsideTargets Primitive "outside-targets" "outside the targets";
    /// Pixels outside the rectangle of the viewport.
    ViewportScissor Pixel "viewport-scissor" "outside the rectangle of the viewport";
    /// Pixels outside the scissor.
    Scissor Pixel "scissor" "outside the scissor";
    /// Pixels that clip rectangles exclude.
    ClipRectangles Pixel "clip-rectangles" "excluded by clip rectangles";
    /// Pixels all of whose covered samples the mask excludes.
    SampleMask Pixel "sample-mask" "excluded by the sample mask";
    /// Pixels whose samples fail the stencil test.
    Stencil Pixel "stencil" "failed the stencil test";
    /// Pixels whose samples fail the depth test.
    Depth Pixel "depth" "failed the depth test";
    /// Pixels that the program killed.
    Killed Pixel "killed" "killed by the program";
    /// Pixels that failed the alpha test.
    AlphaTest Pixel "alpha-test" "failed the alpha test";
    /// Pixels of which alpha to coverage or the exported mask left no sample.
    Coverage Pixel "coverage" "left without a sample by alpha to coverage or the exported mask";
    /// Pixels that only the depth target takes, as the draw has no pixel program.
    DepthOnly Pixel "depth-only" "stored in the depth target only: there is no pixel program";
    /// Pixels of which no colour channel is written.
    Masked Pixel "masked" "masked: no channel of a colour target is written";
    /// Pixels for which the program exported nothing to a written target.
    Unexported Pixel "unexported" "never exported: the program exported no colour for a written target";
    /// Pixels whose stored colours are those that were there.
    Unchanged Pixel "unchanged" "stored without a change: the colours were there already";
}

/// A count of one loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where they ended.
    pub loss: Loss,
    /// How many.
    pub count: u64,
    /// The state that ended them, in words; empty where no state decides.
    pub state: String,
}

/// The funnel of a draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Funnel {
    /// Primitives that were assembled, or that the geometry program emitted.
    pub primitives: u64,
    /// Of these, those with a pixel in the targets.
    pub rasterised: u64,
    /// Pixels of the targets that these cover.
    pub covered: u64,
    /// Of these, those whose colours changed.
    pub stored: u64,
    /// Where the others ended, in the order of the pipeline.
    pub lost: Vec<Lost>,
}

/// Counts under way.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    counts: Vec<u64>,
    pub(crate) rasterised: u64,
    pub(crate) covered: u64,
    pub(crate) stored: u64,
}

impl Default for Losses {
    fn default() -> Self {
        Self { counts: vec![0; Loss::ALL.len()], rasterised: 0, covered: 0, stored: 0 }
    }
}

impl Losses {
    pub(crate) fn lose(&mut self, loss: Loss, count: u64) {
        self.counts[loss as usize] += count;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        self.rasterised += other.rasterised;
        self.covered += other.covered;
        self.stored += other.stored;
    }

    /// The funnel of a draw with this state.
    pub(crate) fn funnel(&self, state: &DrawState<'_>, primitives: u64) -> Funnel {
        let counted = Loss::ALL.iter().zip(&self.counts).filter(|(_, count)| **count > 0);
        let lost = counted.map(|(&loss, &count)| Lost { loss, count, state: loss.state(state) });
        let Self { rasterised, covered, stored, .. } = *self;
        Funnel { primitives, rasterised, covered, stored, lost: lost.collect() }
    }
}

impl Loss {
    /// The state of a draw that decides about it, in words.
    #[must_use]
    fn state(self, state: &DrawState<'_>) -> String {
        let (raster, clip, depth, colour) = (&state.raster, &state.clip, &state.depth, &state.colour);
        let rect = |of: super::Rect| format!("columns {}..{}, rows {}..{}", of.left, of.right, of.top, of.bottom);
        match self {
            Self::Discarded => "every primitive is dropped".into(),
            Self::VertexKill => {
                format!("a flag of {} vertex drops a primitive", if clip.any_kill { "any" } else { "every" })
            }
            Self::CullDistance => format!("cull distances {}", numbers(clip.cull_distances)),
            Self::ClipDistance => format!("clip distances {}", numbers(clip.clip_distances)),
            Self::Left | Self::Right | Self::Below | Self::Above => {
                let [x, y] = clip.guard_band;
                if [x, y] == [1.0; 2] { String::new() } else { format!("the guard band is {x} by {y} times w") }
            }
            Self::Near => if clip.half_z { "z < 0" } else { "z < -w" }.into(),
            Self::UserPlane => {
                let of = clip.user_planes.iter().enumerate().filter_map(|(n, plane)| plane.map(|plane| (n, plane)));
                of.map(|(n, [a, b, c, d])| format!("plane {n}: {a}, {b}, {c}, {d}")).collect::<Vec<_>>().join("; ")
            }
            Self::FrontFace | Self::BackFace => {
                let front = if raster.clockwise_is_front { "clockwise" } else { "counter-clockwise" };
                let culled = match (raster.cull_front, raster.cull_back) {
                    (true, true) => "front and back faces are",
                    (true, false) => "front faces are",
                    _ => "back faces are",
                };
                format!("{culled} culled, {front} triangles are front faces")
            }
            Self::NoEdge => match raster.fill_front {
                Fill::Points => "triangles are drawn as points".into(),
                Fill::Lines => "triangles are drawn as lines".into(),
                Fill::Triangles => String::new(),
            },
            Self::ViewportScissor => {
                let of = clip.viewport(0).scissor.map_or_else(String::new, rect);
                if clip.viewports.len() > 1 { format!("viewport 0: {of}") } else { of }
            }
            Self::Scissor => rect(raster.scissor),
            Self::ClipRectangles => {
                raster.clip_rectangles.map_or_else(String::new, |(_, rule)| format!("rule {rule:#06x}"))
            }
            Self::SampleMask => format!("mask {:?}", raster.sample_mask),
            Self::Stencil => {
                let of = |face: StencilFace| {
                    let StencilFace { compare, reference, mask, .. } = face;
                    format!("{compare:?} with reference {reference}, mask {mask:#x}")
                };
                let front = depth.stencil.map(of);
                let back = depth.stencil_back.map(|face| format!("; back faces {}", of(face)));
                [front, back].into_iter().flatten().collect()
            }
            Self::Depth => {
                let of = depth.test.map_or_else(String::new, |compare| format!("{compare:?}, depth "));
                format!("{of}{}", if depth.write { "is written" } else { "is not written" })
            }
            Self::AlphaTest => {
                colour.alpha_test.map_or_else(String::new, |test| format!("{:?} {}", test.compare, test.reference))
            }
            Self::Coverage => {
                let alpha = colour.alpha_to_coverage.map(|_| "alpha to coverage is on");
                let mask = depth.export_mask.then_some("the program exports a sample mask");
                [alpha, mask].into_iter().flatten().collect::<Vec<_>>().join(", ")
            }
            Self::DepthOnly => match state.pixels {
                PixelSource::Nothing => "the draw has no pixel program".into(),
                PixelSource::Program(_) | PixelSource::X1k(_) => String::new(),
            },
            Self::Masked => masks(colour),
            Self::Unchanged => {
                let blends = colour.targets.iter().any(|target| target.blend.is_some());
                if blends { "blending is on".into() } else { String::new() }
            }
            Self::NotANumber
            | Self::BehindViewer
            | Self::Far
            | Self::ClippedAway
            | Self::NoDivision
            | Self::NoArea
            | Self::NoSample
            | Self::OutsideTargets
            | Self::Killed
            | Self::Unexported => String::new(),
        }
    }
}

/// The write masks of targets.
fn masks(colour: &ColourState) -> String {
    let of: Vec<String> = colour.targets.iter().map(|target| format!("{:04b}", target.write_mask)).collect();
    if of.iter().all(|mask| *mask == of[0]) {
        return if colour.targets[0].write_mask == 0 {
            "the write mask of every target is 0".into()
        } else {
            "no colour target is bound".into()
        };
    }
    format!("write masks of targets 0 to 7, alpha to red: {}", of.join(" "))
}

/// The numbers of set bits.
fn numbers(bits: u8) -> String {
    (0..8).filter(|n| bits >> n & 1 == 1).map(|n: u8| n.to_string()).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Funnel {
    /// A line for each stage.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = |f: &mut fmt::Formatter<'_>, unit| {
            for Lost { loss, count, state } in self.lost.iter().filter(|lost| lost.loss.unit() == unit) {
                let state = if state.is_empty() { String::new() } else { format!(" ({state})") };
                writeln!(f, "{:>10}  {}{state}", format!("- {count}"), loss.words())?;
            }
            Ok(())
        };
        writeln!(f, "{:>10}  primitives", self.primitives)?;
        lines(f, LossUnit::Primitive)?;
        writeln!(f, "{:>10}  rasterised", self.rasterised)?;
        if self.rasterised > 0 {
            writeln!(f, "{:>10}  pixels covered", self.covered)?;
            lines(f, LossUnit::Pixel)?;
            writeln!(f, "{:>10}  stored", self.stored)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_has_a_name_of_its_own() {
        let keys: std::collections::BTreeSet<&str> = Loss::ALL.iter().map(|loss| loss.key()).collect();
        assert_eq!(keys.len(), Loss::ALL.len());
        for (n, &loss) in Loss::ALL.iter().enumerate() {
            assert_eq!(loss as usize, n);
            assert!(!loss.words().is_empty());
        }
    }
}
