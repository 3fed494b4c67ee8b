//! What one thread needs to run wavefronts of a launch, and what it leaves.

use super::engine::{Artifact, Run};
use super::outputs::Outputs;
use super::places::Places;
use super::portable::Machine;
use super::verify::reads;
use super::wave::{Binding, Row, Shared, Stored, Wave};
use crate::lanes::Refer;
#[cfg(target_arch = "x86_64")]
use crate::x86::{Frame, r700::Native};
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::memory::Shared as OnChip;
use ctm_exec::r700::wavefront::{Context, Wavefront};
use ctm_exec::r700::{Buffer, Exports, Memory, Sampler, Space, Texture, VertexEvent, Written};
use ctm_exec::{Counters, Fault, Position};
use std::time::Instant;

/// What one wavefront left.
pub enum Left {
    /// It ran here: valid lanes, lanes that wrote each element that the program may export, rows of these, and what memory gets.
    Here { valid: u64, written: Vec<u64>, rows: Vec<Row>, stored: Vec<Stored> },
    /// The reference interpreter ran it.
    Reference { events: Vec<(Position, VertexEvent)>, exports: Vec<(Position, Exports)> },
    /// The reference interpreter has to run it, when it is its turn to write memory.
    Later,
}

/// What one task left: its wavefronts up to the first fault.
pub struct TaskDone {
    pub counters: Counters,
    pub visits: Vec<u64>,
    /// With their numbers.
    pub waves: Vec<(u64, Left)>,
    pub fault: Option<Fault>,
}

impl TaskDone {
    /// Whether all wavefronts ran, and ran here.
    pub fn is_whole(&self) -> bool {
        self.fault.is_none() && self.waves.iter().all(|(_, left)| matches!(left, Left::Here { .. }))
    }
}

/// What one thread needs to run wavefronts.
pub struct Worker<'a> {
    machine: Option<Machine>,
    /// For machine code, and which.
    #[cfg(target_arch = "x86_64")]
    frame: Option<(&'a Native, Frame)>,
    artifact: &'a Artifact,
    wave: Wave,
    places: Places,
    /// Passages of blocks by full wavefronts since the task began.
    visits: Vec<u64>,
    reference: Option<(Wavefront, OnChip)>,
}

impl<'a> Worker<'a> {
    /// For a launch.
    pub fn new(run: &Run<'a>) -> Self {
        let artifact = run.artifact;
        Self {
            machine: None,
            #[cfg(target_arch = "x86_64")]
            frame: None,
            artifact,
            wave: Wave::new(artifact.start.len(), artifact.exports.len(), artifact.code.blocks.len()),
            places: Places::new(),
            visits: Vec::new(),
            reference: None,
        }
    }

    /// Begins a task.
    pub fn begin(&mut self) {
        self.visits = vec![0; self.artifact.code.blocks.len()];
    }

