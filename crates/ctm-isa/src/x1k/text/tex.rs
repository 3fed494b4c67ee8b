//! Texture instructions: parsed, lowered to words, lifted from words, printed.

use super::Parse;
use super::alu::{predicate, print_predicate};
use super::attrs::Attrs;
use super::lexer::Cursor;
use super::names::{Names, RegisterFile};
use super::operand::{CHANNELS, Mask, letter, mask, print_mask};
use super::pair::Predicate;
use crate::diag::Diagnostic;
use crate::x1k::formats::{CmnInst, TexAddr, TexAddrDxDy, TexInst};
use crate::x1k::inst::TexInstruction;
use crate::x1k::ops::{AluResultSel, Channel, CompareOp, InstType, PredSel, TexOp};

/// The mnemonics, one for each operation.
pub(super) const MNEMONICS: &[(&str, TexOp)] = &[
    ("texnop", TexOp::Nop),
    ("tex", TexOp::Lookup),
    ("texkill", TexOp::KillLt0),
    ("texp", TexOp::LookupProj),
    ("texb", TexOp::LodBias),
    ("texl", TexOp::Lod),
    ("texg", TexOp::Dxdy),
    ("texu", TexOp::LookupUncached),
];

const IDENTITY: [Channel; 4] = [Channel::R, Channel::G, Channel::B, Channel::A];

/// A temporary with a swizzle: coordinates or gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Coordinates {
    index: u8,
    relative: bool,
    swizzle: [Channel; 4],
}

/// The contents of a texture line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tex {
    op: TexOp,
    rgb_pred: Predicate,
    alpha_pred: Predicate,
    mask: Mask,
    dst: u8,
    dst_rel: bool,
    result: [Channel; 4],
    input: u8,
    source: Coordinates,
    /// For DXDY.
    gradients: Option<[Coordinates; 2]>,
}

/// Parses a line that begins with one of [`MNEMONICS`] after its predicate.
pub(super) fn parse<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<(Tex, Attrs)> {
    let (rgb_pred, alpha_pred) = predicate(cursor)?.unwrap_or((Predicate::NONE, Predicate::NONE));
    let word = cursor.word("a texture instruction")?;
    let op = MNEMONICS.iter().find(|m| m.0 == word).map_or(TexOp::Nop, |m| m.1);
    let zero = Coordinates { index: 0, relative: false, swizzle: IDENTITY };
    let mut tex = Tex {
        op,
        rgb_pred,
        alpha_pred,
        mask: 0,
        dst: 0,
        dst_rel: false,
        result: IDENTITY,
        input: 0,
        source: zero,
        gradients: None,
    };
    match op {
        TexOp::Nop => {}
        TexOp::KillLt0 => {
            let (index, relative) = temp(cursor, names)?;
            tex.mask = mask(cursor)?.unwrap_or(15);
            tex.source = Coordinates { index, relative, swizzle: IDENTITY };
        }
        TexOp::Lookup | TexOp::LookupProj | TexOp::LodBias | TexOp::Lod | TexOp::Dxdy | TexOp::LookupUncached => {
            (tex.dst, tex.dst_rel) = temp(cursor, names)?;
            tex.mask = mask(cursor)?.unwrap_or(15);
            cursor.expect(',', "and an input")?;
            tex.input = names.plain(cursor, RegisterFile::Input)?;
            tex.result = result_swizzle(cursor, tex.mask)?;
            cursor.expect(',', "and the coordinates")?;
            tex.source = coordinates(cursor, names)?;
            if op == TexOp::Dxdy {
                cursor.expect(',', "and the gradient along x")?;
                let dx = coordinates(cursor, names)?;
                cursor.expect(',', "and the gradient along y")?;
                tex.gradients = Some([dx, coordinates(cursor, names)?]);
            }
        }
    }
    let mut attrs = Attrs::default();
    while !cursor.is_at_end() {
        attrs.parse(cursor, names, &[InstType::Tex])?;
    }
    Ok((tex, attrs))
}

fn temp<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<(u8, bool)> {
    let span = cursor.span();
    let register = names.register(cursor, "a temporary register such as `r0`")?;
    if register.file == RegisterFile::Temp {
        return Ok((register.index, register.relative));
    }
    Err(Box::new(
        Diagnostic::error(
            "operand",
            format!("found {}: a texture instruction uses temporaries only", register.file.what()),
        )
        .at(span, "")
        .cite("CTM §3.4")
        .help("move the value into a temporary first"),
    ))
}

fn channels(cursor: &mut Cursor<'_, '_>) -> Parse<Option<Vec<Channel>>> {
    let Some((text, span)) = cursor.eat_dotted() else { return Ok(None) };
    let mut list = Vec::new();
    for c in text.chars() {
        let Some(&channel) = "rgba".find(c).and_then(|n| IDENTITY.get(n)) else {
            return Err(Box::new(
                Diagnostic::error(
                    "swizzle",
                    format!("`{c}` is not a channel: a texture swizzle is made of r, g, b, a"),
                )
                .at(span, "")
                .cite("CTM §3.4"),
            ));
        };
        list.push(channel);
    }
    if list.len() > 4 {
        return Err(Box::new(
            Diagnostic::error(
                "swizzle",
                format!("the swizzle `.{text}` has {} components, at most 4 are allowed", list.len()),
            )
            .at(span, ""),
        ));
    }
    Ok(Some(list))
}

