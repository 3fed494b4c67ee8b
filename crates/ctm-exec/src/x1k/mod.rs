//! The X1K's DPP array: what one launch is given, what it can reach, and the reference interpreter.
//!
//! | file | what |
//! |---|---|
//! | `float` | single precision as the X1K keeps it, and the wide values before the output modifier |
//! | `ops` | one pure function per operation |
//! | `functions` | from an opcode to the function that computes it |
//! | `transcendental` | EX2, LN2, RCP, RSQ, SIN, COS, each one fixed sequence |
//! | `sample` | from coordinates to input elements: scaling, wrap, filter |
//! | `flow` | the flow-control machine of CTM §3.5 |
//! | `plan` | a program decoded once |
//! | `lanes` | the registers and masks of sixteen processors |
//! | `alu`, `tex` | one ALU, OUTPUT or texture instruction on such a block |
//! | `group` | a group of processors running a program: issue, faults, counters |
//! | `checks` | what a checked run notices |
//! | `observe` | a group that is watched |
//! | `interp` | the reference interpreter: domain, groups, commits |
//! | `arrays` | a memory of plain arrays |

pub mod alu;
pub mod arrays;
pub mod checks;
pub mod float;
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
pub mod transcendental;

pub use arrays::Arrays;
pub use interp::Interp;

use crate::engine::{Budget, Domain, GroupSize, MemoryFault, Position};
use crate::rows::{LaneOrder, LaneRows, StartRow};
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

/// What a temporary holds before the first instruction: `origin + i*di + j*dj` per channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// The temporary, 0..=127.
    pub temp: u8,
    /// Value at (0, 0).
    pub origin: [f64; 4],
    /// Change per column.
    pub di: [f64; 4],
    /// Change per row.
    pub dj: [f64; 4],
    /// The value is rounded to an integer whose 32 bits are stored; otherwise to a single-precision number.
    pub bits: bool,
}

impl Plane {
    /// The index pair as `(i, j, 0, 0)`.
    #[must_use]
    pub const fn position(temp: u8) -> Self {
        Self { temp, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0, 1.0, 0.0, 0.0], bits: false }
    }

    /// A channel (0..=3) at (i, j), not rounded yet.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "index pairs have few bits")]
    pub fn value(&self, channel: usize, i: i64, j: i64) -> f64 {
        self.origin[channel] + i as f64 * self.di[channel] + j as f64 * self.dj[channel]
    }

    /// The bits of the four channels at (i, j): computed in double precision, rounded once.
    ///
    /// `i` and `j` are signed because the uncovered lanes of a quad may lie outside the domain.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the one rounding that is meant; integers wrap to their 32 bits"
    )]
    pub fn at(&self, i: i64, j: i64) -> [u32; 4] {
        std::array::from_fn(|c| {
            let value = self.value(c, i, j);
            if self.bits { value.round_ties_even() as i64 as u32 } else { (value as f32).to_bits() }
        })
    }
}

/// One launch of a program over a domain.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The program.
    pub program: &'a Program,
    /// The constants, literals included.
    pub constants: &'a Constants,
    /// What temporaries hold at the start; all others hold 0.
    pub planes: &'a [Plane],
    /// What channels of temporaries hold at the start, lane by lane, where no plane can say it. They go before planes.
    pub rows: &'a [StartRow<'a>],
    /// The domain, at most 4096 x 4096.
    pub domain: Domain,
    /// How many lanes decide a jump together.
    pub group: GroupSize,
    /// What the launch may use up.
    pub budget: Budget,
    /// Worker threads; 0 means one per core. Never changes results.
    pub threads: usize,
    /// Whether to look for uninitialised reads, undefined ALU results and fetches out of bounds while running.
    pub checks: bool,
    /// Whether to count what takes time to count; otherwise the outcome's counters are [`Counters::cheap`](crate::Counters::cheap).
    pub counters: bool,
}

impl Launch<'_> {
    /// The numbers of the launch's lanes: what [`StartRow::bits`] and the rows of [`LaneRows`] are indexed by.
    #[must_use]
    pub const fn lane_order(&self) -> LaneOrder {
        LaneOrder::quads(self.domain)
    }
}

/// What an input looks like to a texture instruction.
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
    /// What [`Wrap::Border`] reads outside, as bits of r, g, b, a.
    pub border: [u32; 4],
}

