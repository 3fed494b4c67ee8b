//! Blending: from a source colour and a stored one to the colour that is stored.
//!
//! Computed in single precision; what is stored is rounded by the format.

use crate::format::NumberType;
use crate::state::{Blend, BlendEquation, Combine, Factor};

/// What blending needs beside the equations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colours {
    pub(crate) source: [f32; 4],
    /// The second output.
    pub(crate) source1: [f32; 4],
    pub(crate) destination: [f32; 4],
    pub(crate) constant: [f32; 4],
}

/// The range that blending clamps to, of formats that have one.
fn range(number: NumberType) -> Option<(f32, f32)> {
    match number {
        NumberType::Unorm | NumberType::Srgb => Some((0.0, 1.0)),
        NumberType::Snorm => Some((-1.0, 1.0)),
        NumberType::Uscaled | NumberType::Sscaled | NumberType::Uint | NumberType::Sint | NumberType::Float => None,
    }
}

/// The blended colour. `clamps`: everything is clamped to the range of the format's numbers, before and after.
pub(crate) fn blend(blend: &Blend, colours: Colours, number: NumberType, clamps: bool) -> [f32; 4] {
    let limit = range(number).filter(|_| clamps);
    // NaN becomes the lower end.
    let cut = |x: f32| limit.map_or(x, |(least, most)| x.max(least).min(most));
    let Colours { source, source1, destination, constant } = colours;
    let colours = Colours {
        source: source.map(cut),
        source1: source1.map(cut),
        destination: destination.map(cut),
        constant: constant.map(cut),
    };
    let alpha = blend.alpha.unwrap_or(blend.colour);
    std::array::from_fn(|c| cut(channel(if c == 3 { &alpha } else { &blend.colour }, &colours, c)))
}

fn channel(equation: &BlendEquation, colours: &Colours, c: usize) -> f32 {
    let (source, destination) = (colours.source[c], colours.destination[c]);
    // Two old factors set both.
    let [by_source, by_destination] = match equation.source {
        Factor::BothSourceAlpha => [Factor::SourceAlpha, Factor::OneMinusSourceAlpha],
        Factor::BothInverseSourceAlpha => [Factor::OneMinusSourceAlpha, Factor::SourceAlpha],
        _ => [equation.source, equation.destination],
    };
    let product = |value: f32, by: Factor| match by {
        // Infinity times nothing is nothing.
        Factor::Zero => 0.0,
        Factor::One => value,
        by => value * factor(by, colours, c),
    };
    match equation.combine {
        Combine::Add => product(source, by_source) + product(destination, by_destination),
        Combine::Subtract => product(source, by_source) - product(destination, by_destination),
        Combine::ReverseSubtract => product(destination, by_destination) - product(source, by_source),
        Combine::Min => source.min(destination),
        Combine::Max => source.max(destination),
    }
}

