//! The control-flow machine (R700 §3.6, §3.7): the state of each pixel, the stack, and the effect of each branch-loop instruction.
//!
//! It knows no registers: an instruction's conditions come in, masks and the next address come out. Where the manual says a thing
//! twice and differently, programs of compilers decided (docs/r700-open-questions.md).

use crate::fault::FaultKind;
use crate::observe::{LaneState, StackFrame};
use ctm_isa::r700::CALL_DEPTH;
use ctm_isa::r700::ops::Cond;
use ctm_isa::r700::program::Chip;

/// Entries that the stack can hold here; programs declare how many they need (`STACK_SIZE`), which is fewer.
pub const STACK_ENTRIES: usize = 4096;

/// The two-bit state of a pixel (R700 §3.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PixelState {
    /// Executes.
    Active,
    /// Inactive by a branch, or invalid from the start.
    #[default]
    InactiveBranch,
    /// Waits for the next iteration of the innermost loop.
    InactiveContinue,
    /// Has left the innermost loop, or did not enter it.
    InactiveBreak,
}

impl PixelState {
    /// Whether a loop made it inactive: popping the stack inside that loop does not wake it.
    const fn of_loop(self) -> bool {
        matches!(self, Self::InactiveContinue | Self::InactiveBreak)
    }
}

/// The parameters of a counted loop (R700 §3.7.3): one of the 32 loop constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopConstant {
    /// Trip count, 0..=4095.
    pub count: u16,
    /// First value of the loop index, 0..=4095.
    pub start: u16,
    /// The step of the loop index.
    pub step: i8,
}

/// A place in one of the two programs of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramPoint {
    /// Whether it lies in the fetch program (`CALL_FS`).
    pub fetch: bool,
    /// The slot.
    pub slot: u32,
}

impl ProgramPoint {
    /// Another slot of the same program.
    #[must_use]
    pub const fn at(self, slot: u32) -> Self {
        Self { slot, ..self }
    }

    /// The next slot.
    #[must_use]
    pub const fn next(self) -> Self {
        self.at(self.slot.wrapping_add(1))
    }
}

/// One entry of the stack.
#[derive(Clone, Debug)]
enum StackEntry {
    /// A pushed pixel state.
    Push(Vec<PixelState>),
    /// A loop.
    Loop {
        /// The pixel state before it.
        saved: Vec<PixelState>,
        /// Iterations that are left, this one included; `None`: as many as it takes (DX10).
        left: Option<u16>,
        /// The loop index; `None` for loops that have none.
        index: Option<i32>,
        /// Its step.
        step: i32,
    },
    /// A subroutine.
    Call {
        /// Where it returns to.
        back: ProgramPoint,
        /// The nesting depth before it.
        depth: u32,
    },
}

impl StackEntry {
    const fn name(&self) -> &'static str {
        match self {
            Self::Push(_) => "pixel state",
            Self::Loop { .. } => "loop",
            Self::Call { .. } => "call",
        }
    }
}

/// The pixel set of an instruction (R700 §3.6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelSet {
    /// `COND`.
    pub cond: Cond,
    /// The boolean constant that `CF_CONST` names.
    pub boolean: bool,
    /// `WHOLE_QUAD_MODE`.
    pub whole_quad: bool,
    /// `VALID_PIXEL_MODE`.
    pub valid_pixel: bool,
}

impl PixelSet {
    /// `COND` = ACTIVE and neither mode.
    pub const ACTIVE: Self = Self { cond: Cond::Active, boolean: false, whole_quad: false, valid_pixel: false };
}

/// The kind of loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// `LOOP_START`: counted, with loop index.
    Counted(LoopConstant),
    /// `LOOP_START_NO_AL`: counted; the loop index stays unchanged.
    Repeat(LoopConstant),
    /// `LOOP_START_DX10`: until every pixel has left it.
    Dx10,
}

/// The machine of one wavefront.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The state of each pixel; lanes of a quad are neighbours.
    pub state: Vec<PixelState>,
    /// The valid mask.
    pub valid: Vec<bool>,
    stack: Vec<StackEntry>,
    depth: u32,
}

type FlowStep<T> = Result<T, FaultKind>;

impl Flow {
    /// A wavefront whose pixels are valid and active, or invalid and inactive.
    pub fn reset(&mut self, valid: &[bool]) {
        self.valid.clear();
        self.valid.extend_from_slice(valid);
        self.state.clear();
        let state = |&v: &bool| if v { PixelState::Active } else { PixelState::InactiveBranch };
        self.state.extend(valid.iter().map(state));
        self.stack.clear();
        self.depth = 0;
    }

