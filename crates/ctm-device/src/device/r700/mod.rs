//! The R700 part of the device: its registers, its program loader, and the memory of its programs.
//!
//! | file | content |
//! |---|---|
//! | this one | the start of a program |
//! | `registers` | the registers that commands set |
//! | `load` | from memory to the engine's launch: programs, constants, planes |
//! | `alternate` | the resources of another program type |
//! | `bindings` | bound resources as registers describe them |
//! | `memory` | the memory of a running program: resources, memories, exports |
//! | `touched` | the bindings that a program can access |
//! | `strips` | vertex events of geometry programs, as strips |

mod alternate;
mod bindings;
mod lent;
mod load;
mod memory;
pub(super) mod registers;
mod strips;
mod touched;

pub use registers::{BoundTexture, LoopConstants, R700Registers, Resources};
pub use strips::{Strip, strips, vertex_events};

use super::cache::Cache;
use super::launch::lock;
use super::loader::KEPT_PROGRAMS;
use super::report::CommandErrorReason as Reason;
use super::{CommandRegisters, Device};
use crate::commands::{Command, CondLoc, CondTest, MemoryKind, ProgramPlace};
use crate::mc::Surface;
use crate::memory::{DeviceMemory, GpuAddr};
use ctm_exec::r700::Launch;
use ctm_isa::r700::program::Stage;
use load::LoadedProgram;
use memory::LaunchMemory;
use std::sync::Arc;

/// The programs that were read; `None` when one is to be read again.
#[derive(Debug, Default)]
pub(super) struct Programs {
    main: Option<Arc<LoadedProgram>>,
    fetch: Option<Arc<LoadedProgram>>,
    /// Those that were read before.
    kept: Vec<Arc<LoadedProgram>>,
}

impl Programs {
    /// The instruction cache is invalid, or the place of a program changed.
    pub fn forget(&mut self) {
        for program in [self.main.take(), self.fetch.take()].into_iter().flatten() {
            if self.kept.len() >= KEPT_PROGRAMS {
                self.kept.remove(0);
            }
            self.kept.push(program);
        }
    }

    /// Nothing that was read stays.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// One that was read before from this place, if memory still holds it: it is not taken apart again.
    fn known(
        &mut self,
        memory: &DeviceMemory,
        base: GpuAddr,
        place: Option<ProgramPlace>,
    ) -> Option<Arc<LoadedProgram>> {
        let found = self.kept.iter().position(|kept| kept.is_at(memory, base, place))?;
        Some(self.kept.swap_remove(found))
    }
}

impl Device {
    /// Reads the programs that were not read yet.
    fn r700_programs(&mut self) -> Result<(Arc<LoadedProgram>, Option<Arc<LoadedProgram>>), Reason> {
        let (registers, memory, programs) = (&self.registers, &self.memory, &mut self.programs);
        if programs.main.is_none() {
            let main = match (registers.r700.program, registers.instructions) {
                (Some(place), _) => match programs.known(memory, place.base, Some(place)) {
                    Some(known) => known,
                    None => Arc::new(LoadedProgram::load(memory, &place, "the program")?),
                },
                (None, Some(at)) => match programs.known(memory, at, None) {
                    Some(known) => known,
                    None => Arc::new(LoadedProgram::load_elf(memory, at)?),
                },
                (None, None) => return Err(Reason::NoProgram),
            };
            programs.main = Some(main);
        }
        if let (None, Some(place)) = (&programs.fetch, registers.r700.fetch_program) {
            programs.fetch = Some(match programs.known(memory, place.base, Some(place)) {
                Some(known) => known,
                None => Arc::new(LoadedProgram::load(memory, &place, "the fetch program")?),
            });
        }
        let main = programs.main.clone().ok_or(Reason::NoProgram)?;
        Ok((main, programs.fetch.clone()))
    }