/// Sampler filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The element whose cell the coordinate lies in.
    #[default]
    Nearest,
    /// Weighted mean of the four elements around the coordinate.
    Linear,
}

/// What coordinates outside the input read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The nearest element of the edge.
    #[default]
    Clamp,
    /// The input repeats.
    Repeat,
    /// The input repeats, every second time mirrored.
    Mirror,
    /// The border colour.
    Border,
}

/// What an OUTPUT instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A render target, 0 (A) to 3 (D).
    Colour(u8),
    /// The conditional value (W_OMASK); its one element is the first.
    ConditionalValue,
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
    /// What [`Memory::commit`] does where rows take outputs ([`Memory::lane_rows`]).
    pub fn store(&self, at: Position, rows: &mut LaneRows<Target>) -> Written {
        let mut written = Written::default();
        let Some(lane) = rows.survive(at) else { return written };
        let colours = (0..).map(Target::Colour).zip(self.values).zip(self.written);
        let conditional = self.conditional_value.map(|bits| ((Target::ConditionalValue, [bits, 0, 0, 0]), 1));
        for ((target, values), elements) in colours.chain(conditional) {
            let stored = u64::from(rows.store(lane, target, values, elements));
            written.elements += u64::from(stored > 0);
            written.bytes += 4 * stored;
        }
        written
    }
}

/// What a running program can reach. The device implements it with its memory controller and conditional unit;
/// tests with arrays.
pub trait Memory: Sync {
    /// Whether the processor for this index pair is to run (the conditional test when it is located in the PE, CTM §2.1.2).
    ///
    /// # Errors
    /// When the conditional buffer cannot be read or written.
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault>;

    /// The accesses that follow belong to this processor, and to fetch `item` of a clause: the reference interpreter says so, for whoever watches.
    /// Does nothing by default.
    fn begin_lane(&self, at: Position, item: usize) {
        let _ = (at, item);
    }

    /// What is bound as input `index`, or `None`.
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

    /// Whether the conditional test of the processor that was committed last failed, so that its outputs were not written. The default: no.
    fn last_test_failed(&self) -> bool {
        false
    }

    /// Whether what this launch writes may be read by it through an input; if so, engines run groups strictly in order.
    fn outputs_alias_inputs(&self) -> bool;

    /// The arrays behind the inputs and outputs, for engines that read and write elements themselves; `None` (the default) when they
    /// have to ask for each.
    ///
    /// `Some` says: [`Self::schedule`] is true for every processor and changes nothing, every output passes, uncached reads are like others,
    /// and no output shares a byte with an input or with another output.
    fn direct(&mut self) -> Option<Direct<'_>> {
        None
    }

    /// The arrays behind the inputs, as they are until something is committed, for engines that read elements themselves; an input that is
    /// `None` (the default: all) has to be asked for element by element.
    ///
    /// Unlike [`Self::direct`] it promises nothing of processors that do not run, or of outputs, which may be inputs, too.
    fn input_arrays(&self) -> [Option<Elements<&[u8]>>; INPUTS] {
        [const { None }; INPUTS]
    }

    /// Rows that take the place of [`Self::commit`], for engines that store outputs lane beside lane; `None` (the default) when they have to
    /// commit. Engines need not use them.
    ///
    /// `Some` says: [`Self::schedule`] is true for every processor and changes nothing; [`Self::commit`] would do no more than mark the lane as a
    /// survivor and store its outputs in these rows, never refuses, and counts what is stored in rows. The rows have the order of the
    /// launch's lanes ([`Launch::lane_order`]).
    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        None
    }
}

/// See [`Memory::direct`].
#[derive(Debug, Default)]
pub struct Direct<'a> {
    /// What [`Memory::read`] reads, row by row, for inputs whose elements have a [`Form`].
    pub inputs: [Option<Elements<&'a [u8]>>; INPUTS],
    /// Where [`Memory::commit`] writes; an output that is `None` drops what it is sent.
    pub outputs: [Option<Elements<&'a mut [u8]>>; OUTPUTS],
}

/// What the elements of a linear array are, all little-endian, and what a read gives of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// 1 to 4 single-precision channels: channel c of element (x, y) is the dword `(y * pitch + x) * channels + c`. X1K outputs have no other form.
    #[default]
    Floats,
    /// One single-precision channel. A read gives four elements: to the right, below, right and below, the element itself; beyond the edge of the
    /// input it is the edge (CTM §2.1.4).
    Square,
    /// Four channels of 8 bits, byte by byte; 0..=255 stands for 0..=1.
    Bytes {
        /// The first and the third channel change places.
        swapped: bool,
    },
    /// One channel of 16 bits; 0..=65535 stands for 0..=1. The bytes are whole dwords.
    Words,
}

