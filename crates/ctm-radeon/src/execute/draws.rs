//! A draw: programs, their resources, targets, and the call.

use super::converted::TextureImage;
use super::device::{Device, Problem};
use super::joined::{Joined, JoinedBuffer, RESTART};
use super::memory::{GpuMemory, Rest, borrow};
use super::outline::{DrawCall, IndexSource, Numbers};
use super::programs::{LoadedProgram, ProgramRegisters};
use super::registers::Registers;
use super::resources::{self, Bound, TargetWords, Wanted, convert_textures, depth_format};
use super::set::Set;
use super::state::{self, Geometry, Lists, SpecialOp, Stages};
use super::surfaces::overlap;
use super::targets::Bindings;
use crate::Error;
use crate::registers::{resource, sq, vgt};
use crate::table::{little_endian, set_bits};
use ctm_draw::state::{Draw, DrawState, InputState, StageProgram, Topology};
use ctm_draw::{ColourTarget, Counts, DepthTarget, Drawn, FastClear, MOST_INDICES_TOGETHER, StreamBuffer, Targets};
use ctm_exec::r700::Constants;
use ctm_isa::r700::program::Stage as Kind;
use std::fmt;
use std::sync::Arc;

/// The programs that registers name, with the names of their stages in notes, and their addresses.
pub(super) fn programs(registers: &Registers) -> Vec<(&'static str, u64)> {
    let all = ProgramRegisters::of_draw(state::geometry(registers)).iter();
    all.map(|program| (program.name(), program.address(registers))).collect()
}

/// A stage's program with its resources.
pub(super) struct Part {
    pub(super) loaded: Arc<LoadedProgram>,
    pub(super) fetch: Option<Arc<LoadedProgram>>,
    pub(super) set: Set,
    pub(super) wanted: Wanted,
    /// The memory that it reads.
    pub(super) ranges: Vec<(u64, u64)>,
    /// The textures of its lookups, with their contents before the draw.
    pub(super) textures: Vec<(u8, Arc<TextureImage>)>,
}

impl Part {
    fn stage<'a>(&'a self, bound: &'a Bound<'a>, constants: &'a Constants, lists: &'a Lists) -> StageProgram<'a> {
        StageProgram {
            program: &self.loaded.program,
            fetch_program: self.fetch.as_ref().map(|fetch| &fetch.program),
            constants,
            memory: bound,
            semantics: &lists.semantic_table,
        }
    }
}

impl Device {
    /// The program of a stage.
    fn program(
        &mut self,
        memory: &dyn GpuMemory,
        registers: &ProgramRegisters,
        gprs: u8,
    ) -> Result<Arc<LoadedProgram>, Error> {
        let place = registers.place(&self.registers, gprs);
        self.programs.load(memory, place).map_err(|why| {
            let (start, address) = (registers.start, place.address);
            Error::new("no-program", format!("{}: the program at {address:#x} {why}", start.name))
        })
    }

    pub(super) fn part(&mut self, memory: &dyn GpuMemory, registers: &ProgramRegisters) -> Result<Part, Error> {
        // Both programs run in the registers of the caller (R700 §3.7.6).
        let gprs = registers.gprs(&self.registers);
        let loaded = self.program(memory, registers, gprs)?;
        let mut wanted =
            Wanted { banks: loaded.banks, buffers: loaded.buffers.clone(), textures: loaded.textures.clone() };
        let fetch = if loaded.calls_fetch {
            let fetch = self.program(memory, &ProgramRegisters::FETCH, gprs)?;
            wanted.banks |= fetch.banks;
            wanted.buffers.extend(&fetch.buffers);
            wanted.buffers.sort_unstable();
            wanted.buffers.dedup();
            Some(fetch)
        } else {
            None
        };
        Ok(Part { loaded, fetch, set: registers.set, wanted, ranges: Vec::new(), textures: Vec::new() })
    }

    /// Draws.
    pub(super) fn draw(&mut self, memory: &mut dyn GpuMemory, call: &DrawCall) -> Result<Counts, Problem> {
        self.draw_these(memory, &DrawVertices::Call(call)).map_err(|error| Problem { dword: 0, draw: None, error })
    }

