//! A wavefront in the fast engine: what goes in, what comes out, and what its fetches read.

use super::bindings::{Binding, plain, resources};
use super::group::{Group, Scratch};
use super::places::Places;
use crate::ir::masked::{Counter, Fetch, Store, TARGETS};
use crate::launch::lanes::{BailOut, count_lookups};
use crate::launch::source::{InputRead, Source};
use ctm_exec::Counters;
use ctm_exec::float::{bits, number};
use ctm_exec::r700::resources::{Filter, TextureKind, Wrap};
use ctm_exec::r700::sample::{Lookup, Place, compared};
use ctm_exec::r700::texture::{self, Gradients, TextureFetch};
use ctm_exec::r700::vertex::{VertexFetch, index_offset};
use ctm_exec::r700::{Launch, Memory, Sampler, Texture, VertexEvent};
use ctm_exec::sample::{in_elements, wrap};
use ctm_isa::r700::inst::{TexFetch, VtxFetch, texel_offset};
use ctm_isa::r700::ops::TexOp;
use ctm_isa::r700::program::Stage;
use ctm_isa::x1k::INPUTS;
use std::sync::atomic::AtomicU32;

/// The most lanes of a wavefront here.
pub const LANES: usize = 64;
/// One element of all lanes; lanes beyond those of the wavefront hold anything.
pub type Row = [u32; LANES];
/// The number of each lane.
pub const LANE_NUMBERS: Row = {
    let mut row = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        row[lane] = lane as u32;
        lane += 1;
    }
    row
};
/// What is set for later lookups, each a row: gradients, horizontal x, y, z, then vertical ones; then the coordinate that names a cube of an array.
pub const GRADIENTS: usize = CUBE + 1;
/// The row of that coordinate.
pub const CUBE: usize = 6;
/// Exported elements.
pub const EXPORTS: usize = 4 * TARGETS;

/// What is the same for all wavefronts of a launch.
pub struct Shared<'a> {
    /// Whose launch it is.
    pub guest: Guest<'a>,
    /// The program's fetches.
    pub fetches: &'a [Fetch],
    /// Its memory writes and what is like them.
    pub stores: &'a [Store],
    /// Whether it reads memory that it writes.
    pub reads_back: bool,
    /// The table of uniform values: the constant file, then locked constants.
    pub uniforms: &'a [u32],
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// Instructions that a wavefront may issue here.
    pub fuel: u64,
    /// Not 0 when it should stop.
    pub stop: &'a AtomicU32,
    /// What the program's fetches look up directly, by number.
    pub bindings: &'a [Option<Binding<'a>>],
}

/// What differs between launches of the two instruction sets, for whoever reads memory.
#[derive(Clone, Copy)]
pub enum Guest<'a> {
    /// R700: the launch, and its memory, of which wavefronts only read.
    R700(&'a Launch<'a>, &'a dyn Memory),
    /// X1K.
    X1k(Source<'a>),
}

impl<'a> Shared<'a> {
    /// The launch and the memory of R700 programs, which alone have most kinds of fetches and stores.
    ///
    /// # Errors
    /// [`BailOut`] in launches of X1K programs.
    pub const fn r700(&self) -> Result<(&'a Launch<'a>, &'a dyn Memory), BailOut> {
        match self.guest {
            Guest::R700(launch, memory) => Ok((launch, memory)),
            Guest::X1k(_) => Err(BailOut),
        }
    }
}

/// How far a wavefront ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// To its end.
    ToEnd,
    /// To the yield of this number.
    ToYield(u16),
    /// To its end, but something has fallen below the range of single precision: careful code has to run instead.
    Underflow,
}

/// One wavefront's way in and out.
pub struct Wave {
    /// Where its lanes lie.
    pub places: Places,
    /// Rows of the variables that have start values, in the artifact's order.
    pub start: Vec<Row>,
    /// Lanes there are.
    pub existing: u64,
    /// Valid lanes, of X1K groups those that are covered; at the end those that are left.
    pub valid: u64,
    /// Lanes that wrote each exported element.
    pub written: [u64; EXPORTS],
    /// The exported elements that the program may write, in the artifact's order.
    pub exports: Vec<Row>,
    /// What was counted for lanes, by [`Counter`].
    pub tallies: [u64; Counter::COUNT],
    /// Passages of each block.
    pub visits: Vec<u64>,
    /// Its instructions are used up.
    pub is_spent: bool,
    /// What fetches keep and count.
    pub fetched: Fetched,
}

