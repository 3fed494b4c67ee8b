//! A drawing whose files have been read and whose names have been resolved, ready for one picture or for many.

use super::UniformPlace;
use super::mesh::{Channel, Mesh};
use super::pair::{self, Pair};
use super::plan::{DrawPlan, Drawing, MeshSource, ProgramSource, TextureBinding, TextureData};
use super::{Error, unknown};
use crate::job::r700::uses::Uses;
use crate::job::{Isa, Loaded, read_file};
use ctm_draw::LaunchNotice;
use ctm_draw::format::Colours;
use ctm_draw::state::SamplePattern;
use ctm_exec::Engine;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Image, MipFilter};
use ctm_exec::r700::{Arrays, Constants};
use ctm_exec::x1k;
use ctm_files::FileKind;
use ctm_files::texture;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage as ProgramStage;
use ctm_isa::x1k::program::{Literal, SymbolKind};
use ctm_launch::slot::register;
use ctm_launch::source::of_input;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Most bytes of all targets.
const MOST_BYTES: u64 = 2 << 30;
/// Constant buffers of a program.
const BANKS: u8 = 16;
/// Most constants of a constant buffer.
const CONSTANTS_OF_BUFFER: usize = 4096;
/// The first buffer that attributes are fetched from.
const FIRST_BUFFER: u8 = 160;

/// Whether a file holds an X1K pixel program, by its name.
pub(super) fn is_x1k(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    matches!(extension.as_str(), "x1k" | "ps3" | "elf")
}

/// A drawing whose files have been read.
pub struct Prepared<'a> {
    pub(super) drawing: &'a Drawing,
    pub(super) engine: Box<dyn Engine>,
    pub(super) draws: Vec<PreparedDraw<'a>>,
    /// Called with the launches of each draw, by its number.
    pub(super) notice: Option<Arc<NoticeFn>>,
}

/// Called with a launch that is about to run: the number of its draw, from 0 on, and the places of its lanes.
pub type NoticeFn = dyn Fn(usize, &LaunchNotice<'_>) + Send + Sync;

impl Prepared<'_> {
    /// Runs all launches on this engine.
    pub fn run_on(&mut self, engine: Box<dyn Engine>) {
        self.engine = engine;
    }

    /// Runs all launches on an engine around this one, and calls `notice` with each before it runs.
    pub fn watch(&mut self, wrap: impl FnOnce(Box<dyn Engine>) -> Box<dyn Engine>, notice: Arc<NoticeFn>) {
        let inner = std::mem::replace(&mut self.engine, Box::new(ctm_exec::Interp));
        self.engine = wrap(inner);
        self.notice = Some(notice);
    }
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").field("drawing", &self.drawing).finish_non_exhaustive()
    }
}

/// A draw with its programs, its mesh and all that is bound.
pub(super) struct PreparedDraw<'a> {
    pub(super) plan: &'a DrawPlan,
    /// Its name, or its number.
    pub(super) name: String,
    pub(super) mesh: Mesh,
    pub(super) programs: Programs,
    pub(super) findings: Vec<String>,
}

/// The programs of a draw.
pub(super) enum Programs {
    /// A vertex and a pixel program.
    Pair(Box<BoundPair>),
    /// A pixel program of X1K; vertices come transformed.
    X1k(Box<BoundX1k>),
}

/// A pair with its resources: first the vertex program's, then the pixel program's.
pub(super) struct BoundPair {
    pub(super) pair: Pair,
    pub(super) fetch: Option<Program>,
    pub(super) memory: [Arrays; 2],
    pub(super) constants: [Constants; 2],
}

/// An X1K program with its resources.
pub(super) struct BoundX1k {
    pub(super) program: ctm_isa::x1k::Program,
    pub(super) constants: x1k::Constants,
    pub(super) memory: x1k::Arrays,
    /// The transformation of vertices.
    pub(super) matrix: Option<[f32; 16]>,
}

