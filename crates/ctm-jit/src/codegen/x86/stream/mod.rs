//! Streams as machine code: tiles of a domain one after another, without masks, with loads and stores in the code itself.
//!
//! A *tile* is `rows` x `vectors` vectors, each as long as a register. In the plain form a vector holds 16 processors
//! of a row (8 on AVX2), in the packed form four (two) with their four channels. A vector of the program that does not
//! depend on the row, or not on the column, exists once for all rows or all columns; so elements that processors share
//! are fetched once.
//!
//! Addresses are *slots*: a pointer that takes a fixed step from tile to tile, from row to row of tiles, and from
//! iteration to iteration of each loop. A kernel fixes the meaning of its slots; the caller fills in first addresses
//! and steps. Slots live in general registers as long as there are free ones.
//!
//! | register | contents |
//! |---|---|
//! | rbx | the frame |
//! | rbp | the floating-point constants |
//! | rax | scratch |
//! | others | iterations of loops, slots |
//! | the last vector registers | scratch (`Target`), but the third only where masks or transpositions need it |
//!
//! | file | contents |
//! |---|---|
//! | `tiles` | the size of tiles, and the vectors with registers |
//! | `emit` | the code as a whole |
//! | `slots`, `lines`, `memory` | addresses; single instructions; loads and stores of vectors |
//! | `copies` | programs that only move elements |
//! | `run`, `panels` | calls; the memory that they read and write |

pub use super::Frame;
use super::executable;
use super::isa::X86Target;
use super::lir::{Lir, Src, Vector};
use super::masked::{self, Indexed, Ins};
pub use super::transfer::Part;
use crate::codegen::target::SCRATCH;
use crate::codegen::x86::allocate::{Lives, Ranges};
use crate::ir::masked::{File, Op, Var};
use crate::passes::masked::VarSet;
use crate::stream::affine::{Fetch, Item, LOOPS, Linear};
use crate::stream::prepare::{Prepared, WHOLE};
use crate::stream::uniform::Number;
use copies::Copies;
use emit::Emit;
use memmap2::Mmap;
pub use panels::is_local;
pub use run::{InputView, OutputView, Rect, Surfaces};

mod copies;
mod emit;
mod lines;
mod memory;
mod panels;
mod run;
mod slots;
mod tiles;

/// Offsets in the frame.
mod at {
    /// Pointer to the floating-point constants.
    pub const CONSTANTS: i32 = 0;
    /// Tiles of a row.
    pub const TILES: i32 = 8;
    /// Tiles that are left.
    pub const TILES_LEFT: i32 = 12;
    /// Rows of tiles that are left.
    pub const ROWS_LEFT: i32 = 16;
    /// The beginning of the slots.
    pub const SLOTS: i32 = 64;
}

/// The shape of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows.
    pub rows: u8,
    /// Vectors side by side.
    pub vectors: u8,
}

/// The options of a kernel, beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The tile.
    pub tile: Tile,
    /// Outputs bypass the caches; every store is aligned.
    pub past_caches: bool,
}

/// The origin of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Base {
    /// The first element of an input.
    Input(u8),
    /// The first element of an output.
    Output(u8),
    /// The first constant.
    Constants,
    /// Zero: it is a number, and no address.
    Zero,
}

/// An address or a number that moves in fixed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Slot {
    base: Base,
    /// The column of an element (of an input, its constant part apart, which the code adds), the number of a constant, or the number itself.
    x: Linear,
    /// The row of an element.
    y: Linear,
}

/// The channels of each surface's elements, 1, 2 or 4; 0: there is no array. The code sees all elements as
/// single-precision numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    /// The channels of each input.
    pub inputs: [u8; ctm_isa::x1k::INPUTS],
    /// The channels of each output; those without channels are dropped.
    pub outputs: [u8; ctm_isa::x1k::OUTPUTS],
}

impl Geometry {
    /// The geometry of a launch's arrays.
    pub fn of(surfaces: &Surfaces<'_>) -> Self {
        Self {
            inputs: surfaces.inputs.each_ref().map(|view| view.as_ref().map_or(0, |view| view.channels)),
            outputs: surfaces.outputs.each_ref().map(|view| view.as_ref().map_or(0, |view| view.channels)),
        }
    }

    /// Channels of the elements that a fetch reads.
    const fn input(&self, fetch: &Fetch) -> u8 {
        self.inputs[fetch.input as usize]
    }
}

/// Bytes of an element of `channels` channels.
const fn bytes(channels: u8) -> i32 {
    4 * channels as i32
}

/// Machine code for tiles.
pub struct Kernel {
    target: X86Target,
    text: Mmap,
    /// The columns of a tile.
    pub columns: u32,
    /// The options that it was compiled for.
    pub options: Options,
    /// Dwords of the constants that it may read.
    constants: usize,
    /// Its slots.
    slots: Vec<Slot>,
    /// The geometry that it was compiled for.
    pub geometry: Geometry,
    fetches: Vec<Fetch>,
    layout: Layout,
    packed: bool,
    transposed: bool,
    copies: Option<Copies>,
}

