//! A wavefront in the fast engine: inputs, results, and the memory of its fetches.

use super::bindings::{Binding, resources};
use super::group::{Group, Scratch};
use super::places::Places;
use crate::launch::lanes::{BailOut, Result, count_lookups};
use ctm_exec::Counters;
use ctm_exec::float::{bits, number};
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::texture::{self, Gradients, TextureFetch};
use ctm_exec::r700::vertex::{VertexFetch, index_offset};
use ctm_exec::r700::{Launch, Memory, VertexEvent};
use ctm_exec::watch::Part;
use ctm_exec::x1k::{self, sample};
use ctm_ir::masked::{Counter, Fetch, Store, TARGETS};
use ctm_isa::r700::inst::{TexFetch, VtxFetch};
use ctm_isa::r700::ops::TexOp;
use ctm_isa::r700::program::Stage;
use ctm_isa::x1k::INPUTS;
use std::sync::atomic::AtomicU32;

/// The most lanes of a wavefront here.
pub const LANES: usize = 64;
/// One element of all lanes; the values of lanes after the last of the wavefront are undefined.
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
/// Values that one fetch sets for later lookups, each a row: gradients, horizontal x, y, z, then vertical ones; then
/// the coordinate that names a cube of an array.
pub const GRADIENTS: usize = CUBE + 1;
/// The row of that coordinate.
pub const CUBE: usize = 6;
/// Exported elements.
pub const EXPORTS: usize = 4 * TARGETS;

/// The lanes of a fetch, and the rows of its results.
pub type To<'a> = (u64, &'a mut [Row; 4]);

/// The state that all wavefronts of a launch share.
pub struct Shared<'a> {
    /// The launch, by instruction set.
    pub guest: Guest<'a>,
    /// The program's fetches.
    pub fetches: &'a [Fetch],
    /// Its memory writes and other sends.
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
    /// The part of the launch, where no thread sets that flag: the portable machine asks it now and then. Machine code cannot.
    pub polled: Option<&'a Part>,
    /// The arrays of the program's direct lookups, by fetch number.
    pub bindings: &'a [Option<Binding<'a>>],
}

/// The memory that wavefronts of a launch read.
#[derive(Clone, Copy)]
pub struct Reads<'a> {
    /// The launch, by instruction set, and the memory that fetches read.
    pub guest: Guest<'a>,
    /// The table of uniform values.
    pub uniforms: &'a [u32],
    /// The arrays of direct lookups, by fetch number.
    pub bindings: &'a [Option<Binding<'a>>],
}

/// The parts of a launch that depend on the instruction set, for reads of memory.
#[derive(Clone, Copy)]
pub enum Guest<'a> {
    /// R700: the launch, and its memory, of which wavefronts only read.
    R700(&'a Launch<'a>, &'a dyn Memory),
    /// X1K: the memory that its inputs are in.
    X1k(&'a dyn x1k::Memory),
    /// A vertex program, which reads no memory.
    Pvs,
}

impl<'a> Shared<'a> {
    /// The launch and the memory of R700 programs, which alone have most kinds of fetches and stores.
    ///
    /// # Errors
    /// [`BailOut`] in launches of X1K programs.
    pub const fn r700(&self) -> Result<(&'a Launch<'a>, &'a dyn Memory)> {
        match self.guest {
            Guest::R700(launch, memory) => Ok((launch, memory)),
            Guest::X1k(_) | Guest::Pvs => Err(BailOut),
        }
    }

    /// The memory of textures, and whether lanes are pixels of quads.
    ///
    /// # Errors
    /// [`BailOut`] in launches of X1K programs without textures, and of vertex programs.
    fn textures(&self) -> Result<(bool, &'a dyn Memory)> {
        match self.guest {
            Guest::R700(launch, memory) => Ok((launch.stage == Stage::Pixel, memory)),
            Guest::X1k(memory) => Ok((true, memory.textures().ok_or(BailOut)?)),
            Guest::Pvs => Err(BailOut),
        }
    }
}

/// The state in which a wavefront stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// To its end.
    ToEnd,
    /// To the yield of this number.
    ToYield(u16),
}

