//! State of pixels: comparisons, stencil, depth, blending, colours.

pub use ctm_exec::r700::resources::Compare;
use ctm_exec::transcendental::ex2;

use ctm_exec::float::number;

/// An operation on a stencil value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say what they are")]
pub enum StencilOp {
    #[default]
    Keep,
    Zero,
    /// The reference.
    Replace,
    IncrementClamp,
    DecrementClamp,
    Invert,
    IncrementWrap,
    DecrementWrap,
}

/// Stencil test and operations of front or back faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilFace {
    /// `(reference & mask) compare (stored & mask)`.
    pub compare: Compare,
    /// The reference, unless the program exports one.
    pub reference: u8,
    /// Bits that are compared.
    pub mask: u8,
    /// Bits that are written.
    pub write_mask: u8,
    /// Where the stencil test fails.
    pub fail: StencilOp,
    /// Where it passes and the depth test fails.
    pub depth_fail: StencilOp,
    /// Where both pass.
    pub pass: StencilOp,
}

impl Default for StencilFace {
    fn default() -> Self {
        Self {
            compare: Compare::Always,
            reference: 0,
            mask: 0xff,
            write_mask: 0xff,
            fail: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            pass: StencilOp::Keep,
        }
    }
}

/// Depth and stencil tests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthState {
    /// The depth test; `None`: it passes and nothing is written.
    pub test: Option<Compare>,
    /// Whether depth is written where the test passes.
    pub write: bool,
    /// Stencil of front faces, points and lines; `None`: no stencil test.
    pub stencil: Option<StencilFace>,
    /// Stencil of back faces, if it is another.
    pub stencil_back: Option<StencilFace>,
    /// x of the depth export is the depth.
    pub export_depth: bool,
    /// y of the depth export is the stencil reference, an integer.
    pub export_stencil: bool,
    /// z of the depth export is the sample mask, an integer.
    pub export_mask: bool,
    /// The depth export of X1K programs is not theirs: it is element x of this initial register.
    pub export_start: Option<u8>,
    /// Killed pixels are dropped; without it kills are ignored.
    pub kill: bool,
    /// This depth is written instead of the interpolated one.
    pub clear_depth: Option<f32>,
    /// This stencil value is written instead of the operations' result.
    pub clear_stencil: Option<u8>,
    /// Instead of the program's colour, target 0 gets stored depth (field X) and stencil (field Y) of a sample.
    pub copy: Option<DepthCopy>,
    /// Samples that pass are not counted ([`crate::Counts::samples_passed`]).
    pub counts_nothing: bool,
}

/// The part of the depth target that is copied to target 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthCopy {
    /// Depth, to the field in the lowest bits.
    pub depth: bool,
    /// Stencil, to the second field.
    pub stencil: bool,
    /// The first covered sample, instead of [`Self::sample`].
    pub first_covered: bool,
    /// Which sample.
    pub sample: u8,
}

/// A factor of blending. In alpha factors, colours mean their alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say what they are; s: source, d: destination, c: constant, s1: second source")]
pub enum Factor {
    Zero,
    #[default]
    One,
    SourceColour,
    OneMinusSourceColour,
    SourceAlpha,
    OneMinusSourceAlpha,
    DestinationAlpha,
    OneMinusDestinationAlpha,
    DestinationColour,
    OneMinusDestinationColour,
    /// min(source alpha, 1 - destination alpha); 1 for alpha.
    SourceAlphaSaturate,
    /// As a source factor: the source factor is source alpha, the destination factor 1 minus it.
    BothSourceAlpha,
    /// As a source factor: the source factor is 1 - source alpha, the destination factor source alpha.
    BothInverseSourceAlpha,
    ConstantColour,
    OneMinusConstantColour,
    Source1Colour,
    OneMinusSource1Colour,
    Source1Alpha,
    OneMinusSource1Alpha,
    ConstantAlpha,
    OneMinusConstantAlpha,
}

