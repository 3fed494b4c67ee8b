//! Draws, and the contents of targets after them.

use super::Error;
use super::bound::{BoundPair, BoundPvs, BoundX1k, DrawPrograms, PreparedDraw};
use super::camera::Camera;
use super::matrices::MatrixKind;
use super::mesh::Mesh;
use super::plan::{DrawPlan, TextureData};
use super::prepare::Prepared;
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, Colours, NumberType};
use ctm_draw::layout::Layout;
use ctm_draw::state::{
    ClipState, DepthState, Draw, DrawState, Indices, PixelInput, PixelInputs, PixelSource, RasterState, Rect,
    SamplePattern, StageProgram, Topology, VertexOutputs, VertexSource, Viewport, X1kStage,
};
use ctm_draw::{
    ColourTarget, Counts, DepthTarget, Drawn as OneDrawn, Fragment, Funnel, Notice, Options, Outline, Targets,
    clear_colour, clear_depth, draw, draw_watched,
};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::Arrays;
use ctm_exec::r700::resources::{Image, Texture, TextureKind};
use ctm_exec::{Position, x1k};
use ctm_files::array::{Array, ArrayFileKind, ItemType, Values, npy_bytes};
use ctm_isa::x1k::Program;
use ctm_isa::x1k::program::Lookups;
use std::ops::ControlFlow;

/// The result of drawing.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Columns and rows.
    pub size: [u32; 2],
    /// Colour targets, of one sample: the mean where there were several.
    pub targets: Vec<DrawnTarget>,
    /// Depths, row by row, of the first sample; empty where there is no depth target.
    pub depths: Vec<f32>,
    /// Stencil values, row by row, of the first sample; empty where the depth target has none.
    pub stencils: Vec<u8>,
    /// Counts of all draws together.
    pub counts: Counts,
    /// Counts of each draw, with its name or number.
    pub draws: Vec<(String, Counts)>,
    /// Warnings that did not prevent drawing.
    pub findings: Vec<String>,
    /// Fragments of the watched pixel, in order.
    pub events: Vec<PixelEvent>,
    /// The funnel of each draw and its primitives in the window, if [`Drawing::funnel`](super::Drawing::funnel) asks for them.
    pub funnels: Vec<(Funnel, Vec<Outline>)>,
}

/// A fragment of the watched pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelEvent {
    /// The draw's name or number.
    pub draw: String,
    /// The draw's place in the list of draws, from 0 on.
    pub number: usize,
    /// The fragment, and its tests.
    pub fragment: Fragment,
}

/// The contents of a colour target.
#[derive(Clone, Debug)]
pub struct DrawnTarget {
    /// Its number.
    pub number: u8,
    size: [u32; 2],
    colours: Colours,
    bytes: Vec<u8>,
}

impl DrawnTarget {
    /// The stored format of colours.
    #[must_use]
    pub const fn format(&self) -> ColourFormat {
        self.colours.format()
    }

    /// The stored bytes, row by row from the top.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Red, green, blue and alpha of each pixel, row by row: floats as bits, or integers.
    pub fn texels(&self) -> impl Iterator<Item = [u32; 4]> + '_ {
        self.bytes.chunks_exact(self.colours.bytes()).map(|stored| {
            let mut whole = [0; 16];
            whole[..stored.len()].copy_from_slice(stored);
            self.colours.unpack(u128::from_le_bytes(whole))
        })
    }

    /// Four channels of each pixel: bytes where they are stored as such, otherwise single precision, of integers the number of their bits.
    #[must_use]
    pub fn array(&self) -> Array {
        let [width, height] = self.size.map(|n| n as usize);
        let values = if self.format() == ColourFormat::RGBA8 {
            Values::U8(self.bytes.clone())
        } else {
            Values::F32(self.texels().flatten().map(f32::from_bits).collect())
        };
        Array { height, width, channels: 4, values }
    }

    /// The bytes of a file: a picture, or the numbers themselves.
    ///
    /// # Errors
    /// When this kind of file cannot hold it.
    pub fn to_bytes(&self, kind: ArrayFileKind) -> Result<Vec<u8>, Error> {
        let [width, height] = self.size.map(|n| n as usize);
        let wrong = |message: String| Error::wrong("cannot-write", message);
        let number = self.format().number;
        if number.is_integer() {
            let items = if number == NumberType::Sint { ItemType::Int32 } else { ItemType::Uint32 };
            let bits: Vec<u32> = self.texels().flatten().collect();
            return match kind {
                ArrayFileKind::Npy => {
                    npy_bytes(items, &[height, width, 4], &bits).map_err(|error| wrong(error.to_string()))
                }
                ArrayFileKind::Raw => Ok(self.bytes.clone()),
                ArrayFileKind::Png | ArrayFileKind::Pfm => {
                    Err(wrong(format!("target {} holds integers, which .npy and .raw files take", self.number)))
                }
            };
        }
        self.array().to_bytes(kind).map_err(|error| wrong(error.to_string()))
    }
}

