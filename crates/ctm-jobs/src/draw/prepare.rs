//! A drawing whose files have been read and whose names have been resolved, ready for one picture or for many.

use super::UniformPlace;
use super::blocks;
use super::bound::{BANKS, BoundPair, BoundPvs, BoundX1k, CONSTANTS_OF_BUFFER, DrawPrograms, PreparedDraw};
use super::mesh::{Channel, Mesh};
use super::pair::{self, Pair, is_meant};
use super::plan::{DrawPlan, Drawing, MeshSource, ProgramSource, TextureBinding, TextureData};
use super::reach::{Reach, numbered, rows_of};
use super::{Error, pvs, unknown};
use crate::job::{Isa, Loaded, read_file};
use ctm_draw::LaunchNotice;
use ctm_draw::format::Colours;
use ctm_draw::state::SamplePattern;
use ctm_exec::Engine;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::Arrays;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Image, MipFilter};
use ctm_exec::x1k;
use ctm_files::FileKind;
use ctm_files::array::Items;
use ctm_files::texture;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage as ProgramStage;
use ctm_isa::x1k::program::{Literal, SymbolKind};
use ctm_launch::Ref;
use ctm_launch::slot::register;
use ctm_launch::source::of_input;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Most bytes of all targets.
const MOST_BYTES: u64 = 2 << 30;
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
        let blocks = plan.blocks.iter().map(blocks::read).collect::<Result<Vec<_>, _>>()?;
        let mut findings = Vec::new();
        let programs = match plan.programs.as_slice() {
            [one @ ProgramSource::File(path)] if is_x1k(path) => DrawPrograms::X1k(Box::new(BoundX1k::new(one)?)),
            [one @ ProgramSource::Bytes(_, name)] if is_x1k(Path::new(&**name)) => {
                DrawPrograms::X1k(Box::new(BoundX1k::new(one)?))
            }
            [one @ ProgramSource::Given(program)] if program.as_x1k().is_some() => {
                DrawPrograms::X1k(Box::new(BoundX1k::new(one)?))
            }
            [vertex, pixel] if pvs::is_vertex(vertex) => {
                let bound =
                    BoundX1k { vertex: Some(BoundPvs::new(vertex, plan, &mesh, &blocks)?), ..BoundX1k::new(pixel)? };
                findings = bound.vertex.iter().flat_map(|of| of.findings.clone()).collect();
                DrawPrograms::X1k(Box::new(bound))
            }
            [pixel, vertex] if pvs::is_vertex(vertex) => {
                let name = |source: &ProgramSource| pair::bytes(source).map(|of| of.1.display().to_string());
                let message = format!("{} is a vertex program: it comes first, before {}", name(vertex)?, name(pixel)?);
                return Err(Error::wrong("bad-pair", message));
            }
            [one] if pvs::is_vertex(one) => {
                let message = "a vertex program of the R5xx is drawn with a pixel program of X1K, which comes second";
                return Err(Error::wrong("bad-pair", message));
            }
            files => {
                let pair = Pair::load(files)?;
                findings = pair.findings();
                let fetched = [&pair.vertex, &pair.pixel].map(blocks::fetched_banks);
                let (memory, constants) = (Default::default(), Default::default());
                let mut bound = BoundPair { pair, fetch: None, memory, constants, fetched };
                bound.pose(plan, &mut mesh);
                bound.attributes(plan, &mesh, &blocks)?;
                DrawPrograms::Pair(Box::new(bound))
            }
        };
        if matches!(programs, DrawPrograms::X1k(_)) {
            mesh.pose(true, true);
        }
        let mut draw = PreparedDraw { plan, name, mesh, programs, findings, from_mesh: Vec::new(), usual: Vec::new() };
        draw.usual_numbers()?;
        for (name, items) in &blocks {
            let told = draw.programs.block(name, items)?;
            draw.findings.extend(told);
        }
        for (slot, values) in &plan.constants {
            draw.programs.constant(&slot.register("c"), values)?;
        }
        for texture in &plan.textures {
            draw.programs.places(&texture.slot)?;
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
                    let message = format!("texture {} shows target {number}, and there is none", texture.slot);
                    return Err(Error::wrong("no-target", message));
                }
                TextureData::Depth if self.depth.is_none() => {
                    let message = format!("texture {} shows the depth target, and there is none", texture.slot);
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
        return Err(Error::wrong("bad-texture", format!("texture {} has no file", binding.slot)));
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
        Some((slot, rows)) => {
            let message = format!("attribute {slot} has {} elements, the mesh has {count} vertices", rows.len());
            Err(Error::wrong("bad-mesh", message))
        }
        None => Ok(()),
    }
}

