//! Literals and constants that have a place of their own, so that each use needs not load them again.

use super::lir::{Lir, Src};
use crate::ir::map::Map;

/// Such places.
#[derive(Debug)]
pub struct Kept<T> {
    all: Vec<(Src, T)>,
    /// For each constant one more than its place among all; 0: it has none.
    constants: Vec<u16>,
    literals: Vec<(u32, T)>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { all: Vec::new(), constants: Vec::new(), literals: Vec::new() }
    }
}

impl<T: Copy> Kept<T> {
    /// Adds one.
    pub fn add(&mut self, src: Src, place: T) {
        self.all.push((src, place));
        match src {
            Src::Literal(bits) => self.literals.push((bits, place)),
            Src::Const(index) => {
                let index = usize::from(index);
                self.constants.resize(self.constants.len().max(index + 1), 0);
                self.constants[index] = self.all.len() as u16;
            }
            Src::Vector(_) | Src::Row(_) => {}
        }
    }

    /// The place of an operand.
    pub fn of(&self, src: Src) -> Option<T> {
        match src {
            Src::Literal(bits) => self.literals.iter().find(|(of, _)| *of == bits).map(|&(_, place)| place),
            Src::Const(index) => {
                let number = *self.constants.get(usize::from(index))?;
                self.all.get(usize::from(number).wrapping_sub(1)).map(|&(_, place)| place)
            }
            Src::Vector(_) | Src::Row(_) => None,
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Src, T)> {
        self.all.iter().copied()
    }
}

/// The literals and constants that blocks use, and how much: a use in a loop counts eight times one around it. The most used come first. Of each block: loops
/// around it, and its instructions.
pub fn uses<'a>(blocks: impl Iterator<Item = (u8, &'a [Lir])>) -> Vec<(Src, u64)> {
    let mut uses: Vec<(Src, u64)> = Vec::new();
    // Places among them: of constants one more, 0 for none.
    let mut constants: Vec<u32> = Vec::new();
    let mut literals: Map<u32, u32> = Map::default();
    for (loops, lines) in blocks {
        let weight = 1u64 << (3 * loops);
        let mut note = |src: Src| {
            let next = uses.len() as u32;
            let place = match src {
                Src::Literal(bits) => *literals.entry(bits).or_insert(next),
                Src::Const(index) => {
                    let index = usize::from(index);
                    if index >= constants.len() {
                        constants.resize(index + 1, 0);
                    }
                    if constants[index] == 0 {
                        constants[index] = next + 1;
                    }
                    constants[index] - 1
                }
                Src::Vector(_) | Src::Row(_) => return,
            };
            match uses.get_mut(place as usize) {
                Some((_, n)) => *n += weight,
                None => uses.push((src, weight)),
            }
        };
        for lir in lines {
            match *lir {
                Lir::Two(_, _, a, b)
                | Lir::TwoImm(_, _, a, b, _)
                | Lir::Test(_, _, _, a, b, _)
                | Lir::Blend(_, _, a, b) => {
                    note(a);
                    note(b);
                }
                Lir::Fix(_, _, table) => note(Src::Literal(table)),
                Lir::Fma(_, _, abc) | Lir::MulAdd(_, _, abc) => {
                    abc.into_iter().for_each(&mut note);
                }
                // Zeros are made as soon as copied.
                Lir::Copy(_, Src::Literal(0)) => {}
                Lir::Copy(_, a) | Lir::One(_, _, a, _) => note(a),
                _ => {}
            }
        }
    }
    uses.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
    uses
}
