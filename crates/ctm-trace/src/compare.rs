//! The difference of two runs: the first output that differs, then the first instruction whose store differs.

use crate::record::Trace;
use crate::subject::{Chosen, Subject};
use ctm_exec::observe::{Detail, Lanes, Place, Unit, Watcher, Wish};
use ctm_exec::{Fault, Position};
use ctm_jobs::job::{JobError, JobReport};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// An output value that two runs do not share.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The output.
    pub output: String,
    /// The element.
    pub at: Position,
    /// The channel.
    pub channel: usize,
    /// The first run's value.
    pub a: f32,
    /// The second run's value.
    pub b: f32,
    /// How many values differ in all.
    pub count: u64,
}

/// Final outputs of each processor of a launch: the last value of each place.
pub type Left = BTreeMap<Position, BTreeMap<Place, u32>>;

/// Records the final outputs of lanes.
pub(super) struct Leaving(Leavings);

/// The records of a [`Leaving`].
#[derive(Clone, Default)]
pub(super) struct Leavings(Arc<Mutex<(Left, Option<Fault>)>>);

impl Leavings {
    pub(super) fn take(&self) -> (Left, Option<Fault>) {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Leaving {
    pub(super) fn new() -> (Self, Leavings) {
        let left = Leavings::default();
        (Self(left.clone()), left)
    }
}

impl Watcher for Leaving {
    fn wish(&mut self, _: &[Position]) -> Wish {
        Wish::Watch
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let positions = unit.positions().to_vec();
        let all = Lanes::first(positions.len());
        let mut noted = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (left, ended) = &mut *noted;
        let mut events = Vec::new();
        while !unit.has_ended() {
            let result = unit.step(Detail::Values(&all), &mut events);
            for lane in events.drain(..).flat_map(|event| event.lanes) {
                let Some(&at) = positions.get(usize::from(lane.lane)) else { continue };
                let writes = lane.writes.iter().filter(|write| write.place.is_output());
                left.entry(at).or_default().extend(writes.map(|write| (write.place, write.bits)));
            }
            if let Err(fault) = result {
                *ended = Some(fault);
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The final outputs of a launch, as far as it runs without a fault.
///
/// # Errors
/// Everything that is wrong with the subject.
pub fn left_by(subject: &Subject, chosen: &Chosen) -> Result<(Left, Option<Fault>), JobError> {
    let (watcher, left) = Leaving::new();
    subject.watch(chosen, watcher)?;
    Ok(left.take())
}

/// Whether two values are the same: bit for bit, or within a tolerance that is relative above 1.
#[must_use]
pub fn agree(a: f32, b: f32, tolerance: f32) -> bool {
    a.to_bits() == b.to_bits() || (tolerance > 0.0 && (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(1.0))
}

/// Why two reports cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incomparable {
    /// Their outputs have other names.
    Outputs {
        /// Those of the first one.
        a: Vec<String>,
        /// Those of the second one.
        b: Vec<String>,
    },
    /// An output has another size or lies elsewhere.
    Shape {
        /// Its name.
        output: String,
        /// Columns, rows and channels of the first one.
        a: [usize; 3],
        /// Of the second one.
        b: [usize; 3],
    },
}

impl std::fmt::Display for Incomparable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Outputs { a, b } => write!(f, "the outputs are {} and {}", a.join(", "), b.join(", ")),
            Self::Shape { output, a, b } => write!(f, "{output} is {a:?} and {b:?} (columns, rows, channels)"),
        }
    }
}

impl std::error::Error for Incomparable {}

/// The first output value, output by output and row by row, in which two reports differ.
///
/// # Errors
/// They do not have the same outputs.
pub fn difference(a: &JobReport, b: &JobReport, tolerance: f32) -> Result<Option<Difference>, Incomparable> {
    let names = |report: &JobReport| report.outputs.iter().map(|o| o.name.clone()).collect::<Vec<_>>();
    if names(a) != names(b) {
        return Err(Incomparable::Outputs { a: names(a), b: names(b) });
    }
    let mut first: Option<Difference> = None;
    for (x, y) in a.outputs.iter().zip(&b.outputs) {
        let (Some(left), Some(right)) = (a.array(x.slot), b.array(y.slot)) else { continue };
        let shape = |array: &ctm_files::array::Array| [array.width, array.height, array.channels];
        if shape(&left) != shape(&right) || (x.rect.x, x.rect.y) != (y.rect.x, y.rect.y) {
            return Err(Incomparable::Shape { output: x.name.clone(), a: shape(&left), b: shape(&right) });
        }
        for n in 0..left.height * left.row_values() {
            let (p, q) = (left.value(n), right.value(n));
            if agree(p, q, tolerance) {
                continue;
            }
            let element = n / left.channels.max(1);
            let place = |offset: u32, n: usize| offset + u32::try_from(n).unwrap_or(0);
            let width = left.width.max(1);
            first
                .get_or_insert_with(|| Difference {
                    output: x.name.clone(),
                    at: Position { i: place(x.rect.x, element % width), j: place(x.rect.y, element / width) },
                    channel: n % left.channels.max(1),
                    a: p,
                    b: q,
                    count: 0,
                })
                .count += 1;
        }
    }
    Ok(first)
}

/// A store of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    /// The instruction, as a number of [`Trace::steps`].
    pub step: usize,
    /// The place.
    pub place: Place,
    /// The stored value.
    pub bits: u32,
}

/// Where two traces part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The store of the first trace; `None` where only the second one has a store.
    pub a: Option<Store>,
    /// Its counterpart; `None` where there is none.
    pub b: Option<Store>,
}

fn stores(trace: &Trace) -> Vec<Store> {
    let mut all = Vec::new();
    for (step, s) in trace.steps.iter().enumerate() {
        for event in s.event.lanes.iter().filter(|event| usize::from(event.lane) == trace.lane) {
            all.extend(event.writes.iter().map(|w| Store { step, place: w.place, bits: w.bits }));
        }
    }
    all
}

/// The first store in which two traces part, for the lanes that they are about: the n-th store to a place in one is the counterpart of the n-th to
/// that place in the other. Their instructions may be at different places.
#[must_use]
pub fn parting(a: &Trace, b: &Trace, tolerance: f32) -> Option<Parting> {
    let (left, right) = (stores(a), stores(b));
    let mut of_place: HashMap<Place, Vec<Store>> = HashMap::new();
    right.iter().for_each(|store| of_place.entry(store.place).or_default().push(*store));
    let mut seen: HashMap<Place, usize> = HashMap::new();
    for store in &left {
        let n = seen.entry(store.place).or_default();
        let other = of_place.get(&store.place).and_then(|stores| stores.get(*n)).copied();
        *n += 1;
        let same = other.is_some_and(|other| {
            if store.place.is_flag() {
                store.bits == other.bits
            } else {
                agree(f32::from_bits(store.bits), f32::from_bits(other.bits), tolerance)
            }
        });
        if !same {
            return Some(Parting { a: Some(*store), b: other });
        }
    }
    let mut counts: HashMap<Place, usize> = HashMap::new();
    let extra = right.iter().find(|store| {
        let n = counts.entry(store.place).or_default();
        *n += 1;
        *n > seen.get(&store.place).copied().unwrap_or(0)
    });
    extra.map(|store| Parting { a: None, b: Some(*store) })
}