impl Drawn {
    fn nothing(size: [u32; 2]) -> Self {
        Self {
            size,
            targets: Vec::new(),
            depths: Vec::new(),
            stencils: Vec::new(),
            counts: Counts::default(),
            draws: Vec::new(),
            findings: Vec::new(),
            events: Vec::new(),
            funnels: Vec::new(),
        }
    }

    /// A colour target's contents, by its number.
    #[must_use]
    pub fn target(&self, number: u8) -> Option<&DrawnTarget> {
        self.targets.iter().find(|target| target.number == number)
    }

    /// The first target as red, green, blue and alpha of 8 bits, row by row from the top; empty without targets.
    #[must_use]
    pub fn pixels(&self) -> Vec<u8> {
        let Some(first) = self.targets.first() else { return Vec::new() };
        if first.format() == ColourFormat::RGBA8 {
            return first.bytes.clone();
        }
        let byte = |bits: u32| (f32::from_bits(bits).clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
        first.texels().flat_map(|texel| texel.map(byte)).collect()
    }

    /// The bytes of a picture file of the first target.
    ///
    /// # Errors
    /// This kind of file cannot hold it, or there is no target.
    pub fn to_bytes(&self, kind: ArrayFileKind) -> Result<Vec<u8>, Error> {
        let first = self.targets.first().ok_or_else(|| Error::wrong("no-target", "there is no colour target"))?;
        first.to_bytes(kind)
    }

    /// The bytes of a file of depths.
    ///
    /// # Errors
    /// This kind of file cannot hold it, or there is no depth target.
    pub fn depth_bytes(&self, kind: ArrayFileKind) -> Result<Vec<u8>, Error> {
        let [width, height] = self.size.map(|n| n as usize);
        if self.depths.is_empty() {
            return Err(Error::wrong("no-target", "there is no depth target"));
        }
        let array = Array { height, width, channels: 1, values: Values::F32(self.depths.clone()) };
        let wrong = |error: ctm_files::array::ArrayError| Error::wrong("cannot-write", error.to_string());
        match kind {
            ArrayFileKind::Npy => {
                let bits: Vec<u32> = self.depths.iter().map(|depth| depth.to_bits()).collect();
                npy_bytes(ItemType::Float32, &[height, width], &bits).map_err(wrong)
            }
            _ => array.to_bytes(kind).map_err(wrong),
        }
    }

    /// The bytes of a file of stencil values.
    ///
    /// # Errors
    /// When this kind of file cannot hold it, or the depth target has none.
    pub fn stencil_bytes(&self, kind: ArrayFileKind) -> Result<Vec<u8>, Error> {
        let [width, height] = self.size.map(|n| n as usize);
        if self.stencils.is_empty() {
            return Err(Error::wrong("no-target", "the depth target has no stencil values"));
        }
        let array = Array { height, width, channels: 1, values: Values::U8(self.stencils.clone()) };
        array.to_bytes(kind).map_err(|error| Error::wrong("cannot-write", error.to_string()))
    }
}

/// Called after each draw with its number, from 0 on, and a function that reads the targets.
pub type Behind<'a> = dyn FnMut(usize, &mut dyn FnMut() -> Result<Drawn, Error>) -> ControlFlow<()> + 'a;

/// The memory of the targets of a drawing.
struct Canvas {
    size: [u32; 2],
    samples: u32,
    /// Number, format, bytes.
    colours: Vec<(u8, Colours, Vec<u8>)>,
    depth: Option<(DepthFormat, Vec<u8>)>,
}

impl Canvas {
    /// The targets of these numbers; all without any.
    fn targets(&mut self, numbers: Option<&[u8]>) -> Targets<'_> {
        let (size, samples) = (self.size, self.samples);
        let mut targets = Targets::default();
        for (number, colours, bytes) in &mut self.colours {
            if numbers.is_none_or(|numbers| numbers.contains(number)) {
                targets.colour[usize::from(*number) % 8] = Some(colour_target(bytes, size, samples, colours));
            }
        }
        if let Some((format, bytes)) = &mut self.depth {
            let layout = Layout::linear(size[0], size[1], format.bytes() as u32, samples);
            targets.depth = Some(DepthTarget { bytes, layout, format: *format, size, slices: [0, 0] });
        }
        targets
    }
}

