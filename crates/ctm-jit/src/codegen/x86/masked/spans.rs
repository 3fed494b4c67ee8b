//! Wavefronts that follow one another, in one call of machine code: a *span*.
//!
//! The call makes what each wavefront starts with, runs the program's code, and stores what the wavefront has exported. One that the reference interpreter has to
//! run ends the call before anything of it is stored.

mod block;
mod code;
mod stores;

use super::{Frame, Line, Native, ROW, Shared, Wave, head};
use crate::codegen::x86::isa::Isa;
use crate::ir::masked::M;
use crate::launch::kept::{Kept, Pool};
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::outputs::{Kind, Output};
use crate::launch::wavefronts::places::{Starts, Steps};
use crate::launch::wavefronts::wave::Row;
use block::coefficients;
use code::{Code, mask_at};
use ctm_exec::r700::Written;
use stores::{Stores, Target, store_of};

/// What is the same for all spans of a launch.
pub struct Given<'a> {
    /// Where wavefronts lie.
    pub steps: Steps,
    /// What start values are made of; `None`: they are given.
    pub starts: Option<&'a Starts<'a>>,
    /// Whether single precision makes all of them exactly.
    pub single: bool,
    /// Where exports go.
    pub outputs: &'a [Output<'a>],
}

/// What spans of a launch work on.
pub struct Block<'a> {
    bytes: Kept<'a, Frame>,
    code: &'static Code,
    given: Given<'a>,
}

/// What a span did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended {
    /// Wavefronts that ended.
    pub waves: u64,
    /// Their lanes in the domain.
    pub processors: u64,
    /// What was stored.
    pub stored: Written,
    /// Careful code has to run the next one.
    pub underflows: bool,
}

impl<'a> Block<'a> {
    /// For wavefronts of so many lanes. `None` where memory cannot be made executable, or code cannot make the start values. On AVX2 start values that are made are in
    /// single precision.
    pub fn new(isa: Isa, lanes: usize, given: Given<'a>, kept: &'a Pool<Frame>) -> Option<Self> {
        let code = Code::of(isa, (lanes / LANES) as u8)?;
        let starts = given.starts.map_or(0, Starts::count);
        let size = block::COEFFICIENTS + coefficients::SIZE * starts as i32;
        let new = || {
            let mut bytes = Frame::new(size);
            bytes.put(block::ONE, &1f64.to_le_bytes());
            bytes
        };
        let mut bytes = kept.take(new);
        if !bytes.holds(size) {
            *bytes = new();
        }
        let divisor = given.starts.and_then(Starts::divisor);
        let mut sets = divisor.is_none();
        for (number, start) in
            (0..).zip(given.starts.into_iter().flat_map(|starts| starts.coefficients(&given.steps.domain)))
        {
            let start = start?;
            sets &= start.are_normal();
            let at = block::COEFFICIENTS + coefficients::SIZE * number;
            let [origin, di, dj] = start.of;
            let double = [(coefficients::ORIGIN, origin), (coefficients::DI, di), (coefficients::DJ, dj)];
            double.into_iter().for_each(|(place, x)| bytes.put(at + place, &x.to_le_bytes()));
            let single =
                [(coefficients::ORIGIN_SINGLE, origin), (coefficients::DI_SINGLE, di), (coefficients::DJ_SINGLE, dj)];
            single.into_iter().for_each(|(place, x)| bytes.put(at + place, &(x as f32).to_le_bytes()));
            bytes.put(at + coefficients::MAKES, &(start.makes as u32).to_le_bytes());
        }
        let Steps { di, dj, last, width, next_row, whole, domain, .. } = given.steps;
        for (at, number) in [
            (block::STARTS, starts as u32),
            (block::SINGLE, given.single.into()),
            (block::SETS, sets.into()),
            (block::WHOLE, whole.into()),
            (block::CONVERTS, given.outputs.iter().any(|of| !matches!(of.kind(), Kind::Floats(_))).into()),
            (block::DI, di),
            (block::DJ, dj),
            (block::LAST, last),
            (block::WIDTH, width),
            (block::NEXT_ROW, next_row),
            (block::I0, domain.i0),
            (block::I1, domain.i1),
            (block::J0, domain.j0),
            (block::J1, domain.j1),
        ] {
            bytes.put(at, &number.to_le_bytes());
        }
        bytes.put(block::DIVIDES, &u32::from(divisor.is_some()).to_le_bytes());
        for (place, x) in (0..).zip(divisor.unwrap_or([1.0, 0.0, 0.0])) {
            bytes.put(block::DIVISOR + 8 * place, &x.to_le_bytes());
        }
        bytes.put(block::STORE, &(store_of(isa) as usize).to_le_bytes());
        Some(Self { bytes, code, given })
    }

