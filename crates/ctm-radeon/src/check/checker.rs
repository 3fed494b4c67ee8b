//! The state of a check: registers, relocations and findings so far.

use super::rules::{Finding, rule as find_rule};
use super::scratch::Scratch;
use crate::execute::{GpuMemory, LoadedProgram, ProgramPlace};
use crate::packets::{Operands, Packet};
use crate::stream::Relocation;
use crate::table::{bit, one_bit};
use ctm_isa::diag::Severity;
use ctm_isa::table::mask;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::HashMap;
use std::rc::Rc;

/// A set of registers, by byte offset.
#[derive(Default)]
pub(super) struct Offsets(Vec<u32>);

impl Offsets {
    /// The word of a register, and the number of its bit.
    const fn place(offset: u32) -> (usize, u32) {
        let dword = offset / 4;
        ((dword / u32::BITS) as usize, dword % u32::BITS)
    }

    pub(super) fn insert(&mut self, offset: u32) {
        let (word, n) = Self::place(offset);
        self.grow(word);
        self.0[word] |= one_bit(n);
    }

    /// Inserts consecutive registers.
    pub(super) fn insert_from(&mut self, offset: u32, count: usize) {
        let (mut first, end) = (offset / 4, offset / 4 + count as u32);
        self.grow((end / u32::BITS) as usize);
        while first < end {
            let (word, n) = Self::place(4 * first);
            let bits = (end - first).min(u32::BITS - n);
            self.0[word] |= mask(n + bits - 1, n);
            first += bits;
        }
    }

    fn grow(&mut self, word: usize) {
        /// Enough for all registers, so that it grows once.
        const WORDS: usize = 0x40000 / 4 / 32;
        if word >= self.0.len() {
            self.0.resize((word + 1).max(WORDS), 0);
        }
    }

    pub(super) fn contains(&self, offset: u32) -> bool {
        let (word, n) = Self::place(offset);
        self.0.get(word).is_some_and(|&word| bit(word, n))
    }
}

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
    pub(super) written: Offsets,
    /// Programs that were read, or the reason why not: memory does not change meanwhile.
    pub(super) programs: HashMap<ProgramPlace, Result<Rc<LoadedProgram>, String>>,
    pub(super) at: usize,
    pub(super) draws: u32,
    pub(super) in_draw: bool,
    pub(super) findings: Vec<Finding>,
}

/// A packet with the relocations after it; `None` where one cannot be found in the list.
pub(super) struct Placed<'a> {
    pub(super) packet: Packet<'a>,
    pub(super) operands: Operands<'a>,
    pub(super) next: usize,
}

impl<'a> Checker<'a> {
    pub(super) fn new(memory: Option<&'a dyn GpuMemory>) -> Self {
        Self {
            list: None,
            memory,
            registers: Scratch::default(),
            absolute: false,
            // Of a usual stream, so that it does not grow.
            bounds: FxHashMap::with_capacity_and_hasher(64, FxBuildHasher),
            written: Offsets::default(),
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
