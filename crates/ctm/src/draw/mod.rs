//! Pictures of a vertex and a pixel program: what `ctm draw` does.
//!
//! | file | what |
//! |---|---|
//! | `pair` | the two programs and how they are linked |
//! | `mesh` | what is drawn |
//! | `camera` | the matrix of a viewer |
//!
//! A [`Drawing`] binds by the names in the programs' container. [`ctm_draw`] is the interface below it, with all state.

mod camera;
mod mesh;
mod pair;

pub use camera::Camera;
pub use mesh::{BUILT_IN, Channel, Mesh};
pub use pair::{Attribute, Links, Pair, Part, UniformPlace};

use crate::EngineKind;
use crate::array::{Array, Kind, Values};
use crate::job::{JobError, read_file};
use ctm_draw::clip::{ClipState, Viewport};
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::layout::Layout;
use ctm_draw::raster::{RasterState, Rect, SamplePattern};
use ctm_draw::state::{
    Blend, BlendEquation, Combine, Compare, DepthState, Draw, DrawState, Factor, Indices, PixelInputs, PixelSource,
    Stage, Topology, VertexOutputs, VertexSource,
};
use ctm_draw::{ColourTarget, Counts, DepthTarget, DrawError, Options, Targets, clear_colour, clear_depth, draw};
use ctm_exec::Engine;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Filter, Image, MipFilter, Wrap};
use ctm_exec::r700::{Arrays, Constants, Sampler};
use ctm_exec::x1k::arrays::Picture;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage as ProgramStage;
use ctm_isa::suggest::closest;
use std::fmt;
use std::path::PathBuf;

/// Why nothing was drawn.
#[derive(Clone, Debug)]
pub enum Error {
    /// What the job's parts say of files.
    Job(JobError),
    /// Something does not fit.
    Wrong {
        /// Its stable name.
        rule: &'static str,
        /// What was found and what is allowed; lower case, no full stop.
        message: String,
    },
    /// A draw.
    Draw(DrawError),
}

