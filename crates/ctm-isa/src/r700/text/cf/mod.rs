//! Control-flow lines: printer and parser. Exports and memory writes are in `export`.

mod export;

use super::cursor::{Cursor, Parsed};
use super::extra::{self, Extra};
use super::names::Names;
use crate::diag::{Diagnostic, Span};
use crate::r700::KCACHE_LINE;
use crate::r700::formats::{CfAluWord0, CfAluWord1, CfWord0, CfWord1};
use crate::r700::inst::{Cf, CfAlu, CfPlain, Kcache};
use crate::r700::ops::{Addr, CfAluOp, CfOp, Clause, Cond, ExportOp, KcacheMode};
use std::fmt::Write as _;

/// Short spellings of AMD's own tools.
const ALIASES: &[(&str, CfOp)] = &[
    ("LOOP", CfOp::LoopStart),
    ("LOOP_DX10", CfOp::LoopStartDx10),
    ("LOOP_NO_AL", CfOp::LoopStartNoAl),
    ("LOOP_REP", CfOp::LoopStartNoAl),
    ("ENDLOOP", CfOp::LoopEnd),
    ("END_LOOP", CfOp::LoopEnd),
    ("BREAK", CfOp::LoopBreak),
    ("CONTINUE", CfOp::LoopContinue),
    ("RET", CfOp::Return),
];

/// The meaning of a control-flow mnemonic.
#[derive(Clone, Copy)]
pub(super) enum CfMnemonic {
    Plain(CfOp),
    Alu(CfAluOp),
    Export(ExportOp),
}

pub(super) fn mnemonic(name: &str) -> Option<CfMnemonic> {
    CfAluOp::from_name(name)
        .map(CfMnemonic::Alu)
        .or_else(|| CfOp::from_name(name).map(CfMnemonic::Plain))
        .or_else(|| {
            ExportOp::ALL.iter().find(|op| op.name() == name || op.listing() == name).map(|&op| CfMnemonic::Export(op))
        })
        .or_else(|| ALIASES.iter().find(|(alias, _)| *alias == name).map(|&(_, op)| CfMnemonic::Plain(op)))
}

pub(super) fn is_mnemonic(name: &str) -> bool {
    mnemonic(name).is_some()
}

pub(super) fn all_mnemonics() -> impl Iterator<Item = &'static str> {
    let plain = CfOp::ALL.iter().map(|op| op.name());
    let alu = CfAluOp::ALL.iter().map(|op| op.name());
    let exports = ExportOp::ALL.iter().map(|op| op.listing());
    plain.chain(alu).chain(exports)
}

/// Where a control-flow instruction's address comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// Not written.
    Missing,
    /// A number.
    Number(u32, Span),
    /// A label.
    Label(String, Span),
}

/// One control-flow line as it is read. Addresses and counts of clauses are settled later.
#[derive(Clone, Debug)]
pub(super) struct ParsedCf {
    pub(super) cf: Cf,
    pub(super) address: Address,
    pub(super) count: Option<(u32, Span)>,
    pub(super) extras: Vec<Extra>,
    pub(super) span: Span,
}

impl ParsedCf {
    /// The words once `cf` holds address and count.
    pub(super) fn words(&self) -> [u32; 2] {
        let mut words = self.cf.encode();
        self.extras.iter().for_each(|e| e.apply(&mut words));
        words
    }
}

fn plain(op: CfOp) -> CfPlain {
    let word1 = CfWord1::decode(0).unwrap_or_else(|_| unreachable!("every field of CF_WORD1 allows 0"));
    CfPlain { word0: CfWord0 { addr: 0 }, word1: CfWord1 { op, barrier: true, ..word1 } }
}

fn alu(op: CfAluOp) -> CfAlu {
    CfAlu {
        word0: CfAluWord0 { addr: 0, kcache_bank0: 0, kcache_bank1: 0, kcache_mode0: KcacheMode::Nop },
        word1: CfAluWord1 {
            kcache_mode1: KcacheMode::Nop,
            kcache_addr0: 0,
            kcache_addr1: 0,
            count: 0,
            alt_const: false,
            op,
            whole_quad_mode: false,
            barrier: true,
        },
    }
}

