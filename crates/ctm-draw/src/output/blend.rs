//! Blending: from a source colour and a stored one to the new stored one.
//!
//! Computed in single precision; the format rounds the result.

use crate::lanes::transpose;
use crate::state::{Blend, BlendEquation, Combine, Factor};
use crate::surface::format::{ChannelRow, NumberType, TOGETHER};

/// The operands of blending besides the equations.
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

/// Denormals are read as zeros.
#[inline(always)]
const fn flushed(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

/// The blended colour. `clamps`: everything is clamped to the range of the format's numbers, before and after.
pub(crate) fn blend(blend: &Blend, colours: Colours, number: NumberType, clamps: bool) -> [f32; 4] {
    let limit = range(number).filter(|_| clamps);
    // NaN becomes the lower end.
    let cut = |x: f32| limit.map_or(x, |(least, most)| x.max(least).min(most));
    let read = |x: f32| cut(if number == NumberType::Unorm { flushed(x) } else { x });
    let Colours { source, source1, destination, constant } = colours;
    let colours = Colours {
        source: source.map(read),
        source1: source1.map(read),
        destination: destination.map(cut),
        constant: constant.map(cut),
    };
    let alpha = blend.alpha.unwrap_or(blend.colour);
    std::array::from_fn(|c| cut(channel(if c == 3 { &alpha } else { &blend.colour }, &colours, c)))
}

impl Blend {
    /// Whether the stored colour makes a difference.
    pub(crate) fn reads_destination(&self) -> bool {
        use Factor::{
            DestinationAlpha, DestinationColour, OneMinusDestinationAlpha, OneMinusDestinationColour,
            SourceAlphaSaturate,
        };
        let reads = |equation: BlendEquation| {
            let [source, destination] = equation.factors();
            matches!(equation.combine, Combine::Min | Combine::Max)
                || destination != Factor::Zero
                || matches!(
                    source,
                    DestinationAlpha
                        | DestinationColour
                        | OneMinusDestinationAlpha
                        | OneMinusDestinationColour
                        | SourceAlphaSaturate
                )
        };
        reads(self.colour) || self.alpha.is_some_and(reads)
    }
}

impl BlendEquation {
    /// Of source and destination.
    pub(crate) const fn factors(&self) -> [Factor; 2] {
        // Two old factors set both.
        match self.source {
            Factor::BothSourceAlpha => [Factor::SourceAlpha, Factor::OneMinusSourceAlpha],
            Factor::BothInverseSourceAlpha => [Factor::OneMinusSourceAlpha, Factor::SourceAlpha],
            _ => [self.source, self.destination],
        }
    }
}

fn channel(equation: &BlendEquation, colours: &Colours, c: usize) -> f32 {
    let (source, destination) = (colours.source[c], colours.destination[c]);
    let [by_source, by_destination] = equation.factors();
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

static ZEROS: ChannelRow = [0.0; TOGETHER];

/// Colours of pixels side by side: a row for each channel.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) source: [ChannelRow; 4],
    /// The second output.
    pub(crate) source1: [ChannelRow; 4],
    pub(crate) destination: [ChannelRow; 4],
    saturated: ChannelRow,
}

impl Default for Rows {
    fn default() -> Self {
        let rows = [ZEROS; 4];
        Self { source: rows, source1: rows, destination: rows, saturated: ZEROS }
    }
}

/// A factor of a channel in every pixel: a number and a multiple of a row.
struct Term<'r> {
    base: f32,
    scale: f32,
    row: &'r ChannelRow,
}

/// Tells a value of each pixel of four rows.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "compilers make vectors of this form")]
fn each([a, b, c, d]: [&ChannelRow; 4], tell: &mut impl FnMut(usize, f32), of: impl Fn([f32; 4]) -> f32) {
    for n in 0..TOGETHER {
        tell(n, of([a[n], b[n], c[n], d[n]]));
    }
}

/// Limits every number; NaN becomes the lower end.
#[inline(always)]
fn limit_row(row: &mut ChannelRow, (least, most): (f32, f32)) {
    for x in row {
        let raised = if *x > least { *x } else { least };
        *x = if raised < most { raised } else { most };
    }
}

impl Rows {
    /// Colours as launches store them, of at most [`TOGETHER`] pixels. The second ones may be absent.
    #[inline(always)]
    pub(crate) fn set_sources(&mut self, source: &[[u32; 4]], source1: &[[u32; 4]]) {
        transpose(source, &mut self.source);
        transpose(source1, &mut self.source1);
    }