impl Drawing {
    /// Reads the files and resolves the names.
    ///
    /// # Errors
    /// A part is missing or wrong.
    pub fn prepare(&self) -> Result<Prepared<'_>, Error> {
        let [width, height] = self.size;
        if width == 0 || height == 0 || width > 16384 || height > 16384 {
            let message = format!("the picture is {width} x {height}, allowed is 1..=16384 each");
            return Err(Error::wrong("bad-size", message));
        }
        if SamplePattern::of(self.samples).is_none() {
            return Err(Error::wrong("bad-samples", format!("{} samples, allowed is 1, 2, 4 or 8", self.samples)));
        }
        let mut bytes = self.depth.as_ref().map_or(0, |depth| depth.format.bytes());
        for target in &self.targets {
            let colours = Colours::new(target.format);
            let wrong = |error| Error::wrong("bad-format", format!("target {}: {error}", target.number));
            bytes += colours.map_err(wrong)?.bytes();
        }
        let bytes = u64::from(width) * u64::from(height) * u64::from(self.samples) * bytes as u64;
        if bytes > MOST_BYTES {
            let message = format!("targets of {width} x {height} take {bytes} bytes, allowed is {MOST_BYTES}");
            return Err(Error::wrong("bad-size", message));
        }
        if let Some([x, y]) = self.at.filter(|[x, y]| *x >= width || *y >= height) {
            return Err(Error::wrong("bad-pixel", format!("there is no pixel ({x}, {y}) in {width} x {height}")));
        }
        let engine = self.engine.engine().map_err(|error| Error::wrong("no-engine", error.to_string()))?;
        let several = self.draws.len() > 1;
        let mut draws = Vec::new();
        for (number, plan) in self.draws.iter().enumerate() {
            let draw = self.prepare_draw(number, plan).map_err(|error| match error {
                Error::Wrong { rule, message } if several => {
                    let name = plan.name.clone().unwrap_or_else(|| number.to_string());
                    Error::Wrong { rule, message: format!("draw {name}: {message}") }
                }
                other => other,
            })?;
            draws.push(PreparedDraw { plan, ..draw });
        }
        let mut prepared = Prepared { drawing: self, engine, draws, notice: None };
        if self.check {
            prepared.check();
        }
        Ok(prepared)
    }

    fn prepare_draw<'a>(&'a self, number: usize, plan: &'a DrawPlan) -> Result<PreparedDraw<'a>, Error> {
        let mut mesh = match &plan.mesh {
            MeshSource::Named(name) => Mesh::of(name).map_err(|error| Error::wrong("bad-mesh", error.to_string()))?,
            MeshSource::Given(mesh) => Mesh::clone(mesh),
        };
        check_mesh(&mesh, plan)?;
        if let Some(topology) = plan.topology {
            mesh.topology = topology;
        }
        let name = plan.name.clone().unwrap_or_else(|| number.to_string());
        let mut findings = Vec::new();
        let programs = match plan.programs.as_slice() {
            [one @ ProgramSource::File(path)] if is_x1k(path) => Programs::X1k(Box::new(BoundX1k::new(one)?)),
            [one @ ProgramSource::Given(program)] if program.as_x1k().is_some() => {
                Programs::X1k(Box::new(BoundX1k::new(one)?))
            }
            files => {
                let pair = Pair::load(files)?;
                findings = pair.findings();
                let mut bound =
                    BoundPair { pair, fetch: None, memory: Default::default(), constants: Default::default() };
                bound.attributes(plan, &mesh)?;
                Programs::Pair(Box::new(bound))
            }
        };
        let mut draw = PreparedDraw { plan, name, mesh, programs, findings };
        for (name, values) in &plan.constants {
            draw.programs.constant(name, values)?;
        }
        for texture in &plan.textures {
            draw.programs.places(&texture.name)?;
            let held = |number: u8| self.targets.iter().any(|target| target.number == number);
            match &texture.data {
                TextureData::Files(files) => {
                    let image = texture_image(texture, files)?;
                    draw.programs.bind(texture, image)?;
                }
                TextureData::Given(image) => {
                    let image = with_levels(texture, Image::clone(image));
                    draw.programs.bind(texture, image)?;
                }
                TextureData::Target(number) if !held(*number) => {
                    let message = format!("texture `{}` shows target {number}, and there is none", texture.name);
                    return Err(Error::wrong("no-target", message));
                }
                TextureData::Depth if self.depth.is_none() => {
                    let message = format!("texture `{}` shows the depth target, and there is none", texture.name);
                    return Err(Error::wrong("no-target", message));
                }
                TextureData::Target(_) | TextureData::Depth => {}
            }
        }
        for number in plan.targets.iter().flatten() {
            if !self.targets.iter().any(|target| target.number == *number) {
                return Err(Error::wrong("no-target", format!("target {number} is drawn to, and there is none")));
            }
        }
        draw.look_for_missing();
        Ok(draw)
    }
}

