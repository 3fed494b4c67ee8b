//! Random legal programs: the checker accepts them, and their words and text go round.

#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::diag::Severity;
use ctm_isa::r700::Program;
use ctm_isa::r700::check::check_allowing;
use ctm_isa::r700::inst::{Cf, ClauseBody};
use ctm_isa::r700::ops::{AluOp, CfAluOp, CfOp, ExportOp, KcacheMode, Op2, Source, SpecialSel};
use ctm_isa::r700::program::{Stage, Usage};
use ctm_isa::r700::random::{self, RandomContents};
use ctm_isa::r700::text::{self, TextOptions};
use std::collections::BTreeSet;

/// Programs of every kind, large and small, with everything or nothing.
fn programs(count: u64) -> impl Iterator<Item = (u64, RandomContents, Program)> {
    (0..count).map(|seed| {
        let stage = Stage::ALL[seed as usize % Stage::ALL.len()];
        let bit = |n: u64| seed >> n & 1 == 0;
        let shape = RandomContents {
            clauses: 1 + seed as usize % 23,
            groups: 1 + seed as usize % 17,
            flow: bit(0) || bit(1),
            fetches: bit(1) || bit(2),
            relative: bit(2) || bit(3),
            doubles: bit(3),
            memory: bit(4),
            kills: bit(5),
            compiled: bit(6),
            ..RandomContents::all(stage)
        };
        (seed, shape, random::program(seed, &shape))
    })
}

