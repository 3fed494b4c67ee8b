//! Rules on indices: of instructions, registers, constants, names, also relative to aL.

use super::graph::LoopFrame;
use super::{Facts, Finding};
use crate::x1k::access::sources;
use crate::x1k::inst::{Inst, Source};
use crate::x1k::ops::TexOp;
use crate::x1k::program::{Literal, Preload, SymbolKind};
use crate::x1k::{BOOL_CONSTANTS, FLOAT_CONSTANTS, INPUTS, INSTRUCTION_SLOTS, INT_CONSTANTS, OUTPUTS, TEMPORARIES};

/// The program fits the instruction memory, and begins and ends in it.
pub(super) fn program_size(facts: &Facts<'_>) -> Vec<Finding> {
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
            findings
                .push(Finding::whole(format!("the {name} instruction is {pc}; the program's are 0 to {}", size - 1)));
        }
    }
    findings
}

/// Names, constants and initial registers of the program exist in the machine.
pub(super) fn binding_range(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut limit = |what: String, index: u8, count: usize| {
        if usize::from(index) >= count {
            findings.push(Finding::whole(format!("{what} is {index}; allowed are 0 to {}", count - 1)));
        }
    };
    for preload in &facts.program.preloads {
        match *preload {
            Preload::Position { temp } => limit("the temporary of the position".to_owned(), temp, TEMPORARIES),
            Preload::Interpolant { index, temp } => {
                limit("the interpolant".to_owned(), index, INPUTS);
                limit(format!("the temporary of interpolant {index}"), temp, TEMPORARIES);
            }
        }
    }
    for symbol in &facts.program.symbols {
        let (what, count) = match symbol.kind {
            SymbolKind::Input => ("input", INPUTS),
            SymbolKind::Output => ("output", OUTPUTS),
            SymbolKind::Float => ("float constant", FLOAT_CONSTANTS),
            SymbolKind::Int => ("integer constant", INT_CONSTANTS),
            SymbolKind::Bool => ("boolean constant", BOOL_CONSTANTS),
        };
        limit(format!("the {what} of `{}`", symbol.name), symbol.index, count);
    }
    for literal in &facts.program.literals {
        match *literal {
            Literal::Float { index, .. } => limit("a float constant".to_owned(), index, FLOAT_CONSTANTS),
            Literal::Int { index, .. } => limit("an integer constant".to_owned(), index, INT_CONSTANTS),
            Literal::Bool { index, .. } => limit("a boolean constant".to_owned(), index, BOOL_CONSTANTS),
        }
    }
    findings
}

/// An address to which aL is added.
struct Relative {
    /// How it is written, such as `r[aL+3]`.
    text: String,
    base: u8,
    count: usize,
}

fn relatives(inst: &Inst) -> Vec<Relative> {
    let temp = |base: u8| Relative { text: format!("r[aL+{base}]"), base, count: TEMPORARIES };
    let mut found = Vec::new();
    match inst {
        Inst::Alu(alu) => {
            for (source, _) in sources(alu) {
                match source {
                    Source::Temp { index, relative: true } => found.push(temp(index)),
                    Source::Const { index, relative: true } => {
                        found.push(Relative { text: format!("c[aL+{index}]"), base: index, count: FLOAT_CONSTANTS });
                    }
                    Source::Temp { .. } | Source::Const { .. } | Source::Inline { .. } => {}
                }
            }
            if alu.rgba.addrd_rel && alu.cmn.rgb_wmask != 0 {
                found.push(temp(alu.rgba.addrd));
            }
            if alu.alpha.addrd_rel && alu.cmn.alpha_wmask {
                found.push(temp(alu.alpha.addrd));
            }
        }
        Inst::Tex(tex) => {
            let dxdy = tex.inst.op == TexOp::Dxdy;
            let addresses = [
                (tex.addr.src_addr, tex.addr.src_addr_rel && tex.inst.op != TexOp::Nop),
                (tex.addr.dst_addr, tex.addr.dst_addr_rel && tex.inst.op.is_lookup()),
                (tex.dxdy.dx_addr, tex.dxdy.dx_addr_rel && dxdy),
                (tex.dxdy.dy_addr, tex.dxdy.dy_addr_rel && dxdy),
            ];
            found.extend(addresses.into_iter().filter(|&(_, used)| used).map(|(base, _)| temp(base)));
        }
        Inst::Fc(_) => {}
    }
    found
}

/// aL is only used inside LOOP.
pub(super) fn relative_outside_loop(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, _, inst) in facts.each_reached().filter(|(node, ..)| node.stacks.visible_loop().is_none()) {
        for Relative { text, .. } in relatives(inst) {
            findings.push(Finding::at(node.pc, format!("{text} outside of every LOOP, where aL is not valid")));
        }
    }
    findings
}

/// With the loop constants that come with the program, addresses with aL stay in range.
pub(super) fn relative_range(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (node, _, inst) in facts.each_reached() {
        let Some((low, high)) = node.stacks.visible_loop().and_then(|frame| loop_range(facts, frame)) else { continue };
        for Relative { text, base, count } in relatives(inst) {
            let (first, last) = (i32::from(base) + low, i32::from(base) + high);
            if first < 0 || usize::try_from(last).is_ok_and(|last| last >= count) {
                let message =
                    format!("{text} with aL {low} to {high} reaches {first} to {last}; allowed are 0 to {}", count - 1);
                findings.push(Finding::at(node.pc, message));
            }
        }
    }
    findings
}

/// The smallest and the largest aL of a LOOP whose constant comes with the program.
fn loop_range(facts: &Facts<'_>, frame: LoopFrame) -> Option<(i32, i32)> {
    let Some(Inst::Fc(fc)) = facts.insts.get(usize::from(frame.pc)).copied().flatten() else { return None };
    let value = facts.program.literals.iter().find_map(|literal| match *literal {
        Literal::Int { index, value } if index == fc.addr.int_addr => Some(value),
        Literal::Int { .. } | Literal::Float { .. } | Literal::Bool { .. } => None,
    })?;
    let [count, start, step, _] = value;
    let turns = i32::from(count).checked_sub(1).filter(|&turns| turns >= 0)?;
    let (start, end) = (i32::from(start), i32::from(start) + turns * i32::from(step.cast_signed()));
    Some((start.min(end), start.max(end)))
}