impl BoundX1k {
    /// Whether the pixel program has a constant of this name or number.
    fn reads(&self, name: &str) -> bool {
        let read = |n: u8| self.program.usage().float_constants.contains(&n);
        self.program.symbol(SymbolKind::Float, name).is_some() || register(name, &['c']).is_some_and(read)
    }

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
        Ok(Self {
            program,
            constants,
            memory: x1k::Arrays::default(),
            matrix: None,
            vertex: None,
            textures: Arrays::default(),
        })
    }
}

impl BoundPair {
    /// Binds the attributes of the vertex program, and makes the program that fetches them.
    fn attributes(&mut self, plan: &DrawPlan, mesh: &Mesh, blocks: &[(String, Items)]) -> Result<(), Error> {
        let attributes = self.pair.attributes();
        let arrays = blocks::attributes(&attributes, blocks, mesh.vertices.len())?;
        let named = plan.attributes.iter().map(|of| &of.0).chain(plan.arrays.iter().map(|of| &of.0));
        for slot in named {
            if !attributes.iter().any(|attribute| is_meant(slot, attribute)) {
                let names: Vec<&str> = attributes.iter().map(|a| a.name.as_str()).collect();
                return Err(unknown("attribute", &slot.text(), &names));
            }
        }
        let mut lines = String::from("VTX:\n");
        for (n, attribute) in attributes.iter().enumerate() {
            let given = plan.attributes.iter().find(|(slot, _)| is_meant(slot, attribute));
            // The usual order of programs without names.
            let usual = [Channel::Position, Channel::Colour, Channel::Texcoord, Channel::Normal];
            let channel = given.map(|given| given.1).or_else(|| Channel::of_attribute(&attribute.name));
            let channel = channel.unwrap_or(usual[n % 4]);
            // Whole numbers reach integer attributes as integers.
            let bits =
                |value: f32| if attribute.integer { (value as i64 as u32).to_le_bytes() } else { value.to_le_bytes() };
            let of_bytes = |rows: &[[f32; 4]]| rows.as_flattened().iter().flat_map(|&value| bits(value)).collect();
            let bytes: Vec<u8> = match plan.arrays.iter().chain(&arrays).find(|(slot, _)| is_meant(slot, attribute)) {
                Some((_, rows)) => of_bytes(rows),
                None => of_bytes(&mesh.channel(channel)),
            };
            let id = FIRST_BUFFER + n as u8;
            self.memory[0].buffers.insert(id, BufferData { stride_bytes: 16, format: Format::default(), bytes });
            lines += &format!("  SEMANTIC SEM[{}].xyzw, R0.x, b{id} FORMAT(32_32_32_32_FLOAT)\n", attribute.location);
        }
        lines += "RETURN\n";
        if !attributes.is_empty() {
            let assembly = ctm_isa::r700::text::assemble(&lines, &ctm_isa::r700::text::TextOptions::default());
            let program = assembly.program.map(|program| Program { stage: Some(ProgramStage::Fetch), ..program });
            let failed = || Error::wrong("fetch-program", format!("{:?}", assembly.diagnostics));
            self.fetch = Some(program.ok_or_else(failed)?);
            let highest = attributes.iter().map(|a| a.gpr + 1).max().unwrap_or(0);
            let program = &mut self.pair.vertex.program;
            program.gprs = program.gprs.max(highest);
        }
        Ok(())
    }