/// The substitute for a line that could not be read: the same kind of clause, or nothing.
pub(super) fn placeholder(what: CfMnemonic, span: Span) -> ParsedCf {
    let cf = match what {
        CfMnemonic::Plain(op) if op.info().clause == Clause::Fetch => Cf::Plain(plain(op)),
        CfMnemonic::Alu(op) => Cf::Alu(alu(op)),
        CfMnemonic::Plain(_) | CfMnemonic::Export(_) => Cf::Plain(plain(CfOp::Nop)),
    };
    ParsedCf { cf, address: Address::Missing, count: None, extras: Vec::new(), span }
}

/// An instruction as a line with nothing but its mnemonic means it.
pub(super) fn nop_that_ends() -> Cf {
    let mut nop = plain(CfOp::Nop);
    nop.word1.end_of_program = true;
    Cf::Plain(nop)
}

/// The name of the address, by operation.
const fn address_name(op: CfOp) -> &'static str {
    match op {
        CfOp::LoopStart | CfOp::LoopStartDx10 | CfOp::LoopStartNoAl => "FAIL_JUMP_ADDR",
        CfOp::LoopEnd => "PASS_JUMP_ADDR",
        _ => "ADDR",
    }
}

fn print_flags(out: &mut String, whole_quad: bool, valid_pixel: bool, barrier: bool) {
    if whole_quad {
        out.push_str(" WHOLE_QUAD");
    }
    if valid_pixel {
        out.push_str(" VALID_PIX");
    }
    if !barrier {
        out.push_str(" NO_BARRIER");
    }
}

fn print_kcache(out: &mut String, set: usize, kcache: Kcache) {
    let first = u32::from(kcache.line) * KCACHE_LINE;
    let last = first + kcache.mode.constants().saturating_sub(1);
    let _ = match kcache.mode {
        KcacheMode::Nop => Ok(()),
        KcacheMode::Lock1 | KcacheMode::Lock2 => write!(out, " KCACHE{set}(CB{}:{first}-{last})", kcache.bank),
        KcacheMode::LockLoopIndex => write!(out, " KCACHE{set}(CB{}:AL+{first}-AL+{last})", kcache.bank),
    };
}

/// Prints an instruction from its mnemonic on. END_OF_PROGRAM is a line of its own.
pub(super) fn print(out: &mut String, cf: &Cf, words: [u32; 2]) {
    let said = match cf {
        Cf::Plain(i) => print_plain(out, i),
        Cf::Alu(i) => print_alu(out, i),
        Cf::Export(i) => export::print_export(out, i),
        Cf::Mem(i) => export::print_mem(out, i),
    };
    extra::print(out, &cf.formats(), &words, &said);
}

fn print_plain(out: &mut String, i: &CfPlain) -> [u32; 2] {
    let w = &i.word1;
    let info = w.op.info();
    out.push_str(w.op.name());
    let mut said = CfWord1 { end_of_program: w.end_of_program, ..plain(w.op).word1 };
    if info.clause == Clause::Fetch {
        let _ = write!(out, ": ADDR({}) CNT({})", i.word0.addr, i.fetches());
        (said.count, said.count_3) = (w.count, w.count_3);
    }
    if w.cond != Cond::Active {
        let _ = write!(out, " CND({})", w.cond.name());
    }
    if w.cond != Cond::Active || w.cf_const != 0 || info.loop_constant {
        let _ = write!(out, " CF_CONST({})", w.cf_const);
    }
    if w.call_count != 0 {
        let _ = write!(out, " CALL_COUNT({})", w.call_count);
    }
    if w.pop_count != 0 {
        let _ = write!(out, " POP_CNT({})", w.pop_count);
    }
    if info.clause == Clause::None && (info.addr != Addr::Ignored || i.word0.addr != 0) {
        let _ = write!(out, " {}({})", address_name(w.op), i.word0.addr);
    }
    print_flags(out, w.whole_quad_mode, w.valid_pixel_mode, w.barrier);
    (said.cond, said.cf_const, said.call_count, said.pop_count) = (w.cond, w.cf_const, w.call_count, w.pop_count);
    (said.whole_quad_mode, said.valid_pixel_mode, said.barrier) = (w.whole_quad_mode, w.valid_pixel_mode, w.barrier);
    [i.word0.addr, said.encode()]
}

