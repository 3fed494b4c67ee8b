//! Where two sources of draws part: the first draw whose targets differ, the first pixel of it, then the first instruction whose store differs.

use crate::choice::Choice;
use crate::compare::Left;
use crate::compare::{Leaving, Parting, agree, parting};
use crate::record::{Limits, Trace};
use crate::subject::drawing::{Draws, TargetContents};
use crate::subject::{DrawStage, Subject, wrong};
use ctm_exec::observe::Place;
use ctm_exec::{Control, Engine, Position};
use ctm_jobs::job::JobError;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;

/// The first value of a target that two sources do not share.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetDifference {
    /// The target: `colour0`, `depth`, `stencil`.
    pub target: String,
    /// The pixel.
    pub at: Position,
    /// The channel.
    pub channel: usize,
    /// The bits of the first one.
    pub a: u32,
    /// Of the second one.
    pub b: u32,
    /// The bits are integers.
    pub integers: bool,
    /// How many values differ in all.
    pub count: u64,
}

/// The difference of two sources.
#[derive(Clone, Debug, PartialEq)]
pub enum Apart {
    /// A draw, by its number from 0 on: the first after which targets differ.
    Draw(usize, TargetDifference),
    /// All draws that both have are the same; one has more.
    Count {
        /// Draws of the first one.
        a: usize,
        /// Draws of the second one.
        b: usize,
    },
}

/// The first value, target by target and row by row, in which two sets of targets differ.
///
/// # Errors
/// They do not have the same targets.
pub fn target_difference(
    a: &[TargetContents],
    b: &[TargetContents],
    tolerance: f32,
) -> Result<Option<TargetDifference>, JobError> {
    let told = |targets: &[TargetContents]| {
        let told = targets.iter().map(|target| {
            let ([width, height], kind) = (target.size, if target.integers { " of integers" } else { "" });
            format!("{} of {width} x {height}{kind}", target.name)
        });
        let told: Vec<String> = told.collect();
        if told.is_empty() { "no target".to_owned() } else { told.join(", ") }
    };
    let (of_a, of_b) = (told(a), told(b));
    if of_a != of_b {
        return Err(wrong("no-comparison", format!("the targets are {of_a} and {of_b}")));
    }
    let mut first: Option<TargetDifference> = None;
    for (x, y) in a.iter().zip(b).filter(|(x, y)| x.texels != y.texels) {
        let agrees = |p: u32, q: u32| p == q || !x.integers && agree(f32::from_bits(p), f32::from_bits(q), tolerance);
        for (n, (p, q)) in (0u32..).zip(x.texels.iter().zip(&y.texels)) {
            for channel in (0..x.channels).filter(|&c| !agrees(p[c], q[c])) {
                let width = x.size[0].max(1);
                first
                    .get_or_insert_with(|| TargetDifference {
                        target: x.name.clone(),
                        at: Position { i: n % width, j: n / width },
                        channel,
                        a: p[channel],
                        b: q[channel],
                        integers: x.integers,
                        count: 0,
                    })
                    .count += 1;
            }
        }
    }
    Ok(first)
}

/// The targets after a draw, by its number from 0 on; after the last one without a number. They come with the draw's number.
///
/// # Errors
/// There is no such draw, or the source is invalid.
pub fn targets_behind(
    draws: &dyn Draws,
    engine: Box<dyn Engine>,
    wanted: Option<usize>,
) -> Result<(usize, Vec<TargetContents>), JobError> {
    let mut found = None;
    let mut count = 0;
    let last = if wanted.is_none() { Some(draws.list()?.len()) } else { None };
    let meant = wanted.or_else(|| last?.checked_sub(1));
    draws.targets(engine, &mut |draw, look| {
        count = draw + 1;
        if meant != Some(draw) {
            return ControlFlow::Continue(());
        }
        found = Some(look().map(|targets| (draw, targets)));
        ControlFlow::Break(())
    })?;
    found.unwrap_or_else(|| {
        let first = draws.first();
        Err(match meant {
            Some(_) if count == 0 => wrong("no-such-launch", "nothing is drawn"),
            Some(n) => {
                let message =
                    format!("there is no draw {}, there are draws {first} to {}", n + first, count + first - 1);
                wrong("no-such-launch", message)
            }
            None => wrong("no-such-launch", "nothing is drawn"),
        })
    })
}

