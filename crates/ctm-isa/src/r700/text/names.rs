//! Names that the source gives to registers, constants, resources and samplers.

use crate::r700::program::{Symbol, SymbolKind};
use std::collections::{HashMap, HashSet};

/// The meaning of each name.
#[derive(Default)]
pub(super) struct Names {
    by_name: HashMap<String, (SymbolKind, u8)>,
    /// Names that were refused: their uses are no mistakes of their own.
    refused: HashSet<String>,
    /// The same in the order of their definition.
    pub(super) symbols: Vec<Symbol>,
}

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<(SymbolKind, u8)> {
        if self.by_name.is_empty() { None } else { self.by_name.get(name).copied() }
    }

    /// Notes that a definition of the name has been reported.
    pub(super) fn refuse(&mut self, name: &str) {
        self.refused.insert(name.to_owned());
    }

    pub(super) fn is_refused(&self, name: &str) -> bool {
        self.refused.contains(name)
    }

    /// Defines a name; `false` if it is defined already.
    pub(super) fn define(&mut self, name: &str, kind: SymbolKind, index: u8) -> bool {
        if self.by_name.insert(name.to_owned(), (kind, index)).is_some() {
            return false;
        }
        self.symbols.push(Symbol { name: name.to_owned(), kind, index });
        true
    }
}
