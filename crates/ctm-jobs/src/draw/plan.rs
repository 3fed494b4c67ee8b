//! The description of a picture, as plain data: targets, draws, state. A job file or flags fill it in; programs can, too.

use super::camera::Camera;
use super::mesh::{Channel, Mesh};
use ctm_device::EngineKind;
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::state::{
    Blend, BlendEquation, ColourState, Combine, Compare as PixelCompare, DepthState, Factor, RasterState, Topology,
};
use ctm_exec::r700::Sampler;
use ctm_exec::r700::resources::{Compare, Filter, Image, MipFilter, TextureKind, Wrap};
use ctm_exec::{Budget, Control};
use ctm_files::Program;
use ctm_files::array::Items;
use ctm_launch::Ref;
use std::path::PathBuf;
use std::sync::Arc;

/// A picture: targets, and draws into them in order.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Columns and rows of all targets.
    pub size: [u32; 2],
    /// Samples of a pixel: 1, 2, 4 or 8.
    pub samples: u32,
    /// Colour targets, by number; numbers differ.
    pub targets: Vec<TargetPlan>,
    /// The depth target, if there is one.
    pub depth: Option<DepthPlan>,
    /// The draws, at least one.
    pub draws: Vec<DrawPlan>,
    /// Which engine.
    pub engine: EngineKind,
    /// One thread instead of all cores.
    pub one_thread: bool,
    /// Programs report legal but suspicious operations, and more is checked before drawing.
    pub check: bool,
    /// Column and row of a pixel whose fragments are reported.
    pub at: Option<[u32; 2]>,
    /// The primitives and pixels that end at each stage are counted, and primitives are listed.
    pub funnel: bool,
    /// Constants that a viewer may change.
    pub sliders: Vec<crate::job::Slider>,
    /// Limits of a group of a program, and of each draw.
    pub budget: Budget,
    /// Can end it.
    pub control: Control,
}

impl Drawing {
    /// A square with these programs into one target of 8 bits a channel, with depth.
    #[must_use]
    pub fn new<P: Into<ProgramSource>>(programs: Vec<P>) -> Self {
        Self {
            size: [256, 256],
            samples: 1,
            targets: vec![TargetPlan::new(0)],
            depth: Some(DepthPlan::default()),
            draws: vec![DrawPlan::new(programs)],
            engine: EngineKind::default(),
            one_thread: false,
            check: false,
            at: None,
            funnel: false,
            sliders: Vec::new(),
            budget: Budget::default(),
            control: Control::none(),
        }
    }
}

impl Drawing {
    /// The value of a slider's number in the first draw that gives its constant; `None`: none does.
    #[must_use]
    pub fn slider_value(&self, slider: &crate::job::Slider) -> Option<f32> {
        let found = self.draws.iter().flat_map(|draw| &draw.constants).find(|(slot, _)| slider.is_of(slot))?;
        found.1.get(slider.element).copied()
    }

    /// Gives a slider's number a value in every draw that has its constant.
    pub fn slide(&mut self, slider: &crate::job::Slider, value: f32) {
        for (slot, values) in self.draws.iter_mut().flat_map(|draw| &mut draw.constants) {
            if slider.is_of(slot)
                && let Some(number) = values.get_mut(slider.element)
            {
                *number = value;
            }
        }
    }
}

/// A colour target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPlan {
    /// Its number, 0..=7.
    pub number: u8,
    /// The stored format of colours.
    pub format: ColourFormat,
    /// Its colour before the first draw.
    pub clear: [f32; 4],
    /// Files that it is saved to at the end: pictures of 8 bits, or arrays of all its values.
    pub saves: Vec<PathBuf>,
}

impl TargetPlan {
    /// Eight bits a channel, black.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self { number, format: ColourFormat::RGBA8, clear: [0.0, 0.0, 0.0, 1.0], saves: Vec::new() }
    }
}

/// The depth target.
#[derive(Clone, Debug, PartialEq)]
pub struct DepthPlan {
    /// The stored format of depth and stencil.
    pub format: DepthFormat,
    /// The depth before the first draw.
    pub clear: f32,
    /// The stencil value before it.
    pub stencil: u8,
    /// Where depths go, of the first sample.
    pub save: Option<PathBuf>,
    /// Where stencil values go, of the first sample.
    pub save_stencil: Option<PathBuf>,
}

impl Default for DepthPlan {
    /// A float of 32 bits, 1 before the first draw.
    fn default() -> Self {
        Self { format: DepthFormat::D32Float, clear: 1.0, stencil: 0, save: None, save_stencil: None }
    }
}

/// Where a program of a draw comes from.
#[derive(Clone, Debug)]
pub enum ProgramSource {
    /// A file.
    File(PathBuf),
    /// One that has been read.
    Given(Program),
    /// The bytes of a file that holds one or several programs, and a name for messages.
    Bytes(Arc<[u8]>, Arc<str>),
}