    /// Entries on the stack.
    #[must_use]
    pub fn stack_depth(&self) -> usize {
        self.stack.len()
    }

    /// The loop index aL of the innermost loop that has one; 0 outside such loops, where it is not defined.
    #[must_use]
    pub fn loop_index(&self) -> i32 {
        self.defined_loop_index().unwrap_or(0)
    }

    /// The loop index aL, where it is defined.
    #[must_use]
    pub fn defined_loop_index(&self) -> Option<i32> {
        let index = |entry: &StackEntry| if let StackEntry::Loop { index, .. } = entry { *index } else { None };
        self.stack.iter().rev().find_map(index)
    }

    /// Stack entries of a chip that are in use (R700 tables 3.5 and 3.6); pushes in whole-quad mode are counted as others are.
    #[must_use]
    pub fn entries_used(&self, chip: Chip) -> usize {
        let subentries = |entry: &StackEntry| match entry {
            StackEntry::Push(_) => 1,
            StackEntry::Loop { .. } => chip.subentries_per_entry() as usize,
            StackEntry::Call { .. } => chip.call_subentries() as usize,
        };
        self.stack.iter().map(subentries).sum::<usize>().div_ceil(chip.subentries_per_entry() as usize)
    }

    /// Why a pixel executes or does not; a loop is named by its depth on the stack.
    #[must_use]
    pub fn lane_state(&self, lane: usize) -> LaneState {
        let depth = self.stack.iter().rposition(|entry| matches!(entry, StackEntry::Loop { .. })).unwrap_or(0);
        let depth = u16::try_from(depth).unwrap_or(u16::MAX);
        match self.state[lane] {
            PixelState::Active => LaneState::Running,
            PixelState::InactiveBranch => LaneState::Branch(0),
            PixelState::InactiveContinue => LaneState::Continue(depth),
            PixelState::InactiveBreak => LaneState::Break(depth),
        }
    }

    /// The stack, outermost first.
    #[must_use]
    pub fn frames(&self) -> Vec<StackFrame> {
        let frame = |entry: &StackEntry| match entry {
            StackEntry::Push(_) => StackFrame::State,
            StackEntry::Loop { left, index, .. } => StackFrame::Loop { left: left.map(u32::from), index: *index },
            StackEntry::Call { back, .. } => StackFrame::Call(back.slot),
        };
        self.stack.iter().map(frame).collect()
    }

    fn is_active(&self, lane: usize) -> bool {
        self.state[lane] == PixelState::Active
    }

    /// Table 3.4, with `active` as the pixels' active bits.
    fn test_of(&self, test: PixelSet, active: impl Fn(usize) -> bool) -> Vec<bool> {
        let allowed = match test.cond {
            Cond::Active => true,
            Cond::False => false,
            Cond::Bool => test.boolean,
            Cond::NotBool => !test.boolean,
        };
        let passes = |lane: usize| {
            if !allowed {
                false
            } else if test.whole_quad {
                let quad = lane & !3;
                (quad..(quad + 4).min(self.state.len())).any(&active)
            } else {
                active(lane) && (!test.valid_pixel || self.valid[lane])
            }
        };
        (0..self.state.len()).map(passes).collect()
    }

    /// Which pixels pass the condition test (R700 §3.6.4): they execute the instruction or clause.
    #[must_use]
    pub fn test(&self, test: PixelSet) -> Vec<bool> {
        self.test_of(test, |lane| self.is_active(lane))
    }

    /// Which pixels a fetch is executed for: those that pass the test, and with FETCH_WHOLE_QUAD the invalid ones of their quads too
    /// (R700 §6.3).
    #[must_use]
    pub fn fetched(&self, passes: &[bool], whole_quad: bool) -> Vec<bool> {
        let in_quad = |lane: usize| {
            let quad = lane & !3;
            passes.iter().skip(quad).take(4).any(|&p| p)
        };
        let fetched = |(lane, &passes): (usize, &bool)| passes || (whole_quad && !self.valid[lane] && in_quad(lane));
        passes.iter().enumerate().map(fetched).collect()
    }