/// The equation that combines source and destination, multiplied by their factors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Source plus destination.
    #[default]
    Add,
    /// Source minus destination.
    Subtract,
    /// Destination minus source.
    ReverseSubtract,
    /// The smaller one; factors do not count.
    Min,
    /// The larger one; factors do not count.
    Max,
}

/// Blending of one group of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlendEquation {
    /// Factor of the source.
    pub source: Factor,
    /// Factor of the destination.
    pub destination: Factor,
    /// How both are combined.
    pub combine: Combine,
}

impl Default for BlendEquation {
    /// The source.
    fn default() -> Self {
        Self { source: Factor::One, destination: Factor::Zero, combine: Combine::Add }
    }
}

impl BlendEquation {
    /// Whether a factor is of the second output.
    #[must_use]
    pub const fn reads_source1(&self) -> bool {
        const fn is_second(factor: Factor) -> bool {
            matches!(
                factor,
                Factor::Source1Colour
                    | Factor::OneMinusSource1Colour
                    | Factor::Source1Alpha
                    | Factor::OneMinusSource1Alpha
            )
        }
        is_second(self.source) || is_second(self.destination)
    }
}

/// Blending of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blend {
    /// Of red, green and blue.
    pub colour: BlendEquation,
    /// Of alpha; `None`: as colour.
    pub alpha: Option<BlendEquation>,
}

impl Blend {
    /// Whether the second output is a factor.
    #[must_use]
    pub fn reads_source1(&self) -> bool {
        [Some(self.colour), self.alpha].into_iter().flatten().any(|of| of.reads_source1())
    }
}

/// The operation on stored bits instead of blending: bit k is the result for source bit `k >> 1` and destination bit `k & 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogicOp(pub u8);

impl LogicOp {
    /// The source.
    pub const COPY: Self = Self(0xc);

    /// The result for bits of source and destination.
    #[must_use]
    pub fn apply(self, source: u128, destination: u128) -> u128 {
        let term = |bit: u8, bits: u128| if self.0 >> bit & 1 == 1 { bits } else { 0 };
        term(0, !source & !destination)
            | term(1, !source & destination)
            | term(2, source & !destination)
            | term(3, source & destination)
    }
}

/// How one target takes colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColourTargetState {
    /// Channels that are written, bit 0 = red: the target's mask and the program's exports combined.
    pub write_mask: u8,
    /// Blending; `None`: the colour is stored unblended. Integer targets are never blended.
    pub blend: Option<Blend>,
    /// Whether source, destination, constant and result of blending are clamped to the format's range. Formats of fractions clamp when they
    /// store in any case.
    pub blend_clamp: bool,
    /// Numbers are truncated towards zero instead of rounded to the nearest when they are stored.
    pub truncate: bool,
}

impl Default for ColourTargetState {
    fn default() -> Self {
        Self { write_mask: 15, blend: None, blend_clamp: true, truncate: false }
    }
}

/// The numbers to which an alpha is rounded before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlphaSteps {
    /// The nearest multiple of 1 over this number, from 0 to 1.
    Unorm(u16),
    /// The nearest half float, halves to even.
    Half,
}

impl AlphaSteps {
    fn rounded(self, alpha: f32) -> f32 {
        match self {
            Self::Unorm(steps) => (alpha.clamp(0.0, 1.0) * f32::from(steps)).round() / f32::from(steps),
            Self::Half => half(alpha),
        }
    }
}

/// The nearest half float. Its last digit is 10 binary digits below the first, and 2^-24 at the least; 65520 and more are infinite.
fn half(value: f32) -> f32 {
    let exponent = (value.to_bits() >> 23 & 0xff).max(113);
    if exponent == 0xff {
        return value;
    }
    // A power of two: both steps of scaling are exact.
    let last_digit = f32::from_bits((exponent - 10) << 23);
    let rounded = (value / last_digit).round_ties_even() * last_digit;
    if rounded.abs() > 65504.0 { f32::INFINITY.copysign(value) } else { rounded }
}

