//! Waits and NOPs between instructions, derived from the rest of the program.
//!
//! Four kinds of bits are worked out here unless the source sets them: `NOP` (CTM §3.3.2), `ALU_WAIT` (§3.2.1),
//! `TEX_SEM_ACQUIRE` and `TEX_SEM_WAIT` (§3.4.2, §3.7). [`derive`] never reads these bits, only everything else. So the
//! assembler and the disassembler get the same answer for the same program, and a listing names a bit only where the
//! words differ from the answer.
//!
//! The answer is conservative where paths join: a hazard outstanding on one of them is outstanding.

use crate::x1k::access::{Channels, TemporaryAccess, predicate_bits, reads, writes};
use crate::x1k::check::hazards::{presubtract_reads, quad_reads};
use crate::x1k::inst::{AluInst, FcInstruction, Inst, TexInstruction};
use crate::x1k::ops::{AOp, FcOp, InstType, PredSel, TexOp};
use crate::x1k::program::{jump_depends_on_alu_result, jump_depends_on_predicate};

/// The bits of one instruction; for each set one the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    pub wait: Option<&'static str>,
    pub acquire: Option<&'static str>,
    pub alu_wait: Option<&'static str>,
    pub nop: Option<&'static str>,
}

/// The hazards of an instruction.
#[derive(Clone, Default)]
struct Effects {
    is_fc: bool,
    is_alu: bool,
    /// Can hold the semaphore.
    is_tex: bool,
    is_lookup: bool,
    reads: Channels,
    /// Written by the ALU, or by a lookup.
    writes: Channels,
    /// Reads of presubtracts and quad operations.
    early_reads: Channels,
    /// A write to, or a read of, memory that uncached writes go to.
    uncached_write: bool,
    uncached_read: bool,
    reads_predicate: bool,
    writes_predicate: bool,
    reads_result: bool,
    writes_result: bool,
    ends_early: bool,
}

fn channels(accesses: Vec<TemporaryAccess>) -> Channels {
    let mut set = Channels::default();
    accesses.into_iter().for_each(|access| set.add(access));
    set
}

fn effects(inst: &Inst, uncached: bool) -> Effects {
    let common = Effects { reads: channels(reads(inst)), writes: channels(writes(inst)), ..Effects::default() };
    match inst {
        Inst::Alu(alu) => alu_effects(common, alu, uncached),
        Inst::Tex(tex) => tex_effects(common, tex, predicate_bits(inst) != 0),
        Inst::Fc(fc) => fc_effects(fc),
    }
}

fn alu_effects(common: Effects, alu: &AluInst, uncached: bool) -> Effects {
    let c = &alu.cmn;
    let omask = c.rgb_omask != 0 || c.alpha_omask;
    // The Guide compares registers (CTM §3.3.2).
    let mut early_reads =
        channels(presubtract_reads(alu).into_iter().map(|read| TemporaryAccess { mask: 15, ..read }).collect());
    early_reads.join(&channels(quad_reads(alu)));
    Effects {
        is_alu: true,
        early_reads,
        ends_early: c.last,
        writes_predicate: c.kind == InstType::Alu && omask,
        writes_result: alu.rgb.alu_wmask,
        uncached_write: uncached && c.kind == InstType::Output && omask,
        ..common
    }
}

fn tex_effects(common: Effects, tex: &TexInstruction, reads_predicate: bool) -> Effects {
    let op = tex.inst.op;
    Effects {
        is_tex: true,
        is_lookup: op.is_lookup(),
        uncached_read: op == TexOp::LookupUncached,
        reads_predicate: reads_predicate && op != TexOp::Nop,
        ..common
    }
}

fn fc_effects(fc: &FcInstruction) -> Effects {
    let func = fc.inst.jump_func;
    Effects {
        is_fc: true,
        reads_predicate: fc.cmn.rgb_pred_sel != PredSel::None && jump_depends_on_predicate(func),
        reads_result: jump_depends_on_alu_result(func),
        ..Effects::default()
    }
}

/// Where control can go from `at`.
fn successors(at: usize, insts: &[Option<Inst>], last: usize, returns: &[usize]) -> Vec<usize> {
    if at == last {
        return Vec::new();
    }
    let mut next = vec![at + 1];
    if let Some(Inst::Fc(fc)) = &insts[at] {
        let i = &fc.inst;
        let plain = i.op == FcOp::Jump;
        let always = plain && i.jump_func == 0xff && !i.jump_any;
        let never = plain && i.jump_func == 0 && i.jump_any && !i.b_else;
        if always {
            next.clear();
        }
        if i.a_op == AOp::Pop {
            next.extend_from_slice(returns);
        } else if !never {
            next.push(usize::from(fc.addr.jump_addr));
        }
    }
    next.retain(|&n| n < insts.len());
    next.dedup();
    next
}

