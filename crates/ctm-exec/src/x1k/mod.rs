//! The X1K's DPP array: inputs of a launch, its memory, and the reference interpreter.
//!
//! | file | content |
//! |---|---|
//! | `ops` | one pure function per operation |
//! | `functions` | from an opcode to the function that computes it |
//! | `sample` | one lookup: projection, elements, filter |
//! | `flow` | the flow-control machine of CTM §3.5 |
//! | `plan` | a program decoded once |
//! | `lanes` | the registers and masks of sixteen processors |
//! | `unit` | lookups of a draw's textures |
//! | `alu`, `tex` | one ALU, OUTPUT or texture instruction on such a block |
//! | `group` | a group of processors running a program: issue, faults, counters |
//! | `checks` | findings of checked runs |
//! | `observe` | a group that is watched |
//! | `interp` | the reference interpreter: domain, groups, commits |
//! | `arrays` | a memory of plain arrays |

pub mod alu;
pub mod arrays;
pub mod checks;
pub mod flow;
pub mod functions;
pub mod group;
pub mod interp;
pub mod lanes;
pub mod observe;
pub mod ops;
pub mod plan;
pub mod sample;
pub mod tex;
pub mod unit;

pub use crate::arrays::{Elements, Form, Written};
pub use crate::plane::{Divisor, Plane};
pub use crate::sample::{Filter, Wrap};
pub use arrays::Arrays;

use crate::domain::{Domain, GroupSize, Position};
use crate::epilogue::TargetEpilogue;
use crate::fault::{Budget, MemoryFault};
use crate::r700::Cells;
use crate::rows::{LaneOrder, LaneRows, StartRow, covered_from};
use ctm_isa::x1k::{BOOL_CONSTANTS, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS, Program};

/// The constants of a launch (CTM §2.1.4), as read from memory when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Bits of r, g, b, a of each floating-point constant.
    pub float: [[u32; 4]; FLOAT_CONSTANTS],
    /// Iteration count, initial aL, increment of aL (two's complement) and an unused byte of each integer constant.
    pub int: [[u8; 4]; INT_CONSTANTS],
    /// The boolean constants.
    pub bool: [bool; BOOL_CONSTANTS],
}

impl Default for Constants {
    fn default() -> Self {
        Self { float: [[0; 4]; FLOAT_CONSTANTS], int: [[0; 4]; INT_CONSTANTS], bool: [false; BOOL_CONSTANTS] }
    }
}

/// One launch of a program over a domain.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The program.
    pub program: &'a Program,
    /// The constants, literals included.
    pub constants: &'a Constants,
    /// Start values of temporaries; all others are 0.
    pub planes: &'a [Plane],
    /// Start values of channels by lane, where they are not planes. They override planes.
    pub rows: &'a [StartRow<'a>],
    /// The domain, at most 4096 x 4096.
    pub domain: Domain,
    /// How many lanes decide a jump together.
    pub group: GroupSize,
    /// The parts that only draws have.
    pub draw: DrawParts<'a>,
    /// Limits of the launch.
    pub budget: Budget,
    /// Worker threads; 0 means one per core. Never changes results.
    pub threads: usize,
    /// Whether to look for uninitialised reads, undefined ALU results and fetches out of bounds while running.
    pub checks: bool,
    /// Whether to maintain costly counters; otherwise the outcome's counters are [`Counters::cheap`](crate::Counters::cheap).
    pub counters: bool,
}

/// The parts of a launch that only draws have. The default: none of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct DrawParts<'a> {
    /// The divisor of elements of planes.
    pub divisor: Option<Divisor<'a>>,
    /// The lanes whose outputs are sent: lane `n` is bit `n % 64` of word `n / 64`; `None`: all. The others run as they do, as pixels of a quad that a
    /// primitive does not cover; groups without a covered lane in the domain do not run.
    pub covered: Option<&'a [u64]>,
    /// Its planes will hardly come again, as those of a triangle: engines make no code for them alone.
    pub once: bool,
    /// The meaning of [`Memory::commit`] for these colour targets, for engines that compute and store their elements themselves ([`Memory::merged`]).
    /// Engines need not use them.
    pub epilogues: &'a [TargetEpilogue],
}

impl DrawParts<'_> {
    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.divisor.is_none() && self.covered.is_none() && !self.once && self.epilogues.is_empty()
    }

    /// Which of 64 lanes, from this one on, are [`Self::covered`] (bit 0 is the first).
    #[must_use]
    pub fn covered_from(&self, first: u64) -> u64 {
        covered_from(self.covered, first)
    }
}

