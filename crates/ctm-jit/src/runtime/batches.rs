//! Launches of either instruction set: as streams, as wavefronts that store their own exports, or in batches on all
//! cores. After each batch the calling thread commits the sends of its groups in order.

use crate::launch::wavefronts::group::Stored;
use crate::launch::wavefronts::places::Places;
use crate::launch::wavefronts::wave::{Reads, lanes_of};
use crate::runtime::wavefronts::{Done, Wavefronts};
use crate::runtime::work::share;
use crate::runtime::worker::{Ended, Job, Left, TaskDone, Worker};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{VertexEvent, Written};
use ctm_exec::{Counters, Fault, Outcome, Position};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Lanes that run side by side before their sends are committed.
const LANES_PER_BATCH: u64 = 1 << 16;
/// Lanes that one task of a batch runs.
const LANES_PER_TASK: u64 = 1 << 10;

/// The result of a step that may fault.
pub type Result<T = (), E = Fault> = std::result::Result<T, E>;

/// A wavefront that has ended: its number, its lanes, its results.
pub type EndedAt<'a> = (u64, &'a Places, &'a Ended);

/// A launch of one of the instruction sets, and its memory: all differences between the two.
pub trait Launched: Sync {
    /// Gives read access to memory; `None` is passed where memory refuses a constant, which the reference interpreter
    /// will report.
    fn reading<T>(&self, with: impl FnOnce(Option<Reads<'_>>) -> T) -> T;

    /// Whether the launch may read memory that it writes.
    fn is_aliased(&self) -> bool;

    /// Runs the launch as a stream, and gives its counters; `None`, without effect, where it is no stream.
    fn stream(&mut self, _of: &Wavefronts<'_>) -> Option<Counters> {
        None
    }

    /// Runs the launch with wavefronts that store their exports as they end; `None`, and no effect, when memory maps no
    /// array for a target.
    fn stores(&mut self, of: &Wavefronts<'_>) -> Option<Result<Done>>;

    /// Runs the launch on this thread, in order, where each wavefront's exports can go to memory's rows of lanes as it ends; `None`, and no effect, where they have to be committed. The
    /// launch reads nothing that it writes, and keeps no order of sends.
    fn fills_rows(&mut self, _of: &Wavefronts<'_>) -> Option<Result<Done>> {
        None
    }

    /// Gives the jobs of these groups. A fault in scheduling a group does not concern earlier groups: it is reported
    /// after they have run.
    fn schedule(&mut self, _of: &Wavefronts<'_>, groups: Range<u64>) -> (Vec<Job>, Option<Fault>) {
        (groups.map(|group| Job { group, lanes: u64::MAX }).collect(), None)
    }

    /// Writes a dword to memory that threads share. Gives the size of the write.
    fn store(&mut self, stored: &Stored) -> Result<Written, MemoryFault>;

    /// Reports a lane's vertex event.
    fn say(&mut self, _at: Position, _event: VertexEvent) -> Result {
        Ok(())
    }

    /// Sends the exports of a wavefront's valid lanes, and counts these writes.
    fn send(&mut self, of: &Wavefronts<'_>, wave: EndedAt<'_>, counters: &mut Counters) -> Result;

    /// Runs a group by the reference interpreter, sends its results, and counts.
    fn reference(&mut self, of: &Wavefronts<'_>, job: Job, counters: &mut Counters) -> Result;

    /// Turns executions of blocks by wavefronts of `lanes` lanes into counters.
    fn count(&self, visits: &[u64], lanes: u64, counters: &mut Counters);

    /// The number of groups that ran, where they are not wavefronts.
    fn groups(&self) -> Option<u64> {
        None
    }
}

/// Counts writes.
pub const fn written(counters: &mut Counters, Written { elements, bytes }: Written) {
    counters.writes += elements;
    counters.write_bytes += bytes;
}

/// Runs a launch as a stream, or with wavefronts that store their exports; `None`, and no effect, where neither is
/// possible.
pub fn at_once(launched: &mut impl Launched, of: &Wavefronts<'_>) -> Option<Result<Outcome>> {
    if let Some(counters) = launched.stream(of) {
        return Some(Ok(Outcome { counters, findings: Vec::new() }.counted(of.counters)));
    }
    if of.waits || launched.is_aliased() {
        return None;
    }
    let done = launched.stores(of)?;
    Some(done.map(|done| finished(launched, of, done)))
}

/// Runs a launch.
///
/// # Errors
/// The fault of the first group that did wrong.
pub fn run(launched: &mut impl Launched, of: &Wavefronts<'_>) -> Result<Outcome> {
    if let Some(done) = at_once(launched, of) {
        return done;
    }
    if of.threads == 1
        && !of.waits
        && !launched.is_aliased()
        && let Some(done) = launched.fills_rows(of)
    {
        return done.map(|done| finished(launched, of, done));
    }
    in_batches(launched, of)
}

fn in_batches(launched: &mut impl Launched, of: &Wavefronts<'_>) -> Result<Outcome> {
    let alone = launched.is_aliased() || of.reads_back;
    let lanes = of.lanes as u64 * of.per_group;
    let batch = if alone { 1 } else { (LANES_PER_BATCH / lanes).max(1) };
    let per_task = LANES_PER_TASK.div_ceil(lanes) as usize;
    let count = of.waves.count().div_ceil(of.per_group);
    let mut all = Done::new(of);
    let mut worker = Worker::default();
    let mut first = 0;
    while first < count {
        let end = (first + batch).min(count);
        let (jobs, refused) = launched.schedule(of, first..end);
        let done = launched.reading(|given| {
            if alone {
                return vec![worker.task(of, &jobs, given)];
            }
            let tasks: Vec<&[Job]> = jobs.chunks(per_task).collect();
            share(of.threads, tasks.len(), Worker::default, |worker, task| worker.task(of, tasks[task], given))
        });
        for task in done {
            all.add(&task.done);
            commit(launched, of, task, &mut all.counters)?;
        }
        if let Some(fault) = refused {
            return Err(fault);
        }
        first = end;
    }
    Ok(finished(launched, of, all))
}

/// Sends the results of a task's groups in order: of each its writes to memory that threads share, then the vertex
/// events and exports of each wavefront. Groups that are left to the reference interpreter run now.
fn commit(launched: &mut impl Launched, of: &Wavefronts<'_>, task: TaskDone, counters: &mut Counters) -> Result {
    let mut places = Places::new();
    for (job, left) in task.groups {
        let mut store = |stored: &Stored| launched.store(stored).map(|stored| written(counters, stored));
        // Where memory refuses, the reference interpreter reports the fault and its place.
        let left = left.filter(|left| left.stored.iter().try_for_each(&mut store).is_ok());
        let Some(Left { waves, .. }) = left else {
            of.bailed_out.fetch_add(1, Ordering::Relaxed);
            launched.reference(of, job, counters)?;
            continue;
        };
        for (index, wave) in of.waves_of(job.group).zip(&waves) {
            of.waves.place(index, &mut places);
            for &(lane, event) in &wave.events {
                launched.say(places.position(lane.into()), event)?;
            }
            launched.send(of, (index, &places, wave), counters)?;
        }
    }
    Ok(())
}

/// All counters of a launch.
fn finished(launched: &impl Launched, of: &Wavefronts<'_>, done: Done) -> Outcome {
    let mut counters = done.counters;
    counters.groups = launched.groups().unwrap_or(counters.groups);
    for (visits, lanes) in done.visits.iter().zip([of.lanes as u64, of.waves.lanes_of_last()]) {
        launched.count(visits, lanes, &mut counters);
    }
    Outcome { counters, findings: Vec::new() }.counted(of.counters)
}

/// The lanes of a wavefront whose exports are sent, each with its written elements and their bits.
///
/// # Errors
/// The first one of `send`.
pub fn each_lane(exports: &[usize], wave: &Ended, mut send: impl FnMut(usize, &[(usize, u32)]) -> Result) -> Result {
    let mut elements = Vec::with_capacity(exports.len());
    lanes_of(wave.valid).try_for_each(|lane| {
        let all = exports.iter().zip(&wave.written).zip(&wave.rows);
        let written = all.filter(|((_, written), _)| **written >> lane & 1 == 1);
        elements.clear();
        elements.extend(written.map(|((&export, _), row)| (export, row[lane])));
        send(lane, &elements)
    })
}
