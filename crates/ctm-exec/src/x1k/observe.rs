//! Groups of an X1K program that are watched: see [`crate::observe`].

use super::alu::{WriteMasks, register};
use super::group::{Access, Context, Group};
use super::lanes::{BLOCK, Block, LaneMask};
use super::plan::{AluPlan, PlannedSlot};
use super::{Memory, Outputs, tex};
use crate::domain::Position;
use crate::fault::Fault;
use crate::observe::tap::{Mark, Tap};
use crate::observe::{ALL_PARTS, At, Detail, Event, Flow, LaneEvent, LaneFlow, Lanes, Place, Read, Write};
use crate::watch::Part;
use ctm_isa::x1k::inst::{FcInstruction, Source, TexInstruction};
use ctm_isa::x1k::ops::{AlphaOp, AluResultSel, InstType, RgbOp};
use ctm_isa::x1k::program::{jump_depends_on_alu_result, jump_depends_on_predicate};
use ctm_isa::x1k::{FLOAT_CONSTANTS, OUTPUTS, TEMPORARIES};

/// A group under way.
pub struct Unit<'a> {
    context: &'a Context<'a>,
    part: Part,
    group: Group,
    tap: Tap<&'a mut dyn Memory>,
    indices: Vec<Position>,
    /// Their names.
    positions: Vec<Position>,
}

/// The state of a group.
#[derive(Clone, Debug)]
pub struct State {
    group: Group,
    mark: Mark,
}

/// The reads and writes of an instruction for the lanes of a block.
struct Plan {
    /// Places, and the results that depend on them.
    reads: Vec<(Place, u8)>,
    /// Places, the lanes for which they are written, and which result it is.
    writes: Vec<(Place, LaneMask, u8)>,
}

