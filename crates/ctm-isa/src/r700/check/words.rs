//! Rules on single words.

use super::other_chips;
use super::{Facts, Finding};
use crate::r700::formats::{AluOp2, CfAluWord1, VtxWord0};
use crate::r700::inst::{Broken, Cf, ClauseBody, Fetch};
use crate::r700::ops::{Addr, Available, CfOp, Clause, Cond, MemOp, Source};
use crate::table::{FieldError, WordFormat};

/// The ALU opcode that belongs to another chip, if that is why a word cannot be read.
fn foreign_opcode(error: &FieldError) -> Option<other_chips::Foreign> {
    (error.word == AluOp2::FORMAT.name && error.field == "ALU_INST").then(|| other_chips::op2(error.found)).flatten()
}

/// Control-flow and fetch opcodes that this manual reserves and others use (r700-encoding §3, §5).
fn foreign_number(error: &FieldError) -> Option<&'static str> {
    match (error.field, error.found) {
        ("CF_INST", 12) if error.word == CfAluWord1::FORMAT.name => Some("ALU_EXTENDED of Evergreen"),
        ("CF_INST", 25) => Some("END_PROGRAM of R600"),
        ("CF_INST", 27) => Some("TEX_ACK of Evergreen"),
        ("CF_INST", 28) => Some("VTX_ACK of Evergreen"),
        ("CF_INST", 29) => Some("VTX_TC_ACK of Evergreen"),
        ("VTX_INST", 14) if error.word == VtxWord0::FORMAT.name => Some("GET_BUFFER_RESINFO of Evergreen"),
        ("MEM_OP", 6) => Some("DS_GLOBAL_WRITE of Evergreen"),
        ("MEM_OP", 7) => Some("DS_GLOBAL_READ of Evergreen"),
        ("TEX_INST", 13) => Some("PASS of Evergreen"),
        _ => None,
    }
}

/// Every word that cannot be read, with its slot.
fn unreadable<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = (u32, Broken)> + 'a {
    let cf =
        facts.decoded.entries.iter().filter_map(|e| e.cf.as_ref().err().map(|error| (e.addr, Broken::Field(*error))));
    let alu = facts.each_alu_clause().filter_map(|(cf, clause)| {
        let broken = clause.broken?;
        // Words missing after the last slot are reported at the last slot.
        let offset = broken.offset - u32::from(broken.why == Broken::NoLast && broken.offset > 0);
        Some((cf.word0.addr + offset, broken.why))
    });
    let fetch = facts
        .each_fetch_entry()
        .filter_map(|(pc, _, e)| e.inst.as_ref().err().map(|error| (pc, Broken::Field(*error))));
    cf.chain(alu).chain(fetch)
}

/// Every word says something, and every group is whole.
pub(super) fn undecodable(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.r600.is_some() {
        return Vec::new();
    }
    unreadable(facts)
        .filter_map(|(pc, why)| match why {
            Broken::Field(error) if foreign_opcode(&error).is_some() || foreign_number(&error).is_some() => None,
            // There are too many operations to list them.
            Broken::Field(error) if error.allowed.len() > 16 => Some(Finding::at(
                pc,
                format!("`{}` of {} is {}, which no operation has", error.field, error.word, error.found),
            )),
            Broken::Field(_) | Broken::UnitTaken(_) | Broken::NoLast | Broken::NoLiterals => {
                Some(Finding::at(pc, why.to_string()))
            }
        })
        .collect()
}

/// The program is for R700, not for R600.
pub(super) fn r600_program(facts: &Facts<'_>) -> Vec<Finding> {
    facts.r600.iter().map(|found| Finding::at(found.slot, found.to_string())).collect()
}

/// Opcodes and selects are those of R700, not of the chips after it.
pub(super) fn evergreen_opcode(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.r600.is_some() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (pc, why) in unreadable(facts) {
        let Broken::Field(error) = why else { continue };
        if let Some(foreign) = foreign_opcode(&error) {
            let finding = Finding::at(
                pc,
                format!("`ALU_INST` is {:#x}, {} of Evergreen; R700 has no such number", error.found, foreign.name),
            );
            findings.push(match foreign.here {
                Some(here) => finding.help(format!("R700's {} is {here:#x}", foreign.name)),
                None => finding,
            });
        } else if let Some(name) = foreign_number(&error) {
            findings.push(Finding::at(
                pc,
                format!("`{}` is {}, {name}; R700 has no such number", error.field, error.found),
            ));
        }
    }
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            for (n, operand) in slot.inst.operands().enumerate() {
                if let Source::Reserved(sel) = operand.source
                    && other_chips::is_select(sel)
                {
                    findings.push(Finding::at(
                        place.slot(i),
                        format!(
                            "operand {n} selects {sel}, the data share or a clock of Evergreen; R700 has no such source"
                        ),
                    ));
                }
            }
        }
    }
    findings
}

/// Operations that only R600 has are not used.
pub(super) fn r600_opcode(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            let op = slot.inst.op();
            if op.info().available == Available::R600Only {
                let message = format!("{} is an operation of R600 that R700 does not execute", op.name());
                findings.push(Finding::at(place.slot(i), message).help("use MOVA_INT"));
            }
        }
    }
    findings
}

fn stray_bits(pc: u32, formats: &[&WordFormat], stray: &[u32], findings: &mut Vec<Finding>) {
    for (format, &bits) in formats.iter().zip(stray) {
        if bits != 0 {
            findings.push(Finding::at(pc, format!("reserved bits {bits:#010x} of {} are set", format.name)));
        }
    }
}