    /// Draws these vertices.
    pub(super) fn draw_these(
        &mut self,
        memory: &mut dyn GpuMemory,
        vertices: &DrawVertices<'_>,
    ) -> Result<Counts, Error> {
        let nothing = Counts::default();
        if state::special_op(&self.registers) == SpecialOp::Expand || vertices.count() == 0 {
            return Ok(nothing);
        }
        let number = self.registers.get(vgt::VGT_PRIMITIVE_TYPE::PRIM_TYPE);
        let Some(topology) = state::topology(&self.registers) else {
            return if number == 0 {
                Ok(nothing)
            } else {
                Err(Error::new("unsupported-primitives", format!("primitives of type {number} are not drawn")))
            };
        };
        let (numbers, instances) = match vertices {
            DrawVertices::Call(call) => {
                (self.indices(memory, call)?, self.registers.word(vgt::VGT_NUM_INSTANCES::REGISTER, 0))
            }
            DrawVertices::Joined(joined) => (Numbers::U32(joined.numbers.clone()), 1),
        };
        let items = vertices.items();
        let geometry = state::geometry(&self.registers);
        let lists = Lists::of(&self.registers);
        let mut parts = Vec::with_capacity(4);
        if geometry == Geometry::Unknown {
            return Err(Error::new("unsupported-geometry", "geometry scenario B is not done"));
        }
        for registers in ProgramRegisters::of_draw(geometry).iter().chain([&ProgramRegisters::FETCH]) {
            self.finish_range(memory, (registers.address(&self.registers), 1));
        }
        for registers in ProgramRegisters::of_draw(geometry) {
            if registers.stage != Kind::Pixel || registers.address(&self.registers) != 0 {
                parts.push(self.part(memory, registers)?);
            }
        }
        let mut rings = [0; 2];
        if geometry == Geometry::Full {
            rings = [
                ring_buffer(&self.registers, &mut parts[1], sq::SQ_ESGS_RING_BASE::REGISTER)?,
                ring_buffer(&self.registers, &mut parts[2], sq::SQ_GSVS_RING_BASE::REGISTER)?,
            ];
        }
        if let Some(part) = parts.first_mut() {
            part.wanted.buffers.retain(|&id| items.iter().all(|items| items.id != id));
        }
        for part in &mut parts {
            part.ranges = resources::ranges(&self.registers, part.set, &part.wanted, &mut self.surfaces);
        }
        let bindings = Bindings::of(&self.registers)?;
        let is_small = u64::from(vertices.count()).saturating_mul(instances.into()) <= MOST_INDICES_TOGETHER;
        let may_wait = is_small && geometry != Geometry::Full && self.may_be_queued(memory, &bindings, &parts);
        if !may_wait || self.queue.as_ref().is_some_and(|queue| !queue.takes(&bindings, &parts)) {
            self.draw_queued(memory);
        }
        for part in &mut parts {
            for &range in &part.ranges {
                self.surfaces.bring_back(memory, range);
            }
            part.textures = convert_textures(&self.registers, part.set, &part.wanted, memory, &mut self.surfaces)?;
        }
        let mut constants = vec![Constants::default(); parts.len()];
        for (constants, part) in constants.iter_mut().zip(&parts) {
            state::set_constants(constants, &self.registers, part.set.number());
        }
        let traits = (topology, matches!(vertices, DrawVertices::Joined(_)), bindings.are_layered());
        if may_wait {
            static NO_LISTS: Lists = Lists::none();
            let unused = parts.last().map(|part| part.loaded.unused).unwrap_or_default();
            let state = adjusted(state::fixed_state(&self.registers, &NO_LISTS, unused), traits);
            self.queue_draw((vertices, numbers, instances), bindings, (parts, constants, lists), state)?;
            return Ok(nothing);
        }
        let mut taken = Vec::new();
        let scene = Scene {
            bindings: &bindings,
            parts: &parts,
            constants: &constants,
            lists: &lists,
            rings,
            items,
            streams: &[],
        };
        let draw = Draw { topology, indices: numbers.as_indices(), count: vertices.count(), instances };
        let drawn = self.with_targets(memory, scene, &mut taken, |targets, stages, device| {
            let state = adjusted(state::draw_state(&device.registers, &lists, &stages), traits);
            ctm_draw::draw_watched(device.engine.as_ref(), &state, &draw, targets, &device.draw_options(1))
                .map_err(|error| Error::new("draw", error.to_string()))
        });
        // Stores before an error stay.
        for (address, bytes) in taken {
            self.surfaces.put(address, bytes);
        }
        let drawn = drawn?;
        (self.notes, self.fragments) = (drawn.notes, drawn.fragments);
        (self.funnel, self.outlines) = (drawn.funnel, drawn.outlines);
        Ok(drawn.counts)
    }

