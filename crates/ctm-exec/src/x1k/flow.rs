//! The flow-control machine (CTM §3.5): active bits, branch counters, the loop stack and the address stack of one group.
//!
//! It is the machine of §3.5.2 and §3.5.3 itself, not a structured reading of it: one instruction is a vote, a decision and
//! whatever stack operations its fields ask for. Open questions of the Guide, and our choices, are in `docs/flow-control.md`.
//!
//! A processor is in one of these states:
//!
//! | state | active bit | parked | leaves it by |
//! |---|---|---|---|
//! | running | set | - | losing a vote (INCR), B_ELSE, BREAK, CONTINUE |
//! | branch-inactive | clear | - | DECR below zero, B_ELSE at zero |
//! | loop-inactive | set | break or continue, and the depth of the loop | the end of that loop or, for continue, of its iteration |
//!
//! **Invariant.** Only a running processor is parked, and branch operations leave a parked one alone; so a branch-inactive processor is
//! never parked.

use crate::fault::FaultKind;
use crate::observe::{self, LaneState};
use ctm_isa::x1k::inst::FcInstruction;
use ctm_isa::x1k::ops::{AOp, BOp, FcOp};
use ctm_isa::x1k::{ADDRESS_STACK, BRANCH_COUNTER_FULL, BRANCH_COUNTER_PARTIAL, LOOP_STACK};

/// Why and where a loop statement has made a processor inactive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parked {
    /// The frame of the loop stack, 0 the outermost.
    frame: usize,
    why: Park,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Park {
    /// Until the loop ends.
    Break,
    /// Until the iteration ends.
    Continue,
}

/// The flow-control state of one processor (CTM §3.5.2).
#[derive(Clone, Copy, Debug)]
struct Lane {
    /// The active bit.
    active: bool,
    /// Conditional blocks that must be left before the processor can be active again; has a meaning while `active` is clear.
    counter: u8,
    /// The loop-inactive state.
    parked: Option<Parked>,
}

impl Lane {
    const START: Self = Self { active: true, counter: 0, parked: None };

    const fn is_running(&self) -> bool {
        self.active && self.parked.is_none()
    }
}

/// A frame of the loop stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    /// Iterations left, this one included.
    count: u8,
    /// aL and its step; `None` for a REP frame, inside which the aL of the LOOP around it is seen.
    loop_variable: Option<LoopVariable>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LoopVariable {
    value: i32,
    step: i8,
}

/// One processor's vote in a jump condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Its ALU result.
    pub alu_result: bool,
    /// Its predicate, selected and inverted.
    pub predicate: bool,
    /// Whether it is covered; with IGNORE_UNCOVERED the others take no part.
    pub covered: bool,
}

/// Why an instruction cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowFault {
    /// The fault.
    pub kind: FaultKind,
    /// The first processor concerned, if it is not the whole group.
    pub lane: Option<usize>,
}

impl From<FaultKind> for FlowFault {
    fn from(kind: FaultKind) -> Self {
        Self { kind, lane: None }
    }
}

/// How a processor took part in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vote {
    /// It was inactive, or uncovered and left out.
    None,
    /// Running, and wants to jump.
    Jump,
    /// Running, and wants to stay.
    Stay,
    /// Just deactivated by B_ELSE: wants to jump, whatever JUMP_FUNC says.
    Exchanged,
}

/// The flow-control state of one group.
#[derive(Clone, Debug)]
pub struct Machine {
    lanes: Vec<Lane>,
    votes: Vec<Vote>,
    loops: Vec<Frame>,
    addresses: Vec<u32>,
    loop_depth: usize,
    address_depth: usize,
    counter_limit: u8,
}

impl Machine {
    /// A machine for `lanes` processors, all running, the stacks empty.
    ///
    /// In partial mode there is no loop stack and no address stack, and branch counters go to 3 (CTM §3.5.2).
    #[must_use]
    pub fn new(lanes: usize, full_flow_control: bool) -> Self {
        Self {
            lanes: vec![Lane::START; lanes],
            votes: vec![Vote::None; lanes],
            loops: Vec::with_capacity(LOOP_STACK),
            addresses: Vec::with_capacity(ADDRESS_STACK),
            loop_depth: if full_flow_control { LOOP_STACK } else { 0 },
            address_depth: if full_flow_control { ADDRESS_STACK } else { 0 },
            counter_limit: if full_flow_control { BRANCH_COUNTER_FULL } else { BRANCH_COUNTER_PARTIAL },
        }
    }

    /// Starts over with `lanes` processors.
    pub fn restart(&mut self, lanes: usize) {
        self.lanes.clear();
        self.lanes.resize(lanes, Lane::START);
        self.votes.clear();
        self.votes.resize(lanes, Vote::None);
        self.loops.clear();
        self.addresses.clear();
    }

    /// Whether the processor executes instructions.
    #[must_use]
    pub fn is_running(&self, lane: usize) -> bool {
        self.lanes[lane].is_running()
    }

