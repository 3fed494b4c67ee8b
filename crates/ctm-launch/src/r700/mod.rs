//! Launches of R700 programs: names into numbers, then on the caller's arrays in place, or as commands of a device.
//!
//! | file | what |
//! |---|---|
//! | `constants` | named constants in the constant file and in constant buffers |
//! | `memory` | the arrays as engines reach them |
//! | `commands` | the commands of a launch |

mod commands;
pub mod constants;
mod memory;

use crate::error::{ArgumentError, Error};
use crate::fit::{ANY_SIZE, Fit, size_misfit};
use crate::held::HeldInput;
use crate::landing::{BoundOutput, Demands, elsewhere};
use crate::model::{Bindings, Done, HostRegisters, Launch, Options};
use crate::numbers::{ConstantBank, GivenConstants};
use crate::slot::{Ref, register};
use crate::source::{Conditional, DeviceArray, InputArray as Array, Items, OutputArray};
use crate::view::{COLUMNS, Numbers, View};
use constants::{Buffers, not_given, store_in_window, store_uniform};
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::{self, CF_CONSTANTS, Constants, LoopConstant, Sampler, Space, Target};
use ctm_exec::x1k::Plane;
use ctm_exec::{Domain, GroupSize, Instant};
use ctm_files::error::{finding_report, run_fault};
use ctm_files::r700::uniform::{Uniform, UniformPlace};
use ctm_files::r700::uses::Uses;
use ctm_files::r700::{Interface, Loaded, target_name, target_named};
use ctm_files::render::{Report, Source};
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::program::{Program, Stage, SymbolKind};
use memory::{FetchBuffer, LaunchArrays, Reads, TextureArray};
use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most rows and columns of a texture.
const TEXTURE_SIDE: usize = 2 * COLUMNS as usize;

/// The export of a name, or of the number of a pixel export.
#[must_use]
pub fn target_of(which: &Ref) -> Option<Target> {
    match which {
        Ref::Index(n) => (*n < 8).then_some(Target::Pixel(*n)),
        Ref::Name(name) => target_named(name),
    }
}

/// Default initial registers: pixel programs have the index pair in R0 as floats; all others the number of the thread, i and j as integers.
#[must_use]
pub fn default_planes(stage: Stage, domain: Domain) -> Vec<Plane> {
    if stage == Stage::Pixel {
        return vec![Plane::position(0)];
    }
    let width = f64::from(domain.width());
    let first = f64::from(domain.i0) + f64::from(domain.j0) * width;
    let (di, dj) = ([1.0, 1.0, 0.0, 0.0], [width, 0.0, 1.0, 0.0]);
    vec![Plane { temp: 0, origin: [-first, 0.0, 0.0, 0.0], di, dj, bits: true }]
}

/// A launch whose slots are numbers.
pub(crate) struct BoundR700<'a> {
    program: Cow<'a, Program>,
    source: Option<&'a Arc<Source>>,
    /// The fetch subroutine.
    fetch: Option<&'a Program>,
    host: HostRegisters<'a>,
    stage: Stage,
    constants: Constants,
    planes: Vec<Plane>,
    reads: Reads<'a>,
    /// Inputs in a device's memory, buffers apart from textures.
    textures: BTreeMap<u8, DeviceArray>,
    buffers: BTreeMap<u8, DeviceArray>,
    /// Dwords or elements of a thread's item, by memory.
    items: BTreeMap<Space, u32>,
    outputs: BTreeMap<Target, BoundOutput<'a>>,
    conditional: Option<Conditional>,
    /// Whether it emits vertices or cuts strips.
    emits: bool,
    domain: Domain,
    options: Options<'a>,
    /// Findings on the launch itself.
    pub warnings: Vec<Report>,
}

