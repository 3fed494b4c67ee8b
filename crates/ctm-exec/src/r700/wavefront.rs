//! A wavefront running a program: issue, masks, clauses, exports, faults, counters.
//!
//! Instructions execute in order; BARRIER and WAIT_ACK have nothing to wait for.

use super::alu::{CLAUSE_TEMPORARIES, ClauseContext, Lane};
use super::checks::{At, Checks, EXPORT_NOT_DONE, STACK_BEYOND_DECLARED, Watch, Written};
use super::clocks;
use super::exports::{Exports, Target};
use super::flow::{Flow, LoopKind, PixelSet, PixelState, ProgramPoint};
use super::shared::Shared;
use super::texture::{self, selected};
use super::{Launch, Memory, VertexEvent, with_alternate};
use crate::domain::Position;
use crate::fault::{Fault, FaultKind};
use crate::outcome::Counters;
use crate::rows::survive;
use ctm_isa::r700::inst::{AluClause, Cf, CfAlu, CfEntry, CfExport, CfPlain, ClauseBody, Decoded, FetchEntry};
use ctm_isa::r700::ops::{CfAluOp, CfOp, ExportOp, KcacheMode};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::{GPRS, KCACHE_LINE};
use std::cell::RefCell;

/// How often it is asked whether to stop, in instructions of all wavefronts that run one after the other.
const INSTRUCTIONS_PER_LOOK: u64 = 256;

/// A launch with its programs decoded.
#[derive(Debug)]
pub struct Context<'a> {
    /// The launch.
    pub launch: &'a Launch<'a>,
    /// The program.
    pub main: Decoded,
    /// The fetch program.
    pub fetch: Option<Decoded>,
}

impl Context<'_> {
    /// Registers of a thread.
    #[must_use]
    pub fn gprs(&self) -> usize {
        usize::from(self.launch.program.gprs).clamp(1, GPRS)
    }
}

/// One wavefront.
#[derive(Clone, Debug, Default)]
pub struct Wavefront {
    pub(super) flow: Flow,
    pub(super) positions: Vec<Position>,
    /// All registers of each lane.
    pub(super) gprs: Vec<[u32; 4]>,
    /// The scratch memory of each lane, as far as it was written.
    pub(super) scratch: Vec<Vec<[u32; 4]>>,
    /// The first lane's number among the threads of the launch.
    pub(super) first_thread: u64,
    /// The first lane's number in its thread group.
    pub(super) first_in_group: usize,
    pub(super) exports: Vec<Exports>,
    /// Lanes whose exports are sent.
    covered: Vec<bool>,
    pub(super) place: Option<ProgramPoint>,
    pub(super) counters: Counters,
    pub(super) gradients: texture::Gradients,
    /// Events of a geometry program, in order: the lane and the event.
    events: Vec<(usize, VertexEvent)>,
    /// Register elements that hold something, of each lane; empty when nothing is checked.
    pub(super) written: Vec<Written>,
    /// The instruction that runs.
    pub(super) pc: u32,
    /// Whether lanes are pixels of quads.
    pub(super) quads: bool,
    issued: u64,
    /// Types that were exported, and those of which EXPORT_DONE was seen; bit 0 = pixel.
    exported: [u8; 2],
}

type WavefrontStep<T> = Result<T, FaultKind>;

