//! A whole program: which words are control flow, and the clauses it names.

use super::{AluClause, AluInst, Cf, FetchClause};
use crate::r700::formats::{AluOp2, AluOp2R600};
use crate::r700::ops::{Addr, CfOp, Chan, Domain, Omod, Source};
use crate::table::FieldError;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The clause of a control-flow instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClauseBody {
    /// It starts no clause.
    None,
    /// An ALU clause.
    Alu(Arc<AluClause>),
    /// A fetch clause.
    Fetch(Arc<FetchClause>),
    /// The clause reaches beyond the program's words.
    Outside,
    /// Not read: the program's clauses overlap so often that reading them all would take memory out of proportion to its size.
    Unread,
}

/// One control-flow instruction and its clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CfEntry {
    /// Its slot.
    pub addr: u32,
    /// Its dwords.
    pub words: [u32; 2],
    /// The decoded instruction, or the reason for its absence.
    pub cf: Result<Cf, FieldError>,
    /// The clause it starts.
    pub clause: ClauseBody,
}

/// A decoded program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The control-flow instructions that can be reached, by slot.
    pub entries: Vec<CfEntry>,
}

impl Decoded {
    /// The control-flow instruction at a slot.
    #[must_use]
    pub fn at(&self, addr: u32) -> Option<&CfEntry> {
        self.entries.binary_search_by_key(&addr, |e| e.addr).ok().map(|i| &self.entries[i])
    }
}

/// The two dwords of a slot.
fn slot(words: &[u32], addr: u32) -> Option<[u32; 2]> {
    let at = (addr as usize).checked_mul(2)?;
    words.get(at..at.checked_add(2)?)?.try_into().ok()
}

/// The words of a clause, if they are all there.
pub(crate) fn clause_words(words: &[u32], addr: u32, slots: u32) -> Option<&[u32]> {
    let at = (addr as usize).checked_mul(2)?;
    words.get(at..at.checked_add(slots as usize * 2)?)
}

/// Finds the control-flow instructions that can be reached from `entry`: one after the other up to END_OF_PROGRAM, RETURN,
/// an unreadable word or a clause named before, and from every jump target likewise. In order of slots.
#[must_use]
pub fn walk(words: &[u32], entry: u32) -> Vec<(u32, [u32; 2], Result<Cf, FieldError>)> {
    const SEEN: u8 = 1;
    const CLAUSE: u8 = 2;
    let mut marks = vec![0u8; words.len() / 2];
    let mut found = Vec::new();
    let mut starts = vec![entry];
    while let Some(start) = starts.pop() {
        let mut pc = start;
        while let Some(pair) = slot(words, pc) {
            if marks[pc as usize] & SEEN != 0 || (pc != start && marks[pc as usize] & CLAUSE != 0) {
                break;
            }
            marks[pc as usize] |= SEEN;
            let cf = Cf::decode(pair);
            found.push((pc, pair, cf));
            let Ok(cf) = cf else { break };
            if let Some((addr, slots)) = cf.clause()
                && clause_words(words, addr, slots).is_some()
            {
                let range = addr as usize..(addr + slots) as usize;
                // Overlapping clauses are marked from their first unmarked slot only, so that marking stays linear.
                if let Some(first) = range.clone().find(|&s| marks[s] & CLAUSE == 0) {
                    marks[first..range.end].iter_mut().for_each(|m| *m |= CLAUSE);
                }
            }
            if let Cf::Plain(plain) = &cf {
                if plain.word1.op.info().addr == Addr::Target {
                    starts.push(plain.word0.addr);
                }
                // Whatever its condition (R700 table 3.7).
                if plain.word1.op == CfOp::Return {
                    break;
                }
            }
            if cf.ends_program() {
                break;
            }
            pc += 1;
        }
    }
    found.sort_unstable_by_key(|f| f.0);
    found
}

/// Reads a whole program: its control flow from `entry` (see [`walk`]) with every clause. Clauses that several
/// instructions name are shared.
#[must_use]
pub fn decode_program(words: &[u32], entry: u32) -> Decoded {
    // More than eight readings of every slot happen only in programs made to be overlapping.
    let mut budget = words.len() * 4 + 4096;
    let mut alu: HashMap<(u32, u32), Arc<AluClause>> = HashMap::new();
    let mut fetch: HashMap<(u32, u32, bool), Arc<FetchClause>> = HashMap::new();
    let mut entries = Vec::new();
    for (addr, pair, cf) in walk(words, entry) {
        let clause = match cf.as_ref().ok().and_then(|cf| cf.clause().map(|range| (cf, range))) {
            None => ClauseBody::None,
            Some((cf, (first, slots))) => match clause_words(words, first, slots) {
                None => ClauseBody::Outside,
                Some(body) => {
                    let texture = matches!(cf, Cf::Plain(p) if p.word1.op == CfOp::Tex);
                    let known = match cf {
                        Cf::Alu(_) => alu.get(&(first, slots)).cloned().map(ClauseBody::Alu),
                        _ => fetch.get(&(first, slots, texture)).cloned().map(ClauseBody::Fetch),
                    };
                    if let Some(known) = known {
                        known
                    } else if budget < slots as usize {
                        ClauseBody::Unread
                    } else {
                        budget -= slots as usize;
                        if let Cf::Alu(_) = cf {
                            let clause = Arc::new(AluClause::decode(body));
                            alu.insert((first, slots), clause.clone());
                            ClauseBody::Alu(clause)
                        } else {
                            let clause = Arc::new(FetchClause::decode(body, texture));
                            fetch.insert((first, slots, texture), clause.clone());
                            ClauseBody::Fetch(clause)
                        }
                    }
                }
            },
        };
        entries.push(CfEntry { addr, words: pair, cf, clause });
    }
    Decoded { entries }
}