impl<'a> BoundR700<'a> {
    /// The launch with numbers in place of names, everything checked.
    pub fn of(mut launch: Launch<'a>, loaded: &'a Loaded) -> Result<Self, Error> {
        let given = launch.take_bindings()?;
        let (domain, options) = (launch.the_domain()?, launch.options.clone());
        let Some(interface) = launch.program.interface() else {
            return Err(ArgumentError::WrongIsa { what: "the launch", isa: "R700" }.into());
        };
        let host = given.host.unwrap_or_default();
        let is_plain = given.registers.is_empty();
        let attributes = interface.attributes.as_ref().filter(|_| is_plain);
        let (fetch, uses) = match (host.fetch_program, attributes) {
            (Some(fetch), _) => (Some(fetch), Cow::Owned(interface.uses.clone().and(Uses::of(&fetch.decode())))),
            (None, Some((fetch, both))) => (Some(fetch), Cow::Borrowed(both)),
            (None, None) => (None, Cow::Borrowed(&interface.uses)),
        };
        let mut program = Cow::Borrowed(&interface.program);
        if let Some(fetch) = fetch.filter(|fetch| fetch.gprs > program.gprs) {
            // Both run in the same registers.
            program.to_mut().gprs = fetch.gprs;
        }
        let stage = host.stage.or(program.stage).unwrap_or(Stage::Pixel);
        let mut warnings = loaded.reports.clone();
        let mut warn = |rule, message: String| warnings.push(Report::bare(Diagnostic::warning(rule, message)));
        if uses.calls_fetch && fetch.is_none() && is_plain {
            let message = "the program calls a fetch subroutine (CALL_FS), and none is given: the call does nothing";
            warn("no-fetch-program", message.to_owned());
        }
        let mut bound = Self {
            program,
            source: loaded.source.as_ref(),
            fetch,
            host,
            stage,
            constants: Constants::default(),
            planes: Vec::new(),
            reads: Reads::default(),
            textures: BTreeMap::new(),
            buffers: BTreeMap::new(),
            items: BTreeMap::new(),
            outputs: BTreeMap::new(),
            conditional: given.conditional,
            emits: uses.emits,
            domain,
            options,
            warnings: Vec::new(),
        };
        bound.inputs(&given, (interface, &uses), launch.fit(), &mut warn)?;
        let Bindings { outputs, memories, registers, buffers, floats, ints, bools, .. } = given;
        for (bank, rows) in buffers {
            let name = || format!("constant buffer {bank}");
            if bank > 15 {
                let message = format!("there is no constant buffer {bank}; 0 to 15 are possible");
                return Err(ArgumentError::Value { name: name(), message }.into());
            }
            if bound.reads.constants.insert(bank, rows).is_some() {
                return Err(ArgumentError::Twice { what: "constant", name: name() }.into());
            }
        }
        let of_program = (&*bound.program, &interface.uniforms[..], &*uses);
        bound.constants = constants((&floats, &ints, &bools), of_program, &mut bound.reads.constants, &mut warn)?;
        for (space, dwords, item) in memories {
            if bound.reads.spaces.insert(space, dwords).is_some() {
                return Err(ArgumentError::Twice { what: "memory", name: space.name().to_owned() }.into());
            }
            bound.items.insert(space, item);
        }
        if let Some(space) = uses.spaces.iter().find(|space| !bound.reads.spaces.contains_key(space)) {
            return Err(ArgumentError::Missing { what: "memory", name: space.name().to_owned() }.into());
        }
        if uses.targets.is_empty() && uses.spaces.is_empty() && !uses.emits {
            warn("no-output", "the program exports nothing and writes no memory, so this run has no result".to_owned());
        }
        bound.outputs = landings(outputs, &uses, Demands { domain, line: launch.line(), uncached: false })?;
        bound.planes = if is_plain { default_planes(stage, domain) } else { registers };
        bound.warnings = warnings;
        Ok(bound)
    }

    /// The item size of a memory.
    fn item(&self, space: Space) -> u32 {
        self.items.get(&space).copied().unwrap_or(0)
    }

