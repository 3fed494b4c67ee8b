//! Epilogues: the operations on a pixel's colours after its program, as a straight list.
//!
//! A host turns its fixed functions after the program (blending, logic operation, conversion, write mask) into one list for each target. It reads the exported colours and the element that
//! the target holds, and makes the new element. Engines compile it with the program; [`Epilogue::apply`] is its meaning.
//!
//! Arithmetic is that of an R5xx ([`x1k::ops`](crate::x1k::ops)): denormals are read as zeros, results are rounded once.

use crate::float::{SIGN, flush, number};
use crate::x1k::ops::{ZeroRule, clamp, mad, max, min, output_modifier};
use ctm_isa::x1k::ops::Omod;

/// The most steps of a list.
pub const MOST_STEPS: usize = 1 << 10;

/// An earlier step of the list: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepIndex(u16);

impl StepIndex {
    /// The number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation: 32 bits from the results of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// An element (0 is red) of a colour output, as the program exports it.
    Exported {
        /// The output, 0 to 7.
        output: u8,
        /// The element, 0 to 3.
        element: u8,
    },
    /// The element that the target holds.
    Stored,
    /// These bits.
    Bits(u32),
    /// The sign bit turned.
    Neg(StepIndex),
    /// `a * b + c`, rounded once.
    Fused([StepIndex; 3]),
    /// Limited to 0 to 1; NaN becomes 0.
    Clamp(StepIndex),
    /// All bits where `a < b`, else none. Denormals are zeros; nothing is less than a NaN, and a NaN less than nothing.
    Less([StepIndex; 2]),
    /// All bits where `a == b`, else none. Denormals are zeros; a NaN equals nothing.
    Equal([StepIndex; 2]),
    /// `a < b ? a : b`, denormals becoming zeros. The operands are no bits of NaNs but those that arithmetic makes.
    Min([StepIndex; 2]),
    /// `a > b ? a : b`, in the same way.
    Max([StepIndex; 2]),
    /// The nearest number to a signed integer.
    Number(StepIndex),
    /// Bits that are set in both.
    And([StepIndex; 2]),
    /// Bits that are set in one or both.
    Or([StepIndex; 2]),
    /// Bits that differ.
    Xor([StepIndex; 2]),
    /// Shifted towards the highest bit, by 0 to 31.
    ShiftLeft(StepIndex, u8),
    /// Shifted towards the lowest bit, by 0 to 31; zeros come in.
    ShiftRight(StepIndex, u8),
}

/// A list of steps; the result of the last one is the new element.
///
/// ```
/// use ctm_exec::epilogue::{Epilogue, Step};
///
/// // Red as 8 bits, over the low byte of the old element.
/// let mut list = Epilogue::default();
/// let red = list.step(Step::Exported { output: 0, element: 0 });
/// let red = list.step(Step::Clamp(red));
/// let [most, whole] = [255f32, 8_388_608.0].map(|x| list.step(Step::Bits(x.to_bits())));
/// let scaled = list.step(Step::Fused([red, most, whole]));
/// let [low, others] = [0xff, !0xff].map(|bits| list.step(Step::Bits(bits)));
/// let (new, stored) = (list.step(Step::And([scaled, low])), list.step(Step::Stored));
/// let kept = list.step(Step::And([stored, others]));
/// list.step(Step::Or([kept, new]));
/// assert_eq!(list.apply(|_, _| 1f32.to_bits(), 0x1234_5678), 0x1234_56ff);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Epilogue {
    steps: Vec<Step>,
}

impl Epilogue {
    /// Appends a step that is not there yet; gives its number. Beyond [`MOST_STEPS`] nothing is appended: [`Self::is_complete`].
    pub fn step(&mut self, step: Step) -> StepIndex {
        let place = self.steps.iter().position(|other| *other == step);
        let place = place.unwrap_or_else(|| {
            self.steps.push(step);
            self.steps.len() - 1
        });
        StepIndex(place.min(MOST_STEPS) as u16)
    }