    /// The same for all pixels.
    pub(crate) fn set_source(&mut self, source: [u32; 4], source1: [u32; 4]) {
        for (rows, colour) in [(&mut self.source, source), (&mut self.source1, source1)] {
            rows.iter_mut().zip(colour).for_each(|(row, bits)| row.fill(f32::from_bits(bits)));
        }
    }

    /// The result of [`blend`] for each pixel, without its alternatives for each of them.
    #[inline(always)]
    pub(crate) fn blend(
        &mut self,
        blend: &Blend,
        constant: [f32; 4],
        number: NumberType,
        clamps: bool,
        blended: &mut [ChannelRow; 4],
    ) {
        let limit = range(number).filter(|_| clamps);
        if let Some(limit) = limit {
            self.destination.iter_mut().for_each(|row| limit_row(row, limit));
        }
        let ready = self.ready(blend, constant, number, clamps);
        for (c, to) in blended.iter_mut().enumerate() {
            ready.channel(c, |n, value| to[n] = value);
            if let Some(limit) = limit {
                limit_row(to, limit);
            }
        }
    }

    /// Limits sources to the range of the format, as blending does. Stored values have to lie within it.
    #[inline(always)]
    pub(crate) fn ready<'r>(
        &'r mut self,
        blend: &'r Blend,
        mut constant: [f32; 4],
        number: NumberType,
        clamps: bool,
    ) -> Ready<'r> {
        if number == NumberType::Unorm {
            self.source.as_flattened_mut().iter_mut().for_each(|x| *x = flushed(*x));
            if blend.reads_source1() {
                self.source1.as_flattened_mut().iter_mut().for_each(|x| *x = flushed(*x));
            }
        }
        if let Some((least, most)) = range(number).filter(|_| clamps) {
            self.source.iter_mut().for_each(|row| limit_row(row, (least, most)));
            if blend.reads_source1() {
                self.source1.iter_mut().for_each(|row| limit_row(row, (least, most)));
            }
            constant.iter_mut().for_each(|x| *x = x.max(least).min(most));
        }
        let alpha = blend.alpha.unwrap_or(blend.colour);
        let of_both = [blend.colour.factors(), alpha.factors()];
        if of_both.as_flattened().contains(&Factor::SourceAlphaSaturate) {
            let alphas = self.source[3].iter().zip(&self.destination[3]);
            self.saturated.iter_mut().zip(alphas).for_each(|(x, (&s, &d))| *x = s.min(1.0 - d));
        }
        Ready { rows: self, colour: &blend.colour, alpha, constant }
    }

    /// A colour's channel and its factor: `None` where the factor is 0.
    #[inline(always)]
    fn product<'r>(
        &'r self,
        value: &'r ChannelRow,
        by: Factor,
        constant: [f32; 4],
        c: usize,
    ) -> (&'r ChannelRow, Term<'r>) {
        let number = |base: f32| Term { base, scale: 0.0, row: &ZEROS };
        let of = |row: &'r ChannelRow| Term { base: 0.0, scale: 1.0, row };
        let one_minus = |row: &'r ChannelRow| Term { base: 1.0, scale: -1.0, row };
        let term = match by {
            // Infinity times nothing is nothing.
            Factor::Zero => return (&ZEROS, number(0.0)),
            Factor::One => number(1.0),
            Factor::SourceColour => of(&self.source[c]),
            Factor::OneMinusSourceColour => one_minus(&self.source[c]),
            Factor::SourceAlpha | Factor::BothSourceAlpha => of(&self.source[3]),
            Factor::OneMinusSourceAlpha | Factor::BothInverseSourceAlpha => one_minus(&self.source[3]),
            Factor::DestinationAlpha => of(&self.destination[3]),
            Factor::OneMinusDestinationAlpha => one_minus(&self.destination[3]),
            Factor::DestinationColour => of(&self.destination[c]),
            Factor::OneMinusDestinationColour => one_minus(&self.destination[c]),
            Factor::SourceAlphaSaturate if c == 3 => number(1.0),
            Factor::SourceAlphaSaturate => of(&self.saturated),
            Factor::ConstantColour => number(constant[c]),
            Factor::OneMinusConstantColour => number(1.0 - constant[c]),
            Factor::Source1Colour => of(&self.source1[c]),
            Factor::OneMinusSource1Colour => one_minus(&self.source1[c]),
            Factor::Source1Alpha => of(&self.source1[3]),
            Factor::OneMinusSource1Alpha => one_minus(&self.source1[3]),
            Factor::ConstantAlpha => number(constant[3]),
            Factor::OneMinusConstantAlpha => number(1.0 - constant[3]),
        };
        (value, term)
    }
}

