//! Counts for every instruction and every processor of a launch.

use crate::choice::Choice;
use crate::listing::Listing;
use crate::subject::{Chosen, Subject};
use ctm_exec::observe::{At, Detail, Unit, Watcher, Wish};
use ctm_exec::{Control, Counters, Domain, Fault, Position};
use ctm_jobs::job::{Job, JobError};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts of one instruction over the whole launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How often groups executed it.
    pub executed: u64,
    /// Covered lanes that did, summed over executions.
    pub lanes: u64,
    /// Covered lanes there were.
    pub covered: u64,
    /// Executions for some of the covered lanes, but not all.
    pub divergent: u64,
    /// Its cost.
    pub cost: Counters,
}

/// Counts of a launch; of draws, of all launches of a stage of one draw.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The program.
    pub listing: Arc<Listing>,
    /// The domain.
    pub domain: Domain,
    /// Each instruction that was executed.
    pub counts: BTreeMap<At, Count>,
    /// How often an instruction came directly after another one, in the same group or wavefront.
    pub edges: BTreeMap<(At, At), u64>,
    /// Instructions that each processor executed, row by row.
    pub instructions: Vec<u32>,
    /// The count of each processor's most executed instruction.
    pub iterations: Vec<u32>,
    /// Instructions that the group executed while the processor waited.
    pub waited: Vec<u32>,
    /// The fault that ended the launch.
    pub fault: Option<Fault>,
}

/// How far a profile is, for another thread.
#[derive(Debug, Default)]
pub struct ProfileProgress {
    counted: AtomicU64,
    all: AtomicU64,
}

impl ProfileProgress {
    /// The share of lanes that are counted, 0 to 1; `None` before it is known how many there are.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a share for people")]
    pub fn share(&self) -> Option<f64> {
        let (counted, all) = (self.counted.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        (all > 0).then(|| (counted as f64 / all as f64).min(1.0))
    }
}

struct Counting {
    profile: Arc<Mutex<Profile>>,
    progress: Arc<ProfileProgress>,
}

impl Watcher for Counting {
    fn wish(&mut self, _: &[Position]) -> Wish {
        Wish::Watch
    }

