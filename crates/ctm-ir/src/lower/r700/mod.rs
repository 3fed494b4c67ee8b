//! From R700 programs to the form: control flow is followed once with the known state of the stack.
//!
//! The depth of the stack, and the kind of each entry, do not depend on data unless a program pops in one branch an
//! entry that it pushed in another. So each pair of an instruction and a stack becomes one block, and every pixel state
//! of a stack entry is a mask in a fixed place. Loop constants and booleans are part of the program here. A possible
//! fault leads to [`JumpTarget::Reference`].

mod branches;
mod clauses;
pub mod epilogues;
mod indexed;
mod sends;

use crate::lower::build::Build;
use crate::masked::{Block, Code, Counter, End, Fetch, JumpTarget, M, MaskOp, Op, Store, Tally, Value};
use ctm_exec::r700::clocks;
use ctm_exec::r700::flow::LoopConstant;
use ctm_exec::r700::{Launch, VertexEvent};
use ctm_isa::r700::inst::{Cf, CfEntry, CfPlain, ClauseBody, Decoded};
use ctm_isa::r700::ops::{AluOp, CfAluOp, CfOp, Cond, Omod, Op2};
use ctm_isa::r700::program::Stage;
use rustc_hash::{FxHashMap as Map, FxHashSet as Set};

/// The most blocks.
const BLOCKS: usize = 4096;
/// The most operations of all blocks.
const OPS: usize = 200_000;

/// The most fetches, and the most stores: their numbers have 16 bits.
const NUMBERS: usize = 50_000;

/// The reason why lowering stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The reference interpreter decides here whether there is a fault.
    BailOut,
    /// The whole launch is left to the reference interpreter.
    NotLowered,
}

type Result<T = (), E = Stop> = std::result::Result<T, E>;

/// A slot of the program (`false`) or the fetch program (`true`).
pub type SlotAddress = (bool, u32);

/// One entry of the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum StackEntry {
    Push,
    Loop { counted: bool, index: Option<Steps> },
    Call { back: SlotAddress, depth: u32 },
}

/// The steps of a loop index: start, increment, trip count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Steps {
    start: u16,
    step: i8,
    iterations: u16,
}

impl Steps {
    const fn of(constant: LoopConstant) -> Self {
        Self { start: constant.start, step: constant.step, iterations: constant.count }
    }

    /// The lowest and the highest value; 13 bits in two's complement.
    fn range(self) -> [i32; 2] {
        let (start, last) =
            (i32::from(self.start), i32::from(self.start) + i32::from(self.step) * i32::from(self.iterations));
        let (lowest, highest) = (start.min(last), start.max(last));
        if lowest < -4096 || highest > 4095 { [-4096, 4095.max(start)] } else { [lowest, highest] }
    }
}

/// An instruction and the stack there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StackState {
    place: SlotAddress,
    stack: Vec<StackEntry>,
    depth: u32,
}

impl StackState {
    fn at(&self, place: SlotAddress) -> Self {
        Self { place, ..self.clone() }
    }

    /// The innermost loop, which holds lanes.
    fn loop_entry(&self) -> Option<usize> {
        self.stack.iter().rposition(|entry| matches!(entry, StackEntry::Loop { .. }))
    }

    /// The loop that an instruction leaves.
    fn left_loop(&self) -> Result<usize> {
        let innermost = self.stack.iter().rposition(|entry| !matches!(entry, StackEntry::Push));
        innermost.filter(|&entry| matches!(self.stack[entry], StackEntry::Loop { .. })).ok_or(Stop::BailOut)
    }

    /// The number of the loop index, if there is one, and its steps.
    fn index(&self) -> Option<(M, Steps)> {
        self.stack.iter().enumerate().rev().find_map(|(place, entry)| match *entry {
            StackEntry::Loop { index: Some(steps), .. } => Some((M::loop_index(place), steps)),
            _ => None,
        })
    }

    /// Its number alone.
    fn index_place(&self) -> Option<M> {
        self.index().map(|(place, _)| place)
    }

    fn push(&mut self, entry: StackEntry) -> Result<usize> {
        if self.stack.len() >= M::ENTRIES {
            return Err(Stop::NotLowered);
        }
        self.stack.push(entry);
        Ok(self.stack.len() - 1)
    }

