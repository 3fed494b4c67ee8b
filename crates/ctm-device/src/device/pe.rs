//! The Processor Execution Unit: reads and executes commands (CTM §2.1.2, §2.2).

use super::cache::Cache;
use super::launch::{LaunchMemory, aliased, lock};
use super::loader::{self, KEPT_PROGRAMS, LoadedProgram};
use super::parameter::field;
use super::r700::registers::LoopConstants;
use super::report::{CommandError, CommandErrorReason as Reason, CommandFinding, LaunchReport, SubmitReport};
use super::{Device, DeviceKind, Submission};
use crate::commands::{
    AddressWord, Command, CommandKind, CondMaskWord, CondTestWord, DomainI0, DomainI1, DomainJ0, DomainJ1, HeightWord,
    InputWord, LocWord, MAX_PARAMS, OutputWord, PerfFlagsWord, PlaneCountWord, ProgramSlot, SamplerWidthWord,
    SamplerWord,
};
use crate::mc::{Format, FormatWord, Surface, Tiling};
use crate::memory::GpuAddr;
use ctm_exec::r700::Target;
use ctm_exec::x1k::{Constants, Launch, Sampler};
use ctm_exec::{Counters, Domain};

impl Device {
    /// Executes the `size_dwords` dwords at `address` as a command buffer.
    ///
    /// Commands are read from memory one after another. When it returns, all processors are idle.
    ///
    /// # Errors
    /// At the first command that cannot be executed, or whose program does wrong. The commands before it have been executed
    /// ([`Device::last_report`] describes them), registers keep their values, and the next buffer can be submitted.
    pub fn submit(&mut self, address: GpuAddr, size_dwords: u32) -> Result<SubmitReport, CommandError> {
        // Taken out: a submission that panics leaves the device unwatched.
        let Some(mut watcher) = self.watcher.take() else { return self.submit_unwatched(address, size_dwords) };
        watcher.begin(&mut self.memory);
        let result = self.submit_unwatched(address, size_dwords);
        let (commands, error) = (self.report.commands, result.as_ref().err());
        watcher.end(&mut self.memory, &Submission { address, size_dwords, commands, error });
        self.watcher = Some(watcher);
        result
    }

    fn submit_unwatched(&mut self, address: GpuAddr, size_dwords: u32) -> Result<SubmitReport, CommandError> {
        self.report.clear();
        if let Some(model) = &self.model {
            lock(model).notice_changes(&self.memory);
        }
        let result = self.run_buffer(address, size_dwords);
        if let Some(model) = &self.model {
            let mut model = lock(model);
            let memory = &self.memory;
            model.remember_contents(memory);
            model.end_of_buffer(|a| memory.arena_of(a).is_some_and(crate::memory::ArenaId::is_system));
            self.report.findings.append(&mut model.take_findings());
            model.at(None);
        }
        result.map(|()| self.report.clone())
    }

    fn run_buffer(&mut self, address: GpuAddr, size_dwords: u32) -> Result<(), CommandError> {
        if !address.0.is_multiple_of(4) {
            return Err(CommandError { offset_dwords: 0, word: 0, reason: Reason::Misaligned { address } });
        }
        let bytes = (size_dwords as usize).saturating_mul(4);
        if size_dwords > 0
            && let Err(error) = self.memory.slice(address, bytes)
        {
            let reason = Reason::Memory { what: "the command buffer".to_owned(), error };
            return Err(CommandError { offset_dwords: 0, word: 0, reason });
        }
        let mut offset = 0;
        let most = self.stop_after.take().unwrap_or(u32::MAX);
        while offset < size_dwords {
            if self.control.is_cancelled() || self.report.commands >= most {
                return Err(CommandError { offset_dwords: offset, word: 0, reason: Reason::Cancelled });
            }
            offset += self.run_command(address, offset, size_dwords - offset)?;
        }
        Ok(())
    }

