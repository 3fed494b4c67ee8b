//! From coordinates to elements of arrays.

use super::{Lanes, Looked};
use crate::launch::wavefronts::bindings::{BYTES, Texels, folds};
use ctm_exec::float::{HALF, INFINITY, NAN, ONE, SIGN};
use ctm_exec::r700::resources::{NumberConstants, Wrap};
use ctm_exec::x1k::Form;
use ctm_x86::simd::{Array, Simd, Whole, WholeBytes, each};

/// Floored coordinates of at most this magnitude repeat in single precision: see [`Lanes::wrapped`].
pub const REPEATS_BELOW: f32 = (1 << 21) as f32;

/// One axis of an array, in numbers.
#[derive(Clone, Copy)]
pub(super) struct Axis<V> {
    pub wrap: Wrap,
    /// It repeats, and its size is a power of two: a mask of the integer wraps it.
    pub folds: bool,
    /// Columns, rows or slices.
    pub size: V,
    /// The last one.
    pub last: V,
    /// The negated period, and 1 over it, if they repeat.
    pub period: V,
    pub inverse: V,
}

/// An array of texels, row by row.
#[derive(Clone, Copy)]
pub(super) struct LookupArray<'a> {
    pub array: Array<'a>,
    /// Texels are four bytes ([`BYTES`]), not four dwords.
    pub are_bytes: bool,
    /// Texels are one dword: the elements that are not it ([`TexelForm::Number`](crate::launch::wavefronts::bindings::TexelForm::Number)).
    pub constants: Option<NumberConstants>,
}

/// 1 / 255 and the rest of it: a byte's product with both, rounded once after their sum, is the byte divided by 255.
const PART_OF_255: [f32; 2] = [1.0 / 255.0, (1.0 / 255.0 - (1.0f32 / 255.0) as f64) as f32];

/// An array, with the values that all lanes share.
pub(super) struct TexelArray<'a, S: Simd> {
    texels: &'a Texels<'a>,
    of: LookupArray<'a>,
    axes: [Axis<S::V>; 2],
}

impl<'a, S: Simd> TexelArray<'a, S> {
    #[inline(always)]
    pub fn new(s: S, texels: &'a Texels<'a>) -> Self {
        let (sizes, numbers) = ([texels.width, texels.height], texels.numbers());
        let axes = each!(2, axis => {
            let [size, last, period, inverse] = each!(4, n => s.splat(numbers[axis][n].to_bits()));
            let wrap = texels.wrap[axis];
            Axis { wrap, folds: folds(sizes[axis], wrap), size, last, period, inverse }
        });
        let of = LookupArray { array: Array::of(texels.bytes()), are_bytes: texels.form == BYTES, constants: None };
        Self { texels, of, axes }
    }
}

