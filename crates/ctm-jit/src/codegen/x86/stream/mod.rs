//! Streams as machine code: tiles of a domain one after another, without masks, with loads and stores in the code itself.
//!
//! A *tile* is `rows` x `vectors` vectors, each as long as a register. In the plain form a vector holds 16 processors of a row (8 on AVX2), in
//! the packed form four (two) with their four channels. A vector of the program that does not depend on the row, or not on the column, exists once for all rows or all columns; so
//! what processors share is fetched once.
//!
//! Addresses are *slots*: a pointer that takes a fixed step from tile to tile, from row to row of tiles, and from iteration to iteration of each loop.
//! [`Kernel::slots`] says what they are; whoever runs a kernel fills in where they begin and what the steps are. Slots live in general
//! registers as far as there are any. *Careful* kernels compute clamped coordinates for each lane instead and gather.
//!
//! | register | holds |
//! |---|---|
//! | rbx | the frame |
//! | rbp | the floating-point constants |
//! | rax | scratch |
//! | others | iterations of loops, slots |
//! | the last vector registers | scratch ([`Isa`]), but the third only where masks, gathers or transpositions want it |
//!
//! | file | what |
//! |---|---|
//! | `tiles` | how large tiles are, and which vectors have registers |
//! | `emit` | the code as a whole |
//! | `order` | the instructions of two iterations side by side |
//! | `slots`, `lines`, `memory` | addresses; single instructions; loads and stores of vectors |
//! | `run` | calls |

pub use super::Frame;
use super::executable;
use super::isa::Isa;
use super::lir::{Group, Lines, Lir, Src, Vars, Vector};
use super::select::{Facts, Select};
use crate::codegen::x86::allocate::{Given, Lives, Ranges};
use crate::ir::x1k::{BlockId, Op, Var};
use crate::launch::lanes::ENTRY;
use crate::passes::x1k::{Liveness, VarSet};
use crate::stream::affine::{Around, Fetch, Item, LOOPS, Linear, blocks};
use crate::stream::prepare::{Prepared, WHOLE};
use emit::Emit;
use memmap2::Mmap;
pub use run::{InputView, OutputView, Rect, Surfaces, columns_inside, rows_inside};
pub use tiles::columns;

mod emit;
mod lines;
mod memory;
mod order;
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
    /// The host's MXCSR.
    pub const HOST_MXCSR: i32 = 20;
    /// Ours.
    pub const MXCSR: i32 = 24;
    /// Iterations that are left, of loops without a register.
    pub const TURNS: i32 = 32;
    /// Base addresses, widths and heights less one, and pitches of inputs: 32 bytes each.
    pub const INPUTS: i32 = 64;
    /// Where slots begin.
    pub const SLOTS: i32 = INPUTS + 32 * ctm_isa::x1k::INPUTS as i32;
}

/// How a tile looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows.
    pub rows: u8,
    /// Vectors side by side.
    pub vectors: u8,
}

impl Tile {
    /// The same rows of one line of a cache or so, for what is left at edges.
    pub fn narrow(self, isa: Isa) -> Self {
        let vectors = match isa {
            Isa::Avx512 => 1,
            Isa::Avx2 => 2,
        };
        Self { vectors: self.vectors.min(vectors), ..self }
    }
}

/// What a kernel is made for, beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// The tile.
    pub tile: Tile,
    /// Coordinates are clamped, lane by lane.
    pub careful: bool,
    /// Outputs pass the caches by; every store is aligned.
    pub past_caches: bool,
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The address of the element of an input at these coordinates.
    Input {
        /// Which input.
        input: u8,
        /// The column, its constant part apart, which the code adds.
        x: Linear,
        /// The row.
        y: Linear,
    },
    /// The address of an element of an output.
    Output(u8),
    /// The address of floating-point constant aL.
    Constants {
        /// Which loop around, outermost first.
        depth: u8,
        /// aL in its first iteration.
        first: u8,
        /// What each iteration adds.
        step: i8,
    },
    /// A coordinate.
    Coordinate(Linear),
}