/// The texture of a binding's files.
fn texture_image(binding: &TextureBinding, files: &[std::path::PathBuf]) -> Result<Image, Error> {
    let wrong = |file: &Path, message: String| Error::wrong("bad-texture", format!("{}: {message}", file.display()));
    let mut images = Vec::new();
    for file in files {
        let bytes = read_file(file, FileKind::Texture, None).map_err(Error::Job)?;
        images.push(texture::read(file, &bytes).map_err(|error| wrong(file, error.to_string()))?);
    }
    let Some(first) = files.first() else {
        return Err(Error::wrong("bad-texture", format!("texture `{}` has no file", binding.name)));
    };
    let kind = binding.kind.or_else(|| images.first().map(|image| image.texture.kind)).unwrap_or_default();
    let image = texture::stacked(kind, images).map_err(|error| wrong(first, error.to_string()))?;
    Ok(with_levels(binding, image))
}

/// Computes the levels that the sampler chooses from, where it has none.
fn with_levels(binding: &TextureBinding, image: Image) -> Image {
    let needs = binding.sampler.mip != MipFilter::None && binding.make_levels && image.texture.levels == 1;
    if needs { texture::with_levels(image) } else { image }
}

/// Meshes and arrays in memory can say anything.
fn check_mesh(mesh: &Mesh, plan: &DrawPlan) -> Result<(), Error> {
    let count = mesh.vertices.len();
    if let Some(index) = mesh.indices.iter().find(|&&index| index as usize >= count && plan.restart != Some(index)) {
        return Err(Error::wrong("bad-mesh", format!("index {index} names no vertex, there are {count}")));
    }
    match plan.arrays.iter().find(|(_, rows)| rows.len() != count) {
        Some((name, rows)) => {
            let message = format!("attribute `{name}` has {} elements, the mesh has {count} vertices", rows.len());
            Err(Error::wrong("bad-mesh", message))
        }
        None => Ok(()),
    }
}

impl BoundX1k {
    fn new(source: &ProgramSource) -> Result<Self, Error> {
        let (bytes, path) = pair::bytes(source)?;
        let program = Loaded::from_bytes(&bytes, &path, Some(Isa::X1k), None).map_err(Error::Job)?.program;
        let mut constants = x1k::Constants::default();
        for literal in &program.literals {
            match *literal {
                Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
                Literal::Int { index, value } => constants.int[usize::from(index)] = value,
                Literal::Bool { index, value } => constants.bool[usize::from(index)] = value,
            }
        }
        Ok(Self { program, constants, memory: x1k::Arrays::default(), matrix: None })
    }
}