impl Wavefront {
    /// Puts the wavefront at the start of the program with the lanes at `positions`, of which those in the domain are valid.
    ///
    /// `first_thread` is the number of its first lane in the launch, `first_in_group` that in its thread group.
    pub fn start(&mut self, context: &Context<'_>, positions: &[Position], first_thread: u64, first_in_group: usize) {
        (self.first_thread, self.first_in_group) = (first_thread, first_in_group);
        self.scratch.clear();
        self.scratch.resize(positions.len(), Vec::new());
        let launch = context.launch;
        let valid: Vec<bool> = positions.iter().map(|&at| launch.domain.contains(at)).collect();
        self.covered.clear();
        self.covered.extend((first_thread..).zip(positions).map(|(lane, _)| launch.covered_from(lane) & 1 == 1));
        self.flow.reset(&valid);
        self.positions.clear();
        self.positions.extend_from_slice(positions);
        self.gprs.clear();
        self.gprs.resize(positions.len() * GPRS, [0; 4]);
        for (lane, at) in positions.iter().enumerate() {
            for plane in launch.planes {
                if usize::from(plane.temp) < context.gprs() {
                    let (i, j) = (i64::from(at.i), i64::from(at.j));
                    self.gprs[lane * GPRS + usize::from(plane.temp)] =
                        launch.divisor.map_or_else(|| plane.at(i, j), |divisor| divisor.at(plane, i, j));
                }
            }
            let number = usize::try_from(first_thread).unwrap_or(usize::MAX).saturating_add(lane);
            for row in launch.rows.iter().filter(|row| usize::from(row.register) < context.gprs()) {
                let register = &mut self.gprs[lane * GPRS + usize::from(row.register)];
                register[usize::from(row.element) % 4] = row.of_lane(number);
            }
        }
        self.exports.resize_with(positions.len(), Exports::default);
        self.exports.iter_mut().for_each(Exports::clear);
        let runs =
            launch.covered.is_none() || valid.iter().zip(&self.covered).any(|(&valid, &covered)| valid && covered);
        let processors = if runs { valid.iter().filter(|&&valid| valid).count() as u64 } else { 0 };
        self.place = runs.then_some(ProgramPoint { fetch: false, slot: launch.program.entry });
        self.counters = Counters { groups: 1, processors, ..Counters::default() };
        self.gradients = texture::Gradients::default();
        self.events.clear();
        self.quads = launch.stage == Stage::Pixel;
        self.written.clear();
        if launch.checks {
            let mut written = [0; GPRS];
            for plane in launch.planes.iter().filter(|plane| usize::from(plane.temp) < context.gprs()) {
                written[usize::from(plane.temp)] = 15;
            }
            for row in launch.rows.iter().filter(|row| usize::from(row.register) < context.gprs()) {
                written[usize::from(row.register)] |= 1 << (row.element % 4);
            }
            self.written.resize(positions.len(), written);
        }
        self.issued = 0;
        self.exported = [0; 2];
    }