    /// Borrows the targets from memory, where no resource of a program overlaps them, and draws; otherwise draws into copies, and leaves their final
    /// contents in `taken`.
    fn with_targets(
        &mut self,
        memory: &mut dyn GpuMemory,
        scene: Scene<'_>,
        taken: &mut Vec<(u64, Vec<u8>)>,
        mut draw: impl FnOnce(&mut Targets<'_>, Stages<'_>, &Self) -> Result<Drawn, Error>,
    ) -> Result<Drawn, Error> {
        let Scene { bindings, parts, .. } = scene;
        // Addresses and lengths of all that is written.
        let mut written: Vec<(WrittenTarget, u64, u64)> = Vec::new();
        let mut write = |target: WrittenTarget, address: u64, length: u64| {
            let end = address.saturating_add(length);
            if written.iter().any(|(_, other, bytes)| *other < end && address < other.saturating_add(*bytes)) {
                return Err(Error::new("overlapping-targets", format!("{target} shares memory with another target")));
            }
            written.push((target, address, length));
            Ok(())
        };
        for (n, words, _) in &bindings.colour {
            write(WrittenTarget::Colour(*n), words.address, words.bytes())?;
        }
        if let Some(words) = &bindings.depth {
            write(WrittenTarget::Depth, words.address, words.bytes())?;
        }
        let streams = state::stream_output(&self.registers);
        let mut buffers = Vec::new();
        for n in set_bits(streams.map_or(0, |streams| streams.buffers.into())) {
            let address = self.registers.address(vgt::VGT_STRMOUT_BUFFER_BASE_0::REGISTER, n);
            let size = self.registers.word(vgt::VGT_STRMOUT_BUFFER_SIZE_0::REGISTER, n);
            let offset = self.registers.word(vgt::VGT_STRMOUT_BUFFER_OFFSET_0::REGISTER, n);
            // Bytes before the offset are not written.
            let length = u64::from(size) * 4;
            if length > 0 {
                write(WrittenTarget::Stream(n), address, length)?;
            }
            buffers.push((n, size, offset));
        }
        let ranges: Vec<(u64, u64)> = written.iter().map(|(_, address, length)| (*address, *length)).collect();
        let mut read = parts.iter().flat_map(|part| &part.ranges);
        let is_apart = !read.any(|&of| ranges.iter().any(|&range| overlap(of, range)));
        let scene = Scene { streams: &buffers, ..scene };
        if is_apart {
            let run =
                |device: &mut Self, lent: Lent<'_>, rest: &Rest<'_>, draw| device.draw_into(rest, lent, &scene, draw);
            draw = match self.lend_targets(memory, (bindings, &ranges), draw, run) {
                Ok(drawn) => return drawn,
                Err(draw) => draw,
            };
        }
        for (target, address, length) in written {
            let bytes = self.surfaces.take(memory, address, length).ok_or_else(|| {
                Error::new("outside-memory", format!("{target} has {length} bytes at {address:#x}, outside its buffer"))
            })?;
            taken.push((address, bytes));
        }
        let bytes = taken.iter_mut().map(|(_, bytes)| bytes.as_mut_slice()).collect();
        self.draw_into(memory, Lent { bytes, clears: Vec::new() }, &scene, draw)
    }

    /// Lends `draw` the memory of its targets and of all `ranges` that it writes. `Err`: memory cannot lend them, and `draw` has not run; it holds `with`.
    pub(super) fn lend_targets<W, T>(
        &mut self,
        memory: &mut dyn GpuMemory,
        (bindings, ranges): (&Bindings, &[(u64, u64)]),
        with: W,
        draw: impl FnOnce(&mut Self, Lent<'_>, &Rest<'_>, W) -> T,
    ) -> Result<T, W> {
        let targets = || bindings.colour.iter().map(|of| &of.1).chain(&bindings.depth);
        let mut take = |of: &TargetWords| self.surfaces.take_clear(memory, of.address, (of.layout, of.slices));
        let mut clears: Vec<_> = targets().map(&mut take).collect();
        for &range in ranges {
            self.surfaces.written(range);
            self.surfaces.bring_back(memory, range);
        }
        let drawn = match borrow(memory, ranges) {
            Some((bytes, rest)) => {
                let clears = clears.iter_mut().map(Option::as_mut).collect();
                Ok(draw(self, Lent { bytes, clears }, &rest, with))
            }
            None => Err(with),
        };
        for (words, clear) in targets().zip(clears) {
            clear.into_iter().for_each(|clear| self.surfaces.put_clear(words.address, clear));
        }
        drawn
    }

