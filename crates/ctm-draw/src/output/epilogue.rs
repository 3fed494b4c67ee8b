//! Epilogues: how a target of fractions in 32 bits takes colours, as operations that engines compile with the pixel program. Truth: [`super::merge::Plan::after`].

use crate::output::merge::Plan;
use crate::state::{AlphaTest, Blend, BlendEquation, ColourState, Combine, Compare, Factor, LogicOp};
use crate::surface::format::{Colours, Fractions};
use ctm_exec::epilogue::{Epilogue, Step, StepIndex};
use ctm_exec::float::{ONE, SIGN};

/// A list under construction.
struct Builder<'b> {
    list: Epilogue,
    fractions: &'b Fractions,
    /// The output whose colour the target takes.
    output: u8,
    /// Whether colours are limited to 0 to 1 before they are blended.
    clamps: bool,
}

/// A factor of blending.
enum Term {
    Zero,
    One,
    Of(StepIndex),
    OneMinus(StepIndex),
}

/// The operations of a target; `None` where it takes colours in another way, or by a colour that may change from draw to draw.
///
/// `n`: the target's number; `plan`: as of [`super::merge::Plans`].
pub(crate) fn of_target(plan: &Plan, colours: &Colours, state: &ColourState, n: usize) -> Option<Epilogue> {
    let of = &state.targets[n];
    let fractions = Fractions::of(colours).filter(|_| !of.truncate && colours.bytes() == 4)?;
    if fractions.fields().any(|(_, _, size)| size < 2) || plan.blend.is_none() && state.logic != LogicOp::COPY {
        return None;
    }
    let output = if state.multiwrite { 0 } else { n as u8 };
    let mut builder = Builder { list: Epilogue::default(), fractions: &fractions, output, clamps: of.blend_clamp };
    let mut packed = None;
    for (channel, at, size) in fractions.fields() {
        let bits = (u32::MAX >> (32 - size)) << at;
        if plan.bits as u32 & bits == 0 {
            continue;
        }
        let value = match &plan.blend {
            None => Some(builder.exported(output, channel)),
            Some(blend) => builder.blended(blend, channel)?,
        };
        // The bits of zero are zeros.
        if let Some(value) = value {
            let field = builder.packed(value, at, size);
            packed = Some(packed.map_or(field, |all| builder.list.step(Step::Or([all, field]))));
        }
    }
    let kept = !(plan.bits as u32);
    let mut result = packed.unwrap_or_else(|| builder.list.step(Step::Bits(0)));
    if kept != 0 {
        let [stored, kept] = [Step::Stored, Step::Bits(kept)].map(|step| builder.list.step(step));
        let stored = builder.list.step(Step::And([stored, kept]));
        result = builder.list.step(Step::Or([stored, result]));
    }
    builder.list.finish(result);
    builder.list.is_complete().then_some(builder.list)
}

/// The alpha test of a pixel, as a list that gives 0 where it fails; `None` where alpha is rounded before.
pub(crate) fn of_alpha_test(test: &AlphaTest) -> Option<Epilogue> {
    if test.steps.is_some() {
        return None;
    }
    let mut list = Epilogue::default();
    let alpha = list.step(Step::Exported { output: 0, element: 3 });
    let reference = list.step(Step::Bits(test.reference.to_bits()));
    let [less, equal, greater] =
        [Step::Less([alpha, reference]), Step::Equal([alpha, reference]), Step::Less([reference, alpha])];
    let last = match test.compare {
        Compare::Never => Step::Bits(0),
        Compare::Less => less,
        Compare::Equal => equal,
        Compare::Greater => greater,
        Compare::Always => Step::Bits(u32::MAX),
        Compare::LessEqual => Step::Or([less, equal].map(|step| list.step(step))),
        Compare::GreaterEqual => Step::Or([greater, equal].map(|step| list.step(step))),
        Compare::NotEqual => Step::Xor([equal, Step::Bits(u32::MAX)].map(|step| list.step(step))),
    };
    let last = list.step(last);
    list.finish(last);
    Some(list)
}