    /// Runs it on arrays of the caller's.
    pub fn run(mut self) -> Result<Done, Error> {
        let (program, options, host) = (&*self.program, &self.options, &self.host);
        let far = self.textures.keys().map(|&n| named(program, SymbolKind::Resource, 't', n));
        let mut far = far.chain(self.buffers.keys().map(|&n| named(program, SymbolKind::Buffer, 'b', n)));
        if let Some(name) = far.next().or(self.conditional.map(|_| "conditional".to_owned())) {
            return Err(elsewhere(name, true).into());
        }
        let of_engine = r700::Launch {
            fetch_program: self.fetch,
            stage: self.stage,
            chip: host.chip,
            wavefront: options.group.unwrap_or(GroupSize::R700),
            group_threads: host.group_threads,
            reduction_stride: self.item(Space::Reduction),
            ring_item_dwords: self.item(Space::Ring),
            stream_item_dwords: [0, 1, 2, 3].map(|n| self.item(Space::Stream(n))),
            vertex_offset: host.index_offsets[0],
            instance_offset: host.index_offsets[1],
            global_gprs: host.global_gprs,
            semantics: host.semantics,
            planes: &self.planes,
            budget: options.budget,
            threads: options.threads,
            checks: options.checks,
            counters: options.counters,
            ..r700::Launch::new(program, &self.constants, self.domain)
        };
        let engine = options.engine()?;
        let mut arrays = LaunchArrays { reads: std::mem::take(&mut self.reads), targets: BTreeMap::new() };
        for (target, output) in &mut self.outputs {
            arrays.targets.insert(*target, output.here(|| target_name(*target))?.elements());
        }
        let started = Instant::now();
        let outcome = engine.run_r700_under(&options.control, &of_engine, &mut arrays);
        let elapsed = started.elapsed();
        let (spans, source) = (&program.spans, self.source);
        let outcome = outcome.map_err(|fault| Error::Fault(Box::new(run_fault(0, None, &fault, spans, source))))?;
        let findings = outcome.findings.iter().map(|finding| finding_report(finding, spans, source)).collect();
        let Reads { spaces: memories, events, .. } = arrays.reads;
        let outputs = self.outputs.into_iter();
        let outputs = outputs.filter_map(|(target, output)| Some((target_name(target), output.finish()?))).collect();
        Ok(Done { outputs, memories, events, counters: outcome.counters, findings, elapsed })
    }
}

/// A number after a letter: `i3`.
fn numbered(which: &Ref, what: &'static str, prefix: char) -> Result<usize, ArgumentError> {
    let number = match which {
        Ref::Index(n) => Some(*n),
        Ref::Name(name) => register(name, &[prefix]),
    };
    number.map(usize::from).filter(|&n| n < CF_CONSTANTS).ok_or_else(|| {
        let known = vec![format!("{prefix}0 to {prefix}{}", CF_CONSTANTS - 1)];
        ArgumentError::UnknownName { what, name: which.text(), known }
    })
}

/// Whether an input is a buffer of vertex fetches, and its number.
fn input(program: &Program, which: &Ref) -> Result<(bool, u8), ArgumentError> {
    let name = match which {
        Ref::Index(n) => return Ok((false, *n)),
        Ref::Name(name) => name,
    };
    if let Some(n) = program.symbol(SymbolKind::Resource, name) {
        return Ok((false, n));
    }
    if let Some(n) = program.symbol(SymbolKind::Buffer, name) {
        return Ok((true, n));
    }
    match (register(name, &['t']), register(name, &['b'])) {
        (Some(n), _) => Ok((false, n)),
        (None, Some(n)) => Ok((true, n)),
        (None, None) => {
            let is_input = |k| matches!(k, SymbolKind::Resource | SymbolKind::Buffer);
            let named: BTreeSet<String> =
                program.symbols.iter().filter(|s| is_input(s.kind)).map(|s| s.name.clone()).collect();
            let known = named.into_iter().chain(["t0 to t255 (textures), b0 to b255 (buffers)".to_owned()]).collect();
            Err(ArgumentError::UnknownName { what: "input", name: name.clone(), known })
        }
    }
}

/// The name of a resource, or its register.
fn named(program: &Program, kind: SymbolKind, prefix: char, index: u8) -> String {
    let symbol = program.symbols.iter().find(|s| s.kind == kind && s.index == index);
    symbol.map_or_else(|| format!("{prefix}{index}"), |symbol| symbol.name.clone())
}

