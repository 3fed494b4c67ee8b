//! One draw with arrays in memory: programs and vertices in, pictures out, no files.

use super::mesh::{Channel, Mesh};
use super::plan::{Cull, DepthPlan, DrawPlan, Drawing, MeshSource, Mixing, TargetPlan, TextureBinding, TextureData};
use super::prepare::is_x1k as is_x1k_file;
use super::{Camera, Drawn, Error, ProgramSource};
use ctm_device::EngineKind;
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::ColourFormat;
use ctm_draw::state::Topology;
use ctm_exec::r700::Sampler;
use ctm_exec::r700::resources::{Image, Texture};
use ctm_exec::{Budget, Control};
use ctm_files::Program;
use ctm_launch::View;
use std::path::PathBuf;
use std::sync::Arc;

/// One draw with its programs and arrays. Begin with [`Draw::of`]; [`Draw::run`] draws it.
///
/// Attributes, constants and textures go by the names that the programs give them. Defaults are those of [`Drawing::new`]: a square, into one target
/// of 8 bits a channel, with depth. Several draws into the same targets, and all state of a draw, are fields of [`Drawing`]: [`Draw::plan`],
/// [`Draw::drawing`].
///
/// ```
/// use ctm::{Draw, Isa, Program};
///
/// // A triangle in one colour: the vertex program hands its position on, the pixel program exports a constant.
/// let vertex = Program::assemble_for(
///     Isa::R700,
///     "; $ATTRIB_VARS[0].name = \"position\"
///      ; $ATTRIB_VARS[0].type = \"vec4\"
///      ; $ATTRIB_VARS[0].location = 0
///      CALL_FS
///      EXP_DONE: POS0, R1.xyzw
///      EXP_DONE: PARAM0, R1.xyzw
///      END_OF_PROGRAM",
/// )?;
/// let pixel = Program::assemble_for(
///     Isa::R700,
///     "ALU: ADDR(32) CNT(4)
///        x: MOV R0.x, C0.x
///        y: MOV R0.y, C0.y
///        z: MOV R0.z, C0.z
///        w: MOV R0.w, C0.w
///      EXP_DONE: PIX0, R0.xyzw
///      END_OF_PROGRAM",
/// )?;
/// let corners = [-1.0, -1.0, 3.0, -1.0, -1.0, 3.0];
/// let drawn = Draw::of(&vertex, &pixel)
///     .size(8, 4)
///     .attribute("position", ctm::View::line(&corners, 2))
///     .constant("c0", &[1.0, 0.5, 0.0, 1.0])
///     .run()?;
/// assert_eq!(drawn.pixels()[..4], [255, 128, 0, 255]);
/// assert_eq!(drawn.counts.pixels, 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Draw {
    drawing: Drawing,
    plan: DrawPlan,
    /// Attributes as they were given.
    attributes: Vec<(String, Vec<[f32; 4]>)>,
    indices: Option<Vec<u32>>,
    wrong: Option<Error>,
}

impl Draw {
    /// Of an R700 vertex and an R700 pixel program.
    #[must_use]
    pub fn of(vertex: &Program, pixel: &Program) -> Self {
        Self::with(vec![vertex.clone(), pixel.clone()])
    }

    /// Of an X1K pixel program, whose vertices come transformed.
    #[must_use]
    pub fn whole(program: &Program) -> Self {
        Self::with(vec![program.clone()])
    }

