//! What one thread does: groups by machine code, by the portable back end, or by the reference interpreter.

#[cfg(target_arch = "x86_64")]
use super::Variant;
use super::portable::Portable;
use super::run::Run;
#[cfg(target_arch = "x86_64")]
use crate::codegen::x86::{Frame, Native};
use crate::ir::x1k::{Code, OUTPUT_VARS};
use crate::launch::grid::Places;
use crate::launch::lanes::{BailOut, Lanes, Mask, Row, Tallies, Visits};
use crate::launch::source::{Reach, Source};
use ctm_exec::watch::Part;
use ctm_exec::x1k::Outputs;
use ctm_exec::x1k::group::{Access, Context, Group};
use ctm_exec::x1k::lanes::LaneMask;
use ctm_exec::x1k::plan::plan;
use ctm_exec::{Counters, Fault, FaultKind, Position};

/// A group that is to run.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) group: u64,
    pub(super) covered: Mask,
}

/// What one group left.
pub(super) enum Left {
    /// It ran here: rows of the output components that the program may write.
    Here { covered: Mask, written: [Mask; OUTPUT_VARS], rows: Vec<Row> },
    /// The reference interpreter ran it.
    Reference { counters: Box<Counters>, outputs: Vec<(Position, Outputs)> },
}

/// What groups did, for counters.
pub(super) struct Done {
    /// Visits of blocks by groups that have all their lanes, and by the last one of a domain when it is short.
    pub(super) visits: [Vec<Visits>; 2],
    /// What the portable machine counted for lanes.
    pub(super) tallies: Tallies,
}

impl Done {
    /// Nothing yet.
    pub(super) fn new(code: &Code) -> Self {
        let visits = std::array::from_fn(|_| vec![Visits::default(); code.blocks.len()]);
        Self { visits, tallies: Tallies::default() }
    }

    /// Adds what others did.
    pub(super) fn add(&mut self, other: &Self) {
        for (all, visits) in self.visits.iter_mut().zip(&other.visits) {
            add_visits(all, visits);
        }
        self.tallies.add(&other.tallies);
    }

    /// Adds what groups did that are all full, or (`true`) short.
    pub(super) fn pass(&mut self, short: bool, visits: &[Visits], tallies: &Tallies) {
        add_visits(&mut self.visits[usize::from(short)], visits);
        self.tallies.add(tallies);
    }
}

fn add_visits(all: &mut [Visits], more: &[Visits]) {
    all.iter_mut().zip(more).for_each(|(all, visits)| all.add(visits));
}

/// What one task left: what each of its groups did, up to the first fault.
pub(super) struct TaskDone {
    pub(super) did: Done,
    pub(super) processors: u64,
    pub(super) groups: Vec<(u64, Left)>,
    pub(super) fault: Option<Fault>,
}

/// A worker in use.
pub(super) struct Held<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) worker: Option<Worker>,
}

impl Held<'_> {
    pub(super) fn get(&mut self) -> &mut Worker {
        self.worker.get_or_insert_with(|| Worker::new(self.run))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            // It belongs to a launch.
            worker.reference = None;
            self.run.idle().push(worker);
        }
    }
}

/// What one thread needs to run groups.
pub(super) struct Worker {
    pub(super) machine: Engines,
    /// Start values of a span.
    pub(super) starts: Vec<Row>,
    pub(super) lanes: Vec<Lanes>,
    pub(super) visits: Vec<Visits>,
    pub(super) tallies: Tallies,
    reference: Option<Group>,
    /// Where the groups lie that run now.
    pub(super) places: Vec<Places>,
}

/// What runs them.
pub(super) enum Engines {
    Portable(Box<Portable>),
    #[cfg(target_arch = "x86_64")]
    Native(Attempts),
}

/// Runs of machine code that may have to be repeated by careful code.
#[cfg(target_arch = "x86_64")]
pub(super) struct Attempts {
    pub(super) frame: Frame,
    careful: Option<Frame>,
    /// Passes.
    pub(super) made: u64,
    /// Passes that careful code had to run again.
    pub(super) failed: u64,
}

#[cfg(target_arch = "x86_64")]
impl Attempts {
    fn new(native: &Native) -> Self {
        Self { frame: native.frame(), careful: None, made: 0, failed: 0 }
    }

    /// Not where more than a quarter has failed.
    pub(super) const fn are_worth_it(&self) -> bool {
        self.failed < 16 || 4 * self.failed < self.made
    }
}

impl Worker {
    pub(super) fn new(run: &Run<'_>) -> Self {
        #[cfg(target_arch = "x86_64")]
        let native = run.native.map(|native| (Engines::Native(Attempts::new(native)), native.copies));
        #[cfg(not(target_arch = "x86_64"))]
        let native = None;
        let portable = || (Engines::Portable(Box::new(Portable::new(run.artifact.form()))), run.artifact.copies);
        let (machine, copies) = native.unwrap_or_else(portable);
        Self {
            machine,
            starts: Vec::new(),
            lanes: vec![Lanes::new(run.launch.group.lanes(), run.ramps.len()); copies],
            visits: vec![Visits::default(); run.artifact.code.blocks.len()],
            tallies: Tallies::default(),
            reference: None,
            places: Vec::with_capacity(copies),
        }
    }