/// Draws two sources side by side, each on its engine, and compares their targets after every draw. Memory holds the targets of two draws.
///
/// # Errors
/// A source is invalid, or targets cannot be compared.
pub fn apart(
    (a, engine_a): (&dyn Draws, Box<dyn Engine>),
    (b, engine_b): (&dyn Draws, Box<dyn Engine>),
    tolerance: f32,
) -> Result<Option<Apart>, JobError> {
    let (send, receive) = sync_channel(0);
    let (mut found, mut count_b) = (Ok(None), 0);
    let (drawn_a, drawn_b) = std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            let mut count = 0;
            let drawn = a.targets(engine_a, &mut |draw, look| {
                count = draw + 1;
                if send.send(look()).is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            drawn.map(|()| count)
        });
        let drawn = b.targets(engine_b, &mut |draw, look| {
            let Ok(x) = receive.recv() else {
                // The other one has ended.
                count_b += 1;
                return ControlFlow::Continue(());
            };
            count_b += 1;
            found = match (x, look()) {
                (Ok(x), Ok(y)) => match target_difference(&x, &y, tolerance) {
                    Ok(found) => Ok(found.map(|found| Apart::Draw(draw, found))),
                    Err(error) => {
                        let said: Vec<_> = error.reports().iter().map(|r| r.diagnostic.message.clone()).collect();
                        Err(wrong("no-comparison", format!("draw {}: {}", draw + b.first(), said.join("; "))))
                    }
                },
                // Targets that neither source can show are equal.
                (Err(x), Err(y)) if x.to_string() == y.to_string() => Ok(None),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
            match found {
                Ok(None) => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        });
        // The remaining draws of the other source are counted.
        if matches!(found, Ok(None)) && drawn.is_ok() {
            while receive.recv().is_ok() {}
        }
        drop(receive);
        let ended = other.join().unwrap_or_else(|_| Err(wrong("no-comparison", "the first one could not be drawn")));
        (ended, drawn)
    });
    if let Some(found) = found? {
        return Ok(Some(found));
    }
    drawn_b?;
    let (a, b) = (drawn_a?, count_b);
    Ok((a != b).then_some(Apart::Count { a, b }))
}

/// Where the programs of a draw part.
#[derive(Clone, Debug)]
pub struct DrawParting {
    /// The program.
    pub stage: DrawStage,
    /// The pixel; the vertex and its instance.
    pub at: Position,
    /// The trace of the first source.
    pub a: Trace,
    /// The trace of the second source.
    pub b: Trace,
    /// The first store that differs.
    pub parting: Parting,
}

/// Fragments of a pixel that are compared.
const MOST_FRAGMENTS: u64 = 256;

/// The first difference between the programs of a draw, for the fragments of a pixel in order. Where the pixel programs' initial values differ, the
/// vertex programs are compared first. Draws are counted from 0 on. `None`: all stores are the same as far as they were followed.
///
/// # Errors
/// A source is invalid; or the program of one of them does not run for the pixel.
pub fn draws_parting(
    (a, draw_a): (&Arc<dyn Draws>, usize),
    (b, draw_b): (&Arc<dyn Draws>, usize),
    at: Position,
    limits: &Limits,
    tolerance: f32,
) -> Result<Option<DrawParting>, JobError> {
    let subject = |draws: &Arc<dyn Draws>, stage| Subject::Drawing(Arc::clone(draws), stage);
    let trace = |subject: &Subject, pass, at, launch| -> Result<Trace, JobError> {
        let chosen = subject.choose(Choice { pass: Some(pass), launch }, Some(at))?;
        Trace::of(subject, &chosen, at, limits).map_err(JobError::from)
    };
    let (pixels_a, pixels_b) = (subject(a, DrawStage::Pixel), subject(b, DrawStage::Pixel));
    for fragment in 0..MOST_FRAGMENTS {
        let both = (trace(&pixels_a, draw_a, at, Some(fragment)), trace(&pixels_b, draw_b, at, Some(fragment)));
        let (x, y) = match both {
            (Ok(x), Ok(y)) => (x, y),
            // Both have no further fragment.
            (Err(_), Err(_)) if fragment > 0 => break,
            // One covers the pixel and the other does not: their vertices lie elsewhere.
            (Err(error), _) | (_, Err(error)) => {
                return vertices_parting((a, draw_a), (b, draw_b), limits, tolerance)?
                    .map_or(Err(error), |p| Ok(Some(p)));
            }
        };
        let begins_apart = !begin_alike(&x, &y, tolerance);
        if begins_apart && let Some(parting) = vertices_parting((a, draw_a), (b, draw_b), limits, tolerance)? {
            return Ok(Some(parting));
        }
        if let Some(parting) = parting(&x, &y, tolerance) {
            return Ok(Some(DrawParting { stage: DrawStage::Pixel, at, a: x, b: y, parting }));
        }
    }
    vertices_parting((a, draw_a), (b, draw_b), limits, tolerance)
}

