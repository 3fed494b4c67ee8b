//! From the statements of an ALU line to the two halves: which operations, operands and modifiers each of them gets.

use super::Parse;
use super::mnemonics::Mnemonic;
use super::operand::{ALPHA, Comp, Mask, Operand, RGB, WrittenOperand};
use super::pair::{Half, Pair, WrittenHalf};
use crate::diag::{Diagnostic, Span};
use crate::x1k::ops::{AlphaOp, Imod, Omod, RgbOp, Swizzle};

fn negated(imod: Imod) -> Imod {
    match imod {
        Imod::Off => Imod::Neg,
        Imod::Neg => Imod::Off,
        Imod::Abs => Imod::Nab,
        Imod::Nab => Imod::Abs,
    }
}

/// The three operands A, B, C of a statement for the `wanted` channels.
fn operands(written: &WrittenHalf, wanted: Mask) -> Parse<[Operand; 3]> {
    let list = &written.operands;
    let place = |i: usize, wanted: Mask| list.get(i).map_or(Ok(Operand::ABSENT), |o| o.place(wanted));
    Ok(match written.mnemonic {
        Mnemonic::Mov => {
            let source = place(0, wanted)?;
            [source, source, Operand::ABSENT]
        }
        Mnemonic::Add => [place(0, wanted)?, Operand::fixed(Swizzle::One, wanted), place(1, wanted)?],
        Mnemonic::Sub => {
            let mut c = place(1, wanted)?;
            c.imod = negated(c.imod);
            [place(0, wanted)?, Operand::fixed(Swizzle::One, wanted), c]
        }
        Mnemonic::Mul => [place(0, wanted)?, place(1, wanted)?, Operand::fixed(Swizzle::Zero, wanted)],
        Mnemonic::Lrp => {
            let (Some(b), Some(c)) = (list[1].plain(), list[2].plain()) else {
                return Err(lrp_operands(written.span));
            };
            if b.1 != c.1 {
                return Err(lrp_operands(written.span));
            }
            let difference = WrittenOperand::difference(b, c.0, list[1].span);
            [place(0, wanted)?, difference.place(wanted)?, place(2, wanted)?]
        }
        Mnemonic::Dot(RgbOp::D2a) => [place(0, 3)?, place(1, 3)?, place(2, 4)?],
        Mnemonic::Dot(RgbOp::Dp4) if wanted & ALPHA != 0 => [place(0, 15)?, place(1, 15)?, Operand::ABSENT],
        Mnemonic::Dot(_) => [place(0, RGB)?, place(1, RGB)?, Operand::ABSENT],
        Mnemonic::Both(..) | Mnemonic::Scalar(_) | Mnemonic::Dp | Mnemonic::Sop | Mnemonic::Idle => {
            [place(0, wanted)?, place(1, wanted)?, place(2, wanted)?]
        }
    })
}

fn lrp_operands(span: Span) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            "presubtract",
            "`lrp d, a, b, c` is a*(b-c)+c in one slot: b and c are registers with the same swizzle and no modifier",
        )
        .at(span, "")
        .cite("CTM §3.3.2")
        .help("write it as a `sub` and a `mad`"),
    )
}

fn for_rgb(operands: [Operand; 3]) -> [Operand; 3] {
    operands.map(|mut o| {
        o.comps[3] = Comp::Absent;
        o
    })
}

fn for_alpha(operands: [Operand; 3]) -> [Operand; 3] {
    operands.map(|mut o| {
        o.comps[..3].fill(Comp::Absent);
        o
    })
}

/// Output modifier and clamp of a statement.
fn output_modifier(written: &WrittenHalf) -> Omod {
    written.omod.unwrap_or(match written.mnemonic {
        // A clamp needs the output modifier (CTM §3.3.5): a saturated move copies the value, not the bits.
        Mnemonic::Mov if !written.clamp => Omod::Disabled,
        _ => Omod::U1,
    })
}

