//! Flow control (CTM §3.5): the graph of blocks.
//!
//! The machine keeps two stacks and branch counters at run time. Here a program is followed from its beginning with the
//! part of this state that does not depend on data: the number of levels of branch-inactive lanes, the open loops, and
//! the return addresses of calls. One *state* (a program counter with these) becomes one block, so a subroutine is
//! repeated for each way of calling it, and every push and pop is a fixed place. Programs made of the statements of CTM
//! §3.5.4 have few states; a program with more than [`STATES`] is left to the reference interpreter, and so is every
//! path on which a stack may overflow or underflow.

use crate::awake::settle_loops;
use crate::lower::x1k::{Asked, Builder, epilogues};
use crate::masked::Var;
use crate::order::postorder;
use crate::x1k::{Block, Code, End, Flow, JumpTarget, LoopFrame, LoopOp, Outcome};
use ctm_exec::epilogue::TargetEpilogue;
use ctm_exec::x1k::alu::predicate_channel;
use ctm_exec::x1k::{Constants, Launch};
use ctm_isa::x1k::inst::FcInstruction;
use ctm_isa::x1k::ops::{AOp, BOp, FcOp, TexOp};
use ctm_isa::x1k::program::Lookups;
use ctm_isa::x1k::{ADDRESS_STACK, BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL, Inst, LOOP_STACK, Program};
use rustc_hash::FxHashMap as Map;

/// The most states of one program.
const STATES: usize = 1024;
/// The most instructions of all blocks together.
const INSTRUCTIONS: usize = 16 * 1024;

/// The known state of the machine at a block, which does not depend on data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct KnownState {
    pc: u16,
    depth: u8,
    frames: Vec<LoopFrame>,
    addresses: Vec<u16>,
}

/// Lowers a program; `None` when it has too many states.
pub fn lower(program: &Program, constants: &Constants, asked: Asked) -> Option<Code> {
    with_epilogues(program, constants, asked, &[], &[])
}

/// Lowers the program of a launch with its epilogues; `None` when it has too many states, or they cannot be part of it.
pub fn lower_launch(launch: &Launch<'_>, asked: Asked) -> Option<Code> {
    let Launch { program, constants, draw, .. } = *launch;
    if !epilogues::are_possible(launch) {
        return None;
    }
    with_epilogues(program, constants, asked, draw.epilogues, &epilogues::stored(launch)?)
}

fn with_epilogues(
    program: &Program,
    constants: &Constants,
    asked: Asked,
    epilogues: &[TargetEpilogue],
    stored: &[(Var, u8)],
) -> Option<Code> {
    let instructions: Vec<Option<Inst>> = program.words.iter().map(|words| Inst::decode(words).ok()).collect();
    let starts = starts(program, &instructions);
    let decoded = || instructions.iter().flatten();
    // Without flow control all lanes always run; they may be uncovered.
    let flows = decoded().any(|inst| matches!(inst, Inst::Fc(_)));
    let textures = program.lookups != Lookups::Inputs;
    // Cubes with gradients of their own are the reference's.
    if let Lookups::Textures { cubes } = program.lookups
        && decoded().any(|inst| super::is_cube_gradient(inst, cubes))
    {
        return None;
    }
    let quads = decoded().any(|inst| super::is_quad(inst) || textures && super::reads_quad(inst));
    let watches_idle_lanes = flows && quads || decoded().any(super::writes_inactive);
    let sees_uncovered = flows || quads || watches_idle_lanes || program.uncached;
    let mut graph = FlowGraph {
        program,
        constants,
        instructions: &instructions,
        starts: &starts,
        ids: Map::default(),
        states: Vec::new(),
        watches_idle_lanes,
        epilogues: (epilogues, stored),
        has_failed: false,
        builder: Builder::new(program, sees_uncovered, asked, epilogues.is_empty()),
    };
    let first = KnownState { pc: program.first, depth: 0, frames: Vec::new(), addresses: Vec::new() };
    let mut blocks = Vec::new();
    let mut issued = 0;
    graph.target(first);
    while let Some(state) = graph.states.get(blocks.len()).cloned() {
        let block = graph.block(&state);
        issued += block.tally.instructions() as usize;
        blocks.push(block);
        if blocks.len() > STATES || issued > INSTRUCTIONS || graph.has_failed {
            return None;
        }
    }
    // A program that begins outside of itself: the reference interpreter reports it.
    if blocks.is_empty() {
        return None;
    }
    let mut code = Code {
        blocks,
        watches_idle_lanes,
        relative_temps: decoded().any(super::has_relative_temps),
        writes: program.uncached,
        ..graph.builder.code
    };
    settle_loops(&mut code, !asked.counts);
    code.blocks = order(std::mem::take(&mut code.blocks));
    Some(code)
}