impl Builder<'_> {
    fn number(&mut self, number: f32) -> StepIndex {
        self.list.step(Step::Bits(number.to_bits()))
    }

    /// `a * b`: adding -0 changes no sum.
    fn product(&mut self, a: StepIndex, b: StepIndex) -> StepIndex {
        let nothing = self.list.step(Step::Bits(SIGN));
        self.list.step(Step::Fused([a, b, nothing]))
    }

    fn sum(&mut self, a: StepIndex, b: StepIndex) -> StepIndex {
        let one = self.list.step(Step::Bits(ONE));
        self.list.step(Step::Fused([a, one, b]))
    }

    /// `a - b`
    fn difference(&mut self, a: StepIndex, b: StepIndex) -> StepIndex {
        let b = self.list.step(Step::Neg(b));
        self.sum(b, a)
    }

    fn exported(&mut self, output: u8, channel: usize) -> StepIndex {
        self.list.step(Step::Exported { output, element: channel as u8 })
    }

    /// A colour that is blended.
    fn source(&mut self, output: u8, channel: usize) -> StepIndex {
        let value = self.exported(output, channel);
        if self.clamps { self.list.step(Step::Clamp(value)) } else { value }
    }

    /// The number that the target holds in a channel.
    fn destination(&mut self, channel: usize) -> StepIndex {
        let Some((_, at, size)) = self.fractions.fields().find(|field| field.0 == channel) else {
            return self.number(if channel == 3 { 1.0 } else { 0.0 });
        };
        let mut bits = self.list.step(Step::Stored);
        if at > 0 {
            bits = self.list.step(Step::ShiftRight(bits, at as u8));
        }
        let most = u32::MAX >> (32 - size);
        if at + size < 32 {
            let mask = self.list.step(Step::Bits(most));
            bits = self.list.step(Step::And([bits, mask]));
        }
        let whole = self.list.step(Step::Number(bits));
        let [inverse, rest] = inverse(most).map(|number| self.number(number));
        let rest = self.product(whole, rest);
        self.list.step(Step::Fused([whole, inverse, rest]))
    }

    /// A channel's factor; `None` where it is a part of the constant colour, which is no part of a list.
    fn factor(&mut self, factor: Factor, channel: usize) -> Option<Term> {
        use Factor::{
            BothInverseSourceAlpha, BothSourceAlpha, ConstantAlpha, ConstantColour, DestinationAlpha,
            DestinationColour, One, OneMinusConstantAlpha, OneMinusConstantColour, OneMinusDestinationAlpha,
            OneMinusDestinationColour, OneMinusSource1Alpha, OneMinusSource1Colour, OneMinusSourceAlpha,
            OneMinusSourceColour, Source1Alpha, Source1Colour, SourceAlpha, SourceAlphaSaturate, SourceColour, Zero,
        };
        let output = self.output;
        Some(match factor {
            Zero => Term::Zero,
            One => Term::One,
            SourceColour => Term::Of(self.source(output, channel)),
            OneMinusSourceColour => Term::OneMinus(self.source(output, channel)),
            SourceAlpha | BothSourceAlpha => Term::Of(self.source(output, 3)),
            OneMinusSourceAlpha | BothInverseSourceAlpha => Term::OneMinus(self.source(output, 3)),
            DestinationAlpha => Term::Of(self.destination(3)),
            OneMinusDestinationAlpha => Term::OneMinus(self.destination(3)),
            DestinationColour => Term::Of(self.destination(channel)),
            OneMinusDestinationColour => Term::OneMinus(self.destination(channel)),
            SourceAlphaSaturate if channel == 3 => Term::One,
            SourceAlphaSaturate => {
                let (alpha, one) = (self.source(output, 3), self.number(1.0));
                let stored = self.destination(3);
                let rest = self.difference(one, stored);
                Term::Of(self.list.step(Step::Min([alpha, rest])))
            }
            Source1Colour => Term::Of(self.source(1, channel)),
            OneMinusSource1Colour => Term::OneMinus(self.source(1, channel)),
            Source1Alpha => Term::Of(self.source(1, 3)),
            OneMinusSource1Alpha => Term::OneMinus(self.source(1, 3)),
            ConstantColour | OneMinusConstantColour | ConstantAlpha | OneMinusConstantAlpha => return None,
        })
    }

    /// A colour times its factor; `None`: zero.
    fn term(&mut self, factor: &Term, value: impl FnOnce(&mut Self) -> StepIndex) -> Option<StepIndex> {
        Some(match factor {
            Term::Zero => return None,
            Term::One => value(self),
            Term::Of(factor) => {
                let value = value(self);
                self.product(value, *factor)
            }
            Term::OneMinus(of) => {
                let (value, one) = (value(self), self.number(1.0));
                let factor = self.difference(one, *of);
                self.product(value, factor)
            }
        })
    }

    /// A channel's result, before it is limited; `None` within: zero.
    fn blended(&mut self, blend: &Blend, channel: usize) -> Option<Option<StepIndex>> {
        let equation: BlendEquation = if channel == 3 { blend.alpha.unwrap_or(blend.colour) } else { blend.colour };
        let output = self.output;
        if matches!(equation.combine, Combine::Min | Combine::Max) {
            let both = [self.source(output, channel), self.destination(channel)];
            let step = if equation.combine == Combine::Min { Step::Min(both) } else { Step::Max(both) };
            return Some(Some(self.list.step(step)));
        }
        let [source, destination] = equation.factors();
        let (source, destination) = (self.factor(source, channel)?, self.factor(destination, channel)?);
        let source = self.term(&source, |builder| builder.source(output, channel));
        let destination = self.term(&destination, |builder| builder.destination(channel));
        let (first, second) = match equation.combine {
            Combine::ReverseSubtract => (destination, source),
            _ => (source, destination),
        };
        let adds = equation.combine == Combine::Add;
        Some(match (first, second) {
            (first, None) => first,
            (None, Some(second)) if adds => Some(second),
            (None, Some(second)) => Some(self.list.step(Step::Neg(second))),
            (Some(first), Some(second)) if adds => Some(self.sum(first, second)),
            (Some(first), Some(second)) => Some(self.difference(first, second)),
        })
    }

    /// The bits of a field. The sum of the product and 2^23 is rounded to a whole number, which its low bits are: as [`Fractions::pack`] has it.
    fn packed(&mut self, value: StepIndex, at: u32, size: u32) -> StepIndex {
        let most = u32::MAX >> (32 - size);
        let value = self.list.step(Step::Clamp(value));
        let [factor, whole] = [most as f32, (1u32 << 23) as f32].map(|number| self.number(number));
        let mut bits = self.list.step(Step::Fused([value, factor, whole]));
        // Shifted by 8 or more, the exponent is no longer there.
        if at < 8 {
            let mask = self.list.step(Step::Bits(most));
            bits = self.list.step(Step::And([bits, mask]));
        }
        if at > 0 { self.list.step(Step::ShiftLeft(bits, at as u8)) } else { bits }
    }
}