    /// Where the frame of a program's code has what is stored.
    fn stores(&self, native: &Native, frame: &Frame, full: bool) -> Stores<'a> {
        let target = |output: &'a Output<'a>| {
            let of = |from: Option<usize>| from.and_then(|from| native.exports.get(from).zip(native.rows.get(from)));
            let written = |of: Option<(&usize, &i32)>| {
                of.map_or(mask_at(M::NONE), |(&export, _)| head::WRITTEN + 8 * export as i32)
            };
            let row = |of: Option<(&usize, &i32)>| of.map_or(head::ROWS, |(_, &row)| row);
            Target {
                output,
                kind: output.kind(),
                channel_bytes: output.channel_bytes(),
                written: output.from.map(|from| frame.address(written(of(from))) as *mut u64),
                rows: output.from.map(|from| frame.address(row(of(from))) as *const u32),
            }
        };
        let Given { steps, outputs, .. } = self.given;
        Stores {
            targets: outputs.iter().map(target).collect(),
            valid: frame.address(mask_at(M::VALID)) as *const u64,
            places: [block::I, block::J].map(|at| self.bytes.address(at) as *const Row),
            lanes: steps.lanes,
            strips: steps.quads && full,
            done: Written::default(),
        }
    }
}

impl Native {
    /// Runs so many wavefronts, from the one at the places of `wave` on. `covered`: the lanes whose exports are stored, 64 a word, and which of them the first wavefront begins with, a multiple of a wavefront's lanes. Passages of blocks, active lanes and what fetches count are those of all that began.
    #[allow(unsafe_code, reason = "machine code is called")]
    pub fn run_span(
        &self,
        frame: &mut Frame,
        shared: &Shared<'_>,
        wave: &mut Wave,
        block: &mut Block<'_>,
        (covered, waves): (Option<(&[u64], u64)>, u64),
    ) -> Ended {
        let fits = |of: &Output<'_>| of.from.iter().flatten().all(|&from| from < self.rows.len());
        let starts = block.given.starts.is_none_or(|starts| starts.count() == wave.start.len());
        // Start values that are given are those of the first wavefront.
        let most = if block.given.starts.is_none() { 1 } else { u64::MAX };
        let lanes_of_all = waves.saturating_mul(wave_lanes(block) as u64);
        let is_short =
            covered.is_some_and(|(words, first)| 64 * (words.len() as u64) < first.saturating_add(lanes_of_all));
        if is_short || waves == 0 || waves > most || !starts || !block.given.outputs.iter().all(fits) {
            return Ended::default();
        }
        self.begin(frame, shared, wave);
        let mut stores = block.stores(self, frame, shared.lanes == wave_lanes(block));
        for (at, pointer) in [
            (block::FRAME, frame.address(0)),
            (block::PROGRAM, self.text.as_ptr() as usize),
            (block::START_ROWS, frame.address(self.layout.start)),
            (block::STORES, (&raw mut stores) as usize),
        ] {
            block.bytes.put(at, &pointer.to_le_bytes());
        }
        block.bytes.put(block::GRADIENTS, &u32::from(self.gradients).to_le_bytes());
        block.bytes.put(block::SENT, &u64::MAX.to_le_bytes());
        let covered = covered.map_or(0, |(words, first)| words.as_ptr() as usize + first as usize / 8);
        block.bytes.put(block::COVERED, &covered.to_le_bytes());
        block.bytes.put(block::WAVES, &waves.to_le_bytes());
        block.bytes.put(block::PROCESSORS, &0u64.to_le_bytes());
        block.bytes.put(block::FUEL, &shared.fuel.to_le_bytes());
        for (at, row) in [(block::I, &wave.places.i), (block::J, &wave.places.j)] {
            for (n, piece) in (0..).zip(row.as_chunks::<LANES>().0) {
                block.bytes.put_row(at + 64 * n, piece);
            }
        }
        let Wave { visits, fetched, .. } = &mut *wave;
        let end = self.enter(frame, shared, visits, fetched, |_| {
            type Entry = unsafe extern "sysv64" fn(*mut Line) -> u32;
            // SAFETY: the text is code that `Code` made for this signature, mapped executable and kept for ever.
            let entry = unsafe { std::mem::transmute::<*const u8, Entry>(block.code.entry()) };
            // SAFETY: the block has the size of its start values, and points to the frame, whose layout the code knows, to the program's code, which
            // `Native::enter` makes ready, and to what `store` needs, which points into frame and block.
            unsafe { entry(block.bytes.bytes.as_mut_ptr()) }
        });
        let left = super::number(&mut block.bytes, block::WAVES);
        Self::collect_counts(frame, wave);
        let processors = super::number(&mut block.bytes, block::PROCESSORS);
        Ended { waves: waves - left, processors, stored: stores.done, underflows: end == super::UNDERFLOW }
    }
}

/// Lanes of a whole wavefront.
fn wave_lanes(block: &Block<'_>) -> usize {
    block.given.steps.lanes
}

/// A row of start values holds all pieces of a wavefront.
const _: () = assert!(ROW == 4 * 4 * LANES as i32);