    /// Of a file: a GFD container with a vertex and a pixel program, or an X1K pixel program. It is read when the draw is run; uniforms, samplers and attributes
    /// go by the names that the container gives them.
    ///
    /// ```no_run
    /// let drawn = ctm::Draw::open("menu.gsh").mesh("quad").constant("tint", &[1.0, 0.5, 0.0, 1.0]).run()?;
    /// # Ok::<(), ctm::draw::Error>(())
    /// ```
    #[must_use]
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Self::with(vec![path.into()])
    }

    /// The same of a container's bytes; `name` is for messages.
    #[must_use]
    pub fn container(bytes: &[u8], name: &str) -> Self {
        Self::with(vec![ProgramSource::Bytes(bytes.into(), name.into())])
    }

    fn with<P: Into<ProgramSource>>(programs: Vec<P>) -> Self {
        let drawing = Drawing { draws: Vec::new(), ..Drawing::new::<Program>(Vec::new()) };
        Self { drawing, plan: DrawPlan::new(programs), attributes: Vec::new(), indices: None, wrong: None }
    }

    /// Columns and rows of all targets, 1 to 16384 each; 256 x 256 by default.
    #[must_use]
    pub fn size(mut self, columns: u32, rows: u32) -> Self {
        self.drawing.size = [columns, rows];
        self
    }

    /// Samples of a pixel: 1, 2, 4 or 8.
    #[must_use]
    pub fn samples(mut self, samples: u32) -> Self {
        self.drawing.samples = samples;
        self
    }

    /// A built-in mesh ([`super::BUILT_IN`]), a file's name, or one in memory.
    #[must_use]
    pub fn mesh(mut self, mesh: impl Into<MeshSource>) -> Self {
        self.plan.mesh = mesh.into();
        self
    }

    /// Vertices: the values of an attribute, by its name or its location, one to four channels an element; missing ones are 0, 0, 1. All attributes
    /// have as many elements.
    ///
    /// Draws with an X1K program take `position`, `normal`, `texcoord` and `colour`.
    #[must_use]
    pub fn attribute<'a>(mut self, name: &str, view: impl Into<View<'a>>) -> Self {
        match view.into().elements([0.0, 0.0, 0.0, 1.0]) {
            Some(elements) => {
                self.attributes.push((name.to_owned(), elements.into_iter().map(|e| e.map(f32::from_bits)).collect()));
            }
            None => self.refuse("bad-mesh", format!("attribute `{name}` is no array of elements of 1 to 4 channels")),
        }
        self
    }

    /// The order of the vertices; consecutive by default.
    #[must_use]
    pub fn indices(mut self, indices: &[u32]) -> Self {
        self.indices = Some(indices.to_vec());
        self
    }

    /// The kind of primitives; triangles by default.
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.plan.topology = Some(topology);
        self
    }

    /// How often the vertices are drawn.
    #[must_use]
    pub fn instances(mut self, instances: u32) -> Self {
        self.plan.instances = instances;
        self
    }

    /// Constants from a name on, four numbers each: a uniform's name, `c7`, `cb0[3]`; `vs:` or `ps:` in front chooses a program.
    #[must_use]
    pub fn constant(mut self, name: &str, numbers: &[f32]) -> Self {
        self.plan.constants.push((name.into(), numbers.to_vec()));
        self
    }

    /// The matrix of a viewer as a constant.
    #[must_use]
    pub fn camera(mut self, name: &str, camera: Camera) -> Self {
        self.plan.cameras.push((name.into(), camera));
        self
    }

    /// A picture that programs read: the sampler's name, or `t` and a number; linear and repeating. Pictures of one or two channels are grey, without alpha it is 1.
    #[must_use]
    pub fn texture<'a>(mut self, name: &str, view: impl Into<View<'a>>) -> Self {
        if let Some(data) = self.texels(name, view.into()) {
            self.plan.textures.push(TextureBinding::new(name, data));
        }
        self
    }

    /// The same by a sampler.
    #[must_use]
    pub fn sampled<'a>(mut self, name: &str, view: impl Into<View<'a>>, sampler: Sampler) -> Self {
        if let Some(data) = self.texels(name, view.into()) {
            self.plan.textures.push(TextureBinding { sampler, ..TextureBinding::new(name, data) });
        }
        self
    }

    fn texels(&mut self, name: &str, view: View<'_>) -> Option<TextureData> {
        let size = view.size().map(|sides| sides.map(|n| u32::try_from(n).unwrap_or(u32::MAX)));
        let texels = view.elements([0.0, 0.0, 0.0, 1.0]);
        let (Some([height, width]), Some(mut texels)) = (size, texels) else {
            self.refuse("bad-texture", format!("texture `{name}` is no picture of 1 to 4 channels"));
            return None;
        };
        if height > 8192 || width > 8192 || texels.len() as u64 != u64::from(height) * u64::from(width) {
            let message = format!("texture `{name}` has {width} x {height} texels, there can be 8192 of each");
            self.refuse("bad-texture", message);
            return None;
        }
        match view.channels() {
            1 => texels.iter_mut().for_each(|t| (t[1], t[2]) = (t[0], t[0])),
            2 => texels.iter_mut().for_each(|t| *t = [t[0], t[0], t[0], t[1]]),
            _ => {}
        }
        let texture = Texture { width, height, format: view.texel_format(), ..Texture::default() };
        Some(TextureData::Given(Arc::new(Image { texture, levels: texels.into() })))
    }

    /// A colour target, 0 to 7: the stored format of colours, and the colour before the draw. The first call replaces the default target.
    #[must_use]
    pub fn target(mut self, number: u8, format: ColourFormat, clear: [f32; 4]) -> Self {
        if self.drawing.targets == [TargetPlan::new(0)] && self.plan.targets.is_none() {
            self.drawing.targets.clear();
        }
        self.plan.targets.get_or_insert_default().push(number);
        self.drawing.targets.push(TargetPlan { format, clear, ..TargetPlan::new(number) });
        self
    }

    /// The depth target's format and its depth before the draw; `None`: there is none.
    #[must_use]
    pub fn depth(mut self, target: Option<(DepthFormat, f32)>) -> Self {
        self.drawing.depth = target.map(|(format, clear)| DepthPlan { format, clear, ..DepthPlan::default() });
        self
    }

    /// The blending of colours.
    #[must_use]
    pub fn mix(mut self, mixing: Mixing) -> Self {
        self.plan.mix(mixing);
        self
    }

    /// Which faces are not drawn.
    #[must_use]
    pub fn cull(mut self, cull: Cull) -> Self {
        cull.of(&mut self.plan.raster);
        self
    }

    /// Watches a pixel: [`Drawn::events`].
    #[must_use]
    pub fn at(mut self, column: u32, row: u32) -> Self {
        self.drawing.at = Some([column, row]);
        self
    }

    /// The engine by its kind; the fast one, if nothing is said.
    #[must_use]
    pub fn engine(mut self, kind: EngineKind) -> Self {
        self.drawing.engine = kind;
        self
    }

    /// Limits of a group of a program, and of the draw.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.drawing.budget = budget;
        self
    }

    /// Checks the programs while running: [`Drawn::findings`].
    #[must_use]
    pub fn checked(mut self, checks: bool) -> Self {
        self.drawing.check = checks;
        self
    }

    /// Under a control, by which another thread can end it.
    #[must_use]
    pub fn under(mut self, control: &Control) -> Self {
        self.drawing.control = control.clone();
        self
    }

    /// All state of the draw, to change it.
    pub fn plan(&mut self) -> &mut DrawPlan {
        &mut self.plan
    }

    /// As plain data, to which further draws can be added.
    ///
    /// # Errors
    /// Arrays that do not fit together.
    pub fn drawing(mut self) -> Result<Drawing, Error> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        if !self.attributes.is_empty() {
            self.plan.mesh = self.vertices()?.into();
            let is_x1k = matches!(self.plan.programs.as_slice(), [one] if is_x1k(one));
            // Those of X1K programs are channels of the mesh.
            let arrays = self.attributes.into_iter().map(|(name, rows)| (name.into(), rows));
            self.plan.arrays = if is_x1k { Vec::new() } else { arrays.collect() };
        } else if self.indices.is_some() {
            return Err(Error::wrong("bad-mesh", "indices are the order of `attribute`s, and there are none"));
        }
        self.drawing.draws.push(self.plan);
        Ok(self.drawing)
    }

    /// The attributes as a mesh.
    fn vertices(&self) -> Result<Mesh, Error> {
        let count = self.attributes.first().map_or(0, |(_, rows)| rows.len());
        let usual = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.8, 0.8, 0.8, 1.0]];
        let mut vertices = vec![usual; count];
        for (name, rows) in &self.attributes {
            if rows.len() != count {
                let first = &self.attributes[0].0;
                let message = format!("attribute `{name}` has {} elements, `{first}` has {count}", rows.len());
                return Err(Error::wrong("bad-mesh", message));
            }
            let channel = Channel::of_attribute(name);
            let place = channel.and_then(Channel::place);
            if let Some(place) = place {
                vertices.iter_mut().zip(rows).for_each(|(vertex, row)| vertex[place] = *row);
            }
        }
        let most = u32::try_from(count).map_err(|_| Error::wrong("bad-mesh", "there are too many vertices"))?;
        let indices = self.indices.clone().unwrap_or_else(|| (0..most).collect());
        let topology = self.plan.topology.unwrap_or(Topology::Triangles);
        Ok(Mesh { topology, ..Mesh::of_triangles(vertices, indices) })
    }

    /// Draws it.
    ///
    /// # Errors
    /// Parts that do not fit together, before anything is drawn; or the fault that ended it.
    pub fn run(self) -> Result<Drawn, Error> {
        self.drawing()?.prepare()?.draw(0.0)
    }

    /// The first mistake is reported when the draw is run.
    fn refuse(&mut self, rule: &'static str, message: String) {
        self.wrong.get_or_insert(Error::wrong(rule, message));
    }
}

fn is_x1k(source: &ProgramSource) -> bool {
    match source {
        ProgramSource::Given(program) => program.as_x1k().is_some(),
        ProgramSource::File(path) => is_x1k_file(path),
        ProgramSource::Bytes(..) => false,
    }
}