impl Launch<'_> {
    /// Whether the outputs of a processor are sent ([`DrawParts::covered`]).
    #[must_use]
    pub fn sends(&self, at: Position) -> bool {
        let is_covered = |lane: usize| self.draw.covered_from(lane as u64) & 1 == 1;
        self.draw.covered.is_none() || self.lane_order().lane(at).is_some_and(is_covered)
    }

    /// The numbers of the launch's lanes: the indices of [`StartRow::bits`] and the rows of [`LaneRows`].
    #[must_use]
    pub const fn lane_order(&self) -> LaneOrder {
        LaneOrder::quads(self.domain)
    }
}

/// The description of an input for texture instructions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Elements per row that may be read.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes that one fetch asks memory for.
    pub element_bytes: u32,
    /// How coordinates become elements.
    pub sampler: Sampler,
}

/// How coordinates become elements. CTM's own inputs are [`Sampler::default`]: nearest, clamped to the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampler {
    /// Nearest or linear.
    pub filter: Filter,
    /// For columns and for rows.
    pub wrap: [Wrap; 2],
    /// The value of [`Wrap::Border`] outside, as bits of r, g, b, a.
    pub border: [u32; 4],
}

/// The destination of an OUTPUT instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A render target, 0 (A) to 3 (D).
    Colour(u8),
    /// The conditional value (W_OMASK); its one element is the first.
    ConditionalValue,
}

/// An index of an uncached write: the floor of a number from 0 up; `None` when it is no such number, or needs more than 32 bits.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against the range of u32")]
pub fn uncached_index(bits: u32) -> Option<u32> {
    let x = f64::from(f32::from_bits(bits)).floor();
    (0.0..4_294_967_296.0).contains(&x).then_some(x as u32)
}

/// The output registers of one processor when its program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Bits of r, g, b, a of render targets A to D.
    pub values: [[u32; 4]; OUTPUTS],
    /// Which channels (bit 0 = r) of each target the program wrote; the others are left alone.
    pub written: [u8; OUTPUTS],
    /// The conditional value, if the program wrote it (W_OMASK).
    pub conditional_value: Option<u32>,
}

impl Outputs {
    /// [`Memory::commit`] where rows take outputs ([`Memory::lane_rows`]).
    pub fn store(&self, at: Position, rows: &mut LaneRows<Target>) -> Written {
        let mut written = Written::default();
        let Some(lane) = rows.survive(at) else { return written };
        for (target, values, elements) in self.iter() {
            let stored = u64::from(rows.store(lane, target, values, elements));
            written.elements += u64::from(stored > 0);
            written.bytes += 4 * stored;
        }
        written
    }

    /// The writes: targets, their bits and which elements of them (bit 0 = r); the conditional value comes last.
    pub fn iter(&self) -> impl Iterator<Item = (Target, [u32; 4], u8)> {
        let colours = (0..).map(Target::Colour).zip(self.values).zip(self.written);
        let colours = colours.map(|((target, values), written)| (target, values, written));
        let conditional = self.conditional_value.map(|bits| (Target::ConditionalValue, [bits, 0, 0, 0], 1));
        colours.chain(conditional).filter(|&(.., written)| written != 0)
    }
}

/// The memory of a running program. The device implements it with its memory controller and conditional unit;
/// tests with arrays.
pub trait Memory: Sync {
    /// Whether the processor for this index pair is to run (the conditional test when it is located in the PE, CTM §2.1.2).
    ///
    /// # Errors
    /// When the conditional buffer cannot be read or written.
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault>;

    /// The next accesses belong to this processor, and to fetch `item` of a clause: the reference interpreter calls it, for watchers.
    /// Does nothing by default.
    fn begin_lane(&self, at: Position, item: usize) {
        let _ = (at, item);
    }

    /// Input `index`, or `None` if unbound.
    fn input(&self, index: u8) -> Option<Input>;

    /// Element (x, y) of an input as the bits of four single-precision channels; `x < width`, `y < height`.
    /// Channels the format lacks read 0, alpha 1. `uncached` reads see earlier uncached writes of this launch.
    ///
    /// # Errors
    /// When the element lies outside memory.
    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault>;

    /// Sends the outputs of one processor: conditional test, write masks, memory. Returns the elements and bytes written.
    ///
    /// # Errors
    /// When an output lies outside memory.
    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault>;

    /// An uncached write of one value to element (x, y) of output 0 (CTM §3.3.8). Returns the bytes written.
    ///
    /// # Errors
    /// When the element lies outside the output.
    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault>;

