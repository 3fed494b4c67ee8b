//! What one thread needs to run wavefronts of a launch, and what it leaves.

use super::artifact::Artifact;
use super::engine::Run;
use crate::launch::lanes::BailOut;
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::group::{Group, Stored};
use crate::launch::wavefronts::reads::reads;
use crate::launch::wavefronts::wave::{Guest, LANES, Ran, Row, Shared, Wave};
use crate::runtime::wavefronts::Runner;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::memory::Shared as OnChip;
use ctm_exec::r700::wavefront::{Context, Wavefront};
use ctm_exec::r700::{Buffer, Exports, Memory, Sampler, Space, Texture, VertexEvent, Written};
use ctm_exec::watch::Part;
use ctm_exec::{Counters, Fault, FaultKind, Position};
use std::sync::atomic::Ordering;

/// What a wavefront that ran here left.
pub struct Ended {
    /// Valid lanes.
    pub valid: u64,
    /// Lanes that wrote each element that the program may export.
    pub written: Vec<u64>,
    /// Rows of these.
    pub rows: Vec<Row>,
    /// What it said about vertices, in order: lane and event.
    pub events: Vec<(u8, VertexEvent)>,
}

/// What a wavefront that the reference interpreter ran left.
pub struct BailedOut {
    pub events: Vec<(Position, VertexEvent)>,
    pub exports: Vec<(Position, Exports)>,
    pub survivors: Vec<Position>,
}

/// What one group left.
pub enum Left {
    /// It ran here: what memory gets, then what each wavefront left.
    Here { stored: Vec<Stored>, waves: Vec<Ended> },
    /// The reference interpreter ran it.
    Reference(Vec<BailedOut>),
    /// The reference interpreter has to run it, when it is its turn to write memory.
    Later,
}

/// What one task left: its groups up to the first fault.
pub struct TaskDone {
    pub counters: Counters,
    pub visits: Vec<u64>,
    /// With their numbers.
    pub groups: Vec<(u64, Left)>,
    pub fault: Option<Fault>,
}

/// One wavefront of a group under way.
struct Member<'a> {
    runner: Runner<'a>,
    /// Where it has yielded: how many control-flow instructions it has issued.
    waits_at: Option<u64>,
}

/// What one thread needs to run groups of wavefronts.
pub struct Worker<'a> {
    artifact: &'a Artifact,
    /// The wavefronts of a group.
    members: Vec<Member<'a>>,
    /// What they share.
    group: Group,
    /// Passages of blocks by full wavefronts since the task began.
    visits: Vec<u64>,
    reference: Option<(Vec<Wavefront>, OnChip)>,
}

impl<'a> Member<'a> {
    fn new(artifact: &'a Artifact) -> Self {
        Self { runner: Runner::new(artifact), waits_at: None }
    }

