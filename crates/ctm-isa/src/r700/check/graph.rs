//! Every path through a program: the control-flow graph with the stack at each place.
//!
//! Each function (the main program, and each target of a CALL) is followed on its own, from an empty stack. A place is
//! entered with one stack, that of the first path that reached it; a path that arrives with another is reported and not
//! followed further. So the search ends on any words; [`NODE_LIMIT`] bounds it.
//!
//! Open questions of the manual are decided as real programs need it: JUMP and ELSE pop only when they jump (R700 table 3.7; §3.7.2 says
//! that they pop first), and POP goes on with the next instruction (r700-encoding §10 E23).

use crate::r700::CALL_DEPTH;
use crate::r700::inst::{Cf, CfPlain, Decoded};
use crate::r700::ops::{CfAluOp, CfOp, Cond};
use crate::r700::program::Chip;
use std::collections::{HashMap, HashSet};

/// More places than this are not followed. Real programs have one per control-flow instruction and function.
const NODE_LIMIT: usize = 1 << 16;
/// More frames than this are not followed; `STACK_SIZE` can ask for 255 entries of at most 8 subentries.
const FRAME_LIMIT: u32 = 2048;

/// The stack effect of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StackEffect {
    /// An active mask: one subentry.
    Push,
    /// An active mask in whole quad mode: one entry.
    QuadPush,
    /// A loop: one entry. The slot of its LOOP_START*, and whether it sets the loop index.
    Loop { start: u32, index: bool },
}

/// A stack: an index into [`Stacks`]; 0 is the empty one. Equal stacks have equal numbers.
pub(super) type Stack = u32;

#[derive(Clone, Copy, Debug)]
struct Cell {
    below: Stack,
    frame: StackEffect,
    frames: u32,
    /// Subentries of pushes, and whole entries.
    pushes: u32,
    entries: u32,
    /// Innermost loop: the stack whose top it is, or 0.
    innermost: Stack,
    /// Whether a loop index is defined.
    index: bool,
}

/// All stacks that occur, each made of its top and the stack below.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    cells: Vec<Cell>,
    known: HashMap<(Stack, StackEffect), Stack>,
}

impl Stacks {
    fn cell(&self, stack: Stack) -> Option<&Cell> {
        self.cells.get((stack as usize).checked_sub(1)?)
    }

    fn push(&mut self, below: Stack, frame: StackEffect) -> Stack {
        if let Some(&known) = self.known.get(&(below, frame)) {
            return known;
        }
        let under = self.cell(below).copied();
        let id = u32::try_from(self.cells.len() + 1).unwrap_or(u32::MAX);
        let (frames, pushes, entries) = under.map_or((0, 0, 0), |c| (c.frames, c.pushes, c.entries));
        self.cells.push(Cell {
            below,
            frame,
            frames: frames + 1,
            pushes: pushes + u32::from(frame == StackEffect::Push),
            entries: entries + u32::from(frame != StackEffect::Push),
            innermost: if matches!(frame, StackEffect::Loop { .. }) { id } else { under.map_or(0, |c| c.innermost) },
            index: under.is_some_and(|c| c.index) || matches!(frame, StackEffect::Loop { index: true, .. }),
        });
        self.known.insert((below, frame), id);
        id
    }

    /// How many frames it has.
    pub(super) fn frames(&self, stack: Stack) -> u32 {
        self.cell(stack).map_or(0, |c| c.frames)
    }

    /// The innermost loop's start.
    pub(super) fn innermost_loop(&self, stack: Stack) -> Option<u32> {
        match self.cell(self.cell(stack)?.innermost)?.frame {
            StackEffect::Loop { start, .. } => Some(start),
            StackEffect::Push | StackEffect::QuadPush => None,
        }
    }

    /// Whether the loop index is defined.
    pub(super) fn has_index(&self, stack: Stack) -> bool {
        self.cell(stack).is_some_and(|c| c.index)
    }

    /// Its size in subentries.
    fn size(&self, stack: Stack, chip: Chip) -> u32 {
        self.cell(stack).map_or(0, |c| c.entries * chip.subentries_per_entry() + c.pushes)
    }