impl Error {
    fn wrong(rule: &'static str, message: impl Into<String>) -> Self {
        Self::Wrong { rule, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(error) => write!(f, "{error}"),
            Self::Wrong { message, .. } => f.write_str(message),
            Self::Draw(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

/// How colours go over what is there.
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

    fn blend(self) -> Option<Blend> {
        let of = |source, destination| {
            let colour = BlendEquation { source, destination, combine: Combine::Add };
            Some(Blend { colour, alpha: None })
        };
        match self {
            Self::None => None,
            Self::Alpha => of(Factor::SourceAlpha, Factor::OneMinusSourceAlpha),
            Self::Premultiplied => of(Factor::One, Factor::OneMinusSourceAlpha),
            Self::Add => of(Factor::One, Factor::One),
            Self::Multiply => of(Factor::DestinationColour, Factor::Zero),
        }
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

/// A picture bound as a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureBinding {
    /// The sampler's name, or `t` and a number.
    pub name: String,
    /// A picture file.
    pub file: PathBuf,
    /// Nearest or linear.
    pub filter: Filter,
    /// Beyond the edges.
    pub wrap: Wrap,
}

/// Everything that a picture depends on.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// A container, or a vertex and a pixel program.
    pub programs: Vec<PathBuf>,
    /// A built-in mesh or an OBJ file.
    pub mesh: String,
    /// Columns and rows.
    pub size: [u32; 2],
    /// Samples of a pixel: 1, 2, 4 or 8.
    pub samples: u32,
    /// Colour before the draw.
    pub clear: [f32; 4],
    /// Constants: a uniform's name, `c` and a number, or `cb` with a bank and `[number]`; `vs:` or `ps:` in front chooses a program. Numbers of four each.
    pub constants: Vec<(String, Vec<f32>)>,
    /// Matrices of a viewer: a name as of [`Self::constants`].
    pub cameras: Vec<(String, Camera)>,
    /// Textures.
    pub textures: Vec<TextureBinding>,
    /// What attributes take: an attribute's name or location, and a channel of the mesh. Those that are not named go by their names.
    pub attributes: Vec<(String, Channel)>,
    /// Faces that are not drawn.
    pub cull: Cull,
    /// Whether nearer pixels hide farther ones.
    pub depth_test: bool,
    /// How colours go over what is there.
    pub blend: Mixing,
    /// Which engine.
    pub engine: EngineKind,
    /// One thread instead of all cores.
    pub one_thread: bool,
}

impl Drawing {
    /// A square with these programs.
    #[must_use]
    pub fn new(programs: Vec<PathBuf>) -> Self {
        Self {
            programs,
            mesh: "quad".into(),
            size: [256, 256],
            samples: 1,
            clear: [0.0, 0.0, 0.0, 1.0],
            constants: Vec::new(),
            cameras: Vec::new(),
            textures: Vec::new(),
            attributes: Vec::new(),
            cull: Cull::None,
            depth_test: true,
            blend: Mixing::None,
            engine: EngineKind::default(),
            one_thread: false,
        }
    }
}

/// What was drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Columns and rows.
    pub size: [u32; 2],
    /// Red, green, blue, alpha of each pixel, row by row from the top.
    pub pixels: Vec<u8>,
    /// Depths, row by row; of the first sample.
    pub depths: Vec<f32>,
    /// What the draw did.
    pub counts: Counts,
    /// What seems wrong and did not keep it from being drawn.
    pub findings: Vec<String>,
}

impl Drawn {
    /// The bytes of a picture file.
    ///
    /// # Errors
    /// When this kind of file cannot hold it.
    pub fn to_bytes(&self, kind: Kind) -> Result<Vec<u8>, Error> {
        let [width, height] = self.size.map(|n| n as usize);
        let array = Array { height, width, channels: 4, values: Values::U8(self.pixels.clone()) };
        array.to_bytes(kind).map_err(|error| Error::wrong("cannot-write", error.to_string()))
    }
}

/// A drawing whose files have been read, ready for one picture or for many.
pub struct Prepared<'a> {
    drawing: &'a Drawing,
    pair: Pair,
    mesh: Mesh,
    engine: Box<dyn Engine>,
    fetch: Option<Program>,
    /// What vertex and pixel program reach.
    memory: [Arrays; 2],
    constants: [Constants; 2],
    findings: Vec<String>,
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("drawing", &self.drawing).finish_non_exhaustive()
    }
}

/// The first buffer that attributes are fetched from.
const FIRST_BUFFER: u8 = 160;

impl Drawing {
    /// Reads the files and resolves the names.
    ///
    /// # Errors
    /// What is missing or wrong.
    pub fn prepare(&self) -> Result<Prepared<'_>, Error> {
        let [width, height] = self.size;
        if width == 0 || height == 0 || width > 8192 || height > 8192 {
            return Err(Error::wrong(
                "bad-size",
                format!("the picture is {width} x {height}, allowed is 1..=8192 each"),
            ));
        }
        if SamplePattern::of(self.samples).is_none() {
            return Err(Error::wrong("bad-samples", format!("{} samples, allowed is 1, 2, 4 or 8", self.samples)));
        }
        let pair = Pair::load(&self.programs)?;
        let mesh = Mesh::of(&self.mesh).map_err(|message| Error::wrong("bad-mesh", message))?;
        let engine = self.engine.engine().map_err(|error| Error::wrong("no-engine", error.to_string()))?;
        let findings = pair.findings();
        let mut prepared = Prepared {
            drawing: self,
            pair,
            mesh,
            engine,
            fetch: None,
            memory: [Arrays::default(), Arrays::default()],
            constants: [Constants::default(), Constants::default()],
            findings,
        };
        prepared.attributes()?;
        for (name, values) in &self.constants {
            prepared.constant(name, values)?;
        }
        for texture in &self.textures {
            prepared.texture(texture)?;
        }
        prepared.look_for_missing();
        Ok(prepared)
    }
}

