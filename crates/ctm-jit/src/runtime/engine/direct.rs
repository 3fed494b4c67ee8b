//! Launches over memory that lends its arrays: wavefronts of one or several groups store their outputs as soon as they end.

use super::form::Form;
use super::run::Run;
use crate::launch::direct::Views;
use crate::launch::lanes::{LANES, Tallies};
use crate::launch::source::Source;
use crate::launch::wavefronts::outputs::{Outputs, numbers};
use crate::launch::wavefronts::places::{Starts, Waves};
use crate::launch::wavefronts::wave::{Guest, Wave};
use crate::runtime::direct::{Direct, Done, Host};
use crate::runtime::wavefronts::{Wavefronts, per_look};
use ctm_exec::r700::{Cells, Target};
use ctm_exec::x1k::group::{Access, Context, Group};
use ctm_exec::x1k::lanes::LaneMask;
use ctm_exec::x1k::plan::plan;
use ctm_exec::x1k::{Elements, Memory};
use ctm_exec::{Counters, Fault};
use std::sync::atomic::AtomicU64;

impl<'a> Run<'a> {
    /// The wavefronts of the launch, for a program.
    pub(super) fn wavefronts(&self, form: &'a Form) -> Wavefronts<'a> {
        let lanes = LANES * form.groups;
        let program = &form.program;
        let domain = self.launch.domain;
        let given = (self.launch.planes, self.launch.rows, None);
        Wavefronts {
            program,
            waves: Waves::new(domain, lanes, true),
            starts: Starts::new(&program.start, given, domain, true),
            domain,
            lanes,
            covered: None,
            counters: self.launch.counters,
            threads: self.launch.threads,
            watch: self.watch,
            fuel: self.fuel,
            per_look: per_look(program, self.fuel),
            bailed_out: AtomicU64::new(0),
            backend: self.backend,
            narrows: false,
            once: self.artifact.code.writes,
            gives_up: false,
        }
    }

    /// Runs the launch, if memory lets its arrays; `None`, and nothing has happened, where it does not.
    pub(super) fn stores(&mut self, memory: &mut dyn Memory) -> Option<Result<(), Fault>> {
        let form = self.artifact.form();
        let group = self.launch.group.lanes();
        // Groups of other sizes decide as these do, if any of them may decide together.
        let fits = if form.groups > 1 { LANES.is_multiple_of(group) } else { group == LANES };
        if !fits || memory.outputs_alias_inputs() || self.grid.groups() == 0 {
            return None;
        }
        if form.outputs().any(|output| output >= Form::CONDITIONAL) {
            return None;
        }
        let descriptors = std::array::from_fn(|index| memory.input(index as u8));
        let direct = memory.direct()?;
        let views = Views::lent(descriptors, direct.inputs, self.artifact.code.inputs)?;
        let mut lent = direct.outputs.map(|of| {
            of.map(|Elements { bytes, pitch, width, height, form, channels, mask, tiles }| Elements {
                bytes: Cells::Bytes(bytes),
                pitch,
                width,
                height,
                form,
                channels,
                mask,
                tiles,
            })
        });
        let lent = numbers(&form.program.exports).into_iter().map(|number| lent[number].take()).collect();
        let outputs = Outputs::lent(&form.program.exports, lent, &self.launch.domain, true)?;
        let mut of = self.wavefronts(form);
        let bindings: Vec<_> = form.program.code.fetches.iter().map(|fetch| views.binding(fetch)).collect();
        let uniforms = self.launch.constants.float.as_flattened();
        if form.groups > 1
            && let Some(lanes) = of.narrower(&bindings, uniforms)
        {
            (of.waves, of.lanes, of.narrows) = (Waves::new(of.domain, lanes, true), lanes, true);
        }
        let mut done = Done::new(form.program.code.blocks.len());
        let host = Stores { run: self, of: &of, views: &views, outputs: &outputs };
        let ran = of.direct(&Direct { outputs: &outputs, uniforms, bindings, host: &host }, &mut done);
        if !self.launch.counters {
            done.counters.groups = self.grid.groups();
        }
        for (all, visits) in self.did.visits.iter_mut().zip(&done.visits) {
            // Block 0 only begins, and those behind the program's count nothing.
            all.iter_mut().zip(&visits[1..]).for_each(|(all, n)| all.groups += n);
        }
        self.counters.add(&done.counters);
        Some(ran)
    }
}

/// A launch whose wavefronts store their outputs themselves.
struct Stores<'a> {
    run: &'a Run<'a>,
    of: &'a Wavefronts<'a>,
    views: &'a Views<'a>,
    outputs: &'a Outputs<'a>,
}

impl Host for Stores<'_> {
    fn guest(&self) -> Guest<'_> {
        Guest::X1k(Source::reading(self.views, Some(self.views)))
    }

    fn count(&self, wave: &Wave, counters: &mut Counters) {
        Tallies(wave.tallies).count(self.views, counters);
    }

    fn reference(&self, index: u64, counters: &mut Counters) -> Result<(), Fault> {
        let run = self.run;
        let steps = run.steps.get_or_init(|| plan(run.launch.program));
        let context = Context { launch: run.launch, steps };
        let per_wave = (self.of.lanes / run.launch.group.lanes()) as u64;
        let part = run.watch.part(index);
        let mut group = Group::new(run.launch);
        for number in index * per_wave..((index + 1) * per_wave).min(run.grid.groups()) {
            let places = run.grid.places(number);
            let existing = run.existing(number);
            let covered = run.grid.inside(&places) & existing;
            if covered == 0 {
                continue;
            }
            let positions: Vec<_> = (0..existing.count_ones() as usize).map(|lane| places.position(lane)).collect();
            let covered = LaneMask::of(|lane| covered >> lane & 1 == 1);
            group.run(&context, &part, &positions, &[covered], &mut Access::Shared(self.views))?;
            counters.add(group.counters());
            for (at, sent) in group.outputs() {
                let written = self.outputs.send(at, &|target| match target {
                    Target::Pixel(n) => {
                        let n = usize::from(n);
                        Some((*sent.values.get(n)?, *sent.written.get(n)?))
                    }
                    _ => None,
                });
                counters.writes += written.elements;
                counters.write_bytes += written.bytes;
            }
        }
        Ok(())
    }
}