    /// Pops `count` states; gives the place of the last one.
    fn pop_states(&mut self, count: u8) -> Result<Option<usize>> {
        let mut last = None;
        for _ in 0..count {
            match self.stack.pop() {
                Some(StackEntry::Push) => last = Some(self.stack.len()),
                Some(StackEntry::Loop { .. } | StackEntry::Call { .. }) | None => return Err(Stop::BailOut),
            }
        }
        Ok(last)
    }
}

/// The lanes that an instruction tests (R700 §3.6.4).
#[derive(Clone, Copy)]
struct TestedLanes {
    /// COND, with its boolean.
    allowed: bool,
    whole_quad: bool,
    valid_pixel: bool,
}

impl TestedLanes {
    /// The pixels tested by a clause, an export or a write: they have no condition.
    const fn of(whole_quad: bool, valid_pixel: bool) -> Self {
        Self { allowed: true, whole_quad, valid_pixel }
    }
}

/// An instruction that may jump.
#[derive(Clone, Copy)]
struct Branch {
    test: TestedLanes,
    pops: u8,
    next: SlotAddress,
    target: SlotAddress,
    /// The program ends after it.
    ends: bool,
}

const ACTIVE: TestedLanes = TestedLanes::of(false, false);

/// A program being lowered.
pub struct Lower<'a> {
    /// The launch whose program is lowered.
    pub launch: &'a Launch<'a>,
    main: &'a Decoded,
    fetch: Option<&'a Decoded>,
    leaders: Set<SlotAddress>,
    ids: Map<StackState, u16>,
    queue: Vec<(u16, StackState)>,
    blocks: Vec<Option<Block>>,
    /// The result, beside the blocks.
    code: Code,
    /// Groups have several wavefronts.
    pub takes_turns: bool,
    /// The block under construction.
    current: u16,
    /// The builder of the next block.
    build: Build,
    ops: usize,
}

/// Lowers a launch's programs; `None` when they are left to the reference interpreter.
pub fn lower(launch: &Launch<'_>) -> Option<Code> {
    let main = launch.program.decode();
    let fetch = launch.fetch_program.map(ctm_isa::r700::Program::decode);
    let mut lower = Lower {
        launch,
        main: &main,
        fetch: fetch.as_ref(),
        leaders: Set::default(),
        ids: Map::default(),
        queue: Vec::new(),
        blocks: Vec::new(),
        code: Code::default(),
        takes_turns: waves_per_group(launch) > 1,
        current: 0,
        build: Build::default(),
        ops: 0,
    };
    if !epilogues::are_possible(launch, &main) {
        return None;
    }
    lower.find_leaders();
    let start = StackState { place: (false, launch.program.entry), stack: Vec::new(), depth: 0 };
    lower.block(start).ok()?;
    while let Some((id, state)) = lower.queue.pop() {
        lower.current = id;
        let block = lower.follow(state).ok()?;
        lower.ops += block.ops.len();
        if lower.ops > OPS || lower.code.fetches.len().max(lower.code.stores.len()) > NUMBERS {
            return None;
        }
        lower.blocks[usize::from(id)] = Some(block);
    }
    let blocks: Option<Vec<Block>> = lower.blocks.into_iter().collect();
    Some(Code { blocks: blocks?, ..lower.code })
}

/// Wavefronts of a thread group.
pub fn waves_per_group(launch: &Launch<'_>) -> u64 {
    match launch.stage {
        Stage::Compute => u64::from(launch.group_threads).div_ceil(launch.wavefront.lanes() as u64).max(1),
        _ => 1,
    }
}

/// The end of the block at an instruction; `None`: control falls through to the next one.
type After = Option<End>;