fn colour_target<'t>(bytes: &'t mut [u8], size: [u32; 2], samples: u32, colours: &Colours) -> ColourTarget<'t> {
    let layout = Layout::linear(size[0], size[1], colours.bytes() as u32, samples);
    ColourTarget { bytes, layout, format: colours.format(), size, slices: [0, 0] }
}

impl Prepared<'_> {
    /// Draws the picture at a point of an animation (0 to 1).
    ///
    /// # Errors
    /// An invalid draw, or a fault of a program.
    pub fn draw(&mut self, time: f32) -> Result<Drawn, Error> {
        self.draw_behind(time, &mut |_, _| ControlFlow::Continue(()))
    }

    /// The same; `behind` is called after each draw with its number, from 0 on, and can read the targets. Nothing is drawn after a break.
    ///
    /// # Errors
    /// As [`Self::draw`].
    #[allow(clippy::cast_precision_loss, reason = "sizes of pictures")]
    pub fn draw_behind(&mut self, time: f32, behind: &mut Behind<'_>) -> Result<Drawn, Error> {
        let mut canvas = self.canvas()?;
        let [width, height] = canvas.size;
        let mut drawn = Drawn::nothing(canvas.size);
        let several = self.draws.len() > 1;
        for number in 0..self.draws.len() {
            self.look(number, &mut canvas)?;
            let draw = &mut self.draws[number];
            let aspect = width as f32 / height as f32;
            draw.turn(aspect, time)?;
            let done = self.draw_one(&self.draws[number], &mut canvas)?;
            let draw = &self.draws[number];
            let before = if several { format!("draw {}: ", draw.name) } else { String::new() };
            let said = draw.findings.iter().cloned();
            let noted = done.notes.iter().map(|note| {
                let at = note.finding.position.map(|at| match note.stage {
                    "pixel" => format!(" at pixel ({}, {})", at.i, at.j),
                    "geometry" => format!(" for primitive {}", at.i),
                    _ => format!(" for vertex {} of instance {}", at.i, at.j),
                });
                let (stage, pc, message) = (note.stage, note.finding.pc, &note.finding.message);
                format!("the {stage} program, instruction {pc}{}: {message}", at.unwrap_or_default())
            });
            drawn.findings.extend(said.chain(noted).map(|finding| format!("{before}{finding}")));
            drawn.counts.add(&done.counts);
            drawn.draws.push((draw.name.clone(), done.counts));
            let event = |fragment| PixelEvent { draw: draw.name.clone(), number, fragment };
            let events = done.fragments.into_iter().map(event);
            drawn.events.extend(events);
            drawn.funnels.extend(done.funnel.map(|funnel| (funnel, done.outlines)));
            let mut look = || {
                let mut now = Drawn::nothing(canvas.size);
                self.show(&mut canvas, &mut now).map(|()| now)
            };
            if behind(number, &mut look).is_break() {
                break;
            }
        }
        self.show(&mut canvas, &mut drawn)?;
        Ok(drawn)
    }

    /// Copies the current contents of targets.
    fn show(&self, canvas: &mut Canvas, drawn: &mut Drawn) -> Result<(), Error> {
        if let Some((format, bytes)) = &canvas.depth {
            let samples = bytes.chunks_exact(format.bytes() * canvas.samples as usize);
            let stored = samples.map(|samples| {
                let mut whole = [0; 8];
                whole[..format.bytes()].copy_from_slice(&samples[..format.bytes()]);
                format.unpack(u64::from_le_bytes(whole))
            });
            let (depths, stencils): (Vec<u32>, Vec<u8>) = stored.unzip();
            drawn.depths = depths.into_iter().map(|depth| format.number(depth) as f32).collect();
            drawn.stencils = if format.has_stencil() { stencils } else { Vec::new() };
        }
        let size = canvas.size;
        for place in 0..canvas.colours.len() {
            let bytes = self.resolved(canvas, place)?;
            let (number, colours, _) = &canvas.colours[place];
            drawn.targets.push(DrawnTarget { number: *number, size, colours: *colours, bytes });
        }
        Ok(())
    }

    /// Targets with their initial contents.
    fn canvas(&self) -> Result<Canvas, Error> {
        let drawing = self.drawing;
        let (size, samples) = (drawing.size, drawing.samples);
        let count = size[0] as usize * size[1] as usize * samples as usize;
        let mut canvas = Canvas { size, samples, colours: Vec::new(), depth: None };
        for plan in &drawing.targets {
            let colours = Colours::new(plan.format).map_err(|error| Error::wrong("bad-format", error.to_string()))?;
            canvas.colours.push((plan.number, colours, vec![0; count * colours.bytes()]));
        }
        canvas.depth = drawing.depth.as_ref().map(|plan| (plan.format, vec![0; count * plan.format.bytes()]));
        let whole = Rect { left: 0, top: 0, right: size[0] as i32, bottom: size[1] as i32 };
        let failed = |error| Error::Draw("clearing".into(), error);
        let mut targets = canvas.targets(None);
        for plan in &drawing.targets {
            let rgba = plan.clear.map(|value| match plan.format.number {
                NumberType::Uint => value as u32,
                NumberType::Sint => (value as i32).cast_unsigned(),
                _ => value.to_bits(),
            });
            clear_colour(&mut targets, plan.number.into(), rgba, whole).map_err(failed)?;
        }
        if let Some(plan) = &drawing.depth {
            clear_depth(&mut targets, plan.clear, plan.stencil, whole).map_err(failed)?;
        }
        Ok(canvas)
    }

    /// Binds the textures of a draw that show targets.
    fn look(&mut self, number: usize, canvas: &mut Canvas) -> Result<(), Error> {
        let plan: &DrawPlan = self.draws[number].plan;
        for binding in &plan.textures {
            let texture = Texture { width: canvas.size[0], height: canvas.size[1], ..Texture::default() };
            let (format, texels): (_, Vec<[u32; 4]>) = match binding.data {
                TextureData::Files(_) | TextureData::Given(_) => continue,
                TextureData::Target(target) => {
                    let Some(place) = canvas.colours.iter().position(|of| of.0 == target) else { continue };
                    let bytes = self.resolved(canvas, place)?;
                    let (size, colours) = (canvas.size, canvas.colours[place].1);
                    (colours.texel_format(), DrawnTarget { number: target, size, colours, bytes }.texels().collect())
                }
                TextureData::Depth => {
                    let Some((format, bytes)) = &canvas.depth else { continue };
                    let samples = bytes.chunks_exact(format.bytes() * canvas.samples as usize);
                    let texel = |samples: &[u8]| {
                        let mut whole = [0; 8];
                        whole[..format.bytes()].copy_from_slice(&samples[..format.bytes()]);
                        let (depth, _) = format.unpack(u64::from_le_bytes(whole));
                        [format.number(depth) as f32, 0.0, 0.0, 1.0].map(f32::to_bits)
                    };
                    (format.texel_format(), samples.map(texel).collect())
                }
            };
            let mut image = Image { texture: Texture { format, ..texture }, levels: texels.into() };
            if binding.sampler.mip != ctm_exec::r700::resources::MipFilter::None && binding.make_levels {
                image = ctm_files::texture::with_levels(image);
            }
            self.draws[number].programs.bind(binding, image)?;
        }
        Ok(())
    }

    fn options(&self) -> Options {
        let drawing = self.drawing;
        Options {
            // A watched draw has a fixed order.
            one_thread: drawing.one_thread || self.notice.is_some(),
            checks: drawing.check,
            watch: drawing.at,
            funnel: drawing.funnel,
            budget: drawing.budget,
            control: drawing.control.clone(),
            notice: Notice::default(),
        }
    }

    fn draw_one(&self, draw: &PreparedDraw<'_>, canvas: &mut Canvas) -> Result<OneDrawn, Error> {
        match &draw.programs {
            DrawPrograms::Pair(bound) => self.draw_pair(draw, bound, canvas),
            DrawPrograms::X1k(bound) => self.draw_x1k(draw, bound, canvas),
        }
    }

    fn draw_pair(&self, draw: &PreparedDraw<'_>, bound: &BoundPair, canvas: &mut Canvas) -> Result<OneDrawn, Error> {
        let links = bound.pair.links();
        let table = bound.pair.semantic_table();
        let vertex = StageProgram {
            program: &bound.pair.vertex.program,
            fetch_program: bound.fetch.as_ref(),
            constants: &bound.constants[0],
            memory: &bound.memory[0],
            semantics: &table,
        };
        let pixel = StageProgram {
            program: &bound.pair.pixel.program,
            fetch_program: None,
            constants: &bound.constants[1],
            memory: &bound.memory[1],
            semantics: &[],
        };
        let viewports = [viewport(draw.plan, canvas.size)];
        let mut state = self.state(draw, VertexSource::Program(vertex), PixelSource::Program(pixel), &viewports);
        [state.clip.clip_distances, state.clip.cull_distances] = links.distances;
        state.outputs = VertexOutputs { semantics: &links.semantics, ..links.outputs };
        state.inputs = PixelInputs {
            parameters: &links.inputs,
            position: links.position,
            face: links.face,
            fixed_position: links.fixed_position,
            ..PixelInputs::default()
        };
        let DepthState { export_depth, export_stencil, export_mask, kill, .. } = links.depth;
        state.depth = DepthState { export_depth, export_stencil, export_mask, kill, ..state.depth };
        self.run(draw, &state, canvas)
    }

    /// Draws a pair of the R5xx.
    fn draw_r5xx(
        &self,
        draw: &PreparedDraw<'_>,
        (bound, vertex): (&BoundX1k, &BoundPvs),
        canvas: &mut Canvas,
    ) -> Result<OneDrawn, Error> {
        let Options { control, budget, one_thread, .. } = self.options();
        let shaded = bound.shaded(vertex, draw, self.engine.as_ref(), (&control, budget, one_thread))?;
        let textures = DrawTextures(&bound.textures);
        let program = Program { lookups: Lookups::Textures { cubes: textures.cubes() }, ..bound.program.clone() };
        let positions: [&[[u32; 4]]; 1] = [&shaded.positions];
        let parameters: Vec<&[[u32; 4]]> = shaded.parameters.iter().map(Vec::as_slice).collect();
        let vertices = VertexSource::Given { positions: &positions, parameters: &parameters };
        let semantics: Vec<u8> = (1..).take(parameters.len()).collect();
        let input = |&semantic: &u8| PixelInput { semantic, ..PixelInput::default() };
        let inputs: Vec<PixelInput> = shaded.semantics.iter().map(input).collect();
        let stage = X1kStage { program: &program, constants: &bound.constants, memory: &textures };
        let viewports = [viewport(draw.plan, canvas.size)];
        let mut state = self.state(draw, vertices, PixelSource::X1k(stage), &viewports);
        state.outputs = VertexOutputs { semantics: &semantics, ..VertexOutputs::default() };
        state.inputs = PixelInputs { parameters: &inputs, ..PixelInputs::default() };
        state.depth.kill = X1kStage::kills(&program);
        self.run(draw, &state, canvas)
    }

    fn draw_x1k(&self, draw: &PreparedDraw<'_>, bound: &BoundX1k, canvas: &mut Canvas) -> Result<OneDrawn, Error> {
        if let Some(vertex) = &bound.vertex {
            return self.draw_r5xx(draw, (bound, vertex), canvas);
        }
        let positions = transformed(&draw.mesh, bound.matrix);
        let parameters: Vec<Vec<[u32; 4]>> = draw
            .plan
            .interpolants
            .iter()
            .map(|&channel| draw.mesh.channel(channel).into_iter().map(|value| value.map(f32::to_bits)).collect())
            .collect();
        let parameters: Vec<&[[u32; 4]]> = parameters.iter().map(Vec::as_slice).collect();
        let positions: [&[[u32; 4]]; 1] = [&positions];
        let vertices = VertexSource::Given { positions: &positions, parameters: &parameters };
        let stage = X1kStage { program: &bound.program, constants: &bound.constants, memory: &bound.memory };
        let semantics: Vec<u8> = (0u8..).take(parameters.len()).collect();
        let inputs: Vec<PixelInput> =
            semantics.iter().map(|&semantic| PixelInput { semantic, ..PixelInput::default() }).collect();
        let viewports = [viewport(draw.plan, canvas.size)];
        let mut state = self.state(draw, vertices, PixelSource::X1k(stage), &viewports);
        state.outputs = VertexOutputs { semantics: &semantics, ..VertexOutputs::default() };
        state.inputs = PixelInputs { parameters: &inputs, ..PixelInputs::default() };
        // Any X1K program may kill pixels.
        state.depth.kill = true;
        self.run(draw, &state, canvas)
    }

    /// Translates the plan's state of a draw.
    fn state<'s>(
        &self,
        draw: &PreparedDraw<'_>,
        vertices: VertexSource<'s>,
        pixels: PixelSource<'s>,
        viewports: &'s [Viewport],
    ) -> DrawState<'s> {
        let plan = draw.plan;
        let mut state = DrawState::new(vertices, pixels);
        let mut user_planes = [None; 6];
        user_planes.iter_mut().zip(&plan.clip_planes).for_each(|(place, plane)| *place = Some(*plane));
        state.clip = ClipState {
            viewports,
            half_z: plan.half_z,
            no_near: plan.depth_clamp,
            no_far: plan.depth_clamp,
            user_planes,
            // Positions stay well within the grid's range.
            guard_band: [16.0; 2],
            ..state.clip
        };
        let samples = SamplePattern::of(self.drawing.samples).unwrap_or(SamplePattern::ONE);
        state.raster = RasterState { samples, ..plan.raster };
        if let Some(depth) = &self.drawing.depth
            && depth.format.is_float()
        {
            state.raster.depth_step = ctm_draw::state::DepthStep::Float(-23);
        }
        (state.depth, state.colour) = (plan.depth, plan.colour);
        state.input.restart = plan.restart;
        state
    }

    fn run(&self, draw: &PreparedDraw<'_>, state: &DrawState<'_>, canvas: &mut Canvas) -> Result<OneDrawn, Error> {
        let mesh = &draw.mesh;
        let indices = Indices::U32(&mesh.indices);
        let (count, instances) = (mesh.indices.len() as u32, draw.plan.instances);
        let call = Draw { topology: mesh.topology, indices, count, instances };
        let mut targets = canvas.targets(draw.plan.targets.as_deref());
        let mut options = self.options();
        if let Some(notice) = self.notice.clone() {
            let number = self.draws.iter().position(|of| std::ptr::eq(of, draw)).unwrap_or(0);
            options.notice = Notice::new(move |launch| notice(number, launch));
        }
        draw_watched(self.engine.as_ref(), state, &call, &mut targets, &options)
            .map_err(|error| Error::Draw(draw.name.clone(), error))
    }

    /// The mean of the samples of each pixel of a colour target.
    #[allow(clippy::cast_precision_loss, reason = "sizes of pictures")]
    fn resolved(&self, canvas: &mut Canvas, place: usize) -> Result<Vec<u8>, Error> {
        let (size, samples) = (canvas.size, canvas.samples);
        let (_, colours, several) = &mut canvas.colours[place];
        if samples == 1 {
            return Ok(several.clone());
        }
        let [width, height] = size;
        let mut one = vec![0; several.len() / samples as usize];
        let mut targets = Targets::default();
        targets.colour[0] = Some(colour_target(several, size, samples, colours));
        targets.colour[1] = Some(colour_target(&mut one, size, 1, colours));
        let corners: [[u32; 4]; 3] = {
            let corner = |x: u32, y: u32| [x as f32, y as f32, 0.0, 1.0].map(f32::to_bits);
            [corner(0, 0), corner(0, height), corner(width, 0)]
        };
        let positions: [&[[u32; 4]]; 1] = [&corners];
        let source = VertexSource::Given { positions: &positions, parameters: &[] };
        let mut state = DrawState::new(source, PixelSource::Nothing);
        state.clip.disabled = true;
        state.raster.samples = SamplePattern::of(samples).unwrap_or(SamplePattern::ONE);
        state.colour.resolve = true;
        let call = Draw { topology: Topology::Rectangles, indices: Indices::Counted, count: 3, instances: 1 };
        let options = Options { watch: None, funnel: false, ..self.options() };
        draw(self.engine.as_ref(), &state, &call, &mut targets, &options)
            .map_err(|error| Error::Draw("resolving".into(), error))?;
        Ok(one)
    }
}