    fn push(&mut self, entry: StackEntry) -> FlowStep<()> {
        if self.stack.len() >= STACK_ENTRIES {
            return Err(FaultKind::StackOverflow { stack: "program", depth: STACK_ENTRIES });
        }
        self.stack.push(entry);
        Ok(())
    }

    /// Pops `count` pushed states and restores the last of them. Pixels that a loop made inactive stay so: the loop gives them back. In valid
    /// pixel mode the invalid ones of the restored pixels become inactive (R700 §3.6.2).
    fn pop_states(&mut self, count: u8, valid_pixel: bool) -> FlowStep<()> {
        let mut last = None;
        for _ in 0..count {
            match self.stack.pop() {
                Some(StackEntry::Push(saved)) => last = Some(saved),
                other => return Err(mismatch("pixel state", other.as_ref())),
            }
        }
        for (state, saved) in self.state.iter_mut().zip(last.into_iter().flatten()) {
            if !state.of_loop() {
                *state = saved;
            }
        }
        if valid_pixel && count > 0 {
            self.deactivate_invalid();
        }
        Ok(())
    }

    /// Active pixels that are not valid become inactive-branch.
    fn deactivate_invalid(&mut self) {
        for (state, &valid) in self.state.iter_mut().zip(&self.valid) {
            if *state == PixelState::Active && !valid {
                *state = PixelState::InactiveBranch;
            }
        }
    }

    /// Pixels that pass become active, active ones that fail inactive-branch. Whole-quad mode may wake pixels (R700 §3.6.2), but none that
    /// a loop holds.
    fn narrow(&mut self, pass: &[bool]) {
        for (state, &pass) in self.state.iter_mut().zip(pass) {
            if !state.of_loop() {
                *state = if pass { PixelState::Active } else { PixelState::InactiveBranch };
            }
        }
    }

    /// `PUSH`: pushes the state and goes on with the pixels that pass; when none does, pops `pop_count` entries and jumps.
    ///
    /// # Errors
    /// A full stack, or nothing to pop.
    pub fn push_state(&mut self, test: PixelSet, pop_count: u8) -> FlowStep<bool> {
        let pass = self.test(test);
        if !pass.contains(&true) {
            self.pop_states(pop_count, test.valid_pixel)?;
            return Ok(true);
        }
        self.push(StackEntry::Push(self.state.clone()))?;
        self.narrow(&pass);
        Ok(false)
    }

    /// `PUSH_ELSE`: always pushes the state, then goes on with the active pixels that do *not* pass; jumps when there is none. In valid
    /// pixel mode invalid pixels count as inactive, so they do not go on (R700 §3.6.2).
    ///
    /// # Errors
    /// A full stack.
    pub fn push_else(&mut self, test: PixelSet) -> FlowStep<bool> {
        let pass = self.test(test);
        self.push(StackEntry::Push(self.state.clone()))?;
        for (state, &pass) in self.state.iter_mut().zip(&pass) {
            if *state == PixelState::Active && pass {
                *state = PixelState::InactiveBranch;
            }
        }
        if test.valid_pixel {
            self.deactivate_invalid();
        }
        Ok(!self.state.contains(&PixelState::Active))
    }

    /// `ALU_PUSH_BEFORE`, before its clause.
    ///
    /// # Errors
    /// A full stack.
    pub fn push_before_clause(&mut self) -> FlowStep<()> {
        self.push(StackEntry::Push(self.state.clone()))
    }

    /// `POP`: pops `pop_count` entries, then pixels that fail the test on the new state become inactive. It never jumps.
    ///
    /// # Errors
    /// Nothing to pop.
    pub fn pop(&mut self, test: PixelSet, pop_count: u8) -> FlowStep<()> {
        self.pop_states(pop_count, test.valid_pixel)?;
        let pass = self.test(test);
        self.narrow(&pass);
        Ok(())
    }

    /// `ALU_POP_AFTER` and `ALU_POP2_AFTER`, after their clause.
    ///
    /// # Errors
    /// Nothing to pop.
    pub fn pop_after_clause(&mut self, count: u8) -> FlowStep<()> {
        self.pop_states(count, false)
    }

    /// The first step of `POP_JUMP`, `POP_PUSH` and `POP_PUSH_ELSE`.
    ///
    /// # Errors
    /// Nothing to pop.
    pub fn pop_first(&mut self, test: PixelSet, count: u8) -> FlowStep<()> {
        self.pop_states(count, test.valid_pixel)
    }

