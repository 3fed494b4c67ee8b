//! What one thread does: groups by machine code, by the portable back end, or by the reference interpreter.

use super::run::Run;
use crate::ir::x1k::{Code, OUTPUT_VARS};
use crate::launch::grid;
use crate::launch::lanes::{BailOut, LANES, Lanes, Mask, Row, Tallies, Visits};
use crate::launch::source::{Reach, Source};
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::places::Places;
use crate::launch::wavefronts::wave::{Guest, Shared};
use crate::runtime::wavefronts::{Runner, Wavefronts};
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

/// What one thread needs to run groups.
pub(super) struct Worker<'a> {
    of: Wavefronts<'a>,
    runner: Runner<'a>,
    lanes: Vec<Lanes>,
    visits: Vec<Visits>,
    tallies: Tallies,
    reference: Option<Group>,
}

impl<'a> Worker<'a> {
    pub(super) fn new(run: &Run<'a>) -> Self {
        let form = run.artifact.form();
        let of = run.wavefronts(form);
        Self {
            runner: Runner::new(&form.program),
            of,
            lanes: vec![Lanes::new(); form.groups],
            visits: vec![Visits::default(); run.artifact.code.blocks.len()],
            tallies: Tallies::default(),
            reference: None,
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
        let fetches = &run.artifact.form().program.code.fetches;
        let bindings: Vec<_> =
            fetches.iter().map(|fetch| source.views.and_then(|views| views.binding(fetch))).collect();
        if part.is_abandoned() {
            // Nobody will look at it.
            done.fault = Some(Fault { kind: FaultKind::Cancelled, pc: 0, position: None });
            return done;
        }
        // Only the last group of a domain may be short. Then it runs by itself.
        let full = jobs.iter().take_while(|job| job.group < run.grid.full_groups()).count();
        let waves = jobs[..full].chunks(self.lanes.len()).chain(jobs[full..].chunks(1));
        for (wave, short) in waves.map(|wave| (wave, wave[0].group >= run.grid.full_groups())) {
            if self.wave(run, wave, (source, &bindings), &part).is_ok() {
                done.did.pass(short, &self.visits, &self.tallies);
                for (job, lanes) in wave.iter().zip(&self.lanes) {
                    done.processors += u64::from(job.covered.count_ones());
                    let rows = self.of.program.exports.iter().map(|&index| lanes.outputs[index]).collect();
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
    fn wave(
        &mut self,
        run: &Run<'_>,
        jobs: &[Job],
        (source, bindings): (Source<'_>, &[Option<Binding<'_>>]),
        part: &Part,
    ) -> Result<(), BailOut> {
        // The reference interpreter says so, with the instruction that it has come to.
        if part.is_stopped() {
            return Err(BailOut);
        }
        let Self { of, runner, lanes, .. } = self;
        let wave = &mut runner.wave;
        wave.reset();
        (wave.existing, wave.valid) = (0, 0);
        let mut places = Places::new();
        for (n, job) in jobs.iter().enumerate() {
            let of_group = run.grid.places(job.group);
            let range = LANES * n..LANES * (n + 1);
            places.i[range.clone()].copy_from_slice(&of_group.i);
            places.j[range].copy_from_slice(&of_group.j);
            wave.existing |= u64::from(run.existing(job.group)) << (LANES * n);
            wave.valid |= u64::from(job.covered) << (LANES * n);
        }
        places.lanes = LANES * jobs.len();
        let group = run.launch.group.lanes();
        let numbers = jobs.iter().map(|job| job.group * group as u64);
        of.starts.fill_groups(&places, numbers, &mut wave.start);
        runner.places = places;
        let uniforms = run.launch.constants.float.as_flattened();
        let shared = runner.shared(of, Guest::X1k(source), (uniforms, bindings), part);
        let shared = Shared { lanes: LANES * lanes.len(), ..shared };
        runner.run(of, &shared, false)?;
        let wave = &runner.wave;
        for (n, lanes) in lanes.iter_mut().enumerate() {
            let of_group = |mask: u64| (mask >> (LANES * n)) as Mask;
            lanes.covered = of_group(wave.valid);
            for (&output, row) in of.program.exports.iter().zip(&wave.exports) {
                lanes.written[output] = of_group(wave.written[output]);
                lanes.outputs[output].copy_from_slice(&row[LANES * n..LANES * (n + 1)]);
            }
        }
        // Block 0 only begins, and those behind the program's count nothing.
        self.visits.iter_mut().zip(&wave.visits[1..]).for_each(|(all, &n)| *all = Visits { groups: n, ..*all });
        self.tallies = Tallies(wave.tallies);
        Ok(())
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
        places: &grid::Places,
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