/// A number that moves in fixed steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// What it is.
    pub kind: Kind,
    /// The row of the tile that it belongs to.
    pub row: u8,
}

/// Where a slot begins, and its steps, in bytes or elements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    /// At the first tile.
    pub first: i64,
    /// To the next tile.
    pub tile: i64,
    /// From behind the last tile of a row to the first of the next row of tiles.
    pub row: i64,
    /// To the next iteration of each loop.
    pub iterations: [i64; LOOPS],
}

/// A start value that the program computes with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    var: Var,
    /// Its value.
    pub value: Linear,
}

/// What a kernel needs to know of surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels of each input's elements.
    pub inputs: [u8; ctm_isa::x1k::INPUTS],
    /// Channels of each output's elements; 0: it is dropped.
    pub outputs: [u8; ctm_isa::x1k::OUTPUTS],
}

/// Machine code for tiles.
pub struct Kernel {
    isa: Isa,
    text: Mmap,
    /// How many columns a tile has.
    pub columns: u32,
    /// What it was made for.
    pub options: Options,
    /// Dwords of constants that it may read.
    constants: usize,
    /// Its slots.
    pub slots: Vec<Slot>,
    geometry: Geometry,
    fetches: Vec<Fetch>,
    layout: Layout,
    starts: Vec<Start>,
    packed: bool,
    transposed: bool,
}

#[cfg(test)]
impl Kernel {
    /// The code.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

/// Where things lie in the frame, behind the slots.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    /// Rows of permutations.
    tables: i32,
    /// Masks 2 and 3, on AVX2.
    masks: i32,
    /// Column of each lane, as integers; one row for each vector side by side.
    lanes: i32,
    /// Start values: rows now, then what a tile adds, then what a row of tiles adds.
    starts: i32,
    /// Vectors without a register.
    spills: i32,
    size: i32,
}

/// Eight bytes of a slot, and of each of its steps.
const fn slot_bytes() -> i32 {
    // Now, tile, row, iterations.
    8 * (3 + LOOPS as i32)
}

const fn slot_at(slot: usize) -> i32 {
    at::SLOTS + slot as i32 * slot_bytes()
}

const TILE_STEP: i32 = 8;
const ROW_STEP: i32 = 16;
const fn iteration_step(depth: usize) -> i32 {
    24 + 8 * depth as i32
}

/// A program for streams, with its instructions chosen.
pub struct Chosen {
    isa: Isa,
    /// The program.
    pub prepared: Prepared,
    items: Vec<Item>,
    /// The variables that are live at the start.
    live_in: VarSet,
    vars: Vars,
    lines: Vec<Lines>,
    loads: Vec<Load>,
    ranges: Ranges,
    vectors: usize,
    starts: Vec<Start>,
    geometry: Geometry,
    /// The loops around each block.
    around: Vec<Vec<Around>>,
    /// On what each vector depends.
    varies: Vec<Varies>,
    /// The same as a number.
    classes: Vec<u8>,
    lives: Lives,
    /// The registers of the full tile.
    full: Option<(Tile, Given)>,
}

/// A channel of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Load {
    fetch: Fetch,
    /// Which fetch of the program.
    number: usize,
    channel: u8,
}

/// Which instances a vector has.
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

/// Where an instance of a vector lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    Register(u8),
    Row(i32),
    /// In memory that the program reads: this load.
    Load(u16),
    /// The relative constant of this line is read where it lies.
    Constant {
        slot: usize,
        offset: i32,
    },
    Nowhere,
}

/// How the lanes of a load are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One element for all columns.
    Uniform,
    /// Elements side by side.
    Contiguous,
    Gather,
}