    /// Why the processor executes or does not.
    #[must_use]
    pub fn lane_state(&self, lane: usize) -> LaneState {
        let depth = |frame: usize| u16::try_from(frame).unwrap_or(u16::MAX);
        match self.lanes[lane] {
            Lane { active: false, counter, .. } => LaneState::Branch(counter),
            Lane { parked: Some(Parked { frame, why: Park::Break }), .. } => LaneState::Break(depth(frame)),
            Lane { parked: Some(Parked { frame, why: Park::Continue }), .. } => LaneState::Continue(depth(frame)),
            Lane { parked: None, .. } => LaneState::Running,
        }
    }

    /// The loop stack, then the address stack, outermost first.
    #[must_use]
    pub fn frames(&self) -> Vec<observe::StackFrame> {
        let loops = self.loops.iter().map(|frame| observe::StackFrame::Loop {
            left: Some(frame.count.into()),
            index: frame.loop_variable.map(|v| v.value),
        });
        loops.chain(self.addresses.iter().map(|&back| observe::StackFrame::Call(back))).collect()
    }

    /// The loop variable of the innermost LOOP, if there is one (CTM §3.5.2).
    #[must_use]
    pub fn loop_variable(&self) -> Option<i32> {
        self.loops.iter().rev().find_map(|frame| frame.loop_variable).map(|v| v.value)
    }

    /// Whether the innermost frame of the loop stack is a LOOP's; `None` when the stack is empty.
    #[must_use]
    pub fn innermost_is_loop(&self) -> Option<bool> {
        self.loops.last().map(|frame| frame.loop_variable.is_some())
    }

    /// Executes one flow-control instruction at `pc`; gives the next program counter.
    ///
    /// `boolean` and `integer` are the constants that the instruction names, `conditions` one entry per processor.
    ///
    /// # Errors
    /// Stack overflow and underflow, and a branch counter beyond its limit on a covered processor.
    pub fn execute(
        &mut self,
        fc: &FcInstruction,
        pc: u32,
        boolean: bool,
        integer: [u8; 4],
        conditions: &[Condition],
    ) -> Result<u32, FlowFault> {
        let op = fc.inst.op;
        let in_loop = !matches!(op, FcOp::Jump | FcOp::Loop | FcOp::Rep);
        if in_loop && self.loops.is_empty() {
            return Err(FaultKind::StackUnderflow { stack: "loop" }.into());
        }
        // The end of an iteration comes first: who left it by CONTINUE takes part in the decision again.
        if matches!(op, FcOp::EndLoop | FcOp::EndRep) {
            self.revive(|why| why == Park::Continue);
        }
        self.exchange_and_vote(fc, boolean, conditions);
        let jump = self.decide(fc, integer, conditions);
        self.loop_stack(op, jump, integer)?;
        let target = self.address_stack(fc, jump, pc)?;
        self.branch_counters(fc, jump, conditions)?;
        Ok(target)
    }

    /// B_ELSE, then everyone's wish (CTM §3.5.3: JUMP_FUNC and the special case of B_ELSE).
    fn exchange_and_vote(&mut self, fc: &FcInstruction, boolean: bool, conditions: &[Condition]) {
        for ((lane, vote), condition) in self.lanes.iter_mut().zip(&mut self.votes).zip(conditions) {
            let mut exchanged = false;
            if fc.inst.b_else {
                if !lane.active && lane.counter == 0 {
                    lane.active = true;
                } else if lane.is_running() {
                    (lane.active, lane.counter, exchanged) = (false, 0, true);
                }
            }
            let bit = u8::from(condition.alu_result) << 2 | u8::from(condition.predicate) << 1 | u8::from(boolean);
            *vote = if fc.inst.ignore_uncovered && !condition.covered {
                Vote::None
            } else if exchanged {
                Vote::Exchanged
            } else if !lane.is_running() {
                Vote::None
            } else if fc.inst.jump_func >> bit & 1 == 1 {
                Vote::Jump
            } else {
                Vote::Stay
            };
        }
    }

    /// The decision: JUMP_ANY, and the special cases of loops (CTM §3.5.3).
    fn decide(&self, fc: &FcInstruction, integer: [u8; 4], conditions: &[Condition]) -> bool {
        let any_jump = self.votes.iter().any(|v| matches!(v, Vote::Jump | Vote::Exchanged));
        let any_stay = self.votes.contains(&Vote::Stay);
        let voted = if fc.inst.jump_any { any_jump } else { !any_stay };
        let any_lane = |inhibits: fn(&Lane) -> bool| {
            self.lanes
                .iter()
                .zip(conditions)
                .any(|(lane, c)| inhibits(lane) && (c.covered || !fc.inst.ignore_uncovered))
        };
        match fc.inst.op {
            FcOp::Jump => voted,
            FcOp::Loop | FcOp::Rep => voted || integer[0] == 0,
            // The count includes the iteration that ends here.
            FcOp::EndLoop | FcOp::EndRep => voted && self.loops.last().is_some_and(|frame| frame.count > 1),
            FcOp::BreakLoop | FcOp::BreakRep => {
                voted && !any_lane(|l| !l.active || l.parked.is_some_and(|p| p.why == Park::Continue))
            }
            FcOp::Continue => voted && !any_lane(|l| !l.active),
        }
    }