/// Works out the bits of every instruction. `None` means words that cannot be decoded: they need nothing.
pub(super) fn derive(insts: &[Option<Inst>], last: usize, uncached: bool) -> Vec<Bits> {
    let mut bits = vec![Bits::default(); insts.len()];
    let effects: Vec<Effects> =
        insts.iter().map(|inst| inst.as_ref().map_or_else(Effects::default, |inst| effects(inst, uncached))).collect();
    let pushes = |inst: &Option<Inst>| matches!(inst, Some(Inst::Fc(fc)) if fc.inst.a_op == AOp::Push);
    let returns: Vec<usize> = (0..insts.len()).filter(|&i| pushes(&insts[i])).map(|i| i + 1).collect();
    let flow: Vec<Vec<usize>> = (0..insts.len()).map(|at| successors(at, insts, last, &returns)).collect();
    nops(&effects, &mut bits);
    alu_waits(&effects, &flow, &mut bits);
    acquires(&effects, &flow, last, &mut bits);
    semaphore_waits(&effects, &flow, last, &mut bits);
    bits
}

/// CTM §3.3.2: an ALU or OUTPUT instruction whose result the next one presubtracts (or reads as a quad operation).
fn nops(effects: &[Effects], bits: &mut [Bits]) {
    for (at, pair) in effects.windows(2).enumerate() {
        if pair[0].is_alu && pair[1].is_alu && pair[0].writes.meets(&pair[1].early_reads) {
            bits[at].nop = Some("the next instruction presubtracts what this one writes (CTM §3.3.2)");
        }
    }
}

/// Hazards that can be outstanding at an instruction.
trait HazardState: Clone + Default {
    /// Joins the state of another path; returns whether it changed.
    fn join(&mut self, other: &Self) -> bool;
}

/// Forward data-flow analysis: applies `transfer` to the joined states up to a fixed point.
fn solve<S: HazardState>(flow: &[Vec<usize>], transfer: impl Fn(usize, &mut S)) -> Vec<S> {
    let mut incoming = vec![S::default(); flow.len()];
    let mut open: Vec<usize> = (0..flow.len()).rev().collect();
    while let Some(at) = open.pop() {
        let mut out = incoming[at].clone();
        transfer(at, &mut out);
        for &next in &flow[at] {
            if incoming[next].join(&out) && open.last() != Some(&next) {
                open.push(next);
            }
        }
    }
    incoming
}

/// Adds one flag to another; says whether it was new.
fn raise(mine: &mut bool, theirs: bool) -> bool {
    let grew = theirs && !*mine;
    *mine |= theirs;
    grew
}

/// ALU results without a wait.
#[derive(Clone, Default)]
struct Pending {
    temps: Channels,
    predicate: bool,
    result: bool,
}

impl HazardState for Pending {
    fn join(&mut self, other: &Self) -> bool {
        let temps = self.temps.join(&other.temps);
        let predicate = raise(&mut self.predicate, other.predicate);
        raise(&mut self.result, other.result) || temps || predicate
    }
}

