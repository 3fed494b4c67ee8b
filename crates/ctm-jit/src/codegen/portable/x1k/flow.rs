//! Flow control of one group: the machine of `ctm_exec::x1k::flow` on masks.

use crate::ir::x1k::{Flow, Levels, Target};
use crate::launch::lanes::Mask;
use crate::passes::x1k::leaves_loop;
use ctm_exec::x1k::Constants;
use ctm_isa::x1k::ops::FcOp;
use ctm_isa::x1k::{BRANCH_COUNTER_FULL, LOOP_STACK};

/// Which lanes of a group run, and why others do not.
#[derive(Clone)]
pub struct Flows {
    /// The lanes that flow control lets run.
    pub running: Mask,
    levels: [Mask; BRANCH_COUNTER_FULL as usize + 2],
    broke: [Mask; LOOP_STACK],
    continued: [Mask; LOOP_STACK],
    counts: [u8; LOOP_STACK],
    /// aL of each frame.
    pub loop_variables: [i32; LOOP_STACK],
    steps: [i8; LOOP_STACK],
}

/// What flow control sees of a group's data.
#[derive(Clone, Copy)]
pub struct Sees {
    /// Covered lanes.
    pub covered: Mask,
    /// Predicate bits.
    pub predicates: [Mask; 4],
    /// The ALU result.
    pub result: Mask,
}

impl Flows {
    /// Of a group of which these lanes run.
    pub const fn new(running: Mask) -> Self {
        Self {
            running,
            levels: [0; BRANCH_COUNTER_FULL as usize + 2],
            broke: [0; LOOP_STACK],
            continued: [0; LOOP_STACK],
            counts: [0; LOOP_STACK],
            loop_variables: [0; LOOP_STACK],
            steps: [0; LOOP_STACK],
        }
    }

    /// Executes a flow-control instruction (CTM §3.5.2, §3.5.3). The ALU result is used up by it.
    pub fn decide(&mut self, constants: &Constants, flow: &Flow, sees: Sees) -> Target {
        let frame = usize::from(flow.frame);
        let mut levels = usize::from(flow.depth);
        // The end of an iteration comes first: who left it by CONTINUE takes part in the decision again.
        if matches!(flow.op, FcOp::EndLoop | FcOp::EndRep) {
            self.running |= std::mem::take(&mut self.continued[frame]);
        }
        let takes_part = if flow.ignore_uncovered { sees.covered } else { Mask::MAX };
        let mut exchanged = 0;
        if flow.exchange {
            if levels == 0 {
                (levels, self.levels[0]) = (1, 0);
            }
            exchanged = self.running;
            self.running = std::mem::replace(&mut self.levels[levels - 1], exchanged);
        }
        let wants = sees.wants(flow);
        let voters = self.running & takes_part;
        let (jumps, stays) = (voters & wants, voters & !wants);
        let any_jump = (jumps | exchanged & takes_part) != 0;
        let voted = if flow.jump_any { any_jump } else { stays == 0 };
        let branch_idle = self.levels[..levels].iter().fold(0, |all, level| all | level) & takes_part;
        let open = frame + 1;
        let jump = match flow.op {
            FcOp::Jump => voted,
            FcOp::Loop | FcOp::Rep => voted || constants.int[usize::from(flow.int)][0] == 0,
            FcOp::EndLoop | FcOp::EndRep => voted && self.counts[frame] > 1,
            FcOp::BreakLoop | FcOp::BreakRep => {
                let continued = self.continued[..open].iter().fold(0, |all, c| all | c) & takes_part;
                voted && branch_idle == 0 && continued == 0
            }
            FcOp::Continue => voted && branch_idle == 0,
        };
        let target = if jump { flow.jump } else { flow.stay };
        if matches!(target, Target::Never | Target::Reference) {
            return target;
        }
        match (flow.op, jump) {
            (FcOp::Jump, _) | (FcOp::Loop | FcOp::Rep | FcOp::Continue, true) => {}
            (FcOp::Loop | FcOp::Rep, false) => {
                let [count, value, step, _] = constants.int[usize::from(flow.int)];
                self.counts[frame] = count;
                if flow.op == FcOp::Loop {
                    (self.loop_variables[frame], self.steps[frame]) = (i32::from(value), step.cast_signed());
                }
                (self.broke[frame], self.continued[frame]) = (0, 0);
            }
            (FcOp::EndLoop | FcOp::EndRep, true) => {
                self.counts[frame] -= 1;
                self.loop_variables[frame] = self.loop_variables[frame].wrapping_add(self.steps[frame].into());
            }
            (op @ (FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep), _) if leaves_loop(op, jump) => {
                self.running |= std::mem::take(&mut self.broke[frame]) | std::mem::take(&mut self.continued[frame]);
            }
            (FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep, _) => {
                self.running &= !jumps;
                self.broke[frame] |= jumps;
            }
            (FcOp::Continue, false) => {
                self.running &= !jumps;
                self.continued[frame] |= jumps;
            }
        }
        match if jump { flow.jump_levels } else { flow.stay_levels } {
            Levels::Keep => {}
            Levels::Pop(count) => {
                for level in &mut self.levels[levels - usize::from(count)..levels] {
                    self.running |= std::mem::take(level);
                }
            }
            Levels::Push => {
                let disagree = if jump { stays } else { jumps } & self.running;
                self.running &= !disagree;
                self.levels[levels] = disagree;
            }
        }
        target
    }
}

impl Sees {
    /// The lanes whose truth table says jump.
    fn wants(&self, flow: &Flow) -> Mask {
        let predicate = match flow.predicate {
            None => Mask::MAX,
            Some((bit, false)) => self.predicates[usize::from(bit)],
            Some((bit, true)) => !self.predicates[usize::from(bit)],
        };
        let of = |bit: u8, lanes: Mask| if flow.wants >> bit & 1 == 1 { lanes } else { 0 };
        of(0, !self.result & !predicate)
            | of(1, !self.result & predicate)
            | of(2, self.result & !predicate)
            | of(3, self.result & predicate)
    }
}
