//! A thread's state to run groups of wavefronts whose exports are committed later, and its results.

use crate::launch::lanes::{BailOut, Result};
use crate::launch::wavefronts::group::{Group, Stored};
use crate::launch::wavefronts::wave::{Ran, Reads, Row, Wave};
use crate::runtime::wavefronts::{Done, Runner, Wavefronts};
use ctm_exec::r700::VertexEvent;
use ctm_exec::watch::Part;
use ctm_exec::{Counters, LaneRows};
use std::ops::Range;

/// A group of wavefronts that is to run.
#[derive(Clone, Copy)]
pub struct Job {
    pub group: u64,
    /// Its lanes that are to run, where it is one wavefront.
    pub lanes: u64,
}

/// The results of a wavefront.
pub struct Ended {
    /// Valid lanes whose exports are sent.
    pub valid: u64,
    /// Lanes that wrote each element that the program may export.
    pub written: Vec<u64>,
    /// Rows of these.
    pub rows: Vec<Row>,
    /// Its vertex events, in order: lane and event.
    pub events: Vec<(u8, VertexEvent)>,
}

/// The exports of a wavefront: its valid lanes whose exports are sent, and of each element that the program may export its number, the lanes that wrote it, and
/// its row.
pub struct WaveExports<'e, I> {
    pub valid: u64,
    pub elements: I,
    /// The number of its first lane.
    pub first: usize,
    pub counters: &'e mut Counters,
}

impl<'e, 'r, I: Iterator<Item = (usize, u64, &'r Row)>> WaveExports<'e, I> {
    /// Stores them for lanes side by side, as memory would do for each lane. `target`: by its number.
    pub fn keep<T: Copy + PartialEq>(self, target: impl Fn(usize) -> T, rows: &mut LaneRows<T>) {
        let Self { valid, elements, first, counters } = self;
        let mut elements = elements.map(|(export, written, row)| (export, written & valid, row)).peekable();
        while let Some(&(export, ..)) = elements.peek() {
            let number = export / 4;
            let place = rows.targets().iter().position(|&t| t == target(number));
            let mut any = 0;
            while let Some((export, written, row)) = elements.next_if(|(export, ..)| export / 4 == number) {
                any |= written;
                if let Some(place) = place.filter(|_| written != 0) {
                    rows.store_all(first, (place, export % 4), row, written);
                    counters.write_bytes += 4 * u64::from(written.count_ones());
                }
            }
            counters.writes += if place.is_some() { u64::from(any.count_ones()) } else { 0 };
        }
        rows.survive_all(first, valid);
    }
}

impl Ended {
    /// Its exports. `exports`: the elements that the program may export; `first`: the number of its first lane.
    pub fn exports<'s>(
        &'s self,
        exports: &'s [usize],
        first: usize,
        counters: &'s mut Counters,
    ) -> WaveExports<'s, impl Iterator<Item = (usize, u64, &'s Row)>> {
        let elements = exports.iter().zip(&self.written).zip(&self.rows);
        let elements = elements.map(|((&export, &written), row)| (export, written, row));
        WaveExports { valid: self.valid, elements, first, counters }
    }
}

/// The results of one group.
pub struct Left {
    /// The writes that memory gets first.
    pub stored: Vec<Stored>,
    pub waves: Vec<Ended>,
}

/// The results of one task.
pub struct TaskDone {
    pub done: Done,
    /// `None`: the reference interpreter has to run the group, in its turn.
    pub groups: Vec<(Job, Option<Left>)>,
}

/// One wavefront of a group in progress.
struct Member<'a> {
    runner: Runner<'a>,
    /// The number of control-flow instructions issued up to its yield.
    waits_at: Option<u64>,
}

/// A thread's state to run groups of wavefronts.
#[derive(Default)]
pub struct Worker<'a> {
    /// The wavefronts of a group.
    members: Vec<Member<'a>>,
    /// The state that they share.
    group: Group,
}

impl Member<'_> {
    /// Runs it to its end or to its next yield; `goes_on`: from the last one.
    fn run(
        &mut self,
        (of, part): (&Wavefronts<'_>, &Part),
        group: &mut Group,
        given: Reads<'_>,
        goes_on: bool,
    ) -> Result {
        let Self { runner, waits_at } = self;
        let shared = runner.shared(of, given, part);
        std::mem::swap(group, &mut runner.wave.fetched.group);
        let ran = runner.run(of, &shared, goes_on);
        std::mem::swap(group, &mut runner.wave.fetched.group);
        *waits_at = match ran? {
            Ran::ToEnd => None,
            Ran::ToYield(number) => {
                let code = &of.program.code;
                let place = code.yields.get(usize::from(number)).ok_or(BailOut)?;
                let passed = code.blocks.iter().zip(&runner.wave.visits);
                let steps: u64 = passed.map(|(block, n)| u64::from(block.tally.steps()) * n).sum();
                let own = code.blocks.get(usize::from(place.block)).ok_or(BailOut)?.tally.steps();
                Some(steps - u64::from(own) + u64::from(place.before))
            }
        };
        Ok(())
    }
}