    fn describe(&self, stack: Stack) -> Depth {
        self.cell(stack).map_or(Depth::default(), |c| {
            let mut depth = Depth { pushes: c.pushes, loops: 0 };
            let mut at = stack;
            while let Some(cell) = self.cell(at) {
                match cell.frame {
                    StackEffect::Push => {}
                    StackEffect::QuadPush => depth.pushes += 1,
                    StackEffect::Loop { .. } => depth.loops += 1,
                }
                at = cell.below;
            }
            depth
        })
    }
}

/// A stack in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Depth {
    pub(super) pushes: u32,
    pub(super) loops: u32,
}

impl std::fmt::Display for Depth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let s = |n| if n == 1 { "" } else { "s" };
        match (self.pushes, self.loops) {
            (0, 0) => f.write_str("an empty stack"),
            (p, 0) => write!(f, "{p} mask{} on the stack", s(p)),
            (0, l) => write!(f, "{l} loop{} on the stack", s(l)),
            (p, l) => write!(f, "{p} mask{} and {l} loop{} on the stack", s(p), s(l)),
        }
    }
}

/// A control-flow instruction in one function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Index into the program's entries.
    pub(super) entry: usize,
    /// The slot.
    pub(super) pc: u32,
    /// Index into [`Graph::functions`].
    pub(super) function: usize,
    /// On entry.
    pub(super) stack: Stack,
    /// Nodes that may follow; ALU and fetch instructions have one.
    pub(super) next: [Option<usize>; 2],
    /// The function it calls.
    pub(super) calls: Option<usize>,
}

/// A function: its entry and its stack needs.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) start: u32,
    /// Its nodes are adjacent.
    pub(super) nodes: std::ops::Range<usize>,
}

/// Something that a path does and should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// Pops more masks than there are above the innermost loop.
    Underflow { pops: u32, masks: u32 },
    /// ELSE where the last that was put on the stack is no mask.
    NothingToExchange,
    /// Two paths meet with different stacks.
    Join { from: u32, found: Depth, expected: Depth },
    /// END_OF_PROGRAM with something on the stack.
    EndsWithin { depth: Depth },
    /// END_OF_PROGRAM in a subroutine.
    EndsInSubroutine { start: u32 },
    /// RETURN in the main program.
    ReturnOutside,
    /// RETURN with something on the stack.
    ReturnWithin { depth: Depth },
    /// A loop instruction outside of every loop.
    NoLoop,
    /// LOOP_END with masks above the loop.
    LoopEndsWithin { masks: u32 },
    /// Jumps out of the program or to no instruction.
    NoTarget { target: u32 },
    /// Continues with no instruction.
    RunsOff { next: u32 },
    /// More frames than any stack has.
    TooDeep,
}

/// Every path.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) stacks: Stacks,
    pub(super) nodes: Vec<Node>,
    /// The main program first.
    pub(super) functions: Vec<Function>,
    /// By the slot they are about.
    pub(super) events: Vec<(u32, Event)>,
    /// Whether the search was given up.
    pub(super) incomplete: bool,
    /// Whether some path reaches END_OF_PROGRAM.
    pub(super) ends: bool,
    /// Whether a RETURN of the main program is reached.
    pub(super) returns: bool,
    /// For each function, whether it is part of a chain of calls that leads back to where it began, or called from one.
    pub(super) recursive: Vec<bool>,
    /// The deepest nesting by CALL_COUNT, and where it is reached.
    pub(super) call_depth: u32,
    /// The call that exceeds [`CALL_DEPTH`].
    pub(super) too_deep_call: Option<u32>,
    any_push: bool,
    order: Vec<usize>,
}

/// Where control goes from an instruction, before looking whether anything is there.
#[derive(Default)]
struct Successor {
    /// Slot and stack; whether it is a jump.
    to: Vec<(u32, Stack, bool)>,
    events: Vec<Event>,
    calls: Option<u32>,
    ends: bool,
    returns: bool,
}