/// Which fetched channel goes where: one for all, one for each written channel, or all four.
fn result_swizzle(cursor: &mut Cursor<'_, '_>, mask: Mask) -> Parse<[Channel; 4]> {
    let span = cursor.span();
    let Some(list) = channels(cursor)? else { return Ok(IDENTITY) };
    let written = mask.count_ones() as usize;
    let mut result = IDENTITY;
    match list[..] {
        [r, g, b, a] => result = [r, g, b, a],
        [one] => (0..4).filter(|i| mask & 1 << i != 0).for_each(|i| result[i] = one),
        _ if list.len() == written => {
            (0..4).filter(|i| mask & 1 << i != 0).zip(&list).for_each(|(i, &channel)| result[i] = channel);
        }
        _ => {
            let allowed = match written {
                2 | 3 => format!("1, {written} or 4"),
                _ => "1 or 4".to_owned(),
            };
            return Err(Box::new(
                Diagnostic::error(
                    "swizzle",
                    format!("the result has {} components, {allowed} fit the destination", list.len()),
                )
                .at(span, "")
                .cite("CTM §3.4"),
            ));
        }
    }
    Ok(result)
}

/// Two components are S and T (R and Q then read alpha), one means all four.
fn coordinates<'a>(cursor: &mut Cursor<'_, 'a>, names: &Names<'a>) -> Parse<Coordinates> {
    let (index, relative) = temp(cursor, names)?;
    let swizzle = match channels(cursor)? {
        None => IDENTITY,
        Some(list) => match list[..] {
            [one] => [one; 4],
            _ => std::array::from_fn(|i| list.get(i).copied().unwrap_or(Channel::A)),
        },
    };
    Ok(Coordinates { index, relative, swizzle })
}

impl Tex {
    /// The words, without fields set by attributes.
    pub fn lower(&self, attrs: &Attrs) -> TexInstruction {
        let lookup = self.op.is_lookup();
        let [dx, dy] =
            self.gradients.unwrap_or([Coordinates { index: 0, relative: false, swizzle: [Channel::R; 4] }; 2]);
        let zero = [Channel::R; 4];
        let (source, result) = match self.op {
            TexOp::Nop => (zero, zero),
            TexOp::KillLt0 => (self.source.swizzle, zero),
            _ => (self.source.swizzle, self.result),
        };
        TexInstruction {
            cmn: CmnInst {
                kind: InstType::Tex,
                tex_sem_wait: false,
                rgb_pred_sel: self.rgb_pred.sel,
                rgb_pred_inv: self.rgb_pred.invert,
                write_inactive: attrs.inactive,
                last: attrs.last,
                nop: false,
                alu_wait: false,
                rgb_wmask: self.mask & 7,
                alpha_wmask: self.mask & 8 != 0,
                rgb_omask: 0,
                alpha_omask: false,
                rgb_clamp: false,
                alpha_clamp: false,
                alu_result_sel: AluResultSel::Red,
                alpha_pred_inv: self.alpha_pred.invert,
                alu_result_op: CompareOp::Equal,
                alpha_pred_sel: self.alpha_pred.sel,
                stat_we: 0,
            },
            inst: TexInst {
                tex_id: self.input,
                op: self.op,
                tex_sem_acquire: false,
                ignore_uncovered: attrs.covered,
                unscaled: lookup && !attrs.scaled,
            },
            addr: TexAddr {
                src_addr: self.source.index,
                src_addr_rel: self.source.relative,
                src_s_swiz: source[0],
                src_t_swiz: source[1],
                src_r_swiz: source[2],
                src_q_swiz: source[3],
                dst_addr: self.dst,
                dst_addr_rel: self.dst_rel,
                dst_r_swiz: result[0],
                dst_g_swiz: result[1],
                dst_b_swiz: result[2],
                dst_a_swiz: result[3],
            },
            dxdy: TexAddrDxDy {
                dx_addr: dx.index,
                dx_addr_rel: dx.relative,
                dx_s_swiz: dx.swizzle[0],
                dx_t_swiz: dx.swizzle[1],
                dx_r_swiz: dx.swizzle[2],
                dx_q_swiz: dx.swizzle[3],
                dy_addr: dy.index,
                dy_addr_rel: dy.relative,
                dy_s_swiz: dy.swizzle[0],
                dy_t_swiz: dy.swizzle[1],
                dy_r_swiz: dy.swizzle[2],
                dy_q_swiz: dy.swizzle[3],
            },
        }
    }