/// What fetches and memory writes of one wavefront keep and count.
#[derive(Default)]
pub struct Fetched {
    /// The number of the wavefront's first thread.
    pub first_thread: u64,
    /// The number of its first thread in the group.
    pub first_in_group: usize,
    /// What it shares with the other wavefronts of its group.
    pub group: Group,
    /// What it said about vertices, in order: lane and event.
    pub events: Vec<(u8, VertexEvent)>,
    /// X1K: the lanes that are covered; the others cannot fault.
    pub covered: u64,
    gradients: Gradients,
    coordinates: Vec<[u32; 4]>,
    pub scratch: Scratch,
    /// Elements read.
    pub fetches: u64,
    /// Bytes they asked for.
    pub bytes: u64,
}

impl Wave {
    /// For a program with so many start values, exported elements and blocks.
    pub fn new(start: usize, exports: usize, blocks: usize) -> Self {
        Self {
            places: Places::new(),
            start: vec![[0; LANES]; start],
            existing: 0,
            valid: 0,
            written: [0; EXPORTS],
            exports: vec![[0; LANES]; exports],
            tallies: [0; Counter::COUNT],
            visits: vec![0; blocks],
            is_spent: false,
            fetched: Fetched::default(),
        }
    }

    /// Before it runs.
    pub fn reset(&mut self) {
        self.written = [0; EXPORTS];
        self.tallies = [0; Counter::COUNT];
        self.visits.fill(0);
        self.is_spent = false;
        self.fetched.events.clear();
        self.fetched.scratch.clear();
        // A wavefront that is a group by itself has an own one.
        self.fetched.group.begin();
        self.fetched.fetches = 0;
        self.fetched.bytes = 0;
    }
}

impl Guest<'_> {
    /// Counts what lanes of a wavefront did.
    pub fn count(&self, wave: &Wave, counters: &mut Counters) {
        let tally = |of: Counter| wave.tallies[of.index()];
        counters.active_lanes += tally(Counter::Lanes);
        match self {
            Self::R700(..) => {
                counters.fetches += wave.fetched.fetches;
                counters.fetch_bytes += wave.fetched.bytes;
            }
            Self::X1k(source) => {
                let count = |n| count_lookups(source.memory, n, tally(Counter::Lookups(n)), counters);
                (0..INPUTS as u8).for_each(count);
            }
        }
    }
}

impl Fetched {
    /// Runs a fetch for the lanes of `executes`: reads rows of coordinates, gives rows of four elements. `set`: the gradients that are set.
    ///
    /// # Errors
    /// [`BailOut`] where the reference interpreter would find a fault.
    pub fn run(
        &mut self,
        shared: &Shared<'_>,
        number: usize,
        at: &[&Row; 4],
        executes: u64,
        to: &mut [Row; 4],
        set: &mut [Row; GRADIENTS],
    ) -> Result<(), BailOut> {
        match shared.fetches.get(number).ok_or(BailOut)? {
            Fetch::Vertex(inst) => self.vertex(shared, inst, at[0], executes, to),
            Fetch::Texture(inst) => self.texture(shared, inst, at, executes, to, set),
            Fetch::Memory(read, burst) => self.memory(shared, read, *burst, at[0], executes, to),
            Fetch::Share(inst, burst) => self.group.share_read(inst, *burst, [at[0], at[1]], executes, to),
            Fetch::Global => {
                self.group.global_read(at[0], shared.lanes, to);
                Ok(())
            }
            &Fetch::Input { input, unscaled, uncached } => {
                let Guest::X1k(source) = shared.guest else { return Err(BailOut) };
                let read = InputRead { input, unscaled, uncached, working: executes, covered: self.covered };
                *to = read.of(source, [at[0], at[1]])?;
                Ok(())
            }
        }
    }

    fn vertex(
        &mut self,
        shared: &Shared<'_>,
        inst: &VtxFetch,
        indices: &Row,
        executes: u64,
        to: &mut [Row; 4],
    ) -> Result<(), BailOut> {
        let (launch, memory) = shared.r700()?;
        let memory = resources(memory, inst.word2.alt_const).ok_or(BailOut)?;
        let fetch = VertexFetch::new(memory, inst).map_err(|_| BailOut)?;
        let offset = index_offset(launch, inst.word0.fetch_type);
        let count = u64::from(executes.count_ones());
        self.fetches += count;
        self.bytes += count * fetch.size_bytes();
        if let (Some((dwords, one)), Some(bytes)) = (fetch.plain_dwords(), memory.buffer_bytes(inst.word0.buffer_id))
            && bytes.len() as u64 == fetch.buffer_bytes()
        {
            let indices = |lane: usize| indices[lane].wrapping_add(offset);
            plain_items(&fetch, bytes, dwords, one, indices, executes, to);
            return Ok(());
        }
        for lane in lanes_of(executes) {
            let index = indices[lane].wrapping_add(offset);
            let fetched = fetch.at(memory, index).map_err(|_| BailOut)?;
            to.iter_mut().zip(fetched).for_each(|(row, bits)| row[lane] = bits);
        }
        Ok(())
    }