impl PreparedDraw<'_> {
    /// Sets the matrices of its viewers.
    fn turn(&mut self, width_by_height: f32, time: f32) -> Result<(), Error> {
        self.usual_matrices(width_by_height, time)?;
        for (number, (slot, camera)) in self.plan.cameras.iter().enumerate() {
            let name = &*slot.register("c");
            match &mut self.programs {
                DrawPrograms::Pair(_) if name.is_empty() => {}
                DrawPrograms::Pair(bound) => {
                    let kind = camera.matrix.or_else(|| MatrixKind::of_name(name));
                    let kind = kind.unwrap_or(MatrixKind::ModelViewProjection);
                    let numbers = bound.matrix_numbers(name, &camera.matrix_of(kind, width_by_height, time));
                    self.programs.constant(name, &numbers)?;
                }
                DrawPrograms::X1k(bound) => {
                    if let Some(vertex) = bound.vertex.as_mut().filter(|_| !name.is_empty()) {
                        let kind = camera.matrix.or_else(|| MatrixKind::of_name(name));
                        let kind = kind.unwrap_or(MatrixKind::ModelViewProjection);
                        let numbers = vertex.matrix_numbers(name, &camera.matrix_of(kind, width_by_height, time));
                        self.programs.constant(name, &numbers)?;
                    } else if number == 0 {
                        // The first camera's rows are multiplied here, anew for each time.
                        bound.matrix = Some(Camera { rows: true, ..*camera }.matrix(width_by_height, time));
                    }
                }
            }
        }
        if let DrawPrograms::Pair(bound) = &mut self.programs {
            bound.show_fetched();
        }
        Ok(())
    }
}