impl Chosen {
    /// Chooses instructions. `starts`: values of variables that are live at the start and not 0. `joined`: loops may have two iterations in one.
    pub fn new(
        isa: Isa,
        prepared: Prepared,
        items: Vec<Item>,
        live: &Liveness,
        starts: &[(Var, Linear)],
        geometry: Geometry,
        joined: bool,
    ) -> Option<Self> {
        let code = &prepared.code;
        let mut used = VarSet::default();
        for (index, block) in code.blocks.iter().enumerate() {
            used.add(&live.at(BlockId(index as u16)));
            for op in &block.ops {
                if let Op::Set(var, ..) | Op::Get(var) = op {
                    used.insert(*var);
                }
            }
        }
        let vars = Vars::new(used.iter().collect());
        let start_vars: Vec<Var> = starts.iter().map(|s| s.0).collect();
        let facts = Facts::of(code, &start_vars);
        let mut select = Select::new(isa, &vars, &facts);
        let mut lines: Vec<Lines> = (0..).zip(&code.blocks).map(|(n, block)| select.block(n, block)).collect();
        let mut vectors = select.vectors as usize;
        let mut loads = Vec::new();
        let mut number = 0;
        for (lines, fetches) in lines.iter_mut().zip(&prepared.fetches) {
            let first = number;
            *lines = reorder(lines, fetches, &mut number, vars.used.len(), &mut loads);
            if joined && !fetches.is_empty() {
                // The second iteration's fetches come behind the first one's.
                let second = |load: &Load| 2 * (load.number - first) > number - first + 1;
                *lines = order::by_readiness(lines, vars.used.len(), &mut vectors, &loads, second);
            }
        }
        let ranges = Ranges::of(code, &lines, live, &vars, vectors);
        let starts = starts.iter().map(|&(var, value)| Start { var, value }).collect();
        let mut around = vec![Vec::new(); code.blocks.len()];
        blocks(&items).into_iter().for_each(|(block, loops)| around[block] = loops);
        let mut chosen = Self {
            isa,
            prepared,
            items,
            live_in: live.at(ENTRY),
            vars,
            lines,
            loads,
            ranges,
            vectors,
            starts,
            geometry,
            around,
            varies: Vec::new(),
            classes: Vec::new(),
            lives: Lives::default(),
            full: None,
        };
        if !chosen.constants_exist() {
            return None;
        }
        chosen.varies = chosen.varies();
        chosen.classes = chosen.varies.iter().map(|of| u8::from(of.rows) | u8::from(of.columns) << 1).collect();
        chosen.lives = chosen.lives();
        Some(chosen)
    }

    /// Dwords of constants that it may read, counted from the first; relative ones are X1K's.
    fn constants(&self) -> usize {
        let ops = self.prepared.code.blocks.iter().flat_map(|block| &block.ops);
        let last = |op: &Op| match *op {
            Op::Const(index) => usize::from(index) + 1,
            Op::GetRelative { .. } => 4 * ctm_isa::x1k::FLOAT_CONSTANTS,
            _ => 0,
        };
        ops.map(last).max().unwrap_or(0)
    }

    /// The constants that a loop's variable points to.
    fn relative_constants(&self, block: usize, frame: u8) -> Kind {
        let (first, step) = self.around[block].get(usize::from(frame)).and_then(|around| around.1).unwrap_or((0, 0));
        Kind::Constants { depth: frame, first, step }
    }

    /// Whether all relative constants are constants.
    fn constants_exist(&self) -> bool {
        let exists = |index: i32| (0..ctm_isa::x1k::FLOAT_CONSTANTS as i32).contains(&index);
        self.lines.iter().zip(&self.around).all(|(lines, around)| {
            lines.lir.iter().all(|lir| match *lir {
                Lir::ConstRelative { frame: None, base, .. } => exists(base.into()),
                Lir::ConstRelative { frame: Some(frame), base, .. } => match around.get(usize::from(frame)) {
                    Some(&(iterations, Some((first, step)))) => {
                        let at = |iteration: i32| i32::from(base) + i32::from(first) + i32::from(step) * iteration;
                        exists(at(0)) && exists(at(i32::from(iterations) - 1))
                    }
                    _ => false,
                },
                _ => true,
            })
        })
    }

