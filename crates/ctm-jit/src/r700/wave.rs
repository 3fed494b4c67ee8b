//! A wavefront in the fast engine: what goes in, what comes out, and what its fetches read.

use super::form::{Fetch, TARGETS};
use crate::lanes::Refer;
use ctm_exec::Counters;
use ctm_exec::r700::texture::{self, Gradients, TextureFetch};
use ctm_exec::r700::vertex::{VertexFetch, index_offset};
use ctm_exec::r700::{Launch, Memory};
use ctm_exec::x1k::float::{bits, number};
use ctm_isa::r700::inst::{TexFetch, VtxFetch};
use ctm_isa::r700::ops::TexOp;
use ctm_isa::r700::program::Stage;

/// The most lanes of a wavefront here.
pub const LANES: usize = 64;
/// One element of all lanes; lanes beyond those of the wavefront hold anything.
pub type Row = [u32; LANES];
/// Exported elements.
pub const EXPORTS: usize = 4 * TARGETS;

/// What is the same for all wavefronts of a launch.
pub struct Shared<'a> {
    /// The launch.
    pub launch: &'a Launch<'a>,
    /// Its memory, of which wavefronts only read.
    pub memory: &'a dyn Memory,
    /// The program's fetches.
    pub fetches: &'a [Fetch],
    /// The table of uniform values: the constant file, then locked constants.
    pub uniforms: &'a [u32],
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// Instructions that a wavefront may issue here.
    pub fuel: u64,
}

/// One wavefront's way in and out.
pub struct Wave {
    /// Rows of the variables that have start values, in the artifact's order.
    pub start: Vec<Row>,
    /// Valid lanes; at the end those that are left.
    pub valid: u64,
    /// Lanes that wrote each exported element.
    pub written: [u64; EXPORTS],
    /// The exported elements that the program may write, in the artifact's order.
    pub exports: Vec<Row>,
    /// Active lanes, summed over issued instructions.
    pub active_lanes: u64,
    /// Passages of each block.
    pub visits: Vec<u64>,
    /// What fetches keep and count.
    pub fetched: Fetched,
}

/// What fetches of one wavefront keep and count.
#[derive(Default)]
pub struct Fetched {
    gradients: Gradients,
    coordinates: Vec<[u32; 4]>,
    /// Elements read.
    pub fetches: u64,
    /// Bytes they asked for.
    pub bytes: u64,
}

impl Wave {
    /// For a program with so many start values, exported elements and blocks.
    pub fn new(start: usize, exports: usize, blocks: usize) -> Self {
        Self {
            start: vec![[0; LANES]; start],
            valid: 0,
            written: [0; EXPORTS],
            exports: vec![[0; LANES]; exports],
            active_lanes: 0,
            visits: vec![0; blocks],
            fetched: Fetched::default(),
        }
    }

    /// Before it runs.
    pub fn reset(&mut self) {
        self.written = [0; EXPORTS];
        self.active_lanes = 0;
        self.visits.fill(0);
        self.fetched.fetches = 0;
        self.fetched.bytes = 0;
        self.fetched.gradients.h.clear();
        self.fetched.gradients.v.clear();
        self.fetched.gradients.cube.clear();
    }

    /// Adds what depends on lanes to counters.
    pub fn count(&self, counters: &mut Counters) {
        counters.active_lanes += self.active_lanes;
        counters.fetches += self.fetched.fetches;
        counters.fetch_bytes += self.fetched.bytes;
    }
}

impl Fetched {
    /// Runs a fetch for the lanes of `executes`: reads rows of coordinates, gives rows of four elements.
    ///
    /// # Errors
    /// [`Refer`] where the reference interpreter would find a fault.
    pub fn run(
        &mut self,
        shared: &Shared<'_>,
        number: usize,
        at: &[&Row; 4],
        executes: u64,
        to: &mut [Row; 4],
    ) -> Result<(), Refer> {
        match shared.fetches.get(number).ok_or(Refer)? {
            Fetch::Vertex(inst) => self.vertex(shared, inst, at[0], executes, to),
            Fetch::Texture(inst) => self.texture(shared, inst, at, executes, to),
        }
    }

    fn vertex(
        &mut self,
        shared: &Shared<'_>,
        inst: &VtxFetch,
        indices: &Row,
        executes: u64,
        to: &mut [Row; 4],
    ) -> Result<(), Refer> {
        let fetch = VertexFetch::new(shared.memory, inst).map_err(|_| Refer)?;
        let offset = index_offset(shared.launch, inst.word0.fetch_type);
        for lane in lanes_of(executes) {
            let index = indices[lane].wrapping_add(offset);
            let fetched = fetch.at(shared.memory, index).map_err(|_| Refer)?;
            to.iter_mut().zip(fetched).for_each(|(row, bits)| row[lane] = bits);
        }
        let count = u64::from(executes.count_ones());
        self.fetches += count;
        self.bytes += count * fetch.size_bytes();
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
    ) -> Result<(), Refer> {
        let lanes = shared.lanes;
        self.coordinates.clear();
        self.coordinates.extend((0..lanes).map(|lane| std::array::from_fn(|e| at[e][lane])));
        let coordinates = &self.coordinates;
        let op = inst.word0.op;
        self.gradients.h.resize(lanes, [0.0; 3]);
        self.gradients.v.resize(lanes, [0.0; 3]);
        self.gradients.cube.resize(lanes, 0);
        let quads = shared.launch.stage == Stage::Pixel;
        let fetch = if texture::needs_no_resource(op) {
            None
        } else {
            Some(TextureFetch::new(shared.memory, inst, quads).map_err(|_| Refer)?)
        };
        for lane in lanes_of(executes) {
            let slopes = |vertical| texture::slopes(coordinates, lane, vertical);
            let three = |[x, y, z, _]: [f32; 4]| [x, y, z];
            let given = coordinates[lane].map(number);
            let fetched = match (&fetch, op) {
                (Some(fetch), _) => {
                    if op == TexOp::KeepGradients {
                        self.gradients.h[lane] = three(slopes(false));
                        self.gradients.v[lane] = three(slopes(true));
                    }
                    self.fetches += 1;
                    self.bytes += u64::from(fetch.texel_bytes());
                    fetch.lane(coordinates, lane, &self.gradients).map_err(|_| Refer)?
                }
                (None, TexOp::GetGradientsV) => slopes(true).map(bits),
                (None, TexOp::SetGradientsH) => {
                    self.gradients.h[lane] = three(given);
                    [0; 4]
                }
                (None, TexOp::SetGradientsV) => {
                    self.gradients.v[lane] = three(given);
                    [0; 4]
                }
                (None, TexOp::SetCubemapIndex) => {
                    self.gradients.cube[lane] = texture::cube_index(&coordinates[lane]);
                    [0; 4]
                }
                (None, _) => slopes(false).map(bits),
            };
            to.iter_mut().zip(fetched).for_each(|(row, bits)| row[lane] = bits);
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
