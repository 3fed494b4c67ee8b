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
//! | `types` | programs, tiles, addresses, kernels |
//! | `tiles` | the size of tiles, and the vectors with registers |
//! | `emit` | the code as a whole |
//! | `slots`, `lines`, `memory` | addresses; single instructions; loads and stores of vectors |
//! | `allocated` | registers for tiles of one shape, their text and rules |
//! | `copies` | programs that only move elements |
//! | `run`, `panels` | calls; the memory that they read and write |

pub use super::Frame;
use super::isa::X86Target;
use super::lir::{Lir, Src, Vector};
use super::masked::{self, Indexed, Ins, SelectedCode};
pub use super::transfer::PanelPart;
use crate::codegen::x86::allocate::Lives;
use crate::passes::masked::VarSet;
use crate::stream::affine::{Fetch, Item, Linear};
use crate::stream::prepare::{Prepared, WHOLE};
use crate::stream::uniform::Number;
use ctm_ir::masked::{Op, RegisterFile, Var};
pub use panels::is_local;
pub use run::{InputView, OutputView, Rect, Surfaces};
use types::{Base, Lines, Load, Slot};
pub use types::{Chosen, Geometry, Kernel, KernelOptions, Tile};

mod allocated;
mod copies;
pub(in crate::codegen) mod emit;
mod lines;
mod memory;
mod panels;
mod run;
mod slots;
mod tiles;
pub(in crate::codegen) mod types;

impl Chosen {
    /// Puts instructions in order. `starts`: values of variables that are live at the start and not 0.
    pub fn new(
        target: X86Target,
        prepared: Prepared,
        mut selected: SelectedCode,
        items: Vec<Item>,
        live: &[VarSet],
        starts: &[(Var, Linear)],
        geometry: Geometry,
    ) -> Self {
        let code = &prepared.code;
        let mut loads = Vec::new();
        let mut number = 0;
        let SelectedCode { lists, used, vectors, .. } = &selected;
        let blocks = lists.iter().zip(&prepared.fetches);
        let lines: Vec<Lines> =
            blocks.map(|(list, fetches)| in_order(list, fetches, &mut number, used.len(), &mut loads)).collect();
        let lists: Vec<Vec<Ins>> =
            lines.iter().map(|of| of.iter().flatten().map(|&lir| Ins::Lir(lir)).collect()).collect();
        let exports: Vec<usize> = (0..32).filter(|output| prepared.outputs >> output & 1 == 1).collect();
        let ranges = masked::ranges(code, &lists, live, used, &exports, *vectors);
        let live_in = used.iter().copied().filter(|&var| live[0].contains(var)).collect();
        selected.lists = lists;
        let mut chosen = Self {
            target,
            prepared,
            items,
            live_in,
            selected,
            lines,
            loads,
            ranges,
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
            Op::GetRelative { file: RegisterFile::Constants(first, count), .. } => {
                4 * (usize::from(first) + usize::from(count))
            }
            _ => 0,
        };
        ops.map(last).max().unwrap_or(0)
    }

    /// The address of the constants that a number of the program points to.
    pub(in crate::codegen) fn relative_constants(&self, number: u16) -> Slot {
        let Number { depth, first, step } = self.prepared.numbers[usize::from(number)];
        let mut x = Linear { c: first.into(), ..Linear::default() };
        x.iterations[usize::from(depth)] = step.into();
        Slot { base: Base::Constants, x, y: Linear::default() }
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
            Ins::Number(dst, m) => numbers.push((dst, m.entry() as u16)),
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