    /// Passages of each block by the task's full wavefronts.
    pub fn end(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.visits)
    }

    /// Stores what the last wavefront exported.
    pub fn store(&self, outputs: &Outputs<'_>) -> Written {
        let exports = &self.artifact.exports;
        outputs.store(&self.places, self.wave.valid, |place| self.wave.written[exports[place]], &self.wave.exports)
    }

    /// Runs wavefronts up to the first fault.
    pub fn task(&mut self, run: &Run<'_>, waves: &[u64], uniforms: Option<&[u32]>, memory: &dyn Memory) -> TaskDone {
        let mut counters = Counters::default();
        let mut done = Vec::with_capacity(waves.len());
        let mut fault = None;
        let bindings: Vec<_> =
            run.artifact.code.fetches.iter().map(|fetch| Binding::of(run.launch, memory, fetch)).collect();
        self.begin();
        for &index in waves {
            let ran = match uniforms {
                Some(uniforms) => self.here(run, index, uniforms, &bindings, memory, &mut counters),
                None => Err(Refer),
            };
            let left = match ran {
                Ok(()) => {
                    let exports = &self.artifact.exports;
                    let written = exports.iter().map(|&export| self.wave.written[export]).collect();
                    let stored = std::mem::take(&mut self.wave.fetched.stored);
                    Ok(Left::Here { valid: self.wave.valid, written, rows: self.wave.exports.clone(), stored })
                }
                Err(Refer) if self.artifact.writes_memory() => Ok(Left::Later),
                Err(Refer) => self.reference(run, index, &mut Reader { memory }, &mut counters),
            };
            match left {
                Ok(left) => done.push((index, left)),
                Err(found) => {
                    fault = Some(found);
                    break;
                }
            }
        }
        TaskDone { counters, visits: self.end(), waves: done, fault }
    }

    /// Runs a wavefront here. What it leaves is in `wave`, and counted.
    ///
    /// # Errors
    /// [`Refer`]: the reference interpreter has to.
    pub fn here(
        &mut self,
        run: &Run<'_>,
        index: u64,
        uniforms: &[u32],
        bindings: &[Option<Binding<'_>>],
        memory: &dyn Memory,
        counters: &mut Counters,
    ) -> Result<(), Refer> {
        let lanes = run.launch.wavefront.lanes();
        if run.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Refer);
        }
        let artifact = self.artifact;
        run.waves.place(index, &mut self.places);
        self.wave.reset();
        self.wave.fetched.first_thread = index * lanes as u64;
        self.wave.valid = self.places.inside;
        run.starts.fill(&self.places, &mut self.wave.start);
        let shared = Shared {
            launch: run.launch,
            memory,
            fetches: &artifact.code.fetches,
            stores: &artifact.code.stores,
            uniforms,
            lanes: self.places.lanes,
            fuel: run.fuel,
            bindings,
        };
        #[cfg(target_arch = "x86_64")]
        let native = run.backend.isa().and_then(|isa| {
            let linear = bindings.iter().flatten().any(Binding::is_linear);
            artifact.native(isa, lanes, uniforms, linear)
        });
        #[cfg(target_arch = "x86_64")]
        let ran = native.map(|native| {
            let frame = match &mut self.frame {
                Some((of, frame)) if std::ptr::eq(*of, native) => frame,
                place => &mut place.insert((native, native.frame())).1,
            };
            native.run(frame, &shared, &mut self.wave)
        });
        #[cfg(not(target_arch = "x86_64"))]
        let ran: Option<Result<(), Refer>> = None;
        match ran {
            Some(ran) => ran?,
            None => {
                let machine = self.machine.get_or_insert_with(Machine::new);
                machine.run(&artifact.code, &artifact.start, &artifact.exports, &shared, &mut self.wave)?;
            }
        }
        counters.groups += 1;
        counters.processors += u64::from(self.places.inside.count_ones());
        self.wave.count(counters);
        if self.places.lanes < lanes {
            // Only the last wavefront may be short.
            run.count(&self.wave.visits, self.places.lanes as u64, counters);
        } else {
            self.visits.iter_mut().zip(&self.wave.visits).for_each(|(all, n)| *all += n);
        }
        Ok(())
    }

    /// Runs a wavefront by the reference interpreter.
    pub fn reference(
        &mut self,
        run: &Run<'_>,
        index: u64,
        memory: &mut dyn Memory,
        counters: &mut Counters,
    ) -> Result<Left, Fault> {
        let lanes = run.launch.wavefront.lanes();
        let (wavefront, on_chip) = self.reference.get_or_insert_with(|| {
            let globals = vec![vec![[0; 4]; usize::from(run.launch.global_gprs.min(124))]; lanes];
            (Wavefront::default(), OnChip { globals, ..OnChip::default() })
        });
        let context = run.context.get_or_init(|| Context {
            launch: run.launch,
            main: run.launch.program.decode(),
            fetch: run.launch.fetch_program.map(ctm_isa::r700::Program::decode),
            deadline: run.deadline,
        });
        run.waves.place(index, &mut self.places);
        let positions: Vec<Position> = (0..self.places.lanes).map(|lane| self.places.position(lane)).collect();
        wavefront.start(context, &positions, index * lanes as u64, 0);
        while wavefront.is_running() {
            wavefront.step(context, on_chip, memory)?;
        }
        counters.add(wavefront.counters());
        let exports = wavefront.exports().map(|(at, exports)| (at, exports.clone())).collect();
        Ok(Left::Reference { events: wavefront.events().collect(), exports })
    }
}

/// Memory for wavefronts of programs that write none.
struct Reader<'a> {
    memory: &'a dyn Memory,
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
