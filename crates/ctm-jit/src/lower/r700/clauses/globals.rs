//! Addresses that are not relative to the thread (R700 §2.6.1): SIMD-global registers, and the clause temporaries behind them.

use super::{Build, Clause, Lower};
use crate::ir::masked::{Fetch, M, MaskOp, Op, Store, Value, Var};
use ctm_exec::r700::alu::CLAUSE_TEMPORARIES;
use ctm_isa::r700::GPRS;
use ctm_isa::r700::ops::{IndexMode, Op2};

impl Lower<'_> {
    /// SIMD-global registers of the launch.
    pub(super) fn globals(&self) -> usize {
        usize::from(self.launch.global_gprs.min(124))
    }

    /// The address that an instruction names: a constant, unless the index is added.
    fn address(b: &mut Build, clause: &Clause, base: u8, mode: IndexMode) -> Value {
        let base = b.bits(base.into());
        if mode == IndexMode::Global { base } else { b.logic(Op2::AddInt, clause.ar[0], base) }
    }

    /// Whether SIMD-global registers may lie at an address.
    fn may_be_global(&self, b: &Build, at: Value) -> bool {
        b.constant(at).map_or(self.globals() > 0, |at| (at as usize) < self.globals())
    }

    /// The clause temporaries that may lie at an address, and where each does.
    fn temporaries_at(&self, b: &mut Build, at: Value, element: u8) -> Vec<(Var, Value)> {
        let first = GPRS - CLAUSE_TEMPORARIES;
        let all = (0..CLAUSE_TEMPORARIES).map(|n| {
            let is = b.logic(Op2::SeteInt, at, (self.globals() + n) as u32);
            (Var::gpr(first + n, element.into()), is)
        });
        let all: Vec<_> = all.collect();
        all.into_iter().filter(|&(_, is)| b.constant(is) != Some(0)).collect()
    }

    /// An element of what lies at an address; 0 where nothing does.
    pub(super) fn global_read(&mut self, b: &mut Build, clause: &Clause, from: (u8, u8, IndexMode)) -> Value {
        let (base, element, mode) = from;
        let at = Self::address(b, clause, base, mode);
        let mut value = if self.may_be_global(b, at) { self.global(b, at, element) } else { b.bits(0) };
        for (var, is) in self.temporaries_at(b, at, element) {
            let own = b.get(var);
            value = b.make(Op::Select([is, own, value]));
        }
        value
    }

    /// An element of a SIMD-global register; 0 where there is none.
    pub(super) fn global(&mut self, b: &mut Build, at: Value, element: u8) -> Value {
        let read = self.read_global(b, at);
        b.make(Op::Fetched(read, element))
    }

    /// Reads a SIMD-global register.
    pub(super) fn read_global(&mut self, b: &mut Build, at: Value) -> Value {
        let zero = b.bits(0);
        let number = self.fetch_number(Fetch::Global);
        b.effect(Op::Fetch(number, [at, zero, zero, zero], M::EXISTING))
    }

    /// Writes an element of a SIMD-global register, if there is one.
    pub(super) fn write_global(&mut self, b: &mut Build, at: Value, element: u8, value: Value, under: M) {
        let number = self.store_number(Store::Global(element));
        let zero = b.bits(0);
        b.effect(Op::Store(number, [at, value, zero, zero, zero], under));
    }

    /// Writes what lies at an address, if anything does, in the lanes where `on` is set.
    pub(super) fn global_write(
        &mut self,
        b: &mut Build,
        clause: &Clause,
        (base, element, mode): (u8, u8, IndexMode),
        value: Value,
        on: Option<Value>,
    ) {
        let at = Self::address(b, clause, base, mode);
        if self.may_be_global(b, at) {
            let under = match on {
                Some(on) => {
                    b.mask(MaskOp::Lanes(M::TEMP, on));
                    b.mask(MaskOp::And(M::TEMP, M::TEMP, clause.under));
                    M::TEMP
                }
                None => clause.under,
            };
            self.write_global(b, at, element, value, under);
        }
        for (var, is) in self.temporaries_at(b, at, element) {
            let on = on.map_or(is, |on| b.logic(Op2::AndInt, on, is));
            b.set_where(Some(on), var, value, clause.under);
        }
    }
}
