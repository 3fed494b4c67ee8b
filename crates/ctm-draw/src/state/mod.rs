//! All state of a draw, as plain fields: the values that a driver sets in registers, without the registers.
//!
//! Begin with [`DrawState`] and [`Draw`]. Everything has a default that draws plainly: no tests, no blending, a viewport of nothing. Numbers that are
//! fixed-point in registers are floats here.

mod clip;
mod funnel;
mod pixels;
mod raster;
mod run;

pub use crate::rect::{FARTHEST, PixelPlace, PositionUnit, Rect};
pub use clip::{ClipState, Viewport};
pub(crate) use funnel::Losses;
pub use funnel::{Funnel, Loss, LossUnit, Lost};
pub use pixels::{
    AlphaSteps, AlphaTest, Blend, BlendEquation, ColourState, ColourTargetState, Combine, Compare, DepthCopy,
    DepthState, Factor, Fog, FogCurve, LogicOp, StencilFace, StencilOp,
};
pub use raster::{DepthOffset, DepthStep, Fill, RasterState, Rounding, SamplePattern, SamplePoints, Stipple};
pub use run::{Counts, DrawError, LaunchNotice, Note, Notice, Options};

use ctm_exec::r700::{Constants, Memory, Semantic};
use ctm_isa::live::Channels;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Chip;
use ctm_isa::x1k::Inst;
use ctm_isa::x1k::ops::TexOp;

/// The kind of primitives that a draw's vertices form.
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
/// Vertices that are left over form no primitive.
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

impl Topology {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 15] = [
        Self::Points,
        Self::Lines,
        Self::LineStrip,
        Self::LineLoop,
        Self::LinesAdjacent,
        Self::LineStripAdjacent,
        Self::Triangles,
        Self::TriangleStrip,
        Self::TriangleFan,
        Self::TrianglesAdjacent,
        Self::TriangleStripAdjacent,
        Self::Quads,
        Self::QuadStrip,
        Self::Polygon,
        Self::Rectangles,
    ];
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
    /// The kind of primitives.
    pub topology: Topology,
    /// Where vertex numbers come from.
    pub indices: Indices<'a>,
    /// How many indices. More than the array holds are not there.
    pub count: u32,
    /// The count of instances; the instance number begins at 0.
    pub instances: u32,
}

/// How indices become vertex numbers and start values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputState {
    /// Added to every index, fetched or counted, as a signed number; wraps.
    pub index_offset: i32,
    /// Lower indices are raised to it. The limits act before the offset is added. UNVERIFIED: the order.
    pub least_index: u32,
    /// Indices above are lowered to it.
    pub most_index: u32,
    /// This fetched index ends the primitive and begins a new one; compared before limits and offset act. Indices of 8 and 16 bits are compared as
    /// they are, with zeros above.
    pub restart: Option<u32>,
    /// The count of instances with the same value in R0.y; 0: R0.y starts as 0.
    pub step_rate_0: u32,
    /// The count of instances with the same value in R0.z, unless that is the primitive's number; 0: R0.z starts as 0.
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

/// A program of R700 with its resources.
#[derive(Clone, Copy)]
pub struct StageProgram<'a> {
    /// The program.
    pub program: &'a Program,
    /// The program of `CALL_FS`.
    pub fetch_program: Option<&'a Program>,
    /// Constants that do not lie in memory.
    pub constants: &'a Constants,
    /// Constant buffers, buffers, textures and samplers; only those that the program reads are requested.
    pub memory: &'a dyn Memory,
    /// Which register semantic fetches write.
    pub semantics: &'a [Semantic],
}

impl std::fmt::Debug for StageProgram<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("program", &self.program).finish_non_exhaustive()
    }
}

/// The meaning of a vertex program's exports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VertexOutputs<'a> {
    /// The semantic number of each parameter export, in order.
    pub semantics: &'a [u8],
    /// Position export 1 exists: x point size, y edge flag, z layer, w viewport or kill flag. The distances follow the exports that exist.
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
    /// No parameter: the column and the row of the pixel as numbers, then zeros.
    PixelNumber,
}

