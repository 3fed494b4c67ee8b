//! The conditional test of an X1K device (CTM §2.1.3), made where outputs are stored.

use super::places::Places;
use super::wave::lanes_of;
use crate::launch::direct::cells_of;
use ctm_exec::arrays::{Elements, Form};
use ctm_exec::float::number;
use ctm_exec::r700::Cells;
use ctm_exec::x1k::ConditionalTest;
use ctm_exec::{Domain, Position};
use std::sync::atomic::{AtomicU32, Ordering};

/// A test of a launch: each processor has an element of the buffer for itself.
pub struct ConditionalRows<'a> {
    /// Whether less, equal, greater, and unordered pass.
    outcomes: [bool; 4],
    value: u32,
    /// The value that the program gives, by its place in the program's list of exported elements.
    pub from: Option<usize>,
    buffer: Option<Elements<&'a [AtomicU32]>>,
    writes: bool,
}

impl<'a> ConditionalRows<'a> {
    /// In a mapped array; `from`: the place of the program's value. `None` where a processor of the domain has no
    /// element.
    pub fn lent(test: ConditionalTest<'a>, from: Option<usize>, domain: &Domain) -> Option<Self> {
        let ConditionalTest { outcomes, value, of_program, buffer, writes } = test;
        let buffer = match buffer {
            Some(of) => {
                let array = of.with(());
                Some(array.with(cells_of(Cells::Bytes(of.bytes))?))
            }
            None => None,
        };
        let holds = |of: &Elements<&[AtomicU32]>| {
            let fits = domain.i1 < of.width && domain.j1 < of.height && of.bytes_needed() <= 4 * of.bytes.len() as u64;
            fits && (of.form, of.channels) == (Form::Floats, 1)
        };
        let from = from.filter(|_| of_program);
        buffer.as_ref().is_none_or(holds).then_some(Self { outcomes, value, from, buffer, writes })
    }

    /// Whether a processor's outputs are stored; `value`: the value of its program. A value that passes goes to the
    /// buffer.
    pub fn passes(&self, at: Position, value: Option<u32>) -> bool {
        let value = value.unwrap_or(self.value);
        let cell = self.buffer.as_ref().and_then(|of| of.bytes.get(of.offset(at.i, at.j)? / 4));
        let [v, b] = [value, cell.map_or(0, |cell| cell.load(Ordering::Relaxed))].map(number);
        let order = v.partial_cmp(&b).map_or(3, |order| (order as i8 + 1) as usize);
        let passes = self.outcomes[order];
        if let Some(cell) = cell.filter(|_| passes && self.writes) {
            cell.store(value, Ordering::Relaxed);
        }
        passes
    }

    /// The lanes among these that pass; `value`: the value of a lane's program.
    pub fn passing(&self, places: &Places, lanes: u64, value: impl Fn(usize) -> Option<u32>) -> u64 {
        lanes_of(lanes).fold(0, |all, lane| all | u64::from(self.passes(places.position(lane), value(lane))) << lane)
    }
}
