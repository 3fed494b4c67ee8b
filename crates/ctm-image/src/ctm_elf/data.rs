//! Literals and symbols: data of a program beyond the Guide's notes, and its storage.

use super::{DataKind, LITERAL_WORDS};
use ctm_isa::x1k::program::{Literal, SymbolKind};

/// The stored kind of a symbol.
pub const fn data_kind(kind: SymbolKind) -> DataKind {
    match kind {
        SymbolKind::Input => DataKind::Sampler,
        SymbolKind::Output => DataKind::Output,
        SymbolKind::Float => DataKind::Float32,
        SymbolKind::Int => DataKind::Int32,
        SymbolKind::Bool => DataKind::Bool32,
    }
}

/// The symbol's kind from the stored one.
pub const fn symbol_kind(kind: DataKind) -> SymbolKind {
    match kind {
        DataKind::Sampler => SymbolKind::Input,
        DataKind::Output => SymbolKind::Output,
        DataKind::Float32 => SymbolKind::Float,
        DataKind::Int32 => SymbolKind::Int,
        DataKind::Bool32 => SymbolKind::Bool,
    }
}

/// A literal's kind and index.
pub const fn literal_place(literal: &Literal) -> (DataKind, u8) {
    match *literal {
        Literal::Float { index, .. } => (DataKind::Float32, index),
        Literal::Int { index, .. } => (DataKind::Int32, index),
        Literal::Bool { index, .. } => (DataKind::Bool32, index),
    }
}

/// The words of a literal: kind, index, value.
pub fn literal_words(literal: &Literal) -> [u32; LITERAL_WORDS] {
    let (kind, index) = literal_place(literal);
    let [a, b, c, d] = match *literal {
        Literal::Float { bits, .. } => bits,
        Literal::Int { value, .. } => [u32::from_le_bytes(value), 0, 0, 0],
        Literal::Bool { value, .. } => [u32::from(value), 0, 0, 0],
    };
    [kind.code(), u32::from(index), a, b, c, d]
}

/// The literal with this kind, index and value; `None` when there are no literals of the kind.
pub fn literal(kind: DataKind, index: u8, value: [u32; 4]) -> Option<Literal> {
    match kind {
        DataKind::Float32 => Some(Literal::Float { index, bits: value }),
        DataKind::Int32 => Some(Literal::Int { index, value: value[0].to_le_bytes() }),
        DataKind::Bool32 => Some(Literal::Bool { index, value: value[0] != 0 }),
        DataKind::Sampler | DataKind::Output => None,
    }
}