impl Interpolation {
    /// By the bits of an input: flat counts more than linear.
    #[must_use]
    pub const fn of(flat: bool, linear: bool) -> Self {
        match (flat, linear) {
            (true, _) => Self::Flat,
            (false, true) => Self::Linear,
            (false, false) => Self::Perspective,
        }
    }
}

/// Where in a pixel a parameter is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Place {
    /// At its centre.
    #[default]
    Centre,
    /// At the mean of its covered samples; at its centre if all or none are covered. UNVERIFIED: the mean.
    Centroid,
    /// At the sample of the program's run; at the centre where it runs for pixels.
    Sample,
}

impl Place {
    /// By the bits of an input: the sample overrides the centroid.
    #[must_use]
    pub const fn of(sample: bool, centroid: bool) -> Self {
        match (sample, centroid) {
            (true, _) => Self::Sample,
            (false, true) => Self::Centroid,
            (false, false) => Self::Centre,
        }
    }
}

/// One initial register of a pixel program: entry i of the list fills GPR i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelInput {
    /// The number that is searched in [`VertexOutputs::semantics`]; the first match counts.
    pub semantic: u8,
    /// The number for back faces, where it is another one.
    pub back: Option<u8>,
    /// Bits of the four elements where no parameter has the number.
    pub default: [u32; 4],
    /// How.
    pub interpolation: Interpolation,
    /// Where.
    pub place: Place,
    /// For points: elements are replaced by [`PixelInputs::sprite`].
    pub sprite: bool,
}

impl PixelInput {
    /// The parameter export that it is in a face; `None` where there is none.
    #[must_use]
    pub fn parameter(&self, outputs: &VertexOutputs<'_>, is_front: bool) -> Option<usize> {
        let semantic = self.back.filter(|_| !is_front).unwrap_or(self.semantic);
        outputs.semantics.iter().position(|&id| id == semantic)
    }

    /// The hardware's choices of [`Self::default`], by number (DEFAULT_VAL of SPI_PS_INPUT_CNTL).
    pub const DEFAULTS: [[u32; 4]; 4] = {
        const ONE: u32 = 1f32.to_bits();
        [[0; 4], [0, 0, 0, ONE], [ONE, ONE, ONE, 0], [ONE; 4]]
    };
}

/// The replacement of an element of a sprite's parameter.
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

/// Initial register values of a pixel program.
#[derive(Clone, Copy, Debug, Default)]
pub struct PixelInputs<'a> {
    /// Parameters, by register.
    pub parameters: &'a [PixelInput],
    /// Replacements of the elements of sprite parameters when points are drawn.
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
    /// The register and the elements of it that get the sprite's coordinates (s, t, 0, 1) when points are drawn (0 otherwise).
    pub generated: Option<(u8, u8)>,
    /// Elements whose values have no effect on the program ([`unused_at_start`](ctm_isa::r700::check::unused_at_start)). They are 0, unless the program is watched or checked.
    pub unused: Channels,
}

/// Where vertices come from.
#[derive(Clone, Copy, Debug)]
pub enum VertexSource<'a> {
    /// A vertex program runs for every vertex number.
    Program(StageProgram<'a>),
    /// Vertices as a vertex program would have exported them, by vertex number. Missing vertices have zeros.
    Given {
        /// Position exports: position, then those that [`VertexOutputs`] names. Floats as bits.
        positions: &'a [&'a [[u32; 4]]],
        /// Parameter exports. Floats as bits.
        parameters: &'a [&'a [[u32; 4]]],
    },
}

/// The output primitives of a geometry program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say what they are")]
pub enum GeometryOutput {
    Points,
    LineStrip,
    #[default]
    TriangleStrip,
}

