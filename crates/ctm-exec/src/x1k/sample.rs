//! From coordinates to input elements (CTM §2.1.4, §3.4, §3.6.4): projection, scaling, wrap, filter.
//!
//! CTM's own inputs are fetched nearest, floor to the element, clamped to the edge; the other wraps and the linear filter are
//! what a sampler adds. Elements are moved as bits: only the linear filter does arithmetic on them.

use super::float::{bits, fma, number};
use super::{Filter, Input, Memory, Wrap};
use crate::engine::MemoryFault;

/// A coordinate on its way to the texture unit: NaN becomes +infinity, a denormal the zero of its sign (CTM §3.6.4).
#[inline]
#[must_use]
pub const fn coordinate(bits: u32) -> f32 {
    let x = number(bits);
    if x.is_nan() { f32::INFINITY } else { x }
}

/// A projected coordinate: `c` times the reciprocal of Q, rounded to single precision (CTM §3.6.4).
///
/// *The Guide says that this multiplier does not follow IEEE rules for infinities and NaN, not what it does instead; we follow IEEE,
/// and NaN becomes +infinity afterwards.*
#[must_use]
pub fn project(c: u32, reciprocal_q: u32) -> u32 {
    // A product is a sum with -0; so it is rounded as sums are, and a denormal becomes a zero after that.
    bits(fma(number(c), number(reciprocal_q), -0.0))
}

/// A coordinate in elements: times the dimension, rounded to single precision, unless UNSCALED (CTM §3.4).
#[inline]
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "dimensions are far below 2^24")]
pub fn in_elements(c: u32, size: u32, unscaled: bool) -> f32 {
    if unscaled { coordinate(c) } else { coordinate(bits(coordinate(c) * size as f32)) }
}

/// The element that a floored coordinate names; `None` is the border. `size` is not 0.
///
/// | wrap | outside | infinities |
/// |---|---|---|
/// | clamp | the nearest element | +inf the last, -inf the first |
/// | repeat, mirror | the repeated element | the first |
/// | border | the border | the border |
#[inline]
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number lies in 0..size")]
pub fn wrap(floored: f32, size: u32, wrap: Wrap) -> Option<u32> {
    // The usual case, in whole numbers.
    if wrap == Wrap::Repeat && floored.abs() < (1u32 << 31) as f32 && size < 1 << 31 {
        return Some((floored as i32).rem_euclid(size.cast_signed()) as u32);
    }
    let (x, n) = (f64::from(floored), f64::from(size));
    match wrap {
        Wrap::Clamp => Some(x.clamp(0.0, n - 1.0) as u32),
        Wrap::Repeat if x.is_infinite() => Some(0),
        Wrap::Repeat => Some(x.rem_euclid(n) as u32),
        Wrap::Mirror if x.is_infinite() => Some(0),
        Wrap::Mirror => {
            let in_pair = x.rem_euclid(2.0 * n);
            Some(if in_pair < n { in_pair } else { 2.0 * n - 1.0 - in_pair } as u32)
        }
        Wrap::Border => (0.0 <= x && x < n).then_some(x as u32),
    }
}

/// What a lookup gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Bits of r, g, b, a.
    pub texel: [u32; 4],
    /// The coordinate lay outside an input that clamps.
    pub outside: bool,
}

/// Elements that one lookup asks for, borders included: 1, or 4 with the linear filter.
#[must_use]
pub const fn elements_per_lookup(filter: Filter) -> u64 {
    match filter {
        Filter::Nearest => 1,
        Filter::Linear => 4,
    }
}