fn print_alu(out: &mut String, i: &CfAlu) -> [u32; 2] {
    let w = &i.word1;
    let _ = write!(out, "{}: ADDR({}) CNT({})", w.op.name(), i.word0.addr, i.slots());
    let mut said = alu(w.op);
    said.word0.addr = i.word0.addr;
    said.word1.count = w.count;
    let [k0, k1] = i.kcache();
    print_kcache(out, 0, k0);
    print_kcache(out, 1, k1);
    if k0.mode != KcacheMode::Nop {
        (said.word0.kcache_mode0, said.word0.kcache_bank0, said.word1.kcache_addr0) = (k0.mode, k0.bank, k0.line);
    }
    if k1.mode != KcacheMode::Nop {
        (said.word1.kcache_mode1, said.word0.kcache_bank1, said.word1.kcache_addr1) = (k1.mode, k1.bank, k1.line);
    }
    if w.alt_const {
        out.push_str(" ALT_CONST");
    }
    print_flags(out, w.whole_quad_mode, false, w.barrier);
    (said.word1.alt_const, said.word1.whole_quad_mode, said.word1.barrier) =
        (w.alt_const, w.whole_quad_mode, w.barrier);
    [said.word0.encode(), said.word1.encode()]
}

/// Reads an instruction after its mnemonic.
pub(super) fn parse(c: &mut Cursor<'_>, names: &Names, what: CfMnemonic) -> Parsed<ParsedCf> {
    c.eat(b':');
    let mut parsed = ParsedCf {
        cf: Cf::Plain(plain(CfOp::Nop)),
        address: Address::Missing,
        count: None,
        extras: Vec::new(),
        span: c.line_span(),
    };
    parsed.cf = match what {
        CfMnemonic::Plain(op) => Cf::Plain(plain(op)),
        CfMnemonic::Alu(op) => Cf::Alu(alu(op)),
        CfMnemonic::Export(op) if op.is_export() => Cf::Export(export::parse_export(c, names, op)?),
        CfMnemonic::Export(op) => Cf::Mem(export::parse_mem(c, names, op)?),
    };
    // AMD's tools print `POP (1)`.
    if let (Cf::Plain(i), b'(') = (&mut parsed.cf, c.peek())
        && i.word1.op == CfOp::Pop
    {
        i.word1.pop_count = narrow(parenthesised(c, "the pop count", 7)?);
    }
    while !c.at_end() {
        parse_modifier(c, &mut parsed)?;
    }
    Ok(parsed)
}

/// Reads `(CB1:16-31)` or `(CB1:AL+16-AL+47)`.
fn parse_kcache(c: &mut Cursor<'_>) -> Parsed<Kcache> {
    c.expect(b'(', "behind KCACHE")?;
    c.peek();
    let start = c.place();
    let bank = if c.eat_text("CB") { c.digits() } else { None };
    let Some(bank) = bank.and_then(|b| u8::try_from(b).ok()).filter(|&b| b < 16) else {
        return c.fail("kcache", start, "a constant buffer is expected here: CB0 to CB15");
    };
    c.expect(b':', "behind the constant buffer")?;
    c.peek();
    let at = c.place();
    let limit = 255 * KCACHE_LINE + 31;
    let bound = |c: &mut Cursor<'_>| -> Parsed<(bool, u32)> {
        c.peek();
        let relative = c.eat_text("AL");
        if relative {
            c.expect(b'+', "behind AL")?;
        }
        Ok((relative, c.integer("a constant", limit)?))
    };
    let (relative, first) = bound(c)?;
    c.expect(b'-', "between the first and the last constant")?;
    let (_, last) = bound(c)?;
    let mode = match (relative, last.wrapping_sub(first).wrapping_add(1)) {
        (false, 16) => Some(KcacheMode::Lock1),
        (false, 32) => Some(KcacheMode::Lock2),
        (true, 32) => Some(KcacheMode::LockLoopIndex),
        _ => None,
    };
    let line = u8::try_from(first / KCACHE_LINE).ok().filter(|_| first % KCACHE_LINE == 0);
    let (Some(mode), Some(line)) = (mode, line) else {
        let span = c.span(at);
        c.report(
            Diagnostic::error("kcache", format!("constants {first} to {last} are not one or two lines of 16"))
                .at(span, "")
                .cite("R700 §4.6.4.1")
                .help(format!("{0}-{1} or {0}-{2}", first / 16 * 16, first / 16 * 16 + 15, first / 16 * 16 + 31)),
        );
        return Err(super::cursor::Reported);
    };
    c.expect(b')', "behind the constants")?;
    Ok(Kcache { mode, bank, line })
}

