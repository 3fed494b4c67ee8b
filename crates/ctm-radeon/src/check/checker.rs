//! The state of a check: registers, relocations and findings so far.

use super::rules::{Finding, rule as find_rule};
use super::scratch::Scratch;
use crate::execute::{GpuMemory, Loaded, ProgramPlace};
use crate::packets::Packet;
use crate::stream::Relocation;
use ctm_isa::diag::Severity;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::HashMap;
use std::rc::Rc;

/// The stream under check.
pub(super) struct Checker<'a> {
    /// The relocations, if they are known.
    pub(super) list: Option<&'a [Relocation]>,
    pub(super) memory: Option<&'a dyn GpuMemory>,
    pub(super) registers: Scratch,
    /// Addresses are absolute: there are no relocations.
    pub(super) absolute: bool,
    /// The buffers of registers that took a relocation.
    pub(super) bounds: FxHashMap<u32, Relocation>,
    /// Registers that the stream has written so far.
    pub(super) written: FxHashSet<u32>,
    /// Programs that were read, or the reason why not: memory does not change meanwhile.
    pub(super) programs: HashMap<ProgramPlace, Result<Rc<Loaded>, String>>,
    pub(super) at: usize,
    pub(super) draws: u32,
    pub(super) in_draw: bool,
    pub(super) findings: Vec<Finding>,
}

/// A packet with the relocations after it; `None` where one cannot be found in the list.
pub(super) struct Placed<'a> {
    pub(super) packet: Packet<'a>,
    pub(super) operands: Vec<u32>,
    pub(super) next: usize,
}

impl<'a> Checker<'a> {
    pub(super) fn new(memory: Option<&'a dyn GpuMemory>) -> Self {
        Self {
            list: None,
            memory,
            registers: Scratch::default(),
            absolute: false,
            bounds: FxHashMap::default(),
            written: FxHashSet::default(),
            programs: HashMap::new(),
            at: 0,
            draws: 0,
            in_draw: false,
            findings: Vec::new(),
        }
    }

    /// Checks an absolute address: `bytes` bytes from `address` on must lie in memory. `register` names the register of the address.
    pub(super) fn reached(&mut self, what: &str, register: &str, address: u64, bytes: u64) {
        let Some(memory) = self.memory.filter(|_| self.absolute && bytes > 0) else { return };
        if memory.bytes(address, bytes).is_none() {
            let message =
                format!("{what}: {bytes} bytes at {address:#x} ({register}) lie outside the memory that is given");
            self.found("outside-memory", message);
        }
    }

    pub(super) fn found(&mut self, rule: &'static str, message: String) {
        let severity = find_rule(rule).map_or(Severity::Error, |row| row.severity);
        let draw = self.in_draw.then_some(self.draws);
        self.findings.push(Finding { dword: self.at, draw, rule, severity, message });
    }
}