/// The same program for groups whose processors are all covered to the end, if it tests coverage: operations that
/// ignore uncovered processors concern all then. `None` where processors may be killed, or where it would be the same.
pub fn for_covered_groups(program: &Program) -> Option<Program> {
    if program.uncached {
        return None;
    }
    let mut changed = program.clone();
    for words in &mut changed.words {
        let Ok(mut inst) = Inst::decode(words) else { continue };
        match &mut inst {
            Inst::Tex(tex) if tex.inst.op == TexOp::KillLt0 => return None,
            Inst::Tex(tex) => tex.inst.ignore_uncovered = false,
            Inst::Fc(fc) => fc.inst.ignore_uncovered = false,
            Inst::Alu(_) => continue,
        }
        *words = inst.encode();
    }
    (changed.words != program.words).then_some(changed)
}

/// The program counters at which blocks begin, for any predecessor.
fn starts(program: &Program, instructions: &[Option<Inst>]) -> Vec<bool> {
    let mut starts = vec![false; instructions.len() + 1];
    let mut mark = |pc: usize| {
        if let Some(start) = starts.get_mut(pc) {
            *start = true;
        }
    };
    mark(program.first.into());
    for (pc, instruction) in instructions.iter().enumerate() {
        match instruction {
            Some(Inst::Fc(fc)) => {
                mark(fc.addr.jump_addr.into());
                mark(pc + 1);
            }
            // Coverage stays the same throughout a block, so that active lanes are counted once a block.
            Some(Inst::Tex(tex)) if tex.inst.op == TexOp::KillLt0 => mark(pc + 1),
            Some(Inst::Alu(_) | Inst::Tex(_)) | None => {}
        }
    }
    starts
}

/// The reachable blocks, in an order in which loops and branches are contiguous: reverse postorder, the jump target
/// visited first.
fn order(blocks: Vec<Block>) -> Vec<Block> {
    let count = blocks.len();
    let successors = |block: usize| blocks[block].successors().rev();
    let postorder = postorder(vec![false; count], [0], successors);
    let mut place = vec![0; count];
    for (new, &old) in postorder.iter().rev().enumerate() {
        place[old] = new;
    }
    let moved = |target: JumpTarget| match target {
        JumpTarget::Block(id) => JumpTarget::Block(place[id]),
        JumpTarget::Never | JumpTarget::Reference => target,
    };
    let mut blocks: Vec<Option<Block>> = blocks.into_iter().map(Some).collect();
    let mut in_order: Vec<Block> = postorder.iter().rev().filter_map(|&old| blocks[old].take()).collect();
    for block in &mut in_order {
        match &mut block.end {
            End::Stop => {}
            End::Next(target) => *target = moved(*target),
            End::Flow(flow) => [&mut flow.stay, &mut flow.jump].into_iter().for_each(|of| of.to = moved(of.to)),
        }
    }
    in_order
}

struct FlowGraph<'a> {
    program: &'a Program,
    constants: &'a Constants,
    instructions: &'a [Option<Inst>],
    starts: &'a [bool],
    ids: Map<KnownState, usize>,
    states: Vec<KnownState>,
    watches_idle_lanes: bool,
    /// The epilogues of the end, and the variables of the elements that targets hold.
    epilogues: (&'a [TargetEpilogue], &'a [(Var, u8)]),
    /// They could not be lowered.
    has_failed: bool,
    builder: Builder,
}