impl<'a> Worker<'a> {
    /// Runs groups. `None` is passed where memory refuses a constant, which the reference interpreter will report.
    pub fn task(&mut self, of: &Wavefronts<'a>, jobs: &[Job], given: Option<Reads<'_>>) -> TaskDone {
        let mut done = Done::new(of);
        let mut groups = Vec::with_capacity(jobs.len());
        let part = of.watch.part(jobs.first().map_or(0, |job| job.group));
        let mut is_spent = false;
        for &job in jobs {
            let ran = match given {
                Some(given) if !is_spent && !part.is_stopped() => self.here((of, &part), job, given, &mut done),
                _ => Err(BailOut),
            };
            let left = match ran {
                Ok(waves) => {
                    let exports = &of.program.exports;
                    let ended = |Member { runner: Runner { wave, covered, .. }, .. }: &mut Member<'_>| Ended {
                        valid: wave.valid & *covered,
                        written: exports.iter().map(|&export| wave.written[export]).collect(),
                        rows: wave.exports.clone(),
                        events: std::mem::take(&mut wave.fetched.events),
                    };
                    let waves = self.members[..waves].iter_mut().map(ended).collect();
                    Some(Left { stored: std::mem::take(&mut self.group.stored), waves })
                }
                Err(BailOut) => {
                    if !is_spent && self.is_spent(of, job.group) {
                        is_spent = true;
                        // The reference interpreter will find the same fault, with its instruction.
                        part.fault_in(job.group);
                    }
                    None
                }
            };
            groups.push((job, left));
        }
        TaskDone { done, groups }
    }

    /// Whether a wavefront of a group that ran here has used up its instructions. Several groups that run as one may issue more than each of them.
    fn is_spent(&self, of: &Wavefronts<'_>, group: u64) -> bool {
        let waves = of.waves_of(group);
        let mut members = self.members.iter().take((waves.end - waves.start) as usize);
        !of.joint && members.any(|member| member.runner.wave.is_spent)
    }

    /// Runs groups up to the first one that is left to the reference interpreter, and gives how many ran. `ended` gets the number of each wavefront that ended, the wavefront and
    /// the valid lanes whose exports are sent.
    pub fn until_left(
        &mut self,
        of: &Wavefronts<'a>,
        groups: Range<u64>,
        given: Option<Reads<'_>>,
        done: &mut Done,
        ended: &mut dyn FnMut(u64, &Wave, u64, &mut Counters),
    ) -> u64 {
        let part = of.watch.part(groups.start);
        for group in groups.clone() {
            let job = Job { group, lanes: u64::MAX };
            let ran = match given {
                Some(given) if !part.is_stopped() => self.here((of, &part), job, given, done),
                _ => Err(BailOut),
            };
            let Ok(waves) = ran else {
                if self.is_spent(of, group) {
                    part.fault_in(group);
                }
                return group - groups.start;
            };
            for (index, Member { runner: Runner { wave, covered, .. }, .. }) in
                of.waves_of(group).zip(&self.members[..waves])
            {
                ended(index, wave, wave.valid & covered, &mut done.counters);
            }
        }
        groups.end - groups.start
    }

    /// Runs a group here. The results of its wavefronts are in `members`, and counted; gives the number of wavefronts.
    ///
    /// # Errors
    /// [`BailOut`]: the reference interpreter has to.
    pub fn here(
        &mut self,
        (of, part): (&Wavefronts<'a>, &Part),
        job: Job,
        given: Reads<'_>,
        done: &mut Done,
    ) -> Result<usize> {
        let waves = self.group((of, part), job, given)?;
        for Member { runner, .. } in &self.members[..waves] {
            done.ended(of, (1, runner.wave.places.inside.count_ones().into()), runner, given.guest);
        }
        Ok(waves)
    }

    /// Runs the wavefronts of a group. Where wavefronts may see effects of others, the one that has issued the fewest
    /// control-flow instructions goes on, of several the first: this is the order of the reference interpreter, in
    /// which they take turns, one such instruction each.
    fn group(&mut self, (of, part): (&Wavefronts<'a>, &Part), job: Job, given: Reads<'_>) -> Result<usize> {
        let waves = of.waves_of(job.group);
        let count = (waves.end - waves.start) as usize;
        let member = || Member { runner: Runner::new(of.program), waits_at: None };
        self.members.resize_with(count.max(self.members.len()), member);
        let members = &mut self.members[..count];
        self.group.begin();
        for ((n, member), index) in members.iter_mut().enumerate().zip(waves) {
            member.runner.begin(of, index, (n, job.lanes), true);
            member.run((of, part), &mut self.group, given, false)?;
        }
        while let Some(member) =
            members.iter_mut().filter(|member| member.waits_at.is_some()).min_by_key(|member| member.waits_at)
        {
            member.run((of, part), &mut self.group, given, true)?;
        }
        Ok(count)
    }
}
