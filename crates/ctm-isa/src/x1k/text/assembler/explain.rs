//! Explanations of the assembler's choices: places of numbers, and reasons for a missing assignment.

use super::super::attrs::Attrs;
use super::super::constants::Pool;
use super::super::operand::{Base, Comp, Operand};
use super::super::pair::Pair;
use super::super::sources::NoAssignment;
use super::Explanation;
use crate::diag::{Diagnostic, Span};
use crate::x1k::inst::{Source, inline_code};

pub(super) fn each_source(pair: &Pair, visit: &mut dyn FnMut(Source)) {
    let mut operand = |operand: &Operand| {
        for comp in &operand.comps {
            match comp {
                Comp::Read(Base::Plain(source), _) => visit(*source),
                Comp::Read(Base::Presub(presub), _) => {
                    visit(presub.src0);
                    presub.src1.into_iter().for_each(&mut *visit);
                }
                Comp::Absent | Comp::Fixed(_) | Comp::Number(_) => {}
            }
        }
    };
    pair.rgb.operands.iter().for_each(&mut operand);
    pair.alpha.operands.iter().for_each(&mut operand);
}

/// Says where each number of an instruction went.
pub(super) fn explain_numbers(pair: &Pair, pool: &Pool, pc: usize, span: Span, out: &mut Vec<Explanation>) {
    let mut said = Vec::new();
    for comp in pair.rgb.operands.iter().chain(&pair.alpha.operands).flat_map(|o| o.comps) {
        let text = match comp {
            Comp::Fixed(swizzle) => match swizzle {
                crate::x1k::ops::Swizzle::Zero => continue,
                crate::x1k::ops::Swizzle::Half => "0.5 is a swizzle".to_owned(),
                crate::x1k::ops::Swizzle::One => "1 is a swizzle".to_owned(),
                _ => continue,
            },
            Comp::Number(bits) => {
                let value = f32::from_bits(bits);
                match (pool.places(bits).next(), inline_code(value)) {
                    (_, Some(_)) => format!("{value} is an inline constant"),
                    (Some((Source::Const { index, .. }, channel)), None) => {
                        format!(
                            "{value} is in the constant register c{index}.{}",
                            super::super::operand::letter(channel)
                        )
                    }
                    _ => continue,
                }
            }
            Comp::Absent | Comp::Read(..) => continue,
        };
        if !said.contains(&text) {
            said.push(text);
        }
    }
    out.extend(said.into_iter().map(|text| Explanation { span, pc: Some(pc as u32), text }));
}

pub(super) fn no_assignment(why: NoAssignment, attrs: &Attrs, span: Span) -> Diagnostic {
    let list = |sources: &[Source]| {
        let texts: Vec<String> = sources.iter().map(|&s| super::super::operand::print_source(s, &|_| None)).collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
    };
    match why {
        NoAssignment::Presubtracts => Diagnostic::error("sources", "one half can make one presubtract: these are two")
            .at(span, "")
            .cite("CTM §3.3.2")
            .help("put one of them into a register with an instruction of its own"),
        NoAssignment::Operand => {
            Diagnostic::error("sources", "an operand reads one RGB source and one alpha source: this one mixes more")
                .at(span, "")
                .cite("CTM §3.3.3")
                .help("collect the components in a register first")
        }
        NoAssignment::Addresses(rgb, alpha) => {
            let finding = Diagnostic::error(
                "sources",
                format!(
                    "the sources do not fit into the 3 RGB and 3 alpha addresses: the operands read RGB of {} and alpha of {}",
                    list(&rgb),
                    list(&alpha)
                ),
            )
            .at(span, "")
            .cite("CTM §3.3.3");
            if attrs.rgb_sources.is_some() || attrs.alpha_sources.is_some() {
                finding.help("`rgbsrc` and `alphasrc` fix the addresses: they must hold every source")
            } else {
                finding.help("both halves share the addresses, and a presubtract needs the first two: use fewer registers, or two instructions")
            }
        }
    }
}