impl Graph {
    pub(super) fn new(decoded: &Decoded, entry: u32) -> Self {
        let mut graph = Self::default();
        let index = |pc: u32| decoded.entries.binary_search_by_key(&pc, |e| e.addr).ok();
        let mut starts = vec![entry];
        let mut known: HashMap<u32, usize> = HashMap::from([(entry, 0)]);
        let mut function = 0;
        let mut events = HashSet::new();
        while function < starts.len() && !graph.incomplete {
            let first = graph.nodes.len();
            let mut visited: HashMap<u32, usize> = HashMap::new();
            let mut work = Vec::new();
            if let Some(i) = index(starts[function]) {
                graph.add(i, starts[function], function, 0, &mut visited);
                work.push(first);
            }
            while let Some(at) = work.pop() {
                if graph.nodes.len() > NODE_LIMIT {
                    graph.incomplete = true;
                    break;
                }
                let node = graph.nodes[at];
                let Ok(cf) = &decoded.entries[node.entry].cf else { continue };
                let step = graph.step(cf, node.pc, node.stack, function, starts[function]);
                graph.ends |= step.ends;
                graph.returns |= step.returns && function == 0;
                events.extend(step.events.into_iter().map(|e| (node.pc, e)));
                if let Some(callee) = step.calls {
                    if index(callee).is_some() {
                        let id = *known.entry(callee).or_insert_with(|| {
                            starts.push(callee);
                            starts.len() - 1
                        });
                        graph.nodes[at].calls = Some(id);
                    } else {
                        events.insert((node.pc, Event::NoTarget { target: callee }));
                    }
                }
                let mut ways = 0;
                for (target, stack, jumps) in step.to {
                    let Some(i) = index(target) else {
                        let event = if jumps { Event::NoTarget { target } } else { Event::RunsOff { next: target } };
                        events.insert((node.pc, event));
                        continue;
                    };
                    if graph.stacks.frames(stack) > FRAME_LIMIT {
                        events.insert((node.pc, Event::TooDeep));
                        continue;
                    }
                    let to = match visited.get(&target) {
                        Some(&to) => {
                            let expected = graph.nodes[to].stack;
                            if expected != stack {
                                let (found, expected) = (graph.stacks.describe(stack), graph.stacks.describe(expected));
                                events.insert((target, Event::Join { from: node.pc, found, expected }));
                                continue;
                            }
                            to
                        }
                        None => {
                            let to = graph.add(i, target, function, stack, &mut visited);
                            work.push(to);
                            to
                        }
                    };
                    graph.nodes[at].next[ways] = Some(to);
                    ways += 1;
                }
            }
            graph.functions.push(Function { start: starts[function], nodes: first..graph.nodes.len() });
            function += 1;
        }
        graph.events = events.into_iter().collect();
        graph.events.sort_unstable_by_key(|&(pc, event)| (pc, format!("{event:?}")));
        graph.calls(decoded);
        graph
    }

    fn add(
        &mut self,
        entry: usize,
        pc: u32,
        function: usize,
        stack: Stack,
        visited: &mut HashMap<u32, usize>,
    ) -> usize {
        let id = self.nodes.len();
        self.nodes.push(Node { entry, pc, function, stack, next: [None; 2], calls: None });
        visited.insert(pc, id);
        id
    }

    /// Pops masks. Missing entries are ignored.
    fn pop(&self, stack: Stack, pops: u32, events: &mut Vec<Event>) -> Stack {
        let mut at = stack;
        for done in 0..pops {
            match self.stacks.cell(at) {
                Some(Cell { below, frame: StackEffect::Push | StackEffect::QuadPush, .. }) => at = *below,
                Some(_) | None => {
                    events.push(Event::Underflow { pops, masks: done });
                    break;
                }
            }
        }
        at
    }

    /// The error at an ELSE: it exchanges pixels of the last push, which must lie on top.
    fn exchanges(&self, stack: Stack) -> Option<Event> {
        let top = self.stacks.cell(stack).map(|cell| cell.frame);
        (!matches!(top, Some(StackEffect::Push | StackEffect::QuadPush))).then_some(Event::NothingToExchange)
    }

