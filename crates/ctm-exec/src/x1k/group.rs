//! One group of processors running one program: issue, faults, counters. Findings of checked runs before an instruction are in `notes`.

mod notes;

pub use super::uncached_index;

use super::alu::{self, Surroundings, WriteMasks, register};
use super::checks::{self, Findings, Scattered};
use super::flow::{Condition, Machine};
use super::lanes::{BLOCK, Block, LaneMask};
use super::ops::ZeroRule;
use super::plan::{AluPlan, Component, PlannedSlot};
use super::{Input, Launch, Memory, Outputs, Written, sample, tex};
use crate::domain::Position;
use crate::fault::{Fault, FaultKind, MemoryFault};
use crate::outcome::Counters;
use crate::watch::Part;
use ctm_isa::x1k::inst::{AluInst, FcInstruction, Source, TexInstruction};
use ctm_isa::x1k::ops::{TexOp, UmrtTarget};
use ctm_isa::x1k::program::Lookups;
use ctm_isa::x1k::{FLOAT_CONSTANTS, TEMPORARIES};

/// How often it is asked whether to stop, in instructions of all groups that run in the same state one after the other: so the last one is stopped at
/// any of its instructions, and not at its first.
const INSTRUCTIONS_PER_LOOK: u32 = 1024;

/// State shared by all groups of a launch.
pub struct Context<'a> {
    /// The launch.
    pub launch: &'a Launch<'a>,
    /// Its program, decoded.
    pub steps: &'a [PlannedSlot],
}

/// A group's access to memory: groups that write uncached have it to themselves.
pub enum Access<'a> {
    /// Reads only; several groups at a time.
    Shared(&'a dyn Memory),
    /// Reads and uncached writes.
    Exclusive(&'a mut dyn Memory),
}

impl Access<'_> {
    fn reader(&self) -> &dyn Memory {
        match self {
            Self::Shared(memory) => *memory,
            Self::Exclusive(memory) => *memory,
        }
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        match self {
            Self::Exclusive(memory) => memory.write_uncached(x, y, bits),
            Self::Shared(_) => Err(MemoryFault {
                what: "output 0".into(),
                address: None,
                reason: "a program with cached writes cannot write uncached".into(),
            }),
        }
    }
}

/// The state of one group. It is used for one group after the other.
#[derive(Clone, Debug)]
pub struct Group {
    pub(super) blocks: Vec<Block>,
    pub(super) machine: Machine,
    /// The slot that comes next; `None` when the program has ended.
    pub(super) pc: Option<u32>,
    /// The slot before it, which led there.
    from: u32,
    conditions: Vec<Condition>,
    lanes: usize,
    counters: Counters,
    findings: Findings,
    since_look: u32,
    /// Of all groups so far, in checked launches with uncached writes, whose groups run one after the other.
    scattered: Scattered,
}

impl Group {
    /// A group of no lanes yet, for programs of this launch.
    #[must_use]
    pub fn new(launch: &Launch<'_>) -> Self {
        Self {
            blocks: vec![Block::new(); launch.group.lanes().div_ceil(BLOCK)],
            machine: Machine::new(0, launch.program.full_flow_control),
            conditions: Vec::new(),
            pc: None,
            from: 0,
            lanes: 0,
            counters: Counters::default(),
            findings: Findings::default(),
            since_look: 0,
            scattered: Scattered::default(),
        }
    }

    /// Whether a processor has written uncached; known in checked launches.
    pub fn has_scattered(&self, at: Position) -> bool {
        self.scattered.has_written(at)
    }

    /// Runs the program for the processors at `positions`, of which the `covered` ones (one mask a block) count, as `part` of the launch.
    ///
    /// # Errors
    /// The fault that ended it.
    pub fn run(
        &mut self,
        context: &Context<'_>,
        part: &Part,
        positions: &[Position],
        covered: &[LaneMask],
        memory: &mut Access<'_>,
    ) -> Result<(), Fault> {
        self.start(context, positions, covered);
        while self.pc.is_some() {
            self.step(context, part, memory)?;
        }
        Ok(())
    }

    /// Puts the group at the start of the program: see [`Self::run`].
    pub fn start(&mut self, context: &Context<'_>, positions: &[Position], covered: &[LaneMask]) {
        self.restart(context, positions, covered);
        self.from = context.launch.program.first.into();
        self.pc = Some(self.from);
    }