impl FlowGraph<'_> {
    /// The block of a state.
    fn target(&mut self, state: KnownState) -> JumpTarget {
        if usize::from(state.pc) >= self.instructions.len() {
            return JumpTarget::Reference;
        }
        if let Some(&id) = self.ids.get(&state) {
            return JumpTarget::Block(id);
        }
        let id = self.states.len();
        self.ids.insert(state.clone(), id);
        self.states.push(state);
        JumpTarget::Block(id)
    }

    /// Follows instructions from the state until one ends the block.
    fn block(&mut self, state: &KnownState) -> Block {
        self.builder.begin(state.depth, &state.frames, !self.watches_idle_lanes);
        let mut pc = state.pc;
        let end = loop {
            match self.instructions.get(usize::from(pc)).copied().flatten() {
                Some(Inst::Alu(alu)) => self.builder.alu(alu),
                Some(Inst::Tex(tex)) => self.builder.tex(&tex),
                Some(Inst::Fc(fc)) => {
                    self.builder.tally.fc += 1;
                    break self.flow(state, &fc, pc);
                }
                // A slot that cannot be decoded, or none.
                None => break End::Next(JumpTarget::Reference),
            }
            if pc == self.program.last {
                self.has_failed |= self.builder.epilogues(self.epilogues.0, self.epilogues.1).is_none();
                break End::Stop;
            }
            pc += 1;
            if self.starts.get(usize::from(pc)).copied().unwrap_or(false) {
                break End::Next(self.target(KnownState { pc, ..state.clone() }));
            }
        };
        let (ops, result, tally) = (self.builder.finish(), self.builder.result, self.builder.tally);
        Block { pc: state.pc, depth: state.depth, frames: state.frames.clone(), ops, result, tally, end }
    }

    /// A flow-control instruction: the targets of its two outcomes, and their states.
    fn flow(&mut self, state: &KnownState, fc: &FcInstruction, pc: u16) -> End {
        let op = match fc.inst.op {
            FcOp::Jump => LoopOp::Jump,
            FcOp::Loop | FcOp::Rep => LoopOp::Begin,
            FcOp::EndLoop | FcOp::EndRep => LoopOp::End,
            FcOp::BreakLoop | FcOp::BreakRep => LoopOp::Break,
            FcOp::Continue => LoopOp::Continue,
        };
        let open = state.frames.len();
        if open == 0 && !matches!(op, LoopOp::Jump | LoopOp::Begin) {
            return End::Next(JumpTarget::Reference);
        }
        let [count, start, step, _] = self.constants.int[usize::from(fc.addr.int_addr & 31)];
        let begins = LoopFrame { is_loop: fc.inst.op == FcOp::Loop, count, start, step: step.cast_signed() };
        let [stay, jump] = [false, true].map(|jump| self.outcome(state, fc, pc, (op, begins), jump));
        if pc == self.program.last {
            // The outcome of the last instruction does not matter, but it may fault.
            return if stay.is_none() || jump.is_none() { End::Next(JumpTarget::Reference) } else { End::Stop };
        }
        let boolean = self.constants.bool[usize::from(fc.addr.bool_addr & 31)];
        let wants = (0..4u8)
            .filter(|&bit| fc.inst.jump_func >> ((bit << 1) + u8::from(boolean)) & 1 == 1)
            .fold(0, |wants, bit| wants | 1 << bit);
        // The rows ENDIF and RETURN of CTM §3.5.4, for two, have only one outcome.
        let never_jumps = fc.inst.jump_any && wants == 0 && !fc.inst.b_else && op != LoopOp::Begin;
        let always_jumps = !fc.inst.jump_any && wants == 15 && op == LoopOp::Jump;
        let mut edge = |never, outcome| match outcome {
            Some((levels, _)) if never => Outcome { to: JumpTarget::Never, levels },
            Some((levels, state)) => Outcome { to: self.target(state), levels },
            None => Outcome { to: if never { JumpTarget::Never } else { JumpTarget::Reference }, levels: 0 },
        };
        let (stay, jump) = (edge(always_jumps, stay), edge(never_jumps, jump));
        End::Flow(Flow {
            op,
            wants,
            predicate: predicate_channel(fc.cmn.rgb_pred_sel, 0).map(|bit| (bit as u8, fc.cmn.rgb_pred_inv)),
            ignore_uncovered: fc.inst.ignore_uncovered,
            jump_any: fc.inst.jump_any,
            exchange: fc.inst.b_else,
            begins,
            frame: if op == LoopOp::Begin { open } else { open.saturating_sub(1) } as u8,
            levels: state.depth.max(u8::from(fc.inst.b_else)),
            stay,
            jump,
        })
    }

    /// The change of the levels at one outcome of a flow-control instruction, and the state after it; `None` where a
    /// stack may overflow or underflow.
    fn outcome(
        &self,
        state: &KnownState,
        fc: &FcInstruction,
        pc: u16,
        (op, begins): (LoopOp, LoopFrame),
        jump: bool,
    ) -> Option<(i8, KnownState)> {
        let limit = |most: usize| if self.program.full_flow_control { most } else { 0 };
        let mut next = KnownState { pc: pc + 1, ..state.clone() };
        if op == LoopOp::Begin && !jump {
            if next.frames.len() >= limit(LOOP_STACK) {
                return None;
            }
            next.frames.push(begins);
        } else if op.leaves(jump) {
            next.frames.pop();
        }
        if jump {
            next.pc = fc.addr.jump_addr;
            match fc.inst.a_op {
                AOp::None => {}
                AOp::Push if next.addresses.len() >= limit(ADDRESS_STACK) => return None,
                AOp::Push => next.addresses.push(pc + 1),
                AOp::Pop => next.pc = next.addresses.pop()?,
            }
        }
        let levels = state.depth.max(u8::from(fc.inst.b_else));
        let most = if self.program.full_flow_control { BRANCH_COUNTER_FULL } else { BRANCH_COUNTER_PARTIAL };
        let change = match if jump { fc.inst.b_op1 } else { fc.inst.b_op0 } {
            BOp::None => 0,
            BOp::Decr => -fc.inst.b_pop_cnt.min(levels).cast_signed(),
            // The lanes of the lowest level would have this counter.
            BOp::Incr if levels > most => return None,
            BOp::Incr => 1,
        };
        next.depth = levels.saturating_add_signed(change);
        Some((change, next))
    }
}
