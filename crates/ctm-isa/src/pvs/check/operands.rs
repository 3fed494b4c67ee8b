//! Rules on the operands of one instruction.

use super::{Finding, SlotFacts};
use crate::pvs::access::{self, WrittenFile};
use crate::pvs::inst::{Inst, RegisterAddress};
use crate::pvs::ops::{Class, DstType, Op, ReadComponents, SrcType};

/// The different addresses of a kind of register that an instruction fetches. Sources of which only 0 and 1 are taken fetch nothing.
fn addresses(inst: &Inst, file: SrcType) -> Vec<RegisterAddress> {
    let mut list: Vec<RegisterAddress> = Vec::new();
    for read in access::reads(inst).into_iter().filter(|read| read.file == file) {
        if !list.iter().any(|address| address.is_same(&read.address)) {
            list.push(read.address);
        }
    }
    list
}

fn port(facts: &SlotFacts<'_>, file: SrcType, what: &str, most: impl Fn(&Inst) -> usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let (found, most) = (addresses(inst, file).len(), most(inst));
        if found > most {
            findings.push(Finding::at(pc, format!("{found} different {what} are read; allowed is {most}")));
        }
    }
    findings
}

/// One address of constants.
pub(super) fn constant_port(facts: &SlotFacts<'_>) -> Vec<Finding> {
    port(facts, SrcType::Constant, "constants", |_| 1)
}

/// One address of inputs.
pub(super) fn input_port(facts: &SlotFacts<'_>) -> Vec<Finding> {
    port(facts, SrcType::Input, "inputs", |_| 1)
}

/// Two temporaries, three in a macro.
pub(super) fn temporary_port(facts: &SlotFacts<'_>) -> Vec<Finding> {
    port(facts, SrcType::Temporary, "temporaries", |inst| if matches!(inst.op, Op::Macro(_)) { 3 } else { 2 })
}

/// A dual math operation has one or two operands.
pub(super) fn dual_operands(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let three = |inst: &Inst| {
        let (op, _) = inst.dual()?;
        op.info().reads.iter().all(|reads| !matches!(reads, ReadComponents::Nothing)).then_some(op)
    };
    let each = facts.each().filter_map(|(pc, inst, _)| three(inst).map(|op| (pc, op)));
    each.map(|(pc, op)| Finding::at(pc, format!("{} has three operands; a dual operation reads two", op.name())))
        .collect()
}

/// A0 and FLT2FIX belong together.
pub(super) fn address_result(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, inst, _) in facts.each() {
        let address = inst.op.info().class == Class::Address;
        match access::write(inst) {
            Some(write) if write.file == WrittenFile::A0 && !address => {
                findings.push(Finding::at(pc, format!("{} writes A0, which holds integers", inst.op.name())));
            }
            Some(write) if write.file != WrittenFile::A0 && address => {
                findings.push(Finding::at(pc, format!("{} writes another register than A0", inst.op.name())));
            }
            _ => {}
        }
    }
    findings
}

/// A0 is the only address register.
pub(super) fn address_register(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let wrong = |inst: &Inst| inst.dst.reg_type == DstType::A0 && inst.dst.address() != RegisterAddress::absolute(0);
    let each = facts.each().filter(|(_, inst, _)| access::write(inst).is_some() && wrong(inst));
    each.map(|(pc, inst, _)| {
        Finding::at(pc, format!("the address register's offset is {}; allowed is 0", inst.dst.offset))
    })
    .collect()
}

/// Inputs are not written.
pub(super) fn input_destination(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let wrong = |inst: &Inst| access::write(inst).is_some_and(|write| write.file == WrittenFile::Input);
    facts.each().filter(|(_, inst, _)| wrong(inst)).map(|(pc, ..)| Finding::at(pc, "an input is written")).collect()
}

/// A result goes somewhere.
pub(super) fn no_result(facts: &SlotFacts<'_>) -> Vec<Finding> {
    let lost = |inst: &Inst| match inst.op.info().class {
        Class::Nothing | Class::Predicate => false,
        Class::Plain | Class::Address | Class::Conditional => inst.dst.write_mask() == 0,
    };
    let each = facts.each().filter(|(_, inst, _)| lost(inst));
    each.map(|(pc, inst, _)| Finding::at(pc, format!("the result of {} is not written", inst.op.name()))).collect()
}
