//! Branch-loop instructions as operations on masks (R700 §3.7): the effect on the pixels, and the target.

use super::{
    After, Branch, Build, Lower, Result, SlotAddress, StackEntry, StackState, Steps, Stop, TestedLanes, held_by,
};
use crate::masked::{End, JumpTarget, M, MaskOp};
use ctm_exec::r700::flow::LoopConstant;
use ctm_isa::r700::CALL_DEPTH;

impl Lower<'_> {
    /// The lanes of `of` that pass (table 3.4).
    pub(super) fn test(&self, b: &mut Build, test: TestedLanes, of: M) -> M {
        if test.allowed { self.looked_at(b, test, of, M::PASS) } else { M::NONE }
    }

    /// The lanes that a clause or an export concerns, for any condition.
    pub(super) fn concerned(&self, b: &mut Build, test: TestedLanes) -> M {
        self.looked_at(b, test, M::ACTIVE, M::CONCERNED)
    }

    /// Of the lanes of `of`, those that the modes let an instruction test, in `to` where they are others.
    fn looked_at(&self, b: &mut Build, test: TestedLanes, of: M, to: M) -> M {
        let op = match test {
            TestedLanes { whole_quad: true, .. } => MaskOp::Quads(to, of),
            TestedLanes { valid_pixel: true, .. } => MaskOp::And(to, of, M::VALID),
            _ => return of,
        };
        b.mask(op);
        to
    }

    /// Lanes that pass become active, others not; lanes held by a loop stay.
    pub(super) fn narrow(&self, state: &StackState, test: TestedLanes, pass: M) -> Vec<MaskOp> {
        if pass == M::ACTIVE {
            return Vec::new();
        }
        if !test.whole_quad {
            return vec![MaskOp::And(M::ACTIVE, M::ACTIVE, pass)];
        }
        let mut ops = vec![MaskOp::Copy(M::TEMP, pass)];
        ops.extend(held_by(state.loop_entry()).into_iter().map(|held| MaskOp::AndNot(M::TEMP, M::TEMP, held)));
        ops.push(MaskOp::Copy(M::ACTIVE, M::TEMP));
        ops
    }

    /// Lanes that pass and are not held by a loop move to a loop's mask.
    pub(super) fn leave(&self, b: &mut Build, held: Option<usize>, pass: M, to: M) {
        b.mask(MaskOp::Copy(M::TEMP, pass));
        for held in held_by(held) {
            b.mask(MaskOp::AndNot(M::TEMP, M::TEMP, held));
        }
        b.mask(MaskOp::Or(to, to, M::TEMP));
        b.mask(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, M::TEMP));
    }

    /// The effect of popping `count` states, and the state after it. Valid pixel mode deactivates the invalid ones of
    /// the restored lanes.
    pub(super) fn popped(&self, state: &StackState, count: u8, test: TestedLanes) -> Result<(Vec<MaskOp>, StackState)> {
        let mut popped = state.clone();
        let mut ops = Vec::new();
        if let Some(last) = popped.pop_states(count)? {
            let held = held_by(state.loop_entry());
            ops.push(MaskOp::Copy(M::ACTIVE, M::saved(last)));
            ops.extend(held.into_iter().map(|held| MaskOp::AndNot(M::ACTIVE, M::ACTIVE, held)));
            ops.extend(test.valid_pixel.then_some(MaskOp::And(M::ACTIVE, M::ACTIVE, M::VALID)));
        }
        Ok((ops, popped))
    }

    pub(super) fn pop(&self, b: &mut Build, state: &mut StackState, count: u8, test: TestedLanes) -> Result<()> {
        let (ops, popped) = self.popped(state, count, test)?;
        ops.into_iter().for_each(|op| b.mask(op));
        *state = popped;
        Ok(())
    }

    /// Of the lanes that were active at the last push and pass the test, active and inactive ones are exchanged; valid
    /// pixel mode makes invalid lanes inactive.
    pub(super) fn exchange(&self, b: &mut Build, state: &StackState, test: TestedLanes) -> Result<()> {
        let Some(StackEntry::Push) = state.stack.last() else { return Err(Stop::BailOut) };
        let pass = self.test(b, test, M::saved(state.stack.len() - 1));
        b.mask(MaskOp::Xor(M::TEMP, M::ACTIVE, pass));
        for held in held_by(state.loop_entry()) {
            b.mask(MaskOp::AndNot(M::TEMP, M::TEMP, held));
        }
        b.mask(MaskOp::Copy(M::ACTIVE, M::TEMP));
        if test.valid_pixel {
            b.mask(MaskOp::And(M::ACTIVE, M::ACTIVE, M::VALID));
        }
        Ok(())
    }

    /// The jump of the lanes that do not go on with the next instruction: they pop states.
    fn popping(&mut self, state: &StackState, branch: Branch) -> Result<JumpTarget> {
        let (ops, popped) = self.popped(state, branch.pops, branch.test)?;
        self.way(&ops, &popped, branch.target, branch.ends)
    }

    /// Ends the block: with this jump (or, where it may be a fault, in the reference interpreter) if a mask is empty,
    /// otherwise with the other one.
    pub(super) fn fork(
        &mut self,
        mask: M,
        none: Result<JumpTarget>,
        (ops, state, next): (&[MaskOp], &StackState, SlotAddress),
        ends: bool,
    ) -> Result<After> {
        let none = if none == Err(Stop::BailOut) { JumpTarget::Reference } else { none? };
        let some = self.way(ops, state, next, ends)?;
        Ok(Some(End::Branch { mask, none, some }))
    }

    /// To the next instruction if a mask has a lane, otherwise to the target.
    pub(super) fn unless(&mut self, mask: M, state: &StackState, branch: Branch) -> Result<After> {
        let none = self.popping(state, branch);
        self.fork(mask, none, (&[], state, branch.next), branch.ends)
    }

    pub(super) fn jump(&mut self, b: &mut Build, state: &StackState, branch: Branch) -> Result<After> {
        let mask = self.test(b, branch.test, M::ACTIVE);
        self.unless(mask, state, branch)
    }

    pub(super) fn push(&mut self, b: &mut Build, state: &mut StackState, branch: Branch) -> Result<After> {
        let mask = self.test(b, branch.test, M::ACTIVE);
        let none = self.popping(state, branch);
        let place = state.push(StackEntry::Push)?;
        let mut ops = vec![MaskOp::Copy(M::saved(place), M::ACTIVE)];
        ops.extend(self.narrow(state, branch.test, mask));
        self.fork(mask, none, (&ops, state, branch.next), branch.ends)
    }

    pub(super) fn push_else(&mut self, b: &mut Build, state: &mut StackState, branch: Branch) -> Result<After> {
        let pass = self.test(b, branch.test, M::ACTIVE);
        let place = state.push(StackEntry::Push)?;
        b.mask(MaskOp::Copy(M::saved(place), M::ACTIVE));
        // All passing lanes leave: the active mask itself, if it passes.
        let pass = if pass == M::ACTIVE { M::saved(place) } else { pass };
        b.mask(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, pass));
        if branch.test.valid_pixel {
            b.mask(MaskOp::And(M::ACTIVE, M::ACTIVE, M::VALID));
        }
        self.unless(M::ACTIVE, state, branch)
    }

    /// `counted` and `indexed`: the constant, where it gives the trip count, and where it gives the loop index.
    pub(super) fn loop_start(
        &mut self,
        b: &mut Build,
        state: &mut StackState,
        [counted, indexed]: [Option<LoopConstant>; 2],
        branch: Branch,
    ) -> Result<After> {
        let mut mask = self.test(b, branch.test, M::ACTIVE);
        if counted.is_some_and(|c| c.count == 0) {
            mask = M::NONE;
        }
        let none = self.popping(state, branch);
        let place = state.push(StackEntry::Loop { counted: counted.is_some(), index: indexed.map(Steps::of) })?;
        let mut ops = vec![
            MaskOp::Copy(M::saved(place), M::ACTIVE),
            MaskOp::AndNot(M::broken(place), M::EXISTING, mask),
            MaskOp::Copy(M::continued(place), M::NONE),
        ];
        if mask != M::ACTIVE {
            ops.push(MaskOp::Copy(M::ACTIVE, mask));
        }
        ops.extend(counted.map(|c| MaskOp::Number(M::count(place), i32::from(c.count))));
        ops.extend(indexed.map(|c| MaskOp::Number(M::loop_index(place), i32::from(c.start))));
        self.fork(mask, none, (&ops, state, branch.next), branch.ends)
    }

    pub(super) fn loop_end(&mut self, b: &mut Build, state: &mut StackState, branch: Branch) -> Result<After> {
        let Branch { test, next, target, ends, .. } = branch;
        let Some(&StackEntry::Loop { counted, index }) = state.stack.last() else { return Err(Stop::BailOut) };
        let place = state.stack.len() - 1;
        // Whole-quad mode has no effect here.
        if test.allowed {
            b.mask(MaskOp::AndNot(M::PASS, M::EXISTING, M::broken(place)));
            if test.valid_pixel {
                b.mask(MaskOp::And(M::PASS, M::PASS, M::VALID));
            }
        } else {
            b.mask(MaskOp::Copy(M::PASS, M::NONE));
        }
        if counted {
            b.mask(MaskOp::Add(M::count(place), -1, false));
            b.mask(MaskOp::IfNot0(M::PASS, M::PASS, M::count(place)));
        }
        if let Some(steps) = index {
            b.mask(MaskOp::Add(M::loop_index(place), i32::from(steps.step), true));
        }
        let again = [
            MaskOp::AndNot(M::broken(place), M::EXISTING, M::PASS),
            MaskOp::Copy(M::continued(place), M::NONE),
            MaskOp::Copy(M::ACTIVE, M::PASS),
        ];
        let mut left = state.clone();
        left.stack.pop();
        let mut leave = vec![MaskOp::Copy(M::ACTIVE, M::saved(place))];
        leave.extend(test.valid_pixel.then_some(MaskOp::And(M::ACTIVE, M::ACTIVE, M::VALID)));
        let none = self.way(&leave, &left, next, ends);
        self.fork(M::PASS, none, (&again, state, target), ends)
    }

    pub(super) fn call(&mut self, b: &mut Build, state: &StackState, call_count: u8, branch: Branch) -> Result<After> {
        let Branch { test, next, target, ends, .. } = branch;
        let depth = state.depth + u32::from(call_count & 31);
        if depth as usize > CALL_DEPTH {
            return Ok(b.on());
        }
        let mask = self.test(b, test, M::ACTIVE);
        let none = self.way(&[], state, next, ends);
        let mut called = state.clone();
        called.push(StackEntry::Call { back: next, depth: state.depth })?;
        called.depth = depth;
        self.fork(mask, none, (&[], &called, target), ends)
    }
}