/// Looks up input `index`, which is `input`, at (s, t).
///
/// The linear filter takes the four elements around `(s - 0.5, t - 0.5)`, each wrapped, and weighs them along x, then along y, each time as
/// `fma(w, b - a, a)` in single precision; w is the fraction of the coordinate, 0 for infinities.
///
/// # Errors
/// When the input has no elements, or memory refuses one.
pub fn lookup<M: Memory + ?Sized>(
    memory: &M,
    index: u8,
    input: &Input,
    (s, t): (u32, u32),
    unscaled: bool,
    uncached: bool,
) -> Result<Sampled, MemoryFault> {
    if input.width == 0 || input.height == 0 {
        return Err(MemoryFault {
            what: format!("input {index}"),
            address: None,
            reason: format!("it has {} x {} elements, a lookup needs one", input.width, input.height),
        });
    }
    let u = in_elements(s, input.width, unscaled);
    let v = in_elements(t, input.height, unscaled);
    let element = |x: f32, y: f32| {
        let [wrap_x, wrap_y] = input.sampler.wrap;
        match (wrap(x, input.width, wrap_x), wrap(y, input.height, wrap_y)) {
            (Some(x), Some(y)) => memory.read(index, x, y, uncached),
            _ => Ok(input.sampler.border),
        }
    };
    let texel = match input.sampler.filter {
        Filter::Nearest => element(u.floor(), v.floor())?,
        Filter::Linear => {
            let (u, v) = (u - 0.5, v - 0.5);
            let (x, y) = (u.floor(), v.floor());
            let weight = |c: f32, floor: f32| if c.is_finite() { number((c - floor).to_bits()) } else { 0.0 };
            let (along_x, along_y) = (weight(u, x), weight(v, y));
            let mix = |w: f32, a: [u32; 4], b: [u32; 4]| -> [u32; 4] {
                std::array::from_fn(|c| {
                    let (a, b) = (number(a[c]), number(b[c]));
                    fma(w, number((b - a).to_bits()), a).to_bits()
                })
            };
            let top = mix(along_x, element(x, y)?, element(x + 1.0, y)?);
            let bottom = mix(along_x, element(x, y + 1.0)?, element(x + 1.0, y + 1.0)?);
            mix(along_y, top, bottom)
        }
    };
    let beyond = |c: f32, size: u32, wrap: Wrap| wrap == Wrap::Clamp && !(0.0..f64::from(size)).contains(&f64::from(c));
    let [wrap_x, wrap_y] = input.sampler.wrap;
    Ok(Sampled { texel, outside: beyond(u, input.width, wrap_x) || beyond(v, input.height, wrap_y) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps() {
        for (x, wrap_mode, expected) in [
            (-1.0, Wrap::Clamp, Some(0)),
            (4.0, Wrap::Clamp, Some(3)),
            (f32::INFINITY, Wrap::Clamp, Some(3)),
            (f32::NEG_INFINITY, Wrap::Clamp, Some(0)),
            (1e30, Wrap::Clamp, Some(3)),
            (-1.0, Wrap::Repeat, Some(3)),
            (5.0, Wrap::Repeat, Some(1)),
            (16_777_217.0, Wrap::Repeat, Some(0)),
            (f32::NEG_INFINITY, Wrap::Repeat, Some(0)),
            (-1.0, Wrap::Mirror, Some(0)),
            (4.0, Wrap::Mirror, Some(3)),
            (7.0, Wrap::Mirror, Some(0)),
            (8.0, Wrap::Mirror, Some(0)),
            (f32::INFINITY, Wrap::Mirror, Some(0)),
            (-1.0, Wrap::Border, None),
            (4.0, Wrap::Border, None),
            (3.0, Wrap::Border, Some(3)),
            (f32::INFINITY, Wrap::Border, None),
        ] {
            assert_eq!(wrap(x, 4, wrap_mode), expected, "{x} {wrap_mode:?}");
        }
    }

    #[test]
    fn coordinates() {
        assert_eq!(coordinate(0xffc0_0000), f32::INFINITY);
        assert_eq!(coordinate(0x8000_0001).to_bits(), 0x8000_0000);
        assert_eq!(in_elements(0.5f32.to_bits(), 16, false), 8.0);
        assert_eq!(in_elements(0.5f32.to_bits(), 16, true), 0.5);
        assert_eq!(project(0f32.to_bits(), f32::INFINITY.to_bits()), super::super::float::NAN);
    }
}
