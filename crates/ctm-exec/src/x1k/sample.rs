//! One lookup (CTM §2.1.4, §3.4, §3.6.4): projection, the elements that coordinates name, filter.
//!
//! CTM's own inputs are fetched nearest, floor to the element, clamped to the edge; the other wraps and the linear filter are
//! the additions of samplers. Elements are moved as bits: only the linear filter does arithmetic on them.

use super::{Input, Memory};
use crate::fault::MemoryFault;
use crate::float::{bits, fma, number};
use crate::sample::{Filter, Wrap, in_elements, wrap};

/// A projected coordinate: `c` times the reciprocal of Q, rounded to single precision (CTM §3.6.4).
///
/// *The Guide says that this multiplier does not follow IEEE rules for infinities and NaN, but not its results; we follow IEEE,
/// and NaN becomes +infinity afterwards.*
#[must_use]
pub fn project(c: u32, reciprocal_q: u32) -> u32 {
    // A product is a sum with -0; so it is rounded as sums are, and a denormal becomes a zero after that.
    bits(fma(number(c), number(reciprocal_q), -0.0))
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// Bits of r, g, b, a.
    pub texel: [u32; 4],
    /// The coordinate lay outside an input that clamps.
    pub outside: bool,
}

/// Elements that one lookup reads, borders included: 1, or 4 with the linear filter.
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
    fn infinity_times_zero() {
        assert_eq!(project(0f32.to_bits(), f32::INFINITY.to_bits()), crate::float::NAN);
    }
}