/// A geometry program between vertices and primitives. The vertex program then leaves its vertices in a ring (MEM_RING); the geometry program reads them, leaves its own
/// in a second ring and says where strips end; a copy program reads that and exports.
#[derive(Clone, Copy, Debug)]
pub struct GeometryState<'a> {
    /// The geometry program. It starts with R0 = offsets of vertices 0 and 1 in the first ring, the primitive's number, the offset of vertex 2; R1 = offsets of
    /// vertices 3 to 5, the invocation's number, which is 0. Offsets are in dwords.
    pub program: StageProgram<'a>,
    /// The copy program; [`VertexOutputs`] describes its exports. It starts with R0.x = the offset of its vertex in the second ring.
    pub copy: StageProgram<'a>,
    /// Its output primitives.
    pub output: GeometryOutput,
    /// Dwords of a vertex in the first ring.
    pub input_vertex_dwords: u32,
    /// Dwords of each invocation of the geometry program in the second ring.
    pub invocation_dwords: u32,
    /// Dwords of an emitted vertex in the second ring: vertex k of an invocation begins at k times this.
    pub vertex_dwords: u32,
    /// The most vertices of an invocation; further ones are dropped.
    pub most_vertices: u32,
    /// The buffer by which the geometry program reads the first ring, its items being dwords.
    pub input_buffer: u8,
    /// The buffer by which the copy program reads the second ring, its items being dwords.
    pub copy_buffer: u8,
}

/// Stream output: vertices of primitives, in order, into [`crate::Targets::streams`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamOutput {
    /// Dwords from one vertex to the next in each buffer.
    pub vertex_dwords: [u32; 4],
    /// Buffers of the output, bit 0 = buffer 0. A primitive is stored in all of them, or in none.
    pub buffers: u8,
}

/// The program that makes colours.
#[derive(Clone, Copy, Debug)]
pub enum PixelSource<'a> {
    /// None: depth and stencil only.
    Nothing,
    /// A pixel program of R700.
    Program(StageProgram<'a>),
    /// A pixel program of X1K. Parameter i is temporary i at the start; outputs A to D go to targets 0 to 3, and the conditional value is the depth export, unless
    /// [`DepthState::export_start`] is. It has no sample mask or integer inputs.
    X1k(X1kStage<'a>),
}

/// A program of X1K with its resources.
#[derive(Clone, Copy)]
pub struct X1kStage<'a> {
    /// The program.
    pub program: &'a ctm_isa::x1k::Program,
    /// The constants, literals included.
    pub constants: &'a ctm_exec::x1k::Constants,
    /// The inputs.
    pub memory: &'a dyn ctm_exec::x1k::Memory,
}

impl X1kStage<'_> {
    /// Whether a program may kill pixels: only then do tests wait for it.
    #[must_use]
    pub fn kills(program: &ctm_isa::x1k::Program) -> bool {
        let kills = |inst: Inst| matches!(inst, Inst::Tex(tex) if tex.inst.op == TexOp::KillLt0);
        program.words.iter().any(|words| Inst::decode(words).is_ok_and(kills))
    }
}

impl std::fmt::Debug for X1kStage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("X1kStage").field("program", &self.program).finish_non_exhaustive()
    }
}

/// All state of a draw, except for the targets ([`crate::Targets`]).
#[derive(Clone, Copy, Debug)]
pub struct DrawState<'a> {
    /// The chip of the programs.
    pub chip: Chip,
    /// From indices to vertices.
    pub input: InputState,
    /// The vertices.
    pub vertices: VertexSource<'a>,
    /// A geometry program; the vertices must come from a program then.
    pub geometry: Option<GeometryState<'a>>,
    /// Stream output, by the vertex program or the copy program.
    pub stream_output: Option<StreamOutput>,
    /// Their exports.
    pub outputs: VertexOutputs<'a>,
    /// Clipping and viewports.
    pub clip: ClipState<'a>,
    /// From primitives to pixels.
    pub raster: RasterState,
    /// Initial values of pixel programs.
    pub inputs: PixelInputs<'a>,
    /// The pixel program.
    pub pixels: PixelSource<'a>,
    /// Depth and stencil.
    pub depth: DepthState,
    /// Colours.
    pub colour: ColourState,
}

impl<'a> DrawState<'a> {
    /// Draws these vertices with this program, with defaults for all other state.
    #[must_use]
    pub fn new(vertices: VertexSource<'a>, pixels: PixelSource<'a>) -> Self {
        Self {
            chip: Chip::Rv770,
            input: InputState::default(),
            vertices,
            geometry: None,
            stream_output: None,
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