/// Fills destination, modifiers and predicate of a half from the channels `of` of the statement.
fn fill<Op>(half: &mut Half<Op>, written: &WrittenHalf, of: Mask, default: Mask, takes_empty: bool) -> Parse<()> {
    let (omask, target) = written.dests.target(of, default)?;
    (half.omask, half.target) = (omask, target);
    if let Some((index, relative, mask)) = written.dests.temp {
        let mask = mask.unwrap_or(default);
        if mask & of != 0 || (takes_empty && mask == 0) {
            (half.addrd, half.addrd_rel, half.wmask) = (index, relative, mask & of);
        }
    }
    half.omod = output_modifier(written);
    half.clamp = written.clamp;
    if let Some((rgb, alpha)) = written.predicate {
        half.pred = if of == ALPHA { alpha } else { rgb };
    }
    Ok(())
}

/// The operations of the two units for a mnemonic that both have.
fn unit_ops(mnemonic: Mnemonic) -> (RgbOp, AlphaOp) {
    match mnemonic {
        Mnemonic::Mov => (RgbOp::Max, AlphaOp::Max),
        Mnemonic::Both(rgb, alpha) => (rgb, alpha),
        Mnemonic::Dot(op) => (op, AlphaOp::Dp),
        Mnemonic::Scalar(op) => (RgbOp::Sop, op),
        Mnemonic::Sop => (RgbOp::Sop, AlphaOp::Mad),
        Mnemonic::Dp => (RgbOp::Mad, AlphaOp::Dp),
        Mnemonic::Add | Mnemonic::Sub | Mnemonic::Mul | Mnemonic::Lrp | Mnemonic::Idle => (RgbOp::Mad, AlphaOp::Mad),
    }
}

/// A line with one statement: the masks say which halves it occupies.
pub(super) fn single(written: WrittenHalf) -> Parse<Pair> {
    let mut pair = Pair { w: written.dests.w, result: written.dests.result, ..Pair::IDLE };
    let default = match written.mnemonic {
        Mnemonic::Sop => RGB,
        Mnemonic::Dp => ALPHA,
        _ => 15,
    };
    let channels = written.dests.channels(default);
    if channels & !default != 0 {
        return Err(wrong_half(&written, default));
    }
    let (rgb_op, alpha_op) = unit_ops(written.mnemonic);
    // Which halves take destination, output modifier and predicate.
    let (mut rgb, mut alpha) = (channels & RGB != 0, channels & ALPHA != 0);
    if channels == 0 {
        alpha = matches!(written.mnemonic, Mnemonic::Scalar(_) | Mnemonic::Dp);
        rgb = !alpha && written.mnemonic != Mnemonic::Idle;
    }
    let wanted = match written.mnemonic {
        Mnemonic::Scalar(_) => ALPHA,
        Mnemonic::Dot(RgbOp::Dp4) => 15,
        _ if channels == 0 => RGB,
        _ => channels,
    };
    if let (Mnemonic::Scalar(_), true, Some(bare)) =
        (written.mnemonic, rgb, written.operands.iter().find(|o| o.is_bare()))
    {
        return Err(Box::new(
            Diagnostic::error("swizzle", "a transcendental operation reads one channel: say which")
                .at(bare.span, "")
                .cite("CTM §3.3.4"),
        ));
    }
    if let (Mnemonic::Scalar(_), Some(several)) = (written.mnemonic, written.operands.iter().find(|o| o.letters() > 1))
    {
        return Err(Box::new(
            Diagnostic::error(
                "swizzle",
                format!("a transcendental operation reads one channel, {} are named", several.letters()),
            )
            .at(several.span, "")
            .cite("CTM §3.3.4")
            .help("write one of .r, .g, .b, .a; the result goes to every channel of the destination"),
        ));
    }
    let list = operands(&written, wanted)?;
    let is_dot = matches!(written.mnemonic, Mnemonic::Dot(_));
    let is_scalar = matches!(written.mnemonic, Mnemonic::Scalar(_));
    if rgb || is_dot {
        pair.rgb.op = rgb_op;
        if !is_scalar {
            pair.rgb.operands = for_rgb(list);
        }
    }
    if alpha || is_scalar {
        pair.alpha.op = alpha_op;
    }
    if is_scalar || (alpha && !is_dot) || written.mnemonic == Mnemonic::Dot(RgbOp::Dp4) {
        pair.alpha.operands = for_alpha(list);
    }
    if rgb {
        fill(&mut pair.rgb, &written, RGB, default, true)?;
    }
    if alpha {
        fill(&mut pair.alpha, &written, ALPHA, default, !rgb)?;
    }
    Ok(pair)
}

