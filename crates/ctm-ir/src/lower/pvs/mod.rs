//! Vertex programs of the R5xx (PVS) in micro-operations.
//!
//! A lane is a vertex. Flow control does not depend on data, so all lanes take the same path: a *state* (the next instruction, and the open loops and
//! subroutines) becomes a block, and loops count in numbers of the wavefront. Predicates are vectors, and predicated results are selected.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the graph of states |
//! | `loops` | variables that decide whether iterations of a loop still change anything |
//! | `units` | operands, results and writes of an instruction |
//! | `functions` | operations |
//!
//! Left to the reference interpreter: programs that fault, addresses of registers other than constants relative to A0 or aL, more than `TEMPORARIES`
//! temporaries, M2X_ADD.

mod functions;
mod loops;
mod units;

use crate::lower::build::Build;
use crate::masked::{Block, Code, End, JumpTarget, M, MaskOp, Op, Tally, Var};
use ctm_exec::pvs::BUDGET;
use ctm_isa::pvs::flow::{Action, action};
use ctm_isa::pvs::ops::FlowOp;
use ctm_isa::pvs::{ALTERNATE_TEMPORARIES, FLOW_STACK, INPUTS, Inst, OUTPUTS, VertexProgram};
use rustc_hash::FxHashMap as Map;

/// The most temporaries of a program.
const TEMPORARIES: usize = 64;
/// The most states of a program.
const STATES: usize = 1024;
/// The most blocks that a vertex executes.
const VISITS: usize = 1 << 19;

/// The registers of the form: inputs, temporaries, alternate temporaries, A0, the predicate, outputs, copies of variables of loops.
const FIRST_TEMPORARY: usize = INPUTS;
const FIRST_ALTERNATE: usize = FIRST_TEMPORARY + TEMPORARIES;
const ADDRESS: usize = FIRST_ALTERNATE + ALTERNATE_TEMPORARIES;
const PREDICATE: usize = ADDRESS + 1;
const FIRST_OUTPUT: usize = PREDICATE + 1;
const FIRST_COPY: usize = FIRST_OUTPUT + OUTPUTS;

/// The variable of an input's component.
pub const fn input(register: usize, component: usize) -> Var {
    Var::gpr(register, component)
}

/// The variable of the predicate: all ones where it is set.
const fn predicate() -> Var {
    Var::gpr(PREDICATE, 0)
}

/// A lowered program.
pub struct Lowered {
    /// The form. Output n is export n.
    pub code: Code,
    /// Instructions that each vertex executes.
    pub executed: u64,
}

/// The next instruction, or (`is_after`) the decision after one; and the open loops and subroutines, innermost last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FlowState {
    pc: u16,
    is_after: bool,
    open: Vec<u8>,
}

/// Lowers a program; `None`: it is left to the reference interpreter.
pub fn lower(program: &VertexProgram) -> Option<Lowered> {
    let insts: Vec<Option<Inst>> = program.words.iter().map(|words| Inst::decode(words).ok()).collect();
    if program.usage().highest_temp as usize >= TEMPORARIES {
        return None;
    }
    let mut graph = FlowGraph {
        program,
        insts: &insts,
        starts: starts(program),
        copies: loops::copies(program, &insts),
        ids: Map::default(),
        states: Vec::new(),
        build: Build::default(),
    };
    graph.block_of(FlowState { pc: program.first, is_after: false, open: Vec::new() })?;
    let begin = vec![Op::Mask(MaskOp::Copy(M::ACTIVE, M::EXISTING))];
    let mut blocks =
        vec![Block { loops: 0, ops: begin, tally: Tally::default(), end: End::Next(JumpTarget::Block(1)) }];
    let mut extra = Vec::new();
    let mut n = 0;
    while let Some(state) = graph.states.get(n).cloned() {
        n += 1;
        blocks.push(graph.block(&state, &mut extra)?);
        if blocks.len() + extra.len() > STATES {
            return None;
        }
    }
    // Blocks of their own come after those of states.
    let first = blocks.len() as u16;
    blocks.extend(extra);
    for block in &mut blocks {
        if let End::Branch { some: JumpTarget::Block(id), .. } = &mut block.end
            && *id >= EXTRA
        {
            *id = *id - EXTRA + first;
        }
    }
    let executed = executed(&blocks)?;
    Some(Lowered { code: Code { blocks, keeps_idle_lanes: false, ..Code::default() }, executed })
}

/// Numbers of blocks that belong to no state, until all states are known.
const EXTRA: u16 = 1 << 15;

