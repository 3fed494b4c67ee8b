//! The sliders of a job file.

use super::Reader;
use crate::job::keys;
use crate::job::slider::Slider;
use crate::job::tree::{Origin, Table};

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