/// Reads the number or label in parentheses after an address.
fn parse_address(c: &mut Cursor<'_>) -> Parsed<Address> {
    c.expect(b'(', "behind ADDR")?;
    c.peek();
    let start = c.place();
    c.eat(b'@');
    let address = if c.peek().is_ascii_digit() {
        let n = c.integer("an address", u32::MAX)?;
        Address::Number(n, c.span(start))
    } else if let Some(label) = c.word() {
        Address::Label(label.to_owned(), c.span(start))
    } else {
        return c.fail("syntax", start, "an address is a number of slots or a label");
    };
    c.expect(b')', "behind the address")?;
    Ok(address)
}

fn parenthesised(c: &mut Cursor<'_>, what: &str, max: u32) -> Parsed<u32> {
    c.expect(b'(', "here")?;
    let value = c.integer(what, max)?;
    c.expect(b')', "behind the number")?;
    Ok(value)
}

fn narrow(value: u32) -> u8 {
    u8::try_from(value).unwrap_or(u8::MAX)
}

fn parse_modifier(c: &mut Cursor<'_>, parsed: &mut ParsedCf) -> Parsed<()> {
    let start = c.place();
    let Some(name) = c.word() else {
        let found = c.found();
        return c.fail("syntax", start, format!("a modifier is expected here, not {found}"));
    };
    match (name, &mut parsed.cf) {
        ("ADDR" | "FAIL_JUMP_ADDR" | "PASS_JUMP_ADDR", Cf::Plain(_) | Cf::Alu(_)) => parsed.address = parse_address(c)?,
        ("CNT", Cf::Plain(i)) if i.word1.op.info().clause == Clause::Fetch => {
            let n = parenthesised(c, "the number of fetches", 16)?;
            parsed.count = Some((n, c.span(start)));
        }
        ("CNT", Cf::Alu(_)) => {
            let n = parenthesised(c, "the number of slots", 128)?;
            parsed.count = Some((n, c.span(start)));
        }
        ("POP_CNT", Cf::Plain(i)) => i.word1.pop_count = narrow(parenthesised(c, "the pop count", 7)?),
        ("CF_CONST", Cf::Plain(i)) => i.word1.cf_const = narrow(parenthesised(c, "the constant", 31)?),
        ("CALL_COUNT", Cf::Plain(i)) => i.word1.call_count = narrow(parenthesised(c, "the call count", 63)?),
        ("CND", Cf::Plain(i)) => {
            c.expect(b'(', "behind CND")?;
            c.peek();
            let at = c.place();
            let Some(cond) = c.word().and_then(|w| match w {
                "TRUE" => Some(Cond::Bool),
                w => Cond::from_name(w),
            }) else {
                return c.fail("condition", at, "a condition is ACTIVE, FALSE, BOOL or NOT_BOOL");
            };
            i.word1.cond = cond;
            c.expect(b')', "behind the condition")?;
        }
        ("KCACHE0", Cf::Alu(i)) => {
            let k = parse_kcache(c)?;
            (i.word0.kcache_mode0, i.word0.kcache_bank0, i.word1.kcache_addr0) = (k.mode, k.bank, k.line);
        }
        ("KCACHE1", Cf::Alu(i)) => {
            let k = parse_kcache(c)?;
            (i.word1.kcache_mode1, i.word0.kcache_bank1, i.word1.kcache_addr1) = (k.mode, k.bank, k.line);
        }
        ("ALT_CONST" | "USES_WATERFALL", Cf::Alu(i)) if c.next_byte() != b'(' => i.word1.alt_const = true,
        ("BURSTCNT", Cf::Export(i)) => i.word1.burst_count = narrow(parenthesised(c, "the burst count", 15)?),
        ("BURSTCNT", Cf::Mem(i)) => i.word1.burst_count = narrow(parenthesised(c, "the burst count", 15)?),
        ("NO_BARRIER", cf) => *flags(cf).0 = false,
        ("WHOLE_QUAD" | "WHOLE_QUAD_MODE", cf) if c.next_byte() != b'(' => *flags(cf).1 = true,
        ("VALID_PIX", cf) => match flags(cf).2 {
            Some(flag) => *flag = true,
            None => return c.fail("modifier", start, "ALU clauses have no valid-pixel mode"),
        },
        // AMD's tools print a loop constant for DirectX 10 loops too, which have none.
        (name, Cf::Plain(i))
            if (i.word1.op.info().loop_constant || i.word1.op.starts_loop()) && is_loop_constant(name) =>
        {
            let index = name[1..].parse().unwrap_or(u8::MAX);
            if index > 31 {
                return c.fail("range", start, format!("loop constants are i0 to i31, not {name}"));
            }
            i.word1.cf_const = index;
        }
        (name, cf) => {
            let formats = cf.formats();
            match extra::parse(c, &formats, name) {
                Some(found) => parsed.extras.push(found?),
                None => {
                    return c.fail("modifier", start, format!("`{name}` is not a modifier of {}", parsed.cf.name()));
                }
            }
        }
    }
    Ok(())
}

