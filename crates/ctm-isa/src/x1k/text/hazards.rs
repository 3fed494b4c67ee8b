//! What the machine needs between instructions, worked out from the rest of the program.
//!
//! Four kinds of bits are worked out here unless the source sets them: `NOP` (CTM §3.3.2), `ALU_WAIT` (§3.2.1),
//! `TEX_SEM_ACQUIRE` and `TEX_SEM_WAIT` (§3.4.2, §3.7). [`derive`] never reads these bits, only everything else. So the
//! assembler and the disassembler get the same answer for the same program, and a listing names a bit only where the
//! words differ from the answer.
//!
//! The answer is conservative where paths meet: what is outstanding on one of them counts as outstanding.

use crate::x1k::inst::{AluInst, FcInstruction, Inst, Source, TexInstruction};
use crate::x1k::ops::{AOp, FcOp, InstType, PredSel, Sel, SrcpOp, Swizzle, TexOp};
use crate::x1k::program::{jump_depends_on_alu_result, jump_depends_on_predicate};

/// The bits of one instruction; for each set one the reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    pub wait: Option<&'static str>,
    pub acquire: Option<&'static str>,
    pub alu_wait: Option<&'static str>,
    pub nop: Option<&'static str>,
}

/// Sets of temporaries, and above them what else can be outstanding.
type Set = u128;

/// What an instruction does, as far as hazards go.
#[derive(Clone, Copy, Default)]
struct Effects {
    is_fc: bool,
    is_alu: bool,
    /// Temporaries that are read.
    reads: Set,
    /// Temporaries that are written: by the ALU, or by a lookup.
    writes: Set,
    /// Temporaries in presubtracts and quad operations.
    early_reads: Set,
    is_lookup: bool,
    /// A write to, or a read of, memory that uncached writes go to.
    uncached_write: bool,
    uncached_read: bool,
    reads_predicate: bool,
    writes_predicate: bool,
    reads_result: bool,
    writes_result: bool,
    ends_early: bool,
    /// Can hold the semaphore.
    is_tex: bool,
}

fn temp(index: u8, relative: bool) -> Set {
    // aL is 0 or more: any temporary from the base on.
    if relative { Set::MAX << index } else { 1 << index }
}

fn source(source: Source) -> Set {
    match source {
        Source::Temp { index, relative } => temp(index, relative),
        Source::Const { .. } | Source::Inline { .. } => 0,
    }
}

fn alu_effects(alu: &AluInst, uncached: bool) -> Effects {
    let c = &alu.cmn;
    let mut effects = Effects { is_alu: true, ends_early: c.last, ..Effects::default() };
    effects.reads = alu.live_sources().into_iter().fold(0, |all, s| all | source(s));
    if c.rgb_wmask != 0 {
        effects.writes |= temp(alu.rgba.addrd, alu.rgba.addrd_rel);
    }
    if c.alpha_wmask {
        effects.writes |= temp(alu.alpha.addrd, alu.alpha.addrd_rel);
    }
    effects.reads_predicate = c.rgb_pred_sel != PredSel::None || c.alpha_pred_sel != PredSel::None;
    let omask = c.rgb_omask != 0 || c.alpha_omask;
    effects.writes_predicate = c.kind == InstType::Alu && omask;
    effects.uncached_write = uncached && c.kind == InstType::Output && omask;
    effects.writes_result = alu.rgb.alu_wmask;
    effects.early_reads = early_reads(alu);
    effects
}

/// The temporaries that presubtracts and quad operations read, where their result is used.
fn early_reads(alu: &AluInst) -> Set {
    let (mut rgb, mut alpha) = (alu.rgba.op.is_quad(), alu.alpha.op.is_quad());
    let mut early = 0;
    if rgb {
        early |= source(alu.rgb_sources()[0]);
    }
    if alpha {
        early |= source(alu.alpha_sources()[0]);
    }
    (rgb, alpha) = (false, false);
    let mut used = |sel: Sel, swizzle: Swizzle| {
        if sel == Sel::Srcp {
            rgb |= matches!(swizzle, Swizzle::R | Swizzle::G | Swizzle::B);
            alpha |= swizzle == Swizzle::A;
        }
    };
    for (operand, read) in alu.rgb_operands().iter().zip(alu.rgb_reads()) {
        if read {
            operand.swizzle.iter().for_each(|&s| used(operand.sel, s));
        }
    }
    for (operand, read) in alu.alpha_operands().iter().zip(alu.alpha_reads()) {
        if read {
            used(operand.sel, operand.swizzle);
        }
    }
    for (used, op, sources) in
        [(rgb, alu.rgb_addr.srcp_op, alu.rgb_sources()), (alpha, alu.alpha_addr.srcp_op, alu.alpha_sources())]
    {
        if used {
            early |= source(sources[0]);
            if matches!(op, SrcpOp::Sub | SrcpOp::Add) {
                early |= source(sources[1]);
            }
        }
    }
    early
}