/// Why a program is taken for an R600 one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct R600Finding {
    /// The first slot of the program that reads as R600 code only.
    pub slot: u32,
}

impl std::fmt::Display for R600Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the two-operand ALU words are in the R600 form (opcode in bits 17:8), not in the R700 form (17:7): \
             the first such word is in slot {}",
            self.slot
        )
    }
}

/// Recognises programs for R600 chips, whose two-operand ALU words have other bit positions (r700-encoding §2).
///
/// Every ALU clause must be readable as R600 code, with few output modifiers whose upper bit is set (that bit is the lowest
/// of the R700 opcode, which MOV, MUL and others have set); and as R700 code some clause must be unreadable, or at least two
/// instructions odd: an integer result with a clamp or output modifier, or a second operand that is all zeros where the
/// R600 operation has none (MOV reads as XOR_INT).
#[must_use]
pub fn looks_like_r600(words: &[u32], entry: u32) -> Option<R600Finding> {
    let mut scan = R600Scan::default();
    // As in `decode_program`: only programs made to overlap have more readings than these.
    let mut budget = words.len() * 4 + 4096;
    let mut seen = HashSet::new();
    for (_, _, cf) in walk(words, entry) {
        let Ok(cf @ Cf::Alu(_)) = cf else { continue };
        let Some((first, slots)) = cf.clause() else { continue };
        let Some(body) = clause_words(words, first, slots) else { continue };
        if !seen.insert((first, slots)) {
            continue;
        }
        let Some(left) = budget.checked_sub(slots as usize) else { break };
        budget = left;
        if let Some(broken) = AluClause::decode(body).broken {
            scan.suspect(first + broken.offset, 2);
        }
        scan.clause(body, first)?;
    }
    (scan.weight >= 2 && scan.modified * 4 < scan.instructions).then_some(R600Finding { slot: scan.first? })
}

#[derive(Default)]
struct R600Scan {
    /// Two-operand words.
    instructions: usize,
    /// Those that would have the output modifier *4 or /2 on R600.
    modified: usize,
    /// How much speaks against R700.
    weight: usize,
    /// The first slot that does.
    first: Option<u32>,
}

impl R600Scan {
    fn suspect(&mut self, slot: u32, weight: usize) {
        self.weight += weight;
        self.first = Some(self.first.map_or(slot, |first| first.min(slot)));
    }

    /// Reads one clause as R600 code; `None` if that is not possible.
    fn clause(&mut self, body: &[u32], first: u32) -> Option<()> {
        let mut as_r700 = body.to_vec();
        let mut at = 0;
        // One group after the other is rewritten into the R700 form, since literals must be skipped.
        while at < as_r700.len() {
            let mut inst = at;
            loop {
                let pair: [u32; 2] = as_r700.get(inst..inst + 2)?.try_into().ok()?;
                if AluInst::is_op2(pair[1]) {
                    let old = AluOp2R600::decode(pair[1]).ok()?;
                    self.compare(pair, &old, first + u32::try_from(inst / 2).ok()?);
                    as_r700[inst + 1] = rewritten(&old).encode();
                }
                let last = AluInst::decode(as_r700.get(inst..inst + 2)?.try_into().ok()?).ok()?.word0.last;
                inst += 2;
                if last {
                    break;
                }
            }
            let (_, next) = super::Group::decode(&as_r700, u32::try_from(at / 2).ok()?).ok()?;
            at = next as usize * 2;
        }
        Some(())
    }

    fn compare(&mut self, pair: [u32; 2], old: &AluOp2R600, slot: u32) {
        self.instructions += 1;
        self.modified += usize::from(matches!(old.omod, Omod::M4 | Omod::D2));
        let Ok(inst) = AluInst::decode(pair) else { return };
        let info = inst.op().info();
        let integer = matches!(info.writes, Domain::Int | Domain::Uint);
        let second = inst.operand(1);
        let blank = second.source == Source::Gpr(0)
            && !(second.relative || second.neg || second.abs)
            && second.chan == Chan::X
            && info.operands == 2
            && old.op.info().operands < 2;
        if (integer && (inst.clamp() || inst.omod() != Omod::Off)) || blank {
            self.suspect(slot, 1);
        }
    }
}

fn rewritten(old: &AluOp2R600) -> AluOp2 {
    AluOp2 {
        src0_abs: old.src0_abs,
        src1_abs: old.src1_abs,
        update_execute_mask: old.update_execute_mask,
        update_pred: old.update_pred,
        write_mask: old.write_mask,
        omod: old.omod,
        op: old.op,
        bank_swizzle: old.bank_swizzle,
        dst_gpr: old.dst_gpr,
        dst_rel: old.dst_rel,
        dst_chan: old.dst_chan,
        clamp: old.clamp,
    }
}
