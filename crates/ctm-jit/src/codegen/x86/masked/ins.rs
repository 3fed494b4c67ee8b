//! The instructions of the back end, and the live ranges of their vectors.

use crate::codegen::x86::allocate::Ranges;
use crate::codegen::x86::fields::{CallNumber, Opcode};
use crate::codegen::x86::lir::{self, Lir, NO_SOURCE, Src, Vector};
use crate::codegen::x86::lookups::Looked;
use crate::passes::masked::VarSet;
use ctm_ir::instructions;
use ctm_ir::masked::{Code, Counter, End, M, MaskOp, Op, Var};
use ctm_ir::text::fields::{Field, YieldNumber};
use ctm_ir::text::{TextError, TextLine};
use ctm_x86::V;

/// A call of machine code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Call {
    /// A fetch: its number, and the kind of its lookup in mapped arrays.
    Fetch(u16, Option<Looked>),
    /// A memory write: its number.
    Store(u16),
    /// A pure operation.
    Pure(Op),
}

/// The file that an index selects from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Indexed {
    /// An element of `count` registers, which lie in consecutive rows: the first one's.
    Gprs { first: Vector, count: u8 },
    /// An element of `count` constants: the first one's place in the table of uniform values.
    Constants { first: u32, count: u16 },
    /// A dword of the local data share.
    Share,
}

instructions! {
    /// One instruction.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Ins is "machine instruction" {
        /// A vector instruction.
        Lir(lir: Lir) = "";
        /// The end of a sequence that stays together.
        Split = "split";
        /// The instructions up to [`Self::EndRare`] are for the lanes of a rare case: the test puts these lanes into
        /// mask 1. They are emitted out of line.
        BeginRare(test: Lir) = "begin_rare";
        /// The end of that.
        EndRare = "end_rare";
        /// Stores into a variable.
        Set { dst: Vector, src: Src, under: M } = "set";
        /// Stores the result of an operation on two operands into a variable: AVX-512; on AVX2 a sum, in the active lanes.
        SetTwo { op: V as Opcode, dst: Vector, a: Src, b: Src, under: M } = "set_two";
        /// An element of register or constant `base + index`.
        GetRelative { dst: Vector, from: Indexed, base: u8, index: Src } = "get_relative";
        /// Stores into an element of register `base + index`, if there is such a register.
        SetRelative { to: Indexed, base: u8, index: Src, value: Src, under: M } = "set_relative";
        /// A number of the wavefront's state in every lane.
        Number(dst: Vector, number: M) = "number";
        /// The next instructions leave a mask in mask register 1 for each part.
        BeginLanes = "begin_lanes";
        /// The parts make a mask.
        EndLanes(dst: M) = "end_lanes";
        /// Keeps the active lanes of the parts' mask active.
        EndKeep = "end_keep";
        /// Bails out where a lane of the parts is in this mask, too.
        EndLeave(under: M) = "end_leave";
        /// Records that an exported element was written.
        Mark(export: u16, under: M) = "mark";
        /// An operation on masks; none that reads vectors.
        Mask(op: MaskOp) = "";
        /// Adds `weight` to a counter for each lane of a mask.
        Tally { counter: Counter, weight: u32, under: M } = "tally";
        /// Bails out unless `base + number` is below a limit.
        Guard { number: M, base: u8, count: u16 } = "guard";
        /// A call for the lanes of a mask.
        Call(call: u16 as CallNumber, under: M) = "call";
        /// The wavefront yields to the others of its group, by number.
        Yield(number: u16 as YieldNumber) = "yield";
        /// Loads elements of four dwords, at this index, of the array that a lookup's numbers name: the live channels,
        /// a bit for each. The first of them becomes this vector, the others become the next ones.
        Elements { lookup: u16, dst: Vector, channels: u8, index: Src } = "elements";
        /// The instruction before makes this vector, too.
        Also(dst: Vector) = "also";
        /// Stores into a row of the frame in the lanes of a mask.
        Keep { row: i32, src: Src, under: M } = "keep";
    }
}

/// Lists of them are walked many times.
const _: () = assert!(size_of::<Ins>() <= 36);

impl Ins {
    /// Whether it concerns the wavefront as a whole.
    pub const fn is_whole(&self) -> bool {
        matches!(
            self,
            Self::SetRelative { .. } | Self::Mark(..) | Self::Mask(_) | Self::Tally { .. } | Self::Guard { .. }
        ) || matches!(self, Self::Call(..) | Self::Yield(_))
    }

    /// The mask whose lanes it concerns, or the number that it reads.
    pub const fn mask(&self) -> Option<M> {
        match *self {
            Self::Set { under: m, .. }
            | Self::SetTwo { under: m, .. }
            | Self::SetRelative { under: m, .. }
            | Self::Keep { under: m, .. }
            | Self::Mark(_, m)
            | Self::Tally { under: m, .. }
            | Self::Call(_, m)
            | Self::EndLeave(m)
            | Self::Guard { number: m, .. }
            | Self::Number(_, m) => Some(m),
            Self::EndKeep => Some(M::ACTIVE),
            _ => None,
        }
    }