    /// `start_program` on an R700 device.
    pub(super) fn start_r700(&mut self, command: &Command, offset: u32) -> Result<(), Reason> {
        let domain = self.registers.domain.ok_or(Reason::NoDomain)?;
        let (main, fetch) = self.r700_programs()?;
        let r700 = &self.registers.r700;
        let stage = r700.stage.or(main.program.stage).unwrap_or(Stage::Pixel);
        self.check_conditional(stage)?;
        for (kind, place) in &r700.memories {
            self.memory
                .check(place.base, place.bytes.into())
                .map_err(|error| load::outside(format!("{} memory", kind.name().to_ascii_lowercase()), error))?;
        }
        if self.options.checks && (domain.width() == 0 || domain.height() == 0) {
            self.find_empty_domain(domain, command, offset);
        }
        let (constants, semantics, alternate) = {
            let mut model = self.model.as_ref().map(lock);
            if let Some(model) = &mut model {
                model.start_launch();
                for loaded in [Some(&main), fetch.as_ref()].into_iter().flatten() {
                    let what = || "the program".to_owned();
                    model.reads(Some(Cache::Instruction), loaded.base, loaded.bytes, what);
                }
            }
            let constants = load::constants(&self.memory, model.as_deref_mut(), &self.registers)?;
            let programs = [Some(&main), fetch.as_ref()];
            let alternate = if programs.into_iter().flatten().any(|loaded| loaded.names_alternates) {
                let order = self.options.uint8_order;
                Some(alternate::copy(&self.memory, model.as_deref_mut(), &self.registers, order)?)
            } else {
                None
            };
            (constants, load::semantics(&self.memory, &self.registers)?, alternate)
        };
        let planes = load::planes(&self.memory, &self.registers, stage, self.options.params_stride)?;
        let r700 = &self.registers.r700;
        let (chip, wavefront) = r700.chip.unwrap_or((self.options.chip, self.options.group));
        let streams = [MemoryKind::Stream0, MemoryKind::Stream1, MemoryKind::Stream2, MemoryKind::Stream3];
        let launch = Launch {
            fetch_program: fetch.as_ref().map(|loaded| &loaded.program),
            stage,
            chip,
            wavefront,
            group_threads: r700.group_threads,
            reduction_stride: r700.item(MemoryKind::Reduction),
            ring_item_dwords: r700.item(MemoryKind::Ring),
            stream_item_dwords: streams.map(|stream| r700.item(stream)),
            global_gprs: r700.global_gprs,
            vertex_offset: r700.index_offsets[0],
            instance_offset: r700.index_offsets[1],
            semantics: &semantics,
            planes: &planes,
            budget: self.options.budget,
            threads: self.options.threads,
            checks: self.options.checks,
            counters: self.counts(),
            ..Launch::new(&main.program, &constants, domain)
        };
        let outcome = if domain.width() == 0 || domain.height() == 0 {
            Ok(ctm_exec::Outcome::default())
        } else {
            let order = self.options.uint8_order;
            let both = fetch.as_ref().map(|fetch| main.touched.clone().and(&fetch.touched));
            let touched = (stage, both.as_ref().unwrap_or(&main.touched), domain.processors());
            let mut memory =
                LaunchMemory::new(&mut self.memory, self.model.as_ref(), order, &self.registers, touched, alternate)?;
            self.engine.run_r700_under(&self.control, &launch, &mut memory)
        };
        self.end_launch(outcome, domain, offset)
    }

    /// Whether the Conditional Output Unit supports its settings with a program of this stage.
    fn check_conditional(&self, stage: Stage) -> Result<(), Reason> {
        let unit = self.registers.conditional;
        if unit.location == CondLoc::Pe && unit.test != CondTest::Always {
            let feature = "conditional scheduling (location PE) of R700 programs".to_owned();
            return Err(Reason::Unsupported { feature });
        }
        if stage == Stage::Pixel && unit.compares() && unit.buffer.is_none() {
            return Err(Reason::NoConditionalBuffer { test: unit.test });
        }
        Ok(())
    }
}

/// The texture resource that `set_inp_fmt` made of an input: its columns and rows.
fn input_size(surface: &Surface, registers: &CommandRegisters, index: u8) -> (u32, u32) {
    let width = match registers.samplers.get(usize::from(index)).map_or(0, |s| s.width) {
        0 => surface.width(),
        width => width.min(surface.width()),
    };
    (width, surface.rows())
}