#[cfg(test)]
impl Kernel {
    /// The code.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Offsets in the frame, after the slots.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    /// Rows of permutations.
    tables: i32,
    /// Masks 2 and 3, on AVX2.
    masks: i32,
    /// Column of each lane, as integers; one row for each vector side by side.
    lanes: i32,
    /// Vectors without a register.
    spills: i32,
    size: i32,
}

/// Numbers of a slot: its present value; its steps to the next tile, from the end of a row of tiles to the first tile
/// of the next, and to the next iteration of each loop.
const SLOT: usize = 3 + LOOPS;

const fn slot_at(slot: usize) -> i32 {
    at::SLOTS + (8 * SLOT * slot) as i32
}

const TILE_STEP: i32 = 8;
const ROW_STEP: i32 = 16;
const fn iteration_step(depth: usize) -> i32 {
    24 + 8 * depth as i32
}

/// The instructions of a block in groups: those with mask registers are emitted unit by unit, others instruction by instruction.
type Lines = Vec<Vec<Lir>>;

/// Whether some instructions of a group use mask registers.
fn use_masks(group: &[Lir]) -> bool {
    group.iter().any(Lir::uses_masks)
}

/// A program for streams, with its instructions chosen.
pub struct Chosen {
    target: X86Target,
    /// The program.
    pub prepared: Prepared,
    items: Vec<Item>,
    /// The variables that are live at the start.
    live_in: Vec<Var>,
    /// The vectors of variables, which come first.
    vars: Vec<Option<Vector>>,
    /// Their number.
    used: usize,
    lines: Vec<Lines>,
    loads: Vec<Load>,
    ranges: Ranges,
    vectors: usize,
    /// The variables that are not 0 at the start, with their values.
    starts: Vec<(Var, Linear)>,
    geometry: Geometry,
    /// The dependence of each vector on row and column.
    varies: Vec<Varies>,
    lives: Lives,
}

/// A channel of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Load {
    fetch: Fetch,
    /// The number of the fetch in the program.
    number: usize,
    channel: u8,
}

/// The instances of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Varies {
    rows: bool,
    columns: bool,
}

impl Varies {
    const ALL: Self = Self { rows: true, columns: true };

    const fn with(self, other: Self) -> Self {
        Self { rows: self.rows || other.rows, columns: self.columns || other.columns }
    }
}

/// The location of an instance of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    Register(u8),
    Row(i32),
    /// In memory that the program reads: this load.
    Load(u16),
    /// In the constants: the number of the program that points there, and a dword.
    Constant(u16, u16),
    Nowhere,
}

impl Chosen {
    /// Chooses instructions. `starts`: values of variables that are live at the start and not 0.
    pub fn new(
        target: X86Target,
        prepared: Prepared,
        items: Vec<Item>,
        live: &[VarSet],
        starts: &[(Var, Linear)],
        geometry: Geometry,
    ) -> Self {
        let code = &prepared.code;
        let start_vars: Vec<Var> = starts.iter().map(|s| s.0).collect();
        let masked::SelectedCode { lists, vars, used, vectors, .. } =
            masked::SelectedCode::of_stream(code, &start_vars, target.target);
        let mut loads = Vec::new();
        let mut number = 0;
        let blocks = lists.iter().zip(&prepared.fetches);
        let lines: Vec<Lines> =
            blocks.map(|(list, fetches)| in_order(list, fetches, &mut number, used.len(), &mut loads)).collect();
        let lists: Vec<Vec<Ins>> =
            lines.iter().map(|of| of.iter().flatten().map(|&lir| Ins::Lir(lir)).collect()).collect();
        let exports: Vec<usize> = (0..32).filter(|output| prepared.outputs >> output & 1 == 1).collect();
        let ranges = masked::ranges(code, &lists, live, &used, &exports, vectors);
        let live_in = used.iter().copied().filter(|&var| live[0].contains(var)).collect();
        let mut chosen = Self {
            target,
            prepared,
            items,
            live_in,
            vars,
            used: used.len(),
            lines,
            loads,
            ranges,
            vectors,
            starts: starts.to_vec(),
            geometry,
            varies: Vec::new(),
            lives: Lives::default(),
        };
        chosen.varies = chosen.varies();
        chosen.lives = chosen.lives();
        chosen
    }

    /// Dwords of constants that it may read, counted from the first.
    fn constants(&self) -> usize {
        let ops = self.prepared.code.blocks.iter().flat_map(|block| &block.ops);
        let last = |op: &Op| match *op {
            Op::Uniform(index) => usize::from(index) + 1,
            Op::GetRelative { file: File::Constants(first, count), .. } => {
                4 * (usize::from(first) + usize::from(count))
            }
            _ => 0,
        };
        ops.map(last).max().unwrap_or(0)
    }

