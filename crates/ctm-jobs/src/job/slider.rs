//! Sliders: constants of a job or a draw job that a viewer may change, with their ranges. `ctm serve` shows them; runs ignore them.

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