    /// `JUMP`: when no pixel passes, pops `pop_count` entries and jumps.
    ///
    /// # Errors
    /// Nothing to pop.
    pub fn jump(&mut self, test: PixelSet, pop_count: u8) -> FlowStep<bool> {
        let jumps = !self.test(test).contains(&true);
        if jumps {
            self.pop_states(pop_count, test.valid_pixel)?;
        }
        Ok(jumps)
    }

    /// `ELSE`: exchanges pixels; when none is active then, pops `pop_count` entries and jumps.
    ///
    /// # Errors
    /// The top of the stack is no pushed state.
    pub fn else_(&mut self, test: PixelSet, pop_count: u8) -> FlowStep<bool> {
        self.exchange(test)?;
        let jumps = !self.state.contains(&PixelState::Active);
        if jumps {
            self.pop_states(pop_count, test.valid_pixel)?;
        }
        Ok(jumps)
    }

    /// `ALU_ELSE_AFTER` after its clause, and the first step of `ELSE`: of the pixels that were active at the last push and pass the test,
    /// active and inactive-branch ones change places. In valid pixel mode invalid pixels count as inactive, so none of them is active
    /// afterwards (R700 §3.6.2). The stack stays as it is.
    ///
    /// # Errors
    /// The top of the stack is no pushed state.
    pub fn exchange(&mut self, test: PixelSet) -> FlowStep<()> {
        let saved = match self.stack.last() {
            Some(StackEntry::Push(saved)) => saved,
            other => return Err(mismatch("pixel state", other)),
        };
        let pass = self.test_of(test, |lane| saved[lane] == PixelState::Active);
        for (state, &pass) in self.state.iter_mut().zip(&pass) {
            match *state {
                PixelState::Active if pass => *state = PixelState::InactiveBranch,
                PixelState::InactiveBranch if pass => *state = PixelState::Active,
                PixelState::Active
                | PixelState::InactiveBranch
                | PixelState::InactiveContinue
                | PixelState::InactiveBreak => {}
            }
        }
        if test.valid_pixel {
            self.deactivate_invalid();
        }
        Ok(())
    }

    /// `LOOP_START`, `LOOP_START_DX10`, `LOOP_START_NO_AL`: pushes state and loop; pixels that fail become inactive-break. When none
    /// enters, or the count is zero, pops `pop_count` entries and jumps.
    ///
    /// # Errors
    /// A full stack, or nothing to pop.
    pub fn loop_start(&mut self, kind: LoopKind, test: PixelSet, pop_count: u8) -> FlowStep<bool> {
        let (left, index, step) = match kind {
            LoopKind::Counted(c) => (Some(c.count), Some(i32::from(c.start)), i32::from(c.step)),
            LoopKind::Repeat(c) => (Some(c.count), None, 0),
            LoopKind::Dx10 => (None, None, 0),
        };
        let pass = self.test(test);
        if left == Some(0) || !pass.contains(&true) {
            self.pop_states(pop_count, test.valid_pixel)?;
            return Ok(true);
        }
        self.push(StackEntry::Loop { saved: self.state.clone(), left, index, step })?;
        for (state, &pass) in self.state.iter_mut().zip(&pass) {
            *state = if pass { PixelState::Active } else { PixelState::InactiveBreak };
        }
        Ok(false)
    }

    /// `LOOP_END`: pixels that have not left the loop become active; jumps back when there is one that passes and an iteration is left,
    /// otherwise pops the loop and the state before it.
    ///
    /// # Errors
    /// The top of the stack is no loop.
    pub fn loop_end(&mut self, test: PixelSet) -> FlowStep<bool> {
        if !matches!(self.stack.last(), Some(StackEntry::Loop { .. })) {
            return Err(mismatch("loop", self.stack.last()));
        }
        // Whole-quad mode would give pixels back that have left the loop; it has no meaning here.
        let test = PixelSet { whole_quad: false, ..test };
        let stays = |lane: usize| self.state[lane] != PixelState::InactiveBreak;
        let pass = self.test_of(test, stays);
        let goes_on = match self.stack.last_mut() {
            Some(StackEntry::Loop { left: Some(left), index, step, .. }) => {
                *left = left.saturating_sub(1);
                *index = index.map(|index| thirteen_bits(index + *step));
                *left > 0
            }
            _ => true,
        };
        if goes_on && pass.contains(&true) {
            for (state, &pass) in self.state.iter_mut().zip(&pass) {
                *state = if pass { PixelState::Active } else { PixelState::InactiveBreak };
            }
            return Ok(true);
        }
        if let Some(StackEntry::Loop { saved, .. }) = self.stack.pop() {
            self.state = saved;
            if test.valid_pixel {
                self.deactivate_invalid();
            }
        }
        Ok(false)
    }

