//! All that a draw depends on, as plain fields: what a driver sets in registers, without the registers.
//!
//! Begin with [`DrawState`] and [`Draw`]. Everything has a default that draws plainly: no tests, no blending, a viewport of nothing. Numbers that are
//! fixed-point in registers are floats here.

use crate::clip::ClipState;
use crate::raster::RasterState;
use ctm_exec::r700::{Constants, Memory, Semantic};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Chip;

/// What primitives are made of the vertices of a draw.
///
/// | topology | vertices | primitives |
/// |---|---|---|
/// | points | n | each |
/// | lines, with neighbours | 2n, 4n | (2i, 2i+1); (4i+1, 4i+2) |
/// | strip, loop, strip with neighbours | n+1, n, n+3 | (i, i+1), a loop ends with (n-1, 0); (i+1, i+2) |
/// | triangles, with neighbours | 3n, 6n | (3i, 3i+1, 3i+2); (6i, 6i+2, 6i+4) |
/// | strip | n+2 | even i: (i, i+1, i+2); odd i: (i+1, i, i+2) |
/// | fan, polygon | n+2, n | (0, i+1, i+2) |
/// | strip with neighbours | 2n+4 | even i: (2i, 2i+2, 2i+4); odd i: (2i+2, 2i, 2i+4) |
/// | quads | 4n | two triangles: (0, 1, 2) and (0, 2, 3) of each four |
/// | quad strip | 2n+2 | quads (2i, 2i+1, 2i+3, 2i+2) |
/// | rectangles | 3n | the box around three of its corners |
///
/// What is left over makes no primitive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the table above says what they are")]
pub enum Topology {
    Points,
    Lines,
    LineStrip,
    LineLoop,
    LinesAdjacent,
    LineStripAdjacent,
    #[default]
    Triangles,
    TriangleStrip,
    TriangleFan,
    TrianglesAdjacent,
    TriangleStripAdjacent,
    Quads,
    QuadStrip,
    Polygon,
    Rectangles,
}

/// Where the vertex numbers of a draw come from.
#[derive(Clone, Copy, Debug, Default)]
pub enum Indices<'a> {
    /// 0, 1, 2 and so on.
    #[default]
    Counted,
    /// An array.
    U8(&'a [u8]),
    /// An array.
    U16(&'a [u16]),
    /// An array.
    U32(&'a [u32]),
}

/// One draw.
#[derive(Clone, Copy, Debug, Default)]
pub struct Draw<'a> {
    /// What primitives are made.
    pub topology: Topology,
    /// Where vertex numbers come from.
    pub indices: Indices<'a>,
    /// How many indices. More than the array holds are not there.
    pub count: u32,
    /// How often all of it is drawn; the instance number counts from 0.
    pub instances: u32,
}

/// How indices become vertex numbers and start values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputState {
    /// Added to every index, fetched or counted, as a signed number; wraps.
    pub index_offset: i32,
    /// Indices below are raised to it. The limits act before the offset is added. UNVERIFIED: the order.
    pub least_index: u32,
    /// Indices above are lowered to it.
    pub most_index: u32,
    /// This fetched index ends the primitive and begins a new one; compared before limits and offset act. Indices of 8 and 16 bits are compared as
    /// they are, with zeros above.
    pub restart: Option<u32>,
    /// Instances that have the same value in R0.y; 0: R0.y starts as 0.
    pub step_rate_0: u32,
    /// Instances that have the same value in R0.z, unless that is the primitive's number; 0: R0.z starts as 0.
    pub step_rate_1: u32,
    /// The vertex program gets the number of its primitive in R0.z: the vertices of every primitive run anew.
    pub primitive_number: bool,
    /// Added to the index of vertex fetches of vertex data.
    pub vertex_offset: u32,
    /// Added to the index of vertex fetches of instance data.
    pub instance_offset: u32,
}

impl Default for InputState {
    fn default() -> Self {
        Self {
            index_offset: 0,
            least_index: 0,
            most_index: u32::MAX,
            restart: None,
            step_rate_0: 0,
            step_rate_1: 0,
            primitive_number: false,
            vertex_offset: 0,
            instance_offset: 0,
        }
    }
}

/// A program of R700 with what it can reach.
#[derive(Clone, Copy)]
pub struct Stage<'a> {
    /// The program.
    pub program: &'a Program,
    /// What `CALL_FS` calls.
    pub fetch_program: Option<&'a Program>,
    /// Constants that do not lie in memory.
    pub constants: &'a Constants,
    /// Constant buffers, buffers, textures and samplers. Only what reads is asked for.
    pub memory: &'a dyn Memory,
    /// Which register semantic fetches write.
    pub semantics: &'a [Semantic],
}