impl From<PathBuf> for ProgramSource {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<Program> for ProgramSource {
    fn from(program: Program) -> Self {
        Self::Given(program)
    }
}

/// The vertices of a draw.
///
/// ```
/// use ctm::draw::{Mesh, MeshSource};
///
/// let named: MeshSource = "cube".into();
/// assert_eq!(named, MeshSource::Named("cube".into()));
/// let given: MeshSource = Mesh::from_rows(&[-1.0, -1.0, 0.0, 3.0, -1.0, 0.0, -1.0, 3.0, 0.0], 3)?.into();
/// assert!(matches!(given, MeshSource::Given(mesh) if mesh.vertices.len() == 3));
/// # Ok::<(), ctm::draw::MeshError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum MeshSource {
    /// A built-in mesh, or a file: OBJ, glTF, or an array of vertices.
    Named(String),
    /// One in memory.
    Given(Arc<Mesh>),
}

impl From<&str> for MeshSource {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<String> for MeshSource {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<Mesh> for MeshSource {
    fn from(mesh: Mesh) -> Self {
        Self::Given(Arc::new(mesh))
    }
}

/// One draw.
#[derive(Clone, Debug)]
pub struct DrawPlan {
    /// Its name in messages.
    pub name: Option<String>,
    /// A container, or a vertex and a pixel program; or one pixel program of X1K.
    pub programs: Vec<ProgramSource>,
    /// The vertex and the fragment shader in GLSL that the programs were compiled from, where known: their lines are named in answers.
    pub glsl: Vec<PathBuf>,
    /// Its vertices and their order.
    pub mesh: MeshSource,
    /// The kind of primitives, where it differs from the mesh's.
    pub topology: Option<Topology>,
    /// How often the mesh is drawn.
    pub instances: u32,
    /// This index ends a primitive.
    pub restart: Option<u32>,
    /// Constants: a uniform's name, a number or `c` and a number, or `cb` with a bank and `[number]`; `vs:` or `ps:` in front chooses a program. Numbers of four each.
    pub constants: Vec<(Ref, Vec<f32>)>,
    /// Matrices of a viewer: a name as in [`Self::constants`], or an empty one. The first one transforms the vertices of a draw with an X1K program, and
    /// gives uniforms with usual names ([`MatrixKind::of_name`](super::MatrixKind::of_name)) their matrices where nothing else does.
    pub cameras: Vec<(Ref, Camera)>,
    /// Uniform blocks, constant buffers and attributes from arrays.
    pub blocks: Vec<BlockBinding>,
    /// Textures.
    pub textures: Vec<TextureBinding>,
    /// Sources of attributes: an attribute's name or location, and a channel of the mesh. Other attributes are matched by name.
    pub attributes: Vec<(Ref, Channel)>,
    /// Sources of attributes besides the mesh: an attribute's name or location, and x, y, z, w of each vertex.
    pub arrays: Vec<(Ref, Vec<[f32; 4]>)>,
    /// X1K programs: initial values of temporaries, from 0 on.
    pub interpolants: Vec<Channel>,
    /// Targets that it draws to; `None`: all.
    pub targets: Option<Vec<u8>>,
    /// Column, row, width and height of the viewport; `None`: everything.
    pub viewport: Option<[f32; 4]>,
    /// Depths of the near and the far plane.
    pub depth_range: [f32; 2],
    /// z is cut at 0 and w, instead of -w and w.
    pub half_z: bool,
    /// Nothing is cut at the near and far planes.
    pub depth_clamp: bool,
    /// Planes in clip space that cut, up to six.
    pub clip_planes: Vec<[f32; 4]>,
    /// From primitives to pixels; samples are the drawing's.
    pub raster: RasterState,
    /// Depth and stencil; the program's depth export is declared in its container.
    pub depth: DepthState,
    /// Colours.
    pub colour: ColourState,
}

impl DrawPlan {
    /// A square with these programs; nearer pixels hide farther ones.
    #[must_use]
    pub fn new<P: Into<ProgramSource>>(programs: Vec<P>) -> Self {
        Self {
            name: None,
            programs: programs.into_iter().map(Into::into).collect(),
            glsl: Vec::new(),
            mesh: "quad".into(),
            topology: None,
            instances: 1,
            restart: None,
            constants: Vec::new(),
            cameras: Vec::new(),
            blocks: Vec::new(),
            textures: Vec::new(),
            attributes: Vec::new(),
            arrays: Vec::new(),
            interpolants: vec![Channel::Texcoord, Channel::Colour, Channel::Normal, Channel::Position],
            targets: None,
            viewport: None,
            depth_range: [0.0, 1.0],
            half_z: false,
            depth_clamp: false,
            clip_planes: Vec::new(),
            raster: RasterState::default(),
            depth: DepthState { test: Some(PixelCompare::LessEqual), write: true, ..DepthState::default() },
            colour: ColourState::default(),
        }
    }