impl Form {
    /// Bytes of an element of so many channels.
    #[must_use]
    pub const fn element_bytes(self, channels: u8) -> u32 {
        match self {
            Self::Floats => 4 * channels as u32,
            Self::Square | Self::Bytes { .. } => 4,
            Self::Words => 2,
        }
    }
}

/// A linear array.
#[derive(Clone, Copy, Debug)]
pub struct Elements<B> {
    /// The bytes, from element (0, 0) on.
    pub bytes: B,
    /// Elements from one row to the next.
    pub pitch: u32,
    /// Columns that exist.
    pub width: u32,
    /// Rows that exist.
    pub height: u32,
    /// What elements are.
    pub form: Form,
    /// Channels of an element, 1 to 4: of its form, where that has a fixed number.
    pub channels: u8,
    /// Channels that may be written (bit 0 = r); for inputs without meaning.
    pub mask: u8,
}

impl<B> Elements<B> {
    /// The same array of these bytes.
    pub fn with<C>(&self, bytes: C) -> Elements<C> {
        let Self { bytes: _, pitch, width, height, form, channels, mask } = *self;
        Elements { bytes, pitch, width, height, form, channels, mask }
    }

    /// Bytes up to the end of the last element, in whole dwords.
    #[must_use]
    pub fn bytes_needed(&self) -> u64 {
        let last = u64::from(self.height).saturating_sub(1) * u64::from(self.pitch) + u64::from(self.width);
        (last * u64::from(self.form.element_bytes(self.channels))).next_multiple_of(4)
    }
}

impl Elements<&[u8]> {
    /// What [`Memory::read`] gives for element (x, y) of an input of these dimensions: bits of r, g, b, a. Channels that elements lack read 0,
    /// alpha 1.
    ///
    /// # Panics
    /// When the bytes do not hold the element.
    #[must_use]
    pub fn read(&self, x: u32, y: u32, [width, height]: [u32; 2]) -> [u32; 4] {
        let mut texel = [0, 0, 0, float::ONE];
        let bytes = self.form.element_bytes(self.channels) as usize;
        let at = |x: u32, y: u32| {
            let first = (y as usize * self.pitch as usize + x as usize) * bytes;
            &self.bytes[first..first + bytes]
        };
        let dword = |bytes: &[u8]| bytes.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        match self.form {
            Form::Floats => texel.iter_mut().zip(at(x, y).chunks_exact(4)).for_each(|(to, from)| *to = dword(from)),
            Form::Square => {
                let (right, below) = (x.saturating_add(1).min(width - 1), y.saturating_add(1).min(height - 1));
                texel = [(right, y), (x, below), (right, below), (x, y)].map(|(x, y)| dword(at(x, y)));
            }
            Form::Bytes { swapped } => {
                texel.iter_mut().zip(at(x, y)).for_each(|(to, &byte)| *to = normalised(byte.into(), u8::MAX.into()));
                if swapped {
                    texel.swap(0, 2);
                }
            }
            Form::Words => texel[0] = normalised(dword(at(x, y)), u16::MAX.into()),
        }
        texel
    }
}

/// A whole number of 0 to `most` as a number of 0 to 1, rounded once.
#[allow(clippy::cast_precision_loss, reason = "numbers of at most 16 bits")]
fn normalised(n: u32, most: u32) -> u32 {
    (n as f32 / most as f32).to_bits()
}

/// 0 to 1 as a whole number of 0 to `most`, rounded to nearest even; NaN gives 0. The product is exact in double precision, so there is one rounding.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 65535 after the clamp")]
pub fn scaled(bits: u32, most: u32) -> u32 {
    let value = f64::from(f32::from_bits(bits));
    // `max` and `min` would also pass NaN on to the conversion, which makes it 0.
    (value.clamp(0.0, 1.0) * f64::from(most)).round_ties_even() as u32
}

/// What a write stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Elements.
    pub elements: u64,
    /// Bytes.
    pub bytes: u64,
}