fn tex_effects(tex: &TexInstruction) -> Effects {
    let (c, a, d) = (&tex.cmn, &tex.addr, &tex.dxdy);
    let op = tex.inst.op;
    let mut effects = Effects { is_lookup: op.is_lookup(), is_tex: true, ..Effects::default() };
    if op != TexOp::Nop {
        effects.reads |= temp(a.src_addr, a.src_addr_rel);
        effects.reads_predicate = c.rgb_pred_sel != PredSel::None || c.alpha_pred_sel != PredSel::None;
    }
    if op == TexOp::Dxdy {
        effects.reads |= temp(d.dx_addr, d.dx_addr_rel) | temp(d.dy_addr, d.dy_addr_rel);
    }
    if op.is_lookup() && (c.rgb_wmask != 0 || c.alpha_wmask) {
        effects.writes = temp(a.dst_addr, a.dst_addr_rel);
    }
    effects.uncached_read = op == TexOp::LookupUncached;
    effects
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

/// Works out the bits of every instruction. `None` stands for words that cannot be decoded: they need nothing.
pub(super) fn derive(insts: &[Option<Inst>], last: usize, uncached: bool) -> Vec<Bits> {
    let mut bits = vec![Bits::default(); insts.len()];
    let effects: Vec<Effects> = insts
        .iter()
        .map(|inst| match inst {
            Some(Inst::Alu(alu)) => alu_effects(alu, uncached),
            Some(Inst::Tex(tex)) => tex_effects(tex),
            Some(Inst::Fc(fc)) => fc_effects(fc),
            None => Effects::default(),
        })
        .collect();
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
        if pair[0].is_alu && pair[1].is_alu && pair[0].writes & pair[1].early_reads != 0 {
            bits[at].nop = Some("the next instruction presubtracts what this one writes (CTM §3.3.2)");
        }
    }
}

/// Meets over all paths: `transfer` of what comes in, until nothing changes.
fn solve<S: Copy + PartialEq + Default>(
    flow: &[Vec<usize>],
    union: impl Fn(S, S) -> S,
    transfer: impl Fn(usize, S) -> S,
) -> Vec<S> {
    let mut incoming = vec![S::default(); flow.len()];
    let mut open: Vec<usize> = (0..flow.len()).rev().collect();
    while let Some(at) = open.pop() {
        let out = transfer(at, incoming[at]);
        for &next in &flow[at] {
            let merged = union(incoming[next], out);
            if merged != incoming[next] {
                incoming[next] = merged;
                open.push(next);
            }
        }
    }
    incoming
}

/// CTM §3.2.1: TEX and FC instructions that depend on an ALU result wait for the ALU.
fn alu_waits(effects: &[Effects], flow: &[Vec<usize>], bits: &mut [Bits]) {
    #[derive(Clone, Copy, Default, PartialEq)]
    struct Pending {
        temps: Set,
        predicate: bool,
        result: bool,
    }
    loop {
        let incoming = solve(
            flow,
            |a: Pending, b| Pending {
                temps: a.temps | b.temps,
                predicate: a.predicate || b.predicate,
                result: a.result || b.result,
            },
            |at, pending| {
                let e = &effects[at];
                if e.is_alu {
                    Pending {
                        temps: pending.temps | e.writes,
                        predicate: pending.predicate || e.writes_predicate,
                        result: pending.result || e.writes_result,
                    }
                } else if bits[at].alu_wait.is_some() {
                    Pending::default()
                } else {
                    pending
                }
            },
        );
        let mut changed = false;
        for (at, e) in effects.iter().enumerate() {
            let pending = &incoming[at];
            let depends = e.reads & pending.temps != 0
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
    let (mut pending, mut lookup) = (0, None);
    let mut write: Option<usize> = None;
    for (at, e) in effects.iter().enumerate() {
        let uses = (e.reads | e.writes) & pending != 0;
        if uses || begins[at] {
            take_lookup(&mut lookup, &mut pending, bits);
        }
        if e.uncached_read || begins[at] {
            take_write(&mut write, last, bits);
        }
        if e.is_lookup {
            lookup = Some(at);
            pending |= e.writes;
        }
        if e.uncached_write && any_uncached_read {
            write = Some(at);
        }
    }
    take_lookup(&mut lookup, &mut pending, bits);
    take_write(&mut write, last, bits);
}

fn take_lookup(lookup: &mut Option<usize>, pending: &mut Set, bits: &mut [Bits]) {
    if let Some(at) = lookup.take() {
        bits[at].acquire = Some("it is the last lookup before its block's results are used (CTM §3.4.2)");
    }
    *pending = 0;
}

fn take_write(write: &mut Option<usize>, last: usize, bits: &mut [Bits]) {
    // A program may not end while it holds the semaphore.
    if let Some(at) = write.take()
        && at != last
    {
        bits[at].acquire = Some("it is the last uncached write before an uncached read (CTM §3.4.2)");
    }
}

/// What can be outstanding: temporaries that lookups write, uncached writes, and the semaphore itself.
#[derive(Clone, Copy, Default, PartialEq)]
struct Held {
    temps: Set,
    memory: bool,
    semaphore: bool,
}

fn held(effects: &[Effects], flow: &[Vec<usize>], bits: &[Bits]) -> Vec<Held> {
    solve(
        flow,
        |a: Held, b| Held {
            temps: a.temps | b.temps,
            memory: a.memory || b.memory,
            semaphore: a.semaphore || b.semaphore,
        },
        |at, held| {
            let e = &effects[at];
            let mut held = if bits[at].wait.is_some() { Held::default() } else { held };
            if e.is_lookup {
                held.temps |= e.writes;
            }
            // Only a write that acquires is ever waited for.
            let acquires = e.uncached_write && bits[at].acquire.is_some();
            held.memory |= acquires;
            held.semaphore |= acquires || e.is_tex;
            held
        },
    )
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
            let held = &incoming[at];
            let needs = (e.reads | e.writes) & held.temps != 0
                || e.uncached_read && held.memory
                || e.ends_early && (held.temps != 0 || held.memory);
            if !needs {
                continue;
            }
            // §3.7: where flow control comes before, that waits instead.
            let mut moved = false;
            for &from in &before[at] {
                if effects[from].is_fc && bits[from].wait.is_none() {
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