    /// Executes one instruction; none when the program has ended.
    ///
    /// # Errors
    /// Its fault.
    pub fn step(&mut self, context: &Context<'_>, part: &Part, memory: &mut Access<'_>) -> Result<(), Fault> {
        let Some(pc) = self.pc else { return Ok(()) };
        let Some(step) = context.steps.get(pc as usize) else {
            let slots = u32::try_from(context.steps.len()).unwrap_or(u32::MAX);
            return Err(self.fault(FaultKind::PcOutOfRange { target: pc, slots }, self.from, None));
        };
        self.spend(context, part, pc)?;
        let next = match step {
            PlannedSlot::Alu(plan) => {
                self.alu(context, plan, pc, memory)?;
                pc + 1
            }
            PlannedSlot::Tex(inst) => {
                self.tex(context, inst, pc, memory.reader())?;
                pc + 1
            }
            PlannedSlot::Fc(fc) => match self.fc(context, fc, pc) {
                // Uncovered processors cannot fault: a group of only those ends.
                Err(fault) if self.is_uncovered() && is_of_stack(&fault.kind) => {
                    self.pc = None;
                    return Ok(());
                }
                next => next?,
            },
            PlannedSlot::Undecodable(error) => return Err(self.fault(FaultKind::Undecodable(*error), pc, None)),
        };
        self.from = pc;
        // The instruction at `last` ends the program, whatever it is.
        self.pc = if pc == u32::from(context.launch.program.last) { None } else { Some(next) };
        Ok(())
    }

    /// Outputs of the covered lanes, in lane order.
    pub fn outputs(&self) -> impl Iterator<Item = (Position, Outputs)> {
        self.blocks
            .iter()
            .flat_map(|block| block.covered.iter().map(|lane| (block.positions[lane], block.outputs_of(lane))))
    }