impl Prepared<'_> {
    /// Binds what the vertex program fetches, and makes the program that fetches it.
    fn attributes(&mut self) -> Result<(), Error> {
        let attributes = self.pair.attributes();
        for (name, _) in &self.drawing.attributes {
            if !attributes.iter().any(|a| a.name == *name || a.location.to_string() == *name) {
                let names: Vec<&str> = attributes.iter().map(|a| a.name.as_str()).collect();
                return Err(unknown("attribute", name, &names));
            }
        }
        let mut lines = String::from("VTX:\n");
        for (n, attribute) in attributes.iter().enumerate() {
            let given = self.drawing.attributes.iter().find(|(name, _)| {
                !attribute.name.is_empty() && *name == attribute.name || *name == attribute.location.to_string()
            });
            // In the order in which programs without names mostly have them.
            let usual = [Channel::Position, Channel::Colour, Channel::Texcoord, Channel::Normal];
            let channel = given.map(|given| given.1).or_else(|| Channel::of_attribute(&attribute.name));
            let channel = channel.unwrap_or(usual[n % 4]);
            let bytes =
                self.mesh.channel(channel).as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect();
            let id = FIRST_BUFFER + n as u8;
            self.memory[0].buffers.insert(id, BufferData { stride_bytes: 16, format: Format::default(), bytes });
            lines += &format!("  SEMANTIC SEM[{}].xyzw, R0.x, b{id} FORMAT(32_32_32_32_FLOAT)\n", attribute.location);
        }
        lines += "RETURN\n";
        if !attributes.is_empty() {
            let assembly = ctm_isa::r700::text::assemble(&lines, &ctm_isa::r700::text::Options::default());
            let program = assembly.program.map(|program| Program { stage: Some(ProgramStage::Fetch), ..program });
            let failed = || Error::wrong("fetch-program", format!("{:?}", assembly.diagnostics));
            self.fetch = Some(program.ok_or_else(failed)?);
            let highest = attributes.iter().map(|a| a.gpr + 1).max().unwrap_or(0);
            let program = &mut self.pair.vertex.program;
            program.gprs = program.gprs.max(highest);
        }
        Ok(())
    }

    /// Names that nothing was bound to.
    fn look_for_missing(&mut self) {
        let bare = |name: &str| name.trim_start_matches("vs:").trim_start_matches("ps:").to_owned();
        let drawing = self.drawing;
        let constants = drawing.constants.iter().map(|c| &c.0).chain(drawing.cameras.iter().map(|c| &c.0));
        let constants: Vec<String> = constants.map(|name| bare(name)).collect();
        let parts = [("vertex", &self.pair.vertex), ("pixel", &self.pair.pixel)];
        let mut missing = Vec::new();
        for (stage, part) in parts {
            // By number anything may have been given.
            let given = |name: &str| constants.iter().any(|c| c == name || numbered(c).is_some());
            let uniforms = part.uniforms().filter(|name| !given(name));
            missing
                .extend(uniforms.map(|name| format!("the {stage} program's constant `{name}` is not given: it is 0")));
            let bound =
                |name: &str| drawing.textures.iter().any(|t| t.name == name || !part.samplers().any(|s| s == t.name));
            let samplers = part.samplers().filter(|name| !bound(name));
            missing.extend(samplers.map(|name| format!("the {stage} program's texture `{name}` is not given")));
        }
        self.findings.extend(missing);
    }

    /// Sets constants of the programs that have the name.
    fn constant(&mut self, name: &str, values: &[f32]) -> Result<(), Error> {
        let rows: Vec<[u32; 4]> = values
            .chunks(4)
            .map(|four| std::array::from_fn(|n| four.get(n).copied().unwrap_or(0.0).to_bits()))
            .collect();
        let (stages, bare): (&[usize], &str) = match name.split_once(':') {
            Some(("vs", rest)) => (&[0], rest),
            Some(("ps", rest)) => (&[1], rest),
            _ => (&[0, 1], name),
        };
        let mut found = false;
        for &stage in stages {
            let part = if stage == 0 { &self.pair.vertex } else { &self.pair.pixel };
            let Some(place) = part.uniform(bare).or_else(|| numbered(bare)) else { continue };
            found = true;
            match place {
                UniformPlace::File(first) => {
                    let file = &mut self.constants[stage].file;
                    let Some(places) = file.get_mut(first..first + rows.len()) else {
                        let message = format!("`{name}` is {} constants from c{first} on, there are 256", rows.len());
                        return Err(Error::wrong("bad-constant", message));
                    };
                    places.copy_from_slice(&rows);
                }
                UniformPlace::Buffer(bank, first) => {
                    if bank > 15 || first + rows.len() > 4096 {
                        let message = format!("`{name}`: banks 0..=15 have constants 0..=4095");
                        return Err(Error::wrong("bad-constant", message));
                    }
                    let buffer = self.memory[stage].constants.entry(bank).or_default();
                    buffer.resize(buffer.len().max(first + rows.len()), [0; 4]);
                    buffer[first..first + rows.len()].copy_from_slice(&rows);
                }
            }
        }
        if found {
            return Ok(());
        }
        let names: Vec<&str> = self.pair.vertex.uniforms().chain(self.pair.pixel.uniforms()).collect();
        Err(unknown("constant", name, &names))
    }

    fn texture(&mut self, binding: &TextureBinding) -> Result<(), Error> {
        let by_number = binding.name.strip_prefix(['t', 's']).and_then(|number| number.parse::<u8>().ok());
        let mut places: Vec<(usize, u8)> = [&self.pair.vertex, &self.pair.pixel]
            .into_iter()
            .enumerate()
            .filter_map(|(stage, part)| Some((stage, part.sampler(&binding.name)?)))
            .collect();
        if places.is_empty() {
            places.extend(by_number.map(|number| (1, number)));
        }
        if places.is_empty() {
            let names: Vec<&str> = self.pair.vertex.samplers().chain(self.pair.pixel.samplers()).collect();
            return Err(unknown("texture", &binding.name, &names));
        }
        let file = binding.file.display();
        let wrong = |message: String| Error::wrong("bad-texture", format!("{file}: {message}"));
        let kind = Kind::of(&binding.file)
            .ok_or_else(|| wrong(format!("its name says no kind of array; known are {}", Kind::EXTENSIONS)))?;
        let bytes = read_file(&binding.file, "the texture", None).map_err(Error::Job)?;
        let array = Array::from_bytes(kind, &bytes, None).map_err(|error| wrong(error.to_string()))?;
        let image = Image::from(picture(&array));
        let filter = binding.filter;
        let sampler = Sampler { magnify: filter, minify: filter, mip: MipFilter::None, ..Sampler::default() };
        let sampler = Sampler { wrap: [binding.wrap; 3], ..sampler };
        for (stage, number) in places {
            self.memory[stage].textures.insert(number, image.clone());
            self.memory[stage].samplers.insert(number, sampler);
        }
        Ok(())
    }

    /// Draws the picture at a point of an animation (0 to 1).
    ///
    /// # Errors
    /// What is wrong with the draw, or a fault of a program.
    #[allow(clippy::cast_precision_loss, reason = "sizes of pictures")]
    pub fn draw(&mut self, time: f32) -> Result<Drawn, Error> {
        let [width, height] = self.drawing.size;
        for (name, camera) in &self.drawing.cameras {
            self.constant(name, &camera.matrix(width as f32 / height as f32, time))?;
        }
        let samples = self.drawing.samples;
        let count = width as usize * height as usize * samples as usize;
        let (mut colour, mut depth) = (vec![0; 4 * count], vec![0; 4 * count]);
        let mut targets = Targets::default();
        targets.colour[0] = Some(colour_target(&mut colour, self.drawing.size, samples));
        let layout = Layout::linear(width, height, 4, samples);
        let (size, slices, format) = (self.drawing.size, [0, 0], DepthFormat::D32Float);
        targets.depth = Some(DepthTarget { bytes: &mut depth, layout, format, size, slices });
        let whole = Rect { left: 0, top: 0, right: width as i32, bottom: height as i32 };
        clear_colour(&mut targets, 0, self.drawing.clear.map(f32::to_bits), whole).map_err(Error::Draw)?;
        clear_depth(&mut targets, 1.0, 0, whole).map_err(Error::Draw)?;
        let counts = self.draw_mesh(&mut targets)?;
        let depths = depth.chunks_exact(4 * samples as usize);
        let depths = depths.map(|d| f32::from_le_bytes([d[0], d[1], d[2], d[3]])).collect();
        let pixels = if samples == 1 { colour } else { self.resolved(&mut colour)? };
        Ok(Drawn { size, pixels, depths, counts, findings: self.findings.clone() })
    }

    fn draw_mesh(&self, targets: &mut Targets<'_>) -> Result<Counts, Error> {
        let [width, height] = self.drawing.size;
        let links = self.pair.links();
        let table = self.pair.semantic_table();
        let vertex = Stage {
            program: &self.pair.vertex.program,
            fetch_program: self.fetch.as_ref(),
            constants: &self.constants[0],
            memory: &self.memory[0],
            semantics: &table,
        };
        let pixel = Stage {
            program: &self.pair.pixel.program,
            fetch_program: None,
            constants: &self.constants[1],
            memory: &self.memory[1],
            semantics: &[],
        };
        let mut state = DrawState::new(VertexSource::Program(vertex), PixelSource::Program(pixel));
        let viewports = [Viewport::of_size(width, height, false)];
        let [clip_distances, cull_distances] = links.distances;
        // Positions stay well within the grid's range.
        let guard_band = [16.0, 16.0];
        state.clip = ClipState { viewports: &viewports, clip_distances, cull_distances, guard_band, ..state.clip };
        state.outputs = VertexOutputs { semantics: &links.semantics, ..links.outputs };
        state.inputs = PixelInputs {
            parameters: &links.inputs,
            position: links.position,
            face: links.face,
            fixed_position: links.fixed_position,
            ..PixelInputs::default()
        };
        state.raster = RasterState {
            samples: SamplePattern::of(self.drawing.samples).unwrap_or(SamplePattern::ONE),
            cull_front: self.drawing.cull == Cull::Front,
            cull_back: self.drawing.cull == Cull::Back,
            ..RasterState::default()
        };
        state.depth = DepthState {
            test: self.drawing.depth_test.then_some(Compare::LessEqual),
            write: self.drawing.depth_test,
            ..links.depth
        };
        state.colour.targets[0].blend = self.drawing.blend.blend();
        let count = self.mesh.indices.len() as u32;
        let indices = Indices::U32(&self.mesh.indices);
        let call = Draw { topology: self.mesh.topology, indices, count, instances: 1 };
        let options = Options { one_thread: self.drawing.one_thread, ..Options::default() };
        draw(self.engine.as_ref(), &state, &call, targets, &options).map_err(Error::Draw)
    }

    /// The mean of the samples of each pixel.
    fn resolved(&self, several: &mut [u8]) -> Result<Vec<u8>, Error> {
        let [width, height] = self.drawing.size;
        let mut one = vec![0; several.len() / self.drawing.samples as usize];
        let mut targets = Targets::default();
        targets.colour[0] = Some(colour_target(several, self.drawing.size, self.drawing.samples));
        targets.colour[1] = Some(colour_target(&mut one, self.drawing.size, 1));
        let corners: [[u32; 4]; 3] = {
            let corner = |x: u32, y: u32| [x as f32, y as f32, 0.0, 1.0].map(f32::to_bits);
            [corner(0, 0), corner(0, height), corner(width, 0)]
        };
        let positions: [&[[u32; 4]]; 1] = [&corners];
        let source = VertexSource::Given { positions: &positions, parameters: &[] };
        let mut state = DrawState::new(source, PixelSource::Nothing);
        state.clip.disabled = true;
        state.raster.samples = SamplePattern::of(self.drawing.samples).unwrap_or(SamplePattern::ONE);
        state.colour.resolve = true;
        let call = Draw { topology: Topology::Rectangles, indices: Indices::Counted, count: 3, instances: 1 };
        draw(self.engine.as_ref(), &state, &call, &mut targets, &Options::default()).map_err(Error::Draw)?;
        Ok(one)
    }
}