    /// The part of the words that a line can express; raw fields have the rest.
    pub fn lift(inst: &TexInstruction) -> (Self, Attrs) {
        let (c, a, d) = (&inst.cmn, &inst.addr, &inst.dxdy);
        let op = inst.inst.op;
        let lookup = op.is_lookup();
        let pred = |sel, invert| Predicate { sel, invert: invert && sel != PredSel::None };
        let zero = Coordinates { index: 0, relative: false, swizzle: IDENTITY };
        let tex = Self {
            op,
            rgb_pred: pred(c.rgb_pred_sel, c.rgb_pred_inv),
            alpha_pred: pred(c.alpha_pred_sel, c.alpha_pred_inv),
            mask: if op == TexOp::Nop { 0 } else { c.rgb_wmask | u8::from(c.alpha_wmask) << 3 },
            dst: if lookup { a.dst_addr } else { 0 },
            dst_rel: lookup && a.dst_addr_rel,
            result: if lookup { [a.dst_r_swiz, a.dst_g_swiz, a.dst_b_swiz, a.dst_a_swiz] } else { IDENTITY },
            input: if lookup { inst.inst.tex_id } else { 0 },
            source: if op == TexOp::Nop {
                zero
            } else {
                Coordinates {
                    index: a.src_addr,
                    relative: a.src_addr_rel,
                    swizzle: if lookup { [a.src_s_swiz, a.src_t_swiz, a.src_r_swiz, a.src_q_swiz] } else { IDENTITY },
                }
            },
            gradients: (op == TexOp::Dxdy).then_some([
                Coordinates {
                    index: d.dx_addr,
                    relative: d.dx_addr_rel,
                    swizzle: [d.dx_s_swiz, d.dx_t_swiz, d.dx_r_swiz, d.dx_q_swiz],
                },
                Coordinates {
                    index: d.dy_addr,
                    relative: d.dy_addr_rel,
                    swizzle: [d.dy_s_swiz, d.dy_t_swiz, d.dy_r_swiz, d.dy_q_swiz],
                },
            ]),
        };
        let attrs = Attrs {
            last: c.last,
            inactive: c.write_inactive,
            covered: inst.inst.ignore_uncovered,
            scaled: lookup && !inst.inst.unscaled,
            ..Attrs::default()
        };
        (tex, attrs)
    }

    /// The statement without its attributes.
    pub fn print(&self, input: &dyn Fn(u8) -> Option<String>) -> String {
        let mut text = String::new();
        if self.rgb_pred != self.alpha_pred {
            text.push_str(&format!("({} | {}) ", print_predicate(self.rgb_pred), print_predicate(self.alpha_pred)));
        } else if self.rgb_pred != Predicate::NONE {
            text.push_str(&format!("({}) ", print_predicate(self.rgb_pred)));
        }
        let name = MNEMONICS.iter().find(|m| m.1 == self.op).map_or("texnop", |m| m.0);
        text.push_str(&format!("{name:<5}"));
        match self.op {
            TexOp::Nop => {}
            TexOp::KillLt0 => {
                text.push_str(&format!(
                    " {}{}",
                    print_temp(self.source.index, self.source.relative),
                    print_mask(self.mask)
                ));
            }
            _ => {
                let input = input(self.input).unwrap_or_else(|| format!("s{}", self.input));
                text.push_str(&format!(
                    " {}{}, {input}{}, {}",
                    print_temp(self.dst, self.dst_rel),
                    print_mask(self.mask),
                    self.print_result(),
                    print_coordinates(&self.source)
                ));
                for gradient in self.gradients.iter().flatten() {
                    text.push_str(&format!(", {}", print_coordinates(gradient)));
                }
            }
        }
        text.truncate(text.trim_end().len());
        text
    }

    fn print_result(&self) -> String {
        if self.result == IDENTITY {
            return String::new();
        }
        let packed = self.mask != 0 && (0..4).all(|i| self.mask & 1 << i != 0 || self.result[i] == IDENTITY[i]);
        let shown = if packed { self.mask } else { 15 };
        std::iter::once('.')
            .chain((0..4).filter(|i| shown & 1 << i != 0).map(|i| channel_letter(self.result[i])))
            .collect()
    }
}

fn channel_letter(channel: Channel) -> char {
    letter(CHANNELS[channel.code() as usize])
}

fn print_temp(index: u8, relative: bool) -> String {
    super::operand::print_source(crate::x1k::inst::Source::Temp { index, relative }, &|_| None)
}

fn print_coordinates(source: &Coordinates) -> String {
    let register = print_temp(source.index, source.relative);
    let s = source.swizzle;
    let letters: String = s.iter().map(|&c| channel_letter(c)).collect();
    let shown = match s {
        IDENTITY => return register,
        [r, g, b, a] if r == g && g == b && b == a => 1,
        [_, _, Channel::A, Channel::A] => 2,
        [_, _, _, Channel::A] => 3,
        _ => 4,
    };
    format!("{register}.{}", &letters[..shown])
}