#[test]
fn the_checker_accepts_them() {
    for (seed, shape, program) in programs(1200) {
        // Random programs of every kind look textures up at computed levels, so that engines are compared there.
        let found = check_allowing(&program, &["computed-level"]);
        let findings: Vec<_> = found.into_iter().filter(|f| f.severity > Severity::Note).collect();
        assert!(findings.is_empty(), "random::program({seed}, {shape:?}): {findings:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_program() {
    for (seed, shape, program) in programs(50) {
        assert_eq!(program, random::program(seed, &shape));
    }
    let different: BTreeSet<Vec<u32>> = programs(200).map(|(_, _, program)| program.words).collect();
    assert!(different.len() > 190);
}

/// Everything that is decoded encodes to the words it came from, and every clause is whole.
#[test]
fn words_go_round() {
    for (seed, _, program) in programs(500) {
        for entry in &program.decode().entries {
            let cf = entry.cf.as_ref().unwrap();
            assert_eq!(cf.encode(), entry.words, "seed {seed}");
            let Some((first, slots)) = cf.clause() else { continue };
            let words = &program.words[first as usize * 2..(first + slots) as usize * 2];
            let again: Vec<u32> = match &entry.clause {
                ClauseBody::Alu(clause) => {
                    assert_eq!(clause.broken, None, "seed {seed}");
                    clause.encode()
                }
                ClauseBody::Fetch(clause) => clause.fetches.iter().flat_map(|f| f.inst.unwrap().encode()).collect(),
                other => panic!("seed {seed}: {other:?}"),
            };
            assert_eq!(again, words, "seed {seed}");
        }
    }
}

#[test]
fn text_goes_round() {
    for (seed, _, program) in programs(200) {
        let listing = text::disassemble(&program, &TextOptions::default());
        let assembly = text::assemble(&listing, &TextOptions::default());
        let again = assembly.program.unwrap_or_else(|| panic!("seed {seed}: {:?}\n{listing}", assembly.diagnostics));
        assert_eq!(again.words, program.words, "seed {seed}\n{listing}");
        assert_eq!((again.gprs, again.stack, again.stage), (program.gprs, program.stack, program.stage), "seed {seed}");
    }
}

/// They need the registers that they ask for at most.
#[test]
fn registers_are_those_of_the_module() {
    for (seed, _, program) in programs(300) {
        let usage = Usage::of(&program.words, 0, ctm_isa::r700::program::Chip::Rv770);
        assert!(usage.gprs <= program.gprs, "seed {seed}");
    }
}

/// Nothing that may occur is forgotten: every operation, every clause opcode, every kind of lock.
#[test]
fn everything_occurs() {
    let mut alu = BTreeSet::new();
    let mut clauses = BTreeSet::new();
    let mut flow = BTreeSet::new();
    let mut exports = BTreeSet::new();
    let mut locks = BTreeSet::new();
    let (mut indexed, mut written) = (0, 0);
    for (_, _, program) in programs(1200) {
        for entry in &program.decode().entries {
            match entry.cf.as_ref().unwrap() {
                Cf::Plain(i) => drop(flow.insert(i.word1.op)),
                Cf::Export(i) => drop(exports.insert(i.word1.op)),
                Cf::Mem(i) => drop(exports.insert(i.word1.op)),
                Cf::Alu(i) => {
                    clauses.insert(i.word1.op);
                    locks.extend(i.kcache().map(|k| k.mode));
                }
            }
            let ClauseBody::Alu(clause) = &entry.clause else { continue };
            for slot in clause.groups.iter().flat_map(|g| &g.slots) {
                alu.insert(slot.inst.op().name());
                indexed += u32::from(slot.inst.uses_address_register());
                written += u32::from(slot.inst.destination().1);
            }
        }
    }
    // MOVA_GPR_INT is not for R700; the other KILL* differ from those that occur in their comparison.
    let missing: Vec<_> = AluOp::all().map(AluOp::name).filter(|name| !alu.contains(name)).collect();
    assert!(missing.iter().all(|name| name.starts_with("KILL") || *name == "MOVA_GPR_INT"), "{missing:?}");
    assert!(CfAluOp::ALL.iter().all(|op| clauses.contains(op) || *op == CfAluOp::Pop2After), "{clauses:?}");
    for op in [CfOp::Call, CfOp::Return, CfOp::LoopStart, CfOp::LoopStartDx10, CfOp::LoopBreak, CfOp::Else, CfOp::Push]
    {
        assert!(flow.contains(&op), "{}", op.name());
    }
    for op in [ExportOp::Export, ExportOp::ExportDone, ExportOp::MemRing, ExportOp::MemScratch, ExportOp::MemExport] {
        assert!(exports.contains(&op), "{}", op.name());
    }
    assert_eq!(locks.len(), KcacheMode::ALL.len());
    assert!(indexed > 300 && written > 50, "{indexed} {written}");
}

/// Former deviations of engines from the manual: RETURN in valid-pixel mode where pixels are killed, ALU_ELSE_AFTER with one pop after it, shifts by
/// literals above 31.
#[test]
fn rare_cases_occur() {
    let (mut returns, mut exchanges, mut shifts) = (0, 0, 0);
    for (_, shape, program) in programs(4000) {
        let decoded = program.decode();
        let clauses = decoded.entries.iter().filter_map(|entry| match &entry.clause {
            ClauseBody::Alu(clause) => Some(clause),
            _ => None,
        });
        let groups: Vec<_> = clauses.flat_map(|clause| &clause.groups).collect();
        let op = |slot: &ctm_isa::r700::inst::Slot| slot.inst.op();
        let kills = groups.iter().flat_map(|group| &group.slots).any(|slot| op(slot).name().starts_with("KILL"));
        for entry in &decoded.entries {
            match &entry.cf {
                Ok(Cf::Plain(i)) if i.word1.op == CfOp::Return && i.word1.valid_pixel_mode && kills => {
                    returns += u32::from(shape.stage == Stage::Pixel);
                }
                Ok(Cf::Alu(i)) if i.word1.op == CfAluOp::ElseAfter => exchanges += 1,
                _ => {}
            }
        }
        for group in groups {
            for slot in &group.slots {
                let is_shift = matches!(op(slot), AluOp::Op2(Op2::AshrInt | Op2::LshrInt | Op2::LshlInt));
                let Some(count) = slot.inst.operands().nth(1).filter(|_| is_shift) else { continue };
                let is_literal = count.source == Source::Special(SpecialSel::Literal);
                shifts += u32::from(is_literal && group.literals[count.chan as usize] > 31);
            }
        }
    }
    assert!(returns > 5 && exchanges > 50 && shifts > 20, "{returns} {exchanges} {shifts}");
}