impl BoundPair {
    /// Binds the attributes of the vertex program, and makes the program that fetches them.
    fn attributes(&mut self, plan: &DrawPlan, mesh: &Mesh) -> Result<(), Error> {
        let attributes = self.pair.attributes();
        let named = plan.attributes.iter().map(|of| &of.0).chain(plan.arrays.iter().map(|of| &of.0));
        for name in named {
            if !attributes.iter().any(|a| a.name == *name || a.location.to_string() == *name) {
                let names: Vec<&str> = attributes.iter().map(|a| a.name.as_str()).collect();
                return Err(unknown("attribute", name, &names));
            }
        }
        let mut lines = String::from("VTX:\n");
        for (n, attribute) in attributes.iter().enumerate() {
            let is_meant = |name: &str| {
                !attribute.name.is_empty() && name == attribute.name || name == attribute.location.to_string()
            };
            let given = plan.attributes.iter().find(|(name, _)| is_meant(name));
            // The usual order of programs without names.
            let usual = [Channel::Position, Channel::Colour, Channel::Texcoord, Channel::Normal];
            let channel = given.map(|given| given.1).or_else(|| Channel::of_attribute(&attribute.name));
            let channel = channel.unwrap_or(usual[n % 4]);
            let of_bytes =
                |rows: &[[f32; 4]]| rows.as_flattened().iter().flat_map(|value| value.to_le_bytes()).collect();
            let bytes: Vec<u8> = match plan.arrays.iter().find(|(name, _)| is_meant(name)) {
                Some((_, rows)) => of_bytes(rows),
                None => of_bytes(&mesh.channel(channel)),
            };
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

    fn constant(&mut self, name: &str, values: &[f32]) -> Result<(), Error> {
        let (stages, bare): (&[usize], &str) = match name.split_once(':') {
            Some(("vs", rest)) => (&[0], rest),
            Some(("ps", rest)) => (&[1], rest),
            _ => (&[0, 1], name),
        };
        let wrong = |message: String| Error::wrong("bad-constant", message);
        let numbers: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        let mut found = false;
        for &stage in stages {
            let part = if stage == 0 { &self.pair.vertex } else { &self.pair.pixel };
            let Some(uniform) = part.declared(bare) else { continue };
            let dwords = uniform.lay_out(&numbers).map_err(wrong)?;
            self.store(stage, name, (uniform.place, uniform.constants()), &dwords)?;
            found = true;
        }
        let by_number = if found { None } else { numbered(bare) };
        if let Some(place) = by_number {
            let rows = rows_of(name, &numbers)?;
            let dwords: Vec<(usize, u32)> = rows.as_flattened().iter().copied().enumerate().collect();
            let mut read: Vec<(&str, Reach)> = Vec::new();
            for &stage in stages {
                let (of, part) = [("vertex", &self.pair.vertex), ("pixel", &self.pair.pixel)][stage];
                let reach = Reach::of(&part.program, place);
                if reach.holds(place, rows.len()) {
                    self.store(stage, name, (place, rows.len()), &dwords)?;
                    found = true;
                } else {
                    read.push((of, reach));
                }
            }
            if !found {
                let programs: Vec<String> =
                    read.iter().map(|(of, reach)| format!("the {of} program reads {reach}")).collect();
                let are =
                    if rows.len() == 1 { "is a constant".to_owned() } else { format!("is {} constants", rows.len()) };
                return Err(wrong(format!("`{name}` {are} that no program reads: {}", programs.join(", "))));
            }
        }
        if found {
            return Ok(());
        }
        let names: Vec<&str> = self.pair.vertex.uniforms().chain(self.pair.pixel.uniforms()).collect();
        Err(unknown("constant", name, &names))
    }

    /// Stores numbers of `count` constants from a place on.
    fn store(
        &mut self,
        stage: usize,
        name: &str,
        (place, count): (UniformPlace, usize),
        dwords: &[(usize, u32)],
    ) -> Result<(), Error> {
        let (first, most, constants) = match place {
            UniformPlace::File(first) => (first, 256, &mut self.constants[stage].file[..]),
            UniformPlace::Buffer(bank, first) => {
                let most = if bank < BANKS { CONSTANTS_OF_BUFFER } else { 0 };
                let buffer = self.memory[stage].constants.entry(bank).or_default();
                buffer.resize(buffer.len().max((first + count).min(most)), [0; 4]);
                (first, most, &mut buffer[..])
            }
        };
        let Some(constants) = constants.get_mut(first..first + count) else {
            let message = match place {
                UniformPlace::File(_) => format!("`{name}` is {count} constants from c{first} on, there are {most}"),
                UniformPlace::Buffer(..) => {
                    format!("`{name}`: banks 0 to {} have constants 0 to {}", BANKS - 1, CONSTANTS_OF_BUFFER - 1)
                }
            };
            return Err(Error::wrong("bad-constant", message));
        };
        for &(dword, bits) in dwords {
            constants[dword / 4][dword % 4] = bits;
        }
        Ok(())
    }
}

/// The constants that a program reads in one place: the constant file, or one constant buffer.
struct Reach {
    /// Ranges of constants, in order.
    ranges: Vec<std::ops::Range<usize>>,
    /// The name of the place before a number.
    prefix: String,
}

impl Reach {
    /// The program's constants of the kind of `place`.
    fn of(program: &Program, place: UniformPlace) -> Self {
        let uses = Uses::of(&program.decode());
        let mut out = Self { ranges: Vec::new(), prefix: "c".to_owned() };
        let mut add = |range: std::ops::Range<usize>| match out.ranges.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => out.ranges.push(range),
        };
        match place {
            UniformPlace::File(_) if uses.relative_constants => add(0..256),
            UniformPlace::File(_) => uses.constants.iter().for_each(|&n| add(n.into()..usize::from(n) + 1)),
            UniformPlace::Buffer(bank, _) => {
                out.prefix = format!("cb{bank}[");
                uses.locked(bank).for_each(add);
            }
        }
        out
    }

    /// Whether the program reads any of the `count` constants from the place on.
    fn holds(&self, place: UniformPlace, count: usize) -> bool {
        let (UniformPlace::File(first) | UniformPlace::Buffer(_, first)) = place;
        self.ranges.iter().any(|range| first < range.end && range.start < first + count)
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let close = if self.prefix.ends_with('[') { "]" } else { "" };
        let one = |n: usize| format!("{}{n}{close}", self.prefix);
        let shown = |range: &std::ops::Range<usize>| match range.len() {
            1 => one(range.start),
            _ => format!("{} to {}", one(range.start), one(range.end - 1)),
        };
        let all: Vec<String> = self.ranges.iter().map(shown).collect();
        match all.as_slice() {
            [] if close.is_empty() => f.write_str("none by number"),
            [] => write!(f, "none of {}", self.prefix.trim_end_matches('[')),
            all => f.write_str(&all.join(", ")),
        }
    }
}

/// Numbers of constants that no container declares: one constant, whose further numbers are 0, or several of four numbers.
fn rows_of(name: &str, numbers: &[u32]) -> Result<Vec<[u32; 4]>, Error> {
    if numbers.is_empty() || numbers.len() > 4 && !numbers.len().is_multiple_of(4) {
        let message =
            format!("`{name}` has {} numbers; a constant has 1 to 4, several constants have four each", numbers.len());
        return Err(Error::wrong("bad-constant", message));
    }
    let row = |four: &[u32]| std::array::from_fn(|n| four.get(n).copied().unwrap_or_default());
    Ok(numbers.chunks(4).map(row).collect())
}

impl Programs {
    /// Sets constants of the programs that have the name.
    pub(super) fn constant(&mut self, name: &str, values: &[f32]) -> Result<(), Error> {
        match self {
            Self::Pair(bound) => bound.constant(name, values),
            Self::X1k(bound) => {
                let numbers: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
                let rows = rows_of(name, &numbers)?;
                let by_number = register(name, &['c']);
                let Some(first) = bound.program.symbol(SymbolKind::Float, name).or(by_number) else {
                    let names = names_of(&bound.program, SymbolKind::Float);
                    return Err(unknown("constant", name, &names));
                };
                let read = bound.program.usage().float_constants;
                let named = bound.program.symbol(SymbolKind::Float, name).is_some();
                if !named && !(first..=u8::MAX).take(rows.len()).any(|n| read.contains(&n)) {
                    let all: Vec<String> = read.iter().map(|n| format!("c{n}")).collect();
                    let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
                    let message = format!("`{name}` is a constant that the program does not read: it reads {all}");
                    return Err(Error::wrong("bad-constant", message));
                }
                let first = usize::from(first);
                let Some(places) = bound.constants.float.get_mut(first..first + rows.len()) else {
                    let message = format!("`{name}` is {} constants from c{first} on, there are fewer", rows.len());
                    return Err(Error::wrong("bad-constant", message));
                };
                places.copy_from_slice(&rows);
                Ok(())
            }
        }
    }