    /// Of checked launches: input and element that a cached read has returned although this launch had written it uncached, since this was
    /// asked last. The default knows of none.
    fn take_stale_read(&self) -> Option<(u8, u32, u32)> {
        None
    }

    /// The textures and samplers of a draw, by the numbers of their units, for programs whose [lookups](ctm_isa::x1k::program::Lookups) are of textures. The default has
    /// none.
    fn textures(&self) -> Option<&dyn crate::r700::Memory> {
        None
    }

    /// Whether the conditional test of the processor that was committed last failed, so that its outputs were not written. The default: no.
    fn last_test_failed(&self) -> bool {
        false
    }

    /// Whether this launch may read its own writes through an input; if so, engines run groups strictly in order.
    fn outputs_alias_inputs(&self) -> bool;

    /// The arrays that back the inputs and outputs, for engines that read and write elements themselves; `None` (the default) when they
    /// have to ask for each.
    ///
    /// `Some` says: [`Self::schedule`] is true for every processor and changes nothing, every output passes but for [`Direct::conditional`], uncached reads are like others,
    /// and neither an output nor the conditional buffer shares a byte with an input or with one of these.
    fn direct(&mut self) -> Option<Direct<'_>> {
        None
    }

    /// The arrays of the targets of [`DrawParts::epilogues`], in their order, for engines that compute new elements by these; `None` (the default) when they have
    /// to commit. An element is one number, which has the element's bits; a target that is `None` takes none. Otherwise as [`Self::direct`], which asks for programs'
    /// outputs.
    fn merged(&mut self, targets: &[u8]) -> Option<Merged<'_>> {
        let _ = targets;
        None
    }

    /// The arrays that back the inputs, as they are until something is committed, for engines that read elements themselves; an input that is
    /// `None` (the default: all) is read element by element.
    ///
    /// Unlike [`Self::direct`] it promises nothing of processors that do not run, or of outputs, which may be inputs, too.
    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        [const { None }; INPUTS]
    }

    /// Rows that take the place of [`Self::commit`], for engines that store outputs lane beside lane; `None` (the default) when they have to
    /// commit. Engines need not use them.
    ///
    /// `Some` says: [`Self::schedule`] is true for every processor and changes nothing; [`Self::commit`] would do no more than mark the lane as a
    /// survivor and store its outputs in these rows, never refuses, and counts stores to rows. The rows have the order of the
    /// launch's lanes ([`Launch::lane_order`]).
    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        None
    }
}

/// See [`Memory::direct`].
#[derive(Default)]
pub struct Direct<'a> {
    /// The arrays of [`Memory::read`], for inputs whose elements have a [`Form`].
    pub inputs: [Option<Elements<&'a [u8]>>; INPUTS],
    /// Where [`Memory::commit`] writes; an output that is `None` drops its values.
    pub outputs: [Option<Elements<&'a mut [u8]>>; OUTPUTS],
    /// The test before [`Memory::commit`]; processors that fail store nothing. Where it is `None`, engines call `commit` for programs with a conditional value.
    pub conditional: Option<ConditionalTest<'a>>,
    /// The textures of a draw ([`Memory::textures`]).
    pub textures: Option<&'a dyn crate::r700::Memory>,
}

/// See [`Memory::merged`].
#[derive(Default)]
pub struct Merged<'a> {
    /// The arrays of the targets.
    pub targets: Vec<Option<Elements<Cells<'a>>>>,
    /// The textures of the draw ([`Memory::textures`]).
    pub textures: Option<&'a dyn crate::r700::Memory>,
}

/// The test of the Conditional Output Unit for outputs (CTM §2.1.3): of a processor's conditional value against the element of a buffer at its index pair, both the bits of
/// single-precision numbers. Denormals count as zero.
#[derive(Debug)]
pub struct ConditionalTest<'a> {
    /// Whether a value passes that is less than the buffer's, equal to it, greater, or neither (a NaN).
    pub outcomes: [bool; 4],
    /// The value of processors whose program gives none.
    pub value: u32,
    /// Whether the value that a program gives counts.
    pub of_program: bool,
    /// The buffer, whose elements are one number each; without it values are compared with 0.
    pub buffer: Option<Elements<&'a mut [u8]>>,
    /// Whether a value that passes is written to the buffer.
    pub writes: bool,
}

impl ConditionalTest<'_> {
    /// Whether anything depends on it.
    #[must_use]
    pub const fn matters(&self) -> bool {
        !matches!(self.outcomes, [true, true, true, true]) || self.writes && self.buffer.is_some()
    }
}