    fn watch(&mut self, unit: &mut Unit<'_>) -> Result<ControlFlow<()>, Fault> {
        let mut profile = self.profile.lock().unwrap_or_else(PoisonError::into_inner);
        let lanes = unit.positions().len() as u64;
        let result = profile.add(unit);
        self.progress.counted.fetch_add(lanes, Ordering::Relaxed);
        if let Err(fault) = &result {
            profile.fault = Some(fault.clone());
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Profile {
    /// Counts one launch of a job; launches before it run on the job's engine.
    ///
    /// # Errors
    /// Everything that is wrong with the job or the choice. A fault of the launch itself is part of the profile.
    pub fn of_job(job: &Job, choice: Choice) -> Result<Self, JobError> {
        let subject = Subject::Job(Box::new(job.clone()));
        Self::of(&subject, &subject.choose(choice, None)?)
    }

    /// Counts a launch; of draws, the chosen stage of the chosen draw, pixels as often as they have fragments.
    ///
    /// # Errors
    /// Everything that is wrong with the subject.
    pub fn of(subject: &Subject, chosen: &Chosen) -> Result<Self, JobError> {
        Self::of_under(&Control::none(), subject, chosen)
    }

    /// The same under a [`Control`], as of [`Subject::watch_under`].
    ///
    /// # Errors
    /// The same. That it was cancelled, or its time is over, is a fault as of any launch.
    pub fn of_under(control: &Control, subject: &Subject, chosen: &Chosen) -> Result<Self, JobError> {
        Self::of_noting(control, subject, chosen, &Arc::default())
    }

    /// The same, and another thread can ask how far it is.
    ///
    /// # Errors
    /// The same.
    pub fn of_noting(
        control: &Control,
        subject: &Subject,
        chosen: &Chosen,
        progress: &Arc<ProfileProgress>,
    ) -> Result<Self, JobError> {
        let (domain, lanes) = subject.whole_domain(chosen)?;
        progress.all.store(lanes, Ordering::Relaxed);
        let elements = domain.width() as usize * domain.height() as usize;
        let profile = Arc::new(Mutex::new(Self {
            listing: Arc::new(chosen.listing()),
            domain,
            counts: BTreeMap::new(),
            edges: BTreeMap::new(),
            instructions: vec![0; elements],
            iterations: vec![0; elements],
            waited: vec![0; elements],
            fault: None,
        }));
        subject.watch_whole(
            control,
            chosen,
            Counting { profile: Arc::clone(&profile), progress: Arc::clone(progress) },
        )?;
        let profile = profile.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(profile.clone())
    }

    fn element(&self, at: Position) -> Option<usize> {
        let d = self.domain;
        d.contains(at).then(|| (at.j - d.j0) as usize * d.width() as usize + (at.i - d.i0) as usize)
    }

    fn add(&mut self, unit: &mut Unit<'_>) -> Result<(), Fault> {
        let positions = unit.positions().to_vec();
        let elements: Vec<Option<usize>> = positions.iter().map(|&at| self.element(at)).collect();
        let mut times: BTreeMap<(At, u16), Vec<u32>> = BTreeMap::new();
        let mut covered: BTreeMap<u16, Vec<bool>> = BTreeMap::new();
        let mut last: BTreeMap<u16, At> = BTreeMap::new();
        let mut events = Vec::new();
        while !unit.has_ended() {
            let result = unit.step(Detail::Masks, &mut events);
            for event in events.drain(..) {
                let now = covered.entry(event.wave).or_insert_with(|| {
                    let flow = unit.flow(event.wave);
                    let first = usize::from(flow.first_lane);
                    let mut of = vec![false; positions.len()];
                    flow.lanes.iter().enumerate().for_each(|(n, lane)| of[first + n] = lane.covered);
                    of
                });
                if let Some(from) = last.insert(event.wave, event.at) {
                    *self.edges.entry((from, event.at)).or_default() += 1;
                }
                let there = now.iter().filter(|&&c| c).count() as u64;
                let lanes: Vec<usize> = event.executing.iter().filter(|&lane| now.get(lane) == Some(&true)).collect();
                let count = self.counts.entry(event.at).or_default();
                count.executed += 1;
                count.lanes += lanes.len() as u64;
                count.covered += there;
                count.divergent += u64::from(!lanes.is_empty() && (lanes.len() as u64) < there);
                count.cost.add(&event.cost);
                let times = times.entry((event.at, event.wave)).or_insert_with(|| vec![0; positions.len()]);
                lanes.iter().for_each(|&lane| times[lane] += 1);
                for (lane, &is_covered) in now.iter().enumerate() {
                    let Some(element) = elements[lane].filter(|_| is_covered) else { continue };
                    if event.executing.contains(lane) {
                        self.instructions[element] = self.instructions[element].saturating_add(1);
                    } else {
                        self.waited[element] = self.waited[element].saturating_add(1);
                    }
                }
                if let Some(flow) = &event.flow {
                    let first = usize::from(flow.first_lane);
                    flow.lanes.iter().enumerate().for_each(|(n, lane)| now[first + n] = lane.covered);
                }
            }
            result?;
        }
        for of_instruction in times.values() {
            for (lane, &n) in of_instruction.iter().enumerate() {
                if let Some(element) = elements[lane] {
                    self.iterations[element] = self.iterations[element].max(n);
                }
            }
        }
        Ok(())
    }

    /// Counts of all instructions together.
    #[must_use]
    pub fn total(&self) -> Count {
        let mut total = Count::default();
        for count in self.counts.values() {
            total.executed += count.executed;
            total.lanes += count.lanes;
            total.covered += count.covered;
            total.divergent += count.divergent;
            total.cost.add(&count.cost);
        }
        total
    }

    /// The counts of a line of the listing, from 1.
    #[must_use]
    pub fn of_line(&self, line: usize) -> Option<Count> {
        let at = &self.listing.lines.get(line.checked_sub(1)?)?.at;
        let mut sum: Option<Count> = None;
        for count in at.iter().filter_map(|at| self.counts.get(at)) {
            let sum = sum.get_or_insert_default();
            sum.executed += count.executed;
            sum.lanes += count.lanes;
            sum.covered += count.covered;
            sum.divergent += count.divergent;
            sum.cost.add(&count.cost);
        }
        sum
    }
}