/// Inputs and results of one wavefront.
pub struct Wave {
    /// The positions of its lanes.
    pub places: Places,
    /// Rows of the variables that have start values, in the artifact's order.
    pub start: Vec<Row>,
    /// The existing lanes.
    pub existing: u64,
    /// Valid lanes, of X1K groups the covered ones; at the end those that are left.
    pub valid: u64,
    /// Lanes that wrote each exported element.
    pub written: [u64; EXPORTS],
    /// The exported elements that the program may write, in the artifact's order.
    pub exports: Vec<Row>,
    /// Counts of lanes, by [`Counter`].
    pub tallies: [u64; Counter::COUNT],
    /// Executions of each block.
    pub visits: Vec<u64>,
    /// Its instructions are used up.
    pub is_spent: bool,
    /// The processor flushed a result that the reference may have rounded up into the range.
    pub underflowed: bool,
    /// State and counts of fetches.
    pub fetched: Fetched,
}

/// State and counts of one wavefront's fetches and memory writes.
#[derive(Default)]
pub struct Fetched {
    /// The number of the wavefront's first thread.
    pub first_thread: u64,
    /// The number of its first thread in the group.
    pub first_in_group: usize,
    /// The state that it shares with the other wavefronts of its group.
    pub group: Group,
    /// Its vertex events, in order: lane and event.
    pub events: Vec<(u8, VertexEvent)>,
    /// X1K: the lanes that are covered; the others cannot fault.
    pub covered: u64,
    gradients: Gradients,
    coordinates: Vec<[u32; 4]>,
    pub scratch: Scratch,
    /// Elements read.
    pub fetches: u64,
    /// Bytes that they read.
    pub bytes: u64,
}

impl Wave {
    /// A wavefront with these counts of start values, exported elements and blocks.
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
            underflowed: false,
            fetched: Fetched::default(),
        }
    }

    /// Before it runs.
    pub fn reset(&mut self) {
        self.written = [0; EXPORTS];
        self.tallies = [0; Counter::COUNT];
        self.visits.fill(0);
        self.is_spent = false;
        self.underflowed = false;
        self.fetched.events.clear();
        self.fetched.scratch.clear();
        // A wavefront that is a group by itself has its own.
        self.fetched.group.begin();
        self.fetched.fetches = 0;
        self.fetched.bytes = 0;
    }
}