    /// The binding of a texture of this name: the program, and the number.
    pub(super) fn places(&self, name: &str) -> Result<Vec<(usize, u8)>, Error> {
        let by_number = register(name, &['t', 's']);
        match self {
            Self::Pair(bound) => {
                let parts = [&bound.pair.vertex, &bound.pair.pixel].into_iter().enumerate();
                let mut places: Vec<(usize, u8)> =
                    parts.filter_map(|(stage, part)| Some((stage, part.sampler(name)?))).collect();
                if places.is_empty() {
                    places.extend(by_number.map(|number| (1, number)));
                }
                if places.is_empty() {
                    let names: Vec<&str> = bound.pair.vertex.samplers().chain(bound.pair.pixel.samplers()).collect();
                    return Err(unknown("texture", name, &names));
                }
                Ok(places)
            }
            Self::X1k(bound) => {
                let inputs = bound.memory.inputs.len();
                let number = bound.program.symbol(SymbolKind::Input, name).or(by_number);
                let number = number.filter(|&number| usize::from(number) < inputs);
                let names = || names_of(&bound.program, SymbolKind::Input);
                Ok(vec![(0, number.ok_or_else(|| unknown("input", name, &names()))?)])
            }
        }
    }

    /// Binds a texture by its name.
    pub(super) fn bind(&mut self, binding: &TextureBinding, image: Image) -> Result<(), Error> {
        let places = self.places(&binding.name)?;
        match self {
            Self::Pair(bound) => {
                for (stage, number) in places {
                    bound.memory[stage].textures.insert(number, image.clone());
                    bound.memory[stage].samplers.insert(number, binding.sampler);
                }
            }
            Self::X1k(bound) => {
                let of = of_input(&binding.sampler);
                for (_, number) in places {
                    let elements = image.levels.first().unwrap_or_default().to_vec();
                    let picture = Picture { width: image.texture.width, height: image.texture.height, elements };
                    bound.memory.inputs[usize::from(number)] = Some((picture, of));
                }
            }
        }
        Ok(())
    }
}

fn names_of(program: &ctm_isa::x1k::Program, kind: SymbolKind) -> Vec<&str> {
    program.symbols.iter().filter(|symbol| symbol.kind == kind).map(|symbol| symbol.name.as_str()).collect()
}

impl PreparedDraw<'_> {
    /// Names that nothing was bound to.
    fn look_for_missing(&mut self) {
        let Programs::Pair(bound) = &self.programs else { return };
        let bare = |name: &str| name.trim_start_matches("vs:").trim_start_matches("ps:").to_owned();
        let plan = self.plan;
        let constants = plan.constants.iter().map(|c| &c.0).chain(plan.cameras.iter().map(|c| &c.0));
        let constants: Vec<String> = constants.map(|name| bare(name)).collect();
        let parts = [("vertex", &bound.pair.vertex), ("pixel", &bound.pair.pixel)];
        let mut missing = Vec::new();
        for (stage, part) in parts {
            // By number anything may have been given.
            let given = |name: &str| constants.iter().any(|c| c == name || numbered(c).is_some());
            let uniforms = part.uniforms().filter(|name| !given(name));
            missing
                .extend(uniforms.map(|name| format!("the {stage} program's constant `{name}` is not given: it is 0")));
            let bound =
                |name: &str| plan.textures.iter().any(|t| t.name == name || !part.samplers().any(|s| s == t.name));
            let samplers = part.samplers().filter(|name| !bound(name));
            missing.extend(samplers.map(|name| format!("the {stage} program's texture `{name}` is not given")));
        }
        self.findings.extend(missing);
    }
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