impl Lower<'_> {
    /// Targets of jumps begin blocks, so that the code after them is lowered once.
    fn find_leaders(&mut self) {
        for (is_fetch, decoded) in [(false, Some(self.main)), (true, self.fetch)] {
            for entry in decoded.iter().flat_map(|decoded| &decoded.entries) {
                if let Ok(Cf::Plain(plain)) = &entry.cf
                    && !matches!(entry.clause, ClauseBody::Fetch(_))
                {
                    self.leaders.insert((is_fetch, plain.word0.addr));
                    self.leaders.insert((is_fetch, entry.addr.wrapping_add(1)));
                }
            }
        }
    }

    fn new_block(&mut self) -> Result<u16> {
        if self.blocks.len() >= BLOCKS {
            return Err(Stop::NotLowered);
        }
        self.blocks.push(None);
        Ok(self.blocks.len() as u16 - 1)
    }

    /// The block of a state.
    fn block(&mut self, state: StackState) -> Result<JumpTarget> {
        if let Some(&id) = self.ids.get(&state) {
            return Ok(JumpTarget::Block(id));
        }
        let id = self.new_block()?;
        self.ids.insert(state.clone(), id);
        self.queue.push((id, state));
        Ok(JumpTarget::Block(id))
    }

    /// The operations of a jump: masks, the count of the instruction, then the block of the state.
    fn way(&mut self, ops: &[MaskOp], state: &StackState, next: SlotAddress, ends: bool) -> Result<JumpTarget> {
        if ends && epilogues::any(self.launch) {
            return Err(Stop::NotLowered);
        }
        let id = self.new_block()?;
        let mut list: Vec<Op> = ops.iter().map(|&op| Op::Mask(op)).collect();
        list.push(Op::Tally { counter: Counter::Lanes, weight: 1, under: M::ACTIVE });
        let end = if ends { End::Stop } else { End::Next(self.block(state.at(next))?) };
        let loops = loops(state);
        self.blocks[usize::from(id)] = Some(Block { loops, ops: list, tally: Tally::default(), end });
        Ok(JumpTarget::Block(id))
    }

    /// Follows instructions until the block ends.
    fn follow(&mut self, mut state: StackState) -> Result<Block> {
        let mut build = std::mem::take(&mut self.build);
        let loops = loops(&state);
        let mut first = true;
        let end = loop {
            if !first && self.leaders.contains(&state.place) {
                break End::Next(self.block(state)?);
            }
            first = false;
            let decoded = if state.place.0 { self.fetch } else { Some(self.main) };
            let Some(entry) = decoded.and_then(|decoded| decoded.at(state.place.1)) else {
                break End::Next(JumpTarget::Reference);
            };
            match self.instruction(&mut build, &mut state, entry) {
                Ok(None) if entry.cf.as_ref().is_ok_and(Cf::ends_program) => {
                    self.epilogues(&mut build, &state)?;
                    break End::Stop;
                }
                Ok(None) => state.place.1 = state.place.1.wrapping_add(1),
                Ok(Some(end)) => break end,
                Err(Stop::BailOut) => break End::Next(JumpTarget::Reference),
                Err(Stop::NotLowered) => return Err(Stop::NotLowered),
            }
        };
        build.flush();
        let (ops, tally) = (build.take(), std::mem::take(&mut build.tally));
        self.build = build;
        Ok(Block { loops, ops, tally, end })
    }

    /// A fetch's number.
    pub fn fetch_number(&mut self, fetch: Fetch) -> u16 {
        self.code.fetches.push(fetch);
        self.code.fetches.len() as u16 - 1
    }

    /// A store's number.
    pub fn store_number(&mut self, store: Store) -> u16 {
        self.code.stores.push(store);
        self.code.stores.len() as u16 - 1
    }

    fn instruction(&mut self, b: &mut Build, state: &mut StackState, entry: &CfEntry) -> Result<After> {
        let cf = entry.cf.as_ref().map_err(|_| Stop::BailOut)?;
        if matches!(entry.clause, ClauseBody::Outside | ClauseBody::Unread) {
            return Err(Stop::BailOut);
        }
        self.yields_at(b, cf, &entry.clause);
        match (cf, &entry.clause) {
            (Cf::Alu(cf), ClauseBody::Alu(clause)) => {
                use CfAluOp::{Alu, Break, Continue, ElseAfter, Pop2After, PopAfter, PushBefore};
                let op = cf.word1.op;
                if op == PushBefore {
                    let place = state.push(StackEntry::Push)?;
                    b.mask(MaskOp::Copy(M::saved(place), M::ACTIVE));
                }
                let held = state.loop_entry();
                let done = self.alu_clause(b, cf, clause, state)?;
                match op {
                    Alu | PushBefore | PopAfter | Pop2After | ElseAfter => done.take(b, &held_by(held)),
                    Continue | Break => {
                        let entry = state.left_loop()?;
                        let to = if op == Break { M::broken(entry) } else { M::continued(entry) };
                        if done.skipping(b) {
                            self.leave(b, held, M::TEMP, to);
                        }
                    }
                }
                match op {
                    PopAfter => self.pop(b, state, 1, ACTIVE)?,
                    Pop2After => self.pop(b, state, 2, ACTIVE)?,
                    ElseAfter => self.exchange(b, state, ACTIVE)?,
                    Alu | PushBefore | Continue | Break => {}
                }
                let groups = clause.groups.len() as u32;
                b.tally.fc += 1;
                b.tally.alu += groups;
                b.tally.delays += clocks::delays(clause);
                b.pending += groups;
            }
            (Cf::Alu(_), _) => b.tally.fc += 1,
            (Cf::Export(cf), _) => {
                self.export(b, state, cf)?;
                b.tally.output += 1;
            }
            (Cf::Mem(cf), _) => {
                self.store(b, state, cf)?;
                b.tally.output += 1;
            }
            (Cf::Plain(cf), clause) => return self.plain(b, state, cf, clause),
        }
        Ok(b.on())
    }

    fn plain(&mut self, b: &mut Build, state: &mut StackState, cf: &CfPlain, clause: &ClauseBody) -> Result<After> {
        let word = &cf.word1;
        let constants = self.launch.constants;
        let constant = usize::from(word.cf_const) % ctm_exec::r700::CF_CONSTANTS;
        let allowed = match word.cond {
            Cond::Active => true,
            Cond::False => false,
            Cond::Bool => constants.bool[constant],
            Cond::NotBool => !constants.bool[constant],
        };
        let test = TestedLanes { allowed, ..TestedLanes::of(word.whole_quad_mode, word.valid_pixel_mode) };
        let pops = word.pop_count;
        let next = (state.place.0, state.place.1.wrapping_add(1));
        let target = (state.place.0, cf.word0.addr);
        let ends = word.end_of_program;
        let branch = Branch { test, pops, next, target, ends };
        // The pops are done already, or there are none.
        let popped = Branch { pops: 0, ..branch };
        let is_fetch_clause = matches!(word.op, CfOp::Tex | CfOp::Vtx | CfOp::VtxTc);
        if !is_fetch_clause {
            b.tally.fc += 1;
        }
        if matches!(word.op, CfOp::PopJump | CfOp::PopPush | CfOp::PopPushElse | CfOp::Pop) {
            self.pop(b, state, pops, test)?;
        }
        // An instruction whose clause was read counts as a clause; others have no fetches.
        match word.op {
            CfOp::Nop | CfOp::WaitAck => Ok(b.on()),
            CfOp::Tex | CfOp::Vtx | CfOp::VtxTc => {
                b.tally.fc += 1;
                if let ClauseBody::Fetch(clause) = clause {
                    let passes = self.concerned(b, test);
                    self.fetch_clause(b, clause, passes, state.index_place())?;
                    b.tally.tex += clause.fetches.len() as u32;
                    let passes = clause.fetches.iter().flat_map(|fetch| fetch.inst.as_ref().ok());
                    b.tally.tex_passes += passes.map(|inst| clocks::passes(&inst.fetch) as u32 - 1).sum::<u32>();
                    b.pending += clause.fetches.len() as u32;
                }
                Ok(b.on())
            }
            CfOp::LoopStart => self.loop_start(b, state, [Some(constants.loops[constant]); 2], branch),
            CfOp::LoopStartNoAl => self.loop_start(b, state, [Some(constants.loops[constant]), None], branch),
            CfOp::LoopStartDx10 => self.loop_start(b, state, [None; 2], branch),
            CfOp::LoopEnd => self.loop_end(b, state, branch),
            CfOp::LoopContinue | CfOp::LoopBreak => {
                let entry = state.left_loop()?;
                let pass = self.test(b, test, M::ACTIVE);
                let to = if word.op == CfOp::LoopBreak { M::broken(entry) } else { M::continued(entry) };
                self.leave(b, Some(entry), pass, to);
                // Jump when every lane is held by the loop.
                b.mask(MaskOp::Or(M::TEMP, M::broken(entry), M::continued(entry)));
                b.mask(MaskOp::AndNot(M::TEMP, M::EXISTING, M::TEMP));
                let mut jumped = state.clone();
                jumped.stack.truncate(entry + 1);
                // A call inside the loop cannot be left: `left_loop` has met pushes only.
                let none = self.way(&[], &jumped, target, ends);
                self.fork(M::TEMP, none, (&[], state, next), ends)
            }
            CfOp::Jump => self.jump(b, state, branch),
            CfOp::PopJump => self.jump(b, state, popped),
            CfOp::Push => self.push(b, state, branch),
            CfOp::PopPush => self.push(b, state, popped),
            CfOp::PushElse | CfOp::PopPushElse => self.push_else(b, state, popped),
            CfOp::Else => {
                self.exchange(b, state, test)?;
                self.unless(M::ACTIVE, state, branch)
            }
            CfOp::Pop => {
                let pass = self.test(b, test, M::ACTIVE);
                self.narrow(state, test, pass).into_iter().for_each(|op| b.mask(op));
                Ok(b.on())
            }
            CfOp::Call => self.call(b, state, word.call_count, branch),
            CfOp::CallFs => match self.launch.fetch_program {
                Some(program) if !state.place.0 => {
                    self.call(b, state, word.call_count, Branch { target: (true, program.entry), ..branch })
                }
                _ => Ok(b.on()),
            },
            CfOp::Return => {
                let (mut ops, mut popped) = self.popped(state, pops, ACTIVE)?;
                let Some(StackEntry::Call { back, depth }) = popped.stack.pop() else { return Err(Stop::BailOut) };
                popped.depth = depth;
                // No condition test decides (R700 table 3.7).
                ops.extend(test.valid_pixel.then_some(MaskOp::And(M::ACTIVE, M::ACTIVE, M::VALID)));
                Ok(Some(End::Next(self.way(&ops, &popped, back, ends)?)))
            }
            CfOp::Kill if self.launch.stage == Stage::Pixel => {
                let pass = self.test(b, test, M::ACTIVE);
                b.mask(MaskOp::AndNot(M::VALID, M::VALID, pass));
                self.unless(M::VALID, state, popped)
            }
            CfOp::Kill => Ok(b.on()),
            CfOp::EmitVertex => self.vertex_event(b, test, VertexEvent::Emit),
            CfOp::EmitCutVertex => self.vertex_event(b, test, VertexEvent::EmitCut),
            CfOp::CutVertex => self.vertex_event(b, test, VertexEvent::Cut),
        }
    }

    /// An element of the register that a fetch or an export reads, relative to the loop index if the instruction has
    /// that mode.
    fn source(&self, b: &mut Build, (base, relative): (u8, bool), element: u8, index: Option<M>, exact: bool) -> Value {
        if relative {
            let index = loop_index(b, index);
            return b.get_indexed(self.gprs(), (base, element, index), exact);
        }
        b.element(base, element, exact)
    }

    /// Registers of a thread.
    pub fn gprs(&self) -> u8 {
        self.launch.program.gprs.clamp(1, ctm_isa::r700::GPRS as u8)
    }
}