    /// The address of the constants that a number of the program points to.
    fn relative_constants(&self, number: u16) -> Slot {
        let Number { depth, first, step } = self.prepared.numbers[usize::from(number)];
        let mut x = Linear { c: first.into(), ..Linear::default() };
        x.iterations[usize::from(depth)] = step.into();
        Slot { base: Base::Constants, x, y: Linear::default() }
    }

    /// The code for these options; `None` when memory cannot be made executable, or the program is too large.
    pub fn compile(&self, options: Options) -> Option<Kernel> {
        let tile = options.tile;
        let instances = self.instances(tile);
        // Results without a register may need all scratch registers.
        let least = self.target.all_registers - SCRATCH;
        let (registers, count) = [(self.register_count(), 0), (least, u64::MAX)]
            .into_iter()
            .find_map(|(count, most)| Some((self.registers(&instances, count, most)?, count)))?;
        let mut emit = Emit::new(self, options);
        emit.collect_slots();
        emit.lay_out(&registers, count);
        if emit.layout.size > 1 << 19 {
            return None;
        }
        emit.everything();
        Some(Kernel {
            target: self.target,
            text: executable(&emit.asm.finish())?,
            columns: self.columns() * u32::from(tile.vectors),
            options,
            constants: self.constants(),
            geometry: self.geometry,
            fetches: self.loads.iter().map(|load| load.fetch).collect(),
            slots: emit.slots,
            layout: emit.layout,
            packed: self.prepared.packed,
            transposed: emit.transposed,
            copies: self.copies(),
        })
    }
}

/// The instructions of a block, each load right before its first use; instructions for rare lanes stay in line, under a
/// branch.
fn in_order(list: &[Ins], fetches: &[Fetch], number: &mut usize, vars: usize, loads: &mut Vec<Load>) -> Lines {
    let mut fetches = fetches.iter();
    let mut current = None;
    let mut new = Lines::default();
    // Loads without a use so far.
    let mut waiting: Vec<(Vector, usize)> = Vec::new();
    // The vectors that are numbers.
    let mut numbers: Vec<(Vector, u16)> = Vec::new();
    let mut body: Vec<Lir> = Vec::new();
    for ins in list.iter().chain([&Ins::Split]) {
        if let Ins::Split | Ins::BeginRare(_) | Ins::EndRare = ins {
            let mut reads: Vec<Vector> = Vec::new();
            body.iter().for_each(|lir| lir.each_read(|vector| reads.push(vector)));
            flush(&mut new, &mut waiting, loads, &reads);
            append(&mut new, &mut body);
        }
        match *ins {
            Ins::Call(..) => {
                current = fetches.next().copied();
                *number += 1;
            }
            Ins::Lir(Lir::Copy(dst, Src::Row(channel))) => {
                let Some(fetch) = current else { continue };
                loads.push(Load { fetch, number: *number, channel: channel as u8 });
                waiting.push((dst, loads.len() - 1));
                if dst.index() < vars {
                    // Such an operation may read or change a variable that it does not name.
                    flush(&mut new, &mut waiting, loads, &[dst]);
                }
            }
            Ins::Lir(lir) => body.push(lir),
            Ins::Set { dst, src, .. } => body.push(Lir::Copy(dst, src)),
            Ins::Number(dst, m) => numbers.push((dst, m.0)),
            Ins::GetRelative { dst, from: Indexed::Constants { first, .. }, base, index: Src::Vector(index) } => {
                let of = numbers.iter().find(|(vector, _)| *vector == index).map_or(0, |(_, number)| *number);
                body.push(Lir::ConstRelative { number: of, dword: (first + 4 * u32::from(base)) as u16, dst });
            }
            Ins::BeginRare(check) => body.extend([check, Lir::StopIfNone(1)]),
            Ins::Split | Ins::EndRare => {}
            _ => debug_assert!(false, "{ins:?} is in no stream"),
        }
    }
    new
}

/// Appends a group, unless it is empty, and empties it.
fn append(lines: &mut Lines, group: &mut Vec<Lir>) {
    if !group.is_empty() {
        lines.push(std::mem::take(group));
    }
}

/// Appends the loads of these vectors; those of one fetch that are made together are adjacent.
fn flush(lines: &mut Lines, waiting: &mut Vec<(Vector, usize)>, loads: &[Load], wanted: &[Vector]) {
    let single = |load: &Load| load.channel == WHOLE || load.fetch.is_uniform();
    let numbers: Vec<usize> =
        waiting.iter().filter(|(dst, _)| wanted.contains(dst)).map(|&(_, load)| loads[load].number).collect();
    waiting.retain(|&(dst, load)| {
        let of = &loads[load];
        let now = wanted.contains(&dst) || (!single(of) && numbers.contains(&of.number));
        if now {
            lines.push(vec![Lir::Copy(dst, Src::Row(load as i32))]);
        }
        !now
    });
}