    fn step(&mut self, cf: &Cf, pc: u32, stack: Stack, function: usize, start: u32) -> Successor {
        let mut step = Successor::default();
        match cf {
            Cf::Alu(alu) => self.alu_step(alu.word1.op, pc, stack, &mut step),
            Cf::Export(_) | Cf::Mem(_) => step.to.push((pc + 1, stack, false)),
            Cf::Plain(plain) => self.plain_step(plain, pc, stack, function, &mut step),
        }
        if cf.ends_program() {
            step.ends = true;
            // Nothing is executed after it, whatever it does.
            let after = step.to.first().map_or(stack, |t| t.1);
            step.to.clear();
            if function != 0 {
                step.events.push(Event::EndsInSubroutine { start });
            } else if after != 0 {
                step.events.push(Event::EndsWithin { depth: self.stacks.describe(after) });
            }
        }
        step
    }

    fn alu_step(&mut self, op: CfAluOp, pc: u32, stack: Stack, step: &mut Successor) {
        let after = match op {
            CfAluOp::Alu => stack,
            CfAluOp::ElseAfter => {
                step.events.extend(self.exchanges(stack));
                stack
            }
            CfAluOp::PushBefore => {
                self.any_push = true;
                self.stacks.push(stack, StackEffect::Push)
            }
            CfAluOp::PopAfter | CfAluOp::Pop2After => self.pop(stack, u32::from(op.info().pops), &mut step.events),
            CfAluOp::Continue | CfAluOp::Break => {
                if self.stacks.innermost_loop(stack).is_none() {
                    step.events.push(Event::NoLoop);
                }
                stack
            }
        };
        step.to.push((pc + 1, after, false));
    }

    fn plain_step(&mut self, plain: &CfPlain, pc: u32, stack: Stack, function: usize, step: &mut Successor) {
        let w = &plain.word1;
        let target = plain.word0.addr;
        let pops = u32::from(w.pop_count);
        let push = if w.whole_quad_mode { StackEffect::QuadPush } else { StackEffect::Push };
        match w.op {
            CfOp::Nop
            | CfOp::Tex
            | CfOp::Vtx
            | CfOp::VtxTc
            | CfOp::CallFs
            | CfOp::EmitVertex
            | CfOp::EmitCutVertex
            | CfOp::CutVertex
            | CfOp::WaitAck => step.to.push((pc + 1, stack, false)),
            // It jumps when every pixel is killed; producers do not use the jump, and a target of 0 means none.
            CfOp::Kill => step.to.push((pc + 1, stack, false)),
            CfOp::Jump | CfOp::Else => {
                if w.op == CfOp::Else && pops == 0 {
                    step.events.extend(self.exchanges(stack));
                }
                if w.op == CfOp::Else || w.cond != Cond::False {
                    step.to.push((pc + 1, stack, false));
                }
                let popped = self.pop(stack, pops, &mut step.events);
                step.to.push((target, popped, true));
            }
            CfOp::Pop => {
                let popped = self.pop(stack, pops, &mut step.events);
                step.to.push((pc + 1, popped, false));
            }
            CfOp::PopJump => {
                let popped = self.pop(stack, pops, &mut step.events);
                if w.cond != Cond::False {
                    step.to.push((pc + 1, popped, false));
                }
                step.to.push((target, popped, true));
            }
            CfOp::Push => {
                self.any_push |= push == StackEffect::Push;
                let popped = self.pop(stack, pops, &mut step.events);
                step.to.push((pc + 1, self.stacks.push(stack, push), false));
                step.to.push((target, popped, true));
            }
            CfOp::PopPush => {
                self.any_push |= push == StackEffect::Push;
                let popped = self.pop(stack, pops, &mut step.events);
                step.to.push((pc + 1, self.stacks.push(popped, push), false));
                step.to.push((target, popped, true));
            }
            CfOp::PushElse | CfOp::PopPushElse => {
                self.any_push |= push == StackEffect::Push;
                let popped = if w.op == CfOp::PopPushElse { self.pop(stack, pops, &mut step.events) } else { stack };
                let pushed = self.stacks.push(popped, push);
                step.to.push((pc + 1, pushed, false));
                step.to.push((target, pushed, true));
            }
            CfOp::LoopStart | CfOp::LoopStartDx10 | CfOp::LoopStartNoAl => {
                let frame = StackEffect::Loop { start: pc, index: w.op == CfOp::LoopStart };
                let popped = self.pop(stack, pops, &mut step.events);
                step.to.push((pc + 1, self.stacks.push(stack, frame), false));
                step.to.push((target, popped, true));
            }
            CfOp::LoopEnd => match self.stacks.cell(stack).map(|c| c.innermost) {
                None | Some(0) => step.events.push(Event::NoLoop),
                Some(inner) => {
                    let masks = self.stacks.frames(stack) - self.stacks.frames(inner);
                    if masks > 0 {
                        step.events.push(Event::LoopEndsWithin { masks });
                    }
                    let below = self.stacks.cell(inner).map_or(0, |c| c.below);
                    step.to.push((pc + 1, below, false));
                    step.to.push((target, inner, true));
                }
            },
            CfOp::LoopContinue | CfOp::LoopBreak => {
                match self.stacks.cell(stack).map(|c| c.innermost) {
                    None | Some(0) => step.events.push(Event::NoLoop),
                    // The stack is popped back to the loop when it jumps; POP_COUNT is ignored (R700 table 3.7).
                    Some(inner) => step.to.push((target, inner, true)),
                }
                step.to.push((pc + 1, stack, false));
            }
            CfOp::Call => {
                step.calls = Some(target);
                step.to.push((pc + 1, stack, false));
            }
            CfOp::Return => {
                step.returns = true;
                let popped = self.pop(stack, pops, &mut step.events);
                if popped != 0 {
                    step.events.push(Event::ReturnWithin { depth: self.stacks.describe(popped) });
                } else if function == 0 {
                    step.events.push(Event::ReturnOutside);
                }
            }
        }
    }

