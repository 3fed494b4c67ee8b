//! Addresses that are not relative to the thread (R700 §2.6.1): SIMD-global registers, and the clause temporaries behind them.

use super::{Build, Clause, Lower};
use crate::ir::masked::{Fetch, M, MaskOp, Op, Store, Value, Var};
use ctm_exec::r700::alu::CLAUSE_TEMPORARIES;
use ctm_isa::r700::GPRS;
use ctm_isa::r700::ops::{IndexMode, Op2};

/// An address: the same in all lanes, or a vector.
#[derive(Clone, Copy)]
enum Address {
    Known(usize),
    Vector(Value),
}

impl Lower<'_> {
    /// SIMD-global registers of the launch.
    pub(super) fn globals(&self) -> usize {
        usize::from(self.launch.global_gprs.min(124))
    }

    fn address(&self, b: &mut Build, clause: &Clause, base: u8, mode: IndexMode) -> Address {
        if mode == IndexMode::Global {
            return Address::Known(usize::from(base));
        }
        Address::Vector(b.logic(Op2::AddInt, clause.ar[0], u32::from(base)))
    }

    /// An element of what lies at an address; 0 where nothing does.
    pub(super) fn global_read(&mut self, b: &mut Build, clause: &Clause, from: (u8, u8, IndexMode)) -> Value {
        let (base, element, mode) = from;
        let globals = self.globals();
        match self.address(b, clause, base, mode) {
            Address::Known(at) if at < globals => {
                let at = b.bits(at as u32);
                self.global(b, at, element)
            }
            Address::Known(at) if at < globals + CLAUSE_TEMPORARIES => b.get(temporary(at - globals, element)),
            Address::Known(_) => b.bits(0),
            Address::Vector(at) => {
                let mut value = if globals > 0 { self.global(b, at, element) } else { b.bits(0) };
                for n in 0..CLAUSE_TEMPORARIES {
                    let is = b.logic(Op2::SeteInt, at, (globals + n) as u32);
                    let own = b.get(temporary(n, element));
                    value = b.make(Op::Select([is, own, value]));
                }
                value
            }
        }
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
        let globals = self.globals();
        let address = self.address(b, clause, base, mode);
        let at = match address {
            Address::Known(at) if at < globals => Some(b.bits(at as u32)),
            Address::Vector(at) if globals > 0 => Some(at),
            Address::Known(_) | Address::Vector(_) => None,
        };
        if let Some(at) = at {
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
        for n in 0..CLAUSE_TEMPORARIES {
            let is = match address {
                Address::Known(at) if at != globals + n => continue,
                Address::Known(_) => None,
                Address::Vector(at) => Some(b.logic(Op2::SeteInt, at, (globals + n) as u32)),
            };
            let var = temporary(n, element);
            let on = match (on, is) {
                (Some(on), Some(is)) => Some(b.logic(Op2::AndInt, on, is)),
                (on, is) => on.or(is),
            };
            b.set_where(on, var, value, clause.under);
        }
    }
}

/// An element of a clause temporary.
const fn temporary(number: usize, element: u8) -> Var {
    Var::gpr(GPRS - CLAUSE_TEMPORARIES + number, element as usize)
}
