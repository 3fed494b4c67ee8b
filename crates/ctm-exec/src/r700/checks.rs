//! Findings of a checked run of an R700 program: behaviour that the manual leaves undefined or forbids, and a machine lets pass.
//!
//! A run keeps one [`Checks`] for the launch; each wavefront keeps which register elements its lanes have written. Results never depend
//! on it.

use super::Space;
use crate::checks::{LIMIT, RunRule, rules};
use crate::domain::Position;
use crate::outcome::Finding;
use ctm_isa::r700::GPRS;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

rules! {
    /// An instruction reads a register element that the thread has not written and the launch does not set; clause temporaries count from the start of the clause.
    UNINITIALISED_REGISTER "uninitialised-register" "R700 §4.6";
    /// A relative address uses an element of the address register that no MOVA* of the clause has set.
    UNDEFINED_ADDRESS "undefined-address-register" "R700 §4.6.1";
    /// PV or PS is read of a unit that gave no result in the group before.
    UNDEFINED_PREVIOUS "undefined-previous-result" "R700 §4.6.2";
    /// A relative address uses the loop index outside any loop that has one.
    LOOP_INDEX_OUTSIDE_LOOP "loop-index-outside-loop" "R700 §3.7.3";
    /// A relative address leaves the registers of the program: a read gives register 0, a write is lost.
    REGISTER_OUT_OF_BOUNDS "register-out-of-bounds" "R700 §4.6.3";
    /// A relative address leaves the constant file or the locked constants: a NaN is read.
    CONSTANT_OUT_OF_BOUNDS "constant-out-of-bounds" "R700 §4.6.3";
    /// A constant of a line that the clause has not locked is read.
    UNLOCKED_CONSTANT "unlocked-constant" "R700 §4.6.3";
    /// A vertex fetch lies outside its buffer, or LD outside its texture: 0 is read.
    FETCH_OUT_OF_BOUNDS "fetch-out-of-bounds" "R700 §5, §9.4";
    /// A lookup names a sampler to which nothing is bound; the default one is used.
    UNBOUND_SAMPLER "unbound-sampler" "R700 §6";
    /// A semantic fetch names an identifier that the semantic table does not hold; nothing is written.
    UNKNOWN_SEMANTIC "unknown-semantic" "R700 §5";
    /// A level of detail or a slope is computed in a quad of which not all pixels execute the fetch.
    DIVERGENT_GRADIENT "divergent-gradient" "R700 §6.3";
    /// A dword after a bank of the local data share is read (as 0) or written (lost).
    SHARE_OUT_OF_BOUNDS "data-share-out-of-bounds" "R700 §2.6.2";
    /// A dword of the local data share is read that no thread of the group has written.
    UNINITIALISED_SHARE "uninitialised-data-share" "R700 §2.6.2";
    /// Two threads of a launch write the same dword of memory; which comes last is not defined.
    RACING_WRITES "racing-writes" "R700 §3.4.2";
    /// A dword of memory is read that another thread of the same launch has written, or writes later; a flush must lie between.
    UNFLUSHED_READ "unflushed-read" "R700 §3.4.3";
    /// A thread reads its own write through the cache: UNCACHED must be set.
    CACHED_READ "cached-read" "R700 §7.2";
    /// A memory write goes to elements past the end of its array; they are not written.
    WRITE_BEHIND_ARRAY "write-behind-array" "R700 §3.4.2";
    /// A program has exported pixels, positions or parameters and ended without an EXPORT_DONE of that type.
    EXPORT_NOT_DONE "export-not-done" "R700 §3.4.1";
    /// An integer is shifted by more than 31: the low five bits of the count are taken, so 32 shifts by 0.
    SHIFT_BEYOND "shift-beyond-31" "R700 §9.2, r700-encoding §10 E28";
    /// The stack holds more entries than the program declares.
    STACK_BEYOND_DECLARED "stack-beyond-declared" "R700 §3.6.5";
}

/// Register elements of one lane that hold something: bit `element` of each.
pub type Written = [u8; GPRS];

/// Where an access happens.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The slot of the control-flow instruction.
    pub pc: u32,
    /// The group or fetch of its clause, from 0.
    pub item: usize,
    /// The processor.
    pub position: Option<Position>,
}

/// The state of a dword of memory.
#[derive(Clone, Copy, Debug, Default)]
struct Accesses {
    writer: Option<u64>,
    reader: Option<u64>,
    /// Several threads have read it.
    many_readers: bool,
}

/// The findings and the memory accesses of a launch.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    found: Vec<Finding>,
    noted: HashSet<(&'static str, u32, usize)>,
    memory: HashMap<(Space, u64), Accesses>,
    /// Dwords of the local data share that were written, of the group that runs.
    share: HashSet<usize>,
}

impl Checks {
    /// Notes a finding, unless the rule has been noted for this instruction.
    pub fn note(&mut self, rule: RunRule, at: At, message: impl FnOnce() -> String) {
        if self.found.len() < LIMIT && self.noted.insert((rule.name, at.pc, at.item)) {
            self.found.push(Finding { rule: rule.name, pc: at.pc, position: at.position, message: message() });
        }
    }