/// An RGBA picture of bytes as a target.
fn colour_target(bytes: &mut [u8], size: [u32; 2], samples: u32) -> ColourTarget<'_> {
    let layout = Layout::linear(size[0], size[1], 4, samples);
    ColourTarget { bytes, layout, format: ColourFormat::RGBA8, size, slices: [0, 0] }
}

/// A constant by number: `c7`, `cb0[3]`.
fn numbered(name: &str) -> Option<UniformPlace> {
    let name = name.to_ascii_lowercase();
    if let Some(rest) = name.strip_prefix("cb") {
        let (bank, rest) = rest.split_once('[')?;
        return Some(UniformPlace::Buffer(bank.parse().ok()?, rest.strip_suffix(']')?.parse().ok()?));
    }
    name.strip_prefix('c')?.parse().ok().filter(|&n| n < 256).map(UniformPlace::File)
}

/// Texels of an array. Grey pictures have the same red, green and blue; without alpha it is 1.
fn picture(array: &Array) -> Picture {
    let values = array.to_f32();
    let texel = |at: &[f32]| match *at {
        [grey] => [grey, grey, grey, 1.0],
        [grey, alpha] => [grey, grey, grey, alpha],
        [red, green, blue] => [red, green, blue, 1.0],
        [red, green, blue, alpha, ..] => [red, green, blue, alpha],
        [] => [0.0; 4],
    };
    let elements = values.chunks_exact(array.channels.max(1)).map(|at| texel(at).map(f32::to_bits)).collect();
    Picture { width: array.width as u32, height: array.height as u32, elements }
}

