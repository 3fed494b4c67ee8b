//! Mnemonics of ALU operations, with the spellings of other chapters and tools.

use crate::r700::ops::{AluOp, Op2, Op3};
use std::collections::HashMap;
use std::sync::LazyLock;

/// Spellings of chapter 9 that chapter 10 and every tool spell otherwise (r700-encoding §10 E17), and short ones that
/// listings of AMD's tools use.
const ALIASES: &[(&str, AluOp)] = &[
    ("CMOVE", AluOp::Op3(Op3::Cnde)),
    ("CMOVGT", AluOp::Op3(Op3::Cndgt)),
    ("CMOVGE", AluOp::Op3(Op3::Cndge)),
    ("CMOVE_INT", AluOp::Op3(Op3::CndeInt)),
    ("CMOVGT_INT", AluOp::Op3(Op3::CndgtInt)),
    ("CMOVGE_INT", AluOp::Op3(Op3::CndgeInt)),
    ("CMNDGT_INT", AluOp::Op3(Op3::CndgtInt)),
    ("PREDE", AluOp::Op2(Op2::PredSete)),
    ("PREDGT", AluOp::Op2(Op2::PredSetgt)),
    ("PREDGE", AluOp::Op2(Op2::PredSetge)),
    ("PREDNE", AluOp::Op2(Op2::PredSetne)),
    ("PREDE_INT", AluOp::Op2(Op2::PredSeteInt)),
    ("PREDGT_INT", AluOp::Op2(Op2::PredSetgtInt)),
    ("PREDGE_INT", AluOp::Op2(Op2::PredSetgeInt)),
    ("PREDNE_INT", AluOp::Op2(Op2::PredSetneInt)),
    ("ASHR", AluOp::Op2(Op2::AshrInt)),
    ("LSHR", AluOp::Op2(Op2::LshrInt)),
    ("LSHL", AluOp::Op2(Op2::LshlInt)),
];

static MNEMONICS: LazyLock<HashMap<&'static str, AluOp>> = LazyLock::new(|| {
    let mut names: HashMap<_, _> = AluOp::all().flat_map(|op| [(op.name(), op), (op.listing(), op)]).collect();
    names.extend(ALIASES.iter().copied());
    names
});

/// The operation with this spelling.
pub(super) fn mnemonic(name: &str) -> Option<AluOp> {
    MNEMONICS.get(name).copied()
}

pub(super) fn all_mnemonics() -> impl Iterator<Item = &'static str> {
    MNEMONICS.keys().copied()
}