    /// As `Wavefront::texture_fetch` of the reference interpreter does it.
    fn texture(
        &mut self,
        shared: &Shared<'_>,
        inst: &TexFetch,
        at: &[&Row; 4],
        executes: u64,
        to: &mut [Row; 4],
        set: &mut [Row; GRADIENTS],
    ) -> Result<(), BailOut> {
        let (launch, memory) = shared.r700()?;
        let memory = resources(memory, inst.word0.alt_const).ok_or(BailOut)?;
        // Loads name a level, or a sample.
        let of_level_0 = inst.word0.op != TexOp::Ld || lanes_of(executes).all(|lane| at[3][lane] == 0);
        if let Some(plain) = PlainTexture::of(memory, inst).filter(|_| of_level_0) {
            plain.run(at, executes, to)?;
            let count = u64::from(executes.count_ones());
            self.fetches += count;
            self.bytes += count * u64::from(plain.texture.texel_bytes);
            return Ok(());
        }
        let lanes = shared.lanes;
        self.coordinates.clear();
        self.coordinates.extend((0..lanes).map(|lane| std::array::from_fn(|e| at[e][lane])));
        let coordinates = &self.coordinates;
        let op = inst.word0.op;
        if texture::needs_set_gradients(op) {
            for (of, first) in [(&mut self.gradients.h, 0), (&mut self.gradients.v, 3)] {
                of.clear();
                of.extend((0..lanes).map(|lane| -> [f32; 3] { std::array::from_fn(|e| number(set[first + e][lane])) }));
            }
        }
        let quads = launch.stage == Stage::Pixel;
        let fetch = if texture::needs_no_resource(op) {
            None
        } else {
            Some(TextureFetch::new(memory, inst, quads).map_err(|_| BailOut)?)
        };
        if fetch.as_ref().is_some_and(|fetch| fetch.kind() == TextureKind::CubeArray) {
            self.gradients.cube.clear();
            self.gradients.cube.extend(set[CUBE][..lanes].iter().map(|&z| texture::cube_index(&[0, 0, z, 0])));
        }
        for lane in lanes_of(executes) {
            let slopes = |vertical| texture::slopes(coordinates, lane, vertical);
            let mut keep = |first: usize, bits: &[u32]| {
                set[first..].iter_mut().zip(bits).for_each(|(row, &bits)| row[lane] = bits);
            };
            let fetched = match (&fetch, op) {
                (Some(fetch), _) => {
                    if op == TexOp::KeepGradients {
                        let [h, v] = [false, true].map(|vertical| slopes(vertical).map(f32::to_bits));
                        keep(0, &h[..3]);
                        keep(3, &v[..3]);
                    }
                    self.fetches += 1;
                    self.bytes += u64::from(fetch.texel_bytes());
                    fetch.lane(coordinates, lane, &self.gradients).map_err(|_| BailOut)?
                }
                (None, TexOp::GetGradientsV) => slopes(true).map(bits),
                (None, TexOp::SetGradientsH | TexOp::SetGradientsV) => {
                    keep(if op == TexOp::SetGradientsV { 3 } else { 0 }, &coordinates[lane][..3]);
                    [0; 4]
                }
                (None, TexOp::SetCubemapIndex) => {
                    keep(CUBE, &coordinates[lane][2..3]);
                    [0; 4]
                }
                (None, _) => slopes(false).map(bits),
            };
            to.iter_mut().zip(fetched).for_each(|(row, bits)| row[lane] = bits);
        }
        Ok(())
    }
}

/// As [`wrap`]; most coordinates need none.
fn inside(floored: f32, size: u32, mode: Wrap) -> Option<u32> {
    if floored >= 0.0 && floored < size as f32 { Some(floored as u32) } else { wrap(floored, size, mode) }
}