/// There is nothing of this name; what there is.
fn unknown(what: &str, name: &str, names: &[&str]) -> Error {
    let known: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let mut message = if known.is_empty() {
        format!("the programs have no {what} `{name}`: they name none, and they go by number")
    } else {
        format!("the programs have no {what} `{name}`; they have {}", known.join(", "))
    };
    if let Some(near) = closest(name, known.iter().copied()) {
        message += &format!("; did you mean `{near}`?");
    }
    Error::wrong("unknown-name", message)
}

/// The bytes of an animated PNG of these pictures, each shown so long; the animation repeats for ever.
///
/// # Errors
/// Without pictures, or with pictures of different sizes.
pub fn animation(frames: &[Drawn], milliseconds: u16) -> Result<Vec<u8>, Error> {
    let wrong = |message: String| Error::wrong("cannot-write", message);
    let encoding = |error: png::EncodingError| wrong(format!("the animation cannot be encoded: {error}"));
    let [width, height] = frames.first().map(|frame| frame.size).ok_or_else(|| wrong("no pictures".into()))?;
    if frames.iter().any(|frame| frame.size != [width, height]) {
        return Err(wrong("the pictures of an animation have one size".into()));
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let count = u32::try_from(frames.len()).map_err(|_| wrong("too many pictures".into()))?;
    encoder.set_animated(count, 0).map_err(encoding)?;
    encoder.set_frame_delay(milliseconds, 1000).map_err(encoding)?;
    let mut writer = encoder.write_header().map_err(encoding)?;
    for frame in frames {
        writer.write_image_data(&frame.pixels).map_err(encoding)?;
    }
    writer.finish().map_err(encoding)?;
    Ok(bytes)
}