    /// Draws into the bytes of targets and stream buffers. `memory`: all that programs read.
    fn draw_into(
        &mut self,
        memory: &dyn GpuMemory,
        lent: Lent<'_>,
        scene: &Scene<'_>,
        draw: impl FnOnce(&mut Targets<'_>, Stages<'_>, &Self) -> Result<Drawn, Error>,
    ) -> Result<Drawn, Error> {
        let &Scene { bindings, parts, constants, lists, rings, items, streams } = scene;
        let mut bound: Vec<Bound<'_>> = parts
            .iter()
            .map(|part| Bound::new(&self.registers, part.set, &part.wanted, memory, &part.textures))
            .collect::<Result<_, _>>()?;
        for items in items {
            items.bind_to(&mut bound[0]);
        }
        let stage = |n: usize| parts[n].stage(&bound[n], &constants[n], lists);
        let is_pixel = |part: &Part| part.set == Set::Pixel;
        let stages = Stages {
            vertices: stage(0),
            geometry: (parts.len() > 2).then(|| (stage(1), stage(2), rings)),
            pixels: parts.last().is_some_and(is_pixel).then(|| stage(parts.len() - 1)),
            unused: parts.last().map(|part| part.loaded.unused).unwrap_or_default(),
        };
        let (mut targets, mut lent) = lent.targets(bindings);
        for &(n, size_dwords, offset_dwords) in streams {
            let bytes: &mut [u8] = if size_dwords > 0 { lent.next().unwrap_or_default() } else { &mut [] };
            targets.streams[n as usize % 4] = Some(StreamBuffer { bytes, offset_dwords, size_dwords });
        }
        let drawn = draw(&mut targets, stages, self);
        let offsets = targets.streams.each_ref().map(|stream| stream.as_ref().map(|stream| stream.offset_dwords));
        drop(bound);
        for (n, offset) in (0u32..).zip(offsets) {
            if let Some(offset) = offset {
                self.registers.set(vgt::VGT_STRMOUT_BUFFER_OFFSET_0::REGISTER.at(n), offset);
            }
        }
        drawn
    }

    /// The indices of a draw.
    pub(super) fn indices(&mut self, memory: &mut dyn GpuMemory, call: &DrawCall) -> Result<Numbers, Error> {
        use vgt::VGT_DMA_INDEX_TYPE as Type;
        let wide = self.registers.get(Type::INDEX_TYPE) == 1;
        let swap = self.registers.get(Type::SWAP_MODE);
        match &call.indices {
            IndexSource::Counted => Ok(Numbers::Counted),
            IndexSource::Packet(words) if wide => Ok(Numbers::U32(words.clone())),
            IndexSource::Packet(words) => {
                let halves = |word: &u32| {
                    let [a, b, c, d] = word.to_le_bytes();
                    let pair = [[a, b], [c, d]].map(u16::from_le_bytes);
                    if call.high_first { [pair[1], pair[0]] } else { pair }
                };
                Ok(Numbers::U16(words.iter().flat_map(halves).collect()))
            }
            &IndexSource::Memory(address) => {
                let length = u64::from(call.count) * if wide { 4 } else { 2 };
                self.finish_range(memory, (address, length));
                self.surfaces.bring_back(memory, (address, length));
                let bytes = memory.bytes(address, length).ok_or_else(|| {
                    let message = format!("{} indices at {address:#x} lie outside their buffer", call.count);
                    Error::new("outside-memory", message)
                })?;
                let word = |four: &[u8]| little_endian(four) as u32;
                Ok(match (wide, swap) {
                    (true, 1) => Numbers::U32(bytes.chunks_exact(4).map(|b| word(&[b[1], b[0], b[3], b[2]])).collect()),
                    (true, 2) => Numbers::U32(bytes.chunks_exact(4).map(|b| word(b).swap_bytes()).collect()),
                    (true, 3) => Numbers::U32(bytes.chunks_exact(4).map(|b| word(b).rotate_left(16)).collect()),
                    (true, _) => Numbers::U32(bytes.chunks_exact(4).map(word).collect()),
                    (false, 1) => {
                        Numbers::U16(bytes.chunks_exact(2).map(|b| u16::from_be_bytes([b[0], b[1]])).collect())
                    }
                    (false, _) => {
                        Numbers::U16(bytes.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
                    }
                })
            }
        }
    }
}

/// The state as draws of these primitives take it; the flags: it is of several draws, and its targets have layers.
fn adjusted(mut state: DrawState<'_>, (topology, is_joined, are_layered): (Topology, bool, bool)) -> DrawState<'_> {
    if is_joined {
        let restart = Some(RESTART);
        let all = InputState { index_offset: 0, least_index: 0, most_index: u32::MAX, ..state.input };
        state.input = InputState { restart, vertex_offset: 0, ..all };
    }
    // Rectangles are never clipped: drivers clear with them in pixels, under the guard band of an earlier draw.
    state.clip.disabled |= topology == Topology::Rectangles;
    // Targets of one layer have no other, so a program's layer is ignored.
    state.outputs.layer &= are_layered;
    state
}

/// The vertices of a draw.
pub(super) enum DrawVertices<'c> {
    /// As its packet says.
    Call(&'c DrawCall),
    /// Of several draws.
    Joined(&'c Joined),
}

impl<'c> DrawVertices<'c> {
    /// How many indices they have.
    pub(super) fn count(&self) -> u32 {
        match self {
            Self::Call(call) => call.count,
            Self::Joined(joined) => u32::try_from(joined.numbers.len()).unwrap_or(u32::MAX),
        }
    }

    /// Buffers with other bytes than those of memory.
    fn items(&self) -> &'c [JoinedBuffer] {
        match self {
            Self::Call(_) => &[],
            Self::Joined(joined) => &joined.items,
        }
    }
}

/// A part of memory that a draw writes.
#[derive(Clone, Copy)]
enum WrittenTarget {
    Colour(u32),
    Depth,
    Stream(u32),
}

impl fmt::Display for WrittenTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Colour(n) => write!(f, "colour target {n}"),
            Self::Depth => f.write_str("the depth target"),
            Self::Stream(n) => write!(f, "stream output buffer {n}"),
        }
    }
}