impl<'a> BoundR700<'a> {
    /// Binds textures with their samplers, and buffers.
    fn inputs(
        &mut self,
        given: &Bindings<'a>,
        (interface, uses): (&Interface, &Uses),
        fit: Fit,
        warn: &mut impl FnMut(&'static str, String),
    ) -> Result<(), ArgumentError> {
        let (program, reads) = (&*self.program, &mut self.reads);
        let numbered = !given.samplers.is_empty();
        for (id, sampler) in &given.samplers {
            if reads.samplers.insert(*id, *sampler).is_some_and(|other| other != *sampler) {
                return Err(ArgumentError::Twice { what: "sampler", name: format!("s{id}") });
            }
        }
        let mut items = Vec::new();
        for (which, Items { bytes, stride_bytes, format }) in &given.items {
            let slot = match which {
                Ref::Index(n) => *n,
                Ref::Name(_) => match input(program, which)? {
                    (true, n) => n,
                    (false, _) => {
                        let message = "it is a texture, and a buffer is given".to_owned();
                        return Err(ArgumentError::Shape { name: which.text(), message });
                    }
                },
            };
            let bytes = Cow::Borrowed(*bytes);
            items.push((slot, which, FetchBuffer { stride_bytes: *stride_bytes, format: *format, bytes }));
        }
        for (which, source, sampler) in &given.inputs {
            let (is_buffer, slot) = input(program, which)?;
            let shape = |message: String| ArgumentError::Shape { name: which.text(), message };
            let twice = || ArgumentError::Twice { what: "input", name: which.text() };
            if is_buffer {
                if let Array::Device(array) = source {
                    if self.buffers.insert(slot, *array).is_some() {
                        return Err(twice());
                    }
                    continue;
                }
                let Array::View(view) = source else {
                    return Err(shape("it is a buffer, and a texture is given".to_owned()));
                };
                let stride_bytes = u32::try_from(4 * view.channels).unwrap_or(16);
                let bytes = bytes(view).map_err(shape)?;
                items.push((slot, which, FetchBuffer { stride_bytes, format: Format::default(), bytes }));
                continue;
            }
            let (size, is_twice) = match *source {
                Array::View(view) => {
                    let held = HeldInput::of(&view, TEXTURE_SIDE).map_err(shape)?;
                    (held.size(), reads.textures.insert(slot, TextureArray::new(held, view.texel_format())).is_some())
                }
                Array::Texture(image) => {
                    let size = [image.texture.height, image.texture.width].map(|n| n as usize);
                    (size, reads.textures.insert(slot, TextureArray::Image(image)).is_some())
                }
                Array::Device(array) => (array.size(), self.textures.insert(slot, array).is_some()),
            };
            if is_twice || reads.textures.contains_key(&slot) && self.textures.contains_key(&slot) {
                return Err(twice());
            }
            if given.registers.is_empty()
                && interface.at_position.contains(&slot)
                && sampler.is_none()
                && !numbered
                && let Some(message) = size_misfit(size, self.domain, fit)
            {
                return Err(shape(format!("{message}; {ANY_SIZE}")));
            }
            let Some(samplers) = uses.textures.get(&slot) else {
                warn("input-not-read", format!("texture {slot} is given, and the program does not read it"));
                continue;
            };
            if numbered && sampler.is_none() {
                continue;
            }
            let sampler = of_plane(sampler.unwrap_or_default());
            for &id in samplers {
                if reads.samplers.insert(id, sampler).is_some_and(|other| other != sampler) {
                    let message = format!("two textures describe sampler {id}, and not in the same way");
                    return Err(ArgumentError::Value { name: which.text(), message });
                }
            }
        }
        for (slot, which, buffer) in items {
            if !uses.buffers.contains(&slot) {
                let message = format!("buffer {slot} is given, and the program does not fetch from it");
                warn("buffer-not-read", message);
            }
            if reads.buffers.insert(slot, buffer).is_some() {
                return Err(ArgumentError::Twice { what: "input", name: which.text() });
            }
        }
        let (textures, buffers) = (&self.textures, &self.buffers);
        let absent = |slot: &&u8| !reads.textures.contains_key(slot) && !textures.contains_key(slot);
        let texture = uses.textures.keys().find(absent);
        let absent = |slot: &&u8| !reads.buffers.contains_key(slot) && !buffers.contains_key(slot);
        let buffer = uses.buffers.iter().find(absent);
        let missing = texture.map(|&slot| named(program, SymbolKind::Resource, 't', slot));
        match missing.or_else(|| buffer.map(|&slot| named(program, SymbolKind::Buffer, 'b', slot))) {
            Some(name) => Err(ArgumentError::Missing { what: "input", name }),
            None => Ok(()),
        }
    }
}

/// A sampler of two coordinates.
fn of_plane(sampler: ctm_exec::x1k::Sampler) -> Sampler {
    let [x, y] = sampler.wrap;
    Sampler {
        magnify: sampler.filter,
        minify: sampler.filter,
        wrap: [x, y, Sampler::default().wrap[2]],
        border: sampler.border,
        ..Sampler::default()
    }
}

/// The bytes of a buffer: numbers of 32 bits in place; fetches read others as single precision.
fn bytes<'a>(view: &View<'a>) -> Result<Cow<'a, [u8]>, String> {
    let count = view.numbers.len();
    if view.size().is_none_or(|size| size.contains(&0)) {
        return Err(format!("{count} numbers do not make elements of {} channels; 1 to 4 are possible", view.channels));
    }
    Ok(match view.numbers {
        Numbers::F32(v) if cfg!(target_endian = "little") => Cow::Borrowed(bytemuck::cast_slice(v)),
        Numbers::U32(v) if cfg!(target_endian = "little") => Cow::Borrowed(bytemuck::cast_slice(v)),
        numbers => Cow::Owned((0..count).flat_map(|n| numbers.bits(n).to_le_bytes()).collect()),
    })
}