fn is_loop_constant(name: &str) -> bool {
    name.len() > 1 && name.starts_with('i') && name[1..].bytes().all(|b| b.is_ascii_digit())
}

/// The barrier, whole-quad and valid-pixel flags.
fn flags(cf: &mut Cf) -> (&mut bool, &mut bool, Option<&mut bool>) {
    match cf {
        Cf::Plain(i) => (&mut i.word1.barrier, &mut i.word1.whole_quad_mode, Some(&mut i.word1.valid_pixel_mode)),
        Cf::Alu(i) => (&mut i.word1.barrier, &mut i.word1.whole_quad_mode, None),
        Cf::Export(i) => (&mut i.word1.barrier, &mut i.word1.whole_quad_mode, Some(&mut i.word1.valid_pixel_mode)),
        Cf::Mem(i) => (&mut i.word1.barrier, &mut i.word1.whole_quad_mode, Some(&mut i.word1.valid_pixel_mode)),
    }
}

/// Sets the end-of-program flag; `false` for ALU clauses, which have none.
pub(super) fn set_end(cf: &mut Cf) -> bool {
    match cf {
        Cf::Plain(i) => i.word1.end_of_program = true,
        Cf::Alu(_) => return false,
        Cf::Export(i) => i.word1.end_of_program = true,
        Cf::Mem(i) => i.word1.end_of_program = true,
    }
    true
}

/// Sets the address and, for clauses, the count (slots of an ALU clause, fetches of another).
pub(super) fn set_clause(cf: &mut Cf, addr: u32, count: u32) {
    match cf {
        Cf::Plain(i) => {
            i.word0.addr = addr;
            if i.word1.op.info().clause == Clause::Fetch {
                let n = count.saturating_sub(1);
                i.word1.count = narrow(n & 7);
                i.word1.count_3 = n & 8 != 0;
            }
        }
        Cf::Alu(i) => {
            i.word0.addr = addr;
            i.word1.count = narrow(count.saturating_sub(1));
        }
        Cf::Export(_) | Cf::Mem(_) => {}
    }
}