    /// Runs it to its end or to its next yield; `goes_on`: from the last one.
    fn run(
        &mut self,
        (run, part): (&Run<'_>, &Part),
        group: &mut Group,
        (uniforms, bindings, memory): (&[u32], &[Option<Binding<'_>>], &dyn Memory),
        goes_on: bool,
    ) -> Result<(), BailOut> {
        let Self { runner, waits_at } = self;
        if run.covered.is_some() && runner.places.inside == 0 {
            *waits_at = None;
            return Ok(());
        }
        let shared = runner.shared(run, Guest::R700(run.launch, memory), (uniforms, bindings), part);
        let shared = Shared { reads_back: run.artifact.reads_back, ..shared };
        std::mem::swap(group, &mut runner.wave.fetched.group);
        let ran = runner.run(run, &shared, goes_on);
        std::mem::swap(group, &mut runner.wave.fetched.group);
        *waits_at = match ran? {
            Ran::ToEnd | Ran::Underflow => None,
            Ran::ToYield(number) => {
                let code = &run.artifact.code;
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
    /// For a launch.
    pub fn new(run: &Run<'a>) -> Self {
        let artifact = run.artifact;
        let globals = if artifact.uses_globals { usize::from(run.launch.global_gprs.min(124)) } else { 0 };
        let mut group = Group::default();
        group.globals.resize(globals, [[0; LANES]; 4]);
        Self { artifact, members: vec![Member::new(artifact)], group, visits: Vec::new(), reference: None }
    }

    /// Begins a task.
    pub fn begin(&mut self) {
        self.visits = vec![0; self.artifact.code.blocks.len()];
    }

    /// Passages of each block by the task's full wavefronts.
    pub fn end(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.visits)
    }

    /// What the last wavefront, a group by itself, left, and its lanes whose exports are sent.
    pub fn last_wave(&self) -> (&Wave, u64) {
        let Runner { wave, covered, .. } = &self.members[0].runner;
        (wave, wave.valid & covered)
    }

    /// Runs groups up to the first fault.
    pub fn task(&mut self, run: &Run<'_>, groups: &[u64], uniforms: Option<&[u32]>, memory: &dyn Memory) -> TaskDone {
        let mut counters = Counters::default();
        let mut done = Vec::with_capacity(groups.len());
        let mut fault = None;
        let bindings: Vec<_> =
            run.artifact.code.fetches.iter().map(|fetch| Binding::of(run.launch, memory, fetch)).collect();
        self.begin();
        let part = run.watch.part(groups.first().copied().unwrap_or_default());
        let mut is_spent = false;
        for &index in groups {
            let ran = match uniforms {
                Some(uniforms) if !is_spent && !part.is_stopped() => {
                    self.here((run, &part), index, uniforms, &bindings, memory, &mut counters)
                }
                _ => Err(BailOut),
            };
            if ran.is_err() {
                let waves = run.waves_of(index);
                let mut members = self.members.iter().take((waves.end - waves.start) as usize);
                if !is_spent && members.any(|member| member.runner.wave.is_spent) {
                    is_spent = true;
                    // The reference interpreter will find the same, and say at which instruction.
                    part.fault_in(index);
                }
            }
            let left = match ran {
                Ok(waves) => {
                    let exports = &self.artifact.exports;
                    let ended = |Member { runner: Runner { wave, covered, .. }, .. }: &mut Member<'_>| Ended {
                        valid: wave.valid & *covered,
                        written: exports.iter().map(|&export| wave.written[export]).collect(),
                        rows: wave.exports.clone(),
                        events: std::mem::take(&mut wave.fetched.events),
                    };
                    let waves = self.members[..waves].iter_mut().map(ended).collect();
                    Ok(Left::Here { stored: std::mem::take(&mut self.group.stored), waves })
                }
                Err(BailOut) if self.artifact.writes_memory() => Ok(Left::Later),
                // Nobody will look at it.
                Err(BailOut) if part.is_abandoned() => Err(Fault { kind: FaultKind::Cancelled, pc: 0, position: None }),
                Err(BailOut) => self.reference(run, index, &mut Reader { memory }, &mut counters),
            };
            match left {
                Ok(left) => done.push((index, left)),
                Err(found) => {
                    part.fault();
                    fault = Some(found);
                    break;
                }
            }
        }
        TaskDone { counters, visits: self.end(), groups: done, fault }
    }

    /// Runs a group here. What its wavefronts leave is in `members`, and counted; gives how many they are.
    ///
    /// # Errors
    /// [`BailOut`]: the reference interpreter has to.
    pub fn here(
        &mut self,
        (run, part): (&Run<'_>, &Part),
        index: u64,
        uniforms: &[u32],
        bindings: &[Option<Binding<'_>>],
        memory: &dyn Memory,
        counters: &mut Counters,
    ) -> Result<usize, BailOut> {
        // Whoever runs the group again begins with what was there.
        let globals = self.artifact.uses_globals.then(|| self.group.globals.clone());
        let ran = self.group((run, part), index, (uniforms, bindings, memory));
        if let (Err(BailOut), Some(globals)) = (&ran, globals) {
            self.group.globals = globals;
        }
        let waves = ran?;
        let lanes = run.launch.wavefront.lanes();
        for Runner { wave, places, .. } in self.members[..waves].iter().map(|member| &member.runner) {
            counters.groups += 1;
            counters.processors += u64::from(places.inside.count_ones());
            run.watch.done(places.inside.count_ones().into());
            wave.count(counters);
            if places.lanes < lanes {
                // Only the last wavefront may be short.
                run.count(&wave.visits, places.lanes as u64, counters);
            } else {
                self.visits.iter_mut().zip(&wave.visits).for_each(|(all, n)| *all += n);
            }
        }
        Ok(waves)
    }

    /// Runs the wavefronts of a group. Where they may see what others do, the one that has issued the fewest control-flow instructions goes
    /// on, of several the first: that is the reference interpreter's order, in which they take turns, one such instruction each.
    fn group(
        &mut self,
        (run, part): (&Run<'_>, &Part),
        index: u64,
        given: (&[u32], &[Option<Binding<'_>>], &dyn Memory),
    ) -> Result<usize, BailOut> {
        let waves = run.waves_of(index);
        let count = (waves.end - waves.start) as usize;
        let artifact = self.artifact;
        self.members.resize_with(count.max(self.members.len()), || Member::new(artifact));
        let members = &mut self.members[..count];
        self.group.begin();
        for ((n, member), index) in members.iter_mut().enumerate().zip(waves) {
            member.runner.begin(run, index, n, true);
            member.run((run, part), &mut self.group, given, false)?;
        }
        while let Some(member) =
            members.iter_mut().filter(|member| member.waits_at.is_some()).min_by_key(|member| member.waits_at)
        {
            member.run((run, part), &mut self.group, given, true)?;
        }
        Ok(count)
    }

    /// Runs a group by the reference interpreter.
    pub fn reference(
        &mut self,
        run: &Run<'_>,
        index: u64,
        memory: &mut dyn Memory,
        counters: &mut Counters,
    ) -> Result<Left, Fault> {
        run.bailed_out.fetch_add(1, Ordering::Relaxed);
        let lanes = run.launch.wavefront.lanes();
        let (wavefronts, on_chip) = self.reference.get_or_insert_with(|| {
            let globals = vec![vec![[0; 4]; usize::from(run.launch.global_gprs.min(124))]; lanes];
            (Vec::new(), OnChip { globals, ..OnChip::default() })
        });
        let context = run.context.get_or_init(|| Context {
            launch: run.launch,
            main: run.launch.program.decode(),
            fetch: run.launch.fetch_program.map(ctm_isa::r700::Program::decode),
        });
        on_chip.data_share.clear();
        for (register, rows) in self.group.globals.iter().enumerate() {
            for (lane, registers) in on_chip.globals.iter_mut().enumerate() {
                registers[register] = std::array::from_fn(|element| rows[element][lane]);
            }
        }
        let waves = run.waves_of(index);
        let count = (waves.end - waves.start) as usize;
        wavefronts.resize_with(count.max(wavefronts.len()), Wavefront::default);
        let wavefronts = &mut wavefronts[..count];
        let places = &mut self.members[0].runner.places;
        for ((n, wavefront), index) in wavefronts.iter_mut().enumerate().zip(waves) {
            run.waves.place(index, places);
            let positions: Vec<Position> = (0..places.lanes).map(|lane| places.position(lane)).collect();
            wavefront.start(context, &positions, index * lanes as u64, n * lanes);
        }
        on_chip.part = Some(run.watch.part(index));
        while wavefronts.iter().any(Wavefront::is_running) {
            for wavefront in wavefronts.iter_mut() {
                wavefront.step(context, on_chip, memory)?;
            }
        }
        for (register, rows) in self.group.globals.iter_mut().enumerate() {
            for (lane, registers) in on_chip.globals.iter().enumerate() {
                rows.iter_mut().zip(registers[register]).for_each(|(row, bits)| row[lane] = bits);
            }
        }
        let left = |wavefront: &Wavefront| {
            counters.add(wavefront.counters());
            let exports = wavefront.exports().map(|(at, exports)| (at, exports.clone())).collect();
            BailedOut { events: wavefront.events().collect(), exports, survivors: wavefront.survivors().collect() }
        };
        Ok(Left::Reference(wavefronts.iter().map(left).collect()))
    }
}

/// Memory for groups of programs that write none.
pub struct Reader<'a> {
    pub memory: &'a dyn Memory,
}

fn only_reads() -> MemoryFault {
    MemoryFault { what: "memory".into(), address: None, reason: "the program was taken for one that only reads".into() }
}

impl Memory for Reader<'_> {
    reads!();

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.memory.load(space, dword)
    }

    fn store(&mut self, _space: Space, _dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        Err(only_reads())
    }

    fn commit(&mut self, _at: Position, _exports: &Exports) -> Result<Written, MemoryFault> {
        Err(only_reads())
    }
}