    /// Orders the functions so that callers precede callees, and measures the nesting.
    fn calls(&mut self, decoded: &Decoded) {
        let count = self.functions.len();
        let mut callers = vec![0usize; count];
        for node in &self.nodes {
            if let Some(callee) = node.calls.filter(|&c| c < count) {
                callers[callee] += 1;
            }
        }
        let mut ready: Vec<usize> = (0..count).filter(|&f| callers[f] == 0).collect();
        let mut nesting = vec![0u32; count];
        while let Some(f) = ready.pop() {
            self.order.push(f);
            for node in &self.nodes[self.functions[f].nodes.clone()] {
                let Some(callee) = node.calls.filter(|&c| c < count) else { continue };
                let by = match &decoded.entries[node.entry].cf {
                    Ok(Cf::Plain(plain)) => u32::from(plain.word1.call_count),
                    Ok(Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_)) | Err(_) => 0,
                };
                let depth = nesting[f].saturating_add(by);
                nesting[callee] = nesting[callee].max(depth);
                self.call_depth = self.call_depth.max(depth);
                if depth as usize > CALL_DEPTH && self.too_deep_call.is_none() {
                    self.too_deep_call = Some(node.pc);
                }
                callers[callee] -= 1;
                if callers[callee] == 0 {
                    ready.push(callee);
                }
            }
        }
        self.recursive = callers.iter().map(|&left| left > 0).collect();
    }

    /// Stack entries that the program needs on a chip (R700 §3.6.5, table 3.6). Recursive calls are not counted.
    pub(super) fn stack_entries(&self, decoded: &Decoded, chip: Chip) -> u32 {
        let mut total = vec![0u32; self.functions.len()];
        for &f in self.order.iter().rev() {
            for node in &self.nodes[self.functions[f].nodes.clone()] {
                let here = self.stacks.size(node.stack, chip);
                let during = match &decoded.entries[node.entry].cf {
                    Ok(Cf::Plain(p)) if p.word1.op == CfOp::CallFs => here + chip.call_subentries(),
                    // A loop or push of this instruction is on the stack of the next instructions; when it is the last, it does not matter.
                    Ok(Cf::Alu(a)) => here + u32::from(a.word1.op.info().pushes),
                    Ok(Cf::Plain(_) | Cf::Export(_) | Cf::Mem(_)) | Err(_) => here,
                };
                let call = node.calls.map_or(0, |c| here + chip.call_subentries() + total.get(c).copied().unwrap_or(0));
                total[f] = total[f].max(during).max(call);
            }
        }
        let masks = if self.any_push { 2 } else { 0 };
        (total.first().copied().unwrap_or(0) + masks).div_ceil(chip.subentries_per_entry())
    }
}
