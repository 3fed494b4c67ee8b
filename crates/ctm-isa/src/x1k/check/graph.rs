//! Every path through a program: the control-flow graph with the depth of each stack.
//!
//! A node is an instruction in one calling context (the return addresses on the address stack). Each node is entered with
//! one branch depth and one loop stack, those of the first path that reached it; a path that arrives with others is
//! reported and not followed further. So the search ends on any words: there are at most 512 instructions, four return
//! addresses, and [`NODE_LIMIT`] nodes.
//!
//! The branch depth is the number of nested INCRs, one more than the largest branch counter (CTM §3.5.2).

use crate::x1k::access::reachable_jump_bits;
use crate::x1k::inst::{FcInstruction, Inst};
use crate::x1k::ops::{AOp, BOp, FcOp};
use crate::x1k::{ADDRESS_STACK, BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL, LOOP_STACK, Program};
use std::collections::HashSet;

/// More nodes than this are not followed. Real programs have little more than one per instruction.
const NODE_LIMIT: usize = 4096;

/// A frame of the loop stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LoopFrame {
    /// Whether LOOP made it; otherwise REP.
    pub(super) is_loop: bool,
    /// The LOOP or REP.
    pub(super) pc: u16,
}

/// A frame of the address stack, with the state that the return restores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    return_to: u32,
    branch: u8,
    loops: usize,
}

/// The stacks on entry to an instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stacks {
    /// Nested branches.
    pub(super) branch: u8,
    /// Innermost last.
    pub(super) loops: Vec<LoopFrame>,
    calls: Vec<Call>,
}

impl Stacks {
    /// The LOOP whose aL relative addresses see.
    pub(super) fn visible_loop(&self) -> Option<LoopFrame> {
        self.loops.iter().rev().copied().find(|frame| frame.is_loop)
    }
}

/// An instruction in one calling context.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) pc: u16,
    pub(super) stacks: Stacks,
    /// Indices into [`Graph::nodes`].
    pub(super) successors: Vec<usize>,
}

/// Something that a path does and should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Event {
    /// INCR beyond the limit.
    BranchOverflow { limit: u8 },
    /// DECR by more than the depth.
    BranchUnderflow { depth: u8, pop: u8 },
    /// Two paths meet with different branch depths.
    BranchJoin { from: u16, found: u8, expected: u8 },
    /// A return leaves another branch depth than the call found.
    BranchReturn { found: u8, expected: u8 },
    /// LOOP or REP with a full stack.
    LoopOverflow,
    /// A loop operation outside loops.
    LoopUnderflow { op: FcOp },
    /// ENDLOOP ends REP, or ENDREP ends LOOP.
    LoopKind { op: FcOp, opened: u16 },
    /// BREAKLOOP within REP, or BREAKREP within LOOP.
    BreakKind { op: FcOp, opened: u16 },
    /// Two paths meet with different loop stacks.
    LoopJoin { from: u16, found: usize, expected: usize },
    /// A return from within a loop of the subroutine.
    LoopReturn,
    /// A call with a full stack.
    AddressOverflow,
    /// A return with an empty stack.
    AddressUnderflow,
    /// A jump to where no instruction is.
    JumpOutside { target: u32 },
    /// Nothing follows.
    RunsOff,
    /// The program ends here with something left on the stacks.
    EndsWithin { branch: u8, loops: usize, calls: usize },
}

/// The graph.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// In the order in which paths met them.
    pub(super) events: Vec<(u16, Event)>,
    /// Reachability of each instruction.
    pub(super) reached: Vec<bool>,
    /// Whether the search stopped at [`NODE_LIMIT`].
    pub(super) incomplete: bool,
}

impl Graph {
    /// Follows every path of `program` from its first instruction.
    pub(super) fn new(program: &Program, insts: &[Option<Inst>]) -> Self {
        let mut search = Search {
            program,
            insts,
            branch_limit: 1 + if program.full_flow_control { BRANCH_COUNTER_FULL } else { BRANCH_COUNTER_PARTIAL },
            graph: Self { reached: vec![false; insts.len()], ..Self::default() },
            by_pc: vec![Vec::new(); insts.len()],
            open: Vec::new(),
            met: HashSet::new(),
        };
        if usize::from(program.first) < insts.len() {
            search.arrive(None, u32::from(program.first), Stacks::default(), false);
        }
        while let Some(node) = search.open.pop() {
            search.leave(node);
        }
        search.graph
    }
}

struct Search<'a> {
    program: &'a Program,
    insts: &'a [Option<Inst>],
    branch_limit: u8,
    graph: Graph,
    by_pc: Vec<Vec<usize>>,
    open: Vec<usize>,
    met: HashSet<(u16, Event)>,
}