    /// Sets the blending of colours in all targets.
    pub fn mix(&mut self, mixing: Mixing) {
        self.colour.targets.iter_mut().for_each(|target| target.blend = mixing.blend());
    }
}

/// Blending of colours, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mixing {
    /// They replace it.
    #[default]
    None,
    /// By their alpha.
    Alpha,
    /// By their alpha, which they are already multiplied with.
    Premultiplied,
    /// They are added.
    Add,
    /// They are multiplied.
    Multiply,
}

impl Mixing {
    /// Every way with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("none", Self::None),
        ("alpha", Self::Alpha),
        ("premultiplied", Self::Premultiplied),
        ("add", Self::Add),
        ("multiply", Self::Multiply),
    ];

    /// The equation.
    #[must_use]
    pub const fn blend(self) -> Option<Blend> {
        let (source, destination) = match self {
            Self::None => return None,
            Self::Alpha => (Factor::SourceAlpha, Factor::OneMinusSourceAlpha),
            Self::Premultiplied => (Factor::One, Factor::OneMinusSourceAlpha),
            Self::Add => (Factor::One, Factor::One),
            Self::Multiply => (Factor::DestinationColour, Factor::Zero),
        };
        Some(Blend { colour: BlendEquation { source, destination, combine: Combine::Add }, alpha: None })
    }
}

/// Which faces are not drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say what they are")]
pub enum Cull {
    #[default]
    None,
    Front,
    Back,
}

impl Cull {
    /// Every choice with its name.
    pub const ALL: [(&'static str, Self); 3] = [("none", Self::None), ("front", Self::Front), ("back", Self::Back)];

    /// Sets it.
    pub const fn of(self, raster: &mut RasterState) {
        raster.cull_front = matches!(self, Self::Front);
        raster.cull_back = matches!(self, Self::Back);
    }
}

/// The numbers of a [`BlockBinding`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockData {
    /// An array (`.npy`), or bytes as they are (`.raw`, `.bin`).
    File(PathBuf),
    /// An array in memory.
    Given(Arc<Items>),
}

/// A uniform block, a constant buffer, a uniform or an attribute that an array fills.
///
/// Dwords go to a block as they are: an array of 32 matrices of 4 x 4 floats is `mat4 bones[32]` in the std140 layout, each row of the array a column of the matrix. The
/// numbers of a block with one member may leave its padding out. Items of 64 bits become 32 bits wide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockBinding {
    /// The name of a block, a uniform or an attribute, or a bank's number or `cb` and the number; `vs:` or `ps:` in front chooses a program.
    pub slot: Ref,
    /// The numbers.
    pub data: BlockData,
}

/// Where a texture's elements come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextureData {
    /// Texture or picture files. Several are the faces, layers or slices of one.
    Files(Vec<PathBuf>),
    /// Texels in memory.
    Given(Arc<Image>),
    /// The contents of this colour target when the draw begins; of several samples their mean.
    Target(u8),
    /// The contents of the depth target when the draw begins, of the first sample.
    Depth,
}

/// A texture that is bound.
///
/// ```
/// use ctm::Program;
/// use ctm::draw::{DrawPlan, Drawing, TextureBinding, TextureData};
///
/// // The second draw copies, upside down, the first one's target 0.
/// let colour = Program::assemble(".output o = o0\nmov o, r0")?;
/// let copy = Program::assemble(".input t = s0\n.output o = o0\nmad r0.rg, r0.rg, c0.rg, c0.ba\ntex r1, t, r0.rg scaled\nmov o, r1")?;
/// let mut drawing = Drawing::new(vec![colour]);
/// drawing.size = [4, 4];
/// let mut second = DrawPlan::new(vec![copy]);
/// second.constants.push(("c0".into(), vec![1.0, -1.0, 0.0, 1.0]));
/// second.textures.push(TextureBinding::new("s0", TextureData::Target(0)));
/// drawing.draws.push(second);
/// let drawn = drawing.prepare()?.draw(0.0)?;
/// // s of the first pixel is 1/8 of 255, and t was that of the last row.
/// assert_eq!(drawn.pixels()[..2], [32, 223]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TextureBinding {
    /// The sampler's name, a number, or `t` and a number.
    pub slot: Ref,
    /// Its elements.
    pub data: TextureData,
    /// How they are arranged; `None`: as the file says.
    pub kind: Option<TextureKind>,
    /// Smaller levels are made where the file has none.
    pub make_levels: bool,
    /// How it is sampled.
    pub sampler: Sampler,
}

impl TextureBinding {
    /// A file, with a linear filter, repeating. Where levels are chosen and the file has none, they are computed.
    #[must_use]
    pub fn file(slot: impl Into<Ref>, file: impl Into<PathBuf>) -> Self {
        Self::new(slot, TextureData::Files(vec![file.into()]))
    }

    /// The same of any elements.
    #[must_use]
    pub fn new(slot: impl Into<Ref>, data: TextureData) -> Self {
        let sampler = Sampler {
            magnify: Filter::Linear,
            minify: Filter::Linear,
            mip: MipFilter::None,
            wrap: [Wrap::Repeat; 3],
            compare: Compare::Never,
            seamless: true,
            ..Sampler::default()
        };
        Self { slot: slot.into(), data, kind: None, make_levels: true, sampler }
    }
}