    /// `LOOP_BREAK` and `LOOP_CONTINUE`: pixels that pass leave the loop, or wait for its next iteration. When no pixel is left in the
    /// iteration, pops the stack to the loop and jumps.
    ///
    /// # Errors
    /// There is no loop.
    pub fn loop_leave(&mut self, test: PixelSet, to: PixelState) -> FlowStep<bool> {
        let pass = self.test(test);
        self.leave(&pass, to)?;
        let jumps = self.state.iter().all(|state| state.of_loop());
        if jumps {
            while matches!(self.stack.last(), Some(StackEntry::Push(_))) {
                self.stack.pop();
            }
        }
        Ok(jumps)
    }

    /// `ALU_BREAK` and `ALU_CONTINUE`, after their clause, on the pixels whose predicate is skip.
    ///
    /// # Errors
    /// There is no loop.
    pub fn leave(&mut self, pass: &[bool], to: PixelState) -> FlowStep<()> {
        let innermost = self.stack.iter().rev().find(|entry| !matches!(entry, StackEntry::Push(_)));
        if !matches!(innermost, Some(StackEntry::Loop { .. })) {
            return Err(mismatch("loop", innermost));
        }
        for (state, &pass) in self.state.iter_mut().zip(pass) {
            if pass && !state.of_loop() {
                *state = to;
            }
        }
        Ok(())
    }

    /// `CALL`, `CALL_FS`: enters the subroutine when a pixel passes and the nesting depth allows it.
    ///
    /// # Errors
    /// A full stack.
    pub fn call(&mut self, test: PixelSet, call_count: u8, back: ProgramPoint) -> FlowStep<bool> {
        // The field is interpreted in the range 0..=31 (R700 §10.1).
        let depth = self.depth + u32::from(call_count & 31);
        if !self.test(test).contains(&true) || depth as usize > CALL_DEPTH {
            return Ok(false);
        }
        self.push(StackEntry::Call { back, depth: self.depth })?;
        self.depth = depth;
        Ok(true)
    }

    /// `RETURN`: pops `pop_count` states and the call, and gives the address to go on at. It computes no condition test (R700 table 3.7);
    /// after the pop, valid pixel mode makes invalid pixels inactive (R700 §3.6.2).
    ///
    /// # Errors
    /// The top of the stack is no call.
    pub fn return_(&mut self, valid_pixel: bool, pop_count: u8) -> FlowStep<ProgramPoint> {
        self.pop_states(pop_count, false)?;
        let back = match self.stack.pop() {
            Some(StackEntry::Call { back, depth }) => {
                self.depth = depth;
                back
            }
            other => return Err(mismatch("call", other.as_ref())),
        };
        if valid_pixel {
            self.deactivate_invalid();
        }
        Ok(back)
    }

    /// `KILL`: pixels that pass become invalid and keep their state; jumps when no valid pixel is left.
    #[must_use]
    pub fn kill(&mut self, test: PixelSet) -> bool {
        let pass = self.test(test);
        for (valid, pass) in self.valid.iter_mut().zip(pass) {
            *valid &= !pass;
        }
        !self.valid.contains(&true)
    }

    /// The end of an ALU clause: each pixel that computed a predicate with UPDATE_EXECUTE_MASK takes it as its active state. Pixels that
    /// a loop holds keep their state.
    pub fn take_predicates(&mut self, predicates: &[Option<bool>]) {
        for (state, predicate) in self.state.iter_mut().zip(predicates) {
            if let (Some(execute), false) = (predicate, state.of_loop()) {
                *state = if *execute { PixelState::Active } else { PixelState::InactiveBranch };
            }
        }
    }
}

/// The loop index is a register of 13 bits (R700 table 2.5), taken as two's complement.
const fn thirteen_bits(index: i32) -> i32 {
    index << 19 >> 19
}

fn mismatch(wanted: &'static str, found: Option<&StackEntry>) -> FaultKind {
    match found {
        None => FaultKind::StackUnderflow { stack: "program" },
        Some(entry) => FaultKind::StackMismatch { wanted, found: entry.name() },
    }
}
