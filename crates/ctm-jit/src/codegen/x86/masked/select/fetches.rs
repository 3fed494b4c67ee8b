//! Fetches as instructions: lookups of plain texels, differences in quads, gradients that are set, calls.

use super::super::facts::{INT_AT_MOST, INT_EQUAL};
use super::super::ins::{Call, Ins};
use super::super::layout::{existing_lanes, gradient, lookup, table};
use super::{Plan, Select};
use crate::codegen::x86::lir::{Lir, Negated, Src, Vector};
use crate::codegen::x86::lookups::{Looked, REPEATS_BELOW};
use crate::codegen::x86::scalar::Sink;
use crate::launch::wavefronts::wave::CUBE;
use ctm_exec::float::{HALF, INFINITY, SIGN};
use ctm_exec::r700::resources::Wrap;
use ctm_ir::masked::{Fetch, M, Value};
use ctm_isa::r700::ops::TexOp;
use ctm_x86::{
    ADD, ADD_I32, AND, CMP_I32, CMP_U32, CVT_F32_I32, MAX, MIN, MIN_U32, MUL, MUL_I32, OR, PERMUTE_IN_QUAD, PSLL,
    ROUND_SCALE, SUB, SUB_I32, XOR,
};

/// Coordinates x, y, z.
const COORDINATES: usize = 3;