const fn narrow(n: usize) -> u8 {
    (n & 0xff) as u8
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        context: &'a Context<'a>,
        part: Part,
        positions: &[Position],
        covered: &[LaneMask],
        memory: &'a mut dyn Memory,
    ) -> Self {
        let mut group = Group::new(context.launch);
        group.start(context, positions, covered);
        let changes = context.launch.program.uncached || memory.outputs_alias_inputs();
        Self {
            context,
            part,
            group,
            tap: Tap::new(memory, changes),
            positions: positions.to_vec(),
            indices: positions.to_vec(),
        }
    }

    /// Runs to the end and returns the group's results.
    pub(super) fn finish(mut self) -> Result<Group, Fault> {
        while !self.has_ended() {
            self.step(Detail::None, &mut Vec::new())?;
        }
        Ok(self.group)
    }

    /// The index pair of each lane.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Calls the lanes something else from here on, one name for each.
    pub fn rename(&mut self, names: Vec<Position>) {
        if names.len() == self.indices.len() {
            self.positions = names;
        }
    }

    /// Whether the program has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.group.pc.is_none()
    }

    /// The slot that comes next.
    #[must_use]
    pub fn pc(&self) -> Option<u32> {
        self.group.pc
    }

    /// The outputs of the lane at its end.
    #[must_use]
    pub fn outputs_of(&self, lane: usize) -> Outputs {
        self.group.blocks.get(lane / BLOCK).map(|block| block.outputs_of(lane % BLOCK)).unwrap_or_default()
    }

    /// The state of flow control; a group has one machine, whatever `_wave` is.
    #[must_use]
    pub fn flow(&self, _wave: u16) -> Flow {
        let lane = |index: usize| LaneFlow {
            state: self.group.machine.lane_state(index),
            covered: self.group.blocks[index / BLOCK].covered.contains(index % BLOCK),
        };
        Flow {
            first_lane: 0,
            lanes: (0..self.indices.len()).map(lane).collect(),
            stack: self.group.machine.frames(),
            next: self.group.pc,
        }
    }

    /// The value of a place for a lane.
    #[must_use]
    pub fn value(&self, lane: usize, place: Place) -> Option<u32> {
        let block = self.group.blocks.get(lane / BLOCK).filter(|_| lane < self.indices.len())?;
        let l = lane % BLOCK;
        let flag = |mask: LaneMask| Some(u32::from(mask.contains(l)));
        match place {
            Place::Temp(n, c) => block.temps.get(usize::from(n)).map(|t| t[usize::from(c & 3)][l]),
            Place::Constant(n, c) => Some(self.context.launch.constants.float[usize::from(n)][usize::from(c & 3)]),
            Place::Inline(code) => Some(ctm_isa::x1k::inst::inline_constant(code & 0x7f).to_bits()),
            Place::Predicate(c) => flag(block.predicates[usize::from(c & 3)]),
            Place::AluResult => flag(block.alu_result),
            Place::Covered => flag(block.covered),
            Place::Output(n, c) => {
                let (n, c) = (usize::from(n) % OUTPUTS, usize::from(c & 3));
                let written = block.written_outputs[n][c].contains(l);
                Some(if written { block.outputs[n][c][l] } else { 0 })
            }
            Place::ConditionalValue => {
                Some(if block.written_conditional_value.contains(l) { block.conditional_value[l] } else { 0 })
            }
            _ => None,
        }
    }

    /// Makes a place hold something else.
    pub fn set(&mut self, lane: usize, place: Place, bits: u32) -> bool {
        let lanes = self.indices.len();
        let Some(block) = self.group.blocks.get_mut(lane / BLOCK).filter(|_| lane < lanes) else { return false };
        let l = lane % BLOCK;
        let one = LaneMask::of(|lane| lane == l);
        let flagged = |mask: &mut LaneMask| *mask = if bits == 0 { mask.without(one) } else { mask.or(one) };
        match place {
            Place::Temp(n, c) if usize::from(n) < TEMPORARIES => {
                block.temps[usize::from(n)][usize::from(c & 3)][l] = bits;
            }
            Place::Output(n, c) => {
                let (n, c) = (usize::from(n) % OUTPUTS, usize::from(c & 3));
                block.outputs[n][c][l] = bits;
                block.written_outputs[n][c] = block.written_outputs[n][c].or(one);
            }
            Place::Predicate(c) => flagged(&mut block.predicates[usize::from(c & 3)]),
            Place::AluResult => flagged(&mut block.alu_result),
            Place::ConditionalValue => {
                block.conditional_value[l] = bits;
                block.written_conditional_value = block.written_conditional_value.or(one);
            }
            _ => return false,
        }
        self.tap.forget_future();
        true
    }

    /// The state as it is.
    #[must_use]
    pub fn snapshot(&self) -> State {
        State { group: self.group.clone(), mark: self.tap.mark() }
    }

    /// Goes back to a state.
    pub fn restore(&mut self, state: &State) {
        self.group.clone_from(&state.group);
        self.tap.return_to(state.mark);
    }

    /// Executes the next instruction.
    ///
    /// # Errors
    /// Its fault; the partial event of the instruction is returned.
    pub fn step(&mut self, detail: Detail<'_>, events: &mut Vec<Event>) -> Result<(), Fault> {
        let Some(pc) = self.group.pc else { return Ok(()) };
        if detail == Detail::None {
            let result = self.group.step(self.context, &self.part, &mut Access::Exclusive(&mut self.tap));
            self.tap.take();
            return result;
        }
        let step = self.context.steps.get(pc as usize);
        let before = *self.group.counters();
        let mut event = Event { at: At { pc, ..At::default() }, executing: self.executing(step), ..Event::default() };
        for (index, block) in self.group.blocks.iter().enumerate() {
            let plan = self.plan(step, block);
            for lane in event.executing.iter().filter(|l| l / BLOCK == index && detail.wants(*l)) {
                event.lanes.push(self.before(step, &plan, lane));
            }
        }
        self.tap.take();
        let result = self.group.step(self.context, &self.part, &mut Access::Exclusive(&mut self.tap));
        for access in self.tap.take() {
            let of = |e: &&mut LaneEvent| self.indices.get(usize::from(e.lane)) == Some(&access.of);
            if let Some(event) = event.lanes.iter_mut().find(of) {
                event.access(access.place, access.bits, access.written);
            }
        }
        for lane in &mut event.lanes {
            for write in lane.writes.iter_mut().filter(|write| !write.place.is_memory()) {
                write.bits = self.value(usize::from(lane.lane), write.place).unwrap_or(0);
            }
        }
        event.cost = self.group.counters().since(&before);
        if matches!(step, Some(PlannedSlot::Fc(_))) || self.group.pc.is_none() || covers(step) {
            event.flow = Some(self.flow(0));
        }
        events.push(event);
        result
    }

    /// The lanes that execute an instruction.
    fn executing(&self, step: Option<&PlannedSlot>) -> Lanes {
        let all = match step {
            Some(PlannedSlot::Alu(plan)) => plan.inst.cmn.write_inactive,
            Some(PlannedSlot::Tex(tex)) => tex.cmn.write_inactive,
            Some(PlannedSlot::Fc(_) | PlannedSlot::Undecodable(_)) | None => false,
        };
        let blocks = self.group.blocks.iter().enumerate();
        blocks
            .flat_map(|(index, block)| {
                let mask = if all { block.existing } else { block.running };
                mask.iter().map(move |lane| index * BLOCK + lane).collect::<Vec<_>>()
            })
            .collect()
    }

    fn plan(&self, step: Option<&PlannedSlot>, block: &Block) -> Plan {
        match step {
            Some(PlannedSlot::Alu(plan)) => self.alu(plan, block),
            Some(PlannedSlot::Tex(tex)) => self.tex(tex, block),
            Some(PlannedSlot::Fc(fc)) => fc_plan(fc),
            Some(PlannedSlot::Undecodable(_)) | None => Plan { reads: Vec::new(), writes: Vec::new() },
        }
    }

    fn loop_variable(&self) -> i32 {
        self.group.machine.loop_variable().unwrap_or(0)
    }

    /// The place of a channel of a source; `None` where a relative address names no register.
    fn place(&self, source: Source, channel: usize) -> Option<Place> {
        let al = self.loop_variable();
        Some(match source {
            Source::Temp { index, relative } => {
                Place::Temp(narrow(register(index, relative, al, TEMPORARIES).ok()?), narrow(channel))
            }
            Source::Const { index, relative } => {
                Place::Constant(narrow(register(index, relative, al, FLOAT_CONSTANTS).ok()?), narrow(channel))
            }
            Source::Inline { code, .. } => Place::Inline(code),
        })
    }

    fn alu(&self, plan: &AluPlan, block: &Block) -> Plan {
        let inst = &plan.inst;
        let cmn = &inst.cmn;
        let al = self.loop_variable();
        let masks = WriteMasks::new(cmn, block);
        let mut reads: Vec<(Place, u8)> = Vec::new();
        let stored = [plan.rgb_stored[0], plan.rgb_stored[1], plan.rgb_stored[2], plan.alpha_stored];
        for channel in (0..4).filter(|&c| stored[c]) {
            for read in plan.reads_of(channel) {
                if let Some(place) = self.place(read.source, read.channel) {
                    depends(&mut reads, place, 1 << channel);
                }
            }
        }
        let mut writes = Vec::new();
        let rgb = |mask: u8, alpha: bool| [mask & 1 != 0, mask & 2 != 0, mask & 4 != 0, alpha];
        let to_temp = rgb(cmn.rgb_wmask, cmn.alpha_wmask);
        let to_target = rgb(cmn.rgb_omask, cmn.alpha_omask);
        let output = cmn.kind == InstType::Output;
        for channel in 0..4 {
            let (base, relative) = if channel == 3 {
                (inst.alpha.addrd, inst.alpha.addrd_rel)
            } else {
                (inst.rgba.addrd, inst.rgba.addrd_rel)
            };
            if to_temp[channel]
                && let Ok(temp) = register(base, relative, al, TEMPORARIES)
            {
                writes.push((Place::Temp(narrow(temp), narrow(channel)), masks.predicated[channel], 1 << channel));
            }
            let target = if channel == 3 { inst.alpha.target } else { inst.rgb.target };
            match (to_target[channel], output) {
                (true, false) => writes.push((Place::Predicate(narrow(channel)), masks.executing, 1 << channel)),
                (true, true) if !self.context.launch.program.uncached => {
                    writes.push((Place::Output(target & 3, narrow(channel)), masks.predicated[channel], 1 << channel));
                }
                _ => {}
            }
            let sel = if channel == 3 { cmn.alpha_pred_sel } else { cmn.rgb_pred_sel };
            if (to_temp[channel] || (output && to_target[channel]))
                && let Some(bit) = super::alu::predicate_channel(sel, channel)
            {
                depends(&mut reads, Place::Predicate(narrow(bit)), 1 << channel);
            }
        }
        if inst.alpha.w_omask && output && self.context.launch.program.conditional_value {
            writes.push((Place::ConditionalValue, masks.predicated[3], 8));
        }
        if inst.rgb.alu_wmask {
            let part = match cmn.alu_result_sel {
                AluResultSel::Red => 1,
                AluResultSel::Alpha => 8,
            };
            writes.push((Place::AluResult, masks.executing, part));
        }
        Plan { reads, writes }
    }

    fn tex(&self, tex: &TexInstruction, block: &Block) -> Plan {
        let al = self.loop_variable();
        let masks = WriteMasks::new(&tex.cmn, block);
        let addr = &tex.addr;
        let source = Source::Temp { index: addr.src_addr, relative: addr.src_addr_rel };
        let channels = tex::source_channels(tex);
        let place = |channel| self.place(source, channel).map(|place| (place, ALL_PARTS));
        let reads = channels.into_iter().filter_map(place).collect();
        let mut writes = Vec::new();
        if tex::writes_destination(tex) {
            let working = tex::working_lanes(tex, block, &masks);
            let rgb = tex.cmn.rgb_wmask;
            let written = [rgb & 1 != 0, rgb & 2 != 0, rgb & 4 != 0, tex.cmn.alpha_wmask];
            if let Ok(temp) = register(addr.dst_addr, addr.dst_addr_rel, al, TEMPORARIES) {
                for channel in (0..4).filter(|&c| written[c]) {
                    writes.push((
                        Place::Temp(narrow(temp), narrow(channel)),
                        masks.predicated[channel].and(working),
                        ALL_PARTS,
                    ));
                }
            }
        } else if covers(Some(&PlannedSlot::Tex(*tex))) {
            writes.push((Place::Covered, masks.executing.and(block.covered), ALL_PARTS));
        }
        Plan { reads, writes }
    }

    /// The reads of a lane, and the places that it will write with their old values.
    fn before(&self, step: Option<&PlannedSlot>, plan: &Plan, lane: usize) -> LaneEvent {
        let own = |&(place, parts): &(Place, u8)| Read {
            place,
            lane: lane as u16,
            bits: self.value(lane, place).unwrap_or(0),
            parts,
        };
        let mut reads: Vec<Read> = plan.reads.iter().map(own).collect();
        if let Some(PlannedSlot::Alu(alu)) = step {
            reads.extend(self.quad_reads(alu, lane));
        }
        let writes = plan.writes.iter().filter(|(_, mask, _)| mask.contains(lane % BLOCK));
        let write = |&(place, _, part): &(Place, LaneMask, u8)| Write {
            place,
            old: self.value(lane, place).unwrap_or(0),
            bits: 0,
            part,
        };
        LaneEvent { lane: lane as u16, reads, writes: writes.map(write).collect() }
    }

    /// Reads of MDH and MDV from the other lanes of the quad (x1k-encoding §1.5).
    fn quad_reads(&self, plan: &AluPlan, lane: usize) -> Vec<Read> {
        let mut reads = Vec::new();
        let mut of = |horizontal: bool, source: Source, channel: usize| {
            let neighbour = if horizontal { 1 } else { 2 };
            for other in [lane & !3, lane & !3 | neighbour] {
                if let Some(place) = self.place(source, channel) {
                    let bits = self.value(other, place).unwrap_or(0);
                    reads.push(Read { place, lane: other as u16, bits, parts: 1 << channel });
                }
            }
        };
        let (rgb, alpha) = (plan.inst.rgba.op, plan.inst.alpha.op);
        if rgb.is_quad() {
            for channel in (0..3).filter(|&c| plan.rgb_stored[c]) {
                of(rgb == RgbOp::Mdh, plan.rgb_sources[0], channel);
            }
        }
        if alpha.is_quad() && plan.alpha_stored {
            of(alpha == AlphaOp::Mdh, plan.alpha_sources[0], 3);
        }
        reads
    }
}

/// Adds that `part` of the result depends on a place.
fn depends(reads: &mut Vec<(Place, u8)>, place: Place, part: u8) {
    match reads.iter_mut().find(|read| read.0 == place) {
        Some(read) => read.1 |= part,
        None => reads.push((place, part)),
    }
}

/// Whether the instruction may uncover lanes.
fn covers(step: Option<&PlannedSlot>) -> bool {
    matches!(step, Some(PlannedSlot::Tex(tex)) if !tex.inst.op.is_lookup() && !tex::source_channels(tex).is_empty())
}

fn fc_plan(fc: &FcInstruction) -> Plan {
    let mut reads = Vec::new();
    if jump_depends_on_alu_result(fc.inst.jump_func) {
        reads.push((Place::AluResult, ALL_PARTS));
    }
    if jump_depends_on_predicate(fc.inst.jump_func)
        && let Some(bit) = super::alu::predicate_channel(fc.cmn.rgb_pred_sel, 0)
    {
        reads.push((Place::Predicate(narrow(bit)), ALL_PARTS));
    }
    // The ALU result does not outlive a flow-control instruction (CTM §3.3.10).
    Plan { reads, writes: vec![(Place::AluResult, LaneMask::ALL, ALL_PARTS)] }
}
