//! From coordinates to elements of an input or a texture (CTM §2.1.4, §3.4, §3.6.4): scaling and wrap.

use crate::float::{bits, number};

/// Sampler filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The element whose cell the coordinate lies in.
    #[default]
    Nearest,
    /// Weighted mean of the four elements around the coordinate.
    Linear,
}

/// The result of reads outside the input.
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

/// A coordinate on its way to the texture unit: NaN becomes +infinity, a denormal the zero of its sign (CTM §3.6.4).
#[inline]
#[must_use]
pub const fn coordinate(bits: u32) -> f32 {
    let x = number(bits);
    if x.is_nan() { f32::INFINITY } else { x }
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
    }
}
