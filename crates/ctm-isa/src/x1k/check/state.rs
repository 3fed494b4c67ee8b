//! Possible outstanding hazards at each instruction: a forward data-flow analysis over the [`Graph`].
//!
//! Everything here is "on some path": sets only grow where paths meet, so the analysis ends. Addresses with aL are not
//! followed: a write through aL may have written any temporary, and is not held against anyone.

use super::graph::Graph;
use crate::x1k::Program;
use crate::x1k::access::{Channels, TemporaryAccess, predicate_bits};
use crate::x1k::inst::Inst;
use crate::x1k::ops::{InstType, TexOp, UmrtTarget};
use crate::x1k::program::{Preload, jump_depends_on_alu_result, jump_depends_on_predicate};
use std::collections::VecDeque;

/// The facts on entry to a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Written by an instruction or before the start.
    pub(super) written: Channels,
    /// Destinations of lookups that no ACQUIRE covers yet.
    pub(super) fetching: Channels,
    /// Destinations of lookups that the semaphore guards.
    pub(super) guarded: Channels,
    /// Written by ALU instructions since the last ALU_WAIT.
    pub(super) computing: Channels,
    /// Predicate bits set by ALU instructions since the last ALU_WAIT (bit 0 is R).
    pub(super) computing_predicates: u8,
    flags: u8,
}

impl State {
    const SEMAPHORE: u8 = 1;
    const UNCACHED: u8 = 2;
    const UNCACHED_GUARDED: u8 = 4;
    const RESULT: u8 = 8;
    const NO_RESULT: u8 = 16;
    const COMPUTING_RESULT: u8 = 32;

    /// The texture semaphore may be held.
    pub(super) fn semaphore_held(&self) -> bool {
        self.flags & Self::SEMAPHORE != 0
    }

    /// An uncached write may be outstanding that no ACQUIRE covers.
    pub(super) fn uncached_write(&self) -> bool {
        self.flags & Self::UNCACHED != 0
    }

    /// An uncached write may be outstanding that the semaphore guards.
    pub(super) fn uncached_write_guarded(&self) -> bool {
        self.flags & Self::UNCACHED_GUARDED != 0
    }

    /// The ALU result may be there.
    pub(super) fn has_result(&self) -> bool {
        self.flags & Self::RESULT != 0
    }

    /// The ALU result may be missing.
    pub(super) fn lacks_result(&self) -> bool {
        self.flags & Self::NO_RESULT != 0
    }

    /// The ALU result may have been computed since the last ALU_WAIT.
    pub(super) fn computing_result(&self) -> bool {
        self.flags & Self::COMPUTING_RESULT != 0
    }

    fn set(&mut self, flags: u8) {
        self.flags |= flags;
    }

    fn reset(&mut self, flags: u8) {
        self.flags &= !flags;
    }

    fn join(&mut self, other: &Self) -> bool {
        let mut grew = self.written.join(&other.written);
        grew |= self.fetching.join(&other.fetching);
        grew |= self.guarded.join(&other.guarded);
        grew |= self.computing.join(&other.computing);
        let (predicates, flags) = (self.computing_predicates | other.computing_predicates, self.flags | other.flags);
        grew |= predicates != self.computing_predicates || flags != self.flags;
        self.computing_predicates = predicates;
        self.flags = flags;
        grew
    }

    /// The start of the program: the values loaded by rasteriser words, and no ALU result.
    fn start(program: &Program) -> Self {
        let mut state = Self::default();
        for preload in &program.preloads {
            let (Preload::Position { temp } | Preload::Interpolant { temp, .. }) = *preload;
            state.written.insert(temp & 0x7f, 0xf);
        }
        state.set(Self::NO_RESULT);
        state
    }

    /// The waits that an instruction does before anything else.
    pub(super) fn wait(&mut self, inst: &Inst) {
        if inst.cmn().tex_sem_wait {
            self.guarded.clear();
            self.reset(Self::SEMAPHORE | Self::UNCACHED_GUARDED);
        }
        if inst.cmn().alu_wait && matches!(inst, Inst::Fc(_) | Inst::Tex(_)) {
            self.forget_computing();
        }
    }

    /// Unfinished ALU results that a TEX or FC instruction uses; call [`Self::wait`] before.
    pub(super) fn unfinished(&self, inst: &Inst, reads: &[TemporaryAccess]) -> Unfinished {
        let predicate = self.computing_predicates & predicate_bits(inst) != 0;
        match inst {
            Inst::Alu(_) => Unfinished::default(),
            Inst::Tex(tex) => {
                let pending = |read: &TemporaryAccess| self.computing.of(read.temp) & read.mask;
                let temps = reads.iter().filter(|read| !read.relative && pending(read) != 0);
                Unfinished {
                    temps: temps.map(|read| TemporaryAccess { mask: pending(read), ..*read }).collect(),
                    predicate: predicate && tex.inst.op != TexOp::Nop,
                    result: false,
                }
            }
            Inst::Fc(fc) => Unfinished {
                temps: Vec::new(),
                predicate: predicate && jump_depends_on_predicate(fc.inst.jump_func),
                result: self.computing_result() && jump_depends_on_alu_result(fc.inst.jump_func),
            },
        }
    }

    fn forget_computing(&mut self) {
        self.computing.clear();
        self.computing_predicates = 0;
        self.reset(Self::COMPUTING_RESULT);
    }