/// Registers that the lane of a trace read before it wrote them.
fn beginning(trace: &Trace) -> BTreeMap<Place, u32> {
    let (mut begins, mut written) = (BTreeMap::new(), BTreeSet::new());
    for (_, event) in trace.of_lane(trace.lane) {
        for read in event.reads.iter().filter(|read| usize::from(read.lane) == trace.lane) {
            if matches!(read.place, Place::Temp(..) | Place::Gpr(..)) && !written.contains(&read.place) {
                begins.entry(read.place).or_insert(read.bits);
            }
        }
        written.extend(event.writes.iter().map(|write| write.place));
    }
    begins
}

/// Whether the initial values that both traces read are the same.
fn begin_alike(a: &Trace, b: &Trace, tolerance: f32) -> bool {
    let (a, b) = (beginning(a), beginning(b));
    let alike = |x: u32, y: u32| x == y || agree(f32::from_bits(x), f32::from_bits(y), tolerance);
    a.iter().all(|(place, &x)| b.get(place).is_none_or(|&y| alike(x, y)))
}

/// The first vertex that leaves something else, instance by instance, and where its programs part.
fn vertices_parting(
    (a, draw_a): (&Arc<dyn Draws>, usize),
    (b, draw_b): (&Arc<dyn Draws>, usize),
    limits: &Limits,
    tolerance: f32,
) -> Result<Option<DrawParting>, JobError> {
    let of = |draws: &Arc<dyn Draws>, draw| -> Result<(Subject, Left), JobError> {
        let subject = Subject::Drawing(Arc::clone(draws), DrawStage::Vertex);
        let chosen = subject.choose(Choice { pass: Some(draw), launch: None }, None)?;
        let (watcher, left) = Leaving::new();
        subject.watch_whole(&Control::none(), &chosen, watcher)?;
        Ok((subject, left.take().0))
    };
    // Vertices that no program makes leave nothing.
    let (Ok((vertices_a, left_a)), Ok((vertices_b, left_b))) = (of(a, draw_a), of(b, draw_b)) else { return Ok(None) };
    let alike = |x: &BTreeMap<Place, u32>, y: &BTreeMap<Place, u32>| {
        let agrees = |(p, q): ((&Place, &u32), (&Place, &u32))| {
            p.0 == q.0 && (p.1 == q.1 || agree(f32::from_bits(*p.1), f32::from_bits(*q.1), tolerance))
        };
        x.len() == y.len() && x.iter().zip(y).all(agrees)
    };
    let differs = left_a.iter().filter(|(at, x)| left_b.get(at).is_some_and(|y| !alike(x, y))).map(|(at, _)| *at);
    let Some(at) = differs.min_by_key(|at| (at.j, at.i)) else { return Ok(None) };
    let trace = |subject: &Subject, draw| -> Result<Trace, JobError> {
        let chosen = subject.choose(Choice { pass: Some(draw), launch: None }, Some(at))?;
        Trace::of(subject, &chosen, at, limits).map_err(JobError::from)
    };
    let (x, y) = (trace(&vertices_a, draw_a)?, trace(&vertices_b, draw_b)?);
    let parting = parting(&x, &y, tolerance);
    Ok(parting.map(|parting| DrawParting { stage: DrawStage::Vertex, at, a: x, b: y, parting }))
}