/// The alpha test, on output 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaTest {
    /// Alpha compare reference.
    pub compare: Compare,
    /// The reference.
    pub reference: f32,
    /// The numbers that alpha is rounded to before; `None`: it is compared unchanged.
    pub steps: Option<AlphaSteps>,
}

impl AlphaTest {
    /// Whether an alpha passes. Denormals are zeros.
    #[must_use]
    pub fn passes(&self, alpha: f32) -> bool {
        let [alpha, reference] = [alpha, self.reference].map(|value| number(value.to_bits()));
        self.compare.holds(&self.steps.map_or(alpha, |steps| steps.rounded(alpha)), &reference)
    }
}

/// Fog: red, green and blue of every output become mixes with a colour, before the alpha test. Alpha stays. Of X1K programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fog {
    /// Element x of this initial register is the distance.
    pub register: u8,
    /// From distances to shares.
    pub curve: FogCurve,
    /// Red, green and blue of the fog.
    pub colour: [f32; 3],
}

/// The share that a pixel keeps of its own colour, by its distance. Distances are limited to 0 to 1; NaN is 0.
///
/// UNVERIFIED: the functions. Linear fog is none at distance 0 and all at 1, as an old driver's scale and offset want it; its scales of the other two, 0.0933 and 0.3 times
/// the density of OpenGL's `e^-(density * z)` and `e^-(density * z)^2`, are those of a power of 2^-16 within the driver's digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FogCurve {
    /// `1 - distance`.
    Linear,
    /// `2^(-16 * distance)`.
    Exp,
    /// `2^(-16 * distance^2)`.
    Exp2,
    /// This share at every distance.
    Constant(f32),
}

impl FogCurve {
    /// The share at a distance.
    #[must_use]
    pub fn share(self, distance: f32) -> f32 {
        let distance = if distance.is_nan() { 0.0 } else { distance.clamp(0.0, 1.0) };
        let power = |exponent: f32| f32::from_bits(ex2((-16.0 * exponent).to_bits()));
        match self {
            Self::Linear => 1.0 - distance,
            Self::Exp => power(distance),
            Self::Exp2 => power(distance * distance),
            Self::Constant(share) => share,
        }
    }
}

impl Fog {
    /// A colour's element at a distance, and the fog's.
    #[must_use]
    pub fn mixed(&self, element: usize, value: f32, distance: f32) -> f32 {
        let share = self.curve.share(distance);
        match self.colour.get(element) {
            Some(fog) => value * share + fog * (1.0 - share),
            None => value,
        }
    }
}

/// State of colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourState {
    /// Each target.
    pub targets: [ColourTargetState; 8],
    /// The constant colour of blending.
    pub constant: [f32; 4],
    /// An operation on stored bits, instead of blending; [`LogicOp::COPY`] has no effect.
    pub logic: LogicOp,
    /// Output 0 goes to every target.
    pub multiwrite: bool,
    /// Fog.
    pub fog: Option<Fog>,
    /// The alpha test.
    pub alpha_test: Option<AlphaTest>,
    /// The covered samples of a pixel become fewer by the alpha of output 0: sample k stays where `alpha * samples > (k' + 0.5)`, k' being k moved on by
    /// the pixel's offset in its quad. UNVERIFIED: the pattern.
    pub alpha_to_coverage: Option<[u8; 4]>,
    /// Instead of drawing colours: target 1 gets the mean of the samples of target 0.
    pub resolve: bool,
}

impl Default for ColourState {
    fn default() -> Self {
        Self {
            targets: [ColourTargetState::default(); 8],
            constant: [0.0; 4],
            logic: LogicOp::COPY,
            multiwrite: false,
            fog: None,
            alpha_test: None,
            alpha_to_coverage: None,
            resolve: false,
        }
    }
}