/// Items of whole dwords, from bytes in hand.
fn plain_items(
    fetch: &VertexFetch<'_>,
    bytes: &[u8],
    dwords: usize,
    one: u32,
    index: impl Fn(usize) -> u32,
    executes: u64,
    to: &mut [Row; 4],
) {
    let item = |lane: usize| {
        let at = usize::try_from(fetch.offset(index(lane))).ok()?;
        bytes.get(at..at.checked_add(4 * dwords)?)
    };
    // Neighbours that read neighbours, as streams do.
    let first = index(0);
    let packed = fetch.offset(1).checked_sub(fetch.offset(0)) == Some(4 * dwords as u64);
    if executes == u64::MAX
        && packed
        && (0..LANES).all(|lane| index(lane) == first.wrapping_add(lane as u32))
        && let Some(last) = first.checked_add(LANES as u32 - 1)
        && let (Ok(start), Ok(end)) = (usize::try_from(fetch.offset(first)), usize::try_from(fetch.offset(last)))
        && let Some(items) = bytes.get(start..end.saturating_add(4 * dwords))
    {
        for (element, row) in to.iter_mut().enumerate() {
            if element >= dwords {
                row.fill(if element == 3 { one } else { 0 });
                continue;
            }
            for (item, bits) in items.chunks_exact(4 * dwords).zip(row) {
                let b = &item[4 * element..4 * element + 4];
                *bits = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
        return;
    }
    for lane in lanes_of(executes) {
        let Some(item) = item(lane) else {
            to.iter_mut().for_each(|row| row[lane] = 0);
            continue;
        };
        let mut item = item.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        for (element, row) in to.iter_mut().enumerate() {
            row[lane] = item.next().unwrap_or(if element == 3 { one } else { 0 });
        }
    }
}

/// A lookup of a two-dimensional texture whose level of detail does not matter.
struct PlainTexture<'a> {
    memory: &'a dyn Memory,
    inst: &'a TexFetch,
    texture: Texture,
    sampler: Sampler,
    texels: &'a [[u32; 4]],
}

impl<'a> PlainTexture<'a> {
    fn of(memory: &'a dyn Memory, inst: &'a TexFetch) -> Option<Self> {
        let (texture, sampler, texels) = plain(memory, inst)?;
        Some(Self { memory, inst, texture, sampler, texels })
    }

    fn run(&self, at: &[&Row; 4], executes: u64, to: &mut [Row; 4]) -> Result<(), BailOut> {
        let (word1, word2) = (&self.inst.word1, &self.inst.word2);
        let unnormalised = [!word1.coord_type_x, !word1.coord_type_y, !word1.coord_type_z];
        let offset = [word2.offset_x, word2.offset_y, word2.offset_z].map(texel_offset);
        let (width, height) = (self.texture.width, self.texture.height);
        let compares = texture::is_comparison(self.inst.word0.op);
        let reference = |lane: usize| compares.then(|| number(at[3][lane]));
        let mut put = |lane: usize, texel: [u32; 4]| to.iter_mut().zip(texel).for_each(|(row, bits)| row[lane] = bits);
        let texel = |x: u32, y: u32| self.texels.get(y as usize * width as usize + x as usize).copied();
        if self.inst.word0.op == TexOp::Ld {
            for lane in lanes_of(executes) {
                let moved = |axis: usize| i64::from(at[axis][lane].cast_signed()) + offset[axis].floor() as i64;
                let axis = |axis: usize, size: u32| u32::try_from(moved(axis)).ok().filter(|&c| c < size);
                let found = match (axis(0, width), axis(1, height)) {
                    (Some(x), Some(y)) => texel(x, y).ok_or(BailOut)?,
                    _ => [0; 4],
                };
                put(lane, found);
            }
            return Ok(());
        }
        let mode = |axis: usize| match self.sampler.wrap[axis] {
            Wrap::Repeat | Wrap::Mirror if unnormalised[axis] => Wrap::Clamp,
            mode => mode,
        };
        let (mode_x, mode_y) = (mode(0), mode(1));
        if self.sampler.magnify == Filter::Nearest {
            for lane in lanes_of(executes) {
                let u = in_elements(at[0][lane], width, unnormalised[0]) + offset[0];
                let v = in_elements(at[1][lane], height, unnormalised[1]) + offset[1];
                let found = match (inside(u.floor(), width, mode_x), inside(v.floor(), height, mode_y)) {
                    (Some(x), Some(y)) => texel(x, y).ok_or(BailOut)?,
                    _ => self.sampler.border,
                };
                let compared = |reference| compared(self.sampler.compare, reference, found[0]);
                put(lane, reference(lane).map_or(found, compared));
            }
            return Ok(());
        }
        let lookup = Lookup {
            memory: self.memory,
            id: self.inst.word0.resource_id,
            texture: self.texture,
            sampler: self.sampler,
            reference: None,
            border_fraction: false,
            cube: 0,
        };
        for lane in lanes_of(executes) {
            let place = Place { at: [at[0][lane], at[1][lane], at[2][lane]], unnormalised, offset };
            let lookup = Lookup { reference: reference(lane), ..lookup };
            put(lane, lookup.level(&place, 0, self.sampler.magnify).map_err(|_| BailOut)?);
        }
        Ok(())
    }
}

/// The lanes of a mask.
pub fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}

/// So many lanes.
pub const fn mask_of(lanes: usize) -> u64 {
    if lanes >= 64 { u64::MAX } else { (1 << lanes) - 1 }
}

/// The quads that hold a lane of the mask.
pub const fn quads(mask: u64) -> u64 {
    let pairs = mask | mask >> 1;
    let quads = (pairs | pairs >> 2) & 0x1111_1111_1111_1111;
    quads * 15
}