impl Search<'_> {
    fn event(&mut self, pc: u16, event: Event) {
        if self.met.insert((pc, event)) {
            self.graph.events.push((pc, event));
        }
    }

    /// A path comes from node `from` to the instruction `target`.
    fn arrive(&mut self, from: Option<usize>, target: u32, stacks: Stacks, jumped: bool) {
        let from_pc = from.map_or(self.program.first, |node| self.graph.nodes[node].pc);
        let Some(pc) = u16::try_from(target).ok().filter(|&pc| usize::from(pc) < self.insts.len()) else {
            self.event(from_pc, if jumped { Event::JumpOutside { target } } else { Event::RunsOff });
            return;
        };
        let known = self.by_pc[usize::from(pc)].iter().copied().find(|&node| {
            let calls = &self.graph.nodes[node].stacks.calls;
            calls.iter().map(|c| c.return_to).eq(stacks.calls.iter().map(|c| c.return_to))
        });
        let node = if let Some(node) = known {
            let other = &self.graph.nodes[node].stacks;
            let (found, expected) = (stacks.branch, other.branch);
            let kinds = |s: &Stacks| s.loops.iter().map(|frame| frame.is_loop).collect::<Vec<_>>();
            let loops = (kinds(&stacks) != kinds(other)).then_some((stacks.loops.len(), other.loops.len()));
            if found != expected {
                self.event(pc, Event::BranchJoin { from: from_pc, found, expected });
            }
            if let Some((found, expected)) = loops {
                self.event(pc, Event::LoopJoin { from: from_pc, found, expected });
            }
            node
        } else if self.graph.nodes.len() == NODE_LIMIT {
            self.graph.incomplete = true;
            return;
        } else {
            let node = self.graph.nodes.len();
            self.graph.nodes.push(Node { pc, stacks, successors: Vec::new() });
            self.graph.reached[usize::from(pc)] = true;
            self.by_pc[usize::from(pc)].push(node);
            self.open.push(node);
            node
        };
        if let Some(from) = from {
            let successors = &mut self.graph.nodes[from].successors;
            if !successors.contains(&node) {
                successors.push(node);
            }
        }
    }

    /// Follows the paths that leave a node.
    fn leave(&mut self, node: usize) {
        let Node { pc, stacks, .. } = self.graph.nodes[node].clone();
        if pc == self.program.last {
            let (branch, loops, calls) = (stacks.branch, stacks.loops.len(), stacks.calls.len());
            if branch != 0 || loops != 0 || calls != 0 {
                self.event(pc, Event::EndsWithin { branch, loops, calls });
            }
            return;
        }
        match self.insts[usize::from(pc)] {
            Some(Inst::Fc(fc)) => self.decide(node, pc, &fc, &stacks),
            Some(Inst::Alu(_) | Inst::Tex(_)) | None => self.arrive(Some(node), u32::from(pc) + 1, stacks, false),
        }
    }

    /// The two ways out of a flow-control instruction (CTM §3.5.3).
    fn decide(&mut self, node: usize, pc: u16, fc: &FcInstruction, stacks: &Stacks) {
        let op = fc.inst.op;
        let may = ways(fc);
        self.loop_misuse(pc, op, stacks);
        if may.jump {
            let mut after = stacks.clone();
            self.branch_op(pc, fc.inst.b_op1, fc.inst.b_pop_cnt, &mut after);
            if matches!(op, FcOp::BreakLoop | FcOp::BreakRep) {
                after.loops.pop();
            }
            match fc.inst.a_op {
                AOp::None => {
                    let target = self.skip_end(op, pc, u32::from(fc.addr.jump_addr));
                    self.arrive(Some(node), target, after, true);
                }
                AOp::Push if after.calls.len() == ADDRESS_STACK => self.full_mode_event(pc, Event::AddressOverflow),
                AOp::Push => {
                    let return_to = u32::from(pc) + 1;
                    after.calls.push(Call { return_to, branch: stacks.branch, loops: stacks.loops.len() });
                    self.arrive(Some(node), u32::from(fc.addr.jump_addr), after, true);
                }
                AOp::Pop => match after.calls.pop() {
                    None => self.full_mode_event(pc, Event::AddressUnderflow),
                    Some(call) => {
                        if call.branch != after.branch {
                            self.event(pc, Event::BranchReturn { found: after.branch, expected: call.branch });
                            after.branch = call.branch;
                        }
                        if call.loops != after.loops.len() {
                            self.event(pc, Event::LoopReturn);
                            after.loops.truncate(call.loops);
                        }
                        self.arrive(Some(node), call.return_to, after, false);
                    }
                },
            }
        }
        if may.stay {
            let mut after = stacks.clone();
            self.branch_op(pc, fc.inst.b_op0, fc.inst.b_pop_cnt, &mut after);
            match op {
                FcOp::Loop | FcOp::Rep if after.loops.len() == LOOP_STACK => {
                    self.full_mode_event(pc, Event::LoopOverflow);
                }
                FcOp::Loop | FcOp::Rep => after.loops.push(LoopFrame { is_loop: op == FcOp::Loop, pc }),
                FcOp::EndLoop | FcOp::EndRep => {
                    after.loops.pop();
                }
                FcOp::Jump | FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue => {}
            }
            self.arrive(Some(node), u32::from(pc) + 1, after, false);
        }
    }

    /// Loop operations against the frame that they find.
    fn loop_misuse(&mut self, pc: u16, op: FcOp, stacks: &Stacks) {
        let wants_loop = match op {
            FcOp::Jump | FcOp::Loop | FcOp::Rep => return,
            FcOp::EndLoop | FcOp::BreakLoop => Some(true),
            FcOp::EndRep | FcOp::BreakRep => Some(false),
            FcOp::Continue => None,
        };
        match (stacks.loops.last(), wants_loop) {
            (None, _) => self.full_mode_event(pc, Event::LoopUnderflow { op }),
            (Some(frame), Some(wants)) if frame.is_loop != wants => {
                let opened = frame.pc;
                let ends = matches!(op, FcOp::EndLoop | FcOp::EndRep);
                self.event(pc, if ends { Event::LoopKind { op, opened } } else { Event::BreakKind { op, opened } });
            }
            (Some(_), _) => {}
        }
    }

    /// Partial mode has no loop and address stacks at all; another rule says so, once per instruction.
    fn full_mode_event(&mut self, pc: u16, event: Event) {
        if self.program.full_flow_control {
            self.event(pc, event);
        }
    }

    fn branch_op(&mut self, pc: u16, op: BOp, pop: u8, stacks: &mut Stacks) {
        match op {
            BOp::None => {}
            BOp::Incr if stacks.branch >= self.branch_limit => {
                self.event(pc, Event::BranchOverflow { limit: self.branch_limit });
            }
            BOp::Incr => stacks.branch += 1,
            BOp::Decr => {
                if pop > stacks.branch {
                    self.event(pc, Event::BranchUnderflow { depth: stacks.branch, pop });
                }
                stacks.branch = stacks.branch.saturating_sub(pop);
            }
        }
    }

    /// LOOP and REP push nothing when they jump, so a jump to the loop's own end is followed to the instruction after it;
    /// another rule reports it.
    fn skip_end(&self, op: FcOp, pc: u16, target: u32) -> u32 {
        let ends = matches!(op, FcOp::Loop | FcOp::Rep) && is_end_of_loop_at(self.insts, pc, target);
        if ends && target != u32::from(self.program.last) { target + 1 } else { target }
    }
}