/// The instructions at which blocks begin.
fn starts(program: &VertexProgram) -> Vec<bool> {
    let mut starts = vec![false; program.words.len() + 1];
    let places = program.flow.iter().filter(|slot| slot.op != FlowOp::None).flat_map(|slot| {
        let after = slot.upper.last.saturating_add(1);
        [slot.leads_to().unwrap_or(0), slot.upper.back, after]
    });
    for place in places {
        if let Some(start) = starts.get_mut(usize::from(place)) {
            *start = true;
        }
    }
    starts
}

/// The instructions that a vertex executes; `None` where it executes too many.
fn executed(blocks: &[Block]) -> Option<u64> {
    let (mut counts, mut block, mut sum) = (Vec::new(), 1usize, 0u64);
    for _ in 0..VISITS {
        let of = &blocks[block];
        sum += u64::from(of.tally.instructions());
        if sum > BUDGET {
            return None;
        }
        let ops = of.ops.iter();
        for op in ops {
            if let Op::Mask(MaskOp::Number(m, count)) = *op
                && let Some(depth) = (0..FLOW_STACK).find(|&depth| M::count(depth) == m)
            {
                counts.resize(FLOW_STACK, 0);
                counts[depth] = count;
            }
        }
        let next = match of.end {
            End::Stop => return Some(sum),
            End::Next(to) => to,
            End::Branch { none, some, .. } => {
                let counted = of.ops.iter().find_map(|op| match *op {
                    Op::Mask(MaskOp::Add(m, -1, false)) => (0..FLOW_STACK).find(|&depth| M::count(depth) == m),
                    _ => None,
                });
                match counted {
                    Some(depth) => {
                        let count: &mut i32 = counts.get_mut(depth)?;
                        *count -= 1;
                        if *count == 0 { none } else { some }
                    }
                    // A test whether anything changed: the loop goes on.
                    None => some,
                }
            }
        };
        let JumpTarget::Block(id) = next else { return None };
        block = usize::from(id);
    }
    None
}

struct FlowGraph<'a> {
    program: &'a VertexProgram,
    insts: &'a [Option<Inst>],
    starts: Vec<bool>,
    /// Of each slot: variables of its loop, each with a copy.
    copies: Vec<Vec<(Var, Var)>>,
    ids: Map<FlowState, u16>,
    states: Vec<FlowState>,
    build: Build,
}