/// Colours that are ready to be blended.
pub(crate) struct Ready<'r> {
    rows: &'r Rows,
    colour: &'r BlendEquation,
    alpha: BlendEquation,
    constant: [f32; 4],
}

impl Ready<'_> {
    /// Tells the result of each pixel in a channel, before it is limited to the format's range.
    #[inline(always)]
    pub(crate) fn channel(&self, c: usize, mut tell: impl FnMut(usize, f32)) {
        let &Self { rows, colour, ref alpha, constant } = self;
        let equation = if c == 3 { alpha } else { colour };
        let [by_source, by_destination] = equation.factors();
        let (source, s) = rows.product(&rows.source[c], by_source, constant, c);
        let (destination, d) = rows.product(&rows.destination[c], by_destination, constant, c);
        let products = |[source, x, destination, y]: [f32; 4]| {
            [source * (s.base + s.scale * x), destination * (d.base + d.scale * y)]
        };
        let of = [source, s.row, destination, d.row];
        let tell = &mut tell;
        match equation.combine {
            Combine::Add => each(of, tell, |of| {
                let [s, d] = products(of);
                s + d
            }),
            Combine::Subtract => each(of, tell, |of| {
                let [s, d] = products(of);
                s - d
            }),
            Combine::ReverseSubtract => each(of, tell, |of| {
                let [s, d] = products(of);
                d - s
            }),
            // Factors do not count.
            Combine::Min | Combine::Max => {
                let colours = [&rows.source[c], &rows.destination[c], &ZEROS, &ZEROS];
                let is_min = equation.combine == Combine::Min;
                each(colours, tell, |[s, d, ..]| if is_min { s.min(d) } else { s.max(d) });
            }
        }
    }
}

/// All factors.
#[cfg(test)]
pub(crate) const FACTORS: [Factor; 21] = [
    Factor::Zero,
    Factor::One,
    Factor::SourceColour,
    Factor::OneMinusSourceColour,
    Factor::SourceAlpha,
    Factor::OneMinusSourceAlpha,
    Factor::DestinationAlpha,
    Factor::OneMinusDestinationAlpha,
    Factor::DestinationColour,
    Factor::OneMinusDestinationColour,
    Factor::SourceAlphaSaturate,
    Factor::BothSourceAlpha,
    Factor::BothInverseSourceAlpha,
    Factor::ConstantColour,
    Factor::OneMinusConstantColour,
    Factor::Source1Colour,
    Factor::OneMinusSource1Colour,
    Factor::Source1Alpha,
    Factor::OneMinusSource1Alpha,
    Factor::ConstantAlpha,
    Factor::OneMinusConstantAlpha,
];

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
    fn rows_are_blended_as_pixels_are() {
        let values = [0.0, 0.25, 1.0, -0.5, 3.0, f32::INFINITY, f32::NAN, 1e-30];
        let combines = [Combine::Add, Combine::Subtract, Combine::ReverseSubtract, Combine::Min, Combine::Max];
        let mut rows = Rows::default();
        for (k, (&source, &destination)) in FACTORS.iter().flat_map(|s| FACTORS.iter().map(move |d| (s, d))).enumerate()
        {
            let colour = BlendEquation { source, destination, combine: combines[k % 5] };
            let alpha = BlendEquation { source: destination, destination: source, combine: combines[k / 5 % 5] };
            let equations = Blend { colour, alpha: (k % 3 == 0).then_some(alpha) };
            let of = |n: usize, by: usize| -> [f32; 4] { std::array::from_fn(|c| values[(n * by + c * 3 + k) % 8]) };
            for (number, clamps) in [(NumberType::Float, true), (NumberType::Unorm, true), (NumberType::Snorm, false)] {
                for n in 0..64 {
                    for (row, by) in [(&mut rows.source, 1), (&mut rows.source1, 5), (&mut rows.destination, 7)] {
                        row.iter_mut().zip(of(n, by)).for_each(|(row, x)| row[n] = x);
                    }
                }
                let mut blended = [ZEROS; 4];
                rows.blend(&equations, COLOURS.constant, number, clamps, &mut blended);
                for n in 0..64 {
                    let [source, source1, destination] = [1, 5, 7].map(|by| of(n, by));
                    let colours = Colours { source, source1, destination, ..COLOURS };
                    let expected = blend(&equations, colours, number, clamps);
                    let found = blended.each_ref().map(|row| row[n]);
                    let same = |(a, b): (&f32, &f32)| a == b || a.is_nan() && b.is_nan();
                    assert!(
                        found.iter().zip(&expected).all(same),
                        "{equations:?}, {colours:?}: {found:?}, {expected:?}"
                    );
                }
            }
        }
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