/// Bits that belong to no field are 0.
pub(super) fn reserved_bits(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (entry, cf) in facts.each_cf() {
        stray_bits(entry.addr, &cf.formats(), &cf.stray(entry.words), &mut findings);
    }
    for (pc, _, entry) in facts.each_fetch_entry() {
        if let Ok(inst) = &entry.inst {
            let [w0, w1, w2, _] = entry.words;
            stray_bits(pc, &inst.fetch.formats(), &inst.fetch.stray([w0, w1, w2]), &mut findings);
        }
    }
    findings
}

/// Operands read registers and constants that exist.
pub(super) fn reserved_select(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            for (n, operand) in slot.inst.operands().enumerate() {
                if let Source::Reserved(sel) = operand.source
                    && !other_chips::is_select(sel)
                {
                    findings
                        .push(Finding::at(place.slot(i), format!("operand {n} selects {sel}, which means nothing")));
                }
            }
        }
    }
    findings
}

/// Control-flow fields are set where they have an effect.
pub(super) fn ineffective_field(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, plain) in facts.each_plain() {
        let w = &plain.word1;
        let info = w.op.info();
        let counts = info.clause == Clause::Fetch;
        let constant = info.loop_constant || w.cond != Cond::Active;
        let fields = [
            ("COND", w.cond != Cond::Active && info.conditional && !info.tested),
            ("POP_COUNT", w.pop_count != 0 && !info.pops),
            ("CF_CONST", w.cf_const != 0 && !constant),
            ("COUNT", (w.count != 0 || w.count_3) && !counts),
            ("CALL_COUNT", w.call_count != 0 && w.op != CfOp::Call),
            ("ADDR", plain.word0.addr != 0 && info.addr == Addr::Ignored),
        ];
        let set: Vec<String> = fields.iter().filter(|f| f.1).map(|f| format!("`{}`", f.0)).collect();
        if !set.is_empty() {
            let verb = if set.len() == 1 { "is" } else { "are" };
            findings.push(Finding::at(pc, format!("{} {verb} set, without effect on {}", set.join(", "), w.op.name())));
        }
    }
    findings
}

/// Instructions that are not branches or loops execute whatever the constants hold.
pub(super) fn condition(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_plain()
        .filter(|(_, plain)| plain.word1.cond != Cond::Active && !plain.word1.op.info().conditional)
        .map(|(pc, plain)| {
            let (name, cond) = (plain.word1.op.name(), plain.word1.cond.name());
            Finding::at(pc, format!("`COND` of {name} is {cond}; only ACTIVE is allowed"))
        })
        .collect()
}

/// WHOLE_QUAD_MODE and VALID_PIXEL_MODE exclude each other.
pub(super) fn pixel_modes(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_cf()
        .filter(|(_, cf)| match cf {
            Cf::Plain(i) => i.word1.whole_quad_mode && i.word1.valid_pixel_mode,
            Cf::Export(i) => i.word1.whole_quad_mode && i.word1.valid_pixel_mode,
            Cf::Mem(i) => i.word1.whole_quad_mode && i.word1.valid_pixel_mode,
            Cf::Alu(_) => false,
        })
        .map(|(entry, _)| Finding::at(entry.addr, "`WHOLE_QUAD_MODE` and `VALID_PIXEL_MODE` are both set"))
        .collect()
}

/// Fields of memory reads have the values that the machine expects.
pub(super) fn memory_read_fields(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, _, inst) in facts.each_fetch() {
        let Fetch::MemRd(read) = &inst.fetch else { continue };
        if !read.word2.mega_fetch {
            findings.push(Finding::at(pc, "`MEGA_FETCH` of a memory read is 0; it must be 1"));
        }
        if read.word0.mem_req_size != 0 {
            findings.push(Finding::at(pc, format!("`MEM_REQ_SIZE` is {}; R700 takes 0", read.word0.mem_req_size)));
        }
        if read.word0.elem_size != 3 && matches!(read.word0.mem_op, MemOp::RdReduc | MemOp::RdScratch) {
            let (name, size) = (read.word0.mem_op.name(), read.word0.elem_size);
            findings.push(Finding::at(pc, format!("`ELEM_SIZE` of {name} is {size}; it must be 3, four dwords")));
        }
    }
    findings
}

/// Data share writes go to whole entries of four dwords.
pub(super) fn data_share_entries(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, _, inst) in facts.each_fetch() {
        let Fetch::MemDsw(write) = &inst.fetch else { continue };
        let w = &write.word1;
        let stride = u32::from(w.dst_stride) | u32::from(w.dst_stride_ext) << 7;
        let index = u32::from(w.dst_index) | u32::from(w.dst_index_ext) << 6;
        if stride % 4 != 0 || !(4..=64).contains(&stride) {
            findings.push(Finding::at(
                pc,
                format!("the stride is {stride} dwords; multiples of 4 from 4 to 64 are allowed"),
            ));
        }
        if index % 4 != 0 || index > 60 {
            findings.push(Finding::at(pc, format!("the index is {index} dwords; multiples of 4 up to 60 are allowed")));
        }
    }
    findings
}

/// The whole program could be read.
pub(super) fn not_all_read(facts: &Facts<'_>) -> Vec<Finding> {
    let unread = facts.decoded.entries.iter().filter(|e| e.clause == ClauseBody::Unread).count();
    let mut findings = Vec::new();
    if unread > 0 {
        findings.push(Finding::whole(format!(
            "{unread} clauses overlap others too often to be read; they were not checked"
        )));
    }
    if facts.graph.incomplete {
        findings.push(Finding::whole("there are too many paths through subroutines; not every one was checked"));
    }
    findings
}