    /// The code for these options; `None` when memory cannot be made executable, or the program is too large.
    pub fn compile(&self, options: Options) -> Option<Kernel> {
        let tile = options.tile;
        let mut count = self.register_count(options.careful);
        let made;
        let mut registers = match &self.full {
            Some((full, registers)) if *full == tile && !options.careful => registers,
            _ => {
                made = self.registers(&self.instances(tile, options.careful), count, u64::MAX)?;
                &made
            }
        };
        let again;
        if registers.left > 0 && count != self.isa.all_registers() - 3 {
            // Results without a register may need all scratch registers.
            count = self.isa.all_registers() - 3;
            again = self.registers(&self.instances(tile, options.careful), count, u64::MAX)?;
            registers = &again;
        }
        let mut emit = Emit::new(self, options);
        emit.collect_slots();
        emit.lay_out(registers, count);
        if emit.layout.size > 1 << 19 {
            return None;
        }
        emit.everything();
        Some(Kernel {
            isa: self.isa,
            text: executable(&emit.asm.finish())?,
            columns: self.columns() * u32::from(tile.vectors),
            options,
            constants: self.constants(),
            geometry: self.geometry,
            fetches: self.loads.iter().map(|load| load.fetch).collect(),
            slots: emit.slots,
            layout: emit.layout,
            starts: self.starts.clone(),
            packed: self.prepared.packed,
            transposed: emit.transposed,
        })
    }
}

/// The lines of a block without what streams do not need, each load right before its first use.
fn reorder(lines: &Lines, fetches: &[Fetch], number: &mut usize, vars: usize, loads: &mut Vec<Load>) -> Lines {
    let mut fetches = fetches.iter();
    let mut current = None;
    let mut new = Lines::default();
    // Loads that nobody has used yet.
    let mut waiting: Vec<(Vector, usize)> = Vec::new();
    for group in &lines.groups {
        let mut body = Vec::new();
        for lir in &lines.lir[group.first..group.end] {
            match *lir {
                Lir::Fetch(..) => {
                    current = fetches.next().copied();
                    *number += 1;
                }
                Lir::Copy(dst, Src::Row(offset)) => {
                    let Some(fetch) = current else { continue };
                    loads.push(Load { fetch, number: *number, channel: (offset / 64) as u8 });
                    waiting.push((dst, loads.len() - 1));
                    if dst.index() < vars {
                        // A variable may be read, or changed, by what does not say so here.
                        flush(&mut new, &mut waiting, loads, &[dst]);
                    }
                }
                lir => body.push(lir),
            }
        }
        let reads: Vec<Vector> = body.iter().flat_map(Lir::reads).collect();
        flush(&mut new, &mut waiting, loads, &reads);
        let masks = body.iter().any(Lir::uses_masks);
        append(&mut new, &body, masks);
    }
    new
}

fn append(lines: &mut Lines, body: &[Lir], masks: bool) {
    if !body.is_empty() {
        let first = lines.lir.len();
        lines.lir.extend_from_slice(body);
        lines.groups.push(Group { first, end: lines.lir.len(), masks });
    }
}

/// Appends the loads of these vectors; those of one fetch that are made together come together.
fn flush(lines: &mut Lines, waiting: &mut Vec<(Vector, usize)>, loads: &[Load], wanted: &[Vector]) {
    let single = |load: &Load| load.channel == WHOLE || (load.fetch.x.i == 0 && load.fetch.y.i == 0);
    let numbers: Vec<usize> =
        waiting.iter().filter(|(dst, _)| wanted.contains(dst)).map(|&(_, load)| loads[load].number).collect();
    waiting.retain(|&(dst, load)| {
        let of = &loads[load];
        let now = wanted.contains(&dst) || (!single(of) && numbers.contains(&of.number));
        if now {
            append(lines, &[Lir::Copy(dst, Src::Row(load as i32))], false);
        }
        !now
    });
}