    /// Whether it has a step, and no more than [`MOST_STEPS`].
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        !self.steps.is_empty() && self.steps.len() <= MOST_STEPS
    }

    /// Makes an earlier step the last one.
    pub fn finish(&mut self, last: StepIndex) {
        self.steps.truncate(last.index() + 1);
    }

    /// The steps, in order.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether the result depends on the element that the target holds.
    #[must_use]
    pub fn reads_stored(&self) -> bool {
        self.steps.contains(&Step::Stored)
    }

    /// Appends the list in dwords: lists differ if their dwords do.
    pub fn key(&self, to: &mut Vec<u32>) {
        to.push(self.steps.len() as u32);
        for step in &self.steps {
            let of = |operation: u32, operands: &[StepIndex]| {
                let operand = |n: usize| operands.get(n).map_or(0, |step| u32::from(step.0));
                [operation, operand(0), operand(1), operand(2)]
            };
            to.extend(match *step {
                Step::Exported { output, element } => [0, output.into(), element.into(), 0],
                Step::Stored => [1, 0, 0, 0],
                Step::Bits(bits) => [2, bits, 0, 0],
                Step::Neg(a) => of(3, &[a]),
                Step::Fused(abc) => of(4, &abc),
                Step::Clamp(a) => of(5, &[a]),
                Step::Min(ab) => of(6, &ab),
                Step::Max(ab) => of(7, &ab),
                Step::Number(a) => of(8, &[a]),
                Step::And(ab) => of(9, &ab),
                Step::Or(ab) => of(10, &ab),
                Step::Xor(ab) => of(11, &ab),
                Step::ShiftLeft(a, by) => [12, u32::from(a.0), by.into(), 0],
                Step::ShiftRight(a, by) => [13, u32::from(a.0), by.into(), 0],
                Step::Less(ab) => of(14, &ab),
                Step::Equal(ab) => of(15, &ab),
            });
        }
    }

    /// The new element of a pixel. `exported`: an element of an output; `stored`: the element that the target holds.
    #[must_use]
    pub fn apply(&self, exported: impl Fn(u8, u8) -> u32, stored: u32) -> u32 {
        let mut results: Vec<u32> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let of = |step: StepIndex| results.get(step.index()).copied().unwrap_or(0);
            let bits = match *step {
                Step::Exported { output, element } => exported(output, element),
                Step::Stored => stored,
                Step::Bits(bits) => bits,
                Step::Neg(a) => of(a) ^ SIGN,
                Step::Fused(abc) => {
                    let [a, b, c] = abc.map(of);
                    output_modifier(mad(a, b, c, ZeroRule::Ieee), Omod::U1, false)
                }
                Step::Clamp(a) => clamp(of(a)),
                Step::Less([a, b]) => ones(number(of(a)) < number(of(b))),
                Step::Equal([a, b]) => ones(number(of(a)) == number(of(b))),
                Step::Min([a, b]) => flush(min(of(a), of(b))),
                Step::Max([a, b]) => flush(max(of(a), of(b))),
                Step::Number(a) => (of(a).cast_signed() as f32).to_bits(),
                Step::And([a, b]) => of(a) & of(b),
                Step::Or([a, b]) => of(a) | of(b),
                Step::Xor([a, b]) => of(a) ^ of(b),
                Step::ShiftLeft(a, by) => of(a) << (by & 31),
                Step::ShiftRight(a, by) => of(a) >> (by & 31),
            };
            results.push(bits);
        }
        results.last().copied().unwrap_or(stored)
    }
}

/// All bits where something holds.
const fn ones(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

/// The epilogue of a colour target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetEpilogue {
    /// The number of the target: R700 [`Target::Pixel`](crate::r700::Target::Pixel), X1K [`Target::Colour`](crate::x1k::Target::Colour).
    pub target: u8,
    /// Its element, of 32 bits, after a pixel's exports.
    pub epilogue: Epilogue,
}
