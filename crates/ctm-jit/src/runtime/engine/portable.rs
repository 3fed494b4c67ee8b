//! Groups of X1K programs on the portable machine.

use crate::codegen::portable::r700::Machine;
use crate::codegen::portable::r700::dense::Dense;
use crate::ir::r700::{Code, Var};
use crate::ir::x1k;
use crate::launch::lanes::{BailOut, LANES, Lanes, Tallies, Visits};
use crate::launch::r700::wave::{self, Guest, Shared, Wave};
use crate::launch::source::Source;
use crate::lower::x1k::{joint, masks};
use crate::passes;
use crate::passes::table::Pass;
use ctm_exec::x1k::Constants;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Groups that run as if they were one.
pub const GROUPS: usize = wave::LANES / LANES;

/// A program as the portable machine runs it.
pub struct Form {
    code: Code,
    dense: Arc<Dense>,
    start: Vec<Var>,
    exports: Vec<usize>,
    /// Groups that run as if they were one.
    pub groups: usize,
}

impl Form {
    /// Of a program that is optimised for one group; `start`: the variables that are given values, `outputs`: the components that may be written.
    pub fn new(
        code: &x1k::Code,
        constants: &Constants,
        counts: bool,
        (start, outputs): (&[x1k::Var], &[usize]),
        most: usize,
    ) -> Self {
        let joint = most > 1 && !counts && Pass::Joint.is_on() && joint::holds(code);
        let mut code = masks::lower(code, masks::How { constants, joint, counts });
        passes::masks::simplify(&mut code, false);
        passes::r700::optimise(&mut code, false);
        let start = start.iter().map(|&var| masks::var(var)).collect();
        let dense = Arc::new(Dense::of(&code));
        Self { dense, code, start, exports: outputs.to_vec(), groups: if joint { most.min(GROUPS) } else { 1 } }
    }
}

/// What one thread needs to run groups.
pub struct Portable {
    form: Arc<Form>,
    machine: Machine,
    wave: Wave,
}

impl Portable {
    /// For a program.
    pub fn new(form: Arc<Form>) -> Self {
        let wave = Wave::new(form.start.len(), form.exports.len(), form.code.blocks.len());
        Self { machine: Machine::new(Arc::clone(&form.dense)), wave, form }
    }

    /// Runs groups, each with so many instructions, until `stop` is not 0.
    ///
    /// # Errors
    /// [`BailOut`] when one of them has to be run by the reference interpreter; then nothing that was left means anything.
    pub fn run(
        &mut self,
        constants: &Constants,
        source: Source<'_>,
        (fuel, stop): (u64, &AtomicU32),
        lanes: &mut [Lanes],
        (visits, tallies): (&mut [Visits], &mut Tallies),
    ) -> Result<(), BailOut> {
        let form = &*self.form;
        let shared = Shared {
            guest: Guest::X1k(source),
            fetches: &form.code.fetches,
            stores: &form.code.stores,
            reads_back: false,
            uniforms: constants.float.as_flattened(),
            lanes: wave::LANES,
            fuel,
            stop,
            bindings: &[],
        };
        let wave = &mut self.wave;
        for groups in lanes.chunks_mut(form.groups) {
            wave.reset();
            (wave.existing, wave.valid) = (0, 0);
            for (n, lanes) in groups.iter().enumerate() {
                wave.existing |= u64::from(lanes.existing) << (LANES * n);
                wave.valid |= u64::from(lanes.covered) << (LANES * n);
                for (to, from) in wave.start.iter_mut().zip(&lanes.start) {
                    to[LANES * n..LANES * (n + 1)].copy_from_slice(from);
                }
            }
            self.machine.begin(&form.start, &shared, wave)?;
            self.machine.run(&form.code, &form.exports, &shared, wave)?;
            for (n, lanes) in groups.iter_mut().enumerate() {
                let of = |mask: u64| (mask >> (LANES * n)) as u16;
                lanes.covered = of(wave.valid);
                for (&output, row) in form.exports.iter().zip(&wave.exports) {
                    lanes.written[output] = of(wave.written[output]);
                    lanes.outputs[output].copy_from_slice(&row[LANES * n..LANES * (n + 1)]);
                }
            }
            // Block 0 only begins, and those behind the program's count nothing.
            visits.iter_mut().zip(&wave.visits[1..]).for_each(|(all, visits)| all.groups += visits);
            tallies.add(&Tallies(wave.tallies));
        }
        Ok(())
    }
}