fn wrong_half(written: &WrittenHalf, allowed: Mask) -> Box<Diagnostic> {
    let (half, channels) = if allowed == ALPHA { ("alpha", "a") } else { ("RGB", "r, g, b") };
    Box::new(
        Diagnostic::error("half", format!("this is the {half} half: it writes the channels {channels}"))
            .at(written.dests.span, "")
            .cite("CTM §3.3")
            .help("the RGB half stands before `|`, the alpha half behind it"),
    )
}

/// A line with two statements: the RGB half and the alpha half.
pub(super) fn both(first: WrittenHalf, mut second: WrittenHalf) -> Parse<Pair> {
    for (written, allowed) in [(&first, RGB), (&second, ALPHA)] {
        let (other_unit, instead) = match written.mnemonic {
            Mnemonic::Scalar(op) if allowed == RGB => {
                ("alpha", format!("`sop` here and `{}` behind the `|`", Mnemonic::Scalar(op).name()))
            }
            Mnemonic::Dp if allowed == RGB => ("alpha", "`dp` behind the `|`".to_owned()),
            Mnemonic::Dot(op) if allowed == ALPHA => {
                ("RGB", format!("`{}` before the `|` and `dp` here", Mnemonic::Dot(op).name()))
            }
            Mnemonic::Sop if allowed == ALPHA => ("RGB", "`sop` before the `|`".to_owned()),
            _ => ("", String::new()),
        };
        if !other_unit.is_empty() {
            return Err(Box::new(
                Diagnostic::error(
                    "half",
                    format!("`{}` is an operation of the {other_unit} unit", written.mnemonic.name()),
                )
                .at(written.span, "")
                .cite("CTM §3.3.4")
                .help(format!("write {instead}")),
            ));
        }
        if written.dests.channels(allowed) & !allowed != 0 {
            return Err(wrong_half(written, allowed));
        }
    }
    if first.dests.result.is_some() && second.dests.result.is_some() {
        return Err(Box::new(
            Diagnostic::error("destination", "an instruction has one ALU result")
                .at(second.dests.span, "")
                .cite("CTM §3.3.10"),
        ));
    }
    if first.mnemonic == Mnemonic::Dot(RgbOp::Dp4) && second.mnemonic == Mnemonic::Dp && second.operands.is_empty() {
        return Err(Box::new(
            Diagnostic::error("operand", "the fourth pair of `dp4` comes from the operands of the alpha half")
                .at(second.span, "")
                .cite("CTM §3.3.4")
                .help("write `dp dest, a, b`"),
        ));
    }
    // A predicate before the first half is for both, unless the second has its own.
    second.predicate = second.predicate.or(first.predicate);
    let result = first.dests.result.or(second.dests.result);
    let mut pair = Pair { w: first.dests.w || second.dests.w, result, ..Pair::IDLE };
    if first.mnemonic != Mnemonic::Idle {
        pair.rgb.op = unit_ops(first.mnemonic).0;
        fill(&mut pair.rgb, &first, RGB, RGB, true)?;
        let wanted = first.dests.channels(RGB);
        pair.rgb.operands = for_rgb(operands(&first, if wanted == 0 { RGB } else { wanted })?);
    }
    if second.mnemonic != Mnemonic::Idle {
        pair.alpha.op = unit_ops(second.mnemonic).1;
        fill(&mut pair.alpha, &second, ALPHA, ALPHA, true)?;
        pair.alpha.operands = for_alpha(operands(&second, ALPHA)?);
    }
    Ok(pair)
}