/// The inverse of a number as two: a whole number's product with the first, added to the rounded one with the second, is its quotient rounded once, for all fields of up to 16 bits.
fn inverse(most: u32) -> [f32; 2] {
    let exact = 1.0 / f64::from(most);
    let first = exact as f32;
    [first, (exact - f64::from(first)) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::blend::FACTORS;
    use crate::state::ColourTargetState;
    use crate::surface::format::{ColourFormat, NumberType, Swap};
    use ctm_exec::float::WideResult;
    use ctm_isa::r700::ops::DataFormat;

    /// Truth: the reference of one pixel.
    #[test]
    fn lists_are_what_targets_do() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = move |n: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % n
        };
        let is_constant = |factor: &Factor| {
            use Factor::{ConstantAlpha, ConstantColour, OneMinusConstantAlpha, OneMinusConstantColour};
            matches!(factor, ConstantColour | OneMinusConstantColour | ConstantAlpha | OneMinusConstantAlpha)
        };
        let factors: Vec<Factor> = FACTORS.into_iter().filter(|factor| !is_constant(factor)).collect();
        let (mut lists, mut elements) = (0, 0);
        let formats =
            [DataFormat::Fmt8_8_8_8, DataFormat::Fmt2_10_10_10, DataFormat::Fmt10_10_10_2, DataFormat::Fmt16_16];
        for case in 0..3000 {
            let data = formats[if random(3) > 0 { 0 } else { random(formats.len()) }];
            let swap = [Swap::Std, Swap::Alt, Swap::StdRev, Swap::AltRev][random(4)];
            let Ok(colours) = Colours::new(ColourFormat { data, number: NumberType::Unorm, swap }) else { continue };
            let combine =
                [Combine::Add, Combine::Subtract, Combine::ReverseSubtract, Combine::Min, Combine::Max][random(9) % 5];
            let mut equation = || BlendEquation {
                source: factors[random(factors.len())],
                destination: factors[random(factors.len())],
                combine,
            };
            let blend = Blend { colour: equation(), alpha: Some(equation()) };
            let blend = [Some(blend), Some(Blend { alpha: None, ..blend }), None][random(3)];
            let n = random(2);
            let mut of = ColourState { multiwrite: random(2) == 0, ..ColourState::default() };
            of.targets[n] = ColourTargetState {
                write_mask: if random(2) == 0 { 15 } else { random(15) as u8 + 1 },
                blend,
                blend_clamp: random(2) == 0,
                truncate: false,
            };
            let bits = colours.mask(of.targets[n].write_mask);
            let plan = Plan { bits, replaces: false, blend };
            let Some(list) = of_target(&plan, &colours, &of, n) else { panic!("case {case}: {of:?}") };
            lists += 1;
            for _ in 0..24 {
                let stored = (random(1 << 31) << 1 | random(2)) as u32;
                let mut number = || {
                    match random(12) {
                        0 => [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40, 1e-30][random(6)],
                        1 | 2 => random(256) as f32 / 255.0,
                        3 => random(4) as f32 / 2.0 - 0.5,
                        _ => random(1 << 24) as f32 / 16_777_216.0 * 1.25 - 0.125,
                    }
                    .to_bits()
                };
                let outputs = [0, 1].map(|_| [0; 4].map(|_: u32| number()));
                let output = if of.multiwrite { 0 } else { n };
                let expected = plan.after(&colours, &of, n, stored.into(), outputs[output], outputs[1]) as u32;
                let found = list.apply(|output, element| outputs[usize::from(output)][usize::from(element)], stored);
                assert_eq!(found, expected, "case {case}: {stored:x} {outputs:x?} {of:?} {colours:?}");
                elements += 1;
            }
        }
        assert!(lists > 1000 && elements > 24_000, "{lists} {elements}");
    }

    /// Truth: the quotient.
    #[test]
    fn quotients_are_rounded_once() {
        // Not `f32::mul_add`: MinGW's rounds twice.
        let fused = |a: f32, b: f32, c: f32| WideResult::sum(f64::from(a) * f64::from(b), c.into()).get() as f32;
        for size in 2..=16 {
            let most = u32::MAX >> (32 - size);
            let [first, second] = inverse(most);
            for whole in (0..=most).map(|whole| whole as f32) {
                assert_eq!(fused(whole, first, whole * second), whole / most as f32, "{whole} of {size} bits");
            }
        }
    }
}