impl Guest<'_> {
    /// Counts the work of a wavefront's lanes.
    pub fn count(&self, wave: &Wave, counters: &mut Counters) {
        let tally = |of: Counter| wave.tallies[of.index()];
        counters.active_lanes += tally(Counter::Lanes);
        match self {
            Self::R700(..) => {
                counters.fetches += wave.fetched.fetches;
                counters.fetch_bytes += wave.fetched.bytes;
            }
            Self::X1k(memory) => {
                let count = |n| count_lookups(*memory, n, tally(Counter::Lookups(n)), counters);
                (0..INPUTS as u8).for_each(count);
            }
            Self::Pvs => {}
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
        (executes, to): To<'_>,
        set: &mut [Row; GRADIENTS],
    ) -> Result {
        match shared.fetches.get(number).ok_or(BailOut)? {
            Fetch::Vertex(inst) => self.vertex(shared, inst, at[0], (executes, to)),
            Fetch::Texture(inst) => self.texture(shared, inst, at, (executes, to), set),
            Fetch::Memory(of, burst) => self.memory(shared, &of.read, *burst, at[0], (executes, to)),
            Fetch::Share(inst, burst) => self.group.share_read(inst, *burst, [at[0], at[1]], (executes, to)),
            &Fetch::Input { input, unscaled, uncached } => {
                let Guest::X1k(memory) = shared.guest else { return Err(BailOut) };
                let descriptor = memory.input(input).ok_or(BailOut)?;
                *to = [[0; LANES]; 4];
                for lane in lanes_of(executes) {
                    let at = (at[0][lane], at[1][lane]);
                    match sample::lookup(memory, input, &descriptor, at, unscaled, uncached) {
                        Ok(found) => to.iter_mut().zip(found.texel).for_each(|(row, bits)| row[lane] = bits),
                        Err(_) if self.covered >> lane & 1 == 1 => return Err(BailOut),
                        // An uncovered lane cannot fault: it reads 0.
                        Err(_) => {}
                    }
                }
                Ok(())
            }
        }
    }

    /// Counts lookups of lanes, each of `bytes` bytes.
    pub fn count(&mut self, executes: u64, bytes: u64) {
        let count = u64::from(executes.count_ones());
        self.fetches += count;
        self.bytes += count * bytes;
    }

    fn vertex(&mut self, shared: &Shared<'_>, inst: &VtxFetch, at: &Row, (executes, to): To<'_>) -> Result {
        let (launch, memory) = shared.r700()?;
        let memory = resources(memory, inst.word2.alt_const).ok_or(BailOut)?;
        let fetch = VertexFetch::new(memory, inst).map_err(|_| BailOut)?;
        let offset = index_offset(launch, inst.word0.fetch_type);
        self.count(executes, fetch.size_bytes());
        let bytes = memory.buffer_bytes(inst.word0.buffer_id).filter(|of| of.len() as u64 == fetch.buffer_bytes());
        let plain = fetch.plain_dwords().zip(bytes);
        for lane in lanes_of(executes) {
            let index = at[lane].wrapping_add(offset);
            let fetched = match plain {
                Some((form, bytes)) => plain_item(bytes, fetch.offset(index), form),
                None => fetch.at(memory, index).map_err(|_| BailOut)?,
            };
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
        (executes, to): To<'_>,
        set: &mut [Row; GRADIENTS],
    ) -> Result {
        let (quads, memory) = shared.textures()?;
        let memory = resources(memory, inst.word0.alt_const).ok_or(BailOut)?;
        let (op, lanes) = (inst.word0.op, shared.lanes);
        let fetch = if texture::needs_no_resource(op) {
            None
        } else {
            Some(TextureFetch::new(memory, inst, quads).map_err(|_| BailOut)?)
        };
        if let Some(fetch) = &fetch {
            self.count(executes, fetch.texel_bytes().into());
        }
        self.coordinates.clear();
        self.coordinates.extend((0..lanes).map(|lane| std::array::from_fn(|e| at[e][lane])));
        let coordinates = &self.coordinates;
        if texture::needs_set_gradients(op) {
            for (of, first) in [(&mut self.gradients.h, 0), (&mut self.gradients.v, 3)] {
                of.clear();
                of.extend((0..lanes).map(|lane| -> [f32; 3] { std::array::from_fn(|e| number(set[first + e][lane])) }));
            }
        }
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

/// An item of `dwords` whole dwords, from bytes in hand, and its fourth element; zeros where the item lies outside.
fn plain_item(bytes: &[u8], first: u64, (dwords, one): (usize, u32)) -> [u32; 4] {
    let item = usize::try_from(first).ok().and_then(|first| bytes.get(first..first.checked_add(4 * dwords)?));
    item.map_or([0; 4], |item| {
        let mut all = [0, 0, 0, one];
        all.iter_mut().zip(item.as_chunks().0).for_each(|(bits, bytes)| *bits = u32::from_le_bytes(*bytes));
        all
    })
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

/// The mask of the first `lanes` lanes.
pub const fn mask_of(lanes: usize) -> u64 {
    if lanes >= 64 { u64::MAX } else { (1 << lanes) - 1 }
}

/// The quads that hold a lane of the mask.
pub const fn quads(mask: u64) -> u64 {
    let pairs = mask | mask >> 1;
    let quads = (pairs | pairs >> 2) & 0x1111_1111_1111_1111;
    quads * 15
}