/// Whether a name is that of a further constant of a uniform: `name.1`.
fn is_part(other: &Ref, name: &str) -> bool {
    let Ref::Name(other) = other else { return false };
    other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// The uniform that a binding gives as a whole.
fn whole<'u>(floats: &[(Ref, Cow<'_, [u32]>)], uniforms: &'u [Uniform], which: &Ref) -> Option<&'u Uniform> {
    let Ref::Name(name) = which else { return None };
    let uniform = uniforms.iter().find(|uniform| uniform.name == *name)?;
    // Constant by constant: `name`, `name.1`, `name.2`.
    let in_parts = uniform.constants() > 1 && floats.iter().any(|(other, _)| is_part(other, name));
    (!in_parts).then_some(uniform)
}

type PassedConstants<'g> = (&'g [(Ref, Cow<'g, [u32]>)], &'g [(Ref, LoopConstant)], &'g [(Ref, bool)]);

fn constants(
    (floats, ints, bools): PassedConstants<'_>,
    (program, uniforms, uses): (&Program, &[Uniform], &Uses),
    buffers: &mut Buffers<'_>,
    warn: &mut impl FnMut(&'static str, String),
) -> Result<Constants, ArgumentError> {
    let mut out = Constants::default();
    // By number, and of uniforms and windows: by name, and the constants of their numbers.
    let mut given = GivenConstants::default();
    let (mut names, mut of_uniforms) = (BTreeSet::new(), BTreeSet::new());
    let twice = |which: &Ref| ArgumentError::Twice { what: "constant", name: which.text() };
    for (which, bits) in floats {
        let wrong = |message: String| ArgumentError::Value { name: which.text(), message };
        let mut once = || if names.insert(which) { Ok(()) } else { Err(twice(which)) };
        if let Some(uniform) = whole(floats, uniforms, which) {
            once()?;
            let dwords = uniform.lay_out(bits).map_err(wrong)?;
            let places = (&mut out, &mut *buffers, &mut of_uniforms);
            store_uniform(uniform, &dwords, places).map_err(wrong)?;
            continue;
        }
        let value: [u32; 4] = bits
            .as_ref()
            .try_into()
            .map_err(|_| wrong(format!("it is given {} numbers; a constant has four, x, y, z, w", bits.len())))?;
        let index = match which {
            Ref::Index(n) => Some(*n),
            Ref::Name(name) => program.symbol(SymbolKind::Constant, name),
        };
        let index = match (index, which) {
            (Some(index), _) => index,
            (None, Ref::Name(name)) => {
                if let Some(stored) = store_in_window(program, uses, name, value, buffers) {
                    once()?;
                    stored.map_err(wrong)?;
                    continue;
                }
                register(name, &['C', 'c']).ok_or_else(|| unknown(program, uniforms, name))?
            }
            (None, Ref::Index(_)) => continue,
        };
        let index = usize::from(index);
        if !given.insert(ConstantBank::Floats, index) {
            return Err(twice(&Ref::Index(index as u8)));
        }
        out.file[index] = value;
    }
    for (which, LoopConstant { count, start, step }) in ints {
        if *count > 4095 || *start > 4095 {
            let message = format!("count {count} and start {start}: 0 to 4095 are possible");
            return Err(ArgumentError::Value { name: which.text(), message });
        }
        let n = numbered(which, "loop constant", 'i')?;
        out.loops[n] = LoopConstant { count: *count, start: *start, step: *step };
        if !given.insert(ConstantBank::Integers, n) {
            return Err(twice(which));
        }
    }
    for (which, value) in bools {
        let n = numbered(which, "boolean constant", 'b')?;
        out.bool[n] = *value;
        if !given.insert(ConstantBank::Booleans, n) {
            return Err(twice(which));
        }
    }
    let mut missing: Vec<String> = Vec::new();
    let absent = uses.banks.iter().filter(|bank| !buffers.contains_key(bank));
    missing.extend(absent.map(|n| format!("constant buffer {n}")));
    let absent = |bank: ConstantBank, n: u8| !given.contains(bank, n.into());
    if !uses.relative_constants {
        let of_file = uses.constants.iter().filter(|n| absent(ConstantBank::Floats, **n) && !of_uniforms.contains(n));
        missing.extend(of_file.map(|n| format!("C{n}")));
    }
    missing.extend(
        uses.loops.iter().filter(|n| absent(ConstantBank::Integers, **n)).map(|n| format!("loop constant {n}")),
    );
    missing.extend(
        uses.bools.iter().filter(|n| absent(ConstantBank::Booleans, **n)).map(|n| format!("boolean constant {n}")),
    );
    if !missing.is_empty() {
        warn("constant-not-given", not_given(&missing));
    }
    Ok(out)
}

fn unknown(program: &Program, uniforms: &[Uniform], name: &str) -> ArgumentError {
    let is_constant = |k| matches!(k, SymbolKind::Constant | SymbolKind::Kcache(_));
    let known = program.symbols.iter().filter(|s| is_constant(s.kind)).map(|s| s.name.clone());
    let in_blocks = uniforms.iter().filter(|uniform| matches!(uniform.place, UniformPlace::Buffer(..)));
    let known = known.chain(in_blocks.map(|uniform| uniform.name.clone()));
    let known = known.chain(["C0 to C255".to_owned()]).collect();
    ArgumentError::UnknownName { what: "constant", name: name.to_owned(), known }
}

/// The outputs of the launch: those that the caller names, and all others that the program exports.
fn landings<'a>(
    wanted: Vec<(Ref, OutputArray<'a>)>,
    uses: &Uses,
    demands: Demands,
) -> Result<BTreeMap<Target, BoundOutput<'a>>, ArgumentError> {
    let written = || uses.targets.iter().map(|&target| target_name(target)).collect::<Vec<_>>();
    let mut out = BTreeMap::new();
    for (which, place) in wanted {
        let name = || which.text();
        let Some(target) = target_of(&which) else {
            return Err(ArgumentError::UnknownName { what: "output", name: name(), known: written() });
        };
        if !uses.targets.contains(&target) {
            return Err(ArgumentError::NotWritten { name: name(), written: written() });
        }
        if out.contains_key(&target) {
            return Err(ArgumentError::Twice { what: "output", name: name() });
        }
        out.insert(target, BoundOutput::new(name, place, demands)?);
    }
    for &target in &uses.targets {
        if let Entry::Vacant(free) = out.entry(target) {
            free.insert(BoundOutput::new(|| target_name(target), OutputArray::New(4), demands)?);
        }
    }
    Ok(out)
}
