//! A launch of a vertex program.

use super::artifact::Artifact;
use crate::codegen::backend::Backend;
use crate::launch::wavefronts::group::Stored;
use crate::launch::wavefronts::places::{StartLanes, Starts};
use crate::launch::wavefronts::wave::{Guest, LANES, Reads};
use crate::passes::computed;
use crate::runtime::batches::{EndedAt, Launched, Result, each_lane};
use crate::runtime::wavefronts::{Done, Wavefronts};
use crate::runtime::worker::Job;
use ctm_exec::engine::MemoryFault;
use ctm_exec::pvs::{Outputs, PvsLaunch, run_launch};
use ctm_exec::r700::Written;
use ctm_exec::watch::Watch;
use ctm_exec::{Budget, Control, Counters, Domain, Fault, Position, StartRow};
use ctm_isa::pvs::{CONSTANTS, OUTPUTS};
use std::borrow::Cow;

/// The launch, and its results so far.
pub struct Pvs<'a> {
    launch: &'a PvsLaunch<'a>,
    control: &'a Control,
    /// The table of uniform values.
    uniforms: Vec<u32>,
    pub outputs: Vec<Outputs>,
}

/// The inputs of vertices by component: register, component, and the bits of all vertices.
pub struct PvsInputs(Vec<(u8, u8, Vec<u32>)>);

impl PvsInputs {
    /// The inputs that a program reads.
    pub fn new(launch: &PvsLaunch<'_>, artifact: &Artifact) -> Self {
        let column = |var: &ctm_ir::masked::Var| {
            let (register, component) = (var.index() / 4, var.index() % 4);
            let bits = launch.vertices.iter().map(|inputs| inputs[register][component]).collect();
            (register as u8, component as u8, bits)
        };
        Self(artifact.program.start.iter().map(column).collect())
    }

    /// The same as rows of start values.
    pub fn rows(&self) -> Vec<StartRow<'_>> {
        self.0
            .iter()
            .map(|(register, element, bits)| StartRow { register: *register, element: *element, bits })
            .collect()
    }
}

impl<'a> Pvs<'a> {
    /// A launch that has not begun.
    pub fn new(launch: &'a PvsLaunch<'a>, artifact: &'a Artifact, control: &'a Control) -> Self {
        // Constants of the program are those of the machine from the base on; there are none beyond the greatest address.
        let base = usize::from(launch.program.const_base);
        let constants = launch.constants.get(base..).unwrap_or_default();
        let there = constants.iter().take(usize::from(launch.program.const_max) + 1);
        let mut table: Vec<u32> = there.copied().flatten().collect();
        table.resize(4 * CONSTANTS, 0);
        let mut table = Cow::Owned(table);
        computed::append(&artifact.program.code.computed, &mut table);
        let outputs = vec![[[0; 4]; OUTPUTS]; launch.vertices.len()];
        Self { launch, control, uniforms: table.into_owned(), outputs }
    }

    /// Its wavefronts: a lane is a vertex.
    pub fn wavefronts(
        launch: &'a PvsLaunch<'a>,
        artifact: &'a Artifact,
        rows: &[StartRow<'a>],
        (watch, backend): (&'a Watch, Backend),
    ) -> Wavefronts<'a> {
        let last = u32::try_from(launch.vertices.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let domain = Domain { i0: 0, j0: 0, i1: last, j1: 0 };
        let starts =
            Starts::new(&artifact.program.start, (&[], rows, None), StartLanes { domain, quads: false, few: false });
        // The caller has compared the instructions of a vertex.
        let budget = Budget { instructions_per_group: None, ..launch.budget };
        Wavefronts {
            threads: usize::from(launch.one_thread),
            ..Wavefronts::new(&artifact.program, (domain, LANES, false), starts, budget, (watch, backend))
        }
    }
}

impl Launched for Pvs<'_> {
    fn reading<T>(&self, with: impl FnOnce(Option<Reads<'_>>) -> T) -> T {
        with(Some(Reads { guest: Guest::Pvs, uniforms: &self.uniforms, bindings: &[] }))
    }

    fn is_aliased(&self) -> bool {
        false
    }

    fn stores(&mut self, _: &Wavefronts<'_>) -> Option<Result<Done>> {
        None
    }

    fn store(&mut self, _: &Stored) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn send(&mut self, of: &Wavefronts<'_>, (index, _, wave): EndedAt<'_>, _: &mut Counters) -> Result {
        let first = index as usize * LANES;
        each_lane(&of.program.exports, wave, |lane, elements| {
            if let Some(outputs) = self.outputs.get_mut(first + lane) {
                for &(element, bits) in elements {
                    outputs[element / 4 % OUTPUTS][element % 4] = bits;
                }
            }
            Ok(())
        })
    }

    fn reference(&mut self, of: &Wavefronts<'_>, job: Job, _: &mut Counters) -> Result {
        let part = of.watch.part(job.group);
        let first = job.group as usize * LANES;
        let end = self.launch.vertices.len().min(first + LANES);
        let placed = |i: usize| Some(Position { i: u32::try_from(i).unwrap_or(u32::MAX), j: 0 });
        if part.is_stopped() {
            let pc = self.launch.program.first.into();
            return Err(Fault { kind: part.fault_kind(), pc, position: placed(first) });
        }
        let launch = PvsLaunch { vertices: &self.launch.vertices[first..end], one_thread: true, ..*self.launch };
        let outputs = run_launch(self.control, &launch).map_err(|fault| Fault {
            position: placed(first + fault.position.map_or(0, |position| position.i as usize)),
            ..fault
        })?;
        self.outputs[first..end].copy_from_slice(&outputs);
        Ok(())
    }

    fn count(&self, _: &[u64], _: u64, _: &mut Counters) {}
}