impl std::fmt::Debug for Stage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("program", &self.program).finish_non_exhaustive()
    }
}

/// What becomes of a vertex program's exports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexOutputs<'a> {
    /// The semantic number of each parameter export, in order.
    pub semantics: &'a [u8],
    /// Position export 1 is there: x point size, y edge flag, z layer, w viewport or kill flag. The distances follow behind what is there.
    pub misc: bool,
    /// x of the misc vector is the point size.
    pub point_size: bool,
    /// y of the misc vector is the edge flag, an integer; 0: the edge that starts here is not drawn in line mode, nor the vertex in point mode.
    pub edge_flag: bool,
    /// z of the misc vector is the layer, an integer.
    pub layer: bool,
    /// w of the misc vector is the viewport's number, an integer.
    pub viewport: bool,
    /// w of the misc vector is the kill flag. UNVERIFIED: the element.
    pub kill: bool,
    /// The next position export holds distances 0 to 3.
    pub distances_low: bool,
    /// The next position export holds distances 4 to 7.
    pub distances_high: bool,
}

/// How a parameter is interpolated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// With perspective.
    #[default]
    Perspective,
    /// Linear in the window.
    Linear,
    /// The provoking vertex's value.
    Flat,
}

/// Where in a pixel a parameter is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// At its centre.
    #[default]
    Centre,
    /// At the mean of its covered samples; at its centre if all or none are covered. UNVERIFIED: the mean.
    Centroid,
    /// At the sample that the program runs for; at the centre where it runs for pixels.
    Sample,
}

/// One register that a pixel program starts with: entry i of the list fills GPR i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelInput {
    /// The number that is looked for among [`VertexOutputs::semantics`]; the first match counts.
    pub semantic: u8,
    /// Bits of the four elements where no parameter has the number.
    pub default: [u32; 4],
    /// How.
    pub interpolation: Interpolation,
    /// Where.
    pub place: Place,
    /// For points: elements are replaced as [`PixelInputs::sprite`] says.
    pub sprite: bool,
}

/// What an element of a sprite's parameter is replaced by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpriteElement {
    /// 0.0.
    Zero,
    /// 1.0.
    One,
    /// 0 at the left edge of the point to 1 at the right.
    S,
    /// 0 at the top row to 1 at the bottom; the reverse with [`PixelInputs::sprite_top_is_one`].
    T,
    /// Not replaced.
    #[default]
    Parameter,
}

/// What registers of a pixel program start with.
#[derive(Clone, Copy, Debug, Default)]
pub struct PixelInputs<'a> {
    /// Parameters, by register.
    pub parameters: &'a [PixelInput],
    /// What replaces the elements of sprite parameters when points are drawn.
    pub sprite: [SpriteElement; 4],
    /// T is 1 at the top edge.
    pub sprite_top_is_one: bool,
    /// The register that gets the position: x and y in the window, z the depth, w the clip-space w. Goes before a parameter.
    pub position: Option<u8>,
    /// Where the position is evaluated.
    pub position_place: Place,
    /// The register and element that get the face: 1.0 for front faces, points and lines, -1.0 for back faces. UNVERIFIED: the value of back faces;
    /// drivers compare with 0. With it, z of the register is the coverage mask, an integer.
    pub face: Option<(u8, u8)>,
    /// The register that gets column, row, coverage mask and sample number as integers.
    pub fixed_position: Option<u8>,
    /// The register, and which elements of it, that get the sprite's coordinates (s, t, 0, 1) when points are drawn (0 otherwise).
    pub generated: Option<(u8, u8)>,
}

/// Comparison of a new value (left) with a stored one (right).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say what they are")]
pub enum Compare {
    Never,
    Less,
    Equal,
    LessEqual,
    Greater,
    NotEqual,
    GreaterEqual,
    #[default]
    Always,
}

impl Compare {
    /// Whether `new compare stored` holds. NaN is only not equal.
    pub fn holds<T: PartialOrd>(self, new: &T, stored: &T) -> bool {
        match self {
            Self::Never => false,
            Self::Less => new < stored,
            Self::Equal => new == stored,
            Self::LessEqual => new <= stored,
            Self::Greater => new > stored,
            Self::NotEqual => new != stored,
            Self::GreaterEqual => new >= stored,
            Self::Always => true,
        }
    }
}