    /// The state after an instruction.
    ///
    /// A missing wait is reported where it is first missed; from there on the state is as if it were not missing.
    fn after(&self, inst: &Inst, reads: &[TemporaryAccess], writes: &[TemporaryAccess], uncached: bool) -> Self {
        let mut next = self.clone();
        next.wait(inst);
        if next.unfinished(inst, reads) != Unfinished::default() {
            next.forget_computing();
        }
        for read in reads.iter().filter(|read| !read.relative) {
            if next.guarded.of(read.temp) & read.mask != 0 {
                next.guarded.clear();
            }
            next.fetching.remove(read.temp, read.mask);
        }
        for write in writes {
            if write.relative {
                next.written = Channels::ALL;
                continue;
            }
            next.written.insert(write.temp, write.mask);
            // The last writer is the one to wait for.
            next.fetching.remove(write.temp, write.mask);
            next.guarded.remove(write.temp, write.mask);
            next.computing.remove(write.temp, write.mask);
            match inst {
                Inst::Alu(_) => next.computing.insert(write.temp, write.mask),
                Inst::Tex(_) => next.fetching.insert(write.temp, write.mask),
                Inst::Fc(_) => {}
            }
        }
        match inst {
            Inst::Alu(alu) => {
                let omask = alu.cmn.rgb_omask | u8::from(alu.cmn.alpha_omask) << 3;
                if alu.cmn.kind == InstType::Alu {
                    next.computing_predicates |= omask;
                } else if uncached && omask != 0 {
                    next.set(Self::UNCACHED);
                    if acquires(inst, uncached) {
                        next.reset(Self::UNCACHED);
                        next.set(Self::UNCACHED_GUARDED | Self::SEMAPHORE);
                    }
                }
                if alu.rgb.alu_wmask {
                    next.reset(Self::NO_RESULT);
                    next.set(Self::RESULT | Self::COMPUTING_RESULT);
                }
            }
            Inst::Tex(_) if acquires(inst, uncached) => {
                let fetching = std::mem::take(&mut next.fetching);
                next.guarded.join(&fetching);
                next.set(Self::SEMAPHORE);
            }
            Inst::Tex(_) => {}
            Inst::Fc(_) => {
                next.reset(Self::RESULT);
                next.set(Self::NO_RESULT);
            }
        }
        next
    }
}

/// Operands of an instruction that may not be computed yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unfinished {
    pub(super) temps: Vec<TemporaryAccess>,
    pub(super) predicate: bool,
    pub(super) result: bool,
}

/// Whether an instruction acquires the texture semaphore (CTM §3.4.2, §3.3.8).
pub(super) fn acquires(inst: &Inst, uncached: bool) -> bool {
    match inst {
        Inst::Tex(tex) => tex.inst.tex_sem_acquire,
        // Where nothing is written, nothing is acquired.
        Inst::Alu(alu) if uncached && alu.is_output() && (alu.cmn.rgb_omask != 0 || alu.cmn.alpha_omask) => matches!(
            UmrtTarget::from_code(u32::from(alu.rgb.target)),
            Some(UmrtTarget::SameIdxAcquire | UmrtTarget::PerProcessorIdxAcquire)
        ),
        Inst::Alu(_) | Inst::Fc(_) => false,
    }
}

/// The state on entry to each node, in the order of [`Graph::nodes`].
pub(super) fn solve(
    program: &Program,
    insts: &[Option<Inst>],
    reads: &[Vec<TemporaryAccess>],
    writes: &[Vec<TemporaryAccess>],
    graph: &Graph,
) -> Vec<State> {
    let mut states: Vec<Option<State>> = vec![None; graph.nodes.len()];
    let mut open = VecDeque::new();
    let mut waiting = vec![false; graph.nodes.len()];
    if let Some(first) = states.first_mut() {
        *first = Some(State::start(program));
        open.push_back(0);
    }
    while let Some(index) = open.pop_front() {
        waiting[index] = false;
        let node = &graph.nodes[index];
        let pc = usize::from(node.pc);
        let Some(state) = &states[index] else { continue };
        let after = match &insts[pc] {
            Some(inst) => state.after(inst, &reads[pc], &writes[pc], program.uncached),
            None => state.clone(),
        };
        for &successor in &node.successors {
            let grew = match &mut states[successor] {
                Some(known) => known.join(&after),
                unknown @ None => {
                    *unknown = Some(after.clone());
                    true
                }
            };
            if grew && !waiting[successor] {
                waiting[successor] = true;
                open.push_back(successor);
            }
        }
    }
    states.into_iter().map(Option::unwrap_or_default).collect()
}

/// For each node: whether the next flow-control instruction on some path reads its ALU result.
pub(super) fn result_is_read_after(insts: &[Option<Inst>], graph: &Graph) -> Vec<bool> {
    // `before[n]`: an ALU result present on entry to n is read.
    let mut before = vec![false; graph.nodes.len()];
    let mut after = vec![false; graph.nodes.len()];
    loop {
        let mut grew = false;
        for (index, node) in graph.nodes.iter().enumerate().rev() {
            after[index] = node.successors.iter().any(|&s| before[s]);
            let here = match &insts[usize::from(node.pc)] {
                Some(Inst::Fc(fc)) => jump_depends_on_alu_result(fc.inst.jump_func),
                Some(Inst::Alu(alu)) if alu.rgb.alu_wmask => false,
                Some(Inst::Alu(_) | Inst::Tex(_)) | None => after[index],
            };
            grew |= here != before[index];
            before[index] = here;
        }
        if !grew {
            return after;
        }
    }
}