/// The memory that a draw borrows: of its targets, then of its stream buffers.
pub(super) struct Lent<'m> {
    bytes: Vec<&'m mut [u8]>,
    /// Fast clears of the targets.
    clears: Vec<Option<&'m mut FastClear>>,
}

impl<'m> Lent<'m> {
    /// The targets, and the memory of stream buffers.
    pub(super) fn targets(self, bindings: &Bindings) -> (Targets<'m>, impl Iterator<Item = &'m mut [u8]>) {
        let (mut lent, mut clears) = (self.bytes.into_iter(), self.clears.into_iter());
        let mut targets = Targets::default();
        for (n, words, format) in &bindings.colour {
            let size = [words.layout.pitch, words.layout.height];
            let (layout, format, slices) = (words.layout, *format, words.slices);
            targets.colour[*n as usize % 8] =
                lent.next().map(|bytes| ColourTarget { bytes, layout, format, size, slices });
            targets.colour_clears[*n as usize % 8] = clears.next().flatten();
        }
        if let Some(words) = &bindings.depth {
            let format = depth_format(words.format).unwrap_or_default();
            let size = [words.layout.pitch, words.layout.height];
            let (layout, slices) = (words.layout, words.slices);
            targets.depth = lent.next().map(|bytes| DepthTarget { bytes, layout, format, size, slices });
            targets.depth_clear = clears.next().flatten();
        }
        (targets, lent)
    }
}

/// The parts of a draw, besides memory.
#[derive(Clone, Copy)]
struct Scene<'s> {
    bindings: &'s Bindings,
    parts: &'s [Part],
    /// Of each part.
    constants: &'s [Constants],
    lists: &'s Lists,
    /// The buffers by which programs read rings.
    rings: [u8; 2],
    /// Buffers of vertices that are not in memory.
    items: &'s [JoinedBuffer],
    /// Buffers of stream output: number, dwords, and the place of the next vertex.
    streams: &'s [(u32, u32, u32)],
}

/// The buffer by which a program reads a ring: the one that begins where the ring does. Nothing else is bound there. A program that reads nothing of the ring
/// gets one that it does not ask for.
fn ring_buffer(registers: &Registers, part: &mut Part, ring: &crate::Register) -> Result<u8, Error> {
    let base = registers.address(ring, 0);
    let of = |id: &&u8| {
        let words = registers.resource(part.set.first_resource() + u32::from(**id));
        resource::kind_of(&words) == resource::VALID_BUFFER && resources::BufferWords::of(&words).address == base
    };
    let unused = || (0..=u8::MAX).find(|id| !part.loaded.buffers.contains(id));
    let found = part.loaded.buffers.iter().find(of).copied().or_else(unused).ok_or_else(|| {
        Error::new("no-ring", format!("the program reads no buffer that begins where {} says", ring.name))
    })?;
    part.wanted.buffers.retain(|&id| id != found);
    Ok(found)
}