/// CTM §3.2.1: TEX and FC instructions that depend on an ALU result wait for the ALU.
fn alu_waits(effects: &[Effects], flow: &[Vec<usize>], bits: &mut [Bits]) {
    loop {
        let incoming = solve(flow, |at, pending: &mut Pending| {
            let e = &effects[at];
            if e.is_alu {
                pending.temps.join(&e.writes);
                pending.predicate |= e.writes_predicate;
                pending.result |= e.writes_result;
            } else if bits[at].alu_wait.is_some() {
                *pending = Pending::default();
            }
        });
        let mut changed = false;
        for (at, e) in effects.iter().enumerate() {
            let pending = &incoming[at];
            let depends = e.reads.meets(&pending.temps)
                || e.reads_predicate && pending.predicate
                || e.reads_result && pending.result;
            if !e.is_alu && depends && bits[at].alu_wait.is_none() {
                bits[at].alu_wait = Some("it depends on an ALU instruction before it (CTM §3.2.1)");
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// CTM §3.4.2: the last lookup before the first use of any of its block's results acquires the semaphore; so does the last
/// uncached write before an uncached read. A block ends where flow control begins or arrives.
fn acquires(effects: &[Effects], flow: &[Vec<usize>], last: usize, bits: &mut [Bits]) {
    let mut begins = vec![false; effects.len()];
    for (at, next) in flow.iter().enumerate() {
        if effects[at].is_fc || next.iter().any(|&n| n != at + 1) {
            next.iter().for_each(|&n| begins[n] = true);
            if let Some(after) = begins.get_mut(at + 1) {
                *after = true;
            }
        }
    }
    let any_uncached_read = effects.iter().any(|e| e.uncached_read);
    let (mut pending, mut lookup) = (Channels::default(), None);
    let mut write: Option<usize> = None;
    for (at, e) in effects.iter().enumerate() {
        let uses = e.reads.meets(&pending) || e.writes.meets(&pending);
        if uses || begins[at] {
            take_lookup(&mut lookup, &mut pending, bits);
        }
        if e.uncached_read || begins[at] {
            take_write(&mut write, last, bits);
        }
        if e.is_lookup {
            lookup = Some(at);
            pending.join(&e.writes);
        }
        if e.uncached_write && any_uncached_read {
            write = Some(at);
        }
    }
    take_lookup(&mut lookup, &mut pending, bits);
    take_write(&mut write, last, bits);
}

fn take_lookup(lookup: &mut Option<usize>, pending: &mut Channels, bits: &mut [Bits]) {
    if let Some(at) = lookup.take() {
        bits[at].acquire = Some("it is the last lookup before its block's results are used (CTM §3.4.2)");
    }
    pending.clear();
}

fn take_write(write: &mut Option<usize>, last: usize, bits: &mut [Bits]) {
    // A program may not end while it holds the semaphore.
    if let Some(at) = write.take()
        && at != last
    {
        bits[at].acquire = Some("it is the last uncached write before an uncached read (CTM §3.4.2)");
    }
}

/// Lookups, uncached writes and the semaphore, without a wait.
#[derive(Clone, Default)]
struct OutstandingLookups {
    /// Temporaries of lookups that no acquire covers yet: a wait does not concern them.
    fetching: Channels,
    /// Temporaries of lookups that an acquire covers.
    guarded: Channels,
    /// Uncached writes that an acquire covers.
    memory: bool,
    semaphore: bool,
}

impl HazardState for OutstandingLookups {
    fn join(&mut self, other: &Self) -> bool {
        let fetching = self.fetching.join(&other.fetching);
        let guarded = self.guarded.join(&other.guarded);
        let memory = raise(&mut self.memory, other.memory);
        raise(&mut self.semaphore, other.semaphore) || fetching || guarded || memory
    }
}

fn held(effects: &[Effects], flow: &[Vec<usize>], bits: &[Bits]) -> Vec<OutstandingLookups> {
    solve(flow, |at, held: &mut OutstandingLookups| {
        let e = &effects[at];
        // Of an instruction that waits and acquires, the wait comes first.
        if bits[at].wait.is_some() {
            *held = OutstandingLookups { fetching: held.fetching, ..OutstandingLookups::default() };
        }
        if e.is_lookup {
            held.fetching.join(&e.writes);
        }
        let acquires = bits[at].acquire.is_some();
        if acquires && e.is_tex {
            held.guarded.join(&held.fetching);
            held.fetching.clear();
        }
        held.memory |= acquires && e.uncached_write;
        // The source may let any texture instruction acquire.
        held.semaphore |= acquires || e.is_tex;
    })
}

/// CTM §3.4.2 and §3.7: who waits for the texture semaphore.
fn semaphore_waits(effects: &[Effects], flow: &[Vec<usize>], last: usize, bits: &mut [Bits]) {
    for (at, b) in bits.iter_mut().enumerate() {
        if b.acquire.is_some() {
            b.wait = Some("an instruction that acquires the texture semaphore waits for it first (CTM §3.4.2)");
        }
        if at == last {
            b.wait = Some("the last instruction waits for the texture unit (CTM §3.1)");
        }
    }
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); flow.len()];
    for (at, next) in flow.iter().enumerate() {
        next.iter().for_each(|&n| before[n].push(at));
    }
    loop {
        let incoming = held(effects, flow, bits);
        let mut changed = false;
        for (at, e) in effects.iter().enumerate() {
            if bits[at].wait.is_some() {
                continue;
            }
            let needs = |held: &OutstandingLookups| {
                [&held.guarded, &held.fetching].iter().any(|set| e.reads.meets(set) || e.writes.meets(set))
                    || e.uncached_read && held.memory
                    || e.ends_early && held.semaphore
            };
            if !needs(&incoming[at]) {
                continue;
            }
            // §3.7: where it comes from flow control, that waits instead.
            let mut moved = false;
            for &from in &before[at] {
                if effects[from].is_fc && bits[from].wait.is_none() && needs(&incoming[from]) {
                    bits[from].wait = Some(BEFORE_A_WAIT);
                    moved = true;
                }
            }
            if !moved {
                bits[at].wait = Some("it uses what a lookup fetches (CTM §3.4.2)");
            }
            changed = true;
        }
        if !changed {
            break;
        }
    }
    // §3.7, for the waits that stay: flow control before them waits too, where the semaphore can be held at all.
    loop {
        let incoming = held(effects, flow, bits);
        let mut changed = false;
        for (at, next) in flow.iter().enumerate() {
            let waited = next.iter().any(|&n| bits[n].wait.is_some());
            if effects[at].is_fc && bits[at].wait.is_none() && incoming[at].semaphore && waited {
                bits[at].wait = Some(BEFORE_A_WAIT);
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

const BEFORE_A_WAIT: &str = "an instruction that can follow it waits for the texture semaphore (CTM §3.7)";