impl<S: Simd> Lanes<'_, S> {
    /// A number in all lanes.
    #[inline(always)]
    pub(super) fn number(&self, x: f32) -> S::V {
        self.s.splat(x.to_bits())
    }

    /// The canonical NaN for all of them.
    #[inline(always)]
    pub(super) fn one_nan(&self, a: S::V) -> S::V {
        self.s.select(self.s.equal(a, a), a, self.s.splat(NAN))
    }

    /// `a + weight * (b - a)`.
    #[inline(always)]
    pub(super) fn mix(&self, a: S::V, b: S::V, weight: S::V) -> S::V {
        self.s.fma(self.s.sub(b, a), weight, a)
    }

    /// A coordinate's floor, the next integer, and the weight of that one, 0 at infinity.
    #[inline(always)]
    pub(super) fn split(&self, u: S::V) -> ([S::V; 2], S::V) {
        let s = self.s;
        let low = s.floor(u);
        ([low, s.add(low, s.splat(ONE))], s.max(s.sub(u, low), s.splat(0)))
    }

    /// A coordinate as the number of a column, row or slice that exists, and the lanes beyond a border. NaN counts as
    /// infinite.
    ///
    /// The quotient by the period of a repeated coordinate gets a half added: it is then at least half of 1 / period
    /// away from each integer. The two roundings of the quotient move it by less than that below [`REPEATS_BELOW`]; so
    /// its floor is exact, and the fused sum is, too.
    #[inline(always)]
    pub(super) fn wrapped(&mut self, u: S::V, axis: &Axis<S::V>) -> (S::V, S::M) {
        let s = self.s;
        let floored = s.floor(u);
        let mut at = floored;
        if axis.folds {
            self.note_far(floored);
            return (self.folded(floored, axis), s.mask(0));
        }
        if let Wrap::Repeat | Wrap::Mirror = axis.wrap {
            self.note_far(floored);
            let times = s.floor(s.mul(s.add(floored, s.splat(HALF)), axis.inverse));
            at = s.fma(times, axis.period, floored);
            if axis.wrap == Wrap::Mirror {
                // The sum of a column and its mirror image.
                at = s.min(at, s.sub(s.add(axis.size, axis.last), at));
            }
        }
        // NaN counts as infinite; a repeated coordinate means the first texel there.
        let inside = match axis.wrap {
            Wrap::Repeat | Wrap::Mirror => s.min(s.max(at, s.splat(0)), axis.last),
            Wrap::Clamp | Wrap::Border => s.max(s.min(at, axis.last), s.splat(0)),
        };
        let beyond = if axis.wrap == Wrap::Border { s.not(s.equal(floored, inside)) } else { s.mask(0) };
        (s.to_int(inside), beyond)
    }

    /// Two floored coordinates, one more than the other, as [`Lanes::wrapped`].
    #[inline(always)]
    pub(super) fn neighbours(&mut self, [low, high]: [S::V; 2], axis: &Axis<S::V>) -> [(S::V, S::M); 2] {
        if axis.folds {
            // A step further than the bound is exact, too.
            self.note_far(low);
            let none = self.s.mask(0);
            return [(self.folded(low, axis), none), (self.folded(high, axis), none)];
        }
        [self.wrapped(low, axis), self.wrapped(high, axis)]
    }

    /// Notes lanes in which a repeated coordinate is finite and too large.
    #[inline(always)]
    fn note_far(&mut self, floored: S::V) {
        let s = self.s;
        let size = s.and(floored, s.splat(!SIGN));
        let far = s.both(s.less(size, s.splat(INFINITY)), s.not(s.less(size, self.number(REPEATS_BELOW))));
        self.large = s.either(self.large, far);
    }

    /// A floored coordinate modulo a power of two. Those without an integer become the lowest one, whose remainder is 0.
    #[inline(always)]
    fn folded(&self, floored: S::V, axis: &Axis<S::V>) -> S::V {
        self.s.and(self.s.to_int(floored), self.s.to_int(axis.last))
    }

    /// Whether all lanes have the same bits.
    #[inline(always)]
    pub(super) fn are_same(&self, a: S::V) -> bool {
        self.s.bits(self.s.not(self.s.equal_bits(a, self.s.splat(self.s.first_lane(a))))) == 0
    }

    /// The dwords at an index, which lanes may share, too.
    #[inline(always)]
    pub(super) fn dwords<const BYTES: i32>(&self, array: Array<'_>, index: S::V) -> S::V {
        if self.are_same(index) {
            return self.s.splat(array.dword::<BYTES>(self.s.first_lane(index)));
        }
        self.s.gather::<BYTES>(array, index)
    }

    /// Whether each lane of one index is the next one of another.
    #[inline(always)]
    fn are_beside(&self, a: S::V, b: S::V) -> bool {
        self.s.bits(self.s.not(self.s.equal_bits(self.s.add_int(a, self.s.splat(1)), b))) == 0
    }

    /// The fractions of 255 of bytes, which lanes hold as integers.
    #[inline(always)]
    fn fractions(&self, bytes: S::V) -> S::V {
        let (s, [part, rest]) = (self.s, PART_OF_255);
        let whole = s.of_int(bytes);
        s.fma(whole, self.number(part), s.mul(whole, self.number(rest)))
    }

    /// A texel in each quarter.
    #[inline(always)]
    fn repeated(&self, of: LookupArray<'_>, index: u32) -> S::V {
        if of.are_bytes {
            return self.fractions(self.s.repeated_bytes(of.array, index));
        }
        self.s.repeated(of.array, index)
    }

    /// Texels, channel by channel. Lanes read the same one where a picture is enlarged.
    #[inline(always)]
    pub(super) fn whole(&self, of: LookupArray<'_>, index: S::V) -> [S::V; 4] {
        let s = self.s;
        if let Some(constants) = of.constants {
            let number = self.dwords::<4>(of.array, index);
            return each!(4, n => constants[n].map_or(number, |bits| s.splat(bits)));
        }
        if self.are_same(index) {
            let same = self.repeated(of, s.first_lane(index));
            return each!(4, channel => s.quad_lane(same, channel as u8));
        }
        let mut memory = [0; 16];
        if of.are_bytes {
            let texels = &WholeBytes::new(s, of.array, index, &mut memory);
            let found = self.channels(each!(4, place => s.quarters_of_bytes(texels, place)));
            return each!(4, channel => self.fractions(found[channel]));
        }
        let texels = &Whole::new(s, of.array, index, &mut memory);
        self.channels(each!(4, place => s.quarters(texels, place)))
    }

    /// The channels of elements that lie side by side, given the lanes' elements at each place of the quarters.
    #[inline(always)]
    fn channels(&self, [a, b, c, d]: [S::V; 4]) -> [S::V; 4] {
        let s = self.s;
        let ([ab, cd], [ab_high, cd_high]) = ([s.low(a, b), s.low(c, d)], [s.high(a, b), s.high(c, d)]);
        [s.first(ab, cd), s.second(ab, cd), s.first(ab_high, cd_high), s.second(ab_high, cd_high)]
    }

    /// The texels of four corners, weighed along x, then along y, in their order in memory: so channels are taken
    /// apart once. Lanes read the same ones where a picture is enlarged.
    #[inline(always)]
    pub(super) fn weighed(&self, of: LookupArray<'_>, corners: [S::V; 4], [across, down]: [S::V; 2]) -> [S::V; 4] {
        let s = self.s;
        if let Some(constants) = of.constants {
            let numbers = each!(4, n => self.dwords::<4>(of.array, corners[n]));
            let number = self.weighed_once(numbers, across, down);
            // Constants are weighed, too, as the reference does.
            return each!(4, n => {
                constants[n].map_or(number, |bits| self.weighed_once([s.splat(bits); 4], across, down))
            });
        }
        let [mut first, mut second, mut third, mut fourth] = [[0; 16]; 4];
        // Where the first and the last one are the same for all lanes, so are the others.
        let sums = if self.are_same(corners[0]) && self.are_same(corners[3]) {
            let at = each!(4, n => self.repeated(of, s.first_lane(corners[n])));
            each!(4, place => self.weighed_at(place, at, across, down))
        } else if self.are_beside(corners[0], corners[1]) && self.are_beside(corners[2], corners[3]) {
            if of.are_bytes {
                let above = &WholeBytes::new(s, of.array, corners[0], &mut first);
                let below = &WholeBytes::new(s, of.array, corners[2], &mut second);
                each!(4, place => {
                    let ([a, b], [c, d]) = (s.pairs_of_bytes(above, place), s.pairs_of_bytes(below, place));
                    let at = [a, b, c, d];
                    self.weighed_at(place, each!(4, n => self.fractions(at[n])), across, down)
                })
            } else {
                let above = &Whole::new(s, of.array, corners[0], &mut first);
                let below = &Whole::new(s, of.array, corners[2], &mut second);
                each!(4, place => {
                    let ([a, b], [c, d]) = (s.pairs(above, place), s.pairs(below, place));
                    self.weighed_at(place, [a, b, c, d], across, down)
                })
            }
        } else if of.are_bytes {
            let texels = &[
                WholeBytes::new(s, of.array, corners[0], &mut first),
                WholeBytes::new(s, of.array, corners[1], &mut second),
                WholeBytes::new(s, of.array, corners[2], &mut third),
                WholeBytes::new(s, of.array, corners[3], &mut fourth),
            ];
            each!(4, place => {
                let at = each!(4, n => self.fractions(s.quarters_of_bytes(&texels[n], place)));
                self.weighed_at(place, at, across, down)
            })
        } else {
            let texels = &[
                Whole::new(s, of.array, corners[0], &mut first),
                Whole::new(s, of.array, corners[1], &mut second),
                Whole::new(s, of.array, corners[2], &mut third),
                Whole::new(s, of.array, corners[3], &mut fourth),
            ];
            each!(4, place => self.weighed_at(place, each!(4, n => s.quarters(&texels[n], place)), across, down))
        };
        let found = self.channels(sums);
        each!(4, n => self.one_nan(found[n]))
    }

    /// One element of four corners, weighed.
    #[inline(always)]
    fn weighed_once(&self, at: [S::V; 4], across: S::V, down: S::V) -> S::V {
        self.one_nan(self.mix(self.mix(at[0], at[1], across), self.mix(at[2], at[3], across), down))
    }

    /// The same for the lanes at one place of the quarters.
    #[inline(always)]
    fn weighed_at(&self, place: usize, at: [S::V; 4], across: S::V, down: S::V) -> S::V {
        let [x, y] = [self.s.quad_lane(across, place as u8), self.s.quad_lane(down, place as u8)];
        self.mix(self.mix(at[0], at[1], x), self.mix(at[2], at[3], x), y)
    }

    /// The result of a lookup in an array; `WEIGHED`: a weighted sum of elements of a plain one.
    #[inline(always)]
    pub(super) fn texels<const WEIGHED: bool>(&mut self, of: &TexelArray<'_, S>) -> Option<[S::V; 4]> {
        let s = self.s;
        let &TexelArray { texels, axes: [across, down], .. } = of;
        let (unnormalised, offset) = match *self.looked {
            Looked::Sample { unnormalised, offset, .. } => (unnormalised, offset),
            Looked::Load { offset } => {
                let sizes = [texels.width, texels.height];
                let [x, y] = each!(2, axis => {
                    let at = s.add_int(self.at[axis], s.splat(offset[axis].cast_unsigned()));
                    self.inside(at, s.splat(sizes[axis]))
                });
                let (found, inside) = (self.element(of, x.0, y.0), s.both(x.1, y.1));
                return Some(each!(4, n => s.select(inside, found[n], s.splat(0))));
            }
            Looked::Sizes | Looked::Item { .. } => return None,
        };
        let [u, v] = each!(2, axis => {
            let u = self.at[axis];
            let u = if unnormalised[axis] { u } else { s.mul(u, of.axes[axis].size) };
            s.add(u, self.number(offset[axis]))
        });
        if !WEIGHED && !texels.linear {
            let (x, y) = (self.wrapped(u, &across), self.wrapped(v, &down));
            return Some(self.bordered(of, x, y));
        }
        let half = s.splat(HALF);
        let (columns, weight_x) = self.split(s.sub(u, half));
        let (rows, weight_y) = self.split(s.sub(v, half));
        let [left, right] = self.neighbours(columns, &across);
        let rows = self.neighbours(rows, &down);
        if WEIGHED {
            let [above, below] = each!(2, row => s.mul_int(rows[row].0, s.splat(texels.pitch)));
            let corners = [(left, above), (right, above), (left, below), (right, below)];
            let corners = each!(4, n => s.add_int(corners[n].0.0, corners[n].1));
            return Some(self.weighed(of.of, corners, [weight_x, weight_y]));
        }
        let [above, below] = each!(2, row => {
            let row = rows[row];
            let (left, right) = (self.bordered(of, left, row), self.bordered(of, right, row));
            each!(4, channel => self.mix(left[channel], right[channel], weight_x))
        });
        Some(each!(4, channel => self.one_nan(self.mix(above[channel], below[channel], weight_y))))
    }

    /// The elements of columns and rows, or the border.
    #[inline(always)]
    fn bordered(&self, of: &TexelArray<'_, S>, (x, beyond_x): (S::V, S::M), (y, beyond_y): (S::V, S::M)) -> [S::V; 4] {
        let s = self.s;
        let found = self.element(of, x, y);
        if !of.texels.wrap.contains(&Wrap::Border) {
            return found;
        }
        let beyond = s.either(beyond_x, beyond_y);
        each!(4, channel => s.select(beyond, s.splat(of.texels.border[channel]), found[channel]))
    }

    /// The numbers of the elements in columns and rows.
    #[inline(always)]
    fn place(&self, texels: &Texels<'_>, x: S::V, y: S::V) -> S::V {
        let s = self.s;
        let Some(tiles) = texels.tiles else { return s.add_int(s.mul_int(y, s.splat(texels.pitch)), x) };
        let (columns, rows) = (bytemuck::cast_slice(&tiles.columns), bytemuck::cast_slice(&tiles.rows));
        let (column, row) = (self.dwords::<4>(Array::of(columns), x), self.dwords::<4>(Array::of(rows), y));
        // Tiles add up; within a tile, bits are folded.
        let within = s.splat(tiles.tile_bytes - 1);
        let whole = s.splat(!(tiles.tile_bytes - 1));
        let byte = s.add_int(s.and(column, whole), s.and(row, whole));
        let byte = s.add_int(byte, s.and(s.xor(column, row), within));
        s.right(byte, texels.form.element_bytes(texels.channels).trailing_zeros().cast_signed())
    }

    /// The lowest bits as a number from 0 to 1, where `most` is 1.
    #[inline(always)]
    fn scaled(&self, bits: S::V, most: u32) -> S::V {
        let whole = self.s.of_int(self.s.and(bits, self.s.splat(most)));
        self.s.div(whole, self.number(most as f32))
    }

    /// The elements in columns and rows.
    #[inline(always)]
    fn element(&self, of: &TexelArray<'_, S>, x: S::V, y: S::V) -> [S::V; 4] {
        let (s, &TexelArray { texels, of: LookupArray { array, .. }, .. }) = (self.s, of);
        let missing = [s.splat(0), s.splat(0), s.splat(0), s.splat(ONE)];
        match texels.form {
            Form::Floats if texels.channels == 4 => self.whole(of.of, self.place(texels, x, y)),
            Form::Floats => {
                let first = s.mul_int(self.place(texels, x, y), s.splat(texels.channels.into()));
                each!(4, n => if n < texels.channels.into() {
                    self.dwords::<4>(array, s.add_int(first, s.splat(n as u32)))
                } else {
                    missing[n]
                })
            }
            Form::Square => {
                let right = s.least(s.add_int(x, s.splat(1)), s.splat(texels.width - 1));
                let below = s.least(s.add_int(y, s.splat(1)), s.splat(texels.height - 1));
                let places = [(right, y), (x, below), (right, below), (x, y)];
                each!(4, n => self.dwords::<4>(array, self.place(texels, places[n].0, places[n].1)))
            }
            Form::Bytes { .. } => {
                let all = self.dwords::<4>(array, self.place(texels, x, y));
                each!(4, n => self.scaled(s.right(all, 8 * texels.form.channel(n).0 as i32), u8::MAX.into()))
            }
            Form::Words => {
                let place = self.place(texels, x, y);
                // Every other one is the upper half of a dword.
                let shift = s.left(s.and(place, s.splat(1)), 4);
                let both = self.dwords::<4>(array, s.right(place, 1));
                [self.scaled(s.right_each(both, shift), u16::MAX.into()), missing[1], missing[2], missing[3]]
            }
        }
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/lookups/texels.rs"]
mod tests;