/// The textures of a pair of the R5xx, as memory of its pixel program.
struct DrawTextures<'a>(&'a Arrays);

impl DrawTextures<'_> {
    /// Which units hold cubes (bit n = unit n).
    fn cubes(&self) -> u16 {
        let cubes = self.0.textures.iter().filter(|(_, image)| image.texture.kind == TextureKind::Cube);
        cubes.filter(|(number, _)| **number < 16).fold(0, |set, (number, _)| set | 1 << number)
    }
}

impl x1k::Memory for DrawTextures<'_> {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, _index: u8) -> Option<x1k::Input> {
        None
    }

    fn read(&self, index: u8, _x: u32, _y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        let (what, reason) = (format!("input {index}"), "a draw has textures".into());
        Err(MemoryFault { what, address: None, reason })
    }

    fn textures(&self) -> Option<&dyn ctm_exec::r700::Memory> {
        Some(self.0)
    }

    fn commit(&mut self, _at: Position, _outputs: &x1k::Outputs) -> Result<x1k::Written, MemoryFault> {
        Ok(x1k::Written::default())
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<x1k::Written, MemoryFault> {
        let (what, reason) = ("output 0".into(), "programs of a draw write no memory".into());
        Err(MemoryFault { what, address: None, reason })
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }
}

/// The positions of a mesh, transformed by the matrix, if there is one.
fn transformed(mesh: &Mesh, matrix: Option<[f32; 16]>) -> Vec<[u32; 4]> {
    let positions = mesh.channel(super::Channel::Position).into_iter();
    let by = |at: [f32; 4]| match &matrix {
        None => at,
        Some(m) => std::array::from_fn(|row| (0..4).map(|k| m[4 * row + k] * at[k]).sum()),
    };
    positions.map(|at| by(at).map(f32::to_bits)).collect()
}

#[allow(clippy::cast_precision_loss, reason = "sizes of pictures")]
fn viewport(plan: &DrawPlan, [width, height]: [u32; 2]) -> Viewport {
    let [x, y, w, h] = plan.viewport.unwrap_or([0.0, 0.0, width as f32, height as f32]);
    let [near, far] = plan.depth_range;
    let (z_scale, z_offset) = if plan.half_z { (far - near, near) } else { ((far - near) / 2.0, (far + near) / 2.0) };
    let limit = |at: f32| at.clamp(0.0, 16384.0) as i32;
    Viewport {
        scale: [w / 2.0, -h / 2.0, z_scale],
        offset: [x + w / 2.0, y + h / 2.0, z_offset],
        depth: [near.min(far), near.max(far)],
        scissor: Some(Rect {
            left: limit(x),
            top: limit(y),
            right: limit((x + w).ceil()),
            bottom: limit((y + h).ceil()),
        }),
    }
}