/// What becomes of a stencil value.
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
    /// Killed pixels are dropped; without it kills are ignored.
    pub kill: bool,
    /// This depth is written instead of the interpolated one.
    pub clear_depth: Option<f32>,
    /// This stencil value is written instead of what the operations give.
    pub clear_stencil: Option<u8>,
    /// Instead of the program's colour, target 0 gets stored depth (field X) and stencil (field Y) of a sample.
    pub copy: Option<DepthCopy>,
    /// Samples that pass are not counted ([`crate::Counts::samples_passed`]).
    pub counts_nothing: bool,
}

/// What of the depth target is sent to target 0.
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

/// How source and destination, multiplied by their factors, are combined.
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

/// Blending of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blend {
    /// Of red, green and blue.
    pub colour: BlendEquation,
    /// Of alpha; `None`: as colour.
    pub alpha: Option<BlendEquation>,
}

/// What is done to stored bits instead of blending: bit k is the result for source bit `k >> 1` and destination bit `k & 1`.
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
    /// Channels that are written, bit 0 = red: what the target lets pass and what the program exports.
    pub write_mask: u8,
    /// Blending; `None`: the colour is stored as it is. Integer targets are never blended.
    pub blend: Option<Blend>,
    /// Whether source, destination, constant and result of blending are clamped to the format's range. Formats of fractions clamp when they
    /// store in any case.
    pub blend_clamp: bool,
    /// Numbers are cut off towards zero instead of rounded to the nearest when they are stored.
    pub truncate: bool,
}

impl Default for ColourTargetState {
    fn default() -> Self {
        Self { write_mask: 15, blend: None, blend_clamp: true, truncate: false }
    }
}

/// The alpha test, on output 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlphaTest {
    /// Alpha compare reference.
    pub compare: Compare,
    /// The reference.
    pub reference: f32,
}

/// What becomes of colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourState {
    /// Each target.
    pub targets: [ColourTargetState; 8],
    /// The constant colour of blending.
    pub constant: [f32; 4],
    /// On stored bits, instead of blending; [`LogicOp::COPY`] is none.
    pub logic: LogicOp,
    /// Output 0 goes to every target.
    pub multiwrite: bool,
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
            alpha_test: None,
            alpha_to_coverage: None,
            resolve: false,
        }
    }
}

/// Where vertices come from.
#[derive(Clone, Copy, Debug)]
pub enum VertexSource<'a> {
    /// A vertex program runs for every vertex number.
    Program(Stage<'a>),
    /// Vertices as a vertex program would have exported them, by vertex number. A vertex that is not there has zeros.
    Given {
        /// Position exports: position, then what [`VertexOutputs`] says is there. Floats as bits.
        positions: &'a [&'a [[u32; 4]]],
        /// Parameter exports. Floats as bits.
        parameters: &'a [&'a [[u32; 4]]],
    },
}

/// The program that makes colours.
#[derive(Clone, Copy, Debug)]
pub enum PixelSource<'a> {
    /// None: depth and stencil only.
    Nothing,
    /// A pixel program of R700.
    Program(Stage<'a>),
}

/// All that a draw depends on, but for the targets ([`crate::Targets`]).
#[derive(Clone, Copy, Debug)]
pub struct DrawState<'a> {
    /// The chip of the programs.
    pub chip: Chip,
    /// From indices to vertices.
    pub input: InputState,
    /// The vertices.
    pub vertices: VertexSource<'a>,
    /// What they export.
    pub outputs: VertexOutputs<'a>,
    /// Clipping and viewports.
    pub clip: ClipState<'a>,
    /// From primitives to pixels.
    pub raster: RasterState,
    /// What pixel programs start with.
    pub inputs: PixelInputs<'a>,
    /// The pixel program.
    pub pixels: PixelSource<'a>,
    /// Depth and stencil.
    pub depth: DepthState,
    /// Colours.
    pub colour: ColourState,
}

impl<'a> DrawState<'a> {
    /// Draws these vertices with this program, everything else being its default.
    #[must_use]
    pub fn new(vertices: VertexSource<'a>, pixels: PixelSource<'a>) -> Self {
        Self {
            chip: Chip::Rv770,
            input: InputState::default(),
            vertices,
            outputs: VertexOutputs::default(),
            clip: ClipState::default(),
            raster: RasterState::default(),
            inputs: PixelInputs::default(),
            pixels,
            depth: DepthState::default(),
            colour: ColourState::default(),
        }
    }
}