    /// Runs groups in order, up to the first fault.
    pub(super) fn task(&mut self, run: &Run<'_>, jobs: &[Job], source: Source<'_>) -> TaskDone {
        let mut done = TaskDone {
            did: Done::new(&run.artifact.code),
            processors: 0,
            groups: Vec::with_capacity(jobs.len()),
            fault: None,
        };
        let Some(first) = jobs.first() else { return done };
        let part = run.watch.part(first.group);
        if part.is_abandoned() {
            // Nobody will look at it.
            done.fault = Some(Fault { kind: FaultKind::Cancelled, pc: 0, position: None });
            return done;
        }
        // Only the last group of a domain may be short. Then it runs by itself.
        let full = jobs.iter().take_while(|job| job.group < run.grid.full_groups()).count();
        let waves = jobs[..full].chunks(self.lanes.len()).chain(jobs[full..].chunks(1));
        for (wave, short) in waves.map(|wave| (wave, wave[0].group >= run.grid.full_groups())) {
            if self.wave(run, wave, source, &part).is_ok() {
                done.did.pass(short, &self.visits, &self.tallies);
                for (job, lanes) in wave.iter().zip(&self.lanes) {
                    done.processors += u64::from(job.covered.count_ones());
                    let rows = run.artifact.outputs.iter().map(|&index| lanes.outputs[index]).collect();
                    let left = Left::Here { covered: lanes.covered, written: lanes.written, rows };
                    done.groups.push((job.group, left));
                }
            } else if let Err(fault) = self.references(run, wave, source, &part, &mut done) {
                part.fault();
                done.fault = Some(fault);
                return done;
            }
        }
        run.watch.done(jobs.iter().map(|job| u64::from(job.covered.count_ones())).sum());
        done
    }

    /// Runs groups together.
    pub(super) fn wave(&mut self, run: &Run<'_>, wave: &[Job], memory: Source<'_>, part: &Part) -> Result<(), BailOut> {
        // The reference interpreter says so, with the instruction that it has come to.
        if part.is_stopped() {
            return Err(BailOut);
        }
        self.places.clear();
        self.places.extend(wave.iter().map(|job| run.grid.places(job.group)));
        self.pass(run, wave, memory, part, false)
    }

    /// Runs groups together whose [`Self::places`] are there; `careful`: by careful code, as something has fallen.
    pub(super) fn pass(
        &mut self,
        run: &Run<'_>,
        wave: &[Job],
        memory: Source<'_>,
        part: &Part,
        careful: bool,
    ) -> Result<(), BailOut> {
        for ((job, lanes), places) in wave.iter().zip(&mut self.lanes).zip(&self.places) {
            (lanes.existing, lanes.covered) = (run.existing(job.group), job.covered);
            lanes.start.iter_mut().zip(&run.ramps).for_each(|(row, ramp)| *row = ramp.row(places));
        }
        self.visits.fill(Visits::default());
        self.tallies = Tallies::default();
        let lanes = &mut self.lanes[..wave.len()];
        match &mut self.machine {
            #[cfg(target_arch = "x86_64")]
            Engines::Native(attempts) => {
                let (constants, limits) = (run.launch.constants, (run.fuel, part.flag()));
                let native = run.native.ok_or(BailOut)?;
                if !careful && attempts.are_worth_it() {
                    attempts.made += 1;
                    if native.run(&mut attempts.frame, lanes, constants, &memory, &mut self.visits, limits)? {
                        return Ok(());
                    }
                    attempts.failed += 1;
                    self.visits.fill(Visits::default());
                }
                let careful = run.artifact.native(Variant { careful: true, ..run.variant() }).ok_or(BailOut)?;
                let frame = attempts.careful.get_or_insert_with(|| careful.frame());
                careful.run(frame, lanes, constants, &memory, &mut self.visits, limits).map(drop)
            }
            Engines::Portable(machine) => {
                let limits = (run.fuel, part.flag());
                machine.run(run.launch.constants, memory, limits, lanes, (&mut self.visits, &mut self.tallies))
            }
        }
    }

    /// Runs groups by the reference interpreter.
    fn references(
        &mut self,
        run: &Run<'_>,
        jobs: &[Job],
        source: Source<'_>,
        part: &Part,
        done: &mut TaskDone,
    ) -> Result<(), Fault> {
        for job in jobs {
            let places = run.grid.places(job.group);
            done.groups.push((job.group, self.reference(run, job, &places, source, part)?));
        }
        Ok(())
    }

    fn reference(
        &mut self,
        run: &Run<'_>,
        job: &Job,
        places: &Places,
        source: Source<'_>,
        part: &Part,
    ) -> Result<Left, Fault> {
        let steps = run.steps.get_or_init(|| plan(run.launch.program));
        let context = Context { launch: run.launch, steps };
        let group = self.reference.get_or_insert_with(|| Group::new(run.launch));
        let lanes = run.existing(job.group).count_ones() as usize;
        let positions: Vec<_> = (0..lanes).map(|lane| places.position(lane)).collect();
        let covered = LaneMask::of(|lane| job.covered >> lane & 1 == 1);
        match source.reach {
            Reach::Shared(memory) => group.run(&context, part, &positions, &[covered], &mut Access::Shared(memory))?,
            Reach::Alone(memory) => {
                let mut ran = Ok(());
                memory.again(&mut |memory| {
                    ran = group.run(&context, part, &positions, &[covered], &mut Access::Exclusive(memory));
                });
                ran?;
            }
        }
        Ok(Left::Reference { counters: Box::new(*group.counters()), outputs: group.outputs().collect() })
    }
}
