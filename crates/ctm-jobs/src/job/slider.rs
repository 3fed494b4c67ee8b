//! Sliders: constants of a job or a draw job that a viewer may change, with their ranges. `ctm serve` shows them; runs ignore them.

use super::keys;
use super::read::Reader;
use super::tree::{Origin, Table};
use ctm_launch::Ref;

/// A number of a constant, with the range in which a viewer may change it.
#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    /// The constant, as the job names it.
    pub constant: String,
    /// Which of its numbers, from 0 on.
    pub element: usize,
    /// The least value.
    pub from: f32,
    /// The largest value.
    pub to: f32,
    /// How long the way from the least to the largest value takes when it is played; `None`: it is only moved by hand.
    pub seconds: Option<f32>,
}

impl Slider {
    /// Whether a key of `constants` is the slider's.
    #[must_use]
    pub fn is_of(&self, key: &Ref) -> bool {
        match key {
            Ref::Name(name) => *name == self.constant,
            Ref::Index(n) => self.constant == n.to_string() || self.constant == format!("c{n}"),
        }
    }
}

impl super::model::Job {
    /// The value of a slider's number in the first pass that gives its constant; `None`: none does.
    #[must_use]
    pub fn slider_value(&self, slider: &Slider) -> Option<f32> {
        let found = self.passes.iter().flat_map(|pass| &pass.float).find(|(key, _)| slider.is_of(key))?;
        found.1.value.get(slider.element).map(|&bits| f32::from_bits(bits))
    }

    /// Gives a slider's number a value in every pass that has its constant.
    pub fn slide(&mut self, slider: &Slider, value: f32) {
        for (key, constant) in self.passes.iter_mut().flat_map(|pass| &mut pass.float) {
            if slider.is_of(key)
                && let Some(bits) = constant.value.get_mut(slider.element)
            {
                *bits = value.to_bits();
            }
        }
    }
}

impl crate::draw::Drawing {
    /// The value of a slider's number in the first draw that gives its constant; `None`: none does.
    #[must_use]
    pub fn slider_value(&self, slider: &Slider) -> Option<f32> {
        let found = self.draws.iter().flat_map(|draw| &draw.constants).find(|(name, _)| *name == slider.constant)?;
        found.1.get(slider.element).copied()
    }

    /// Gives a slider's number a value in every draw that has its constant.
    pub fn slide(&mut self, slider: &Slider, value: f32) {
        for (name, values) in self.draws.iter_mut().flat_map(|draw| &mut draw.constants) {
            if *name == slider.constant
                && let Some(number) = values.get_mut(slider.element)
            {
                *number = value;
            }
        }
    }
}

impl Reader {
    /// The sliders of a file, with their places.
    pub(crate) fn sliders(&mut self, root: &Table) -> Vec<(Slider, Origin)> {
        let mut sliders = Vec::new();
        for node in self.tables(root, "slider") {
            let Some(table) = self.section(node, &keys::SLIDER) else { continue };
            let constant =
                self.required(node, table, "constant", "[[slider]]").and_then(|n| self.string("constant", n));
            let element = table.get("element").map_or(Some(0), |n| self.integer("element", n, 0..=4095));
            let mut bound = |key: &str| self.required(node, table, key, "[[slider]]").and_then(|n| self.number(key, n));
            let (from, to) = (bound("from"), bound("to"));
            let seconds = table.get("seconds").map(|n| (n.origin, self.number("seconds", n)));
            let (Some(constant), Some(element), Some(from), Some(to)) = (constant, element, from, to) else { continue };
            if from.is_nan() || to.is_nan() || from >= to {
                self.error(
                    node.origin,
                    "bad-value",
                    format!("`from` is {from} and `to` is {to}, `from` must be below `to`"),
                );
                continue;
            }
            let seconds = match seconds {
                None => None,
                Some((_, Some(seconds))) if seconds > 0.0 && seconds <= 3600.0 => Some(seconds),
                Some((origin, seconds)) => {
                    if let Some(seconds) = seconds {
                        let message = format!("`seconds` is {seconds}, it must be above 0 and at most 3600");
                        self.error(origin, "bad-value", message);
                    }
                    continue;
                }
            };
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "constants have single precision; the element is checked"
            )]
            let slider = Slider {
                constant,
                element: element as usize,
                from: from as f32,
                to: to as f32,
                seconds: seconds.map(|seconds| seconds as f32),
            };
            sliders.push((slider, node.origin));
        }
        sliders
    }

    /// Reports sliders of numbers that the file does not give.
    pub(crate) fn sliders_have_values(
        &mut self,
        sliders: Vec<(Slider, Origin)>,
        value: impl Fn(&Slider) -> Option<f32>,
    ) -> Vec<Slider> {
        for (slider, origin) in &sliders {
            if value(slider).is_none() {
                let Slider { constant, element, .. } = slider;
                let message = format!(
                    "the slider is for number {element} of constant `{constant}`, which `constants` does not give"
                );
                self.error(*origin, "no-constant", message);
            }
        }
        sliders.into_iter().map(|(slider, _)| slider).collect()
    }
}