    /// The findings so far, taken out.
    pub fn take(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.found)
    }

    /// A new thread group begins: its local data share holds nothing.
    pub fn new_group(&mut self) {
        self.share.clear();
    }

    /// A thread writes a dword of memory.
    pub fn memory_written(&mut self, at: At, space: Space, dword: u64, thread: u64) {
        let accesses = self.memory.entry((space, dword)).or_default();
        let before = *accesses;
        accesses.writer = Some(thread);
        if before.writer.is_some_and(|other| other != thread) {
            let name = space.name();
            self.note(RACING_WRITES, at, || format!("another thread has written dword {dword} of {name} memory too"));
        }
        if before.many_readers || before.reader.is_some_and(|other| other != thread) {
            let name = space.name();
            self.note(UNFLUSHED_READ, at, || format!("another thread has read dword {dword} of {name} memory before"));
        }
    }

    /// A thread reads a dword of memory.
    pub fn memory_read(&mut self, at: At, space: Space, dword: u64, thread: u64, uncached: bool) {
        let accesses = self.memory.entry((space, dword)).or_default();
        accesses.many_readers |= accesses.reader.is_some_and(|other| other != thread);
        accesses.reader = Some(thread);
        match accesses.writer {
            Some(other) if other != thread => {
                let name = space.name();
                self.note(UNFLUSHED_READ, at, || format!("another thread has written dword {dword} of {name} memory"));
            }
            Some(_) if !uncached => {
                let name = space.name();
                self.note(CACHED_READ, at, || {
                    format!("the thread itself has written dword {dword} of {name} memory, UNCACHED must be set")
                });
            }
            _ => {}
        }
    }

    /// A dword of the local data share, numbered over all banks, is written.
    pub fn share_written(&mut self, dword: usize) {
        self.share.insert(dword);
    }

    /// A dword of the local data share is read.
    pub fn share_read(&mut self, at: At, dword: usize) {
        if !self.share.contains(&dword) {
            self.note(UNINITIALISED_SHARE, at, || {
                format!("no thread of the group has written dword {dword} of the local data share")
            });
        }
    }

    /// A lane's register elements are read (bit `element` of `elements`), by a fetch or an export.
    pub fn registers_read(&mut self, at: At, written: Option<&Written>, register: usize, elements: u8) {
        let Some(missing) = written.and_then(|written| written.get(register)).map(|has| elements & !has) else {
            return;
        };
        if missing != 0 {
            self.note(UNINITIALISED_REGISTER, at, || uninitialised(register, missing));
        }
    }
}

fn uninitialised(register: usize, missing: u8) -> String {
    let names: String = "xyzw".chars().enumerate().filter(|(n, _)| missing >> n & 1 == 1).map(|(_, c)| c).collect();
    format!("R{register}.{names} is read, and nothing has written it")
}

/// State watched while a lane runs an ALU clause.
#[derive(Debug)]
pub struct Watch<'a> {
    /// The lane's register elements that hold something.
    pub written: &'a mut Written,
    /// Where findings go.
    pub checks: &'a mut Checks,
    /// Where the lane is; the item is the group.
    pub at: At,
    /// Elements of the address register that are set.
    pub address: u8,
    /// Units of the previous group that gave a result: x, y, z, w, t.
    pub previous: u8,
    /// Whether there is a loop with an index.
    pub in_loop: bool,
}

impl Watch<'_> {
    /// Notes a finding of the group that runs.
    pub fn note(&mut self, rule: RunRule, message: impl FnOnce() -> String) {
        self.checks.note(rule, self.at, message);
    }

    /// Element `element` of an own register is read.
    pub fn register_read(&mut self, register: usize, element: usize) {
        self.checks.registers_read(self.at, Some(self.written), register, 1 << element);
    }

    /// Element `element` of an own register is written.
    pub fn register_written(&mut self, register: usize, element: usize) {
        if let Some(has) = self.written.get_mut(register) {
            *has |= 1 << element;
        }
    }

    /// PV of `unit`, or PS for unit 4, is read.
    pub fn previous_read(&mut self, unit: usize) {
        if self.previous >> unit & 1 == 0 {
            let name = ["PV.x", "PV.y", "PV.z", "PV.w", "PS"].get(unit).copied().unwrap_or("PV");
            self.note(UNDEFINED_PREVIOUS, || format!("{name} is read, and the group before gave no result there"));
        }
    }

    /// Element `element` of the address register is an index.
    pub fn address_read(&mut self, element: usize) {
        if self.address >> element & 1 == 0 {
            let name = ["x", "y", "z", "w"].get(element).copied().unwrap_or("x");
            self.note(UNDEFINED_ADDRESS, || format!("AR.{name} is an index, and no MOVA of the clause has set it"));
        }
    }

    /// The loop index is an index.
    pub fn loop_index_read(&mut self) {
        if !self.in_loop {
            self.note(LOOP_INDEX_OUTSIDE_LOOP, || "the loop index is used where no loop has one".into());
        }
    }
}

/// A watch that functions can use which only read the lane.
pub type Watching<'a> = Option<RefCell<Watch<'a>>>;