    /// Executes the command at `offset` and returns its length in dwords.
    fn run_command(&mut self, buffer: GpuAddr, offset: u32, left: u32) -> Result<u32, CommandError> {
        let stop = |index: u32, word, reason| CommandError { offset_dwords: offset + index, word, reason };
        let at = GpuAddr(buffer.0 + offset * 4);
        let mut words = [0; MAX_PARAMS + 1];
        #[allow(clippy::cast_possible_truncation, reason = "eight words")]
        let count = left.min(words.len() as u32) as usize;
        let bytes = self
            .memory
            .slice(at, count * 4)
            .map_err(|error| stop(0, 0, Reason::Memory { what: "the command buffer".to_owned(), error }))?;
        for (word, b) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        }
        let command = Command::decode(&words[..count]).map_err(|e| stop(0, words[0], Reason::Decode(e)))?;
        #[allow(clippy::cast_possible_truncation, reason = "at most eight words")]
        let length = command.len_dwords() as u32;
        self.registers.perf.pass(u64::from(length), false);
        self.look_at(&command, offset, at);
        let done = match command.check() {
            Ok(()) => self.execute(&command, offset),
            Err(e) => Err(Reason::Param(e)),
        };
        self.collect_findings();
        done.map_err(|reason| {
            let index = if let Reason::Param(e) = &reason { e.index() + 1 } else { 0 };
            #[allow(clippy::cast_possible_truncation, reason = "at most eight words")]
            stop(index as u32, words[index], reason)
        })?;
        self.report.commands += 1;
        Ok(length)
    }

    fn collect_findings(&mut self) {
        if let Some(model) = &self.model {
            self.report.findings.append(&mut lock(model).take_findings());
        }
    }

    /// Notes something about the command that is being executed.
    fn find(&mut self, rule: &'static str, offset: u32, command: &Command, message: String) {
        let (offset_dwords, command) = (Some(offset), Some(command.kind()));
        self.report.findings.push(CommandFinding { rule, offset_dwords, command, missing: None, message });
    }

    /// Findings of checked mode on a command before it is executed.
    fn look_at(&mut self, command: &Command, offset: u32, at: GpuAddr) {
        let kind = command.kind();
        if let Some(model) = &self.model {
            let mut model = lock(model);
            model.at(Some((offset, kind)));
            model.reads(None, at, 4 * command.len_dwords() as u64, || "the command buffer".to_owned());
            if !kind.info().pipelined && model.may_be_running() {
                self.report.findings.push(CommandFinding {
                    rule: "missing-wait-for-idle",
                    offset_dwords: Some(offset),
                    command: Some(kind),
                    missing: Some(CommandKind::WaitForIdle),
                    message: "the command is not pipelined and a program may still be running (CTM §2.2)".to_owned(),
                });
            }
        }
        if !self.options.checks {
            return;
        }
        for (param, &word) in kind.info().params.iter().zip(command.params()) {
            if *param.format == AddressWord::FORMAT && word & AddressWord::RESERVED != 0 {
                let base = GpuAddr(word).base();
                self.find(
                    "address-not-aligned",
                    offset,
                    command,
                    format!("the address is 0x{word:08x}, of which {base} is used; the low eleven bits are ignored (CTM §2.2.2)"),
                );
            }
        }
        if let CommandKind::SetConstfFmt | CommandKind::SetConstiFmt | CommandKind::SetConstbFmt = kind
            && let Ok(word) = FormatWord::decode(command.param(1))
            && (word.tiling != Tiling::Linear
                || kind == CommandKind::SetConstfFmt && command.param(1) != 0 && word.format != Format::Float32x4)
        {
            let message = format!(
                "the format word says {} {}, and is ignored: constants lie one behind the other, 16, 4 and 4 bytes each",
                word.tiling.name(),
                word.format.name()
            );
            self.find("constant-format-ignored", offset, command, message);
        }
        let swallowed = command.param(1);
        if matches!(kind, CommandKind::InitPerfCounters | CommandKind::ReadPerfCounters)
            && CommandKind::ALL.iter().any(|k| k.header() == swallowed)
        {
            let message = format!(
                "the second parameter, 0x{swallowed:08x}, looks like a command; the header announces two parameters, the second is ignored"
            );
            self.find("header-as-parameter", offset, command, message);
        }
    }

    /// Executes the command.
    fn execute(&mut self, command: &Command, offset: u32) -> Result<(), Reason> {
        if command.kind().info().r700_only && self.options.kind != DeviceKind::R700 {
            return Err(Reason::WrongDevice { command: command.kind() });
        }
        let address = |index| GpuAddr(command.param(index)).base();
        let registers = &mut self.registers;
        match command.kind() {
            CommandKind::InitPerfCounters => {
                let flags = field(command, 0, PerfFlagsWord::decode)?;
                registers.perf.init(flags.enable);
            }
            CommandKind::StartPerfCounters => registers.perf.start(),
            CommandKind::StopPerfCounters => registers.perf.stop(),
            CommandKind::ReadPerfCounters => self.read_perf_counters(address(0))?,
            CommandKind::SetCondVal => registers.conditional.value = command.param(0),
            CommandKind::SetDomain => {
                let domain = Domain {
                    i0: u32::from(field(command, 0, DomainI0::decode)?.i0),
                    j0: u32::from(field(command, 1, DomainJ0::decode)?.j0),
                    i1: u32::from(field(command, 2, DomainI1::decode)?.i1),
                    j1: u32::from(field(command, 3, DomainJ1::decode)?.j1),
                };
                registers.domain = Some(domain);
            }
            CommandKind::StartProgram => self.start_program(command, offset)?,
            CommandKind::WaitForIdle => {
                if let Some(model) = &self.model {
                    lock(model).wait_for_idle();
                }
            }
            CommandKind::SetInstFmt => {
                registers.instructions = Some(address(0));
                registers.r700.program = None;
                self.forget_program();
                self.programs.forget();
            }
            CommandKind::SetInpFmt => {
                let input = field(command, 0, InputWord::decode)?.input;
                let surface = surface(command, 1)?;
                registers.inputs[usize::from(input)] = Some(surface);
                registers.r700.input(input, surface);
                self.look_at_surface(&surface, command, offset);
            }
            CommandKind::SetOutFmt => {
                let output = field(command, 0, OutputWord::decode)?.output;
                let surface = surface(command, 1)?;
                registers.outputs[usize::from(output)] = Some(surface);
                registers.r700.exports.insert(Target::Pixel(output), surface);
                self.look_at_surface(&surface, command, offset);
            }
            CommandKind::SetCondOutFmt => {
                let surface = surface(command, 0)?;
                registers.conditional.buffer = Some(surface);
                self.look_at_surface(&surface, command, offset);
            }
            CommandKind::SetConstfFmt => registers.float_constants = Some(address(0)),
            CommandKind::SetConstiFmt => {
                registers.int_constants = Some(address(0));
                registers.r700.loop_constants = Some(LoopConstants::Bytes(address(0)));
            }
            CommandKind::SetConstbFmt => registers.bool_constants = Some(address(0)),
            CommandKind::InvInstCache => {
                self.forget_program();
                self.programs.forget();
                self.invalidate(Cache::Instruction);
            }
            CommandKind::InvConstfCache => self.invalidate(Cache::Float),
            CommandKind::InvConstiCache => self.invalidate(Cache::Int),
            CommandKind::InvConstbCache => self.invalidate(Cache::Bool),
            CommandKind::InvCondOutCache => self.invalidate(Cache::Conditional),
            CommandKind::InvInpCache => self.invalidate(Cache::Input),
            CommandKind::FlushOutCache => {
                if let Some(model) = &self.model {
                    lock(model).flush_output();
                }
            }
            CommandKind::FlushCondOutCache => {
                if let Some(model) = &self.model {
                    lock(model).flush_conditional();
                }
            }
            CommandKind::SetOutMask => {
                // The four channels are bits 3:0 of the word, which `check` has seen to.
                registers.out_mask = command.param(0).to_le_bytes()[0];
            }
            CommandKind::SetCondOutMask => {
                registers.conditional.write = field(command, 0, CondMaskWord::decode)?.write;
            }
            CommandKind::SetCondTest => registers.conditional.test = field(command, 0, CondTestWord::decode)?.test,
            CommandKind::SetCondLoc => registers.conditional.location = field(command, 0, LocWord::decode)?.loc,
            CommandKind::SetParams => registers.params = Some(address(0)),
            CommandKind::SetInpSampler => {
                let input = field(command, 0, InputWord::decode)?.input;
                let to = &mut registers.samplers[usize::from(input)];
                to.sampler = sampler(command)?;
                to.width = u32::from(field(command, 2, SamplerWidthWord::decode)?.width);
                let sampler = to.sampler;
                registers.r700.input_sampler(input, &sampler);
            }
            CommandKind::SetPlanes => {
                let count = field(command, 1, PlaneCountWord::decode)?.count;
                registers.planes = (count > 0).then_some((address(0), count));
            }
            CommandKind::SetProgram => {
                if registers.r700.set_program(command)? == ProgramSlot::Main {
                    registers.instructions = None;
                }
                self.programs.forget();
            }
            CommandKind::SetStage => registers.r700.set_stage(command)?,
            CommandKind::SetChip => registers.r700.set_chip(command)?,
            CommandKind::SetThreadGroup => registers.r700.set_thread_group(command)?,
            CommandKind::SetGlobalGprs => registers.r700.set_global_gprs(command)?,
            CommandKind::SetLoopConsts => registers.r700.loop_constants = Some(LoopConstants::Words(address(0))),
            CommandKind::SetConstBuffer => registers.r700.set_const_buffer(command)?,
            CommandKind::SetVtxBuffer => registers.r700.set_vtx_buffer(command)?,
            CommandKind::SetTexture => registers.r700.set_texture(command)?,
            CommandKind::SetSampler => registers.r700.set_sampler(command)?,
            CommandKind::SetMemory => registers.r700.set_memory(command)?,
            CommandKind::SetSemantics => registers.r700.set_semantics(command)?,
            CommandKind::SetExport => {
                let surface = surface(command, 1)?;
                registers.r700.set_export(command, surface)?;
                self.look_at_surface(&surface, command, offset);
            }
            CommandKind::SetVertexEvents => registers.r700.set_vertex_events(command),
            CommandKind::SetInterpolants => registers.r700.set_interpolants(command)?,
            CommandKind::SelectResources => registers.r700.select_resources(command)?,
            CommandKind::SetIndexOffsets => registers.r700.index_offsets = [command.param(0), command.param(1)],
        }
        Ok(())
    }

    fn invalidate(&self, cache: Cache) {
        if let Some(model) = &self.model {
            lock(model).invalidate(cache);
        }
    }

    fn look_at_surface(&mut self, surface: &Surface, command: &Command, offset: u32) {
        let (pitch, used) = (surface.pitch, surface.effective_pitch());
        if self.options.checks && pitch != used && surface.height > 1 {
            let message = format!(
                "the pitch is {pitch}, of which the address tables use {used} for {} {}; it must be a multiple of {} (CTM §2.1.4)",
                surface.tiling.name(),
                surface.format.name(),
                surface.format.info().element.pitch_unit(surface.tiling.is_tiled())
            );
            self.find("pitch-not-used-whole", offset, command, message);
        }
    }

    /// Whether the next launch maintains costly counters.
    pub(super) const fn counts(&self) -> bool {
        self.options.counters || self.registers.perf.counting
    }

    fn read_perf_counters(&mut self, address: GpuAddr) -> Result<(), Reason> {
        if !self.registers.perf.enabled {
            return Ok(());
        }
        let words = self.registers.perf.words();
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.memory
            .write(address, &bytes)
            .map_err(|error| Reason::Memory { what: "the performance counters".to_owned(), error })?;
        if let Some(model) = &self.model {
            lock(model).writes(super::cache::Way::Pe, address, bytes.len() as u64);
        }
        Ok(())
    }

    fn start_program(&mut self, command: &Command, offset: u32) -> Result<(), Reason> {
        if self.options.kind == DeviceKind::R700 {
            return self.start_r700(command, offset);
        }
        let address = self.registers.instructions.ok_or(Reason::NoProgram)?;
        let domain = self.registers.domain.ok_or(Reason::NoDomain)?;
        let mut loaded = match self.program.take() {
            Some(loaded) => loaded,
            None => self.load_program(address)?,
        };
        if self.options.checks {
            for remark in std::mem::take(&mut loaded.remarks) {
                self.find("image-remark", offset, command, format!("the program at {address}: {remark}"));
            }
        }
        let result = self.launch(&loaded, domain, command, offset);
        self.program = Some(loaded);
        result
    }

    /// The program is to be read again.
    fn forget_program(&mut self) {
        let Some(program) = self.program.take() else { return };
        if self.kept.len() == KEPT_PROGRAMS {
            self.kept.remove(0);
        }
        self.kept.push(program);
    }

    /// The program whose image lies at an address; one that was read before is not taken apart again.
    fn load_program(&mut self, address: GpuAddr) -> Result<Box<LoadedProgram>, Reason> {
        match self.kept.iter().position(|kept| kept.is_at(&self.memory, address)) {
            Some(place) => Ok(self.kept.swap_remove(place)),
            None => LoadedProgram::load(&self.memory, address).map(Box::new),
        }
    }

    fn launch(&mut self, loaded: &LoadedProgram, domain: Domain, command: &Command, offset: u32) -> Result<(), Reason> {
        let conditional = self.registers.conditional;
        if conditional.compares() && conditional.buffer.is_none() {
            return Err(Reason::NoConditionalBuffer { test: conditional.test });
        }
        if self.options.checks {
            self.look_at_launch(loaded, domain, command, offset);
        }
        let program = &loaded.program;
        let mut constants = Constants::default();
        {
            let mut model = self.model.as_ref().map(lock);
            if let Some(model) = &mut model {
                // The loader reads the image while a program before it may still be running.
                model.start_launch();
                model.reads(Some(Cache::Instruction), loaded.address, loaded.bytes, || "the program".to_owned());
            }
            loader::constants(&self.memory, model.as_deref_mut(), &self.registers, loaded, &mut constants)?;
        }
        let planes = loader::planes(&self.memory, &self.registers, program, self.options.params_stride)?;
        let launch = Launch {
            program,
            constants: &constants,
            planes: &planes,
            rows: &[],
            domain,
            group: self.options.group,
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: self.options.budget,
            threads: self.options.threads,
            checks: self.options.checks,
            counters: self.counts(),
        };
        let outcome = if domain.width() == 0 || domain.height() == 0 {
            Ok(ctm_exec::Outcome::default())
        } else {
            let mut memory = LaunchMemory::new(
                &mut self.memory,
                self.model.as_ref(),
                self.options.uint8_order,
                &self.registers,
                loaded,
                self.options.checks,
            );
            self.engine.run_x1k_under(&self.control, &launch, &mut memory)
        };
        self.end_launch(outcome, domain, offset)
    }

    /// State after a launch of either instruction set: cache state, performance counters, the report.
    pub(super) fn end_launch(
        &mut self,
        outcome: Result<ctm_exec::Outcome, ctm_exec::Fault>,
        domain: Domain,
        offset: u32,
    ) -> Result<(), Reason> {
        if let Some(model) = &self.model {
            lock(model).end_launch();
        }
        let (counters, findings, fault) = match outcome {
            Ok(outcome) => (outcome.counters, outcome.findings, None),
            Err(fault) => (Counters::default(), Vec::new(), Some(fault)),
        };
        self.registers.perf.pass(counters.clocks(), true);
        self.report.launches.push(LaunchReport { offset_dwords: offset, domain, counters, findings });
        fault.map_or(Ok(()), |fault| Err(Reason::Fault(fault)))
    }

    pub(super) fn find_empty_domain(&mut self, domain: Domain, command: &Command, offset: u32) {
        let Domain { i0, j0, i1, j1 } = domain;
        let message = format!("the domain ({i0}, {j0}) to ({i1}, {j1}) is empty; nothing runs");
        self.find("empty-domain", offset, command, message);
    }

    /// Findings of checked mode on a launch before it begins.
    fn look_at_launch(&mut self, loaded: &LoadedProgram, domain: Domain, command: &Command, offset: u32) {
        if domain.width() == 0 || domain.height() == 0 {
            self.find_empty_domain(domain, command, offset);
        }
        for kind in loader::unset_constants(&self.registers, loaded) {
            let message = format!("the program reads {kind} constants and none are set; they are 0");
            self.find("constants-unset", offset, command, message);
        }
        let covered = loader::covered_constants(&self.memory, &self.registers, &loaded.program);
        if !covered.is_empty() {
            let message = format!(
                "literals of the program lie over other values that the client has set: {} (docs/image.md)",
                covered.join(", ")
            );
            self.find("literal-over-constant", offset, command, message);
        }
        if !loaded.program.uncached && aliased(&self.registers, &loaded.usage, false) {
            let message = "an input that the program reads shares memory with something that it writes; which of both it sees is not defined (CTM §2.1.4)";
            self.find("reads-own-output", offset, command, message.to_owned());
        }
        for &index in &loaded.usage.outputs {
            let Some(Some(surface)) = self.registers.outputs.get(usize::from(index)).copied() else { continue };
            let (pitch, width, last) = (surface.effective_pitch(), surface.width(), domain.i1);
            if domain.width() == 0 || last < pitch || loaded.program.uncached {
                continue;
            }
            let message = if last >= width {
                format!(
                    "the domain has columns up to {last}, output {index} a pitch of {width} elements: by the formula of CTM §2.1.4 columns \
                     beyond the pitch are elements of other rows, whose processors write them too; here they are a fault"
                )
            } else {
                format!(
                    "the domain has columns up to {last}, and the tables use {pitch} elements of the pitch of output {index}, which is {width}: \
                     rows run into each other (CTM §2.1.4)"
                )
            };
            self.find("domain-beyond-pitch", offset, command, message);
        }
        for &index in &loaded.usage.inputs {
            let Some(Some(surface)) = self.registers.inputs.get(usize::from(index)).copied() else { continue };
            if surface.tiling.is_superfine() && surface.format.info().channels > 1 {
                let (tiling, format) = (surface.tiling.name(), surface.format.name());
                let message = format!(
                    "input {index} is {tiling} {format}; 2x2 reads of several channels are undefined (CTM §2.1.4)"
                );
                self.find("superfine-multi-channel", offset, command, message);
            }
        }
    }
}

/// Address, format and height, from parameter `first` on.
fn surface(command: &Command, first: usize) -> Result<Surface, Reason> {
    let word = field(command, first + 1, FormatWord::decode)?;
    Ok(Surface {
        base: GpuAddr(command.param(first)).base(),
        pitch: u32::from(word.pitch) * 4,
        height: u32::from(field(command, first + 2, HeightWord::decode)?.height),
        format: word.format,
        tiling: word.tiling,
    })
}

fn sampler(command: &Command) -> Result<Sampler, Reason> {
    let word = field(command, 1, SamplerWord::decode)?;
    Ok(Sampler {
        filter: word.filter.into(),
        wrap: [word.wrap_x.into(), word.wrap_y.into()],
        border: std::array::from_fn(|c| command.param(3 + c)),
    })
}