    /// Its statistics; writes at the end are counted by who commits them.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Its findings.
    pub fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    fn restart(&mut self, context: &Context<'_>, positions: &[Position], covered: &[LaneMask]) {
        self.lanes = positions.len();
        self.machine.restart(self.lanes);
        self.counters = Counters { groups: 1, ..Counters::default() };
        self.findings = Findings::default();
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let mine = positions.get(index * BLOCK..).unwrap_or(&[]);
            let existing = LaneMask::first_lanes(mine.len());
            let at = std::array::from_fn(|lane| mine.get(lane).copied().unwrap_or_default());
            let covered = covered.get(index).copied().unwrap_or_default().and(existing);
            block.restart(existing, covered, at, context.launch);
            self.counters.processors += u64::from(covered.count());
        }
    }

    /// Takes one instruction off the budget, and asks now and then whether to stop.
    fn spend(&mut self, context: &Context<'_>, part: &Part, pc: u32) -> Result<(), Fault> {
        let issued = self.counters.instructions();
        if let Some(limit) = context.launch.budget.instructions_per_group.filter(|&limit| issued >= limit) {
            return Err(self.fault(FaultKind::InstructionBudget { limit }, pc, None));
        }
        self.since_look += 1;
        if self.since_look >= INSTRUCTIONS_PER_LOOK {
            self.since_look = 0;
            if part.is_stopped() {
                return Err(self.fault(part.fault_kind(), pc, None));
            }
        }
        for block in &self.blocks {
            self.counters.active_lanes += u64::from(block.running.and(block.covered).count());
        }
        self.counters.total_lanes += self.lanes as u64;
        Ok(())
    }

    /// Whether all its processors have been killed, or lie outside of the domain.
    fn is_uncovered(&self) -> bool {
        self.blocks.iter().all(|block| block.covered.is_empty())
    }

    /// Clocks that a quad-wide unit needs for the group.
    const fn quads(&self) -> u64 {
        (self.lanes / 4) as u64
    }

    fn fault(&self, kind: FaultKind, pc: u32, position: Option<Position>) -> Fault {
        Fault { kind, pc, position }
    }

    /// The first lane that executes the instruction and is covered: the one that faults for the group.
    fn first_concerned(&self, write_inactive: bool) -> Option<Position> {
        self.blocks.iter().find_map(|block| {
            let executing = if write_inactive { block.existing } else { block.running };
            executing.and(block.covered).first().map(|lane| block.positions[lane])
        })
    }

    fn alu(&mut self, context: &Context<'_>, plan: &AluPlan, pc: u32, memory: &mut Access<'_>) -> Result<(), Fault> {
        let launch = context.launch;
        let program = launch.program;
        let cmn = &plan.inst.cmn;
        let loop_variable = self.machine.loop_variable();
        let surroundings = Surroundings {
            constants: launch.constants,
            loop_variable: loop_variable.unwrap_or(0),
            zero: if program.zero_times_anything { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee },
            uncached: program.uncached,
            conditional_value: program.conditional_value,
        };
        let mut clocks = self.quads() + u64::from(cmn.nop);
        if plan.inst.is_output() {
            self.counters.output += 1;
            if program.uncached && cmn.rgb_omask == 7 && cmn.alpha_omask && !shares_index(&plan.inst) {
                clocks += 3 * self.quads();
            }
        } else {
            self.counters.alu += 1;
        }
        self.counters.alu_clocks += clocks;

        let destinations = [
            (cmn.rgb_wmask != 0, plan.inst.rgba.addrd, plan.inst.rgba.addrd_rel),
            (cmn.alpha_wmask, plan.inst.alpha.addrd, plan.inst.alpha.addrd_rel),
        ];
        let registers =
            plan.reads.iter().map(|read| read.source).chain(
                destinations.iter().filter(|d| d.0).map(|&(_, index, relative)| Source::Temp { index, relative }),
            );
        if let Some(position) = self.first_concerned(cmn.write_inactive) {
            self.check_relative(launch.checks, registers, loop_variable, pc, position)?;
        }
        if launch.checks {
            self.note_alu(context, plan, &surroundings, pc);
        }
        let mut shared_index = None;
        for index in 0..self.blocks.len() {
            let block = &mut self.blocks[index];
            let masks = WriteMasks::new(cmn, block);
            if masks.executing.is_empty() {
                continue;
            }
            let results = alu::compute(plan, block, &surroundings);
            alu::write_back(plan, block, &surroundings, &results, &masks);
            if program.uncached && plan.inst.is_output() {
                let issue = Issue { plan, pc, checks: launch.checks };
                self.uncached_writes(&issue, index, &results, &masks, &mut shared_index, memory)?;
            }
        }
        Ok(())
    }

    /// The uncached writes of one block (CTM §3.3.8): red's bits at (green, blue), lane by lane.
    ///
    /// `shared_index` is the index for all processors of the group, once the first one that executes has given it.
    fn uncached_writes(
        &mut self,
        &Issue { plan, pc, checks }: &Issue<'_>,
        index: usize,
        results: &alu::Results,
        masks: &WriteMasks,
        shared_index: &mut Option<(u32, u32)>,
        memory: &mut Access<'_>,
    ) -> Result<(), Fault> {
        let cmn = &plan.inst.cmn;
        let all = cmn.rgb_omask == 7 && cmn.alpha_omask;
        let block = &self.blocks[index];
        let position = |lane: usize| block.positions[lane];
        let concerned = block.covered.and(masks.executing);
        let Some(first) = concerned.first() else { return Ok(()) };
        let index_of = |lane: usize| (results.rgb[1][lane], results.rgb[2][lane]);
        let shared = *shared_index.get_or_insert(index_of(first));
        let writing = masks.predicated.iter().fold(concerned, |set, &mask| set.and(mask));
        if !all {
            if checks && (cmn.rgb_omask != 0 || cmn.alpha_omask) {
                self.findings.note(checks::UMRT_PARTIAL_MASK, pc, Some(position(first)), || {
                    let (rgb, alpha) = (cmn.rgb_omask, u8::from(cmn.alpha_omask));
                    format!("the output mask is rgb {rgb}, alpha {alpha}; an uncached write needs all channels or none")
                });
            }
            return Ok(());
        }
        for lane in writing.iter() {
            if checks && results.alpha[lane] & 0x7fff_ffff != 0 {
                let bits = results.alpha[lane];
                self.findings.note(checks::UMRT_ALPHA, pc, Some(position(lane)), || {
                    format!("alpha is {} (0x{bits:08x}), an uncached write needs 0", f32::from_bits(bits))
                });
            }
            memory.reader().begin_lane(position(lane), 0);
            let is_shared = shares_index(&plan.inst);
            let (x, y) = if is_shared { shared } else { index_of(lane) };
            if checks {
                let (at, bits) = (position(lane), results.rgb[0][lane]);
                self.findings.note_scattered(&mut self.scattered, pc, at, ([x, y], bits), is_shared);
            }
            let written = match (uncached_index(x), uncached_index(y)) {
                (Some(x), Some(y)) => memory.write_uncached(x, y, results.rgb[0][lane]),
                _ => Err(MemoryFault {
                    what: "output 0".into(),
                    address: None,
                    reason: format!(
                        "the index ({}, {}) is not a pair of numbers from 0 up",
                        f32::from_bits(x),
                        f32::from_bits(y)
                    ),
                }),
            };
            match written {
                Ok(Written { elements, bytes }) => {
                    self.counters.writes += elements;
                    self.counters.write_bytes += bytes;
                }
                Err(fault) => return Err(Fault { kind: FaultKind::Memory(fault), pc, position: Some(position(lane)) }),
            }
        }
        Ok(())
    }

    fn tex(&mut self, context: &Context<'_>, inst: &TexInstruction, pc: u32, memory: &dyn Memory) -> Result<(), Fault> {
        let launch = context.launch;
        self.counters.tex += 1;
        self.counters.tex_clocks += if inst.inst.op == TexOp::Nop { 1 } else { self.quads() };
        let loop_variable = self.machine.loop_variable();
        let addr = &inst.addr;
        let channels = tex::source_channels(inst);
        let source = Source::Temp { index: addr.src_addr, relative: addr.src_addr_rel };
        let destination = Source::Temp { index: addr.dst_addr, relative: addr.dst_addr_rel };
        let registers = [(!channels.is_empty(), source), (tex::writes_destination(inst), destination)];
        if let Some(position) = self.first_concerned(inst.cmn.write_inactive) {
            let used = registers.iter().filter(|r| r.0).map(|r| r.1);
            self.check_relative(launch.checks, used, loop_variable, pc, position)?;
        }
        if launch.checks {
            let reads: Vec<_> = channels.iter().map(|&channel| Component { source, channel }).collect();
            self.note_reads(&reads, loop_variable.unwrap_or(0), inst.cmn.write_inactive, pc);
            self.note_predicates(&inst.cmn, pc);
        }
        if let (true, Lookups::Textures { cubes }) = (inst.inst.op.is_lookup(), launch.program.lookups) {
            return self.lookup_textures(inst, pc, loop_variable.unwrap_or(0), (memory, cubes));
        }
        let input = if inst.inst.op.is_lookup() { self.input(context, inst, pc, memory)? } else { None };
        for block in &mut self.blocks {
            let masks = WriteMasks::new(&inst.cmn, block);
            let working = tex::working_lanes(inst, block, &masks);
            match inst.inst.op {
                TexOp::Nop => {}
                TexOp::KillLt0 => tex::kill(inst, block, loop_variable.unwrap_or(0), &masks),
                TexOp::Lookup
                | TexOp::LookupProj
                | TexOp::LodBias
                | TexOp::Lod
                | TexOp::Dxdy
                | TexOp::LookupUncached => {
                    let al = loop_variable.unwrap_or(0);
                    let outside = tex::lookup(inst, block, al, &masks, memory, input.as_ref()).map_err(|e| Fault {
                        kind: FaultKind::Memory(e.fault),
                        pc,
                        position: Some(block.positions[e.lane]),
                    })?;
                    if let Some(input) = &input {
                        let lookups = u64::from(working.and(block.covered).count());
                        let elements = lookups * sample::elements_per_lookup(input.sampler.filter);
                        self.counters.fetches += elements;
                        self.counters.fetch_bytes += elements * u64::from(input.element_bytes);
                        if let (true, Some((id, x, y))) = (launch.checks, memory.take_stale_read()) {
                            let first = working.first().map(|lane| block.positions[lane]);
                            self.findings.note(checks::CACHED_READ, pc, first, || {
                                format!("element ({x}, {y}) of input {id} is read through the cache, and this launch has written it uncached")
                            });
                        }
                        if let (true, Some(lane)) = (launch.checks, outside) {
                            let (id, w, h) = (inst.inst.tex_id, input.width, input.height);
                            self.findings.note(checks::FETCH_OUT_OF_BOUNDS, pc, Some(block.positions[lane]), || {
                                format!("the coordinates lie outside input {id}, which has {w} x {h} elements")
                            });
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A lookup in a draw's textures.
    fn lookup_textures(
        &mut self,
        inst: &TexInstruction,
        pc: u32,
        loop_variable: i32,
        (memory, cubes): (&dyn Memory, u16),
    ) -> Result<(), Fault> {
        let position = self.first_concerned(inst.cmn.write_inactive);
        let Some(textures) = memory.textures() else {
            let (what, reason) = (format!("texture unit {}", inst.inst.tex_id), "no textures are bound".into());
            return Err(Fault { kind: FaultKind::Memory(MemoryFault { what, address: None, reason }), pc, position });
        };
        for block in &mut self.blocks {
            let masks = WriteMasks::new(&inst.cmn, block);
            let found = tex::lookup_textures(inst, block, loop_variable, &masks, (textures, cubes));
            found.map_err(|e| Fault {
                kind: FaultKind::Memory(e.fault),
                pc,
                position: Some(block.positions[e.lane]),
            })?;
        }
        Ok(())
    }

    /// The input of a lookup. Without one, the first covered lane that would read it faults; in a checked run it reads 0 instead.
    fn input(
        &mut self,
        context: &Context<'_>,
        inst: &TexInstruction,
        pc: u32,
        memory: &dyn Memory,
    ) -> Result<Option<Input>, Fault> {
        let id = inst.inst.tex_id;
        let input = memory.input(id);
        if let (None, Some(position)) = (&input, self.first_concerned(inst.cmn.write_inactive)) {
            if !context.launch.checks {
                let kind = FaultKind::Memory(MemoryFault {
                    what: format!("input {id}"),
                    address: None,
                    reason: "no input is bound there; bind one, or run with checks to read 0 instead".into(),
                });
                return Err(Fault { kind, pc, position: Some(position) });
            }
            self.findings.note(checks::UNBOUND_INPUT, pc, Some(position), || {
                format!("no input is bound as input {id}; the lookup reads 0")
            });
        }
        Ok(input)
    }

    fn fc(&mut self, context: &Context<'_>, fc: &FcInstruction, pc: u32) -> Result<u32, Fault> {
        self.counters.fc += 1;
        self.counters.fc_clocks += 1;
        if context.launch.checks {
            self.note_fc(fc, pc);
        }
        let bit = alu::predicate_channel(fc.cmn.rgb_pred_sel, 0);
        self.conditions.clear();
        for index in 0..self.lanes {
            let (block, lane) = (&self.blocks[index / BLOCK], index % BLOCK);
            self.conditions.push(Condition {
                alu_result: block.alu_result.contains(lane),
                predicate: bit.is_none_or(|b| block.predicates[b].contains(lane) != fc.cmn.rgb_pred_inv),
                covered: block.covered.contains(lane),
            });
        }
        let constants = context.launch.constants;
        let boolean = constants.bool[usize::from(fc.addr.bool_addr)];
        let integer = constants.int[usize::from(fc.addr.int_addr)];
        let next = self.machine.execute(fc, pc, boolean, integer, &self.conditions).map_err(|fault| Fault {
            kind: fault.kind,
            pc,
            position: fault.lane.map(|index| self.blocks[index / BLOCK].positions[index % BLOCK]),
        })?;
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let here = index * BLOCK;
            let count = self.lanes.saturating_sub(here);
            block.running = LaneMask::of(|lane| lane < count && self.machine.is_running(here + lane));
            // The ALU result does not outlive a flow-control instruction (CTM §3.3.10).
            block.alu_result = LaneMask::NONE;
            block.written_alu_result = LaneMask::NONE;
        }
        Ok(next)
    }

    /// A register beyond its file is a fault when a covered lane executes the instruction; aL is the same for all lanes.
    fn check_relative(
        &mut self,
        checks: bool,
        registers: impl Iterator<Item = Source>,
        loop_variable: Option<i32>,
        pc: u32,
        position: Position,
    ) -> Result<(), Fault> {
        for source in registers {
            let (file, base, limit) = match source {
                Source::Temp { index, relative: true } => ("temporary", index, TEMPORARIES),
                Source::Const { index, relative: true } => ("constant", index, FLOAT_CONSTANTS),
                Source::Temp { .. } | Source::Const { .. } | Source::Inline { .. } => continue,
            };
            if let Err(index) = register(base, true, loop_variable.unwrap_or(0), limit) {
                let limit = u32::try_from(limit).unwrap_or(u32::MAX);
                let kind = FaultKind::RelativeOutOfRange { file, index, limit };
                return Err(Fault { kind, pc, position: Some(position) });
            }
            if checks && loop_variable.is_none() {
                self.findings.note(checks::LOOP_VARIABLE_OUTSIDE_LOOP, pc, Some(position), || {
                    format!("aL is added to {file} {base} outside any LOOP, where it has no value; 0 is used")
                });
            }
        }
        Ok(())
    }
}

/// An ALU or OUTPUT instruction as it is issued.
struct Issue<'a> {
    plan: &'a AluPlan,
    pc: u32,
    checks: bool,
}

/// Whether an uncached write takes one index for the whole group.
#[must_use]
pub fn shares_index(inst: &AluInst) -> bool {
    match UmrtTarget::from_code(u32::from(inst.rgb.target & 3)) {
        Some(UmrtTarget::SameIdx | UmrtTarget::SameIdxAcquire) => true,
        Some(UmrtTarget::PerProcessorIdx | UmrtTarget::PerProcessorIdxAcquire) | None => false,
    }
}

/// Whether a stack had no room, or nothing in it.
const fn is_of_stack(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::StackOverflow { .. } | FaultKind::StackUnderflow { .. })
}