impl Build {
    /// Counts an instruction that does not end the block.
    fn on(&mut self) -> After {
        self.pending += 1;
        None
    }

    /// An operation on bits; a number is the same in all lanes.
    pub(in crate::lower) fn logic(&mut self, op: Op2, x: impl LogicOperand, y: impl LogicOperand) -> Value {
        let (x, y) = (x.value(self), y.value(self));
        self.make(Op::Alu { op: AluOp::Op2(op), operands: [x, y, x], omod: Omod::Off, clamp: false })
    }
}

/// An operand of [`Build::logic`].
pub(in crate::lower) trait LogicOperand {
    fn value(self, b: &mut Build) -> Value;
}

impl LogicOperand for Value {
    fn value(self, _: &mut Build) -> Value {
        self
    }
}

impl LogicOperand for u32 {
    fn value(self, b: &mut Build) -> Value {
        b.bits(self)
    }
}

/// The loop index as a vector.
pub fn loop_index(b: &mut Build, index: Option<M>) -> Value {
    match index {
        Some(number) => b.make(Op::Number(number)),
        None => b.bits(0),
    }
}

/// The masks of the lanes that a loop holds.
pub fn held_by(entry: Option<usize>) -> Vec<M> {
    entry.map(|entry| vec![M::broken(entry), M::continued(entry)]).unwrap_or_default()
}

fn loops(state: &StackState) -> u8 {
    state.stack.iter().filter(|entry| matches!(entry, StackEntry::Loop { .. })).count() as u8
}