fn factor(factor: Factor, colours: &Colours, c: usize) -> f32 {
    let Colours { source, source1, destination, constant } = colours;
    match factor {
        Factor::Zero => 0.0,
        Factor::One => 1.0,
        Factor::SourceColour => source[c],
        Factor::OneMinusSourceColour => 1.0 - source[c],
        Factor::SourceAlpha | Factor::BothSourceAlpha => source[3],
        Factor::OneMinusSourceAlpha | Factor::BothInverseSourceAlpha => 1.0 - source[3],
        Factor::DestinationAlpha => destination[3],
        Factor::OneMinusDestinationAlpha => 1.0 - destination[3],
        Factor::DestinationColour => destination[c],
        Factor::OneMinusDestinationColour => 1.0 - destination[c],
        Factor::SourceAlphaSaturate if c == 3 => 1.0,
        Factor::SourceAlphaSaturate => source[3].min(1.0 - destination[3]),
        Factor::ConstantColour => constant[c],
        Factor::OneMinusConstantColour => 1.0 - constant[c],
        Factor::Source1Colour => source1[c],
        Factor::OneMinusSource1Colour => 1.0 - source1[c],
        Factor::Source1Alpha => source1[3],
        Factor::OneMinusSource1Alpha => 1.0 - source1[3],
        Factor::ConstantAlpha => constant[3],
        Factor::OneMinusConstantAlpha => 1.0 - constant[3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURS: Colours = Colours {
        source: [0.5, 0.25, 1.0, 0.75],
        source1: [0.125, 0.25, 0.5, 0.375],
        destination: [0.25, 0.5, 0.0, 0.5],
        constant: [0.5, 1.0, 0.25, 0.125],
    };

    fn blended(source: Factor, destination: Factor, combine: Combine) -> [f32; 4] {
        let equation = BlendEquation { source, destination, combine };
        blend(&Blend { colour: equation, alpha: None }, COLOURS, NumberType::Float, true)
    }

    #[test]
    fn every_factor_is_what_its_name_says() {
        // Red and alpha of source times factor.
        let table = [
            (Factor::Zero, 0.0, 0.0),
            (Factor::One, 0.5, 0.75),
            (Factor::SourceColour, 0.25, 0.5625),
            (Factor::OneMinusSourceColour, 0.25, 0.1875),
            (Factor::SourceAlpha, 0.375, 0.5625),
            (Factor::OneMinusSourceAlpha, 0.125, 0.1875),
            (Factor::DestinationAlpha, 0.25, 0.375),
            (Factor::OneMinusDestinationAlpha, 0.25, 0.375),
            (Factor::DestinationColour, 0.125, 0.375),
            (Factor::OneMinusDestinationColour, 0.375, 0.375),
            (Factor::SourceAlphaSaturate, 0.25, 0.75),
            (Factor::ConstantColour, 0.25, 0.09375),
            (Factor::OneMinusConstantColour, 0.25, 0.65625),
            (Factor::Source1Colour, 0.0625, 0.28125),
            (Factor::OneMinusSource1Colour, 0.4375, 0.46875),
            (Factor::Source1Alpha, 0.1875, 0.28125),
            (Factor::OneMinusSource1Alpha, 0.3125, 0.46875),
            (Factor::ConstantAlpha, 0.0625, 0.09375),
            (Factor::OneMinusConstantAlpha, 0.4375, 0.65625),
        ];
        for (factor, red, alpha) in table {
            let [r, .., a] = blended(factor, Factor::Zero, Combine::Add);
            assert_eq!((r, a), (red, alpha), "{factor:?}");
        }
        assert_eq!(blended(Factor::BothSourceAlpha, Factor::One, Combine::Add)[0], 0.5 * 0.75 + 0.25 * 0.25);
        assert_eq!(blended(Factor::BothInverseSourceAlpha, Factor::One, Combine::Add)[0], 0.5 * 0.25 + 0.25 * 0.75);
    }

    #[test]
    fn products_are_combined() {
        let of = |combine| blended(Factor::One, Factor::One, combine)[0];
        assert_eq!(of(Combine::Add), 0.75);
        assert_eq!(of(Combine::Subtract), 0.25);
        assert_eq!(of(Combine::ReverseSubtract), -0.25);
        assert_eq!(blended(Factor::Zero, Factor::Zero, Combine::Min)[0], 0.25);
        assert_eq!(blended(Factor::Zero, Factor::Zero, Combine::Max)[0], 0.5);
    }

    #[test]
    fn formats_of_fractions_clamp() {
        let equation = BlendEquation { source: Factor::One, destination: Factor::One, combine: Combine::Add };
        let state = Blend { colour: equation, alpha: None };
        let colours = Colours { source: [3.0, -1.0, f32::NAN, 0.5], ..COLOURS };
        assert_eq!(blend(&state, colours, NumberType::Unorm, true), [1.0, 0.5, 0.0, 1.0]);
        assert_eq!(blend(&state, colours, NumberType::Float, true)[0], 3.25);
        assert_eq!(blend(&state, colours, NumberType::Unorm, false)[0], 3.25);
    }
}