    /// The loop stack, and the processors that BREAK and CONTINUE park (CTM §3.5.3: OP).
    fn loop_stack(&mut self, op: FcOp, jump: bool, integer: [u8; 4]) -> Result<(), FlowFault> {
        match (op, jump) {
            (FcOp::Jump, _) | (FcOp::Loop | FcOp::Rep, true) | (FcOp::Continue, true) => {}
            (FcOp::Loop | FcOp::Rep, false) => {
                if self.loops.len() >= self.loop_depth {
                    return Err(FaultKind::StackOverflow { stack: "loop", depth: self.loop_depth }.into());
                }
                let [count, value, step, _] = integer;
                let loop_variable =
                    (op == FcOp::Loop).then_some(LoopVariable { value: i32::from(value), step: step.cast_signed() });
                self.loops.push(Frame { count, loop_variable });
            }
            (FcOp::EndLoop | FcOp::EndRep, true) => {
                if let Some(frame) = self.loops.last_mut() {
                    frame.count -= 1;
                    if let Some(variable) = &mut frame.loop_variable {
                        variable.value += i32::from(variable.step);
                    }
                }
            }
            (FcOp::EndLoop | FcOp::EndRep, false) | (FcOp::BreakLoop | FcOp::BreakRep, true) => {
                self.revive(|_| true);
                self.loops.pop();
            }
            (FcOp::BreakLoop | FcOp::BreakRep, false) => self.park(Park::Break),
            (FcOp::Continue, false) => self.park(Park::Continue),
        }
        Ok(())
    }

    /// Makes running again the processors that the innermost loop has parked for a reason that `ends` here.
    fn revive(&mut self, ends: impl Fn(Park) -> bool) {
        let innermost = self.loops.len().wrapping_sub(1);
        for lane in &mut self.lanes {
            if lane.parked.is_some_and(|p| p.frame == innermost && ends(p.why)) {
                lane.parked = None;
            }
        }
    }

    /// Parks the running processors that wanted to jump where the group stays.
    fn park(&mut self, why: Park) {
        let frame = self.loops.len().wrapping_sub(1);
        for (lane, vote) in self.lanes.iter_mut().zip(&self.votes) {
            if *vote == Vote::Jump {
                lane.parked = Some(Parked { frame, why });
            }
        }
    }

    /// The address stack and the next program counter (CTM §3.5.3: A_OP, JUMP_ADDR).
    fn address_stack(&mut self, fc: &FcInstruction, jump: bool, pc: u32) -> Result<u32, FlowFault> {
        if !jump {
            return Ok(pc + 1);
        }
        // The program's offset is 0, so JUMP_GLOBAL makes no difference.
        let target = u32::from(fc.addr.jump_addr);
        match fc.inst.a_op {
            AOp::None => Ok(target),
            AOp::Push => {
                if self.addresses.len() >= self.address_depth {
                    return Err(FaultKind::StackOverflow { stack: "address", depth: self.address_depth }.into());
                }
                self.addresses.push(pc + 1);
                Ok(target)
            }
            AOp::Pop => self.addresses.pop().ok_or_else(|| FaultKind::StackUnderflow { stack: "address" }.into()),
        }
    }

    /// The branch counters (CTM §3.5.3: B_OP0 if stay, B_OP1 if jump).
    fn branch_counters(&mut self, fc: &FcInstruction, jump: bool, conditions: &[Condition]) -> Result<(), FlowFault> {
        let disagrees = if jump { Vote::Stay } else { Vote::Jump };
        match if jump { fc.inst.b_op1 } else { fc.inst.b_op0 } {
            BOp::None => {}
            BOp::Decr => {
                for lane in self.lanes.iter_mut().filter(|lane| !lane.active) {
                    match lane.counter.checked_sub(fc.inst.b_pop_cnt) {
                        Some(counter) => lane.counter = counter,
                        None => lane.active = true,
                    }
                }
            }
            BOp::Incr => {
                for (index, lane) in self.lanes.iter_mut().enumerate() {
                    if !lane.active {
                        lane.counter = lane.counter.saturating_add(1);
                        if lane.counter > self.counter_limit && conditions[index].covered {
                            let kind = FaultKind::BranchCounterOverflow { limit: self.counter_limit };
                            return Err(FlowFault { kind, lane: Some(index) });
                        }
                    } else if lane.is_running() && self.votes[index] == disagrees {
                        (lane.active, lane.counter) = (false, 0);
                    }
                }
            }
        }
        Ok(())
    }
}