/// Whether the instruction at `pc` is ENDLOOP or ENDREP.
pub(super) fn is_loop_end(insts: &[Option<Inst>], pc: u32) -> bool {
    let inst = usize::try_from(pc).ok().and_then(|pc| insts.get(pc)).copied().flatten();
    matches!(inst, Some(Inst::Fc(fc)) if matches!(fc.inst.op, FcOp::EndLoop | FcOp::EndRep))
}

/// Whether the instruction at `end` is the end of the loop that begins at `begin`: it jumps back to its first turn.
pub(super) fn is_end_of_loop_at(insts: &[Option<Inst>], begin: u16, end: u32) -> bool {
    let inst = usize::try_from(end).ok().and_then(|end| insts.get(end)).copied().flatten();
    is_loop_end(insts, end)
        && matches!(inst, Some(Inst::Fc(fc)) if u32::from(fc.addr.jump_addr) == u32::from(begin) + 1)
}

/// Which ways a flow-control instruction can go.
struct Ways {
    jump: bool,
    stay: bool,
}

/// The decision of CTM §3.5.3, for any processors and any constants.
fn ways(fc: &FcInstruction) -> Ways {
    let bits = reachable_jump_bits(fc);
    let (nobody, everybody) = (fc.inst.jump_func & bits == 0, fc.inst.jump_func & bits == bits);
    // With JUMP_ANY clear, a group without active processors jumps; processors deactivated by B_ELSE want to jump.
    let jump = !(nobody && fc.inst.jump_any && !fc.inst.b_else);
    let stay = !everybody || fc.inst.jump_any;
    match fc.inst.op {
        FcOp::Jump => Ways { jump, stay },
        // A count of zero jumps.
        FcOp::Loop | FcOp::Rep => Ways { jump: true, stay },
        // The last turn stays; inactive processors inhibit BREAK and CONTINUE.
        FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep | FcOp::Continue => Ways { jump, stay: true },
    }
}
