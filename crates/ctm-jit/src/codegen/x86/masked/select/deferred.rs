//! Looks for products of zero and something that is no number, put off until somebody has to know.
//!
//! Where zero times anything is zero, a product of zero and an infinity or a NaN is +0, and the processor makes a NaN of it. Sums and products of NaNs are
//! NaNs: if what they end in is none, none of them was. So instructions are gathered as long as they only add and multiply, and one look at what
//! nobody among them reads tells whether all are right. Where one is a NaN, all are made again aside, each product with a
//! look of its own; so what they read has to stay until then.

use super::super::{Check, Ins};
use super::Select;
use crate::codegen::x86::asm::{ADD, CMP_F32, MUL, SUB};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::codegen::x86::masked::facts::{EQUAL, UNORDERED};
use crate::codegen::x86::scalar::Sink;

/// So many instructions are looked at together at most: what they read needs registers.
const MOST: usize = 4;

/// What a product needs where it is of zero and something that is no number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    /// The factors.
    pub factors: [Src; 2],
    /// What makes it right in the lanes of mask 2.
    pub mend: Lir,
}

/// An instruction whose result may be a NaN that it should not be.
#[derive(Clone, Copy, Debug)]
struct Item {
    lir: Lir,
    dst: Vector,
    /// It reads others of them.
    follows: bool,
    /// Others of them read it.
    is_read: bool,
    rule: Option<Rule>,
}

/// What has not been looked at yet, in order.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    items: Vec<Item>,
}

impl Deferred {
    pub(super) const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn makes(&self, vector: Vector) -> bool {
        self.items.iter().any(|item| item.dst == vector)
    }

    /// Whether some instruction reads or makes it, so that it cannot become anything else.
    fn needs(&self, vector: Vector) -> bool {
        self.items.iter().any(|item| {
            let rule = item.rule.iter().flat_map(|rule| rule.factors).any(|src| src == Src::Vector(vector));
            item.dst == vector || rule || item.lir.reads().any(|read| read == vector)
        })
    }
}

/// Whether a NaN in an operand is one in the result.
const fn carries_nans(lir: &Lir) -> bool {
    matches!(lir, Lir::Fma(..) | Lir::MulAdd(..) | Lir::Two(ADD | SUB | MUL, ..))
}

/// Whether nothing but its operands and its result matters.
const fn is_plain(lir: &Lir) -> bool {
    matches!(
        lir,
        Lir::Copy(..)
            | Lir::Two(..)
            | Lir::TwoImm(..)
            | Lir::Fix(..)
            | Lir::One(..)
            | Lir::Shift(..)
            | Lir::Fma(..)
            | Lir::MulAdd(..)
            | Lir::Store(..)
    )
}

impl Select<'_> {
    /// Notes that the product (or sum of one) that was made last is right only after a look at it.
    pub(super) fn defer(&mut self, rule: Rule) {
        let Some(&Ins::Lir(lir)) = self.out.last() else { return };
        let Some((dst, _)) = lir.writes() else { return };
        if let Some(last) = self.deferred.items.last_mut().filter(|last| last.dst == dst) {
            // It was taken for one that passes NaNs on.
            last.rule = Some(rule);
        } else {
            self.gather(lir, dst, Some(rule));
        }
        if !self.given.defers || self.deferred.items.len() >= MOST {
            self.settle();
        }
    }

    fn gather(&mut self, lir: Lir, dst: Vector, rule: Option<Rule>) {
        let mut follows = false;
        for vector in lir.reads() {
            for item in self.deferred.items.iter_mut().filter(|item| item.dst == vector) {
                (item.is_read, follows) = (true, true);
            }
        }
        self.deferred.items.push(Item { lir, dst, follows, is_read: false, rule });
    }

    /// Looks at what was put off, where the next instruction could not stand before.
    pub(super) fn settle_before(&mut self, lir: &Lir) {
        let written = lir.writes();
        let spoils = written.is_some_and(|(vector, _)| self.deferred.needs(vector));
        if spoils || !is_plain(lir) {
            return self.settle();
        }
        if lir.reads().any(|vector| self.deferred.makes(vector)) {
            match written {
                // What it makes of itself cannot be made again.
                Some((dst, false))
                    if carries_nans(lir) && self.deferred.items.len() < MOST && lir.reads().all(|read| read != dst) =>
                {
                    self.gather(*lir, dst, None);
                }
                _ => self.settle(),
            }
        }
    }

    /// Looks at all that was put off.
    pub(super) fn settle(&mut self) {
        let items = std::mem::take(&mut self.deferred.items);
        if items.is_empty() {
            return;
        }
        let mut ends = items.iter().filter(|item| !item.is_read).map(|item| item.dst);
        self.rare(Check::Nan(std::array::from_fn(|_| ends.next())), |select| {
            for &Item { lir, dst, follows, rule, .. } in &items {
                if follows {
                    select.out.push(Ins::Again(lir));
                }
                let Some(Rule { factors, mend }) = rule else { continue };
                select.push(Lir::Test(CMP_F32, UNORDERED, 1, Src::Vector(dst), Src::Vector(dst), 0));
                for (k, factor) in [2, 3].into_iter().zip(factors) {
                    select.push(Lir::Test(CMP_F32, EQUAL, k, factor, Src::Literal(0), 1));
                }
                select.push(Lir::Or(2, 2, 3));
                select.push(mend);
            }
        });
    }

    /// Instructions for where something rare has happened.
    pub(super) fn rare(&mut self, check: Check, body: impl FnOnce(&mut Self)) {
        self.put(Ins::Split);
        self.put(Ins::BeginRare(check));
        body(self);
        self.put(Ins::EndRare);
        self.put(Ins::Split);
    }
}