impl FlowGraph<'_> {
    /// The block of a state. `None`: the instruction does not exist.
    fn block_of(&mut self, state: FlowState) -> Option<JumpTarget> {
        if !state.is_after && usize::from(state.pc) >= self.insts.len() {
            return None;
        }
        // Block 0 only begins.
        let next = self.states.len() as u16 + 1;
        let states = &mut self.states;
        let id = *self.ids.entry(state).or_insert_with_key(|state| {
            states.push(state.clone());
            next
        });
        Some(JumpTarget::Block(id))
    }

    /// The loop whose aL is visible.
    fn visible_loop(&self, open: &[u8]) -> Option<usize> {
        open.iter().rposition(|&slot| self.program.flow[usize::from(slot)].op == FlowOp::Loop)
    }

    /// Follows instructions from the state until one ends the block.
    fn block(&mut self, state: &FlowState, extra: &mut Vec<Block>) -> Option<Block> {
        let loops = state.open.len() as u8;
        let mut tally = Tally::default();
        let mut pc = state.pc;
        let index = self.visible_loop(&state.open).map(M::loop_index);
        if !state.is_after {
            loop {
                let inst = self.insts.get(usize::from(pc)).copied().flatten()?;
                let mut units = units::Units { build: &mut self.build, index, const_max: self.program.const_max };
                units.instruction(&inst)?;
                tally.alu += 1;
                let open: Vec<usize> = state.open.iter().map(|&slot| slot.into()).collect();
                let goes_on = action(&self.program.flow, &open, pc) == Action::Falls && pc != self.program.last;
                if !goes_on || self.starts.get(usize::from(pc) + 1) != Some(&false) {
                    break;
                }
                pc += 1;
            }
        }
        let end = self.end(pc, &state.open, (loops, extra))?;
        Some(Block { loops, ops: self.build.take(), tally, end })
    }

    /// The decision after instruction `pc`.
    fn end(&mut self, pc: u16, open: &[u8], (loops, extra): (u8, &mut Vec<Block>)) -> Option<End> {
        let places: Vec<usize> = open.iter().map(|&slot| slot.into()).collect();
        let state = |pc: u16, open: &[u8]| FlowState { pc, is_after: false, open: open.to_vec() };
        let depth = open.len();
        match action(&self.program.flow, &places, pc) {
            Action::Falls if pc == self.program.last => {
                self.outputs();
                Some(End::Stop)
            }
            Action::Falls => Some(End::Next(self.block_of(state(pc + 1, open))?)),
            Action::Acts(n) => {
                let slot = self.program.flow[n];
                let leads_to = slot.leads_to()?;
                match slot.op {
                    FlowOp::None | FlowOp::Jump => return Some(End::Next(self.block_of(state(leads_to, open))?)),
                    FlowOp::Loop if slot.lower.target_or_count == 0 => {
                        return Some(End::Next(self.block_of(state(slot.upper.last.checked_add(1)?, open))?));
                    }
                    FlowOp::Loop | FlowOp::Jsr => {}
                }
                if depth >= FLOW_STACK {
                    return None;
                }
                if slot.op == FlowOp::Loop {
                    self.build.mask(MaskOp::Number(M::count(depth), slot.lower.target_or_count.into()));
                    let outer = self.visible_loop(open).map(M::loop_index);
                    self.build.mask(match outer {
                        Some(outer) if slot.index.inherit => MaskOp::Copy(M::loop_index(depth), outer),
                        _ if slot.index.inherit => MaskOp::Number(M::loop_index(depth), 0),
                        _ => MaskOp::Number(M::loop_index(depth), slot.index.init.into()),
                    });
                    for (var, copy) in self.copies[n].clone() {
                        let value = self.build.get(var);
                        self.build.set(copy, value, M::EXISTING);
                    }
                }
                let inner: Vec<u8> = open.iter().copied().chain([n as u8]).collect();
                Some(End::Next(self.block_of(state(leads_to, &inner))?))
            }
            Action::Ends(n) => {
                let slot = self.program.flow[n];
                let outer = &open[..depth - 1];
                if slot.op != FlowOp::Loop {
                    return Some(End::Next(self.block_of(state(slot.upper.back, outer))?));
                }
                let some = self.block_of(state(slot.upper.back, open))?;
                let none = self.block_of(FlowState { pc, is_after: true, open: outer.to_vec() })?;
                let (count, index) = (M::count(depth - 1), M::loop_index(depth - 1));
                let counted = [
                    MaskOp::Add(index, slot.step().into(), false),
                    MaskOp::Add(count, -1, false),
                    MaskOp::IfNot0(M::TEMP2, M::EXISTING, count),
                ];
                let counts = End::Branch { mask: M::TEMP2, none, some };
                if self.copies[n].is_empty() {
                    counted.into_iter().for_each(|op| self.build.mask(op));
                    return Some(counts);
                }
                self.changes(n);
                let ops = counted.into_iter().map(Op::Mask).collect();
                extra.push(Block { loops, ops, tally: Tally::default(), end: counts });
                let some = JumpTarget::Block(EXTRA + extra.len() as u16 - 1);
                Some(End::Branch { mask: M::TEMP2, none, some })
            }
        }
    }

    /// The lanes, in TEMP2, in which the last iteration of a slot's loop changed a variable that the next one depends on; and copies of these variables.
    fn changes(&mut self, slot: usize) {
        let mut changed = self.build.bits(0);
        for (var, copy) in self.copies[slot].clone() {
            let (value, before) = (self.build.get(var), self.build.get(copy));
            changed = functions::Functions(&mut self.build).differs_or(changed, value, before);
            self.build.set(copy, value, M::EXISTING);
        }
        self.build.mask(MaskOp::Lanes(M::TEMP, changed));
        self.build.mask(MaskOp::And(M::TEMP2, M::TEMP, M::EXISTING));
    }

    /// Exports the outputs.
    fn outputs(&mut self) {
        let written = self.program.usage().outputs;
        for register in written.into_iter().map(usize::from).filter(|&register| register < OUTPUTS) {
            for component in 0..4 {
                let value = self.build.get(Var::gpr(FIRST_OUTPUT + register, component));
                let var = Var::export(register, component);
                self.build.effect(Op::Mark(var, M::EXISTING));
                self.build.effect(Op::Set { var, value, under: M::EXISTING });
            }
        }
    }
}

/// A register of the machine as one of the form; `None`: it does not exist.
fn register(file: units::RegisterKind, offset: u8) -> Option<usize> {
    use units::RegisterKind;
    let offset = usize::from(offset);
    let (first, count) = match file {
        RegisterKind::Input => (0, INPUTS),
        // The program uses no others.
        RegisterKind::Temporary => (FIRST_TEMPORARY, TEMPORARIES),
        RegisterKind::Alternate => (FIRST_ALTERNATE, ALTERNATE_TEMPORARIES),
        RegisterKind::Output => (FIRST_OUTPUT, OUTPUTS),
    };
    (offset < count).then_some(first + offset)
}
