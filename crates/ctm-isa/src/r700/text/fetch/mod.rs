//! Fetches as text.
//!
//! Each kind has its printer and parser in a file of its own; `parts` is shared.

mod lds;
mod mem;
mod parts;
mod tex;
mod vtx;

pub(super) use parts::{parse_register, parse_swizzle, print_swizzle};

use super::cursor::{Cursor, Parsed};
use super::extra::{self, Extra};
use super::names::Names;
use crate::diag::Span;
use crate::r700::inst::{Fetch, FetchInst};
use crate::r700::ops::{MemOp, TexOp, VtxOp};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// The meaning of a fetch mnemonic.
#[derive(Clone, Copy)]
pub(super) enum FetchMnemonic {
    Tex(TexOp),
    Vtx(VtxOp),
    Mem(MemOp),
}

static MNEMONICS: LazyLock<HashMap<&'static str, FetchMnemonic>> = LazyLock::new(|| {
    let tex = TexOp::ALL.iter().filter(|op| !matches!(op, TexOp::VtxFetch | TexOp::VtxSemantic | TexOp::Mem));
    let mut names: HashMap<_, _> =
        tex.flat_map(|&op| [(op.name(), FetchMnemonic::Tex(op)), (op.listing(), FetchMnemonic::Tex(op))]).collect();
    names.extend(MemOp::ALL.iter().map(|&op| (op.name(), FetchMnemonic::Mem(op))));
    names.extend([
        ("FETCH", FetchMnemonic::Vtx(VtxOp::Fetch)),
        ("VTX_FETCH", FetchMnemonic::Vtx(VtxOp::Fetch)),
        ("VFETCH", FetchMnemonic::Vtx(VtxOp::Fetch)),
        ("SEMANTIC", FetchMnemonic::Vtx(VtxOp::Semantic)),
        ("VTX_SEMANTIC", FetchMnemonic::Vtx(VtxOp::Semantic)),
    ]);
    names
});

pub(super) fn mnemonic(name: &str) -> Option<FetchMnemonic> {
    MNEMONICS.get(name).copied()
}

pub(super) fn is_mnemonic(name: &str) -> bool {
    MNEMONICS.contains_key(name)
}

pub(super) fn all_mnemonics() -> impl Iterator<Item = &'static str> {
    MNEMONICS.keys().copied()
}

/// The meaning of a fetch mnemonic, in any case of letters.
pub(super) fn meaning(word: &str) -> Option<(&'static str, Vec<&'static str>)> {
    let found = MNEMONICS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, what)| *what)?;
    let name = match found {
        FetchMnemonic::Tex(op) => op.name(),
        FetchMnemonic::Vtx(op) => op.name(),
        FetchMnemonic::Mem(op) => op.name(),
    };
    Some(("a fetch under another name", vec![name]))
}

/// Prints a fetch from its mnemonic on.
pub(super) fn print(out: &mut String, inst: &FetchInst, words: [u32; 4]) {
    let said = match &inst.fetch {
        Fetch::Vtx(i) => vtx::print_vtx(out, i),
        Fetch::Tex(i) => tex::print_tex(out, i),
        Fetch::MemRd(i) => mem::print_mem_rd(out, i),
        Fetch::MemDsw(i) => lds::print_dsw(out, i),
        Fetch::MemDsr(i) => lds::print_dsr(out, i),
    };
    extra::print(out, &inst.fetch.formats(), &words[..3], &said);
    if inst.padding != 0 {
        let _ = write!(out, " PAD(0x{:08X})", inst.padding);
    }
}

/// One fetch as it is read.
#[derive(Clone, Debug)]
pub(super) struct ParsedFetch {
    pub(super) words: [u32; 4],
    /// Whether only a texture clause can hold it.
    pub(super) texture: bool,
    pub(super) span: Span,
}

/// Reads a fetch after its mnemonic.
pub(super) fn parse(c: &mut Cursor<'_>, names: &Names, what: FetchMnemonic) -> Parsed<ParsedFetch> {
    let mut fetch = match what {
        FetchMnemonic::Tex(op) => Fetch::Tex(tex::parse_tex(c, names, op)?),
        FetchMnemonic::Vtx(op) => Fetch::Vtx(vtx::parse_vtx(c, names, op)?),
        FetchMnemonic::Mem(MemOp::LocalDsWrite) => Fetch::MemDsw(lds::parse_dsw(c, names)?),
        FetchMnemonic::Mem(MemOp::LocalDsRead) => Fetch::MemDsr(lds::parse_dsr(c, names)?),
        FetchMnemonic::Mem(op) => Fetch::MemRd(mem::parse_mem_rd(c, names, op)?),
    };
    let mut extras: Vec<Extra> = Vec::new();
    let mut padding = 0;
    while !c.at_end() {
        let start = c.place();
        let Some(name) = c.word() else {
            let found = c.found();
            return c.fail("syntax", start, format!("a modifier is expected here, not {found}"));
        };
        if name == "PAD" {
            padding = parts::parenthesised(c, "the fourth dword", u32::MAX)?;
            continue;
        }
        let known = match &mut fetch {
            Fetch::Tex(i) => tex::tex_modifier(c, i, name)?,
            Fetch::Vtx(i) => vtx::vtx_modifier(c, i, name)?,
            Fetch::MemRd(i) => mem::mem_rd_modifier(c, i, name)?,
            Fetch::MemDsw(i) => lds::dsw_modifier(c, i, name)?,
            Fetch::MemDsr(i) => lds::dsr_modifier(c, i, name)?,
        };
        if !known {
            match extra::parse(c, &fetch.formats(), name) {
                Some(found) => extras.push(found?),
                None => return c.fail("modifier", start, format!("`{name}` is not a modifier of {}", fetch.name())),
            }
        }
    }
    let mut words = FetchInst { fetch, padding }.encode();
    extras.iter().for_each(|e| e.apply(&mut words));
    Ok(ParsedFetch { words, texture: matches!(fetch, Fetch::Tex(_)), span: c.line_span() })
}
