//! Lookups of X1K programs in the portable machine.

use crate::codegen::portable::rows::{LANES, Row, canonical, fused, lanes_where, map, map2, store};
use crate::launch::direct::Views;
use ctm_exec::float::{ONE, flush, number};
use ctm_exec::sample::coordinate;
use ctm_exec::x1k::{Elements, Filter, Form, Wrap};
use ctm_isa::x1k::ops::Omod;

/// A lookup of one input.
pub struct Lookup {
    /// Which input.
    pub input: u8,
    /// Coordinates are in elements.
    pub unscaled: bool,
    /// The lanes that read.
    pub working: u64,
}

impl Lookup {
    /// Of an array of floats that is clamped to its edges or repeated. `None` where it is something else, or a coordinate is very large. Lanes that do not
    /// read get 0.
    #[inline(always)]
    pub fn of_array<const FUSED: bool>(&self, views: &Views<'_>, [s, t]: [&Row; 2]) -> Option<[Row; 4]> {
        let (elements, input) = views.array(self.input)?;
        let [wrap_x, wrap_y] = input.sampler.wrap;
        if elements.form != Form::Floats
            || ![wrap_x, wrap_y].iter().all(|wrap| matches!(wrap, Wrap::Clamp | Wrap::Repeat))
        {
            return None;
        }
        let column = |floored: &Row| indices(floored, input.width, wrap_x);
        let row = |floored: &Row| indices(floored, input.height, wrap_y);
        let (u, v) = (in_elements(s, input.width, self.unscaled), in_elements(t, input.height, self.unscaled));
        let mut texels = match input.sampler.filter {
            Filter::Nearest => gather(elements, &column(&floor(&u))?, &row(&floor(&v))?)?,
            Filter::Linear => {
                let (u, v) = (add(&u, -0.5), add(&v, -0.5));
                let (left, top) = (floor(&u), floor(&v));
                let (along_x, along_y) = (weights(&u, &left), weights(&v, &top));
                let columns = [column(&left)?, column(&add(&left, 1.0))?];
                let row_of = |y: &Row| -> Option<[Row; 4]> {
                    let [a, b] = [gather(elements, &columns[0], y)?, gather(elements, &columns[1], y)?];
                    Some(std::array::from_fn(|c| mix::<FUSED>(&along_x, &a[c], &b[c])))
                };
                let (top, bottom) = (row_of(&row(&top)?)?, row_of(&row(&add(&top, 1.0))?)?);
                std::array::from_fn(|c| mix::<FUSED>(&along_y, &top[c], &bottom[c]))
            }
        };
        if self.working != u64::MAX {
            for row in &mut texels {
                let all = *row;
                *row = [0; LANES];
                store(row, &all, self.working);
            }
        }
        Some(texels)
    }
}

/// As `ctm_exec::sample::in_elements`.
#[inline(always)]
#[allow(clippy::cast_precision_loss, reason = "dimensions are at most 2^23")]
fn in_elements(coordinates: &Row, size: u32, unscaled: bool) -> Row {
    let scale = size as f32;
    map(coordinates, |bits| {
        let own = coordinate(bits);
        let scaled = coordinate(canonical(own * scale));
        (if unscaled { own } else { scaled }).to_bits()
    })
}

#[inline(always)]
fn floor(row: &Row) -> Row {
    map(row, |x| f32::from_bits(x).floor().to_bits())
}

#[inline(always)]
fn add(row: &Row, more: f32) -> Row {
    map(row, |x| (f32::from_bits(x) + more).to_bits())
}

/// How far coordinates lie behind elements; 0 for infinities.
#[inline(always)]
fn weights(coordinates: &Row, floored: &Row) -> Row {
    map2(coordinates, floored, |c, floor| {
        let c = f32::from_bits(c);
        if c.is_finite() { flush((c - f32::from_bits(floor)).to_bits()) } else { 0 }
    })
}

/// `a + w * (b - a)`, with one rounding behind the difference.
#[inline(always)]
fn mix<const FUSED: bool>(w: &Row, a: &Row, b: &Row) -> Row {
    let difference = map2(a, b, |a, b| (number(b) - number(a)).to_bits());
    fused::<FUSED>(w, &difference, a, false, Omod::U1)
}

/// The elements that floored coordinates name: as `ctm_exec::sample::wrap`. The size is at most 2^23.
#[inline(always)]
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "between 0 and a size that single precision holds"
)]
fn indices(floored: &Row, size: u32, wrap: Wrap) -> Option<Row> {
    let last = (size - 1) as f32;
    if wrap == Wrap::Clamp {
        return Some(map(floored, |x| {
            let x = f32::from_bits(x);
            let inside = if x > 0.0 { x } else { 0.0 };
            (if inside < last { inside } else { last }) as u32
        }));
    }
    const BEYOND: f32 = (1u32 << 31) as f32;
    if lanes_where(floored, |x| f32::from_bits(x).abs() >= BEYOND) != 0 {
        return None;
    }
    let whole = map(floored, |x| (f32::from_bits(x) as i32).cast_unsigned());
    let size = size.cast_signed();
    Some(if size.count_ones() == 1 {
        map(&whole, |x| x & (size - 1).cast_unsigned())
    } else {
        map(&whole, |x| x.cast_signed().rem_euclid(size).cast_unsigned())
    })
}

/// Elements of these columns and rows. Channels that they lack read 0, alpha 1.
fn gather(elements: &Elements<&[u8]>, x: &Row, y: &Row) -> Option<[Row; 4]> {
    let (pitch, channels) = (elements.pitch as usize, usize::from(elements.channels));
    let mut texels = [0, 0, 0, ONE].map(|bits| [bits; LANES]);
    for lane in 0..LANES {
        let first = (y[lane] as usize * pitch + x[lane] as usize) * channels * 4;
        let element = elements.bytes.get(first..first + 4 * channels)?;
        for (row, bytes) in texels.iter_mut().zip(element.as_chunks::<4>().0) {
            row[lane] = u32::from_le_bytes(*bytes);
        }
    }
    Some(texels)
}
