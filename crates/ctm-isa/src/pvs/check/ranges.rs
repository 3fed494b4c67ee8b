//! Rules on indices: of instructions, registers, constants.

use super::{Finding, SlotFacts};
use crate::pvs::access::{self, WrittenFile};
use crate::pvs::ops::{AddrMode, SrcType};
use crate::pvs::program::SymbolKind;
use crate::pvs::{ALTERNATE_TEMPORARIES, CONSTANTS, INPUTS, INSTRUCTION_SLOTS, OUTPUTS, TEMPORARIES};

/// The program fits the instruction memory, and begins and ends in it.
pub(super) fn program_size(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let (program, size) = (facts.program, facts.insts.len());
    let mut findings = Vec::new();
    if size == 0 {
        findings.push(Finding::whole("the program has no instructions"));
        return findings;
    }
    if size > INSTRUCTION_SLOTS {
        findings.push(Finding::whole(format!("{size} instructions; the machine holds {INSTRUCTION_SLOTS}")));
    }
    for (name, pc) in [("first", program.first), ("last", program.last)] {
        if usize::from(pc) >= size {
            let message = format!("the {name} instruction is {pc}; the program's are 0 to {}", size - 1);
            findings.push(Finding::whole(message));
        }
    }
    findings
}

/// The registers at fixed addresses that instructions use: place, name of the kind, offset, number of registers.
fn fixed(facts: &SlotFacts<'_>) -> Vec<(u32, &'static str, u8, usize)> {
    let mut list = Vec::new();
    for (pc, inst, _) in facts.each() {
        for read in access::reads(inst).into_iter().filter(|read| read.address.mode == AddrMode::Absolute) {
            let (what, count) = match read.file {
                SrcType::Temporary => ("temporary", TEMPORARIES),
                SrcType::Input => ("input", INPUTS),
                SrcType::Constant => continue,
                SrcType::AltTemporary => ("alternate temporary", ALTERNATE_TEMPORARIES),
            };
            list.push((pc, what, read.address.offset, count));
        }
        let Some(write) = access::write(inst).filter(|write| write.address.mode == AddrMode::Absolute) else {
            continue;
        };
        let (what, count) = match write.file {
            WrittenFile::Temporary => ("temporary", TEMPORARIES),
            WrittenFile::AltTemporary => ("alternate temporary", ALTERNATE_TEMPORARIES),
            WrittenFile::Output | WrittenFile::OutputReplicateX => ("output", OUTPUTS),
            WrittenFile::Input => ("input", INPUTS),
            // It has a rule of its own.
            WrittenFile::A0 => continue,
        };
        list.push((pc, what, write.address.offset, count));
    }
    list.retain(|&(_, _, offset, count)| usize::from(offset) >= count);
    list
}

fn range_findings(facts: &SlotFacts<'_>, temporaries: bool) -> Vec<Finding> {
    let list = fixed(facts).into_iter().filter(|(_, what, ..)| (*what == "temporary") == temporaries);
    list.map(|(pc, what, offset, count)| {
        Finding::at(pc, format!("{what} {offset} is used; allowed are 0 to {}", count - 1))
    })
    .collect()
}

/// Inputs, outputs and alternate temporaries exist; so do those of names.
pub(super) fn register_range(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = range_findings(facts, false);
    for symbol in &facts.program.symbols {
        let (what, count) = match symbol.kind {
            SymbolKind::Input => ("input", INPUTS),
            SymbolKind::Output => ("output", OUTPUTS),
            SymbolKind::Constant => continue,
        };
        if usize::from(symbol.index) >= count {
            let message =
                format!("the {what} of `{}` is {}; allowed are 0 to {}", symbol.name, symbol.index, count - 1);
            findings.push(Finding::whole(message));
        }
    }
    findings
}

/// Temporaries that compilers use.
pub(super) fn temporary_range(facts: &SlotFacts<'_>) -> Vec<Finding> {
    range_findings(facts, true)
}

/// Base and greatest address stay within the constants.
pub(super) fn constant_base(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let (base, max) = (facts.program.const_base, facts.program.const_max);
    let used = facts.program.usage();
    let reads = used.relative_constants || !used.constants.is_empty();
    if !reads || usize::from(base) + usize::from(max) < CONSTANTS {
        return Vec::new();
    }
    vec![Finding::whole(format!(
        "constants reach from {base} to {}; the machine's are 0 to {}",
        usize::from(base) + usize::from(max),
        CONSTANTS - 1
    ))]
}

/// Constants are in range.
pub(super) fn constant_range(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let max = facts.program.const_max;
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let reads = access::reads(inst).into_iter();
        let beyond = reads.filter(|read| read.file == SrcType::Constant && read.address.mode == AddrMode::Absolute);
        for read in beyond.filter(|read| read.address.offset > max) {
            let message = format!("constant {} reads as zeros; those in range are 0 to {max}", read.address.offset);
            findings.push(Finding::at(pc, message));
        }
    }
    for literal in facts.program.literals.iter().filter(|literal| literal.index > max) {
        let message = format!("constant {} has a value; those in range are 0 to {max}", literal.index);
        findings.push(Finding::whole(message));
    }
    findings
}