    /// The mask under which it stores or bails out, part by part.
    pub const fn works_under(&self) -> Option<M> {
        match *self {
            Self::Set { under: m, .. }
            | Self::SetTwo { under: m, .. }
            | Self::Keep { under: m, .. }
            | Self::EndLeave(m) => Some(m),
            _ => None,
        }
    }

    /// The vector that it makes anew, or changes in part (`true`), and its operands.
    #[inline]
    pub fn touches(&self) -> (Option<(Vector, bool)>, [Src; 4]) {
        let none = NO_SOURCE;
        match *self {
            Self::Lir(ref lir) | Self::BeginRare(ref lir) => {
                let (written, [a, b, c]) = lir.touches();
                (written, [a, b, c, none])
            }
            Self::Set { dst, src, under } => (Some((dst, under != M::EXISTING)), [src, none, none, none]),
            Self::SetTwo { dst, a, b, .. } => (Some((dst, true)), [a, b, none, none]),
            Self::GetRelative { dst, index: at, .. } => (Some((dst, false)), [at, none, none, none]),
            Self::Keep { src: at, .. } => (None, [at, none, none, none]),
            Self::SetRelative { index, value, .. } => (None, [index, value, none, none]),
            Self::Elements { dst, channels, index, .. } => {
                ((channels != 0).then_some((dst, false)), [index, none, none, none])
            }
            Self::Number(dst, _) | Self::Also(dst) => (Some((dst, false)), [none; 4]),
            Self::Split
            | Self::EndRare
            | Self::BeginLanes
            | Self::EndLanes(_)
            | Self::EndKeep
            | Self::Mark(..)
            | Self::Mask(_)
            | Self::Tally { .. }
            | Self::Guard { .. }
            | Self::Call(..)
            | Self::EndLeave(_)
            | Self::Yield(_) => (None, [none; 4]),
        }
    }
}

/// The live ranges of vectors; those of variables (`used`) come first. Each block has two places more than
/// instructions.
pub fn ranges(
    code: &Code,
    lists: &[Vec<Ins>],
    live: &[VarSet],
    used: &[Var],
    exports: &[usize],
    made: usize,
) -> Ranges {
    let places = lists.iter().map(|list| list.len() + 2).sum::<usize>();
    let mut ranges = Ranges::empty(made, places);
    let mut ends = vec![0; made];
    let mut end = places;
    for (index, (block, list)) in code.blocks.iter().zip(lists).enumerate().rev() {
        let usual = 1 << (3 * u64::from(block.loops.min(8)));
        let mut weight = usual;
        let first = end - (list.len() + 2);
        let mut out = VarSet::NONE;
        if block.end == End::Stop {
            exports.iter().for_each(|&e| out.insert(Var::export(e / 4, e % 4)));
        }
        block.end.successors().for_each(|next| {
            out.add(&live[next]);
        });
        for (&var, of) in used.iter().zip(&mut ends) {
            *of = if out.contains(var) { end } else { 0 };
        }
        for (line, ins) in list.iter().enumerate().rev() {
            let place = first + 1 + line;
            match ins {
                Ins::EndRare => weight = 0,
                Ins::BeginRare(_) => weight = usual,
                _ => {}
            }
            let (written, sources) = ins.touches();
            if let Some((vector, partly)) = written {
                ranges.weigh(vector, weight);
                let end = std::mem::take(&mut ends[vector.index()]);
                ranges.add(vector, place, end.max(place + 1));
                if partly {
                    ends[vector.index()] = place + 1;
                }
            }
            lir::each_read(written, &sources, |vector| {
                ranges.weigh(vector, weight);
                let end = &mut ends[vector.index()];
                *end = if *end == 0 { place } else { *end };
            });
        }
        for ((&var, end), number) in used.iter().zip(&mut ends).zip(0..) {
            let end = std::mem::take(end);
            if end > 0 || live[index].contains(var) {
                ranges.add(Vector(number), first, end.max(first + 1));
            }
        }
        end = first;
    }
    ranges
}

impl Field for Indexed {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        match *self {
            Self::Gprs { first, count } => out.push_str(&format!("gprs:{}:{count}", first.0)),
            Self::Constants { first, count } => out.push_str(&format!("constants:{first}:{count}")),
            Self::Share => out.push_str("share"),
        }
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "file: `gprs:` or `constants:` with the first one, `:` and how many, or `share`";
        line.parsed(expected, |word, _| {
            let parts: Vec<&str> = word.split(':').collect();
            Some(match parts[..] {
                ["gprs", first, count] => Self::Gprs { first: Vector(first.parse().ok()?), count: count.parse().ok()? },
                ["constants", first, count] => {
                    Self::Constants { first: first.parse().ok()?, count: count.parse().ok()? }
                }
                ["share"] => Self::Share,
                _ => return None,
            })
        })
    }
}