impl Select<'_> {
    /// A fetch.
    pub(super) fn fetch(&mut self, plan: &Plan<'_>, place: usize, number: u16, at: [Src; 4], under: M) {
        let fetch = self.code.fetches.get(usize::from(number));
        // A binding that may be missing is for the call.
        let own = fetch.filter(|fetch| !fetch.alternate()).and_then(|fetch| match fetch {
            Fetch::Texture(inst) => Some(inst.word0.op),
            _ => None,
        });
        match own {
            Some(TexOp::GetGradientsH) => self.slopes(plan, place, false, at),
            Some(TexOp::GetGradientsV) => self.slopes(plan, place, true, at),
            Some(TexOp::SetGradientsH) => self.keep(plan, place, 0, &at[..COORDINATES], under),
            Some(TexOp::SetGradientsV) => self.keep(plan, place, COORDINATES, &at[..COORDINATES], under),
            Some(TexOp::SetCubemapIndex) => self.keep(plan, place, CUBE, &at[2..COORDINATES], under),
            _ => {
                let looked = fetch.and_then(Looked::of);
                let ([u, v, ..], of) = (at, usize::from(number));
                match (self.given.plain.get(of), looked) {
                    (Some(&Some(wrap)), Some(Looked::Sample { unnormalised, offset, .. })) => {
                        return self.nearest(plan, place, of, (wrap, unnormalised, offset), [u, v], under);
                    }
                    (Some(Some(_)), Some(Looked::Load { offset })) => {
                        return self.texel(plan, place, of, offset, [u, v]);
                    }
                    _ => {}
                }
                // An input reads no more.
                let read = if let Some(Fetch::Input { .. }) = fetch { 2 } else { at.len() };
                self.call(Call::Fetch(number, looked), &at[..read], under);
            }
        }
    }

    /// Stores coordinates for later lookups, from row `first` on; the result of such a fetch is 0.
    fn keep(&mut self, plan: &Plan<'_>, place: usize, first: usize, at: &[Src], under: M) {
        for (n, &src) in at.iter().enumerate() {
            self.put(Ins::Keep { row: gradient(first + n), src, under });
        }
        let dst = self.wanted(plan, place);
        dst.into_iter().flatten().for_each(|dst| self.push(Lir::Copy(dst, Src::Literal(0))));
        self.sampled = Some((Value(place as u32), dst));
    }

    /// Nearest plain texels: as `lookups::texels` samples them.
    fn nearest(
        &mut self,
        plan: &Plan<'_>,
        place: usize,
        fetch: usize,
        (wrap, unnormalised, offset): ([Wrap; 2], [bool; 3], [f32; 3]),
        at: [Src; 2],
        under: M,
    ) {
        let literal = |x: f32| Src::Literal(x.to_bits());
        let (target, table_of) = (self.given.target, self.table_of(fetch));
        let number = |axis: usize, n: i32| {
            Src::Each(lookup(target, table_of, table::NUMBERS + table::PER_AXIS * axis as i32 + n))
        };
        let repeats = wrap.map(|wrap| matches!(wrap, Wrap::Repeat | Wrap::Mirror));
        let in_texels: [Src; 2] = std::array::from_fn(|axis| {
            let u = if unnormalised[axis] { at[axis] } else { self.two(MUL, at[axis], number(axis, 0)) };
            let u = if offset[axis] == 0.0 { u } else { self.two(ADD, u, literal(offset[axis])) };
            if repeats[axis] { self.one(ROUND_SCALE, u, Some(9)) } else { u }
        });
        if repeats != [false; 2] {
            self.leave_where_far(&in_texels, repeats, under);
        }
        let [x, y] = std::array::from_fn(|axis| {
            let [_, last, period, inverse] = [0, 1, 2, 3].map(|n| number(axis, n));
            let mut u = in_texels[axis];
            if repeats[axis] {
                let times = self.two(ADD, u, Src::Literal(HALF));
                let times = self.two(MUL, times, inverse);
                let times = self.one(ROUND_SCALE, times, Some(9));
                let repeated = self.fresh();
                self.push(Lir::Fma { negated: Negated::default(), dst: repeated, operands: [times, period, u] });
                u = Src::Vector(repeated);
            }
            if wrap[axis] == Wrap::Mirror {
                let both = self.copied(number(axis, 0));
                let both = self.two(ADD, Src::Vector(both), last);
                let image = self.two(SUB, both, u);
                u = self.two(MIN, u, image);
            }
            // NaN counts as infinite; a repeated coordinate means the first texel there.
            let u = if repeats[axis] {
                let u = self.two(MAX, u, Src::Literal(0));
                self.two(MIN, u, last)
            } else {
                let u = self.two(MIN, u, last);
                self.two(MAX, u, Src::Literal(0))
            };
            self.one(CVT_F32_I32, u, None)
        });
        let dst = self.elements(plan, place, table_of, [x, y]);
        self.sampled = Some((Value(place as u32), dst));
    }

    /// The number of a fetch among the frame's lookups.
    fn table_of(&mut self, fetch: usize) -> usize {
        self.plain.push(fetch);
        self.plain.len() - 1
    }

    /// Plain texels by integers, zeros outside.
    fn texel(&mut self, plan: &Plan<'_>, place: usize, fetch: usize, offset: [i32; 3], at: [Src; 2]) {
        let (target, table_of) = (self.given.target, self.table_of(fetch));
        let mut changed = Src::Literal(0);
        let [x, y] = std::array::from_fn(|axis| {
            let asked = match offset[axis] {
                0 => at[axis],
                offset => self.two(ADD_I32, at[axis], Src::Literal(offset.cast_unsigned())),
            };
            let kept = self.two(MIN_U32, asked, Src::Each(lookup(target, table_of, table::LAST + axis as i32)));
            let change = self.two(XOR, asked, kept);
            changed = if axis == 0 { change } else { self.two(OR, changed, change) };
            kept
        });
        let found = self.elements(plan, place, table_of, [x, y]);
        let dst = found.map(|found| found.map(|_| self.fresh()));
        self.push(Lir::Test { op: CMP_I32, how: INT_EQUAL, dst: 1, a: changed, b: Src::Literal(0), under: 0 });
        for (dst, found) in dst.into_iter().zip(found).filter_map(|(dst, found)| Some((dst?, found?))) {
            self.push(Lir::Blend { dst, k: 1, yes: Src::Vector(found), no: Src::Literal(0) });
        }
        self.sampled = Some((Value(place as u32), dst));
    }

    /// Loads the live channels of plain texels, in columns and rows that exist.
    fn elements(&mut self, plan: &Plan<'_>, place: usize, table_of: usize, [x, y]: [Src; 2]) -> [Option<Vector>; 4] {
        let row = self.two(MUL_I32, y, Src::Each(lookup(self.given.target, table_of, table::PITCH)));
        let index = self.two(ADD_I32, row, x);
        let index = self.shift(PSLL, index, 2);
        let dst = self.wanted(plan, place);
        let first = dst.into_iter().flatten().next().unwrap_or_default();
        self.put(Ins::Elements { lookup: table_of as u16, dst: first, channels: plan.of[place].elements, index });
        dst.into_iter().flatten().skip(1).for_each(|dst| self.put(Ins::Also(dst)));
        dst
    }

    /// Bails out where a floored coordinate that repeats is too large for single precision, but finite.
    fn leave_where_far(&mut self, floored: &[Src; 2], repeats: [bool; 2], under: M) {
        let near = REPEATS_BELOW.to_bits();
        // The distance above the limit as an unsigned number: a coordinate below the limit wraps to a distance
        // greater than that of infinity.
        let mut beyond = None;
        for (&u, _) in floored.iter().zip(repeats).filter(|(_, repeats)| *repeats) {
            let size = self.two(AND, u, Src::Literal(!SIGN));
            let of = self.two(SUB_I32, size, Src::Literal(near));
            beyond = Some(beyond.map_or(of, |other| self.two(MIN_U32, other, of)));
        }
        let Some(beyond) = beyond else { return };
        self.put(Ins::BeginLanes);
        self.push(Lir::Test {
            op: CMP_U32,
            how: INT_AT_MOST,
            dst: 1,
            a: beyond,
            b: Src::Literal(INFINITY - near - 1),
            under: 0,
        });
        self.put(Ins::EndLeave(under));
    }

    /// Vectors for the live elements of a fetch.
    fn wanted(&mut self, plan: &Plan<'_>, place: usize) -> [Option<Vector>; 4] {
        std::array::from_fn(|element| (plan.of[place].elements >> element & 1 == 1).then(|| self.fresh()))
    }

    /// The differences of coordinates in each quad: right from left, or upper from lower; 0 where a quad is not
    /// complete.
    fn slopes(&mut self, plan: &Plan<'_>, place: usize, vertical: bool, at: [Src; 4]) {
        let other = if vertical { 0xaa } else { 0x55 };
        let exists = self.one(PERMUTE_IN_QUAD, Src::Row(existing_lanes()), Some(other));
        let dst = self.wanted(plan, place);
        for (dst, at) in dst.into_iter().zip(at).filter_map(|(dst, at)| Some((dst?, at))) {
            let [from, to] = [0, other].map(|lane| self.one(PERMUTE_IN_QUAD, at, Some(lane)));
            let difference = self.fresh();
            self.push(Lir::Two { op: SUB, dst: difference, a: to, b: from });
            self.one_nan(difference);
            self.push(Lir::Two { op: AND, dst, a: Src::Vector(difference), b: exists });
        }
        self.sampled = Some((Value(place as u32), dst));
    }
}