    pub(super) fn constant(&mut self, name: &str, values: &[f32]) -> Result<(), Error> {
        let (stages, bare): (&[usize], &str) = match name.split_once(':') {
            Some(("vs", rest)) => (&[0], rest),
            Some(("ps", rest)) => (&[1], rest),
            _ => (&[0, 1], name),
        };
        let wrong = |message: String| Error::wrong("bad-constant", message);
        let numbers: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
        let mut found = self.uniform(stages, name, &numbers)?;
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
    pub(super) fn store(
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

impl DrawPrograms {
    /// Sets constants of the programs that have the name.
    pub(super) fn constant(&mut self, name: &str, values: &[f32]) -> Result<(), Error> {
        match self {
            Self::Pair(bound) => bound.constant(name, values),
            Self::X1k(bound) => {
                let numbers: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
                let (stage, name) = match name.split_once(':') {
                    Some((stage @ ("vs" | "ps"), rest)) if bound.vertex.is_some() => (stage, rest),
                    _ => ("", name),
                };
                let mut found = false;
                if let Some(vertex) = bound.vertex.as_mut().filter(|_| stage != "ps") {
                    found = vertex.constant(name, &numbers)?;
                }
                if found && (stage == "vs" || !bound.reads(name)) {
                    return Ok(());
                }
                let rows = rows_of(name, &numbers)?;
                let by_number = register(name, &['c']).filter(|_| stage != "vs");
                let symbol = bound.program.symbol(SymbolKind::Float, name).filter(|_| stage != "vs");
                let Some(first) = symbol.or(by_number) else {
                    let mut names = names_of(&bound.program, SymbolKind::Float);
                    names.extend(bound.vertex.iter().flat_map(BoundPvs::names));
                    names.dedup();
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
    pub(super) fn places(&self, slot: &Ref) -> Result<Vec<(usize, u8)>, Error> {
        let name = &*slot.register("t");
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
        let places = self.places(&binding.slot)?;
        match self {
            Self::Pair(bound) => {
                for (stage, number) in places {
                    bound.memory[stage].textures.insert(number, image.clone());
                    bound.memory[stage].samplers.insert(number, binding.sampler);
                }
            }
            Self::X1k(bound) => {
                let of = of_input(&binding.sampler);
                if bound.vertex.is_some() {
                    for (_, number) in places {
                        bound.textures.textures.insert(number, image.clone());
                        bound.textures.samplers.insert(number, binding.sampler);
                    }
                    return Ok(());
                }
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
        let DrawPrograms::Pair(bound) = &self.programs else { return };
        let bare = |name: &str| name.trim_start_matches("vs:").trim_start_matches("ps:").to_owned();
        let plan = self.plan;
        let constants = plan.constants.iter().map(|c| &c.0).chain(plan.cameras.iter().map(|c| &c.0));
        let constants = constants.map(|slot| slot.register("c"));
        let blocks = plan.blocks.iter().map(|block| block.slot.register("cb"));
        let usual = self.usual.iter().map(|(name, _)| Cow::Borrowed(name.as_str()));
        let mut constants: Vec<String> = constants.chain(blocks).chain(usual).map(|name| bare(&name)).collect();
        constants.extend(self.from_mesh.iter().cloned());
        // A whole constant buffer is given by number.
        let banks: Vec<String> =
            constants.iter().map(|name| format!("{name}[0]")).filter(|name| numbered(name).is_some()).collect();
        constants.extend(banks);
        let parts = [("vertex", &bound.pair.vertex), ("pixel", &bound.pair.pixel)];
        // Elements give their arrays, blocks their members.
        let elements: Vec<String> =
            constants.iter().filter_map(|name| Some(blocks::element_of(name)?.0.to_owned())).collect();
        let of_blocks =
            parts.iter().flat_map(|(_, part)| part.blocks()).filter(|block| constants.contains(&block.name));
        let members: Vec<String> = of_blocks.flat_map(|block| block.members).map(|member| member.name).collect();
        constants.extend(elements.into_iter().chain(members));
        let mut missing = Vec::new();
        for (stage, part) in parts {
            // By number anything may have been given.
            let given = |name: &str| constants.iter().any(|c| c == name || numbered(c).is_some());
            let uniforms = part.uniforms().filter(|name| !given(name));
            missing
                .extend(uniforms.map(|name| format!("the {stage} program's constant `{name}` is not given: it is 0")));
            let bound = |name: &str| {
                plan.textures
                    .iter()
                    .map(|t| t.slot.register("t"))
                    .any(|t| t == name || !part.samplers().any(|s| s == t))
            };
            let samplers = part.samplers().filter(|name| !bound(name));
            missing.extend(samplers.map(|name| format!("the {stage} program's texture `{name}` is not given")));
        }
        self.findings.extend(missing);
    }
}