    /// Whether the program has not ended yet.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.place.is_some()
    }

    /// Its statistics.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Vertex events of a geometry program, in order.
    pub fn events(&self) -> impl Iterator<Item = (Position, VertexEvent)> + '_ {
        self.events.iter().map(|&(lane, event)| (self.positions[lane], event))
    }

    /// The exports of the valid and covered lanes that stored something, in lane order.
    pub fn exports(&self) -> impl Iterator<Item = (Position, &Exports)> {
        let valid = self.flow.valid.iter().zip(&self.covered).map(|(&valid, &covered)| valid && covered);
        let lanes = self.positions.iter().zip(&self.exports).zip(valid);
        let sent = lanes.filter(|((_, exports), valid)| *valid && !exports.is_empty());
        sent.map(|((at, exports), _)| (*at, exports))
    }

    /// Where the valid and covered lanes lie, whether they stored something or not.
    pub fn survivors(&self) -> impl Iterator<Item = Position> + '_ {
        let valid = self.flow.valid.iter().zip(&self.covered).map(|(&valid, &covered)| valid && covered);
        self.positions.iter().zip(valid).filter(|(_, valid)| *valid).map(|(at, _)| *at)
    }

    /// Registers of a lane, all 128.
    #[must_use]
    pub fn registers(&self, lane: usize) -> &[[u32; 4]] {
        &self.gprs[lane * GPRS..(lane + 1) * GPRS]
    }

    /// Executes one control-flow instruction with its clause.
    ///
    /// # Errors
    /// Its fault.
    pub fn step(&mut self, context: &Context<'_>, shared: &mut Shared, memory: &mut dyn Memory) -> Result<(), Fault> {
        let Some(place) = self.place else { return Ok(()) };
        let fault = |wave: &Self, kind, lane: Option<usize>| Fault {
            kind,
            pc: place.slot,
            position: lane.and_then(|lane| wave.positions.get(lane).copied()),
        };
        let (decoded, words) = match (place.fetch, &context.fetch, context.launch.fetch_program) {
            (true, Some(decoded), Some(program)) => (decoded, program.words.len()),
            _ => (&context.main, context.launch.program.words.len()),
        };
        let Some(entry) = decoded.at(place.slot) else {
            let slots = u32::try_from(words / 2).unwrap_or(u32::MAX);
            return Err(fault(self, FaultKind::PcOutOfRange { target: place.slot, slots }, None));
        };
        let mut lane = None;
        self.pc = place.slot;
        match self.execute(context, shared, memory, place, entry, &mut lane) {
            Ok(next) => {
                let ends = entry.cf.as_ref().is_ok_and(Cf::ends_program);
                self.place = if ends { None } else { Some(next) };
                if let Some(checks) = &mut shared.checks {
                    self.flow_checked(context, checks);
                }
                if let Err(kind) = self.charge(context, shared, entry) {
                    return Err(fault(self, kind, None));
                }
                if ends {
                    self.test_exports(context.launch);
                }
                Ok(())
            }
            Err(kind) => Err(fault(self, kind, lane)),
        }
    }

    /// The test of exports after the program, and the marks of the lanes that are left.
    fn test_exports(&mut self, launch: &Launch<'_>) {
        if launch.stage != Stage::Pixel {
            return;
        }
        if let Some(keeps) = launch.keeps {
            for (valid, exports) in self.flow.valid.iter_mut().zip(&self.exports) {
                let value = |output: u8, element: u8| {
                    exports.get(Target::Pixel(output)).map_or(0, |(values, _)| values[usize::from(element % 4)])
                };
                *valid &= keeps.apply(value, 0) != 0;
            }
        }
        if let Some(survivors) = launch.survivors {
            let lanes = self
                .flow
                .valid
                .iter()
                .zip(&self.covered)
                .enumerate()
                .filter(|(_, (valid, covered))| **valid && **covered);
            survive(survivors, self.first_thread, lanes.fold(0, |set, (lane, _)| set | 1 << lane));
        }
    }

    /// Findings of a checked run after an instruction.
    fn flow_checked(&self, context: &Context<'_>, checks: &mut Checks) {
        let here = At { pc: self.pc, item: 0, position: self.positions.first().copied() };
        let (used, declared) = (self.flow.entries_used(context.launch.chip), usize::from(context.launch.program.stack));
        if used > declared {
            checks.note(STACK_BEYOND_DECLARED, here, || {
                format!("{used} entries are in use, the program declares {declared}")
            });
        }
        let [exported, done] = self.exported;
        for (kind, name) in ["pixels", "positions", "parameters"].into_iter().enumerate() {
            if self.place.is_none() && (exported & !done) >> kind & 1 == 1 {
                checks.note(EXPORT_NOT_DONE, here, || {
                    format!("the program exports {name} and ends without their EXPORT_DONE")
                });
            }
        }
    }

    /// Counts an executed instruction, tests the budget, and polls the stop flag now and then.
    fn charge(&mut self, context: &Context<'_>, shared: &mut Shared, entry: &CfEntry) -> WavefrontStep<()> {
        let lanes = self.positions.len() as u64;
        let active = self.flow.state.iter().filter(|&&s| s == PixelState::Active).count() as u64;
        let mut instructions = 1;
        self.counters.fc_clocks += clocks::CONTROL_CLOCKS;
        match (&entry.cf, &entry.clause) {
            (_, ClauseBody::Alu(clause)) => {
                instructions += clause.groups.len() as u64;
                self.counters.fc += 1;
                self.counters.alu += clause.groups.len() as u64;
                let groups = clause.groups.len() as u64 + u64::from(clocks::delays(clause));
                self.counters.alu_clocks += groups * lanes.div_ceil(clocks::GROUP_LANES);
            }
            (_, ClauseBody::Fetch(clause)) => {
                instructions += clause.fetches.len() as u64;
                self.counters.fc += 1;
                self.counters.tex += clause.fetches.len() as u64;
                let passes = |entry: &FetchEntry| entry.inst.as_ref().map_or(1, |inst| clocks::passes(&inst.fetch));
                let passes: u64 = clause.fetches.iter().map(passes).sum();
                self.counters.tex_clocks += passes * lanes.div_ceil(clocks::FETCH_LANES);
            }
            (Ok(Cf::Export(_) | Cf::Mem(_)), _) => self.counters.output += 1,
            _ => self.counters.fc += 1,
        }
        self.counters.active_lanes += active * instructions;
        self.counters.total_lanes += lanes * instructions;
        self.issued += instructions;
        if let Some(limit) = context.launch.budget.instructions_per_group
            && self.issued > limit
        {
            return Err(FaultKind::InstructionBudget { limit });
        }
        shared.since_look += instructions;
        if shared.since_look >= INSTRUCTIONS_PER_LOOK {
            shared.since_look = 0;
            if let Some(part) = shared.part.as_ref().filter(|part| part.is_stopped()) {
                return Err(part.fault_kind());
            }
        }
        Ok(())
    }

    fn execute(
        &mut self,
        context: &Context<'_>,
        shared: &mut Shared,
        memory: &mut dyn Memory,
        place: ProgramPoint,
        entry: &CfEntry,
        lane: &mut Option<usize>,
    ) -> WavefrontStep<ProgramPoint> {
        let cf = entry.cf.as_ref().map_err(|error| FaultKind::Undecodable(*error))?;
        if matches!(entry.clause, ClauseBody::Outside | ClauseBody::Unread) {
            let (target, slots) = cf.clause().unwrap_or_default();
            return Err(FaultKind::PcOutOfRange { target: target.saturating_add(slots), slots: target });
        }
        match (cf, &entry.clause) {
            (Cf::Alu(cf), ClauseBody::Alu(clause)) => {
                self.alu_clause(context, shared, memory, cf, clause, lane)?;
                Ok(place.next())
            }
            (Cf::Alu(_), _) => Ok(place.next()),
            (Cf::Plain(cf), clause) => self.plain(context, shared, memory, place, cf, clause, lane),
            (Cf::Export(cf), _) => {
                self.export(context, &mut shared.checks, cf)?;
                Ok(place.next())
            }
            (Cf::Mem(cf), _) => {
                let word = &cf.word1;
                let (whole_quad, valid_pixel) = (word.whole_quad_mode, word.valid_pixel_mode);
                let executes = self.flow.test(PixelSet { whole_quad, valid_pixel, ..PixelSet::ACTIVE });
                self.memory_write(context, &mut shared.checks, memory, &executes, cf, lane)?;
                Ok(place.next())
            }
        }
    }

    /// A branch-loop instruction, a fetch clause, or another plain instruction (R700 §3.7, §9.1).
    #[allow(clippy::too_many_arguments, reason = "an instruction, its place, and what it may touch")]
    fn plain(
        &mut self,
        context: &Context<'_>,
        shared: &mut Shared,
        memory: &mut dyn Memory,
        place: ProgramPoint,
        cf: &CfPlain,
        clause: &ClauseBody,
        lane: &mut Option<usize>,
    ) -> WavefrontStep<ProgramPoint> {
        let word = &cf.word1;
        let constants = context.launch.constants;
        let constant = usize::from(word.cf_const) % super::CF_CONSTANTS;
        let test = PixelSet {
            cond: word.cond,
            boolean: constants.bool[constant],
            whole_quad: word.whole_quad_mode,
            valid_pixel: word.valid_pixel_mode,
        };
        let pops = word.pop_count;
        let target = place.at(cf.word0.addr);
        let to = |jumps: bool| if jumps { target } else { place.next() };
        let flow = &mut self.flow;
        Ok(match word.op {
            CfOp::Nop | CfOp::WaitAck => place.next(),
            CfOp::Tex | CfOp::Vtx | CfOp::VtxTc => {
                if let ClauseBody::Fetch(clause) = clause {
                    self.fetch_clause(context, shared, memory, test, clause, lane)?;
                }
                place.next()
            }
            CfOp::LoopStart => to(flow.loop_start(LoopKind::Counted(constants.loops[constant]), test, pops)?),
            CfOp::LoopStartNoAl => to(flow.loop_start(LoopKind::Repeat(constants.loops[constant]), test, pops)?),
            CfOp::LoopStartDx10 => to(flow.loop_start(LoopKind::Dx10, test, pops)?),
            CfOp::LoopEnd => to(flow.loop_end(test)?),
            CfOp::LoopContinue => to(flow.loop_leave(test, PixelState::InactiveContinue)?),
            CfOp::LoopBreak => to(flow.loop_leave(test, PixelState::InactiveBreak)?),
            CfOp::Jump => to(flow.jump(test, pops)?),
            CfOp::Push => to(flow.push_state(test, pops)?),
            CfOp::PushElse => to(flow.push_else(test)?),
            CfOp::Else => to(flow.else_(test, pops)?),
            CfOp::Pop => {
                flow.pop(test, pops)?;
                place.next()
            }
            CfOp::PopJump => {
                flow.pop_first(test, pops)?;
                to(flow.jump(test, 0)?)
            }
            CfOp::PopPush => {
                flow.pop_first(test, pops)?;
                to(flow.push_state(test, 0)?)
            }
            CfOp::PopPushElse => {
                flow.pop_first(test, pops)?;
                to(flow.push_else(test)?)
            }
            CfOp::Call => to(flow.call(test, word.call_count, place.next())?),
            CfOp::CallFs => match context.launch.fetch_program {
                Some(program) if !place.fetch && flow.call(test, word.call_count, place.next())? => {
                    ProgramPoint { fetch: true, slot: program.entry }
                }
                _ => place.next(),
            },
            CfOp::Return => flow.return_(test.valid_pixel, pops)?,
            CfOp::EmitVertex => self.vertex_event(context, test, VertexEvent::Emit, place)?,
            CfOp::EmitCutVertex => self.vertex_event(context, test, VertexEvent::EmitCut, place)?,
            CfOp::CutVertex => self.vertex_event(context, test, VertexEvent::Cut, place)?,
            CfOp::Kill => to(context.launch.stage == Stage::Pixel && flow.kill(test)),
        })
    }

    /// `EMIT_VERTEX` and its relatives: only geometry programs have them (R700 §3.5).
    fn vertex_event(
        &mut self,
        context: &Context<'_>,
        test: PixelSet,
        event: VertexEvent,
        place: ProgramPoint,
    ) -> WavefrontStep<ProgramPoint> {
        if context.launch.stage != Stage::Geometry {
            let feature =
                format!("{event:?} vertex in a {} program, where it is not valid", context.launch.stage.name());
            return Err(FaultKind::Unsupported { feature, section: "R700 §3.5" });
        }
        let pass = self.flow.test(test);
        self.events.extend((0..pass.len()).filter(|&lane| pass[lane]).map(|lane| (lane, event)));
        Ok(place.next())
    }

    /// An ALU clause: its stack operations around it, the clause on every lane that executes (R700 §3.7.7).
    fn alu_clause(
        &mut self,
        context: &Context<'_>,
        shared: &mut Shared,
        memory: &dyn Memory,
        cf: &CfAlu,
        clause: &AluClause,
        faulty: &mut Option<usize>,
    ) -> WavefrontStep<()> {
        let memory = with_alternate(memory, cf.word1.alt_const)?;
        let op = cf.word1.op;
        if op == CfAluOp::PushBefore {
            self.flow.push_before_clause()?;
        }
        // ALU clauses have no COND and no VALID_PIXEL_MODE (R700 §3.6.2).
        let test = PixelSet { whole_quad: cf.word1.whole_quad_mode, ..PixelSet::ACTIVE };
        let executes = self.flow.test(test);
        let loop_index = self.flow.loop_index();
        let [set0, set1] = cf.kcache();
        let lock = |set: ctm_isa::r700::inst::Kcache| -> WavefrontStep<Vec<[u32; 4]>> {
            let line = match set.mode {
                KcacheMode::Nop | KcacheMode::Lock1 | KcacheMode::Lock2 => Some(u32::from(set.line)),
                KcacheMode::LockLoopIndex => u32::try_from(i64::from(set.line) + i64::from(loop_index >> 4)).ok(),
            };
            let constants = 0..set.mode.constants();
            let read = |c: u32| match line {
                Some(line) => memory.constant(set.bank, line * KCACHE_LINE + c).map_err(FaultKind::Memory),
                None => Ok([0; 4]),
            };
            constants.map(read).collect()
        };
        let (values0, values1) = (lock(set0)?, lock(set1)?);
        let clause_context = ClauseContext {
            constants: context.launch.constants,
            kcache: [(&values0, set0.mode), (&values1, set1.mode)],
            loop_index,
            dx10_clamp: context.launch.dx10_clamp,
            gprs: context.gprs(),
            kills: context.launch.stage == Stage::Pixel,
            doubles: context.launch.chip.has_doubles(),
        };
        if let Some(recorder) = &mut shared.recorder {
            recorder.executes(&executes);
        }
        let mut predicates = vec![None; executes.len()];
        let mut killed = Vec::new();
        for lane in (0..executes.len()).filter(|&lane| executes[lane]) {
            *faulty = Some(lane);
            let at = At { pc: self.pc, item: 0, position: self.positions.get(lane).copied() };
            let watch = match (self.written.get_mut(lane), &mut shared.checks) {
                (Some(written), Some(checks)) => {
                    // Clause temporaries hold nothing at the start of a clause (R700 §4.6).
                    let temporaries = (GPRS - CLAUSE_TEMPORARIES).max(context.gprs());
                    written[temporaries..].fill(0);
                    let in_loop = self.flow.defined_loop_index().is_some();
                    Some(RefCell::new(Watch { written, checks, at, address: 0, previous: 0, in_loop }))
                }
                _ => None,
            };
            let record = shared.recorder.as_mut().and_then(|recorder| recorder.lane(lane));
            let mut state = Lane {
                watch,
                record,
                gprs: &mut self.gprs[lane * GPRS..(lane + 1) * GPRS],
                globals: &mut shared.globals[lane],
                ar: [0; 4],
                pv: [0; 4],
                ps: 0,
                predicate: true,
                execute: None,
                killed: false,
            };
            clause_context.run(&mut state, clause)?;
            predicates[lane] = state.execute;
            if state.killed {
                killed.push(lane);
            }
        }
        *faulty = None;
        for lane in killed {
            self.flow.valid[lane] = false;
        }
        let skips: Vec<bool> = predicates.iter().map(|&p| p == Some(false)).collect();
        match op {
            CfAluOp::Alu | CfAluOp::PushBefore => self.flow.take_predicates(&predicates),
            CfAluOp::PopAfter => {
                self.flow.take_predicates(&predicates);
                self.flow.pop_after_clause(1)?;
            }
            CfAluOp::Pop2After => {
                self.flow.take_predicates(&predicates);
                self.flow.pop_after_clause(2)?;
            }
            CfAluOp::Continue => self.flow.leave(&skips, PixelState::InactiveContinue)?,
            CfAluOp::Break => self.flow.leave(&skips, PixelState::InactiveBreak)?,
            CfAluOp::ElseAfter => {
                self.flow.take_predicates(&predicates);
                // Clauses cannot jump (R700 §3.7.7).
                self.flow.exchange(PixelSet::ACTIVE)?;
            }
        }
        Ok(())
    }

    /// `EXPORT` and `EXPORT_DONE`: a burst of registers for every lane that executes (R700 §3.4.1).
    fn export(&mut self, context: &Context<'_>, checks: &mut Option<Checks>, cf: &CfExport) -> WavefrontStep<()> {
        let word = &cf.word1;
        let test =
            PixelSet { whole_quad: word.whole_quad_mode, valid_pixel: word.valid_pixel_mode, ..PixelSet::ACTIVE };
        let executes = self.flow.test(test);
        for burst in 0..=word.burst_count {
            let target = Target::from_fields(cf.kind, u32::from(cf.word0.array_base) + u32::from(burst))?;
            let base = cf.word0.rw_gpr.saturating_add(burst);
            let register = self.source_register(context, base, cf.word0.rw_rel);
            for lane in (0..executes.len()).filter(|&lane| executes[lane]) {
                if let (true, Some(checks)) = (self.flow.valid[lane], checks.as_mut()) {
                    let sels = cf.swizzle().into_iter().map(|sel| sel as u8).filter(|&sel| sel < 4);
                    let read = sels.fold(0, |sum, sel| sum | 1 << sel);
                    checks.registers_read(self.at(0, lane), self.written.get(lane), register, read);
                }
                let values = &self.gprs[lane * GPRS + register];
                let elements = cf.swizzle().map(|sel| selected(sel, values));
                self.exports[lane].set(target, elements);
            }
        }
        let kind = 1 << cf.kind as u8;
        self.exported[0] |= kind;
        if word.op == ExportOp::ExportDone {
            self.exported[1] |= kind;
        }
        Ok(())
    }
}
